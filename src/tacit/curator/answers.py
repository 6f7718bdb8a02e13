"""Stored answers of one table, by name.  INSIDE the wall."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from tacit.curator.ledger import Ledger
from tacit.errors import ReleaseError, nearest
from tacit.release import releases_from_dict


class Answers(Mapping[str, Any]):
    """Stored answers of one table, by the name they were given.  Reading them is free."""

    def __init__(self, table: str, ledger: Ledger, remaining: Callable[[], str]) -> None:
        self._table = table
        self._ledger = ledger
        self._remaining = remaining

    def __getitem__(self, name: str) -> Any:
        import json

        charge = self._ledger.named(self._table, name)
        if charge is None or charge.release is None:
            guess = nearest(name, list(self))
            message = f"no stored answer of {self._table!r} is named {name!r}."
            raise ReleaseError(message, code="R06", hint=guess and f'releases["{guess}"]', state=None)
        for one in releases_from_dict(json.loads(charge.release)).with_remaining(self._remaining()).values():
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
