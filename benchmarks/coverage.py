"""Coverage tables of docs/reference/coverage.md: `python benchmarks/coverage.py --data pums_california_10000.parquet`.

Populations: ages of the 10,000 California adults of the PUMS sample, drawn with replacement; coins of known bias.
A quarter of an hour on one core; `--quick` for a look; `--parts` runs some parts of the page, each written when it is
done; `--keep` runs only what is new on the page.  Deterministic: seeds are constants.  A cell from WRONG to LOW is
drawn AGAIN times from another seed; that is what the page says.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from pages import put

import tacit as tc
from tacit.estimates.noisy_terms import noisy_counts as counts
from tacit.method.shared.simulated_parts import simulated
from tacit.noise.laws import Law
from tacit.privacy import Cost
from tacit.testing.coverage import Coverage, coverage, study
from tacit.testing.simulate import add_noise, exact_integers, shaped
from tacit.testing.simulated_quantiles import simulate_quantiles

DATA = Path(__file__).parents[2] / "shared" / "data" / "pums_california_10000.parquet"
PAGE = Path(__file__).parents[1] / "docs" / "reference" / "coverage.md"
GRID = (0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5)
LOW, WRONG, AGAIN = 0.94, 0.9, 10_000
PRICES = ({"rho": 0.5}, {"epsilon": 1}, {"epsilon": 0.5})
SEX = tc.Category({0: "male", 1: "female"})
KEPT = tc.Schema({"age": tc.Real(0, 100, missing=50), "sex": SEX})  # missing values have a place: the plain form
LEFT = tc.Schema({"age": tc.Real(0, 100), "sex": SEX})  # missing values are left out


class People:
    """The population, and tables drawn from it."""

    def __init__(self, path: Path) -> None:
        import pyarrow.parquet as pq

        table = pq.read_table(path, columns=["age", "sex"])
        self.age = np.asarray(table["age"], dtype=np.float64)
        self.sex = np.asarray(table["sex"])

    def draw(self, n: int, missing: float = 0.0, poisson: bool = False) -> Any:
        def generator(rng: np.random.Generator) -> dict[str, Any]:
            rows = rng.integers(0, len(self.age), rng.poisson(n) if poisson else n)
            age = self.age[rows]
            if missing:
                age = np.where(rng.random(len(rows)) < missing, np.nan, age)
            return {"age": age, "sex": self.sex[rows]}

        return generator

    def by_sex(self, statistic: Any) -> list[float]:
        return [float(statistic(self.age[self.sex == s])) for s in (0, 1)]


def price(words: dict[str, float]) -> str:
    return str(Cost.of(**words))


@dataclass(frozen=True)
class Cell:
    """A study: a row of the page for each term of its question."""

    name: str
    what: str
    query: Any
    draw: Any
    truth: float | Sequence[float]
    schema: tc.Schema
    words: Mapping[str, float]
    seed: int
    neighbors: str = "replace-one"
    repeats: int = 0
    """At least so many."""

    @property
    def start(self) -> str:
        """Return the text with which the rows of a cell start."""
        return f"| {self.name} | {self.what}"

    def run(self, repeats: int) -> list[str]:
        found = self._study(max(repeats, self.repeats if repeats >= 2_000 else 0), self.seed)
        if repeats >= 2_000 and WRONG <= found.coverage.min() < LOW:
            found = self._study(AGAIN, 100 + self.seed)
        return list(lines(self.name, self.what, found))

    def _study(self, repeats: int, seed: int) -> Coverage:
        return coverage(
            self.query,
            self.draw,
            self.truth,
            schema=self.schema,
            repeats=repeats,
            neighbors=self.neighbors,
            rng=seed,
            **self.words,
        )


def lines(name: str, what: str, found: Coverage) -> Iterator[str]:
    for i, term in enumerate(found.terms):
        label = f"{what}, {term}" if len(found.terms) > 1 else what
        yield (
            f"| {name} | {label} | {100 * found.coverage[i]:.1f} ± {200 * found.coverage_error[i]:.1f} "
            f"| {found.relative_width[i]:.3f} | {found.ratio[i]:.2f} "
            f"| {found.bias[i] / found.std_deviation[i]:+.2f} | {100 * found.unclear[i]:.0f} |"
        )


HEAD = (
    "| price, relation | what | coverage, % | width, no noise = 1 | SE / SD | bias / SD | no answer, % |\n"
    "|---|---|---:|---:|---:|---:|---:|"
)


def means(people: People) -> Iterator[str | Cell]:
    yield "## Means of 500 ages, bounds 0 to 100\n"
    yield HEAD
    mean, groups = float(people.age.mean()), people.by_sex(np.mean)
    for words in PRICES:
        for relation in ("replace-one", "add-remove"):
            name = f"{price(words)}, {relation}"
            cases = (
                ("all rows", tc.Mean("age"), KEPT, people.draw(500), mean, 5_000),
                ("missing may be left out", tc.Mean("age"), LEFT, people.draw(500), mean, 5_000),
                ("10% missing", tc.Mean("age"), LEFT, people.draw(500, 0.1), mean, 0),
                ("by sex", tc.Mean("age", by="sex"), LEFT, people.draw(500), groups, 0),
            )
            for what, query, schema, draw, truth, times in cases:
                yield Cell(name, what, query, draw, truth, schema, words, 1, relation, times)


def low_budget(people: People) -> Iterator[str | Cell]:
    yield "\n## Low-budget cells: n ε from 20 to 100\n"
    yield HEAD
    mean, groups = float(people.age.mean()), people.by_sex(np.mean)
    for n, epsilon in ((20, 1), (40, 0.5), (40, 1), (100, 0.2), (100, 0.5), (100, 1), (1_000, 0.02), (1_000, 0.1)):
        for relation in ("replace-one", "add-remove"):
            name = f"n = {n:,}, ε = {epsilon}, {relation}"
            cases = (
                ("all rows", tc.Mean("age"), KEPT, people.draw(n), mean),
                ("10% missing", tc.Mean("age"), LEFT, people.draw(n, 0.1), mean),
                ("by sex", tc.Mean("age", by="sex"), LEFT, people.draw(n), groups),
            )
            for what, query, schema, draw, truth in cases:
                yield Cell(name, what, query, draw, truth, schema, {"epsilon": epsilon}, 2, relation)


def others(people: People) -> Iterator[str | Cell]:
    yield "\n## Variances, sums and counts, 500 rows\n"
    yield HEAD
    n, mean, variance = 500, float(people.age.mean()), float(people.age.var())
    shares = [float((people.sex == s).mean()) for s in (0, 1)]
    totals = [n * share * value for share, value in zip(shares, people.by_sex(np.mean), strict=True)]
    fixed = (
        ("variance", tc.Variance("age"), KEPT, people.draw(n), variance),
        ("variance, 10% missing", tc.Variance("age"), LEFT, people.draw(n, 0.1), variance),
        ("variance by sex", tc.Variance("age", by="sex"), LEFT, people.draw(n), people.by_sex(np.var)),
        ("sum", tc.Sum("age"), KEPT, people.draw(n), n * mean),
        ("sum, 10% missing", tc.Sum("age"), LEFT, people.draw(n, 0.1), 0.9 * n * mean),
        ("sum by sex", tc.Sum("age", by="sex"), LEFT, people.draw(n), totals),
        ("count by sex", tc.Count(by="sex"), LEFT, people.draw(n), [n * share for share in shares]),
    )
    free = (
        ("variance", tc.Variance("age"), LEFT, people.draw(n), variance),
        ("sum", tc.Sum("age"), LEFT, people.draw(n, poisson=True), n * mean),
        ("count by sex", tc.Count(by="sex"), LEFT, people.draw(n, poisson=True), [n * share for share in shares]),
    )
    for words in (*PRICES, {"epsilon": 0.1}):
        for relation, cases in (("replace-one", fixed), ("add-remove", free)):
            for what, query, schema, draw, truth in cases:
                yield Cell(f"{price(words)}, {relation}", what, query, draw, truth, schema, words, 3, relation)


# Persons, weights, subgroups ----------------------------------------------------------------------------------------

INCOME = tc.Schema({"income": tc.Real(0, 300_000), "log": tc.Real(0, 13, computed="log(income)")})
VISITS = tc.Schema({"who": tc.PrivacyUnit(max_rows=10), "x": tc.Real(0, 100), "place": tc.Category(["a", "b"])})
SURVEY = tc.Schema({"w": tc.Real(0, 5), "x": tc.Real(0, 100), "ok": tc.Boolean(), "g": tc.Category(["a", "b"])})


def incomes(n: int, missing: float = 0.2) -> Any:
    def generator(rng: np.random.Generator) -> dict[str, Any]:
        income = np.minimum(rng.lognormal(10.5, 0.8, n), 300_000)
        return {"income": np.where(rng.random(n) < missing, np.nan, income)}

    return generator


def clipped_lognormal() -> tuple[float, float]:
    """Means of min(e**X, 300,000) and of its log, X normal of mean 10.5 and deviation 0.8."""
    from scipy.stats import norm

    mu, sigma, top = 10.5, 0.8, float(np.log(300_000))
    a = (top - mu) / sigma
    above = float(norm.sf(a))
    mean = float(np.exp(mu + sigma**2 / 2) * norm.cdf(a - sigma)) + 300_000 * above
    return mean, float(mu * norm.cdf(a) - sigma * norm.pdf(a)) + top * above


def visits(persons: int, most: int = 5, one_place: bool = True) -> Any:
    """Persons with 5 rows each (or 1 to 9), half of the variance between them; in one place, or in both."""

    def generator(rng: np.random.Generator) -> dict[str, Any]:
        rows = np.full(persons, 5) if most == 5 else rng.integers(1, most + 1, persons)
        who = np.repeat(np.arange(persons), rows)
        x = rng.normal(50, 10, persons)[who] + rng.normal(0, 10, len(who))
        place = who % 2 if one_place else rng.integers(0, 2, len(who))
        return {"who": who, "x": x, "place": np.array(["a", "b"])[place]}

    return generator


def survey(mean: int, drawn: bool = False, poisson: bool = False) -> Any:
    """Rows with weights; groups of equal size, or `drawn` too."""

    def generator(rng: np.random.Generator) -> dict[str, Any]:
        n = int(rng.poisson(mean)) if poisson else mean
        x = rng.normal(50, 15, n)
        w = np.exp(0.6 * rng.normal(size=n) + 0.01 * (x - 50))  # cap 5: about four times the mean
        ok = rng.random(n) < 0.2
        g = rng.integers(0, 2, n) if drawn else np.arange(n) % 2
        return {"w": w, "x": x, "ok": ok, "g": np.where(g == 0, "a", "b")}

    return generator


def people_and_weights() -> Iterator[str | Cell]:
    yield "\n## Missing values left out: lognormal income in 0 to 300,000, 20% missing\n"
    yield HEAD
    mean, logs = clipped_lognormal()
    for n, epsilon in ((2_000, 1), (10_000, 0.5)):
        name, words = f"ε = {epsilon}, replace-one", {"epsilon": epsilon}
        yield Cell(name, f"n = {n:,}", tc.Mean("income"), incomes(n), mean, INCOME, words, 4)
    yield "\n## Computed columns: the mean of log(income), in 0 to 13\n"
    yield HEAD
    for n, epsilon in ((500, 1), (2_000, 1), (10_000, 0.5)):
        for missing, said in ((0.0, ""), (0.2, ", 20% missing")):
            name, words = f"ε = {epsilon}, replace-one", {"epsilon": epsilon}
            yield Cell(name, f"n = {n:,}{said}", tc.Mean("log"), incomes(n, missing), logs, INCOME, words, 7)
    yield "\n## Persons with several rows, half of the variance between persons\n"
    yield HEAD
    for words in ({"epsilon": 1}, {"rho": 0.1}):
        cases = (
            ("1,000 persons, 5 rows each", tc.Mean("x"), visits(1_000), 50.0),
            ("the same, per row", tc.Mean("x", per="row"), visits(1_000), 50.0),
            ("1 to 9 rows, per row", tc.Mean("x", per="row"), visits(1_000, 9), 50.0),
            ("groups of persons", tc.Mean("x", by="place"), visits(1_000), (50.0, 50.0)),
            ("persons in both groups", tc.Mean("x", by="place"), visits(1_000, 9, one_place=False), (50.0, 50.0)),
        )
        for what, query, draw, truth in cases:
            yield Cell(f"{price(words)}, replace-one", what, query, draw, truth, VISITS, words, 5)
    naive, what = tc.Schema({"x": tc.Real(0, 100)}), "as if each row were a person (wrong)"
    yield Cell("ε = 1, replace-one", what, tc.Mean("x"), visits(1_000), 50.0, naive, {"epsilon": 1}, 5)
    yield "\n## Weights, groups and conditions\n"
    yield HEAD
    drawn = survey(2_000_000)(np.random.default_rng(0))
    w, x = np.clip(drawn["w"], 0, 5), np.clip(drawn["x"], 0, 100)
    weighted = float((w * x).sum() / w.sum())
    older = float(x[drawn["x"] > 60].mean())
    for n in (400, 2_000, 10_000):
        cases = (
            ("weighted mean", tc.Mean("x", weights="w"), weighted),
            ("weighted means of groups", tc.Mean("x", by="g", weights="w"), (weighted, weighted)),
            ("means of groups", tc.Mean("x", by="g"), (float(x.mean()), float(x.mean()))),
            ("mean where x > 60", tc.Mean("x", where="x > 60"), older),
            ("share where x > 60", tc.Mean("ok", where="x > 60"), 0.2),
        )
        for what, query, truth in cases:
            yield Cell("ρ = 0.1, replace-one", f"{what}, n = {n:,}", query, survey(n), truth, SURVEY, {"rho": 0.1}, 6)


PANEL = tc.Schema({"who": tc.PrivacyUnit(max_rows=10), **SURVEY})


def panel(n: int, poisson: bool = False) -> Any:
    """Persons seen 1 to 7 times, with a weight of their own that goes with their mean, in one of two groups."""

    def generator(rng: np.random.Generator) -> dict[str, Any]:
        persons = int(rng.poisson(n)) if poisson else n
        mean = rng.normal(50, 15, persons)
        weight = np.exp(0.6 * rng.normal(size=persons) + 0.01 * (mean - 50))
        who = np.repeat(np.arange(persons), rng.integers(1, 8, persons))
        x = mean[who] + rng.normal(0, 10, len(who))
        g = rng.integers(0, 2, persons)[who]
        return {"who": who, "w": weight[who], "x": x, "ok": x > 60, "g": np.array(["a", "b"])[g]}

    return generator


def weighed(table: dict[str, Any]) -> tuple[float, float]:
    """Return the sum of the persons' weights, and the sum of weight times mean."""
    rows = np.bincount(table["who"])
    weight = np.bincount(table["who"], np.clip(table["w"], 0, 5)) / rows
    return float(weight.sum()), float((weight * np.bincount(table["who"], np.clip(table["x"], 0, 100)) / rows).sum())


def weighted_counts(repeats: int) -> Iterator[str]:
    yield "\n## Weighted numbers, and weighted persons\n"
    yield HEAD
    drawn = survey(2_000_000)(np.random.default_rng(0))
    w = float(np.clip(drawn["w"], 0, 5).mean())
    rng = np.random.default_rng(0)
    count, total = np.mean([weighed(panel(500_000)(rng)) for _ in range(10)], axis=0)
    mean, per_person = float(total / count), float(count / 500_000)
    for relation in ("replace-one", "add-remove"):
        for n in (400, 2_000, 10_000):
            rows = (
                ("weighted number", tc.Count(weights="w"), n * w),
                ("weighted numbers of groups", tc.Count(by="g", weights="w"), (n * w / 2, n * w / 2)),
            )
            persons = (
                ("persons: weighted mean", tc.Mean("x", weights="w"), mean),
                ("persons: weighted means of groups", tc.Mean("x", by="g", weights="w"), (mean, mean)),
                ("persons: weighted number", tc.Count(weights="w"), n * per_person),
                ("persons: weighted numbers of groups", tc.Count(by="g", weights="w"), (n * per_person / 2,) * 2),
            )
            poisson = relation == "add-remove"  # the size is then random too
            draws = survey(n, True, poisson), panel(n, poisson)
            for cases, draw, schema in ((rows, draws[0], SURVEY), (persons, draws[1], PANEL)):
                for what, query, truth in cases:
                    words = {"schema": schema, "repeats": repeats, "neighbors": relation, "rng": 7, "rho": 0.1}
                    found = coverage(query, draw, truth, **words)
                    yield from lines(f"ρ = 0.1, {relation}", f"{what}, n = {n:,}", found)


def strata(n: int) -> Any:
    """Three groups, 3 : 3 : 4 in the sample and 5 : 3 : 2 in the population, whose means differ: 48 in all."""

    def generator(rng: np.random.Generator) -> dict[str, Any]:
        g = rng.choice(3, n, p=[0.3, 0.3, 0.4])
        x = np.array([40.0, 50.0, 65.0])[g] + rng.normal(0, 12, n)
        return {"x": x, "ok": rng.random(n) < x / 100, "g": np.array(["a", "b", "c"])[g]}

    return generator


def post_stratified(repeats: int) -> Iterator[str]:
    yield "\n## Post-stratified means: coverage in %\n"
    yield f"Three groups whose shares in the population are known; ± is {200 * np.sqrt(0.0475 / repeats):.1f}.\n"
    yield "| | mean | share |\n|---|---:|---:|"
    schema = tc.Schema({"x": tc.Real(0, 100), "ok": tc.Boolean(), "g": tc.Category(["a", "b", "c"])})
    known = {"a": 0.5, "b": 0.3, "c": 0.2}
    for words in ({"rho": 0.1}, {"rho": 0.01}):
        for n in (200, 1_000, 5_000):
            found: list[float] = []
            for column, truth in (("x", 48.0), ("ok", 0.48)):
                rng, hits = np.random.default_rng(8), 0
                shape = shaped(tc.Mean(column, by="g"), schema, "replace-one", n, Cost.of(**words))
                for _ in range(repeats):
                    noisy = add_noise(shape, exact_integers(shape, strata(n)(rng)), rng)
                    low, high = simulated(shape, noisy).estimate().poststratify(known).conf_int()
                    hits += low <= truth <= high
                found.append(100 * hits / repeats)
            yield f"| {price(words)}, n = {n:,} | {found[0]:.1f} | {found[1]:.1f} |"


# Medians ------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Medians(Cell):
    """A study of medians: widths are relative to the interval between order statistics of a table without noise
    (`plain`).
    """

    plain: Any = None

    def run(self, repeats: int) -> list[str]:
        """Half of the repeats: each table is drawn and ranked on its own."""
        rng, times = np.random.default_rng(self.seed), repeats // 2
        truth = np.atleast_1d(np.asarray(self.truth, dtype=float))
        limits, bare, few = [], [], []
        for _ in range(times):
            table = self.draw(rng)
            found = simulate_quantiles(self.query, table, self.schema, rng=rng, **self.words)
            limits.append(found.limits)
            few.append([one is not None for one in found.reasons])
            bare.append([order_width(x) for x in self.plain(table)])
        low, high = np.moveaxis(np.array(limits), -1, 0)
        held = 100 * ((low <= truth) & (truth <= high)).mean(axis=0)
        width = (high - low).mean(axis=0) / np.mean(bare, axis=0)
        return [
            f"{self.start}{'' if len(truth) == 1 else ', ' + term} | {held[i]:.1f} ± "
            f"{2 * np.sqrt(held[i] * (100 - held[i]) / times):.1f} | {width[i]:.3f} | {100 * np.mean(few, 0)[i]:.0f} |"
            for i, term in enumerate(found.terms)
        ]


def order_width(x: Any) -> float:
    """Width of the 95% interval of a median between order statistics."""
    n, ordered = len(x), np.sort(x)
    reach = 1.96 * np.sqrt(n) / 2
    return float(ordered[min(int(np.ceil(n / 2 + reach)), n - 1)] - ordered[max(int(np.floor(n / 2 - reach)), 0)])


def person_means(table: Any) -> list[Any]:
    rows = np.bincount(table["who"])
    return [(np.bincount(table["who"], weights=table["x"])[rows > 0] / rows[rows > 0])]


def person_groups(table: Any) -> list[Any]:
    """Return the means of the persons in each place, each person counted fully in every place where they have rows."""
    kept = [table["place"] == place for place in ("a", "b")]
    return [person_means({"who": table["who"][one], "x": table["x"][one]})[0] for one in kept]


def groups_of(table: Any) -> list[Any]:
    return [table["x"][table["g"] == g] for g in ("a", "b")]


def medians() -> Iterator[str | Cell]:
    yield "\n## Medians of groups, and of the means of persons\n"
    yield (
        "| price, relation | what | coverage, % | width, between order statistics = 1 | flagged as too few, % |\n"
        "|---|---|---:|---:|---:|"
    )
    for words in ({"rho": 0.1}, {"epsilon": 1}):
        name, query = f"{price(words)}, replace-one", tc.Quantiles("x", [0.5])
        by, by_place = tc.Quantiles("x", [0.5], by="g"), tc.Quantiles("x", [0.5], by="place")
        for n in (400, 2_000):
            what = f"groups, n = {n:,}"
            yield Medians(name, what, by, survey(n), (50.0, 50.0), SURVEY, words, 8, plain=groups_of)
        what = "means of 1,000 persons, 5 rows each"
        yield Medians(name, what, query, visits(1_000), 50.0, VISITS, words, 9, plain=person_means)
        what = "means of 1,000 persons, 1 to 9 rows"
        yield Medians(name, what, query, visits(1_000, 9), 50.0, VISITS, words, 9, plain=person_means)
        for what, one_place in (("in one group each", True), ("in both groups", False)):
            what = f"groups of 1,000 persons, {what}, 1 to 9 rows"
            yield Medians(
                name, what, by_place, visits(1_000, 9, one_place), (50.0, 50.0), VISITS, words, 9, plain=person_groups
            )


# Proportions --------------------------------------------------------------------------------------------------------


def exact_coverage(p: float, n: int, law: Law, level: float = 0.95) -> float:
    """Coverage of the exact interval, by summation over all counts and all noise but 1e-9 of it: no simulation."""
    from scipy import stats

    reach = int(25 * float(law.scale)) + 5
    k = np.arange(-reach, n + reach + 1)
    counted = np.arange(n + 1)
    mass = (stats.binom.pmf(counted, n, p)[:, None] * law.pmf(k[None, :] - counted[:, None])).sum(axis=0)
    low, high = counts.interval(k.astype(np.float64), n, law, level)
    return float(mass[(low <= p) & (p <= high)].sum())


def simulated_coverage(p: float, n: int, words: dict[str, float], kind: str, repeats: int, seed: int) -> float:
    """Coverage where the size is noisy too ("exclusion", "group")."""
    rng = np.random.default_rng(seed)
    neighbors = "replace-one" if kind == "exclusion" else "add-remove"
    shape = shaped(tc.Mean("m"), tc.Schema({"m": tc.Boolean()}), neighbors, n, Cost.of(**words))
    ones = rng.binomial(n, p, repeats)
    sums = np.stack([np.full_like(ones, n), ones], axis=-1)
    integers = (sums @ np.array(shape.columns[0].form.matrix).T)[:, None, :]
    return float(study(shape, (integers,), p, 0.95, rng).coverage[0])


def proportions(repeats: int) -> Iterator[str]:
    prices = ({"epsilon": 0.5}, {"epsilon": 1}, {"rho": 0.05}, {"rho": 0.5})
    head = "| | " + " | ".join(f"p = {p:g}" for p in GRID) + " |\n|---" + "|---:" * len(GRID) + "|"
    yield "\n## Proportions: coverage in %\n"
    yield "All rows, public size, replace-one: exact inversion; coverage summed, not simulated.\n"
    yield head
    for n in (50, 100, 500):
        for words in prices:
            shape = shaped(
                tc.Mean("m"), tc.Schema({"m": tc.Boolean(missing=False)}), "replace-one", n, Cost.of(**words)
            )
            found = [100 * exact_coverage(p, n, shape.columns[0].law) for p in GRID]
            yield f"| n = {n}, {price(words)} | " + " | ".join(f"{x:.1f}" for x in found) + " |"
    for kind, title in (
        ("exclusion", "Missing values left out (replace-one)"),
        ("group", "Private size (add-remove)"),
    ):
        seed = 1_000 if kind == "exclusion" else 2_000
        error = 200 * np.sqrt(0.05 * 0.95 / repeats)
        yield f"\n{title}: score inversion; {repeats:,} simulations a cell, ± {error:.1f}.\n"
        yield head
        for n in (50, 100, 500):
            for words in prices:
                found = [100 * simulated_coverage(p, n, words, kind, repeats, seed + i) for i, p in enumerate(GRID)]
                seed += len(GRID)
                yield f"| n = {n}, {price(words)} | " + " | ".join(f"{x:.1f}" for x in found) + " |"


INTRODUCTION = """# Coverage

How often a 95% interval holds the truth when tables are drawn anew and released anew. Both errors are in it: sampling
and privacy. Written by `python benchmarks/coverage.py`; `tacit.testing.coverage` does the same for any query.

People are {people:,} ages of the California PUMS sample, drawn with replacement. *Width* compares with the interval of
the same estimator without noise. *No answer* counts cells whose noisy size is not clearly above zero: their interval
is that of the public bounds, and *SE / SD* is large where there are many. Intervals of few rows beside the noise hold
too often, on purpose: the size behind an answer is taken as small as it may be. ± is twice the Monte-Carlo error of
{repeats:,} simulations a cell or more (half as many of medians). A cell from
{wrong:.0%} to {low:.0%} was drawn anew {again:,} times: the second figure is the one given.
A narrow interval that covers too rarely is worth nothing: where the noise is large the intervals are wide.
"""


def standing(page: str) -> dict[str, list[str]]:
    """Return the lines of each section of an existing page, by heading."""
    found: dict[str, list[str]] = {}
    title = ""
    for text in page.splitlines():
        title = text if text.startswith("## ") else title
        found.setdefault(title, []).append(text)
    return found


def kept_rows(cell: Cell, rows: list[str]) -> list[str]:
    """Return the existing rows of a cell, none where their coverage is low and they have to be drawn again."""
    own = [row for row in rows if row.startswith((f"{cell.start} |", f"{cell.start}, "))]
    own = [row for row in own if row.startswith(f"{cell.start} |")] or own
    if len(own) != len(np.atleast_1d(np.asarray(cell.truth))):
        return []
    least = min(float(row.split("|")[3].split("±")[0]) for row in own) / 100
    return [] if WRONG <= least < LOW else own


def part(name: str, people: People, repeats: int, kept: Mapping[str, list[str]]) -> Iterator[str]:
    """Yield the lines of a part of the page, those of `kept` where they need not be drawn again."""
    title = ""
    for one in PARTS[name](people, repeats):
        if isinstance(one, str):
            title = one.strip() if one.strip().startswith("## ") else title
            yield one
        else:
            yield from kept_rows(one, kept.get(title, [])) or one.run(repeats)


PARTS: dict[str, Callable[[People, int], Iterator[str | Cell]]] = {
    "means": lambda people, _: means(people),
    "low budget": lambda people, _: low_budget(people),
    "others": lambda people, _: others(people),
    "people and weights": lambda *_: people_and_weights(),
    "weighted counts": lambda _, repeats: weighted_counts(repeats),
    "post-stratified": lambda _, repeats: post_stratified(repeats),
    "medians": lambda *_: medians(),
    "proportions": lambda _, repeats: proportions(repeats),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=DATA)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--keep", action="store_true", help="keep rows of the page unless they are new or low")
    parser.add_argument("--parts", nargs="*", default=list(PARTS), choices=list(PARTS))
    args = parser.parse_args()
    repeats = 200 if args.quick else 2_000
    start = time.monotonic()
    people = People(args.data)
    kept = standing(PAGE.read_text(encoding="utf-8")) if args.keep else {}
    if not args.quick and not PAGE.exists():
        words = INTRODUCTION.format(people=len(people.age), repeats=repeats, low=LOW, wrong=WRONG, again=AGAIN)
        PAGE.write_text(words, encoding="utf-8")
    for name in args.parts:
        rows = list[str]()
        for row in part(name, people, repeats, kept):
            print(row, flush=True)
            rows.append(row)
        if not args.quick:
            put(PAGE, f"coverage.py {name}", "\n".join(rows))
    print(f"\n{time.monotonic() - start:.0f} s")


if __name__ == "__main__":
    main()
