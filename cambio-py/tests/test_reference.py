"""The reference in the book is up to date with the docstrings."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

SCRIPT = Path(__file__).parents[2] / "scripts" / "python_reference.py"


def test_the_reference_is_that_of_the_docstrings() -> None:
    done = subprocess.run([sys.executable, SCRIPT, "--check"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"run `python scripts/python_reference.py`\n{done.stdout}{done.stderr}"
