"""Optional packages, which only some modules need."""

from importlib.util import find_spec


def require(package: str, extra: str) -> None:
    """Raises `ModuleNotFoundError` with the command that installs the package, if it is missing."""
    if find_spec(package) is None:
        raise ModuleNotFoundError(
            f"the package `{package}` is not installed; to install it, run: pip install 'cambio-game[{extra}]'", name=package
        )
