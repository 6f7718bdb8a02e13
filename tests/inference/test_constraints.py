"""Linear constraints in words: signs, exponents, chains, labels; and what a contrast says of its errors."""

from __future__ import annotations

import numpy as np
import pytest

import tacit as tc
from tacit.errors import InferenceError
from tacit.estimates.verbs.constraints import matrix_of

TERMS = ("Intercept", "x1", "x2", "sex[T.m]", "north:female", "x1:x2")


@pytest.mark.parametrize(
    ("text", "rows"),
    [
        ("x2 = -0.36", [([0, 0, 1, 0, 0, 0], -0.36)]),
        ("x2 = 1e-05", [([0, 0, 1, 0, 0, 0], 1e-05)]),
        ("x2 - 1E-3", [([0, 0, 1, 0, 0, 0], 1e-3)]),
        ("x2 == +1.5e2", [([0, 0, 1, 0, 0, 0], 150)]),
        ("-x2 = - -.3", [([0, 0, -1, 0, 0, 0], 0.3)]),
        ("x1 - 2 * x2 = 3", [([0, 1, -2, 0, 0, 0], 3)]),
        ("(x1 + x2) / 2 - (1 - 3) = x2*4", [([0, 0.5, -3.5, 0, 0, 0], -2)]),
        ("x1 = 0, x2 = -0.36", [([0, 1, 0, 0, 0, 0], 0), ([0, 0, 1, 0, 0, 0], -0.36)]),
        ("x1 = x2 = 0", [([0, 1, -1, 0, 0, 0], 0), ([0, 0, 1, 0, 0, 0], 0)]),
        ("`sex[T.m]` = -1", [([0, 0, 0, 1, 0, 0], -1)]),
        ("sex[T.m] - `north:female`", [([0, 0, 0, 1, -1, 0], 0)]),
        ("x1:x2 + x1", [([0, 1, 0, 0, 0, 1], 0)]),
    ],
)
def test_constraints_are_read_as_they_are_meant(text: str, rows: list[tuple[list[float], float]]) -> None:
    matrix, values = matrix_of(TERMS, text)
    np.testing.assert_allclose(matrix, [row for row, _ in rows])
    np.testing.assert_allclose(values, [value for _, value in rows])


@pytest.mark.parametrize(
    ("text", "code"),
    [
        *((text, "I03") for text in ("", "x1 =", "= 0", "x1 x2", "x1,", "(x1", "x1)", "1 = 1", "x1 * x2", "1 / x1")),
        *(
            (text, "I03")
            for text in ("x1 / 0", "x1 = 1e999", "x1 = 1_0", "`x1", "x1 < 2", "x1 = 2x", "x1 @ 2", "0 * x1")
        ),
        *((text, "I02") for text in ("x3 = 0", "`x 1` = 0", "x22 = 1", "e5")),
        *((text, "I03") for text in ("-" * 9_999 + "x1 *", "(" * 5_000 + "x1" + ")" * 5_000, "x1 + " * 5_000 + "x1")),
        *((text, "I03") for text in (3, None, ["x1"], np.ones(2))),
    ],
    ids=lambda value: str(value)[:20],
)
def test_what_is_no_constraint(text: object, code: str) -> None:
    with pytest.raises(InferenceError) as refused:
        matrix_of(TERMS, text)
    assert refused.value.code == code


def test_against_brute_force() -> None:
    """Random sums: the constraint holds at a point exactly where Python finds both sides equal there."""
    rng = np.random.default_rng(0)
    for _ in range(200):
        a, b, c = (float(x) for x in rng.normal(0, 10.0 ** rng.integers(-6, 6), 3))
        text = f"{a!r} * x1 - ({b!r} - x2) / 4 = {c!r} + 2 * x1"
        matrix, values = matrix_of(("x1", "x2"), text)
        x1, x2 = rng.normal(size=2)
        gap = (a * x1 - (b - x2) / 4) - (c + 2 * x1)
        assert float(matrix[0] @ [x1, x2] - values[0]) == pytest.approx(gap, rel=1e-9, abs=1e-9)


SCHEMA = tc.Schema(
    {
        "who": tc.PrivacyUnit(2),
        "age": tc.Real(0, 100),
        "pay": tc.Real(0, 9),
        "w": tc.Real(0, 5),
        "g": tc.Category(["a", "b"]),
    }
)
KNOWN, ADDED = "one joint release: the covariance is known", "sampling standard errors are added, an upper bound"


def curator(schema: tc.Schema = SCHEMA, name: str = "people") -> tc.Curator:
    rng = np.random.default_rng(0)
    rows = {"who": np.arange(400), "age": rng.uniform(0, 100, 400), "pay": rng.uniform(0, 9, 400)}
    rows |= {"w": rng.uniform(0, 5, 400), "g": np.array(["a", "b"])[rng.integers(0, 2, 400)]}
    return tc.Curator(rows, schema, name=name, budget=tc.Budget(rho=9))


def test_a_contrast_says_that_errors_are_added_only_where_they_are() -> None:
    plain = tc.Schema({name: column for name, column in SCHEMA.items() if name != "who"})
    asked = curator(plain)
    both = asked.release(tc.Mean(["age", "pay"], by="g"), rho=1).estimate()
    inside, across = both.contrast("`age:a` - `age:b`"), both.contrast("`age:a` - `pay:b`")
    assert inside.notes[-1] == KNOWN
    assert across.notes[-1] == f"columns of the same people: their {ADDED}"
    # what is said is what is computed
    apart = np.sqrt([both["age:a"].sampling_variances[0], both["pay:b"].sampling_variances[0]])
    assert np.sqrt(across.sampling_variances[0]) == pytest.approx(apart.sum())
    table = both.release.estimate(target="table").contrast("`age:a` - `pay:b`")
    assert (table.notes[-1], float(table.sampling_variances[0])) == (
        "only the noise is uncertain, and its joint law is known",
        0,
    )
    assert tc.difference(both["age:a"], both["age:b"]).notes == (KNOWN,)
    assert tc.difference(both["age:a"], both["pay:a"]).notes == (f"columns of the same people: their {ADDED}",)
    again = asked.release(tc.Mean("age"), rho=1).estimate()
    gap = tc.difference(both["age:a"], again)
    assert gap.notes == (f"the same people in different releases: {ADDED}",)
    assert gap.contrast("2 * `age:a - age`").notes[-1] == f"the same people in different releases: {ADDED}"
    other = curator(plain, "others").release(tc.Mean("age"), rho=1).estimate()
    assert "independent" in tc.difference(again, other).notes[0]
    assert both["age"].pairwise().estimate.notes[-1] == KNOWN


def test_weighted_persons_may_be_in_several_groups_only_where_there_are_several() -> None:
    found = curator().release(tc.Mean("age", by="g", weights="w"), rho=1).estimate()
    assert found.contrast("a - b").notes[-1] == f"weighted persons may be in several groups: {ADDED}"
    assert found.contrast("2 * a").notes[-1] == KNOWN
