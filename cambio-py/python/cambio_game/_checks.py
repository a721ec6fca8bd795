"""Checks of arguments. A wrong type raises `TypeError`, a wrong value `CambioError`; both name the argument, the expectation and the value."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, SupportsIndex, TypeVar

import numpy as np

from ._cambio import ActionError, CambioError, _whole

Choice = TypeVar("Choice", bound=str)


def whole(name: str, value: SupportsIndex, least: int = 0, most: int = 2**64 - 1) -> int:
    """Validates a whole number. Whole numbers of numpy are fine; a flag and a float are not."""
    return _whole(value, name, least, most)


def index(name: str, value: SupportsIndex, count: int) -> int:
    """Validates the index of an action. Raises `ActionError` if it is outside the action space."""
    try:
        return whole(name, value, 0, count - 1)
    except CambioError as error:
        raise ActionError(str(error)) from None


def flag(name: str, value: object) -> bool:
    """Validates an option that is on or off."""
    if not isinstance(value, bool | np.bool_):
        raise TypeError(f"`{name}` must be True or False, found type {type(value).__name__}")
    return bool(value)


def mapping(name: str, value: object) -> None:
    """Validates a dictionary."""
    if not isinstance(value, Mapping):
        raise TypeError(f"`{name}` must be a dict, found type {type(value).__name__}")


def number(name: str, value: Any) -> float:
    """Validates a finite number."""
    if isinstance(value, bool | np.bool_) or not isinstance(value, int | float | np.integer | np.floating):
        raise TypeError(f"`{name}` must be a number, found type {type(value).__name__}")
    if not math.isfinite(value):
        raise CambioError(f"`{name}` must be a finite number, found {value}")
    return float(value)


def one_of(name: str, value: str, allowed: tuple[Choice, ...]) -> Choice:
    """Validates an option against its allowed values."""
    if not isinstance(value, str):
        raise TypeError(f"`{name}` must be a str, found type {type(value).__name__}")
    for choice in allowed:
        if choice == value:
            return choice
    raise CambioError(f"`{name}` must be {', '.join(allowed[:-1])} or {allowed[-1]}, found `{value}`")
