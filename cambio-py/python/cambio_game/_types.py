"""Types for annotations."""

from __future__ import annotations

from typing import Any, Literal, Protocol, TypeAlias

Reward: TypeAlias = Literal["rank", "score"]


class SupportsDLPack(Protocol):
    """An array of another library that can be read with DLPack."""

    def __dlpack__(self, *args: Any, **kwargs: Any) -> Any: ...
    def __dlpack_device__(self) -> Any: ...


class SupportsArray(Protocol):
    """An array of another library that numpy can convert."""

    def __array__(self, *args: Any, **kwargs: Any) -> Any: ...
