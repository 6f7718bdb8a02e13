"""Questions of `random_person_answers`: means, totals, numbers, groups, weights, quantiles, what cells tell."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, Final

import numpy as np
import pandas as pd
import random_person_truths as true
from random_persons import Persons
from random_study_questions import Answers, Found, Large, ratio, read, tested
from random_tables import Table

import tacit as tc

PROBS: Final = (0.1, 0.5, 0.75)
Ask = Callable[[Persons, Table, Large], Answers]


def curator(study: Persons, table: Table, price: dict[str, float] | None = None, times: float = 4) -> Any:
    """Return a curator of the table, which says about how many persons there are."""
    declared = study.schema()
    paid = {k: v if k == "delta" else times * v for k, v in (price or study.price).items()}
    kept = {name: one for name, one in table.items() if name in declared}
    return tc.Curator(kept, declared, budget=tc.Budget(**paid, neighbors=study.relation), size_hint=_people(table))


def asked(study: Persons, table: Table, query: Any) -> Any:
    """Return a release at the design's price."""
    return curator(study, table).release(query, **study.price)


def _own(study: Persons, table: Table) -> Large:
    """The table itself, its values clamped to the bounds, as `truths` need it."""
    made = Large(study)  # type: ignore[arg-type]
    made.update({k: np.clip(one, *study.ends[k]) if k in study.ends else one for k, one in table.items()})
    return made


def _people(table: Table) -> int:
    return len(np.unique(table["who"]))


def counts(study: Persons, table: Table, large: Large) -> Answers:
    """Numbers of persons by a person's level, by that of rows, of a part of the rows; of a law and of the table."""
    n, own = _people(table), _own(study, table)
    for by in ("g", "k"):
        release = asked(study, table, tc.Count(by=by))
        yield from read(release.estimate(), {k[0]: n * v for k, v in true.shares(large, by).items()}, f"by {by}: ")
        here = {k[0]: n * v for k, v in true.shares(own, by).items()}
        yield from read(release.estimate(target="table"), here, f"table, by {by}: ")
    release = asked(study, table, tc.Count(where="h"))
    part = large.once("with h", lambda: len(np.unique(large["who"][large["h"]])) / _people(large))
    yield from read(release.estimate(), {"rows": n * part}, "where: ")
    own_part = len(np.unique(table["who"][table["h"]]))
    yield from read(release.estimate(target="table"), {"rows": own_part}, "table, where: ")


def totals(study: Persons, table: Table, large: Large) -> Answers:
    """Totals: at most max_rows of a person's rows count, at their mean; of a law and of the table; by rows' levels."""
    n, own, cap = _people(table), _own(study, table), study.max_rows
    release = asked(study, table, tc.Sum(["x", "cost"]))
    for name in ("x", "cost"):
        yield from read(release.estimate(), {name: n * true.per_row(large, name, cap)[f"total {name}"]})
        here = n * true.per_row(own, name, cap)[f"total {name}"]
        yield from read(release.estimate(target="table"), {name: here}, "table: ")
    release = asked(study, table, tc.Sum("cost", by="k"))
    expected, here = true.per_row(large, "cost", cap, "k"), true.per_row(own, "cost", cap, "k")
    levels = [k for k in study.levels("k") if k in here]
    yield from read(release.estimate(), {k: n * expected[f"total {k}"] for k in levels}, "by k: ")
    yield from read(release.estimate(target="table"), {k: n * here[f"total {k}"] for k in levels}, "table, by k: ")


def averages(study: Persons, table: Table, large: Large) -> Answers:
    """Means of persons' means; means of rows, of which max_rows of a person count; of some rows; of the table."""
    own, cap = _own(study, table), study.max_rows
    release = asked(study, table, tc.Mean(["x", "cost", "h"]))
    yield from read(release.estimate(), {k: true.mean(large, k) for k in ("x", "cost", "h")})
    yield from read(release.estimate(target="table"), {k: true.mean(own, k) for k in ("x", "cost", "h")}, "table: ")
    release = asked(study, table, tc.Mean(["x", "cost"], per="row"))
    yield from read(release.estimate(), {k: true.per_row(large, k, cap)[k] for k in ("x", "cost")}, "per row: ")
    here = {k: true.per_row(own, k, cap)[k] for k in ("x", "cost")}
    yield from read(release.estimate(target="table"), here, "table, per row: ")
    some = large.once("rows of k0", lambda: _part(study, large, large["k"] == "k0"))
    found = asked(study, table, tc.Mean("cost", where="k == 'k0'")).estimate()
    yield from read(found, {"cost": true.mean(some, "cost")}, "where: ")


def _part(study: Persons, table: Table, here: Any) -> Large:
    made = Large(study)  # type: ignore[arg-type]
    made.update({name: one[here] for name, one in table.items() if not name.startswith("once")})
    return made


def by_person(study: Persons, table: Table, large: Large) -> Answers:
    """Means by a level of persons: each, a difference, a ratio of means, standardised; shares, their ratio and odds."""
    cost = true.means(large, "cost", "g")
    found = asked(study, table, tc.Mean("cost", by="g")).estimate()
    yield from read(found, cost)
    yield from read(found.contrast("`g1` - `g0`"), {"`g1` - `g0`": cost["g1"] - cost["g0"]})
    yield ratio(found.ratio("g1", "g0"), cost["g1"] / cost["g0"], "ratio")
    even = {g: 1 / len(study.g) for g in study.levels("g")}
    made = found.standardize(even)
    yield from read(made, {made.terms[0]: sum(cost[g] * part for g, part in even.items())}, "standardised: ")
    p = true.means(large, "h", "arm")
    share = asked(study, table, tc.Mean("h", by="arm")).estimate()
    yield from read(share, p, "share of ")
    yield from read(share.contrast("treated - control"), {"treated - control": p["treated"] - p["control"]}, "shares, ")
    yield ratio(share.ratio("treated", "control"), p["treated"] / p["control"], "risk ratio")
    odds = {k: v / (1 - v) for k, v in p.items()}
    yield ratio(share.odds_ratio("treated", "control"), odds["treated"] / odds["control"], "odds ratio")
    rows = true.per_row(large, "cost", study.max_rows, "g")
    found = asked(study, table, tc.Mean("cost", by="g", per="row")).estimate()
    yield from read(found, rows, "per row: ")
    yield from read(found.contrast("`g1` - `g0`"), {"`g1` - `g0`": rows["g1"] - rows["g0"]}, "per row: ")


def by_rows(study: Persons, table: Table, large: Large) -> Answers:
    """Means by a level of rows, which persons share out: each, a difference, a ratio; of rows; shares."""
    x = true.means(large, "x", "k")
    found = asked(study, table, tc.Mean("x", by="k")).estimate()
    yield from read(found, x)
    yield from read(found.contrast("`k1` - `k0`"), {"`k1` - `k0`": x["k1"] - x["k0"]})
    cost = true.means(large, "cost", "k")
    yield ratio(
        asked(study, table, tc.Mean("cost", by="k")).estimate().ratio("k1", "k0"), cost["k1"] / cost["k0"], "ratio"
    )
    h = true.means(large, "h", "k")
    yield from read(asked(study, table, tc.Mean("h", by="k")).estimate(), h, "share of ")
    rows = true.per_row(large, "cost", study.max_rows, "k")
    found = asked(study, table, tc.Mean("cost", by="k", per="row")).estimate()
    yield from read(found, rows, "per row: ")
    yield from read(found.contrast("`k1` - `k0`"), {"`k1` - `k0`": rows["k1"] - rows["k0"]}, "per row: ")


def weights(study: Persons, table: Table, large: Large) -> Answers:
    """Weighted means, of rows as well, by levels of persons and of rows; weighted numbers and totals."""
    n, cap = _people(table), study.max_rows
    yield from read(asked(study, table, tc.Mean("cost", weights="w")).estimate(), true.weighted(large, "cost"))
    found = asked(study, table, tc.Mean("cost", weights="w", per="row")).estimate()
    yield from read(found, true.weighted(large, "cost", cap=cap), "per row: ")
    for by in ("g", "k"):
        w = true.weighted(large, "cost", by)
        found = asked(study, table, tc.Mean("cost", by=by, weights="w")).estimate()
        yield from read(found, w, f"by {by}: ")
        words = f"`{by}1` - `{by}0`"
        yield from read(found.contrast(words), {words: w[f"{by}1"] - w[f"{by}0"]}, "difference: ")
        number = large.once(f"weights by {by}", lambda by=by: _weights(large, by))
        found = asked(study, table, tc.Count(by=by, weights="w")).estimate()
        yield from read(found, {k: n * v for k, v in number.items()}, "number: ")


def _weights(large: Large, by: str) -> dict[str, float]:
    w = true.parts(large, np.ones(len(large["who"]), bool)) * large["w"]
    return {str(k): float(v) / _people(large) for k, v in pd.Series(w).groupby(large[by]).sum().items()}


def spreads(study: Persons, table: Table, large: Large) -> Answers:
    """Variances between persons, of their means, by level, too; standard deviations."""
    release = asked(study, table, tc.Variance("x"))
    v = true.variances(large, "x")
    yield from read(release.estimate(), v)
    made = release.estimate().bootstrap(lambda one: {"sd": math.sqrt(max(float(one), 0))})
    yield from read(made, {"sd": math.sqrt(v["x"])})
    for by in ("g", "k"):
        yield from read(
            asked(study, table, tc.Variance("cost", by=by)).estimate(), true.variances(large, "cost", by), f"by {by}: "
        )


def quantiles(study: Persons, table: Table, large: Large) -> Answers:
    """Quantiles of persons' means; medians by a level of persons and of rows."""
    found = asked(study, table, tc.Quantiles("x", list(PROBS))).estimate()
    yield from read(found, true.quantiles_of_means(large, "x", PROBS))
    for by in ("g", "k"):
        truths = true.quantiles_of_means(large, "cost", (0.5,), by)
        found = asked(study, table, tc.Quantiles("cost", [0.5], by=by)).estimate()
        yield from read(found, truths | {k.split(":")[0]: v for k, v in truths.items()})


def cells(study: Persons, table: Table, large: Large) -> Answers:
    """Mean, variance, quantiles and distribution function of rows, a person's weighing one in all, from bins."""
    release = asked(study, table, tc.Histogram("x", bins="auto"))
    yield from read(release.moments("x"), true.moments_of_rows(large, "x"))
    yield from read(release.quantiles("x", list(PROBS)), true.quantiles_of_rows(large, "x", PROBS))
    found = release.cdf("x")
    at = [float(t) for t in found.terms[:: max(len(found.terms) // 4, 1)]]
    v, w = true.rows_of(large, "x")
    below = large.once("cdf", lambda: {f"{t:g}": float(np.sum(w[v <= t]) / w.sum()) for t in at})
    yield from read(found, below, "cdf at ")
    both = asked(study, table, tc.Histogram(["cost", "k"], bins={"cost": "auto"}))
    yield from read(both.moments("cost"), true.moments_of_rows(large, "cost"), "with k: ")


def proportions(study: Persons, table: Table, large: Large) -> Answers:
    """Shares of rows' levels within levels of persons; independence of levels that persons have by chance."""
    release = asked(study, table, tc.Count(by=["g", "k"]))
    both, g = true.shares(large, "g", "k"), true.shares(large, "g")
    truths = {f"{a}:{b}": v / g[(a,)] for (a, b), v in both.items()}
    yield from read(release.estimate().proportions(within="g"), truths)
    yield from read(release.estimate().proportions(), {f"{a}:{b}": v for (a, b), v in both.items()}, "of all: ")
    try:
        yield tested(release.estimate().independence(draws=999, rng=1), "independence")
    except tc.TacitError as problem:
        yield Found("independence", 0, 0, 0, str(problem.code), test=True)


def again(study: Persons, table: Table, large: Large) -> Answers:
    """The same mean twice, averaged; the difference of two releases."""
    one = curator(study, table)
    half = {k: v if k == "delta" else v / 2 for k, v in study.price.items()}
    first, second = (one.release(tc.Mean("x"), **price) for price in (study.price, half))
    found = tc.average([first, second])
    yield from read(found, {found.terms[0]: true.mean(large, "x")}, "average of ")
    off = tc.difference(first.estimate(), one.release(tc.Mean("cost"), **half).estimate())
    yield from read(off, {off.terms[0]: true.mean(large, "x") - true.mean(large, "cost")}, "difference: ")
