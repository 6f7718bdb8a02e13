"""Pearson's correlations from the cells of a histogram, corrected for binning, with sampling and privacy errors."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from tacit.base.arrays import Array
from tacit.base.lazy_imports import pandas
from tacit.errors import InferenceError
from tacit.estimates.noisy_terms.interval_inversion import Inversion
from tacit.estimates.terms import Target, check_target
from tacit.fits.cells.cell_arrays import CellAxis
from tacit.fits.one_bin_responses import products_moved
from tacit.method.histogram.estimate_from_cells.cell_error_laws import Noise, Thresholds
from tacit.method.histogram.estimate_from_cells.cell_groups import group_counts, places, unclear, words
from tacit.method.histogram.estimate_from_cells.cell_moments import (
    GroupNumbers,
    clear_variance,
    derived,
    noisy_variance_reason,
    points_of,
    within_moved,
)
from tacit.method.histogram.estimate_from_cells.derived_numbers import Derived
from tacit.release.document import Released

if TYPE_CHECKING:
    import pandas as pd  # pyright: ignore[reportMissingTypeStubs]


@dataclass(frozen=True)
class Several:
    """Intervals of several inversions, joined."""

    inner: tuple[Inversion, ...]

    def interval(self, level: float) -> tuple[Array, Array]:
        """Return limits, shape (terms,) each."""
        ends = [one.interval(level) for one in self.inner]
        return np.concatenate([low for low, _ in ends]), np.concatenate([high for _, high in ends])


@dataclass(frozen=True, repr=False)
class Correlations(Derived):
    """Pearson's correlations of pairs of columns, "age:income"; `matrix` has them as a matrix.

    Each pair uses the rows that have both values.  Covariances between different pairs are not available.

    >>> import tacit as tc
    >>> table = {"x": [float(i % 100) for i in range(5000)], "y": [float(i % 100) for i in range(5000)]}
    >>> curator = tc.Curator(table, tc.Schema({"x": tc.Real(0, 100), "y": tc.Real(0, 100)}), budget=tc.Budget(rho=1))
    >>> found = curator.release(tc.Histogram(["x", "y"], bins={"x": 10, "y": 10}), rho=0.5).correlation(["x", "y"])
    >>> found.terms, bool(found.value > 0.9), found.matrix().shape
    (('x:y',), True, (2, 2))
    """

    columns: tuple[str, ...] = ()

    @property
    def cov(self) -> pd.DataFrame:
        """Variance of one correlation; InferenceError I04 for several, whose covariances are not available."""
        if len(self.terms) > 1:
            text = "the covariance of different correlations is not given."
            raise InferenceError(text, code="I04", hint="std_error, conf_int", state=None)
        return super().cov

    def matrix(self, what: str = "estimate", level: float = 0.95) -> pd.DataFrame:
        """Return a matrix of estimates, limits or reasons; what: "estimate", "lower", "upper" or "reason".

        InferenceError I51 for another `what`, I01 (level).
        """
        if what not in ("estimate", "lower", "upper", "reason"):
            text = f"what={what!r} is none of 'estimate', 'lower', 'upper', 'reason'."
            raise InferenceError(text, code="I51", hint='matrix("lower")', state=None)
        frame: Any = self.to_frame(level)
        told = dict(zip(self.terms, cast("list[float | str]", list(frame[what])), strict=True))
        names = list(self.columns)
        # a pair is computed once, under one of its two names; the diagonal is 1
        same = "" if what == "reason" else 1.0
        found = [[told.get(f"{a}:{b}", told.get(f"{b}:{a}", same)) for b in names] for a in names]
        return pandas().DataFrame(found, index=names, columns=names)


def correlation(release: Released, columns: Sequence[str], target: Target = "population") -> Correlations:
    """Return correlations of all pairs; see `Statistics.correlation`."""
    names = tuple(columns)
    if isinstance(columns, str) or len(names) < 2:
        text = f"{columns!r} is not a list of two columns or more."
        # correlation("age", "income"): the second column came as the target
        pair = isinstance(columns, str) and target not in ("population", "table")
        hint = f'correlation(["{columns}", "{target}"])' if pair else 'correlation(["age", "income"])'
        raise InferenceError(text, code="I50", hint=hint, state=None)
    check_target(target)
    found = [_two(release, (a, b), target) for i, a in enumerate(names) for b in names[i + 1 :]]
    return Correlations(
        release,
        target,
        f"Correlations of {', '.join(names)}",
        # all columns at once for the words alone: each pair has cells of its own
        words(group_counts(release, names), f"Pearson's correlations of {', '.join(names)}", target, inside=True),
        tuple(one.terms[0] for one in found),
        np.concatenate([one.values for one in found]),
        Several(tuple(one.inversion for one in found)),
        np.diag([float(one.sampling[0, 0]) for one in found if one.sampling is not None]),
        np.diag([float(one.privacy[0, 0]) for one in found if one.privacy is not None]),
        tuple(one.reasons[0] for one in found),
        (*found[0].notes, "intervals on Fisher's scale where they are narrow"),
        columns=names,
    )


def _two(release: Released, names: tuple[str, str], target: Target) -> Derived:
    made = group_counts(release, names)
    for axis in made.axes:
        places(axis)
    part = _correlation(made.axes, made.regular[0], made.noise)
    ends = np.array([-1.0]), np.array([1.0])
    return derived(made, [part], target, "", "", (":".join(names),), ("fisher",), ends, told=True)


def _correlation(axes: tuple[CellAxis, ...], counts: Array, noise: Noise) -> GroupNumbers:
    points = points_of(axes, counts, noise)
    x, y = (points.along(axis.name, points.position(axis)[0]) for axis in points.cells.axes)
    flat = counts.reshape(-1)
    few = unclear(float(flat.sum()), flat.size, noise)
    size = max(float(flat.sum()), 1.0)

    def gathered(values: Array) -> Array:
        return points.gather(values[:, None])[:, 0]

    x, y = x - float(gathered(x) @ flat) / size, y - float(gathered(y) @ flat) / size
    moved = within_moved(points, np.stack([x, y, x * x, y * y], axis=-1)).influence
    off = moved[:2] / size  # influence of both means, shape (2, cells)
    own = noise.covariance(off)
    # second moments about noisy means are too small by the covariance of the noise in these, which is added back
    squares = np.array([float(gathered(x * x) @ flat), float(gathered(y * y) @ flat)]) / size + np.diag(own)
    product = float(gathered(x * y) @ flat) / size + float(own[0, 1])
    rough, clear = few, list[tuple[float, float, float]]()
    for influence, square, name in zip(moved[2:], squares, points.cells.names, strict=True):
        curve = (influence - square) / size
        noisy = float(noise.variance(curve))
        clear.append(clear_variance(float(square), noisy, float(flat @ curve**2)))
        # a correlation is divided by both standard deviations: each variance must be clear of its noise
        rough = rough or noisy_variance_reason(float(square), noisy, f"variance of {name}")
    scale = np.sqrt(np.maximum(squares, 1e-300))
    # the noisy product may exceed what the noisy variances allow
    r = float(np.clip(product / (scale[0] * scale[1]), -1.0, 1.0)) if rough is None else 0.0
    a, b = x / scale[0], y / scale[1]
    # influence function of a correlation: a b - r (a**2 + b**2) / 2 for standardised a, b
    end = within_moved(points, (a * b - r * (a * a + b * b) / 2)[:, None] / size, told=True)
    given = 1.0 if rough is None else 0.0
    # clipped: the noisy moments contradict each other, and a standard error at r = 1 would be too small
    if rough is None and abs(r) == 1.0:
        rough = "noise hides how far the correlation is from 1"
    chosen = Thresholds(*np.array(clear).T[:, :, None])
    # of a column with nearly all rows in one bin: values may go with the other column there, and no count shows it
    hidden = sum((products_moved(points, at, other, size) / scale[at]) ** 2 for at, other in enumerate((b, a)))
    return GroupNumbers(np.array([r]), given * end.influence, given * (end.unknown + hidden), (rough,), chosen)
