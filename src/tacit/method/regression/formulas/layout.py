"""The integer coordinates of a row for a formula, and the linear map from them to the formula's terms.  No data here.

Every row becomes integers z_0, ..., z_m of at most H in absolute value, z_0 = H for all rows and z_m the response:

- a column of numbers: its place on a grid, from the middle of its bounds, so that z / H runs from -1 to 1;
- a Boolean, or a category of two levels: -H or H, which has twice the range of 0 or H for the same noise;
- a category of more levels: one coordinate for each level but the first, H for the row's own level and else 0;
- products of these, divided by H and rounded, for interactions and powers.

Coordinates that differ only in the level of a column form a group: at most one of them is not 0 in a row.  The terms of
the formula are linear in z, with public coefficients: `Layout.terms`.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import product
from typing import Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from tacit.errors import QueryError
from tacit.method.regression.formulas.formula import MAX_DEGREE, Formula, Term
from tacit.method.regression.formulas.formula_factors import Factor
from tacit.release.parts import Variable
from tacit.rows.coordinates import MOST, SIGN, H

Mark: TypeAlias = tuple[str, int]
"""An indicator, as a column and a level: 1 in rows of that level, else 0.  Level SIGN: -1 at the first of two levels
and 1 at the second.
"""


Monomial: TypeAlias = tuple[tuple[str, ...], tuple[Mark, ...]]
"""A product of columns of numbers (sorted; one entry for each power) and of marks (sorted)."""
Poly: TypeAlias = Mapping[Monomial, float]
"""A polynomial: the coefficient of each product."""
ONE: Final[Monomial] = ((), ())


@dataclass(frozen=True)
class ProductSum:
    """A released sum over rows of a product z_j z_k, with all pairs (j, k), j <= k, whose products are always equal.

    Pairs that include (0, 0) are the number of rows, times H squared.
    """

    pairs: tuple[tuple[int, int], ...]

    @property
    def off_diagonal(self) -> bool:
        """Whether one of the pairs has two different coordinates."""
        return any(j < k for j, k in self.pairs)

    @property
    def is_row_count(self) -> bool:
        """Whether it is the number of rows, times H squared."""
        return (0, 0) in self.pairs


@dataclass(frozen=True)
class Layout:
    """The coordinates of a formula.

    coordinates: m + 1 products, the first 1 and the last the response.  bounds: largest |z| of each.  groups: indices
    of the coordinates of each group; the first coordinate is in none.  names: of the terms.  terms: shape
    (len(names) + 1, m + 1), the terms and then the response, in their own units, as linear functions of z / H.
    entries: all sums of products, the number of rows included.
    """

    formula: Formula
    coordinates: tuple[Monomial, ...]
    bounds: tuple[int, ...]
    groups: tuple[tuple[int, ...], ...]
    names: tuple[str, ...]
    terms: NDArray[np.float64]
    entries: tuple[ProductSum, ...]

    @property
    def size(self) -> int:
        """Number of coordinates without the response."""
        return len(self.coordinates) - 1

    def group_bounds(self, *, response: bool) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """Return the bounds of groups of one coordinate, and of groups of several; with the response if `response`."""
        found: tuple[list[int], list[int]] = ([], [])
        for block in self.groups:
            if response or self.size not in block:
                # False is 0: groups of one; True is 1: groups of several
                found[len(block) > 1].append(max(self.bounds[j] for j in block))
        return tuple(found[0]), tuple(found[1])

    @property
    def regressor_products(self) -> tuple[ProductSum, ...]:
        """Sums of products of regressors, the number of rows first."""
        (known,) = (one for one in self.entries if one.is_row_count)
        kept = ProductSum(tuple(pair for pair in known.pairs if self.size not in pair))
        return (kept, *self.products(response=False))

    @property
    def all_pairs(self) -> tuple[ProductSum, ...]:
        """All pairs of regressors, for products of two mean scores of a person, of which none are always 0 or equal."""
        return all_pairs(self.size)

    def products(self, *, response: bool) -> tuple[ProductSum, ...]:
        """Return the sums of products without the number of rows; those with the response only if `response`."""
        kept = [one for one in self.entries if not one.is_row_count]
        return tuple(one for one in kept if response or all(self.size not in pair for pair in one.pairs))


def all_pairs(size: int) -> tuple[ProductSum, ...]:
    """Return a sum for each pair of `size` entries, in the order of released products.

    >>> [one.pairs for one in all_pairs(2)]
    [((0, 0),), ((0, 1),), ((1, 1),)]
    """
    return tuple(ProductSum(((j, k),)) for k in range(size) for j in range(k + 1))


def layout(formula: Formula, variables: Sequence[Variable]) -> Layout:
    """Return the layout of a formula for columns with these public facts; one that was asked for lately is kept.

    QueryError Q86 for a column that does not fit its place in the formula, Q89 for too many coordinates.

    >>> from tacit.method.regression.formulas.formula import parse
    >>> y, age = Variable("y", "real", 0, 10, half=1024), Variable("age", "real", 20, 60, half=1024)
    >>> sex = Variable("sex", "levels", labels=("f", "m"))
    >>> made = layout(parse("y ~ age + sex"), (y, age, sex))
    >>> made.names, made.terms.tolist()[:3]
    (('Intercept', 'age', 'sex[T.m]'), [[1.0, 0.0, 0.0, 0.0], [40.0, 0.0, 20.0, 0.0], [0.5, 0.5, 0.0, 0.0]])
    """
    return _layout(formula, tuple(variables), H)


@lru_cache(maxsize=32)
def _layout(formula: Formula, variables: tuple[Variable, ...], steps: int) -> Layout:
    del steps  # H, which tests of small grids change: a layout that is kept is of the one it was made with
    facts = {one.name: one for one in variables}
    _check_terms(formula, facts)
    response = _response_poly(facts[formula.response])
    columns = [pair for term in formula.terms for pair in _term_columns(formula, term, facts)]
    # the response is a constant plus a multiple of one coordinate, the last
    (target,) = (key for key in response if key != ONE)
    # sorted, so that the coordinates do not depend on the order in which the terms were written
    inner = dict.fromkeys(key for _, poly in columns for key in sorted(poly, key=_sort_key))
    coordinates = (ONE, *(key for key in sorted(inner, key=_sort_key) if key != ONE), target)
    if len(coordinates) > MOST:
        text = f"the formula makes {len(coordinates):,} columns; at most {MOST} are released."
        raise QueryError(text, code="Q89", hint="fewer levels, or fewer interactions")
    place = {key: j for j, key in enumerate(coordinates)}
    terms = np.zeros((len(columns) + 1, len(coordinates)))
    for i, poly in enumerate([*(poly for _, poly in columns), response]):
        for key, coefficient in poly.items():
            terms[i, place[key]] += coefficient
    terms.flags.writeable = False
    blocks: dict[object, list[int]] = {}
    for j, (numbers, marks) in enumerate(coordinates[1:], 1):
        # without the level itself: indicators of two levels of a column exclude each other, and so share a group
        blocks.setdefault((numbers, tuple((name, level == SIGN) for name, level in marks)), []).append(j)
    bounds = tuple(_largest(key, facts) for key in coordinates)
    grouped = tuple(map(tuple, blocks.values()))
    names = tuple(name for name, _ in columns)
    return Layout(formula, coordinates, bounds, grouped, names, terms, _entries(coordinates, grouped))


def is_binary(fact: Variable) -> bool:
    """Return whether a column is 0 or 1: a Boolean, or a category of two levels, of which the second is 1."""
    return fact.kind == "boolean" or (fact.kind == "levels" and len(fact.labels) == 2)


# Columns of the formula -----------------------------------------------------------------------------------------------


def _check_terms(formula: Formula, facts: Mapping[str, Variable]) -> None:
    response = facts[formula.response]
    if response.kind == "levels" and not is_binary(response):
        text = f"response {response.name!r} is a Category of {len(response.labels)} levels: it has no mean."
        raise QueryError(text, code="Q86", hint="a Real, Integer or Boolean column, or a Category of two levels")
    known = [frozenset(term) for term in formula.terms]
    if any(_has_all_levels(formula, term, facts) for term in formula.terms):
        known.append(frozenset())  # all levels of a category have an intercept's part
    for term in formula.terms:
        for one in term:
            _check_factor(one, facts[one.column])
            rest = frozenset(term) - {one}
            # coding without the first level assumes that the term without this factor is there (marginality)
            if facts[one.column].kind == "levels" and rest not in known:
                others = ":".join(factor.label for factor in term if factor != one) or "1"
                text = f"term {':'.join(factor.label for factor in term)!r} stands without {others!r}."
                raise QueryError(text, code="Q86", hint=f"add {others}, or join the columns by *")


def _check_factor(one: Factor, fact: Variable) -> None:
    if fact.kind == "levels" and (one.power > 1 or len(fact.labels) < 2):
        what = "has one level only" if len(fact.labels) < 2 else "is a Category: it has no powers"
        raise QueryError(f"regressor {one.column!r} {what}.", code="Q86", hint="leave it out")
    if one.category and fact.kind != "levels":
        text = f"C({one.column}): the column has numbers, and no public levels."
        raise QueryError(text, code="Q86", hint=f'"{one.column}": Category([…]), or cut(…) as a computed column')


def _has_all_levels(formula: Formula, term: Term, facts: Mapping[str, Variable]) -> bool:
    """Return whether a category has a term for each level: the first category of a formula without an intercept."""
    alone = [one for one in formula.terms if len(one) == 1 and facts[one[0].column].kind == "levels"]
    return not formula.intercept and bool(alone) and term == alone[0]


def _term_columns(formula: Formula, term: Term, facts: Mapping[str, Variable]) -> list[tuple[str, Poly]]:
    """Return the name and polynomial of each column of the design matrix that a term makes."""
    choices = [_factor_columns(one, facts[one.column], full=_has_all_levels(formula, term, facts)) for one in term]
    found: list[tuple[str, Poly]] = []
    rows = [choice[::-1] for choice in product(*choices[::-1])]  # the first factor varies fastest, as in formulaic
    for chosen in rows:
        poly: Poly = {ONE: 1.0}
        for _, factor in chosen:
            poly = _multiply_polys(poly, factor)
        found.append((":".join(name for name, _ in chosen) or "Intercept", poly))
    return found


def _factor_columns(one: Factor, fact: Variable, *, full: bool) -> list[tuple[str, Poly]]:
    if fact.kind != "levels":
        return [(one.label, _number_poly(fact, one))]
    first = 0 if full else 1
    form = "{}[{}]" if full else "{}[T.{}]"
    labels = enumerate(fact.labels)
    return [(form.format(one.label, label), _level_poly(fact, i)) for i, label in labels if i >= first]


def _response_poly(fact: Variable) -> Poly:
    return _level_poly(fact, 1) if fact.kind == "levels" else _number_poly(fact, Factor(fact.name))


def _number_poly(fact: Variable, one: Factor) -> Poly:
    """Return a column of numbers, or a power of it, as a polynomial in z / H."""
    if fact.kind == "boolean":
        # 0 or 1 from the sign -1 or 1
        return {ONE: 0.5, ((), ((fact.name, SIGN),)): 0.5}
    middle, reach = (fact.lower + fact.upper) / 2, (fact.upper - fact.lower) / 2
    alone: Poly = {ONE: middle, ((fact.name,), ()): reach * (H / fact.half)}
    # bounds with middle 0 leave no constant part
    alone = {key: x for key, x in alone.items() if x}
    poly: Poly = {ONE: 1.0}
    for _ in range(one.power):
        poly = _multiply_polys(poly, alone)
    return poly


def _level_poly(fact: Variable, level: int) -> Poly:
    """1 for rows at a level, else 0."""
    if len(fact.labels) == 2:
        return {ONE: 0.5, ((), ((fact.name, SIGN),)): 0.5 if level else -0.5}
    if level:
        return {((), ((fact.name, level),)): 1.0}
    # all levels add up to 1, and the first has no coordinate of its own
    return {ONE: 1.0, **{((), ((fact.name, i),)): -1.0 for i in range(1, len(fact.labels))}}


# Products -------------------------------------------------------------------------------------------------------------


def multiply(a: Monomial, b: Monomial) -> Monomial | None:
    """Return the product of two products; None where it is 0 in every row."""
    marks: dict[str, int] = {}
    for name, level in (*a[1], *b[1]):
        if name not in marks:
            marks[name] = level
        # (+-1)**2 = 1
        elif level == SIGN:
            del marks[name]
        # two levels of one column exclude each other
        elif marks[name] != level:
            return None
    return tuple(sorted((*a[0], *b[0]))), tuple(sorted(marks.items()))


def _multiply_polys(a: Poly, b: Poly) -> Poly:
    found: dict[Monomial, float] = {}
    for (one, x), (other, y) in product(a.items(), b.items()):
        key = multiply(one, other)
        if key is not None:
            found[key] = found.get(key, 0.0) + x * y
    return found


def _sort_key(key: Monomial) -> tuple[int, Monomial]:
    return len(key[0]) + len(key[1]), key


def _largest(key: Monomial, facts: Mapping[str, Variable]) -> int:
    """Return the largest |z| of a coordinate: a product of k > 1 numbers is divided by H**(k - 1) and rounded."""
    halves = [facts[name].half for name in key[0]]
    if len(halves) < 2:
        return halves[0] if halves else H
    assert len(halves) <= MAX_DEGREE
    divisor = H ** (len(halves) - 1)
    # rounds as `Coordinate.numpy` does, halves upwards
    return (math.prod(halves) + divisor // 2) // divisor


def _entries(coordinates: tuple[Monomial, ...], blocks: tuple[tuple[int, ...], ...]) -> tuple[ProductSum, ...]:
    """Return the sums to release: no products that are always 0, and equal products only once.

    Two products are equal in every row where they are the same monomial and neither was rounded.  The square of a
    coordinate in a group of several needs no sum of its own: it equals the coordinate's product with z_0 or, for an
    interaction, with the interaction's other factor, and that is released already.
    """
    several = {j for block in blocks if len(block) > 1 for j in block}
    found: dict[tuple[Monomial, tuple[int, int] | None], list[tuple[int, int]]] = {}
    later: list[tuple[Monomial, tuple[int, int]]] = []
    for k in range(len(coordinates)):
        for j in range(k + 1):
            key = multiply(coordinates[j], coordinates[k])
            if key is None:
                continue
            if j == k and j in several:
                later.append((key, (j, k)))
                continue
            # a product of two or more numbers was rounded, so that equal monomials may differ by a step
            exact = len(coordinates[j][0]) <= 1 and len(coordinates[k][0]) <= 1
            found.setdefault((key, None if exact else (j, k)), []).append((j, k))
    for key, pair in later:
        same = next((at for at in found if at[0] == key), None)
        if same is None:
            text = "an interaction stands without the terms that it is made of."
            raise QueryError(f"formula: {text}", code="Q86", hint="join columns by *")
        found[same].append(pair)
    # a pair of two coordinates first: the source is asked for the first pair
    return tuple(
        ProductSum(tuple(sorted(pairs, key=lambda pair: (pair[0] == pair[1], pair)))) for pairs in found.values()
    )
