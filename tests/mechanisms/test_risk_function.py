"""RiskFunction: sensitivity by all pairs, exact sums on every engine, the contract, and what is refused."""

from __future__ import annotations

import json
from itertools import product
from typing import Any

import numpy as np
import pytest
from refused_questions import refused_at_no_cost

import tacit as tc
from tacit.curator.mechanisms import design, integers
from tacit.errors import InferenceError, ReleaseError
from tacit.method.risk_function.encoding import G, apart, risk, table
from tacit.method.risk_function.linear_losses import loss_of
from tacit.method.risk_function.risk_cells import cells, few, values
from tacit.method.shared.measurement import Measurement, Public
from tacit.method.shared.weighted_encoding import SHARE
from tacit.privacy import Cost
from tacit.release.document import release_from_dict
from tacit.release.parts import Variable
from tacit.source import open_source
from tacit.testing.contract import contract
from tacit.testing.findings import RELATIONS
from tacit.testing.simulate import exact_integers

SCHEMA = tc.Schema(
    {
        "x": tc.Real(0, 1),
        "y": tc.Real(-2, 5, missing=0.5),
        "k": tc.Integer(0, 9),
        "d": tc.Date("2024-01-01", "2024-12-31"),
        "sex": tc.Category(["f", "m"]),
        "three": tc.Category(["a", "b", "c"]),
        "ok": tc.Boolean(missing=False),
        "free": tc.Real(),
    }
)
PERSONS = tc.Schema({"who": tc.PrivacyUnit(max_rows=3), "x": tc.Real(0, 1), "sex": tc.Category(["f", "m"])})
FEW = (Variable("s", "levels", labels=("f", "m")), Variable("k", "integer", 0, 3), Variable("b", "boolean"))
MANY = (Variable("v", "integer", -1, 2), Variable("k", "integer", 0, 4))


def rows(n: int = 300, seed: int = 0) -> dict[str, Any]:
    rng = np.random.default_rng(seed)
    x = rng.beta(2, 5, n)
    x[:6] = [np.nan, np.inf, -np.inf, 0.0, 1.0, 7.0]
    return {
        "x": x,
        "y": np.where(rng.random(n) < 0.1, np.nan, rng.normal(1, 2, n)),
        "k": rng.integers(0, 10, n),
        "d": np.datetime64("2024-01-01") + rng.integers(0, 366, n),
        "sex": rng.choice(["f", "m", "z"], n, p=[0.5, 0.4, 0.1]),
        "three": rng.choice(["a", "b", "c"], n),
        "ok": rng.random(n) < 0.4,
        "free": rng.normal(size=n),
    }


def shaped(query: tc.Query, relation: str = "replace-one", n: int = 300, **price: float) -> Measurement:
    public = Public(SCHEMA, relation, n if relation == "replace-one" else None)
    return design(query, public, Cost.of(**(price or {"rho": 1})))


@pytest.mark.parametrize(
    ("query", "schema"),
    [
        (tc.RiskFunction("sex", "x", degree=2), SCHEMA),
        *(
            pytest.param(*one, marks=pytest.mark.long)
            for one in (
                (tc.RiskFunction("ok", "y", degree=3), SCHEMA),
                (tc.RiskFunction("y", ["k", "ok"], "huber", box=1, degree=2, where="x > 0.5"), SCHEMA),
                (tc.RiskFunction("y", "d", "squared", box=1), SCHEMA),
                (tc.RiskFunction("sex", "x", "hinge", degree=2), PERSONS),
            )
        ),
    ],
    ids=lambda one: str(one) if isinstance(one, tc.Query) else "",
)
def test_contract(query: tc.Query, schema: tc.Schema) -> None:
    """Each noise law and each audit is wrong once in a million."""
    assert contract(query, schema, tables=6, draws=20_000).passed


@pytest.mark.parametrize(
    ("loss", "box", "variables"),
    [("logistic", 4.0, FEW), ("hinge", 0.5, FEW), ("squared", 1.5, MANY), ("huber", 2.0, MANY)],
)
def test_sensitivity_is_the_largest_over_all_pairs_of_rows(loss: str, box: float, variables: Any) -> None:
    """What rows add, one by one in Python integers, beside what the design declares, in both norms."""
    vectors = [tuple(int(x) for x in column) for column in table(loss, box, 2, variables).integers.T]
    for relation, leaves, noise in product(RELATIONS, (False, True), ("laplace", "gaussian")):
        form = risk(loss, box, 2, variables, relation, noise, leaves)
        presence = form.parameters["presence"]
        assert (presence > 0) == (leaves or relation == "add-remove")
        present = [(*one, *([presence] if presence else [])) for one in vectors]
        nothing = (0,) * len(present[0])
        pairs = [(one, nothing) for one in present]
        if relation == "replace-one":
            pairs = [(a, b) for a in present for b in present] + (pairs if leaves else [])
        changes = [[x - y for x, y in zip(a, b, strict=True)] for a, b in pairs]
        assert form.l1 == max(sum(map(abs, one)) for one in changes)
        assert form.l2_squared == max(sum(x * x for x in one) for one in changes)
        far = sum(map(abs, form.corner)) if noise == "laplace" else sum(x * x for x in form.corner)
        assert far == (form.l1 if noise == "laplace" else form.l2_squared)


def test_persons_add_up_to_one_row() -> None:
    """Weights divided at random among cells move the sums no further than a whole row does."""
    shape = design(tc.RiskFunction("sex", "x", degree=2), Public(PERSONS, "replace-one", 50), Cost.of(epsilon=1))
    (part,), rng = shape.columns, np.random.default_rng(1)
    integers = table("logistic", 4.0, 2, shape.variables).integers
    whole = np.vstack([integers, np.full(integers.shape[1], part.form.parameters["presence"])])
    ends = np.array([0, 1_023, 1_024, 2_047])
    found = [np.zeros(len(whole), dtype=np.int64)]
    for _ in range(300):
        share = rng.multinomial(SHARE, rng.dirichlet(np.full(5, 0.3)))[:4]
        found.append(whole[:, ends] @ share)
    made = np.array([*found, *(SHARE * whole[:, ends]).T])
    far = max(int(np.abs(made - one).sum(axis=1).max()) for one in made)
    assert part.form.parameters["share"] == SHARE
    assert far == part.form.l1


def test_losses_are_convex_and_table_values_are_those_of_the_loss() -> None:
    z = np.linspace(-3, 3, 601)
    for loss, y in product(("logistic", "hinge", "squared", "huber"), (-1.0, 1.0)):
        assert (np.diff(loss_of(loss, z, np.array(y)), 2) > -1e-12).all()
    made, (x, y) = table("logistic", 4.0, 3, FEW), cells(FEW)
    assert np.abs(made.integers).max() == G
    losses = loss_of("logistic", made.points @ x.T, y[None, :])
    assert np.abs(made.integers / made.unit + made.middles[:, None] - losses).max() <= 0.5 / made.unit + 1e-12
    assert apart(made.integers[:, :1]).d1[0] == 0
    assert values(Variable("d", "date", 10, 12), 64).tolist() == [-1.0, 0.5]
    real = (FEW[0], Variable("x", "real", 0, 1))
    assert len(cells(real)[1]) == 2_048
    kept = cells(real)[0][few(real)]
    assert (len(kept), kept.min(axis=0).tolist()) == (128, [1.0, -1 + 1 / 1_024])


@pytest.mark.parametrize(
    "query",
    [
        tc.RiskFunction("sex", "x", degree=2),
        tc.RiskFunction("y", ["k", "ok"], "huber", degree=2, where="sex == 'f'"),
        pytest.param(tc.RiskFunction("ok", "d", "hinge"), marks=pytest.mark.long),
    ],
    ids=str,
)
def test_sums_are_those_of_the_rows_on_every_engine(query: tc.RiskFunction) -> None:
    import polars as pl
    import pyarrow as pa

    data, shape = rows(), shaped(query)
    (part,) = shape.columns
    made, sizes = table(query.loss, query.box, query.steps, shape.variables).integers, [k.size for k in part.keys]
    total, present = np.zeros(len(made), dtype=np.int64), 0
    for i in range(300):
        at = []
        for key, name in zip(part.keys, (query.outcome, *query.on), strict=True):
            cell = data[name][i]
            if name == "sex":
                at.append({"f": 0, "m": 1}.get(str(cell)))
            else:
                at.append(
                    int(cell)
                    if name == "ok"
                    else key.index(float(cell.astype(int) if isinstance(cell, np.datetime64) else cell))
                )
        if None in at or (query.where is not None and data["sex"][i] != "f"):
            continue
        total += made[:, np.ravel_multi_index(at, sizes)]
        present += 1
    expected = [
        *total.tolist(),
        *([present * part.form.parameters["presence"]] if part.form.parameters["presence"] else []),
    ]
    assert exact_integers(shape, data)[0].tolist() == [expected]
    for source in (data, pa.table(data), pl.DataFrame(data)):
        assert integers(shape, open_source(source, SCHEMA))[0] == (tuple(expected),)


def test_documents_survive_and_others_are_refused() -> None:
    curator = tc.Curator(rows(), SCHEMA, budget=tc.Budget(rho=1))
    release = curator.release(tc.RiskFunction("sex", ["x", "k"], degree=2, where="ok"), rho=0.5)
    words = json.loads(json.dumps(release.to_dict()))
    assert release_from_dict(words) == release
    for name, value in (("presence", 1), ("degree", 3), ("G", 2**11)):
        wrong = json.loads(json.dumps(words))
        wrong["parts"][0]["parameters"][name] = value
        with pytest.raises(ReleaseError):
            release_from_dict(wrong)


@pytest.mark.parametrize(
    ("asked", "code"),
    [
        ({"on": "x", "loss": "absolute"}, "Q370"),
        ({"on": "x", "loss": None}, "Q370"),
        ({"on": "x", "box": 0}, "Q371"),
        ({"on": "x", "box": 21}, "Q371"),
        ({"on": "x", "box": float("nan")}, "Q371"),
        ({"on": "x", "box": True}, "Q371"),
        ({"on": "x", "degree": 1}, "Q372"),
        ({"on": "x", "degree": 9}, "Q372"),
        ({"on": ["x", "k"], "degree": 7}, "Q372"),
        ({"on": ["x", "k", "d"]}, "Q373"),
        ({"on": "sex"}, "Q373"),
        ({"on": []}, "Q373"),
        ({"on": ["x", "x"]}, "Q02"),
        ({"outcome": ["sex", "ok"], "on": "x"}, "Q03"),
        ({"outcome": "three", "on": "x"}, "Q374"),
        ({"outcome": "y", "on": "x"}, "Q374"),
        ({"outcome": "sex", "on": "x", "loss": "squared"}, "Q13"),
        ({"on": "three"}, "Q13"),
        ({"on": "free"}, "Q12"),
        ({"on": "nobody"}, "Q10"),
    ],
)
def test_what_cannot_be_asked_costs_nothing(asked: dict[str, Any], code: str) -> None:
    refused_at_no_cost(lambda: tc.RiskFunction(**{"outcome": "sex", **asked}), code, rows(), SCHEMA)


@pytest.mark.parametrize("at", [[0.0], [0.0, 5.0], [np.nan, 0.0], np.zeros((1_001, 2)), np.zeros((0, 2))])
def test_coefficients_that_there_are_not(at: Any) -> None:
    release = tc.Curator(rows(), SCHEMA, budget=tc.Budget(rho=1)).release(tc.RiskFunction("ok", "x", degree=2), rho=0.5)
    with pytest.raises(InferenceError) as caught:
        release.risk(at)
    assert caught.value.code == "I05"
