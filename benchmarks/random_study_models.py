"""Models of `random_study_answers`: regressions, predictions, and parameters of laws of a column."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from random_studies import POISSON_MEAN, Study
from random_study_questions import Answers, Ask, Found, Large, asked, read
from random_tables import Table
from scipy.special import expit, ndtr

import tacit as tc


def _fit(response: str, model: str, large: Large) -> dict[str, float]:
    """The coefficients of a model of the clamped values of the large table, by Newton steps."""
    y, n = np.asarray(large[response], float), len(large["u"])
    X = np.column_stack([np.ones(n), large["u"], large["v"], large["arm"] == "treated"])
    beta = np.zeros(4)
    if model in ("gamma", "poisson"):
        beta[0] = math.log(float(y.mean()))
    for _ in range(25):
        eta = X @ beta
        if model == "linear":
            slope = weight = np.ones(n)
            mu = eta
        elif model in ("gamma", "poisson"):
            mu = np.exp(eta)
            slope, weight = mu, 1 / mu if model == "poisson" else 1 / mu**2
        elif model == "logistic":
            mu = expit(eta)
            slope = mu * (1 - mu)
            weight = 1 / slope
        else:
            mu, slope = ndtr(eta), np.exp(-(eta**2) / 2) / math.sqrt(2 * math.pi)
            weight = 1 / np.maximum(mu * (1 - mu), 1e-12)
        w = slope * weight
        step = np.linalg.solve(X.T @ (X * (w * slope)[:, None]), X.T @ (w * (y - mu)))
        beta = beta + step
        if np.abs(step).max() < 1e-9:
            break
    return dict(zip(("Intercept", "u", "v", "arm[T.treated]"), beta.tolist(), strict=True))


def model_of(response: str, model: str, fitted: str = "") -> Ask:
    """Return the question of a regression in u, v and arm."""

    def ask(study: Study, table: Table, large: Large) -> Answers:
        truths = large.once(f"fit of {response}, {model}", lambda: _fit(response, fitted or model, large))
        yield from read(asked(study, table, tc.Regression(f"{response} ~ u + v + arm", model=model)).estimate(), truths)

    ask.__doc__ = f"Coefficients of `{response} ~ u + v + arm`, model={model!r}."
    return ask


def _effect(study: Study, large: Large) -> float:
    p = expit(study.level + study.slope * large["u"] + study.effect * (large["arm"] == "treated"))
    return study.slope * float(np.mean(p * (1 - p)))


def predictions(study: Study, table: Table, large: Large) -> Answers:
    """Mean responses at rows of one's own, and average marginal effects."""
    rows = {"u": [-1.0, 0.5, 1.5], "arm": ["control", "treated", "control"]}
    at = np.array(rows["u"]) * study.slope + study.effect * np.array([0, 1, 0]) + study.level
    # the bounds of a response that are wide enough to cut next to nothing off leave its mean linear
    yield from _predicted(study, table, "score", "linear", rows, at)
    yield from _predicted(study, table, "one", "logistic", rows, expit(at))
    yield from _predicted(study, table, "visits", "poisson", rows, POISSON_MEAN * np.exp(0.5 + at / 2))
    fit = asked(study, table, tc.Regression("one ~ u + arm", model="logistic")).estimate()
    slope = large.once("effect", lambda: _effect(study, large))
    if not any(fit.reasons):
        yield from read(fit.marginal_effects(), {"u": slope}, "effect of ")


def _predicted(study: Study, table: Table, response: str, model: str, rows: Any, means: Any) -> Answers:
    fit = asked(study, table, tc.Regression(f"{response} ~ u + arm", model=model)).estimate()
    truths = {str(i): float(v) for i, v in enumerate(means)}
    if any(fit.reasons):  # `predict` then raises the reason
        return [Found(f"{model} {term}", 0, 0, 0, "a coefficient has a reason") for term in truths]
    return list(read(fit.predict(rows), truths, f"{model} "))


def likelihood(study: Study, table: Table, _: Large) -> Answers:
    """Parameters of a law, by blocks and a step; the law's mean."""
    family = getattr(tc.families, study.facts["law"])
    box = {
        k: box_of(v, study.box, k == "mean" and study.facts["law"] in ("Normal", "Lognormal"))
        for k, v in study.parameters.items()
    }
    release = asked(study, table, tc.SampleAndAggregate("law", family(**box)))
    found = release.estimate()
    yield from read(found, study.parameters)
    if not any(found.reasons):
        made = release.law().mean()
        yield from read(made, {made.terms[0]: _mean_of(study)}, "law: ")


def box_of(value: float, width: float, signed: bool) -> tuple[float, float]:
    """Return a box about a parameter, so many times as wide."""
    if signed:
        return (value - width * (1 + abs(value)), value + width * (1 + abs(value)))
    return (float(f"{value / width:.3g}"), float(f"{value * width:.3g}"))


def _mean_of(study: Study) -> float:
    p = study.parameters
    return {
        "Normal": lambda: p["mean"],
        "Gamma": lambda: p["shape"] / p["rate"],
        "Lognormal": lambda: math.exp(p["mean"] + p["sd"] ** 2 / 2),
        "Weibull": lambda: p["scale"] * math.gamma(1 + 1 / p["shape"]),
        "Beta": lambda: p["a"] / (p["a"] + p["b"]),
        "Exponential": lambda: 1 / p["rate"],
        "Poisson": lambda: p["mean"],
        "NegativeBinomial": lambda: p["mean"],
    }[study.facts["law"]]()


def sufficient(study: Study, table: Table, _: Large) -> Answers:
    """Parameters of a law from its sufficient statistics."""
    law, (low, high) = study.facts["law"], study.ends["law"]
    if law in ("Weibull", "NegativeBinomial"):
        return
    box = {k: box_of(v, study.box, k == "mean" and law in ("Normal", "Lognormal")) for k, v in study.parameters.items()}
    floor = max(low, 1e-3 * high)
    bounds = {"log(law)": (_figure(math.log(floor)), _figure(math.log(high)))}
    if law == "Beta":
        bounds["log(1 - law)"] = (_figure(math.log(max(1 - high, 1e-3))), _figure(math.log(1 - low)))
    told = bounds if law in ("Gamma", "Lognormal", "Beta") else {}
    found = asked(
        study, table, tc.SufficientStatistics("law", getattr(tc.families, law)(**box), bounds=told)
    ).estimate()
    yield from read(found, study.parameters)


def _figure(x: float) -> float:
    return float(f"{x:.4g}")
