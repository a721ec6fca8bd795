"""The driver: starts a Ray task for each batch, and commits the results in order.

Ray places the tasks, repeats those of lost workers and machines, and moves the results. The ledger of the run folder is the only state.
"""

from __future__ import annotations

import random
import sys
import time
import uuid
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import islice
from os import PathLike
from pathlib import Path
from typing import Any, TypeVar

import ray as _ray

from cambio_game._cambio import AgentFault, Plan, RunFolder
from cambio_game.run import Player, Run

# Ray's own type annotations differ between its versions.
ray: Any = _ray

Factories = Mapping[str, Callable[[], Player]]
Item = TypeVar("Item")

#: Ray plays a batch again if its worker exited, at most this often.
RETRIES = 3
#: The number of tasks per core that are waiting, running or not committed.
TASKS_PER_CORE = 8
#: The share of batches that are played again, on another machine if there is one, to compare the rows.
CHECKED = 0.01
#: The interval between two lines of progress, in seconds.
PROGRESS_INTERVAL = 1.0

#: The Python agents in this worker process, by the key of their driver. A model is loaded once for each process.
_agents: dict[str, dict[str, Any]] = {}


def _work(key: str, agents: list[Any], call: Callable[..., Any], arguments: tuple[Any, ...]) -> tuple[str, Any]:
    """The task. Returns the node that has worked, and the result of `call(key, *arguments)`."""
    if key not in _agents:
        _agents[key] = ray.get(agents[0])
    return ray.get_runtime_context().get_node_id(), call(key, *arguments)


#: The plan in this worker process.
_plans: dict[str, Plan] = {}


def _play(key: str, lock: list[Any], folder: str | None, batch: int) -> bytes:
    """Plays a batch of the plan with this lock, which is in Ray's object store."""
    if key not in _plans:
        _plans[key] = Plan.from_lock(ray.get(lock[0]), _agents[key], folder)
    return _plans[key].play_batch(batch)


class Cluster:
    """A Ray cluster, or Ray on this machine, whose tasks have these Python agents."""

    def __init__(self, address: str | None, agents: Factories, workers: int | None = None, gpus: float = 0.0) -> None:
        if not ray.is_initialized():
            cores = {} if workers is None else {"num_cpus": workers}
            ray.init(address=address, log_to_driver=False, logging_level="error", include_dashboard=None, **cores)
        for factory in agents.values():
            # The user's own modules need not be installed on the other machines, because they are sent with the agent.
            module = sys.modules.get(getattr(factory, "__module__", ""))
            own = module is not None and "site-packages" not in str(getattr(module, "__file__", ""))
            if own and module is not None and module.__name__ not in ("__main__", "builtins"):
                ray.cloudpickle.register_pickle_by_value(module)
        self.key, self.agents = uuid.uuid4().hex, [ray.put(dict(agents))]
        self.task = ray.remote(num_cpus=1, num_gpus=gpus, max_retries=RETRIES)(_work)

    def cores(self) -> int:
        return max(1, int(ray.cluster_resources().get("CPU", 1)))

    def start(self, call: Callable[..., Any], *arguments: Any, elsewhere: str | None = None) -> Any:
        """Starts a task, on another node than `elsewhere` if there is one."""
        others = [node["NodeID"] for node in ray.nodes() if node["Alive"] and node["NodeID"] != elsewhere] if elsewhere else []
        where: Any = "DEFAULT"
        if others:
            where = ray.util.scheduling_strategies.NodeAffinitySchedulingStrategy(random.choice(others), soft=True)
        return self.task.options(scheduling_strategy=where).remote(self.key, self.agents, call, arguments)

    def result(self, task: Any, what: str, wait: Callable[[], None] = lambda: None) -> tuple[str, Any]:
        """The node and the result of a task. Calls `wait` about every second. Raises what the task has raised."""
        while True:
            try:
                node, value = ray.get(task, timeout=PROGRESS_INTERVAL)
                return str(node), value
            except ray.exceptions.GetTimeoutError:
                wait()
            except ray.exceptions.RayTaskError as error:
                cause = getattr(error, "cause", None)
                raise (cause if isinstance(cause, Exception) else error) from error
            except (ray.exceptions.WorkerCrashedError, ray.exceptions.OutOfMemoryError, ray.exceptions.NodeDiedError) as error:
                times = f"the worker that played {what} exited {RETRIES + 1} times"
                raise AgentFault(f"{times}; one of its agents aborts or runs out of memory") from error

    def in_order(
        self,
        start: Callable[[Item], Any],
        items: Iterable[Item],
        what: Callable[[Item], str],
        wait: Callable[[], None] = lambda: None,
    ) -> Iterator[tuple[Item, str, Any]]:
        """Starts a task for each item and yields the items in order, with their nodes and results. The number of tasks is limited."""
        left, tasks = iter(items), deque[tuple[Item, Any]]()
        try:
            while True:
                # After the loss of a node, there may be more tasks than the cluster has places.
                free = max(TASKS_PER_CORE * self.cores() - len(tasks), 0 if tasks else 1)
                tasks.extend((item, start(item)) for item in islice(left, free))
                if not tasks:
                    return
                item, task = tasks[0]
                result = self.result(task, what(item), wait)
                tasks.popleft()
                yield item, *result
        finally:
            for _, task in tasks:
                ray.cancel(task, force=True)


class _Progress:
    """Lines about the progress on standard error, and the time that the driver itself works."""

    def __init__(self, batches: tuple[int, int], quiet: bool) -> None:
        (self.first, self.end), self.quiet = batches, quiet
        self.batch, self.begun, self.shown = self.first, time.monotonic(), 0.0
        self.bytes, self.busy, self.compared = 0, 0.0, 0

    def show(self) -> None:
        now = time.monotonic()
        if self.quiet or now - self.shown < PROGRESS_INTERVAL:
            return
        done, self.shown = self.batch - self.first, now
        left = f"; {(now - self.begun) / done * (self.end - self.batch):.0f} s left" if done else ""
        print(f"{self.batch} of {self.end} batches{left}", file=sys.stderr, flush=True)

    def end_line(self, matches: int) -> None:
        if not self.quiet:
            seconds, megabytes = time.monotonic() - self.begun, self.bytes / 1e6
            print(
                f"{self.batch} of {self.end} batches, {matches} matches; {megabytes:.1f} MB committed in {seconds:.1f} s, at "
                f"{megabytes / max(self.busy, 1e-9):.0f} MB/s of the driver; {self.compared} batches compared",
                file=sys.stderr,
                flush=True,
            )


def run(
    spec: str | PathLike[str],
    out: str | PathLike[str],
    *,
    address: str | None = None,
    agents: Factories | None = None,
    workers: int | None = None,
    gpus: float = 0.0,
    checked: float = CHECKED,
    resume: bool = False,
    quiet: bool = False,
) -> Run:
    """Plays an experiment file on a Ray cluster into a run folder, with the same files as `cambio run`.

    `address` is the address of a cluster, such as "auto"; by default, Ray starts on this machine, with `workers` workers or one for
    each core. `agents` are factories of Python agents by name, as for `cambio_game.run`; each worker process has its own agents.
    `gpus` is the share of a GPU per worker. The share `checked` of the batches is played again, on another machine if there is one,
    and compared. Only this process writes the folder; after an interruption or an error it has the batches so far, and
    `resume=True` continues. Raises `AgentFault` and `RunError`.
    """
    factories = dict(agents or {})
    plan = Plan(spec, factories)
    folder = RunFolder(out, plan, resume)
    batches, agents_folder = folder.batches_left, folder.agents_folder
    progress, dice, fault = _Progress(batches, quiet), random.Random(batches[1]), None
    try:
        cluster = Cluster(address, factories, workers, gpus)
        # Stored once, not sent with each task.
        lock = ray.put(folder.lock)

        def start(batch: int, elsewhere: str | None = None) -> Any:
            return cluster.start(_play, [lock], agents_folder and str(agents_folder), batch, elsewhere=elsewhere)

        def what(batch: int) -> str:
            return f"batch {batch} ({plan.describe(batch)})"

        for batch, node, played in cluster.in_order(start, range(*batches), what, progress.show):
            begun = time.monotonic()
            folder.commit(played)
            progress.busy += time.monotonic() - begun
            progress.batch, progress.bytes = batch + 1, progress.bytes + len(played)
            if plan.is_reproducible and dice.random() < checked:
                _, again = cluster.result(start(batch, node), what(batch), progress.show)
                folder.commit(again)
                progress.compared += 1
            progress.show()
    except AgentFault as error:
        fault = getattr(error, "record", None)
        if fault is None:
            raise
        told = AgentFault(f"{error}; the match up to the fault is in {Path(out) / 'fault.jsonl'}")
        told.record = fault
        raise told from error
    finally:
        about = folder.finish(fault)
        progress.end_line(folder.matches)
    return Run(about, Path(out))
