"""A symbolic link to a table has the ledger of the table: another name of the same rows is no second budget."""

from __future__ import annotations

from pathlib import Path

import pytest

import tacit as tc
from tacit.curator.locations import ledger_beside
from tacit.errors import BudgetError, LedgerError

SCHEMA = tc.Schema({"age": tc.Integer(18, 93)})


@pytest.fixture(name="table")
def a_table_with_a_link(tmp_path: Path) -> Path:
    """A Parquet file of 300 people in a folder, and a link to it in another."""
    (tmp_path / "data").mkdir()
    (tmp_path / "links").mkdir()
    tc.examples.people(300).to_parquet(tmp_path / "data" / "people.parquet")
    (tmp_path / "links" / "latest.parquet").symlink_to(tmp_path / "data" / "people.parquet")
    return tmp_path / "data" / "people.parquet"


def bought(path: Path, rho: float, **facts: str) -> int | None:
    """Buy a count of a table from a file, at a price, and return the number of its charge."""
    curator = tc.Curator(path, SCHEMA, name="people", budget=tc.Budget(rho=0.1), **facts)  # type: ignore[arg-type]
    return curator.release(tc.Count(where="age > 40"), rho=rho).charge


def test_a_link_has_the_budget_of_the_table(table: Path) -> None:
    link = table.parents[1] / "links" / "latest.parquet"
    assert bought(link, 0.06) == 1
    assert Path(f"{table}.ledger").exists()
    assert not Path(f"{link}.ledger").exists()
    with pytest.raises(BudgetError, match="B02"):
        bought(table, 0.05)
    assert bought(table, 0.04) == 2
    with pytest.raises(BudgetError, match="B02"):
        bought(link, 0.01)


def test_a_link_to_a_link_and_a_linked_folder_lead_to_the_same_ledger(table: Path) -> None:
    home = table.parents[1]
    (home / "again.parquet").symlink_to(home / "links" / "latest.parquet")
    (home / "folder").symlink_to(table.parent)
    assert ledger_beside(home / "again.parquet") == f"{table.resolve()}.ledger"
    assert bought(home / "folder" / "people.parquet", 0.06) == 1  # the folder of the table, under another name
    with pytest.raises(BudgetError, match="B02"):
        bought(home / "again.parquet", 0.05)


def test_a_ledger_that_was_made_beside_a_link_is_not_forgotten(table: Path) -> None:
    link = table.parents[1] / "links" / "latest.parquet"
    assert bought(link, 0.06, ledger=f"{link}.ledger") == 1  # as earlier versions did
    assert ledger_beside(link) == f"{link}.ledger"
    with pytest.raises(BudgetError, match="B02"):
        bought(link, 0.05)
    assert bought(table, 0.01) == 1  # the table has a ledger, too, from here on
    with pytest.raises(LedgerError, match="L93"):
        bought(link, 0.01)
    assert bought(link, 0.01, ledger=f"{table}.ledger") == 1  # that answer, free


def test_a_ledger_that_is_itself_a_link_is_used_as_it_is(table: Path) -> None:
    safe = table.parents[1] / "safe.ledger"
    assert bought(table, 0.06, ledger=str(safe)) == 1
    Path(f"{table}.ledger").symlink_to(safe)
    with pytest.raises(BudgetError, match="B02"):
        bought(table, 0.05)
