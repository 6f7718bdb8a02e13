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
        said = _narrower(others(other), widths)
        ending = "this ledger would be charged ε, and no δ"
        return f"at {alone} alone, without δ, {said}; {ending}" if said else None
    ratio = math.sqrt(mechanism.error(other, public.size) / mechanism.error(shape, public.size))
    if ratio >= CLEARLY:
        return None
    pair = f"Budget(epsilon={plain(cost.epsilon)}, delta={plain(cost.delta)}, "
    return (
        f"{_bought(other)} at ε alone would err {ratio:.2f} times as much; a ledger that adds μ² or ρ would have to be "
        f'charged far more for it than the pair, one of {pair}accounting="basic") is charged ε'
    )


def _narrower(found: Sequence[float], widths: Sequence[float]) -> str | None:
    """Say by how much the widths `found` are smaller than `widths`; None where they are not, or not of the same terms.

    The ratio is the geometric mean of theirs; infinite intervals, which it cannot tell, are counted instead.

    >>> _narrower([2.0, 2.0], [4.0, 4.0]), _narrower([2.0, 2.0], [4.0, math.inf])
    ('intervals would be 0.50 times as wide', 'all of 2 intervals would be finite, at the pair 1')
    """
    if len(found) != len(widths) or not widths:
        return None
    known, before = (sum(map(math.isfinite, given)) for given in (found, widths))
    if known > before:
        several = "all" if known == len(found) else str(known)
        return f"{several} of {len(found)} intervals would be finite, at the pair {before or 'none'}"
    if before < len(widths) or not all(one > 0 for one in (*found, *widths)):
        return None
    ratio = math.exp(sum(math.log(one / was) for one, was in zip(found, widths, strict=True)) / known)
    return f"intervals would be {ratio:.2f} times as wide" if ratio < CLEARLY else None


def _bought(shape: Measurement) -> str:
    law = shape.columns[0].law
    return "a selection" if isinstance(law, Selection) else f"{law.name} noise"
