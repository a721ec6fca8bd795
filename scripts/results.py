#!/usr/bin/env python3
"""Generates the book's pages of results, so that no number in their tables and plots is typed by hand.

    scripts/results.py                       generate the pages from the stored files
    scripts/results.py --check               fail if a page does not match the stored files
    scripts/results.py --list                list the runs
    scripts/results.py --play NAME...        play these runs, store their summaries, generate the pages
    scripts/results.py --rows DIR            play the first rows of the runs, for an archive

The template of a page is `book/results/PAGE.md`: a block of TOML between two lines `+++`, which declares runs, and Markdown
with directives such as `{{ matrix run=ladder }}`. The output files of a run that a page needs are stored unchanged in
`book/results/data/RUN`, together with `facts.json`: the command, date, revision, machine and the SHA-256 of each file, and of each
program and file that the run depends on. If one of these changes, `--check` fails until the run is played again. The pages and plots
in `book/src/results` are generated from these files. Only a changed plot needs matplotlib.

`--rows DIR` plays the first deals of each run into DIR/RUN, for the archive of a release: at most 2,000, and those that one core
plays in a minute. Row i of a run does not depend on the number of deals.

`--from DIR` imports the existing folder DIR/NAME instead of playing the run. `--cambio PATH` selects a program, by default a
release build of this tree. `--note TEXT` adds a remark on the machine, and `--machine TEXT` names another machine, on which an
imported run was played.
"""

import argparse
import csv
import hashlib
import json
import math
import os
import platform
import re
import shlex
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import tomllib

ROOT = Path(__file__).resolve().parent.parent
TEMPLATES = ROOT / "book/results"
KEPT = TEMPLATES / "data"
PAGES = ROOT / "book/src/results"

# What a reader has time for: pages of results, and their words with all tables.
MAX_PAGES, MAX_WORDS = 9, 13_000


class Wrong(Exception):
    """An error with a message for the user."""


# ---------------------------------------------------------------------------------------------------------------- runs


class Run:
    """A command, and the stored part of its output."""

    def __init__(self, page, declared):
        unknown = set(declared) - {"name", "command", "keep", "experiment", "files"}
        if unknown:
            raise Wrong(f"{page}: a run has no field {', '.join(sorted(unknown))}")
        self.page = page
        self.name = declared["name"]
        self.command = declared["command"]
        self.keep = declared["keep"]
        words = [word for word in self.command.split() if word.startswith("experiments/") and word.endswith(".toml")]
        self.experiment = declared.get("experiment", words[0] if words else None)
        self.files = declared.get("files", [])
        self.folder = KEPT / self.name
        self.facts = None
        if (self.folder / "facts.json").is_file():
            self.facts = json.loads((self.folder / "facts.json").read_text())

    def shown(self):
        """The command as the reader types it."""
        return self.command.replace("OUT", f"runs/{self.name}")

    def inputs(self):
        """The hash of each program and file that the results depend on: scripts and other files in the command, the source of
        examples and benchmarks, and the files that the page declares, which may be patterns. The experiment is separate, because its
        name and its number of deals may change."""
        words = [re.sub(r"^\w+=", "", word) for word in self.command.split()]
        paths = [word for word in words if "/" in word and word != self.experiment and (ROOT / word).is_file()]
        crate = words[words.index("-p") + 1] if "-p" in words else None
        for kind, folder in (("--example", "examples"), ("--bench", "benches")):
            names = [words[place + 1] for place, word in enumerate(words) if word == kind]
            paths += [f"{crate.removeprefix('cambio-') if kind == '--bench' else crate}/{folder}/{name}.rs" for name in names]
        for pattern in self.files:
            found = [path.relative_to(ROOT).as_posix() for path in ROOT.glob(pattern) if path.is_file() and path.name != "tests.rs"]
            if not found:
                raise Wrong(f"{self.page}: no file matches {pattern}, which the run {self.name} declares")
            paths += found
        return {path: sha256(without_comments(ROOT / path)) for path in sorted(set(paths))}

    def rows(self, file):
        """The rows of a stored CSV file."""
        if self.facts is None:
            raise Wrong(f"{self.page}: the run {self.name} has no stored files")
        if file not in self.facts["files"]:
            raise Wrong(f"{self.page}: {file} of the run {self.name} is not stored")
        with open(self.folder / file, newline="", encoding="utf-8") as text:
            return list(csv.DictReader(text))

    def text(self, file):
        return (self.folder / file).read_text(encoding="utf-8")

    def flaws(self):
        """Messages about changed files, another command or another experiment."""
        if self.facts is None:
            return
        for file, digest in self.facts["files"].items():
            path = self.folder / file
            if not path.is_file() or sha256(path.read_bytes()) != digest:
                yield f"{path.relative_to(ROOT)} has been modified"
        if self.facts["command"] != self.command:
            yield f"the command of the run {self.name} has changed in {self.page}; play the run again"
        if self.experiment and self.facts["experiment"] != experiment(self.experiment):
            yield f"{self.experiment} has changed since the run {self.name}; play the run again"
        made, now = self.facts["inputs"], self.inputs()
        for path in sorted(made.keys() | now.keys()):
            if made.get(path) != now.get(path):
                yield f"{path} has changed since the run {self.name}; play the run again"


def sha256(data):
    return hashlib.sha256(data).hexdigest()


def without_comments(path):
    """The content of a file without spaces, whole-line comments and a Rust file's tests, so that a change of these needs no new run."""
    mark = {".rs": "//", ".sh": "#", ".py": "#", ".toml": "#"}.get(path.suffix, "\0")
    if path.suffix == ".net":
        return path.read_bytes()
    text, _, _ = path.read_text(encoding="utf-8").partition("\n#[cfg(test)]\nmod tests")
    lines = [line.split() for line in text.splitlines()]
    return "".join("".join(words) for words in lines if words and not words[0].startswith(mark)).encode()


def experiment(path):
    """The hash of an experiment and its rule files, without comments, the name and the number of deals."""
    path = ROOT / path
    fields = tomllib.loads(path.read_text())
    rules = {name: tomllib.loads((path.parent / name).read_text()) for name in fields.get("rules", []) if "." in name}
    fields = {key: value for key, value in fields.items() if key not in ("name", "deals")}
    return sha256(json.dumps([fields, rules], sort_keys=True).encode())


def machine():
    """The processor and the number of cores of this machine."""
    model = platform.processor() or platform.machine()
    try:
        found = re.search(r"^model name\s*: (.*)$", Path("/proc/cpuinfo").read_text(), re.MULTILINE)
        model = found.group(1) if found else model
    except OSError:
        pass
    return f"{model}, {os.cpu_count()} cores, {platform.system()}"


def program(cambio):
    """The version and build of a `cambio`, read from the manifest of a run."""
    with tempfile.TemporaryDirectory() as folder:
        spec = Path(folder) / "one.toml"
        spec.write_text('seed = 1\ndeals = 1\nrules = ["classic"]\nseats = [2]\nagents = ["random"]\nlineups = "mirror"\n')
        subprocess.run([cambio, "run", spec, "--out", f"{folder}/out", "--quiet"], check=True, capture_output=True)
        manifest = json.loads((Path(folder) / "out/manifest.json").read_text())
    return {key: manifest[key] for key in ("version", "revision", "uncommitted_changes", "compiler", "target")}


def criterion():
    """Criterion's last results: for each benchmark the median and its interval in nanoseconds."""
    found = []
    for path in sorted((target() / "criterion").glob("**/new/estimates.json")):
        what = json.loads((path.parent / "benchmark.json").read_text())
        median = json.loads(path.read_text())["median"]
        values = [median["point_estimate"], *(median["confidence_interval"][end] for end in ("lower_bound", "upper_bound"))]
        row = {name: what[key] for name, key in (("group", "group_id"), ("function", "function_id"), ("value", "value_str"))}
        found.append(row | {"elements": (what["throughput"] or {}).get("Elements"), "median": values})
    return json.dumps(found, indent=1) + "\n"


def target():
    return Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))


def play(run, args, cambio):
    """Plays or imports a run, and stores the files that its page needs."""
    if "cargo " in run.command and args.cambio and not args.from_folder:
        raise Wrong(f"the run {run.name} builds its program from this tree; omit --cambio")
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / run.name
        if args.from_folder:
            out = Path(args.from_folder) / run.name
            if not out.is_dir():
                raise Wrong(f"{out} is not a folder")
            seconds = None
        else:
            print(f"{run.name}: {run.shown()}", file=sys.stderr)
            begun = time.monotonic()
            bin_folder = Path(folder) / "bin"
            bin_folder.mkdir()
            (bin_folder / "cambio").symlink_to(cambio)
            environment = os.environ | {"PATH": f"{bin_folder}:{os.environ['PATH']}", "CAMBIO": "cambio"}
            line = run.command.replace("OUT", shlex.quote(str(out)))
            done = subprocess.run(["bash", "-euc", line], cwd=ROOT, env=environment, stdout=subprocess.PIPE, check=False)
            if done.returncode:
                raise Wrong(f"the run {run.name} ended with exit code {done.returncode}")
            seconds = round(time.monotonic() - begun, 1)
            out.mkdir(exist_ok=True)
            (out / "output.txt").write_bytes(done.stdout)
            if "criterion.json" in run.keep:
                (out / "criterion.json").write_text(criterion())
        keep(run, out, seconds, program(cambio), args)


def archive(runs, folder, cambio):
    """Plays the first deals of each run into a folder of its own: at most 2,000, and as many as one core plays in a minute."""
    for run in runs.values():
        if run.command.startswith("cambio run ") and "deals" in run.facts:
            deals = min(run.facts["deals"], 2_000, max(1, int(60 * run.facts["deals"] / run.facts["core_seconds"])))
            print(f"{run.name}: {deals} of {run.facts['deals']} deals", file=sys.stderr)
            command = [cambio, "run", run.experiment, "--out", folder / run.name, "--deals", str(deals), "--quiet"]
            subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.DEVNULL)


def keep(run, out, seconds, made_by, args):
    """Stores the files of a run that its page needs, and `facts.json`."""
    files = sorted({path for pattern in run.keep for path in out.glob(pattern) if path.is_file()})
    for pattern in run.keep:
        if not list(out.glob(pattern)):
            raise Wrong(f"the run {run.name} wrote no {pattern}")
    shutil.rmtree(run.folder, ignore_errors=True)
    digests = {}
    for path in files:
        name = path.relative_to(out).as_posix()
        (run.folder / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, run.folder / name)
        digests[name] = sha256(path.read_bytes())
    date = time.strftime("%Y-%m-%d", time.gmtime(max(path.stat().st_mtime for path in files)))
    note = {"note": args.note} if args.note else {}
    facts = {"command": run.command, "date": date, "machine": args.machine or machine()} | note | made_by
    manifest = out / "manifest.json"
    if manifest.is_file():
        said = json.loads(manifest.read_text())
        if said["outcome"] != "complete":
            raise Wrong(f"the run {run.name} is not complete")
        for key in ("version", "revision", "uncommitted_changes", "compiler", "target", "run_id", "seed", "deals", "matches"):
            facts[key] = said[key]
        if run.experiment and said["deals"] != tomllib.loads((ROOT / run.experiment).read_text())["deals"]:
            raise Wrong(f"the run {run.name} must have the deals of {run.experiment}, found {said['deals']}")
    timing = out / "timing.csv"
    if timing.is_file():
        with open(timing, newline="", encoding="utf-8") as text:
            # The rows without an agent have the time of one thread for all blocks.
            facts["core_seconds"] = round(sum(float(row["seconds"]) for row in csv.DictReader(text) if not row["agent"]), 1)
    elif seconds is not None:
        facts["seconds"] = seconds
    if run.experiment:
        facts["experiment"] = experiment(run.experiment)
    facts["inputs"] = run.inputs()
    facts["files"] = digests
    run.facts = facts
    (run.folder / "facts.json").write_text(json.dumps(facts, indent=1) + "\n")


# -------------------------------------------------------------------------------------------------------------- tables


def number(text):
    return float(text) if text not in ("", None) else None


def rounded(value, digits, percent=False):
    """A formatted number, without a sign for zero; a dash for None."""
    if value is None:
        return "–"
    text = f"{value * (100 if percent else 1):.{digits}f}"
    return text.replace("-", "−") if float(text) else text.lstrip("-")


class Column:
    """A column such as `win_share%.1=win share`: its name, whether it is in percent, its digits and its heading."""

    def __init__(self, text):
        shape = re.fullmatch(r"(\w+)(%?)(?:\.(\d))?(?:=(.*))?", text.strip())
        if not shape:
            raise Wrong(f"`{text}` is not a column")
        self.name, self.percent = shape[1], bool(shape[2])
        self.digits = int(shape[3]) if shape[3] else (1 if self.percent else 3)
        self.heading = (shape[4] or self.name.replace("_", " ")) + (", %" if self.percent else "")

    def values(self, row):
        """The value and its interval, if the file has one."""
        if self.name not in row:
            raise Wrong(f"the file has no column `{self.name}`")
        return tuple(number(row.get(self.name + end)) for end in ("", "_low", "_high"))

    def show(self, row):
        return self.write(*self.values(row))

    def write(self, value, low=None, high=None):
        text = rounded(value, self.digits, self.percent)
        if None in (value, low, high):
            return text
        return f"{text} ± {rounded((high - low) / 2, self.digits, self.percent)}"


def markdown(heading, rows):
    """A Markdown table. The first column is left-aligned, the others are right-aligned."""
    lines = ["| " + " | ".join(heading) + " |", "|---|" + "---:|" * (len(heading) - 1)]
    return "\n".join(lines + ["| " + " | ".join(row) + " |" for row in rows])


def grid(heading, cells):
    """A Markdown table of texts by row, a tuple of its first columns, and by column, in the order of the first cells."""
    columns = list(dict.fromkeys(column for _, column in cells))
    rows = dict.fromkeys(row for row, _ in cells)
    return markdown([*heading, *columns], [[*row, *(cells.get((row, column), "") for column in columns)] for row in rows])


def table_of(row):
    return row["rules"], row["seats"]


def table_name(table):
    return f"{table[0]}, {table[1]} seats"


def select(rows, options):
    """The rows with the rules and seats of a directive; all rows if it has none."""
    for key in ("rules", "seats"):
        if key in options:
            rows = [row for row in rows if row[key] in options[key].split(",")]
    if not rows:
        raise Wrong("no row has these rules and seats")
    return rows


def one_table(rows, options):
    rows = select(rows, options)
    if len({table_of(row) for row in rows}) > 1:
        raise Wrong("the run has several tables; give rules and seats")
    return rows


def everything(run):
    """The rows of summary.csv, joined with behaviour.csv."""
    rows = run.rows("summary.csv")
    if "behaviour.csv" in run.facts["files"]:
        more = {(*table_of(row), row["agent"]): row for row in run.rows("behaviour.csv")}
        rows = [more.get((*table_of(row), row["agent"]), {}) | row for row in rows]
    return rows


def agents(run, options):
    """`agents run= [rules= seats=] columns=`: a row for each agent of a table, sorted by the first column, best first."""
    columns = [Column(text) for text in options["columns"].split(";")]
    rows = sorted(one_table(everything(run), options), key=lambda row: -columns[0].values(row)[0])
    heading = ["agent"] + [column.heading for column in columns]
    return markdown(heading, [[f"`{row['agent']}`"] + [column.show(row) for column in columns] for row in rows])


def pivot(run, options):
    """`pivot run= value= [loss=yes] [without=AGENT]`: agents as rows, tables as columns; `loss` shows ½ minus the value."""
    column = Column(options["value"])
    cells = {}
    for row in select(everything(run), options):
        value, low, high = column.values(row)
        if options.get("loss"):
            value, low, high = 0.5 - value, 0.5 - high, 0.5 - low
        if row["agent"] != options.get("without"):
            cells[(f"`{row['agent']}`",), table_name(table_of(row))] = column.write(value, low, high)
    return grid(["agent"], cells)


def differences(run, options):
    """`differences run= base= agents=A;B [sort=yes]`: each agent's mean rank points minus those of the base, in hundredths, with the interval
    that is simultaneous for all pairs of the table, and without the luck of the cards if the run measured it."""
    base, found = options["base"], {}
    for row in select(run.rows("pairwise.csv"), options):
        if base in (row["agent"], row["other"]):
            adjusted = "_adjusted" if row["difference_adjusted"] else ""
            value, low, high = (number(row[f"{key}{adjusted}"]) for key in ("difference", "low_simultaneous", "high_simultaneous"))
            if row["agent"] == base:
                value, low, high = -value, -high, -low
            found.setdefault(table_of(row), {})[row["other"] if row["agent"] == base else row["agent"]] = value, low, high
    names, column = options["agents"].split(";"), Column("difference%")
    for name in names:
        if any(name not in cells for cells in found.values()):
            raise Wrong(f"the run has no pair of `{name}` and `{base}`")
    if options.get("sort"):
        names.sort(key=lambda name: [-cells[name][0] for cells in found.values()])
    heading = [table_name(table) for table in found] if len(found) > 1 else ["difference"]
    rows = [[f"`{name}`"] + [column.write(*cells[name]) for cells in found.values()] for name in names]
    return markdown([f"minus `{base}`", *heading], rows)


def duels(run, options):
    """The score and interval of the first agent against the second, for all ordered pairs of agents at one table, without the luck of
    the cards if the run measured it."""
    scores = {}
    measures_luck = any(row.get("luck") and row["seats"] == "2" for row in one_table(run.rows("summary.csv"), options))
    for row in one_table(run.rows("pairwise.csv"), options):
        adjusted = "_adjusted" if row.get("score_adjusted") else ""
        if measures_luck and row["score"] and not adjusted:
            raise Wrong("the scores of pairs contain the luck of the cards; write them again with `cambio report`")
        score, low, high = (number(row[f"score{adjusted}{end}"]) for end in ("", "_low", "_high"))
        if score is not None:
            scores[row["agent"], row["other"]] = score, low, high
            scores[row["other"], row["agent"]] = 1 - score, 1 - high, 1 - low
    return scores


def matrix(run, options):
    """`matrix run= [rules= seats=] [bounds=RUN]`: the score of the row against the column in percent, the agent with the lowest mean
    score first; like the scores of pairs, the means are without the luck of the cards if the run measured it.
    `bounds` is a run of experiments/bounds.sh and adds a column: the win share of a responder against the row's agent."""
    scores = duels(run, options)
    summary = one_table(run.rows("summary.csv"), options)
    means = {row["agent"]: float(row.get("rank_points_adjusted") or row["rank_points"]) for row in summary}
    names = sorted(means, key=means.get)
    column = Column("score%")
    found = bounds(options["bounds"]) if "bounds" in options else {}
    rows = []
    for place, name in enumerate(names):
        cells = ["–" if name == other else column.write(*scores[name, other]) if (name, other) in scores else "" for other in names]
        rows.append([f"{place + 1} `{name}`", *cells] + ([found.get(name, "")] if found else []))
    heading = ["row against column", *(str(place + 1) for place in range(len(names)))]
    return markdown(heading + (["a responder wins (level)"] if found else []), rows)


def pooled(run, options):
    """`pooled run= runs=A;B agent= over=`: the score in one duel, as the mean over independent runs, weighted by precision. In a run
    with `field = [AGENT]`, it is the win share of the other player against the field."""
    agent, over = options["agent"], options["over"]
    found = []
    for one in options["runs"]:
        lineups = tomllib.loads((ROOT / one.experiment).read_text(encoding="utf-8"))["lineups"]
        if "field" in lineups:
            shares = {row["agent"]: Column("win_share_adjusted").values(row) for row in one_table(one.rows("summary.csv"), options)}
            against = lineups["field"] == [over]
            found.append(shares[agent] if against else tuple(1 - share for share in shares[over]))
        else:
            found.append(duels(one, options)[agent, over])
    weights = [1 / (high - low) ** 2 for _, low, high in found]
    mean = sum(weight * value for weight, (value, _, _) in zip(weights, found, strict=True)) / sum(weights)
    half = 0.5 / sum(weights) ** 0.5
    return Column("score%").write(mean, mean - half, mean + half)


def bounds(run):
    """The responder's win share on fresh deals by agent, in percent, with half the width of the interval, and its level."""
    found = {}
    for file in run.facts["files"] if run.facts else []:
        for row in run.rows(file):
            share = Column("win_share%").write(*(number(row[key]) for key in ("win_share", "low", "high")))
            found[row["against"]] = f"{share} ({row['level']})"
    return found


def seats(run, options):
    """`seats run=`: the win share of each seat, half the width of the widest interval, and the test that all seats are equal."""
    tables = {}
    for row in select(run.rows("seats.csv"), options):
        tables.setdefault(table_of(row), []).append(row)
    shown = []
    for table, rows in tables.items():
        shares = " ".join(rounded(number(row["payoff"]), 1, percent=True) for row in rows)
        half = max(number(row["high"]) - number(row["low"]) for row in rows) / 2
        p = number(rows[0]["p"])
        p = "–" if p is None else "< 0.001" if p < 0.001 else f"{p:.3f}"
        shown.append([table_name(table), rows[0]["deals"], shares, f"± {rounded(half, 1, percent=True)}", p])
    return markdown(["table", "deals", "wins of seats a, b, …, %", "largest half-width", "p-value, equal seats"], shown)


def rule_text(limits):
    """Limits as `≤ 9`, or with the limit of each number of unknown cards as `≤ 9, 7, 5, 5`."""
    return "≤ " + ", ".join(limits.split()).replace("-", "−")


def lost(row):
    """The wins that a rule for calls gains or loses, in percentage points, with its interval."""
    return Column("difference%").write(*(number(row[key]) for key in ("difference", "low", "high")))


def call_rules(run, options):
    """`call_rules run= form= player=`: for each preset and number of seats, the rule that was chosen for a player, and the wins that it gains
    or loses against copies of the player."""
    cells = {}
    for row in run.rows("rules.csv"):
        if row["form"] == options["form"] and row["player"] == row["field"] == options["player"]:
            cells[(row["rules"],), f"{row['seats']} players"] = f"{rule_text(row['limits'])} ({lost(row)})"
    return grid(["rules"], cells)


def call_fields(run, options):
    """`call_fields run= players= forms= [rules=]`: the rules of several players or forms against every field: the wins gained or lost."""
    names = {"one": "one number", "two": "two numbers", "chart": "the chart"}
    cells = {}
    for row in select(run.rows("rules.csv"), options):
        if row["player"] in options["players"].split(",") and row["form"] in options["forms"].split(","):
            name = f"`{row['player']}`" if "," in options["players"] else names[row["form"]]
            cells[(row["rules"], row["seats"], name, rule_text(row["limits"])), f"against `{row['field']}`"] = lost(row)
    return grid(["rules", "seats", "rule of", "calls at"], cells)


def suite_rows(run, options):
    """The players with a file in `run`, from the strongest in `ladder=`: name, rank points in the ladder, and its rows by kind of decision."""
    ladder = {
        row["agent"]: Column("rank_points_adjusted%").values(row) for row in one_table(options["ladder"].rows("summary.csv"), {})
    }
    found = [(name.removesuffix(".csv"), {row["kind"]: row for row in run.rows(name)}) for name in run.facts["files"]]
    return sorted(((name, ladder[name], kinds) for name, kinds in found), key=lambda row: -row[1][0])


def suite(run, options):
    """`suite run= ladder=RUN`: the mean score of each player in the ladder, and its decisions in test positions."""
    score, best, loss = Column("score%"), Column("best%.0"), Column("loss%")
    rows = []
    for name, mean, kinds in suite_rows(run, options):
        rows.append([f"`{name}`", score.write(*mean), best.show(kinds["all"]), loss.show(kinds["all"])])
    return markdown(["agent", "mean score in the ladder, %", "best decisions, %", "loss, wins in 100"], rows)


def suite_correlation(run, options):
    """`suite_correlation run= ladder=RUN [first=N]`: Spearman's rank correlation of the score of the N best players and their losses."""
    losses = [float(kinds["all"]["loss"]) for _, _, kinds in suite_rows(run, options)][: int(options.get("first", 1000))]
    ranks = [sum((other < loss) - (other > loss) for other in losses) for loss in losses]
    return rounded(statistics.correlation(ranks, range(len(ranks))), 2)


def printed(run, options):
    """`printed run= [file=] [fact=NAME]`: the output of the command, which is a Markdown table, another file, or a field of `facts.json`."""
    return run.facts[options["fact"]][:12] if "fact" in options else run.text(options.get("file", "output.txt")).strip()


def coverage(run, options):
    """`coverage run= columns="COLUMN=HEADING;…" [lineups=one] [pair=checked] [file=]`: the coverage of intervals, or the rejection
    rates of tests, by the number of deals: the mean over all settings, and for a column `NAME_least`, or `NAME.least` of the column NAME, the lowest."""
    columns = [part.split("=", 1) for part in options["columns"].split(";")]
    found = {}
    for row in run.rows(options.get("file", "coverage.csv")):
        if all(options.get(key) == row.get(key) for key in ("lineups", "pair")):
            found.setdefault(int(row["deals"]), []).append(row)
    rows = []
    for deals, settings in sorted(found.items()):
        shown = [f"{deals:,}"]
        for column, _ in columns:
            values = [float(row[column.removesuffix(".least")] or "nan") for row in settings]
            value = min(values) if column.endswith("least") else sum(values) / len(values)
            shown.append("" if math.isnan(value) else rounded(value, 1, percent=True))
        rows.append(shown)
    return markdown(["deals"] + [f"{head}, %" for _, head in columns], rows)


def value(run, options):
    """`value run= file= column= [COLUMN=VALUE]… [lowest=yes] [of=median]`: the value of a column in the only row with these values of other
    columns, or the lowest value in these rows, or a statistic of their values."""
    column, rows = Column(options["column"]), run.rows(options["file"])
    names = options.keys() & rows[0].keys()
    found = [column.values(row) for row in rows if row[column.name] and all(row[name] == options[name] for name in names)]
    if "of" in options:
        return column.write(getattr(statistics, options["of"])([value for value, _, _ in found]))
    if len(found) != 1 and "lowest" not in options:
        raise Wrong(f"the file has {len(found)} such rows")
    return column.write(*min(found))


def systems(run, options):
    """`systems run=`: the wins of the network over the rule systems of each set. The interval of a mean is for the choice of the systems."""
    column, found, rows = Column("win_share%"), {}, []
    for row in run.rows("general.csv"):
        share = tuple(number(row[key]) for key in ("win_share", "low", "high"))
        found.setdefault((row["set"], row["seats"], f"`{row['against']}`"), []).append(share)
    for (name, seats, against), shares in found.items():
        wins = [share for share, _, _ in shares]
        mean, half = statistics.mean(wins), 1.96 * statistics.stdev(wins) / len(wins) ** 0.5
        cells = [(statistics.median(wins),), (mean, mean - half, mean + half), min(shares)]
        rows.append([name, seats, against, *(column.write(*cell) for cell in cells)])
    return markdown(["rules", "seats", "other seats", "median, %", "mean, %", "lowest, %"], rows)


def exploitability(run, options):
    """`exploitability run=`: the exact exploitability of each agent by game: the mean over seeds, and its range in parentheses."""
    found = {}
    for row in run.rows("exploitability.csv"):
        found.setdefault(((f"`{row['agent']}`",), f"`{row['game']}`"), []).append(float(row["exploitability"]))
    cells = {}
    for place, values in found.items():
        spread = f" ({min(values):.4f} to {max(values):.4f})" if min(values) < max(values) else ""
        cells[place] = f"{sum(values) / len(values):.4f}{spread}"
    return grid(["agent"], cells)


def benchmarks(run, options):
    """`benchmarks run= group=`: Criterion's median of each benchmark of a group; half of its 95 % interval in per cent of the median."""
    rows = []
    for row in json.loads(run.text("criterion.json")):
        if row["group"] != options["group"]:
            continue
        per = row["elements"] or 1
        median, low, high = (value / per for value in row["median"])
        rows.append([row["function"], nanoseconds(median), f"{50 * (high - low) / median:.1f}", f"{1e9 / median:,.0f}"])
    if not rows:
        raise Wrong(f"the benchmarks have no group {options['group']}")
    return markdown(["benchmark", "time each", "± %", "a second"], rows)


def nanoseconds(value):
    for unit, size in (("s", 1e9), ("ms", 1e6), ("µs", 1e3)):
        if value >= size:
            return f"{value / size:.3g} {unit}"
    return f"{value:.3g} ns"


# --------------------------------------------------------------------------------------------------------------- plots


def plot_iterations(run, options):
    """Exploitability by iterations on one game."""
    lines = {}
    for row in run.rows("exploitability.csv"):
        if row["game"] == options["game"]:
            label = re.sub(r"\b(iterations|n)=\d+", "", row["agent"]).replace(",)", ")").replace("()", "")
            found = lines.setdefault(label, {}).setdefault(int(row["iterations"] or 0), [])
            found.append(float(row["exploitability"]))
    return lines


def plot_budgets(run, options):
    """Strength against time per decision: `groups="LABEL=AGENT;AGENT|…"`."""
    column = Column(options["value"])
    found = {row["agent"]: column.values(row) for row in one_table(everything(run), options)}
    times = {row["agent"]: float(row["seconds"]) / int(row["decisions"]) for row in run.rows("timing.csv") if row["agent"]}
    groups = dict(part.split("=", 1) for part in options["groups"].split("|"))
    return {label: [(times[agent], *found[agent]) for agent in agents.split(";")] for label, agents in groups.items()}


def plot_chart(run, options):
    """The gain of a call in each cell of the chart `csv=` with at least `from=` decisions and at most `to=` points."""
    cells = {}
    for row in run.rows(options["csv"]):
        if int(row["decisions"]) >= int(options["from"]) and int(row["points"]) <= int(options["to"]):
            cells[row["turn"], row["unknown"], int(row["points"])] = tuple(float(row[key]) for key in ("gain", "low", "high"))
    return cells


def plot_card(run, options):
    """For the `rules=` and each number of seats, the rule of one number that was chosen for `player=`."""
    limits = {}
    for row in select(run.rows("rules.csv"), options):
        if row["form"] == "one" and row["player"] == row["field"] == options["player"]:
            limits.setdefault(row["rules"], {})[row["seats"]] = row["limits"].replace("-", "−")
    return limits


def drawn(file, kind, data, options):
    """The SVG of a plot. Its last line has the hash of what it was drawn from, and the hash of the rest, so that `--check` needs no
    matplotlib."""
    made_from = sha256(repr((kind, data, options)).encode() + (ROOT / "scripts/plots.py").read_bytes())
    line = lambda text: f"<!-- {made_from} {sha256(text.encode())} -->\n"
    if file.is_file():
        text, _, last = file.read_text(encoding="utf-8").rstrip("\n").rpartition("\n")
        if f"{last}\n" == line(text):
            return f"{text}\n{last}\n"
    try:
        import plots
    except ModuleNotFoundError as error:
        raise Wrong(f"{file.name} is not up to date; install matplotlib and run scripts/results.py") from error
    text = getattr(plots, kind)(data, options).rstrip("\n")
    return f"{text}\n{line(text)}"


names = (
    "agents benchmarks call_fields call_rules coverage differences exploitability matrix pivot pooled printed seats "
    "suite suite_correlation systems value"
)
TABLES = {name: globals()[name] for name in names.split()}
PLOTS = {name: globals()[f"plot_{name}"] for name in "budgets card chart iterations".split()}


# --------------------------------------------------------------------------------------------------------------- pages


class Page:
    """A template with its runs."""

    def __init__(self, path):
        self.path, self.name = path, path.stem
        shape = re.fullmatch(r"\+\+\+\n(.*?)\n\+\+\+\n(.*)", path.read_text(encoding="utf-8"), re.DOTALL)
        if not shape:
            raise Wrong(f"{path.name} must begin with a block of TOML between two lines +++")
        self.body = shape[2].strip()
        self.runs = [Run(path.name, declared) for declared in tomllib.loads(shape[1]).get("run", [])]

    def make(self, runs):
        """The files generated from the page, by path."""
        files = {}

        def directive(found):
            words = shlex.split(found[1])
            kind, options = words[0], dict(word.split("=", 1) for word in words[1:])
            run = runs.get(options.get("run"))
            if run is None:
                raise Wrong(f"{self.path.name}: `{found[0]}` needs a declared run")
            options |= {key: runs[options[key]] for key in ("bounds", "ladder") if key in options}
            if "runs" in options:
                options["runs"] = [runs[name] for name in options["runs"].split(";")]
            if run.facts is None:
                return f"*Not measured yet: `scripts/results.py --play {run.name}`.*"
            try:
                if kind == "plot":
                    file = options["file"]
                    files[PAGES / file] = drawn(PAGES / file, options["kind"], PLOTS[options["kind"]](run, options), options)
                    return f"![{options['alt']}]({file})"
                return TABLES[kind](run, options)
            except (Wrong, KeyError) as error:
                raise Wrong(f"{self.path.name}: `{found[0]}`: {error}") from error

        body = re.sub(r"\{\{ (.*?) \}\}", directive, self.body)
        notice = f"<!-- Made by scripts/results.py from book/results/{self.path.name}; do not edit. -->"
        files[PAGES / self.path.name] = f"{notice}\n\n{body}\n\n{self.how()}\n"
        return files

    def how(self):
        """The section on reproduction: for each run the command, date, revision and machine."""
        parts, places = ["## How these results were made"], {}
        for run in self.runs:
            facts = run.facts
            if facts is None:
                parts.append(f"**{run.name}** is not measured yet:\n\n```sh\n{run.shown()}\n```")
                continue
            lines = [f"**{run.name}**:", f"```sh\n{run.shown()}\n```"]
            changed = " with uncommitted changes" if facts["uncommitted_changes"] else ""
            made_by = f"cambio {facts['version']}, revision `{facts['revision'][:12]}`{changed}"
            place = f"program: {made_by}, {facts['compiler'].split(' (')[0]}\n- machine: {facts['machine']}"
            place += f"; {facts['note']}" if "note" in facts else ""
            first = places.setdefault(place, run.name)
            said = [facts["date"]]
            if "matches" in facts:
                said.append(f"{facts['deals']:,} deals, {facts['matches']:,} matches, seed {facts['seed']}")
            for unit, name in [(" of one core", "core_seconds"), ("", "seconds")]:
                if name in facts:
                    said.append(f"{facts[name]:,.0f} s{unit}")
            if "run_id" in facts:
                said.append(f"run ID `{facts['run_id'][:12]}`")
            place = place if first == run.name else f"program and machine: as for {first}"
            lines.append(f"- {'; '.join(said)}\n- {place}")
            parts.append("\n\n".join(lines))
        return "\n\n".join(parts)


def load():
    """All pages, and all runs by name."""
    pages = [Page(path) for path in sorted(TEMPLATES.glob("*.md"))]
    runs = {}
    for page in pages:
        for run in page.runs:
            if run.name in runs:
                raise Wrong(f"the run {run.name} is declared twice")
            runs[run.name] = run
    return pages, runs


def check(pages, runs, files):
    """Messages about all inconsistencies."""
    flaws = [flaw for run in runs.values() for flaw in run.flaws()]
    for path, text in files.items():
        if not path.is_file() or path.read_text(encoding="utf-8") != text:
            flaws.append(f"{path.relative_to(ROOT)} is not up to date; run scripts/results.py")
    flaws += [f"{path.relative_to(ROOT)} has no template" for path in PAGES.glob("*") if path not in files]
    flaws += [f"{path.relative_to(ROOT)} belongs to no run" for path in KEPT.glob("*") if path.name not in runs]
    words = sum(len(text.split()) for path, text in files.items() if path.suffix == ".md")
    if len(pages) > MAX_PAGES or words > MAX_WORDS:
        flaws.append(f"the results must have at most {MAX_PAGES} pages and {MAX_WORDS:,} words, found {len(pages)} and {words:,}")
    return flaws + list(unsupported("\n".join(files.values())))


def unsupported(results):
    """Messages about figures in the README's tables that are on no page of results."""
    rows = [line for line in (ROOT / "README.md").read_text(encoding="utf-8").splitlines() if line.startswith("|")]
    for figure in re.findall(r"[0-9.]+ ± [0-9.]+", "\n".join(rows)):
        if figure not in results:
            yield f"README.md: {figure} is on no page of results"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--play", nargs="+", metavar="NAME", default=[])
    parser.add_argument("--rows", metavar="DIR")
    parser.add_argument("--from", dest="from_folder", metavar="DIR")
    parser.add_argument("--cambio", metavar="PATH")
    parser.add_argument("--note", metavar="TEXT")
    parser.add_argument("--machine", metavar="TEXT")
    args = parser.parse_args()
    try:
        pages, runs = load()
        if args.list:
            for run in runs.values():
                made = "not yet"
                if run.facts:
                    made = f"{run.facts['date']}, {run.facts['revision'][:8]}"
                print(f"{run.name:20} {made:20} {run.shown()}")
            return 0
        for name in args.play:
            if name not in runs:
                raise Wrong(f"there is no run {name}; --list shows all runs")
        if args.play or args.rows:
            if not args.cambio:
                subprocess.run(["cargo", "build", "--release", "--quiet"], cwd=ROOT, check=True)
            cambio = Path(args.cambio or target() / "release/cambio").resolve()
            for name in args.play:
                play(runs[name], args, cambio)
            if args.rows:
                archive(runs, Path(args.rows).resolve(), cambio)
        files = {}
        for page in pages:
            files |= page.make(runs)
        if not args.check:
            for path, text in files.items():
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text, encoding="utf-8")
        flaws = check(pages, runs, files)
    except Wrong as error:
        flaws = [str(error)]
    for flaw in flaws:
        print(f"error: {flaw}", file=sys.stderr)
    if not flaws:
        print(f"{len(pages)} pages of results, {len(runs)} runs")
    return 1 if flaws else 0


if __name__ == "__main__":
    sys.exit(main())
