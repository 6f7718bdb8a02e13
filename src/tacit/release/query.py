"""The base class of queries, and reading and writing them as plain values.  No data here."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from fractions import Fraction
from typing import Any, ClassVar, Generic, TypeVar, cast

from tacit.errors import QueryError, nearest
from tacit.release import registry
from tacit.release.query_checks import listed

R_co = TypeVar("R_co", covariant=True)


@dataclass(frozen=True)
class Needed:
    """The required arguments of a query, with the error message and hint for a file that lacks one."""

    names: tuple[str, ...]
    message: str
    hint: str


class Query(Generic[R_co]):
    """A query whose release is of class R.  Base class; every query is a frozen dataclass of plain values.

    A query and all its values are public.  Values that are invalid in themselves raise QueryError when the query is
    made; values that the schema or the relation does not admit raise it when the query is planned or released.  Nothing
    is spent in either case.

    >>> import tacit as tc
    >>> isinstance(tc.Mean("age"), tc.Query), tc.Mean("age") == tc.Mean(["age"])
    (True, True)
    """

    needed: ClassVar[Needed | None] = None
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
                words["bins"] = {name: listed(edges) for name, edges in pairs}
            elif f.name == "probs":
                # as text: an exact fraction, which no float is
                words["probs"] = [str(p) for p in cast("tuple[Fraction, ...]", value)]
            # arguments at defaults are left out, so that documents and digests from before they existed stay the same
            elif f.name in ("level", "interval", "outside", "missing", "sparse", "model") and value == f.default:
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


def query_from_dict(words: Mapping[str, Any]) -> Query[Any]:
    """Read the result of `Query.to_dict`; QueryError for an unknown kind, a missing or an unknown key.

    >>> from tacit.method.moments.query import Mean
    >>> query_from_dict({"query": "Mean", "columns": "age"}) == Mean("age")
    True
    """
    given = dict(words)
    kind = given.pop("query", None)
    if not isinstance(kind, str) or kind not in registry.QUERIES:
        guess = nearest(str(kind), list(registry.QUERIES))
        known = ", ".join(registry.QUERIES)
        raise QueryError(f"query {kind!r} is not one of {known}.", code="Q04", hint=f'query = "{guess or "Mean"}"')
    made = registry.query_class(kind)
    names = [f.name for f in fields(cast(Any, made))]
    for key in given:
        if key not in names:
            guess = nearest(key, names) or names[0]
            raise QueryError(f"{kind} has no {key!r}.", code="Q05", hint=f"{guess} = …")
    needed = made.needed
    if needed is not None and not set(needed.names) <= set(given):
        raise QueryError(needed.message, code="Q03", hint=needed.hint)
    return made(**given)
