#!/usr/bin/env python3
"""Warns about wording that readers stumble over, in the lines that a change adds.

    scripts/wording.py [--since REVISION]     check the lines that were added since REVISION
    scripts/wording.py --test                 check the patterns with their examples

Without `--since`, the lines are compared with the last commit that this branch shares with `origin/main`; on that commit
itself, or without `origin/main`, with the commit before. Without such a commit, nothing is checked.

The patterns are in scripts/wording.txt. They are phrases that hardly occur in code, so whole lines are searched. A warning is
a hint, and the exit code is 0.
"""

import argparse
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LIST = ROOT / "scripts/wording.txt"
FILES = ["*.rs", "*.py", "*.pyi", "*.js", "*.mjs", "*.html", "*.css", "*.md", "*.toml", "*.sh", ".ci/run", "Dockerfile"]
# The list and its page contain the bad examples. The text of stored outputs and of generated pages has other sources.
LEFT_OUT = ["WORDING.md", "book/results/data", "book/src/results", "book/src/python-reference.md"]


def entries():
    """The entries of the list, each a dictionary with the keys find, advice, bad and good."""
    text = re.sub(r"^#.*\n", "", LIST.read_text(encoding="utf-8"), flags=re.MULTILINE)
    for block in text.strip().split("\n\n"):
        entry = dict(line.split(": ", 1) for line in block.strip().splitlines())
        yield entry | {"find": re.compile(entry["find"], re.IGNORECASE)}


def git(*words):
    """The output of a git command, or None if it fails."""
    command = ["git", "-c", "core.quotePath=false", *words]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, encoding="utf-8", errors="replace", check=False)
    return None if done.returncode else done.stdout.rstrip("\n")


def base():
    """The revision to compare with by default, or None if the history does not contain one."""
    shared = git("merge-base", "HEAD", "origin/main")
    if shared and shared != git("rev-parse", "HEAD"):
        return shared
    return git("rev-parse", "--verify", "--quiet", "HEAD~1")


def added(diff):
    """Yields the file, the number and the text of each added line of a diff without context."""
    path, number = "", 0
    for line in diff.split("\n"):
        if line.startswith("+++ "):
            path = line[4:].removeprefix("b/").rstrip("\t")
        elif line.startswith("@@"):
            number = int(re.match(r"@@ -\S+ \+(\d+)", line)[1])
        elif line.startswith("+"):
            yield path, number, line[1:]
            number += 1


def check(since):
    """Prints the warnings for all lines that were added since a revision, and returns their number."""
    diff = git("diff", "--unified=0", "--no-color", "--no-ext-diff", since, "--", *FILES, *(f":!{path}" for path in LEFT_OUT))
    if diff is None:
        sys.exit(f"error: --since must be a revision of this repository, found {since}")
    known, count = list(entries()), 0
    for path, number, line in added(diff):
        for entry in known:
            for found in entry["find"].finditer(line):
                print(f"{path}:{number}: `{found[0].strip()}`: {entry['advice']}")
                count += 1
    return count


def test():
    """Returns an error message for each pattern whose examples do not fit, and for a wrong line number."""
    known = list(entries())
    for entry in known:
        if not entry["find"].search(entry["bad"]):
            yield f"`{entry['find'].pattern}` must find its bad example: {entry['bad']}"
        for other in known:
            if found := entry["find"].search(other["good"]):
                yield f"`{entry['find'].pattern}` must not find `{found[0]}` in a good example: {other['good']}"
    diff = "--- a/x.md\n+++ b/x.md\n@@ -3,0 +4,2 @@ heading\n+one\n+two\n@@ -9 +12 @@\n-old\n+new"
    if (lines := list(added(diff))) != [("x.md", 4, "one"), ("x.md", 5, "two"), ("x.md", 12, "new")]:
        yield f"the added lines of a diff must have their numbers, found {lines}"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--since", metavar="REVISION", help="the revision to compare with")
    parser.add_argument("--test", action="store_true", help="check the patterns with their examples")
    args = parser.parse_args()
    if args.test:
        flaws = list(test())
        for flaw in flaws:
            print(f"error: {flaw}", file=sys.stderr)
        return 1 if flaws else 0
    since = args.since or base()
    if since is None:
        print("wording: not checked, because there is no earlier revision to compare with")
        return 0
    count = check(since)
    print(f"wording: {count} warning{'' if count == 1 else 's'} since {since[:12]}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
