"""A user's own additive statistic: its functions, the questions they make, and whether a question is one of them.

The functions see names and numbers, and a public release; no function sees a row.  No data here.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import ceil
from typing import Any, Final, cast

from tacit.base.arguments import described, kind_of, misfit
from tacit.base.json_text import canonical
from tacit.errors import BudgetError, QueryError, TacitError
from tacit.method.additive.query import Additive, frozen_arguments, named, thawed
from tacit.privacy.exact_numbers import Number, rational
from tacit.release.query import Query
from tacit.release.query_checks import of_numbers
from tacit.schema import Schema

OPTIONS: Final = ("by", "bins", "where", "moments")
"""Arguments that every statistic has."""
DEFINED: Final[dict[str, AdditiveStatistic]] = {}
"""The statistics that this process defined, by name; the last of a name counts."""
PASSED: Final[set[tuple[str, str]]] = set()
"""Questions whose contract passed in this process, with the digest of the schema: see `admit`."""
MOST_KEPT: Final = 1_000
"""Most statistics, and most questions, that are remembered."""


@dataclass(frozen=True)
class Sensitivity:
    """How much one row changes sums of integers at most, in the l1 and in the l2 norm: what a statistic declares.

    With rows replaced, of two rows that differ; with rows added or removed, of one row.  Exact numbers; QueryError Q282
    unless both are above 0.

    >>> Sensitivity(l1=12, l2=12).l2_squared
    144
    """

    l1: Number
    l2: Number

    def __post_init__(self) -> None:
        for name in ("l1", "l2"):
            _positive(name, getattr(self, name))

    @property
    def l1_whole(self) -> int:
        """The l1 bound, rounded up to an integer; QueryError Q282 and BudgetError B01 as the class."""
        return ceil(_positive("l1", self.l1))

    @property
    def l2_squared(self) -> int:
        """The square of the l2 bound, rounded up to an integer; at most that of the l1 bound, which holds too.

        QueryError Q282 and BudgetError B01 as the class.
        """
        return min(ceil(_positive("l2", self.l2) ** 2), self.l1_whole**2)


def _positive(name: str, given: object) -> Fraction:
    try:
        value = rational(given, name)
    except BudgetError:
        value = Fraction(0)
    if value <= 0:
        raise QueryError(
            f"{name} of Sensitivity is {described(given)}: not above 0.",
            code="Q282",
            hint="tc.Sensitivity(l1=12, l2=12)",
        )
    return value


@dataclass(frozen=True)
class AdditiveStatistic:
    """What `tacit.extend.additive` returns: called with its arguments, it is a question.

    Each also takes by=, bins= and where=, as `tacit.Count` does, and moments=False, which leaves out the second moments
    and with them all standard errors of sampling.

    >>> import tacit as tc
    >>> whole = tc.extend.additive("whole", rows=lambda column: [tc.col(column)])
    >>> whole(column="educ").expressions
    ('educ',)
    """

    name: str
    rows: Callable[..., Sequence[Any]]
    sensitivity: Callable[..., Sensitivity] | None = None
    estimate: Callable[[Any], Any] | None = None

    def __call__(self, *given: Any, **named: Any) -> Additive:
        """Return the question; QueryError Q05 (arguments), Q281 (expressions), Q282 (sensitivity), as `Additive`."""
        options = {key: named.pop(key) for key in OPTIONS if key in named}
        signature = inspect.signature(self.rows)
        wrong = misfit(self.name, signature, given, named)
        if wrong is not None:
            raise QueryError(wrong[0], code="Q05", hint=wrong[1])
        bound = signature.bind(*given, **named)
        bound.apply_defaults()
        arguments = frozen_arguments(self.name, dict(bound.arguments))
        expressions = self._called("rows", self.rows, arguments)
        declared = None if self.sensitivity is None else self._called("sensitivity", self.sensitivity, arguments)
        if declared is not None and not isinstance(declared, Sensitivity):
            text = f"sensitivity of {self.name!r} gave {described(declared)}."
            raise QueryError(text, code="Q282", hint="tc.Sensitivity(l1=12, l2=12)")
        bounds = {} if declared is None else {"l1": declared.l1_whole, "l2_squared": declared.l2_squared}
        return Additive(self.name, expressions, arguments, **bounds, **options)

    def _called(self, what: str, function: Callable[..., Any], arguments: Any) -> Any:
        """Return what a user's function gives; QueryError Q281 where it fails."""
        try:
            return function(**thawed(arguments))
        except TacitError:
            raise
        except Exception as problem:  # a user's function may raise anything
            text = f"{what} of {self.name!r} raised {type(problem).__name__}: {problem}"
            raise QueryError(text, code="Q281", hint=f"{what}=lambda column, cap: …") from problem

    def makes(self, query: Additive) -> bool:
        """Return whether a question is what this statistic makes of its arguments: the same expressions and bounds."""
        options = {"by": query.by, "bins": query.bins, "where": query.where, "moments": query.moments}
        try:
            return self(**thawed(query.arguments), **options) == query
        except TacitError:
            return False


def define(name: str, rows: Any, sensitivity: Any, estimate: Any) -> AdditiveStatistic:
    """Return a statistic, and remember it by its name; QueryError Q280 where it is none."""
    named(name)
    for what, function in (("rows", rows), ("sensitivity", sensitivity), ("estimate", estimate)):
        if not callable(function) and (what == "rows" or function is not None):
            text = f"{what} of {name!r} is {described(function)}: no function."
            raise QueryError(text, code="Q280", hint="rows=lambda column, cap: [tc.col(column).clip(0, cap)]")
    kinds = inspect.Parameter
    for one in inspect.signature(rows).parameters.values():
        if one.name in OPTIONS or one.kind in (kinds.VAR_POSITIONAL, kinds.VAR_KEYWORD, kinds.POSITIONAL_ONLY):
            text = f"rows of {name!r} has the argument {one.name!r}, which a statistic cannot have by that name."
            raise QueryError(text, code="Q280", hint=f"named arguments, none of {', '.join(OPTIONS)}")
    made = AdditiveStatistic(name, rows, sensitivity, estimate)
    DEFINED[name] = made
    if len(DEFINED) > MOST_KEPT:
        del DEFINED[next(iter(DEFINED))]
    return made


def defined(query: Additive) -> AdditiveStatistic | None:
    """Return the statistic of this process that makes a question; None where it defined none, or another."""
    found = DEFINED.get(query.statistic)
    return found if found is not None and found.makes(query) else None


# Admission ----------------------------------------------------------------------------------------------------------


def trusted(given: object) -> tuple[AdditiveStatistic, ...]:
    """Return the statistics that a curator trusts; QueryError Q289 for anything else, or two of one name."""
    found = list(cast("list[object]", given)) if isinstance(given, list | tuple) else [given]
    made = [one for one in found if isinstance(one, AdditiveStatistic)]
    if len(made) < len(found):
        wrong = next(one for one in found if not isinstance(one, AdditiveStatistic))
        text = f"trust has {kind_of(wrong)}: no statistic of tacit.extend.additive."
        raise QueryError(text, code="Q289", hint="trust=[capped]")
    names = [one.name for one in made]
    if len(set(names)) < len(names):
        raise QueryError("trust has two statistics of one name.", code="Q289", hint="another name")
    return tuple(made)


def admit(query: Query[Any], schema: Schema, trust: Sequence[AdditiveStatistic]) -> None:
    """Let a question pass to the rows: QueryError Q284 unless it is one of a trusted statistic, Q285 unless its
    contract passed with this schema in this process.  Questions of the library itself always pass.
    """
    if not isinstance(query, Additive):
        return
    name = query.statistic
    own = next((one for one in trust if one.name == name), None)
    if own is None:
        text = f"the statistic {name!r} is not among those that this curator trusts."
        raise QueryError(text, code="Q284", hint=f"Curator(…, trust=[…]) with the statistic {name!r}")
    if not own.makes(query):
        text = f"this question is not what the trusted statistic {name!r} makes of its arguments."
        raise QueryError(text, code="Q284", hint="the question as the trusted statistic makes it")
    if _key(query, schema) not in PASSED:
        by = f" by {' and '.join(query.by)}" if query.by else ""
        where = f" where {query.where}" if query.where else ""
        text = f"the contract of {query.called}{by}{where} has not been run with this schema."
        raise QueryError(text, code="Q285", hint="tc.testing.contract(query, schema), before the release")


def passed(query: Query[Any], schema: Schema) -> None:
    """Record that the contract of a question passed."""
    if isinstance(query, Additive):
        if len(PASSED) >= MOST_KEPT:
            PASSED.clear()
        PASSED.add(_key(of_numbers(query, schema), schema))


def withdraw(query: Query[Any], schema: Schema) -> None:
    """Take back what `passed` recorded."""
    if isinstance(query, Additive):
        PASSED.discard(_key(of_numbers(query, schema), schema))


def _key(query: Additive, schema: Schema) -> tuple[str, str]:
    return canonical(query.to_dict()), schema.digest()
