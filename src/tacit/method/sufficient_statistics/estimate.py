"""Release of sufficient statistics: parameters, by inverting the mean of the clamped statistics.

theta solves m(theta) = the noisy mean (theory §6), m being that of the clamped statistics (`mean_map`), so that
clamping leaves no bias.  Its error is A times that of the mean, A = dtheta/dm (delta method): the noise is known; the
sampling variances of the means are those released with them, the model's own where noise hides these, and their
correlations, which are not released, are the model's.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar, Final, cast

import numpy as np

from tacit.base.arrays import Array
from tacit.base.table import Table, shown_by_summary
from tacit.estimates.estimate import Estimate
from tacit.estimates.noisy_terms.column_terms import terms_of
from tacit.estimates.noisy_terms.interval_inversion import Inversion, LinearInversion
from tacit.estimates.noisy_terms.noisy_moments import BINARY, integers, moments
from tacit.estimates.synthetic.drawn_frames import check_sets
from tacit.estimates.terms import ColumnTerms, Target, check_target
from tacit.estimates.total_errors.error_laws import halfwidth, split
from tacit.estimates.wording import missing_words, people_of, source_of, who
from tacit.models.boxes import FLOOR, coordinates, parameters_at, slopes
from tacit.models.mean_map import At, MeanMap, mean_map
from tacit.noise.laws import Law
from tacit.release.document import Release, Released
from tacit.release.parts import Grid, Part

if TYPE_CHECKING:
    import pandas as pd  # pyright: ignore[reportMissingTypeStubs]

    from tacit.estimates.synthetic.law_rows import LawRows
    from tacit.estimates.synthetic.reproduced_numbers import ReproducedNumbers
    from tacit.estimates.synthetic.synthetic_sets import SyntheticSets
    from tacit.method.sufficient_statistics.query import SufficientStatistics

TRUSTED: Final = 0.1
"""Released variances are shrunk to the model's as if they differed by this part of it (sd) in truth, or by as much as
they do beyond their noise."""
INDISTINCT: Final = "within their bounds the statistics do not tell the parameters apart"
UNLIKE: Final = 1.25
"""A note says so where the rows' variance is more than this many times the family's, or less than one over it."""


@shown_by_summary
@dataclass(frozen=True, repr=False)
class SufficientStatisticsRelease(Release):
    """A release of SufficientStatistics: parameters of an exponential family.

    >>> import numpy as np, tacit as tc
    >>> wait = tc.SufficientStatistics("wait", tc.families.Exponential(rate=(0.1, 10)))
    >>> table = {"wait": np.random.default_rng(0).exponential(0.5, 20_000)}
    >>> curator = tc.Curator(table, tc.Schema({"wait": tc.Real(0, 1)}), budget=tc.Budget(epsilon=1))
    >>> found = curator.release(wait, epsilon=1).estimate()  # one row in seven is clamped
    >>> found.terms, abs(found.value - 2) < 6 * found.std_error
    (('rate',), True)
    """

    kind: ClassVar[str] = "sufficient-statistics"

    def estimate(self, target: Target = "population") -> Estimate:
        """Return the parameters with sampling error, noise and joint covariance; InferenceError I09 for another target.

        target: "population", or "table" for the parameters fitted to this table, where only noise is uncertain.
        Source: theory §6.
        """
        return estimate(self, target)

    def sample(self, n: int, *, rng: Any = None) -> pd.DataFrame:
        """Return n synthetic rows drawn from the law at the estimates, a frame of the question's columns.

        rng: a whole number or a NumPy Generator for the same rows again, or None.
        The rows are nobody's, and free; values may lie beyond the bounds of the schema.  The frame's note says what
        they ignore.
        InferenceError I61 (n), I62 (rng), I63 (a reason).
        """
        return rows_of(self, "population").sample(n, None, rng)

    def synthetic_sets(
        self, sets: int = 40, *, n: int | None = None, target: Target = "population", rng: Any = None
    ) -> SyntheticSets:
        """Return sets of rows from laws that the truth may have: `sets.analyse(function)` has both errors.

        sets, n, target, rng: as for histograms.  Parameters are drawn from the release's own law of both errors, in
        coordinates in which they stay what they may be.  InferenceError I09, I61, I62, I63 (a reason), I85.
        """
        check_sets(sets, target)
        return rows_of(self, target).synthetic_sets(sets, n, None, target, rng)

    def utility(self, rows: Any) -> ReproducedNumbers:
        """Return mean, standard deviation and quantiles of the law beside those of synthetic rows.

        InferenceError I63 (a reason), I87 (rows).
        """
        return rows_of(self, "population").utility(rows)

    def summary(self, level: float = 0.95) -> Table:
        """Return the estimates as a table; InferenceError I01 for a level below 0.5, or of 1 or more."""
        return self.estimate().summary(level)

    def plot(self, ax: Any = None) -> Any:
        """Plot the estimates; InferenceError I20 without matplotlib."""
        return self.estimate().plot(ax=ax)


@dataclass(frozen=True)
class Means:
    """Noisy means of p statistics and what is known of their errors.

    value, sampling: the means and their released variances, shape (p,).  trust: weight of these variances against the
    model's, shape (p,).  size: number of rows of each mean, shape (p,).  loadings: coefficients of K noises of `law`,
    shape (p, K).  exact: an interval of the mean that is better than the normal one, where p is 1.  alike: factors of
    the correlations, shape (p, p), where parties' weights differ between statistics.
    """

    value: Array
    sampling: Array
    trust: Array
    size: Array
    loadings: Array
    law: Law
    exact: Inversion | None = None
    alike: Array | None = None

    @property
    def spread(self) -> Array:
        """Standard errors, shape (p,), kept slightly above 0."""
        privacy = (self.loadings**2).sum(axis=1) * self.law.variance()
        # above 0, as the search for parameters divides by it
        return np.sqrt(self.sampling + privacy) + 1e-12 * (1 + np.abs(self.value))


def estimate(release: Released, target: Target = "population") -> Estimate:
    """Return the Estimate of a release, real or simulated, one term a parameter."""
    check_target(target)
    query = cast("SufficientStatistics", release.query)
    found = map_of(release)
    blocks = [
        terms_of("Mean", part, rows=release.rows, grouped=query.where is not None, target=target, what=who(release))
        for part in release.parts
    ]
    # only the search uses this spread; the errors of the means are shrunk to the model's at its solution
    value, spread = _noisy(blocks)
    at = found.solve(value, spread)
    means = means_of(release, blocks, at, target)
    reason = next((one.reasons[0] for one in blocks if one.reasons[0]), None)
    made = fitted(found, means, at, target, reason)
    made = replace(made, label=query.what, people=people_of(release), source=source_of(release))
    words = f"parameters of {query.family.words['family']}, the law of {query.what}"
    words += f", where {query.where}" if query.where else ""
    words += ", as this table has them" if target == "table" else ""
    notes = (clamped_words(release), *misfit_notes(release, means, at), *ends(found, at), missing_words(release))
    return Estimate(release, target, words, found.model.names, (made,), notes=notes)


def rows_of(release: Released, target: Target) -> LawRows:
    """Return the law at the estimates of a release, real or simulated, with their errors, to draw rows from."""
    from tacit.estimates.bootstraps.bootstrap_draws import of_estimate
    from tacit.estimates.synthetic.law_rows import LawRows

    query = cast("SufficientStatistics", release.query)
    return LawRows(map_of(release).model, (query.what,), of_estimate(estimate(release, target)))


def map_of(release: Released) -> MeanMap:
    """Return the mean map of a release, from its public facts."""
    query = cast("SufficientStatistics", release.query)
    return mean_map(query.family.law, tuple(box_of(part) for part in release.parts))


def box_of(part: Part) -> tuple[float, float]:
    """Return the bounds of a statistic."""
    grid = cast(Grid, part.grid)
    return grid.lower, grid.upper


def _noisy(blocks: Sequence[ColumnTerms]) -> tuple[Array, Array]:
    """Return the means of the statistics and about their standard errors, the units of the search for parameters."""
    spread = [np.sqrt(one.sampling_variance[0] + one.privacy_variance[0]) for one in blocks]
    value = np.array([one.value[0] for one in blocks])
    return value, np.array(spread) + 1e-12 * (1 + np.abs(value))


def means_of(release: Released, blocks: Sequence[ColumnTerms], at: At, target: Target) -> Means:
    """Return the means of a release with their errors; all noises in units of the first part's law."""
    value, _ = _noisy(blocks)
    facts = [_second(release, part) for part in release.parts]
    law = blocks[0].law
    wide = np.zeros((len(blocks), sum(one.loadings.shape[1] for one in blocks)))
    start = 0
    for j, one in enumerate(blocks):
        # noises of another scale count as multiples of the first law with their own variance: one law serves the terms
        scale = 1.0 if one.law == law else np.sqrt(one.law.variance() / law.variance())
        stop = start + one.loadings.shape[1]
        wide[j, start:stop] = scale * one.loadings[0]
        start = stop
    sampling = np.array([one.sampling_variance[0] for one in blocks])
    size, noise = np.array([one[0] for one in facts]), np.array([one[1] for one in facts])
    trust = np.ones(len(blocks))
    if target == "population" and release.unit is None and noise.any():
        model = np.diag(at.cov)
        # empirical Bayes: the squared difference is about (true difference)**2 + noise**2 in mean
        off = np.maximum((sampling * size - model) ** 2 - noise**2, (TRUSTED * model) ** 2)
        trust = off / np.maximum(off + noise**2, 1e-300)
    exact = blocks[0].inversion if release.parts[0].form in BINARY else None
    return Means(value, sampling, trust, size, wide, law, exact)


def _second(release: Released, part: Part) -> tuple[float, float]:
    """Return the rows of a part, and the standard deviation of the noise in their variance; 0 for zeros and ones."""
    noisy = moments(part.form, part.parameters, integers(part), release.rows)
    size = max(float(noisy.size[0]), 1.0)
    if part.form in BINARY:
        return size, 0.0  # u**2 = 1: the variance follows from the mean
    m = min(max(float(noisy.total[0]) / size, -1.0), 1.0)
    # derivatives of sum (u - m)**2 = Q - 2 m S + m**2 N in the noises, at the released m
    load = noisy.loadings[2] - 2 * m * noisy.loadings[1] + m * m * noisy.loadings[0]
    low, high = box_of(part)
    # u is on [-1, 1]: half the width of the bounds, squared, is in the statistic's units
    return size, float(np.sqrt((load**2).sum() * part.law.variance()) / size * ((high - low) / 2) ** 2)


def fitted(found: MeanMap, means: Means, at: At, target: Target, reason: str | None = None) -> ColumnTerms:
    """Return the parameters, found at `at`, as terms that share the noises of the means."""
    p = len(at.theta)
    low, high = found.model.lower, found.model.upper
    inverse = at.inverse
    reason = reason or (INDISTINCT if inverse is None else end_reason(found, at))
    if inverse is None or reason is not None:
        # a standard error of half the box stands for: not known
        joint = np.diag(((high - low) / 2) ** 2 if target == "population" else np.zeros(p))
        loadings = np.zeros_like(means.loadings)
        whole = Within(low, high)
        return ColumnTerms(
            "", at.theta, np.diag(joint), np.zeros(p), loadings, means.law, whole, (reason,) * p, joint=joint
        )
    own = sampling_of(means, at) if target == "population" else np.zeros((p, p))
    # delta method: theta moves by A = dtheta/dm times the error of the means
    joint, loadings = inverse @ own @ inverse.T, inverse @ means.loadings
    variance = np.maximum(np.diag(joint), 0.0)
    inversion: Inversion = (
        # a monotone map carries an interval over exactly; several parameters have none such
        _mapped(found, means, at, own) if p == 1 else LinkedDelta(found, at.theta, variance, loadings, means.law)
    )
    return ColumnTerms("", at.theta, variance, np.zeros(p), loadings, means.law, inversion, (None,) * p, joint=joint)


def sampling_of(means: Means, at: At) -> Array:
    """Return the sampling covariance of the means: variances released or the law's, correlations the law's."""
    model = np.diag(at.cov) / means.size
    # released variances are noisy and can be negative
    sd = np.sqrt(np.maximum(means.trust * means.sampling + (1 - means.trust) * model, 0.0))
    found = at.correlation * np.outer(sd, sd)
    return found if means.alike is None else found * means.alike


def _mapped(found: MeanMap, means: Means, at: At, own: Array) -> MonotoneMap:
    """Return the map that carries the interval of one mean over to its parameter."""
    low, high = found.boxes[0]
    linear = LinearInversion(means.value, np.diag(own), means.loadings, means.law, low, high)
    return MonotoneMap(means.exact or linear, found, at, means.spread)


@dataclass(frozen=True)
class Within:
    """The whole box as interval, where nothing else is known."""

    low: Array
    high: Array

    def interval(self, level: float) -> tuple[Array, Array]:
        """Return the ends of the box."""
        return self.low.copy(), self.high.copy()


@dataclass(frozen=True)
class MonotoneMap:
    """The interval of one parameter with a monotone mean map: the ends of the mean's interval, mapped to it."""

    mean: Inversion
    map: MeanMap
    at: At
    spread: Array

    def interval(self, level: float) -> tuple[Array, Array]:
        """Return the parameters whose clamped means lie in the interval of the mean."""
        # the search starts at the estimate: the map is monotone, so there is one solution
        ends = [self.map.solve(end, self.spread, self.at.theta).theta for end in self.mean.interval(level)]
        low, high = np.minimum(*ends), np.maximum(*ends)  # the map may fall: a rate is one over a mean
        box = self.map.model
        edge = self.map.inner
        low = np.where(low <= edge[0], box.lower, low)  # the search stays a little inside the box
        high = np.where(high >= edge[1], box.upper, high)
        # the interval has the estimate in it, also where searches end a little apart
        return np.minimum(low, self.at.theta), np.maximum(high, self.at.theta)


@dataclass(frozen=True)
class LinkedDelta:
    """Intervals of several parameters by the delta method, in the coordinates of their links: positive ones stay so."""

    map: MeanMap
    value: Array
    variance: Array
    loadings: Array
    law: Law

    def interval(self, level: float) -> tuple[Array, Array]:
        """Return the estimate -+ the quantile of the normal law plus noise, cut to the box."""
        s, b = split(self.law, self.loadings)
        boxes = self.map.model.parameters
        # delta method: an error of theta is that error over dtheta / dcoordinate in the coordinate
        half = halfwidth(level, np.sqrt(self.variance + s**2), b) / slopes(boxes, self.value)
        middle = coordinates(boxes, self.value)
        # beyond exp(709) floats are infinite
        low, high = (parameters_at(boxes, np.clip(end, -700, 700)) for end in (middle - half, middle + half))
        return np.maximum(low, self.map.model.lower), np.minimum(high, self.map.model.upper)


# In words -----------------------------------------------------------------------------------------------------------


def clamped_words(release: Released) -> str:
    """Return the note on which means, within which bounds, the estimate is made from."""
    told = ", ".join(f"{p.label} in {box_of(p)[0]:.6g} to {box_of(p)[1]:.6g}" for p in release.parts)
    words = f"from the mean{'s' if len(release.parts) > 1 else ''} of {told}; clamping is allowed for"
    return words + (", noise as Chen & Sung print it" if getattr(release.query, "method", "") == "chen-sung" else "")


def misfit_notes(release: Released, means: Means, at: At) -> tuple[str, ...]:
    """Return notes on statistics whose released variance is not the family's: a free check of its fit."""
    if release.unit is not None:
        return ()
    model, said = np.diag(at.cov) / means.size, list[str]()
    for j, part in enumerate(release.parts):
        # only where the released variance is clearly above its noise, and is that of more than a few rows
        known = means.trust[j] > 0.8 and means.size[j] > 1000 and part.form not in BINARY and means.sampling[j] > 0
        ratio = means.sampling[j] / max(model[j], 1e-300)
        if known and not 1 / UNLIKE < ratio < UNLIKE:
            said.append(f"{part.label} varies {ratio:.2g} times as much as the family says; standard errors follow it")
    return tuple(said)


def ends(found: MeanMap, at: At) -> tuple[str, ...]:
    """Return a note on parameters at an end of their box."""
    out = _at_ends(found, at, *found.inner)
    return (f"{', '.join(out)} at an end of the box",) if out else ()


def end_reason(found: MeanMap, at: At) -> str | None:
    """Return the reason why no parameter has an interval, where one is at an end of its box; else None.

    The ends of a parameter's domain are none: no value lies beyond them.
    """
    (low, high), box = found.inner, found.model
    # the search stays away from the ends of domains alone, by `FLOOR`; links round by far less
    far = FLOOR / 2 * (box.upper - box.lower)
    low, high = np.where(low > box.lower + far, -np.inf, low), np.where(high < box.upper - far, np.inf, high)
    out = _at_ends(found, at, low, high)
    if not out:
        return None
    return f"the search for {' and '.join(out)} stops at an end of the box, may have to go on: a wider one is needed"


def _at_ends(found: MeanMap, at: At, low: Array, high: Array) -> list[str]:
    """Return the names of the parameters that are not between these places."""
    return [name for j, name in enumerate(found.model.names) if not low[j] < at.theta[j] < high[j]]
