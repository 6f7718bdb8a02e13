"""Tables for regressions at pure prices: given ones, and drawn ones of every model.

`given_pure` are those that are set beside other methods, and the largest of `frontier_designs` and
`frontier_model_designs`.  `drawn_pure` are the drawn designs of both (a set is a seed), 20 of each, whose price
is an epsilon that is drawn too, in place of theirs; they were committed before any of them was simulated.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from frontier_designs import Cell, drawn, pairs_of_ten, skewed_and_unequal
from frontier_model_designs import drawn_models, nine, ten, three

from tacit.privacy import Cost

PRICES = (1, 2, 4)


def given_pure() -> tuple[Cell, ...]:
    """The cells that issue and trial had named, and others beside them."""
    cells = [
        (three(""), 10_000, 1),
        (three(", two in a pair of correlation .8", pair=0.8), 10_000, 1),
        (three(", events in 4% of rows", level=-3.4), 50_000, 1),
        (ten("logistic", 1.0, 0.0), 50_000, 1),
        (ten("logistic", 1.0, 0.0), 50_000, 3),
        (nine("probit", 0.6, 0.0), 50_000, 3),
        (three("", "poisson"), 10_000, 3),
        (ten("poisson", 0.4, 0.5), 50_000, 3),
        (pairs_of_ten(), 50_000, 3),
        (skewed_and_unequal(), 60_000, 1),
    ]
    return tuple(Cell(study.title, study, rows, Cost.of(epsilon=epsilon)) for study, rows, epsilon in cells)


def drawn_pure(number: int, many: int = 20) -> tuple[Cell, ...]:
    """Return the cells of a set, which is its seed."""
    rng = np.random.default_rng([18, number])
    cells = [*drawn(number, many), *drawn_models(number, many)]
    return tuple(replace(cell, cost=Cost.of(epsilon=int(rng.choice(PRICES)))) for cell in cells)
