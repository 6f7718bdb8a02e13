"""Further questions of `random_study_answers`: densities, inequality, several parties, synthetic rows, bootstraps."""

from __future__ import annotations

import math
from typing import Any, Final

import numpy as np
import pandas as pd
from random_studies import Study
from random_study_models import box_of
from random_study_questions import (
    QUANTILES,
    Answers,
    Found,
    Large,
    asked,
    curator,
    mean,
    means,
    parts,
    read,
    together,
)
from random_tables import Array, Table

import tacit as tc

TWENTY: Final = tuple(i / 20 for i in range(1, 20))


def _present(table: Table, name: str = "x") -> Array:
    one = np.asarray(table[name], float)
    return one[~np.isnan(one)]


def correlations(study: Study, table: Table, large: Large) -> Answers:
    """Correlations of three columns from one histogram."""
    release = asked(study, table, tc.Histogram(["score", "u", "v"], bins="auto"))
    found = release.correlation(["score", "u", "v"])
    at = large.once("at", lambda: np.corrcoef(np.stack([large[k] for k in ("score", "u", "v")])))
    names = ("score", "u", "v")
    truths = {f"{a}:{b}": float(at[i, j]) for i, a in enumerate(names) for j, b in enumerate(names)}
    yield from read(found, truths)


def inequality(study: Study, table: Table, large: Large) -> Answers:
    """Gini coefficients and the Lorenz curve."""
    release = asked(study, table, tc.Histogram(["cost", "arm"], bins={"cost": "auto"}))
    curve = large.once("curve", lambda: np.cumsum(np.sort(large["cost"])) / large["cost"].sum())
    n = len(curve)
    yield from read(release.gini("cost"), {"gini": float(1 - 2 * curve.mean() + 1 / n)})
    yield from read(
        release.lorenz("cost", [0.5, 0.9]), {f"{p:g}": float(curve[int(p * n) - 1]) for p in (0.5, 0.9)}, "Lorenz "
    )


def _density(values: Array, at: Array) -> Array:
    spread = np.subtract(*np.quantile(values, [0.75, 0.25]))
    half = 0.01 * spread
    return np.array([np.mean(np.abs(values - x) <= half) / (2 * half) for x in at])


def _points(large: Large) -> tuple[Array, Array, Array]:
    """Five quantiles, the density there, and the part of the rows below."""
    values = _present(large)
    at = np.quantile(values, QUANTILES)
    return at, _density(values, at), np.array([np.mean(values <= x) for x in at])


def smooth(study: Study, table: Table, large: Large) -> Answers:
    """The smooth density of a histogram at five places."""
    at, truth, _ = large.once("points", lambda: _points(large))
    made = asked(study, table, tc.Histogram("x", bins="density")).smooth_density("x")
    for p, (low, high), density in zip(QUANTILES, made.intervals(at), truth, strict=True):
        yield Found(
            f"density at {p:g}",
            float(low),
            float(high),
            float(density),
            "" if math.isfinite(low + high) else "none told",
        )


def kernel(study: Study, table: Table, large: Large) -> Answers:
    """Kernel densities and Bernstein polynomials: density, distribution function, moments."""
    at, truth, below = large.once("points", lambda: _points(large))
    release = asked(study, table, tc.KernelDensity("x"))
    for words, found, true in (("density", release.density(at), truth), ("cdf", release.cdf(at), below)):
        for p, term, value in zip(QUANTILES, found.terms, true, strict=True):
            yield from _one(found, str(term), float(value), f"kernel {words} at {p:g}")
    variance = large.once("variance", lambda: float(np.nanvar(large["x"])))
    yield from read(release.moments(), {"mean of x": mean(large, "x"), "variance of x": variance}, "kernel ")
    found = asked(study, table, tc.Bernstein("x")).cdf(at)
    for p, term, value in zip(QUANTILES, found.terms, below, strict=True):
        yield from _one(found, str(term), float(value), f"Bernstein cdf at {p:g}")


def _one(found: Any, term: str, truth: float, called: str) -> Answers:
    place = [str(one) for one in found.terms].index(term)
    low, high = np.reshape(np.asarray(found.conf_int(0.95), float), (-1, 2))[place]
    return [Found(called, float(low), float(high), truth, found.reasons[place] or "")]


def cells(study: Study, table: Table, large: Large) -> Answers:
    """The distribution function from cells, and models of other responses that are fitted to them."""
    release = asked(study, table, tc.Histogram("x", bins="auto"))
    found = release.cdf("x")
    at = [float(t) for t in found.terms[:: max(len(found.terms) // 4, 1)]]
    truths = large.once("cdf", lambda: {f"{t:g}": float(np.mean(_present(large) <= t)) for t in at})
    yield from read(found, truths, "cdf at ")
    both = asked(study, table, tc.Histogram(["score", "u", "arm", "one"], bins={"score": "auto", "u": "auto"}))
    line = {"u": study.slope, "arm[T.treated]": study.effect}
    yield from read(both.fit("score ~ u + arm", model="quantile"), line, "median: ")
    yield from read(both.fit("score ~ u + arm", model="huber"), line, "Huber: ")
    yield from read(both.fit("one ~ u + arm", model="logistic"), line, "logistic: ")


def family_of_cells(study: Study, table: Table, _: Large) -> Answers:
    """Maximum likelihood of a law from a histogram's cells."""
    law = study.facts["law"]
    if law in ("Poisson", "NegativeBinomial"):
        return
    names = {"mean": "log_mean", "sd": "log_sd"} if law == "Lognormal" else {}
    release = asked(study, table, tc.Histogram("law", bins="auto"))
    yield from read(release.fit("law", family=law.lower()), {names.get(k, k): v for k, v in study.parameters.items()})


def many_quantiles(study: Study, table: Table, large: Large) -> Answers:
    """Nineteen quantiles, all of them at once, and the difference of two groups' medians."""
    release = asked(study, table, tc.Quantiles("x", list(TWENTY)))
    values = large.once("quantiles", lambda: np.quantile(_present(large), TWENTY, method="inverted_cdf"))
    truths = {f"{p:g}": float(value) for p, value in zip(TWENTY, values, strict=True)}
    found = release.estimate()
    yield from read(found, truths)
    try:
        band = release.band()
        yield together(band.limits, truths.values(), "band", next((r for r in band.reasons if r), "") or "")
    except tc.TacitError as problem:  # ends that were selected for another level are no band
        yield Found("band", 0, 0, 0, str(problem.code))
    medians = asked(study, table, tc.Quantiles("cost", [0.5], by="arm", level=0.975)).estimate()
    by = large.once(
        "medians", lambda: {k: float(np.median(large["cost"][large["arm"] == k])) for k in ("treated", "control")}
    )
    terms = {str(t).split(":")[0]: t for t in medians.terms}
    off = tc.difference(medians[terms["treated"]], medians[terms["control"]])
    low, high = off.conf_int(0.95)
    reason = next((r for r in off.reasons if r), "") or ""
    yield Found("difference of medians", float(low), float(high), by["treated"] - by["control"], reason)


def ranges(study: Study, table: Table, _: Large) -> Answers:
    """A range: does it leave out no larger part of the table than it says?"""
    schema = tc.Schema({"x": tc.Real(), "u": tc.Real()})
    found = curator(study, table, schema=schema).release(tc.Range("x"), **study.price).estimate()
    x = _present(table)
    part = float(np.mean((x < found.lower) | (x > found.upper)))
    yield Found("part beyond", 0.0, found.outside, part, found.reason or "")


def unlisted(study: Study, table: Table, large: Large) -> Answers:
    """Counts and shares of levels that nobody listed, of those that are shown."""
    text = np.char.add(table["first"], table["second"])
    truth = large.once(
        "texts", lambda: pd.Series(np.char.add(large["first"], large["second"])).value_counts(normalize=True)
    )
    price = study.price if "delta" in study.price else {"epsilon": study.price.get("epsilon", 1.0), "delta": 1e-6}
    budget = tc.Budget(epsilon=price["epsilon"] * 2, delta=price["delta"] * 2, neighbors=study.relation)
    one = tc.Curator({"text": text}, tc.Schema({"text": tc.Text(max_length=8)}), budget=budget)
    found = one.release(tc.Count(by="text"), **price).estimate()
    for term, (low, high) in zip(found.terms, np.asarray(found.conf_int(0.95), float), strict=True):
        yield Found("count", float(low), float(high), int(np.sum(text == term)))
    for term, (low, high) in zip(found.terms, np.asarray(found.shares.intervals(0.95), float), strict=True):
        yield Found(
            "share", float(low), float(high), float(truth[term]), "" if math.isfinite(low + high) else "none told"
        )


# Several parties ------------------------------------------------------------------------------------------------------


def _by_party(study: Study, table: Table, query: Any) -> dict[str, Any]:
    made = {}
    for name in study.names():
        here = table["party"] == name
        if here.sum() >= 2:
            made[name] = asked(study, {k: v[here] for k, v in table.items()}, query)
    return made


def parties(study: Study, table: Table, large: Large) -> Answers:
    """Means of several parties: one mean, or the mean of parties that differ; numbers that add up."""
    truth = {"stay": mean(large, "stay")}
    answers = _by_party(study, table, tc.Mean("stay"))
    if len(answers) < 2:
        return
    if study.party_spread == 0:
        yield from read(tc.combine(answers).estimate(), truth, "common mean of ")
    yield from read(tc.combine(answers, effects="random").estimate(), truth, "random effects of ")
    counts = tc.combine(_by_party(study, table, tc.Count(by="first")))
    expected = {k: len(table["u"]) * parts(large, "first")[k] for k in study.levels("first")}
    yield from read(counts.estimate(), expected, "rows in ")
    one = means(large, "one", "arm")
    yield from read(tc.combine(_by_party(study, table, tc.Mean("one", by="arm"))).estimate(), one, "share of ")


def party_models(study: Study, table: Table, large: Large) -> Answers:
    """Regressions of several parties, and models of their histograms added up."""
    if study.parties > 5:
        return
    answers = _by_party(study, table, tc.Regression("score ~ u + arm"))
    line = {"u": study.slope, "arm[T.treated]": study.effect}
    try:
        yield from read(tc.combine(answers).estimate(), line, "averaged ")
    except tc.TacitError as problem:
        for term in line:
            yield Found(f"averaged {term}", 0, 0, 0, str(problem.code))
    added = tc.combine(_by_party(study, table, tc.Histogram(["one", "u", "arm"], bins={"u": 8})))
    yield from read(added.fit("one ~ u + arm", model="logistic"), line, "added cells ")
    if study.facts["law"] in ("Normal", "Exponential", "Poisson"):
        box = {
            k: box_of(v, study.box, study.facts["law"] == "Normal" and k == "mean") for k, v in study.parameters.items()
        }
        law = getattr(tc.families, study.facts["law"])(**box)
        pooled = tc.combine(_by_party(study, table, tc.SufficientStatistics("law", law)))
        yield from read(pooled.estimate(), study.parameters, "pooled ")


# Synthetic rows, bootstraps, statistics of one's own ------------------------------------------------------------------


def synthetic(study: Study, table: Table, large: Large) -> Answers:
    """An analysis of synthetic sets: a difference of means, a correlation, a share."""
    release = asked(study, table, tc.Histogram(["score", "u", "one"], bins={"score": "auto", "u": "auto"}))

    def analysis(rows: Any) -> dict[str, float]:
        yes = rows[rows.one]
        return {
            "difference": yes.u.mean() - rows[~rows.one].u.mean(),
            "correlation": float(np.corrcoef(rows.score, rows.u)[0, 1]),
            "share above 0": float((rows.u > 0).mean()),
        }

    truths = large.once("true", lambda: analysis(pd.DataFrame({k: large[k] for k in ("score", "u", "one")})))
    yield from read(release.synthetic_sets(rng=0).analyse(analysis), truths)


def bootstrap(study: Study, table: Table, large: Large) -> Answers:
    """The bootstrap of a mean and of a variance, at a pair."""
    price = {"epsilon": study.price.get("epsilon", 2.0), "delta": 1e-6}
    for query, name, truth in (
        (tc.Mean("x"), "mean", mean(large, "x")),
        (tc.Variance("u"), "variance", large.once("variance of u", lambda: float(large["u"].var()))),
    ):
        one = curator(study, table, {"epsilon": price["epsilon"], "delta": 4e-6})
        found = one.release(tc.Bootstrap(query, replicates=20), **price).estimate()
        yield from _one(found, str(found.terms[0]), truth, name)


def own_statistics(study: Study, table: Table, large: Large) -> Answers:
    """Statistics of blocks that have names: a median, a correlation."""
    low, high = study.ends["cost"]
    median = large.once("median", lambda: float(np.median(large["cost"])))
    rho = large.once("correlation", lambda: float(np.corrcoef(large["score"], large["u"])[0, 1]))
    for what, name, box, truth in (
        ("cost", "median", [low, high], median),
        (["score", "u"], "correlation", [-1, 1], rho),
    ):
        statistic = {"family": "Statistic", "name": name, "parameters": {name: box}}
        found = asked(study, table, tc.SampleAndAggregate(what, statistic)).estimate()
        yield from _one(found, str(found.terms[0]), truth, name)
