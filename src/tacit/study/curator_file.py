"""The curator's file: a TOML file with the schema, the budget, the queries and the location of the rows (api, §2).

Sections and keys have the names of the Python arguments; an unknown one raises an error that suggests the nearest known
one.  `[data]` is private to the curator and not part of the digest.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, cast

from tacit.base.json_text import canonical
from tacit.errors import FileError
from tacit.method.shared.asked_parameters import asked_parameters
from tacit.privacy import Budget, Cost
from tacit.privacy.exact_numbers import rational
from tacit.privacy.prices_in_mu import in_a_pair
from tacit.release.query import Query, query_from_dict
from tacit.release.query_checks import of_numbers
from tacit.rows.row_map import MAX_ROWS
from tacit.schema import Schema
from tacit.schema.column_words import OPEN
from tacit.schema.expectations import Expect, Expectations
from tacit.schema.predicates.typed_conditions import typed
from tacit.schema.row_expressions import with_expressions
from tacit.schema.row_maps_of_columns import column_of
from tacit.schema.toml import checked_columns, read_text, read_toml
from tacit.schema.toml_words import known, located, section_of, text_of

if TYPE_CHECKING:
    from os import PathLike

FORMAT: Final = 1
TOP: Final = ("tacit", "title", "contact", "table", "data", "budget", "schema", "expect", "spend", "ask")
STUDY: Final = ("closes", "combine", "parties")
"""Sections that only studies have (`tacit.study.study`)."""
KEYS: Final = {
    "table": ("name", "rows"),
    "data": ("path", "ledger", "analyst"),
    "budget": ("epsilon", "delta", "rho", "neighbors", "accounting", "reserved_delta"),
    "spend": ("epsilon", "delta", "rho"),
}


@dataclass(frozen=True)
class Job:
    """A curator's file, read and checked.

    asks: the queries by name.  spend: the price of all of them, divided in proportion to `shares` (1 where a query has
    none).  `asks`, `budget` and `spend` may be missing, as in the drafts that `tacit schema` writes.
    """

    path: Path
    title: str
    contact: str
    name: str
    rows: int | None
    data: Path | None
    ledger: str | None
    analyst: str | None
    budget: Budget | None
    schema: Schema
    spend: Cost | None
    asks: Mapping[str, Query[Any]]
    shares: Mapping[str, Fraction]
    expect: Expect = field(default_factory=dict[str, "Mapping[Any, Any]"])
    """What plans take as known of columns.  No release depends on it, and it is no part of the digest."""

    def public(self) -> dict[str, Any]:
        """Return plain values of everything but `[data]`, title, contact, comments and the order of sections."""
        return public_words(self.name, self.rows, self.budget, self.schema, self.spend, self.asks, self.shares)

    def digest(self) -> str:
        """Return the SHA-256 (hex) of `public()`."""
        return digest(self.public())


def public_words(
    name: str,
    rows: int | None,
    budget: Budget | None,
    schema: Schema,
    spend: Cost | None,
    asks: Mapping[str, Query[Any]],
    shares: Mapping[str, Fraction],
) -> dict[str, Any]:
    """Return a request as plain values: what its digest is made of."""
    return {
        "table": [name, rows],
        "budget": None if budget is None else _promise(budget),
        "schema": schema.to_dict(),
        "spend": None if spend is None else spend.to_dict(),
        "ask": {name: query.to_dict() for name, query in asks.items()},
        "shares": {name: str(share) for name, share in shares.items()},
    }


def _promise(budget: Budget) -> dict[str, str]:
    """Return a budget as plain values for a digest.

    An (ε, δ) budget is written as its ρ, as in versions before μ² was used, so that older digests stay valid.
    """
    if not budget.is_pair:
        return budget.to_dict()
    words = {"accounting": budget.accounting, "reserved_delta": budget.reserved_delta}
    said = {name: str(word) for name, word in words.items() if word is not None}
    return {**budget.in_rho().to_dict(), **said}


def digest(words: Mapping[str, Any]) -> str:
    """Return the SHA-256 (hex) of plain values, independent of the order of keys."""
    return hashlib.sha256(canonical(words).encode()).hexdigest()


def load(path: str | PathLike[str]) -> Job:
    """Read a curator's file; FileError F01..F07, or the error of the section that is wrong, with its name."""
    place = Path(path)
    return job_from_table(read_toml(read_text(place), str(place)), place)


def schema_of(path: str | PathLike[str]) -> Schema:
    """Return the schema of a curator's file or a study; its other sections may be unfinished or wrong.

    FileError F01 to F04, or the SchemaError of a column.
    """
    words = read_toml(read_text(path), str(path))
    format_of(words, Path(path))
    return _schema(words)


def _schema(words: Mapping[str, Any]) -> Schema:
    return located("[schema]")(lambda: Schema.from_dict(checked_columns(words.get("schema"))))


def job_from_table(words: Mapping[str, Any], path: Path) -> Job:
    """Return the job of a parsed curator's file; errors as `load`."""
    for key in STUDY:
        if key in words:
            message = f"the file has [{key}], a word of studies."
            beside = "data" in words
            hint = f"leave [{key}] out, or move [data] to a site file" if beside else 'tc.Study.load("study.toml")'
            raise FileError(message, code="F07", hint=hint)
    if "name" in words and "schema" not in words:
        message = "the file has 'name' and no [schema]: it is a party's page, which stands beside a study."
        raise FileError(message, code="F05", hint=f"study.toml, with --site {path}")
    known("the file", words, TOP)
    format_of(words, path)
    table, data = _section(words, "table"), _section(words, "data")
    asks, shares = _asks(section_of(words, "ask"))
    where = located("[schema]")
    schema = _schema(words)
    for name, query in list(asks.items()):
        # columns and conditions are read now, so that a mistake shows before any row is read
        located(f"[ask.{name}]")(partial(_check_columns, query, schema))
        condition: str | None = vars(query).get("where")
        if condition is not None:
            located(f"[ask.{name}]")(partial(typed, condition, schema))
        asks[name] = located(f"[ask.{name}]")(partial(of_numbers, query, schema))
    return Job(
        path=path,
        title=text_of(words, "title", "the file") or "",
        contact=text_of(words, "contact", "the file") or "",
        name=text_of(table, "name", "[table]") or path.stem,
        rows=rows_of(table.get("rows")),
        data=None if "path" not in data else path.parent / cast(str, text_of(data, "path", "[data]")),
        ledger=ledger_of(text_of(data, "ledger", "[data]"), path),
        analyst=text_of(data, "analyst", "[data]"),
        budget=where(lambda: Budget(**_section(words, "budget")), "[budget]") if "budget" in words else None,
        schema=schema,
        spend=where(lambda: Cost.of(**_section(words, "spend")), "[spend]") if "spend" in words else None,
        asks=asks,
        shares=shares,
        expect=_expect(words, schema, asks),
    )


def _expect(words: Mapping[str, Any], schema: Schema, asks: Mapping[str, Query[Any]]) -> Expect:
    """Return the section `[expect]`, checked against the schema and the questions; QueryError Q10, Q42."""
    found = section_of(words, "expect")
    if found:
        located("[expect]")(partial(Expectations.of, found, schema, asked_parameters(asks)))
    return found


def format_of(words: Mapping[str, Any], path: Path) -> None:
    """Raise FileError F04 unless the file has the format version that this version reads."""
    # `type`, since TOML's true would pass as 1
    if type(words.get("tacit")) is not int or words["tacit"] != FORMAT:
        said = f"says tacit = {words['tacit']!r}" if "tacit" in words else "does not say which format it has"
        message = f"{path} {said}; this version reads format {FORMAT}."
        raise FileError(message, code="F04", hint="tacit = 1 on the first line")


def _asks(table: Mapping[str, Any]) -> tuple[dict[str, Query[Any]], dict[str, Fraction]]:
    """Return the queries of `[ask]` by name, and the shares of those that have one; FileError F06."""
    asks: dict[str, Query[Any]] = {}
    shares: dict[str, Fraction] = {}
    for name, given in table.items():
        place = f"[ask.{name}]"
        if not isinstance(given, Mapping):
            hint = f'{place}, then query = "Mean" and columns = "age" on lines of their own'
            if "query" in table and not isinstance(table["query"], Mapping):
                hint = "[ask.revenue] in place of [ask]: each question has a name of its own"
            raise FileError(f"{place} is {given!r}, not a section.", code="F06", hint=hint)
        if not name.strip() or not name.isprintable():
            raise FileError(f"a question is called {name!r}.", code="F06", hint="[ask.mean-age]")
        words = dict(cast("Mapping[str, Any]", given))
        if "share" in words:
            shares[name] = _share(place, words.pop("share"))
        for key in ("columns", "by"):
            if not isinstance(words.get(key, ""), str | list):
                message = f"{place} {key} is {words[key]!r}: not a column name, nor a list of them."
                raise FileError(message, code="F06", hint=f'{key} = "age"')
        asks[name] = located(place)(partial(query_from_dict, words, asked=True))
    return asks, shares


def _check_columns(query: Query[Any], schema: Schema) -> None:
    """Raise QueryError Q10 for a column that the schema lacks, and those of expressions that do not fit it."""
    expressions: Mapping[str, str] = getattr(query, "expressions", {})
    extended, _ = with_expressions(schema, expressions)
    for column in _columns(query):
        column_of(extended, column)


def _columns(query: Query[Any]) -> tuple[str, ...]:
    """Return the columns that a query names."""
    weights: str | None = getattr(query, "weights", None)
    what = getattr(query, "what", ())
    what = (what,) if isinstance(what, str) else what
    # queries have different arguments; what one lacks names nothing
    named = (*getattr(query, "columns", ()), *what, *getattr(query, "by", ()))
    named = (*named, vars(query)["column"]) if "column" in vars(query) else named
    return named if weights is None else (*named, weights)


def _share(place: str, given: Any) -> Fraction:
    """Return a query's share of the price, relative to the others; FileError F06 unless it is positive."""
    share: Fraction = located(place)(partial(rational, given, "share"))
    if share <= 0:
        raise FileError(f"{place} share is {given}: not above 0.", code="F06", hint="share = 2, beside 1 for others")
    return share


def _section(words: Mapping[str, Any], name: str) -> dict[str, Any]:
    """Return a section, whose keys must be known."""
    found = section_of(words, name)
    if name in ("budget", "spend") and "mu" in found:
        raise FileError(f"[{name}] has 'mu', which is not a known key.", code="F05", hint=in_a_pair(found["mu"]))
    known(f"[{name}]", found, KEYS[name])
    for key, value in found.items():
        if value == OPEN and name in ("budget", "spend"):
            text = f'{key} is still open ({key} = "?"): a person decides it.'
            raise FileError(text, code="F06", hint=f"{key} = 1, or what was agreed")
    return dict(found)


def rows_of(value: Any, place: str = "[table]") -> int | None:
    """Return a number of rows, None where none is given; FileError F06 for any other value."""
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int) or not 2 <= value <= MAX_ROWS:
        text = f"{place} rows is {value!r}: not a whole number from 2 to 2**42."
        raise FileError(text, code="F06", hint="rows = 10_000")
    return value


def ledger_of(text: str | None, path: Path) -> str | None:
    """Return a ledger's path relative to the file's folder; a server's address unchanged."""
    # an address such as postgresql://… is no path
    return text if text is None or "://" in text else str(path.parent / text)
