"""Coverage given an answer: the tables of docs/reference/selected-answers.md.

    python benchmarks/selected_answers.py [--repeats 2000] [--parts means variances persons differences ...]

An estimate that comes with a reason has no answer; all others have one, and their intervals must hold the truth in at
least 93% of them, however rarely a cell is answered.  The designs below were written before any was simulated, and so
were the bounds (`CLEAR`) above which at most 5% may be without an answer.

Means, variances and differences: one table has many groups of one size, and each group is a repetition.  The encodings
of groups depend on the bounds, the relation and the price alone, not on how many groups there are, and the noises of
different groups are independent, so that this is the release of one group many times over.
"""

from __future__ import annotations

import math
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from pages import Part, asked, part_by_part
from scipy import integrate, stats

import tacit as tc
from tacit.errors import InferenceError
from tacit.estimates.verbs.contrasts import combine
from tacit.method.histogram.estimate_from_cells import logrank, survival
from tacit.method.shared.simulated_parts import simulated
from tacit.privacy import Cost
from tacit.testing import simulate
from tacit.testing.simulate import add_noise, shaped

PAGE = Path(__file__).parents[1] / "docs" / "reference" / "selected-answers.md"
GROUPS = 500
"""Groups of a table, each a repetition."""
LEAST = 93.0
PRICES = ("epsilon=0.5", "epsilon=1", "epsilon=2", "epsilon=5", "epsilon=20", "rho=0.05", "rho=0.5", "rho=5")
SIZES = (4, 8, 16, 40)
CLEAR = {"Mean": 25.0, "Variance": 60.0, "persons": 100.0, "survival": 150.0}
"""Answers are due in 95% of releases where rows times epsilon (or 3 sqrt(rho)) is at least this: stated beforehand.

Of survival: where rows still at risk at that time, without censoring, times epsilon are."""

INTRO = """# Coverage given an answer

How often 95% intervals hold the truth in those releases that give an answer and no reason, where tables are drawn and
released anew.  ± is twice the Monte-Carlo error; bold is what should not be: less than 93%, or more than 5% without an
answer where rows and price are plenty.  Intervals of pooled means, of histograms' cells and of survival are
conservative where few releases have an answer: their level is lower, so that it holds given that there is one.  So are
those of means, variances and shares of few rows: the size behind an answer is taken as small as it may be, and one row
more is counted at the bounds.  Where survival is small and few releases have an answer, noise has made those at risk
more than they are, and the curve too high: lower limits are then those given an answer, tested with as few at risk as a
smaller survival leaves.
Written by `python benchmarks/selected_answers.py`, `selected_cells.py` and `rare_survival.py`.
"""
Draw = Callable[[np.random.Generator, int], np.ndarray]


@dataclass(frozen=True)
class Law:
    """A law on [0, 1]: `draw(rng, size)`, its mean and its variance; share: whether it is of 0 and 1."""

    draw: Draw
    mean: float
    variance: float
    share: bool = False


def of(law: Any) -> Law:
    """Return a law of scipy, clamped to [0, 1]."""
    first = integrate.quad(law.sf, 0, 1, limit=200)[0]
    second = integrate.quad(lambda x: 2 * x * law.sf(x), 0, 1, limit=200)[0]
    return Law(lambda rng, size: np.clip(law.rvs(size, random_state=rng), 0, 1), first, second - first**2)


def share(p: float) -> Law:
    return Law(lambda rng, size: (rng.random(size) < p).astype(float), p, p * (1 - p), True)


LAWS = {
    "Beta(2, 2)": of(stats.beta(2, 2)),
    "exponential, mean 0.1": of(stats.expon(scale=0.1)),
    "lognormal, median 0.13, sd of log 0.8": of(stats.lognorm(0.8, scale=math.exp(-2))),
    "Beta(1, 30)": of(stats.beta(1, 30)),
    "Beta(40, 2)": of(stats.beta(40, 2)),
    "share 0.5": share(0.5),
    "share 0.1": share(0.1),
}
NUMBERS = [name for name, law in LAWS.items() if not law.share]


def price(text: str) -> dict[str, Any]:
    name, value = text.split("=")
    return {name: float(value)}


def worth(text: str) -> float:
    """Return a price as an epsilon, roughly: 3 sqrt(rho)."""
    ((name, value),) = price(text).items()
    return value if name == "epsilon" else 3 * math.sqrt(value)


def column(law: Law) -> Any:
    return tc.Boolean() if law.share else tc.Real(0, 1)


def tables(
    query: Any, law: Law, n: int, said: str, repeats: int, rows: tuple[int, int] | None = None, both: bool = False
) -> Iterator[Any]:
    """Yield estimates of releases of tables of GROUPS groups of n rows; or persons with `rows` from .. to rows each.

    both: whether a person may be in several groups, as far as the schema says.
    """
    rng = np.random.default_rng(zlib.crc32(f"{query} {law.mean} {n} {said} {rows} {both}".encode()))
    levels = [f"g{i}" for i in range(GROUPS)]
    group = tc.Category(levels, constant=rows is not None and not both)
    columns: dict[str, Any] = {"x": column(law), "g": group}
    if rows is not None:
        columns["id"] = tc.PrivacyUnit(max_rows=rows[1])
    for _ in range(math.ceil(repeats / GROUPS)):
        each = np.ones(n * GROUPS, dtype=int) if rows is None else rng.integers(rows[0], rows[1] + 1, n * GROUPS)
        who = np.repeat(np.arange(n * GROUPS), each)
        x = law.draw(rng, n * GROUPS)[who]  # rows of one person are alike
        table: dict[str, Any] = {"x": x > 0.5 if law.share else x, "g": np.array(levels)[who // n]}
        if rows is not None:
            table["id"] = who
        made = simulate(query, table, tc.Schema(columns), repeats=1, rng=rng, **price(said))
        yield made.release(0).estimate()


@dataclass(frozen=True)
class Found:
    """Intervals (repeats, 2), standard errors, estimates and whether there was an answer."""

    limits: np.ndarray
    errors: np.ndarray
    values: np.ndarray
    said: np.ndarray

    def row(self, truth: float, *cells: Any, due: bool = False) -> str:
        """Return a row of a table: coverage given an answer, median width, SE / SD, and share without an answer.

        due: whether at most 5% may be without an answer.  What is not as it should be is bold.
        """
        ok, n = self.said, int(self.said.sum())
        missing = f"{100 * (1 - ok.mean()):.0f}"
        missing = f"**{missing}**" if due and ok.mean() < 0.95 else missing
        if n < 50:
            return "| " + " | ".join((*map(str, cells), "", "", "", missing)) + " |"
        held = (self.limits[ok, 0] <= truth) & (truth <= self.limits[ok, 1])
        error = math.sqrt(max(held.mean() * (1 - held.mean()), 0.25 / n) / n)
        words = f"{100 * held.mean():.1f} ± {200 * error:.1f}"
        # below: by more than twice the error of the simulation
        words = f"**{words}**" if 100 * held.mean() + 200 * error < LEAST else words
        width = np.median(np.diff(self.limits[ok]))
        sd = self.values[ok].std()
        ratio = f"{math.sqrt((self.errors[ok] ** 2).mean()) / sd:.2f}" if sd > 0 else ""
        return "| " + " | ".join((*map(str, cells), words, f"{width:.3g}", ratio, missing)) + " |"


def found(estimates: list[Any]) -> Found:
    said = np.concatenate([[reason is None for reason in one.reasons] for one in estimates])
    parts = (np.concatenate([one.intervals() for one in estimates]), [one.std_errors for one in estimates])
    return Found(parts[0], np.concatenate(parts[1]), np.concatenate([one.values for one in estimates]), said)


HEAD = "| | rows | price | coverage given an answer, % | median width | SE / SD | no answer, % |\n" + "|---" * 7 + "|"


def single(query: Any, name: str, n: int, said: str, repeats: int, **how: Any) -> str:
    law = LAWS[name]
    truth = law.variance if isinstance(query, tc.Variance) else law.mean
    due = n * worth(said) >= CLEAR["persons" if how else type(query).__name__]
    made = found(list(tables(query, law, n, said, repeats, **how)))
    return made.row(truth, name, n, said.replace("=", " = "), due=due)


def means(repeats: int) -> list[Part]:
    made = [partial(single, tc.Mean("x", by="g"), a, n, p, repeats) for a in LAWS for n in SIZES for p in PRICES]
    return ["## Means of small groups\n", HEAD, *made]


def variances(repeats: int) -> list[Part]:
    query = tc.Variance("x", by="g")
    sizes = (*SIZES, 200)
    made = [partial(single, query, a, n, p, repeats) for a in NUMBERS for n in sizes for p in PRICES]
    return ["## Variances of small groups\n", HEAD, *made]


def persons(repeats: int) -> list[Part]:
    """Persons with 1 to 4 rows each, in one group, or in groups that the schema does not tie to a person."""
    out: list[Part] = ["## Groups of few persons, 1 to 4 rows each\n"]
    for words, both in (("in one group each", False), ("in any groups", True)):
        how = {"rows": (1, 4), "both": both}
        out += [f"\n### {words.capitalize()}\n", HEAD]
        some = [(a, n, p) for a in list(LAWS)[:3] for n in SIZES[1:] for p in PRICES[1:4] + PRICES[6:]]
        out += [partial(single, tc.Mean("x", by="g"), *one, repeats, **how) for one in some]
    return out


# Differences ---------------------------------------------------------------------------------------------------------

PAIRS = (
    ("Beta(1, 30)", "Beta(1, 30)"),
    ("Beta(40, 2)", "Beta(2, 2)"),
    ("exponential, mean 0.1", "Beta(1, 30)"),
    ("share 0.1", "share 0.1"),
    ("share 0.1", "share 0.5"),
)


def difference(one: str, other: str, n: int, said: str, repeats: int) -> str:
    """Two tables with the same price; groups are compared in pairs, and tests count as intervals do."""
    a, b = LAWS[one], LAWS[other]
    law = Law(lambda rng, size: np.concatenate([a.draw(rng, size // 2), b.draw(rng, size // 2)]), 0, 0, a.share)
    truth, parts = a.mean - b.mean, []
    half = GROUPS // 2
    weights = np.concatenate([np.eye(half), -np.eye(half)], axis=1)
    for made in tables(tc.Mean("x", by="g"), law, n, said, 2 * repeats):
        parts.append(combine(made, weights, tuple(f"d{i}" for i in range(half)), "difference"))
    return found(parts).row(truth, f"{one} less {other}", n, said.replace("=", " = "))


def differences(repeats: int) -> list[Part]:
    some = [(*pair, n, p) for pair in PAIRS for n in (30, 100, 500) for p in ("epsilon=0.5", "epsilon=2", "rho=0.1")]
    made = [partial(difference, *one, repeats) for one in some]
    return ["## Differences of two groups\n", HEAD, *made]


# Survival ------------------------------------------------------------------------------------------------------------

ARMS = 40


def chances(bins: int, hazard: float, leaving: float) -> np.ndarray:
    """Probabilities of cells (time, event): constant hazards on [0, 1], everyone leaves at the end."""
    both = hazard + leaving
    gone = np.diff(1 - np.exp(-both * np.linspace(0, 1, bins + 1)))
    p = np.stack([gone * leaving / both, gone * hazard / both], axis=1)
    p[-1, 0] += np.exp(-both)
    return p


def cells(n: tuple[int, ...], p: list[np.ndarray], said: str, count: int, seed: str) -> Iterator[Any]:
    """Yield releases of histograms of (time, event, arm), n[i] rows in arm i, drawn anew from p[i]."""
    rng = np.random.default_rng(zlib.crc32(f"{seed} {n} {said}".encode()))
    names = [f"a{i}" for i in range(len(n))]
    columns = {"t": tc.Real(0, 1), "event": tc.Boolean(), "arm": tc.Category(names)}
    query = tc.Histogram(list(columns), bins={"t": len(p[0])})
    shape = shaped(query, tc.Schema(columns), "replace-one", sum(n), Cost.of(**price(said)))
    for _ in range(count):
        drawn = np.stack([rng.multinomial(k, one.reshape(-1)) for k, one in zip(n, p, strict=True)], axis=-1)
        yield simulated(shape, tuple(k[0] for k in add_noise(shape, (drawn.reshape(1, -1, 1),), rng)))


def curve(n: int, hazard: float, said: str, repeats: int) -> str:
    p = [chances(10, hazard, 0.7)] * ARMS
    times = (0.2, 0.5, 0.8)
    made = [
        survival.survival(release, "t", "event", "arm")
        for release in cells((n,) * ARMS, p, said, math.ceil(repeats / ARMS), f"survival {hazard}")
    ]
    out: list[str] = []
    for at in times:
        some = [one[[f"a{i}:{at:g}" for i in range(ARMS)]] for one in made]
        words, S = f"S({at:g}), hazard {hazard:g}", math.exp(-hazard * at)
        due = n * S * worth(said) >= CLEAR["survival"]
        out.append(found(some).row(S, words, n, said.replace("=", " = "), due=due))
    return "\n".join(out)


def survivals(repeats: int) -> list[Part]:
    some = [(n, h, p) for h in (0.3, 1.5, 4.0) for n in (30, 100, 300) for p in PRICES[:5] + PRICES[6:]]
    made = [partial(curve, *one, repeats) for one in some]
    return [f"## Survival, {ARMS} arms, 10 bins of time\n", HEAD, *made]


# Log-rank ------------------------------------------------------------------------------------------------------------

TEST = (
    "| arms | rows | hazard | price | rejected at 5% | at 1% | of twice the hazard, at 5% | refused, % |\n"
    + "|---" * 8
    + "|"
)


def p_values(n: tuple[int, ...], hazards: list[float], said: str, repeats: int) -> np.ndarray:
    """Return p-values, NaN where the test refuses."""
    p, values = [chances(10, hazard, 0.7) for hazard in hazards], list[float]()
    for release in cells(n, p, said, repeats, f"logrank {hazards}"):
        try:
            values.append(logrank.logrank(release, "t", "event", "arm").p_value)
        except InferenceError:
            values.append(math.nan)
    return np.array(values)


def level(shares: tuple[float, ...], n: int, hazard: float, said: str, repeats: int) -> str:
    sizes = tuple(round(n * one) for one in shares)
    found = p_values(sizes, [hazard] * len(sizes), said, repeats)
    other = p_values(sizes, [hazard] * (len(sizes) - 1) + [2 * hazard], said, max(repeats // 4, 50))
    p = found[np.isfinite(found)]
    some = [f"{100 * (p <= 0.05).mean():.1f}", f"{100 * (p <= 0.01).mean():.1f}", f"{100 * (other <= 0.05).mean():.0f}"]
    arms = " : ".join(f"{10 * one:g}" for one in shares)
    words = [arms, f"{n:,}", f"{hazard:g}", said.replace("=", " = "), *(some if len(p) >= 50 else ["", "", ""])]
    return "| " + " | ".join((*words, f"{100 * np.isnan(found).mean():.0f}")) + " |"


def logranks(repeats: int) -> list[Part]:
    arms = ((0.5, 0.5), (0.8, 0.2), (0.4, 0.3, 0.3))
    some = [(s, n, h, p) for s in arms for n in (300, 2_000) for h in (0.3, 1.5) for p in PRICES[:5]]
    return ["## Size of the log-rank test, 10 bins of time\n", TEST, *(partial(level, *one, repeats) for one in some)]


PARTS: dict[str, Callable[[int], list[Part]]] = {
    "means": means,
    "variances": variances,
    "persons": persons,
    "differences": differences,
    "survival": survivals,
    "logrank": logranks,
}


if __name__ == "__main__":
    part_by_part(asked(__doc__, PARTS, 2_000), PAGE, "selected_answers.py", PARTS, INTRO)
