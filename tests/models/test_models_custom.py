"""Models of one's own: what is refused before any row is read, and the words of families."""

from __future__ import annotations

import pickle
import subprocess
import sys
from typing import Any

import numpy as np
import pytest

import tacit as tc
from tacit import families as fam
from tacit.errors import ModelError
from tacit.models.blocks import block_mle
from tacit.models.jax_config import quiet

jax = pytest.importorskip("jax")
jnp = jax.numpy


def exponential(x: Any, theta: Any) -> Any:
    return jnp.log(theta.rate) - theta.rate * x


def refused(code: str, density: Any, **words: Any) -> str:
    with pytest.raises(ModelError) as caught:
        tc.Model(density, **({"rate": (0.1, 10)} | words)).check()
    assert caught.value.code == code, caught.value
    return str(caught.value)


# Effects --------------------------------------------------------------------------------------------------------------


def printed(x: Any, theta: Any) -> Any:
    jax.debug.print("{}", x)
    return exponential(x, theta)


def called_back(x: Any, theta: Any) -> Any:
    return exponential(jax.pure_callback(np.asarray, jax.ShapeDtypeStruct((), np.float64), x), theta)


def debugged(x: Any, theta: Any) -> Any:
    jax.debug.callback(print, x)
    return exponential(x, theta)


def with_effects(x: Any, theta: Any) -> Any:
    seen = jax.experimental.io_callback(np.asarray, jax.ShapeDtypeStruct((), np.float64), x)
    return exponential(seen, theta)


def in_a_branch(x: Any, theta: Any) -> Any:
    return jax.lax.cond(x > 1, lambda: printed(x, theta), lambda: exponential(x, theta))


def in_a_loop(x: Any, theta: Any) -> Any:
    return jax.lax.fori_loop(0, 2, lambda i, total: total + called_back(x, theta), 0.0)


def in_a_compiled_part(x: Any, theta: Any) -> Any:
    return jax.jit(lambda y: debugged(y, theta))(x)


@jax.custom_jvp
def _spoken(y: Any) -> Any:
    return y


@_spoken.defjvp
def _spoken_slope(primals: Any, tangents: Any) -> Any:
    jax.debug.print("{}", primals[0])
    return primals[0], tangents[0]


def in_a_derivative(x: Any, theta: Any) -> Any:
    return exponential(x, theta) + 0.0 * _spoken(theta.rate * x)


@jax.custom_vjp
def _backwards(y: Any) -> Any:
    return y


_backwards.defvjp(lambda y: (y, None), lambda _, g: (jax.debug.print("{}", g), (g,))[1])


def in_a_derivative_written_backwards(x: Any, theta: Any) -> Any:
    return exponential(x, theta) + 0.0 * _backwards(theta.rate * x)


EFFECTS = [printed, called_back, debugged, with_effects, in_a_branch, in_a_loop, in_a_compiled_part]


@pytest.mark.parametrize("density", [*EFFECTS, in_a_derivative, in_a_derivative_written_backwards])
def test_callbacks_and_effects_are_refused(density: Any, capfd: pytest.CaptureFixture[str]) -> None:
    import jax.experimental  # noqa: F401

    said = refused("M16", density)
    assert "callback" in said or "print" in said
    assert capfd.readouterr().out == ""  # nothing ran


def test_a_callback_is_refused_before_blocks_are_looked_at() -> None:
    with pytest.raises(ModelError, match="callback"):
        block_mle(tc.Model(called_back, rate=(0.1, 10)), np.full((2, 5), np.nan), [5, 5])


# What is no log-density -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("code", "density", "word"),
    [
        ("M14", lambda x, theta: 1, "floats"),
        ("M14", lambda x, theta: jnp.ones(3) * theta.rate, r"shape \(3,\)"),
        ("M14", lambda x, theta: (theta.rate, x), "shape None"),
        ("M14", lambda x, theta: "text", "shape None|fails"),
        ("M14", lambda x, theta: theta.lam * x, "lam"),
        ("M14", lambda x, theta: float(x) * theta.rate, "fails"),
        ("M14", lambda x, theta: -x if x > 0 else theta.rate, "fails"),
        ("M14", lambda x, theta: x**2 * 1.0, "does not depend on rate"),
        ("M14", lambda x, theta: jnp.round(theta.rate * x).astype(int), "int"),
        ("M14", "text", "no function"),
        ("M15", lambda x, theta: jnp.log(-theta.rate) + x, "no number"),
        ("M15", lambda x, theta: jnp.sqrt(jnp.abs(theta.rate - 1.0)) - x, "derivatives"),
    ],
)
def test_what_is_no_log_density_is_refused(code: str, density: Any, word: str) -> None:
    import re

    assert re.search(word, refused(code, density, default=[1.0]))


def test_with_a_support_every_row_of_it_must_have_a_number() -> None:
    assert "-" in refused("M15", lambda x, theta: jnp.log(x) - theta.rate * x, support="real")
    # of other sums than 1, which `check` would refuse
    tc.Model(lambda x, theta: jnp.log(x) - theta.rate * x, rate=(0.1, 10), support="positive").check_function()
    tc.Model(lambda x, theta: jnp.log(x) - theta.rate * x, rate=(0.1, 10), support=(1, 3)).check_function()


@pytest.mark.parametrize(
    ("code", "words"),
    [
        ("M10", {"rate": (10, 0.1)}),
        ("M10", {"rate": (1, 1)}),
        ("M10", {"rate": (0, float("inf"))}),
        ("M10", {"rate": "wide"}),
        ("M10", {"rate": 2.0}),
        ("M12", {"columns": 0}),
        ("M12", {"support": "reals"}),
        ("M12", {"support": (3, 1)}),
        ("M12", {"support": "real", "columns": 2}),
        ("M13", {"default": {"rate": 20}}),
        ("M13", {"default": {"shape": 1}}),
        ("M13", {"default": [1, 2]}),
    ],
)
def test_wrong_words_are_refused(code: str, words: dict[str, Any]) -> None:
    refused(code, exponential, **words)


def test_a_model_needs_a_parameter() -> None:
    with pytest.raises(ModelError, match="without parameters"):
        tc.Model(exponential)


# What it can do -------------------------------------------------------------------------------------------------------


@pytest.mark.long
def test_vectors_held_parameters_and_rows_of_several_columns() -> None:
    def line(x: Any, theta: Any) -> Any:
        return -0.5 * ((x[0] - x[1:] @ theta.beta) / theta.sd) ** 2 - jnp.log(theta.sd)

    model = tc.Model(line, columns=3, beta=[(-3, 3), (-3, 3)], sd=1.0)
    assert model.names == ("beta1", "beta2")
    rng = np.random.default_rng(0)
    z = rng.standard_normal((4, 30, 2))
    y = z @ [1.0, -0.5] + rng.standard_normal((4, 30))
    found = block_mle(model, np.concatenate([y[..., None], z], axis=-1), [30] * 4, bias="none").values
    assert found == pytest.approx(np.stack([np.linalg.lstsq(a, b, rcond=None)[0] for a, b in zip(z, y, strict=True)]))


def test_draws_follow_a_density_of_one_s_own() -> None:
    model = tc.Model(exponential, rate=(0.1, 10), support="positive")
    x = model.sample([2.0], 40_000, 0)
    # the distance of Kolmogorov and Smirnov stays below 2.75 / sqrt(n) but for 5e-7
    edge = np.sort(x)
    distance = np.abs(1 - np.exp(-2 * edge) - np.arange(1, len(x) + 1) / len(x)).max()
    assert distance < 2.75 / np.sqrt(len(x))


def test_a_density_that_does_not_add_up_to_one_has_no_information() -> None:
    with pytest.raises(ModelError, match=r"adds up to 0\.5") as caught:
        tc.Model(lambda x, theta: exponential(x, theta) - jnp.log(2), rate=(0.1, 10), support="positive").fisher([2.0])
    assert caught.value.code == "M18"
    with pytest.raises(ModelError, match="support"):
        tc.Model(lambda x, theta: exponential(x, theta) - jnp.log(2), rate=(0.1, 10)).fisher([2.0])


def test_computations_are_in_64_bits_whatever_the_configuration_is() -> None:
    assert jnp.ones(1).dtype == np.float32
    with quiet():
        assert jnp.ones(1).dtype == np.float64
    assert jnp.ones(1).dtype == np.float32


def test_families_come_without_jax() -> None:
    code = "import sys, tacit as tc; tc.families.Gamma().words(); tc.Model(max, a=(0, 1)); print('jax' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=120)
    assert done.stdout.strip() == "False"


# Words of families ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", sorted(set(fam.__all__) - {"family"}))
def test_a_family_survives_its_words(name: str) -> None:
    import tomlkit

    made = getattr(fam, name)()
    again = fam.family(tomlkit.parse(tomlkit.dumps({"model": made.words()}))["model"].unwrap())  # type: ignore[union-attr]
    assert again == made
    assert hash(again) == hash(made)
    assert eval(repr(made), vars(fam)) == made
    assert pickle.loads(pickle.dumps(made)) == made
    with_default = type(made)(default=dict(zip(made.names, (made.lower + made.upper) / 2, strict=True)))
    assert fam.family(with_default.words()) == with_default != made


@pytest.mark.parametrize(
    ("code", "words"),
    [
        ("M11", {"family": "Gama"}),
        ("M11", {}),
        ("M12", {"family": "Gamma", "shpe": [1, 2]}),
        ("M12", {"family": "Binomial", "trials": 0}),
        ("M12", {"family": "Categorical", "levels": 1}),
        ("M12", {"family": "Pareto", "minimum": 0}),
        ("M10", {"family": "Gamma", "shape": [2, 1]}),
        ("M10", {"family": "Gamma", "shape": [-1, 1]}),
        ("M10", {"family": "Bernoulli", "p": [0, 2]}),
        ("M10", {"family": "Exponential", "rate": 2}),
        ("M10", {"family": "LogisticRegression", "regressors": 2, "slopes": [[0, 1], [0, 1], [0, 1]]}),
        ("M13", {"family": "Gamma", "default": [0.01, 1]}),
    ],
)
def test_wrong_words_of_a_file_are_refused(code: str, words: dict[str, Any]) -> None:
    with pytest.raises(ModelError) as caught:
        fam.family(words)
    assert caught.value.code == code


def test_slopes_have_one_box_or_one_each() -> None:
    one = fam.LogisticRegression(regressors=2, slopes=(-3, 3))
    assert one == fam.LogisticRegression(regressors=2, slopes=[(-3, 3), [-3, 3]])
    held = fam.LogisticRegression(regressors=2, intercept=0, slopes=[(-3, 3), 1.0])
    assert held.names == ("slope1",)


def test_a_regression_needs_its_regressors() -> None:
    model = fam.PoissonRegression()
    for ask in (
        lambda: model.fisher([0, 1]),
        lambda: model.bias([0, 1], [[1.0, 2]]),
        lambda: model.sample([0, 1], 5, 0),
    ):
        with pytest.raises(ModelError) as caught:
            ask()
        assert caught.value.code == "M18"
