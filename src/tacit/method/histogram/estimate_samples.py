"""Synthetic rows drawn from a released histogram, with the table's columns, labels and types.  Post-processing."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, TypeAlias, cast

import numpy as np
from numpy.typing import NDArray

from tacit.base.arrays import Array
from tacit.base.lazy_imports import pandas
from tacit.base.simplex import nearest_with_sum
from tacit.errors import InferenceError
from tacit.estimates.bins import BINNED, logistic_of, nearest_multiples, spans
from tacit.estimates.synthetic.random_numbers import check_number, generator
from tacit.fits.cells.cell_arrays import CellAxis, CellCounts
from tacit.fits.cells.released_cells import cells_of, counts_of
from tacit.fits.cells.within_cells import BinShape
from tacit.release.document import Released
from tacit.release.parts import Axis as Facts
from tacit.release.parts import Levels
from tacit.schema.logistic_bins import LogisticBins

if TYPE_CHECKING:
    import pandas as pd  # pyright: ignore[reportMissingTypeStubs]

Rng: TypeAlias = int | np.random.Generator | None
Whole: TypeAlias = NDArray[np.int64]

NANOSECONDS: Final = 106_751
"""Days before or after 1970-01-01 that 64-bit nanoseconds can represent (years 1677 to 2262)."""


def sample(release: Released, n: int, rng: Rng = None) -> pd.DataFrame:
    """Draw `n` synthetic rows from a released or simulated histogram; see `HistogramRelease.sample`.

    >>> import tacit as tc
    >>> people = {"age": list(range(18, 94)) * 20, "sex": ["f", "m"] * 760}
    >>> schema = tc.Schema({"age": tc.Integer(18, 93), "sex": tc.Category(["f", "m"])})
    >>> curator = tc.Curator(people, schema, budget=tc.Budget(rho=1))
    >>> cells = curator.release(tc.Histogram(["age", "sex"], bins={"age": 5}), rho=0.1)
    >>> rows = cells.sample(1_000, rng=0)
    >>> rows.shape, [str(kind) for kind in rows.dtypes], bool(rows["age"].between(18, 93).all())
    ((1000, 2), ['int64', 'category'], True)
    """
    check_number(n)
    facts = cast("tuple[Facts, ...]", getattr(release, "axes", ()))
    maps = logistic(release)
    made = rows(cells_of(release), facts, release.ordered, int(n), generator(rng), maps)
    made.attrs["note"] = note(release)
    return made


def logistic(release: Released) -> Mapping[str, LogisticBins]:
    """Return the logistic bins of the columns that have them, by name."""
    found = {name: logistic_of(release, name) for name, _ in release.levels}
    return {name: one for name, one in found.items() if one is not None}


def rows(
    cells: CellCounts,
    facts: tuple[Facts, ...],
    ordered: Levels,
    n: int,
    rng: np.random.Generator,
    maps: Mapping[str, LogisticBins] | None = None,
) -> pd.DataFrame:
    """Draw cells with the projected probabilities and a value within each; InferenceError I63 if all counts are noise.

    facts: the public axis of each column of the cells.  Values are uniform within a bin: real numbers between its
    edges, whole numbers and days over those that lie in it.  Cells below or above the bounds give the bound, cells of
    missing values NA.  maps: logistic bins by column; there values are uniform on the logistic scale, in the open end
    bins too.
    """
    drawn = draw(cells, [possible_cells(axis, fact) for axis, fact in zip(cells.axes, facts, strict=True)], n, rng)
    return frame_of(cells.axes, facts, ordered, drawn, rng, maps or {}, (None,) * len(drawn))


def frame_of(
    axes: Sequence[CellAxis],
    facts: Sequence[Facts],
    ordered: Levels,
    drawn: Sequence[Whole],
    rng: np.random.Generator,
    maps: Mapping[str, LogisticBins],
    shapes: Sequence[BinShape | None],
) -> pd.DataFrame:
    """Draw a value for each row in the cell that it has along each axis, indices of shape (n,).

    shapes: along each axis the density within each row's bin; None for even values.
    """
    order = dict(ordered)
    columns = {
        axis.name: _column(axis, fact, order.get(axis.name), places, rng, maps.get(axis.name), shape)
        for axis, fact, places, shape in zip(axes, facts, drawn, shapes, strict=True)
    }
    return pandas().DataFrame(columns, copy=False)


def draw(cells: CellCounts, possible: list[Whole], n: int, rng: np.random.Generator) -> list[Whole]:
    """Return indices along each axis of `n` cells drawn with the projected probabilities, shape (n,) each.

    possible: indices along each axis of cells that can hold rows; the projection leaves the others out.
    InferenceError I63 where the total is 0 or less.
    """
    counts = cells.counts[np.ix_(*possible)]
    size = cells.total if cells.total is not None else float(counts.sum())
    if size <= 0:
        text = f"the noisy counts add up to {size:,.0f}: this release is all noise, and there is nothing to draw from."
        raise InferenceError(text, code="I63", hint="a higher price, or fewer cells, in a new release", state=None)
    # probabilities must be non-negative: the nearest counts in least squares with the same total
    places = drawn_cells(nearest_with_sum(counts, size), n, rng)
    return [one[place] for one, place in zip(possible, places, strict=True)]


def drawn_cells(weights: Array, n: int, rng: np.random.Generator) -> tuple[Whole, ...]:
    """Return indices along each axis of `n` cells drawn in proportion to weights, which are 0 or more; shape (n,)."""
    flat = weights.reshape(-1)
    filled = np.flatnonzero(flat)  # multinomial draws take time of the cells given: most projected ones are 0
    shares = flat[filled] / flat[filled].sum()
    # the law of n independent draws, in less time: counts of cells first, then a random order
    found = np.repeat(filled, rng.multinomial(n, shares))
    rng.shuffle(found)
    return np.unravel_index(found, weights.shape)


def note(release: Released) -> str:
    """Return a note of about ten lines on what synthetic rows are and what an analysis of them ignores.

    >>> import tacit as tc
    >>> curator = tc.Curator({"ok": [True, False] * 500}, tc.Schema({"ok": tc.Boolean()}), budget=tc.Budget(rho=1))
    >>> print(note(curator.release(tc.Histogram("ok"), rho=0.1)))
    Synthetic rows, drawn from the noisy histogram of ok of table (1,000 rows, replace-one; cost ρ = 0.1). ...
    """
    from tacit.estimates.wording import title, who

    what = title(release)
    what = what[0].lower() + what[1:]
    size = f"{release.rows:,} {who(release)}, " if release.rows is not None else ""
    cells = int(np.prod([len(labels) for _, labels in release.levels], dtype=np.int64))
    part = release.parts[0]
    sd = float(np.sqrt(part.law.variance())) / part.parameters.get("share", 1)
    found = float(release.rows if release.rows is not None else counts_of(release).sum())
    each = (
        f"standard deviation {sd:,.3g} in each of {cells:,} cells, with {found / cells:,.3g} {who(release)} on average"
    )
    drawn = [
        f"Values of {name} follow the law of its bins, beyond {one.edges[0]:,.4g} and {one.edges[-1]:,.4g} too, "
        "where nothing is known but how many there are."
        for name, one in logistic(release).items()
    ]
    persons = ["Rows of one person are not told from those of others."] if release.unit is not None else []
    words = [
        f"Synthetic rows, drawn from the noisy {what} of {release.table} ({size}{release.neighbors}; cost",
        f"{release.cost}). They are nobody's, as many as were asked for, and cost nothing more.",
        "What is computed from them as if they were the table ignores",
        f"(1) the noise: {each};",
        "(2) the projection: counts below 0 became 0 and the others were lowered, which is not unbiased;",
        "(3) the table's own sampling error: more synthetic rows than the table had show no more of the people;",
        "(4) the drawing of these rows, which adds an error of its own;",
        "(5) everything within a cell: there values are even and independent of one another.",
        "Standard errors, intervals and p-values from them are wrong; those of fit(), margin() and density() are not.",
        *drawn,
        *persons,
    ]
    return textwrap.fill(" ".join(words), 120, break_on_hyphens=False)


def possible_cells(axis: CellAxis, fact: Facts) -> Whole:
    """Return indices of the cells that can hold rows: all but bins of an Integer that contain no whole number."""
    if fact.kind not in BINNED:
        return np.arange(axis.size)
    lower, upper = spans(fact)
    # cells after the bins (missing, below, above) can always hold rows
    return np.append(np.flatnonzero(upper > lower), np.arange(len(lower), axis.size)).astype(np.int64)


def _column(
    axis: CellAxis,
    fact: Facts,
    order: tuple[str, ...] | None,
    places: Whole,
    rng: np.random.Generator,
    map_: LogisticBins | None,
    shape: BinShape | None = None,
) -> Any:
    """Return values of the column for cell indices `places`, missing for the cell of missing values.

    shape: the density within the bin of each, shape (n,); None for even values.
    """
    beside = axis.size - len(axis.extra)
    missing = np.zeros(len(places), dtype=np.bool_)
    if "missing" in axis.extra:
        missing = places == beside + axis.extra.index("missing")
    if fact.kind in BINNED:
        found = _numbers(axis, fact, places, rng, shape) if map_ is None else _mapped(axis, places, rng, map_)
        return _typed(found, fact.kind, missing, "missing" in axis.extra)
    labels = (axis.labels or ())[:beside]
    if labels == ("false", "true"):
        return _nullable(places == 1, missing, "boolean") if "missing" in axis.extra else places == 1
    return pandas().Categorical.from_codes(np.where(missing, -1, places), list(labels), ordered=order == labels)


def _numbers(
    axis: CellAxis, fact: Facts, places: Whole, rng: np.random.Generator, shape: BinShape | None
) -> Array | Whole:
    """Return a value in the bin of each index, or the bound for cells beyond it; arbitrary where it is missing."""
    lower, upper = spans(fact)
    # cells after the bins get any bin here, and their own value below
    bins = np.minimum(places, len(lower) - 1)
    if fact.kind == "real":
        found: Any = lower[bins] + (upper - lower)[bins] * _shares(len(bins), rng, shape)
        first, last = float(lower[0]), float(upper[-1])
        if fact.multiple_of is not None:
            # each value has the unit around it
            half = fact.multiple_of / 2
            found = nearest_multiples(found, fact.multiple_of)
            first, last = nearest_multiples(np.array([first + half, last - half]), fact.multiple_of).tolist()
            found = np.clip(found, first, last)
        if fact.heaped_at is not None:
            # of any share of rows, as is declared: a share is drawn; a row stays in its bin
            near = nearest_multiples(found, fact.heaped_at)
            told = (rng.random(len(near)) < rng.random()) & (near >= lower[bins]) & (near < upper[bins])
            found = np.where(told, near, found)
    else:
        # whole numbers from `start` to below `end`: lower ends are v - 1/2 for whole numbers, v for days
        start, end = np.ceil(lower).astype(np.int64), np.ceil(upper).astype(np.int64)
        end = np.maximum(end, start + 1)  # bins without a whole number are never drawn, but need a valid range
        if shape is None:
            found = rng.integers(start[bins], end[bins])
        else:
            long = (end - start)[bins]
            found = start[bins] + np.minimum((long * _shares(len(bins), rng, shape)).astype(np.int64), long - 1)
        first, last = int(start[0]), int(end[-1]) - 1
    for name, bound in (("below", first), ("above", last)):
        if name in axis.extra:
            found[places == axis.size - len(axis.extra) + axis.extra.index(name)] = bound
    return found


def _shares(n: int, rng: np.random.Generator, shape: BinShape | None) -> Array:
    """Return places within bins as shares of their widths: even, or of a density there."""
    drawn = rng.random(n)
    return drawn if shape is None else shape.places(drawn)


def _mapped(axis: CellAxis, places: Whole, rng: np.random.Generator, bins: LogisticBins) -> Array:
    """Return a value of the public logistic law in the bin of each index; arbitrary where the value is missing."""
    # the axis has the inner bins; the first and the last of the map are its cells below and above
    at = np.minimum(places + 1, bins.bins - 1)
    for name, end in (("below", 0), ("above", bins.bins - 1)):
        at = np.where(places == axis.bins + axis.extra.index(name), end, at)
    share = rng.random(len(at))
    # a share of exactly 0 in the first bin is minus infinity on the column's scale
    return bins.back((at + np.where(share == 0.0, 0.5, share)) / bins.bins)


def _typed(values: Any, kind: str, missing: NDArray[np.bool_], nullable: bool) -> Any:
    """Return values with the column's dtype: floats with NaN, whole numbers with NA if `nullable`, days with NaT."""
    if kind == "real":
        values[missing] = np.nan
        return values
    if kind == "date":
        # pandas' usual unit of time does not reach dates beyond
        fits = bool((np.abs(values) <= NANOSECONDS).all())
        days = values.astype("datetime64[D]").astype("datetime64[ns]" if fits else "datetime64[s]")
        days[missing] = np.datetime64("NaT")
        return days
    return _nullable(values, missing, "Int64") if nullable else values


def _nullable(values: Any, missing: NDArray[np.bool_], dtype: str) -> Any:
    """Return a nullable pandas array with NA where `missing`."""
    found = pandas().array(values, dtype=dtype)
    found[missing] = pandas().NA
    return found
