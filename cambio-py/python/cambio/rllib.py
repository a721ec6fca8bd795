"""Cambio for RLlib: every seat is an agent, and the one that is asked is the one that is observed.

    from ray.rllib.algorithms.ppo import PPOConfig
    from cambio.rllib import CambioMultiAgentEnv

    config = PPOConfig().environment(CambioMultiAgentEnv, env_config={"rules": "classic", "seats": 2})

An observation is a dictionary of `observations`, the tensor of the seat, and `action_mask`, 1 for each legal action: the keys that
RLlib's `ActionMaskingRLModule` reads. An action is an index as `cambio.Action.from_index` reads it.

It needs the package `ray` with RLlib: `pip install 'cambio[rllib]'`.
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

from ._cambio import ActionError, CambioError, Game, IllegalAction  # noqa: E402
from ._spaces import Deals, Illegal, Index, Observed, bounds, one_of, take  # noqa: E402

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["CambioMultiAgentEnv"]

OPTIONS = ("rules", "seats", "reward", "illegal", "max_cycles")


class CambioMultiAgentEnv(MultiAgentEnv):
    """One match as RLlib has it; the agents are `seat_0`, `seat_1`, …

    `config` holds any of these options:

    | option | default | |
    |---|---|---|
    | `rules` | `"classic"` | `Rules` or the name of a preset |
    | `seats` | 2 | 2 to 8 |
    | `reward` | `"rank"` | "rank": 1 for the first to −1 for the last when the match ends; "score": what each round adds |
    | `illegal` | `"terminate"` | an illegal action ends the match with −1 for who chose it; "raise" raises `IllegalAction`, and nothing has changed; "random" makes it a random legal one |
    | `max_cycles` | `None` | after so many actions a match is truncated |

    `reset` and `step` observe the seat that is asked, and it alone; when the match is over they observe every seat. Rewards
    name the seat that acted, and every seat where one of them got something.

    A reset with a seed plays deal 0 of the seed, one without it the next deal. `deepcopy` and `pickle` take an environment in
    the middle of a match.
    """

    def __init__(self, config: Mapping[str, Any] | None = None) -> None:
        super().__init__()
        options = dict(config or {})
        for name in options:
            if name not in OPTIONS:
                raise CambioError(f"`config` has `{name}`; allowed are {', '.join(OPTIONS)}")
        seats = int(options.get("seats", 2))
        self._deals = Deals(options.get("rules", "classic"), seats, options.get("reward", "rank"))
        self._illegal: Illegal = one_of("illegal", options.get("illegal", "terminate"), ("terminate", "raise", "random"))
        self._most: int | None = options.get("max_cycles")
        if self._most is not None and self._most < 1:
            raise CambioError(f"`max_cycles` is {self._most}; allowed is a number from 1, or None for no limit")
        self.layout = self._deals.rules.layout(seats)
        self.action_count = self._deals.rules.action_count(seats)
        self.possible_agents = [f"seat_{seat}" for seat in range(seats)]
        self.agents = self.possible_agents[:]
        space = spaces.Dict(
            {
                "observations": spaces.Box(np.zeros(self.layout.size, np.uint8), bounds(self.layout), dtype=np.uint8),
                "action_mask": spaces.Box(0, 1, (self.action_count,), np.int8),
            }
        )
        self.observation_spaces = dict.fromkeys(self.possible_agents, space)
        self.action_spaces = {agent: spaces.Discrete(self.action_count) for agent in self.possible_agents}
        self._game: Game | None = None
        self._cycles, self._is_over = 0, True
        self._random = np.random.default_rng(0)

    @property
    def game(self) -> Game:
        """The match that is being played. Raises `CambioError` before the first `reset`."""
        if self._game is None:
            raise CambioError("no match is being played: reset() comes first")
        return self._game

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[dict[str, Observed], dict[str, Any]]:
        """Begins a match. The option `deal` names a deal."""
        self._game = self._deals.next(seed, options)
        self._random = np.random.default_rng((self._deals.seed or 0, self._deals.deal))
        self._cycles, self._is_over = 0, False
        return self._observe(), {}

    def step(
        self, action_dict: dict[str, Index]
    ) -> tuple[dict[str, Observed], dict[str, float], dict[str, bool], dict[str, bool], dict[str, Any]]:
        """Carries out the action of the seat that is asked; those of others are left alone.

        Raises `ActionError` if the seat has no action or the action is no index; nothing has changed then.
        """
        game = self.game
        if self._is_over or game.seat is None:
            raise IllegalAction("the match is over: reset() comes next")
        agent = self.possible_agents[game.seat]
        if action_dict.get(agent) is None:
            raise ActionError(f"{agent} is asked and has no action")
        lost = take(game, int(action_dict[agent]), self._illegal, self._random)
        self._cycles += 1
        gains = dict(zip(self.possible_agents, game.rewards(), strict=True))
        if lost:
            gains = {other: -float(other == agent) for other in self.possible_agents}
        rewards = gains if any(gains.values()) else {agent: 0.0}
        over = lost or game.is_over
        late = not over and self._most is not None and self._cycles >= self._most
        self._is_over = over or late
        ended = {**(dict.fromkeys(self.possible_agents, True) if over else {}), "__all__": over}
        cut = {**(dict.fromkeys(self.possible_agents, True) if late else {}), "__all__": late}
        return self._observe(), rewards, ended, cut, {}

    def render(self) -> str:
        """The table as the seat sees it that is asked."""
        return self.game.render()

    def _observe(self) -> dict[str, Observed]:
        """What the seat that is asked may know; of every seat when the match is over."""
        game = self.game
        if not self._is_over and game.seat is not None:
            return {self.possible_agents[game.seat]: self._seen(game.seat, game.mask(game.seat))}
        nothing = np.zeros(self.action_count, np.bool_)
        return {agent: self._seen(seat, nothing) for seat, agent in enumerate(self.possible_agents)}

    def _seen(self, seat: int, mask: NDArray[np.bool_]) -> Observed:
        return {"observations": self.game.tensor(seat), "action_mask": mask.view(np.int8)}
