"""Sequential tests, tuning, and the value of an agent's decisions."""

from __future__ import annotations

import json
import tempfile
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from os import PathLike, fspath
from pathlib import Path
from typing import Any, Literal, SupportsIndex, TypeAlias

from . import _cambio
from ._cambio import Rules, RunError
from ._checks import flag, number, one_of, whole
from .run import AnyAgent, factories, named, rules_name, seed_text

__all__ = ["AdvantageResult", "DecisionKind", "SprtResult", "TuneResult", "advantage", "sprt", "tune"]

#: A function that receives messages about the progress, about ten times a second.
Progress: TypeAlias = Callable[[str], object]
#: A mean, and half the width of its 95 % interval: the distance of the farther end. It is `None` with fewer than two deals, and if all
#: deals agree on a value without bounds.
Interval: TypeAlias = tuple[float, float | None]
Verdict: TypeAlias = Literal["first", "second", "undecided"]
Payoff: TypeAlias = Literal["rank_points", "win", "points", "margin"]
Method: TypeAlias = Literal["sweep", "race", "halving", "cma"]
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


@dataclass(frozen=True)
class TuneResult:
    """The result of tuning, the same as of `cambio tune` with the same options.

    - `best`: the best value of each question mark, separated by spaces; `None` if the candidates played against themselves.
    - `curve`: the points of the curve, one per value: the rows of `curve.csv`, with the value of each parameter as a number.
    - `result`: the contents of `tuning.json`, such as the comparison with the incumbent on fresh deals (`validation`).
    """

    best: str | None
    curve: list[dict[str, Any]]
    result: dict[str, Any]

    @staticmethod
    def of(points: str, result: str, doubts: Sequence[str], stacklevel: int = 3) -> TuneResult:
        """Reads the texts of the compiled module, and shows its warnings."""
        for doubt in doubts:
            warnings.warn(doubt, stacklevel=stacklevel)
        found = json.loads(result)
        return TuneResult(found.get("best_value"), json.loads(points), found)


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


def _table(rules: Rules | str, folder: str, seats: SupportsIndex, rounds: bool, seed: SupportsIndex | str, luck: Luck) -> Any:
    """The table of a test, as the compiled module takes it."""
    one_of("luck", luck, ("auto", "on", "off"))
    return rules_name(rules, Path(folder)), whole("seats", seats, 2, 8), flag("rounds", rounds), seed_text(seed), luck


def sprt(
    agent: AnyAgent,
    other: AnyAgent,
    *,
    rules: Rules | str = "classic",
    seats: SupportsIndex = 2,
    rounds: bool = False,
    seed: SupportsIndex | str = "sprt",
    elo0: float = 0.0,
    elo1: float = 10.0,
    normalized: bool = False,
    alpha: float = 0.05,
    beta: float = 0.05,
    deals: SupportsIndex = 100_000,
    luck: Luck = "auto",
    names: Sequence[str] | None = None,
    threads: SupportsIndex = 0,
    progress: Progress | None = None,
) -> SprtResult:
    """Runs a sequential test: is an agent better than another by `elo0` (H0) or by `elo1` (H1)? It plays until one is accepted.

    The agents are specs, `Agent` objects or factories of Python agents, as in `evaluate`. `alpha` is the probability of accepting H1 if
    H0 is true, `beta` that of accepting H0 if H1 is true. With `normalized`, the hypotheses are in normalized Elo. `rounds` plays single
    rounds. The test ends without a decision after `deals` deals. The result does not depend on `threads`; 0 is one for each core.

        >>> cambio.sprt("greedy", "random", elo1=50).verdict
        'second'

    `progress` receives messages. Ctrl-C stops the test. Raises `CambioError` for invalid arguments, and `AgentFault` if an agent
    fails. `cambio_game.ray.sprt` runs the same test on many machines.
    """
    specs, bots = named([agent, other], names)
    elo, errors = (number("elo0", elo0), number("elo1", elo1)), (number("alpha", alpha), number("beta", beta))
    with tempfile.TemporaryDirectory(prefix="cambio-") as folder:
        table = _table(rules, folder, seats, rounds, seed, luck)
        made: Any = _cambio._Sprt
        test: _cambio._Sprt = made(
            specs, table, elo, flag("normalized", normalized), errors, whole("deals", deals), list(bots.items())
        )
        return SprtResult(**test.ask(whole("threads", threads), progress))


def tune(
    agent: str,
    ranges: str | Sequence[str],
    *,
    field: AnyAgent | Sequence[AnyAgent] | None = None,
    mixture: bool = False,
    rules: Rules | str = "classic",
    seats: SupportsIndex = 2,
    rounds: bool = False,
    seed: SupportsIndex | str = "tune",
    payoff: Payoff = "rank_points",
    luck: Luck = "auto",
    method: Method = "sweep",
    deals: SupportsIndex = 1000,
    generations: SupportsIndex = 30,
    indifference: float = 0.01,
    alpha: float = 0.05,
    first: SupportsIndex = 100,
    validate: SupportsIndex = 1000,
    incumbent: str | None = None,
    agents: Mapping[str, AnyAgent] | None = None,
    out: str | PathLike[str] | None = None,
    threads: SupportsIndex = 0,
    progress: Progress | None = None,
) -> TuneResult:
    """Finds the best value of an agent's parameter.

    `agent` has a question mark for each value to tune; `ranges` has a range for each, such as "0..15", "10,30,100" or "1..1000 log".
    All values play the same deals against `field`: one agent for all other seats, one for each, or "self" for the candidates
    themselves; by default, the agent with its default values. With `mixture`, each agent of `field` fills all other seats in turn.

        >>> cambio.tune("greedy(call_at=?)", "3..9", deals=200, validate=0).best
        '5'

    `method` is "sweep" (`deals` deals for each value), "race" (drops values that are behind; `indifference`, `alpha`, `first`), "halving"
    (`deals` deal blocks in all) or "cma" (`deals` deals in each of at most `generations` generations). The winner and the `incumbent`, by default
    the agent with its default values, then play `validate` fresh deals. The folder `out` gets the files of `cambio tune --out`. `agents` are
    Python agents by name, as in `run`; specs can set the parameters of their constructors.

    `progress` receives messages. Ctrl-C stops the tuning. Warns if the best value is at an end of its range, or if the field is far
    weaker than the candidates. Raises `CambioError` for invalid arguments, and `AgentFault` if an agent fails.
    `cambio_game.ray.tune` does the same on many machines.
    """
    given = [ranges] if isinstance(ranges, str) else list(ranges)
    if out is not None and Path(out).exists():
        raise RunError(f"`out` must not exist, found {fspath(out)}; choose another folder")
    against: list[str] | None = None
    bots = dict(factories(agents))
    if field is not None:
        is_many = isinstance(field, Sequence) and not isinstance(field, str)
        against, found = named(list(field) if is_many else [field])  # type: ignore[list-item, arg-type]
        bots |= found
    with tempfile.TemporaryDirectory(prefix="cambio-") as folder:
        table = _table(rules, folder, seats, rounds, seed, luck)
        margins = number("indifference", indifference), number("alpha", alpha)
        search = (method, whole("deals", deals), whole("generations", generations), *margins, whole("first", first))
        made: Any = _cambio._Tune
        task: _cambio._Tune = made(
            agent,
            given,
            against,
            table,
            payoff,
            flag("mixture", mixture),
            search,
            whole("validate", validate),
            incumbent,
            "cambio_game.tune",
            list(bots.items()),
        )
        tuned = task.tune(whole("threads", threads), progress, None if out is None else Path(out))
    return TuneResult.of(*tuned)


def advantage(
    agent: AnyAgent,
    over: str = "learned",
    *,
    rules: Rules | str = "classic",
    seats: SupportsIndex = 2,
    deals: SupportsIndex = 1000,
    playouts: SupportsIndex = 200,
    seed: SupportsIndex | str = "advantage",
    threads: SupportsIndex = 0,
    progress: Progress | None = None,
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
    chosen = rules if isinstance(rules, Rules) else Rules(rules)
    found = _cambio._advantage(
        spec, over, chosen, seats, deals, playouts, seed, whole("threads", threads), list(bots.items()), progress
    )
    kinds = tuple(DecisionKind(*kind) for kind in found["kinds"])
    return AdvantageResult(found["results"], found["decisions"], kinds)
