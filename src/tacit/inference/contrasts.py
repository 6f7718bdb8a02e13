"""Combinations of terms and tests on them: contrasts, pairs, standardised values, differences of two estimates."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from statistics import NormalDist
from typing import TYPE_CHECKING, Any, Final, cast

import numpy as np

from tacit.errors import InferenceError, nearest
from tacit.inference import laws
from tacit.inference.estimate import Estimate, combine, position
from tacit.inference.laws import Array
from tacit.inference.terms import check_level

if TYPE_CHECKING:
    import pandas as pd  # pyright: ignore[reportMissingTypeStubs]

    from tacit.tables import Table

MOST: Final = 150
"""Terms whose pairs are still listed (11,175 of them)."""


@dataclass(frozen=True)
class Test:
    """Result of a test of linear constraints.

    estimate, null: left-hand sides and what they should be; p_value; statistic: estimate over standard error, or Wald's
    chi-square with `df` degrees of freedom; method: the law used, in words.

    >>> Test("f = m", 1.2, 1, 0.23, "normal law of the total error, two-sided").summary().rows
    (('f = m', '1.200', '1', '0.230'),)
    """

    __test__ = False  # not a test case

    constraints: str
    statistic: float
    df: int
    p_value: float
    method: str

    def summary(self) -> Table:
        """One row: statistic, degrees of freedom, p-value."""
        from tacit.inference.display import test_table

        return test_table(self)

    def __str__(self) -> str:
        return str(self.summary())

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return self.summary().to_html()


@dataclass(frozen=True)
class Pairwise:
    """All differences of two terms.  `estimate` holds them; p-values and intervals are adjusted for their number.

    Intervals are Bonferroni's for "holm" too, since Holm's method has none of its own; "simultaneous" ones are value -+
    q SE, q a point of the law of the largest |error| / SE (`maximum`: sorted draws of it).
    Source: [Holm 1979]; the law of each difference is that of theory §1.5.

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
            above = len(self.maximum) - np.searchsorted(self.maximum, t)
            return np.maximum((1 + above) / (1 + len(self.maximum)), np.array(self.p_values_raw))
        return adjusted(np.array(self.p_values_raw), self.adjust)

    def intervals(self, level: float = 0.95) -> Array:
        """Simultaneous lower and upper limits (one at a time for adjust=None), shape (pairs, 2).

        InferenceError I01 for a level below 0.5, or 1 and above, here and in what follows from it.
        """
        level = check_level(level)
        if self.maximum is not None:
            half = np.quantile(self.maximum, level) * self.estimate.std_errors
            return np.stack([self.estimate.values - half, self.estimate.values + half], axis=-1)
        count = len(self.estimate.terms) if self.adjust else 1
        return self.estimate.intervals(1 - (1 - level) / count)

    def quantile(self, level: float = 0.95) -> float:
        """Standard errors on either side that an interval takes where the error is normal; InferenceError I01."""
        level = check_level(level)
        if self.maximum is not None:
            return float(np.quantile(self.maximum, level))
        count = len(self.estimate.terms) if self.adjust else 1
        return NormalDist().inv_cdf(1 - (1 - level) / count / 2)

    def words(self) -> str:
        """How p-values and intervals are adjusted."""
        if self.maximum is not None:
            return "p-values and intervals by the law of the largest |error| / standard error"
        return f"p-values adjusted by {self.adjust}, intervals by Bonferroni" if self.adjust else "no adjustment"

    def conf_int(self, level: float = 0.95) -> pd.DataFrame:
        """The same as a DataFrame indexed by pair; InferenceError I01."""
        import pandas as pd  # pyright: ignore[reportMissingTypeStubs]

        return pd.DataFrame(self.intervals(level), index=self.estimate.terms, columns=["lower", "upper"])

    def to_frame(self, level: float = 0.95) -> pd.DataFrame:
        """difference, std_error, lower, upper, p_value: a DataFrame indexed by pair; InferenceError I01."""
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
        """Differences with intervals and p-values, as a table; InferenceError I01."""
        from tacit.inference.display import pairwise_table

        return pairwise_table(self, level)

    def plot(self, ax: Any = None) -> Any:
        """Differences with their intervals and a line at 0; needs matplotlib (InferenceError I20)."""
        from tacit.plots import pairwise

        return pairwise(self, ax=ax)

    def __str__(self) -> str:
        return str(self.summary())

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return self.summary().to_html()


def constraints_matrix(estimate: Estimate, text: str) -> tuple[Array, Array]:
    """Constraints in formulaic's grammar -> (matrix, right-hand sides), shapes (c, terms) and (c,)."""
    from formulaic.utils.constraints import LinearConstraints  # pyright: ignore[reportMissingTypeStubs]

    try:
        found = cast(Any, LinearConstraints).from_spec(text, variable_names=list(estimate.terms))
        matrix = np.asarray(found.constraint_matrix, dtype=np.float64)
        values = np.asarray(found.constraint_values, dtype=np.float64)
    except KeyError as problem:
        unknown = str(problem.args[0]) if problem.args else text
        guess = nearest(unknown, list(estimate.terms))
        hint = f"`{guess}`, in backticks" if guess else "one of " + ", ".join(f"`{t}`" for t in estimate.terms[:6])
        raise InferenceError(f"no term is called {unknown!r}.", code="I02", hint=hint, state=None) from None
    except Exception:  # the parser has errors of many kinds
        raise _malformed(text, estimate) from None
    if matrix.ndim != 2 or not matrix.size or not np.isfinite(matrix).all() or not matrix.any(axis=1).all():
        raise _malformed(text, estimate)
    return matrix, values


def _malformed(text: str, estimate: Estimate) -> InferenceError:
    example = " - ".join(f"`{term}`" for term in estimate.terms[:2])
    message = f"{text!r} is no linear combination of terms."
    return InferenceError(message, code="I03", hint=f'"{example} = 0", labels in backticks', state=None)


def test(estimate: Estimate, constraints: str) -> Test:
    """See `Estimate.test`."""
    matrix, null = constraints_matrix(estimate, constraints)
    made = combine(estimate, matrix, tuple(f"c{i}" for i in range(len(matrix))), "constraint")
    off = made.values - null
    if len(matrix) == 1:
        s, b = made.law(0)
        p = float(2 * laws.tail(np.abs(off), s, b)[0])
        sd = float(made.std_errors[0])
        statistic = float(off[0]) / sd if sd > 0 else math.copysign(math.inf, off[0]) if off[0] else 0.0
        return Test(constraints, statistic, 1, p, f"{law_words(made)} law of the total error, two-sided")
    covariance = made.sampling_matrix() + made.privacy_matrix()
    rank = int(np.linalg.matrix_rank(covariance))
    if rank < len(matrix):
        text = f"the {len(matrix)} constraints are not independent (rank {rank})."
        raise InferenceError(text, code="I03", hint="leave out those that follow from the others", state=None)
    from scipy import stats  # pyright: ignore[reportMissingTypeStubs]

    chi2 = float(off @ np.linalg.solve(covariance, off))
    p = float(cast(Any, stats).chi2.sf(chi2, rank))
    return Test(constraints, chi2, rank, p, "Wald, chi-square with the total covariance (asymptotic)")


def law_words(estimate: Estimate) -> str:
    """Name of the law of the total error."""
    noisy = any(not laws.is_gaussian(block.law) for block in estimate.blocks)
    return "normal + Laplace" if noisy else "normal"


def contrast(estimate: Estimate, expression: str) -> Estimate:
    """See `Estimate.contrast`."""
    matrix, null = constraints_matrix(estimate, expression)
    if len(matrix) != 1 or null.any():
        message = f"{expression!r} is not one linear combination without a right-hand side."
        raise InferenceError(message, code="I03", hint='contrast("`a` - `b`"); test("`a` = `b`")', state=None)
    return combine(estimate, matrix, (expression,), f"{expression}, {estimate.estimand}", _joint(estimate))


def _joint(estimate: Estimate) -> str:
    columns = {block.label for block in estimate.used()}
    if any(block.shared for block in estimate.used()):
        return "weighted persons may be in several groups: sampling standard errors are added, an upper bound"
    if len(columns) < 2:
        return "one joint release: the covariance is known"
    return "columns of the same people: their sampling standard errors are added, an upper bound"


def pairwise(estimate: Estimate, adjust: str | None) -> Pairwise:
    """See `Estimate.pairwise`."""
    if adjust not in ("holm", "bonferroni", "simultaneous", None):
        text = f"adjust={adjust!r} is not known."
        raise InferenceError(text, code="I08", hint='"holm", "bonferroni", "simultaneous" or None', state=None)
    p = len(estimate.terms)
    if not 2 <= p <= MOST:
        text = f"pairs need 2 to {MOST} terms; there {'is one' if p == 1 else f'are {p:,}'}."
        raise InferenceError(text, code="I05", hint="estimate[[…]].pairwise()", state=None)
    pairs = list(itertools.combinations(range(p), 2))
    weights = np.zeros((len(pairs), p))
    for row, (i, j) in enumerate(pairs):
        weights[row, i], weights[row, j] = 1.0, -1.0
    terms = tuple(f"{estimate.terms[i]} - {estimate.terms[j]}" for i, j in pairs)
    made = combine(estimate, weights, terms, f"differences, {estimate.estimand}", _joint(estimate))
    values = made.values
    raw = [float(2 * laws.tail(np.abs(values[i]), *made.law(i))) for i in range(len(pairs))]
    maximum = None
    if adjust == "simultaneous":
        from tacit.inference.comparisons import studentised_maximum

        maximum = studentised_maximum(estimate, made)
    return Pairwise(made, adjust, tuple(raw), maximum)


def adjusted(p: Array, adjust: str | None) -> Array:
    """p-values adjusted for their number: Holm's step-down, Bonferroni, or as they are.

    >>> [round(float(x), 3) for x in adjusted(np.array([0.01, 0.04, 0.03]), "holm")]
    [0.03, 0.06, 0.06]
    """
    if adjust is None:
        return p
    if adjust == "bonferroni":
        return np.minimum(p * len(p), 1.0)
    order = np.argsort(p)
    stepped = np.maximum.accumulate(p[order] * np.arange(len(p), 0, -1))
    out = np.empty_like(p)
    out[order] = np.minimum(stepped, 1.0)
    return out


def standardize(estimate: Estimate, weights: Mapping[str, float]) -> Estimate:
    """See `Estimate.standardize`."""
    row = np.zeros((1, len(estimate.terms)))
    for term, weight in weights.items():
        if isinstance(weight, bool) or not isinstance(weight, int | float) or not math.isfinite(weight) or weight < 0:  # pyright: ignore[reportUnnecessaryIsInstance]
            text = f"weight {weight!r} of {term!r} is not a number of 0 or more."
            raise InferenceError(text, code="I06", hint='{"north": 0.4, "south": 0.6}', state=None)
        row[0, position(estimate, term)] = float(weight)
    total = math.fsum(row[0])
    if abs(total - 1) > 1e-9:
        text = f"the weights add up to {total:.6g}, not 1."
        raise InferenceError(text, code="I06", hint="divide each by their sum", state=None)
    words = f"{estimate.estimand}, standardised to given weights"
    return combine(estimate, row, ("standardized",), words, "weights are taken as known")


def select(estimate: Estimate, term: str | list[str]) -> Estimate:
    """Terms by label, or all terms of one column of several by its name; exact intervals are kept."""
    if isinstance(term, str) and term not in estimate.terms and term in _columns(estimate):
        return _column(estimate, term)
    asked = [term] if isinstance(term, str) else list(term)
    index = [position(estimate, name) for name in asked]
    made = combine(estimate, np.eye(len(estimate.terms))[index], tuple(asked), estimate.estimand)
    return replace(made, term_title=estimate.term_title)


def _columns(estimate: Estimate) -> list[str]:
    return [] if estimate.matrix is not None else [b.label for b in estimate.blocks for _ in range(len(b.value))]


def _column(estimate: Estimate, label: str) -> Estimate:
    """One column of several, its terms named by their cells alone."""
    from tacit.inference.moments import estimand
    from tacit.release import cell_labels

    index = [i for i, name in enumerate(_columns(estimate)) if name == label]
    words = estimand(estimate.release, estimate.target, label)
    made = combine(estimate, np.eye(len(estimate.terms))[index], cell_labels(estimate.release.levels), words)
    return replace(made, term_title=estimate.term_title)
