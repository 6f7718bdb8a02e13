"""Questions of `random_study_answers`: what is asked of a study, what is true of a very large table, how it is read."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import pandas as pd
from random_studies import Study
from random_tables import Array, Table

import tacit as tc

QUANTILES: Final = (0.1, 0.3, 0.5, 0.7, 0.9)


@dataclass(frozen=True)
class Found:
    """An interval with what it should hold, or the p-value of a test of what is true (low = high = p)."""

    term: str
    low: float
    high: float
    truth: float
    reason: str = ""
    test: bool = False


class Large(dict[str, Any]):
    """The very large table of a study, drawn when a column is first needed, and what is computed of it once."""

    def __init__(self, study: Study) -> None:
        super().__init__()
        self.study = study

    def __missing__(self, name: str) -> Any:
        if "u" in self:
            raise KeyError(name)
        self.update(self.study.large())
        return self[name]

    def once(self, name: str, make: Callable[[], Any]) -> Any:
        """Return what `make` makes, made at the first call."""
        if (key := f"once: {name}") not in self:
            self[key] = make()
        return self[key]


Answers = Iterable[Found]
Ask = Callable[[Study, Table, Large], Answers]


def curator(study: Study, table: Table, price: dict[str, float] | None = None, schema: tc.Schema | None = None) -> Any:
    """Return a curator of the table, with a budget that three answers fit in."""
    budget = tc.Budget(
        **{k: v if k == "delta" else 4 * v for k, v in (price or study.price).items()}, neighbors=study.relation
    )
    declared = schema or study.schema()
    kept = {name: one for name, one in table.items() if name in declared}
    return tc.Curator(kept, declared, budget=budget, size_hint=len(table["u"]))


def asked(study: Study, table: Table, query: Any) -> Any:
    """Return a release at the study's price."""
    return curator(study, table).release(query, **study.price)


def read(found: Any, truths: dict[str, float], called: str = "") -> Iterator[Found]:
    """Yield the 95% intervals of an estimate whose terms have a truth."""
    limits = np.reshape(np.asarray(found.conf_int(0.95), dtype=float), (-1, 2))
    reasons = getattr(found, "reasons", None) or [None] * len(found.terms)
    for term, (low, high), reason in zip(found.terms, limits, reasons, strict=True):
        if str(term) in truths:
            yield Found(called + str(term), float(low), float(high), truths[str(term)], reason or "")


def ratio(found: Any, truth: float, called: str) -> Found:
    """Return the interval of a ratio."""
    low, high = found.conf_int(0.95)
    return Found(called, float(low), float(high), truth, found.reason or "")


def tested(found: Any, called: str) -> Found:
    """Return the p-value of a test of what is true."""
    return Found(called, float(found.p_value), float(found.p_value), math.nan, "", test=True)


def together(limits: Any, truths: Iterable[float], called: str, reason: str = "") -> Found:
    """Return whether all limits hold at once, as one interval of 0."""
    ends, values = np.asarray(limits, float).reshape(-1, 2), np.array(list(truths))
    held = bool(np.all((ends[:, 0] <= values) & (values <= ends[:, 1])))
    return Found(called, 0.0 if held else 1.0, 0.0 if held else 1.0, 0.0, reason)


def _means(table: Table, name: str, by: str) -> dict[str, float]:
    return {str(k): float(v) for k, v in pd.Series(np.asarray(table[name], float)).groupby(table[by]).mean().items()}


def means(large: Large, name: str, by: str) -> dict[str, float]:
    """The means of present values by level."""
    return large.once(f"{name} by {by}", lambda: _means(large, name, by))


def parts(large: Large, name: str) -> dict[str, float]:
    """The shares of levels."""
    return large.once(name, lambda: pd.Series(large[name]).value_counts(normalize=True).to_dict())


def mean(large: Large, name: str) -> float:
    """The mean of present values."""
    return large.once(name, lambda: float(np.nanmean(large[name])))


# Means, shares, totals ------------------------------------------------------------------------------------------------


def differences(study: Study, table: Table, large: Large) -> Answers:
    """Differences and ratios of means."""
    y, cost = means(large, "y", "g"), means(large, "cost", "arm")
    found = asked(study, table, tc.Mean("y", by="g")).estimate()
    yield from read(found.contrast("`g1` - `g0`"), {"`g1` - `g0`": y["g1"] - y["g0"]})
    made = found.pairwise(adjust="simultaneous")
    known = not any(found.reasons)
    pairs = [
        y[b] - y[a] if f"{b} - {a}" in made.conf_int().index else y[a] - y[b] for a, b in itertools.combinations(y, 2)
    ]
    yield together(made.conf_int(), pairs, "all pairs", "" if known else "a group has a reason")
    costs = asked(study, table, tc.Mean("cost", by="arm")).estimate()
    yield from read(costs.contrast("treated - control"), {"treated - control": cost["treated"] - cost["control"]})
    yield ratio(costs.ratio("treated", "control"), cost["treated"] / cost["control"], "ratio")


def shares(study: Study, table: Table, large: Large) -> Answers:
    """Differences, ratios and odds ratios of shares."""
    p = means(large, "one", "arm")
    found = asked(study, table, tc.Mean("one", by="arm")).estimate()
    yield from read(found.contrast("treated - control"), {"treated - control": p["treated"] - p["control"]})
    yield ratio(found.ratio("treated", "control"), p["treated"] / p["control"], "risk ratio")
    odds = {k: v / (1 - v) for k, v in p.items()}
    yield ratio(found.odds_ratio("treated", "control"), odds["treated"] / odds["control"], "odds ratio")
    rare = asked(study, table, tc.Mean("two", by="second", where="first != 'f0'")).estimate()
    q = large.once(
        "part", lambda: _means({k: large[k][large["first"] != "f0"] for k in ("two", "second")}, "two", "second")
    )
    if {"s0", "s1"} <= q.keys():
        yield ratio(rare.ratio("s1", "s0"), q["s1"] / q["s0"], "risk ratio, part")
        yield ratio(
            rare.odds_ratio("s1", "s0"), q["s1"] / (1 - q["s1"]) / (q["s0"] / (1 - q["s0"])), "odds ratio, part"
        )


def totals(study: Study, table: Table, large: Large) -> Answers:
    """Totals and numbers, of the law and of the table itself."""
    n = len(table["u"])
    lower, upper = study.ends["cost"]
    own = {name: np.clip(table[name], lower, upper) for name in ("cost",)} | {
        "x": np.clip(table["x"], study.lower, study.upper)
    }
    present = large.once("present", lambda: float(np.mean(~np.isnan(large["x"]))))
    release = asked(study, table, tc.Sum(["cost", "x"]))
    yield from read(
        release.estimate(), {k: n * mean(large, k) for k in ("cost",)} | {"x": n * present * mean(large, "x")}
    )
    yield from read(release.estimate(target="table"), {k: float(np.nansum(v)) for k, v in own.items()}, "table: ")
    release = asked(study, table, tc.Count(by="first"))
    expected = {k: n * parts(large, "first")[k] for k in study.levels("first")}
    yield from read(release.estimate(), expected, "rows in ")
    yield from read(
        release.estimate(target="table"), {k: int(np.sum(table["first"] == k)) for k in expected}, "table: rows in "
    )


def weighted(study: Study, table: Table, large: Large) -> Answers:
    """Weighted means of groups, their difference; standardised means; a trend."""
    w = large.once(
        "weighted",
        lambda: {
            k: float(np.average(large["y"][large["g"] == k], weights=large["w"][large["g"] == k])) for k in study.groups
        },
    )
    found = asked(study, table, tc.Mean("y", by="g", weights="w")).estimate()
    yield from read(found, w, "weighted ")
    yield from read(found.contrast("`g1` - `g0`"), {"`g1` - `g0`": w["g1"] - w["g0"]}, "weighted ")
    y = means(large, "y", "g")
    plain = asked(study, table, tc.Mean("y", by="g")).estimate()
    even = {g: 1 / len(study.groups) for g in study.groups}
    made = plain.standardize(even)
    yield from read(made, {made.terms[0]: sum(y[g] * part for g, part in even.items())}, "standardised: ")
    scores = np.arange(len(study.groups)) - (len(study.groups) - 1) / 2
    slope = float(np.dot(scores, [y[g] for g in study.groups]) / np.dot(scores, scores))
    line = plain.trend(by="g", scores=list(range(len(study.groups))))
    yield from read(line, {line.terms[0]: slope}, "trend: ")


def functions(study: Study, table: Table, large: Large) -> Answers:
    """Functions of means and variances: a logarithm, a product, a standard deviation, ratios."""
    x, cost, u = (mean(large, k) for k in ("x", "cost", "u"))
    found = asked(study, table, tc.Mean(["cost", "u", "x"])).estimate()
    made = found.bootstrap(lambda m: {"log cost": math.log(m["cost"]), "of two": m["cost"] * (1 + m["u"])})
    yield from read(made, {"log cost": math.log(cost), "of two": cost * (1 + u)})
    yield from read(found.contrast("x - u"), {"x - u": x - u})
    spread = asked(study, table, tc.Variance("score", by="arm")).estimate()
    by = large.once(
        "variances", lambda: {k: float(np.var(large["score"][large["arm"] == k])) for k in ("control", "treated")}
    )
    made = spread.bootstrap(lambda v: {"sd": math.sqrt(v["treated"]), "ratio": v["treated"] / v["control"]})
    yield from read(made, {"sd": math.sqrt(by["treated"]), "ratio": by["treated"] / by["control"]})
    yield ratio(spread.ratio("treated", "control"), by["treated"] / by["control"], "Fieller's ratio of variances")


def again(study: Study, table: Table, large: Large) -> Answers:
    """The same mean twice, averaged; the difference of two releases."""
    one = curator(study, table)
    part = {k: v if k == "delta" else v / 2 for k, v in study.price.items()}
    first, second = (one.release(tc.Mean("x"), **price) for price in (study.price, part))
    x, u = mean(large, "x"), mean(large, "u")
    found = tc.average([first, second])
    yield from read(found, {found.terms[0]: x}, "average of ")
    off = tc.difference(first.estimate(), one.release(tc.Mean("u"), **part).estimate())
    yield from read(off, {off.terms[0]: x - u}, "difference: ")


# Tests, tables --------------------------------------------------------------------------------------------------------


def independence(study: Study, table: Table, large: Large) -> Answers:
    """Shares of a table within its rows; tests of independence."""
    release = asked(study, table, tc.Count(by=["first", "second"]))
    try:
        yield tested(release.estimate().independence(draws=999, rng=1), "counts")
    except tc.TacitError as problem:
        yield Found("counts", 0, 0, 0, str(problem.code), test=True)
    both = large.once("both", lambda: pd.crosstab(large["first"], large["second"], normalize="index").stack())
    yield from read(
        release.estimate().proportions(within="first"), {f"{a}:{b}": float(v) for (a, b), v in both.items()}
    )
    cells = asked(study, table, tc.Histogram(["first", "second", "u"], bins={"u": 6}))
    for name in ("second", "u"):
        try:
            yield tested(cells.independence("first", name, draws=999, rng=1), f"cells, {name}")
        except tc.TacitError as problem:
            yield Found(f"cells, {name}", 0, 0, 0, str(problem.code), test=True)


def joint_tests(study: Study, table: Table, _: Large) -> Answers:
    """Joint tests of what is true: equal means, coefficients of 0."""
    levels = study.levels("second")
    found = asked(study, table, tc.Mean("score", by="second")).estimate()
    words = ", ".join(f"`{a}` = `{b}`" for a, b in itertools.pairwise(levels))
    bad = any(found.reasons)
    yield Found("means", 0, 0, 0, "a group has a reason", test=True) if bad else tested(found.test(words), "means")
    for response, model in (("score", "linear"), ("one", "logistic"), ("visits", "poisson")):
        fit = asked(study, table, tc.Regression(f"{response} ~ u + v + n1 + n2 + arm", model=model)).estimate()
        if any(fit.reasons):
            yield Found(model, 0, 0, 0, "a coefficient has a reason", test=True)
        else:
            yield tested(fit.test("v = 0, n1 = 0, n2 = 0"), model)


# Survival -------------------------------------------------------------------------------------------------------------


def _product_limit(months: Array, died: Array, times: Array) -> Array:
    risk = np.array([np.sum(months >= t) for t in times])
    events = np.array([np.sum((months == t) & died) for t in times])
    return np.cumprod(1 - events / np.maximum(risk, 1))


def _curves(study: Study, large: Large, at: tuple[float, ...]) -> tuple[dict[str, float], dict[str, float]]:
    """Survival at the edges of bins, and medians: of whole times the product limit, else the law's."""
    truths, medians, last = dict[str, float](), dict[str, float](), study.times[0]
    for arm, rate in (("control", 1.0), ("treated", study.hazard_ratio)):
        if study.whole_times:
            here = large["arm"] == arm
            times = np.arange(0, last + 1)
            held = _product_limit(large["months"][here], large["died"][here], times)
            truths |= {f"{arm}:{t:.10g}": float(s) for t, s in zip(times, held, strict=True)}
            if (held <= 0.5).any():
                medians[f"{arm}:median"] = float(times[np.argmax(held <= 0.5)])
        else:
            truths |= {f"{arm}:{t:.10g}": math.exp(-rate * (t / 10) ** study.hazard_shape) for t in at}
            medians[f"{arm}:median"] = 10 * (math.log(2) / rate) ** (1 / study.hazard_shape)
    return truths, medians


def survival(study: Study, table: Table, large: Large) -> Answers:
    """Survival curves of two arms, medians; the log-rank test where hazards are equal."""
    last = study.times[0]
    bins = {} if study.whole_times else {"months": study.time_bins}
    asks = tc.Histogram(["months", "died", "arm"], bins=bins) if bins else tc.Histogram(["months", "died", "arm"])
    cells = asked(study, table, asks)
    curve = cells.survival("months", event="died", by="arm")
    truths, medians = large.once("curves", lambda: _curves(study, large, curve.times))
    wanted = {
        f"{arm}:{t:.10g}" for arm in ("control", "treated") for t in curve.times[1 :: max(len(curve.times) // 5, 1)]
    }
    yield from read(curve, {k: v for k, v in truths.items() if k in wanted})
    inside = {k: v for k, v in medians.items() if v < last}
    yield from read(curve.median(), inside)
    if study.hazard_ratio == 1:
        try:
            yield tested(cells.logrank("months", "died", by="arm"), "log-rank")
        except tc.TacitError as problem:
            yield Found("log-rank", 0, 0, 0, str(problem.code), test=True)
