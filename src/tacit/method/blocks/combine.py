"""Means of blocks over parties: which parties weigh nothing, what the box took off, what tests of all parties say.

A party whose own estimate has a reason in place of an interval (blocks that failed, another law, an end of the box)
weighs nothing.  What stays below a party's own standard error may still exceed that of the combination, for blocks of
one size fail, and are biased, alike in all parties.  So the tests are made once more of all parties together: what may
be left of a bias counts as an error, and beyond one standard error of the combination a reason replaces the interval.
Shapes: M parties (releases about the same people are one), p parameters.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from operator import is_
from typing import Final

import numpy as np

from tacit.base.arrays import Array
from tacit.estimates.noisy_terms.interval_inversion import Inversion
from tacit.method.blocks.estimate_block_fit import BlockFit, bias_by_law
from tacit.method.blocks.estimate_by_blocks import (
    TestedBlocks,
    kept_means,
    tested_blocks,
)
from tacit.method.blocks.estimate_ends import BEYOND, GUESS
from tacit.method.blocks.estimate_failed import APART, SEEN, FailedBlocks
from tacit.method.blocks.estimate_spread import Spreads, joint_multiple, joint_spreads
from tacit.pooling.evidence import Evidence, merge_same_people
from tacit.pooling.kept_parties import KeptParties
from tacit.pooling.released_evidence import evidence
from tacit.release.document import Released

FAILED: Final = "blocks without an estimate may differ from the others by more than the standard error of all parties"
LAW: Final = (
    "rows follow another law, whose bias in short blocks may exceed the standard error of all parties: leave out "
    'bias="cox-snell"'
)
CLAMPED: Final = 0.1
"""Standard errors below which a note does not mention what an end of the box took off."""
COUNTED: Final = "what another law would leave of the bias counts as an error"
SUSPECTED: Final = 1.0
"""Standard errors beyond what is tolerated from which on another law is allowed for: by chance in one study of ten."""
SPREAD: Final = "noise hides how much blocks vary, and with it what the end took off by"
KEPT: Final = "parties at an end of the box are left out, and noise says which: it may move the mean of the others by"
SELECTED: Final = (
    "which parties lie beyond an end of the box is decided by their noise, which moves the mean of the others by far "
    "more than its standard error: a wider box is needed"
)
MOVED: Final = 1.5
"""Standard errors up to which what leaving out parties moves counts as an error: beyond, it is hardly known itself."""
UNSEEN: Final = (
    "noise hides whether rows follow the law, which alone says what bias to take off, {:.1f} standard errors of all "
    'parties; blocks without bias="cox-snell" rest on no law'
)


ENDED: Final = "in more than half of the parties too many blocks lie beyond an end of the box: a wider one is needed"


def mostly_ended(own: Sequence[str | None]) -> str | None:
    """Return a reason where most parties' own estimates end with the box, or None; own: the reason of each party.

    The parameter is common, so that the others seem to be within by their noise.
    """
    return ENDED if 2 * sum(why == BEYOND for why in own) > len(own) else None


@dataclass(frozen=True)
class Doubt:
    """What may be wrong with a combined mean beyond its errors: `moved` in the parameter's units, shape ().

    reason: why there is no interval, or None.  notes: the tests in words.
    """

    moved: float
    reason: str | None
    notes: tuple[str, ...]


@dataclass(frozen=True)
class BlocksOfParties:
    """Tests of M releases, and the party of each."""

    releases: tuple[Released, ...]
    index: tuple[int, ...]
    tests: tuple[TestedBlocks, ...]

    @classmethod
    def of(cls, releases: Sequence[Released], index: Sequence[int]) -> BlocksOfParties:
        """Test each release, by variances of blocks that all those of one law say together."""
        alone = [tested_blocks(one, "population", None) for one in releases]
        spreads = _spreads_of_all(alone)
        tests = tuple(
            first if all(map(is_, own, first.spreads)) else tested_blocks(one, "population", own)
            for one, first, own in zip(releases, alone, spreads, strict=True)
        )
        return cls(tuple(releases), tuple(index), tests)

    def evidence(self, at: int) -> Evidence:
        """Return the estimating equations of parameter `at` of each party, without the clamp to the box."""
        found = evidence(self.releases, at)
        for j, test in enumerate(self.tests):
            if test.freed[at].value[0] != test.plain[at].value[0]:
                found = _freed(found, j, test, at)
        return merge_same_people(found, self.index)

    def reasons(self, at: int) -> tuple[str | None, ...]:
        """Return why a party's own estimate of parameter `at` has no interval, or None; of the same people, the first.

        What is wrong with rows is wrong in all releases about them.
        """
        own: list[str | None] = [None] * (max(self.index) + 1)
        for party, test in zip(self.index, self.tests, strict=True):
            own[party] = own[party] or test.terms[at].reasons[0]
        return tuple(own)

    def doubt(self, at: int, shares: Array, error: float) -> Doubt:
        """Return what all parties say together of the failures, the law and the box.

        shares: weights of the parties in parameter `at`, 0 where one is left out, shape (M,).  error: the combined
        standard error.
        """
        count = np.bincount(self.index, minlength=len(shares))
        # releases about the same people share their party's weight
        weight = np.array([shares[party] / count[party] for party in self.index])
        used = [j for j in range(len(weight)) if weight[j] > 0]
        moved, reason, notes = self._failures(at, weight, used, error)
        left, why, said = self._law(at, weight, used, error)
        clamp = sum(weight[j] * float((self.tests[j].freed[at].value - self.tests[j].plain[at].value)[0]) for j in used)
        if abs(clamp) > CLAMPED * error:
            notes += [f"what an end of the box took off is put back, {abs(clamp) / error:.1f} standard errors"]
        spread = self._spread_error(at, weight, used)
        if spread > CLAMPED * error:
            notes += [f"{SPREAD}, {spread / error:.1f} standard errors, which count as an error"]
        missing = self._kept(at, weight, used)
        if missing > CLAMPED * error:
            notes += [f"{KEPT}, {missing / error:.1f} standard errors, which count as an error"]
        total = float(np.sqrt(moved**2 + left**2 + (GUESS * clamp) ** 2 + spread**2 + missing**2))
        return Doubt(total, reason or why or (SELECTED if missing > MOVED * error else None), (*notes, *said))

    def _spread_error(self, at: int, weight: Array, used: Sequence[int]) -> float:
        """Return the standard error of what is put back, for want of the variance of blocks: of all parties alike."""
        known = [(weight[j], spread) for j in used if (spread := self.tests[j].spread[at]) is not None]
        if not known:
            return 0.0
        # one multiple of the model's variance in all parties, so that what it moves adds up
        moved = sum(part * (spread.value - spread.expected) for part, spread in known)
        return float(np.sqrt((known[0][1].chance * moved**2).sum()))

    def _kept(self, at: int, weight: Array, used: Sequence[int]) -> float:
        """Return by how much leaving out parties at an end of the box may have moved the mean of the others."""
        ended = any(test.terms[at].reasons[0] == BEYOND for test in self.tests)
        if not ended and all(one.freed[at].value[0] == one.plain[at].value[0] for one in self.tests):
            return 0.0  # no end is near
        terms = [self.tests[j].plain[at] for j in used]
        own = np.array([one.value[0] for one in terms])
        limits = [kept_means(self.releases[j], self.tests[j], at) for j in used]
        low, high = np.array(limits, dtype=np.float64).reshape(-1, 2).T
        error = np.sqrt([float((one.variance + one.privacy_variance)[0]) for one in terms])
        whole = weight[list(used)]
        if not len(used) or not whole.sum() > 0:
            return 0.0
        whole = whole / whole.sum()
        return abs(KeptParties(whole, np.maximum(error, 1e-300), low, high).missing(float(whole @ own)))

    def _failures(
        self, at: int, weight: Array, used: Sequence[int], error: float
    ) -> tuple[float, str | None, list[str]]:
        """Return by how much blocks that failed may have moved the mean, a reason where by more than its error."""
        known = [(j, failed) for j in used if (failed := self.tests[j].failed) is not None]
        if not known:
            return 0.0, None, []
        whole = sum(weight[j] for j, _ in known)
        share = sum(weight[j] * failed.share for j, failed in known) / whole
        noise = np.sqrt(sum((weight[j] * failed.noise) ** 2 for j, failed in known)) / whole
        found = FailedBlocks(float(share), float(noise))
        # distances are in standard deviations of one block, which parties have of their own
        far = [(weight[j] * self._spread(j, at), failed) for j, failed in known]
        moved = APART * sum(part * failed.share for part, failed in far)
        own = APART * np.sqrt(sum((part * failed.noise) ** 2 for part, failed in far))
        if not found.seen or moved <= SEEN * own:
            return 0.0, None, []
        return float(moved), FAILED if moved > error else None, [found.note]

    def _spread(self, j: int, at: int) -> float:
        """Return the standard deviation of one block's estimate."""
        test = self.tests[j]
        return float(np.sqrt(test.freed[at].variance[0] * test.parts[at].parameters["blocks"]))

    def _law(self, at: int, weight: Array, used: Sequence[int], error: float) -> tuple[float, str | None, list[str]]:
        """Return what another law may leave of the bias, a reason where that is more than the error."""
        known = [(j, fit) for j in used if (fit := self.tests[j].fit) is not None]
        if not known:
            return 0.0, None, []
        found = pooled_fit([fit for _, fit in known])
        bias = sum(float(weight[j] * self._bias(j)[at]) for j, _ in known)
        left = float(replace(found, bias=np.array([bias])).left[0])
        if found.rejected:
            return left, LAW if left > error else None, [found.note]
        if found.excess.max() > SUSPECTED:
            return left, None, [f"{found.note}; {COUNTED}"]
        unseen = abs(bias) * float(found.error[at]) > error
        return 0.0, None, [f"{found.note}; {UNSEEN.format(abs(bias) / error)}" if unseen else found.note]

    def _bias(self, j: int) -> Array:
        """Return the bias of one block's estimate by the law in release j, shape (p,)."""
        test = self.tests[j]
        if test.fit is not None and test.fit.rejected:
            return test.fit.bias
        return bias_by_law(self.releases[j], np.array([one.value[0] for one in test.plain]))


def pooled_fit(fits: Sequence[BlockFit]) -> BlockFit:
    """Return the ratios of all parties, weighted inversely to their variances; without a bias."""
    made = np.array([_pooled_ratio(fits, j) for j in range(len(fits[0].ratio))])
    return BlockFit(made[:, 0], made[:, 1], np.zeros(len(made)))


def _pooled_ratio(fits: Sequence[BlockFit], j: int) -> tuple[float, float]:
    """Return the ratio of parameter j and its standard error.

    Parties at an end of the box speak together first: of one alone the ratio is not nearly normal.
    """
    near = [one.hidden[j] for one in fits if one.hidden]
    hidden = [one for one in near if one is not None]
    found = [(one.ratio[j], one.error[j]) for one in fits if not one.hidden or one.hidden[j] is None]
    if hidden:
        (ratio,), (error,) = joint_multiple(hidden)
        found.append((ratio, error))
    own = np.array(found)
    worth = 1 / np.maximum(own[:, 1], 1e-300) ** 2
    return float((worth * own[:, 0]).sum() / worth.sum()), float(worth.sum() ** -0.5)


def _spreads_of_all(alone: Sequence[TestedBlocks]) -> list[list[Spreads | None]]:
    """Return the variances that blocks of each release may have, of each parameter; None where no end is near.

    alone: tests of each release by itself.  One that weighs nothing, for another reason than an end of the box, says
    nothing of the others.
    """
    made = [list(test.spreads) for test in alone]
    for at in range(len(made[0])):
        own = (test.terms[at].reasons[0] for test in alone)
        heard = [j for j, why in enumerate(own) if why in (None, BEYOND) and made[j][at] is not None]
        if len(heard) < 2:
            continue
        known = [(j, one) for j in heard if (one := alone[j].seen[at]) is not None]
        for (j, _), spreads in zip(known, joint_spreads([one for _, one in known]), strict=True):
            made[j][at] = spreads
    return made


def _freed(found: Evidence, j: int, test: TestedBlocks, at: int) -> Evidence:
    """Return the equations with those of release j around its mean without the clamp.

    Its loadings l and variance v, of the mean x, make D(x) = N (x - .) with derivatives N l + x times those of the size
    N, and with the sampling variance N**2 v at x.
    """
    made, scale = test.freed[at], found.scale
    x, size = (made.value[0] - found.shift) / scale, found.size[j, 0]
    total, loads, squares = found.total.copy(), found.loads.copy(), found.squares.copy()
    k = made.loadings.shape[1]
    total[j] = x * size
    loads[1, j, 0, :k] = size * made.loadings[0] / scale + x * loads[0, j, 0, :k]
    # the error of the correction is common to all parties, and is counted once, in `doubt`
    spread = test.spread[at]
    guess = (GUESS * (made.value - test.plain[at].value)[0]) ** 2 + (0.0 if spread is None else spread.variance[0])
    variance = (made.variance[0] - guess) / scale**2
    squares[:, j, 0] = np.array([1.0, x, x**2]) * squares[0, j, 0] + np.array([0.0, 0.0, size**2 * variance])
    return replace(found, total=total, loads=loads, squares=squares)


@dataclass(frozen=True)
class Widened:
    """Intervals of one mean that allow for a bias of the size `moved` beside the standard error `error` of `inner`."""

    inner: Inversion
    value: Array
    moved: float
    error: float
    limits: tuple[float, float]

    def interval(self, level: float) -> tuple[Array, Array]:
        """Return the limits, as much further from the value as the whole error is larger, within the box."""
        factor = np.sqrt(1 + (self.moved / max(self.error, 1e-300)) ** 2)
        low, high = self.inner.interval(level)
        least, most = self.limits
        return (
            np.maximum(self.value - factor * (self.value - low), least),
            np.minimum(self.value + factor * (high - self.value), most),
        )
