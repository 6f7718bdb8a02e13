"""What every question has: its release's class as a type, and plain values.  No data here."""

from __future__ import annotations

from dataclasses import fields
from fractions import Fraction
from typing import Any, Generic, TypeVar, cast

from tacit.query_words import listed

R_co = TypeVar("R_co", covariant=True)


class Query(Generic[R_co]):
    """A question whose release is an R.  Nominal base; every query is a frozen dataclass of plain values.

    A question is public, and all that is in it.  What is wrong in itself is refused when it is made, what the schema
    or the relation does not admit when it is planned or released: QueryError in both cases, and nothing is spent.

    >>> import tacit as tc
    >>> isinstance(tc.Mean("age"), tc.Query), tc.Mean("age") == tc.Mean(["age"])
    (True, True)
    """

    def to_dict(self) -> dict[str, Any]:
        """Plain values only: {"query": "Mean", "columns": ["age"], "by": ["sex"]}, defaults left out.

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
                words["probs"] = [str(p) for p in cast("tuple[Fraction, ...]", value)]
            elif f.name in ("level", "outside", "missing", "sparse", "model") and value == f.default:
                continue
            elif isinstance(value, Fraction):
                words[f.name] = str(value)
            elif value != () and value is not None:
                words[f.name] = listed(value)
        return words


def answer_of(query: type[Query[Any]]) -> str:
    """Name of the class of release that a question is typed by: Query["MomentsRelease"].

    >>> from tacit.queries import Mean
    >>> answer_of(Mean)
    'MomentsRelease'
    """
    return str(cast(Any, query).__orig_bases__[0].__args__[0].__forward_arg__)
