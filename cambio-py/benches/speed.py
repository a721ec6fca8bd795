"""Measures steps per second, as a table. Times are processor times of this process, the best of three.

python cambio-py/benches/speed.py            the whole table, about a minute
python cambio-py/benches/speed.py --quick    a tenth of it
"""

from __future__ import annotations

import argparse
import os
import random
import time
from collections.abc import Callable

import cambio_game as cambio


def best(work: Callable[[], int], clock: Callable[[], float] = time.process_time) -> float:
    """Steps per second, the best of three."""
    rates = []
    for _ in range(3):
        begun = clock()
        steps = work()
        rates.append(steps / (clock() - begun))
    return max(rates)


def matches(rules: str, seats: int, steps: int) -> list[tuple[cambio.Game, list[int]]]:
    """New games, each with the indices of the decisions of a random match."""
    dice, found, made, deal = random.Random(1), [], 0, 0
    while made < steps:
        game = cambio.Game(rules, seats, seed=1, deal=deal)
        actions, other = [], game.copy()
        while not other.is_over:
            actions.append(int(dice.choice(other.legal_indices())))
            other.step(actions[-1])
        found.append((game, actions))
        made, deal = made + len(actions), deal + 1
    return found


def single(rules: str, seats: int, steps: int, reads: bool) -> float:
    """Steps per second in a loop of Python calls of `step`; with `reads`, also of `tensor` and `mask` before each step."""
    rates = []
    for _ in range(3):
        taken, made = 0.0, 0
        for game, actions in matches(rules, seats, steps):
            step, tensor, mask = game.step, game.tensor, game.mask
            begun = time.process_time()
            if reads:
                for action in actions:
                    tensor()
                    mask()
                    step(action)
            else:
                for action in actions:
                    step(action)
            taken += time.process_time() - begun
            made += len(actions)
        rates.append(made / taken)
    return max(rates)


def batch(rules: str, seats: int, size: int, calls: int, threads: int, **options: object) -> float:
    """Steps per second in calls of `VectorGame.step`, with random decisions that are drawn before the measurement."""
    games = cambio.VectorGame(size, rules, seats, seed=1, threads=threads, **options)
    games.reset()
    actions = []
    for number in range(calls):
        actions.append(games.random_actions(number))
        games.step(actions[-1])

    def work() -> int:
        games.reset()
        for chosen in actions:
            games.step(chosen)
        return size * calls

    # With several threads, wall-clock time is measured.
    return best(work, time.process_time if threads == 1 else time.perf_counter)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true")
    few = 10 if parser.parse_args().quick else 1
    print(f"cambio {cambio.__version__}, {os.cpu_count()} cores\n")
    print(f"{'what':<52} {'seats':>5} {'million steps per second':>24}")

    def show(what: str, seats: int, rate: float) -> None:
        print(f"{what:<52} {seats:>5} {rate / 1e6:>24.3f}", flush=True)

    for rules, seats in (("classic", 2), ("original", 4)):
        show(f"{rules}: Game.step", seats, single(rules, seats, 200_000 // few, reads=False))
        show(f"{rules}: Game.tensor, mask and step", seats, single(rules, seats, 100_000 // few, reads=True))
        for size in (64, 1024):
            rate = batch(rules, seats, size, 400_000 // few // size, 1)
            show(f"{rules}: VectorGame({size}), tensors and masks", seats, rate)
    cores = os.cpu_count() or 1
    if cores > 1:
        rate = batch("classic", 2, 1024, 400 // few, 2)
        show("classic: VectorGame(1024) on two threads, wall clock", 2, rate)
    rate = batch("classic", 2, 256, 400 // few, 1, opponents=[None, "greedy"], rotate=True)
    show("classic: VectorGame(256) against greedy", 2, rate)


if __name__ == "__main__":
    main()
