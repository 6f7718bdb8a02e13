"""Methods of a released histogram that compute statistics from its cells; each delegates to a module of this folder."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, cast

from tacit.base.arguments import named_methods
from tacit.errors import InferenceError
from tacit.estimates.terms import Target
from tacit.release.document import Released

if TYPE_CHECKING:
    from tacit.estimates.verbs.contrasts import Test
    from tacit.method.histogram.estimate_from_cells.adjusted_counts import Adjusted
    from tacit.method.histogram.estimate_from_cells.cell_groups import By
    from tacit.method.histogram.estimate_from_cells.correlation import Correlations
    from tacit.method.histogram.estimate_from_cells.derived_numbers import Derived
    from tacit.method.histogram.estimate_from_cells.survival import Survival


@named_methods(InferenceError, "I95")
class Statistics:
    """Statistics computed from a released histogram, without further privacy cost; a base of `HistogramRelease`.

    An argument that a method does not have is InferenceError I95.

    >>> import tacit as tc
    >>> table = {"age": [float(age) for age in range(100)] * 50}
    >>> curator = tc.Curator(table, tc.Schema({"age": tc.Real(0, 100)}), budget=tc.Budget(rho=1))
    >>> cells = curator.release(tc.Histogram("age", bins={"age": 20}), rho=0.5)
    >>> cells.quantiles("age", [0.25, 0.5]).terms, cells.cdf("age").terms[:2], cells.adjusted("clip").steps
    (('0.25', '0.5'), ('5', '10'), ('clip',))
    """

    def quantiles(
        self,
        column: str,
        probs: float | Sequence[float],
        by: By = None,
        target: Target = "population",
        within: str = "smooth",
    ) -> Derived:
        """Return quantiles of a column by group, from inverting the noisy distribution function F (theory §7).

        An interval holds every t at which F(t) - tau is within the quantile of its sampling and privacy error.
        within="smooth" takes the density in a bin as the column's own counts suggest and widens intervals by what is
        not known of it; within="bins" gives intervals of whole bins, valid for any values (also heaped on round
        numbers).  Quantiles beyond the bounds are censored, with a reason.
        InferenceError I09, I41, I48, I50 (levels without order, a column twice), I51 (probabilities, other `within`).

        >>> import tacit as tc
        >>> table = {"age": [float(age) for age in range(100)] * 50}
        >>> curator = tc.Curator(table, tc.Schema({"age": tc.Real(0, 100)}), budget=tc.Budget(rho=1))
        >>> cells = curator.release(tc.Histogram("age", bins={"age": 20}), rho=0.5)
        >>> low, high = cells.quantiles("age", 0.5).conf_int()
        >>> low < 50 < high
        True
        """
        from tacit.method.histogram.estimate_from_cells.cell_quantiles import quantiles

        return quantiles(self._release(), column, probs, by, target, within)

    def cdf(self, column: str, by: By = None, target: Target = "population", *, simultaneous: bool = False) -> Derived:
        """Return the proportion of values at or below each edge, with sampling and privacy errors (theory §7).

        Intervals are pointwise, or bands that cover all edges of a group simultaneously.
        InferenceError I09, I41, I48, I50.
        """
        from tacit.method.histogram.estimate_from_cells.distribution import cdf

        return cdf(self._release(), column, by, target, simultaneous=simultaneous)

    def moments(self, column: str, by: By = None, target: Target = "population") -> Derived:
        """Return mean, variance and standard deviation of a column, corrected for binning (theory §7; delta method).

        InferenceError I09, I41, I48, I50 (levels without numbers, a column twice).
        """
        from tacit.method.histogram.estimate_from_cells.cell_moments import moments

        return moments(self._release(), column, by, target)

    def gini(self, column: str, by: By = None, target: Target = "population") -> Derived:
        """Return the Gini coefficient of a column that is 0 or more, corrected for binning (delta method).

        InferenceError I09, I41, I48, I50 (levels without numbers), I99 (days, or a column that may be below 0).
        Coverage: docs/reference/inequality.md.

        >>> import tacit as tc
        >>> table = {"pay": [float(i * i) for i in range(100)] * 50}
        >>> curator = tc.Curator(table, tc.Schema({"pay": tc.Real(0, 10_000)}), budget=tc.Budget(rho=1))
        >>> low, high = curator.release(tc.Histogram("pay", bins={"pay": 40}), rho=0.5).gini("pay").conf_int()
        >>> 0.4 < low < high < 0.6
        True
        """
        from tacit.method.histogram.estimate_from_cells.inequality import gini

        return gini(self._release(), column, by, target)

    def lorenz(
        self,
        column: str,
        at: float | Sequence[float] = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9),
        by: By = None,
        target: Target = "population",
    ) -> Derived:
        """Return the Lorenz curve: which share of a column's sum the lowest part `at` of the rows has.

        What the highest tenth has is 1 less the curve at 0.9.  InferenceError I09, I41, I48, I50, I51 (shares), I99 (a
        column that may be below 0).  Coverage: docs/reference/inequality.md.
        """
        from tacit.method.histogram.estimate_from_cells.inequality import lorenz

        return lorenz(self._release(), column, at, by, target)

    def correlation(self, columns: Sequence[str], target: Target = "population") -> Correlations:
        """Return Pearson's correlations of columns, corrected for binning, with Fisher-scale intervals (theory §7).

        InferenceError I09, I41, I50 (fewer than two columns, levels without numbers).
        """
        from tacit.method.histogram.estimate_from_cells.correlation import correlation

        return correlation(self._release(), columns, target)

    def survival(
        self,
        time: str,
        event: str = "event",
        by: By = None,
        happened: str | None = None,
        target: Target = "population",
    ) -> Survival:
        """Return the proportion without the event after each time, by group (theory §7, [Kaplan & Meier 1958]).

        Binned times give an actuarial life table: rows censored in a bin are at risk for half of it.  Where each bin
        is one time, the product-limit estimate.  happened: the level that is the event (by default "true" of a
        Boolean); the other level is censored.  If values above the bounds are clamped into the last bin, nothing is
        estimated for its end.  InferenceError I09, I41, I48, I50, I52.
        """
        from tacit.method.histogram.estimate_from_cells.survival import survival

        return survival(self._release(), time, event, by, happened, target)

    def logrank(self, time: str, event: str = "event", by: By = None, happened: str | None = None) -> Test:
        """Test whether groups have the same survival: log-rank, its variance including the noise (theory §7).

        InferenceError I41, I50 (no groups), I52 (times, events), I54 (nothing but noise).
        """
        from tacit.method.histogram.estimate_from_cells.logrank import logrank

        return logrank(self._release(), time, event, by, happened)

    def independence(self, one: str, other: str, *, draws: int = 9_999, rng: int = 0) -> Test:
        """Test independence of two columns: chi-square, its null law simulated with noise [Gaboardi et al. 2016].

        InferenceError I41, I50 (fewer than two levels), I51 (draws), I54 (nothing but noise).
        """
        from tacit.method.histogram.estimate_from_cells.independence import independence

        return independence(self._release(), one, other, draws=draws, rng=rng)

    def adjusted(self, step: str, *more: str, A: float | None = None, chance: float = 0.05) -> Adjusted:
        """Return counts after steps "project", "clip", "simplex" or "threshold", taken in the given order (theory §7).

        threshold: counts below a cut become 0.  The cut is the least that any empty cell passes with probability at
        most `chance`, or A log(n) / epsilon.  InferenceError I53 for other steps, a projection without a public total.
        """
        from tacit.method.histogram.estimate_from_cells.adjusted_counts import adjusted

        return adjusted(self._release(), step, *more, A=A, chance=chance)

    def _release(self) -> Released:
        return cast(Released, self)
