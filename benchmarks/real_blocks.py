"""Real tables by blocks, beside fits without privacy: visits to doctors, delays of flights; docs/reference/blocks.md.

    python benchmarks/real_blocks.py [--flights flights_200000.parquet] [--quick]

RAND's health insurance experiment comes with statsmodels.  Flights are read where a path is given, and stay there: a
Parquet file with the column `delay`, minutes.  Releases are simulated with seeded labels and noise.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import statsmodels.api as sm
from pages import put
from scipy import stats

import tacit as tc
from tacit import families as fam

PAGE = Path(__file__).parents[1] / "docs" / "reference" / "blocks.md"
REGRESSORS = ["lncoins", "physlm", "disea"]
HEAD = "| | without privacy | std. error | blocks, no noise | off by | std. error | SD of releases | privacy |\n"
LINE = "|---|---:|---:|---:|---:|---:|---:|---:|"


def negative_binomial(row: Any, theta: Any) -> Any:
    """Log-probability of a count with mean exp(b0 + b·x) and variance m + m²·alpha (statsmodels' NB2)."""
    import jax.numpy as jnp
    from jax.scipy.special import gammaln

    mean = jnp.exp(theta.intercept + row[1:] @ theta.slopes)
    size = 1 / theta.alpha
    y = row[0]
    choose = gammaln(y + size) - gammaln(size) - gammaln(y + 1)
    return choose + size * jnp.log(size / (size + mean)) + y * jnp.log(mean / (size + mean))


def table(query: tc.SampleAndAggregate, data: pd.DataFrame, reference: pd.DataFrame, repeats: int, rho: float) -> str:
    """One line a parameter; *off by* is blocks without noise less the fit, in standard errors of the fit."""
    schema = tc.Schema({name: tc.Real() for name in query.what})
    made = tc.testing.simulate(query, data[list(query.what)], schema, rho=rho, repeats=repeats, rng=1)
    errors = np.array([np.atleast_1d(one.estimate().std_error) for one in made.releases[:50]]).mean(axis=0)
    spread = made.estimates.std(axis=0, ddof=1)
    lines: list[str] = []
    for i, name in enumerate(made.terms):
        fit, error = reference.loc[name]
        cells = [name, f"{fit:.4g}", f"{error:.2g}", f"{made.exact[i]:.4g}", f"{(made.exact[i] - fit) / error:+.1f}"]
        cells += [f"{errors[i]:.2g}", f"{spread[i]:.2g}", f"{min(1.0, (spread[i] / errors[i]) ** 2):.0%}"]
        lines.append(f"| {' | '.join(cells)} |")
    k = made.shape.blocks.blocks  # type: ignore[union-attr]
    said = "" if query.bias == "observed" else f', `bias="{query.bias}"`'
    said += f", `parameters={query.parameters[0]!r}`" if query.parameters else ""
    return f"{k:,} blocks{said}, ρ = {rho:g}.\n\n{HEAD}{LINE}\n" + "\n".join(lines)


def visits(repeats: int) -> list[str]:
    data = sm.datasets.randhie.load_pandas().data.astype(float)
    y, x = data["mdvis"], sm.add_constant(data[REGRESSORS])
    poisson = sm.GLM(y, x, family=sm.families.Poisson()).fit(cov_type="HC0")
    negative = sm.NegativeBinomial(y, x).fit(disp=False, cov_type="HC0")
    names = ["intercept", "slope1", "slope2", "slope3"]
    first = pd.DataFrame({"fit": poisson.params.to_numpy(), "error": poisson.bse.to_numpy()}, index=names)
    second = pd.DataFrame(
        {"fit": negative.params.to_numpy(), "error": negative.bse.to_numpy()}, index=[*names, "alpha"]
    )
    box: dict[str, Any] = {"intercept": (-1, 2), "slopes": [(-0.5, 0.5), (-1, 2), (-0.1, 0.2)]}
    what = ["mdvis", *REGRESSORS]
    law = tc.Model(negative_binomial, **box, alpha=(0.3, 5), columns=4)
    return [
        f"### Visits to doctors: {len(data):,} people-years of RAND's health insurance experiment\n",
        "Outpatient visits by log coinsurance, physical limitation and number of chronic diseases.",
        "Errors of the fits without privacy are robust (HC0).\n",
        "Poisson regression, beside statsmodels' `GLM`:",
        f"{_ways(what, fam.PoissonRegression(3, **box), data, first, repeats)}\n",
        "Negative binomial regression, a log-density of one's own (`tc.Model`), beside statsmodels'",
        f"`NegativeBinomial`: {_ways(what, law, data, second, repeats, (WAYS[0], WAYS[2]))}",
    ]


WAYS: tuple[dict[str, Any], ...] = (
    {"method": "tuned"},
    {"bias": "cox-snell", "method": "tuned"},
    {"blocks": 100},
)


def _ways(what: Any, model: Any, data: Any, reference: Any, repeats: int, ways: Any = WAYS) -> str:
    found = [table(tc.SampleAndAggregate(what, model, **words), data, reference, repeats, 0.5) for words in ways]
    return "\n\n".join(found)


def flights(path: Path, repeats: int) -> list[str]:
    data = pd.read_parquet(path, columns=["delay"]).astype(float).dropna()
    x = data["delay"].to_numpy()
    student = fam.StudentT(location=(-30, 30), scale=(2, 40), df=(1, 10))
    laplace = fam.Laplace(location=(-30, 30), scale=(2, 60))
    df, location, scale = stats.t.fit(x, 2, loc=np.median(x), scale=10)
    places = {"location": location, "scale": scale, "df": df}
    first = pd.DataFrame({"fit": places, "error": dict(zip(student.names, _robust(student, places, x), strict=True))})
    middle = float(np.median(x))
    places = {"location": middle, "scale": float(np.abs(x - middle).mean())}
    spread = np.sqrt(np.mean((np.abs(x - middle) - places["scale"]) ** 2) / len(x))
    density = stats.gaussian_kde(x[::20], 0.02)(middle)[0]
    alone = [{"parameters": "location", **words} for words in WAYS[:2]]
    errors = {"location": 0.5 / density / np.sqrt(len(x)), "scale": float(spread)}
    second = pd.DataFrame({"fit": places, "error": errors})
    return [
        f"### Delays of {len(x):,} flights, minutes\n",
        "Delays are skewed and in whole minutes: neither law is theirs, and what is estimated is the law of",
        "the family that is nearest to them. Fits without privacy: scipy's `t.fit`; the median and the mean",
        "distance from it. Their errors are robust.\n",
        f"Student t: {_ways('delay', student, data, first, repeats, (*WAYS[:2], *alone))}\n",
        f"Laplace: {_ways('delay', laplace, data, second, repeats, WAYS[:1])}",
    ]


def _robust(model: Any, theta: dict[str, float], x: np.ndarray) -> np.ndarray:
    """Standard errors by the sandwich, derivatives by differences."""
    at = np.array([theta[name] for name in model.names])
    step = 1e-4 * np.abs(at)
    moves = np.diag(step)
    each = zip(moves, step, strict=True)
    scores = np.stack([(model.logpdf(x, at + m) - model.logpdf(x, at - m)) / 2 / s for m, s in each])

    def mean(place: np.ndarray) -> float:
        return float(model.logpdf(x, place).mean())

    def second(a: np.ndarray, b: np.ndarray) -> float:
        return (mean(at + a + b) - mean(at + a - b) - mean(at - a + b) + mean(at - a - b)) / 4

    hessian = np.array([[second(a, b) for b in moves] for a in moves]) / np.outer(step, step)
    bread = np.linalg.inv(hessian)
    return np.sqrt(np.diag(bread @ np.cov(scores) @ bread) / len(x))


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--flights", type=Path)
    given = parser.parse_args()
    repeats = 50 if given.quick else 2_000
    parts = [
        "## Real tables\n",
        "*Off by*: the mean of the blocks without noise less the fit of all rows, in its standard errors: what blocks",
        "themselves cost. *Std. error*: as the release reports it, both errors, its mean over releases; *SD of",
        f"releases*: of {repeats:,} simulated ones of the same blocks, noise alone; *privacy*: its part of the",
        "reported variance. Real rows follow no family exactly, and small blocks show it: fewer blocks are nearer to",
        'the fit, and those that trust the law (`bias="cox-snell"`) are further from it.\n',
        *visits(repeats),
    ]
    parts += ["", *flights(given.flights, repeats)] if given.flights else []
    print("\n".join(parts))
    if not given.quick:
        put(PAGE, "real_blocks.py", "\n".join(parts))


if __name__ == "__main__":
    main()
