#!/usr/bin/env python3
"""Checks the structure of the crates: no circle between the modules of a crate, no long file.

    python3 scripts/house.py            exits 1 and names what does not hold
    python3 scripts/house.py --sizes    also prints the longest files and the median

A module is a file below a crate's src with the files of the folder of its name: `rules.rs` and `rules/` are one module,
and so are the parts of a folder in its folder. A module uses another where a `use` or a path names it, or names what the
crate's root or the parent re-exports from it. Tests (`#[cfg(test)]`, `tests.rs`) and comments do not count.
"""

import re
import statistics
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
MOST_LINES = 600


def code(path):
    """The text of a file without comments, strings and test modules."""
    text = path.read_text()
    text = re.split(r"\n#\[cfg\((?:all\()?test\b[^\n]*\]\n(?:#[^\n]*\n)*mod \w+ \{", text)[0]
    text = re.sub(r'"(?:\\.|[^"\\])*"', '""', text)
    return re.sub(r"//[^\n]*", "", text)


def lines(path):
    """The lines of a file, its own tests left out."""
    text = re.split(r"\n#\[cfg\((?:all\()?test\b[^\n]*\]\n(?:#[^\n]*\n)*mod \w+ \{", path.read_text())[0]
    return text.count("\n") + 1


def flatten(tree):
    """`a::{b, c::{d, self}}` as paths."""
    tree = tree.strip()
    match = re.match(r"^(.*?)\{(.*)\}$", tree, re.S)
    if not match:
        return [re.sub(r"\s+as\s+\w+$", "", tree)]
    prefix, inner = match.group(1).strip(), match.group(2)
    parts, depth, part = [], 0, ""
    for letter in inner:
        depth += {"{": 1, "}": -1}.get(letter, 0)
        if letter == "," and depth == 0:
            parts.append(part)
            part = ""
        else:
            part += letter
    parts.append(part)
    return [path for part in parts if part.strip() for path in flatten(prefix + part.strip())]


def uses(text):
    """Every path that a file names from its crate, its parent or itself."""
    found = []
    for tree in re.findall(r"\buse\s+((?:crate|super|self)\b[^;]*);", text):
        found += flatten(tree)
    rest = re.sub(r"\buse\s+[^;]*;", "", text)
    found += re.findall(r"\b(?:crate|super)(?:::\w+)+", rest)
    return [re.sub(r"\s+", "", path) for path in found]


def exports(text):
    """Which names a module re-exports from which of its children."""
    names = {}
    for tree in re.findall(r"\bpub(?:\([^)]*\))?\s+use\s+([^;]*);", text):
        for path in flatten(tree):
            parts = [part for part in re.sub(r"\s+", "", path).split("::") if part != "self"]
            if len(parts) > 1 and parts[0] not in ("crate", "super", "std"):
                names[parts[-1]] = parts[0]
    return names


class Module:
    def __init__(self, name, file, folder):
        self.name, self.file, self.folder = name, file, folder
        self.children = {}
        if folder and folder.is_dir():
            for path in sorted(folder.iterdir()):
                name = path.stem if path.suffix == ".rs" else path.name if path.is_dir() else None
                if not name or name in ("lib", "main", "mod", "tests", "bin") or name in self.children:
                    continue
                own, inner = folder / f"{name}.rs", folder / name
                if not own.exists():
                    own = inner / "mod.rs"
                if own.exists():
                    self.children[name] = Module(name, own, inner)
        self.exports = exports(code(file))

    def files(self):
        return [self.file] + [path for child in self.children.values() for path in child.files()]


def edges(module, ancestors):
    """Of the children of a module: who uses whom, and by which path."""
    graph = {name: {} for name in module.children}
    for name, child in module.children.items():
        below = [(child, 1)]
        while below:
            part, depth = below.pop()
            below += [(inner, depth + 1) for inner in part.children.values()]
            for path in uses(code(part.file)):
                steps = path.split("::")
                if steps[0] == "crate":
                    steps = steps[1:]
                    trail = [ancestor.name for ancestor in (ancestors + [module])[1:]]
                    at = ancestors[0] if ancestors else module
                    for step in trail:
                        if steps[:1] == [step]:
                            steps = steps[1:]
                            at = at.children[step]
                        elif steps and at.exports.get(steps[0]) == step:
                            at = at.children[step]
                        else:
                            at = None
                            break
                    if at is not module:
                        continue
                else:
                    ups = sum(1 for step in steps if step == "super")
                    if ups != depth:
                        continue
                    steps = steps[ups:]
                    # `self::` and what only a child names stay inside it.
                target = next((step for step in steps[:1]), None)
                target = target if target in module.children else module.exports.get(target)
                if target in module.children and target != name:
                    graph[name].setdefault(target, path)
    return graph


def circles(graph):
    """The strongly connected parts of a graph with more than one node (Tarjan 1972)."""
    index, low, stack, found = {}, {}, [], []

    def visit(node):
        index[node] = low[node] = len(index)
        stack.append(node)
        for other in graph[node]:
            if other not in index:
                visit(other)
                low[node] = min(low[node], low[other])
            elif other in stack:
                low[node] = min(low[node], index[other])
        if low[node] == index[node]:
            part = []
            while True:
                part.append(stack.pop())
                if part[-1] == node:
                    break
            if len(part) > 1:
                found.append(sorted(part))

    for node in graph:
        if node not in index:
            visit(node)
    return found


def check(module, ancestors, where, flaws):
    graph = edges(module, ancestors)
    for part in circles(graph):
        inside = [f"{a} → {b} ({graph[a][b]})" for a in part for b in graph[a] if b in part]
        flaws.append(f"{where}: a circle of {', '.join(part)}: " + "; ".join(inside))
    for name, child in module.children.items():
        check(child, ancestors + [module], f"{where}::{name}", flaws)


def main():
    flaws, sizes = [], []
    for source in sorted(ROOT.glob("cambio-*/src")):
        crate = source.parent.name
        root = Module(crate, source / "lib.rs", source)
        check(root, [], crate, flaws)
        for path in source.rglob("*.rs"):
            sizes.append((lines(path), path.relative_to(ROOT)))
    sizes.sort(reverse=True)
    flaws += [f"{path}: {count} lines; allowed are {MOST_LINES}" for count, path in sizes if count > MOST_LINES]
    if "--sizes" in sys.argv:
        for count, path in sizes[:15]:
            print(f"{count:5} {path}")
        print(f"median {statistics.median(count for count, _ in sizes):.0f} of {len(sizes)} files")
    for flaw in flaws:
        print(flaw)
    print(f"{len(sizes)} files, {len(flaws)} flaws")
    return 1 if flaws else 0


if __name__ == "__main__":
    sys.exit(main())
