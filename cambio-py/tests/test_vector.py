"""Many matches at once: the same results as one by one, for any number of threads, and without the GIL."""

from __future__ import annotations

import os
import pickle
import random
import signal
import threading
import time
import zlib

import numpy as np
import pytest

import cambio_game as cambio
from conftest import TABLES, amount, choose

ARRAYS = ("observations", "masks", "rewards", "seat", "done")


def state(games: cambio.VectorGame) -> tuple[bytes, ...]:
    return tuple(getattr(games, name).tobytes() for name in ARRAYS)


def matches(games: cambio.VectorGame) -> list[cambio.Game]:
    return [games.game(number) for number in range(games.batch)]


def has_the_extra_arrays(games: cambio.VectorGame, number: int, game: cambio.Game) -> None:
    """Compares the arrays with hidden information and the keys with a game."""
    assert all(np.array_equal(games.all_observations[number, seat], game.tensor(seat)) for seat in range(game.seats))
    key = game.observe().strategy_key
    assert key in (None, "{:016x}{:016x}".format(*games.keys[number])) and (key is not None) == game.rules.name.startswith("mini")
    cards = {}
    for seat, slot in zip(*np.nonzero(games.true_cards[number] >= 0), strict=True):
        spot = f"{'abcdefgh'[(seat + game.seat) % game.seats]}{slot + 1}"
        cards[spot] = games.layout.classes[games.true_cards[number, seat, slot]]
    faces = game.world().faces
    assert cards.keys() == faces.keys() and all(faces[spot] in kinds for spot, kinds in cards.items())


@pytest.mark.parametrize(("name", "seats"), TABLES)
def test_a_batch_is_its_matches_one_by_one(name: str, seats: int) -> None:
    """The end of a match is observed before the next begins."""
    batch = 3
    games = cambio.VectorGame(batch, name, seats, seed=5, first_deal=10, finals=True, keys=True, all_seats=True, true_cards=True)
    games.reset()
    final = games.final_observations
    assert final is not None and final.shape == (batch, seats, games.layout.size) and not final.any()
    alone = [cambio.Game(name, seats, seed=5, deal=10 + number) for number in range(batch)]
    ended = 0
    for turn in range(amount(150, 3000)):
        actions, before = games.random_actions(turn), final.copy()
        games.step(actions)
        for number, game in enumerate(alone):
            game.step(int(actions[number]))
            assert games.done[number] == game.is_over
            assert np.array_equal(games.rewards[number], np.float32(game.rewards()))
            seen = [game.tensor(seat) for seat in range(seats)] if game.is_over else before[number]
            assert np.array_equal(final[number], seen)
            if game.is_over:
                ended += 1
                game = alone[number] = cambio.Game(name, seats, seed=5, deal=game.deal + batch)
            assert games.deals[number] == game.deal and games.seat[number] == game.seat
            assert np.array_equal(games.observations[number], game.tensor())
            assert np.array_equal(games.masks[number], game.mask())
            assert games.game(number) == game
            if turn % 5 == 0:
                has_the_extra_arrays(games, number, game)
    assert ended or name.startswith("original") or seats > 2
    assert cambio.VectorGame(1, name, seats).final_observations is None


@pytest.mark.parametrize(("batch", "threads"), [(37, 4), (1, 2), (2, 8), (3, 33), (9, 8)])
@pytest.mark.parametrize("kind", [{}, {"opponents": ["heuristic", None, "greedy"], "rotate": True, "reward": "score"}])
def test_threads_do_not_change_what_happens(kind: dict[str, object], batch: int, threads: int) -> None:
    """Some threads have no matches if there are fewer matches."""
    one = cambio.VectorGame(batch, "faessler", 3, seed="spring", threads=1, **kind)
    many = cambio.VectorGame(batch, "faessler", 3, seed="spring", threads=threads, **kind)
    one.reset(), many.reset()
    for turn in range(120):
        actions = one.random_actions(turn)
        assert np.array_equal(actions, many.random_actions(turn))
        one.step(actions)
        many.step(actions.astype(np.int32))
        assert state(one) == state(many)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="processes do not fork here")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_process_that_forks_goes_on_alone() -> None:
    """A forked process has no helper threads, but can still step the batch."""
    games = cambio.VectorGame(16, seed=9, threads=3)
    games.reset()
    actions = games.random_actions(0)
    child = os.fork()
    if child == 0:
        games.step(actions)
        os._exit(zlib.crc32(games.observations) & 127)
    deadline = time.monotonic() + 60
    while (ended := os.waitpid(child, os.WNOHANG)) == (0, 0) and time.monotonic() < deadline:
        time.sleep(0.01)
    if ended == (0, 0):
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
    games.step(actions)
    assert ended == (child, (zlib.crc32(games.observations) & 127) << 8)


def test_opponents_play_as_agents_do() -> None:
    """If the caller plays like `greedy`, the matches are the same as those of greedy against heuristic."""
    games = cambio.VectorGame(4, "classic", 2, seed=3, opponents=[None, "heuristic"], rotate=True)
    games.reset()
    seats = games.deals % 2
    assert np.array_equal(games.seat, seats)
    greedy, others = cambio.agent("greedy"), [cambio.agent("heuristic"), cambio.agent("greedy")]
    alone = [cambio.Game("classic", 2, seed=3, deal=number) for number in range(4)]
    results = {}
    for _ in range(60):
        actions, before = [], games.deals
        for number in range(4):
            game = games.game(number)
            actions.append(greedy.decide(game).index(game.rules, 2, game.seat))
        games.step(np.array(actions))
        for number in np.flatnonzero(games.done):
            results[int(before[number])] = tuple(games.rewards[number])
    for game in alone:
        while not game.is_over:
            learner = game.deal % 2
            game.step(others[int(game.seat == learner)].decide(game))
        assert results[game.deal] == game.rewards()


@pytest.mark.parametrize("threads", [1, 2, 4])
def test_an_illegal_decision_is_refused_before_anything_changes(threads: int) -> None:
    """The error names the first match with an illegal decision, regardless of the threads."""
    games = cambio.VectorGame(40, "classic", 2, seed=8, threads=threads)
    games.reset()
    for turn in range(30):
        games.step(games.random_actions(turn))
    before, actions = (state(games), matches(games)), games.random_actions(99)
    wrong = actions.copy()
    wrong[[7, 39]], wrong[25] = games.action_count, np.flatnonzero(~games.masks[25])[0]
    with pytest.raises(cambio.ActionError, match="^match 7: .* is not a decision"):
        games.step(wrong)
    wrong[7] = actions[7]
    with pytest.raises(cambio.IllegalAction, match="^match 25: .* is illegal for seat"):
        games.step(wrong)
    for bad in (-1, 10**9, 2**63 - 1, -(2**63)):
        with pytest.raises(cambio.ActionError, match="^match 0: .* is not a decision"):
            games.step(np.full(40, bad))
    for bad in (actions[:4], actions.astype(float), actions.astype(bool), None, np.zeros((40, 1), int), 3, "draw"):
        with pytest.raises(cambio.ArrayError, match="the actions must be"):
            games.step(bad)
    assert (state(games), matches(games)) == before
    games.masks[:] = True
    with pytest.raises(cambio.IllegalAction, match="match 25: .* is illegal for seat"):
        games.step(wrong)
    assert matches(games) == before[1]


def resident() -> int:
    with open("/proc/self/statm", encoding="ascii") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


@pytest.mark.skipif(not os.path.exists("/proc/self/statm"), reason="needs /proc")
def test_memory_stays_flat() -> None:
    games = cambio.VectorGame(256, "classic", 2, seed=1)
    games.reset()
    dice = random.Random(1)

    def work(steps: int, pickles: int) -> None:
        for turn in range(steps // 256):
            games.step(games.random_actions(turn))
        game = cambio.Game("classic", 2, seed=1)
        for number in range(pickles):
            if game.is_over:
                game = cambio.Game("classic", 2, seed=number)
            game.step(dice.choice(game.legal_actions()))
            assert pickle.loads(pickle.dumps(game)) == game and pickle.loads(pickle.dumps(game.observe(0))) is not None

    work(50_000, 500)
    before = resident()
    work(amount(200_000, 1_000_000), amount(1500, 10_000))
    assert resident() - before < 8 << 20, f"{(resident() - before) >> 10} KiB more"


def test_arrays_are_handed_on_without_a_copy() -> None:
    """With DLPack, which torch and JAX use, and with the buffer protocol."""
    games = cambio.VectorGame(4)
    games.reset()
    for name in ARRAYS:
        array = getattr(games, name)
        assert np.shares_memory(np.from_dlpack(array), array)
        assert np.shares_memory(np.asarray(memoryview(array)), array)
        # JAX copies arrays that are not aligned to a cache line.
        assert array.ctypes.data % 64 == 0
    before = np.from_dlpack(games.observations).copy()
    seen = np.from_dlpack(games.observations)
    games.step(games.random_actions(0))
    assert not np.array_equal(seen, before)


@pytest.mark.parametrize("kind", [{}, {"opponents": [None, "heuristic"], "rotate": True}])
def test_without_autoreset_a_caller_starts_the_same_matches(kind: dict[str, object]) -> None:
    """A match that is over waits; `reset(where=done)` continues with the deals that `autoreset` would play."""
    waits = cambio.VectorGame(16, "classic", 2, seed=5, autoreset=False, finals=True, all_seats=True, threads=2, **kind)
    goes = cambio.VectorGame(16, "classic", 2, seed=5, **kind)
    waits.reset(), goes.reset()
    ended = 0
    for turn in range(200):
        assert np.array_equal(waits.observations, goes.observations) and np.array_equal(waits.deals, goes.deals)
        actions = goes.random_actions(turn)
        goes.step(actions)
        waits.step(actions)
        done = waits.done.copy()
        assert np.array_equal(done, goes.done) and np.array_equal(waits.rewards, goes.rewards)
        if not done.any():
            continue
        ended += int(done.sum())
        assert (waits.seat[done] == -1).all() and not waits.masks[done].any() and not waits.observations[done].any()
        assert np.array_equal(waits.all_observations[done], waits.final_observations[done])
        waits.reset(where=done if turn % 2 else np.flatnonzero(done))
        assert not waits.done[done].any() and not waits.rewards[done].any()
    assert ended > 20


@pytest.mark.parametrize("opponents", [None, [None, "heuristic"]])
def test_a_match_that_is_over_ignores_its_action(opponents: list[str | None] | None) -> None:
    games = cambio.VectorGame(16, "classic", 2, seed=5, autoreset=False, opponents=opponents)
    games.reset()
    while not games.done.all():
        over, before, actions = games.done.copy(), matches(games), games.random_actions(len(games.game(0).actions))
        assert (actions[over] == -1).all() and (actions[~over] >= 0).all()
        games.step(actions)
        assert games.done[over].all() and not games.rewards[over].any()
        assert [one == other for one, other in zip(before, matches(games), strict=True)] == over.tolist()


def test_a_reset_of_some_matches_changes_no_other() -> None:
    games = cambio.VectorGame(6, seed=2, keys=True)
    with pytest.raises(cambio.IllegalAction, match="not begun"):
        games.reset(where=[0])
    games.reset()
    for turn in range(9):
        games.step(games.random_actions(turn))
    before, deals = matches(games), games.deals
    games.reset(where=[1, 4])
    assert [one == other for one, other in zip(before, matches(games), strict=True)] == [True, False, True, True, False, True]
    assert list(games.deals - deals) == [0, 6, 0, 0, 6, 0]
    before, deals = matches(games), games.deals
    for where in (np.flatnonzero(games.done), [], np.zeros(6, bool), (), np.zeros(0, np.int32)):
        games.reset(where=where)
        games.reset(where=where, games=[])
        assert matches(games) == before and games.deals.tolist() == deals.tolist()
    wrong = [[True], [6], [-7], [0.5], "all", "0", 1, 1.0, np.zeros((6, 1), bool), np.zeros(3, bool)]
    for bad in wrong:
        with pytest.raises(cambio.ArrayError, match="`where` must be"):
            games.reset(where=bad)


@pytest.mark.parametrize("opponents", [None, [None, "greedy", "heuristic"]])
def test_matches_continue_from_given_games(opponents: list[str | None] | None) -> None:
    dice = random.Random(3)
    given = []
    while len(given) < 8:
        game = cambio.Game("faessler", 3, seed=f"other {len(given)}", deal=dice.randrange(99))
        for _ in range(dice.randrange(20)):
            game.step(choose(game, dice))
        if not game.is_over and (opponents is None or game.seat == 0):
            given.append(game)
    games = cambio.VectorGame(8, "faessler", 3, seed=1, opponents=opponents, reward="score", keys=True, true_cards=True)
    games.reset(games=given)
    for number, game in enumerate(given):
        assert games.game(number).actions == game.actions and np.array_equal(games.observations[number], game.tensor())
        assert (games.game(number).seed, games.game(number).deal) == (game.seed, game.deal)
    alone = [game.copy() for game in given]
    for turn in range(30):
        actions, ended = games.random_actions(turn), None
        games.step(actions)
        for number, game in enumerate(alone):
            if opponents is None and not game.is_over:
                game.step(int(actions[number]))
                if not game.is_over:
                    assert np.array_equal(games.observations[number], game.tensor())
                elif ended is None:
                    # Then the batch continues with its own deals.
                    assert games.done[number] and games.game(number).seed == 1 and games.deals[number] < 16
    games.reset(where=[2, 5], games=[given[1], given[0]])
    assert games.game(2).actions == given[1].actions and games.game(5).actions == given[0].actions
    over = given[0].copy()
    while not over.is_over:
        over.step(choose(over, dice))
    for bad, reason in [(given[:3], "must have 8 games"), ([*given[:7], over], r"`games\[7\]` must not be over")]:
        with pytest.raises(cambio.CambioError, match=reason):
            games.reset(games=bad)
    with pytest.raises(cambio.CambioError, match="must be a game of faessler at 3 seats, found classic at 3 seats"):
        games.reset(where=[0], games=[cambio.Game("classic", 3)])
    for wrong in (3, ["classic"] * 8):
        with pytest.raises(TypeError, match="games"):
            games.reset(games=wrong)


class Foreign:
    """An array of another library."""

    def __init__(self, array: np.ndarray) -> None:
        self.array = array

    def __array__(self, dtype: object = None, copy: object = None) -> np.ndarray:
        return self.array


def test_actions_may_be_lists_arrays_of_other_libraries_and_of_the_batch() -> None:
    one, other = cambio.VectorGame(8, seed=2), cambio.VectorGame(8, seed=2, threads=2)
    one.reset(), other.reset()
    kinds = [
        lambda array: np.copyto(other.seat, array) or other.seat,
        Foreign,
        list,
        lambda array: Foreign(array.astype(np.int32)),
        lambda array: np.repeat(array, 2)[::2],
    ]
    try:
        import jax

        kinds += [lambda array: jax.numpy.asarray(array, jax.numpy.int32)]
    except ImportError:
        pass
    for turn in range(24):
        actions = one.random_actions(turn)
        one.step(actions)
        other.step(kinds[turn % len(kinds)](actions))
        assert state(one) == state(other)
    with pytest.raises(cambio.ArrayError, match="found shape .8,. and dtype float64"):
        one.step(Foreign(actions.astype(float)))


def test_two_threads_in_one_batch_get_an_error_with_a_type() -> None:
    """A step releases the GIL, or the second thread would not find the batch in use."""
    games = cambio.VectorGame(64, "classic", 2, opponents=[None, "rollout(n=300)"], seed=1)
    games.reset()
    found, deadline = [], time.monotonic() + 60

    def call(method: object, *args: object) -> None:
        try:
            method(*args)  # type: ignore[operator]
        except cambio.CambioError as error:
            found.append(str(error))

    def work() -> None:
        while not found and time.monotonic() < deadline:
            call(lambda: games.step(games.random_actions(0)))

    thread = threading.Thread(target=work)
    thread.start()
    while thread.is_alive():
        call(games.game, 0)
        # The arrays can be read at any time.
        assert games.observations.shape[0] == games.batch == 64
        time.sleep(0.001)
    thread.join()
    assert found and "another thread is in a method of this VectorGame" in found[0]
    assert len(games.deals) == 64
