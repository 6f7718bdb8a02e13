"""Post-stratification: means by cells and known population totals of the cells -> one mean, or one total."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from numbers import Real
from typing import TYPE_CHECKING

import numpy as np

from tacit.base.arguments import described
from tacit.base.arrays import Array
from tacit.errors import InferenceError
from tacit.estimates.terms import place_of
from tacit.estimates.verbs.contrasts import combine, why_shared
from tacit.release.parts import cell_labels

if TYPE_CHECKING:
    from tacit.estimates.estimate import Estimate

WORDS = ("mean", "total")


def poststratify(estimate: Estimate, totals: Mapping[str, float], of: str = "mean") -> Estimate:
    """See `Estimate.poststratify`.

    sum N_h m_h / N, or sum N_h m_h.  Given the sizes of the cells their means are independent: sampling variance
    sum (N_h / N)**2 v_h; the noises of a cell are its own, so that of privacy adds up in the same way.  Persons with
    weights of their own may be in several cells: then (sum (N_h / N) sqrt(v_h))**2, which is never too small.
    """
    if not isinstance(of, str) or of not in WORDS:  # pyright: ignore[reportUnnecessaryIsInstance]
        raise _refused(f"of={described(of)} is neither 'mean' nor 'total'.", 'of="total"')
    cells = _cells(estimate)
    known = _known(estimate, cells, totals)
    population = float(known.sum())
    row = known / population if of == "mean" else known
    columns = len(estimate.terms) // len(cells)
    names = tuple(block.label for block in estimate.blocks) if columns > 1 else (f"post-stratified {of}",)
    by = " and ".join(column for column, _ in estimate.release.levels)
    words = f"post-stratified {of}, known totals of {by} adding up to {population:,.6g}: {estimate.estimand}"
    # one row for each column, its weights on that column's cells alone: shape (columns, terms)
    matrix: Array = np.kron(np.eye(columns), row[None, :]).astype(np.float64)
    made = combine(estimate, matrix, names, words)
    return replace(made, notes=(*made.notes, _note(made)))


def _cells(estimate: Estimate) -> tuple[str, ...]:
    """Labels of all cells of a release of means, which the terms are, column by column."""
    release = estimate.release
    cells = cell_labels(release.levels)
    means = type(release.query).__name__ == "Mean" and bool(release.levels) and not estimate.others
    columns = len(estimate.terms) // len(cells)
    several = tuple(f"{part.label}:{cell}" for part in release.parts for cell in cells)
    whole = estimate.terms == cells if columns == 1 else estimate.matrix is None and estimate.terms == several
    if not means or not whole or None in estimate.combination.picked():
        text = "post-stratification is of the means of all cells of by=, as they were released."
        raise _refused(text, 'release(Mean("income", by="region")).estimate().poststratify({"north": 12_000, …})')
    return cells


def _known(estimate: Estimate, cells: tuple[str, ...], totals: Mapping[str, float]) -> Array:
    """Return the population totals in the order of the cells, shape (cells,); InferenceError I02, I18."""
    try:
        given = dict(totals)
    except (TypeError, ValueError):
        raise _refused("totals are no mapping from cell to number.", '{"north": 12_000, "south": 8_000}') from None
    for cell, total in given.items():
        place_of(cells, cell)
        if isinstance(total, bool) or not isinstance(total, Real) or not math.isfinite(total) or total <= 0:  # pyright: ignore[reportUnnecessaryIsInstance]
            text = f"the population total {described(total)} of {described(cell)} is not a number above 0."
            raise _refused(text, "leave nobody out: where= instead of a total of 0")
    missing = [cell for cell in cells if cell not in given]
    if missing:
        more = f" and of {len(missing) - 1:,} more" if len(missing) > 1 else ""
        raise _refused(f"the population total of {missing[0]!r}{more} is missing.", "one number above 0 for every cell")
    return np.array([float(given[cell]) for cell in cells])


def _note(made: Estimate) -> str:
    """Return a note on the assumptions."""
    known = "population totals are taken as known"
    if not made.sampling_variances.any():
        return known
    if any(block.shared and np.count_nonzero(w, axis=1).max() > 1 for block, w in made.combination.slices()):
        return f"{known}; {why_shared(made, 'cells')}: standard errors are added"
    return f"{known}, the cells' means as independent given their sizes"


def _refused(text: str, hint: str) -> InferenceError:
    return InferenceError(text, code="I18", hint=hint, state=None)
