"""Exact exploitability of policies in small games."""

from __future__ import annotations

from typing import Any, Protocol

from ._cambio import Agent, Observation, Rules, SmallGame


class Policy(Protocol):
    """A policy: an object with a method `probabilities`, such as a network with a forward pass for a batch.

    It can be passed to `exploitability`, and as an agent to `evaluate`, `tournament` and `run`: the library draws the decisions with the
    random numbers of the match, so the rows do not depend on the batches or on the number of threads. A batch contains the observations
    of all waiting matches at a table. Each thread plays one match, so the largest batch is the number of `threads`, such as 256. Batches have
    different lengths, so pad them if your network is compiled for one shape, as by JAX.
    """

    def probabilities(self, observations: list[Observation], /) -> Any:
        """Returns the probability of each action at each observation: shape `(len(observations), action_count)`.

        Columns are action indices; illegal actions have the probability 0. The probabilities of one observation must not
        depend on the other observations.
        """


def exploitability(
    policy: Policy | Agent | str,
    rules: SmallGame | Rules | str,
    *,
    batch: int = 1024,
    streams: int | None = None,
    seed: int = 0,
) -> float:
    """The exact exploitability of a policy in a small game: the mean gain of a best response over both seats.

    `policy` is an object with a method `probabilities(observations)`, an `Agent` or its spec; see `SmallGame.probabilities`,
    which also explains `batch`, `streams` and `seed`. `rules` is a mini game, other rules that are small enough, or a `SmallGame`,
    which saves the compilation if several policies are measured.

        >>> round(cambio.exploitability("greedy", "mini-m1"), 6)
        0.438889
    """
    game = rules if isinstance(rules, SmallGame) else SmallGame(rules)
    return game.exploitability(*game.probabilities(policy, batch=batch, streams=streams, seed=seed))
