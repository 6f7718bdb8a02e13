"""Errors that newcomers met with real files: each says what is wrong and what to write instead."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import tacit as tc
from tacit.errors import InferenceError, QueryError, SourceError
from tacit.source.raw_text.suggested_types import suggest
from tacit.source.raw_text.text_import import import_table


@pytest.fixture(scope="module", name="cells")
def a_histogram() -> object:
    """A histogram of two numbers."""
    table = {"delay": np.arange(2_000) % 60, "time": np.arange(2_000) % 24}
    schema = tc.Schema({"delay": tc.Integer(0, 59), "time": tc.Integer(0, 23)})
    curator = tc.Curator(table, schema, budget=tc.Budget(rho=10))
    return curator.release(tc.Histogram(["delay", "time"], bins={"delay": 6, "time": 6}), rho=5)


def test_two_columns_of_a_correlation_are_a_list(cells: object) -> None:
    with pytest.raises(InferenceError, match="I50") as found:
        cells.correlation("delay", "time")  # type: ignore[attr-defined]
    assert found.value.hint == 'correlation(["delay", "time"])'
    with pytest.raises(InferenceError, match="I09"):
        cells.correlation(["delay", "time"], "tabel")  # type: ignore[attr-defined]


@pytest.mark.parametrize("verb", ["survival", "logrank"])
def test_survival_asks_for_the_column_of_events(cells: object, verb: str) -> None:
    with pytest.raises(InferenceError, match="I41") as found:
        getattr(cells, verb)("delay")
    assert 'event="died"' in (found.value.hint or "")
    with pytest.raises(InferenceError, match="I41") as found:  # one that was named is looked for as before
        getattr(cells, verb)("delay", "dead")
    assert "'dead'" in found.value.message


def test_rows_to_predict_have_columns_of_one_length(cells: object) -> None:
    fit = cells.fit("delay ~ time")  # type: ignore[attr-defined]
    with pytest.raises(InferenceError, match="I42") as found:
        fit.predict({"time": [6, 12], "delay": [1, 2, 3]})
    assert "2 of 'time', 3 of 'delay'" in found.value.message


def test_what_cannot_differ_says_so() -> None:
    """I² of a total, and of one term: not the same mistake, and not the same way out."""
    schema = tc.Schema({"age": tc.Real(0, 100), "sex": tc.Category(["f", "m"])})
    rows = {"age": [30.0, 50.0] * 400, "sex": ["f", "m"] * 400}
    parties = {one: tc.Curator(rows, schema, name=one, budget=tc.Budget(rho=9)) for one in ("a", "b", "c")}
    counts = tc.combine({name: one.release(tc.Count(by="sex"), rho=2) for name, one in parties.items()})
    with pytest.raises(InferenceError, match="C16") as found:
        _ = counts.estimate().I2
    assert 'effects="random"' in (found.value.hint or "")
    assert "added up" in found.value.message
    means = tc.combine({name: one.release(tc.Mean("age", by="sex"), rho=2) for name, one in parties.items()})
    assert means.estimate().I2.index.tolist() == ["f", "m"]
    with pytest.raises(InferenceError, match="C16") as found:
        _ = means.estimate()["f"].I2
    assert 'effects="random"' in (found.value.hint or "")
    assert "picked" in found.value.message


@pytest.mark.parametrize(
    ("line", "words"),
    [("a,b,a,c", "name 3 of 4 is that of column 1"), ("a,b,,c", "name 3 of 4 is empty"), ("secret,x,secret", "name 3")],
)
def test_names_that_are_no_names_are_said_by_their_place(tmp_path: Path, line: str, words: str) -> None:
    """By their place, and not in their own words: the first line may be a row."""
    path = tmp_path / "t.csv"
    path.write_text(f"{line}\n1,2,3,4\n")
    with pytest.raises(SourceError, match="D04") as found:
        tc.Curator(path, tc.Schema({"b": tc.Real(0, 1)}), budget=tc.Budget(rho=1))
    assert words in found.value.message
    assert "secret" not in str(found.value)


def test_names_with_blanks_are_imported_as_they_are_drafted(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text(" trail ,age\n1,30\n2,40\n")
    for name in (" trail ", "trail"):
        out = tmp_path / f"{len(name)}.parquet"
        import_table(path, tc.Schema({name: tc.Integer(0, 9), "age": tc.Integer(0, 99)}), out)
        assert pd.read_parquet(out)[name].tolist() == [1, 2]


def test_no_multiples_are_found_in_numbers_that_floats_do_not_hold(tmp_path: Path) -> None:
    """Every float beyond 2**53 is an even whole number, and many are multiples of 100 by their rounding alone."""
    path = tmp_path / "t.csv"
    with path.open("w", newline="") as file:
        made = csv.writer(file)
        made.writerow(["big", "fee"])
        made.writerows([[2**62 + 7 * i, 100 * i] for i in range(200)])
    found = suggest(path)
    assert "big" not in found.multiples
    assert "big" not in found.heaps
    assert found.multiples["fee"] == 100


def test_results_are_iterated_by_their_terms(cells: Any) -> None:
    """A loop over an estimate raised that 0 is no term; a number in brackets, TypeError."""
    table = {"x": np.arange(900.0) % 60, "g": ["a", "b", "c"] * 300}
    schema = tc.Schema({"x": tc.Real(0, 60), "g": tc.Category(["a", "b", "c"], ordered=True)})
    curator = tc.Curator(table, schema, budget=tc.Budget(rho=10))
    mean = curator.release(tc.Mean("x", by="g"), rho=5).estimate()
    halves = curator.release(tc.Quantiles("x", [0.25, 0.5]), rho=1).estimate()
    line = curator.release(tc.Regression("x ~ g"), rho=4).estimate()
    shares = cells.cdf("delay")
    for one in (mean, halves, line, shares):
        assert list(one) == list(one.terms)
        assert [float(one[term].value) for term in one] == pytest.approx(list(one.values))
    assert "a" in mean
    assert "d" not in mean
    for one, asked, hint in ((shares, int(shares.terms[0]), f'["{shares.terms[0]}"]'), (halves, 0.5, '["0.5"]')):
        with pytest.raises(InferenceError, match="I02") as refused:
            one[asked]  # pyright: ignore
        assert refused.value.hint == hint
    # the level in the middle has no weight in the slope, and is one of its levels
    assert "slope by g over 3 of its levels" in str(mean.trend())
    assert "slope by g over 2 of its levels" in str(mean.trend(by="g", scores={"a": 0, "c": 1}))


def test_whole_numbers_of_few_values_are_grouped_as_the_error_says() -> None:
    """Its example had one edge three times: [2_020, 2_020, 2_020, 2_023]."""
    table = {"year": np.arange(400) % 4 + 2020, "x": np.arange(400.0)}
    curator = tc.Curator(
        table, tc.Schema({"year": tc.Integer(2020, 2023), "x": tc.Real(0, 400)}), budget=tc.Budget(rho=9)
    )
    with pytest.raises(QueryError, match="Q13") as refused:
        curator.release(tc.Mean("x", by="year"), rho=1)
    assert str(refused.value.hint).startswith('bins={"year": 4}')
    assert len(curator.release(tc.Mean("x", by="year", bins={"year": 4}), rho=1).estimate().terms) == 4
