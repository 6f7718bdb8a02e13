"""The estimate of combined releases: like that of one, and how far the parties differ."""

from __future__ import annotations

from statistics import NormalDist
from typing import TYPE_CHECKING, Any, Protocol, cast, runtime_checkable

import numpy as np

from tacit.errors import InferenceError
from tacit.estimates import pictures
from tacit.estimates.display import facts, heading
from tacit.estimates.estimate import Estimate
from tacit.estimates.terms import check_level

if TYPE_CHECKING:
    from tacit.parties.combined import Combined
    from tacit.pooling.heterogeneity import PooledEffects


@runtime_checkable
class Differing(Protocol):
    """What knows how far its parties differ: `Combined`, which is what a whole `Combination` was made of."""

    def effects_of(self, t: int) -> PooledEffects | None:
        """How far parties differ in term t."""
        ...

    def prediction_of(self, t: int, level: float = 0.95) -> tuple[float, float] | None:
        """Where the quantity of one more party lies."""
        ...


class Combination(Estimate):
    """An estimate over parties: like that of one release, and how far the parties differ.

    With random effects the joint law of several terms is not known; contrasts of them have bounds as standard errors.
    """

    @property
    def parties(self) -> Combined | None:
        """What it was made of; None where terms were picked or combined."""
        whole = isinstance(self.release, Differing) and self.matrix is None
        return cast("Combined", self.release) if whole else None

    @property
    def I2(self) -> Any:  # float, or Series
        """Share of the variation between the parties' estimates that is no error of sampling or privacy."""
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
        """The forest plot: each party's interval, the pooled one, where one more party would lie; `.save("a.png")`.

        Of terms that were picked or combined the usual picture.  InferenceError I20 (no matplotlib), I05.
        """
        return super().plot(ax) if self.parties is None else _forest(self, self.parties, ax)

    def prediction(self, level: float = 0.95) -> Any:  # (float, float), or DataFrame
        """Where the quantity of one more party lies; InferenceError C16 where it cannot be said, I01 (level)."""
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
            text = "how far parties differ is said of means and variances, as they were combined."
            raise InferenceError(text, code="C16", hint="combine(releases).estimate()", state=None)
        return self.parties


def _forest(found: Combination, made: Combined, ax: Any, level: float = 0.95) -> Any:
    """What the forest plot draws: values of all parties, and how far they differ in words."""
    from tacit.plots.canvas import Caption
    from tacit.plots.forest import ForestRow, forest

    z = NormalDist().inv_cdf(0.5 + level / 2)
    rows: list[ForestRow] = []
    for t in range(len(found.terms)):
        value, lower, upper, sampling = made.rows_of(t, level)
        half = z * np.sqrt(sampling)
        rows.append(ForestRow(value, lower, upper, half, made.shares_of(t), made.prediction_of(t, level)))
    said = [note for note in found.notes if "I²" in note]
    caption = Caption("\n".join([heading(found), *said]), pictures.axis_words(found), facts(made))
    return forest(pictures.shown(found, found.intervals(level), level), made.parties, rows, caption, ax)
