"""How the answer of each way is read from a planned release: its expected precision, a term for each of the question's.

Every number is that of the real inference on the integers of an assumed table (`plan_expected`).  Public facts only.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from statistics import NormalDist
from typing import Any, Final, cast

import numpy as np
from numpy.typing import NDArray

from tacit.errors import QueryError
from tacit.estimates.normal_estimate import NormalEstimate
from tacit.fits.fit_release import fit_release
from tacit.method.blocks.estimate_distribution import FittedLaw, correlation
from tacit.method.blocks.plan_steps import one_step_covariances
from tacit.method.histogram.estimate_from_cells.cell_moments import moments
from tacit.method.histogram.estimate_from_cells.cell_quantiles import quantiles
from tacit.method.shared.asked_parameters import law_as_expected
from tacit.method.shared.measurement import Measurement
from tacit.method.shared.plan_expected import Expected, uniform_integers
from tacit.method.shared.plan_shares import NOTHING
from tacit.method.shared.simulated_parts import simulated
from tacit.models.evaluate import rule
from tacit.planning.expected import as_expected, expected
from tacit.schema.expectations import Expectations, ExpectedNumbers

MOST_CELLS: Final = 20_000
"""Cells beyond which a histogram is not planned: it would hardly be narrower, and a plan is to be quick."""
EVEN: Final = 1 / math.sqrt(12)
"""Standard deviation of values spread evenly over a range of length 1."""

Reader = Callable[[Measurement, "Assumed"], Sequence[Expected]]


@dataclass(frozen=True)
class Assumed:
    """What a plan assumes of a table: its rows, what is expected of its columns; and the level of intervals."""

    rows: int
    level: float
    expect: Expectations = NOTHING

    @property
    def z(self) -> float:
        """Width of a normal interval, in standard errors."""
        return 2 * NormalDist().inv_cdf(0.5 + self.level / 2)


def own(shape: Measurement, assumed: Assumed) -> Sequence[Expected]:
    """Return the precision of a question's own estimate."""
    return expected(as_expected(shape, assumed.expect), assumed.rows, assumed.level, assumed.expect)


def times(factor: int) -> Reader:
    """Return a reader of an answer that is multiplied by a public number."""

    def read(shape: Measurement, assumed: Assumed) -> Sequence[Expected]:
        return [
            replace(
                one,
                value=factor * one.value,
                width=factor * one.width,
                without=factor * one.without,
                std_error=factor * one.std_error,
            )
            for one in own(shape, assumed)
        ]

    return read


def named(names: Sequence[str]) -> Reader:
    """Return a reader of some of the terms, by name."""

    def read(shape: Measurement, assumed: Assumed) -> Sequence[Expected]:
        found = {one.term: one for one in own(shape, assumed)}
        return [found[name] for name in names]

    return read


def mean_of_normal(shape: Measurement, assumed: Assumed) -> Sequence[Expected]:
    """Return the precision of the mean of a normal law, with values as expected, else as wide as even ones."""
    query: Any = shape.query
    column = query.what if isinstance(query.what, str) else query.what[0]
    told = dict(assumed.expect.numbers)
    if column not in told:
        asked: Any = getattr(query, "family", None) or query.model
        box = asked.law.parameters[0]
        span = box.upper - box.lower
        told[column] = ExpectedNumbers((box.lower + box.upper) / 2, EVEN * span, 0.0, box.lower, box.upper)
    return named(("mean",))(shape, replace(assumed, expect=replace(assumed.expect, numbers=told)))


def mean_by_law(shape: Measurement, assumed: Assumed) -> Sequence[Expected]:
    """Return the precision of the mean of a law, a function of its parameters."""
    return _of_law(shape, assumed, lambda law: law.mean())


def quantiles_by_law(probs: Sequence[float]) -> Reader:
    """Return a reader of the quantiles of a law, functions of its parameters."""
    return lambda shape, assumed: _of_law(shape, assumed, lambda law: law.quantile(list(probs)))


def _of_law(shape: Measurement, assumed: Assumed, of: Callable[[FittedLaw], Any]) -> Sequence[Expected]:
    """Return the precision of functions of a law's parameters, by the delta method at the planned errors of these."""
    model = cast(Any, as_expected(shape, assumed.expect)).blocks.model
    terms = own(shape, assumed)
    if any(not math.isfinite(one.width) for one in terms):
        raise QueryError("the noise is too large for the law's parameters.", code="Q130", hint="a higher price")
    if cast(Any, shape.query).one_step:
        sampling, privacy = one_step_covariances(as_expected(shape, assumed.expect), assumed.rows)
    else:
        errors = np.array([[math.sqrt(1 - one.privacy), math.sqrt(one.privacy)] for one in terms])
        errors *= np.array([[one.std_error] for one in terms])
        sampling = np.outer(errors[:, 0], errors[:, 0]) * correlation(model, model.fallback)
        privacy = np.diag(errors[:, 1] ** 2)
    empty: Any = simulated(shape, tuple(np.zeros((0, 1), dtype=np.int64) for _ in shape.columns))
    values = np.array([one.value for one in terms])
    made = NormalEstimate(empty, "", "", tuple(model.names), values, sampling, privacy, (None,) * len(terms))
    found = of(FittedLaw(made, model))
    return _terms(found, range(len(found.terms)), assumed)


def first(number: int) -> Reader:
    """Return a reader of the first terms: the coefficients of a regression, without its dispersion."""

    def read(shape: Measurement, assumed: Assumed) -> Sequence[Expected]:
        return list(own(shape, assumed))[:number]

    return read


def moments_of(column: str, place: int, by: Sequence[str]) -> Reader:
    """Return a reader of a moment of a column of a histogram in each group: of its mean 0, of its variance 1."""

    def read(shape: Measurement, assumed: Assumed) -> Sequence[Expected]:
        found: Any = moments(cast(Any, _cells(shape, assumed)), column, tuple(by) or None)
        # of each group mean, variance and standard deviation
        return _terms(found, range(place, len(found.terms), 3), assumed)

    return read


def quantiles_of(column: str, probs: Sequence[float], by: Sequence[str]) -> Reader:
    """Return a reader of the quantiles of a column of a histogram, in each group."""

    def read(shape: Measurement, assumed: Assumed) -> Sequence[Expected]:
        found: Any = quantiles(cast(Any, _cells(shape, assumed)), column, tuple(probs), tuple(by) or None)
        return _terms(found, range(len(found.terms)), assumed)

    return read


def fitted_model(formula: str, model: str) -> Reader:
    """Return a reader of the coefficients of a model fitted to cells."""

    def read(shape: Measurement, assumed: Assumed) -> Sequence[Expected]:
        found: Any = fit_release(cast(Any, _cells(shape, assumed)), formula, model=model).coefficients
        return _terms(found, range(len(found.terms)), assumed)

    return read


def fitted_law(column: str, family: str, asked: Any, names: Sequence[str]) -> Reader:
    """Return a reader of the parameters of a law fitted to the cells of one column, which follows that law."""

    def read(shape: Measurement, assumed: Assumed) -> Sequence[Expected]:
        law = law_as_expected(asked, _OfColumn(column), assumed.expect)
        edges = np.array(shape.axes[0].edges)
        points, weights, _ = rule(law, law.fallback, tuple(edges.tolist()))
        # values beyond the bounds are in the first and last bin
        at = np.clip(np.searchsorted(edges, points.reshape(-1), side="right") - 1, 0, len(edges) - 2)
        counts = np.zeros((shape.cells, 1))
        np.add.at(counts[:, 0], at, assumed.rows * weights)
        found: Any = fit_release(cast(Any, _simulated(shape, counts)), column, family=family.lower()).coefficients
        places = [list(found.terms).index(name) for name in names]
        return _terms(found, places, assumed)

    return read


@dataclass(frozen=True)
class _OfColumn:
    """The column that a law is of."""

    what: str


def _cells(shape: Measurement, assumed: Assumed) -> object:
    """Return a simulated release of the expected counts of a histogram; QueryError Q31 of too many cells."""
    if shape.cells > MOST_CELLS:
        text = f"its histogram has {shape.cells:,} cells; at most {MOST_CELLS:,} are planned."
        raise QueryError(text, code="Q31", hint="fewer columns")
    (counts,) = uniform_integers(shape, assumed.rows, assumed.expect)
    return simulated(shape, (counts,))


def _simulated(shape: Measurement, counts: NDArray[np.float64]) -> object:
    return simulated(shape, (np.rint(counts * shape.columns[0].form.parameters["G"]).astype(np.int64),))


def _terms(found: Any, places: Sequence[int], assumed: Assumed) -> Sequence[Expected]:
    """Return the precision of some terms of an estimate; of one without standard errors by its interval alone."""
    limits = found.intervals(assumed.level)
    out: list[Expected] = []
    for i in places:
        width = math.inf if found.reasons[i] is not None else float(limits[i, 1] - limits[i, 0])
        sampling, privacy = _variances(found, i)
        error = math.sqrt(sampling + privacy) if sampling is not None else width / assumed.z
        share = privacy / (sampling + privacy) if sampling is not None and sampling + privacy > 0 else math.nan
        without = assumed.z * math.sqrt(sampling) if sampling is not None else math.nan
        out.append(Expected(found.terms[i], float(found.values[i]), width, share, without, error, assumed.rows))
    return out


def _variances(found: Any, i: int) -> tuple[float | None, float]:
    """Return the variances of a term, of sampling and of noise; None and 0 where there is no standard error."""
    if hasattr(found, "sampling_variances"):
        return float(found.sampling_variances[i]), float(found.privacy_variances[i])
    if found.sampling is None or found.privacy is None:
        return None, 0.0
    return float(found.sampling[i, i]), float(found.privacy[i, i])
