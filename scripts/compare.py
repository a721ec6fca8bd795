#!/usr/bin/env python3
"""Compares the output of two builds of `cambio`, byte for byte.

    scripts/compare.py OLD_BINARY NEW_BINARY [--only NAME]... [--ignore-column NAME]... [--jobs N]

Both binaries run the same commands in separate folders. All files and all standard output must be identical. Only data that
depend on the machine or the build are masked; see `MASKED`. For each difference, the first differing line is shown. The last
line reads `N passed, N failed`; the exit code is 1 if anything failed.

Use it before and after a change that must not alter results:

    cargo build --release && cp target/release/cambio /tmp/before     # then change the code
    cargo build --release && scripts/compare.py /tmp/before target/release/cambio
"""

import argparse
import csv
import io
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent

# Data that are not compared, with the reason.
MASKED = {
    "timing.csv": "the column `seconds` depends on the machine",
    "report.html": "the section about times depends on the machine",
    "manifest.json": "version, revision, uncommitted_changes, compiler and target depend on the build; blake3 is the hash of the manifest",
    "standard output": "durations, matches a second and the field `seconds` depend on the machine",
}
BUILD_FIELDS = ["version", "revision", "uncommitted_changes", "compiler", "target", "blake3"]
DURATION = re.compile(rb"\b\d+(?:\.\d+)? (?:ns|\xc2\xb5s|ms|s|min|h)\b")
RATE = re.compile(rb"\b\d+ a second\b")
# The section about times on a page, and the paragraph about times below a printed table.
TIMES = re.compile(rb'<section id="times">.*?</section>\n', re.DOTALL)
PER_DECISION = re.compile(rb"  time per decision: .*?\n(?=\n)", re.DOTALL)
SECONDS = re.compile(rb'"seconds": ?[-+.\deE]+')

# A bot that always makes the last legal decision in the list. If a file `broken` exists, the bot is at fault in some matches:
# it exits, or makes an illegal decision.
FAULTY = """
import json, os, sys
is_broken = os.path.exists("broken")
for line in sys.stdin:
    said = json.loads(line)
    if said["type"] == "hello":
        answer = {"protocol": 1, "name": "faulty", "version": "1"}
    elif said["type"] == "begin":
        kind = said["seed"] % 5
        continue
    elif said["type"] == "decide":
        answer = {"decision": said["legal"][-1]}
        if is_broken and said["turn"] > 2 and kind == 0:
            answer = {"decision": "dance"}
        if is_broken and said["turn"] > 2 and kind == 1:
            sys.exit(7)
    else:
        continue
    print(json.dumps(answer), flush=True)
"""

# Files that are always compared byte for byte, regardless of `--derived-to`.
EXACT = re.compile(r"(matches|rounds|players|faults)\.csv|ledger\.jsonl|.*records\.jsonl|faults?\.jsonl|spec\..*|.*\.(zst|bin|net)")
NUMBER = re.compile(rb"-?\d+\.\d+(?:e-?\d+)?|-?\d+e-?\d+")

AGENTS = "['random', 'greedy', 'heuristic']"


class Run:
    """Runs commands of one binary in its own folder."""

    def __init__(self, binary, folder):
        self.binary, self.folder, self.said, self.errors = binary, folder / "files", folder / "said", []
        self.same = []
        self.folder.mkdir(parents=True)
        self.said.mkdir()

    def write(self, name, text):
        (self.folder / name).write_text(text)

    def copy(self, name, to):
        shutil.copyfile(ROOT / name, self.folder / to)

    def __call__(self, words, code=0, told=""):
        """Runs a command and stores its output."""
        words = words.split()
        number = len(list(self.said.glob("*.out")))
        done = subprocess.run(
            [self.binary, *words], cwd=self.folder, input=told.encode(), capture_output=True, timeout=600, check=False
        )
        last = done.stderr.decode(errors="replace").strip().splitlines()[-1:] or [""]
        name = f"{number:02} {' '.join(words)}".replace("/", "_")[:100]
        (self.said / f"{name}.out").write_bytes(done.stdout)
        (self.said / f"{name}.err").write_bytes(done.stderr)
        if code is not None and done.returncode != code:
            self.errors.append(f"`cambio {' '.join(words)}` ended with {done.returncode}, not {code}: {last[0]}")

    def run(self, out, spec, words="", threads=1, **more):
        """Plays an experiment into the folder `out`."""
        self.write(f"{out}.toml", spec)
        self(f"run {out}.toml --out {out} --quiet --threads {threads} {words}", **more)

    def use(self, out, verify="--all"):
        """Runs all commands that read a run folder. Checks that `report` reproduces its files."""
        kept = {path.name: path.read_bytes() for path in (self.folder / out).iterdir()}
        self(f"report {out}")
        for name, text in kept.items():
            if (self.folder / out / name).read_bytes() != text:
                self.errors.append(f"`cambio report {out}` changed {name}")
        for form in ["csv", "json", "md"]:
            self(f"report {out} --dry --format {form}")
        self(f"verify {out} {verify}")
        self(f"plan --detect 0.02 --run {out}")

    def replay(self, out):
        self(f"replay {out}/records.jsonl")
        self(f"replay {out}/records.jsonl --events")
        self(f"replay {out}/records.jsonl --fill --legal")

    def must_be_same(self, one, other):
        """Requires that two folders of this binary have the same contents."""
        self.same.append((one, other))


# ---- the cases ----

CASES = []


def case(function):
    """Adds a case, a function of a `Run`."""
    CASES.append(function)
    return function


@case
def presets(run):
    """All six presets at 2 and 4 seats: whole matches with totals and carry-over, with records."""
    names = "['original', 'original-b', 'original-c', 'original-d', 'faessler', 'classic']"
    run.run("presets", f"seed = 11\ndeals = 6\nrules = {names}\nseats = [2, 4]\nagents = {AGENTS}\nrecords = true\n")
    run.use("presets")
    run.replay("presets")


@case
def seats(run):
    """Every number of seats from 2 to 8, with heuristics that forget."""
    run.run(
        "seats",
        "name = 'seats'\nseed = 12\ndeals = 12\nrules = ['classic', 'faessler']\n"
        "seats = [2, 3, 4, 5, 6, 7, 8]\nagents = ['sharp(decay=0.1)', 'random(pass=0.9)', 'greedy(call_at=9)']\n"
        "payoff = 'win'\nrecords = true\n",
    )
    run.use("seats")
    run.replay("seats")


@case
def rules(run):
    """Mini games, and a rule file in mirrors of single rounds with the payoff points."""
    run.copy("experiments/house.toml", "house.toml")
    run("rules --check house.toml")
    run.run("mini", f"seed = 13\ndeals = 40\nrules = ['mini-m3', 'mini-dpk']\nseats = [2]\nagents = {AGENTS}\n", "--records")
    run.use("mini")
    run.replay("mini")
    run.run(
        "mirror",
        "seed = 14\ndeals = 40\nrules = ['house.toml', 'original']\nseats = [2, 3]\nlineups = 'mirror'\n"
        "agents = ['sharp', 'greedy']\nrotations = 'one'\nunit = 'rounds'\npayoff = 'points'\n",
        "--records",
    )
    run.use("mirror")
    run.replay("mirror")


@case
def lineups(run):
    """Every form of lineups, rotations and payoffs."""
    rest = {
        "williams": f"rules = ['faessler']\nseats = [3, 4, 5]\nagents = {AGENTS}\nrotations = 'williams'\nseat_effects = true\n",
        "orders": f"rules = ['classic']\nseats = [3, 4]\nagents = {AGENTS}\nlineups = 'compositions'\n"
        "rotations = 'all'\npayoff = 'margin'\nanchor = 'greedy'\n",
        "focal": "rules = ['classic', 'original-d']\nseats = [3]\n"
        "agents = ['sharp', 'cautious', 'bold', 'patient', 'snapper', 'disruptor', 'collector', 'looker', 'bluffer',"
        " 'never-calls', 'sharp(capacity=2)', 'sharp(threshold=0.7)', 'sharp(confusion=0.3)']\n"
        "lineups = { field = ['sharp'] }\n",
        "pools": f"rules = ['original-b']\nseats = [2, 5]\nagents = {AGENTS}\n"
        "lineups = { pools = [['greedy'], ['random', 'heuristic']] }\n",
        "listed": f"rules = ['original-c']\nseats = [2, 3]\nagents = {AGENTS}\nunit = 'rounds'\n"
        "lineups = [['greedy', 'random'], ['greedy', 'greedy', 'heuristic'], ['random', 'random', 'random']]\n",
    }
    for name, spec in rest.items():
        run.run(name, f"seed = 15\ndeals = 12\n{spec}")
        run.use(name)


@case
def searches(run):
    """The searching agents in every mode with small budgets."""
    run.run(
        "searches",
        "seed = 16\ndeals = 1\nrules = ['classic', 'original', 'faessler']\nseats = [2, 3]\n"
        "agents = ['rollout(n=40)', 'rollout(n=40,utility=match,blueprint=sharp)', 'ismcts(iterations=40)',"
        " 'ismcts(iterations=40,mode=so)', 'ismcts(iterations=40,mode=mo)']\n"
        "lineups = { pools = [['rollout(n=40)', 'ismcts(iterations=40,mode=so)'], ['ismcts(iterations=40)',"
        " 'rollout(n=40,utility=match,blueprint=sharp)', 'ismcts(iterations=40,mode=mo)']] }\n"
        "records = true\n",
        threads=2,
    )
    run.use("searches", "--sample 2")
    run.replay("searches")


@case
def oracle(run):
    """An analysis agent, which sees every card and is marked in every row."""
    run.run(
        "oracle",
        "seed = 17\ndeals = 3\nrules = ['classic']\nseats = [2, 3]\nanalysis = true\n"
        "agents = ['oracle(iterations=40)', 'greedy', 'sharp']\n"
        "lineups = { pools = [['oracle(iterations=40)'], ['greedy', 'sharp']] }\nrecords = true\n",
    )
    run.use("oracle")
    run.replay("oracle")


@case
def bot(run):
    """A bot in another language."""
    run.copy("examples/bot.py", "bot.py")
    run.run(
        "bot",
        "seed = 18\ndeals = 3\nrules = ['classic', 'original']\nseats = [2]\nrecords = true\n"
        "agents = ['greedy', 'external(\"python3 bot.py\",start_ms=60000,deadline_ms=60000)']\n",
    )
    run.use("bot")
    run.replay("bot")


@case
def faults(run):
    """A faulty bot: forfeits, void blocks, and a run that stops, replays its match, and is resumed."""
    run.write("faulty.py", FAULTY)
    base = "seed = 19\ndeals = 5\nrules = ['classic']\nseats = [2, 3]\n"
    agents = "agents = ['greedy', 'random', 'external(\"python3 faulty.py\",start_ms=60000,deadline_ms=60000)']\n"
    run.write("broken", "")
    for policy in ["forfeit", "void"]:
        run.run(policy, f"{base}{agents}faults = '{policy}'\n", "--records")
        run.use(policy, "--sample 3")
        run(f"replay {policy}/faults.jsonl --events")
    run.run("stopped", base + agents, "--records", code=2)
    run("replay stopped/fault.jsonl --events", code=None)
    (run.folder / "broken").unlink()
    run.run("whole", base + agents, "--records")
    shutil.copytree(run.folder / "stopped", run.folder / "resumed")
    run("run stopped.toml --out resumed --quiet --threads 1 --records --resume")
    run.must_be_same("whole", "resumed")


@case
def resumed(run):
    """A truncated run with half a line in its ledger is resumed to the same run."""
    spec = f"seed = 21\ndeals = 60\nrules = ['classic', 'original']\nseats = [2, 4]\nagents = {AGENTS}\n"
    run.run("whole", spec, "--records")
    shutil.copytree(run.folder / "whole", run.folder / "cut")
    cut = run.folder / "cut"
    for name in ["summary", "pairwise", "ratings", "seats", "behaviour"]:
        (cut / f"{name}.csv").unlink()
    (cut / "report.html").unlink()
    lines = (cut / "ledger.jsonl").read_bytes().splitlines(keepends=True)
    kept = len(lines) * 2 // 5
    (cut / "ledger.jsonl").write_bytes(b"".join(lines[:kept]) + lines[kept][:40])
    run("run whole.toml --out cut --quiet --threads 2 --records --resume")
    run.must_be_same("whole", "cut")


@case
def threads(run):
    """One and two threads write the same bytes, in many batches."""
    spec = (
        "seed = 22\ndeals = 150\nrules = ['classic', 'original']\nseats = [2]\n"
        "agents = ['random', 'random(pass=0.9)', 'greedy', 'heuristic', 'sharp']\n"
    )
    run.write("spec.toml", spec)
    for number in [1, 2]:
        run(f"run spec.toml --out threads{number} --quiet --threads {number}")
    run.must_be_same("threads1", "threads2")
    run.use("threads2")


@case
def tune(run):
    """Tuning by every method, and a regenerated report."""
    greedy = "tune --agent greedy(call_at=?) --quiet --range"
    for name, words in [
        ("sweep", f"{greedy} 0..9:3 --deals 40 --validate 40"),
        ("field", f"{greedy} 2..6:2 --deals 30 --validate 0 --field random(pass=0.9) --payoff points --rules original"),
        ("self", f"{greedy} 3..6 --deals 30 --validate 20 --field self --seats 3 --rounds --rules faessler"),
        ("race", f"{greedy} 0..15:3 --method race --deals 300 --validate 30 --payoff win"),
        (
            "cma",
            "tune --agent heuristic(call_at=?,decay=?) --range 0..15 --range 0..1:0.05 --method cma --deals 10 "
            "--generations 3 --validate 30 --field random(pass=0.9) --quiet",
        ),
    ]:
        run(f"{words} --out {name} --threads 2")
        kept = (run.folder / name / "report.html").read_bytes()
        run(f"report {name}")
        if (run.folder / name / "report.html").read_bytes() != kept:
            run.errors.append(f"`cambio report {name}` changed report.html")


@case
def sprt(run):
    """Sequential tests, decided and undecided."""
    run("sprt greedy heuristic --elo0 -5 --elo1 5 --deals 600 --quiet --threads 2")
    run("sprt greedy heuristic --rules original --elo0 -5 --elo1 5 --deals 600 --quiet --format json --threads 1")
    run("sprt sharp heuristic --seats 3 --normalized --deals 150 --quiet --format json --threads 2")
    run("sprt sharp sharp(decay=0.3) --rounds --rules faessler --deals 80 --quiet")


@case
def solving(run):
    """Exact solving, exact exploitability, and lower bounds from a responder."""
    for number, algorithm in enumerate(["dcfr", "cfr+", "mccfr"]):
        run(f"solve --game mini-m1 --algorithm {algorithm} --iterations 30 --save {number}.txt --seed 3 --quiet")
    run("solve --game mini-m0 --to 1e-3 --efg mini-m0.efg --format json --quiet")
    run("solve --game mini-s --iterations 20 --quiet --format json")
    run("exploit --game mini-m1 --agent heuristic --equilibrium 0.txt --save agent.txt --quiet")
    run("exploit --game mini-m1 --agent random --streams 8 --seed 2 --equilibrium 1.txt --format json --quiet")
    run("exploit --game mini-m1 --strategy 2.txt --to 1e-2 --quiet")
    run("exploit --game mini-m0 --agent greedy --calibrate --quiet")
    run("exploit --rules classic --agent greedy --deals 4 --iterations 60 --candidates 30 --threads 2 --quiet --format json")


@case
def texts(run):
    """Rules, agents, schema, sample sizes, and the conformance check."""
    run("rules")
    mini = ["m0", "m1", "m3", "k3", "k4", "s", "p", "pk", "dpk"]
    for name in ["original", "original-b", "original-c", "original-d", "faessler", "classic"] + [f"mini-{game}" for game in mini]:
        run(f"rules {name}")
    run("agents")
    run("schema")
    run("plan --detect 0.01 --deviation 0.3 --alpha 0.01 --power 0.9")
    run("agents --check greedy --matches 1")
    run("agents --check rollout(n=5) --matches 1 --rules classic --seats 3")


@case
def person(run):
    """A person at the terminal who enters every kind of decision."""
    words = ["", "d", "drop", "keep a1", "?", "pass", "look b1", "look a2", "swap a1 b2", "end", "skip", "a3"]
    run("play --seed 5 --record play.jsonl", told="\n".join(words * 60) + "\n")
    run(
        "play --seed 6 --rules original --against greedy --against sharp --seat b --no-notes --rounds",
        told="\n".join(words * 60) + "\n",
    )
    run("replay play.jsonl --events")


@case
def mistakes(run):
    """Invalid input and its error messages."""
    base = f"seed = 1\ndeals = 2\nagents = {AGENTS}\n"
    for number, spec in enumerate(
        [
            "rules = ['classic']\nseats = [9]\n",
            "rules = ['clasic']\nseats = [2]\n",
            "rules = ['classic']\nseats = []\n",
            "rules = ['classic']\nseats = [2]\npayoff = 'luck'\n",
            "rules = ['classic']\nseats = [2]\nlineups = 'some'\n",
            "rules = ['classic']\nseats = [8]\nrotations = 'all'\n",
            "rules = ['none.toml']\nseats = [2]\n",
            "rules = ['classic']\nseats = [2]\nanchor = 'greedy(call_at=9)'\n",
            "rules = ['classic'\n",
            "rules = ['classic']\nseats = [2]\nlineups = { pools = [] }\n",
            "rules = ['classic']\nseats = [2]\ncolour = 1\n",
        ]
    ):
        run.run(f"refused{number}", base + spec, code=1)
    run.run("good", base + "rules = ['classic']\nseats = [2]\n")
    run("run good.toml --out good", code=1)
    for name, old, new in [("matches.csv", b"1", b"2"), ("ledger.jsonl", b"}", b")"), ("summary.csv", b"0", b"1")]:
        bad = f"bad-{name[:-4]}"
        shutil.copytree(run.folder / "good", run.folder / bad)
        text = (run.folder / "good" / name).read_bytes()
        at = text.rindex(old)
        (run.folder / bad / name).write_bytes(text[:at] + new + text[at + 1 :])
        run(f"verify {bad}", code=4)
    for words in [
        "agents --check gredy",
        "agents --check greedy(call_at=500)",
        "replay good/matches.csv",
        "rules clasic",
        "rules --check good.toml",
        "sprt greedy random --elo0 5 --elo1 5",
        "solve --game classic --to 1e-3 --memory-limit 1MB",
        "report nowhere",
    ]:
        run(words, code=1)


# ---- comparing ----


def without_columns(text, names):
    """A CSV text without the given columns."""
    rows = list(csv.reader(io.StringIO(text.decode())))
    if not rows:
        return text
    kept = [at for at, name in enumerate(rows[0]) if name not in names]
    out = io.StringIO()
    csv.writer(out, lineterminator="\n").writerows([row[at] for at in kept if at < len(row)] for row in rows)
    return out.getvalue().encode()


def without_keys(value, names):
    """A JSON value without the given fields, at any depth."""
    if isinstance(value, dict):
        return {key: without_keys(inner, names) for key, inner in value.items() if key not in names}
    if isinstance(value, list):
        return [without_keys(inner, names) for inner in value]
    return value


def masked(path, text, options):
    """A file's bytes with data masked that depend on the machine or the build, and without ignored columns."""
    ignored = set(options.ignore_column)
    if path.name == "timing.csv":
        text = without_columns(text, {"seconds"})
    elif path.name == "report.html":
        text = TIMES.sub(b"", text)
    elif path.name == "manifest.json":
        try:
            manifest = json.loads(text)
            for field in BUILD_FIELDS:
                if field in manifest:
                    manifest[field] = "…"
            text = json.dumps(manifest, indent=2).encode()
        except ValueError:
            pass
    elif path.suffix == ".out":
        text = PER_DECISION.sub(b"", text)
        text = SECONDS.sub(b'"seconds":0', RATE.sub(b"0 a second", DURATION.sub(b"0 s", text)))
        if options.ignore_prose and path.name[3:] in ("schema.out", "agents.out"):
            text = without_prose(text)
        if ignored and "--format csv" in path.name:
            text = without_columns(text, ignored)
        if ignored and "--format json" in path.name:
            text = json.dumps(without_keys(json.loads(text), ignored)).encode()
    elif path.suffix == ".err":
        text = RATE.sub(b"0 a second", DURATION.sub(b"0 s", text))
    elif ignored and path.suffix == ".csv":
        text = without_columns(text, ignored)
    elif ignored and path.name == "ledger.jsonl":
        # Removing columns changes the bytes and hashes of a file.
        text = re.sub(rb'(\.csv[^{]*\{"rows":\d+),"bytes":\d+,"blake3":"[0-9a-f]+"', rb"\1", text)
    return text


def without_prose(text):
    """The output of `cambio schema` and `cambio agents` without descriptions, but with names, defaults and ranges."""
    try:
        return json.dumps(without_keys(json.loads(text), {"description", "title"}), indent=1).encode()
    except ValueError:
        lines = re.sub(rb"\n {8}", b" ", text)
        name, parameter, preset = rb"^\S+$", rb"^    \S+(?: = \S+)?:", rb"Parameters as for (?:[^.]|\.\d)*"
        kept = re.finditer(rb"(?m)" + name + rb"|(" + parameter + rb").*?(\([^()]*\))?$|" + preset, lines)
        return b"\n".join(b" ".join(filter(None, found.groups())) or b" ".join(found[0].split()) for found in kept)


def first_difference(old, new):
    """A description of the first difference between two texts."""
    if b"\0" in old[:1000] or b"\0" in new[:1000]:
        at = next((at for at, (a, b) in enumerate(zip(old, new)) if a != b), min(len(old), len(new)))
        return f"byte {at} of {len(old)} and {len(new)}"
    old, new = old.split(b"\n"), new.split(b"\n")
    for number, (a, b) in enumerate(zip(old + [None] * len(new), new + [None] * len(old)), 1):
        if a != b:
            at = next((at for at, (x, y) in enumerate(zip(a or b"", b or b"")) if x != y), 0)
            start = max(0, at - 60)

            def shown(line):
                if line is None:
                    return "(no such line)"
                cut = line[start : start + 160].decode(errors="replace")
                return ("…" if start else "") + cut + ("…" if start + 160 < len(line) else "")

            return f"line {number}\n        old: {shown(a)}\n        new: {shown(b)}"
    return "no difference"


def is_close(old, new, tolerance):
    """Whether two texts are equal except for numbers that differ by at most `tolerance`, relative to max(1, |number|)."""
    if NUMBER.sub(b"0", old) != NUMBER.sub(b"0", new):
        return False
    pairs = zip(map(float, NUMBER.findall(old)), map(float, NUMBER.findall(new)))
    return all(abs(one - other) <= tolerance * max(1.0, abs(one)) for one, other in pairs)


def trees(one, other, options, with_errors, but=()):
    """Compares two folders file by file. Returns the number of identical files and messages about the differences."""

    def files(folder):
        return {
            path.relative_to(folder)
            for path in folder.rglob("*")
            if path.is_file()
            and "__pycache__" not in path.parts
            and path.name not in but
            and (with_errors or path.suffix != ".err")
        }

    same, differences = 0, []
    for path in sorted(files(one) | files(other)):
        if not (one / path).exists() or not (other / path).exists():
            differences.append(f"{path}: only in {'new' if (other / path).exists() else 'old'}")
            continue
        old, new = (masked(path, (folder / path).read_bytes(), options) for folder in (one, other))
        if old == new or (options.derived_to and not EXACT.fullmatch(path.name) and is_close(old, new, options.derived_to)):
            same += 1
        else:
            differences.append(f"{path}: {first_difference(old, new)}")
    return same, differences


def compare(case, old, new, options):
    """Compares the results of two binaries in one case. Returns the number of passed checks and messages about the failed."""
    with_errors = case is mistakes and not options.ignore_prose
    passed, failed = trees(old.folder, new.folder, options, with_errors)
    more, other = trees(old.said, new.said, options, with_errors)
    passed, failed = passed + more, failed + other
    for name, run in [("old", old), ("new", new)]:
        failed += [f"{name}: {error}" for error in run.errors]
    # timing.csv differs: the matches of a run that was cut are not timed again.
    for one, other in new.same:
        more, differences = trees(new.folder / one, new.folder / other, options, with_errors, ["timing.csv"])
        passed += more
        failed += [f"new: {one} (old) and {other} (new) differ: {line}" for line in differences]
    return passed, failed


def play(one, binary, folder):
    begun = time.monotonic()
    run = Run(binary, folder)
    try:
        one(run)
    except Exception as error:  # pylint: disable=broad-except
        run.errors.append(f"{type(error).__name__}: {error}")
    return run, time.monotonic() - begun


def main():
    names = [case.__name__ for case in CASES]
    parser = argparse.ArgumentParser(
        description="Compares the output of two builds of cambio, byte for byte.",
        epilog="masked: " + "; ".join(f"{name}: {why}" for name, why in MASKED.items()),
    )
    parser.add_argument("old", type=Path, help="the binary before the change")
    parser.add_argument("new", type=Path, help="the binary after the change")
    parser.add_argument("--only", action="append", default=[], choices=names, help="only this case; can be repeated")
    ignored = "ignore this column, which may be missing or different; can be repeated"
    parser.add_argument("--ignore-column", action="append", default=[], metavar="NAME", help=ignored)
    parser.add_argument(
        "--ignore-prose", action="store_true", help="ignore descriptions in `schema` and `agents`, and error messages"
    )
    parser.add_argument(
        "--derived-to",
        type=float,
        metavar="TOLERANCE",
        help="compare numbers in derived tables and reports with this tolerance, such as 1e-9; rows, records "
        "and ledgers are always compared byte for byte",
    )
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="the number of parallel commands")
    parser.add_argument("--keep", type=Path, metavar="DIR", help="keep all files in this new folder")
    options = parser.parse_args()
    binaries = {"old": options.old.resolve(), "new": options.new.resolve()}
    for binary in binaries.values():
        if not os.access(binary, os.X_OK):
            parser.error(f"{binary} is not a program")
    if options.keep:
        options.keep.mkdir(parents=True)
    top = options.keep or Path(tempfile.mkdtemp(prefix="cambio-compare-"))
    cases = [case for case in CASES if case.__name__ in (options.only or names)]
    passed = failed = 0
    try:
        with ThreadPoolExecutor(options.jobs) as pool:
            runs = {
                (case.__name__, age): pool.submit(play, case, binary, top / age / case.__name__)
                for case in cases
                for age, binary in binaries.items()
            }
            for case in cases:
                (old, old_time), (new, new_time) = (runs[case.__name__, age].result() for age in binaries)
                same, differences = compare(case, old, new, options)
                passed, failed = passed + same, failed + len(differences)
                word = "FAIL" if differences else "ok"
                print(
                    f"{word:4} {case.__name__:10} {same:4} identical, {len(differences)} different"
                    f"{old_time:8.1f} s {new_time:6.1f} s",
                    flush=True,
                )
                for line in differences[:8]:
                    print(f"     {line}")
                if len(differences) > 8:
                    print(f"     … and {len(differences) - 8} more")
    finally:
        if not options.keep:
            shutil.rmtree(top, ignore_errors=True)
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
