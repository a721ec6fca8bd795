"""Tournaments from Python give the same numbers as `cambio run`, to the last digit."""

from __future__ import annotations

import copy
import inspect
import json
import pickle
import random
import re
import shlex
import signal
import subprocess
import sys
from pathlib import Path

import pytest

import cambio_game as cambio
from conftest import CAMBIO, Chosen, First, Raises, cambio_prints, command, spec


class Notes:
    """Decides at random from its seed, as an action, a text or an index, and checks its observations."""

    def begin(self, rules: cambio.Rules, seats: int, seat: int, seed: int) -> None:
        self.dice, self.seat = random.Random(seed), seat

    def decide(self, observation: cambio.Observation) -> object:
        assert observation.seat == self.seat and observation.is_asked
        assert observation.sightings[0].kind == "dealt" and observation.tensor().any()
        action = self.dice.choice(observation.legal_actions())
        index = action.index(observation.rules, observation.seats, self.seat)
        return self.dice.choice([action, str(action), index])


def play(folder: Path, third: str, threads: int = 2, **agents: object) -> cambio.Run:
    folder.mkdir()
    path = spec(folder, ["greedy", "random", third], 20, name="three")
    return cambio.run(path, folder / "run", agents=agents, threads=threads)


def test_evaluate_is_the_run_of_its_spec(tmp_path: Path) -> None:
    found = cambio.evaluate("greedy(call_at=7)", cambio.agent("heuristic"), "original", 30, seats=3, seed=5)
    (tmp_path / "spec.toml").write_text(found.spec)
    if CAMBIO:
        cambio_prints("run", tmp_path / "spec.toml", "--out", tmp_path / "run", "--quiet")
        again = cambio.Run.open(tmp_path / "run")
    else:
        again = cambio.run(tmp_path / "spec.toml", tmp_path / "run", threads=1)
    assert again.run_id == found.run_id and again.tables == found.tables
    # The times of the agents differ.
    pages = [re.sub(r'<section id="times">.*?</section>\n', "", run.report, flags=re.DOTALL) for run in (found, again)]
    assert pages[0] == pages[1] != found.report
    assert found.matches == again.matches and found.is_complete and len(found.summary) == 2
    for name, table in found.tables.items():
        assert (tmp_path / "run" / f"{name}.csv").read_text() == table.to_csv()
    row = found.summary[0]
    assert row["rank_points_low"] < row["rank_points"] < row["rank_points_high"]
    assert found._repr_html_().startswith("<iframe") and "<td>" in found.summary._repr_html_()
    for other in (copy.copy(found), copy.deepcopy(found), pickle.loads(pickle.dumps(found))):
        assert other == found and hash(other) == hash(found)
    assert copy.copy(found.summary) == found.summary


def test_the_dictionary_has_the_columns_of_all_tables(tmp_path: Path) -> None:
    found = play(tmp_path / "one", "heuristic")
    names: dict[object, list[object]] = {}
    for column in cambio.columns():
        assert set(column) == {"command", "file", "name", "type", "may_be_empty", "unit", "meaning"}
        if column["command"] == "run":
            names.setdefault(column["file"], []).append(column["name"])
    for name, table in found.tables.items():
        assert names[f"{name}.csv"] == list(table.columns)
    header = (tmp_path / "one" / "run" / "players.csv").read_text().splitlines()[0]
    assert names["players.csv"] == [*header.split(","), "luck"]


def test_own_rules_are_evaluated_too() -> None:
    rules = cambio.Rules({"base": "classic", "name": "six cards", "hand": 6, "peek": "choose 2"})
    assert cambio.evaluate("greedy", "random", rules, 10).summary[0]["rules"] == "six cards"


def test_agents_of_python_take_part_and_give_the_same_rows_for_any_threads(tmp_path: Path) -> None:
    first = play(tmp_path / "one", "notes", notes=Notes)
    second = play(tmp_path / "two", "notes", notes=Notes)
    assert first.tables == second.tables and first.matches > 100
    assert {row["agent"] for row in first.summary} == {"greedy", "random", "notes"}
    rows = [(tmp_path / place / "run" / "matches.csv").read_bytes() for place in ("one", "two")]
    assert rows[0] == rows[1]
    assert cambio.evaluate(First, "greedy", deals=5).matches == 10


def test_an_unknown_agent_is_refused(tmp_path: Path) -> None:
    with pytest.raises(cambio.ExperimentError, match="there is no agent `nobody`"):
        play(tmp_path / "other", "nobody")


def test_tables_open_as_frames() -> None:
    found = cambio.evaluate("greedy", "random", deals=20)
    pandas, polars = pytest.importorskip("pandas"), pytest.importorskip("polars")
    for name, table in found.tables.items():
        frames = (table.to_pandas(), table.to_polars())
        assert isinstance(frames[0], pandas.DataFrame) and isinstance(frames[1], polars.DataFrame)
        assert all(list(frame.columns) == list(table.columns) and len(frame) == len(table) for frame in frames), name
    assert found.summary.to_pandas()["rank_points"].sum() == pytest.approx(1)


def test_the_command_plays_with_python_agents(tmp_path: Path) -> None:
    (tmp_path / "beside.py").write_text("LAST = -1\n")
    (tmp_path / "mine.py").write_text(
        "from beside import LAST\n\n\nclass Pass:\n    def decide(self, seen):\n        return seen.legal_actions()[LAST]\n\n\nready = Pass()\n"
    )
    spec(tmp_path, ["mine", "greedy"], 3, rules=["classic"], seats=[2])
    (tmp_path / "broken.py").write_text("1 / 0\n")
    (tmp_path / "leaves.py").write_text("import sys\nsys.exit(3)\n")
    for name, agent in {"run": "--python=mine=mine:Pass", "again": "--python=mine=mine.py:Pass"}.items():
        played = command(agent, "run", "spec.toml", "--out", name, folder=tmp_path)
        assert played.returncode == 0 and "6 matches in" in played.stderr, played.stderr
    runs = [(tmp_path / name / "matches.csv").read_bytes() for name in ("run", "again")]
    assert runs[0] == runs[1]
    assert command("--python", "mine=mine:Pass", "verify", "run", "--all", folder=tmp_path).returncode == 0

    for agent, message in {
        "mine=mine.Pass": "an agent must be NAME=MODULE:CLASS",
        "mine=other:Pass": "cannot import other: ModuleNotFoundError: No module named 'other'",
        "mine=.other:Pass": "an agent must be NAME=MODULE:CLASS",
        "mine=mine:Keep": "mine has no class `Keep`",
        "mine=other.py:Pass": "No such file",
        "mine=broken.py:Pass": "ZeroDivisionError: division by zero (",
        "mine=leaves.py:Pass": "cannot import leaves.py: SystemExit: 3",
        "mine=mine:ready": "an agent must be a factory",
        "greedy=mine:Pass": "the library has an agent `greedy`; give the Python agent another name",
    }.items():
        refused = command("--python", agent, "verify", "run", folder=tmp_path)
        assert refused.returncode == 1 and message in refused.stderr and "Traceback" not in refused.stderr, refused.stderr
    refused = command("--python", folder=tmp_path)
    assert refused.returncode == 1 and "must be followed by" in refused.stderr
    twice = ["--python=a=mine:Pass", "--python=a=mine:Pass"]
    assert "must have different names" in command("match", "a", "greedy", *twice, folder=tmp_path).stderr
    # To replay the run, the agent is needed.
    refused = command("verify", "run", folder=tmp_path)
    assert refused.returncode == 5 and "not replayed: there is no agent `mine`" in refused.stdout
    assert command("verify", "run", "--sample", "0", folder=tmp_path).returncode == 0


def test_the_command_explains_python_agents(tmp_path: Path) -> None:
    shown = command("--help", folder=tmp_path)
    assert shown.returncode == 0 and "bench" in shown.stdout and "--python NAME=MODULE:CLASS" in shown.stdout
    assert "Usage: python -m cambio_game match" in command("match", "--help", folder=tmp_path).stdout


def test_the_example_of_a_python_agent_conforms_and_plays_well(tmp_path: Path) -> None:
    example = Path(__file__).parents[2] / "examples" / "python" / "careful.py"
    agent = f"--python=careful={example}:Careful"
    checked = command(agent, "agents", "--check", "careful", "--matches", "4", folder=tmp_path)
    assert checked.returncode == 0 and "conforms" in checked.stdout, checked.stdout
    played = command(agent, "match", "careful", "random", "--deals", "100", "--quiet", "--out", "run", folder=tmp_path)
    assert played.returncode == 0
    shares = {row["agent"]: row["win_share"] for row in cambio.Run.open(tmp_path / "run").summary}
    assert float(str(shares["careful"])) > 0.8


def test_what_an_agent_prints_is_not_in_the_output_of_the_command(tmp_path: Path) -> None:
    (tmp_path / "loud.py").write_text(
        "class Loud:\n    def decide(self, seen):\n        print('hello')\n        return seen.legal_actions()[0]\n"
    )
    words = ["exploit", "--game", "mini-m0", "--agent", "loud", "--to", "1", "--format", "json", "--quiet"]
    shown = command(*words, "--python", "loud=loud.py:Loud", folder=tmp_path)
    assert json.loads(shown.stdout)["agent"] == "loud" and "hello" in shown.stderr


def test_an_interrupt_ends_a_command(tmp_path: Path) -> None:
    (tmp_path / "slow.py").write_text(
        "import time\n\n\nclass Slow:\n    def decide(self, seen):\n        print('asked', flush=True)\n"
        "        time.sleep(0.2)\n        return seen.legal_actions()[0]\n"
    )
    words = ["agents", "--check", "slow", "--python", "slow=slow.py:Slow"]
    process = subprocess.Popen(
        [sys.executable, "-m", "cambio_game", *words], cwd=tmp_path, stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert process.stderr and process.stderr.readline() == "asked\n"
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=20)
    assert process.returncode == -signal.SIGINT and "conform" not in said


def test_a_fault_names_a_command_that_shows_the_match(tmp_path: Path) -> None:
    (tmp_path / "bad.py").write_text("class Bad:\n    def decide(self, seen):\n        raise ValueError('lost')\n")
    faulty = command("match", "bad", "greedy", "--deals", "5", "--out", "run", "--python", "bad=bad.py:Bad", folder=tmp_path)
    assert faulty.returncode == 2 and "the first exception of a Python agent:" in faulty.stderr
    assert 'bad.py", line 3, in decide' in faulty.stderr and "ValueError: lost" in faulty.stderr
    line = next(line for line in faulty.stderr.splitlines() if " replay --events " in line)
    shown = subprocess.run(shlex.split(line), cwd=tmp_path, capture_output=True, text=True, check=False)
    assert shown.returncode == 0 and "turn of a" in shown.stdout, shown.stderr


def hashed(observation: cambio.Observation) -> cambio.Action:
    """A legal decision that depends only on the observation."""
    legal = observation.legal_actions()
    return legal[sum(observation.tensor().tolist()) % len(legal)]


class Hashed:
    def decide(self, observation: cambio.Observation) -> cambio.Action:
        return hashed(observation)


class Batched(Chosen):
    """The same decisions for all waiting matches; records their number."""

    calls: list[int] = []
    made = 0
    choose = staticmethod(hashed)

    def __init__(self) -> None:
        type(self).made += 1

    def probabilities(self, observations: list[cambio.Observation]) -> object:
        self.calls.append(len(observations))
        return super().probabilities(observations)


def test_hundreds_of_matches_wait_for_one_call_and_the_rows_are_the_same(tmp_path: Path) -> None:
    rows = []
    for number, (maker, threads) in enumerate([(Hashed, 1), (Batched, 1), (Batched, 64)]):
        Batched.calls, Batched.made = [], 0
        run = play(tmp_path / str(number), "mine", threads, mine=maker)
        rows.append({path.name: path.read_bytes() for path in run.path.glob("*.csv") if path.stem != "timing"})
        assert run.is_complete and Batched.made == (maker is Batched)
        if threads == 1 and maker is Batched:
            assert set(Batched.calls) == {1}
    assert rows[0] == rows[1] == rows[2] and rows[0]
    assert max(Batched.calls) > 1


def test_names_are_in_the_tables_and_the_rows() -> None:
    found = cambio.evaluate("greedy(call_at=7)", cambio.agent("greedy"), deals=20, names=["mine", "theirs"], rows=True)
    plain = cambio.evaluate("greedy(call_at=7)", "greedy", deals=20)
    assert [row["agent"] for row in found.summary] in (["mine", "theirs"], ["theirs", "mine"])
    means = [{row["rank_points"] for row in run.summary} for run in (found, plain)]
    assert means[0] == means[1]
    matches, players, rounds = (found.rows(name) for name in ("matches", "players", "rounds"))
    assert len(matches) == 40 and len(players) == 80 and len(rounds) >= 40 and found.rows() == players
    first = players[0]
    assert first["lineup"] == "mine | theirs" and first["seat"] == "a" and isinstance(first["points"], int)
    assert all(isinstance(row["fingerprint"], str) and len(row["fingerprint"]) == 16 for row in matches)
    assert isinstance(rounds[0]["points"], list) and len(rounds[0]["points"]) == 2
    mean = sum(row["rank_points"] for row in players if row["agent"] == "mine") / 40  # type: ignore[misc]
    assert mean == pytest.approx(next(row["rank_points"] for row in found.summary if row["agent"] == "mine"), abs=1e-12)
    assert matches.to_pandas().shape == (40, len(matches.columns))
    assert pickle.loads(pickle.dumps(found)).rows("rounds") == rounds
    with pytest.raises(cambio.RunError, match=r"call evaluate\(..., rows=True\)"):
        plain.rows()
    with pytest.raises(cambio.CambioError, match="`name` must be matches, rounds or players, found `winners`"):
        found.rows("winners")
    for names in (["one"], ["one", "one"], "ab"):
        with pytest.raises(cambio.CambioError, match="`names` must have 2 different names"):
            cambio.evaluate("greedy", "random", names=names)
    with pytest.raises(cambio.AgentError, match="only letters, digits"):
        cambio.evaluate("greedy", "random", names=["the first", "b"])


def test_a_run_folder_has_rows_and_other_names(tmp_path: Path) -> None:
    found = play(tmp_path / "named", "strong", strong="greedy(call_at=7)")
    again = play(tmp_path / "plain", "greedy(call_at=7)")
    scores = [[row["points"] for row in run.rows()] for run in (found, again)]
    assert scores[0] == scores[1] and {"strong"} < {row["agent"] for row in found.rows()}
    assert cambio.Run.open(tmp_path / "named" / "run").rows("matches") == found.rows("matches")
    (tmp_path / "plain" / "run" / "rounds.csv").unlink()
    with pytest.raises(cambio.RunError, match="rounds.csv` cannot be read"):
        again.rows("rounds")


class RaisesAsAPolicy:
    def probabilities(self, observations: list[cambio.Observation]) -> object:
        raise KeyError("no idea")


class RaisesAtTheEnd(First):
    def round_ends(self, points: list[int]) -> None:
        raise ZeroDivisionError("at the end")


@pytest.mark.parametrize(("agent", "kind"), [(Raises, KeyError), (RaisesAsAPolicy, KeyError), (RaisesAtTheEnd, ZeroDivisionError)])
def test_the_exception_of_an_agent_is_the_cause_with_its_traceback(agent: type, kind: type[Exception], tmp_path: Path) -> None:
    # `faessler` has several rounds in a match, and a fault at the end of a round is one of the next decision.
    with pytest.raises(cambio.AgentFault, match=f"it raised {kind.__name__}") as caught:
        cambio.evaluate(agent, "greedy", "faessler", deals=3, threads=2)
    cause = caught.value.__cause__
    assert type(cause) is kind
    traced = cause.__traceback__
    assert traced is not None and traced.tb_frame.f_code.co_filename == inspect.getfile(agent)
    assert "/" not in str(caught.value).replace(str(cause), ""), "the message must not name a file that is already removed"
    record = caught.value.record
    assert record is not None and cambio.Game.restore(record).seat is not None
    path = spec(tmp_path, [agent.__name__, "greedy"], 3, rules=["faessler"], seats=[2])
    with pytest.raises(cambio.AgentFault, match="the match up to the fault is in .*") as caught:
        cambio.run(path, tmp_path / "run", agents={agent.__name__: agent})
    assert type(caught.value.__cause__) is kind


def test_a_fault_of_a_library_agent_has_no_cause() -> None:
    assert cambio.AgentFault("x").record is None
    with pytest.raises(cambio.AgentFault) as caught:
        cambio.evaluate('external("false")', "greedy", deals=1)
    assert "that can play `classic` at 2 seats" in str(caught.value)
    assert caught.value.__cause__ is None and caught.value.record is None, "refused before the first match"


def test_a_factory_is_a_class_and_not_its_instance() -> None:
    for call in (
        lambda: cambio.evaluate(First(), "greedy"),
        lambda: cambio.evaluate(First(), "greedy", names=["a", "b"]),
        lambda: cambio.run("spec.toml", "out", agents={"first": First()}),
        lambda: cambio.sprt("greedy", First()),
        lambda: cambio.advantage(First()),
    ):
        with pytest.raises(TypeError, match="pass the class `First` or a function that returns a `First`, not an instance"):
            call()
    with pytest.raises(TypeError, match="an agent must be a spec, an Agent, a Policy or a factory of a Player, found type int"):
        cambio.evaluate(3, "greedy")
    assert cambio.evaluate(First, "greedy", deals=1).matches == 2


def test_results_of_one_deal_are_printed_without_an_interval() -> None:
    found = cambio.evaluate("greedy", "random", deals=1)
    shown = str(found)
    assert "classic, 2 seats, 1 deal\n" in shown
    assert shown.count("± –") == 2
    assert found.ratings[0]["elo_low"] is None
    assert str(found.summary._repr_html_()).count("None") == 0


def test_a_run_prints_the_table_of_the_command(tmp_path: Path) -> None:
    for payoff in ("points", "margin", "win"):
        found = cambio.run(spec(tmp_path, ["greedy", "random"], 20, rules=["classic"], seats=[2], payoff=payoff), tmp_path / payoff)
        words = [sys.executable, "-m", "cambio_game", "report", str(tmp_path / payoff), "--dry"]
        printed = subprocess.run(words, check=True, capture_output=True, text=True).stdout
        assert str(found) == printed.rstrip()
        assert str(found).count("greedy") == 2 and payoff in str(found)


def test_figures_say_whether_they_contain_the_luck() -> None:
    meaning = {(column["file"], column["name"]): str(column["meaning"]) for column in cambio.columns()}
    assert meaning["ratings.csv", "elo"].endswith("With the luck of the cards.")
    assert "With the luck" not in meaning["pairwise.csv", "elo_adjusted"]
