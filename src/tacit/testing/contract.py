"""The contract of a mechanism: what must hold before anyone relies on its cost.  Run it on every new one.

(a) grey-box sensitivity: the integers before noise, on many neighbouring tables, against the declared l1 and l2,
    which must also be approached somewhere (no silent over-noising); (b) the law of the noise, tested with power;
(c) a higher price buys a narrower law; (d) a lower bound on epsilon from samples is never above the claim;
(e) a release survives JSON.  Runs on tables made from the schema, never on anybody's rows.  Of mechanisms that select
a point: `selections`; of those that ask in blocks: `in_blocks`.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from tacit.curator.curator import Curator
from tacit.mechanisms.additive import protect
from tacit.mechanisms.moments import Column, Design
from tacit.noise.laws import Law
from tacit.privacy import Budget, Cost
from tacit.queries import Quantiles, Query, Range
from tacit.queries_blocks import SampleAndAggregate
from tacit.release import release_from_dict
from tacit.schema import Schema
from tacit.testing import in_blocks, selections
from tacit.testing.audit import epsilon_lower_bound
from tacit.testing.exact import Exact
from tacit.testing.findings import (
    EACH,
    PRICES,
    RELATIONS,
    ROWS,
    Contract,
    Finding,
    designed,
    distance,
    norm_of,
)
from tacit.testing.noise_law import noise_law
from tacit.testing.tables import Pair, Relation, arrow_table, pairs


def contract(
    query: Query[Any], schema: Schema, *, tables: int = 80, draws: int = 100_000, rng: int | np.random.Generator = 0
) -> Contract:
    """Run (a) to (e) for both relations and both kinds of noise; raises AssertionError where one fails.

    tables: neighbouring pairs for each relation; draws: samples for (b) and (d); of selections, which are drawn one by
    one, a tenth of them.

    >>> from tacit import Mean, Real, Schema
    >>> contract(Mean("age"), Schema({"age": Real(0, 100)}), tables=36, draws=20_000).passed
    True
    """
    generator = np.random.default_rng(rng)
    if isinstance(query, SampleAndAggregate):
        query = in_blocks.asked(query)
        findings, failures = _in_blocks(query, schema, tables, draws, generator)
    else:
        examined = selections.examined if isinstance(query, Quantiles | Range) else _added
        findings, failures = examined(query, schema, tables, draws, generator)
    made = Contract(tuple(findings), (*failures, *_round_trip(query, schema)))
    made.check()
    return made


def _added(
    query: Query[Any], schema: Schema, tables: int, draws: int, generator: np.random.Generator
) -> tuple[list[Finding], list[str]]:
    """(a) to (d) of a mechanism that adds noise to sums."""
    findings: list[Finding] = []
    failures: list[str] = []
    for relation in RELATIONS:
        material = list(pairs(schema, relation, tables, generator))
        asked = [(price, designed(query, schema, relation, ROWS, price)) for price in PRICES]
        if all(shape is not None for _, shape in asked):
            findings += sensitivity(query, schema, relation, PRICES, material)
        for price, shape in asked:
            if shape is None:
                continue
            failures += _noise(shape, draws) + _monotone(query, schema, relation, price)
            failures += _audit(shape, relation, draws)
    return findings, failures


def _in_blocks(
    query: SampleAndAggregate, schema: Schema, tables: int, draws: int, generator: np.random.Generator
) -> tuple[list[Finding], list[str]]:
    """(a) to (d) of a mechanism that asks in blocks: their number is public, so that always one is replaced."""
    findings: list[Finding] = []
    failures: list[str] = []
    few = max(2, draws // selections.ONE_BY_ONE)
    for relation in RELATIONS:
        material = list(pairs(schema, relation, tables, generator))
        findings += in_blocks.sensitivity(query, schema, relation, PRICES, material, generator)
        for price in PRICES:
            shape = cast(Design, designed(query, schema, relation, ROWS, price))
            chosen, _ = selections.split(shape)
            failures += selections.costs(query, schema, relation, price)
            failures += selections.laws(replace(shape, columns=tuple(chosen)), few)
            failures += selections.audit(query, schema, "replace-one", price, few, in_blocks.look)
            for column in shape.columns:
                if column not in chosen:
                    among = "replace-one" if column.form.name == "blocks" else relation
                    alone = replace(shape, columns=(column,))
                    failures += _noise(alone, draws) + _audit(alone, among, draws)
    return findings, failures


def sensitivity(
    query: Query[Any], schema: Schema, relation: Relation, prices: Sequence[Cost], material: list[Pair]
) -> list[Finding]:
    """(a): the largest change of the exact integers over neighbouring tables, price by price and part by part."""

    def made(size: int | None) -> tuple[Design, ...]:
        found = (designed(query, schema, relation, size, price) for price in prices)
        return cast("tuple[Design, ...]", tuple(found))

    exact, shapes = Exact(schema, relation, made), made(ROWS if relation == "replace-one" else None)
    reached = [[0] * len(shape.columns) for shape in shapes]
    for i, pair in enumerate(material):
        before, after = (exact.integers(rows, files=i % EACH == 0) for rows in (pair.one, pair.other))
        for price, found, one, other in zip(prices, reached, before, after, strict=True):
            for j, (x, y) in enumerate(zip(one, other, strict=True)):
                found[j] = max(found[j], distance(x, y, norm_of(price)))
    return [
        Finding(relation, str(price), column.label, column.form.name, getattr(column.form, norm), most, norm)
        for price, shape, found in zip(prices, shapes, reached, strict=True)
        for norm in [norm_of(price)]
        for column, most in zip(shape.columns, found, strict=True)
    ]


def _noise(shape: Design, draws: int) -> list[str]:
    """(b): the noise added is that of the law, and a law 10% off would be noticed."""
    failures: list[str] = []
    for law in {column.law for column in shape.columns}:
        noise = np.array(protect(((0,) * draws,), law)[0], dtype=np.int64)
        if not noise_law(_again(noise), law, draws=draws).passed:
            failures.append(f"(b) the noise is not {law}")
        wrong: Law = type(law)(law.scale * 11 / 10)  # type: ignore  # pyright: ignore
        if noise_law(_again(noise), wrong, draws=draws).passed:
            failures.append(f"(b) a scale 10% off {law} was not noticed with {draws} draws")
    return failures


def _again(noise: NDArray[np.int64]) -> Callable[[int], NDArray[np.int64]]:
    """Draws already made, as a sampler."""
    return lambda size: noise[:size]


def _monotone(query: Query[Any], schema: Schema, relation: Relation, price: Cost) -> list[str]:
    """(c): twice the price, a narrower law; the shares of the parts add up to at most the price."""
    from fractions import Fraction

    shape = designed(query, schema, relation, ROWS, price)
    half = designed(query, schema, relation, ROWS, price.share(Fraction(1, 2)))
    assert shape is not None
    assert half is not None
    failures: list[str] = []
    for one, other in zip(shape.columns, half.columns, strict=True):
        if not one.law.scale < other.law.scale:
            failures.append(f"(c) {one.label}: half the price does not widen the noise")
    if price.noise == "laplace":
        used = sum((column.form.l1 / column.law.scale for column in shape.columns), Fraction(0))
        offered = price.epsilon
    else:
        used = sum((column.form.l2_squared / (2 * column.law.scale**2) for column in shape.columns), Fraction(0))
        offered = price.zcdp
    if offered is None or used > offered:
        failures.append(f"(c) the parts cost {used}, more than the price {offered}")
    return failures


def _audit(shape: Design, relation: Relation, draws: int) -> list[str]:
    """(d): samples from the two most distant integers of each part never prove more than its share of the price."""
    failures: list[str] = []
    for column in shape.columns:
        apart = _furthest(column, relation)
        near, far = (np.array(protect(((k,) * draws,), column.law)[0], dtype=np.int64) for k in (0, apart))
        for delta in (0.0, 1e-3):
            claim = claimed_epsilon(column.cost, delta)
            if claim is None:
                continue
            found = epsilon_lower_bound(near, far, delta, 1 - 1e-6)
            if found > claim:
                failures.append(f"(d) {column.label}: samples prove epsilon >= {found}, above {claim}")
    return failures


def claimed_epsilon(cost: Cost, delta: float) -> float | None:
    """Epsilon that a cost promises at a delta; None where it promises none (zCDP at delta = 0)."""
    if cost.kind == "pure":
        return float(cost.epsilon or 0)
    if delta == 0:
        return None
    from tacit.privacy import zcdp_to_epsilon

    return float(zcdp_to_epsilon(cost.zcdp, str(delta)))


def _furthest(column: Column, relation: Relation) -> int:
    """Largest change that one row makes in one integer, over its extreme values and weights."""
    form, weights = column.form, (None,) if column.weight is None or not column.form.weights else (1, column.weight.G)
    G = form.parameters["G"]
    values = [form.row(v, a) for v in sorted({0, G // 2, G}) for a in weights]
    values.append(tuple(0 for _ in values[0]))
    if relation == "add-remove":
        return max(abs(a) for vector in values for a in vector)
    return max(abs(a - b) for x in values for y in values for a, b in zip(x, y, strict=True))


def _round_trip(query: Query[Any], schema: Schema) -> list[str]:
    """(e): a release equals itself after JSON."""
    from tacit.testing.tables import pairs as make

    material = next(iter(make(schema, "add-remove", 1, np.random.default_rng(0))))
    budget = Budget(epsilon=1, neighbors="add-remove")
    curator = Curator(arrow_table(schema, material.one), schema, budget=budget)
    release = curator.release(query, epsilon=1)
    again = release_from_dict(json.loads(release.to_json()))
    return [] if again == release and again.to_json() == release.to_json() else ["(e) a release changed in JSON"]


def sampled(law: Law, size: int) -> NDArray[np.int64]:
    """Draws as the mechanism makes them, for tests of its noise."""
    return np.array(protect(((0,) * size,), law)[0], dtype=np.int64)
