"""Exported networks: the forward pass of the book has the outputs of the library."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

import cambio_game as cambio
from conftest import amount, cambio_prints, needs_the_command, positions

PAGE = Path(__file__).parents[2] / "book/src/learning.md"


@needs_the_command
@pytest.mark.parametrize(("name", "rules", "seats"), [("classic", "classic", 2), ("faessler-many", "faessler", 4)])
def test_the_forward_pass_of_the_book_has_the_outputs_of_the_library(
    name: str, rules: str, seats: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    load_file = pytest.importorskip("safetensors.numpy").load_file
    monkeypatch.chdir(tmp_path)
    for exported in {"classic", name}:
        cambio_prints("learn", "--export", exported, "--out", f"{exported}.safetensors")
    code = re.search(r"```python\n(import cambio_game as cambio\nimport numpy.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    assert code
    page: dict[str, object] = {}
    exec(code[1], page)
    output = page["output"]
    assert callable(output)

    network = {name: tensor.astype(np.float64) for name, tensor in load_file(f"{name}.safetensors").items()}
    compared = 0
    for seed in range(amount(5, 50)):
        for game in positions(rules, seats, seed, most=100):
            candidates = game.observe().network_inputs()
            assert {action for action, _, _ in candidates} <= set(game.legal_actions())
            for _, inputs, logit in candidates:
                if len(candidates) > 1:
                    assert inputs.dtype == np.int64
                    assert output(network, inputs) == logit
                    compared += 1
                else:
                    assert (len(inputs), logit) == (0, 0)
    assert compared > 100


def test_a_network_must_fit_the_cards(tmp_path: Path) -> None:
    classic = Path(__file__).parents[2] / "cambio-agents/nets/classic.net"
    with pytest.raises(cambio.AgentError, match="`classic`.*`mini-m1`"):
        cambio.Game("mini-m1").observe().network_inputs(str(classic))
    assert cambio.Game("mini-m1").observe().network_inputs()
    with pytest.raises(cambio.AgentError, match="cannot be read"):
        cambio.Game("classic").observe().network_inputs(str(tmp_path / "none.net"))
    game = cambio.Game("classic")
    with pytest.raises(cambio.IllegalAction, match="does not have to decide"):
        game.observe(1 - (game.seat or 0)).network_inputs()
