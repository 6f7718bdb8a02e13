"""Whether another question would tell the same regression more precisely at the same price.

A regression of levels alone is a function of the counts in the cells of its columns, so that a histogram of them can be
fitted with the same model.  It takes the whole price for one part, and nothing is shortened or clipped: with few cells
it is the more precise one, with many its noise adds up.  Both are planned on the same assumed rows.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Final, cast

import numpy as np

from tacit.base.listed_words import listed
from tacit.curator.mechanisms import design
from tacit.errors import TacitError
from tacit.fits.fit_release import fit_release
from tacit.method.histogram.query import Histogram
from tacit.method.regression.designs.cells_design import possible
from tacit.method.regression.designs.cells_or_scores import variance_of_cells, variance_of_scores
from tacit.method.regression.query import Regression
from tacit.method.shared.measurement import Measurement, Public
from tacit.method.shared.plan_expected import Expected, uniform_integers
from tacit.method.shared.simulated_parts import simulated
from tacit.planning.expected_cells import by_cells
from tacit.release.query import Query
from tacit.schema import Boolean, Category
from tacit.schema.expectations import Expectations

MOST_CELLS: Final = 2_000
"""Cells beyond which a histogram is not tried: it would hardly be narrower, and a plan is to be quick."""
CLEARLY: Final = 0.9
"""Ratio of widths below which the other question is named."""


def narrower(
    shape: Measurement, terms: Sequence[Expected], public: Public, rows: int, expect: Expectations
) -> str | None:
    """Return in words the question that is clearly more precise than this regression, or None.

    terms: the expected precision of the regression.  rows: of the table.
    """
    query = shape.query
    if not isinstance(query, Regression) or query.where is not None or shape.unit is not None:
        return None
    if query.weights is not None or by_cells(shape):
        return None
    columns = list(dict.fromkeys(query.columns))
    declared = dict(public.schema.items())
    # of an expression, which is no column of the schema, a histogram has no cells
    if not all(isinstance(declared.get(name), (Boolean, Category)) for name in columns):
        return None
    try:
        other = design(Histogram(columns), public, shape.cost)
        if other.cells > MOST_CELLS:
            return None
        fit: Any = fit_release(
            cast(Any, simulated(other, uniform_integers(other, rows, expect))), query.formula, model=query.model
        )
        found = fit.coefficients
    except TacitError:  # what a histogram cannot hold or fit is no advice
        return None
    if any(found.reasons) or list(found.terms) != [one.term for one in terms]:
        return None
    sizes = np.array([one.without for one in terms])
    here = np.array([one.std_error if math.isfinite(one.width) else math.inf for one in terms])
    ratio = float(np.sqrt(((found.std_errors / sizes) ** 2).mean() / ((here / sizes) ** 2).mean()))
    if not ratio < CLEARLY:
        return None
    names = listed(columns)
    wide = f"intervals {ratio:.2f} times as wide" if ratio > 0 else "an answer"
    model = "" if query.model == "linear" else f', model="{query.model}"'
    return (
        f"a histogram of {names} ({other.cells:,} cells) at the same price tells the same regression, "
        f'fit("{query.formula}"{model}) or method="cells" of its own, with {wide}'
    )


def way_taken(asked: Query[Any], shape: Measurement, public: Public) -> str | None:
    """Return in words which method "auto" takes, and why; None where a question says which it wants."""
    if not isinstance(asked, Regression) or asked.method != "auto":
        return None
    if not possible(asked, public):
        return 'method="auto" takes sums over rows: not all columns have few levels or values, whose cells are counted'
    if public.size is None:
        return 'method="auto" takes sums over rows: without a public number of rows, or a hint, it has nothing to go by'
    plain = replace(asked, method="scores"), replace(asked, method="cells")
    scores, cells = (design(one, public, shape.cost) for one in plain)
    by_rows, by_cell = variance_of_scores(scores, public), variance_of_cells(cells, scores, public)
    taken = f"the {cells.cells:,} cells" if by_cells(shape) else "sums over rows"
    other = f"{by_rows:.3g} times from sums over rows" if math.isfinite(by_rows) else "no answer from sums over rows"
    return (
        f'method="auto" takes {taken}: variances are expected to be {by_cell:.3g} times those without privacy from '
        f"{cells.cells:,} cells, and {other}"
    )
