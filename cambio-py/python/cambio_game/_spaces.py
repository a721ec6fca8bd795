"""Observation spaces, action spaces and seeds, following the conventions of Gymnasium."""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from typing import Any, Literal, SupportsIndex, TypeAlias

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from ._cambio import Action, CambioError, Game, IllegalAction, Layout, Rules
from ._checks import mapping, one_of, whole
from ._types import Reward

Observed: TypeAlias = dict[str, NDArray[Any]]
Index: TypeAlias = int | np.integer[Any]
Illegal: TypeAlias = Literal["terminate", "raise", "random"]
ILLEGAL: tuple[Illegal, ...] = ("terminate", "raise", "random")


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


def observed(game: Game, seat: int, *, is_over: bool = False) -> Observed:
    """One seat's observation, an element of `observation_space`. The mask is all 0 if it is not the seat to act, and if the match is over."""
    mask = np.zeros(game.action_count, np.int8) if is_over else game.mask(seat).view(np.int8)
    return {"observation": game.tensor(seat), "action_mask": mask}


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


class Deals:
    """The matches of an environment, one per reset.

    `reset(seed=s)` plays deal 0 under the seed `s`. Each reset without a seed plays the next deal under the same seed. If the
    first reset has no seed, the operating system provides one.
    """

    def __init__(self, rules: Rules | str, seats: SupportsIndex, reward: Reward) -> None:
        self.rules = Rules(rules)
        self.seats = whole("seats", seats, 2, 8)
        self.reward: Reward = one_of("reward", reward, ("rank", "score"))
        self.seed: int | None = None
        self.deal = 0
        Game(self.rules, self.seats, reward=reward)  # Validates the arguments early.

    def find(self, seed: SupportsIndex | None, options: Mapping[str, Any] | None) -> tuple[int, int]:
        """The seed and the deal of a reset, which becomes the current one by `take`. The option `deal` selects a deal."""
        if options is not None:
            mapping("options", options)
        for name in options or {}:
            if name != "deal":
                raise CambioError(f"`options` must have only `deal`, found `{name}`")
        given = None if seed is None else whole("seed", seed)
        if given is None:
            given = secrets.randbits(63) if self.seed is None else self.seed
        deal = self.deal + 1 if seed is None and self.seed is not None else 0
        return given, whole("deal", options["deal"]) if options else deal

    def next(self, seed: SupportsIndex | None, options: Mapping[str, Any] | None) -> Game:
        """The match of a reset. If an argument is refused, nothing changes."""
        chosen, deal = self.find(seed, options)
        game = Game(self.rules, self.seats, seed=chosen, deal=deal, reward=self.reward)
        self.seed, self.deal = chosen, deal
        return game


class Table:
    """The common part of environments with an agent for each seat: options, match, seeds."""

    _game: Game | None = None

    def _open(
        self, rules: Rules | str, seats: SupportsIndex, reward: Reward, illegal: Illegal, max_cycles: SupportsIndex | None
    ) -> None:
        """Validates the options of the constructor."""
        self._deals = Deals(rules, seats, reward)
        self.illegal: Illegal = one_of("illegal", illegal, ILLEGAL)
        try:
            self.max_cycles = None if max_cycles is None else whole("max_cycles", max_cycles, 1)
        except CambioError:
            raise CambioError(f"`max_cycles` must be at least 1, or None for no limit, found {max_cycles}") from None
        self.layout = Layout(self.rules, self._deals.seats)
        self.action_count = self.rules.action_count(self._deals.seats)
        self.possible_agents: list[str] = [f"seat_{seat}" for seat in range(self._deals.seats)]
        self._seat_of = {agent: seat for seat, agent in enumerate(self.possible_agents)}
        self._cycles, self._is_over = 0, True
        # Used only to replace illegal actions; the match has its own random numbers.
        self._random = np.random.default_rng(0)

    @property
    def rules(self) -> Rules:
        """The rules."""
        return self._deals.rules

    @property
    def game(self) -> Game:
        """The current match; after its end, the finished match until the next `reset`. Raises `CambioError` before the first `reset`."""
        if self._game is None:
            raise CambioError("there is no match yet: call reset() first")
        return self._game

    def _begin(self, seed: SupportsIndex | None, options: Mapping[str, Any] | None) -> None:
        """Starts the match of a reset. If an argument is refused, nothing changes."""
        self._game = self._deals.next(seed, options)
        self._cycles, self._is_over = 0, False
        if self.illegal == "random":
            self._random = np.random.default_rng((self._deals.seed or 0, self._deals.deal))

    def _is_late(self) -> bool:
        return self.max_cycles is not None and self._cycles >= self.max_cycles
