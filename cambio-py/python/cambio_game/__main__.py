"""`python -m cambio_game run spec.toml --out folder --agent mine=module:Class`, and the same with `verify folder`."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from . import CambioError, __version__
from .run import Run, _agent, run


def main(words: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m cambio_game", description="Tournaments with Python agents.")
    parser.add_argument("--version", action="version", version=f"cambio-game {__version__}")
    commands = parser.add_subparsers(dest="command", required=True)
    play = commands.add_parser("run", help="play an experiment, like `cambio run`")
    play.add_argument("spec", type=Path, help="the experiment file")
    play.add_argument("--out", type=Path, required=True, help="the run folder; without --resume it must not exist")
    play.add_argument("--resume", action="store_true", help="continue the run in the folder, with the same agents")
    play.add_argument("--threads", type=int, default=0, help="the number of threads; 0 is one per core")
    check = commands.add_parser("verify", help="check a run and play some or all of its matches again, like `cambio verify`")
    check.add_argument("folder", type=Path, help="the run folder")
    check.add_argument("--all", action="store_true", help="play all matches again")
    for command in (play, check):
        command.add_argument(
            "--agent", action="append", default=[], metavar="NAME=MODULE:CLASS", help="a Python agent; may be given several times"
        )
    given = parser.parse_args(words)
    # The modules of agents are imported from the working directory.
    sys.path.insert(0, str(Path.cwd()))
    try:
        agents = dict(map(_agent, given.agent))
        if given.command == "verify":
            replayed = Run.open(given.folder).verify(agents, all=given.all)
            print(f"verified: {replayed} batch{'es' * (replayed != 1)} gave the same bytes")
            return 0
        played = run(given.spec, given.out, agents=agents, threads=given.threads, resume=given.resume)
    except (CambioError, ImportError, AttributeError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    print(f"{played.matches} match{'es' * (played.matches != 1)} in {given.out}")
    for row in played.summary:
        low, high = row["rank_points_low"], row["rank_points_high"]
        print(f"{row['rules']}, {row['seats']} seats: {row['agent']} {row['rank_points']:.4f} rank points ({low} to {high})")
    return 0


if __name__ == "__main__":
    sys.exit(main())
