"""The contract of mechanisms that draw one of a public set by utilities of counts: `KSDataset`, `ExponentialMechanism`.

(a) Grey-box sensitivity: over neighbouring tables, the largest change of any outcome's utility (of a data set), or of
    the difference of two (of candidates), against the declared one, which must be reached somewhere.
(b) What is drawn has the declared probabilities: a test over all outcomes of a small table, which a rate 30% off fails.
(c) A higher price buys a larger rate, and by the declared sensitivities the parts cost at most the price.
(d) Draws on the two tables that differ most never prove a larger epsilon than is claimed.
(e) is the same for all mechanisms (`contract`).

A data set is asked for with few points of few cells here, so that all of them can be listed.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from itertools import combinations_with_replacement
from typing import Any, Final, cast

import numpy as np
from numpy.typing import NDArray

from tacit.curator.mechanisms import integers
from tacit.method.exponential_mechanism.mechanism import drawn as candidate
from tacit.method.exponential_mechanism.query import ExponentialMechanism
from tacit.method.ks_dataset.bands import Bands
from tacit.method.ks_dataset.layers import Layers
from tacit.method.ks_dataset.mechanism import bands, drawn
from tacit.method.ks_dataset.query import KSDataset
from tacit.method.shared.measurement import Measurement, PartSpec
from tacit.noise.selection_law import Selection
from tacit.privacy import Cost
from tacit.release.query import Query
from tacit.schema import Schema
from tacit.testing.audit import epsilon_lower_bound
from tacit.testing.contract_selection import ONE_BY_ONE
from tacit.testing.exact_integers import exchanged
from tacit.testing.findings import EACH, PRICES, RELATIONS, ROWS, Finding, designed, norm_of
from tacit.testing.neighbouring_tables import Pair, Relation, arrow_table, pairs
from tacit.testing.noise_samples import wrong_law

CELLS: Final = 4
POINTS: Final = 3
ROUNDS: Final = 3
"""Rows of the small tables that (b) and (d) draw from, in each cell."""
CONFIDENCE: Final = 1 - 1e-6
Integers = NDArray[np.int64]


def asked(query: Query[Any]) -> Query[Any]:
    """Return the query that is examined: of a data set one of few points of few cells."""
    return replace(query, size=POINTS, cells=CELLS) if isinstance(query, KSDataset) else query


def examined(
    query: Query[Any], schema: Schema, tables: int, draws: int, rng: np.random.Generator
) -> tuple[list[Finding], list[str]]:
    """Run (a) to (d) for both relations and both kinds of price."""
    findings: list[Finding] = []
    failures: list[str] = []
    for relation in RELATIONS:
        shapes = [_shape(query, schema, relation, price) for price in PRICES]
        findings += sensitivity(shapes, schema, relation, list(pairs(schema, relation, tables, rng)))
        for price, shape in zip(PRICES, shapes, strict=True):
            failures += _costs(shape, _shape(query, schema, relation, price.share(Fraction(1, 2))), price) + _laws(
                shape, max(2, draws // ONE_BY_ONE)
            )
            failures += _audit(shape, relation, max(2, draws // ONE_BY_ONE))
    return findings, failures


def _shape(query: Query[Any], schema: Schema, relation: Relation, price: Cost) -> Measurement:
    shape = designed(query, schema, relation, ROWS, price)
    assert shape is not None
    return shape


def data_sets(part: PartSpec) -> list[tuple[int, ...]]:
    """Return all data sets of a part, as points in each cell."""
    k, m = part.form.parameters["G"], part.form.parameters["cells"]
    listed = combinations_with_replacement(range(m), k)
    return [tuple(np.bincount(one, minlength=m).tolist()) for one in listed]


def utilities(shape: Measurement, exact: Any) -> list[int]:
    """Return the utility of every outcome of a table, from what `exact` returns."""
    part = shape.columns[0]
    if isinstance(shape.query, ExponentialMechanism):
        return list(exact)
    held = bands(part, exact)
    return [-held.level(one) for one in data_sets(part)]


def changed(shape: Measurement, one: list[int], other: list[int]) -> int:
    """Return how far utilities differ: the largest difference, or of doubled ones half the spread of differences."""
    apart = [a - b for a, b in zip(one, other, strict=True)]
    if isinstance(shape.query, ExponentialMechanism):
        return (max(apart) - min(apart)) // 2
    return max(map(abs, apart))


# (a) ----------------------------------------------------------------------------------------------------------------


def sensitivity(shapes: list[Measurement], schema: Schema, relation: Relation, material: list[Pair]) -> list[Finding]:
    """Run (a): return the largest changes over neighbouring tables, by price and by part."""
    shape = replace(shapes[0], rows=None)
    on_files, on = exchanged(schema)
    furthest, numbers = 0, 0
    for i, pair in enumerate(material):
        source = on_files if i % EACH == 0 else on
        found = [integers(shape, source.of(arrow_table(schema, rows)))[0] for rows in (pair.one, pair.other)]
        furthest = max(furthest, changed(shape, *(utilities(shape, one) for one in found)))
        if len(shape.columns) > 1:
            numbers = max(numbers, abs(int(found[0].sum()) - int(found[1].sum())))
    made: list[Finding] = []
    for price, shape in zip(PRICES, shapes, strict=True):
        norm = norm_of(price)
        for column, far in zip(shape.columns, (furthest, numbers), strict=False):
            reached = far if norm == "l1" else far * far
            made.append(
                Finding(relation, str(price), column.label, column.form.name, getattr(column.form, norm), reached, norm)
            )
    return made


# (b), (d) -----------------------------------------------------------------------------------------------------------


def _outcomes(shape: Measurement, counts: list[int], rate: Fraction, draws: int) -> Integers:
    """Return numbers of outcomes that the mechanism's own sampler draws for a table of these counts."""
    part = shape.columns[0]
    if isinstance(shape.query, ExponentialMechanism):
        found = _of_counts(shape, counts)
        return np.array([candidate(found, Selection(rate)) for _ in range(draws)], dtype=np.int64)
    places = {one: i for i, one in enumerate(data_sets(part))}
    layers = Layers(_bands(part, counts), rate)
    return np.array([places[drawn(layers)] for _ in range(draws)], dtype=np.int64)


def _bands(part: PartSpec, counts: list[int]) -> Bands:
    return bands(part, np.array(counts, dtype=np.int64))


def _of_counts(shape: Measurement, counts: list[int]) -> list[int]:
    """Return the utility of every outcome for a table of these counts (of persons: of weight)."""
    if isinstance(shape.query, ExponentialMechanism):
        from tacit.method.exponential_mechanism.utilities import utilities as of_candidates

        weights: Any = shape.columns[0]
        return [2 * u for u in of_candidates(shape.query, np.array(weights.weights, dtype=np.int64), counts)]
    return [-_bands(shape.columns[0], counts).level(one) for one in data_sets(shape.columns[0])]


def _cells(shape: Measurement) -> int:
    part: Any = shape.columns[0]
    return len(part.weights[0]) if isinstance(shape.query, ExponentialMechanism) else part.form.parameters["cells"]


def _law(shape: Measurement) -> Selection:
    return cast(Selection, shape.columns[0].law)


def _laws(shape: Measurement, draws: int) -> list[str]:
    """Run (b): outcomes have the declared probabilities, and a rate 30% off would be noticed."""
    from scipy.special import chdtrc, chdtri, chndtr  # pyright: ignore[reportMissingTypeStubs, reportUnknownVariableType]

    A = 1 if shape.columns[0].weight is None else shape.columns[0].weight.G
    counts = [A * (ROUNDS if i % 2 else 1) for i in range(_cells(shape))]
    law, found = _law(shape), _of_counts(shape, counts)
    seen = np.bincount(_outcomes(shape, counts, law.rate, draws), minlength=len(found))

    def pearson(held: Any, rate: Fraction) -> tuple[float, int]:
        p = Selection(rate).pmf(found, [1] * len(found))
        # rare outcomes together: a chi-square statistic needs a few of each
        often = p * draws >= 5
        expected = np.append(p[often], max(p[~often].sum(), 0.0)) * draws
        seldom = np.append(held[often], held[~often].sum())
        kept = expected > 0
        return float(((seldom - expected)[kept] ** 2 / expected[kept]).sum()), max(int(kept.sum()) - 1, 1)

    statistic, degrees = pearson(seen, law.rate)
    failures = [] if chdtrc(degrees, statistic) > 1e-6 else [f"(b) outcomes are not by {law}"]
    wrong = law.rate * Fraction(13, 10)
    # only where these draws tell the rates apart: the statistic of expected counts is how far the law's centre moves
    far, degrees = pearson(law.pmf(found, [1] * len(found)) * draws, wrong)
    limit = chdtri(degrees, 1e-6)
    if chndtr(limit, degrees, far) < 1e-9 and pearson(seen, wrong)[0] <= limit:
        failures.append(f"(b) a rate 30% off {law} was not noticed with {draws} draws")
    for column in shape.columns[1:]:
        failures += wrong_law(column.law, draws * ONE_BY_ONE)
    return failures


def _costs(shape: Measurement, half: Measurement, price: Cost) -> list[str]:
    """Run (c): half the price widens the laws, and by their declared sensitivities the parts cost at most the price."""
    pure, used = price.kind == "pure", Fraction(0)
    failures = list[str]()
    for one, other in zip(shape.columns, half.columns, strict=True):
        if not one.law.scale < other.law.scale:
            failures.append(f"(c) {one.label}: half the price does not widen the law")
        if isinstance(one.law, Selection):
            # bounded range r: pure DP at r, and r**2 / 8 in rho [Cesar & Rogers 2021]
            used += _claimed(shape) if pure else _claimed(shape) ** 2 / 8
        else:
            used += one.form.l1 / one.law.scale if pure else one.form.l2_squared / (2 * one.law.scale**2)
    offered = price.epsilon if pure else price.zcdp
    if offered is None or used > offered:
        failures.append(f"(c) the parts cost {used}, more than the price {offered}")
    return failures


def _audit(shape: Measurement, relation: Relation, draws: int) -> list[str]:
    """Run (d) at a rate that a price of epsilon = 1.5 buys, on those neighbouring tables that it best tells apart."""
    epsilon = Fraction(3, 2)
    rate = _law(shape).rate * epsilon / _claimed(shape)
    A = 1 if shape.columns[0].weight is None else shape.columns[0].weight.G
    best: tuple[float, list[int], list[int], NDArray[np.float64]] | None = None
    for one, other in _neighbours(_cells(shape), A, relation):
        p, q = (Selection(rate).pmf(x, [1] * len(x)) for x in (_of_counts(shape, one), _of_counts(shape, other)))
        ratio = np.log(p) - np.log(q)
        # the likeliest of the outcomes that tell most
        worth = float((np.sqrt(p) * ratio).max())
        if best is None or worth > best[0]:
            best = worth, one, other, ratio
    assert best is not None
    scores = [best[3][_outcomes(shape, counts, rate, draws)] for counts in best[1:3]]
    found = epsilon_lower_bound(scores[0], scores[1], 0.0, CONFIDENCE)
    return [f"(d) draws prove epsilon >= {found:.3f}, above {float(epsilon)}"] if found > epsilon else []


def _claimed(shape: Measurement) -> Fraction:
    """Return the range that the rate and the declared sensitivity make."""
    return 2 * _law(shape).rate * shape.columns[0].form.l1


def _neighbours(cells: int, A: int, relation: Relation) -> list[tuple[list[int], list[int]]]:
    """Return pairs of small tables: a row, or person, moves from one end to the other, or is added there."""
    found: list[tuple[list[int], list[int]]] = []
    for base in ([0] * cells, [A] * cells, [A * (ROUNDS if i in (0, cells - 1) else 0) for i in range(cells)]):
        for at in (0, cells // 2, cells - 1):
            more = [n + (A if i == at else 0) for i, n in enumerate(base)]
            if relation == "add-remove":
                found += [(base, more), (more, base)]
            else:
                for to in {0, cells - 1} - {at}:
                    found.append((more, [n + (A if i == to else 0) for i, n in enumerate(base)]))
    return found
