"""The command `cambio` with Python agents: `python -m cambio_game --agent mine=bot.py:Mine match mine greedy`."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Sequence
from pathlib import Path

from . import CambioError, _cambio
from .run import _agent, factories

COMMAND = "python -m cambio_game"
AGENTS = f"""
Python agents:
  --agent NAME=MODULE:CLASS  Add a Python agent to the agents of this command. The module may be a file, such as bot.py.
                             Give this option before the subcommand; it may be given several times

Examples:
  {COMMAND} --agent mine=bot.py:Mine match mine greedy
  {COMMAND} --agent mine=bot.py:Mine bench mine --out bench/mine --quick
"""


def split(words: Sequence[str]) -> tuple[list[str], list[str]]:
    """The Python agents at the beginning of the words, and the words of the command."""
    agents, rest = [], list(words)
    while rest and rest[0].partition("=")[0] == "--agent":
        _, equals, agent = rest.pop(0).partition("=")
        if not equals:
            if not rest:
                raise CambioError("--agent must be followed by NAME=MODULE:CLASS, such as mine=bot.py:Mine")
            agent = rest.pop(0)
        agents.append(agent)
    return agents, rest


def main(words: Sequence[str] | None = None) -> int:
    # The modules of agents are imported from the working directory.
    sys.path.insert(0, str(Path.cwd()))
    try:
        given, rest = split(sys.argv[1:] if words is None else words)
        agents = dict(map(_agent, given))
    except (CambioError, ImportError, AttributeError, OSError, SyntaxError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    program = [sys.executable or "python", "-m", "cambio_game", *(f"--agent={agent}" for agent in given)]
    code: int = _cambio._command(factories(agents), shlex.join(program), [COMMAND, *rest])
    if rest in ([], ["--help"], ["-h"], ["help"]):
        print(AGENTS, file=sys.stdout if rest else sys.stderr, flush=True)
    return code


if __name__ == "__main__":
    sys.exit(main())
