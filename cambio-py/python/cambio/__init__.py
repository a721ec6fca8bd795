"""The card game Cambio for research: a fast engine, observations that cannot leak, agents and tournaments.

    import cambio

    game = cambio.Game("classic", seats=2, seed=42)
    greedy = cambio.agent("greedy")
    while not game.is_over:
        game.step(greedy.decide(game))
    print(game.ranks)

Errors are subclasses of `CambioError`; the message says what was found and what is allowed.
"""

from ._cambio import (
    MINI_GAMES,
    PRESETS,
    Action,
    ActionError,
    Agent,
    AgentError,
    AgentFault,
    ArrayError,
    Block,
    CambioError,
    ChanceGame,
    Event,
    ExperimentError,
    Game,
    IllegalAction,
    Knowledge,
    Layout,
    Observation,
    Record,
    RecordError,
    Rules,
    RulesError,
    RunError,
    VectorGame,
    World,
    __version__,
    agent,
    agents,
)
from ._types import Reward
from .run import BatchPlayer, Player, Run, Table, evaluate, run

__all__ = [
    "MINI_GAMES",
    "PRESETS",
    "Action",
    "ActionError",
    "Agent",
    "AgentError",
    "AgentFault",
    "ArrayError",
    "BatchPlayer",
    "Block",
    "CambioError",
    "ChanceGame",
    "Event",
    "ExperimentError",
    "Game",
    "IllegalAction",
    "Knowledge",
    "Layout",
    "Observation",
    "Player",
    "Record",
    "RecordError",
    "Reward",
    "Rules",
    "RulesError",
    "Run",
    "RunError",
    "Table",
    "VectorGame",
    "World",
    "__version__",
    "agent",
    "agents",
    "evaluate",
    "run",
]
