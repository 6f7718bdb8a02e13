"""Expected precision of a Bernstein polynomial from public facts: its mean error, for values as expected or even."""

from __future__ import annotations

from statistics import NormalDist
from typing import Final

import numpy as np
from numpy.typing import NDArray

from tacit.base.arrays import Array
from tacit.estimates.densities.column_values import distance_of_values
from tacit.method.bernstein.encoding import steps
from tacit.method.bernstein.estimate import estimate, smooth_density
from tacit.method.bernstein.estimate_lattice import LatticeFit, fitted
from tacit.method.bernstein.lattice_bins import unit_edges
from tacit.method.bernstein.query import Bernstein
from tacit.method.shared.iterated_operator import slopes, weights
from tacit.method.shared.measurement import Measurement
from tacit.method.shared.numeric_columns import support
from tacit.method.shared.plan_densities import (
    AssumedCounts,
    BinnedColumn,
    assumed,
    curve_width,
    drawn_counts,
    ranged,
    root_mean_square,
    tried,
)
from tacit.method.shared.plan_expected import Expected
from tacit.method.shared.plan_shares import NOTHING
from tacit.method.shared.simulated_parts import simulated
from tacit.release.document import Released
from tacit.schema.expectations import Expectations

TRIALS: Final = 5
"""Number of simulated releases of values as expected: noise may look like what values do, and limits are wider then."""


def expected(shape: Measurement, rows: int, level: float, expect: Expectations = NOTHING) -> list[Expected]:
    """Return an entry for the distribution function and one for the density.

    A width is the root mean square, over the support, of those of the limits.
    """
    (one,), query = shape.variables, shape.query
    order = query.order if isinstance(query, Bernstein) else 2
    low, high = support(one)
    ends = low + (high - low) * np.array(unit_edges(one, shape.columns[0].form.parameters["degree"]))
    step = distance_of_values(one.kind, one.multiple_of)
    guesses = assumed([BinnedColumn(one.name, ends, step)], expect)
    fit = fitted(simulated(shape, (_integers(shape, rows, guesses[0])[None, :],)))
    t = (np.arange(101) + 0.5) / 101
    below, per_unit = weights(fit.degree, order, t), slopes(fit.degree, order, t) / (high - low)
    found = [
        _entry(f"distribution function of {one.name}", 0.5, below, fit, level, rows),
        _entry(f"density of {one.name}", 1 / (high - low), per_unit, fit, level, rows),
    ]
    rng = np.random.default_rng(0)  # equal questions get equal plans
    return ranged(found, tried(guesses, TRIALS, lambda each: _widths(_noisy(shape, rows, each, rng), level)))


def _noisy(shape: Measurement, rows: int, counts: AssumedCounts, rng: np.random.Generator) -> Released:
    """Return a simulated release of rows drawn with these shares."""
    drawn = drawn_counts(rows, counts, rng)
    present = int(drawn.sum())
    exact = _integers(shape, rows, AssumedCounts((drawn / max(present, 1),), present / rows))
    noise = np.asarray(shape.columns[0].law.sample(len(exact), rng), dtype=np.int64)
    return simulated(shape, ((exact + noise)[None, :],))


def _widths(release: Released, level: float) -> list[float]:
    """Return the widths of the limits of the distribution function and of the density."""
    found = estimate(release)
    shares = np.asarray(found.conf_int(level), dtype=float).reshape(-1, 2)
    told = [reason is None for reason in found.reasons]
    function = root_mean_square(shares[told]) if any(told) else float("inf")
    return [function, curve_width(smooth_density(release), level)]


def _integers(shape: Measurement, rows: int, counts: AssumedCounts) -> NDArray[np.int64]:
    """Return the integers of rows with these shares in the bins, shape (integers,)."""
    facts = shape.columns[0].form.parameters
    edges = unit_edges(shape.variables[0], facts["degree"])
    made = steps(edges, facts["degree"], facts["G"]) @ counts.shares[0]
    integers = np.array([*made, *([float(facts["G"])] if facts["presence"] else [])])
    return np.rint(rows * facts.get("share", 1) * counts.present * integers).astype(np.int64)


def _entry(term: str, value: float, over: Array, fit: LatticeFit, level: float, rows: int) -> Expected:
    """Return an entry: the mean over places of both squared errors."""
    sampling, noise = (float(((over @ one) * over).sum(axis=1).mean()) for one in (fit.sampling, fit.privacy))
    z, error = NormalDist().inv_cdf(0.5 + level / 2), float(np.sqrt(sampling + noise))
    share = noise / (sampling + noise) if sampling + noise > 0 else 0.0
    width = float("inf") if fit.reason is not None else 2 * z * error
    return Expected(term, value, width, share, 2 * z * float(np.sqrt(sampling)), error, rows)
