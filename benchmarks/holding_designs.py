"""Designs of answers that may not hold, drawn and committed before any of them was simulated.

Of each part so many are drawn by a seed that is the number of the part; none was left out or changed afterwards.  The
last three parts were drawn after the first four had been simulated, and before anything was changed for their sake.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Final

import numpy as np
from scipy import stats

FINE: Final = 400_000
"""Quantiles of a law by which a recorded column is known."""
HEAVY: Final = 12
FALSE: Final = 12
MODES: Final = 8
FAR: Final = 10
FRESH: Final = 8
"""Designs of each of the parts that were drawn last: heaped, unequal, spikes."""
CELLS: Final = tuple((rows, epsilon) for rows in (1_000, 10_000) for epsilon in (0.5, 1.0))
"""Numbers of rows and prices of these, each twice."""


@dataclass(frozen=True)
class Column:
    """A column and how it is declared.

    law: of values before they are recorded; rows beyond the bounds are moved there.  unit: values are rounded to its
    multiples, 0 for none.  declared: multiples that are declared, 0 for none.  heap, share: so many rows at multiples
    of a heap, which is declared.  rounded: which part of the rows is rounded to `declared` though others are not.
    """

    name: str
    law: Any
    lower: float
    upper: float
    rows: int
    epsilon: float
    unit: float = 0.0
    declared: float = 0.0
    heap: float = 0.0
    share: float = 0.0
    rounded: float = 0.0

    @property
    def as_declared(self) -> Column:
        """The column with all values rounded to the multiples that are declared: what a release with them is of."""
        return replace(self, unit=self.declared, rounded=0.0) if self.declared else self

    def draw(self, rng: np.random.Generator, n: int) -> np.ndarray:
        """Return rows."""
        x = np.asarray(self.law.rvs(size=n, random_state=rng), dtype=np.float64)
        return self.recorded(x, rng.random(n) < self.share, rng.random(n) < self.rounded)

    def recorded(self, x: np.ndarray, heaped: Any, rounded: Any) -> np.ndarray:
        """Return values as they are recorded."""
        x = np.where(heaped, np.rint(x / self.heap) * self.heap, x) if self.heap else x
        x = np.rint(x / self.unit) * self.unit if self.unit else x
        x = np.where(rounded, np.rint(x / self.declared) * self.declared, x) if self.rounded else x
        return np.clip(x, self.lower, self.upper)

    @cached_property
    def truth(self) -> Truth:
        """What is true of recorded values."""
        x = self.law.ppf((np.arange(FINE) + 0.5) / FINE)
        every = np.ones(FINE, dtype=bool)
        parts = [(self.recorded(x, ~every, ~every), (1 - self.share) * (1 - self.rounded))]
        parts += [(self.recorded(x, every, ~every), self.share)] if self.share else []
        parts += [(self.recorded(x, ~every, every), self.rounded)] if self.rounded else []
        values = np.concatenate([one for one, _ in parts])
        weights = np.repeat([w / FINE for _, w in parts], FINE)
        order = np.argsort(values, kind="stable")
        values, weights = values[order], weights[order]
        mean = float(weights @ values)
        return Truth(mean, float(weights @ (values - mean) ** 2), values, np.cumsum(weights))


@dataclass(frozen=True)
class Truth:
    """Mean, variance and distribution function of recorded values."""

    mean: float
    variance: float
    values: np.ndarray
    cumulative: np.ndarray

    def cdf(self, x: Any) -> np.ndarray:
        """Return the share at or below values."""
        at = np.searchsorted(self.values, np.asarray(x) + 1e-9 * (1 + np.abs(x)), side="right")
        return np.concatenate([[0.0], self.cumulative])[at]

    def quantile(self, p: Any) -> np.ndarray:
        """Return quantiles."""
        at = np.searchsorted(self.cumulative, np.asarray(p) - 1e-12)
        return self.values[np.minimum(at, len(self.values) - 1)]


def _round(x: float) -> float:
    """Return a number of two digits at most."""
    return float(f"{x:.2g}")


def heavy_law(rng: np.random.Generator) -> tuple[str, Any]:
    """Draw a law with a heavy right tail of median about 1."""
    kind = rng.choice(["lognormal", "Lomax", "Weibull", "log-logistic"])
    if kind == "lognormal":
        s = _round(rng.uniform(0.6, 1.4))
        return f"lognormal {s:g}", stats.lognorm(s)
    if kind == "Lomax":
        a = _round(rng.uniform(1.5, 4))
        return f"Lomax {a:g}", stats.lomax(a, scale=1 / (2 ** (1 / a) - 1))
    if kind == "Weibull":
        c = _round(rng.uniform(0.5, 0.9))
        return f"Weibull {c:g}", stats.weibull_min(c, scale=np.log(2) ** (-1 / c))
    c = _round(rng.uniform(1.5, 4))
    return f"log-logistic {c:g}", stats.fisk(c)


def heavy() -> list[Column]:
    """Draw columns with heavy tails of declared multiples, of which some have declared heaps."""
    rng, found = np.random.default_rng(1), list[Column]()
    for i in range(HEAVY):
        words, law = heavy_law(rng)
        rows = int(_round(10 ** rng.uniform(3, 4.7)))
        many = int(10 ** rng.uniform(2, 3.3))
        unit = _round(10 ** rng.uniform(-1, 3))
        # the bound is a high quantile of the rows, or beyond
        end = float(law.ppf(1 - 1 / rows ** rng.uniform(0.5, 1.1)))
        scale = many * unit / end
        upper = round(unit * many, 9)
        heaped = i % 3 == 2
        heap = round(unit * int(rng.choice([2, 5, 10, 20])), 9) if heaped else 0.0
        share = _round(rng.uniform(0.2, 0.6)) if heaped else 0.0
        epsilon = float(rng.choice([0.5, 1.0, 2.0]))
        law = type(law.dist)().freeze(*law.args, **{**law.kwds, "scale": law.kwds.get("scale", 1.0) * scale})
        told = f", {100 * share:.0f}% at {heap / unit:.0f}" if heaped else ""
        name = f"{i + 1}: {words}, {many:,} multiples{told}"
        found.append(Column(name, law, 0, upper, rows, epsilon, unit, unit, heap, share))
    return found


def false_multiples() -> list[Column]:
    """Draw columns that are declared to be multiples and are not, all or some."""
    rng, found = np.random.default_rng(2), list[Column]()
    for i in range(FALSE):
        kind = rng.choice(["normal", "gamma", "Beta", "exponential"])
        if kind == "normal":
            law = stats.norm(50, _round(rng.uniform(8, 20)))
        elif kind == "gamma":
            law = stats.gamma(_round(rng.uniform(1.5, 5)), scale=8)
        elif kind == "Beta":
            law = stats.beta(_round(rng.uniform(1, 4)), _round(rng.uniform(1, 4)), scale=100)
        else:
            law = stats.expon(scale=_round(rng.uniform(8, 25)))
        unit = float(rng.choice([0.5, 1, 2, 5, 10]))
        rounded = float(rng.choice([0, 0, 0.3, 0.7]))
        rows = int(_round(10 ** rng.uniform(3, 4.7)))
        name = f"{i + 1}: {kind}, declared {unit:g}" + (f", {100 * rounded:.0f}% true" if rounded else "")
        epsilon = float(rng.choice([0.5, 1.0, 2.0]))
        found.append(Column(name, law, 0, 100, rows, epsilon, declared=unit, rounded=rounded))
    return found


@dataclass(frozen=True)
class Mixture:
    """Two normal laws, or a normal and a gamma one, each with a part of the rows."""

    first: Any
    second: Any
    part: float

    def rvs(self, size: int, random_state: np.random.Generator) -> np.ndarray:
        """Return rows."""
        own = random_state.random(size) < self.part
        both = [one.rvs(size=size, random_state=random_state) for one in (self.first, self.second)]
        return np.where(own, *both)

    def cdf(self, x: Any) -> Any:
        """Return the distribution function."""
        return self.part * self.first.cdf(x) + (1 - self.part) * self.second.cdf(x)

    def pdf(self, x: Any) -> Any:
        """Return the density."""
        return self.part * self.first.pdf(x) + (1 - self.part) * self.second.pdf(x)

    def ppf(self, p: np.ndarray) -> np.ndarray:
        """Return quantiles, of a fine grid."""
        x = np.linspace(-0.5, 1.5, 400_001)
        return np.interp(p, self.cdf(x), x)


def two_modes() -> list[Column]:
    """Draw columns of two modes on [0, 1]."""
    rng, found = np.random.default_rng(3), list[Column]()
    for i in range(MODES):
        a, b = _round(rng.uniform(0.1, 0.4)), _round(rng.uniform(0.6, 0.9))
        s, t = (_round(rng.uniform(0.01, 0.08)) for _ in range(2))
        part = _round(rng.uniform(0.2, 0.8))
        # sizes by the rule are at most 200 points, for time
        rows, epsilon = [(1_000, 1.0), (2_000, 1.0), (4_000, 1.0), (10_000, 0.3)][i % 4]
        name = f"{i + 1}: {a:g} ± {s:g} and {b:g} ± {t:g}, {100 * part:.0f}%"
        found.append(Column(name, Mixture(stats.norm(a, s), stats.norm(b, t), part), 0, 1, rows, epsilon))
    return found


def far_inside() -> list[Column]:
    """Draw columns of real numbers with a heavy tail, nearly all of whose rows are far inside wide bounds."""
    rng, found = np.random.default_rng(4), list[Column]()
    for i in range(FAR):
        words, law = heavy_law(rng)
        below = float(rng.choice([0, 0, 1, 3]))
        rows = int(_round(10 ** rng.uniform(3, 5)))
        upper = _round(float(law.ppf(0.999)) * rng.uniform(1, 5))
        epsilon = float(rng.choice([0.5, 1.0, 2.0]))
        name = f"{i + 1}: {words} on {0.0 - below:g} to {upper:g}"
        found.append(Column(name, law, 0.0 - below, upper, rows, epsilon))
    return found


def heaped() -> list[Column]:
    """Draw columns with heavy tails, all of them with declared heaps; half are of multiples, half of real numbers."""
    rng, found = np.random.default_rng(5), list[Column]()
    for i in range(FRESH):
        words, law = heavy_law(rng)
        rows, epsilon = CELLS[i % 4]
        end = float(law.ppf(1 - 1 / rows ** rng.uniform(0.6, 1.1)))
        many = int(10 ** rng.uniform(2, 3))
        # values are up to 1,000: heaps are 5, 10, 20 or 50 apart
        unit, scale = _round(1_000 / many), 1_000 / end
        heap = round(unit * int(rng.choice([2, 5, 10, 20])), 9) if i < FRESH / 2 else float(rng.choice([5, 10, 20, 50]))
        unit, upper = (unit, round(unit * many, 9)) if i < FRESH / 2 else (0.0, 1_000)
        share = _round(rng.uniform(0.1, 0.7))
        law = type(law.dist)().freeze(*law.args, **{**law.kwds, "scale": law.kwds.get("scale", 1.0) * scale})
        of = f"{many:,} multiples" if unit else "real"
        name = f"{i + 1}: {words}, {of}, {100 * share:.0f}% at {heap:.3g}"
        found.append(Column(name, law, 0, upper, rows, epsilon, unit, unit, heap, share))
    return found


def unequal_modes() -> list[Column]:
    """Draw columns of two modes on [0, 1], one of them two to eight times as wide as the other."""
    rng, found = np.random.default_rng(6), list[Column]()
    for i in range(FRESH):
        a, b = _round(rng.uniform(0.15, 0.4)), _round(rng.uniform(0.6, 0.85))
        s = _round(rng.uniform(0.015, 0.04))
        t = _round(s * rng.uniform(2, 8))
        first = bool(rng.random() < 0.5)
        s, t = (s, t) if first else (t, s)
        part = _round(rng.uniform(0.2, 0.8))
        rows, epsilon = CELLS[i % 4]
        name = f"{i + 1}: {a:g} ± {s:g} and {b:g} ± {t:g}, {100 * part:.0f}%"
        # no rows are moved to the bounds
        each = [stats.truncnorm(-m / sd, (1 - m) / sd, loc=m, scale=sd) for m, sd in ((a, s), (b, t))]
        found.append(Column(name, Mixture(*each, part), 0, 1, rows, epsilon))
    return found


def spikes() -> list[Column]:
    """Draw columns on [0, 1] with a part of the rows within a spike, the others in a wide law."""
    rng, found = np.random.default_rng(7), list[Column]()
    for i in range(FRESH):
        at, s, part = _round(rng.uniform(0.1, 0.9)), _round(rng.uniform(0.006, 0.025)), _round(rng.uniform(0.1, 0.5))
        a, b = (_round(rng.uniform(1.2, 5)) for _ in range(2))
        rows, epsilon = CELLS[i % 4]
        name = f"{i + 1}: {100 * part:.0f}% {at:g} ± {s:g}, Beta({a:g}, {b:g})"
        found.append(Column(name, Mixture(stats.norm(at, s), stats.beta(a, b), part), 0, 1, rows, epsilon))
    return found


PARTS: Final = {
    "heavy": heavy,
    "false": false_multiples,
    "modes": two_modes,
    "far": far_inside,
    "heaped": heaped,
    "unequal": unequal_modes,
    "spikes": spikes,
}


if __name__ == "__main__":
    for part, made in PARTS.items():
        for one in made():
            print(part, one.name, f"{one.rows:,} rows, epsilon {one.epsilon:g}", one.lower, one.upper, one.unit)
