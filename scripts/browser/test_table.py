"""The start page and the table at which a person plays, with a server and without one."""

import json

from pages import HOLDS, LOOK, RECORD, SIZES, Checks, Person, click, go, open_lesson, press, reload, until

PRESETS = ["original", "original-b", "original-c", "original-d", "faessler", "classic"]


class TableChecks(Checks):
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
        page = self.open("", "#deal")
        page.evaluate("localStorage.setItem('cambio.pace', '\"at once\"')")
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
        assert page.text_content(".unseen").startswith(" You see "), "a screen reader does not say the cards of the first look"
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
        page.keyboard.press("Enter")
        page.wait_for_selector("main:has(#daily):not(:has(.tables))")

    def test_a_lesson_on_a_phone(self):
        """On a phone, a tap answers the question of a lesson, also after the end of the round."""
        page = self.open("", "#deal", width=360, height=740, has_touch=True)
        page.evaluate("localStorage.setItem('cambio.pace', '\"at once\"')")
        open_lesson(page, 3)
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
        go(other, f"{self.address}play.html?table={person.table}", "#take")
        self.is_well(other, "a table of another tab")
        press(one, "d", HOLDS)
        held = one.evaluate(LOOK)
        other.click("#take")
        until(other, HOLDS)
        assert other.evaluate(LOOK) == held
        one.wait_for_selector("#take")
        press(other, "x", f"!{HOLDS}")
        Person(other, 0).wait()
        left = other.evaluate(LOOK)
        other.close()
        Person(one, 0).wait()
        assert one.evaluate(LOOK) == left
        one.reload()
        Person(one, 0).wait()

    def test_two_links_at_once(self):
        """Links that are opened at the same time lead to different tables."""
        one = self.page()
        other = one.context.new_page()
        for page, seed in [(one, 1), (other, 2)]:
            page.goto(f"{self.address}play.html#deal=classic&seed={seed}&with=greedy", wait_until="commit")
        for page in (one, other):
            page.wait_for_url("**/play.html?table=*")
        assert one.url != other.url

    def test_hints_and_taking_back(self):
        page, person = self.table("classic", ["greedy", "heuristic"], seed=3)
        person.draw()
        held = page.text_content(".question")
        press(page, "h", "document.querySelector('.hint-line').textContent.includes('suggests:')")
        press(page, "u", "document.querySelector('[data-verb=draw]')")
        press(page, "d", HOLDS)
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
        press(page, "c", "document.querySelector('[data-confirm=call]')")
        assert page.evaluate("document.activeElement.classList.contains('bar')"), "the focus is not in the bar"

        def disarm():
            press(page, "Escape", "!document.querySelector('[data-confirm]')")

        disarm()
        assert lines() == before, "one key calls"

        def twice(*presses):
            """Two fast presses leave the confirmation open."""
            before = lines()
            for act in presses:
                act()
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
        assert "penalised" in page.text_content(".question") and lines() == before, "one click snaps an unknown card"
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

    @Checks.looks
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
            # The sizes depend on the window alone.
            for other_width, other_height in [(1600, 1000), (320, 420), (width, height)]:
                page.set_viewport_size({"width": other_width, "height": other_height})
                page.wait_for_timeout(100)
            assert page.evaluate(SIZES)[0] == size, f"other cards after a resize at {width}×{height} with {seats} seats"
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

    @Checks.looks
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
                    press(page, "h", "document.querySelector('.hint-line').textContent.includes('suggests:')")
                return can["hasEnded"]

            person.play(stop=hint)
            page.wait_for_timeout(100)
            places = page.evaluate("Object.entries(globalThis.places).map(([name, all]) => [name, ...all])")
            moved = [place for place in places if len(place) > 2]
            assert len(places) >= 8 and not moved, f"{width}×{height} with {seats} seats: {moved}"

    @Checks.looks
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
            press(page, "d", "globalThis.board && document.querySelector('.question').textContent.startsWith('You hold')")
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

    @Checks.looks
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
        go(page, page.url.replace("play.html?table", "watch.html?table"), ".trouble")
        assert "in progress" in page.text_content(".trouble")

    @Checks.looks
    def test_pages_at_both_widths(self):
        for width, scheme in [(1280, "light"), (1280, "dark"), (400, "light"), (400, "dark")]:
            page = self.page(width, scheme)
            where = f"at {width} px, {scheme}"
            go(page, self.address, "#deal")
            self.is_well(page, f"the first page {where}")
            person = Person(page, 1)
            person.sit(self.address, "faessler", ["greedy"] * 7 if width == 1280 else ["greedy"] * 3)
            person.wait()
            self.is_well(page, f"the table {where}")
            person.play(stop=lambda can: person.decisions > 6)
            self.is_well(page, f"the table after some decisions {where}")
            for path in ["watch.html", "analyse.html", "runs.html"] if (width, scheme) in [(1280, "light"), (400, "dark")] else []:
                go(page, self.address + path, "h1")
                page.wait_for_timeout(150)
                self.is_well(page, f"{path} {where}")

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
            page = self.open("", "#deal")
            page.evaluate(
                """([keys, value]) => {
                    for (const store of [localStorage, sessionStorage]) for (const key of keys) store.setItem(`cambio.${key}`, value);
                    for (const table of ["5", "x", "1e3"]) localStorage.setItem(`cambio.table.${table}`, value);
                }""",
                [keys, value],
            )
            reload(page, "#deal")
            page.wait_for_timeout(50)
            where = f"with the stored value {value}"
            summary = page.text_content(".summary")
            assert summary.endswith("Classic, against Ben (Casual) and Cleo (Casual)"), f"{where}: {summary}"
            assert page.is_checked("#guided"), f"{where}: the guide is off"
            click(page, "#deal", ".bar .question:not(:empty)")
            chosen = page.evaluate("[...document.querySelectorAll('.settings select, .side .row select')].map((one) => one.value)")
            assert sorted(chosen) == ["0", "known", "learned", "normal"], f"{where}: {chosen}"
            assert not page.is_checked(".settings input"), f"{where}: sounds are on"
            go(page, f"{self.address}watch.html", "#bots")
            go(page, f"{self.address}watch.html?linked=1", "#bots")
            assert not self.errors, f"{where}: {self.errors}"
        page = self.open("", "#deal")
        page.evaluate(
            'localStorage.setItem(\'cambio.pace\', \'"fast"\'); localStorage.setItem(\'cambio.wish\', \'{"rules": "original", "opponents": ["greedy"], "seat": 7}\')'
        )
        reload(page, "#deal")
        page.uncheck("#guided")
        assert page.text_content(".summary") == "Das Original, against Ben (Steady)"
        click(page, "#deal", ".bar .question:not(:empty)")
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

        page = self.open("", "#deal")
        clicks(page, "#deal", "Play")
        person = Person(page, 2, calls=1)
        page.evaluate("localStorage.setItem('cambio.pace', '\"at once\"')")
        page.reload()
        person.play()
        clicks(page, "#again", "Play again")
        page = self.open("watch.html", "#bots")
        click(page, "#bots", ".caption")
        clicks(page, ".onward", "Play on from here")
        # An error does not block the button.
        page = self.open("", "#deal")
        page.evaluate(
            "() => { Storage.prototype.set = Storage.prototype.setItem; Storage.prototype.setItem = () => { throw new Error(); }; }"
        )
        click(page, "#deal", ".trouble:not([hidden])")
        page.evaluate("() => { Storage.prototype.setItem = Storage.prototype.set; }")
        clicks(page, "#deal", "Play after an error")

    def test_the_guide_goes_on(self):
        """After a reload during a lesson, the guide goes on, and a closed guide stays closed."""
        page = self.open("", "#deal")
        page.click("#deal")
        page.wait_for_url("**/play.html?table=*")
        click(page, ".pointed", ".pointed[data-place=a3]")
        look = "document.querySelector('.guide:not([hidden])')?.innerText ?? 'closed'"
        before = page.evaluate(look)
        reload(page, ".pointed[data-place=a3]")
        assert page.evaluate(look) == before
        page.click(".guide button:text-is('Close')")
        page.reload()
        Person(page, 5).wait()
        assert page.evaluate(look) == "closed", "a closed guide comes back"


class TestServer(TableChecks):
    host = "server"


class TestSite(TableChecks):
    host = "site"
