"""`tc.combine`: combine releases of several parties into one answer.  Post-processing: no data and no budget needed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, get_args, overload

from tacit.base.arguments import described
from tacit.errors import InferenceError, nearest
from tacit.method.blocks.estimate import SampleAndAggregateRelease
from tacit.method.bootstrap.combine import CombinedBootstrap, joined
from tacit.method.bootstrap.estimate import BootstrapRelease
from tacit.method.histogram.combine import CombinedHistogram, added
from tacit.method.histogram.estimate import HistogramRelease
from tacit.method.moments.estimate import MomentsRelease
from tacit.method.quality.estimate import QualityRelease
from tacit.method.regression.estimate import RegressionRelease
from tacit.method.sufficient_statistics.estimate import SufficientStatisticsRelease
from tacit.parties.combined import Combined, check_enough_parties
from tacit.pooling.compatibility import (
    BOOTSTRAP,
    NO_EFFECTS,
    check_compatible,
    named_releases,
    notes_on_schemas,
    population_index,
)
from tacit.pooling.heterogeneity import METHODS, Method
from tacit.release.document import Release
from tacit.study.study_parties import Effects

Sums = MomentsRelease | QualityRelease | SampleAndAggregateRelease | SufficientStatisticsRelease | RegressionRelease


@overload
def combine(
    releases: Sequence[HistogramRelease] | Mapping[str, HistogramRelease],
    effects: Effects = "common",
    *,
    method: Method = "REML",
    overlap: bool = False,
    linear: bool = False,
) -> CombinedHistogram: ...


@overload
def combine(
    releases: Sequence[BootstrapRelease] | Mapping[str, BootstrapRelease],
    effects: Effects = "common",
    *,
    method: Method = "REML",
    overlap: bool = False,
    linear: bool = False,
) -> CombinedBootstrap: ...


@overload
def combine(
    releases: Sequence[Sums] | Mapping[str, Sums],
    effects: Effects = "common",
    *,
    method: Method = "REML",
    overlap: bool = False,
    linear: bool = False,
) -> Combined: ...


def combine(
    releases: Sequence[Any] | Mapping[str, Any],
    effects: Effects = "common",
    *,
    method: Method = "REML",
    overlap: bool = False,
    linear: bool = False,
) -> Combined | CombinedHistogram | CombinedBootstrap:
    """Combine releases of one question by several parties into one answer.

    releases: a list (parties are then named by their tables), or {"st-mary": release}.  For Mean, Variance and
    SampleAndAggregate the result is one estimate with inverse-variance weights: the noise variance is known, the
    sampling variance is estimated from all parties.  For SufficientStatistics the noisy statistics are pooled with such
    weights and solved for the parameters once; for Regression the parties' coefficients are averaged with such weights.
    For Count, Sum, DataQuality and Histogram numbers are added, and so are the variances of their noises.  Averages of
    Bootstraps are added, or weighted by the inverse of their variances, as their statistic is.
    effects: "common": all parties share one quantity; "random": quantities differ, and their mean is estimated.
    method: estimator of the variance between parties, "REML" or "DL" [DerSimonian & Laird 1986].
    overlap: whether a person may be in several parties: then costs add up; otherwise the largest counts.
    linear: of a Regression, whether its mean is taken to be linear however far out rows lie: see its `estimate`.

    Numbers of rows, prices, noises and neighbouring relations may differ.  Different ledgers are taken to protect
    different people; releases of one ledger are about the same people: their noises are averaged, and their sampling
    error counts once.  Where schemas differ, a note says so: a release says what its columns are, and not those of its
    conditions.
    InferenceError C10 (no release, or a simulated one), C11 (answers that cannot be added), C12 (different questions,
    columns or units), C13 (a release given twice), C14 (too few parties), C17 (unknown effects, method, overlap or
    linear).
    Source: theory §6; [DerSimonian & Laird 1986], [Hartung & Knapp 2001].

    >>> import tacit as tc
    >>> schema, budget = tc.Schema({"stay": tc.Real(0, 60, units="days")}), tc.Budget(epsilon=1)
    >>> ask = tc.Mean("stay")
    >>> answers = [
    ...     tc.Curator({"stay": [6.0, 9.0, 12.0] * n}, schema, name=name, budget=budget).release(ask, epsilon=1)
    ...     for name, n in {"st-mary": 100, "st-luke": 300, "st-john": 900}.items()
    ... ]
    >>> low, high = combine(answers).estimate().conf_int()
    >>> 5 < low < high < 13
    True
    """
    words = {"effects": (effects, get_args(Effects)), "method": (method, METHODS)}
    for name, (value, known) in words.items():
        if value not in known:
            guess = nearest(str(value), known) or known[0]
            text = f"{name} {value!r} is none of {', '.join(known)}."
            raise InferenceError(text, code="C17", hint=f'{name}="{guess}"', state=None)
    for name, value in {"overlap": overlap, "linear": linear}.items():
        if not isinstance(value, bool):  # pyright: ignore[reportUnnecessaryIsInstance]
            text = f"{name} is {described(value)}: neither True nor False."
            raise InferenceError(text, code="C17", hint=f"{name}=True", state=None)
    names, listed, given = named_releases(releases)
    return combined(names, listed, given, effects, method, overlap, linear=linear)


def combined(
    names: Sequence[str],
    releases: Sequence[Release],
    given: bool,
    effects: Effects,
    method: Method = "REML",
    overlap: bool = False,
    notes: tuple[str, ...] = (),
    *,
    linear: bool = False,
) -> Combined | CombinedHistogram | CombinedBootstrap:
    """Combine named releases; given: whether the caller chose the names.  Errors as of `combine`."""
    check_compatible(names, releases)
    index = population_index(names, releases, given)
    notes = (*notes, *notes_on_schemas(names, releases))
    made = Combined(tuple(releases), tuple(names), index, effects, method, overlap, notes, linear)
    if made.kind == "histogram":
        return added(made, made.parties, notes)
    if made.kind == BOOTSTRAP:
        if effects != "common":
            text = f"effects {effects!r}: {NO_EFFECTS}."
            raise InferenceError(text, code="C17", hint='effects="common"', state=None)
        return joined(made, made.releases, made.parties, notes)
    # totals add up however much parties differ
    check_enough_parties(len(made.parties), "common" if made.is_total else effects)
    return made
