"""The ledger's laws, whatever database holds it: charge first, one release a charge, nothing refunded.  INSIDE."""

from __future__ import annotations

import datetime
import secrets
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from tacit.curator.ledger.chain import Charge, Entry, Request, broken_link, charge_of, linked
from tacit.curator.ledger.postgres import PostgresStore
from tacit.curator.ledger.sqlite import SqliteStore
from tacit.curator.ledger.store import Store, Tx
from tacit.errors import BudgetError, LedgerError
from tacit.privacy import Budget, Cost, Spend, refusal
from tacit.release import canonical

FORMAT: Final = 1


@dataclass(frozen=True)
class Ledger:
    """One population's charges under one promise.  Made by `open_ledger`.

    Every method is one transaction; a BudgetError or LedgerError from it means that nothing was written.
    """

    store_: Store
    budget: Budget
    unit: int | None
    identity: str
    """Hash of the header, which no other ledger has.  Releases carry it: one ledger, the same people."""

    @property
    def where(self) -> str | None:
        """Path or server for messages; None in memory."""
        return self.store_.where

    def table(self, name: str, rows: int | None) -> None:
        """Record a table's public size when it is first seen; LedgerError L05 where a later one differs."""
        with self.store_.write() as tx:
            known = tx.get("table", name)
            if known is None:
                tx.append(linked(tx.last(), "table", name, {"rows": rows}))
                return
            recorded = known.words["rows"]
        if recorded != rows:
            said = "a private number of" if recorded is None else f"{recorded:,}"
            has = "a private number" if rows is None else f"{rows:,}"
            message = f"{self.where or 'the ledger'} records {said} rows of {name!r}; this source has {has}."
            hint = 'a filtered table? Its own name: name="…"; a subgroup is Mean(..., by="sex")'
            raise LedgerError(message, code="L05", hint=hint)

    def find(self, digest: str) -> Charge | None:
        """The charge of a question, with its stored answer, or None."""
        with self.store_.read() as tx:
            return _charge(tx, tx.get("charge", digest))

    def named(self, table: str, name: str) -> Charge | None:
        """The charge whose answer bears a name."""
        with self.store_.read() as tx:
            found = tx.get("name", canonical([table, name]))
            return None if found is None else _charge(tx, tx.get("charge", found.words["digest"]))

    def charge(self, request: Request) -> Charge:
        """Record a charge durably before returning; the same question is the same charge, at no new cost.

        Raises BudgetError B02 where the budget refuses, B04 for a price it cannot add, LedgerError L09 for a name that
        another question bears.
        """
        with self.store_.write() as tx:
            known = tx.get("charge", request.digest)
            if known is not None:
                found = _charge(tx, known)
                assert found is not None
                return found
            before = tx.newest("charge")
            number, spent = (1, Spend()) if before is None else (before.words["number"] + 1, _spent(before))
            if not self.budget.admits(spent, request.cost):
                asked = max(1, len(request.names))
                raise refusal(self.budget, spent, request.cost, self.where, number - 1, asked)
            self._names_free(tx, request)
            entry = tx.append(linked(tx.last(), "charge", request.digest, self._body(request, number, spent)))
            for name in request.names:
                words = {"digest": request.digest}
                tx.append(linked(tx.last(), "name", canonical([request.table, name]), words))
        return charge_of(entry, None)

    def store(self, number: int, document: str) -> str:
        """Keep the release that a charge bought; the first one stored wins, and is returned."""
        with self.store_.write() as tx:
            known = tx.get("release", str(number))
            if known is not None:
                return known.body
            newest = tx.newest("charge")
            if newest is None or not 1 <= number <= newest.words["number"]:
                raise LedgerError(f"no charge has number {number}.", code="L13", state=None)
            return tx.append(linked(tx.last(), "release", str(number), document)).body

    def charges(self) -> list[Charge]:
        """All charges in order."""
        with self.store_.read() as tx:
            entries = tx.all()
        bought = {one.key: one for one in entries if one.kind == "release"}
        return [charge_of(one, bought.get(str(one.words["number"]))) for one in entries if one.kind == "charge"]

    def spent(self) -> Spend:
        """Exact sum of all charges."""
        with self.store_.read() as tx:
            newest = tx.newest("charge")
        return Spend() if newest is None else _spent(newest)

    def verify(self) -> None:
        """Recompute every hash and every sum; LedgerError L10 naming the first entry that does not fit."""
        with self.store_.read() as tx:
            entries = tx.all()
        broken = broken_link(entries)
        if broken is not None:
            raise self._damaged(broken)
        total = Spend()
        for number, one in enumerate((entry for entry in entries if entry.kind == "charge"), start=1):
            words = one.words
            total = total + self.budget.spend(Cost.from_dict(words["cost"]))
            if words["number"] != number or _spent(one) != total:
                raise self._damaged(one.seq)
        if not total.within(self.budget.limit):
            raise self._damaged(len(entries))

    def check(self, releases: Iterable[tuple[int, str]]) -> None:
        """Hold (charge number, head) of releases against the chain: L14 where this is an older copy, or not theirs."""
        heads = {one.number: one.head for one in self.charges()}
        for number, head in releases:
            if number not in heads:
                newest = max(heads, default=0)
                message = f"a release was bought by charge {number}; {self.where} ends at {newest}: an older copy."
                raise LedgerError(message, code="L14", hint="restore the newest copy of the ledger", state=None)
            if heads[number] != head:
                message = f"charge {number} of {self.where} is not the one a release was bought by."
                raise LedgerError(message, code="L14", hint="is this the ledger of that release?", state=None)

    def close(self) -> None:
        """Let go of connections."""
        self.store_.close()

    def _body(self, request: Request, number: int, spent: Spend) -> dict[str, Any]:
        after = spent + self.budget.spend(request.cost)
        return {
            "number": number,
            "table": request.table,
            "names": list(request.names),
            "question": request.question,
            "cost": request.cost.to_dict(),
            "note": request.note,
            "date": datetime.date.today().isoformat(),
            "spent": after.to_dict(),
        }

    def _names_free(self, tx: Tx, request: Request) -> None:
        for name in request.names:
            if tx.get("name", canonical([request.table, name])) is not None:
                message = f"another question of {request.table!r} is already named {name!r}."
                raise LedgerError(message, code="L09", hint=f'name="{name}-2"')

    def _damaged(self, seq: int) -> LedgerError:
        message = f"ledger {self.where} was changed: entry {seq} does not fit its chain."
        return LedgerError(message, code="L10", hint="restore the newest intact copy", state=None)


def unit_of(where: str | Path) -> int | None:
    """The unit of privacy that an existing ledger records; LedgerError where there is none."""
    store = _store(where)
    header = _header(store) if store.exists() else None
    store.close()
    if header is None:
        raise LedgerError(f"{where} is not a ledger.", code="L03", hint="the path of a .ledger file", state=None)
    return header.words["unit"]


def _store(where: str | Path | None) -> Store:
    if where is not None and str(where).startswith(("postgresql://", "postgres://")):
        return PostgresStore(str(where))
    return SqliteStore(None if where is None else Path(where))


def open_ledger(where: str | Path | None, *, budget: Budget | None, unit: int | None) -> Ledger:
    """Open a ledger, or make one (which takes a budget).

    where: a path; a "postgresql://" URL; None for memory only.  unit: the most rows a person may have, None for one.
    Raises LedgerError: L01 another budget, L02 another unit of privacy, L03 no ledger, L04 a network file system, L06
    out of reach, L07 held by another process, L08 no room, L15 a later version; BudgetError B11 without a budget.

    >>> ledger = open_ledger(None, budget=Budget(rho=1), unit=None)
    >>> ledger.spent().rho
    Fraction(0, 1)
    """
    store = _store(where)
    header = _header(store) if store.exists() else None
    if header is None:
        if budget is None:
            message = f"there is no ledger at {store.where}; a new one takes a budget."
            raise BudgetError(message, code="B11", hint="budget=tc.Budget(rho=0.5)")
        store.create()
        header = _write_header(store, budget, unit)
    return _same(store, header, budget, unit)


def _header(store: Store) -> Entry | None:
    with store.read() as tx:
        return tx.get("header", "")


def _write_header(store: Store, budget: Budget, unit: int | None) -> Entry:
    """The promise, for good; another process may have written its own first, and then that one holds."""
    with store.write() as tx:
        found = tx.get("header", "")
        if found is not None:
            return found
        words = {"format": FORMAT, "budget": budget.to_dict(), "unit": unit, "id": secrets.token_hex(16)}
        return tx.append(linked(tx.last(), "header", "", words))


def _same(store: Store, header: Entry, budget: Budget | None, unit: int | None) -> Ledger:
    words = header.words
    if words["format"] > FORMAT:
        message = f"ledger {store.where} has format {words['format']}; this version reads up to {FORMAT}."
        raise LedgerError(message, code="L15", hint="upgrade tacit")
    recorded = Budget.from_dict(words["budget"])
    if budget is not None and budget != recorded:
        message = (
            f"ledger {store.where} promises {recorded} ({recorded.neighbors}); "
            f"this budget is {budget} ({budget.neighbors})."
        )
        raise LedgerError(message, code="L01", hint="leave budget= out to use the ledger's own")
    if words["unit"] != unit:
        message = f"ledger {store.where} protects {_unit(words['unit'])}; this schema says {_unit(unit)}."
        raise LedgerError(message, code="L02", hint="another ledger for another unit of privacy")
    return Ledger(store, recorded, unit, header.hash)


def _unit(unit: int | None) -> str:
    return "one row each" if unit is None else f"persons of at most {unit} rows"


def _charge(tx: Tx, entry: Entry | None) -> Charge | None:
    return None if entry is None else charge_of(entry, tx.get("release", str(entry.words["number"])))


def _spent(entry: Entry) -> Spend:
    return Spend.from_dict(entry.words["spent"])
