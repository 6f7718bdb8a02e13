"""The main job, on real people: the RAND Health Insurance Experiment, 20,190 person-years (statsmodels).

Run it with `make demo`.  A row is one person in one year.  The data has no person id, so the promise below protects a
row, a person's year, and not a person across years: with an id, the schema would say PrivacyUnit.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

import tacit as tc

FOLDER = Path("demo-output")


def person_years():
    """The experiment's table, its codes spelt out row by row: no value depends on another row."""
    from statsmodels.datasets import randhie

    raw = randhie.load_pandas().data
    share = np.rint(np.exp(raw["lncoins"]) - 1).astype(int)  # what a family pays of a bill, in per cent
    plan = np.select([share == 0, share <= 25, share <= 50], ["free", "pays 25%", "pays 50%"], default="pays 95%")
    table = raw[["mdvis", "hlthp", "physlm"]].copy()
    table["plan"] = np.where(raw["idp"] == 1, "own deductible", plan)
    return table


def main() -> None:
    """Ask, release, infer."""
    FOLDER.mkdir(exist_ok=True)
    schema = tc.Schema(
        {
            "visits": tc.Integer(0, 40, units="visits a year", column="mdvis"),
            "poor health": tc.Boolean(column="hlthp"),
            "plan": tc.Category(["free", "pays 25%", "pays 50%", "pays 95%", "own deductible"]),
        }
    )
    print("RAND Health Insurance Experiment: what did people do when the plan paid more of the bill?")
    print("A row is one person in one year; nobody outside may see one.")
    print("This table has no person id: the promise below is made for each row, and standard errors count rows as")
    print("independent, though a person is in several of them.")
    print("Bounds and levels are public facts, not taken from the data.")
    print()
    curator = tc.Curator(
        person_years(), schema, name="rand-hie", budget=tc.Budget(rho=0.1), ledger=FOLDER / "rand.ledger"
    )
    print(curator)
    print()
    print("Before anything is spent, the plan says what a release would cost and show:")
    print(curator.plan(tc.Mean("visits", by="plan"), rho=0.02).summary())
    print("Visits will turn out to spread less than that: shorter intervals, and a larger part of them due to privacy.")
    print()
    visits = curator.release(tc.Mean("visits"), rho=0.01, name="visits")
    poor = curator.release(tc.Mean("poor health"), rho=0.01, name="poor health")
    by_plan = curator.release(tc.Mean("visits", by="plan"), rho=0.02, name="visits by plan")
    sizes = curator.release(tc.Count(by="plan"), rho=0.01, name="person-years by plan")
    spread = curator.release(tc.Variance("visits"), rho=0.01, name="variance of visits")
    for release in (visits, poor, by_plan, sizes, spread):
        print(release.estimate())
        print()
    plans = by_plan.estimate()
    print("Does a free plan send people to the doctor?  Both errors are in this interval:")
    print(plans.contrast("free - `pays 95%`"))
    print()
    plans.plot().save(str(FOLDER / "visits-by-plan.png"))
    sizes.estimate(target="table").plot().save(str(FOLDER / "person-years-by-plan.png"))
    plans.summary().save(FOLDER / "visits-by-plan.tex")
    by_plan.save(FOLDER / "visits-by-plan.release.json")
    print(f"The promise was {curator.budget}; {curator.remaining}.")
    print("Every answer is in the ledger: run this again, and the same answers come back at no cost.")
    print(f"Pictures, a LaTeX table and a release that is safe to publish are in {FOLDER}/.")


if __name__ == "__main__":
    main()
