"""A simple Cambio bot in forty lines that needs only the standard library. PROTOCOL.md describes the messages."""

import json
import random
import sys

CALL_AT = 6  # calls if the expected sum of its own cards is at most this


def choose(me, points, mean, ask):
    """Returns one of ask["legal"]: snaps known matches, keeps cheaper cards, looks at unknown cards, calls early."""
    own = [spot for spot in ask["spots"] if spot[0] == me]
    worth = {spot: points.get(ask["known"].get(spot), mean) for spot in own}
    worst = max(own, key=worth.get, default=None)
    preferred = []
    if sum(worth.values()) <= CALL_AT:
        preferred.append("call")
    if ask["phase"] == "held" and worst and points.get(ask["held"], mean) < worth[worst]:
        preferred.append(f"keep {worst}")
    preferred += [f"snap {spot}" for spot in ask["matches"] if spot in own and worth[spot] > 0]
    preferred += [f"look {spot}" for spot in own if spot not in ask["known"]]
    preferred += ["end", "draw", "drop", "pass", "skip", f"give {worst}", f"keep {worst}", "call"]
    legal = [decision for decision in preferred if decision in ask["legal"]]
    return legal[0] if legal else random.choice(ask["legal"])


for line in sys.stdin:
    message = json.loads(line)
    if message["type"] == "hello":
        answer = {"protocol": 1, "name": "bot.py", "version": "1.0"}
    elif message["type"] == "decide":
        answer = {"decision": choose(me, points, mean, message)}
    else:
        if message["type"] == "begin":
            random.seed(message["seed"])
            me, cards = message["seat"], message["cards"]
            points = {card["label"]: card["points"] for card in cards}
            mean = sum(card["points"] * card["copies"] for card in cards) / sum(card["copies"] for card in cards)
        continue
    print(json.dumps(answer), flush=True)
