"""Simulations of `sample_and_aggregate.py`: releases of each method of estimating in blocks, from pools of blocks.

Blocks are independent and alike, so that a release is made of k estimates drawn from one law, and noise.  For each
model and block size that law is simulated once: POOL blocks, each drawn and fitted anew, of equal size as they are
where the number of rows is public.  Their mean is corrected by a control variate (the score of the block, whose mean
is known to be 0), so that bias is known better than their number alone would tell.  Releases are k blocks drawn from
the pool, and the noise of the mechanism.  The sums over all rows of one step are drawn from their normal limit: means
of n bounded numbers with mean and covariance by quadrature.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from tacit import families
from tacit.estimates.noisy_terms.column_terms import terms_of
from tacit.estimates.noisy_terms.interval_inversion import LinearInversion
from tacit.method.blocks import block_sizes, one_step_design, winsorized_design
from tacit.method.blocks import mechanism_winsorized as winsorized
from tacit.method.blocks.design import design
from tacit.method.blocks.estimate_ends import (
    Ends,
    by_law,
    ends_of,
    means_without_clamp,
    seen_spread,
    terms_without_clamp,
)
from tacit.method.blocks.estimate_one_step import estimate as stepped
from tacit.method.blocks.estimate_spread import own_spreads
from tacit.method.blocks.query import SampleAndAggregate
from tacit.method.shared.measurement import Public
from tacit.method.shared.simulated_parts import simulated
from tacit.models import scores
from tacit.models.blocks import block_mle
from tacit.models.likelihood import Likelihood
from tacit.models.wide_grid import STEPS
from tacit.privacy import Cost
from tacit.release.parts import Part
from tacit.schema import Real, Schema

COLUMNS = "xabcdefgh"
SCHEMA = Schema({name: Real() for name in COLUMNS})
Z = 1.959964


@dataclass(frozen=True)
class Scale:
    """Sizes of a simulation: blocks of a pool, rows of all its blocks at most, and releases of blocks alone and of
    two-step methods.
    """

    pool: int
    rows: int
    releases: int
    steps: int


FEWER = 0.2
"""Share of the pool that is simulated for the other methods: pilots, the published number of blocks, no correction."""
FULL, QUICK = Scale(60_000, 3_000_000, 2_000, 600), Scale(4_000, 1_000_000, 400, 60)


@dataclass(frozen=True)
class Case:
    """A model with its box, the parameters that rows are drawn with, and which of them the table shows."""

    model: Likelihood
    truth: tuple[float, ...]
    shown: str
    part: float = 1.0
    """Of the pool: fits of some models take many times longer."""

    @property
    def name(self) -> str:
        return type(self.model).__name__

    @property
    def place(self) -> int:
        return self.model.names.index(self.shown)

    @property
    def information(self) -> np.ndarray:
        """Return the Fisher information of one row; of a regression, its mean over normal regressors."""
        return self.model.fisher(self.truth, self._regressors(200_000, np.random.default_rng(3)))

    def rows(self, many: int, rng: np.random.Generator) -> np.ndarray:
        """Draw rows from the law; regressors are normal."""
        return self.model.sample(self.truth, many, rng, self._regressors(many, rng))

    def _regressors(self, many: int, rng: np.random.Generator) -> np.ndarray | None:
        return rng.standard_normal((many, self.model.columns - 1)) if self.model.is_regression else None

    def bound(self, n: int) -> float:
        """The Cramér-Rao bound of n rows."""
        return float(np.linalg.inv(self.information)[self.place, self.place]) / n

    def widened(self) -> Case:
        """Return the model with a box 1,000 times as wide: for positive parameters, from a thousandth of the lower
        end on.
        """
        words = dict(self.model.words())
        for one in self.model.parameters:
            if one.link == "log":
                words[one.name] = [one.lower / 1000, one.lower / 1000 + 1000 * (one.upper - one.lower)]
            elif one.link == "identity":
                middle, half = (one.lower + one.upper) / 2, (one.upper - one.lower) / 2
                words[one.name] = [middle - 1000 * half, middle + 1000 * half]
        return Case(families.family(words), self.truth, self.shown, self.part)


CASES = (
    Case(families.Bernoulli(p=(0.05, 0.95)), (0.3,), "p"),
    Case(families.Poisson(mean=(0.2, 20)), (3.0,), "mean"),
    Case(families.Geometric(p=(0.05, 0.95)), (0.3,), "p"),
    Case(families.NegativeBinomial(mean=(0.5, 10), dispersion=(0.05, 3)), (3.0, 0.5), "mean", 0.2),
    Case(families.Exponential(rate=(0.2, 5)), (1.0,), "rate"),
    Case(families.Gamma(shape=(0.5, 5), rate=(0.2, 5)), (2.0, 1.5), "shape"),
    Case(families.Weibull(shape=(0.5, 4), scale=(0.2, 5)), (1.5, 1.0), "shape"),
    Case(families.Lognormal(mean=(-2, 2), sd=(0.2, 3)), (0.5, 1.0), "mean"),
    Case(families.Normal(mean=(-3, 3), sd=(0.2, 5)), (0.5, 1.0), "sd"),
    Case(families.Laplace(location=(-3, 3), scale=(0.2, 5)), (0.5, 1.0), "scale"),
    Case(families.StudentT(location=(-3, 3), scale=(0.2, 5), df=5), (0.5, 1.0), "location", 0.2),
    Case(families.Beta(a=(0.5, 10), b=(0.5, 10)), (2.0, 3.0), "a"),
)
WIDE = ("Poisson", "Exponential", "Gamma", "Weibull", "Lognormal", "Normal", "StudentT")


def published(n: int, epsilon: float) -> int:
    """Return the number of blocks of Smith's Lemma 3.3."""
    return max(2, round(n**0.6 * epsilon**-0.4))


# Pools --------------------------------------------------------------------------------------------------------------


@lru_cache(maxsize=8)
def pool(case: Case, n: int, k: int, bias: str, scale: Scale, part: float = 1.0) -> np.ndarray:
    """Estimates of independent blocks, shape (blocks, p), their mean that of the control variate.

    part: of the pool that is made.
    """
    rng = np.random.default_rng(7)
    size, room = n / k, block_sizes.equal_capacity(n, k)
    many = int(part * case.part * min(scale.pool, scale.rows / size))
    inverse = np.linalg.inv(case.information)
    found, linear = list[np.ndarray](), list[np.ndarray]()
    for at in range(0, many, 20_000):
        blocks = min(20_000, many - at)
        counts = n // k + (np.arange(blocks) < blocks * (size % 1))
        rows = case.rows(blocks * room, rng)
        own = scores.scores(case.model, rows, np.array(case.truth)).reshape(blocks, room, -1)
        own[np.arange(room) >= counts[:, None]] = 0.0
        linear.append(own.sum(axis=1) @ inverse / size)
        found.append(block_mle(case.model, rows.reshape(blocks, room, *rows.shape[1:]), counts, bias=bias).values)
    values, known = np.concatenate(found), np.concatenate(linear)
    slope = np.linalg.lstsq(known - known.mean(axis=0), values - values.mean(axis=0), rcond=None)[0]
    return values - known.mean(axis=0) @ slope


def drawn(values: np.ndarray, k: int, releases: int, rng: np.random.Generator) -> Iterator[np.ndarray]:
    """Draw the blocks of each release from the pool."""
    for _ in range(releases):
        yield values[rng.integers(0, len(values), k)]


# Ways ---------------------------------------------------------------------------------------------------------------


def told(value: np.ndarray, error: np.ndarray, low: np.ndarray, high: np.ndarray, case: Case, n: int) -> dict[str, Any]:
    """Return what the table shows of one method, from its estimates and intervals in many releases."""
    truth, bound, sd = case.truth[case.place], case.bound(n), value.std(ddof=1)
    return {
        "ratio": float(((value - truth) ** 2).mean() / bound),
        "bias": float((value.mean() - truth) / sd),
        "errors": float(np.sqrt((error**2).mean()) / sd),
        "coverage": float(((low <= truth) & (truth <= high)).mean()),
        "width": float((high - low).mean() / (2 * Z * np.sqrt(bound))),
        "releases": len(value),
    }


def by_blocks(case: Case, n: int, epsilon: float, k: int, bias: str, scale: Scale, part: float = 1.0) -> dict[str, Any]:
    """Simulate means of blocks. Mean squared error is computed from bias and variance of the pool, more exactly than
    from releases.
    """
    shape = asked(case, n, epsilon, blocks=k, bias=bias)
    column = shape.columns[case.place]
    values = pool(case, n, k, bias, scale, part)[:, case.place]
    grid = column.grid
    rng = np.random.default_rng(11)
    at = (rng.integers(0, len(values), k) for _ in range(scale.releases))
    sums = np.array([winsorized.sums(column, values[one])[0] for one in at], dtype=np.float64)
    sums += np.asarray(column.law.sample(sums.size, rng), dtype=np.float64).reshape(sums.shape)
    *read, silent = _read(column, sums, case, n / k)
    found = {"silent": float(silent.mean()), "blocks": k}
    if silent.mean() > 0.5:
        return found
    found |= told(*(one[~silent] for one in read), case, n)
    truth = case.truth[case.place]
    # the number of estimates is noisy too: it moves a mean off the middle of the box
    off = (2 * truth - grid.lower - grid.upper) / (grid.upper - grid.lower)
    counted = 1 + (off * (grid.G // 2) / column.form.parameters["presence"]) ** 2
    noise = ((grid.upper - grid.lower) / grid.G / k) ** 2 * column.law.variance() * counted
    whole = means_without_clamp(np.array([values.mean()]), np.array([values.var()]), _ends(column, case))
    variance, off = whole.sampling[0] / k + whole.slopes[0, 0] ** 2 * noise, whole.value[0] - truth
    return found | {"ratio": (off**2 + variance) / case.bound(n), "bias": off / np.sqrt(variance)}


def _part(column: Any) -> Part:
    form = column.form
    return Part(
        column.label, form.name, form.parameters, column.grid, (), column.law, form.l1, form.l2_squared, column.cost
    )


def _block(column: Any, sums: np.ndarray) -> Any:
    """Convert sums of blocks, shape (releases, 3), to estimates of a parameter."""
    part = _part(column)
    return terms_of("SampleAndAggregate", part, rows=None, grouped=False, target="population", cells=sums)


def _ends(column: Any, case: Case) -> Ends:
    """Return the limits to which a parameter is clamped."""
    found = ends_of(case.model, case.model.words(), column)
    assert found is not None
    return found


def _read(column: Any, sums: np.ndarray, case: Case, rows: float) -> tuple[np.ndarray, ...]:
    """Return values, errors and intervals of sums of blocks of so many rows, and whether there is a reason instead.
    They are computed as for a release, except that the other parameters of the law are taken as known.
    """
    asked_law = by_law(case.model, case.model.names, np.array(case.truth), case.place, rows)

    def known(mean: np.ndarray) -> np.ndarray | None:
        """Interpolate between 33 values: the variance under the law is a smooth function of the parameter."""
        grid = np.linspace(mean.min(), mean.max(), 33)
        found = asked_law(grid)
        return None if found is None else np.interp(mean, grid, found)

    block, part, ends = _block(column, sums), _part(column), _ends(column, case)
    seen = seen_spread(block, part, ends, known, rows, sums)
    spreads = None if seen is None else own_spreads(seen)
    made = terms_without_clamp(block, part, ends, spreads, sums).terms
    low, high = made.inversion.interval(0.95)
    silent = np.array([reason is not None for reason in made.reasons])
    return made.value, np.sqrt(made.sampling_variance + made.privacy_variance), low, high, silent


def asked(case: Case, n: int, epsilon: float, **words: Any) -> Any:
    """Return the measurement of a question."""
    words = words if words.get("one_step") or words.get("winsorize") else {"method": "tuned", **words}
    words = {"bias": "cox-snell", **words}
    query = SampleAndAggregate(list(COLUMNS[: case.model.columns]), case.model, **words)
    make = one_step_design.design if query.one_step else winsorized_design.design if query.winsorize else design
    return make(query, Public(SCHEMA, "replace-one", n), Cost.of(epsilon=epsilon))


def winsorised(case: Case, n: int, epsilon: float, k: int, scale: Scale) -> dict[str, Any]:
    """Simulate the winsorised mean: quartiles selected with the mechanism's law, then the mean within their window."""
    shape = asked(case, n, epsilon, blocks=k, winsorize=True)
    chosen, mean = shape.columns[2 * case.place : 2 * case.place + 2]
    values = pool(case, n, k, "cox-snell", scale)[:, case.place]
    places = chosen.wide.places(values)
    rng = np.random.default_rng(13)
    found: list[tuple[float, float, np.ndarray]] = []
    for _ in range(scale.releases // 2):
        at = rng.integers(0, len(values), k)
        counts = np.bincount(places[at], minlength=STEPS + 1)
        points = tuple(select(counts, b, float(chosen.law.rate), rng) for b in (1, 3))
        column = winsorized.windowed(mean, chosen.wide, points)
        exact = np.array(winsorized.sums(column, values[at]), dtype=np.float64)
        made = _block(column, exact + column.law.sample(exact.size, rng).reshape(exact.shape))
        found.append((made.value[0], made.variance[0], made.loadings[0]))
    value, variance, loadings = (np.array(one) for one in zip(*found, strict=True))
    one = case.model.parameters[case.place]
    low, high = LinearInversion(value, variance, loadings, mean.law, one.lower, one.upper).interval(0.95)
    error = np.sqrt(variance + (loadings**2).sum(axis=1) * mean.law.variance())
    return told(value, error, low, high, case, n) | {
        "blocks": k,
        "window": winsorized_design.quartile_in_noise_scales(chosen, k),
    }


def select(counts: np.ndarray, quarters: int, rate: float, rng: np.random.Generator) -> int:
    """Simulate the selection of a point near a quartile: the law of `method.shared.rank_utilities`, in floats."""
    at_or_below = np.cumsum(counts)
    target = quarters * at_or_below[-1]
    utility = -np.maximum(0, np.maximum(4 * (at_or_below - counts) - target, target - 4 * at_or_below))
    weight = np.cumsum(np.exp(rate * (utility - utility.max())))
    return int(np.searchsorted(weight, rng.random() * weight[-1]))


def one_stepped(case: Case, n: int, epsilon: float, scale: Scale) -> dict[str, Any]:
    """Simulate one-step estimates: pilots from the pool, sums of clipped scores from their normal limit, both with
    noise.
    """
    shape = asked(case, n, epsilon, one_step=True)
    first, _ = one_step_design.split(shape)
    k, p = first.blocks.blocks, len(case.model.names)
    truth, rng = np.array(case.truth), np.random.default_rng(17)
    found = np.empty((scale.steps, 4))
    for i, blocks in enumerate(drawn(pool(case, n, k, "cox-snell", scale, FEWER), k, scale.steps, rng)):
        cells = [np.array(winsorized.sums(c, blocks[:, j])) for j, c in enumerate(first.columns)]
        cells = [
            one + c.law.sample(one.size, rng).reshape(one.shape) for one, c in zip(cells, first.columns, strict=True)
        ]
        parts = simulated(first, tuple(cells)).parts
        law = scores.law(scaling := scores.scaling_at(case.model, scores.pilot(parts, case.model)), scores.CLIP, truth)
        middle, _, spread = law.mean(truth)
        assert law.scaling is scaling
        mean = rng.multivariate_normal(middle, spread / n, method="eigh")
        square = np.diag(spread) + mean**2
        sums = [_cells(c, m / scores.CLIP, q / scores.CLIP**2, n) for c, m, q in zip(
            shape.columns[-p:], mean, square, strict=True
        )]  # fmt: skip
        noisy = [one + c.law.sample(one.size, rng).reshape(one.shape) for one, c in zip(
            sums, shape.columns[-p:], strict=True
        )]  # fmt: skip
        made = stepped(simulated(shape, (*cells, *noisy)), case.model)
        low, high = made.intervals()[case.place]
        found[i] = made.values[case.place], made.std_errors[case.place], low, high
    return told(*found.T, case, n) | {"blocks": k}


def _cells(column: Any, mean: float, square: float, n: int) -> np.ndarray:
    """Return the integers of the exclusion form of n rows whose u has this mean and mean square."""
    facts, H = column.form.parameters, one_step_design.H
    whole = np.array([H * n * mean, H * H * n * (1 - square) / facts["divisor"] - n / 2, n * facts["presence"]])
    return np.rint(whole).astype(np.int64)[None]


# Rows of tables -----------------------------------------------------------------------------------------------------


def row(case: Case, n: int, epsilon: float, scale: Scale) -> dict[str, Any]:
    """Simulate all methods for one model, size and price."""
    k = asked(case, n, epsilon).blocks.blocks
    return {
        "table": "ways", "model": case.name, "shown": case.shown, "n": n, "epsilon": epsilon,
        "default": by_blocks(case, n, epsilon, k, "cox-snell", scale),
        "winsorised": winsorised(case, n, epsilon, k, scale),
        "one step": one_stepped(case, n, epsilon, scale),
        "published k": by_blocks(case, n, epsilon, published(n, epsilon), "cox-snell", scale, FEWER),
        "uncorrected": by_blocks(case, n, epsilon, k, "none", scale, FEWER),
    }  # fmt: skip


BY_BLOCKS = ("default", "published k", "uncorrected")


def again(case: Case, kept: dict[str, Any], ways: list[str]) -> dict[str, Any]:
    """Simulate some methods of a stored row anew, with the same numbers of blocks."""
    found = dict(kept)
    for way in ways:
        if way in kept:
            bias, part = "none" if way == "uncorrected" else "cox-snell", 1.0 if way == "default" else FEWER
            k = kept[way]["blocks"]
            found[way] = by_blocks(case, kept["n"], kept["epsilon"], k, bias, FULL, part)
    return found


def wide(case: Case, n: int, epsilon: float, scale: Scale) -> dict[str, Any]:
    """Simulate a box 1,000 times too wide, winsorised and by default, and the well-chosen box by default."""
    large = case.widened()
    k, more = (asked(one, n, epsilon).blocks.blocks for one in (case, large))
    return {
        "table": "wide", "model": case.name, "shown": case.shown, "n": n, "epsilon": epsilon,
        "default": by_blocks(case, n, epsilon, k, "cox-snell", scale),
        "winsorised": winsorised(large, n, epsilon, more, scale),
        "wide": by_blocks(large, n, epsilon, more, "cox-snell", scale),
    }  # fmt: skip
