"""The release of a bootstrap: its noisy replicates, and the estimates, standard errors and intervals made from them."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar, Final, cast

import numpy as np

from tacit.base.arrays import Array
from tacit.base.lazy_imports import pandas
from tacit.base.table import Table, shown_by_summary
from tacit.errors import InferenceError
from tacit.estimates.noisy_moments import integers, moments
from tacit.estimates.noisy_totals import column_totals
from tacit.estimates.normal_estimate import NormalEstimate
from tacit.estimates.terms import Target, check_target, place_of
from tacit.method.bootstrap.estimate_deconvolution import Deconvolution, deconvolved
from tacit.method.bootstrap.estimate_replicates import (
    ALPHA,
    Errors,
    bootstrap_variance,
    check_errors,
    noise_factor,
    population_variance,
    total_variances,
)
from tacit.method.bootstrap.price import resampling, weights_of
from tacit.release.document import Release, Released
from tacit.release.parts import Part, cell_labels

if TYPE_CHECKING:
    import pandas as pd  # pyright: ignore[reportMissingTypeStubs]

    from tacit.privacy.bootstrap_cost import CertifiedCost, PublishedClaim

HIDDEN: Final = "the noise of the replicates hides their spread (their variance is below that of the noise)"
FEW: Final = "the noisy number of {} is not above its noise"


@shown_by_summary
@dataclass(frozen=True, repr=False)
class BootstrapRelease(Release):
    """A release of noisy bootstrap replicates.

    >>> import tacit as tc
    >>> schema = tc.Schema({"age": tc.Real(0, 100)})
    >>> table = {"age": [30.0, 40.0, 50.0] * 200}
    >>> curator = tc.Curator(table, schema, budget=tc.Budget(epsilon=8, delta=1e-6))
    >>> release = curator.release(tc.Bootstrap(tc.Mean("age"), replicates=20), epsilon=8, delta=1e-6)
    >>> release.replicates().shape, release.estimate(errors="most conservative").terms
    ((20, 1), ('age',))
    """

    kind: ClassVar[str] = "bootstrap"

    def replicates(self) -> pd.DataFrame:
        """Return the noisy replicates, a column for each term; of means by group linear in the noise, see `linear`."""
        return pandas().DataFrame(linear(self).values, columns=list(_terms(self)))

    def estimate(
        self, target: Target = "population", *, errors: Errors = "conservative", alpha: float = ALPHA
    ) -> NormalEstimate:
        """Return the average of the replicates with sampling and privacy errors.

        target="population": the table is a sample; errors= says how the bootstrap's variance is estimated: "unbiased",
        "conservative" (the noise varies less than it is taken to with probability alpha) or "most conservative".
        target="table": the replicates' own spread, divided by their number, is the variance of their average.
        A term whose estimated variance is not positive has a reason, and no interval.
        InferenceError I09 for another target, I120 for other errors or another alpha.
        Source: Brawner & Honaker 2018, §7, corrected (`estimate_replicates`).
        """
        return estimate(self, target, errors=errors, alpha=alpha)

    def deconvolved(self, term: str | None = None) -> Deconvolution:
        """Return the distribution of a bootstrap statistic without its noise; InferenceError I02 for an unknown term.

        Source: Wang, Cheng & Awan 2022.
        """
        terms, found = _terms(self), linear(self)
        at = 0 if term is None and len(terms) == 1 else place_of(terms, cast(str, term))
        if found.reasons[at] is not None:
            text = f"no distribution: {found.reasons[at]}."
            raise InferenceError(text, code="I121", hint="a larger price", state=None)
        return deconvolved(found.values[:, at], float(found.noise[at]))

    def certified(self) -> CertifiedCost:
        """Return the certified privacy of all replicates together, computed again from their noise."""
        from tacit.privacy.bootstrap_cost import certify

        # the delta of interest, where the price has one
        near = () if self.cost.delta is None else (self.cost.delta,)
        return certify(resampling(self.neighbors, self.rows), len(self.parts), _copy_price(self), *near)

    def published_claim(self) -> PublishedClaim:
        """Return what the paper would have claimed for this noise: lower than the truth, and never charged."""
        from tacit.privacy.bootstrap_cost import PublishedClaim

        return PublishedClaim.of(replicates=len(self.parts), mu_squared=_copy_price(self))

    def summary(self, level: float = 0.95) -> Table:
        """Return the estimates as a table; InferenceError I01 for a level below 0.5, or 1 and above."""
        return self.estimate().summary(level)

    def plot(self, ax: Any = None) -> Any:
        """Plot the estimates; InferenceError I20 without matplotlib, I05 for too many terms."""
        return self.estimate().plot(ax=ax)


@dataclass(frozen=True)
class Linear:
    """Replicates of m statistics, linear in their noise.

    values: shape (k, m).  noise: variance of the noise in each replicate, shape (m,).  reasons: why a statistic has no
    value, or None.
    """

    values: Array
    noise: Array
    reasons: tuple[str | None, ...]


def _copy_price(release: Released) -> Fraction:
    """Return mu squared of one copy of a row in one replicate: its squared sensitivity over that of the noise's sd."""
    part = release.parts[0]
    return part.l2_squared / part.law.scale**2


def statistic_of(release: Released) -> Any:
    """Return the question that each replicate answers."""
    return cast(Any, release.query).statistic


def linear(release: Released) -> Linear:
    """Return the replicates of the statistic in each cell.

    A mean over a noisy number of rows is a ratio: its replicates are those of its linear expansion about the ratio of
    the averages, mean + (S_b - mean N_b) / N, so that their average is that ratio and their noise is normal.
    """
    statistic = statistic_of(release)
    kind, part, k = type(statistic).__name__, release.parts[0], len(release.parts)
    cells = np.concatenate([integers(one) for one in release.parts])
    variance = float(part.law.variance())
    if kind == "Mean":
        return _means(part, cells, k, release.rows, variance, "persons" if release.unit is not None else "rows")
    if kind == "Sum":
        found = column_totals(part, cells, release.rows)
        value, load = found.value, found.load
    else:
        value, load = cells[:, 0], np.ones(1)
    values = np.asarray(value, dtype=np.float64).reshape(k, -1)
    noise = np.full(values.shape[1], float(load @ load) * variance)
    return Linear(values, noise, (None,) * values.shape[1])


def _means(part: Part, cells: Array, k: int, rows: int | None, variance: float, what: str) -> Linear:
    """Return replicates of means, of shape (k, m); of a ratio its linear expansion."""
    grid = part.grid
    assert grid is not None
    center, half = (grid.lower + grid.upper) / 2, (grid.upper - grid.lower) / 2
    noisy = moments(part.form, part.parameters, cells, rows)
    size, total = noisy.size.reshape(k, -1), noisy.total.reshape(k, -1)
    if noisy.public:
        assert rows is not None
        load = noisy.loadings[1]
        noise = np.full(size.shape[1], (half / rows) ** 2 * float(load @ load) * variance)
        return Linear(center + half * total / rows, noise, (None,) * size.shape[1])
    N, S = size.mean(axis=0), total.mean(axis=0)
    # three standard deviations of the average's noise, below which the ratio may be anything
    least = 3 * np.sqrt(float(noisy.loadings[0] @ noisy.loadings[0]) * variance / k)
    known = np.maximum(least, 1.0) < N
    u = np.clip(S / np.where(known, N, np.inf), -1.0, 1.0)
    loads = noisy.loadings[1] - u[:, None] * noisy.loadings[0]
    with np.errstate(divide="ignore", invalid="ignore"):
        values = center + half * (u + (total - u * size) / np.where(known, N, np.nan))
        noise = half**2 * (loads**2).sum(axis=1) * variance / np.where(known, N, np.nan) ** 2
    return Linear(values, noise, tuple(None if one else FEW.format(what) for one in known))


def estimate(
    release: Released, target: Target = "population", *, errors: Errors = "conservative", alpha: float = ALPHA
) -> NormalEstimate:
    """Return the estimate of a release of replicates, real or simulated."""
    check_target(target)
    check_errors(errors, alpha)
    found, k = linear(release), len(release.parts)
    value, spread = found.values.mean(axis=0), found.values.var(axis=0, ddof=1)
    if target == "table":
        sampling, privacy = np.zeros((len(value), len(value))), np.diag(spread / k)
        reasons = found.reasons
    else:
        variance = bootstrap_variance(spread, found.noise, noise_factor(errors, k, alpha))
        hidden = ~(variance > 0)
        own, noisy = population_variance(np.maximum(variance, 0.0), found.noise, k, release.rows)
        sampling, privacy = _with_covariances(release, value, own), np.diag(noisy)
        reasons = tuple(
            one if one is not None else HIDDEN if bad else None for one, bad in zip(found.reasons, hidden, strict=True)
        )
    notes = (
        f"{k} replicates with noise, {weights_of(release.neighbors)} weights",
        f"errors: {errors if target == 'population' else 'of the average about the table'}",
    )
    title = f"Bootstrap of {_what(release)}"
    uncertain = total_variances(spread, found.noise, k, population=target == "population", rows=release.rows)
    return NormalEstimate(
        release, title, _estimand(release, target), _terms(release), value, sampling, privacy, reasons, notes,
        target=target, uncertain=uncertain,
    )  # fmt: skip


def _with_covariances(release: Released, value: Array, variance: Array) -> Array:
    """Return the sampling covariance: cells of counts and sums share a public number of rows, means do not."""
    found = np.diag(variance)
    kind = type(statistic_of(release)).__name__
    if kind != "Mean" and release.rows is not None and len(value) > 1:
        shared = -np.outer(value, value) / release.rows
        # never more than the variances allow: these are noisy, and may be smaller than value**2 / rows
        most = np.sqrt(np.outer(variance, variance)) / len(value)
        found = np.where(np.eye(len(value), dtype=bool), found, np.clip(shared, -most, most))
    return found


def _terms(release: Released) -> tuple[str, ...]:
    """Return the names of the terms: cells, or the column."""
    return cell_labels(release.levels) if release.levels else (release.parts[0].label or "rows",)


def _what(release: Released) -> str:
    """Return the statistic in words."""
    statistic = statistic_of(release)
    kind, by = type(statistic).__name__, tuple(getattr(statistic, "by", ()))
    what = "number of rows" if kind == "Count" else f"{kind.lower()} of {statistic.columns[0]}"
    if kind == "Count" and release.unit is not None:
        what = "number of persons"
    what += f" by {', '.join(by)}" if by else ""
    return what + (f" where {statistic.where}" if statistic.where else "")


def _estimand(release: Released, target: Target) -> str:
    """Return what is estimated, in words."""
    part = release.parts[0]
    words = _what(release)
    if part.grid is not None:
        words += f", values clamped to {part.grid.lower:g} to {part.grid.upper:g}"
    return words if target == "population" else f"{words}, of this table"
