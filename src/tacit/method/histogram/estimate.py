"""Releases of histograms: noisy counts of cells, their margins, and what is computed from them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, overload

import numpy as np

from tacit.base.arguments import kind_of, texts
from tacit.base.arrays import Array
from tacit.base.table import Table, shown_by_summary
from tacit.errors import InferenceError
from tacit.estimates.estimate import Estimate
from tacit.estimates.terms import Target
from tacit.fits.cells.released_cells import counts_of
from tacit.method.histogram.estimate_from_cells.cell_statistics import Statistics
from tacit.method.histogram.estimate_margins import SHOWN, Margin, margin
from tacit.release.document import Release, Released

if TYPE_CHECKING:
    import pandas as pd  # pyright: ignore[reportMissingTypeStubs]

    from tacit.estimates.densities.smooth_density import SmoothDensity
    from tacit.estimates.normal_estimate import NormalEstimate
    from tacit.estimates.synthetic.synthetic_sets import SyntheticSets
    from tacit.fits.custom_losses import Loss
    from tacit.fits.fit import Method
    from tacit.fits.fit_release import Missing
    from tacit.fits.fitted_model import FittedModel
    from tacit.method.histogram.estimate_densities import DensityEstimate, Projection
    from tacit.method.histogram.estimate_joint_bins import JointDensityEstimate
    from tacit.method.histogram.estimate_regression_function import Classifier
    from tacit.method.histogram.estimate_samples import Rng
    from tacit.method.histogram.estimate_utility import UtilityReport


@shown_by_summary
@dataclass(frozen=True, repr=False)
class HistogramRelease(Statistics, Release):
    """A release of Histogram: any number of analyses of it are free.

    >>> import tacit as tc
    >>> people = {"age": list(range(18, 94)) * 20, "sex": ["f", "m"] * 760}
    >>> schema = tc.Schema({"age": tc.Real(18, 93), "sex": tc.Category(["f", "m"])})
    >>> curator = tc.Curator(people, schema, budget=tc.Budget(rho=1))
    >>> cells = curator.release(tc.Histogram(["age", "sex"], bins={"age": 5}), rho=0.1)
    >>> cells.counts.shape, cells.margin("sex").estimate("table").terms
    ((5, 2), ('f', 'm'))
    """

    kind: ClassVar[str] = "histogram"

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of the axes."""
        return tuple(name for name, _ in self.levels)

    @property
    def counts(self) -> Array:
        """Noisy counts, signed, in rows (persons): shape (levels of the first column, of the second, ...).

        InferenceError Q84 of a sparse histogram.
        """
        return counts_of(self)

    def margin(self, columns: str | Sequence[str]) -> Margin:
        """Noisy counts of some of the columns, added up over the others.

        InferenceError I41 for a column that is not in the release.  Source: theory §7.
        """
        names = texts(columns)
        if names is None:
            text = f"{kind_of(columns)} names no columns."
            raise InferenceError(text, code="I41", hint='margin(["age", "sex"])', state=None)
        return margin(self, names)

    def fit(
        self,
        what: str | Loss,
        *,
        model: str = "linear",
        family: str | None = None,
        method: Method = "corrected",
        missing: Missing = "exclude",
        tau: float = 0.5,
        k: float | None = None,
    ) -> FittedModel:
        """Fit a regression, a family or a loss of one's own; any number of fits is free.

        what: a formula in R's words, "income ~ age + C(educ) * sex"; with `family` a column; or a `tacit.Loss`.
        model: "linear", "logistic", "probit", "poisson", "gamma" (log link), "quantile" (of level `tau`) or "huber"
        (which bends at `k`, in the response's units; by default 1.345 robust standard deviations of residuals).
        family: "normal", "lognormal", "exponential", "gamma", "weibull" or "beta": maximum likelihood for the column.
        method: "corrected" for binning; "midpoint"; or as published and biased: "lei-2011", "lei-2011-nonnegative",
        "lei-2011-threshold".

        missing: "exclude" leaves out rows with a missing cell in a column that is used; with "level" the level that a
        Category has for them is one as any other.  What cannot be fitted has a `reason`.
        InferenceError I41 (no such column), I42 (no formula), I43 (a response or regressor that the model cannot take),
        I44 (unknown model, family or method), I46 (a loss that fails), I47 (more cells than can be handled).
        Source: Lei 2011, Algorithm 1; theory §7 (correction, standard errors).
        """
        from tacit.fits.fit_release import fit_release

        return fit_release(self, what, model=model, family=family, method=method, missing=missing, tau=tau, k=k)

    @overload
    def density(  # pyright: ignore[reportOverlappingOverload]  # a text is a sequence of texts: the first counts
        self,
        column: str,
        *,
        by: str | Sequence[str] | None = None,
        projection: Projection = "simplex",
        target: Target = "population",
    ) -> DensityEstimate: ...

    @overload
    def density(
        self,
        column: Sequence[str],
        *,
        by: None = None,
        projection: Projection = "simplex",
        target: Target = "population",
    ) -> JointDensityEstimate: ...

    def density(
        self,
        column: str | Sequence[str],
        *,
        by: str | Sequence[str] | None = None,
        projection: Projection = "simplex",
        target: Target = "population",
    ) -> DensityEstimate | JointDensityEstimate:
        """Density of a column of numbers or dates, on its bins, within each level of `by`; or of two or three jointly.

        column: a name, or a list of two or three.  projection: "simplex", the nearest shares that are 0 or more and add
        up to 1; or "clip", as published: negative counts are 0, and the others divided by their sum, which spreads the
        noise of empty cells as if it were people.
        InferenceError I41 (no such column), I60 (a column of levels), I09 (target), Q270 (projection), Q271 (more
        columns, or a joint density within groups).  Source: theory §7 (projection); lecture notes §5.2 (clipping).
        """
        from tacit.method.histogram.estimate_densities import density
        from tacit.method.histogram.estimate_joint_bins import joint_density

        if isinstance(column, str):
            return density(self, column, by, target, projection)
        return joint_density(self, column, by, target, projection)

    def smooth_density(
        self,
        column: str,
        *,
        by: str | Sequence[str] | None = None,
        basis: str | None = None,
        target: Target = "population",
    ) -> SmoothDensity:
        """Smooth density of a column of numbers or dates, fitted to its bins, within each level of `by`.

        Models from few parameters to many are fitted by penalised likelihood and averaged by their marginal
        likelihoods: as smooth as the counts say.  Many bins are best, as bins="density" takes.  Limits are of a series,
        "legendre" or "cosine", whichever is nearer to the density by what the counts say.
        basis: "cosine", "fourier", "legendre" or "haar": that series instead, for the density as well, its coefficients
        shrunk; so is the density of target="table".
        InferenceError I41 (no such column), I60 (a column of levels, or fewer than four bins), I09 (target), I44
        (basis).  Source: theory §3.4; [Silverman 1982]; [Cavalier & Tsybakov 2001].
        """
        from tacit.method.histogram.estimate_smooth import smooth_density

        return smooth_density(self, column, by, basis, target)

    def regression_function(
        self, outcome: str, on: str, at: Any, *, level: str | None = None, order: int = 2, target: Target = "population"
    ) -> NormalEstimate:
        """Mean of an outcome at values of a column with bins of one width, by Bernstein polynomials.

        outcome: another column of the histogram; of levels it is the share of `level`, the last where none is named.
        at: numbers within the bounds.  order: of the iterated operator, 1 to 4.
        InferenceError I41 (no such column), I60 (on= has levels), I44 (bins of several widths, level, order), I05
        (values), I09 (target).
        """
        from tacit.method.histogram.estimate_regression_function import regression_function

        return regression_function(self, outcome, on, at, level, order, target)

    def classifier(
        self,
        outcome: str,
        on: str,
        *,
        level: str | None = None,
        cut: float = 0.5,
        order: int = 2,
        target: Target = "population",
    ) -> Classifier:
        """Rule that expects `level` of an outcome of two where its share by `regression_function` is at least `cut`.

        InferenceError as for `regression_function`, and I44 (an outcome that has not two levels, cut).
        """
        from tacit.method.histogram.estimate_regression_function import classifier

        return classifier(self, outcome, on, level, cut, order, target)

    def sample(self, n: int, *, rng: Rng = None) -> pd.DataFrame:
        """`n` synthetic rows drawn from the projected cells, in the columns, labels and types of the table.

        rng: a whole number or a NumPy Generator for the same rows again, or None.  `frame.attrs["note"]` says what an
        inference from them ignores.  InferenceError I61 (n), I62 (rng), I63 (a release that is all noise).
        """
        from tacit.method.histogram.estimate_samples import sample

        return sample(self, n, rng)

    def utility(self, rows: Any) -> UtilityReport:
        """How far synthetic rows are from this release, by one and two columns, beside what drawing and noise explain.

        rows: a data frame with the columns and values of `sample`.  It says nothing of people that the release does
        not.  InferenceError I87 for rows that have no cell in the release, Q84 of a sparse histogram.
        """
        from tacit.method.histogram.estimate_utility import utility

        return utility(self, rows)

    def synthetic_sets(
        self, sets: int = 40, *, n: int | None = None, order: int = 2, target: Target = "population", rng: Rng = None
    ) -> SyntheticSets:
        """Sets of synthetic rows with which any analysis of rows has both errors: `sets.analyse(function)`.

        sets: how many are drawn from tables that the truth may have been; half as many from the released one.  n: rows
        in each, by default four times the table's (5,000 to 400,000).  order: relations of how many columns are kept,
        1, 2 or 3: of numbers means, mean squares and their products, of levels shares.  target: whether the table is a
        sample of a population or itself what is asked about.  rng: as in `sample`.
        Unlike rows of `sample`, which have the projected cells themselves, these have a log-linear model's: the noise
        of many cells averages out in few numbers, which no projection biases.
        InferenceError I09 (target), I47 (more cells than can be handled), I61 (n), I62 (rng), I63 (a release that is
        all noise), I85 (sets, order), Q84 of a sparse histogram.  Source: `estimates.synthetic_rules`.
        """
        from tacit.method.histogram.estimate_synthetic import synthetic_sets

        return synthetic_sets(self, sets, n, order, target, rng)

    def estimate(self, target: Target = "population") -> Estimate:
        """Numbers of rows of every cell with both errors; InferenceError I09 (target), I48 (more than 1,000 cells)."""
        return self.margin(self.columns).estimate(target)

    def summary(self, level: float = 0.95) -> Table:
        """The cells as a table, or where they are many the margins of each column; InferenceError I01 (level)."""
        if self.counts.size <= SHOWN:
            return self.estimate().summary(level)
        return HistogramColumns(self).summary(level)

    def plot(self, ax: Any = None, *, target: Target = "population") -> Any:
        """One column: a histogram; two: a heat map; more: a small picture of each.  `.save("a.png")`.

        InferenceError I09 (target), I20 without matplotlib, I64 for `ax` with more than two columns, I05 for a column
        of more than 1,000 levels.
        """
        from tacit.method.histogram.estimate_pictures import margins

        if len(self.columns) <= 2:
            return self.margin(self.columns).plot(ax, target=target)
        return margins(tuple(self.margin(name) for name in self.columns), ax, target=target)


@dataclass(frozen=True)
class HistogramColumns:
    """The summary of a histogram with too many cells for a table: its columns."""

    release: HistogramRelease

    def summary(self, level: float = 0.95) -> Table:
        """One row for each column; nothing in it depends on the level."""
        from tacit.estimates.display import facts, people_words

        release = self.release
        rows = tuple(
            (name, f"{len(labels):,}", _short(labels, axis.extra))
            for (name, labels), axis in zip(release.levels, release.axes, strict=True)
        )
        sd = float(np.sqrt(release.parts[0].law.variance())) / release.parts[0].parameters.get("share", 1)
        noise = f"{release.counts.size:,} cells, noise of standard deviation {sd:,.3g} in each"
        notes = (f"{noise}; margins of them are free", facts(release))
        title = f"Histogram of {', '.join(release.columns)} · {people_words(release)}"
        return Table(title, ("column", "levels", ""), rows, notes, ("left", "right", "left"))

    def to_frame(self, level: float = 0.95) -> pd.DataFrame:
        """Number of levels of each column."""
        import pandas as pd  # pyright: ignore[reportMissingTypeStubs]

        sizes = [len(labels) for _, labels in self.release.levels]
        return pd.DataFrame({"levels": sizes}, index=list(self.release.columns))


def _short(labels: tuple[str, ...], extra: tuple[str, ...]) -> str:
    regular = labels[: len(labels) - len(extra)]
    many = len(regular) > 4
    return ", ".join((regular[0], regular[1], "…", regular[-1], *extra) if many else (*regular, *extra))


def estimate(release: Released, target: Target = "population") -> Estimate:
    """Estimate every cell of a histogram that was released or simulated."""
    return margin(release, tuple(name for name, _ in release.levels)).estimate(target)
