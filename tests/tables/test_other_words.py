"""Words of R, Stata, statsmodels and pandas on results, curators and the package: errors say what they are here."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import numpy as np
import pytest

import tacit as tc
from tacit.base.other_words import SURVIVAL, WORDS, asked_of, knows_other_words
from tacit.errors import InferenceError

SCHEMA = tc.Schema({"age": tc.Real(18, 93), "sex": tc.Category(["f", "m"]), "ok": tc.Boolean()})


@pytest.fixture(name="owner", scope="module")
def a_curator() -> tc.Curator:
    rng = np.random.default_rng(0)
    table = {"age": rng.uniform(18, 93, 2_000), "sex": ["f", "m"] * 1_000, "ok": rng.random(2_000) < 0.4}
    return tc.Curator(table, SCHEMA, budget=tc.Budget(rho=20))


@pytest.fixture(name="found", scope="module")
def results(owner: tc.Curator) -> dict[str, Any]:
    cells = owner.release(tc.Histogram(["age", "sex", "ok"], bins={"age": 10}), rho=2)
    release = owner.release(tc.Mean("ok", by="sex"), rho=1)
    quantiles = owner.release(tc.Quantiles("age", [0.5], by="sex"), rho=1)
    return {
        "curator": owner,
        "release": release,
        "estimate": release.estimate(),
        "quantiles": quantiles.estimate(),
        "cells": cells,
        "survival": cells.survival("age", "ok", by="sex"),
        "model": cells.fit("ok ~ age + sex", model="logistic"),
        "table": release.summary(),
    }


CASES = [
    ("estimate", "confint", ".conf_int(0.95)"),
    ("estimate", "params", ".value"),
    ("estimate", "bse", ".std_error"),
    ("estimate", "vcov", ".cov"),
    ("estimate", "to_csv", '.to_frame().to_csv("table.csv")'),
    ("estimate", "risk_ratio", '.ratio("a", "b")'),
    ("estimate", "difference", '.contrast("`a` - `b`")'),
    ("estimate", "pvalues", '.test("a = b").p_value'),
    ("release", "value", ".estimate().value"),
    ("release", "conf_int", ".estimate().conf_int"),
    ("release", "coef", ".estimate().value"),
    ("quantiles", "std_error", ".conf_int(0.95): it has intervals, and no standard error"),
    ("quantiles", "contrast", 'tc.difference(one["a"], one["b"])'),
    ("cells", "median", '.quantiles("age", [0.5])'),
    ("model", "rsquared", ".criteria"),
    ("model", "odds_ratios", ".summary(exponentiate=True)"),
    ("model", "resid", "none: residuals would be rows"),
    ("survival", "at", 'none: one["12"] is the share after 12'),
    ("survival", "predict", 'none: one["12"] is the share after 12'),
    ("survival", "contrast", "none: curves of groups are compared by the release, .logrank("),
    ("survival", "hazard_ratio", "none: curves of groups are compared by the release, .logrank("),
    ("survival", "median_survival_time_", ".median()"),
    ("survival", "confint", ".conf_int(0.95)"),
    ("curator", "mean", '.release(tc.Mean("age"), rho=0.1)'),
    ("curator", "budget_left", ".remaining"),
    ("curator", "data", ".schema; rows stay where they are"),
]


@pytest.mark.parametrize(("which", "word", "here"), CASES, ids=[f"{a}-{b}" for a, b, _ in CASES])
def test_a_word_of_another_library_is_told(found: dict[str, Any], which: str, word: str, here: str) -> None:
    with pytest.raises(AttributeError) as refused:
        getattr(found[which], word)
    assert f"has no attribute {word!r}: here it is {here}" in str(refused.value)


def test_what_is_told_exists(found: dict[str, Any]) -> None:
    """Of every word, on every result: the attribute that the error names is there."""
    for one in found.values():
        for word in {**WORDS, **SURVIVAL}:
            if hasattr(type(one), word):
                continue
            said = asked_of(type(one), word)
            if not said or "none:" in said or "tc." in said:
                continue
            name = said.removeprefix(": here it is .").split("(")[0].split(",")[0].split(":")[0].split(";")[0]
            assert hasattr(one, name.split(".")[0]), (type(one), word, said)


def test_unknown_words_are_errors_as_ever(found: dict[str, Any]) -> None:
    for one in found.values():
        with pytest.raises(AttributeError, match=r"has no attribute 'spam'$"):
            _ = one.spam
        assert not hasattr(one, "_ipython_display_")
    for name in ("estimate", "release", "table"):
        assert copy.copy(found[name]) == found[name]
    assert pickle.loads(pickle.dumps(found["release"])) == found["release"]


def test_an_error_within_a_property_keeps_its_words() -> None:
    @knows_other_words
    class Broken:
        @property
        def value(self) -> float:
            raise AttributeError("its own words")

    with pytest.raises(AttributeError, match="its own words"):
        _ = Broken().value


@pytest.mark.parametrize(
    ("which", "call", "hint"),
    [
        ("estimate", lambda one: one.conf_int(alpha=0.05), "level=0.95: the level itself, not its complement"),
        ("estimate", lambda one: one.conf_int(conf_level=0.9), "level=…"),
        ("model", lambda one: one.summary(alpha=0.1), "level=0.95: the level itself, not its complement"),
        ("estimate", lambda one: one.bootstrap(lambda m: m["f"], n=10), "draws=…"),
        ("model", lambda one: one.predict(age=20), "table=…"),
        (
            "cells",
            lambda one: one.survival("age", "ok", where="sex == 'f'"),
            'groups have by="sex"; where= stands in the question: Histogram(…, where="age >= 65")',
        ),
        ("cells", lambda one: one.moments("age", groupby="sex"), "by=…"),
        ("cells", lambda one: one.survival(), "time=…"),
        (
            "model",
            lambda one: one.contrast("age * 10").summary(exponentiate=True),
            "np.exp(…) of both ends; of all coefficients model.summary(exponentiate=True)",
        ),
    ],
)
def test_arguments_of_other_libraries_are_told(found: dict[str, Any], which: str, call: Any, hint: str) -> None:
    with pytest.raises(InferenceError) as refused:
        call(found[which])
    assert (refused.value.code, refused.value.hint) == ("I95", hint)
    assert "Nothing was read" not in str(refused.value)  # the release was paid for


def test_rows_to_predict_name_every_column(found: dict[str, Any]) -> None:
    model = found["model"]
    for rows, code, word in (
        ({"age": 20}, "I96", "'sex'"),
        ({"age": 20, "sex": "female"}, "I97", "'female' is no level of 'sex'"),
        ({"age": 20, "sex": 0}, "I97", "0 is no level of 'sex'"),
        ({"age": "old", "sex": "f"}, "I97", "'old' is no number of 'age'"),
    ):
        with pytest.raises(InferenceError, match=word) as refused:
            model.predict(rows)
        assert refused.value.code == code
    assert len(model.predict({"age": [20, 30], "sex": "f"}).terms) == 2


@pytest.mark.parametrize(
    ("word", "here"),
    [
        ("Prevalence", "computed="),
        ("CountDistinct", "tc.Count()"),
        ("load", "tc.Release.load"),
        ("Corr", "correlation"),
    ],
)
def test_words_of_the_package(word: str, here: str) -> None:
    with pytest.raises(AttributeError, match=f"here it is .*{here}"):
        getattr(tc, word)


def test_a_table_is_shown_as_it_is_printed(found: dict[str, Any], owner: tc.Curator) -> None:
    """At a prompt, not as the fields of a dataclass."""
    table = found["table"]
    assert repr(table) == str(table)
    several = owner.release({"a": tc.Mean("age"), "b": tc.Mean("ok")}, rho=0.1)
    assert repr(several).startswith("a\nMean of age")
    assert "\n\nb\nMean of ok" in repr(several)


def test_a_budget_is_shown_as_it_is_typed() -> None:
    pair = {"epsilon": 1, "delta": "1e-6"}
    for one in (
        tc.Budget(epsilon=1),
        tc.Budget(rho=0.5, neighbors="add-remove"),
        tc.Budget(**pair, accounting="basic"),  # type: ignore[arg-type]
        tc.Budget(**pair, reserved_delta="1e-7"),  # type: ignore[arg-type]
    ):
        assert eval(f"tc.{one!r}") == one
    assert repr(tc.Budget(epsilon=1)) == "Budget(epsilon=1)"


def test_odds_ratios_have_decimals_enough_to_tell_the_ends_apart() -> None:
    """A slope of 0.048 (0.044 to 0.053) was shown as an odds ratio of 1.05, from 1.05 to 1.05."""
    rng = np.random.default_rng(1)
    age = rng.uniform(18, 93, 20_000)
    table = {"age": age, "sex": ["f", "m"] * 10_000, "ok": rng.random(20_000) < 1 / (1 + np.exp(2.5 - 0.048 * age))}
    owner = tc.Curator(table, SCHEMA, budget=tc.Budget(rho=20))
    model = owner.release(tc.Regression("ok ~ age", model="logistic"), rho=5).estimate()
    ((_, ratio, interval, _),) = model.summary(exponentiate=True).rows
    low, high = map(float, str(interval).split(" to "))
    assert low < float(str(ratio)) < high
    exact = np.exp(model.conf_int().loc["age"])
    assert abs(high - low - (exact["upper"] - exact["lower"])) < 0.15 * (high - low)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (
            lambda owner: tc.plan(tc.Mean("age"), SCHEMA, rows=100, width="5%"),
            "[Q40] width is '5%': not a number above 0",
        ),  # type: ignore[arg-type]
        (lambda owner: tc.plan(tc.Mean("age"), SCHEMA, n=100, rho=1), "Hint: rows=…"),  # type: ignore[call-arg]
        (lambda owner: owner.raise_budget(rho=50), "[B18] raise_budget needs note"),
        (lambda owner: owner.limit("alice", rho=1), "[B18] limit needs note"),
        (lambda owner: SCHEMA.example(5, seed=0), "[S05] example has no argument 'seed'.  Hint: rng=…"),  # type: ignore[call-arg]
    ],
)
def test_what_was_a_type_error_of_python_says_the_fix(owner: tc.Curator, call: Any, words: str) -> None:
    with pytest.raises(tc.TacitError) as refused:
        call(owner)
    assert words in str(refused.value)


def test_stored_answers_are_listed_by_name() -> None:
    owner = tc.Curator({"age": [30.0, 40.0]}, tc.Schema({"age": tc.Real(0, 100)}), name="t", budget=tc.Budget(rho=1))
    assert repr(owner.releases) == "stored answers of t: none"
    owner.release(tc.Mean("age"), rho=0.1, name="age")
    assert repr(owner.releases) == "stored answers of t: age"
