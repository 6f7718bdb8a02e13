"""Check that noise and selections bought with a price together satisfy the (ε, δ) of that price.

Everything a request buys at an (ε, δ) price is composed from declared sensitivities and the laws that are drawn: sums
with normal noise as one normal, a selection as the pair of outcomes that is worst within its range.  Their exact δ at ε
must not be above the one that is written.  It is computed in floats, as a check of the accounting (`privacy.gaussian`)
by another way than its own: no proof.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, cast

import numpy as np
from numpy.typing import NDArray

from tacit.method.shared.measurement import Measurement, PartSpec
from tacit.noise.selection_law import Selection
from tacit.privacy import Cost

PAIRS: Final = (
    Cost.of(epsilon="0.02", delta="0.001"),
    Cost.of(epsilon="0.1", delta="0.001"),
    Cost.of(epsilon=1, delta="1e-6"),
    Cost.of(epsilon=4, delta="1e-5"),
)
"""Prices at which requests are held against their pair; at the first two selections of ρ once broke it most."""
ROUNDING: Final = 1e-9
"""Relative, of floats and of scales."""
TILTS: Final = (0.3, 0.5, 0.7)
"""Where the worst pair of a selection is looked for, in parts of its range: all selections of a request alike."""

Losses = dict[float, float]
"""Privacy loss -> probability under the first of two neighbours, of what is discrete."""


def broken(designs: Sequence[Measurement], price: Cost) -> list[str]:
    """Return in words where the stated (ε, δ) does not hold; designs: all questions of one request at `price`."""
    assert price.epsilon is not None
    assert price.delta is not None
    found = max(delta_of(designs, float(price.epsilon), tilt) for tilt in TILTS)
    if found <= float(price.delta) * (1 + ROUNDING):
        return []
    return [f"(c) what {price} buys has δ = {found:.4g} at ε = {float(price.epsilon):g}"]


def delta_of(designs: Sequence[Measurement], epsilon: float, tilt: float = 0.5) -> float:
    """δ at ε of all that is bought, its selections each between outcomes of log-ratios tilt r and (tilt - 1) r."""
    columns = [column for design in designs for column in design.columns]
    normal = sum(_normal(column) for column in columns if not isinstance(column.law, Selection))
    selected = [column for column in columns if isinstance(column.law, Selection)]
    return max(_delta(selected, spread, normal, epsilon, tilt) for spread in (False, True))


def _delta(selected: Sequence[PartSpec], spread: bool, normal: float, epsilon: float, tilt: float) -> float:
    losses: Losses = {0.0: 1.0}
    for column in selected:
        for range_ in ranges(column, spread=spread):
            losses = convolved(losses, outcomes(range_, tilt))
    return hockey_stick(losses, normal**0.5, epsilon)


def _normal(column: PartSpec) -> float:
    """μ² of noise on sums, from the declared sensitivity and the law that is drawn."""
    return column.form.l2_squared / float(column.law.scale) ** 2


def ranges(column: PartSpec, *, spread: bool) -> list[float]:
    """Of every selection of a column that a neighbour changes, from the declared changes and the law that is drawn.

    By the most that utilities change in one cell or, with `spread`, in each of two, where a neighbour may change two.
    """
    form, rate, picks = column.form, float(cast(Selection, column.law).rate), len(column.form.matrix)
    if form.l1**2 == form.l2_squared:  # one cell only
        return [2 * rate * form.l1] * picks
    return [rate * form.l1] * (2 * picks) if spread else [2 * rate * form.l2_squared**0.5] * picks


def outcomes(range_: float, tilt: float) -> Losses:
    """The pair of outcomes with log-ratios tilt r and (tilt - 1) r, as losses under the first neighbour."""
    up, down = tilt * range_, (tilt - 1) * range_
    q = -np.expm1(down) / (np.exp(up) - np.exp(down))
    return {up: float(q * np.exp(up)), down: float(1 - q * np.exp(up))}


def convolved(one: Losses, other: Losses) -> Losses:
    """Losses of two independent draws."""
    found: Losses = {}
    for x, p in one.items():
        for y, q in other.items():
            key = round(x + y, 12)
            found[key] = found.get(key, 0.0) + p * q
    return found


def hockey_stick(losses: Losses, mu: float, epsilon: float) -> float:
    """δ at ε of a discrete part together with a normal one: given a loss x, that of the normal at ε - x."""
    from scipy.special import log_ndtr  # pyright: ignore[reportMissingTypeStubs, reportUnknownVariableType]

    x = np.array(list(losses), dtype=np.float64)
    p: NDArray[np.float64] = np.array(list(losses.values()))
    rest = epsilon - x
    if mu == 0:
        return float((p * np.maximum(-np.expm1(rest), 0)).sum())
    first, second = np.exp(log_ndtr(mu / 2 - rest / mu)), np.exp(rest + log_ndtr(-mu / 2 - rest / mu))
    return float((p * (first - second)).sum())
