"""Invalid arguments raise a Python exception with a message, change nothing, and never cause a panic."""

from __future__ import annotations

import random
import re

import numpy as np
import pytest

import cambio_game as cambio
from conftest import amount, every_object, midway

JUNK = [
    None, True, -1, 0, 1, 2, 9, 10**6, 2**63, 2**64, -(2**70), 1.5, float("nan"), "", "a", "z9", "draw", "keep a1", "snap h16", "a1",
    "\x00", "é" * 500, b"a1", [], {}, (), [1], {"base": "classic"}, object(), int, np.zeros(3), np.int64(3), np.uint8(255), np.float32(2),
    "classic", "whist", "greedy", "rollout(n=x)", {"base": 3}, {"a": {"b": [1, {}]}}, np.zeros((2, 2), bool), slice(None), ...,
]  # fmt: skip

NAMES = ("seat", "out", "seed", "rules", "deal", "threads", "masks")
ALLOWED = (cambio.CambioError, TypeError, ValueError, OverflowError, KeyError, IndexError, RuntimeError, OSError)


def raised(call: object, *args: object, **named: object) -> BaseException | None:
    try:
        call(*args, **named)  # type: ignore[operator]
    except ALLOWED as error:
        assert str(error) or isinstance(error, KeyError)
        return error
    return None


def methods(thing: object) -> list[str]:
    skip = ("__init_subclass__", "__class__", "__subclasshook__", "__del__", "__reduce_ex__", "__setattr__", "__delattr__")
    names = [name for name in dir(thing) if callable(getattr(thing, name, None)) and name not in skip]
    return [
        name for name in names if not name.startswith("__") or name in ("__eq__", "__getitem__", "__contains__", "__deepcopy__")
    ]


def test_fuzzed_calls_raise_exceptions_of_python_and_change_nothing() -> None:
    dice = random.Random(5)
    things = every_object()
    things += [thing for thing in vars(cambio).values() if isinstance(thing, type) and thing.__module__ == "cambio_game"]
    before = [repr(thing) for thing in things]
    calls = refused = 0
    for _ in range(amount(20_000, 100_000)):
        thing = dice.choice(things)
        if isinstance(thing, type) and dice.random() < 0.5:
            call = thing
        else:
            name = dice.choice(methods(thing))
            if name in ("decide", "reset", "read"):
                continue
            # Step a copy, so that the fuzzed object does not change.
            is_copied = name in ("step", "play_chance", "_apply") and isinstance(thing, (cambio.Game, cambio.ChanceGame))
            target = thing.copy() if is_copied else thing
            call = getattr(target, name)
        args = [dice.choice(JUNK) for _ in range(dice.choice((0, 1, 1, 1, 2, 2, 3, 4)))]
        named = {dice.choice(NAMES): dice.choice(JUNK)} if dice.random() < 0.2 else {}
        if call is cambio.VectorGame and args and isinstance(args[0], (int, np.integer)) and args[0] > 100:
            continue
        calls += 1
        refused += raised(call, *args, **named) is not None
    assert [repr(thing) for thing in things] == before
    assert calls > 1000 and refused > calls // 2


@pytest.mark.parametrize(
    ("call", "kind", "sentence"),
    [
        (lambda: cambio.Rules("whist"), cambio.RulesError, "whist"),
        (lambda: cambio.Game("mini-m0", 8), cambio.RulesError, "the deck of `mini-m0` has"),
        (lambda: cambio.Game("classic", 2, reward="fun"), cambio.CambioError, "`reward` must be rank or score, found `fun`"),
        (lambda: cambio.Game().step("drow"), cambio.ActionError, "`drow` is not a decision; decisions are draw, take"),
        (lambda: cambio.Game().step("drop"), cambio.IllegalAction, "`drop` is illegal for seat a; legal: draw"),
        (lambda: cambio.Game().step(10**6), cambio.ActionError, "1000000 is not a decision; an index must be from 0 to 426"),
        (lambda: cambio.Game().observe(2), cambio.CambioError, "`seat` must be from 0 to 1 or from a to b, found 2"),
        (lambda: cambio.agent("greedy(call_at=x)"), cambio.AgentError, "must be a whole number from -20 to 100, found `x`"),
        (lambda: cambio.Record("{"), cambio.RecordError, "not JSON"),
        (lambda: cambio.VectorGame(0), cambio.CambioError, "`batch` must be a whole number from 1 to 1048576, found 0"),
        (
            lambda: cambio.VectorGame(2, opponents=["greedy"]),
            cambio.AgentError,
            "`opponents` must have 2 entries, one for each seat (a spec, or None for a seat that you play), found 1",
        ),
        (lambda: cambio.VectorGame(2, opponents=["greedy"] * 2), cambio.AgentError, "`opponents` must have at least one None"),
        (lambda: cambio.VectorGame(2).step(np.zeros(2, int)), cambio.IllegalAction, "call reset"),
        (lambda: cambio.ChanceGame("mini-m0").observe("c"), cambio.CambioError, "from 0 to 1 or from a to b, found 'c'"),
        (lambda: cambio.Run.open("/nowhere"), cambio.RunError, "/nowhere"),
        (lambda: cambio.VectorGame(3).game(-1), cambio.CambioError, "`index` must be a whole number from 0 to 2, found -1"),
        (lambda: cambio.VectorGame(3).game(3), cambio.CambioError, "`index` must be a whole number from 0 to 2, found 3"),
    ],
)
def test_a_refusal_is_a_sentence_of_its_own_kind(call, kind, sentence) -> None:
    with pytest.raises(kind, match=re.escape(sentence)) as caught:
        call()
    assert isinstance(caught.value, cambio.CambioError) and isinstance(caught.value, ValueError)
    assert "\n" not in str(caught.value)


def test_flags_and_none_are_not_numbers() -> None:
    game = cambio.Game(seed=1)
    with pytest.raises(TypeError, match="the decision must be an Action, a str or an index, found type bool"):
        game.step(True)
    assert game.decisions == 0
    for wrong in (lambda: cambio.Game(None), lambda: cambio.VectorGame(2, None)):
        with pytest.raises(TypeError, match="the rules must be .* found type NoneType"):
            wrong()
    with pytest.raises(TypeError, match="`seat` must be a number or a letter, found type bool"):
        game.tensor(True)
    for measure in (cambio.evaluate, cambio.sprt):
        with pytest.raises(TypeError, match=r"`names` must be texts, found \[1, 2\]"):
            measure("greedy", "random", names=[1, 2])


def test_errors_of_a_tournament_name_no_temporary_file() -> None:
    with pytest.raises(cambio.ExperimentError, match="^field `lineups` must be"):
        cambio.tournament(["greedy", "random"], lineups={"pools": 3})
    with pytest.raises(cambio.ExperimentError, match="^a seed must be"):
        cambio.tournament(["greedy", "random"], seed="")


def test_a_match_that_is_over_has_no_tensor_of_the_seat_to_act() -> None:
    game = midway("mini-m0", 2, 1, 99)
    for call in (game.tensor, game.observe):
        with pytest.raises(cambio.IllegalAction, match="no seat has to decide now; name a seat"):
            call()
        assert call(0) is not None
    assert not game.mask().any() and game.render() == str(game)
    games = cambio.VectorGame(2)
    with pytest.raises(cambio.IllegalAction, match="not begun"):
        games.random_actions(1)
