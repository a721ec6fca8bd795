#!/usr/bin/env python3
"""Builds the book and checks it.

    scripts/book.py build [FOLDER]      build the book into FOLDER, target/book by default
    scripts/book.py links [FOLDER]      check the links of the pages in the repository and of the built book, and the
                                        length of the README
    scripts/book.py run [PAGE]...       run the commands on the README and the book's pages, and compare their output

`build` also builds the page to play on (`scripts/website.py`) into FOLDER/play, if Rust can compile to WebAssembly. It needs mdBook. It uses the right version from PATH or `target/tools`, and otherwise installs it there from
crates.io. `run` builds `cambio` in release mode and runs each page in a temporary folder that contains `experiments`,
`examples` and `notebooks`; the variable CAMBIO selects another `cambio`. On a page,

- a `console` block contains commands after `$ ` and their expected output. `…` matches any lines if it is alone on a line,
  and any text within a line. Lines that start with `> ` are typed by the user.
- a `sh run` block contains commands that must succeed.
- a block with `file=NAME`, in any language, is written to that file.

Other blocks are ignored. Rust blocks are tested by `cargo test --doc -p CRATE`.
"""

import argparse
import html.parser
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unicodedata
from pathlib import Path
from urllib.parse import unquote, urlsplit

import website

ROOT = Path(__file__).resolve().parent.parent
TARGET = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
MDBOOK = "0.5.4"
README_BYTES = 6500


# --------------------------------------------------------------------------------------------------------------- build


def mdbook():
    """The path of the right version of mdBook, which is installed if necessary."""
    own = TARGET / "tools/bin/mdbook"
    for program in ("mdbook", str(own)):
        if shutil.which(program):
            version = subprocess.run([program, "--version"], capture_output=True, text=True, check=True).stdout
            if version.split()[-1].lstrip("v") == MDBOOK:
                return program
    print(f"installing mdBook {MDBOOK} into {own.parent.parent}", file=sys.stderr)
    # A debug build takes half the time to compile and is fast enough for this book.
    options = f"--version {MDBOOK} --locked --debug --no-default-features --features search --quiet --root".split()
    environment = os.environ | {"CARGO_TARGET_DIR": str(TARGET / "tools/target"), "CARGO_PROFILE_DEV_DEBUG": "0"}
    subprocess.run(["cargo", "install", "mdbook", *options, own.parent.parent], check=True, env=environment)
    shutil.rmtree(TARGET / "tools/target", ignore_errors=True)
    return str(own)


def build(folder):
    """Builds the book, with the example report and the files of the repository that its pages link to."""
    shutil.rmtree(folder, ignore_errors=True)
    subprocess.run([mdbook(), "build", str(ROOT / "book"), "--dest-dir", str(folder)], check=True)
    program = website.cambio()
    with tempfile.TemporaryDirectory() as work:
        spec = ROOT / "experiments/quickstart.toml"
        subprocess.run([program, "run", spec, "--out", f"{work}/run", "--quiet"], check=True, capture_output=True)
        (folder / "reports").mkdir()
        shutil.copyfile(f"{work}/run/report.html", folder / "reports/quickstart.html")
    if website.can_build():
        website.build(folder / "play", program)
    else:
        print(f"skipped: the page to play on, which needs the Rust target {website.WASM}")
    # Pages such as PROTOCOL.md are in the root of the repository and link to files next to them.
    for page in folder.glob("*.html"):
        for link in Anchors.of(page).links:
            path = unquote(urlsplit(link).path)
            if path and not urlsplit(link).scheme and not (folder / path).exists() and (ROOT / path).is_file():
                (folder / path).parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(ROOT / path, folder / path)
    print(f"built {folder}/index.html")


# --------------------------------------------------------------------------------------------------------------- links


class Anchors(html.parser.HTMLParser):
    """The links and anchors of a page."""

    known = {}

    def __init__(self):
        super().__init__()
        self.links, self.names = [], set()

    @classmethod
    def of(cls, path):
        if path not in cls.known:
            page = cls()
            page.feed(path.read_text(encoding="utf-8"))
            cls.known[path] = page
        return cls.known[path]

    def handle_starttag(self, tag, attributes):
        for key, value in attributes:
            if key in ("id", "name") and value:
                self.names.add(value)
            if key in ("href", "src") and value is not None:
                self.links.append(value)


def slug(heading):
    """The anchor of a heading: lower case, spaces as hyphens, no punctuation."""
    text = re.sub(r"`|\*|\[|\]\([^)]*\)", "", heading).strip().lower()
    kept = (c for c in text if c in "-_ " or unicodedata.category(c)[0] in "LN")
    return "".join("-" if c == " " else c for c in kept)


def without_code(text):
    """A page without its blocks of code."""
    return re.sub(r"^```.*?^```", "", text, flags=re.DOTALL | re.MULTILINE)


def markdown_links():
    """Broken links of the Markdown pages in the repository that are not in the book."""
    for page in sorted([*ROOT.glob("*.md"), ROOT / "notebooks/README.md"]):
        for link in re.findall(r"\]\(([^)\s]+)\)", re.sub(r"`[^`\n]*`", "", without_code(page.read_text(encoding="utf-8")))):
            parts = urlsplit(link)
            goal = (page.parent / unquote(parts.path)).resolve() if parts.path else page
            if parts.scheme:
                continue
            if not goal.exists():
                yield f"{page.relative_to(ROOT)}: the target of {link} does not exist"
            elif parts.fragment and goal.suffix == ".md":
                headings = re.findall(r"^#+ (.*)$", without_code(goal.read_text(encoding="utf-8")), re.MULTILINE)
                if parts.fragment not in map(slug, headings):
                    yield f"{page.relative_to(ROOT)}: the target of {link} has no such heading"


def book_links(folder):
    """Broken links of the built book."""
    for page in sorted(folder.rglob("*.html")):
        # This page is served at any address, so its links are relative to the root.
        if page.name == "404.html":
            continue
        for link in Anchors.of(page).links:
            parts = urlsplit(link)
            is_left_out = parts.path.startswith("play/") and not (folder / "play").exists()
            if parts.scheme or parts.netloc or is_left_out:
                continue
            goal = (page.parent / unquote(parts.path)).resolve() if parts.path else page
            goal = goal / "index.html" if goal.is_dir() else goal
            if not goal.is_file():
                yield f"{page.relative_to(folder)}: the target of {link} does not exist"
            elif parts.fragment and goal.suffix == ".html" and unquote(parts.fragment) not in Anchors.of(goal).names:
                yield f"{page.relative_to(folder)}: the target of {link} has no such anchor"


# ----------------------------------------------------------------------------------------------------------------- run


def blocks(text):
    """Yields the code blocks of a page: the words of the info string, and the lines."""
    for found in re.finditer(r"^```(\S.*?)\n(.*?)^```$", text, re.DOTALL | re.MULTILINE):
        yield found[1].split(), found[2].splitlines()


def commands(lines):
    """The commands of a console block, each with the lines below it."""
    found = []
    for line in lines:
        if line.startswith("$ "):
            found.append((line[2:], []))
        elif not found:
            raise ValueError(f"expected a command before `{line}`")
        else:
            found[-1][1].append(line)
    return found


def pattern(lines):
    """A regular expression for the expected output, and the input that the user types."""
    shape, typed = "", []
    for line in lines:
        if line == "…":
            shape += r"(?:.*\n)*?"
        elif line.startswith("> "):
            # The output contains the prompt, but not the typed text.
            shape += "> "
            if line != "> …":
                typed.append(line[2:])
            else:
                shape += r"(?:.*\n)*"
        else:
            shape += re.escape(line.rstrip()).replace("…", r"[^\n]*") + r"[^\S\n]*\n"
    return shape, "".join(line + "\n" for line in typed)


def run_page(page, environment):
    """Runs the commands of a page in a temporary folder. Returns error messages and the number of commands."""
    wrong, count = [], 0
    with tempfile.TemporaryDirectory() as work:
        for name in ("experiments", "examples", "notebooks"):
            (Path(work) / name).symlink_to(ROOT / name)
        shell = lambda line, typed="": subprocess.run(
            ["bash", "-euc", line],
            cwd=work,
            env=environment,
            input=typed,
            text=True,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            check=False,
            timeout=1800,
        )
        for words, lines in blocks(page.read_text(encoding="utf-8")):
            for word in words:
                if word.startswith("file="):
                    (Path(work) / word[5:]).write_text("\n".join(lines) + "\n", encoding="utf-8")
            if words == ["sh", "run"]:
                done, count = shell("\n".join(lines)), count + 1
                if done.returncode:
                    wrong.append(f"exit code {done.returncode} from:\n{chr(10).join(lines)}\n{done.stdout}")
            if words == ["console"]:
                for command, expected in commands(lines):
                    shape, typed = pattern(expected)
                    done, count = shell(command, typed), count + 1
                    if not re.fullmatch(shape, done.stdout):
                        wrong.append(
                            f"$ {command}\nprinted, with exit code {done.returncode}:\n{done.stdout}\nexpected:\n"
                            + "\n".join(expected)
                        )
    return wrong, count


def run(pages):
    """Runs the commands of the given pages, by default of all pages."""
    program = website.cambio()
    flaws = []
    with tempfile.TemporaryDirectory() as folder:
        tools = Path(folder)
        (tools / "cambio").symlink_to(program.resolve())
        # Replace `cargo run --release --` by the program. Examples run in the dev profile with the features of the whole workspace,
        # because the tests have already built them so; and with the configuration of the repository, outside of which the commands run.
        cargo = f'"{shutil.which("cargo")}" --config "{ROOT}/.cargo/config.toml"'
        (tools / "cargo").write_text(
            f"""#!/bin/sh
case "$1 $2 $3" in
"run --release --")
    shift 3
    exec "{program}" "$@" ;;
"run --release --example")
    example=$4
    shift 4
    [ "$1" != -- ] || shift
    {cargo} build --quiet --manifest-path "{ROOT}/Cargo.toml" --workspace --example "$example" || exit
    exec "{TARGET.resolve()}/debug/examples/$example" "$@" ;;
*)
    word=$1
    shift
    exec {cargo} "$word" --quiet --manifest-path "{ROOT}/Cargo.toml" "$@" ;;
esac
"""
        )
        (tools / "cargo").chmod(0o755)
        environment = os.environ | {
            "PATH": f"{tools}:{os.environ['PATH']}",
            "CARGO_TARGET_DIR": str(TARGET.resolve()),
            "COLUMNS": "100",
        }
        for page in pages or [ROOT / "README.md", *sorted((ROOT / "book/src").rglob("*.md"))]:
            wrong, count = run_page(page.resolve(), environment)
            flaws += [f"{page}: {flaw}" for flaw in wrong]
            if count:
                print(f"{page.resolve().relative_to(ROOT)}: {count} commands, {len(wrong)} wrong")
    return flaws


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["build", "links", "run"])
    parser.add_argument("rest", nargs="*", type=Path)
    args = parser.parse_args()
    folder = (args.rest[0] if args.rest else TARGET / "book").resolve()
    flaws = []
    if args.what == "build":
        build(folder)
    elif args.what == "links":
        flaws = [*markdown_links(), *book_links(folder)]
        print(f"links: {len(flaws)} broken")
        if (ROOT / "README.md").stat().st_size > README_BYTES:
            flaws.append(f"README.md must have at most {README_BYTES} bytes; move details to the book")
    else:
        flaws = run(args.rest)
    for flaw in flaws:
        print(f"error: {flaw}", file=sys.stderr)
    return 1 if flaws else 0


if __name__ == "__main__":
    sys.exit(main())
