"""The error of coefficients by rows further out than vectors reach, as part of a fit's covariance.  Post-processing.

Source: `far_rows`.  Of binary models none is added: their mean levels off as the link says.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final, cast

import numpy as np

from tacit.base.arrays import Array
from tacit.fits.fit import Fit
from tacit.method.regression.bounded_scores.binary_links import BinaryLink
from tacit.method.regression.formulas.layout import Layout
from tacit.method.regression.pilots.far_rows import BENT, CountedFarRows, FarRows, counted_far_rows, far_rows
from tacit.method.regression.pilots.glm_pilot import link_of
from tacit.method.regression.query import Regression
from tacit.method.regression.row_sums.noisy_crossproducts import NoisyMatrix
from tacit.method.regression.row_sums.noisy_norms import reach_of_products, read_far_along, read_standardised, turned
from tacit.method.regression.row_sums.norm_person_encoding import of_rows
from tacit.method.regression.row_sums.norm_scaling import reach, room_of
from tacit.method.regression.row_sums.released_columns import Columns, read_columns
from tacit.method.regression.row_sums.split_score_encoding import OF_MATRICES
from tacit.release.document import Released

REPORTED_SHARE: Final = 0.1
"""Part of a variance due to rows further out from which a note reports it."""


@dataclass(frozen=True)
class Reached:
    """How far the vectors of a release's last scores reach, in standard deviations, and what that is computed from."""

    columns: Columns
    products: NoisyMatrix
    turn: Array
    reach: float


def reached(release: Released, made: Layout) -> Reached:
    """Return how far the rows of a release of shortened ones reach."""
    columns = read_columns(release.parts[0], made, release.rows, release.parts[1])
    products, turn = read_standardised(release.parts[1], made, columns.row)
    last = next(part for part in reversed(release.parts) if of_rows(part.form) not in OF_MATRICES)
    room = room_of(columns, made, products, turn, turned(last.parameters, made.size))
    return Reached(columns, products, turn, reach(columns, made, room, response=False))


def taken_as_linear(found: Fit, release: Released, made: Layout) -> Fit:
    """Return the fit with a note that the error by rows further out was left out, of models that would have it."""
    model = cast(Regression, release.query).model
    if model != "linear" and isinstance(link_of(model, made), BinaryLink):
        return found
    return replace(found, notes=(*found.notes, TAKEN))


def with_far_rows(found: Fit, release: Released, made: Layout, at: Reached) -> Fit:
    """Return the fit of a release of shortened rows with the error by rows further out in its covariance."""
    model = cast(Regression, release.query).model
    if model != "linear" and isinstance(link_of(model, made), BinaryLink):
        return found
    fit = with_shared(found, far_rows_covariance(found.values, release, made, at))
    assert fit.shared is not None
    each = zip(fit.names, fit.shared, fit.std_errors, strict=True)
    moved = [name for name, part, error in each if part > REPORTED_SHARE * error**2]
    return replace(fit, notes=(*fit.notes, far_rows_note(moved))) if moved else fit


def far_rows_note(names: Sequence[str]) -> str:
    """Return the note on the error by rows further out."""
    return (
        f"Slopes of rows far out may be others: errors of {', '.join(names)} allow for it. "
        "`estimate(linear=True)` takes the mean to be linear there, too."
    )


TAKEN: Final = (
    "the mean is taken to be linear however far out rows lie (linear=True): errors allow for no other slopes there"
)


def with_shared(found: Fit, added: Array) -> Fit:
    """Return the fit with a covariance, shape (u, u), that fits of other parties share."""
    noisy, shared = found.noisy, np.diag(added) if found.shared is None else found.shared + np.diag(added)
    if noisy is not None:
        noisy = replace(noisy, total=noisy.total + added, calm=noisy.calm + added)
    return replace(found, cov_sampling=found.cov_sampling + added, noisy=noisy, shared=shared)


def far_rows_covariance(values: Array, release: Released, made: Layout, at: Reached) -> Array:
    """Return the covariance of coefficients, shape (u, u), by rows further out than a release's vectors reach.

    values: the coefficients, shape (u,).
    """
    m, u = made.size, len(values)
    known = known_far_rows(release, made, at)
    # what the coefficients are of coordinates of variance 1: the predictor is values' terms z / H
    terms = np.asarray(np.linalg.solve(at.turn[:m, :m].T, made.terms[:u, :m].T), dtype=np.float64)
    shifts = known.shifts(at.reach, terms @ values)
    moved = BENT * np.linalg.lstsq(terms, shifts, rcond=None)[0]
    return np.asarray(moved @ moved.T, dtype=np.float64)


def known_far_rows(release: Released, made: Layout, at: Reached) -> FarRows | CountedFarRows:
    """Return what a release tells of rows far out, by its counts of these where it has any."""
    found, along = reach_of_products(release.parts[1], made), read_far_along(release.parts[-1], made.size)
    if along is None:
        return far_rows(at.columns, made, at.products, found)
    return counted_far_rows(at.columns, made, at.products, (found, at.reach), along)
