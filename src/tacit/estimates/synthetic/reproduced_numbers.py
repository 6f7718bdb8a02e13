"""What synthetic rows reproduce of a law or a regression: its numbers beside theirs.  Post-processing.

It is a comparison with what was released, not with people: beside each difference stands what the drawing of so many
rows explains, and the standard error that the release itself has.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from tacit.base.arguments import kind_of
from tacit.base.arrays import Array
from tacit.base.lazy_imports import pandas
from tacit.base.table import Table, shown_by_summary
from tacit.errors import InferenceError
from tacit.release.document import Released

if TYPE_CHECKING:
    import pandas as pd  # pyright: ignore[reportMissingTypeStubs]


@shown_by_summary
@dataclass(frozen=True, repr=False)
class ReproducedNumbers:
    """Numbers of a release and the same of synthetic rows: what `law.utility(rows)` and `model.utility(rows)` return.

    Attributes
    ----------
    terms: names of m numbers: of a law its mean, standard deviation and quantiles, of a regression its coefficients.
    released, found: what the release says, and what the rows show, shape (m,).
    drawing: standard errors that the drawing of so many rows gives the second, shape (m,).
    std_errors: those of the release, noise and sampling together, shape (m,).

    >>> import numpy as np, tacit as tc
    >>> wait = tc.SufficientStatistics("wait", tc.families.Exponential(rate=(0.1, 10)))
    >>> table = {"wait": np.random.default_rng(0).exponential(0.5, 20_000)}
    >>> curator = tc.Curator(table, tc.Schema({"wait": tc.Real(0, 4)}), budget=tc.Budget(epsilon=1))
    >>> release = curator.release(wait, epsilon=1)
    >>> report = release.utility(release.sample(10_000, rng=0))
    >>> report.terms[:3], bool((abs(report.found - report.released) < 5 * report.drawing).all())
    (('mean', 'sd', 'quantile 0.05'), True)
    """

    release: Released
    rows: int
    terms: tuple[str, ...]
    released: Array
    found: Array
    drawing: Array
    std_errors: Array

    def summary(self, level: float = 0.95) -> Table:
        """Return the numbers as a table; nothing in it depends on the level."""
        from tacit.estimates.display import facts, people_words

        lines = tuple(
            (term, *(f"{x:.4g}" for x in numbers))
            for term, *numbers in zip(
                self.terms, self.released, self.found, self.found - self.released, self.drawing, self.std_errors,
                strict=True,
            )
        )  # fmt: skip
        heads = ("", "release", "rows", "difference", "std. error by drawing", "of the release")
        title = f"{self.rows:,} synthetic rows beside their release · {people_words(self.release)}"
        return Table(title, heads, lines, (facts(self.release),), ("left", "right", "right", "right", "right", "right"))

    def to_frame(self) -> pd.DataFrame:
        """released, found, difference, drawing and std_error: a frame by term."""
        made = {
            "released": self.released,
            "found": self.found,
            "difference": self.found - self.released,
            "drawing": self.drawing,
            "std_error": self.std_errors,
        }
        return pandas().DataFrame(made, index=list(self.terms))


def column_of(rows: Any, name: str) -> Array:
    """Return a column of synthetic rows as numbers, shape (n,); InferenceError I87 for rows that are none."""
    checked_rows(rows, (name,))
    try:
        found = np.asarray(rows[name], dtype=np.float64)
    except (TypeError, ValueError):
        found = np.array([np.nan])
    if not np.isfinite(found).all():
        text = f"column {name}: a value is no number."
        raise InferenceError(text, code="I87", hint="rows of .sample(10_000)", state=None)
    return found


def checked_rows(rows: Any, columns: tuple[str, ...]) -> Any:
    """Return rows that have these columns, and at least two rows; InferenceError I87 for others."""
    if not hasattr(rows, "columns") or not hasattr(rows, "iloc") or len(rows) < 2:
        text = f"{kind_of(rows)}: no rows to compare."
        raise InferenceError(text, code="I87", hint="utility(….sample(10_000))", state=None)
    lacking = [name for name in columns if name not in rows.columns]
    if lacking:
        text = f"the rows have no column {', '.join(lacking)}."
        raise InferenceError(text, code="I87", hint="rows with the columns of the release", state=None)
    return rows
