"""The contract of a mechanism: tests that must pass before its cost can be relied on.  Run it on every new mechanism.

(a) Grey-box sensitivity: the change of the integers before noise, over many neighbouring tables, never exceeds the
    declared l1 or l2 norm, and approaches it somewhere (no silent over-noising).
(b) The distribution of the noise, by a test with known power.
(c) A higher price buys narrower noise, and all that is bought at a price (ε, δ), selections and noise together,
    satisfies that pair (`pair_check`).
(d) A lower bound on epsilon from samples is never above the claim.
(e) A release survives JSON.

All checks run on tables made from the schema, never on anybody's rows.  Mechanisms that select a point are checked by
`contract_selection`, those that work on blocks of rows by `contract_blocks`; `worst_case_scores` makes the tables
that approach the bound of mechanisms whose second question follows from a first release.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from math import isqrt
from typing import Any, cast

import numpy as np

from tacit.curator.curator import Curator
from tacit.method.additive.design import AdditivePart
from tacit.method.bernstein.design import LatticePart
from tacit.method.blocks.query import SampleAndAggregate
from tacit.method.bootstrap.query import Bootstrap
from tacit.method.exponential_mechanism.query import ExponentialMechanism
from tacit.method.ks_dataset.query import KSDataset
from tacit.method.orthogonal_series.design import SeriesPart
from tacit.method.quantiles.query import Quantiles
from tacit.method.ranges.query import Range
from tacit.method.regression.row_sums.product_parts import ProductPart
from tacit.method.risk_function.design import RiskPart
from tacit.method.shared.measurement import Measurement, PartSpec
from tacit.method.unlisted_levels.query import UnlistedLevels
from tacit.noise.product import ProductLaplace
from tacit.noise.spherical import SphericalLaplace
from tacit.privacy import Budget, Cost
from tacit.privacy.bought import price_of_noise
from tacit.release.document import release_from_dict
from tacit.release.parts import OF_BLOCKS
from tacit.release.query import Query
from tacit.release.query_checks import of_numbers
from tacit.rows.row_map import RowMap, SumTerm
from tacit.schema import Schema
from tacit.testing import column_samples, pair_check
from tacit.testing import contract_additive as own_of
from tacit.testing import contract_blocks as in_blocks
from tacit.testing import contract_candidates as candidates
from tacit.testing import contract_levels as in_levels
from tacit.testing import contract_replicates as in_replicates
from tacit.testing import contract_selection as selections
from tacit.testing import worst_case_integers as worst_integers
from tacit.testing import worst_case_scores as worst_cases
from tacit.testing import worst_case_series as worst_series
from tacit.testing.contract_whole import claimed_epsilon, whole
from tacit.testing.exact_integers import Exact
from tacit.testing.findings import (
    EACH,
    PRICES,
    RELATIONS,
    ROWS,
    Contract,
    Finding,
    designed,
    difference,
    distance,
    norm_of,
)
from tacit.testing.neighbouring_tables import Pair, Relation, arrow_table, pairs
from tacit.testing.noise_samples import CONFIDENCE, proven_epsilon, wrong_law

WHOLE = 4
"""The audit of all integers of a part at once has this many times fewer draws than the audit of one integer."""


def contract(
    query: Query[Any], schema: Schema, *, tables: int = 80, draws: int = 100_000, rng: int | np.random.Generator = 0
) -> Contract:
    """Run (a) to (e) for both relations and both kinds of noise; raises AssertionError where one fails.

    Of a statistic of `tacit.extend.additive` it checks that the declared sensitivity is enough; a curator that trusts
    the statistic then answers this question with this schema, in this process.  What is declared beyond need is in
    `notes`, and is no failure.

    tables: neighbouring pairs for each relation.  draws: samples for (b) and (d); selections, which are drawn one by
    one, get a tenth of them.

    >>> from tacit import Mean, Real, Schema
    >>> contract(Mean("age"), Schema({"age": Real(0, 100)}), tables=36, draws=20_000).passed
    True
    """
    generator = np.random.default_rng(rng)
    own_of.checked(query, schema)
    if isinstance(query, Bootstrap):
        return in_replicates.contract(query, schema, tables, draws, generator)
    asked = of_numbers(query, schema)
    if isinstance(asked, UnlistedLevels):
        return in_levels.contract(asked, schema, tables, draws, generator)
    if isinstance(query, SampleAndAggregate):
        # few blocks of few rows, so that small tables fill them
        query = in_blocks.asked(query)
        findings, failures = _in_blocks(query, schema, tables, draws, generator)
    else:
        examined = selections.examined if isinstance(query, Quantiles | Range) else _added
        if isinstance(query, KSDataset | ExponentialMechanism):
            query, examined = candidates.asked(query), candidates.examined
        findings, failures = examined(query, schema, tables, draws, generator)
    failures += pairs_kept({"": query}, schema)
    Contract(tuple(findings), tuple(failures)).check()  # first: readers refuse a release whose sensitivity is wrong
    # all that protects people has passed: a user's own statistic may be released, here from made tables
    own_of.passed(query, schema)
    made = Contract(tuple(findings), tuple(_round_trip(query, schema)))
    if not made.passed:
        own_of.withdrawn(query, schema)
    made.check()
    return made


def _added(
    query: Query[Any], schema: Schema, tables: int, draws: int, generator: np.random.Generator
) -> tuple[list[Finding], list[str]]:
    """Run (a) to (d) for a mechanism that adds noise to sums."""
    findings: list[Finding] = []
    failures: list[str] = []
    for relation in RELATIONS:
        extreme = [*worst_cases.neighbours(query, schema, relation), *worst_series.neighbours(query, schema, relation)]
        extreme += worst_integers.neighbours(query, schema, relation)
        material = [*extreme, *pairs(schema, relation, tables, generator)]
        asked = [(price, designed(query, schema, relation, ROWS, price)) for price in PRICES]
        found = list[Finding]()
        bought = [price for price, shape in asked if shape is not None]
        if bought:
            found = sensitivity(query, schema, relation, bought, material)
        for price, shape in asked:
            if shape is None:
                continue
            # the laws are the library's own: of a user's statistic those of its sums and of one product stand for all
            heard = replace(shape, columns=shape.columns[:2]) if shape.kind == "additive" else shape
            failures += _noise(heard, draws) + _monotone(query, schema, relation, price)
            failures += _audit(heard, relation, draws)
            # findings come in the order of the columns, those of each price together
            for column, one in zip(heard.columns, (one for one in found if one.price == str(price)), strict=False):
                failures += (
                    whole(column, one.apart, draws // WHOLE)
                    if isinstance(column, ProductPart | SeriesPart | LatticePart | RiskPart | AdditivePart)
                    else []
                )
        findings += found
    return findings, failures


def _in_blocks(
    query: SampleAndAggregate, schema: Schema, tables: int, draws: int, generator: np.random.Generator
) -> tuple[list[Finding], list[str]]:
    """Run (a) to (d) for a mechanism on blocks of rows.

    The number of blocks is public, so a neighbour always replaces one block's estimate, whatever the relation of rows.
    """
    findings: list[Finding] = []
    failures: list[str] = []
    few = max(2, draws // selections.ONE_BY_ONE)
    for relation in RELATIONS:
        material = list(pairs(schema, relation, tables, generator))
        findings += in_blocks.sensitivity(query, schema, relation, PRICES, material, generator)
        for price in PRICES:
            shape = cast(Measurement, designed(query, schema, relation, ROWS, price))
            chosen, _ = selections.split(shape)
            failures += selections.costs(query, schema, relation, price)
            failures += selections.laws(replace(shape, columns=tuple(chosen)), few)
            # a neighbour replaces one block's estimate under both relations
            failures += selections.audit(query, schema, "replace-one", price, few, in_blocks.look)
            for column in shape.columns:
                if column not in chosen:
                    among = "replace-one" if column.form.name in OF_BLOCKS else relation
                    alone = replace(shape, columns=(column,))
                    failures += _noise(alone, draws) + _audit(alone, among, draws)
    return findings, failures


def sensitivity(
    query: Query[Any], schema: Schema, relation: Relation, prices: Sequence[Cost], material: list[Pair]
) -> list[Finding]:
    """Run (a): return the largest change of the exact integers over neighbouring tables, by price and by part."""

    def made(size: int | None) -> tuple[Measurement, ...]:
        """Return the designs at each price for tables of `size` rows, worst cases included."""
        found = (cast(Measurement, designed(query, schema, relation, size, price)) for price in prices)
        # the worst score functions beside the designed ones: sensitivity is claimed for every function
        return tuple(one for shape in found for one in worst_cases.everywhere(shape))

    exact, shapes = Exact(schema, relation, made), made(ROWS if relation == "replace-one" else None)
    furthest: dict[tuple[Cost, int], tuple[int, tuple[int, ...]]] = {}
    for i, pair in enumerate(material):
        before, after = (exact.integers(rows, files=i % EACH == 0) for rows in (pair.one, pair.other))
        for shape, one, other in zip(shapes, before, after, strict=True):
            for j, (x, y) in enumerate(zip(one, other, strict=True)):
                far = distance(x, y, norm_of(shape.cost, shape.columns[j].law))
                # -1, so that a part which no table moves has an entry, and fails
                if far > furthest.get((shape.cost, j), (-1, ()))[0]:
                    furthest[shape.cost, j] = far, difference(x, y)
    return [
        Finding(
            relation,
            str(price),
            column.label,
            column.form.name,
            getattr(column.form, norm),
            far,
            norm,
            apart,
            loose=isinstance(column, AdditivePart),
        )
        for price in prices
        for j, column in enumerate(next(shape for shape in shapes if shape.cost == price).columns)
        for norm in [norm_of(price, column.law)]
        for far, apart in [furthest[price, j]]
    ]


def pairs_kept(asks: Mapping[str, Query[Any]], schema: Schema) -> list[str]:
    """Run the second half of (c) for all questions of one request: return where an (ε, δ) price is not satisfied."""
    failures: list[str] = []
    asked = [in_blocks.asked(one) if isinstance(one, SampleAndAggregate) else one for one in asks.values()]
    for relation in RELATIONS:
        for price in pair_check.PAIRS:
            share = price.share(Fraction(1, len(asked)))
            # a ledger that adds ε and adds δ may be sold what ε alone buys
            for adds in (None, "basic"):
                shapes = [designed(one, schema, relation, ROWS, share, adds) for one in asked]
                failures += pair_check.pair_violation([one for one in shapes if one is not None], price)
    return failures


def _noise(shape: Measurement, draws: int) -> list[str]:
    """Run (b): the noise added follows the declared distribution, and a scale 10% off would be noticed."""
    joint = _laws_of_vector(shape)
    together = column_samples.wrong_columns(joint) if joint else ()
    single = (reason for law in {column.law for column in shape.columns} for reason in wrong_law(law, draws))
    return [*single, *together]


def _laws_of_vector(shape: Measurement) -> tuple[ProductLaplace, ...]:
    """Return the laws of those columns that have noise of one vector."""
    return tuple(column.law for column in shape.columns if isinstance(column.law, ProductLaplace))


def _monotone(query: Query[Any], schema: Schema, relation: Relation, price: Cost) -> list[str]:
    """Run the first half of (c): half the price widens the noise, and the parts cost at most the price in all."""
    shape = designed(query, schema, relation, ROWS, price)
    half = designed(query, schema, relation, ROWS, price.share(Fraction(1, 2)))
    assert shape is not None
    assert half is not None
    failures: list[str] = []
    for one, other in zip(shape.columns, half.columns, strict=True):
        # second moments have a larger share of a smaller price, so that their noise may stay as it is
        kept = one.form.name == "additive-product" and one.law.scale == other.law.scale
        if not kept and not one.law.scale < other.law.scale:
            failures.append(f"(c) {one.label}: half the price does not widen the noise")
    if price.noise == "laplace":
        joint = [_pure(column) for column in shape.columns if isinstance(column.law, ProductLaplace)]
        alone = (_pure(column) for column in shape.columns if not isinstance(column.law, ProductLaplace))
        # the norm of a vector's change is the largest of its columns' norms
        used = sum(alone, max(joint, default=Fraction(0)))
        offered = price.epsilon
    else:
        used = sum((column.form.l2_squared / (2 * column.law.scale**2) for column in shape.columns), Fraction(0))
        offered = price.zcdp
    if offered is None or used > offered:
        failures.append(f"(c) the parts cost {used}, more than the price {offered}")
    return failures


def _pure(column: PartSpec) -> Fraction:
    """Return what a part costs at a pure price, rounded down by less than a part in 2**60."""
    if isinstance(column.law, SphericalLaplace):
        # a scale that is no more than l2 / epsilon rounded up
        whole = isqrt(column.form.l2_squared << 140)
        return Fraction(whole, 1 << 70) / column.law.scale
    return column.form.l1 / column.law.scale


def _audit(shape: Measurement, relation: Relation, draws: int) -> list[str]:
    """Run (d) on one integer of each part, at its largest change: they prove at most its share of the price."""
    failures: list[str] = []
    for column in shape.columns:
        apart = _furthest(column, relation)
        for delta in (0.0, 1e-3):
            claim = claimed_epsilon(price_of_noise(column, shape.columns), delta)
            if claim is None:
                continue
            found = proven_epsilon(column.law, apart, delta, draws)
            if found > claim:
                failures.append(f"(d) {column.label}: samples prove epsilon >= {found}, above {claim}")
    return failures + _audit_together(shape, relation)


def _audit_together(shape: Measurement, relation: Relation) -> list[str]:
    """Run (d) on all columns that have noise of one vector, each changed as far as one row can."""
    laws, failures = _laws_of_vector(shape), list[str]()
    joint = [column for column in shape.columns if isinstance(column.law, ProductLaplace)]
    apart = [max(_changes(column, relation), key=lambda one: sum(map(abs, one))) for column in joint]
    for delta in (0.0, 1e-3) if laws else ():
        claim = claimed_epsilon(price_of_noise(joint[0], joint), delta)
        found = column_samples.proven_together(laws, apart, delta, CONFIDENCE)
        if claim is not None and found > claim:
            failures.append(f"(d) all columns prove epsilon >= {found}, above {claim}")
    return failures


def _furthest(column: PartSpec, relation: Relation) -> int:
    """Return the largest change that one row makes in one integer, over its extreme values and weights."""
    return max(abs(k) for change in _changes(column, relation) for k in change)


def _changes(column: PartSpec, relation: Relation) -> list[tuple[int, ...]]:
    """Return the changes of a column's integers that one row makes, over its extreme values and weights."""
    if isinstance(column, AdditivePart):
        return integer_changes(column, relation)
    form, weights = column.form, (None,) if column.weight is None or not column.form.weights else (1, column.weight.G)
    G = form.parameters["G"]
    values = [form.row(v, a) for v in sorted({0, G // 2, G}) for a in weights]
    values.append(tuple(0 for _ in values[0]))  # a row that is missing or excluded adds nothing
    if relation == "add-remove":
        return values
    return [tuple(a - b for a, b in zip(x, y, strict=True)) for x in values for y in values]


def integer_changes(column: AdditivePart, relation: Relation) -> list[tuple[int, ...]]:
    """Return the changes of sums that one row makes which is at one end of all its integers, as `_changes`."""
    ends = [tuple(_ends(one)[side] for one in column.sums) for side in (0, 1)]
    values = [*ends, tuple(0 for _ in column.sums)]
    if relation == "add-remove":
        return values
    return [tuple(a - b for a, b in zip(x, y, strict=True)) for x in values for y in values]


def _ends(one: SumTerm) -> tuple[int, int]:
    """Return what a row adds to a sum where its columns are at their lower, and at their upper ends."""
    made = [one.polynomial(v) for v in (0, cast(RowMap, one.rowmap).G)]
    if one.weight is None:
        return made[0], made[1]
    top = one.weight.G
    low = 0 if isinstance(one.weight, RowMap) else top
    return made[0] * one.weight_polynomial(low), made[1] * one.weight_polynomial(top)


def _round_trip(query: Query[Any], schema: Schema) -> list[str]:
    """Run (e): a release equals itself after JSON, under either relation and with either noise."""
    failures: list[str] = []
    asked: tuple[tuple[Relation, int | None, int | None], ...] = ("add-remove", 1, None), ("replace-one", None, 1)
    for relation, epsilon, rho in asked:
        rows = next(iter(pairs(schema, relation, 1, np.random.default_rng(0)))).one
        if designed(query, schema, relation, len(rows), Cost.of(epsilon=epsilon, rho=rho)) is None:
            continue
        budget = Budget(epsilon=epsilon, rho=rho, neighbors=relation)
        curator = Curator(arrow_table(schema, rows), schema, budget=budget, trust=own_of.trusting(query))
        release = curator.release(query, epsilon=epsilon, rho=rho)
        again = release_from_dict(json.loads(release.to_json()))
        if again != release or again.to_json() != release.to_json():
            failures.append(f"(e) a release under {relation} changed in JSON")
    return failures
