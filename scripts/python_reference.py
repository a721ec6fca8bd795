"""Writes book/src/python-reference.md from the docstrings of the installed package `cambio_game` and the types of its stubs.

python scripts/python_reference.py            writes the page
python scripts/python_reference.py --check    fails if the page is not up to date
"""

from __future__ import annotations

import ast
import difflib
import inspect
import sys
from pathlib import Path
from typing import Any

import cambio_game as cambio

HOME = Path(__file__).resolve().parents[1]
PAGE = HOME / "book/src/python-reference.md"
PACKAGE = HOME / "cambio-py/python/cambio_game"
GROUPS = [
    ("Rules and tables", ["Rules", "Layout", "Block"]),
    ("A match", ["Game", "Action", "Event", "Observation", "Position", "World", "Record"]),
    ("Many matches", ["VectorGame"]),
    ("Explicit chance", ["ChanceGame"]),
    ("Exact exploitability", ["SmallGame", "Policy", "exploitability", "StrategyPolicy"]),
    ("Agents and tournaments", ["agent", "agents", "Agent", "Player", "evaluate", "tournament", "run", "Run", "Matrix"] + ["Table", "columns", "Plan", "RunFolder"]),
    ("Language models and people", ["TextPlayer", "parse_decision"]),
    ("Sequential tests and tuning", ["sprt", "SprtResult", "tune", "TuneResult", "advantage", "AdvantageResult", "DecisionKind", "exploit", "ExploitResult", "bench"]),
    ("Errors", ["CambioError", "RulesError", "ActionError", "IllegalAction", "AgentError", "AgentFault", "ArrayError"]
     + ["ExperimentError", "RecordError", "RunError"]),
]  # fmt: skip
# The modules for other libraries. Their documentation is read from the source, because the libraries may be missing.
MODULES = [
    ("Gymnasium", "gymnasium", ["gymnasium.py"], ["CambioEnv", "CambioVectorEnv"]),
    ("PettingZoo", "pettingzoo.cambio_v0", ["pettingzoo/cambio_v0.py"], ["env", "parallel_env", "CambioEnv", "ParallelCambioEnv"]),
    ("OpenSpiel", "openspiel", ["openspiel.py"], ["CambioGame", "CambioState", "CambioObserver", "resample", "StrategyPolicy", "strategy_key"]),
    ("RLlib", "rllib", ["rllib.py"], ["CambioMultiAgentEnv"]),
    ("Ray", "ray", ["ray/__init__.py", "ray/_drive.py", "ray/_rounds.py"], ["run", "sprt", "tune"]),
]  # fmt: skip
HEAD = """# Python reference

This page lists the classes and functions of the module `cambio_game`. [Python](python.md) is the guide;
`scripts/python_reference.py` generates this page from the docstrings. The examples use
`import cambio_game as cambio`. Seats are numbers from 0 or letters from a; an index is a number below `action_count`; arrays are
NumPy arrays.
"""


def definitions(*files: str) -> dict[str, ast.AST]:
    """The definitions in the stubs and modules, by name."""
    found: dict[str, ast.AST] = {}
    for name in files:
        for node in ast.parse((PACKAGE / name).read_text(encoding="utf-8")).body:
            if isinstance(node, ast.ClassDef | ast.FunctionDef):
                found[node.name] = node
    return found


def signature(node: ast.FunctionDef, name: str) -> str:
    """A signature on one line, without `self` and `cls`."""
    arguments = ast.unparse(node.args)
    for first in ("self, /, ", "self, ", "cls, ", "self", "cls"):
        if arguments.startswith(first):
            arguments = arguments[len(first) :]
            break
    returns = f" -> {ast.unparse(node.returns)}" if node.returns and not name[:1].isupper() else ""
    return f"{name}({arguments}){returns}"


def docstring(thing: Any, node: Any) -> str:
    """The docstring of an object, or without an object of its definition. Fails if there is none."""
    text = inspect.cleandoc((getattr(thing, "__doc__", None) if thing is not None else ast.get_docstring(node)) or "")
    if not text:
        raise SystemExit(f"{thing or ast.unparse(node)[:80]} must have a docstring")
    return text


def members(thing: type | None, node: ast.ClassDef) -> list[str]:
    """The attributes and methods of a class, in the order of the stubs."""
    attributes, methods, seen = [], [], set()
    for entry in node.body:
        if not isinstance(entry, ast.FunctionDef) or entry.name.startswith("_") or entry.name in seen:
            continue
        seen.add(entry.name)
        text = docstring(getattr(thing, entry.name, None), entry)
        decorators = {ast.unparse(one) for one in entry.decorator_list}
        if decorators & {"property", "cached_property"}:
            kind = ast.unparse(entry.returns) if entry.returns else ""
            attributes.append(f"- `{entry.name}`: `{kind}`. {' '.join(text.split())}")
        else:
            methods.append(f"#### `{signature(entry, entry.name)}`\n\n{text}")
    return (["\n".join(attributes)] if attributes else []) + methods


def entry(name: str, known: dict[str, Any], thing: Any = None) -> list[str]:
    """The section of one name. Without the object `thing`, it has the texts of the definition."""
    node = known.get(name)
    parts = [f"### `{name}`"]
    if isinstance(node, ast.FunctionDef):
        parts = [f"### `{signature(node, name)}`"]
    elif isinstance(node, ast.ClassDef):
        for made in node.body:
            if isinstance(made, ast.FunctionDef) and made.name in ("__new__", "__init__") and name != "Player":
                parts = [f"### `{name}`", f"```python\n{signature(made, name)}\n```"]
    parts.append(docstring(thing, node))
    if isinstance(node, ast.ClassDef) and not (isinstance(thing, type) and issubclass(thing, Exception)):
        parts += members(thing, node)
    return parts


def page() -> str:
    known = definitions("_cambio.pyi", "run.py", "small.py", "strategy.py", "text.py", "measure.py")
    listed = {name for _, names in GROUPS for name in names}
    # Only classes and functions are documented, not constants such as `PRESETS` or types such as `Reward`.
    public = (name for name in cambio.__all__ if not name.startswith("_"))
    missing = {
        name for name in public if inspect.isroutine(getattr(cambio, name)) or isinstance(getattr(cambio, name), type)
    } - listed
    if missing:
        raise SystemExit(f"GROUPS must contain {', '.join(sorted(missing))}")
    parts = [HEAD.rstrip()]
    for group, names in GROUPS:
        parts.append(f"## {group}")
        for name in names:
            parts += entry(name, known, getattr(cambio, name))
    for title, module, files, names in MODULES:
        known = definitions(*files)
        parts += [
            f"## {title}: `cambio_game.{module}`",
            docstring(None, ast.parse((PACKAGE / files[0]).read_text(encoding="utf-8"))),
        ]
        for name in names:
            parts += entry(name, known)
    return "\n\n".join(part for part in parts if part).replace("\n\n\n", "\n\n") + "\n"


def main() -> int:
    text = page()
    if "--check" not in sys.argv:
        PAGE.write_text(text, encoding="utf-8")
        return 0
    kept = PAGE.read_text(encoding="utf-8") if PAGE.exists() else ""
    sys.stdout.writelines(difflib.unified_diff(kept.splitlines(True), text.splitlines(True), "kept", "written", n=0))
    return int(kept != text)


if __name__ == "__main__":
    sys.exit(main())
