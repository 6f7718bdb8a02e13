"""The base class of queries, and reading and writing them as plain values.  No data here."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from dataclasses import dataclass, fields
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING, Any, ClassVar, Final, Generic, TypeVar, cast

import numpy as np

from tacit.base.arguments import holds_rows, kind_of, meant, misfit, plain, question_of
from tacit.errors import QueryError, nearest
from tacit.release import registry
from tacit.release.query_checks import EVERY, listed

R_co = TypeVar("R_co", covariant=True)


@dataclass(frozen=True)
class Needed:
    """The required arguments of a query, with the error message and hint for a file, or a call, that lacks one."""

    names: tuple[str, ...]
    message: str
    hint: str


MOST_BITS: Final = 1_000
"""Longer integers are refused: Python does not print those of thousands of digits, and none is an argument."""
AT_DEFAULTS: Final = ("level", "interval", "outside", "missing", "sparse", "model", "method", "laplace_draws")
"""Arguments that a document leaves out where they are at their default."""
LISTS: Final = ("probs", "bins")
"""Arguments that take several numbers, and so an array of them."""


class Asked(type):
    """Calls of a query's class: arguments that do not fit, and arguments that are rows, are QueryErrors.

    Q05 for an argument that the query does not have, Q03 for one that it lacks, Q06 for a table, a column or an array
    where a plain value belongs: a question holds no rows, and the message repeats none.
    """

    if not TYPE_CHECKING:  # type checkers go by the fields of the class

        def __call__(cls, *given: Any, **named: Any) -> Any:
            """Return a query of these arguments; QueryError Q03, Q05, Q06."""
            wrong = misfit(cls.__name__, cls.__signature__, given, named)
            if wrong is not None:
                needed = cls.needed if " needs " in wrong[0] else None
                message = wrong[0] if needed is None else needed.message
                raise QueryError(message, code="Q05" if needed is None else "Q03", hint=wrong[1])
            bound = cls.__signature__.bind(*given, **named)
            for name, value in bound.arguments.items():
                bound.arguments[name] = _plain(cls.__name__, name, value)
            return super().__call__(*bound.args, **bound.kwargs)

    @property
    def __signature__(cls) -> inspect.Signature:
        return _signature(cls.__init__)


@lru_cache(maxsize=256)
def _signature(init: Any) -> inspect.Signature:
    """Return the signature of a class from its `__init__`, without self."""
    whole = inspect.signature(init)
    return whole.replace(parameters=list(whole.parameters.values())[1:])


def _plain(kind: str, name: str, given: object) -> Any:
    """Return an argument as a plain value; QueryError Q06 for rows."""
    value: Any = given
    if name in LISTS and isinstance(given, np.ndarray) and value.ndim == 1 and value.dtype.kind in "iuf":
        return value.tolist()
    if holds_rows(value):
        hint = 'where="age >= 18", in words' if name == "where" else f"{name} by the column's name"
        raise QueryError(f"{name} of {kind} is {kind_of(value)}: a question holds no rows.", code="Q06", hint=hint)
    if isinstance(value, int) and value.bit_length() > MOST_BITS:
        text = f"{name} of {kind} is a number of hundreds of digits."
        raise QueryError(text, code="Q06", hint="a number that can be written")
    return plain(value)


class Query(Generic[R_co], metaclass=Asked):
    """A query whose release is of class R.  Base class; every query is a frozen dataclass of plain values.

    A query and all its values are public.  Values that are invalid in themselves raise QueryError when the query is
    made; values that the schema or the relation does not admit raise it when the query is planned or released.  Nothing
    is spent in either case.

    >>> import tacit as tc
    >>> isinstance(tc.Mean("age"), tc.Query), tc.Mean("age") == tc.Mean(["age"])
    (True, True)
    """

    needed: ClassVar[Needed | None] = None
    absent: ClassVar[Mapping[str, Any]] = {}
    """What an argument is that a document leaves out, where this is not its default in Python."""
    in_files: ClassVar[bool] = True
    """Whether a file may ask it; a statistic of the user's own is asked from Python, where its functions are."""
    own_delta: ClassVar[bool] = False
    """Whether what a pair buys of it is an approximate part, with a δ beside its μ²."""
    groups: ClassVar[str] = "by"
    """Name of the argument that lists the grouping columns, whose levels are the cells of the answer."""

    @property
    def widens_noise(self) -> bool:
        """Return whether noise is wider than the price requires, as in the published version of the method."""
        return False

    def to_dict(self) -> dict[str, Any]:
        """Return plain values: {"query": "Mean", "columns": ["age"], "by": ["sex"]}, without arguments at defaults.

        >>> import tacit as tc
        >>> tc.Mean("age").to_dict()
        {'query': 'Mean', 'columns': ['age']}
        """
        words: dict[str, Any] = {"query": type(self).__name__}
        for f in fields(cast(Any, self)):
            value = getattr(self, f.name)
            if f.name == "bins" and value:
                pairs = cast("tuple[tuple[str, Any], ...]", value)
                every = pairs[0][0] == EVERY
                words["bins"] = pairs[0][1] if every else {name: listed(edges) for name, edges in pairs}
            elif f.name == "probs":
                # as text: an exact fraction, which no float is
                words["probs"] = [str(p) for p in cast("tuple[Fraction, ...]", value)]
            # arguments at defaults are left out, so that documents and digests from before they existed stay the same
            elif f.name in AT_DEFAULTS and value == f.default:
                continue
            elif isinstance(value, Fraction):
                words[f.name] = str(value)
            elif value != () and value is not None:
                words[f.name] = listed(value)
        return words


def answer_of(query: type[Query[Any]]) -> str:
    """Return the name of a query's class of release: "MomentsRelease" for a subclass of Query["MomentsRelease"].

    >>> from tacit.method.moments.query import Mean
    >>> answer_of(Mean)
    'MomentsRelease'
    """
    # the name only: the class itself is in `estimate`, which is not imported for it
    return str(cast(Any, query).__orig_bases__[0].__args__[0].__forward_arg__)


def query_from_dict(words: Mapping[str, Any], *, asked: bool = False) -> Query[Any]:
    """Read the result of `Query.to_dict`; QueryError for an unknown kind, a missing or an unknown key.

    asked: whether the words ask a question, as a person writes them, rather than record one that was answered: what
    they leave out has its default then, not what it was before there was a word for it (`Query.absent`).

    >>> from tacit.method.moments.query import Mean
    >>> query_from_dict({"query": "Mean", "columns": "age"}) == Mean("age")
    True
    """
    given = dict(words)
    kind = given.pop("query", None)
    if not isinstance(kind, str) or kind not in registry.QUERIES:
        guess = question_of(str(kind)) or nearest(str(kind), list(registry.QUERIES))
        known = ", ".join(registry.QUERIES)
        raise QueryError(f"query {kind!r} is not one of {known}.", code="Q04", hint=f'query = "{guess or "Mean"}"')
    made = registry.query_class(kind)
    if asked and not made.in_files:
        message = f"{kind} is made by a statistic of a program's own, which a file cannot ask."
        hint = "tc.Curator(…, trust=[statistic]).release(statistic(…), epsilon=1), in Python"
        raise QueryError(message, code="Q288", hint=hint)
    names = [f.name for f in fields(cast(Any, made))]
    for key in given:
        if key not in names:
            guess = meant(key, names) or names[0]
            hint = guess if " " in guess else f"{guess} = …"
            raise QueryError(f"{kind} has no {key!r}.", code="Q05", hint=hint)
    needed = made.needed
    if needed is not None and not set(needed.names) <= set(given):
        raise QueryError(needed.message, code="Q03", hint=needed.hint)
    absent: Mapping[str, Any] = {} if asked else made.absent
    return made(**{**absent, **given})
