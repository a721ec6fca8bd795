"""Sequential tests, tuning, the value of an agent's decisions, lower bounds on its exploitability, and the benchmark."""

from __future__ import annotations

import json
import tempfile
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, SupportsIndex, TypeAlias, TypedDict

from . import _cambio
from ._cambio import Rules
from ._checks import flag, number, one_of, whole
from .run import AnyAgent, factories, named, rules_name, seed_text

if TYPE_CHECKING:
    from typing_extensions import Unpack

__all__ = [
    "AdvantageResult",
    "DecisionKind",
    "ExploitResult",
    "SprtResult",
    "TuneResult",
    "advantage",
    "bench",
    "exploit",
    "sprt",
    "tune",
]

#: A function that receives messages about the progress, about ten times a second.
Progress: TypeAlias = Callable[[str], object]
#: A mean, and half the width of its 95 % interval: the distance of the farther end. It is `None` with fewer than two deals, and if all
#: deals agree on a value without bounds.
Interval: TypeAlias = tuple[float, float | None]
Verdict: TypeAlias = Literal["first", "second", "undecided"]
Payoff: TypeAlias = Literal["rank_points", "win", "points", "margin"]
Method: TypeAlias = Literal["sweep", "race", "cma"]
Luck: TypeAlias = Literal["auto", "on", "off"]


@dataclass(frozen=True)
class SprtResult:
    """The result of a sequential test, the same as of `cambio sprt` with the same options.

    - `verdict`: "second": H1 is accepted, the agent is better by `elo1`; "first": H0 is accepted; "undecided": the deals ran out.
    - `deals`, `matches`: the number of deals that the test has read, and of their matches.
    - `ratio`, `bounds`: the log likelihood ratio, and the bounds at which the test ends.
    - `score`: the agent's mean score against the other, from 0 to 1, without the luck of the cards if it was measured. It is biased,
      because the test stops at an extreme mean. `None` without deals.
    - `estimate`: the score corrected for the stopping, and the ends of its 95 % interval; `None` if all deals have the same score.
    """

    verdict: Verdict
    deals: int
    matches: int
    ratio: float
    bounds: tuple[float, float]
    score: float | None
    estimate: tuple[float, float, float] | None

    @staticmethod
    def of(found: Mapping[str, Any]) -> SprtResult:
        """Reads the object of `cambio sprt --format json`."""
        low, high = found["bounds"]
        adjusted = found["score_adjusted"]
        estimate = (found["estimate"], found["estimate_low"], found["estimate_high"])
        return SprtResult(
            found["verdict"],
            found["deals"],
            found["matches"],
            found["log_likelihood_ratio"],
            (low, high),
            found["score"] if adjusted is None else adjusted,
            None if estimate[0] is None else estimate,
        )


@dataclass(frozen=True)
class TuneResult:
    """The result of tuning, the same as of `cambio tune` with the same options.

    - `best`: the best value of each question mark, separated by spaces.
    - `curve`: the points of the curve, one per value: the rows of `curve.csv`, with the value of each parameter as a number.
    - `result`: the contents of `tuning.json`, such as the comparison with the incumbent on fresh deals (`validation`).
    """

    best: str
    curve: list[dict[str, Any]]
    result: dict[str, Any]

    @staticmethod
    def of(found: Mapping[str, Any], stacklevel: int = 3) -> TuneResult:
        """Reads the result of the compiled module, and shows its warnings."""
        for doubt in found["warnings"]:
            warnings.warn(doubt, stacklevel=stacklevel)
        return TuneResult(found["result"]["best_value"], found["points"], found["result"])


@dataclass(frozen=True)
class DecisionKind:
    """The value of an agent's decisions of one kind, such as "a held card".

    - `times`: the number of decisions per round.
    - `differs`: the number of decisions per round that differ from the policy's decision.
    - `advantage`: the gain per round, in win shares, and half the width of its 95 % interval.
    """

    kind: str
    times: float
    differs: float
    advantage: Interval


@dataclass(frozen=True)
class AdvantageResult:
    """The value of an agent's decisions, the same as of `cambio advantage` with the same options.

    Each value is a mean in win shares per round, and half the width of its 95 % interval, clustered by deal.

    - `results`: the agent's gain, its win share minus an equal share, from the results.
    - `decisions`: the same gain, from the advantages of its decisions. It does not contain the luck of the cards.
    - `kinds`: the same by kind of decision, in the order of a round.
    """

    results: Interval
    decisions: Interval
    kinds: tuple[DecisionKind, ...]


@dataclass(frozen=True)
class ExploitResult:
    """The gain of a responder against an agent, the same as of `cambio exploit --rules` with the same options.

    - `gain`: the mean gain per round, half the difference of the scores, and half the width of its 95 % interval, clustered by deal.
    - `lower_limit`: the one-sided 95 % lower limit of the gain, a lower bound on the exploitability; 0 or less shows nothing. `None` with
      fewer than two deals, and if all deals agree.
    - `by_seat`: the mean gain in seat a and in seat b.
    - `deals`: the number of deals.
    """

    gain: Interval
    lower_limit: float | None
    by_seat: tuple[float, float]
    deals: int


class TableOptions(TypedDict, total=False):
    """The table of a study, and the seed of its deals; by default "classic" at 2 seats, and the name of the function."""

    rules: Rules | str
    seats: SupportsIndex
    seed: SupportsIndex | str


class SettingOptions(TableOptions, total=False):
    """The table of a study, and how a deal is played at it."""

    rounds: bool
    luck: Luck


class SprtOptions(SettingOptions, total=False):
    """The options of `cambio sprt`."""

    elo0: float
    elo1: float
    alpha: float
    beta: float
    deals: SupportsIndex


class TuneOptions(SettingOptions, total=False):
    """The options of `cambio tune`."""

    mixture: bool
    payoff: Payoff
    method: Method
    deals: SupportsIndex
    generations: SupportsIndex
    validate: SupportsIndex
    incumbent: str


class AdvantageOptions(TableOptions, total=False):
    """The options of `cambio advantage`."""

    deals: SupportsIndex
    playouts: SupportsIndex


class ExploitOptions(TypedDict, total=False):
    """The options of `cambio exploit --rules`."""

    rules: Rules | str
    seed: SupportsIndex | str
    deals: SupportsIndex
    iterations: SupportsIndex
    candidates: SupportsIndex
    repeats: SupportsIndex
    noise: float
    min_errors: float
    blueprint: str


#: The options whose value is one of a few words.
WORDS: dict[str, tuple[str, ...]] = {
    "luck": ("auto", "on", "off"),
    "payoff": ("rank_points", "win", "points", "margin"),
    "method": ("sweep", "race", "cma"),
}


def study_options(study: str, options: Mapping[str, Any], folder: Path) -> str:
    """The options of a study as JSON. Rules that are not a preset are written to `folder`. Raises `TypeError` for unknown options."""
    defaults: dict[str, Any] = json.loads(_cambio._Study.defaults(study))
    checked: dict[str, Any] = {}
    for name, value in options.items():
        if name not in defaults:
            raise TypeError(f"{study}() has no option `{name}`; its options are {', '.join(defaults)}")
        if name == "rules":
            checked[name] = rules_name(value, folder)
        elif name == "seed":
            checked[name] = seed_text(value)
        elif name in WORDS:
            checked[name] = one_of(name, value, WORDS[name])
        elif name == "seats":
            checked[name] = whole(name, value, 2, 8)
        elif isinstance(defaults[name], bool):
            checked[name] = flag(name, value)
        elif isinstance(defaults[name], int):
            checked[name] = whole(name, value)
        elif isinstance(defaults[name], float):
            checked[name] = number(name, value)
        else:
            checked[name] = value
    return json.dumps(checked)


def _run(
    study: str,
    options: Mapping[str, Any],
    bots: Mapping[str, Any],
    threads: SupportsIndex,
    progress: Progress | None,
    out: str | PathLike[str] | None = None,
) -> dict[str, Any]:
    """Runs a study on this machine. Returns its result."""
    with tempfile.TemporaryDirectory(prefix="cambio-") as folder:
        task = _cambio._Study(study, study_options(study, options, Path(folder)), list(bots.items()))
        found: dict[str, Any] = json.loads(task.run(whole("threads", threads), None, progress, None if out is None else Path(out)))
    return found


def sprt(
    agent: AnyAgent,
    other: AnyAgent,
    *,
    names: Sequence[str] | None = None,
    threads: SupportsIndex = 0,
    progress: Progress | None = None,
    **options: Unpack[SprtOptions],
) -> SprtResult:
    """Runs a sequential test: is an agent better than another by `elo0` (H0) or by `elo1` (H1)? It plays until one is accepted.

    The agents are specs, `Agent` objects or factories of Python agents, as in `evaluate`. `alpha` is the probability of accepting H1 if
    H0 is true, `beta` that of accepting H0 if H1 is true. `rounds` plays single rounds.
    The test ends without a decision after `deals` deals. The result does not depend on `threads`; 0 is one for each core.

        >>> cambio.sprt("greedy", "random", elo1=50).verdict
        'second'

    `progress` receives messages. Ctrl-C stops the test. Raises `CambioError` for invalid arguments, and `AgentFault` if an agent
    fails. `cambio_game.ray.sprt` runs the same test on many machines.
    """
    (one, two), bots = named([agent, other], names)
    return SprtResult.of(_run("sprt", {"agent": one, "other": two, **options}, bots, threads, progress))


def tune(
    agent: str,
    ranges: str | Sequence[str],
    *,
    field: AnyAgent | Sequence[AnyAgent] | None = None,
    agents: Mapping[str, AnyAgent] | None = None,
    out: str | PathLike[str] | None = None,
    threads: SupportsIndex = 0,
    progress: Progress | None = None,
    **options: Unpack[TuneOptions],
) -> TuneResult:
    """Finds the best value of an agent's parameter.

    `agent` has a question mark for each value to tune; `ranges` has a range for each, such as "0..15", "10,30,100" or "1..1000 log".
    All values play the same deals against `field`: one agent for all other seats, or one for each; by
    default, the agent with its default values. With `mixture`, each agent of `field` fills all other seats in turn.

        >>> cambio.tune("greedy(call_at=?)", "3..9", deals=200, validate=0).best
        '5'

    `method` is "sweep" (`deals` deals for each value), "race" (drops the worse half of the values again and again; `deals` deal
    blocks in all) or "cma" (`deals` deals in each of at most `generations` generations). The winner and the `incumbent`, by default
    the agent with its default values, then play `validate` fresh deals. The folder `out` keeps the scores and gets the files of `cambio tune --out`; the same call continues an interrupted tuning. `agents` are
    Python agents by name, as in `run`; specs can set the parameters of their constructors.

    `progress` receives messages. Ctrl-C stops the tuning. Warns if the best value is at an end of its range, or if the field is far
    weaker than the candidates. Raises `CambioError` for invalid arguments, and `AgentFault` if an agent fails.
    `cambio_game.ray.tune` does the same on many machines.
    """
    bots = dict(factories(agents))
    against: list[str] = []
    if field is not None:
        is_many = isinstance(field, Sequence) and not isinstance(field, str)
        against, found = named(list(field) if is_many else [field])  # type: ignore[list-item, arg-type]
        bots |= found
    values = [ranges] if isinstance(ranges, str) else list(ranges)
    return TuneResult.of(_run("tune", {"agent": agent, "range": values, "field": against, **options}, bots, threads, progress, out))


def advantage(
    agent: AnyAgent,
    over: str = "learned",
    *,
    threads: SupportsIndex = 0,
    progress: Progress | None = None,
    **options: Unpack[AdvantageOptions],
) -> AdvantageResult:
    """The value of an agent's decisions, compared with a policy that also plays all other seats.

    `over` is "learned" or a heuristic such as "sharp". Each deal is one round, and is played with the agent in each seat. Where agent and
    policy decide differently, `playouts` playouts follow each of the two decisions; the difference of their win shares is the advantage
    of the decision.

        >>> cambio.advantage("greedy", "sharp", deals=50, playouts=20).decisions[0] < 0
        True

    `progress` receives messages. Ctrl-C stops the measurement. Raises `CambioError` for invalid arguments, and `AgentFault` if the agent
    fails.
    """
    (spec,), bots = named([agent])
    found = _run("advantage", {"agent": spec, "over": over, **options}, bots, threads, progress)

    def interval(of: Mapping[str, Any]) -> Interval:
        return of["mean"], of["half_width"]

    kinds = tuple(
        DecisionKind(kind["decision"], kind["times_per_round"], kind["differs_per_round"], interval(kind["advantage"]))
        for kind in found["asked"]
    )
    return AdvantageResult(interval(found["results"]), interval(found["decisions"]), kinds)


def exploit(
    agent: AnyAgent, *, threads: SupportsIndex = 0, progress: Progress | None = None, **options: Unpack[ExploitOptions]
) -> ExploitResult:
    """A lower bound on the exploitability of an agent in single rounds at two seats: the gain of a responder that knows the agent.

    The responder searches with `iterations` playouts for each decision, in `candidates` possible deals, and queries the agent `repeats` times
    at each past decision. `noise` is the share of the agent's decisions that it assumes to be random. Outside its tree, and unless a decision is
    better by `min_errors` standard errors, it plays like the agent `blueprint`. Each deal is played in both seats.

        >>> cambio.exploit("random", rules="mini-m1", deals=40, iterations=50, candidates=10).lower_limit > 0
        True

    `progress` receives messages. Ctrl-C stops the measurement. Raises `CambioError` for invalid arguments, and `AgentFault` if the agent
    fails. `exploitability` is exact, for small games.
    """
    (spec,), bots = named([agent])
    found = _run("exploit", {"agent": spec, **options}, bots, threads, progress)
    one, other = found["by_seat"]
    return ExploitResult((found["gain"], found["half_width"]), found["lower_limit"], (one, other), found["deals"])


def bench(
    agent: AnyAgent,
    out: str | PathLike[str],
    *,
    time_class: Literal["1ms", "10ms", "100ms"] = "1ms",
    quick: bool = False,
    parts: Sequence[str] = (),
    resume: bool = False,
    threads: SupportsIndex = 0,
    progress: Progress | None = None,
) -> dict[str, Any]:
    """Measures an agent by the frozen benchmark, like `cambio bench`. Returns the content of `result.json` in the folder `out`.

    `parts` are some of "duel", "table", "match", "transfer", "exact" and "robust"; by default, all. `quick` plays a hundredth of the deals.
    With `resume`, an interrupted benchmark in `out` continues. `progress` receives messages. Raises `CambioError` for invalid arguments and
    after an interruption.
    """
    (spec,), bots = named([agent])
    words = [one_of("parts", part, ("duel", "table", "match", "transfer", "exact", "robust")) for part in parts]
    is_quick, is_resumed = flag("quick", quick), flag("resume", resume)
    text = _cambio._bench(
        spec, Path(out), time_class, is_quick, words, is_resumed, list(bots.items()), whole("threads", threads), progress
    )
    result: dict[str, Any] = json.loads(text)
    return result
