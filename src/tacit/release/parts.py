"""Parts of a release: the noisy integers of one column, with all public facts needed to decode them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final, TypeAlias

from tacit.noise.laws import Law
from tacit.noise.stored_laws import law_from_dict
from tacit.privacy import Cost
from tacit.release.packing import Packed, packed, read_int, write_int

Cells: TypeAlias = tuple[tuple[int, ...], ...]
"""Integers of each cell: one tuple a cell."""
Levels: TypeAlias = tuple[tuple[str, tuple[str, ...]], ...]
"""Columns that define the cells, each with the labels of its levels."""
RESAMPLED_BLOCKS: Final = "blocks-resampled"
"""The form of means over blocks whose second integer is the variance of a block's estimate, found by resampling it."""
OF_BLOCKS: Final = ("blocks", "blocks-2", RESAMPLED_BLOCKS)
"""Forms of means over blocks of rows.  In the first, of 0.1, a block without an estimate has a default, and counts."""


@dataclass(frozen=True)
class Grid:
    """The public grid of a part's column: the integer v in {0, ..., G} encodes lower + (upper - lower) v / G."""

    kind: str
    """real, integer, boolean or date (days since 1970-01-01)."""
    lower: float
    upper: float
    G: int
    units: str | None = None
    missing: str = "exclude"
    """How missing cells are treated: "exclude", or the value that replaces them."""


@dataclass(frozen=True)
class Axis:
    """The public description of one column of a histogram: the edges of its bins, or that it has levels.

    kind: real, integer, date (days since 1970-01-01), or levels.  edges: ascending edges of the bins, first and last
    included; none for levels.  Labels are in `Release.levels`, in the same order.  extra: names of the last cells,
    which are no bins or levels: "missing", and "below" and "above" the column's bounds.  multiple_of: of real numbers
    what they are declared to be multiples of, the edges lying halfway between two of these; None where it is not known.
    heaped_at: a number at whose multiples any share of them is declared to be; None where that is not known.
    """

    kind: str
    edges: tuple[float, ...] = ()
    units: str | None = None
    missing: str = "exclude"
    extra: tuple[str, ...] = ()
    multiple_of: float | None = None
    heaped_at: float | None = None

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON values."""
        words: dict[str, Any] = {"kind": self.kind, "missing": self.missing}
        words |= {"edges": list(self.edges)} if self.edges else {}
        words |= {"extra": list(self.extra)} if self.extra else {}
        words |= {} if self.multiple_of is None else {"multiple_of": self.multiple_of}
        words |= {} if self.heaped_at is None else {"heaped_at": self.heaped_at}
        return words if self.units is None else {**words, "units": self.units}

    @classmethod
    def from_dict(cls, words: Mapping[str, Any]) -> Axis:
        """Inverse of `to_dict`."""
        edges = tuple(map(float, words.get("edges", ())))
        units, extra = words.get("units"), tuple(map(str, words.get("extra", ())))
        said = None if units is None else str(units)
        return cls(str(words["kind"]), edges, said, str(words["missing"]), extra, *_declared(words))


@dataclass(frozen=True)
class Variable:
    """The public description of one column of a regression.

    kind: real, integer, date (days since 1970-01-01), boolean, or levels.  lower, upper: the bounds of a numeric
    column, whose grid has `half` steps on each side of the midpoint.  labels: the levels of a column of levels.
    multiple_of, heaped_at: of real numbers whose distribution is asked for, what `Axis` says of these.
    """

    name: str
    kind: str
    lower: float = 0.0
    upper: float = 1.0
    half: int = 1
    labels: tuple[str, ...] = ()
    units: str | None = None
    missing: str = "exclude"
    multiple_of: float | None = None
    heaped_at: float | None = None

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON values."""
        words: dict[str, Any] = {"name": self.name, "kind": self.kind, "missing": self.missing}
        if self.kind == "levels":
            words["labels"] = list(self.labels)
        else:
            words |= {"lower": self.lower, "upper": self.upper, "half": self.half}
            words |= {} if self.multiple_of is None else {"multiple_of": self.multiple_of}
            words |= {} if self.heaped_at is None else {"heaped_at": self.heaped_at}
        return words if self.units is None else {**words, "units": self.units}

    @classmethod
    def from_dict(cls, words: Mapping[str, Any]) -> Variable:
        """Inverse of `to_dict`."""
        name, kind, missing = (str(words[key]) for key in ("name", "kind", "missing"))
        units = None if words.get("units") is None else str(words["units"])
        if kind == "levels":
            return cls(name, kind, labels=tuple(map(str, words["labels"])), units=units, missing=missing)
        lower, upper = float(words["lower"]), float(words["upper"])
        return cls(name, kind, lower, upper, int(words["half"]), (), units, missing, *_declared(words))


@dataclass(frozen=True)
class Part:
    """Noisy integers of one column: one tuple a cell, each integer with an independent draw of `law`, or all with one
    vector of it where the law has a dimension.

    `form` names the integer encoding (theory §12) and `parameters` its public constants; `l1` and `l2_squared` are the
    proven sensitivities of the whole part, and `cost` is the share of the price to which its noise is scaled.
    """

    label: str
    form: str
    parameters: Mapping[str, int]
    grid: Grid | None
    integers: Sequence[tuple[int, ...]]
    """A tuple of cells, or the equal `Packed` for many cells with one integer each."""
    law: Law
    l1: int
    l2_squared: int
    cost: Cost
    weight: Grid | None = None
    """The grid of weights, if any: 0 to the cap in G steps; kind "rows" for persons weighted by their rows."""
    texts: tuple[str, ...] | None = None
    """Of levels that nobody listed, those that are released, one for each cell; None of other parts."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "integers", packed(self.integers))

    def to_dict(self) -> dict[str, Any]:
        """Return plain JSON values; integers beyond 2**53 are text, and `Packed` cells are its `to_dict`."""
        words: dict[str, Any] = {"label": self.label, "form": self.form}
        words["parameters"] = {key: write_int(value) for key, value in self.parameters.items()}
        if self.grid is not None:
            words["grid"] = {key: value for key, value in vars(self.grid).items() if value is not None}
        if self.weight is not None:
            words["weight"] = {key: value for key, value in vars(self.weight).items() if value is not None}
        if isinstance(self.integers, Packed):
            words["packed"] = self.integers.to_dict()
        else:
            words["integers"] = [[write_int(k) for k in cell] for cell in self.integers]
        if self.texts is not None:
            words["texts"] = list(self.texts)
        words["noise"] = self.law.to_dict()
        words["sensitivity"] = {"l1": write_int(self.l1), "l2_squared": write_int(self.l2_squared)}
        words["cost"] = self.cost.to_dict()
        return words

    @classmethod
    def from_dict(cls, words: Mapping[str, Any]) -> Part:
        """Inverse of `to_dict`."""
        grid = words.get("grid")
        return cls(
            label=str(words["label"]),
            form=str(words["form"]),
            parameters={str(key): read_int(value) for key, value in words["parameters"].items()},
            grid=None if grid is None else _grid(**grid),
            integers=_integers(words),
            law=law_from_dict(words["noise"]),
            l1=read_int(words["sensitivity"]["l1"]),
            l2_squared=read_int(words["sensitivity"]["l2_squared"]),
            cost=Cost.from_dict(words["cost"]),
            weight=None if words.get("weight") is None else _grid(**words["weight"]),
            texts=None if words.get("texts") is None else tuple(map(str, words["texts"])),
        )


def _declared(words: Mapping[str, Any]) -> tuple[float | None, float | None]:
    """Return the stored multiple_of and heaped_at."""
    unit, heap = (None if words.get(key) is None else float(words[key]) for key in ("multiple_of", "heaped_at"))
    return unit, heap


# typed, since 1, 1.0 and True are equal as keys but not as values
@lru_cache(maxsize=1024, typed=True)
def _grid(**words: Any) -> Grid:
    """Return a stored grid, cached because thousands of documents have the same few grids."""
    return Grid(**words)


def _integers(words: Mapping[str, Any]) -> Sequence[tuple[int, ...]]:
    """Return the cells of a stored part; ValueError where their lengths differ that must not."""
    if "packed" in words:
        return Packed.from_dict(words["packed"])
    cells = tuple([_cell(cell) for cell in words["integers"]])
    # of groups whose cuts fall on equal steps there are fewer numbers of rows between them
    if len(set(map(len, cells))) > 1 and words["form"] != "between":
        raise ValueError("cells of several lengths")
    return cells


def _cell(cell: Any) -> tuple[int, ...]:
    """Return the integers of one stored cell."""
    # nearly all integers are JSON numbers: one check of the types saves a call for each
    plain = tuple(cell)
    return plain if set(map(type, plain)) == {int} else tuple(map(read_int, plain))


def cell_labels(levels: Levels) -> tuple[str, ...]:
    """Return the label of each cell, in row-major order: the labels of its levels, joined by colons.

    >>> cell_labels((("region", ("north", "south")), ("sex", ("f", "m"))))
    ('north:f', 'north:m', 'south:f', 'south:m')
    """
    labels: tuple[str, ...] = ("",)
    for _, values in levels:
        labels = tuple(f"{old}:{new}" if old else new for old in labels for new in values)
    return labels
