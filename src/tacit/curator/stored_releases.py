"""Releases stored in the ledger, read back by charge or by name.  INSIDE the wall."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

from tacit.errors import ReleaseError, TacitError, nearest
from tacit.ledger import Charge, Ledger
from tacit.ledger.entry_forms import UNREADABLE, damaged
from tacit.release.document import Releases, releases_from_dict


def stored(charge: Charge, where: str | None) -> Releases:
    """Return the releases stored for a charge; LedgerError L10 where they cannot be read or are another charge's."""
    found: Releases | None = None
    try:
        found = releases_from_dict(json.loads(charge.release or ""))
    except TacitError:  # for example a release of a later version: its message says so
        raise
    except UNREADABLE:
        pass
    # the head names one charge of one chain: an answer copied from another charge is damage
    if found is None or any((one.charge, one.head) != (charge.number, charge.head) for one in found.values()):
        raise damaged(where, f"the answer stored for charge {charge.number} is not one that it bought")
    return found


class Answers(Mapping[str, Any]):
    """The stored releases of one table by the names they were given.  Reading them costs nothing."""

    def __init__(self, table: str, ledger: Ledger, remaining: Callable[[], str]) -> None:
        self._table = table
        self._ledger = ledger
        self._remaining = remaining

    def __getitem__(self, name: str) -> Any:
        charge = self._ledger.named(self._table, name)
        if charge is None or charge.release is None:
            guess = nearest(name, list(self))
            message = f"no stored answer of {self._table!r} is named {name!r}."
            raise ReleaseError(message, code="R06", hint=guess and f'releases["{guess}"]', state=None)
        for one in stored(charge, self._ledger.where).with_remaining(self._remaining()).values():
            if one.name == name:
                return one
        raise ReleaseError(f"the stored answer {name!r} is damaged.", code="R05", state=None)

    def __iter__(self) -> Any:
        charges = self._ledger.charges()
        return iter(
            [name for one in charges if one.table == self._table and one.release is not None for name in one.names]
        )

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def __repr__(self) -> str:
        return f"stored answers of {self._table}: {', '.join(self) or 'none'}"
