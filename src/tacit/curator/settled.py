"""What is charged for a question whose price buys something else than its numbers say.  INSIDE the wall; public facts.

A price (epsilon, delta) usually buys what is mu-GDP, and a ledger of mu^2 charges the mu^2 of the pair.  A bootstrap is
no such thing: the pair buys the part that its design names, of which that ledger adds mu^2 and delta
(`privacy.gaussian`, Approximate parts).  Ledgers that add epsilon and delta are charged the pair, and the design's cost
is the pair then; those that add rho refuse.

Where a pair buys what its epsilon alone buys (`method.shared.pair_or_epsilon`), the ledger is charged that epsilon.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from tacit.curator.request import Questions
from tacit.method.shared.measurement import Measurement


def settled(questions: Questions, designs: Sequence[Measurement]) -> Questions:
    """Return the questions at the price that is charged: the design's, where that is a part or epsilon alone."""
    ((name, query, price), *others), cost = questions.parts, designs[0].cost
    part = cost.mu_squared is not None and cost.delta is not None
    alone = price.kind == "approximate" and cost.kind == "pure"
    # of several questions none can be bought in this way: a share of a pair is a share of its mu^2
    if others or not (part or alone) or cost == price:
        return questions
    return replace(questions, parts=((name, query, cost),), cost=cost)
