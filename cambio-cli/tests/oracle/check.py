"""Recomputes the derived files of a run from its rows with independent programs, and compares.

Usage: check.py RUN... COMPARISON.csv... TEST.json...    Prints the number of comparisons of each kind. Exits with 1 if one fails.

Compares summary.csv, pairwise.csv, seats.csv, ratings.csv, pooled.csv and behaviour.csv with statsmodels and scipy. A comparison is the
output of `cambio report RUN RUN... --format csv` in the folder of its file, a test that of `cambio sprt --format json` on the deals of the run in its
folder.
The tolerances are arguments of the calls of `same`.
"""

import csv
import itertools
import json
import sys
from collections import Counter, defaultdict
from fractions import Fraction
from math import log, log10, sqrt
from pathlib import Path

import numpy as np
import scipy.integrate
import scipy.linalg
import scipy.optimize
import scipy.special
import scipy.stats
import statsmodels.api as sm
from statsmodels.duration.hazard_regression import PHReg

ELO = 400 / log(10)
failed = 0
compared = Counter()


def same(what, found, expected, relative=1e-9, absolute=1e-12):
    """Compares two values; `found` is a cell of a CSV file or a number."""
    global failed
    compared[what] += 1
    if found == "" or expected is None:
        good = found == "" and expected is None
    else:
        good = abs(float(found) - expected) <= max(relative * abs(expected), absolute)
    if not good:
        failed += 1
        print(f"WRONG {what}: {found!r}, expected {expected!r}")


def same_ends(what, row, names, interval, **tolerance):
    """Compares both ends of an interval."""
    for name, end in zip(names, interval, strict=True):
        same(what, row[name], end, **tolerance)


def read(folder, name):
    with open(folder / name, newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def by_cell(rows):
    cells = defaultdict(list)
    for row in rows:
        cells[row["rules"], int(row["seats"])].append(row)
    return cells


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
    deals, index = np.unique(deals, return_inverse=True)
    return np.bincount(index, weights=values), np.bincount(index)


def check_summary(rows, summary):
    for row in summary:
        own = [r for r in rows if r["agent"] == row["agent"]]
        for name in ["rank_points", "win_share", "margin"]:
            known = [(float(r[name]), int(r["deal"])) for r in own if r[name] != ""]
            if not known:
                same("mean", row[name], None)
                continue
            values, deals = zip(*known)
            mean, _, low, high = clustered(values, deals)
            if name != "margin":
                low, high = Hall(*by_deal(values, deals), 0, 1).interval()
            same("mean", row[name], mean, absolute=1e-10)
            same_ends("interval", row, (f"{name}_low", f"{name}_high"), (low, high), absolute=1e-9)


def without_luck(rows, seats):
    """The agents; by deal and agent the adjusted means of each payoff, the luck, and the number of results."""
    deals = sorted({int(row["deal"]) for row in rows})
    agents = sorted({row["agent"] for row in rows})
    place = {deal: index for index, deal in enumerate(deals)}
    shape = (len(deals), len(agents))
    count, luck = np.zeros(shape), np.zeros(shape)
    for row in rows:
        at = place[int(row["deal"])], agents.index(row["agent"])
        count[at] += 1
        luck[at] += float(row["luck"])
    adjusted = {}
    for column, initial in [("rank_points", seats / (2 * (seats - 1))), ("win_share", 1.0)]:
        sums = np.zeros(shape)
        for row in rows:
            sums[place[int(row["deal"])], agents.index(row["agent"])] += float(row[column])
        cross = squares = 0.0
        found = np.zeros(shape)
        for deal in range(len(deals)):
            coefficient = cross / squares if deal >= 30 and squares >= 3 else initial
            found[deal] = sums[deal] - coefficient * luck[deal]
            if deal > 0:
                means = sums[:deal].sum(axis=0) / count[:deal].sum(axis=0)
                cross += (luck[deal] * (sums[deal] - count[deal] * means)).sum()
                squares += (luck[deal] ** 2).sum()
        adjusted[column] = found / count
    return agents, adjusted, luck, count


def check_adjusted(rows, summary, pairs, seats):
    """The payoffs minus the luck times a coefficient from the earlier deals, and the t intervals of their means."""
    if "luck" not in rows[0]:
        for row in summary:
            same("adjusted", row["win_share_adjusted"], None)
        return
    agents, adjusted, luck, count = without_luck(rows, seats)

    def interval(values, counts):
        return Hall(values * counts, counts, 0, 1, without_luck=True).interval()

    for row in summary:
        own = agents.index(row["agent"])
        for name in ["rank_points", "win_share"]:
            values = adjusted[name][:, own]
            same("adjusted", row[f"{name}_adjusted"], values.mean(), absolute=1e-7)
            names = f"{name}_adjusted_low", f"{name}_adjusted_high"
            same_ends("adjusted interval", row, names, interval(values, count[:, own]), absolute=1e-7)
        share = luck[:, own] / count[:, own]
        same("luck", row["luck"], share.mean(), absolute=1e-10)
        same("luck", row["luck_error"], scipy.stats.sem(share), absolute=1e-10)
    for pair in pairs:
        one, other = (adjusted["rank_points"][:, agents.index(pair[name])] for name in ["agent", "other"])
        difference = one - other
        results = sum(count[:, agents.index(pair[name])] for name in ["agent", "other"]).mean()
        hall = Hall.of_difference(one, other, results, without_luck=True)
        same("adjusted", pair["difference_adjusted"], difference.mean(), absolute=1e-7)
        same_ends("adjusted interval", pair, ("low_adjusted", "high_adjusted"), hall.interval(), absolute=1e-7)
        if scipy.stats.sem(difference) == 0:
            continue
        same("adjusted p", pair["p_adjusted"], hall.p(0), relative=1e-4, absolute=1e-9)
        ratio = (float(pair["error"]) / scipy.stats.sem(difference)) ** 2
        same("variance ratio", pair["variance_ratio"], ratio, relative=1e-5)
    for pair in pairs:
        if seats > 2:
            same("adjusted score", pair["score_adjusted"], None)
            continue
        # The games of the two agents by deal; the score is the win share.
        scores = defaultdict(list)
        for (deal, _, _), table in games(rows).items():
            by_agent = {row["agent"]: row for row in table}
            if set(by_agent) == {pair["agent"], pair["other"]}:
                own = by_agent[pair["agent"]]
                scores[deal].append(float(own["win_share"]) - float(own["luck"]))
        values = np.array([np.mean(of) for of in scores.values()])
        played = np.array([len(of) for of in scores.values()], float)
        same("adjusted score", pair["score_adjusted"], values.mean(), absolute=1e-7)
        names = "score_adjusted_low", "score_adjusted_high"
        same_ends("adjusted score interval", pair, names, interval(values, played), absolute=1e-7)


def deal_means(rows):
    sums = defaultdict(lambda: [0.0, 0])
    for row in rows:
        entry = sums[row["agent"], int(row["deal"])]
        entry[0] += float(row["rank_points"])
        entry[1] += 1
    return {key: total / n for key, (total, n) in sums.items()}


def check_pairs(rows, pairs):
    means = deal_means(rows)
    deals = sorted({deal for _, deal in means})
    p_values, halls = [], []
    for pair in pairs:
        one = np.array([means[pair["agent"], deal] for deal in deals])
        other = np.array([means[pair["other"], deal] for deal in deals])
        difference, error = (one - other).mean(), np.std(one - other, ddof=1) / sqrt(len(deals))
        hall = Hall.of_difference(one, other, sum(row["agent"] in (pair["agent"], pair["other"]) for row in rows) / len(deals))
        same("difference", pair["difference"], difference)
        same("difference", pair["error"], error)
        same_ends("difference", pair, ("low", "high"), hall.interval(), absolute=1e-9)
        # Anytime-valid interval: at its ends, the normal mixture martingale reaches 1 / α times its initial value.
        rho = sqrt((-2 * log(0.05) + log(-2 * log(0.05)) + 1) / 1000)
        count = len(deals)
        wealth = lambda x: (x * rho) ** 2 * count / (2 * (count * rho**2 + 1)) - log(count * rho**2 + 1) / 2 - log(20)
        anytime = scipy.optimize.brentq(wealth, 0, 1000)
        same_ends("anytime", pair, ("low_anytime", "high_anytime"), hall.interval(anytime), absolute=1e-9)
        halls.append(hall)
        p_values.append(hall.p(0))
        same("p", pair["p"], p_values[-1], relative=1e-6, absolute=1e-300)
        efficiency = 1 - np.var(one - other, ddof=1) / (np.var(one, ddof=1) + np.var(other, ddof=1))
        same("efficiency", pair["efficiency"], efficiency, relative=1e-8)
        check_duel(rows, pair)
    # Simultaneous intervals: the quantile of the maximum of correlated normal variables, by plain Monte Carlo with another
    # generator, converted to a quantile of t.
    agents = sorted({pair["agent"] for pair in pairs} | {pair["other"] for pair in pairs})
    matrix = np.array([[means[agent, deal] for deal in deals] for agent in agents])
    drawn = scipy.stats.multivariate_normal(cov=np.cov(matrix) / len(deals), allow_singular=True, seed=1).rvs(400_000)
    error = lambda a, b: np.std(matrix[a] - matrix[b], ddof=1) / sqrt(len(deals))
    largest = max_over(np.abs(drawn[:, a] - drawn[:, b]) / error(a, b) for a, b in itertools.combinations(range(len(agents)), 2))
    alone = scipy.stats.norm.sf(np.quantile(largest, 0.95))
    for pair, p, hall in zip(pairs, p_values, halls):
        low, high = hall.interval(scipy.stats.t.isf(alone, hall.freedom()))
        same("simultaneous", float(pair["high_simultaneous"]) - float(pair["low_simultaneous"]), high - low, relative=0.01)
        corrected = (largest >= scipy.stats.norm.isf(p / 2)).mean()
        same("p of all", pair["p_simultaneous"], corrected, relative=0.05, absolute=4e-4)
        leaves_0_out = float(pair["low_simultaneous"]) > 0 or float(pair["high_simultaneous"]) < 0
        same("p of all", float(float(pair["p_simultaneous"]) < 0.05), float(leaves_0_out))


def max_over(arrays):
    arrays = list(arrays)
    return np.max(np.vstack(arrays), axis=0)


def games(rows):
    tables = defaultdict(list)
    for row in rows:
        tables[int(row["deal"]), row["lineup"], int(row["rotation"])].append(row)
    return tables


def tables_of(rows):
    """The deal and the rows of each game."""
    return [(deal, table) for (deal, _, _), table in games(rows).items()]


def seated(tables, columns, letters=(), pairs=()):
    """The data of a Cox model: a column for each agent of `columns` and each seat of `letters`, and one for each pair, which is 1/2
    for the first agent and -1/2 for the second in their common games."""
    exog, time, strata, deals = [], [], [], []
    for number, (deal, table) in enumerate(tables):
        for row in table:
            of_agent = [float(row["agent"] == agent) for agent in columns] + [float(row["seat"] == letter) for letter in letters]
            count = lambda agent: sum(other["agent"] == agent for other in table)
            of_pair = [
                count(other) / 2 if row["agent"] == one else -count(one) / 2 if row["agent"] == other else 0.0
                for one, other in pairs
            ]
            exog.append(of_agent + of_pair)
            time.append(int(row["rank"]))
            strata.append(number)
            deals.append(deal)
    return np.array(exog), np.array(time, float), np.array(strata), np.array(deals)


def cox_model(tables, columns, letters=()):
    """The Cox model of these games, and a function that returns the score of each deal at these parameters."""
    exog, time, strata, deals = seated(tables, columns, letters)
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


def check_misfit(rows, pairs, ratings, seats):
    """The residuals of pairs and the test that there are none: the score test of a Cox model with one more parameter for each pair.
    The test uses the eigenvectors of the information, which is another basis than cambio's."""
    strengths = {row["agent"]: float(row["strength"]) for row in ratings}
    letters = sorted({r["seat"] for r in rows})[1:] if seats[0]["elo"] != "" else []
    for pair in pairs:
        fitted = None if letters else scipy.special.expit(strengths[pair["agent"]] - strengths[pair["other"]])
        same("fitted score", pair["score_fitted"], fitted, relative=1e-8)
    if ratings[0]["fit"] == "regularised":
        for p in [row["residual_p"] for row in pairs] + [row["misfit_p"] for row in ratings]:
            same("misfit", p, None)
        return
    agents = [row["agent"] for row in ratings]
    exog, time, strata, deals = seated(tables_of(rows), agents[:-1], letters, [(pair["agent"], pair["other"]) for pair in pairs])
    size = len(agents) - 1 + len(letters)
    cox = lambda of, columns: PHReg(time[of], exog[of][:, :columns], status=np.ones(of.sum()), strata=strata[of], ties="efron")
    every = np.full(len(time), True)
    params = cox(every, size).fit().params
    # A tie is two comparisons, of which each agent wins one. At two seats, the fit implies the share of comparisons won.
    wins, ties, losses = ([int(pair[name]) for pair in pairs] for name in ["wins", "ties", "losses"])
    won, compared_by_pair = np.add(wins, ties), np.add(wins, losses) + 2 * np.array(ties)
    raw = cox(every, exog.shape[1]).score(np.append(params, np.zeros(len(pairs))))[size:]
    is_duel = len({r["seat"] for r in rows}) == 2
    expected = won - raw if is_duel else won
    enough = np.minimum(expected, compared_by_pair - expected) >= 5
    used = [pair for pair, is_enough in zip(pairs, enough) if is_enough]
    for pair, is_enough in zip(pairs, enough):
        if not is_enough:
            same("residual", pair["residual"], None)
    if not used:
        same("misfit", ratings[0]["misfit_f"], None)
        return
    exog = np.hstack([exog[:, :size], exog[:, size:][:, enough]])
    at = np.append(params, np.zeros(len(used)))
    curvature = -cox(every, exog.shape[1]).hessian(at)
    slopes = np.linalg.solve(curvature[:size, :size], curvature[:size, size:])
    information = curvature[size:, size:] - curvature[size:, :size] @ slopes
    if is_duel:
        # Each game around the pair's own share, with the variance of the fitted share.
        own, fitted = (won / compared_by_pair)[enough], (expected / compared_by_pair)[enough]
        by_deal = defaultdict(lambda: np.zeros(exog.shape[1]))
        for game in range(len(time) // 2):
            first, second = exog[2 * game], exog[2 * game + 1]
            slope = first - second
            pair = np.flatnonzero(slope[size:])
            odds = scipy.special.expit(slope @ at)
            faster = time[2 * game + 1] - time[2 * game]
            score = 1 - odds if faster > 0 else -odds if faster < 0 else 1 - 2 * odds
            if len(pair):
                share, fit = own[pair[0]], fitted[pair[0]]
                score -= slope[size + pair[0]] * (share - fit) * (1 if faster else 2)
                score *= sqrt(fit * (1 - fit) / share / (1 - share))
            by_deal[deals[2 * game]] += score * slope
        scores = np.array([by_deal[deal] for deal in sorted(by_deal)])
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
        same("misfit", ratings[0]["misfit_f"], None)
        return
    wald = (total @ basis) @ np.linalg.solve(basis.T @ covariance @ basis, basis.T @ total)
    f = wald * (count - q) / (q * (count - 1))
    same("misfit", ratings[0]["misfit_f"], f, relative=1e-4)
    same("misfit", ratings[0]["misfit_f_numerator"], q)
    same("misfit", ratings[0]["misfit_p"], scipy.stats.f.sf(f, q, count - q), relative=1e-3)


def check_ranks(rows, summary, pairs):
    """The ranks of the means, their intervals from the simultaneous intervals of the pairs, and the ranks without one agent."""
    if "luck" in rows[0]:
        # The ranks are those of the adjusted means.
        return

    def ranks(left_out=None):
        sums = defaultdict(list)
        for row in rows:
            if left_out not in row["lineup"].split(" | "):
                sums[row["agent"]].append(Fraction(row["rank_points"]).limit_denominator(840))
        means = {agent: sum(values) / len(values) for agent, values in sums.items()}
        return {agent: 1 + sum(other > mean for other in means.values()) for agent, mean in means.items()}

    agents = [row["agent"] for row in summary]
    all_ranks, without = ranks(), {agent: ranks(agent) for agent in agents}
    apart = Counter()
    for pair in pairs:
        if float(pair["low_simultaneous"]) > 0:
            apart[pair["other"], "better"] += 1
            apart[pair["agent"], "worse"] += 1
        if float(pair["high_simultaneous"]) < 0:
            apart[pair["agent"], "better"] += 1
            apart[pair["other"], "worse"] += 1
    for row in summary:
        agent = row["agent"]
        same("rank", row["rank"], all_ranks[agent])
        same("rank", row["rank_low"], 1 + apart[agent, "better"])
        same("rank", row["rank_high"], len(agents) - apart[agent, "worse"])
        others = [ranks[agent] for other, ranks in without.items() if other != agent and agent in ranks]
        same("rank", row["rank_best_without_one"], min(others, default=None))
        same("rank", row["rank_worst_without_one"], max(others, default=None))


def duel(rows, pair):
    """The interval of the scores of a pair, the scores and their deals."""
    scores, deals = [], []
    for (deal, _, _), table in games(rows).items():
        for one in table:
            for other in table:
                if one["agent"] == pair["agent"] and other["agent"] == pair["other"]:
                    difference = int(other["rank"]) - int(one["rank"])
                    scores.append((np.sign(difference) + 1) / 2)
                    deals.append(deal)
    return Hall(*by_deal(scores, deals), 0, 1), scores, deals


def check_duel(rows, pair):
    hall, scores, deals = duel(rows, pair)
    mean, error, _, _ = clustered(scores, deals)
    low, high = hall.interval()
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
    same("wins", pair["wins"], sum(score == 1 for score in scores))


def check_seats(rows, seats):
    agents, letters = sorted({r["agent"] for r in rows}), sorted({r["seat"] for r in rows})
    design = np.array(
        [[float(r["agent"] == agent) for agent in agents] + [float(r["seat"] == letter) for letter in letters[1:]] for r in rows]
    )
    payoff = np.array([float(r["rank_points"]) for r in rows])
    deals = np.array([int(r["deal"]) for r in rows])
    fit = sm.OLS(payoff, design).fit(cov_type="cluster", cov_kwds={"groups": deals})
    # cambio uses only the factor D/(D-1); statsmodels also uses (N-1)/(N-K).
    n, k = design.shape
    factor = (n - 1) / (n - k)
    effects = fit.params[len(agents) :]
    covariance = fit.cov_params()[len(agents) :, len(agents) :] / factor
    for row, effect, error in zip(seats[1:], effects, np.sqrt(np.diag(covariance))):
        same("seat effect", row["effect"], effect, relative=1e-8, absolute=1e-10)
        same("seat effect", row["effect_error"], error, relative=1e-8)
    # Repeated-measures analysis of variance in orthonormal contrasts of the seats, with the ε of Huynh and Feldt.
    size, clusters = len(letters), len(set(deals))
    contrasts = scipy.linalg.null_space(np.ones((1, size))).T[:, 1:]
    values, spread = contrasts @ effects, contrasts @ covariance @ contrasts.T
    q = size - 1
    epsilon = np.trace(spread) ** 2 / (q * np.trace(spread @ spread))
    epsilon = min((clusters * q * epsilon - 2) / (q * (clusters - 1 - q * epsilon)), 1)
    f = values @ values / np.trace(spread)
    same("seat test", seats[0]["f"], f, relative=1e-6)
    same("seat test", seats[0]["f_numerator"], epsilon * q, relative=1e-6)
    same("seat test", seats[0]["p"], scipy.stats.f.sf(f, epsilon * q, epsilon * q * (clusters - 1)), relative=1e-5)


def check_ratings(rows, ratings, seats):
    agents = [row["agent"] for row in ratings]
    with_seats = seats[0]["elo"] != ""
    letters = sorted({r["seat"] for r in rows})
    is_regularised = ratings[0]["fit"] == "regularised"
    same("fit", float(is_regularised), float(len({row["component"] for row in ratings}) > 1))
    columns = agents if is_regularised else agents[:-1]
    model, scores_at = cox_model(tables_of(rows), columns, letters[1:] if with_seats else [])
    if is_regularised:
        check_regularised(model, scores_at, ratings)
        return
    size = len(agents) - 1
    strengths, errors, params = fitted(model, scores_at, size)
    for row, strength, error in zip(ratings, strengths, errors):
        same("strength", row["strength"], strength, relative=1e-5, absolute=1e-6)
        same("strength error", row["error"], error, relative=1e-5)
        same("Elo", row["elo"], strength * ELO, relative=1e-5, absolute=1e-4)
    if with_seats:
        for row, value in zip(seats[1:], params[size:]):
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
    for row, strength, error in zip(ratings, centre @ found.x, np.sqrt(np.diag(centre @ covariance @ centre.T))):
        same("regularised", row["strength"], strength, relative=1e-5, absolute=1e-6)
        same("regularised", row["error"], error, relative=1e-5)


def check_pooled(cells, pooled):
    """One strength for each agent over all tables: a Cox model of all games, clustered by deal."""
    agents = [row["agent"] for row in pooled]
    tables = [table for rows in cells.values() for table in tables_of(rows)]
    is_regularised = pooled[0]["fit"] == "regularised"
    same("pooled fit", float(is_regularised), float(len({row["component"] for row in pooled}) > 1))
    columns = agents if is_regularised else agents[:-1]
    model, scores_at = cox_model(tables, columns)
    deals = {deal for deal, _ in tables}
    same("pooled deals", pooled[0]["deals"], len(deals))
    for row in pooled:
        same("pooled games", row["games"], sum(of["agent"] == row["agent"] for _, table in tables for of in table))
        met = sum(any(of["agent"] == row["agent"] for of in rows) for rows in cells.values())
        same("pooled tables", row["tables"], met)
    t = scipy.stats.t.ppf(0.975, len(deals) - 1)
    if is_regularised:
        check_regularised(model, scores_at, pooled)
        for row in pooled:
            elo, half = float(row["strength"]) * ELO, t * float(row["error"]) * ELO
            same_ends("pooled", row, ("elo_low", "elo_high"), (elo - half, elo + half), absolute=1e-9)
        return
    strengths, errors, _ = fitted(model, scores_at, len(agents) - 1)
    for row, strength, error in zip(pooled, strengths, errors):
        same("pooled", row["strength"], strength, relative=1e-5, absolute=1e-6)
        same("pooled", row["error"], error, relative=1e-5)
        same("pooled", row["elo"], strength * ELO, relative=1e-5, absolute=1e-4)
        same("pooled", row["elo_low"], (strength - t * error) * ELO, relative=1e-5, absolute=1e-4)
        same("pooled", row["elo_high"], (strength + t * error) * ELO, relative=1e-5, absolute=1e-4)


def check_game(rows, ratings):
    agents = [row["agent"] for row in ratings]
    size = len(agents)
    sums = np.zeros((size, size, 2))
    for table in games(rows).values():
        one, other = table
        a, b = agents.index(one["agent"]), agents.index(other["agent"])
        sums[a, b] += [float(one["rank_points"]), 1]
        sums[b, a] += [float(other["rank_points"]), 1]
    payoff = np.full((size, size), 0.5)
    mixed = sums[..., 1] > 0
    payoff[mixed] = sums[mixed][:, 0] / sums[mixed][:, 1]
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
    for row, share, score in zip(ratings, best.x, payoff @ best.x):
        same("Nash", row["nash"], share, absolute=2e-4)
        same("Nash score", row["nash_score"], score, absolute=2e-4)


def check_table_game(rows, ratings, seats):
    """More than two seats: no agent gains by leaving the equilibrium, summed over all orders of the others."""
    agents = [row["agent"] for row in ratings]
    size, sums = len(agents), defaultdict(lambda: np.zeros(2))
    for table in games(rows).values():
        seated = [agents.index(row["agent"]) for row in table]
        for agent, row in zip(seated, table):
            sums[tuple(sorted(seated)), agent] += [float(row["rank_points"]), 1]
    payoff = lambda table, agent: (
        0.5 if len(set(table)) == 1 else sums[tuple(sorted(table)), agent][0] / sums[tuple(sorted(table)), agent][1]
    )

    nash = np.array([float(row["nash"]) for row in ratings])
    gets = np.zeros(size)
    for others in itertools.product(range(size), repeat=seats - 1):
        gets += np.prod(nash[list(others)]) * np.array([payoff(others + (agent,), agent) for agent in range(size)])
    same("Nash at a table", nash.sum(), 1, absolute=1e-6)
    same("Nash at a table", gets.max() - gets @ nash, 0, absolute=1e-5)
    for row, score in zip(ratings, gets):
        same("Nash score", row["nash_score"], score, absolute=1e-6)

    for row in ratings:
        same("interval of a share", 0 <= float(row["nash_low"]) <= float(row["nash_high"]) <= 1, 1)


def check_behaviour(rows, behaviour):
    for row in behaviour:
        own = [r for r in rows if r["agent"] == row["agent"]]
        total = lambda name: sum(float(r[name] or 0) for r in own)
        rounds = total("rounds")
        if not rounds:
            same("behaviour", row["calls_per_round"], None)
            continue
        for column in ["calls", "snaps_right_own", "snaps_wrong", "touches", "penalties", "gifts", "looks", "swaps", "cards"]:
            same("behaviour", row[f"{column}_per_round"], total(column) / rounds)
        told = [r for r in own if r["lapses"] != ""]
        rounds_told = sum(int(r["rounds"]) for r in told)
        same("behaviour", row["lapses_per_round"], sum(int(r["lapses"]) for r in told) / rounds_told if rounds_told else None)
        calls = total("calls")
        same("behaviour", row["call_turn_mean"], total("call_turn_sum") / calls if calls else None)
        same("behaviour", row["points_at_call_mean"], total("points_at_call_sum") / calls if calls else None)
        same("behaviour", row["calls_succeeded_share"], total("calls_succeeded") / calls if calls else None)
        same("behaviour", row["cards_known_share"], total("cards_known") / total("cards"))


def check_comparison(file):
    """Each mean with its interval, and each difference from an earlier run: paired by deal, or of independent runs."""
    for (rules, seats), rows in by_cell(read(file.parent, file.name)).items():
        results = {}
        for row in rows:
            players = [r for r in read(file.parent / row["run"], "players.csv") if (r["rules"], r["seats"]) == (rules, str(seats))]
            own = [r for r in players if r["agent"] == row["agent"]]
            deals = sorted({int(r["deal"]) for r in own})
            totals, counts = by_deal([float(r["rank_points"]) for r in own], [int(r["deal"]) for r in own])
            is_adjusted = "luck" in players[0]
            if is_adjusted:
                agents, adjusted, _, _ = without_luck(players, seats)
                totals = adjusted["rank_points"][:, agents.index(row["agent"])] * counts
            hall = Hall(totals, counts, 0, 1, is_adjusted)
            ends = lambda level, hall=hall: hall.interval(hall.factor(level))
            results[row["run"], row["agent"]] = dict(zip(deals, totals)), counts[0], is_adjusted, ends
            same("compared mean", row["mean"], totals.sum() / counts.sum(), absolute=1e-7)
            same_ends("compared interval", row, ("low", "high"), ends(0.95), absolute=1e-7)
        told = [row for row in rows if row["from"]]
        for row in told:
            (later, count, is_adjusted, ends), (earlier, _, was_adjusted, earlier_ends) = (
                results[row[run], row["agent"]] for run in ["run", "from"]
            )
            mean, earlier_mean = (sum(totals.values()) / len(totals) / count for totals in [later, earlier])
            difference = mean - earlier_mean
            same("difference of runs", row["difference"], difference, absolute=1e-7)
            shared = sorted(set(later) & set(earlier)) if int(row["shared_deals"]) else []
            same("shared deals", row["shared_deals"], float(len(shared)))
            for level, suffix in [(0.95, ""), (1 - 0.05 / len(told), "_simultaneous")]:
                if not shared:
                    (low, high), (earlier_low, earlier_high) = ends(level), earlier_ends(level)
                    low = difference - sqrt((mean - low) ** 2 + (earlier_high - earlier_mean) ** 2)
                    high = difference + sqrt((high - mean) ** 2 + (earlier_mean - earlier_low) ** 2)
                else:
                    one, other = (np.array([totals[deal] / count for deal in shared]) for totals in [later, earlier])
                    each = count * (len(later) + len(earlier)) / len(shared)
                    hall = Hall.of_difference(one, other, each, is_adjusted and was_adjusted)
                    hall.mean = difference
                    if is_adjusted and was_adjusted:
                        # With clusters that only one run has, the variance of the difference is that of two overlapping samples.
                        own, rest = (np.array(list(totals.values())) / count for totals in [later, earlier])
                        covariance = (
                            ((one - mean) * (other - earlier_mean)).sum() * len(one) / (len(one) - 1) / (len(own) * len(rest))
                        )
                        variance = scipy.stats.sem(own) ** 2 + scipy.stats.sem(rest) ** 2 - 2 * covariance
                        hall.second = variance * (len(shared) - 1)
                    low, high = hall.interval(hall.factor(level))
                names = f"difference_low{suffix}", f"difference_high{suffix}"
                same_ends("interval of runs", row, names, (low, high), absolute=1e-7)


def check_sprt(file):
    """The mean pairwise score on the deals of a test, with and without the luck, and the likelihood ratio."""
    said = json.loads(file.read_text(encoding="utf-8"))
    tables = defaultdict(list)
    for row in read(file.parent, "players.csv"):
        is_table = row["rules"] == said["rules"] and int(row["seats"]) == said["seats"]
        if is_table and set(row["lineup"].split(" | ")) == {said["agent"], said["other"]}:
            tables[int(row["deal"]), row["lineup"], row["rotation"]].append(row)
    raw, adjusted = defaultdict(list), defaultdict(list)
    for (deal, *_), rows in tables.items():
        for one, other in itertools.product(rows, rows):
            if (one["agent"], other["agent"]) == (said["agent"], said["other"]):
                score = (1 + np.sign(int(other["rank"]) - int(one["rank"]))) / 2
                raw[deal].append(score)
                adjusted[deal].append(score - (float(one["luck"]) - float(other["luck"])) / 2)
    first = sorted(raw)[: said["deals"]]
    means = np.array([np.mean(adjusted[deal]) for deal in first])
    same("score of a test", said["score"], np.mean([np.mean(raw[deal]) for deal in first]))
    same("adjusted score of a test", said["score_adjusted"], means.mean(), absolute=1e-10)
    counts = np.array([len(adjusted[deal]) for deal in first], float)
    hall = Hall(means * counts, counts, 0, 1, without_luck=True)
    freedom = hall.freedom()
    term = lambda elo: np.log1p(hall.against(1 / (1 + 10 ** (-elo / 400))) ** 2 / freedom)
    ratio = (freedom + 1) / 2 * (term(said["elo_0"]) - term(said["elo_1"]))
    same("likelihood ratio", said["log_likelihood_ratio"], ratio, relative=1e-7)


for file in [Path(name) for name in sys.argv[1:] if name.endswith(".csv")]:
    check_comparison(file)
for file in [Path(name) for name in sys.argv[1:] if name.endswith(".json")]:
    check_sprt(file)
for folder in [Path(name) for name in sys.argv[1:] if Path(name).is_dir()]:
    tables = {
        name: by_cell(read(folder, f"{name}.csv")) for name in ["players", "summary", "pairwise", "seats", "ratings", "behaviour"]
    }
    for cell, rows in tables["players"].items():
        check_summary(rows, tables["summary"][cell])
        check_pairs(rows, tables["pairwise"][cell])
        check_adjusted(rows, tables["summary"][cell], tables["pairwise"][cell], cell[1])
        check_seats(rows, tables["seats"][cell])
        check_misfit(rows, tables["pairwise"][cell], tables["ratings"][cell], tables["seats"][cell])
        check_ranks(rows, tables["summary"][cell], tables["pairwise"][cell])
        check_ratings(rows, tables["ratings"][cell], tables["seats"][cell])
        if tables["ratings"][cell][0]["nash"] != "":
            if cell[1] == 2:
                check_game(rows, tables["ratings"][cell])
            else:
                check_table_game(rows, tables["ratings"][cell], cell[1])
        check_behaviour(rows, tables["behaviour"][cell])
    same("pooled file", float((folder / "pooled.csv").exists()), float(len(tables["players"]) > 1))
    if len(tables["players"]) > 1:
        check_pooled(tables["players"], read(folder, "pooled.csv"))
for what, count in sorted(compared.items()):
    print(f"{count:6} {what}")
print(f"{sum(compared.values())} compared, {failed} wrong")
sys.exit(failed > 0)
