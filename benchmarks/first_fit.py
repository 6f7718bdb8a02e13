"""The first fit of a process: seconds with nothing kept from earlier processes, and with their compiled programs.

    python benchmarks/first_fit.py

Each fit runs in three new processes with an empty folder of programs (TACIT_CACHE) at first: the first compiles and
keeps, the second and third load; the better of these two is shown.  JAX's own cache is off.  Seconds are of the
processor, those of the machine's clock beside them: others may be at work.  Loading Tacit's libraries counts.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from typing import Final

ROWS: Final = 10_000
DRAWN: Final = 0
"""The seed of the made-up rows."""


def gamma() -> None:
    """A Gamma law from blocks: release and estimate."""
    import numpy as np

    import tacit as tc

    rows = {"x": np.random.default_rng(DRAWN).gamma(2, 1, ROWS)}
    curator = tc.Curator(rows, tc.Schema({"x": tc.Real()}), budget=tc.Budget(rho=1))
    law = tc.families.Gamma(shape=(0.5, 5), rate=(0.1, 5))
    str(curator.release(tc.SampleAndAggregate("x", law), rho=0.1).estimate().summary())


def own() -> None:
    """A log-density of one's own, the inverse Gaussian: release and estimate."""
    import jax.numpy as jnp
    import numpy as np

    import tacit as tc

    def inverse_gaussian(x, theta):
        spread = theta.lam * (x - theta.mu) ** 2 / (2 * theta.mu**2 * x)
        return 0.5 * jnp.log(theta.lam / (2 * jnp.pi * x**3)) - spread

    rows = {"x": np.random.default_rng(DRAWN).wald(1, 3, ROWS)}
    curator = tc.Curator(rows, tc.Schema({"x": tc.Real()}), budget=tc.Budget(rho=1))
    law = tc.Model(inverse_gaussian, mu=(0.2, 5), lam=(0.5, 10))
    str(curator.release(tc.SampleAndAggregate("x", law), rho=0.1).estimate().summary())


def cells():
    """A released histogram of two columns."""
    import tacit as tc

    schema = tc.Schema({"age": tc.Real(18, 93), "income": tc.Real(0, 300_000)})
    curator = tc.Curator(tc.examples.people(), schema, budget=tc.Budget(rho=1))
    return curator.release(tc.Histogram(["age", "income"], bins={"age": 10, "income": 10}), rho=0.2)


def linear() -> None:
    """A linear regression on a histogram, from the release to its table."""
    str(cells().fit("income ~ age").summary())


def family() -> None:
    """A Gamma law fitted to a histogram, from the release to its table."""
    str(cells().fit("income", family="gamma").summary())


FITS: Final[tuple[Callable[[], None], ...]] = (gamma, own, linear, family)


def seconds(name: str, folder: str) -> tuple[float, float]:
    """Return processor and clock seconds of one fit in a new process."""
    environment = {key: value for key, value in os.environ.items() if not key.startswith("JAX_")}
    command = [sys.executable, __file__, name]
    made = subprocess.run(command, env={**environment, "TACIT_CACHE": folder}, stdout=subprocess.PIPE, check=True)
    processor, clock = map(float, made.stdout.split())
    return processor, clock


def main() -> None:
    """Print the table; or, with the name of a fit, run that one and print what it took."""
    if len(sys.argv) > 1:
        begun, start = time.monotonic(), time.process_time()
        next(fit for fit in FITS if fit.__name__ == sys.argv[1])()
        print(time.process_time() - start, time.monotonic() - begun)
        return
    print("| first fit of a process | compiled (clock), s | loaded (clock), s |")
    print("|---|---:|---:|")
    for fit in FITS:
        with tempfile.TemporaryDirectory() as folder:
            cold, *warm = (seconds(fit.__name__, os.path.join(folder, "programs")) for _ in range(3))
            best = min(warm)
            what = str(fit.__doc__).rstrip(".")
            print(f"| {what} | {cold[0]:.1f} ({cold[1]:.1f}) | {best[0]:.1f} ({best[1]:.1f}) |", flush=True)


if __name__ == "__main__":
    main()
