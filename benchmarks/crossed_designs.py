"""Questions that cross features, of tables drawn from seeds: `crossed_features` simulates them.

A case is a question of a table that a number draws: rows, price, relation and what the case says are from its seed.
They were committed before any was simulated.  Truths are of the law, from a very large table, or of the table itself
where `table: ` begins the term.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from functools import cached_property
from typing import Any, Final

import numpy as np
from random_study_questions import Found, ratio, read
from random_tables import PRICES, Array

import tacit as tc

Table = dict[str, Any]
LARGE: Final = 400_000
ARMS: Final = ("control", "treated")


@dataclass
class Setting:
    """What a number draws for a case: its rows, price and relation, and a generator for what else the case draws."""

    name: str
    number: int
    sizes: tuple[int, ...] = (60, 300, 1_500, 6_000)
    pairs: bool = False

    @cached_property
    def rng(self) -> np.random.Generator:
        """What draws all that a case does not name, in its order."""
        return np.random.default_rng([2026, 11, 28, 19, self.number, *self.name.encode()])

    def __post_init__(self) -> None:
        self.rows = int(self.rng.choice(self.sizes))
        kept = [one for one in PRICES if ("delta" in one) or not self.pairs]
        self.price = kept[int(self.rng.integers(len(kept)))]
        self.relation = str(self.rng.choice(["replace-one", "add-remove"]))
        self.kept: dict[str, Any] = {}

    @property
    def words(self) -> str:
        """The setting in a line."""
        price = ", ".join(f"{key} {value:g}" for key, value in self.price.items())
        return f"{self.rows:,} rows; {price}; {self.relation}"

    def once(self, name: str, make: Callable[[], Any]) -> Any:
        """Return what `make` makes, made once for all tables of a setting: truths, and what is drawn for the case."""
        if name not in self.kept:
            self.kept[name] = make()
        return self.kept[name]

    def curator(self, table: Table, schema: tc.Schema, times: float = 1, name: str = "table") -> Any:
        """Return a curator of the table."""
        price = {k: v if k == "delta" and times == 1 else times * v for k, v in self.price.items()}
        size = max(len(next(iter(table.values()))), 2)
        return tc.Curator(table, schema, name=name, size_hint=size, budget=tc.Budget(**price, neighbors=self.relation))

    def asked(self, table: Table, schema: tc.Schema, query: Any) -> Any:
        """Return a release at the setting's price."""
        return self.curator(table, schema).release(query, **self.price)


Case = Callable[[Setting, np.random.Generator], Iterator[Found]]


def trial(rng: np.random.Generator, n: int) -> Table:
    """Two arms, four centres of which one is rare, costs, a yes or no, weights that go with costs."""
    u = rng.normal(0, 1, n)
    arm = rng.random(n) < 0.35
    return {
        "u": np.clip(u, -3, 3),
        "arm": np.array(ARMS)[arm.astype(int)],
        "centre": rng.choice(["a", "b", "c", "d"], n, p=[0.5, 0.3, 0.18, 0.02]),
        "cost": np.clip(np.exp(0.5 + 0.4 * u + 0.3 * arm + rng.normal(0, 0.5, n)), 0, 20),
        "yes": rng.random(n) < 1 / (1 + np.exp(1 - 0.7 * u - 0.5 * arm)),
        "w": np.clip(np.exp(0.4 * u) * rng.uniform(0.5, 1.5, n), 0, 4),
    }


TRIAL: Final = {
    "u": tc.Real(-3, 3),
    "arm": tc.Category(list(ARMS)),
    "centre": tc.Category(["a", "b", "c", "d", "nobody"]),
    "cost": tc.Real(0, 20),
    "yes": tc.Boolean(),
    "w": tc.Real(0, 4),
}


def _large(setting: Setting) -> Table:
    return setting.once("large", lambda: trial(np.random.default_rng([8, 19]), LARGE))


def _mean_of(table: Table, name: str, here: Array, w: Array | None = None) -> float:
    return float(np.average(np.asarray(table[name], float)[here], weights=None if w is None else w[here]))


# Groups, parts of the rows, weights, persons --------------------------------------------------------------------------


def part_ratios(setting: Setting, rng: np.random.Generator) -> Iterator[Found]:
    """Ratio and difference of means of two arms, of the rows that `where=` keeps; weighted, too."""
    words, keep = setting.once(
        "where",
        lambda: [
            ("u > 0.8", lambda t: t["u"] > 0.8),
            ("centre == 'b' or centre == 'd'", lambda t: np.isin(t["centre"], ["b", "d"])),
            ("not yes and u < 0", lambda t: ~t["yes"] & (t["u"] < 0)),
        ][int(setting.rng.integers(3))],
    )
    table, large = trial(rng, setting.rows), _large(setting)
    for called, w in (("", None), ("weighted ", "w")):
        truth = {
            a: _mean_of(large, "cost", keep(large) & (large["arm"] == a), None if w is None else large[w]) for a in ARMS
        }
        found = setting.asked(table, tc.Schema(TRIAL), tc.Mean("cost", by="arm", where=words, weights=w)).estimate()
        yield from read(found, truth, called)
        yield ratio(found.ratio("treated", "control"), truth["treated"] / truth["control"], f"{called}ratio")
        made = found.contrast("treated - control")
        yield from read(made, {made.terms[0]: truth["treated"] - truth["control"]}, called)


def empty_levels(setting: Setting, rng: np.random.Generator) -> Iterator[Found]:
    """Means, shares, totals and counts of a rare level, and of one that nobody has; shares of it within arms."""
    table, large = trial(rng, setting.rows), _large(setting)
    schema, n = tc.Schema(TRIAL), setting.rows
    means = {c: _mean_of(large, "yes", large["centre"] == c) for c in "abcd"}
    yield from read(setting.asked(table, schema, tc.Mean("yes", by="centre")).estimate(), means, "share ")
    counts = setting.asked(table, schema, tc.Count(by=["arm", "centre"])).estimate()
    own = {f"{a}:{c}": int(np.sum((table["arm"] == a) & (table["centre"] == c))) for a in ARMS for c in "abcd"}
    own |= {f"{a}:nobody": 0 for a in ARMS}
    found = setting.asked(table, schema, tc.Count(by=["arm", "centre"])).estimate(target="table")
    yield from read(found, own, "table: rows of ")
    within = {f"{a}:{c}": float(np.mean(large["centre"][large["arm"] == a] == c)) for a in ARMS for c in "abcd"}
    yield from read(counts.proportions(within="arm"), within | {f"{a}:nobody": 0.0 for a in ARMS}, "part ")
    across = {f"{a}:{c}": float(np.mean(large["arm"][large["centre"] == c] == a)) for a in ARMS for c in "abcd"}
    yield from read(counts.proportions(within="centre"), across, "arm within ")
    sums = setting.asked(table, schema, tc.Sum("cost", by="centre")).estimate()
    truth = {c: n * float(np.mean(large["cost"] * (large["centre"] == c))) for c in "abcd"}
    yield from read(sums, truth | {"nobody": 0.0}, "sum ")


def _visits(rng: np.random.Generator, n: int) -> Table:
    many = 1 + rng.poisson(1.5, n)
    who = np.repeat(np.arange(n), many)
    person = rng.normal(0, 1, n)
    return {
        "who": who,
        "x": np.clip(5 + person[who] + rng.normal(0, 1, len(who)), 0, 10),
        "sex": np.array(["f", "m"])[(rng.random(n) < 0.4).astype(int)][who],
        "kind": rng.choice(["p", "q", "r"], len(who), p=[0.6, 0.35, 0.05]),
        "w": np.clip(np.exp(0.3 * person[who]) * rng.uniform(0.5, 1.5, len(who)), 0, 4),
    }


def weighted_persons(setting: Setting, rng: np.random.Generator) -> Iterator[Found]:
    """Weighted means by levels of persons, of part of the rows, and their ratio; means of rows by such levels."""
    table = _visits(rng, setting.rows)
    large = setting.once("large", lambda: _visits(np.random.default_rng([9, 19]), 150_000))
    schema = tc.Schema(
        {
            "who": tc.PrivacyUnit(max_rows=8),
            "x": tc.Real(0, 10),
            "sex": tc.Category(["f", "m"], constant=True),
            "kind": tc.Category(["p", "q", "r"]),
            "w": tc.Real(0, 4),
        }
    )
    truths = setting.once("truths", lambda: _visit_truths(large))
    found = setting.asked(table, schema, tc.Mean("x", by="sex", where="kind != 'q'")).estimate()
    yield from read(found, truths["part"], "part: ")
    yield ratio(found.ratio("m", "f"), truths["part"]["m"] / truths["part"]["f"], "part: ratio")
    found = setting.asked(table, schema, tc.Mean("x", by="sex", per="row", where="kind == 'r'")).estimate()
    yield from read(found, truths["rows"], "rare rows: ")
    made = found.contrast("m - f")
    yield from read(made, {made.terms[0]: truths["rows"]["m"] - truths["rows"]["f"]}, "rare rows: ")


def _visit_truths(large: Table) -> dict[str, dict[str, float]]:
    found: dict[str, dict[str, float]] = {"part": {}, "rows": {}}
    for sex in "fm":
        here = (large["sex"] == sex) & (large["kind"] != "q")
        sums, many = np.bincount(large["who"][here], large["x"][here]), np.bincount(large["who"][here])
        found["part"][sex] = float((sums[many > 0] / many[many > 0]).mean())
        found["rows"][sex] = _mean_of(large, "x", (large["sex"] == sex) & (large["kind"] == "r"))
    return found


# Columns at bounds, constants, few rows -------------------------------------------------------------------------------


def _scores(rng: np.random.Generator, n: int, low: float, high: float) -> Array:
    u = rng.random(n)
    return np.where(u < low, 0, np.where(u > 1 - high, 10, rng.integers(0, 11, n)))


def heaped_bounds(setting: Setting, rng: np.random.Generator) -> Iterator[Found]:
    """Quantiles of whole numbers with heaps at both bounds; from bins, too, with the mean and the variance."""
    low, high = setting.once("heaps", lambda: tuple(setting.rng.uniform(0.05, 0.45, 2)))
    s = _scores(rng, setting.rows, low, high)
    probs = [0.05, 0.25, 0.5, 0.9]
    large = setting.once("large", lambda: _scores(np.random.default_rng([10, 19]), LARGE, low, high))
    truth = {f"{p:g}": float(np.quantile(large, p, method="inverted_cdf")) for p in probs}
    own = {f"{p:g}": float(np.quantile(s, p, method="inverted_cdf")) for p in probs}
    schema = tc.Schema({"s": tc.Integer(0, 10)})
    release = setting.asked({"s": s}, schema, tc.Quantiles("s", probs))
    yield from read(release.estimate(), truth)
    yield from read(release.estimate(target="table"), own, "table: ")
    cells = setting.asked({"s": s}, schema, tc.Histogram("s"))
    yield from read(cells.quantiles("s", probs), truth, "cells: ")
    yield from read(cells.moments("s"), {"mean": float(large.mean()), "variance": float(large.var())}, "cells: ")
    real = tc.Schema({"s": tc.Real(0, 10)})
    yield from read(setting.asked({"s": s}, real, tc.Quantiles("s", probs)).estimate(), truth, "undeclared: ")


def constants(setting: Setting, rng: np.random.Generator) -> Iterator[Found]:
    """A column of one value, inside, at a bound or beyond it: mean, variance, quantiles, sum, moments of bins."""
    value = setting.once("value", lambda: float(setting.rng.choice([0.0, 1.0, 0.25, 0.5, 1.7, -3.0])))
    table, schema = {"x": np.full(setting.rows, value)}, tc.Schema({"x": tc.Real(0, 1)})
    at, n = float(np.clip(value, 0, 1)), setting.rows
    for target, called in (("population", ""), ("table", "table: ")):
        for query, truth in (
            (tc.Mean("x"), at),
            (tc.Variance("x"), 0.0),
            (tc.Sum("x"), n * at),
            (tc.Quantiles("x", [0.5]), at),
        ):
            found = setting.asked(table, schema, query).estimate(target=target)
            yield from read(found, {str(found.terms[0]): truth}, f"{called}{type(query).__name__} of ")
    cells = setting.asked(table, schema, tc.Histogram("x", bins=8))
    yield from read(cells.moments("x"), {"mean": at, "variance": 0.0, "sd": 0.0}, "cells: ")
    yield from read(cells.quantiles("x", [0.5]), {"0.5": at}, "cells: ")
    cells = setting.asked(table, schema, tc.Histogram("x", bins="auto"))
    yield from read(cells.moments("x"), {"mean": at, "variance": 0.0, "sd": 0.0}, "auto cells: ")
    yield from read(cells.quantiles("x", [0.5]), {"0.5": at}, "auto cells: ")


def few_rows(setting: Setting, rng: np.random.Generator) -> Iterator[Found]:
    """Mean, variance, sum, number and median of 0 to 5 rows, of the law and of the table."""
    n = max(setting.once("n", lambda: int(setting.rng.integers(0, 6))), 2 * (setting.relation == "replace-one"))
    x = rng.beta(2, 2, n)
    present = rng.random(n) > 0.2
    table = {"x": np.where(present, x, np.nan), "g": rng.choice(["a", "b"], n)}
    schema, own = tc.Schema({"x": tc.Real(0, 1), "g": tc.Category(["a", "b"])}), x[present]
    for name, query, truth, mine in (
        ("mean", tc.Mean("x"), 0.5, own.mean() if len(own) else math.nan),
        ("variance", tc.Variance("x"), 0.05, own.var() if len(own) else math.nan),
        ("sum", tc.Sum("x"), 0.8 * n * 0.5, own.sum()),
        ("number", tc.Count(where="x > 0.5"), 0.4 * n, np.sum(own > 0.5)),
        ("median", tc.Quantiles("x", [0.5]), 0.5, math.nan),
    ):
        found = setting.asked(table, schema, query)
        term = str(found.estimate().terms[0])
        yield from read(found.estimate(), {term: truth}, f"{n} rows, {name}: ")
        if name != "median" and not math.isnan(mine):
            yield from read(found.estimate(target="table"), {term: float(mine)}, f"table: {n} rows, {name}: ")
    found = setting.asked(table, schema, tc.Mean("x", by="g")).estimate()
    yield from read(found, {"a": 0.5, "b": 0.5}, f"{n} rows, by: ")


def small_spreads(setting: Setting, rng: np.random.Generator) -> Iterator[Found]:
    """Variances of 2 to 12 rows at large prices, their root and ratio: chance is then the larger error."""
    n = setting.once("n", lambda: int(setting.rng.integers(2, 13)))
    x, g = rng.normal(50, 12, 2 * n).clip(0, 100), np.repeat(["a", "b"], n)
    price = {"rho": 50.0}
    schema = tc.Schema({"x": tc.Real(0, 100), "g": tc.Category(["a", "b"])})
    one = tc.Curator({"x": x, "g": g}, schema, budget=tc.Budget(rho=200, neighbors=setting.relation), size_hint=2 * n)
    whole = one.release(tc.Variance("x"), **price).estimate()
    yield from read(whole, {whole.terms[0]: 144.0}, f"{2 * n} rows, variance: ")
    by = one.release(tc.Variance("x", by="g"), **price).estimate()
    yield from read(by, {"a": 144.0, "b": 144.0}, f"{n} rows, variance: ")
    yield ratio(by.ratio("a", "b"), 1.0, f"{n} rows, ratio")
    made = by.bootstrap(lambda v: {"sd": math.sqrt(max(v["a"], 0))})
    yield from read(made, {"sd": 12.0}, f"{n} rows: ")


# Parties --------------------------------------------------------------------------------------------------------------


def odd_parties(setting: Setting, rng: np.random.Generator) -> Iterator[Found]:
    """Means, numbers and variances of parties of which one is empty and one has two rows, at prices of their own."""
    sizes = [0 if setting.relation == "add-remove" else 2, 2, setting.rows // 3 + 2, setting.rows]
    prices = setting.once("prices", lambda: [PRICES[int(setting.rng.integers(6))] for _ in sizes])
    schema, made = tc.Schema(TRIAL), {name: dict[str, Any]() for name in ("mean", "count", "variance", "by")}
    tables = [trial(rng, n) for n in sizes]
    asks = {
        "mean": tc.Mean("cost"),
        "count": tc.Count(by="arm"),
        "variance": tc.Variance("cost"),
        "by": tc.Mean("yes", by="arm"),
    }
    for i, (table, price) in enumerate(zip(tables, prices, strict=True)):
        budget = tc.Budget(**{k: 4 * v for k, v in price.items()}, neighbors=setting.relation)
        one = tc.Curator(table, schema, name=f"p{i}", budget=budget, size_hint=max(sizes[i], 2))
        for name, query in asks.items():
            made[name][f"p{i}"] = one.release(query, **price)
    large = _large(setting)
    by = {a: _mean_of(large, "yes", large["arm"] == a) for a in ARMS}
    for effects in ("common", "random"):
        found = tc.combine(made["mean"], effects=effects).estimate()
        yield from read(found, {found.terms[0]: float(large["cost"].mean())}, f"{effects} mean ")
        found = tc.combine(made["variance"], effects=effects).estimate()
        yield from read(found, {found.terms[0]: float(large["cost"].var())}, f"{effects} variance ")
        yield from read(tc.combine(made["by"], effects=effects).estimate(), by, f"{effects} share ")
    own = {a: sum(int(np.sum(t["arm"] == a)) for t in tables) for a in ARMS}
    yield from read(tc.combine(made["count"]).estimate(target="table"), own, "table: rows ")
    if setting.relation == "add-remove":
        tree = tc.hierarchy(made["count"], {"p0": "all", "p1": "all", "p2": "all", "p3": "all"})
        yield from read(tree.estimate("all"), own, "table: all ")
        means = tc.hierarchy(made["mean"], {"p0": "low", "p1": "low", "p2": "high", "p3": "high"})
        for node in ("low", "high"):
            found = means.estimate(node)
            yield from read(found, {found.terms[0]: float(large["cost"].mean())}, f"mean of {node}: ")


# Survival, levels nobody listed, bins, densities ----------------------------------------------------------------------


def extreme_survival(setting: Setting, rng: np.random.Generator) -> Iterator[Found]:
    """Survival where all are censored, nobody is, or one arm is empty; times that are whole or not."""
    kind, whole = setting.once(
        "kind", lambda: (str(setting.rng.choice(["censored", "seen", "one arm"])), bool(setting.rng.random() < 0.5))
    )
    n = setting.rows
    event, left = rng.exponential(10, n), rng.uniform(0, 24, n)
    died = {"censored": np.zeros(n, bool), "seen": np.ones(n, bool), "one arm": event <= left}[kind]
    months = {"censored": left, "seen": event, "one arm": np.minimum(event, left)}[kind]
    table = {
        "months": np.ceil(months) if whole else months,
        "died": died,
        "arm": rng.choice(ARMS, n) if kind != "one arm" else np.full(n, "control"),
    }
    column = tc.Integer(0, 24) if whole else tc.Real(0, 24)
    schema = tc.Schema({"months": column, "died": tc.Boolean(), "arm": tc.Category(list(ARMS))})
    asked = tc.Histogram(["months", "died", "arm"], bins={} if whole else {"months": 12})
    cells = setting.asked(table, schema, asked)
    curve = cells.survival("months", event="died", by="arm")
    law = (lambda t: 1.0) if kind == "censored" else lambda t: math.exp(-t / 10)
    yield from read(curve, {f"{a}:{t}": law(t) for a in ARMS for t in (2, 6, 12, 20)}, f"{kind}: ")
    if kind != "censored":
        middle = float(np.ceil(10 * math.log(2))) if whole else 10 * math.log(2)
        yield from read(curve.median(), {f"{a}:median": middle for a in ARMS}, f"{kind}: ")


TEXTS: Final = ("naïve", "na\u0308ive", " x ", "x", "0", "null", "ж\u202eabc", 'a,b\n"c"', "\U0001f600", "🇨🇭", "N/A")


def odd_texts(setting: Setting, rng: np.random.Generator) -> Iterator[Found]:
    """Counts of levels that nobody listed, of texts with accents, commas, quotes, emoji, white space, directions."""
    shares = setting.once("shares", lambda: setting.rng.dirichlet(np.full(len(TEXTS), 0.7)))
    text = np.array(TEXTS, dtype=object)[rng.choice(len(TEXTS), setting.rows, p=shares)]
    schema = tc.Schema({"text": tc.Text(max_length=12)})
    found = setting.asked({"text": text}, schema, tc.Count(by="text")).estimate()
    own = {one.replace("\u202e", "\ufffd").replace("\n", "\ufffd"): int(np.sum(text == one)) for one in TEXTS}
    yield from read(found, own, "table: ")
    for term in found.terms:
        if term not in own:
            yield Found(f"a level that nobody has: {term!r}", 1, 1, 0)


def coarse_bins(setting: Setting, rng: np.random.Generator) -> Iterator[Found]:
    """Moments, quantiles and a fit of histograms of two, three and four bins."""
    bins = setting.once("bins", lambda: int(setting.rng.integers(2, 5)))
    draw = setting.once(
        "draw",
        lambda: [
            lambda r, n: r.beta(2, 6, n),
            lambda r, n: r.random(n),
            lambda r, n: r.normal(0.5, 0.03, n).clip(0, 1),
            lambda r, n: np.where(r.random(n) < 0.3, 0.0, r.beta(5, 1, n)),
        ][int(setting.rng.integers(4))],
    )
    x = draw(rng, setting.rows)
    large = setting.once("large", lambda: draw(np.random.default_rng([11, 19]), LARGE))
    schema = tc.Schema({"x": tc.Real(0, 1), "y": tc.Real(-3, 3)})
    y = x + rng.normal(0, 0.5, setting.rows)
    cells = setting.asked({"x": x, "y": y}, schema, tc.Histogram(["x", "y"], bins={"x": bins, "y": 20}))
    called = f"{bins} bins: "
    moments = {"mean": float(large.mean()), "variance": float(large.var()), "sd": float(large.std())}
    yield from read(cells.moments("x"), moments, called)
    probs = [0.1, 0.5, 0.9]
    yield from read(cells.quantiles("x", probs), {f"{p:g}": float(np.quantile(large, p)) for p in probs}, called)
    yield from read(cells.fit("y ~ x"), {"x": 1.0}, f"{called}slope of ")
    yield from read(cells.gini("x"), {"gini": _gini(large)}, called)


def _gini(values: Array) -> float:
    n, sorted_ = len(values), np.sort(values)
    return float(2 * np.dot(np.arange(1, n + 1), sorted_) / (n * sorted_.sum()) - (n + 1) / n)


def constant_densities(setting: Setting, rng: np.random.Generator) -> Iterator[Found]:
    """Distribution functions and moments of kernels, polynomials, series, and data sets of a column of one value."""
    value = setting.once("value", lambda: float(setting.rng.choice([0.0, 1.0, 0.3, 0.5])))
    table, schema = {"x": np.full(setting.rows, value)}, tc.Schema({"x": tc.Real(0, 1)})
    at = [0.05, 0.45, 0.55, 0.95]
    below = [float(value <= t) for t in at]
    for name, query in (("kernel", tc.KernelDensity("x")), ("polynomial", tc.Bernstein("x"))):
        release = setting.asked(table, schema, query)
        found = release.cdf(at)
        yield from read(found, dict(zip(map(str, found.terms), below, strict=True)), f"{name}, cdf at ")
        if name == "kernel":
            found = release.moments()
            yield from read(found, {found.terms[0]: value, found.terms[1]: 0.0}, f"{name}: ")


# Fits ---------------------------------------------------------------------------------------------------------------


def interactions(setting: Setting, rng: np.random.Generator) -> Iterator[Found]:
    """Coefficients and predictions of models with interactions and a level that nobody has; with `where=`."""
    table = trial(rng, setting.rows)
    n = setting.rows
    treated = table["arm"] == "treated"
    table["y"] = np.clip(1 + 0.5 * table["u"] + treated * (0.4 - 0.3 * table["u"]) + rng.normal(0, 1, n), -10, 10)
    schema = tc.Schema(TRIAL | {"y": tc.Real(-10, 10)})
    query = tc.Regression("y ~ u * arm")
    fit = setting.asked(table, schema, query).estimate()
    truth = {"Intercept": 1.0, "u": 0.5, "arm[T.treated]": 0.4, "u:arm[T.treated]": -0.3}
    yield from read(fit, truth)
    if not any(fit.reasons):
        made = fit.predict({"u": [-1.0, 2.0], "arm": ["treated", "control"]})
        yield from read(made, {"0": 1.2, "1": 2.0}, "predicted ")
    part = setting.asked(table, schema, tc.Regression("y ~ u", where="arm == 'treated'", weights="w")).estimate()
    # the weight goes with u, and the line holds at every u
    yield from read(part, {"Intercept": 1.4, "u": 0.2}, "weighted part: ")
    centres = setting.asked(table, schema, tc.Regression("y ~ centre")).estimate()
    base = 1 + 0.35 * 0.4
    yield from read(
        centres, {"Intercept": base, "centre[T.b]": 0.0, "centre[T.c]": 0.0, "centre[T.d]": 0.0}, "centres: "
    )


# Types of columns ---------------------------------------------------------------------------------------------------


def odd_types(setting: Setting, rng: np.random.Generator) -> Iterator[Found]:
    """Decimals, dates with and without zones, whole numbers as decimals, cells missing although none is declared."""
    n = setting.rows
    cents, days = rng.integers(0, 10_000, n), rng.integers(0, 366, n)
    hours = rng.integers(0, 24, n)
    zone = UTC
    start = datetime(2024, 1, 1, tzinfo=zone)
    holes = rng.random(n) < 0.1
    import pyarrow as pa

    stamps = [start + timedelta(days=int(d), hours=int(h)) for d, h in zip(days, hours, strict=True)]
    table = pa.table(
        {
            "price": pa.array([None if gone else Decimal(int(c)) / 100 for c, gone in zip(cents, holes, strict=True)],
                              type=pa.decimal128(10, 2)),
            "day": pa.array([date(2024, 1, 1) + timedelta(days=int(d)) for d in days]),
            "stamp": pa.array(stamps, type=pa.timestamp("us", tz="UTC")),
            "none": pa.array(np.where(holes, np.nan, cents / 100)),
        }
    )  # fmt: skip
    schema = tc.Schema(
        {
            "price": tc.Real(0, 100),
            "day": tc.Date("2024-01-01", "2024-12-31"),
            "stamp": tc.Date("2024-01-01", "2024-12-31"),
            "none": tc.Real(0, 100, missing="none"),
        }
    )
    one = tc.Curator(
        table,
        schema,
        name="types",
        size_hint=n,
        budget=tc.Budget(**_times(setting.price, 8), neighbors=setting.relation),
    )
    epoch = (date(2024, 1, 1) - date(1970, 1, 1)).days
    filled = np.where(holes, 50.0, cents / 100)
    for query, truth in (
        (tc.Mean("price"), 49.995),
        (tc.Mean("day"), epoch + 182.5),
        (tc.Mean("stamp"), epoch + 182.5),
        (tc.Mean("none"), 0.9 * 49.995 + 0.1 * 50),
        (tc.Quantiles("day", [0.25]), epoch + 91.0),
    ):
        found = one.release(query, **setting.price).estimate()
        yield from read(found, {str(found.terms[0]): truth}, f"{type(query).__name__} of ")
    own = one.release(tc.Sum("none"), **setting.price).estimate(target="table")
    yield from read(own, {str(own.terms[0]): float(filled.sum())}, "table: sum of ")


def _times(price: dict[str, float], many: int) -> dict[str, float]:
    return {k: many * v for k, v in price.items()}


CASES: Final[dict[str, tuple[Case, dict[str, Any]]]] = {
    "part ratios": (part_ratios, {}),
    "empty levels": (empty_levels, {}),
    "weighted persons": (weighted_persons, {"sizes": (100, 500, 3_000)}),
    "heaped bounds": (heaped_bounds, {}),
    "constants": (constants, {}),
    "few rows": (few_rows, {"sizes": (6,)}),
    "small spreads": (small_spreads, {"sizes": (24,)}),
    "odd parties": (odd_parties, {"sizes": (60, 300, 2_000)}),
    "extreme survival": (extreme_survival, {}),
    "odd texts": (odd_texts, {"pairs": True}),
    "coarse bins": (coarse_bins, {}),
    "constant densities": (constant_densities, {"sizes": (60, 1_500)}),
    "interactions": (interactions, {"sizes": (300, 1_500, 6_000)}),
    "odd types": (odd_types, {"sizes": (60, 1_500)}),
}
