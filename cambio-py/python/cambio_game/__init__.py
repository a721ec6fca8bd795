"""The card game Cambio for research: a fast engine, observations that cannot leak hidden cards, agents and tournaments.

    import cambio_game as cambio

    game = cambio.Game("classic", seats=2, seed=42)
    greedy = cambio.agent("greedy")
    while not game.is_over:
        game.step(greedy.decide(game))
    print(game.ranks)

An invalid value raises a subclass of `CambioError`, with the expected and the found value. A value of a wrong type
raises `TypeError`.
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
    SmallGame,
    VectorGame,
    World,
    __version__,
    agent,
    agents,
)
from ._types import Reward
from .run import BatchPlayer, Player, Run, Table, columns, evaluate, run
from .small import Policy, exploitability

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
    "Policy",
    "Record",
    "RecordError",
    "Reward",
    "Rules",
    "RulesError",
    "Run",
    "RunError",
    "SmallGame",
    "Table",
    "VectorGame",
    "World",
    "__version__",
    "agent",
    "agents",
    "columns",
    "evaluate",
    "exploitability",
    "run",
]
