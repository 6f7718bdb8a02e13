"""Synthetic rows from a law at released parameters, and sets from laws that the truth may have.  Post-processing.

The parameters that the truth may have are the estimates less errors drawn from the release's own law, of sampling and
of noise together (`bootstrap_draws`).  They are drawn in the coordinates in which the parameters are unbounded
(`models.boxes`; the errors carried over by the delta method), so that a scale stays positive.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from tacit.base.arrays import Array
from tacit.base.lazy_imports import pandas
from tacit.errors import InferenceError
from tacit.estimates.bootstraps.bootstrap_draws import Draws
from tacit.estimates.synthetic.drawn_frames import asked, made_sets, note_of_rows
from tacit.estimates.synthetic.random_numbers import check_number, generator
from tacit.estimates.synthetic.regressor_rows import frame_of, needed, numbers_of, repeated
from tacit.estimates.synthetic.reproduced_numbers import ReproducedNumbers, column_of
from tacit.estimates.synthetic.synthetic_sets import SyntheticSets
from tacit.estimates.terms import Target
from tacit.models import law_numbers, scores
from tacit.models.boxes import coordinates, parameters_at, slopes
from tacit.models.evaluate import log_densities
from tacit.models.likelihood import Likelihood

if TYPE_CHECKING:
    import pandas as pd  # pyright: ignore[reportMissingTypeStubs]

PROBS: Final = (0.05, 0.25, 0.5, 0.75, 0.95)
_AT: Final = np.array(PROBS)
DRAWS: Final = 60
"""Draws of the parameters, for standard errors of the law's own numbers."""
BOUNDS: Final = "values are the law's, also beyond the bounds of the schema"


@dataclass(frozen=True)
class LawRows:
    """A law at released parameters.

    columns: of a row, for a regression the response first.  draws: the parameters with their errors.
    """

    model: Likelihood
    columns: tuple[str, ...]
    draws: Draws

    def sample(self, n: int | None, regressors: Any, rng: Any) -> pd.DataFrame:
        """Return n rows at the estimates; InferenceError I61, I62, I63 (a reason), I90 (regressors)."""
        given = self._given(regressors)
        if n is None and given is not None:
            n = len(given)
        check_number(n)
        drawn = generator(rng)
        theta = self._estimates()
        made = self._frame(theta, int(n or 0), drawn, given)
        made.attrs["note"] = note_of_rows(self.draws.release, BOUNDS.capitalize() + ".")
        return made

    def synthetic_sets(self, sets: int, n: int | None, regressors: Any, target: Target, rng: Any) -> SyntheticSets:
        """Return sets of rows; InferenceError I09, I61, I62, I63 (a reason), I85, I90 (regressors)."""
        given = self._given(regressors)
        ask = asked(sets, n, target, rng, self.draws.release.rows or 0)
        theta = self._estimates()
        moved = self.possible(ask.sets, ask.rng)
        parts = ", ".join(self.model.names)
        kept = f"synthetic sets keep the law of {', '.join(self.columns)} ({parts}), and nothing else"
        return made_sets(
            self.draws.release,
            ask,
            lambda _, rows, own: self._frame(theta, rows, own, given),
            lambda place, rows, own: self._frame(moved[place], rows, own, given),
            reason=None,
            notes=(kept, BOUNDS),
        )

    def possible(self, many: int, rng: np.random.Generator) -> Array:
        """Return parameters that the truth may have, inside their boxes, shape (many, p)."""
        here, boxes = self._estimates(), self.model.parameters
        chunks = self.draws.moved(np.ones((1, len(here))), many, rng, False)
        off = np.concatenate([one[0] for one in chunks]) - self.draws.values
        # delta method: an error of a parameter is that error over its slope in the coordinate
        at = coordinates(boxes, here) + off / slopes(boxes, here)
        found = parameters_at(boxes, np.clip(at, -700, 700) if not self._plain else at)
        return np.stack([scores.inner(self.model, one) for one in found])

    def utility(self, rows: Any) -> ReproducedNumbers:
        """Return numbers of the law beside those of rows; InferenceError I63, I87 (rows), I90 (several columns)."""
        column, *others = self.columns
        if others:
            text = f"a law of {len(self.columns)} columns has no numbers to compare."
            raise InferenceError(text, code="I90", hint="refit it on the rows, with sets.analyse(…)", state=None)
        x = column_of(rows, column)
        theta = self._estimates()
        quantiles = tuple(f"quantile {p:g}" for p in PROBS)
        names = ("mean", "sd") if self._counts else ("mean", "sd", *quantiles)
        released = self._numbers(theta)
        varied = np.stack([self._numbers(one) for one in self.possible(DRAWS, np.random.default_rng(0))])
        found = np.append([x.mean(), x.std(ddof=1)], [] if self._counts else np.quantile(x, PROBS))
        errors = varied.std(axis=0, ddof=1)
        return ReproducedNumbers(
            self.draws.release, len(x), names, released, found, self._drawing(theta, released, len(x)), errors
        )

    # Parts ---------------------------------------------------------------------------------------------------------

    @property
    def _plain(self) -> bool:
        return all(one.link == "identity" for one in self.model.parameters)

    @property
    def _counts(self) -> bool:
        return self.model.support == "count"

    def _estimates(self) -> Array:
        """Return the estimates, a little inside their boxes; InferenceError I63 where a release has a reason."""
        why = next((one for one in self.draws.reasons if one), None)
        if why is not None:
            text = f"nothing to draw from: {why}."
            raise InferenceError(text, code="I63", hint="a higher price in a new release", state=None)
        return scores.inner(self.model, self.draws.values)

    def _given(self, regressors: Any) -> pd.DataFrame | None:
        if not self.model.is_regression:
            if regressors is not None:
                text = "regressors= of a law without any."
                raise InferenceError(text, code="I90", hint="sample(10_000)", state=None)
            return None
        return frame_of(needed(regressors, self.columns[1:]), self.columns[1:])

    def _frame(self, theta: Array, n: int, rng: np.random.Generator, given: pd.DataFrame | None) -> pd.DataFrame:
        """Return n rows of the law, of regressors repeated as often as needed."""
        if given is None:
            found = self.model.sample(theta, n, rng)
            found = found.astype(np.int64) if self._counts else found
            return pandas().DataFrame(found.reshape(n, -1), columns=list(self.columns))
        made = repeated(given, n)[list(self.columns[1:])]
        response = self.model.sample(theta, n, rng, numbers_of(made))
        made.insert(0, self.columns[0], response if response.ndim == 1 else response[:, 0])
        return made

    def _numbers(self, theta: Array) -> Array:
        points, weights = law_numbers.points_of(self.model, theta)
        mean = float(points @ weights)
        made = [mean, float(np.sqrt(max((points - mean) ** 2 @ weights, 0.0)))]
        return np.array(made) if self._counts else np.append(made, law_numbers.quantiles(self.model, theta, _AT))

    def _drawing(self, theta: Array, released: Array, n: int) -> Array:
        """Return standard errors of the numbers that so many rows from the law itself have."""
        points, weights = law_numbers.points_of(self.model, theta)
        mean, sd = released[:2]
        fourth = float((points - mean) ** 4 @ weights)
        # of a standard deviation: sqrt(m4 - s**4) / (2 s sqrt(n))
        own = [sd / np.sqrt(n), np.sqrt(max(fourth - sd**4, 0.0) / n) / max(2 * sd, 1e-300)]
        if self._counts:
            return np.array(own)
        density = np.exp(log_densities(self.model, released[2:], theta))
        return np.append(own, np.sqrt(_AT * (1 - _AT) / n) / np.maximum(density, 1e-300))
