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


STUDY = """
    tacit = 1
    table = { name = "t", rows = 40 }
    budget = { epsilon = 1, neighbors = "add-remove" }
    schema = { who = { type = "PrivacyUnit", max_rows = 20 }, x = { type = "Real", lower = 0, upper = 1 } }
    spend = { epsilon = 1 }
    ask = { n = { query = "Count" } }
"""


def at_site(folder: Path, column: str | None) -> tc.Curator:
    """A curator of the study: of a site that finds persons in a column, or of a table that has the study's name."""
    study = tc.Study.from_toml(STUDY)
    if column is None:
        renamed = {"who": TABLE["user"], "x": TABLE["x"]}
        return tc.Curator(renamed, study, name="t", ledger=folder / "t.ledger")
    place = folder / "site.toml"
    columns = f'columns = {{ who = {{ column = "{column}" }} }}'
    place.write_text(f'name = "t"\n[data]\npath = "t.csv"\nledger = "t.ledger"\n{columns}\n')
    return tc.Curator(TABLE, study, site=tc.Site.load(place, study))


def test_a_site_may_not_find_persons_in_another_column_later(tmp_path: Path) -> None:
    """With the visit mapped to the study's person one user would change a count by 20, at the noise of 1."""
    assert at_site(tmp_path, "user").release(tc.Study.from_toml(STUDY))["n"].charge == 1
    assert at_site(tmp_path, "user").rows is None
    for column in ("visit", None):
        with pytest.raises(LedgerError, match="L91") as refused:
            at_site(tmp_path, column)
        assert "'user'" in str(refused.value)
        assert 'column = "user"' in str(refused.value)
    # without a site the column has the table's own name
    schema = tc.Schema({"user": tc.PrivacyUnit(max_rows=20), "x": tc.Real(0, 1)})
    assert tc.Curator(TABLE, schema, name="t", ledger=tmp_path / "t.ledger").rows is None


def test_a_table_with_the_names_of_the_study_is_not_mapped_later(tmp_path: Path) -> None:
    at_site(tmp_path, None)
    with pytest.raises(LedgerError, match="L91"):
        at_site(tmp_path, "visit")


def test_tables_recorded_before_sites_were_looked_at_open(tmp_path: Path) -> None:
    """They record the study's name of the column, whatever a site mapped to it."""
    from tacit.ledger.chain import linked

    ledger = open_ledger(tmp_path / "t.ledger", budget=tc.Budget(epsilon=1, neighbors="add-remove"), unit=20)
    with ledger.store_.write() as tx:
        tx.append(linked(tx.last(), "table", "t", {"rows": None, "persons": "who"}))
    ledger.close()
    for column in ("user", None):
        at_site(tmp_path, column)


def test_tables_recorded_by_earlier_versions_open(tmp_path: Path) -> None:
    """They record no column: the first size stands, and nothing is compared."""
    ledger = open_ledger(tmp_path / "t.ledger", budget=BUDGET, unit=20)
    ledger.table("t", None)
    ledger.close()
    curator(tmp_path, user=tc.PrivacyUnit(max_rows=20)).release(tc.Count(), epsilon=1)
    open_ledger(tmp_path / "t.ledger", budget=BUDGET, unit=20).verify()
