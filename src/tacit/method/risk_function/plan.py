"""Expected precision of a risk function from public facts: coefficients where all cells are equally frequent."""

from __future__ import annotations

from statistics import NormalDist
from typing import cast

import numpy as np

from tacit.method.risk_function.encoding import table
from tacit.method.risk_function.estimate import estimate
from tacit.method.risk_function.query import RiskFunction
from tacit.method.shared.measurement import Measurement
from tacit.method.shared.plan_expected import Expected
from tacit.method.shared.plan_shares import NOTHING
from tacit.method.shared.simulated_parts import simulated
from tacit.schema.expectations import Expectations


def expected(shape: Measurement, rows: int, level: float, expect: Expectations = NOTHING) -> list[Expected]:
    """Return an entry for each coefficient; what is said of values beforehand does not enter."""
    query = cast(RiskFunction, shape.query)
    facts = shape.columns[0].form.parameters
    even = table(query.loss, query.box, query.steps, shape.variables).integers.mean(axis=1)
    integers = np.array([*even, *([float(facts["presence"])] if facts["presence"] else [])])
    integers = np.rint(rows * facts.get("share", 1) * integers).astype(np.int64)
    found = estimate(simulated(shape, (integers[None, :],)))
    z = NormalDist().inv_cdf(0.5 + level / 2)
    entries = list[Expected]()
    for j, term in enumerate(found.terms):
        sampling, noise = float(found.sampling[j, j]), float(found.privacy[j, j])
        whole, known = sampling + noise, found.reasons[j] is None
        width = 2 * z * float(np.sqrt(whole)) if known else float("inf")
        share = noise / whole if whole > 0 else 0.0
        without = 2 * z * float(np.sqrt(sampling))
        entries.append(Expected(term, float(found.values[j]), width, share, without, float(np.sqrt(whole)), rows))
    return entries
