"""Executes notebooks from scratch and stores their outputs: `python execute.py [--check] [NOTEBOOK]...`.

With `--check`, nothing is written. An exception in a cell is an error in both cases. `CAMBIO_RUNS` is the folder that contains the
run folders. Metadata that depends on the machine or the time is removed: times, paths, the version of the kernel.
"""

import sys
from pathlib import Path

import nbformat
from nbclient import NotebookClient

HERE = Path(__file__).parent


def execute(path):
    """Executes a notebook and returns it with new outputs."""
    notebook = nbformat.read(path, as_version=4)
    NotebookClient(notebook, timeout=600, kernel_name="python3", resources={"metadata": {"path": str(HERE)}}).execute()
    for cell in notebook.cells:
        cell.metadata.clear()
    notebook.metadata = {
        "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
        "language_info": {"name": "python"},
    }
    return notebook


names = [name for name in sys.argv[1:] if name != "--check"]
for path in [Path(name) for name in names] or sorted(HERE.glob("[01]*.ipynb")):
    notebook = execute(path)
    pictures = sum("image/png" in output.get("data", {}) for cell in notebook.cells for output in cell.get("outputs", []))
    if "--check" not in sys.argv:
        nbformat.write(notebook, path)
    print(f"{path.name}: {len(notebook.cells)} cells, {pictures} pictures")
