"""Cambio for Gymnasium: one seat against library agents.

    import gymnasium
    import cambio_game.gymnasium

    env = gymnasium.make("cambio/Cambio-v0", rules="classic", opponents=["sharp"])
    observation, info = env.reset(seed=42)

    envs = gymnasium.make_vec("cambio/Cambio-v0", num_envs=256, opponents=["greedy"])

An observation is a dictionary: `observation` is the tensor of the player's seat, `action_mask` is 1 for each legal action. An
action is an index, as in `cambio_game.Action.from_index`. An illegal action raises `cambio_game.IllegalAction`; the environment is then
unchanged.

This module needs the package `gymnasium`: `pip install 'cambio-game[gymnasium]'`.
"""

from __future__ import annotations

from collections.abc import Sequence
from copy import deepcopy
from typing import TYPE_CHECKING, Any, ClassVar, Literal, TypeAlias

from ._extras import require

require("gymnasium", "gymnasium")

import gymnasium  # noqa: E402
import numpy as np  # noqa: E402
from gymnasium import spaces  # noqa: E402
from gymnasium.vector import AutoresetMode, VectorEnv  # noqa: E402
from gymnasium.vector.utils import batch_space  # noqa: E402
from numpy.typing import NDArray  # noqa: E402

from ._cambio import CambioError, Game, IllegalAction, Rules, VectorGame  # noqa: E402
from ._spaces import Deals, Observed, observation_space, one_of  # noqa: E402
from ._types import Reward  # noqa: E402

if TYPE_CHECKING:
    from typing_extensions import Self

__all__ = ["ID", "CambioEnv", "CambioVectorEnv"]

ID = "cambio/Cambio-v0"
RenderMode: TypeAlias = Literal["ansi", "human"]
Index: TypeAlias = int | np.integer[Any]


def _lineup(opponents: Sequence[str]) -> list[str | None]:
    """The argument `opponents` of `VectorGame`. The player has seat 0 in the first deal."""
    if isinstance(opponents, str):
        raise CambioError(f"`opponents` must be a list with a spec for each other seat, found the text `{opponents}`")
    if not 1 <= len(opponents) <= 7:
        raise CambioError(f"`opponents` must have 1 to 7 specs, one for each other seat, found {len(opponents)}")
    return [None, *opponents]


def _ended(match: VectorGame, number: int, seat: int) -> Observed:
    """A seat's last observation of a match that has ended."""
    final = match.final_observations
    assert final is not None
    return {"observation": final[number, seat].copy(), "action_mask": np.zeros(match.action_count, np.int8)}


class CambioEnv(gymnasium.Env[Observed, Index]):
    """One seat against library agents: `gymnasium.make("cambio/Cambio-v0", …)`.

    `rules` is a `Rules` object or the name of a preset. `opponents` has the specs of the agents in the other seats, in the order
    in which they follow the player. With `rotate`, the player has seat 0 in the first deal, seat 1 in the next, and so on;
    without it, always seat 0. `reward` is "rank" (from 1 for the first to −1 for the last when the match ends) or "score" (the
    points that each round adds, signed so that more is better).

    `reset(seed=s)` plays deal 0 under the seed `s`; a reset without a seed plays the next deal. The opponents play as in
    `cambio run`. `info` contains `seat`, the player's seat.

    `copy`, `deepcopy` and `pickle` work in the middle of a match and include the opponents.
    """

    metadata: ClassVar[dict[str, Any]] = {"render_modes": ["ansi", "human"], "render_fps": 1}  # type: ignore[misc]

    def __init__(
        self,
        rules: Rules | str = "classic",
        opponents: Sequence[str] = ("greedy",),
        *,
        rotate: bool = True,
        reward: Reward = "rank",
        render_mode: RenderMode | None = None,
    ) -> None:
        if render_mode is not None:
            one_of("render_mode", render_mode, ("ansi", "human"))
        self._lineup = _lineup(opponents)
        self._rotate = rotate
        seats = len(self._lineup)
        self._deals = Deals(rules, seats, reward)
        self.render_mode = render_mode
        self.layout = self._deals.rules.layout(seats)
        self.action_count = self._deals.rules.action_count(seats)
        self.observation_space: spaces.Space[Any] = observation_space(self.layout, self.action_count)
        self.action_space: spaces.Space[Any] = spaces.Discrete(self.action_count)
        self._match: VectorGame | None = None
        self._seat = 0
        self._is_over = True
        # Validates the specs.
        VectorGame(1, self._deals.rules, seats, opponents=self._lineup)

    @property
    def match(self) -> VectorGame:
        """The current match, as a batch of one. Raises `CambioError` before the first `reset`."""
        if self._match is None:
            raise CambioError("there is no match yet: call reset() first")
        return self._match

    @property
    def game(self) -> Game:
        """A copy of the current match, as a `Game`."""
        return self.match.game(0)

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Observed, dict[str, Any]]:
        """Starts a match. The option `deal` selects a deal."""
        super().reset(seed=seed)
        self._deals.next(seed, options)
        # A batch of one has already started the next deal.
        if seed is not None or options or self._match is None or int(self._match.deals[0]) != self._deals.deal:
            self._match = VectorGame(
                1,
                self._deals.rules,
                len(self._lineup),
                seed=self._deals.seed or 0,
                first_deal=self._deals.deal,
                opponents=self._lineup,
                rotate=self._rotate,
                reward=self._deals.reward,
                finals=True,
            )
            self._match.reset()
        self._is_over = False
        self._seat = int(self.match.seat[0])
        if self.render_mode == "human":
            self.render()
        return self._observe(), {"seat": self._seat}

    def step(self, action: Index) -> tuple[Observed, float, bool, bool, dict[str, Any]]:
        """Carries out an action, and the opponents' decisions until the player has to decide or the match is over.

        When the match is over, the observation is the player's last one, and no action is legal.
        """
        match = self.match
        if self._is_over:
            raise IllegalAction("the match is over: call reset()")
        match.step(np.array([action], np.int64))
        reward = float(match.rewards[0, self._seat])
        self._is_over = bool(match.done[0])
        info: dict[str, Any] = {"seat": self._seat}
        if self.render_mode == "human":
            self.render()
        return self._observe(), reward, self._is_over, False, info

    def _observe(self) -> Observed:
        match = self.match
        if self._is_over:
            return _ended(match, 0, self._seat)
        return {"observation": match.observations[0].copy(), "action_mask": match.masks[0].view(np.int8).copy()}

    def render(self) -> str | None:
        """The table with the faces that the player knows: returned in the mode `ansi`, printed in the mode `human`."""
        text = "the match is over\n" if self._is_over and self._match else self.game.render(self._seat)
        if self.render_mode == "human":
            print(text, end="", flush=True)
            return None
        return text

    def __copy__(self) -> Self:
        return deepcopy(self)


class CambioVectorEnv(VectorEnv[Observed, NDArray[np.int64], NDArray[Any]]):
    """Many matches at once, on `cambio_game.VectorGame`: `gymnasium.make_vec("cambio/Cambio-v0", num_envs=256, …)`.

    Match `i` plays the deals `i`, `i + num_envs`, … under the seed. When a match ends, the next one starts in the same step
    (`AutoresetMode.SAME_STEP`): the observation then belongs to the next match, and `infos["final_obs"]` has the player's last
    observation, as in Gymnasium's own vector environments. With `copy=False`, the observations are arrays that the next step
    overwrites. The results do not depend on the number of `threads`.

    `CambioEnv` documents the other options.
    """

    def __init__(
        self,
        num_envs: int = 1,
        rules: Rules | str = "classic",
        opponents: Sequence[str] = ("greedy",),
        *,
        rotate: bool = True,
        reward: Reward = "rank",
        threads: int = 1,
        copy: bool = True,
        render_mode: None = None,
    ) -> None:
        lineup = _lineup(opponents)
        self._make: dict[str, Any] = {
            "batch": num_envs,
            "rules": Rules(rules),
            "seats": len(lineup),
            "opponents": lineup,
            "rotate": rotate,
            "reward": reward,
            "threads": threads,
            "finals": True,
        }
        self._deals = Deals(rules, len(lineup), reward)
        self._copies = copy
        self.match = VectorGame(**self._make)
        self.layout = self.match.layout
        self.num_envs = num_envs
        self.render_mode = render_mode
        self.metadata = {"render_modes": [], "autoreset_mode": AutoresetMode.SAME_STEP}
        self.single_observation_space = observation_space(self.layout, self.match.action_count)
        self.single_action_space = spaces.Discrete(self.match.action_count)
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.action_space = batch_space(self.single_action_space, num_envs)

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Observed, dict[str, Any]]:
        """Restarts every match with the first deals of the seed; without a seed, of a new random seed."""
        super().reset(seed=seed)
        self._deals.seed = None
        self._deals.next(seed, options)
        self.match = VectorGame(**self._make, seed=self._deals.seed or 0, first_deal=self._deals.deal)
        self.match.reset()
        return self._observe(), {"seat": self.match.seat.copy()}

    def step(
        self, actions: NDArray[np.int64]
    ) -> tuple[Observed, NDArray[np.float32], NDArray[np.bool_], NDArray[np.bool_], dict[str, Any]]:
        """Carries out an action in every match. If one is illegal, raises `IllegalAction` and changes nothing."""
        seats = self.match.seat.copy()
        self.match.step(np.ascontiguousarray(actions))
        rewards = self.match.rewards[np.arange(self.num_envs), seats]
        infos: dict[str, Any] = {"seat": self.match.seat.copy()}
        if self.match.done.any():
            final, seen = np.full(self.num_envs, None, object), self.match.done.copy()
            for number in np.flatnonzero(seen):
                final[number] = _ended(self.match, int(number), int(seats[number]))
            infos |= {"final_obs": final, "_final_obs": seen, "final_info": {"seat": seats, "_seat": seen}, "_final_info": seen}
        return self._observe(), rewards, self.match.done.copy(), np.zeros(self.num_envs, np.bool_), infos

    def _observe(self) -> Observed:
        seen: Observed = {"observation": self.match.observations, "action_mask": self.match.masks.view(np.int8)}
        return {key: array.copy() for key, array in seen.items()} if self._copies else seen


gymnasium.register(ID, entry_point="cambio_game.gymnasium:CambioEnv", vector_entry_point="cambio_game.gymnasium:CambioVectorEnv")
