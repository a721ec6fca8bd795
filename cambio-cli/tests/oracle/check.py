"""Recomputes the derived files of a run from its rows with independent programs, and compares.

Usage: check.py RUN... COMPARISON.csv... TEST.json...    Prints the number of comparisons of each kind. Exits with 1 if one fails.

Compares summary.csv, pairwise.csv, seats.csv, ratings.csv, pooled.csv and behaviour.csv with statsmodels and scipy. A comparison is the
output of `cambio report RUN RUN... --format csv` in the folder of its file, a test that of `cambio sprt --format json` on the deals of the run in its
folder.
The tolerances are arguments of the calls of `same`.
"""

import itertools
import json
import sys
from collections import Counter
from math import log, log10, sqrt
from pathlib import Path

import numpy as np
import pandas as pd
import scipy.linalg
import scipy.optimize
import scipy.special
import scipy.stats
import statsmodels.api as sm
from statsmodels.duration.hazard_regression import PHReg

ELO = 400 / log(10)
CELL = ["rules", "seats"]
GAME = [*CELL, "deal", "lineup", "rotation"]
failed = 0
compared = Counter()


def same(what, found, expected, relative=1e-9, absolute=1e-12):
    """Compares two values; `found` is a cell of a CSV file or a number, and `None` is an empty cell."""
    global failed
    compared[what] += 1
    if pd.isna(found) or expected is None:
        good = pd.isna(found) and expected is None
    else:
        good = abs(float(found) - expected) <= max(relative * abs(expected), absolute)
    if not good:
        failed += 1
        print(f"WRONG {what}: {found!r}, expected {expected!r}")


def same_ends(what, row, names, interval, **tolerance):
    """Compares both ends of an interval."""
    for name, end in zip(names, interval, strict=True):
        same(what, row[name], end, **tolerance)


def by_cell(table):
    return dict(list(table.groupby(CELL, sort=False)))


def records(table):
    return table.to_dict("records")


def quotient(part, whole):
    return part / whole if whole else None


def clustered(values, deals):
    """Mean, standard error and interval from statsmodels, clustered by deal."""
    fit = sm.OLS(np.array(values), np.ones(len(values))).fit(cov_type="cluster", cov_kwds={"groups": np.array(deals)}, use_t=True)
    low, high = fit.conf_int()[0]
    return fit.params[0], fit.bse[0], low, high


class Hall:
    """Hall's transformation of the t statistic of a mean of bounded results, with an unseen deal between the mean and a bound,
    from explicit deals. The ends come from a root finder instead of the inverse. Without the luck of the cards, the unseen
    deal has no least weight, and ends may be beyond the bounds."""

    def __init__(self, totals, counts, least, most, without_luck=False):
        totals, counts = np.asarray(totals, float), np.asarray(counts, float)
        self.least, self.most, self.clusters = least, most, len(totals)
        self.mean = totals.sum() / counts.sum()
        self.deviations = (totals - self.mean * counts) / counts.mean()
        self.results = counts.mean()
        self.without_luck = without_luck
        self.second = np.mean(self.deviations**2)
        values = totals / counts - np.mean(totals / counts)
        kurtosis = 3 if self.is_constant() else np.mean(values**4) / np.mean(values**2) ** 2
        self.alike = max(0, 1 - 4 / kurtosis)
        self.skewness = 0 if self.is_constant() else np.mean(values**3) / np.mean(values**2) ** 1.5

    @staticmethod
    def of_difference(one, other, results, without_luck=False):
        """The difference of two agents with equally many results in each deal, from their means by deal."""
        hall = Hall(np.asarray(one) - np.asarray(other), np.ones(len(one)), -1, 1, without_luck)
        hall.results = results
        return hall

    def is_constant(self):
        return np.abs(self.deviations).max() < 1e-13

    def freedom(self):
        return max(1, self.clusters * (1 - self.alike) - 1)

    def factor(self, level):
        return scipy.stats.t.ppf(0.5 + level / 2, self.freedom())

    def statistic(self, at, bound):
        independent = 1 / sqrt(self.results)
        unseen = (bound - self.mean) * (independent + (1 - independent) * self.alike**2 / 2)
        weight = self.alike**2 if self.without_luck else max(self.alike**2, 0.25)
        total = self.clusters + weight
        # The third moment counts in part, and only at the end toward which the deals are skewed.
        counted = self.alike * self.skewness if self.skewness * unseen > 0 else 0
        shift = weight * unseen / total
        second = (self.clusters * (self.second + shift**2) + weight * (unseen - shift) ** 2) / total
        own = counted * self.second**1.5 - 3 * shift * self.second - shift**3
        third = (self.clusters * own + weight * (unseen - shift) ** 3) / total
        t = (self.mean - at) / sqrt(second / (self.clusters - 1))
        a = third / second**1.5 / (3 * sqrt(total))
        return t + a * t**2 + a**2 * t**3 / 3 + a / 2

    def end(self, side, factor):
        """All deals may differ if none did: the upper end of Wilson's interval for no success."""
        bound = min(self.least, self.mean) if side < 0 else max(self.most, self.mean)
        if self.is_constant():
            return self.mean + factor**2 / (factor**2 + self.clusters) * (bound - self.mean)
        limit = self.mean + side * 20 if self.without_luck else bound
        if self.mean == limit or -side * self.statistic(limit, bound) <= factor:
            return limit
        return scipy.optimize.brentq(
            lambda at: -side * self.statistic(at, bound) - factor, self.mean, limit, xtol=1e-15, rtol=1e-14
        )

    def interval(self, factor=None):
        factor = self.factor(0.95) if factor is None else factor
        return self.end(-1, factor), self.end(1, factor)

    def against(self, at):
        """The absolute t statistic against a value."""
        bound = max(self.most, self.mean) if at > self.mean else min(self.least, self.mean)
        if self.is_constant():
            differ = 0 if at == self.mean else (at - self.mean) / (bound - self.mean)
            return sqrt(self.clusters * differ / (1 - differ))
        return max(self.statistic(at, bound) * np.sign(self.mean - at), 0)

    def p(self, at):
        return 2 * scipy.stats.t.sf(self.against(at), self.freedom())


def by_deal(values, deals):
    """The sum and the number of values of each deal."""
    grouped = pd.Series(np.asarray(values)).groupby(np.asarray(deals))
    return grouped.sum(), grouped.count()


def check_summary(players, summary):
    for row in records(summary):
        own = players[players["agent"] == row["agent"]]
        for name in ["rank_points", "win_share", "margin"]:
            known = own.dropna(subset=name)
            if known.empty:
                same("mean", row[name], None)
                continue
            mean, _, low, high = clustered(known[name], known["deal"])
            if name != "margin":
                low, high = Hall(*by_deal(known[name], known["deal"]), 0, 1).interval()
            same("mean", row[name], mean, absolute=1e-10)
            same_ends("interval", row, (f"{name}_low", f"{name}_high"), (low, high), absolute=1e-9)


def without_luck(players, seats):
    """The adjusted means of each payoff, the luck, and the number of results, each by deal and agent."""
    grouped = players.groupby(["deal", "agent"])
    count, luck = grouped.size().unstack(), grouped["luck"].sum().unstack()
    before = lambda sums: sums.sum(axis=1).cumsum().shift(fill_value=0)
    adjusted = {}
    for column, initial in [("rank_points", seats / (2 * (seats - 1))), ("win_share", 1.0)]:
        sums = grouped[column].sum().unstack()
        means = (sums.cumsum() / count.cumsum()).shift()
        # The first deal has no earlier mean.
        cross, squares = before(luck * (sums - count * means)), before((luck**2).where(means.notna()))
        is_known = (np.arange(len(sums)) >= 30) & (squares >= 3)
        coefficient = (cross / squares).where(is_known, initial)
        adjusted[column] = (sums - luck.mul(coefficient, axis=0)) / count
    return adjusted, luck, count


def check_adjusted(players, summary, pairs, seats):
    """The payoffs minus the luck times a coefficient from the earlier deals, and the t intervals of their means."""
    if "luck" not in players:
        for row in records(summary):
            same("adjusted", row["win_share_adjusted"], None)
        return
    adjusted, luck, count = without_luck(players, seats)

    def interval(values, counts):
        return Hall(values * counts, counts, 0, 1, without_luck=True).interval()

    for row in records(summary):
        own = row["agent"]
        for name in ["rank_points", "win_share"]:
            values = adjusted[name][own]
            same("adjusted", row[f"{name}_adjusted"], values.mean(), absolute=1e-7)
            names = f"{name}_adjusted_low", f"{name}_adjusted_high"
            same_ends("adjusted interval", row, names, interval(values, count[own]), absolute=1e-7)
        share = luck[own] / count[own]
        same("luck", row["luck"], share.mean(), absolute=1e-10)
        same("luck", row["luck_error"], scipy.stats.sem(share), absolute=1e-10)
    for pair in records(pairs):
        both = [pair["agent"], pair["other"]]
        one, other = (adjusted["rank_points"][agent] for agent in both)
        difference, results = one - other, count[both].sum(axis=1).mean()
        hall = Hall.of_difference(one, other, results, without_luck=True)
        same("adjusted", pair["difference_adjusted"], difference.mean(), absolute=1e-7)
        same_ends("adjusted interval", pair, ("low_adjusted", "high_adjusted"), hall.interval(), absolute=1e-7)
        if scipy.stats.sem(difference) == 0:
            continue
        same("adjusted p", pair["p_adjusted"], hall.p(0), relative=1e-4, absolute=1e-9)
        ratio = (float(pair["error"]) / scipy.stats.sem(difference)) ** 2
        same("variance ratio", pair["variance_ratio"], ratio, relative=1e-5)
    for pair in records(pairs):
        if seats > 2:
            same("adjusted score", pair["score_adjusted"], None)
            continue
        # The score is the win share.
        met = meetings(players, pair)
        scores = (met["win_share"] - met["luck"]).groupby(met["deal"])
        same("adjusted score", pair["score_adjusted"], scores.mean().mean(), absolute=1e-7)
        names = "score_adjusted_low", "score_adjusted_high"
        same_ends("adjusted score interval", pair, names, interval(scores.mean(), scores.count()), absolute=1e-7)


def meetings(players, pair):
    """The games of a pair: a row for each player of the first agent and each of the second at the same table, with the score."""
    one, other = (players[players["agent"] == pair[name]] for name in ["agent", "other"])
    met = one.merge(other, on=GAME, suffixes=("", "_other"))
    return met.assign(score=(np.sign(met["rank_other"] - met["rank"]) + 1) / 2)


def check_pairs(players, pairs):
    means = players.pivot_table("rank_points", "deal", "agent")
    count = len(means)
    p_values, halls = [], []
    for pair in records(pairs):
        both = [pair["agent"], pair["other"]]
        one, other = (means[agent] for agent in both)
        hall = Hall.of_difference(one, other, players["agent"].isin(both).sum() / count)
        same("difference", pair["difference"], (one - other).mean())
        same("difference", pair["error"], scipy.stats.sem(one - other))
        same_ends("difference", pair, ("low", "high"), hall.interval(), absolute=1e-9)
        # Anytime-valid interval: at its ends, the normal mixture martingale reaches 1 / α times its initial value.
        rho = sqrt((-2 * log(0.05) + log(-2 * log(0.05)) + 1) / 1000)
        wealth = lambda x: (x * rho) ** 2 * count / (2 * (count * rho**2 + 1)) - log(count * rho**2 + 1) / 2 - log(20)
        anytime = scipy.optimize.brentq(wealth, 0, 1000)
        same_ends("anytime", pair, ("low_anytime", "high_anytime"), hall.interval(anytime), absolute=1e-9)
        halls.append(hall)
        p_values.append(hall.p(0))
        same("p", pair["p"], p_values[-1], relative=1e-6, absolute=1e-300)
        efficiency = 1 - np.var(one - other, ddof=1) / (np.var(one, ddof=1) + np.var(other, ddof=1))
        same("efficiency", pair["efficiency"], efficiency, relative=1e-8)
        check_duel(players, pair)
    # Simultaneous intervals: the quantile of the maximum of correlated normal variables, by plain Monte Carlo with another
    # generator, converted to a quantile of t.
    drawn = scipy.stats.multivariate_normal(cov=means.cov() / count, allow_singular=True, seed=1).rvs(400_000)
    columns = itertools.combinations(zip(means, drawn.T), 2)
    largest = np.max([np.abs(x - y) / scipy.stats.sem(means[a] - means[b]) for (a, x), (b, y) in columns], axis=0)
    alone = scipy.stats.norm.sf(np.quantile(largest, 0.95))
    for pair, p, hall in zip(records(pairs), p_values, halls):
        low, high = hall.interval(scipy.stats.t.isf(alone, hall.freedom()))
        same("simultaneous", pair["high_simultaneous"] - pair["low_simultaneous"], high - low, relative=0.01)
        corrected = (largest >= scipy.stats.norm.isf(p / 2)).mean()
        same("p of all", pair["p_simultaneous"], corrected, relative=0.05, absolute=4e-4)
        leaves_0_out = pair["low_simultaneous"] > 0 or pair["high_simultaneous"] < 0
        same("p of all", pair["p_simultaneous"] < 0.05, float(leaves_0_out))


def seated(players, columns, letters=(), pairs=()):
    """The data of a Cox model: a column for each agent of `columns` and each seat of `letters`, and one for each pair, which is 1/2
    for the first agent and -1/2 for the second in their common games."""
    game = players.groupby(GAME, sort=False).ngroup()
    is_of = lambda agent: players["agent"] == agent
    count = lambda agent: is_of(agent).groupby(game).transform("sum")
    exog = [is_of(agent) for agent in columns] + [players["seat"] == letter for letter in letters]
    exog += [(is_of(one) * count(other) - is_of(other) * count(one)) / 2 for one, other in pairs]
    return np.array(exog, float).T, players["rank"].to_numpy(float), game.to_numpy(), players["deal"].to_numpy()


def cox_model(players, columns, letters=()):
    """The Cox model of these games, and a function that returns the score of each deal at these parameters."""
    exog, time, strata, deals = seated(players, columns, letters)
    cox = lambda of: PHReg(time[of], exog[of], status=np.ones(of.sum()), strata=strata[of], ties="efron")
    return cox(np.full(len(time), True)), lambda at: [cox(deals == deal).score(at) for deal in sorted(set(deals))]


def fitted(model, scores_at, size):
    """The strengths of the agents, their errors clustered by deal, and the parameters, of which the first `size` are agents."""
    params = model.fit().params
    # The score of each deal, because PHReg's sandwich uses Breslow residuals, which do not add up to Efron's score with ties.
    scores = np.array(scores_at(params))
    inverse, clusters = np.linalg.inv(model.hessian(params)), len(scores)
    # PHReg's Hessian is negative. One deal has the variance of the model.
    covariance = inverse @ (scores.T @ scores) @ inverse * clusters / (clusters - 1) - inverse / clusters
    centre = np.eye(size + 1)[:, :-1] - 1 / (size + 1)
    return centre @ params[:size], np.sqrt(np.diag(centre @ covariance[:size, :size] @ centre.T)), params


def check_misfit(players, pairs, ratings, seats):
    """The residuals of pairs and the test that there are none: the score test of a Cox model with one more parameter for each pair.
    The test uses the eigenvectors of the information, which is another basis than cambio's."""
    strengths, first = ratings.set_index("agent")["strength"], records(ratings)[0]
    letters = sorted(players["seat"].unique())[1:] if seats["elo"].notna().any() else []
    pairs = records(pairs)
    for pair in pairs:
        fitted = None if letters else scipy.special.expit(strengths[pair["agent"]] - strengths[pair["other"]])
        same("fitted score", pair["score_fitted"], fitted, relative=1e-8)
    if first["fit"] == "regularised":
        for p in [*(pair["residual_p"] for pair in pairs), *ratings["misfit_p"]]:
            same("misfit", p, None)
        return
    agents = list(ratings["agent"])
    exog, time, strata, deals = seated(players, agents[:-1], letters, [(pair["agent"], pair["other"]) for pair in pairs])
    size = len(agents) - 1 + len(letters)
    cox = lambda of, columns: PHReg(time[of], exog[of][:, :columns], status=np.ones(of.sum()), strata=strata[of], ties="efron")
    every = np.full(len(time), True)
    params = cox(every, size).fit().params
    # A tie is two comparisons, of which each agent wins one. At two seats, the fit implies the share of comparisons won.
    wins, ties, losses = ([pair[name] for pair in pairs] for name in ["wins", "ties", "losses"])
    won, compared_by_pair = np.add(wins, ties), np.add(wins, losses) + 2 * np.array(ties)
    raw = cox(every, exog.shape[1]).score(np.append(params, np.zeros(len(pairs))))[size:]
    is_duel = players["seat"].nunique() == 2
    expected = won - raw if is_duel else won
    enough = np.minimum(expected, compared_by_pair - expected) >= 5
    used = [pair for pair, is_enough in zip(pairs, enough) if is_enough]
    for pair, is_enough in zip(pairs, enough):
        if not is_enough:
            same("residual", pair["residual"], None)
    if not used:
        same("misfit", first["misfit_f"], None)
        return
    exog = np.hstack([exog[:, :size], exog[:, size:][:, enough]])
    at = np.append(params, np.zeros(len(used)))
    curvature = -cox(every, exog.shape[1]).hessian(at)
    slopes = np.linalg.solve(curvature[:size, :size], curvature[:size, size:])
    information = curvature[size:, size:] - curvature[size:, :size] @ slopes
    if is_duel:
        # Each game around the pair's own share, with the variance of the fitted share.
        own, fitted = (won / compared_by_pair)[enough], (expected / compared_by_pair)[enough]
        slope, faster = exog[::2] - exog[1::2], time[1::2] - time[::2]
        odds = scipy.special.expit(slope @ at)
        score = np.select([faster > 0, faster < 0], [1 - odds, -odds], 1 - 2 * odds)
        # A game has at most one pair with a residual.
        of_pair = slope[:, size:]
        place, is_used = np.abs(of_pair).argmax(axis=1), of_pair.any(axis=1)
        share, fit = own[place], fitted[place]
        centred = score - of_pair.sum(axis=1) * (share - fit) * np.where(faster, 1, 2)
        score = np.where(is_used, centred * np.sqrt(fit * (1 - fit) / share / (1 - share)), score)
        scores = pd.DataFrame(score[:, None] * slope).groupby(deals[::2]).sum().to_numpy()
    else:
        scores = np.array([cox(deals == deal, exog.shape[1]).score(at) for deal in sorted(set(deals))])
    projected = scores[:, size:] - scores[:, :size] @ slopes
    count, total = len(projected), raw[enough]
    covariance = np.atleast_2d(np.cov(projected.T)) * count
    for place, pair in enumerate(used):
        own, error = information[place, place], sqrt(covariance[place, place])
        if own < 1e-9 * curvature[size + place, size + place]:
            same("residual", pair["residual"], None)
            continue
        same("residual", pair["residual"], total[place] / own * ELO, relative=1e-4, absolute=1e-3)
        same("residual", pair["residual_error"], error / own * ELO, relative=1e-4)
        same("residual", pair["residual_p"], 2 * scipy.stats.t.sf(abs(total[place] / error), count - 1), relative=1e-3)
    values, vectors = np.linalg.eigh(information)
    basis = vectors[:, values > 1e-9 * np.diag(curvature).max()]
    q = basis.shape[1]
    if count < 10 * len(used) or q == 0:
        same("misfit", first["misfit_f"], None)
        return
    wald = (total @ basis) @ np.linalg.solve(basis.T @ covariance @ basis, basis.T @ total)
    f = wald * (count - q) / (q * (count - 1))
    same("misfit", first["misfit_f"], f, relative=1e-4)
    same("misfit", first["misfit_f_numerator"], q)
    same("misfit", first["misfit_p"], scipy.stats.f.sf(f, q, count - q), relative=1e-3)


def check_ranks(players, summary, pairs):
    """The ranks of the means, their intervals from the simultaneous intervals of the pairs, and the ranks without one agent."""
    if "luck" in players:
        # The ranks are those of the adjusted means.
        return
    lineups = players["lineup"].str.split(" | ", regex=False)

    def ranks(left_out=None):
        kept = players[[left_out not in lineup for lineup in lineups]]
        # Means that differ only by rounding share a rank.
        return kept.groupby("agent")["rank_points"].mean().round(9).rank(method="min", ascending=False)

    all_ranks, without = ranks(), {agent: ranks(agent) for agent in summary["agent"]}
    is_above, is_below = pairs["low_simultaneous"] > 0, pairs["high_simultaneous"] < 0
    for row in records(summary):
        agent = row["agent"]
        one, other = pairs["agent"] == agent, pairs["other"] == agent
        better, worse = ((one & below | other & above).sum() for below, above in [(is_below, is_above), (is_above, is_below)])
        same("rank", row["rank"], all_ranks[agent])
        same("rank", row["rank_low"], 1 + better)
        same("rank", row["rank_high"], len(summary) - worse)
        others = [ranks[agent] for other, ranks in without.items() if other != agent and agent in ranks]
        same("rank", row["rank_best_without_one"], min(others, default=None))
        same("rank", row["rank_worst_without_one"], max(others, default=None))


def check_duel(players, pair):
    met = meetings(players, pair)
    scores = met["score"]
    low, high = Hall(*by_deal(scores, met["deal"]), 0, 1).interval()
    mean, error, _, _ = clustered(scores, met["deal"])
    same("score", pair["score"], mean)
    same("score", pair["score_low"], low, absolute=1e-9)
    elo = lambda score: -400 * log10(1 / score - 1) if 0 < score < 1 else None
    same("Elo", pair["elo"], elo(mean))
    same("Elo", pair["elo_low"], elo(low), relative=1e-7)
    same("Elo", pair["elo_high"], elo(high), relative=1e-7)
    varies = error > 1e-14
    normalized = (mean - 0.5) / (error * sqrt(len(scores))) * 2 * ELO if varies else None
    same("normalized Elo", pair["normalized_elo"], normalized, relative=1e-8)
    same("superiority", pair["superiority"], scipy.stats.norm.cdf((mean - 0.5) / error) if varies else None, relative=1e-6)
    same("wins", pair["wins"], (scores == 1).sum())


def check_seats(players, seats):
    agents, letters = sorted(players["agent"].unique()), sorted(players["seat"].unique())
    design = seated(players, agents, letters[1:])[0]
    fit = sm.OLS(players["rank_points"].to_numpy(), design).fit(cov_type="cluster", cov_kwds={"groups": players["deal"].to_numpy()})
    # cambio uses only the factor D/(D-1); statsmodels also uses (N-1)/(N-K).
    n, k = design.shape
    factor = (n - 1) / (n - k)
    effects = fit.params[len(agents) :]
    covariance = fit.cov_params()[len(agents) :, len(agents) :] / factor
    for row, effect, error in zip(records(seats)[1:], effects, np.sqrt(np.diag(covariance))):
        same("seat effect", row["effect"], effect, relative=1e-8, absolute=1e-10)
        same("seat effect", row["effect_error"], error, relative=1e-8)
    # Repeated-measures analysis of variance in orthonormal contrasts of the seats, with the ε of Huynh and Feldt.
    size, clusters, first = len(letters), players["deal"].nunique(), records(seats)[0]
    contrasts = scipy.linalg.null_space(np.ones((1, size))).T[:, 1:]
    values, spread = contrasts @ effects, contrasts @ covariance @ contrasts.T
    q = size - 1
    epsilon = np.trace(spread) ** 2 / (q * np.trace(spread @ spread))
    epsilon = min((clusters * q * epsilon - 2) / (q * (clusters - 1 - q * epsilon)), 1)
    f = values @ values / np.trace(spread)
    same("seat test", first["f"], f, relative=1e-6)
    same("seat test", first["f_numerator"], epsilon * q, relative=1e-6)
    same("seat test", first["p"], scipy.stats.f.sf(f, epsilon * q, epsilon * q * (clusters - 1)), relative=1e-5)


def check_strengths(what, ratings, strengths, errors):
    for row, strength, error in zip(records(ratings), strengths, errors):
        same(what, row["strength"], strength, relative=1e-5, absolute=1e-6)
        same(what, row["error"], error, relative=1e-5)
        same(what, row["elo"], strength * ELO, relative=1e-5, absolute=1e-4)


def check_fit(what, players, ratings, letters=()):
    """One strength for each agent by a Cox model of all games, clustered by deal. Returns the strengths of the seats."""
    agents = list(ratings["agent"])
    is_regularised = ratings["fit"].iloc[0] == "regularised"
    same("fit", is_regularised, float(ratings["component"].nunique() > 1))
    model, scores_at = cox_model(players, agents if is_regularised else agents[:-1], letters)
    if is_regularised:
        check_regularised(model, scores_at, ratings)
        return []
    size = len(agents) - 1
    strengths, errors, params = fitted(model, scores_at, size)
    check_strengths(what, ratings, strengths, errors)
    return params[size:]


def check_ratings(players, ratings, seats):
    letters = sorted(players["seat"].unique())[1:] if seats["elo"].notna().any() else []
    for row, value in zip(records(seats)[1:], check_fit("strength", players, ratings, letters)):
        same("seat strength", row["elo"], value * ELO, relative=1e-5, absolute=1e-4)


def check_regularised(model, scores_at, ratings):
    """A logistic prior on each strength: the mode by a quasi-Newton method, and in each direction the larger of the sandwich and
    the inverse curvature, by a generalised eigenproblem."""
    share = lambda at: 1 / (1 + np.exp(-at))
    goal = lambda at: -(model.loglike(at) + np.sum(at - 2 * np.log1p(np.exp(at))))
    slope = lambda at: -(model.score(at) + 1 - 2 * share(at))
    found = scipy.optimize.minimize(goal, np.zeros(len(ratings)), jac=slope, method="BFGS", options={"gtol": 1e-10})
    scores = np.array(scores_at(found.x))
    clusters = len(scores)
    curvature = -model.hessian(found.x) + np.diag(2 * share(found.x) * (1 - share(found.x)))
    values, vectors = scipy.linalg.eigh(scores.T @ scores * clusters / (clusters - 1), curvature)
    covariance = vectors @ np.diag(np.maximum(values, 1)) @ vectors.T
    centre = np.eye(len(ratings)) - 1 / len(ratings)
    check_strengths("regularised", ratings, centre @ found.x, np.sqrt(np.diag(centre @ covariance @ centre.T)))


def check_pooled(players, pooled):
    """One strength for each agent over all tables."""
    rows, deals = records(pooled), players["deal"].nunique()
    check_fit("pooled", players, pooled)
    same("pooled deals", rows[0]["deals"], deals)
    for row in rows:
        own = players[players["agent"] == row["agent"]]
        same("pooled games", row["games"], len(own))
        same("pooled tables", row["tables"], own.groupby(CELL).ngroups)
        elo, half = row["strength"] * ELO, scipy.stats.t.ppf(0.975, deals - 1) * row["error"] * ELO
        same_ends("pooled", row, ("elo_low", "elo_high"), (elo - half, elo + half), absolute=1e-9)


def check_game(players, ratings):
    agents = list(ratings["agent"])
    size = len(agents)
    met = players.merge(players, on=GAME, suffixes=("", "_other"))
    met = met[met["seat"] != met["seat_other"]]
    payoff = met.pivot_table("rank_points", "agent", "agent_other").reindex(index=agents, columns=agents).fillna(0.5).to_numpy()
    game = (payoff - payoff.T) / 2

    # The equilibrium with the largest entropy, by sequential quadratic programming.
    entropy = lambda p: float(np.sum(p * np.log(np.maximum(p, 1e-300))))
    best = None
    for start in [np.full(size, 1 / size)] + list(np.eye(size) * 0.9 + 0.1 / size):
        found = scipy.optimize.minimize(
            entropy,
            start / start.sum(),
            bounds=[(0, 1)] * size,
            method="SLSQP",
            options={"maxiter": 1000, "ftol": 1e-14},
            constraints=[{"type": "eq", "fun": lambda p: p.sum() - 1}, {"type": "ineq", "fun": lambda p: p @ game}],
        )
        if found.success and (p := found.x)[None, :] is not None and (p @ game).min() > -1e-7:
            best = found if best is None or found.fun < best.fun else best
    for row, share, score in zip(records(ratings), best.x, payoff @ best.x):
        same("Nash", row["nash"], share, absolute=2e-4)
        same("Nash score", row["nash_score"], score, absolute=2e-4)


def check_table_game(players, ratings, seats):
    """More than two seats: no agent gains by leaving the equilibrium, summed over all orders of the others."""
    agents = list(ratings["agent"])
    size = len(agents)
    table_of = lambda seated: " | ".join(sorted(seated))
    tables = players["lineup"].str.split(" | ", regex=False).map(table_of)
    means = players.groupby([tables, "agent"])["rank_points"].mean()
    payoff = lambda seated, agent: 0.5 if len(set(seated)) == 1 else means[table_of(seated), agent]

    nash = ratings["nash"].to_numpy()
    gets = np.zeros(size)
    for others in itertools.product(range(size), repeat=seats - 1):
        names = [agents[other] for other in others]
        gets += np.prod(nash[list(others)]) * np.array([payoff([*names, agent], agent) for agent in agents])
    same("Nash at a table", nash.sum(), 1, absolute=1e-6)
    same("Nash at a table", gets.max() - gets @ nash, 0, absolute=1e-5)
    for row, score in zip(records(ratings), gets):
        same("Nash score", row["nash_score"], score, absolute=1e-6)

    for row in records(ratings):
        same("interval of a share", 0 <= row["nash_low"] <= row["nash_high"] <= 1, 1)


def check_behaviour(players, behaviour):
    for row in records(behaviour):
        own = players[players["agent"] == row["agent"]]
        told = own.dropna(subset="lapses")
        total = own.sum(numeric_only=True)
        for column in ["calls", "snaps_right_own", "snaps_wrong", "touches", "penalties", "gifts", "looks", "swaps", "cards"]:
            same("behaviour", row[f"{column}_per_round"], quotient(total[column], total["rounds"]))
        same("behaviour", row["lapses_per_round"], quotient(told["lapses"].sum(), told["rounds"].sum()))
        same("behaviour", row["call_turn_mean"], quotient(total["call_turn_sum"], total["calls"]))
        same("behaviour", row["points_at_call_mean"], quotient(total["points_at_call_sum"], total["calls"]))
        same("behaviour", row["calls_succeeded_share"], quotient(total["calls_succeeded"], total["calls"]))
        same("behaviour", row["cards_known_share"], quotient(total["cards_known"], total["cards"]))


def check_comparison(file):
    """Each mean with its interval, and each difference from an earlier run: paired by deal, or of independent runs."""
    for cell, rows in by_cell(pd.read_csv(file)).items():
        rows, results = records(rows), {}
        for row in rows:
            players = by_cell(pd.read_csv(file.parent / row["run"] / "players.csv"))[cell]
            own = players[players["agent"] == row["agent"]]
            totals, counts = by_deal(own["rank_points"], own["deal"])
            is_adjusted = "luck" in players
            if is_adjusted:
                adjusted, _, _ = without_luck(players, cell[1])
                totals = adjusted["rank_points"][row["agent"]] * counts
            hall = Hall(totals, counts, 0, 1, is_adjusted)
            ends = lambda level, hall=hall: hall.interval(hall.factor(level))
            results[row["run"], row["agent"]] = totals / counts, counts.iloc[0], is_adjusted, ends
            same("compared mean", row["mean"], totals.sum() / counts.sum(), absolute=1e-7)
            same_ends("compared interval", row, ("low", "high"), ends(0.95), absolute=1e-7)
        told = [row for row in rows if not pd.isna(row["from"])]
        for row in told:
            (later, count, is_adjusted, ends), (earlier, _, was_adjusted, earlier_ends) = (
                results[row[run], row["agent"]] for run in ["run", "from"]
            )
            mean, earlier_mean = later.mean(), earlier.mean()
            difference = mean - earlier_mean
            same("difference of runs", row["difference"], difference, absolute=1e-7)
            shared = later.index.intersection(earlier.index) if row["shared_deals"] else []
            same("shared deals", row["shared_deals"], float(len(shared)))
            for level, suffix in [(0.95, ""), (1 - 0.05 / len(told), "_simultaneous")]:
                if len(shared) == 0:
                    (low, high), (earlier_low, earlier_high) = ends(level), earlier_ends(level)
                    low = difference - sqrt((mean - low) ** 2 + (earlier_high - earlier_mean) ** 2)
                    high = difference + sqrt((high - mean) ** 2 + (earlier_mean - earlier_low) ** 2)
                else:
                    one, other = later[shared], earlier[shared]
                    each = count * (len(later) + len(earlier)) / len(shared)
                    hall = Hall.of_difference(one, other, each, is_adjusted and was_adjusted)
                    hall.mean = difference
                    if is_adjusted and was_adjusted:
                        # With clusters that only one run has, the variance of the difference is that of two overlapping samples.
                        products = ((one - mean) * (other - earlier_mean)).sum() * len(one) / (len(one) - 1)
                        covariance = products / (len(later) * len(earlier))
                        variance = scipy.stats.sem(later) ** 2 + scipy.stats.sem(earlier) ** 2 - 2 * covariance
                        hall.second = variance * (len(shared) - 1)
                    low, high = hall.interval(hall.factor(level))
                names = f"difference_low{suffix}", f"difference_high{suffix}"
                same_ends("interval of runs", row, names, (low, high), absolute=1e-7)


def check_sprt(file):
    """The mean pairwise score on the deals of a test, with and without the luck, and the likelihood ratio."""
    said = json.loads(file.read_text(encoding="utf-8"))
    players = by_cell(pd.read_csv(file.parent / "players.csv"))[said["rules"], said["seats"]]
    both = {said["agent"], said["other"]}
    met = meetings(players[[{*lineup.split(" | ")} == both for lineup in players["lineup"]]], said)
    met["adjusted"] = met["score"] - (met["luck"] - met["luck_other"]) / 2
    grouped = met.groupby("deal")
    means = grouped[["score", "adjusted"]].mean().head(said["deals"])
    counts = grouped.size().head(said["deals"])
    same("score of a test", said["score"], means["score"].mean())
    same("adjusted score of a test", said["score_adjusted"], means["adjusted"].mean(), absolute=1e-10)
    hall = Hall(means["adjusted"] * counts, counts, 0, 1, without_luck=True)
    freedom = hall.freedom()
    term = lambda elo: np.log1p(hall.against(1 / (1 + 10 ** (-elo / 400))) ** 2 / freedom)
    ratio = (freedom + 1) / 2 * (term(said["elo_0"]) - term(said["elo_1"]))
    same("likelihood ratio", said["log_likelihood_ratio"], ratio, relative=1e-7)


for file in [Path(name) for name in sys.argv[1:] if name.endswith(".csv")]:
    check_comparison(file)
for file in [Path(name) for name in sys.argv[1:] if name.endswith(".json")]:
    check_sprt(file)
for folder in [Path(name) for name in sys.argv[1:] if Path(name).is_dir()]:
    names = ["players", "summary", "pairwise", "seats", "ratings", "behaviour"]
    tables = {name: by_cell(pd.read_csv(folder / f"{name}.csv")) for name in names}
    for cell in tables["players"]:
        players, summary, pairs, seats, ratings, behaviour = (tables[name][cell] for name in names)
        check_summary(players, summary)
        check_pairs(players, pairs)
        check_adjusted(players, summary, pairs, cell[1])
        check_seats(players, seats)
        check_misfit(players, pairs, ratings, seats)
        check_ranks(players, summary, pairs)
        check_ratings(players, ratings, seats)
        if ratings["nash"].notna().all():
            if cell[1] == 2:
                check_game(players, ratings)
            else:
                check_table_game(players, ratings, cell[1])
        check_behaviour(players, behaviour)
    same("pooled file", (folder / "pooled.csv").exists(), float(len(tables["players"]) > 1))
    if len(tables["players"]) > 1:
        check_pooled(pd.concat(tables["players"].values()), pd.read_csv(folder / "pooled.csv"))
for what, count in sorted(compared.items()):
    print(f"{count:6} {what}")
print(f"{sum(compared.values())} compared, {failed} wrong")
sys.exit(failed > 0)
