"""What a room's `mechanism.py` offers: how a question is designed, measured and, in simulations, repeated.  INSIDE."""

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
    """A method behind the wall.

    design: question, public facts and price -> what is measured; every error of a question is raised here.
    measure: READS ROWS; exact integers, and at once their noise: only what is protected comes back.
    exact: READS ROWS; the integers of every part before noise, never to be shown: what the contract suite compares on
        neighbouring tables.  None where they depend on secret labels of rows.
    """

    design: Callable[[Any, Public, Cost], Measurement]
    measure: Callable[[Measurement, Source], tuple[Part, ...]]
    exact: Callable[[Measurement, Source], tuple[Any, ...]] | None = None
