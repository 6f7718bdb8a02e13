"""Answers counted by group: how many support each level, and what follows of shares and their variances."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from tacit.base.arguments import described, plain
from tacit.base.arrays import Array
from tacit.base.simplex import nearest_with_sum
from tacit.errors import QueryError
from tacit.local.channel import Channel

if TYPE_CHECKING:
    from tacit.local.response_design import ResponseDesign


@dataclass(frozen=True)
class AnswerCounts:
    """One group's answers: `supports`, shape (k,), how many support each level, weighted where weights are given.

    total: the sum of weights; squares: of squared weights; own: of answers with weights, the sums of w² b_v and, for
    variances, w² alone are `weighted_supports` and `squares`.
    """

    channel: Channel
    answers: int
    supports: Array
    total: float
    squares: float
    squared_supports: Array
    weighted: bool

    @property
    def shares(self) -> Array:
        """Unbiased shares of the levels, (λ - q) / (p - q), shape (k,)."""
        return (self.supports / self.total - self._wrong) / self._slope

    @property
    def projected(self) -> Array:
        """The nearest shares that are at least 0 and add up to 1, for variances, shape (k,)."""
        return nearest_with_sum(self.shares, 1.0)

    def variances(self) -> tuple[Array, Array]:
        """Return variances of the shares due to sampling and to the answers' randomness, each of shape (k,)."""
        share, p, q = self.projected, float(self.channel.own), self._wrong
        noise = (share * p * (1 - p) + (1 - share) * q * (1 - q)) / self._slope**2 * self._effective
        if not self.weighted:
            return share * (1 - share) * self._effective, noise
        # linearised: Σ w² (b - λ)² / (Σ w)², of which the answers' part is known
        shown = self.supports / self.total
        spread = self.squared_supports * (1 - 2 * shown) + self.squares * shown**2
        whole = spread / self.total**2 / self._slope**2
        return np.maximum(whole - noise, 0.0), noise

    def covariances(self) -> tuple[Array, Array]:
        """Return both covariances, shape (k, k); of weighted answers the correlations are those of the model."""
        share = self.projected
        people = (np.diag(share) - np.outer(share, share)) * self._effective
        noise = self.channel.noise_covariance(share) / self._slope**2 * self._effective
        if not self.weighted:
            return people, noise
        wanted, modelled = self.variances()[0], np.diag(people)
        factor = np.sqrt(np.divide(wanted, modelled, out=np.ones_like(wanted), where=modelled > 0))
        return people * np.outer(factor, factor), noise

    @property
    def _effective(self) -> float:
        """What a variance of one answer is multiplied with: 1 / (n - 1), or Σ w² / (Σ w)²."""
        return self.squares / self.total**2 if self.weighted else 1 / max(self.answers - 1, 1)

    @property
    def _wrong(self) -> float:
        return float(self.channel.wrong)

    @property
    def _slope(self) -> float:
        return float(self.channel.own - self.channel.wrong)


def counted(
    design: ResponseDesign, answers: list[Any], by: Sequence[Any] | None, weights: Sequence[float] | None
) -> list[tuple[str | None, AnswerCounts]]:
    """Return the tally of each group, in order of its name; QueryError Q161, Q163."""
    if not answers:
        raise QueryError("there are no answers.", code="Q163", hint="at least one answer")
    held = _weights(weights, len(answers))
    groups = np.array([""] * len(answers)) if by is None else _groups(by, len(answers))
    supported = [design.supports(one) for one in answers]
    # one pair (answer, level) for each support
    place = np.repeat(np.arange(len(answers)), [len(one) for one in supported])
    level = np.array([i for one in supported for i in one], dtype=np.intp)
    found: list[tuple[str | None, AnswerCounts]] = []
    for name in sorted(set(groups.tolist())):
        here = groups == name
        mine = here[place]
        w = held[here]
        sums = [
            np.bincount(level[mine], weights=held[place[mine]] ** k, minlength=len(design.levels)).astype(np.float64)
            for k in (1, 2)
        ]
        tally = AnswerCounts(
            design.channel, int(here.sum()), sums[0], float(w.sum()), float((w**2).sum()), sums[1], weights is not None
        )
        found.append((None if by is None else name, tally))
    return found


def _weights(weights: Any, size: int) -> Array:
    if weights is None:
        return np.ones(size)
    try:
        found = np.asarray(weights, dtype=np.float64)
    except (TypeError, ValueError):
        found = np.full(1, np.nan)
    if found.shape != (size,) or not np.isfinite(found).all() or (found < 0).any() or not found.any():
        text = f"weights: not {size:,} numbers from 0 on, one for each answer."
        raise QueryError(text, code="Q163", hint="weights known in the clear")
    return found


def _groups(by: Any, size: int) -> np.ndarray[Any, Any]:
    listed = [] if isinstance(by, str) else [plain(one) for one in by]
    if len(listed) != size or any(isinstance(one, float) or one is None for one in listed):
        text = f"by is {described(by)}: not {size:,} names of groups, one for each answer."
        raise QueryError(text, code="Q163", hint='by=["f", "m", …]')
    return np.array([str(one) for one in listed])
