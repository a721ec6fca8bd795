#!/usr/bin/env python3
"""Checks the structure of the crates: no circles of modules, at most 1200 lines per file, enough examples, short test names.

A module depends on another module if a path in it names the other module, or an item that the crate root or a parent
re-exports from it. Dependencies of a submodule on siblings of its parent count for the parent. A public function has an
example if an example in its crate's documentation calls it by name. Functions with a one-line body and tests are not counted.
"""

import graphlib
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
MOST_LINES = 1200
MAX_TEST_NAME = 60
LEAST_SHOWN = 50
TESTS = re.compile(r"\n#\[cfg\((?:all\()?test\b[^\n]*\]\n(?:#[^\n]*\n)*mod \w+ \{.*", re.S)


def flatten(tree):
    """The paths of `a::{b, c::{d, self}}`."""
    head, brace, inner = tree.partition("{")
    if not brace:
        return [re.sub(r"\s+as\s+\w+|\s", "", tree)]
    parts, depth = [""], 0
    for letter in inner.rpartition("}")[0]:
        depth += {"{": 1, "}": -1}.get(letter, 0)
        if letter == "," and not depth:
            parts.append("")
        else:
            parts[-1] += letter
    return [path for part in parts if part.strip() for path in flatten(head + part)]


class Module:
    def __init__(self, path, file):
        code = re.sub(r'"(?:\\.|[^"\\])*"|//[^\n]*', "", TESTS.sub("", file.read_text()))
        exports = [step for tree in re.findall(r"\bpub(?:\([^)]*\))?\s+use\s+([^;]*);", code) for step in flatten(tree)]
        self.path, self.exports = path, {step.split("::")[-1]: step.split("::")[0] for step in exports}
        trees = re.findall(r"\buse\s+((?:crate|super|self)\b[^;]*);", code)
        self.uses = [step for tree in trees for step in flatten(tree)]
        self.uses += re.findall(r"\b(?:crate|super)(?:::\w+)+", re.sub(r"\buse\s+[^;]*;", "", code))


def circles(source):
    """The dependency cycles between sibling modules."""
    modules = {(): Module((), source / "lib.rs")}
    for file in source.rglob("*.rs"):
        path = file.relative_to(source).with_suffix("").parts
        path = path[:-1] if path[-1] == "mod" else path
        if path[-1] not in ("lib", "main", "tests") and path[0] != "bin":
            modules[path] = Module(path, file)
    graphs = {}
    for module in modules.values():
        for use in module.uses:
            at, steps = module.path, use.split("::")
            while steps and steps[0] in ("crate", "super", "self"):
                at = {"crate": (), "super": at[:-1], "self": at}[steps.pop(0)]
            while steps and at in modules:
                child = (*at, steps[0])
                if child in modules:
                    at, steps = child, steps[1:]
                elif (*at, modules[at].exports.get(steps[0])) in modules:
                    at = (*at, modules[at].exports[steps[0]])
                else:
                    break
            common = next((i for i, (a, b) in enumerate(zip(module.path, at)) if a != b), None)
            if common is not None:
                graphs.setdefault(at[:common], {}).setdefault(module.path[common], set()).add(at[common])
    for parent, graph in graphs.items():
        try:
            graphlib.TopologicalSorter(graph).prepare()
        except graphlib.CycleError as error:
            yield f"{'::'.join((source.parent.name, *parent))}: dependency cycle {' ← '.join(error.args[1])}"


def examples(source):
    """The number of public functions, and the functions without an example."""
    functions, shown = [], ""
    for file in source.rglob("*.rs"):
        text = TESTS.sub("", file.read_text())
        functions += re.findall(r"^ *pub (?:const )?fn (\w+)[^;{]*\{\n.*\n(?! *\}\n *(?:\n|\}|///))", text, re.M)
        docs = "\n".join(re.findall(r"^ *//[/!] ?(.*)", text, re.M))
        blocks = re.findall(r"^```(?:rust|no_run|should_panic|compile_fail|,|E\d+)*\n(.*?)^```", docs, re.M | re.S)
        shown += re.sub(r"^#( .*)?$", "", "\n".join(blocks), flags=re.M)
    return len(functions), [name for name in functions if not re.search(rf"\b{name}(::<[^()]*>)?\(", shown)]


def forgotten(tests):
    """The test files that are neither in the manifest nor in the crate's tests/main.rs."""
    if (tests / "main.rs").exists():
        named = (tests / "main.rs").read_text() + (tests.parent / "Cargo.toml").read_text()
        for file in tests.glob("*.rs"):
            if not re.search(rf'mod {file.stem};|name = "{file.stem}"', named):
                yield f"{file.relative_to(ROOT)} is not in {tests.parent.name}/tests/main.rs"


def long_names(crate):
    """The tests whose names have more than `MAX_TEST_NAME` characters."""
    for file in sorted(crate.rglob("*.rs")):
        for name in re.findall(r"#\[test\]\s+(?:#\[[^\n]*\]\s+)*fn (\w+)\(", file.read_text()):
            if len(name) > MAX_TEST_NAME:
                yield f"{file.relative_to(ROOT)}: the test name {name} has {len(name)} characters, expected at most {MAX_TEST_NAME}"


def without_addresses(crate):
    """The addresses of the workspace that the manifest of a published crate does not inherit."""
    manifest = (crate / "Cargo.toml").read_text()
    for line in ("repository.workspace = true", "homepage.workspace = true"):
        if line not in manifest and "publish = false" not in manifest:
            yield f"{crate.name}/Cargo.toml: expected the line {line}"


def main():
    flaws = []
    for source in sorted(ROOT.glob("cambio-*/src")):
        flaws += [
            *circles(source),
            *forgotten(source.parent / "tests"),
            *long_names(source.parent),
            *without_addresses(source.parent),
        ]
        for file in source.rglob("*.rs"):
            lines = TESTS.sub("", file.read_text()).count("\n") + 1
            if lines > MOST_LINES:
                flaws.append(f"{file.relative_to(ROOT)}: {lines} lines, expected at most {MOST_LINES}")
        if source.parent.name not in ("cambio-cli", "cambio-py"):
            count, missing = examples(source)
            if not count:
                continue
            share = 100 - 100 * len(missing) // count
            print(f"{source.parent.name:14}{share:3} % of {count} functions have an example")
            if share < LEAST_SHOWN:
                flaws.append(
                    f"{source.parent.name}: less than {LEAST_SHOWN} % of functions have an example; missing: {', '.join(missing)}"
                )
    print(*flaws, f"flaws: {len(flaws)}", sep="\n")
    return bool(flaws)


if __name__ == "__main__":
    sys.exit(main())
