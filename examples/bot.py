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
    wishes = []
    if sum(worth.values()) <= CALL_AT:
        wishes.append("call")
    if ask["phase"] == "held" and worst and points.get(ask["held"], mean) < worth[worst]:
        wishes.append(f"keep {worst}")
    wishes += [f"snap {spot}" for spot in ask["matches"] if spot in own and worth[spot] > 0]
    wishes += [f"look {spot}" for spot in own if spot not in ask["known"]]
    wishes += ["end", "draw", "drop", "pass", "skip", f"give {worst}", f"keep {worst}", "call"]
    legal = [wish for wish in wishes if wish in ask["legal"]]
    return legal[0] if legal else random.choice(ask["legal"])


for line in sys.stdin:
    said = json.loads(line)
    if said["type"] == "hello":
        answer = {"protocol": 1, "name": "bot.py", "version": "1.0"}
    elif said["type"] == "decide":
        answer = {"decision": choose(me, points, mean, said)}
    else:
        if said["type"] == "begin":
            random.seed(said["seed"])
            me, cards = said["seat"], said["cards"]
            points = {card["label"]: card["points"] for card in cards}
            mean = sum(card["points"] * card["copies"] for card in cards) / sum(card["copies"] for card in cards)
        continue
    print(json.dumps(answer), flush=True)
