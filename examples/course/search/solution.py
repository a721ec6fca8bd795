"""A solution of the third exercise: decides by playouts of sampled worlds whether to call and where a held card goes.

A world gives every unknown card a face that this seat has not seen elsewhere. A playout goes on from the decision with simple players:
they draw, replace their worst card if that saves points, look at their own cards, snap their own cards, and call with few
points. They neither swap nor snap other seats' cards.
"""

import json
import random
import sys
from collections import Counter

WORLDS = 100  # the number of sampled worlds for a decision
CALL_AT = 9  # in playouts, seats call with at most this many expected points
TURNS = 10  # the maximum number of turns of each seat in a playout
TAKE_GAIN = 6  # takes the top card of the pile if that saves at least this many points


class Memory:
    """The deck, the cards that can still be anywhere, and the spots whose owner has seen the card."""

    def __init__(self, begin):
        self.random = random.Random(begin["seed"])
        # The seats in playing order from this seat on: decisions must not depend on the letters of seats.
        seats, self.me = "abcdefgh"[: begin["seats"]], begin["seat"]
        self.seats = seats[seats.index(self.me) :] + seats[: seats.index(self.me)]
        self.points = {card["label"]: card["points"] for card in begin["cards"]}
        self.rank = {card["label"]: card["rank"] for card in begin["cards"]}
        self.looks = {card["label"] for card in begin["cards"] if card["power"].startswith(("look own", "look any"))}
        self.deck = Counter({card["label"]: card["copies"] for card in begin["cards"]})
        self.mean = sum(self.points[card] * n for card, n in self.deck.items()) / self.deck.total()
        self.pile, self.owner_knows, self.below = [], set(), {}

    def notice(self, event):
        """Follows the pile, and which seats know their own cards."""
        kind, seat = event["event"], event.get("seat")
        if kind == "dealt":
            self.pile, self.owner_knows, self.below = [], set(), {}
        elif kind in ("peeked", "looked") and event["spot"][0] == seat:
            self.owner_knows.add(event["spot"])
        elif kind in ("dropped", "flipped"):
            self.pile.append(event["card"])
        elif kind == "took":
            self.pile = self.pile[:-1]
        elif kind == "kept":
            # The owner expected the replaced card to have more points than the kept one.
            replaced = self.points[event["replaced"]] if event["spot"] in self.owner_knows else self.mean
            self.owner_knows.add(event["spot"])
            self.below[event["spot"]] = replaced
            self.pile.append(event["replaced"])
        elif kind == "snapped" and event["verdict"] == "right":
            self.forget(event["spot"])
            self.pile.append(event["card"])
        elif kind == "swapped":
            self.owner_knows.difference_update(event["spots"])
            first, second = event["spots"]
            bounds = self.below.pop(first, None), self.below.pop(second, None)
            self.below.update({spot: bound for spot, bound in zip((second, first), bounds) if bound is not None})
        elif kind == "gave":
            self.forget(event["from"])
            self.forget(event["to"])
        elif kind == "reshuffled":
            self.pile = self.pile[-1:]

    def forget(self, spot):
        self.owner_knows.discard(spot)
        self.below.pop(spot, None)

    def draw(self, cards, spot):
        """Takes a card for an unknown spot out of `cards`: if possible, one that its owner would have kept."""
        for at in range(len(cards) - 1, -1, -1):
            if self.points[cards[at]] < self.below.get(spot, 100):
                return cards.pop(at)
        return cards.pop() if cards else None

    def worlds(self, ask):
        """Yields worlds: the hand of each seat as pairs of a card and whether the owner knows it, and the stock."""
        seen = Counter(self.pile) + Counter(ask["known"].values()) + Counter([ask["held"]] if ask["held"] else [])
        unseen = list((self.deck - seen).elements())
        for _ in range(WORLDS):
            cards = self.random.sample(unseen, len(unseen))
            hands = {seat: [] for seat in self.seats}
            for spot in ask["spots"]:
                # This seat knows the cards in `known`, and the others know what the events say.
                knows = spot in ask["known"] if spot[0] == self.me else spot in self.owner_knows
                hands[spot[0]].append((ask["known"].get(spot) or self.draw(cards, spot), knows))
            yield hands, cards

    def expected(self, hand):
        return [self.points[card] if knows else self.mean for card, knows in hand]


def place(memory, hands, seat, drawn, spot, caller):
    """Keeps the drawn card in a spot (an index), or drops it and looks at an unknown card if `spot` is None."""
    hand = hands[seat]
    if spot is not None:
        drawn, hand[spot] = hand[spot][0], (drawn, True)
    elif drawn in memory.looks:
        for at, (card, knows) in enumerate(hand):
            if not knows:
                hand[at] = (card, True)
                break
    # A seat that knows a matching card of its own snaps it.
    for owner, cards in hands.items():
        for at, (card, knows) in enumerate(cards):
            if knows and owner != caller and memory.rank[card] == memory.rank[drawn] and memory.points[card] > 0:
                del cards[at]
                return


def turn(memory, hands, stock, seat, caller):
    """Draws a card and replaces the card that the owner expects to be the worst, or drops it."""
    if stock:
        drawn, belief = stock.pop(), memory.expected(hands[seat])
        worst = max(range(len(belief)), key=belief.__getitem__, default=None)
        is_better = worst is not None and memory.points[drawn] < belief[worst]
        place(memory, hands, seat, drawn, worst if is_better else None, caller)


def playout(memory, hands, stock, caller):
    """The share of the win of this seat, if `caller` (a seat or None) has called at the end of this seat's turn."""
    for at in range(1, TURNS * len(memory.seats) + 1):
        seat = memory.seats[at % len(memory.seats)]
        if seat == caller:
            break
        turn(memory, hands, stock, seat, caller)
        if caller is None and sum(memory.expected(hands[seat])) <= CALL_AT:
            caller = seat
    totals = {seat: sum(memory.points[card] for card, _ in hand) for seat, hand in hands.items()}
    lowest = min(totals.values())
    winners = [seat for seat in memory.seats if totals[seat] == lowest]
    if caller in winners and len(winners) > 1:
        winners.remove(caller)  # the caller must be lowest alone
    return (memory.me in winners) / len(winners)


def value(memory, hands, stock, decision, held):
    """The result of a playout after a decision: `call`, `end`, `drop`, or the index of the spot that gets the held card.

    In games in which a call replaces the turn, `end` leaves out this turn, so the search calls too early there.
    """
    hands, stock = {seat: list(hand) for seat, hand in hands.items()}, list(stock)
    is_call = decision == "call"
    if decision == "drop" or isinstance(decision, int):
        place(memory, hands, memory.me, held, None if decision == "drop" else decision, None)
        is_call = sum(memory.expected(hands[memory.me])) <= CALL_AT
    return playout(memory, hands, stock, memory.me if is_call else None)


def best_decision(memory, ask, decisions):
    """The decision with the best mean over the same worlds; the first one of equals."""
    totals = dict.fromkeys(decisions, 0)
    for hands, stock in memory.worlds(ask):
        for decision in decisions:
            totals[decision] += value(memory, hands, stock, decision, ask["held"])
    return max(decisions, key=totals.get)


def choose(memory, ask):
    """Returns the first legal decision of a list that begins with the best one."""
    own = [spot for spot in ask["spots"] if spot[0] == memory.me]
    others = [spot for spot in ask["spots"] if spot[0] != memory.me]
    worth = {spot: memory.points.get(ask["known"].get(spot), memory.mean) for spot in ask["spots"]}
    worst = max(own, key=worth.get, default=None)
    best = min((spot for spot in others if spot in ask["known"]), key=worth.get, default=None)
    preferred = []
    if "call" in ask["legal"] and best_decision(memory, ask, ["end", "call"]) == "call":
        preferred.append("call")
    if ask["phase"] == "start" and worst and ask["top"] and worth[worst] - memory.points[ask["top"]] >= TAKE_GAIN:
        preferred.append("take")
    if ask["phase"] == "held" and ask["held"] and own:
        decisions = [at for at, spot in enumerate(own) if f"keep {spot}" in ask["legal"]]
        decisions += ["drop"] if "drop" in ask["legal"] else []
        best_place = best_decision(memory, ask, decisions)
        preferred.append("drop" if best_place == "drop" else f"keep {own[best_place]}")
    if ask["phase"] in ("window", "chain"):
        preferred += [f"snap {spot}" for spot in ask["matches"] if spot in own and worth[spot] > 0]
        preferred += [f"snap {spot}" for spot in ask["matches"] if spot in others and worth[worst] > 0] if worst else []
    if ask["phase"] == "power":
        preferred += [f"look {spot}" for spot in own if spot not in ask["known"]]
        preferred += [f"look {spot}" for spot in others if spot not in ask["known"]]
        if best and worst and worth[best] < worth[worst]:
            preferred += [f"swap {worst} {best}", f"swap {best} {worst}"]
    preferred += ["end", "draw", "drop", "pass", f"give {worst}", "skip", f"keep {worst}", "call"]
    legal = [decision for decision in preferred if decision in ask["legal"]]
    return legal[0] if legal else memory.random.choice(ask["legal"])


for line in sys.stdin:
    message = json.loads(line)
    if message["type"] == "hello":
        answer = {"protocol": 1, "name": "search", "version": "1.0"}
    elif message["type"] == "decide":
        answer = {"decision": choose(memory, message)}
    else:
        if message["type"] == "begin":
            memory = Memory(message)
        elif message["type"] == "event":
            memory.notice(message)
        continue
    print(json.dumps(answer), flush=True)
