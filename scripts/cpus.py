#!/usr/bin/env python3
"""Checks that runs have the same bytes on different CPUs.

    scripts/cpus.py BINARY [--runs N] [--first N] [--keep DIR]

Plays N small, varied experiments (4 by default; use 200 before a release) on this CPU and on two CPUs without AVX and FMA, and
verifies each run on the other CPU, in both directions. All files of the two run folders must be identical. The CPUs are:

- this CPU with AVX and FMA hidden by glibc's tunables, so that the functions of the C library use other instructions;
- Intel's Nehalem (2008), emulated by qemu-x86_64 (Debian's qemu-user), so that all code uses other instructions. Skipped with
  a message if qemu-x86_64 is not installed.

BINARY must be built for x86-64-v2 or older, as configured in `.cargo/config.toml`. Requires Linux on x86-64.
The last line reads `N passed, N failed`; the exit code is 1 if anything failed.
"""

import argparse
import os
import random
import re
import shutil
import subprocess
import tempfile
from pathlib import Path

TUNABLES = "glibc.cpu.hwcaps=-AVX2,-AVX,-FMA,-FMA4,-AVX512F,-AVX512VL"
# For each CPU: the command prefix, and additional environment variables.
CPUS = {"glibc without FMA": ([], {"GLIBC_TUNABLES": TUNABLES}), "Nehalem": (["qemu-x86_64", "-cpu", "Nehalem"], {})}
# Files that depend on the machine, and the part of the report that does.
OF_THE_MACHINE = {"timing.csv", "manifest.json"}
TIMES = re.compile(rb'<section id="times">.*?</section>\n', re.DOTALL)
# The first three have a bundled network.
RULES = ["original", "faessler", "classic", "original-b", "original-c", "original-d"]
CHEAP = [
    "random",
    "random(pass=0.9)",
    "greedy",
    "greedy(call_at=9)",
    "heuristic",
    "sharp",
    "sharp(decay=0.1)",
    "bold",
    "cautious",
    "bluffer",
    "sharp(threshold=0.7)",
]
SEARCHES = ["rollout(n=12)", "ismcts(iterations=12)", "ismcts(iterations=12,mode=mo)", "learned", "lookahead(worlds=2)"]


def experiment(number: int) -> str:
    """An experiment whose rules, seats, agents, lineups and payoffs depend on its number. One in four has a search agent.

    If `cambio` used the platform's logarithms, the tables of one experiment in five would differ, including 4 to 6.
    """
    draw = random.Random(number)
    is_search = number % 4 == 3
    rules = draw.sample(RULES[:3], 1) if is_search else draw.sample(RULES, 2)
    seats = [2] if is_search else draw.sample([2, 3, 4, 5, 8], 2)
    agents = [draw.choice(CHEAP), draw.choice(SEARCHES)] if is_search else draw.sample(CHEAP, 4)
    # With all compositions, the tables include an empirical game.
    lineups = "compositions" if max(seats) == 3 else "all"
    lines = [
        f"name = 'cpus {number}'",
        f"seed = {number}",
        f"deals = {1 if is_search else draw.choice([10, 20, 30])}",
        f"rules = {rules}",
        f"seats = {sorted(seats)}",
        f"agents = {agents}",
        f"lineups = '{lineups}'",
        f"payoff = '{draw.choice(['rank_points', 'rank_points', 'win', 'points', 'margin'])}'",
        f"unit = '{'rounds' if is_search else draw.choice(['match', 'rounds'])}'",
        f"seat_effects = {draw.choice(['true', 'true', 'false'])}",
    ]
    if draw.random() < 0.5:
        lines.append(f"anchor = '{agents[0]}'")
    return "\n".join(lines) + "\n"


def call(cpu: str | None, binary: Path, words: list[str], folder: Path) -> str:
    """Runs a command on a CPU. Returns an error message, or an empty string."""
    before, environment = CPUS[cpu] if cpu else ([], {})
    done = subprocess.run(
        [*before, binary, *words], cwd=folder, env={**os.environ, **environment}, capture_output=True, timeout=600, check=False
    )
    message = done.stderr.decode(errors="replace").strip().splitlines()[-1:]
    return "" if done.returncode == 0 else f"`{' '.join(words)}` on {cpu or 'this CPU'} ended with {done.returncode}: {message}"


def check(number: int, cpus: list[str], binary: Path, folder: Path) -> list[str]:
    """Plays an experiment on this and the other CPUs. Returns messages about differences."""
    (folder / "spec.toml").write_text(experiment(number))
    wrong = [call(None, binary, ["run", "spec.toml", "--out", "here", "--quiet"], folder)]
    for cpu in cpus:
        there = cpu.replace(" ", "-")
        wrong.append(call(cpu, binary, ["run", "spec.toml", "--out", there, "--quiet"], folder))
        wrong.append(call(cpu, binary, ["verify", "here"], folder))
        wrong.append(call(None, binary, ["verify", there], folder))
        for path in sorted((folder / "here").glob("*")):
            other = folder / there / path.name
            if path.name in OF_THE_MACHINE:
                continue
            if not other.is_file() or TIMES.sub(b"", other.read_bytes()) != TIMES.sub(b"", path.read_bytes()):
                wrong.append(f"{path.name} differs on {cpu}")
    return [line for line in wrong if line]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("binary", type=Path)
    parser.add_argument("--runs", type=int, default=4, help="the number of experiments")
    parser.add_argument("--first", type=int, default=4, help="the number of the first experiment")
    parser.add_argument("--keep", type=Path, help="keep all files in this folder")
    chosen = parser.parse_args()
    cpus = list(CPUS)
    if not shutil.which("qemu-x86_64"):
        print("skipped: Nehalem, because qemu-x86_64 is not installed")
        cpus.remove("Nehalem")
    failed = 0
    with tempfile.TemporaryDirectory() as temporary:
        for number in range(chosen.first, chosen.first + chosen.runs):
            folder = (chosen.keep or Path(temporary)) / str(number)
            folder.mkdir(parents=True)
            wrong = check(number, cpus, chosen.binary.resolve(), folder)
            failed += bool(wrong)
            print(f"{number}: {'; '.join(wrong) or 'identical'}", flush=True)
    print(f"{chosen.runs - failed} passed, {failed} failed")
    raise SystemExit(failed > 0)


if __name__ == "__main__":
    main()
