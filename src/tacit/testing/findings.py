"""Findings of the contract checks, with the relations, prices, designs and distances that all of them use."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from tacit.base.table import Align, Table, shown_by_summary
from tacit.curator.mechanisms import design
from tacit.errors import QueryError
from tacit.method.shared.measurement import Measurement, Public
from tacit.noise.laws import Law
from tacit.noise.spherical import SphericalLaplace
from tacit.privacy import Cost
from tacit.release.query import Query
from tacit.schema import Schema
from tacit.testing.neighbouring_tables import Relation

RELATIONS: Final[tuple[Relation, ...]] = ("replace-one", "add-remove")
PRICES: Final = (Cost.of(epsilon=1), Cost.of(rho="0.1"))
EACH: Final = 6
"""One pair in this many runs on the engine of files; the others run on a faster one."""
ROWS: Final = 1_000
"""Public number of rows in designs that read no table; the small test tables get designs for their true size."""


@dataclass(frozen=True)
class Finding:
    """Declared and reached sensitivity of one part, under one relation and at one price.

    apart: the change of each of the part's integers, over the pair of tables where it is largest.
    """

    relation: str
    price: str
    part: str
    form: str
    declared: int
    reached: int
    norm: str
    apart: tuple[int, ...] = ()
    loose: bool = False
    """Whether the declared sensitivity may be more than any row reaches: a user's own statistic says what it wants."""

    @property
    def passed(self) -> bool:
        """Return whether the largest change is at most the declared sensitivity and within 1% of it."""
        # from below too: noise for a larger sensitivity than rows reach is a loss that nobody sees
        return (self.loose or self.attained) and self.reached <= self.declared

    @property
    def attained(self) -> bool:
        """Return whether rows come within 1% of the declared sensitivity."""
        return self.reached >= 0.99 * self.declared

    def __str__(self) -> str:
        said = f"{self.relation}, {self.price}, {self.part} ({self.form}): rows reach {self.reached:,} in {self.norm}"
        said += f", of {self.declared:,} that are declared"
        if self.reached > self.declared:
            return f"{said}: the noise is too small"
        return said if self.passed else f"{said}: more noise than rows need, or too few tables to see it (tables=)"


@shown_by_summary
@dataclass(frozen=True, repr=False)
class Contract:
    """The outcome of a contract; `check` raises AssertionError with the first check that failed.

    >>> Contract((), ("the noise is another",)).passed
    False
    """

    findings: tuple[Finding, ...]
    failures: tuple[str, ...]

    @property
    def passed(self) -> bool:
        """Return whether every check passed."""
        return not self.failures and all(one.passed for one in self.findings)

    @property
    def notes(self) -> tuple[str, ...]:
        """Return where the noise is for more than the rows of the checks change, in words: a loss, and no fault."""
        return tuple(
            f"{one.relation}, {one.price}, {one.part}: noise for {one.declared:,} in {one.norm}, of which rows reach "
            f"{one.reached:,}"
            for one in self.findings
            if one.loose and not one.attained
        )

    def check(self) -> None:
        """Raise AssertionError with the first check that failed, if any did."""
        if self.failures:
            raise AssertionError(self.failures[0])
        for one in self.findings:
            assert one.passed, str(one)

    def summary(self) -> Table:
        """Return what was found as a table: by relation, price and part the sensitivities declared and reached."""
        rows = tuple(
            (one.relation, one.price, one.part, one.norm, f"{one.declared:,}", f"{one.reached:,}")
            for one in self.findings
        )
        columns = ("neighbours", "price", "part", "norm", "declared", "reached")
        sides: tuple[Align, ...] = ("left", "left", "left", "left", "right", "right")
        title = f"Contract · {'passed' if self.passed else 'failed'}"
        return Table(title, columns, rows, (*self.failures, *self.notes), sides)


def designed(
    query: Query[Any], schema: Schema, relation: Relation, rows: int | None, price: Cost, adds: str | None = None
) -> Measurement | None:
    """Return the design of a query; None where it is refused: a count of public rows, draws at another price.

    adds: how the ledger adds costs (`Public.accounting`).
    """
    try:
        return design(query, Public(schema, relation, rows if relation == "replace-one" else None, None, adds), price)
    except QueryError as refused:
        # the answer is public already, and there is nothing to protect; or the price buys no such noise
        if refused.code in ("Q32", "Q131"):
            return None
        raise


def norm_of(price: Cost, law: Law | None = None) -> str:
    """Return the norm to which the noise of a price is scaled; law: of the part, where vectors have noise."""
    return "l1" if price.noise == "laplace" and not isinstance(law, SphericalLaplace) else "l2_squared"


def distance(x: tuple[tuple[int, ...], ...], y: tuple[tuple[int, ...], ...], norm: str) -> int:
    """Return the distance of two parts' integers: l1, or squared l2."""
    power = 1 if norm == "l1" else 2
    return sum(abs(a - b) ** power for cell, other in zip(x, y, strict=True) for a, b in zip(cell, other, strict=True))


def difference(x: tuple[tuple[int, ...], ...], y: tuple[tuple[int, ...], ...]) -> tuple[int, ...]:
    """Return the second part's integers minus the first's, in one tuple over cells."""
    return tuple(b - a for cell, other in zip(x, y, strict=True) for a, b in zip(cell, other, strict=True))
