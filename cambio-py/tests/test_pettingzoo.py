"""The PettingZoo environments: PettingZoo's own tests, and windows in which all seats decide at once."""

import functools
import types
import warnings

import numpy as np
import pytest

import cambio_game as cambio

pytest.importorskip("pettingzoo")

from pettingzoo.test import (
    api_test,
    max_cycles_test,
    parallel_api_test,
    parallel_seed_test,
    render_test,
    seed_test,
)
from pettingzoo.test.state_test import state_test
from pettingzoo.utils import parallel_to_aec, turn_based_aec_to_parallel

from cambio_game.pettingzoo import cambio_v0

TABLES = [(rules, seats) for rules in cambio.PRESETS for seats in (2, 4, 8)]
EVERY_TABLE = pytest.mark.parametrize(("rules", "seats"), TABLES)
# PettingZoo gives this warning for every observation with an action mask outside its own environments.
MASKED = [
    "Observation is not a NumPy array",
    "Observation space for each agent probably should be gymnasium.spaces.box or gymnasium.spaces.discrete",
]


@EVERY_TABLE
def test_pettingzoos_own_tests_hold(rules: str, seats: int, capsys: pytest.CaptureFixture[str]) -> None:
    make = functools.partial(cambio_v0.env, rules, seats)
    parallel = functools.partial(cambio_v0.parallel_env, rules, seats)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        api_test(make(), num_cycles=100)
        seed_test(make)
        render_test(make)
        state_test(make(), parallel())
        parallel_api_test(parallel())
        # These two tests ignore the mask.
        blind = functools.partial(parallel, illegal="random")
        parallel_seed_test(blind)
        max_cycles_test(types.SimpleNamespace(parallel_env=blind, env=lambda **kw: parallel_to_aec(blind(**kw))))
    assert {str(warning.message) for warning in caught} <= set(MASKED)
    assert "Passed API test" in capsys.readouterr().out


def test_pettingzoos_conversion_of_the_aec_environment_plays_too() -> None:
    parallel_api_test(turn_based_aec_to_parallel(cambio_v0.env("classic", 4)))


def asked_one_by_one(env: cambio_v0.ParallelCambioEnv, actions: dict[str, int]) -> cambio.Game:
    """The game after the actions of a cycle. Compares each seat's observation with the one that the environment returned."""
    game = env.game.copy()
    observations = env._observe()
    for agent in env.asked:
        assert f"seat_{game.seat}" == agent
        assert np.array_equal(observations[agent]["observation"], game.tensor())
        assert np.array_equal(observations[agent]["action_mask"].astype(bool), game.mask())
        game.step(actions[agent])
    return game


@EVERY_TABLE
def test_seats_of_a_window_decide_at_once(rules: str, seats: int) -> None:
    """A seat's observation in a window does not depend on earlier declarations, and every seat is asked."""
    env = cambio_v0.parallel_env(rules, seats)
    rng = np.random.default_rng(1)
    widest = 0
    for seed in range(6):
        observations, _ = env.reset(seed=seed)
        while env.agents:
            asked = env.asked
            widest = max(widest, len(asked))
            waiting = [agent for agent in env.agents if agent not in asked]
            assert all(not observations[agent]["action_mask"].any() for agent in waiting)
            actions = {agent: int(rng.choice(np.flatnonzero(observations[agent]["action_mask"]))) for agent in asked}
            alone = asked_one_by_one(env, actions)
            phase = env.game.observe().phase
            observations, _, _, _, _ = env.step(actions)
            assert env.game == alone
            if env.agents and phase == "window" and env.game.observe().phase == "window":
                # This is the next window.
                assert env.game.events()
    assert widest == seats
