"""Values of columns at places in their supports, for synthetic rows of densities.  Post-processing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from tacit.base.arrays import Array
from tacit.base.lazy_imports import pandas
from tacit.estimates.drawn_frames import note_of_rows
from tacit.release.document import Released

if TYPE_CHECKING:
    import pandas as pd  # pyright: ignore[reportMissingTypeStubs]


@dataclass(frozen=True)
class JointColumn:
    """A column of a joint density: its kind ("real", "integer" or "date") and the ends of its support.

    A whole number v is [v - 1/2, v + 1/2], a day d [d, d + 1].
    """

    name: str
    kind: str
    lower: float
    upper: float


def values_at(one: JointColumn, x: Array) -> Any:
    """Return values of a column from places in its support: whole numbers as integers, days as dates."""
    if one.kind == "real":
        return x
    whole = np.floor(x + (0.5 if one.kind == "integer" else 0.0)).astype(np.int64)
    beside = 0.5 if one.kind == "integer" else 0.0
    whole = np.clip(whole, round(one.lower + beside), round(one.upper - (beside or 1.0)))
    return whole if one.kind == "integer" else whole.astype("datetime64[D]").astype("datetime64[s]")


def sampled_frame(columns: dict[str, Any], release: Released) -> pd.DataFrame:
    """Return synthetic rows of a density with their note."""
    made = pandas().DataFrame(columns)
    made.attrs["note"] = note_of_rows(release)
    return made
