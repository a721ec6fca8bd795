"""The starting point of the first exercise: a bot that plays legally but at random, and forgets every card."""

import json
import random
import sys


def choose(ask):
    """Returns one of ask["legal"]."""
    # A wrong snap costs a penalty card, so even a random player passes.
    return "pass" if "pass" in ask["legal"] else random.choice(ask["legal"])


for line in sys.stdin:
    message = json.loads(line)
    if message["type"] == "hello":
        answer = {"protocol": 1, "name": "start.py", "version": "1.0"}
    elif message["type"] == "decide":
        answer = {"decision": choose(message)}
    else:
        if message["type"] == "begin":
            random.seed(message["seed"])
        continue
    print(json.dumps(answer), flush=True)
