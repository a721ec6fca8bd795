"""The OpenSpiel game: OpenSpiel's own tests, a playthrough, the best responses of `cambio exploit`, resampled states."""

from __future__ import annotations

import difflib
import os
import random
import unittest
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import cambio_game as cambio
from conftest import FULL, amount, random_strategy

pyspiel: Any = pytest.importorskip("pyspiel")

from open_spiel.integration_tests import api_test  # noqa: E402
from open_spiel.python import policy as policies  # noqa: E402
from open_spiel.python.algorithms import best_response, expected_game_score, exploitability, generate_playthrough  # noqa: E402
from open_spiel.python.observation import make_observation  # noqa: E402

import cambio_game.openspiel  # noqa: E402

PLAYTHROUGH = Path(__file__).parent / "playthroughs" / "python_cambio.txt"
PAYOFFS = ("rank", "score", "lead")


def load(rules: str, players: int = 2, payoff: str = "rank") -> Any:
    return pyspiel.load_game(f"python_cambio(rules={rules},players={players},payoff={payoff})")


def observer(game: Any, *, public: bool, private: bool, recall: bool) -> Any:
    private_info = pyspiel.PrivateInfoType.SINGLE_PLAYER if private else pyspiel.PrivateInfoType.NONE
    kind = pyspiel.IIGObservationType(public_info=public, perfect_recall=recall, private_info=private_info)
    return make_observation(game, kind)


def states(game: Any, dice: random.Random, share: float) -> Any:
    """A share of the decision nodes of a random match in which most windows are passed."""
    state = game.new_initial_state()
    while not state.is_terminal():
        if state.is_chance_node():
            outcomes, shares = zip(*state.chance_outcomes(), strict=True)
            state.apply_action(dice.choices(outcomes, shares)[0])
            continue
        if dice.random() < share:
            yield state
        legal = state.legal_actions()
        plain = [action for action in legal if state.action_to_string(action).split()[0] not in ("snap", "touch", "call")]
        state.apply_action(dice.choice(plain if plain and dice.random() < 0.9 else legal))


TABLES = [(name, 2) for name in (*cambio.MINI_GAMES, *cambio.PRESETS)] + [("classic", 4), ("original", 4), ("faessler", 8)]


@pytest.mark.parametrize(("rules", "players"), TABLES)
def test_openspiels_simulation_holds(rules: str, players: int) -> None:
    for payoff in PAYOFFS if FULL else [PAYOFFS[len(rules) % 3]]:
        pyspiel.random_sim_test(load(rules, players, payoff), num_sims=amount(1, 20), serialize=True, verbose=False)


def run_case(base: type[Any], game: Any) -> None:
    """Runs a test of OpenSpiel with this game."""
    case = type("Case", (base,), {"game_name": "python_cambio", "game": game})
    result = unittest.TestResult()
    unittest.defaultTestLoader.loadTestsFromTestCase(case).run(result)
    assert result.testsRun > 3
    assert not result.errors and not result.failures, (result.errors, result.failures)


def test_openspiels_api_test_holds_on_a_full_tree(monkeypatch: pytest.MonkeyPatch) -> None:
    # Chance nodes, decision nodes, terminal nodes.
    monkeypatch.setitem(api_test.TOTAL_NUM_STATES, "python_cambio", (2752, 666, 1890))
    # Information sets, including those with only one choice.
    monkeypatch.setitem(api_test.PERFECT_RECALL_NUM_STATES, "python_cambio", 114 + 108 + 45)
    run_case(api_test.EnforceAPIOnFullTreeBase, load("mini-m0"))


@pytest.mark.parametrize(("rules", "players"), [("mini-m1", 2), ("classic", 2), ("original", 3)])
def test_openspiels_api_test_holds_on_a_part_of_a_tree(rules: str, players: int) -> None:
    run_case(api_test.EnforceAPIOnPartialTreeBase, load(rules, players))


def test_the_playthrough_is_the_kept_one() -> None:
    """`CAMBIO_BLESS=1` updates the stored playthrough."""
    game, seed = "python_cambio(rules=mini-m0)", 1
    said = generate_playthrough.playthrough(game, action_sequence=None, seed=seed)
    if os.environ.get("CAMBIO_BLESS"):
        PLAYTHROUGH.write_text(said, encoding="utf-8")
    kept = PLAYTHROUGH.read_text(encoding="utf-8")
    assert said == kept, "".join(difflib.unified_diff(kept.splitlines(True), said.splitlines(True), n=0))
    assert kept.splitlines()[-1].startswith("Returns()")


@pytest.mark.parametrize(("rules", "players"), [("mini-s", 2), ("mini-dpk", 3), ("classic", 2), ("original", 4)])
def test_a_state_drawn_anew_is_one_that_the_player_cannot_tell(rules: str, players: int) -> None:
    """Its information state and all public information stay the same; cards that it has not seen change."""
    game = load(rules, players)
    dice = random.Random(1)
    public = [observer(game, public=True, private=False, recall=recall) for recall in (False, True)]
    own = [observer(game, public=True, private=True, recall=recall) for recall in (False, True)]
    changed = 0
    for _ in range(amount(3, 50)):
        for state in states(game, dice, 0.7 if rules.startswith("mini") else 0.05):
            player = dice.randrange(players)
            other = state.resample_from_infostate(player, dice.random)
            assert other.current_player() == state.current_player()
            for watch, watchers in [*((one, [player]) for one in own), *((one, range(players)) for one in public)]:
                for seat in watchers:
                    assert watch.string_from(other, seat) == watch.string_from(state, seat)
                    watch.set_from(state, seat)
                    before = watch.tensor.copy()
                    watch.set_from(other, seat)
                    assert np.array_equal(watch.tensor, before)
            changed += other.history() != state.history()
    assert changed > 0


@pytest.mark.parametrize(
    ("rules", "mixtures"), [("mini-m0", 5), ("mini-s", 1), ("mini-m1", 1), *([("mini-m3", 1)] if FULL else [])]
)
def test_small_game_finds_what_openspiel_finds(rules: str, mixtures: int, tmp_path: Path) -> None:
    """OpenSpiel walks over `ChanceGame`, and a strategy file has the keys of information sets."""
    small, game, dice = cambio.SmallGame(rules), load(rules), np.random.default_rng(3)
    root = game.new_initial_state()
    strategies = [small.uniform(), small.solve(to=1e-3)] if rules == "mini-m0" else []
    for strategy in [*strategies, *(random_strategy(small, dice) for _ in range(mixtures))]:
        small.save(tmp_path / "strategy.txt", *strategy)
        policy = cambio.openspiel.StrategyPolicy(game, tmp_path / "strategy.txt")
        value = expected_game_score.policy_value(root, [policy, policy])[0]
        assert small.value(*strategy) == pytest.approx(value, abs=1e-9)
        bests = [best_response.BestResponsePolicy(game, seat, policy).value(root) for seat in (0, 1)]
        assert small.exploitability(*strategy) == pytest.approx(sum(bests) / 2, abs=1e-9)
        for seat, best in enumerate(bests):
            worth, actions = small.best_response(seat, strategy[1 - seat])
            assert worth == pytest.approx(best, abs=1e-9)
            for response in (actions, np.eye(small.action_count)[actions]):
                pair = (response, strategy[1]) if seat == 0 else (strategy[0], response)
                assert small.value(*pair) * (1 - 2 * seat) == pytest.approx(best, abs=1e-9)
    if rules == "mini-m0":
        assert small.exploitability(*strategies[1]) <= 1e-3
        uniform = exploitability.nash_conv(game, policies.UniformRandomPolicy(game), use_cpp_br=False)
        assert small.exploitability(*strategies[0]) == pytest.approx(uniform / 2, abs=1e-9)


@pytest.mark.parametrize("rules", ["mini-m0", "mini-s", "mini-m1"])
def test_rows_of_a_small_game_are_its_information_sets(rules: str) -> None:
    small, waiting, found = cambio.SmallGame(rules), [load(rules).new_initial_state()], set()
    rows = [{key: row for row, key in enumerate(small.keys(seat))} for seat in (0, 1)]
    tensors, masks = [small.tensors(seat) for seat in (0, 1)], [small.masks(seat) for seat in (0, 1)]
    while waiting:
        state = waiting.pop()
        waiting += [state.child(action) for action in state.legal_actions()]
        if state.current_player() >= 0 and len(state.legal_actions()) > 1:
            seat, seen = state.current_player(), state.table.observe()
            row = rows[seat][cambio.openspiel.strategy_key(state, seat)]
            assert np.array_equal(tensors[seat][row], seen.tensor()) and np.array_equal(masks[seat][row], seen.mask())
            found.add((seat, row))
    assert len(found) == sum(small.information_sets)


def test_states_drawn_anew_have_the_probabilities_of_the_tree() -> None:
    """A state of mini-m0 whose posterior is known: the distribution of resampled faces agrees with it."""
    game = load("mini-m0")
    dice = random.Random(5)
    state = game.new_initial_state()
    for outcome in (0, 1):
        state.apply_action(outcome)
    for word in ("draw", 2, "drop"):
        state.apply_action(word if isinstance(word, int) else state.string_to_action(word))
    # Seat 1 has seen one card, a 2. Seat 0 has seen a 1, hidden from seat 1. A 3 is on the pile, so 1, 1, 2, 3 are left.
    drawn = 1000
    faces = [cambio.openspiel.resample(state, 1, dice, sweeps=30).history()[0] for _ in range(drawn)]
    shares = [faces.count(kind) / drawn for kind in range(3)]
    assert shares == pytest.approx([0.5, 0.25, 0.25], abs=0.06)


@pytest.mark.parametrize(("rules", "players"), [("mini-p", 2), ("classic", 3), ("faessler", 2)])
def test_the_methods_of_a_state_say_what_openspiels_own_methods_say(rules: str, players: int) -> None:
    """Python calls faster versions of some methods of `pyspiel.State`."""
    game, dice = load(rules, players), random.Random(2)
    kinds = ["legal_actions", "legal_actions_mask", "information_state_tensor", "observation_tensor"]
    state, own = game.new_initial_state(), pyspiel.State
    for _ in range(150):
        if state.is_terminal():
            break
        assert state.is_chance_node() == own.is_chance_node(state) and state.current_player() == own.current_player(state)
        if not state.is_chance_node():
            for kind in kinds:
                for player in ((), *((player,) for player in range(players))):
                    assert getattr(state, kind)(*player) == getattr(own, kind)(state, *player), (kind, player)
        assert state.legal_actions() == own.legal_actions(state)
        copy = state.clone()
        state.apply_action(dice.choice(state.legal_actions()))
        assert len(copy.history()) == len(state.history()) - 1 == len(copy.table.history)
    assert state.is_terminal() == own.is_terminal(state)
    for player in range(players):
        assert state.legal_actions(player) == own.legal_actions(state, player)


def test_bots_of_openspiel_play() -> None:
    from open_spiel.python.algorithms import ismcts, mcts

    game = load("mini-s")
    evaluator = mcts.RandomRolloutEvaluator(n_rollouts=1, random_state=np.random.RandomState(1))
    bot = ismcts.ISMCTSBot(game=game, evaluator=evaluator, uct_c=1.0, max_simulations=8, random_state=np.random.RandomState(2))
    state = game.new_initial_state()
    dice = random.Random(3)
    while not state.is_terminal():
        if state.is_chance_node():
            outcomes, shares = zip(*state.chance_outcomes(), strict=True)
            state.apply_action(dice.choices(outcomes, shares)[0])
        else:
            state.apply_action(bot.step(state))
    assert sum(state.returns()) == 0


def test_refusals_say_what_is_allowed() -> None:
    with pytest.raises(cambio.CambioError, match="`payoff` must be rank, score or lead"):
        cambio.openspiel.CambioGame({"payoff": "money"})
    with pytest.raises(cambio.CambioError, match="9"):
        cambio.openspiel.CambioGame({"players": 9})
    with pytest.raises(cambio.CambioError, match="no-such"):
        cambio.openspiel.CambioGame({"rules": "no-such"})
