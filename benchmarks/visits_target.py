"""Why releases of the Poisson model of RAND's visits are off the fit to the same rows: what do scores of counts weigh?

    python benchmarks/visits_target.py [--repeats 25]

Bounded scores of counts count rows less where the variance is large beside the mean, as a negative binomial likelihood
does.  On the same rows that is another estimate than the Poisson likelihood's: by chance where the mean is log-linear,
and everywhere where it is not.  Printed are differences from the Poisson fit to the same rows, of the negative binomial
fit without privacy and of releases: of the visits, of visits cut at 20, and of tables of counts drawn from the Poisson
fit's own means with the visits' spread, whose differences have mean 0.
Prints to the terminal.  Deterministic: seeds are constants.
"""

from __future__ import annotations

import argparse

import numpy as np
from frontier_real import Table, rand

from tacit.method.regression.estimate import fit_release
from tacit.privacy import Cost
from tacit.testing.simulated_regressions import rows_of

TERMS = ("lncoins", "idp", "physlm", "disea")
PRICES = (Cost.of(rho=1), Cost.of(rho=0.1))
CUT, HIGHEST, DRAWN = 20, 100, 6


def released(table: Table, counts: np.ndarray, price: Cost, repeats: int, rng: np.random.Generator) -> np.ndarray:
    """Return mean differences of releases from the Poisson fit to the same rows, and those over standard errors."""
    rows = rows_of(table.queries[-1], {**table.rows, "mdvis": counts.astype(int)}, table.schema, price)
    fits = [fit for fit in (fit_release(rows.release(rng)) for _ in range(repeats)) if not any(fit.reasons)]
    moved = np.mean([fit.values for fit in fits], axis=0) - rows.ordinary()[0]
    return np.array([moved, moved / np.median([fit.std_errors for fit in fits], axis=0)])


def main() -> None:
    import statsmodels.api as sm

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=25)
    repeats, table, rng = parser.parse_args().repeats, rand(), np.random.default_rng([16, 11])
    y = table.rows["mdvis"].astype(float)
    x = np.column_stack([np.ones(len(y)), *(table.rows[name].astype(float) for name in TERMS)])
    plain = sm.GLM(y, x, family=sm.families.Poisson()).fit()
    mean = plain.mu
    spread = float(((y - mean) ** 2 - mean).sum() / (mean**2).sum())
    print(f"terms: Intercept, {', '.join(TERMS)}; spread {spread:.2f}; largest count {y.max():.0f}")
    tables = {"visits": y, f"visits cut at {CUT}": np.minimum(y, CUT)}
    for number in range(DRAWN):
        drawn = rng.poisson(mean * rng.gamma(1 / spread, spread, len(y)))
        tables[f"drawn {number + 1}"] = np.minimum(drawn, HIGHEST)
    for name, counts in tables.items():
        family = sm.families.NegativeBinomial(alpha=spread)
        poisson, other = (sm.GLM(counts, x, family=one).fit() for one in (sm.families.Poisson(), family))
        print(f"{name}: negative binomial fit {(other.params - poisson.params).round(4)}")
        for price in PRICES if counts is y else PRICES[:1]:
            moved, shift = released(table, counts, price, repeats, rng)
            print(f"  {price}: {moved.round(4)}, in standard errors {shift.round(2)}", flush=True)


if __name__ == "__main__":
    main()
