"""All pairwise differences of terms, with p-values and intervals adjusted for multiplicity."""

from __future__ import annotations

import itertools
from dataclasses import dataclass, replace
from statistics import NormalDist
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from tacit.base.arguments import described, holds_rows
from tacit.base.arrays import Array
from tacit.base.table import Table, shown_by_summary
from tacit.errors import InferenceError
from tacit.estimates import pictures
from tacit.estimates.terms import check_level
from tacit.estimates.verbs.comparisons import studentised_maximum
from tacit.estimates.verbs.contrasts import combine, joint_words

if TYPE_CHECKING:
    import pandas as pd  # pyright: ignore[reportMissingTypeStubs]

    from tacit.estimates.estimate import Estimate

MOST: Final = 150
"""Largest number of terms for which all pairs are computed (11,175 pairs)."""


@shown_by_summary
@dataclass(frozen=True)
class Pairwise:
    """All pairwise differences of terms, held in `estimate`; p-values and intervals are adjusted for multiplicity.

    adjust "holm": Holm's p-values with Bonferroni intervals, as Holm's step-down method defines no intervals.
    adjust "simultaneous": intervals value -+ q SE, q a quantile of the largest |error| / SE over all pairs (`maximum`
    holds sorted draws of it).  p_values_raw: unadjusted p-values, one for each pair.
    Source: [Holm 1979]; theory §1.5 for the error law of each difference.

    >>> import tacit as tc
    >>> schema = tc.Schema({"age": tc.Real(0, 100), "sex": tc.Category(["f", "m"])})
    >>> table = {"age": [30.0, 40.0, 50.0] * 20, "sex": ["f", "m", "m"] * 20}
    >>> release = tc.Curator(table, schema, budget=tc.Budget(rho=1)).release(tc.Mean("age", by="sex"), rho=0.1)
    >>> found = release.estimate().pairwise()
    >>> found.estimate.terms, found.adjusted().shape, found.intervals().shape
    (('f - m',), (1,), (1, 2))
    """

    estimate: Estimate
    adjust: str | None
    p_values_raw: tuple[float, ...]
    maximum: Array | None = None

    @property
    def p_values(self) -> pd.Series:
        """Adjusted p-values, indexed by pair."""
        import pandas as pd  # pyright: ignore[reportMissingTypeStubs]

        return pd.Series(self.adjusted(), index=self.estimate.terms, name="p_value")

    def adjusted(self) -> Array:
        """Adjusted p-values, shape (pairs,)."""
        if self.maximum is not None:
            t = np.abs(self.estimate.values) / np.maximum(self.estimate.std_errors, 1e-300)
            # (1 + exceedances) / (1 + draws) keeps a Monte-Carlo p-value above 0, and never below the unadjusted one
            above = len(self.maximum) - np.searchsorted(self.maximum, t)
            return np.maximum((1 + above) / (1 + len(self.maximum)), np.array(self.p_values_raw))
        return adjusted(np.array(self.p_values_raw), self.adjust)

    def intervals(self, level: float = 0.95) -> Array:
        """Return simultaneous lower and upper limits (pointwise for adjust=None), shape (pairs, 2).

        InferenceError I01 for a level below 0.5, or 1 and above; so do all methods that take a level.
        """
        level = check_level(level)
        if self.maximum is not None:
            half = np.quantile(self.maximum, level) * self.estimate.std_errors
            return np.stack([self.estimate.values - half, self.estimate.values + half], axis=-1)
        count = len(self.estimate.terms) if self.adjust else 1
        # Bonferroni: each of the intervals misses with probability (1 - level) / count
        return self.estimate.intervals(1 - (1 - level) / count)

    def quantile(self, level: float = 0.95) -> float:
        """Return the half-width of an interval in standard errors if the error is normal; InferenceError I01."""
        level = check_level(level)
        if self.maximum is not None:
            return float(np.quantile(self.maximum, level))
        count = len(self.estimate.terms) if self.adjust else 1
        return NormalDist().inv_cdf(1 - (1 - level) / count / 2)

    def words(self) -> str:
        """Return how p-values and intervals are adjusted, in words."""
        if self.maximum is not None:
            return "p-values and intervals by the law of the largest |error| / standard error"
        return f"p-values adjusted by {self.adjust}, intervals by Bonferroni" if self.adjust else "no adjustment"

    def conf_int(self, level: float = 0.95) -> pd.DataFrame:
        """Return the intervals as a DataFrame indexed by pair; InferenceError I01."""
        import pandas as pd  # pyright: ignore[reportMissingTypeStubs]

        return pd.DataFrame(self.intervals(level), index=self.estimate.terms, columns=["lower", "upper"])

    def to_frame(self, level: float = 0.95) -> pd.DataFrame:
        """Return difference, std_error, lower, upper, p_value: a DataFrame indexed by pair; InferenceError I01."""
        import pandas as pd  # pyright: ignore[reportMissingTypeStubs]

        limits, made = self.intervals(level), self.estimate
        columns = {
            "difference": made.values,
            "std_error": made.std_errors,
            "lower": limits[:, 0],
            "upper": limits[:, 1],
        }
        return pd.DataFrame(columns | {"p_value": self.adjusted()}, index=made.terms)

    def summary(self, level: float = 0.95) -> Table:
        """Return a table of differences with intervals and p-values; InferenceError I01."""
        from tacit.estimates.display import pairwise_table

        return pairwise_table(self, level)

    def plot(self, ax: Any = None) -> Any:
        """Plot differences with their intervals and a line at 0; needs matplotlib (InferenceError I20)."""
        return pictures.pairwise(self, ax)


def pairwise(estimate: Estimate, adjust: str | None) -> Pairwise:
    """Return differences of all pairs; see `Estimate.pairwise`."""
    if holds_rows(adjust) or adjust not in ("holm", "bonferroni", "simultaneous", None):
        text = f"adjust={described(adjust)} is not known."
        raise InferenceError(text, code="I08", hint='"holm", "bonferroni", "simultaneous" or None', state=None)
    pairs = all_pairs(estimate, MOST)
    weights = np.zeros((len(pairs), len(estimate.terms)))
    for row, (i, j) in enumerate(pairs):
        weights[row, i], weights[row, j] = 1.0, -1.0
    terms = tuple(f"{estimate.terms[i]} - {estimate.terms[j]}" for i, j in pairs)
    made = combine(estimate, weights, terms, f"differences, {estimate.estimand}")
    made = replace(made, notes=(*made.notes, joint_words(made)))
    raw = made.combination.p_values(np.zeros(len(pairs)))
    maximum = None
    if adjust == "simultaneous":
        maximum = studentised_maximum(estimate, made)
    return Pairwise(made, adjust, tuple(float(p) for p in raw), maximum)


def all_pairs(estimate: Estimate, most: int) -> list[tuple[int, int]]:
    """Return index pairs (i, j), i < j, of terms; InferenceError I05 for one term, or more than `most`."""
    p = len(estimate.terms)
    if not 2 <= p <= most:
        text = f"pairs need 2 to {most} terms; there {'is one' if p == 1 else f'are {p:,}'}."
        raise InferenceError(text, code="I05", hint="estimate[[…]].pairwise()", state=None)
    return list(itertools.combinations(range(p), 2))


def adjusted(p: Array, adjust: str | None) -> Array:
    """Return p-values adjusted for multiplicity: Holm's step-down, Bonferroni, or (None) unadjusted.

    >>> [round(float(x), 3) for x in adjusted(np.array([0.01, 0.04, 0.03]), "holm")]
    [0.03, 0.06, 0.06]
    """
    if adjust is None:
        return p
    if adjust == "bonferroni":
        return np.minimum(p * len(p), 1.0)
    order = np.argsort(p)
    # Holm: the i-th smallest times the number of hypotheses still open, never below an earlier one
    stepped = np.maximum.accumulate(p[order] * np.arange(len(p), 0, -1))
    out = np.empty_like(p)
    out[order] = np.minimum(stepped, 1.0)
    return out
