"""The notebooks that import `cambio_game` run without errors. The Rust tests check the stored outputs of all notebooks."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from conftest import FULL

for package in ("nbformat", "nbclient", "ipykernel", "matplotlib", "pettingzoo"):
    pytest.importorskip(package)

HOME = Path(__file__).parents[2] / "notebooks"
NEEDS = {"08_learning_in_python": "jax", "10_many_machines": "ray", "11_exact_exploitability": "jax"}


@pytest.mark.parametrize("name", ["07_environment", "09_tournament_from_python", *NEEDS])
def test_a_notebook_runs_from_scratch(name: str) -> None:
    if name in NEEDS:
        pytest.importorskip(NEEDS[name])
    if NEEDS.get(name) == "ray" and not FULL:
        pytest.skip("CAMBIO_FULL=1 runs it where Ray is installed")
    # Without trained weights, notebooks 08 and 11 train for a few seconds.
    words = [sys.executable, HOME / "execute.py", "--check", HOME / f"{name}.ipynb"]
    done = subprocess.run(words, env=os.environ | {"CAMBIO_RUNS": "/nowhere"}, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.endswith(", 2 pictures\n"), done.stdout
