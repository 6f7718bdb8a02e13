"""A whole data set by the exponential mechanism, drawn exactly.  INSIDE the wall.

Definition
    Rows for which `where` holds and whose value is not missing lie in public cells 1 ... m, N_i of them in
    the first i cells, N in all.  A data set z of k points has S_i points in the first i cells, S_m = k.  Its distance
    from the rows, in rows, is d(z) = max_i |k N_i - N S_i| / k, N times the distance of Kolmogorov and Smirnov; its
    level is L(z) = ceil(d(z)), and its utility -L(z).  One of all C(k + m - 1, k) data sets, which differ in S, is
    drawn, with probability proportional to exp(-c L(z)).  Where N is not public, a noisy N is released beside it.
    With a PrivacyUnit the rows of a person have weights in {0, ..., A} that add up to at most A over the cells
    (`rows.row_map.PersonWeight`); N_i and N add up weights, and d(z) = max_i |k N_i - N S_i| / (k A).
    Public: schema, query, relation, price, m, k (from these and the number of rows or the size_hint) and, under
    replace-one, the number of rows (persons).  Neighbours: one row (person) replaced, or one added or removed; a value
    may be missing.
Sensitivity
    1, for every data set at once.  Proof.  Let a person have weights w_c, a in all, a <= A; g_i = k N_i - N S_i holds
    her as sum_c w_c (k [c <= i] - S_i), which lies from -a S_i to a (k - S_i), for every i.  Added or removed, she
    changes |g_i| by at most a max(S_i, k - S_i) <= A k.  Replaced by another, with a' in all, g_i changes by at most
    max(a' (k - S_i) + a S_i, a (k - S_i) + a' S_i) <= A k.  So |g_i| / (k A) changes by at most 1, hence d(z), the
    largest of them; and numbers that are at most 1 apart have whole numbers above them that are at most 1 apart.  A row
    is a person with A = 1.  Attained (tests, over all pairs of small tables).  Rounding up costs nothing.
    (Divided by N, as a distance between 0 and 1, the utility would change by what is private under add-remove.)
    N: 1 (persons: A) under both relations, in the one cell that there is.
Noise
    c = epsilon / 2, epsilon the range that the price buys.  exp(-c L) is a sum over layers (`layers`): a layer t with
    A(t) = |{z: L(z) <= t}| data sets is drawn with probability proportional to A(t) q**t, q = exp(-c), the layer of
    the top with A(M) q**M / (1 - q), by `noise.select.choose_bounded`: integer bounds on these weights are compared
    with secret words, and where they do not decide, further words and narrower bounds follow, in the end from exact
    A(t).  Then one of the A(t) data sets is drawn evenly by its number, A(t) an exact integer (`path_counts`).  Bounds
    from floats are proven (`path_counts.enclosed`); no float decides.  So the law is exactly that above.
    N has discrete Laplace or rounded normal noise.
Cost
    epsilon, pure [McSherry & Talwar 2007]; bounded range epsilon, hence epsilon**2 / 8 in rho [Dong, Durfee & Rogers
    2020; Cesar & Rogers 2021] (`mechanism_rank_selection`, Cost).  The rate that the lecture notes print for a utility
    of sensitivity Delta, epsilon / (2 Delta), is needed: at epsilon / Delta the loss reaches nearly 2 epsilon (tests).
    Where N is released, it has the share SIZE of the price, and composition is that of `method.ranges.mechanism`.
Failures
    None depends on a row: without a row every data set has level 0, and one is drawn all the same.  How many levels are
    looked at, and so the time, depends on the rows; time is not covered, here or elsewhere.
"""

from __future__ import annotations

from typing import Any, Final, cast

import numpy as np
from numpy.typing import NDArray

from tacit.method.ks_dataset.bands import Bands
from tacit.method.ks_dataset.design import DataSetPart, design
from tacit.method.ks_dataset.layers import Layers
from tacit.method.ks_dataset.path_counts import Paths
from tacit.method.shared.measurement import Measurement
from tacit.method.shared.mechanism import Mechanism
from tacit.method.shared.mechanism_additive import protect
from tacit.method.shared.mechanism_sums import check_number
from tacit.method.shared.pair_or_epsilon import of_selection
from tacit.noise.select import choose_bounded, uniform
from tacit.noise.selection_law import Selection
from tacit.release.parts import Cells, Part
from tacit.rows.row_map import PersonWeight
from tacit.source import Source


def measure(shape: Measurement, source: Source) -> tuple[Part, ...]:
    """READS ROWS.  Return the data set that was drawn, and the noisy N where it is not public."""
    return released(shape, exact(shape, source)[0], drawn, protect)


def exact(shape: Measurement, source: Source) -> tuple[NDArray[np.int64], ...]:
    """READS ROWS.  Return the rows, or weight of persons, in each cell: never to be shown."""
    part = cast(DataSetPart, shape.columns[0])
    share = cast("PersonWeight | None", part.weight)
    found = source.tallied((part.cells,), shape.where, shape.unit, share)
    # persons were counted when the table was opened
    if shape.unit is None:
        check_number(shape.rows, found.rows)
    return (found.counts,)


def released(shape: Measurement, counts: NDArray[np.int64], draw: Any, noise: Any) -> tuple[Part, ...]:
    """Return the parts.

    draw, noise: draw a data set and add noise; either the exact ones, which protect, or seeded ones, which simulate.
    """
    part, sizes = shape.columns[0], shape.columns[1:]
    layers = Layers(bands(part, counts), cast(Selection, part.law).rate)
    chosen = part.released((draw(layers),))
    number: Cells = ((int(counts.sum()),),)
    return (chosen, *(one.released(noise(number, one.law)) for one in sizes))


def bands(part: Any, counts: NDArray[np.int64]) -> Bands:
    """Return the bands of these counts."""
    return Bands.of(counts.tolist(), part.form.parameters["G"], 1 if part.weight is None else part.weight.G)


def drawn(layers: Layers) -> tuple[int, ...]:
    """Return the points in each cell of a data set that is drawn exactly.

    >>> from fractions import Fraction
    >>> drawn(Layers(Bands.of([0, 9, 0], 2), Fraction(1000)))
    (0, 2, 0)
    """
    paths = Paths(layers.bands, choose_bounded(layers.weights))
    return paths.points(uniform(paths.total))


MECHANISM: Final = Mechanism(design, measure, exact, of_selection)
