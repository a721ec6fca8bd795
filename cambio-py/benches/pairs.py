"""Compares two versions of the package: the time per step of a batch, as a table.

    python cambio-py/benches/pairs.py OLD NEW            OLD and NEW are the Python interpreters of two virtual environments
    python cambio-py/benches/pairs.py OLD NEW --rounds 5

The versions take turns. A step does the same work in every pass, so its time is the minimum over the passes. A row has the sum over the
steps: the best of all rounds, and the median. On a busy machine, give the processes a higher priority (`nice`, `chrt`).
"""

from __future__ import annotations

import argparse
import statistics
import subprocess

# Columns: matches, threads, steps, passes, opponent.
CASES = [
    (64, 1, 1000, 5, ""),
    (1024, 1, 200, 5, ""),
    (64, 2, 1000, 5, ""),
    (1024, 2, 200, 8, ""),
    (256, 1, 100, 5, "greedy"),
    (256, 2, 100, 6, "greedy"),
    (256, 2, 20, 4, "rollout(n=20)"),
    (32, 2, 40, 4, "rollout(n=20)"),
]

PASSES = """
import sys, time
import numpy as np
import cambio_game as cambio
size, threads, steps, passes = map(int, sys.argv[1:5])
against = {"opponents": [None, sys.argv[5]], "rotate": True} if sys.argv[5] else {}
games = cambio.VectorGame(size, "classic", 2, seed=1, threads=threads, **against)
games.reset()
actions = []
for step in range(steps):
    actions.append(games.random_actions(step))
    games.step(actions[-1])
times = np.zeros((passes, steps))
for one in times:
    games.reset()
    for step, chosen in enumerate(actions):
        begun = time.perf_counter()
        games.step(chosen)
        one[step] = time.perf_counter() - begun
print(times.min(axis=0).sum() / steps)
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("interpreters", nargs=2, metavar="PYTHON")
    parser.add_argument("--rounds", type=int, default=3)
    given = parser.parse_args()
    print(f"{'matches':>7} {'threads':>7} {'opponent':<14} {'old, µs per step':>26} {'new, µs per step':>26} {'new : old':>9}")
    for case in CASES:
        found: list[list[float]] = [[], []]
        for _ in range(given.rounds):
            for times, python in zip(found, given.interpreters, strict=True):
                done = subprocess.run([python, "-c", PASSES, *map(str, case)], stdout=subprocess.PIPE, check=True)
                times.append(float(done.stdout) * 1e6)
        size, threads, _, _, opponent = case
        shown = [f"{min(times):.1f} best {statistics.median(times):.1f} median" for times in found]
        ratio = statistics.median(found[1]) / statistics.median(found[0])
        print(f"{size:>7} {threads:>7} {opponent:<14} {shown[0]:>26} {shown[1]:>26} {ratio:>9.3f}", flush=True)


if __name__ == "__main__":
    main()
