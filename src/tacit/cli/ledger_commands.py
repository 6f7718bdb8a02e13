"""Implementation of `tacit budget`: record a raise or a limit if asked, then list charges and verify the ledger."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from tacit.cli.output import emit
from tacit.errors import CommandError
from tacit.privacy import Budget, Spend
from tacit.release.document import Releases

if TYPE_CHECKING:
    from tacit.base.table import Align
    from tacit.ledger import Charge, Ledger, Limit, Raise

COLUMNS: Final = ("charge", "date", "table", "names", "cost", "stored", "note")


@dataclass(frozen=True)
class Change:
    """A change to record: the numbers of a new total or of one analyst's limit, as typed, and a note."""

    total: Mapping[str, str | None]
    limit: Mapping[str, str | None]
    analyst: str | None
    note: str

    @property
    def raises(self) -> bool:
        """Return whether a new total is given."""
        return any(one is not None for one in self.total.values())

    @property
    def limits(self) -> bool:
        """Return whether a limit is given."""
        return any(one is not None for one in self.limit.values())


def budget(where: str, releases: list[str], change: Change, backup: str | None, as_json: bool) -> None:
    """Run `tacit budget`: verify a ledger, compare releases with it, record a change, back it up, and list it."""
    from tacit.ledger import open_recorded

    _checked(change)
    if "://" not in where and not _is_file(where):
        raise CommandError(f"there is no ledger {where}.", code="C04", hint="the path of a .ledger file")
    if backup is not None:
        _free(backup)
    ledger = open_recorded(where)
    # verified and held against releases first: nothing is recorded in a ledger that is damaged or an older copy
    ledger.verify()
    bought = [(f"{path}: {name}", one) for path in releases for name, one in Releases.stored(path).items()]
    ledger.hold(bought)
    recorded = _record(ledger, change)
    if backup is not None:
        ledger.backup(backup)
    emit(*_page(where, ledger, len(bought) if releases else None, recorded, backup), as_json)


def _is_file(where: str) -> bool:
    """Return whether the file exists; False for a text that cannot be a path."""
    try:
        return Path(where).is_file()
    except (OSError, ValueError):
        return False


def _free(backup: str) -> None:
    """Raise LedgerError L16, before anything is recorded, for a backup that would overwrite a file."""
    from tacit.ledger.ledger_files import refuse_existing

    refuse_existing(Path(backup))


def _checked(change: Change) -> None:
    """Raise CommandError C06 for options that contradict each other or are incomplete."""
    if change.raises and change.limits:
        raise CommandError("a raise and a limit are two decisions.", code="C06", hint="one command for each")
    if change.limits != (change.analyst is not None):
        said = "a limit is whose?" if change.limits else "--analyst is given, and no limit."
        raise CommandError(said, code="C06", hint="--analyst alice --limit-to-rho 0.2")
    if change.note and not (change.raises or change.limits):
        raise CommandError("--note is given, and nothing to record.", code="C06", hint="--raise-to-rho 0.8")


def _record(ledger: Ledger, change: Change) -> str | None:
    """Record a raise or a limit; return the outcome as a text, None where no change was given."""
    from tacit.ledger.acts import checked_analyst

    if change.raises:
        made: Raise | Limit | None = ledger.raise_budget(_like(ledger.budget, change.total), note=change.note)
        return f"raised from {made.words}" if made is not None else "that is the total already: nothing was recorded"
    if change.analyst is None:
        return None
    name = checked_analyst(change.analyst)
    limit = ledger.standing(name).limit or ledger.budget
    made = ledger.limit(name, _like(limit, change.limit), note=change.note)
    return f"{name}: {made.words}" if made is not None else "that is the limit already: nothing was recorded"


def _like(now: Budget, given: Mapping[str, str | None]) -> Budget:
    """Return the budget with the given numbers; of an (ε, δ) pair, the number not given stays as it is."""
    typed = {name: value for name, value in given.items() if value is not None}
    pair = now.epsilon is not None and now.delta is not None and "rho" not in typed
    kept = {"epsilon": now.epsilon, "delta": now.delta} if pair else {}
    return now.like(**{**kept, **typed})


def _page(
    where: str, ledger: Ledger, checked: int | None, recorded: str | None, backup: str | None
) -> tuple[str, dict[str, Any]]:
    """Return the contents of a ledger as text and as plain values for JSON."""
    from tacit.base.table import Table
    from tacit.ledger import Limit

    charges, acts, standing = ledger.charges(), ledger.acts(), ledger.standing()
    limits = {one.analyst: one.most for one in acts if isinstance(one, Limit)}
    analysts = list(dict.fromkeys([*(one.analyst for one in charges if one.analyst is not None), *limits]))
    own = {name: ledger.standing(name).own for name in analysts}
    notes = (
        *([recorded] if recorded is not None else []),
        f"{standing.describe()} · chain intact",
        *(_analyst(name, own[name], limits.get(name), standing.budget) for name in analysts),
        *([f"{checked} releases agree with the chain and with the stored answers"] if checked is not None else []),
        *([f"copied to {backup}, and the copy verified"] if backup is not None else []),
    )
    columns = (*COLUMNS[:2], "analyst", *COLUMNS[2:]) if analysts else COLUMNS
    sides: tuple[Align, ...] = ("right", *("left" for _ in columns[1:]))
    title = f"{where} · {standing.budget} · {standing.budget.neighbors}"
    table = Table(title, columns, tuple(_lines(charges, acts, bool(analysts))), notes, sides)
    words = {
        "budget": standing.budget.to_dict(),
        "first": ledger.first.to_dict(),
        "spent": standing.spent.to_dict(),
        "left": standing.budget.left(standing.spent).to_dict(),
        "charges": [{**dict(zip(COLUMNS, _cells(one), strict=True)), "analyst": one.analyst} for one in charges],
        "acts": [_act(one) for one in acts],
        "analysts": {
            name: {"spent": own[name].to_dict(), "limit": limits[name].to_dict() if name in limits else None}
            for name in analysts
        },
        "recorded": recorded,
        "checked": checked or 0,
        "backup": backup,
    }
    return table.to_text(), words


def _cells(one: Charge) -> tuple[Any, ...]:
    """Return the table cells of one charge."""
    stored = "yes" if one.release is not None else "no"
    return (one.number, one.date, one.table, ", ".join(one.names) or "–", str(one.cost), stored, one.note)


def _lines(charges: Sequence[Charge], acts: Sequence[Raise | Limit], named: bool) -> Iterable[tuple[Any, ...]]:
    """Yield the table rows: charges and, each after the charge that it followed, raises and limits."""
    from tacit.ledger.acts import one_line

    rest = list(acts)
    for number in range(len(charges) + 1):
        if number > 0:
            charge = charges[number - 1]
            cells = _cells(charge)
            yield (*cells[:2], *([charge.analyst or "–"] if named else []), *cells[2:-1], one_line(charge.note))
        while rest and rest[0].after == number:
            act = rest.pop(0)
            whose = getattr(act, "analyst", "–")
            what = "limit" if hasattr(act, "analyst") else "raise"
            yield (what, act.date, *([whose] if named else []), "–", "–", act.words, "–", one_line(act.note))


def _analyst(name: str, own: Spend, limit: Budget | None, total: Budget) -> str:
    """Return a note on one analyst's spending and limit."""
    return f"{name}: spent {total.describe_spent(own)}, " + (
        "no limit" if limit is None else f"{limit.describe_left(own)}"
    )


def _act(act: Raise | Limit) -> dict[str, Any]:
    """Return a raise or a limit as plain values; `after` is the number of the charge that it followed, 0 for none."""
    from tacit.ledger import Limit

    shared = {"before": None if act.before is None else act.before.to_dict(), "note": act.note, "date": act.date}
    if isinstance(act, Limit):
        return {"act": "limit", "analyst": act.analyst, "limit": act.most.to_dict(), **shared, "after": act.after}
    return {"act": "raise", "total": act.total.to_dict(), **shared, "after": act.after}
