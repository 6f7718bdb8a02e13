"""Comparison of whole releases with the answers stored in a ledger.  INSIDE the wall.

A release is what its charge bought only if every field equals the stored one.  Two are not compared: the study that an
answer was given to, since one answer may serve several, and the file's digest, which the comparison makes unnecessary.
Nor is the name of an answer that was bought alone: the same question under another name has the same answer.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final

from tacit.base.json_text import parsed
from tacit.errors import LedgerError, TacitError
from tacit.ledger.chain import Charge
from tacit.release.document import Release, releases_from_dict

ASIDE: Final = ("study",)
"""Fields that are not compared."""
NAMED: Final = 5
"""The most releases that one error names."""


def hold(where: str | None, charges: Sequence[Charge], releases: Iterable[tuple[str, Release]]) -> None:
    """Compare (where it was found, release) with stored answers; LedgerError L23 names those that differ."""
    known = {one.number: one for one in charges}
    wrong = [said for place, one in releases if (said := differs(known[one.charge], place, one)) is not None]
    if wrong:
        more = f"; and {len(wrong) - NAMED:,} more" if len(wrong) > NAMED else ""
        message = f"{'; '.join(wrong[:NAMED])}{more}."
        raise LedgerError(message, code="L23", hint=f"the file as {where or 'the ledger'} made it", state=None)


def differs(charge: Charge, place: str, release: Release) -> str | None:
    """Say why a release is not what its charge bought; None where it is."""
    if charge.release is None:
        return f"{place}: charge {charge.number} has no stored answer"
    own, answers = release.to_dict(), _answers(charge)
    for stored in answers:
        if stored["name"] == own["name"] or len(answers) == 1:
            other = list(_other({**own, "name": stored["name"]}, stored))
            return f"{place} is not what charge {charge.number} bought: {', '.join(other)}" if other else None
    return f"{place}: charge {charge.number} bought no answer of that name"


def _answers(charge: Charge) -> list[dict[str, Any]]:
    """Return the documents stored for a charge; LedgerError L10 where they cannot be read."""
    try:
        # one charge may have bought several named answers
        return [one.to_dict() for one in releases_from_dict(parsed(charge.release or "")).values()]
    except (TacitError, ValueError, RecursionError):
        pass
    raise LedgerError(f"the answer that charge {charge.number} stored is damaged.", code="L10", state=None)


def _other(own: dict[str, Any], stored: dict[str, Any]) -> Iterator[str]:
    """Yield the names of the fields that differ."""
    for name in sorted(own.keys() | stored.keys()):
        if name not in ASIDE and own.get(name) != stored.get(name):
            yield name
