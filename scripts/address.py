#!/usr/bin/env python3
"""Sets the addresses of the repository and of the book in all files that contain them.

    scripts/address.py                          print the addresses
    scripts/address.py REPOSITORY BOOK          set the addresses
    scripts/address.py --check                  fail if a file has other addresses than Cargo.toml

The addresses under `[workspace.package]` in Cargo.toml count. Until a maintainer sets them, they are placeholders below
https://example.org. The crates inherit both, and have their documentation on docs.rs.
"""

import argparse
import re
import sys
from pathlib import Path
from urllib.parse import urlsplit

ROOT = Path(__file__).resolve().parent.parent
# A file, the text before an address (a regular expression), the kind of address, and the text that follows it.
PLACES = [
    ("Cargo.toml", 'repository = "', "repository", ""),
    ("Cargo.toml", 'homepage = "', "book", ""),
    ("cambio-py/pyproject.toml", 'Repository = "', "repository", ""),
    ("cambio-py/pyproject.toml", 'Homepage = "', "book", ""),
    ("cambio-py/pyproject.toml", 'Documentation = "', "book", "/python.html"),
    ("cambio-py/pyproject.toml", 'Issues = "', "repository", "/issues"),
    ("examples/mine/Cargo.toml", '# git = "', "repository", ""),
    ("scripts/install.sh", 'repository="', "repository", ""),
    ("CITATION.cff", 'repository-code: "', "repository", ""),
    ("CITATION.cff", 'url: "', "book", ""),
]
# Manifests of crates that are published.
INHERITED = ("repository.workspace = true", "homepage.workspace = true")


def found(file, before):
    """The match of the only line of a file that starts with this text, with the address as group 1."""
    matches = list(re.finditer(rf'^{before}([^"\n]*)"$', (ROOT / file).read_text(encoding="utf-8"), re.MULTILINE))
    if len(matches) != 1:
        sys.exit(f"error: {file} must have one line that starts with {before}, found {len(matches)}")
    return matches[0]


def addresses():
    return {kind: found("Cargo.toml", before)[1] for file, before, kind, _ in PLACES if file == "Cargo.toml"}


def flaws(right):
    """The places with another address, and the published crates without an address."""
    for file, before, kind, after in PLACES:
        address = found(file, before)[1]
        if address != right[kind] + after:
            yield f"{file}: expected {right[kind] + after}, found {address}"
    for manifest in sorted(ROOT.glob("cambio-*/Cargo.toml")):
        lines = manifest.read_text(encoding="utf-8").splitlines()
        if "publish = false" not in lines:
            for line in INHERITED:
                if line not in lines:
                    yield f"{manifest.relative_to(ROOT)}: expected the line {line}"


def replace(wanted):
    for file, before, kind, after in PLACES:
        start, end = found(file, before).span(1)
        text = (ROOT / file).read_text(encoding="utf-8")
        (ROOT / file).write_text(text[:start] + wanted[kind] + after + text[end:], encoding="utf-8")


def address(text):
    parts = urlsplit(text)
    if parts.scheme != "https" or not parts.netloc or parts.query or parts.fragment or re.search(r'[\s"\\]', text):
        raise argparse.ArgumentTypeError(f"must be an https address, found {text}")
    return text.rstrip("/")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("repository", nargs="?", type=address)
    parser.add_argument("book", nargs="?", type=address)
    parser.add_argument("--check", action="store_true")
    args = parser.parse_args()
    if args.repository:
        if not args.book:
            parser.error("give the address of the book too: for example https://OWNER.github.io/NAME")
        replace({"repository": args.repository, "book": args.book})
    right = addresses()
    wrong = list(flaws(right))
    for kind, value in right.items():
        print(f"{kind}: {value}")
    for flaw in wrong:
        print(f"error: {flaw}", file=sys.stderr)
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
