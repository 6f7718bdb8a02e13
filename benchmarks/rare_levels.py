"""Linear regressions with a rare level whose responses have a long tail: how far they are from the table's own.

    python benchmarks/rare_levels.py [--releases 8] [--rho 1]

Flights by part of the day (2% at night, 7 standard deviations from the mean), delays with a long tail.  The products of
rows, and so the pilot, shorten rows together with their response: at night those of long delays most.  Where rows of
the night do not reach far enough, the step from the pilot counts them less than the products that it divides by, and
makes up for a part alone: while reach did not follow the share of the first level, coefficients were off by 4 standard
errors.  Printed is by how many they differ from the table's own, night being the first level and the last.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any, Final

import numpy as np

import tacit as tc

FILE: Final = Path(__file__).parents[2] / "shared" / "data" / "flights_200000.parquet"
BOUNDS: Final = (-60.0, 300.0)
PARTS: Final = ("night", "morning", "afternoon", "evening")


def rows(real: bool) -> dict[str, Any]:
    """Return the flights, with their delays or with normal errors about the means of parts."""
    import pandas as pd

    whole: Any = pd.read_parquet(FILE)
    part = np.digitize(whole["time"].to_numpy(), [6, 12, 18])
    delay = whole["delay"].to_numpy().astype(float).clip(*BOUNDS)
    if not real:
        means = np.array([delay[part == one].mean() for one in range(len(PARTS))])
        delay = (means[part] + delay.std() * np.random.default_rng(0).normal(size=len(delay))).clip(*BOUNDS)
    return {"delay": delay, "distance": whole["distance"].to_numpy(), "part": np.array(PARTS)[part]}


def main() -> None:
    """Print how far released coefficients are from the table's own."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--releases", type=int, default=8)
    parser.add_argument("--rho", type=float, default=1.0)
    given = parser.parse_args()
    for real, order in ((True, PARTS), (True, PARTS[::-1]), (False, PARTS)):
        table = rows(real)
        columns = {"delay": tc.Real(*BOUNDS), "distance": tc.Integer(0, 5_000), "part": tc.Category(list(order))}
        marks = [table["part"] == one for one in order[1:]]
        matrix = np.column_stack([np.ones(len(marks[0])), table["distance"], *marks]).astype(float)
        own = np.linalg.lstsq(matrix, table["delay"], rcond=None)[0]
        curator = tc.Curator(table, tc.Schema(columns), name="flights", budget=tc.Budget(rho=1_000))
        off = list[Any]()
        for i in range(given.releases):
            release = curator.release(tc.Regression("delay ~ distance + part"), rho=given.rho, fresh=i > 0)
            found = release.estimate()
            off.append((found.values - own) / found.std_errors)
        print(
            "delays" if real else "normal errors",
            dict(zip(found.terms, np.mean(off, axis=0).round(2).tolist(), strict=True)),
        )


if __name__ == "__main__":
    main()
