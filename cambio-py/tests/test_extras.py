"""`cambio_game` itself needs only numpy. The error for a missing optional package contains the command that installs it."""

from __future__ import annotations

import subprocess
import sys

import pytest

#: The modules, whose extras have the same names, and the packages that they need.
EXTRAS = [("pettingzoo", "pettingzoo"), ("gymnasium", "gymnasium"), ("openspiel", "pyspiel"), ("ray", "ray"), ("rllib", "ray")]


def python(code: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)


def test_importing_cambio_imports_nothing_optional() -> None:
    done = python(
        "import sys, cambio_game; print(sorted(set(sys.modules) & {'pettingzoo', 'gymnasium', 'pyspiel', 'ray', 'pandas', 'polars'}))"
    )
    assert done.stdout == "[]\n", done.stderr


@pytest.mark.parametrize(("module", "package"), EXTRAS)
def test_a_missing_package_is_one_sentence(module: str, package: str) -> None:
    done = python(f"import sys; sys.modules['{package}'] = None; import cambio_game; import cambio_game.{module}")
    assert done.returncode == 1
    last = done.stderr.splitlines()[-1]
    sentence = f"the package `{package}` is not installed; to install it, run: pip install 'cambio-game[{module}]'"
    assert last == f"ModuleNotFoundError: {sentence}"
