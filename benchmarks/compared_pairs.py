"""What a pair (ε, δ) buys of each density estimator, and its error beside that of ε alone."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from compared_designs import ASKED, METHODS, PRICES, SIZES

import tacit as tc
from tacit.curator.mechanisms import design
from tacit.method.shared.measurement import Public
from tacit.privacy import Cost

SCHEMA: Final = tc.Schema({"x": tc.Real(0, 1, missing=0.0)})
ALONE, PAIR = PRICES[1], PRICES[2]

WORDS: Final = """A pair (ε, δ) buys normal noise in a ledger that adds μ² or ρ: there, Laplace noise at the same
ε would have to be charged 27 times the μ² of (1, 10⁻⁶), and at an equal charge normal noise has the smaller variance.
In a ledger that adds ε and adds δ (`accounting="basic"`) a question of its own buys what the pair buys or what ε alone
buys, whichever is expected to err less, and of the latter ε is charged and no δ. Of cells, whose sensitivity is 2 in
l1 and √2 in l2, that is Laplace noise; of functions that overlap, as of a series, mostly normal noise. *Buys*: which,
at ε = 1, δ = 10⁻⁶. *Pair ÷ ε*: the error of the density by the pair's noise over that at ε = 1, from the first table,
a law each. *Largest*: the largest ratio of the error of what is bought to the smaller of the two."""


def pairs(found: Mapping[Any, Any], names: Mapping[str, str]) -> Iterator[list[str]]:
    """Yield a row for each estimator and size; found: the lines of the part "best" by case."""
    for method in METHODS:
        for n in SIZES:
            public = Public(SCHEMA, "replace-one", n, None, "basic")
            laplace = design(method.query(None), public, Cost.of(**PAIR)).cost.kind == "pure"
            errors = [[found[method.name, law, n, str(price)]["own"][0] for price in (ALONE, PAIR)] for law in ASKED]
            ratios = [pair / alone for alone, pair in errors]
            bought = max((alone if laplace else pair) / min(alone, pair) for alone, pair in errors)
            own = ["ε alone" if laplace else "the pair", *(f"{one:.2f}" for one in ratios), f"{bought:.2f}"]
            yield [names[method.name], f"{n:,}", *own]


def heads() -> list[str]:
    """Return the heads of the columns."""
    return ["estimator", "n", "buys", *(f"pair ÷ ε, {law}" for law in ASKED), "largest"]
