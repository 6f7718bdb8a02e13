"""Test of a law's fit by the variance between blocks, which is released with their mean.  Post-processing: free.

A block's estimate is corrected for the bias that the law has in so few rows.  Where rows follow another law, that
correction is another one, and what is left of the bias is in no interval.  The variance of estimates tells of it: under
the law it is that of the information (`by_law`), under another one that of the sandwich.  Where the ratio of the two is
not 1, the bias may be off by about as large a part, and a mean that this could move by more than its standard error is
given up.  A law may differ without a difference in this ratio: the test accepts nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final, cast

import numpy as np

from tacit.base.arrays import Array
from tacit.errors import ModelError
from tacit.estimates.terms import ColumnTerms
from tacit.method.blocks.estimate_ends import by_law, noisy_block
from tacit.method.blocks.estimate_spread import SeenSpread, joint_multiple, variance_of_spread
from tacit.method.blocks.resampling import resampled
from tacit.models import scores
from tacit.models.family import Family
from tacit.release.document import Released
from tacit.release.parts import OF_BLOCKS, Part

if TYPE_CHECKING:
    from tacit.method.blocks.query import SampleAndAggregate

TOLERATED: Final = 0.15
"""Difference of the ratio from 1 that the law's variance in small blocks, known to second order, may have itself."""
SURE: Final = 3.3
"""Standard errors beyond TOLERATED from which on a ratio is not the law's."""


@dataclass(frozen=True)
class BlockFit:
    """Ratios of the variances between blocks to those of the law, and their standard errors, shape (p,).

    bias: bias of one block's estimate by the law, shape (p,), 0 where the law is not rejected.  hidden: what is seen of
    the variance of each parameter that an end of the box makes smaller, else None; empty where no end does.
    """

    ratio: Array
    error: Array
    bias: Array
    hidden: tuple[SeenSpread | None, ...] = ()

    @property
    def excess(self) -> Array:
        """By how many standard errors each ratio differs from 1, beyond what is tolerated, shape (p,)."""
        return (np.abs(self.ratio - 1) - TOLERATED) / self.error

    @property
    def rejected(self) -> bool:
        """Whether rows follow another law."""
        return bool((self.excess > SURE).any())

    @property
    def left(self) -> Array:
        """About what the correction may leave of the bias, shape (p,): noise alone makes a ratio negative."""
        return np.abs(np.maximum(self.ratio, 0.0) - 1).max() * np.abs(self.bias)

    @property
    def note(self) -> str:
        """The result in words."""
        worst = int(self.excess.argmax())
        said = f"test of fit: blocks vary {self.ratio[worst]:.2f} ± {2 * self.error[worst]:.2f} times what the law says"
        if not self.rejected:
            return said
        return (
            f"{said}: rows follow another law, and blocks are corrected for the bias of this one; what is left of "
            'theirs is in no interval; leave out bias="cox-snell"'
        )


def fit_of_blocks(
    release: Released, parts: tuple[Part, ...], terms: list[ColumnTerms], hidden: Sequence[SeenSpread | None]
) -> BlockFit | None:
    """Return the test from the uncorrected terms of the parameters; None where the law's variance is not known.

    hidden: of each parameter of which blocks lie beyond an end of the box, else None: they vary less than the law says.
    """
    query = cast("SampleAndAggregate", release.query)
    whole = release.rows is not None and query.where is None and release.unit is None
    law, k = query.model.law, parts[0].parameters["blocks"]
    # the variance of a block by resampling is not one between blocks, which this test compares with the law's
    if not whole or query.bias != "cox-snell" or query.winsorize or resampled(query) or not isinstance(law, Family):
        return None
    rows = cast(int, release.rows) / k
    values = np.array([one.value[0] for one in terms])
    found = [by_law(law, [one.label for one in parts], values, j, rows)(values[j : j + 1]) for j in range(len(parts))]
    if any(one is None for one in found):
        return None
    expected = np.array([cast(Array, one)[0] for one in found])
    made = [noisy_block(one, part) for part, one in zip(parts, terms, strict=True)]
    ratio = np.array([one.found[0] for one in made]) / expected
    error = np.sqrt(variance_of_spread(k, rows) + (np.array([one.noise[0] for one in made]) / expected) ** 2)
    for j, one in enumerate(hidden):
        if one is not None:
            (ratio[j],), (error[j],) = joint_multiple([one])
    fit = BlockFit(ratio, error, np.zeros_like(ratio), tuple(hidden))
    return replace(fit, bias=bias_by_law(release, values)) if fit.rejected else fit


def bias_by_law(release: Released, values: Array) -> Array:
    """Return the bias of one block's estimate by the law at released values, shape (p,); infinite where not known."""
    law = cast(Family, cast("SampleAndAggregate", release.query).model.law)
    blocks = next(one for one in release.parts if one.form in OF_BLOCKS).parameters["blocks"]
    return _bias(law, values) * blocks / cast(int, release.rows)


def _bias(law: Family, values: Array) -> Array:
    """Return the bias of the law's estimate, times its rows, shape (p,); infinite where it is not known."""
    try:
        return np.asarray(law.bias(scores.inner(law, values)), dtype=np.float64)
    except (ModelError, np.linalg.LinAlgError):
        return np.full(len(values), np.inf)
