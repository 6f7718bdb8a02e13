"""Simulated releases: the content of a release with seeded noise, which protects nobody.

`SimulatedRelease` is not a `Release`: ledgers, `combine` and `Release.load` refuse it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from tacit.privacy import Cost
from tacit.release.parts import Axis, Levels, Part, Variable
from tacit.release.query import Query
from tacit.release.registry import room_module, room_of


@dataclass(frozen=True, repr=False)
class SimulatedRelease:
    """The content of a release with simulated noise: the attributes of a release, and `estimate()`.

    >>> import numpy as np, tacit as tc
    >>> schema = tc.Schema({"x": tc.Real(0, 99)})
    >>> made = tc.testing.simulate(tc.Mean("x"), {"x": np.arange(100.0)}, schema, rho=0.1, repeats=2)
    >>> made.release(0).estimate().terms, made.release(0).recorded
    (('x',), False)
    """

    query: Query[Any]
    table: str
    neighbors: str
    rows: int | None
    levels: Levels
    parts: tuple[Part, ...]
    cost: Cost
    unit: int | None = None
    axes: tuple[Axis, ...] = ()
    ordered: Levels = ()
    variables: tuple[Variable, ...] = ()
    recorded: bool = False
    remaining: str | None = None

    def estimate(self, target: Literal["population", "table"] = "population") -> Any:
        """Return estimates with sampling and privacy errors, as for a release (InferenceError I09)."""
        return room_module(str(room_of(self.query)), "estimate").estimate(self, target)

    def __repr__(self) -> str:
        return str(self.estimate().summary())
