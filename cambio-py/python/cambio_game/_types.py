"""Types for annotations, and the blocks of a tensor."""

from __future__ import annotations

import math
from typing import Literal, NamedTuple, TypeAlias

Reward: TypeAlias = Literal["rank", "score"]


class Block(NamedTuple):
    """A named block of an observation tensor.

    `offset` is the index of its first number in the tensor, and `shape` its shape, outermost axis first. `values` is the kind of numbers:
    "flags" are 0 or 1, "counts" are 0 to 255.
    """

    name: str
    offset: int
    shape: tuple[int, ...]
    values: Literal["flags", "counts"]

    @property
    def slice(self) -> slice:
        """The slice of the tensor that contains the block: `tensor[..., block.slice]`."""
        return slice(self.offset, self.offset + math.prod(self.shape))
