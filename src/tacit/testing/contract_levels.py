"""The contract of levels that nobody listed: its price is a pair, and what is released depends on which levels pass.

(a) Of the counts of all levels, and of the two sums: one unit changes them by the declared sensitivity, attained.
(b) The law of the noise.
(c) Half the price widens the noise, and noise and threshold satisfy the approximate part that the price buys.
(d) A lower bound on epsilon, from what the mechanism shows of two neighbouring tables, is never above the claim.
(e) A release survives JSON.

That the whole output of small tables is an approximate part is computed exactly in the library's own tests.
"""

from __future__ import annotations

import json
from dataclasses import replace
from fractions import Fraction
from typing import Any, Final, cast

import numpy as np

from tacit.base.arrays import Array
from tacit.curator.curator import Curator
from tacit.method.unlisted_levels.design import bought, parts_of
from tacit.method.unlisted_levels.level_thresholds import appearing
from tacit.method.unlisted_levels.mechanism import drawn, exact
from tacit.method.unlisted_levels.query import UnlistedLevels
from tacit.noise.laws import RoundedNormal
from tacit.privacy import Budget, Cost, mu_squared_to_epsilon
from tacit.release.document import release_from_dict
from tacit.schema import Schema
from tacit.source import Source, open_source
from tacit.testing.audit import epsilon_lower_bound
from tacit.testing.exact_integers import exchanged
from tacit.testing.findings import EACH, RELATIONS, ROWS, Contract, Finding, designed
from tacit.testing.neighbouring_tables import Pair, Relation, Row, arrow_table, pairs, persons
from tacit.testing.noise_samples import CONFIDENCE, wrong_law

PRICE: Final = Cost.of(epsilon=4, delta="1e-2")
"""High enough for few draws to tell two tables apart, and for levels of one row to be shown at times."""
DELTA: Final = 2e-3
"""Of the audit: above the tenth of the price's delta that is for levels that one unit makes appear."""
DRAWN: Final = 20
"""The mechanism is drawn this many times fewer than a law of noise."""


def contract(query: UnlistedLevels, schema: Schema, tables: int, draws: int, rng: np.random.Generator) -> Contract:
    """Run (a) to (e) for both relations; raises AssertionError where one fails.  See `testing.contract`."""
    findings: list[Finding] = []
    failures: list[str] = []
    for relation in RELATIONS:
        shape = cast(Any, designed(query, schema, relation, ROWS, PRICE))
        found, furthest = _sensitivity(shape, schema, relation, list(pairs(schema, relation, tables, rng)))
        findings += found
        for column in shape.columns:
            failures += wrong_law(column.law, draws)
        failures += _price(query, schema, relation)
        failures += _audit(shape, schema, furthest, draws // DRAWN) + _round_trip(query, schema, furthest.one, relation)
    made = Contract(tuple(findings), tuple(failures))
    made.check()
    return made


def _sensitivity(shape: Any, schema: Schema, relation: Relation, material: list[Pair]) -> tuple[list[Finding], Pair]:
    """Run (a); return the pair whose counts are furthest apart too."""
    far, apart, furthest = [0, 0], [tuple[int, ...]()] * 2, material[0]
    files, polars = exchanged(schema)
    for i, pair in enumerate(material):
        through = files if i % EACH == 0 else polars
        x, y = (_counts(shape, schema, rows, through.of(arrow_table(schema, rows))) for rows in (pair.one, pair.other))
        moved = tuple(y.get(name, 0) - x.get(name, 0) for name in sorted({*x, *y}))
        for j, change in enumerate((moved, (sum(moved),))):
            found = sum(k * k for k in change)
            if found > far[j]:
                far[j], apart[j] = found, change
                furthest = pair if j == 0 else furthest
    levels, every, rest = shape.columns
    wanted = ((levels, 0), (every, 1), (rest, 1))
    return [
        Finding(relation, str(PRICE), one.label, one.form.name, one.form.l2_squared, far[j], "l2_squared", apart[j])
        for one, j in wanted
    ], furthest


def _counts(shape: Any, schema: Schema, rows: tuple[Row, ...], source: Source) -> dict[str, int]:
    """READS ROWS, of made tables.  Return exact counts, with a design for their number where that is public."""
    size = persons(schema, rows) if shape.rows is not None else None
    return exact(replace(shape, rows=size), source)[0]


def _price(query: UnlistedLevels, schema: Schema, relation: Relation) -> list[str]:
    """Run (c)."""
    assert PRICE.epsilon is not None
    shape = cast(Any, designed(query, schema, relation, ROWS, PRICE))
    half = cast(Any, designed(query, schema, relation, ROWS, replace(PRICE, epsilon=PRICE.epsilon / 2)))
    failures: list[str] = []
    for one, other in zip(shape.columns, half.columns, strict=True):
        if not one.law.scale < other.law.scale:
            failures.append(f"(c) {one.label}: half the price does not widen the noise")
    part = bought(PRICE)
    used = sum((Fraction(one.form.l2_squared) / one.law.scale**2 for one in shape.columns), Fraction(0))
    if used > part.gdp:
        failures.append(f"(c) the noise costs {used} in mu squared, more than {part.gdp}")
    levels = shape.columns[0]
    through = appearing(cast(RoundedNormal, levels.law), levels.form.parameters["threshold"], parts_of(shape) or 1)
    if part.delta is None or through > part.delta:
        failures.append(f"(c) one unit makes levels appear with probability {float(through)}, above {part.delta}")
    return failures


def _audit(shape: Any, schema: Schema, pair: Pair, draws: int) -> list[str]:
    """Run (d): of the two tables, the scores are the largest count that is shown, and how many are."""
    part = bought(PRICE)
    claim = float(mu_squared_to_epsilon(part.gdp, Fraction(DELTA) - (part.delta or 0)))
    one, other = (_shown(shape, schema, rows, draws) for rows in (pair.one, pair.other))
    failures: list[str] = []
    for j in range(one.shape[1]):
        for near, far in ((one[:, j], other[:, j]), (other[:, j], one[:, j])):
            found = epsilon_lower_bound(near, far, DELTA, CONFIDENCE)
            if found > claim:
                failures.append(f"(d) what is shown proves epsilon >= {found}, above {claim}")
    return failures


def _shown(shape: Any, schema: Schema, rows: tuple[Row, ...], draws: int) -> Array:
    """Return scores of the mechanism's own output, shape (draws, 3)."""
    size = persons(schema, rows) if shape.rows is not None else None
    own, source = replace(shape, rows=size), open_source(arrow_table(schema, rows))
    counts = exact(own, source)[0]
    scores: list[tuple[float, float, float]] = []
    for _ in range(draws):
        levels, every, rest = drawn(own, counts)
        scores.append((float(len(levels.integers)), float(every.integers[0][0]), float(rest.integers[0][0])))
    return np.array(scores)


def _round_trip(query: UnlistedLevels, schema: Schema, rows: tuple[Row, ...], relation: Relation) -> list[str]:
    """Run (e)."""
    price: dict[str, Any] = {"epsilon": PRICE.epsilon, "delta": PRICE.delta}
    budget = Budget(**price, neighbors=relation)
    release = Curator(arrow_table(schema, rows), schema, budget=budget).release(query, **price)
    again = release_from_dict(json.loads(release.to_json()))
    return [] if again == release and again.to_json() == release.to_json() else ["(e) a release changed in JSON"]
