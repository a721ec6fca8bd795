"""Observation spaces, action spaces and seeds, following the conventions of Gymnasium."""

from __future__ import annotations

import secrets
from typing import Any, Literal, TypeAlias, TypeVar

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from ._cambio import Action, CambioError, Game, IllegalAction, Layout, Rules
from ._types import Reward

Observed: TypeAlias = dict[str, NDArray[Any]]
Index: TypeAlias = int | np.integer[Any]
Illegal: TypeAlias = Literal["terminate", "raise", "random"]
Choice = TypeVar("Choice", bound=str)


def bounds(layout: Layout) -> NDArray[np.uint8]:
    """The largest value of each entry of a tensor: 1 for a flag, 255 for a count."""
    high = np.full(layout.size, 255, np.uint8)
    for block in layout.blocks:
        if block.values == "flags":
            high[block.slice] = 1
    return high


def observation_space(layout: Layout, actions: int) -> spaces.Dict:
    """The space of a dictionary with `observation`, a tensor of the layout, and `action_mask`, 1 for each legal action."""
    return spaces.Dict(
        {
            "observation": spaces.Box(np.zeros(layout.size, np.uint8), bounds(layout), dtype=np.uint8),
            "action_mask": spaces.Box(0, 1, (actions,), np.int8),
        }
    )


def observed(game: Game, seat: int) -> Observed:
    """One seat's observation, an element of `observation_space`. The mask is all 0 if it is not the seat to act."""
    return {"observation": game.tensor(seat), "action_mask": game.mask(seat).view(np.int8)}


def take(game: Game, action: Index | Action | str, illegal: Illegal, random: np.random.Generator) -> bool:
    """Steps a game. Returns whether an illegal action has lost the match; depending on `illegal`, it can also raise or be replaced."""
    try:
        game.step(action)
    except IllegalAction:
        if illegal == "raise":
            raise
        if illegal == "terminate":
            return True
        game.step(int(random.choice(game.legal_indices())))
    return False


def one_of(name: str, value: str, allowed: tuple[Choice, ...]) -> Choice:
    """Validates an option against its allowed values."""
    for choice in allowed:
        if choice == value:
            return choice
    raise CambioError(f"`{name}` must be {', '.join(allowed[:-1])} or {allowed[-1]}, found `{value}`")


class Deals:
    """The matches of an environment, one per reset.

    `reset(seed=s)` plays deal 0 under the seed `s`. Each reset without a seed plays the next deal under the same seed. If the
    first reset has no seed, the operating system provides one.
    """

    def __init__(self, rules: Rules | str, seats: int, reward: Reward) -> None:
        self.rules = Rules(rules)
        self.seats = seats
        self.reward: Reward = reward
        self.seed: int | None = None
        self.deal = 0
        Game(self.rules, seats, reward=reward)  # Validates the arguments early.

    def next(self, seed: int | None, options: dict[str, Any] | None) -> Game:
        """The match of a reset. The option `deal` selects a deal."""
        if seed is not None or self.seed is None:
            self.seed = secrets.randbits(63) if seed is None else int(seed)
            self.deal = 0
        else:
            self.deal += 1
        if options and "deal" in options:
            self.deal = int(options["deal"])
        return Game(self.rules, self.seats, seed=self.seed, deal=self.deal, reward=self.reward)
