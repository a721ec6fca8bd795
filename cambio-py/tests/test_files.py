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


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> dict[str, tuple[Path, Callable[[Path], Any]]]:
    folder = tmp_path_factory.mktemp("files")
    game = cambio.SmallGame("mini-m0")
    game.save(folder / "strategy.txt", *game.uniform())
    (folder / "rules.toml").write_text(cambio.Rules("original").to_toml(), encoding="utf-8")
    (folder / "records.jsonl").write_text(cambio.Game("mini-m0").record().to_json() + "\n", encoding="utf-8")
    (folder / "spec.toml").write_text(
        'agents = ["greedy", "random"]\nrules = ["classic"]\nseats = [2]\nseed = 1\ndeals = 2\n', encoding="utf-8"
    )
    cambio.run(folder / "spec.toml", folder / "run")
    seen = cambio.Game().observe()
    opened = cambio.Run.open(folder / "run")

    def verify(path: Path) -> Any:
        run = cambio.Run.open(path.parent)
        return [run.verify(all=True), run.rows("matches"), run.rows("rounds"), run.rows("players"), run.tables]

    found: dict[str, tuple[Path, Callable[[Path], Any]]] = {
        "strategy.txt": (folder / "strategy.txt", lambda path: cambio.StrategyPolicy(path, "mini-m0")),
        "strategy of a game": (folder / "strategy.txt", game.load),
        "rules.toml": (folder / "rules.toml", cambio.Rules.read),
        "records.jsonl": (folder / "records.jsonl", lambda path: [record.replay() for record in cambio.Record.read(path)]),
        "network": (folder / "strategy.txt", lambda path: seen.network_inputs(str(path))),
        "agent": (folder / "strategy.txt", lambda path: cambio.agent(f'learned("{path}")')),
        "spec.toml": (folder / "spec.toml", lambda path: cambio.run(path, path.parent / "out")),
    }
    found |= {name: (folder / "run" / name, verify) for name in ("matches.csv", "spec.lock.json", "ledger.jsonl")}
    found |= {name: (folder / "run" / f"{name}.csv", lambda path: opened.rows(path.stem)) for name in ("rounds", "players")}
    return {name: pair for name, pair in found.items() if pair[0].exists()}


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
