"""The answer of the pilot's blocks, in the place of a step where rows are seen to follow another law than the model's.

A step and its pilot estimate the same parameters where the law holds.  Where it does not, the mean of blocks, with its
own spread as error, estimates what the maximum-likelihood estimate of all rows tends to, and the solution of the
clipped scores another number.  Two tests, both of released numbers alone: the variances of scores
(`estimate_step_fit`), and the distance of the step from the pilot [Hausman 1978].

Where one of them rejects the law, the answer is the pilot's.  That is to be rare where the law holds, since a pilot's
error is many times that of a step: rarest for the distance, which is large by chance exactly where the pilot is off.
Where one of them leaves doubt, the answer is the step's; its errors have the pilot's added, and its distance from the
pilot, so that the interval reaches what the blocks estimate.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from statistics import NormalDist
from typing import TYPE_CHECKING, Final

import numpy as np

from tacit.base.arrays import Array
from tacit.estimates.estimate import Estimate
from tacit.method.blocks.estimate_by_blocks import by_blocks
from tacit.release.document import Released

if TYPE_CHECKING:
    from tacit.method.blocks.estimate_step_fit import StepFit

REJECTED: Final = 1e-4
"""Probability that a law that holds is rejected by the variance of a score."""
APART: Final = 1e-6
"""Probability that it is rejected by the distance of one parameter from its pilot."""
DOUBTED: Final = 0.01
"""Probability that it is doubted, for one parameter and test."""


@dataclass(frozen=True)
class Verdict:
    """What the tests say of the law.  why: what is not as the law has it, in words; empty where nothing is."""

    rejected: bool
    why: str

    @property
    def doubtful(self) -> bool:
        """Whether the law may not hold, without being rejected."""
        return bool(self.why) and not self.rejected

    @property
    def note(self) -> str:
        """The doubt in words."""
        return f"test of fit: {self.why}: rows may follow another law, and standard errors include those of the blocks"


def judged(fit: StepFit | None, pilot: Estimate, step: Array, variance: Array) -> Verdict:
    """Return the verdict of both tests.  step, variance: of the step's parameters, shape (p,); fit: None, no test."""
    if fit is None:
        return Verdict(False, "")
    chance = float(fit.chance.min())
    for unlike, apart, rejected in ((REJECTED, APART, True), (DOUBTED, DOUBTED, False)):
        far = _away_from_pilot(pilot, step, variance, apart)
        if far or chance < unlike:
            return Verdict(rejected, far or fit.found)
    return Verdict(False, "")


def pilot_alone(release: Released) -> Estimate:
    """Return the estimates of a step's pilot: of the blocks alone, by their own spread and noise."""
    return by_blocks(release, "population")


def doubt_of_law(pilot: Estimate, step: Array) -> Array:
    """Return what a doubt adds to the covariance of a step, shape (p, p): the pilot's error, and its distance."""
    return np.diag(pilot.sampling_variances + pilot.privacy_variances + (step - pilot.values) ** 2)


def _away_from_pilot(pilot: Estimate, step: Array, variance: Array, chance: float) -> str:
    """Return in words where a step is further from its pilot than chance explains; empty where it is not.

    The pilot's interval has the law of its own noise; the two errors are added as if they were independent, which makes
    the test no sharper than it says.
    """
    limits = pilot.intervals(1 - chance)
    half = np.hypot((limits[:, 1] - limits[:, 0]) / 2, NormalDist().inv_cdf(1 - chance / 2) * np.sqrt(variance))
    middle = (limits[:, 0] + limits[:, 1]) / 2
    for name, far, own, reason in zip(pilot.terms, np.abs(step - middle), half, pilot.reasons, strict=True):
        if reason is None and far > own:
            return f"a step by the law's scores goes too far from the blocks ({name})"
    return ""


def of_blocks_instead(pilot: Estimate, why: str) -> Estimate:
    """Return the pilot's estimate with a note that says why it is given."""
    note = (
        f"test of fit: {why}: rows follow another law.  What is estimated is the limit of the maximum-likelihood "
        "estimate, by the blocks alone, which had 3/10 of the price"
    )
    return replace(pilot, notes=(note, *pilot.notes))
