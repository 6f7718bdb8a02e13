"""The estimate of combined releases: that of one release, with measures of how far the parties differ."""

from __future__ import annotations

from statistics import NormalDist
from typing import TYPE_CHECKING, Any, Final, Protocol, cast, runtime_checkable

import numpy as np

from tacit.errors import InferenceError
from tacit.estimates import pictures
from tacit.estimates.display import facts, heading
from tacit.estimates.estimate import Estimate
from tacit.estimates.terms import check_level

if TYPE_CHECKING:
    from tacit.parties.combined import Combined
    from tacit.pooling.heterogeneity import PooledEffects

_NOT_WHOLE: Final = (
    "how far parties differ is said of all terms of a combination, not of some that were picked or combined.",
    'estimate().I2["female"], not estimate()["female"].I2; parties that differ: combine(…, effects="random")',
)
"""Message and hint for an estimate that is a part of a combination."""
_TOTAL: Final = (
    "numbers of the parties were added up: there is no common quantity from which they could differ.",
    'combine(…, effects="random") of their Mean; by_party() lists the numbers of each',
)
"""The same where the combination is a total."""


@runtime_checkable
class Differing(Protocol):
    """An object with measures of heterogeneity: `Combined`, from which a whole `Combination` is made."""

    def effects_of(self, t: int) -> PooledEffects | None:
        """Return how far parties differ in term t."""
        ...

    def prediction_of(self, t: int, level: float = 0.95) -> tuple[float, float] | None:
        """Return a prediction interval for a new party."""
        ...


class Combination(Estimate):
    """An estimate over several parties, with measures of how far they differ.

    With random effects the correlation of terms is not known; standard errors of contrasts are upper bounds.
    """

    @property
    def parties(self) -> Combined | None:
        """The combined releases; None where terms were picked or combined."""
        whole = isinstance(self.release, Differing) and self.matrix is None
        return cast("Combined", self.release) if whole else None

    @property
    def I2(self) -> Any:  # float, or Series
        """Share of the variation between parties' estimates that sampling error and noise do not explain."""
        return self._of("I2")

    @property
    def tau2(self) -> Any:  # float, or Series
        """Variance of the quantity between parties."""
        return self._of("tau2")

    @property
    def Q(self) -> Any:  # float, or Series
        """Cochran's Q, chi-square with one degree of freedom less than parties if they do not differ."""
        return self._of("Q")

    def plot(self, ax: Any = None) -> Any:
        """Draw the forest plot: intervals of the parties, pooled and prediction interval; `.save("a.png")`.

        For picked or combined terms, the plot of an `Estimate`.  InferenceError I20 (no matplotlib), I05.
        """
        return super().plot(ax) if self.parties is None else forest_plot(self, self.parties, ax)

    def prediction(self, level: float = 0.95) -> Any:  # (float, float), or DataFrame
        """Return the prediction interval for a new party; InferenceError C16 (not available), I01 (level)."""
        made = self._whole()
        found = [made.prediction_of(t, check_level(level)) for t in range(len(self.terms))]
        if any(one is None for one in found):
            text = "a prediction takes random effects and three parties."
            raise InferenceError(text, code="C16", hint='combine(…, effects="random")', state=None)
        return self._labels.pairs(np.array(found, dtype=float))

    def _of(self, name: str) -> Any:
        made = self._whole()
        found = [made.effects_of(t) for t in range(len(self.terms))]
        return self._labels.numbers(
            np.array([np.nan if one is None else float(getattr(one, name)) for one in found]), name
        )

    def _whole(self) -> Combined:
        if self.parties is None or self.parties.is_total:
            text, hint = _NOT_WHOLE if self.parties is None else _TOTAL
            raise InferenceError(text, code="C16", hint=hint, state=None)
        return self.parties


def forest_plot(found: Combination, made: Combined, ax: Any = None, level: float = 0.95) -> Any:
    """Draw the forest plot, with heterogeneity in the caption; InferenceError I20 (no matplotlib), I05 (rows)."""
    from tacit.plots.canvas import Caption
    from tacit.plots.forest import ForestRow, forest

    z = NormalDist().inv_cdf(0.5 + level / 2)
    rows: list[ForestRow] = []
    for t in range(len(found.terms)):
        value, lower, upper, sampling = made.rows_of(t, level)
        # the inner interval, without noise: what each party's rows alone would leave open
        half = z * np.sqrt(sampling)
        known = found.reasons[t] is None
        rows.append(ForestRow(value, lower, upper, half, made.shares_of(t), made.prediction_of(t, level), known))
    said = [note for note in found.notes if "I²" in note]
    caption = Caption("\n".join([heading(found), *said]), pictures.axis_words(found), facts(made))
    return forest(pictures.shown(found, found.intervals(level), level), made.parties, rows, caption, ax)
