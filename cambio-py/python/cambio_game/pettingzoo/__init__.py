"""Cambio for PettingZoo.

    from cambio_game.pettingzoo import cambio_v0

    env = cambio_v0.env(rules="classic", seats=2)
    env.reset(seed=42)
    for agent in env.agent_iter():
        observation, reward, termination, truncation, info = env.last()
        over = termination or truncation
        env.step(None if over else env.action_space(agent).sample(observation["action_mask"]))

This module needs the package `pettingzoo`: `pip install 'cambio-game[pettingzoo]'`.
"""

from .._extras import require

require("pettingzoo", "pettingzoo")

from . import cambio_v0  # noqa: E402

__all__ = ["cambio_v0"]
