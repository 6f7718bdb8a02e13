"""The interface of each method's `mechanism.py`: design, measure, and repeat in simulations.  INSIDE the wall."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from tacit.method.shared.measurement import Measurement, Public
from tacit.privacy import Cost
from tacit.release.parts import Part
from tacit.source import Source


@dataclass(frozen=True)
class Mechanism:
    """The functions of one method.

    design: returns the measurement of a question from public facts and price, and raises every error of a question.
    measure: READS ROWS; computes exact integers and adds their noise at once; returns protected parts only.
    exact: READS ROWS; returns the integers of every part before noise, never to be shown; the contract suite compares
        them on neighbouring tables.  None where they depend on secret labels of rows.
    error: returns the expected squared error of a measurement for about so many rows (None: unknown), in any one unit,
        by which it is chosen whether an (epsilon, delta) price buys what epsilon alone buys
        (`shared.pair_or_epsilon`).  None: it never does.
    """

    design: Callable[[Any, Public, Cost], Measurement]
    measure: Callable[[Measurement, Source], tuple[Part, ...]]
    exact: Callable[[Measurement, Source], tuple[Any, ...]] | None = None
    error: Callable[[Measurement, int | None], float] | None = None
