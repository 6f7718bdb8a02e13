"""Releases held against the answers that a ledger stored: whole, not only by charge and chain.  INSIDE the wall.

A release is what its charge bought only if it says what was stored, word for word.  Two things aside: the study that an
answer is handed to, for the same answer serves several, and a digest, which the ledger makes unnecessary.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final

from tacit.base.json_text import parsed
from tacit.errors import LedgerError, TacitError
from tacit.ledger.chain import Charge
from tacit.release.document import Release, releases_from_dict

ASIDE: Final = ("study",)
NAMED: Final = 5
"""Releases that one error names."""


def hold(where: str | None, charges: Sequence[Charge], releases: Iterable[tuple[str, Release]]) -> None:
    """(Where it was found, release) against stored answers; LedgerError L23 naming those that differ or have none."""
    known = {one.number: one for one in charges}
    wrong = [said for place, one in releases if (said := differs(known[one.charge], place, one)) is not None]
    if wrong:
        more = f"; and {len(wrong) - NAMED:,} more" if len(wrong) > NAMED else ""
        message = f"{'; '.join(wrong[:NAMED])}{more}."
        raise LedgerError(message, code="L23", hint=f"the file as {where or 'the ledger'} made it", state=None)


def differs(charge: Charge, place: str, release: Release) -> str | None:
    """Why a release is not what its charge bought, in words, or None."""
    if charge.release is None:
        return f"{place}: charge {charge.number} has no stored answer"
    own = release.to_dict()
    for stored in _answers(charge):
        if stored["name"] == own["name"]:
            other = list(_other(own, stored))
            return f"{place} is not what charge {charge.number} bought: {', '.join(other)}" if other else None
    return f"{place}: charge {charge.number} bought no answer of that name"


def _answers(charge: Charge) -> list[dict[str, Any]]:
    """The documents that a charge stored; LedgerError L10 where they cannot be read."""
    try:
        return [one.to_dict() for one in releases_from_dict(parsed(charge.release or "")).values()]
    except (TacitError, ValueError, RecursionError):
        pass
    raise LedgerError(f"the answer that charge {charge.number} stored is damaged.", code="L10", state=None)


def _other(own: dict[str, Any], stored: dict[str, Any]) -> Iterator[str]:
    """Names of the fields that differ."""
    for name in sorted(own.keys() | stored.keys()):
        if name not in ASIDE and own.get(name) != stored.get(name):
            yield name
