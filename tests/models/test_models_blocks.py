"""Maximum likelihood in blocks: a block's answer is its own, is the maximum, and fails into the public default."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from scipy import stats
from scipy.special import digamma, polygamma

import tacit as tc
from tacit import families as fam
from tacit.errors import ModelError
from tacit.models.blocks import BlockEstimates, block_mle

RNG = np.random.default_rng(5)
GAMMA = fam.Gamma(shape=(0.5, 5), rate=(0.1, 10), default=(1.0, 2.0))


def gamma_density(x: Any, theta: Any) -> Any:
    import jax

    log, a, b = jax.numpy.log, theta.shape, theta.rate
    return a * log(b) + (a - 1) * log(x) - b * x - jax.scipy.special.gammaln(a)


OWN = tc.Model(gamma_density, shape=(0.5, 5), rate=(0.1, 10), support="positive", default=(1.0, 2.0))
LOGISTIC = fam.LogisticRegression(regressors=1, intercept=(-3, 3), slopes=(-5, 5))
EXPONENTIAL = fam.Exponential(rate=(0.1, 10))
K, T = 24, 40  # one shape for nearly all: compilation is what these tests cost
GAMMAS = RNG.gamma(2.0, 0.7, (K, T))
REGRESSORS = RNG.standard_normal((K, T))
BINARY = np.stack([(RNG.random((K, T)) < 1 / (1 + np.exp(-REGRESSORS))) * 1.0, REGRESSORS], axis=-1)
SIZES = RNG.integers(20, T + 1, K)
MODELS = {"sums": (GAMMA, GAMMAS), "own": (OWN, GAMMAS), "rows": (LOGISTIC, BINARY), "closed": (EXPONENTIAL, GAMMAS)}
WAYS: list[tuple[str, Any]] = [
    ("sums", "cox-snell"),
    ("own", "observed"),
    ("rows", "cox-snell"),
    ("closed", "split-half"),
    ("closed", "jackknife"),
]


def answers(model: Any, blocks: list[Any], **words: Any) -> BlockEstimates:
    """Answers of some blocks of at most T rows, in the shape of all others."""
    rows = np.full((K, T, *np.shape(blocks[0])[1:]), np.nan)
    for room, block in zip(rows, blocks, strict=False):
        room[: len(block)] = block
    found = block_mle(model, rows, [len(block) for block in blocks] + [0] * (K - len(blocks)), **words)
    return BlockEstimates(found.names, found.values[: len(blocks)], found.fitted[: len(blocks)])


# A function of its own rows -------------------------------------------------------------------------------------------


@pytest.mark.long
@pytest.mark.sample(6)
@pytest.mark.parametrize(("name", "bias"), WAYS)
def test_an_answer_is_a_function_of_the_block_s_own_rows_bit_for_bit(name: str, bias: Any) -> None:
    model, rows = MODELS[name]
    first = block_mle(model, rows, SIZES, bias=bias)
    assert first.fitted.sum() >= K - 2  # nearly all blocks have answers of their own
    rng = np.random.default_rng(0)

    mixed = rows.copy()  # the order of rows says nothing, nor what follows them
    for block, size in zip(mixed, SIZES, strict=True):
        block[:size] = block[rng.permutation(size)]
        block[size:] = rng.choice([np.nan, -1.0, 7.0, np.inf], block[size:].shape)
    assert np.array_equal(block_mle(model, mixed, SIZES, bias=bias).values, first.values)

    others = rows.copy()  # nor do other blocks: sound, sparse, broken, empty
    others[1::2] = rng.choice([np.nan, 0.0, 1.0, 1e300, -5.0], others[1::2].shape)
    again = block_mle(model, others, np.where(np.arange(K) % 2, SIZES // 3, SIZES), bias=bias)
    assert np.array_equal(again.values[::2], first.values[::2])
    assert np.array_equal(again.fitted[::2], first.fitted[::2])


@pytest.mark.long
@pytest.mark.sample(3)
@pytest.mark.parametrize(("name", "bias"), WAYS[:3])
def test_where_a_block_stands_does_not_matter_bit_for_bit(name: str, bias: Any) -> None:
    model, rows = MODELS[name]
    first = block_mle(model, rows, SIZES, bias=bias)
    turned = np.random.default_rng(1).permutation(K)
    again = block_mle(model, rows[turned], SIZES[turned], bias=bias)
    assert np.array_equal(again.values, first.values[turned])
    # more blocks than a batch, and one that is not full
    many = block_mle(model, np.concatenate([rows, rows[:5]]), np.concatenate([SIZES, SIZES[:5]]), bias=bias, batch=K)
    assert np.array_equal(many.values, np.concatenate([first.values, first.values[:5]]))


@pytest.mark.long
def test_rows_in_order_need_no_sorting() -> None:
    rows = np.sort(GAMMAS, axis=1)
    sizes = np.full(K, T)
    assert np.array_equal(block_mle(GAMMA, rows, sizes, ordered=True).values, block_mle(GAMMA, rows, sizes).values)


def test_minus_zero_is_zero() -> None:
    found = answers(fam.Normal(), [[0.0, 1.0, -0.0, 2.0, -3.0], [-0.0, 1.0, 0.0, 2.0, -3.0]])
    assert found.fitted.all()
    assert np.array_equal(found.values[0], found.values[1])


# It is the maximum ----------------------------------------------------------------------------------------------------


@pytest.mark.long
def test_maxima_are_those_of_scipy() -> None:
    rng = np.random.default_rng(3)
    cases: list[tuple[Any, np.ndarray, Any]] = [
        (
            GAMMA,
            rng.gamma(2, 1, T),
            lambda x: np.array([1, 1 / stats.gamma.fit(x, floc=0)[2] ** 2]) * stats.gamma.fit(x, floc=0)[::2],
        ),
        (fam.Normal(), rng.normal(2, 3, T), stats.norm.fit),
        (fam.Laplace(), rng.laplace(2, 3, T - 1), stats.laplace.fit),
        (EXPONENTIAL, rng.exponential(2, T), lambda x: [1 / x.mean()]),
        (fam.Geometric(), rng.geometric(0.3, T) - 1.0, lambda x: [1 / (1 + x.mean())]),
    ]
    for model, x, reference in cases:
        found = answers(model, [x], bias="none").values[0]
        assert found == pytest.approx(reference(x), rel=2e-4), model
        # at least as good as the reference, to rounding
        assert model.logpdf(x, found).sum() >= model.logpdf(x, reference(x)).sum() - 1e-9


@pytest.mark.long
def test_regressions_are_those_of_statsmodels() -> None:
    sm = pytest.importorskip("statsmodels.api")
    rng = np.random.default_rng(4)
    z = rng.standard_normal((T, 1))
    X, eta = sm.add_constant(z), 0.3 + 0.6 * z[:, 0]
    cases: list[tuple[Any, np.ndarray, Any]] = [
        (LOGISTIC, (rng.random(T) < 1 / (1 + np.exp(-eta))) * 1.0, lambda y: sm.Logit(y, X)),
        (fam.LinearRegression(), eta + rng.standard_normal(T), lambda y: sm.OLS(y, X)),
    ]
    for model, y, make in cases:
        found = answers(model, [np.column_stack([y, z])], bias="none").values[0]
        fitted = make(y).fit(**({} if isinstance(model, fam.LinearRegression) else {"disp": 0, "tol": 1e-12}))
        assert found[:2] == pytest.approx(fitted.params, rel=1e-6), model
        if isinstance(model, fam.LinearRegression):
            assert found[2] == pytest.approx(math.sqrt(fitted.ssr / T), rel=1e-9)


@pytest.mark.long
def test_negative_binomial_is_that_of_statsmodels_and_ends_at_its_box_where_counts_spread_little() -> None:
    sm = pytest.importorskip("statsmodels.api")
    rng = np.random.default_rng(4)
    y = rng.poisson(rng.gamma(2, 1.5, T)) * 1.0
    reference = sm.NegativeBinomial(y, np.ones(T)).fit(disp=0, maxiter=200).params
    found = answers(fam.NegativeBinomial(dispersion=(0.02, 5)), [y, [2.0, 3] * 5], bias="none")
    assert found.fitted.all()
    assert found.values[0] == pytest.approx([math.exp(reference[0]), reference[1]], rel=1e-4)
    assert found.values[1] == pytest.approx([2.5, 0.02], rel=1e-2)


@pytest.mark.long
def test_one_s_own_log_density_gives_what_the_family_gives() -> None:
    own = block_mle(OWN, GAMMAS, SIZES).values
    family = block_mle(GAMMA, GAMMAS, SIZES).values
    inside = ((own > OWN.lower) & (own < OWN.upper)).all(axis=1)
    assert inside.sum() > K / 2
    assert own[inside] == pytest.approx(family[inside], rel=1e-6)


def test_the_observed_correction_has_the_sandwich_in_the_place_of_the_information() -> None:
    """Of the gamma law, whose second derivatives hold no row: half of J^-1 times third derivatives along C."""
    raw = block_mle(OWN, GAMMAS, SIZES, bias="none").values
    own = block_mle(OWN, GAMMAS, SIZES, bias="observed").values
    for place, (a, b) in enumerate(raw):
        x = GAMMAS[place, : SIZES[place]]
        inverse = np.linalg.inv([[polygamma(1, a), -1 / b], [-1 / b, a / b**2]])
        scores = np.column_stack([np.log(b) - digamma(a) + np.log(x), a / b - x])
        C = inverse @ (scores.T @ scores / len(x)) @ inverse
        third = [-polygamma(2, a) * C[0, 0] - C[1, 1] / b**2, 2 * a / b**3 * C[1, 1] - 2 / b**2 * C[0, 1]]
        expected = raw[place] - inverse @ third / 2 / len(x)
        if (own[place] > OWN.lower).all() and (own[place] < OWN.upper).all():
            assert own[place] == pytest.approx(expected, rel=1e-6)


def test_the_observed_correction_holds_for_rows_of_another_law() -> None:
    """The rate of an exponential law, of gamma rows of shape 3: one over their mean, whose expectation is known."""
    x = np.random.default_rng(3).gamma(3, 1, (40_000, 20))
    words: dict[str, Any] = {"counts": np.full(len(x), 20)}
    ways: tuple[Any, ...] = ("none", "cox-snell", "observed")
    found = {bias: block_mle(EXPONENTIAL, x, bias=bias, **words).values[:, 0] for bias in ways}
    error = found["none"].std() / math.sqrt(len(x))
    # 1 / mean of 20 such rows has the expectation 20 / 59; 6 standard errors each, 2e-9
    assert abs(found["none"].mean() - 20 / 59) < 6 * error
    assert abs(found["cox-snell"].mean() - 19 / 59) < 6 * error  # what an exponential law would need: 1/3 is wanted
    assert abs(found["observed"].mean() - 1 / 3) < 6 * error + (1 / 20**2) / 3  # and a bias of the order 1 / t**2


@pytest.mark.long
def test_jackknife_and_halves_are_what_they_are_called() -> None:
    """The rate of exponential rows is one over their mean, so both can be written down."""
    found = block_mle(EXPONENTIAL, GAMMAS, np.full(K, T), bias="jackknife").values[:, 0]
    without = (T - 1) / (GAMMAS.sum(axis=1, keepdims=True) - GAMMAS)
    assert found == pytest.approx(T / GAMMAS.mean(axis=1) - (T - 1) * without.mean(axis=1), rel=1e-9)
    x = np.random.default_rng(0).exponential(1.0, (20_000, 20))
    words = {"counts": np.full(len(x), 20), "bias": "split-half"}
    halves = block_mle(EXPONENTIAL, x, **words).values[:, 0]
    # 1/mean of t rows has the expectation t/(t-1): twice that of 20 rows less that of 10; 6 standard errors, 2e-9
    expected = 2 * 20 / 19 - 10 / 9
    assert abs(halves.mean() - expected) < 6 * halves.std() / math.sqrt(len(x))
    assert (block_mle(EXPONENTIAL, np.tile(x[:1], (K, 1)), np.full(K, 20), bias="split-half").values.std()) > 0


@pytest.mark.long
def test_inverse_gaussian_has_its_closed_maximum() -> None:
    jnp = pytest.importorskip("jax.numpy")

    def inverse_gaussian(x: Any, theta: Any) -> Any:
        return 0.5 * jnp.log(theta.lam / (2 * jnp.pi * x**3)) - theta.lam * (x - theta.mu) ** 2 / (2 * theta.mu**2 * x)

    wald = tc.Model(inverse_gaussian, mu=(0.2, 5), lam=(0.5, 10))
    x = np.random.default_rng(2).wald(1, 3, (K, T))
    found = block_mle(wald, x, np.full(K, T), bias="none").values
    lam = 1 / (1 / x - 1 / x.mean(axis=1, keepdims=True)).mean(axis=1)
    assert found == pytest.approx(np.column_stack([x.mean(axis=1), lam]), rel=1e-8)


# Failures -------------------------------------------------------------------------------------------------------------


@pytest.mark.long
def test_blocks_without_an_answer_say_the_default() -> None:
    good = np.random.default_rng(0).gamma(2, 1, 30)
    bad = {
        "empty": [],
        "two rows for two parameters": good[:2],
        "not a number": np.append(good[:2], np.full(28, np.nan)),
        "infinite": np.append(good[:2], np.full(28, np.inf)),
        "outside the support": np.append(good[:2], np.zeros(28)),
        "all equal": np.full(30, 1.7),
    }
    for model, bias in ((GAMMA, "cox-snell"), (OWN, "observed")):
        with np.errstate(all="raise"):  # nothing that happens in a block is said
            found = answers(model, [*bad.values(), good, np.linspace(1e307, 1e308, 30)], bias=bias)
        assert found.fitted[-2]
        lost = found.values[: len(bad) if model is GAMMA else -3]  # one's own box ends where equal rows are likely
        assert (lost == [1.0, 2.0]).all()
        assert not found.fitted[: len(lost)].any()
        assert ((found.values >= model.lower) & (found.values <= model.upper)).all()


@pytest.mark.long
def test_separable_and_constant_responses_say_the_default() -> None:
    z = np.linspace(-1, 1, 20)
    mixed = (np.arange(20) % 3 == 0) * 1.0
    blocks = [np.column_stack([y, z]) for y in ((z > 0.1) * 1.0, np.ones(20), np.zeros(20), mixed)]
    blocks.append(np.column_stack([mixed, np.full(20, 2.0)]))  # a regressor that does not vary
    found = answers(LOGISTIC, blocks)
    assert found.fitted.tolist() == [False, False, False, True, False]
    assert (found.values[:3] == LOGISTIC.fallback).all()


@pytest.mark.long
def test_linear_regression_without_residuals_or_with_dependent_regressors_says_the_default() -> None:
    rng = np.random.default_rng(0)
    z = rng.standard_normal((20, 1))
    blocks = [
        np.column_stack([1 + z, z, rng.standard_normal(20)]),  # exactly a line
        np.column_stack([rng.standard_normal(20), z, 2 * z]),
        np.column_stack([rng.standard_normal(20), z, rng.standard_normal(20)]),
    ]
    assert answers(fam.LinearRegression(regressors=2), blocks).fitted.tolist() == [False, False, True]


def test_an_answer_beyond_the_box_is_corrected_first_and_clamped_after() -> None:
    """Gamma shapes of at most 5: the maximum is 5.3, its correction below 5; then a narrower law."""
    level = np.arange(0.5, T) / T
    x = stats.gamma.ppf(level, 5.2)
    shape, _, scale = stats.gamma.fit(x, floc=0)
    corrected = np.array([shape, 1 / scale]) - fam.Gamma().bias([shape, 1 / scale]) / T
    found = answers(GAMMA, [x, stats.gamma.ppf(level, 12)])
    assert shape > 5 > corrected[0]
    assert found.values[0] == pytest.approx(corrected, rel=1e-4)
    assert found.values[1, 0] == 5.0
    assert found.fitted.all()


@pytest.mark.long
def test_two_normals_come_in_order() -> None:
    model = fam.NormalMixture(sd1=(0.3, 3), sd2=(0.3, 3))
    x = model.sample([0.3, -2, 2, 1, 0.5], K * 500, 0).reshape(K, 500)
    found = block_mle(model, x, np.full(K, 500), bias="none")
    assert found.fitted.all()
    assert (found.values[:, 1] < found.values[:, 2]).all()
    # the widest of the five has a standard deviation of 0.01 over all blocks
    assert found.values.mean(axis=0) == pytest.approx([0.3, -2, 2, 1, 0.5], abs=0.1)


# Words ----------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("rows", "sizes", "words"),
    [
        (np.ones((3, 4, 2)), [4, 4, 4], {}),
        (np.ones(4), [4], {}),
        (np.ones((0, 4)), [], {}),
        (np.ones((3, 4)), [4, 4], {}),
        (np.ones((3, 4)), [4, 4, 5], {}),
        (np.ones((3, 4)), [4, 4, -1], {}),
        (np.ones((3, 4)), [4, 4, 4], {"bias": "cox"}),
    ],
)
def test_blocks_of_the_wrong_shape_are_refused(rows: Any, sizes: Any, words: Any) -> None:
    with pytest.raises(ModelError, match=r"M17|blocks|counts|none of") as caught:
        block_mle(GAMMA, rows, sizes, **words)
    assert caught.value.code == "M17"


def test_jax_is_left_as_it_was() -> None:
    jax = pytest.importorskip("jax")
    with jax.debug_nans(True), jax.disable_jit(True):
        found = answers(GAMMA, [np.full(30, 1.0)])
        assert jax.config.jax_debug_nans
        assert jax.config.jax_disable_jit
    assert not found.fitted.any()
    assert jax.numpy.ones(1).dtype == np.float32  # 64-bit floats were on within the fit only
