"""The notebooks that import `cambio` run from top to bottom. What is kept in them is checked with the others."""

from __future__ import annotations

from pathlib import Path

import pytest

nbformat = pytest.importorskip("nbformat")
nbclient = pytest.importorskip("nbclient")
pytest.importorskip("ipykernel")
pytest.importorskip("matplotlib")
pytest.importorskip("pettingzoo")

HOME = Path(__file__).parents[2] / "notebooks"


@pytest.mark.parametrize("name", ["07_environment.ipynb"])
def test_a_notebook_runs_from_scratch(name: str) -> None:
    notebook = nbformat.read(HOME / name, as_version=4)
    client = nbclient.NotebookClient(notebook, timeout=600, kernel_name="python3", resources={"metadata": {"path": str(HOME)}})
    client.execute()
    outputs = [output for cell in notebook.cells for output in cell.get("outputs", [])]
    assert sum("image/png" in output.get("data", {}) for output in outputs) >= 2
