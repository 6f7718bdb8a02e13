"""How slopes of rows far out differ from those of the others in real tables (`far_rows.py`).

    python benchmarks/far_rows.py [--people pums_california_10000.parquet] [--flights flights_200000.parquet]

Without privacy.  Of each linear regression, least squares of whole rows beside that of rows shortened at three reaches,
as a release shortens them; a line for each regressor of which at least a tenth of its variance is lost and whose slope
is at least three standard errors: the part lost, L; the slope and its shift in standard errors of whole rows; and
theta, the shift over L times the slope of shortened rows.  Tables of statsmodels; people of the census and flights
where a path is given.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

Array = np.ndarray
ROOMS = (0.5, 2.0, 4.0)
LEAST_LOST, LEAST_SLOPE = 0.1, 3.0


@dataclass(frozen=True)
class Question:
    """A linear regression of a table."""

    table: str
    response: str
    y: Array
    X: pd.DataFrame


def questions(people: str | None, flights: str | None) -> Iterator[Question]:
    """Yield the regressions."""
    import statsmodels.api as sm

    rand = sm.datasets.randhie.load_pandas().data
    some = rand[["lncoins", "idp", "lpi", "fmde", "physlm", "disea"]]
    yield Question("RAND", "log1p(mdvis)", np.log1p(rand["mdvis"].to_numpy()), some)
    yield Question("RAND", "mdvis", rand["mdvis"].to_numpy(), some)
    fair = sm.datasets.fair.load_pandas().data
    some = fair[["age", "yrs_married", "children", "religious", "educ", "affairs"]]
    yield Question("Fair", "rate_marriage", fair["rate_marriage"].to_numpy(), some)
    engel = sm.datasets.engel.load_pandas().data
    yield Question("Engel", "foodexp", engel["foodexp"].to_numpy(), engel[["income"]])
    cancer = sm.datasets.cancer.load_pandas().data
    yield Question("cancer", "cancer", cancer["cancer"].to_numpy(), cancer[["population"]])
    if people:
        data = pd.read_parquet(people)
        yield Question("people", "income", data["income"].to_numpy(), data[["age", "educ", "sex", "latino"]])
        yield Question("people", "educ", data["educ"].to_numpy(), data[["age", "income"]])
        yield Question("people", "married", data["married"].to_numpy(), data[["age", "income"]])
    if flights:
        data = pd.read_parquet(flights)
        yield Question("flights", "delay", data["delay"].to_numpy(), data[["distance", "time"]])
        yield Question("flights", "distance", data["distance"].to_numpy(), data[["delay", "time"]])


def lines(one: Question) -> Iterator[dict[str, Any]]:
    """Yield what is found of each regressor at each reach."""
    y, X = np.asarray(one.y, dtype=float), one.X.to_numpy(dtype=float)
    z = (X - X.mean(axis=0)) / X.std(axis=0)
    rows = np.column_stack([np.ones(len(y)), z])
    whole = np.linalg.lstsq(rows, y, rcond=None)[0]
    inverse, scores = np.linalg.inv(rows.T @ rows), rows * (y - rows @ whole)[:, None]
    errors = np.sqrt(np.diag(inverse @ (scores.T @ scores) @ inverse))
    root = np.linalg.cholesky(rows.T @ rows / len(y))
    norm = np.linalg.norm(np.linalg.solve(root, rows.T), axis=0)
    for room in ROOMS:
        w = np.minimum(1, (np.sqrt(rows.shape[1]) + room) / norm)[:, None]
        short = np.linalg.solve((rows * w).T @ rows, (rows * w).T @ y)
        for j, name in enumerate(one.X.columns, start=1):
            lost = 1 - float((w[:, 0] * z[:, j - 1] ** 2).mean())
            if lost >= LEAST_LOST and abs(whole[j]) >= LEAST_SLOPE * errors[j]:
                shift = short[j] - whole[j]
                yield {
                    "name": name,
                    "room": room,
                    "lost": lost,
                    "slope": whole[j] / errors[j],
                    "shift": shift / errors[j],
                    "theta": shift / (lost * short[j]),
                }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--people", help="path of people of the census")
    parser.add_argument("--flights", help="path of flights")
    given = parser.parse_args()
    found = list[float]()
    print("table | response | regressor | rows | room | L | slope, errors | shift, errors | theta")
    for one in questions(given.people, given.flights):
        for made in lines(one):
            found.append(made["theta"])
            size = f"{made['room']:g} | {made['lost']:.2f}"
            print(
                f"{one.table} | {one.response} | {made['name']} | {len(one.y):,} | {size} | "
                f"{made['slope']:.1f} | {made['shift']:.2f} | {made['theta']:.2f}"
            )
    sizes = np.abs(found)
    print(
        f"= {len(found)} lines; theta: median {np.median(found):.2f}, "
        f"root mean square {np.sqrt((sizes**2).mean()):.2f}, {100 * (sizes <= 1).mean():.0f}% within 1"
    )


if __name__ == "__main__":
    main()
