"""`explain`: what a price, a budget, a release, a ledger or a study means for one person."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any, Final, get_args

from tacit.base.arguments import described, named_arguments
from tacit.errors import BudgetError
from tacit.estimates.wording import title
from tacit.meaning.explanation import EXCEPT, Explanation, PromiseCase
from tacit.meaning.promise import Promise, of_budget, of_cost, of_spend
from tacit.privacy.bought import mu_squared_of
from tacit.privacy.budget import Budget, Neighbors
from tacit.privacy.composition import Spend, bought_by
from tacit.privacy.cost import Cost, checked
from tacit.privacy.exact_numbers import Number, plain
from tacit.release.document import Release, Releases
from tacit.study import Study

ABSENT: Final = "whether one {unit} is in the table"
VALUES: Final = "what one {unit} says"
SHARE_OF_DELTA: Final = 10
"""A suspicion may move further than told with so many times the δ of a pair of which nothing else is known."""


@named_arguments(BudgetError, "B18", "explain")
def explain(
    what: Any = None,
    *,
    epsilon: Number | None = None,
    delta: Number | None = None,
    rho: Number | None = None,
    mu: Number | None = None,
    neighbors: str | None = None,
) -> Explanation:
    """What a promise of privacy means for one person: suspicions, the best attacker, groups, repeated releases.

    what: a `Cost`, a `Budget`, a release, several (`Releases`, whose prices add), a `Curator`, the path of a ledger, or
    a `Study`; or leave it out and give numbers: `epsilon=`, `epsilon=` with `delta=`, `rho=`, or `mu=` (of Gaussian
    differential privacy). neighbors: "replace-one" (the default) or "add-remove"; what has a relation of its own needs
    none.

    Under "add-remove" two cases are told: whether a person is in the table, and what the row says, which takes a
    removal and an addition.  A pair (ε, δ) is kept as a μ (as ρ, if its budget says so), which promises more than the
    pair alone; figures are those of what is kept.  Nothing is read or spent.  Raises BudgetError B01, B03 as `Cost.of`,
    B05 for another relation, B19 for what has no price; LedgerError as a ledger that is opened.

    >>> import tacit as tc
    >>> made = tc.explain(epsilon=1)
    >>> [round(x, 4) for x in made.posterior(0.5)], round(made.advantage, 4)
    ([0.2689, 0.7311], 0.4621)
    >>> tc.explain(tc.Budget(rho="0.1", neighbors="add-remove")).cases[1].name
    'what one row says'
    """
    numbers = (epsilon, delta, rho, mu)
    given = any(one is not None for one in numbers)
    if given == (what is not None):
        text = (
            "explain takes a price in numbers, or what has one, and not both." if given else "explain is given nothing."
        )
        raise BudgetError(text, code="B19", hint="tc.explain(epsilon=1)")
    if given and mu is not None and (epsilon, delta, rho) == (None, None, None):
        squared = _squared(mu)
        return _explained(f"μ = {plain(checked(mu, 'mu_squared'))}", Promise(mu_squared=squared), neighbors, None)
    if given:
        if mu is not None:
            raise BudgetError("a price is stated in mu and another way.", code="B03", hint="tc.explain(mu=0.5)")
        what = Cost.of(epsilon=epsilon, delta=delta, rho=rho)
    return _of(what, neighbors)


def _squared(mu: Number) -> Fraction:
    """Return μ²; BudgetError B01 for a number that is none."""
    return checked(mu, "mu_squared") ** 2


def _of(what: Any, neighbors: str | None) -> Explanation:
    """Return the explanation of what has a price or a budget; BudgetError B19 for anything else."""
    if isinstance(what, Cost):
        return _explained(str(what), of_cost(what), neighbors, what)
    if isinstance(what, Budget):
        return _explained(f"a budget of {what}", of_budget(what), what.neighbors, None)
    if isinstance(what, Release):
        return _of_release(what)
    if isinstance(what, Releases):
        return _of_releases(what)
    if isinstance(what, Study):
        return _explained(f"a study at {what.spend}", of_cost(what.spend), what.budget.neighbors, what.spend)
    if isinstance(what, str | Path):
        return _of_path(what)
    if hasattr(what, "standing"):
        return _of_standing(what.standing, f"the ledger of {getattr(what, 'name', 'this table')}", "row")
    text = f"{described(what)} has no price to explain."
    raise BudgetError(text, code="B19", hint='tc.explain(epsilon=1), tc.explain(release), tc.explain("people.ledger")')


def _of_release(release: Release) -> Explanation:
    """Return the explanation of one release, from what its parts bought."""
    name = f"{title(release)} at {release.cost}"
    return _explained(name, _of_answer(release), release.neighbors, release.cost, _unit(release))


def _of_answer(release: Release) -> Promise:
    return of_cost(release.cost, mu_squared_of(bought_by(release)))


def _of_releases(releases: Releases) -> Explanation:
    """Return the explanation of several releases together; one alone is explained by itself."""
    if len(releases) == 1:
        return _of_release(next(iter(releases.values())))
    found = list(releases.values())
    promise = _together([_of_answer(one) for one in found])
    return _explained(f"{len(found):,} releases together", promise, found[0].neighbors, None, _unit(found[0]))


def _together(promises: list[Promise]) -> Promise:
    """Return the promise of several: each fact adds where all have it."""

    def added(values: Iterator[Fraction | None]) -> Fraction | None:
        found = list(values)
        return (
            None if any(one is None for one in found) else sum((one for one in found if one is not None), Fraction(0))
        )

    return Promise(
        pure=added(one.pure for one in promises),
        rho=added(one.rho for one in promises),
        mu_squared=added(one.mu_squared for one in promises),
        slack=sum((one.slack for one in promises), Fraction(0)),
    )


def _unit(release: Release) -> str:
    return "row" if release.unit is None else "person"


def _of_path(where: str | Path) -> Explanation:
    """Return the explanation of a file: a study or a curator's file (TOML), releases (JSON), or a ledger."""
    from tacit.ledger import open_recorded
    from tacit.study import read

    suffix = Path(where).suffix.lower() if "://" not in str(where) else ""
    if suffix == ".json":
        return _of_releases(Releases.stored(where))
    if suffix == ".toml":
        found: Any = read(where)
        if found.spend is not None:
            relation = None if found.budget is None else found.budget.neighbors
            return _explained(f"{where} at {found.spend}", of_cost(found.spend), relation, found.spend)
        return _of(found.budget, None)
    if "://" not in str(where) and not Path(where).is_file():
        raise BudgetError(f"there is no file {where}.", code="B19", hint="the path of a .ledger, .json or .toml file")
    ledger = open_recorded(where)
    unit = "row" if ledger.unit is None else "person"
    return _of_standing(ledger.standing(), str(where), unit)


def _of_standing(standing: Any, name: str, unit: str) -> Explanation:
    """Return the explanation of a ledger: of its whole budget, and of what is spent so far."""
    budget, spent = standing.budget, standing.spent
    cases = [*_cases(of_budget(budget), budget.neighbors, unit, "the whole budget: ")]
    if spent != Spend():
        cases += _cases(of_spend(budget, spent), budget.neighbors, unit, "spent so far: ")
    return Explanation(_headed(f"{name}, {budget},", budget.neighbors), tuple(cases), unit, _except(of_budget(budget)))


def _explained(name: str, promise: Promise, neighbors: str | None, cost: Cost | None, unit: str = "row") -> Explanation:
    relation = "replace-one" if neighbors is None else neighbors
    if relation not in get_args(Neighbors):
        text = f"neighbors is {described(neighbors)}: not one of {', '.join(get_args(Neighbors))}."
        raise BudgetError(text, code="B05", hint='neighbors="replace-one"')
    cases = tuple(_cases(promise, relation, unit, ""))
    return Explanation(_headed(name, relation), cases, unit, _except(promise), cost)


def _cases(promise: Promise, neighbors: str, unit: str, before: str) -> Iterator[PromiseCase]:
    """Yield what is promised of what: under add-remove of presence, and of values by a removal and an addition."""
    if neighbors == "add-remove":
        yield PromiseCase(before + ABSENT.format(unit=unit), promise, False)
        promise = promise.of_people(2)
    yield PromiseCase(before + VALUES.format(unit=unit), promise)


def _headed(name: str, neighbors: str) -> str:
    return f"What {name} promises ({neighbors})"


def _except(promise: Promise) -> float:
    """Return the probability with which a suspicion may move further: δ, where there is one."""
    if promise.pure is not None:
        return 0.0
    if promise.pair is None:
        return max(EXCEPT, SHARE_OF_DELTA * float(promise.slack))
    alone = promise.mu_squared is None or promise.slack > 0
    return float(promise.pair[1]) * (SHARE_OF_DELTA if alone else 1)
