"""Expected precision of levels that nobody listed: which counts are shown with which probability, and how precisely."""

from __future__ import annotations

import math
from typing import Final

import numpy as np

from tacit.estimates.noisy_terms.selected_counts import absent, conditional, reach
from tacit.method.shared.measurement import Measurement, PartSpec
from tacit.method.shared.plan_expected import Expected
from tacit.method.shared.plan_shares import NOTHING
from tacit.schema.expectations import Expectations

SHOWN_WITH: Final = (0.05, 0.5, 0.95)
"""Probabilities of being shown, for which a plan names the count of a level."""


def expected(shape: Measurement, rows: int, level: float, expect: Expectations = NOTHING) -> list[Expected]:
    """Return one entry for each of a few levels, by how probably they are shown, and one for the levels that are not.

    Widths are of counts of this table, in rows (persons): noise alone is uncertain.
    """
    del expect
    levels, _, rest = shape.columns
    share = levels.form.parameters.get("share", 1)
    sd, least = math.sqrt(levels.law.variance()) / share, levels.form.parameters["threshold"]
    people = "rows" if shape.unit is None else "persons"
    found: list[Expected] = []
    for probability in SHOWN_WITH:
        count = shown_count(levels, probability)
        # near the threshold the interval is that of a count that just reached it
        y = np.array([float(max(round(count * share), least))])
        low, high = conditional(levels.law, least, y, level)
        width = float(high[0] - max(low[0], 1.0)) / share
        # whoever has this many or more is shown so probably: a number of rows is whole
        term = f"a level of {math.ceil(count):,} {people}: shown with probability {100 * probability:.0f} %"
        found.append(Expected(term, count, width, 1.0, 0.0, sd, count))
    far = 2 * reach(rest.law, (1 - level) / 2) / share
    found.append(
        Expected("all levels not shown", math.nan, far, 1.0, 0.0, math.sqrt(rest.law.variance()) / share, rows)
    )
    return found


def shown_count(levels: PartSpec, probability: float) -> float:
    """Return the least count, in rows (persons), of a level that is shown with this probability or more."""
    facts = levels.form.parameters
    # the greatest that is missed with probability above 1 - probability, and one unit more
    return (absent(levels.law, facts["threshold"], probability) + 1) / facts.get("share", 1)


SAYS_ALL: Final = True
"""Only the cautions below are shown: general ones are on cells that somebody listed."""


def cautions(shape: Measurement, rows: int) -> list[str]:
    """Return a caution where only levels of a large part of all rows could be shown."""
    count = shown_count(shape.columns[0], 0.95)
    people = "rows" if shape.unit is None else "persons"
    if count <= rows / 10:
        return []
    return [
        f"only levels of {count:,.0f} {people} or more, of {rows:,}, are likely to be shown: a higher price would do"
    ]
