#!/usr/bin/env python3
"""Compares the public items of the crates with the list in `scripts/public_items.txt`, so that every change of it is deliberate.

usage: public_items.py [--write]   without `--write`, prints the differences and fails if there are any

An item is a line of the source that begins with `pub`, outside tests. The list has the crate, the type of a method, the name and the
kind, without modules, so that moving an item changes nothing. Fields, variants, re-exports and trait implementations are not listed.
"""

import difflib
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LIST = ROOT / "scripts/public_items.txt"
ITEM = re.compile(r"( *)pub (?:const |unsafe |async )*(fn|struct|enum|trait|type|const|static|mod|union) (\w+)")
IMPL = re.compile(r"( *)(?:unsafe )?(?:impl\b(?:<.*?>)?(?: .* for)? &?|(?:pub(?:\(.*\))? )?trait )([\w:$]+)")
TESTS = re.compile(r"#\[cfg\((?:all\()?test\b")


def items(crate, file):
    """The public items of a file, as lines of the list."""
    owner, indent, lines = None, 0, iter(file.read_text().split("\n"))
    for line in lines:
        if TESTS.match(line):
            # A module of tests inside a file is its last item.
            if re.match(r"mod \w+ \{", next(lines, "")):
                return
            continue
        if owner and line.startswith(" " * indent + "}"):
            owner = None
        if (found := IMPL.match(line)) and not line.rstrip().endswith("}"):
            indent, owner = len(found[1]), found[2].split("::")[-1]
        if found := ITEM.match(line):
            path = [crate, owner, found[3]] if owner and len(found[1]) > indent else [crate, found[3]]
            yield f"{'::'.join(path)} {found[2]}"


def main():
    found = []
    for source in sorted(ROOT.glob("cambio-*/src")):
        for file in source.rglob("*.rs"):
            if file.name != "tests.rs" and "tests" not in file.relative_to(source).parts:
                found += items(source.parent.name.replace("-", "_"), file)
    text = "".join(f"{line}\n" for line in sorted(found))
    if "--write" in sys.argv[1:]:
        LIST.write_text(text)
    listed = LIST.read_text() if LIST.is_file() else ""
    changes = [line for line in difflib.ndiff(listed.splitlines(), text.splitlines()) if line[0] in "+-"]
    print(*changes, f"{len(found)} public items", sep="\n")
    if changes:
        sys.exit("the public items differ from scripts/public_items.txt; if this is intended, run scripts/public_items.py --write")


main()
