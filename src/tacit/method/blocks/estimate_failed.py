"""Share of blocks without an estimate, from the noisy number of those that have one.  Post-processing: costs nothing.

A block without an estimate weighs nothing.  Where a chance few rows are the cause, the others speak for all; where the
estimate itself is (a maximum at no finite place, beyond the box), blocks that fail are not like the others, and their
mean is another one.  A mean of blocks is given up where it could have moved by more than its standard error.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final, cast

import numpy as np

from tacit.estimates.noisy_terms.interval_inversion import LinearInversion
from tacit.estimates.terms import ColumnTerms
from tacit.release.parts import Grid, Part

SEEN: Final = 5.0
"""Standard deviations of its noise above which a share of failures is taken for one: exceeded by chance in less than
one of 2,000 releases, whatever the noise."""
APART: Final = 1.0
"""Distance between blocks that fail and others, in standard deviations of a block, that an interval must allow for."""


@dataclass(frozen=True)
class FailedBlocks:
    """Released share of blocks without an estimate, and the standard deviation of its noise."""

    share: float
    noise: float

    @property
    def seen(self) -> bool:
        """Whether the share is above what noise makes of 0."""
        return self.share > SEEN * self.noise

    @property
    def most(self) -> bool:
        """Whether most blocks have no estimate."""
        return self.seen and self.share > 0.5

    @property
    def reason(self) -> str:
        """Why a mean over the others is no answer."""
        return f"about {min(self.share, 1):.0%} of the blocks have no estimate, and may differ from the others"

    @property
    def note(self) -> str:
        """The share in words, with a margin of two standard deviations."""
        return f"{max(self.share, 0.0):.1%} ± {2 * self.noise:.1%} of the blocks have no estimate, and weigh nothing"


def failed_blocks(parts: Sequence[Part]) -> FailedBlocks | None:
    """Return the share of blocks without an estimate, from the parts that count them; None in releases of 0.1."""
    # scores after one step count rows that are there, not blocks
    counts = [part for part in parts if "presence" in part.parameters and "blocks" in part.parameters]
    if not counts:
        return None
    # every parameter has its own noisy copy of one number
    own = np.array([part.integers[0][2] / part.parameters["presence"] for part in counts])
    noise = np.array([part.law.variance() / part.parameters["presence"] ** 2 for part in counts])
    k = counts[0].parameters["blocks"]
    return FailedBlocks(1 - float(own.mean()) / k, float(np.sqrt(noise.sum())) / len(counts) / k)


def given_up(made: ColumnTerms, part: Part, failed: FailedBlocks) -> ColumnTerms:
    """Return the terms with a reason in place of the interval where blocks that failed could have moved their mean."""
    one = np.sqrt(made.variance * part.parameters["blocks"])
    moved = APART * failed.share * one > np.sqrt(made.variance + made.privacy_variance)
    if not (failed.most or (failed.seen and moved.all())):
        return made
    return without_interval(made, part, failed.reason)


def without_interval(made: ColumnTerms, part: Part, text: str) -> ColumnTerms:
    """Return the terms with a reason in place of the interval, unless they have one."""
    grid = cast(Grid, part.grid)
    # an error far wider than the box, so that the value weighs nothing beside others
    variance = np.full_like(made.variance, (10 * (grid.upper - grid.lower)) ** 2)
    wide = LinearInversion(made.value, variance, made.loadings, made.law, grid.lower, grid.upper)
    reasons = tuple(reason or text for reason in made.reasons)
    return replace(made, variance=variance, inversion=wide, reasons=reasons)
