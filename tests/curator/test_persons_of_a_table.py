"""A ledger records which column identifies the persons of a table: another column would protect somebody else."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import tacit as tc
from tacit.errors import LedgerError
from tacit.ledger import open_ledger

TABLE: dict[str, Any] = {"user": [1] * 20 + [2] * 20, "visit": list(range(40)), "x": [1.0] * 40}
BUDGET = tc.Budget(epsilon=2, neighbors="add-remove")


def curator(folder: Path, name: str = "t", **unit: tc.PrivacyUnit) -> tc.Curator:
    schema = tc.Schema({**unit, "x": tc.Real(0, 1)})
    return tc.Curator(TABLE, schema, name=name, ledger=folder / "t.ledger", budget=BUDGET)


def test_persons_told_apart_by_another_column_are_refused(tmp_path: Path) -> None:
    """With the visit for the unit, one user would change a count by 20 at the noise of 1."""
    curator(tmp_path, user=tc.PrivacyUnit(max_rows=20)).release(tc.Count(), epsilon=1)
    with pytest.raises(LedgerError, match="L91") as refused:
        curator(tmp_path, visit=tc.PrivacyUnit(max_rows=20))
    assert "'user'" in str(refused.value)
    assert "'visit'" in str(refused.value)
    # another name in the schema is the same column of the table
    again = curator(tmp_path, who=tc.PrivacyUnit(column="user", max_rows=20))
    assert again.release(tc.Count(), epsilon=1).charge == 2
    # a table of its own name has persons of its own
    curator(tmp_path, name="visits", visit=tc.PrivacyUnit(max_rows=20))


def test_no_number_of_rows_is_said_of_persons_told_apart_by_another_column(tmp_path: Path) -> None:
    """Under replace-one the number of persons is public; that of their rows is not."""
    budget = tc.Budget(epsilon=2)
    for name, refused in (("user", False), ("visit", True)):
        schema = tc.Schema({name: tc.PrivacyUnit(max_rows=20), "x": tc.Real(0, 1)})
        if not refused:
            assert tc.Curator(TABLE, schema, name="t", ledger=tmp_path / "t.ledger", budget=budget).rows == 2
            continue
        with pytest.raises(LedgerError, match="L91") as found:
            tc.Curator(TABLE, schema, name="t", ledger=tmp_path / "t.ledger", budget=budget)
        assert "40" not in str(found.value).replace(str(tmp_path), "")


def test_a_site_may_find_the_column_under_another_name(tmp_path: Path) -> None:
    """The same table comes with the names of the study or with its own: where a site finds a column is not recorded."""
    study = tc.Study.from_toml("""
        tacit = 1
        table = { name = "t", rows = 40 }
        budget = { epsilon = 1, neighbors = "add-remove" }
        schema = { who = { type = "PrivacyUnit", max_rows = 20 }, x = { type = "Real", lower = 0, upper = 1 } }
        spend = { epsilon = 1 }
        ask = { n = { query = "Count" } }
    """)
    place = tmp_path / "site.toml"
    place.write_text(
        'name = "t"\n[data]\npath = "t.csv"\nledger = "t.ledger"\ncolumns = { who = { column = "user" } }\n'
    )
    assert tc.Curator(TABLE, study, site=tc.Site.load(place, study)).release(study)["n"].charge == 1
    named = {"who": TABLE["user"], "x": TABLE["x"]}
    assert tc.Curator(named, study, name="t", ledger=tmp_path / "t.ledger").release(study)["n"].charge == 1


def test_tables_recorded_by_earlier_versions_open(tmp_path: Path) -> None:
    """They record no column: the first size stands, and nothing is compared."""
    ledger = open_ledger(tmp_path / "t.ledger", budget=BUDGET, unit=20)
    ledger.table("t", None)
    ledger.close()
    curator(tmp_path, user=tc.PrivacyUnit(max_rows=20)).release(tc.Count(), epsilon=1)
    open_ledger(tmp_path / "t.ledger", budget=BUDGET, unit=20).verify()
