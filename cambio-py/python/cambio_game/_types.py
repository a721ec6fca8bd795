"""Types for annotations."""

from __future__ import annotations

from typing import Literal, TypeAlias

Reward: TypeAlias = Literal["rank", "score"]
