"""The result of a study of coverage: for each term its coverage, bias and width, with Monte-Carlo errors."""

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
    std_deviation: standard deviation of the estimates; std_error: mean of the reported standard errors.
    coverage: fraction of the intervals that contain the truth; coverage_error: its Monte-Carlo standard error.
    width: mean width; width_without: mean width of the same estimator's intervals without noise.
    unclear: fraction of the estimates that have a reason why they are not reliable.

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
        """Return a table with one row a term."""
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
        """Return the mean reported standard error over the standard deviation of the estimates; shape (terms,)."""
        return self.std_error / np.maximum(self.std_deviation, 1e-300)

    @property
    def relative_width(self) -> Array:
        """Return the mean width over the mean width of the intervals without noise; shape (terms,)."""
        return self.width / np.maximum(self.width_without, 1e-300)


def truth_of(truth: Truth, terms: tuple[str, ...]) -> Array:
    """Return true values in the order of terms; InferenceError I10 unless there is one for each term."""
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
    """Return InferenceError I10, for a study that makes no sense."""
    return InferenceError(text, code="I10", hint=hint, state=None)
