"""Tournaments on many machines, with Ray. The rows are those of `cambio run`, byte for byte.

    import cambio.ray
    run = cambio.ray.run("spec.toml", "runs/mine", address="auto")

What was played lies in a store that all machines reach: a folder, or with a build that has the feature `cloud` a bucket. Whoever
calls `run` again with the same store goes on. The engine is Ray; it starts workers, moves agents to them, and tells when one is gone.
"""

from cambio._extras import require

require("ray", "ray")

from ._drive import run  # noqa: E402
from ._rounds import Answer, Tuned, sprt, tune  # noqa: E402

__all__ = ["Answer", "Tuned", "run", "sprt", "tune"]
