"""Whether an (epsilon, delta) price buys what epsilon alone buys, by which errs less.  No data here.

Definition
    A price (epsilon, delta) of a question of its own, in a ledger that adds epsilon and adds delta, buys the
    measurement of the pair (normal noise; selections of its range) or that of epsilon alone (Laplace noise; selections
    of range epsilon): the one with the smaller expected error, from public facts.
Cost
    What epsilon alone buys is epsilon-DP, which is less than the pair promises: the release is priced at epsilon, and
    the ledger is charged epsilon and no delta.
Elsewhere
    A ledger that adds mu^2 or rho would have to be charged what any epsilon-DP mechanism costs there: about
    (pi / 2) epsilon^2 in mu^2 (`privacy.gaussian`, Pure epsilon), 27 times the mu^2 of (1, 1e-6).  At the same charge
    in mu^2 normal noise has the smaller variance: Laplace noise of the epsilon with L(mu / 2) = epsilon has variance
    2 l1^2 / L(mu / 2)^2, and L(x) < 2 sqrt(2) x for x <= 4.5 and l1 >= l2, so that it is above l2^2 / mu^2 at
    every mu <= 9.  So there a pair always buys the measurement of the pair; and so does a share of a pair, which is a
    share of mu^2.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from tacit.errors import QueryError
from tacit.method.shared.measurement import Measurement, Public
from tacit.privacy import Cost

Designing = Callable[[Any, Public, Cost], Measurement]
Error = Callable[[Measurement, int | None], float]
"""Of a measurement and about how many rows (persons) there are, None where nothing is known of it."""


def epsilon_alone(public: Public, cost: Cost) -> Cost | None:
    """Return the price of epsilon alone where an (epsilon, delta) price may buy what it buys, else None."""
    if public.accounting != "basic" or cost.kind != "approximate":
        return None
    return Cost(epsilon=cost.epsilon)


def of_smaller_error(design: Designing, error: Error | None, query: Any, public: Public, cost: Cost) -> Measurement:
    """Return the measurement of a price; of a pair that may buy either, the one with the smaller expected error.

    Raises what `design` raises at the price itself.
    """
    made, alone = design(query, public, cost), epsilon_alone(public, cost)
    if error is None or alone is None:
        return made
    try:
        other = design(query, public, alone)
    except QueryError:
        # a threshold, say, that too many empty cells would pass with the other noise
        return made
    return other if error(other, public.size) < error(made, public.size) else made


def mean_variance(shape: Measurement, rows: int | None) -> float:
    """Return the geometric mean of the variances of noise, over parts, in the units of the integers.

    For measurements whose parts have the same integers at both prices, whatever the number of rows.
    """
    del rows
    logs = [math.log(one.law.variance()) for one in shape.columns]
    return math.exp(sum(logs) / len(logs))


def of_selection(shape: Measurement, rows: int | None) -> float:
    """Return the square of the scale of the first part's selection: the errors of utilities are in proportion to it."""
    del rows
    return float(shape.columns[0].law.scale) ** 2
