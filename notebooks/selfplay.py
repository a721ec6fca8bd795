"""A small, complete learner: PPO in JAX that plays Cambio against itself on `cambio.VectorGame`.

    python notebooks/selfplay.py --minutes 20 --out policy.npz      # processor time: ten minutes on two cores

It trains a network of two layers on the tensors and masks of the batch, and keeps a learning curve against `greedy`. The notebook
08 reads what it keeps; `Learned` takes part in tournaments.
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
    "phase", "step", "asked", "turn", "callers", "sizes", "held", "held_from", "top", "opener", "pile", "unseen", "occupied",
    "pointed", "seen_by", "face", "hints", "last_card",
)  # fmt: skip
SLOTS = 6  # More cards than that are rare, and then the network sees the first six.


def inputs(layout: cambio.Layout) -> np.ndarray:
    """The entries of a tensor that the network reads: some blocks, and of those with slots the first of each seat."""
    chosen = []
    for block in layout.blocks:
        if block.name in BLOCKS:
            places = np.arange(block.offset, block.offset + np.prod(block.shape)).reshape(block.shape)
            if len(block.shape) > 1 and block.name != "last_card":
                places = places[:, :SLOTS]
            chosen.append(places.ravel())
    return np.concatenate(chosen)


def begin(seed: int, width: int, hidden: int, actions: int) -> dict[str, np.ndarray]:
    """The weights before training."""
    dice = np.random.default_rng(seed)

    def layer(rows: int, columns: int, gain: float) -> np.ndarray:
        return (dice.standard_normal((rows, columns)) * gain / np.sqrt(rows)).astype(np.float32)

    return {
        "w1": layer(width, hidden, 1.4), "b1": np.zeros(hidden, np.float32),
        "w2": layer(hidden, hidden, 1.4), "b2": np.zeros(hidden, np.float32),
        "policy": layer(hidden, actions, 0.01), "value": layer(hidden, 1, 0.1),
    }  # fmt: skip


def forward(weights, seen, mask):
    """The logarithms of the probabilities of the decisions, and the expected reward."""
    numbers = seen.astype(jnp.float32)
    numbers = jnp.where(numbers > 1, 1 + jnp.log(jnp.maximum(numbers, 1)), numbers)
    hidden = jax.nn.relu(numbers @ weights["w1"] + weights["b1"])
    hidden = jax.nn.relu(hidden @ weights["w2"] + weights["b2"])
    logits = jnp.where(mask, hidden @ weights["policy"], -1e9)
    return jax.nn.log_softmax(logits), (hidden @ weights["value"])[:, 0]


@jax.jit
def choose(weights, seen, mask, key):
    """A decision of each row, drawn from the policy, with its logarithm and the expected reward."""
    logs, values = forward(weights, seen, mask)
    actions = jax.random.categorical(key, logs)
    return actions, jnp.take_along_axis(logs, actions[:, None], 1)[:, 0], values


def loss(weights, rows, entropy):
    """PPO's clipped objective, the error of the values, and a bonus for variety."""
    seen, mask, actions, old, gains, returns = rows
    logs, values = forward(weights, seen, mask)
    new = jnp.take_along_axis(logs, actions[:, None], 1)[:, 0]
    ratio = jnp.exp(new - old)
    policy = -jnp.minimum(ratio * gains, jnp.clip(ratio, 0.8, 1.2) * gains).mean()
    variety = -(jnp.exp(logs) * jnp.where(mask, logs, 0)).sum(1).mean()
    return policy + 0.5 * ((values - returns) ** 2).mean() - entropy * variety


@jax.jit
def improve(weights, moments, count, rows, rate, entropy):
    """One step of Adam, the gradient's length held below 0.5."""
    slopes = jax.grad(loss)(weights, rows, entropy)
    length = jnp.sqrt(sum((slope**2).sum() for slope in slopes.values()))
    slopes = {name: slope * jnp.minimum(1.0, 0.5 / length) for name, slope in slopes.items()}
    first = {name: 0.9 * moments[0][name] + 0.1 * slopes[name] for name in weights}
    second = {name: 0.999 * moments[1][name] + 0.001 * slopes[name] ** 2 for name in weights}
    step = rate * jnp.sqrt(1 - 0.999**count) / (1 - 0.9**count)
    return {name: weights[name] - step * first[name] / (jnp.sqrt(second[name]) + 1e-8) for name in weights}, (first, second)


def advantages(values, rewards, done, seats, last, smoothing=0.95):
    """How much better each decision turned out than expected (GAE), for each seat along its own decisions."""
    steps, batch = values.shape
    every, gains = np.arange(batch), np.zeros_like(values)
    # The value for the seat that is asked next; with two seats the other's is its negative.
    ahead = np.stack([-last, -last], 1)
    ahead[every, seats[-1]] = last
    later, got = np.zeros((batch, 2), np.float32), np.zeros((batch, 2), np.float32)
    for step in reversed(range(steps)):
        over = done[step][:, None]
        got = np.where(over, rewards[step], got + rewards[step])
        ahead, later = np.where(over, 0, ahead), np.where(over, 0, later)
        seat = seats[step]
        error = got[every, seat] + ahead[every, seat] - values[step]
        gains[step] = error + smoothing * later[every, seat]
        ahead[every, seat], later[every, seat], got[every, seat] = values[step], gains[step], 0
    return gains


def against(weights, opponent: str, rules: str, matches: int, seed: int) -> np.ndarray:
    """The rewards of matches against an agent of the library, a seat each in turn."""
    games = cambio.VectorGame(256, rules, opponents=[None, opponent], rotate=True, seed=seed)
    games.reset()
    chosen, rewards = inputs(games.layout), []
    first = games.deals.copy()
    logs_of = jax.jit(lambda weights, seen, mask: forward(weights, seen, mask)[0].argmax(1))
    while True:
        seats, deals = games.seat.copy(), games.deals
        games.step(np.asarray(logs_of(weights, games.observations[:, chosen], games.masks), np.int64))
        for place in np.flatnonzero(games.done):
            # As many matches of every place, so that short ones do not count more often.
            if deals[place] - first[place] < matches:
                rewards.append(games.rewards[place, seats[place]])
        if (games.deals - first).min() >= matches:
            return np.array(rewards)


def train(rules: str, minutes: float, seed: int, out: Path, batch: int = 512, steps: int = 64, hidden: int = 128) -> None:
    """Trains for so many minutes of processor time and keeps the weights and the curve."""
    games = cambio.VectorGame(batch, rules, 2, seed=seed)
    games.reset()
    chosen = inputs(games.layout)
    weights = begin(seed, len(chosen), hidden, games.action_count)
    moments = ({name: 0 * array for name, array in weights.items()}, {name: 0 * array for name, array in weights.items()})
    key, dice, count, played, curve = jax.random.key(seed), np.random.default_rng(seed), 0, 0, []
    began, tested, spent = time.process_time(), 0.0, -1e9
    while True:
        now = time.process_time() - began - tested
        if now - spent >= minutes * 60 / 12 or now >= minutes * 60:
            pause, spent = time.process_time(), now
            rewards = against(weights, "greedy", rules, 256 * 8, seed + 1)
            curve.append((now / 60, played, float(rewards.mean()), float(1.96 * rewards.std() / np.sqrt(len(rewards)))))
            np.savez(out, **weights)
            out.with_suffix(".json").write_text(json.dumps({"rules": rules, "seed": seed, "curve": curve}) + "\n")
            print(f"{now / 60:6.2f} minutes, {played:>9} decisions: {curve[-1][2]:+.3f} ± {curve[-1][3]:.3f}", flush=True)
            tested += time.process_time() - pause
        if now >= minutes * 60:
            return
        share = min(1.0, now / (minutes * 60))
        seen = np.empty((steps, batch, len(chosen)), np.uint8)
        masks = np.empty((steps, batch, games.action_count), bool)
        actions, old = np.empty((steps, batch), np.int32), np.empty((steps, batch), np.float32)
        values, rewards = np.empty_like(old), np.empty((steps, batch, 2), np.float32)
        done, seats = np.empty((steps, batch), bool), np.empty((steps + 1, batch), np.int64)
        for step in range(steps):
            seen[step], masks[step], seats[step] = games.observations[:, chosen], games.masks, games.seat
            key, draw = jax.random.split(key)
            actions[step], old[step], values[step] = choose(weights, seen[step], masks[step], draw)
            games.step(actions[step])
            rewards[step], done[step] = games.rewards, games.done
        seats[steps] = games.seat
        last = np.asarray(forward(weights, games.observations[:, chosen], games.masks)[1])
        gains = advantages(values, rewards, done, seats, last)
        rows = [array.reshape(steps * batch, *array.shape[2:]) for array in (seen, masks, actions, old, gains, gains + values)]
        # A decision without an alternative teaches the policy nothing.
        free = np.flatnonzero(rows[1].sum(1) > 1)
        spread = rows[4][free].std() + 1e-6
        rows[4] = (rows[4] - rows[4][free].mean()) / spread
        for _ in range(2):
            order, size = dice.permutation(free), min(2048, len(free))
            for part in order[: len(order) // size * size].reshape(-1, size):
                count += 1
                rate, entropy = 1e-3 * (1 - 0.8 * share), 0.02 * (1 - 0.75 * share)
                weights, moments = improve(weights, moments, count, [array[part] for array in rows], rate, entropy)
        played += steps * batch


class Learned:
    """The trained network as an agent: in a tournament it takes its best decision."""

    def __init__(self, weights: str | Path = "policy.npz") -> None:
        self.weights = dict(np.load(weights))
        self.chosen: dict[tuple[cambio.Rules, int], np.ndarray] = {}

    def decide_batch(self, observations: list[cambio.Observation]) -> list[int]:
        """One forward pass for the decisions of all matches that wait."""
        masks = np.stack([seen.mask() for seen in observations])
        seen = np.stack([seen.tensor() for seen in observations])
        return [int(index) for index in self.best(seen, masks)]

    def decide(self, observation: cambio.Observation) -> int:
        return self.decide_batch([observation])[0]

    def best(self, seen: np.ndarray, masks: np.ndarray) -> np.ndarray:
        """The index of the best decision of each row."""
        numbers = seen[:, inputs(cambio.Layout("classic", 2))].astype(np.float32)
        numbers = np.where(numbers > 1, 1 + np.log(np.maximum(numbers, 1)), numbers)
        hidden = np.maximum(numbers @ self.weights["w1"] + self.weights["b1"], 0)
        hidden = np.maximum(hidden @ self.weights["w2"] + self.weights["b2"], 0)
        return np.where(masks, hidden @ self.weights["policy"], -np.inf).argmax(1)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rules", default="classic")
    parser.add_argument("--minutes", type=float, default=20, help="of processor time")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--out", type=Path, default=Path("policy.npz"))
    options = parser.parse_args()
    train(options.rules, options.minutes, options.seed, options.out)
