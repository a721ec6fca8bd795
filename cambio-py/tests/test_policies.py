"""Policies and shared objects as agents, tournaments of several agents, and what a repeated or shared run may not do."""

from __future__ import annotations

import copy
import functools
import random
import re
from pathlib import Path

import numpy as np
import pytest

import cambio_game as cambio
from conftest import Nth, command


class Mixed:
    """Plays each legal action with a probability that depends on its index and on the observation."""

    def __init__(self) -> None:
        self.calls: list[int] = []

    def probabilities(self, observations: list[cambio.Observation]) -> np.ndarray:
        self.calls.append(len(observations))
        masks = np.array([seen.mask() for seen in observations])
        weights = masks * np.array(
            [[1 + (index * (1 + len(seen.sightings))) % 7 for index in range(masks.shape[1])] for seen in observations]
        )
        return weights / weights.sum(1, keepdims=True)


def test_rows_of_a_policy_do_not_depend_on_batches_and_threads() -> None:
    runs = [cambio.evaluate(Mixed(), "random", "mini-m1", 100, threads=threads, rows=True) for threads in (1, 2, 16)]
    assert runs[0].rows("matches").to_csv() == runs[1].rows("matches").to_csv() == runs[2].rows("matches").to_csv()
    # The class is the same agent.
    again = cambio.evaluate(Mixed, "random", "mini-m1", 100, threads=4)
    assert again.matrix().score[0, 1] == runs[0].matrix().score[0, 1]


def test_decisions_are_drawn_with_the_probabilities_of_the_policy() -> None:
    """The mean result of two policies is the exact value of the game."""
    game = cambio.SmallGame("mini-m1")
    a = game.solve(to=1e-3)
    policy = cambio.StrategyPolicy.from_arrays(game, *a)
    run = cambio.tournament(
        {"solved": policy, "uniform": cambio.StrategyPolicy.from_arrays(game, *game.uniform())}, game.rules, 3000
    )
    uniform = game.uniform()
    exact = (game.value(a[0], uniform[1]) - game.value(uniform[0], a[1])) / 2
    score, low, high = (array[0, 1] for array in run.matrix()[1:])
    assert abs((2 * score - 1) - exact) < 3 * (high - low) / 2, (score, exact)
    assert exact > 0.1


@pytest.mark.parametrize(
    ("answer", "what"),
    [
        (lambda masks: masks * 0.5, "add up to 1 over the legal actions, found the sum"),
        (lambda masks: (masks / masks.sum(1, keepdims=True))[:, 1:], "must return an array of shape"),
        (lambda masks: (masks / masks.sum(1, keepdims=True))[0], "must return an array of shape"),
        (lambda masks: np.full(masks.shape, np.nan), "found the sum NaN"),
    ],
)
def test_wrong_probabilities_are_faults(answer, what: str) -> None:  # type: ignore[no-untyped-def]
    class Wrong:
        def probabilities(self, observations: list[cambio.Observation]) -> np.ndarray:
            return answer(np.array([seen.mask() for seen in observations], float))

    with pytest.raises(cambio.AgentFault, match=what):
        cambio.evaluate(Wrong(), "random", "mini-m1", 5)


def test_arrays_are_policies() -> None:
    game = cambio.SmallGame("mini-m1")
    arrays, pure = game.solve(to=1e-2), [game.masks(seat).argmax(1) for seat in (0, 1)]
    for strategy in (arrays, pure):
        policy = cambio.StrategyPolicy.from_arrays(game, *strategy)
        assert cambio.exploitability(policy, game) == pytest.approx(game.exploitability(*strategy), abs=1e-12)
    with pytest.raises(cambio.ArrayError):
        cambio.StrategyPolicy.from_arrays(game, arrays[1], arrays[0])


class Careful:
    """Decides alone, with random numbers of its own."""

    def begin(self, rules: cambio.Rules, seats: int, seat: int, seed: int) -> None:
        self.dice = random.Random(seed)

    def decide(self, observation: cambio.Observation) -> cambio.Action:
        return self.dice.choice(observation.legal_actions())


def test_one_object_cannot_be_two_players_at_once() -> None:
    shared = Careful()
    with pytest.raises(cambio.AgentFault) as caught:
        cambio.evaluate(lambda: shared, "greedy", seats=4, deals=3, threads=1)
    assert "found the same `Careful` for two players at once" in str(caught.value.__cause__)
    fresh = cambio.evaluate(lambda: copy.copy(shared), "greedy", deals=40, threads=4, names=("careful", "greedy"))
    assert (
        fresh.summary.to_csv()
        == cambio.evaluate(Careful, "greedy", deals=40, threads=1, names=("careful", "greedy")).summary.to_csv()
    )


def test_an_agent_for_all_matches_is_an_object_or_a_class() -> None:
    class Second(Nth):
        def __init__(self) -> None:
            super().__init__(1)

    runs = [cambio.evaluate(agent, "random", "mini-m1", 30, names=("first", "random")) for agent in (Nth(1), Second)]
    assert runs[0].summary.to_csv() == runs[1].summary.to_csv()
    for factory in (functools.partial(Nth, 1), functools.partial(Mixed)):
        with pytest.raises(cambio.AgentFault) as caught:
            cambio.evaluate(factory, "random", "mini-m1", 30, names=("first", "random"))
        assert "a policy must be given as an object or a class, found a function; pass the" in str(caught.value.__cause__)


def test_a_run_is_continued_only_if_asked(tmp_path: Path) -> None:
    run = cambio.tournament(["greedy", "random"], deals=10, out=tmp_path / "run")
    (tmp_path / "spec.toml").write_text(run.spec)
    with pytest.raises(
        cambio.RunError, match="`out` must not exist, found .*; choose another folder, or continue its run with resume=True"
    ):
        cambio.run(tmp_path / "spec.toml", tmp_path / "run")
    with pytest.raises(cambio.RunError, match="must not exist"):
        cambio.tournament(["greedy", "random"], deals=10, out=tmp_path / "run")
    assert cambio.run(tmp_path / "spec.toml", tmp_path / "run", resume=True) == run


def test_a_tournament_of_several_agents_has_a_matrix() -> None:
    agents = {"mixed": Mixed(), "careful": Careful, "greedy": "greedy"}
    run = cambio.tournament(agents, deals=40)
    names, score, low, high = run.matrix()
    assert set(names) == set(agents) and run.matches == 3 * 2 * 40
    assert np.isnan(np.diag(score)).all()
    off = ~np.eye(3, dtype=bool)
    assert np.allclose((score + score.T)[off], 1) and (low[off] <= score[off]).all() and (score[off] <= high[off]).all()
    assert score[names.index("greedy"), names.index("careful")] > 0.8
    assert "classic, 2 seats, 40 deals" in str(run) and "greedy" in str(run)

    among = cambio.tournament(agents, deals=6, seats=3, lineups={"focal": ["mixed"], "field": ["greedy"]}, luck="off")
    assert among.matches == 6 * 3 and 'lineups = { focal = ["mixed"], field = ["greedy"] }' in among.spec
    with pytest.raises(cambio.CambioError, match="must select one table"):
        run.matrix(seats=5)


def test_the_command_measures_the_probabilities_of_agents(tmp_path: Path) -> None:
    (tmp_path / "policy.py").write_text(
        "import numpy as np\n\n\nclass Uniform:\n    def probabilities(self, observations):\n"
        "        masks = np.stack([seen.mask() for seen in observations])\n        return masks / masks.sum(1, keepdims=True)\n"
        "\n\nclass Player(Uniform):\n    def decide(self, seen):\n        return seen.legal_actions()[0]\n"
    )
    game = cambio.SmallGame("mini-m1")
    for kind in ("Uniform", "Player"):
        words = ["exploit", "--game", "mini-m1", "--agent", "mine", "--to", "1", "--quiet", "--python", f"mine=policy.py:{kind}"]
        shown = command(*words, folder=tmp_path)
        assert shown.returncode == 0, shown.stderr
        found = re.search(r"exploitability +([\d.]+)", shown.stdout)
        assert found and float(found[1]) == pytest.approx(game.exploitability(*game.uniform()), abs=1e-6), kind


def test_a_run_with_python_agents_can_be_verified(tmp_path: Path) -> None:
    agents = {"mixed": Mixed(), "greedy": "greedy"}
    run = cambio.tournament(agents, "mini-m1", deals=30, out=tmp_path / "run")
    assert run.verify(agents, all=True) > 0
    agent = f"--python=mixed={Path(__file__)}:Mixed"
    assert command(agent, "verify", "run", "--all", folder=tmp_path).returncode == 0
    assert command("verify", "run", "--all", folder=tmp_path).returncode == 5
    with pytest.warns(UserWarning, match="not replayed: there is no agent `mixed`"):
        assert run.verify() == 0
    with pytest.raises(cambio.RunError, match="gives different rows"):
        run.verify({"mixed": Nth(0), "greedy": "greedy"}, all=True)
    with pytest.raises(cambio.RunError, match="has no folder"):
        cambio.evaluate("greedy", "random", deals=2).verify()
