"""The Gymnasium environments: Gymnasium's own checks, copies, and the same matches in one environment and in a batch."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

import cambio_game as cambio

gymnasium: Any = pytest.importorskip("gymnasium")

from gymnasium.utils.env_checker import check_env  # noqa: E402
from gymnasium.vector import AutoresetMode  # noqa: E402

import cambio_game.gymnasium  # noqa: E402

ID = "cambio/Cambio-v0"
TABLES = [(rules, opponents) for rules in cambio.PRESETS for opponents in (["greedy"], ["sharp", "random", "greedy"])]


def choose(mask: Any, dice: np.random.Generator) -> int:
    return int(dice.choice(np.flatnonzero(mask)))


def same(one: dict[str, Any], other: dict[str, Any]) -> bool:
    return all(np.array_equal(one[key], other[key]) for key in ("observation", "action_mask"))


@pytest.mark.parametrize("illegal", ["terminate", "random"])
@pytest.mark.parametrize(("rules", "opponents"), TABLES)
def test_gymnasiums_own_check_holds(rules: str, opponents: list[str], illegal: Any) -> None:
    """`check_env` samples actions without the mask."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.filterwarnings("ignore", message=".*(spec|render).*")
        check_env(cambio.gymnasium.CambioEnv(rules, opponents, illegal=illegal), skip_render_check=True)


@pytest.mark.parametrize("illegal", ["raise", "terminate", "random"])
@pytest.mark.parametrize(("rules", "opponents"), TABLES)
def test_a_batch_plays_what_the_single_environment_plays(rules: str, opponents: list[str], illegal: Any) -> None:
    """Also with illegal actions, if these do not raise."""
    options = {"rules": rules, "opponents": opponents, "illegal": illegal}
    single, batch = gymnasium.make(ID, **options), gymnasium.make_vec(ID, num_envs=1, **options)
    dice = np.random.default_rng(1)
    seen, info = single.reset(seed=9)
    rows, _ = batch.reset(seed=9)
    seats = [info["seat"]]
    for _ in range(3000):
        assert same(seen, {key: row[0] for key, row in rows.items()})
        assert np.array_equal(single.unwrapped.action_masks(), seen["action_mask"])
        is_random = illegal != "raise" and dice.random() < 0.1
        action = int(dice.integers(single.action_space.n)) if is_random else choose(seen["action_mask"], dice)
        seen, reward, over, _, info = single.step(action)
        rows, rewards, overs, _, infos = batch.step(np.array([action]))
        assert (reward, over) == (rewards[0], overs[0])
        assert single.observation_space.contains(seen) and batch.observation_space.contains(rows)
        if over:
            assert same(seen, infos["final_obs"][0])
            seen, info = single.reset()
            seats.append(info["seat"])
        if len(seats) == 9:
            break
    count = len(opponents) + 1
    assert seats == [deal % count for deal in range(len(seats))] and (illegal != "terminate" or len(seats) == 9)


def test_the_end_of_a_match_is_observed() -> None:
    """One environment and a batch return the last observation, the batch like Gymnasium's own with `SAME_STEP`."""
    env, envs = gymnasium.make(ID), gymnasium.make_vec(ID, num_envs=1)
    own = gymnasium.vector.SyncVectorEnv([lambda: gymnasium.make(ID)], autoreset_mode=AutoresetMode.SAME_STEP)
    (seen, info), dice = env.reset(seed=3), np.random.default_rng(4)
    envs.reset(seed=3), own.reset(seed=3)
    ends = 0
    while ends < 3:
        seat, action = info["seat"], choose(seen["action_mask"], dice)
        seen, _, over, _, info = env.step(action)
        _, _, _, _, infos = envs.step(np.array([action]))
        _, _, _, _, infos_own = own.step(np.array([action]))
        assert ("final_obs" in infos) == over == ("final_obs" in infos_own)
        if over:
            ends += 1
            assert seen["observation"].any() and not seen["action_mask"].any() and env.observation_space.contains(seen)
            assert same(infos["final_obs"][0], seen) and same(infos_own["final_obs"][0], seen)
            assert infos["_final_obs"].tolist() == infos_own["_final_obs"].tolist() == [True]
            assert infos["final_info"]["seat"][0] == infos_own["final_info"]["seat"][0] == seat
            seen, info = env.reset()
