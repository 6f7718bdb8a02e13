"""Findings of the contract suite, and what its parts share: relations, prices, designs, distances."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from tacit.curator.mechanisms import design
from tacit.errors import QueryError
from tacit.method.shared.measurement import Measurement, Public
from tacit.privacy import Cost
from tacit.release.query import Query
from tacit.schema import Schema
from tacit.testing.neighbouring_tables import Relation

RELATIONS: Final[tuple[Relation, ...]] = ("replace-one", "add-remove")
PRICES: Final = (Cost.of(epsilon=1), Cost.of(rho="0.1"))
EACH: Final = 6
"""Every so many pairs run on the engine of files; the others on a faster one."""
ROWS: Final = 1_000
"""A public size for designs; tables of the suite are smaller, and say so to their own design."""


@dataclass(frozen=True)
class Finding:
    """What one relation and one price showed for one part; apart: what its integers differ by where furthest apart."""

    relation: str
    price: str
    part: str
    form: str
    declared: int
    reached: int
    norm: str
    apart: tuple[int, ...] = ()

    @property
    def passed(self) -> bool:
        """Whether the largest change never exceeds the declared sensitivity and comes within 1% of it."""
        return 0.99 * self.declared <= self.reached <= self.declared


@dataclass(frozen=True)
class Contract:
    """The outcome; `check` raises AssertionError with the first line that failed.

    >>> Contract((), ("the noise is another",)).passed
    False
    """

    findings: tuple[Finding, ...]
    failures: tuple[str, ...]

    @property
    def passed(self) -> bool:
        """Whether everything held."""
        return not self.failures and all(one.passed for one in self.findings)

    def check(self) -> None:
        """AssertionError naming what failed."""
        if self.failures:
            raise AssertionError(self.failures[0])
        for one in self.findings:
            assert one.passed, f"{one}: reached {one.reached} of declared {one.declared}"


def designed(
    query: Query[Any], schema: Schema, relation: Relation, rows: int | None, price: Cost
) -> Measurement | None:
    """None where the question is refused under this relation (a count of public rows)."""
    try:
        return design(query, Public(schema, relation, rows if relation == "replace-one" else None), price)
    except QueryError as refused:
        if refused.code == "Q32":
            return None
        raise


def norm_of(price: Cost) -> str:
    """The norm that the noise of a price is scaled to."""
    return "l1" if price.noise == "laplace" else "l2_squared"


def distance(x: tuple[tuple[int, ...], ...], y: tuple[tuple[int, ...], ...], norm: str) -> int:
    """How far apart two parts are: l1, or squared l2."""
    power = 1 if norm == "l1" else 2
    return sum(abs(a - b) ** power for cell, other in zip(x, y, strict=True) for a, b in zip(cell, other, strict=True))


def difference(x: tuple[tuple[int, ...], ...], y: tuple[tuple[int, ...], ...]) -> tuple[int, ...]:
    """What two parts differ by."""
    return tuple(b - a for cell, other in zip(x, y, strict=True) for a, b in zip(cell, other, strict=True))
