#!/usr/bin/env python3
"""Counts how many public functions of each library crate have an example that is run as a test.

    python3 scripts/doctests.py             prints a line for each crate; exits 1 if one has less than 40 %
    python3 scripts/doctests.py --missing   also names the functions without an example

Counted are functions and methods that are `pub`, and methods of public traits that have a body. The lint
`unreachable_pub` makes sure that what is `pub` can be reached. Not counted, for there is nothing to show:

- getters: the body is one expression that reads fields, such as `self.name`, `&self.parts[..self.len]` or `self.seats.len()`;
- constructors: the body is one struct literal or tuple of arguments, constants and such getters, without another call;
- methods of traits with an empty body;
- what macros write, tests, and what `#[doc(hidden)]` hides.

A function has an example if its own documentation has a block of code that rustdoc runs or compiles, or if a shown line of
such a block of its type, of another function of the type, of its module or of the crate calls it: `.name(` or
`Type::name(` for a method, `name(` for a function. For a function, the types in its file are of its module.
"""

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
CRATES = ["core", "agents", "view", "solve", "stats", "exec", "sim", "learn", "report", "serve"]
LEAST = 40

RUN = re.compile(r"^(rust|no_run|should_panic|compile_fail|edition\d+|E\d+)?$")
GETTER = re.compile(
    r"^[&*]*(mut )?self(\.\w+|\[[\w.]*\]|\[\w*\.\.[\w.]*\])+(\.(clone|len|is_empty|is_some|is_none|as_str|as_ref|as_deref|as_slice|iter|copied|get)\(\))?$"
)
VALUE = re.compile(r"^(&?[a-z_]\w*|[A-Z]\w*(::[A-Z]\w*)*|-?[\d_.]+|\"\"|true|false|(Vec|String)::new\(\))$")


def blank(text):
    """The text with strings and comments replaced by spaces, so that braces can be counted; as long as before."""
    def spaces(match):
        return re.sub(r"[^\n]", " ", match.group())
    return re.sub(r'//[^\n]*|r#"(?s:.*?)"#|"(?:\\.|[^"\\])*"|\'(?:\\.|[^\'\\])\'', spaces, text)


def closing(code, at):
    """The place behind the brace that closes the one at `at`."""
    depth = 0
    for place in range(at, len(code)):
        depth += {"{": 1, "}": -1}.get(code[place], 0)
        if depth == 0:
            return place + 1
    return len(code)


def examples(doc):
    """The shown lines of the blocks that rustdoc runs."""
    shown, inside, runs = [], False, False
    for line in doc:
        line = line.strip()
        if line.startswith("```"):
            inside = not inside
            runs = inside and all(RUN.match(word.strip()) for word in line[3:].split(","))
        elif inside and runs and not re.match(r"#( |$)", line):
            shown.append(line)
    return "\n".join(shown)


def doc_above(lines, number):
    """The documentation and the attributes above a line."""
    doc, attributes = [], []
    number -= 1
    while number >= 0:
        line = lines[number].strip()
        if line.startswith("///"):
            doc.append(line[3:])
        elif line.startswith("#[") or (attributes and not line.endswith("}") and line.endswith(")]")):
            attributes.append(line)
        else:
            break
        number -= 1
    return doc[::-1], attributes


class Function:
    def __init__(self, crate, path, owner, name, takes_self, own):
        self.crate, self.path, self.owner, self.name, self.takes_self, self.own = crate, path, owner, name, takes_self, own

    def is_called(self, code):
        if self.owner is None:
            return re.search(rf"(?<![.\w]){self.name}(::<[^()]*>)?\(", code)
        call = rf"\.{self.name}(::<[^()]*>)?\(|" if self.takes_self else ""
        return re.search(rf"{call}\b{self.owner}(::<[^()]*>)?::{self.name}(::<[^()]*>)?\b", code)


def is_plain(body):
    """Whether a body only reads a field, or only puts its arguments together."""
    body = re.sub(r"\s+", " ", body.strip())
    if not body or GETTER.match(body):
        return True
    literal = re.match(r"^([A-Z]\w*) ?(?:\{(.*)\}|\((.*)\))$", body)
    if not literal:
        return bool(VALUE.match(body))
    parts = [part.split(":", 1)[-1].strip() for part in re.split(r",(?![^(\[]*[)\]])", literal[2] or literal[3] or "")]
    return all(not part or VALUE.match(part) or GETTER.match(part) for part in parts)


def read(crate, path, functions, docs):
    """Adds the functions of a file, and its examples by the name of the item that has them."""
    text = path.read_text()
    code = blank(text)
    for match in re.finditer(r"macro_rules! \w+ \{|#\[cfg\((?:all\()?test\b[^\n]*\]\n(?:#[^\n]*\n)*mod \w+ \{", code):
        end = closing(code, match.end() - 1)
        code = code[: match.start()] + re.sub(r"[^\n]", " ", code[match.start():end]) + code[end:]
    lines = text.split("\n")
    module = examples([line.strip()[3:] for line in lines if line.strip().startswith("//!")])
    docs.setdefault((path, None), []).append(module)
    if path.name == "lib.rs":
        docs.setdefault((crate, None), []).append(module)
    owners = []
    for match in re.finditer(r"\bimpl\b[^{;]*\{|\b(pub(?:\([^)]*\))?\s+)?trait\s+(\w+)[^{;]*\{", code):
        head, end = match.group(), closing(code, match.end() - 1)
        if "trait " in head and not head.startswith("impl"):
            kind = "trait" if (match[1] or "").strip() == "pub" else "hidden"
            owners.append((match.end(), end, match[2], kind))
        else:
            target = re.sub(r"^impl\s*(<(?:[^<>]|<[^<>]*>)*>)?", "", head).split(" where ")[0]
            kind = "implementation" if re.search(r"\bfor\b", target) else "inherent"
            name = re.search(r"(\w+)(?:<.*>)?\s*\{?$", target.strip().rstrip("{").strip(), re.S)
            owners.append((match.end(), end, name and name[1], kind))
    for match in re.finditer(r"^[ \t]*pub (?:struct|enum|trait|type|const|static)\s+(\w+)", code, re.M):
        number = code.count("\n", 0, match.start())
        own = examples(doc_above(lines, number)[0])
        docs.setdefault((crate, match[1]), []).append(own)
        docs.setdefault((path, "items"), []).append(own)
    for match in re.finditer(r"^([ \t]*)(pub )?((?:const |unsafe )*)fn (\w+)", code, re.M):
        inside = [owner for owner in owners if owner[0] <= match.start() < owner[1]]
        owner = inside[-1] if inside else None
        if owner and owner[3] in ("implementation", "hidden"):
            continue
        is_provided = owner and owner[3] == "trait"
        if not (match[2] or is_provided):
            continue
        start = re.compile(r"[{;]").search(re.sub(r"\[[^\[\]]*;[^\[\]]*\]", lambda m: " " * len(m.group()), code), match.end())
        if start is None or start.group() == ";":
            continue
        doc, attributes = doc_above(lines, code.count("\n", 0, match.start()))
        body = text[start.end() : closing(code, start.start()) - 1]
        own = examples(doc)
        name = owner[2] if owner else None
        docs.setdefault((crate, name) if name else (path, None), []).append(own)
        if any("doc(hidden)" in line for line in attributes) or is_plain(body):
            continue
        takes_self = bool(re.match(r"(<(?:[^<>]|<[^<>]*>)*>)?\(\s*(&\s*('\w+ )?)?(mut )?self\b", code[match.end():]))
        functions.append(Function(crate, path, name, match[4], takes_self, own))


def main():
    poor = False
    for crate in CRATES:
        functions, docs = [], {}
        for path in sorted((ROOT / f"cambio-{crate}" / "src").rglob("*.rs")):
            if path.name not in ("main.rs", "tests.rs"):
                read(crate, path, functions, docs)
        shown = []
        for function in functions:
            near = docs.get((crate, function.owner), []) if function.owner else docs.get((function.path, "items"), [])
            near = near + docs[(function.path, None)] + docs.get((crate, None), [])
            if function.own or any(function.is_called(code) for code in near):
                shown.append(function)
        share = 100 * len(shown) / max(1, len(functions))
        poor |= share < LEAST
        print(f"cambio-{crate:8}{len(shown):4} of {len(functions):4} functions have an example: {share:3.0f} %")
        if "--missing" in sys.argv:
            for function in functions:
                if function not in shown:
                    print(f"    {function.path.relative_to(ROOT)}  {function.owner or ''}::{function.name}")
    if poor:
        print(f"allowed is {LEAST} % at least in each crate")
    return 1 if poor else 0


if __name__ == "__main__":
    sys.exit(main())
