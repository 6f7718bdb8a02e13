"""Histograms of many parties added up: counts and the variances of their noises add."""

from __future__ import annotations

import hashlib
import math
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import chain
from typing import TYPE_CHECKING, Any, Final, NoReturn, Protocol

import numpy as np

from tacit.errors import InferenceError, ReleaseError
from tacit.method.histogram.estimate import HistogramRelease
from tacit.pooling.compatibility import sources
from tacit.pooling.noise_sum import Piece, sum_of_noises

if TYPE_CHECKING:
    from pathlib import Path

    from tacit.estimates.estimate import Estimate
    from tacit.estimates.terms import Target
    from tacit.privacy import Cost
    from tacit.release.document import Release

PARTS: Final = 1_000
"""Several releases of the same people are averaged with weights that are multiples of 1 / PARTS, so exactly."""


class ManyReleases(Protocol):
    """Releases of one question by many parties, as `parties.combined.Combined` holds them."""

    @property
    def releases(self) -> tuple[Release, ...]:
        """What is combined."""
        ...

    @property
    def names(self) -> tuple[str, ...]:
        """The party of each release."""
        ...

    @property
    def index(self) -> tuple[int, ...]:
        """Which population each release is about, from 0."""
        ...

    @property
    def table(self) -> str:
        """Words in place of a table's name."""
        ...

    @property
    def neighbors(self) -> str:
        """The relations of the parties."""
        ...

    @property
    def rows(self) -> int | None:
        """Rows of all parties, where all sizes are public."""
        ...

    @property
    def cost(self) -> Cost:
        """What a person paid."""
        ...

    @property
    def remaining(self) -> str:
        """Words beside the cost."""
        ...


@dataclass(frozen=True, repr=False)
class CombinedHistogram(HistogramRelease):
    """The sum of the histograms of many parties, with everything that a single histogram offers, over all their people.

    parties: their names; those of one ledger are one, and their noise is averaged.  The number of rows is public where
    all are.  It is not saved: the parties' releases are.

    >>> import tacit as tc
    >>> schema, budget = tc.Schema({"sex": tc.Category(["f", "m"])}), tc.Budget(epsilon=1)
    >>> ask = tc.Histogram("sex")
    >>> answers = {
    ...     name: tc.Curator({"sex": ["f", "m", "m"] * n}, schema, budget=budget).release(ask, epsilon=1)
    ...     for name, n in {"st-mary": 100, "st-luke": 300}.items()
    ... }
    >>> found = tc.combine(answers)
    >>> found.parties, found.rows, found.counts.shape, found.estimate("table").terms
    (('st-mary', 'st-luke'), 1200, (2,), ('f', 'm'))
    """

    parties: tuple[str, ...] = ()
    releases: tuple[Release, ...] = ()
    notes: tuple[str, ...] = ()

    def estimate(self, target: Target = "population") -> Estimate:
        """Estimate the cells' numbers of rows, as a single release does, with notes on the combination."""
        made = super().estimate(target)
        return replace(made, notes=(*made.notes, *self.notes))

    def to_dict(self) -> NoReturn:
        """Raise ReleaseError C18: a combination is no release."""
        text = "combined releases are no release."
        raise ReleaseError(text, code="C18", hint="save the parties' own, and combine them again", state=None)

    def save(self, path: str | Path) -> NoReturn:
        """Raise ReleaseError C18: a combination is no release."""
        self.to_dict()


def added(found: ManyReleases, parties: tuple[str, ...], notes: tuple[str, ...] = ()) -> CombinedHistogram:
    """Return the sum of the parties' histograms; InferenceError C11 where one lacks cells, as sparse ones do."""
    first = found.releases[0]
    cells = int(np.prod([len(labels) for _, labels in first.levels], dtype=np.int64))
    for name, one in zip(found.names, found.releases, strict=True):
        # a sum over parties misses what any one of them did not release
        if any(part.form != "histogram" or len(part.integers) != cells for part in one.parts):
            text = f"{name} has not all {cells:,} cells."
            raise InferenceError(text, code="C11", hint="Histogram of all cells alike", state=None)
    part, weights = first.parts[0], _weights(found)
    laws = {id(one.parts[0].law): one.parts[0].law for one in found.releases}  # of many parties few
    # laws are told apart by identity, which is cheap: equal ones in two pieces make the same sum
    pieces = Counter(zip((id(one.parts[0].law) for one in found.releases), weights, strict=True))
    unit = _unit(found)
    made = replace(
        part,
        integers=_sums(weights, [one.parts[0].integers for one in found.releases]),
        law=_law([(laws[key], weight, count) for (key, weight), count in pieces.items()]),
        # an estimate divides by `share`: one row is `unit` of the weighted sum
        parameters={**part.parameters, "share": unit},
        cost=found.cost,
    )
    words: dict[str, Any] = {name: getattr(first, name) for name in ("query", "mechanism", "schema", "unit", "levels")}
    words |= {name: getattr(first, name) for name in ("axes", "ordered", "version")}
    return CombinedHistogram(
        **words,
        table=found.table,
        neighbors=found.neighbors,
        rows=found.rows,
        parts=(made,),
        cost=found.cost,
        charge=0,
        head=hashlib.sha256(f"{sources(found.releases)} {first.query}".encode()).hexdigest(),
        date=max(one.date for one in found.releases),
        remaining=found.remaining,
        parties=parties,
        releases=found.releases,
        notes=notes,
    )


def _sums(weights: Sequence[int], cells: Sequence[Sequence[tuple[int, ...]]]) -> tuple[tuple[int, ...], ...]:
    """Return weighted sums of each cell, in exact integers."""
    # parties of equal weight are added before they are multiplied: one product a cell and weight, not a party
    alike: dict[int, list[Iterator[int]]] = {}
    for weight, one in zip(weights, cells, strict=True):
        alike.setdefault(weight, []).append(chain.from_iterable(one))
    each = [map(weight.__mul__, map(sum, zip(*rows, strict=True))) for weight, rows in alike.items()]
    return tuple(zip(map(sum, zip(*each, strict=True)), strict=True))


def _unit(found: ManyReleases) -> int:
    """Return the integer that one row (person) adds to the sum."""
    # a common multiple: whole weights bring the parts of a row of every party to the same unit
    shares = math.lcm(*(one.parts[0].parameters.get("share", 1) for one in found.releases))
    return shares * (PARTS if _repeated(found) else 1)


def _repeated(found: ManyReleases) -> bool:
    """Whether some releases are about the same people."""
    return len(set(found.index)) < len(found.releases)


def _weights(found: ManyReleases) -> list[int]:
    """Return the integer weight of each release; releases of the same people share the weight of one."""
    unit, several = _unit(found), _repeated(found)
    out: list[int] = []
    seen: Counter[int] = Counter()  # releases of each party so far
    for place, one in zip(found.index, found.releases, strict=True):
        share = one.parts[0].parameters.get("share", 1)
        if not several:
            out.append(unit // share)
            continue
        own = [other for i, other in zip(found.index, found.releases, strict=True) if i == place]
        # weights of releases of the same people add up to PARTS, so that a person still adds `unit`
        out.append(unit // PARTS // share * _part(own, seen[place]))
        seen[place] += 1
    return out


def _part(own: list[Release], at: int) -> int:
    """Return the weight, in PARTS, of release `at` of the same people: inverse to its noise variance; the first gets
    the remainder of rounding down.
    """
    worth = [Fraction(1 / (one.parts[0].law.variance() / one.parts[0].parameters.get("share", 1) ** 2)) for one in own]
    # rounded down, so that what is left for the first is not negative
    parts = [int(PARTS * one / sum(worth)) for one in worth]
    return parts[at] if at else PARTS - sum(parts[1:])


def _law(pieces: list[Piece]) -> Any:
    """Return the law of the sum of the noises; that of a single noise as it is."""
    law, weight, count = pieces[0]
    # a single law stays exact, in its own integers
    return law if len(pieces) == 1 and weight == count == 1 else sum_of_noises(pieces)
