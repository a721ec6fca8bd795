"""The environments: `env` asks one seat after the other (AEC), `parallel_env` all seats at once.

The agents are `seat_0`, `seat_1`, … An observation is a dictionary:

| key | shape | dtype | |
|---|---|---|---|
| `observation` | `(layout.size,)` | `uint8` | the tensor of the seat; `env.layout` names its blocks |
| `action_mask` | `(action_count,)` | `int8` | 1 for each legal action; all 0 for a seat that is not asked |

An action is an index as `cambio.Action.from_index` reads it. Rewards are those of `cambio.Game`. A seat that is asked in a snap
window decides without knowing what the others of that window decided, and whoever is asked first has no advantage.

`copy`, `deepcopy` and `pickle` take an environment in the middle of a match; the copy goes on by itself, with the same chance.
"""

from __future__ import annotations

from copy import deepcopy
from typing import TYPE_CHECKING, Any, ClassVar, Literal, TypeAlias

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray
from pettingzoo import AECEnv, ParallelEnv
from pettingzoo.utils.env import AECIterable

from .._cambio import Action, ActionError, CambioError, Game, IllegalAction, Layout, Rules
from .._spaces import Deals, Illegal, Index, Observed, observation_space, observed, one_of, take
from .._types import Reward

if TYPE_CHECKING:
    from typing_extensions import Self

__all__ = ["CambioEnv", "ParallelCambioEnv", "env", "parallel_env", "raw_env"]

RenderMode: TypeAlias = Literal["ansi", "human"]


class _Table:
    """What both environments share: the match, the spaces, the seeds, the text for people."""

    metadata: ClassVar[dict[str, Any]] = {
        "name": "cambio_v0",
        "render_modes": ["ansi", "human"],
        "is_parallelizable": True,
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
        one_of("illegal", illegal, ("terminate", "raise", "random"))
        if max_cycles is not None and max_cycles < 1:
            raise CambioError(f"`max_cycles` is {max_cycles}; allowed is a number from 1, or None for no limit")
        self._deals = Deals(rules, seats, reward)
        self.illegal = illegal
        self.max_cycles = max_cycles
        self.render_mode = render_mode
        self.layout: Layout = self._deals.rules.layout(seats)
        self.action_count = self._deals.rules.action_count(seats)
        self.possible_agents: list[str] = [f"seat_{seat}" for seat in range(seats)]
        self.agents: list[str] = []
        self.observation_spaces: dict[str, spaces.Space[Any]] = {
            agent: observation_space(self.layout, self.action_count) for agent in self.possible_agents
        }
        self.action_spaces: dict[str, spaces.Space[Any]] = {
            agent: spaces.Discrete(self.action_count) for agent in self.possible_agents
        }
        self.state_space = spaces.Box(0, 255, (seats * self.layout.size,), np.uint8)
        self._seat_of = {agent: seat for seat, agent in enumerate(self.possible_agents)}
        self._game: Game | None = None
        self._cycles = 0
        self._random = np.random.default_rng(0)

    @property
    def rules(self) -> Rules:
        """The rules."""
        return self._deals.rules

    @property
    def game(self) -> Game:
        """The match that is being played. Raises `CambioError` before the first `reset`."""
        if self._game is None:
            raise CambioError("no match is being played: reset() comes first")
        return self._game

    def observation_space(self, agent: str) -> spaces.Space[Any]:
        """The space of an agent's observations; always the same object."""
        return self.observation_spaces[agent]

    def action_space(self, agent: str) -> spaces.Space[Any]:
        """The space of an agent's actions; always the same object."""
        return self.action_spaces[agent]

    def state(self) -> NDArray[np.uint8]:
        """All that the seats know together, for a critic that sees every seat: their tensors, one after the other.

        Shape `(seats * layout.size,)`, dtype `uint8`.
        """
        return np.concatenate([self.game.tensor(seat) for seat in range(self.game.seats)])

    def render(self) -> str | None:
        """The table as the seat sees it that is asked: returned in the mode `ansi`, printed in the mode `human`."""
        text = self.game.render()
        if self.render_mode == "human":
            print(text, end="", flush=True)
            return None
        return text

    def close(self) -> None:
        """Does nothing: no window is open."""

    def __copy__(self) -> Self:
        return deepcopy(self)

    def _begin(self, seed: int | None, options: dict[str, Any] | None) -> None:
        self._game = self._deals.next(seed, options)
        self._cycles = 0
        # Only replaces illegal actions; the match has chance of its own.
        if self.illegal == "random":
            self._random = np.random.default_rng((self._deals.seed or 0, self._deals.deal))
        self.agents = self.possible_agents[:]

    def _is_out_of_time(self) -> bool:
        return self.max_cycles is not None and self._cycles >= self.max_cycles

    def _endings(self) -> dict[str, dict[str, Any]]:
        """What the infos say of each agent when the match is over: its rank from 1 and its total."""
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
        """Begins a match: deal 0 of the seed, or the next deal if no seed is given. The option `deal` names one."""
        self._begin(seed, options)
        self.rewards = dict.fromkeys(self.agents, 0.0)
        self._cumulative_rewards = dict.fromkeys(self.agents, 0.0)
        self.terminations = dict.fromkeys(self.agents, False)
        self.truncations = dict.fromkeys(self.agents, False)
        self.infos = {agent: {} for agent in self.agents}
        self._skip_agent_selection = None
        self._select()
        if self.render_mode == "human":
            self.render()

    def agent_iter(self, max_iter: int = 2**63) -> AECIterable[str, Observed, Index | None]:
        """Goes through the agents that are asked, each followed by a `step`."""
        _ = self.game
        return super().agent_iter(max_iter)

    def observe(self, agent: str) -> Observed:
        """What an agent may know now."""
        return observed(self.game, self._seat_of[agent])

    def step(self, action: Index | Action | str | None) -> None:
        """Carries out an action of `agent_selection`: an index, an `Action` or its notation; `None` for an agent that is done.

        What an illegal action does is up to `illegal`. What is no action raises `ActionError`, and nothing has changed then.
        """
        game = self.game
        if not self.agents:
            raise IllegalAction("the match is over: reset() comes next")
        agent = self.agent_selection
        if self.terminations[agent] or self.truncations[agent]:
            self._was_dead_step(action)
            return
        if action is None:
            raise ActionError(f"the action of {agent} is None; that is allowed only once an agent is terminated or truncated")
        lost = take(game, action, self.illegal, self._random)
        self._cycles += 1
        self._cumulative_rewards[agent] = 0.0
        if lost:
            self.rewards = {other: -float(other == agent) for other in self.agents}
            self.terminations = dict.fromkeys(self.agents, True)
            self._accumulate_rewards()
        else:
            rewards = game.rewards()
            self.rewards = dict(zip(self.agents, rewards, strict=True))
            if any(rewards):
                self._accumulate_rewards()
            if game.is_over:
                self.terminations = dict.fromkeys(self.agents, True)
                self.infos = self._endings()
            elif self._is_out_of_time():
                self.truncations = dict.fromkeys(self.agents, True)
        self._select()
        if self.render_mode == "human":
            self.render()

    def _select(self) -> None:
        seat = self.game.seat
        first = self.agents[0]
        if seat is None or self.terminations[first] or self.truncations[first]:
            self.agent_selection = first
        else:
            self.agent_selection = self.possible_agents[seat]


class ParallelCambioEnv(_Table, ParallelEnv[str, Observed, Index]):
    """A parallel environment of one match. See `parallel_env`."""

    def reset(
        self, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[dict[str, Observed], dict[str, dict[str, Any]]]:
        """Begins a match: deal 0 of the seed, or the next deal if no seed is given. The option `deal` names one."""
        self._begin(seed, options)
        observations = self._observe()
        if self.render_mode == "human":
            self.render()
        return observations, {agent: {} for agent in self.agents}

    @property
    def asked(self) -> tuple[str, ...]:
        """The agents whose actions the next `step` needs: one, or all that a snap window asks."""
        return tuple(self._masks)

    def step(
        self, actions: dict[str, Index]
    ) -> tuple[
        dict[str, Observed], dict[str, float], dict[str, bool], dict[str, bool], dict[str, dict[str, Any]]
    ]:
        """Carries out the actions of the agents that are asked; those of the others are left alone.

        An action is an index. What an illegal one does is up to `illegal`. Raises `ActionError` if an agent that is asked
        has no action; nothing has changed then.
        """
        game = self.game
        if not self.agents:
            raise IllegalAction("the match is over: reset() comes next")
        chosen: dict[str, int] = {}
        culprit = None
        for agent, mask in self._masks.items():
            if actions.get(agent) is None:
                raise ActionError(f"{agent} is asked and has no action")
            index = int(actions[agent])
            if not 0 <= index < len(mask):
                raise ActionError(f"the action of {agent} is {index}; allowed is a number from 0 to {len(mask) - 1}")
            if not mask[index]:
                if self.illegal == "raise":
                    action = Action.from_index(index, self.rules, game.seats, self._seat_of[agent])
                    raise IllegalAction(f"{agent} cannot do `{action}` now; its action mask says what it can do")
                if self.illegal == "random":
                    index = int(self._random.choice(np.flatnonzero(mask)))
                elif culprit is None:
                    culprit = agent
            chosen[agent] = index
        self._cycles += 1
        agents = self.agents
        rewards = dict.fromkeys(agents, 0.0)
        if culprit is not None:
            rewards[culprit] = -1.0
        else:
            for index in chosen.values():
                game.step(index)
                for agent, reward in zip(agents, game.rewards(), strict=True):
                    rewards[agent] += reward
        over = culprit is not None or game.is_over
        late = not over and self._is_out_of_time()
        observations = self._observe()
        infos = self._endings()
        if over or late:
            self.agents = []
        if self.render_mode == "human":
            self.render()
        return observations, rewards, dict.fromkeys(agents, over), dict.fromkeys(agents, late), infos

    def _observe(self) -> dict[str, Observed]:
        """What each agent may know now, and into `_masks` the masks of those that are asked, in their order.

        A snap window asks its seats one after the other; what one decides is secret until all have. So each of them is
        observed at the moment when it is asked, in a copy in which those before it pass.
        """
        game = self.game
        observations = {agent: observed(game, seat) for agent, seat in self._seat_of.items()}
        self._masks: dict[str, NDArray[np.int8]] = {}
        seat, probe = game.seat, game
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
    """An AEC environment: `agent_selection` is the seat that is asked.

    `rules` are `Rules` or the name of a preset, `seats` 2 to 8. `reward` is "rank", 1 for the first to −1 for the last when
    the match ends, or "score", what each round adds, more being better. An illegal action ends the match with −1 for who
    chose it and 0 for the others (`illegal="terminate"`), raises `IllegalAction` and changes nothing ("raise"), or becomes a
    random legal one ("random"). After `max_cycles` calls of `step` a match is truncated.
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
    """A parallel environment: `step` takes the actions of all seats that are asked at once.

    These are the seats of a snap window, and one seat elsewhere: `parallel_env.asked`. The mask of the others is all 0, and
    what they answer is left alone. The options are those of `env`.
    """
    return ParallelCambioEnv(rules, seats, reward=reward, illegal=illegal, max_cycles=max_cycles, render_mode=render_mode)


raw_env = env
