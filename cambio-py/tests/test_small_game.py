"""Exploitability in small games, for arrays, policies, agents and files. `test_openspiel.py` compares it with OpenSpiel."""

from __future__ import annotations

import copy
import os
import pickle
import random
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

import cambio_game as cambio
from conftest import FULL, positions, random_strategy

CLASSIC = Path(__file__).parents[2] / "cambio-agents/nets/classic.net"
SMALL = ("mini-m0", "mini-m1", "mini-s")
GAMES = cambio.MINI_GAMES if FULL else SMALL


@pytest.fixture(scope="module")
def m1() -> cambio.SmallGame:
    return cambio.SmallGame("mini-m1")


@pytest.mark.parametrize("name", GAMES)
def test_the_value_of_a_mixture_is_the_mean_of_the_values(name: str) -> None:
    game, dice = cambio.SmallGame(name), np.random.default_rng(5)
    pairs = [random_strategy(game, dice) for _ in range(3)]
    # A best response never gets to some information sets, and a behaviour strategy has no zeros.
    _, actions = game.best_response(0, pairs[0][1])
    parts, weights = [actions, *(a for a, _ in pairs)], [3.0, 1.0, 0.0, 2.5]
    mixed = game.mixture(0, parts, weights)
    assert np.allclose(mixed.sum(1), 1) and not mixed[~game.masks(0)].any()
    for _, b in pairs:
        due = np.dot(weights, [game.value(part, b) for part in parts]) / sum(weights)
        assert game.value(mixed, b) == pytest.approx(due, abs=1e-12)
    naive = np.average([np.eye(game.action_count)[actions], *parts[1:]], axis=0, weights=weights)
    assert abs(game.value(naive, pairs[0][1]) - game.value(mixed, pairs[0][1])) > 1e-4
    own = [b for _, b in pairs]
    assert game.mixture(1, own) == pytest.approx(game.mixture(1, (b for b in own), [2, 2, 2]), abs=1e-12)


class Uniform:
    """Equal probabilities, in batches; counts the observations."""

    def __init__(self) -> None:
        self.sizes: list[int] = []
        self.seen: set[tuple[int, str]] = set()

    def probabilities(self, observations: list[cambio.Observation]) -> NDArray[np.float32]:
        self.sizes.append(len(observations))
        self.seen.update((seen.seat, seen.key()) for seen in observations)
        masks = np.stack([seen.mask() for seen in observations])
        return (masks / masks.sum(1, keepdims=True)).astype(np.float32)


def test_a_policy_is_asked_in_batches_at_every_information_set(m1: cambio.SmallGame) -> None:
    policy = Uniform()
    found = m1.probabilities(policy, batch=500)
    for array, uniform in zip(found, m1.uniform(), strict=True):
        assert np.abs(array - uniform).max() < 1e-7
    assert policy.sizes == [500, 500, 500, 412, 500, 500, 140]
    assert len(policy.seen) == sum(m1.information_sets)
    assert cambio.exploitability(Uniform(), m1) == pytest.approx(0.541857, abs=1e-6)
    assert cambio.exploitability(Uniform(), "mini-m1") == pytest.approx(0.541857, abs=1e-6)


class OneByOne:
    """A library agent that is asked for one observation at a time."""

    def __init__(self, spec: str) -> None:
        self.agent = cambio.agent(spec)

    def probabilities(self, observations: list[cambio.Observation]) -> list[NDArray[np.float64]]:
        return [self.agent.probabilities(seen) for seen in observations]


@pytest.mark.parametrize(("spec", "due"), [("greedy", 0.438889), ("heuristic", 0.141865)])
def test_an_agent_has_the_exploitability_that_the_command_prints(m1: cambio.SmallGame, spec: str, due: float) -> None:
    found = cambio.exploitability(spec, m1)
    assert found == pytest.approx(due, abs=1e-6)
    assert cambio.exploitability(cambio.agent(spec), m1) == found
    # The rows of information sets that the agent cannot reach do not change the result.
    assert cambio.exploitability(OneByOne(spec), m1) == pytest.approx(found, abs=1e-12)


def test_the_probabilities_of_an_agent_are_shares_of_its_decisions() -> None:
    game = cambio.Game("classic", 3, seed=8)
    game.step("draw")
    for agent in (cambio.agent("random"), cambio.agent("greedy")):
        seen = game.observe()
        found = agent.probabilities(seen, streams=200)
        assert found.shape == (game.action_count,) and found.sum() == pytest.approx(1)
        assert not found[~seen.mask()].any()
        assert (found == agent.probabilities(seen, streams=200)).all()
        assert (found == cambio.Agent(agent.spec).probabilities(seen, streams=200)).all()
        assert (found.max() == 1) == (agent.spec == "greedy")
    assert (
        cambio.agent("greedy").decide(game).index(game.rules, 3, 0) == cambio.agent("greedy").probabilities(game.observe()).argmax()
    )
    with pytest.raises(cambio.IllegalAction, match="does not have to decide"):
        cambio.agent("greedy").probabilities(game.observe(1))


def test_arrays_of_other_types_have_the_same_exploitability(m1: cambio.SmallGame) -> None:
    a, b = random_strategy(m1, np.random.default_rng(1))
    due = m1.exploitability(a, b)
    wide = np.zeros((a.shape[0], 2 * a.shape[1]))
    wide[:, ::2] = a
    assert m1.exploitability(wide[:, ::2], np.asfortranarray(b)) == due
    assert m1.exploitability(a.tolist(), b) == due
    assert m1.exploitability(a.astype(np.float32), b.astype(np.float32)) == pytest.approx(due, abs=1e-6)


@pytest.mark.parametrize(
    ("call", "kind", "sentence"),
    [
        (lambda game, a, b: cambio.SmallGame("mini-m9"), cambio.RulesError, "there is no preset `mini-m9`; did you mean `mini-m0`"),
        (lambda game, a, b: cambio.SmallGame("classic"), cambio.RulesError, "`classic` is too large to be solved exactly: about 10^"),
        (lambda game, a, b: cambio.SmallGame("mini-m3", 10**6), cambio.RulesError, "`mini-m3` is too large to be solved exactly"),
        (lambda game, a, b: cambio.SmallGame("mini-m1", 0), cambio.CambioError, "`memory_limit` must be a whole number from 1 to"),
        (lambda game, a, b: game.masks(2), cambio.CambioError, "`seat` must be from 0 to 1 or from a to b, found 2"),
        (lambda game, a, b: game.exploitability(b, a), cambio.ArrayError, "`probabilities_a` must have shape (1912, 37), a row for each information set of seat a"),
        (lambda game, a, b: game.exploitability(a, b[0]), cambio.ArrayError, "found shape (37,)"),
        (lambda game, a, b: game.exploitability(a, b.astype(complex)), cambio.ArrayError, "and dtype int64, found shape (1140, 37) and dtype complex128"),
        (lambda game, a, b: game.exploitability(a, np.where(np.arange(len(b))[:, None] == 7, -0.1, b)), cambio.ArrayError, "at information set 7 of seat b"),
        (lambda game, a, b: game.exploitability(a, b / 2), cambio.ArrayError, "the probabilities at information set 0 of seat b must add up to 1, found 0.5"),
        (lambda game, a, b: game.exploitability(a, b * np.nan), cambio.ArrayError, "found NaN for action 0 at information set 0 of seat b; `masks` has the legal actions"),
        (lambda game, a, b: game.exploitability(a, np.where(b > 0, -1, 0.0)), cambio.ArrayError, "information set 0 of seat b must be from 0 to 1, found -1"),
        (lambda game, a, b: game.best_response(0, a), cambio.ArrayError, "`probabilities` must have shape (1140, 37)"),
        (lambda game, a, b: game.value(np.full(1912, 36), b), cambio.ArrayError, "`probabilities_a` must have legal actions, found 36 at information set"),
        (lambda game, a, b: game.mixture(1, [a]), cambio.ArrayError, "`strategies` must have shape (1140, 37)"),
        (lambda game, a, b: game.mixture(0, [a, a], [1, -1]), cambio.ArrayError, "`weights` must have 2 numbers from 0, one for each strategy and not all 0, found [1"),
        (lambda game, a, b: game.mixture(0, []), cambio.ArrayError, "`strategies` must have at least one strategy"),
        (lambda game, a, b: game.solve(to=0), cambio.CambioError, "`to` must be a number above 0, such as 1e-3, found 0"),
        (lambda game, a, b: game.load("/nowhere"), cambio.CambioError, "`/nowhere` cannot be read: "),
        (lambda game, a, b: game.probabilities("gredy"), cambio.AgentError, "there is no agent `gredy`"),
        (lambda game, a, b: game.probabilities(f'learned("{CLASSIC}")'), cambio.AgentFault, "its network is for the cards of `classic`"),
        (lambda game, a, b: game.probabilities(Uniform(), batch=0), cambio.CambioError, "`batch` must be a whole number from 1 to 1048576, found 0"),
    ],
)  # fmt: skip
def test_a_refusal_is_one_sentence(m1: cambio.SmallGame, call, kind, sentence) -> None:
    with pytest.raises(kind, match=re.escape(sentence)) as caught:
        call(m1, *m1.uniform())
    assert "\n" not in str(caught.value)


def test_a_wrong_policy_is_refused(m1: cambio.SmallGame) -> None:
    class Short:
        def probabilities(self, observations: list[cambio.Observation]) -> NDArray[np.float64]:
            return np.ones((len(observations), 3))

    class Failing:
        def probabilities(self, observations: list[cambio.Observation]) -> NDArray[np.float64]:
            raise KeyError("weights")

    with pytest.raises(cambio.ArrayError, match=r"must return an array of shape \(1024, 37\), .*, found shape \(1024, 3\)"):
        m1.probabilities(Short())
    with pytest.raises(KeyError, match="weights"):
        m1.probabilities(Failing())
    with pytest.raises(TypeError, match=r"an object with a method probabilities\(observations\), found type int"):
        m1.probabilities(3)


def test_the_example_of_the_book_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    page = (Path(__file__).parents[2] / "book/src/python.md").read_text(encoding="utf-8")
    section = page.partition("## Exact exploitability")[2].partition("## Tournaments")[0]
    blocks = re.findall(r"```python\n(.*?)```", section, re.DOTALL)
    assert len(blocks) == 2
    monkeypatch.chdir(tmp_path)
    code = "\n".join(blocks) if FULL else "\n".join(blocks).replace("mini-p", "mini-m0")
    exec(compile(code, "python.md", "exec"), {})
    printed = capsys.readouterr().out.split()
    for found, due in zip(printed[:2], re.findall(r"# (0\.\d+):", section), strict=True):
        assert abs(float(found) - float(due)) < 1e-5 or (due == "0.66648" and not FULL)
    assert len(list(tmp_path.iterdir())) == 1


def test_a_game_can_be_copied_and_pickled(m1: cambio.SmallGame) -> None:
    assert copy.deepcopy(m1) == m1 and m1 != cambio.SmallGame("mini-m0")
    again = pickle.loads(pickle.dumps(m1))
    assert again == m1 and hash(again) == hash(m1) and again.keys(1) == m1.keys("b")
    assert repr(m1) == "<SmallGame 'mini-m1', 1912 and 1140 information sets>".replace("'", '"')
    mine = cambio.SmallGame({"base": "mini-m0", "name": "mine", "turn_limit": 1})
    assert mine.rules.name == "mine" and mine.exploitability(*mine.solve(to=1e-4)) <= 1e-4


def test_a_strategy_of_a_file_is_a_policy(tmp_path: Path) -> None:
    """Also in matches in which the other seat has the first turn."""
    game = cambio.SmallGame("mini-m1")
    a, b = game.solve(to=1e-3)
    game.save(tmp_path / "m1.txt", a, b)
    assert all((found == saved).all() for found, saved in zip(game.load(tmp_path / "m1.txt"), (a, b), strict=True))
    policy = cambio.StrategyPolicy(tmp_path / "m1.txt", "mini-m1")
    for own, found in zip((a, b), game.probabilities(policy), strict=True):
        assert np.allclose(own, found, atol=1e-12)
    assert cambio.exploitability(policy, game) <= 1e-3
    rules = cambio.Rules({"base": "mini-m1", "name": "drawn", "first_dealer": "drawn"})
    game = cambio.SmallGame(rules)
    game.save(tmp_path / "drawn.txt", *game.solve(to=1e-3))
    starters = set()

    class Watched(cambio.StrategyPolicy):
        def action_probabilities(self, observation: cambio.Observation) -> dict[int, float]:
            starters.add(observation.sightings[0].seat)
            return super().action_probabilities(observation)

    run = cambio.evaluate(Watched(tmp_path / "drawn.txt", rules), "random", rules, 100, threads=1)
    row = next(row for row in run.summary if row["agent"] != "random")
    assert starters == {0, 1} and row["rank_points"] > 0.55


def test_strategy_files_are_checked(tmp_path: Path) -> None:
    path, game = tmp_path / "m0.txt", cambio.SmallGame("mini-m0")
    game.save(path, *game.uniform())
    policy = cambio.StrategyPolicy(path, "mini-m0")
    seen = next(game.observe() for game in positions("classic", 2, 1) if len(game.legal_actions()) > 1)
    assert seen.strategy_key is None
    with pytest.raises(cambio.CambioError, match="must contain the information set None of seat [ab], found none"):
        policy.probabilities([seen])
    for rules in ("mini-m1", cambio.Rules({"base": "mini-m0", "name": "mini-m0", "turn_limit": 3})):
        with pytest.raises(cambio.CambioError, match="whose rules differ"):
            cambio.StrategyPolicy(path, rules)
    with pytest.raises(cambio.CambioError, match="the strategy is for `mini-m0`, whose rules differ from the rules of `mini-m1`"):
        cambio.SmallGame("mini-m1").load(path)
    path.write_text("a b c")
    with pytest.raises(cambio.CambioError, match="not a strategy file"):
        cambio.StrategyPolicy(path, "mini-m0")


def test_the_key_of_an_observation_is_the_key_of_its_information_set() -> None:
    """This holds in a game, in a Python agent, after a pickle, and in the replay of a record."""
    known = {*cambio.SmallGame("mini-s").keys(0), *cambio.SmallGame("mini-s").keys(1)}
    found = 0

    class Asks:
        def decide(self, seen: cambio.Observation) -> cambio.Action:
            nonlocal found
            legal = seen.legal_actions()
            found += len(legal) > 1 and seen.strategy_key in known
            assert len(legal) == 1 or seen.strategy_key in known
            return legal[hash(seen.key()) % len(legal)]

    cambio.evaluate(Asks, "random", "mini-s", 50, threads=1)
    dice = random.Random(6)
    for deal in range(40):
        game, seen = cambio.Game("mini-s", seed=2, deal=deal), []
        while not game.is_over:
            seen.append(game.observe())
            assert pickle.loads(pickle.dumps(seen[-1])).strategy_key == seen[-1].strategy_key
            found += len(game.legal_actions()) > 1 and seen[-1].strategy_key in known
            assert len(game.legal_actions()) == 1 or seen[-1].strategy_key in known
            game.step(dice.choice(game.legal_actions()))
        assert [one.strategy_key for one, _ in game.record().replay()] == [one.strategy_key for one in seen]
    assert found > 100


def test_the_solver_tells_its_progress() -> None:
    told: list[tuple[int, float]] = []
    cambio.SmallGame("mini-m1").solve(1e-3, progress=lambda *step: told.append(step))
    assert told and told[-1][1] <= 1e-3 < told[0][1] and [step for step, _ in told] == sorted(step for step, _ in told)


def test_the_example_learns() -> None:
    pytest.importorskip("jax")
    example = Path(__file__).parents[2] / "examples" / "python" / "ppo.py"
    words = ["--game", "mini-m0", "--iterations", "10", "--matches", "512"]
    done = subprocess.run([sys.executable, example, *words], capture_output=True, text=True, check=True)
    curve = [float(line.split()[2]) for line in done.stdout.splitlines()[1:]]
    assert len(curve) == 11 and curve[-1] < curve[0]


@pytest.mark.skipif("CAMBIO_BIN" not in os.environ, reason="CAMBIO_BIN does not name the command")
def test_the_baselines_continue_where_they_stopped(tmp_path: Path) -> None:
    program = Path(__file__).parents[1] / "benches" / "baselines.py"

    def run(*words: str) -> str:
        command = [sys.executable, program, tmp_path, "--games", "mini-m1", "--scale", "0.001", *words]
        environment = os.environ | {"CAMBIO": os.environ["CAMBIO_BIN"]}
        return subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout

    run("--only", "MCCFR", "--seeds", "1")
    first = (tmp_path / "baselines.csv").read_text(encoding="utf-8").splitlines()
    assert len(first) == 2
    printed = run("--only", "values", "MCCFR", "CFR+", "--seeds", "2")
    rows = (tmp_path / "baselines.csv").read_text(encoding="utf-8").splitlines()
    assert rows[:2] == first and len(rows) == 1 + 2 + 2 + 1
    assert re.findall(r"^\| (\S+) \| [^|]* \| (\d) \|", printed, re.MULTILINE) == [("values", "2"), ("MCCFR", "2"), ("CFR+", "1")]


def test_agents_that_draw_are_asked_with_several_streams(m1: cambio.SmallGame) -> None:
    assert cambio.exploitability("sharp(decay=0.5)", m1) == pytest.approx(0.266085, abs=1e-6)
    assert cambio.exploitability("sharp(decay=0.5)", m1, streams=1) == pytest.approx(0.290278, abs=1e-6)
    game = cambio.Game("classic", seed=3)
    shares = cambio.agent("rollout(n=20)").probabilities(game.observe())
    assert (shares == cambio.agent("rollout(n=20)").probabilities(game.observe(), streams=20)).all()
