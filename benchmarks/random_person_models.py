"""Further questions of `random_person_answers`: models, survival, synthetic rows, own statistics, several parties."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pandas as pd
import random_person_truths as true
from random_person_questions import PROBS, asked, curator
from random_persons import Persons
from random_study_questions import Answers, Found, Large, ratio, read
from random_tables import Array, Table

import tacit as tc

LINE = "u + arm"


def linear(study: Persons, table: Table, large: Large) -> Answers:
    """Coefficients of a linear regression of rows, a person weighing one; with weights; predictions."""
    fit = asked(study, table, tc.Regression(f"y ~ {LINE}")).estimate()
    line = true.glm(large, "y", "linear")
    yield from read(fit, line)
    if not any(fit.reasons):
        at = {"u": [-1.0, 1.0], "arm": ["control", "treated"]}
        means = [line["Intercept"] - line["u"], line["Intercept"] + line["u"] + line["arm[T.treated]"]]
        yield from read(fit.predict(at), {str(i): v for i, v in enumerate(means)}, "predicted ")
    fit = asked(study, table, tc.Regression(f"y ~ {LINE}", weights="w")).estimate()
    yield from read(fit, true.glm(large, "y", "linear", weights=True), "weighted ")


def logistic(study: Persons, table: Table, large: Large) -> Answers:
    """Coefficients of a logistic regression of rows, a person weighing one; the marginal effect."""
    fit = asked(study, table, tc.Regression(f"h ~ {LINE}", model="logistic")).estimate()
    line = true.glm(large, "h", "logistic")
    yield from read(fit, line)
    if not any(fit.reasons):
        yield from read(fit.marginal_effects(), {"u": large.once("effect", lambda: _effect(large, line))}, "effect of ")


def _effect(large: Large, line: dict[str, float]) -> float:
    w = true.parts(large, np.ones(len(large["who"]), bool))
    eta = line["Intercept"] + line["u"] * large["u"] + line["arm[T.treated]"] * (large["arm"] == "treated")
    p = 1 / (1 + np.exp(-eta))
    return line["u"] * float(np.average(p * (1 - p), weights=w))


def poisson(study: Persons, table: Table, large: Large) -> Answers:
    """Coefficients of a Poisson regression of rows, a person weighing one."""
    fit = asked(study, table, tc.Regression(f"c ~ {LINE}", model="poisson")).estimate()
    yield from read(fit, true.glm(large, "c", "poisson"))


def models_of_cells(study: Persons, table: Table, large: Large) -> Answers:
    """Linear and logistic models of a histogram's cells; a correlation; the Gini coefficient."""
    release = asked(study, table, tc.Histogram(["y", "u", "arm"], bins={"y": "auto", "u": "auto"}))
    yield from read(release.fit(f"y ~ {LINE}"), true.glm(large, "y", "linear"), "linear: ")
    release = asked(study, table, tc.Histogram(["h", "u", "arm"], bins={"u": 8}))
    line = {k: v for k, v in true.glm(large, "h", "logistic").items() if k != "Intercept"}
    yield from read(release.fit(f"h ~ {LINE}", model="logistic"), line, "logistic: ")
    release = asked(study, table, tc.Histogram(["y", "u"], bins="auto"))
    yield from read(release.correlation(["y", "u"]), {"y:u": large.once("r", lambda: _correlation(large))})
    release = asked(study, table, tc.Histogram("cost", bins="auto"))
    yield from read(release.gini("cost"), {"gini": large.once("gini", lambda: _gini(large))})


def _correlation(large: Large) -> float:
    w = true.parts(large, np.ones(len(large["who"]), bool))
    made = np.cov(np.stack([large["y"], large["u"]]), aweights=w)
    return float(made[0, 1] / math.sqrt(made[0, 0] * made[1, 1]))


def _gini(large: Large) -> float:
    v, w = true.rows_of(large, "cost")
    order = np.argsort(v)
    v, w = v[order], w[order] / w.sum()
    curve = np.cumsum(w * v) / np.sum(w * v)
    return float(1 - np.sum(w * (curve + np.append(0, curve[:-1]))))


def survival(study: Persons, table: Table, large: Large) -> Answers:
    """Survival of rows, a person's weighing one in all, by arm; medians."""
    release = asked(study, table, tc.Histogram(["months", "died", "arm"], bins={"months": 20}))
    curve = release.survival("months", event="died", by="arm")
    w = true.parts(large, np.ones(len(large["who"]), bool))
    truths = dict[str, float]()
    for arm in ("control", "treated"):
        here = large["arm"] == arm
        event, part = large["event"][here], w[here]
        for t in curve.times[1::4]:
            # censoring is independent of all else, so weighted parts at risk are those of the law
            truths[f"{arm}:{t:.10g}"] = large.once(
                f"{arm} {t}", lambda e=event, p=part, t=t: float(np.sum(p[e > t]) / p.sum())
            )
    yield from read(curve, truths)
    medians = {
        f"{arm}:median": large.once(
            f"{arm} median", lambda a=arm: true.quantile(large["event"][large["arm"] == a], w[large["arm"] == a], 0.5)
        )
        for arm in ("control", "treated")
    }
    yield from read(curve.median(), {k: v for k, v in medians.items() if v < 19})


def bootstrap(study: Persons, table: Table, large: Large) -> Answers:
    """The bootstrap of a mean of persons' means and of their variance, at a pair; by a level of rows."""
    price = {"epsilon": study.price.get("epsilon", 2.0), "delta": 1e-6}
    for query, truths, called in (
        (tc.Mean("x"), {"x": true.mean(large, "x")}, "mean: "),
        (tc.Variance("u"), true.variances(large, "u"), "variance: "),
        (tc.Mean("cost", by="k"), true.means(large, "cost", "k"), "by k: "),
    ):
        one = curator(study, table, {"epsilon": price["epsilon"], "delta": 4e-6})
        found = one.release(tc.Bootstrap(query, replicates=20), **price).estimate()
        yield from read(found, truths, called)


def synthetic(study: Persons, table: Table, large: Large) -> Answers:
    """An analysis of synthetic sets: means, a difference of means, a share."""
    release = asked(study, table, tc.Histogram(["cost", "u", "h"], bins={"cost": "auto", "u": "auto"}))

    def analysis(rows: Any) -> dict[str, float]:
        yes = rows[rows.h]
        return {
            "cost": rows.cost.mean(),
            "difference": yes.u.mean() - rows[~rows.h].u.mean(),
            "share above 0": float((rows.u > 0).mean()),
        }

    def truths() -> dict[str, float]:
        w = true.parts(large, np.ones(len(large["who"]), bool))
        h = large["h"]

        def mean_of(v: Array, here: Array) -> float:
            return float(np.average(v[here], weights=w[here]))

        every = np.ones(len(h), bool)
        return {
            "cost": mean_of(large["cost"], every),
            "difference": mean_of(large["u"], h) - mean_of(large["u"], ~h),
            "share above 0": mean_of(large["u"] > 0, every),
        }

    yield from read(release.synthetic_sets(rng=0).analyse(analysis), large.once("analysis", truths))


def _statistic(study: Persons) -> Any:
    sums = tc.extend.additive(
        "totals-of-rows",
        rows=lambda: [tc.col("cost").clip(0, 20), tc.col("u").clip(-1, 1) * 10, tc.col("h")],
        estimate=lambda s: {"cost": s.integers[0], "u": s.integers[1], "part": s.integers[2] / s.n if s.n else 0.0},
    )
    tc.testing.contract(sums(), study.schema(), tables=2, draws=20_000)
    return sums


def additive(study: Persons, table: Table, large: Large) -> Answers:
    """Sums of one's own over rows, of which max_rows of a person count, at their mean; a ratio of two."""
    sums = large.once("statistic", lambda: _statistic(study))
    declared = study.schema()
    kept = {name: one for name, one in table.items() if name in declared}
    paid = {k: v if k == "delta" else 4 * v for k, v in study.price.items()}
    hint = len(np.unique(table["who"]))
    one = tc.Curator(kept, declared, budget=tc.Budget(**paid, neighbors=study.relation), size_hint=hint, trust=[sums])
    release = one.release(sums(), **study.price)

    def truths(of: Table) -> dict[str, float]:
        here = np.ones(len(of["who"]), bool)
        w = true.counting(of, here, study.max_rows) / len(np.unique(of["who"]))
        made = {
            "cost": np.floor(np.clip(of["cost"], 0, 20) + 0.5),
            "u": np.floor(10 * np.clip(of["u"], -1, 1) + 0.5),
            "part": of["h"],
        }
        return {k: float(np.sum(w * v)) for k, v in made.items()}

    for target, found in (("population", large.once("sums", lambda: truths(large))), ("table", truths(table))):
        if release.rows is None:
            found.pop("part", None)
        scaled = {k: v if k == "part" else hint * v for k, v in found.items()}
        yield from read(release.estimate(target=target), scaled, "table: " if target == "table" else "")


def blocks(study: Persons, table: Table, large: Large) -> Answers:
    """A median and a law's mean by blocks, of rows: as many of a person count as there are."""
    low, high = study.ends["cost"]
    statistic = {"family": "Statistic", "name": "median", "parameters": {"median": [low, high]}}
    found = asked(study, table, tc.SampleAndAggregate("cost", statistic)).estimate()
    yield from read(found, {"median": large.once("median", lambda: float(np.median(large["cost"])))})
    law = tc.families.Normal(mean=(-5, 5), sd=(0.1, 10))
    found = asked(study, table, tc.SampleAndAggregate("y", law)).estimate()
    yield from read(found, large.once("law", lambda: {"mean": float(large["y"].mean()), "sd": float(large["y"].std())}))


def sufficient(study: Persons, table: Table, large: Large) -> Answers:
    """A normal and a Poisson law from sufficient statistics, persons weighing one."""
    law = tc.families.Normal(mean=(-5, 5), sd=(0.1, 10))
    moments = true.moments_of_rows(large, "y")
    found = asked(study, table, tc.SufficientStatistics("y", law)).estimate()
    yield from read(found, {"mean": moments["mean"], "sd": math.sqrt(moments["variance"])})
    found = asked(study, table, tc.SufficientStatistics("c", tc.families.Poisson(mean=(0.05, 20)))).estimate()
    yield from read(found, {"mean": true.mean(large, "c")}, "Poisson ")


def densities(study: Persons, table: Table, large: Large) -> Answers:
    """Kernel distribution function, a polynomial's, moments of both; levels that nobody listed."""
    at = large.once("at", lambda: list(true.quantiles_of_rows(large, "cost", PROBS).values()))
    for name, found in (
        ("kernel", asked(study, table, tc.KernelDensity("cost")).cdf(at)),
        ("Bernstein", asked(study, table, tc.Bernstein("cost")).cdf(at)),
    ):
        limits = np.reshape(np.asarray(found.conf_int(0.95), float), (-1, 2))
        for p, (low, high), reason in zip(PROBS, limits, found.reasons, strict=True):
            yield Found(f"{name} cdf at {p:g}", float(low), float(high), p, reason or "")
    price = study.price if "delta" in study.price else {"epsilon": study.price.get("epsilon", 1.0), "delta": 1e-6}
    schema = tc.Schema({"who": tc.PrivacyUnit(max_rows=study.max_rows), "text": tc.Text(max_length=8)})
    budget = tc.Budget(epsilon=price["epsilon"] * 2, delta=price["delta"] * 2, neighbors=study.relation)
    text = np.char.add(table["k"], table["g"])
    one = tc.Curator({"who": table["who"], "text": text}, schema, budget=budget)
    found = one.release(tc.Count(by="text"), **price).estimate()
    w = true.parts(table, np.ones(len(text), bool))
    own = pd.Series(w).groupby(text).sum()
    yield from read(found, {str(k): float(v) for k, v in own.items()}, "count of ")
    limits = np.asarray(found.shares.intervals(0.95), float).reshape(-1, 2)
    truths = {b + a: v for (a, b), v in true.shares(large, "g", "k").items()}
    for term, (low, high) in zip(found.terms, limits, strict=True):
        reason = "" if math.isfinite(low + high) else "none told"
        yield Found(f"share of {term}", float(low), float(high), truths.get(str(term), 0.0), reason)


# Several parties ------------------------------------------------------------------------------------------------------


def _by_party(study: Persons, table: Table, query: Any) -> dict[str, Any]:
    made = {}
    for name in study.names():
        here = table["party"] == name
        if len(np.unique(table["who"][here])) >= 20:
            made[name] = asked(study, {k: v[here] for k, v in table.items()}, query)
    return made


def parties(study: Persons, table: Table, large: Large) -> Answers:
    """Means, numbers, totals, shares and quantiles of several parties, each person in one."""
    n, cap = len(np.unique(table["who"])), study.max_rows
    answers = _by_party(study, table, tc.Mean("cost"))
    if len(answers) < 2:
        return
    truth = {"cost": true.mean(large, "cost")}
    yield from read(tc.combine(answers).estimate(), truth, "common mean of ")
    yield from read(tc.combine(answers, effects="random").estimate(), truth, "random effects of ")
    found = tc.combine(_by_party(study, table, tc.Mean("cost", per="row"))).estimate()
    yield from read(found, {"cost": true.per_row(large, "cost", cap)["cost"]}, "per row: ")
    expected = {k[0]: n * v for k, v in true.shares(large, "k").items()}
    yield from read(tc.combine(_by_party(study, table, tc.Count(by="k"))).estimate(), expected, "number in ")
    total = n * true.per_row(large, "cost", cap)["total cost"]
    yield from read(tc.combine(_by_party(study, table, tc.Sum("cost"))).estimate(), {"cost": total}, "total of ")
    p = true.means(large, "h", "arm")
    share = tc.combine(_by_party(study, table, tc.Mean("h", by="arm"))).estimate()
    yield from read(share, p, "share of ")
    yield ratio(share.ratio("treated", "control"), p["treated"] / p["control"], "risk ratio")
    w = true.weighted(large, "cost", "k")
    found = tc.combine(_by_party(study, table, tc.Mean("cost", by="k", weights="w"))).estimate()
    yield from read(found, w, "weighted ")


def party_models(study: Persons, table: Table, large: Large) -> Answers:
    """Regressions of several parties, averaged; models, means and quantiles of their histograms added up."""
    answers = _by_party(study, table, tc.Regression(f"y ~ {LINE}"))
    if len(answers) < 2:
        return
    line = true.glm(large, "y", "linear")
    try:
        yield from read(tc.combine(answers).estimate(), line, "averaged ")
    except tc.TacitError as problem:
        for term in line:
            yield Found(f"averaged {term}", 0, 0, 0, str(problem.code))
    added = tc.combine(_by_party(study, table, tc.Histogram("cost", bins=40)))
    yield from read(added.moments("cost"), true.moments_of_rows(large, "cost"), "added ")
    yield from read(added.quantiles("cost", list(PROBS)), true.quantiles_of_rows(large, "cost", PROBS), "added ")
    pooled = tc.combine(_by_party(study, table, tc.SufficientStatistics("c", tc.families.Poisson(mean=(0.05, 20)))))
    yield from read(pooled.estimate(), {"mean": true.mean(large, "c")}, "pooled ")
