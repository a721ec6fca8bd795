"""A small, complete learner: Q(λ) in JAX that plays Cambio against itself on `cambio.VectorGame`.

    python notebooks/selfplay.py --minutes 20 --out policy.npz      # processor time: ten minutes on two cores

A network says what share of the win each legal decision promises. It plays the best one, now and then another, and learns from how
the rounds end. The notebook 08 reads what it keeps; `Learned` takes part in tournaments.
"""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np

import cambio

BLOCKS = (
    "phase", "step", "turn", "callers", "safe", "sizes", "held", "held_from", "top", "opener", "unseen",
    "occupied", "gap", "pointed", "seen_by", "face", "seen_for", "age", "hints",
)  # fmt: skip
SLOTS = 6  # More cards than that are rare, and then the network sees the first six.
PAIRS = 8  # Numbers by which a card tells which other it should change places with.


class Table:
    """What the network has to know of the rules: where things are in a tensor, points, ranks, and what each decision is."""

    def __init__(self, rules: cambio.Rules | str = "classic") -> None:
        self.layout = cambio.Layout(rules, 2)
        rules = self.layout.rules
        self.points = np.array([rules.points(cards[0]) for cards in self.layout.classes], np.float32)
        ranks = np.array([cards[0].rstrip("hdcs") for cards in self.layout.classes])
        self.same_rank = (ranks[:, None] == ranks).astype(np.float32)
        # The entries that the network reads, and where each block is among them.
        chosen, self.blocks, width = [], {}, 0
        for name in BLOCKS:
            block = self.layout[name]
            places = np.arange(block.offset, block.offset + np.prod(block.shape)).reshape(block.shape)
            places = places[:, :SLOTS] if len(block.shape) > 1 else places
            self.blocks[name] = (slice(width, width + places.size), places.shape)
            width += places.size
            chosen.append(places.ravel())
        self.chosen = np.concatenate(chosen)
        # A decision has a verb and up to two spots, numbered over both seats.
        actions = [cambio.Action.from_index(index, rules, 2, 0) for index in range(rules.action_count(2))]
        spots = [[(ord(at[0]) - ord("a")) * SLOTS + int(at[1:]) - 1 for at in action.spots if int(at[1:]) <= SLOTS] for action in actions]
        within = [len(known) == len(action.spots) for known, action in zip(spots, actions)]
        self.indices = np.flatnonzero(within)
        kinds = [(actions[index].verb, spots[index]) for index in self.indices]
        self.plain = [verb for verb, at in kinds if not at]
        self.verbs = sorted({verb for verb, at in kinds if len(at) == 1})
        # Where the value of each decision is found among those of `values`: plain ones, one card, two cards.
        cards = 2 * SLOTS
        self.places = np.array([
            self.plain.index(verb) if not at
            else len(self.plain) + at[0] * len(self.verbs) + self.verbs.index(verb) if len(at) == 1
            else len(self.plain) + cards * len(self.verbs) + at[0] * cards + at[1]
            for verb, at in kinds
        ])  # fmt: skip

    def begin(self, seed: int, card: int = 32, hidden: int = 96, head: int = 32) -> dict[str, np.ndarray]:
        """The weights before training."""
        dice = np.random.default_rng(seed)
        cards, scene = jax.eval_shape(self.features, jax.ShapeDtypeStruct((1, len(self.chosen)), np.uint8))
        sizes = {
            "card": (cards.shape[-1], card), "scene": (scene.shape[-1] + 2 * card, hidden), "deep": (hidden, hidden),
            "one": (card, head), "all": (hidden, head), "verbs": (head, len(self.verbs) + 1 + PAIRS), "plain": (hidden, len(self.plain)), "share": (hidden, 1),
        }  # fmt: skip
        gains = {"verbs": 0.1, "plain": 0.1, "share": 0.1}
        draw = lambda name, size: dice.standard_normal(size) * gains.get(name, 1.4) / np.sqrt(size[0])
        weights = {name: draw(name, size) for name, size in sizes.items()}
        weights |= {f"{name}+": np.zeros(size[1]) for name, size in sizes.items()}
        return {name: array.astype(np.float32) for name, array in weights.items()}

    def features(self, seen):
        """Of each card, and of the scene, what the network reads: the tensor's blocks and a few sums of points."""
        numbers = seen.astype(jnp.float32)
        part = {name: numbers[:, where].reshape(-1, *shape) for name, (where, shape) in self.blocks.items()}
        mean = (part["unseen"] @ self.points) / jnp.maximum(part["unseen"].sum(1), 1)
        known = part["face"].sum(3)
        worth = part["occupied"] * jnp.where(known > 0, part["face"] @ self.points, mean[:, None, None])
        held, top = part["held"] @ self.points, part["top"] @ self.points
        fits = part["face"] @ self.same_rank @ part["top"][:, None, :, None]
        own = jnp.broadcast_to(jnp.array([1.0, 0.0])[:, None], known.shape)
        gains = [(worth - one[:, None, None]) / 8 for one in (held, top, mean)]
        cards = [jnp.stack([part["occupied"], part["gap"], part["pointed"], known, own, worth / 8, fits[..., 0], *gains], 3)]
        cards += [part["face"], part["seen_by"], jnp.minimum(part["seen_for"], 20) / 10, part["hints"] > 0, part["hints"] / 10]
        cards += [jnp.minimum(part["age"], 20)[..., None] / 10]
        # Sums of points as ramps, so that a threshold is easily learned.
        sums, sure = worth.sum(2), (part["face"] @ self.points).sum(2)
        lead, sizes = sums[:, 1] - sums[:, 0], part["sizes"]
        scales = [(lead, -20, 20), (sums[:, 0], -5, 30), (sums[:, 1], -5, 30), (sure[:, 0], -5, 25), (sizes[:, 3], 0, 30)]
        scene = [jnp.clip((one[:, None] - np.arange(low, high, 2)) / 2, 0, 1) for one, low, high in scales]
        scene += [part[name] for name in ("phase", "step", "turn", "callers", "safe", "held", "held_from", "top", "opener")]
        scene += [part["unseen"] / 4, sizes[:, :2] / 20, sums / 10, known.sum(2) / 2, part["occupied"].sum(2) / 2]
        scene += [jnp.stack([held, top, mean], 1) / 8]
        return jnp.concatenate(cards, 3), jnp.concatenate(scene, 1)

    def forward(self, weights, seen, mask):
        """The logarithms of the probabilities of the decisions, and the logit of the share of the win that is expected."""
        layer = lambda name, rows: rows @ weights[name] + weights[f"{name}+"]
        cards, scene = self.features(seen)
        cards = jax.nn.relu(layer("card", cards)) * cards[..., :1]
        both = cards.sum(2).reshape(len(seen), -1)
        scene = jax.nn.relu(layer("scene", jnp.concatenate([scene, both], 1)))
        scene = jax.nn.relu(layer("deep", scene))
        # All cards share one set of weights: what is learned of one slot holds for the others.
        heads = jax.nn.relu(layer("one", cards) + layer("all", scene)[:, None, None, :])
        heads = layer("verbs", heads).reshape(len(seen), 2 * SLOTS, -1)
        verbs, alone, pairs = jnp.split(heads, [len(self.verbs), len(self.verbs) + 1], axis=2)
        pairs = jnp.einsum("bik,bjk->bij", pairs, pairs) + alone + alone.swapaxes(1, 2)
        every = [layer("plain", scene), verbs.reshape(len(seen), -1), pairs.reshape(len(seen), -1)]
        logits = jnp.where(mask, jnp.concatenate(every, 1)[:, self.places], -1e9)
        return jax.nn.log_softmax(logits), layer("share", scene)[:, 0]


def learner(table: Table):
    """The compiled functions: a drawn decision, the best one, and a step of training."""

    @jax.jit
    def draw(weights, seen, mask, key):
        logs, share = table.forward(weights, seen, mask)
        places = jax.random.categorical(key, logs)
        return places, jnp.take_along_axis(logs, places[:, None], 1)[:, 0], jax.nn.sigmoid(share), logs.max(1)

    @jax.jit
    def best(weights, seen, mask):
        return table.forward(weights, seen, mask)[0].argmax(1)

    def loss(weights, rows, entropy):
        """PPO's clipped objective, the error of the expected share, and a bonus for variety."""
        seen, mask, places, old, gains, shares = rows
        logs, share = table.forward(weights, seen, mask)
        ratio = jnp.exp(jnp.take_along_axis(logs, places[:, None], 1)[:, 0] - old)
        policy = -jnp.minimum(ratio * gains, jnp.clip(ratio, 0.8, 1.2) * gains).mean()
        variety = -(jnp.exp(logs) * jnp.where(mask, logs, 0)).sum(1).mean()
        return policy + (jax.nn.softplus(share) - shares * share).mean() - entropy * variety

    @jax.jit
    def improve(state, count, rate, entropy, rows):
        """One step of Adam, the gradient's length held below 0.5."""
        weights, first, second, mean = state
        slopes = jax.grad(loss)(weights, rows, entropy)
        length = jnp.sqrt(sum((slope**2).sum() for slope in slopes.values()))
        slopes = {name: slope * jnp.minimum(1.0, 0.5 / length) for name, slope in slopes.items()}
        mix = lambda old, new, keep: {name: keep * old[name] + (1 - keep) * new[name] for name in old}
        first = mix(first, slopes, 0.9)
        second = mix(second, {name: slope**2 for name, slope in slopes.items()}, 0.999)
        step = rate * jnp.sqrt(1 - 0.999**count) / (1 - 0.9**count)
        weights = {name: weights[name] - step * first[name] / (jnp.sqrt(second[name]) + 1e-8) for name in first}
        return weights, first, second, mix(mean, weights, jnp.minimum(0.995, count / (count + 10)))

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


def against(table: Table, best, weights, opponent: str, deals: int, seed: int) -> np.ndarray:
    """The mean share of the win on both seats of each deal, against an agent of the library."""
    found = np.full((2, deals), np.nan)
    for seat in (0, 1):
        opponents = [None, opponent] if seat == 0 else [opponent, None]
        games = cambio.VectorGame(min(512, deals), table.layout.rules, opponents=opponents, seed=seed)
        games.reset()
        while np.isnan(found[seat]).any():
            mask = games.masks[:, table.indices]
            actions = table.indices[np.asarray(best(weights, games.observations[:, table.chosen], mask))]
            actions, dealt = np.where(mask.any(1), actions, games.masks.argmax(1)), games.deals.copy()
            games.step(actions)
            for place in np.flatnonzero(games.done & (dealt < deals)):
                found[seat, dealt[place]] = (1 + games.rewards[place, seat]) / 2
    return found.mean(0)


def train(
    rules: str, minutes: float, seed: int, out: Path, batch: int = 512, steps: int = 64,
    smoothing: float = 0.95, rate: float = 1e-3, size: int = 1024, epochs: int = 1, variety: float = 0.02, keep: float = 0.3, tests: int = 1000, times: int = 10,
) -> None:
    """Trains for so many minutes of processor time and keeps the weights and the curve."""
    table = Table(rules)
    draw, best, improve = learner(table)
    games = cambio.VectorGame(batch, rules, 2, seed=seed)
    games.reset()
    weights = table.begin(seed)
    state = (weights, {n: 0 * a for n, a in weights.items()}, {n: 0 * a for n, a in weights.items()}, weights)
    key, dice, count, played, matches, curve = jax.random.key(seed), np.random.default_rng(seed), 0, 0, 0, []
    began, tested, spent = time.process_time(), 0.0, -1e9
    clock = {"choose": 0.0, "step": 0.0, "improve": 0.0}
    info = ""
    while True:
        now = time.process_time() - began - tested
        if now - spent >= minutes * 60 / times or now >= minutes * 60:
            pause, spent = time.process_time(), now
            shares = against(table, best, state[3], "greedy", tests, seed + 1)
            curve.append((now / 60, matches, float(shares.mean()), float(1.96 * shares.std() / np.sqrt(len(shares)))))
            np.savez(out, **state[3])
            out.with_suffix(".json").write_text(json.dumps({"rules": rules, "seed": seed, "curve": curve}) + "\n")
            print(f"{now / 60:6.2f} minutes, {matches:>9} matches, {played} decisions: {curve[-1][2]:.3f} ± {curve[-1][3]:.3f}", {k: round(v, 1) for k, v in clock.items()}, info, flush=True)
            tested += time.process_time() - pause
        if now >= minutes * 60:
            return
        share = min(1.0, now / (minutes * 60))
        seen = np.empty((steps, batch, len(table.chosen)), np.uint8)
        masks = np.empty((steps, batch, len(table.indices)), bool)
        places = np.empty((steps, batch), np.int32)
        old, values, sure = (np.empty((steps, batch), np.float32) for _ in range(3))
        shares, done = np.empty((steps, batch, 2), np.float32), np.empty((steps, batch), bool)
        seats = np.empty((steps + 1, batch), np.int64)
        for step in range(steps):
            t0 = time.process_time()
            seen[step], masks[step], seats[step] = games.observations[:, table.chosen], games.masks[:, table.indices], games.seat
            key, dart = jax.random.split(key)
            places[step], old[step], values[step], sure[step] = draw(state[0], seen[step], masks[step], dart)
            actions = np.where(masks[step].any(1), table.indices[places[step]], games.masks.argmax(1))
            t1 = time.process_time()
            games.step(actions)
            shares[step], done[step] = (1 + games.rewards) / 2, games.done
            clock["choose"] += t1 - t0
            clock["step"] += time.process_time() - t1
        seats[steps] = games.seat
        key, dart = jax.random.split(key)
        last = np.asarray(draw(state[0], games.observations[:, table.chosen], games.masks[:, table.indices], dart)[2])
        gains = advantages(values, shares, done, seats, last, smoothing)
        t0 = time.process_time()
        flat = [array.reshape(steps * batch, *array.shape[2:]) for array in (seen, masks, places, old, gains, np.clip(gains + values, 0, 1))]
        # A decision without an alternative teaches the policy nothing, and one that is nearly certain teaches little.
        free = np.flatnonzero((flat[1].sum(1) > 1) & ((sure.ravel() < -0.02) | (dice.random(steps * batch) < keep)))
        flat[4] = (flat[4] - flat[4][free].mean()) / (flat[4][free].std() + 1e-6)
        for _ in range(epochs):
            order = dice.permutation(free)
            for part in order[: len(order) // size * size].reshape(-1, size):
                count += 1
                state = improve(state, count, rate * 0.1**share, variety * (1 - share), [array[part] for array in flat])
        jax.block_until_ready(state)
        clock["improve"] += time.process_time() - t0
        played, matches = played + steps * batch, matches + int(done.sum())
        info = f"free {len(free) / steps / batch:.2f} draw {np.exp(old.ravel()[free]).mean():.2f} length {steps * batch / done.sum():.0f} value error {((gains + values - values.mean())**2).mean():.3f} {(gains**2).mean():.3f}"


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rules", default="classic")
    parser.add_argument("--minutes", type=float, default=20, help="of processor time")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--out", type=Path, default=Path("policy.npz"))
    for name, default in (("smoothing", 0.95), ("rate", 1e-3), ("size", 1024), ("batch", 512), ("tests", 1000), ("epochs", 1), ("variety", 0.02), ("keep", 0.3)):
        parser.add_argument(f"--{name}", type=type(default), default=default)
    options = parser.parse_args()
    train(**vars(options))
