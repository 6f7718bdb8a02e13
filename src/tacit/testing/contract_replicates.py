"""The contract of a bootstrap: its price is a pair, and its replicates are drawn, so that (a) to (e) are checked here.

(a) Of the sums with every row drawn once, as of any mechanism: the declared sensitivity is that of one copy of a row.
(b) The law of the noise.
(c) Half the price widens the noise, and what is bought is within the price by its certified cost.
(d) A lower bound on epsilon, from replicates that the mechanism draws on two neighbouring tables, is never above the
    certified cost of one replicate.
(e) A release survives JSON.
"""

from __future__ import annotations

import json
from dataclasses import replace
from fractions import Fraction
from typing import Any, Final, cast

import numpy as np

from tacit.base.arrays import Array
from tacit.curator.curator import Curator
from tacit.curator.mechanisms import measure
from tacit.method.bootstrap.design import vector
from tacit.method.bootstrap.price import resampling
from tacit.method.bootstrap.query import Bootstrap
from tacit.method.shared.measurement import Measurement
from tacit.privacy import Budget, Cost
from tacit.privacy.bootstrap_cost import certify
from tacit.release.document import release_from_dict
from tacit.schema import Schema
from tacit.source import open_source
from tacit.testing.audit import epsilon_lower_bound
from tacit.testing.exact_integers import Exact
from tacit.testing.findings import EACH, RELATIONS, ROWS, Contract, Finding, designed, difference, distance
from tacit.testing.neighbouring_tables import Pair, Relation, Row, arrow_table, pairs, persons
from tacit.testing.noise_samples import CONFIDENCE, wrong_law

PRICE: Final = Cost.of(epsilon=4, delta="1e-3")
"""High enough for few replicates to tell two tables apart."""
DELTAS: Final = (1e-4, 1e-2)
"""Of the audit: multiplicities make a replicate private at no delta below that of the largest one."""


def contract(query: Bootstrap, schema: Schema, tables: int, draws: int, rng: np.random.Generator) -> Contract:
    """Run (a) to (e) for both relations; raises AssertionError where one fails.  See `testing.contract`."""
    findings: list[Finding] = []
    failures: list[str] = []
    for relation in RELATIONS:
        shape = designed(query, schema, relation, ROWS, PRICE)
        if shape is None:
            continue
        material = list(pairs(schema, relation, tables, rng))
        found, furthest = _sensitivity(shape, schema, relation, material)
        findings += found
        for column in vector(shape):
            failures += wrong_law(column.law, draws)
        failures += _price(query, schema, relation)
        failures += _audit(shape, schema, furthest, draws // 10) + _round_trip(query, schema, furthest.one, relation)
    made = Contract(tuple(findings), tuple(failures))
    made.check()
    return made


def _sensitivity(
    shape: Measurement, schema: Schema, relation: Relation, material: list[Pair]
) -> tuple[list[Finding], Pair]:
    """Run (a): return the largest change of each column by one copy of a row, and the pair that changes all most.

    All columns together are measured in units of their noise, in which the declared sensitivity is that of `price`.
    """
    columns = vector(shape)
    one = replace(shape, columns=columns)
    # sums do not depend on the noise: a design for each size would be calibrated for nothing
    exact = Exact(schema, relation, lambda size: (replace(one, rows=size),))
    far, apart = [0] * len(columns), [tuple[int, ...]()] * len(columns)
    whole: list[Fraction] = []
    for i, pair in enumerate(material):
        (x,), (y,) = (exact.integers(rows, files=i % EACH == 0) for rows in (pair.one, pair.other))
        found = [distance(a, b, "l2_squared") for a, b in zip(x, y, strict=True)]
        for j, one_far in enumerate(found):
            if one_far > far[j]:
                far[j], apart[j] = one_far, difference(x[j], y[j])
        whole.append(sum((Fraction(d) / c.law.scale**2 for d, c in zip(found, columns, strict=True)), Fraction(0)))
    declared = [
        Finding(relation, str(PRICE), c.label, c.form.name, c.form.l2_squared, far[j], "l2_squared", apart[j])
        for j, c in enumerate(columns)
    ]
    return declared, material[max(range(len(whole)), key=lambda i: whole[i])]


def _price(query: Bootstrap, schema: Schema, relation: Relation) -> list[str]:
    """Run (c)."""
    shape = cast(Measurement, designed(query, schema, relation, ROWS, PRICE))
    assert PRICE.epsilon is not None
    assert PRICE.delta is not None
    half = cast(Measurement, designed(query, schema, relation, ROWS, replace(PRICE, epsilon=PRICE.epsilon / 2)))
    failures: list[str] = []
    if not shape.columns[0].law.scale < half.columns[0].law.scale:
        failures.append("(c) half the price does not widen the noise")
    law = resampling(relation, ROWS if relation == "replace-one" else None)
    cost = certify(law, query.replicates, _mu_squared(shape), PRICE.delta / 10)
    if not cost.within(shape.cost) or cost.delta(PRICE.epsilon) > PRICE.delta:
        failures.append(f"(c) the replicates cost more than {shape.cost}, or than {PRICE}")
    return failures


def _audit(shape: Measurement, schema: Schema, pair: Pair, draws: int) -> list[str]:
    """Run (d) on the pair of tables that a row changes most, projected to the direction of the change."""
    size = persons(schema, pair.one) if shape.rows is not None else None
    # in units of the noise, as columns have noise of their own
    near, far = (_drawn(replace(shape, rows=size), schema, rows, draws) for rows in (pair.one, pair.other))
    apart = far.mean(axis=0) - near.mean(axis=0)
    failures: list[str] = []
    for delta in DELTAS:
        claim = certify(resampling(shape.neighbors, size), 1, _mu_squared(shape), Fraction(delta)).epsilon(delta)
        found = epsilon_lower_bound(near @ apart, far @ apart, delta, CONFIDENCE)
        if found > claim:
            failures.append(f"(d) replicates prove epsilon >= {found}, above {float(claim)}")
    return failures


def _drawn(shape: Measurement, schema: Schema, rows: tuple[Row, ...], draws: int) -> Array:
    """Return independent replicates of the mechanism itself, shape (draws, integers)."""
    columns = vector(shape)
    parts = measure(replace(shape, columns=columns * draws), open_source(arrow_table(schema, rows)))
    found = [np.ravel(part.integers).astype(np.float64) / float(part.law.scale) for part in parts]
    return np.array([np.concatenate(found[i : i + len(columns)]) for i in range(0, len(found), len(columns))])


def _mu_squared(shape: Measurement) -> Fraction:
    """Return the price of one copy of a row in one replicate."""
    return sum((column.form.l2_squared / column.law.scale**2 for column in vector(shape)), Fraction(0))


def _round_trip(query: Bootstrap, schema: Schema, rows: tuple[Row, ...], relation: Relation) -> list[str]:
    """Run (e)."""
    price: dict[str, Any] = {"epsilon": PRICE.epsilon, "delta": PRICE.delta}
    release = Curator(arrow_table(schema, rows), schema, budget=Budget(**price, neighbors=relation)).release(
        query, **price
    )
    again = release_from_dict(json.loads(release.to_json()))
    return [] if again == release and again.to_json() == release.to_json() else ["(e) a release changed in JSON"]
