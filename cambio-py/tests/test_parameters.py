"""Parameters of Python agents: from the signature of the class or function, in specs, errors and `tune`."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Annotated, Literal

import numpy as np
import pytest

import cambio_game as cambio
from conftest import First, Nth, command, spec

AGENT = """
from __future__ import annotations
from typing import Literal, Optional, TYPE_CHECKING
if TYPE_CHECKING:
    from somewhere import Model


class Mine:
    def __init__(self, call_at: int = 5, share: float = 0.5, style: Literal["calm", "bold"] = "calm", snaps=True, most: Optional[int] = None):
        assert type(call_at) is int and type(share) is float and type(snaps) is bool, (call_at, share, snaps)
        self.call_at, self.style, self.snaps, self.most = call_at, style, snaps, most

    def decide(self, seen):
        legal = [str(action) for action in seen.legal_actions()]
        return "call" if "call" in legal and seen.turns >= 2 * self.call_at else legal[0]


def make(model: Model = None, *, call_at=2):
    return Mine(call_at)
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "bot.py").write_text(AGENT)
    return tmp_path


def test_errors_are_like_those_of_library_agents(folder: Path) -> None:
    python = "--python=mine=bot.py:Mine"
    for given, sentence in [
        ("mine(call_at=2.5)", "agent `mine`: parameter `call_at` must be a whole number, found `2.5`"),
        ("mine(share=x)", "agent `mine`: parameter `share` must be a number, found `x`"),
        ("mine(share=nan)", "agent `mine`: parameter `share` must be a number, found `nan`"),
        ("mine(style=shy)", "agent `mine`: parameter `style` must be one of calm, bold, found `shy`"),
        ("mine(snaps=1)", "agent `mine`: parameter `snaps` must be one of false, true, found `1`"),
        ("mine(most=x)", "agent `mine`: parameter `most` must be a whole number, found `x`"),
        (
            "mine(callat=1)",
            "agent `mine` has no parameter `callat`; did you mean `call_at`? it has call_at, share, style, snaps, most",
        ),
        ("mine(call_at=1,call_at=2)", "agent `mine`: parameter `call_at` must be given at most once, found it twice"),
        ("mine(call_at)", "is not an agent spec"),
    ]:
        done = command("match", given, "greedy", "--deals", "2", "--rules", "mini-p", python, folder=folder)
        assert done.returncode != 0 and sentence in done.stderr, done.stderr
    done = command("match", "make(call_at=3)", "make", "make(model=3)", "--deals", "2", "--python=make=bot.py:make", folder=folder)
    assert "agent `make` has no parameter `model`; it has call_at" in done.stderr
    shown = command("agents", python, folder=folder).stdout
    assert "call_at = 5" in shown and "most: " in shown and "(one of calm, bold)" in re.sub(r"\s+", " ", shown)


def test_the_parameters_reach_the_agent(folder: Path) -> None:
    words = "match mine(call_at=1,share=1,style=bold,snaps=false,most=3) mine(call_at=9) --rules mini-p --deals 50".split()
    done = command(*words, "--format", "json", "--python=mine=bot.py:Mine", folder=folder)
    assert done.returncode == 0, done.stderr
    assert "mine(call_at=1,share=1,style=bold,snaps=false,most=3)" in json.dumps(json.loads(done.stdout))


def test_a_parameter_is_tuned(folder: Path) -> None:
    words = "tune --agent mine(call_at=?) --range 1,4 --field random --rules mini-p --deals 100 --validate 0".split()
    done = command(*words, "--quiet", "--python=mine=bot.py:Mine", folder=folder)
    assert done.returncode == 0, done.stderr

    class Mine:
        def __init__(self, call_at: int = 1) -> None:
            self.call_at = call_at

        def decide(self, seen: cambio.Observation) -> str | cambio.Action:
            legal = seen.legal_actions()
            is_call = any(action.verb == "call" for action in legal) and seen.turns >= 2 * self.call_at
            return "call" if is_call else legal[0]

    tuned = cambio.tune("mine(call_at=?)", "1,4", agents={"mine": Mine}, field="random", rules="mini-p", deals=100, validate=0)
    assert len({point["payoff"] for point in tuned.curve}) == 2


class Shared(Nth):
    """All matches share one object for each number."""

    made: list[int] = []

    def __init__(self, number: Annotated[int, "from 0"] = 0, weight: float | None = None, other: object = None) -> None:
        super().__init__(number)
        self.made.append(number)


def test_shared_agents_have_an_object_for_each_choice_of_parameters(tmp_path: Path) -> None:
    Shared.made.clear()
    path = spec(tmp_path, ["shared", "shared(weight=0.5)", "shared(weight=2)"], 20, rules=["mini-m1"], seats=[2])
    run = cambio.run(path, tmp_path / "run", agents={"shared": Shared}, threads=2)
    assert run.is_complete and Shared.made == [0] * 3
    assert run.verify({"shared": Shared}, all=True) > 0


def test_a_default_outside_of_its_type_is_refused() -> None:
    class Odd(Shared):
        def __init__(self, style: Literal["a", "b"] = "c") -> None:  # type: ignore[assignment]
            super().__init__()

    with pytest.raises(cambio.AgentError, match="the default of parameter `style` must be one of a, b, found `c`"):
        cambio.evaluate(Odd, "greedy", deals=1)
    # Other arguments with defaults are none of a spec's business, such as those that bind a variable.
    array = np.zeros(2)
    assert cambio.evaluate(lambda array=array: First(), "greedy", "mini-m1", deals=1, names=("a", "b")).matches == 2
