"""Coverage given an answer, beyond means and variances: more parts of docs/reference/selected-answers.md.

    python benchmarks/selected_cells.py [--repeats 1000] [--parts histograms correlations combinations pooled ...]

Each number below comes with a reason instead of an answer where released noisy numbers are too near 0; the others are
answers, and their intervals must hold the truth in at least 93% of them.  Groups are small, and so are prices: that is
where an answer says most about the noise.  The designs were written before any was simulated.

Histograms have one bin a value, so that nothing is lost in bins, but for quantiles within bins.  Groups of one table
are its repetitions, as in `selected_answers.py`, whose page, laws and prices are used.
"""

from __future__ import annotations

import math
import zlib
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any, TypeAlias

import numpy as np
from pages import Part, asked, part_by_part
from scipy import stats
from selected_answers import INTRO, LAWS, LEAST, PAGE, Law, column, price, tables

import tacit as tc
from tacit.estimates.verbs.contrasts import combine
from tacit.method.histogram import estimate_densities
from tacit.method.histogram.estimate_from_cells import cell_moments, cell_quantiles, correlation, distribution, survival
from tacit.method.quality.estimate import share
from tacit.method.shared.simulated_parts import simulated
from tacit.pooling.common_value import pooled
from tacit.pooling.released_evidence import evidence
from tacit.privacy import Cost
from tacit.testing import simulate
from tacit.testing.simulate import add_noise, shaped

GROUPS = 100
"""Groups of a histogram, each a repetition."""
FEW = 50
"""Answers below which a coverage is not given."""
HEAD = "| | rows | price | coverage given an answer, % | of the worst term | no answer, % |\n" + "|---" * 6 + "|"


def row(hits: np.ndarray, said: np.ndarray, *cells: Any) -> str:
    """Return a row of a table; hits, said: whether an interval holds the truth, and is an answer, (repeats, terms)."""
    words, counts = [str(one) for one in cells], said.sum(axis=0)
    if counts.sum() < FEW:
        return "| " + " | ".join((*words, "", "", f"{100 * (1 - said.mean()):.0f}")) + " |"
    share = hits[said].mean()
    # terms of one repetition depend on each other: the error is that of as many repetitions as have an answer
    some = said.any(axis=1).sum()
    spread = 200 * math.sqrt(max(share * (1 - share), 0.25 / some) / some)
    enough = counts >= FEW
    worst = (hits & said).sum(axis=0)[enough] / counts[enough]
    least = 100 * float(worst.min()) if enough.any() else math.nan
    # twice the error of a share of LEAST % in so many answers
    allowed = 200 * math.sqrt(0.93 * 0.07 / counts[enough].min()) if enough.any() else 0.0
    shown = f"{100 * share:.1f} ± {spread:.1f}", f"{least:.1f}"
    low = 100 * share + spread < LEAST, least + allowed < LEAST
    bold = [f"**{word}**" if bad else word for word, bad in zip(shown, low, strict=True)]
    return "| " + " | ".join((*words, *bold, f"{100 * (1 - said.mean()):.0f}")) + " |"


Found: TypeAlias = dict[str, list[tuple[np.ndarray, np.ndarray]]]
"""Parts of the arguments of `row`, by what is estimated."""


def rows(found: Found, name: str, n: int, said: str) -> str:
    """Return a row for each kind of number."""
    out: list[str] = []
    for what, parts in found.items():
        hits, answered = (np.concatenate(part) for part in zip(*parts, strict=True))
        out.append(row(hits, answered, f"{what}, {name}", n, said.replace("=", " = ")))
    return "\n".join(out)


def held(limits: np.ndarray, truth: Any, reasons: Sequence[str | None]) -> tuple[np.ndarray, np.ndarray]:
    """Return whether limits, shape (repeats, terms, 2), hold the truth and are answers, shape (repeats, terms)."""
    answered = np.array([reason is None for reason in reasons]).reshape(len(limits), -1)
    return (limits[..., 0] <= truth) & (truth <= limits[..., 1]), np.broadcast_to(answered, limits.shape[:2])


def seeded(*what: Any) -> np.random.Generator:
    return np.random.default_rng(zlib.crc32(" ".join(map(str, what)).encode()))


# Histograms within groups --------------------------------------------------------------------------------------------

VALUES = 6
SHARES = {
    "even": np.full(VALUES, 1 / VALUES),
    "falling": 0.5 ** np.arange(VALUES) / sum(0.5 ** np.arange(VALUES)),
    "nearly one value": np.array([0.02, 0.9, 0.02, 0.02, 0.02, 0.02]),
    "both ends": np.array([0.46, 0.02, 0.02, 0.02, 0.02, 0.46]),
}
ROWS = (8, 16, 30)
HISTOGRAM_PRICES = ("epsilon=1", "epsilon=2", "rho=0.5")


def histograms(columns: dict[str, Any], p: np.ndarray, n: int, said: str, count: int, seed: str) -> Iterator[Any]:
    """Yield releases of histograms of (g, *columns), n rows in each of GROUPS groups, drawn anew."""
    rng = seeded(seed, n, said)
    every = {"g": tc.Category([f"g{i}" for i in range(GROUPS)])} | columns
    bins = {name: len(p) for name, one in columns.items() if isinstance(one, tc.Real)}
    query = tc.Histogram(list(every), bins=bins)
    shape = shaped(query, tc.Schema(every), "replace-one", n * GROUPS, Cost.of(**price(said)))
    for _ in range(math.ceil(count / GROUPS)):
        drawn = rng.multinomial(n, p.reshape(-1), GROUPS)
        yield simulated(shape, tuple(k[0] for k in add_noise(shape, (drawn.reshape(1, -1, 1),), rng)))


def of_values(name: str, n: int, said: str, repeats: int) -> str:
    """Densities, moments, distribution functions and quantiles of a column of whole numbers, by group."""
    p, x = SHARES[name], np.arange(VALUES, dtype=float)
    mean = float(p @ x)
    variance = float(p @ (x - mean) ** 2)
    moments = np.array([mean, variance, math.sqrt(variance)])
    truths = {"density": p, "moments": moments, "cdf": np.cumsum(p)[:-1]}
    found: Found = {one: [] for one in truths}
    for release in histograms({"x": tc.Integer(0, VALUES - 1)}, p, n, said, repeats, name):
        made: dict[str, Any] = {
            "density": estimate_densities.density(release, "x", "g"),
            "moments": cell_moments.moments(release, "x", "g"),
            "cdf": distribution.cdf(release, "x", "g"),
        }
        for what, one in made.items():
            found[what].append(held(one.intervals().reshape(GROUPS, -1, 2), truths[what], one.reasons))
    return rows(found, name, n, said)


SMOOTH = {"Beta(2, 2)": stats.beta(2, 2), "Beta(1, 5)": stats.beta(1, 5), "uniform": stats.uniform()}


def of_bins(name: str, n: int, said: str, repeats: int) -> str:
    """Quantiles of a column with 8 bins, by group."""
    law, probs = SMOOTH[name], (0.25, 0.5, 0.8)
    p, truth = np.diff(law.cdf(np.linspace(0, 1, 9))), law.ppf(probs)
    found: Found = {"quantiles": []}
    for release in histograms({"x": tc.Real(0, 1)}, p, n, said, repeats, f"bins {name}"):
        made = cell_quantiles.quantiles(release, "x", probs, "g")
        found["quantiles"].append(held(made.intervals().reshape(GROUPS, -1, 2), truth, made.reasons))
    return rows(found, name, n, said)


def within_groups(repeats: int) -> list[Part]:
    some = [(name, n, p) for name in SHARES for n in ROWS for p in HISTOGRAM_PRICES]
    values: list[Part] = [partial(of_values, *one, repeats) for one in some]
    bins = [partial(of_bins, name, n, p, repeats) for name in SMOOTH for n in (*ROWS, 100) for p in HISTOGRAM_PRICES]
    return [f"## Histograms within groups, {VALUES} values or 8 bins\n", HEAD, *values, *bins]


def correlated(rho: float, n: int, said: str, repeats: int) -> str:
    """The correlation of two columns of 5 values each, where the number of rows is private."""
    x = np.arange(5.0)
    grid = stats.multivariate_normal([2, 2], [[1.2, 1.2 * rho], [1.2 * rho, 1.2]])
    p = grid.pdf(np.stack(np.meshgrid(x, x, indexing="ij"), axis=-1))
    p /= p.sum()
    mean = p.sum(axis=1) @ x
    truth = (np.outer(x - mean, x - mean) * p).sum() / (p.sum(axis=1) @ (x - mean) ** 2)
    rng, columns = seeded("correlation", rho, n, said), {"x": tc.Integer(0, 4), "y": tc.Integer(0, 4)}
    shape = shaped(tc.Histogram(["x", "y"]), tc.Schema(columns), "add-remove", n, Cost.of(**price(said)))
    found: Found = {"correlation": []}
    for _ in range(repeats):
        drawn = rng.multinomial(n, p.reshape(-1)).reshape(1, -1, 1)
        release: Any = simulated(shape, tuple(k[0] for k in add_noise(shape, (drawn,), rng)))
        made = correlation.correlation(release, ["x", "y"])
        found["correlation"].append(held(made.intervals()[None], truth, made.reasons))
    return rows(found, f"{rho:g}", n, said)


def correlations(repeats: int) -> list[Part]:
    some = [(r, n, p) for r in (0.0, 0.5, 0.9) for n in (15, 30, 60, 120) for p in ("epsilon=1", "epsilon=3", "rho=1")]
    head = HEAD.replace("of the worst term", "the same")
    return ["## Correlations, number of rows private\n", head, *(partial(correlated, *one, repeats) for one in some)]


# Combinations of terms -----------------------------------------------------------------------------------------------

ARMS = 4
SOME = ("Beta(2, 2)", "exponential, mean 0.1", "Beta(1, 30)", "Beta(40, 2)", "share 0.5", "share 0.1")
PRICES = ("epsilon=0.5", "epsilon=1", "epsilon=2", "rho=0.5")


def combined(name: str, n: int, said: str, repeats: int) -> str:
    """Differences of two small groups of one law, and averages of ARMS groups with known weights."""
    law = LAWS[name]
    truths = {"difference": 0.0, f"average of {ARMS}": law.mean}
    found: Found = {one: [] for one in truths}
    weights = {"difference": np.array([1.0, -1.0]), f"average of {ARMS}": np.arange(1, ARMS + 1) / 10}
    for made in tables(tc.Mean("x", by="g"), law, n, said, repeats):
        for what, one in weights.items():
            k = len(made.terms) // len(one)
            new = combine(made, np.kron(np.eye(k), one), tuple(f"c{i}" for i in range(k)), what)
            found[what].append(held(new.intervals()[:, None], truths[what], new.reasons))
    return rows(found, name, n, said)


def ratios(name: str, n: int, said: str, repeats: int) -> str:
    """Ratios of two small groups of one law, by Fieller's argument, and of their odds."""
    law = LAWS[name]
    kinds = ("ratio", "odds ratio") if law.share else ("ratio",)
    found: Found = {kind: [] for kind in kinds}
    for made in tables(tc.Mean("x", by="g"), law, n, said, repeats):
        for i in range(0, min(len(made.terms), repeats) - 1, 2):
            one, other = made.terms[i : i + 2]
            for kind in kinds:
                # those without an answer are not worked out
                limits, reason = (0.0, 0.0), made.reasons[i] or made.reasons[i + 1]
                if reason is None:
                    new = made.ratio(one, other) if kind == "ratio" else made.odds_ratio(one, other)
                    limits, reason = new.conf_int(), new.reason
                found[kind].append(held(np.array([[limits]]), 1.0, [reason]))
    return rows(found, name, n, said)


def combinations(repeats: int) -> list[Part]:
    some = [(a, n, p) for a in SOME[1:] for n in (4, 8, 16) for p in PRICES[1:]]
    made: list[Part] = [partial(combined, *one, repeats) for one in some]
    pairs = [(a, n, p) for a in ("Beta(2, 2)", "exponential, mean 0.1", "share 0.5") for n in (8, 30) for p in PRICES]
    made += [partial(ratios, *one, min(repeats, 500)) for one in pairs]
    return ["## Differences, averages and ratios of small groups\n", HEAD, *made]


# Pooled over parties -------------------------------------------------------------------------------------------------


def over_parties(name: str, query: Any, n: int, parties: int, said: str, repeats: int) -> str:
    """Means (or variances) of groups of n rows in each of so many parties, pooled over these."""
    law = LAWS[name]
    truth = law.variance if isinstance(query, tc.Variance) else law.mean
    sources = [tables_of(query, law, n, said, repeats, seed) for seed in range(parties)]
    found: Found = {type(query).__name__.lower(): []}
    for releases in zip(*sources, strict=True):
        made = pooled(evidence(releases, 0))
        reasons = ["" if bad else None for bad in made.unclear]
        found[type(query).__name__.lower()].append(
            held(np.stack(made.interval(0.95), axis=-1)[:, None], truth, reasons)
        )
    return rows(found, f"{parties} parties, {name}", n, said)


def tables_of(query: Any, law: Law, n: int, said: str, repeats: int, seed: int, **more: Any) -> Iterator[Any]:
    """Yield releases of tables of GROUPS groups of n rows, with weights where the query has them."""
    rng, levels = seeded(query, law.mean, n, said, seed), [f"g{i}" for i in range(GROUPS)]
    schema = tc.Schema({"x": column(law), "g": tc.Category(levels)} | more)
    for _ in range(math.ceil(repeats / GROUPS)):
        x = law.draw(rng, n * GROUPS)
        table: dict[str, Any] = {"x": x > 0.5 if law.share else x, "g": np.repeat(levels, n)}
        for name in more:
            table[name] = rng.gamma(2, 0.5, n * GROUPS)  # independent of x
        yield simulate(query, table, schema, repeats=1, rng=rng, **price(said)).release(0)


def parties(repeats: int) -> list[Part]:
    query = tc.Mean("x", by="g")
    some = [(a, n, m, p) for a in SOME for n in (4, 8, 16) for m in (2, 5) for p in PRICES[:3]]
    made: list[Part] = [partial(over_parties, a, query, n, m, p, repeats) for a, n, m, p in some]
    more = [(a, n, m, p) for a in SOME[:3] for n in (16, 40) for m in (2, 5) for p in PRICES[1:3]]
    made += [partial(over_parties, a, tc.Variance("x", by="g"), n, m, p, repeats) for a, n, m, p in more]
    return ["## Means and variances of small groups, pooled over parties\n", HEAD, *made]


# Weights, shares of cells, times of survival --------------------------------------------------------------------------


def weighted(name: str, n: int, said: str, repeats: int) -> str:
    found: Found = {"weighted mean": []}
    for release in tables_of(tc.Mean("x", by="g", weights="w"), LAWS[name], n, said, repeats, 0, w=tc.Real(0, 3)):
        made = release.estimate()
        found["weighted mean"].append(held(made.intervals()[:, None], LAWS[name].mean, made.reasons))
    return rows(found, name, n, said)


def quality(p: float, n: int, said: str, repeats: int) -> str:
    """The share of missing cells where the number of rows is private."""
    rng = seeded("quality", p, n, said)
    shape = shaped(tc.DataQuality(), tc.Schema({"x": tc.Real(0, 1)}), "add-remove", n, Cost.of(**price(said)))
    # missing, below, above, as declared: each repetition is a cell of one part
    drawn = rng.multinomial(n, [p, 0, 0, 1 - p], (repeats, 1))
    (noisy,) = add_noise(shape, (drawn,), rng)
    release: Any = simulated(shape, (noisy[0],))
    made = share(release.parts[0], 0, None, True, "rows", noisy[:, 0].astype(float))
    limits = np.stack(made.inversion.interval(0.95), axis=-1)[:, None]
    return rows({"share missing": [held(limits, p, made.reasons)]}, f"{p:g}", n, said)


def medians(hazard: float, n: int, said: str, repeats: int) -> str:
    """Median survival where the curve may not fall so far: 10 bins of time, no censoring but at the end."""
    gone = np.diff(1 - np.exp(-hazard * np.linspace(0, 1, 11)))
    p = np.stack([np.append(np.zeros(9), math.exp(-hazard)), gone], axis=1)
    truth, found = math.log(2) / hazard, {"median survival": []}
    for release in histograms({"t": tc.Real(0, 1), "event": tc.Boolean()}, p, n, said, repeats, f"times {hazard}"):
        made = survival.survival(release, "t", "event", "g").median()
        found["median survival"].append(held(made.intervals()[:, None], truth, made.reasons))
    return rows(found, f"{truth:.2g}", n, said)


def others(repeats: int) -> list[Part]:
    made: list[Part] = [partial(weighted, a, n, p, repeats) for a in SOME for n in (4, 8, 16, 40) for p in PRICES]
    made += [partial(quality, a, n, p, repeats) for a in (0.05, 0.5) for n in (4, 8, 16) for p in PRICES[:3]]
    made += [partial(medians, h, n, p, repeats) for h in (0.8, 2.0) for n in (30, 100) for p in HISTOGRAM_PRICES]
    return ["## Weighted means, shares of missing cells, median survival\n", HEAD, *made]


PARTS: dict[str, Callable[[int], list[Part]]] = {
    "histograms": within_groups,
    "correlations": correlations,
    "combinations": combinations,
    "parties": parties,
    "others": others,
}


if __name__ == "__main__":
    part_by_part(asked(__doc__, PARTS, 1_000), PAGE, "selected_cells.py", PARTS, INTRO)
