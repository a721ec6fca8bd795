"""Tournaments on many machines, with Ray. The rows have the same bytes as the rows of `cambio run`.

    import cambio_game.ray
    run = cambio_game.ray.run("spec.toml", "runs/mine", address="auto")

Results are committed to a store that all machines can access: a folder, or a bucket if the package was built with the feature
`cloud`. A call of `run` with the same store resumes the run. Ray starts the workers, sends agents to them, and reports lost workers.
"""

from cambio_game._extras import require

require("ray", "ray")

from ._drive import run  # noqa: E402
from ._rounds import sprt, tune  # noqa: E402

__all__ = ["run", "sprt", "tune"]
