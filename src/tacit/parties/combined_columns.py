"""Pooled numbers of each column of combined releases: over all parties, of each party, and how far parties differ."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np
from numpy.typing import NDArray

from tacit.base.arrays import Array
from tacit.estimates.noisy_terms.interval_inversion import Inversion
from tacit.estimates.terms import ColumnTerms
from tacit.method.blocks.combine import BlocksOfParties, Widened, mostly_ended
from tacit.method.quality.estimate import CLASSES
from tacit.method.regression import combine as regressions
from tacit.method.sufficient_statistics import combine as parameters
from tacit.parties import totals
from tacit.parties.combined_tables import listed
from tacit.pooling.common_value import Pooled, noises, pooled
from tacit.pooling.evidence import Evidence, merge_same_people
from tacit.pooling.heterogeneity import Method, PooledEffects
from tacit.pooling.random_effects import (
    PartyEstimates,
    RandomEffects,
    effects_of_estimates,
    linearised_effects,
    party_estimates,
    random_effects,
)
from tacit.pooling.released_evidence import evidence, quality_evidence
from tacit.release.document import Released

FEW: Final = "fewer than two parties of a size clearly above its noise"
"""Of many parties, besides those whose size noise alone may make (`Presence.several`)."""
FEW_FITS: Final = "fewer than two parties of which noise leaves coefficients"
NO_FITS: Final = "noise leaves no party's coefficients"
FEW_BLOCKS: Final = "fewer than two parties whose own estimates have intervals"
NO_LIMITS: Final = (np.array(-np.inf), np.array(np.inf))
NO_BLOCKS: Final = "no party's own estimate has an interval"


@dataclass(frozen=True)
class Column:
    """T pooled terms of one column.

    value, variance (sampling), privacy (noise variance): shape (T,).  excess: the fourth cumulant of the noise, as the
    variance of the Laplace variable that has it.  shares: weights of M parties, shape (M, T).  parts: each party's own
    estimates.  effects: how far parties differ, one a term, None where that is not known or has no meaning (totals).
    shared: whether terms have errors in common whose correlation is not known.
    """

    label: str
    value: Array
    variance: Array
    privacy: Array
    excess: Array
    inversion: Inversion
    reasons: tuple[str | None, ...]
    shares: Array
    parts: PartyEstimates
    effects: tuple[PooledEffects | None, ...]
    shared: bool = False
    made: ColumnTerms | None = None
    """For parameters of a family: the terms, with the noises that they have in common."""
    out: tuple[tuple[int, str], ...] = ()
    """Of blocks: the parties that weigh nothing for a reason of their own, with the reason."""
    notes: tuple[str, ...] = ()
    """Of blocks: what tests of all parties say."""
    limits: tuple[Array, Array] = NO_LIMITS
    """Of random effects: the smallest and largest possible value of any party, shape () or (T,) each."""

    def block(self, people: str, source: str) -> ColumnTerms:
        """Return the column as terms of an `Estimate`."""
        if self.made is not None:
            return replace(self.made, people=people, source=source)
        law, loadings = noises(self.privacy, self.excess)
        zero = np.zeros_like(self.value)
        return ColumnTerms(
            self.label,
            self.value,
            self.variance,
            zero,
            loadings,
            law,
            self.inversion,
            self.reasons,
            people,
            f"{source}/{self.label}",
            self.shared,
        )


def columns(
    releases: Sequence[Released],
    index: Sequence[int],
    effect: str,
    method: Method,
    sampled: bool,
    parties: Sequence[str] = (),
    *,
    linear: bool = False,
) -> tuple[Column, ...]:
    """Pool releases of one question; index: the party of each; parties: their names.  One entry a column.

    linear: of a regression, as `RegressionRelease.estimate` has it.
    """
    if type(releases[0].query).__name__ == "Regression":
        found = (_coefficients(releases, index, effect, method, linear),)
    else:
        found = _columns(releases, index, effect, method, sampled)
    return tuple(_naming(one, parties) for one in found) if parties else found


def _naming(found: Column, parties: Sequence[str]) -> Column:
    """Return the column with the parties that say too little named in the reasons that speak of them."""
    reasons = list(found.reasons)
    for t, why in enumerate(reasons):
        if why not in (FEW, FEW_FITS, NO_FITS, FEW_BLOCKS, NO_BLOCKS):
            continue
        out = [name for name, usable in zip(parties, found.parts.usable[:, t].tolist(), strict=True) if not usable]
        if out:
            reasons[t] = f"{why}: {listed(out)} say too little"
    return replace(found, reasons=tuple(reasons))


def _columns(
    releases: Sequence[Released], index: Sequence[int], effect: str, method: Method, sampled: bool
) -> tuple[Column, ...]:
    first = releases[0]
    kind, size = type(first.query).__name__, len(first.parts)
    if kind in ("Count", "Sum"):
        return tuple(_totals(releases, index, at, sampled) for at in range(size))
    if kind == "DataQuality":
        return tuple(
            _common(
                f"{part.label}: {name}",
                merge_same_people(quality_evidence(releases, at, i), index),
                method,
                sampled,
                equal=True,
            )
            for at, part in enumerate(first.parts)
            for i, name in enumerate(CLASSES[part.parameters["classes"]])
        )
    if kind == "SufficientStatistics":
        return (_parameters(releases, index, effect, method, sampled),)
    if kind == "SampleAndAggregate" and sampled:
        tested = BlocksOfParties.of(releases, index)
        return tuple(block_column(part.label, tested, at, effect, method) for at, part in enumerate(first.parts))
    found = [merge_same_people(evidence(releases, at), index) for at in range(size)]
    labels = [part.label for part in first.parts]
    if effect == "random":
        return tuple(
            _random(label, random_effects(one, method, sampled=sampled))
            for label, one in zip(labels, found, strict=True)
        )
    return tuple(_common(label, one, method, sampled) for label, one in zip(labels, found, strict=True))


def _common(label: str, found: Evidence, method: Method, sampled: bool, equal: bool = False) -> Column:
    made: Pooled = pooled(found, sampled=sampled, equal=equal)
    # a value in the column's units is shift + scale x, so that variances carry scale**2
    scale = found.scale**2
    parts = party_estimates(found, sampled=sampled)
    return Column(
        label=label,
        value=made.value,
        variance=scale * made.variance,
        privacy=scale * made.noise,
        excess=scale * made.excess,
        inversion=made,
        reasons=made.reasons,
        shares=made.shares,
        parts=parts,
        effects=_differing(found, parts, method),
    )


def block_column(label: str, tested: BlocksOfParties, at: int, effect: str, method: Method) -> Column:
    """Pool means of blocks; parties whose own estimates have a reason weigh nothing (`method.blocks.combine`)."""
    found, own = tested.evidence(at), tested.reasons(at)
    out = tuple((party, why) for party, why in enumerate(own) if why is not None)
    kept = np.array([party for party, why in enumerate(own) if why is None], dtype=np.int64)
    # of none, the equations of one that says nothing: the whole box, with a reason
    some = found.of(kept) if len(kept) else found.of(np.array([0])).silent
    made = _common(label, some, method, True)
    if effect == "random":
        made = _random(label, random_effects(some, method), FEW_BLOCKS if out else FEW)
    made = _among(made, kept, len(own)) if out else made
    if not len(kept):
        return replace(made, out=out, reasons=(NO_BLOCKS,))
    error = float(np.sqrt(made.variance + made.privacy)[0])
    doubt = tested.doubt(at, made.shares[:, 0], error)
    return replace(
        made,
        variance=made.variance + doubt.moved**2,
        inversion=Widened(made.inversion, made.value, doubt.moved, error, found.limits),
        reasons=(made.reasons[0] or mostly_ended(own) or doubt.reason,),
        out=out,
        notes=doubt.notes,
    )


def _among(made: Column, kept: NDArray[np.int64], parties: int) -> Column:
    """Return a column of the parties `kept` as one of all, of which the others weigh nothing and are not shown."""
    size = len(kept)
    shares, usable = np.zeros((parties, 1)), np.zeros((parties, 1), dtype=np.bool_)
    value, sampling, privacy = np.zeros((3, parties, 1))
    if size:
        shares[kept], usable[kept] = made.shares, made.parts.usable
        value[kept], sampling[kept], privacy[kept] = made.parts.value, made.parts.sampling, made.parts.privacy
    return replace(made, shares=shares, parts=PartyEstimates(value, sampling, privacy, usable))


def _parameters(
    releases: Sequence[Released], index: Sequence[int], effect: str, method: Method, sampled: bool
) -> Column:
    """Pool parameters of a family: pooled statistics solved once, or random effects of the parties' own parameters."""
    differing, why = parameters.varied(releases, index, method, sampled)
    if effect == "random":
        return _random("", differing, why or FEW)
    block, parts, shares = parameters.common(releases, index, sampled)
    zero = np.zeros_like(block.value)
    return Column(
        label="",
        value=block.value,
        variance=block.variance,
        privacy=block.privacy_variance,
        excess=zero,
        inversion=block.inversion,
        reasons=block.reasons,
        shares=shares,
        parts=parts,
        effects=differing.effects,
    )


def _coefficients(
    releases: Sequence[Released], index: Sequence[int], effect: str, method: Method, linear: bool
) -> Column:
    """Pool regressions: weighted means of the parties' coefficients, whose correlations are treated as unknown."""
    found = regressions.coefficients(releases, index, linear=linear)
    parts = found.parts
    limits = np.full(parts.value.shape[1], -np.inf), np.full(parts.value.shape[1], np.inf)
    differing = effects_of_estimates(parts, limits, method)
    if effect == "random":
        return _random("", found.widened(differing), FEW_FITS)
    made = regressions.common(found)
    heard: list[bool] = np.asarray(parts.usable.any(axis=0)).tolist()
    return Column(
        label="",
        value=made.value,
        variance=made.sampling,
        privacy=made.privacy,
        excess=np.zeros_like(made.value),
        inversion=made,
        reasons=tuple(None if one else NO_FITS for one in heard),
        shares=made.shares,
        parts=found.shown,
        effects=differing.effects,
        # one party's coefficients are correlated, and only their variances are pooled
        shared=True,
    )


def _random(label: str, made: RandomEffects, few: str = FEW) -> Column:
    return Column(
        label=label,
        value=made.value,
        # what is not noise: sampling, and the differences of parties; parties that agree by chance make the estimated
        # total too small, but the parties' own rows leave at least this
        variance=np.maximum(made.variance - made.privacy, _least(made)),
        privacy=made.privacy,
        excess=np.zeros_like(made.privacy),
        inversion=made,
        reasons=tuple(few if one is None else None for one in made.effects),
        shares=made.shares,
        parts=made.parts,
        effects=made.effects,
        shared=True,
        limits=made.limits,
    )


def _least(made: RandomEffects) -> Array:
    """Return the sampling variance of the weighted mean of quantities that do not differ, shape (T,)."""
    own = np.where(made.shares > 0, made.parts.sampling, 0.0)
    return np.nan_to_num((made.shares**2 * own).sum(axis=0))


def _differing(found: Evidence, parts: PartyEstimates, method: Method) -> tuple[PooledEffects | None, ...]:
    """Return how far parties differ beyond their errors, also under common effects; None where there is no error."""
    # heterogeneity is measured against the errors: without any there is nothing to compare with
    certain = np.asarray(~(parts.sampling + parts.privacy > 0).any(axis=0), dtype=np.bool_)
    made, _ = linearised_effects(found, method, bool(parts.sampling.any()), certain)
    return made


def _totals(releases: Sequence[Released], index: Sequence[int], at: int, sampled: bool) -> Column:
    """Add up the totals of part `at` over parties, after averaging releases about the same people."""
    own: list[list[totals.PartyTotals]] = [[] for _ in range(max(index) + 1)]
    for release, place in zip(releases, index, strict=True):
        own[place].append(totals.party_totals(release, release.parts[at], sampled))
    parties = [totals.average_totals(one) for one in own]
    made = totals.totals(parties, releases[0].parts[at], sampled)
    value = np.array([one.value for one in parties])
    # a number of rows has the variance of a Poisson count, which is its mean
    sampling = np.maximum(np.array([one.value if one.whole and sampled else one.sampling for one in parties]), 0.0)
    privacy = np.array([one.noise for one in parties])
    return Column(
        label=releases[0].parts[at].label,
        value=made.value,
        variance=made.variance,
        privacy=made.noise,
        excess=made.excess,
        inversion=made,
        reasons=(None,) * len(made.value),
        shares=np.ones_like(value),
        parts=PartyEstimates(value, sampling, privacy, np.ones_like(value, dtype=np.bool_)),
        effects=(None,) * len(made.value),
        # cells of a known number of rows are negatively correlated, as multinomial counts
        shared=made.rows is not None and len(made.value) > 1,
    )
