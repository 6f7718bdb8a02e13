"""The question of the general exponential mechanism, as plain values.  No data here."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Final, Literal, TypeAlias, cast

from tacit.base.arguments import described
from tacit.base.json_text import is_text
from tacit.errors import QueryError
from tacit.release.query import Needed, Query
from tacit.release.query_checks import Bins, Names, listed
from tacit.release.query_checks import bins as _bins
from tacit.release.query_checks import condition as _condition
from tacit.release.query_checks import names as _names

if TYPE_CHECKING:
    from tacit.method.exponential_mechanism.estimate import SelectedCandidateRelease  # noqa: F401

UTILITIES: Final = ("sum", "ks")
Utility: TypeAlias = Literal["sum", "ks"]
MOST_CANDIDATES: Final = 1_000
MOST_NUMBERS: Final = 100_000
"""Most candidates times cells."""
MOST_WEIGHT: Final = 2**31
Candidates: TypeAlias = "Mapping[str, Sequence[int]] | tuple[tuple[str, tuple[int, ...]], ...]"


@dataclass(frozen=True)
class ExponentialMechanism(Query["SelectedCandidateRelease"]):
    """One of a public list of candidates, selected by a utility of the rows: the exponential mechanism, drawn exactly.

    columns, bins: the cells that rows are counted in, as of a `Histogram`; numbers and dates need bins.
    candidates: {name: whole numbers, one for each cell, in the order of the cells}, at most 1,000 of them and 100,000
    numbers; without them each cell is a candidate and its rows are its utility.
    utility: "sum": of rows in a cell times the candidate's number for it, which may be below 0.  "ks": the numbers are
    a distribution over the cells of one column, in any unit, and the utility is minus the largest distance, in rows and
    rounded up, of the distribution functions (Kolmogorov and Smirnov).
    sensitivity: the most by which one row changes a utility.  It is found exactly from the numbers, over all pairs of
    cells; a declared one is compared with it, and refused where it is smaller.
    where: of the rows for which a condition holds.  A row with a missing value is in no cell.
    With a PrivacyUnit persons are counted: a person's rows weigh one in all.

    No row reaches a function of the user's: a utility is a table of public numbers and the counts of cells.
    Raises QueryError Q01 to Q03, Q64 (bins=), Q264 (candidates=), Q265 (utility=), Q266 (sensitivity=); when planned or
    released Q10, Q12, Q13, Q264 (numbers for another number of cells), Q265 (columns), Q266, Q267 (candidates alike).
    Source: McSherry & Talwar 2007; lecture notes §3; theory §3.9.

    >>> cost = {"screen": [0, 4], "wait": [1, 0]}
    >>> ExponentialMechanism("ill", cost, sensitivity=4).to_dict()["candidates"]
    {'screen': [0, 4], 'wait': [1, 0]}
    """

    needed: ClassVar = Needed(("columns",), "columns of ExponentialMechanism: none is named.", 'columns = "sex"')

    columns: Names
    candidates: Any = ()
    utility: Utility = "sum"
    bins: Bins = ()
    sensitivity: int | None = None
    where: str | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "columns", _names("ExponentialMechanism", "columns", self.columns))
        if not self.columns:
            text = "columns of ExponentialMechanism: none is named."
            raise QueryError(text, code="Q03", hint='ExponentialMechanism("sex")')
        given: Any = self.bins
        if isinstance(given, int) and len(self.columns) == 1:
            given = {self.columns[0]: given}
        if isinstance(given, int):
            text = f"bins of ExponentialMechanism is {described(given)}, and there are {len(self.columns)} columns."
            raise QueryError(text, code="Q64", hint=f'bins={{"{self.columns[0]}": 10}}')
        object.__setattr__(self, "bins", _bins("ExponentialMechanism", given, self.columns, "columns"))
        object.__setattr__(self, "candidates", _candidates(self.candidates))
        _utility(self)
        given = self.sensitivity
        if given is not None and (isinstance(given, bool) or not isinstance(given, int) or given < 1):
            text = f"sensitivity of ExponentialMechanism is {described(given)}: no whole number above 0."
            raise QueryError(text, code="Q266", hint="sensitivity=1, or leave it out")
        _condition(self)

    def to_dict(self) -> dict[str, Any]:
        """Plain values only, defaults left out."""
        words: dict[str, Any] = {"query": "ExponentialMechanism", "columns": list(self.columns)}
        named = cast("tuple[tuple[str, tuple[int, ...]], ...]", self.candidates)
        words |= {"candidates": {name: list(numbers) for name, numbers in named}} if named else {}
        words |= {} if self.utility == "sum" else {"utility": self.utility}
        pairs = cast("tuple[tuple[str, Any], ...]", self.bins)
        if pairs:
            words["bins"] = {name: listed(edges) for name, edges in pairs}
        words |= {} if self.sensitivity is None else {"sensitivity": self.sensitivity}
        return words if self.where is None else {**words, "where": self.where}


def _utility(query: ExponentialMechanism) -> None:
    """Raise QueryError Q265 for an unknown utility, or one that does not fit the columns or the candidates."""
    given: Any = query.utility
    if given not in UTILITIES:
        text = f"utility of ExponentialMechanism is {described(given)}: neither 'sum' nor 'ks'."
        raise QueryError(text, code="Q265", hint='utility="ks"')
    if given == "sum":
        return
    if len(query.columns) > 1 or not query.candidates:
        text = 'utility "ks" of ExponentialMechanism is of candidates over the cells of one column.'
        raise QueryError(text, code="Q265", hint='ExponentialMechanism("age", {"young": [3, 1], "old": [1, 3]}, "ks")')
    for name, numbers in query.candidates:
        if min(numbers) < 0 or not any(numbers):
            text = f"candidate {name!r} of ExponentialMechanism is no distribution: numbers below 0, or all 0."
            raise QueryError(text, code="Q264", hint=f'{{"{name}": [1, 2, 1]}}')


def _candidates(given: Any) -> tuple[tuple[str, tuple[int, ...]], ...]:
    """Return pairs of a name and numbers, in order of names; QueryError Q264."""
    hint = '{"low": [1, 0], "high": [0, 1]}: whole numbers, one for each cell'
    if given is None or given == ():
        return ()
    try:
        pairs: dict[Any, Any] | None = dict(cast(Any, given)) if isinstance(given, Mapping | tuple) else None
    except (TypeError, ValueError):
        pairs = None
    if pairs is None:
        text = f"candidates of ExponentialMechanism is {described(cast(object, given))}."
        raise QueryError(text, code="Q264", hint=hint)
    made = {name: _numbers(name, numbers, hint) for name, numbers in pairs.items()}
    whole = sum(map(len, made.values()))
    if not 2 <= len(made) <= MOST_CANDIDATES or whole > MOST_NUMBERS:
        text = f"ExponentialMechanism of {len(made):,} candidates and {whole:,} numbers in all."
        raise QueryError(text, code="Q264", hint=f"2 to {MOST_CANDIDATES:,} candidates, {MOST_NUMBERS:,} numbers")
    if len({len(one) for one in made.values()}) > 1:
        text = "candidates of ExponentialMechanism have different numbers of cells."
        raise QueryError(text, code="Q264", hint=hint)
    return tuple(sorted(made.items()))


def _numbers(name: Any, given: Any, hint: str) -> tuple[int, ...]:
    if not isinstance(name, str) or not name or not is_text(name):
        text = f"candidates of ExponentialMechanism names {described(name)}, which is no text."
        raise QueryError(text, code="Q264", hint=hint)
    several = isinstance(given, list | tuple)
    numbers: tuple[Any, ...] = tuple(cast("Sequence[Any]", given)) if several else ()
    whole = all(isinstance(x, int) and not isinstance(x, bool) and abs(x) <= MOST_WEIGHT for x in numbers)
    if len(numbers) < 2 or not whole:
        text = f"candidate {name!r} of ExponentialMechanism has no list of whole numbers up to 2**31."
        raise QueryError(text, code="Q264", hint=hint)
    return numbers
