"""Answers that do not go with the others: found party by party, so that one of them takes nobody else down.

Public facts first: of one question all answers have the same groups, grids and columns.  Where they differ the most
common facts are the study's, and who has others is left out; where no facts are the most common, nobody can tell.  Then
the combination itself is tried, and if it fails each answer by itself, and without each.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final, TypeVar

from tacit.errors import TacitError
from tacit.pooling.compatibility import mismatch
from tacit.release.document import Release, Releases

T = TypeVar("T")
TRIED: Final = 100
"""Parties without each of whom a combination that fails is tried; of more, only each by itself."""


def odd(answers: Mapping[str, Releases], question: str) -> dict[str, str]:
    """Parties whose answer to a question does not go with most others', and why."""
    groups: list[list[str]] = []
    for party, one in answers.items():
        for group in groups:
            if mismatch(answers[group[0]][question], one[question], "there") is None:
                group.append(party)
                break
        else:
            groups.append([party])
    if len(groups) < 2:
        return {}
    groups.sort(key=len, reverse=True)
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


def failing(
    answers: Mapping[str, Release], combine: Callable[[Mapping[str, Release]], T]
) -> tuple[T | None, dict[str, str]]:
    """What the answers make together; or, where that fails, the parties to whom it is due, and why.

    Neither where an error of ours says why they make nothing (too few parties, ...): it is about all of them, and is
    raised to whoever asks.
    """
    try:
        return combine(answers), {}
    except TacitError:
        return None, {}
    except Exception as problem:
        failed = problem
    found = {party: why for party, one in answers.items() if (why := _alone(one)) is not None}
    if not found and len(answers) <= TRIED:
        for party in answers:
            if _works({name: one for name, one in answers.items() if name != party}, combine):
                found = {party: f"it cannot be combined with the others ({type(failed).__name__})"}
                break
    if not found:
        raise failed
    return None, found


def _alone(one: Release) -> str | None:
    """Why an answer cannot be estimated by itself, in words; None where it can."""
    try:
        answer: Any = one
        answer.estimate()
    except TacitError:
        return None  # a reason of its own, which is no defect of the file
    except Exception as problem:
        return f"it cannot be estimated ({type(problem).__name__})"
    return None


def _works(answers: Mapping[str, Release], combine: Callable[[Mapping[str, Release]], Any]) -> bool:
    try:
        combine(answers)
    except Exception:
        return False
    return True
