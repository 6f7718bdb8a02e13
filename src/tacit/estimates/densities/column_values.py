"""Values of columns and their places in the columns' supports, for densities.  Post-processing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from tacit.base.arrays import Array
from tacit.base.lazy_imports import pandas
from tacit.estimates.bins import nearest_multiples
from tacit.estimates.synthetic.drawn_frames import note_of_rows
from tacit.release.document import Released

if TYPE_CHECKING:
    import pandas as pd  # pyright: ignore[reportMissingTypeStubs]


FINE: Final = 1e-6
"""So many units below a value is the value."""


def distance_of_values(kind: str, multiple_of: float | None) -> float:
    """Return the distance of two values of a column of a kind; 0 of real numbers that may be any.

    >>> distance_of_values("date", None), distance_of_values("real", 0.5), distance_of_values("real", None)
    (1.0, 0.5, 0.0)
    """
    return (multiple_of or 0.0) if kind == "real" else 1.0


@dataclass(frozen=True)
class JointColumn:
    """A column of a joint density: its kind ("real", "integer" or "date") and the ends of its support.

    A whole number v is [v - 1/2, v + 1/2], a day d [d, d + 1].  multiple_of: of real numbers what they are declared to
    be multiples of, each with the unit around it; 0 where that is not known.
    """

    name: str
    kind: str
    lower: float
    upper: float
    multiple_of: float = 0.0

    @property
    def length(self) -> float:
        """The length of the support."""
        return self.upper - self.lower

    @property
    def unit(self) -> float:
        """The distance of two values; 0 of real numbers that may be any."""
        return distance_of_values(self.kind, self.multiple_of)

    @property
    def within(self) -> float:
        """The variance of what a value is spread over in the support."""
        return self.unit**2 / 12

    def after(self, x: Array) -> Array:
        """Return the ends of the last values at or below some numbers: places in the support, if not beyond it.

        >>> JointColumn("x", "real", -0.25, 90.25, 0.5).after(np.array([1.5, 1.7, 2.0])).tolist()
        [1.75, 1.75, 2.25]
        """
        if not self.unit:
            return x
        # a multiple is the float next to it, too: 0.3 for 3 times 0.1
        steps = np.floor(x / self.unit + FINE)
        return np.asarray((steps + 1) * self.unit if self.kind == "date" else (steps + 0.5) * self.unit)


def values_at(one: JointColumn, x: Array) -> Any:
    """Return values of a column from places in its support: whole numbers as integers, days as dates."""
    if one.kind == "real":
        half = one.multiple_of / 2
        if not half:
            return x
        first, last = nearest_multiples(np.array([one.lower + half, one.upper - half]), one.multiple_of).tolist()
        return np.clip(nearest_multiples(x, one.multiple_of), first, last)
    whole = np.floor(x + (0.5 if one.kind == "integer" else 0.0)).astype(np.int64)
    beside = 0.5 if one.kind == "integer" else 0.0
    whole = np.clip(whole, round(one.lower + beside), round(one.upper - (beside or 1.0)))
    return whole if one.kind == "integer" else whole.astype("datetime64[D]").astype("datetime64[s]")


def sampled_frame(columns: dict[str, Any], release: Released) -> pd.DataFrame:
    """Return synthetic rows of a density with their note."""
    made = pandas().DataFrame(columns)
    made.attrs["note"] = note_of_rows(release)
    return made
