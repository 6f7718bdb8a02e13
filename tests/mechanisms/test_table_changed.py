"""A public number of rows is that of the table that is read; where it is another, the table changed: M01."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import tacit as tc
from tacit import families
from tacit.curator.mechanisms import design, measure
from tacit.errors import MachineError
from tacit.method.shared.measurement import Public
from tacit.privacy import Cost
from tacit.source import open_source

SCHEMA = tc.Schema({"x": tc.Real(0, 10), "y": tc.Boolean(), "g": tc.Category(["a", "b"])})
ROWS = 60
CHANGED = "the table changed while it was read"
BLOCKS = tc.SampleAndAggregate("x", families.Exponential(rate=(0.1, 10)), blocks=5)
STEP = tc.SampleAndAggregate("x", families.Exponential(rate=(0.1, 10)), blocks=5, one_step=True)
QUERIES = {
    "mean": tc.Mean("x"),
    "count": tc.Count(by="g"),
    "quality": tc.DataQuality(),
    "quantiles": tc.Quantiles("x", [0.5]),
    "range": tc.Range("x"),
    "histogram": tc.Histogram("g"),
    "sparse": tc.Histogram(("x", "g"), bins={"x": 200}, sparse=True),
    "regression": tc.Regression("x ~ y"),
    "logistic": tc.Regression("y ~ x", model="logistic"),
    "statistics": tc.SufficientStatistics("y", families.Bernoulli()),
    "blocks": BLOCKS,
    "one step": STEP,
}


def table(rows: int) -> dict[str, Any]:
    rng = np.random.default_rng(0)
    return {"x": rng.uniform(0.1, 9, rows), "y": rng.random(rows) < 0.4, "g": rng.choice(["a", "b"], rows)}


@pytest.mark.parametrize("name", QUERIES)
@pytest.mark.parametrize("more", [1, -1])
def test_another_number_of_rows_is_noticed_by_every_mechanism(name: str, more: int) -> None:
    """One row more, or one fewer; of rows that are left out nothing is known, so that fewer are no sign in blocks."""
    shape = design(QUERIES[name], Public(SCHEMA, "replace-one", ROWS), Cost.of(rho=1))
    source = open_source(table(ROWS + more))
    if name in ("blocks", "one step") and more < 0:
        assert measure(shape, source)
        return
    with pytest.raises(RuntimeError, match=CHANGED):
        measure(shape, source)


@pytest.mark.parametrize("name", QUERIES)
def test_a_private_number_of_rows_is_no_sign(name: str) -> None:
    shape = design(QUERIES[name], Public(SCHEMA, "add-remove", None, ROWS), Cost.of(rho=1))
    assert measure(shape, open_source(table(ROWS + 1)))


@pytest.mark.parametrize("query", [tc.Mean("x"), tc.Mean("x", where="y"), tc.Histogram("g", where="y")], ids=str)
def test_a_file_written_anew_is_one_constant_error(query: tc.Query[Any], tmp_path: Path) -> None:
    """The charge stands; the curator's own log says why."""

    def written(rows: int) -> None:
        pq.write_table(pa.table(table(rows)), tmp_path / "t.parquet")

    written(ROWS)
    curator = tc.Curator(tmp_path / "t.parquet", SCHEMA, budget=tc.Budget(rho=1))
    written(ROWS + 1)
    with pytest.raises(MachineError):
        curator.release(query, rho=0.1)
    assert str(curator.spent.rho) == "1/10"
    assert CHANGED in (tmp_path / "t.parquet.ledger.log").read_text()
    written(ROWS)
    assert curator.release(query, rho=0.1).charge == 1


@pytest.mark.parametrize("name", QUERIES)
def test_no_mechanism_says_a_word_by_itself(name: str) -> None:
    """Where every warning is an error, outside the guard that would silence it: missing, infinite and extreme cells."""
    rows = table(ROWS)
    rows["x"][:6] = [np.nan, np.inf, -np.inf, 1e308, -1e308, 0.0]
    shape = design(QUERIES[name], Public(SCHEMA, "replace-one", ROWS), Cost.of(rho=1))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert measure(shape, open_source(rows))
