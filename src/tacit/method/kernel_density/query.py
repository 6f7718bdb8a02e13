"""The question of a kernel density, as plain values.  No data here."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import isfinite
from typing import TYPE_CHECKING, Any, ClassVar, Final, cast

from tacit.base.arguments import described, kind_of, plain
from tacit.errors import QueryError
from tacit.release.query import Needed, Query
from tacit.release.query_checks import Names
from tacit.release.query_checks import condition as _condition
from tacit.release.query_checks import names as _names

if TYPE_CHECKING:
    from tacit.method.kernel_density.estimate import KernelDensityRelease  # noqa: F401

MOST_COLUMNS: Final = 3
"""Most columns of one density."""


@dataclass(frozen=True)
class KernelDensity(Query["KernelDensityRelease"]):
    """The joint density of one to three numeric columns, smoothed by a Gaussian kernel.

    columns: of numbers or dates, with bounds.  bandwidth: standard deviation of the kernel, in the column's units (days
    for dates): a number, of several columns {"age": 3, "income": 2_000}; "auto", which columns that are not named have
    too, is found from the number of rows (or the size_hint) and the price, noise included.
    where: of the rows for which a condition holds.  A row with a missing value is left out.
    With a PrivacyUnit persons are counted: a person's rows weigh one in all.

    Released are noisy counts of cells one and a half bandwidths wide, on which the kernel is laid afterwards: about the
    noise of a Gaussian process of the kernel's own covariance (theory §3.5), and pure prices buy it too.  Any number of
    places and wider bandwidths are free after the release; the estimate chooses its own.
    Raises QueryError Q01 to Q03, Q230 (bandwidth=), Q231 (columns that are too many); when planned or released Q10,
    Q12, Q13, Q82 (no bandwidth, and no number of rows), Q232 (a bandwidth too narrow or too wide for the column).
    Source: [Hall, Rinaldo & Wasserman 2013]; lecture notes §5.4; theory §3.5.

    >>> KernelDensity(["age", "income"], bandwidth={"age": 3}).to_dict()
    {'query': 'KernelDensity', 'columns': ['age', 'income'], 'bandwidth': {'age': 3.0}}
    """

    groups: ClassVar[str] = "columns"
    needed: ClassVar = Needed(("columns",), "columns of KernelDensity: none is named.", 'columns = "age"')

    columns: Names
    bandwidth: Any = "auto"
    where: str | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "columns", _names("KernelDensity", "columns", self.columns))
        d = len(self.columns)
        if not self.columns:
            raise QueryError("columns of KernelDensity: none is named.", code="Q03", hint='KernelDensity("age")')
        if d > MOST_COLUMNS:
            message = f"KernelDensity of {d} columns: at most {MOST_COLUMNS} have one density."
            raise QueryError(message, code="Q231", hint="one KernelDensity for each pair")
        object.__setattr__(self, "bandwidth", _bandwidths(self.bandwidth, tuple(self.columns)))
        _condition(self)

    @property
    def widths(self) -> dict[str, float]:
        """The bandwidths that are given, in the columns' units."""
        return dict(cast("tuple[tuple[str, float], ...]", self.bandwidth))

    def to_dict(self) -> dict[str, Any]:
        """Plain values only, defaults left out."""
        words: dict[str, Any] = {"query": "KernelDensity", "columns": list(self.columns)}
        words |= {"bandwidth": self.widths} if self.bandwidth else {}
        return words if self.where is None else {**words, "where": self.where}


def _bandwidths(given: Any, columns: tuple[str, ...]) -> tuple[tuple[str, float], ...]:
    """Return pairs of a column and its bandwidth, in order of names; QueryError Q230."""
    if given is None or (isinstance(given, str) and given == "auto"):
        return ()
    hint = f'bandwidth={{"{columns[-1]}": 2.5}}, or leave it out'
    alone = isinstance(given, int | float) and not isinstance(given, bool)
    pairs = _pairs({columns[0]: given} if alone and len(columns) == 1 else given)
    if pairs is None:
        said = ": of several columns each has its own" if alone else ""
        raise QueryError(f"bandwidth of KernelDensity is {described(given)}{said}.", code="Q230", hint=hint)
    made = dict[str, float]()
    for name, width in pairs.items():
        if name not in columns:
            what = described(name) if isinstance(name, str) else kind_of(name)
            text = f"bandwidth of KernelDensity names {what}, which is not in columns."
            raise QueryError(text, code="Q230", hint=hint)
        value = _number(width)
        if value is None:
            text = f"bandwidth of KernelDensity for {name!r} is {described(width)}: no number above 0."
            raise QueryError(text, code="Q230", hint=hint)
        if value > 0:
            made[name] = value
    return tuple(sorted(made.items()))


def _pairs(given: Any) -> dict[Any, Any] | None:
    """Return bandwidths by name, from a mapping or from pairs as a question holds them; None for anything else."""
    try:
        return dict(cast(Any, given)) if isinstance(given, Mapping | tuple) else None
    except (TypeError, ValueError):
        return None


def _number(width: Any) -> float | None:
    """Return a bandwidth above 0; 0 for "auto"; None for anything else."""
    value: Any = plain(width)
    if isinstance(value, str) and value == "auto":
        return 0.0
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return float(value) if isfinite(value) and value > 0 else None
