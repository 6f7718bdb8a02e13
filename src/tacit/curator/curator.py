"""Curator: the door.  Public checks, a durable charge, the data, the noise, the stored release, then the answer.

INSIDE the wall.  The order of `_buy` is law 3; `guarded` is law 7.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Final, TypeVar, cast, overload

from tacit.curator import studied
from tacit.curator.answers import Answers
from tacit.curator.asked import Asked, Shares, design, measure, split
from tacit.curator.guard import guarded
from tacit.curator.ledger import Charge, Ledger, Limit, Raise, Request, Standing
from tacit.curator.ledger.acts import checked_analyst
from tacit.curator.places import ledger_place, needs_budget, table_name
from tacit.curator.source import Source, check_source, computing, open_source
from tacit.curator.source.site import apply
from tacit.errors import LedgerError, QueryError, SourceError
from tacit.mechanisms.moments import Design
from tacit.privacy import Budget, Cost, Number, Spend
from tacit.queries import Query
from tacit.release import LEAVES, Part, Release, Releases, canonical, releases_from_dict
from tacit.rowmap import MAX_ROWS
from tacit.schema import Schema
from tacit.schema.rowmaps import unit_of
from tacit.study import Site, Study

R = TypeVar("R", bound=Release)
VERSION: Final = "0.1.0"


class Curator:
    """Holds one table and its ledger; the only way from rows to a release.

    Parameters
    ----------
    data: a path (Parquet, CSV, Arrow), a pandas, Polars or Spark frame, a PyArrow table, a DuckDB relation, or a dict
        of arrays.  It must be the whole table, one row not computed from others.
    schema: what is public about its columns; or a `Study`, which says it, the budget and the questions.
    name: which people, which edition; a path's stem by default; required with `ledger=` otherwise.
    budget: the promise; required when the ledger is made, checked against the ledger's own afterwards.
    ledger: a path or a "postgresql://" URL.  A file without it uses `<file>.ledger` beside it; only frames in memory go
        without, and then nothing is recorded.
    site: with a study, how its words map to this table; it says name and ledger where they are not given.
    analyst: who asks, by the name that limits and charges bear; None for nobody in particular, whom only the whole
        binds.  A name is declared, not proven, and is no part of a question: what anybody bought is free to all.

    Raises SourceError (D01 to D04, D10, D11, D20, D21, D30, D31), SchemaError (S01 to S03, S14, S18), StudyError (P03,
    P04), LedgerError (L01 to L07, L10, L15, L20) or BudgetError (B10, B11), all before a value is read.  Under
    replace-one the number of rows (of persons, where the schema has a PrivacyUnit) is public and is counted here, as
    `rows`; under add-remove it is never looked at.

    >>> import tacit as tc
    >>> curator = tc.Curator({"age": [30, 40, 50]}, tc.Schema({"age": tc.Real(0, 100)}), budget=tc.Budget(rho=0.5))
    >>> curator.rows
    3
    """

    def __init__(
        self,
        data: object,
        schema: Schema | Mapping[str, Any] | Study,
        *,
        name: str | None = None,
        budget: Budget | None = None,
        ledger: str | Path | None = None,
        site: Site | None = None,
        analyst: str | None = None,
    ) -> None:
        self.schema: Schema
        self.study: Study | None
        self.schema, self.study = studied.public_of(schema)
        studied.with_study(site, self.study)
        opened = open_source(data)
        named = opened if site is None else apply(opened, site)
        self._source: Source = computing(named, self.schema)
        check_source(self._source, self.schema)
        path = Path(data) if isinstance(data, str | Path) else None
        where = ledger_place(path, ledger if site is None or ledger is not None else site.ledger)
        self.name: str = table_name(name if site is None or name is not None else site.name, path, where)
        if self.study is not None:
            self.study.party(self.name)
        unit = self.schema.unit
        self._unit: int | None = None if unit is None else cast(Any, self.schema[unit]).max_rows
        self.analyst: str | None = None if analyst is None else checked_analyst(analyst)
        needs_budget(budget or (self.study and self.study.budget), where)
        self._ledger: Ledger = studied.ledger_of(where, budget, self.study, self._unit)
        self.rows: int | None = self._count_rows()
        self._ledger.table(self.name, self.rows)

    # What is public --------------------------------------------------------------------------------------------------

    @property
    def budget(self) -> Budget:
        """The ledger's promise, as it stands: a recorded raise counts at once."""
        return self._ledger.budget

    @property
    def spent(self) -> Spend:
        """Exact sums of all charges of the ledger, those of other tables of the same people included."""
        return self._ledger.spent()

    @property
    def remaining(self) -> str:
        """Words: "left 0.49 of 0.50", and what an analyst with a limit has left of it."""
        return self.standing.describe()

    @property
    def standing(self) -> Standing:
        """What is promised, spent and, for this curator's analyst, limited and spent, at one moment."""
        return self._ledger.standing(self.analyst)

    @property
    def recorded(self) -> bool:
        """Whether charges survive this process."""
        return self._ledger.where is not None

    @property
    def releases(self) -> Answers:
        """Stored answers of this table by name: `curator.releases["age"]`."""
        return Answers(self.name, self._ledger, lambda: self.remaining)

    def __repr__(self) -> str:
        what = "rows" if self._unit is None else "persons"
        people = f"number of {what} private" if self.rows is None else f"{self.rows:,} {what}"
        kept = "" if self.recorded else " · memory only, not recorded"
        return (
            f"Curator({self.name} · {people} · {self._ledger.first.neighbors} · {self.budget} · {self.remaining}{kept})"
        )

    def design(self, query: Query[Any], cost: Cost) -> Design:
        """Forms, noise and cells of a query at a price: public facts only.

        Raises QueryError where it cannot be asked: Q10 to Q13 (columns), Q31 to Q33, Q60 to Q65 (where=, bins=), Q71 to
        Q73 (weights, persons); NoiseError N01 where the price buys no law of noise.
        """
        return design(query, self.schema, neighbors=self._ledger.first.neighbors, rows=self.rows, cost=cost)

    def plan(
        self,
        query: Query[Any] | Mapping[str, Query[Any]] | Study,
        *,
        epsilon: Number | None = None,
        delta: Number | None = None,
        rho: Number | None = None,
        width: float | None = None,
        shares: Shares | None = None,
        level: float = 0.95,
    ) -> Any:  # a tacit.planning.Plan: inference stays outside this file
        """What a release would cost and show, from public facts; reads and spends nothing.  See `tc.plan`.

        Raises what `release` refuses before its charge: BudgetError B01, B03, StudyError P02, QueryError Q21, Q40, Q41.
        """
        ask = PLANNER.get("plan")
        if ask is None:
            raise RuntimeError("tacit was imported without its plans")
        words: dict[str, Any] = {"epsilon": epsilon, "delta": delta, "rho": rho}
        if isinstance(query, Study):
            studied.own_words(shares, None)
            words = words if width is not None else studied.price(query, words)
            query, shares = query.asks, query.shares
        return ask(self, query, **words, width=width, shares=shares, level=level)

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

    @overload
    def release(
        self,
        query: Study,
        *,
        epsilon: Number | None = None,
        delta: Number | None = None,
        rho: Number | None = None,
        note: str = "",
    ) -> Releases: ...

    def release(
        self,
        query: Query[Any] | Mapping[str, Query[Any]] | Study,
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

        A study is asked at its own price and shares; a lower price may be given.  Its answers carry its digest.

        Raises, and spends nothing: BudgetError B01, B03, B04 (a price that is none, or of another kind), B02 (the
        budget refuses), QueryError as `design`, Q21 to Q23 (several questions), LedgerError L07 to L10,
        StudyError P01 (closed), P02 (above the study's price), P04 (another study).  MachineError
        M01 may come after the charge: it stands, and the same question resumes it.
        """
        if isinstance(query, Study):
            studied.own_words(shares, name)
            studied.same(query, self.study)
            given = studied.price(query, {"epsilon": epsilon, "delta": delta, "rho": rho})
            cost = Cost.of(**given)
            return self._named(Asked(split(query.asks, cost, query.shares), cost, note, query))
        cost = Cost.of(epsilon=epsilon, delta=delta, rho=rho)
        if isinstance(query, Query):
            if shares is not None:
                raise QueryError("shares= belongs to several questions.", code="Q21", hint="leave shares out")
            asked = Asked(((name, query, cost),), cost, note)
            return self._answer(asked)[0]
        if name is not None:
            raise QueryError("name= belongs to one question.", code="Q21", hint="the mapping's keys are the names")
        return self._named(Asked(split(query, cost, shares), cost, note))

    def _named(self, asked: Asked) -> Releases:
        return Releases(tuple((cast(str, one.name), one) for one in self._answer(asked)))

    # What changes the promise, on record ------------------------------------------------------------------------------

    def raise_budget(
        self, *, epsilon: Number | None = None, delta: Number | None = None, rho: Number | None = None, note: str
    ) -> Raise | None:
        """Record a raise of the ledger's total, written as its budget is, with the note of who decided it.

        None, and nothing recorded, where that is the total already.  Raises BudgetError B13 for what is no raise,
        LedgerError L21 without a note.  `tacit budget LEDGER --raise-to-rho` does the same without a table.

        >>> import tacit as tc
        >>> curator = tc.Curator({"age": [30, 40]}, tc.Schema({"age": tc.Real(0, 100)}), budget=tc.Budget(rho=0.5))
        >>> curator.raise_budget(rho=0.8, note="board 31").words, curator.remaining
        ('ρ = 0.5 to ρ = 0.8', 'left 0.80 of 0.80')
        """
        return self._ledger.raise_budget(self._like(epsilon, delta, rho), note=note)

    def limit(
        self,
        analyst: str,
        *,
        epsilon: Number | None = None,
        delta: Number | None = None,
        rho: Number | None = None,
        note: str,
    ) -> Limit | None:
        """Record what one analyst may spend of the whole, earlier charges by that name included; up and down.

        None, and nothing recorded, where that is the limit already.  Raises BudgetError B13 for a limit that does not
        add as the ledger does, B14 below what is spent, LedgerError L21 without a note, L22 for a name that is none.
        """
        return self._ledger.limit(analyst, self._like(epsilon, delta, rho), note=note)

    def _like(self, epsilon: Number | None, delta: Number | None, rho: Number | None) -> Budget:
        """A budget under the ledger's relation and accounting."""
        return self._ledger.first.like(epsilon=epsilon, delta=delta, rho=rho)

    def _answer(self, asked: Asked) -> tuple[Release, ...]:
        """Law 3, first half: public checks; a stored answer; or a durable charge, then the data."""
        designs = [self.design(query, cost) for _, query, cost in asked.parts]
        self._ledger.first.spend(asked.cost)  # a price this budget cannot add is refused before anything else
        request = self._request(asked, designs)
        stored = self._ledger.find(request.digest)
        if stored is None or stored.release is None:
            if stored is None:  # a charge of before the last day buys its answer after it
                studied.still_open(asked.study)
            self._source_ready()
            charge = self._ledger.charge(request)
            stored = charge if charge.release is not None else self._buy(asked, designs, charge)
        return self._read(stored, asked.study)

    def _buy(self, asked: Asked, designs: Sequence[Design], charge: Charge) -> Charge:
        """Law 3, second half: the charge stands; read rows, add noise, store, and only then return."""
        log = None if self._ledger.where is None or "://" in self._ledger.where else Path(self._ledger.where + ".log")
        noisy = guarded(lambda: [measure(one, self._source) for one in designs], log)
        made = [
            self._document(one, parts, part, charge, asked.study)
            for one, parts, part in zip(designs, noisy, asked.parts, strict=True)
        ]
        text = Releases(tuple((f"{i}", one) for i, one in enumerate(made))).to_json()
        failed: BaseException | None = None
        try:
            return replace(charge, release=self._ledger.store(charge.number, text))
        except (LedgerError, KeyboardInterrupt) as problem:  # asked again, it has new noise: nobody keeps this one
            failed = problem.with_traceback(None)
        del noisy, made, text
        raise failed

    def _document(
        self,
        shape: Design,
        parts: tuple[Part, ...],
        part: tuple[str | None, Query[Any], Cost],
        charge: Charge,
        study: Study | None,
    ) -> Release:
        return LEAVES[shape.kind](
            query=shape.query,
            mechanism=shape.mechanism,
            table=self.name,
            schema=self.schema.digest(),
            neighbors=self._ledger.first.neighbors,
            unit=self._unit,
            rows=self.rows,
            levels=shape.levels,
            axes=shape.axes,
            parts=parts,
            cost=part[2],
            charge=charge.number,
            head=charge.head,
            date=charge.date,
            version=VERSION,
            name=part[0],
            recorded=self.recorded,
            ledger=self._ledger.identity,
            study=None if study is None else study.digest(),
            ordered=shape.ordered,
            variables=shape.variables,
        )

    def _request(self, asked: Asked, designs: Sequence[Design]) -> Request:
        """The question as the ledger remembers it: never a digest of rows."""
        question = {
            "table": self.name,
            "schema": self.schema.digest(),
            "neighbors": self._ledger.first.neighbors,
            "unit": self._unit,
            "mechanism": "+".join(sorted({one.mechanism for one in designs})),
            "cost": asked.cost.to_dict(),
            "ask": [
                [name if asked.several else None, query.to_dict(), cost.to_dict()] for name, query, cost in asked.parts
            ],
        }
        names = tuple(name for name, _, _ in asked.parts if name is not None)
        return Request(self.name, names, canonical(question), asked.cost, asked.note, self.analyst)

    def _read(self, charge: Charge, study: Study | None) -> tuple[Release, ...]:
        """The stored document, as releases that know what is left.

        A study that asks the same of the same columns at the same price is answered by it, whatever was asked first.
        """
        import json

        assert charge.release is not None
        found = tuple(releases_from_dict(json.loads(charge.release)).with_remaining(self.remaining).values())
        return found if study is None else tuple(replace(one, study=study.digest()) for one in found)

    def _source_ready(self) -> None:
        """A user's connection with an unfinished result is refused before the charge."""
        ready = getattr(self._source, "ready", None)
        if ready is not None:
            ready()

    def _count_rows(self) -> int | None:
        """Public under replace-one; under add-remove nobody looks."""
        if self._ledger.first.neighbors != "replace-one":
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


PLANNER: Final[dict[str, Any]] = {}
"""Filled by `tacit` when it is imported: plans need inference, which this side of the wall never imports."""
