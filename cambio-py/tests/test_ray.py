"""Ray on many machines: the rows equal a single run's, even after failures. Skipped if Ray is not installed."""

from __future__ import annotations

import contextlib
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

ray = pytest.importorskip("ray", reason="Ray is not installed; to install it, run: pip install 'cambio-game[ray]'")

import cambio_game.ray  # noqa: E402
from cambio_game.ray import _drive  # noqa: E402
from conftest import FULL  # noqa: E402

long = pytest.mark.skipif(not FULL, reason="CAMBIO_FULL=1 runs the long versions")

SPEC = """
seed = 8
deals = {deals}
rules = ["classic", "faessler"]
seats = [2, 3]
agents = ["random", "greedy", "{third}"]
"""
ROWS = ["matches.csv", "rounds.csv", "players.csv", "ledger.jsonl", "summary.csv", "manifest.json"]


class First:
    """Takes the first legal decision."""

    def decide(self, observation: cambio.Observation) -> cambio.Action:
        return observation.legal_actions()[0]


class Aborts:
    """Aborts its process in the middle of a match."""

    def decide(self, observation: cambio.Observation) -> cambio.Action:
        os.abort()


class Raises:
    def decide(self, observation: cambio.Observation) -> str:
        raise KeyError("no idea")


class FullDisk:
    """Simulates a full disk: its first process cannot write more than 4 KiB to a file."""

    def __init__(self) -> None:
        import resource

        with contextlib.suppress(FileExistsError):
            os.close(os.open(os.environ["CAMBIO_TEST_MARK"], os.O_CREAT | os.O_EXCL))
            resource.setrlimit(resource.RLIMIT_FSIZE, (4096, resource.RLIM_INFINITY))

    def decide(self, observation: cambio.Observation) -> cambio.Action:
        return observation.legal_actions()[0]


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
    return {name: hashlib.sha256((folder / name).read_bytes()).hexdigest() for name in ROWS}


def spec(folder: Path, deals: int = 60, third: str = "random(pass=0.9)") -> Path:
    path = folder / "spec.toml"
    path.write_text(SPEC.format(deals=deals, third=third))
    return path


def test_four_nodes_give_the_rows_of_one_process(cluster: object, tmp_path: Path) -> None:
    one = cambio.run(spec(tmp_path), tmp_path / "one", threads=1)
    many = cambio.ray.run(spec(tmp_path), tmp_path / "many", checked=1.0, quiet=True)
    assert sums(tmp_path / "one") == sums(tmp_path / "many") and many.tables == one.tables
    again = cambio.ray.run(None, tmp_path / "again", store=f"{tmp_path}/many.units", quiet=True)
    assert again.tables == one.tables, "from the store alone"


def test_agents_of_python_travel_to_the_workers(cluster: object, tmp_path: Path) -> None:
    path = spec(tmp_path, 20, "first")
    one = cambio.run(path, tmp_path / "one", agents={"first": First}, threads=1)
    many = cambio.ray.run(path, tmp_path / "many", agents={"first": First}, quiet=True)
    assert sums(tmp_path / "one") == sums(tmp_path / "many") and many.tables == one.tables


def test_a_machine_whose_disk_is_full_is_done_without(cluster: object, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path, mark = spec(tmp_path, 20, "first"), tmp_path / "mark"
    one = cambio.run(path, tmp_path / "one", agents={"first": First}, threads=1)

    def made() -> FullDisk:
        os.environ["CAMBIO_TEST_MARK"] = str(mark)
        return FullDisk()

    failed: list[str] = []
    original = _drive._Drive._failed

    def watched(drive: _drive._Drive, job: _drive._Job, error: Exception) -> None:
        failed.append(str(error))
        original(drive, job, error)

    monkeypatch.setattr(_drive._Drive, "_failed", watched)
    many = cambio.ray.run(path, tmp_path / "many", agents={"first": made}, quiet=True)
    assert len(failed) == 1 and "File too large" in failed[0], failed
    assert sums(tmp_path / "one") == sums(tmp_path / "many") and many.tables == one.tables


def test_other_bytes_for_the_same_unit_stop(cluster: object, tmp_path: Path) -> None:
    with pytest.raises(cambio.RunError, match=r"gave different bytes.*units/[^ ]+/[0-9a-f]{64}.*units/[^ ]+/[0-9a-f]{64}"):
        cambio.ray.run(spec(tmp_path, 20, "dice"), tmp_path / "many", agents={"dice": Dice}, checked=1.0, quiet=True)
    assert not (tmp_path / "many").exists()


@long
def test_workers_that_are_killed_and_a_node_that_is_removed_lose_nothing(cluster: object, tmp_path: Path) -> None:
    path = spec(tmp_path, 3000)
    cambio.run(path, tmp_path / "one")
    node = cluster.add_node(num_cpus=1)  # type: ignore[attr-defined]
    drives: list[_drive._Drive] = []
    lost: list[str] = []

    class Watched(_drive._Drive):
        def play(self) -> None:
            drives.append(self)
            super().play()

    def harm() -> None:
        while not drives or drives[0].units < 4:
            time.sleep(0.05)
        found = subprocess.run(["pgrep", "-f", "ray::_Worker"], capture_output=True, text=True, check=False).stdout.split()
        for process in found[:1]:
            os.kill(int(process), signal.SIGKILL)
            lost.append(process)
        cluster.remove_node(node, allow_graceful=False)  # type: ignore[attr-defined]

    thread = threading.Thread(target=harm)
    thread.start()
    original, _drive._Drive = _drive._Drive, Watched  # type: ignore[misc]
    try:
        cambio.ray.run(path, tmp_path / "many", quiet=True)
    finally:
        _drive._Drive = original  # type: ignore[misc]
        thread.join()
    assert lost and drives[0].lost >= 1
    assert sums(tmp_path / "one") == sums(tmp_path / "many")


def test_an_agent_that_ends_its_process_is_told_with_its_deals(cluster: object, tmp_path: Path) -> None:
    with pytest.raises(cambio.AgentFault, match=r"batch \d+ \(classic, \d seats, deals? .* exited 3 times"):
        cambio.ray.run(spec(tmp_path, 4, "aborts"), tmp_path / "many", agents={"aborts": Aborts}, quiet=True)
    with pytest.raises(cambio.AgentFault, match="KeyError: 'no idea'"):
        cambio.ray.run(spec(tmp_path, 4, "raises"), tmp_path / "other", agents={"raises": Raises}, quiet=True)


def test_a_sequential_test_decides_as_on_one_machine(cluster: object) -> None:
    found = cambio.ray.sprt("greedy", "random", elo1=50.0, rounds=True, deals=1000)
    assert found.verdict == "second" and 5 < found.deals < 100
    command = os.environ.get("CAMBIO_BIN")
    if command:
        words = [command, "sprt", "greedy", "random", "--elo1", "50", "--rounds", "--deals", "1000", "--format", "json", "--quiet"]
        told = json.loads(subprocess.run(words, capture_output=True, text=True, check=True).stdout)
        assert told["deals"] == found.deals


@pytest.mark.parametrize(
    "options",
    [
        {"method": "race", "deals": 400, "validate": 30},
        {"method": "sweep", "deals": 24, "field": "self", "validate": 0},
    ],
    ids=lambda options: str(options["method"]),
)
def test_a_tuning_finds_what_one_machine_finds(cluster: object, tmp_path: Path, options: dict[str, Any]) -> None:
    found = cambio.ray.tune("greedy(call_at=?)", "0..9:3", rounds=True, seed=5, out=tmp_path / "many", **options)
    assert [point["value"] for point in found.curve][:4] == ["0", "3", "6", "9"]
    with pytest.raises(cambio.RunError, match="already exists"):
        cambio.ray.tune("greedy(call_at=?)", "0..9:3", out=tmp_path / "many")
    command = os.environ.get("CAMBIO_BIN")
    if command:
        words = [command, "tune", "--agent", "greedy(call_at=?)", "--range", "0..9:3", "--rounds", "--seed", "5", "--quiet"]
        for name, value in options.items():
            words += [f"--{name}", str(value)]
        subprocess.run([*words, "--out", tmp_path / "one"], check=True, capture_output=True)
        for name in ["curve.csv", "scores.csv"]:
            assert (tmp_path / "one" / name).read_bytes() == (tmp_path / "many" / name).read_bytes(), name
        one = json.loads((tmp_path / "one" / "tuning.json").read_text())
        assert {**one, "command": ""} == {**found.result, "command": ""}


def test_a_tuning_that_is_not_allowed_is_told_in_a_sentence(cluster: object) -> None:
    with pytest.raises(cambio.CambioError, match="`greedy` must have one `.` per range"):
        cambio.ray.tune("greedy", "0..3")
    with pytest.raises(cambio.CambioError, match="`method` must be sweep, race or cma, found `guess`"):
        cambio.ray.tune("greedy(call_at=?)", "0..3", method="guess")
    with pytest.raises(cambio.AgentFault, match="KeyError: 'no idea'"):
        cambio.ray.tune("greedy(call_at=?)", "0..3", field="raises", deals=4, agents={"raises": Raises})


@long
def test_a_driver_that_is_killed_is_gone_on_with_by_another(cluster: object, tmp_path: Path) -> None:
    path = spec(tmp_path, 2000)
    cambio.run(path, tmp_path / "one")
    address = cluster.address  # type: ignore[attr-defined]
    words = [sys.executable, "-m", "cambio_game.ray", "run", str(path), "--out", str(tmp_path / "many"), "--address", address, "-q"]
    driver = subprocess.Popen(words, stderr=subprocess.PIPE)
    store = tmp_path / "many.units" / "units"
    begun = time.monotonic()
    while not (store.exists() and len(list(store.iterdir())) >= 3) and time.monotonic() < begun + 60:
        time.sleep(0.05)
    driver.kill()
    driver.wait()
    assert not (tmp_path / "many").exists() and len(list(store.iterdir())) >= 3
    before = {unit: unit.stat().st_mtime_ns for unit in store.glob("*/*")}
    cambio.ray.run(None, tmp_path / "many", store=tmp_path / "many.units", quiet=True)
    assert sums(tmp_path / "one") == sums(tmp_path / "many")
    assert all(unit.stat().st_mtime_ns == when for unit, when in before.items()), "existing units were played again"
