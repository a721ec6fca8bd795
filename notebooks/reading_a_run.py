# %% [markdown]
# # Reading a run
# A run folder contains tidy rows. `players.csv` has one row per agent and match; all summaries are computed from it.

# %%
import csv
import sys
from collections import defaultdict
from math import sqrt
from pathlib import Path

folder = Path(sys.argv[1] if len(sys.argv) > 1 else "runs/quickstart")
with open(folder / "players.csv", newline="", encoding="utf-8") as file:
    rows = list(csv.DictReader(file))

# %% [markdown]
# ## Means that respect the deal
# All matches of a deal share its cards, so the deal is the unit: the standard error is computed from the deals, not from the
# matches. If the matches were treated as independent, it would be too small, or too large where seats are balanced.

# %%
deals = defaultdict(lambda: defaultdict(list))
for row in rows:
    deals[row["rules"], int(row["seats"]), row["agent"]][row["deal"]].append(float(row["rank_points"]))


def clustered(by_deal):
    """The mean over matches and its standard error, clustered by deal (ratio estimator)."""
    sums = [(len(payoffs), sum(payoffs)) for payoffs in by_deal.values()]
    matches = sum(n for n, _ in sums)
    mean = sum(total for _, total in sums) / matches
    spread = sum((total - mean * n) ** 2 for n, total in sums)
    return mean, sqrt(len(sums) / (len(sums) - 1) * spread) / matches


# %%
print("rules,seats,agent,matches,deals,rank_points,standard_error,standard_error_if_independent")
for (rules, seats, agent), by_deal in deals.items():
    mean, error = clustered(by_deal)
    payoffs = [payoff for deal in by_deal.values() for payoff in deal]
    variance = sum((payoff - mean) ** 2 for payoff in payoffs) / (len(payoffs) - 1)
    naive = sqrt(variance / len(payoffs))
    print(f'{rules},{seats},"{agent}",{len(payoffs)},{len(by_deal)},{mean!r},{error!r},{naive!r}')
