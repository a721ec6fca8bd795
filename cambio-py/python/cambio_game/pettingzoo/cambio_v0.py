"""The environments. In `env`, the seats act one after the other (AEC); in `parallel_env`, the seats of a snap window act at once.

The agents are `seat_0`, `seat_1`, … An observation is a dictionary:

| key | shape | dtype | |
|---|---|---|---|
| `observation` | `(layout.size,)` | `uint8` | the tensor of the seat; `env.layout` names its blocks |
| `action_mask` | `(action_count,)` | `int8` | 1 for each legal action; all 0 if it is not the seat to act |

An action is an index, as in `cambio.Action.from_index`. The rewards are the same as in `cambio.Game`. In a snap window, no seat
sees the decisions of the others until all seats have decided, so the order of the seats gives no advantage.

`copy`, `deepcopy` and `pickle` work in the middle of a match. A copy is independent; the same actions have the same random
outcomes in it.
"""

from __future__ import annotations

from collections.abc import Mapping
from copy import deepcopy
from typing import TYPE_CHECKING, Any, ClassVar, Literal, SupportsIndex, TypeAlias

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray
from pettingzoo import AECEnv, ParallelEnv
from pettingzoo.utils.env import AECIterable

from .._cambio import Action, ActionError, IllegalAction, Rules
from .._checks import index, mapping, one_of
from .._spaces import Illegal, Index, Observed, Table, observation_space, observed, take
from .._types import Reward

if TYPE_CHECKING:
    from typing_extensions import Self

__all__ = ["CambioEnv", "ParallelCambioEnv", "env", "parallel_env", "raw_env"]

RenderMode: TypeAlias = Literal["ansi", "human"]


class _Table(Table):
    """The common part of both environments: spaces and rendering."""

    metadata: ClassVar[dict[str, Any]] = {
        "name": "cambio_v0",
        "render_modes": ["ansi", "human"],
        # PettingZoo's `aec_to_parallel` needs an environment in which each agent acts in each cycle.
        "is_parallelizable": False,
        "render_fps": 1,
    }

    def __init__(
        self,
        rules: Rules | str = "classic",
        seats: int = 2,
        *,
        reward: Reward = "rank",
        illegal: Illegal = "terminate",
        max_cycles: int | None = None,
        render_mode: RenderMode | None = None,
    ) -> None:
        super().__init__()
        if render_mode is not None:
            one_of("render_mode", render_mode, ("ansi", "human"))
        self._open(rules, seats, reward, illegal, max_cycles)
        self.render_mode = render_mode
        self.agents: list[str] = []
        self._masks: dict[str, NDArray[np.int8]] = {}
        self.observation_spaces: dict[str, spaces.Space[Any]] = {
            agent: observation_space(self.layout, self.action_count) for agent in self.possible_agents
        }
        self.action_spaces: dict[str, spaces.Space[Any]] = {
            agent: spaces.Discrete(self.action_count) for agent in self.possible_agents
        }
        self.state_space = spaces.Box(0, 255, (self._deals.seats * self.layout.size,), np.uint8)

    def observation_space(self, agent: str) -> spaces.Space[Any]:
        """The space of an agent's observations; always the same object."""
        return self.observation_spaces[agent]

    def action_space(self, agent: str) -> spaces.Space[Any]:
        """The space of an agent's actions; always the same object."""
        return self.action_spaces[agent]

    def state(self) -> NDArray[np.uint8]:
        """The tensors of all seats, concatenated, for a critic that sees every seat.

        Shape `(seats * layout.size,)`, dtype `uint8`.
        """
        return np.concatenate([self.game.tensor(seat) for seat in range(self.game.seats)])

    def render(self) -> str | None:
        """The table with the faces that the seat to act knows: returned in the mode `ansi`, printed in the mode `human`."""
        text = self.game.render()
        if self.render_mode == "human":
            print(text, end="", flush=True)
            return None
        return text

    def close(self) -> None:
        """Does nothing, because rendering opens no window."""

    def __copy__(self) -> Self:
        return deepcopy(self)

    def _begin(self, seed: SupportsIndex | None, options: Mapping[str, Any] | None) -> None:
        # PettingZoo's own tests give an option with the name `options`.
        given = {name: value for name, value in options.items() if name != "options"} if isinstance(options, Mapping) else options
        super()._begin(seed, given)
        self.agents = self.possible_agents[:]

    def _endings(self) -> dict[str, dict[str, Any]]:
        """Each agent's info at the end of the match: its rank, from 1, and its total."""
        ranks = self.game.ranks
        if ranks is None:
            return {agent: {} for agent in self.possible_agents}
        totals = self.game.totals
        return {agent: {"rank": ranks[seat], "total": totals[seat]} for agent, seat in self._seat_of.items()}


class CambioEnv(_Table, AECEnv[str, Observed, Index | None]):
    """An AEC environment of one match. See `env`."""

    rewards: dict[str, float]
    terminations: dict[str, bool]
    truncations: dict[str, bool]
    infos: dict[str, dict[str, Any]]

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        """Starts a match: deal 0 of the seed, or the next deal without a seed. The option `deal` selects a deal."""
        self._begin(seed, options)
        self.rewards = dict.fromkeys(self.agents, 0.0)
        self._cumulative_rewards = dict.fromkeys(self.agents, 0.0)
        self.terminations = dict.fromkeys(self.agents, False)
        self.truncations = dict.fromkeys(self.agents, False)
        self.infos = {agent: {} for agent in self.agents}
        self._skip_agent_selection = None
        self.agent_selection = self.possible_agents[self.game.seat or 0]
        if self.render_mode == "human":
            self.render()

    def agent_iter(self, max_iter: int = 2**63) -> AECIterable[str, Observed, Index | None]:
        """Iterates over the agents to act; call `step` for each."""
        _ = self.game
        return super().agent_iter(max_iter)

    def observe(self, agent: str) -> Observed:
        """The current observation of an agent."""
        return observed(self.game, self._seat_of[agent], is_over=self._is_over)

    def step(self, action: Index | Action | str | None) -> None:
        """Carries out an action of `agent_selection`: an index, an `Action` or its notation; `None` for an agent that is done.

        The option `illegal` determines the effect of an illegal action. A value that is not an action raises `ActionError`;
        the environment is then unchanged.
        """
        game = self.game
        agents = self.agents
        if not agents:
            raise IllegalAction("the match is over: call reset()")
        agent = self.agent_selection
        if self.terminations[agent] or self.truncations[agent]:
            self._was_dead_step(action)
            return
        if action is None:
            raise ActionError(f"the action of {agent} must not be None until the agent is terminated or truncated")
        lost = take(game, action, self.illegal, self._random)
        self._cycles += 1
        self._cumulative_rewards[agent] = 0.0
        seat = game.seat
        if seat is not None and not lost and self._deals.reward == "rank":
            self.rewards = dict.fromkeys(agents, 0.0)  # Ranks are known at the end.
        else:
            gains = [-float(other == agent) for other in agents] if lost else game.rewards()
            self.rewards = dict(zip(agents, gains, strict=True))
            if any(gains):
                self._accumulate_rewards()
            if lost or seat is None:
                self.terminations = dict.fromkeys(agents, True)
                self.infos = self.infos if lost else self._endings()
                seat = None
        if seat is not None and self._is_late():
            self.truncations = dict.fromkeys(agents, True)
            seat = None
        self._is_over = seat is None
        self.agent_selection = agents[0] if seat is None else self.possible_agents[seat]
        if self.render_mode == "human":
            self.render()


class ParallelCambioEnv(_Table, ParallelEnv[str, Observed, Index]):
    """A parallel environment of one match. See `parallel_env`."""

    metadata: ClassVar[dict[str, Any]] = {**_Table.metadata, "is_parallelizable": True}

    def reset(
        self, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[dict[str, Observed], dict[str, dict[str, Any]]]:
        """Starts a match: deal 0 of the seed, or the next deal without a seed. The option `deal` selects a deal."""
        self._begin(seed, options)
        observations = self._observe()
        if self.render_mode == "human":
            self.render()
        return observations, {agent: {} for agent in self.agents}

    @property
    def asked(self) -> tuple[str, ...]:
        """The agents whose actions the next `step` needs: one agent, or all that may act in a snap window."""
        return tuple(self._masks)

    def step(
        self, actions: dict[str, Index]
    ) -> tuple[dict[str, Observed], dict[str, float], dict[str, bool], dict[str, bool], dict[str, dict[str, Any]]]:
        """Carries out the actions of the agents in `asked` and ignores all other actions.

        An action is an index. The option `illegal` determines the effect of an illegal action. Raises `ActionError` if an agent
        in `asked` has no action; the environment is then unchanged.
        """
        game = self.game
        if not self.agents:
            raise IllegalAction("the match is over: call reset()")
        mapping("actions", actions)
        chosen: dict[str, int] = {}
        culprit = None
        for agent, mask in self._masks.items():
            if actions.get(agent) is None:
                raise ActionError(f"`actions` must have an action of {agent}, found none")
            chosen[agent] = index(f"actions[{agent}]", actions[agent], len(mask))
            if self.illegal == "raise" and not mask[chosen[agent]]:
                action = Action.from_index(chosen[agent], self.rules, game.seats, self._seat_of[agent])
                raise IllegalAction(f"`{action}` is illegal for {agent}; its action mask has the legal actions")
        for agent in [agent for agent, number in chosen.items() if not self._masks[agent][number]]:
            if self.illegal == "random":
                chosen[agent] = int(self._random.choice(np.flatnonzero(self._masks[agent])))
            elif culprit is None:
                culprit = agent
        self._cycles += 1
        agents = self.agents
        rewards = dict.fromkeys(agents, 0.0)
        if culprit is not None:
            rewards[culprit] = -1.0
        else:
            for number in chosen.values():
                game.step(number)
                for agent, reward in zip(agents, game.rewards(), strict=True):
                    rewards[agent] += reward
        over = culprit is not None or game.is_over
        late = not over and self._is_late()
        self._is_over = over or late
        observations = self._observe()
        infos = self._endings()
        if over or late:
            self.agents = []
        if self.render_mode == "human":
            self.render()
        return observations, rewards, dict.fromkeys(agents, over), dict.fromkeys(agents, late), infos

    def _observe(self) -> dict[str, Observed]:
        """Returns each agent's observation, and stores the masks of the agents to act in `_masks`, in their order.

        In a snap window, the game asks its seats one after the other, and each decision is secret until all have decided. So
        each seat's observation is taken from a copy of the game in which the seats before it have passed.
        """
        game = self.game
        observations = {agent: observed(game, seat, is_over=self._is_over) for agent, seat in self._seat_of.items()}
        self._masks = {}
        seat, probe = None if self._is_over else game.seat, game
        while seat is not None:
            agent = self.possible_agents[seat]
            if probe is not game:
                observations[agent] = observed(probe, seat)
            self._masks[agent] = observations[agent]["action_mask"]
            if probe.observe(seat).phase != "window":
                break
            if probe is game:
                probe = game.copy()
            probe.step("pass")
            seat = probe.seat
            if seat is None or self.possible_agents[seat] in self._masks or probe.round != game.round:
                break
            if probe.observe(seat).phase != "window":
                break
        return observations


def env(
    rules: Rules | str = "classic",
    seats: int = 2,
    *,
    reward: Reward = "rank",
    illegal: Illegal = "terminate",
    max_cycles: int | None = None,
    render_mode: RenderMode | None = None,
) -> CambioEnv:
    """Creates an AEC environment: `agent_selection` is the seat to act.

    `rules` is a `Rules` object or the name of a preset; `seats` is 2 to 8. `reward` is "rank" (from 1 for the first to −1 for the
    last when the match ends) or "score" (the points that each round adds, signed so that more is better). With
    `illegal="terminate"`, an illegal action ends the match with −1 for its agent and 0 for the others; with "raise", it raises
    `IllegalAction` and changes nothing; with "random", a random legal action replaces it. A match is truncated after
    `max_cycles` calls of `step`.
    """
    return CambioEnv(rules, seats, reward=reward, illegal=illegal, max_cycles=max_cycles, render_mode=render_mode)


def parallel_env(
    rules: Rules | str = "classic",
    seats: int = 2,
    *,
    reward: Reward = "rank",
    illegal: Illegal = "terminate",
    max_cycles: int | None = None,
    render_mode: RenderMode | None = None,
) -> ParallelCambioEnv:
    """Creates a parallel environment: `step` takes the actions of all seats to act at once.

    These are all seats of a snap window, and one seat in other phases; the property `asked` has them. The masks of the other
    seats are all 0, and their actions are ignored. `env` documents the options.
    """
    return ParallelCambioEnv(rules, seats, reward=reward, illegal=illegal, max_cycles=max_cycles, render_mode=render_mode)


raw_env = env
