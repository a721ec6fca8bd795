"""Learners and solvers on the small games: Markdown tables of budgets and exact exploitability.

    pip install './cambio-py[learn]' open_spiel scipy flax optax orbax-checkpoint chex
    python cambio-py/benches/baselines.py OUT [--games mini-m1] [--only PPO] [--seeds 2] [--scale 0.01]

Every result is a row of OUT/baselines.csv. A row that exists is not computed again, so the program continues where it was stopped.
`--scale` multiplies all budgets. The command `cambio` must be on the path, or CAMBIO must name it.

| name | what it is |
|---|---|
| values, policy | `cambio learn`, with the recipes of `experiments/learn` and a smaller number of matches |
| PPO | `examples/python/ppo.py`, in JAX |
| NFSP | neural fictitious self-play (Heinrich and Silver 2016), OpenSpiel's agent in JAX with the settings of its example for Kuhn poker |
| MCCFR | Monte Carlo CFR with external sampling (Lanctot et al. 2009), `cambio solve` |
| CFR+ | Tammelin 2014, `cambio solve` |
| PSRO | double oracle with exact best responses (McMahan et al. 2003): an equilibrium of the matrix of all responses so far, from uniform play |

Learners without exact responses run with several seeds. Seconds are processor time on one core.
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import re
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from statistics import mean, stdev
from typing import NamedTuple

import numpy as np

import cambio_game as cambio

ROOT = Path(__file__).resolve().parents[2]
CAMBIO = os.environ.get("CAMBIO", "cambio")
# One core for each training.
ONE_CORE = {"XLA_FLAGS": "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1", "OMP_NUM_THREADS": "1"}


class Result(NamedTuple):
    exploitability: float
    seconds: float


def call(*words: object) -> tuple[str, float]:
    """The output of the command, and its processor seconds."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    output = subprocess.run([CAMBIO, *map(str, words)], check=True, capture_output=True, text=True).stdout
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return output, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def learned(recipe: str, agent: str, streams: int) -> Callable[[str, int, int], Result]:
    """A training by `cambio learn`."""

    def run(game: str, matches: int, seed: int) -> Result:
        text = (ROOT / f"experiments/learn/{recipe}.toml").read_text(encoding="utf-8")
        for name, value in {"rules": f'"{game}"', "matches": matches, "seed": seed}.items():
            text = re.sub(rf"(?m)^{name} = .*$", f"{name} = {value}", text)
        with tempfile.TemporaryDirectory() as folder:
            (Path(folder) / "recipe.toml").write_text(text, encoding="utf-8")
            _, seconds = call("learn", f"{folder}/recipe.toml", "--out", f"{folder}/out", "--threads", 1, "--quiet")
            spec = agent.format(f"{folder}/out/network.net")
            return Result(cambio.exploitability(spec, game, streams=streams), seconds)

    return run


def solved(algorithm: str) -> Callable[[str, int, int], Result]:
    def run(game: str, iterations: int, seed: int) -> Result:
        words = ("--algorithm", algorithm, "--iterations", iterations, "--format", "json", "--quiet")
        output, seconds = call("solve", "--game", game, *words, *(("--seed", seed) if algorithm == "mccfr" else ()))
        return Result(json.loads(output)["exploitability"], seconds)

    return run


def ppo(game: str, matches: int, seed: int) -> Result:
    sys.path.append(str(ROOT / "examples/python"))
    from ppo import curve

    *_, (_, _, exploitability, seconds) = curve(game, max(1, matches // 1024), 1024, seed, points=1)
    return Result(exploitability, seconds)


def nfsp(name: str, matches: int, seed: int) -> Result:
    import jax
    import pyspiel
    from flax import nnx
    from open_spiel.python import rl_environment
    from open_spiel.python.jax.nfsp import MODE, NFSP

    import cambio_game.openspiel  # noqa: F401

    table = rl_environment.Environment(pyspiel.load_game(f"python_cambio(rules={name},payoff=lead)"), seed=seed)
    size, actions = table.observation_spec()["info_state"][0], table.action_spec()["num_actions"]
    exploration = {"epsilon_start": 0.06, "epsilon_end": 0.001, "epsilon_decay_duration": matches}
    # The example's buffers are larger, but they take gigabytes, and these are not full at the end.
    buffer = 1 << 16
    settings = {"replay_buffer_capacity": buffer, "allow_checkpointing": False, **exploration}
    players = [NFSP(seat, size, actions, [128], buffer, 0.1, seed=2 * seed + seat, **settings) for seat in (0, 1)]
    for player in players:
        # OpenSpiel 2.0.2 fails if a player learns before its first match in this mode.
        player._mode = MODE.BEST_RESPONSE
    begun = time.process_time()
    for _ in range(matches):
        step = table.reset()
        while not step.last():
            step = table.step([int(players[step.observations["current_player"]].step(step).action)])
        for player in players:
            player.step(step)
    seconds, game, strategies = time.process_time() - begun, cambio.SmallGame(name), []
    for seat, player in enumerate(players):
        # OpenSpiel puts the player in front of the tensor.
        tensors, masks = game.tensors(seat), game.masks(seat)
        seats = np.tile(np.eye(2)[seat], (len(tensors), 1))
        logits = player._avg_network_inference(nnx.state(player._avg_network), np.hstack([seats, tensors]).astype(np.float32))
        strategies.append(np.asarray(jax.nn.softmax(np.where(masks, logits, -np.inf)), np.float64))
    return Result(game.exploitability(*strategies), seconds)


def equilibrium(payoffs: np.ndarray) -> np.ndarray:
    """The strategy of the player of the rows in an equilibrium of a zero-sum matrix game."""
    from scipy.optimize import linprog

    rows, columns = payoffs.shape
    found = linprog(
        np.r_[np.zeros(rows), -1],
        A_ub=np.c_[-payoffs.T, np.ones(columns)],
        b_ub=np.zeros(columns),
        A_eq=[np.r_[np.ones(rows), 0]],
        b_eq=[1],
        bounds=[(0, None)] * rows + [(None, None)],
    )
    return np.maximum(found.x[:-1], 0)


def psro(name: str, iterations: int, seed: int) -> Result:
    begun, game = time.process_time(), cambio.SmallGame(name)
    ours, theirs = ([strategy] for strategy in game.uniform())
    payoffs = np.array([[game.value(ours[0], theirs[0])]])
    for _ in range(iterations):
        a = game.mixture(0, ours, list(equilibrium(payoffs)))
        b = game.mixture(1, theirs, list(equilibrium(-payoffs.T)))
        ours.append(game.best_response(0, b)[1])
        theirs.append(game.best_response(1, a)[1])
        payoffs = np.c_[payoffs, [game.value(row, theirs[-1]) for row in ours[:-1]]]
        payoffs = np.r_[payoffs, [[game.value(ours[-1], column) for column in theirs]]]
    return Result(game.exploitability(a, b), time.process_time() - begun)


class Baseline(NamedTuple):
    name: str
    run: Callable[[str, int, int], Result]
    budget: int
    unit: str
    is_random: bool = True


BASELINES = [
    Baseline("values", learned("mini", 'learned("{}")', 1), 2_400_000, "matches"),
    Baseline("policy", learned("mini-policy", 'learned("{}")', 1), 1_200_000, "matches"),
    Baseline("PPO", ppo, 204_800, "matches"),
    # 40 to 100 matches a second.
    Baseline("NFSP", nfsp, 10_000, "matches"),
    Baseline("PSRO", psro, 100, "iterations", is_random=False),
    Baseline("MCCFR", solved("mccfr"), 1_000_000, "iterations"),
    Baseline("CFR+", solved("cfr+"), 100, "iterations", is_random=False),
]


def markdown(head: list[str], rows: list[list[str]]) -> str:
    return "\n".join(f"| {' | '.join(cells)} |" for cells in (head, ["---", *["---:"] * (len(head) - 1)], *rows))


def tables(rows: list[dict[str, str]], games: list[str]) -> str:
    """A table of the budgets, and one of the mean exploitability in each game with its standard deviation over the seeds."""
    played = [(baseline, own) for baseline in BASELINES if (own := [row for row in rows if row["name"] == baseline.name])]

    def budget(baseline: Baseline, own: list[dict[str, str]]) -> list[str]:
        seconds = [float(row["seconds"]) for row in own]
        seeds = str(len({row["seed"] for row in own}))
        return [baseline.name, f"{int(own[0]['budget']):,} {baseline.unit}", seeds, f"{min(seconds):.0f} to {max(seconds):.0f}"]

    def cell(own: list[dict[str, str]], game: str) -> str:
        values = [float(row["exploitability"]) for row in own if row["game"] == game]
        return (f"{mean(values):.4f}" + (f" ± {stdev(values):.4f}" if len(values) > 1 else "")) if values else ""

    budgets = markdown(["", "budget", "seeds", "seconds"], [budget(*pair) for pair in played])
    results = [[f"`{game}`", *(cell(own, game) for _, own in played)] for game in games]
    return budgets + "\n\n" + markdown(["", *(baseline.name for baseline, _ in played)], results)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=Path)
    parser.add_argument("--games", nargs="+", default=list(cambio.MINI_GAMES), choices=cambio.MINI_GAMES)
    parser.add_argument("--only", nargs="+", default=[baseline.name for baseline in BASELINES])
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--scale", type=float, default=1.0)
    given = parser.parse_args()
    given.out.mkdir(parents=True, exist_ok=True)
    file = given.out / "baselines.csv"
    columns = ["name", "game", "seed", "budget", "unit", "exploitability", "seconds"]
    if not file.exists():
        file.write_text(",".join(columns) + "\n", encoding="utf-8")
    for baseline in (baseline for baseline in BASELINES if baseline.name in given.only):
        budget = max(1, round(baseline.budget * given.scale))
        for game in given.games:
            for seed in range(1, 1 + (given.seeds if baseline.is_random else 1)):
                key = [baseline.name, game, str(seed), str(budget), baseline.unit]
                with file.open(encoding="utf-8", newline="") as lines:
                    if any(row[:5] == key for row in csv.reader(lines)):
                        continue
                result = baseline.run(game, budget, seed)
                with file.open("a", encoding="utf-8", newline="") as lines:
                    csv.writer(lines, lineterminator="\n").writerow([*key, f"{result.exploitability:.6f}", f"{result.seconds:.1f}"])
                print(*key, *result, file=sys.stderr, flush=True)
    with file.open(encoding="utf-8", newline="") as lines:
        print(tables(list(csv.DictReader(lines)), given.games))


if __name__ == "__main__":
    if not ONE_CORE.items() <= os.environ.items():
        os.execve(sys.executable, [sys.executable, *sys.argv], os.environ | ONE_CORE)
    main()
