"""Makes test positions: decisions of strong play in which the best decision is clear, but not by much.

    python3 experiments/positions/make.py RULES SEATS NUMBER >> experiments/positions/RULES.pos

Copies of `learned` play matches. A decision is kept if, in 2,000 games after each choice, the second best choice costs 1 to 25 wins in
100. Then 100,000 games after each choice give the values; the position is dropped if the best choice is no longer the best by more than
three standard errors. Each kind of decision has a sixth of the positions, if it occurs. Prints a line for each position, as
`cambio advise --suite` reads it. SEED is the first deal: give another one for more positions.
"""

import os
import sys
from collections import Counter

import cambio_game as cambio

rules, seats, number = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
agent = cambio.agent("learned")
kept = Counter()
quota = -(-number // 6)


def clear(table, errors):
    """Whether the second best decision is worse by more than this many standard errors, and costs 1 to 25 wins in 100."""
    if len(table) < 2:
        return False
    second = table[1]
    # The simultaneous interval has at least 1.96 standard errors to each side.
    error = (second["cost_high"] - second["cost"]) / 1.96
    return 0.01 < second["cost"] < 0.25 and second["cost"] > errors * error


first = int(os.environ.get("SEED", "0"))
for deal in range(first, first + 40 * number):
    if sum(kept.values()) >= number:
        break
    game = cambio.Game(rules, seats, seed=f"positions {rules} {seats}", deal=deal)
    in_match = Counter()
    while not game.is_over:
        seen = game.observe()
        kind = {"drawn": "held", "taken": "held", "chain": "window", "show": "power"}.get(seen.phase, seen.phase)
        # Whole matches have many decisions: one of each kind is enough.
        if len(seen.legal_actions()) > 1 and kept[kind] < quota and not in_match[kind] and (deal + game.decisions) % 3 == 0:
            position = seen.position()
            table = position.advise(games=2_000)
            # All decisions are measured.
            if "fell behind" not in str(table) and clear(table, 2):
                table = position.advise(games=100_000, seed=1)
                if clear(table, 3):
                    values = ", ".join(f"{row['decision']} {row['chance']:.4f}" for row in table)
                    print(f"{position} ; {values}", flush=True)
                    kept[kind] += 1
                    in_match[kind] += 1
        game.step(agent.decide(game))
print(f"{rules}, {seats} seats: {dict(kept)}", file=sys.stderr)
