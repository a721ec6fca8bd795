"""The RLlib environment: RLlib's own check, and the end after some cycles. `test_wrappers.py` compares it with `Game`."""

from __future__ import annotations

import random

import numpy as np
import pytest

from conftest import TABLES

pytest.importorskip("ray.rllib", reason="RLlib is not installed: pip install 'cambio-game[rllib]'")

from ray.rllib.utils.pre_checks.env import check_multiagent_environments

from cambio_game.rllib import CambioMultiAgentEnv


@pytest.mark.parametrize("illegal", ["terminate", "random"])
@pytest.mark.parametrize(("rules", "seats"), TABLES)
def test_rllibs_check_holds(rules: str, seats: int, illegal: str) -> None:
    check_multiagent_environments(CambioMultiAgentEnv({"rules": rules, "seats": seats, "illegal": illegal}))


def test_a_match_is_cut_off_after_its_cycles() -> None:
    env, dice = CambioMultiAgentEnv({"max_cycles": 3}), random.Random(1)
    observations, _ = env.reset(seed=1)
    for cycle in range(3):
        actions = {agent: dice.choice(np.flatnonzero(seen["action_mask"]).tolist()) for agent, seen in observations.items()}
        observations, _, ended, cut, _ = env.step(actions)
        assert cut["__all__"] == (cycle == 2) and not ended["__all__"]
