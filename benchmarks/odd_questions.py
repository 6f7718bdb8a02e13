"""Questions of every kind about odd tables: nothing but Tacit's own errors, and no warning; prints what else there was.

    python benchmarks/odd_questions.py [--questions 400] [--seed 0] [--show 20]

Tables have 0 to 3,000 rows, some with cells missing, all equal, or at their bounds and beyond; prices are from next to
nothing to plenty, of every kind; neighbours are rows or persons, replaced or added.  Each question is planned and
released, the release is written to JSON and read back, and every word that a release or its estimate has is called with
plain arguments.  An error of Tacit's is an answer; any other, a warning of NumPy's or a failure of the machine's (M01)
is not.  Exits 1 where there was one.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
import traceback
import warnings
from collections import Counter
from collections.abc import Callable
from typing import Any, Final

import numpy as np
import pandas as pd

import tacit as tc
from tacit.release.document import release_from_dict

SIZES: Final = (0, 1, 2, 5, 30, 300, 3_000)
KINDS: Final = ("plain", "plain", "missing", "none", "equal", "bounds")
PRICES: Final[tuple[dict[str, float], ...]] = (
    {"rho": 0.5},
    {"rho": 1e-4},
    {"rho": 20},
    {"epsilon": 1},
    {"epsilon": 0.001},
    {"epsilon": 1, "delta": 1e-6},
    {"epsilon": 0.01, "delta": 1e-9},
)
NUMBERS: Final = ("age", "income", "children", "wait", "day")
SCHEMA: Final[dict[str, Any]] = {
    "age": tc.Real(0, 100, units="years"),
    "income": tc.Real(0, 300_000),
    "children": tc.Integer(0, 10),
    "sex": tc.Category(["m", "f"]),
    "area": tc.Category(["n", "s", "e"]),
    "ill": tc.Boolean(),
    "wait": tc.Real(0, 100),
    "dead": tc.Boolean(),
    "day": tc.Date("2020-01-01", "2022-01-01"),
    "weight": tc.Real(0, 4),
    "diagnosis": tc.Text(max_length=5),
}
FORMULAS: Final = ("age ~ sex", "income ~ age + children", "log1p(income) ~ age * sex", "wait ~ area + ill", "age ~ 1")
MODELS: Final = (
    ("ill ~ age + sex", "logistic"),
    ("dead ~ wait", "probit"),
    ("sex ~ age", "logistic"),
    ("children ~ age + sex", "poisson"),
    ("wait ~ age", "gamma"),
    ("income ~ age", "huber"),
)
LAWS: Final = (tc.families.Normal(mean=(0, 100), sd=(1, 50)), tc.families.Gamma(rate=(0.001, 10)))
ROW: Final = {"age": 30, "sex": "m", "children": 1, "wait": 3, "area": "n", "ill": True}


def table(rows: int, kind: str, rng: np.random.Generator) -> pd.DataFrame:
    """Return a table of so many rows; kind: which cells are odd."""
    age, income = rng.normal(50, 15, rows), rng.lognormal(10, 1, rows)
    if kind == "equal":
        age, income = np.full(rows, 40.0), np.zeros(rows)
    if kind == "bounds":
        age, income = rng.choice([0.0, 100.0], rows), rng.choice([-1e9, 1e9, np.inf, np.nan], rows)
    kept = {"missing": rng.random(rows) > 0.5, "none": np.zeros(rows, dtype=bool)}.get(kind, np.ones(rows, dtype=bool))
    days = pd.to_datetime("2020-01-01") + pd.to_timedelta(rng.integers(0, 700, rows), unit="D")
    return pd.DataFrame(
        {
            "age": np.where(kept, age, np.nan),
            "income": np.where(kept, income, np.nan),
            "children": np.where(kept, rng.poisson(1, rows).astype(float), np.nan),
            "sex": rng.choice(["m", "f"], rows),
            "area": rng.choice(["n", "s", "e"], rows, p=[0.97, 0.02, 0.01]),
            "ill": rng.random(rows) < 0.1,
            "wait": rng.exponential(20, rows),
            "dead": rng.random(rows) < 0.5,
            "day": days,
            "weight": rng.uniform(0.5, 3, rows),
            "diagnosis": rng.choice(["a", "b", "ccc", ""], rows),
            "person": rng.integers(0, max(1, rows // 3), rows).astype(str),
        }
    )


def question(one: random.Random) -> tc.Query[Any]:
    """Return a question of any kind; errors of Tacit's where arguments do not go together."""
    column, pair = one.choice(NUMBERS), tuple(one.sample(NUMBERS, 2))
    where = one.choice((None, None, "age > 40", "sex = 'm' and children >= 2", "income is null", "ill"))
    by, weights = one.choice(((), (), "sex", "area", ("sex", "ill"))), one.choice((None, None, None, "weight"))
    interval, joint = one.random() < 0.7, one.choice((column, ("age", "wait")))
    probs = one.choice(((0.5,), (0.25, 0.5, 0.75), tuple(np.round(np.arange(0.05, 1, 0.05), 2))))
    bins, cells = (
        one.choice((12, "auto", "density", 2, 1)),
        one.choice((column, pair, ("sex", column), ("area", "ill"))),
    )
    formula, model = one.choice(MODELS)
    option = one.choice(({}, {"winsorize": True}, {"one_step": True}, {"variance": "subsampling"}))
    makers: tuple[Callable[[], tc.Query[Any]], ...] = (
        lambda: tc.Count(by=by, where=where, weights=weights),
        lambda: tc.Sum(
            one.choice((column, pair)), by=by, where=where, weights=weights, laplace_draws=one.choice((1, 3))
        ),
        lambda: tc.Mean(one.choice((column, pair, "ill")), by=by, where=where, weights=weights),
        lambda: tc.Variance(column, by=by, where=where, interval=interval),
        lambda: tc.Quantiles(column, probs, by=by, where=where, interval=interval),
        lambda: tc.Range(column, where=where),
        lambda: tc.Histogram(cells, bins=bins, where=where, missing=not interval, outside=one.random() < 0.5),
        lambda: tc.Histogram(("wait", "dead", "sex"), bins={"wait": one.choice((10, 25, [0, 1, 10, 100]))}),
        lambda: tc.Regression(
            one.choice(FORMULAS), where=where, weights=weights, method=one.choice(("scores", "auto"))
        ),
        lambda: tc.Regression(formula, model=model, where=where),
        lambda: tc.DataQuality(one.choice(((), ("age", "sex")))),
        lambda: tc.UnlistedLevels("diagnosis", where=where),
        lambda: tc.KernelDensity(joint, where=where),
        lambda: tc.OrthogonalSeries(joint, basis=one.choice(("cosine", "fourier", "legendre", "haar")), where=where),
        lambda: tc.Bernstein(column, order=one.choice((1, 2, 3, 4)), where=where),
        lambda: tc.RiskFunction("ill", one.choice(("age", ("age", "wait"))), loss=one.choice(("logistic", "hinge"))),
        lambda: tc.KSDataset(column, cells=one.choice((20, 100)), where=where),
        lambda: tc.Bootstrap(one.choice((tc.Mean("age"), tc.Count(by="sex"), tc.Sum("income"))), replicates=5),
        lambda: tc.SampleAndAggregate("age", one.choice(LAWS), **option),
        lambda: tc.SufficientStatistics("age", LAWS[0]),
    )
    return one.choice(makers)()


def words(release: Any) -> dict[str, Callable[[], Any]]:
    """Return what a release is asked, by name; a release without a word has none of it."""
    column = release.columns[0] if getattr(release, "columns", ()) else ""
    last = release.columns[-1] if column else ""
    return {
        "text": lambda: str(release.estimate()),
        "frame": lambda: release.estimate().summary().to_frame(),
        "json": lambda: release.estimate().summary().to_json(),
        "intervals": lambda: release.estimate().intervals(0.9),
        "table": lambda: str(release.estimate("table")),
        "methods": lambda: tc.methods(release.estimate()),
        "proportions": lambda: release.estimate().proportions(),
        "pairs": lambda: release.estimate().pairs(),
        "bootstrap": lambda: release.estimate().bootstrap(lambda m: next(iter(m.values())), draws=50),
        "sample": lambda: release.sample(20, rng=1),
        "moments": lambda: str(release.moments(column)),
        "quantiles": lambda: str(release.quantiles(column, [0.5])),
        "smooth density": lambda: str(release.smooth_density(column)),
        "density": lambda: str(release.density(column)),
        "density at": lambda: str(release.density([20, 30])),
        "density alone": lambda: str(release.smooth_density()),
        "distribution": lambda: str(release.cdf(column)),
        "distribution at": lambda: str(release.cdf(["2020-05-01", "2021-01-01"])),
        "all moments": lambda: str(release.moments()),
        "median": lambda: str(release.quantiles([0.5])),
        "band": lambda: release.smooth_density().intervals([20, 30], simultaneous=True),
        "gini": lambda: str(release.gini(column)),
        "survival": lambda: str(release.survival("wait", "dead")),
        "survival by": lambda: str(release.survival("wait", "dead", by="sex").median()),
        "fit": lambda: str(release.fit(f"{last} ~ {column}")),
        "synthetic sets": lambda: release.synthetic_sets(2, rng=1),
        "predict": lambda: str(release.predict(ROW)),
    }


def budget_of(price: dict[str, float], neighbors: str) -> tc.Budget:
    """Return a budget that can pay a price."""
    if "rho" in price:
        return tc.Budget(rho=50, neighbors=neighbors)
    pair = {"delta": 1e-5} if "delta" in price else {}
    return tc.Budget(epsilon=30, neighbors=neighbors, **pair)


def found(action: Callable[[], Any]) -> Exception | None:
    """Return the error of an action that is not Tacit's own answer; None where there is none.

    A word that a release does not have, or that takes no column, is no error.
    """
    try:
        action()
    except tc.TacitError as error:
        return error if error.code == "M01" else None
    except (AttributeError, TypeError) as error:
        absent = "has no attribute" in str(error) or "positional argument" in str(error)
        return None if absent else error
    except Exception as error:
        return error
    return None


def asked(one: random.Random, rng: np.random.Generator) -> list[tuple[str, Exception, str]]:
    """Ask one question: return where an error came that is no answer, the error, and what was asked."""
    rows, kind, price = one.choice(SIZES), one.choice(KINDS), one.choice(PRICES)
    neighbors, persons = one.choice(("replace-one", "add-remove")), one.random() < 0.25
    schema = tc.Schema({**SCHEMA, **({"person": tc.PrivacyUnit(max_rows=5)} if persons else {})})
    try:
        query = question(one)
    except tc.TacitError:
        return []
    said, made = f"{query} · {rows} rows, {kind}, {price}, {neighbors}, persons: {persons}", list[Any]()
    budget, errors = budget_of(price, neighbors), list[tuple[str, Exception, str]]()

    def look(stage: str, action: Callable[[], Any]) -> None:
        error = found(action)
        if error is not None:
            errors.append((stage, error, said))

    def release() -> None:
        curator = tc.Curator(table(rows, kind, rng), schema, name="t", budget=budget, size_hint=max(rows, 10))
        made.append(curator.release(query, **price))

    look("plan", lambda: str(tc.plan(query, schema, rows=max(rows, 1), budget=budget, **price)))
    look("release", release)
    for each in made:
        back = release_from_dict(json.loads(each.to_json()))
        if back != each:
            errors.append(("read back", ValueError("another release"), said))
        for stage, action in words(each).items():
            look(stage, action)
    return errors


def main() -> int:
    """Ask, and print each place in the code once from which an error came."""
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--questions", type=int, default=400)
    options.add_argument("--seed", type=int, default=0)
    options.add_argument("--show", type=int, default=20)
    given = options.parse_args()
    warnings.simplefilter("error", RuntimeWarning)
    one, rng = random.Random(given.seed), np.random.default_rng(given.seed)
    places: Counter[tuple[str, str, int]] = Counter()
    for _ in range(given.questions):
        for stage, error, said in asked(one, rng):
            last = traceback.extract_tb(error.__traceback__)[-1] if error.__traceback__ else None
            place = (type(error).__name__, last.filename if last else "", (last.lineno or 0) if last else 0)
            places[place] += 1
            if places[place] == 1 and len(places) <= given.show:
                print(f"{stage}: {place[0]} at {place[1]}:{place[2]}: {str(error)[:200]}\n    {said}", flush=True)
    print(f"{given.questions} questions; errors that are no answers: {sum(places.values())}, from {len(places)} places")
    return 1 if places else 0


if __name__ == "__main__":
    sys.exit(main())
