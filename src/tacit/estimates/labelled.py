"""Numbers labelled by term: one term gives a float or a pair, several give pandas Series and frames indexed by term."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from tacit.base.arrays import Array
from tacit.base.lazy_imports import pandas

if TYPE_CHECKING:
    import pandas as pd  # pyright: ignore[reportMissingTypeStubs]


@dataclass(frozen=True)
class Labels:
    """Labels of m numbers; `title` heads their column, empty where there is none.

    >>> import numpy as np
    >>> Labels(("f",)).numbers(np.array([45.0]), "estimate"), Labels(("f",)).pairs(np.array([[44.0, 46.0]]))
    (45.0, (44.0, 46.0))
    """

    terms: tuple[str, ...]
    title: str = ""

    @property
    def index(self) -> pd.Index:
        """The terms as a pandas Index."""
        return pandas().Index(self.terms, name=self.title or None)

    def numbers(self, values: Array, name: str) -> Any:  # float, or Series
        """Values of shape (m,)."""
        return float(values[0]) if len(self.terms) == 1 else pandas().Series(values, index=self.index, name=name)

    def pairs(self, limits: Array) -> Any:  # (float, float), or DataFrame
        """Lower and upper limits of shape (m, 2)."""
        if len(self.terms) == 1:
            return float(limits[0, 0]), float(limits[0, 1])
        return pandas().DataFrame(limits, index=self.index, columns=["lower", "upper"])

    def frame(self, columns: Mapping[str, Any], given: Sequence[str | None], *hidden: str) -> pd.DataFrame:
        """Return a frame of columns and of reasons, "" for none.

        hidden: columns that are NaN where there is a reason: what stands in their place is no number to use.

        >>> import numpy as np
        >>> Labels(("f", "m")).frame({"estimate": np.array([1.0, 2.0])}, (None, "too few"), "estimate").estimate["m"]
        np.float64(nan)
        """
        known = np.array([not one for one in given], dtype=np.bool_)
        shown = {name: np.where(known, one, np.nan) if name in hidden else one for name, one in columns.items()}
        return pandas().DataFrame({**shown, "reason": [one or "" for one in given]}, index=self.index)

    def reasons(self, given: Sequence[str | None]) -> Any:  # str | None, or Series
        """Return why a term has no usable estimate, or None, one entry each."""
        if len(self.terms) == 1:
            return given[0]
        return pandas().Series(list(given), index=self.index, name="reason", dtype=object)

    def square(self, matrix: Array) -> pd.DataFrame:
        """A matrix of shape (m, m)."""
        return pandas().DataFrame(matrix, index=self.index, columns=self.index)
