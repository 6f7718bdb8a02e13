"""What a plan says of a pair (ε, δ) whose ε alone buys a more precise answer (`method.shared.pair_or_epsilon`)."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Final

from tacit.curator.mechanisms import mechanism_of
from tacit.errors import TacitError
from tacit.method.shared.measurement import Measurement, Public
from tacit.method.shared.pair_or_epsilon import epsilon_alone
from tacit.noise.selection_law import Selection
from tacit.privacy import Cost
from tacit.privacy.exact_numbers import plain

CLEARLY: Final = 0.9
"""Ratio of root mean squared errors, or of widths, below which a plan names what ε alone would buy."""


def of_epsilon_alone(
    shape: Measurement,
    cost: Cost,
    public: Public,
    widths: Sequence[float],
    others: Callable[[Measurement], Sequence[float]],
) -> str | None:
    """Return in words that ε alone is charged, or that it would buy a smaller error; None where neither is.

    cost: the price that was asked for.  widths: of the intervals that are expected at that price.  others: returns
    those of another design of the question.
    """
    if cost.kind != "approximate" or cost.epsilon is None or cost.delta is None:
        return None
    if shape.cost.kind == "pure":
        return f"{_bought(shape)} at ε alone errs less than what the pair buys: ε is charged, and no δ"
    mechanism, basic = mechanism_of(shape.query), public.accounting == "basic"
    # there the smaller error was chosen, where a method can tell it
    if basic == (mechanism.error is not None):
        return None
    adding = replace(public, accounting="basic")
    alone = epsilon_alone(adding, cost)
    assert alone is not None
    try:
        other = mechanism.design(shape.query, adding, alone)
    except TacitError:  # what cannot be asked is no advice: ε alone buys no bootstrap, say
        return None
    if mechanism.error is None:
        ratio = _ratio(others(other), widths)
        said = f"at {alone} alone, without δ, intervals would be {ratio:.2f} times as wide"
        return f"{said}; this ledger would be charged ε, and no δ" if ratio < CLEARLY else None
    ratio = math.sqrt(mechanism.error(other, public.size) / mechanism.error(shape, public.size))
    if ratio >= CLEARLY:
        return None
    pair = f"Budget(epsilon={plain(cost.epsilon)}, delta={plain(cost.delta)}, "
    return (
        f"{_bought(other)} at ε alone would err {ratio:.2f} times as much; a ledger that adds μ² or ρ would have to be "
        f'charged far more for it than the pair, one of {pair}accounting="basic") is charged ε'
    )


def _ratio(found: Sequence[float], widths: Sequence[float]) -> float:
    """Return the geometric mean of ratios of widths; infinity where they are not of the same terms, or not known."""
    if len(found) != len(widths) or not all(0 < one < math.inf for one in found):
        return math.inf
    return math.exp(sum(math.log(one / before) for one, before in zip(found, widths, strict=True)) / len(found))


def _bought(shape: Measurement) -> str:
    law = shape.columns[0].law
    return "a selection" if isinstance(law, Selection) else f"{law.name} noise"
