"""The site file of a party, which stays private: where its rows are, and how its columns map to the study's."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, cast

from tacit.errors import FileError, StudyError
from tacit.release.signing import signer
from tacit.schema.site_columns import ColumnMap, columns_of
from tacit.schema.toml import read_text, read_toml
from tacit.schema.toml_words import known, section_of, text_of
from tacit.study.curator_file import format_of, ledger_of
from tacit.study.study import Study

if TYPE_CHECKING:
    from os import PathLike

TOP: Final = ("name", "data", "tacit")
DATA: Final = ("path", "ledger", "columns", "key")


@dataclass(frozen=True)
class Site:
    """One party's table and how its columns are read; `Site.load` makes it, `Curator(site.data, study, site=site)`
    takes it.

    Attributes
    ----------
    path: of the site file.
    name: of the party, as in the study.
    data, ledger: the paths of the table and its ledger; ledger None for `<table>.ledger` beside the table.
    columns: name of a column in the study -> how it is found in the table; other columns have the study's names.
    study: digest of the study that it was read for.
    key: path of the file with the private key that signs the answer, or None.  The key itself is not kept.

    >>> import tempfile
    >>> from tacit import Study
    >>> study = Study.from_toml('''
    ... tacit = 1
    ... table = { name = "hips", rows = 300 }
    ... budget = { epsilon = 1 }
    ... schema = { wait = { type = "Real", lower = 0, upper = 240 } }
    ... spend = { epsilon = 1 }
    ... ask = { wait = { query = "Mean", columns = "wait" } }
    ... ''')
    >>> path = Path(tempfile.mkdtemp()) / "st-mary.toml"
    >>> _ = path.write_text('''
    ... name = "st-mary"
    ... [data]
    ... path = "hips.csv"
    ... columns = { wait = { column = "WAIT_MIN", multiply = 0.016666666666666666 } }
    ... ''')
    >>> Site.load(path, study).columns["wait"].column
    'WAIT_MIN'
    """

    path: Path
    name: str
    data: Path
    ledger: str | None
    columns: Mapping[str, ColumnMap]
    study: str
    key: Path | None = None

    @classmethod
    def load(cls, path: str | PathLike[str], study: Study) -> Site:
        """Read a site file for a study.

        Raises FileError F01, F02, F05, F06 as other files do, F09 without name or data, F20 for a map that does not fit
        its column; QueryError Q10 for a column that the study does not have; StudyError P03 for a party that the study
        does not list, C30 for a key that is not the one it lists, or none where it lists one; FileError C29 for a key
        that cannot be read, or that others can read, StudyError C27 without the package cryptography.
        """
        place = Path(path)
        words = read_toml(read_text(place), str(place))
        known("the site file", words, TOP)
        if "tacit" in words:
            format_of(words, place)
        data = section_of(words, "data")
        known("[data]", data, DATA)
        name = _needed(words, "name", "the site file", place, 'name = "st-mary", as the study lists it')
        where = _needed(data, "path", "[data]", place, '[data], then path = "exports/hip_2024.csv"')
        key = text_of(data, "key", "[data]")
        own = None if key is None else place.parent / key
        # the key is opened now: a wrong one shows before a budget is charged
        _fits(study, name, own, place)
        return cls(
            path=place,
            name=name,
            data=place.parent / where,
            ledger=ledger_of(text_of(data, "ledger", "[data]"), place),
            columns=columns_of(data.get("columns", {}), study.schema),
            # by which a curator refuses a site file that was read for another edition
            study=study.digest(),
            key=own,
        )


def _fits(study: Study, name: str, key: Path | None, path: Path) -> None:
    """Raise StudyError P03, C30 for a party or a key that is not the study's: its answer would be refused."""
    listed = study.party(name).key
    if key is None:
        if listed is not None:
            message = f"the study lists a key for {name}, and {path} has none to sign with."
            raise StudyError(message, code="C30", hint=f'[data], then key = "{name}.private"')
        return
    own = signer(key).public
    if listed is not None and own != listed:
        message = f"the key of {path} is not the one that the study lists for {name}: its answer would be refused."
        hint = f"the other half of {listed}, or write to {study.contact or 'whoever runs the study'}"
        raise StudyError(message, code="C30", hint=hint)


def _needed(words: Mapping[str, Any], key: str, where: str, path: Path, hint: str) -> str:
    """Return the text of a required key; FileError F09 where it is missing."""
    if key not in words:
        raise FileError(f"{path} says no {key}.", code="F09", hint=hint)
    return cast(str, text_of(words, key, where))
