"""A small, complete learner: PPO in JAX that plays Cambio against itself on `cambio.VectorGame`.

    python notebooks/selfplay.py --minutes 10 --out policy.npz      # processor time, on one core

All cards share one set of weights, so training on one slot improves all slots; separate weights learn much more slowly. The inputs
include the points of cards and expected sums. Notebook 08 shows the results; `Learned` plays in tournaments.
"""

from __future__ import annotations

import argparse
import json
import os
import time
from pathlib import Path

# One core, because the matrix products are too small to use a second one.
os.environ.setdefault("XLA_FLAGS", "--xla_cpu_multi_thread_eigen=false")

import jax
import jax.numpy as jnp
import numpy as np

import cambio_game as cambio

BLOCKS = (
    "phase", "step", "turn", "callers", "safe", "sizes", "held", "held_from", "top", "opener", "unseen",
    "occupied", "gap", "pointed", "seen_by", "face", "seen_for", "age", "hints",
)  # fmt: skip
SLOTS = 6  # The network reads the first six slots of each seat; more cards are rare.
PAIRS = 8  # The length of a card's vector in the score of a swap of two cards.


class Network:
    """The network: its inputs from a tensor, and its probabilities of decisions. The weights are passed in as a dictionary."""

    def __init__(self, rules: cambio.Rules | str = "classic") -> None:
        self.layout = cambio.Layout(rules, 2)
        self.rules = self.layout.rules
        self.points = np.array([self.rules.points(cards[0]) for cards in self.layout.classes], np.float32)
        ranks = np.array([self.layout.rules.rank(cards[0]) for cards in self.layout.classes])
        self.same_rank = (ranks[:, None] == ranks).astype(np.float32)
        # The entries of a tensor that are inputs, and the position of each block among them.
        chosen, self.blocks, width = [], {}, 0
        for name in BLOCKS:
            block = self.layout[name]
            entries = np.arange(block.offset, block.slice.stop).reshape(block.shape)
            entries = entries[:, :SLOTS] if len(block.shape) > 1 else entries
            self.blocks[name] = (slice(width, width + entries.size), entries.shape)
            width += entries.size
            chosen.append(entries.ravel())
        self.chosen = np.concatenate(chosen)
        # A decision is a verb with zero, one or two cards. Only decisions about cards among the inputs are used.
        actions = [cambio.Action.from_index(index, self.rules, 2, 0) for index in range(self.rules.action_count(2))]
        self.indices = np.array([i for i, action in enumerate(actions) if all(int(at[1:]) <= SLOTS for at in action.spots)])
        number = lambda at: (ord(at[0]) - ord("a")) * SLOTS + int(at[1:]) - 1
        decisions = [(actions[i].verb, [number(at) for at in actions[i].spots]) for i in self.indices]
        self.plain, self.verbs = (sorted({verb for verb, cards in decisions if len(cards) == count}) for count in (0, 1))
        # The position of each decision's logit in the output of `forward`: plain ones, each card with each verb, pairs of cards.
        one, two = len(self.plain), len(self.plain) + 2 * SLOTS * len(self.verbs)
        self.places = np.array([
            two + cards[0] * 2 * SLOTS + cards[1] if len(cards) == 2
            else one + cards[0] * len(self.verbs) + self.verbs.index(verb) if cards
            else self.plain.index(verb)
            for verb, cards in decisions
        ])  # fmt: skip

    def begin(self, seed: int, card: int = 32, hidden: int = 96) -> dict[str, np.ndarray]:
        """The initial weights."""
        dice = np.random.default_rng(seed)
        cards, scene = jax.eval_shape(self.features, jax.ShapeDtypeStruct((1, len(self.chosen)), np.uint8))
        sizes = {
            "card": (cards.shape[-1], card), "scene": (scene.shape[-1] + 2 * card, hidden), "deep": (hidden, hidden),
            "near": (card, card), "far": (hidden, card), "verbs": (card, len(self.verbs) + 1 + PAIRS),
            "plain": (hidden, len(self.plain)), "share": (hidden, 1),
        }  # fmt: skip
        weights = {}
        for name, size in sizes.items():
            gain = 0.1 if name in ("verbs", "plain", "share") else 1.4
            weights[name] = (dice.standard_normal(size) * gain / np.sqrt(size[0])).astype(np.float32)
            weights[f"{name} bias"] = np.zeros(size[1], np.float32)
        return weights

    def features(self, seen):
        """What the network reads of each card, and of the scene: blocks of the tensor, points, and sums of points."""
        numbers = seen.astype(jnp.float32)
        part = {name: numbers[:, where].reshape(-1, *shape) for name, (where, shape) in self.blocks.items()}
        # A card that the seat does not know is worth the mean of those that it has not seen.
        mean = (part["unseen"] @ self.points) / jnp.maximum(part["unseen"].sum(1), 1)
        known, face = part["face"].sum(3), part["face"] @ self.points
        worth = part["occupied"] * jnp.where(known > 0, face, mean[:, None, None])
        held, top = part["held"] @ self.points, part["top"] @ self.points
        fits = (part["face"] @ self.same_rank @ part["top"][:, None, :, None])[..., 0]
        own = jnp.broadcast_to(jnp.array([1.0, 0.0])[:, None], known.shape)
        gains = [worth - one[:, None, None] for one in (0 * held, held, top, mean)]
        cards = [jnp.stack([part["occupied"], part["gap"], part["pointed"], known, own, fits, *(gain / 8 for gain in gains)], 3)]
        cards += [part["face"], part["seen_by"], part["hints"] > 0, part["hints"] / 10]
        cards += [jnp.minimum(part["seen_for"], 20) / 10, jnp.minimum(part["age"], 20)[..., None] / 10]
        # Sums of points and the turn as ramps of a few steps, so that thresholds are easily learned.
        sums, sizes = worth.sum(2), part["sizes"]
        lead, sure, turn = sums[:, 1] - sums[:, 0], (part["occupied"] * face).sum(2)[:, 0], sizes[:, 3]
        scales = [(lead, -20, 20), (sums[:, 0], -5, 30), (sums[:, 1], -5, 30), (sure, -5, 25), (turn, 0, 30)]
        scene = [jnp.clip((number[:, None] - np.arange(low, high, 2)) / 2, 0, 1) for number, low, high in scales]
        scene += [part[name] for name in ("phase", "step", "turn", "callers", "safe", "held", "held_from", "top", "opener")]
        scene += [part["unseen"] / 4, sizes[:, :2] / 20, sums / 10, known.sum(2) / 2, part["occupied"].sum(2) / 2]
        scene += [jnp.stack([held, top, mean], 1) / 8]
        return jnp.concatenate(cards, 3), jnp.concatenate(scene, 1)

    def forward(self, weights, seen, mask):
        """The logarithms of the probabilities of the decisions, and the logit of the expected share of the win."""

        layer = lambda name, rows: rows @ weights[name] + weights[f"{name} bias"]
        cards, scene = self.features(seen)
        cards = jax.nn.relu(layer("card", cards)) * cards[..., :1]
        both = cards.sum(2).reshape(len(seen), -1)
        scene = jax.nn.relu(layer("scene", jnp.concatenate([scene, both], 1)))
        scene = jax.nn.relu(layer("deep", scene))
        # Each card, in the light of the scene, says what each verb does to it, and how well it goes with each other card.
        heads = jax.nn.relu(layer("near", cards) + layer("far", scene)[:, None, None, :])
        heads = layer("verbs", heads).reshape(len(seen), 2 * SLOTS, -1)
        verbs, alone, pairs = jnp.split(heads, [len(self.verbs), len(self.verbs) + 1], axis=2)
        pairs = jnp.einsum("bik,bjk->bij", pairs, pairs) + alone + alone.swapaxes(1, 2)
        logits = [layer("plain", scene), verbs.reshape(len(seen), -1), pairs.reshape(len(seen), -1)]
        logits = jnp.where(mask, jnp.concatenate(logits, 1)[:, self.places], -1e9)
        return jax.nn.log_softmax(logits), layer("share", scene)[:, 0]

    def read(self, observations, masks):
        """The inputs from the tensors, and the mask of the network's legal decisions."""
        return observations[:, self.chosen], masks[:, self.indices]

    def actions(self, places, masks):
        """The indices of decisions. If all legal decisions are about cards outside the inputs, the first legal one."""
        within = masks[:, self.indices].any(1)
        return np.where(within, self.indices[np.asarray(places)], masks.argmax(1))


def compiled(network: Network):
    """The compiled functions: a random decision, the most likely decision, one step of training."""

    @jax.jit
    def draw(weights, seen, mask, dart):
        """Samples a decision with the random number `dart`. Also returns its log probability, the expected share, the largest log."""
        logs, share = network.forward(weights, seen, mask)
        heaps = jnp.exp(logs).cumsum(1)
        places = (heaps > dart[:, None] * heaps[:, -1:]).argmax(1)
        return places, jnp.take_along_axis(logs, places[:, None], 1)[:, 0], jax.nn.sigmoid(share), logs.max(1)

    @jax.jit
    def best(weights, seen, mask):
        return network.forward(weights, seen, mask)[0].argmax(1)

    def loss(weights, rows, variety):
        """PPO's clipped objective, the error of the expected share, and an entropy bonus (Schulman et al. 2017, eq. 9)."""
        seen, mask, places, old, gains, shares = rows
        logs, share = network.forward(weights, seen, mask)
        ratio = jnp.exp(jnp.take_along_axis(logs, places[:, None], 1)[:, 0] - old)
        policy = -jnp.minimum(ratio * gains, jnp.clip(ratio, 0.8, 1.2) * gains).mean()
        entropy = -(jnp.exp(logs) * jnp.where(mask, logs, 0)).sum(1).mean()
        return policy + (jax.nn.softplus(share) - shares * share).mean() - variety * entropy

    @jax.jit
    def improve(state, count, rate, variety, rows):
        """One step of Adam, with the gradient norm clipped to 0.5. The trained agent plays with the moving average of the weights."""
        weights, first, second, average = state
        slopes = jax.grad(loss)(weights, rows, variety)
        length = jnp.sqrt(sum((slope**2).sum() for slope in slopes.values()))
        slopes = jax.tree.map(lambda slope: slope * jnp.minimum(1, 0.5 / length), slopes)
        first = jax.tree.map(lambda old, slope: 0.9 * old + 0.1 * slope, first, slopes)
        second = jax.tree.map(lambda old, slope: 0.999 * old + 0.001 * slope**2, second, slopes)
        step = rate * jnp.sqrt(1 - 0.999**count) / (1 - 0.9**count)
        weights = jax.tree.map(lambda old, up, size: old - step * up / (jnp.sqrt(size) + 1e-8), weights, first, second)
        keep = jnp.minimum(0.995, count / (count + 10))
        return weights, first, second, jax.tree.map(lambda old, new: keep * old + (1 - keep) * new, average, weights)

    return draw, best, improve


def advantages(values, shares, done, seats, last, smoothing):
    """How much better each decision turned out than expected (GAE), for each seat along its own decisions."""
    steps, batch = values.shape
    every, gains = np.arange(batch), np.zeros_like(values)
    # The share that the seat which is asked next expects; the other's is the rest.
    ahead = np.stack([1 - last, 1 - last], 1)
    ahead[every, seats[-1]] = last
    later = np.zeros((batch, 2), np.float32)
    for step in reversed(range(steps)):
        over, seat = done[step][:, None], seats[step]
        ahead, later = np.where(over, shares[step], ahead), np.where(over, 0, later)
        gains[step] = ahead[every, seat] - values[step] + smoothing * later[every, seat]
        ahead[every, seat], later[every, seat] = values[step], gains[step]
    return gains


def against(network: Network, best, weights, opponent: str, deals: int, seed: int) -> tuple[float, float]:
    """The share of the win against a library agent, each deal in both seats, and the half width of its 95 % interval."""
    shares = np.full((2, deals), np.nan)
    for seat in (0, 1):
        opponents = [None, opponent] if seat == 0 else [opponent, None]
        games = cambio.VectorGame(min(512, deals), network.rules, opponents=opponents, seed=seed)
        games.reset()
        while np.isnan(shares[seat]).any():
            places, dealt = best(weights, *network.read(games.observations, games.masks)), games.deals.copy()
            games.step(network.actions(places, games.masks))
            for place in np.flatnonzero(games.done & (dealt < deals)):
                shares[seat, dealt[place]] = (1 + games.rewards[place, seat]) / 2
    by_deal = shares.mean(0)
    return float(by_deal.mean()), float(1.96 * by_deal.std() / np.sqrt(deals))


def train(
    rules: str,
    minutes: float,
    seed: int,
    out: Path,
    batch: int = 512,
    steps: int = 64,
    deals: int = 2000,
    rate: float = 2e-3,
    size: int = 512,
    variety: float = 0.01,
    smoothing: float = 0.95,
) -> None:
    """Trains for the given minutes of processor time; saves the weights and the learning curve."""
    network = Network(rules)
    draw, best, improve = compiled(network)
    games = cambio.VectorGame(batch, rules, 2, seed=seed)
    games.reset()
    weights = network.begin(seed)
    nothing = jax.tree.map(np.zeros_like, weights)
    state, count = (weights, nothing, nothing, weights), 0
    dice, matches, curve, tested, next_test = np.random.default_rng(seed), 0, [], 0.0, 0.0
    began = time.process_time()
    while True:
        now = (time.process_time() - began - tested) / 60
        if now >= next_test:
            # Evaluated on deals of another seed. The evaluation does not count as training time.
            share, half = against(network, best, state[3], "greedy", deals, seed + 1)
            curve.append((now, matches, share, half))
            np.savez(out, **state[3])
            out.with_suffix(".json").write_text(json.dumps({"rules": rules, "seed": seed, "deals": deals, "curve": curve}) + "\n")
            print(f"{now:6.2f} minutes, {matches:>8} matches: {100 * share:.1f} ± {100 * half:.1f} % against greedy", flush=True)
            tested, next_test = time.process_time() - began - 60 * now, min(minutes, now + minutes / 12)
        if now >= minutes:
            return
        # Play: each step advances all matches.
        rows = []
        for _ in range(steps):
            seen, mask, seat = *network.read(games.observations, games.masks), games.seat.copy()
            places, log, value, most = map(np.asarray, draw(state[0], seen, mask, dice.random(batch, np.float32)))
            games.step(network.actions(places, games.masks))
            rows.append((seen, mask, places, log, value, most, (1 + games.rewards) / 2, games.done.copy(), seat))
        seen, mask, places, old, values, most, shares, done, seats = map(np.stack, zip(*rows))
        last = np.asarray(draw(state[0], *network.read(games.observations, games.masks), np.zeros(batch, np.float32))[2])
        gains = advantages(values, shares, done, np.vstack([seats, games.seat]), last, smoothing)
        # Skip forced decisions, which have no gradient, and two thirds of the nearly certain ones.
        free = (mask.sum(2) > 1) & ((most < -0.02) | (dice.random(most.shape) < 1 / 3))
        scaled = (gains - gains[free].mean()) / (gains[free].std() + 1e-6)
        samples = [array[free] for array in (seen, mask, places, old, scaled, np.clip(gains + values, 0, 1))]
        done_part = min(1, now / minutes)
        for _ in range(2):
            for part in dice.permutation(free.sum())[: free.sum() // size * size].reshape(-1, size):
                count += 1
                state = improve(state, count, rate * 0.1**done_part, variety * (1 - done_part), [array[part] for array in samples])
        matches += int(done.sum())


class Learned:
    """The trained network as an agent for tournaments. It takes its most likely decision."""

    ROWS = 64  # A fixed batch size, so that a decision does not depend on the number of waiting matches.

    def __init__(self, weights: str | Path = "policy.npz", rules: str = "classic") -> None:
        self.network, self.weights = Network(rules), dict(np.load(weights))
        self.best = compiled(self.network)[1]

    def probabilities(self, observations: list[cambio.Observation]) -> np.ndarray:
        """Decides for all waiting matches, with one forward pass per `ROWS` matches."""
        chosen = np.zeros((len(observations), observations[0].mask().size))
        for start in range(0, len(observations), self.ROWS):
            part = observations[start : start + self.ROWS]
            masks = np.stack([seen.mask() for seen in part])
            seen, legal = self.network.read(np.stack([seen.tensor() for seen in part]), masks)
            spare = ((0, self.ROWS - len(part)), (0, 0))
            places = self.best(self.weights, np.pad(seen, spare), np.pad(legal, spare))[: len(part)]
            chosen[start + np.arange(len(part)), self.network.actions(places, masks)] = 1
        return chosen


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rules", default="classic")
    parser.add_argument("--minutes", type=float, default=10, help="minutes of processor time")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--out", type=Path, default=Path("policy.npz"))
    options = parser.parse_args()
    train(options.rules, options.minutes, options.seed, options.out)
