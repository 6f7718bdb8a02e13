"""Expected precision of a Bernstein polynomial from public facts: its mean error where the density is even."""

from __future__ import annotations

from statistics import NormalDist

import numpy as np

from tacit.base.arrays import Array
from tacit.method.bernstein.encoding import steps
from tacit.method.bernstein.estimate_lattice import LatticeFit, fitted
from tacit.method.bernstein.lattice_bins import unit_edges
from tacit.method.bernstein.query import Bernstein
from tacit.method.shared.iterated_operator import slopes, weights
from tacit.method.shared.measurement import Measurement
from tacit.method.shared.numeric_columns import support
from tacit.method.shared.plan_expected import Expected
from tacit.method.shared.plan_shares import NOTHING
from tacit.method.shared.simulated_parts import simulated
from tacit.schema.expectations import Expectations


def expected(shape: Measurement, rows: int, level: float, expect: Expectations = NOTHING) -> list[Expected]:
    """Return an entry for the distribution function and one for the density.

    The error is the root of the mean over the support of the squared error of the polynomial, without its bias; what
    is said of values beforehand does not enter.
    """
    (one,), query = shape.variables, shape.query
    order = query.order if isinstance(query, Bernstein) else 2
    facts = shape.columns[0].form.parameters
    edges = unit_edges(one, facts["degree"])
    even = steps(edges, facts["degree"], facts["G"]) @ np.diff(np.array(edges))
    integers = np.array([*even, *([float(facts["G"])] if facts["presence"] else [])])
    integers = np.rint(rows * facts.get("share", 1) * integers).astype(np.int64)
    fit = fitted(simulated(shape, (integers[None, :],)))
    t = (np.arange(101) + 0.5) / 101
    low, high = support(one)
    below, per_unit = weights(fit.degree, order, t), slopes(fit.degree, order, t) / (high - low)
    return [
        _entry(f"distribution function of {one.name}", 0.5, below, fit, level, rows),
        _entry(f"density of {one.name}", 1 / (high - low), per_unit, fit, level, rows),
    ]


def _entry(term: str, value: float, over: Array, fit: LatticeFit, level: float, rows: int) -> Expected:
    """Return an entry: the mean over places of both squared errors."""
    sampling, noise = (float(((over @ one) * over).sum(axis=1).mean()) for one in (fit.sampling, fit.privacy))
    z, error = NormalDist().inv_cdf(0.5 + level / 2), float(np.sqrt(sampling + noise))
    share = noise / (sampling + noise) if sampling + noise > 0 else 0.0
    width = float("inf") if fit.reason is not None else 2 * z * error
    return Expected(term, value, width, share, 2 * z * float(np.sqrt(sampling)), error, rows)
