"""Hidden information does not affect anything that a seat receives: tensors, masks, strings, pickles and renderings.

Two games take the same decisions. At chance nodes, the second game takes a different outcome if the seat perceives no difference,
so the games differ only in cards that the seat has not seen. The first difference that the seat perceives ends the pair.
`CAMBIO_FULL=1` compares a hundred thousand pairs of positions.
"""

from __future__ import annotations

import pickle
import random

import numpy as np
import pytest

import cambio_game as cambio
from conftest import amount, choose

try:
    from cambio_game.pettingzoo import cambio_v0
except ModuleNotFoundError:
    cambio_v0 = None  # type: ignore[assignment]
try:
    import cambio_game.openspiel as openspiel
except ModuleNotFoundError:
    openspiel = None  # type: ignore[assignment]

GREEDY = cambio.agent("greedy")
PLAYER = cambio.TextPlayer(str)


def shown(game: cambio.ChanceGame, seat: int) -> tuple[bytes, ...]:
    """All data that a seat can get from a game."""
    seen = game.observe(seat)
    texts = (repr(seen), str(seen), seen.key(), game.render(seat), game.information_state(seat))
    texts += (seen.describe(), seen.describe(events=3), seen.describe_rules(), str(seen.strategy_key), PLAYER.prompt(seen))
    if seen.is_asked:
        decisions = GREEDY.decide(game), GREEDY.decide(seen), GREEDY.decide(seen, seed=3), cambio.parse_decision("1", seen)
        texts += tuple(map(str, decisions))
    arrays = (game.tensor(seat), game.mask(seat), seen.tensor(), seen.mask())
    known = (seen.known, seen.held, seen.pile, seen.top, seen.stock, seen.sightings, seen.stock_candidates(), seen.worlds(2))
    return (*(text.encode() for text in texts), *(array.tobytes() for array in arrays), pickle.dumps(seen), repr(known).encode())


def wrapped(game: cambio.ChanceGame, seat: int) -> tuple[bytes, ...]:
    """The data that a seat gets from the environments for other libraries, if they are installed."""
    found: list[bytes] = []
    if cambio_v0 is not None:
        env = cambio_v0.CambioEnv(game.rules, game.seats)
        env._game = game
        seen = env.observe(env.possible_agents[seat])
        found += [seen["observation"].tobytes(), seen["action_mask"].tobytes()]
        if game.seat == seat:
            found.append(str(env.render()).encode())
    if openspiel is not None and game.seat is not None:
        loaded = openspiel.pyspiel.load_game(f"python_cambio(rules={game.rules.name},players={game.seats})")
        state = loaded.new_initial_state()
        state.table = game
        found += [state.information_state_string(seat).encode(), state.observation_string(seat).encode()]
        for kind in (state.information_state_tensor, state.observation_tensor):
            found.append(repr(kind(seat)).encode())
    return tuple(found)


def play_on(game: cambio.ChanceGame, dice: random.Random) -> list[int]:
    """Plays random outcomes until a seat has to decide; returns the outcomes."""
    played = []
    while game.is_chance:
        outcomes = game.outcomes()
        played.append(dice.choices([number for number, _ in outcomes], [share for _, share in outcomes])[0])
        game.play_chance(played[-1])
    return played


def otherwise(game: cambio.ChanceGame, seat: int, like: cambio.ChanceGame, played: list[int], dice: random.Random):
    """The game after other outcomes that the seat cannot distinguish; `None` if there are none."""
    for attempt in range(7):
        other, replaced, left = game.copy(), 0, list(played)
        while other.is_chance and left:
            possible = [number for number, _ in other.outcomes()]
            due = left.pop(0)
            if (attempt < 6 and dice.random() < (0.9, 0.5, 0.3)[attempt % 3]) or due not in possible:
                chosen = dice.choice(possible)
                replaced += chosen != due
            else:
                chosen = due
            other.play_chance(chosen)
        if not left and not other.is_chance and other.information_state(seat) == like.information_state(seat):
            return other, replaced
    return None, 0


RULES = [cambio.Rules(name) for name in (*cambio.PRESETS, *cambio.MINI_GAMES)]
HOUSE = [
    {"hand": 3, "peek": "choose 1", "window": "none"},
    {"hand": 6, "peek": "choose 3", "max_slots": 8},
    {"match": "points"},
    {"decks": 2},
]
HOUSE_RULES = [cambio.Rules({"base": "classic", "name": f"house {number}", **knobs}) for number, knobs in enumerate(HOUSE)]


def test_what_a_seat_cannot_know_changes_nothing_that_it_gets() -> None:
    dice = random.Random(17)
    pairs = hidden = deal = 0
    tables = RULES + HOUSE_RULES
    while pairs < amount(2000, 100_000):
        deal += 1
        rules = tables[deal % len(tables)]
        seats = dice.choice([seats for seats in (2, 3, 4) if seats in rules.seats])
        seat = dice.randrange(seats)
        first = cambio.ChanceGame(rules, seats)
        second, replaced = first.copy(), 0
        while not first.is_over:
            played = play_on(first, dice)
            second, more = otherwise(second, seat, first, played, dice)
            if second is None or second.is_over != first.is_over or second.seat != first.seat:
                break
            replaced += more
            if first.is_over:
                break
            assert shown(first, seat) == shown(second, seat), (rules, seats, first.history)
            # OpenSpiel cannot load house rules by name.
            if rules in RULES and pairs % 10 == 0:
                assert wrapped(first, seat) == wrapped(second, seat), (rules, seats, first.history)
            pairs += 1
            hidden += replaced > 0
            action = choose(first, dice)
            if action not in second.legal_actions():
                break
            first.step(action)
            second.step(action)
    assert hidden > pairs // 4


@pytest.mark.parametrize("rules", ["mini-m0", "mini-s", "mini-k3", "mini-p"])
@pytest.mark.parametrize("against", [None, ["greedy", None]])
def test_the_rows_of_a_batch_contain_nothing_that_the_seat_to_act_cannot_know(rules: str, against: list[str | None] | None) -> None:
    """Games in which the seat to act has the same information state, with different hidden cards, have the same rows.

    Only `all_observations` of the other seats and `true_cards` may differ, and do.
    """
    games = []
    for deal in range(600):
        dice, game = random.Random(deal % 3), cambio.Game(rules, 2, seed=4, deal=deal)
        for _ in range(deal % 5):
            if not game.is_over:
                game.step(dice.choice(game.legal_actions()))
        if not game.is_over and (against is None or game.seat == 1):
            games.append(game)
    batch = cambio.VectorGame(len(games), rules, opponents=against, keys=True, all_seats=True, true_cards=True, autoreset=False)
    batch.reset(games=games)
    groups: dict[str, list[int]] = {}
    for number, game in enumerate(games):
        groups.setdefault(game.observe().key(), []).append(number)
    pairs = secret = 0
    for first, *others in groups.values():
        seat = int(batch.seat[first])
        for other in others:
            for rows in (batch.observations, batch.masks, batch.keys, batch.seat, batch.all_observations[:, seat]):
                assert np.array_equal(rows[first], rows[other])
            pairs += 1
            secret += not np.array_equal(batch.true_cards[first], batch.true_cards[other])
    assert pairs > 50 and secret > pairs // 4
