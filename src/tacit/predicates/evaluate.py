"""The value of a typed condition on every row, written once: for NumPy, the reference, and for every engine.

Comparisons of finite floats and + - * / are the same everywhere, and nothing else is used.  No data here.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

import numpy as np

from tacit.predicates.typed import (
    Absent,
    Among,
    Cell,
    Compare,
    Every,
    Fixed,
    Negated,
    Node,
    Number,
    Operation,
    Predicate,
)


class Backend(Protocol):
    """What NumPy and the engines have in common."""

    def choose(self, condition: Any, then: Any, otherwise: Any) -> Any:
        """Elementwise: `then` where the condition is true, else `otherwise`."""
        ...

    def finite(self, x: Any) -> Any:
        """Elementwise: neither missing nor infinite; never missing itself."""
        ...

    def real(self, x: float) -> Any:
        """A 64-bit float."""
        ...

    def truth(self, x: bool) -> Any:
        """A truth value."""
        ...


def evaluate(predicate: Predicate, values: Mapping[Cell, Any], backend: Backend) -> Any:
    """Truth for every row.  values: a float column for each cell, NaN or null where missing; levels by their index."""
    read = {cell: _read(cell, column, backend) for cell, column in values.items()}
    return _truth(predicate.node, read, backend)


def _read(cell: Cell, column: Any, backend: Backend) -> tuple[Any, Any]:
    """(value, known): the value is 0 where it is not known."""
    known = backend.finite(column)
    x = backend.choose(known, column, backend.real(0.0))
    if cell.kind == "boolean":
        known = known & ((x == backend.real(0.0)) | (x == backend.real(1.0)))
    if cell.lower is not None and cell.upper is not None:
        low, high = backend.real(cell.lower), backend.real(cell.upper)
        x = backend.choose(x >= high, high, backend.choose(x <= low, low, x))
    if cell.missing is not None:
        x, known = backend.choose(known, x, backend.real(cell.missing)), backend.truth(True) | known
    return x, known


def _truth(node: Node, read: Mapping[Cell, tuple[Any, Any]], backend: Backend) -> Any:
    match node:
        case Every(parts, some):
            found = _truth(parts[0], read, backend)
            for part in parts[1:]:
                other = _truth(part, read, backend)
                found = found | other if some else found & other
            return found
        case Negated(part):
            return ~_truth(part, read, backend)
        case Absent(cell):
            return ~read[cell][1]
        case Among(cell, indices, missing):
            x, known = read[cell]
            found = backend.truth(False) & known
            for i in indices:
                found = found | (x == backend.real(float(i)))
            return backend.choose(known, found, backend.truth(missing))
        case Compare(op, left, right):
            (a, a_known), (b, b_known) = _value(left, read, backend), _value(right, read, backend)
            return backend.choose(a_known & b_known, _compared(op, a, b), backend.truth(op == "!="))


def _compared(op: str, a: Any, b: Any) -> Any:
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


def _value(number: Number, read: Mapping[Cell, tuple[Any, Any]], backend: Backend) -> tuple[Any, Any]:
    match number:
        case Cell():
            return read[number]
        case Fixed(value):
            return backend.real(value), backend.truth(True)
        case Operation(op, left, right):
            (a, a_known), (b, b_known) = _value(left, read, backend), _value(right, read, backend)
            known = a_known & b_known
            if op == "/":
                there = ~(b == backend.real(0.0))
                known, b = known & there, backend.choose(there, b, backend.real(1.0))
            x = a + b if op == "+" else a - b if op == "-" else a * b if op == "*" else a / b
            known = known & backend.finite(x)
            return backend.choose(known, x, backend.real(0.0)), known


class Reference:
    """`Backend` in NumPy: what every engine must equal, row by row."""

    def choose(self, condition: Any, then: Any, otherwise: Any) -> Any:
        """See `Backend.choose`."""
        return np.asarray(np.where(np.asarray(condition, dtype=np.bool_), np.asarray(then), np.asarray(otherwise)))

    def finite(self, x: Any) -> Any:
        """See `Backend.finite`."""
        return np.isfinite(np.asarray(x, dtype=np.float64))

    def real(self, x: float) -> Any:
        """See `Backend.real`."""
        return np.float64(x)

    def truth(self, x: bool) -> Any:
        """See `Backend.truth`."""
        return np.bool_(x)
