"""A solution of the first exercise: remembers cards, keeps low ones, snaps matches, and calls with few points."""

import json
import random
import sys

CALL_AT = 6  # calls if the expected sum of its own cards is at most this
TAKE_GAIN = 6  # takes the top card of the pile if that saves at least this many points


class Memory:
    """The cards of the deck, and this seat's expectation of each spot."""

    def __init__(self, begin):
        random.seed(begin["seed"])
        self.me = begin["seat"]
        self.points = {card["label"]: card["points"] for card in begin["cards"]}
        copies = sum(card["copies"] for card in begin["cards"])
        self.mean = sum(card["points"] * card["copies"] for card in begin["cards"]) / copies

    def worth(self, ask, spot):
        """The points of a known card, and the mean of the deck for an unknown card."""
        return self.points[ask["known"][spot]] if spot in ask["known"] else self.mean


def choose(memory, ask):
    """Returns the first legal decision of a list that begins with the best one."""
    own = [spot for spot in ask["spots"] if spot[0] == memory.me]
    others = [spot for spot in ask["spots"] if spot[0] != memory.me]
    worth = {spot: memory.worth(ask, spot) for spot in ask["spots"]}
    worst = max(own, key=worth.get, default=None)
    known = [spot for spot in others if spot in ask["known"]]
    best = min(known, key=worth.get, default=None)
    preferred = []
    if ask["phase"] in ("start", "close") and sum(worth[spot] for spot in own) <= CALL_AT:
        preferred.append("call")
    if ask["phase"] == "start" and worst and ask["top"] and worth[worst] - memory.points[ask["top"]] >= TAKE_GAIN:
        preferred.append("take")
    if ask["phase"] == "held" and worst and memory.points.get(ask["held"], memory.mean) < worth[worst]:
        preferred.append(f"keep {worst}")
    if ask["phase"] in ("window", "chain"):
        # A snapped card of another seat is replaced by this seat's worst card.
        preferred += [f"snap {spot}" for spot in ask["matches"] if spot in own and worth[spot] > 0]
        preferred += [f"snap {spot}" for spot in ask["matches"] if spot in others and worth[worst] > 0] if worst else []
    if ask["phase"] == "power":
        preferred += [f"look {spot}" for spot in own if spot not in ask["known"]]
        preferred += [f"look {spot}" for spot in others if spot not in ask["known"]]
        if best and worst and worth[best] < worth[worst]:
            preferred += [f"swap {worst} {best}", f"swap {best} {worst}"]
    preferred += ["end", "draw", "drop", "pass", f"give {worst}", "skip", f"keep {worst}", "call"]
    legal = [decision for decision in preferred if decision in ask["legal"]]
    return legal[0] if legal else random.choice(ask["legal"])


for line in sys.stdin:
    message = json.loads(line)
    if message["type"] == "hello":
        answer = {"protocol": 1, "name": "memory", "version": "1.0"}
    elif message["type"] == "decide":
        answer = {"decision": choose(memory, message)}
    else:
        if message["type"] == "begin":
            memory = Memory(message)
        continue
    print(json.dumps(answer), flush=True)
