"""Expected precision of quantiles, from public facts."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from statistics import NormalDist
from typing import Any, cast

import numpy as np

from tacit.base.arrays import Array
from tacit.method.quantiles import cut_tree
from tacit.method.quantiles.design import is_sized, reach, split
from tacit.method.quantiles.many_laws import equal_laws
from tacit.method.quantiles.plan_widths import Recorded, width_of
from tacit.method.quantiles.query import Quantiles
from tacit.method.quantiles.rank_errors import scale_of
from tacit.method.shared.measurement import Measurement, PartSpec
from tacit.method.shared.plan_expected import Expected
from tacit.method.shared.plan_shapes import Laws
from tacit.method.shared.plan_shares import NOTHING, cell_shares, laws_told, presence, spread_of
from tacit.release.parts import cell_labels
from tacit.rows.row_map import RowMap
from tacit.schema.expectations import Expectations


def expected(shape: Measurement, rows: int, level: float, expect: Expectations = NOTHING) -> list[Expected]:
    """Return the expected precision of each quantile, for values as expected, or spread evenly over the bounds.

    An interval reaches from rank p n - c to p n + c of the n rows of a cell, and is cut to the bounds.  `level` is
    ignored: the intervals are released, at the level of the question.  Of points alone (interval=False) the width is
    that of the interval of `level` that would hold their error, which is not released.
    """
    query = cast(Quantiles, shape.query)
    level = query.level if query.interval else level
    chosen = _one_by_one(shape)
    if chosen[0].form.name == "cuts":
        return _of_cuts(shape, rows, level, expect)
    at = chosen[0].rowmap
    assert at is not None
    # with more cells than rows the width is that of the bounds
    each = np.maximum(1.0, np.floor(rows * presence(at, expect) * cell_shares(shape, expect)))
    made = {float(n): _of_cell(shape, chosen, float(n), level, expect) for n in set(each.tolist())}
    return _named(shape, each, made)


def _one_by_one(shape: Measurement) -> tuple[PartSpec, ...]:
    """Return a part for each quantile; of those that are selected by halving, one with the same error in ranks."""
    chosen, probs = split(shape)[0], cast("tuple[Fraction, ...]", cast(Quantiles, shape.query).probs)
    if chosen[0].form.name != "halved":
        return chosen
    one = chosen[0]
    laws = equal_laws(probs, 1 / Fraction(one.law.scale), replaces=shape.neighbors == "replace-one")
    facts = ({"G": one.form.parameters["G"], "numerator": p.numerator, "denominator": p.denominator} for p in probs)
    return tuple(
        replace(one, form=replace(one.form, name="point", parameters=given), law=cast(Any, law))
        for given, law in zip(facts, laws, strict=True)
    )


def _of_cell(
    shape: Measurement, chosen: tuple[PartSpec, ...], rows: float, level: float, expect: Expectations
) -> list[Expected]:
    """Return the expected precision of each quantile of a cell of `rows` rows."""
    query = cast(Quantiles, shape.query)
    z = NormalDist().inv_cdf(0.5 + level / 2)
    found: list[Expected] = []
    for p, column in zip(map(float, cast("tuple[Fraction, ...]", query.probs)), chosen, strict=True):
        at = column.rowmap
        assert at is not None
        c = _half(column, rows, level, z)
        # a sample quantile stands at a rank whose standard deviation is sqrt(n p (1 - p))
        own = z * math.sqrt(p * (1 - p) * rows)
        found.append(_expected(at, expect, p, rows, (c, own), z, query.interval))
    return found


def _expected(
    at: RowMap, expect: Expectations, p: float, rows: float, halves: tuple[float, float], z: float, interval: bool
) -> Expected:
    """Return the expected precision of a quantile; halves: of the interval's width in ranks, and without privacy.

    A mean and a standard deviation leave open how dense values are at a quantile: the width ranges over laws that have
    both (`plan_shapes`).
    """
    span, law = at.upper - at.lower, spread_of(at, expect)
    made = width_of(
        _laws(at, expect) or law, p, halves[0] / rows, halves[1] / rows, _recorded(at, expect, interval=interval)
    )
    width, without = made.middle * span, made.without * span
    privacy = max(0.0, 1 - (without / width) ** 2) if width else 0.0
    between = None if made.between is None else (made.between[0] * span, made.between[1] * span)
    value = at.lower + made.value * span
    return Expected(f"{p:g}", value, width, privacy, without, width / (2 * z), rows, None if law.uniform else between)


def _laws(at: RowMap, expect: Expectations) -> Laws | None:
    """Return the laws that a column may have; None where nothing is told of it, or no law has what is told."""
    found = expect.numbers.get(at.column)
    return None if found is None else laws_told(found)


def _recorded(at: RowMap, expect: Expectations, *, interval: bool) -> Recorded:
    """Return how values of a column are recorded: whole numbers, days, declared multiples and heaps."""
    span = at.upper - at.lower
    unit, heaps = expect.units.get(at.column, (0.0, 0.0))
    unit = unit if at.kind == "real" else 1.0
    first = -at.lower / heaps % 1 * heaps / span if heaps else 0.0
    return Recorded(unit / span, heaps / span, 1 / at.G if interval else 0.0, first)


def _of_cuts(shape: Measurement, rows: int, level: float, expect: Expectations) -> list[Expected]:
    """Return the expected precision of quantiles whose intervals are read from cuts."""
    at = cast(RowMap, shape.columns[0].rowmap)
    each = np.maximum(1.0, np.floor(rows * presence(at, expect) * cell_shares(shape, expect)))
    made = {float(n): _of_cut_cell(shape, float(n), level, expect) for n in set(each.tolist())}
    return _named(shape, each, made)


def _of_cut_cell(shape: Measurement, n: float, level: float, expect: Expectations) -> list[Expected]:
    """Return the expected precision of each quantile of a cell of n rows."""
    query, cutting = cast(Quantiles, shape.query), shape.columns[0]
    at, probs = cast(RowMap, cutting.rowmap), cast("tuple[Fraction, ...]", query.probs)
    facts, z = cutting.form.parameters, NormalDist().inv_cdf(0.5 + level / 2)
    given = cut_tree.CutPlan(facts["levels"], facts["even"], Fraction(0), facts["reach"])
    noise, sized = float(shape.columns[1].law.variance()), is_sized(shape)
    ranks = cut_tree.widths_of(
        probs, n, 1 / Fraction(cutting.law.scale), noise, level, given,
        replaces=shape.neighbors == "replace-one", sized=sized,
    )  # fmt: skip
    p = np.array([float(one) for one in probs])
    ended = cut_tree.ended(cut_tree.places(probs, given), p, n, n * p * (1 - p), noise, level, sized=sized)
    found: list[Expected] = []
    for one, half, sides in zip(p.tolist(), np.array(ranks) / 2, ended.tolist(), strict=True):
        own = z * math.sqrt(one * (1 - one) * n)
        found.append(_to_bounds(_expected(at, expect, one, n, (float(half), own), z, True), at, sides))
    return found


def _to_bounds(made: Expected, at: RowMap, ended: list[bool]) -> Expected:
    """Return an expectation whose range of widths reaches to the bounds that may end the interval.

    Where a range is said at all: the largest width then has half of its own on the other side.
    """
    if made.between is None or all(ended):
        return made
    far = (made.value - at.lower, at.upper - made.value)
    most = sum(made.between[1] / 2 if end else one for end, one in zip(ended, far, strict=True))
    return replace(made, between=(made.between[0], max(made.between[1], min(most, at.upper - at.lower))))


def _named(shape: Measurement, each: Array, made: Mapping[float, list[Expected]]) -> list[Expected]:
    """Return the precisions of all cells with the names of their terms; each: the rows of each cell."""
    if not shape.keys:
        return made[float(each[0])]
    several = len(cast("tuple[Fraction, ...]", cast(Quantiles, shape.query).probs)) > 1
    return [
        replace(one, term=f"{cell}:{one.term}" if several else cell)
        for cell, n in zip(cell_labels(shape.levels), each, strict=True)
        for one in made[float(n)]
    ]


def _half(column: PartSpec, rows: float, level: float, z: float) -> float:
    """Return the half-width of an interval in ranks; of a point alone, z standard deviations of its error."""
    if column.form.name != "point":
        return reach(column, rows, level)
    facts = column.form.parameters
    p, scale = facts["numerator"] / facts["denominator"], scale_of(facts, column.law.scale)
    # a Laplace error has variance 2 scale**2
    return z * math.sqrt(rows * p * (1 - p) + 2 * scale**2)
