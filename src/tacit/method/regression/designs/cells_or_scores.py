"""`method="auto"`: whether cells or scores are expected to tell a regression more precisely.  Public facts alone.

Both are compared on a table of which nothing is known: levels equally frequent, a response that depends on nothing, and
as many rows as are public or hinted at.  With variances relative to those without privacy,

- cells: noise of variance s**2 in each of K cells adds s**2 K / n for n rows.  A coefficient is a sum over cells of
  x r, r the residual: the noise in it has variance s**2 sum x**2 r**2, and sampling n / K times the sum without s**2.
  Numbers (Integers) mostly lie within a part of their bounds, and the empty cells beyond add noise but no rows: with a
  standard deviation of SPREAD of the range that is 1 / (12 SPREAD**2) times as much, for the response and once more for
  a regressor.
- scores: the noise in a sum of psi v of variance q for each row, where psi has standard deviation 1, adds q / n; q is
  (sd of a sum's noise, of the part of scores, times the reach of v and the bound of psi)**2 (`row_reach`).

- scores have no answer where noise moves the sums of products too far: noise of variance t**2 in each product of
  standardised columns moves them by t sqrt(p) / n for p coefficients, and by more where a column has many levels, which
  nearly add up to a constant.

Cells are taken where their variance is the smaller, and the noise moves the curvature of the fit by LOOSE at most: fits
whose curvature is loose have no standard errors (`tacit.fits`).  `benchmarks/automatic_regressions.py` has what the
rule gains and loses where levels are rare and responses depend on them.
"""

from __future__ import annotations

import math
from typing import Final, cast

from tacit.method.regression.designs.norms_design import product_noise, score_noise
from tacit.method.regression.formulas.layout import Layout
from tacit.method.regression.query import Regression
from tacit.method.regression.row_sums.product_parts import ProductPart
from tacit.method.regression.row_sums.released_columns import COMMON, RAREST
from tacit.method.regression.row_sums.row_reach import chosen_room, far, room_of_products
from tacit.method.shared.measurement import Measurement, Public
from tacit.release.parts import Variable
from tacit.schema import Integer

LOOSE: Final = 0.05
"""Largest expected relative noise in the curvature of a fit to cells; fits to released cells allow three times that."""
NO_ANSWER: Final = 0.2
"""Expected relative noise in products of columns above which scores are taken to have no answer (0.25 has none)."""
SPREAD: Final = 0.25
"""Standard deviation of an Integer, as a part of its range."""
MEAN: Final = 0.1
"""Mean of the counts of a Poisson model, as a part of their range: bounds are set far above most of them."""
BOUND: Final = 2.0
"""The bound of a score of a response of two levels, in its standard deviations: the whole of it."""
FAR: Final = 3.0
"""The same of other responses."""
DIGITS: Final = 3
"""Significant digits of what is compared, so that every machine chooses alike."""


def cells_are_better(scores: Measurement, cells: Measurement, public: Public) -> bool:
    """Return whether cells are expected to be more precise; False where no number of rows is known."""
    if public.size is None or public.size < 1:
        return False
    ours, theirs = variance_of_cells(cells, scores, public), variance_of_scores(scores, public)
    return curvature_noise(cells, scores, public) <= LOOSE and ours < theirs


def variance_of_cells(cells: Measurement, scores: Measurement, public: Public) -> float:
    """Return the expected variance of coefficients from cells, relative to that without privacy."""
    (response, *others), n = scores.variables, float(public.size or 1)
    wider = _wider(response, cells.query, public) * max((_wider(one, None, public) for one in others), default=1.0)
    return _rounded(1 + _noise(cells) * cells.cells / n * wider)


def variance_of_scores(scores: Measurement, public: Public) -> float:
    """Return the expected variance of coefficients from scores, relative to that without privacy; inf for no answer.

    Of persons with up to k rows it is relative to that of as many rows: sampling alone may be as little as 1 / k of it,
    which the fit to cells does not know.
    """
    if noise_of_products(scores, public) > NO_ANSWER:
        return math.inf
    part = cast(ProductPart, next(one for one in reversed(scores.columns) if one.label == "scores"))
    n, made = float(public.size or 1), part.layout
    common, rare = _sizes(made)
    noise = score_noise(part)
    reach = far(common, rare, chosen_room(common, rare, noise, n))
    q = (noise * reach) ** 2 / n
    two = _levels_of(scores.variables[0]) == 2
    if cast(Regression, scores.query).model == "linear" or not two:
        added = (BOUND if two else FAR) ** 2 * q
    else:
        # the bound is chosen between what it loses and the noise: of a balanced response next to nothing is lost
        added = max(BOUND**2 * q / (1 + BOUND**2 * q), 1.4 * q)
    return _rounded(1 / scores.max_rows + added)


def noise_of_products(scores: Measurement, public: Public) -> float:
    """Return the expected relative noise in the products of columns, in the worst direction."""
    part, n = cast(ProductPart, scores.columns[1]), float(public.size or 1)
    common, rare = _sizes(part.layout)
    noise = product_noise(part)
    reach = far(common + 1, rare, room_of_products(common + 1, rare, noise, n))
    p = len(part.layout.names)
    # k terms of a column of k + 1 levels: a direction of variance 1 / k, the others' about 1
    k = max((len(group) for group in part.layout.groups if part.layout.size not in group), default=1)
    return _rounded(noise * reach**2 / n * math.sqrt(k * (k + p - 1)))


def curvature_noise(cells: Measurement, scores: Measurement, public: Public) -> float:
    """Return the expected relative noise in the curvature of a fit to cells, of p coefficients."""
    p = len(cast(ProductPart, scores.columns[0]).layout.names)
    return _rounded(math.sqrt(_noise(cells) * cells.cells * p) / float(public.size or 1))


def _noise(cells: Measurement) -> float:
    """Return the variance of the noise in a cell, in rows (persons)."""
    (part,) = cells.columns
    return part.law.variance() / part.form.parameters.get("share", 1) ** 2


def _wider(one: Variable, query: object, public: Public) -> float:
    """Return how many times more noise a column of numbers brings than one whose values are equally frequent.

    query: of a response; counts of a Poisson model have a mean of MEAN of the range, and the variance mean + mean**2.
    """
    if _levels_of(one) or not isinstance(public.schema[one.name], Integer):
        return 1.0
    span = one.upper - one.lower
    values = span + 1
    if isinstance(query, Regression) and query.model == "poisson":
        mean = max(MEAN * span, 0.5)
        # the mean over values of (y - mean)**2, over the variance
        return ((span / 2 - mean) ** 2 + (values**2 - 1) / 12) / (mean + mean**2)
    return (values**2 - 1) / 12 / max((SPREAD * span) ** 2, 1 / 4)


def _levels_of(one: Variable) -> int:
    """Return the number of levels of a column, 0 of one of numbers."""
    return 2 if one.kind == "boolean" else len(one.labels) if one.kind == "levels" else 0


def _sizes(layout: Layout) -> tuple[float, float]:
    """Return the mean square of a row's norm, rare levels aside, and what these may add: of equally frequent levels."""
    common, rare = 1.0, 0.0
    for group in layout.groups:
        if layout.size in group:
            continue
        # a level of k has the squared distance k - 1 from its mean, in standard deviations
        most = float(len(group)) if layout.coordinates[group[0]][1] else 1.0
        common += len(group) if most <= COMMON else 0.0
        rare += min(most, RAREST) if most > COMMON else 0.0
    return common, rare


def _rounded(x: float) -> float:
    return float(f"{x:.{DIGITS}g}")
