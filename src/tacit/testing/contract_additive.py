"""The contract of a user's own statistic: whether it may be run, and the record that it passed.

What the statistic declares is compared with what the library computes when the question is designed; the checks on
neighbouring tables then see what rows really change.
"""

from __future__ import annotations

from typing import Any

from tacit.errors import QueryError
from tacit.method.additive import statistic
from tacit.method.additive.query import Additive
from tacit.method.additive.statistic import AdditiveStatistic
from tacit.release.query import Query
from tacit.schema import Schema
from tacit.testing.findings import PRICES, RELATIONS, ROWS, designed


def checked(query: Query[Any], schema: Schema) -> None:
    """Raise AssertionError where a declared sensitivity is too small under a relation; QueryError Q284 for a statistic
    that this program has not defined, or that makes another question.  Questions of the library itself pass.
    """
    if not isinstance(query, Additive):
        return
    trusting(query)
    for relation in RELATIONS:
        try:
            designed(query, schema, relation, ROWS, PRICES[0])
        except QueryError as problem:
            if problem.code != "Q282":
                raise
            words = f"(a) {relation}: {problem.message}"
        else:
            continue
        raise AssertionError(words)


def trusting(query: Query[Any]) -> tuple[AdditiveStatistic, ...]:
    """Return the statistic of a question, to be trusted with made tables; QueryError Q284 where there is none."""
    if not isinstance(query, Additive):
        return ()
    found = statistic.defined(query)
    if found is None:
        text = f"the statistic {query.statistic!r} has not been defined in this program, or makes another question."
        raise QueryError(text, code="Q284", hint=f'tc.extend.additive("{query.statistic}", …)')
    return (found,)


passed = statistic.passed
withdrawn = statistic.withdraw
