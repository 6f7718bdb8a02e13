"""Tables for models whose noise is about as large as what the table tells: few rows, few events, low prices.

`grouped`: a number of a skewed or bounded law and a category of unequal groups, few rows.  `wide`: two regressors in
bounds ten times too wide, events in a few percent of the rows.  `skewed`: such a table, one regressor of which at least
has a long upper tail and a slope to match.  `hidden`: few rows at low prices in bounds so wide that noise in products
is about as large as what they tell, so that whether there is an answer depends on the noise.  These are logistic.
`probit`: as `skewed`, for probit models.  `counts`: Poisson models of counts of .01 to .1 on average, one regressor
with a long upper tail, of rows or of persons with some rows each, Poisson or negative binomial.  A set is a seed.  All
were committed before any of them was simulated.  Set 0 is for looking at; set 1 (of `skewed` none) was for judging,
and was looked at since, and so were sets 4 of `wide` and of `skewed`, sets 5 and 6 of `skewed`, set 6 of `wide` and of
`hidden`, and sets 7 and 8 of all; set 9 of `skewed` and `wide` judged.
Of `probit` and `counts` sets 1 are for looking at; sets 10 of these two, of `skewed` and of `wide` judged, and were
looked at since, as was set 9.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from frontier_designs import LAWS, Array, Cell, bounds_of, column_of, values_of
from frontier_model_designs import model_study
from regression_designs import Study, Table
from scipy import special

import tacit as tc
from tacit.privacy import Cost

DESIGNS = 12
MOST_COUNTED = 20
"""Largest count of a column of counts that are nearly all 0."""
OF_NUMBER: dict[str, tuple[Callable[[np.random.Generator, int], Array], float]] = {
    "exponential": (lambda rng, n: rng.exponential(1, n), 6.0),
    "a third zeros, else gamma": (lambda rng, n: np.where(rng.random(n) < 1 / 3, 0.0, rng.gamma(2, 1, n)), 8.0),
    "triangular": (lambda rng, n: rng.triangular(0, 1, 5, n), 5.0),
    "lognormal": (lambda rng, n: rng.lognormal(0, 0.7, n), 9.0),
    "two uniform ones apart": (lambda rng, n: np.where(rng.random(n) < 0.7, rng.random(n), 4 + rng.random(n)), 5.0),
    "upper bound less an exponential": (lambda rng, n: 6 - rng.exponential(1, n), 6.0),
}
"""Laws of a number from 0 to an upper bound."""


def _grouped(words: str, law: str, shares: Array, base: float, tilt: float) -> Study:
    """Return a study: the number with its slope, groups on which nothing depends; base: the predictor at the middle."""
    draw_number, most = OF_NUMBER[law]
    groups = [f"g{k}" for k in range(len(shares))]
    schema = tc.Schema({"x": tc.Real(0, most), "g": tc.Category(groups), "y": tc.Boolean()})
    slope = 2 * tilt / most

    def draw(rng: np.random.Generator, n: int) -> Table:
        x = np.clip(draw_number(rng, n), 0, most)
        y = rng.random(n) < special.expit(base - tilt + slope * x)
        return {"x": x, "g": rng.choice(groups, n, p=shares), "y": y}

    truth = {"Intercept": base - tilt, "x": slope, **{f"g[T.{one}]": 0.0 for one in groups[1:]}}
    return Study(words, tc.Regression("y ~ x + g", model="logistic"), schema, draw, truth)


def grouped(number: int) -> tuple[Cell, ...]:
    """Return cells of few rows with groups of unequal size."""
    rng = np.random.default_rng([16, 385, number])
    out: list[Cell] = []
    for _ in range(DESIGNS):
        law, many = str(rng.choice(list(OF_NUMBER))), int(rng.choice([3, 4]))
        least = float(rng.choice([0.08, 0.15]))
        shares = np.array([1 - least - 0.2 * (many - 2), *[0.2] * (many - 2), least])
        base, tilt = float(rng.choice([-2.5, -1.5, 0.0])), float(rng.choice([0.0, 0.5, 1.0]))
        rows, relation = int(rng.choice([800, 1_500, 3_000])), str(rng.choice(["replace-one", "add-remove"]))
        cost = Cost.of(rho=float(rng.choice([0.02, 0.05, 0.1])))
        words = f"{law}, {many} groups, least {100 * least:.0f}%, predictor {base:g} at the middle, tilt {tilt:g}"
        out.append(Cell(words, _grouped(words, law, shares, base, tilt), rows, cost, relation))
    return tuple(out)


def wide(number: int) -> tuple[Cell, ...]:
    """Return cells of two regressors in bounds ten times too wide, events in a few percent of the rows."""
    rng = np.random.default_rng([16, 386, number])
    out: list[Cell] = []
    for _ in range(DESIGNS):
        laws = [str(one) for one in rng.choice(LAWS, 2, p=[0.3, 0.1, 0.2, 0.15, 0.1, 0.1, 0.05])]
        slopes = np.round(rng.normal(0, 1 / math.sqrt(2), 2), 2)
        slopes = slopes * np.array([{"lognormal": 0.3, "whole": 0.5}.get(law, 1.0) for law in laws])
        share, rows = float(rng.choice([0.03, 0.05, 0.08])), int(rng.choice([3_000, 6_000, 12_000, 30_000]))
        cost, pair = Cost.of(rho=float(rng.choice([0.02, 0.05, 0.1]))), float(rng.choice([0.0, 0.8]))
        slopes_said = " and ".join(f"{one:.2g}" for one in slopes)
        words = f"{' and '.join(laws)}, slopes {slopes_said}, bounds × 10, pair {pair:g}, events {100 * share:.0f}%"
        level = float(special.logit(share))
        study = model_study(words, "logistic", laws, slopes, np.full(2, 10.0), level=level, pair=pair)
        out.append(Cell(words, study, rows, cost))
    return tuple(out)


def _long_tailed(
    rng: np.random.Generator, range_: tuple[float, float], beside_sd: float
) -> tuple[str, str, np.ndarray]:
    """Return the laws of two regressors, the first with a long tail, and their slopes.

    range_: of the standard deviation of what the first adds to the predictor.  beside_sd: of the other's slope.
    """
    law = str(rng.choice(["gamma", "lognormal"]))
    other = str(rng.choice(LAWS, p=[0.3, 0.1, 0.2, 0.15, 0.1, 0.1, 0.05]))
    size = float(rng.uniform(*range_)) * float(rng.choice([-1.0, 1.0])) / {"gamma": 0.6, "lognormal": 2.16}[law]
    beside = float(rng.normal(0, beside_sd)) * {"lognormal": 0.3, "whole": 0.5}.get(other, 1.0)
    return law, other, np.round([size, beside], 2)


def skewed(number: int) -> tuple[Cell, ...]:
    """Return cells of two regressors in bounds ten times too wide, the first with a long tail and a large slope."""
    rng = np.random.default_rng([18, 387, number])
    out: list[Cell] = []
    for _ in range(DESIGNS):
        # what the first adds to the predictor has a standard deviation of .5 to 1.2
        law, other, slopes = _long_tailed(rng, (0.5, 1.2), 0.4)
        share, rows = float(rng.choice([0.03, 0.05, 0.08])), int(rng.choice([3_000, 6_000, 12_000, 30_000]))
        cost, pair = Cost.of(rho=float(rng.choice([0.02, 0.05, 0.1]))), float(rng.choice([0.0, 0.8]))
        said = f"slopes {slopes[0]:g} and {slopes[1]:g}, bounds × 10, pair {pair:g}"
        words = f"{law} and {other}, {said}, events {100 * share:.0f}%"
        level = float(special.logit(share))
        study = model_study(words, "logistic", [law, other], slopes, np.full(2, 10.0), level=level, pair=pair)
        out.append(Cell(words, study, rows, cost))
    return tuple(out)


def hidden(number: int) -> tuple[Cell, ...]:
    """Return cells of two regressors whose variance is about as large as its noise, or smaller."""
    rng = np.random.default_rng([19, 388, number])
    out: list[Cell] = []
    for _ in range(DESIGNS):
        laws = [str(one) for one in rng.choice(["normal", "uniform", "gamma", "lognormal"], 2)]
        # what a regressor adds to the predictor has a standard deviation of 0 to 1.3
        sizes = rng.uniform(0, 1.3, 2) * rng.choice([-1.0, 1.0], 2)
        slopes = np.round(sizes / np.array([{"gamma": 0.6, "lognormal": 2.16}.get(law, 1.0) for law in laws]), 2)
        share, width = float(rng.choice([0.05, 0.1, 0.3])), float(rng.choice([5, 10, 15]))
        rows, pair = int(rng.choice([1_500, 3_000, 6_000])), float(rng.choice([0.0, 0.8]))
        cost = Cost.of(rho=float(rng.choice([0.02, 0.05])))
        said = f"slopes {slopes[0]:g} and {slopes[1]:g}, bounds × {width:g}, pair {pair:g}"
        words, level = f"{' and '.join(laws)}, {said}, events {100 * share:.0f}%", float(special.logit(share))
        study = model_study(words, "logistic", laws, slopes, np.full(2, width), level=level, pair=pair)
        out.append(Cell(words, study, rows, cost))
    return tuple(out)


def probit(number: int) -> tuple[Cell, ...]:
    """Return cells of probit models of two regressors, the first with a long tail and a large slope."""
    rng = np.random.default_rng([20, 389, number])
    out: list[Cell] = []
    for _ in range(DESIGNS):
        # what the first adds to the predictor has a standard deviation of .2 to .6
        law, other, slopes = _long_tailed(rng, (0.2, 0.6), 0.2)
        share, rows = float(rng.choice([0.03, 0.05, 0.08])), int(rng.choice([3_000, 6_000, 12_000, 30_000]))
        cost, width = Cost.of(rho=float(rng.choice([0.02, 0.05, 0.1]))), float(rng.choice([3, 10]))
        said = f"slopes {slopes[0]:g} and {slopes[1]:g}, bounds × {width:g}, events {100 * share:.0f}%"
        level = float(special.ndtri(share))
        study = model_study(said, "probit", [law, other], slopes, np.full(2, width), level=level)
        out.append(Cell(f"probit, {law} and {other}, {said}", study, rows, cost))
    return tuple(out)


def _counted(words: str, laws: list[str], slopes: Array, width: float, mean: float, spread: float, most: int) -> Study:
    """Return a study of counts; most: rows of a person, who are independent but for a common factor, or 0."""
    ends = [bounds_of(law, width) for law in laws]
    columns = {f"x{j}": column_of(law, end) for j, (law, end) in enumerate(zip(laws, ends, strict=True))}
    unit = {"who": tc.PrivacyUnit(most)} if most else {}
    schema = tc.Schema({**unit, **columns, "y": tc.Integer(0, MOST_COUNTED)})

    def regressors(rng: np.random.Generator, n: int) -> Array:
        x = np.column_stack([values_of(law, rng.normal(0, 1, n)) for law in laws])
        return np.column_stack([np.clip(x[:, j], *end) for j, end in enumerate(ends)])

    # the mean count is that of the whole
    start = math.log(mean / float(np.exp(regressors(np.random.default_rng(389), 1_000_000) @ slopes).mean()))

    def draw(rng: np.random.Generator, n: int) -> Table:
        who = np.repeat(np.arange(n), rng.integers(1, most + 1, n) if most else 1)
        x = regressors(rng, len(who))
        factor = rng.gamma(1 / spread, spread, n)[who] if spread else 1.0
        y = np.minimum(rng.poisson(factor * np.exp(start + x @ slopes)), MOST_COUNTED)
        made = {f"x{j}": x[:, j] > 0.5 if law == "indicator" else x[:, j] for j, law in enumerate(laws)}
        return {**({"who": who} if most else {}), **made, "y": y}

    truth = {"Intercept": start, **{f"x{j}": float(b) for j, b in enumerate(slopes)}}
    formula = "y ~ " + " + ".join(f"x{j}" for j in range(len(laws)))
    return Study(words, tc.Regression(formula, model="poisson"), schema, draw, truth)


def counts(number: int) -> tuple[Cell, ...]:
    """Return cells of counts that are nearly all 0."""
    rng = np.random.default_rng([21, 390, number])
    out: list[Cell] = []
    for _ in range(DESIGNS):
        law, other = str(rng.choice(["gamma", "lognormal"])), str(rng.choice(["normal", "uniform", "indicator"]))
        # what the first adds to the predictor has a standard deviation of .2 to .6, of .1 to .3 where it is long
        size = float(rng.uniform(0.2, 0.6)) * float(rng.choice([-1.0, 1.0])) * {"gamma": 1.0, "lognormal": 0.5}[law]
        slopes = np.round([size / {"gamma": 0.6, "lognormal": 2.16}[law], float(rng.normal(0, 0.3))], 2)
        mean, rows = float(rng.choice([0.01, 0.03, 0.1])), int(rng.choice([3_000, 10_000, 20_000, 50_000]))
        cost = Cost.of(rho=0.1) if rng.random() < 0.5 else Cost.of(epsilon=1, delta=1e-6)
        width, spread = float(rng.choice([1, 3, 10])), float(rng.choice([0.0, 0.0, 0.5]))
        most = int(rng.choice([0, 0, 0, 4]))
        said = f"slopes {slopes[0]:g} and {slopes[1]:g}, bounds × {width:g}, mean {mean:g}"
        said = f"{law} and {other}, {said}{', negative binomial' if spread else ''}{', persons' if most else ''}"
        out.append(Cell(said, _counted(said, [law, other], slopes, width, mean, spread, most), rows, cost))
    return tuple(out)


SETS: dict[str, Callable[[int], tuple[Cell, ...]]] = {
    "grouped": grouped,
    "wide": wide,
    "skewed": skewed,
    "hidden": hidden,
    "probit": probit,
    "counts": counts,
}
