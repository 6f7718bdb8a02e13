"""Tables for logistic models at small prices, drawn at random: where a curvature is mostly guessed.

`drawn_guesses` come from seeds (a set is a seed) and were committed before any of them was simulated: how rare events
are, the number of regressors, their laws and correlations, how much wider the bounds are than the values, rows, price
and relation.  Set 0 is for looking at, set 1 for judging.  `wide_and_rare` was written down before, too, beside the
cell of set 4 of `drawn_models` that it varies: two regressors, bounds ten times too wide, events in 5% of rows.
"""

from __future__ import annotations

import math

import numpy as np
from frontier_designs import LAWS, Cell
from frontier_model_designs import model_study
from scipy import special

from tacit.privacy import Cost

ROWS, SHARES, RHOS = (3_000, 10_000, 30_000, 60_000), (0.02, 0.05, 0.2, 0.5), (0.05, 0.1, 0.2, 0.5)


def drawn_guesses(number: int, many: int = 24) -> tuple[Cell, ...]:
    """Return the cells of a set, which is its seed."""
    rng = np.random.default_rng([21, number])
    out: list[Cell] = []
    for _ in range(many):
        d = int(rng.choice([2, 3, 5, 8, 12]))
        laws = [str(law) for law in rng.choice(LAWS, d, p=[0.3, 0.1, 0.2, 0.1, 0.2, 0.05, 0.05])]
        slopes = np.round(rng.normal(0, 1 / math.sqrt(d), d), 2)
        slopes = slopes * np.array([{"lognormal": 0.3, "whole": 0.5}.get(law, 1.0) for law in laws])
        width = float(rng.choice([1, 1.5, 3, 10], p=[0.3, 0.3, 0.2, 0.2]))
        share, kind = float(rng.choice(SHARES)), int(rng.integers(0, 3))
        rows = int(rng.choice(ROWS, p=[0.3, 0.4, 0.2, 0.1]))
        cost = Cost.of(rho=float(rng.choice(RHOS)))
        relation = str(rng.choice(["replace-one", "add-remove"]))
        pair, chain = (0.0, 0.8, 0.0)[kind], (0.0, 0.0, 0.7)[kind]
        words = (
            f"{d} regressors, bounds × {width:g}, {['independent', 'pairs', 'chain'][kind]}, events {100 * share:.0f}%"
        )
        level = float(special.logit(share))
        study = model_study(words, "logistic", laws, slopes, np.full(d, width), level=level, pair=pair, chain=chain)
        out.append(Cell(words, study, rows, cost, relation))
    return tuple(out)


def wide_and_rare() -> tuple[Cell, ...]:
    """Two regressors in bounds ten times too wide, events in 5% of rows and fewer: at the edge of an answer."""
    out: list[Cell] = []
    for laws in (["normal", "normal"], ["gamma", "indicator"]):
        for share, rows, rho in ((0.05, 3_000, 0.2), (0.05, 10_000, 0.05), (0.02, 10_000, 0.1), (0.05, 30_000, 0.02)):
            words = f"{' and '.join(laws)}, bounds × 10, a pair, events {100 * share:.0f}%"
            study = model_study(
                words,
                "logistic",
                laws,
                np.array([0.7, -0.5]),
                np.full(2, 10.0),
                level=float(special.logit(share)),
                pair=0.8,
            )
            out.append(Cell(words, study, rows, Cost.of(rho=rho)))
    return tuple(out)
