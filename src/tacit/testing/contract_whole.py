"""Test (d) of the contract on all integers of a part at once: they prove no more than its price."""

from __future__ import annotations

import numpy as np

from tacit.method.shared.measurement import PartSpec
from tacit.noise.spherical import SphericalLaplace
from tacit.privacy import Cost, mu_squared_to_epsilon, zcdp_to_epsilon
from tacit.testing.audit import epsilon_lower_bound, losses, proven_by_scale
from tacit.testing.noise_samples import CONFIDENCE, sampled
from tacit.testing.vector_samples import vectors


def whole(column: PartSpec, apart: tuple[int, ...], draws: int) -> list[str]:
    """Run (d) on all integers of a part at once; apart: their change by one row.

    They are scored by their privacy loss, which proves an epsilon whatever the noise is.  In many dimensions that is
    little, so that their scale is held against the price, too (`audit.proven_by_scale`); (b) has shown its form.
    """
    k = len(apart)
    # noise does not depend on the table: one sample as it is, one moved by the change
    vector = isinstance(column.law, SphericalLaplace)
    noise = vectors(column.law) if vector else sampled(column.law, 2 * draws * k).reshape(2, draws, k)
    near, far = (losses(one, apart, column.law) for one in (noise[0], noise[1] + np.array(apart)))
    failures: list[str] = []
    for delta in (0.0, 1e-3):
        claim, found = claimed_epsilon(column.cost, delta), epsilon_lower_bound(near, far, delta, CONFIDENCE)
        if claim is not None and found > claim:
            failures.append(f"(d) {column.label}: all integers prove epsilon >= {found}, above {claim}")
    least = proven_by_scale(noise.reshape(-1, k), apart, column.law, 1 - CONFIDENCE)
    what, most = ("epsilon", column.cost.epsilon) if column.cost.kind == "pure" else ("mu", _mu(column.cost))
    if most is not None and least > most:
        failures.append(f"(d) {column.label}: the scale of its noise proves {what} >= {least}, above {float(most)}")
    return failures


def _mu(cost: Cost) -> float:
    """Return the mu of normal noise that a price buys: that of its rho is the root of 2 rho."""
    return float(cost.gdp if cost.rho is None else 2 * cost.rho) ** 0.5


def claimed_epsilon(cost: Cost, delta: float) -> float | None:
    """Return the epsilon that a cost guarantees at a delta; None where it guarantees none (zCDP at delta = 0)."""
    if cost.kind == "pure":
        return float(cost.epsilon or 0)
    # ρ-zCDP bounds no probability ratio uniformly
    if delta == 0:
        return None
    if cost.kind != "zcdp":
        return float(mu_squared_to_epsilon(cost.gdp, str(delta)))
    return float(zcdp_to_epsilon(cost.zcdp, str(delta)))
