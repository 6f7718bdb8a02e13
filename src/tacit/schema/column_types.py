"""Column types: what is public about a column before any row is read.

They are frozen values.  Bounds and levels are declared, never found in data (law 8), and checked when a column is made.
`missing` says what a missing cell counts as: "exclude" (left out, the default), a value inside the bounds, or for a
category the label of a level of its own.  "none" declares that a column has no missing cell, so that nothing is paid
for leaving any out; should there be one, it counts as the middle of the bounds, which is what the schema then holds.
`column` is the name in the table where it differs, and `computed` an expression of other columns: see
`schema.predicates.computed_columns`.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from typing import Final, Literal, TypeAlias, cast

from tacit.base.arguments import described, named_fields
from tacit.errors import SchemaError
from tacit.rows.row_map import GRID, Level
from tacit.schema.column_checks import common, day, finite, ordered, show, whole, words
from tacit.schema.declared_units import unit_of, whole_units
from tacit.schema.text_column import Text

EXCLUDE: Final = "exclude"
NONE: Final = "none"
Exclude: TypeAlias = Literal["exclude", "none"]
MAX_ROWS_PER_UNIT: Final = 2**20
WIDEST: Final = 1e75
"""Largest absolute bound, and largest width: fourth powers, as in variances of variances, stay finite floats."""


@named_fields(SchemaError, "S05")
@dataclass(frozen=True)
class Real:
    """A number between two public bounds, rounded to a grid of 2**20 steps; cells beyond are clamped (theory §12).

    lower, upper: finite, lower < upper; both left out for the queries that need none.
    units:        for tables and axes.
    missing:      "exclude", "none" (there is none), or the value that a missing cell stands for.
    multiple_of:  values are recorded in multiples of this number (ages in whole years 1, prices 0.5); None: not known.
    Bins of a histogram then hold whole values, a cell counting as the nearest multiple, and what is made of the bins
    takes values as these (a bin of ages 20 to 24 has the middle 22), as densities and data sets do.  A false one makes
    answers less accurate, not less private; sums, and so means and regressions of rows, take cells as they are.
    heaped_at:    a share of the values, nobody need know which, is at multiples of this number (incomes that many tell
    in ten thousands 10_000), the others anywhere; None: not known.  Automatic bins then have these multiples in their
    middles, and what is made of bins allows for any share.  Of a column that also has `multiple_of` it is a multiple
    of that.  A false one makes intervals longer, no less true.
    Raises SchemaError S06 (not finite), S07 (order), S08 (too wide or too narrow for a grid), S11 (missing), S15, S40
    (multiple_of), S45 (heaped_at).

    >>> Real(0, 300_000, units="USD").upper
    300000.0
    >>> Real(300_000, 0)
    Traceback (most recent call last):
    tacit.errors.SchemaError: [S07] lower bound 300000 of Real is not below upper bound 0.  Hint: Real(0, 300000).  \
Nothing was read or spent.
    """

    lower: float | None = None
    upper: float | None = None
    units: str | None = field(default=None, kw_only=True)
    missing: float | Exclude = field(default=EXCLUDE, kw_only=True)
    column: str | None = field(default=None, kw_only=True)
    computed: str | None = field(default=None, kw_only=True)
    multiple_of: float | None = field(default=None, kw_only=True)
    heaped_at: float | None = field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        object.__setattr__(self, "computed", common("Real", self.units, self.column, self.computed, self.missing))
        hint = "Real(0, 100), or Real() for queries that need no bounds"
        if (self.lower is None) != (self.upper is None):
            raise SchemaError("Real has one bound; it takes two or none.", code="S06", hint=hint)
        if self.lower is not None and self.upper is not None:
            low, high = finite(self.lower, "lower bound", hint), finite(self.upper, "upper bound", hint)
            ordered(low, high, "Real", (show(low), show(high)), f"Real({show(high)}, {show(low)})")
            _grid(low, high)
            object.__setattr__(self, "lower", low)
            object.__setattr__(self, "upper", high)
        if self.missing == NONE and self.lower is not None and self.upper is not None:
            object.__setattr__(self, "missing", (self.lower + self.upper) / 2)
        if self.missing != EXCLUDE:
            value = finite(self.missing, "missing value", 'missing="exclude", or a number inside the bounds')
            if self.lower is not None and self.upper is not None:
                _inside(value, self.lower, self.upper, show(value), (show(self.lower), show(self.upper)))
            object.__setattr__(self, "missing", value)
        if self.multiple_of is not None:
            object.__setattr__(self, "multiple_of", unit_of("multiple_of", self.multiple_of, self.lower, self.upper))
        if self.heaped_at is not None:
            heap = unit_of("heaped_at", self.heaped_at, self.lower, self.upper)
            object.__setattr__(self, "heaped_at", heap)
            whole_units(heap, self.multiple_of)


@named_fields(SchemaError, "S05")
@dataclass(frozen=True)
class Integer:
    """A whole number from `lower` to `upper`, both included; not rounded while upper - lower <= 2**20 (theory §12).

    A wider range is served by a grid of 2**20 steps, as Real is.
    Raises SchemaError S06, S07, S08 (a bound beyond 2**53), S11, S15 as Real does.

    >>> Integer(1, 16, units="years")
    Integer(lower=1, upper=16, units='years', missing='exclude', column=None, computed=None)
    """

    lower: int
    upper: int
    units: str | None = field(default=None, kw_only=True)
    missing: int | Exclude = field(default=EXCLUDE, kw_only=True)
    column: str | None = field(default=None, kw_only=True)
    computed: str | None = field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        object.__setattr__(self, "computed", common("Integer", self.units, self.column, self.computed, self.missing))
        low, high = (
            whole(value, f"{side} bound", "Integer(0, 10)")
            for side, value in (("lower", self.lower), ("upper", self.upper))
        )
        swapped = f"Integer({high}, {low})" if low > high else f"Integer({low}, {high + 1})"
        ordered(low, high, "Integer", (str(low), str(high)), swapped)
        object.__setattr__(self, "lower", low)
        object.__setattr__(self, "upper", high)
        if self.missing == NONE:
            object.__setattr__(self, "missing", (low + high) // 2)
        if self.missing != EXCLUDE:
            value = whole(self.missing, "missing value", f'missing="exclude", or missing={low}', "S11")
            _inside(value, low, high, str(value), (str(low), str(high)))
            object.__setattr__(self, "missing", value)


@named_fields(SchemaError, "S05")
@dataclass(frozen=True)
class Boolean:
    """True or False (1 or 0 in the table); its mean is a proportion, and it can be grouped by.

    missing: "exclude", True or False, or "none" (no cell is missing, and one would count as False); SchemaError S11 for
    anything else, S15 for `column`.

    >>> Boolean(missing=False).missing
    False
    """

    missing: bool | Exclude = field(default=EXCLUDE, kw_only=True)
    column: str | None = field(default=None, kw_only=True)
    computed: str | None = field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        object.__setattr__(self, "computed", common("Boolean", None, self.column, self.computed, self.missing))
        if self.missing == NONE:
            object.__setattr__(self, "missing", False)
        if self.missing != EXCLUDE and not isinstance(self.missing, bool):  # pyright: ignore[reportUnnecessaryIsInstance]
            text = f'missing value {described(self.missing)} of Boolean is not "exclude", True or False.'
            raise SchemaError(text, code="S11", hint='missing="exclude"')


@named_fields(SchemaError, "S05")
@dataclass(frozen=True)
class Date:
    """A day from `lower` to `upper`, both included: datetime.date or ISO text.

    Raises SchemaError S06 (not a date), S07 (order), S11 (missing outside), S15.

    >>> Date("2024-01-01", "2024-12-31").upper
    datetime.date(2024, 12, 31)
    """

    lower: date | str
    upper: date | str
    missing: date | str = field(default=EXCLUDE, kw_only=True)
    column: str | None = field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        common("Date", None, self.column, None, self.missing)
        hint = 'Date("2024-01-01", "2024-12-31")'
        low, high = day(self.lower, "lower bound", hint), day(self.upper, "upper bound", hint)
        text = (low.isoformat(), high.isoformat())
        ordered(low, high, "Date", text, f'Date("{text[1]}", "{text[0]}")' if low > high else hint)
        object.__setattr__(self, "lower", low)
        object.__setattr__(self, "upper", high)
        if self.missing == NONE:
            middle = date.fromordinal((low.toordinal() + high.toordinal()) // 2)
            object.__setattr__(self, "missing", middle)
        if self.missing != EXCLUDE:
            value = day(self.missing, "missing value", f'missing="exclude", or missing="{text[0]}"')
            _inside(value.toordinal(), low.toordinal(), high.toordinal(), value.isoformat(), text)
            object.__setattr__(self, "missing", value)

    @property
    def days(self) -> tuple[int, int]:
        """Both bounds as days since 1970-01-01."""
        low, high = cast(date, self.lower), cast(date, self.upper)
        return low.toordinal() - _EPOCH, high.toordinal() - _EPOCH


@named_fields(SchemaError, "S05")
@dataclass(frozen=True, init=False)
class Category:
    """One of a public list of levels; any other cell in the table counts as missing.

    levels:  {code in the table: label} or a list of codes, which are then the labels; codes are all text, all whole
             numbers or all Booleans; the order is that of tables.
    ordered: whether the levels are ordered.
    constant: with a PrivacyUnit, whether all rows of a person have one level: the first of these that any of the
             person's rows has.  Nobody is then in several groups, whatever the table holds.  It has no effect without
             a PrivacyUnit.
    missing: "exclude", or the label of a level of its own for missing and unlisted cells.
    Raises SchemaError S09 (a code or label twice), S10 (no levels, or a malformed one), S11 (a malformed label for
    missing cells), S12 (that label is also a level's), S15.

    >>> sex = Category({0: "male", 1: "female"}, missing="unknown")
    >>> sex.codes, sex.labels, sex.missing
    ((0, 1), ('male', 'female'), 'unknown')
    """

    codes: tuple[Level, ...]
    """Levels as they are written in the table."""
    labels: tuple[str, ...]
    """One label for each code; a level for missing cells is not among them."""
    ordered: bool
    units: str | None
    missing: str
    column: str | None
    computed: str | None
    constant: bool

    def __init__(
        self,
        levels: Mapping[int, str] | Mapping[str, str] | Mapping[bool, str] | Sequence[str | int],
        *,
        ordered: bool = False,
        units: str | None = None,
        missing: str = EXCLUDE,
        column: str | None = None,
        computed: str | None = None,
        constant: bool = False,
    ) -> None:
        said = common("Category", units, column, computed)
        codes, labels = _levels(levels)
        if not isinstance(ordered, bool):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise SchemaError(f"ordered of Category is {described(ordered)}.", code="S15", hint="ordered=True")
        if not isinstance(constant, bool):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise SchemaError(f"constant of Category is {described(constant)}.", code="S15", hint="constant=True")
        words(missing, "missing label", "S11", 'missing="exclude", or missing="unknown"')
        if missing != EXCLUDE and missing in labels:
            text = f"missing label {missing!r} is also the label of a level."
            raise SchemaError(text, code="S12", hint='missing="exclude", or a label of its own')
        given = {"codes": codes, "labels": labels, "ordered": ordered, "units": units, "missing": missing}
        for name, value in {**given, "column": column, "computed": said, "constant": constant}.items():
            object.__setattr__(self, name, value)

    @property
    def levels(self) -> dict[Level, str]:
        """{code: label}, in the declared order."""
        return dict(zip(self.codes, self.labels, strict=True))


@named_fields(SchemaError, "S05")
@dataclass(frozen=True)
class PrivacyUnit:
    """The column that identifies the person a row belongs to; neighbouring tables then differ in one whole person.

    max_rows: at most so many rows of a person count.  Raises SchemaError S13 unless 1 <= max_rows <= 2**20, S15.

    >>> PrivacyUnit(max_rows=20).max_rows
    20
    """

    max_rows: int
    column: str | None = field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        common("PrivacyUnit", None, self.column)
        rows = whole(self.max_rows, "max_rows", "PrivacyUnit(max_rows=20)", "S13")
        if not 1 <= rows <= MAX_ROWS_PER_UNIT:
            text = f"max_rows {rows} of PrivacyUnit is not from 1 to {MAX_ROWS_PER_UNIT}."
            raise SchemaError(text, code="S13", hint="PrivacyUnit(max_rows=20)")
        object.__setattr__(self, "max_rows", rows)


Column: TypeAlias = Real | Integer | Category | Boolean | Date | PrivacyUnit | Text
TYPES: Final[dict[str, type[Column]]] = {
    cls.__name__: cls for cls in (Real, Integer, Category, Boolean, Date, PrivacyUnit, Text)
}
_EPOCH: Final = date(1970, 1, 1).toordinal()


def _grid(low: float, high: float) -> None:
    """Raise SchemaError S08 unless fourth powers of bounds, and the grid steps per unit, are finite (theory §12)."""
    width = high - low
    # `not <=` also refuses a width that overflowed to an infinity; GRID / width overflows where bounds nearly meet
    if not width <= WIDEST or not math.isfinite(GRID / width) or max(abs(low), abs(high)) > WIDEST:
        how = "wide" if width > 1 else "narrow"
        text = f"bounds {show(low)} and {show(high)} of Real are too {how} for a grid of 2**20 steps."
        raise SchemaError(text, code="S08", hint="rescale the column, or choose other bounds")


def _inside(value: float, low: float, high: float, text: str, bounds: tuple[str, str]) -> None:
    if not low <= value <= high:
        raise SchemaError(
            f"missing value {text} is outside the bounds {bounds[0]} to {bounds[1]}.",
            code="S11",
            hint=f'missing="exclude", or a value from {bounds[0]} to {bounds[1]}',
        )


def _levels(levels: object) -> tuple[tuple[Level, ...], tuple[str, ...]]:
    """Return the codes and labels of a mapping or a sequence, checked."""
    hint = 'Category({0: "male", 1: "female"}) or Category(["north", "south"])'
    if isinstance(levels, Mapping):
        given = cast("Mapping[object, object]", levels)
        codes, labels = [*given.keys()], [*given.values()]
    elif isinstance(levels, Sequence) and not isinstance(levels, str | bytes):
        codes = [*cast("Sequence[object]", levels)]
        labels = [_label(code) for code in codes]
    else:
        raise SchemaError(
            f"levels of Category are {described(levels)}: neither a list nor a table.", code="S10", hint=hint
        )
    if not codes:
        raise SchemaError("Category has no levels.", code="S10", hint=hint)
    checked = _codes(codes, hint)
    named = tuple(words(label, "label", "S10", hint) for label in labels)
    _distinct("level", checked)
    _distinct("label", named)
    return checked, named


def _label(code: object) -> object:
    if isinstance(code, bool):
        return "true" if code else "false"
    return code if isinstance(code, str) else str(code)


def _codes(codes: list[object], hint: str) -> tuple[Level, ...]:
    """Check that codes are all text, all Booleans or all whole numbers, as engines compare them; SchemaError S10."""
    if all(isinstance(code, bool) for code in codes):
        return cast("tuple[bool, ...]", tuple(codes))
    if all(isinstance(code, str) for code in codes):
        for code in codes:
            if not cast(str, code).isprintable():
                raise SchemaError(f"level {code!r} has unprintable characters.", code="S10", hint=hint)
        return cast("tuple[str, ...]", tuple(codes))
    if any(isinstance(code, str | bool) for code in codes):
        one, other = codes[0], next(code for code in codes if type(code) is not type(codes[0]))
        text = f"levels {described(one)} and {described(other)} of Category are of two kinds."
        raise SchemaError(text, code="S10", hint="all text, all whole numbers or all Booleans")
    return tuple(whole(code, "level", hint, "S10") for code in codes)


def _distinct(what: str, values: tuple[Level, ...]) -> None:
    if len(set(values)) < len(values):
        twice = next(value for i, value in enumerate(values) if value in values[:i])
        raise SchemaError(f"{what} {twice!r} of Category occurs twice.", code="S09", hint=f"each {what} once")
