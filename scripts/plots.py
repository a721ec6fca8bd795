"""SVG plots for the book, used by `scripts/results.py`. Needs only Python's standard library."""

import math
from html import escape

# A palette for colour-blind readers (Okabe and Ito 2008, "Color Universal Design").
COLOURS = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000"]
INK, GREY, GRID = "#1f2328", "#59636e", "#e4e7eb"


class Canvas:
    """A white panel with rounded corners and a title. Text uses the reader's default sans-serif font."""

    def __init__(self, width, height, title, subtitle=""):
        self.width, self.height = width, height
        self.parts = [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" '
            'font-family="system-ui, -apple-system, Segoe UI, Helvetica, Arial, sans-serif" role="img">',
            f"<title>{escape(title)}</title>",
            f'<rect x="0.5" y="0.5" width="{width - 1}" height="{height - 1}" rx="8" fill="#ffffff" stroke="#d1d9e0"/>',
        ]
        if title:
            self.text(24, 36, title, size=18, weight=600)
        if subtitle:
            self.text(24, 58, subtitle, size=13, colour=GREY)

    def text(self, x, y, text, size=12, colour=INK, anchor="start", weight=400, turn=None):
        turned = f' transform="rotate({turn} {x:.1f} {y:.1f})"' if turn else ""
        self.parts.append(
            f'<text x="{x:.1f}" y="{y:.1f}" font-size="{size}" fill="{colour}" text-anchor="{anchor}" '
            f'font-weight="{weight}"{turned}>{escape(text)}</text>'
        )

    def line(self, x1, y1, x2, y2, colour=GRID, width=1, dash=None):
        dashed = f' stroke-dasharray="{dash}"' if dash else ""
        self.parts.append(
            f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" stroke="{colour}" stroke-width="{width}"{dashed}/>'
        )

    def path(self, points, colour, width=2, dash=None):
        steps = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
        dashed = f' stroke-dasharray="{dash}"' if dash else ""
        self.parts.append(f'<polyline points="{steps}" fill="none" stroke="{colour}" stroke-width="{width}"{dashed}/>')

    def area(self, points, colour, opacity=0.15):
        steps = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
        self.parts.append(f'<polygon points="{steps}" fill="{colour}" fill-opacity="{opacity}"/>')

    def mark(self, x, y, colour, shape=0, filled=False, size=4):
        fill = colour if filled else "#ffffff"
        style = f'fill="{fill}" stroke="{colour}" stroke-width="1.6"'
        corners = {
            1: [(-1, 1), (1, 1), (0, -1.2)],
            2: [(-1, -1), (1, -1), (1, 1), (-1, 1)],
            3: [(0, -1.3), (1.3, 0), (0, 1.3), (-1.3, 0)],
        }
        if shape % 4 == 0:
            self.parts.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{size}" {style}/>')
        else:
            steps = " ".join(f"{x + dx * size:.1f},{y + dy * size:.1f}" for dx, dy in corners[shape % 4])
            self.parts.append(f'<polygon points="{steps}" {style}/>')

    def done(self):
        return "\n".join([*self.parts, "</svg>", ""])


def ticks(low, high, count=6):
    """Round values between two bounds."""
    rough = (high - low) / count
    power = 10 ** math.floor(math.log10(rough))
    step = next(power * factor for factor in (1, 2, 2.5, 5, 10) if power * factor >= rough)
    first = math.ceil(low / step)
    return [step * number for number in range(first, math.floor(high / step) + 1)]


def signed(value):
    text = f"{value:g}"
    return text.replace("-", "−")


def apart(wanted, gap, low, high):
    """Moves overlapping labels apart: first upwards until each gap is kept, then back within the bounds."""
    order = sorted(range(len(wanted)), key=lambda place: wanted[place])
    places = [0.0] * len(wanted)
    last = low - gap
    for place in order:
        last = max(wanted[place], last + gap)
        places[place] = last
    limit = high
    for place in reversed(order):
        places[place] = min(places[place], limit)
        limit = places[place] - gap
    return places


def captions(canvas, options, left, right, top, bottom):
    """The names of the two axes of a plot with these margins."""
    x, y = (left + canvas.width - right) / 2, (top + canvas.height - bottom) / 2
    canvas.text(x, canvas.height - 14, options["x"], colour=GREY, anchor="middle", size=13)
    canvas.text(20, y, options["y"], colour=GREY, anchor="middle", size=13, turn=-90)


def percent_lines(canvas, values, y, left, right):
    """A horizontal line for each value, with the value in percent."""
    for value in values:
        canvas.line(left, y(value), canvas.width - right, y(value))
        canvas.text(left - 10, y(value) + 4, f"{round(100 * value, 6):g}", colour=GREY, anchor="end")


def labels(canvas, names, places, x):
    """The names of lines, beside their ends."""
    for number, (name, place) in enumerate(zip(names, places)):
        canvas.text(x, place + 4, name, colour=COLOURS[number % len(COLOURS)], weight=600)


def curves(lines, options):
    """Response curves: a line through the means, the simultaneous band, and filled marks for values among the best.

    `lines` contains labels with points (value, mean, low, high, low_simultaneous, high_simultaneous, is_among_best).
    """
    width, height, left, right, top, bottom = 720, 420, 70, 92, 84, 56
    canvas = Canvas(width, height, options["title"], options.get("subtitle", ""))
    xs = [point[0] for _, points in lines for point in points]
    low = min(point[4] for _, points in lines for point in points)
    high = max(point[5] for _, points in lines for point in points)
    pad = 0.04 * (high - low)
    low, high = low - pad, high + pad
    x = lambda value: left + (value - min(xs)) / (max(xs) - min(xs)) * (width - left - right)
    y = lambda value: height - bottom - (value - low) / (high - low) * (height - top - bottom)
    percent_lines(canvas, ticks(low, high), y, left, right)
    for value in ticks(min(xs), max(xs), 12):
        canvas.text(x(value), height - bottom + 20, signed(value), colour=GREY, anchor="middle")
    captions(canvas, options, left, right, top, bottom)
    if "mark" in options:
        at, words = options["mark"].split("=", 1)
        canvas.line(x(float(at)), top, x(float(at)), height - bottom, colour=GREY, dash="3 4")
        canvas.text(x(float(at)) + 6, height - bottom - 8, words, colour=GREY)
    for number, (_, points) in enumerate(lines):
        colour = COLOURS[number]
        band = [(x(p[0]), y(p[5])) for p in points] + [(x(p[0]), y(p[4])) for p in reversed(points)]
        canvas.area(band, colour)
    for number, (_, points) in enumerate(lines):
        colour = COLOURS[number]
        canvas.path([(x(p[0]), y(p[1])) for p in points], colour)
        best = max(points, key=lambda p: p[1])
        for p in points:
            near = p[6] or p is best
            canvas.mark(x(p[0]), y(p[1]), colour, number, filled=near, size=5 if near else 3)
    ends = apart([y(points[-1][1]) for _, points in lines], 18, top, height - bottom)
    for number, (label, _) in enumerate(lines):
        canvas.text(width - right + 12, ends[number] + 4, label, colour=COLOURS[number], size=14, weight=600)
    return canvas.done()


def intervals(rows, options):
    """The mean and interval of each agent, in the order of `rows`: (agent, mean, low, high)."""
    right, top, step = 110, 74, 24
    left = max([290] + [24 + 7 * len(row[0]) for row in rows])
    width = left + 430
    height = top + step * len(rows) + 50
    canvas = Canvas(width, height, options["title"], options.get("subtitle", ""))
    low, high = min(row[2] for row in rows), max(row[3] for row in rows)
    pad = 0.03 * (high - low)
    low, high = low - pad, high + pad
    x = lambda value: left + (value - low) / (high - low) * (width - left - right)
    for value in ticks(low, high):
        canvas.line(x(value), top - 6, x(value), height - 44)
        canvas.text(x(value), height - 26, f"{round(100 * value, 6):g}", colour=GREY, anchor="middle")
    if "par" in options and low < float(options["par"]) < high:
        canvas.line(x(float(options["par"])), top - 6, x(float(options["par"])), height - 44, colour=INK, dash="4 3")
    canvas.text((left + width - right) / 2, height - 8, options["x"], colour=GREY, anchor="middle")
    for number, (agent, mean, least, most) in enumerate(rows):
        at = top + step * number + 10
        canvas.text(24, at + 4, agent)
        canvas.line(x(least), at, x(most), at, colour=COLOURS[0], width=4)
        canvas.mark(x(mean), at, COLOURS[0], filled=True)
        canvas.text(width - 20, at + 4, f"{100 * mean:.1f} ± {50 * (most - least):.1f}", colour=GREY, anchor="end")
    return canvas.done()


def iterations(lines, options):
    """Exploitability by iterations on logarithmic axes: the mean over seeds, with a bar from minimum to maximum.

    `lines` maps labels to values by number of iterations; 0 iterations is an agent without search.
    """
    width, height, left, right, top, bottom = 720, 420, 70, 150, 84, 56
    floor = 1e-4
    canvas = Canvas(width, height, options["title"], options.get("subtitle", ""))
    counts = sorted({count for found in lines.values() for count in found if count})
    first, last = math.log10(counts[0]), math.log10(counts[-1])
    x = lambda count: left + 14 + (math.log10(count) - first) / (last - first) * (width - left - right - 28)
    y = lambda value: height - bottom - (math.log10(max(value, floor)) + 4) / 4 * (height - top - bottom)
    for power in range(-4, 1):
        canvas.line(left, y(10**power), width - right, y(10**power))
        canvas.text(left - 10, y(10**power) + 4, ("≤ " if power == -4 else "") + f"{10**power:g}", colour=GREY, anchor="end")
    for count in counts:
        canvas.text(x(count), height - bottom + 20, f"{count:,}", colour=GREY, anchor="middle")
    captions(canvas, options, left, right, top, bottom)
    ends = []
    for number, found in enumerate(lines.values()):
        colour = COLOURS[number % len(COLOURS)]
        if 0 in found:
            value = sum(found[0]) / len(found[0])
            canvas.line(left, y(value), width - right, y(value), colour=colour, width=2, dash="6 4")
            ends.append(y(value))
            continue
        means = []
        for count in sorted(found):
            # Shift the bars, so that they do not overlap.
            at = x(count) + 4 * (number - 1.5)
            canvas.line(at, y(min(found[count])), at, y(max(found[count])), colour=colour)
            means.append((at, y(sum(found[count]) / len(found[count]))))
        canvas.path(means, colour)
        for at, mean in means:
            canvas.mark(at, mean, colour, number, filled=False)
        ends.append(means[-1][1])
    labels(canvas, lines, apart(ends, 17, top, height - bottom), width - right + 10)
    return canvas.done()


def time_of(power):
    """The name of 10 ** power seconds."""
    unit, size = next((unit, size) for unit, size in (("s", 0), ("ms", -3), ("µs", -6), ("ns", -9)) if power >= size)
    return f"{10 ** (power - size)} {unit}"


def budgets(groups, options, name_of=time_of):
    """Strength against a budget on a logarithmic axis, by default the time per decision in seconds. `groups` maps labels to points
    (budget, mean, low, high). `name_of` gives the name of a power of ten."""
    width, height, left, right, top, bottom = 720, 420, 70, 190, 84, 56
    canvas = Canvas(width, height, options["title"], options.get("subtitle", ""))
    points = [point for group in groups.values() for point in group]
    par = [float(options["par"])] if "par" in options else []
    low, high = min([point[2] for point in points] + par), max([point[3] for point in points] + par)
    pad = 0.04 * (high - low)
    low, high = low - pad, high + pad
    first = math.floor(math.log10(min(point[0] for point in points)))
    last = math.ceil(math.log10(max(point[0] for point in points)))
    x = lambda budget: left + (math.log10(budget) - first) / (last - first) * (width - left - right)
    y = lambda value: height - bottom - (value - low) / (high - low) * (height - top - bottom)
    percent_lines(canvas, ticks(low, high), y, left, right)
    for power in range(first, last + 1):
        canvas.line(x(10**power), top, x(10**power), height - bottom)
        canvas.text(x(10**power), height - bottom + 20, name_of(power), colour=GREY, anchor="middle")
    for value in par:
        canvas.line(left, y(value), width - right, y(value), colour=INK, dash="4 3")
        canvas.text(left + 8, y(value) - 7, options["equal"], colour=INK)
    captions(canvas, options, left, right, top, bottom)
    for number, group in enumerate(groups.values()):
        colour = COLOURS[number % len(COLOURS)]
        canvas.path([(x(point[0]), y(point[1])) for point in group], colour)
        for budget, mean, least, most in group:
            canvas.line(x(budget), y(least), x(budget), y(most), colour=colour)
            canvas.mark(x(budget), y(mean), colour, number, filled=True)
    ends = apart([y(group[-1][1]) for group in groups.values()], 17, top, height - bottom)
    labels(canvas, groups, ends, width - right + 10)
    return canvas.done()


def chart(cells, options):
    """A chart of cells in panels side by side. `cells` maps (panel, column, row) to (value, low, high); rows are the lower ends of
    pairs of points. A cell is orange if the value is above 0, blue if it is below, and white if the interval contains 0."""
    panels = [part.split("=", 1) for part in options["panels"].split("|")]
    columns = options["columns"].split(";")
    rows = sorted({row for _, _, row in cells})
    left, top, width, size = 104, 118, 42, 26
    gap = 34
    height = top + size * len(rows) + 62
    full = left + len(panels) * len(columns) * width + (len(panels) - 1) * gap + 24
    canvas = Canvas(full, height, options["title"], options.get("subtitle", ""))
    for number, row in enumerate(rows):
        canvas.text(left - 12, top + size * number + 17, f"{signed(row)} to {signed(row + 1)}", colour=GREY, anchor="end")
    canvas.text(24, top + size * len(rows) / 2, options["y"], colour=GREY, anchor="middle", size=13, turn=-90)
    for place, (panel, label) in enumerate(panels):
        start = left + place * (len(columns) * width + gap)
        canvas.text(start + len(columns) * width / 2, top - 30, label, anchor="middle", size=14, weight=600)
        for at, column in enumerate(columns):
            canvas.text(start + at * width + width / 2, top - 10, column, colour=GREY, anchor="middle")
            for number, row in enumerate(rows):
                if (panel, column, row) not in cells:
                    continue
                value, low, high = cells[panel, column, row]
                colour = "#ffffff" if low <= 0 <= high else "#d55e00" if value > 0 else "#0072b2"
                shade = min(1.0, 0.16 + 4 * abs(value))
                x, y = start + at * width, top + size * number
                canvas.parts.append(
                    f'<rect x="{x + 1}" y="{y + 1}" width="{width - 2}" height="{size - 2}" rx="3" fill="{colour}" '
                    f'fill-opacity="{shade if colour != "#ffffff" else 1:.2f}" stroke="{GRID}"/>'
                )
                ink = "#ffffff" if colour != "#ffffff" and shade > 0.6 else INK
                text = f"{100 * value:+.0f}".replace("-", "−")
                canvas.text(x + width / 2, y + 17, "0" if text in ("+0", "−0") else text, colour=ink, anchor="middle")
    canvas.text((left + full - 24) / 2, height - 34, options["x"], colour=GREY, anchor="middle", size=13)
    canvas.text((left + full - 24) / 2, height - 14, options["legend"], colour=INK, anchor="middle", size=13)
    return canvas.done()
