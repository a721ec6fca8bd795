"""The driver: distributes units to workers, records their costs, and replays the units of lost workers."""

from __future__ import annotations

import hashlib
import shlex
import sys
import time
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from os import PathLike
from pathlib import Path
from typing import Any

import ray as _ray

from cambio_game import _cambio
from cambio_game._cambio import AgentFault, RunError
from cambio_game.run import Player, Run

# Ray's own type annotations differ between its versions.
ray: Any = _ray

Factories = Mapping[str, Callable[[], Player]]
Batches = tuple[int, int]

#: The run stops when workers have exited this often on a batch. After the first exit, batches are played one at a time.
DEATHS = 3
#: The share of units that another worker replays, to compare the bytes.
CHECKED = 0.01
#: A unit is also played on another worker after `LATE` times its expected seconds, but not before `LATE_SECONDS`.
LATE, LATE_SECONDS = 3.0, 5.0
#: The time for which the driver waits for results, in seconds.
TICK = 0.2


class _Worker:
    """A worker process on one of the machines. It has its own Python agents, with their models."""

    def __init__(self, store: str, agents: list[tuple[str, Callable[[], Player]]], files: Mapping[str, bytes]) -> None:
        self.store, self.agents = store, agents
        for name, content in files.items():
            path = Path(name)
            if not path.exists() or path.read_bytes() != content:
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(content)

    def node(self) -> str:
        return str(ray.get_runtime_context().get_node_id())

    def play(self, first: int, last: int) -> tuple[str, int, list[Any], float]:
        begun = time.monotonic()
        digest, matches, costs = _cambio._units_play(self.store, first, last, self.agents, 1)
        return digest, matches, costs, time.monotonic() - begun

    def check(self, unit: tuple[int, int, str]) -> bool:
        return _cambio._units_check(self.store, unit, self.agents, 1)

    def ask(self, made: Callable[[list[tuple[str, Any]]], Any], method: str, *arguments: Any) -> Any:
        return getattr(made(self.agents), method)(*arguments)


@dataclass
class _Job:
    """A task of a worker."""

    worker: Any
    batches: Batches
    begun: float
    #: The unit to compare, if this is a check.
    check: tuple[int, int, str] | None = None
    is_copy: bool = False


@dataclass
class _Pool:
    """The workers, one per available core of the cluster."""

    make: Callable[[], Any]
    most: int | None
    nodes: dict[Any, str] = field(default_factory=dict)
    starting: dict[Any, Any] = field(default_factory=dict)
    idle: list[Any] = field(default_factory=list)

    def size(self) -> int:
        return len(self.nodes) + len(self.starting)

    def wanted(self) -> int:
        cores = int(ray.cluster_resources().get("CPU", 1))
        return max(1, min(cores, self.most or cores))

    def grow(self) -> None:
        while self.size() < self.wanted():
            worker = self.make()
            self.starting[worker.node.remote()] = worker
        ready, _ = ray.wait(list(self.starting), num_returns=len(self.starting), timeout=0) if self.starting else ([], [])
        for news in ready:
            worker = self.starting.pop(news)
            try:
                self.nodes[worker] = ray.get(news)
            except ray.exceptions.RayActorError:
                continue
            self.idle.append(worker)

    def lose(self, worker: Any) -> bool:
        """Removes a worker that exited. Returns whether its machine is still alive."""
        node = self.nodes.pop(worker, None)
        ray.kill(worker)
        return any(found["NodeID"] == node and found["Alive"] for found in ray.nodes())

    def end(self) -> None:
        for worker in [*self.nodes, *self.starting.values()]:
            ray.kill(worker)


def _connect(address: str | None) -> None:
    if not ray.is_initialized():
        ray.init(address=address, log_to_driver=False, logging_level="error", include_dashboard=None)


def _pool(store: str, agents: Factories, files: Mapping[str, bytes], workers: int | None, gpus: float) -> _Pool:
    kind = ray.remote(num_cpus=1, num_gpus=gpus, max_restarts=0)(_Worker)
    for factory in agents.values():
        # The user's own modules need not be installed on the other machines, because they are sent with the agent.
        module = sys.modules.get(getattr(factory, "__module__", ""))
        own = module is not None and "site-packages" not in str(getattr(module, "__file__", ""))
        if own and module is not None and module.__name__ not in ("__main__", "builtins"):
            ray.cloudpickle.register_pickle_by_value(module)
    given, shipped = ray.put(list(agents.items())), ray.put(dict(files))
    return _Pool(lambda: kind.options(name=None).remote(store, given, shipped), workers)


def _files_of(spec: Path) -> dict[str, bytes]:
    """The files in the commands of an experiment's bots, by the path in the command."""
    try:
        import tomllib
    except ModuleNotFoundError:  # Python 3.10
        return {}
    agents = tomllib.loads(spec.read_text(encoding="utf-8")).get("agents", [])
    found = {}
    for agent in agents:
        if isinstance(agent, str) and agent.startswith("external("):
            for word in shlex.split(agent[len("external(") :].strip(")").replace('"', " ").replace("'", " ")):
                if not Path(word).is_absolute() and Path(word).is_file():
                    found[word] = Path(word).read_bytes()
    return found


def _is_chosen(unit: tuple[int, int, str], share: float) -> bool:
    """Whether to replay a unit. The choice depends only on the unit's hash, so every driver makes the same one."""
    return int(hashlib.sha256(unit[2].encode()).hexdigest()[:8], 16) < share * 2**32


class _Drive:
    def __init__(self, store: str, pool: _Pool, checked: float, show: Callable[[str], None] | None) -> None:
        self.store, self.pool, self.checked, self.show = store, pool, checked, show
        self.about = _cambio._units_about(store)
        self.queue = _cambio._Queue(store)
        self.jobs: dict[Any, _Job] = {}
        self.again: list[Batches] = []  # batches to play one at a time, because a worker exited while it played them
        self.checks: list[tuple[tuple[int, int, str], str]] = []
        self.deaths: Counter[Batches] = Counter()
        self.failures: Counter[Batches] = Counter()
        self.done: set[Batches] = set()
        self.begun, self.shown = time.monotonic(), 0.0
        self.units = self.matches = self.compared = self.lost = self.copies = 0
        self.waste = 0.0

    # Select the next unit.

    def _next(self) -> Batches | None:
        if self.again:
            return self.again.pop(0)
        return self.queue.take(max(1, self.pool.size()))

    def _late(self) -> _Job | None:
        now, late = time.monotonic(), []
        if not self.about["is_reproducible"]:
            return None
        for job in self.jobs.values():
            expected = self.queue.seconds(*job.batches) or 0.0
            copied = sum(other.batches == job.batches for other in self.jobs.values()) > 1
            if job.check is None and not copied and now - job.begun > max(LATE_SECONDS, LATE * expected):
                late.append(job)
        return min(late, key=lambda job: job.begun, default=None)

    def _start(self) -> None:
        for worker in list(self.pool.idle):
            now, node = time.monotonic(), self.pool.nodes.get(worker)
            if node is None:
                self.pool.idle.remove(worker)
                continue
            # Checks go first: a check takes as long as its unit, and all workers would wait for a check at the end.
            if (place := self._check_for(node)) is not None:
                unit, _ = self.checks.pop(place)
                call = worker.check.options(name=f"check {unit[0]} to {unit[1] - 1}")
                self.jobs[call.remote(unit)] = _Job(worker, unit[:2], now, check=unit)
            elif (batches := self._next()) is not None:
                call = worker.play.options(name=f"batches {batches[0]} to {batches[1] - 1}")
                job = _Job(worker, batches, now)
                self.jobs[call.remote(*batches)] = job
            elif (late := self._late()) is not None and self.pool.nodes.get(late.worker) != node:
                self.copies += 1
                call = worker.play.options(name=f"again {late.batches[0]} to {late.batches[1] - 1}")
                self.jobs[call.remote(*late.batches)] = _Job(worker, late.batches, now, is_copy=True)
            else:
                continue
            self.pool.idle.remove(worker)

    def _check_for(self, node: str) -> int | None:
        """The index of a check for a worker on `node`: of a unit from another machine, or of any unit if there is only one machine."""
        alone = len(set(self.pool.nodes.values())) == 1
        return next((place for place, (_, played) in enumerate(self.checks) if alone or played != node), None)

    # Process a result.

    def _take(self, news: Any) -> None:
        job = self.jobs.pop(news)
        try:
            found = ray.get(news)
        except ray.exceptions.RayActorError:
            self._lost(job)
            return
        except ray.exceptions.RayTaskError as error:
            self.pool.idle.append(job.worker)
            cause = error.cause if isinstance(getattr(error, "cause", None), Exception) else error
            if isinstance(cause, RunError) and "gave different bytes" not in str(cause) and job.check is None:
                self._failed(job, cause)
                return
            raise cause from None
        self.pool.idle.append(job.worker)
        if job.check is not None:
            self.compared += bool(found)
            return
        digest, matches, costs, _ = found
        if job.batches in self.done:
            self.waste += sum(cost[4] for cost in costs)
            return
        self.done.add(job.batches)
        self.queue.learn(costs)
        self.units, self.matches = self.units + 1, self.matches + matches
        unit = (*job.batches, digest)
        if _is_chosen(unit, self.checked) or (self.checked > 0 and self.units == 1):
            self.checks.append((unit, self.pool.nodes[job.worker]))

    def _put_back(self, job: _Job, one_at_a_time: bool) -> None:
        if job.check is not None:
            self.checks.append((job.check, ""))
        elif job.batches not in self.done and all(other.batches != job.batches for other in self.jobs.values()):
            first, last = job.batches
            if one_at_a_time:
                self.again += [(batch, batch + 1) for batch in range(first, last)]
            else:
                self.queue.put_back(first, last)

    def _lost(self, job: _Job) -> None:
        self.lost += 1
        is_there = self.pool.lose(job.worker)
        if is_there:
            self.deaths[job.batches] += 1
            if job.batches[1] - job.batches[0] == 1 and self.deaths[job.batches] >= DEATHS:
                deals = _cambio._units_deals(self.store, *job.batches)
                raise AgentFault(
                    f"the worker that played batch {job.batches[0]} ({deals}) exited {DEATHS} times; "
                    "one of its agents aborts or runs out of memory"
                )
        self._put_back(job, is_there)

    def _failed(self, job: _Job, error: Exception) -> None:
        """Another worker plays the unit, because this one cannot write, for example to a full disk."""
        self.failures[job.batches] += 1
        if self.failures[job.batches] >= DEATHS or self.pool.size() == 1:
            raise error from None
        self.pool.idle.remove(job.worker)
        self.pool.lose(job.worker)
        self._put_back(job, False)

    def _tell(self) -> None:
        if self.show is None or time.monotonic() - self.shown < 1.0:
            return
        self.shown = time.monotonic()
        left, workers = self.queue.seconds_left(), max(1, len(self.pool.nodes))
        for job in self.jobs.values():
            expected = self.queue.seconds(*job.batches) or 0.0
            left += max(0.0, expected - (time.monotonic() - job.begun)) if job.check is None else 0.0
        machines = len(set(self.pool.nodes.values()))
        self.show(
            f"{self.matches} matches in {self.units} units; {self.queue.batches_left()} of {self.about['batches']} batches left; "
            f"{workers} worker{'s' * (workers != 1)} on {machines} machine{'s' * (machines != 1)}; {left / workers:.0f} s left"
        )

    def play(self) -> None:
        """Plays all missing units of the store."""
        first = True
        while first or self.jobs or self.again or self.checks or self.queue.batches_left():
            first = False
            self.pool.grow()
            self._start()
            waiting = [*self.jobs, *self.pool.starting]
            ready, _ = ray.wait(waiting, num_returns=1, timeout=TICK) if waiting else ([], [])
            if ready:
                ready, _ = ray.wait(waiting, num_returns=len(waiting), timeout=0)
            for news in ready:
                if news in self.jobs:
                    self._take(news)
            self._tell()
            # The remaining jobs are copies of units that are in the store, so the driver does not wait for them.
            if not (self.again or self.checks or self.queue.batches_left()) and all(
                job.check is None and job.batches in self.done for job in self.jobs.values()
            ):
                return

    def summary(self) -> list[str]:
        """The cost of each lineup, as text."""
        cells = self.about["cells"]
        lines = []
        for cell, lineup, _, matches, seconds in _cambio._units_costs(self.store):
            rules, seats, labels = cells[cell]
            lines.append(f"{1000 * seconds / max(1, matches):10.3f} ms a match  {rules}, {seats} seats: {labels[lineup]}")
        return lines


def _say(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


def run(
    spec: str | PathLike[str] | None,
    out: str | PathLike[str],
    *,
    address: str | None = None,
    store: str | PathLike[str] | None = None,
    agents: Factories | None = None,
    workers: int | None = None,
    gpus: float = 0.0,
    checked: float = CHECKED,
    quiet: bool = False,
) -> Run:
    """Plays an experiment file on a Ray cluster into a run folder, with the same rows as `cambio run`.

    `store` has the finished units until the run is merged, by default `OUT.units`; every machine must be able to access it. If the
    store already exists, `spec` may be `None`. `address` is the address of a cluster, such as "auto"; by default, Ray starts on
    this machine. `agents` are factories of Python agents by name, as for `cambio_game.run`; each worker has its own agents. `gpus` is the share
    of a GPU per worker. The share `checked` of all units is replayed on another machine and compared. Raises `AgentFault` and `RunError`.
    """
    out = Path(out)
    if out.exists():
        raise RunError(f"`out` must not exist, found {out}; choose another folder")
    place = str(store) if store is not None else f"{out}.units"
    if "://" not in place:
        place = str(Path(place).resolve())
    factories = dict(agents or {})
    files = {}
    if spec is not None:
        _cambio._units_begin(Path(spec), place, list(factories.items()))
        files = _files_of(Path(spec))
    _connect(address)
    pool = _pool(place, factories, files, workers, gpus)
    drive = _Drive(place, pool, checked, None if quiet else _say)
    try:
        drive.play()
    finally:
        pool.end()
    run = Run(_cambio._units_merge(place, out), out)
    if not quiet:
        seconds = time.monotonic() - drive.begun
        _say(
            f"{drive.matches} matches in {drive.units} units and {seconds:.1f} s; {drive.compared} units compared, {drive.lost} workers lost"
        )
        for line in drive.summary():
            _say(line)
    return run
