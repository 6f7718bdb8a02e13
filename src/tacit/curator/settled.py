"""What is charged for a question whose price buys an approximate part (mu, delta).  INSIDE the wall; public facts only.

A price (epsilon, delta) usually buys what is mu-GDP, and a ledger of mu^2 charges the mu^2 of the pair.  A bootstrap is
no such thing: the pair buys the part that its design names, of which that ledger adds mu^2 and delta
(`privacy.gaussian`, Approximate parts).  The part implies the pair, so a ledger that adds epsilon and delta charges the pair itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from tacit.curator.mechanisms import repriced
from tacit.curator.request import Questions
from tacit.method.shared.measurement import Measurement
from tacit.privacy import Budget


def settled(
    questions: Questions, designs: Sequence[Measurement], budget: Budget
) -> tuple[Questions, Sequence[Measurement]]:
    """Return questions and designs at the prices that are charged; the same ones where no part is approximate."""
    ((name, query, price), *others), (first, *_) = questions.parts, designs
    part = first.cost.mu_squared is not None and first.cost.delta is not None
    if others or not part or first.cost == price:
        # of several questions none can be bought with an approximate part: their designs refuse a share of a pair
        return questions, designs
    if budget.kind == "basic":
        return questions, [repriced(first, price)]
    return replace(questions, parts=((name, query, first.cost),), cost=first.cost), designs
