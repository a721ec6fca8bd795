#!/usr/bin/env python3
"""Benchmarks two builds on the same work, alternating between them: old, new, old, new, …

    scripts/pair.py OLD NEW [--rounds N] [--only NAME]... [--no-counts | --counts-only] [--csv FILE]

OLD and NEW are `cambio` binaries, or folders of cargo (`target/dist`). If the folders also contain `count` and `think`, the
engine alone, searches and tensors are measured as well:

    cargo build --profile dist -p cambio-cli -p cambio-benches --bins

Times are CPU seconds of the process (user and system), because other work on the machine affects them least. The table shows
the median, minimum and maximum of OLD / NEW over the pairs; above 1, the new build is faster. The last column is the ratio
of instructions, counted by callgrind on a smaller amount of work if valgrind is installed. It is reproducible on a noisy
machine, but ignores caches and branch prediction.
"""

import argparse
import csv
import os
import re
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path


def experiment(agents, rules="classic"):
    return f"seed = 7\ndeals = 1\nrules = ['{rules}']\nseats = [2]\nagents = {agents}\n"


# For each workload: the agents, the number of deals for timing, and the number of deals for counting instructions.
RUNS = {
    "run random": ("['random', 'random(pass=0.9)']", 60000, 400),
    "run heuristics": ("['greedy', 'heuristic', 'sharp']", 9000, 100),
    "run rollout": ("['rollout(n=1000)', 'heuristic']", 20, 1),
    "run ismcts": ("['ismcts', 'heuristic']", 20, 1),
}
# The run for `cambio report`. Each build reads the rows that it has written itself.
REPORT = ("['random', 'random(pass=0.9)', 'greedy', 'greedy(call_at=9)']", 8000, 200)
# For each benchmark program: its arguments, the size for timing, and the size for counting instructions.
PROGRAMS = {
    "random play, dealt": ("count classic 2 dealt", 10_000_000, 300_000),
    "random play, latent": ("count classic 2 latent", 10_000_000, 300_000),
    "random play, 4 seats": ("count original 4 dealt", 10_000_000, 300_000),
    "events for every seat": ("count classic 4 events", 10_000_000, 300_000),
    "tensors": ("count classic 2 tensors", 600_000, 40_000),
    "rollout(n=1000)": ("think classic 2 rollout(n=1000)", 160, 8),
    "ismcts": ("think classic 2 ismcts", 160, 8),
    "ismcts(mode=so)": ("think classic 2 ismcts(mode=so)", 160, 8),
}

# The columns of `--csv`: seconds are medians over the pairs, `least` and `greatest` the extreme ratios of single pairs.
COLUMNS = [
    "workload",
    "pairs",
    "old_seconds",
    "new_seconds",
    "times_as_fast",
    "least",
    "greatest",
    "old_instructions",
    "new_instructions",
]


class Build:
    """A build: its `cambio`, and its benchmark programs if they exist."""

    def __init__(self, path, folder):
        path = path.resolve()
        self.cambio = path / "cambio" if path.is_dir() else path
        self.programs = path if path.is_dir() else None
        self.folder = folder
        self.folder.mkdir()
        if not os.access(self.cambio, os.X_OK):
            sys.exit(f"error: {self.cambio} is not a program")

    def has(self, program):
        return self.programs is not None and os.access(self.programs / program, os.X_OK)

    def program(self, words, number):
        name, *rest = words.split()
        return [str(self.programs / name), *rest, str(number)]

    def run(self, deals):
        out = self.folder / "out"
        shutil.rmtree(out, ignore_errors=True)
        return [str(self.cambio), *f"run spec.toml --out out --quiet --threads 1 --deals {deals}".split()]

    def spec(self, agents):
        (self.folder / "spec.toml").write_text(experiment(agents))

    def call(self, command):
        done = subprocess.run(command, cwd=self.folder, capture_output=True, check=False)
        if done.returncode:
            sys.exit(f"error: {' '.join(command)} ended with {done.returncode}: {done.stderr.decode()[-300:]}")
        return done

    def time(self, command):
        """CPU seconds of a command."""
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        self.call(command)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        return after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime

    def count(self, command):
        """Instructions of a command."""
        done = self.call(["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", *command])
        return int(re.search(rb"Collected : (\d+)", done.stderr)[1])


def works(old, new):
    """Yields each workload: its name, functions that prepare it and return its command, and its two sizes."""
    for name, (agents, timed, counted) in RUNS.items():
        yield name, lambda build, agents=agents: build.spec(agents), Build.run, timed, counted
    agents, timed, counted = REPORT
    made = {}

    def prepare(build):
        build.spec(agents)

    def report(build, deals):
        if made.get(build) != deals:
            build.call(build.run(deals))
            made[build] = deals
        return [str(build.cambio), "report", "out"]

    yield "report", prepare, report, timed, counted
    for name, (words, timed, counted) in PROGRAMS.items():
        if old.has(words.split()[0]) and new.has(words.split()[0]):
            yield name, lambda build: None, lambda build, n, words=words: build.program(words, n), timed, counted


def main():
    parser = argparse.ArgumentParser(description="Benchmarks two builds alternately: old, new, old, new, …")
    parser.add_argument("old", type=Path, help="a `cambio` binary, or a release folder of cargo")
    parser.add_argument("new", type=Path, help="the build to compare it with")
    parser.add_argument("--rounds", type=int, default=9, help="the number of timed pairs (default 9)")
    parser.add_argument(
        "--only",
        action="append",
        metavar="NAME",
        choices=[*RUNS, "report", *PROGRAMS],
        help="only this workload; can be repeated: " + ", ".join([*RUNS, "report", *PROGRAMS]),
    )
    parser.add_argument("--no-counts", action="store_true", help="do not count instructions")
    parser.add_argument("--counts-only", action="store_true", help="only count instructions")
    parser.add_argument("--csv", type=Path, metavar="FILE", help="also write the results to this file")
    options = parser.parse_args()
    counts = not options.no_counts and shutil.which("valgrind") is not None
    rows = []
    with tempfile.TemporaryDirectory(prefix="cambio-pair-") as top:
        builds = [Build(path, Path(top) / name) for name, path in [("old", options.old), ("new", options.new)]]
        print(f"{'':22}{'old':>9}{'new':>9}   times as fast (least–greatest)   instructions, old / new")
        for name, prepare, command, timed, counted in works(*builds):
            if options.only and name not in options.only:
                continue
            for build in builds:
                prepare(build)
            line = f"{name:22}"
            row = dict.fromkeys(COLUMNS, "") | {"workload": name}
            if not options.counts_only:
                times = [[build.time(command(build, timed)) for build in builds] for _ in range(options.rounds + 1)][1:]
                ratios = [old / new for old, new in times]
                old, new = (statistics.median(pair[at] for pair in times) for at in (0, 1))
                ratio, least, greatest = statistics.median(ratios), min(ratios), max(ratios)
                line += f"{old:7.2f} s{new:7.2f} s   {ratio:6.3f}  ({least:.3f}–{greatest:.3f})         "
                row |= {
                    "pairs": len(times),
                    "old_seconds": f"{old:.3f}",
                    "new_seconds": f"{new:.3f}",
                    "times_as_fast": f"{ratio:.4f}",
                    "least": f"{least:.4f}",
                    "greatest": f"{greatest:.4f}",
                }
            if counts:
                old, new = (build.count(command(build, counted)) for build in builds)
                line += f"{old / new:12.4f}   {old / 1e6:.0f} M / {new / 1e6:.0f} M"
                row |= {"old_instructions": old, "new_instructions": new}
            print(line, flush=True)
            rows.append(row)
    if options.csv:
        options.csv.parent.mkdir(parents=True, exist_ok=True)
        with open(options.csv, "w", newline="", encoding="utf-8") as file:
            table = csv.DictWriter(file, COLUMNS, lineterminator="\n")
            table.writeheader()
            table.writerows(rows)


if __name__ == "__main__":
    main()
