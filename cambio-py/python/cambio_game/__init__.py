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
    CambioError,
    ChanceGame,
    Event,
    ExperimentError,
    Game,
    IllegalAction,
    Layout,
    Observation,
    Plan,
    Position,
    Record,
    RecordError,
    Rules,
    RulesError,
    RunError,
    RunFolder,
    SmallGame,
    VectorGame,
    World,
    __version__,
    agent,
    agents,
)
from ._types import Block, Reward
from .measure import AdvantageResult, DecisionKind, ExploitResult, SprtResult, TuneResult, advantage, bench, exploit, sprt, tune
from .run import Matrix, Player, Run, Table, columns, evaluate, run, tournament
from .small import Policy, exploitability
from .strategy import StrategyPolicy
from .text import TextPlayer, parse_decision

__all__ = [
    "MINI_GAMES",
    "PRESETS",
    "Action",
    "ActionError",
    "AdvantageResult",
    "Agent",
    "AgentError",
    "AgentFault",
    "ArrayError",
    "Block",
    "CambioError",
    "ChanceGame",
    "DecisionKind",
    "Event",
    "ExperimentError",
    "ExploitResult",
    "Game",
    "IllegalAction",
    "Layout",
    "Matrix",
    "Observation",
    "Plan",
    "Player",
    "Policy",
    "Position",
    "Record",
    "RecordError",
    "Reward",
    "Rules",
    "RulesError",
    "Run",
    "RunError",
    "RunFolder",
    "SmallGame",
    "SprtResult",
    "StrategyPolicy",
    "Table",
    "TextPlayer",
    "TuneResult",
    "VectorGame",
    "World",
    "__version__",
    "advantage",
    "agent",
    "agents",
    "bench",
    "columns",
    "evaluate",
    "exploit",
    "exploitability",
    "parse_decision",
    "run",
    "sprt",
    "tournament",
    "tune",
]
