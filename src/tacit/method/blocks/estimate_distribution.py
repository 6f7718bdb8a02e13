"""The model's law at released parameters, and functions of them with errors.  Post-processing: costs nothing."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, Final, Literal, cast

import numpy as np

from tacit.base.arrays import Array
from tacit.base.table import Table, shown_by_summary
from tacit.errors import InferenceError, ModelError
from tacit.estimates.bootstraps.bootstrap_draws import of_normal
from tacit.estimates.estimate import Estimate
from tacit.estimates.normal_estimate import NormalEstimate
from tacit.estimates.synthetic.drawn_frames import check_sets
from tacit.estimates.synthetic.law_rows import LawRows
from tacit.estimates.terms import Target, numbers_of
from tacit.estimates.wording import title
from tacit.method.blocks.estimate_by_blocks import Errors, by_blocks, check_errors
from tacit.method.blocks.estimate_one_step import estimate as stepped
from tacit.method.blocks.estimate_one_step import model_of
from tacit.method.blocks.support_rules import NAMED
from tacit.models import law_numbers, scores
from tacit.models.evaluate import log_densities
from tacit.models.likelihood import Likelihood
from tacit.release.document import Released

if TYPE_CHECKING:
    import pandas as pd  # pyright: ignore[reportMissingTypeStubs]

    from tacit.estimates.synthetic.reproduced_numbers import ReproducedNumbers
    from tacit.estimates.synthetic.synthetic_sets import SyntheticSets
    from tacit.method.histogram.estimate import HistogramRelease

How = Literal["delta", "simulated"]
DRAWS: Final = 4_000
POINTS: Final = 201
TAILS: Final = 0.001
"""Probability in each tail that a plot leaves out."""
PART: Final = 0.5
"""Step of numerical derivatives to either side, as a part of a parameter's standard error."""


@shown_by_summary
@dataclass(frozen=True, repr=False)
class FittedLaw:
    """The law of a model at released parameters.

    parameters: their estimates with the joint covariances of sampling and of noise.

    Standard errors of functions are by the delta method, or by draws of the parameters from their normal law.

    >>> import numpy as np, tacit as tc
    >>> wait = tc.SampleAndAggregate("wait", tc.families.Exponential(rate=(0.1, 10)))
    >>> table = {"wait": np.random.default_rng(0).exponential(0.5, 20_000)}
    >>> curator = tc.Curator(table, tc.Schema({"wait": tc.Real()}), budget=tc.Budget(epsilon=1))
    >>> law = curator.release(wait, epsilon=1).law()
    >>> mean, tail = law.mean(), law.transform(lambda theta: 1 / theta.rate)
    >>> bool(abs(mean.value - tail.value) < 1e-6), bool(abs(law.quantile(0.5).value - np.log(2) * mean.value) < 1e-3)
    (True, True)
    """

    parameters: NormalEstimate
    model: Likelihood

    def transform(
        self,
        function: Callable[[SimpleNamespace], Any],
        terms: Sequence[str] | None = None,
        *,
        how: How = "delta",
        rng: Any = 0,
    ) -> NormalEstimate:
        """Return a function of the parameters with standard errors.

        function: takes an object whose attributes are the parameters; returns a number, an array, or a mapping of names
        to numbers.  terms: names of the results.  how: "delta" (the delta method), or "simulated" (the covariance of
        4,000 draws of the parameters).  InferenceError I78 where the function fails or gives no finite numbers.
        Source: theory §2; the delta method.
        """

        def of(vector: Array) -> Array:
            values = function(self.model.bind(vector))
            return np.atleast_1d(np.asarray(_numbers(values), dtype=np.float64))

        values = _evaluated(function, self.parameters.values, self.model)
        named = list(cast("Mapping[str, Any]", values)) if isinstance(values, Mapping) else list[str]()
        names = tuple(map(str, terms or named))
        return self._of(of, names, "function of the parameters", how, rng)

    def mean(self) -> NormalEstimate:
        """Return the mean of the law."""
        return self._of(
            lambda vector: np.array([self._expected(vector)]), ("mean",), "mean of the fitted law", within=self._support
        )

    def quantile(self, probs: float | Sequence[float]) -> NormalEstimate:
        """Return quantiles; InferenceError I51 for probabilities outside (0, 1), I78 for counts."""
        asked = np.atleast_1d(np.asarray(probs, dtype=np.float64))
        if not ((asked > 0) & (asked < 1)).all():
            raise InferenceError(f"{probs!r} are no probabilities.", code="I51", hint="quantile(0.5)", state=None)
        if self.model.support == "count":
            raise InferenceError("quantiles of counts are whole numbers.", code="I78", hint="cdf(3)", state=None)
        words = tuple(f"{p:g}" for p in asked.tolist())
        return self._of(
            lambda vector: law_numbers.quantiles(self.model, vector, asked),
            words,
            "quantiles of the fitted law",
            within=self._support,
        )

    def cdf(self, at: Any) -> NormalEstimate:
        """Return the probabilities of values at or below each place (the distribution function)."""
        x = np.atleast_1d(numbers_of(at, "cdf([1, 2])"))
        return self._of(
            lambda vector: self._probabilities_below(vector, x),
            _labels(x),
            "shares of the fitted law at or below",
            within=(0.0, 1.0),
        )

    def density(self, at: Any) -> NormalEstimate:
        """Return the density (for counts the probability) at each place."""
        x = np.atleast_1d(numbers_of(at, "density([1, 2])"))
        return self._of(
            lambda vector: np.exp(log_densities(self.model, x, vector)),
            _labels(x),
            "density of the fitted law",
            # of counts a probability
            within=(0.0, 1.0 if self.model.support == "count" else np.inf),
        )

    def hazard(self, at: Any) -> NormalEstimate:
        """Return the hazard at each place: the density over the probability of a larger value."""
        x = np.atleast_1d(numbers_of(at, "hazard([1, 2])"))

        def of(vector: Array) -> Array:
            # beyond the last point the survival function is 0 in floats: a large hazard, no division by 0
            above = np.maximum(1 - self._probabilities_below(vector, x), 1e-300)
            return np.exp(log_densities(self.model, x, vector)) / above

        return self._of(of, _labels(x), "hazard of the fitted law", within=(0.0, np.inf))

    def sample(self, n: int | None = None, *, regressors: Any = None, rng: Any = None) -> pd.DataFrame:
        """Return n synthetic rows from the law at the estimates: see `SampleAndAggregateRelease.sample`."""
        return self._rows("population").sample(n, regressors, rng)

    def synthetic_sets(
        self,
        sets: int = 40,
        *,
        n: int | None = None,
        regressors: Any = None,
        target: Target = "population",
        rng: Any = None,
    ) -> SyntheticSets:
        """Return sets of rows from laws that the truth may have: see `SampleAndAggregateRelease.synthetic_sets`."""
        check_sets(sets, target)
        return self._rows(target).synthetic_sets(sets, n, regressors, target, rng)

    def utility(self, rows: Any) -> ReproducedNumbers:
        """Return what rows show of the law, beside its own numbers: see `SampleAndAggregateRelease.utility`."""
        return self._rows("population").utility(rows)

    def _rows(self, target: Target) -> LawRows:
        here = self.parameters
        known = here if target == "population" else replace(here, sampling=np.zeros_like(here.sampling))
        return LawRows(self.model, tuple(cast(Any, here.release.query).what), of_normal(known))

    def plot(self, histogram: HistogramRelease | None = None, ax: Any = None, *, level: float = 0.95) -> Any:
        """Plot the density with a band for sampling error and noise, over a private histogram of the column if given.

        InferenceError I79 for a histogram of other columns, I20 without matplotlib.
        """
        from tacit.estimates.display import facts, people_words
        from tacit.plots.curve_plot import curve

        query = cast(Any, self.parameters.release.query)
        column = query.what[0]
        if histogram is not None:
            if column not in histogram.columns:
                text = f"the histogram is of {', '.join(histogram.columns)}, and the law of {column}."
                raise InferenceError(text, code="I79", hint=f"Histogram({column!r}, …)", state=None)
            ax = cast(Any, histogram).density(column).plot(ax).axes
        x = self._plot_points()
        found = self.density(x)
        limits = found.intervals(level)
        return curve(
            x,
            found.values,
            limits[:, 0],
            limits[:, 1],
            ax=ax,
            level=level,
            label="fitted law",
            title=f"{self.parameters.title} · {people_words(self.parameters.release)}",
            words=column,
            response="density",
            caption=facts(self.parameters.release),
        )

    def summary(self, level: float = 0.95) -> Table:
        """Return the parameters as a table; InferenceError I01 (level)."""
        return self.parameters.summary(level)

    # Numbers -------------------------------------------------------------------------------------------------------

    def _of(
        self,
        of: Callable[[Array], Array],
        names: tuple[str, ...],
        words: str,
        how: How = "delta",
        rng: Any = 0,
        within: tuple[float, float] | None = None,
    ) -> NormalEstimate:
        """Return a function of the vector of parameters as an estimate; within: what it cannot leave."""
        if how not in ("delta", "simulated"):
            raise InferenceError(f"how={how!r} is no way.", code="I78", hint='how="delta"', state=None)
        here = self.parameters
        try:
            value = of(here.values)
            parts = _delta(of, self.model, here) if how == "delta" else _drawn(of, self.model, here, rng)
        except ModelError as problem:
            # at an end of the box a law may be one that floats cannot add up: why the estimate is there says more
            why = next((one for one in here.reasons if one), problem.message)
            raise InferenceError(f"{words}: {why}", code="I78", state=None) from None
        if not np.isfinite(value).all():
            raise InferenceError(f"{words}: no finite number.", code="I78", state=None)
        m = len(value)
        terms = names if len(names) == m else tuple(f"value {i + 1}" for i in range(m)) if m > 1 else ("value",)
        # a function may depend on all parameters, so that one without an interval leaves none
        reason = next((one for one in here.reasons if one), None)
        return replace(
            here, terms=terms, values=value, sampling=parts[0], privacy=parts[1], reasons=(reason,) * m,
            estimand=f"{words}, {here.estimand}", notes=(*here.notes, f"standard errors: {HOW[how]}"), scale=None,
            within=within,
        )  # fmt: skip

    @property
    def _support(self) -> tuple[float, float] | None:
        """The interval that the law lies in, and so its mean and quantiles; None where it is not known."""
        support = self.model.support
        return NAMED.get(support) if isinstance(support, str) else support

    def _expected(self, vector: Array) -> float:
        points, weights = law_numbers.points_of(self.model, vector)
        return float(points @ weights)

    def _probabilities_below(self, vector: Array, x: Array) -> Array:
        points, below = law_numbers.cumulative(self.model, vector)
        if self.model.support == "count":
            # the distribution function jumps at counts: P(X <= x) is that of the last count not above x
            at = np.searchsorted(points, x, side="right")
            return np.asarray(np.where(at > 0, below[np.maximum(at - 1, 0)], 0.0), dtype=np.float64)
        return np.asarray(np.interp(x, points, below, left=0.0, right=1.0), dtype=np.float64)

    def _plot_points(self) -> Array:
        points, below = law_numbers.cumulative(self.model, self.parameters.values)
        low, high = (float(np.interp(p, below, points)) for p in (TAILS, 1 - TAILS))
        if self.model.support == "count":
            return np.arange(np.floor(low), np.ceil(high) + 2, dtype=np.float64)
        return np.linspace(low, high, POINTS, dtype=np.float64)


HOW: Final = {"delta": "by the delta method", "simulated": f"from {DRAWS:,} draws of the parameters"}


def law(release: Released, errors: Errors | None, model: Any, rng: Any) -> FittedLaw:
    """Return the fitted law of a release; see `SampleAndAggregateRelease.law`."""
    check_errors(release, errors)
    known = model_of(release, model)
    if not cast(Any, release.query).one_step:
        return FittedLaw(joint(release, known, by_blocks(release, "population"), errors or "blocks", rng), known)
    made = stepped(release, known)
    # of the pilot's blocks, where rows do not follow the law
    return FittedLaw(made if isinstance(made, NormalEstimate) else joint(release, known, made, "blocks", rng), known)


def joint(release: Released, model: Likelihood, found: Estimate, errors: Errors, rng: Any) -> NormalEstimate:
    """Return the parameters of blocks with their joint covariance.

    With errors="blocks", variances come from the released blocks and correlations from the model, because blocks
    release no covariances; else both come from the model.
    """
    from tacit.method.blocks.estimate_errors import sampling

    if set(found.terms) != set(model.names):
        text = f"the law has {', '.join(model.names)}, and {', '.join(found.terms)} were released."
        raise InferenceError(text, code="I79", hint="leave parameters out of the question", state=None)
    if errors == "blocks":
        size = np.sqrt(found.sampling_variances)
        # released variances D and the model's correlations R: D^½ R D^½
        covariance = np.outer(size, size) * correlation(model, scores.inner(model, found.values))
    else:
        covariance = sampling(release, model, found.values, errors, rng).covariance
    return NormalEstimate(
        release, title(release), found.estimand, found.terms, found.values, covariance,
        np.diag(found.privacy_variances), found.reasons, found.notes, tested=False,
    )  # fmt: skip


def correlation(model: Likelihood, at: Array) -> Array:
    """Return the correlations of maximum-likelihood estimates; the identity where the information has no inverse."""
    try:
        inverse = np.linalg.inv(np.asarray(model.fisher(at), dtype=np.float64))
    except (ModelError, np.linalg.LinAlgError):
        return np.eye(len(at))
    # off 0, where rounding has left no variance: the division must not fail
    size = np.sqrt(np.maximum(np.diag(inverse), 1e-300))
    return inverse / np.outer(size, size)


def _delta(of: Callable[[Array], Array], model: Likelihood, here: NormalEstimate) -> tuple[Array, Array]:
    """Return the covariances due to sampling and to noise by the delta method, with central differences in the box."""
    steps = PART * here.std_errors
    slope = np.stack([_slope(of, model, here.values, j, float(step)) for j, step in enumerate(steps)], axis=1)
    # delta method: G V G', G the matrix of derivatives (results, parameters)
    return slope @ here.sampling @ slope.T, slope @ here.privacy @ slope.T


def _slope(
    of: Callable[[Array], Array], model: Likelihood, at: Array, j: int, step: float, halvings: int = 10
) -> Array:
    """Return the derivative in parameter j, by differences of `step` to either side, or of less.

    Half an error away a law may be one that floats cannot add up (a Beta law with nearly all of its mass at 1); shorter
    steps end at the estimate, whose law is known.  ModelError where the step has been halved so often in vain.
    """
    ends = [at.copy(), at.copy()]
    ends[0][j] -= step
    ends[1][j] += step
    low, high = (scores.inner(model, one) for one in ends)
    try:
        # by the distance that is left in the box, not by twice the step
        return (of(high) - of(low)) / (high[j] - low[j])
    except ModelError:
        if not halvings:
            raise
        return _slope(of, model, at, j, step / 2, halvings - 1)


def _drawn(of: Callable[[Array], Array], model: Likelihood, here: NormalEstimate, rng: Any) -> tuple[Array, Array]:
    """Return the covariance of draws, divided between sampling and noise in the proportions of the delta method."""
    random = np.random.default_rng(rng)
    # eigh, because a covariance may be singular, with a parameter known exactly
    vectors = random.multivariate_normal(here.values, here.sampling + here.privacy, DRAWS, method="eigh")
    found = np.stack([of(scores.inner(model, vector)) for vector in vectors])
    # draws where the function is not finite are left out of the covariance
    whole = np.atleast_2d(np.cov(found[np.isfinite(found).all(axis=1)].T))
    sampling, privacy = _delta(of, model, here)
    share = np.diag(privacy) / np.maximum(np.diag(sampling) + np.diag(privacy), 1e-300)
    part = np.sqrt(np.outer(share, share))
    return whole * (1 - part), whole * part


def _evaluated(function: Callable[[SimpleNamespace], Any], vector: Array, model: Likelihood) -> Any:
    """Return the value of a user's function of the parameters; InferenceError I78 where it fails."""
    try:
        values = function(model.bind(vector))
        np.asarray(_numbers(values), dtype=np.float64)
    except Exception as problem:  # a user's function may raise anything
        text = f"the function of the parameters fails: {type(problem).__name__}: {problem}."
        raise InferenceError(text, code="I78", hint="lambda theta: theta.shape / theta.rate", state=None) from None
    return values


def _numbers(values: Any) -> Any:
    return list(cast("Mapping[str, Any]", values).values()) if isinstance(values, Mapping) else values


def _labels(x: Array) -> tuple[str, ...]:
    return tuple(f"{value:g}" for value in x.tolist())
