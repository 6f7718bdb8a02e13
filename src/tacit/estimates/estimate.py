"""Estimates: values with both errors, their intervals, and what can be made of them.  Post-processing: costs nothing.

`blocks` holds the terms of each released column; `matrix`, where there is one, combines them (contrasts, standardised
values, differences).  `LinearCombination` computes arrays; `Estimate` labels them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, overload

import numpy as np

from tacit.base.arrays import Array
from tacit.base.table import Table, shown_by_summary
from tacit.estimates import display, pictures
from tacit.estimates.bootstraps import parametric_bootstrap
from tacit.estimates.bootstraps.bootstrap_draws import of_estimate
from tacit.estimates.dates import shown_dates
from tacit.estimates.labelled import Labels
from tacit.estimates.noisy_terms.combination import LinearCombination
from tacit.estimates.terms import ColumnTerms, Target, check_level
from tacit.estimates.verbs import (
    comparisons,
    contrasts,
    pairwise_differences,
    pairwise_ratios,
    poststratification,
    proportions,
    ratios,
    weighting,
)
from tacit.privacy import Cost
from tacit.release.document import Released

if TYPE_CHECKING:
    import pandas as pd  # pyright: ignore[reportMissingTypeStubs]

    from tacit.estimates.bootstraps.parametric_bootstrap import ParametricBootstrap, Way
    from tacit.estimates.verbs.comparisons import Scores
    from tacit.estimates.verbs.contrasts import Test
    from tacit.estimates.verbs.pairwise_differences import Pairwise
    from tacit.estimates.verbs.pairwise_ratios import Of, PairwiseRatios
    from tacit.estimates.verbs.proportions import Proportions
    from tacit.estimates.verbs.ratios import Ratio


Joined: TypeAlias = Literal["minus", "averaged with"]
"""How an estimate is made of two releases, in words between their names."""


@shown_by_summary
@dataclass(frozen=True)
class Estimate:
    """One or several labelled numbers with their errors.

    Attributes
    ----------
    release: the release they come from (of two releases, the first; `others` has the rest).
    target: "population" (sampling and privacy are uncertain) or "table" (privacy only).
    estimand: what the numbers estimate, in words.
    terms: one label each.
    notes: what a reader of the numbers must know, one sentence each.
    joined: what was done with `release` and `others`, where there are others: "minus" or "averaged with".

    One term gives floats and a pair; several give pandas Series and DataFrames indexed by term.
    Source: theory §9 (standard errors), §1.5 (the law of both errors together), §1.4 (why it is free).

    >>> import tacit as tc
    >>> curator = tc.Curator({"age": [30.0, 40.0] * 50}, tc.Schema({"age": tc.Real(0, 100)}), budget=tc.Budget(rho=1))
    >>> found = curator.release(tc.Mean("age"), rho=0.5).estimate()
    >>> low, high = found.conf_int()
    >>> low < found.value < high, 0 < found.privacy_share < 1, found.contrast("2 * age").value == 2 * found.value
    (True, True, True)
    """

    release: Released
    target: Target
    estimand: str
    terms: tuple[str, ...]
    blocks: tuple[ColumnTerms, ...]
    matrix: Array | None = None
    notes: tuple[str, ...] = ()
    others: tuple[Released, ...] = ()
    units: str | None = None
    term_title: str = ""
    joined: Joined = "minus"

    # Numbers: arrays, for code that works on many terms -----------------------------------------------------------

    @property
    def combination(self) -> LinearCombination:
        """The same numbers as arrays, with covariances and the laws of the total errors."""
        return LinearCombination(self.blocks, self.matrix)

    @property
    def values(self) -> Array:
        """Point estimates, shape (terms,)."""
        return self.combination.values

    @property
    def sampling_variances(self) -> Array:
        """Variance due to sampling, shape (terms,), by theory §9; zero for target="table"."""
        return self.combination.sampling_variances

    @property
    def privacy_variances(self) -> Array:
        """Variance due to the noise, shape (terms,)."""
        return self.combination.privacy_variances

    @property
    def std_errors(self) -> Array:
        """Standard errors for both errors together, shape (terms,)."""
        return np.sqrt(self.sampling_variances + self.privacy_variances)

    @property
    def privacy_shares(self) -> Array:
        """Part of the total variance that is due to privacy, between 0 and 1, shape (terms,)."""
        noise = self.privacy_variances
        total = self.sampling_variances + noise
        return np.divide(noise, total, out=np.zeros_like(total), where=total > 0)

    @property
    def reasons(self) -> tuple[str | None, ...]:
        """Why a term says nothing, in words, or None; one entry a term."""
        return self.combination.reasons

    @property
    def dated(self) -> tuple[bool, ...]:
        """Whether each term is a date, in days since 1970-01-01: a mean of dates, and no difference of such."""
        if type(self.release.query).__name__ != "Mean":
            return (False,) * len(self)
        days = {part.label for part in self.release.parts if part.grid is not None and part.grid.kind == "date"}
        own = [block.label in days for block in self.blocks for _ in block.value]
        return tuple(at is not None and own[at] for at in self.combination.picked())

    def intervals(self, level: float = 0.95) -> Array:
        """Lower and upper limits, shape (terms, 2).  InferenceError I01 for a level below 0.5, or 1 and above.

        By the exact law of normal plus noise (theory §1.5), or the inversion of a count's or a proportion's law.
        """
        return self.combination.intervals(check_level(level))

    # Labelled ------------------------------------------------------------------------------------------------------

    @property
    def value(self) -> Any:  # float, or Series
        """Point estimates: a float for one term, else a Series."""
        return self._labels.numbers(self.values, "estimate")

    @property
    def std_error(self) -> Any:  # float, or Series
        """Standard errors, sampling and privacy together: a float for one term, else a Series."""
        return self._labels.numbers(self.std_errors, "std_error")

    @property
    def privacy_share(self) -> Any:  # float, or Series
        """Part of the total variance that is due to privacy, between 0 and 1."""
        return self._labels.numbers(self.privacy_shares, "privacy_share")

    @property
    def effective_size(self) -> Any:  # float, or Series
        """How many unweighted rows (persons) the weighted ones are worth: (sum w)**2 / sum w**2 [Kish 1965].

        From the noisy sums, kept to what is possible; InferenceError I19 where there are no weights.
        """
        return self._labels.numbers(weighting.effective_sizes(self), "effective_size")

    @property
    def design_effect(self) -> float:
        """Kish's n sum w**2 / (sum w)**2, rows left out weighing 0; InferenceError I19 unless all n are behind it."""
        return weighting.design_effect(self)

    @property
    def reason(self) -> Any:  # str | None, or Series
        """Why inference is impossible, in words, or None."""
        return self._labels.reasons(self.reasons)

    def conf_int(self, level: float = 0.95) -> Any:  # (float, float), or DataFrame
        """Confidence interval: a (lower, upper) pair for one term, else a DataFrame with these two columns.

        InferenceError I01 for a level below 0.5 or not below 1.
        """
        return self._labels.pairs(self.intervals(level))

    @property
    def cov(self) -> pd.DataFrame:
        """Covariance matrix of the terms, sampling and privacy."""
        return self.sampling_cov + self.privacy_cov

    @property
    def sampling_cov(self) -> pd.DataFrame:
        """Covariance due to sampling; InferenceError I04 where it was not released (several columns), I05."""
        return self._labels.square(self.combination.sampling_matrix())

    @property
    def privacy_cov(self) -> pd.DataFrame:
        """Covariance due to the noise; InferenceError I05 for more than 4,000 terms."""
        return self._labels.square(self.combination.privacy_matrix())

    @property
    def cost(self) -> Cost:
        """What the release cost; estimates cost nothing more."""
        return self.release.cost

    def __getitem__(self, term: str | list[str]) -> Estimate:
        """Some of the terms, or all terms of one column, as an Estimate; InferenceError I02 for an unknown one."""
        return contrasts.select(self, term)

    def __len__(self) -> int:
        return len(self.terms)

    # What can be made of them -------------------------------------------------------------------------------------

    def test(self, constraints: str) -> Test:
        """Test linear constraints, "age = 0" or "`north:female` = `north:male`, south = 0" (backticks around labels).

        One constraint: p-value of the exact law of its total error.  Several: Wald, chi-square, total covariance.
        InferenceError I02, I03 for unknown terms and malformed text.  Source: theory §1.5.
        """
        return contrasts.test(self, constraints)

    def contrast(self, expression: str) -> Estimate:
        """A linear combination, "`a` - `b`", as an Estimate (theory §1.5); InferenceError I02, I03."""
        return contrasts.contrast(self, expression)

    @overload
    def pairwise(self, adjust: str | None = "holm", *, of: Literal["difference"] = "difference") -> Pairwise: ...

    @overload
    def pairwise(self, adjust: str | None = "holm", *, of: Of) -> PairwiseRatios: ...

    def pairwise(self, adjust: str | None = "holm", *, of: str = "difference") -> Pairwise | PairwiseRatios:
        """All differences; or of="ratio" (of shares: risk ratios), of="odds" (odds ratios).

        adjust: "holm" [Holm 1979], "bonferroni", "simultaneous" (largest |t|, of differences only) or None.
        InferenceError I08, I15 for other words, I05 for one term or more than 150 (24 for ratios), I04 where the joint
        law is not known, I11 for odds of what is no share.
        """
        if not isinstance(of, str) or of != "difference":  # pyright: ignore[reportUnnecessaryIsInstance]
            return pairwise_ratios.pairwise(self, adjust, of)  # pyright: ignore[reportArgumentType]
        return pairwise_differences.pairwise(self, adjust)

    def standardize(self, weights: Mapping[str, float]) -> Estimate:
        """Direct standardisation (theory §1.4): public weights of terms that add up to 1.  InferenceError I02, I06."""
        return contrasts.standardize(self, weights)

    def poststratify(self, totals: Mapping[str, float], of: str = "mean") -> Estimate:
        """One mean (of="total": one total) from means by cells and the known population total of every cell.

        totals: counts (or shares) of the population, above 0, one for each cell of `by`; those of another source, for
        they are taken as known.  Of several columns: one term each.  InferenceError I02 (an unknown cell), I18.
        Source: theory §1.4, [Holt & Smith 1979].
        """
        return poststratification.poststratify(self, totals, of)

    def ratio(self, numerator: str, denominator: str) -> Ratio:
        """Ratio of two terms (of shares: the risk ratio), interval of [Fieller 1954]; InferenceError I02."""
        return ratios.ratio(self, numerator, denominator)

    def odds_ratio(self, one: str, other: str) -> Ratio:
        """Odds ratio of two shares, from both shares' limits [Zou & Donner 2008]; InferenceError I02, I11."""
        return ratios.odds_ratio(self, one, other)

    def proportions(self, within: str | Sequence[str] | None = None) -> Proportions:
        """Shares of a Count's groups among all, or within levels of some columns of `by`, with both errors.

        InferenceError I41 (no such column), I98 (an estimate of something else than a Count by groups).
        """
        return proportions.of_estimate(self, within)

    def trend(self, scores: Scores = None, *, by: str | None = None) -> Estimate:
        """Least-squares slopes over the levels of a factor, at each of the others: linear contrasts (theory §1.5).

        scores: of its levels, in order or by name.  InferenceError I06, I16 (no such factor, levels without an order).
        """
        return comparisons.trend(self, scores, by=by)

    def independence(self, *, draws: int = 9_999, rng: int = 0) -> Test:
        """Independence of a Count's two factors, noise in its law [Gaboardi et al. 2016]; InferenceError I12."""
        return comparisons.independence(self, draws=draws, rng=rng)

    def bootstrap(
        self,
        function: Callable[..., Any],
        *,
        draws: int = 9_999,
        method: Way = "percentile",
        rng: int | np.random.Generator = 0,
    ) -> ParametricBootstrap:
        """Any function of the terms, with intervals from seeded draws of both errors: the parametric bootstrap, free.

        function: of a mapping of term to number, or of the number where there is one term; it gives one number, or
        several by name.  method: "percentile", "basic" or "bias-corrected".  InferenceError I81 (a function that fails
        at the estimate), I82 (method), I83 (draws), I02 (a term that there is none of).
        Where the sampling covariance of terms was not released, errors add up in the function's direction, a bound.
        """
        return parametric_bootstrap.bootstrap(of_estimate(self), function, draws, method, rng)

    # Shown ---------------------------------------------------------------------------------------------------------

    def summary(self, level: float = 0.95) -> Table:
        """Estimates, standard errors, intervals and what part is privacy, as a table; InferenceError I01."""
        return display.summary(self, level)

    def to_frame(self, level: float = 0.95) -> pd.DataFrame:
        """estimate, std_error, lower, upper, privacy_share, reason: a frame indexed by term; InferenceError I01.

        Where there is a reason, estimate, std_error and privacy_share are NaN, and the limits are those that are known
        beforehand.  Means of dates and their limits are timestamps, std_error is in days.
        """
        found, dated = self.intervals(level), self.dated
        known = np.array([not reason for reason in self.reasons])
        columns = {
            "estimate": shown_dates(np.where(known, self.values, np.nan), dated),
            "std_error": self.std_errors,
            "lower": shown_dates(found[:, 0], dated),
            "upper": shown_dates(found[:, 1], dated),
            "privacy_share": self.privacy_shares,
        }
        return self._labels.frame(columns, self.reasons, "std_error", "privacy_share")

    def plot(self, ax: Any = None) -> Any:
        """Intervals, sampling and privacy apart; `.save("a.png")`.  InferenceError I20 (no matplotlib), I05."""
        return pictures.estimate(self, ax)

    @property
    def _labels(self) -> Labels:
        return Labels(self.terms, self.term_title)
