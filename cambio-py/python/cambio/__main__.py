"""`python -m cambio run spec.toml --out folder --agent mine=module:Class`"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from . import CambioError, __version__
from .run import _agent, run


def main(words: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m cambio", description="Tournaments with agents of Python.")
    parser.add_argument("--version", action="version", version=f"cambio {__version__}")
    commands = parser.add_subparsers(dest="command", required=True)
    play = commands.add_parser("run", help="play an experiment, as `cambio run` does")
    play.add_argument("spec", type=Path, help="the experiment file")
    play.add_argument("--out", type=Path, required=True, help="the run folder; one that is there is gone on with")
    play.add_argument("--agent", action="append", default=[], metavar="NAME=MODULE:CLASS", help="an agent of Python")
    play.add_argument("--threads", type=int, default=0, help="0 is one for each core")
    given = parser.parse_args(words)
    # Modules of agents are found where the command is called.
    sys.path.insert(0, str(Path.cwd()))
    try:
        played = run(given.spec, given.out, agents=dict(map(_agent, given.agent)), threads=given.threads)
    except (CambioError, ImportError, AttributeError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    print(f"{played.matches} matches in {given.out}")
    for row in played.summary:
        low, high = row["rank_points_low"], row["rank_points_high"]
        print(f"{row['rules']}, {row['seats']} seats: {row['agent']} {row['rank_points']:.4f} rank points ({low} to {high})")
    return 0


if __name__ == "__main__":
    sys.exit(main())
