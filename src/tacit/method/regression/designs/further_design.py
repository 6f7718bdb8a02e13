"""Design gamma and Huber regressions: the parts are those of counts, of a response that is a column of numbers."""

from __future__ import annotations

from typing import Final

from tacit.errors import QueryError
from tacit.method.regression.designs import norm_scores_design
from tacit.method.regression.query import Regression
from tacit.method.regression.row_sums.product_parts import row_facts
from tacit.method.shared.measurement import Measurement, Public
from tacit.privacy import Cost
from tacit.release.parts import Variable

NUMBERS: Final = ("real", "integer")
UPPER: Final = 1e-9, 1e12
"""Smallest and largest upper bound of the response of a gamma model, whose logarithms stay within all grids."""


def design(query: Regression, public: Public, cost: Cost) -> Measurement:
    """Return the measurement of a gamma or Huber regression; QueryError Q10, Q12, Q86, Q89, Q124."""
    facts = row_facts(query, public.schema)
    problem = unsuitable(query.model, facts.variables[0])
    if problem is not None:
        text, hint = problem
        raise QueryError(text, code="Q124", hint=hint)
    return norm_scores_design.design(query, facts, public, cost)


def unsuitable(model: str, fact: Variable) -> tuple[str, str] | None:
    """Return why a column is no response of the model, and what is; None where it is one.

    A response of a gamma model may be 0: its score is that of a response far below its mean, and a lower bound of 0
    makes negative values 0.
    """
    if fact.kind not in NUMBERS:
        return (
            f"response {fact.name!r} of a {model} regression is no column of numbers.",
            f'"{fact.name}": Real(0, 100)',
        )
    if model == "gamma" and not (fact.lower >= 0 and UPPER[0] <= fact.upper <= UPPER[1]):
        bounds = f"{fact.lower:g} to {fact.upper:g}"
        text = f"response {fact.name!r} of a gamma regression has the bounds {bounds}: it is positive, up to 1e12."
        return text, f'"{fact.name}": Real(0, 100), or model="linear"'
    return None
