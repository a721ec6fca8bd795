"""Calls release their memory: every method and property of every class, in a loop."""

from __future__ import annotations

import contextlib
import functools
import gc
import json
import pickle
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import cambio_game as cambio
from conftest import every_object

CALLS = 100
PLAIN = ("__copy__", "__hash__", "__repr__", "__str__", "__reduce__")
#: The number of blocks that caches and the counting itself may take.
SPARE = 50


def calls(thing: Any) -> Iterator[tuple[str, Callable[[], Any]]]:
    """Calls of all methods and properties of an object."""
    cls, rules = type(thing), cambio.Rules("mini-m0")
    game = cambio.Game(rules, seed=1)
    tensor, card = game.tensor(), next(iter(rules.deck))
    uniform = cambio.SmallGame(rules).uniform()
    arguments: dict[str, tuple[Any, ...]] = {
        "split": (np.stack([tensor, tensor]),), "__getitem__": ("held",), "points": (card,), "rank": (card,),
        "action_count": (2,), "from_toml": (rules.to_toml(),), "from_index": (0, rules, 2, 0), "index": (rules, 2, 0),
        "face": ("a1",), "seen_by": ("a1",), "candidates": ("a1",), "worlds": (1,), "decide": (game,), "probabilities": (game.observe(),),
        "information_state": (0,), "outcome_text": (0,), "restore": (game.record(),), "random_actions": (1,), "game": (0,), "__eq__": (thing,),
        "tensors": (0,), "masks": (0,), "keys": (0,), "value": uniform, "exploitability": uniform, "best_response": (0, uniform[1]),
        "mixture": (0, [uniform[0]]), "solve": (1.0,), "__deepcopy__": ({},),
    }  # fmt: skip
    if isinstance(thing, cambio.SmallGame):
        arguments["probabilities"] = ("greedy",)
    skipped = {"read", "save", "load", "step", "play_chance", "_apply", "__new__", "__init__", "__reduce_ex__", "network_inputs"}
    own = set(vars(cls)) - set(vars(object)) | {"__eq__", "__hash__", "__repr__", "__str__", "__reduce__"}
    for name in sorted(own - skipped):
        value = getattr(cls, name)
        if callable(value) and (name in arguments or not name.startswith("__") or name in PLAIN):
            # Classes have methods of the same name with and without arguments.
            for given in [(), *([arguments[name]] if name in arguments else [])]:
                yield name, lambda name=name, given=given: getattr(thing, name)(*given)
        elif not callable(value) and not name.startswith("__"):
            yield name, lambda name=name: getattr(thing, name)


def growth(call: Callable[[], Any]) -> int:
    """The number of blocks of memory that some calls do not release. Caches that fill at first do not count."""
    least = SPARE + 1
    for _ in range(10):
        before = sys.getallocatedblocks()
        for _ in range(CALLS):
            with contextlib.suppress(cambio.CambioError, TypeError):
                call()
        gc.collect()
        if (least := min(least, sys.getallocatedblocks() - before)) <= SPARE:
            break
    return least


@pytest.mark.parametrize("thing", every_object("mini-m0"), ids=lambda thing: type(thing).__name__)
def test_calls_of_methods_release_their_memory(thing: Any) -> None:
    grown, called = {}, 0
    for name, call in calls(thing):
        called += 1
        if (blocks := growth(call)) > SPARE:
            grown[name] = blocks
    assert not grown and called > 3


def test_other_calls_release_their_memory(files: dict[str, tuple[Path, Callable[[Path], Any]]]) -> None:
    reads = [files[name] for name in ("strategy.txt", "strategy of a game", "rules.toml", "records.jsonl")]
    game, chance = cambio.Game("mini-m0"), cambio.ChanceGame("mini-m0")
    games = cambio.VectorGame(2, "mini-m0", opponents=[None, "greedy"])
    games.reset()

    class Mine:
        def __init__(self, call_at: int = 3) -> None:
            self.call_at = call_at

        def decide(self, seen: cambio.Observation) -> cambio.Action:
            return seen.legal_actions()[0]

    options = {"agent": "mine(call_at=2)", "other": "greedy", "rules": "mini-m0", "seed": "x", "luck": "off", "deals": 9}
    test = cambio._cambio._Study("sprt", json.dumps(options), [("mine", Mine)])

    def stepped() -> None:
        chance.copy().play_chance(chance.outcomes()[0][0])
        copied = game.copy()
        copied.step(copied.legal_indices()[0])
        games.step(games.random_actions(1))
        games.reset(where=[0])

    for call in (
        stepped,
        lambda: game.step("fly"),
        *(functools.partial(read, path) for path, read in reads),
        lambda: pickle.loads(pickle.dumps([game, game.observe()])),
        lambda: cambio.VectorGame(2, "mini-m0", finals=True),
        lambda: cambio.Game(seed=1).observe().network_inputs(),
        lambda: cambio.parse_decision("draw", cambio.Game(seed=1).observe()),
        lambda: test.scores("", 0, 2),
    ):
        assert growth(call) <= SPARE, call
