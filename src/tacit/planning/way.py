"""One way to answer a question: another question of Tacit's, and how its answer is read.  Public facts only."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from tacit.errors import TacitError
from tacit.method.shared.measurement import Measurement
from tacit.method.shared.plan_expected import Expected
from tacit.planning import way_answers
from tacit.planning.claims import Claim
from tacit.planning.way_answers import Assumed
from tacit.privacy import Cost
from tacit.release.query import Query

Reader = Callable[[Measurement, Assumed], Sequence[Expected]]


@dataclass(frozen=True)
class Way:
    """One way to answer a question.

    name: in words.  query: what is asked instead; None where nothing could be, for the `reason`.  read: the expected
    precision of its answer, a term for each of the question's.  cost: its price, where it is not the one compared.
    """

    name: str
    claim: Claim
    query: Query[Any] | None
    read: Reader = way_answers.own
    cost: Cost | None = None
    reason: str | None = None


def made(name: str, claim: Claim, make: Callable[[], Query[Any]], read: Reader) -> Way:
    """Return a way by a question, with the reason where it cannot be asked."""
    try:
        return Way(name, claim, make(), read)
    except TacitError as problem:
        return Way(name, claim, None, reason=problem.message)
