"""Coverage of intervals, by simulation: how often a 95% interval holds the truth.

New tables are drawn from a `generator`, released with simulated noise and estimated; what is counted is what a user
would have got.  The whole study is one array computation: repetitions are treated as further cells.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Final, TypeAlias, cast

import numpy as np
from numpy.typing import NDArray

from tacit.errors import InferenceError
from tacit.inference.laws import Array
from tacit.inference.moments import title
from tacit.inference.terms import Block, block, check_level
from tacit.mechanisms.moments import Design
from tacit.noise.laws import RoundedNormal
from tacit.phases import phase, steps
from tacit.privacy import Cost
from tacit.queries import Query
from tacit.queries_blocks import SampleAndAggregate
from tacit.release import Part
from tacit.testing.arrays import columns_of
from tacit.testing.simulate import add_noise, empty_parts, exact_integers, shaped, simulated, size_of

if TYPE_CHECKING:
    from tacit.schema import Schema
    from tacit.tables import Table

Generator: TypeAlias = Callable[[np.random.Generator], Mapping[str, Any]]
Truth: TypeAlias = float | Sequence[float] | Mapping[str, float]

WIDTHS: Final = 50
"""Tables that the width without noise is found from, where estimates are made one after another."""
NONE: Final = RoundedNormal(Fraction(1, 1000))
"""A law that is zero in effect: the same estimator without noise is the interval to compare with."""


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
        from tacit.inference.display import decimals
        from tacit.tables import Table, format_number

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

    def __repr__(self) -> str:
        return str(self.summary())

    def _repr_html_(self) -> str:
        return self.summary().to_html()


def coverage(
    query: Query[Any],
    generator: Generator,
    truth: Truth,
    *,
    epsilon: Any = None,
    delta: Any = None,
    rho: Any = None,
    schema: Schema | None = None,
    repeats: int = 2_000,
    rng: int | np.random.Generator = 0,
    level: float = 0.95,
    neighbors: str = "replace-one",
) -> Coverage:
    """Draw `repeats` tables from `generator(rng)`, release and estimate each, and count; `tc.progress()` shows a bar.

    `truth`: what is estimated, a number, one a term, or a mapping from term to number.  Price, relation and schema as
    for a curator.  InferenceError I10 where the study makes no sense (no schema, repeats below 2, sizes that vary
    though public, a truth for other terms).

    >>> from tacit import Mean, Real, Schema
    >>> schema, draw = Schema({"x": Real(0, 100)}), lambda rng: {"x": rng.normal(50, 10, 200)}
    >>> found = coverage(Mean("x"), draw, 50.0, rho=0.1, schema=schema, repeats=100)
    >>> bool(0.8 < found.coverage[0] <= 1), bool(found.relative_width[0] > 1)
    (True, True)
    """
    level = check_level(level)
    if schema is None and isinstance(query, SampleAndAggregate):  # which needs no bounds
        from tacit.schema import Real
        from tacit.schema import Schema as Made

        schema = Made({name: Real() for name in query.what})
    if schema is None:
        raise _impossible(f"{type(query).__name__} needs a schema.", "schema=Schema({…})")
    if isinstance(repeats, bool) or not isinstance(repeats, int) or repeats < 2:  # pyright: ignore[reportUnnecessaryIsInstance]
        raise _impossible(f"repeats {repeats!r} is not 2 or more.", "repeats=2_000")
    random = np.random.default_rng(rng)
    cost = Cost.of(epsilon=epsilon, delta=delta, rho=rho)
    if isinstance(query, SampleAndAggregate) and (query.one_step or query.winsorize):
        from tacit.testing.block_steps import Asked
        from tacit.testing.block_steps import study as in_two_steps

        return in_two_steps(Asked(query, schema, neighbors, cost), generator, truth, repeats, random, level)
    shape, exact = _tables(query, generator, schema, neighbors, cost, repeats, random)
    with phase("intervals of all of them"):
        return study(shape, exact, truth, level, random)


def study(
    shape: Design, exact: tuple[NDArray[np.int64], ...], truth: Truth, level: float, rng: np.random.Generator
) -> Coverage:
    """The same from exact integers, arrays of shape (repeats, cells, k)."""
    noisy = add_noise(shape, exact, rng)
    terms = simulated(shape, tuple(k[0] for k in noisy)).estimate().terms
    true = truth_of(truth, terms)
    repeats = len(noisy[0])
    parts = empty_parts(shape)
    if shape.kind == "sufficient-statistics":
        found = [_parameters(shape, noisy, level)]
        quiet = tuple(replace(column, law=NONE) for column in shape.columns)
        few = tuple(k[:WIDTHS] for k in exact)
        calm = [_parameters(replace(shape, columns=quiet), few, level)]
    else:
        found = [_intervals(shape, part, k, level) for part, k in zip(parts, noisy, strict=True)]
        calm = [_intervals(shape, replace(part, law=NONE), k, level) for part, k in zip(parts, exact, strict=True)]
    value, error, low, high, unclear = (np.concatenate(arrays, axis=1) for arrays in zip(*found, strict=True))
    without = np.concatenate([one[3] - one[2] for one in calm], axis=1)
    hit = ((low <= true) & (true <= high)).mean(axis=0)
    sd = value.std(axis=0, ddof=1)
    return Coverage(
        title=f"{title(simulated(shape, tuple(k[0] for k in noisy)))}, {shape.cost}, {shape.neighbors}",
        level=level,
        repeats=repeats,
        terms=terms,
        truth=true,
        bias=value.mean(axis=0) - true,
        bias_error=sd / math.sqrt(repeats),
        std_deviation=sd,
        std_error=error.mean(axis=0),
        coverage=hit,
        coverage_error=np.sqrt(np.maximum(hit * (1 - hit), 0.25 / repeats) / repeats),
        width=(high - low).mean(axis=0),
        width_without=without.mean(axis=0),
        unclear=unclear.mean(axis=0),
    )


def _tables(
    query: Query[Any],
    generator: Generator,
    schema: Schema,
    neighbors: str,
    cost: Cost,
    repeats: int,
    rng: np.random.Generator,
) -> tuple[Design, tuple[NDArray[np.int64], ...]]:
    shape: Design | None = None
    found: list[tuple[NDArray[np.int64], ...]] = []
    with steps(f"drawing {repeats:,} tables", repeats) as done:
        for i in range(repeats):
            done(i)
            table = columns_of(generator(rng), schema)
            size = size_of(table, schema)
            if shape is None:
                shape = shaped(query, schema, neighbors, size, cost)
            if shape.rows is not None and size != shape.rows:
                text = f"the generator made {shape.rows:,} rows, then {size:,}; under replace-one that is public."
                raise _impossible(text, 'neighbors="add-remove", or tables of one size')
            found.append(exact_integers(shape, table, rng))
    stacked = tuple(np.stack(arrays) for arrays in zip(*found, strict=True))
    return cast(Design, shape), stacked


def _intervals(
    shape: Design, part: Part, integers: NDArray[np.int64], level: float
) -> tuple[Array, Array, Array, Array, Array]:
    """Value, standard error, lower, upper, unclear, each of shape (repeats, cells)."""
    flat = integers.reshape(-1, integers.shape[-1]).astype(np.float64)
    kind = type(shape.query).__name__
    grouped = bool(shape.keys) or shape.where is not None
    made: Block = block(kind, part, rows=shape.rows, grouped=grouped, target="population", cells=flat)
    low, high = made.inversion.interval(level)
    error = np.sqrt(made.sampling_variance + made.privacy_variance)
    unclear = np.array([reason is not None for reason in made.reasons], dtype=np.float64)
    size = integers.shape[:2]
    return tuple(a.reshape(size) for a in (made.value, error, low, high, unclear))  # pyright: ignore[reportReturnType]


def _parameters(
    shape: Design, integers: tuple[NDArray[np.int64], ...], level: float
) -> tuple[Array, Array, Array, Array, Array]:
    """The same of parameters that all parts have together, one release after another."""
    rows: list[Array] = []
    for i in range(len(integers[0])):
        made = simulated(shape, tuple(k[i] for k in integers)).estimate()
        none = [float(reason is not None) for reason in made.reasons]
        rows.append(np.array([made.values, made.std_errors, *made.intervals(level).T, none]))
    return tuple(np.stack(rows, axis=1))  # pyright: ignore[reportReturnType]


def truth_of(truth: Truth, terms: tuple[str, ...]) -> Array:
    """True values in the order of terms; InferenceError I10."""
    if isinstance(truth, Mapping):
        missing = [term for term in terms if term not in truth]
        if missing:
            raise _impossible(f"no truth is given for {missing[0]!r}.", "truth={term: number, …}")
        return np.array([float(truth[term]) for term in terms])
    true = np.atleast_1d(np.asarray(truth, dtype=np.float64))
    if true.shape != (len(terms),):
        text = f"{true.size} true values for {len(terms)} terms ({', '.join(terms[:6])})."
        raise _impossible(text, "one number a term, or a mapping")
    return true


def _impossible(text: str, hint: str) -> InferenceError:
    return InferenceError(text, code="I10", hint=hint, state=None)
