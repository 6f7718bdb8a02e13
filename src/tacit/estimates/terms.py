"""Terms: the estimates of one released column as arrays, and the checks of levels, targets and labels."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Final, Literal, TypeAlias

import numpy as np

from tacit.base.arguments import described, kind_of
from tacit.base.arrays import Array
from tacit.errors import InferenceError, nearest
from tacit.estimates.noisy_terms.interval_inversion import Inversion, of_sums
from tacit.noise.laws import Law

Target: TypeAlias = Literal["population", "table"]
KEPT: Final = 24
"""Levels of which the limits of a column's terms are kept: those of ratios, with some of their p-values."""


@dataclass(frozen=True)
class ColumnTerms:
    """Estimates of one released column, in its own units: m terms, each reacting to k noises.

    value: point estimates, shape (m,).
    variance, rank_one: shape (m,); the sampling covariance is diag(variance) - outer(rank_one, rank_one).  rank_one is
    0 but for cells of a table whose number of rows is public: a row in one cell is in no other.
    loadings: shape (m, k), the derivatives of each term in its own k noises, uncorrelated and of one `law`.
    reasons: why a term has no usable estimate, in words, or None.
    people, source: the population and the release; terms of the same people share sampling error, those of the same
    release share noise.
    shared: whether one person may be in several cells with a different weight in each; covariances are then not known.
    joint: the sampling covariance, shape (m, m), of parameters that were fitted together.  Their loadings then refer to
    the same k noises.
    """

    label: str
    value: Array
    variance: Array
    rank_one: Array
    loadings: Array
    law: Law
    inversion: Inversion
    reasons: tuple[str | None, ...]
    people: str = ""
    source: str = ""
    shared: bool = False
    joint: Array | None = None

    @property
    def privacy_variance(self) -> Array:
        """Variance due to the noise, shape (m,)."""
        return (self.loadings**2).sum(axis=-1) * self.law.variance()

    @property
    def sampling_variance(self) -> Array:
        """Variance due to sampling, shape (m,); zero where the table is the population."""
        return np.maximum(self.variance - self.rank_one**2, 0.0)

    def limits(self, level: float) -> tuple[Array, Array]:
        """Lower and upper limits of all terms, shape (m,) each, not to be written to; kept for other combinations.

        Each of many differences or ratios asks for the same few levels, and an inversion is what they cost.
        """
        known = self._known
        # taken out and put back, so that the first is the one that was not asked for longest
        found = known.pop(level, None)
        if found is None:
            low, high = (end.copy() for end in self.inversion.interval(level))
            low.flags.writeable = high.flags.writeable = False
            found = low, high
            while len(known) >= KEPT:
                known.pop(next(iter(known)), None)
        known[level] = found
        return found

    @cached_property
    def summed(self) -> ColumnTerms:
        """The same terms with the limits by which they reach within sums (`of_sums`)."""
        inversion = of_sums(self.inversion)
        return self if inversion is self.inversion else replace(self, inversion=inversion)

    @cached_property
    def _known(self) -> dict[float, tuple[Array, Array]]:
        """Limits by level."""
        return {}


def check_level(level: float) -> float:
    """Return a level in [0.5, 1), else raise InferenceError I01: below 0.5 an interval misses more than it covers."""
    if isinstance(level, bool) or not isinstance(level, int | float) or not 0.5 <= level < 1:  # pyright: ignore[reportUnnecessaryIsInstance]
        text = f"level {described(level)} of an interval is not at least 0.5 and below 1."
        raise InferenceError(text, code="I01", hint="conf_int(0.95)", state=None)
    return float(level)


def check_target(target: str, said: str = "the table is all there is") -> None:
    """Raise InferenceError I09 for an unknown target; `said` explains "table" in the hint."""
    if not isinstance(target, str) or target not in ("population", "table"):  # pyright: ignore[reportUnnecessaryIsInstance]
        text = f"target {described(target)} is neither 'population' nor 'table'."
        raise InferenceError(text, code="I09", hint=f'target="table": {said}', state=None)


MOST_PLACES: Final = 1_000
"""Most values of an estimate that names them: all pairs have a covariance."""


def numbers_of(at: object, hint: str) -> Array:
    """Return places as numbers, of the same shape; days, as dates or ISO 8601, as days since 1970-01-01.

    InferenceError I05 for what is neither.

    >>> numbers_of([30, 50.5], "").tolist(), numbers_of(["1970-01-03"], "").tolist()
    ([30.0, 50.5], [2.0])
    """
    found = np.asarray(at)
    if found.dtype.kind != "M":  # NumPy would take nanoseconds for numbers
        with suppress(TypeError, ValueError):
            return np.asarray(at, dtype=np.float64)
    try:
        days = np.asarray(at, dtype="datetime64[D]")
    except (TypeError, ValueError):
        text = f"{described(at)} is neither a number nor a date."
        raise InferenceError(text, code="I05", hint=hint, state=None) from None
    return np.where(np.isnat(days), np.nan, days.astype(np.float64))


def given_places(at: object, hint: str) -> Array:
    """Return the values at which a function is asked for, shape (m,); InferenceError I05 for none, or too many.

    >>> given_places([30, 50], "cdf([0.2, 0.5])").tolist()
    [30.0, 50.0]
    """
    given = numbers_of(at, hint).reshape(-1)
    if not 1 <= len(given) <= MOST_PLACES or not np.isfinite(given).all():
        text = f"{len(given):,} values: 1 to {MOST_PLACES:,} numbers."
        raise InferenceError(text, code="I05", hint=hint, state=None)
    return given


def place_of(terms: tuple[str, ...], term: str) -> int:
    """Return the index of a term; InferenceError I02, which suggests the nearest one, where it is unknown."""
    if isinstance(term, str) and term in terms:  # pyright: ignore[reportUnnecessaryIsInstance]
        return terms.index(term)
    guess = nearest(term, list(terms)) if isinstance(term, str) else None  # pyright: ignore[reportUnnecessaryIsInstance]
    known = ", ".join(terms[:8]) + (", …" if len(terms) > 8 else "")
    named = described(term) if isinstance(term, str) else kind_of(term)  # pyright: ignore[reportUnnecessaryIsInstance]
    text = f"no term is called {named}."
    with suppress(ValueError):  # a whole number of thousands of digits has no text
        if not isinstance(term, str) and str(term) in terms:  # pyright: ignore[reportUnnecessaryIsInstance]
            guess = f'["{term}"]'
    raise InferenceError(text, code="I02", hint=guess or f"one of {known}", state=None)
