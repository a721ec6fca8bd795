"""Cambio for Gymnasium: one seat against agents of the library.

    import gymnasium
    import cambio.gymnasium

    env = gymnasium.make("cambio/Cambio-v0", rules="classic", opponents=["sharp"])
    observation, info = env.reset(seed=42)

    envs = gymnasium.make_vec("cambio/Cambio-v0", num_envs=256, opponents=["greedy"])

An observation is a dictionary of `observation`, the tensor of the seat, and `action_mask`, 1 for each legal action. An action
is an index as `cambio.Action.from_index` reads it. An illegal one raises `cambio.IllegalAction`, and nothing has changed then.

It needs the package `gymnasium`: `pip install 'cambio[gymnasium]'`.
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
    """The entries of `VectorGame`: the player sits in seat 0 of the first deal."""
    if isinstance(opponents, str):
        raise CambioError(f"`opponents` is the text `{opponents}`; allowed is a list with a spec for each other seat")
    if not 1 <= len(opponents) <= 7:
        raise CambioError(f"`opponents` names {len(opponents)}; allowed are 1 to 7, one for each other seat")
    return [None, *opponents]


def _ended(match: VectorGame, number: int, seat: int) -> Observed:
    """What a seat sees at the end of a match that is over."""
    final = match.final_observations
    assert final is not None
    return {"observation": final[number, seat].copy(), "action_mask": np.zeros(match.action_count, np.int8)}


class CambioEnv(gymnasium.Env[Observed, Index]):
    """A match in one seat against agents of the library: `gymnasium.make("cambio/Cambio-v0", …)`.

    `rules` are `Rules` or the name of a preset. `opponents` are the specs of the agents in the other seats, in the order in
    which they follow the player. With `rotate` the player sits in seat 0 of the first deal, in seat 1 of the next, and so on;
    without it always in seat 0. `reward` is "rank", 1 for the first to −1 for the last when the match ends, or "score", what
    each round adds, more being better.

    `reset(seed=s)` plays deal 0 under the seed `s`, a reset without a seed the next deal. The opponents play as they do in
    `cambio run`. `info` holds `seat`, the player's.

    `copy`, `deepcopy` and `pickle` take an environment in the middle of a match, with its opponents.
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
        # Refuses a spec that names no agent.
        VectorGame(1, self._deals.rules, seats, opponents=self._lineup)

    @property
    def match(self) -> VectorGame:
        """The match that is being played, as a batch of one. Raises `CambioError` before the first `reset`."""
        if self._match is None:
            raise CambioError("no match is being played: reset() comes first")
        return self._match

    @property
    def game(self) -> Game:
        """The match that is being played, as a `Game`."""
        return self.match.game(0)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observed, dict[str, Any]]:
        """Begins a match. The option `deal` names a deal."""
        super().reset(seed=seed)
        self._deals.next(seed, options)
        # A batch of one begins the next deal by itself.
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
        """Carries out an action; the opponents decide until the player is asked again, or the match is over.

        After the last action of a match the observation is what the player sees at its end, and no action is legal.
        """
        match = self.match
        if self._is_over:
            raise IllegalAction("the match is over: reset() comes next")
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
        """The table as the player sees it: returned in the mode `ansi`, printed in the mode `human`."""
        text = "the match is over\n" if self._is_over and self._match else self.game.render(self._seat)
        if self.render_mode == "human":
            print(text, end="", flush=True)
            return None
        return text

    def __copy__(self) -> Self:
        return deepcopy(self)


class CambioVectorEnv(VectorEnv[Observed, NDArray[np.int64], NDArray[Any]]):
    """Many matches at once, on `cambio.VectorGame`: `gymnasium.make_vec("cambio/Cambio-v0", num_envs=256, …)`.

    Match `i` plays the deals `i`, `i + num_envs`, … under the seed. A match that ends is followed by the next at once
    (`AutoresetMode.SAME_STEP`): the observation is then the first of the next, and `infos["final_obs"]` has what the player saw
    at the end, as Gymnasium's own vector environments have it. The observations are arrays of the environment that the next step overwrites;
    `copy=True` makes new ones each time. `threads` play the matches; the results do not depend on their number.

    The other options are those of `CambioEnv`.
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

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observed, dict[str, Any]]:
        """Begins every match anew: with the first deals of the seed, or, without one, with those of a new seed."""
        super().reset(seed=seed)
        self._deals.seed = None
        self._deals.next(seed, options)
        self.match = VectorGame(**self._make, seed=self._deals.seed or 0, first_deal=self._deals.deal)
        self.match.reset()
        return self._observe(), {"seat": self.match.seat.copy()}

    def step(
        self, actions: NDArray[np.int64]
    ) -> tuple[Observed, NDArray[np.float32], NDArray[np.bool_], NDArray[np.bool_], dict[str, Any]]:
        """Carries out an action in every match. If one is illegal it raises `IllegalAction`, and nothing has changed."""
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


gymnasium.register(ID, entry_point="cambio.gymnasium:CambioEnv", vector_entry_point="cambio.gymnasium:CambioVectorEnv")
