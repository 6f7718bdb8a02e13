"""Find answers that cannot be combined with the others, so that one defective answer does not stop the combination.

First public facts are compared: all answers to one question have the same groups, grids and columns.  Where they
differ, those of the largest group of parties are taken for the study's and the other parties are left out; where two
groups are equally large, all are.  Then the combination is tried; if it fails, each answer is tried alone, and then
the combination without each party in turn.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final, TypeVar

from tacit.errors import TacitError
from tacit.pooling.compatibility import mismatch
from tacit.release.document import Release, Releases

T = TypeVar("T")
TRIED: Final = 100
"""With more parties than this, a failing combination is not repeated without each party in turn."""


def differing_parties(answers: Mapping[str, Releases], question: str) -> dict[str, str]:
    """Return the parties whose answer to a question cannot be combined with the largest group's, with the reason."""
    groups: list[list[str]] = []
    for party, one in answers.items():
        for group in groups:
            # public facts are equal or not, so one member stands for its group
            if mismatch(answers[group[0]][question], one[question], "there") is None:
                group.append(party)
                break
        else:
            groups.append([party])
    if len(groups) < 2:
        return {}
    groups.sort(key=len, reverse=True)
    # sorted by size: a tie at the top
    if len(groups[0]) == len(groups[1]):
        why = f"{question!r}: as many answers say one thing of it as another, and nobody can tell which is the study's"
        return {party: why for group in groups for party in group}
    first, count = answers[groups[0][0]][question], len(groups[0])
    where = f"with {count:,} other{'' if count == 1 else 's'}"
    return {
        party: f"{question!r} does not go with the others: {mismatch(first, answers[party][question], where)}"
        for group in groups[1:]
        for party in group
    }


def try_combining(
    answers: Mapping[str, Release], combine: Callable[[Mapping[str, Release]], T]
) -> tuple[T | None, dict[str, str]]:
    """Combine the answers; where that fails, return None and the parties that cause the failure, with the reason.

    A `TacitError` (too few parties, ...) concerns all parties, not one: then (None, {}) is returned, and the error is
    raised when the combined answer is asked for.
    """
    try:
        return combine(answers), {}
    except TacitError:
        return None, {}
    # whatever fails here is the fault of one file, which is looked for below
    except Exception as problem:
        failed = problem
    found = {party: why for party, one in answers.items() if (why := _alone(one)) is not None}
    if not found and len(answers) <= TRIED:
        for party in answers:
            if _works({name: one for name, one in answers.items() if name != party}, combine):
                found = {party: f"it cannot be combined with the others ({type(failed).__name__})"}
                break
    if not found:
        # no single party is to blame: hiding the failure would hide a defect of the program
        raise failed
    return None, found


def _alone(one: Release) -> str | None:
    """Return why an answer cannot be estimated alone, in words; None where it can."""
    try:
        answer: Any = one
        answer.estimate()
    except TacitError:
        return None  # a documented refusal to estimate, not a defect of the file
    except Exception as problem:
        return f"it cannot be estimated ({type(problem).__name__})"
    return None


def _works(answers: Mapping[str, Release], combine: Callable[[Mapping[str, Release]], Any]) -> bool:
    """Whether the answers can be combined."""
    try:
        combine(answers)
    # any failure means no; which one does not matter here
    except Exception:
        return False
    return True
