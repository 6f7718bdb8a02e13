"""Reduction of rows to persons on the table's engine (law 9).  INSIDE the wall.

All rows of a person become one (with cells: one in each cell that has rows of the person), which holds for each column
the mean of the person's present values, rounded to the grid.  No row is left out, so no rows are sampled.  The result
is a function of the person's own rows, clamped at the end, whatever an engine did before.  How much a person may weigh
is bounded by `PersonWeight`, whose values add up to at most its G over the person's cells.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import narwhals as nw

from tacit.rows.row_map import KeyMap, PersonWeight, RowMap
from tacit.source.engine_sums import cell_expressions as ex


def reduce(
    frame: Any,
    keys: Sequence[KeyMap],
    maps: Sequence[RowMap],
    shares: Mapping[str, tuple[int | None, PersonWeight]],
    *,
    kept: bool = False,
) -> Any:
    """Turn rows with u, g, s, v into one row for each person (and cell, with `keys`) with g, s, v and shares.

    u: the person; g, s, v: levels, steps and values.  s becomes 0 where the person has a present value, else -1.  Rows
    in no public cell, and those that a condition leaves out (`kept`: k is 0 there), do not count; k becomes 1 for
    persons with a row that counts.
    """
    here = _in_a_cell(keys)
    here = here & (nw.col("k") == ex.whole(1)) if kept else here
    counted = [_flag(here).alias("n")]
    for i, at in enumerate(maps):
        present = here if at.missing is not None else here & (nw.col(f"s{i}") >= ex.whole(0))
        counted += [_flag(present).alias(f"n{i}"), _kept(present, f"v{i}").alias(f"v{i}")]
    cells = [f"g{i}" for i in range(len(keys))]
    names = ["n", *(name for i in range(len(maps)) for name in (f"n{i}", f"v{i}"))]
    made = frame.with_columns(*counted).group_by(["u", *cells]).agg(*(nw.col(name).sum() for name in names))
    made = _totals(made, shares, cells)
    return _with(
        made,
        *(_mean(f"v{i}", f"n{i}", at.G).alias(f"v{i}") for i, at in enumerate(maps)),
        *([_kept_person().alias("k")] if kept else []),
        *(_sign(f"n{i}").alias(f"s{i}") for i in range(len(maps))),
        *(_weight(share, place).alias(name) for name, (place, share) in shares.items()),
    )


def averaged(frame: Any, limits: Mapping[str, int]) -> Any:
    """Turn rows into one row for each person with the means of the person's rows that count (k = 1; k = 0 otherwise).

    limits: bound on the size of each averaged column, which is 0 in rows that do not count.  Exact for persons of fewer
    than 2**31 rows that count (limits up to 2**20; of 2**23, as scores with weights have, 2**28 rows); of more, within
    1/2 + 2**-31 (2**-28) of the mean.  The mean of no rows is 0.
    """
    made = frame.group_by("u").agg(nw.col("k").sum(), *(nw.col(name).sum() for name in limits))
    return made.with_columns(*(_mean(name, "k", most, -most).alias(name) for name, most in limits.items()))


def _with(frame: Any, *columns: Any) -> Any:
    return frame.with_columns(*columns) if columns else frame


def _in_a_cell(keys: Sequence[KeyMap]) -> Any:
    """Whether all levels of a row are listed ones or have a declared place for missing cells."""
    listed = [~nw.col(f"g{i}").is_null() for i, key in enumerate(keys) if key.missing is None]
    every: Any = nw.lit(True)
    for one in listed:
        every = every & one
    return every


def _rows(place: int | None) -> str:
    return "n" if place is None else f"n{place}"


def _flag(condition: Any) -> Any:
    return nw.when(condition).then(ex.whole(1)).otherwise(ex.whole(0))


def _kept(condition: Any, column: str) -> Any:
    return nw.when(condition).then(nw.col(column)).otherwise(ex.whole(0))


def _totals(frame: Any, shares: Mapping[str, tuple[int | None, PersonWeight]], cells: Sequence[str]) -> Any:
    """Add the number of rows that count of each person, over all cells."""
    needed = sorted({_rows(place) for place, _ in shares.values()})
    # a window over all cells of the person: the weight in one cell depends on the rows in the others
    over = [nw.col(name).sum().over("u") if cells else nw.col(name) for name in needed]
    return _with(frame, *(one.alias(f"total_{name}") for one, name in zip(over, needed, strict=True)))


def _mean(total: str, count: str, top: int, bottom: int = 0) -> Any:
    """Return floor(total / count + 1/2), clamped to {bottom, ..., top}; 0 for no rows."""
    # 1 in place of 0: the sum is 0 then, and engines differ in what 0 / 0 is
    n = nw.when(nw.col(count) > ex.whole(0)).then(nw.col(count)).otherwise(ex.whole(1)).cast(nw.Float64())
    mean = (nw.col(total).cast(nw.Float64()) / n + ex.real(0.5)).floor().cast(nw.Int64())
    return (
        nw.when(mean > ex.whole(top))
        .then(ex.whole(top))
        .otherwise(nw.when(mean < ex.whole(bottom)).then(ex.whole(bottom)).otherwise(mean))
    )


def _kept_person() -> Any:
    return nw.when(nw.col("n") > ex.whole(0)).then(ex.whole(1)).otherwise(ex.whole(0))


def _sign(count: str) -> Any:
    return nw.when(nw.col(count) > ex.whole(0)).then(ex.whole(0)).otherwise(ex.whole(-1))


def _weight(share: PersonWeight, place: int | None) -> Any:
    """Return `PersonWeight.weighed`, computed in float64: exact where its numerator is below 2**52.

    The values of one person add up to at most G however many rows there are: each is a whole number of at most
    (1 + 2**-50) s min(C, cap) / (cap C), and s adds up to at most G C, so their sum is at most (1 + 2**-50) G, and a
    whole number: G.  (The sums s of weights are exact integers, at most 2**20 a row.)
    """
    cap, rows = share.cap or 1, _rows(place)
    total = f"total_{rows}"
    some = nw.when(nw.col(total) > ex.whole(0)).then(nw.col(total)).otherwise(ex.whole(1)).cast(nw.Float64())
    most = nw.when(nw.col(total) > ex.whole(cap)).then(ex.whole(cap)).otherwise(nw.col(total)).cast(nw.Float64())
    own = nw.col(rows).cast(nw.Float64()) * ex.real(share.G) if share.of is None else nw.col(f"v{place}")
    numerator = own.cast(nw.Float64()) * most
    # one division, of two exact numbers: its relative error is at most 2**-53
    value = (numerator / (some * ex.real(cap))).floor().cast(nw.Int64())
    return nw.when(value > ex.whole(share.G)).then(ex.whole(share.G)).otherwise(value)
