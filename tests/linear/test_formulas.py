"""Formulas of regressions: the grammar, what it refuses, and the columns of formulaic."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from formulaic import model_matrix

import tacit as tc
from tacit.errors import QueryError
from tacit.method.regression.formulas.formula import canonical, parse
from tacit.privacy import Cost
from tacit.rows.coordinates import H
from tacit.testing.simulated_regressions import rows_of

SCHEMA = tc.Schema(
    {
        "y": tc.Real(-5, 10),
        "a": tc.Real(0, 4),
        "b": tc.Integer(-3, 9),
        "m": tc.Boolean(),
        "s": tc.Category(["f", "g"]),
        "r": tc.Category(["north", "east", "south"]),
        "q": tc.Category({1: "one", 2: "two", 3: "three", 4: "four"}),
    }
)


@pytest.mark.parametrize(
    ("text", "one"),
    [
        ("y~a", "y ~ a"),
        ("y ~ a * b * c", "y ~ a + b + c + a:b + a:c + b:c + a:b:c"),
        ("y ~ (a + b):c - 1", "y ~ 0 + a:c + b:c"),
        ("y ~ 0 + a", "y ~ 0 + a"),
        ("y ~ -1 + a", "y ~ 0 + a"),
        ("y ~ a - 0", "y ~ a"),
        ("y ~ a + b - a", "y ~ b"),
        ("y ~ a:a + a", "y ~ a"),
        ("y ~ b:a + a:b", "y ~ b:a"),
        ("y ~ a * (b:c)", "y ~ a + b:c + a:b:c"),
        ("`log y` ~ I(x**2) + x + `a b`*C(s)", "`log y` ~ I(x ** 2) + x + `a b` + C(s) + `a b`:C(s)"),
        ("y ~ 1", "y ~ 1"),
        ("C ~ I", "`C` ~ `I`"),
        ("log ~ cut + year", "log ~ cut + year"),
        ("log( y/1000 )~sqrt(a)+a", "log(y / 1000) ~ sqrt(a) + a"),
        ("y ~ I(log(a)) + I((a))", "y ~ log(a) + a"),
        (
            "y ~ I(a**2) + I(log(a)**2) + I((a/b)**3) + I(a**4)",
            "y ~ I(a ** 2) + I(log(a) ** 2) + I((a / b) ** 3) + I(a ** 4)",
        ),
        ("y ~ I( (a + b)/2 )*s", "y ~ I((a + b) / 2) + s + I((a + b) / 2):s"),
        ("y ~ log(`a b`) + cut(a,[1,2]) - log(`a b`)", "y ~ cut(a, [1, 2])"),
        ('y ~ I(a>=65 and s=="f")', "y ~ I(a >= 65 and s == 'f')"),
        ('I(y**2) ~ recode(s,{"f":"x)"})', "I(y ** 2) ~ recode(s, {'f': 'x)'})"),
        ("y ~ I(class ** 2) + I(a.isna())", "y ~ I(class ** 2) + I(a.isna())"),
        ("y ~ year(d):log(a)", "y ~ year(d):log(a)"),
    ],
)
def test_a_formula_has_one_spelling(text: str, one: str) -> None:
    assert canonical(parse(text)) == one
    assert parse(one) == parse(text)


@pytest.mark.parametrize(
    "text",
    [
        *("", "y", "~ a", "y ~", "y ~ a +", "y ~ (a", "y ~ a)", "y ~ 2", "y ~ a ** 2", "y ~ exp(a)", "y ~ I(a**5)"),
        *("y ~ log(a", "y ~ log()", "y ~ log(2)", "y ~ log(a, b)", "y ~ C(log(a))", "y ~ C(a**2)", "y ~ I(a.b)"),
        *("y ~ I(log)(a)", "y ~ I(__import__('os') > 1)", "C(y) ~ a", "y ~ I(a ~ b)", "y ~ I()", "log(a) ~ log(a)"),
        *("y ~ log(a) log(b)", "y ~ log(a))", "log(y) + a ~ b", "y ~ cut(a)", "y ~ I(-a)", "y ~ 0:log(a)"),
        *("y ~ __import__('os').system('true')", "y ~ a[0]", "y ~ a.b", "y ~ a | b", "y + z ~ a", "y ~ y", "y ~ 0"),
        *("y ~ a ~ b", "y ~ `a", "y ~ 0:a", "y ~ a:b:c:d", "y ~ " + "(" * 30 + "a" + ")" * 30, "y ~ a" + " + a" * 900),
        *("y ~ " + " + ".join(f"x{i}" for i in range(80)), 3, None, ["y ~ a"], "y ~ a\n+ b;"),
    ],
)
def test_what_is_no_formula_is_refused_and_not_run(text: Any) -> None:
    with pytest.raises(QueryError) as caught:
        parse(text)
    assert caught.value.code == "Q85"


def table(rows: int = 300) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(0)
    return {
        "y": rng.uniform(-5, 10, rows),
        "a": rng.uniform(0, 4, rows),
        "b": rng.integers(-3, 10, rows).astype(float),
        "m": rng.random(rows) < 0.5,
        "s": rng.choice(["f", "g"], rows),
        "r": rng.choice(["north", "east", "south"], rows),
        "q": rng.integers(1, 5, rows),
    }


@pytest.mark.parametrize(
    "formula",
    [
        *("y ~ a + b + m + s + r + q", "y ~ a*b", "y ~ a*r + m:a + m", "y ~ r*s", "y ~ r*q", "y ~ 0 + r + a + q"),
        *("y ~ I(a**2) + a + b", "y ~ C(q)*a", "y ~ a:b", "y ~ a*m*b", "y ~ b - 1", "m ~ a + r", "y ~ I(b**3) + b"),
        *("y ~ s - 1", "y ~ a*I(b**2)", "y ~ 1"),
    ],
)
def test_names_and_columns_are_those_of_formulaic(formula: str) -> None:
    data = table()
    frame = pd.DataFrame(data)
    frame["s"], frame["r"] = (pd.Categorical(frame[k], list(SCHEMA[k].labels)) for k in ("s", "r"))
    frame["q"] = pd.Categorical.from_codes(frame["q"] - 1, list(SCHEMA["q"].labels))
    frame["m"] = frame["m"].astype(float)
    expected = model_matrix(formula.replace(" - 1", " - 1"), frame)
    made = rows_of(tc.Regression(formula), data, SCHEMA, Cost.of(rho=1))
    assert list(made.layout.names) == list(expected.rhs.columns)
    found = (made.z / H) @ made.layout.terms.T
    wanted = np.column_stack([expected.rhs, expected.lhs]).astype(float)
    step = np.abs(wanted).max(axis=0) / 2**9  # a place on the grid, and products of up to three of them
    assert (np.abs(found - wanted) <= 3 * step).all()
    assert (np.abs(made.z) <= np.array(made.layout.bounds)).all()


@pytest.mark.parametrize(
    ("formula", "code"),
    [
        ("r ~ a", "Q86"),
        ("y ~ a:r", "Q86"),
        ("y ~ r:s", "Q86"),
        ("y ~ 0 + r:a", "Q86"),
        ("y ~ C(a)", "Q86"),
        ("y ~ I(r**2)", "Q86"),
        ("y ~ z", "Q10"),
        ("y ~ r*q*s*a*b", "Q85"),
        ("y ~ r*q*a + I(a**2)*r*q", "Q85"),
        ("y ~ r*q*(a + b + m + I(a**2))", "Q85"),
        ("y ~ r*q*a + r*q*b + r*q*m + q*s*a + q*s*b + r*s*a", "Q89"),
    ],
)
def test_columns_that_cannot_take_part(formula: str, code: str) -> None:
    with pytest.raises(QueryError) as caught:
        tc.plan(tc.Regression(formula), SCHEMA, rows=1_000, rho=1)
    assert caught.value.code == code, caught.value


def test_functions_of_libraries_are_named_without_them() -> None:
    with pytest.raises(QueryError) as refused:
        parse("np.log(fare) ~ distance + math.sqrt(tip)")
    assert refused.value.hint == "'log(fare) ~ distance + sqrt(tip)': functions stand without the name of a library"
