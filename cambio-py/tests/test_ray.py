"""Ray on many machines: the rows equal a single run's, even after failures. Skipped if Ray is not installed."""

from __future__ import annotations

import hashlib
import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import cambio_game as cambio
from conftest import CAMBIO, First, Raises, cambio_prints, spec

ray = pytest.importorskip("ray", reason="Ray is not installed; to install it, run: pip install 'cambio-game[ray]'")

import cambio_game.ray  # noqa: E402


class Aborts:
    """Aborts its process in the middle of a match."""

    def decide(self, observation: cambio.Observation) -> cambio.Action:
        os.abort()


class Dice:
    """Claims to be reproducible, but is not."""

    def decide(self, observation: cambio.Observation) -> cambio.Action:
        choices = observation.legal_actions()
        return choices[os.urandom(1)[0] % len(choices)]


@pytest.fixture(scope="module")
def cluster() -> Iterator[object]:
    from ray.cluster_utils import Cluster

    found = Cluster(initialize_head=True, head_node_args={"num_cpus": 1, "include_dashboard": False})
    for _ in range(3):
        found.add_node(num_cpus=1)
    ray.init(address=found.address, log_to_driver=False, logging_level="error")
    yield found
    ray.shutdown()
    found.shutdown()


def sums(folder: Path) -> dict[str, str]:
    """The hashes of all files that do not contain times."""
    names = sorted(path.name for path in folder.iterdir() if path.name not in ("timing.csv", "report.html"))
    return {name: hashlib.sha256((folder / name).read_bytes()).hexdigest() for name in names}


def kill_workers(number: int, killed: list[int]) -> threading.Thread:
    """Kills this number of workers that are playing a batch."""

    def kill() -> None:
        until = time.monotonic() + 60
        while len(killed) < number and time.monotonic() < until:
            found = subprocess.run(["pgrep", "-f", "^ray::_work"], capture_output=True, text=True, check=False).stdout.split()
            for process in [int(word) for word in found if int(word) not in killed][:1]:
                os.kill(process, signal.SIGKILL)
                killed.append(process)
            time.sleep(0.5)

    thread = threading.Thread(target=kill)
    thread.start()
    return thread


def test_killed_workers_change_no_byte(cluster: object, tmp_path: Path) -> None:
    path = spec(tmp_path, ["random", "greedy", "rollout(n=20)"], 400)
    one = cambio.run(path, tmp_path / "one")
    killed: list[int] = []
    thread = kill_workers(2, killed)
    many = cambio.ray.run(path, tmp_path / "many", checked=0.1, quiet=True)
    thread.join()
    assert len(killed) == 2
    assert sums(tmp_path / "one") == sums(tmp_path / "many") and many.tables == one.tables


def test_interrupted_driver_is_resumed(cluster: object, tmp_path: Path) -> None:
    path = spec(tmp_path, ["random", "greedy", "rollout(n=20)"], 1600)
    cambio.run(path, tmp_path / "one")
    address, out = cluster.address, tmp_path / "many"  # type: ignore[attr-defined]
    words = [sys.executable, "-m", "cambio_game.ray", "run", str(path), "--out", str(out), "--address", address, "-q"]
    for number, code in [(signal.SIGINT, 3), (signal.SIGKILL, -signal.SIGKILL)]:
        before = len((out / "ledger.jsonl").read_text().splitlines()) if out.exists() else 0
        driver = subprocess.Popen([*words, "--resume"], stderr=subprocess.PIPE, text=True)
        until = time.monotonic() + 60
        while not (out.exists() and len((out / "ledger.jsonl").read_text().splitlines()) > before) and time.monotonic() < until:
            time.sleep(0.05)
        driver.send_signal(number)
        _, told = driver.communicate()
        assert driver.returncode == code, told
        assert number == signal.SIGKILL or "the same command with --resume continues the run" in told
    left = cambio.RunFolder(out, cambio.Plan(path), resume=True).batches_left
    assert 0 < left[0] < left[1]
    cambio.ray.run(path, out, resume=True, quiet=True)
    assert sums(tmp_path / "one") == sums(out)


def test_lost_node_changes_no_byte(cluster: object, tmp_path: Path) -> None:
    path = spec(tmp_path, ["random", "greedy", "rollout(n=20)"], 100)
    cambio.run(path, tmp_path / "one")
    node = cluster.add_node(num_cpus=1)  # type: ignore[attr-defined]
    thread = threading.Timer(2.0, cluster.remove_node, [node], {"allow_graceful": False})  # type: ignore[attr-defined]
    thread.start()
    cambio.ray.run(path, tmp_path / "many", quiet=True)
    thread.join()
    assert sums(tmp_path / "one") == sums(tmp_path / "many")


def test_python_agents_travel_to_the_workers(cluster: object, tmp_path: Path) -> None:
    path = spec(tmp_path, ["random", "greedy", "first"], 20)
    one = cambio.run(path, tmp_path / "one", agents={"first": First}, threads=1)
    many = cambio.ray.run(path, tmp_path / "many", agents={"first": First}, checked=1.0, quiet=True)
    assert sums(tmp_path / "one") == sums(tmp_path / "many") and many.tables == one.tables


def test_other_rows_of_a_batch_stop_the_run(cluster: object, tmp_path: Path) -> None:
    path = spec(tmp_path, ["random", "greedy", "dice"], 20)
    with pytest.raises(cambio.RunError, match=r"batch 0 \(classic, 2 seats, .* was played twice and gave different rows"):
        cambio.ray.run(path, tmp_path / "many", agents={"dice": Dice}, checked=1.0, quiet=True)


def test_fault_ends_the_run_with_its_match(cluster: object, tmp_path: Path) -> None:
    path, out = spec(tmp_path, ["random", "greedy", "raises"], 4), tmp_path / "many"
    with pytest.raises(cambio.AgentFault, match=r"KeyError: 'no idea' .*; the match up to the fault is in .*fault.jsonl") as found:
        cambio.ray.run(path, out, agents={"raises": Raises}, quiet=True)
    assert (out / "fault.jsonl").read_text() == found.value.record.to_json() + "\n"
    assert json.loads((out / "manifest.json").read_text())["outcome"] == "fault"
    with pytest.raises(cambio.AgentFault, match=r"batch \d+ \(classic, \d seats, deals? .* exited 4 times"):
        cambio.ray.run(spec(tmp_path, ["random", "greedy", "aborts"], 4), tmp_path / "other", agents={"aborts": Aborts}, quiet=True)


def test_sequential_test_decides_as_on_one_machine(cluster: object) -> None:
    found = cambio.ray.sprt("greedy", "random", elo1=50.0, rounds=True, deals=1000)
    assert found.verdict == "second" and 5 < found.deals < 100
    if CAMBIO:
        told = json.loads(cambio_prints(*"sprt greedy random --elo1 50 --rounds --deals 1000 --format json --quiet".split()))
        assert told["deals"] == found.deals


@pytest.mark.parametrize(
    "options",
    [
        {"method": "race", "deals": 400, "validate": 30},
        {"method": "sweep", "deals": 24, "field": "sharp", "validate": 0},
    ],
    ids=lambda options: str(options["method"]),
)
def test_tuning_finds_what_one_machine_finds(cluster: object, tmp_path: Path, options: dict[str, Any]) -> None:
    found = cambio.ray.tune("greedy(call_at=?)", "0..9:3", rounds=True, seed=5, out=tmp_path / "many", **options)
    assert [point["value"] for point in found.curve][:4] == ["0", "3", "6", "9"]
    with pytest.raises(cambio.RunError, match="already exists"):
        cambio.ray.tune("greedy(call_at=?)", "0..9:3", out=tmp_path / "many")
    if CAMBIO:
        words = "tune --agent greedy(call_at=?) --range 0..9:3 --rounds --seed 5 --quiet".split()
        for name, value in options.items():
            words += [f"--{name}", str(value)]
        cambio_prints(*words, "--out", tmp_path / "one")
        for name in ["curve.csv", "scores.csv"]:
            assert (tmp_path / "one" / name).read_bytes() == (tmp_path / "many" / name).read_bytes(), name
        one = json.loads((tmp_path / "one" / "tuning.json").read_text())
        assert one == found.result


def test_invalid_tuning_is_refused_in_one_sentence(cluster: object) -> None:
    with pytest.raises(cambio.CambioError, match="`greedy` must have one `.` per range"):
        cambio.ray.tune("greedy", "0..3")
    with pytest.raises(cambio.AgentFault, match="KeyError: 'no idea'"):
        cambio.ray.tune("greedy(call_at=?)", "0..3", field="raises", deals=4, agents={"raises": Raises})
