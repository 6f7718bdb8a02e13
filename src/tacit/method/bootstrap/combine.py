"""Bootstraps of many parties as one: totals add, means are weighted, and so are both errors.

Tables of different people are independent, and so are their replicates.  Of counts and sums the averages add up, and so
do sampling variances and noises.  Of means, variances and statistics party i has a weight w_i, in inverse proportion to
the variance that its average would have if rows varied alike everywhere: V_i = V / n_i, with V pooled over the parties
and the party's own noise.  Weights hardly depend on the spread of a party's few replicates, so that the variance of
the weighted mean is the sum of w_i^2 times the parties' own.  Where a number of rows is private, the party's own
variance takes the place of V / n_i.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from tacit.base.arrays import Array
from tacit.base.table import Table, shown_by_summary
from tacit.errors import InferenceError
from tacit.estimates.normal_estimate import NormalEstimate
from tacit.estimates.terms import Target, check_target
from tacit.estimates.total_errors.uncertain_variances import UncertainVariances
from tacit.estimates.wording import estimand, title
from tacit.method.bootstrap.estimate import (
    HIDDEN,
    Linear,
    linear,
    related,
    replicates_of,
    statistic_of,
    terms_of,
    with_covariances,
)
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
from tacit.privacy import Cost
from tacit.release.document import Release, Released

SEED: Final = 20171106
"""Of the pairing of what the parties' variances may be: a constant, so that one combination has one answer."""

POINTS: Final = 512
"""Values of a variance that an interval averages over."""


@shown_by_summary
@dataclass(frozen=True, repr=False)
class CombinedBootstrap:
    """Bootstraps of one statistic by several parties, as one answer; made by `tc.combine`.

    found: what all releases have in common, as a release's facts.  releases: of the parties, whose names are `parties`.

    >>> import tacit as tc
    >>> schema, budget = tc.Schema({"stay": tc.Real(0, 60)}), tc.Budget(epsilon=8, delta=1e-6)
    >>> ask = tc.Bootstrap(tc.Mean("stay"), replicates=10)
    >>> answers = [
    ...     tc.Curator({"stay": [6.0, 9.0, 12.0] * n}, schema, name=name, budget=budget).release(
    ...         ask, epsilon=8, delta=1e-6
    ...     )
    ...     for name, n in {"st-mary": 400, "st-luke": 900}.items()
    ... ]
    >>> found = tc.combine(answers)
    >>> found.parties, found.estimate().terms
    (('st-mary', 'st-luke'), ('stay',))
    """

    found: Released
    releases: tuple[Release, ...]
    parties: tuple[str, ...]
    notes: tuple[str, ...] = ()

    @property
    def kind(self) -> str:
        """The kind of the releases."""
        return "bootstrap"

    @property
    def cost(self) -> Cost:
        """The privacy cost for a person."""
        return self.found.cost

    def estimate(
        self, target: Target = "population", *, errors: Errors = "conservative", alpha: float = ALPHA
    ) -> NormalEstimate:
        """Return the total or the weighted mean of the parties' averages, with both errors.

        Arguments and errors are those of `BootstrapRelease.estimate`; about all rows of all tables (target="table") a
        mean needs public numbers of rows, InferenceError I09.
        """
        check_target(target)
        check_errors(errors, alpha)
        return _estimate(self, target, errors, alpha)

    def summary(self, level: float = 0.95) -> Table:
        """Return the estimates as a table; InferenceError I01 for a level below 0.5, or 1 and above."""
        return self.estimate().summary(level)

    def plot(self, ax: Any = None) -> Any:
        """Plot the estimates; InferenceError I20 without matplotlib, I05 for too many terms."""
        return self.estimate().plot(ax=ax)


def joined(
    found: Released, releases: tuple[Release, ...], parties: tuple[str, ...], notes: tuple[str, ...] = ()
) -> CombinedBootstrap:
    """Return the combination; InferenceError C11 for several releases about the same people."""
    if len(parties) != len(releases):
        text = "of one ledger there are several releases: replicates of the same people are not combined."
        raise InferenceError(text, code="C11", hint="one release of each party", state=None)
    return CombinedBootstrap(found, releases, parties, notes)


@dataclass(frozen=True)
class _Party:
    """One party's replicates: averages, sample variances and covariances of m terms, all of shape (m,) or (m, m)."""

    release: Release
    made: Linear
    value: Array
    spread: Array
    shared: Array

    @classmethod
    def of(cls, release: Release) -> _Party:
        made = linear(release)
        spread = made.values.var(axis=0, ddof=1)
        return cls(release, made, made.values.mean(axis=0), spread, related(release, made))

    @property
    def replicates(self) -> int:
        return replicates_of(self.release)


def _estimate(given: CombinedBootstrap, target: Target, errors: Errors, alpha: float) -> NormalEstimate:
    found, parties = given.found, [_Party.of(one) for one in given.releases]
    weights = _weights(parties, found, target)
    value = np.sum([w * one.value for w, one in zip(weights, parties, strict=True)], axis=0)
    population = target == "population"
    sampling = np.zeros((len(value), len(value)))
    privacy, gained = np.zeros_like(sampling), np.zeros(len(value))
    for w, one in zip(weights, parties, strict=True):
        k, rows, each = one.replicates, one.release.rows, np.outer(w, w)
        if not population:
            privacy += each * with_correlations(one.spread, one.shared) / k
            continue
        variance = bootstrap_variance(one.spread, one.made.noise, noise_factor(errors, k, alpha))
        # estimates below 0 are errors like others: they count in the sum, and only the sum must be above 0
        gained += w**2 * population_variance(variance, one.made.noise, k, rows)[0]
        own, noisy = population_variance(np.maximum(variance, 0.0), one.made.noise, k, rows)
        sampling += each * with_covariances(one.release, one.value, own, one.shared)
        privacy += each * with_correlations(noisy, one.shared / k)
    hidden = population & ~(gained > 0)
    few = [[one.made.reasons[i] for one in parties if one.made.reasons[i]] for i in range(len(value))]
    reasons = tuple(why[0] if why else HIDDEN if bad else None for why, bad in zip(few, hidden, strict=True))
    how = "totals of all parties" if _is_total(found) else "parties weighted by the inverse of their variances"
    notes = (
        f"{len(parties)} parties: {how}",
        f"errors: {errors if population else 'of the averages about the tables'}",
        *given.notes,
    )
    first = parties[0].release
    return NormalEstimate(
        found, title(first), estimand(found, target), terms_of(first), value, sampling, privacy, reasons, notes,
        target=target, uncertain=_uncertain(parties, weights, population=population),
    )  # fmt: skip


def _is_total(found: Released) -> bool:
    return type(statistic_of(found)).__name__ in ("Count", "Sum")


def _weights(parties: Sequence[_Party], found: Released, target: Target) -> Array:
    """Return the parties' weights in each term, shape (parties, m): 1 in totals, else adding up to 1."""
    terms = len(parties[0].value)
    if _is_total(found):
        return np.ones((len(parties), terms))
    sizes = [one.release.rows for one in parties]
    known = [float(n) for n in sizes if n]
    public = len(known) == len(sizes)
    if target == "table":
        if not public:
            text = 'target "table": means of tables are weighted by their rows, whose number is private.'
            raise InferenceError(text, code="I09", hint='target="population"', state=None)
        return np.repeat(np.array(known)[:, None], terms, axis=1) / sum(known)
    k = np.array([one.replicates for one in parties], dtype=np.float64)[:, None]
    noise = np.stack([one.made.noise for one in parties])
    spread = np.stack([one.spread for one in parties])
    if public:
        n = np.array(known)[:, None]
        # the variance of a row, pooled: a party with many replicates tells more of it
        row = ((k - 1) * n * (spread - noise)).sum(axis=0) / (k - 1).sum()
        own = np.maximum(row, 0.0) / n
    else:
        own = np.maximum(spread - noise, 0.0)
    precision = 1 / np.maximum(own * (1 + 1 / k) + noise / k, 1e-300)
    return np.asarray(precision / precision.sum(axis=0), dtype=np.float64)


def _uncertain(parties: Sequence[_Party], weights: Array, *, population: bool) -> UncertainVariances:
    """Return what the variance of the combination may be: the parties' variances are uncertain one by one."""
    rng = np.random.default_rng(SEED)
    u = (np.arange(POINTS) + 0.5) / POINTS
    total = np.zeros((len(parties[0].value), POINTS))
    for w, one in zip(weights, parties, strict=True):
        own = total_variances(
            one.spread, one.made.noise, one.replicates, population=population, rows=one.release.rows,
            at=(rng.permutation(u) if len(parties) > 1 else u, np.full(POINTS, 1 / POINTS)),
        )  # fmt: skip
        total += (w**2)[:, None] * own.values
    return UncertainVariances(total, np.full(POINTS, 1 / POINTS))
