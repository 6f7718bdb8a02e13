"""R-style formulas evaluated on the points of cells, with term names as in statsmodels and R."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from tacit.base.arguments import described
from tacit.base.arrays import Array
from tacit.base.lazy_imports import formulaic, pandas
from tacit.errors import InferenceError
from tacit.fits.cells.cell_arrays import CellAxis, CellCounts
from tacit.fits.within_bins.cell_points import Points

LEAST: Final = 4
"""Least number of bins of a continuous response: with fewer, its mean is too poorly known for a regression."""


EXAMPLE: Final = "'income ~ age + C(sex)', names with blanks or signs in backticks"
FUNCTIONS: Final = {"sqrt": np.sqrt, "abs": np.abs, "log1p": np.log1p}
"""Functions of the schema's expressions that formulaic lacks (it has log); they have numbers at the points of cells."""
OF_ROWS: Final = ("cut", "recode", "year", "quarter", "month", "day", "weekday")
"""Functions of a row that a bin does not determine."""


def _wrong(message: str, code: str = "I42", hint: str | None = None) -> InferenceError:
    return InferenceError(message, code=code, hint=hint, state=None)


@dataclass(frozen=True)
class Parsed:
    """A parsed formula.

    response: the text left of the tilde.  columns: names of all columns in the formula, those of the response first.
    regressors: names right of the tilde.  right: that side, as formulaic parsed it.
    """

    text: str
    response: str
    columns: tuple[str, ...]
    regressors: tuple[str, ...]
    right: Any


@dataclass(frozen=True)
class Design:
    """Response and model matrix of a formula at the points of cells.

    names: names of the terms.  X: shape (points, p).  y: the response, shape (points,).  spec: formulaic's
    specification, which evaluates the right side at other rows.  axis: the response's axis if it is a bare column, else
    None.  notes: caveats for the reader.
    """

    names: tuple[str, ...]
    X: Array
    y: Array
    spec: Any
    axis: CellAxis | None
    notes: tuple[str, ...] = ()
    regressors: tuple[tuple[str, tuple[str, ...] | None], ...] = ()
    """Columns right of the tilde; of those with levels other than numbers, their labels."""

    def at(self, frame: Any) -> Array:
        """Return the model matrix at the rows of a frame, shape (rows, p); InferenceError I96, I97 as `check_rows`."""
        check_rows(frame, self.regressors)
        return _matrix(self.spec, frame)[1]


def check_rows(frame: Any, regressors: tuple[tuple[str, tuple[str, ...] | None], ...]) -> None:
    """Raise InferenceError I96 for rows that lack a column of the formula, I97 for a cell that is no level of it."""
    for name, labels in regressors:
        if name not in frame:
            example = repr(labels[0]) if labels else "…"
            text = f"the rows to predict have no column {name!r}, which the formula names."
            raise _wrong(text, "I96", hint=f'"{name}": {example}')
        cells = list(frame[name])
        odd = [cell for cell in cells if (cell not in labels if labels else isinstance(cell, str))]
        if odd:
            text = f"{described(odd[0])} is no {'level' if labels else 'number'} of {name!r} in the rows to predict."
            raise _wrong(text, "I97", hint=", ".join(map(repr, labels[:5])) if labels else f'"{name}": [40, 60]')


def parse(text: str, cells: CellCounts) -> Parsed:
    """Parse a formula and check its columns against the cells; InferenceError I41, I42."""
    try:
        formula = formulaic().Formula(text)
        right, before = getattr(formula, "rhs", formula), getattr(formula, "lhs", None)
        left = [str(term) for term in before or ()]
        columns = [str(name) for name in before.required_variables] if before else []
        # sorted: names come from sets, and results must not depend on their order
        regressors = sorted({str(name) for name in right.required_variables} | _named(text.split("~", 1)[-1], cells))
    except Exception as error:
        # what follows the first line is the formula once more, with marks of a terminal
        why = (str(error).splitlines() or [""])[0].rstrip(".")
        raise _wrong(f"{text!r} is no formula: {why}.", hint=_quoted(text, cells) or EXAMPLE) from error
    if len(left) != 1:
        raise _wrong(f"{text!r} has no single response.", hint=EXAMPLE)
    columns = [name for name in columns if name not in FUNCTIONS or name in cells.names]
    regressors = [name for name in regressors if name not in FUNCTIONS or name in cells.names]
    columns += [name for name in regressors if name not in columns]
    for name in columns:
        if name in OF_ROWS and name not in cells.names:
            hint = f'Regression("… ~ {name}(…)"), or a Histogram of such a column: computed="{name}(…)" in the schema'
            raise _wrong(f"{name}(…) is a function of a row, and a bin does not say its value.", hint=hint)
        axis = cells.axis(name)
        if axis.kind == "continuous" and axis.bins < 2:
            raise _wrong(f"{name!r} was released in one bin, so nothing is known of how it varies.", "I43")
    if not columns:
        raise _wrong(f"{text!r} names no column.")
    return Parsed(text, left[0], tuple(columns), tuple(regressors), right)


def _quoted(text: str, cells: CellCounts) -> str | None:
    """Return the formula with names that are no words in backticks; None where it names none without them.

    >>> cells = CellCounts((CellAxis("pay (€)", "continuous", np.arange(3.0)),), np.ones(2), 8.0, 10.0)
    >>> _quoted("pay (€) ~ sex", cells), _quoted("`pay (€)` ~ sex", cells)
    ("'`pay (€)` ~ sex'", None)
    """
    made = text
    for name in sorted((name for name in cells.names if not name.isidentifier()), key=len, reverse=True):
        made = re.sub(rf"(?<!`){re.escape(name)}(?!`)", lambda found: f"`{found[0]}`", made)
    return None if made == text else repr(made)


def _named(text: str, cells: CellCounts) -> set[str]:
    """Return columns named in a text, also those inside transformations that formulaic does not count."""
    # not as part of a longer name, an attribute (a.b), a call (f(...)) or quoted by backticks
    return {name for name in cells.names if re.search(rf"(?<![\w.`]){re.escape(name)}(?![\w(`])", text)}


def frame(points: Points) -> Any:
    """Return the points as a pandas frame: coordinates in bins, numbers of levels, factors for other levels."""
    pd = pandas()
    columns: dict[str, Any] = {}
    for axis in points.cells.axes:
        if axis.kind == "levels" and axis.numbers is None:
            codes = points.along(axis.name, np.arange(axis.bins, dtype=np.float64)).astype(int)
            columns[axis.name] = pd.Categorical.from_codes(codes, categories=list(axis.labels or ()))
        else:
            columns[axis.name] = points.along(axis.name, points.position(axis)[0])
    return pd.DataFrame(columns)


def design(parsed: Parsed, points: Points) -> Design:
    """Return response and model matrix at the points.

    InferenceError I42 for a term or response that is not finite there, I43 for an unsuitable response.
    """
    table = frame(points)
    spec, X = _matrix(parsed.right, table)
    if not X.shape[1]:
        raise _wrong(f"{parsed.text!r} has nothing to fit.", hint=f"'{parsed.response} ~ 1'")
    notes: list[str] = []
    axis = points.cells.axis(parsed.response) if parsed.response in points.cells.names else None
    if axis is None:
        # a transformed response, evaluated as a right side without the intercept
        pair = _matrix(parsed.response + " - 1", table)
        y, names = pair[1], _names(pair[0])
        if len(names) != 1:
            raise _wrong(f"the response {parsed.response!r} is not one number.")
        y = y[:, 0]
    elif axis.kind == "levels" and axis.numbers is None:
        labels = axis.labels or ()
        if len(labels) != 2:
            raise _wrong(f"the response {axis.name!r} has {len(labels)} levels, none of them a number.", "I43")
        y = points.along(axis.name, np.array([0.0, 1.0]))
        notes.append(f"The response is 1 where {axis.name} is {labels[1]}, 0 where it is {labels[0]}.")
    else:
        y = np.asarray(table[axis.name], dtype=np.float64)
    for name in points.cells.names:
        _fine_enough(points.cells.axis(name), name not in parsed.regressors)
    by_name = {one.name: one for one in points.cells.axes}
    others = [(name, by_name[name]) for name in parsed.regressors if name in by_name]
    levels = [(name, one.labels if one.kind == "levels" and one.numbers is None else None) for name, one in others]
    return Design(_names(spec), X, y, spec, axis, tuple(notes), tuple(levels))


def _fine_enough(axis: CellAxis, response: bool) -> None:
    """Raise InferenceError I43 for a response with too few bins."""
    if response and axis.kind == "continuous" and axis.bins < LEAST:
        raise _wrong(
            f"{axis.name!r} was binned in {axis.bins}: too coarse as a response.",
            "I43",
            hint=f'Histogram(..., bins={{"{axis.name}": 20}}) in a new release',
        )


def _names(spec: Any) -> tuple[str, ...]:
    return tuple(str(name) for name in spec.column_names)


def _matrix(formula: Any, table: Any) -> tuple[Any, Array]:
    """Return specification and matrix of a formula on a frame; InferenceError I42 where a value is not finite."""
    try:
        # no warnings of log(0) and the like: values that are not finite get an error of their own below
        with np.errstate(all="ignore"):
            found = formulaic().model_matrix(formula, table, context={"np": np, **FUNCTIONS}, na_action="ignore")
    except Exception as error:
        raise _wrong(f"the formula cannot be evaluated on the cells: {error}") from error
    out = np.ascontiguousarray(np.asarray(found, dtype=np.float64))
    if not np.isfinite(out).all():
        bad = _names(found.model_spec)[int(np.flatnonzero(~np.isfinite(out).all(axis=0))[0])]
        raise _wrong(f"{bad} has no finite value on some of the cells.")
    return found.model_spec, out
