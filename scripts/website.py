#!/usr/bin/env python3
"""Builds the web application as a folder of static files, which needs no server: the program runs in the browser.

    scripts/website.py build [FOLDER]                   build the site into FOLDER, target/site by default
    python3 -m http.server --directory FOLDER 8000      serve it on this machine: http://localhost:8000/

The site works from any host and any path, and offline after the first match. `build` compiles `cambio-web` to WebAssembly; it needs
the Rust target wasm32-unknown-unknown, which `rustup target add wasm32-unknown-unknown` installs. The pages are those of
`cambio serve`. The page of runs shows published runs, whose matches the reader's browser can check: `build` plays one of a second,
`cambio-web/site/levels.toml`, and `--run FILE` adds another one, which `cambio report RUN --site FILE` writes.
"""

import argparse
import gzip
import hashlib
import html
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
TARGET = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
WASM = "wasm32-unknown-unknown"


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


def page(text, address):
    """A page of `cambio serve` as a page that needs no server."""
    head = (ROOT / "cambio-web/site/head.html").read_text().rstrip("\n").replace("{{address}}", html.escape(address))
    text, heads = re.subn(r'<meta charset="utf-8">', lambda _: head, text)
    if heads != 1:
        sys.exit("error: a page must have one <meta charset>")
    return text


def cambio():
    """The program in the variable CAMBIO, or a release build of this tree."""
    if "CAMBIO" in os.environ:
        return Path(os.environ["CAMBIO"]).resolve()
    subprocess.run(["cargo", "build", "--release", "--quiet"], cwd=ROOT, check=True)
    return TARGET / "release/cambio"


def publish(program, folder, files):
    """Writes the published runs and their list: the run of this site, and the given files."""
    folder.mkdir()
    with tempfile.TemporaryDirectory() as name:
        run = f"{name}/run"
        for words in [
            ["run", "--quiet", ROOT / "cambio-web/site/levels.toml", "--out", run],
            ["report", run, "--site", folder / "levels.json"],
        ]:
            subprocess.run([program, *words], check=True, stdout=subprocess.DEVNULL)
    for file in files:
        if not re.fullmatch(r"[\w-]+\.json", file.name, re.ASCII) or (folder / file.name).exists():
            sys.exit(f"error: {file}: the name of a published run must be letters, digits, _ and -, then .json, and be its own")
        shutil.copyfile(file, folder / file.name)
    runs = [(path.stem, json.loads(path.read_text())) for path in sorted(folder.glob("*.json"))]
    listed = [{"name": name, "title": run["title"], "matches": len(run["rows"])} for name, run in runs]
    (folder / "runs.json").write_text(json.dumps(listed))


def build(folder, program, runs=(), address=""):
    wasm = module()
    shutil.rmtree(folder, ignore_errors=True)
    (folder / "assets/nets").mkdir(parents=True)
    serve, view, web = ROOT / "cambio-serve/assets", ROOT / "cambio-view/viewer", ROOT / "cambio-web/site"
    for source in serve.glob("*.html"):
        name = "index.html" if source.name == "home.html" else source.name
        (folder / name).write_text(page(source.read_text(), address))
    own = [web / name for name in ["worker.js", "program.js", "icon-512.png", "preview.jpg"]]
    for file in [*serve.iterdir(), *view.iterdir(), *own]:
        if file.suffix != ".html":
            shutil.copyfile(file, folder / "assets" / file.name)
    # Compressed here, because not every host does it. A host could unpack a name that ends in .gz.
    (folder / "assets/cambio.wasm.packed").write_bytes(gzip.compress(wasm.read_bytes(), mtime=0))
    shutil.copyfile(web / "manifest.webmanifest", folder / "manifest.webmanifest")
    for file in (ROOT / "cambio-agents/nets").glob("*.net"):
        shutil.copyfile(file, folder / "assets/nets" / file.name)
    publish(program, folder / "runs", runs)
    files = sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())
    version = hashlib.sha256(b"".join(hashlib.sha256((folder / file).read_bytes()).digest() for file in files)).hexdigest()[:16]
    networks, published = [file for file in files if file.endswith(".net")], [file for file in files if file.startswith("runs/")]
    # The picture for the preview of a link is only for other programs.
    rest = [file for file in files if file not in [*networks, *published, "assets/preview.jpg"]]
    listed = {"version": version, "files": ["./", *rest], "later": networks + published}
    worker = (web / "service-worker.js").read_text()
    for name, value in listed.items():
        worker = worker.replace("{{" + name + "}}", value if isinstance(value, str) else ", ".join(f'"{file}"' for file in value))
    (folder / "service-worker.js").write_text(worker)
    print(f"built {folder}/index.html, version {version}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("step", choices=["build"])
    parser.add_argument("folder", nargs="?", type=Path, default=TARGET / "site")
    parser.add_argument("--run", type=Path, action="append", default=[], metavar="FILE", help="add a published run")
    address = "the address of the site with a slash at the end, for previews of links"
    parser.add_argument("--address", default="", metavar="URL", help=address)
    args = parser.parse_args()
    build(args.folder.resolve(), cambio(), args.run, args.address)


if __name__ == "__main__":
    main()
