"""Questions and answers of a ledger, for `tacit show LEDGER`: what was bought, without the table."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from tacit.base.table import Table

if TYPE_CHECKING:
    from tacit.ledger import Charge

MAGIC: Final = b"SQLite format 3\x00"
"""The first bytes of a ledger's file."""
SHORT: Final = 3
"""The most terms of an answer that stands in the list."""


def is_ledger(where: str) -> bool:
    """Return whether a path is a ledger: the address of a server, or a file of its format (no JSON begins so)."""
    if "://" in where:
        return True
    try:
        with Path(where).open("rb") as file:
            return file.read(len(MAGIC)) == MAGIC
    except (OSError, ValueError):  # a null byte in the path is a ValueError
        return False


def stored_answers(where: str) -> tuple[tuple[Charge, ...], dict[str, Any]]:
    """Return a ledger's charges and the releases they bought, by name, after its chain was verified.

    A name is that of the question; with its table's name before it where two tables have answers of one name, and the
    number of the charge where the question has none.
    """
    from tacit.curator.stored_releases import stored
    from tacit.ledger import open_recorded

    ledger = open_recorded(where)
    ledger.verify()
    charges = tuple(ledger.charges())
    found = [one for charge in charges if charge.release for one in stored(charge, where).values()]
    ledger.close()
    names = Counter(one.name for one in found)
    return charges, {_name(one, names[one.name] > 1): one for one in found}


def _name(release: Any, shared: bool) -> str:
    if release.name is None:
        return f"charge {release.charge}"
    return f"{release.table}/{release.name}" if shared else release.name


def listed(where: str, charges: Sequence[Charge], found: Mapping[str, Any], tables: Mapping[str, Table]) -> Table:
    """Return a list of the questions with their answers, a line each; a charge without an answer has a line, too."""
    from tacit.estimates.wording import title

    rows: list[tuple[object, ...]] = []
    for charge in charges:
        bought = {name: one for name, one in found.items() if one.charge == charge.number}
        for name, one in bought.items():
            words = (title(one), in_short(tables[name]), str(one.cost))
            rows.append((name, charge.number, charge.date, charge.table, *words))
        if not bought:
            name, words = (
                ", ".join(charge.names) or f"charge {charge.number}",
                ("–", "none is stored", str(charge.cost)),
            )
            rows.append((name, charge.number, charge.date, charge.table, *words))
    columns = ("name", "charge", "date", "table", "question", "answer", "cost")
    notes = (f"one in full, saved or drawn: tacit show {where} --name NAME",)
    return Table(where, columns, tuple(rows), notes, ("left", "right", *("left" for _ in columns[2:])))


def in_short(table: Table) -> str:
    """Return an answer of a few terms in one line, else how many lines its table has.

    >>> in_short(Table("", ("sex", "estimate", "95% interval"), (("f", "45.0", "44.5 to 45.6"), ("m", "–", ""))))
    'f: 45.0 (44.5 to 45.6); m: not known'
    """
    places = [i for i, name in enumerate(table.columns) if name.endswith("interval")]
    if "estimate" not in table.columns or not places or len(table.rows) > SHORT:
        return f"{len(table.rows)} lines"
    value, interval = table.columns.index("estimate"), places[0]
    said: list[str] = []
    for row in table.rows:
        term = f"{row[0]}: " if len(table.rows) > 1 else ""
        said.append(f"{term}{row[value]} ({row[interval]})" if row[value] != "–" else f"{term}not known")
    return "; ".join(said)
