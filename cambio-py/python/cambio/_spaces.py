"""The spaces of observations and actions, and seeds, as Gymnasium's conventions have them."""

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
    """`observation`, a tensor of the layout, and `action_mask`, a 1 for each legal action."""
    return spaces.Dict(
        {
            "observation": spaces.Box(np.zeros(layout.size, np.uint8), bounds(layout), dtype=np.uint8),
            "action_mask": spaces.Box(0, 1, (actions,), np.int8),
        }
    )


def observed(game: Game, seat: int) -> Observed:
    """What `observation_space` contains, of one seat: the mask is all 0 where the seat is not asked."""
    return {"observation": game.tensor(seat), "action_mask": game.mask(seat).view(np.int8)}


def take(game: Game, action: Index | Action | str, illegal: Illegal, random: np.random.Generator) -> bool:
    """Steps a game. Returns whether its seat has lost by an illegal action; else such an action raises or becomes a random one."""
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
    """The value of an option, checked."""
    for choice in allowed:
        if choice == value:
            return choice
    raise CambioError(f"`{name}` is `{value}`; allowed is {', '.join(allowed[:-1])} or {allowed[-1]}")


class Deals:
    """The matches of an environment, one for each reset.

    `reset(seed=s)` plays deal 0 under the seed `s`; each reset without a seed plays the next deal under the same seed. An
    environment that was never given a seed takes one from the operating system.
    """

    def __init__(self, rules: Rules | str, seats: int, reward: Reward) -> None:
        self.rules = Rules(rules)
        self.seats = seats
        self.reward: Reward = reward
        self.seed: int | None = None
        self.deal = 0
        Game(self.rules, seats, reward=reward)  # Refuses what cannot be played before a game is asked for.

    def next(self, seed: int | None, options: dict[str, Any] | None) -> Game:
        """The match of a reset; the option `deal` names one."""
        if seed is not None or self.seed is None:
            self.seed = secrets.randbits(63) if seed is None else int(seed)
            self.deal = 0
        else:
            self.deal += 1
        if options and "deal" in options:
            self.deal = int(options["deal"])
        return Game(self.rules, self.seats, seed=self.seed, deal=self.deal, reward=self.reward)
