"""What a release of a histogram is asked for besides its counts: one line each, the work is in the modules around."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, cast

from tacit.estimates.terms import Target
from tacit.release.document import Released

if TYPE_CHECKING:
    from tacit.estimates.contrasts import Test
    from tacit.method.histogram.estimate_from_cells.adjusted_counts import Adjusted
    from tacit.method.histogram.estimate_from_cells.cell_groups import By
    from tacit.method.histogram.estimate_from_cells.correlation import Correlations
    from tacit.method.histogram.estimate_from_cells.derived_numbers import Derived
    from tacit.method.histogram.estimate_from_cells.survival import Survival


class Statistics:
    """Statistics of a released histogram; all of them are free.  `HistogramRelease` has these methods.

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
        """Quantiles of a column, in each group of `by`: the noisy distribution function, inverted (theory §7).

        Intervals are {t: |F(t) - tau| within its law}, both errors in it.  within="smooth" takes the density in a bin
        as a line and allows for what the neighbouring bins say against it; within="bins" has intervals of whole bins,
        right for any values (heaped on round numbers).  Quantiles beyond the bounds are censored: a reason says so.
        InferenceError I09, I41, I48, I50 (no order, a column twice), I51 (probabilities, other words).

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
        """Shares of values at or below each edge of the bins, with both errors (theory §7).

        Intervals of each, or bands that hold all of a group's at once.  InferenceError I09, I41, I48, I50.
        """
        from tacit.method.histogram.estimate_from_cells.distribution import cdf

        return cdf(self._release(), column, by, target, simultaneous=simultaneous)

    def moments(self, column: str, by: By = None, target: Target = "population") -> Derived:
        """Mean, variance and standard deviation of a column, corrected for binning (theory §7), by the delta method.

        InferenceError I09, I41, I48, I50 (levels that are no numbers, a column twice).
        """
        from tacit.method.histogram.estimate_from_cells.cell_moments import moments

        return moments(self._release(), column, by, target)

    def correlation(self, columns: Sequence[str], target: Target = "population") -> Correlations:
        """Pearson's correlations of columns, corrected for binning, intervals on Fisher's scale (theory §7).

        InferenceError I09, I41, I50 (fewer than two columns, levels that are no numbers).
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
        """Shares without the event after each time, in each group: a life table (theory §7, [Kaplan & Meier 1958]).

        Times in bins: actuarial, rows censored in a bin are at risk for half of it; times a bin each: exact.
        happened: the level that is the event ("true" of a Boolean); the other one is censored.  Values beyond the
        bounds are in the last bin, so that nothing is said of its end.  InferenceError I09, I41, I48, I50, I52.
        """
        from tacit.method.histogram.estimate_from_cells.survival import survival

        return survival(self._release(), time, event, by, happened, target)

    def logrank(self, time: str, event: str = "event", by: By = None, happened: str | None = None) -> Test:
        """Whether groups have the event alike over time: log-rank, with the noise in its variance (theory §7).

        InferenceError I41, I50 (no groups), I52 (times, events), I54 (nothing but noise).
        """
        from tacit.method.histogram.estimate_from_cells.logrank import logrank

        return logrank(self._release(), time, event, by, happened)

    def independence(self, one: str, other: str, *, draws: int = 9_999, rng: int = 0) -> Test:
        """Whether two columns are independent: chi-square, its law simulated with the noise [Gaboardi et al. 2016].

        InferenceError I41, I50 (fewer than two levels), I51 (draws), I54 (nothing but noise).
        """
        from tacit.method.histogram.estimate_from_cells.independence import independence

        return independence(self._release(), one, other, draws=draws, rng=rng)

    def adjusted(self, step: str, *more: str, A: float | None = None, chance: float = 0.05) -> Adjusted:
        """Counts after named steps: "project", "clip", "simplex", "threshold", in that order of the words (theory §7).

        threshold: counts below a cut are 0; the cut is one that any empty cell passes with probability `chance` at
        most, or A log(n) / epsilon.  InferenceError I53 for other steps, and for a projection without a public total.
        """
        from tacit.method.histogram.estimate_from_cells.adjusted_counts import adjusted

        return adjusted(self._release(), step, *more, A=A, chance=chance)

    def _release(self) -> Released:
        return cast(Released, self)
