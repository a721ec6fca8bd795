"""A changed pickle raises an exception of Python or gives a usable object. It never causes a panic."""

from __future__ import annotations

import random
from typing import Any

import pytest
from test_refusals import JUNK, methods, raised

import cambio_game as cambio
from conftest import amount, every_object, midway


def changed(value: Any, dice: random.Random) -> Any:
    """The value with one change, in a random part of it."""
    if isinstance(value, cambio.Record):
        return cambio.Record(changed(value.to_json(), dice))
    if isinstance(value, (list, tuple)) and value and dice.random() < 0.85:
        items = list(value)
        at = dice.randrange(len(items))
        kind = dice.random() if isinstance(value, list) else 0
        if kind < 0.7:
            items[at] = changed(items[at], dice)
        elif kind < 0.8:
            del items[at]
        else:
            items.insert(at, dice.choice(items))
        return type(value)(items)
    if isinstance(value, (str, bytes)) and value and dice.random() < 0.85:
        at, more = dice.randrange(len(value)), dice.choice([",draw", "draw", ",pass", "0", "f", '"', "1,2"])
        piece = more if isinstance(value, str) else bytes([dice.randrange(256)])
        return value[:at] + piece + value[at + dice.randrange(2) :] if dice.random() < 0.7 else value + piece
    if isinstance(value, int) and dice.random() < 0.85:
        return dice.choice([value + 1, value - 1, value ^ 1 << dice.randrange(60), 0, -1, 255, 2**16, 2**31, 2**63, 2**64 - 1])
    return dice.choice(JUNK)


def test_changed_pickles_never_panic() -> None:
    dice = random.Random(7)
    restored = used = 0
    for number in range(amount(4000, 100_000)):
        if number % 50 == 0:
            thing = dice.choice([one for one in every_object() if not isinstance(one, (cambio.VectorGame, cambio.World))])
        make, args = thing.__reduce__()
        found: list[Any] = []
        if raised(lambda: found.append(make(*changed(tuple(args), dice)))) is None:
            restored += 1
            for name in methods(type(found[0])):
                if name in ("save", "write", "reset", "__getitem__", "__class_getitem__"):
                    continue
                for given in ((), (0,), ("a1",), (dice.choice(JUNK),)):
                    used += raised(lambda: getattr(found[0], name)(*given)) is None
            assert repr(found[0])
    assert restored > 100 and used > 1000, (restored, used)


def test_a_decision_too_many_is_refused() -> None:
    over, chance = midway("mini-m0", 2, 1, 99), cambio.ChanceGame("mini-m0")
    while not chance.is_over:
        chance._apply(chance.outcomes()[0][0] if chance.is_chance else chance.legal_indices()[0])
    record = over.record().to_json().replace('"],"races"', '","a draw"],"races"', 1)
    for call in (lambda: over.step("draw"), lambda: cambio.ChanceGame("mini-m0", 2, [*chance.history, 0])):
        with pytest.raises(cambio.IllegalAction, match="over"):
            call()
    with pytest.raises(cambio.RecordError, match="illegal decision `a draw`: the round is over"):
        cambio.Game.restore(cambio.Record(record))


def test_an_observation_must_follow_from_its_events() -> None:
    game = midway("classic", 2, 3, 30)
    make, (position, codes, *rest) = game.observe(0).__reduce__()
    assert make(position, codes, *rest) == game.observe(0)
    other = game.observe(1).__reduce__()[1]
    for wrong in (codes[1:], other[1], []):
        with pytest.raises(cambio.CambioError, match="impossible card"):
            make(position, wrong, *rest)
    with pytest.raises(cambio.CambioError):
        make(other[0], codes, *rest)
