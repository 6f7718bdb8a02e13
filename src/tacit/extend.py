"""Doors for researchers: statistics of their own that no function of theirs computes from rows.

`additive`: sums of bounded integers of a row, each an expression; the library finds their bounds and sensitivity.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tacit.base.arguments import named_arguments
from tacit.errors import QueryError
from tacit.method.additive.statistic import AdditiveStatistic, Sensitivity, define

__all__ = ["AdditiveStatistic", "additive"]


@named_arguments(QueryError, "Q280", "additive")
def additive(
    name: str,
    *,
    rows: Callable[..., Sequence[Any]],
    sensitivity: Callable[..., Sensitivity] | None = None,
    estimate: Callable[[Any], Any] | None = None,
) -> AdditiveStatistic:
    """Define an additive statistic: sums over rows of bounded integers, and an estimate made of their noisy sums.

    name: by which ledgers and releases record it.
    rows: a function of the statistic's arguments that returns 1 to 8 expressions (`tacit.col`, or text as of computed
    columns), one for each integer of a row.  It sees no row.  Values are rounded to the nearest integer, and lie within
    bounds that follow from the schema; conditions count 1 or 0.  A row in which a column that is read is missing (null,
    NaN, infinite) adds nothing, unless the schema says what missing cells count as.
    sensitivity: the same arguments to a `tacit.Sensitivity` of the sums.  It is compared with the one computed from the
    bounds: less is refused (Q282), more is used, for more noise than needed.  Without it the computed one is used.
    estimate: a function of the noisy sums (`AdditiveSums`: integers, noise_std_errors, n, arguments) that returns a
    number, several, or a dict of them.  Standard errors follow by the delta method.  Without it the sums are estimated.

    A curator answers its questions where it is in `trust=`, and once `tacit.testing.contract` passed for them.
    Raises QueryError Q280.

    >>> import tacit as tc
    >>> capped = tc.extend.additive(
    ...     "capped-sum", rows=lambda column, cap: [tc.col(column).clip(0, cap)],
    ...     sensitivity=lambda column, cap: tc.Sensitivity(l1=cap, l2=cap),
    ...     estimate=lambda release: release.integers[0],
    ... )
    >>> capped(column="educ", cap=12).expressions
    ('clip(educ, 0, 12)',)
    """
    return define(name, rows, sensitivity, estimate)
