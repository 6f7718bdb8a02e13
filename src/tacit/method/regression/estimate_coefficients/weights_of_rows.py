"""What weights of rows change in a regression's results: notes, the effective number of rows, and shrinkage targets."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, cast

from tacit.method.regression.bounded_scores.normal_regressors import NODE_WEIGHTS, Array, Regressors
from tacit.method.regression.formulas.layout import Layout
from tacit.method.regression.query import Regression
from tacit.method.regression.row_sums.noisy_scores import ScorePart
from tacit.method.regression.row_sums.released_columns import read_columns
from tacit.release.document import Released

RATIO_DOUBT: Final = 0.5
"""Assumed relative deviation of squared scores from those of weights that have nothing to do with the scores."""
RATIOS: Final = (0.25, 4.0)
"""Smallest and largest ratio that is believed."""


def weight_words(release: Released) -> str:
    """Return how rows are weighted, in words; empty without weights."""
    grid, weights = release.parts[0].weight, cast(Regression, release.query).weights
    return "" if grid is None else f", weights {weights} clamped to 0\u2013{grid.upper:,.6g}"


def weight_note(release: Released, layout: Layout) -> tuple[tuple[str, ...], Mapping[str, float]]:
    """Return the note on the effective number of rows (persons), and numbers beside a fit; nothing without weights."""
    if release.parts[0].weight is None:
        return (), {}
    columns = read_columns(release.parts[0], layout, release.rows)
    who, size = "rows" if release.unit is None else "persons", columns.rows
    found = {"effective_size": size}
    words = weight_words(release).removeprefix(", weights ")
    text = f"Weighted by {words}: before noise as precise as {size:,.0f} {who} of equal weights"
    if release.rows is not None:
        found["design_effect"] = max(1.0, release.rows / size)
        text += f" (design effect {found['design_effect']:.2f})"
    return (f"{text}; standard errors have the squares of the weights.",), found


def score_ratio(part: ScorePart, found: Regressors, square: Array) -> float:
    """Return by how much sums of squared scores exceed those of weights that have nothing to do with the scores.

    square: mean square at the nodes of `found`.  What is released is believed as far as its noise allows.
    """
    expected = max(found.rows * float(NODE_WEIGHTS @ square), 1e-9)
    noise = part.score_squares_noise / expected
    believed = RATIO_DOUBT**2 / (RATIO_DOUBT**2 + noise**2)
    low, high = RATIOS
    return min(max(1 + believed * (part.score_squares / expected - 1), low), high)
