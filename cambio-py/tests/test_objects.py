"""All objects can be copied, pickled, compared, hashed and printed, and have consistent values."""

from __future__ import annotations

import copy
import json
import pickle
import random
from html.parser import HTMLParser
from itertools import pairwise

import numpy as np
import pytest

import cambio_game as cambio
from conftest import TABLES, choose, midway, positions


def same(thing: object) -> None:
    """A copy, a deep copy and a pickle are equal to the original, and so are their hashes."""
    for other in (copy.copy(thing), copy.deepcopy(thing), pickle.loads(pickle.dumps(thing))):
        assert other == thing and hash(other) == hash(thing), repr(thing)
        assert repr(other) == repr(thing)
    assert thing != "something else"


@pytest.mark.parametrize(("name", "seats"), TABLES)
def test_every_object_survives_copies_and_pickles(name: str, seats: int) -> None:
    for number, game in enumerate(positions(name, seats, 3, 40)):
        if number % 8:
            continue
        seen = game.observe()
        things = [game, seen, game.record(), game.rules]
        things += [game.layout, *game.layout.blocks, *game.legal_actions(), *seen.sightings, *game.events()]
        for thing in things:
            same(thing)
        for world in (*seen.worlds(1, number), game.world()):
            assert copy.copy(world) == copy.deepcopy(world) == world and hash(copy.copy(world)) == hash(world)
    same(cambio.agent("greedy(call_at=7)"))


def test_rules_are_presets_dictionaries_and_toml() -> None:
    classic = cambio.Rules("classic")
    assert classic == cambio.Rules() == cambio.Rules(classic.to_dict()) == cambio.Rules.from_toml(classic.to_toml())
    six = cambio.Rules({"base": "classic", "name": "six cards", "hand": 6, "peek": "choose 2"})
    assert six != classic and six.name == "six cards" and six.to_dict()["hand"] == 6
    assert classic.to_dict()["penalty"] == 1 and cambio.Rules(six.to_dict()) == six
    jokers = cambio.Rules({"base": "classic", "points": {"JK": -3}, "penalty": 2})
    assert jokers.points("JK") == -3 and jokers.to_dict()["penalty"] == 2 and cambio.Rules(jokers.to_dict()) == jokers
    assert sum(classic.deck.values()) == 54 and classic.points("Ks") != classic.points("Kh")
    assert list(classic.seats) == [2, 3, 4, 5, 6, 7, 8]
    with pytest.raises(cambio.RulesError, match="there is no preset|no rule system|whist"):
        cambio.Rules("whist")
    with pytest.raises(cambio.RulesError):
        cambio.Rules({"base": "classic", "hand": 99})


def test_an_action_is_its_notation_and_its_index() -> None:
    for seat in (0, 1):
        for index in range(cambio.Rules("classic").action_count(2)):
            action = cambio.Action.from_index(index, "classic", 2, seat)
            assert action.index("classic", 2, seat) == index
            assert cambio.Action(str(action)) == action
    snap = cambio.Action("snap b3")
    assert snap.index("classic", 2, "b") == cambio.Action("snap a3").index("classic", 2, "a")
    assert (snap.verb, snap.spots) == ("snap", ("b3",))
    assert cambio.Action("swap b1 a2") == cambio.Action("swap a2 b1")


@pytest.mark.parametrize(("name", "seats"), TABLES)
def test_observation_mask_and_tensor_agree_with_the_game(name: str, seats: int) -> None:
    for game in positions(name, seats, 5, 60):
        seen = game.observe()
        assert seen.is_asked and seen.seat == game.seat
        assert seen.legal_actions() == game.legal_actions()
        assert np.array_equal(seen.tensor(), game.tensor()) and np.array_equal(seen.mask(), game.mask())
        indices = game.legal_indices()
        assert np.array_equal(np.flatnonzero(game.mask()), np.sort(indices))
        for index, action in zip(indices, game.legal_actions(), strict=True):
            assert action.index(game.rules, seats, game.seat) == index
        other = (game.seat + 1) % seats
        assert not game.mask(other).any() and not game.observe(other).legal_actions()


def test_the_blocks_of_a_tensor_are_views_with_their_shapes() -> None:
    game = cambio.Game("classic", 2, seed=1)
    layout, tensor = game.layout, game.tensor()
    parts = layout.split(tensor)
    assert sum(block.values == "counts" for block in layout.blocks) > 3
    assert [part.shape for part in parts.values()] == [block.shape for block in layout.blocks]
    assert np.array_equal(np.concatenate([part.ravel() for part in parts.values()]), tensor)
    assert all(np.shares_memory(part, tensor) for part in parts.values())
    assert parts["occupied"].sum() == 8 and parts["face"].sum() == len(game.observe().known)
    batch = np.stack([tensor, tensor])
    assert layout.split(batch)["face"].shape == (2, *layout["face"].shape)
    known = {
        spot: next(k for k, labels in enumerate(layout.classes) if card in labels) for spot, card in game.observe().known.items()
    }
    for spot, kind in known.items():
        assert parts["face"][ord(spot[0]) - ord("a"), int(spot[1:]) - 1, kind] == 1


def test_events_show_each_seat_what_it_may_see() -> None:
    game = cambio.Game("classic", 2, seed=42)
    game.step("draw")
    drew = [next(event for event in game.events(seat) if event.kind == "drew") for seat in (0, 1, None)]
    assert drew[0].card is not None and drew[1].card is None and drew[2] == drew[0] != drew[1]
    assert drew[0].card == game.observe(0).held == game.world().held


def test_rewards_sum_to_zero_and_follow_ranks() -> None:
    for seats in (2, 3, 5):
        dice = random.Random(seats)
        game = cambio.Game("original", seats, seed=9, reward="rank")
        while not game.is_over:
            assert game.rewards() == (0.0,) * seats
            game.step(choose(game, dice))
        rewards = game.rewards()
        assert abs(sum(rewards)) < 1e-12 and max(rewards) <= 1 and min(rewards) >= -1
        order = sorted(range(seats), key=lambda seat: game.ranks[seat])
        assert all(rewards[a] >= rewards[b] for a, b in pairwise(order))


def test_score_rewards_add_up_to_the_totals() -> None:
    dice, rounds = random.Random(1), 0
    rules = cambio.Rules({"base": "original", "name": "no reset", "total_reset": "none"})
    for deal in range(8):
        game = cambio.Game(rules, 3, seed=9, deal=deal, reward="score")
        sums = np.zeros(3)
        while not game.is_over:
            game.step(choose(game, dice))
            sums += game.rewards()
        assert np.allclose(-sums, game.totals)
        rounds = max(rounds, game.round)
    assert rounds > 1


def test_a_record_is_checked_filled_replayed_and_restored() -> None:
    game = midway("original", 3, 7, 10**5)
    record = game.record(["greedy"] * 3)
    record.verify()
    assert (
        record.fields["seats"] == 3
        and cambio.Rules(record.fields["rules"]) == game.rules
        and cambio.Record(record.to_json()) == record
    )
    assert record.fill().fields["ranks"] == list(game.ranks)
    steps = list(record.replay())
    assert tuple(action for _, action in steps) == game.actions
    again = cambio.Game("original", 3, seed=7)
    for seen, action in steps:
        assert seen == again.observe()
        again.step(action)
    assert cambio.Game.restore(record) == game == again
    broken = record.to_json().replace('"a draw"', '"a take"', 1)
    with pytest.raises(cambio.RecordError, match="round 1"):
        cambio.Record(broken).verify()


def test_a_notebook_shows_a_record_in_a_frame_of_its_own() -> None:
    game = midway("classic", 2, 7, 10**5)
    shown = game.record(["<greedy>", '"greedy"'])._repr_html_()
    assert shown is not None
    frames: list[dict[str, str | None]] = []
    parser = HTMLParser()
    parser.handle_starttag = lambda tag, attrs: frames.append({"tag": tag, **dict(attrs)})  # type: ignore[method-assign]
    parser.feed(shown)
    (frame,) = frames
    assert frame["tag"] == "iframe" and frame["sandbox"] == "allow-scripts" and frame["title"] == '<greedy> against "greedy"'
    page = frame["srcdoc"] or ""
    film = json.loads(page.split('id="film">')[1].split("</script>")[0])
    assert len(film["rounds"][0]["frames"]) == len(game.actions) + 1
    assert cambio.Record('{"format":"cambio-record/1","rules":"classic","seats":2,"rounds":[]}')._repr_html_() is None


def test_knowledge_samples_worlds_that_the_seat_cannot_tell_apart() -> None:
    for game in positions("faessler", 3, 11, 60):
        seen = game.observe()
        worlds = seen.worlds(3, 7)
        assert worlds == seen.worlds(4, 7)[:3] and worlds != seen.worlds(3, 8)
        for world in worlds:
            assert all(world.faces[spot] == card for spot, card in seen.known.items())
            assert sorted(world.faces) == sorted(seen.occupied) and sum(world.stock.values()) == seen.stock
            assert all(card in seen.candidates(spot) for spot, card in world.faces.items())


def test_an_agent_follows_games_and_their_copies() -> None:
    for spec in ("heuristic", "greedy", "learned", "rollout(n=5)"):
        first, second = cambio.agent(spec), cambio.agent(spec)
        game = cambio.Game("classic", 2, seed=3)
        while not game.is_over:
            action = first.decide(game)
            assert second.decide(game.copy()) == action and action in game.legal_actions()
            # An agent without random numbers decides the same when it takes over a seat.
            if not spec.startswith("rollout"):
                assert pickle.loads(pickle.dumps(first)).decide(game) == copy.deepcopy(first).decide(game) == action
            other = game.copy()
            other.step(game.legal_actions()[-1])
            if not other.is_over:
                assert cambio.agent(spec).decide(other) in other.legal_actions()
            game.step(action)
    assert "rollout" in cambio.agents()
    with pytest.raises(cambio.AgentError, match="the agents are"):
        cambio.agent("gready")
    with pytest.raises(cambio.AgentError, match="sees every card"):
        cambio.agent("oracle")


def test_chance_games_have_probabilities_and_replay() -> None:
    dice = random.Random(2)
    for name in (*cambio.MINI_GAMES, "classic", "original"):
        game = cambio.ChanceGame(name, 2)
        while not game.is_over:
            if game.is_chance:
                outcomes = game.outcomes()
                assert game.seat is None and not game.legal_actions() and outcomes
                assert abs(sum(share for _, share in outcomes) - 1) < 1e-9
                game.play_chance(dice.choices([o for o, _ in outcomes], [p for _, p in outcomes])[0])
            else:
                seen = game.observe()
                assert np.array_equal(seen.tensor(), game.tensor()) and np.array_equal(seen.mask(), game.mask())
                game.step(choose(game, dice))
            if len(game.history) % 20 == 0:
                same(game)
        assert len(game.returns()) == 2
        # `_apply` is the step of OpenSpiel's `apply_action`.
        for one_more in (game.play_chance, game._apply):
            with pytest.raises(cambio.IllegalAction, match="^the match is over$"):
                one_more(0)


@pytest.mark.parametrize("spec", ["greedy", "sharp", "learned", "random", "rollout(n=20)"])
def test_an_agent_decides_in_chance_games_and_at_observations(spec: str) -> None:
    dice, agent, decided = random.Random(4), cambio.agent(spec), 0
    for name in ("classic", "faessler"):
        game = cambio.ChanceGame(name, 2)
        while not game.is_over and decided < 400:
            if game.is_chance:
                with pytest.raises(cambio.IllegalAction, match="no seat has to decide"):
                    agent.decide(game)
                game.play_chance(dice.choices(*zip(*game.outcomes(), strict=True))[0])
                continue
            action = agent.decide(game, seed=3)
            assert action in game.legal_actions() and action == cambio.agent(spec).decide(game.observe(), seed=3)
            shares = agent.probabilities(game.observe(), seed=3)
            assert shares[action.index(game.rules, 2, game.seat)] > 0
            decided += 1
            game.step(action if dice.random() < 0.5 else choose(game, dice))
    assert decided > 30
    with pytest.raises(cambio.IllegalAction, match="does not have to decide"):
        agent.decide(cambio.Game(seed=1).observe(1))
    with pytest.raises(TypeError, match="must be a Game, a ChanceGame or an Observation, found type str"):
        agent.decide("classic")


def test_known_matches_are_known_cards_that_may_be_snapped() -> None:
    found = 0
    for game in positions("classic", 4, 1):
        seen, legal = game.observe(), game.legal_actions()
        found += len(seen.known_matches())
        assert all(spot in seen.known and cambio.Action(f"snap {spot}") in legal for spot in seen.known_matches())
    assert found


def test_ranks_are_those_of_the_deck() -> None:
    assert [cambio.Rules("classic").rank(card) for card in ("10h", "Kd", "JK")] == ["10", "K", "JK"]
    assert [cambio.Rules("original").rank(card) for card in ("7", "spy", "KR")] == ["7", "spy", "king"]
    with pytest.raises(cambio.CambioError, match="`1h` is not a card of `classic`"):
        cambio.Rules("classic").rank("1h")
