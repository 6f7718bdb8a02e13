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
from tacit.estimates.densities.rounded_values import rounding_notes
from tacit.estimates.terms import Target, check_target
from tacit.estimates.total_errors.monotone import rising
from tacit.fits.heaps.heap_notes import heap_notes
from tacit.fits.heaps.lattice_notes import told_notes
from tacit.method.histogram.estimate_from_cells.cell_groups import (
    By,
    GroupCounts,
    group_counts,
    of_dates,
    places,
    unclear,
    words,
)
from tacit.method.histogram.estimate_from_cells.derived_numbers import Derived
from tacit.method.histogram.estimate_from_cells.distribution_curve import GroupCurve
from tacit.release.document import Released

COARSE: Final = 2.0
"""Most times that what bins hide of a quantile may be the error of sampling and noise, both standard deviations.

Beyond it limits are those of whole bins: a law of what is hidden within would be most of the interval.
"""

CLAMPED: Final = "as values beyond the bounds are in the first and the last"
FEW: Final = "which are coarse for so many rows (finer ones would tell more)"
NAMED: Final = 6
"""Most quantiles that a note names."""


@dataclass(frozen=True)
class Inverted:
    """Intervals of quantiles by inversion of each group's distribution function; the whole range for unclear groups.

    whole: whether limits are those of whole bins, of each group and probability.
    """

    curves: tuple[GroupCurve, ...]
    probs: tuple[float, ...]
    values: Array
    unclear: tuple[bool, ...]
    whole: tuple[tuple[bool, ...], ...]

    def interval(self, level: float) -> tuple[Array, Array]:
        """Return limits, shape (groups * probs,) each; within a group they never fall as the probability rises."""
        limits = np.empty((len(self.curves), len(self.probs), 2))
        for g, curve in enumerate(self.curves):
            for i, tau in enumerate(self.probs):
                limits[g, i] = _range(curve) if self.unclear[g] else curve.interval(tau, level, not self.whole[g][i])
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
    places = [[one.placed(p) for p in levels] for one in found]
    values = np.array([[one.value(*place) for place in row] for one, row in zip(found, places, strict=True)])
    # probabilities may be given in any order; quantiles rise with them, but for rounding
    values[:, np.argsort(levels)] = np.maximum.accumulate(values[:, np.argsort(levels)], axis=1)
    smooth = within == "smooth"
    each = [list(zip(levels, row, strict=True)) for row in places]
    ends = [[smooth and _clamped(one, at) for _, (at, _) in row] for one, row in zip(found, each, strict=True)]
    coarse = [
        [smooth and not end and _coarse(one, p, *place) for end, (p, place) in zip(clamped, row, strict=True)]
        for one, clamped, row in zip(found, ends, each, strict=True)
    ]
    whole = tuple(
        tuple(not smooth or a or b for a, b in zip(*row, strict=True)) for row in zip(ends, coarse, strict=True)
    )
    said = [reasons[g] or _reason(one, *place) for g, one in enumerate(found) for place in places[g]]
    inversion = Inverted(found, levels, values, tuple(reason is not None for reason in reasons), whole)
    terms = made.labels if len(levels) == 1 and made.by else made.terms([f"{p:g}" for p in levels])
    return Derived(
        release,
        target,
        f"Quantiles of {column}" + _grouped(made),
        words(made, f"quantiles of {column}", target),
        terms,
        values.reshape(-1),
        inversion,
        reasons=tuple(said),
        notes=(
            _note(found[0], smooth),
            *_whole(made, levels, ends, CLAMPED),
            *_whole(made, levels, coarse, FEW),
            # limits of whole bins hold rounded values, and heaps, too
            *(() if all(map(all, whole)) else _lying(made, inversion)),
        ),
        term_title=":".join(made.by),
        dates=terms if of_dates(made, column) else (),
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
            heaped_at=axis.heaped_at,
        )
        for g in range(len(made.labels))
    )


def _range(curve: GroupCurve) -> tuple[float, float]:
    low = -math.inf if curve.below is not None else float(curve.edges[0] + curve.step / 2)
    return low, math.inf if curve.above is not None else float(curve.edges[-1] - curve.step / 2)


def _reason(curve: GroupCurve, at: int, share: float) -> str | None:
    """Return a caveat or None: a quantile beyond the bounds is not told."""
    if at == -1:
        return f"censored: below {curve.value(at, share):,g}"
    return f"censored: above {curve.value(at, share):,g}" if at == curve.bins else None


def _lying(made: GroupCounts, found: Inverted) -> tuple[str, ...]:
    """Return the notes on where values may lie within bins."""
    release, axis = made.release, made.axes[0]
    curve = found.curves[0]
    told = (
        told_notes(axis, list(made.regular), curve.noise.known, error=lambda: _shortest(found)) if curve.plain else ()
    )
    rounded = rounding_notes(release, (axis.name,), lambda: _shortest(found))
    return (*rounded, *told, *heap_notes(release, (axis.name,)))


def _shortest(found: Inverted) -> float:
    """Return a quarter of the shortest interval that is not of whole bins: its standard error, about."""
    low, high = found.interval(0.95)
    return float((high - low)[~np.array(found.whole).reshape(-1)].min()) / 4


def _clamped(curve: GroupCurve, at: int) -> bool:
    """Return whether a quantile lies in a bin that holds clamped values too, heaped on the bound."""
    first, last = at == 0 and curve.below is None, at == curve.bins - 1 and curve.above is None
    return not curve.discrete and curve.bins > 1 and (first or last)


def _coarse(curve: GroupCurve, tau: float, at: int, share: float) -> bool:
    """Return whether most of a quantile's interval would be for what is not known of the inside of its bin."""
    if curve.discrete or not 0 <= at < curve.bins:
        return False
    hidden = float(curve.unknown(np.array([at]), np.array([share]))[0])
    known = curve.error(np.array([at]), np.array([share]), np.array([tau]), drawn=False)
    return hidden > COARSE * float(known.sd[0])


def _whole(made: GroupCounts, levels: Sequence[float], found: Sequence[Sequence[bool]], why: str) -> tuple[str, ...]:
    """Return a note that names the quantiles whose limits are of whole bins though smooth ones were asked for."""
    named = [
        f"{p:g} of {label}" if made.by else f"{p:g}"
        for label, row in zip(made.labels, found, strict=True)
        for p, one in zip(levels, row, strict=True)
        if one
    ]
    rest = f" and {len(named) - NAMED} more" if len(named) > NAMED else ""
    return (f"limits of whole bins, {why}: {', '.join(named[:NAMED])}{rest}",) if named else ()


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
