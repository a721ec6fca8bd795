"""Cambio for OpenSpiel: the game `python_cambio`, with explicit chance.

    import pyspiel
    import cambio_game.openspiel

    game = pyspiel.load_game("python_cambio(rules=mini-m1)")
    state = game.new_initial_state()

Parameters of the game:

| parameter | default | |
|---|---|---|
| `rules` | `classic` | a preset, a mini game, or a rule file whose name ends in `.toml` |
| `players` | 2 | the number of seats |
| `payoff` | `rank` | `rank`: from 1 for the first to −1 for the last, 0 before the end; `score`: the totals, signed so that more is better; `lead`: `score` minus the mean over the players |

`rank` and `lead` are zero-sum, `score` is general-sum. At two seats, `lead` is the payoff of `cambio solve`. A match with several
rounds is played to its end.

A card's face is drawn when a player first sees it, so a chance node is either such a card (the outcome is its kind) or the order
of simultaneous snaps. Decisions have the indices of `cambio_game.Action`. In a snap window, the players decide one after the other,
and a declaration is in no other player's information state until all have declared.

This module needs the package `open_spiel`: `pip install 'cambio-game[openspiel]'`.
"""

from __future__ import annotations

import math
import random
import re
from collections.abc import Callable, Sequence
from copy import copy
from os import PathLike
from typing import Any, Literal, TypeAlias

from ._extras import require

require("pyspiel", "openspiel")

import numpy as np  # noqa: E402
import pyspiel  # noqa: E402
from numpy.typing import NDArray  # noqa: E402
from open_spiel.python import policy as policies  # noqa: E402

from ._cambio import Action, CambioError, ChanceGame, IllegalAction, Layout, Rules, _floats  # noqa: E402
from ._checks import one_of, whole  # noqa: E402
from .strategy import StrategyPolicy as Strategy  # noqa: E402

__all__ = ["CambioGame", "CambioObserver", "CambioState", "StrategyPolicy", "resample", "strategy_key"]

Payoff: TypeAlias = Literal["rank", "score", "lead"]

SHORT_NAME = "python_cambio"
PAYOFFS: tuple[Payoff, ...] = ("rank", "score", "lead")
DEFAULTS: dict[str, str | int] = {"rules": "classic", "players": 2, "payoff": "rank"}

# The blocks of a tensor that show the current table, public and private. The other blocks show the history.
PUBLIC = ("phase step asked turn callers safe frozen sizes match held_from top opener pile occupied gap pointed seen_by").split()
PRIVATE = ("held", "face", "unseen")
PUBLIC_MEMORY = ("seen_for", "origin", "age", "moves", "recent", "last", "last_card")

CHANCE = int(pyspiel.PlayerId.CHANCE)
TERMINAL = int(pyspiel.PlayerId.TERMINAL)

# OpenSpiel stores lengths in 32 bits and adds two of them.
LONGEST = 2**29


def _game_type(payoff: Payoff) -> Any:
    kinds = pyspiel.GameType
    return kinds(
        short_name=SHORT_NAME,
        long_name="Cambio",
        dynamics=kinds.Dynamics.SEQUENTIAL,
        chance_mode=kinds.ChanceMode.EXPLICIT_STOCHASTIC,
        information=kinds.Information.IMPERFECT_INFORMATION,
        utility=kinds.Utility.GENERAL_SUM if payoff == "score" else kinds.Utility.ZERO_SUM,
        reward_model=kinds.RewardModel.TERMINAL if payoff == "rank" else kinds.RewardModel.REWARDS,
        max_num_players=8,
        min_num_players=2,
        provides_information_state_string=True,
        provides_information_state_tensor=True,
        provides_observation_string=True,
        provides_observation_tensor=True,
        provides_factored_observation_string=True,
        parameter_specification=DEFAULTS,
    )


def _bounds(rules: Rules, players: int, payoff: Payoff) -> tuple[Any, int]:
    """Bounds on lengths and payoffs, valid for all rules but not tight."""
    knobs = dict(re.findall(r'^(\w+) = "?([^"\n]*)"?$', rules.to_toml(), re.MULTILINE))
    rounds = int(knobs["round_limit"])
    if match := re.fullmatch(r"rounds\((\d+)\)", knobs["match_end"]):
        rounds = int(match[1])
    turns = int(knobs["turn_limit"]) + players + 1
    spots = players * rules.slots
    has_windows = knobs["window"] != "none" or knobs["flip"] == "window"
    # Start, draw, a power with its steps, then two windows, each with gifts and chains.
    turn = 16 + (2 * (players + 2) * (1 + spots) if has_windows else 0)
    length = rounds * (spots + turns * turn)
    cards = sum(rules.deck.values())
    most = max(abs(rules.points(card)) for card in rules.deck)
    if payoff == "rank":
        utility = 1.0
    else:
        of_round = rules.slots * most * 10 + 100 if knobs["score"] == "points" else players - 1
        utility = float(rounds * of_round + (0 if knobs["total_reset"] == "none" else 20_000))
        utility *= 2.0 if payoff == "lead" else 1.0
    info = pyspiel.GameInfo(
        num_distinct_actions=rules.action_count(players),
        max_chance_outcomes=max(len(rules.deck), math.factorial(players) if has_windows else 1),
        num_players=players,
        min_utility=-utility,
        max_utility=utility,
        utility_sum=None if payoff == "score" else 0.0,
        max_game_length=min(length, LONGEST),
    )
    return info, min(length * cards, LONGEST)


def _player(table: ChanceGame) -> int:
    """The player to act, or OpenSpiel's number for chance or for a terminal state."""
    return table.seat if table.seat is not None else TERMINAL if table.is_over else CHANCE


class CambioGame(pyspiel.Game):
    """The game `python_cambio`. Create it with `pyspiel.load_game`."""

    def __init__(self, params: dict[str, Any] | None = None) -> None:
        given: dict[str, Any] = {**DEFAULTS, **(params or {})}
        for parameter in given:
            if parameter not in DEFAULTS:
                raise CambioError(f"the parameters must be {', '.join(DEFAULTS)}, found `{parameter}`")
        name, players = given["rules"], whole("players", given["players"], 2, 8)
        self.payoff: Payoff = one_of("payoff", given["payoff"], PAYOFFS)
        self.rules: Rules = Rules.read(name) if isinstance(name, str) and name.endswith(".toml") else Rules(name)
        # Every match starts as a copy of this one. Creating it also validates the number of players.
        self.start = ChanceGame(self.rules, players)
        self.first_player = _player(self.start)
        self.layout: Layout = self.start.layout
        self._observers: list[CambioObserver] = []
        info, most = _bounds(self.rules, players, self.payoff)
        self._chance_nodes: int = most
        super().__init__(_game_type(self.payoff), info, params or {})

    def new_initial_state(self) -> CambioState:
        """The state before the deal."""
        return CambioState(self)

    def tensor_of(self, state: CambioState, player: int, *, is_memory: bool) -> list[float]:
        """The tensor of a player's information state (`is_memory`) or observation, as a list."""
        if not self._observers:
            self._observers = [CambioObserver(self, pyspiel.IIGObservationType(perfect_recall=recall)) for recall in (False, True)]
        return _floats(player, self.num_players(), self._observers[is_memory].read(state, player))

    def max_chance_nodes_in_history(self) -> int:
        """An upper bound on the number of chance nodes in a match."""
        return self._chance_nodes

    def make_py_observer(self, iig_obs_type: Any = None, params: dict[str, Any] | None = None) -> CambioObserver | None:
        """The observer for OpenSpiel's `make_observation`; `None` for the private information of all players, which is not supported."""
        kind = iig_obs_type or pyspiel.IIGObservationType(perfect_recall=False)
        if kind.private_info == pyspiel.PrivateInfoType.ALL_PLAYERS:
            return None
        return CambioObserver(self, kind, params)


class CambioState(pyspiel.State):
    """A state of `python_cambio`. The attribute `table` is its match, a `cambio_game.ChanceGame`."""

    def __init__(self, game: CambioGame) -> None:
        super().__init__(game)
        # OpenSpiel creates a state for each tensor, so the match is copied when it is first needed.
        self._table: ChanceGame = game.start
        self._is_shared = True
        self._player: int = game.first_player
        self._payoff: Payoff = game.payoff

    @property
    def table(self) -> ChanceGame:
        """The match. A match that is assigned replaces the match of the state."""
        if self._is_shared:
            self._table, self._is_shared = self._table.copy(), False
        return self._table

    @table.setter
    def table(self, table: ChanceGame) -> None:
        self._table, self._is_shared = table, False
        # OpenSpiel asks for the player several times in each step, so it is stored.
        self._player = _player(table)

    def current_player(self) -> int:
        """The player to act, or OpenSpiel's number for chance or for a terminal state."""
        return self._player

    def is_terminal(self) -> bool:
        """Whether the match is over."""
        return self._player == TERMINAL

    def is_chance_node(self) -> bool:
        """Whether the next step is an outcome of chance."""
        return self._player == CHANCE

    def _legal_actions(self, player: int) -> list[int]:
        return self._table._legal()

    # OpenSpiel's own versions of the next four methods call Python several times. C++ code does not use these.

    def legal_actions(self, player: int | None = None) -> list[int]:
        """The legal actions of a player, by default of the player to act; at a chance node, the outcomes."""
        if self._player >= 0 and (player is None or player == self._player):
            return self._table._legal()
        found: list[int] = super().legal_actions() if player is None else super().legal_actions(player)
        return found

    def legal_actions_mask(self, player: int | None = None) -> list[int]:
        """1 for each legal action of a player, by default of the player to act, and 0 for the others."""
        if self._player >= 0 and (player is None or player == self._player):
            return self._table._mask_list()
        found: list[int] = super().legal_actions_mask() if player is None else super().legal_actions_mask(player)
        return found

    def information_state_tensor(self, player: int | None = None) -> list[float]:
        """The tensor of a player's information state, by default of the player to act: see `CambioObserver`."""
        chosen = self._player if player is None else player
        if 0 <= chosen < self._table.seats:
            memory: list[float] = self.get_game().tensor_of(self, chosen, is_memory=True)
            return memory
        found: list[float] = super().information_state_tensor(*(() if player is None else (player,)))
        return found

    def observation_tensor(self, player: int | None = None) -> list[float]:
        """The tensor of a player's observation, by default of the player to act: see `CambioObserver`."""
        chosen = self._player if player is None else player
        if 0 <= chosen < self._table.seats:
            seen: list[float] = self.get_game().tensor_of(self, chosen, is_memory=False)
            return seen
        found: list[float] = super().observation_tensor(*(() if player is None else (player,)))
        return found

    def chance_outcomes(self) -> list[tuple[int, float]]:
        """The outcomes of a chance node with their probabilities."""
        return self._table.outcomes()

    def _apply_action(self, action: int) -> None:
        table = self.table if self._is_shared else self._table
        self._player = table._apply(action)

    def _action_to_string(self, player: int, action: int) -> str:
        if player == pyspiel.PlayerId.CHANCE:
            return self.table.outcome_text(action)
        return str(Action.from_index(action, self.table.rules, self.table.seats, player))

    def returns(self) -> list[float]:
        """Each player's return since the match began."""
        return self._paid(self.table.returns())

    def rewards(self) -> list[float]:
        """Each player's reward since the last decision."""
        if self._payoff == "rank":
            return self.returns()
        return self._paid(self.table.rewards())

    def _paid(self, scores: Sequence[float]) -> list[float]:
        if self._payoff == "score":
            return list(scores)
        if self._payoff == "lead":
            mean = sum(scores) / len(scores)
            return [score - mean for score in scores]
        if not self.table.is_over:
            return [0.0] * len(scores)
        # From 1 for the first to −1 for the last; players with equal totals get the mean of their places.
        beaten = [sum(other < score for other in scores) - sum(other > score for other in scores) for score in scores]
        return [balance / (len(scores) - 1) for balance in beaten]

    def resample_from_infostate(self, player: int, probability_sampler: Callable[[], float]) -> CambioState:
        """A random state that `player` cannot distinguish from this one. See `resample`."""
        return resample(self, player, random.Random(int(probability_sampler() * 2**53)))

    def __str__(self) -> str:
        steps = " ".join(map(str, self.table.history))
        return f"{steps}\n{self.table.render()}"


class CambioObserver:
    """A player's observation, through OpenSpiel's observer interface.

    With perfect recall, the string is the player's information state: equal strings mean equal perceived events and decisions.
    The tensor is the one-hot number of the player, followed by the blocks of `cambio_game.Layout`. Without recall, it has only the
    blocks that show the current table. With public information only, the blocks are still relative to the player.
    """

    def __init__(self, game: CambioGame, iig_obs_type: Any, params: dict[str, Any] | None = None) -> None:
        if params:
            raise CambioError(f"the parameters of an observation must be empty, found {params}")
        self._sees_public: bool = iig_obs_type.public_info
        self._sees_private: bool = iig_obs_type.private_info == pyspiel.PrivateInfoType.SINGLE_PLAYER
        self._recalls: bool = iig_obs_type.perfect_recall
        blocks = game.layout.blocks
        if not (self._recalls and self._sees_public and self._sees_private):
            names = [*PUBLIC, *(PUBLIC_MEMORY if self._recalls else ())] if self._sees_public else []
            names += PRIVATE if self._sees_private else ()
            blocks = tuple(block for block in blocks if block.name in names)
        players = game.num_players()
        sizes = [math.prod(block.shape) for block in blocks]
        self.tensor: NDArray[np.float32] = np.zeros(players + sum(sizes), np.float32)
        self.dict: dict[str, NDArray[np.float32]] = {"player": self.tensor[:players]}
        self._columns = np.concatenate([np.arange(0), *(np.arange(game.layout.size)[block.slice] for block in blocks)])
        self._is_whole = len(self._columns) == game.layout.size
        self._blocks = self.tensor[players:]
        self._zeros: NDArray[np.uint8] = np.zeros(game.layout.size, np.uint8)
        start = players
        for block, size in zip(blocks, sizes, strict=True):
            self.dict[block.name] = self.tensor[start : start + size].reshape(block.shape)
            start += size

    def set_from(self, state: CambioState, player: int) -> None:
        """Writes the observation of `player` into `tensor` and `dict`. Before the deal, only the block `player` is not 0."""
        players = self.dict["player"]
        players.fill(0)
        players[player] = 1
        self._blocks[:] = self.read(state, player)

    def read(self, state: CambioState, player: int) -> NDArray[np.uint8]:
        """The observation of `player` without its number, as bytes."""
        try:
            tensor = state._table.tensor(player)
        except IllegalAction:  # No cards are dealt yet.
            tensor = self._zeros
        return tensor if self._is_whole else tensor[self._columns]

    def string_from(self, state: CambioState, player: int) -> str:
        """The observation of `player` as text; with perfect recall, as codes of all events of the match."""
        table = state.table
        if self._recalls:
            own = table.information_state(player)
            if self._sees_public and self._sees_private:
                return own
            everybody = _public_codes(table)
            if self._sees_public:
                return everybody
            return own if self._sees_private and _events(own) != everybody.split() else ""
        if self._sees_public and self._sees_private:
            return table.render(player)
        try:
            seen = table.observe(player)
        except IllegalAction:  # No cards are dealt yet.
            return ""
        if self._sees_private:
            faces = [f"{spot}:{card}" for spot, card in seen.known.items()]
            return " ".join([*faces, *([] if seen.held is None else [f"held:{seen.held}"])])
        if not self._sees_public:
            return ""
        spots = " ".join(f"{spot}:{''.join(map(str, seen.seen_by(spot))) or '-'}" for spot in seen.occupied)
        pile = " ".join(f"{card}:{count}" for card, count in seen.pile.items())
        return (
            f"round {seen.round} totals {seen.totals} turn {seen.turns} of {seen.turn}: {table.seat} {seen.phase}; "
            f"top {seen.top} opener {seen.opener} stock {seen.stock} pile {pile}; "
            f"callers {seen.callers} safe {seen.safe}; {spots}"
        )


def _events(information_state: str) -> list[str]:
    """The codes of the perceived events in an information state. Its rounds are `EVENTS|DECISIONS`, separated by `/`."""
    _, _, memory = information_state.partition(" ")
    return [code for one in memory.split("/") for code in one.partition("|")[0].split()]


def _public_codes(table: ChanceGame) -> str:
    """The codes of all events, with public information only.

    Every seat perceives every event, but some seats without the face; in their codes, the bits of the face are 0.
    """
    perceived = [_events(table.information_state(seat)) for seat in range(table.seats)]
    public = []
    for codes in zip(*perceived, strict=True):
        common = -1
        for code in codes:
            common &= int(code, 16)
        public.append(f"{common:x}")
    return " ".join(public)


def resample(state: CambioState, player: int, dice: random.Random, sweeps: int = 10) -> CambioState:
    """Samples a state that `player` cannot distinguish from `state`: its information state is the same.

    Metropolis steps from the true state exchange hidden cards of the round with each other and with the stock; there are
    `sweeps` steps per drawn card. With many steps, the sample has the posterior distribution given the events that `player` has
    perceived and the decisions of the others; with few steps, it is biased towards the true cards. The declarations of other
    players in an open window are also resampled, uniformly among the legal ones. Earlier rounds are not changed, because only
    their totals matter.
    """
    game: CambioGame = state.get_game()
    wanted = state.table.information_state(player)
    steps = list(state.table.history)

    # The start of the round, its chance nodes for cards, and the declarations in the open window.
    table = copy(game.start)
    start, first = copy(table), 0
    draws: list[int] = []
    window: list[int] = []
    rounds = 0
    for place, step in enumerate(steps):
        if table.round != rounds:
            rounds, start, first = table.round, copy(table), place
            draws.clear()
        if table.is_chance:
            window.clear()
            if " " not in table.outcome_text(step):  # A card, not an order of seats.
                draws.append(place)
            table.play_chance(step)
            continue
        if table.observe().phase != "window":
            window.clear()
        elif table.seat != player:
            window.append(place)
        table.step(step)
    if table.is_chance or table.is_over or table.observe().phase != "window":
        window.clear()

    def chance_of(history: list[int]) -> float | None:
        """The probability of the round's chance outcomes; `None` if the history is impossible or the player can distinguish it."""
        again, share = copy(start), 1.0
        try:
            for step in history[first:]:
                if again.is_chance:
                    share *= dict(again.outcomes()).get(step, 0.0)
                    if share == 0.0:
                        return None
                    again.play_chance(step)
                else:
                    again.step(step)
        except CambioError:
            return None
        # The seat to act is public.
        is_same = again.seat == state.table.seat and again.information_state(player) == wanted
        return share if is_same else None

    chance = chance_of(steps)
    kinds = len(game.rules.deck)
    if chance is None:
        raise CambioError("the history of the state cannot be replayed")
    for _ in range(sweeps * len(draws)):
        # Exchange two drawn cards, or replace a drawn card by any other.
        changed = steps.copy()
        one = dice.choice(draws)
        if dice.random() < 0.5:
            other = dice.choice(draws)
            changed[one], changed[other] = changed[other], changed[one]
        else:
            changed[one] = dice.randrange(kinds)
        if changed == steps:
            continue
        found = chance_of(changed)
        if found is not None and dice.random() * chance < found:
            steps, chance = changed, found

    again = game.new_initial_state()
    secret = set(window)
    for place, step in enumerate(steps):
        again.apply_action(dice.choice(again.legal_actions()) if place in secret else step)
    return again


class StrategyPolicy(policies.Policy):
    """`cambio_game.StrategyPolicy` as a policy of OpenSpiel. The game must have the same rules, one round and two players."""

    def __init__(self, game: CambioGame, path: str | PathLike[str]) -> None:
        super().__init__(game, list(range(game.num_players())))
        self._strategy = Strategy(path, game.rules)

    def action_probabilities(self, state: CambioState, player_id: int | None = None) -> dict[int, float]:
        """The probability of each legal action. Raises `CambioError` if the file does not contain the information set."""
        player = state.current_player() if player_id is None else player_id
        return self._strategy.action_probabilities(state.table.observe(player))


def strategy_key(state: CambioState, player: int) -> str | None:
    """The key of a player's information set in strategy files: see `cambio_game.Observation.strategy_key`."""
    return state.table.observe(player).strategy_key


if SHORT_NAME not in pyspiel.registered_names():
    pyspiel.register_game(_game_type("rank"), CambioGame)
