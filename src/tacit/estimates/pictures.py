"""Arrays and captions of plots of estimates.  `tacit.plots`, which draws them, is imported only when needed."""

from __future__ import annotations

import re
from statistics import NormalDist
from typing import TYPE_CHECKING, Any

import numpy as np

from tacit.base.arrays import Array
from tacit.estimates.display import facts, heading, people_words

if TYPE_CHECKING:
    from tacit.estimates.estimate import Estimate
    from tacit.estimates.normal_estimate import NormalEstimate
    from tacit.estimates.pairwise_differences import Pairwise
    from tacit.estimates.pairwise_ratios import PairwiseRatios
    from tacit.plots.canvas import Caption, Drawn, Intervals


def estimate(found: Estimate, ax: Any = None, *, level: float = 0.95) -> Drawn:
    """Plot an estimate's terms with intervals; the note states the cost.

    Raises InferenceError I01 for a level below 0.5, I05 for more than 1,000 terms, I20 without matplotlib.
    """
    from tacit.plots.canvas import check_rows
    from tacit.plots.intervals import estimate as draw

    check_rows(len(found.terms))
    return draw(shown(found, found.intervals(level), level), caption(found), ax)


def pairwise(found: Pairwise, ax: Any = None, *, level: float = 0.95) -> Drawn:
    """Plot differences with their adjusted intervals and a line at 0.

    Raises InferenceError I01 for a level below 0.5, I05 for more than 1,000 pairs, I20 without matplotlib.
    """
    from tacit.plots.canvas import Caption, check_rows
    from tacit.plots.intervals import pairwise as draw

    made = found.estimate
    check_rows(len(made.terms))
    said = Caption(f"Differences · {heading(made)}", axis_words(made), f"{found.words()} · {facts(made.release)}")
    return draw(shown(made, found.intervals(level), level, found.quantile(level)), said, ax)


def ratios(found: PairwiseRatios, ax: Any = None, *, level: float = 0.95) -> Drawn:
    """Plot ratios with adjusted intervals and a line at 1; InferenceError I01 (level), I20 without matplotlib."""
    from tacit.plots.canvas import Caption, Intervals
    from tacit.plots.ratio_plot import ratios as draw

    values = np.array([one.value for one in found.ratios])
    names, method = tuple(one.name for one in found.ratios), found.ratios[0].method
    adjusted = "intervals by Bonferroni" if found.adjust else "intervals not adjusted"
    kind = "ratio" if method.startswith("Fieller") else "odds ratio"
    said = Caption(
        title=f"{kind.capitalize()}s · {heading(found.estimate)}",
        axis=f"{kind}, {found.estimate.estimand}",
        note=f"{adjusted}; {method} · {facts(found.estimate.release)}",
    )
    return draw(Intervals(names, values, found.intervals(level), level), said, ax)


def coefficients(found: NormalEstimate, ax: Any = None, *, level: float = 0.95) -> Drawn:
    """Plot the terms that have a standard error; the note names those without.

    Raises InferenceError I01 for a level below 0.5, I05 for more than 1,000 terms, I20 without matplotlib.
    """
    from tacit.plots.canvas import Caption, check_rows
    from tacit.plots.coefficient_plot import coefficients as draw

    kept = [term for term, reason in zip(found.terms, found.reasons, strict=True) if reason is None]
    left = [term for term in found.terms if term not in kept]
    check_rows(len(kept))
    found = found[kept]
    note = facts(found.release) + (f" · no standard error: {', '.join(left)}" if left else "")
    said = Caption(f"{found.title} · {people_words(found.release)}", found.estimand, note)
    return draw(shown(found, found.intervals(level), level), said, ax)


def shown(found: Estimate | NormalEstimate, limits: Array, level: float, quantile: float | None = None) -> Intervals:
    """Return values, intervals, and half-widths for sampling alone: `quantile` sampling standard errors.

    By default `quantile` is the two-sided normal quantile of the level.
    """
    from tacit.plots.canvas import Intervals

    # sampling error alone is taken as normal; the quantile of the outer interval has the noise in it
    wide = NormalDist().inv_cdf(0.5 + level / 2) if quantile is None else quantile
    return Intervals(tuple(found.terms), found.values, limits, level, wide * np.sqrt(found.sampling_variances))


def caption(found: Estimate) -> Caption:
    """Return the caption: title and population, estimand with units, and the facts of the release."""
    from tacit.plots.canvas import Caption

    return Caption(heading(found), axis_words(found), facts(found.release))


def axis_words(found: Estimate) -> str:
    """Return the estimand, with its units appended where it does not contain them already."""
    units = {part.grid.units for part in found.release.parts if part.grid is not None and part.grid.units}
    unit = units.pop() if len(units) == 1 else ""
    said = re.search(rf"(?<!\w){re.escape(unit)}(?!\w)", found.estimand)  # the units are usually stated with the bounds
    return found.estimand if not unit or said else f"{found.estimand} ({unit})"
