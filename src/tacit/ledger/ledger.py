"""The ledger: a charge before its release, one release a charge, no refund; on any database.  INSIDE the wall."""

from __future__ import annotations

import datetime
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from tacit.base.json_text import canonical
from tacit.errors import BudgetError, LedgerError
from tacit.ledger import acts
from tacit.ledger.acts import Act, Limit, Raise, Standing
from tacit.ledger.backup import back_up, verify_store
from tacit.ledger.chain import Charge, Entry, Request, charge_of, linked
from tacit.ledger.charge_state import charge_stands
from tacit.ledger.entry_store import Store, Tx
from tacit.ledger.stored_answers_check import hold
from tacit.ledger.taken_names import taken_name
from tacit.privacy import Budget, Cost, Spend, refusal
from tacit.release.document import Release


@dataclass(frozen=True)
class Ledger:
    """The charges of one population under one budget.  Made by `open_ledger`.

    Every method is one transaction; a BudgetError or LedgerError from it means that nothing was written, unless its
    `state` says otherwise: of a charge that was recorded and not confirmed, or of a commit that may have been done.
    """

    store_: Store
    first: Budget
    """The budget of the header; the total may have been raised since."""
    unit: int | None
    identity: str
    """Hash of the header, unique to this ledger.  Releases carry it: those of one ledger are of the same people."""

    @property
    def where(self) -> str | None:
        """Return the path or server, for messages; None in memory."""
        return self.store_.where

    @property
    def budget(self) -> Budget:
        """The total budget in force: raises by other processes count at once."""
        with self.store_.read() as tx:
            return self._total(tx)

    def table(self, name: str, rows: int | None, persons: str | None = None, found: str | None = None) -> None:
        """Record a table's public size, and the column that identifies its persons, when it is first seen.

        persons: the column as the schema names it.  found: its name in the table itself, where a site maps another one
        to it.

        Raises LedgerError L05 where a later size differs, L91 where persons would be told apart by another column.
        """
        found = persons if found is None else found
        with self.store_.write() as tx:
            known = tx.get("table", name)
            if known is None:
                words = {"rows": rows} if persons is None else {"rows": rows, "persons": persons, "found": found}
                tx.append(linked(tx.last(), "table", name, words))
                return
            recorded, words = known.words["rows"], known.words
        # entries of before sites were looked at have no "found", and those of before that no "persons" either
        column, here = (words["found"], found) if "found" in words else (words.get("persons", persons), persons)
        if column != here:
            message = (
                f"{self.where or 'the ledger'} protects persons of {name!r} by the column {column!r}; "
                f"here they are told apart by {here!r}."
            )
            mapped = here != persons or column != words.get("persons", column)
            hint = f'[data.columns], then column = "{column}"' if mapped else f'"{column}": PrivacyUnit(…)'
            raise LedgerError(message, code="L91", hint=f'{hint}; another table: name="…"')
        if recorded != rows:
            said = "a private number of" if recorded is None else f"{recorded:,}"
            has = "a private number" if rows is None else f"{rows:,}"
            message = f"{self.where or 'the ledger'} records {said} rows of {name!r}; this source has {has}."
            hint = 'a filtered table? Its own name: name="…"; a subgroup is Mean(..., by="sex")'
            raise LedgerError(message, code="L05", hint=hint)

    def find(self, digest: str) -> Charge | None:
        """Return the charge of a question, with its stored answer if any, or None."""
        with self.store_.read() as tx:
            return _charge(tx, tx.get("charge", digest))

    def first_unanswered(self, requests: Iterable[Request]) -> Request:
        """Return the first of many requests that has no stored answer, as they are at one moment."""
        with self.store_.read() as tx:
            for one in requests:
                charge = tx.get("charge", one.digest)
                if charge is None or not tx.has("release", str(charge.words["number"])):
                    return one
        raise AssertionError  # there are always more: they are numbered

    def named(self, table: str, name: str) -> Charge | None:
        """Return the charge whose answer has a name, or None."""
        with self.store_.read() as tx:
            found = tx.get("name", canonical([table, name]))
            return None if found is None else _charge(tx, tx.get("charge", found.words["digest"]))

    def charge(self, request: Request, *, new: bool = False) -> Charge:
        """Record a charge durably before returning; the same question is the same charge, at no new cost.

        A charge without a stored answer is confirmed before it is returned (`Store.confirm`): rows may be read next.
        new: refuse a question that was charged before, by anybody; whoever gets the charge is then alone with it.

        Raises LedgerError L30 where `new` is asked of a known question, L90 where a charge without an answer would now
        buy what costs more; BudgetError B02 where the budget refuses, B12 where the analyst's limit does, B04 for a
        price it cannot add, LedgerError L09 for a name that another question has.
        """
        entry, release = self._charged(request, new)
        if release is None:  # the caller will now read rows, so the charge must survive a loss of power
            with charge_stands():
                self.store_.confirm(entry)
        return charge_of(entry, release)

    def _charged(self, request: Request, new: bool) -> tuple[Entry, Entry | None]:
        """Find or append the entry of the charge; return it with the entry of its release, if any."""
        with self.store_.write() as tx:
            # before the budget is asked: a question paid for is free, also where nothing is left
            known = tx.get("charge", request.digest)
            if known is not None:
                if new:  # refused in the writing transaction: of two processes one gets the charge
                    raise LedgerError("this was charged already.", code="L30", hint="the next one")
                release = _bought(tx, known)
                if release is None:
                    self._resumes(known, request)
                return known, release
            before = tx.newest("charge")
            number, spent = (1, Spend()) if before is None else (before.words["number"] + 1, _spent(before))
            # sum, check and append are one writing transaction: two processes cannot both spend the same remainder
            self._admit(tx, request, number, spent)
            self._names_free(tx, request)
            entry = tx.append(linked(tx.last(), "charge", request.digest, self._body(tx, request, number, spent)))
            for name in request.names:
                words = {"digest": request.digest}
                tx.append(linked(tx.last(), "name", canonical([request.table, name]), words))
        return entry, None

    def store(self, number: int, document: str) -> str:
        """Store the release of a charge, unless one is stored already; return the one that is stored."""
        with charge_stands(), self.store_.write() as tx:
            # two processes that resumed one charge drew different noise: only the first answer may ever be seen
            known = tx.get("release", str(number))
            if known is not None:
                return known.body
            newest = tx.newest("charge")
            if newest is None or not 1 <= number <= newest.words["number"]:
                raise LedgerError(f"no charge has number {number}.", code="L13", state=None)
            return tx.append(linked(tx.last(), "release", str(number), document)).body

    def raise_budget(self, total: Budget, *, note: str) -> Raise | None:
        """Record a raise of the total budget; None, and nothing recorded, where that is the total already.

        total: the budget from here on, all earlier charges included; of the ledger's kind, accounting and relation (an
        (ε, δ) pair that names no accounting gets the ledger's), and above the total in force (of a pair, neither
        below).  note: who decided, and where it is written.  Raises BudgetError B13 for any other total, LedgerError
        L21 without a note.

        >>> from tacit.ledger import open_ledger
        >>> ledger = open_ledger(None, budget=Budget(rho=0.5), unit=None)
        >>> ledger.raise_budget(Budget(rho=0.8), note="board 31").words
        'ρ = 0.5 to ρ = 0.8'
        """
        acts.checked_note(note)
        with self.store_.write() as tx:
            before = self._total(tx)
            total = total.under(before)
            if total == before:
                return None
            if not acts.is_upward(before, total):
                raise acts.refused_raise(self.where, before, total)
            words = {"before": before.to_dict(), "total": total.to_dict(), "note": note}
            return acts.raise_of(self._act(tx, "raise", words), _number(tx.newest("charge")))

    def limit(self, analyst: str, most: Budget, *, note: str) -> Limit | None:
        """Record the most that one analyst may spend; None where that is the limit already.

        most: bounds the sum of the analyst's charges, earlier ones included, added up as the total is.  Limits may be
        raised and lowered; they reserve nothing, and may add up to more than the total.  note: as for a raise.  Raises
        BudgetError B13 for another kind or relation than the ledger's, B14 below what the analyst has spent, B17 above
        the total (one recorded by an earlier version stands),
        LedgerError L21 without a note, L22 for an invalid name.
        """
        analyst = acts.checked_analyst(analyst)
        acts.checked_note(note)
        with self.store_.write() as tx:
            total = self._total(tx)
            most = most.under(total)
            if not acts.same_words(total, most):
                message = f"a limit of {most} ({most.neighbors}) is no part of {total} ({total.neighbors})."
                raise BudgetError(message, code="B13", hint="the ledger's own kind, accounting and relation")
            if not most.limit.within(total.limit):
                message = f"a limit of {most} is above the total budget of {total}: it would limit nothing."
                raise BudgetError(message, code="B17", hint=f"at most {total}, or raise the total first")
            before = _limit(tx, analyst)
            if most == before:
                return None
            own = _own(tx, analyst)[1]
            if not most.holds(own):
                message = f"analyst {analyst!r} has spent {most.describe_spent(own)}; the limit would be {most}."
                raise BudgetError(message, code="B14", hint=f"a limit of at least {most.describe_spent(own)}")
            old = None if before is None else before.to_dict()
            words = {"analyst": analyst, "before": old, "limit": most.to_dict(), "note": note}
            return acts.limit_of(self._act(tx, "limit", words), _number(tx.newest("charge")))

    def acts(self) -> list[Act]:
        """Return all recorded raises and limits, in order."""
        with self.store_.read() as tx:
            return acts.acts_of(tx.all())

    def standing(self, analyst: str | None = None) -> Standing:
        """Return the total and the sum of charges at one moment, and an analyst's limit and charges."""
        with self.store_.read() as tx:
            total, newest = self._total(tx), tx.newest("charge")
            spent = Spend() if newest is None else _spent(newest)
            if analyst is None:
                return Standing(total, spent)
            return Standing(total, spent, analyst, _limit(tx, analyst), _own(tx, analyst)[1])

    def charges(self) -> list[Charge]:
        """Return all charges in order."""
        with self.store_.read() as tx:
            entries = tx.all()
        bought = {one.key: one for one in entries if one.kind == "release"}
        return [charge_of(one, bought.get(str(one.words["number"]))) for one in entries if one.kind == "charge"]

    def spent(self) -> Spend:
        """Return the exact sum of all charges."""
        with self.store_.read() as tx:
            newest = tx.newest("charge")
        return Spend() if newest is None else _spent(newest)

    def verify(self) -> None:
        """Recompute every hash, sum and limit; LedgerError L10 naming the first entry that does not fit, L15 where a
        later version wrote what this one cannot read.  The database checks its own pages and indices, too.
        """
        verify_store(self.store_, self.first)

    def check(self, releases: Iterable[tuple[int, str]]) -> None:
        """Compare (charge number, head) of releases with the chain.

        Raises LedgerError L14 where this is an older copy of their ledger, or another ledger.
        """
        # an older copy is itself a valid chain; only a release bought after it was made can contradict it
        heads = {one.number: one.head for one in self.charges()}
        for number, head in releases:
            if number not in heads:
                newest = max(heads, default=0)
                message = f"a release was bought by charge {number}; {self.where} ends at {newest}: an older copy."
                raise LedgerError(message, code="L14", hint="restore the newest copy of the ledger", state=None)
            if heads[number] != head:
                message = f"charge {number} of {self.where} is not the one a release was bought by."
                raise LedgerError(message, code="L14", hint="is this the ledger of that release?", state=None)

    def hold(self, releases: Iterable[tuple[str, Release]]) -> None:
        """Compare whole releases, each with words for where it was found, with the stored answers.

        Raises LedgerError L14 as `check`; L23 naming the releases that differ from the stored answer of their charge,
        or whose charge has none.
        """
        given = list(releases)
        self.check((one.charge, one.head) for _, one in given)
        hold(self.where, self.charges(), given)

    def backup(self, target: str | Path) -> None:
        """Copy the ledger of one moment to a new file of mode 0600; the copy is verified before it gets its name.

        Charges made later are not in it.  Raises LedgerError
        L16 where `target` is there already or cannot be made, and for a ledger on a server.

        >>> import pathlib, tempfile
        >>> from tacit.ledger import open_ledger
        >>> ledger = open_ledger(None, budget=Budget(rho=0.5), unit=None)
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     ledger.backup(pathlib.Path(folder, "copy.ledger"))
        """
        back_up(self.store_, self.identity, Path(target))

    def close(self) -> None:
        """Close the connections."""
        self.store_.close()

    def _total(self, tx: Tx) -> Budget:
        """Return the total budget in force."""
        raises = tx.numbered("raise")
        return Budget.from_dict(raises[-1].words["total"]) if raises else self.first

    def _admit(self, tx: Tx, request: Request, number: int, spent: Spend) -> None:
        """Raise BudgetError unless the total and the analyst's limit admit a charge: that of the one with less left."""
        total, cost, asked, bought = self._total(tx), request.cost, max(1, len(request.names)), request.bought
        # what is recorded, which raises and limits do not change
        price = self.first.spend(cost, bought)
        fits = total.fits(spent, price)
        limit = None if request.analyst is None else _limit(tx, request.analyst)
        if limit is not None and request.analyst is not None:
            count, own = _own(tx, request.analyst)
            # where both refuse, the error is of the one with less left, so that the price in its hint fits both
            if not limit.fits(own, price) and (fits or limit.left(own).within(total.left(spent))):
                raise refusal(limit, own, cost, self.where, count, asked, request.analyst, bought)
        if not fits:
            raise refusal(total, spent, cost, self.where, number - 1, asked, bought=bought)

    def _resumes(self, charge: Entry, request: Request) -> None:
        """Raise LedgerError L90 where a charge without an answer would now be spent on what costs more.

        A price of another measure than the ledger's is charged by its parts, and these follow from the question and
        from public facts that are no part of it: the size hint.  An answer may cost no more than its charge.
        """
        now, paid = self.first.spend(request.cost, request.bought), _price_of(charge, self.first)
        if not now.within(paid):
            message = (
                f"charge {_number(charge)} of this question has no answer yet and was {paid}; what would be measured "
                f"with this size_hint costs {now}."
            )
            raise LedgerError(message, code="L90", hint="the size_hint of then, or fresh=True, which is charged anew")

    def _act(self, tx: Tx, kind: Literal["raise", "limit"], words: dict[str, Any]) -> Entry:
        """Append a raise or a limit with its number and today's date."""
        # no gaps: entries are never removed, and the number is taken in the writing transaction
        number = len(tx.numbered(kind)) + 1
        dated = {"number": number, "date": datetime.date.today().isoformat(), **words}
        return tx.append(linked(tx.last(), kind, str(number), dated))

    def _body(self, tx: Tx, request: Request, number: int, spent: Spend) -> dict[str, Any]:
        """Return the body of a charge, with the sums of all charges and of the analyst's charges up to it."""
        price = self.first.spend(request.cost, request.bought)  # raises do not change how costs are added up
        words = {
            "number": number,
            "table": request.table,
            "names": list(request.names),
            "question": request.question,
            "cost": request.cost.to_dict(),
            "note": request.note,
            "date": datetime.date.today().isoformat(),
            # running sum: the next charge needs only the newest entry; the audit adds all prices again
            "spent": (spent + price).to_dict(),
        }
        # the sum of the costs of its parts is lower (`privacy.bought`), or a long fraction was rounded up
        if price != self.first.exact_spend(request.cost):
            words["charged"] = price.to_dict()
        if request.analyst is None:
            return words
        count, own = _own(tx, request.analyst)
        mine = {"name": request.analyst, "number": count + 1, "spent": (own + price).to_dict()}
        return {**words, "analyst": mine}

    def _names_free(self, tx: Tx, request: Request) -> None:
        """Raise LedgerError L09 where another question of the table has one of the names."""
        for name in request.names:
            taken = tx.get("name", canonical([request.table, name]))
            if taken is not None:
                raise taken_name(request, name, _charge(tx, tx.get("charge", str(taken.words["digest"]))))


def _charge(tx: Tx, entry: Entry | None) -> Charge | None:
    """Return the charge of an entry with its stored release, None for no entry."""
    return None if entry is None else charge_of(entry, _bought(tx, entry))


def _bought(tx: Tx, charge: Entry) -> Entry | None:
    """Return the entry of the release that a charge bought, None where none is stored."""
    return tx.get("release", str(charge.words["number"]))


def _price_of(charge: Entry, budget: Budget) -> Spend:
    """Return what a charge added to the sums."""
    own = charge.words.get("charged")
    return budget.spend(Cost.from_dict(charge.words["cost"])) if own is None else Spend.from_dict(own)


def _spent(entry: Entry) -> Spend:
    """Return the sum of all charges up to a charge's entry."""
    return Spend.from_dict(entry.words["spent"])


def _number(entry: Entry | None) -> int:
    """Return the number of a charge's entry, 0 for no entry."""
    return 0 if entry is None else entry.words["number"]


def _limit(tx: Tx, analyst: str) -> Budget | None:
    """Return an analyst's limit in force, or None."""
    found = [one.words for one in tx.numbered("limit") if one.words["analyst"] == analyst]
    return Budget.from_dict(found[-1]["limit"]) if found else None


def _own(tx: Tx, analyst: str) -> tuple[int, Spend]:
    """Return how many charges an analyst made, and their sum, from the newest of them."""
    newest = tx.newest("charge", analyst)
    words = None if newest is None else newest.words["analyst"]
    return (0, Spend()) if words is None else (words["number"], Spend.from_dict(words["spent"]))
