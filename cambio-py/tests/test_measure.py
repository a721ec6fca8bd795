"""Sequential tests, tuning and the value of decisions in one call, with the results of the command."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import cambio_game as cambio
from conftest import First, Raises, cambio_prints, needs_the_command


def printed(words: str) -> dict[str, Any]:
    """The JSON that the command prints."""
    return json.loads(cambio_prints(*words.split(), "--format", "json", "--quiet"))


@needs_the_command
def test_a_sequential_test_is_that_of_the_command() -> None:
    told: list[str] = []
    found = cambio.sprt("greedy", "random", elo1=40, seed=3, progress=told.append)
    wanted = printed("sprt greedy random --elo1 40 --seed 3")
    assert (found.verdict, found.deals, found.matches) == (wanted["verdict"], wanted["deals"], wanted["matches"])
    assert found.verdict == "second" and found.matches == 2 * found.deals
    assert found.ratio == wanted["log_likelihood_ratio"] and list(found.bounds) == wanted["bounds"]
    assert found.estimate == (wanted["estimate"], wanted["estimate_low"], wanted["estimate_high"])
    assert all("log likelihood ratio" in line for line in told)


def test_python_agents_are_tested_and_may_fail() -> None:
    found = cambio.sprt(First, "greedy", elo0=-100, elo1=0, deals=400, threads=2)
    assert found.verdict == "first" and found.score is not None and found.score < 0.5
    assert cambio.sprt(First, "greedy", elo0=-100, elo1=0, deals=400, threads=1, names=["one", "two"]) == found
    with pytest.raises(cambio.AgentFault, match="it raised KeyError: 'no idea'") as caught:
        cambio.sprt(Raises, "greedy")
    assert isinstance(caught.value.__cause__, KeyError)
    with pytest.raises(cambio.CambioError, match="`elo1` must be above elo0"):
        cambio.sprt("greedy", "random", elo1=-5)


@needs_the_command
@pytest.mark.filterwarnings("ignore:the best value")
def test_a_tuning_is_that_of_the_command(tmp_path: Path) -> None:
    told: list[str] = []
    options = {"rules": "classic", "deals": 40, "validate": 30, "field": ["sharp"], "seed": 7}
    found = cambio.tune("greedy(call_at=?)", "4..7", out=tmp_path / "ours", progress=told.append, **options)
    words = "tune --agent greedy(call_at=?) --range 4..7 --deals 40 --validate 30 --field sharp --seed 7 --quiet --out".split()
    cambio_prints(*words, tmp_path / "theirs")
    for name in ("curve.csv", "scores.csv"):
        assert (tmp_path / "ours" / name).read_text() == (tmp_path / "theirs" / name).read_text()
    theirs = json.loads((tmp_path / "theirs" / "tuning.json").read_text())
    assert found.result == theirs and found.best == theirs["best_value"]
    assert [point["call_at"] for point in found.curve] == [4, 5, 6, 7] and any("validation" in line for line in told)
    with pytest.raises(cambio.RunError, match="already exists"):
        cambio.tune("greedy(call_at=?)", "4..7", out=tmp_path)


def test_tuning_warns_and_refuses() -> None:
    with pytest.warns(UserWarning, match="of the range 1..2|far weaker") as told:
        found = cambio.tune("greedy(call_at=?)", "1..2", deals=60, validate=0, field=[First])
    assert found.best in ("1", "2") and len(told) == 2 and all(Path(one.filename) == Path(__file__) for one in told)
    with pytest.raises(cambio.CambioError, match="must have one"):
        cambio.tune("greedy", "1..2")
    with pytest.raises(cambio.AgentFault) as caught:
        cambio.tune("greedy(call_at=?)", "4..5", deals=10, field=Raises)
    assert isinstance(caught.value.__cause__, KeyError)


@needs_the_command
def test_the_value_of_decisions_is_that_of_the_command() -> None:
    told: list[str] = []
    found = cambio.advantage("greedy", "sharp", deals=30, playouts=20, seed=5, progress=told.append)
    wanted = printed("advantage greedy --over sharp --deals 30 --playouts 20 --seed 5")
    interval = lambda name: (wanted[name]["mean"], wanted[name]["half_width"])
    assert found.results == interval("results") and found.decisions == interval("decisions")
    kinds = [(kind["decision"], kind["times_per_round"], kind["differs_per_round"]) for kind in wanted["asked"]]
    assert [(kind.kind, kind.times, kind.differs) for kind in found.kinds] == kinds
    assert cambio.advantage(First, "sharp", deals=5, playouts=5).results[0] < 0.5
    for named, reason in [
        ({"over": "best"}, "`over` must be one of "),
        ({"deals": 0}, "`deals` must be"),
        ({"seats": 9}, "`seats` must be"),
    ]:
        with pytest.raises(cambio.CambioError, match=reason):
            cambio.advantage("greedy", **named)


def test_a_responder_bounds_the_exploitability() -> None:
    found = cambio.exploit("random", rules="mini-m1", deals=40, iterations=50, candidates=10, seed=3)
    assert found.deals == 40 and found.lower_limit is not None and 0 < found.lower_limit < found.gain[0]
    assert abs(sum(found.by_seat) / 2 - found.gain[0]) < 1e-6
    with pytest.raises(cambio.CambioError, match="`noise` must be a number from 0 to 1"):
        cambio.exploit("greedy", noise=2.0)


LONG = """
import signal
import cambio_game as cambio
# The shell ignores the signal in background jobs.
signal.signal(signal.SIGINT, signal.default_int_handler)
print("begun", flush=True)
try:
    cambio.{call}
except KeyboardInterrupt:
    print("stopped")
"""


@pytest.mark.parametrize(
    "call",
    [
        'sprt("rollout(n=300)", "sharp", elo0=-0.1, elo1=0.1, luck="off")',
        'tune("rollout(n=?)", "400,500", deals=100000)',
        'advantage("rollout(n=500)", deals=100000)',
        'evaluate("rollout(n=500)", "rollout(n=501)", deals=100000)',
        'SmallGame("mini-p").solve(1e-9)',
    ],
)
def test_an_interrupt_stops_the_work(call: str) -> None:
    running = subprocess.Popen([sys.executable, "-c", LONG.format(call=call)], stdout=subprocess.PIPE, text=True)
    assert running.stdout is not None and running.stdout.readline() == "begun\n"
    try:
        with pytest.raises(subprocess.TimeoutExpired):
            running.wait(0.7)
        running.send_signal(signal.SIGINT)
        assert running.wait(60) == 0 and running.stdout.read() == "stopped\n"
    finally:
        running.kill()
        running.wait()


def test_an_exception_of_progress_stops_the_work() -> None:
    def stop(*_: object) -> None:
        raise ZeroDivisionError

    for call in (
        lambda: cambio.sprt("rollout(n=500)", "rollout(n=501)", progress=stop),
        lambda: cambio.tune("greedy(call_at=?)", "4..7", deals=1000, progress=stop),
        lambda: cambio.advantage("greedy", deals=10_000, progress=stop),
        lambda: cambio.SmallGame("mini-m1").solve(1e-12, progress=stop),
    ):
        with pytest.raises(ZeroDivisionError):
            call()


def test_a_benchmark_is_played_without_the_command(tmp_path: Path) -> None:
    found = cambio.bench("greedy", tmp_path / "b", quick=True, parts=["match"], threads=1)
    assert sorted(found["parts"]["match"]) == ["match-faessler", "match-original"] and not found["complete"]
    with pytest.raises(cambio.CambioError, match="already exists; choose another --out"):
        cambio.bench("greedy", tmp_path / "b", quick=True)
