"""What stated errors of linear regressions of real tables consist of, beside what clipping does to these very tables.

    python benchmarks/real_clip_parts.py [--people FILE] [--repeats 60] [--only LINE ...]

Tables, questions and prices of `frontier_real.py`, linear ones.  One table is released again and again.  A line has
of each coefficient the stated error of noise alone, and what is allowed for clipped residuals (root mean squares, those
of `target="table"`); the shift, the mean of releases less least squares, with that of a release without noise: what
clipping alone does; all over the deviation of releases.  At last the part of intervals of the table's own coefficients
that hold them.  Prints to the terminal.  Deterministic: seeds are constants.
"""

from __future__ import annotations

import argparse

import numpy as np
from frontier_real import PRICES, Table, people, rand

import tacit as tc
from tacit.method.regression.estimate import fit_release
from tacit.privacy import Cost
from tacit.testing.simulated_regressions import rows_of

Z = 1.959964


def show(table: Table, query: tc.Regression, price: Cost, repeats: int) -> None:
    """Print the lines of a question."""
    rng = np.random.default_rng([18, 5])
    rows = rows_of(query, table.rows, table.schema, price)
    own = rows.ordinary()[0]
    fits = [fit_release(rows.release(rng), "table") for _ in range(repeats)]
    bare = fit_release(rows.expected(rows.size), "table")
    told = [fit for fit in fits if not any(fit.reasons)]
    values = np.array([fit.values for fit in told])
    noise, clipped = (
        np.sqrt(np.mean([np.diag(one) for one in part], axis=0))
        for part in ([fit.cov_privacy for fit in told], [fit.cov_sampling for fit in told])
    )
    held = np.mean([np.abs(fit.values - own) < Z * fit.std_errors for fit in told], axis=0)
    sd = values.std(axis=0)
    print(f"{table.name}: {query.formula}, {price}, {len(told)} of {repeats}", flush=True)
    for j, name in enumerate(told[0].names):
        shift, alone = (values[:, j].mean() - own[j]) / sd[j], (bare.values[j] - own[j]) / sd[j]
        words = f"noise {noise[j] / sd[j]:.2f}, allowed {clipped[j] / sd[j]:.2f}"
        print(f"    {name}: {words}, shift {shift:+.2f} ({alone:+.2f}), held {100 * held[j]:.0f}%", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--people", default=None)
    parser.add_argument("--repeats", type=int, default=60)
    parser.add_argument("--only", type=int, nargs="*", default=None, help="places of lines")
    options = parser.parse_args()
    tables = (rand(), *([people(options.people)] if options.people else []))
    lines = [
        (table, one, price) for table in tables for one in table.queries if one.model == "linear" for price in PRICES
    ]
    for place, (table, query, price) in enumerate(lines):
        if options.only is None or place in options.only:
            show(table, query, price, options.repeats)


if __name__ == "__main__":
    main()
