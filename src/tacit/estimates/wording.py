"""Words for a release: its title, estimands, bounds, treatment of missing values, population."""

from __future__ import annotations

import math
from typing import Any, Final, cast

import numpy as np

from tacit.base.listed_words import listed
from tacit.base.table import format_interval, format_number
from tacit.estimates.bins import nearest_multiples
from tacit.estimates.dates import interval_of
from tacit.estimates.terms import Target
from tacit.release.document import Released
from tacit.release.parts import OF_BLOCKS, Axis, Part

NUMERIC: Final = ("real", "integer", "date")


def source_of(release: Released) -> str:
    """Return a text that identifies a release (table, charge, chain head); each simulated release has its own."""
    head = getattr(release, "head", None)
    # without a place in a ledger's chain nothing but the object itself tells two releases apart
    if not head:
        return f"simulated {id(release)}"
    words = [release.table, *(getattr(release, name, "") for name in ("charge", "head", "name", "mechanism"))]
    return "/".join(str(word) for word in (*words, release.query))


def people_of(release: Released) -> str:
    """Return a text that identifies the population: the ledger if it is recorded, else the table's name."""
    ledger = getattr(release, "ledger", None)
    return f"ledger {ledger}" if ledger and getattr(release, "recorded", False) else f"table {release.table}"


def column_notes(name: str, missing: str, where: str = "bin") -> tuple[str, ...]:
    """Return notes on a column whose whole distribution is told: missing cells, and values beyond its bounds.

    missing: how the schema treats missing cells.  where: what the column is cut into.
    """
    left = (f"{name} missing: left out",) if missing == "exclude" else ()
    return (*left, f"values of {name} beyond its bounds are in the first and the last {where}")


def title(release: Released) -> str:
    """Return the question in words: Mean of age by sex."""
    query = cast(Any, release.query)
    kind = type(query).__name__
    if kind == "Bootstrap":
        statistic = query.statistic
        law = type(statistic).__name__ == "SufficientStatistics"
        words = f"statistics of {_law(statistic)}" if law else _asked(statistic, who(release))
        return f"Bootstrap of {words}, {query.replicates} replicates"
    if kind == "DataQuality":
        return f"Quality of {listed(tuple(part.label for part in release.parts))}"
    if kind == "SampleAndAggregate":
        model = query.model.words
        law = "" if model["family"] == "Statistic" else " law"
        words = f"{model.get('name', model['family'])}{law} of {listed(tuple(query.what))}"
        return words + condition(query)
    if kind == "SufficientStatistics":
        return _law(query)
    if kind == "Additive":
        by = f" by {listed(tuple(query.by))}" if query.by else ""
        return query.called + by + condition(query)
    if kind == "OrthogonalSeries":
        words = f"{query.basis.capitalize()} series of {listed(tuple(query.columns))}"
        return words + condition(query)
    if kind == "Bernstein":
        return f"Distribution function of {query.column}{condition(query)}"
    if kind == "RiskFunction":
        words = f"{query.loss.capitalize()} risk of {query.outcome} on {listed(tuple(query.on))}"
        return words + condition(query)
    if kind == "UnlistedLevels":
        return f"Levels of {query.column}{condition(query)}"
    if kind == "KernelDensity":
        return f"Kernel density of {listed(tuple(query.columns))}{condition(query)}"
    if kind == "KSDataset":
        return f"Data set of {query.column}{condition(query)}"
    if kind == "ExponentialMechanism":
        return f"Selection by {listed(tuple(query.columns))}{condition(query)}"
    if kind == "Histogram":
        return f"Histogram of {listed(tuple(query.columns))}{condition(query)}"
    what = _asked(query, who(release))
    return f"{what}, weighted by {query.weights}" if getattr(query, "weights", None) else what


def condition(query: Any) -> str:
    """Return the condition that rows had to meet, in words with a blank before; empty where there is none."""
    where = getattr(query, "where", None)
    return f" where {where}" if where else ""


def _law(query: Any) -> str:
    """Return the family that sufficient statistics are of, in words."""
    words = f"{query.family.words['family']} law of {query.what}"
    return words + condition(query)


def _columns(query: Any) -> tuple[str, ...]:
    """Return the columns that a question is about."""
    kind = type(query).__name__
    return (query.column,) if kind in ("Quantiles", "Range") else tuple(getattr(query, "columns", ()))


def _asked(query: Any, counted: str) -> str:
    """Return what a question about columns asks, in words."""
    kind, by = type(query).__name__, tuple(getattr(query, "by", ()))
    what = f"Number of {counted}" if kind == "Count" else f"{kind} of {listed(_columns(query))}"
    what = f"{what} by {listed(by)}" if by else what
    return what + condition(query)


def who(release: Released) -> str:
    """What is counted: rows, or persons where the schema has a PrivacyUnit."""
    return "rows" if release.unit is None else "persons"


def counting(release: Released) -> str:
    """Return how the rows of a person count, in words; empty where a person has the mean of all of them.

    Only where rows add up does their number matter, and only there `max_rows` limits it.
    """
    asked = _question(release)
    kind = type(asked).__name__
    if kind in ("Sum", "Additive") or getattr(asked, "per", None) == "row":
        return f", {release.unit} at most counting"
    if kind in ("Mean", "Variance", "Quantiles", "SampleAndAggregate"):
        return ", shared out among the groups of these rows" if parted(release.parts[0]) else ""
    return ", which weigh one in all"


def parted(part: Part) -> bool:
    """Return whether a person may be in several cells, with a part of their weight in each."""
    facts = part.parameters
    # what the encodings have for several cells alone: p = 1, j = 1 (Laplace) or k = 2 (Gaussian)
    return "share" in facts or facts.get("first") == 1 or facts.get("less") == 1 or facts.get("edge") == 2


def estimand(release: Released, target: Target, label: str | None = None) -> str:
    """What is estimated, in words: "mean of age, values clamped to 0–100 years"."""
    asked = _question(release)
    kind = type(asked).__name__
    fixed = release.rows is not None
    if kind == "Count":
        words = f"number of {who(release)}"
        if release.parts[0].weight is not None:
            words = f"sum of weights (size of the population){_weights(release, release.parts[0])}"
    else:
        # replicates of a bootstrap have the same labels
        first = {part.label: part for part in reversed(release.parts) if label in (None, part.label)}
        parts = list(reversed(first.values()))
        words = f"{_kind(release, parts[0])} of {listed(tuple(_column(part) for part in parts))}"
        words += _weights(release, parts[0])
    condition = getattr(asked, "where", None)
    words += f", where {condition}" if condition else ""
    if kind == "Variance":
        words += ", divisor n - 1"
    if target == "table":
        return f"{words}, of the {who(release)} of this table"
    if kind in ("Count", "Sum"):
        drawn = (
            f"{release.rows:,} {who(release)}" if fixed else f"{who(release)} whose number is itself random (Poisson)"
        )
        return f"expected {words}, in a table of {drawn} drawn like this one"
    return words


def density(release: Released, column: str, by: tuple[str, ...], per: str, target: Target) -> str:
    """What a density estimates, in words; per: its unit."""
    each = f" within each {' and '.join(by)}" if by else ""
    words = f"density of {column}{each}: share of {who(release)} {per}"
    condition = getattr(release.query, "where", None)
    words += f", where {condition}" if condition else ""
    return words + (f", of the {who(release)} of this table" if target == "table" else "")


def per_value(kind: str, units: str | None) -> str:
    """The unit of a density, in words: "per unit (years)", "per value", "per day"."""
    if kind == "date":
        return "per day"
    unit = "value" if kind == "integer" else "unit"
    return f"per {unit} ({units})" if units else f"per {unit}"


def _question(release: Released) -> Any:
    """Return the question whose answer is estimated: of a bootstrap, that of its replicates."""
    return getattr(release.query, "statistic", release.query)


def _kind(release: Released, part: Part) -> str:
    """Mean, weighted mean, mean of person means, ..."""
    kind = type(_question(release)).__name__.lower()
    kind = "mean" if kind == "sufficientstatistics" else kind
    if release.unit is not None and part.weight is None:
        each = " in each group" if "share" in part.parameters else ""
        return f"{kind} of person means{each}" if kind == "mean" else f"{kind} between persons, of person means{each},"
    return f"weighted {kind}" if getattr(release.query, "weights", None) else kind


def _weights(release: Released, part: Part) -> str:
    """Return how rows or persons are weighted, in words; empty without weights."""
    if part.weight is None:
        return ", persons counting by the part of their rows there" if "share" in part.parameters and part.label else ""
    by_rows = f", persons counting by their rows, at most {release.unit} of them"
    if part.weight.kind == "rows":
        return by_rows
    column, cap = getattr(release.query, "weights", ""), part.weight.upper
    if release.unit is None:
        return f", weights {column} clamped to 0–{_number(cap)}"
    if type(release.query).__name__ == "Sum" or getattr(release.query, "per", None) == "row":
        return f", weights {column} clamped to 0–{_number(cap / release.unit)}{by_rows}"
    there = ", the part of it that their rows there have" if release.levels and parted(part) else ""
    return f", persons weighing the mean of their rows' {column}, clamped to 0–{_number(cap)}{there}"


def _column(part: Part) -> str:
    grid = part.grid
    if grid is None or grid.kind == "boolean":
        return part.label
    units = f" {grid.units}" if grid.units else ""
    ends = f"{_number(grid.lower)}–{_number(grid.upper)}{units}"
    if grid.kind == "date":
        ends = interval_of(grid.lower, grid.upper, decimals=0, dated=True)
    return f"{part.label}, values clamped to {ends}"


def bounds_words(part: Part) -> str:
    """Clamping bounds in words (bounds 0 to 100 years); empty for a Boolean column."""
    grid = part.grid
    if grid is None or grid.kind in ("boolean", "score"):  # scores are clipped alike, whatever they are of
        return ""
    return _bounds(grid.kind, grid.lower, grid.upper, grid.units)


def bounds_of(release: Released) -> dict[str, str]:
    """Return the bounds to which values were clamped, by label; of a winsorised parameter the box of its first part.

    Those of a part are its own; those of a regression or a histogram are of its columns.
    """
    found = _of_columns(release)
    for part in release.parts:
        words = bounds_words(part)
        if words and not (part.form in OF_BLOCKS and part.label in found):
            found[part.label] = words
    return found


def _of_columns(release: Released) -> dict[str, str]:
    """Return the bounds of the numeric columns of a regression or a histogram, by name.

    None for a histogram's column with cells below and above its bounds: its values are not clamped.
    """
    found = [
        (one.name, one.kind, one.lower, one.upper, one.units)
        for one in getattr(release, "variables", ())
        if one.kind in NUMERIC
    ]
    found += [
        (name, axis.kind, *_ends(axis), axis.units)
        for (name, _), axis in zip(release.levels, getattr(release, "axes", ()), strict=False)
        if axis.kind in NUMERIC and axis.edges and "below" not in axis.extra
    ]
    return {name: _bounds(kind, low, high, units) for name, kind, low, high, units in found}


def _ends(axis: Axis) -> tuple[float, float]:
    """Return the bounds of a numeric axis; bins of whole numbers, or multiples, end half a unit beyond them."""
    if axis.multiple_of is not None:
        first, last = nearest_multiples(
            np.array([axis.edges[0] + axis.multiple_of / 2, axis.edges[-1] - axis.multiple_of / 2]), axis.multiple_of
        )
        return float(first), float(last)
    half = 0.5 if axis.kind == "integer" and axis.edges[0] % 1 == 0.5 else 0.0
    return axis.edges[0] + half, axis.edges[-1] - half


def _bounds(kind: str, low: float, high: float, units: str | None) -> str:
    """Return bounds in words, those of dates as dates."""
    if kind == "date":
        return f"bounds {interval_of(low, high, decimals=0, dated=True)}"
    return f"bounds {_number(low)} to {_number(high)}{f' {units}' if units else ''}"


def in_blocks(release: Released) -> bool:
    """Return whether bounds are boxes of parameters, to which the estimates of blocks are clamped."""
    return type(release.query).__name__ == "SampleAndAggregate"


def missing_words(release: Released) -> str:
    """Return how missing values were treated, in words."""
    rules = {part.label: part.grid.missing for part in release.parts if part.grid is not None}
    said = {rule: "left out" if rule == "exclude" else f"counted as {rule}" for rule in rules.values()}
    if len(said) == 1:
        return f"missing: {next(iter(said.values()))}"
    return "missing: " + ", ".join(f"{column} {said[rule]}" for column, rule in rules.items())


LONGEST_BOUND: Final = 12
"""Most characters of a bound that is shown with all its digits."""


def _number(x: float) -> str:
    if float(x).is_integer():
        return f"{x:,.0f}"
    # a computed bound has all its digits
    return f"{x:,}" if len(repr(x)) <= LONGEST_BOUND else f"{x:,.6g}"


def ratio_words(value: float, low: float, high: float) -> tuple[str, str]:
    """Return a ratio and its interval in words, with as many decimals as tell both ends apart.

    >>> ratio_words(1.0496, 1.0453, 1.0539), ratio_words(6.215, 5.27, 7.34), ratio_words(2.0, 0.5, math.inf)
    (('1.0496', '1.0453 to 1.0539'), ('6.21', '5.27 to 7.34'), ('2', 'above 0.5'))
    """
    if not math.isfinite(high - low) or high <= low:
        return f"{value:.4g}", interval_words(low, high)
    # two digits of a standard error, of which an interval has about four
    places = min(max(1 - math.floor(math.log10((high - low) / 4)), 0), 8)
    return format_number(value, decimals=places), format_interval(low, high, decimals=places)


def interval_words(low: float, high: float) -> str:
    """An interval of a ratio in words, where it may have no end.

    >>> interval_words(0.5, 2.25), interval_words(0.5, math.inf), interval_words(-math.inf, math.inf)
    ('0.5 to 2.25', 'above 0.5', 'any')
    """
    if math.isfinite(high):
        return f"{low:.3g} to {high:.3g}"
    return f"above {low:.3g}" if math.isfinite(low) else "any"
