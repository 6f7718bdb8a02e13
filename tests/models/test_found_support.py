"""The support of a user's law, found from its log-density, and what it decides."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
import pytest
from jax.scipy.special import betaln, gammaln

import tacit as tc
from tacit.models.density_digest import words_of


def normal(x: Any, theta: Any) -> Any:
    return -0.5 * ((x - theta.m) / theta.s) ** 2 - jnp.log(theta.s) - 0.5 * jnp.log(2 * jnp.pi)


def exponential(x: Any, theta: Any) -> Any:
    return jnp.log(theta.r) - theta.r * x


def poisson(x: Any, theta: Any) -> Any:
    return x * jnp.log(theta.r) - theta.r - gammaln(x + 1)


def gamma(x: Any, theta: Any) -> Any:
    return (theta.a - 1) * jnp.log(x) - theta.b * x + theta.a * jnp.log(theta.b) - gammaln(theta.a)


def beta(x: Any, theta: Any) -> Any:
    return (theta.a - 1) * jnp.log(x) + (theta.b - 1) * jnp.log1p(-x) - betaln(theta.a, theta.b)


def from_one_on(x: Any, theta: Any) -> Any:
    return jnp.where(x > 1, jnp.log(theta.a) - (theta.a + 1) * jnp.log(x), -jnp.inf)


def without_constant(x: Any, theta: Any) -> Any:
    return -((x - theta.m) ** 2)


FOUND = {
    "real": tc.Model(normal, m=(-5, 5), s=(0.5, 3)),
    # at all of the box the positive numbers, and the whole ones from 0 on, have all of it as well
    "real, far from 0": tc.Model(normal, m=(40, 60), s=(5, 10)),
    "positive": tc.Model(gamma, a=(0.5, 5), b=(0.1, 2)),
    "positive, far from 0": tc.Model(gamma, a=(20, 60), b=(0.5, 1)),
    # its formula has values below 0 too, whose integral is not finite
    "positive, not cut": tc.Model(exponential, r=(0.1, 4)),
    "unit": tc.Model(beta, a=(1, 5), b=(1, 5)),
    "count": tc.Model(poisson, r=(0.2, 10)),
    "count, far from 0": tc.Model(poisson, r=(40, 60)),
    "None, of no name": tc.Model(from_one_on, a=(1, 5)),
    "None, not 1": tc.Model(without_constant, m=(-2, 2)),
    "None, two columns": tc.Model(
        lambda x, theta: normal(x[0], theta) + normal(x[1], theta), m=(0, 1), s=(1, 2), columns=2
    ),
}


@pytest.mark.parametrize("name", FOUND)
def test_the_support_is_found_from_the_density(name: str) -> None:
    assert str(FOUND[name].support) == name.partition(",")[0]


def test_a_given_support_stands_and_a_found_one_is_in_no_file() -> None:
    given = tc.Model(normal, m=(40, 60), s=(5, 10), support=(0, 200))
    assert given.support == (0, 200)
    assert words_of(given)["support"] == [0, 200]
    # questions of before, whose words had no support, stay the same question
    assert "support" not in words_of(FOUND["positive"])


def test_rows_outside_a_found_support_are_left_out() -> None:
    assert FOUND["positive"].inside(jnp.array([-1.0, 0.0, 2.0, jnp.inf])).tolist() == [False, False, True, False]
    assert FOUND["count"].inside(jnp.array([-1.0, 0.0, 2.0, 2.5])).tolist() == [False, True, True, False]


WRONG_SUMS = {
    "a constant left out": (lambda x, t: exponential(x, t) + 0.7, "positive", {"r": (0.2, 5)}, "2.01375"),
    "another support": (normal, "positive", {"m": (-1, 1), "s": (1, 10)}, "0.5 over its support, 'positive'"),
    "an interval that ends too soon": (exponential, (0.0, 3.0), {"r": (0.2, 5)}, "0.950213"),
    "no factorial": (lambda x, t: x * jnp.log(t.r) - t.r, "count", {"r": (0.5, 50)}, "adds up to inf"),
    "no end": (lambda x, t: -t.r * jnp.log(x), "positive", {"r": (0.5, 2)}, "adds up to"),
}


@pytest.mark.parametrize("name", WRONG_SUMS)
def test_a_check_says_that_a_density_does_not_add_up_to_one(name: str) -> None:
    density, support, boxes, words = WRONG_SUMS[name]
    with pytest.raises(tc.TacitError) as caught:
        tc.Model(density, support=support, **boxes).check()  # pyright: ignore[reportArgumentType]
    assert caught.value.code == "M18"
    assert words in str(caught.value)


def cauchy(x: Any, theta: Any) -> Any:
    return -jnp.log(jnp.pi * theta.s) - jnp.log1p(((x - theta.m) / theta.s) ** 2)


def laplace(x: Any, theta: Any) -> Any:
    return -jnp.log(2 * theta.s) - jnp.abs(x - theta.m) / theta.s


def two_hills(x: Any, theta: Any) -> Any:
    far = -0.5 * (x - 1000) ** 2 - 0.5 * jnp.log(2 * jnp.pi)
    near = -0.5 * (x - theta.m) ** 2 - 0.5 * jnp.log(2 * jnp.pi)
    return jnp.logaddexp(near, far) - jnp.log(2.0)


RIGHT_SUMS: dict[str, tuple[Any, Any, dict[str, Any]]] = {
    "narrow and far": (normal, "real", {"m": (-1e5, 1e6), "s": (1, 100)}),
    "long tails": (cauchy, "real", {"m": (-1000, 1000), "s": (0.01, 1)}),
    "a kink": (laplace, "real", {"m": (-10, 10), "s": (0.1, 10)}),
    "two hills": (two_hills, "real", {"m": (-1, 1)}),
    "a pole too steep for floats": (
        lambda x, t: (t.a - 1) * jnp.log(x) - x - gammaln(t.a),
        "positive",
        {"a": (1e-4, 1e-2)},
    ),
    "poles at both ends": (beta, "unit", {"a": (0.05, 50), "b": (0.05, 50)}),
    "a jump": (from_one_on, "positive", {"a": (0.5, 5)}),
    "many counts": (poisson, "count", {"r": (0.5, 5000)}),
    "an interval": (lambda x, t: jnp.log(t.r) - t.r * x - jnp.log1p(-jnp.exp(-3 * t.r)), (0.0, 3.0), {"r": (0.1, 5)}),
}


@pytest.mark.parametrize("name", RIGHT_SUMS)
def test_a_check_passes_what_adds_up_to_one_and_what_cannot_be_added_up(name: str) -> None:
    density, support, boxes = RIGHT_SUMS[name]
    tc.Model(density, support=support, **boxes).check()


def test_a_release_asks_less_than_the_check() -> None:
    # blocks answer without the constant
    model = tc.Model(lambda x, t: exponential(x, t) + 0.7, support="positive", r=(0.2, 5))
    curator = tc.Curator({"x": [0.5, 1.0, 2.0] * 100}, tc.Schema({"x": tc.Real(0, 30)}), budget=tc.Budget(rho=1))
    design = curator.design(tc.SampleAndAggregate("x", model=model, method="auto"), tc.Cost.of(rho=1))
    assert design.blocks is not None
