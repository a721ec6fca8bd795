"""Sequential tests and tuning on a cluster: after each round of deals, the results determine the next round.

The results are read in the order of the deals, so the outcome is the same as on one machine.
"""

from __future__ import annotations

import shlex
import sys
import time
from collections.abc import Iterable
from functools import partial
from itertools import chain
from os import PathLike, fspath
from pathlib import Path
from typing import Any

from cambio_game import _cambio
from cambio_game._cambio import RunError
from cambio_game.measure import SprtResult, TuneResult

from ._drive import Cluster, Factories, _agents

Batches = tuple[int, int]

#: The target duration of a piece of the deals, in seconds.
PIECE = 1.0


def _sprt(test: tuple[Any, ...], agents: list[tuple[str, Any]]) -> _cambio._Sprt:
    made: Any = _cambio._Sprt
    reader: _cambio._Sprt = made(*test, agents)
    return reader


def _tune(task: tuple[Any, ...], agents: list[tuple[str, Any]]) -> _cambio._Tune:
    made: Any = _cambio._Tune
    tuning: _cambio._Tune = made(*task, agents)
    return tuning


def _ask(key: str, made: Any, method: str, *arguments: Any) -> Any:
    return getattr(made(list(_agents[key].items())), method)(*arguments)


def _spread(cluster: Cluster, made: Any, pieces: Iterable[Batches], *arguments: Any) -> dict[Batches, Any]:
    """Calls `scores(*arguments, first, behind)` of a study for each piece of the deals, on the workers."""

    def start(piece: Batches) -> Any:
        return cluster.start(_ask, made, "scores", *arguments, *piece)

    def what(piece: Batches) -> str:
        return f"deals {piece[0]} to {piece[1] - 1}"

    return {piece: found for piece, _, found in cluster.in_order(start, pieces, what)}


def _cut(first: int, behind: int, size: int) -> list[Batches]:
    return [(start, min(start + size, behind)) for start in range(first, behind, size)]


def sprt(
    agent: str,
    other: str,
    *,
    rules: str = "classic",
    seats: int = 2,
    rounds: bool = False,
    seed: int | str = "sprt",
    elo0: float = 0.0,
    elo1: float = 10.0,
    normalized: bool = False,
    alpha: float = 0.05,
    beta: float = 0.05,
    deals: int = 100_000,
    luck: str = "auto",
    address: str | None = None,
    agents: Factories | None = None,
    workers: int | None = None,
    quiet: bool = True,
) -> SprtResult:
    """Runs a sequential test of two agents on a Ray cluster, with the same result as `cambio sprt`.

    Deals are played in rounds of growing size. They are read in order, so the result depends neither on the cluster nor on the
    rounds.
    """
    factories = dict(agents or {})
    test = ([agent, other], (rules, seats, rounds, str(seed), luck), (elo0, elo1), normalized, (alpha, beta), deals)
    reader = _sprt(test, list(factories.items()))
    cluster = Cluster(address, factories, workers)
    scores: list[tuple[int, int | None]] = []
    step, size = 0, 8
    while True:
        found = reader.answer(scores)
        if found["verdict"] != "undecided" or step >= deals:
            return SprtResult(**found)
        # One round: one piece per worker.
        begun, behind = time.monotonic(), min(step + size * cluster.cores(), deals)
        parts = _spread(cluster, partial(_sprt, test), _cut(step, behind, size))
        for piece in sorted(parts):
            scores += parts[piece]
        step = behind
        if time.monotonic() - begun < 2.0:
            size *= 2
        if not quiet:
            _say(f"{step} deals, log likelihood ratio {reader.answer(scores)['ratio']:+.2f}")


def tune(
    agent: str,
    ranges: str | list[str],
    *,
    field: str | list[str] | None = None,
    mixture: bool = False,
    rules: str = "classic",
    seats: int = 2,
    rounds: bool = False,
    seed: int | str = "tune",
    payoff: str = "rank_points",
    luck: str = "auto",
    method: str = "sweep",
    deals: int = 1000,
    generations: int = 30,
    indifference: float = 0.01,
    alpha: float = 0.05,
    first: int = 100,
    validate: int = 1000,
    incumbent: str | None = None,
    out: str | PathLike[str] | None = None,
    address: str | None = None,
    agents: Factories | None = None,
    workers: int | None = None,
    quiet: bool = True,
) -> TuneResult:
    """Finds the best value of an agent's parameter on a Ray cluster, with the same result as `cambio tune`.

    `agent` has a question mark for each value to tune, such as "greedy(call_at=?)"; `ranges` has a range for each, such as
    "0..15", "10,30,100" or "1..1000 log". `method` is "sweep", "race", "halving" or "cma". With `field="self"`, every value plays
    against tables of every value. With `mixture=True`, each agent of `field` fills all other seats in turn. The folder `out` gets the same files as from `cambio tune --out`; only the stored command
    differs. Warns if the best value is at an end of its range, or the field is far weaker than the candidates. Raises
    `CambioError` for invalid arguments, `AgentFault` and `RunError`.
    """
    given, against = [ranges] if isinstance(ranges, str) else list(ranges), [field] if isinstance(field, str) else field
    if out is not None and Path(out).exists():
        raise RunError(f"`out` must not exist, found {fspath(out)}; choose another folder")
    factories = dict(agents or {})
    words = ["python", "-m", "cambio_game.ray", "tune", agent, *given, "--rules", rules, "--seats", str(seats), "--seed", str(seed)]
    words += [word for other in against or [] for word in ("--field", other)] + [
        "--method",
        method,
        "--deals",
        str(deals),
        "--luck",
        luck,
    ]
    task = (
        agent,
        given,
        against,
        (rules, seats, rounds, str(seed), luck),
        payoff,
        mixture,
        (method, deals, generations, indifference, alpha, first),
        validate,
        incumbent,
        shlex.join(words),
    )
    tuning = _tune(task, list(factories.items()))
    cluster = Cluster(address, factories, workers)
    cost = 0.0  # the seconds of one candidate on one deal

    def play(specs: list[str], field: list[str], which: list[int], first: int, behind: int) -> list[list[float]]:
        nonlocal cost
        each = max(1, round(PIECE / cost / len(which))) if cost else max(1, 64 // len(which))
        each = min(each, -(-(behind - first) // cluster.cores()))
        begun = time.monotonic()
        parts = _spread(cluster, partial(_tune, task), _cut(first, behind, each), specs, field, which)
        cost = (time.monotonic() - begun) * cluster.cores() / (len(which) * (behind - first))
        return [[*chain.from_iterable(parts[piece][place] for piece in sorted(parts))] for place in range(len(which))]

    points, result, doubts = tuning.run(play, _quiet if quiet else _say, None if out is None else Path(out))
    return TuneResult.of(points, result, doubts)


def _quiet(_: str) -> None:
    pass


def _say(line: str) -> None:
    print(line, file=sys.stderr, flush=True)
