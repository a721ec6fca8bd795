"""Players that read and write text: language models and people."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, Literal, SupportsIndex, TypeAlias

from ._cambio import Action, ActionError, Observation, Rules
from ._checks import flag, one_of, whole

__all__ = ["TextPlayer", "parse_decision"]

Otherwise: TypeAlias = Literal["raise", "first"]
OTHERWISE: tuple[Otherwise, ...] = ("raise", "first")

#: The words before the number of a decision.
LABELS = ("option", "number", "choice", "choose", "decision", "answer")


def parse_decision(text: str, observation: Observation) -> Action:
    """Finds a legal decision in a text, such as the answer of a language model.

    The text is a legal decision, or its number in the list of `Observation.describe` (from 1), or contains a legal decision or a number after
    a word such as "option"; the last one counts. Case, punctuation and Markdown are ignored, and "discard" means `drop`. Raises `ActionError`
    if there is none.

        >>> cambio.parse_decision("I do not know the 9, so: **DRAW**.", cambio.Game(seed=1).observe())
        Action("draw")
    """
    legal = observation.legal_actions()
    if not legal:
        raise ActionError("the seat of this observation does not have to decide")
    # A negative number or a fraction is one word, so that a part of it is not a decision.
    plain = " ".join(re.findall(r"(?<![a-z0-9])-\d+|\d+\.\d+|[a-z0-9]+", text.lower().replace("discard", "drop")))
    if re.fullmatch(r"\d{1,4}", plain) and 1 <= int(plain) <= len(legal):
        return legal[int(plain) - 1]
    phrases = {}
    for action in legal:
        verb, *spots = str(action).split()
        phrases[(verb, *spots)] = phrases[(verb, *reversed(spots))] = action  # The order of two spots has no meaning.
    words = plain.split()
    for end in range(len(words), 0, -1):
        if end > 1 and words[end - 2] in LABELS and words[end - 1].isdecimal():
            if not 1 <= int(words[end - 1]) <= len(legal):
                raise ActionError(f"the number of the decision must be from 1 to {len(legal)}, found {words[end - 1]}")
            return legal[int(words[end - 1]) - 1]
        for length in (3, 2, 1):
            phrase = tuple(words[max(0, end - length) : end])
            if len(phrase) == length and phrase in phrases:
                return phrases[phrase]
    raise ActionError(f"the text must contain a legal decision, one of {', '.join(map(str, legal))}; found {text.strip()[-60:]!r}")


class TextPlayer:
    """A Python agent that asks a function of texts: a language model, or a person.

    `ask(prompt)` returns an answer, in which `parse_decision` finds the decision. The prompt contains only what the seat may know: the
    rules (with `rules=True`), the events of the round, the table, and the legal decisions. If the answer contains no legal
    decision, `ask` is called again with the reason, up to `attempts` times in all. Then `otherwise` decides: "raise" raises `ActionError`, which
    `evaluate` reports as an `AgentFault`; "first" takes the first legal decision. A decision with a single choice is taken without a question.

    The object is its own factory, so it can be passed to `evaluate` and `run`:

        >>> player = cambio.TextPlayer(lambda prompt: "1")
        >>> cambio.evaluate(player, "greedy", "mini-p", deals=5, threads=1).matches
        10

    `ask` is called from several threads if a run has several.
    """

    def __init__(
        self,
        ask: Callable[[str], str],
        *,
        rules: bool = True,
        attempts: SupportsIndex = 3,
        otherwise: Otherwise = "raise",
    ) -> None:
        if not callable(ask):
            raise TypeError(f"`ask` must be a function from text to text, found type {type(ask).__name__}")
        self._ask, self._rules, self._attempts = ask, flag("rules", rules), whole("attempts", attempts, 1)
        self._otherwise = one_of("otherwise", otherwise, OTHERWISE)

    @property
    def __name__(self) -> str:
        """The name of the function, which is the name of the agent in tables."""
        return getattr(self._ask, "__name__", "text").strip("<>")

    def __call__(self) -> TextPlayer:
        """Another player with the same function."""
        return TextPlayer(self._ask, rules=self._rules, attempts=self._attempts, otherwise=self._otherwise)

    def begin(self, rules: Rules, seats: int, seat: int, seed: int) -> None:
        """Begins a match. There is nothing to remember: each prompt is complete."""

    def prompt(self, observation: Observation) -> str:
        """The question about an observation."""
        head = f"You play the card game Cambio.\n{observation.describe_rules()}\n" if self._rules else ""
        return f"{head}{observation.describe()}Answer with one of the legal decisions.\n"

    def decide(self, observation: Observation) -> Action:
        """Asks for a decision."""
        legal = observation.legal_actions()
        if len(legal) == 1:
            return legal[0]
        prompt = self.prompt(observation)
        reason: ActionError | None = None
        for _ in range(self._attempts):
            answer: Any = self._ask(prompt if reason is None else f"{prompt}Your last answer was not valid: {reason}.\n")
            if not isinstance(answer, str):
                raise TypeError(f"`ask` must return a text, found type {type(answer).__name__}")
            try:
                return parse_decision(answer, observation)
            except ActionError as error:
                reason = error
        if self._otherwise == "first":
            return legal[0]
        assert reason is not None
        raise reason
