"""Terms: the estimates of one released column as arrays, and the checks of levels, targets and labels."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np

from tacit.base.arrays import Array
from tacit.errors import InferenceError, nearest
from tacit.estimates.interval_inversion import (
    Inversion,
)
from tacit.noise.laws import Law

Target: TypeAlias = Literal["population", "table"]


@dataclass(frozen=True)
class ColumnTerms:
    """Estimates of one released column, in its own units.

    value, variance (of sampling): shape (m,).  pull: shape (m,), the sampling covariance of two terms a, b of the block
    is (a == b) variance - pull_a pull_b (only cells of one table of public size pull on each other).
    loadings: shape (m, k), how each term reacts to its own k noises, all independent, of one `law`.
    reasons: why a term says nothing, in words, or None.
    people, source: whose data, and which release: what decides about sampling and noise shared with other blocks.
    shared: whether one person may be in several cells with weights of her own: their covariance is then not known.
    joint: of parameters that were fitted together, the sampling covariance of the terms, shape (m, m); they also share
    their k noises, which `loadings` then refers to.
    """

    label: str
    value: Array
    variance: Array
    pull: Array
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
        return np.maximum(self.variance - self.pull**2, 0.0)


def check_level(level: float) -> float:
    """A level in [0.5, 1), or InferenceError I01: below one half an interval misses more often than it covers."""
    if isinstance(level, bool) or not isinstance(level, int | float) or not 0.5 <= level < 1:  # pyright: ignore[reportUnnecessaryIsInstance]
        text = f"level {level!r} of an interval is not at least 0.5 and below 1."
        raise InferenceError(text, code="I01", hint="conf_int(0.95)", state=None)
    return float(level)


def check_target(target: str, said: str = "the table is all there is") -> None:
    """InferenceError I09 for what is no target; `said`: what "table" means, for the hint."""
    if target not in ("population", "table"):
        text = f"target {target!r} is neither 'population' nor 'table'."
        raise InferenceError(text, code="I09", hint=f'target="table": {said}', state=None)


def place_of(terms: tuple[str, ...], term: str) -> int:
    """Index of a term; InferenceError I02 with the nearest one."""
    if term in terms:
        return terms.index(term)
    guess = nearest(str(term), list(terms))
    known = ", ".join(terms[:8]) + (", …" if len(terms) > 8 else "")
    raise InferenceError(f"no term is called {term!r}.", code="I02", hint=guess or f"one of {known}", state=None)
