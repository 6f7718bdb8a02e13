"""A log-density that is run is the one that was looked at: whatever its Python does later, nobody calls it again."""

import itertools
import subprocess
import sys
from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.experimental import io_callback

import tacit as tc
from tacit.base.lazy_imports import double
from tacit.errors import ModelError
from tacit.models import scores
from tacit.models.blocks import block_mle, compiled
from tacit.models.jax_config import quiet
from tacit.models.traced_density import ORDERS, differentiable, traced

ROWS = np.random.default_rng(4).exponential(0.5, (4, 30))
SEEN: list[Any] = []


@pytest.fixture(autouse=True)
def nothing_seen() -> Iterator[None]:
    SEEN.clear()
    yield
    jax.effects_barrier()
    assert SEEN == []


def told(x: Any) -> None:
    jax.debug.callback(SEEN.append, x)


def density(x: Any, theta: Any) -> Any:
    return jnp.log(theta.rate) - theta.rate * x


def fitted(model: Any) -> list[float]:
    return block_mle(model, ROWS, [30] * 4, bias="none").values.ravel().tolist()


def lowered(model: Any, bias: Any) -> str:
    """What is handed to the compiler."""
    with quiet():
        return compiled(model, bias).lower(ROWS[:1], np.array([30]), np.array([True]), np.array([0])).as_text()


def code_of(model: Any) -> str:
    with pytest.raises(ModelError) as caught:
        model.check()
    return caught.value.code


# What a function does later -------------------------------------------------------------------------------------------


def test_a_callback_from_the_second_call_on_never_runs() -> None:
    """The attack that was found waited for the ninth call of Python; here there is none but the first."""
    calls = itertools.count(1)

    def waiting(x: Any, theta: Any) -> Any:
        if next(calls) >= 2:
            told(x)
        return density(x, theta)

    model = tc.Model(waiting, rate=(0.1, 10))
    assert fitted(model) == fitted(tc.Model(density, rate=(0.1, 10)))
    assert "callback" not in lowered(model, "observed")
    assert next(calls) == 2


def test_what_is_asked_outside_blocks_is_the_same_trace() -> None:
    calls = itertools.count(1)

    def waiting(x: Any, theta: Any) -> Any:
        if next(calls) > 1:
            told(x)
        return density(x, theta)

    model = tc.Model(waiting, rate=(0.1, 10), support="positive")
    assert model.fisher([2.0])[0, 0] == pytest.approx(0.25, rel=1e-6)
    assert scores.scores(model, ROWS[0], np.array([2.0]))[:, 0] == pytest.approx(0.5 - ROWS[0])
    assert next(calls) == 2


@pytest.mark.long
def test_a_global_that_changes_changes_nothing() -> None:
    scale, loud = np.array([1.0]), [False]

    def moody(x: Any, theta: Any) -> Any:
        if loud[0]:
            told(x)
        return density(x, theta) * jnp.asarray(scale)[0] + 0 * scale[0]

    model = tc.Model(moody, rate=(0.1, 10))
    digest = tc.SampleAndAggregate("x", model).to_dict()
    scale[0], loud[0] = -1.0, True
    assert fitted(model) == fitted(tc.Model(density, rate=(0.1, 10)))
    assert tc.SampleAndAggregate("x", model).to_dict() == digest


# Rules of derivatives -------------------------------------------------------------------------------------------------


def ruled(extra: Callable[[Any], None], within: Callable[[Any], Any] = jnp.log) -> Any:
    """The logarithm, with a rule that does more."""

    @jax.custom_jvp
    def own(y: Any) -> Any:
        return within(y)

    @own.defjvp
    def _(values: Any, moves: Any) -> Any:
        (y,), (dy,) = values, moves
        extra(y)
        return own(y), dy / y

    return own


def using(own: Any, where: str = "plain") -> Callable[[Any, Any], Any]:
    """A log-density whose logarithm is `own`, within something else."""

    def plain(rate: Any) -> Any:
        return own(rate)

    within: dict[str, Callable[[Any], Any]] = {
        "plain": plain,
        "jit": jax.jit(plain),
        "remat": jax.checkpoint(plain),  # pyright: ignore[reportPrivateImportUsage]
        "scan": lambda rate: jax.lax.scan(lambda c, _: (c + plain(rate), None), 0.0, None, length=1)[0],
        "fori": lambda rate: jax.lax.fori_loop(0, 1, lambda _, c: c + plain(rate), 0.0 * rate),
        "cond": lambda rate: jax.lax.cond(rate > 0, plain, lambda y: 0.0 * y, rate),
        "vmap": lambda rate: jax.vmap(plain)(rate[None])[0],
    }
    return lambda x, theta: within[where](theta.rate) - theta.rate * x


PLACES = ["plain", "jit", "remat", "scan", "fori", "cond", "vmap"]


@pytest.mark.parametrize("where", PLACES)
def test_a_rule_with_a_callback_is_refused(where: str) -> None:
    assert code_of(tc.Model(using(ruled(told), where), rate=(0.1, 10))) == "M16"


@pytest.mark.sample(4)
@pytest.mark.parametrize(("first", "where"), [(2, "plain"), (3, "plain"), (4, "scan"), (9, "cond")])
def test_a_rule_that_waits_for_its_later_calls_is_never_asked(first: int, where: str) -> None:
    """Rules within rules are traced too, once each, as deep as fits differentiate."""
    calls = itertools.count(1)

    def late(y: Any) -> None:
        if next(calls) >= first:
            told(y)

    model = tc.Model(using(ruled(late), where), rate=(0.1, 10))
    if first <= ORDERS:
        assert code_of(model) == "M16"
        return
    model.check()
    before = next(calls)
    assert "callback" not in lowered(model, "observed")
    assert next(calls) == before + 1


@pytest.mark.sample(8)
@pytest.mark.parametrize("where", PLACES)
def test_a_pure_rule_is_followed(where: str) -> None:
    """A wrong derivative shows that it is the rule that is used: the maximum is where the rule says."""

    @jax.custom_jvp
    def half(y: Any) -> Any:
        return jnp.log(y)

    @half.defjvp
    def _(values: Any, moves: Any) -> Any:
        return half(values[0]), 0.5 * moves[0] / values[0]

    with double():
        closed = traced(lambda y: using(half, where)(0.0, SimpleNamespace(rate=y)), np.float64(2.0))[0]
        run: Any = differentiable(closed)
        first: Any = jax.grad(lambda y: run(y)[0])
        assert float(run(2.0)[0]) == pytest.approx(np.log(2))
        assert float(first(2.0)) == pytest.approx(0.25)
        assert float(jax.jit(jax.grad(first))(2.0)) == pytest.approx(-0.125)
        assert float(jax.jvp(jax.grad(first), (2.0,), (1.0,))[1]) == pytest.approx(0.125)
        assert np.asarray(jax.vmap(first)(np.array([1.0, 2.0]))) == pytest.approx([0.5, 0.25])


def test_jax_s_own_rules_stay() -> None:
    """Of logaddexp with an infinity the derivative is a number by its rule alone."""
    with quiet():
        run: Any = differentiable(traced(lambda a, b: jnp.logaddexp(a, b), np.float64(0), np.float64(0))[0])
        assert float(jax.grad(lambda a: run(a, -np.inf)[0])(1.0)) == 1.0
        assert float(jax.grad(jax.grad(lambda a: run(a, 1.0)[0]))(0.5)) == pytest.approx(
            float(jax.grad(jax.grad(lambda a: jnp.logaddexp(a, 1.0)))(0.5)), rel=1e-15
        )


@pytest.mark.sample(4)
@pytest.mark.parametrize("where", ["plain", "jit", "fori", "vmap"])
def test_rules_that_go_backwards_are_held_too(where: str) -> None:
    """Their backward pass is Python that runs when it is transposed."""

    def made(extra: Callable[[Any], None]) -> Any:
        own: Any = jax.custom_vjp(lambda z: jnp.log(z))
        own.defvjp(lambda z: (jnp.log(z), z), lambda z, g: (extra(z), (0.5 * g / z,))[1])
        return own

    assert code_of(tc.Model(using(made(told), where), rate=(0.1, 10))) == "M16"
    calls = itertools.count(1)
    own = made(lambda y: told(y) if next(calls) > 9 else None)
    with double():
        run: Any = differentiable(traced(lambda y: using(own, where)(0.0, SimpleNamespace(rate=y)), np.float64(2.0))[0])
        before = next(calls)
        first: Any = jax.grad(lambda y: run(y)[0])
        assert float(run(2.0)[0]) == pytest.approx(np.log(2))
        assert [float(first(2.0)) for _ in range(12)] == pytest.approx([0.25] * 12)
        assert float(jax.jit(lambda y: jax.jvp(first, (y,), (1.0,))[1])(2.0)) == pytest.approx(-0.125)
        assert next(calls) == before + 1


# Effects wherever they stand ------------------------------------------------------------------------------------------


def pure(x: Any) -> Any:
    return jax.pure_callback(
        lambda y: (SEEN.append(y), np.float64(y))[1], jax.ShapeDtypeStruct((), np.float64), x, vmap_method="sequential"
    )


def ordered(x: Any) -> Any:
    io_callback(lambda y: SEEN.append(y), None, x, ordered=True)
    return x


def printed(x: Any) -> Any:
    jax.debug.print("{}", x)
    return x


def debugged(x: Any) -> Any:
    told(x)
    return x


PLACED: dict[str, Callable[[Callable[[Any], Any], Any], Any]] = {
    "plain": lambda f, x: f(x),
    "jit": lambda f, x: jax.jit(f)(x),
    "remat": lambda f, x: jax.checkpoint(f)(x),  # pyright: ignore[reportPrivateImportUsage]
    "scan": lambda f, x: jax.lax.scan(lambda c, _: (f(c), None), x, None, length=2)[0],
    "while": lambda f, x: jax.lax.while_loop(lambda c: c < 0, lambda c: f(c) + 1, x),
    "while-test": lambda f, x: jax.lax.while_loop(lambda c: f(c) < 0, lambda c: c + 1, x),
    "cond": lambda f, x: jax.lax.cond(x > 0, f, lambda y: y, x),
    "vmap": lambda f, x: jax.vmap(f)(x[None])[0],
    "custom_jvp": lambda f, x: ruled(lambda _: None, f)(x),
}


@pytest.mark.parametrize("effect", [pure, ordered, printed, debugged])
@pytest.mark.parametrize("where", list(PLACED))
def test_effects_are_found_wherever_they_stand(effect: Any, where: str, capfd: pytest.CaptureFixture[str]) -> None:
    def own(x: Any, theta: Any) -> Any:
        return jnp.log(theta.rate) - theta.rate * PLACED[where](effect, x)

    # one of an order cannot be mapped at all: JAX itself refuses
    assert code_of(tc.Model(own, rate=(0.1, 10))) in (("M14", "M16") if effect is ordered else ("M16",))
    jax.effects_barrier()
    assert capfd.readouterr().out == ""


def test_functions_that_are_called_later_are_refused() -> None:
    """Of how it is mapped (custom_vmap): JAX calls it when blocks are computed together."""

    @jax.custom_batching.custom_vmap
    def own(y: Any) -> Any:
        return y * 1.0

    @own.def_vmap
    def _(size: Any, mapped: Any, y: Any) -> Any:
        told(y)
        return y, mapped[0]

    model = tc.Model(lambda x, theta: density(own(x), theta), rate=(0.1, 10))
    with pytest.raises(ModelError) as said:
        model.check()
    assert said.value.code == "M16"
    assert "Python function" in str(said.value)


def test_values_of_another_computation_are_refused() -> None:
    found: list[str] = []

    @jax.jit
    def outer(scale: Any) -> Any:
        found.append(code_of(tc.Model(lambda x, theta: density(x, theta) * scale, rate=(0.1, 10))))
        return scale

    outer(1.0)
    assert found == ["M14"]


# However JAX is set ---------------------------------------------------------------------------------------------------

SETTINGS = """
import numpy as np, jax, tacit as tc
from tacit.models import scores
from tacit.models.blocks import block_mle
import jax.numpy as jnp
rows = np.vstack([np.random.default_rng(4).exponential(0.5, (3, 30)), np.full((1, 30), 1e300)])
def found():
    own = tc.Model(lambda x, t: jnp.log(t.rate) - t.rate * x * x / x, rate=(0.1, 10))
    return block_mle(own, rows, [30, 30, 0, 30], bias="none").values.tobytes()
before = found()
for name, value in {settings}:
    jax.config.update(name, value)
print(before == found())
"""
STRICT = [
    ("jax_debug_nans", True),
    ("jax_debug_infs", True),
    ("jax_disable_jit", True),
    ("jax_numpy_rank_promotion", "raise"),
    ("jax_numpy_dtype_promotion", "strict"),
    ("jax_transfer_guard", "disallow"),
    ("jax_check_tracer_leaks", True),
    ("jax_log_compiles", True),
]


@pytest.mark.long
def test_no_setting_of_jax_changes_an_estimate_or_says_anything() -> None:
    code = SETTINGS.format(settings=STRICT)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=240, check=False)
    assert (done.stdout, done.stderr) == ("True\n", "")
