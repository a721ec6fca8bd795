"""Random play in this environment and in other libraries: a Markdown table of steps per second.

    pip install open_spiel rlcard pettingzoo[classic] pgx        missing libraries are omitted
    python cambio-py/benches/peers.py [--seconds 2]

Times are processor times of one process, the best of three. The libraries take turns, so that other work on the machine affects all of
them. A step is one decision. The libraries do different work per step, so each row lists what a step includes; games also differ in
length and in the size of observations. The figures compare interfaces, not games.
"""

from __future__ import annotations

import argparse
import platform
import random
import time
from collections.abc import Callable
from importlib import import_module
from importlib.metadata import distributions
from typing import Any

import numpy as np

Loop = Callable[[float], tuple[int, float]]


def timed(work: Callable[[], int]) -> Loop:
    """A loop that calls `work` for the given seconds of processor time and returns steps and seconds."""

    def loop(seconds: float) -> tuple[int, float]:
        # Reading the clock can take longer than a match, so it is read seldom.
        steps, calls, begun = 0, 1, time.process_time()
        while (taken := time.process_time() - begun) < seconds:
            steps += sum(work() for _ in range(calls))
            calls = min(2 * calls, 64)
        return steps, taken

    return loop


def cambio_game(reads: bool) -> Loop:
    import cambio_game as cambio

    dice, deals = random.Random(1), iter(range(10**9))

    def match() -> int:
        game, steps = cambio.Game("classic", 2, seed=1, deal=next(deals)), 0
        while not game.is_over:
            if reads:
                game.tensor()
                game.mask()
            game.step(dice.choice(game.legal_indices()))
            steps += 1
        return steps

    return timed(match)


def cambio_batch() -> Loop:
    import cambio_game as cambio

    games, calls = cambio.VectorGame(1024, "classic", 2, seed=1), iter(range(10**9))
    games.reset()

    def call() -> int:
        games.step(games.random_actions(next(calls)))
        return 1024

    return timed(call)


def pettingzoo(module: str, *given: Any) -> Loop:
    env, dice, seeds = import_module(module).env(*given), random.Random(1), iter(range(10**9))

    def match() -> int:
        env.reset(seed=next(seeds))
        steps = 0
        for _ in env.agent_iter():
            seen, _, over, late, info = env.last()
            if over or late:
                env.step(None)
                continue
            mask = seen["action_mask"] if isinstance(seen, dict) and "action_mask" in seen else info["action_mask"]
            env.step(int(dice.choice(np.flatnonzero(mask).tolist())))
            steps += 1
        return steps

    return timed(match)


def open_spiel(name: str, reads: bool, module: str = "pyspiel") -> Loop:
    import pyspiel

    import_module(module)  # Registers the game.
    game, dice = pyspiel.load_game(name), random.Random(1)

    def match() -> int:
        state, steps = game.new_initial_state(), 0
        while not state.is_terminal():
            if state.is_chance_node():
                outcomes, shares = zip(*state.chance_outcomes(), strict=True)
                state.apply_action(dice.choices(outcomes, shares)[0])
                continue
            if reads:
                state.information_state_tensor(state.current_player())
                state.legal_actions_mask()
            state.apply_action(dice.choice(state.legal_actions()))
            steps += 1
        return steps

    return timed(match)


def rlcard(name: str) -> Loop:
    import rlcard

    env, dice = rlcard.make(name, config={"seed": 1}), random.Random(1)

    def match() -> int:
        (state, _), steps = env.reset(), 0
        while not env.is_over():
            state, _ = env.step(dice.choice(list(state["legal_actions"])))
            steps += 1
        return steps

    return timed(match)


def pgx(name: str) -> Loop:
    import jax
    import pgx

    env = pgx.make(name)
    begin = jax.jit(jax.vmap(env.init))

    @jax.jit
    def advance(state: Any, key: Any) -> Any:
        draws, fresh = jax.random.split(key)
        actions = jax.random.categorical(draws, jax.numpy.where(state.legal_action_mask, 0.0, -1e9))
        state = jax.vmap(env.step)(state, actions)
        new = jax.vmap(env.init)(jax.random.split(fresh, 1024))
        over = state.terminated | state.truncated
        return jax.tree.map(lambda old, new: jax.numpy.where(over.reshape(-1, *[1] * (old.ndim - 1)), new, old), state, new)

    held = {"state": begin(jax.random.split(jax.random.key(0), 1024)), "key": jax.random.key(1)}
    held["state"] = advance(held["state"], held["key"])

    def call() -> int:
        held["key"], now = jax.random.split(held["key"])
        held["state"] = jax.block_until_ready(advance(held["state"], now))
        return 1024

    return timed(call)


ROWS: list[tuple[str, str, Callable[[], Loop]]] = [
    ("cambio `Game`, classic", "index, list of legal indices", lambda: cambio_game(False)),
    ("cambio `Game`, classic", "the same, tensor of 1,584 bytes and mask", lambda: cambio_game(True)),
    ("cambio `VectorGame(1024)`, classic", "tensor, mask, random decision; one call for 1,024", cambio_batch),
    (
        "cambio in PettingZoo (AEC), classic",
        "tensor and mask as a dictionary",
        lambda: pettingzoo("cambio_game.pettingzoo.cambio_v0", "classic", 2),
    ),
    (
        "cambio in OpenSpiel, classic",
        "list of legal actions; chance nodes not counted",
        lambda: open_spiel("python_cambio", False, "cambio_game.openspiel"),
    ),
    (
        "cambio in OpenSpiel, classic",
        "the same, tensor of 1,586 numbers and mask",
        lambda: open_spiel("python_cambio", True, "cambio_game.openspiel"),
    ),
    ("PettingZoo `leduc_holdem_v4`", "36 numbers and mask", lambda: pettingzoo("pettingzoo.classic.leduc_holdem_v4")),
    ("OpenSpiel `leduc_poker`", "list of legal actions", lambda: open_spiel("leduc_poker", False)),
    ("OpenSpiel `gin_rummy`", "list of legal actions", lambda: open_spiel("gin_rummy", False)),
    ("OpenSpiel `hearts`", "tensor of 5,088 numbers and mask", lambda: open_spiel("hearts", True)),
    ("RLCard `leduc-holdem`", "its state", lambda: rlcard("leduc-holdem")),
    ("RLCard `gin-rummy`", "its state", lambda: rlcard("gin-rummy")),
    ("pgx `leduc_holdem`", "1,024 at once, compiled; restarts of finished games included", lambda: pgx("leduc_holdem")),
]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=2, help="processor time for each measurement")
    seconds = parser.parse_args().seconds
    loops, missing = [], []
    for name, what, make in ROWS:
        try:
            loop = make()
            loop(min(0.05, seconds))
        except Exception as error:  # Omit a row whose library fails, and report the error.
            missing.append(f"{name}: {type(error).__name__}: {str(error).splitlines()[0] if str(error) else ''}")
        else:
            loops.append((name, what, loop))
    best = [0.0] * len(loops)
    for _ in range(3):
        for place, (_, _, loop) in enumerate(loops):
            steps, taken = loop(seconds)
            best[place] = max(best[place], steps / taken)
    print("| environment | a step includes | thousand steps per second |\n|---|---|---|")
    for (name, what, _), rate in zip(loops, best, strict=True):
        print(f"| {name} | {what} | {rate / 1000:,.1f} |")
    found = {one.name.replace("_", "-"): one.version for one in distributions()}
    shown = [
        f"{name} {found[name]}" for name in ("cambio-game", "pettingzoo", "open-spiel", "rlcard", "pgx", "jax") if name in found
    ]
    print(f"\nPython {platform.python_version()}, {', '.join(shown)}.")
    for line in missing:
        print(f"omitted: {line}")


if __name__ == "__main__":
    main()
