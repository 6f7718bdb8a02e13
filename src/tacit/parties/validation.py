"""Checks of an answer against its study: each returns the reason for refusal in words, or None.  Public facts only."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import date
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING, Final

from tacit.errors import TacitError
from tacit.noise.laws import Law
from tacit.noise.product import ProductLaplace
from tacit.pooling.compatibility import STATISTICS, source_in_ledger, span
from tacit.pooling.possible_integers import impossible
from tacit.privacy import Budget, Cost, Spend
from tacit.privacy.bought import price_of_noise
from tacit.privacy.calibration import noise_for
from tacit.release.document import Release, Releases
from tacit.release.noise_checks import SELECTIONS, is_noise_of_price
from tacit.release.parts import OF_BLOCKS, Grid, Part
from tacit.release.signing import verified
from tacit.schema import Integer, Real

if TYPE_CHECKING:
    from tacit.study import Study

SUMMED: Final = ("moments", "quality", "histogram", "regression-cells", STATISTICS)
"""Kinds with additive noise, whose scale the price of each part determines."""
DIGITS: Final = 12
"""A cost may exceed its limit by one part in 10**DIGITS, for roundings of conversions."""


def refusal_reason(study: Study, digest: str, schema: str, party: str, found: Releases) -> str | None:
    """Return the first reason for which an answer is not one to this study, in words, or None.

    digest, schema: digests of the study and its schema, computed once.  Checked in this order: the party is listed,
    every question has an answer, columns, study and edition, schema, question, neighbouring relation and privacy unit
    agree, noise is what the price buys, the cost is at most what the study asks for, the date is in time.
    """
    if study.parties and party not in study.parties:
        return "it is none of the study's parties"
    given = set(found)
    lacking = [name for name in study.asks if name not in given]
    if lacking:
        return f"it has no answer to {lacking[0]!r}"
    # further answers in the file are ignored: they are no part of the study
    answers = {name: found[name] for name in study.asks}
    for name, one in answers.items():
        said = _columns(study, one)
        if said is not None:
            return said
        if one.study != digest:
            other = "answers no study" if one.study is None else f"answers another study or edition ({one.study[:8]}…)"
            return f"{name!r} {other}; this one's digest is {digest[:8]}…"
        said = _facts(study, schema, name, one)
        if said is not None:
            return said
    costs = tuple((name, one.cost, _parts(one)) for name, one in answers.items())
    return _price(study.budget, study.spend, costs) or _date_reason(study, answers)


def forgery_reason(study: Study, party: str, signature: str | None, body: Callable[[], str]) -> str | None:
    """Return why an answer is not by the party that it names, in words; None if it is, or if no key is listed.

    body: returns the signed text (`body_of`).  StudyError C27 where a key is listed and `cryptography` is missing.
    """
    listed = study.parties[party].key if party in study.parties else None
    if listed is None:
        return None
    if signature is None:
        return "it is not signed, and the study lists a key for it"
    try:
        if verified(listed, signature, body()):
            return None
    except ValueError:  # a number beyond the floats has no canonical text, so the answer was not signed
        pass
    return "its signature is not that of what it says by the key that the study lists: changed, or signed by another"


def copies(study: Study, answers: Mapping[str, Releases]) -> dict[str, str]:
    """Return the parties whose answer has the place of another party's in a ledger, with the reason.

    One is a copy of the other under another name.  Where the study lists a key for one, that one is the party's own:
    its signature was verified.  Otherwise nobody can tell, and both are left out.
    """
    places: dict[object, set[str]] = {}
    for party, one in answers.items():
        for release in one.values():
            if release.head:
                places.setdefault(source_in_ledger(release), set()).add(party)
    found: dict[str, str] = {}
    for some in places.values():
        signed = {one for one in some if one in study.parties and study.parties[one].key is not None}
        for party in some - (signed if len(signed) == 1 else set()) if len(some) > 1 else ():
            others = ", ".join(sorted(some - {party}))
            found.setdefault(party, f"its answer is that of {others} under another name")
    return found


def _columns(study: Study, one: Release) -> str | None:
    """Return which bounds or units differ from the study's."""
    for part in one.parts:
        own = study.schema.get(part.label)
        if part.grid is None or not isinstance(own, Real | Integer) or own.lower is None or own.upper is None:
            continue
        if part.form in (*SELECTIONS, *OF_BLOCKS) or one.kind == STATISTICS:  # a grid of their own
            continue
        # exactly: bounds decide what was clamped
        if (part.grid.lower, part.grid.upper) != (own.lower, own.upper):
            here = span(Grid("real", float(own.lower), float(own.upper), 1))
            return f"{part.label!r} is {span(part.grid)} there, {here} in the study"
        if part.grid.units != own.units:
            return f"{part.label!r} is in {part.grid.units or 'no units'} there, {own.units or 'no units'} in the study"
    return None


def _facts(study: Study, schema: str, name: str, one: Release) -> str | None:
    """Return which public fact of an answer differs from the study's."""
    if one.schema != schema:
        return f"{name!r} is of another schema"
    if one.query != study.asks[name]:
        return f"{name!r} answers another question"
    if one.neighbors != study.budget.neighbors:
        return f"{name!r} is {one.neighbors}; the study is {study.budget.neighbors}"
    if (one.unit is None) != (study.schema.unit is None):
        return f"{name!r} protects other people than the study"
    cells = 1
    for _, labels in one.levels:
        # row-major cells of all groups
        cells *= len(labels)
    if one.kind == "moments" and any(len(part.integers) != cells for part in one.parts):
        return f"{name!r} has not one answer a group"
    if wrong := impossible(one):
        return f"{name!r} is not what a curator released: {wrong}"
    return next((said for part in one.parts if (said := _noise(name, one, part))), None)


def _noise(name: str, one: Release, part: Part) -> str | None:
    """Return a reason where noise is narrower than the part's price buys, or of another law."""
    if one.kind not in SUMMED:
        return None
    if isinstance(part.law, ProductLaplace):
        # noise of one vector is bought with the prices of all its columns
        good = is_noise_of_price(part.law, part.l1, part.l2_squared, price_of_noise(part, one.parts), wider=True)
        return None if good else f"the noise of {name!r} is not what its price buys"
    wanted = _law_of_price(part.l1, part.l2_squared, part.cost)
    # wider noise is more privacy than was asked for, and is accepted
    if wanted is not None and part.law.name == wanted.name and part.law.scale >= wanted.scale:
        return None
    return f"the noise of {name!r} is not what its price buys"


@lru_cache(maxsize=1024)
def _law_of_price(l1: int, l2_squared: int, cost: Cost) -> Law | None:
    """Return the law of noise that a price buys; None where it buys none."""
    try:
        return noise_for(l1, l2_squared, cost)
    except TacitError:
        return None


def _parts(one: Release) -> tuple[Cost, ...]:
    """Return the costs of the parts, where noise is added to each."""
    return tuple([part.cost for part in one.parts]) if one.kind in SUMMED else ()


@lru_cache(maxsize=1024)
def _price(budget: Budget, spend: Cost, costs: tuple[tuple[str, Cost, tuple[Cost, ...]], ...]) -> str | None:
    """Return a reason where answers cost more than the study's `spend`, or parts more than their answer states.

    Costs are added in the way of the study's own budget.
    """
    said = _above(budget, spend, tuple(cost for _, cost, _ in costs))
    if said is not None:
        return f"{said}, and the study asks for {spend}: weaker privacy than its floor"
    for name, cost, parts in costs:
        if parts and _above(budget, cost, parts) is not None:
            return f"the parts of {name!r} cost more than {cost}"
    return None


def _above(budget: Budget, most: Cost, costs: tuple[Cost, ...]) -> str | None:
    """Return the sum of prices in words where it exceeds `most`, added in the budget's way; None otherwise.

    Under an (ε, δ) budget they are compared in ρ: earlier versions wrote shares of a pair in ρ, and those answers
    remain valid.
    """
    # shares of a pair, where some have a δ of their own, or the budget adds ε and δ, which shares do not: within it
    # in μ² and in their own δ
    shares = most.kind != "gdp" and any(one.kind == "gdp" and (one.delta or budget.kind == "basic") for one in costs)
    if shares and most.kind != "approximate":
        return f"it cost a share of a pair, and {most} is none"
    if shares:
        own = Budget(epsilon=most.epsilon, delta=most.delta)
    elif most.kind == "gdp":
        # what a share was spent on adds up to its μ²
        own, most = Budget(rho=most.zcdp), Cost(mu_squared=most.mu_squared)
    else:
        own = budget.in_rho() if budget.is_pair else budget
    try:
        total = sum((own.spend(one) for one in costs), Spend())
        fits = own.holds(total) if shares else total.within(_room(own.spend(most)))
    except TacitError as problem:
        return f"it was priced in another way ({problem.message.rstrip('.')})"
    return None if fits else f"it cost {own.describe_spent(total)}"


def _room(limit: Spend) -> Spend:
    """Return the limit plus a tolerance for roundings of conversions, one part in 10**DIGITS."""
    more = 1 + Fraction(1, 10**DIGITS)
    return Spend(epsilon=limit.epsilon * more, rho=limit.rho * more, delta=limit.delta * more)


def _date_reason(study: Study, answers: Mapping[str, Release]) -> str | None:
    """Return a reason where an answer is dated after the study's last day."""
    if study.closes is None:
        return None
    for one in answers.values():
        try:
            # the day, without a time that later versions may add
            day = date.fromisoformat(one.date[:10])
        except ValueError:
            return f"its date is {one.date!r}"
        if day > study.closes:
            return f"it came on {day.isoformat()}, and the study closed on {study.closes.isoformat()}"
    return None
