"""`import tacit` brings the standard library, NumPy and narwhals; everything heavy comes when it is needed."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

HEAVY = {
    "scipy", "pandas", "duckdb", "pyarrow", "polars", "pyspark", "matplotlib", "formulaic", "jax", "typer", "rich",
    "tomlkit", "psycopg", "statsmodels", "dp_accounting", "opendp", "hypothesis", "pytest",
}  # fmt: skip


def loaded_after(statement: str) -> set[str]:
    """Top-level modules in sys.modules of a fresh Python after a statement."""
    code = f"{statement}\nimport sys, json\nprint(json.dumps(sorted({{name.split('.')[0] for name in sys.modules}})))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=120)
    return set(json.loads(done.stdout.splitlines()[-1]))


@pytest.mark.parametrize(
    "statement",
    [
        "import tacit",
        "import tacit as tc; tc.Schema({'age': tc.Real(0, 100)}); tc.Mean('age'); tc.Budget(rho=1)",
        "import tacit; tacit.Curator",
    ],
)
def test_nothing_heavy_is_imported_before_it_is_needed(statement: str) -> None:
    loaded = loaded_after(statement)
    assert "tacit" in loaded
    assert loaded & HEAVY == set()


def test_the_check_sees_a_heavy_import() -> None:
    assert "pandas" in loaded_after("import tacit, pandas")


def test_every_public_name_is_there() -> None:
    import tacit

    missing = [name for name in tacit.__all__ if getattr(tacit, name, None) is None]
    assert missing == []
    assert sorted(tacit.__all__) == sorted(set(tacit.__all__))
    assert set(tacit.__all__) <= set(dir(tacit))


def test_an_unknown_name_is_an_attribute_error() -> None:
    import tacit

    with pytest.raises(AttributeError, match="no attribute 'Meen'"):
        _ = tacit.Meen
