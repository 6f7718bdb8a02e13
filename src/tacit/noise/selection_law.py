"""The law of a selection: one of finitely many points, each with probability proportional to exp(rate * utility).

Utilities are integers and come in runs: `points[i]` neighbouring points share `utility[i]`.  Data-free, for simulation
and inference; the draw that protects anybody is `tacit.noise.select`.  [McSherry & Talwar 2007, exponential mechanism]
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar, Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tacit.noise.laws import NoiseError

CARE: Final = 0.01
"""What empty points far from all rows may weigh together, beside one where the rows are."""


def checked(utility: Sequence[int], points: Sequence[int]) -> None:
    """Raises NoiseError N04 unless there are as many utilities as runs, all integers, and every run has a point."""
    if not len(utility) or len(utility) != len(points):
        raise NoiseError(
            f"{len(utility)} utilities for {len(points)} runs.", code="N04", hint="one for each run, no fewer"
        )
    if not all(type(u) is int for u in utility) or not all(type(m) is int and m > 0 for m in points):
        raise NoiseError("utilities or points are no integers.", code="N04", hint="utility=[0, 3], points=[1, 2]")


@dataclass(frozen=True)
class Selection:
    """P(run i) = points[i] exp(rate * utility[i]) / sum, and each point of a run is as likely as the next.

    `rate` is the price of one unit of utility, an exact positive rational.  Raises NoiseError N04 otherwise.

    >>> law = Selection(Fraction(1, 2))
    >>> law.pmf([0, 2], [1, 1]).round(4)
    array([0.2689, 0.7311])
    """

    name: ClassVar[str] = "exponential mechanism"

    rate: Fraction

    @property
    def scale(self) -> Fraction:
        """Utility that is worth a factor e."""
        return 1 / self.rate

    def to_dict(self) -> dict[str, str]:
        """Plain values; `noise.stored_laws.law_from_dict` is the inverse."""
        return {"law": self.name, "scale": str(self.scale)}

    def __post_init__(self) -> None:
        if not isinstance(self.rate, Fraction) or self.rate <= 0:  # pyright: ignore
            raise NoiseError(
                f"rate={self.rate!r} is no positive fraction.", code="N04", hint="Selection(Fraction(1, 2))"
            )

    def pmf(self, utility: ArrayLike, points: ArrayLike) -> NDArray[np.float64]:
        """Probability of each run: floats of the shape of `utility`, which sum to 1."""
        u = np.asarray(utility, dtype=np.float64)
        weight = np.asarray(points, dtype=np.float64) * np.exp(float(self.rate) * (u - u.max()))
        return weight / weight.sum()

    def sample(
        self, utility: ArrayLike, points: ArrayLike, size: int, rng: np.random.Generator
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Simulated runs and places within them, two arrays of shape (size,), seeded: they protect nobody."""
        run = rng.choice(np.size(utility), size=size, p=self.pmf(utility, points))
        place = rng.integers(np.asarray(points, dtype=np.int64)[run])
        return run.astype(np.int64), place


def reach(scale: float, points: int, care: float) -> float:
    """By how much utility `points` points must be worse than one, to weigh `care` of it together.

    >>> round(reach(2.0, 100, 0.01), 2)
    18.42
    """
    return scale * math.log(points / care)
