"""Arguments of a wrong type are errors of Tacit: no error of Python, no cell in a message, nothing spent."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import tacit as tc
from tacit.families import Gamma
from tacit.release import registry

SECRET = 77.125
"""A cell; no message may hold its digits."""
ROWS = pd.DataFrame({"age": [SECRET, 40.0, 50.0] * 20, "sex": ["f", "m", "m"] * 20, "w": [1.0, 2.0, 3.0] * 20})
SCHEMA = tc.Schema({"age": tc.Real(18, 93), "sex": tc.Category(["f", "m"]), "w": tc.Real(0, 9)})
GAMMA = Gamma(shape=(0.5, 5), rate=(0.01, 1))
QUESTIONS: dict[str, dict[str, Any]] = {
    "Additive": {"statistic": "capped", "expressions": ("clip(age, 0, 65)",)},
    "Bootstrap": {"statistic": tc.Mean("age")},
    "Count": {"by": "sex"},
    "DataQuality": {"columns": "age"},
    "ExponentialMechanism": {"columns": "sex"},
    "Histogram": {"columns": "sex"},
    "KSDataset": {"column": "age"},
    "Bernstein": {"column": "age"},
    "KernelDensity": {"columns": "age"},
    "Mean": {"columns": "age"},
    "OrthogonalSeries": {"columns": "age"},
    "Quantiles": {"column": "age", "probs": 0.5},
    "Range": {"column": "age"},
    "Regression": {"formula": "age ~ sex"},
    "RiskFunction": {"outcome": "sex", "on": "age"},
    "SampleAndAggregate": {"what": "age", "model": GAMMA},
    "SufficientStatistics": {"what": "age", "family": GAMMA},
    "Sum": {"columns": "age"},
    "UnlistedLevels": {"column": "age"},
    "Variance": {"columns": "age"},
}


def strange() -> Iterator[tuple[str, Any]]:
    """Values that are no argument of a question, by name."""
    column = ROWS["age"]
    yield from {
        "mask": column > 45,
        "column": column,
        "array": column.to_numpy(),
        "matrix": ROWS[["age", "w"]].to_numpy(),
        "frame": ROWS,
        "polars": pl.Series(column.to_list()),
        "arrow": pa.array(column),
        "list": column.to_list(),
        "mask list": (column > 45).to_list(),
        "set": set(column),
        "dict": dict(column.items()),
        "dict of columns": {"age": column},
        "dict of lists": {"age": column.to_list()},
        "dict of frames": {"age": ROWS},
        "cell": SECRET,
        "numpy cell": np.float64(SECRET),
        "nan": float("nan"),
        "large": 10**5_000,
        "negative": -1,
        "bytes": b"age",
        "object": object(),
        "class": tc.Mean,
        "query": tc.Mean("age"),
        "function": len,
        "lambda": lambda row: row,
        "generator": (cell for cell in column),
        "nested": [[[SECRET]]],
        "tuple": (SECRET, None),
        "half a character": "\ud800",
        "empty": "",
        "line": "age\n> 3",
        "true": True,
    }.items()


STRANGE = dict(strange())
MAY_BE_SHOWN = ("cell", "numpy cell", "tuple")
"""One number, or a few, where numbers belong are named: they are parameters, as far as anybody can tell."""


def tried(make: Callable[[], object]) -> tc.TacitError | None:
    """Return the error of Tacit that a call raises, None where there is none; any other error fails the test."""
    try:
        make()
    except tc.TacitError as error:
        return error
    return None


def test_every_question_is_tried() -> None:
    assert set(QUESTIONS) == set(registry.QUERIES)


@pytest.mark.parametrize("kind", sorted(QUESTIONS))
def test_strange_arguments_of_a_question(kind: str) -> None:
    made = registry.query_class(kind)
    # no other price buys a bootstrap
    price: dict[str, Any] = {"epsilon": 0.5} | ({"delta": 1e-7} if kind == "Bootstrap" else {})
    curator = tc.Curator(ROWS, SCHEMA, budget=tc.Budget(**price))
    for name in inspect.signature(made).parameters:
        for what, value in STRANGE.items():

            def ask(name: str = name, value: Any = value) -> None:
                # designed, as before any charge: what the schema does not admit is refused here
                curator.design(made(**{**QUESTIONS[kind], name: value}), tc.Cost.of(**price))

            error = tried(ask)
            if error is not None and what not in MAY_BE_SHOWN:
                assert str(SECRET) not in str(error), (kind, name, what, error)
                assert error.__cause__ is None
                assert error.__suppress_context__ or error.__context__ is None, (kind, name, what)
    assert curator.spent == type(curator.spent)()


@pytest.mark.parametrize("kind", sorted(QUESTIONS))
def test_arguments_that_a_question_does_not_have(kind: str) -> None:
    made, words = registry.query_class(kind), QUESTIONS[kind]
    cases = [
        (lambda: made(**words, groupby="sex"), "Q05"),
        (lambda: made(*[None] * 20), "Q05"),
        (lambda: made(next(iter(words.values())), **words), "Q05"),
    ]
    cases += [(lambda: made(), "Q03")] if made.needed else []
    for make, code in cases:
        error = tried(make)
        assert error is not None
        assert (error.code, bool(error.hint)) == (code, True)


def test_the_fix_is_named() -> None:
    for make, hint in (
        (lambda: tc.Mean("age", groupby="sex"), "by=…"),  # type: ignore[call-arg]
        (lambda: tc.Quantiles("age", q=[0.5]), "probs=…"),  # type: ignore[call-arg]
        (lambda: tc.Mean(column="age"), "columns=…"),  # type: ignore[call-arg]
        (lambda: tc.Mean("age", bounds=(0, 9)), 'bounds stand in the schema: "fare": Real(0, 100)'),  # type: ignore[call-arg]
        (
            lambda: tc.Mean("age", epsilon=1),  # type: ignore[call-arg]
            "the price stands beside it: release(question, epsilon=1)",
        ),
        (lambda: tc.Curator(ROWS, SCHEMA, epsilon=1), "budget=…"),  # type: ignore[call-arg]
        (lambda: tc.Budget(eps=1), "epsilon=…"),  # type: ignore[call-arg]
        (lambda: tc.Budget(1.0), "epsilon=… by name"),  # type: ignore[misc]
        (lambda: tc.Mean("age", wher="age > 3"), "where=…"),  # type: ignore[call-arg]
        (lambda: tc.Mean(), "columns=…"),  # type: ignore[call-arg]
        (lambda: tc.Mean("age", where=ROWS["age"] > 3), 'where="age >= 18", in words'),  # type: ignore[arg-type]
    ):
        error = tried(make)
        assert error is not None
        assert error.hint == hint
    assert str(inspect.signature(tc.Range)).startswith("(column: 'str', outside")


def test_strange_arguments_of_a_curator() -> None:
    def curator(**words: Any) -> tc.Curator:
        return tc.Curator(**{"data": ROWS, "schema": SCHEMA, "budget": tc.Budget(rho=1), **words})

    for name in inspect.signature(tc.Curator).parameters:
        for what, value in STRANGE.items():
            if (name, what) in {("ledger", "half a character"), ("ledger", "line"), ("ledger", "empty")}:
                continue  # paths, which tests of ledgers try
            error = tried(lambda name=name, value=value: curator(**{name: value}))
            assert error is None or what in MAY_BE_SHOWN or str(SECRET) not in str(error), (name, what, error)
    for make, code, hint in (
        (lambda: curator(budget=1.0), "B16", "budget=tc.Budget(epsilon=1.0)"),
        (lambda: curator(budjet=1), "B18", "budget=…"),
        (lambda: curator(name=3), "L20", 'name="lfs-2024"'),
        (lambda: tc.Curator(), "B18", "data=…, schema=…"),  # type: ignore[call-arg]
    ):
        error = tried(make)
        assert error is not None
        assert (error.code, error.hint) == (code, hint)


def test_strange_arguments_of_a_release_and_a_plan() -> None:
    curator = tc.Curator(ROWS, SCHEMA, budget=tc.Budget(rho=1))
    for call in (curator.release, curator.plan):
        for error in (
            tried(lambda call=call: call("fare", rho=0.1)),
            tried(lambda call=call: call({"fare": "fare"}, rho=0.1)),
            tried(lambda call=call: call({3: tc.Mean("age")}, rho=0.1)),
        ):
            assert error is not None
            assert error.code == "Q04"
        error = tried(lambda call=call: call(tc.Mean("age"), eps=0.1))
        assert error is not None
        assert (error.code, error.hint) == ("Q05", "epsilon=…")
        for name in inspect.signature(call).parameters:
            for what, value in STRANGE.items():
                if (name, what) in {("query", "query"), ("name", "line"), ("name", "empty"), ("fresh", "true")}:
                    continue  # these are answered
                if name in ("note", "fresh") and call == curator.release:
                    continue  # notes of any text; see below for what is none
                words = {"query": tc.Mean("age"), "rho": 0.1} if name != "rho" else {"query": tc.Mean("age")}
                error = tried(lambda call=call, words=words, name=name, value=value: call(**{**words, name: value}))
                assert error is None or what in MAY_BE_SHOWN or str(SECRET) not in str(error), (name, what, error)
    for note in (ROWS["age"], 3, None):
        error = tried(lambda note=note: curator.release(tc.Mean("age"), rho=0.1, note=note))  # type: ignore[arg-type]
        assert error is not None
        assert str(SECRET) not in str(error)


def test_a_mask_repeats_no_cell_and_spends_nothing() -> None:
    curator = tc.Curator(ROWS, SCHEMA, budget=tc.Budget(rho=1))
    for mask in (ROWS["age"] > 45, (ROWS["age"] > 45).to_numpy(), (ROWS["age"] > 45).to_list(), ROWS.query("age > 45")):
        error = tried(lambda mask=mask: curator.release(tc.Mean("age", where=mask), rho=0.1))
        assert error is not None
        assert error.code in ("Q06", "Q60")
        assert not any(word in str(error) for word in ("True", "False", str(SECRET), "dtype"))
    assert str(curator.spent) == "nothing"
