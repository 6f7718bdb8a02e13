"""Curator: the door.  Public checks, a durable charge, the data, the noise, the stored release, then the answer.

INSIDE the wall.  The order of `_buy` is law 3; `guarded` is law 7.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Final, TypeVar, cast, overload

from tacit.curator.asked import Asked, Shares, design, measure, split
from tacit.curator.guard import guarded
from tacit.curator.ledger import Charge, Ledger, Request, open_ledger
from tacit.curator.places import ledger_place, needs_budget, table_name
from tacit.curator.source import Source, check_source, open_source
from tacit.errors import QueryError, ReleaseError, SourceError, nearest
from tacit.mechanisms.moments import Design
from tacit.privacy import Budget, Cost, Number, Spend
from tacit.queries import Query
from tacit.release import LEAVES, Part, Release, Releases, canonical, releases_from_dict
from tacit.rowmap import MAX_ROWS
from tacit.schema import Schema
from tacit.schema.rowmaps import unit_of

R = TypeVar("R", bound=Release)
VERSION: Final = "0.1.0"


class Curator:
    """Holds one table and its ledger; the only way from rows to a release.

    Parameters
    ----------
    data: a path (Parquet, CSV, Arrow), a pandas, Polars or Spark frame, a PyArrow table, a DuckDB relation, or a dict
        of arrays.  It must be the whole table, one row not computed from others.
    schema: what is public about its columns.
    name: which people, which edition; a path's stem by default; required with `ledger=` otherwise.
    budget: the promise; required when the ledger is made, checked against the ledger's own afterwards.
    ledger: a path or a "postgresql://" URL.  A file without it uses `<file>.ledger` beside it; only frames in memory go
        without, and then nothing is recorded.

    Raises SourceError (D01 to D04, D10, D11, D20, D21), SchemaError (S01 to S03, S14), LedgerError (L01 to L07, L10,
    L15, L20) or BudgetError (B10, B11), all before a value is read.  Under replace-one the number
    of rows (of persons, where the schema has a PrivacyUnit) is public and is counted here, as `rows`; under add-remove
    it is never looked at.

    >>> import tacit as tc
    >>> curator = tc.Curator({"age": [30, 40, 50]}, tc.Schema({"age": tc.Real(0, 100)}), budget=tc.Budget(rho=0.5))
    >>> curator.rows
    3
    """

    def __init__(
        self,
        data: object,
        schema: Schema | Mapping[str, Any],
        *,
        name: str | None = None,
        budget: Budget | None = None,
        ledger: str | Path | None = None,
    ) -> None:
        self.schema: Schema = schema if isinstance(schema, Schema) else Schema(schema)
        self._source: Source = open_source(data)
        check_source(self._source, self.schema)
        path = Path(data) if isinstance(data, str | Path) else None
        where = ledger_place(path, ledger)
        self.name: str = table_name(name, path, where)
        unit = self.schema.unit
        self._unit: int | None = None if unit is None else cast(Any, self.schema[unit]).max_rows
        needs_budget(budget, where)
        self._ledger: Ledger = open_ledger(where, budget=budget, unit=self._unit)
        self.rows: int | None = self._count_rows()
        self._ledger.table(self.name, self.rows)

    # What is public --------------------------------------------------------------------------------------------------

    @property
    def budget(self) -> Budget:
        """The ledger's promise."""
        return self._ledger.budget

    @property
    def spent(self) -> Spend:
        """Exact sums of all charges of the ledger, those of other tables of the same people included."""
        return self._ledger.spent()

    @property
    def remaining(self) -> str:
        """Words: "left 0.49 of 0.50"."""
        return self.budget.describe_left(self.spent)

    @property
    def recorded(self) -> bool:
        """Whether charges survive this process."""
        return self._ledger.where is not None

    @property
    def releases(self) -> Answers:
        """Stored answers of this table by name: `curator.releases["age"]`."""
        return Answers(self, self._ledger)

    def __repr__(self) -> str:
        what = "rows" if self._unit is None else "persons"
        people = f"number of {what} private" if self.rows is None else f"{self.rows:,} {what}"
        kept = "" if self.recorded else " · memory only, not recorded"
        return f"Curator({self.name} · {people} · {self.budget.neighbors} · {self.budget} · {self.remaining}{kept})"

    def design(self, query: Query[Any], cost: Cost) -> Design:
        """Forms, noise and cells of a query at a price: public facts only.

        Raises QueryError where it cannot be asked: Q10 to Q13 (columns), Q31 to Q33, Q60 to Q64 (where=, bins=), Q71 to
        Q73 (weights, persons); NoiseError N01 where the price buys no law of noise.
        """
        return design(query, self.schema, neighbors=self.budget.neighbors, rows=self.rows, cost=cost)

    def plan(
        self,
        query: Query[Any] | Mapping[str, Query[Any]],
        *,
        epsilon: Number | None = None,
        delta: Number | None = None,
        rho: Number | None = None,
        width: float | None = None,
        shares: Shares | None = None,
        level: float = 0.95,
    ) -> Any:  # a tacit.planning.Plan: inference stays outside this file
        """What a release would cost and show, from public facts; reads and spends nothing.  See `tc.plan`."""
        ask = PLANNER.get("plan")
        if ask is None:
            raise RuntimeError("tacit was imported without its plans")
        return ask(self, query, epsilon=epsilon, delta=delta, rho=rho, width=width, shares=shares, level=level)

    # What costs ------------------------------------------------------------------------------------------------------

    @overload
    def release(
        self,
        query: Query[R],
        *,
        epsilon: Number | None = None,
        delta: Number | None = None,
        rho: Number | None = None,
        name: str | None = None,
        note: str = "",
    ) -> R: ...

    @overload
    def release(
        self,
        query: Mapping[str, Query[Any]],
        *,
        epsilon: Number | None = None,
        delta: Number | None = None,
        rho: Number | None = None,
        shares: Shares | None = None,
        note: str = "",
    ) -> Releases: ...

    def release(
        self,
        query: Query[Any] | Mapping[str, Query[Any]],
        *,
        epsilon: Number | None = None,
        delta: Number | None = None,
        rho: Number | None = None,
        shares: Shares | None = None,
        name: str | None = None,
        note: str = "",
    ) -> Any:
        """Buy the answer to one question, or to several by name (all of them or none).

        `epsilon=` buys discrete Laplace noise; `rho=`, or `epsilon=` with `delta=`, a normal rounded to integers.  Of
        several questions each gets its share of the price (`shares`, 1 where not given).  The same question of the same
        table at the same price is answered from the ledger, free.  A release is as in `Release`; `note` stays here.

        Raises, and spends nothing: BudgetError B01, B03, B04 (a price that is none, or of another kind), B02 (the
        budget refuses), QueryError as `design`, Q21 to Q23 (several questions), LedgerError L07 to L10.  MachineError
        M01 may come after the charge: it stands, and the same question resumes it.
        """
        cost = Cost.of(epsilon=epsilon, delta=delta, rho=rho)
        if isinstance(query, Query):
            if shares is not None:
                raise QueryError("shares= belongs to several questions.", code="Q21", hint="leave shares out")
            asked = Asked(((name, query, cost),), cost, note)
            return self._answer(asked)[0]
        if name is not None:
            raise QueryError("name= belongs to one question.", code="Q21", hint="the mapping's keys are the names")
        asked = Asked(split(query, cost, shares), cost, note)
        found = self._answer(asked)
        return Releases(tuple((cast(str, one.name), one) for one in found))

    def _answer(self, asked: Asked) -> tuple[Release, ...]:
        """Law 3, first half: public checks; a stored answer; or a durable charge, then the data."""
        designs = [self.design(query, cost) for _, query, cost in asked.parts]
        self.budget.spend(asked.cost)  # a price this budget cannot add is refused before anything else
        request = self._request(asked, designs)
        stored = self._ledger.find(request.digest)
        if stored is None or stored.release is None:
            self._source_ready()
            charge = self._ledger.charge(request)
            stored = charge if charge.release is not None else self._buy(asked, designs, charge)
        return self._read(stored)

    def _buy(self, asked: Asked, designs: Sequence[Design], charge: Charge) -> Charge:
        """Law 3, second half: the charge stands; read rows, add noise, store, and only then return."""
        log = None if self._ledger.where is None or "://" in self._ledger.where else Path(self._ledger.where + ".log")
        noisy = guarded(lambda: [measure(one, self._source) for one in designs], log)
        made = [
            self._document(one, parts, part, charge)
            for one, parts, part in zip(designs, noisy, asked.parts, strict=True)
        ]
        text = Releases(tuple((f"{i}", one) for i, one in enumerate(made))).to_json()
        return replace(charge, release=self._ledger.store(charge.number, text))

    def _document(
        self, shape: Design, parts: tuple[Part, ...], part: tuple[str | None, Query[Any], Cost], charge: Charge
    ) -> Release:
        return LEAVES[shape.kind](
            query=shape.query,
            mechanism=shape.mechanism,
            table=self.name,
            schema=self.schema.digest(),
            neighbors=self.budget.neighbors,
            unit=self._unit,
            rows=self.rows,
            levels=shape.levels,
            parts=parts,
            cost=part[2],
            charge=charge.number,
            head=charge.head,
            date=charge.date,
            version=VERSION,
            name=part[0],
            recorded=self.recorded,
            ledger=self._ledger.identity,
        )

    def _request(self, asked: Asked, designs: Sequence[Design]) -> Request:
        """The question as the ledger remembers it: never a digest of rows."""
        question = {
            "table": self.name,
            "schema": self.schema.digest(),
            "neighbors": self.budget.neighbors,
            "unit": self._unit,
            "mechanism": "+".join(sorted({one.mechanism for one in designs})),
            "cost": asked.cost.to_dict(),
            "ask": [
                [name if asked.several else None, query.to_dict(), cost.to_dict()] for name, query, cost in asked.parts
            ],
        }
        names = tuple(name for name, _, _ in asked.parts if name is not None)
        return Request(table=self.name, names=names, question=canonical(question), cost=asked.cost, note=asked.note)

    def _read(self, charge: Charge) -> tuple[Release, ...]:
        """The stored document, as releases that know what is left."""
        import json

        assert charge.release is not None
        found = releases_from_dict(json.loads(charge.release)).with_remaining(self.remaining)
        return tuple(found.values())

    def _source_ready(self) -> None:
        """A user's connection with an unfinished result is refused before the charge."""
        ready = getattr(self._source, "ready", None)
        if ready is not None:
            ready()

    def _count_rows(self) -> int | None:
        """Public under replace-one; under add-remove nobody looks."""
        if self.budget.neighbors != "replace-one":
            return None
        log = None if self._ledger.where is None or "://" in self._ledger.where else Path(self._ledger.where + ".log")
        unit = unit_of(self.schema)
        what = "rows" if unit is None else "persons"
        rows = guarded(lambda: self._source.rows(unit), log)
        if rows < 2:
            message = f"table {self.name!r} has {rows} {what}; under replace-one their number is public and at least 2."
            raise SourceError(message, code="D20", hint='Budget(..., neighbors="add-remove") for a private number')
        if rows > MAX_ROWS:
            raise SourceError(f"table {self.name!r} has {rows:,} {what}; at most 2**42.", code="D21", hint="split it")
        return rows


class Answers(Mapping[str, Any]):
    """Stored answers of one table, by the name they were given.  Reading them is free."""

    def __init__(self, curator: Curator, ledger: Ledger) -> None:
        self._curator = curator
        self._ledger = ledger

    def __getitem__(self, name: str) -> Any:
        import json

        charge = self._ledger.named(self._curator.name, name)
        if charge is None or charge.release is None:
            guess = nearest(name, list(self))
            message = f"no stored answer of {self._curator.name!r} is named {name!r}."
            raise ReleaseError(message, code="R06", hint=guess and f'releases["{guess}"]', state=None)
        for one in releases_from_dict(json.loads(charge.release)).with_remaining(self._curator.remaining).values():
            if one.name == name:
                return one
        raise ReleaseError(f"the stored answer {name!r} is damaged.", code="R05", state=None)

    def __iter__(self) -> Any:
        charges = self._ledger.charges()
        return iter(
            [
                name
                for one in charges
                if one.table == self._curator.name and one.release is not None
                for name in one.names
            ]
        )

    def __len__(self) -> int:
        return sum(1 for _ in self)


PLANNER: Final[dict[str, Any]] = {}
"""Filled by `tacit` when it is imported: plans need inference, which this side of the wall never imports."""
