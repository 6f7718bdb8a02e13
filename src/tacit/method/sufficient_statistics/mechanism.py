"""Sufficient statistics of an exponential family, averaged over all rows.  INSIDE the wall.

Definition
    A row x becomes T_1(x), ..., T_p(x): the sufficient statistics of the family (`Family.sufficient_statistics`), each
    computed after x is clamped to public bounds, by the arithmetic of computed columns, so that it lies between public
    bounds.  Each T_j is then a column of numbers, of which `moments` releases the mean with its second moment: T_j is
    put on its grid {0, ..., G}, and the sums of an integer encoding are released.  There are no blocks.  With a
    PrivacyUnit the rows of a person are first reduced to their mean.  Public: schema, query with its family and bounds,
    neighbouring relation, price, and under replace-one the number of rows (persons).
Sensitivity
    That of the encoding of each statistic, proven with it over all pairs of rows (`method.shared.encoding`): whatever
    the arithmetic gives, the last step is a clamp in 64-bit integers.  Second moments cost nothing (theory §9, §12).
Noise
    Independent for each integer: discrete Laplace of scale l1 / epsilon', or normal of standard deviation
    sqrt(l2^2 / (2 rho')) rounded to integers, where epsilon' and rho' are the statistic's equal share of the price.
    Method "chen-sung": n / k times that, n rows and k blocks, as [Chen & Sung, Algorithm 3] prints it; it protects more
    than is charged (erratum E15).
Cost
    Shares add up to the price: statistics are released side by side (basic composition; Gaussian: sums of rho).
Failures
    As for `moments`: a cell without a value is missing, and no value stops the arithmetic.
"""

from __future__ import annotations

from typing import Final

from tacit.method.shared.measurement import Measurement
from tacit.method.shared.mechanism import Mechanism
from tacit.method.shared.mechanism_sums import exact_sums, noisy_parts
from tacit.method.sufficient_statistics.design import design
from tacit.release.parts import Cells, Part
from tacit.source import Source


def exact(shape: Measurement, source: Source) -> tuple[Cells, ...]:
    """READS ROWS.  Return the exact integers, one cell for each statistic, before noise: never to be shown."""
    columns = {one.source: one for one in shape.computed}
    return exact_sums(shape, source.computing(columns) if columns else source)


def measure(shape: Measurement, source: Source) -> tuple[Part, ...]:
    """READS ROWS.  Sum exactly and add noise at once; only noisy integers are kept."""
    return noisy_parts(shape, exact(shape, source))


MECHANISM: Final = Mechanism(design, measure, exact)
