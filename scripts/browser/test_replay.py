"""The pages that show finished matches and positions, with a server and without one."""

import json
import os
import re
import subprocess
from pathlib import Path

import pytest
from pages import ASK, CAMBIO, LEVELS, LOWEST, Checks, Person, at_decision, click, go, open_lesson, press, reload, titled, until


class ReplayChecks(Checks):
    def test_watching(self):
        page = self.page()
        self.watch(page, self.records)
        address = page.url.split("#")[0]
        page.goto(f"{address}#round=1&decision=9")
        at_decision(page, 9)
        lines = page.locator(".transcript a").all_text_contents()
        assert all(
            re.match(r"The deal$|(All|[A-Z][a-z]+( and [A-Z][a-z]+)*) pass$|(Steady|Skilled|Sharp) [a-z]+s( |$)", line)
            for line in lines
        ), f"these are not sentences: {lines}"
        self.has_names(page, "the viewer")
        self.is_well(page, "the viewer")
        press(page, "ArrowRight", "location.hash === '#round=1&decision=10'")
        page.keyboard.press("Shift+ArrowRight")
        assert "decision=10" not in page.url, "Shift+ArrowRight does not advance by a turn"
        open_cards = lambda: page.evaluate("document.querySelectorAll('.seat .card.up').length")
        every = open_cards()
        press(page, "v", "location.hash.endsWith('&view=a')")
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
        press(page, "End", "document.querySelector('.scores').childElementCount > 0")

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
        press(page, "ArrowRight", "document.querySelector('.caption').textContent.includes('decision 1 ')")
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
        reload(page, ".costs", state="attached")
        assert page.evaluate("document.querySelector('.costs').textContent") == before, (
            "the numbers change when the page is reloaded"
        )
        number = int(costly[0][0].split("decision=")[1])
        page.click("role=tab[name=Chances]")
        page.click("button:text-is('Try again') >> nth=0")
        click(page, "nav >> text=Back to the review", ".costs", state="attached")
        assert page.evaluate("document.querySelector('.costs').textContent") == before, "the analysis is lost"
        assert page.evaluate("location.hash") == costly[0][0], f"back at {page.url}, not at decision {number}"
        page.click("role=tab[name=Chances]")
        click(page, "button:text-is('Try again') >> nth=0", ".bar .question")
        person = Person(page, 3)
        can = person.wait()
        assert can["question"], "the person is not asked"
        assert page.locator("text=Hint").count() > 0, "a continued match is not for practice"

    def test_two_bots(self):
        """Two agents play a match, which is shown in the viewer."""
        page = self.open("watch.html", "#bots")
        self.is_well(page, "the page to replay a match")
        page.select_option(".row label select >> nth=1", "learned")
        click(page, "#bots", ".caption")
        title = page.text_content("h1")
        assert title == "Strong against Casual" and "Strong is learned" in page.text_content(".facts")
        reload(page, ".caption")
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
            click(page, "button[type=submit]", ".advice tbody tr >> nth=3")
            assert page.text_content(".advice h2") == "Replace card 1"
            self.is_well(page, f"the advice at {width} px")
            reload(page, "#held")
            assert page.input_value(line) == text
        impossible = "classic a=7s,7s,?,? b=?,?,?,?"
        for position, found in [(impossible, ".trouble:has-text('but the deck has 1')"), (text, ".advice tbody")]:
            page.fill(line, position)
            page.press(line, "Enter")
            page.wait_for_selector(found)
        # Under the rule file of the last match.
        wish = json.dumps({"file": 'base = "classic"\nname = "mine"\nhand = 6'})
        page.evaluate("(wish) => localStorage.setItem('cambio.wish', wish)", wish)
        reload(page, ".analyse")
        page.select_option("#Rules", label="my own rule file")
        click(page, "#a6", "dialog")
        page.press(".kinds [tabindex='0']", "ArrowRight")
        assert page.evaluate("document.activeElement.matches('.kinds > :nth-child(2)')"), "the arrow keys move to no face"
        page.keyboard.press("Escape")
        assert page.input_value(line).startswith('{"base":"classic","name":"mine","hand":6} a=')
        page.fill(line, "classic a=?,?,5h,2d b=?,?,?/b,?/b turns=3 pile=Qh")
        page.press(line, "Enter")
        page.select_option("#Now", "power")
        click(page, "button[type=submit]", ".advice tbody tr")
        assert page.input_value(line) == "classic a=?,?,5h,2d b=?,?,?/b,?/b turns=3 phase=power pile=Qh"
        self.watch(page, self.records)
        page.goto(f"{page.url.split('#')[0]}#round=1&decision=9")
        at_decision(page, 9)
        click(page, "text=Open as a position", ".analyse")
        found = subprocess.run([CAMBIO, "replay", "--position", "1.9", self.records], check=True, capture_output=True, text=True)
        assert page.input_value(line).split(" ")[:4] == found.stdout.split("\n")[0].split(" ")[:4]

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
        click(page, ".onward", ".to-review")
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

    @Checks.looks
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
        click(page, ".result a:text-is('Review')", ".caption")
        page.keyboard.press("End")
        told = page.text_content(".transcript")
        for words in (log, told):
            assert re.search(r"\d[♥♦♣♠]", words) and not re.search(r"\d[(\[+\\]", words), (
                f"the labels of cards are not names: {words[:500]}"
            )
        assert not self.errors


class TestServer(ReplayChecks):
    """Also the run folders of a server, and pages from the command."""

    host = "server"

    def test_run_folders(self):
        """The list of runs sorts, a report opens, and a match opens by its number."""
        page = self.open("runs.html", "table.list")
        click(page, "table.list thead button:text-is('run')", "th[aria-sort=ascending]")
        report = page.get_attribute("a:text-is('report')", "href")
        click(page, "a:text-is('matches')", "#watch")
        self.is_well(page, "the page of a run")
        page.fill("input[type=number]", "7")
        click(page, "#watch", ".caption")
        match = json.loads((self.records).read_text().splitlines()[6])
        assert page.text_content("h1") == titled(match["agents"])
        assert page.text_content(".facts").startswith("Classic, ")
        go(page, f"{self.address}watch.html?run=one&match=999", ".trouble")
        assert "found 999" in page.text_content(".trouble")
        go(page, self.address + report, "table")

    def test_a_page_from_disk(self):
        file = self.folder / "match.html"
        file.unlink(missing_ok=True)
        subprocess.run([CAMBIO, "replay", "--html", file, self.records], check=True, capture_output=True)
        page = self.page()
        page.goto(f"file://{file}#round=1&decision=5")
        at_decision(page, 5)
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
        go(page, f"file://{self.folder}/analysed.html", ".graph svg")
        assert page.locator(".chances details .costs tbody tr").count() == 3
        assert not page.is_visible("text=Analyse this round") and page.locator("text=Try again").count() == 0, "needs a server"
        page.click("role=tab[name=Chances]")
        page.click(".blunders a >> nth=0")
        until(page, "document.querySelector('.legend .better')")
        self.is_well(page, "the page from disk with the analysis")

    @pytest.mark.skipif("CAMBIO_PICTURES" not in os.environ, reason="CAMBIO_PICTURES does not name a folder")
    def test_pictures(self):
        """Writes the screenshots for the book."""
        shoot = lambda name: page.wait_for_timeout(1800) or page.screenshot(path=Path(os.environ["CAMBIO_PICTURES"], f"{name}.png"))
        page = self.open("", "#deal")
        shoot("start")
        open_lesson(page, 2)
        page.wait_for_selector(".pointed")
        shoot("lesson")
        for width, scheme, name, other in [(1280, "light", "table", "result"), (400, "dark", "table-dark", "snap")]:
            page, person = self.table("classic", ["greedy", "greedy"], 2, 0, 0.85, width, scheme)
            person.play(stop=lambda can: person.decisions >= 4 and can["cards"] and "hold" in can["question"])
            shoot(name)
            person.calls = 1
            person.play(stop=lambda can: can["hasEnded"] or (other == "snap" and "pass" in can["verbs"]))
            shoot(other)
        page = self.open("analyse.html#position=classic a=?,?,3h,As b=?,?,?/b,?/b turns=3 phase=held held=5d pile=9c", ".analyse")
        click(page, "button[type=submit]", ".advice tbody tr")
        shoot("position")
        page = self.page()
        self.watch(page, self.records, 11)
        page.goto(f"{page.url.split('#')[0]}#round=1&decision=22")
        shoot("watch")
        self.analyse(page)
        # The second blunder has several choices.
        page.keyboard.press("b")
        page.keyboard.press("b")
        shoot("understand")
        page.click("role=tab[name=Chances]")
        shoot("luck")


class TestSite(ReplayChecks):
    host = "site"
