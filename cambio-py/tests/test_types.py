"""The stubs are correct: mypy in strict mode, and stubtest against the compiled module."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import cambio_game as cambio

pytest.importorskip("mypy")
HERE = Path(__file__).parent
CONFIG = HERE.parent / "pyproject.toml"
PACKAGE = Path(cambio.__file__).parent

USES = """
import numpy as np
import cambio_game as cambio

game = cambio.Game(cambio.Rules("classic"), 2, seed="spring", deal=np.int64(3))
seat: int | None = game.seat
held: str | None = game.observe(0).held
action: cambio.Action = cambio.agent("greedy").decide(game)
game.step(action)
game.step(3)
game.step("draw")
tensor: np.ndarray[tuple[int, ...], np.dtype[np.uint8]] = game.tensor("a")
reward: cambio.Reward = "score"
games = cambio.VectorGame(8, reward=reward, opponents=[None, "greedy"])
games.step(games.random_actions(1))


class Mine:
    def decide(self, observation: cambio.Observation) -> str:
        return "draw"


class Uniform:
    def probabilities(self, observations: list[cambio.Observation]) -> np.ndarray[tuple[int, ...], np.dtype[np.float64]]:
        return np.stack([seen.mask() / seen.mask().sum() for seen in observations])


small = cambio.SmallGame("mini-m0")
exploitability: float = cambio.exploitability(Uniform(), small)
exploitability = small.exploitability(*small.solve(to=1e-2))
shares: np.ndarray[tuple[int, ...], np.dtype[np.float64]] = cambio.agent("greedy").probabilities(game.observe())
found: cambio.Run = cambio.evaluate(Mine, "greedy")
found = cambio.evaluate(Uniform, "greedy", threads=64, names=["mine", "theirs"], rows=True)
rows: cambio.Table = found.rows("matches")
found = cambio.evaluate(cambio.TextPlayer(lambda prompt: "1"), "greedy")
action = cambio.parse_decision("draw", game.observe())
action = cambio.agent("greedy").decide(game.observe(), seed=3)
games.step(np.zeros(8, np.int32))
games.reset(where=games.done, games=[game])
cards: np.ndarray[tuple[int, ...], np.dtype[np.int8]] | None = games.true_cards
verdict: str = cambio.sprt(Mine, "greedy", progress=print).verdict
best: str = cambio.tune("greedy(call_at=?)", "1..3", field=["greedy", "sharp"]).best
mean: float = cambio.advantage(Mine).decisions[0]
strategy = cambio.StrategyPolicy("mini-m0.txt", "mini-m0")
exploitability = cambio.exploitability(strategy, small)
found = cambio.evaluate(strategy, "greedy", "mini-m0")
found = cambio.tournament({"a": Uniform(), "b": "greedy"}, small.rules, lineups={"focal": ["a"], "field": ["b"]})
shares = found.matrix().score
fault: cambio.Record | None = cambio.AgentFault().record
"""


def run(*words: str | Path) -> None:
    done = subprocess.run([sys.executable, "-m", *map(str, words)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_mypy_has_nothing_to_say(tmp_path: Path) -> None:
    (tmp_path / "uses.py").write_text(USES)
    strict = ["mypy", "--strict", "--config-file", CONFIG, "--cache-dir", tmp_path / "cache"]
    run(*strict, "-p", "cambio_game")
    run(*strict, tmp_path / "uses.py")


def test_the_stubs_are_those_of_the_compiled_module(tmp_path: Path) -> None:
    run("mypy.stubtest", "cambio_game._cambio", "--allowlist", HERE / "stubtest.txt", "--ignore-unused-allowlist")
