"""Distribution function, mean and variance of a column from the coefficients of a series.  Post-processing.

They are integrals of the series, and so linear in its coefficients (the variance about the mean: its derivative in the
mean is 0).  Of a column alone the coefficients of its functions suffice.  What the series leaves out of the density
counts for less than in the density: coefficients of t and t**2 fall with the number of the term.
"""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from tacit.base.arrays import Array
from tacit.errors import InferenceError
from tacit.estimates.densities.column_values import JointColumn
from tacit.estimates.densities.recorded_notes import recorded_notes
from tacit.estimates.normal_estimate import NormalEstimate
from tacit.estimates.terms import Target, check_target, given_places, place_of
from tacit.estimates.wording import title, who
from tacit.method.orthogonal_series.estimate_coefficients import TOO_FEW, SeriesFit, fitted
from tacit.method.shared.numeric_columns import support
from tacit.release.document import Released
from tacit.release.parts import Variable
from tacit.rows.series_bases import functions, integrals

FINE: Final = 2**14
"""Places by which integrals of t and t**2 are found."""


def cdf(release: Released, at: object, column: str | None = None, target: Target = "population") -> NormalEstimate:
    """Return the shares of rows at or below values of a column of a release, real or simulated."""
    one, place, fit = _of_column(release, column, target)
    given = given_places(at, "cdf([0.2, 0.5])")
    ends = np.clip((one.after(given) - one.lower) / one.length, 0.0, 1.0)
    over = integrals(fit.basis, ends, fit.terms[place]).T
    terms = tuple(f"{one.name}<={x:.6g}" for x in given)
    words = f"share of {who(release)} with {one.name} at or below a value"
    return _normal(release, fit, place, (terms, words), ends, over, target)


def moments(release: Released, column: str | None = None, target: Target = "population") -> NormalEstimate:
    """Return mean and variance of a column of a release, real or simulated."""
    one, place, fit = _of_column(release, column, target)
    t = (np.arange(FINE) + 0.5) / FINE
    over = functions(fit.basis, t, fit.terms[place])
    first, second = over @ t / FINE, over @ t**2 / FINE
    own = fit.values[_alone(fit, place)]
    mean, square = 0.5 + first @ own, 1 / 3 + second @ own
    # a day is the one that it begins; the series is of a smooth law whose shares of units are those of values, and
    # whose variance is less by what rounding to them adds [Sheppard 1898]
    shift = one.lower - (0.5 if one.kind == "date" else 0.0)
    values = np.array([shift + one.length * mean, one.length**2 * (square - mean**2) + one.within])
    weights = np.stack([one.length * first, one.length**2 * (second - 2 * mean * first)])
    terms = (f"mean of {one.name}", f"variance of {one.name}")
    words = f"mean and variance of {one.name} of {who(release)}, within its bounds"
    return _normal(release, fit, place, (terms, words), values - weights @ own, weights, target)


def _of_column(release: Released, column: str | None, target: Target) -> tuple[JointColumn, int, SeriesFit]:
    """Return a column, its place and the coefficients; InferenceError I02, I05, I09."""
    check_target(target)
    variables: tuple[Variable, ...] = getattr(release, "variables", ())
    names = tuple(one.name for one in variables)
    if column is None and len(names) > 1:
        text = f"the release has {len(names)} columns: which one?"
        raise InferenceError(text, code="I05", hint=f'"{names[0]}", or joint_density()', state=None)
    at = 0 if column is None else place_of(names, column)
    one = variables[at]
    return JointColumn(one.name, one.kind, *support(one), one.multiple_of or 0.0), at, fitted(release, target)


def _alone(fit: SeriesFit, place: int) -> NDArray[np.intp]:
    """Return the places of the coefficients of a column's own functions."""
    return np.flatnonzero((np.delete(fit.indices, place, axis=1) == 0).all(axis=1))


def _normal(
    release: Released,
    fit: SeriesFit,
    place: int,
    words: tuple[tuple[str, ...], str],
    constants: Array,
    weights: Array,
    target: Target,
) -> NormalEstimate:
    """Return constants plus weighted sums of a column's coefficients, with both errors."""
    alone = _alone(fit, place)
    load = weights @ fit.load[alone]
    sampling = weights @ fit.sampling[np.ix_(alone, alone)] @ weights.T
    variables: tuple[Variable, ...] = getattr(release, "variables", ())
    short = () if fit.resolved else (TOO_FEW,)
    notes = (*short, *recorded_notes(variables[place].name, variables[place]))
    terms, estimand = words
    return NormalEstimate(
        release, title(release), f"{estimand}, as far as {len(alone)} terms say", terms,
        constants + weights @ fit.values[alone], sampling, fit.variance * load @ load.T, (fit.reason,) * len(terms),
        notes=notes, tested=False, target=target,
    )  # fmt: skip
