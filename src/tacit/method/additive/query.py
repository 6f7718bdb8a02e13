"""Questions for a user's own additive statistic, as plain values: expressions in words, no function.  No data here."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Final, cast

from tacit.base.arguments import described, kind_of, plain
from tacit.base.json_text import is_text
from tacit.errors import QueryError
from tacit.release.packing import read_int, write_int
from tacit.release.query import Needed, Query
from tacit.release.query_checks import Bins, Names, condition, flags
from tacit.release.query_checks import bins as checked_bins
from tacit.release.query_checks import names as checked_names
from tacit.schema.column_expressions import spelling

if TYPE_CHECKING:
    from tacit.method.additive.estimate import AdditiveRelease  # noqa: F401

MOST: Final = 8
"""Most integers of a row: their second moments are released too."""
LARGEST: Final = 2**60
"""Largest declared sensitivity."""
LONGEST: Final = 60
"""Most characters of a statistic's name."""


@dataclass(frozen=True)
class Additive(Query["AdditiveRelease"]):
    """A question for an additive statistic: sums, over rows, of bounded integers that are expressions of a row.

    It is made by calling what `tacit.extend.additive` returned, and by a release that is read; a file cannot ask it.

    statistic: its name.  arguments: what it was called with.  expressions: one for each integer, in the words of
    computed columns; a value is rounded to the nearest integer.  l1, l2_squared: the declared sensitivity of the sums
    to one row, rounded up; None where the computed one is used.  by, bins, where: as of `Count`.  moments: whether
    second moments are released too, for standard errors that include sampling.
    Source: theory §1.1 (sums of bounded integers).
    Raises QueryError Q280 (the name), Q281 (expressions, arguments), Q282 (sensitivity), Q01, Q02, Q60, Q64, Q81.
    """

    needed: ClassVar = Needed(
        ("statistic", "expressions"),
        "Additive: it is made by a statistic of tacit.extend.additive.",
        "capped = tc.extend.additive(…)",
    )
    in_files: ClassVar = False

    statistic: str
    expressions: tuple[str, ...]
    arguments: Any = ()
    l1: int | None = None
    l2_squared: int | None = None
    by: Names = ()
    bins: Bins = ()
    where: str | None = None
    moments: bool = True

    def __post_init__(self) -> None:
        named(self.statistic)
        object.__setattr__(self, "expressions", _expressions(self.statistic, self.expressions))
        object.__setattr__(self, "arguments", frozen_arguments(self.statistic, self.arguments))
        for name in ("l1", "l2_squared"):
            object.__setattr__(self, name, _declared(self.statistic, name, getattr(self, name)))
        object.__setattr__(self, "by", checked_names("Additive", "by", self.by))
        object.__setattr__(self, "bins", checked_bins("Additive", self.bins, self.by))
        flags("Additive", moments=self.moments)
        condition(self)

    def to_dict(self) -> dict[str, Any]:
        """Plain values only, defaults left out."""
        words = super().to_dict()
        words["arguments"] = thawed(self.arguments)
        words |= {name: write_int(words[name]) for name in ("l1", "l2_squared") if name in words}
        if self.moments:
            del words["moments"]
        return words if words["arguments"] else {key: value for key, value in words.items() if key != "arguments"}

    @property
    def called(self) -> str:
        """The call in words: capped-sum(column='educ', cap=12)."""
        return f"{self.statistic}({', '.join(f'{name}={value!r}' for name, value in thawed(self.arguments).items())})"


def named(given: object) -> str:
    """Return the name of a statistic; QueryError Q280 unless it is a short text on one line."""
    if isinstance(given, str) and 0 < len(given) <= LONGEST and given.isprintable() and is_text(given):
        return given
    raise QueryError(f"{described(given)} is no name of a statistic.", code="Q280", hint='"capped-sum"')


def _expressions(statistic: str, given: Any) -> tuple[str, ...]:
    """Return the canonical texts of the expressions; QueryError Q281."""
    if not isinstance(given, list | tuple) or not 1 <= len(cast("list[object]", given)) <= MOST:
        what = described(cast(object, given))
        text = f"rows of {statistic!r} gave {what}: 1 to {MOST} expressions, one for each integer."
        raise QueryError(text, code="Q281", hint='rows=lambda: [tc.col("age").clip(0, 65)]')
    made = tuple(_spelled(statistic, one) for one in cast("list[object]", given))
    for text in made:
        if made.count(text) > 1:
            raise QueryError(f"rows of {statistic!r} gave {text} twice.", code="Q281", hint="each integer once")
    return made


def _spelled(statistic: str, given: object) -> str:
    try:
        return spelling(given, f"rows of {statistic!r}")
    except QueryError as problem:
        message, hint = problem.message, problem.hint
    raise QueryError(f"rows of {statistic!r}: {message}", code="Q281", hint=hint)


def frozen_arguments(statistic: str, given: Any) -> tuple[tuple[str, Any], ...]:
    """Return arguments as pairs in order of names; QueryError Q281 where one is not made of plain values."""
    try:
        pairs: dict[Any, Any] = dict(cast("Mapping[Any, Any]", given))
    except (TypeError, ValueError):
        # no pairs of a name and a value: refused below, by its kind alone
        pairs = dict[Any, Any]({None: given})
    made = {name: _frozen(statistic, name, value, 0) for name, value in pairs.items()}
    return tuple(sorted(made.items()))


def _frozen(statistic: str, name: object, given: Any, depth: int) -> Any:
    value = plain(given)
    text_or_number = value is None or isinstance(value, bool | int | float | str)
    fits = not isinstance(value, int) or abs(value) <= 2**53
    fits = fits and (not isinstance(value, float) or math.isfinite(value))
    if isinstance(name, str) and text_or_number and fits and (not isinstance(value, str) or is_text(value)):
        return value
    if isinstance(name, str) and isinstance(value, list | tuple) and depth < 3:
        return tuple(_frozen(statistic, name, one, depth + 1) for one in cast("list[Any]", value))
    # by its kind alone: a dict of cells may have been given
    called = f"argument {described(name)}" if isinstance(name, str) else "an argument"
    what = kind_of(cast(object, value))
    text = f"{called} of {statistic!r} is {what}: not text, a finite number, or a list of them."
    raise QueryError(text, code="Q281", hint='column="educ", cap=12')


def thawed(given: Any) -> dict[str, Any]:
    """Return frozen arguments as a dict of plain JSON values."""
    return {name: _listed(value) for name, value in cast("tuple[tuple[str, Any], ...]", given)}


def _listed(value: Any) -> Any:
    return [_listed(one) for one in cast("tuple[Any, ...]", value)] if isinstance(value, tuple) else value


def _declared(statistic: str, name: str, given: Any) -> int | None:
    """Return a declared sensitivity as an integer; QueryError Q282."""
    try:
        value = read_int(given) if isinstance(given, str) else given
    except ValueError:
        value = -1
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= LARGEST:
        text = f"sensitivity of {statistic!r}: {name} is {described(given)}, which bounds no change of integers."
        raise QueryError(text, code="Q282", hint="tc.Sensitivity(l1=12, l2=12)")
    return value
