"""Check that noise and selections bought with a price together satisfy the (ε, δ) of that price.

Everything that a request buys at an (ε, δ) price is composed from the declared sensitivities and the laws that are
drawn: all sums with normal noise as one normal, each selection as the worst pair of outcomes within its range, sums
with Laplace noise as randomised response at their ε.  Their δ at ε must not be above the price's.  The computation is
in floats and by another way than the accounting (`privacy.gaussian`), which it checks; it is no proof.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, cast

import numpy as np
from numpy.typing import NDArray

from tacit.method.quantiles.cut_tree import weights
from tacit.method.shared.measurement import Measurement, PartSpec
from tacit.noise.laws import RoundedNormal
from tacit.noise.selection_law import Selection
from tacit.noise.spherical import SphericalLaplace
from tacit.privacy import Cost

PAIRS: Final = (
    Cost.of(epsilon="0.02", delta="0.001"),
    Cost.of(epsilon="0.1", delta="0.001"),
    Cost.of(epsilon=1, delta="1e-6"),
    Cost.of(epsilon=4, delta="1e-5"),
)
"""Prices at which requests are checked.  At the first two, selections charged in ρ once exceeded their δ most."""
ROUNDING: Final = 1e-9
"""Relative tolerance for the rounding of floats and of scales."""
TILTS: Final = (0.3, 0.5, 0.7)
"""Fractions of a selection's range at which the worst pair of outcomes is sought, the same for all selections."""

Losses = dict[float, float]
"""A discrete privacy loss: loss -> probability under the first of two neighbours."""


def pair_violation(designs: Sequence[Measurement], price: Cost) -> list[str]:
    """Return a message where the (ε, δ) of `price` does not hold; designs: those of all queries of one request."""
    assert price.epsilon is not None
    assert price.delta is not None
    found = max(delta_of(designs, float(price.epsilon), tilt) for tilt in TILTS)
    if found <= float(price.delta) * (1 + ROUNDING):
        return []
    return [f"(c) what {price} buys has δ = {found:.4g} at ε = {float(price.epsilon):g}"]


def delta_of(designs: Sequence[Measurement], epsilon: float, tilt: float = 0.5) -> float:
    """Return δ at ε of all designs together.

    Each selection, of range r, has two outcomes, with log-ratios tilt * r and (tilt - 1) * r between the neighbours.
    """
    columns = [column for design in designs for column in design.columns]
    # Gaussian mechanisms compose to one: μ² adds up
    normal = sum(_normal(column) for column in columns if isinstance(column.law, RoundedNormal))
    selected = [column for column in columns if not isinstance(column.law, RoundedNormal)]
    # which of both is worse depends on the price: a neighbour may change one cell or two
    return max(_delta(selected, spread, normal, epsilon, tilt) for spread in (False, True))


def _delta(selected: Sequence[PartSpec], spread: bool, normal: float, epsilon: float, tilt: float) -> float:
    """Return δ at ε of the selections, or Laplace noises, and one normal of μ² = `normal`."""
    losses: Losses = {0.0: 1.0}
    for column in selected:
        if not isinstance(column.law, Selection):
            losses = convolved(losses, response(pure(column)))
            continue
        for range_ in ranges(column, spread=spread):
            losses = convolved(losses, outcomes(range_, tilt))
    return hockey_stick(losses, normal**0.5, epsilon)


def _normal(column: PartSpec) -> float:
    """Return μ² of noise on sums, from the declared sensitivity and the law that is drawn."""
    return column.form.l2_squared / float(column.law.scale) ** 2


def pure(column: PartSpec) -> float:
    """Return ε of Laplace noise on sums, from the declared sensitivity and the law that is drawn."""
    form, scale = column.form, float(column.law.scale)
    return (form.l2_squared**0.5 if isinstance(column.law, SphericalLaplace) else form.l1) / scale


def response(epsilon: float) -> Losses:
    """Return the losses of randomised response at ε, which dominate those of every ε-DP mechanism."""
    p = float(1 / (1 + np.exp(-epsilon)))
    return {epsilon: p, -epsilon: 1 - p}


def ranges(column: PartSpec, *, spread: bool) -> list[float]:
    """Return the range of each selection of a column that a neighbour changes: 2 * rate * change of utilities.

    The change is the declared one, of one cell or, with `spread`, of each of the two cells that a neighbour may change.
    """
    form, rate, picks = column.form, float(cast(Selection, column.law).rate), len(column.form.matrix)
    if form.name == "cuts":  # a selection at each level, in one range or in each of two
        w = weights(form.parameters["levels"], form.parameters["even"])
        return [rate * one for one in w for _ in range(2)] if spread else [2 * rate * one for one in w]
    # two cells would make l1 larger than the root of l2_squared
    if form.l1**2 == form.l2_squared:  # one cell only
        return [2 * rate * form.l1] * picks
    return [rate * form.l1] * (2 * picks) if spread else [2 * rate * form.l2_squared**0.5] * picks


def outcomes(range_: float, tilt: float) -> Losses:
    """Return the losses, under the first neighbour, of two outcomes with log-ratios tilt * r and (tilt - 1) * r."""
    up, down = tilt * range_, (tilt - 1) * range_
    # q is the probability of the first outcome under the second neighbour: both neighbours' probabilities sum to 1.
    q = -np.expm1(down) / (np.exp(up) - np.exp(down))
    return {up: float(q * np.exp(up)), down: float(1 - q * np.exp(up))}


def convolved(one: Losses, other: Losses) -> Losses:
    """Return the distribution of the sum of two independent losses."""
    found: Losses = {}
    for x, p in one.items():
        for y, q in other.items():
            # equal sums merge, so that the number of losses grows with the number of selections, not exponentially
            key = round(x + y, 12)
            found[key] = found.get(key, 0.0) + p * q
    return found


def hockey_stick(losses: Losses, mu: float, epsilon: float) -> float:
    """Return δ at ε of a discrete loss composed with a normal of `mu`.

    δ is the mean over losses x of the normal's δ at ε - x [Balle & Wang 2018, theorem 8].
    """
    from scipy.special import log_ndtr  # pyright: ignore[reportMissingTypeStubs, reportUnknownVariableType]

    x = np.array(list(losses), dtype=np.float64)
    p: NDArray[np.float64] = np.array(list(losses.values()))
    rest = epsilon - x
    # without a normal the loss is discrete: δ = mean of (1 - e^(ε - x))+
    if mu == 0:
        return float((p * np.maximum(-np.expm1(rest), 0)).sum())
    # Φ(μ/2 - t/μ) - e^t Φ(-μ/2 - t/μ) at t = ε - x, the second in logarithms, as e^t may overflow (theory §1.2)
    first, second = np.exp(log_ndtr(mu / 2 - rest / mu)), np.exp(rest + log_ndtr(-mu / 2 - rest / mu))
    return float((p * (first - second)).sum())
