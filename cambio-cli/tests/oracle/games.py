"""Reads small games from their .efg files with OpenSpiel, and compares the results.

Usage: games.py GAME...            Reads GAME.efg, GAME.txt (a strategy) and GAME.json (the expected results).

OpenSpiel reads the tree, counts its nodes and information sets, and computes the exploitability of the uniform and the given strategy,
and the value of the given strategy. In a zero-sum game, its difference from the value of the game is at most NashConv.
"""

import json
import sys
import time
from pathlib import Path

import pyspiel

failed = 0


def same(what, found, expected, absolute):
    global failed
    good = abs(found - expected) <= absolute
    failed += not good
    print(f"{'' if good else 'WRONG '}{what}: {found:.16g}, expected {expected:.16g}")


def read(game):
    """Returns the number of histories, and for each player the labels of the actions at each information set."""
    histories, sides, paths = 0, [{}, {}], {}
    waiting = [(game.new_initial_state(), ((), ()))]
    while waiting:
        state, past = waiting.pop()
        histories += 1
        if state.is_terminal():
            continue
        children = [(state.child(action), action) for action in state.legal_actions()]
        if state.is_chance_node():
            waiting += [(child, past) for child, _ in children]
            continue
        player, name = state.current_player(), state.information_state_string()
        labels = {action: state.action_to_string(action) for action in state.legal_actions()}
        assert sides[player].setdefault(name, labels) == labels
        assert len(set(labels.values())) == len(labels)
        assert paths.setdefault(name, past[player]) == past[player], "perfect recall"
        for child, action in children:
            own = (*past[player], (name, action))
            waiting.append((child, (own, past[1]) if player == 0 else (past[0], own)))
    return histories, sides


def policy(sides, text):
    """The strategy file in OpenSpiel's format. The names of information sets contain the keys of the file; the
    labels of actions are the same."""
    lines = (line.split("\t") for line in text.splitlines()[3:])
    given = {(seat, key): dict(word.rsplit("=", 1) for word in words) for seat, key, *words in lines}
    taken = {}
    for player, side in enumerate(sides):
        for name, labels in side.items():
            chances = given["ab"[player], name.split("-")[3]]
            taken[name] = [(action, float(chances[label])) for action, label in labels.items()]
    return taken


def check(path):
    expected = json.loads(path.with_suffix(".json").read_text())
    game = pyspiel.load_game(f"efg_game(filename={path.with_suffix('.efg')})")
    assert game.get_type().utility == pyspiel.GameType.Utility.ZERO_SUM
    histories, sides = read(game)
    same("histories", histories, expected["histories"], 0)
    for side, sets in zip(sides, expected["information_sets"]):
        same("information sets", len(side), sets, 0)
    same("NashConv of uniform play", pyspiel.nash_conv(game, pyspiel.UniformRandomPolicy(game)), expected["uniform"], 1e-9)
    solution = policy(sides, path.with_suffix(".txt").read_text())
    found = pyspiel.nash_conv(game, solution)
    same("NashConv of the solution", found, expected["nash_conv"], 1e-9)
    same("NashConv of the solution", found, 0, 1e-6)
    value = pyspiel.expected_returns(game.new_initial_state(), pyspiel.TabularPolicy(solution), -1, True)[0]
    same("value", value, expected["value"], 1e-9)


for path in map(Path, sys.argv[1:]):
    begun = time.monotonic()
    print(f"-- {path.name}")
    check(path)
    print(f"{time.monotonic() - begun:.1f} s")
sys.exit(failed > 0)
