"""A language model at the table: `cambio.TextPlayer` turns observations into texts, and answers into decisions.

    python examples/python/text_player.py               # a stand-in for a model plays against `greedy`

The stand-in needs no model: it answers in sentences, as a language model does, and sometimes with an illegal decision. To use a model, replace
`stand_in` by a function that sends the prompt to the model and returns its answer:

    def ask(prompt: str) -> str:
        reply = client.chat.completions.create(model=MODEL, messages=[{"role": "user", "content": prompt}])
        return reply.choices[0].message.content
"""

from __future__ import annotations

import argparse
import re

import cambio_game as cambio


def stand_in(prompt: str) -> str:
    """Reads the prompt like a model: keeps a low card in place of an unknown one, and calls late."""
    question = re.search(r"Your decision: (.*)", prompt)
    legal = re.findall(r"^  ([a-z]+(?: [a-h]\d+)*) –", prompt, re.MULTILINE)
    if "was not valid" in prompt:
        return f"I am sorry. I choose `{legal[0]}`."
    if len(prompt) % 50 == 0:
        return "I swap the stock with the pile."  # A decision that does not exist.
    held = re.search(r"you hold \S+ \((-?\d+) point", question[1] if question else "")
    if held:
        own = re.search(r"^\*(\w) .*", prompt, re.MULTILINE)
        unknown = re.findall(rf"({own[1]}\d+):\?", own[0]) if own else []
        if int(held[1]) <= 5 and unknown:
            return f"The card is low, and I do not know {unknown[0]}. So I keep it: **keep {unknown[0]}**"
        return "This card is too high. I discard."
    turn = re.search(r"turn (\d+):", prompt)
    if "call" in legal and turn and int(turn[1]) > 8:
        return "My cards are low enough. Call."
    for wish in ("draw", "end", "pass", "skip"):
        if wish in legal:
            return f"I think about it … {wish}."
    return f"{len(legal)}"  # The number of the last decision in the list.


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--deals", type=int, default=20)
    deals = parser.parse_args().deals
    run = cambio.evaluate(cambio.TextPlayer(stand_in), "greedy", deals=deals, names=["text", "greedy-player"], threads=1)
    for row in run.summary:
        print(f"{row['agent']:14} {row['rank_points']:.3f} rank points in {row['matches']} matches")


if __name__ == "__main__":
    main()
