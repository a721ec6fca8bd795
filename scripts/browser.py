"""Tests the web application in a real browser, with mouse clicks and keys.

    pip install pytest playwright axe-playwright-python        # and a browser, such as Debian's chromium
    CAMBIO_BIN=target/release/cambio pytest scripts/browser.py [-k WORD]

`.ci/run browser` installs the packages. `-k pictures` with CAMBIO_PICTURES=FOLDER writes the screenshots for the book into FOLDER.

The same tests run against `cambio serve` and against the site without a server (`scripts/website.py`), which needs the Rust target
wasm32-unknown-unknown. Each has some more tests: a restart of the server and its run folders; a slow connection, published runs, links
and offline.
"""

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
import threading
import time
from pathlib import Path
from urllib.parse import urljoin

import pytest
import website
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import sync_playwright

CAMBIO = Path(os.environ.get("CAMBIO_BIN", website.TARGET / "release/cambio")).resolve()
PRESETS = ["original", "original-b", "original-c", "original-d", "faessler", "classic"]
EXPERIMENT = """
name = "one"
seed = 1
deals = 2
rules = ["original", "classic"]
seats = [3]
agents = ["greedy", "heuristic", "sharp"]
records = true
"""


# ------------------------------------------------------------------------------------------------------------ fixtures


@contextlib.contextmanager
def serving(*command, **options):
    """The address that a running server prints."""
    server = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, **options)
    try:
        yield re.search(r"http://[^\s)]+", server.stdout.readline())[0]
    finally:
        server.kill()
        server.wait()


def serving_site(folder):
    # Not at the root of the host, because the site must work at any path.
    return serving(sys.executable, *"-u -m http.server 0 --bind 127.0.0.1 --directory".split(), folder / "host")


@pytest.fixture(scope="session")
def browser():
    with sync_playwright() as playwright:
        yield playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox", "--disable-dev-shm-usage"])


@pytest.fixture(scope="session")
def folder(tmp_path_factory):
    """A folder with the run `runs/one`."""
    folder = tmp_path_factory.mktemp("browser")
    (folder / "experiment.toml").write_text(EXPERIMENT)
    subprocess.run([CAMBIO, "run", "--quiet", folder / "experiment.toml", "--out", folder / "runs/one"], check=True)
    return folder


@pytest.fixture(scope="session")
def server(folder):
    with serving(CAMBIO, "serve", "--port", "0", "--runs", folder / "runs") as address:
        yield address


@pytest.fixture(scope="session")
def site(folder):
    if not website.can_build():
        pytest.skip(f"the Rust target {website.WASM} is not installed")
    website.build(folder / "host/some/path", CAMBIO)
    with serving_site(folder) as address:
        yield f"{address}some/path/"


# ---------------------------------------------------------------------------------------------------------- a person


HOLDS = "document.querySelector('.question')?.textContent.startsWith('You hold')"
LOOK = """() => [
    [...document.querySelectorAll('.board .card')].map((card) => card.getAttribute('aria-label')),
    document.querySelector('.question')?.textContent,
]"""
SIZES = """['.others', '.own'].map((side) => Math.max(...[...document.querySelectorAll(`${side} .cell`)].map((one) => one.clientWidth)))"""
LOWEST = "Math.max(...[...document.querySelectorAll('.strip, .controls button, .controls select, .tabs')].map((one) => one.getBoundingClientRect().bottom))"
LEVELS = {"greedy": "Steady", "heuristic": "Skilled"}
ANALYSED = "document.querySelector('.analysis progress').hidden && document.querySelector('.costs')"


def until(page, expression, arg=None, seconds=30):
    """Waits until an expression is true. Polls from Python, because the pages' content security policy forbids eval."""
    end = time.monotonic() + seconds
    while not page.evaluate(expression, arg):
        assert time.monotonic() < end, (
            f"still false after {seconds} s: {expression}; the page shows: {page.inner_text('main')[:600]}"
        )
        time.sleep(0.015)


# Sends a request to the server, or to the program in the page.
TRANSPORT = "(await import(new URL('assets/transport.js', document.baseURI)))"
ASK = f"async ([path, body]) => {TRANSPORT}.ask(path, body)"
OPEN = f"async (request) => {TRANSPORT}.openTable(request)"
RECORD = f"async (table) => {TRANSPORT}.recordOf(table)"


def titled(agents, **levels):
    """The title of a replay of these agents, with the names of levels; a run names its agents itself."""
    first, *others = [levels.get(agent, agent) for agent in agents]
    return f"{first} against {' and '.join(', '.join(others).rsplit(', ', 1))}"


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
            "document.querySelector('.bar.result') || document.querySelector('.bar .row button') || document.querySelector('.card.offered')",
        )
        return self.page.evaluate(
            """() => ({
                question: document.querySelector('.question').textContent,
                isOver: Boolean(document.querySelector('.bar.result #again')),
                hasEnded: Boolean(document.querySelector('.bar.result')),
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
            f"(before) => {look} !== before || document.querySelector('.bar.result') || document.querySelector('.bar .row button')",
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
                until(self.page, "!document.querySelector('.bar.result')")
            elif can["verbs"] or can["cards"]:
                self.decide(can)
        raise AssertionError(f"the match is not over after {most} steps: {can}")


# ------------------------------------------------------------------------------------------------------------ checks


class Checks:
    """The checks of the pages, whatever answers their requests: the fixture `host`."""

    @pytest.fixture(autouse=True)
    def pages(self, request, browser, folder):
        self.browser, self.folder, self.address = browser, folder, request.getfixturevalue(self.host)
        self.records = folder / "runs/one/records.jsonl"

    def page(self, width=1280, scheme="light", height=850, **options):
        """A new page. Closes the pages before it."""
        for context in self.browser.contexts:
            context.close()
        context = self.browser.new_context(viewport={"width": width, "height": height}, color_scheme=scheme, **options)
        page = context.new_page()
        self.errors, self.requests = [], []
        page.on("request", lambda request: self.requests.append(request.url))
        page.on("pageerror", lambda error: self.errors.append(str(error)))
        page.on("console", lambda said: self.errors.append(said.text) if said.type == "error" and "409" not in said.text else None)
        return page

    def open(self, address, selector, **options):
        """A new page at an address, when it has an element. The address may be relative."""
        page = self.page(**options)
        page.goto(urljoin(self.address, address))
        page.wait_for_selector(selector)
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
        assert wide[0] <= wide[1], f"{where}: the page is {wide[0]} px wide, the window {wide[1]} px"
        found = Axe().run(page).response["violations"]
        grave = [finding for finding in found if finding["impact"] in ("serious", "critical")]
        assert not grave, where
        assert not self.errors, where
        assert all(url.startswith((urljoin(page.url, "."), "blob:")) for url in self.requests), where

    def passes(self, record):
        """Checks a file with one record by `cambio replay`."""
        replayed = subprocess.run([CAMBIO, "replay", record], check=False, capture_output=True, text=True)
        assert replayed.stdout == "1 passed, 0 failed\n", f"{record.name}: {replayed.stdout}{replayed.stderr}"

    def has_names(self, page, where):
        """Checks that the texts beside a table name players and cards as the table does, without the letters of seats."""
        texts = page.locator(".side, .caption, .legend, .chances").all_inner_texts()
        found = re.findall(r"\b[a-h]\d\b.*|\b[b-h] [a-z]+.*|\b[a-h]['’].*", "\n".join(texts))
        found = [one for one in found if "changes the view" not in one and "goes to the next" not in one]
        assert not found, f"{where}: letters of seats instead of names: {found}"

    def watch(self, page, file, line=1, address="watch.html"):
        """Opens a match from a file of records."""
        page.goto(self.address + address)
        page.fill("[aria-label='Number of the match in the file']", str(line))
        page.set_input_files("input[type=file]", file)
        page.wait_for_selector(".caption")

    def analyse(self, page):
        page.click("text=Analyse this round")
        until(page, "document.querySelector('.analysis progress').hidden && document.querySelector('.costs')", seconds=180)

    def test_matches_of_every_preset(self):
        """A whole match on each preset against two agents, with clicks and keys, in both widths and colour schemes."""
        for number, preset in enumerate(PRESETS):
            width, scheme = [(1280, "light"), (400, "dark")][number % 2]
            # Rare calls for a single long round, frequent calls for several short rounds.
            calls, notes = 0.15 if preset == "classic" else 0.6, number % 3 != 2
            page, person = self.table(preset, ["greedy", "heuristic"], number, calls, width=width, scheme=scheme, notes=notes)
            person.play()
            unnamed = page.evaluate(
                """() => [...document.querySelectorAll('.seat')].filter((seat) => !/, −?\\d+ points?, \\d/.test(seat.getAttribute('aria-label')) || (seat.querySelector('.total').textContent && !seat.getAttribute('aria-label').includes(', total ')))
                    .concat(...document.querySelectorAll('.cell:not([title])')).map((one) => one.outerHTML.slice(0, 200))"""
            )
            assert not unnamed, f"{preset}: numbers without a name at the end: {unnamed}"
            assert page.locator(".seat.winner").count() >= 1, f"{preset}: no seat has a crown"
            if preset == "classic":
                totals = page.locator(".seat .total:not(:empty)").all_text_contents()
                assert not totals, f"a match of one round shows totals: {totals}"
            hidden = page.evaluate("document.querySelectorAll('.seat .card:not(.up)').length")
            assert hidden == 0, f"{preset}: {hidden} cards are face down at the end"
            self.is_well(page, f"the end of {preset}")
            file = self.folder / f"{preset}.jsonl"
            file.write_text(page.evaluate(RECORD, person.table))
            self.passes(file)

    def test_keys_alone(self):
        """The three lessons without a mouse, from the first page to the end."""
        page = self.page()
        page.goto(self.address)
        page.evaluate("localStorage.setItem('cambio.pace', '\"at once\"')")
        page.wait_for_selector("#deal")
        for _ in range(40):
            page.keyboard.press("Tab")
            if page.evaluate("document.activeElement.id") == "deal":
                break
        assert page.evaluate("document.activeElement.id") == "deal", "Tab does not reach the button `#deal`"
        shown = page.evaluate("getComputedStyle(document.activeElement).outlineStyle")
        assert shown != "none", "the focus is not visible"
        page.keyboard.press("Enter")
        page.wait_for_selector(".question")
        person = Person(page, 5, keys_only=True, calls=0.1)
        person.wait()
        shown = []
        for lesson in (1, 2, 3):
            assert f"Lesson {lesson} of 3" in page.text_content(".guide"), f"lesson {lesson} does not begin"
            while page.text_content(".guide b") != "One question":
                shown.append(page.text_content(".guide b"))
                text = page.text_content(".guide p")
                place = page.evaluate("document.querySelector('.pointed').dataset.place ?? ''")
                page.focus(".pointed") if place else page.keyboard.press("c" if shown[-1] == "Call" else "e")
                page.keyboard.press("Enter")
                page.wait_for_timeout(600 if shown[-1] == "Call" else 0)
                page.keyboard.press("Enter") if shown[-1] == "Call" else None
                until(page, "(last) => document.querySelector('.guide p').textContent !== last", text)
            page.focus(".guide p button")
            page.keyboard.press("Enter")
            assert page.text_content(".guide b") in ("Right", "Not quite")
            if lesson < 3:
                page.keyboard.press("Enter")
                page.wait_for_url(f"**/play.html?table=*&guide={lesson + 1}")
                page.wait_for_selector(".guide b")
        assert shown.count("Snap") == 2 and shown[-1] == "Call" and "Peek" in shown, shown
        self.is_well(page, "the end of the guide")

    def test_a_lesson_on_a_phone(self):
        """On a phone, a tap answers the question of a lesson, also after the end of the round."""
        page = self.page(360, height=740, has_touch=True)
        page.goto(self.address)
        page.evaluate("localStorage.setItem('cambio.pace', '\"at once\"')")
        page.evaluate("(async () => (await import(new URL('assets/guide.js', document.baseURI))).openLesson(3))()")
        page.wait_for_selector(".pointed")
        while page.text_content(".guide b") != "One question":
            heading, before = page.text_content(".guide b"), page.text_content(".guide p")
            page.tap(".pointed")
            if heading == "Call":
                page.wait_for_timeout(600)
                page.tap("[data-confirm]")
            until(page, "(before) => document.querySelector('.guide p').textContent !== before", before)
        page.wait_for_selector(".bar.result")
        page.tap(".guide p button")
        assert page.text_content(".guide b") in ("Right", "Not quite")

    def test_a_page_that_is_loaded_again(self):
        page, person = self.table("classic", ["greedy", "sharp"], seed=11, calls=0)
        for _ in range(4):
            person.play(stop=lambda can: person.decisions % 3 == 2)
            person.decisions += 1
            before = page.evaluate(LOOK)
            page.reload()
            person.wait()
            assert page.evaluate(LOOK) == before

    def test_two_tabs(self):
        """A table is open in one tab at a time. Another tab gets it with a button, or when the first tab is closed."""
        one, person = self.table("classic", ["greedy"], 3)
        person.wait()
        other = one.context.new_page()
        other.goto(f"{self.address}play.html?table={person.table}")
        other.wait_for_selector("#take")
        self.is_well(other, "a table of another tab")
        one.keyboard.press("d")
        until(one, HOLDS)
        held = one.evaluate(LOOK)
        other.click("#take")
        until(other, HOLDS)
        assert other.evaluate(LOOK) == held
        one.wait_for_selector("#take")
        other.keyboard.press("x")
        until(other, f"!{HOLDS}")
        Person(other, 0).wait()
        left = other.evaluate(LOOK)
        other.close()
        Person(one, 0).wait()
        assert one.evaluate(LOOK) == left
        one.reload()
        Person(one, 0).wait()

    def test_hints_and_taking_back(self):
        page, person = self.table("classic", ["greedy", "heuristic"], seed=3)
        person.wait()
        page.keyboard.press("d")
        until(page, HOLDS)
        held = page.text_content(".question")
        page.keyboard.press("h")
        until(page, "document.querySelector('.hint-line').textContent.includes('suggests:')")
        page.keyboard.press("u")
        until(page, "document.querySelector('[data-verb=draw]')")
        page.keyboard.press("d")
        until(page, HOLDS)
        assert page.text_content(".question") == held, "the drawn card differs after an undo"

    def test_speed_decides_races(self):
        """Against agents with a reaction time of five seconds, an immediate snap wins every race."""
        page, person = self.table("classic", ["random"] * 5, 21, calls=0, passes=0, reaction=5000)
        races = "[...document.querySelectorAll('.log li')].map((line) => line.textContent).filter((line) => line.startsWith('Fastest: '))"
        person.play(stop=lambda can: can["hasEnded"] or len(page.evaluate(races)) >= 2)
        lines = page.evaluate(races)
        assert lines and all(line.startswith(("Fastest: you 0.", "Fastest: you 1.")) for line in lines if "you" in line)

    def test_risky_choices(self):
        """A call, and a snap of a card that is not known to match, need a confirmation, and so does the end of the match."""
        page, person = self.table("faessler", ["greedy", "greedy"], seed=4, calls=0, passes=1)
        person.play(stop=lambda can: "call" in can["verbs"])
        lines = lambda: page.evaluate("document.querySelector('.log').childElementCount")
        before = lines()
        page.keyboard.press("c")
        until(page, "document.querySelector('[data-confirm=call]')")
        assert page.evaluate("document.activeElement.classList.contains('bar')"), "the focus is not in the bar"

        def disarm():
            page.keyboard.press("Escape")
            until(page, "!document.querySelector('[data-confirm]')")

        disarm()
        assert lines() == before, "one key calls"

        def twice(*presses):
            """Two fast presses leave the confirmation open."""
            before = lines()
            for press in presses:
                press()
            page.wait_for_timeout(150)
            assert page.locator("[data-confirm]").count() and lines() == before, "the second of two fast presses confirms"
            disarm()

        key = lambda name: lambda: page.keyboard.press(name)
        twice(key("c"), key("c"))
        twice(key("c"), key("Enter"))
        twice(lambda: page.dblclick("[data-verb=call]"))
        # Without the checks of Playwright's click, which can take longer than a double click on a busy machine.
        twice(key("c"), lambda: page.evaluate("document.querySelector('[data-confirm]').click()"))
        risky = lambda: page.evaluate(
            "[...document.querySelectorAll('.card.offered:not(.marked)')].map((card) => card.dataset.place)"
        )
        person.play(stop=lambda can: "pass" in can["verbs"] and risky())
        place, before = risky()[0], lines()
        page.click(f'[data-place="{place}"]')
        until(page, "document.querySelector('[data-confirm]')")
        assert "penalty card" in page.text_content(".question") and lines() == before, "one click snaps an unknown card"
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

    def test_in_the_window(self):
        """All cards are inside the table and do not overlap, and the question and the buttons are in the window."""
        sizes = [(1366, 650, 3), (1366, 650, 8), (1280, 720, 2), (1280, 800, 8), (768, 1024, 4)]
        sizes += [(400, 740, 8), (360, 640, 8), (360, 640, 4), (360, 640, 2), (740, 360, 3)]
        for width, height, seats in sizes:
            page, person = self.table("original", ["greedy"] * (seats - 1), seed=seats, calls=0, width=width, height=height)
            person.play(stop=lambda can: person.decisions > 12 or can["hasEnded"])
            outside = page.evaluate(
                """() => [...document.querySelectorAll('.felt .card, .bar')].filter((element) => element.checkVisibility({visibilityProperty: true}) && !element.matches('.lifted')).filter((element) => {
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
            size = page.evaluate(SIZES)[0]
            assert size > (23 if seats > 4 or height < 400 else 40), (
                f"the cards have {size} px at {width}×{height} with {seats} seats"
            )
            assert not covered, f"cards overlap at {width}×{height} with {seats} seats: {covered}"
            assert not outside, f"outside the window at {width}×{height} with {seats} seats: {outside}"
            cut = page.evaluate(
                """() => [null, 'b', 'bc', 'all'].flatMap((who) => [...document.querySelectorAll('.seen')].filter((seen) => {
                    if (who) seen.lastChild.textContent = who;
                    if (who) seen.classList.toggle('long', who.length > 1);
                    return seen.scrollWidth > seen.clientWidth;
                }).map((seen) => `${seen.closest('.cell').title}: ${seen.textContent}`))"""
            )
            assert not cut, f"eyes at {width}×{height} with {seats} seats are cut: {cut}"
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
            assert not covering, f"marks at {width}×{height} with {seats} seats: {covering}"

    def test_nothing_moves_in_a_round(self):
        """In whole rounds with hints and a result, the board, the bar, the person's cards, the stock and the pile stay where they are."""
        for width, height, rules, seats in [(360, 740, "classic", 3), (400, 800, "original", 8), (1280, 800, "classic", 4)]:
            page, person = self.table(rules, ["greedy"] * (seats - 1), seats, calls=0.1, passes=0.6, width=width, height=height)
            page.goto(f"{page.url}{'&guide' if seats == 3 else ''}")
            person.wait()
            page.evaluate(
                """() => {
                    globalThis.places = {};
                    const look = () => {
                        const all = [...document.querySelectorAll('.board, .bar, .own .seat, .own .cell, .stock, .pile')];
                        // More than one penalty card makes the person's cards smaller.
                        for (const one of all.filter((one) => !one.matches('.cell') || one.parentElement.childElementCount < 6)) {
                            const name = one.querySelector('[data-place]') && one.matches('.cell') ? one.firstChild.dataset.place : one.className.split(' ')[0] + one.classList.contains('pile');
                            const place = [one.offsetLeft, one.offsetTop, one.offsetWidth, one.offsetHeight].join();
                            (globalThis.places[name] ??= new Set()).add(place);
                        }
                        requestAnimationFrame(look);
                    };
                    look();
                }"""
            )

            def hint(can, page=page, person=person):
                if not can["hasEnded"] and person.decisions == 3:
                    page.keyboard.press("h")
                    until(page, "document.querySelector('.hint-line').textContent.includes('suggests:')")
                return can["hasEnded"]

            person.play(stop=hint)
            page.wait_for_timeout(100)
            places = page.evaluate("Object.entries(globalThis.places).map(([name, all]) => [name, ...all])")
            moved = [place for place in places if len(place) > 2]
            assert len(places) >= 8 and not moved, f"{width}×{height} with {seats} seats: {moved}"

    def test_penalty_cards(self):
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
                page.evaluate(
                    "(most) => { globalThis.most = most; globalThis.board.render({...globalThis.board.scene}); }", [cards, theirs]
                )
                sizes[cards, theirs] = page.evaluate(SIZES)
                orders = page.evaluate(
                    """() => [...document.querySelectorAll('.seat')].map((seat) => [...seat.querySelectorAll('.cards .card')].map((card) => [card.getBoundingClientRect(), Number(card.dataset.place.slice(1))])
                        .sort(([one], [other]) => Math.round(one.top - other.top) || one.left - other.left).map(([, slot]) => slot))"""
                )
                assert all(order == sorted(order) for order in orders), f"{width}×{height}: the cards lie as {orders}"
            if width == 360:
                (others, own), (others_then, own_then) = sizes[4, 0], sizes[6, 0]
                assert others_then > 0.94 * others and own_then > 0.8 * own, f"{seats} seats: the widths of the cards are {sizes}"
                # Four penalty cards make only the person's cards smaller.
                others_last, own_last = sizes[8, 0]
                assert others_last > 0.94 * others and own_last > 34, f"{seats} seats: the widths of the cards are {sizes}"

    def test_a_result_on_a_phone(self):
        """At the end of a round, no card and no score is cut on a small screen, and the result needs at most 88 px."""
        for rules, seats in [("classic", 2), ("classic", 8), ("original", 4), ("original", 8)]:
            page, person = self.table(rules, ["heuristic"] * (seats - 1), seats, calls=0, passes=0.6, width=360, height=640)
            person.play(stop=lambda can: person.decisions >= 6 or can["hasEnded"])
            person.calls = 1
            person.play(stop=lambda can: can["hasEnded"])
            cut = page.evaluate(
                """() => {
                    const felt = document.querySelector('.felt').getBoundingClientRect();
                    const cards = [...document.querySelectorAll('.seat .card:not(.lifted)')].filter((card) => card.getBoundingClientRect().bottom > felt.bottom + 1);
                    // Two-digit numbers in all headers.
                    const heads = [...document.querySelectorAll('.seat header')].filter((head) => {
                        head.querySelector('.score').textContent = 28;
                        if (head.querySelector('.total').textContent) head.querySelector('.total').textContent = 63;
                        return head.scrollWidth > head.clientWidth;
                    });
                    return [...cards, ...heads].map((one) => one.dataset.place ?? one.textContent);
                }"""
            )
            assert not cut, f"{rules} with {seats} seats: {cut} is cut"
            height = page.evaluate("document.querySelector('.tools').offsetTop - document.querySelector('.bar').offsetTop")
            assert height <= 88, f"the result needs {height} px"

    def test_nothing_hidden_is_in_the_page(self):
        """Opponents' cards are face down, and a match in progress cannot be watched."""
        page, person = self.table("classic", ["greedy", "heuristic"], seed=9)
        person.wait()
        assert page.locator(".others .card.up").count() == 0
        page.goto(page.url.replace("play.html?table", "watch.html?table"))
        page.wait_for_selector(".trouble")
        assert "in progress" in page.text_content(".trouble")

    def test_pages_at_both_widths(self):
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
            for path in ["watch.html", "analyse.html", "runs.html"] if (width, scheme) in [(1280, "light"), (400, "dark")] else []:
                page.goto(self.address + path)
                page.wait_for_selector("h1")
                page.wait_for_timeout(150)
                self.is_well(page, f"{path} {where}")

    def test_watching(self):
        page = self.page()
        self.watch(page, self.records)
        address = page.url.split("#")[0]
        page.goto(f"{address}#round=1&decision=9")
        until(page, "document.querySelector('.caption').textContent.startsWith('Round 1, decision 9 ')")
        lines = page.locator(".transcript a").all_text_contents()
        assert all(
            re.match(r"The deal$|(All|[A-Z][a-z]+( and [A-Z][a-z]+)*) pass$|(Steady|Skilled|Sharp) [a-z]+s( |$)", line)
            for line in lines
        ), f"these are not sentences: {lines}"
        self.has_names(page, "the viewer")
        self.is_well(page, "the viewer")
        page.keyboard.press("ArrowRight")
        until(page, "location.hash === '#round=1&decision=10'")
        page.keyboard.press("Shift+ArrowRight")
        assert "decision=10" not in page.url, "Shift+ArrowRight does not advance by a turn"
        open_cards = lambda: page.evaluate("document.querySelectorAll('.seat .card.up').length")
        every = open_cards()
        page.keyboard.press("v")
        until(page, "location.hash.endsWith('&view=a')")
        assert open_cards() < every, "a seat sees every card"
        page.keyboard.press("ArrowRight")
        seen = page.locator(".seers li").all_text_contents()
        tags = page.evaluate(
            "[...document.querySelectorAll('.cell .card')].filter((card) => card.parentElement.querySelector('.seen')?.textContent.match(/^(all|.*b.*)$/)).map((card) => card.dataset.place).sort().join(', ')"
        )
        letters = page.evaluate(
            "Object.fromEntries([...document.querySelectorAll('.seat')].map((seat) => [seat.querySelector('.name').textContent + '’s', seat.dataset.seat]))"
        )
        told = re.findall(r"(their own|\w+’s) cards? ([\d, and]+)", seen[1])
        told = ", ".join(sorted(letters.get(owner, "b") + slot for owner, slots in told for slot in re.findall(r"\d", slots)))
        assert told == tags, f"{seen}, but the tags say {tags}"
        for width, height in [(1366, 650), (1280, 800)]:
            page.set_viewport_size({"width": width, "height": height})
            low = page.evaluate(LOWEST)
            assert low <= height, f"the controls end at {low} px of {height}"
        page.keyboard.press("End")
        until(page, "document.querySelector('.scores').childElementCount > 0")

    def test_a_swipe(self):
        """On a phone, a swipe over the card of a decision goes to the next one, and back."""
        page = self.page(400, height=800, has_touch=True)
        self.watch(page, self.records)
        page.keyboard.press("ArrowRight")
        swipe = """(end) => {
            const part = document.querySelector('.part.why');
            for (const [kind, x] of [['touchstart', 200], ['touchend', end]]) {
                const touch = new Touch({ identifier: 0, target: part, clientX: x, clientY: 600 });
                part.dispatchEvent(new TouchEvent(kind, { touches: kind === 'touchend' ? [] : [touch], changedTouches: [touch] }));
            }
        }"""
        for end, decision in [(90, 2), (90, 3), (310, 2), (220, 2)]:
            page.evaluate(swipe, end)
            assert page.evaluate("location.hash") == f"#round=1&decision={decision}"

    def test_win_chance(self):
        """The win chances of a round are computed in the background; blunders are marked and reached with a click or a key."""
        page = self.page()
        # A match of `classic` with blunders.
        self.watch(page, self.records, 11)
        page.click("text=Analyse this round")
        until(page, "document.querySelector('.graph svg')")
        page.keyboard.press("ArrowRight")
        until(page, "document.querySelector('.caption').textContent.includes('decision 1 ')")
        until(page, "document.querySelector('.analysis progress').hidden", seconds=180)
        before = page.evaluate("document.querySelector('.costs').textContent")
        page.click(".strip input")
        middle = int(page.url.split("decision=")[1])
        decisions = page.evaluate("Number(document.querySelector('.strip input').max)")
        assert 0.4 < middle / decisions < 0.6, f"a click in the middle goes to decision {middle} of {decisions}"
        costly = page.evaluate(
            "[...document.querySelectorAll('.blunders a')].map((link) => [link.hash, link.parentElement.textContent])"
        )
        assert 1 <= len(costly) <= 3, f"{len(costly)} costly decisions are listed"
        # Each link shows the cards before the decision, with an arrow for the decision and one for the better one.
        for hash, text in costly:
            page.click("role=tab[name=Chances]")
            page.click(f".blunders a[href='{hash}']")
            until(page, f"location.hash === '{hash}'")
            page.wait_for_selector(".legend .played")
            better = text.split("“")[1].split("”")[0]
            assert page.text_content(".legend .better") == f"better: {better}"
            choices = page.locator(".choices th").all_text_contents()
            assert choices[0].lower() == better and sum(choice.endswith("played") for choice in choices) == 1, (
                f"{better}, {choices}"
            )
            assert all(page.locator(".choices td:nth-child(3)").all_text_contents()), "a choice has no word for its cost"
            grade = page.text_content(".reasons .grade")
            assert (grade in ("Mistake", "Blunder")) == page.locator(".reason").count(), f"{grade}: {page.text_content('.reasons')}"
        page.keyboard.press("o")
        assert page.locator(".arrows, .legend span").count() == 0, "there are arrows after the decision"
        page.keyboard.press("o")
        page.goto(page.url.split("&decision=")[0] + "&decision=0")
        blunders = page.locator(".graph .blunder").count()
        for _ in range(blunders):
            page.keyboard.press("b")
            assert page.text_content(".reasons .grade") == "Blunder" and "he better choice" in page.text_content(".reason")
        place = page.url
        page.keyboard.press("b")
        assert page.url == place, "there is a blunder that is not marked"
        # Each column of the table of luck and decisions adds up to the result in its last row.
        columns = page.evaluate(
            """() => {
                const rows = [...document.querySelectorAll('.parts tbody tr')].map((row) => [...row.querySelectorAll('td')].map((cell) => Number(cell.firstChild.textContent.replace('−', '-'))));
                return rows[0].map((_, seat) => rows.map((row) => row[seat]));
            }"""
        )
        assert len(columns) >= 2 and all(sum(column[:-1]) == column[-1] for column in columns), (
            f"the parts do not add up: {columns}"
        )
        assert abs(sum(column[-1] for column in columns) - 100) <= 3, f"the results are not the chances of one win: {columns}"
        spoken = [int(number.replace("−", "-")) for number in re.findall(r"[−+]?\d+", page.text_content(".split"))]
        assert sum(spoken[:-1]) == spoken[-1], f"the sentence does not add up: {page.text_content('.split')}"
        # Each mark of luck has its description at the decision.
        lucky = page.evaluate("document.querySelectorAll('.graph .luck').length")
        assert lucky >= 1 and page.locator(".marks svg").count() >= 1, f"{lucky} marks of luck in the match with the largest swing"
        said = 0
        for decision in range(decisions + 1):
            page.evaluate("([hash]) => { location.hash = hash; }", [f"{costly[0][0].split('&')[0]}&decision={decision}"])
            until(page, "(number) => document.querySelector('.caption').textContent.includes(`decision ${number} of`)", decision)
            said += "Luck (of draws, races or a reshuffle) changed" in page.text_content(".readout")
        assert said == lucky, f"{lucky} marks of luck, and {said} descriptions"
        page.click("role=tab[name=Chances]")
        page.select_option(".chances select", "own")
        own = page.evaluate(
            "[...document.querySelectorAll('.graph .point')].length + 100 * document.querySelectorAll('.graph .luck').length"
        )
        assert len(columns) < own <= decisions + len(columns), f"{own} points in the graph of what each player knew"
        self.is_well(page, "the chances with what each player knew")
        page.select_option(".chances select", "all")
        counted = page.locator(".summary li").all_text_contents()
        marked = sum(int(number) for line in counted for number in re.findall(r"(\d+) blunder", line))
        self.has_names(page, "the analysis")
        assert len(counted) == len(columns) and marked == blunders, f"{blunders} blunders are marked, {counted}"
        for width, scheme in [(1280, "light"), (400, "light"), (400, "dark"), (1280, "dark")]:
            page.set_viewport_size({"width": width, "height": 850})
            page.emulate_media(color_scheme=scheme)
            page.wait_for_timeout(100)
            self.is_well(page, f"win chance at {width} px, {scheme}")
        page.reload()
        page.wait_for_selector(".costs", state="attached")
        assert page.evaluate("document.querySelector('.costs').textContent") == before, (
            "the numbers change when the page is reloaded"
        )
        number = int(costly[0][0].split("decision=")[1])
        page.click("role=tab[name=Chances]")
        page.click("button:text-is('Try again') >> nth=0")
        page.click("nav >> text=Back to the review")
        page.wait_for_selector(".costs", state="attached")
        assert page.evaluate("document.querySelector('.costs').textContent") == before, "the analysis is lost"
        assert page.evaluate("location.hash") == costly[0][0], f"back at {page.url}, not at decision {number}"
        page.click("role=tab[name=Chances]")
        page.click("button:text-is('Try again') >> nth=0")
        page.wait_for_selector(".bar .question")
        person = Person(page, 3)
        can = person.wait()
        assert can["question"], "the person is not asked"
        assert page.locator("text=Hint").count() > 0, "a continued match is not for practice"

    def test_two_bots(self):
        """Two agents play a match, which is shown in the viewer."""
        page = self.open("watch.html", "#bots")
        self.is_well(page, "the page to replay a match")
        page.select_option(".row label select >> nth=1", "learned")
        page.click("#bots")
        page.wait_for_selector(".caption")
        title = page.text_content("h1")
        assert title == "Strong against Casual" and "Strong is learned" in page.text_content(".facts")
        page.reload()
        page.wait_for_selector(".caption")
        assert page.text_content("h1") == title, "the match is lost when the page is reloaded"

    def test_a_position_is_set_up_and_advised(self):
        """A reader sets up a position by mouse, gets advice, and finds it again behind its link."""
        line = "[aria-label='The position as text']"
        for width in (360, 1280):
            page = self.open("analyse.html", ".analyse", width=width)
            for spot, card in [("a3", "3 of hearts"), ("a4", "Ace of spades"), ("pile", "9 of clubs")]:
                page.click(f"#{spot}")
                page.click(f"dialog [aria-label^='{card}']")
            page.select_option("#Now", "held")
            page.fill("#turn", "3")
            page.press("#turn", "Tab")
            page.click("#held")
            self.is_well(page, f"the choice of a card at {width} px")
            page.click("dialog [aria-label^='5 of diamonds']")
            text = page.input_value(line)
            assert text == "classic a=?,?,3h,As b=?,?,?/b,?/b turns=3 phase=held held=5d pile=9c"
            page.click("button[type=submit]")
            page.wait_for_selector(".advice tbody tr >> nth=3")
            assert page.text_content(".advice h2") == "Replace card 1"
            self.is_well(page, f"the advice at {width} px")
            page.reload()
            page.wait_for_selector("#held")
            assert page.input_value(line) == text
        page.fill(line, "classic a=7s,7s,?,? b=?,?,?,?")
        page.press(line, "Enter")
        assert "but the deck has 1" in page.text_content(".trouble")
        self.watch(page, self.records)
        page.goto(f"{page.url.split('#')[0]}#round=1&decision=9")
        until(page, "document.querySelector('.caption').textContent.startsWith('Round 1, decision 9 ')")
        page.click("text=Open as a position")
        page.wait_for_selector(".analyse")
        found = subprocess.run([CAMBIO, "replay", "--position", "1.9", self.records], check=True, capture_output=True, text=True)
        assert page.input_value(line).split(" ")[:4] == found.stdout.split("\n")[0].split(" ")[:4]

    def test_strange_settings(self):
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
            summary = page.text_content(".summary")
            assert summary.endswith("Classic, against Ben (Casual) and Cleo (Casual)"), f"{where}: {summary}"
            assert page.is_checked("#guided"), f"{where}: the guide is off"
            page.click("#deal")
            page.wait_for_selector(".bar .question:not(:empty)")
            chosen = page.evaluate("[...document.querySelectorAll('.settings select, .side .row select')].map((one) => one.value)")
            assert sorted(chosen) == ["0", "known", "learned", "normal"], f"{where}: {chosen}"
            assert not page.is_checked(".settings input"), f"{where}: sounds are on"
            page.goto(f"{self.address}watch.html")
            page.wait_for_selector("#bots")
            page.goto(f"{self.address}watch.html?linked=1")
            page.wait_for_selector("#bots")
            assert not self.errors, f"{where}: {self.errors}"
        page = self.page()
        page.goto(self.address)
        page.evaluate(
            'localStorage.setItem(\'cambio.pace\', \'"fast"\'); localStorage.setItem(\'cambio.wish\', \'{"rules": "original", "opponents": ["greedy"], "seat": 7}\')'
        )
        page.reload()
        page.wait_for_selector("#deal")
        page.uncheck("#guided")
        assert page.text_content(".summary") == "Das Original, against Ben (Steady)"
        page.click("#deal")
        page.wait_for_selector(".bar .question:not(:empty)")
        assert page.input_value(".settings select >> nth=0") == "fast", "a valid setting is ignored"

    def test_one_click_one_table(self):
        """Three fast clicks on a button open one table."""
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
            assert opened == 1, f"three clicks on {what} open {opened} tables"

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
        page = self.open("", "#deal")
        page.evaluate(
            "() => { Storage.prototype.set = Storage.prototype.setItem; Storage.prototype.setItem = () => { throw new Error(); }; }"
        )
        page.click("#deal")
        page.wait_for_selector(".trouble:not([hidden])")
        page.evaluate("() => { Storage.prototype.setItem = Storage.prototype.set; }")
        clicks(page, "#deal", "Play after an error")

    def test_the_match_of_a_tab(self):
        """A match from a file stays when its page is loaded again, and the review of a tried decision leads back to its match."""
        page = self.page()
        matches = [json.loads(line) for line in (self.records).read_text().splitlines()[:2]]
        files = [self.folder / f"match-{number}.jsonl" for number in range(2)]
        for file, match in zip(files, matches, strict=True):
            file.write_text(json.dumps(match))
        title = lambda: page.wait_for_selector(".caption") and page.text_content("h1")
        first, second = (titled(match["agents"], **LEVELS) for match in matches)
        assert first != second, "the matches have the same title"
        for address in ["watch.html?linked", "watch.html?table=999999", "watch.html"]:
            self.watch(page, files[0], address=address)
            assert title() == first
            page.reload()
            assert title() == first, f"a file chosen at {address} is lost when the page is loaded again"
        page.keyboard.press("ArrowRight")
        page.click(".onward")
        page.wait_for_selector(".to-review")
        review = page.url
        page.click("nav a:text-is('Watch')")
        page.set_input_files("input[type=file]", files[1])
        assert title() == second
        page.goto(review)
        page.click(".to-review")
        assert title() == first, f"the review of the first match leads to {title()}"
        assert "decision=1" in page.url
        # More matches than a tab keeps.
        for number in range(12):
            files[0].write_text(json.dumps(matches[0] | {"agents": [f"match {number}", "two", "three"]}))
            self.watch(page, files[0])
        page.reload()
        assert title() == "match 11 against two and three"

    def test_records_with_strange_fields(self):
        """A record with a wrong seat of the person is shown without the person; labels of cards are plain text."""
        page = self.page()
        match = json.loads((self.records).read_text().splitlines()[6])
        file = self.folder / "strange.jsonl"

        def show(record):
            file.write_text(json.dumps(record))
            self.watch(page, file)

        show(match)
        self.analyse(page)
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
            assert page.text_content("h1") == titled(match["agents"], **LEVELS), f"{about}: {page.text_content('h1')}"
            headings = page.locator(".chances h2").all_text_contents()
            assert headings[:2] == ["The costliest decisions", "Luck and decisions"], f"{about}: {headings}, {self.errors}"
            assert not self.errors, f"{about}: {self.errors}"
        review(match | {"x-person": {"seat": "b"}})
        assert page.text_content(".chances h2") == "Your costliest decisions"
        # Labels and a rank that mean something in a regular expression or in JavaScript.
        rules = subprocess.run([CAMBIO, "rules", "classic"], check=True, capture_output=True, text=True).stdout
        for suit, end in [("h", "("), ("d", "["), ("c", "+)+$"), ("s", "\\")]:
            rules = re.sub(rf'label = "(\w+){suit}"', lambda found, end=end: f"label = '{found[1]}{end}'", rules)
        rules = rules.replace('rank = "JK"', 'rank = "constructor"').replace('name = "classic"', 'name = "constructor"')
        person = Person(page, 5, calls=0.1)
        person.sit(self.address, rules, ["greedy", "greedy"])
        person.play()
        log = page.text_content(".log")
        page.click(".result a:text-is('Review')")
        page.wait_for_selector(".caption")
        page.keyboard.press("End")
        told = page.text_content(".transcript")
        for words in (log, told):
            assert re.search(r"\d[♥♦♣♠]", words) and not re.search(r"\d[(\[+\\]", words), (
                f"the labels of cards are not names: {words[:500]}"
            )
        assert not self.errors

    def test_the_guide_goes_on(self):
        """After a reload during a lesson, the guide goes on, and a closed guide stays closed."""
        page = self.page()
        page.goto(self.address)
        page.click("#deal")
        page.wait_for_url("**/play.html?table=*")
        page.click(".pointed")
        page.wait_for_selector(".pointed[data-place=a3]")
        look = "document.querySelector('.guide:not([hidden])')?.innerText ?? 'closed'"
        before = page.evaluate(look)
        page.reload()
        page.wait_for_selector(".pointed[data-place=a3]")
        assert page.evaluate(look) == before
        page.click(".guide button:text-is('Close')")
        page.reload()
        Person(page, 5).wait()
        assert page.evaluate(look) == "closed", "a closed guide comes back"


class TestServer(Checks):
    """What only `cambio serve` and its command can do, and all other checks."""

    host = "server"

    def test_a_restart_of_the_server(self):
        """A match and an analysis go on in the open page when a killed server starts again."""
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        lost = lambda where: f"document.querySelector('{where}').textContent.startsWith('No connection to the server')"
        environment = os.environ | {"XDG_STATE_HOME": str(self.folder)}
        serve = lambda: serving(CAMBIO, "serve", "--port", str(port), env=environment)
        page = self.page()
        person = Person(page, 4)
        with serve() as address:
            person.sit(address, "classic", ["greedy"])
            person.wait()
            page.keyboard.press("d")
            until(page, HOLDS)
            page.evaluate("globalThis.isSamePage = true")
        until(page, lost(".question"))
        with serve() as again:
            assert again == address
            until(page, HOLDS)
            person.play()
            assert page.evaluate("globalThis.isSamePage"), "the page was loaded again"
            page.click(".result >> text=Review")
            page.click("text=Analyse this round")
            page.wait_for_selector(".analysis progress:not([hidden])")
        until(page, lost(".analysis [role=status]"))
        with serve():
            until(page, ANALYSED, seconds=180)
            # The browser reports each request without an answer.
            self.errors[:] = [error for error in self.errors if "Failed to load resource" not in error]
            self.is_well(page, "the analysis after a restart")

    def test_run_folders(self):
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
        match = json.loads((self.records).read_text().splitlines()[6])
        assert page.text_content("h1") == titled(match["agents"])
        assert page.text_content(".facts").startswith("Classic, ")
        page.goto(f"{self.address}watch.html?run=one&match=999")
        page.wait_for_selector(".trouble")
        assert "found 999" in page.text_content(".trouble")
        page.goto(self.address + report)
        page.wait_for_selector("table")

    def test_a_page_from_disk(self):
        file = self.folder / "match.html"
        file.unlink(missing_ok=True)
        subprocess.run([CAMBIO, "replay", "--html", file, self.records], check=True, capture_output=True)
        page = self.page()
        page.goto(f"file://{file}#round=1&decision=5")
        until(page, "document.querySelector('.caption').textContent.startsWith('Round 1, decision 5 ')")
        decisions = int(page.text_content(".facts").split(" decisions")[0].split()[-1])
        size = file.stat().st_size
        assert size * 200 < 300_000 * max(decisions, 200), f"{size} bytes for {decisions} decisions"
        self.is_well(page, "the page from disk")
        printed = page.pdf()
        assert len(printed) > 10_000, "the printed page is empty"
        (self.folder / "analysed.html").unlink(missing_ok=True)
        # Line 7 is the first match of `classic`, which has one round.
        words = ["--html", self.folder / "analysed.html", "--analysis", "--line", "7", self.records]
        subprocess.run([CAMBIO, "replay", *words], check=True, capture_output=True)
        page.goto(f"file://{self.folder}/analysed.html")
        page.wait_for_selector(".graph svg")
        assert page.locator(".chances details .costs tbody tr").count() == 3
        assert not page.is_visible("text=Analyse this round") and page.locator("text=Try again").count() == 0, "needs a server"
        page.click("role=tab[name=Chances]")
        page.click(".blunders a >> nth=0")
        until(page, "document.querySelector('.legend .better')")
        self.is_well(page, "the page from disk with the analysis")

    @pytest.mark.skipif("CAMBIO_PICTURES" not in os.environ, reason="CAMBIO_PICTURES does not name a folder")
    def test_pictures(self):
        """Writes the screenshots for the book."""
        folder = Path(os.environ["CAMBIO_PICTURES"])
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
        self.watch(page, self.records, 11)
        self.analyse(page)
        # The second blunder has several choices.
        page.keyboard.press("b")
        page.keyboard.press("b")
        page.wait_for_timeout(500)
        page.screenshot(path=folder / "understand.png")
        page.click("role=tab[name=Chances]")
        page.evaluate("document.querySelector('.split').scrollIntoView()")
        page.screenshot(path=folder / "luck.png")


class TestSite(Checks):
    """The same pages without a server: the program runs in the page."""

    host = "site"

    def test_a_match_without_a_server(self):
        """A whole match against a network, which the page loads when it needs it, then its file and its replay."""
        page = self.page()
        person = Person(page, 1, calls=0.2)
        person.sit(self.address, "classic", ["learned"])
        assert not any("many.net" in url for url in self.requests if not page.context.service_workers)
        person.play()
        self.is_well(page, "the end of a match without a server")
        with page.expect_download() as saved:
            page.click(".result [popovertarget=share]")
            page.click(".result button:text-is('Save')")
        file = self.folder / "site.jsonl"
        saved.value.save_as(file)
        self.passes(file)
        page.click(".result a:text-is('Review')")
        page.wait_for_selector(".caption")
        assert page.text_content("h1") == "You against Ben (practice)"
        assert page.get_attribute(".others .name", "title") == "learned", "the tooltip of a bot is not its agent"

    def test_a_slow_connection(self):
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
        assert megabytes < 2.5, f"{megabytes:.2f} MB before the first card"
        assert seconds < 2 or os.getloadavg()[0] > 1, f"{seconds:.1f} s until the first card"

    def test_drawn_rule_files(self):
        """Under rules drawn at random: a whole match with a hint, and the review of a round."""
        number = 20 if os.environ.get("CAMBIO_FULL") == "1" else 1
        command = f"cargo run --quiet --release -p cambio-learn --example general -- {self.folder}/drawn {number} 0"
        subprocess.run(command.split(), cwd=website.ROOT, check=True)
        for drawn in range(number):
            rules = (self.folder / f"drawn/drawn-{drawn}.toml").read_text()
            page, person = self.table(rules, ["learned"], drawn, calls=0.3)
            hints = []

            def ask(can, page=page, hints=hints):
                if not hints and not can["hasEnded"]:
                    page.keyboard.press("h")
                    until(page, "document.querySelector('.hint-line')?.textContent.includes('suggests:')")
                    hints.append(page.text_content(".hint-line"))
                return False

            person.play(stop=ask)
            assert hints, f"drawn-{drawn}: no hint"
            file = self.folder / f"drawn-{drawn}.jsonl"
            file.write_text(page.evaluate(RECORD, person.table))
            self.passes(file)
            page.click(".result a:text-is('Review')")
            page.wait_for_selector(".caption")
            self.analyse(page)
            costs = page.text_content(".costs")
            assert costs, f"drawn-{drawn}: an empty review"
            self.is_well(page, f"the review under drawn-{drawn}")

    def test_links_and_the_daily_deal(self):
        """The daily deal is the same everywhere; links open the same deal, and a finished match in the replay page."""
        context = {"permissions": ["clipboard-read", "clipboard-write"]}
        page = self.page(**context)
        copied = lambda: page.evaluate("navigator.clipboard.readText()")
        page.goto(self.address)
        page.evaluate("localStorage.setItem('cambio.pace', '\"at once\"')")
        # A daily deal whose table was closed can be played, and no other table gets its number.
        page.click("#daily")
        page.wait_for_url("**/play.html?table=1&guide")
        page.wait_for_selector(".own .card")
        page.goto(self.address)
        # Once its page is left: an answer on its way there would store the table again.
        page.evaluate("localStorage.removeItem('cambio.table.1')")
        page.reload()
        page.wait_for_selector("#daily")
        assert page.text_content("#daily") == "Play"
        page.click("#daily")
        page.wait_for_url("**/play.html?table=2&guide")
        person = Person(page, 4, calls=0.3)
        person.wait()
        seen = "[...document.querySelectorAll('.own .card')].map((card) => card.getAttribute('aria-label'))"
        first = page.evaluate(seen)
        person.play()
        # The line has par and the blunders when they are computed.
        until(page, "/par.* blunders?$/.test(document.querySelector('.result .daily').textContent)", seconds=180)
        links = {}
        page.click(".result [popovertarget=share]")
        for name in ["Copy the result", "Challenge a friend", "Share the replay"]:
            page.click(f".result button:text-is('{name}')")
            until(page, f"![...document.querySelectorAll('.result button')].some((one) => one.textContent === '{name}')")
            links[name] = copied()
        line = links["Copy the result"].split(". ")[0]
        assert re.fullmatch(r"Cambio #\d+: −?\d+ points?, par −?\d+, \d+ blunders?", line)
        assert len(links["Share the replay"]) < 8000
        page.goto(self.address)
        page.wait_for_selector("#daily-deal")
        assert line in page.text_content("#daily-deal")
        assert page.locator(".days li").last.text_content() == re.search(r": (\S+)", line)[1]
        self.is_well(page, "the start page after the daily deal")
        # Another browser, which has stored nothing.
        page = self.open("", "#deal")
        page.evaluate("(link) => { location.hash = new URL(link).hash; }", links["Challenge a friend"])
        page.wait_for_url("**/play.html?table=*")
        Person(page, 4).wait()
        assert page.evaluate(seen) == first, f"the link deals {page.evaluate(seen)}, the match had {first}"
        page.goto(links["Share the replay"])
        page.wait_for_selector(".caption")
        title = page.text_content("h1")
        assert sorted(title.split(" against ")) in (["Ada", "You"], ["Ben", "You"])
        self.analyse(page)
        own = next(text for text in page.locator(".summary li").all_text_contents() if text.startswith("You: "))
        blunders = re.search(r"(\d+) blunder", own)
        assert f", {blunders[1] if blunders else 0} blunder" in line, f"{line!r}, but the review says {own!r}"
        page.reload()
        page.wait_for_selector(".caption")
        assert page.text_content("h1") == title, "the match is lost when the page is reloaded"
        self.is_well(page, "a match from a link")
        page.goto("about:blank")
        # Links that a program has cut.
        for cut in ["watch.html#match=abc", "#" + links["Challenge a friend"].split("#")[1][:-3]]:
            page.goto("about:blank")
            page.goto(self.address + cut)
            page.wait_for_selector(".trouble")
            assert "damaged" in page.text_content(".trouble")

    def test_a_published_run(self):
        """Random matches of a published run are played again in the page; a changed result is found; a match opens in the viewer."""
        page = self.open("runs.html", "main li a")
        self.is_well(page, "the list of published runs")
        page.click("main li a")
        page.wait_for_selector("#check")
        page.set_viewport_size({"width": 360, "height": 740})
        self.is_well(page, "a published run on a narrow screen")
        page.set_viewport_size({"width": 1280, "height": 800})
        table = "[...document.querySelectorAll('table.list')].map((one) => [...one.tBodies[0].rows].map((row) => [...row.cells].map((cell) => cell.textContent)))"
        standings = page.evaluate(table)[:2]
        assert [rows[-1][0].strip() for rows in standings] == ["random", "random"], f"random is not last: {standings}"
        page.click("#check")
        until(page, "document.querySelector('main [role=status]').textContent.includes('agree')", seconds=120)
        verdict = page.text_content("main [role=status]")
        assert verdict.startswith("All 20 matches agree")
        checked = page.evaluate(table)[2]
        assert len(checked) == 20 and all(row[5] == "the same" for row in checked)
        self.is_well(page, "a published run")
        page.click(".scroll a >> nth=0")
        page.wait_for_selector(".caption")
        assert page.text_content("h1") == " against ".join(checked[0][3].split(", ")), f"{page.text_content('h1')}: {checked[0]}"
        # All rows are changed, so that each check finds a difference.
        changed = lambda text: re.sub(r"[0-9a-f]{16}", "0123456789abcdef", text)
        context = self.page(service_workers="block").context
        context.route("**/runs/levels.json", lambda route: route.fulfill(body=changed(route.fetch().text())))
        page = context.pages[0]
        page.goto(f"{self.address}runs.html?run=levels")
        page.click("#check")
        until(page, "document.querySelector('main .trouble')", seconds=120)
        assert "20 of 20 matches differ" in page.text_content(".trouble")
        page.goto(f"{self.address}runs.html?run=..%2Flevels")
        page.wait_for_selector("p.trouble")

    def test_full_and_blocked_storage(self):
        """In a full storage, finished matches make room, then the page warns. The start page needs no storage."""
        page, person = self.table("classic", ["greedy"], 3, calls=1)
        person.play()
        finished = f"cambio.table.{person.table}"
        person = Person(page, 3, calls=0)
        person.sit(self.address, "classic", ["greedy"])
        person.wait()
        fill = """() => {
            const add = (size) => localStorage.setItem(Math.random(), 'x'.repeat(size));
            for (let size = 1 << 22; size; size >>= 1) try { for (;;) add(size); } catch {}
        }"""
        page.evaluate(fill)
        person.decide(person.wait())
        person.wait()
        assert not page.evaluate("(key) => localStorage.getItem(key)", finished), "a finished match stays"
        assert not page.locator(".notice-box").count()
        page.evaluate(fill)
        person.play(stop=lambda can: person.decisions > 4)
        assert "no room" in page.text_content(".notice-box")
        self.is_well(page, "the table with a notice")
        page = self.page()
        blocked = "{ get() { throw new DOMException('', 'SecurityError'); } }"
        page.add_init_script(f"""for (const name of ['localStorage', 'sessionStorage'])
            Object.defineProperty(window, name, {blocked});""")
        page.goto(self.address)
        page.click("#deal")
        page.wait_for_selector(".trouble:not([hidden])")
        assert "allow this site to store data" in page.text_content(".trouble")

    def test_a_new_version(self):
        """A page offers the new version of its site, and keeps the files of another site on the same host."""
        with serving_site(self.folder) as host:
            copies = [self.folder / "host/copy", self.folder / "host/other"]
            for copy in copies:
                shutil.copytree(self.folder / "host/some/path", copy, dirs_exist_ok=True)
            page = self.page()
            for name in ("other", "copy"):
                page.goto(f"{host}{name}/")
                until(page, "navigator.serviceWorker.controller !== null")
            worker, pages = copies[0] / "service-worker.js", copies[0] / "index.html"
            worker.write_text(worker.read_text().replace("VERSION =", "VERSION = 'new ' +"))
            pages.write_text(pages.read_text().replace("<title>", "<title>New "))
            page.reload()
            page.wait_for_selector(".notice-box")
            assert page.title() == "Cambio"
            with page.expect_navigation():
                page.click(".notice-box .primary")
            page.wait_for_load_state()
            assert page.title() == "New Cambio"
            names = page.evaluate("caches.keys()")
            assert len(names) == 2 and sum("/other/-" in name for name in names) == 1, names

    def test_a_host_without_tls(self):
        """A button copies without the browser's clipboard, and the clock may be in the past."""
        page = self.page(permissions=["clipboard-read"])
        page.clock.set_system_time("2020-01-01")
        page.goto(self.address)
        page.evaluate("Object.defineProperty(navigator, 'clipboard', { value: undefined })")
        links = "(await import(new URL('assets/links.js', document.baseURI)))"
        button = f"{links}.shareButton(async () => record)"
        record = self.records.read_text().split("\n")[0]
        page.evaluate(f"async (record) => document.body.append({button})", record)
        page.click("text=Share the replay")
        page.wait_for_selector("button:text-is('Link copied')")
        page.click("#daily")
        page.wait_for_selector(".bar .question:not(:empty)")

    def test_offline(self):
        """The first page loads no network. After a match has begun, the site works without its host."""
        with serving_site(self.folder) as host:
            address = f"{host}some/path/"
            page = self.open(address, "#deal")
            until(page, "navigator.serviceWorker.controller !== null")
            page.context.set_offline(True)
            page.goto(f"{address}runs.html")
            assert "with a connection" in page.text_content(".trouble")
            page.context.set_offline(False)
            page.wait_for_timeout(4000)
            networks = "(async () => (await (await caches.open((await caches.keys())[0])).keys()).filter((one) => one.url.endsWith('.net')).length)()"
            assert page.evaluate(networks) == 0, "the first page loads networks"
            person = Person(page, 5)
            person.sit(address, "classic", ["greedy"])
            person.play(stop=lambda can: person.decisions >= 2)
            stored = len(list((website.ROOT / "cambio-agents/nets").glob("*.net")))
            until(page, f"{networks}.then((number) => number === {stored})")
        page.goto("about:blank")
        for rules, opponents in [("classic", ["greedy", "heuristic"]), ("original", ["learned"])]:
            person = Person(page, 5, calls=0.5)
            person.sit(address, rules, opponents)
            person.play()
        page.goto(f"{address}runs.html?run=levels")
        page.wait_for_selector("#check")
