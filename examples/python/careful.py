"""A Python agent that remembers cards, keeps low ones, snaps matches, and calls with few points.

python -m cambio_game match careful greedy sharp --python careful=examples/python/careful.py:Careful
python -m cambio_game tune --agent 'careful(call_at=?)' --range 2..12 --python careful=examples/python/careful.py:Careful
"""


class Careful:
    def __init__(self, call_at: float = 5):  # calls if the expected sum of its own cards is at most this
        self.call_at = call_at

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
        if sum(worth.values()) <= self.call_at:
            preferred.append("call")
        if seen.held and worst and self.points.get(seen.held, self.mean) < worth[worst]:
            preferred.append(f"keep {worst}")
        # Wrong snaps cost cards, so only cards that are known to match count.
        # A snapped card of another player is replaced by one of its own.
        preferred += [f"snap {spot}" for spot in seen.known_matches() if worth.get(spot, 1) > 0]
        if worst and seen.top and self.points[seen.top] < min(worth[worst], self.mean / 2):
            preferred.append("take")
        preferred += [f"look {spot}" for spot in worth if spot not in known]
        preferred += ["end", "draw", "drop", "pass", "skip", f"give {worst}", f"keep {worst}", "call"]
        return next((action for action in preferred if action in legal), legal[0])
