"""Halves of a column's bounds by two noisy counts.  INSIDE the wall.

Definition
    A row adds 1 to the cell of the half that its value is in.
Sensitivity
    As of `method.shared.encoding.count`.
Noise
    Discrete Laplace, or rounded normal.
Cost
    The price.
Failures
    None depends on a row.
"""

from __future__ import annotations

from typing import Final

from tacit.method.halves.design import design

from tacit.method.shared.measurement import Measurement
from tacit.method.shared.mechanism import Mechanism
from tacit.method.shared.mechanism_sums import exact_sums, noisy_parts
from tacit.release.parts import Part
from tacit.source import Source


def measure(shape: Measurement, source: Source) -> tuple[Part, ...]:
    """READS ROWS.  Exact counts, and at once their noise."""
    return noisy_parts(shape, exact_sums(shape, source))


MECHANISM: Final = Mechanism(design, measure, exact_sums)
