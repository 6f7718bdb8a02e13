"""Estimates with a known covariance and nearly normal total error: coefficients, predictions, effects.

Each estimate is, up to small terms, a sum over many cells or blocks with many independent noises, so that sampling and
privacy error together are nearly normal (theory §7).  `Estimate` treats sums of few noises, with their exact laws.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from tacit.base.arguments import described
from tacit.base.arrays import Array
from tacit.base.lazy_imports import special
from tacit.base.table import Table, shown_by_summary
from tacit.errors import InferenceError
from tacit.estimates import display, pictures
from tacit.estimates.bootstraps import parametric_bootstrap
from tacit.estimates.bootstraps.bootstrap_draws import of_normal
from tacit.estimates.labelled import Labels
from tacit.estimates.terms import Target, check_level, place_of
from tacit.estimates.total_errors.noisy_covariance import NoisyCovariance
from tacit.estimates.total_errors.simultaneous import simultaneous_factor
from tacit.estimates.total_errors.uncertain_variances import UncertainVariances
from tacit.estimates.verbs.constraints import matrix_of
from tacit.estimates.verbs.contrasts import Test
from tacit.privacy import Cost
from tacit.release.document import Released

if TYPE_CHECKING:
    import pandas as pd  # pyright: ignore[reportMissingTypeStubs]

    from tacit.estimates.bootstraps.parametric_bootstrap import ParametricBootstrap, Way


@dataclass(frozen=True)
class Scale:
    """A scale on which intervals are symmetric.

    values, errors: estimates and standard errors on it, shape (m,).  back: the increasing map to the original scale.
    """

    values: Array
    errors: Array
    back: Callable[[Array], Array]


@shown_by_summary
@dataclass(frozen=True, repr=False)
class NormalEstimate:
    """Labelled estimates with sampling and privacy covariances.

    terms, values: m labels and estimates, NaN where there is none.  sampling, privacy: covariances, shape (m, m); the
    total covariance is their sum.  reasons: why a term has no valid standard error, or None; such a term's interval is
    the whole line.  title, estimand: a heading, and what is estimated.  tested: whether z and p-values against 0 are
    shown.  release: the release they were computed from, at no further cost.  scale: see `Scale`; None: untransformed.
    target: "population", or "table": what `sampling` then holds is no sampling error, but whatever else is no noise.
    uncertain: what the total variances may be, where they are estimated from few numbers: intervals and p-values allow
    for it, and are never narrower than those of the normal law.  None: variances are as good as known.
    noisy: the total covariance without any allowance for its noise, and the law of that: for tests of several terms.
    within: numbers that what is estimated lies between for certain, as the mean of a positive law: limits end there.

    One term gives floats and a pair; several give pandas Series and DataFrames indexed by term.

    >>> import tacit as tc
    >>> schema = tc.Schema({"age": tc.Real(18, 93), "sex": tc.Category(["f", "m"])})
    >>> people = {"age": list(range(18, 94)) * 20, "sex": ["f", "m"] * 760}
    >>> curator = tc.Curator(people, schema, budget=tc.Budget(rho=1))
    >>> cells = curator.release(tc.Histogram(["age", "sex"], bins={"age": 10}), rho=0.5)
    >>> slopes = cells.fit("age ~ sex").coefficients
    >>> slopes.terms, slopes.contrast("Intercept + `sex[T.m]`").std_error > 0
    (('Intercept', 'sex[T.m]'), True)
    """

    release: Released
    title: str
    estimand: str
    terms: tuple[str, ...]
    values: Array
    sampling: Array
    privacy: Array
    reasons: tuple[str | None, ...]
    notes: tuple[str, ...] = ()
    scale: Scale | None = None
    term_title: str = ""
    tested: bool = True
    target: Target = "population"
    uncertain: UncertainVariances | None = None
    noisy: NoisyCovariance | None = None
    within: tuple[float, float] | None = None

    # Numbers -------------------------------------------------------------------------------------------------------

    @property
    def sampling_variances(self) -> Array:
        """Variance due to sampling, shape (m,)."""
        return np.maximum(np.diag(self.sampling), 0.0)

    @property
    def privacy_variances(self) -> Array:
        """Variance due to the noise, shape (m,)."""
        return np.maximum(np.diag(self.privacy), 0.0)

    @property
    def std_errors(self) -> Array:
        """Standard errors, sampling and privacy together, shape (m,)."""
        return np.sqrt(self.sampling_variances + self.privacy_variances)

    @property
    def privacy_shares(self) -> Array:
        """Part of the total variance that is due to privacy, between 0 and 1, shape (m,)."""
        total = self.sampling_variances + self.privacy_variances
        return np.divide(self.privacy_variances, total, out=np.zeros_like(total), where=total > 0)

    @property
    def statistics(self) -> Array:
        """Values over standard errors, shape (m,); NaN where there is a reason."""
        known = np.array([reason is None for reason in self.reasons])
        out = np.full(len(self.terms), np.nan)
        return np.divide(self.values, self.std_errors, out=out, where=known & (self.std_errors > 0))

    @property
    def p_values(self) -> Array:
        """Two-sided p-values of the hypothesis that the term is 0, shape (m,); NaN where there is a reason."""
        normal = np.asarray(2 * special().ndtr(-np.abs(self.statistics)))
        # NaN stays NaN
        return normal if self.uncertain is None else np.maximum(normal, self.uncertain.tails(self.values))

    def intervals(self, level: float = 0.95, *, simultaneous: bool = False) -> Array:
        """Return limits, shape (m, 2); all that is possible where there is a reason; InferenceError I01, I08.

        simultaneous: limits that hold for all terms at once (those without a reason), from their joint normal law.
        """
        known = [reason is None for reason in self.reasons]
        z = float(special().ndtri(0.5 + check_level(level) / 2))
        if not isinstance(simultaneous, bool):  # pyright: ignore[reportUnnecessaryIsInstance]
            text = f"simultaneous is {described(simultaneous)}: neither True nor False."
            raise InferenceError(text, code="I08", hint="simultaneous=True", state=None)
        if simultaneous:
            z = simultaneous_factor((self.sampling + self.privacy)[np.ix_(known, known)], level)
        middle, error = (self.values, self.std_errors) if self.scale is None else (self.scale.values, self.scale.errors)
        half = z * error
        if self.uncertain is not None and self.scale is None:
            half = np.maximum(half, self.uncertain.half_widths(2 * float(special().ndtr(z)) - 1))
        out = np.stack([middle - half, middle + half], axis=-1)
        out = out if self.scale is None else self.scale.back(out)
        # without a valid standard error any value is possible
        out[[not one for one in known]] = (-np.inf, np.inf)
        return out if self.within is None else np.clip(out, *self.within)

    # Labelled ------------------------------------------------------------------------------------------------------

    @property
    def value(self) -> Any:  # float, or Series
        """Point estimates: a float for one term, else a Series."""
        return self._labels.numbers(self.values, "estimate")

    @property
    def std_error(self) -> Any:  # float, or Series
        """Standard errors, sampling and privacy together: a float for one term, else a Series."""
        return self._labels.numbers(self.std_errors, "std_error")

    @property
    def privacy_share(self) -> Any:  # float, or Series
        """Part of the total variance that is due to privacy, between 0 and 1."""
        return self._labels.numbers(self.privacy_shares, "privacy_share")

    @property
    def reason(self) -> Any:  # str | None, or Series
        """Why inference is impossible, or None; a Series for several terms."""
        return self._labels.reasons(self.reasons)

    def conf_int(self, level: float = 0.95, *, simultaneous: bool = False) -> Any:  # (float, float), or DataFrame
        """Return a (lower, upper) pair for one term, else a DataFrame of these columns; InferenceError I01 (level).

        simultaneous: intervals that have all terms within them at once, with this probability: see `intervals`.
        """
        return self._labels.pairs(self.intervals(level, simultaneous=simultaneous))

    @property
    def cov(self) -> pd.DataFrame:
        """Total covariance matrix of the terms (sampling plus privacy)."""
        return self._labels.square(self.sampling + self.privacy)

    @property
    def sampling_cov(self) -> pd.DataFrame:
        """Covariance due to sampling."""
        return self._labels.square(self.sampling)

    @property
    def privacy_cov(self) -> pd.DataFrame:
        """Covariance due to the noise."""
        return self._labels.square(self.privacy)

    @property
    def cost(self) -> Cost:
        """The privacy cost of the release; everything computed from it is free."""
        return self.release.cost

    def __len__(self) -> int:
        return len(self.terms)

    def __getitem__(self, term: str | list[str]) -> NormalEstimate:
        """Return some of the terms, in the given order; InferenceError I02 for an unknown one."""
        index = [place_of(self.terms, name) for name in ([term] if isinstance(term, str) else term)]
        scale = self.scale
        if scale is not None:
            scale = replace(scale, values=scale.values[index], errors=scale.errors[index])
        return replace(
            self,
            terms=tuple(self.terms[i] for i in index),
            values=self.values[index],
            sampling=self.sampling[np.ix_(index, index)],
            privacy=self.privacy[np.ix_(index, index)],
            reasons=tuple(self.reasons[i] for i in index),
            scale=scale,
            uncertain=None if self.uncertain is None else self.uncertain.of(index),
            noisy=None if self.noisy is None else self.noisy.of(index),
        )

    # Tests and combinations ----------------------------------------------------------------------------------------

    def test(self, constraints: str) -> Test:
        """Test linear constraints, "age = 0" or "age = 0, `sex[T.m]` = 0" (backticks around labels).

        One constraint: two-sided normal test.  Several: Wald's chi-square with the total covariance; where the law of
        the noise in that is known, by the law of F [Kenward & Roger 1997].  InferenceError I02, I03 for unknown terms
        and malformed text, I45 where there is a reason.
        """
        matrix, null = matrix_of(self.terms, constraints)
        return self.wald(matrix, null, constraints)

    def wald(self, matrix: Array, null: Array, words: str) -> Test:
        """Test that matrix @ values equals `null`, of shapes (c, m) and (c,); InferenceError I03, I45."""
        self._known(matrix)
        off = matrix @ self.values - null
        covariance = matrix @ (self.sampling + self.privacy) @ matrix.T
        rank = int(np.linalg.matrix_rank(covariance))
        if rank < len(matrix):
            text = f"the {len(matrix)} constraints are not independent (rank {rank})."
            raise InferenceError(text, code="I03", hint="leave out those that follow from the others", state=None)
        if len(matrix) == 1:
            z = float(off[0]) / float(np.sqrt(covariance[0, 0]))
            p = float(2 * special().ndtr(-abs(z)))
            if self.uncertain is not None:
                p = max(p, float(self.uncertain.combined(matrix, self.sampling + self.privacy).tails(off)[0]))
            return Test(words, z, 1, p, "normal law of the total error, two-sided")
        if self.noisy is not None:
            statistic, p = self.noisy.combined(matrix).wald(off)
            return Test(words, statistic, rank, p, "Wald, F law: the total covariance is noisy (Kenward-Roger)")
        chi2 = float(off @ np.linalg.solve(covariance, off))
        p = float(special().chdtrc(rank, max(chi2, 0.0)))
        if self.uncertain is not None:
            p = max(p, self.uncertain.joint_tail(chi2, rank, self.std_errors**2, np.asarray(matrix.any(axis=0))))
        return Test(words, chi2, rank, p, "Wald, chi-square with the total covariance (asymptotic)")

    def contrast(self, expression: str) -> NormalEstimate:
        """Return a linear combination, "`a` - `b`", with its errors; InferenceError I02, I03."""
        matrix, null = matrix_of(self.terms, expression)
        if len(matrix) != 1 or null.any():
            text = f"{described(expression)} is not one linear combination without a right-hand side."
            raise InferenceError(text, code="I03", hint='contrast("`a` - `b`"); test("`a` = `b`")', state=None)
        return self.combined(matrix, (expression,), f"{expression}, of {self.estimand}")

    def combined(self, matrix: Array, terms: tuple[str, ...], estimand: str) -> NormalEstimate:
        """Return linear combinations of the terms; matrix: shape (new, m)."""
        reasons = tuple(
            next((reason for reason, w in zip(self.reasons, row, strict=True) if reason and w), None) for row in matrix
        )
        sampling, privacy = (matrix @ part @ matrix.T for part in (self.sampling, self.privacy))
        made = replace(self, terms=terms, values=matrix @ self.values, sampling=sampling, privacy=privacy)
        if self.uncertain is not None:
            made = replace(made, uncertain=self.uncertain.combined(matrix, self.sampling + self.privacy))
        if self.noisy is not None:
            made = replace(made, noisy=self.noisy.combined(matrix))
        # a combination of transformed numbers is not the transform of anything: its interval is symmetric
        return replace(made, reasons=reasons, estimand=estimand, scale=None, within=None, term_title="")

    def bootstrap(
        self,
        function: Callable[..., Any],
        *,
        draws: int = 9_999,
        method: Way = "percentile",
        rng: int | np.random.Generator = 0,
    ) -> ParametricBootstrap:
        """Any function of the terms, from draws of their joint normal law: see `Estimate.bootstrap`, and its errors."""
        return parametric_bootstrap.bootstrap(of_normal(self), function, draws, method, rng)

    def _known(self, matrix: Array) -> None:
        """Raise InferenceError I45 where a term with a reason has a weight in some constraint."""
        for reason, column in zip(self.reasons, matrix.T, strict=True):
            if reason and column.any():
                raise InferenceError(f"nothing can be tested: {reason}.", code="I45", state=None)

    # Shown ---------------------------------------------------------------------------------------------------------

    def summary(self, level: float = 0.95, *, simultaneous: bool = False) -> Table:
        """Return a table of values, standard errors, z, p-values, intervals and privacy's part; InferenceError I01.

        simultaneous: intervals that hold for all terms at once; p-values stay those of one term.
        """
        return display.normal_table(self, level, simultaneous)

    def to_frame(self, level: float = 0.95, *, simultaneous: bool = False) -> pd.DataFrame:
        """Return estimate, std_error, z, p_value, lower, upper, privacy_share, reason: a frame indexed by term.

        simultaneous: limits that hold for all terms at once; p-values stay those of one term.  Where there is a reason,
        std_error, z, p_value and privacy_share are NaN, and limits infinite.
        """
        found = self.intervals(level, simultaneous=simultaneous)
        columns = {
            "estimate": self.values,
            "std_error": self.std_errors,
            "z": self.statistics,
            "p_value": self.p_values,
            "lower": found[:, 0],
            "upper": found[:, 1],
            "privacy_share": self.privacy_shares,
        }
        return self._labels.frame(columns, self.reasons, "std_error", "z", "p_value", "privacy_share")

    def plot(self, ax: Any = None) -> Any:
        """Plot intervals, total and sampling alone; `.save("a.png")`.  InferenceError I20 (no matplotlib), I05."""
        return pictures.coefficients(self, ax)

    @property
    def _labels(self) -> Labels:
        return Labels(self.terms, self.term_title)
