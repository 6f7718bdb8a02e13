"""Evaluate typed conditions and computed columns on every row: once for NumPy, the reference, and every engine.

Only comparisons of finite floats, + - * /, floor and square root are used, whose results IEEE 754 determines, so that
every engine computes the same.  No data here.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tacit.schema.predicates.arithmetic import Backend, Known, value
from tacit.schema.predicates.computed_columns import Computed, Interval, Recoded
from tacit.schema.predicates.numeric_expressions import Applied, Clipped, ColumnCell, Fixed, Operation
from tacit.schema.predicates.typed_conditions import (
    CellIsMissing,
    Compare,
    Every,
    LevelIsAmong,
    Negated,
    Node,
    Predicate,
)


def evaluate(predicate: Predicate, values: Mapping[ColumnCell, Any], backend: Backend) -> Any:
    """Return the truth of a condition on every row; never missing.

    values: for each column that is read, floats, NaN or null where missing; of a category, indices of levels.
    """
    read = {cell: _read(cell, column, backend) for cell, column in values.items()}
    return _logic(predicate.node, read, backend, three_valued=False)[0]


def compute(column: Computed, values: Mapping[ColumnCell, Any], backend: Backend) -> Any:
    """Return a computed column: a float for every row, missing where it is; of text levels, the position from 1.

    values: as for `evaluate`.
    """
    read = {cell: _read(cell, given, backend) for cell, given in values.items()}
    match column.rule:
        case Interval(number, edges):
            x, known = value(number, read, backend)
            x, known = backend.keep(x), backend.keep(known)
            bounds = zip(edges, column.values[1:], strict=True)
            found = backend.real(column.values[0])
            # edges ascend, so the last one at or below x decides
            for edge, then in bounds:
                found = backend.choose(x >= backend.real(edge), backend.real(then), found)
        case Recoded(cell, places):
            x, here = read[cell]
            # false in every row: a bare constant would have no length in NumPy
            found, known = backend.real(column.values[0]), backend.truth(False) & here
            for i, place in enumerate(places):
                if place is not None:
                    at = here & (x == backend.real(float(i)))
                    found, known = backend.choose(at, backend.real(column.values[place]), found), known | at
        case ColumnCell() | Fixed() | Operation() | Applied() | Clipped():
            found, known = value(column.rule, read, backend)
        case _:
            truth, known = _logic(column.rule, read, backend, three_valued=True)
            found = backend.choose(truth, backend.real(1.0), backend.real(0.0))
    return backend.choose(known, found, backend.nothing())


def _logic(node: Node, read: Mapping[ColumnCell, Known], backend: Backend, *, three_valued: bool) -> Known:
    """Return (truth, known) of a condition on every row; `known` is whether what decides it is not missing.

    In pandas' two-valued logic, of `where=`, a missing value makes a comparison false and `!=` true, and `truth` is the
    answer.  In the three-valued logic of SQL, of computed Booleans, it makes the comparison unknown, and `truth` is
    arbitrary where it is not known.
    """
    match node:
        case Every(parts, some):
            truth, known = _logic(parts[0], read, backend, three_valued=three_valued)
            for part in parts[1:]:
                other, other_known = _logic(part, read, backend, three_valued=three_valued)
                if not three_valued:
                    truth = truth | other if some else truth & other
                    continue
                # one part that is known to be true settles an `or`, one known to be false an `and`
                settles = (known & truth) | (other_known & other) if some else (known & ~truth) | (other_known & ~other)
                truth = (truth & known) | (other & other_known) if some else truth & other
                known = (known & other_known) | settles
            return truth, known
        case Negated(part):
            truth, known = _logic(part, read, backend, three_valued=three_valued)
            return ~truth, known
        case CellIsMissing(cell):
            return ~read[cell][1], backend.truth(True) | read[cell][1]
        case LevelIsAmong(cell, indices, missing):
            x, known = read[cell]
            found = backend.truth(False) & known
            for i in indices:
                # x is 0 where the cell is missing, and may equal a listed index: the next step overrules it
                found = found | (x == backend.real(float(i)))
            return backend.choose(known, found, backend.truth(missing)), known
        case Compare(op, left, right):
            (a, a_known), (b, b_known) = value(left, read, backend), value(right, read, backend)
            known = a_known & b_known
            return backend.choose(known, _compared(op, a, b), backend.truth(op == "!=")), known


def _read(cell: ColumnCell, column: Any, backend: Backend) -> Known:
    """Return (x, known) of a column, clamped to its bounds, with missing cells replaced where the schema says so."""
    known = backend.finite(column)
    x = backend.choose(known, column, backend.real(0.0))
    if cell.kind == "boolean":
        known = known & ((x == backend.real(0.0)) | (x == backend.real(1.0)))
    if cell.lower is not None and cell.upper is not None:
        low, high = backend.real(cell.lower), backend.real(cell.upper)
        x = backend.choose(x >= high, high, backend.choose(x <= low, low, x))
    # after the clamp: declared values of missing cells lie inside the bounds
    if cell.missing is not None:
        x, known = backend.choose(known, x, backend.real(cell.missing)), backend.truth(True) | known
    return x, known


def _compared(op: str, a: Any, b: Any) -> Any:
    """Return a op b, elementwise, of finite floats."""
    match op:
        case "==":
            return a == b
        case "!=":
            return ~(a == b)
        case "<":
            return a < b
        case "<=":
            return a <= b
        case ">":
            return a > b
        case _:
            return a >= b
