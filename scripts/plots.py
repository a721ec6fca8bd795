"""Plots for the book, drawn with matplotlib for `scripts/results.py`.

Each function takes the data of a plot and the options of its directive, and returns a figure.
"""

import io

import matplotlib as mpl
import numpy as np
from matplotlib import pyplot as plt
from matplotlib.ticker import EngFormatter, PercentFormatter, StrMethodFormatter

# A palette for colour-blind readers (Okabe and Ito 2008, "Color Universal Design").
COLOURS = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000"]
INK, GREY, GRID = "#1f2328", "#59636e", "#e4e7eb"
MARKS = "os^D"

mpl.use("svg")
mpl.rcParams.update(
    {
        "axes.edgecolor": GRID,
        "axes.grid": True,
        "axes.labelcolor": GREY,
        "axes.prop_cycle": mpl.cycler(color=COLOURS),
        "axes.spines.right": False,
        "axes.spines.top": False,
        "figure.constrained_layout.use": True,
        "grid.color": GRID,
        "legend.frameon": False,
        # Text in the font of the page, and the same bytes on every machine.
        "svg.fonttype": "none",
        "svg.hashsalt": "cambio",
        "text.color": INK,
        "xtick.color": GREY,
        "ytick.color": GREY,
    }
)


def svg(figure, options):
    """The text of a figure with the title and subtitle of its directive."""
    figure.suptitle(options["title"] + "\n", x=0.01, ha="left", weight="bold")
    figure.text(0.01, 0.98 - 0.24 / figure.get_figheight(), options["subtitle"], va="top", color=GREY)
    file = io.StringIO()
    figure.savefig(file, format="svg", metadata={"Date": None, "Creator": None, "Title": options["title"]})
    plt.close(figure)
    return file.getvalue()


def single(options, size=(7.2, 4.4)):
    """A figure with one pair of axes and their names."""
    figure, axes = plt.subplots(figsize=size)
    axes.set(xlabel=options["x"], ylabel=options.get("y"))
    return figure, axes


def par_line(axes, options):
    """The line at the share that is named `equal`."""
    axes.axhline(float(options["par"]), color=INK, linestyle="--", linewidth=1)
    axes.annotate(options["equal"], (0, float(options["par"])), (6, 5), axes.get_yaxis_transform(), "offset points")


def iterations(lines, options):
    """Exploitability by iterations on logarithmic axes: the mean over seeds, with a bar from minimum to maximum.

    `lines` maps labels to values by number of iterations; 0 iterations is an agent without search.
    """
    figure, axes = single(options)
    floor = 1e-4
    for number, (label, found) in enumerate(lines.items()):
        means = {count: max(np.mean(values), floor) for count, values in sorted(found.items())}
        if 0 in means:
            axes.axhline(means[0], color=COLOURS[number], linestyle="--", label=label)
            continue
        mean = np.array(list(means.values()))
        ends = np.maximum([(min(found[count]), max(found[count])) for count in means], floor)
        bars = np.abs(ends - mean[:, None]).T
        axes.errorbar(
            list(means), mean, bars, marker=MARKS[number % 4], color=COLOURS[number], markerfacecolor="white", label=label
        )
    axes.set(xscale="log", yscale="log", ylim=(0.9 * floor, 1))
    axes.set_yticks([floor, 1e-3, 1e-2, 0.1, 1], [f"≤ {floor:.4f}", "0.001", "0.01", "0.1", "1"])
    axes.xaxis.set_major_formatter(StrMethodFormatter("{x:,.0f}"))
    figure.legend(loc="outside right center")
    return svg(figure, options)


def budgets(groups, options):
    """Strength against the time per decision. `groups` maps labels to points (seconds, mean, low, high)."""
    figure, axes = single(options)
    for number, (label, points) in enumerate(groups.items()):
        budget, mean, low, high = map(np.array, zip(*points))
        axes.errorbar(budget, mean, (mean - low, high - mean), marker=MARKS[number % 4], label=label)
    par_line(axes, options)
    axes.set(xscale="log")
    axes.xaxis.set_major_formatter(EngFormatter("s"))
    axes.xaxis.set_minor_formatter("")
    axes.yaxis.set_major_formatter(PercentFormatter(1, 0, None))
    figure.legend(loc="outside right center")
    return svg(figure, options)


def chart(cells, options):
    """A chart of cells in panels side by side. `cells` maps (panel, column, row) to (value, low, high); rows are the lower ends of
    pairs of points. A cell is orange if the value is above 0, blue if it is below, and white if the interval contains 0."""
    panels = [part.split("=", 1) for part in options["panels"].split("|")]
    columns, rows = options["columns"].split(";"), sorted({row for _, _, row in cells})
    figure, row_of_axes = plt.subplots(1, len(panels), sharey=True, figsize=(2.1 * len(panels), 0.27 * len(rows) + 2))
    for axes, (panel, label) in zip(row_of_axes, panels):
        for (of_panel, column, row), (value, low, high) in cells.items():
            if of_panel != panel or column not in columns:
                continue
            x, y, shade = columns.index(column), rows.index(row), min(1.0, 0.16 + 4 * abs(value))
            is_shown = not low <= 0 <= high
            colour = ("#d55e00" if value > 0 else "#0072b2", shade) if is_shown else "white"
            axes.add_patch(plt.Rectangle((x - 0.46, y - 0.44), 0.92, 0.88, facecolor=colour, edgecolor=GRID))
            text = f"{round(100 * value):+d}".replace("-", "−").replace("+0", "0")
            axes.text(x, y, text, ha="center", va="center_baseline", color="white" if is_shown and shade > 0.6 else INK)
        axes.set_xticks(range(len(columns)), columns)
        axes.set(xlim=(-0.6, len(columns) - 0.4), ylim=(len(rows) - 0.4, -0.6))
        axes.set_xlabel(label, color=INK)
        axes.tick_params(length=0)
        axes.grid(visible=False)
        axes.spines[:].set_visible(False)
    row_of_axes[0].set_yticks(range(len(rows)), [f"{row} to {row + 1}".replace("-", "−") for row in rows])
    figure.supylabel(options["y"], color=GREY, size=10)
    figure.supxlabel(f"{options['x']}\n{options['legend']}", color=GREY, size=10)
    return svg(figure, options)


def card(limits, options):
    """A card to print: for each number of players the points at which to call. `limits` maps the rules to texts by number of players;
    `notes=TEXT|…` explains the points of the cards."""
    figure, axes = plt.subplots(figsize=(4.13, 2.9))
    axes.axis("off")
    players = list(next(iter(limits.values())))
    columns = [0.42 + 0.22 * place for place in range(len(players))]
    write = lambda x, y, text, **how: axes.text(x, y, text, transform=axes.transAxes, va="center", **how)
    write(0, 0.8, "players", color=GREY)
    for x, number in zip(columns, players):
        write(x, 0.8, number, ha="center", color=GREY)
    for place, (rules, cells) in enumerate(limits.items()):
        y = 0.56 - 0.25 * place
        axes.plot((0, 1), (y + 0.14, y + 0.14), color=GRID, transform=axes.transAxes)
        write(0, y, rules, weight="bold")
        for x, number in zip(columns, players):
            write(x, y, cells[number], ha="center", size=26, color=COLOURS[1])
    for place, note in enumerate(options["notes"].split("|")):
        write(0, 0.3 - 0.12 * place, note, size=8, color=GREY)
    return svg(figure, options)
