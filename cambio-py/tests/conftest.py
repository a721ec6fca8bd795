"""Helpers for the tests: random play, the command with Python agents, and the size of the tests (`CAMBIO_FULL=1` runs the long versions)."""

from __future__ import annotations

import os
import random
import subprocess
import sys
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

import cambio_game as cambio

Arrays = tuple[NDArray[np.float64], NDArray[np.float64]]
FULL = os.environ.get("CAMBIO_FULL") == "1"
TABLES = [(name, seats) for name in cambio.PRESETS for seats in (2, 4, 8)] + [(name, 2) for name in cambio.MINI_GAMES]


def amount(small: int, full: int) -> int:
    """The size of a test: `small`, or `full` with `CAMBIO_FULL=1`."""
    return full if FULL else small


def choose(game: cambio.Game | cambio.ChanceGame, dice: random.Random) -> cambio.Action:
    """A random decision that passes most windows and seldom calls, so that rounds are long."""
    legal = game.legal_actions()
    plain = [action for action in legal if action.verb not in ("snap", "touch", "call")]
    return dice.choice(plain if plain and dice.random() < 0.9 else legal)


def positions(name: str, seats: int, seed: int, most: int = 400):
    """Yields a game at each of its decisions."""
    dice = random.Random(seed)
    game = cambio.Game(name, seats, seed=seed, deal=seed)
    for _ in range(most):
        if game.is_over:
            return
        yield game
        game.step(choose(game, dice))


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
