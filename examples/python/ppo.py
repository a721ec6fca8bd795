"""PPO in self-play on a small game, with its exact exploitability: about 130 lines of JAX.

    pip install './cambio-py[learn]'
    python examples/python/ppo.py                     # mini-p, about two minutes on one core
    python examples/python/ppo.py --game mini-m1 --iterations 40

One network plays both seats. An iteration plays `--matches` matches to their end and then takes a few epochs of clipped policy gradients on all
their decisions; the return of a decision is the result of the match for its seat. The exploitability is exact: the network is evaluated at every
information set of the game, and `SmallGame` computes the best responses. It is 0 for an equilibrium. Self-play with policy gradients does not
converge to an equilibrium in general, so watch the curve, not only its end.
"""

from __future__ import annotations

import argparse
import functools
import time
from collections.abc import Iterator

import jax
import jax.numpy as jnp
import numpy as np

import cambio_game as cambio

WIDTH, EPOCHS, MINIBATCH, CLIP = 128, 3, 2048, 0.2


def new_weights(key: jax.Array, sizes: list[int]) -> list[tuple[jax.Array, jax.Array]]:
    keys = jax.random.split(key, len(sizes))
    return [(jax.random.normal(k, (a, b)) / a**0.5, jnp.zeros(b)) for k, a, b in zip(keys, sizes, sizes[1:], strict=False)]


def forward(weights, tensors, masks):
    """The logarithms of the probabilities of all actions, and the expected result."""
    hidden = tensors.astype(jnp.float32)
    for matrix, bias in weights[:-1]:
        hidden = jnp.tanh(hidden @ matrix + bias)
    out = hidden @ weights[-1][0] + weights[-1][1]
    return jax.nn.log_softmax(jnp.where(masks, out[:, :-1], -1e9)), out[:, -1]


def loss(weights, batch, entropy_bonus):
    log_probabilities, values = forward(weights, batch["tensors"], batch["masks"])
    chosen = jnp.take_along_axis(log_probabilities, batch["actions"][:, None], 1)[:, 0]
    ratio, gain = jnp.exp(chosen - batch["before"]), batch["gains"]
    surrogate = jnp.minimum(ratio * gain, jnp.clip(ratio, 1 - CLIP, 1 + CLIP) * gain)
    entropy = -(jnp.exp(log_probabilities) * jnp.where(batch["masks"], log_probabilities, 0)).sum(1)
    return (0.5 * (values - batch["returns"]) ** 2 - surrogate - entropy_bonus * entropy).mean()


@functools.partial(jax.jit, donate_argnums=(0, 1))
def train(weights, moments, batch, entropy_bonus, rate, step):
    """One step of Adam."""
    slopes = jax.grad(loss)(weights, batch, entropy_bonus)
    first = jax.tree.map(lambda m, g: 0.9 * m + 0.1 * g, moments[0], slopes)
    second = jax.tree.map(lambda m, g: 0.999 * m + 0.001 * g * g, moments[1], slopes)
    scale = rate * jnp.sqrt(1 - 0.999**step) / (1 - 0.9**step)
    return jax.tree.map(lambda w, m, v: w - scale * m / (jnp.sqrt(v) + 1e-8), weights, first, second), (first, second)


@jax.jit
def sample(weights, tensors, masks, key):
    log_probabilities, values = forward(weights, tensors, masks)
    actions = jax.random.categorical(key, log_probabilities)
    return actions, jnp.take_along_axis(log_probabilities, actions[:, None], 1)[:, 0], values


def play(games: cambio.VectorGame, weights, key) -> dict[str, np.ndarray]:
    """Plays every match to its end. Returns all decisions of both seats."""
    games.reset(where=np.ones(games.batch, bool)) if games.done.all() else games.reset()
    steps, results = [], np.zeros((games.batch, games.seats), np.float32)
    while not games.done.all():
        key, now = jax.random.split(key)
        actions, before, values = sample(weights, games.observations, games.masks, now)
        steps.append(
            (games.observations.copy(), games.masks.copy(), games.seat.copy(), *map(np.asarray, (actions, before, values)))
        )
        games.step(actions)
        results += games.rewards
    tensors, masks, seats, actions, before, values = map(np.concatenate, zip(*steps, strict=True))
    returns = results[np.tile(np.arange(games.batch), len(steps)), seats]
    decides = masks.sum(1) > 1  # Neither forced decisions nor matches that are over.
    all_steps = {"tensors": tensors, "masks": masks, "actions": actions, "before": before, "returns": returns}
    found = {name: array[decides] for name, array in all_steps.items()}
    gains = found["returns"] - values[decides]
    return found | {"gains": (gains - gains.mean()) / (gains.std() + 1e-6)}


class Exploitability:
    """The exact exploitability of the network. The tensors of all information sets are computed once."""

    def __init__(self, name: str) -> None:
        self.game = cambio.SmallGame(name)
        self.sets = [(self.game.tensors(seat), self.game.masks(seat)) for seat in (0, 1)]

    def __call__(self, weights, chunk: int = 16384) -> float:
        evaluate = jax.jit(lambda weights, tensors, masks: jnp.exp(forward(weights, tensors, masks)[0]) * masks)
        strategies = [
            np.concatenate([evaluate(weights, t[i : i + chunk], m[i : i + chunk]) for i in range(0, len(t), chunk)])
            for t, m in self.sets
        ]
        return self.game.exploitability(*(s / s.sum(1, keepdims=True, dtype=np.float64) for s in strategies))


def curve(
    game: str, iterations: int, matches: int = 1024, seed: int = 1, points: int = 10
) -> Iterator[tuple[int, int, float, float]]:
    """Trains a network. Yields iterations, matches, exploitability and processor seconds: before the first iteration, and `points` times."""
    games = cambio.VectorGame(matches, game, seed=seed, autoreset=False)
    exploitability = Exploitability(game)
    key = jax.random.key(seed)
    weights = new_weights(key, [games.layout.size, WIDTH, WIDTH, games.action_count + 1])
    moments = (jax.tree.map(jnp.zeros_like, weights), jax.tree.map(jnp.zeros_like, weights))
    dice, begun, step = np.random.default_rng(seed), time.process_time(), 0
    for iteration in range(iterations + 1):
        if iteration % max(1, iterations // points) == 0:
            yield iteration, iteration * matches, exploitability(weights), time.process_time() - begun
        share = iteration / iterations
        steps = play(games, weights, jax.random.fold_in(key, iteration))
        for _ in range(EPOCHS):
            # Minibatches of one size, so that JAX compiles once.
            order = dice.permutation(len(steps["actions"]))
            for start in range(0, max(1, len(order) - MINIBATCH + 1), MINIBATCH):
                rows = np.resize(order[start : start + MINIBATCH], MINIBATCH)
                step += 1
                batch = {name: array[rows] for name, array in steps.items()}
                weights, moments = train(weights, moments, batch, 0.05 * (1 - share) + 0.005, 1e-3 * (1 - share) + 1e-5, step)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--game", default="mini-p", choices=cambio.MINI_GAMES)
    parser.add_argument("--iterations", type=int, default=300)
    parser.add_argument("--matches", type=int, default=1024)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    print("iteration  matches  exploitability  seconds")
    for iteration, matches, exploitability, seconds in curve(given.game, given.iterations, given.matches, given.seed):
        print(f"{iteration:9} {matches:8} {exploitability:15.4f} {seconds:8.0f}", flush=True)


if __name__ == "__main__":
    main()
