"""What a study of coverage gives: one number a term, and how exactly each is known."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from tacit.base.arrays import Array
from tacit.base.table import Table, format_number, shown_by_summary
from tacit.errors import InferenceError
from tacit.estimates.display import decimals

Generator: TypeAlias = Callable[[np.random.Generator], Mapping[str, Any]]
Truth: TypeAlias = float | Sequence[float] | Mapping[str, float]


@shown_by_summary
@dataclass(frozen=True, repr=False)
class Coverage:
    """Result of `coverage`; arrays have one entry a term.

    bias: mean of the estimates minus the truth, with Monte-Carlo standard error `bias_error`.
    std_deviation: of the estimates; std_error: mean of the reported ones.
    coverage: part of the intervals that hold the truth; coverage_error: its Monte-Carlo standard error.
    width: mean width; width_without: of the same estimator's intervals without noise; unclear: part without an answer.

    >>> one = np.array([0.5])
    >>> Coverage("made up", 0.95, 100, ("age",), one, one, one, 2 * one, one, one, one, 3 * one, one, one).ratio
    array([0.5])
    """

    title: str
    level: float
    repeats: int
    terms: tuple[str, ...]
    truth: Array
    bias: Array
    bias_error: Array
    std_deviation: Array
    std_error: Array
    coverage: Array
    coverage_error: Array
    width: Array
    width_without: Array
    unclear: Array

    def summary(self) -> Table:
        """One row a term."""
        digits = decimals(self.std_deviation)

        rows = tuple(
            (
                term,
                format_number(float(self.truth[i]), decimals=digits),
                f"{self.bias[i]:.3g} ± {2 * self.bias_error[i]:.2g}",
                f"{self.ratio[i]:.3f}",
                f"{100 * self.coverage[i]:.1f} ± {200 * self.coverage_error[i]:.1f} %",
                f"{self.relative_width[i]:.3f}",
            )
            for i, term in enumerate(self.terms)
        )
        columns = ("", "truth", "bias", "SE / SD", f"coverage of {100 * self.level:.10g}%", "width, no noise = 1")
        return Table(
            title=f"{self.title}, {self.repeats:,} simulated tables",
            columns=columns,
            rows=rows,
            notes=("± is twice the Monte-Carlo error; both errors are in the coverage",),
            align=("left", "right", "right", "right", "right", "right"),
        )

    @property
    def ratio(self) -> Array:
        """Mean reported standard error over the standard deviation of the estimates."""
        return self.std_error / np.maximum(self.std_deviation, 1e-300)

    @property
    def relative_width(self) -> Array:
        """Mean width over that of the intervals without noise."""
        return self.width / np.maximum(self.width_without, 1e-300)


def truth_of(truth: Truth, terms: tuple[str, ...]) -> Array:
    """True values in the order of terms; InferenceError I10."""
    if isinstance(truth, Mapping):
        missing = [term for term in terms if term not in truth]
        if missing:
            raise impossible(f"no truth is given for {missing[0]!r}.", "truth={term: number, …}")
        return np.array([float(truth[term]) for term in terms])
    true = np.atleast_1d(np.asarray(truth, dtype=np.float64))
    if true.shape != (len(terms),):
        text = f"{true.size} true values for {len(terms)} terms ({', '.join(terms[:6])})."
        raise impossible(text, "one number a term, or a mapping")
    return true


def impossible(text: str, hint: str) -> InferenceError:
    """InferenceError I10: a study that makes no sense."""
    return InferenceError(text, code="I10", hint=hint, state=None)
