"""Code that the notebooks share: the folder of the runs, means clustered by deal, and the style of plots."""

import os
from pathlib import Path

import matplotlib.pyplot as plt
import polars as pl
from cycler import cycler
from scipy.stats import t as student

RUNS = Path(os.environ.get("CAMBIO_RUNS", "../runs"))
"""The folder that contains the run folders."""

BLUE, ORANGE, GREEN, RED, SKY, PURPLE, BLACK = ("#0072B2", "#E69F00", "#009E73", "#D55E00", "#56B4E9", "#CC79A7", "#000000")
"""Colours that are distinguishable with colour blindness (Okabe and Ito 2008). Plots also use shapes and dashes."""


def style():
    """Sets the style: small plots with a light grid, and tables with all columns."""
    plt.rcParams.update(
        {
            "figure.dpi": 72,
            "savefig.dpi": 72,
            "figure.constrained_layout.use": True,
            "font.size": 9,
            "axes.grid": True,
            "axes.prop_cycle": cycler(color=[BLUE, ORANGE, GREEN, RED, SKY, PURPLE]),
            "grid.alpha": 0.3,
            "axes.spines.top": False,
            "axes.spines.right": False,
            "legend.frameon": False,
        }
    )
    pl.Config.set_tbl_rows(40).set_tbl_cols(12).set_tbl_width_chars(160).set_tbl_hide_dataframe_shape(True)
    pl.Config.set_fmt_str_lengths(70).set_float_precision(4)


def table(run, name, columns=None):
    """Reads a CSV file of a run. Empty cells are missing values."""
    return pl.read_csv(RUNS / run / f"{name}.csv", columns=columns, infer_schema_length=None)


def clustered(rows, by, value):
    """The mean of `value` for each group, with its standard error and the half width of its 95 % interval.

    The matches of a deal share its cards, so a deal is one observation: the mean is a ratio of sums over deals, and its error is
    computed from the residuals of the deals (Liang and Zeger 1986).
    """
    deals = rows.group_by(*by, "deal").agg(n=pl.len(), total=pl.col(value).sum())
    mean = pl.col("total").sum().over(by) / pl.col("n").sum().over(by)
    squares = (pl.col("residual") ** 2).sum()
    count = pl.len()
    deviation = pl.col("own") - pl.col("own").mean()
    variance = (deviation**2).mean()
    out = (
        deals.with_columns(mean=mean, own=pl.col("total") / pl.col("n"))
        .with_columns(residual=pl.col("total") - pl.col("mean") * pl.col("n"))
        .group_by(by)
        .agg(
            deals=count,
            matches=pl.col("n").sum(),
            mean=pl.col("mean").first(),
            error=(count / (count - 1) * squares).sqrt() / pl.col("n").sum(),
            skewness=(deviation**3).mean() / variance**1.5,
            # Near 1 if few deals differ from the others (kurtosis), as between agents that play nearly alike.
            alike=(1 - 4 * variance**2 / (deviation**4).mean()).fill_nan(0.0).clip(0, 1),
        )
    )
    freedom = (out["deals"] * (1 - out["alike"]) - 1).clip(1, None)
    quantile = student.ppf(0.975, freedom.to_numpy())
    out = out.with_columns(half=pl.col("error") * pl.Series(quantile), t=pl.Series(quantile))
    return out.with_columns(low=hall_end(0.0, 1), high=hall_end(1.0, -1)).drop("t", "skewness", "alike").sort(by)


def hall_end(bound, sign):
    """An end of the interval of a mean between 0 and 1, as in summary.csv: Hall's (1992) with an unseen deal on the side of the
    bound, which weighs at least 1/4, and more if few deals differ. If all deals agree, a share of them may have been different (Wilson 1927)."""
    mean, error, deals, t, alike = (pl.col(name) for name in ("mean", "error", "deals", "t", "alike"))
    second = error**2 * (deals - 1)
    independent = (deals / pl.col("matches")).sqrt()
    distance = (bound - mean) * (independent + (1 - independent) * alike**2 / 2)
    is_longer = pl.col("skewness") * distance > 0
    third = pl.when(is_longer).then(alike * pl.col("skewness") * second**1.5).otherwise(0.0)
    weight = pl.max_horizontal(alike**2, pl.lit(0.25))
    shift = weight * distance / (deals + weight)
    rest = distance - shift
    wider = (deals * (second + shift**2) + weight * rest**2) / (deals + weight)
    skewed = (deals * (third - 3 * shift * second - shift**3) + weight * rest**3) / (deals + weight)
    slope = skewed / wider**1.5 / (3 * (deals + weight).sqrt())
    root = 1 + 3 * slope * (sign * t - slope / 2)
    end = mean - (wider / (deals - 1)).sqrt() * (root.sign() * root.abs() ** (1 / 3) - 1) / slope
    agreed = mean + t**2 / (t**2 + deals) * (bound - mean)
    return pl.when(error == 0).then(agreed).otherwise(end).clip(0, 1)


def paired(rows, by, one, other, value="rank_points"):
    """The mean difference of two agents and its error, paired by deal, because both played the same cards."""
    deals = rows.group_by(*by, "agent", "deal").agg(pl.col(value).mean())
    pair = deals.filter(agent=one).join(deals.filter(agent=other), on=[*by, "deal"], suffix="_other")
    gap = pair.with_columns(gap=pl.col(value) - pl.col(f"{value}_other"))
    out = gap.group_by(by).agg(
        deals=pl.len(),
        mean=pl.col("gap").mean(),
        error=pl.col("gap").std() / pl.len().sqrt(),
        efficiency=1 - pl.col("gap").var() / (pl.col(value).var() + pl.col(f"{value}_other").var()),
    )
    quantile = student.ppf(0.975, out["deals"].to_numpy() - 1)
    return out.with_columns(half=pl.col("error") * pl.Series(quantile)).sort(by)
