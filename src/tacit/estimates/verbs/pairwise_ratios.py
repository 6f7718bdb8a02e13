"""All pairwise ratios or odds ratios of terms, with p-values and intervals adjusted for multiplicity."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias

import numpy as np

from tacit.base.arguments import described, holds_rows
from tacit.base.arrays import Array
from tacit.base.table import Table, shown_by_summary
from tacit.errors import InferenceError
from tacit.estimates import pictures
from tacit.estimates.terms import check_level
from tacit.estimates.verbs.pairwise_differences import adjusted, all_pairs
from tacit.estimates.verbs.ratios import Ratio, kept_limits, odds_ratio, ratio
from tacit.estimates.wording import ratio_words

if TYPE_CHECKING:
    import pandas as pd  # pyright: ignore[reportMissingTypeStubs]

    from tacit.estimates.estimate import Estimate

Of: TypeAlias = Literal["ratio", "odds"]
MOST: Final = 24
"""Largest number of terms for which all ratios are computed (276 pairs): each end of an interval takes a search."""


@shown_by_summary
@dataclass(frozen=True)
class PairwiseRatios:
    """All pairwise ratios "a / b" of terms, or of their odds, with p-values for a ratio of 1.

    P-values and intervals are adjusted for multiplicity.  Intervals use Bonferroni's levels for "holm" too, so that
    they hold simultaneously; each is Fieller's, or for odds ratios on the log scale.
    Source: [Fieller 1954], [Woolf 1955], [Holm 1979].

    >>> import tacit as tc
    >>> schema = tc.Schema({"ok": tc.Boolean(), "g": tc.Category(["a", "b", "c"])})
    >>> table = {"ok": [True, False, True, True] * 75, "g": ["a", "b", "c"] * 100}
    >>> release = tc.Curator(table, schema, budget=tc.Budget(rho=9)).release(tc.Mean("ok", by="g"), rho=9)
    >>> found = release.estimate().pairwise(of="ratio")
    >>> [one.name for one in found.ratios], found.intervals().shape
    (['a / b', 'a / c', 'b / c'], (3, 2))
    """

    estimate: Estimate
    ratios: tuple[Ratio, ...]
    adjust: str | None

    @property
    def p_values(self) -> pd.Series:
        """Adjusted p-values, indexed by pair."""
        import pandas as pd  # pyright: ignore[reportMissingTypeStubs]

        return pd.Series(self.adjusted(), index=self._names(), name="p_value")

    def adjusted(self) -> Array:
        """Adjusted p-values, shape (pairs,)."""
        return adjusted(np.array([one.p_value for one in self.ratios]), self.adjust)

    def intervals(self, level: float = 0.95) -> Array:
        """Return simultaneous limits (pointwise for adjust=None), infinite where unbounded, shape (pairs, 2).

        InferenceError I01 for a level below 0.5, or 1 and above; so do all methods that take a level.
        """
        each = 1 - (1 - check_level(level)) / (len(self.ratios) if self.adjust else 1)
        return np.array([one.conf_int(each) for one in self.ratios])

    def conf_int(self, level: float = 0.95) -> pd.DataFrame:
        """Return the intervals as a DataFrame indexed by pair; InferenceError I01."""
        import pandas as pd  # pyright: ignore[reportMissingTypeStubs]

        return pd.DataFrame(self.intervals(level), index=self._names(), columns=["lower", "upper"])

    def to_frame(self, level: float = 0.95) -> pd.DataFrame:
        """Return ratio, lower, upper, p_value, reason: a DataFrame indexed by pair; InferenceError I01."""
        limits = self.conf_int(level)
        limits.insert(0, "ratio", [one.value for one in self.ratios])
        limits["p_value"] = self.adjusted()
        limits["reason"] = [one.reason or "" for one in self.ratios]
        return limits

    def summary(self, level: float = 0.95) -> Table:
        """Return a table of ratios with intervals and p-values; InferenceError I01."""
        from tacit.estimates.display import facts, heading, p_words, percent

        rows = tuple(
            (one.name, *ratio_words(one.value, low, high), p_words(float(p)))
            for one, (low, high), p in zip(self.ratios, self.intervals(level), self.adjusted(), strict=True)
        )
        said = [f"{one.name}: {one.reason or one.note}" for one in self.ratios if one.reason or one.note]
        how = f"p-values adjusted by {self.adjust}, intervals by Bonferroni" if self.adjust else "no adjustment"
        columns = ("", "ratio", f"{percent(level)} interval", "p-value of 1")
        notes = (*said[:12], how, self.ratios[0].method, facts(self.estimate.release))
        return Table(f"Ratios · {heading(self.estimate)}", columns, rows, notes, ("left", "right", "right", "right"))

    def plot(self, ax: Any = None) -> Any:
        """Plot ratios with their intervals and a line at 1; `.save("a.png")`.  InferenceError I20 (no matplotlib)."""
        return pictures.ratios(self, ax)

    def _names(self) -> list[str]:
        return [one.name for one in self.ratios]


def pairwise(estimate: Estimate, adjust: str | None, of: Of) -> PairwiseRatios:
    """Return ratios of all pairs; see `Estimate.pairwise`."""
    if holds_rows(of) or of not in ("ratio", "odds"):
        text = f"of={described(of)} is no way to compare two terms."
        raise InferenceError(text, code="I15", hint='"difference", "ratio" or "odds"', state=None)
    if holds_rows(adjust) or adjust not in ("holm", "bonferroni", None):
        text = f"adjust={described(adjust)} is not known for ratios."
        hint = '"holm", whose intervals hold all at once, "bonferroni" or None'
        raise InferenceError(text, code="I08", hint=hint, state=None)
    make = ratio if of == "ratio" else partial(odds_ratio, limits=kept_limits(estimate))
    pairs = all_pairs(estimate, MOST)
    return PairwiseRatios(
        estimate, tuple(make(estimate, estimate.terms[i], estimate.terms[j]) for i, j in pairs), adjust
    )
