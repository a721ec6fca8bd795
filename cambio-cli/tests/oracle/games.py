"""Solves small games from their .efg files with independent programs, and compares the results.

Usage: games.py GAME...            Reads GAME.efg, GAME.txt (a strategy) and GAME.json (the expected results).

OpenSpiel reads the tree, counts its nodes, solves it as a linear program if the dense matrices fit into memory, and
computes the exploitability of the uniform and the given strategy. scipy's HiGHS also computes the value, from the
sequence form of the tree that OpenSpiel has read (Koller, Megiddo and von Stengel 1994).
"""

import json
import sys
import time
from pathlib import Path

import numpy as np
import pyspiel
import scipy.optimize
import scipy.sparse

# OpenSpiel's linear program is dense: 0.2 GB and some seconds with 5,000 sequences, but 100,000 sequences do not fit.
DENSE = 10_000
failed = 0


def same(what, found, expected, absolute):
    global failed
    good = abs(found - expected) <= absolute
    failed += not good
    print(f"{'' if good else 'WRONG '}{what}: {found:.16g}, expected {expected:.16g}")


class Side:
    """A player's information sets, each with its parent sequence and the sequences of its actions."""

    def __init__(self):
        self.sets = {}
        self.sequences = 1

    def enter(self, name, parent, state):
        if name not in self.sets:
            labels = {action: state.action_to_string(action) for action in state.legal_actions()}
            numbers = range(self.sequences, self.sequences + len(labels))
            self.sets[name] = parent, dict(zip(labels, numbers)), labels
            self.sequences += len(labels)
        known, numbers, labels = self.sets[name]
        assert known == parent, "perfect recall"
        assert labels == {action: state.action_to_string(action) for action in state.legal_actions()}
        assert len(set(labels.values())) == len(labels)
        return numbers


def read(game):
    """Returns the number of histories, both sides, and the payoff of player 0 for each pair of last sequences."""
    histories, sides, worth = 0, [Side(), Side()], {}
    waiting = [(game.new_initial_state(), 1.0, (0, 0))]
    while waiting:
        state, chance, path = waiting.pop()
        histories += 1
        if state.is_terminal():
            worth[path] = worth.get(path, 0.0) + chance * state.returns()[0]
        elif state.is_chance_node():
            waiting += [(state.child(action), chance * p, path) for action, p in state.chance_outcomes()]
        else:
            player = state.current_player()
            numbers = sides[player].enter(state.information_state_string(), path[player], state)
            for action, number in numbers.items():
                own = (number, path[1]) if player == 0 else (path[0], number)
                waiting.append((state.child(action), chance, own))
    return histories, sides, worth


def flow(side):
    """The flow constraints of the sequences: a row for the root, then one for each information set."""
    rows, columns, values = [0], [0], [1.0]
    for row, (parent, numbers, _) in enumerate(side.sets.values(), 1):
        rows += [row] * (len(numbers) + 1)
        columns += [parent, *numbers.values()]
        values += [-1.0] + [1.0] * len(numbers)
    return scipy.sparse.csr_array((values, (rows, columns)), shape=(len(side.sets) + 1, side.sequences))


def value(sides, worth):
    """The maximin value of player 0: plans x and bounds q with F'q <= A'x that maximize q of the root."""
    e, f = map(flow, sides)
    pairs = np.array(list(worth))
    a = scipy.sparse.csr_array((list(worth.values()), (pairs[:, 0], pairs[:, 1])), shape=(e.shape[1], f.shape[1]))
    free = f.shape[0]
    start = np.zeros(e.shape[1] + free)
    start[e.shape[1]] = -1.0
    found = scipy.optimize.linprog(
        start,
        A_ub=scipy.sparse.hstack([-a.T, f.T]),
        b_ub=np.zeros(f.shape[1]),
        A_eq=scipy.sparse.hstack([e, scipy.sparse.csr_array((e.shape[0], free))]),
        b_eq=np.eye(1, e.shape[0])[0],
        bounds=[(0, None)] * e.shape[1] + [(None, None)] * free,
        method="highs-ds",
        options={"primal_feasibility_tolerance": 1e-9, "dual_feasibility_tolerance": 1e-9},
    )
    assert found.success, found.message
    return -found.fun


def policy(sides, text):
    """The strategy file in OpenSpiel's format. The names of information sets contain the keys of the file; the
    labels of actions are the same."""
    lines = (line.split("\t") for line in text.splitlines()[3:])
    given = {(seat, key): dict(word.rsplit("=", 1) for word in words) for seat, key, *words in lines}
    taken = {}
    for player, side in enumerate(sides):
        for name, (_, _, labels) in side.sets.items():
            chances = given["ab"[player], name.split("-")[3]]
            taken[name] = [(action, float(chances[label])) for action, label in labels.items()]
    return taken


def dense(game):
    from open_spiel.python.algorithms import lp_solver, sequence_form_lp

    # The default options are for a solver that the wheel does not include.
    lp_solver.DEFAULT_SOLVER_KWARGS.clear()
    return sequence_form_lp.solve_zero_sum_game(game, solver="HIGHS")[:2]


def check(path):
    expected = json.loads(path.with_suffix(".json").read_text())
    game = pyspiel.load_game(f"efg_game(filename={path.with_suffix('.efg')})")
    assert game.get_type().utility == pyspiel.GameType.Utility.ZERO_SUM
    histories, sides, worth = read(game)
    same("histories", histories, expected["histories"], 0)
    for side, sets in zip(sides, expected["information_sets"]):
        same("information sets", len(side.sets), sets, 0)
    same("NashConv of uniform play", pyspiel.nash_conv(game, pyspiel.UniformRandomPolicy(game)), expected["uniform"], 1e-9)
    found = pyspiel.nash_conv(game, policy(sides, path.with_suffix(".txt").read_text()))
    same("NashConv of the solution", found, expected["nash_conv"], 1e-9)
    if max(side.sequences for side in sides) <= DENSE:
        for sign, found in zip([1, -1], dense(game)):
            same("value, by OpenSpiel", sign * found, expected["value"], 1e-6)
    else:
        print(f"skipped: OpenSpiel's linear program, too dense for {[side.sequences for side in sides]} sequences")
    same("value, by HiGHS", value(sides, worth), expected["value"], 1e-6)


for path in map(Path, sys.argv[1:]):
    begun = time.monotonic()
    print(f"-- {path.name}")
    check(path)
    print(f"{time.monotonic() - begun:.1f} s")
sys.exit(failed > 0)
