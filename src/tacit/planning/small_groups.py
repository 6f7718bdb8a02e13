"""Over which shares of groups a planned width ranges, where nothing is said of how large the groups are.

A plan takes groups to be equally large.  A mean of a smaller group is less certain, a count of a larger one: both are
planned beside, so that a plan without expectations promises no more than it knows.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from tacit.method.shared.measurement import Measurement
from tacit.method.shared.plan_expected import Expected
from tacit.method.shared.plan_shares import cell_shares, unknown_keys
from tacit.planning.expected import expected, has_groups, says_all
from tacit.planning.expected_cells import by_cells, columns_of
from tacit.planning.printed_widths import decimals_of, printed
from tacit.schema.expectations import Expectations

SMALL: Final = 0.01
"""Share of a small group; a fifth of the smallest planned one where that is less."""
UNKNOWN: Final = "too noisy to answer"
LARGE: Final = 0.5
"""Share of a group whose count is the least certain."""


@dataclass(frozen=True)
class OtherShares:
    """The widest interval of a group of another size: its width, the group's `share`, and the width that is planned.

    columns: those whose levels' shares are not known.  term: the coefficient of a regression that it is of, else "".
    """

    columns: tuple[str, ...]
    share: float
    width: float
    planned: float
    term: str = ""

    def line(self, name: str) -> str:
        """In words."""
        digits = decimals_of(self.planned, 3)
        low = printed(self.planned, digits, none=UNKNOWN)
        # up: a larger width is not printed as the same
        high = printed(self.width, digits, none=UNKNOWN, up=True)
        known = ", ".join(map(repr, self.columns))
        name = f"{name}, {self.term}" if self.term else name
        return (
            f"{name}: from {low} with equal shares to {high} for a group of {100 * self.share:.3g} %: "
            f"nothing is said of the shares of {known} (expect)"
        )


def other_shares(
    shape: Measurement, planned: Sequence[Expected], rows: int, level: float, expect: Expectations
) -> OtherShares | None:
    """Return what a group of another size would have; None where shares are known, or none is wider than planned."""
    if says_all(shape) or not has_groups(shape):
        # a histogram or a density: its cells are for sums and fits, not for answers of their own
        return None
    if shape.keys and not by_cells(shape):
        columns, made = unknown_keys(shape, expect), list[tuple[float, list[Expected]]]()
        if columns:
            made = [(share, _of_share(shape, share, rows, level, expect)) for share in _shares(shape, expect)]
    else:
        # a regression: its columns of levels have no cells, but terms
        listed = columns_of(shape) if by_cells(shape) else shape.variables
        levels = {one.name: max(2, len(one.labels)) for one in listed if one.kind in ("levels", "boolean")}
        columns = tuple(name for name in levels if name not in expect.shares)
        small = {name: _one_small(levels[name]) for name in columns}
        rare = replace(expect, shares={**expect.shares, **small})
        made = [(SMALL, expected(shape, rows, level, rare))] if small else []
    if not made:
        return None
    if not shape.keys or by_cells(shape):
        ((share, terms),) = made
        return _of_coefficient(columns, share, planned, terms)
    share, terms = max(made, key=lambda one: _widest(one[1]))
    width, now = _widest(terms), _widest(planned)
    return OtherShares(columns, share, width, now) if width > now * 1.001 else None


def _of_coefficient(
    columns: tuple[str, ...], share: float, planned: Sequence[Expected], terms: Sequence[Expected]
) -> OtherShares | None:
    """Return what becomes of the coefficient that a small group widens the most: their units differ."""
    ratios = [_ratio(one.width, now.width) for one, now in zip(terms, planned, strict=True)]
    at = max(range(len(ratios)), key=ratios.__getitem__)
    if not ratios[at] > 1.001:
        return None
    return OtherShares(columns, share, terms[at].width, planned[at].width, terms[at].term)


def _ratio(width: float, now: float) -> float:
    return (math.inf if math.isinf(width) and math.isfinite(now) else 1.0) if now in (0.0, math.inf) else width / now


def _shares(shape: Measurement, expect: Expectations) -> tuple[float, float]:
    least = _least(shape, expect)
    return min(SMALL, least / 5), LARGE


def _least(shape: Measurement, expect: Expectations) -> float:
    found = cell_shares(shape, expect)
    return float(found[found > 0].min())


def _of_share(shape: Measurement, share: float, rows: int, level: float, expect: Expectations) -> list[Expected]:
    """Return what the smallest group would have if it held that share of the rows."""
    # as many rows in all as give the smallest group that many
    size = max(2, round(rows * share / _least(shape, expect)))
    return expected(shape, size, level, expect)


def _one_small(levels: int) -> tuple[float, ...]:
    """Return shares of which the last is small and the others are equal."""
    return (*[(1 - SMALL) / (levels - 1)] * (levels - 1), SMALL)


def _widest(terms: Sequence[Expected]) -> float:
    return max(one.width for one in terms)
