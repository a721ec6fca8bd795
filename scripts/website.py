#!/usr/bin/env python3
"""Builds the web application as a folder of static files, which needs no server: the program runs in the browser.

    scripts/website.py build [FOLDER]      build the site into FOLDER, target/site by default
    scripts/website.py serve [FOLDER]      serve a built site on this machine

The site works from any host and any path, and offline after the first visit. `build` compiles `cambio-web` to WebAssembly; it needs
the Rust target wasm32-unknown-unknown, which `rustup target add wasm32-unknown-unknown` installs. The pages are those of
`cambio serve`, without the page of runs.
"""

import argparse
import functools
import gzip
import hashlib
import http.server
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
TARGET = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
WASM = "wasm32-unknown-unknown"
PAGES = {"home.html": "index.html", "play.html": "play.html", "watch.html": "watch.html"}
# Allows nothing but the files of the site.
POLICY = (
    "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; style-src 'self'; img-src 'self'; connect-src 'self'; "
    "worker-src 'self'; manifest-src 'self'; base-uri 'none'; form-action 'none'"
)
HEAD = f"""<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{POLICY}">
<meta name="referrer" content="no-referrer">
<meta name="engine" content="worker">
<link rel="manifest" href="manifest.webmanifest">
<link rel="apple-touch-icon" href="assets/icon-512.png">"""


def can_build():
    """Whether the Rust target for WebAssembly is installed."""
    installed = subprocess.run(
        ["rustc", "--print", "target-libdir", "--target", WASM], cwd=ROOT, check=False, capture_output=True, text=True
    )
    return installed.returncode == 0 and Path(installed.stdout.strip()).is_dir()


def module():
    """Compiles the program, and returns the path of the module."""
    subprocess.run(
        ["cargo", "build", "--quiet", "--package", "cambio-web", "--profile", "web", "--target", WASM], cwd=ROOT, check=True
    )
    return TARGET / WASM / "web/cambio_web.wasm"


def page(text):
    """A page of `cambio serve` as a page that needs no server."""
    text, heads = re.subn(r'<meta charset="utf-8">', lambda _: HEAD, text)
    text, links = re.subn(r'<a href="runs\.html"[^>]*>.*?</a>', "", text)
    if (heads, links) != (1, 1):
        sys.exit("error: a page must have one <meta charset> and one link to runs.html")
    return text


def build(folder):
    wasm = module()
    shutil.rmtree(folder, ignore_errors=True)
    (folder / "assets/nets").mkdir(parents=True)
    serve, view, web = ROOT / "cambio-serve/assets", ROOT / "cambio-view/viewer", ROOT / "cambio-web/site"
    for source, name in PAGES.items():
        (folder / name).write_text(page((serve / source).read_text()))
    skipped = {"runs.js"}
    for file in [*serve.iterdir(), *view.iterdir(), *(web / name for name in ["worker.js", "program.js", "icon-512.png"])]:
        if file.suffix != ".html" and file.name not in skipped:
            shutil.copyfile(file, folder / "assets" / file.name)
    shutil.copyfile(wasm, folder / "assets/cambio.wasm")
    shutil.copyfile(web / "manifest.webmanifest", folder / "manifest.webmanifest")
    for file in (ROOT / "cambio-agents/nets").glob("*.net"):
        shutil.copyfile(file, folder / "assets/nets" / file.name)
    files = sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())
    version = hashlib.sha256(b"".join(hashlib.sha256((folder / file).read_bytes()).digest() for file in files)).hexdigest()[:16]
    networks = [file for file in files if file.endswith(".net")]
    listed = {"version": version, "files": ["./", *(file for file in files if file not in networks)], "networks": networks}
    worker = (web / "service-worker.js").read_text()
    for name, value in listed.items():
        worker = worker.replace("{{" + name + "}}", value if isinstance(value, str) else ", ".join(f'"{file}"' for file in value))
    (folder / "service-worker.js").write_text(worker)
    size = lambda names: sum(len(gzip.compress((folder / name).read_bytes())) for name in names) // 1000
    rest = [file for file in files if file not in networks and file != "assets/cambio.wasm"]
    print(
        f"built {folder}/index.html, version {version}; compressed with gzip: pages {size(rest)} KB, "
        f"program {size(['assets/cambio.wasm'])} KB, networks {size(networks)} KB"
    )


def serve(folder):
    handler = functools.partial(http.server.SimpleHTTPRequestHandler, directory=folder)
    handler.extensions_map = http.server.SimpleHTTPRequestHandler.extensions_map | {
        ".wasm": "application/wasm",
        ".js": "text/javascript",
    }
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        print(f"http://127.0.0.1:{server.server_port}/", flush=True)
        server.serve_forever()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("step", choices=["build", "serve"])
    parser.add_argument("folder", nargs="?", type=Path, default=TARGET / "site")
    args = parser.parse_args()
    {"build": build, "serve": serve}[args.step](args.folder.resolve())


if __name__ == "__main__":
    main()
