"""The estimate of combined releases: like that of one, and how far the parties differ."""

from __future__ import annotations

from typing import Any

import numpy as np

from tacit.errors import InferenceError
from tacit.inference.estimate import Estimate
from tacit.inference.terms import check_level
from tacit.parties.combined import Combined


class Combination(Estimate):
    """An estimate over parties: like that of one release, and how far the parties differ.

    With random effects the joint law of several terms is not known; contrasts of them have bounds as standard errors.
    """

    @property
    def parties(self) -> Combined | None:
        """What it was made of; None where terms were picked or combined."""
        return self.release if isinstance(self.release, Combined) and self.matrix is None else None

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
