#!/usr/bin/env python3
"""Compares the output of two programs `cambio`, byte for byte.

    scripts/compare.py OLD NEW [--runs N] [--first N]

Both programs play N small, varied experiments (20 by default) and run the same commands. All files and all output must be identical,
except for the data in `MASKED` and `LEFT_OUT`, which depend on the machine or the build. Each program also replays its own matches. The
last line reads `N passed, N failed`; the exit code is 1 if anything failed.

Use it before and after a change that must not alter results:

    cargo build --release && cp target/release/cambio /tmp/before     # then change the code
    cargo build --release && scripts/compare.py /tmp/before target/release/cambio

OLD and NEW may have words before the program. So the script also compares a program on two CPUs:

    scripts/compare.py target/release/cambio 'qemu-x86_64 -cpu Nehalem target/release/cambio'
"""

import argparse
import difflib
import random
import re
import shlex
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

LEFT_OUT = {"timing.csv", "manifest.json"}
MASKED = [
    re.compile(rb'<section id="times">.*?</section>\n', re.DOTALL),
    re.compile(rb"  time per decision: .*?\n(?=\n)", re.DOTALL),
    re.compile(rb'"build": "[^"]*"'),
    re.compile(rb'"seconds": ?[-+.\deE]+'),
    re.compile(rb"\b\d+ a second\b"),
    re.compile(rb"\b\d+(?:\.\d+)? (?:ns|\xc2\xb5s|ms|s|min|h)\b"),
]
SHOWN_LINES = 12
# The first three have a bundled network.
RULES = ["original", "faessler", "classic", "original-b", "original-c", "original-d"]
CHEAP = (
    "random random(pass=0.9) greedy greedy(call_at=9) heuristic sharp sharp(decay=0.1) bold cautious bluffer sharp(threshold=0.7)"
).split()
SEARCHES = ["rollout(n=12)", "ismcts(iterations=12)", "ismcts(iterations=12,mode=mo)", "learned", "lookahead(worlds=2)"]
# What each program does after it has played an experiment.
READING = """
report run --dry --format json
verify run
plan --detect 0.02 --run run
"""
COMMANDS = """
agents
agents --check greedy --matches 1
advantage greedy --deals 4 --playouts 4 --quiet
exploit --game mini-m0 --agent greedy --quiet
exploit --rules classic --agent greedy --deals 2 --iterations 20 --candidates 10 --quiet --format json
plan --detect 0.01 --deviation 0.3 --alpha 0.01 --power 0.9
rules
rules faessler
schema
solve --game mini-m1 --algorithm dcfr --iterations 5 --save solved.txt --quiet
solve --game mini-m0 --algorithm cfr+ --to 1e-2 --format json --quiet
solve --game mini-m0 --algorithm mccfr --iterations 30 --seed 3 --quiet
sprt greedy heuristic --elo0 -5 --elo1 5 --deals 100 --quiet
sprt sharp heuristic --seats 3 --deals 20 --quiet --format json
tune --agent greedy(call_at=?) --range 0..9:3 --deals 10 --validate 10 --quiet --out sweep
tune --agent greedy(call_at=?) --range 0..15:3 --method race --deals 60 --validate 10 --quiet --out race
tune --agent heuristic(call_at=?,decay=?) --range 0..9:3 --range 0..1:0.5 --deals 4 --validate 4 --payoff points --quiet --out two
tune --agent heuristic(call_at=?,decay=?) --range 0..15 --range 0..1:0.05 --method cma --deals 4 --generations 2 --quiet --out cma
run missing.toml --out missing
agents --check gredy
"""


def experiment(number):
    """An experiment whose rules, seats, agents, lineups and payoffs depend on its number. One in four has a search agent.

    If `cambio` used the platform's logarithms, the tables of one experiment in five would differ between CPUs, including 4 to 6.
    """
    draw = random.Random(number)
    is_search = number % 4 == 3
    rules = draw.sample(RULES[:3], 1) if is_search else draw.sample(RULES, 2)
    seats = [2] if is_search else draw.sample([2, 3, 4, 5, 8], 2)
    agents = [draw.choice(CHEAP), draw.choice(SEARCHES)] if is_search else draw.sample(CHEAP, 4)
    # With all compositions, the tables include an empirical game.
    lineups = "compositions" if max(seats) == 3 else "all"
    lines = [
        f"name = 'compared {number}'",
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


def run(program, folder, commands):
    """Runs commands in a folder, and stores the output of each in a file."""
    for number, command in enumerate(commands):
        words = command.split()
        with open(folder / f"{number:02}.txt", "wb") as file:
            file.write(f"{command}\n".encode())
            file.flush()
            done = subprocess.run([*program, *words], cwd=folder, stdout=file, stderr=subprocess.STDOUT, timeout=1200, check=False)
            file.write(f"exit code {done.returncode}\n".encode())


def play(program, folder, number):
    """Plays an experiment and reads its run, or runs all other commands if the number is None."""
    folder.mkdir(parents=True)
    if number is None:
        run(program, folder, COMMANDS.strip().splitlines())
    else:
        (folder / "spec.toml").write_text(experiment(number))
        run(program, folder, ["run spec.toml --out run --records --quiet", *READING.strip().splitlines()])


def read(path):
    text = path.read_bytes() if path.is_file() else b"missing\n"
    for pattern in MASKED:
        text = pattern.sub(b"", text)
    return text


def differences(old, new):
    """The files of two folders that differ, each with the first differing lines."""
    files = {path.relative_to(folder) for folder in (old, new) for path in folder.rglob("*") if path.is_file()}
    for file in sorted(file for file in files if file.name not in LEFT_OUT):
        one, other = read(old / file), read(new / file)
        if one != other:
            lines = [text.decode(errors="replace").splitlines() for text in (one, other)]
            yield "\n".join([f"{file} differs", *list(difflib.unified_diff(*lines, "old", "new", n=0, lineterm=""))[:SHOWN_LINES]])


def command(text):
    """The words of a command, with absolute paths."""
    return [str(Path(word).resolve()) if Path(word).is_file() else word for word in shlex.split(text)]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("old", type=command)
    parser.add_argument("new", type=command)
    parser.add_argument("--runs", type=int, default=20, help="the number of experiments")
    parser.add_argument("--first", type=int, default=0, help="the number of the first experiment")
    options = parser.parse_args()
    failed = 0
    with tempfile.TemporaryDirectory() as temporary, ThreadPoolExecutor(2) as pool:
        top = Path(temporary).resolve()
        numbers = [*range(options.first, options.first + options.runs), None]
        for number in numbers:
            name = "commands" if number is None else f"experiment {number}"
            folders = [top / age / name for age in ("old", "new")]
            list(pool.map(play, (options.old, options.new), folders, (number, number)))
            wrong = list(differences(*folders))
            failed += bool(wrong)
            print(f"{name}: {'different' if wrong else 'identical'}", *wrong, sep="\n", flush=True)
    print(f"{len(numbers) - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
