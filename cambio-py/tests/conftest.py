"""Helpers for the tests: random play, the command with Python agents, and the size of the tests (`CAMBIO_FULL=1` runs the long versions)."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import cambio_game as cambio

Arrays = tuple[NDArray[np.float64], NDArray[np.float64]]
FULL = os.environ.get("CAMBIO_FULL") == "1"
TABLES = [(name, seats) for name in cambio.PRESETS for seats in (2, 4, 8)] + [(name, 2) for name in cambio.MINI_GAMES]
CAMBIO = os.environ.get("CAMBIO_BIN")
needs_the_command = pytest.mark.skipif(CAMBIO is None, reason="CAMBIO_BIN does not name the command")


class First:
    """Takes the first legal decision."""

    def decide(self, observation: cambio.Observation) -> cambio.Action:
        return observation.legal_actions()[0]


class Chosen:
    """A policy that takes one action at each observation, which depends only on the observation."""

    def choose(self, observation: cambio.Observation) -> cambio.Action:
        raise NotImplementedError

    def probabilities(self, observations: list[cambio.Observation]) -> NDArray[np.float64]:
        rows = np.zeros((len(observations), observations[0].mask().size))
        for row, seen in zip(rows, observations, strict=True):
            row[self.choose(seen).index(seen.rules, seen.seats, seen.seat)] = 1
        return rows


class Nth(Chosen):
    """Takes the legal action with a number, or the last one."""

    def __init__(self, number: int) -> None:
        self.number = number

    def choose(self, observation: cambio.Observation) -> cambio.Action:
        return observation.legal_actions()[: self.number + 1][-1]


class Raises:
    def decide(self, observation: cambio.Observation) -> str:
        raise KeyError("no idea")


def spec(folder: Path, agents: list[str], deals: int, **more: object) -> Path:
    """Writes an experiment file. Values in JSON are valid TOML."""
    fields = {"seed": 8, "deals": deals, "rules": ["classic", "faessler"], "seats": [2, 3], "agents": agents} | more
    path = folder / "spec.toml"
    path.write_text("".join(f"{name} = {json.dumps(value)}\n" for name, value in fields.items()))
    return path


def amount(small: int, full: int) -> int:
    """The size of a test: `small`, or `full` with `CAMBIO_FULL=1`."""
    return full if FULL else small


def choose(game: cambio.Game | cambio.ChanceGame, dice: random.Random) -> cambio.Action:
    """A random decision that passes most windows and seldom calls, so that rounds are long."""
    legal = game.legal_actions()
    plain = [action for action in legal if action.verb not in ("snap", "touch", "call")]
    return dice.choice(plain if plain and dice.random() < 0.9 else legal)


def midway(rules: str | cambio.Rules, seats: int, seed: int, decisions: int) -> cambio.Game:
    """A game after some random decisions, or at its end."""
    game, dice = cambio.Game(rules, seats, seed=seed), random.Random(seed)
    for _ in range(decisions):
        if not game.is_over:
            game.step(choose(game, dice))
    return game


def every_object(rules: str = "classic", seats: int = 2) -> list[Any]:
    """An object of every class, at the beginning and in the middle of matches."""
    game, over, middle = cambio.Game(rules, seats, seed=1), midway("mini-m0", 2, 1, 99), midway("original", 3, 2, 40)
    games = cambio.VectorGame(2, rules, seats, opponents=["greedy", *[None] * (seats - 1)], finals=True, keys=True, true_cards=True)
    games.reset()
    chance = cambio.ChanceGame("mini-m0")
    dealt = chance.copy()
    while dealt.is_chance:
        dealt.play_chance(dealt.outcomes()[0][0])
    seen = [game.observe(), middle.observe(), middle.observe(1), over.observe(0)]
    found = [game, middle, over, games, chance, dealt, cambio.SmallGame("mini-m0"), over.record(), *seen, seen[0].position()]
    return [*found, game.world(), game.rules, game.layout, cambio.agent("greedy"), cambio.Action("draw"), game.events(0)[0]]


@pytest.fixture(scope="session")
def files(tmp_path_factory: pytest.TempPathFactory) -> dict[str, tuple[Path, Callable[[Path], Any]]]:
    """Files of all kinds, and the functions that read them."""
    folder = tmp_path_factory.mktemp("files")
    game = cambio.SmallGame("mini-m0")
    game.save(folder / "strategy.txt", *game.uniform())
    (folder / "rules.toml").write_text(cambio.Rules("original").to_toml(), encoding="utf-8")
    (folder / "records.jsonl").write_text(cambio.Game("mini-m0").record().to_json() + "\n", encoding="utf-8")
    cambio.run(spec(folder, ["greedy", "random"], 2, rules=["classic"], seats=[2]), folder / "run")
    seen = cambio.Game().observe()
    opened = cambio.Run.open(folder / "run")

    def verify(path: Path) -> Any:
        run = cambio.Run.open(path.parent)
        return [run.verify(all=True), run.rows("matches"), run.rows("rounds"), run.rows("players"), run.tables]

    found: dict[str, tuple[Path, Callable[[Path], Any]]] = {
        "strategy.txt": (folder / "strategy.txt", lambda path: cambio.StrategyPolicy(path, "mini-m0")),
        "strategy of a game": (folder / "strategy.txt", game.load),
        "rules.toml": (folder / "rules.toml", cambio.Rules.read),
        "records.jsonl": (folder / "records.jsonl", lambda path: [record.replay() for record in cambio.Record.read(path)]),
        "network": (folder / "strategy.txt", lambda path: seen.network_inputs(str(path))),
        "agent": (folder / "strategy.txt", lambda path: cambio.agent(f'learned("{path}")')),
        "spec.toml": (folder / "spec.toml", lambda path: cambio.run(path, path.parent / "out")),
    }
    found |= {name: (folder / "run" / name, verify) for name in ("matches.csv", "spec.lock.json", "ledger.jsonl")}
    found |= {name: (folder / "run" / f"{name}.csv", lambda path: opened.rows(path.stem)) for name in ("rounds", "players")}
    return {name: pair for name, pair in found.items() if pair[0].exists()}


def positions(name: str, seats: int, seed: int, most: int = 400):
    """Yields a game at each of its decisions."""
    dice = random.Random(seed)
    game = cambio.Game(name, seats, seed=seed, deal=seed)
    for _ in range(most):
        if game.is_over:
            return
        yield game
        game.step(choose(game, dice))


def cambio_prints(*words: object) -> str:
    """The output of the command in `CAMBIO_BIN`."""
    return subprocess.run([str(CAMBIO), *map(str, words)], check=True, capture_output=True, text=True).stdout


def command(*words: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Runs `python -m cambio_game` in a folder."""
    return subprocess.run([sys.executable, "-m", "cambio_game", *words], cwd=folder, capture_output=True, text=True, check=False)


def random_strategy(game: cambio.SmallGame, dice: np.random.Generator) -> Arrays:
    """Random probabilities; about a third of them are 0."""

    def array(seat: int) -> NDArray[np.float64]:
        mask = game.masks(seat)
        weights = dice.random(mask.shape) * (dice.random(mask.shape) < 0.67) * mask
        weights[weights.sum(1) == 0] = mask[weights.sum(1) == 0]
        return weights / weights.sum(1, keepdims=True)

    return array(0), array(1)
