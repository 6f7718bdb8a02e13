"""The contract suite on every query of this version, for both relations and both kinds of noise."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import polars as pl
import pytest

import tacit as tc
from tacit.curator.mechanisms import design, integers
from tacit.method.shared import encoding as moment_forms
from tacit.method.shared.measurement import Measurement, Public
from tacit.method.shared.mechanism_additive import protect
from tacit.noise.laws import DiscreteLaplace
from tacit.source import open_source
from tacit.testing.contract import contract
from tacit.testing.exact_integers import Exact
from tacit.testing.findings import PRICES, RELATIONS
from tacit.testing.neighbouring_tables import Relation, arrow_table, pairs, persons

SCHEMA = tc.Schema(
    {
        "age": tc.Real(0, 100),
        "educ": tc.Integer(1, 16, missing=9),
        "sex": tc.Category(["f", "m"]),
        "married": tc.Boolean(),
    }
)
QUERIES = [
    tc.Mean("age"),
    tc.Mean("educ"),
    tc.Mean("married"),
    tc.Mean(["age", "married"], by="sex"),
    tc.Sum("age"),
    tc.Sum("educ", by="sex"),
    tc.Variance("age"),
    tc.Variance("educ", by="sex"),
    tc.Count(by="sex"),
    tc.Count(),
    tc.Variance("educ", interval=False),
]


@pytest.mark.sample(3)
@pytest.mark.parametrize("query", QUERIES, ids=str)
def test_contract(query: tc.Query) -> None:
    found = contract(query, SCHEMA, tables=36, draws=40_000)
    assert found.passed
    assert found.findings


@pytest.mark.sample(2)
@pytest.mark.parametrize("relation", RELATIONS)
def test_the_integers_of_the_suite_are_those_of_a_curator(relation: Relation) -> None:
    """Rows exchanged under one plan, parts of two prices added up at once: the same as each on its own."""
    schema = tc.Schema({"who": tc.PrivacyUnit(3), **SCHEMA})
    for query in (tc.Variance("age"), tc.Mean(["educ", "married"], by="sex", where="age > 50"), tc.DataQuality("age")):

        def made(size: int | None, query: tc.Query = query) -> tuple[Measurement, ...]:
            rows = size if relation == "replace-one" else None
            return tuple(design(query, Public(schema, relation, rows), price) for price in PRICES)

        exact = Exact(schema, relation, made)
        for pair in pairs(schema, relation, 3, np.random.default_rng(0)):
            for rows in (pair.one, pair.other, ()):
                table = pl.from_arrow(arrow_table(schema, rows))
                alone = [integers(shape, open_source(table)) for shape in made(persons(schema, rows))]
                for files in (True, False):
                    assert [tuple(found) for found in exact.integers(rows, files=files)] == alone


def test_the_suite_notices_a_sensitivity_that_is_too_small(monkeypatch: pytest.MonkeyPatch) -> None:
    """A form whose declared l1 is halved must fail (a): the suite has teeth."""
    right = moment_forms.plain

    def halved(G: int, noise: moment_forms.Noise) -> moment_forms.Encoding:
        from dataclasses import replace

        form = right(G, noise)
        return replace(form, l1=form.l1 // 2, l2_squared=form.l2_squared // 4)

    monkeypatch.setattr(moment_forms, "plain", halved)
    with pytest.raises(AssertionError):
        contract(tc.Mean("educ"), SCHEMA, tables=36, draws=40_000)


def test_the_suite_notices_over_noising(monkeypatch: pytest.MonkeyPatch) -> None:
    right = moment_forms.plain

    def doubled(G: int, noise: moment_forms.Noise) -> moment_forms.Encoding:
        from dataclasses import replace

        form = right(G, noise)
        return replace(form, l1=form.l1 * 2, l2_squared=form.l2_squared * 4)

    monkeypatch.setattr(moment_forms, "plain", doubled)
    with pytest.raises(AssertionError, match="rows reach"):
        contract(tc.Mean("educ"), SCHEMA, tables=36, draws=40_000)


def test_integers_of_a_release_have_noise_of_their_own() -> None:
    """Of 60 draws of this width two are alike with probability below 60**2 / 2 / 10**12 < 2e-9."""
    noisy = protect(tuple((0,) * 3 for _ in range(20)), DiscreteLaplace(Fraction(10**12)))
    assert [len(cell) for cell in noisy] == [3] * 20
    assert len({one for cell in noisy for one in cell}) == 60
