"""Sequential tests and tuning on a cluster: after each round of deals, the results determine the next round.

The results are read in the order of the deals, so the outcome is the same as on one machine.
"""

from __future__ import annotations

import shlex
import time
from collections import Counter
from collections.abc import Iterable
from functools import partial
from itertools import chain
from os import PathLike, fspath
from pathlib import Path
from typing import Any

from cambio_game import _cambio
from cambio_game._cambio import AgentFault, RunError
from cambio_game.measure import SprtResult, TuneResult

from ._drive import DEATHS, TICK, Batches, Factories, _connect, _Pool, _pool, _say, ray

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
    _connect(address)
    pool = _pool("", factories, {}, workers, 0.0)
    scores: list[tuple[int, int | None]] = []
    step, size = 0, 8
    try:
        while True:
            found = reader.answer(scores)
            if found["verdict"] != "undecided" or step >= deals:
                return SprtResult(**found)
            # One round: one piece per worker.
            begun, behind = time.monotonic(), min(step + size * pool.wanted(), deals)
            parts = _spread(
                pool, lambda worker, piece: worker.ask.remote(partial(_sprt, test), "scores", *piece), _cut(step, behind, size)
            )
            for piece in sorted(parts):
                scores += parts[piece]
            step = behind
            if time.monotonic() - begun < 2.0:
                size *= 2
            if not quiet:
                _say(f"{step} deals, log likelihood ratio {reader.answer(scores)['ratio']:+.2f}")
    finally:
        pool.end()


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
    _connect(address)
    pool = _pool("", factories, {}, workers, 0.0)
    cost = 0.0  # the seconds of one candidate on one deal

    def play(specs: list[str], field: list[str], which: list[int], first: int, behind: int) -> list[list[float]]:
        nonlocal cost
        each = max(1, round(PIECE / cost / len(which))) if cost else max(1, 64 // len(which))
        each = min(each, -(-(behind - first) // pool.wanted()))

        def ask(worker: Any, piece: Batches) -> Any:
            return worker.ask.remote(partial(_tune, task), "scores", specs, field, which, *piece)

        begun = time.monotonic()
        parts = _spread(pool, ask, _cut(first, behind, each))
        cost = (time.monotonic() - begun) * max(1, len(pool.nodes)) / (len(which) * (behind - first))
        return [[*chain.from_iterable(parts[piece][place] for piece in sorted(parts))] for place in range(len(which))]

    try:
        points, result, doubts = tuning.run(play, _quiet if quiet else _say, None if out is None else Path(out))
    finally:
        pool.end()
    return TuneResult.of(points, result, doubts)


def _quiet(_: str) -> None:
    pass
