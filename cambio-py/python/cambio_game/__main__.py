"""The command `cambio` with Python agents: `python -m cambio_game match mine greedy --python mine=bot.py:Mine`."""

from __future__ import annotations

import contextlib
import shlex
import signal
import sys
from collections.abc import Sequence
from pathlib import Path

from . import CambioError, _cambio
from .run import _agent, factories

COMMAND = "python -m cambio_game"
AGENTS = f"""
Python agents:
  --python NAME=MODULE:CLASS  Add a Python agent to the agents of this command. The module may be a file, such as bot.py.
                              May be given several times

Where help texts and messages say `cambio`, run `{COMMAND}` with the same --python options.

Examples:
  {COMMAND} match mine greedy --python mine=bot.py:Mine
  {COMMAND} bench mine --out bench/mine --quick --python mine=bot.py:Mine
"""


def split(words: Sequence[str]) -> tuple[list[str], list[str]]:
    """The Python agents among the words, and the other words."""
    agents: list[str] = []
    rest: list[str] = []
    left = list(words)
    while left:
        word = left.pop(0)
        if word == "--":
            return agents, [*rest, word, *left]
        option, _, agent = word.partition("=")
        if option != "--python":
            rest.append(word)
        elif agent or left:
            agents.append(agent or left.pop(0))
        else:
            raise CambioError("--python must be followed by NAME=MODULE:CLASS, such as mine=bot.py:Mine")
    return agents, rest


def absolute(agent: str) -> str:
    """The same agent for another working directory."""
    name, _, place = agent.partition("=")
    module, _, kind = place.rpartition(":")
    return f"{name}={Path(module).absolute()}:{kind}" if module.endswith(".py") else agent


def main(words: Sequence[str] | None = None) -> int:
    # The modules of agents are imported from the working directory.
    sys.path.insert(0, str(Path.cwd()))
    try:
        given, rest = split(sys.argv[1:] if words is None else words)
        agents = [_agent(agent) for agent in given]
        names = [name for name, _ in agents]
        if len(set(names)) < len(names):
            raise CambioError(f"the Python agents must have different names, found {', '.join(names)}")
        made = factories(dict(agents))
    except (CambioError, TypeError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    program = [sys.executable or "python", "-m", "cambio_game", *(f"--python={absolute(agent)}" for agent in given)]
    # An interrupt ends commands that do not handle it, and no agent gets a KeyboardInterrupt.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    # Standard output is for the command's own data.
    with contextlib.redirect_stdout(sys.stderr):
        try:
            code: int = _cambio._command(made, shlex.join(program), [COMMAND, *rest])
        except CambioError as error:
            print(f"error: {error}", file=sys.stderr)
            return 1
    if rest in ([], ["--help"], ["-h"], ["help"]):
        with contextlib.suppress(OSError):
            print(AGENTS, file=sys.stdout if rest else sys.stderr, flush=True)
    return code


if __name__ == "__main__":
    sys.exit(main())
