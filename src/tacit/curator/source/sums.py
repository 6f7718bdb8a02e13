"""Exact sums by cell: one lazy pass on the frame's own engine, folded into the public cells in Python integers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import product
from typing import Any, Final

import narwhals as nw

from tacit.curator.source import expressions as ex
from tacit.curator.source.engines import Engine, Reading
from tacit.rowmap import Aggregate, KeyMap, Polynomial, RowMap, Sum

COUNT: Final = "n"


def aggregate(engine: Engine, keys: Sequence[KeyMap], sums: Sequence[Sum], *, text: bool) -> Aggregate:
    """READS ROWS.  Sums of every cell, row-major in the keys' levels, and the number of all rows.

    Every sum is below 2**63 by MAX_ROWS and the polynomial's own bound, so that no engine's integers wrap.
    """
    maps = list(dict.fromkeys(one.rowmap for one in sums if one.rowmap is not None))
    terms = list(dict.fromkeys((one.rowmap, one.polynomial) for one in sums if one.rowmap is not None))
    columns: dict[str, tuple[str, Reading]] = {f"k{i}": (key.source, _key_reading(key)) for i, key in enumerate(keys)}
    columns |= {f"c{i}": (at.source, _reading(at)) for i, at in enumerate(maps)}
    frame = _terms(engine.read(columns, text), keys, maps, terms)
    added = [nw.col(f"t{i}").sum() for i in range(len(terms))]
    names = [f"g{i}" for i in range(len(keys))]
    if keys:
        found = frame.group_by(names).agg(nw.len().alias(COUNT), *added)
    elif terms:
        found = frame.select(nw.len().alias(COUNT), *added)
    else:
        found = frame.select(nw.len().alias(COUNT))
    return _fold(_collect(found), keys, sums, terms)


def _terms(frame: Any, keys: Sequence[KeyMap], maps: list[RowMap], terms: list[tuple[RowMap, Polynomial]]) -> Any:
    """Steps, then values, then terms, in stages: an engine computes each once."""
    if maps or keys:
        frame = frame.select(
            *(ex.listed(key, f"k{i}").alias(f"g{i}") for i, key in enumerate(keys)),
            *(ex.step(at, f"c{i}").alias(f"s{i}") for i, at in enumerate(maps)),
        )
    if maps:
        frame = frame.with_columns(*(ex.value(at, f"s{i}").alias(f"v{i}") for i, at in enumerate(maps)))
        at_ = {at: i for i, at in enumerate(maps)}
        frame = frame.with_columns(
            *(ex.term(p, at, f"v{at_[at]}", f"s{at_[at]}").alias(f"t{j}") for j, (at, p) in enumerate(terms))
        )
    return frame


def _collect(found: Any) -> list[dict[str, Any]]:
    """A small frame of sums -> rows of Python values."""
    return found.collect(backend="pyarrow").to_arrow().to_pylist()


def _fold(
    found: list[dict[str, Any]],
    keys: Sequence[KeyMap],
    sums: Sequence[Sum],
    terms: list[tuple[RowMap, Polynomial]],
) -> Aggregate:
    """Groups as they stand in the table -> public cells, all of them, in Python integers."""
    place = {pair: f"t{j}" for j, pair in enumerate(terms)}
    names = [COUNT if one.rowmap is None else place[one.rowmap, one.polynomial] for one in sums]
    cells: dict[tuple[int, ...], list[int]] = {
        cell: [0] * len(sums) for cell in product(*(range(key.size) for key in keys))
    }
    rows = 0
    for group in found:
        rows += int(group[COUNT] or 0)
        cell = _cell(group, keys)
        if cell is None:
            continue
        for i, name in enumerate(names):
            cells[cell][i] += int(group[name] or 0)
    return Aggregate(rows, tuple(tuple(cell) for cell in cells.values()))


def _cell(group: Mapping[str, Any], keys: Sequence[KeyMap]) -> tuple[int, ...] | None:
    """Indices of a group's levels; None where one is absent."""
    cell: list[int] = []
    for i, key in enumerate(keys):
        index = key.index(group[f"g{i}"])
        if index is None:
            return None
        cell.append(index)
    return tuple(cell)


def _reading(at: RowMap) -> Reading:
    if at.kind == "date":
        return "date"
    return "boolean" if at.kind == "boolean" else "number"


def _key_reading(key: KeyMap) -> Reading:
    if key.kind == "boolean" or isinstance(key.levels[0], bool):
        return "boolean"
    return "text" if isinstance(key.levels[0], str) else "number"
