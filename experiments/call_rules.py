#!/usr/bin/env python3
"""When to call: rules that a person can remember, chosen on one set of deals and tested as policies on another.

    experiments/call_rules.py OUT [--threads N] [--scale SHARE] [--charts DIR]        for example: runs/call_rules

A player follows a rule for calls and is otherwise unchanged: it calls if, and only if, its known cards have at most k points. There are
three forms of rules:

- one number: the same k, whatever the player does not know;
- two numbers: one k if the player knows all its cards, another one if it does not;
- the chart: one k for each number of unknown cards, from the files RULES-SEATS.csv in DIR, which the example `call_chart` writes.
  Each k is the one with the largest sum of gains over the decisions of the chart.

For each preset, number of seats and player, the numbers of the first two forms are the best of those tried, against copies of the player
itself. Then all three and the player without a rule play the same fresh deals, in one seat against copies of `learned`, `sharp` and `greedy` in
the other seats. Writes OUT/rules.csv, one row for each rule and field, with the difference of the share of wins to the player
without a rule and an interval that is simultaneous for the pairs of these four players. Finished parts in OUT are kept. CAMBIO is the command.
"""

import argparse
import csv
import json
import os
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
CAMBIO = os.environ.get("CAMBIO", "cambio")
PLAYERS = ["learned", "sharp", "greedy"]
# The matches of each candidate while choosing, and of each rule in a test. A match of `classic` is one round.
MATCHES = {"classic": (12_000, 120_000), "original": (1_500, 8_000), "faessler": (1_500, 8_000)}
# The values of k that are tried with one number, and with two numbers relative to the best of them: without unknown cards, and with some.
RANGE = (-8, 14)
NEAR = [(-2, 6), (-8, 2)]


def run(*words):
    subprocess.run([CAMBIO, *map(str, words)], check=True, stdout=subprocess.DEVNULL)


def rule(limits):
    """The parameters of an agent that calls by these limits, one for each number of unknown cards from 0."""
    return ",".join(f"call_known{f'_{unknown}' if unknown else ''}={k}" for unknown, k in enumerate(limits))


def tuned(folder, args, agent, ranges, cell):
    """The best values of `agent` against copies of the player without a rule."""
    rules, seats = cell
    if not folder.exists():
        deals = round(MATCHES[rules][0] * args.scale / seats)
        ranges = [f"--range={low}..{high}" for low, high in ranges]
        run("tune", "--quiet", "--threads", args.threads, "--agent", agent, *ranges, "--rules", rules, "--seats", seats,
            "--field", agent.partition("(")[0], "--payoff", "win", "--luck", "off", "--seed", "choose", "--deals", deals,
            "--validate", 0, "--out", folder)  # fmt: skip
    return [int(value) for value in json.loads((folder / "tuning.json").read_text())["best_value"].split()]


def charted(path):
    """The limits of a chart: for each number of unknown cards, the points up to which calls gain most together."""
    gains = [{} for _ in range(4)]
    with open(path, newline="") as text:
        for row in csv.DictReader(text):
            column = gains[min(int(row["unknown"]), 3)]
            points = int(row["points"])
            column[points] = column.get(points, 0) + int(row["decisions"]) * float(row["gain"])
    limits = []
    for column in gains:
        best, best_sum, total = min(column, default=0) - 1, 0.0, 0.0
        for points in sorted(column):
            total += column[points]
            if total > best_sum:
                # A cell has two values of the points.
                best, best_sum = points + 1, total
        limits.append(best)
    return limits


def tested(folder, args, player, field, forms, cell):
    """Plays the player with each rule and without one; returns the rows of `rules.csv`."""
    rules, seats = cell
    agents = [player, *(f"{player}({rule(limits)})" for limits in forms.values())]
    if not folder.exists():
        spec = folder.with_suffix(".toml")
        distinct = list(dict.fromkeys([*agents, field]))
        focal = list(dict.fromkeys(agents))
        spec.write_text(
            f'name = "call_rules"\nseed = "test"\ndeals = {round(MATCHES[rules][1] * args.scale / seats)}\nrules = ["{rules}"]\n'
            f"seats = [{seats}]\nagents = {json.dumps(distinct)}\nlineups = {{ focal = {json.dumps(focal)}, "
            f'field = ["{field}"], mixture = true }}\npayoff = "win"\nluck = "off"\n'
        )
        run("run", spec, "--out", folder, "--quiet", "--threads", args.threads)
        # Only the derived tables are needed.
        for rows in ("matches.csv", "rounds.csv", "players.csv"):
            (folder / rows).unlink()
    with open(folder / "summary.csv", newline="") as text:
        wins = {row["agent"]: float(row["win_share"]) for row in csv.DictReader(text)}
    with open(folder / "pairwise.csv", newline="") as text:
        pairs = list(csv.DictReader(text))
    for agent, (form, limits) in zip(agents[1:], forms.items(), strict=True):
        found = {"difference": 0.0, "low": 0.0, "high": 0.0}
        for pair in pairs:
            ends = [float(pair[name] or "nan") for name in ("difference", "low_simultaneous", "high_simultaneous")]
            if (pair["agent"], pair["other"]) == (agent, player):
                found = dict(zip(found, ends, strict=True))
            elif (pair["agent"], pair["other"]) == (player, agent):
                found = {"difference": -ends[0], "low": -ends[2], "high": -ends[1]}
        limits = " ".join(map(str, limits))
        yield {"rules": rules, "seats": seats, "player": player, "field": field, "form": form, "limits": limits,
               "deals": pairs[0]["deals"], "win": wins[agent], "win_without": wins[player], **found}  # fmt: skip


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=Path)
    parser.add_argument("--threads", type=int, default=0)
    parser.add_argument("--scale", type=float, default=1.0, help="the share of the deals that are played")
    parser.add_argument("--charts", type=Path, default=ROOT / "book/results/data/call_charts")
    args = parser.parse_args()
    args.out.mkdir(parents=True, exist_ok=True)
    table = []
    for rules in MATCHES:
        for seats in (2, 4, 6):
            cell = (rules, seats)
            chart = charted(args.charts / f"{rules}-{seats}.csv")
            for player in PLAYERS:
                name = f"{player}-{rules}-{seats}"
                one = tuned(args.out / f"{name}-one", args, f"{player}(call_known=?)", [RANGE], cell)
                k = one[0]
                near = [(k + low, k + high) for low, high in NEAR]
                two = tuned(args.out / f"{name}-two", args, f"{player}(call_known=?, call_known_1=?)", near, cell)
                forms = {"one": [k], "two": two, "chart": chart}
                for field in PLAYERS:
                    table += tested(args.out / f"{name}-{field}", args, player, field, forms, cell)
                print(name, forms, flush=True)
    with open(args.out / "rules.csv", "w", newline="") as text:
        writer = csv.DictWriter(text, list(table[0]))
        writer.writeheader()
        writer.writerows(table)


if __name__ == "__main__":
    main()
