"""The notebooks that import `cambio_game` run without errors. The Rust tests check the stored outputs of all notebooks."""

from __future__ import annotations

from pathlib import Path

import pytest

from conftest import FULL

nbformat = pytest.importorskip("nbformat")
nbclient = pytest.importorskip("nbclient")
pytest.importorskip("ipykernel")
pytest.importorskip("matplotlib")
pytest.importorskip("pettingzoo")

HOME = Path(__file__).parents[2] / "notebooks"


NOTEBOOKS = [
    pytest.param("07_environment", 2, None),
    pytest.param("08_learning_in_python", 2, "jax"),
    pytest.param("09_tournament_from_python", 2, None),
    pytest.param("11_exact_exploitability", 2, "jax"),
    pytest.param(
        "10_many_machines", 2, "ray", marks=pytest.mark.skipif(not FULL, reason="CAMBIO_FULL=1 runs it where Ray is installed")
    ),
]


@pytest.mark.parametrize(("name", "pictures", "needs"), NOTEBOOKS)
def test_a_notebook_runs_from_scratch(name: str, pictures: int, needs: str | None, monkeypatch: pytest.MonkeyPatch) -> None:
    if needs is not None:
        pytest.importorskip(needs)
    # Without trained weights, notebooks 08 and 11 train for a few seconds.
    monkeypatch.setenv("CAMBIO_RUNS", "/nowhere")
    notebook = nbformat.read(HOME / f"{name}.ipynb", as_version=4)
    client = nbclient.NotebookClient(notebook, timeout=600, kernel_name="python3", resources={"metadata": {"path": str(HOME)}})
    client.execute()
    outputs = [output for cell in notebook.cells for output in cell.get("outputs", [])]
    assert sum("image/png" in output.get("data", {}) for output in outputs) >= pictures
