"""The RLlib environment: RLlib's own check, whole matches, and the same observations as from `Game`."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest

import cambio_game as cambio
from conftest import TABLES, amount

pytest.importorskip("ray.rllib", reason="RLlib is not installed: pip install 'cambio-game[rllib]'")

from ray.rllib.utils.pre_checks.env import check_multiagent_environments

from cambio_game.rllib import CambioMultiAgentEnv


def policy(observations: dict[str, Any], dice: random.Random) -> dict[str, int]:
    """A random legal action for each observed seat."""
    return {agent: dice.choice(np.flatnonzero(seen["action_mask"]).tolist()) for agent, seen in observations.items()}


@pytest.mark.parametrize("illegal", ["terminate", "random"])
@pytest.mark.parametrize(("rules", "seats"), TABLES)
def test_rllibs_check_holds(rules: str, seats: int, illegal: str) -> None:
    check_multiagent_environments(CambioMultiAgentEnv({"rules": rules, "seats": seats, "illegal": illegal}))


@pytest.mark.parametrize(("rules", "seats"), [("classic", 2), ("original", 3), ("faessler", 4)])
@pytest.mark.parametrize("reward", ["rank", "score"])
def test_a_match_is_the_game(rules: str, seats: int, reward: str) -> None:
    env = CambioMultiAgentEnv({"rules": rules, "seats": seats, "reward": reward})
    for seed in range(amount(2, 50)):
        dice = random.Random(seed)
        observations, _ = env.reset(seed=seed)
        game = cambio.Game(rules, seats, seed=seed, reward=reward)  # type: ignore[arg-type]
        got = dict.fromkeys(env.possible_agents, 0.0)
        for _ in range(amount(300, 5000)):
            (agent,) = observations
            assert agent == f"seat_{game.seat}" and env.observation_spaces[agent].contains(observations[agent])
            assert np.array_equal(observations[agent]["observations"], game.tensor())
            assert np.array_equal(observations[agent]["action_mask"], game.mask())
            actions = policy(observations, dice)
            game.step(actions[agent])
            observations, rewards, ended, cut, _ = env.step(actions)
            assert ended["__all__"] == game.is_over and not cut["__all__"]
            assert agent in rewards
            for seat, reward_of in enumerate(game.rewards()):
                assert rewards.get(f"seat_{seat}", 0.0) == reward_of
                got[f"seat_{seat}"] += reward_of
            if game.is_over:
                assert set(observations) == set(env.possible_agents)
                assert all(not seen["action_mask"].any() for seen in observations.values())
                break
        if game.is_over and reward == "rank":
            assert sum(got.values()) == pytest.approx(0)


def test_a_match_is_cut_off_after_its_cycles() -> None:
    env, dice = CambioMultiAgentEnv({"max_cycles": 3}), random.Random(1)
    observations, _ = env.reset(seed=1)
    for cycle in range(3):
        observations, _, ended, cut, _ = env.step(policy(observations, dice))
        assert cut["__all__"] == (cycle == 2) and not ended["__all__"]
