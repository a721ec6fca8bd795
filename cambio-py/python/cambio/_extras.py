"""What is optional: packages that `cambio` itself does not need."""

from importlib.util import find_spec


def require(package: str, extra: str) -> None:
    """Raises `ModuleNotFoundError` with the command that helps, if a package is not installed."""
    if find_spec(package) is None:
        raise ModuleNotFoundError(
            f"the package `{package}` is not installed; it comes with: pip install 'cambio[{extra}]'", name=package
        )
