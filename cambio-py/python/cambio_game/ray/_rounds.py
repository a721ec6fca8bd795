"""Sequential tests and tuning on a cluster: after each round of deals, the results determine the next round.

The results are read in the order of the deals, so the outcome is the same as on one machine.
"""

from __future__ import annotations

import json
import time
from collections import Counter
from collections.abc import Iterable, Mapping
from functools import partial
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cambio_game import _cambio
from cambio_game._cambio import AgentFault
from cambio_game.measure import SprtOptions, SprtResult, TuneOptions, TuneResult, study_options

from ._drive import DEATHS, TICK, Batches, Factories, _connect, _Pool, _pool, _say, ray

if TYPE_CHECKING:
    from typing_extensions import Unpack

#: The target duration of a piece of the deals, in seconds.
PIECE = 1.0


def _study(study: str, options: str, agents: list[tuple[str, Any]]) -> _cambio._Study:
    return _cambio._Study(study, options, agents)


def _spread(pool: _Pool, ask: Any, pieces: Iterable[Batches]) -> dict[Batches, Any]:
    """Distributes pieces of the deals over the workers with `ask(worker, piece)`. If a worker exits, another plays its piece."""
    waiting = list(pieces)
    jobs: dict[Any, tuple[Any, Batches]] = {}
    found: dict[Batches, Any] = {}
    deaths: Counter[Batches] = Counter()
    while waiting or jobs:
        pool.grow()
        while waiting and pool.idle:
            worker, piece = pool.idle.pop(0), waiting.pop(0)
            jobs[ask(worker, piece)] = (worker, piece)
        ready, _ = ray.wait([*jobs, *pool.starting], num_returns=1, timeout=TICK)
        for news in ready:
            if news not in jobs:
                continue
            worker, piece = jobs.pop(news)
            try:
                found[piece] = ray.get(news)
            except ray.exceptions.RayActorError:
                waiting.insert(0, piece)
                deaths[piece] += pool.lose(worker)
                if deaths[piece] >= DEATHS:
                    raise AgentFault(
                        f"deals {piece[0]} to {piece[1] - 1} have ended the process that plays them {DEATHS} times; "
                        "one of their agents aborts or runs out of memory"
                    ) from None
                continue
            except ray.exceptions.RayTaskError as error:
                raise getattr(error, "cause", error) from None
            pool.idle.append(worker)
    return found


def _cut(first: int, behind: int, size: int) -> list[Batches]:
    return [(start, min(start + size, behind)) for start in range(first, behind, size)]


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
    task = _study(study, text, list(factories.items()))
    _connect(address)
    pool = _pool("", factories, {}, workers, 0.0)
    cost = 0.0  # the seconds of one deal

    def play(request: str, first: int, behind: int) -> list[str]:
        nonlocal cost
        each = max(1, round(PIECE / cost)) if cost else 8
        behind = min(behind, first + each * pool.wanted())

        def ask(worker: Any, piece: Batches) -> Any:
            return worker.ask.remote(partial(_study, study, text), "scores", request, *piece)

        begun = time.monotonic()
        parts = _spread(pool, ask, _cut(first, behind, -(-(behind - first) // pool.wanted())))
        cost = (time.monotonic() - begun) * max(1, len(pool.nodes)) / (behind - first)
        return [parts[piece] for piece in sorted(parts)]

    try:
        found: dict[str, Any] = json.loads(task.run(1, play, None if quiet else _say, None if out is None else Path(out)))
    finally:
        pool.end()
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
    "0..15", "10,30,100" or "1..1000 log". With `field="self"`, every value plays against tables of every value. The folder `out` keeps
    the scores and gets the files of `cambio tune --out`. Warns if the best value is at an end of its range, or the field is far weaker
    than the candidates. Raises `CambioError` for invalid arguments, `AgentFault` and `RunError`.
    """
    values = [ranges] if isinstance(ranges, str) else ranges
    against = [field] if isinstance(field, str) else field or []
    given = {"agent": agent, "range": values, "field": against, **options}
    return TuneResult.of(_run("tune", given, out, address, agents, workers, quiet))
