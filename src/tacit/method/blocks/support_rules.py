"""What becomes of rows outside a model's support: the declared rule, in words, and its check against public bounds."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Final, cast

import numpy as np

from tacit.errors import QueryError
from tacit.schema.predicates.numeric_expressions import ColumnCell

NAMED: Final = {"positive": (0.0, math.inf), "unit": (0.0, 1.0), "count": (0.0, math.inf)}
"""Ends of the supports that have names."""


def support_words(model: Any) -> str | None:
    """Return the support of a model's rows in words; None where every number is in it, or it is not known.

    >>> from tacit.families import Exponential, Gamma, Normal
    >>> support_words(Gamma()), support_words(Exponential()), support_words(Normal())
    ('above 0', 'from 0 on', None)
    """
    ends = _ends(model)
    if ends is None:
        return None
    if model.support == "count":
        return "whole numbers from 0 on"
    if math.isfinite(ends[1]):
        return f"from {ends[0]:g} to {ends[1]:g}" if _holds(model, ends[0]) else f"between {ends[0]:g} and {ends[1]:g}"
    return f"from {ends[0]:g} on" if _holds(model, ends[0]) else f"above {ends[0]:g}"


def rule(model: Any) -> str | None:
    """Return the rule for rows outside the support in words; None where there are no such rows, or none is known."""
    words = support_words(model)
    return None if words is None else f"rows outside the law's support ({words}) are left out"


def check_support(model: Any, cells: Sequence[ColumnCell]) -> None:
    """Raise QueryError Q95 where the bounds of the column hold no number of the support: every row would be left out.

    Bounds that merely reach beyond the support are no error: such rows are left out, as rows with a missing cell are.
    """
    ends = _ends(model)
    if ends is None or len(cells) != 1 or cells[0].lower is None or cells[0].upper is None:
        return
    (low, high), one = ends, cells[0]
    below = cells[0].upper < low or (cells[0].upper == low and not _holds(model, low))
    above = cells[0].lower > high or (cells[0].lower == high and not _holds(model, high))
    if below or above:
        text = (
            f"what of SampleAndAggregate: {one.column!r} has bounds {one.lower:g} to {one.upper:g}, and rows of the "
            f"model are {support_words(model)}: every row would be left out."
        )
        raise QueryError(text, code="Q95", hint="another column, bounds or model")


def _ends(model: Any) -> tuple[float, float] | None:
    """Return the ends of the support of rows of one column; None where every number is in it, or it is not known."""
    support: Any = getattr(model, "support", None)
    return cast("tuple[float, float]", support) if isinstance(support, tuple) else NAMED.get(str(support))


def _holds(model: Any, number: float) -> bool:
    """Return whether a number is in the support."""
    return bool(np.asarray(model.inside(np.array([number]))).all())
