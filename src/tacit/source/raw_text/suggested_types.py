"""What the cells of a text file look like, to suggest column types to whoever holds it.  INSIDE the wall.

A text file has no types.  What is found here is computed from all rows, without noise: like the report of `tacit
import` it is for the steward's eyes, and no release.  It is a word for each column and never a value; `tacit schema`
writes it as a comment, from which a person decides (nothing public comes from data, law 8).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tacit.base.lazy_imports import arrow
from tacit.schema.drafting import Found
from tacit.source.engine_table import tried
from tacit.source.raw_text.text_import import NULLS
from tacit.source.reading import text_files
from tacit.source.reading.truth_words import FALSE, TRUE

FEW: Final = 50
"""The most distinct texts of a column that is suggested as a Category."""
MOST: Final = 0.95
"""The least share of cells that make a column one of numbers, or of days, with other texts in some rows."""
_SIGN: Final = "[%‰€$£¥]?"
_MARKED: Final = (
    rf"^{_SIGN} ?[+-]?(\d{{1,3}}(\.\d{{3}})*(,\d+)?|\d{{1,3}}(,\d{{3}})*(\.\d+)?"
    rf"|\d{{1,3}}([ '’\x{{a0}}\x{{202f}}]\d{{3}})*([.,]\d+)?|\d+([.,]\d*)?) ?{_SIGN}$"
)
"""Numbers with signs, or with marks between thousands; plain ones among them."""
# as `tacit import` reads them (`text_cells`); RE2, where \d is ASCII
_PATTERNS: Final[dict[Found, str]] = {
    "whole": r"^[+-]?\d{1,18}(\.0*)?$",
    "number": r"^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$",
    "comma": r"^[+-]?(\d+,?\d*|,\d+)([eE][+-]?\d+)?$",
    "day": r"^\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])([T ]\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:?\d\d)?)?$",
    "marked": _MARKED,
    "other day": r"^\d{1,2}([./-])\d{1,2}[./-](\d{4}|\d{2})$",
}
_WIDER: Final[dict[Found, tuple[Found, ...]]] = {"whole": ("number", "comma", "marked"), "number": ("marked",)}
"""Kinds that hold all that a kind holds; the others hold not all of it."""
_PADDED: Final = r"^0\d+$"
_MOSTLY: Final[dict[Found, Found]] = {
    "number": "mostly number",
    "day": "mostly day",
    "marked": "mostly marked",
    "other day": "mostly other day",
}
"""Words for a column nearly all of whose cells are of a kind."""
MULTIPLES: Final = (1_000.0, 500.0, 100.0, 50.0, 10.0, 5.0, 1.0, 0.5, 0.25, 0.1, 0.05, 0.01)
"""Numbers of which all cells of a column may be multiples, the largest first."""


HEAPS: Final = (100_000.0, 10_000.0, 5_000.0, *MULTIPLES)
"""Numbers at whose multiples many cells of a column may be, the largest first."""
EXACT: Final = 2.0**53
"""Whole numbers beyond this are no longer exact as floats."""
MANY: Final = 0.1
"""Least part of the cells that are not 0 which is suggested as heaped."""
BEYOND: Final = 3.0
"""It is at least so many times what evenly spread multiples of what all cells are multiples of would be."""


class Suggestions(NamedTuple):
    """A word for each column, and of columns of numbers what divides cells.

    multiples: the largest of MULTIPLES that divides all, if any.  heaps: the largest of HEAPS that divides many more
    than chance would, if any.
    """

    kinds: dict[str, Found]
    multiples: dict[str, float]
    heaps: dict[str, float]


@dataclass
class _Cells:
    """Counts of one column's cells that are not missing: all, and those that each kind can hold."""

    cells: int = 0
    counts: dict[Found, int] = field(default_factory=lambda: dict.fromkeys(("boolean", *_PATTERNS), 0))
    distinct: set[str] | None = field(default_factory=set[str])
    """The distinct texts; None once there are more than FEW."""
    padded: bool = False
    """Whether some whole number has a 0 before it, as codes have."""
    multiples: tuple[float, ...] = MULTIPLES
    """Those of which all cells so far are multiples."""
    tallied: NDArray[np.int64] = field(default_factory=lambda: np.zeros(len(HEAPS) + 1, np.int64))
    """How many cells that are not 0 each of HEAPS divides, and how many there are."""

    def add(self, texts: Any) -> None:
        """Count the cells of a batch, an Arrow array of text."""
        pc = _compute()
        words = pc.utf8_trim_whitespace(texts.drop_null())
        words = words.filter(pc.invert(pc.is_in(words, value_set=_texts(NULLS))))
        times = np.ones(len(words), np.int64)
        if self.distinct is not None:  # a column of few texts is looked at once a text, not once a cell
            tallied = pc.value_counts(words)
            words, times = tallied.field("values"), tallied.field("counts").to_numpy()
            self.distinct |= set(words[: FEW + 1].to_pylist())
            self.distinct = None if len(self.distinct) > FEW else self.distinct
        self.padded = self.padded or bool(pc.any(pc.match_substring_regex(words, _PADDED)).as_py())
        self._divide(words, times)
        self.cells += int(times.sum())
        low = pc.utf8_lower(words)
        self._count("boolean", pc.is_in(low, value_set=_texts((*TRUE, *FALSE))), times)
        for kind, pattern in _PATTERNS.items():
            # every whole number is a number, with either decimal mark, and no day: one search is enough; so are numbers
            held = self._count(kind, pc.match_substring_regex(words, pattern), times)
            if held == len(words) and kind in _WIDER:
                for other in _WIDER[kind]:
                    self.counts[other] += int(times.sum())
                break

    def _divide(self, words: Any, times: NDArray[np.int64]) -> None:
        """Drop the multiples that some text is none of, and count those of heaps; all where it is no exact number."""
        if self.tallied[-1] < 0 or not len(words):
            return
        if not _compute().all(_compute().match_substring_regex(words, _PATTERNS["number"])).as_py():
            self.multiples = ()
            self.tallied[-1] = -1
            return
        # NumPy reads +12, 4. and 1e5 as `tacit import` does
        values = words.to_numpy(zero_copy_only=False).astype(np.float64)
        if np.abs(values).max() > EXACT:  # what divides the float need not divide the number that is written
            self.multiples, self.tallied[-1] = (), -1
            return
        some = values != 0
        self.tallied[-1] += times[some].sum()
        for i, unit in enumerate(HEAPS):
            with np.errstate(over="ignore", invalid="ignore"):
                whole = np.abs(values / unit - np.rint(values / unit)) <= 1e-6
            self.tallied[i] += times[some & whole].sum()
            if not whole.all():
                self.multiples = tuple(one for one in self.multiples if one != unit)

    def _count(self, kind: Found, mask: Any, times: NDArray[np.int64]) -> int:
        """Add the cells that a kind can hold; return how many texts it can hold."""
        held = mask.to_numpy(zero_copy_only=False).astype(bool)
        self.counts[kind] += int(times[held].sum())
        return int(held.sum())

    def heap(self) -> float | None:
        """Return the largest number of which far more cells are multiples than of those of all cells would be."""
        finest = self.multiples[0] if self.multiples else 0.0
        for unit, times in zip(HEAPS, self.tallied, strict=False):
            if unit > finest and times >= max(MANY, BEYOND * finest / unit) * max(self.tallied[-1], 1):
                return unit
        return None

    def found(self) -> Found:
        """Return the word for the column: the narrowest kind that holds all its cells, else nearly all of them."""
        if not self.cells:
            return "empty"
        for kind, count in self.counts.items():
            if count == self.cells:
                few = kind == "whole" and self.distinct is not None
                return ("padded" if self.padded else "codes") if few else kind
        for kind, word in _MOSTLY.items():
            if self.counts[kind] >= MOST * self.cells:
                return word
        return "many" if self.distinct is None else "few"


def suggest(path: str | Path, delimiter: str = ",") -> Suggestions:
    """READS ROWS.  Return a word for each column of a text file: see `tacit.schema.drafting.FOUND`.

    Rows and cells are those of `text_files`; the texts of missing cells are those of `tacit import`.  Raises
    SourceError D03, D04 where the first line does not name the columns, D03 where the file cannot be read.
    """
    place = Path(path)
    names = text_files.header(place, delimiter)
    columns = {name: _Cells() for name in names}

    def read() -> None:
        for batch in text_files.cells(place, delimiter, len(names), range(len(names))):
            for i, cells in enumerate(columns.values()):
                cells.add(batch.column(i))

    tried(read, f"{place} cannot be read as text.", "D03", "is the file whole, and may it be read?")
    kinds: dict[str, Found] = {name: cells.found() for name, cells in columns.items()}
    heaps = {name: unit for name, cells in columns.items() if (unit := cells.heap()) is not None}
    divide = {name: cells.multiples[0] for name, cells in columns.items() if cells.multiples}
    return Suggestions(kinds, divide, heaps)


def _texts(words: tuple[str, ...]) -> Any:
    return arrow().array(words, type=arrow().string())


def _compute() -> Any:
    import pyarrow.compute  # pyright: ignore[reportMissingTypeStubs, reportUnusedImport]  # noqa: F401

    return arrow().compute
