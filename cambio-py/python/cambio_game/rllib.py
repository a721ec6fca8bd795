"""Cambio for RLlib: every seat is an agent, and only the seat to act gets an observation.

    from ray.rllib.algorithms.ppo import PPOConfig
    from cambio_game.rllib import CambioMultiAgentEnv

    config = PPOConfig().environment(CambioMultiAgentEnv, env_config={"rules": "classic", "seats": 2})

An observation is a dictionary: `observations` is the tensor of the seat, `action_mask` is 1 for each legal action. RLlib's
`ActionMaskingRLModule` reads these keys. An action is an index, as in `cambio_game.Action.from_index`.

This module needs the package `ray` with RLlib: `pip install 'cambio-game[rllib]'`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ._extras import require

require("ray", "rllib")
require("gymnasium", "rllib")

import numpy as np  # noqa: E402
from gymnasium import spaces  # noqa: E402
from ray.rllib.env.multi_agent_env import MultiAgentEnv  # noqa: E402

from ._cambio import ActionError, CambioError, IllegalAction  # noqa: E402
from ._checks import mapping  # noqa: E402
from ._spaces import Index, Observed, Table, bounds, take  # noqa: E402

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["CambioMultiAgentEnv"]

DEFAULTS: dict[str, Any] = {"rules": "classic", "seats": 2, "reward": "rank", "illegal": "terminate", "max_cycles": None}


class CambioMultiAgentEnv(Table, MultiAgentEnv):
    """An RLlib environment of one match; the agents are `seat_0`, `seat_1`, …

    `config` can have these options:

    | option | default | |
    |---|---|---|
    | `rules` | `"classic"` | a `Rules` object or the name of a preset |
    | `seats` | 2 | 2 to 8 |
    | `reward` | `"rank"` | "rank": from 1 for the first to −1 for the last when the match ends; "score": the points that each round adds, signed so that more is better |
    | `illegal` | `"terminate"` | an illegal action ends the match with −1 for its agent; "raise": it raises `IllegalAction` and changes nothing; "random": a random legal action replaces it |
    | `max_cycles` | `None` | the number of actions after which a match is truncated |

    `reset` and `step` return the observation of the seat to act, or those of all seats when the match is over. The rewards
    contain the seat that acted; if any reward is not 0, they contain all seats.

    A reset with a seed plays deal 0 of the seed; a reset without a seed plays the next deal. `deepcopy` and `pickle` work in the
    middle of a match.
    """

    def __init__(self, config: Mapping[str, Any] | None = None) -> None:
        super().__init__()
        mapping("config", config or {})
        options = {**DEFAULTS, **(config or {})}
        for name in options:
            if name not in DEFAULTS:
                raise CambioError(f"`config` must have only the options {', '.join(DEFAULTS)}, found `{name}`")
        self._open(**options)
        self.agents = self.possible_agents[:]
        space = spaces.Dict(
            {
                "observations": spaces.Box(np.zeros(self.layout.size, np.uint8), bounds(self.layout), dtype=np.uint8),
                "action_mask": spaces.Box(0, 1, (self.action_count,), np.int8),
            }
        )
        self.observation_spaces = dict.fromkeys(self.possible_agents, space)
        self.action_spaces = {agent: spaces.Discrete(self.action_count) for agent in self.possible_agents}

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[dict[str, Observed], dict[str, Any]]:
        """Starts a match. The option `deal` selects a deal."""
        self._begin(seed, options)
        return self._observe(), {}

    def step(
        self, action_dict: dict[str, Index]
    ) -> tuple[dict[str, Observed], dict[str, float], dict[str, bool], dict[str, bool], dict[str, Any]]:
        """Carries out the action of the seat to act and ignores all other actions.

        Raises `ActionError` if this action is missing or is not an index; the environment is then unchanged.
        """
        game = self.game
        if self._is_over or game.seat is None:
            raise IllegalAction("the match is over: call reset()")
        mapping("action_dict", action_dict)
        agent = self.possible_agents[game.seat]
        if action_dict.get(agent) is None:
            raise ActionError(f"`action_dict` must have an action of {agent}, found none")
        lost = take(game, action_dict[agent], self.illegal, self._random)
        self._cycles += 1
        gains = dict(zip(self.possible_agents, game.rewards(), strict=True))
        if lost:
            gains = {other: -float(other == agent) for other in self.possible_agents}
        rewards = gains if any(gains.values()) else {agent: 0.0}
        over = lost or game.is_over
        late = not over and self._is_late()
        self._is_over = over or late
        ended = {**(dict.fromkeys(self.possible_agents, True) if over else {}), "__all__": over}
        cut = {**(dict.fromkeys(self.possible_agents, True) if late else {}), "__all__": late}
        return self._observe(), rewards, ended, cut, {}

    def render(self) -> str:
        """The table with the faces that the seat to act knows."""
        return self.game.render()

    def _observe(self) -> dict[str, Observed]:
        """The observation of the seat to act; when the match is over, of every seat."""
        game = self.game
        if not self._is_over and game.seat is not None:
            return {self.possible_agents[game.seat]: self._seen(game.seat, game.mask(game.seat))}
        nothing = np.zeros(self.action_count, np.bool_)
        return {agent: self._seen(seat, nothing) for seat, agent in enumerate(self.possible_agents)}

    def _seen(self, seat: int, mask: NDArray[np.bool_]) -> Observed:
        return {"observations": self.game.tensor(seat), "action_mask": mask.view(np.int8)}
