"""Tournaments on many machines, with Ray. The rows have the same bytes as the rows of `cambio run`.

    import cambio_game.ray
    run = cambio_game.ray.run("spec.toml", "runs/mine", address="auto")

Each batch of the run is a task of Ray, which places tasks, repeats those of lost workers, and sends agents to the workers and results to
the driver. Only the driver writes the run folder.
"""

from cambio_game._extras import require

require("ray", "ray")

from ._drive import run  # noqa: E402
from ._rounds import sprt, tune  # noqa: E402

__all__ = ["run", "sprt", "tune"]
