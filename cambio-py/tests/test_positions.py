"""Positions as text, worlds of positions, and advice."""

from __future__ import annotations

import pytest

import cambio_game as cambio
from conftest import cambio_prints, needs_the_command, positions

TEXT = "classic a=7s,2h,?,? b=?/b,?/b,?,? turns=5 pile=9c,4d"


def test_positions_of_a_game_are_read_back() -> None:
    for rules, seats in [("classic", 2), ("original", 3), ("faessler", 4)]:
        for game in positions(rules, seats, 3):
            seen = game.observe()
            position = seen.position()
            assert cambio.Position(str(position)) == position
            observed = position.observation()
            assert observed.legal_actions() == seen.legal_actions()
            assert str(observed) == str(seen)
            assert observed.known == seen.known


def test_worlds_keep_what_the_seat_knows() -> None:
    position = cambio.Position(TEXT)
    worlds = position.worlds(50, seed=3)
    assert worlds == position.worlds(50, seed=3) and len(set(worlds)) > 40
    assert all(world.faces["a1"] == "7s" and "9c" not in world.stock for world in worlds)
    with pytest.raises(cambio.CambioError, match="`number` must be"):
        position.worlds(0)


@needs_the_command
def test_advice_is_that_of_the_command() -> None:
    table = cambio.Position(TEXT).advise(games=400, opponents="sharp", seed=2)
    assert str(table) == cambio_prints("advise", TEXT, "--games", 400, "--opponents", "sharp", "--seed", 2)
    assert table.to_csv() == cambio_prints("advise", TEXT, "--games", 400, "--opponents", "sharp", "--seed", 2, "--format", "csv")
    best, *others = table
    assert best["may_be_best"] and best["cost"] is None and best["reason"] is None
    assert all(x["cost_low"] <= x["cost"] <= x["cost_high"] and x["may_be_best"] == (x["reason"] is None) for x in others)


def test_wrong_positions_and_options_are_refused() -> None:
    with pytest.raises(cambio.CambioError, match="position: the position has 2 cards 7s, but the deck has 1"):
        cambio.Position("classic a=7s,7s,?,? b=?,?,?,?")
    with pytest.raises(cambio.CambioError, match="`opponents` must be one of"):
        cambio.Position(TEXT).advise(opponents="nobody")
