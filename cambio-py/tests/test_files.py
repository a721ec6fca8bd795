"""Damaged files raise `CambioError`, whichever way they are damaged."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import cambio_game as cambio
from conftest import amount


def damaged(content: bytes, dice: random.Random) -> bytes:
    """The content with one kind of damage."""
    place = dice.randrange(len(content))
    lines = content.splitlines(keepends=True)
    line = dice.randrange(len(lines))
    return dice.choice(
        [
            b"",
            content[:place],
            content[:place] + bytes([content[place] ^ 1 << dice.randrange(8)]) + content[place + 1 :],
            content[:place] + b"\xff" + content[place + 1 :],
            content[:place] + b"\0" + content[place:],
            b"".join(lines[:line] + lines[line + 1 :]),
            b"".join(lines[: line + 1] + lines[line:]),
            content.replace(b"=", b"==", 1),
            content.replace(b"\t", b" "),
            content + b"x",
        ]
    )


def test_damaged_files_raise_errors_of_the_package(files: dict[str, tuple[Path, Callable[[Path], Any]]]) -> None:
    dice, refused = random.Random(3), dict.fromkeys(files, 0)
    assert len(files) >= 11
    for name, (path, load) in files.items():
        content = path.read_bytes()
        for _ in range(amount(8, 1000)):
            path.write_bytes(damaged(content, dice))
            try:
                load(path)
            except cambio.CambioError as error:
                assert "\n" not in str(error)
                refused[name] += 1
        path.write_bytes(content)
    assert all(refused.values()), refused


def test_paths_that_are_not_files_raise_errors(files: dict[str, tuple[Path, Callable[[Path], Any]]], tmp_path: Path) -> None:
    for path in (tmp_path, tmp_path / "missing", Path("/dev/zero"), Path("a\0b")):
        for _, load in files.values():
            with pytest.raises(cambio.CambioError):
                load(path)
