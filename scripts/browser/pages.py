"""What the tests of all pages share: the servers, a person at a table, and checks of a page."""

import contextlib
import os
import random
import re
import subprocess
import sys
import time
from pathlib import Path
from urllib.parse import urljoin

import pytest
import website
from axe_playwright_python.sync_playwright import Axe

CAMBIO = Path(os.environ.get("CAMBIO_BIN", website.TARGET / "release/cambio")).resolve()


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


def go(page, address, selector):
    """Opens an address, and waits for an element."""
    page.goto(address)
    page.wait_for_selector(selector)


def reload(page, selector, **how):
    """Loads the page again, and waits for an element."""
    page.reload()
    page.wait_for_selector(selector, **how)


def click(page, button, selector, **how):
    """Clicks, and waits for an element."""
    page.click(button)
    page.wait_for_selector(selector, **how)


def open_lesson(page, number):
    """Opens a lesson from the start page. Does not wait for it, because the page is left on the way."""
    page.evaluate(
        "(number) => { import(new URL('assets/guide.js', document.baseURI)).then(({ openLesson }) => openLesson(number)); }", number
    )


def press(page, key, expression):
    """Presses a key, and waits until an expression is true."""
    page.keyboard.press(key)
    until(page, expression)


def at_decision(page, number):
    """Waits until the viewer shows a decision of the first round."""
    until(page, f"document.querySelector('.caption').textContent.startsWith('Round 1, decision {number} ')")


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

    def draw(self):
        """Draws a card in the first turn."""
        self.wait()
        press(self.page, "d", HOLDS)

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


class Checks:
    """The checks of the pages, whatever answers their requests: the fixture `host`."""

    @staticmethod
    def looks(check):
        """A check of looks, which are the same whatever answers: only on the site, unless CAMBIO_FULL is 1."""
        check.looks = os.environ.get("CAMBIO_FULL") != "1"
        return check

    @pytest.fixture(autouse=True)
    def pages(self, request, browser, folder):
        if self.host == "server" and getattr(request.function, "looks", False):
            pytest.skip("the same on the site")
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
        go(page, urljoin(self.address, address), selector)
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
