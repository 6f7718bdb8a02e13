"""What a release of `histogram` says: noisy counts of cells, their margins, and everything that is made of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar, Final, cast

import numpy as np

from tacit.errors import InferenceError, nearest
from tacit.inference.estimate import Estimate
from tacit.inference.from_cells.statistics import Statistics
from tacit.inference.histogram_cells import counts_of
from tacit.inference.invert import Counts, Inversion, Linear
from tacit.inference.laws import Array
from tacit.inference.moments import people_of, source_of, who
from tacit.inference.terms import Block, Target, check_target
from tacit.noise.laws import LEAST, Law, RoundedNormal, rescaled
from tacit.release import Axis, Levels, Release, Released, cell_labels, register

if TYPE_CHECKING:
    import pandas as pd  # pyright: ignore[reportMissingTypeStubs]

    from tacit.inference.densities import DensityEstimate
    from tacit.inference.fits.custom import Loss
    from tacit.inference.fits.result import Method
    from tacit.inference.fitted import FittedModel
    from tacit.inference.fitting import Missing
    from tacit.inference.samples import Rng
    from tacit.tables import Table

SHOWN: Final = 1_000
"""Cells of a table of estimates, at most."""
FOLDED: Final = 16
"""The sum of so many noises or more is taken as that of FOLDED wider ones: the same variance, nearly normal."""


@register
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
        return margin(self, (columns,) if isinstance(columns, str) else tuple(columns))

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
        from tacit.inference.fitting import fit_release

        return fit_release(self, what, model=model, family=family, method=method, missing=missing, tau=tau, k=k)

    def density(
        self, column: str, *, by: str | Sequence[str] | None = None, target: Target = "population"
    ) -> DensityEstimate:
        """Density of a column of numbers or dates, on its bins; within each level of `by`.

        InferenceError I41 (no such column), I60 (a column of levels), I09 (target).  Source: theory §7 (projection).
        """
        from tacit.inference.densities import density

        return density(self, column, by, target)

    def sample(self, n: int, *, rng: Rng = None) -> pd.DataFrame:
        """`n` synthetic rows drawn from the projected cells, in the columns, labels and types of the table.

        rng: a whole number or a NumPy Generator for the same rows again, or None.  `frame.attrs["note"]` says what an
        inference from them ignores.  InferenceError I61 (n), I62 (rng), I63 (a release that is all noise).
        """
        from tacit.inference.samples import sample

        return sample(self, n, rng)

    def estimate(self, target: Target = "population") -> Estimate:
        """Numbers of rows of every cell with both errors; InferenceError I09 (target), I48 (more than 1,000 cells)."""
        return self.margin(self.columns).estimate(target)

    def summary(self, level: float = 0.95) -> Table:
        """The cells as a table, or where they are many the margins of each column; InferenceError I01 (level)."""
        if self.counts.size <= SHOWN:
            return self.estimate().summary(level)
        return Columns(self).summary(level)

    def plot(self, ax: Any = None, *, target: Target = "population") -> Any:
        """One column: a histogram; two: a heat map; more: a small picture of each.  `.save("a.png")`.

        InferenceError I09 (target), I20 without matplotlib, I64 for `ax` with more than two columns, I05 for a column
        of more than 1,000 levels.
        """
        from tacit.plots import margins

        if len(self.columns) <= 2:
            return self.margin(self.columns).plot(ax, target=target)
        return margins(tuple(self.margin(name) for name in self.columns), ax, target=target)

    def __str__(self) -> str:
        return str(self.summary())

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return self.summary().to_html()


@dataclass(frozen=True, repr=False)
class Margin:
    """Noisy counts of some columns of a histogram.

    levels, axes: of those columns.  counts: shape (levels of the first, ...), signed, in rows (persons).  added: of how
    many cells each is the sum: so many noises.

    >>> import tacit as tc
    >>> people = {"sex": ["f", "m"] * 500, "ok": [True, True, False, True] * 250}
    >>> schema = tc.Schema({"sex": tc.Category(["f", "m"]), "ok": tc.Boolean()})
    >>> curator = tc.Curator(people, schema, budget=tc.Budget(rho=1))
    >>> found = curator.release(tc.Histogram(["sex", "ok"]), rho=0.1).margin("ok")
    >>> found.counts.shape, found.added, found.estimate().terms
    ((2,), 2, ('false', 'true'))
    """

    release: Released
    levels: Levels
    axes: tuple[Axis, ...]
    counts: Array
    added: int

    def estimate(self, target: Target = "population") -> Estimate:
        """Numbers of rows, one term a cell, with both errors; InferenceError I09 (target), I48 (over 1,000 cells)."""
        check_target(target)
        if self.counts.size > SHOWN:
            text = f"{self.counts.size:,} cells are too many for a table of estimates: at most {SHOWN:,}."
            raise InferenceError(text, code="I48", hint="margin(…) of fewer columns", state=None)
        release = self.release
        block = block_of(release, self.counts.reshape(-1), self.added, target == "population")
        made = replace(block, people=people_of(release), source=_source(self))
        by = " and ".join(name for name, _ in self.levels)
        words = f"number of {who(release)} by {by}" + _where(release)
        words += f", of the {who(release)} of this table" if target == "table" else f", {_drawn(release)}"
        return Estimate(release, target, words, cell_labels(self.levels), (made,), term_title=by.replace(" and ", ":"))

    def to_frame(self) -> pd.DataFrame:
        """The counts as pandas has cross-tabulations: the first column by the others."""
        import pandas as pd  # pyright: ignore[reportMissingTypeStubs]

        (name, first), *others = self.levels
        rest = cell_labels(tuple(others)) if others else ("count",)
        flat = self.counts.reshape(len(first), -1)
        return pd.DataFrame(flat, index=pd.Index(list(first), name=name), columns=list(rest))

    def summary(self, level: float = 0.95) -> Table:
        """The estimates as a table; InferenceError I01 (level), I48 (more than 1,000 cells)."""
        return self.estimate().summary(level)

    def plot(self, ax: Any = None, *, target: Target = "population") -> Any:
        """A histogram of one column (of levels an interval each), a heat map of two.

        InferenceError I09 (target), I20 without matplotlib, I64 for more columns, I05 for more than 1,000 levels.
        """
        from tacit.plots import margin as picture

        return picture(self, ax, target=target)

    def __str__(self) -> str:
        return str(self.summary())

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return self.summary().to_html()


def margin(release: Released, columns: tuple[str, ...]) -> Margin:
    """A release of a histogram, or a simulated one, and names of columns -> Margin, in that order."""
    names = [name for name, _ in release.levels]
    for name in columns:
        if name not in names:
            hint = nearest(name, names) or ", ".join(names)
            text = f"column {name!r} is not in this release."
            raise InferenceError(text, code="I41", hint=hint, state="Another column takes another release.")
    if not columns or len(set(columns)) < len(columns):
        raise InferenceError("margin: name each column once.", code="I41", hint=f"margin({names[0]!r})", state=None)
    counts = counts_of(release)
    others = tuple(i for i, name in enumerate(names) if name not in columns)
    kept = [name for name in names if name in columns]
    summed = counts.sum(axis=others).transpose([kept.index(name) for name in columns])
    places = [names.index(name) for name in columns]
    axes = cast("tuple[Axis, ...]", getattr(release, "axes", ()))
    added = int(np.prod([counts.shape[i] for i in others], dtype=np.int64))
    return Margin(release, tuple(release.levels[i] for i in places), tuple(axes[i] for i in places), summed, added)


@dataclass(frozen=True)
class Columns:
    """What is shown of a histogram of many cells: its columns."""

    release: HistogramRelease

    def summary(self, level: float = 0.95) -> Table:
        """One row for each column; nothing in it depends on the level."""
        from tacit.inference.display import facts, people_words
        from tacit.tables import Table

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


def block_of(release: Released, k: Array, added: int, sampling: bool) -> Block:
    """Sums of `added` cells each: binomial of the rows where their number is public, Poisson otherwise."""
    part = release.parts[0]
    share = part.parameters.get("share", 1)
    noises = min(added, FOLDED)
    load = np.sqrt(added / noises) / share
    loadings = np.full((len(k), noises), load)
    top = np.inf if release.rows is None else float(release.rows)
    value = np.clip(k, 0.0, top)
    variance, pull = np.zeros_like(value), np.zeros_like(value)
    inversion: Inversion = Linear(value, variance, loadings, part.law, 0.0, top)
    if sampling:
        variance = value
        pull = np.zeros_like(value) if release.rows is None else value / np.sqrt(release.rows)
        rows, factor = release.rows, 1.0 if release.rows is None else float(release.rows)
        inversion = Counts(np.rint(k), rows, _law(part.law, added, share), 0.0, factor)
    return Block(part.label, value, variance, pull, loadings, part.law, inversion, (None,) * len(value))


def _law(law: Law, added: int, share: int) -> Law:
    """The law of a sum of `added` noises in whole rows: of one, its own; of several, a rounded normal's."""
    if added == 1:
        return law if share == 1 else rescaled(law, share)
    scale = float(np.sqrt(added * law.variance())) / share
    return RoundedNormal(max(Fraction(scale).limit_denominator(10**6), LEAST))


def _source(made: Margin) -> str:
    """Margins of one release share noises; only cells of one margin are known to be independent of each other."""
    return f"{source_of(made.release)}/{'×'.join(name for name, _ in made.levels)}"


def _where(release: Released) -> str:
    condition = getattr(release.query, "where", None)
    return f", where {condition}" if condition else ""


def _drawn(release: Released) -> str:
    if release.rows is not None:
        return f"expected in a table of {release.rows:,} {who(release)} drawn like this one"
    return f"expected in a table of {who(release)} drawn like this one, their number itself random (Poisson)"
