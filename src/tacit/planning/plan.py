"""`plan`: the plan page of a question at a price, or at the smallest price that reaches a wanted width."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import replace
from fractions import Fraction
from typing import Any, Final, cast, get_args

from tacit.base.arguments import described, named_arguments
from tacit.curator.curator import Curator
from tacit.curator.mechanisms import design
from tacit.curator.request import Shares, checked_questions, split
from tacit.errors import BudgetError, QueryError, TacitError
from tacit.estimates.terms import check_level
from tacit.method.histogram.plan_curve import planned_density
from tacit.method.histogram.query import Histogram
from tacit.method.shared.asked_parameters import asked_parameters
from tacit.method.shared.default_boxes import refuse_unfit_boxes
from tacit.method.shared.measurement import Measurement, Public
from tacit.method.shared.plan_expected import GUESSED_ROWS, Expected
from tacit.method.shared.price_parts import charged_price
from tacit.planning.enough import enough, often_none
from tacit.planning.epsilon_alone import of_epsilon_alone
from tacit.planning.expected import as_expected, expected
from tacit.planning.guessed_spreads import ranges, variables_of
from tacit.planning.narrower import narrower, way_taken
from tacit.planning.other_price import other_price
from tacit.planning.page import Plan
from tacit.planning.pair_for_width import bought_by_pairs, checked_width, delta_of, pair_for
from tacit.planning.plain_statistic import plainer
from tacit.planning.question import PlannedQuestion
from tacit.planning.small_groups import other_shares
from tacit.planning.study_plan import parties_of, reaches
from tacit.privacy import Budget, Cost, Number, Spend, mu_squared_to_epsilon
from tacit.privacy.budget import Neighbors
from tacit.privacy.exact_numbers import rational, significant
from tacit.privacy.prices_in_mu import stated_without_mu
from tacit.release.query import Query
from tacit.rows.row_map import MAX_ROWS
from tacit.schema import Schema
from tacit.schema.expectations import Expect, Expectations
from tacit.study import Study
from tacit.study.curator_file import digest, public_words

Asks = Mapping[str, Query[Any]]
STEPS: Final = 40
"""Halvings of the search for a price: relative precision 2**-40 of its range in logarithms."""


@stated_without_mu(QueryError, "Q05", "plan")
@named_arguments(QueryError, "Q05", "plan")
def plan(
    query: Query[Any] | Asks,
    schema: Schema | Mapping[str, Any],
    *,
    rows: int | None = None,
    epsilon: Number | None = None,
    delta: Number | None = None,
    rho: Number | None = None,
    width: float | None = None,
    shares: Shares | None = None,
    level: float = 0.95,
    neighbors: str | None = None,
    budget: Budget | None = None,
    spent: Spend | None = None,
    name: str = "table",
    left: str | None = None,
    expect: Expect | None = None,
) -> Plan:
    """Cost and expected precision of a release, without data.

    rows: the number of rows (public under replace-one; a guess otherwise).  neighbors: the budget's, or "replace-one"
    where there is none.  Give a price (`rho=`, `epsilon=`, or
    `epsilon=` with `delta=`), or the `width=` of the widest interval wanted: then the smallest price in rho that
    reaches it is found (in epsilon for a `budget=` that adds it, at its delta for one that is a pair).  A Bootstrap is
    bought by a pair alone: its epsilon is found, at `delta=` or the budget's.
    expect: what is known of columns beforehand, of numbers {"mean": 12, "sd": 9} (and "missing", their share), or
    {"quantiles": {"0.25": 7, "0.75": 16}}, or both, of levels their shares; levels that are not named have what is left
    in equal parts.  Parameters of a law that is asked
    for stand under its column, or under the question's name: {"wait": {"shape": 2, "rate": 0.1}}.  Where nothing is
    said, values and levels are taken to be spread evenly, laws to be in the middle of their boxes, and the plan says
    what a group of another size would have, and over which widths each interval ranges (`Plan.ranges`).
    Raises QueryError Q40 for a width that no price reaches or beside a price, Q41 for rows that are no number from 2
    on, Q42 for expectations that cannot be true of the column or law, Q394 for another relation than the budget's,
    BudgetError B01, B03, B04 for a price that is
    none or that the budget does not add, and of the query what `Curator.design` raises.  Source: theory §9 for the
    precision.

    >>> from tacit import Mean, Real, Schema
    >>> made = plan(Mean("income"), Schema({"income": Real(0, 300_000)}), rows=10_000, width=4_000)
    >>> str(made.cost)
    'ρ = 0.0016'
    >>> known = {"income": {"mean": 30_000, "sd": 25_000}}
    >>> made = plan(Mean("income"), Schema({"income": Real(0, 300_000)}), rows=10_000, width=4_000, expect=known)
    >>> str(made.cost)
    'ρ = 0.00056'
    """
    declared = schema if isinstance(schema, Schema) else Schema(schema)
    _checked(budget, spent)
    neighbors = _relation(neighbors, budget)
    size = checked_rows(rows, neighbors)
    checked_questions(query)
    check_level(level)
    asks: Asks = {"": query} if isinstance(query, Query) else query
    for one in asks.values():
        refuse_unfit_boxes(one, declared)
    known = Expectations.of(expect, declared, asked_parameters(asks))

    accounting = None if budget is None else budget.kind
    public = Public(declared, neighbors, size if neighbors == "replace-one" else None, rows, accounting)

    def designs(cost: Cost) -> dict[str, Measurement]:
        return {cast(str, key): design(one, public, part) for key, one, part in split(asks, cost, shares, declared)}

    if width is not None:
        pair = bought_by_pairs(asks, declared)
        if not (epsilon is None and rho is None and (delta is None or pair)):
            raise QueryError("a plan takes a price or a width=, not both.", code="Q40", hint="leave the price out")
        cost = _found(width, lambda cost: _widest(designs(cost), size, level, known), budget, delta, pair=pair)
    else:
        cost = Cost.of(epsilon=epsilon, delta=delta, rho=rho)
    if budget is not None:
        budget.spend(cost)
    made = designs(cost)
    charge = charged_price(cost, [*made.values()], accounting)
    if budget is not None:
        budget.spend(charge)
    # a share of a pair is a part of its μ², which no ε alone is compared with
    own = {key: cost if len(made) == 1 else shape.cost for key, shape in made.items()}
    parts = tuple(_question(key, asks[key], shape, size, level, known, public, own[key]) for key, shape in made.items())
    return Plan(
        table=name,
        rows=size,
        public=neighbors == "replace-one",
        guessed=rows is None,
        neighbors=neighbors,
        cost=charge if charge.kind == "pure" else cost,  # ε alone where that is what the pair buys
        level=level,
        parts=parts,
        budget=budget,
        spent=spent or Spend(),
        left=left,
        expect=known,
        digest=digest(public_words(name, size, budget, declared, cost, asks, _fractions(shares))),
        asked=cost,
        other=other_price(
            cost,
            budget,
            spent or Spend(),
            made,
            {part.name: [one.width for one in part.terms] for part in parts},
            designs,
            lambda shapes: {key: _widths(key, one, size, level, known) for key, one in shapes.items()},
        ),
    )


def _widths(name: str, shape: Measurement, rows: int, level: float, known: Expectations) -> list[float]:
    """Return the expected widths of a question at another price."""
    own = known.of_question(name)
    return [one.width for one in expected(as_expected(shape, own), rows, level, own)]


def _question(
    name: str,
    asked: Query[Any],
    shape: Measurement,
    rows: int,
    level: float,
    known: Expectations,
    public: Public,
    cost: Cost,
) -> PlannedQuestion:
    """Return one question of a plan, with what a group of another size would have, and another question's precision."""
    known = known.of_question(name)
    shape = as_expected(shape, known)
    terms = tuple(expected(shape, rows, level, known))
    other = other_shares(shape, terms, rows, level, known)
    guesses, auto = ranges(shape, terms, rows, level, known), way_taken(asked, shape, public)
    # of a question that says which method it wants another may be more precise; "auto" has chosen
    better = None if auto is not None else narrower(shape, terms, public, rows, known)
    better = better or plainer(shape, terms, public, rows, known)

    def widths(one: Measurement) -> list[float]:
        return [each.width for each in expected(as_expected(one, known), rows, level, known)]

    better = better or of_epsilon_alone(shape, cost, public, [one.width for one in terms], widths)
    none = any(math.isinf(one.width) for one in terms)
    helps = enough(design, asked, shape.cost, public, rows, level, known) if none else None
    often = often_none(shape, rows, known) if none else None
    reads, curve = tuple(variables_of(shape)), None
    if isinstance(asked, Histogram):
        curve = planned_density(shape, rows, level, known)
    return PlannedQuestion(name, shape, terms, other, better, guesses, auto, helps, often, reads, curve)


def plan_for(
    curator: Curator,
    query: Query[Any] | Asks,
    *,
    epsilon: Number | None,
    delta: Number | None,
    rho: Number | None,
    width: float | None,
    shares: Shares | None,
    level: float,
    expect: Expect | None = None,
) -> Plan:
    """`Curator.plan`: as `plan`, with what is public of the curator's table and ledger."""
    standing = curator.standing
    made = plan(
        query,
        curator.schema,
        rows=curator.size_hint if curator.rows is None else curator.rows,
        epsilon=epsilon,
        delta=delta,
        rho=rho,
        width=width,
        shares=shares,
        level=level,
        neighbors=standing.budget.neighbors,
        budget=standing.budget,
        spent=standing.spent,
        name=curator.name,
        expect=expect,
    )
    return made.by(standing)


def plan_study(
    study: Study,
    *,
    rows: int | None = None,
    epsilon: Number | None = None,
    delta: Number | None = None,
    rho: Number | None = None,
    level: float | None = None,
    width: float | Mapping[str, float] | None = None,
    expect: Expect | None = None,
) -> Plan:
    """`Study.plan`: as `plan`, of one party's release, with what is known of all of them."""
    spend = study.spend
    if epsilon is None and delta is None and rho is None:
        epsilon, delta, rho = spend.epsilon, spend.delta, spend.rho
    page = plan(
        study.asks,
        study.schema,
        rows=study.rows if rows is None else rows,
        epsilon=epsilon,
        delta=delta,
        rho=rho,
        shares=study.shares,
        level=study.combining.level if level is None else level,
        neighbors=study.budget.neighbors,
        budget=study.budget,
        name=study.name,
        expect={**study.expect, **(expect or {})},
    )
    page = replace(page, digest=study.digest())
    made = parties_of(study, page.rows, {part.name: part.terms for part in page.parts}, page.cost, page.level)
    return replace(page, parties=made if width is None else replace(made, reaches=reaches(made, width)))


def checked_neighbors(neighbors: object) -> None:
    """Raise BudgetError B05 for an unknown relation."""
    if not isinstance(neighbors, str) or neighbors not in get_args(Neighbors):
        text = f"neighbors is {described(neighbors)}: not one of {', '.join(get_args(Neighbors))}."
        raise BudgetError(text, code="B05", hint='neighbors="add-remove"')


def _relation(neighbors: str | None, budget: Budget | None) -> str:
    """Return what neighbours are, of the budget where there is one; QueryError Q394 where they are told otherwise."""
    if neighbors is None:
        return "replace-one" if budget is None else budget.neighbors
    checked_neighbors(neighbors)
    if budget is not None and budget.neighbors != neighbors:
        text = f"neighbors is {neighbors!r}, and the budget's are {budget.neighbors!r}."
        raise QueryError(text, code="Q394", hint="leave neighbors= out: the budget says them")
    return neighbors


def _checked(budget: object, spent: object) -> None:
    """Raise BudgetError B16 for a budget, or charges, of another type."""
    if budget is not None and not isinstance(budget, Budget):
        text = f"budget is {described(budget)}: a Budget says in what it counts."
        raise BudgetError(text, code="B16", hint="budget=tc.Budget(epsilon=1)")
    if spent is not None and not isinstance(spent, Spend):
        raise BudgetError(f"spent is {described(spent)}: no sum of charges.", code="B16", hint="spent=curator.spent")


def _fractions(shares: Shares | None) -> dict[str, Fraction]:
    """Return shares as they are digested."""
    return {name: rational(share, "share") for name, share in (shares or {}).items()}


def checked_rows(rows: int | None, neighbors: str) -> int:
    """Return the number of rows that a plan assumes; QueryError Q41."""
    if rows is None:
        if neighbors == "replace-one":
            raise QueryError(
                "a plan under replace-one needs rows=.", code="Q41", hint="rows=10_000, under [table] in a file"
            )
        return GUESSED_ROWS
    if isinstance(rows, bool) or not isinstance(rows, int) or not 2 <= rows <= MAX_ROWS:  # pyright: ignore[reportUnnecessaryIsInstance]
        raise QueryError(f"rows is {described(rows)}: a plan needs a number from 2 on.", code="Q41", hint="rows=10_000")
    return rows


def _widest(shapes: Mapping[str, Measurement], rows: int, level: float, known: Expectations) -> tuple[float, float]:
    """Return the expected width of the widest interval, and of the widest without noise."""
    found: list[Expected] = [
        one for name, shape in shapes.items() for one in expected(shape, rows, level, known.of_question(name))
    ]
    return max(one.width for one in found), max(one.without for one in found)


def _found(
    width: float,
    widest: Callable[[Cost], tuple[float, float]],
    budget: Budget | None,
    delta: Number | None,
    *,
    pair: bool,
) -> Cost:
    """Return the smallest price that reaches a width; pair: of a question that only a pair buys."""
    if pair:
        return pair_for(width, widest, delta_of(delta, budget))
    # in the unit that the budget adds, so that the price found is one that it admits
    kind = "rho" if budget is None or budget.rho is not None else "mu_squared" if budget.is_pair else "epsilon"
    cost = _price_for(width, widest, kind)
    if budget is not None and cost.mu_squared is not None:
        assert budget.delta is not None
        return _as_pair(cost.mu_squared, budget.delta)
    return cost


def _price_for(width: float, widest: Callable[[Cost], tuple[float, float]], kind: str) -> Cost:
    """Return the smallest price, rounded up to two digits, at which no interval is wider than `width`, by bisection."""
    width = checked_width(width)
    low, high = 1e-12, 100.0
    # widths fall as the price grows, so the highest price decides whether any does
    reached, without = widest(_price(kind, high))
    if reached > width:
        message = f"no price makes the interval {width:g} wide: sampling alone gives {without:.4g}."
        raise QueryError(message, code="Q40", hint=f"width={1.1 * without:.3g}, or more rows")
    for _ in range(STEPS):
        # prices range over 14 powers of ten: halving in logarithms
        middle = (low * high) ** 0.5
        if _reaches(widest, _price(kind, middle), width):
            high = middle
        else:
            low = middle
    # up: a lower price would miss the width
    return _price(kind, _two_digits_up(high))


def _price(kind: str, value: float | Fraction) -> Cost:
    return Cost(**{kind: rational(value, kind)})


def _as_pair(mu_squared: Fraction, delta: Fraction) -> Cost:
    """A price of at least this μ², written as ε, rounded up to two digits, at a δ."""
    return Cost(epsilon=significant(mu_squared_to_epsilon(mu_squared, delta), 2, up=True), delta=delta)


def _reaches(widest: Callable[[Cost], tuple[float, float]], price: Cost, width: float) -> bool:
    try:
        return widest(price)[0] <= width
    except TacitError:  # a price so low that no noise is that wide
        return False


def _two_digits_up(value: float) -> Fraction:
    from decimal import ROUND_CEILING, Context, Decimal

    return Fraction(Context(prec=2, rounding=ROUND_CEILING).create_decimal(Decimal(value)))
