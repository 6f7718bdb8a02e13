"""Quantiles and distribution functions from the cells of a histogram."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final, cast

import numpy as np

from tacit.base.arguments import described
from tacit.base.arrays import Array
from tacit.errors import InferenceError
from tacit.estimates.bins import logistic_of
from tacit.estimates.monotone import rising
from tacit.estimates.rounded_values import rounding_notes
from tacit.estimates.terms import Target, check_target
from tacit.method.histogram.estimate_from_cells.cell_groups import (
    By,
    GroupCounts,
    group_counts,
    places,
    unclear,
    words,
)
from tacit.method.histogram.estimate_from_cells.derived_numbers import Derived
from tacit.method.histogram.estimate_from_cells.distribution_curve import GroupCurve
from tacit.release.document import Released

COARSE: Final = 2.0
"""Most times that what bins hide of a quantile may be the error of sampling and noise, both standard deviations."""


@dataclass(frozen=True)
class Inverted:
    """Intervals of quantiles by inversion of each group's distribution function; the whole range for unclear groups."""

    curves: tuple[GroupCurve, ...]
    probs: tuple[float, ...]
    values: Array
    unclear: tuple[bool, ...]
    smooth: bool

    def interval(self, level: float) -> tuple[Array, Array]:
        """Return limits, shape (groups * probs,) each; within a group they never fall as the probability rises."""
        limits = np.empty((len(self.curves), len(self.probs), 2))
        for g, curve in enumerate(self.curves):
            for i, tau in enumerate(self.probs):
                limits[g, i] = _range(curve) if self.unclear[g] else curve.interval(tau, level, self.smooth)
        order = np.argsort(self.probs)
        values = self.values.reshape(limits.shape[:2])
        # values come from the isotonic F and limits from the signed counts: the estimate may lie outside
        limits = np.stack([np.minimum(limits[..., 0], values), np.maximum(limits[..., 1], values)], axis=-1)
        _, sorted_limits = rising(values[:, order], limits[:, order])
        limits[:, order] = sorted_limits
        return limits[..., 0].reshape(-1), limits[..., 1].reshape(-1)


def _levels(probs: object) -> tuple[float, ...]:
    """Return one probability or several as numbers; none where something is no number."""
    given = [probs] if isinstance(probs, int | float) else np.ravel(cast(Any, probs)).tolist()
    return tuple(float(p) for p in given) if all(isinstance(p, int | float) and abs(p) < 2 for p in given) else ()


def quantiles(
    release: Released,
    column: str,
    probs: float | Sequence[float],
    by: By = None,
    target: Target = "population",
    within: str = "smooth",
) -> Derived:
    """Return quantiles by group; see `Statistics.quantiles`."""
    check_target(target)
    levels = _levels(probs)
    if not levels or len(set(levels)) < len(levels) or not all(0 < p < 1 for p in levels):
        text = f"probabilities {described(probs)} are not different numbers above 0 and below 1."
        raise InferenceError(text, code="I51", hint="[0.25, 0.5, 0.75]", state=None)
    if not isinstance(within, str) or within not in ("smooth", "bins"):  # pyright: ignore[reportUnnecessaryIsInstance]
        text = f"within={described(within)} is neither 'smooth' nor 'bins'."
        raise InferenceError(text, code="I51", hint='within="bins": intervals of whole bins', state=None)
    made = group_counts(release, (column,), by)
    found = curves(made, target)
    reasons = [unclear(one.rows, one.cells, one.noise) for one in found]
    values = np.array([[one.quantile(p)[0] for p in levels] for one in found])
    # probabilities may be given in any order; quantiles rise with them, but for rounding
    values[:, np.argsort(levels)] = np.maximum.accumulate(values[:, np.argsort(levels)], axis=1)
    smooth = within == "smooth"
    said = [reasons[g] or _reason(one, p, smooth) for g, one in enumerate(found) for p in levels]
    inversion = Inverted(found, levels, values, tuple(reason is not None for reason in reasons), smooth)
    return Derived(
        release,
        target,
        f"Quantiles of {column}" + _grouped(made),
        words(made, f"quantiles of {column}", target),
        made.labels if len(levels) == 1 and made.by else made.terms([f"{p:g}" for p in levels]),
        values.reshape(-1),
        inversion,
        reasons=tuple(said),
        notes=(_note(found[0], smooth), *(rounding_notes(release, (column,)) if smooth else ())),
        term_title=":".join(made.by),
    )


def curves(made: GroupCounts, target: Target) -> tuple[GroupCurve, ...]:
    """Return the distribution function of each group; InferenceError I50 for a column of levels without numbers."""
    axis = made.axes[0]
    middle = places(axis)
    # cells of one value each: F jumps at the values and is flat between them
    discrete = axis.kind == "levels"
    edges = middle if discrete else axis.bounds
    below, above = made.extra("below"), made.extra("above")
    return tuple(
        GroupCurve(
            edges,
            made.regular[g],
            made.noise,
            None if below is None else float(below[g]),
            None if above is None else float(above[g]),
            sampling=target == "population",
            discrete=discrete,
            map=logistic_of(made.release, axis.name),
            step=axis.step,
        )
        for g in range(len(made.labels))
    )


def _range(curve: GroupCurve) -> tuple[float, float]:
    low = -math.inf if curve.below is not None else float(curve.edges[0] + curve.step / 2)
    return low, math.inf if curve.above is not None else float(curve.edges[-1] - curve.step / 2)


def _reason(curve: GroupCurve, tau: float, smooth: bool) -> str | None:
    """Return a caveat or None: a quantile beyond the bounds, in a bin that holds clamped values, or in a coarse bin."""
    at, share = curve.placed(tau)
    value, _ = curve.quantile(tau)
    if at == -1:
        return f"censored: below {value:,g}"
    if at == curve.bins:
        return f"censored: above {value:,g}"
    if curve.discrete:
        return None
    if at == 0 and curve.below is None and curve.bins > 1:
        return f"in the first bin, which holds all values below {curve.edges[1]:,g}"
    if at == curve.bins - 1 and curve.above is None and curve.bins > 1:
        return f"in the last bin, which holds all values above {curve.edges[-2]:,g}"
    if not smooth:
        return None
    hidden = float(curve.unknown(np.array([at]), np.array([share]))[0])
    sd = float(curve.error(np.array([at]), np.array([share]), np.array([tau])).sd[0])
    if hidden > COARSE * sd:
        return "the bin is coarse for so many rows: most of the interval is for what is not known of its inside"
    return None


def _note(curve: GroupCurve, smooth: bool) -> str:
    if curve.discrete:
        return "a quantile is a value of the column, its interval as well"
    if smooth and curve.shaped:
        width = float(np.max(np.diff(curve.edges)))
        mapped = " on the logistic scale" if curve.map is not None else ""
        return (
            f"within bins (at most {width:,.4g} wide) the density{mapped} is taken as the column's own counts suggest, "
            "and intervals allow for what is not known of it; values heaped on few points need "
            'within="bins"'
        )
    return "intervals are of whole bins, whatever the values within do"


def _grouped(made: GroupCounts) -> str:
    return f" by {' and '.join(made.by)}" if made.by else ""
