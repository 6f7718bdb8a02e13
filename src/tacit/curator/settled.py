"""What is charged for questions whose price buys something else than its numbers say.  INSIDE the wall; public facts.

The rule is `price_parts.charged_price`.  A question asked alone is released at what is charged, which its design says;
several are released at shares of it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from tacit.curator.request import Questions
from tacit.method.shared.measurement import Measurement
from tacit.method.shared.price_parts import charged_price


def settled(questions: Questions, designs: Sequence[Measurement], accounting: str) -> Questions:
    """Return the questions at the price that a ledger of this accounting (`Budget.kind`) is charged."""
    cost = charged_price(questions.cost, designs, accounting)
    if cost == questions.cost:
        return questions
    ((name, query, _), *others) = questions.parts
    return replace(questions, cost=cost) if others else replace(questions, parts=((name, query, cost),), cost=cost)
