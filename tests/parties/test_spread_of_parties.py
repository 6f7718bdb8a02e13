"""The summary of a study says how far parties differ: one that counts hours where others count days is seen."""

from __future__ import annotations

from typing import Any

import numpy as np
from test_returned import study_of

import tacit as tc

ASKED = (('query = "Mean"\ncolumns = "stay"\nby = "sex"', 'query = "Mean"\ncolumns = "stay"'),)


def answers(study: tc.Study, hours: str | None) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name in ("st-mary", "st-luke", "st-john"):
        rng = np.random.default_rng(len(found))
        stay = rng.poisson(9, 2_000) * (24 if name == hours else 1)
        table = {"stay": stay, "sex": rng.choice(["female", "male"], 2_000)}
        found[name] = tc.Curator(table, study, name=name).release(study)
    return found


def test_variation_beyond_both_errors_is_in_the_summary() -> None:
    study = study_of(*ASKED, ('effects = "common"', 'effects = "random"'))
    shown = str(study.combine(answers(study, "st-luke")).summary())
    (line,) = [one for one in shown.splitlines() if "(I²)" in one]
    assert line.startswith("differences between parties beyond sampling and noise (I²): stay 100 %")
    assert "cells" not in line  # sums over parties have no such measure


def test_parties_that_agree_have_little_of_it() -> None:
    study = study_of(*ASKED)
    made = study.combine(answers(study, None))
    (line,) = [one for one in str(made.summary()).splitlines() if "(I²)" in one]
    share = float(line.split("stay ")[1].split(" %")[0])
    assert share == float(f"{100 * made['stay'].estimate().I2:.0f}")
    assert share < 97  # chi-square on 2 df beyond 66: probability 5e-15
