"""Cambio for Gymnasium: one seat against library agents.

    import gymnasium
    import cambio_game.gymnasium

    env = gymnasium.make("cambio/Cambio-v0", rules="classic", opponents=["sharp"])
    observation, info = env.reset(seed=42)

    envs = gymnasium.make_vec("cambio/Cambio-v0", num_envs=256, opponents=["greedy"])

An observation is a dictionary: `observation` is the tensor of the player's seat, `action_mask` is 1 for each legal action. An
action is an index, as in `cambio_game.Action.from_index`. By default, an illegal action raises `cambio_game.IllegalAction`; the environment is
then unchanged. For algorithms that ignore masks, use `illegal="terminate"` or `illegal="random"`.

This module needs the package `gymnasium`: `pip install 'cambio-game[gymnasium]'`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Literal, SupportsIndex, TypeAlias

from ._extras import require

require("gymnasium", "gymnasium")

import gymnasium  # noqa: E402
import numpy as np  # noqa: E402
from gymnasium import spaces  # noqa: E402
from gymnasium.vector import AutoresetMode, VectorEnv  # noqa: E402
from gymnasium.vector.utils import batch_space  # noqa: E402
from numpy.typing import NDArray  # noqa: E402

from ._cambio import CambioError, Game, IllegalAction, Rules, VectorGame  # noqa: E402
from ._checks import flag, index, one_of, whole  # noqa: E402
from ._spaces import ILLEGAL, Deals, Illegal, Index, Observed, observation_space  # noqa: E402
from ._types import Reward  # noqa: E402

__all__ = ["ID", "CambioEnv", "CambioVectorEnv"]

ID = "cambio/Cambio-v0"
RenderMode: TypeAlias = Literal["ansi", "human"]


def _lineup(opponents: Sequence[str]) -> list[str | None]:
    """The argument `opponents` of `VectorGame`. The player has seat 0 in the first deal."""
    if isinstance(opponents, str):
        raise CambioError(f"`opponents` must be a list with a spec for each other seat, found the text `{opponents}`")
    if not all(isinstance(spec, str) for spec in opponents):
        raise TypeError(f"`opponents` must be texts, found {opponents!r}")
    if not 1 <= len(opponents) <= 7:
        raise CambioError(f"`opponents` must have 1 to 7 specs, one for each other seat, found {len(opponents)}")
    return [None, *opponents]


class _Matches:
    """The common part of both environments: options, matches, seeds, illegal actions."""

    def _open(self, opponents: Sequence[str], illegal: Illegal, rotate: bool, **make: Any) -> None:
        """Validates the options of the constructor. `make` has other options of `VectorGame`."""
        lineup = _lineup(opponents)
        self._deals = Deals(make["rules"], len(lineup), make["reward"])
        self.illegal: Illegal = one_of("illegal", illegal, ILLEGAL)
        table = {"rules": self._deals.rules, "seats": len(lineup), "opponents": lineup, "rotate": flag("rotate", rotate)}
        self._make = {**make, **table, "finals": True}
        self._match = VectorGame(**self._make)
        self.layout, self.action_count = self._match.layout, self._match.action_count
        # Used only to replace illegal actions; the matches have their own random numbers.
        self._random = np.random.default_rng(0)

    @property
    def match(self) -> VectorGame:
        """The current matches; one in `CambioEnv`. Raises `CambioError` before the first `reset`."""
        if self._deals.seed is None:
            raise CambioError("there is no match yet: call reset() first")
        return self._match

    def _begin(self, seed: SupportsIndex | None, options: Mapping[str, Any] | None) -> int | None:
        """Starts the matches of a reset, and returns its seed. If an argument is refused, nothing changes."""
        chosen, deal = self._deals.find(seed, options)
        if seed is None and not options and self._deals.seed is not None:
            self._match.reset(where=np.ones(self._match.batch, np.bool_))
        else:
            match = VectorGame(**self._make, seed=chosen, first_deal=deal)
            match.reset()
            self._match = match
            self._random = np.random.default_rng((chosen, deal))
        self._deals.seed, self._deals.deal = chosen, int(self._match.deals[0])
        return None if seed is None else chosen

    def _legal(self, number: int) -> int:
        """A legal action of a match, in place of an illegal one."""
        legal = np.flatnonzero(self._match.masks[number])
        return int(self._random.choice(legal) if self.illegal == "random" else legal[0])


class CambioEnv(_Matches, gymnasium.Env[Observed, Index]):
    """One seat against library agents: `gymnasium.make("cambio/Cambio-v0", …)`.

    `rules` is a `Rules` object or the name of a preset. `opponents` has the specs of the agents in the other seats, in the order
    in which they follow the player. With `rotate`, the player has seat 0 in the first deal, seat 1 in the next, and so on;
    without it, always seat 0. `reward` is "rank" (from 1 for the first to −1 for the last when the match ends) or "score" (the
    points that each round adds, signed so that more is better). By default (`illegal="raise"`), an illegal action raises `IllegalAction` and
    changes nothing. With "terminate", it ends the match with −1; with "random", a random legal action replaces it.

    `reset(seed=s)` plays deal 0 under the seed `s`; a reset without a seed plays the next deal. The opponents play as in
    `cambio run`. `info` contains `seat`, the player's seat.
    """

    metadata: ClassVar[dict[str, Any]] = {"render_modes": ["ansi", "human"], "render_fps": 1}  # type: ignore[misc]

    def __init__(
        self,
        rules: Rules | str = "classic",
        opponents: Sequence[str] = ("greedy",),
        *,
        rotate: bool = True,
        reward: Reward = "rank",
        illegal: Illegal = "raise",
        render_mode: RenderMode | None = None,
    ) -> None:
        if render_mode is not None:
            one_of("render_mode", render_mode, ("ansi", "human"))
        # The finished match stays until the next `reset`.
        self._open(opponents, illegal, rotate, batch=1, rules=rules, reward=reward, autoreset=False)
        self.render_mode = render_mode
        self.observation_space: spaces.Space[Any] = observation_space(self.layout, self.action_count)
        self.action_space: spaces.Space[Any] = spaces.Discrete(self.action_count)
        self._seat = 0
        self._is_over = True

    @property
    def game(self) -> Game:
        """A copy of the current match, as a `Game`; after its end, of the finished match until the next `reset`."""
        return self.match.game(0)

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Observed, dict[str, Any]]:
        """Starts a match. The option `deal` selects a deal."""
        super().reset(seed=self._begin(seed, options))
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
        chosen = index("action", action, self.action_count)
        lost = False
        if self.illegal != "raise" and not match.masks[0, chosen]:
            chosen, lost = self._legal(0), self.illegal == "terminate"
        if not lost:
            match.step(np.array([chosen]))
        reward = -1.0 if lost else float(match.rewards[0, self._seat])
        self._is_over = lost or bool(match.done[0])
        if self.render_mode == "human":
            self.render()
        return self._observe(), reward, self._is_over, False, {"seat": self._seat}

    def _observe(self) -> Observed:
        match, final = self.match, self.match.final_observations
        seen = final[0, self._seat] if final is not None and match.done[0] else match.observations[0]
        return {"observation": seen.copy(), "action_mask": self.action_masks().view(np.int8)}

    def action_masks(self) -> NDArray[np.bool_]:
        """The mask of the legal actions, as `MaskablePPO` of sb3-contrib expects it: shape `(action_count,)`, dtype `bool`.

        It is the `action_mask` of the observation: all false when the match is over.
        """
        masks: NDArray[np.bool_] = self.match.masks[0] & (not self._is_over)
        return masks

    def render(self) -> str | None:
        """The table with the faces that the player knows: returned in the mode `ansi`, printed in the mode `human`."""
        text = self.game.render(self._seat)
        if self.render_mode == "human":
            print(text, end="", flush=True)
            return None
        return text


class CambioVectorEnv(_Matches, VectorEnv[Observed, NDArray[np.int64], NDArray[Any]]):
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
        illegal: Illegal = "raise",
        threads: int = 1,
        copy: bool = True,
        render_mode: None = None,
    ) -> None:
        if render_mode is not None:
            raise CambioError(f"`render_mode` must be None, because a batch is not rendered, found `{render_mode}`")
        self.num_envs = whole("num_envs", num_envs, 1)
        self._open(opponents, illegal, rotate, batch=self.num_envs, rules=rules, reward=reward, threads=threads)
        self._copies = flag("copy", copy)
        self.render_mode = render_mode
        self.metadata = {"render_modes": [], "autoreset_mode": AutoresetMode.SAME_STEP}
        self.single_observation_space = observation_space(self.layout, self.action_count)
        self.single_action_space = spaces.Discrete(self.action_count)
        self.observation_space = batch_space(self.single_observation_space, self.num_envs)
        self.action_space = batch_space(self.single_action_space, self.num_envs)

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Observed, dict[str, Any]]:
        """Starts the next deal in every match; with a seed, its first deals. The option `deal` selects the deal of match 0."""
        super().reset(seed=self._begin(seed, options))
        return self._observe(), {"seat": self.match.seat.copy()}

    def step(
        self, actions: NDArray[np.int64]
    ) -> tuple[Observed, NDArray[np.float32], NDArray[np.bool_], NDArray[np.bool_], dict[str, Any]]:
        """Carries out an action in every match. The option `illegal` determines the effect of an illegal action in its match; with "raise",
        no match changes.
        """
        match = self.match
        if isinstance(actions, Sequence):
            actions = np.array(
                [index(f"actions[{number}]", one, self.action_count) for number, one in enumerate(actions)], np.int64
            )
        chosen = np.ascontiguousarray(actions)
        seats, lost = match.seat.copy(), np.zeros(self.num_envs, np.bool_)
        # `VectorGame.step` refuses other arrays and other numbers.
        if self.illegal != "raise" and chosen.dtype.kind == "i" and chosen.shape == lost.shape:
            known = (chosen >= 0) & (chosen < self.action_count)
            lost = known & ~match.masks[np.arange(self.num_envs), np.where(known, chosen, 0)]
            chosen = np.array([self._legal(number) if lost[number] else one for number, one in enumerate(chosen)], chosen.dtype)
            lost &= self.illegal == "terminate"
        last = match.observations[lost]
        match.step(chosen)
        rewards, over = match.rewards[np.arange(self.num_envs), seats], match.done | lost
        rewards[lost] = -1.0
        infos: dict[str, Any] = {}
        if over.any():
            final, seen = np.full(self.num_envs, None, object), match.final_observations
            assert seen is not None
            seen[lost, seats[lost]] = last
            for number in np.flatnonzero(over):
                observation, mask = seen[number, seats[number]].copy(), np.zeros(self.action_count, np.int8)
                final[number] = {"observation": observation, "action_mask": mask}
            infos = {"final_obs": final, "_final_obs": over, "final_info": {"seat": seats, "_seat": over}, "_final_info": over}
            match.reset(where=lost & ~match.done)
        infos["seat"] = match.seat.copy()
        return self._observe(), rewards, over, np.zeros(self.num_envs, np.bool_), infos

    def _observe(self) -> Observed:
        seen: Observed = {"observation": self.match.observations, "action_mask": self.match.masks.view(np.int8)}
        return {key: array.copy() for key, array in seen.items()} if self._copies else seen


gymnasium.register(ID, entry_point="cambio_game.gymnasium:CambioEnv", vector_entry_point="cambio_game.gymnasium:CambioVectorEnv")
