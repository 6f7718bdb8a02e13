"""Names that are no text, conditions Python warns of, paths no file can have, types that list values: clear errors."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

import tacit as tc
from tacit.errors import CODES, SourceError, TacitError
from tacit.release import signing

HALF = "\ud800"
ROWS = {"age": [1.0, 2.0, 3.0]}
SCHEMA = tc.Schema({"age": tc.Real(0, 9)})


def curator(**more: Any) -> tc.Curator:
    return tc.Curator(ROWS, SCHEMA, budget=tc.Budget(rho=9), **more)


@pytest.mark.parametrize(
    "make",
    [
        lambda: tc.Mean(HALF),
        lambda: tc.Mean("age", by=HALF),
        lambda: tc.Mean("age", weights=HALF),
        lambda: tc.Mean("age", where=f"age == '{HALF}'"),
        lambda: tc.Quantiles(HALF, [0.5]),
        lambda: tc.Range(HALF),
        lambda: tc.Regression(f"y ~ `{HALF}`"),
        lambda: tc.SufficientStatistics(HALF, tc.families.Bernoulli()),
        lambda: tc.SampleAndAggregate(HALF, tc.families.Bernoulli()),
        lambda: tc.SampleAndAggregate("age", {"family": "Model", "name": HALF}),
        lambda: tc.Schema({HALF: tc.Real(0, 1)}),
        lambda: tc.Schema({"a": tc.Category([HALF, "b"])}),
        lambda: curator(name=HALF),
        lambda: curator(analyst=HALF),
        lambda: curator().release(tc.Mean("age"), rho=1, name=HALF),
        lambda: curator().release({HALF: tc.Mean("age")}, rho=1),
        lambda: curator().release(tc.Mean("age"), rho=1, note=HALF),
        lambda: curator().raise_budget(rho=10, note=HALF),
        lambda: curator().limit("alice", rho=1, note=HALF),
    ],
)
def test_half_a_character_is_refused_where_it_is_said(make: Callable[[], object]) -> None:
    with pytest.raises(TacitError) as found:
        make()
    assert found.value.code in CODES
    str(found.value).encode()  # the error itself can be printed


@pytest.mark.parametrize("text", ["age > 1or age < 0", "age == 'a\\d'", "1is 2", "age is 1", "age > 0x1for"])
def test_no_condition_makes_python_warn(text: str) -> None:
    """Read or refused alike, however warnings are set."""

    def read() -> str | None:
        try:
            return tc.Mean("age", where=text).where
        except TacitError as problem:
            return problem.code

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        strict = read()
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        assert read() == strict
    assert heard == []


@pytest.mark.parametrize(
    "given", ["1e999999999", 10**5_000, "1/0", "9" * 5_000], ids=["exponent", "long", "zero", "text"]
)
def test_a_probability_of_absurd_length_is_refused_at_once(given: Any) -> None:
    with pytest.raises(TacitError) as found:
        tc.Quantiles("age", [given])
    assert found.value.code == "Q74"


@pytest.mark.parametrize(
    "path", ["a" * 5_000 + ".csv", "a\0.csv", "x/" * 3_000 + "a.csv"], ids=["long", "null", "deep"]
)
def test_a_table_whose_path_no_file_can_have(path: str, tmp_path: Path) -> None:
    with pytest.raises(SourceError) as found:
        tc.Curator(path, SCHEMA, budget=tc.Budget(rho=1), ledger=str(tmp_path / "x.ledger"), name="x")
    assert found.value.code == "D02"
    assert len(found.value.message) < 400


@pytest.mark.parametrize("engine", ["polars", "duckdb", "pandas"])
def test_a_type_that_lists_values_is_named_without_them(engine: str) -> None:
    """Levels of an enumeration are made of rows in many tables: no message repeats them."""
    words = ["secret-one", "secret-two"]
    data: Any = pl.DataFrame({"age": words}, schema={"age": pl.Enum(words)})
    if engine == "duckdb":
        import duckdb

        base = duckdb.connect()
        data = base.sql("SELECT 'secret-one'::ENUM('secret-one', 'secret-two') AS age")
    if engine == "pandas":
        data = pd.DataFrame({"age": pd.Categorical(words)})
    with pytest.raises(TacitError) as found:
        tc.Curator(data, SCHEMA, budget=tc.Budget(rho=1))
    assert "secret" not in str(found.value)
    assert "enum" in str(found.value).lower() or engine == "pandas"


def _key(y: int, sign: int = 0) -> str:
    import base64

    raw = signing.HEAD + (y | sign << 255).to_bytes(32, "little")
    return signing.KIND + base64.b64encode(raw).decode("ascii")


P = signing.PRIME
ORDER_8 = 0x7A03AC9277FDC74EC6CC392CFA53202A0F67100D760B3CBA4FD84D3D706A17C7
"""y of a point of order 8 (and P minus it), from the list of small orders of RFC 8032 implementations."""


@pytest.mark.parametrize("sign", [0, 1])
@pytest.mark.parametrize("y", [0, 1, P - 1, P, P + 1, ORDER_8, P - ORDER_8, 2**255 - 1])
def test_a_point_of_small_order_is_no_public_key(y: int, sign: int) -> None:
    """By such a key signatures of anything can be made by anybody."""
    assert not signing.is_public(_key(y, sign))
    assert not signing.verified(_key(y, sign), signing.KIND + "A" * 86 + "==", "anything")


def test_bytes_that_are_no_point_are_a_key_by_which_nobody_can_sign(tmp_path: Path) -> None:
    """Half of all numbers are no point of the curve; the page of the three files has such a key for a party to come."""
    rng = np.random.default_rng(0)
    keys = [_key(int.from_bytes(rng.bytes(31), "little")) for _ in range(40)]
    assert all(map(signing.is_public, keys))
    assert not any(signing.verified(one, signing.KIND + "A" * 86 + "==", "anything") for one in keys)
    assert all(signing.is_public(signing.new_key(tmp_path / f"{i}.private")) for i in range(5))
