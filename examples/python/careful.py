"""A Python agent that remembers cards, keeps low ones, snaps matches, and calls with few points.

python -m cambio_game match careful greedy sharp --python careful=examples/python/careful.py:Careful
"""

CALL_AT = 5  # calls if the expected sum of its own cards is at most this


class Careful:
    def begin(self, rules, seats, seat, seed):
        deck = rules.deck
        self.points = {card: rules.points(card) for card in deck}
        self.mean = sum(self.points[card] * copies for card, copies in deck.items()) / sum(deck.values())
        self.letter = "abcdefgh"[seat]

    def decide(self, seen):
        known, legal = seen.known, [str(action) for action in seen.legal_actions()]
        worth = {spot: self.points.get(known.get(spot), self.mean) for spot in seen.occupied if spot[0] == self.letter}
        worst = max(worth, key=worth.get, default=None)
        preferred = []
        if sum(worth.values()) <= CALL_AT:
            preferred.append("call")
        if seen.held and worst and self.points.get(seen.held, self.mean) < worth[worst]:
            preferred.append(f"keep {worst}")
        # A card can be snapped if it has the rank of the card on top of the pile. Wrong snaps cost cards, so only known ones count.
        rank = (seen.top or "  ")[:-1]
        preferred += [f"snap {spot}" for spot in worth if spot in known and known[spot][:-1] == rank and worth[spot] > 0]
        preferred += [f"look {spot}" for spot in worth if spot not in known]
        preferred += ["end", "draw", "drop", "pass", "skip", f"give {worst}", f"keep {worst}", "call"]
        return next((action for action in preferred if action in legal), legal[0])
