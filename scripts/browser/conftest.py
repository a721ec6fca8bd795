"""Tests the web application in a real browser, with mouse clicks and keys.

    pip install pytest playwright axe-playwright-python        # and a browser: Debian's chromium-headless-shell, or chromium
    CAMBIO_BIN=target/release/cambio pytest scripts/browser [-k WORD]

`.ci/run browser` installs the packages. `-k pictures` with CAMBIO_PICTURES=FOLDER writes the screenshots for the book into FOLDER.

The same tests run against `cambio serve` and against the site without a server (`scripts/website.py`), which needs the Rust target
wasm32-unknown-unknown. Each has some more tests: a restart of the server and its run folders; a slow connection, published runs, links
and offline.
"""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from playwright.sync_api import sync_playwright

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import website
from pages import CAMBIO, serving, serving_site

EXPERIMENT = """
name = "one"
seed = 1
deals = 2
rules = ["original", "classic"]
seats = [3]
agents = ["greedy", "heuristic", "sharp"]
records = true
"""


@pytest.fixture(scope="session")
def browser():
    with sync_playwright() as playwright:
        program = shutil.which("chromium-headless-shell") or shutil.which("chromium")
        yield playwright.chromium.launch(executable_path=program, args=["--no-sandbox", "--disable-dev-shm-usage"])


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
