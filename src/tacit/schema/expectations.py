"""What is known of columns before anything is asked: means, shares and parameters that somebody declares, for plans.

They are public words, as the schema is, and come from elsewhere (a census, last year's report), never from the table.
No release depends on them: only the widths that a plan foretells.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import date
from typing import Any, Final, TypeAlias, cast

from tacit.base.arguments import described
from tacit.errors import QueryError, nearest
from tacit.schema.column_checks import day
from tacit.schema.column_table import ColumnTable
from tacit.schema.column_types import Boolean, Category, Date, Integer, Real
from tacit.schema.expected_quantiles import moments, told_quantiles
from tacit.schema.row_maps_of_columns import column_of, keymap

Expect: TypeAlias = Mapping[str, Mapping[Any, Any]]
"""{"borough": {"Manhattan": 0.7, "Queens": 0.2}, "fare": {"mean": 12, "sd": 9, "quantiles": {0.5: 10}}}."""
Asked: TypeAlias = Mapping[str, Mapping[str, tuple[float, float]]]
"""Boxes of the parameters that questions ask for, by the column of a question and by the question's name."""
NUMBERS: Final = ("mean", "sd", "missing", "quantiles")
SLACK: Final = 1e-9
"""Shares that add up to 1 in decimals may not in floats."""
EPOCH: Final = date(1970, 1, 1).toordinal()


@dataclass(frozen=True)
class ExpectedNumbers:
    """The mean and standard deviation that a column of numbers is expected to have, and its share of missing cells.

    In the column's units (dates: days since 1970-01-01); lower, upper: the bounds of the schema.
    quantiles: those that are told, by probability, in rising order.
    """

    mean: float
    sd: float
    missing: float
    lower: float
    upper: float
    quantiles: tuple[tuple[float, float], ...] = ()

    @property
    def shape(self) -> tuple[float, float]:
        """Mean and standard deviation as parts of the range, where the bounds are 0 and 1."""
        span = self.upper - self.lower
        return (self.mean - self.lower) / span, self.sd / span


@dataclass(frozen=True)
class Expectations:
    """What is expected of columns by name: `numbers` of those of numbers, `shares` of the levels of the others.

    shares: one number for each label of the column, in the schema's order; what they lack to 1 is missing cells.
    parameters: of laws, by the column that a question asks of or by the question's name ("" for the one at hand).

    >>> from tacit.schema import Category, Real, Schema
    >>> schema = Schema({"borough": Category(["north", "south", "west"]), "fare": Real(0, 100)})
    >>> made = Expectations.of({"borough": {"north": 0.5}, "fare": {"mean": 12, "sd": 9}}, schema)
    >>> made.shares["borough"], made.numbers["fare"].shape
    ((0.5, 0.25, 0.25), (0.12, 0.09))
    """

    numbers: Mapping[str, ExpectedNumbers] = field(default_factory=dict[str, ExpectedNumbers])
    shares: Mapping[str, tuple[float, ...]] = field(default_factory=dict[str, "tuple[float, ...]"])
    parameters: Mapping[str, Mapping[str, float]] = field(default_factory=dict[str, "Mapping[str, float]"])
    units: Mapping[str, tuple[float, float]] = field(default_factory=dict[str, "tuple[float, float]"])
    """What the schema declares of a `Real`: `multiple_of` and `heaped_at`, 0 where nothing is."""

    @classmethod
    def of(cls, expect: Expect | None, schema: ColumnTable, asked: Asked | None = None) -> Expectations:
        """Return declared values, checked against a schema; nothing is expected where `expect` is None.

        asked: boxes of the parameters that are asked for.  Under a column's name `mean`, `sd` and `missing` are those
        of the column, and what is else a parameter of a question about it; under a question's name all are parameters.
        Raises QueryError Q10 (no such column), Q42 (a level that the column does not have, shares that are none or add
        up to more than 1, a mean outside the bounds, a standard deviation larger than the bounds allow, a parameter
        that is not asked for or lies outside its box).
        """
        units = _units(schema)
        if expect is None:
            return cls(units=units)
        if not isinstance(expect, Mapping):  # pyright: ignore[reportUnnecessaryIsInstance]
            hint = 'expect={"fare": {"mean": 12, "sd": 9}}'
            raise QueryError(f"expect is {described(expect)}: not a table of columns.", code="Q42", hint=hint)
        numbers: dict[str, ExpectedNumbers] = {}
        shares: dict[str, tuple[float, ...]] = {}
        parameters: dict[str, Mapping[str, float]] = {}
        for name, given in expect.items():
            boxes = (asked or {}).get(name, {})
            if boxes and name not in schema:
                parameters[name] = _parameters(name, given, boxes)
                continue
            column = column_of(schema, name)
            if not isinstance(given, Mapping):  # pyright: ignore[reportUnnecessaryIsInstance]
                raise QueryError(f"expect of {name!r} is {described(given)}.", code="Q42", hint=_example(name, column))
            own = {key: value for key, value in given.items() if key in boxes and key not in NUMBERS}
            if own:
                parameters[name] = _parameters(name, own, boxes)
                given = {key: value for key, value in given.items() if key not in own}
                if not given:
                    continue
            if isinstance(column, Category | Boolean):
                shares[name] = _shares(name, column, given, keymap(schema, name).labels)
            elif isinstance(column, Real | Integer | Date):
                numbers[name] = _numbers(name, column, given)
            else:
                text = f"expect of {name!r}: a {type(column).__name__} has no mean and no shares."
                raise QueryError(text, code="Q42", hint="leave it out")
        return cls(numbers, shares, parameters, units)

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of the columns, and of questions, of which something is expected."""
        return tuple(dict.fromkeys((*self.shares, *self.numbers, *(name for name in self.parameters if name))))

    def of_question(self, name: str) -> Expectations:
        """Return what is expected of one question: its parameters are those of the question at hand."""
        return replace(self, parameters={**self.parameters, "": self.parameters.get(name, {})})


def _units(schema: ColumnTable) -> dict[str, tuple[float, float]]:
    """Return the declared multiples and heaps of columns that have some."""
    real = {name: one for name, one in schema.items() if isinstance(one, Real)}
    made = {name: (float(one.multiple_of or 0), float(one.heaped_at or 0)) for name, one in real.items()}
    return {name: one for name, one in made.items() if any(one)}


def _parameters(name: str, given: object, boxes: Mapping[str, tuple[float, float]]) -> Mapping[str, float]:
    """Return expected parameters, each within its box; QueryError Q42."""
    first = next(iter(boxes))
    hint = f'"{name}": {{"{first}": {sum(boxes[first]) / 2:g}}}'
    if not isinstance(given, Mapping):
        raise QueryError(f"expect of {name!r} is {described(given)}.", code="Q42", hint=hint)
    found: dict[str, float] = {}
    for key, value in cast("Mapping[Any, Any]", given).items():
        if key not in boxes:
            guess = nearest(str(key), list(boxes))
            text = f"expect of {name!r} has {key!r}: none of {', '.join(boxes)}."
            raise QueryError(text, code="Q42", hint=guess or hint)
        number = _finite(name, str(key), value, hint)
        low, high = boxes[key]
        if not low <= number <= high:
            text = f"expect of {name!r}: {key} {number:,.6g} is outside its box, {low:,.6g} to {high:,.6g}."
            raise QueryError(text, code="Q42", hint=hint)
        found[key] = number
    return found


def _numbers(name: str, column: Real | Integer | Date, given: Mapping[Any, Any]) -> ExpectedNumbers:
    """Return a column's expected numbers; QueryError Q42."""
    hint = _example(name, column)
    for key in given:
        if key not in NUMBERS:
            guess = nearest(str(key), NUMBERS)
            raise QueryError(
                f"expect of {name!r} has {key!r}: not mean, sd, quantiles or missing.", code="Q42", hint=guess or hint
            )
    low, high = column.days if isinstance(column, Date) else (column.lower, column.upper)
    if low is None or high is None:
        text = f"expect of {name!r}: the column has no bounds, within which a mean is expected."
        raise QueryError(text, code="Q42", hint=f'"{name}": Real(0, 100) in the schema')
    missing = _share(name, "missing", given.get("missing", 0.0), hint)
    if missing >= 1:
        raise QueryError(f"expect of {name!r}: every cell is missing.", code="Q42", hint=hint)
    quantiles = told_quantiles(name, given["quantiles"], float(low), float(high)) if "quantiles" in given else ()
    if len(quantiles) > 1 and "mean" not in given and "sd" not in given:
        mean, sd = moments(quantiles, float(low), float(high))
        return ExpectedNumbers(mean, sd, missing, float(low), float(high), quantiles)
    if "mean" not in given or "sd" not in given:
        lacking = "mean" if "mean" not in given else "sd"
        raise QueryError(f"expect of {name!r} has no {lacking}.", code="Q42", hint=hint)
    middle = day(given["mean"], f"mean of {name!r}", hint) if isinstance(column, Date) else given["mean"]
    mean, sd = _finite(name, "mean", middle, hint), _finite(name, "sd", given["sd"], hint)
    if not low <= mean <= high:
        text = f"expect of {name!r}: mean {_said(given['mean'])} is outside the bounds {low:,.6g} to {high:,.6g}."
        raise QueryError(text, code="Q42", hint=hint)
    # Bhatia and Davis (2000): no law on [low, high] with this mean has a larger variance; at most half the range
    most = math.sqrt((mean - low) * (high - mean))
    if not 0 <= sd <= most * (1 + SLACK):
        text = f"expect of {name!r}: sd {_said(given['sd'])} is not from 0 to {most:,.4g}, the largest with that mean"
        raise QueryError(f"{text} between {low:,.6g} and {high:,.6g}.", code="Q42", hint=hint)
    return ExpectedNumbers(mean, min(sd, most), missing, float(low), float(high), quantiles)


def _shares(
    name: str, column: Category | Boolean, given: Mapping[Any, Any], labels: tuple[str, ...]
) -> tuple[float, ...]:
    """Return the expected share of each label; QueryError Q42."""
    hint = _example(name, column)
    said: dict[str, float] = {}
    for key, value in given.items():
        label = str(key).lower() if isinstance(key, bool) else key
        if label not in labels:
            known = ", ".join(map(repr, labels[:12])) + (", …" if len(labels) > 12 else "")
            guess = nearest(str(label), labels)
            text = f"expect of {name!r}: {key!r} is no level of it."
            raise QueryError(text, code="Q42", hint=repr(guess) if guess else f"one of {known}")
        said[label] = _share(name, label, value, hint)
    total = math.fsum(said.values())
    if total > 1 + SLACK:
        text = f"expect of {name!r}: shares add up to {total:.6g}, more than 1."
        raise QueryError(text, code="Q42", hint=hint)
    rest = [label for label in labels if label not in said]
    # levels that are not named share what is left; where all are named it is cells without a level
    each = max(0.0, 1 - total) / len(rest) if rest else 0.0
    made = tuple(said.get(label, each) for label in labels)
    if not any(made):
        raise QueryError(f"expect of {name!r}: no level has any rows.", code="Q42", hint=hint)
    return made


def _share(name: str, what: str, value: Any, hint: str) -> float:
    found = _finite(name, what, value, hint)
    if not 0 <= found <= 1:
        text = f"expect of {name!r}: the share of {what!r} is {described(value)}, not from 0 to 1."
        raise QueryError(text, code="Q42", hint=hint)
    return found


def _finite(name: str, what: str, value: Any, hint: str) -> float:
    """Return a finite number; a date as days since 1970-01-01."""
    if isinstance(value, date):
        return float(value.toordinal() - EPOCH)
    sound = isinstance(value, int | float) and not isinstance(value, bool)
    # a huge int is no float; compared and not converted, so that it is refused in words
    if not sound or not abs(cast(float, value)) < 1e300:
        raise QueryError(f"expect of {name!r}: {what} is {described(value)}, not a number.", code="Q42", hint=hint)
    return float(cast(float, value))


def _said(value: Any) -> str:
    return str(value) if isinstance(value, date | str) else f"{value:,.6g}"


def _example(name: str, column: object) -> str:
    """Return what would be right, in words of the file, which are those of Python."""
    if isinstance(column, Category):
        return f'"{name}": {{"{column.labels[0]}": 0.6}}, shares that add up to 1 at most'
    if isinstance(column, Boolean):
        return f'"{name}": {{"true": 0.3}}'
    if isinstance(column, Date):
        return f'"{name}": {{"mean": a date, "sd": a number of days}}'
    return (
        f'"{name}": {{"mean": …, "sd": …}}, or {{"quantiles": {{"0.25": …, "0.75": …}}}}, and "missing" where some are'
    )
