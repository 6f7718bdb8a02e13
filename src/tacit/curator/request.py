"""The questions of one purchase, and the division of its price among them.  INSIDE the wall."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, cast

from tacit.base.arguments import described, kind_of
from tacit.base.json_text import is_text, shown
from tacit.errors import BudgetError, LedgerError, QueryError, nearest
from tacit.privacy import Cost, Number
from tacit.privacy.approximate_part import approximate_part
from tacit.privacy.exact_numbers import rational
from tacit.release.query import Query
from tacit.release.query_checks import of_numbers
from tacit.study import Study

Shares = Mapping[str, Number]


@dataclass(frozen=True)
class Questions:
    """The questions of one purchase.

    parts: name, query and price of each question.  cost: the total price.  note: recorded in the ledger.
    """

    parts: tuple[tuple[str | None, Query[Any], Cost], ...]
    cost: Cost
    note: str
    study: Study | None = None
    """The study that asks, if any: answers carry its digest, and none is bought once the study is closed."""
    fresh: bool = False
    """Whether questions answered before are bought again, with new noise."""

    def __post_init__(self) -> None:
        """Raise LedgerError L24 for a note or a name that has no UTF-8 form."""
        for text in (self.note, *(name for name, _, _ in self.parts if name is not None)):
            if not isinstance(text, str) or not is_text(text):  # pyright: ignore[reportUnnecessaryIsInstance]
                raise LedgerError(
                    f"the note or name {described(text)} is not valid text.",
                    code="L24",
                    hint='name="age", note="board 31"',
                )

    @property
    def several(self) -> bool:
        """Whether the price is divided among named questions."""
        return len(self.parts) > 1 or (len(self.parts) == 1 and self.parts[0][2] != self.cost)


def checked_questions(asked: object, fresh: object = False) -> None:
    """Raise QueryError Q04 unless this is a query, or a mapping of names to queries; Q07 for fresh= that is no flag."""
    if not isinstance(fresh, bool):
        raise QueryError(f"fresh is {described(fresh)}: neither True nor False.", code="Q07", hint="fresh=True")
    if isinstance(asked, Query):
        return
    if not isinstance(asked, Mapping):
        hint = f'tc.Mean("{asked}")' if isinstance(asked, str) and asked.isidentifier() else 'tc.Mean("age")'
        if isinstance(asked, list | tuple | set):
            hint = 'several have names: {"age": tc.Mean("age"), "sex": tc.Count(by="sex")}'
        raise QueryError(f"{described(cast(object, asked))} is no question.", code="Q04", hint=hint)
    for name, one in cast("Mapping[object, object]", asked).items():
        if not isinstance(name, str):
            text = f"a question is named {kind_of(name)}: not text."
            raise QueryError(text, code="Q04", hint='{"mean": tc.Mean("age")}')
        if not isinstance(one, Query):
            text = f"the question {shown(name)} is {described(one)}: no question."
            raise QueryError(text, code="Q04", hint=f'{{"{name}": tc.Mean("age")}}')


def split(
    asks: Mapping[str, Query[Any]], cost: Cost, shares: Shares | None, schema: Mapping[str, Any]
) -> tuple[tuple[str | None, Query[Any], Cost], ...]:
    """Divide one price among questions in proportion to `shares` (1 where not given); parts add up to it exactly.

    Of a pair questions share the μ².  Where some have a δ of their own, all share the approximate part that the pair
    buys: its μ² in proportion to `shares`, and these among themselves its δ (`privacy.gaussian`, Approximate parts).
    """
    checked_questions(asks)
    if not asks:
        raise QueryError("no question is asked.", code="Q22", hint='{"mean": tc.Mean("age")}')
    if shares is not None and not isinstance(shares, Mapping):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise QueryError(f"shares is {described(shares)}: not a dict.", code="Q23", hint='shares={"mean": 2}')
    given = dict(shares or {})
    for key in given:
        if key not in asks:
            guess = nearest(str(key), list(asks)) or next(iter(asks))
            raise QueryError(
                f"shares names {described(key)}, which is not asked.", code="Q23", hint=f"shares={{{guess!r}: 2}}"
            )
    # exact fractions: parts of a price must not add up to more than it by a rounding
    parts = {name: rational(given.get(name, 1), f"share of {name!r}") for name in asks}
    for name, part in parts.items():
        if part <= 0:
            raise QueryError(f"share of {name!r} is {part}: not above 0.", code="Q23", hint=f"shares={{{name!r}: 1}}")
    total = sum(parts.values(), Fraction(0))
    if len(parts) == 1:
        return tuple((name, query, cost) for name, query in asks.items())
    own = [name for name, query in asks.items() if of_numbers(query, schema).own_delta]
    whole = approximate_part(cost) if own and cost.kind == "approximate" else cost
    costs = {name: _share(whole, part / total, name, given) for name, part in parts.items()}
    if whole.is_part:
        assert whole.delta is not None
        with_delta = sum((parts[name] for name in own), Fraction(0))
        costs |= {name: replace(costs[name], delta=whole.delta * parts[name] / with_delta) for name in own}
    return tuple((name, query, costs[name]) for name, query in asks.items())


def _share(whole: Cost, part: Fraction, name: str, given: Mapping[str, Number]) -> Cost:
    """Return a question's part of a price; QueryError Q23 where it is no price, in words of the shares."""
    try:
        return whole.share(part)
    except BudgetError as problem:
        text = f"the part of {name!r} in the price {whole} is too small, or has too many digits."
        raise QueryError(text, code="Q23", hint=f"shares={{{next(iter(given), name)!r}: 2}}") from problem
