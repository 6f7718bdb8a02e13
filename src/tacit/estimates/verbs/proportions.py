"""Proportions: noisy counts over the noisy total of the cells that they are shares of."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from tacit.base.arrays import Array
from tacit.base.simplex import nearest_with_sum
from tacit.base.table import shown_by_summary
from tacit.errors import InferenceError, nearest
from tacit.estimates.noisy_terms.interval_inversion import Inversion
from tacit.estimates.noisy_terms.noisy_moments import integers
from tacit.estimates.noisy_terms.noisy_ratio import ShareOfTotal, WholeUnitInterval, unclear
from tacit.estimates.normal_estimate import NormalEstimate
from tacit.estimates.terms import Target, check_level, check_target, place_of
from tacit.estimates.wording import who
from tacit.noise.laws import Law
from tacit.release.document import Released
from tacit.release.parts import Levels, cell_labels

if TYPE_CHECKING:
    from tacit.estimates.estimate import Estimate


@shown_by_summary
@dataclass(frozen=True, repr=False)
class Proportions(NormalEstimate):
    """Shares of a total, or of the totals of groups, with both errors.

    Values are 0 or more and add up to 1 in each total.  Intervals are made from the counts as they were released, by
    Fieller's argument with the law of the noise: the total is as noisy as its parts (theory §1.5).  Covariances, for
    contrasts and tests, are multinomial, and those of the noise in the ratio.  A total that is not clearly above 0 is a
    reason, and its shares may be anything from 0 to 1.

    >>> import tacit as tc
    >>> schema = tc.Schema({"sex": tc.Category(["f", "m"]), "ok": tc.Boolean()})
    >>> table = {"sex": ["f", "m"] * 500, "ok": [True, True, False, True] * 250}
    >>> release = tc.Curator(table, schema, budget=tc.Budget(rho=1)).release(tc.Count(by=["sex", "ok"]), rho=0.5)
    >>> found = release.estimate().proportions(within="sex")
    >>> found.terms, found["m:true"].value > 0.9
    (('f:false', 'f:true', 'm:false', 'm:true'), True)
    """

    members: tuple[tuple[int, ...], ...] = ()
    """Places of the shares of each total, among all."""
    inversions: tuple[Inversion, ...] = ()
    picked: tuple[int, ...] = ()
    """Which of them these terms are."""

    def intervals(self, level: float = 0.95, *, simultaneous: bool = False) -> Array:
        """Return limits between 0 and 1, shape (m, 2); InferenceError I01.

        simultaneous: all hold at once [Bonferroni].
        """
        level = check_level(level)
        level = 1 - (1 - level) / len(self.terms) if simultaneous else level
        limits = np.zeros((sum(map(len, self.members)), 2))
        for places, one in zip(self.members, self.inversions, strict=True):
            limits[list(places)] = np.stack(one.interval(level), axis=-1)
        limits = limits[list(self.picked)]
        # limits are of signed counts, shares of those that add up: they hold these, too
        known = np.isfinite(self.values)
        low = np.where(known, np.minimum(limits[:, 0], self.values), limits[:, 0])
        return np.clip(np.stack([low, np.where(known, np.maximum(limits[:, 1], self.values), limits[:, 1])], -1), 0, 1)

    def __getitem__(self, term: str | list[str]) -> Proportions:
        """Return some of the terms, in the given order; InferenceError I02 for an unknown one."""
        index = [place_of(self.terms, name) for name in ([term] if isinstance(term, str) else term)]
        plain = self._plain()[term]
        own = {one.name: getattr(plain, one.name) for one in fields(NormalEstimate)}
        return Proportions(
            **own, members=self.members, inversions=self.inversions, picked=tuple(self.picked[i] for i in index)
        )

    def combined(self, matrix: Array, terms: tuple[str, ...], estimand: str) -> NormalEstimate:
        """Return linear combinations of the shares, nearly normal; matrix: shape (new, m)."""
        return self._plain().combined(matrix, terms, estimand)

    def _plain(self) -> NormalEstimate:
        return NormalEstimate(**{one.name: getattr(self, one.name) for one in fields(NormalEstimate)})


@dataclass(frozen=True)
class CountedGroups:
    """Released counts of cells, shape (cells,), signed, in rows.

    levels: of the columns that make the cells.  added: number of noises in each count, of this law, in units of
    1 / `share` rows.
    """

    levels: Levels
    counts: Array
    law: Law
    added: int
    share: int


def proportions(
    release: Released, cells: CountedGroups, within: str | Sequence[str] | None = None, target: Target = "population"
) -> Proportions:
    """Return the shares of cells among all, or among those of equal levels of the columns `within`.

    InferenceError I09 (target), I41 (no such column, or all of them).
    """
    check_target(target)
    groups = _groups(cells.levels, within)
    m = len(cells.counts)
    values, sampling, privacy = np.full(m, np.nan), np.zeros((m, m)), np.zeros((m, m))
    inversions, found = list[Inversion](), list[str | None]([None] * m)
    noise = cells.law.variance() * cells.added / cells.share**2
    for at in groups:
        k = cells.counts[at]
        size = float(k.sum())
        why = unclear(size, cells.law, cells.added * len(k), cells.share)
        if why is not None:
            for i in at.tolist():
                found[i] = why
            inversions.append(WholeUnitInterval(len(k)))
            continue
        p = nearest_with_sum(k, size) / size
        counted = np.clip(k, 0.0, size)
        inversions.append(ShareOfTotal(counted, size, cells.law, cells.added, cells.share, target == "population"))
        square = np.ix_(at, at)
        values[at] = p
        if target == "population":
            sampling[square] = (np.diag(p) - np.outer(p, p)) / size
        # d(k / K) = (dk - p dK) / K
        load = (np.eye(len(k)) - p[:, None]) / size
        privacy[square] = noise * load @ load.T
    names = [name for name, _ in cells.levels]
    inside = () if within is None else (within,) if isinstance(within, str) else tuple(within)
    of = " and ".join(name for name in names if name not in inside)
    words = f"share of {who(release)} by {of}" + (f", within {' and '.join(inside)}" if inside else "")
    return Proportions(
        release=release,
        title=f"Proportions by {' and '.join(names)}",
        estimand=words + (f", of the {who(release)} of this table" if target == "table" else ""),
        terms=cell_labels(cells.levels),
        values=values,
        sampling=sampling,
        privacy=privacy,
        reasons=tuple(found),
        notes=(f"estimates: {words}; only rows that are in some cell count",),
        term_title=":".join(names),
        tested=False,
        target=target,
        members=tuple(tuple(at.tolist()) for at in groups),
        inversions=tuple(inversions),
        picked=tuple(range(m)),
    )


def of_estimate(estimate: Estimate, within: str | Sequence[str] | None = None) -> Proportions:
    """Return the shares of a Count's cells; InferenceError I41, I98."""
    release = estimate.release
    parts, levels = release.parts, release.levels
    counts = bool(levels) and len(parts) == 1 and parts[0].form == "count" and parts[0].weight is None
    whole = counts and estimate.matrix is None and estimate.terms == cell_labels(levels)
    if not whole or type(release.query).__name__ != "Count":
        text = "proportions are of a Count by groups, whose cells are rows or persons of weight 1."
        hint = 'tc.Count(by="sex"); margin("sex").proportions() of a histogram; Mean of a Boolean column'
        raise InferenceError(text, code="I98", hint=hint, state=None)
    share = parts[0].parameters.get("share", 1)
    cells = CountedGroups(levels, integers(parts[0])[:, 0] / share, parts[0].law, 1, share)
    return proportions(release, cells, within, estimate.target)


def _groups(levels: Levels, within: str | Sequence[str] | None) -> list[NDArray[np.int64]]:
    """Return the places of the cells of each total; InferenceError I41."""
    shape = [len(labels) for _, labels in levels]
    places = np.arange(int(np.prod(shape)), dtype=np.int64).reshape(shape)
    inside = () if within is None else (within,) if isinstance(within, str) else tuple(within)
    names = [name for name, _ in levels]
    for name in inside:
        if name not in names:
            text = f"within {name!r}: not a column of these counts."
            raise InferenceError(text, code="I41", hint=nearest(str(name), names) or ", ".join(names), state=None)
    others = [i for i, name in enumerate(names) if name not in inside]
    if not others:
        text = f"within {', '.join(inside)}: no column is left whose shares are asked for."
        raise InferenceError(text, code="I41", hint="leave one out", state=None)
    first = [names.index(name) for name in dict.fromkeys(inside)]
    rest = int(np.prod([shape[i] for i in others]))
    return list(places.transpose(*first, *others).reshape(-1, rest))
