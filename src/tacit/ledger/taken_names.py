"""Why a question cannot have the name of another: what was asked under it, and what is asked now.  Public facts alone.

And what is said of a question that was asked before.

A charge is of all questions that were asked together, at one price.  So a question is another one, too, where its price
alone has changed, as it does when another question gets a share of the same price, or where it is asked beside others.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from tacit.errors import LedgerError
from tacit.ledger.chain import Charge, Request
from tacit.privacy import Cost


def taken_name(request: Request, name: str, charge: Charge | None) -> LedgerError:
    """Return LedgerError L09 for a name that the questions of another charge have."""
    asked: Mapping[str, Any] = json.loads(request.question)
    message = f"another question of {request.table!r} is already named {name!r}"
    said = [] if charge is None else _differs(name, json.loads(charge.question), asked, charge)
    was = "" if charge is None else f" (charge {charge.number})"
    why = " and ".join(said) if said else "another price, schema, order or wording makes another question"
    hint = f'release(…, name="{name}-2")'
    if len(asked.get("ask", ())) > 1:
        hint += " for each question that is asked anew, and these alone: what was answered before stays where it is"
    return LedgerError(f"{message}{was}: {why}.", code="L09", hint=hint)


def known_already(charge: Charge) -> str:
    """Return in words that questions have a charge."""
    what = "asked and paid for" if charge.release is None else "answered"
    return f"these questions are {what} (charge {charge.number}): the same again is free"


def _differs(name: str, before: Mapping[str, Any], now: Mapping[str, Any], charge: Charge) -> list[str]:
    """Return in words what of the question called `name` is not what it was."""
    one, other = _asked(name, before, charge.names), _asked(name, now, charge.names)
    if one is None or other is None:
        return []
    said = list[str]()
    if before.get("schema") != now.get("schema"):
        said.append("the schema is another")
    if one[1] != other[1]:
        said.append("its own words are others")
    if one[2] != other[2]:
        said.append(f"it was asked at {Cost.from_dict(one[2])}, and is now at {Cost.from_dict(other[2])}")
    if not said and len(before["ask"]) != len(now["ask"]):
        said.append("it is asked together with other questions")
    return said


def _asked(name: str, question: Mapping[str, Any], names: tuple[str, ...]) -> list[Any] | None:
    """Return name, words and price of a question among those of a charge; None where it has a name of its own making.

    A single question has no name in its charge's text.
    """
    found = [one for one in question.get("ask", ()) if one[0] == name]
    alone = question.get("ask", ())
    if not found and len(alone) == 1 and alone[0][0] is None and name in names:
        return list(alone[0])
    return list(found[0]) if found else None
