"""Designs of one to three quantiles of few rows at low prices, drawn and committed before any was simulated.

`tried` are those on which a rule of choice between two methods may be found; `fresh` are drawn by another seed, and
are looked at when the rule is fixed.  None was left out or changed afterwards.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np

import tacit as tc

Draw = Callable[[np.random.Generator, int], np.ndarray]
MANY: Final = 24
"""Designs of each part."""


def _modes(rng: np.random.Generator, n: int) -> np.ndarray:
    return np.where(rng.random(n) < 0.55, rng.normal(20, 3, n), rng.normal(75, 5, n))


def _zeros(rng: np.random.Generator, n: int) -> np.ndarray:
    return np.where(rng.random(n) < 0.35, 0.0, rng.lognormal(2.5, 0.8, n))


LAWS: Final[dict[str, tuple[Any, Draw]]] = {
    "normal, range 8 sd": (tc.Real(-4, 4), lambda rng, n: rng.normal(0, 1, n)),
    "normal, range 100 sd": (tc.Real(-50, 50), lambda rng, n: rng.normal(0, 1, n)),
    "exponential, bound 8 means": (tc.Real(0, 80), lambda rng, n: rng.exponential(10, n)),
    "lognormal 1, bound 50": (tc.Real(0, 50), lambda rng, n: rng.lognormal(0, 1, n)),
    "Beta(0.5, 0.8)": (tc.Real(0, 1), lambda rng, n: rng.beta(0.5, 0.8, n)),
    "t, 3 df, bounds 30": (tc.Real(-30, 30), lambda rng, n: rng.standard_t(3, n)),
    "two modes": (tc.Real(0, 100), _modes),
    "35% zeros, else lognormal": (tc.Real(0, 200), _zeros),
    "whole years, 18 to 90": (tc.Integer(0, 120), lambda rng, n: np.clip(np.round(rng.gamma(9, 5, n)), 18, 90)),
    "tens": (tc.Integer(0, 300), lambda rng, n: np.clip(np.round(rng.gamma(3, 30, n) / 10) * 10, 0, 300)),
}
PRICES: Final = (
    {"epsilon": "0.1"},
    {"epsilon": "0.3"},
    {"epsilon": "1"},
    {"epsilon": "2"},
    {"rho": "0.005"},
    {"rho": "0.02"},
    {"rho": "0.1"},
    {"epsilon": "1", "delta": "1e-6"},
)
PROBS: Final = ((0.5,), (0.5,), (0.1,), (0.9,), (0.75,), (0.95,), (0.25, 0.5, 0.75), (0.1, 0.5))


@dataclass(frozen=True)
class Design:
    """A column, a number of rows, probabilities and a price; one row is replaced, and cells may be missing.

    shares: of groups, to which rows belong by chance; none for a whole column.  where: the part of a table of as many
    rows for which a condition holds.  hint: one row is added or removed, and the curator says that there are as many
    rows, in parts of those that there are.
    """

    law: str
    rows: int
    probs: tuple[float, ...]
    price: dict[str, str]
    shares: tuple[float, ...] = ()
    where: float | None = None
    hint: float | None = None

    @property
    def words(self) -> str:
        told = ", ".join(f"{name} = {value}" for name, value in self.price.items())
        groups = f" in groups of {', '.join(f'{100 * one:.0f}' for one in self.shares)}%" if self.shares else ""
        groups += "" if self.where is None else f", a condition holds for {100 * self.where:.0f}%"
        groups += "" if self.hint is None else f", {self.hint * self.rows:,.0f} are said"
        return f"{self.law} | {self.rows:,}{groups} | {', '.join(f'{p:g}' for p in self.probs)} | {told}"


def _drawn(seed: int, many: int = MANY) -> list[Design]:
    rng = np.random.default_rng(seed)
    made = list[Design]()
    for _ in range(many):
        law = list(LAWS)[int(rng.integers(len(LAWS)))]
        rows = int(float(f"{10 ** rng.uniform(2, 4):.2g}"))
        probs, price = PROBS[int(rng.integers(len(PROBS)))], PRICES[int(rng.integers(len(PRICES)))]
        made.append(Design(law, rows, probs, price))
    return made


def tried() -> list[Design]:
    """Return the designs on which a rule may be found."""
    return _drawn(20261127)


def fresh() -> list[Design]:
    """Return the designs that are looked at when it is fixed."""
    return _drawn(20261128)


def grouped() -> list[Design]:
    """Return designs of two to six groups, each with as many rows as a column of `_drawn` on the average."""
    rng = np.random.default_rng(20261129)
    made = list[Design]()
    for one in _drawn(20261130, MANY // 2):
        cells = int(rng.integers(2, 7))
        parts = rng.dirichlet(np.full(cells, 2.0))
        shares = tuple(float(f"{x:.2g}") for x in parts[:-1])
        made.append(replace(one, rows=cells * one.rows, shares=(*shares, round(1 - sum(shares), 4))))
    return made


def unknown() -> list[Design]:
    """Return designs of a number of rows that is not public: those of a condition, and rows added or removed."""
    rng = np.random.default_rng(20261201)
    made = list[Design]()
    for i, one in enumerate(_drawn(20261202, 2 * MANY // 3)):
        rows = int(float(f"{one.rows / 3:.2g}"))
        part, hint = float(f"{rng.uniform(0.1, 0.9):.1g}"), float(f"{2 ** rng.uniform(-1, 1):.2g}")
        made.append(replace(one, where=part) if i % 2 else replace(one, rows=rows, hint=hint))
    return made
