"""`Release`, the published answer to one query, and `Releases`, several bought together.  Immutable and versioned.

A release holds the noisy integers of one query and the public facts needed to read them, nothing else: no digest of
data, path, run time or plan.  `to_dict` and `release_from_dict` are inverse to each other.  Kinds are never removed,
new fields are optional, meanings never change, unknown kinds and versions are refused.  Estimates are made by the
classes of the methods' rooms, which are found through `release.registry`, so this file never imports them.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path
from typing import Any, ClassVar, Final, Protocol, cast

from tacit.base.json_text import canonical, read_json, shown, write_text
from tacit.base.other_words import knows_other_words
from tacit.errors import ReleaseError, nearest
from tacit.privacy import Cost
from tacit.release import document_checks as release_laws
from tacit.release import document_fields as release_fields
from tacit.release.digests import LOST, as_sealed, body_of, changed, damaged, naming, sealed
from tacit.release.document_fields import SEAL, SEVERAL
from tacit.release.field_rules import all_different
from tacit.release.parts import Axis, Levels, Part, Variable, cell_labels
from tacit.release.query import Query, answer_of, query_from_dict
from tacit.release.registry import KINDS, release_class
from tacit.release.signing import Signer, signer

FORMAT: Final = 1
"""Version of the document.  A reader refuses a later one."""


class Released(Protocol):
    """The attributes that inference reads, of releases and of simulated releases."""

    @property
    def query(self) -> Query[Any]:
        """The question."""
        ...

    @property
    def table(self) -> str:
        """The name of the table: which people, which edition."""
        ...

    @property
    def neighbors(self) -> str:
        """The neighbouring relation."""
        ...

    @property
    def rows(self) -> int | None:
        """The number of rows (of persons, where there is a unit) where it is public."""
        ...

    @property
    def unit(self) -> int | None:
        """The most rows that a person counts with; None where a row is a person."""
        ...

    @property
    def levels(self) -> Levels:
        """Public labels of `by`."""
        ...

    @property
    def ordered(self) -> Levels:
        """Those of `levels` whose order means something, without a level for missing cells."""
        ...

    @property
    def parts(self) -> tuple[Part, ...]:
        """The noisy integers."""
        ...

    @property
    def cost(self) -> Cost:
        """The privacy cost."""
        ...


@knows_other_words
@dataclass(frozen=True)
class Release:
    """One query's answer with its public facts.  Subclasses (`MomentsRelease`, ...) add its estimates.

    Attributes
    ----------
    query, mechanism: the question, and the mechanism with its version ("moments/1").
    table, schema: the table's name (which people, which edition) and the schema's digest.
    neighbors, unit: the neighbouring relation, and the most rows a person may have (None: one row each).
    rows: the number of rows, where it is public (replace-one), else None.
    levels: ((column, (label, ...)), ...) of `by`; cells of a part are in row-major order of them.
    parts: the noisy integers.
    cost: what this release cost.
    charge, head: number of the charge that bought it and the ledger's chain head after it (`tacit budget --check`).
    recorded: False where the ledger was in memory only.
    ledger: which ledger, by the hash of its first entry: releases of one ledger are about the same people.
    ordered: the part of `levels` whose order means something, without levels for missing cells.
    study: digest of the study that it answers, or None.
    axes: of a histogram, one for each of `levels`.
    variables: of a regression, one for each column of its formula.
    remaining: words on what was left of the budget; never stored.

    >>> import tacit as tc
    >>> curator = tc.Curator({"age": [30, 40, 50]}, tc.Schema({"age": tc.Real(0, 100)}), budget=tc.Budget(rho=1))
    >>> release = curator.release(tc.Mean("age"), rho=0.1)
    >>> release.save("age.json")
    >>> Release.load("age.json") == release, release.rows, release.parts[0].form
    (True, 3, 'exclusion-2')
    """

    kind: ClassVar[str] = "release"

    query: Query[Any]
    mechanism: str
    table: str
    schema: str
    neighbors: str
    unit: int | None
    rows: int | None
    levels: Levels
    parts: tuple[Part, ...]
    cost: Cost
    charge: int
    head: str
    date: str
    version: str
    name: str | None = None
    recorded: bool = True
    ledger: str | None = None
    study: str | None = None
    axes: tuple[Axis, ...] = ()
    ordered: Levels = ()
    variables: tuple[Variable, ...] = ()
    remaining: str | None = field(default=None, compare=False, repr=False)

    @property
    def cells(self) -> tuple[str, ...]:
        """Labels of the cells, "north:female"; one empty label where there is no `by`."""
        return cell_labels(self.levels)

    def to_dict(self) -> dict[str, Any]:
        """Return plain JSON values, the same for the same release."""
        words: dict[str, Any] = {"tacit": FORMAT, "kind": self.kind, "query": self.query.to_dict()}
        words |= {"mechanism": self.mechanism, "table": self.table, "schema": self.schema}
        words |= {"neighbors": self.neighbors, "unit": self.unit, "rows": self.rows}
        words["levels"] = [[column, list(labels)] for column, labels in self.levels]
        words["parts"] = [part.to_dict() for part in self.parts]
        words |= {"cost": self.cost.to_dict(), "charge": self.charge, "head": self.head}
        words |= {"date": self.date, "version": self.version, "name": self.name, "recorded": self.recorded}
        words["ledger"] = self.ledger
        if self.study is not None:
            words["study"] = self.study
        if self.axes:
            words["axes"] = [axis.to_dict() for axis in self.axes]
        if self.ordered:
            words["ordered"] = [[column, list(labels)] for column, labels in self.ordered]
        if self.variables:
            words["variables"] = [one.to_dict() for one in self.variables]
        return words

    def to_json(self) -> str:
        """Return canonical JSON text: sorted keys, no spaces, with the digest of its fields."""
        return canonical(sealed(self.to_dict()))

    def save(self, path: str | Path) -> None:
        """Write the document to a file, whole or not at all; ReleaseError R07 where it cannot be written.

        The file holds a digest of its fields, by which a reader finds accidents (not tampering).
        """
        _write(path, self.to_dict())

    @staticmethod
    def load(path: str | Path) -> Release:
        """Read one release from a file; ReleaseError R01 to R05 for any other file.  For several: `Releases.load`.

        Earlier versions wrote no digest for a single release, so a file without one is accepted.
        """
        words = read_json(path)
        if "releases" in words:
            raise ReleaseError(f"{path} holds several releases.", code="R04", hint="Releases.load(path)", state=None)
        with naming(path):
            return release_from_dict(words)


def release_from_dict(words: Mapping[str, Any]) -> Release:
    """Read a release, the inverse of `Release.to_dict`; ReleaseError R01, R02, R05 for any other document.

    An invalid price, law of noise or question raises its own error (BudgetError, NoiseError, QueryError).
    """
    version, kind = words.get("tacit"), words.get("kind")
    # JSON's true is an int to Python
    if isinstance(version, bool) or not isinstance(version, int) or kind is None:
        raise ReleaseError("this document is no release of tacit.", code="R01", state=None)
    if version > FORMAT:
        message = f"this release has format {version}; this version of tacit reads up to {FORMAT}."
        raise ReleaseError(message, code="R02", hint="upgrade tacit", state=None)
    if not isinstance(kind, str) or kind not in KINDS:
        raise ReleaseError(f"releases of kind {kind!r} are not known to this version.", code="R02", state=None)
    # before the fields: a changed document is told as such, not by the first field that fails
    if SEAL in words and not as_sealed(words):
        raise changed("this release")
    reason = release_fields.wrong(words)
    if reason is not None:
        raise damaged(reason)
    try:
        made = _made(kind, words)
        if not _answers(made):
            reason = f"a {type(made.query).__name__} is not answered by kind {kind}"
        else:
            reason = release_laws.first_inconsistency(cast(Any, made))
    # what readers raise where fields are right one by one but not together: a fault of the document
    except (KeyError, TypeError, ValueError, AttributeError, ArithmeticError, IndexError, RecursionError) as problem:
        reason = f"{type(problem).__name__}"
    if reason is not None:
        raise damaged(reason)
    return made  # pyright: ignore[reportPossiblyUnboundVariable]


def _made(kind: str, words: Mapping[str, Any]) -> Release:
    """Make the release of a document whose fields were checked one by one."""
    return release_class(kind)(
        # as text, which a cache can hold
        query=_query(canonical(words["query"])),
        mechanism=words["mechanism"],
        table=words["table"],
        schema=words["schema"],
        neighbors=words["neighbors"],
        unit=words["unit"],
        rows=words["rows"],
        levels=_read_levels(words["levels"]),
        parts=tuple(Part.from_dict(part) for part in words["parts"]),
        cost=Cost.from_dict(words["cost"]),
        charge=words["charge"],
        head=words["head"],
        date=words["date"],
        version=words["version"],
        name=words.get("name"),
        recorded=words.get("recorded", True),
        ledger=words.get("ledger"),
        study=words.get("study"),
        axes=tuple(Axis.from_dict(axis) for axis in words.get("axes", ())),
        ordered=_read_levels(words.get("ordered", ())),
        variables=tuple(Variable.from_dict(one) for one in words.get("variables", ())),
    )


def _answers(made: Release) -> bool:
    """Whether a release has the class that its question names as its answer."""
    return answer_of(type(made.query)) in [one.__name__ for one in type(made).__mro__]


@dataclass(frozen=True)
class Releases(Mapping[str, Any]):
    """Several releases bought together, by name; a Mapping, saved as one file.  ReleaseError R06 for another name.

    >>> import tacit as tc
    >>> curator = tc.Curator({"age": [30, 40, 50]}, tc.Schema({"age": tc.Real(0, 100)}), budget=tc.Budget(rho=1))
    >>> found = curator.release({"mean": tc.Mean("age"), "sum": tc.Sum("age")}, rho=0.1)
    >>> list(found), str(found["sum"].cost), releases_from_dict(found.to_dict()) == found
    (['mean', 'sum'], 'ρ = 0.05', True)
    """

    items_: tuple[tuple[str, Release], ...]
    signature: str | None = None
    """Ed25519, of the canonical text of the document without signature and digest; None for an answer not signed."""

    def __getitem__(self, name: str) -> Any:  # Any: the leaf depends on the name
        for key, release in self.items_:
            if key == name:
                return release
        guess = nearest(name, [key for key, _ in self.items_])
        raise ReleaseError(f"no release is named {name!r}.", code="R06", hint=guess, state=None)

    def __iter__(self) -> Iterator[str]:
        return iter([key for key, _ in self.items_])

    def __len__(self) -> int:
        return len(self.items_)

    def __repr__(self) -> str:
        return "\n\n".join(f"{name}\n{release}" for name, release in self.items_)

    def to_dict(self) -> dict[str, Any]:
        """Return plain JSON values, in order."""
        words = {"tacit": FORMAT, "releases": [[name, release.to_dict()] for name, release in self.items_]}
        return words if self.signature is None else {**words, "signature": self.signature}

    def to_json(self) -> str:
        """Return canonical JSON text, with the digest of its fields."""
        return canonical(sealed(self.to_dict()))

    def save(self, path: str | Path) -> None:
        """Write all releases to one file, whole or not at all; ReleaseError R07 where it cannot be written.

        The file holds a digest of its fields, by which a reader finds accidents (not tampering).
        """
        _write(path, self.to_dict())

    @classmethod
    def load(cls, path: str | Path) -> Releases:
        """Read a file of one or several releases; ReleaseError R01, R02, R03, R05 for any other file.

        A file of several without a digest was changed, and is refused; earlier versions wrote none for one release.
        """
        words = read_json(path)
        if "releases" in words and SEAL not in words:
            text = f"{path} {LOST}."
            raise ReleaseError(text, code="R05", hint="the file as it was saved", state=None)
        with naming(path):
            return releases_from_dict(words)

    @classmethod
    def stored(cls, path: str | Path) -> Releases:
        """Read a file as `load` does, to compare it with stored answers: a digest may be missing, but not wrong.

        A name in the file that is not the release's own name is refused with ReleaseError R05.
        """
        words = read_json(path)
        with naming(path):
            found = releases_from_dict(words)
            for name, one in found.items_:
                if "releases" in words and name != one.name:
                    raise damaged(f"{shown(name)} is called {one.name!r} in its own words")
        return found

    def with_remaining(self, words: str | None) -> Releases:
        """Return the same releases with a text on what is left of the budget."""
        return replace(self, items_=tuple((name, replace(one, remaining=words)) for name, one in self.items_))

    def signed(self, key: str | Path) -> Releases:
        """Return the releases signed with the private key in a file; a study verifies them with the listed public key.

        A curator whose site has a `key` signs without this call.  FileError C29, StudyError C27, as `signing.signer`.
        """
        return self.signed_by(signer(key))

    def signed_by(self, key: Signer) -> Releases:
        """Return the releases signed with an opened private key."""
        return replace(self, signature=key.sign(body_of(self.to_dict())))


def releases_from_dict(words: Mapping[str, Any]) -> Releases:
    """Read releases, the inverse of `Releases.to_dict`; a single release gets its own name (or "release")."""
    if "releases" not in words:
        # a file of one release has no names of its own
        one = release_from_dict(words)
        return Releases(((one.name or "release", one),))
    if not isinstance(words.get("tacit"), int) or words["tacit"] > FORMAT:
        raise ReleaseError("this file is of another version of tacit.", code="R02", hint="upgrade tacit", state=None)
    if SEAL in words and not as_sealed(words):
        raise changed("this file")
    return _several(words)


def _several(words: Mapping[str, Any]) -> Releases:
    """Read releases and signature of a document of several."""
    reason = SEVERAL.wrong(words)
    if reason is not None:
        raise ReleaseError(f"this file of releases is damaged: it{reason}.", code="R05", state=None)
    if not all_different([name for name, _ in words["releases"]]):
        raise ReleaseError("this file of releases is damaged: it has a name twice.", code="R05", state=None)
    return Releases(tuple((name, release_from_dict(one)) for name, one in words["releases"]), words.get("signature"))


def _write(path: str | Path, words: dict[str, Any]) -> None:
    """Write a document with its digest, indented so that people can read it."""
    write_text(path, json.dumps(sealed(words), indent=1, ensure_ascii=False, sort_keys=True) + "\n")


@lru_cache(maxsize=1024)
def _query(text: str) -> Query[Any]:
    """Read a stored question; cached, as thousands of documents of a study have the same few."""
    return query_from_dict(json.loads(text))


def _read_levels(words: Any) -> Levels:
    return tuple((str(column), tuple(str(x) for x in labels)) for column, labels in words)
