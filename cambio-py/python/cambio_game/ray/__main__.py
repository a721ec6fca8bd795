"""`python -m cambio_game.ray run spec.toml --out folder`, `python -m cambio_game.ray sprt AGENT OTHER` and `python -m cambio_game.ray tune AGENT RANGE`"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

from cambio_game import AgentFault, CambioError, __version__
from cambio_game.run import _agent

from . import run, sprt, tune
from ._drive import CHECKED


def main(words: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m cambio_game.ray", description="Tournaments on many machines, with Ray.")
    parser.add_argument("--version", action="version", version=f"cambio-game {__version__}")
    commands = parser.add_subparsers(dest="command", required=True)
    shared = argparse.ArgumentParser(add_help=False)
    shared.add_argument("--address", help="the cluster, such as auto or ray://head:10001 [default: start Ray on this machine]")
    shared.add_argument("--workers", type=int, help="the number of workers if Ray starts on this machine [default: one per core]")
    shared.add_argument(
        "--agent", action="append", default=[], metavar="NAME=MODULE:CLASS", help="a Python agent; may be given several times"
    )
    shared.add_argument("--quiet", "-q", action="store_true", help="do not show progress")
    play = commands.add_parser("run", parents=[shared], help="play an experiment, like `cambio run`")
    play.add_argument("spec", type=Path, help="the experiment file")
    play.add_argument("--out", type=Path, required=True, help="the run folder, on this machine")
    play.add_argument("--resume", action="store_true", help="continue the run in the folder, if there is one")
    play.add_argument(
        "--checked", type=float, default=CHECKED, help="the share of batches that are played twice [default: %(default)s]"
    )
    play.add_argument("--gpus", type=float, default=0.0, help="the share of a GPU per worker")
    table = argparse.ArgumentParser(add_help=False)
    table.add_argument("--rules", default="classic")
    table.add_argument("--seats", type=int, default=2)
    table.add_argument("--rounds", action="store_true", help="one round on each deal instead of a match")
    table.add_argument("--seed", help="a whole number or any text [default: the name of the command]")
    table.add_argument("--luck", default="auto", choices=["auto", "on", "off"], help="whether to subtract the luck of the cards")
    test = commands.add_parser("sprt", parents=[shared, table], help="test which of two agents is better, like `cambio sprt`")
    test.add_argument("agents", nargs=2, metavar="AGENT")
    test.add_argument("--elo0", type=float, default=0.0)
    test.add_argument("--elo1", type=float, default=10.0)
    test.add_argument("--deals", type=int, default=100_000, help="stop undecided after this many deals")
    search = commands.add_parser("tune", parents=[shared, table], help="find the best value of a parameter, like `cambio tune`")
    search.add_argument("spec", metavar="AGENT", help="the agent, with a question mark for each value to tune: 'greedy(call_at=?)'")
    search.add_argument(
        "ranges",
        nargs="+",
        metavar="RANGE",
        help="the values of each question mark: 0..15, 0..1:0.1 with a step, 10,30,100, or '1..1000 log'",
    )
    search.add_argument("--field", action="append", metavar="SPEC", help="an opponent")
    search.add_argument("--payoff", default="rank_points", help="rank_points, win, points or margin")
    search.add_argument("--method", default="sweep", help="sweep, race or cma")
    search.add_argument("--deals", type=int, default=1000)
    search.add_argument("--validate", type=int, default=1000, help="fresh deals to compare the winner with the incumbent")
    search.add_argument("--incumbent", metavar="SPEC")
    search.add_argument("--out", type=Path, help="keep the scores and write the result in this folder")
    given = parser.parse_args(words)
    # The modules of agents are imported from the working directory.
    sys.path.insert(0, str(Path.cwd()))
    try:
        agents = dict(map(_agent, given.agent))
        where: dict[str, Any] = {"address": given.address, "workers": given.workers, "agents": agents, "quiet": given.quiet}
        if given.command == "run":
            played = run(given.spec, given.out, resume=given.resume, checked=given.checked, gpus=given.gpus, **where)
            print(f"{played.matches} matches in {given.out}")
            return 0
        setting: dict[str, Any] = {"rules": given.rules, "seats": given.seats, "rounds": given.rounds, "luck": given.luck}
        setting["seed"] = given.seed or given.command
        if given.command == "tune":
            how: dict[str, Any] = {"payoff": given.payoff, "method": given.method, "deals": given.deals, "validate": given.validate}
            how |= {"field": given.field, "out": given.out} | ({"incumbent": given.incumbent} if given.incumbent else {})
            found = tune(given.spec, given.ranges, **setting, **how, **where)
            for point in found.curve:
                print(f"{point['field']}: {point['value']:>10} {point['payoff']:.4f}, {point['deals']} deals")
            print(f"best: {found.best}")
        else:
            bounds: dict[str, Any] = {"elo0": given.elo0, "elo1": given.elo1, "deals": given.deals}
            one, other = given.agents
            print(sprt(one, other, **setting, **bounds, **where))
    except (CambioError, ImportError, AttributeError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 2 if isinstance(error, AgentFault) else 1
    except KeyboardInterrupt:
        more = "; the same command with --resume continues the run" if given.command == "run" else ""
        print(f"interrupted{more}", file=sys.stderr)
        return 3
    return 0


if __name__ == "__main__":
    sys.exit(main())
