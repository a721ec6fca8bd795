"""What only a server, or only the site without a server, can do."""

import contextlib
import functools
import http.server
import os
import re
import shutil
import socket
import subprocess
import threading
import time

import website
from pages import ANALYSED, CAMBIO, HOLDS, RECORD, Checks, Person, click, go, press, reload, serving, serving_site, until


class TestServer(Checks):
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
            person.draw()
            page.evaluate("globalThis.isSamePage = true")
        until(page, lost(".question"))
        with serve() as again:
            assert again == address
            until(page, HOLDS)
            person.play()
            assert page.evaluate("globalThis.isSamePage"), "the page was loaded again"
            page.click(".result >> text=Review")
            click(page, "text=Analyse this round", ".analysis progress:not([hidden])")
        until(page, lost(".analysis [role=status]"))
        with serve():
            until(page, ANALYSED, seconds=180)
            # The browser reports each request without an answer.
            self.errors[:] = [error for error in self.errors if "Failed to load resource" not in error]
            self.is_well(page, "the analysis after a restart")


class TestSite(Checks):
    """The same pages without a server: the program runs in the page."""

    host = "site"

    def test_a_match_without_a_server(self):
        """A whole match against a network, which the page loads when it needs it, then its file and its replay."""
        page, person = self.table("classic", ["learned"], 1, calls=0.2)
        assert not any("many.net" in url for url in self.requests if not page.context.service_workers)
        person.play()
        self.is_well(page, "the end of a match without a server")
        with page.expect_download() as saved:
            page.click(".result [popovertarget=share]")
            page.click(".result button:text-is('Save')")
        file = self.folder / "site.jsonl"
        saved.value.save_as(file)
        self.passes(file)
        click(page, ".result a:text-is('Review')", ".caption")
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
            click(page, "#deal", ".question")
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
                    press(page, "h", "document.querySelector('.hint-line')?.textContent.includes('suggests:')")
                    hints.append(page.text_content(".hint-line"))
                return False

            person.play(stop=ask)
            assert hints, f"drawn-{drawn}: no hint"
            file = self.folder / f"drawn-{drawn}.jsonl"
            file.write_text(page.evaluate(RECORD, person.table))
            self.passes(file)
            click(page, ".result a:text-is('Review')", ".caption")
            self.analyse(page)
            assert page.text_content(".costs"), f"drawn-{drawn}: an empty review"
            self.is_well(page, f"the review under drawn-{drawn}")

    def test_links_and_the_daily_deal(self):
        """The daily deal is the same everywhere; links open the same deal, and a finished match in the replay page."""
        context = {"permissions": ["clipboard-read", "clipboard-write"]}
        page = self.open("", "#deal", **context)
        copied = lambda: page.evaluate("navigator.clipboard.readText()")
        page.evaluate("localStorage.setItem('cambio.pace', '\"at once\"')")
        # A daily deal whose table was closed can be played, and no other table gets its number.
        page.click("#daily")
        page.wait_for_url("**/play.html?table=1&guide")
        page.wait_for_selector(".own .card")
        page.goto(self.address)
        # Once its page is left: an answer on its way there would store the table again.
        page.evaluate("localStorage.removeItem('cambio.table.1')")
        reload(page, "#daily")
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
        go(page, self.address, "#daily-deal")
        assert line in page.text_content("#daily-deal")
        assert page.locator(".days li").last.text_content() == re.search(r": (\S+)", line)[1]
        self.is_well(page, "the start page after the daily deal")
        # Another browser, which has stored nothing.
        page = self.open("", "#deal")
        paste = "(link) => { localStorage.setItem('cambio.pace', '\"at once\"'); location.hash = new URL(link).hash; }"
        page.evaluate(paste, links["Challenge a friend"])
        page.wait_for_url("**/play.html?table=1&guide")
        person = Person(page, 4, calls=0.9)
        person.wait()
        assert page.evaluate(seen) == first, f"the link deals {page.evaluate(seen)}, the match had {first}"
        person.play()
        page.click("#again")
        page.wait_for_url("**/play.html?table=2")
        go(page, links["Share the replay"], ".caption")
        title = page.text_content("h1")
        assert sorted(title.split(" against ")) in (["Ada", "You"], ["Ben", "You"])
        self.analyse(page)
        own = next(text for text in page.locator(".summary li").all_text_contents() if text.startswith("You: "))
        blunders = re.search(r"(\d+) blunder", own)
        assert f", {blunders[1] if blunders else 0} blunder" in line, f"{line!r}, but the review says {own!r}"
        reload(page, ".caption")
        assert page.text_content("h1") == title, "the match is lost when the page is reloaded"
        self.is_well(page, "a match from a link")
        # Links that a program has cut.
        for cut in ["watch.html#match=abc", links["Challenge a friend"][:-3], "#sum=1&deal=classic"]:
            page = self.open(cut, ".trouble")
            assert "damaged" in page.text_content(".trouble")
        # The right link is pasted over the damaged one.
        page.evaluate(paste, links["Challenge a friend"])
        page.wait_for_url("**/play.html?table=1&guide")

    def test_a_published_run(self):
        """Random matches of a published run are played again in the page; a changed result is found; a match opens in the viewer."""
        page = self.open("runs.html", "main li a")
        self.is_well(page, "the list of published runs")
        click(page, "main li a", "#check")
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
        click(page, ".scroll a >> nth=0", ".caption")
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
        go(page, f"{self.address}runs.html?run=..%2Flevels", "p.trouble")

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
        click(page, "#deal", ".trouble:not([hidden])")
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
            reload(page, ".notice-box")
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
        click(page, "text=Share the replay", "button:text-is('Link copied')")
        click(page, "#daily", ".bar .question:not(:empty)")

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
        go(page, f"{address}runs.html?run=levels", "#check")
