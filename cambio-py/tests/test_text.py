"""Texts for language models and people: the view of an observation, the parser of decisions, players that read and write text."""

from __future__ import annotations

import random

import pytest

import cambio_game as cambio
from conftest import TABLES, positions


@pytest.mark.parametrize(("name", "seats"), TABLES)
def test_every_legal_decision_is_in_the_text_and_is_parsed(name: str, seats: int) -> None:
    for game in positions(name, seats, 3, 40):
        seen, legal = game.observe(), game.legal_actions()
        text = seen.describe()
        assert f"You are seat {'abcdefgh'[game.seat]}." in text and "Your decision: " in text
        for number, action in enumerate(legal, 1):
            assert f"\n  {action} – " in text
            answers = [
                str(action),
                str(number),
                f" {number}. ",
                f"I think.\n\n**{str(action).upper()}**!",
                f"not draw, but `{action}`.",
            ]
            assert all(cambio.parse_decision(answer, seen) == action for answer in answers)
        for event in seen.sightings:
            assert event.card is None or event.kind == "ended" or event.card in text or f"[{event.card}]" in text
        assert len(seen.describe(events=2)) <= len(text)
        with pytest.raises(cambio.ActionError, match="does not have to decide"):
            cambio.parse_decision("1", game.observe((game.seat + 1) % seats))


def test_the_last_decision_of_an_answer_counts() -> None:
    seen = decision()
    legal = [str(action) for action in seen.legal_actions()]
    for answer, due in [
        ("I could discard it, but a1 is unknown: keep a1", "keep a1"),
        ("keep a1? No: DISCARD.", "drop"),
        ("keep a11 keep a2 keepa3", "keep a2"),
        ("5", legal[4]),
        ("Option 2", legal[1]),
        ("I choose option 3.", legal[2]),
        ("**Decision: 1**", legal[0]),
        ("option 1, no: Option 2!", legal[1]),
        ("option 1 or keep a1", "keep a1"),
        ("Answer: 4 (keep it)", legal[3]),
        ("- option-2.", legal[1]),
    ]:
        assert str(cambio.parse_decision(answer, seen)) == due, answer
    for answer in ("Option 99", "option 0", "keep a1? No, option 12345"):
        with pytest.raises(cambio.ActionError, match=f"the number of the decision must be from 1 to {len(legal)}, found"):
            cambio.parse_decision(answer, seen)
    for answer in ("", "99", "0", "snap a1", "keep", "drops", "keep a9", "-1", "option -1", "Answer: 1.5", "choice: -1.5"):
        with pytest.raises(cambio.ActionError, match="must contain a legal decision, one of drop, keep a1, .*; found "):
            cambio.parse_decision(answer, seen)


def test_the_two_spots_of_a_swap_have_no_order() -> None:
    swaps = 0
    for game in positions("classic", 2, 11, 400):
        for action in game.legal_actions():
            if action.verb == "swap":
                one, other = action.spots
                assert cambio.parse_decision(f"swap {other} {one}", game.observe()) == action
                swaps += 1
    assert swaps


def test_a_player_of_texts_plays_in_tournaments() -> None:
    dice, prompts = random.Random(1), []

    def model(prompt: str) -> str:
        prompts.append(prompt)
        return dice.choice(["I pass on this.", "Well … number 1?", "1"])

    player = cambio.TextPlayer(model, attempts=2, otherwise="first")
    run = cambio.evaluate(player, "greedy", deals=5, threads=1)
    assert run.matches == 10 and {row["agent"] for row in run.summary} == {"model", "greedy"}
    assert "Goal: end the round with the fewest points" in prompts[0] and any(
        "Your last answer was not valid" in one for one in prompts
    )
    with pytest.raises(cambio.AgentFault, match="must contain a legal decision") as caught:
        cambio.evaluate(cambio.TextPlayer(lambda prompt: "no idea"), "greedy", deals=1, threads=1)
    assert isinstance(caught.value.__cause__, cambio.ActionError)
    for wrong, kind in [
        ({"ask": "text"}, TypeError),
        ({"ask": str, "attempts": 0}, cambio.CambioError),
        ({"ask": str, "otherwise": "x"}, cambio.CambioError),
    ]:
        with pytest.raises(kind, match=f"`{[*wrong][-1]}` must be"):
            cambio.TextPlayer(**wrong)
    with pytest.raises(TypeError, match="`ask` must return a text, found type int"):
        cambio.TextPlayer(lambda prompt: 3).decide(decision())


def decision() -> cambio.Observation:
    game = cambio.Game(seed=42)
    game.step("draw")
    return game.observe()


@pytest.mark.parametrize("name", cambio.PRESETS)
def test_the_rules_in_words_name_every_power(name: str) -> None:
    text = cambio.Game(name).observe().describe_rules()
    assert "\nThe cards with their points and powers:\n" in text and "  power: " in text
    if name == "classic":
        assert "\n   7 points  7  power: peek at one of your cards\n" in text
    if name == "original":
        assert "  [look]  power: peek at one of your cards\n" in text and "  [swap]  power: swap two cards\n" in text
