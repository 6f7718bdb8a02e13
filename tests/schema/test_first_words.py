"""What a first attempt meets: columns named as arguments, drafts of tables of identifiers."""

from __future__ import annotations

from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest

import tacit as tc
from tacit.errors import ReleaseError, SchemaError
from tacit.schema.drafted_file import draft_file


def test_columns_named_as_arguments_are_told_the_dict() -> None:
    with pytest.raises(SchemaError, match=r"'age' is given as an argument by name.*Schema\(\{\"age\": …\}\)") as found:
        cast(Any, tc.Schema)(age=tc.Real(0, 100))
    assert found.value.code == "S02"
    with pytest.raises(SchemaError, match="no columns"):
        cast(Any, tc.Schema)()


@pytest.mark.parametrize(("columns", "asked"), [(("person_id", "wage"), "wage"), (("ID", "zip-code"), "age")], ids=repr)
def test_a_draft_asks_no_mean_of_identifiers(columns: tuple[str, ...], asked: str) -> None:
    lines = {one: f'{one} = {{ type = "Integer", lower = "?", upper = "?" }}' for one in columns}
    text = draft_file(lines, name="people", path="people.parquet")
    assert f"[ask.mean-{asked}]" in text
    assert f'column = "{asked}"' in text


def test_an_empty_file_is_told_to_be_empty(tmp_path: Path) -> None:
    path = tmp_path / "age.json"
    path.write_text("\n", encoding="utf-8")
    with pytest.raises(ReleaseError, match="is empty") as found:
        tc.Release.load(path)
    assert found.value.code == "R01"


def test_a_fit_is_shown_as_a_table() -> None:
    rng = np.random.default_rng(0)
    table = {"x": rng.random(500), "y": rng.random(500)}
    curator = tc.Curator(table, tc.Schema({"x": tc.Real(0, 1), "y": tc.Real(0, 1)}), budget=tc.Budget(rho=9))
    shown = repr(curator.release(tc.Regression("y ~ x"), rho=1).fit())
    assert shown.startswith("y ~ x · linear")
    assert "std. error" in shown
    assert "array(" not in shown
