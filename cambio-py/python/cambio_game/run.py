"""Tournaments: evaluate agents, play experiments, read their tables."""

from __future__ import annotations

import contextlib
import csv
import html
import importlib
import importlib.util
import inspect
import io
import json
import math
import re
import sys
import tempfile
import traceback
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from os import PathLike
from pathlib import Path
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, NamedTuple, Protocol, SupportsIndex, TypeAlias, Union, get_args, get_origin, overload

import numpy as np
from numpy.typing import NDArray

from . import _cambio
from ._cambio import Action, Agent, CambioError, ExperimentError, Observation, Rules, RunError
from ._checks import flag, one_of, whole
from ._extras import require
from .small import Policy

__all__ = ["Matrix", "Player", "Run", "Table", "columns", "evaluate", "run", "tournament"]

Value = str | int | float | bool | list[int] | list[float] | None

#: The files with a row for each match, round or player.
ROWS = ("matches", "rounds", "players")


class Player(Protocol):
    """A Python agent: an object with a method `decide`.

    It may also have the methods `begin(rules, seats, seat, seed)`, which is called at the start of a match and must reset the
    agent, and `round_ends(points)`, with the points of each seat's layout. If all its random numbers come from `seed`, the same
    experiment gives the same rows.
    """

    def decide(self, observation: Observation, /) -> Action | str | int:
        """Returns one of `observation.legal_actions()`, or its notation, or its index."""
        ...


AnyPlayer: TypeAlias = Player | Policy

#: An agent: its spec, an `Agent`, a `Policy`, or a factory of a Python agent.
AnyAgent: TypeAlias = str | Agent | Policy | Callable[[], AnyPlayer]


def _value(text: str) -> Value:
    if text == "":
        return None
    if text in ("true", "false"):
        return text == "true"
    if re.fullmatch(r"-?\d+", text):
        return int(text)
    try:
        return float(text)
    except ValueError:
        return text


def _readers(name: str) -> dict[str, Callable[[str], Value]]:
    """The functions that read the cells of the columns of a file."""
    is_here = {"command": "advise", "file": "--format csv"} if name == "advice" else {"file": f"{name}.csv"}
    types = {str(column["name"]): str(column["type"]) for column in columns() if is_here.items() <= column.items()}
    kinds: dict[str, Callable[[str], Value]] = {
        "text": lambda cell: cell or None,
        "list of int32": lambda cell: [int(part) for part in cell.split()],
        "list of float64": lambda cell: [float(part) for part in cell.split()],
    }
    return {column: kinds[kind] for column, kind in types.items() if kind in kinds}


class Table(Sequence[Mapping[str, Value]]):
    """A table: a sequence of rows, each a dictionary by column. Numbers have all digits of the file."""

    def __init__(self, name: str, text: str, shown: str | None = None) -> None:
        self.name = name
        self._text = text
        self._shown = shown
        reader = csv.DictReader(io.StringIO(text))
        self.columns: tuple[str, ...] = tuple(reader.fieldnames or ())
        readers = _readers(name)
        of_column = [(column, readers.get(column, _value)) for column in self.columns]
        self._rows: list[dict[str, Value]] = [{column: read(row[column]) for column, read in of_column} for row in reader]

    @overload
    def __getitem__(self, place: int) -> Mapping[str, Value]: ...
    @overload
    def __getitem__(self, place: slice) -> Sequence[Mapping[str, Value]]: ...
    def __getitem__(self, place: int | slice) -> Mapping[str, Value] | Sequence[Mapping[str, Value]]:
        return self._rows[place]

    def __len__(self) -> int:
        return len(self._rows)

    def __iter__(self) -> Iterator[Mapping[str, Value]]:
        return iter(self._rows)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Table) and (self.name, self._text) == (other.name, other._text)

    def __hash__(self) -> int:
        return hash((self.name, self._text))

    def __repr__(self) -> str:
        return f"<Table {self.name!r} of {len(self)} rows: {', '.join(self.columns)}>"

    def __str__(self) -> str:
        return repr(self) if self._shown is None else self._shown

    def __reduce__(self) -> tuple[Any, ...]:
        return Table, (self.name, self._text, self._shown)

    def to_csv(self) -> str:
        """The text of the table's CSV file in the run folder."""
        return self._text

    def to_pandas(self) -> Any:
        """The table as a pandas DataFrame."""
        require("pandas", "frames")
        import pandas  # type: ignore[import-untyped,import-not-found,unused-ignore]

        return pandas.DataFrame(self._rows, columns=list(self.columns))

    def to_polars(self) -> Any:
        """The table as a polars DataFrame."""
        require("polars", "frames")
        import polars  # type: ignore[import-untyped,import-not-found,unused-ignore]

        return polars.DataFrame(self._rows, schema=list(self.columns), infer_schema_length=None)

    def _repr_html_(self) -> str:
        def cells(tag: str, row: Sequence[object]) -> str:
            shown = ("" if cell is None else f"{cell:.4g}" if isinstance(cell, float) else str(cell) for cell in row)
            return "<tr>" + "".join(f"<{tag}>{html.escape(cell)}</{tag}>" for cell in shown) + "</tr>"

        body = "".join(cells("td", list(row.values())) for row in self._rows)
        return f"<table><thead>{cells('th', self.columns)}</thead><tbody>{body}</tbody></table>"


class Matrix(NamedTuple):
    """The direct results of each pair of agents at one table: arrays with a row for each agent and a column for its opponent.

    `score` is the row's share of the points of a pair, 0.5 for equals. At two seats, it is without the luck of the cards if the luck was
    measured; otherwise it is with it. `low` and `high` are
    the single 95 % interval. The diagonal, and pairs that have not met, are `nan`.
    """

    agents: tuple[str, ...]
    score: NDArray[np.float64]
    low: NDArray[np.float64]
    high: NDArray[np.float64]


class Run:
    """A run, with its tables and its report. `Run.open(folder)` reads a run; `run` and `evaluate` play one."""

    def __init__(self, about: Mapping[str, Any], path: Path | None = None) -> None:
        self._about = dict(about)
        self.path = path

    @staticmethod
    def open(folder: str | PathLike[str]) -> Run:
        """Reads a run folder. Raises `RunError` if it is not a run folder or does not match its ledger."""
        return Run(_cambio._open(Path(folder)), Path(folder))

    @property
    def name(self) -> str:
        """The name of the experiment."""
        return str(self._about["name"])

    @property
    def run_id(self) -> str:
        """The hash of the experiment, which identifies the run."""
        return str(self._about["run_id"])

    @property
    def is_complete(self) -> bool:
        """Whether all matches have been played."""
        return bool(self._about["is_complete"])

    @property
    def matches(self) -> int:
        """The number of matches that have been played."""
        return int(self._about["matches"])

    @property
    def spec(self) -> str:
        """The text of the experiment file."""
        return str(self._about["spec"])

    @property
    def tables(self) -> dict[str, Table]:
        """All tables by name: summary, ratings, pairwise, seats, behaviour, faults, and pooled if there are several rules or seats."""
        files: Mapping[str, str] = self._about["files"]
        return {Path(name).stem: Table(Path(name).stem, text) for name, text in files.items() if name.endswith(".csv")}

    @property
    def summary(self) -> Table:
        """The summary: a row per agent, rules and seats, with means and their intervals."""
        return self.tables["summary"]

    @property
    def ratings(self) -> Table:
        """The ratings: a row per agent, rules and seats, with its strength relative to the other agents, with the luck of the cards."""
        return self.tables["ratings"]

    @property
    def pairwise(self) -> Table:
        """The pairwise comparisons: a row per pair, rules and seats, with the difference of payoffs and the direct matches."""
        return self.tables["pairwise"]

    def matrix(self, rules: str | None = None, seats: SupportsIndex | None = None) -> Matrix:
        """The direct results of each pair: see `Matrix`. A run with several tables needs the name of the rules and the number of seats.

        In `pairwise`, `difference` is between the means of two agents over all their opponents; the matrix has the direct results.

            >>> run = cambio.tournament(["random", "greedy", "heuristic"], deals=100)
            >>> run.matrix().score.round(2)
        """
        wanted = {"rules": rules, "seats": None if seats is None else whole("seats", seats, 2, 8)}
        rows = [row for row in self.pairwise if all(value in (None, row[name]) for name, value in wanted.items())]
        if len({(row["rules"], row["seats"]) for row in rows}) != 1:
            raise CambioError("`rules` and `seats` must select one table of the run")
        agents = tuple(dict.fromkeys(str(row[name]) for name in ("agent", "other") for row in rows))
        found = [np.full((len(agents), len(agents)), np.nan) for _ in range(3)]
        for row in rows:
            kind = "score_adjusted" if row.get("score_adjusted") is not None else "score"
            a, b = agents.index(str(row["agent"])), agents.index(str(row["other"]))
            names = (kind, f"{kind}_low", f"{kind}_high")
            shares = [value if isinstance(value := row.get(name), float | int) else np.nan for name in names]
            for array, share, other in zip(found, shares, (shares[0], shares[2], shares[1]), strict=True):
                array[a, b], array[b, a] = share, 1 - other
        return Matrix(agents, *found)

    def verify(self, agents: Mapping[str, AnyAgent] | None = None, *, all: bool = False) -> int:
        """Checks the files of the run folder, and plays 20 batches again, or all of them: as `cambio verify --sample 20`.

        `agents` are the Python agents of the run, as in `run`. Returns the number of batches that gave the same bytes. Raises `RunError` with
        all errors that it finds. Warns if batches cannot be played again, for example because an agent is missing; then it replays their
        records, if the run has records.
        """
        if self.path is None:
            raise RunError("this run has no folder; play it with `run(spec, out)`")
        replayed, wrong, unreplayed = _cambio._verify(self.path, factories(agents), all)
        if wrong:
            raise RunError("; ".join(wrong))
        if unreplayed:
            warnings.warn("not replayed: " + "; ".join(unreplayed), stacklevel=2)
        return replayed

    def rows(self, name: str = "players") -> Table:
        """The rows of single matches: `players` has a row for each player of a match, `matches` for each match, `rounds` for each round.

        `columns()` describes them. The rows are in the run folder; `evaluate` keeps them with `rows=True`. Raises `RunError` if
        there are none.

            >>> cambio.evaluate("greedy", "random", deals=10, rows=True).rows("matches").to_pandas()
        """
        one_of("name", name, ROWS)
        kept: Mapping[str, str] = self._about.get("rows", {})
        if name in kept:
            return Table(name, kept[name])
        if self.path is None:
            raise RunError("the rows of this run were not kept; call evaluate(..., rows=True)")
        try:
            return Table(name, (self.path / f"{name}.csv").read_text(encoding="utf-8"))
        except (OSError, ValueError, TypeError, csv.Error) as error:
            raise RunError(f"`{self.path / name}.csv` cannot be read: {error}; `verify` checks the whole run") from None

    @property
    def report(self) -> str:
        """The HTML of `report.html`."""
        return str(self._about["files"]["report.html"])

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Run) and self._about == other._about

    def __hash__(self) -> int:
        return hash((self.run_id, self.matches))

    def __repr__(self) -> str:
        state = "complete" if self.is_complete else "not complete"
        return f"<Run {self.name or self.run_id[:12]!r}: {self.matches} matches, {state}>"

    def __str__(self) -> str:
        """The table that `cambio run` prints."""
        return str(self._about["text"]).rstrip()

    def _repr_html_(self) -> str:
        page = html.escape(self.report, quote=True)
        return f'<iframe srcdoc="{page}" style="width:100%;height:40em;border:0"></iframe>'


def factories(agents: Mapping[str, AnyAgent] | None) -> list[tuple[str, Any]]:
    """Python agents by name: each is a factory or an `Agent`. Raises `TypeError` if one is neither."""
    return [(name, Agent(agent) if isinstance(agent, str) else _factory(agent)) for name, agent in (agents or {}).items()]


def _factory(agent: Any) -> Any:
    if isinstance(agent, Agent) or callable(agent) or hasattr(agent, "probabilities"):
        return agent
    name = type(agent).__name__
    if hasattr(agent, "decide"):
        raise TypeError(
            f"an agent must be a factory: pass the class `{name}` or a function that returns a `{name}`, not an instance"
        )
    raise TypeError(f"an agent must be a spec, an Agent, a Policy or a factory of a Player, found type {name}")


def named(agents: Sequence[AnyAgent], names: Sequence[str] | None = None) -> tuple[list[str], dict[str, Any]]:
    """The specs of agents for an experiment, and the factories of those that are not library agents.

    With `names`, each agent has the given name. Without, a library agent has its spec, and a Python agent the name of its factory.
    """
    if names is not None and not all(isinstance(name, str) for name in names):
        raise TypeError(f"`names` must be texts, found {names!r}")
    if names is not None and (isinstance(names, str) or len(names) != len(agents) or len({*names}) != len(names)):
        raise CambioError(f"`names` must have {len(agents)} different names, one for each agent, found {names!r}")
    specs: list[str] = []
    bots: dict[str, Any] = {}
    for place, agent in enumerate(agents):
        if names is not None:
            bots[names[place]] = Agent(agent) if isinstance(agent, str) else _factory(agent)
            specs.append(names[place])
        elif isinstance(agent, Agent):
            specs.append(agent.spec)
        elif isinstance(agent, str):
            specs.append(agent)
        else:
            made = _factory(agent)
            name = re.sub(r"[^A-Za-z0-9_-]", "", getattr(made, "__name__", type(made).__name__)) or "agent"
            while name in bots and bots[name] is not made:
                name += "_"
            bots[name] = made
            specs.append(name)
    return specs, bots


def run(
    spec: str | PathLike[str],
    out: str | PathLike[str],
    *,
    agents: Mapping[str, AnyAgent] | None = None,
    threads: SupportsIndex = 0,
    resume: bool = False,
) -> Run:
    """Plays an experiment file into a run folder, with the same rows and report as `cambio run`.

    `agents` maps names in the experiment to agents. A Python agent is given as a factory: a class or a function that returns a new
    `Player`; it is called often, for each seat on each thread and again for later matches, so load files outside of it. A `Policy` may
    be given itself, because all matches share it. A spec or an `Agent` gives a library agent another name. With `threads=0`, the run uses
    one thread per core.

    The folder must not exist. With `resume`, a run in it is continued: its matches stay, and it is your task to give the same agents.

    If a Python agent raises an exception, `run` raises `AgentFault` with this exception as its `__cause__`, and the match up to
    the fault as its `record`. Ctrl-C stops the run; the same call with `resume=True` continues it.
    """
    return Run(_cambio._run(Path(spec), Path(out), factories(agents), threads, True, resume), Path(out))


def tournament(
    agents: Mapping[str, AnyAgent] | Sequence[AnyAgent],
    rules: Rules | str = "classic",
    deals: SupportsIndex = 1000,
    *,
    seats: SupportsIndex = 2,
    lineups: str | Mapping[str, str | Sequence[str]] = "all",
    seed: SupportsIndex | str = 0,
    luck: Literal["auto", "on", "off"] = "auto",
    threads: SupportsIndex = 0,
    out: str | PathLike[str] | None = None,
    rows: bool = False,
) -> Run:
    """Plays agents against each other and returns the run.

    `agents` are agents, or a mapping from names to agents. An agent is a spec such as "greedy", an `Agent`, a `Policy`, or a factory of
    a `Player`. Names have letters, digits, _ and -. Each lineup plays each deal in all rotations. `lineups` is as in an
    experiment file: "all" for all combinations, "mirror", or `{"focal": [...], "field": [...]}` for each focal agent against one agent in all
    other seats, or one for each of them. With `luck`, the luck of the cards is subtracted from the results; "auto" does so if the agents are slow enough.

    With `out`, the run is kept in this new folder. Without it, nothing is kept on disk, and `Run.rows` needs `rows=True`.

        >>> run = cambio.tournament({"before": policy_0, "after": policy_1, "greedy": "greedy"}, "mini-p", deals=1000)
        >>> print(run)

    If a Python agent raises an exception, `tournament` raises `AgentFault` with this exception as its `__cause__`, and the match
    up to the fault as its `record`: `cambio.Game.restore(error.record)` is the position.
    """
    flag("rows", rows)
    names = list(agents) if isinstance(agents, Mapping) else None
    specs, bots = named(list(agents.values()) if isinstance(agents, Mapping) else agents, names)
    with tempfile.TemporaryDirectory(prefix="cambio-") as folder:
        here = Path(folder)
        fields = {
            "name": " against ".join(specs),
            "seed": seed_text(seed),
            "deals": whole("deals", deals, 1),
            "rules": [rules_name(rules, here, is_relative=True)],
            "seats": [whole("seats", seats, 2, 8)],
            "agents": specs,
            "lineups": lineups,
            "luck": luck,
        }
        default = {"lineups": "all", "luck": "auto"}
        lines = [f"{name} = {_toml(value)}\n" for name, value in fields.items() if default.get(name) != value]
        (here / "spec.toml").write_text("".join(lines), encoding="utf-8")
        into = here / "run" if out is None else Path(out)
        try:
            about = _cambio._run(here / "spec.toml", into, list(bots.items()), threads, out is not None, False)
        except ExperimentError as error:
            # The message begins with the path of the temporary file and a line in it.
            raise ExperimentError(re.sub(r"^\S*spec\.toml: (line \d+: )?", "", str(error))) from None
        if rows:
            about["rows"] = {name: (into / f"{name}.csv").read_text(encoding="utf-8") for name in ROWS}
        return Run(about, None if out is None else into)


def seed_text(seed: SupportsIndex | str) -> str:
    """A seed, which is a whole number or a text, as text."""
    if not isinstance(seed, str):
        return str(whole("seed", seed))
    if any("\ud800" <= letter <= "\udfff" for letter in seed):
        raise CambioError(f"`seed` must be a whole number or a text without surrogates, found {seed!r}")
    return seed


def _toml(value: Any) -> str:
    """A text, a number, a list or a dictionary as a value of TOML."""
    if isinstance(value, Mapping):
        return "{ " + ", ".join(f"{key} = {_toml(part)}" for key, part in value.items()) + " }"
    # JSON escapes the same characters as TOML, except for U+007F.
    return json.dumps(list(value) if isinstance(value, tuple) else value, ensure_ascii=False).replace("\x7f", "\\u007f")


def evaluate(
    a: AnyAgent,
    b: AnyAgent,
    rules: Rules | str = "classic",
    deals: SupportsIndex = 1000,
    *,
    seats: SupportsIndex = 2,
    seed: SupportsIndex | str = 0,
    luck: Literal["auto", "on", "off"] = "auto",
    threads: SupportsIndex = 0,
    names: Sequence[str] | None = None,
    rows: bool = False,
) -> Run:
    """Plays two agents against each other and returns the run: see `tournament`. `cambio run` with `Run.spec` gives the same tables.

    With more than two seats, an agent sits in several seats. `names` are the names of the two agents in the tables.

        >>> cambio.evaluate("greedy", "random", deals=100).summary.to_pandas()
    """
    agents: Any = (a, b)
    if names is not None:
        named((a, b), names)  # Checks the names.
        agents = dict(zip(names, (a, b), strict=True))
    return tournament(agents, rules, deals, seats=seats, seed=seed, luck=luck, threads=threads, rows=rows)


def rules_name(rules: Rules | str, folder: Path, *, is_relative: bool = False) -> str:
    """The name of a preset, or the path of a rule file in `folder`, which is written."""
    chosen = rules if isinstance(rules, Rules) else Rules(rules)
    if repr(chosen).startswith("Rules("):
        return chosen.name
    (folder / "rules.toml").write_text(chosen.to_toml(), encoding="utf-8")
    return "rules.toml" if is_relative else str(folder / "rules.toml")


@cache
def _dictionary() -> str:
    return _cambio._columns()


def columns() -> list[dict[str, Value]]:
    """The data dictionary: all columns of the CSV files of runs and tunings. `cambio schema --rows` prints them too.

    Each column is a dictionary with the keys `command` (the command that writes the file), `file`, `name`, `type`,
    `may_be_empty`, `unit` (`None` for texts and numbers without a unit) and `meaning`.

        >>> pandas.DataFrame(cambio.columns())
    """
    found: list[dict[str, Value]] = json.loads(_dictionary())
    return found


def _parameters(factory: Callable[..., Any]) -> list[tuple[str, str, list[str], str | None]]:
    """The parameters of a factory that specs can set, from its annotations and defaults: name, type, words, default.

    A parameter is a whole number, a number, a flag, or one of the words of a `Literal`; `None` as its default means off. Other parameters
    are not in specs.
    """
    parameters: Mapping[str, inspect.Parameter] = {}
    for is_evaluated in (False, True):
        # Annotations in quotes may need a module that is not imported, and classes of other languages may have no signature.
        with contextlib.suppress(Exception):
            parameters = inspect.signature(factory, eval_str=is_evaluated).parameters
    found: list[tuple[str, str, list[str], str | None]] = []
    for name, parameter in parameters.items():
        default = None if parameter.default is parameter.empty else parameter.default
        hint = parameter.annotation
        if hint is parameter.empty or isinstance(hint, str):
            hint = type(default)
        if get_origin(hint) is Annotated:
            hint = get_args(hint)[0]
        if get_origin(hint) in (Union, UnionType) and len(parts := [part for part in get_args(hint) if part is not NoneType]) == 1:
            hint = parts[0]
        words = [*get_args(hint)] if get_origin(hint) is Literal else ["false", "true"] if hint is bool else []
        is_known = hint in (int, float) or (words and all(isinstance(word, str) for word in words))
        if is_known and parameter.kind in (parameter.POSITIONAL_OR_KEYWORD, parameter.KEYWORD_ONLY):
            is_off = default is None or (isinstance(default, float) and not math.isfinite(default))
            text = str(default).lower() if isinstance(default, bool) else str(default)
            found.append((name, getattr(hint, "__name__", "Literal"), words, None if is_off else text))
    return found


def _made(factory: Callable[..., Any], given: Sequence[tuple[str, str]]) -> Any:
    """Creates an agent with these values of its parameters, as texts."""
    readers: dict[str, Callable[[str], Any]] = {"int": int, "float": float, "bool": "true".__eq__, "Literal": str}
    kinds = {name: kind for name, kind, *_ in _parameters(factory)}
    return factory(**{name: readers[kinds[name]](text) for name, text in given})


def _agent(text: str) -> tuple[str, Callable[[], AnyPlayer]]:
    """Parses `mine=module:Class` or `mine=file.py:Class` into the name and the factory. Raises `ExperimentError` if it cannot be imported."""
    found = re.fullmatch(r"([A-Za-z0-9_-]+)=(\w[\w.]*|.+\.py):([\w.]+)", text)
    if not found:
        raise ExperimentError(f"an agent must be NAME=MODULE:CLASS, such as mine=bot.py:Mine, found `{text}`")
    try:
        made: Any = _module(found[2])
    except (Exception, SystemExit) as error:
        # The last frame is the place in the agent's code.
        *_, frame = traceback.extract_tb(error.__traceback__)
        where = f" ({frame.filename}, line {frame.lineno})"
        raise ExperimentError(f"cannot import {found[2]}: {type(error).__name__}: {error}{where}") from error
    for part in found[3].split("."):
        if not hasattr(made, part):
            raise ExperimentError(f"{found[2]} has no class `{found[3]}`")
        made = getattr(made, part)
    return found[1], made


@cache
def _module(name: str) -> Any:
    """Imports a module by its name or its file. A file can import the modules beside it."""
    if not name.endswith(".py"):
        return importlib.import_module(name)
    path = Path(name).resolve(strict=True)
    sys.path.insert(0, str(path.parent))
    spec = importlib.util.spec_from_file_location(path.stem, path)
    if spec is None or spec.loader is None:
        raise ImportError("it is not a Python file")
    module = importlib.util.module_from_spec(spec)
    sys.modules.setdefault(path.stem, module)
    spec.loader.exec_module(module)
    return module
