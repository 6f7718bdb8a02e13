"""Squares and interactions of norm-clipped rows: what is left of them without their factors, and that they answer."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import tacit as tc
from tacit.method.regression.formulas.centred_products import centred
from tacit.method.regression.formulas.formula import parse
from tacit.method.regression.formulas.layout import Layout, layout
from tacit.method.regression.row_sums.noisy_norms import read_standardised
from tacit.privacy import Cost
from tacit.release.document import release_from_dict
from tacit.release.parts import Part, Variable
from tacit.testing.simulated_regressions import rows_of

FACTS = (
    Variable("y", "real", 0, 10, half=1024),
    Variable("a", "real", 0, 4, half=1024),
    Variable("b", "real", 0, 9, half=1024),
    Variable("m", "boolean"),
    Variable("g", "levels", labels=("p", "q", "r")),
)


def made(formula: str) -> Layout:
    parsed = parse(formula)
    known = {one.name: one for one in FACTS}
    return layout(parsed, [known[name] for name in parsed.columns])


def coordinates(found: Layout, rng: np.random.Generator, n: int) -> tuple[np.ndarray, dict[Any, np.ndarray]]:
    """Values of x = z / H before rounding, shape (n, m + 1), and of each factor; factors are independent."""
    factors: dict[Any, np.ndarray] = {name: rng.normal(c, 0.1, n) for name, c in (("a", -0.6), ("b", 0.5), ("y", 0.1))}
    level = rng.choice(3, n, p=[0.6, 0.3, 0.1])
    factors |= {("m", -1): np.where(rng.random(n) < 0.2, 1.0, -1.0)}
    factors |= {("g", k): (level == k).astype(float) for k in (1, 2)}
    x = [np.prod([np.ones(n), *(factors[f] for f in (*one[0], *one[1]))], axis=0) for one in found.coordinates]
    return np.stack(x, axis=1), factors


@pytest.mark.sample(3)
@pytest.mark.parametrize("formula", ["y ~ a + I(a**2)", "y ~ a*b", "y ~ a*m + g", "y ~ a*g", "y ~ m*g + a*b*m"])
def test_it_is_the_product_of_centred_factors_with_the_moments_that_are_said(formula: str) -> None:
    """100,000 rows: a mean is off by .003 of a deviation, and a deviation by .01 (of a cube, less than .05)."""
    found = made(formula)
    x, factors = coordinates(found, np.random.default_rng(1), 100_000)
    mean, sd = x.mean(axis=0), x.std(axis=0)
    several = 0
    for j, (numbers, marks) in enumerate(found.coordinates[:-1]):
        one = centred(found, j, mean, sd)
        if len(numbers) + len(marks) < 2:
            assert one.weights.tolist() == np.eye(len(mean))[j].tolist()
            assert (one.mean, one.sd) == (mean[j], sd[j])
            continue
        several += 1
        wanted = np.prod([factors[f] - factors[f].mean() for f in (*numbers, *marks)], axis=0)
        value = x @ one.weights
        assert value == pytest.approx(wanted, abs=1e-9)
        assert value.mean() == pytest.approx(one.mean, abs=0.02 * one.sd)
        # levels of one column exclude each other: not independent, but never in one product
        assert value.std() == pytest.approx(one.sd, rel=0.06)
        assert np.allclose(np.triu(np.ones_like(np.eye(len(mean))), 1)[j] * one.weights, 0)
    assert several


def test_without_the_terms_that_it_is_made_of_a_product_stays_as_it_is() -> None:
    facts = (FACTS[0], Variable("a", "real", -2, 2, half=1024))
    found = layout(parse("y ~ I(a**2)"), facts)  # bounds about 0: the square alone
    mean, sd = np.array([1.0, 0.2, 0.1]), np.array([0.0, 0.1, 0.3])
    one = centred(found, 1, mean, sd)
    assert (one.weights.tolist(), one.mean, one.sd) == ([0.0, 1.0, 0.0], 0.2, 0.1)


SCHEMA = tc.Schema({"y": tc.Real(0, 60), "yes": tc.Boolean(), "age": tc.Real(18, 100), "man": tc.Boolean()})


def draw(rng: np.random.Generator, n: int) -> dict[str, np.ndarray]:
    age, man = rng.normal(35, 6, n), rng.random(n) < 0.1
    line = 0.02 * (age - 35) ** 2 + 0.3 * man * (age - 35)
    return {
        "age": age,
        "man": man,
        "y": 20 + line + rng.normal(0, 2, n),
        "yes": rng.random(n) < 1 / (1 + np.exp(-line)),
    }


@pytest.mark.parametrize(("response", "model"), [("y", "linear"), ("yes", "logistic")])
def test_squares_and_interactions_far_from_0_have_answers(response: str, model: str) -> None:
    """12 releases: all answer; of 60 dependent z-scores none is beyond 6, and their mean square is below 3."""
    rng, z = np.random.default_rng(3), list[np.ndarray]()
    for _ in range(12):
        query = tc.Regression(f"{response} ~ age*man + I(age**2)", model=model)
        rows = rows_of(query, draw(rng, 10_000), SCHEMA, Cost.of(rho="0.3"))
        fit = rows.fit(rng)
        assert fit.reasons[0] is None
        ordinary = rows.ordinary()[0]
        z.append((fit.values - ordinary) / fit.std_errors)
    assert np.abs(z).max() < 6
    assert np.mean(np.square(z)) < 3


def as_before(part: Part, size: int) -> Part:
    """The same part with the weights that releases of before stored: of an entry's own coordinate, and of the first."""
    facts = {name: value for name, value in part.parameters.items() if not name.startswith("weight")}
    del facts["far"], facts["tail"]
    for i in range(size):
        facts[f"weight{2 * i}"] = part.parameters[f"weight{i * (i + 3) // 2}"]
        facts[f"weight{2 * i + 1}"] = part.parameters[f"weight{i * (i + 1) // 2}"] if i else 0
    # and without the number of far responses, the last of them
    return replace(part, form="norm-products", parameters=facts, integers=(part.integers[0][:-1],))


def test_releases_of_before_are_read() -> None:
    rng = np.random.default_rng(4)
    curator = tc.Curator(draw(rng, 4_000), SCHEMA, budget=tc.Budget(rho=30))
    release = curator.release(tc.Regression("y ~ age + man"), rho=20)
    before = replace(release, parts=(release.parts[0], as_before(release.parts[1], 4), release.parts[2]))
    again = release_from_dict(json.loads(before.to_json()))
    assert again.fit().values == pytest.approx(release.fit().values, rel=1e-12)
    known = made("y ~ a + m")
    now, was = (read_standardised(one.parts[1], known) for one in (release, again))
    assert was[1].tolist() == now[1].tolist()
    damaged = json.loads(before.to_json())
    damaged["parts"][1]["parameters"]["weight2"] = 0
    with pytest.raises(tc.TacitError):
        release_from_dict(damaged)
