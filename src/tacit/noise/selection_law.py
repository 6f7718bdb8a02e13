"""The distribution of the exponential mechanism: points have probability proportional to exp(rate * utility).

Utilities are integers and come in runs: `points[i]` adjacent points share `utility[i]`.  Data-free, for simulation and
inference; draws that protect anybody come from `tacit.noise.select`.  [McSherry & Talwar 2007]
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

EMPTY_POINTS_WEIGHT: Final = 0.01
"""Largest total weight of empty points far from all rows, relative to one point where the rows are."""


def check_runs(utility: Sequence[int], points: Sequence[int]) -> None:
    """Raise NoiseError N04 unless there is one integer utility for each run, and every run has at least one point."""
    if not len(utility) or len(utility) != len(points):
        raise NoiseError(
            f"{len(utility)} utilities for {len(points)} runs.", code="N04", hint="one for each run, no fewer"
        )
    if not all(type(u) is int for u in utility) or not all(type(m) is int and m > 0 for m in points):
        raise NoiseError("utilities or points are not integers.", code="N04", hint="utility=[0, 3], points=[1, 2]")


def check_rate(rate: Fraction, law: str) -> None:
    """Raise NoiseError N04 for a rate that is no positive fraction; law: the name of the class."""
    if not isinstance(rate, Fraction) or rate <= 0:  # pyright: ignore
        raise NoiseError(f"rate={rate!r} is not a positive fraction.", code="N04", hint=f"{law}(Fraction(1, 2))")


@dataclass(frozen=True)
class Selection:
    """The law P(run i) = points[i] exp(rate * utility[i]) / sum, with all points of a run equally likely.

    `rate`, an exact positive rational, is the log-ratio of probabilities for one unit of utility.  Raises NoiseError
    N04 for any other value.

    >>> law = Selection(Fraction(1, 2))
    >>> law.pmf([0, 2], [1, 1]).round(4)
    array([0.2689, 0.7311])
    """

    name: ClassVar[str] = "exponential mechanism"

    rate: Fraction

    @property
    def scale(self) -> Fraction:
        """Difference in utility that changes a probability by a factor e: 1 / rate."""
        return 1 / self.rate

    def to_dict(self) -> dict[str, str]:
        """Return the law as plain values; `noise.stored_laws.law_from_dict` is the inverse."""
        return {"law": self.name, "scale": str(self.scale)}

    def __post_init__(self) -> None:
        check_rate(self.rate, "Selection")

    def pmf(self, utility: ArrayLike, points: ArrayLike) -> NDArray[np.float64]:
        """Return the probability of each run: floats of the shape of `utility`, which sum to 1."""
        u = np.asarray(utility, dtype=np.float64)
        # relative to the largest utility, so that exp cannot overflow; the common factor cancels in the division
        weight = np.asarray(points, dtype=np.float64) * np.exp(float(self.rate) * (u - u.max()))
        return weight / weight.sum()

    def sample(
        self, utility: ArrayLike, points: ArrayLike, size: int, rng: np.random.Generator
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return seeded runs and positions within them, two arrays of shape (size,); they protect nobody."""
        run = rng.choice(np.size(utility), size=size, p=self.pmf(utility, points))
        place = rng.integers(np.asarray(points, dtype=np.int64)[run])
        return run.astype(np.int64), place


def utility_gap(scale: float, points: int, weight: float) -> float:
    """Return how much lower the utility of `points` points must be for their total weight to be `weight` of one point.

    >>> round(utility_gap(2.0, 100, 0.01), 2)
    18.42
    """
    # solves points * exp(-gap / scale) = weight
    return scale * math.log(points / weight)
