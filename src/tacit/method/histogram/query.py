"""The question of a histogram, as plain values.  No data here."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, cast

from tacit.errors import QueryError
from tacit.release.query import Needed, Query
from tacit.release.query_checks import AutoBins, Names
from tacit.release.query_checks import bins as _bins
from tacit.release.query_checks import condition as _condition
from tacit.release.query_checks import flags as _flags
from tacit.release.query_checks import names as _names
from tacit.release.query_checks import threshold as _threshold
from tacit.schema.autobins import is_chosen
from tacit.schema.logistic_bins import LogisticBins, worded

if TYPE_CHECKING:
    from tacit.method.histogram.estimate import HistogramRelease  # noqa: F401


@dataclass(frozen=True)
class Histogram(Query["HistogramRelease"]):
    """Number of rows in every cell of `columns`, crossed: one release, and any number of analyses of it.

    bins: for columns of numbers and dates, how many bins of equal width, or their edges (days in ISO text); an Integer
    of at most 200 values has one bin a value where none are given.  Categories and Booleans have their levels.  A
    number alone is of every numeric column, edges alone of a single column.  `LogisticBins` are of a Real on the whole
    line, bounds or none; their open ends are the cells "below" and "above".
    "auto", of a column or of all: as many as make fits to the cells most accurate, by the number of rows where it is
    public (or the curator's size_hint) and the price; `plan` names them, and the release's axes have their edges.
    "density": as many as densities want, of one column about five times as many, by the same facts.
    where: of the rows for which a condition holds.  A row whose cell is missing and has no level is in no cell.
    missing: a cell of its own for missing values of every column that would otherwise leave the row out.
    outside: cells "below" and "above" for values of bounded columns outside their bounds, which are otherwise in the
    first and the last bin; infinite ones are below or above, and missing otherwise.
    sparse: for very many cells (up to 2**40): only those whose noisy count is `threshold` or more are released, empty
    cells among them as noise would have it; a public number, by default such that few empty cells are expected to pass.
    With a PrivacyUnit persons are counted: a person's rows weigh one in all.
    Raises QueryError Q01 to Q03, Q60, Q64, Q81 (a flag), Q83 (threshold); when it is planned or released Q80 (a level
    called "missing"), Q82 ("auto" or "density" without a number of rows).  Source: Lei 2011, Lemma 2; theory §7.

    >>> Histogram(["age", "sex"], bins={"age": 10}).to_dict()
    {'query': 'Histogram', 'columns': ['age', 'sex'], 'bins': {'age': 10}}
    """

    groups: ClassVar[str] = "columns"
    needed: ClassVar = Needed(("columns",), "columns of Histogram: none is named.", 'columns = "age"')

    columns: Names
    bins: AutoBins = ()
    where: str | None = None
    missing: bool = False
    outside: bool = False
    sparse: bool = False
    threshold: int | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "columns", _names("Histogram", "columns", self.columns))
        _flags("Histogram", missing=self.missing, outside=self.outside, sparse=self.sparse)
        _threshold(self.threshold, sparse=self.sparse)
        if not self.columns:
            raise QueryError("columns of Histogram: none is named.", code="Q03", hint='Histogram("age")')
        every = dict.fromkeys(self.columns, self.bins)
        bins: Any = every if is_chosen(self.bins) else _of_one(self.columns, self.bins)
        object.__setattr__(self, "bins", _bins("Histogram", bins, self.columns, "columns"))
        _condition(self)


def _of_one(columns: Names, bins: Any) -> Any:
    """Bins of a single column, a number or edges, are its own."""
    number = (isinstance(bins, int) and not isinstance(bins, bool)) or isinstance(bins, LogisticBins) or worded(bins)
    given: tuple[Any, ...] = tuple(cast(Any, bins)) if isinstance(bins, list | tuple) else ()
    # a list of lists is one of pairs, a column and its bins
    edges = bool(given) and not any(isinstance(one, list | tuple) for one in given)
    return {columns[0]: cast(Any, bins)} if len(columns) == 1 and (number or edges) else cast(Any, bins)
