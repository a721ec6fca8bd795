"""Strategies of small games as policies."""

from __future__ import annotations

from os import PathLike

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ._cambio import CambioError, Observation, Rules, SmallGame, _strategies

__all__ = ["StrategyPolicy"]


class StrategyPolicy:
    """The strategy in a file of `SmallGame.save` or `cambio solve --save`, as a policy.

    `rules` are the rules of the file; observations must have the same. It can be passed to `exploitability`, `evaluate` and `tournament`. Seat a
    of the file is the seat with the first turn of the round.

        >>> game = cambio.SmallGame("mini-m1")
        >>> game.save("m1.txt", *game.solve())
        >>> cambio.evaluate(cambio.StrategyPolicy("m1.txt", "mini-m1"), "greedy", "mini-m1")

    `from_arrays` makes one without a file. Raises `CambioError` if the file is not a strategy file, is damaged, or is for other rules.
    """

    def __init__(self, path: str | PathLike[str], rules: Rules | str) -> None:
        self.rules = Rules(rules)
        self.action_count = self.rules.action_count(2)
        self._rows: dict[tuple[int, str], dict[int, float]] = _strategies(path, self.rules)

    @classmethod
    def from_arrays(cls, game: SmallGame, probabilities_a: ArrayLike, probabilities_b: ArrayLike) -> StrategyPolicy:
        """The policy of two strategies, such as those of `SmallGame.solve` or of a network at `SmallGame.tensors`.

            >>> game = cambio.SmallGame("mini-m1")
            >>> cambio.evaluate(cambio.StrategyPolicy.from_arrays(game, *game.solve()), "greedy", "mini-m1")

        Raises `ArrayError` if the arrays are not strategies of the game.
        """
        game.value(probabilities_a, probabilities_b)  # Checks the arrays.
        policy = cls.__new__(cls)
        policy.rules, policy.action_count = game.rules, game.action_count
        policy._rows = {}
        for seat, array in enumerate((probabilities_a, probabilities_b)):
            for key, row in zip(game.keys(seat), game.mixture(seat, [array]), strict=True):
                policy._rows[seat, key] = {int(index): float(row[index]) for index in np.flatnonzero(row)}
        return policy

    def action_probabilities(self, observation: Observation) -> dict[int, float]:
        """The probability of each legal action, by index. Raises `CambioError` if the file does not contain the information set."""
        legal = observation.legal_actions()
        if len(legal) == 1:  # The file has no information sets for forced decisions.
            return {legal[0].index(self.rules, 2, observation.seat): 1.0}
        key, starter = observation.strategy_key, observation.sightings[0].seat
        assert starter is not None
        seat = (observation.seat - starter) % 2
        row = self._rows.get((seat, key)) if key is not None else None
        if row is None:
            raise CambioError(f"the strategy file must contain the information set {key} of seat {'ab'[seat]}, found none")
        return row

    def probabilities(self, observations: list[Observation]) -> NDArray[np.float64]:
        """The probability of each action at each observation: shape `(len(observations), action_count)`. See `Policy`."""
        found = np.zeros((len(observations), self.action_count))
        for row, observation in zip(found, observations, strict=True):
            for index, share in self.action_probabilities(observation).items():
                row[index] = share
        return found
