"""`Combined`: releases of one question by several parties, as one answer.  Post-processing: costs nothing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from tacit.base.arrays import Array
from tacit.base.table import Table, shown_by_summary
from tacit.errors import InferenceError, nearest
from tacit.estimates.terms import Target, check_level, check_target
from tacit.estimates.total_errors.error_laws import halfwidth
from tacit.estimates.wording import estimand, title, who
from tacit.method.regression.combine import names_of
from tacit.method.sufficient_statistics.estimate import map_of
from tacit.parties import combined_tables
from tacit.parties.combined_columns import Column, columns
from tacit.parties.combined_cost import person_cost
from tacit.parties.combined_estimate import Combination
from tacit.pooling.common_value import law
from tacit.pooling.compatibility import BLOCKS, KINDS, REGRESSION, STATISTICS, sources
from tacit.pooling.heterogeneity import Method, PooledEffects
from tacit.privacy import Cost
from tacit.release.document import Release
from tacit.release.parts import Levels, Part, cell_labels
from tacit.release.query import Query
from tacit.study.study_parties import Effects as Words

if TYPE_CHECKING:
    import pandas as pd  # pyright: ignore[reportMissingTypeStubs]


FEWEST: Final = {"common": 1, "random": 2}
"""Smallest number of parties of an estimate, by kind of effects."""


@shown_by_summary
@dataclass(frozen=True, repr=False)
class Combined:
    """The combined answer of several parties, made by `tc.combine` or `Study.combine`.

    Attributes
    ----------
    releases, names: the combined releases, and the party of each.
    index: the population of each release, from 0: releases of one ledger are about the same people.
    effects: "common" (one quantity in all parties) or "random" (quantities that differ from party to party).
    method: estimator of the variance between parties tau2, "REML" or "DL".
    overlap: whether a person may be in several parties: then costs add up.
    linear: whether the mean of a regression is taken to be linear however far out rows lie.

    It has the attributes of a release (`query`, `levels`, `cost`, ...) and `estimate()`.

    >>> import tacit as tc
    >>> schema, budget = tc.Schema({"stay": tc.Real(0, 60)}), tc.Budget(epsilon=1)
    >>> ask = tc.Mean("stay")
    >>> answers = {
    ...     name: tc.Curator({"stay": [days, 9.0, 12.0] * 99}, schema, budget=budget).release(ask, epsilon=1)
    ...     for name, days in {"st-mary": 6.0, "st-luke": 7.0, "st-john": 11.0}.items()
    ... }
    >>> found = tc.combine(answers)
    >>> found.parties, str(found.cost), len(found.estimate().terms)
    (('st-mary', 'st-luke', 'st-john'), 'ε = 1', 1)
    """

    releases: tuple[Release, ...]
    names: tuple[str, ...]
    index: tuple[int, ...]
    effects: Words
    method: Method = "REML"
    overlap: bool = False
    notes: tuple[str, ...] = field(default=(), compare=False)
    linear: bool = False

    # Attributes of a release ----------------------------------------------------------------------------------------

    @property
    def query(self) -> Query[Any]:
        """The question."""
        return self.releases[0].query

    @property
    def table(self) -> str:
        """The number of parties in words, in place of a table's name."""
        return f"{len(self.parties):,} {'party' if len(self.parties) == 1 else 'parties'}"

    @property
    def neighbors(self) -> str:
        """The neighbouring relations of the parties."""
        return " and ".join(sorted({one.neighbors for one in self.releases}, reverse=True))

    @property
    def rows(self) -> int | None:
        """The number of rows (of persons, where there is a unit) of all parties; None where one is private."""
        # a dict by population: releases of the same people count their rows once
        sizes = dict(zip(self.index, (one.rows for one in self.releases), strict=True))
        return None if None in sizes.values() else sum(n for n in sizes.values() if n is not None)

    @property
    def unit(self) -> int | None:
        """The most rows that a person counts with; None where a row is a person."""
        return self.releases[0].unit

    @property
    def levels(self) -> Levels:
        """Public labels of `by`."""
        return self.releases[0].levels

    @property
    def ordered(self) -> Levels:
        """Those of `levels` whose order means something."""
        return self.releases[0].ordered

    @property
    def parts(self) -> tuple[Part, ...]:
        """Public facts of the columns, without integers: those of the parties are in `releases`."""
        # without one party's integers, which could be taken for the sum of all
        return tuple(replace(part, integers=(), weight=None) for part in self.releases[0].parts)

    @property
    def cost(self) -> Cost:
        """The privacy cost for a person: the largest of the populations' costs, or their sum where they overlap."""
        return person_cost(self.releases, self.index, self.overlap)

    @property
    def remaining(self) -> str:
        """A note printed beside the cost: whose cost it is."""
        return combined_tables.beside_the_cost(self)

    # Estimates ------------------------------------------------------------------------------------------------------

    @cached_property
    def members(self) -> tuple[tuple[str, ...], ...]:
        """Names of the releases of each party."""
        found: list[list[str]] = [[] for _ in range(max(self.index) + 1)]
        for name, i in zip(self.names, self.index, strict=True):
            found[i].append(name)
        return tuple(tuple(one) for one in found)

    @cached_property
    def parties(self) -> tuple[str, ...]:
        """Names of the parties; releases of the same people are one."""
        return tuple(" and ".join(one) for one in self.members)

    def estimate(self, target: Target = "population") -> Combination:
        """Estimate means, shares, variances or parameters over all parties, or the totals of counts and sums.

        target="table": the parties' tables are the population, all rows weigh the same, and noise is the only error.
        InferenceError I09 for another target.  Source: theory §6; `docs/reference/combining.md` has the coverage.
        """
        check_target(target, "the tables are all there is")
        if self.kind == REGRESSION and target != "population":
            text = f"target {target!r}: a Regression speaks of the population that the rows were drawn from."
            raise InferenceError(text, code="I09", hint='target="population"', state=None)
        made = self.columns if target == "population" else self._columns(False)
        source = f"parties {sources(self.releases)}"
        people = f"parties {' '.join(sorted({str(one.ledger or one.table) for one in self.releases}))}"
        blocks = tuple(one.block(people, source) for one in made)
        words = "shares of cells over all parties" if self.kind == "quality" else ""
        models = (BLOCKS, STATISTICS, REGRESSION)
        named = (
            f"coefficients, {combined_tables.formula_of(self)}"
            if self.kind == REGRESSION
            else f"parameters, {title(self)}"
        )
        words = named if self.kind in models else words or estimand(self, target)
        return Combination(
            self,
            target,
            combined_tables.estimand_of(self, words),
            self.terms,
            blocks,
            notes=(*combined_tables.notes(self, made, target), *self.notes),
            units=None
            if self.kind in models
            else next((part.grid.units for part in self.parts if part.grid is not None), None),
            term_title=":".join(column for column, _ in self.levels),
        )

    @property
    def kind(self) -> str:
        """The kind of the releases: "moments", "quality", ..."""
        kind = self.releases[0].kind
        return KINDS.get(kind, kind)

    @cached_property
    def columns(self) -> tuple[Column, ...]:
        """The pooled numbers of each column."""
        return self._columns(True)

    def _columns(self, sampled: bool) -> tuple[Column, ...]:
        asked = self.releases, self.index, self.effects, self.method, sampled, self.parties
        return columns(*asked, linear=self.linear)

    @property
    def terms(self) -> tuple[str, ...]:
        """Labels of the terms, the same as of one party's estimate."""
        if self.kind == "quality":
            return tuple(one.label for one in self.columns)
        if self.kind == STATISTICS:
            return map_of(self.releases[0]).model.names
        if self.kind == REGRESSION:
            return names_of(self.releases[0])
        cells = cell_labels(self.levels)
        if not self.levels:
            return tuple(part.label or who(self.releases[0]) for part in self.parts)
        several = len(self.parts) > 1
        return tuple(f"{part.label}:{cell}" if several else cell for part in self.parts for cell in cells)

    def at(self, t: int) -> tuple[Column, int]:
        """Return the column that has term t, and the index of the term in it."""
        for one in self.columns:
            if t < len(one.value):
                return one, t
            t -= len(one.value)
        raise IndexError(t)

    def effects_of(self, t: int) -> PooledEffects | None:
        """Return how far parties differ in term t; None where that is not known."""
        column, i = self.at(t)
        return column.effects[i]

    def shares_of(self, t: int) -> Array:
        """Return the parties' weights in term t, shape (parties,): they add up to 1; in a total each is 1."""
        column, i = self.at(t)
        return column.shares[:, i]

    def prediction_of(self, t: int, level: float = 0.95) -> tuple[float, float] | None:
        """Return a prediction interval for a new party; None with common effects, or fewer than three parties.

        It is kept within what can be: a share within 0 and 1, a mean within the bounds of its column.
        """
        column, i = self.at(t)
        found = column.effects[i]
        made = None if found is None or self.effects == "common" or self.is_total else found.prediction(level)
        if made is None:
            return None
        least, most = (float(np.broadcast_to(end, len(column.value))[i]) for end in column.limits)
        low, high = (min(max(one, least), most) for one in made)
        return low, high

    @property
    def is_total(self) -> bool:
        """Whether the answer is a sum over parties."""
        return type(self.query).__name__ in ("Count", "Sum", "DataQuality")

    def rows_of(self, t: int, level: float = 0.95) -> tuple[Array, Array, Array, Array]:
        """Return each party's own value (NaN if unusable), interval ends and sampling variance, shape (parties,)."""
        column, i = self.at(t)
        parts = column.parts
        value = np.where(parts.usable[:, i], parts.value[:, i], np.nan)
        half = halfwidth(level, *law(parts.sampling[:, i], parts.privacy[:, i], np.zeros_like(value)))
        return value, value - half, value + half, np.where(parts.usable[:, i], parts.sampling[:, i], np.nan)

    # Tables and pictures --------------------------------------------------------------------------------------------

    def summary(self, level: float = 0.95) -> Table:
        """Return the estimates as a table, with how far parties differ; InferenceError I01 (level below 0.5)."""
        return self.estimate().summary(level)

    def heterogeneity(self, level: float = 0.95) -> Table:
        """Return a table of Q, I², τ² and the prediction interval of each term; InferenceError I01 (level)."""
        return combined_tables.heterogeneity(self, check_level(level))

    def by_party(self, level: float = 0.95) -> Table:
        """Return a table of each party's estimate, interval, weight and cost; InferenceError I01 (level)."""
        return combined_tables.by_party(self, check_level(level))

    def to_frame(self, level: float = 0.95) -> pd.DataFrame:
        """Return estimate, std_error, lower, upper, privacy_share and weight by party and term; I01 (level)."""
        return combined_tables.frame(self, check_level(level))

    def leave_one_out(self, level: float = 0.95) -> Table:
        """Return a table of the estimates without each party; InferenceError I01 (level), C14 (fewer than three)."""
        return combined_tables.leave_one_out(self, check_level(level))

    def without(self, *parties: str) -> Combined:
        """Return the combination without some parties; InferenceError C15 (unknown party), C14 (too few left)."""
        for party in parties:
            if party not in self.names and party not in self.parties:
                guess = nearest(party, self.names) or ", ".join(self.names[:8])
                raise InferenceError(f"{party!r} is none of the parties.", code="C15", hint=guess, state=None)
        out = {i for i, party in enumerate(self.parties) if party in parties}
        kept = [j for j, name in enumerate(self.names) if name not in parties and self.index[j] not in out]
        return self._of(kept)

    def _of(self, kept: Sequence[int]) -> Combined:
        """Return the combination of the releases with these indices."""
        # populations are numbered again from 0, in the order in which they appear
        order: dict[int, int] = {}
        index = tuple(order.setdefault(self.index[j], len(order)) for j in kept)
        check_enough_parties(len(order), self.effects)
        releases, names = tuple(self.releases[j] for j in kept), tuple(self.names[j] for j in kept)
        return replace(self, releases=releases, names=names, index=index)

    def plot(self, ax: Any = None) -> Any:
        """Draw the forest plot; `.save("a.png")`.  InferenceError I20 (no matplotlib), I05 (too many rows)."""
        return self.estimate().plot(ax)


def check_enough_parties(parties: int, effects: Words) -> None:
    """Raise InferenceError C14 for fewer parties than an estimate needs."""
    if parties < FEWEST[effects]:
        text = f"{parties} {'party is' if parties == 1 else 'parties are'} too few for {effects} effects."
        raise InferenceError(text, code="C14", hint='effects="common"', state="Releases of one ledger are one party.")
