#!/usr/bin/env python3
"""Tests the web application in a real browser, with mouse clicks and keys.

    scripts/browser.py [CAMBIO]             CAMBIO is the command; target/release/cambio or target/debug/cambio by default
    scripts/browser.py --only WORD          runs only the checks whose names contain the word
    scripts/browser.py --pictures FOLDER    also writes the screenshots for the book into FOLDER

Needs chromium, which it installs with apt-get if it is root, and two packages of PyPI, which it installs into
target/browser-venv. If they cannot be installed, it prints a message and skips all checks. Exits with 1 if a check fails.

The same checks run against `cambio serve` and against the site without a server (`scripts/website.py`), which needs the Rust target
wasm32-unknown-unknown. Each has some more checks: a restart of the server and its run folders; a slow connection, published runs, links
and offline.
"""

import argparse
import contextlib
import functools
import http.server
import json
import os
import random
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import website

ROOT = Path(__file__).resolve().parent.parent
TARGET = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
HOME = TARGET / "browser-venv"
PACKAGES = ["playwright==1.65.2", "axe-playwright-python==0.1.8"]
PRESETS = ["original", "original-b", "original-c", "original-d", "faessler", "classic"]


# -------------------------------------------------------------------------------------------------------- requirements


def leave_out(why):
    print(f"skipped: {why}")
    sys.exit(0)


def chromium():
    """The path of the browser, which is installed if possible."""
    find = lambda: shutil.which("chromium") or shutil.which("chromium-browser")
    if not find() and shutil.which("apt-get") and os.geteuid() == 0:
        print("installing chromium", file=sys.stderr)
        install = "apt-get update -q; apt-get install -yq --no-install-recommends chromium fonts-dejavu-core"
        with contextlib.suppress(OSError, subprocess.TimeoutExpired):
            environment = os.environ | {"DEBIAN_FRONTEND": "noninteractive"}
            subprocess.run(["sh", "-c", install], check=False, timeout=420, capture_output=True, env=environment)
    return find() or leave_out("chromium cannot be installed")


def own_python():
    """Restarts the script in a virtual environment that has the packages."""
    python = HOME / "bin/python"
    done = HOME / "packages.txt"
    if Path(sys.prefix) == HOME.resolve() or os.environ.get("CAMBIO_BROWSER_VENV"):
        return
    if not done.exists() or done.read_text() != repr(PACKAGES):
        try:
            subprocess.run([sys.executable, "-m", "venv", "--clear", HOME], check=True, timeout=120, capture_output=True)
            subprocess.run(
                [python, "-m", "pip", "install", "--quiet", "--retries", "1", "--timeout", "30", *PACKAGES],
                check=True,
                timeout=300,
                capture_output=True,
            )
        except (OSError, subprocess.SubprocessError):
            leave_out(f"{', '.join(PACKAGES)} cannot be installed")
        done.write_text(repr(PACKAGES))
    os.execve(python, [str(python), *sys.argv], os.environ | {"CAMBIO_BROWSER_VENV": "1"})


# ---------------------------------------------------------------------------------------------------------- a person


class Failure(Exception):
    pass


def expect(holds, what):
    if not holds:
        raise Failure(what)


HOLDS = "document.querySelector('.question')?.textContent.startsWith('You hold')"
ANALYSED = "document.querySelector('.chances progress').hidden && document.querySelector('.costs')"


def until(page, expression, arg=None, seconds=30):
    """Waits until an expression is true. Polls from Python, because the pages' content security policy forbids eval."""
    end = time.monotonic() + seconds
    while not page.evaluate(expression, arg):
        expect(
            time.monotonic() < end, f"still false after {seconds} s: {expression}; the page shows: {page.inner_text('main')[:600]}"
        )
        time.sleep(0.015)


# Sends a request to the server, or to the program in the page.
TRANSPORT = "(await import(new URL('assets/transport.js', document.baseURI)))"
ASK = f"async ([path, body]) => {TRANSPORT}.ask(path, body)"
OPEN = f"async (request) => {TRANSPORT}.openTable(request)"
RECORD = f"async (table) => {TRANSPORT}.recordOf(table)"


class Person:
    """A person at a table who decides at random, with clicks or keys."""

    def __init__(self, page, seed, keys_only=False, calls=0.5, passes=0.85):
        self.page, self.random, self.keys_only = page, random.Random(seed), keys_only
        self.decisions, self.calls, self.passes = 0, calls, passes

    def sit(self, address, rules, opponents, **options):
        page = self.page
        body = {"rules": rules, "opponents": opponents, "notes": True, "practice": True, "seed": "7"} | options
        page.goto(address)
        self.table = page.evaluate(OPEN, body)
        page.evaluate("localStorage.setItem('cambio.pace', '\"at once\"'); localStorage.setItem('cambio.windows', '\"always\"')")
        page.goto(f"{address}play.html?table={self.table}")

    def wait(self):
        """Waits until a decision is needed or a round has ended. Returns the possible actions."""
        until(
            self.page,
            "document.querySelector('.result[open]') || document.querySelector('.bar button') || document.querySelector('.card.offered')",
        )
        return self.page.evaluate(
            """() => ({
                question: document.querySelector('.question').textContent,
                isOver: Boolean(document.querySelector('.result[open] #again')),
                hasEnded: Boolean(document.querySelector('.result[open]')),
                verbs: [...document.querySelectorAll('.bar button[data-verb]')].map((button) => button.dataset.verb),
                cards: [...document.querySelectorAll('.card.offered')].map((card) => card.dataset.place),
            })"""
        )

    def decide(self, can):
        page, dice = self.page, self.random
        self.decisions += 1
        look = "document.querySelector('.log').childElementCount + document.querySelector('.question').textContent + [...document.querySelectorAll('.card.offered')].map((card) => card.dataset.place)"
        before = page.evaluate(look)
        if "call" in can["verbs"] and dice.random() < self.calls:
            page.keyboard.press("c")
        elif "pass" in can["verbs"] and dice.random() < self.passes:
            page.keyboard.press("p") if self.keys_only or dice.random() < 0.5 else page.click('[data-verb="pass"]')
        elif can["cards"] and (not can["verbs"] or dice.random() < 0.6):
            place = dice.choice(can["cards"])
            self.choose(place)
            # If this was the first card of a swap, choose the second card.
            if "with which card?" in page.text_content(".question"):
                others = [card for card in self.wait()["cards"] if card != place]
                if others:
                    self.choose(dice.choice(others))
        else:
            keys = {"draw": "d", "take": "t", "call": "c", "end": "e", "drop": "x", "skip": "s", "pass": "p"}
            verb = dice.choice([verb for verb in can["verbs"] if verb != "call"] or ["call"])
            page.keyboard.press(keys[verb]) if self.keys_only or dice.random() < 0.5 else page.click(f'[data-verb="{verb}"]')
        # A call, or a snap of a card that is not known to match, needs a confirmation after the time of a double click.
        if page.locator("[data-confirm]").count():
            page.wait_for_timeout(550)
            page.keyboard.press("Enter") if self.keys_only or dice.random() < 0.5 else page.click("[data-confirm]")
        # Wait until the page shows the result of the decision.
        until(
            page,
            f"(before) => {look} !== before || document.querySelector('.result[open]') || document.querySelector('.bar button')",
            before,
        )

    def choose(self, place):
        own = self.page.evaluate("document.querySelector('.own .seat').dataset.seat")
        if place[0] == own and place[1:] in "123456789" and (self.keys_only or self.random.random() < 0.5):
            self.page.keyboard.press(place[1:])
        elif self.keys_only:
            self.page.focus(f'[data-place="{place}"]')
            self.page.keyboard.press("Enter")
        else:
            self.page.click(f'[data-place="{place}"]')

    def play(self, most=2000, stop=lambda can: False):
        """Plays until the match is over. Returns the number of decisions."""
        for _ in range(most):
            can = self.wait()
            if can["isOver"] or stop(can):
                return self.decisions
            if can["hasEnded"]:
                self.page.keyboard.press("Enter") if self.random.random() < 0.5 else self.page.click("#next")
                until(self.page, "!document.querySelector('.result[open]')")
            elif can["verbs"] or can["cards"]:
                self.decide(can)
        raise Failure(f"the match is not over after {most} steps: {can}")


# ------------------------------------------------------------------------------------------------------------ checks


class Pages:
    """The pages of a server or of the site, with a browser."""

    def __init__(self, browser, address, cambio, folder, axe):
        self.browser, self.address, self.cambio, self.folder, self.axe = browser, address, cambio, folder, axe

    def page(self, width=1280, scheme="light", height=850, **options):
        """A new page. Closes the pages before it."""
        for context in self.browser.contexts:
            context.close()
        context = self.browser.new_context(viewport={"width": width, "height": height}, color_scheme=scheme, **options)
        page = context.new_page()
        self.errors = []
        page.on("pageerror", lambda error: self.errors.append(str(error)))
        page.on("console", lambda said: self.errors.append(said.text) if said.type == "error" and "409" not in said.text else None)
        return page

    def table(self, rules, opponents, seed, calls=0.5, passes=0.85, width=1280, scheme="light", height=850, **options):
        """A new page with a person at a new table."""
        page = self.page(width, scheme, height)
        person = Person(page, seed, calls=calls, passes=passes)
        person.sit(self.address, rules, opponents, **options)
        return page, person

    def is_well(self, page, where):
        """Checks that nothing overflows, that axe-core has no serious finding, and that no script failed."""
        wide = page.evaluate("[document.documentElement.scrollWidth, innerWidth]")
        expect(wide[0] <= wide[1], f"{where}: the page is {wide[0]} px wide, the window {wide[1]} px")
        # The content security policy blocks scripts, so axe-core is injected through the debugger.
        page.evaluate(self.axe)
        found = page.evaluate(
            "async () => (await axe.run()).violations.map(({id, impact, nodes}) => [impact, id, nodes[0].html, nodes[0].failureSummary])"
        )
        grave = [finding for finding in found if finding[0] in ("serious", "critical")]
        expect(not grave, f"{where}: {json.dumps(grave, indent=1)}")
        expect(not self.errors, f"{where}: {self.errors}")

    def passes(self, record):
        """Checks a file with one record by `cambio replay`."""
        replayed = subprocess.run([self.cambio, "replay", record], check=False, capture_output=True, text=True)
        expect(replayed.stdout == "1 passed, 0 failed\n", f"{record.name}: {replayed.stdout}{replayed.stderr}")

    def has_names(self, page, where):
        """Checks that the texts beside a table name players and cards as the table does, without the letters of seats."""
        texts = page.locator(".side, .caption, .legend, .chances").all_inner_texts()
        found = re.findall(r"\b[a-h]\d\b.*|\b[b-h] [a-z]+.*|\b[a-h]['’].*", "\n".join(texts))
        found = [one for one in found if "changes the view" not in one and "goes to the next" not in one]
        expect(not found, f"{where}: letters of seats instead of names: {found}")

    def watch(self, page, line):
        """Opens a match of the run's records from its file."""
        page.goto(f"{self.address}watch.html")
        page.fill("[aria-label='Number of the match in the file']", str(line))
        page.set_input_files("input[type=file]", self.folder / "runs/one/records.jsonl")
        page.wait_for_selector(".caption")

    def pictures(self, folder):
        """Writes the screenshots for the book."""
        for name, width, scheme in [("table", 1280, "light"), ("table-dark", 400, "dark")]:
            page = self.page(width, scheme, reduced_motion="reduce")
            person = Person(page, 2, calls=0)
            person.sit(self.address, "classic", ["greedy", "greedy"])
            person.play(stop=lambda can: person.decisions >= 4 and can["cards"] and "hold" in can["question"])
            page.wait_for_timeout(1800)
            page.screenshot(path=folder / f"{name}.png", clip={"x": 0, "y": 0, "width": width, "height": 850})
        page = self.page()
        page.goto(f"file://{self.folder}/match.html#round=1&decision=22")
        page.wait_for_timeout(300)
        page.screenshot(path=folder / "watch.png", clip={"x": 0, "y": 0, "width": 1280, "height": 850})
        page = self.page()
        self.watch(page, 11)
        page.click("text=Analyse this round")
        until(page, "document.querySelector('.chances progress').hidden", seconds=180)
        page.keyboard.press("b")
        page.select_option(".row label select >> nth=-1", "learned")
        page.click("text=Explain this decision")
        expect("If the cards were counted now, " in page.text_content(".outlook"), page.text_content(".outlook"))
        until(page, "document.querySelectorAll('.beliefs .strip').length > 3")
        page.wait_for_timeout(500)
        page.screenshot(path=folder / "understand.png", full_page=True, clip={"x": 0, "y": 480, "width": 1280, "height": 850})
        page.locator(".chances").screenshot(path=folder / "luck.png")


class Checks(Pages):
    """The checks of the pages, whatever answers their requests. Every method is a check."""

    def matches_of_every_preset(self):
        """A whole match on each preset against two agents, with clicks and keys, in both widths and colour schemes."""
        counts = []
        for number, preset in enumerate(PRESETS):
            width, scheme = [(1280, "light"), (400, "dark")][number % 2]
            # Rare calls for a single long round, frequent calls for several short rounds.
            calls, notes = 0.15 if preset == "classic" else 0.6, number % 3 != 2
            page, person = self.table(preset, ["greedy", "heuristic"], number, calls, width=width, scheme=scheme, notes=notes)
            decisions = person.play()
            unnamed = page.evaluate(
                """() => [...document.querySelectorAll('.seat')].filter((seat) => seat.querySelector('.total').textContent && !seat.getAttribute('aria-label').includes(', total '))
                    .concat(...document.querySelectorAll('.minis .card:not([title])'), ...document.querySelectorAll('.cell:not([title])')).map((one) => one.outerHTML.slice(0, 200))"""
            )
            expect(not unnamed, f"{preset}: numbers without a name at the end: {unnamed}")
            expect("points" in page.text_content(".result > .facts"), f"{preset}: the result does not explain the numbers on cards")
            if preset == "classic":
                totals = page.locator(".seat .total:not(:empty)").all_text_contents()
                expect(not totals, f"a match of one round shows totals: {totals}")
            hidden = page.evaluate("document.querySelectorAll('.seat .card:not(.up)').length")
            expect(hidden == 0, f"{preset}: {hidden} cards are face down at the end")
            self.is_well(page, f"the end of {preset}")
            file = self.folder / f"{preset}.jsonl"
            file.write_text(page.evaluate(RECORD, person.table))
            self.passes(file)
            counts.append(f"{preset} {decisions}")
        return f"decisions by clicks and keys: {', '.join(counts)}"

    def keys_alone(self):
        """A guided match without a mouse, from the first page to the end."""
        page = self.page()
        page.goto(self.address)
        page.evaluate("localStorage.setItem('cambio.pace', '\"at once\"')")
        page.wait_for_selector("#deal")
        for _ in range(40):
            page.keyboard.press("Tab")
            if page.evaluate("document.activeElement.id") == "deal":
                break
        expect(page.evaluate("document.activeElement.id") == "deal", "Tab does not reach the button `#deal`")
        shown = page.evaluate("getComputedStyle(document.activeElement).outlineStyle")
        expect(shown != "none", "the focus is not visible")
        page.keyboard.press("Enter")
        page.wait_for_selector(".question")
        person = Person(page, 5, keys_only=True, calls=0.1)
        person.wait()
        expect("Your cards" in page.text_content(".guide"), "the guide does not begin")
        shown = []

        def note():
            step = [page.text_content(f".guide {part}") for part in (".progress", "b")]
            if step[0] and step not in shown:
                shown.append(step)

        decisions = person.play(stop=lambda can: note())
        note()
        expect([number for number, _ in shown] == [f"Step {number + 1}" for number in range(len(shown))], shown)
        expect(len(shown) > 3 and len(dict(map(reversed, shown))) == len(shown), f"a topic comes twice: {shown}")
        expect(shown[-1][1] == "The score", f"the guide does not end with the score: {shown}")
        self.is_well(page, "the end of the guide")
        return f"{decisions} decisions, the guide: {', '.join(topic for _, topic in shown)}"

    def a_page_that_is_loaded_again(self):
        page, person = self.table("classic", ["greedy", "sharp"], seed=11, calls=0)
        for _ in range(4):
            person.play(stop=lambda can: person.decisions % 3 == 2)
            person.decisions += 1
            look = lambda: page.evaluate(
                "[[...document.querySelectorAll('.board .card')].map((card) => card.getAttribute('aria-label')), document.querySelector('.question').textContent]"
            )
            before = look()
            page.reload()
            person.wait()
            expect(look() == before, f"after reloading: {look()}, before: {before}")
        return "4 times"

    def two_tabs(self):
        """A table is open in one tab at a time. Another tab gets it with a button, or when the first tab is closed."""
        one, person = self.table("classic", ["greedy"], 3)
        person.wait()
        look = "[[...document.querySelectorAll('.board .card')].map((card) => card.getAttribute('aria-label')), document.querySelector('.question')?.textContent]"
        other = one.context.new_page()
        other.goto(f"{self.address}play.html?table={person.table}")
        other.wait_for_selector("#take")
        self.is_well(other, "a table of another tab")
        one.keyboard.press("d")
        until(one, HOLDS)
        held = one.evaluate(look)
        other.click("#take")
        until(other, HOLDS)
        expect(other.evaluate(look) == held, f"the other tab shows {other.evaluate(look)}, not {held}")
        one.wait_for_selector("#take")
        other.keyboard.press("x")
        until(other, f"!{HOLDS}")
        Person(other, 0).wait()
        left = other.evaluate(look)
        other.close()
        Person(one, 0).wait()
        expect(one.evaluate(look) == left, f"the first tab shows {one.evaluate(look)}, not {left}")
        one.reload()
        Person(one, 0).wait()
        return "taken with a button, and when a tab is closed"

    def hints_and_taking_back(self):
        page, person = self.table("classic", ["greedy", "heuristic"], seed=3)
        person.wait()
        page.keyboard.press("d")
        until(page, HOLDS)
        held = page.text_content(".question")
        page.keyboard.press("h")
        until(page, "document.querySelector('.hint-line').textContent.includes('suggests:')")
        hint = page.text_content(".hint-line")
        page.keyboard.press("u")
        until(page, "document.querySelector('[data-verb=draw]')")
        page.keyboard.press("d")
        until(page, HOLDS)
        expect(page.text_content(".question") == held, "the drawn card differs after an undo")
        return hint

    def speed_decides_races(self):
        """Against agents with a reaction time of five seconds, an immediate snap wins every race."""
        page, person = self.table("classic", ["random"] * 5, 21, calls=0, passes=0, reaction=5000)
        races = "[...document.querySelectorAll('.log li')].map((line) => line.textContent).filter((line) => line.startsWith('Fastest: '))"
        person.play(stop=lambda can: can["hasEnded"] or len(page.evaluate(races)) >= 2)
        lines = page.evaluate(races)
        expect(lines and all(line.startswith(("Fastest: you 0.", "Fastest: you 1.")) for line in lines if "you" in line), lines)
        return lines[0]

    def risky_choices(self):
        """A call, and a snap of a card that is not known to match, need a confirmation, and so does the end of the match."""
        page, person = self.table("faessler", ["greedy", "greedy"], seed=4, calls=0, passes=1)
        person.play(stop=lambda can: "call" in can["verbs"])
        lines = lambda: page.evaluate("document.querySelector('.log').childElementCount")
        before = lines()
        page.keyboard.press("c")
        until(page, "document.querySelector('[data-confirm=call]')")
        expect(page.evaluate("document.activeElement.classList.contains('bar')"), "the focus is not in the bar")

        def disarm():
            page.keyboard.press("Escape")
            until(page, "!document.querySelector('[data-confirm]')")

        disarm()
        expect(lines() == before, "one key calls")

        def twice(*presses):
            """Two fast presses leave the confirmation open."""
            before = lines()
            for press in presses:
                press()
            page.wait_for_timeout(150)
            expect(page.locator("[data-confirm]").count() and lines() == before, "the second of two fast presses confirms")
            disarm()

        key = lambda name: lambda: page.keyboard.press(name)
        twice(key("c"), key("c"))
        twice(key("c"), key("Enter"))
        twice(lambda: page.dblclick("[data-verb=call]"))
        twice(key("c"), lambda: page.click("[data-confirm]"))
        risky = lambda: page.evaluate(
            "[...document.querySelectorAll('.card.offered:not(.marked)')].map((card) => card.dataset.place)"
        )
        person.play(stop=lambda can: "pass" in can["verbs"] and risky())
        place, before = risky()[0], lines()
        page.click(f'[data-place="{place}"]')
        until(page, "document.querySelector('[data-confirm]')")
        expect("penalty card" in page.text_content(".question") and lines() == before, "one click snaps an unknown card")
        disarm()
        twice(lambda: page.dblclick(f'[data-place="{place}"]'))
        page.click(f'[data-place="{place}"]')
        page.wait_for_timeout(550)
        page.click(f'[data-place="{place}"]')
        until(page, f"document.querySelector('.log').childElementCount > {before}")
        page.click("text=End the match")
        until(page, "document.querySelector('.confirm[open]')")
        page.click("text=Keep playing")
        until(page, "!document.querySelector('.confirm')")
        person.wait()
        return f"snapped {place}"

    def in_the_window(self):
        """All cards are inside the table and do not overlap, and the question and the buttons are in the window."""
        sizes = [(1366, 650, 3), (1366, 650, 8), (1280, 720, 2), (1280, 800, 8), (768, 1024, 4)]
        sizes += [(400, 740, 8), (360, 640, 8), (360, 640, 4), (360, 640, 2), (740, 360, 3)]
        for width, height, seats in sizes:
            page, person = self.table("original", ["greedy"] * (seats - 1), seed=seats, calls=0, width=width, height=height)
            person.play(stop=lambda can: person.decisions > 12 or can["hasEnded"])
            outside = page.evaluate(
                """() => [...document.querySelectorAll('.felt .card, .bar, .result[open]')].filter((element) => element.checkVisibility({visibilityProperty: true}) && !element.matches('.lifted')).filter((element) => {
                    const box = element.getBoundingClientRect();
                    const felt = element.closest('.felt')?.getBoundingClientRect() ?? {left: 0, top: 0, right: innerWidth, bottom: innerHeight};
                    return box.left < felt.left - 1 || box.top < felt.top - 1 || box.right > felt.right + 1 || box.bottom > felt.bottom + 1;
                }).map((element) => element.dataset.place ?? element.className)"""
            )
            covered = page.evaluate(
                """() => {
                    const cards = [...document.querySelectorAll('.felt .card:not(.lifted)')].filter((card) => card.checkVisibility({visibilityProperty: true})).map((card) => [card.dataset.place, card.getBoundingClientRect()]);
                    return cards.flatMap(([one, a], index) => cards.slice(index + 1).filter(([, b]) => Math.min(a.right, b.right) - Math.max(a.left, b.left) > 1 && Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > 1).map(([other]) => `${one} ${other}`));
                }"""
            )
            # Of all sizes that fit, the table must find the largest, and not give up at its lower limit.
            size = page.evaluate("parseFloat(getComputedStyle(document.querySelector('.board')).getPropertyValue('--u'))")
            expect(
                size > (23 if seats > 4 or height < 400 else 40), f"the cards have {size} px at {width}×{height} with {seats} seats"
            )
            expect(not covered, f"cards overlap at {width}×{height} with {seats} seats: {covered}")
            expect(not outside, f"outside the window at {width}×{height} with {seats} seats: {outside}")
            cut = page.evaluate(
                """() => [null, 'b', 'bc', 'all'].flatMap((who) => [...document.querySelectorAll('.seen')].filter((seen) => {
                    if (who) seen.lastChild.textContent = who;
                    if (who) seen.classList.toggle('long', who.length > 1);
                    return seen.scrollWidth > seen.clientWidth;
                }).map((seen) => `${seen.closest('.cell').title}: ${seen.textContent}`))"""
            )
            expect(not cut, f"eyes at {width}×{height} with {seats} seats are cut: {cut}")
            # The marks of all seats, each beside a total of two digits.
            covering = page.evaluate(
                """() => {
                    const visible = (selector) => [...document.querySelectorAll(selector)].filter((element) => element.checkVisibility({visibilityProperty: true})).map((element) => [element, element.getBoundingClientRect()]);
                    const meet = (a, b) => Math.min(a.right, b.right) - Math.max(a.left, b.left) > 0.5 && Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > 0.5;
                    const seats = [...document.querySelectorAll('.seat')];
                    return [['called'], ['safe'], ['now'], ['called', 'now']].flatMap((kinds) => {
                        for (const seat of seats) {
                            seat.querySelector('.total').textContent = '48';
                            seat.querySelector('.marks').replaceChildren(...kinds.map((kind) => Object.assign(document.createElement('span'), {className: `mark ${kind}`, textContent: kind === 'now' ? 'turn' : kind})));
                        }
                        const others = visible('.felt .card:not(.lifted), .seat :is(.letter, .name, .total), .tag b, .seen, .note');
                        const marks = visible('.seat .mark');
                        if (kinds[0] !== 'now' && marks.length < seats.length) return ['a mark is hidden'];
                        return [...marks, ...visible('.total')].flatMap(([mark, box]) => {
                            const head = mark.closest('header, .seat').getBoundingClientRect();
                            const isCut = box.left < head.left - 0.5 || box.right > head.right + 0.5 || box.top < head.top - 0.5 || box.bottom > head.bottom + 0.5;
                            const covered = others.filter(([element, other]) => element !== mark && meet(box, other)).map(([other]) => other.dataset.place ?? other.className);
                            return isCut || covered.length ? [`${mark.closest('.seat').dataset.seat} ${kinds}, ${mark.className}: ${isCut ? 'is cut' : ''} ${covered}`] : [];
                        });
                    });
                }"""
            )
            expect(not covering, f"marks at {width}×{height} with {seats} seats: {covering}")
        return "two to eight seats, ten sizes"

    def cards_keep_their_size(self):
        """On a phone, the cards do not grow during a round, and do not shrink with the guide, a long question or a penalty card of the person."""
        counts = []
        for seats in (3, 2, 8):
            page, person = self.table(
                "classic", ["greedy"] * (seats - 1), one_round=True, seed=seats, calls=0, passes=0.3, width=360, height=640
            )
            page.goto(f"{self.address}play.html?table={person.table}{'&guide' if seats < 8 else ''}")
            sizes = []

            def note(can):
                sizes.append(
                    page.evaluate(
                        """() => {
                            const [own, others] = ['.own', '.others'].map((side) => [...document.querySelectorAll(`${side} .cards`)].map((cards) => cards.childElementCount));
                            const style = getComputedStyle(document.querySelector('.board'));
                            return [['--u', '--v'].map((name) => parseFloat(style.getPropertyValue(name))), Math.max(...own), Math.max(...others)];
                        }"""
                    )
                )
                return can["hasEnded"]

            person.play(stop=note)
            before = sizes[:-1]
            expect(len(before) > 10, f"{len(before)} decisions")
            shown = [size for size, *_ in before]
            expect(shown == sorted(shown, reverse=True), f"cards grow: {before}")
            usual = [size for size, own, others in before if own <= 5 and others <= 4]
            counts.append(len(usual))
            expect(len({tuple(size) for size in usual}) == 1, f"cards change their size: {before}")
        # In the next round, the cards are large again.
        page, person = self.table("original", ["greedy"], seed=1, calls=1, width=360, height=640)
        size = lambda: page.evaluate("parseFloat(getComputedStyle(document.querySelector('.board')).getPropertyValue('--u'))")
        person.wait()
        first = size()
        person.play(stop=lambda can: can["hasEnded"])
        page.click("#next")
        until(page, "!document.querySelector('.result[open]')")
        person.wait()
        expect(abs(size() - first) < 1, f"the cards have {first} px in the first round and {size()} px in the second")
        return f"{counts} decisions"

    def penalty_cards(self):
        """Cards lie in the order of their numbers, and up to four penalty cards of the person do not make the others' cards small on a phone."""
        for width, height, seats, hand in [
            (360, 640, 2, 4),
            (360, 640, 3, 4),
            (360, 640, 4, 4),
            (400, 740, 3, 6),
            (1280, 800, 8, 4),
        ]:
            rules = f'base = "classic"\nname = "hands of {hand}"\nhand = {hand}\n'
            page, person = self.table(rules, ["greedy"] * (seats - 1), 2, width=width, height=height)
            person.wait()
            # Shows more cards than the seats have.
            page.evaluate(
                """async () => {
                    const { Board } = await import(new URL('assets/table.js', document.baseURI));
                    const render = Board.prototype.render;
                    Board.prototype.render = function (scene, options) {
                        globalThis.board = this;
                        const more = scene.layouts.map((layout, seat) => [...layout, ...Array.from({length: globalThis.most?.[Math.min(seat, 1)] ?? 0}, (_, slot) => [slot + 1, null, '']).slice(layout.length)]);
                        render.call(this, {...scene, layouts: more}, options);
                    };
                }"""
            )
            page.keyboard.press("d")
            until(page, "globalThis.board && document.querySelector('.question').textContent.startsWith('You hold')")
            sizes = {}
            # First only the person gets more cards, then the opponents do.
            for cards, theirs in [*((cards, 0) for cards in range(hand, hand + 5)), (hand + 3, hand + 1), (hand + 4, hand + 2)]:
                sizes[cards, theirs] = page.evaluate(
                    """(most) => {
                        globalThis.most = most;
                        globalThis.board.render({...globalThis.board.scene});
                        const style = getComputedStyle(document.querySelector('.board'));
                        return ['--u', '--v'].map((name) => parseFloat(style.getPropertyValue(name)));
                    }""",
                    [cards, theirs],
                )
                orders = page.evaluate(
                    """() => [...document.querySelectorAll('.seat')].map((seat) => [...seat.querySelectorAll('.cards .card')].map((card) => [card.getBoundingClientRect(), Number(card.dataset.place.slice(1))])
                        .sort(([one], [other]) => Math.round(one.top - other.top) || one.left - other.left).map(([, slot]) => slot))"""
                )
                expect(all(order == sorted(order) for order in orders), f"{width}×{height}: the cards lie as {orders}")
            if width == 360:
                (others, own), (others_then, own_then) = sizes[4, 0], sizes[6, 0]
                expect(others_then > 0.94 * others and own_then > 0.8 * own, f"{seats} seats: the widths of the cards are {sizes}")
                # Four penalty cards make only the person's cards smaller.
                others_last, own_last = sizes[8, 0]
                expect(others_last > 0.94 * others and own_last > 34, f"{seats} seats: the widths of the cards are {sizes}")
        return "four to ten cards at three sizes"

    def a_result_on_a_phone(self):
        """Beside the result of a round, all cards are still inside the table on a small screen."""
        counts = []
        for seats in (2, 8):
            page, person = self.table(
                "classic", ["heuristic"] * (seats - 1), seed=seats, calls=0, passes=0.6, width=360, height=640
            )
            person.play(stop=lambda can: person.decisions >= 6 or can["hasEnded"])
            person.calls = 1
            person.play(stop=lambda can: can["hasEnded"])
            cards = page.evaluate(
                """() => {
                    const felt = document.querySelector('.felt').getBoundingClientRect();
                    return [...document.querySelectorAll('.seat .card:not(.lifted)')].map((card) => [card.dataset.place, card.getBoundingClientRect().bottom - felt.bottom]);
                }"""
            )
            outside = [place for place, below in cards if below > 1]
            expect(not outside, f"{seats} seats: below the table: {outside}")
            counts.append(len(cards))
        return f"{counts} cards"

    def nothing_hidden_is_in_the_page(self):
        """The page never contains a face that the seat has not seen."""
        page, person = self.table("classic", ["greedy", "heuristic"], seed=9)
        person.play(stop=lambda can: can["hasEnded"])
        refused = page.evaluate(
            f"async ([path]) => {TRANSPORT}.ask(path).then(() => 200, (error) => error.status)",
            [f"api/tables/{person.table}/replay"],
        )
        expect(refused in (200, 409), refused)
        other, person = self.table("classic", ["greedy", "heuristic"], 9)
        person.wait()
        up = other.evaluate("[...document.querySelectorAll('.others .card.up')].length")
        expect(up == 0, f"{up} opponents' cards are face up")
        other.goto(other.url.replace("play.html?table", "watch.html?table"))
        other.wait_for_selector(".trouble")
        expect("in progress" in other.text_content(".trouble"), other.text_content(".trouble"))
        return "opponents' cards are face down, and a match in progress cannot be watched"

    def pages_at_both_widths(self):
        for width, scheme in [(1280, "light"), (1280, "dark"), (400, "light"), (400, "dark")]:
            page = self.page(width, scheme)
            where = f"at {width} px, {scheme}"
            page.goto(self.address)
            page.wait_for_selector("#deal")
            self.is_well(page, f"the first page {where}")
            person = Person(page, 1)
            person.sit(self.address, "faessler", ["greedy"] * 7 if width == 1280 else ["greedy"] * 3)
            person.wait()
            self.is_well(page, f"the table {where}")
            person.play(stop=lambda can: person.decisions > 6)
            self.is_well(page, f"the table after some decisions {where}")
            for path in ["watch.html", "runs.html"] if (width, scheme) in [(1280, "light"), (400, "dark")] else []:
                page.goto(self.address + path)
                page.wait_for_selector("h1")
                page.wait_for_timeout(150)
                self.is_well(page, f"{path} {where}")
        return "no serious finding of axe-core, no overflow"

    def watching(self):
        page = self.page()
        self.watch(page, 1)
        address = page.url.split("#")[0]
        page.goto(f"{address}#round=1&decision=9")
        until(page, "document.querySelector('.caption').textContent.startsWith('Round 1, decision 9 ')")
        lines = page.locator(".transcript a").all_text_contents()
        expect(
            all(re.match(r"The deal$|(Greedy|Heuristic|Sharp) [a-z]+s( |$)", line) for line in lines),
            f"these are not sentences: {lines}",
        )
        self.has_names(page, "the viewer")
        self.is_well(page, "the viewer")
        page.keyboard.press("ArrowRight")
        until(page, "location.hash === '#round=1&decision=10'")
        page.keyboard.press("Shift+ArrowRight")
        expect("decision=10" not in page.url, "Shift+ArrowRight does not advance by a turn")
        open_cards = lambda: page.evaluate("document.querySelectorAll('.seat .card.up').length")
        every = open_cards()
        page.keyboard.press("v")
        until(page, "location.hash.endsWith('&view=a')")
        expect(open_cards() < every, "a seat sees every card")
        page.select_option(".row label select >> nth=-1", "learned")
        page.keyboard.press("ArrowRight")
        page.click("text=Explain this decision")
        until(page, "document.querySelector('.reasons').textContent.includes('learned would')")
        expect("If the cards were counted now, " in page.text_content(".outlook"), page.text_content(".outlook"))
        until(page, "document.querySelectorAll('.beliefs .strip').length > 3")
        shades = page.evaluate(
            "[...document.querySelectorAll('.strip')].map((strip) => [...strip.children].reduce((sum, cell) => sum + Number(cell.style.getPropertyValue('--share')), 0))"
        )
        expect(min(shades) > 1, f"the sum of shades in a strip is too small: {shades}")
        expect(
            page.evaluate(
                "[...document.querySelectorAll('.strip')].every((strip) => strip.querySelectorAll('.true').length === 1)"
            ),
            "a strip must mark exactly one true card",
        )
        seen = page.locator(".seers li").all_text_contents()
        tags = page.evaluate(
            "[...document.querySelectorAll('.cell .card')].filter((card) => card.parentElement.querySelector('.seen')?.textContent.match(/^(all|.*b.*)$/)).map((card) => card.dataset.place).sort().join(', ')"
        )
        letters = page.evaluate(
            "Object.fromEntries([...document.querySelectorAll('.seat')].map((seat) => [seat.querySelector('.name').textContent + '’s', seat.dataset.seat]))"
        )
        told = re.findall(r"(their own|\w+’s) cards? ([\d, and]+)", seen[1])
        told = ", ".join(sorted(letters.get(owner, "b") + slot for owner, slots in told for slot in re.findall(r"\d", slots)))
        expect(told == tags, f"{seen}, but the tags say {tags}")
        self.has_names(page, "the explanation")
        self.is_well(page, "the explanation")
        # Swaps have the longest names.
        page.click(".transcript a:has-text(' swaps ') >> nth=0")
        page.click("text=Explain this decision")
        until(page, "document.querySelector('.considered')?.textContent.includes('Swap ')")
        self.is_well(page, "the explanation of a swap")
        page.keyboard.press("End")
        until(page, "document.querySelector('.scores').childElementCount > 0")
        return f"{every} open cards, fewer for a seat"

    def win_chance(self):
        """The win chances of a round are computed in the background; blunders are marked and reached with a click or a key."""
        page = self.page()
        # A match of `classic` with blunders.
        self.watch(page, 11)
        page.click("text=Analyse this round")
        until(page, "document.querySelector('.graph svg')")
        page.keyboard.press("ArrowRight")
        until(page, "document.querySelector('.caption').textContent.includes('decision 1 ')")
        until(page, "document.querySelector('.chances progress').hidden", seconds=180)
        before = page.evaluate("document.querySelector('.costs').innerText")
        drawing = page.locator(".graph svg")
        drawing.click(position={"x": drawing.bounding_box()["width"] / 2, "y": 60})
        middle = int(page.url.split("decision=")[1])
        decisions = page.evaluate("document.querySelectorAll('.transcript li').length - 1")
        expect(0.4 < middle / decisions < 0.6, f"a click in the middle goes to decision {middle} of {decisions}")
        costly = page.evaluate(
            "[...document.querySelectorAll('.blunders a')].map((link) => [link.hash, link.parentElement.textContent])"
        )
        expect(1 <= len(costly) <= 3, f"{len(costly)} costly decisions are listed")
        # Each link shows the cards before the decision, with an arrow for the decision and one for the better one.
        for hash, text in costly:
            page.click(f".blunders a[href='{hash}']")
            until(page, f"location.hash === '{hash}'")
            page.wait_for_selector(".legend .played")
            better = text.split("“")[1].split("”")[0]
            expect(
                f"better: {better} (" in page.text_content(".legend .better"), f"{better} is not in {page.text_content('.legend')}"
            )
        page.keyboard.press("o")
        expect(page.locator(".arrows, .legend span").count() == 0, "there are arrows after the decision")
        page.keyboard.press("o")
        page.goto(page.url.split("&decision=")[0] + "&decision=0")
        blunders = page.locator(".graph .blunder").count()
        for _ in range(blunders):
            page.keyboard.press("b")
            expect("A blunder" in page.text_content(".readout"), page.text_content(".readout"))
        place = page.url
        page.keyboard.press("b")
        expect(page.url == place, "there is a blunder that is not marked")
        # Each column of the table of luck and decisions adds up to the result in its last row.
        columns = page.evaluate(
            """() => {
                const rows = [...document.querySelectorAll('.parts tbody tr')].map((row) => [...row.querySelectorAll('td')].map((cell) => Number(cell.firstChild.textContent.replace('−', '-'))));
                return rows[0].map((_, seat) => rows.map((row) => row[seat]));
            }"""
        )
        expect(
            len(columns) >= 2 and all(sum(column[:-1]) == column[-1] for column in columns), f"the parts do not add up: {columns}"
        )
        expect(abs(sum(column[-1] for column in columns) - 100) <= 3, f"the results are not the chances of one win: {columns}")
        spoken = [int(number.replace("−", "-")) for number in re.findall(r"[−+]?\d+", page.text_content(".split"))]
        expect(sum(spoken[:-1]) == spoken[-1], f"the sentence does not add up: {page.text_content('.split')}")
        # Each mark of luck has its description at the decision.
        lucky = page.evaluate("document.querySelectorAll('.graph .luck').length")
        expect(lucky >= 1 and page.locator(".marks svg").count() >= 1, f"{lucky} marks of luck in the match with the largest swing")
        said = 0
        for decision in range(decisions + 1):
            page.evaluate("([hash]) => { location.hash = hash; }", [f"{costly[0][0].split('&')[0]}&decision={decision}"])
            until(page, "(number) => document.querySelector('.caption').textContent.includes(`decision ${number} of`)", decision)
            said += "Luck (of draws, races or a reshuffle) changed" in page.text_content(".readout")
        expect(said == lucky, f"{lucky} marks of luck, and {said} descriptions")
        page.select_option(".chances select", "own")
        own = page.evaluate(
            "[...document.querySelectorAll('.graph .point')].length + 100 * document.querySelectorAll('.graph .luck').length"
        )
        expect(len(columns) < own <= decisions + len(columns), f"{own} points in the graph of what each player knew")
        self.is_well(page, "the chances with what each player knew")
        page.select_option(".chances select", "all")
        counted = page.locator(".summary li").all_text_contents()
        marked = sum(int(number) for line in counted for number in re.findall(r"(\d+) blunder", line))
        self.has_names(page, "the analysis")
        expect(len(counted) == len(columns) and marked == blunders, f"{blunders} blunders are marked, {counted}")
        for width, scheme in [(1280, "light"), (400, "light"), (400, "dark"), (1280, "dark")]:
            page.set_viewport_size({"width": width, "height": 850})
            page.emulate_media(color_scheme=scheme)
            page.wait_for_timeout(100)
            self.is_well(page, f"win chance at {width} px, {scheme}")
        page.reload()
        page.wait_for_selector(".costs")
        expect(
            page.evaluate("document.querySelector('.costs').innerText") == before, "the numbers change when the page is reloaded"
        )
        number = int(costly[0][0].split("decision=")[1])
        page.click("button:text-is('Try again') >> nth=0")
        page.click("nav >> text=Back to the review")
        page.wait_for_selector(".costs")
        expect(page.evaluate("document.querySelector('.costs').innerText") == before, "the analysis is lost")
        expect(page.evaluate("location.hash") == costly[0][0], f"back at {page.url}, not at decision {number}")
        page.click("button:text-is('Try again') >> nth=0")
        page.wait_for_selector(".bar .question")
        person = Person(page, 3)
        can = person.wait()
        expect(can["question"], "the person is not asked")
        expect(page.locator("text=Hint").count() > 0, "a continued match is not for practice")
        return f"{decisions} decisions, {blunders} blunders, decision {number} tried again"

    def two_bots(self):
        """Two agents play a match, which is shown in the viewer."""
        page = self.page()
        page.goto(f"{self.address}watch.html")
        page.wait_for_selector("#bots")
        self.is_well(page, "the page to replay a match")
        page.select_option(".row label select >> nth=1", "learned")
        page.click("#bots")
        page.wait_for_selector(".caption")
        title = page.text_content("h1")
        expect(title == "learned against heuristic(capacity=2)", title)
        page.reload()
        page.wait_for_selector(".caption")
        expect(page.text_content("h1") == title, "the match is lost when the page is reloaded")
        return title

    def strange_settings(self):
        """Whatever the browser has stored, the pages open with valid settings, and a whole setting is kept."""
        keys = "wish desk pace clock windows adviser sounds guided daily reviews guide matches".split()
        odd = [
            "",
            "{",
            "null",
            "7",
            '"constructor"',
            "[]",
            '[null, 7, {"a": []}]',
            '{"rules": "constructor", "opponents": [7], "seat": {}, "table": "x"}',
        ]
        odd += [
            '{"rules": "no such rules", "opponents": [], "record": 1, "reviews": {}, "number": -1}',
            '{"opponents": ' + json.dumps(["greedy"] * 9) + "}",
        ]
        for value in odd:
            page = self.page()
            page.goto(self.address)
            page.evaluate(
                """([keys, value]) => {
                    for (const store of [localStorage, sessionStorage]) for (const key of keys) store.setItem(`cambio.${key}`, value);
                    for (const table of ["5", "x", "1e3"]) localStorage.setItem(`cambio.table.${table}`, value);
                }""",
                [keys, value],
            )
            page.reload()
            page.wait_for_selector("#deal")
            page.wait_for_timeout(50)
            where = f"with the stored value {value}"
            expect(
                page.text_content(".summary") == "Classic, against Ben (Casual) and Cleo (Casual)",
                f"{where}: {page.text_content('.summary')}",
            )
            expect(page.is_checked("#guided"), f"{where}: the guide is off")
            page.click("#deal")
            page.wait_for_selector(".bar .question:not(:empty)")
            chosen = page.evaluate("[...document.querySelectorAll('.settings select, .side .row select')].map((one) => one.value)")
            expect(sorted(chosen) == ["0", "known", "learned", "normal"], f"{where}: {chosen}")
            expect(not page.is_checked(".settings input"), f"{where}: sounds are on")
            page.goto(f"{self.address}watch.html")
            page.wait_for_selector("#bots")
            page.goto(f"{self.address}watch.html?linked=1")
            page.wait_for_selector("#bots")
            expect(not self.errors, f"{where}: {self.errors}")
        page = self.page()
        page.goto(self.address)
        page.evaluate(
            'localStorage.setItem(\'cambio.pace\', \'"fast"\'); localStorage.setItem(\'cambio.wish\', \'{"rules": "original", "opponents": ["greedy"], "seat": 7}\')'
        )
        page.reload()
        page.wait_for_selector("#deal")
        expect(page.text_content(".summary") == "Das Original, against Ben (Steady)", page.text_content(".summary"))
        page.click("#deal")
        page.wait_for_selector(".bar .question:not(:empty)")
        expect(page.input_value(".settings select >> nth=0") == "fast", "a valid setting is ignored")
        return f"{len(odd)} strange values of {len(keys)} settings"

    def one_click_one_table(self):
        """Three fast clicks on a button open one table."""
        counts = []
        tables = "Object.keys(localStorage).filter((key) => key.startsWith('cambio.table.')).length"

        def clicks(page, button, what):
            page.wait_for_selector(button)
            before = page.evaluate(tables)
            page.evaluate(
                "(button) => { const one = document.querySelector(button); for (let i = 0; i < 3; i += 1) one.click(); }", button
            )
            page.wait_for_selector(button, state="detached")
            page.wait_for_selector(".bar .question:not(:empty)")
            page.wait_for_timeout(200)
            opened = page.evaluate(tables) - before
            expect(opened == 1, f"three clicks on {what} open {opened} tables")
            counts.append(what)

        page = self.page()
        page.goto(self.address)
        clicks(page, "#deal", "Play")
        person = Person(page, 2, calls=1)
        page.evaluate("localStorage.setItem('cambio.pace', '\"at once\"')")
        page.reload()
        person.play()
        clicks(page, "#again", "Play again")
        page = self.page()
        page.goto(f"{self.address}watch.html")
        page.click("#bots")
        page.wait_for_selector(".caption")
        clicks(page, ".onward", "Play on from here")
        # An error does not block the button.
        page = self.page()
        page.goto(self.address)
        page.wait_for_selector("#deal")
        page.evaluate(
            "() => { Storage.prototype.set = Storage.prototype.setItem; Storage.prototype.setItem = () => { throw new Error(); }; }"
        )
        page.click("#deal")
        page.wait_for_selector(".trouble:not([hidden])")
        page.evaluate("() => { Storage.prototype.setItem = Storage.prototype.set; }")
        clicks(page, "#deal", "Play after an error")
        return ", ".join(counts)

    def the_match_of_a_tab(self):
        """A match from a file stays when its page is loaded again, and the review of a tried decision leads back to its match."""
        page = self.page()
        matches = [json.loads(line) for line in (self.folder / "runs/one/records.jsonl").read_text().splitlines()[:2]]
        files = [self.folder / f"match-{number}.jsonl" for number in range(2)]
        for file, match in zip(files, matches, strict=True):
            file.write_text(json.dumps(match))
        title = lambda: page.wait_for_selector(".caption") and page.text_content("h1")
        first, second = (" against ".join(match["agents"]) for match in matches)
        expect(first != second, "the matches have the same title")
        for address in ["watch.html?linked", "watch.html?table=999999", "watch.html"]:
            page.goto(self.address + address)
            page.set_input_files("input[type=file]", files[0])
            expect(title() == first, title())
            page.reload()
            expect(title() == first, f"a file chosen at {address} is lost when the page is loaded again")
        page.keyboard.press("ArrowRight")
        page.click(".onward")
        page.wait_for_selector(".to-review")
        review = page.url
        page.click("nav a:text-is('Watch')")
        page.set_input_files("input[type=file]", files[1])
        expect(title() == second, title())
        page.goto(review)
        page.click(".to-review")
        expect(title() == first, f"the review of the first match leads to {title()}")
        expect("decision=1" in page.url, page.url)
        # More matches than a tab keeps.
        for number in range(12):
            page.goto(f"{self.address}watch.html")
            files[0].write_text(json.dumps(matches[0] | {"agents": [f"match {number}", "two", "three"]}))
            page.set_input_files("input[type=file]", files[0])
            page.wait_for_selector(".caption")
        page.reload()
        expect(title() == "match 11 against two against three", title())
        return "from three addresses, and back to the match"

    def records_with_strange_fields(self):
        """A record with a wrong seat of the person is shown without the person; labels of cards are plain text."""
        page = self.page()
        match = json.loads((self.folder / "runs/one/records.jsonl").read_text().splitlines()[6])
        file = self.folder / "strange.jsonl"

        def show(record):
            file.write_text(json.dumps(record))
            page.goto(f"{self.address}watch.html")
            page.set_input_files("input[type=file]", file)
            page.wait_for_selector(".caption")

        show(match)
        page.click("text=Analyse this round")
        until(page, ANALYSED, seconds=120)
        reviews = page.evaluate("JSON.parse(sessionStorage.getItem('cambio.reviews')).reviews")

        def review(record):
            """Shows a record with the analysis of the match, as if the tab had analysed it."""
            kept = {"record": page.evaluate(ASK, ["api/replay", json.dumps(record)])["record"], "reviews": reviews}
            page.evaluate("(kept) => sessionStorage.setItem('cambio.reviews', kept)", json.dumps(kept))
            show(record)

        seats = ["h", "z", "", "ab", 0, -1, None, True, [], ["a"], {"a": 1}, "constructor"]
        for about in [{"seat": seat} for seat in seats] + [
            "a",
            7,
            [],
            None,
            {"people": 3},
            {"people": [7, None], "practice": "no"},
        ]:
            review(match | {"x-person": about})
            expect(page.text_content("h1") == " against ".join(match["agents"]), f"{about}: {page.text_content('h1')}")
            headings = page.locator(".chances h3").all_text_contents()
            expect(headings[:2] == ["The costliest decisions", "Luck and decisions"], f"{about}: {headings}, {self.errors}")
            expect(not self.errors, f"{about}: {self.errors}")
        review(match | {"x-person": {"seat": "b"}})
        expect(page.text_content(".chances h3") == "Your costliest decisions", page.text_content(".chances"))
        # Labels and a rank that mean something in a regular expression or in JavaScript.
        rules = subprocess.run([self.cambio, "rules", "classic"], check=True, capture_output=True, text=True).stdout
        for suit, end in [("h", "("), ("d", "["), ("c", "+)+$"), ("s", "\\")]:
            rules = re.sub(rf'label = "(\w+){suit}"', lambda found, end=end: f"label = '{found[1]}{end}'", rules)
        rules = rules.replace('rank = "JK"', 'rank = "constructor"').replace('name = "classic"', 'name = "constructor"')
        person = Person(page, 5, calls=0.1)
        person.sit(self.address, rules, ["greedy", "greedy"])
        person.play()
        log = page.text_content(".log")
        page.click(".result a:text-is('Replay')")
        page.wait_for_selector(".caption")
        page.keyboard.press("End")
        told = page.text_content(".transcript")
        for words in (log, told):
            expect(
                re.search(r"\d[♥♦♣♠]", words) and not re.search(r"\d[(\[+\\]", words),
                f"the labels of cards are not names: {words[:500]}",
            )
        expect(not self.errors, self.errors)
        return f"{len(seats) + 6} wrong seats, four strange labels"

    def the_guide_goes_on(self):
        """A page that is loaded again during the guided round goes on with the guide."""
        page = self.page()
        page.goto(self.address)
        page.evaluate("localStorage.setItem('cambio.pace', '\"at once\"')")
        page.click("#deal")
        page.wait_for_url("**/play.html?table=*")
        person = Person(page, 5, calls=0.1)
        look = lambda: page.evaluate("document.querySelector('.guide:not([hidden])')?.innerText ?? 'closed'")
        shown = []

        def again(can):
            before = look()
            page.reload()
            person.wait()
            expect(look() == before, f"after reloading: {look()!r}, before: {before!r}")
            shown.append(before.split("\n")[0])
            if page.locator(".guide button:text-is('Next')").count():
                page.click(".guide button:text-is('Next')")
                before = look()
                page.reload()
                person.wait()
                expect(look() == before, f"after reloading: {look()!r}, before: {before!r}")
            return can["hasEnded"] or person.decisions > 12

        person.play(stop=again)
        expect(len(set(shown)) > 2, shown)
        if page.locator(".guide button:text-is('Close')").count():
            page.click(".guide button:text-is('Close')")
            page.reload()
            person.wait()
            expect(look() == "closed", "a closed guide comes back")
        # The next guided match begins with the first step.
        page.goto(self.address)
        page.check("#guided")
        page.click("#deal")
        page.wait_for_url("**/play.html?table=*")
        person.wait()
        expect("Step 1" in look(), look())
        return f"{len(shown)} times: {', '.join(dict.fromkeys(shown))}"


class ServerChecks(Checks):
    """What only `cambio serve` and its command can do."""

    def a_restart_of_the_server(self):
        """A match and an analysis go on in the open page when a killed server starts again."""
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = str(free.getsockname()[1])
        lost = lambda where: f"document.querySelector('{where}').textContent.startsWith('No connection to the server')"

        def start():
            command, home = [self.cambio, "serve", "--port", port], {"XDG_STATE_HOME": str(self.folder)}
            quiet = {"stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL, "text": True}
            server = subprocess.Popen(command, env=os.environ | home, **quiet)
            return server, server.stdout.readline().strip()

        server, address = start()
        try:
            page = self.page()
            person = Person(page, 4)
            person.sit(address, "classic", ["greedy"])
            person.wait()
            page.keyboard.press("d")
            until(page, HOLDS)
            page.evaluate("globalThis.isSamePage = true")
            server.kill()
            server.wait()
            until(page, lost(".question"))
            server, again = start()
            expect(again == address, f"the address is {again}, not {address}")
            until(page, HOLDS)
            decisions = person.play()
            expect(page.evaluate("globalThis.isSamePage"), "the page was loaded again")
            page.click(".result >> text=Replay")
            page.click("text=Analyse this round")
            page.wait_for_selector(".chances progress:not([hidden])")
            server.kill()
            server.wait()
            until(page, lost(".chances [role=status]"))
            server, _ = start()
            until(page, ANALYSED, seconds=180)
            # The browser reports each request without an answer.
            self.errors[:] = [error for error in self.errors if "Failed to load resource" not in error]
            self.is_well(page, "the analysis after a restart")
        finally:
            server.kill()
            server.wait()
        return f"{decisions} decisions after it, and an analysis"

    def run_folders(self):
        """The list of runs sorts, a report opens, and a match opens by its number."""
        page = self.page()
        page.goto(f"{self.address}runs.html")
        page.click("table.list thead button:text-is('run')")
        page.wait_for_selector("th[aria-sort=ascending]")
        report = page.get_attribute("a:text-is('report')", "href")
        page.click("a:text-is('matches')")
        page.wait_for_selector("#watch")
        self.is_well(page, "the page of a run")
        page.fill("input[type=number]", "7")
        page.click("#watch")
        page.wait_for_selector(".caption")
        match = json.loads((self.folder / "runs/one/records.jsonl").read_text().splitlines()[6])
        expect(page.text_content("h1") == " against ".join(match["agents"]), page.text_content("h1"))
        expect(page.text_content(".facts").startswith("Classic, "), page.text_content(".facts"))
        page.goto(f"{self.address}watch.html?run=one&match=999")
        page.wait_for_selector(".trouble")
        expect("found 999" in page.text_content(".trouble"), page.text_content(".trouble"))
        page.goto(self.address + report)
        page.wait_for_selector("table")
        return "the list, a report and a match"

    def a_page_from_disk(self):
        file = self.folder / "match.html"
        file.unlink(missing_ok=True)
        subprocess.run(
            [self.cambio, "replay", "--html", file, self.folder / "runs/one/records.jsonl"], check=True, capture_output=True
        )
        page = self.page()
        times = []
        for _ in range(3):
            page.goto(f"file://{file}#round=1&decision=5")
            page.wait_for_selector(".caption")
            times.append(page.evaluate("performance.getEntriesByType('navigation')[0].loadEventEnd"))
            page.goto("about:blank")
        page.goto(f"file://{file}#round=1&decision=5")
        until(page, "document.querySelector('.caption').textContent.startsWith('Round 1, decision 5 ')")
        decisions = int(page.text_content(".facts").split(" decisions")[0].split()[-1])
        size = file.stat().st_size
        expect(size * 200 < 300_000 * max(decisions, 200), f"{size} bytes for {decisions} decisions")
        self.is_well(page, "the page from disk")
        printed = page.pdf()
        expect(len(printed) > 10_000, "the printed page is empty")
        (self.folder / "analysed.html").unlink(missing_ok=True)
        # Line 7 is the first match of `classic`, which has one round.
        words = ["--html", self.folder / "analysed.html", "--analysis", "--line", "7", self.folder / "runs/one/records.jsonl"]
        subprocess.run([self.cambio, "replay", *words], check=True, capture_output=True)
        page.goto(f"file://{self.folder}/analysed.html")
        page.wait_for_selector(".graph svg")
        expect(page.locator(".chances details .costs tbody tr").count() == 3, page.text_content(".chances"))
        expect(not page.is_visible("text=Analyse this round") and page.locator("text=Try again").count() == 0, "needs a server")
        page.click(".blunders a >> nth=0")
        until(page, "document.querySelector('.legend .better')")
        self.is_well(page, "the page from disk with the analysis")
        return f"{decisions} decisions, {size // 1000} KB, loaded in {min(times):.0f} ms; another one with its analysis"


class SiteChecks(Checks):
    """The same pages without a server: the program runs in the page."""

    def __init__(self, browser, address, cambio, folder, axe, server):
        super().__init__(browser, address, cambio, folder, axe)
        self.server = server

    def a_match_without_a_server(self):
        """A whole match against a network, which the page loads when it needs it, then its replay with an explanation."""
        page = self.page()
        asked, sent = [], []
        page.on("request", lambda request: asked.append(request.url))
        page.on("requestfinished", lambda request: sent.append(request.url))
        person = Person(page, 1, calls=0.2)
        person.sit(self.address, "classic", ["learned"])
        expect(not any("many.net" in url for url in asked if not page.context.service_workers), asked)
        decisions = person.play()
        self.is_well(page, "the end of a match without a server")
        with page.expect_download() as saved:
            page.click(".result button:text-is('Save')")
        file = self.folder / "site.jsonl"
        saved.value.save_as(file)
        self.passes(file)
        page.click(".result a:text-is('Replay')")
        page.wait_for_selector(".caption")
        expect(page.text_content("h1") == "You against Ben (practice)", page.text_content("h1"))
        expect(page.get_attribute(".others .name", "title") == "learned", "the tooltip of a bot is not its agent")
        page.select_option(".row label select >> nth=-1", "learned")
        page.keyboard.press("ArrowRight")
        page.click("text=Explain this decision")
        until(page, "document.querySelector('.reasons').textContent.includes('learned would')")
        page.click("text=Analyse this round")
        until(page, "document.querySelector('.graph svg')")
        until(page, "document.querySelector('.chances progress').hidden", seconds=180)
        page.reload()
        until(page, "document.querySelector('.costs')")
        expect(all(url.startswith((self.address, "blob:")) for url in asked), f"a request leaves the site: {asked}")
        return f"{decisions} decisions, then the replay, an explanation and the chances to win"

    def a_slow_connection(self):
        """At 10 Mbit/s, the first card is on the screen within 2 s, after at most 2.5 MB."""
        lock, sent = threading.Lock(), [0]

        class Slow(http.server.SimpleHTTPRequestHandler):
            def copyfile(self, source, outputfile):
                # The page is closed while it still loads.
                with contextlib.suppress(ConnectionError):
                    while part := source.read(12_500):
                        with lock:
                            time.sleep(0.01)
                            sent[0] += len(part)
                        outputfile.write(part)

            def log_message(self, *_):
                pass

        folder = functools.partial(Slow, directory=self.folder / "host/some/path")
        with http.server.ThreadingHTTPServer(("127.0.0.1", 0), folder) as server:
            threading.Thread(target=server.serve_forever, daemon=True).start()
            page = self.page()
            begun = time.monotonic()
            page.goto(f"http://127.0.0.1:{server.server_port}/", wait_until="commit")
            page.click("#deal")
            page.wait_for_selector(".question")
            seconds, megabytes = time.monotonic() - begun, sent[0] / 1e6
            server.shutdown()
        expect(megabytes < 2.5, f"{megabytes:.2f} MB before the first card")
        expect(seconds < 2 or os.getloadavg()[0] > 1, f"{seconds:.1f} s until the first card")
        return f"{seconds:.1f} s and {megabytes:.2f} MB until the first card"

    def links_and_the_daily_deal(self):
        """The daily deal is the same everywhere; links open the same deal, and a finished match in the replay page."""
        context = {"permissions": ["clipboard-read", "clipboard-write"]}
        page = self.page(**context)
        copied = lambda: page.evaluate("navigator.clipboard.readText()")
        page.goto(self.address)
        page.evaluate("localStorage.setItem('cambio.pace', '\"at once\"')")
        # A daily deal whose table was closed can be played, and no other table gets its number.
        page.click("#daily")
        page.wait_for_url("**/play.html?table=1&guide")
        page.evaluate("localStorage.removeItem('cambio.table.1')")
        page.goto(self.address)
        page.wait_for_selector("#daily")
        expect(page.text_content("#daily") == "Play", page.text_content("#daily"))
        page.click("#daily")
        page.wait_for_url("**/play.html?table=2&guide")
        person = Person(page, 4, calls=0.3)
        person.wait()
        seen = "[...document.querySelectorAll('.own .card')].map((card) => card.getAttribute('aria-label'))"
        first = page.evaluate(seen)
        person.play()
        # The line has the blunders when they are counted.
        begun = time.monotonic()
        until(
            page,
            "/blunder/.test(document.querySelector('.result .daily').textContent.replace('Counting your blunders', ''))",
            seconds=180,
        )
        counting = time.monotonic() - begun
        links = {}
        for name in ["Copy the result", "Challenge a friend", "Share the replay"]:
            page.click(f".result button:text-is('{name}')")
            until(page, f"![...document.querySelectorAll('.result button')].some((one) => one.textContent === '{name}')")
            links[name] = copied()
        line = links["Copy the result"].split("\n")[0]
        expect(re.fullmatch(r"Cambio #\d+: me -?\d+, network -?\d+, \d+ blunders?", line), line)
        expect(len(links["Share the replay"]) < 8000, len(links["Share the replay"]))
        page.goto(self.address)
        page.wait_for_selector("#daily-deal")
        expect(line in page.text_content("#daily-deal"), page.text_content("#daily-deal"))
        self.is_well(page, "the start page after the daily deal")
        # Another browser, which has stored nothing.
        page = self.page()
        page.goto(self.address)
        page.wait_for_selector("#deal")
        page.evaluate("(link) => { location.hash = new URL(link).hash; }", links["Challenge a friend"])
        page.wait_for_url("**/play.html?table=*")
        Person(page, 4).wait()
        expect(page.evaluate(seen) == first, f"the link deals {page.evaluate(seen)}, the match had {first}")
        page.goto(links["Share the replay"])
        page.wait_for_selector(".caption")
        title = page.text_content("h1")
        expect(sorted(title.split(" against ")) in (["Ada", "You"], ["Ben", "You"]), title)
        page.click("text=Analyse this round")
        until(page, ANALYSED, seconds=180)
        own = next(text for text in page.locator(".summary li").all_text_contents() if text.startswith("You: "))
        blunders = re.search(r"(\d+) blunder", own)
        expect(f", {blunders[1] if blunders else 0} blunder" in line, f"{line!r}, but the review says {own!r}")
        page.reload()
        page.wait_for_selector(".caption")
        expect(page.text_content("h1") == title, "the match is lost when the page is reloaded")
        self.is_well(page, "a match from a link")
        page.goto("about:blank")
        # Links that a program has cut.
        for cut in ["watch.html#match=abc", "#" + links["Challenge a friend"].split("#")[1][:-3]]:
            page.goto("about:blank")
            page.goto(self.address + cut)
            page.wait_for_selector(".trouble")
            expect("damaged" in page.text_content(".trouble"), page.text_content(".trouble"))
        return f"{line}, counted in {counting:.1f} s; a link of {len(links['Share the replay'])} characters"

    def a_published_run(self):
        """Random matches of a published run are played again in the page; a changed result is found; a match opens in the viewer."""
        page = self.page()
        page.goto(f"{self.address}runs.html")
        page.wait_for_selector("main li a")
        self.is_well(page, "the list of published runs")
        page.click("main li a")
        page.wait_for_selector("#check")
        matches = int(page.text_content(".facts").split(" matches")[0])
        page.set_viewport_size({"width": 360, "height": 740})
        self.is_well(page, "a published run on a narrow screen")
        page.set_viewport_size({"width": 1280, "height": 800})
        table = "[...document.querySelectorAll('table.list')].map((one) => [...one.tBodies[0].rows].map((row) => [...row.cells].map((cell) => cell.textContent)))"
        standings = page.evaluate(table)[:2]
        expect([rows[-1][0] for rows in standings] == ["random", "random"], f"random is not last: {standings}")
        page.click("#check")
        until(page, "document.querySelector('main [role=status]').textContent.includes('agree')", seconds=120)
        verdict = page.text_content("main [role=status]")
        expect(verdict.startswith("All 20 matches agree"), verdict)
        checked = page.evaluate(table)[2]
        expect(len(checked) == 20 and all(row[5] == "the same" for row in checked), checked)
        self.is_well(page, "a published run")
        page.click(".scroll a >> nth=0")
        page.wait_for_selector(".caption")
        expect(page.text_content("h1") == " against ".join(checked[0][3].split(", ")), f"{page.text_content('h1')}: {checked[0]}")
        # All rows are changed, so that each check finds a difference.
        changed = lambda text: re.sub(r"[0-9a-f]{16}", "0123456789abcdef", text)
        context = self.page(service_workers="block").context
        context.route("**/runs/levels.json", lambda route: route.fulfill(body=changed(route.fetch().text())))
        page = context.pages[0]
        page.goto(f"{self.address}runs.html?run=levels")
        page.click("#check")
        until(page, "document.querySelector('main .trouble')", seconds=120)
        expect("20 of 20 matches differ" in page.text_content(".trouble"), page.text_content(".trouble"))
        page.goto(f"{self.address}runs.html?run=..%2Flevels")
        page.wait_for_selector("p.trouble")
        return f"20 of {matches} matches checked, and 20 changed ones found"

    def offline(self):
        """The first page loads no network. After a match has begun, the site works without its host."""
        page = self.page()
        page.goto(self.address)
        until(page, "navigator.serviceWorker.controller !== null")
        page.wait_for_timeout(4000)
        networks = "(async () => (await (await caches.open((await caches.keys())[0])).keys()).filter((one) => one.url.endsWith('.net')).length)()"
        expect(page.evaluate(networks) == 0, f"the first page loads {page.evaluate(networks)} networks")
        person = Person(page, 5)
        person.sit(self.address, "classic", ["greedy"])
        person.play(stop=lambda can: person.decisions >= 2)
        until(page, f"{networks}.then((number) => number === 6)")
        self.server.terminate()
        self.server.wait(timeout=10)
        page.goto("about:blank")
        decisions = []
        for rules, opponents in [("classic", ["greedy", "heuristic"]), ("original", ["learned"])]:
            person = Person(page, 5, calls=0.5)
            person.sit(self.address, rules, opponents)
            decisions.append(person.play())
        page.goto(f"{self.address}runs.html?run=levels")
        page.wait_for_selector("#check")
        return f"matches with {decisions} decisions, and a published run"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("cambio", nargs="?")
    parser.add_argument("--only", default="")
    parser.add_argument("--pictures", type=Path)
    arguments = parser.parse_args()
    browser_path = chromium()
    own_python()
    import axe_playwright_python
    from playwright.sync_api import Error, sync_playwright

    built = [TARGET / "release/cambio", TARGET / "debug/cambio"]
    cambio = Path(arguments.cambio) if arguments.cambio else next((path for path in built if path.exists()), None)
    if not cambio:
        leave_out("`cambio` is missing; build it first")
    axe = (Path(axe_playwright_python.__file__).parent / "axe.min.js").read_text()
    failed, host = 0, None
    with tempfile.TemporaryDirectory() as name, sync_playwright() as playwright:
        folder = Path(name)
        (folder / "experiment.toml").write_text(
            'name = "one"\nseed = 1\ndeals = 2\nrules = ["original", "classic"]\nseats = [3]\nagents = ["greedy", "heuristic", "sharp"]\nrecords = true\n'
        )
        subprocess.run(
            [cambio, "run", "--quiet", folder / "experiment.toml", "--out", folder / "runs/one"], check=True, capture_output=True
        )
        server = subprocess.Popen(
            [cambio, "serve", "--port", "0", "--runs", folder / "runs"],
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        try:
            address = server.stdout.readline().strip()
            try:
                browser = playwright.chromium.launch(executable_path=browser_path, args=["--no-sandbox", "--disable-dev-shm-usage"])
            except Error as error:
                leave_out(f"chromium does not start: {str(error).splitlines()[0]}")
            checks = ServerChecks(browser, address, cambio, folder, axe)
            transports = [("", checks)]
            if website.can_build():
                # Not at the root of the host, because the site must work at any path.
                website.build(folder / "host/some/path", cambio)
                host = subprocess.Popen(
                    [sys.executable, website.__file__, "serve", folder / "host"],
                    stdout=subprocess.PIPE,
                    stderr=subprocess.DEVNULL,
                    text=True,
                )
                site = SiteChecks(browser, f"{host.stdout.readline().strip()}some/path/", cambio, folder, axe, host)
                transports.append(("site: ", site))
            else:
                print(f"skipped: the site without a server, which needs the Rust target {website.WASM}")
            methods = lambda own: [name for kind in (Checks, type(own)) for name in vars(kind) if not name.startswith("_")]
            every = [(prefix, getattr(own, name)) for prefix, own in transports for name in methods(own)]
            for prefix, check in every:
                name, begun = prefix + check.__name__.replace("_", " "), time.monotonic()
                if arguments.only not in name:
                    continue
                # Repeat a failed check once, because a wait may be too short on a busy machine.
                for attempt in (1, 2):
                    try:
                        print(f"ok      {name}: {check()} ({time.monotonic() - begun:.1f} s)", flush=True)
                        break
                    except (Failure, Error) as failure:
                        print(f"{'retry ' if attempt == 1 else 'FAILED'}  {name}: {failure}", flush=True)
                        failed += attempt == 2
            if arguments.pictures:
                checks.pictures(arguments.pictures)
            browser.close()
        finally:
            for process in [server, host]:
                if process:
                    process.terminate()
                    process.wait(timeout=10)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
