"""Expected precision of counts, sums, means and variances: that of an assumed table; and when several draws pay."""

from __future__ import annotations

from typing import Final

from tacit.method.shared.measurement import Measurement
from tacit.method.shared.plan_expected import Expected, uniform
from tacit.method.shared.plan_shares import NOTHING
from tacit.noise.averaged_laplace import AveragedLaplace, least_variance_draws
from tacit.privacy.gaussian import epsilon_delta_to_mu_squared
from tacit.schema.expectations import Expectations

DELTA: Final = "1e-6"
"""The δ at which normal noise is compared."""


def expected(shape: Measurement, rows: int, level: float, expect: Expectations = NOTHING) -> list[Expected]:
    """Return the expected precision of each term."""
    return uniform(shape, rows, level, expect)


def cautions(shape: Measurement, rows: int) -> list[str]:
    """Return what several Laplace draws cost, beside one draw and beside normal noise of the same pair."""
    del rows
    law = shape.columns[0].law
    epsilon = shape.columns[0].cost.epsilon
    if not isinstance(law, AveragedLaplace) or epsilon is None:
        return []
    most = least_variance_draws(float(epsilon), float(epsilon_delta_to_mu_squared(epsilon, DELTA)))
    if law.draws <= most:
        beside = f"less than normal noise at (ε, δ = {DELTA}) has in one integer, up to {most} draws"
    else:
        beside = f"more than normal noise at (ε, δ = {DELTA}) has in one integer, beyond {most} draws"
    return [f"{law.draws} Laplace draws: the noise variance is {law.draws} times that of one at the same ε; {beside}"]
