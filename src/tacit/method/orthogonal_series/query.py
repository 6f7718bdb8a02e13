"""The question of an orthogonal series, as plain values.  No data here."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Final

from tacit.base.arguments import described
from tacit.errors import QueryError, nearest
from tacit.release.query import Needed, Query
from tacit.release.query_checks import Names
from tacit.release.query_checks import condition as _condition
from tacit.release.query_checks import names as _names
from tacit.rows.series_bases import BASES

if TYPE_CHECKING:
    from tacit.method.orthogonal_series.estimate import OrthogonalSeriesRelease  # noqa: F401

MOST_COLUMNS: Final = 3
"""Most columns of one density."""
MOST_TERMS: Final = {1: 64, 2: 16, 3: 7}
"""Most functions of a column beside the constant, by the number of columns."""


@dataclass(frozen=True)
class OrthogonalSeries(Query["OrthogonalSeriesRelease"]):
    """The joint density of one to three numeric columns, as a series of orthonormal functions with noisy coefficients.

    columns: of numbers or dates, with bounds.  basis: "cosine", "legendre", "fourier" or "haar"; of several columns the
    products of their functions.  terms: functions of each column beside the constant, at most 64 of one column, 16 of
    each of two, 7 of each of three; where none is given, as many as have the least expected error over a public family
    of laws, smooth, bimodal, spiky and heavy-tailed, at the number of rows (or the size_hint) and the price: the least
    geometric mean of ratios to each law's own least.
    where: of the rows for which a condition holds.  A row with a missing value is left out.
    With a PrivacyUnit persons are counted: a person's rows weigh one in all.

    Limits hold for what the terms reach of the density, for any law; a note says where the last of them are far from 0,
    but a density with more in it may have none: the release holds no word of further terms.  Of one
    column `Histogram(...)` of some 64 bins and its `smooth_density` are nearly always nearer, and reach further: cells
    are disjoint, and need less noise than functions that overlap.  Of two or three columns the series is nearer.
    Raises QueryError Q01 to Q03, Q145 (basis=), Q146 (terms=, or columns that are too many); when planned or released
    Q10, Q12, Q13, Q82 (no terms, and no number of rows).  Source: lecture notes §5.3, with the sensitivity corrected;
    theory §3.4.

    >>> OrthogonalSeries(["age", "income"], terms=6).to_dict()
    {'query': 'OrthogonalSeries', 'columns': ['age', 'income'], 'basis': 'cosine', 'terms': 6}
    """

    needed: ClassVar = Needed(("columns",), "columns of OrthogonalSeries: none is named.", 'columns = "age"')

    columns: Names
    basis: str = "cosine"
    terms: int | None = None
    where: str | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "columns", _names("OrthogonalSeries", "columns", self.columns))
        d = len(self.columns)
        if not self.columns:
            raise QueryError("columns of OrthogonalSeries: none is named.", code="Q03", hint='OrthogonalSeries("age")')
        if not isinstance(self.basis, str) or self.basis not in BASES:  # pyright: ignore[reportUnnecessaryIsInstance]
            guess = nearest(self.basis, list(BASES)) if isinstance(self.basis, str) else None  # pyright: ignore[reportUnnecessaryIsInstance]
            message = f"basis of OrthogonalSeries is {described(self.basis)}: none of {', '.join(BASES)}."
            raise QueryError(message, code="Q145", hint=guess or 'basis="cosine"')
        if d > MOST_COLUMNS:
            message = f"OrthogonalSeries of {d} columns: at most {MOST_COLUMNS} have one density."
            raise QueryError(message, code="Q146", hint="one OrthogonalSeries for each pair")
        m = self.terms
        if m is not None and (isinstance(m, bool) or not isinstance(m, int) or not 1 <= m <= MOST_TERMS[d]):  # pyright: ignore[reportUnnecessaryIsInstance]
            message = f"terms of OrthogonalSeries is {described(m)}: not from 1 to {MOST_TERMS[d]} for {d} columns."
            raise QueryError(message, code="Q146", hint="terms=6, or leave it out")
        _condition(self)
