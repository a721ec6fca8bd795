"""Sequential tests and tuning on a cluster: after each round of deals, the results determine the next round.

The results are read in the order of the deals, so the outcome is the same as on one machine.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Mapping
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cambio_game import _cambio
from cambio_game.measure import SprtOptions, SprtResult, TuneOptions, TuneResult, study_options

from ._drive import Cluster, Factories, _agents

if TYPE_CHECKING:
    from typing_extensions import Unpack

Batches = tuple[int, int]

#: The target duration of a piece of the deals, in seconds.
PIECE = 1.0


def _scores(key: str, study: str, options: str, request: str, first: int, behind: int) -> str:
    """Plays these deals of a study in a worker process."""
    return _cambio._Study(study, options, list(_agents[key].items())).scores(request, first, behind)


def _cut(first: int, behind: int, size: int) -> list[Batches]:
    return [(start, min(start + size, behind)) for start in range(first, behind, size)]


def _say(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


def _run(
    study: str,
    options: Mapping[str, Any],
    out: str | PathLike[str] | None,
    address: str | None,
    agents: Factories | None,
    workers: int | None,
    quiet: bool,
) -> dict[str, Any]:
    """Runs a study on a cluster. In each round of deals, a worker plays a piece of about one second."""
    factories = dict(agents or {})
    # The workers read a rule file by its path, so every machine must be able to read it.
    text = study_options(study, options, Path())
    task = _cambio._Study(study, text, list(factories.items()))
    cluster = Cluster(address, factories, workers)
    cost = 0.0  # the seconds of one deal

    def play(request: str, first: int, behind: int) -> list[str]:
        nonlocal cost
        each, cores = max(1, round(PIECE / cost)) if cost else 8, cluster.cores()
        behind = min(behind, first + each * cores)

        def start(piece: Batches) -> Any:
            return cluster.start(_scores, study, text, request, *piece)

        def what(piece: Batches) -> str:
            return f"deals {piece[0]} to {piece[1] - 1}"

        begun = time.monotonic()
        found = [scores for _, _, scores in cluster.in_order(start, _cut(first, behind, -(-(behind - first) // cores)), what)]
        cost = (time.monotonic() - begun) * cores / (behind - first)
        return found

    found: dict[str, Any] = json.loads(task.run(1, play, None if quiet else _say, None if out is None else Path(out)))
    return found


def sprt(
    agent: str,
    other: str,
    *,
    out: str | PathLike[str] | None = None,
    address: str | None = None,
    agents: Factories | None = None,
    workers: int | None = None,
    quiet: bool = True,
    **options: Unpack[SprtOptions],
) -> SprtResult:
    """Runs a sequential test of two agents on a Ray cluster, with the same result as `cambio sprt`, whose options it takes.

    Deals are played in rounds. They are read in order, so the result depends neither on the cluster nor on the rounds.
    """
    return SprtResult.of(_run("sprt", {"agent": agent, "other": other, **options}, out, address, agents, workers, quiet))


def tune(
    agent: str,
    ranges: str | list[str],
    *,
    field: str | list[str] | None = None,
    out: str | PathLike[str] | None = None,
    address: str | None = None,
    agents: Factories | None = None,
    workers: int | None = None,
    quiet: bool = True,
    **options: Unpack[TuneOptions],
) -> TuneResult:
    """Finds the best value of an agent's parameter on a Ray cluster, with the same result as `cambio tune`, whose options it takes.

    `agent` has a question mark for each value to tune, such as "greedy(call_at=?)"; `ranges` has a range for each, such as
    "0..15", "10,30,100" or "1..1000 log". The folder `out` keeps the scores and gets the files of `cambio tune --out`. Warns if the
    best value is at an end of its range, or the field is far weaker than the candidates. Raises `CambioError` for invalid arguments, `AgentFault` and `RunError`.
    """
    values = [ranges] if isinstance(ranges, str) else ranges
    against = [field] if isinstance(field, str) else field or []
    given = {"agent": agent, "range": values, "field": against, **options}
    return TuneResult.of(_run("tune", given, out, address, agents, workers, quiet))
