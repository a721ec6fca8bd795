"""All environments alike: they play the matches of `Game`, refuse wrong arguments without a change, follow their seeds, and stay at the end of a match."""

from __future__ import annotations

import copy
import functools
import math
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import cambio_game as cambio

pytest.importorskip("gymnasium")
pytest.importorskip("pettingzoo")

from cambio_game.gymnasium import CambioEnv, CambioVectorEnv
from cambio_game.pettingzoo import cambio_v0

try:
    from cambio_game.rllib import CambioMultiAgentEnv
except ImportError:
    CambioMultiAgentEnv = None  # type: ignore[assignment, misc]

MAKERS: dict[str, Callable[..., Any]] = {
    "gymnasium": CambioEnv,
    "vector": lambda **options: CambioVectorEnv(2, **options),
    "aec": cambio_v0.env,
    "parallel": cambio_v0.parallel_env,
}
if CambioMultiAgentEnv is not None:
    MAKERS["rllib"] = lambda **options: CambioMultiAgentEnv(options)
EVERY = pytest.mark.parametrize("name", MAKERS)
NOT_WHOLE = [-1, 1.5, 2.0, True, np.True_, "3", math.nan, np.float32(2), 2**64, [1], b"1"]


def games(env: Any) -> list[cambio.Game]:
    return [env.match.game(number) for number in range(env.match.batch)] if hasattr(env, "match") else [env.game.copy()]


def step(name: str, env: Any, action: Any) -> Any:
    """Carries out an action of the seat to act, in the form of the environment; in the batch, of match 1."""
    if name == "vector":
        return env.step([int(env.match.masks[0].argmax()), action])
    if name in ("parallel", "rllib"):
        return env.step({f"seat_{env.game.seat}": action})
    return env.step(action)


def mask(env: Any) -> np.ndarray:
    """The legal actions of the seat to act; in the batch, of the last match."""
    return env.match.masks[-1] if hasattr(env, "match") else env.game.mask()


def mask_of(name: str, env: Any, seen: Any = None) -> np.ndarray:
    """All masks that the environment shows."""
    if name == "aec":
        return np.stack([env.observe(agent)["action_mask"] for agent in env.possible_agents])
    return np.stack([one["action_mask"] for one in seen.values()]) if name in ("parallel", "rllib") else seen["action_mask"]


@pytest.mark.parametrize("name", sorted(MAKERS.keys() & {"aec", "rllib"}))
@pytest.mark.parametrize("rules", cambio.PRESETS)
@pytest.mark.parametrize(("seats", "reward"), [(2, "rank"), (4, "score"), (8, "rank")])
def test_a_match_is_that_of_the_game(name: str, rules: str, seats: int, reward: Any) -> None:
    env, game = MAKERS[name](rules=rules, seats=seats, reward=reward), cambio.Game(rules, seats, seed=7, reward=reward)
    result, dice = env.reset(seed=7), np.random.default_rng(seats)
    while not game.is_over:
        agents, seen = ([env.agent_selection], env.last()[0]) if name == "aec" else ([*result[0]], result[0][f"seat_{game.seat}"])
        assert agents == [f"seat_{game.seat}"]
        assert np.array_equal(seen["observation" if name == "aec" else "observations"], game.tensor())
        assert np.array_equal(seen["action_mask"], game.mask())
        action = int(dice.choice(game.legal_indices()))
        game.step(action)
        result = step(name, env, action)
        rewards, ended = (env.rewards, env.terminations) if name == "aec" else (result[1], result[2])
        assert tuple(rewards.get(f"seat_{seat}", 0.0) for seat in range(seats)) == game.rewards()
        assert all(ended.values()) == game.is_over
    if name == "aec":
        ends = [{"rank": rank, "total": total} for rank, total in zip(game.ranks or (), game.totals, strict=True)]
        assert [*env.infos.values()] == ends


@EVERY
def test_a_refused_reset_changes_nothing(name: str) -> None:
    env, other = MAKERS[name](), MAKERS[name]()
    wrong: list[dict[str, Any]] = [{"seed": value} for value in NOT_WHOLE]
    wrong += [{"options": {"deal": value}} for value in [*NOT_WHOLE, None]]
    wrong += [{"options": {"dael": 3}}, {"options": {"deal": 1, "seed": 3}}, {"options": 3}, {"options": [("deal", 1)]}]
    for named in wrong:
        with pytest.raises((cambio.CambioError, TypeError), match=r"`(seed|deal|options)` must "):
            env.reset(**named)
    env.reset()  # Works after a refusal at the start.
    env.reset(seed=np.int64(3))
    other.reset(seed=3)
    step(name, env, int(mask(env).argmax()))
    before = games(env)
    for named in wrong:
        with pytest.raises((cambio.CambioError, TypeError)):
            env.reset(**named)
        assert games(env) == before
    env.reset()
    other.reset()
    assert games(env) == games(other)
    env.reset(options={"deal": np.uint8(7)})
    assert games(env)[0].deal == 7 and games(env)[0].seed == 3


@EVERY
def test_resets_without_a_seed_follow_the_last_seed(name: str) -> None:
    one, other = MAKERS[name](), MAKERS[name]()
    for env in (one, other):
        env.reset(seed=7)
    for _ in range(3):
        one.reset()
        other.reset()
        assert games(one) == games(other) and games(one)[0].seed == 7
    assert games(one)[0].deal == (6 if name == "vector" else 3)
    one, other = MAKERS[name](), MAKERS[name]()
    one.reset(), other.reset()
    assert games(one)[0].seed != games(other)[0].seed


@EVERY
@pytest.mark.parametrize("action", [0.9, 0.0, True, np.True_, math.nan, np.float64(0), "fly", None, -1, 10**6, [0], object()])
def test_what_is_not_an_action_changes_nothing(name: str, action: Any) -> None:
    for illegal in ("terminate", "raise", "random"):
        env = MAKERS[name](illegal=illegal)
        env.reset(seed=1)
        before = games(env)
        with pytest.raises((cambio.CambioError, TypeError)):
            step(name, env, action)
        assert games(env) == before
    step(name, env, np.uint8(int(mask(env).argmax())) if name != "vector" else int(mask(env).argmax()))
    assert games(env) != before


@EVERY
def test_an_illegal_action_does_what_was_asked_for(name: str) -> None:
    """It raises, ends the match with a loss, or becomes a legal action."""
    for illegal in ("raise", "terminate", "random"):
        env = MAKERS[name](illegal=illegal)
        if name != "vector":
            with pytest.raises((cambio.CambioError, ValueError), match="reset"):
                step(name, env, 0)
        env.reset(seed=1)
        before = games(env)
        wrong = int(mask(env).argmin())
        if illegal == "raise":
            with pytest.raises(cambio.IllegalAction, match="is illegal for seat"):
                step(name, env, wrong)
            assert games(env) == before
            continue
        result = step(name, env, wrong)
        if illegal == "random":
            assert games(env) != before
        elif name in ("aec", "parallel", "rllib"):
            rewards, ended = (env.rewards, env.terminations) if name == "aec" else (result[1], result[2])
            assert rewards == {"seat_0": -1.0, "seat_1": 0.0} and all(ended.values())
        else:
            assert np.atleast_1d(result[1])[-1] == -1.0 and np.atleast_1d(result[2])[-1]


@EVERY
def test_actions_of_another_seat_are_refused(name: str) -> None:
    if name not in ("parallel", "rllib"):
        pytest.skip("its action has no seat")
    env = MAKERS[name]()
    env.reset(seed=1)
    with pytest.raises(cambio.ActionError, match="must have an action of seat_0"):
        env.step({"seat_1": 0})


@EVERY
def test_wrong_options_are_refused(name: str) -> None:
    wrong: list[dict[str, Any]] = [{"illegal": value} for value in ("ignore", 1)] + [{"reward": value} for value in ("fun", 3)]
    wrong += [{"rules": value} for value in (None, "whist")]
    if name in ("gymnasium", "vector"):
        wrong += [{"rotate": value} for value in ("no", 1, None)]
        wrong += [{"opponents": value} for value in ([None], [3], [], "sharp", ["unknown"])]
    else:
        wrong += [{"seats": value} for value in [*NOT_WHOLE, None, 9]] + [{"max_cycles": value} for value in [*NOT_WHOLE, 0]]
    for options in wrong:
        with pytest.raises((cambio.CambioError, TypeError), match=f"`{next(iter(options))}`|rules|preset|no agent `unknown`"):
            MAKERS[name](**options)
    if name != "rllib":
        with pytest.raises(cambio.CambioError, match="`render_mode` must be"):
            MAKERS[name](render_mode="rgb_array")
    for value in NOT_WHOLE:
        with pytest.raises((cambio.CambioError, TypeError), match="`num_envs`"):
            CambioVectorEnv(value)
        with pytest.raises((cambio.CambioError, TypeError), match="`threads`"):
            CambioVectorEnv(1, threads=value)
    with pytest.raises(TypeError, match="`copy` must be True or False"):
        CambioVectorEnv(copy="no")  # type: ignore[arg-type]


def finish(name: str, env: Any) -> Any:
    """Plays to the end of the match; in the batch, to the end of a match. Returns the last observation."""
    dice = np.random.default_rng(1)
    for _ in range(5000):
        masks = env.match.masks if hasattr(env, "match") else env.game.mask()[None]
        chosen = [int(dice.choice(np.flatnonzero(mask))) for mask in masks]
        if name == "parallel":
            actions = {agent: int(dice.choice(np.flatnonzero(mask))) for agent, mask in env._masks.items()}
            seen, _, ended, cut, _ = env.step(actions)
            over = any([*ended.values(), *cut.values()])
        elif name == "aec":
            env.step(chosen[0])
            seen, over = None, env.terminations[env.agents[0]] or env.truncations[env.agents[0]]
        elif name == "rllib":
            seen, _, ended, cut, _ = step(name, env, chosen[0])
            over = ended["__all__"] or cut["__all__"]
        else:
            seen, _, over, _, infos = env.step(np.array(chosen) if name == "vector" else chosen[0])
            if name == "vector" and over.any():
                return infos["final_obs"][over.argmax()]
        if np.any(over):
            return seen
    raise AssertionError("the match does not end")


@EVERY
@pytest.mark.parametrize("end", ["end", "truncation", "illegal"])
def test_no_action_is_legal_after_the_end(name: str, end: str) -> None:
    if end == "truncation" and name in ("gymnasium", "vector"):
        pytest.skip("it has no limit")
    env = MAKERS[name](illegal="terminate", **({"max_cycles": 3} if end == "truncation" else {}))
    env.reset(seed=1)
    if end == "illegal":
        before = games(env)
        result = step(name, env, int(mask(env).argmin()))
        seen = None if result is None else result[4]["final_obs"][1] if name == "vector" else result[0]
        if name != "vector":
            assert games(env) == before
    else:
        seen = finish(name, env)
    assert not mask_of(name, env, seen).any()
    assert getattr(env, "asked", ()) == ()
    if name == "gymnasium":
        assert not env.action_masks().any()
    if name != "vector":
        last, deal = games(env)[0], games(env)[0].deal
        assert last.is_over == (end == "end") and env.game == last
        with pytest.raises((cambio.CambioError, ValueError), match="reset|None"):
            step(name, env, 0)
        env.reset()
        assert env.game.deal == deal + 1 and not env.game.is_over


def test_only_the_parallel_environment_is_parallelizable() -> None:
    assert cambio_v0.parallel_env().metadata["is_parallelizable"]
    assert not cambio_v0.env().metadata["is_parallelizable"]
    # PettingZoo's own tests give this option.
    cambio_v0.env().reset(seed=0, options={"options": 1})


@pytest.mark.parametrize(
    ("call", "names"),
    [
        (functools.partial(cambio.evaluate, "greedy", "random"), "deals seats seed threads rows"),
        (functools.partial(cambio.tournament, ["greedy", "random"]), "deals seats seed threads rows"),
        (
            functools.partial(cambio.sprt, "greedy", "random"),
            "deals seats seed threads rounds elo0 elo1 alpha beta luck",
        ),
        (
            functools.partial(cambio.tune, "greedy(call_at=?)", "3..4"),
            "deals seats seed threads rounds mixture generations validate luck",
        ),
        (functools.partial(cambio.advantage, "greedy", "sharp"), "deals seats seed threads playouts"),
        (functools.partial(cambio.TextPlayer, str), "attempts rules otherwise"),
        (cambio.Game, "seats seed deal agent_seed"),
        (functools.partial(cambio.VectorGame, 1), "seats seed first_deal agent_seed threads"),
    ],
)
def test_options_of_functions_are_checked(call: Callable[..., Any], names: str) -> None:
    flags, numbers = {"rows", "rounds", "mixture", "rules"}, {"elo0", "elo1", "alpha", "beta"}
    for name in names.split():
        texts: list[Any] = [] if "seed" in name else ["3"]
        wrong: list[Any] = [1, "yes", None] if name in flags else [math.nan, math.inf, True, "1", None]
        if name not in flags | numbers:
            wrong = [-1, 1.5, True, math.nan, None, np.float64(2), *texts]
        for value in wrong:
            with pytest.raises((cambio.CambioError, TypeError), match=f"`{name}` must be"):
                call(**{name: value})


def test_seeds_are_any_texts() -> None:
    for seed in ("😀", "\x7f", "\n", 'a"\\b', "\u2028"):
        one, other = (cambio.evaluate("greedy", "random", deals=2, seed=seed, rows=True) for _ in range(2))
        assert one.matches == 4 and one.rows("matches").to_csv() == other.rows("matches").to_csv()
    assert cambio.Game(seed="😀") != cambio.Game(seed="😁")
    for call in (lambda: cambio.evaluate("greedy", "random", deals=2, seed="\ud800"), lambda: cambio.Game(seed="\ud800")):
        with pytest.raises(cambio.CambioError, match="`seed` must be"):
            call()


@pytest.mark.parametrize("illegal", ["raise", "terminate", "random"])
def test_a_batch_before_its_first_reset_is_refused(illegal: Any) -> None:
    """Regression test: with `illegal` other than "raise", NumPy's `IndexError` named no cause."""
    env = CambioVectorEnv(3, illegal=illegal)
    for call in (lambda: env.step(np.zeros(3, np.int64)), lambda: env.match):
        with pytest.raises(cambio.CambioError, match="call reset"):
            call()
    env.reset(seed=1)
    assert env.match.batch == 3


@pytest.mark.parametrize("name", sorted(MAKERS.keys() - {"gymnasium", "vector"}))
@pytest.mark.parametrize("rules", ["classic", "original-d", "faessler"])
@pytest.mark.parametrize("again", [copy.copy, copy.deepcopy, lambda env: pickle.loads(pickle.dumps(env))])
def test_copies_go_on_by_themselves(name: str, rules: str, again: Callable[[Any], Any]) -> None:
    """A copy is at the same point, and continues with the same decisions, deals and spaces without changing the original."""
    env = MAKERS[name](rules=rules)
    env.reset(seed=3)
    step(name, env, int(mask(env).argmax()))
    spaces = lambda one: one.action_space("seat_0") if callable(one.action_space) else one.action_space
    spaces(env).seed(1)
    other = again(env)
    assert games(env) == games(other)
    ends = finish(name, env)
    assert games(env) != games(other)
    assert repr(finish(name, other)) == repr(ends) and games(env) == games(other)
    env.reset(), other.reset()
    assert games(env) == games(other)
    assert np.array_equal(spaces(env).sample(), spaces(other).sample())


@pytest.mark.parametrize("name", ["gymnasium", "aec"])
def test_a_render_is_the_asked_seats_own(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    for mode in ("ansi", "human"):
        env = MAKERS[name](render_mode=mode)
        env.reset(seed=4)
        shown = env.game.render(env.game.seat)
        assert env.render() == (shown if mode == "ansi" else None)
    assert set(capsys.readouterr().out.split("\n")) >= set(shown.split("\n"))
