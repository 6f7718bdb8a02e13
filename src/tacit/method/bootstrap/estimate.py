"""The release of a bootstrap: its noisy replicates, and the estimates, standard errors and intervals made from them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar, Final, cast

import numpy as np

from tacit.base.arrays import Array
from tacit.base.lazy_imports import pandas
from tacit.base.table import Table, shown_by_summary
from tacit.errors import InferenceError
from tacit.estimates.noisy_terms.noisy_moments import Moments, integers, moments
from tacit.estimates.noisy_terms.noisy_totals import column_totals
from tacit.estimates.normal_estimate import NormalEstimate
from tacit.estimates.terms import Target, check_target, place_of
from tacit.estimates.wording import estimand, title, who
from tacit.method.bootstrap.estimate_deconvolution import Deconvolution, deconvolved
from tacit.method.bootstrap.estimate_replicates import (
    ALPHA,
    Errors,
    bootstrap_variance,
    check_errors,
    noise_factor,
    population_variance,
    total_variances,
    with_correlations,
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
        return pandas().DataFrame(linear(self).values, columns=list(terms_of(self)))

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
        terms, found = terms_of(self), linear(self)
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
        return certify(resampling(self.neighbors, self.rows), replicates_of(self), _copy_price(self), *near)

    def published_claim(self) -> PublishedClaim:
        """Return what the paper would have claimed for this noise: lower than the truth, and never charged."""
        from tacit.privacy.bootstrap_cost import PublishedClaim

        return PublishedClaim.of(replicates=replicates_of(self), mu_squared=_copy_price(self))

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


def columns_of(release: Released) -> int:
    """Return the number of columns of the statistic: of parts of one replicate."""
    return len(release.parts) // replicates_of(release)


def replicates_of(release: Released) -> int:
    """Return the number of replicates."""
    return cast(Any, release.query).replicates


def _copy_price(release: Released) -> Fraction:
    """Return mu squared of one copy of a row in one replicate: squared sensitivities over variances, of all columns."""
    each = release.parts[: columns_of(release)]
    return sum((part.l2_squared / part.law.scale**2 for part in each), Fraction(0))


def statistic_of(release: Released) -> Any:
    """Return the question that each replicate answers."""
    return cast(Any, release.query).statistic


def linear(release: Released) -> Linear:
    """Return the replicates of the statistic of each column, in each cell.

    A mean over a noisy number of rows is a ratio, a variance no linear function of sums: their replicates are those of
    their linear expansion about the averages of the sums, so that their average is the ratio, or the variance, of the
    averages, and their noise is normal.
    """
    size, k = columns_of(release), replicates_of(release)
    made = [_of_column(release, release.parts[j::size], k) for j in range(size)]
    values = np.concatenate([one.values for one in made], axis=1)
    noise = np.concatenate([one.noise for one in made])
    return Linear(values, noise, tuple(reason for one in made for reason in one.reasons))


def _of_column(release: Released, parts: Sequence[Part], k: int) -> Linear:
    """Return the replicates of one column; parts: that of each replicate."""
    kind, part = type(statistic_of(release)).__name__, parts[0]
    cells = np.concatenate([integers(one) for one in parts])
    variance = float(part.law.variance())
    if kind in ("Mean", "SufficientStatistics", "Variance"):
        noisy = moments(part.form, part.parameters, cells, release.rows)
        half = _half(part)
        middle = 0.0 if part.grid is None else (part.grid.lower + part.grid.upper) / 2
        people = "persons" if release.unit is not None else "rows"
        if kind == "Variance":
            return variances(noisy, k, half, variance, people)
        return means(noisy, k, middle, half, variance, people)
    if kind == "Sum":
        found = column_totals(part, cells, release.rows)
        value, load = found.value, found.load
    else:
        share = part.parameters.get("share", 1)
        value, load = cells[:, 0] / share, np.ones(1) / share
    values = np.asarray(value, dtype=np.float64).reshape(k, -1)
    noise = np.full(values.shape[1], float(load @ load) * variance)
    return Linear(values, noise, (None,) * values.shape[1])


def _half(part: Part) -> float:
    """Return half the width of a column."""
    return 0.0 if part.grid is None else (part.grid.upper - part.grid.lower) / 2


def means(noisy: Moments, k: int, middle: float, half: float, variance: float, people: str) -> Linear:
    """Return replicates of means, middle + half u, of shape (k, m); of a noisy number of rows by linear expansion."""
    size, total, known, N = _sizes(noisy, k, variance)
    u = np.clip(total.mean(axis=0) / np.where(known, N, np.inf), -1.0, 1.0)
    loads = noisy.loadings[1] - u[:, None] * noisy.loadings[0]
    with np.errstate(divide="ignore", invalid="ignore"):
        values = middle + half * (u + (total - u * size) / np.where(known, N, np.nan))
        noise = half**2 * (loads**2).sum(axis=1) * variance / np.where(known, N, np.nan) ** 2
    return Linear(values, noise, tuple(None if one else FEW.format(people) for one in known))


def variances(noisy: Moments, k: int, half: float, variance: float, people: str) -> Linear:
    """Return replicates of variances, divisor n - 1, of shape (k, m), by linear expansion about the average moments.

    With averages q of u squared and u of u over N rows: q - u**2, a replicate adding (Q - q N) - 2 u (S - u N) over N.
    """
    size, total, known, N = _sizes(noisy, k, variance)
    square = noisy.square.reshape(k, -1)
    u = np.clip(total.mean(axis=0) / np.where(known, N, np.inf), -1.0, 1.0)
    q = np.clip(square.mean(axis=0) / np.where(known, N, np.inf), 0.0, 1.0)
    load_size, load_total, load_square = noisy.loadings
    loads = (load_square - q[:, None] * load_size) - 2 * u[:, None] * (load_total - u[:, None] * load_size)
    scale = half**2 * N / np.maximum(N - 1, 1.0)
    with np.errstate(divide="ignore", invalid="ignore"):
        step = ((square - q * size) - 2 * u * (total - u * size)) / np.where(known, N, np.nan)
        values = scale * (q - u**2 + step)
        noise = scale**2 * (loads**2).sum(axis=1) * variance / np.where(known, N, np.nan) ** 2
    return Linear(values, noise, tuple(None if one else FEW.format(people) for one in known))


def _sizes(noisy: Moments, k: int, variance: float) -> tuple[Array, Array, Array, Array]:
    """Return numbers of rows and totals, shape (k, m), whether their average number is known, and it, shape (m,)."""
    size, total = noisy.size.reshape(k, -1), noisy.total.reshape(k, -1)
    N = size.mean(axis=0)
    # three standard deviations of the average's noise, below which the ratio may be anything; 0 of a public number
    least = 3 * np.sqrt(float(noisy.loadings[0] @ noisy.loadings[0]) * variance / k)
    return size, total, np.maximum(least, 1.0 if least > 0 else 0.0) < N, N


def estimate(
    release: Released, target: Target = "population", *, errors: Errors = "conservative", alpha: float = ALPHA
) -> NormalEstimate:
    """Return the estimate of a release of replicates, real or simulated."""
    check_target(target)
    check_errors(errors, alpha)
    found, k, known = linear(release), replicates_of(release), release.rows
    value, spread = found.values.mean(axis=0), found.values.var(axis=0, ddof=1)
    shared = related(release, found)
    if target == "table":
        sampling, privacy = np.zeros((len(value), len(value))), (np.diag(spread) + shared) / k
        reasons = found.reasons
    else:
        variance = bootstrap_variance(spread, found.noise, noise_factor(errors, k, alpha))
        hidden = ~(variance > 0)
        own, noisy = population_variance(np.maximum(variance, 0.0), found.noise, k, known)
        sampling = with_covariances(release, value, own, shared)
        privacy = with_correlations(noisy, shared / k)
        reasons = tuple(
            one if one is not None else HIDDEN if bad else None for one, bad in zip(found.reasons, hidden, strict=True)
        )
    notes = (
        f"{k} replicates with noise, {weights_of(release.neighbors)} weights",
        f"errors: {errors if target == 'population' else 'of the average about the table'}",
    )
    uncertain = total_variances(spread, found.noise, k, population=target == "population", rows=known)
    return NormalEstimate(
        release, title(release), estimand(release, target), terms_of(release), value, sampling, privacy, reasons, notes,
        target=target, uncertain=uncertain,
    )  # fmt: skip


def related(release: Released, found: Linear) -> Array:
    """Return covariances of the replicates of different terms that rows have in common, shape (m, m); else 0.

    Noises are independent, so that these are of the draws.  Columns of one cell are of the same rows; so is every pair
    of cells where persons may be in several.
    """
    centred = np.nan_to_num(found.values - found.values.mean(axis=0))
    cells = len(found.noise) // columns_of(release)
    everywhere = "share" in release.parts[0].parameters
    if columns_of(release) == 1 and not everywhere:
        return np.zeros((len(found.noise), len(found.noise)))
    same = np.equal.outer(np.arange(len(found.noise)) % cells, np.arange(len(found.noise)) % cells)
    together = (same | everywhere) & ~np.eye(len(same), dtype=bool)
    return np.where(together, centred.T @ centred / (len(centred) - 1), 0.0)


def with_covariances(release: Released, value: Array, variance: Array, shared: Array) -> Array:
    """Return the sampling covariance: cells of counts and sums share a public number of rows, means do not."""
    kind = type(statistic_of(release)).__name__
    crossed = shared * (1.0 if release.rows is None or release.rows < 2 else release.rows / (release.rows - 1))
    if kind in ("Count", "Sum") and release.rows is not None:
        # of cells that rows have not in common, a multinomial number of rows
        most = np.sqrt(np.outer(variance, variance)) / len(value)
        # never more than the variances allow: these are noisy, and may be smaller than value**2 / rows
        fixed = np.clip(-np.outer(value, value) / release.rows, -most, most)
        crossed = np.where(shared == 0, fixed, crossed)
    return with_correlations(variance, crossed)


def terms_of(release: Released) -> tuple[str, ...]:
    """Return the names of the terms: cells; columns without `by`; "column:cell" for several columns with `by`."""
    labels, cells = [part.label for part in release.parts[: columns_of(release)]], cell_labels(release.levels)
    if not release.levels:
        return tuple(label or who(release) for label in labels)
    return cells if len(labels) == 1 else tuple(f"{label}:{cell}" for label in labels for cell in cells)
