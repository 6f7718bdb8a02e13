"""What is true of a very large table of persons: each person weighs one, or as many rows as count, as answers say."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pandas as pd
from random_study_questions import Large
from random_tables import Array, Table

ROWS = "rows"


def present(table: Table, name: str) -> Array:
    """Return the rows that have a value."""
    return ~np.isnan(np.asarray(table[name], float))


def parts(table: Table, here: Array) -> Array:
    """Return the weight of each row of `here`: 1 over the number of its person's rows in `here`."""
    who = table["who"][here]
    return 1 / np.bincount(who)[who]


def counting(table: Table, here: Array, cap: int) -> Array:
    """Return the weight of each row of `here` in a total: at most `cap` rows of a person count, at their mean."""
    who = table["who"][here]
    many = np.bincount(who)[who]
    return np.minimum(many, cap) / many


def means_of_persons(table: Table, name: str, by: str | None = None) -> pd.DataFrame:
    """Return the mean and the weight of each person (and group): the part of her rows that are in it."""
    here = present(table, name)
    who = table["who"][here]
    frame = pd.DataFrame({"who": who, "v": np.asarray(table[name], float)[here]})
    frame["all"] = np.bincount(who)[who]
    groups = ["who"]
    if by is not None:
        frame["by"] = table[by][here]
        groups.append("by")
    made = frame.groupby(groups, sort=False).agg(v=("v", "mean"), n=("v", "size"), all=("all", "first")).reset_index()
    made["w"] = made["n"] / made["all"]
    return made


def mean(large: Large, name: str) -> float:
    """The mean of person means."""
    return large.once(f"mean of {name}", lambda: float(means_of_persons(large, name)["v"].mean()))


def means(large: Large, name: str, by: str) -> dict[str, float]:
    """The means of groups, persons weighing the part of their rows there."""

    def made() -> dict[str, float]:
        each = means_of_persons(large, name, by)
        sums = (each["v"] * each["w"]).groupby(each["by"]).sum() / each["w"].groupby(each["by"]).sum()
        return {str(k): float(v) for k, v in sums.items()}

    return large.once(f"means of {name} by {by}", made)


def per_row(large: Large, name: str, cap: int, by: str | None = None) -> dict[str, float]:
    """Means and, per person, totals of rows, of which at most `cap` of a person count; by group, or by the name."""

    def made() -> dict[str, float]:
        here = present(large, name)
        w, v = counting(large, here, cap), np.asarray(large[name], float)[here]
        key = large[by][here] if by else np.full(len(v), name)
        frame = pd.DataFrame({"key": key, "w": w, "wv": w * v}).groupby("key").sum()
        total = len(np.unique(large["who"]))
        found = {str(k): float(one.wv / one.w) for k, one in frame.iterrows()}
        return found | {f"total {k}": float(one.wv / total) for k, one in frame.iterrows()}

    return large.once(f"rows of {name} by {by}", made)


def weighted(large: Large, name: str, by: str | None = None, cap: int | None = None) -> dict[str, float]:
    """Weighted means; with `cap`, as many rows as count; without, a person weighs the mean of her rows' weights."""

    def made() -> dict[str, float]:
        here = present(large, name)
        row = parts(large, here) if cap is None else counting(large, here, cap)
        w, v = row * large["w"][here], np.asarray(large[name], float)[here]
        if by is None:
            # the value of a person is the mean of her rows, whatever their weights
            who = large["who"][here]
            sizes = np.bincount(who)
            total, value = np.bincount(who, w), np.bincount(who, v) / np.maximum(sizes, 1)
            return {name: float(np.sum(total * value) / total.sum())}
        who, key = large["who"][here], large[by][here]
        frame = pd.DataFrame({"who": who, "key": key, "w": w, "v": v}).groupby(["who", "key"], sort=False)
        each = frame.agg(w=("w", "sum"), v=("v", "mean")).reset_index()
        sums = (each["v"] * each["w"]).groupby(each["key"]).sum() / each["w"].groupby(each["key"]).sum()
        return {str(k): float(one) for k, one in sums.items()}

    return large.once(f"weighted {name} by {by} {cap}", made)


def variances(large: Large, name: str, by: str | None = None) -> dict[str, float]:
    """The variances between persons, of their means (in groups, of their means there, by the part of their rows)."""

    def made() -> dict[str, float]:
        each = means_of_persons(large, name, by)
        key = each["by"] if by else pd.Series(np.full(len(each), name))
        each["wv"], each["wvv"] = each["w"] * each["v"], each["w"] * each["v"] ** 2
        sums = each.groupby(key)[["w", "wv", "wvv"]].sum()
        return {str(k): float(one.wvv / one.w - (one.wv / one.w) ** 2) for k, one in sums.iterrows()}

    return large.once(f"variances of {name} by {by}", made)


def quantile(values: Array, weights: Array, p: float) -> float:
    """Return the first value below or at which a part p of the weight is."""
    order = np.argsort(values, kind="stable")
    below = np.cumsum(weights[order])
    return float(values[order][min(int(np.searchsorted(below, p * below[-1])), len(values) - 1)])


def quantiles_of_means(large: Large, name: str, probs: tuple[float, ...], by: str | None = None) -> dict[str, float]:
    """Quantiles of persons' means (in groups, by the part of their rows); keys "0.5", or "g0:0.5"."""

    def made() -> dict[str, float]:
        each = means_of_persons(large, name, by)
        if by is None:
            return {f"{p:g}": quantile(each["v"].to_numpy(), each["w"].to_numpy(), p) for p in probs}
        return {
            f"{k}:{p:g}": quantile(one["v"].to_numpy(), one["w"].to_numpy(), p)
            for k, one in each.groupby("by")
            for p in probs
        }

    return large.once(f"quantiles of means of {name} by {by} {probs}", made)


def rows_of(large: Large, name: str) -> tuple[Array, Array]:
    """The values of rows, and their weights: a person's rows weigh one in all."""

    def made() -> tuple[Array, Array]:
        here = present(large, name)
        return np.asarray(large[name], float)[here], parts(large, here)

    return large.once(f"weights of rows of {name}", made)


def moments_of_rows(large: Large, name: str) -> dict[str, float]:
    """Mean and variance of rows, a person's rows weighing one in all."""

    def made() -> dict[str, float]:
        v, w = rows_of(large, name)
        middle = float(np.average(v, weights=w))
        return {"mean": middle, "variance": float(np.average((v - middle) ** 2, weights=w))}

    return large.once(f"moments of rows of {name}", made)


def quantiles_of_rows(large: Large, name: str, probs: tuple[float, ...]) -> dict[str, float]:
    """Quantiles of rows, a person's rows weighing one in all."""

    def made() -> dict[str, float]:
        v, w = rows_of(large, name)
        return {f"{p:g}": quantile(v, w, p) for p in probs}

    return large.once(f"quantiles of rows of {name} {probs}", made)


def shares(large: Large, *names: str) -> dict[tuple[str, ...], float]:
    """The part of the persons in each combination of levels, each person shared out over her rows."""

    def made() -> dict[Any, float]:
        w = parts(large, np.ones(len(large["who"]), bool))
        sums = pd.Series(w).groupby([np.asarray(large[name]) for name in names]).sum()
        total = float(w.sum())
        return {k if isinstance(k, tuple) else (k,): float(v) / total for k, v in sums.items()}

    return large.once(f"shares {names}", made)


def glm(large: Large, response: str, model: str, weights: bool = False) -> dict[str, float]:
    """The coefficients of u and arm, a person's rows weighing one in all (or the mean of their weights)."""

    def made() -> dict[str, float]:
        y, n = np.asarray(large[response], float), len(large["who"])
        w = parts(large, np.ones(n, bool)) * (large["w"] if weights else 1.0)
        X = np.column_stack([np.ones(n), large["u"], large["arm"] == "treated"])
        beta = np.zeros(3)
        if model == "poisson":
            beta[0] = math.log(float(np.average(y, weights=w)))
        for _ in range(25):
            eta = X @ beta
            mu = {"linear": lambda e: e, "logistic": lambda e: 1 / (1 + np.exp(-e)), "poisson": np.exp}[model](eta)
            v = {"linear": lambda m: np.ones_like(m), "logistic": lambda m: m * (1 - m), "poisson": lambda m: m}[model](
                mu
            )
            step = np.linalg.solve(X.T @ (X * (w * v)[:, None]), X.T @ (w * (y - mu)))
            beta = beta + step
            if np.abs(step).max() < 1e-9:
                break
        return dict(zip(("Intercept", "u", "arm[T.treated]"), beta.tolist(), strict=True))

    return large.once(f"{model} of {response}, {weights}", made)
