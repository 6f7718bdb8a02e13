"""The contract of a mechanism that selects points by their utilities (`Quantiles`, `Range`).

(a) Grey-box sensitivity: the largest change of any point's utility over neighbouring tables, summed over the cells (as
    squares where the price is in rho), against the declared sensitivity, which must be approached somewhere.
(b) The distribution of a selection, by a test with known power.
(c) A higher price buys a more concentrated distribution, and by the declared sensitivities the selections cost at most
    the price.
(d) Samples of the selection on the worst pair of tables never prove a larger epsilon than is claimed; where the price
    is in rho, the claim is that of the selection's bounded range.
(e) is the same for all mechanisms (`contract`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import chain
from math import ceil
from typing import Any, Final, cast

import numpy as np
from numpy.typing import NDArray

from tacit.method.quantiles import design as quantiles_design
from tacit.method.quantiles import mechanism as quantiles
from tacit.method.quantiles.joint_steps import JointSteps
from tacit.method.ranges import design as ranges_design
from tacit.method.ranges import mechanism as ranges
from tacit.method.shared.measurement import Measurement, PartSpec
from tacit.method.shared.mechanism_rank_selection import Candidates, T, select
from tacit.method.shared.rank_utilities import Runs
from tacit.noise.permute_and_flip import SELECTS, SelectionLaw
from tacit.noise.selection_law import Selection
from tacit.privacy import Cost
from tacit.release.parts import Cells
from tacit.release.query import Query
from tacit.schema import Schema
from tacit.testing import contract_cuts, contract_halved, contract_joint
from tacit.testing.audit import epsilon_lower_bound
from tacit.testing.audit_tables import Look, Tables, worst_tables
from tacit.testing.exact_integers import exchanged
from tacit.testing.findings import EACH, PRICES, RELATIONS, ROWS, Finding, designed, distance, norm_of
from tacit.testing.neighbouring_tables import Pair, Relation, arrow_table, pairs
from tacit.testing.noise_law_test import noise_law
from tacit.testing.noise_samples import samples

MECHANISMS: Final[Mapping[str, Any]] = {quantiles_design.KIND: quantiles, ranges_design.KIND: ranges}
"""The mechanism of each kind of design that selects points."""
ONE_BY_ONE: Final = 10
"""Selections are drawn one by one, so that their tests have this many times fewer draws than tests of noise."""
ENOUGH: Final = 4_000
"""Fewest selections of (b): a rate 30% off is missed with probability below 1e-9; with 1,000 it was 2e-3."""
GIVEN: Final = (0, 8, 1_000)
"""Numbers of rows taken, in turn, as released before the selections: the same number for both neighbours."""
EPSILON: Final = Fraction(3, 2)
"""Epsilon of one selection in (d): large enough to be proven by few draws, small enough that the rarer event occurs."""
SUSPECTED: Final = (1, 2)
"""Multiples of the declared rate; the tables of (d) are those that would best reveal a selection at such a rate."""


def examined(
    query: Query[Any], schema: Schema, tables: int, draws: int, rng: np.random.Generator
) -> tuple[list[Finding], list[str]]:
    """Run (a) to (d) for both relations and both kinds of price."""
    findings: list[Finding] = []
    failures: list[str] = []
    few = max(2, draws // ONE_BY_ONE)
    for relation in RELATIONS:
        findings += sensitivity(query, schema, relation, list(pairs(schema, relation, tables, rng)))
        for price in PRICES:
            failures += laws(_shape(query, schema, relation, price), few) + costs(query, schema, relation, price)
            failures += audit(query, schema, relation, price, few)
    return findings, failures


def _shape(query: Query[Any], schema: Schema, relation: Relation, price: Cost) -> Measurement:
    """Return the design of a query that is never refused."""
    shape = designed(query, schema, relation, ROWS, price)
    assert shape is not None
    return shape


def split(shape: Measurement) -> tuple[list[PartSpec], list[PartSpec]]:
    """Return the columns that select points, and those that add noise to numbers of rows."""
    chosen = [column for column in shape.columns if isinstance(column.law, SELECTS)]
    return chosen, [column for column in shape.columns if not isinstance(column.law, SELECTS)]


def selections_by_cell(column: PartSpec) -> int:
    """Return the number of selections that a column makes in each cell."""
    return len(column.form.matrix)


# (a) ----------------------------------------------------------------------------------------------------------------


def selected_ranks(
    shape: Measurement, cells: Sequence[Mapping[int, int]], given: int
) -> tuple[list[list[list[Runs]]], Cells | None]:
    """Return the candidates by column, selection and cell, and the exact numbers of rows where they are released.

    given: the number of rows that is taken to have been released in each cell.
    """
    made: list[Any] = []
    exact: list[Cells] = []

    def draw(runs: Candidates[T], law: SelectionLaw) -> T:
        made.append(runs)
        return runs.chosen(0, 0)

    def noise(sizes: Cells, law: Any) -> Cells:
        exact.append(sizes)
        A = split(shape)[1][0].form.parameters.get("share", 1)
        # the same released sizes for both neighbours: the selections are conditioned on them
        return tuple((given * A,) for _ in sizes)

    # the function that a release calls, with its draws replaced
    MECHANISMS[shape.kind].released(shape, cells, draw, noise)
    found: list[list[list[Runs]]] = []
    for column in split(shape)[0]:
        held = [
            [made.pop(0) for _ in range(selections_by_cell(column))] for _ in cells
        ]  # the order in which they are made
        found.append([[cell[i] for cell in held] for i in range(selections_by_cell(column))])
    return found, exact[0] if exact else None


def sensitivity(query: Query[Any], schema: Schema, relation: Relation, material: list[Pair]) -> list[Finding]:
    """Run (a): return the largest changes of utilities and numbers of rows, by price and by part."""
    shapes = [_shape(query, schema, relation, price) for price in PRICES]
    on_files, on = exchanged(schema)
    reached: list[list[Any]] = [[0] * len(shape.columns) for shape in shapes]
    for i, pair in enumerate(material):
        source = on_files if i % EACH == 0 else on
        # A mechanism refuses a table whose size is not the public one, so `_cells` drops the public size.
        exact = [_cells(shapes[0], source, arrow_table(schema, rows)) for rows in (pair.one, pair.other)]
        for price, shape, found in zip(PRICES, shapes, reached, strict=True):
            if shape.columns[0].form.name == "halved":
                changed = [contract_halved.change(shape, exact[0][0], exact[1][0], change, np.random.default_rng(i))]
            elif shape.columns[0].form.name == "cuts":
                before, after = exact
                changed = contract_cuts.change(shape, before, after, change, np.random.default_rng(i), norm_of(price))
            else:
                changed = _changes(shape, exact, GIVEN[i % len(GIVEN)], norm_of(price))
            found[:] = [max(x, y) for x, y in zip(found, changed, strict=True)]
    return [
        Finding(relation, str(price), column.label, column.form.name, getattr(column.form, norm), ceil(most), norm)
        for price, shape, found in zip(PRICES, shapes, reached, strict=True)
        for norm in [norm_of(price)]
        for column, most in zip(shape.columns, found, strict=True)
    ]


def _cells(shape: Measurement, source: Any, table: Any) -> Sequence[Mapping[int, int]]:
    """Return {point: weight} of each cell of a table."""
    return MECHANISMS[shape.kind].exact(replace(shape, rows=None), source.of(table))


def _changes(shape: Measurement, exact: Sequence[Sequence[Mapping[int, int]]], given: int, norm: str) -> list[int]:
    """Return by column the largest change of a selection's utilities, summed over cells, or of the numbers of rows."""
    (before, sizes), (after, others) = (selected_ranks(shape, cells, given) for cells in exact)
    power = 1 if norm == "l1" else 2
    found: list[int] = []
    for one, other in zip(before, after, strict=True):
        moved = [[change(x, y) for x, y in zip(a, b, strict=True)] for a, b in zip(one, other, strict=True)]
        # a neighbour may change two cells, whose changes add up in the norm; selections are priced one by one
        found.append(max(sum(d**power for d in cells) for cells in moved))
    return found if sizes is None or others is None else [*found, distance(sizes, others, norm)]


def change(one: Runs | JointSteps, other: Runs | JointSteps) -> int:
    """Return the largest difference of any point's utility, or any triple's."""
    if isinstance(one, JointSteps) or isinstance(other, JointSteps):
        return contract_joint.change(cast(JointSteps, one), cast(JointSteps, other))
    # between neighbouring ends of runs all points have one utility in each
    at = np.union1d(one.first, other.first)
    here, there = (
        np.array(runs.utility, dtype=np.int64)[np.searchsorted(runs.first, at, side="right") - 1]
        for runs in (one, other)
    )
    return int(np.abs(here - there).max())


# (b), (c) -----------------------------------------------------------------------------------------------------------


def laws(shape: Measurement, draws: int) -> list[str]:
    """Run (b): points are drawn with the declared probabilities, and a rate 30% off would be noticed."""
    failures: list[str] = []
    many = max(draws, ENOUGH)
    for law in {cast(SelectionLaw, column.law) for column in split(shape)[0]}:
        step = max(1, round(law.scale))  # utilities a factor e apart
        # runs of different lengths and utilities, the best of one point only
        runs = Runs([0, 3, 4, 6], [3, 1, 2, 4], [-2 * step, 0, -step, -3 * step])
        drawn = np.bincount([select(runs, law) for _ in range(many)], minlength=10)
        if not _fits(drawn, runs, law):
            failures.append(f"(b) selections are not by {law}")
        if _fits(drawn, runs, replace(law, rate=law.rate * Fraction(13, 10))):
            failures.append(f"(b) a rate 30% off {law} was not noticed with {many} draws")
    for law in {column.law for column in split(shape)[1]}:
        noise = samples(law, draws)[0]
        if not noise_law(lambda size, noise=noise: noise[:size], law, draws=draws).passed:
            failures.append(f"(b) the noise is not {law}")
    return failures


def _fits(drawn: NDArray[np.int64], runs: Runs, law: SelectionLaw) -> bool:
    """Return whether a chi-square test over points accepts the law; it rejects a right law with probability 1e-6."""
    from scipy.special import chdtrc  # pyright: ignore[reportMissingTypeStubs, reportUnknownVariableType]

    # a run's probability is shared equally by its points
    expected = drawn.sum() * np.repeat(law.pmf(runs.utility, runs.points) / runs.points, runs.points)
    statistic = float(((drawn - expected) ** 2 / expected).sum())
    return float(chdtrc(len(expected) - 1, statistic)) > 1e-6


def costs(query: Query[Any], schema: Schema, relation: Relation, price: Cost) -> list[str]:
    """Run (c): half the price widens the law, and by their declared sensitivities the parts cost at most the price."""
    shape, half = (_shape(query, schema, relation, price.share(part)) for part in (Fraction(1), Fraction(1, 2)))
    half = contract_cuts.halved_price(shape) if shape.columns[0].form.name == "cuts" else half
    failures: list[str] = []
    used = Fraction(0)
    for one, other in zip(shape.columns, half.columns, strict=True):
        if not one.law.scale < other.law.scale:
            failures.append(f"(c) {one.label}: half the price does not widen the law")
        cost, paid = _cost(one, price.noise), one.cost.epsilon if price.kind == "pure" else one.cost.zcdp
        used += cost
        if paid is None or cost > paid:
            failures.append(f"(c) {one.label}: costs {cost}, more than its part {paid}")
    offered = price.epsilon if price.kind == "pure" else price.zcdp
    if offered is None or used > offered:
        failures.append(f"(c) the parts cost {used}, more than the price {offered}")
    return failures


def _cost(column: PartSpec, noise: str) -> Fraction:
    """Return the epsilon, or rho, of a column by its declared sensitivity and the law that is drawn."""
    form, law = column.form, column.law
    if isinstance(law, SELECTS):
        # Of permute-and-flip only the pure part holds, and it is bought at pure prices alone.
        # Where utilities change by at most d, the log-ratio of probabilities, as the point varies, lies in an interval
        # of length r = 2 * rate * d: bounded range r, hence pure DP at ε = r and zCDP at r² / 8 [Cesar & Rogers 2021].
        one = 2 * law.rate * form.l1 if noise == "laplace" else (2 * law.rate) ** 2 * form.l2_squared / 8
        return selections_by_cell(column) * one
    return form.l1 / law.scale if noise == "laplace" else form.l2_squared / (2 * law.scale**2)


# (d) ----------------------------------------------------------------------------------------------------------------


def audit(
    query: Query[Any],
    schema: Schema,
    relation: Relation,
    price: Cost,
    draws: int,
    looks: Callable[[PartSpec], Look] | None = None,
) -> list[str]:
    """Run (d) at a price of about EPSILON a selection; of `price`, only the kind is used.

    looks: function of a column that finds candidates where a mechanism selects among other things than rows.
    """
    # one share more than selections, for the numbers of rows that are released beside them
    many = sum(selections_by_cell(column) for column in split(_shape(query, schema, relation, price))[0]) + 1
    pure = price.kind == "pure"
    # in ρ a bounded range r costs r**2 / 8, so this buys about r = EPSILON for each
    enough = Cost.of(epsilon=EPSILON * many) if pure else Cost.of(rho=Fraction(EPSILON**2 * many, 8))
    shape = _shape(query, schema, relation, enough)
    failures: list[str] = []
    if shape.columns[0].form.name == "halved":
        found, claim = contract_halved.proven(shape, draws), float(shape.cost.epsilon or 0)
        return [f"(d) samples prove epsilon >= {found:.3f}, above {claim:.3f}"] if found > claim else []
    if shape.columns[0].form.name == "cuts":
        found, claim = contract_cuts.proven(shape, draws), contract_cuts.claimed(shape)
        return [f"(d) samples prove epsilon >= {found:.3f}, above {claim:.3f}"] if found > claim else []
    for place, column in enumerate(split(shape)[0]):
        part = column.cost.share(Fraction(1, selections_by_cell(column)))
        if column.form.name == "joint-4":
            failures += _audit_joint(shape, place, column, draws, relation)
            continue

        def look(cells: Sequence[Mapping[int, int]], place: int = place) -> list[list[Runs]]:
            """Return the candidates of each selection of this column in each cell."""
            return selected_ranks(shape, cells, 0)[0][place]

        law, how = cast(SelectionLaw, column.law), look if looks is None else looks(column)
        asked = (
            worst_tables(column, replace(law, rate=law.rate * x), shape.cells, relation, draws, how) for x in SUSPECTED
        )
        for tables in chain.from_iterable(asked):
            # range sqrt(8 ρ) for one cell; two changed cells of ρ / 2 each add up to sqrt(2) times it
            claim = float(part.epsilon or 0) if pure else float(8 * part.zcdp * tables.cells) ** 0.5
            scores = [_scores(tables, runs, law, draws) for runs in (tables.one, tables.other)]
            found = epsilon_lower_bound(scores[0], scores[1], 0.0, 1 - 1e-6)
            if found > claim:
                failures.append(f"(d) {column.label}: samples prove epsilon >= {found:.3f}, above {claim:.3f}")
    return failures


def _audit_joint(shape: Measurement, place: int, column: PartSpec, draws: int, relation: Relation) -> list[str]:
    """Run (d) of a selection of three steps in one cell, where a neighbour changes that cell alone."""
    share = column.form.parameters.get("share", 1)

    def look(cell: Mapping[int, int]) -> JointSteps:
        """Return the candidates of a table, whose persons are all in this cell."""
        weights = {step: share * many for step, many in cell.items()}
        return cast(JointSteps, selected_ranks(shape, [weights], 0)[0][place][0][0])

    pure = column.cost.epsilon is not None
    # range sqrt(8 ρ)
    claim = float(column.cost.epsilon or 0) if pure else float(8 * column.cost.zcdp) ** 0.5
    law, G = cast(Selection, column.law), column.form.parameters["G"]
    found = [contract_joint.proven(law, draws, G, look, Fraction(one), relation, share) for one in SUSPECTED]
    return [
        f"(d) {column.label}: samples prove epsilon >= {most:.3f}, above {claim:.3f}" for most in found if most > claim
    ]


def _scores(tables: Tables, cells: Sequence[Runs], law: SelectionLaw, draws: int) -> NDArray[np.int64]:
    """Return the number of cells whose selection is in the cell's event, in each draw; shape (draws,)."""
    score = np.zeros(draws, dtype=np.int64)
    for runs, event in zip(cells, tables.events, strict=True):
        score += np.array([event.holds(select(runs, law)) for _ in range(draws)], dtype=np.int64)
    return score
