"""Families: densities against SciPy, information and bias by automatic differentiation against closed forms."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from scipy import special, stats

import tacit as tc
from tacit import families as fam
from tacit.models import evaluate as asked
from tacit.models.family_registry import FAMILIES
from tacit.models.likelihood import Likelihood

Z = np.random.default_rng(0).standard_normal((40, 2))  # a design
LINE = [1.0, 0.5, -0.25]  # intercept and two slopes
CASES: dict[str, tuple[Any, list[float]]] = {
    "Bernoulli": (fam.Bernoulli(), [0.3]),
    "Binomial": (fam.Binomial(trials=5), [0.3]),
    "Poisson": (fam.Poisson(), [3.0]),
    "NegativeBinomial": (fam.NegativeBinomial(), [3.0, 0.5]),
    "Geometric": (fam.Geometric(), [0.3]),
    "Exponential": (fam.Exponential(), [2.0]),
    "Gamma": (fam.Gamma(), [2.0, 1.5]),
    "Weibull": (fam.Weibull(), [2.0, 1.5]),
    "Lognormal": (fam.Lognormal(), [0.3, 0.7]),
    "Normal": (fam.Normal(), [1.0, 2.0]),
    "StudentT": (fam.StudentT(), [1.0, 2.0, 4.0]),
    "Laplace": (fam.Laplace(), [1.0, 2.0]),
    "Beta": (fam.Beta(), [2.0, 5.0]),
    "Pareto": (fam.Pareto(minimum=3), [2.5]),
    "Categorical": (fam.Categorical(levels=3), [0.2, 0.3]),
    "Multinomial": (fam.Multinomial(levels=3, trials=4), [0.2, 0.3]),
    "MultivariateNormal": (fam.MultivariateNormal(), [1.0, 2.0, 1.0, 2.0, 0.5]),
    "NormalMixture": (fam.NormalMixture(), [0.4, -1.0, 2.0, 1.0, 0.7]),
    "LinearRegression": (fam.LinearRegression(regressors=2), [*LINE, 2.0]),
    "LogisticRegression": (fam.LogisticRegression(regressors=2), LINE),
    "ProbitRegression": (fam.ProbitRegression(regressors=2), LINE),
    "PoissonRegression": (fam.PoissonRegression(regressors=2), LINE),
    "GammaRegression": (fam.GammaRegression(regressors=2), [*LINE, 2.0]),
}


def design(model: Likelihood) -> Any:
    return Z if model.is_regression else None


def test_every_family_is_here() -> None:
    assert set(CASES) == set(FAMILIES) == set(fam.__all__) - {"family"}


# Log-densities against SciPy -----------------------------------------------------------------------------------------

POSITIVE = np.array([0.1, 0.7, 1.0, 3.0, 8.0])
COUNTS = np.array([0.0, 1, 2, 4, 5])
ETA = LINE[0] + np.array([[0.3, -1.0], [0.0, 2.0]]) @ LINE[1:]
REFERENCES: dict[str, tuple[Any, Any]] = {  # rows, and log-densities by SciPy
    "Bernoulli": ([0.0, 1.0], lambda x: stats.bernoulli.logpmf(x, 0.3)),
    "Binomial": (COUNTS, lambda x: stats.binom.logpmf(x, 5, 0.3)),
    "Poisson": (COUNTS, lambda x: stats.poisson.logpmf(x, 3)),
    "NegativeBinomial": (COUNTS, lambda x: stats.nbinom.logpmf(x, 2, 2 / (2 + 3))),
    "Geometric": (COUNTS, lambda x: stats.geom.logpmf(x + 1, 0.3)),
    "Exponential": (POSITIVE, lambda x: stats.expon.logpdf(x, scale=0.5)),
    "Gamma": (POSITIVE, lambda x: stats.gamma.logpdf(x, 2, scale=1 / 1.5)),
    "Weibull": (POSITIVE, lambda x: stats.weibull_min.logpdf(x, 2, scale=1.5)),
    "Lognormal": (POSITIVE, lambda x: stats.lognorm.logpdf(x, 0.7, scale=np.exp(0.3))),
    "Normal": (-POSITIVE, lambda x: stats.norm.logpdf(x, 1, 2)),
    "StudentT": (-POSITIVE, lambda x: stats.t.logpdf(x, 4, 1, 2)),
    "Laplace": (-POSITIVE, lambda x: stats.laplace.logpdf(x, 1, 2)),
    "Beta": ([0.1, 0.5, 0.9], lambda x: stats.beta.logpdf(x, 2, 5)),
    "Pareto": (3 + POSITIVE, lambda x: stats.pareto.logpdf(x, 2.5, scale=3)),
    "Categorical": ([0.0, 1, 2], lambda x: np.log(np.array([0.5, 0.2, 0.3]))),
    "Multinomial": ([[4.0, 0, 0], [1, 2, 1]], lambda x: stats.multinomial.logpmf(x, 4, [0.5, 0.2, 0.3])),
    "MultivariateNormal": (
        [[0.0, 0.0], [2, 1]],
        lambda x: stats.multivariate_normal.logpdf(x, [1, 2], [[1, 1], [1, 4]]),
    ),
    "NormalMixture": (
        -POSITIVE,
        lambda x: np.log(0.6 * stats.norm.pdf(x, -1, 1) + 0.4 * stats.norm.pdf(x, 2, 0.7)),
    ),
    "LinearRegression": ([[1.5, 0.3, -1], [2, 0, 2]], lambda x: stats.norm.logpdf(x[:, 0], ETA, 2)),
    "LogisticRegression": ([[1.0, 0.3, -1], [0, 0, 2]], lambda x: stats.bernoulli.logpmf([1, 0], special.expit(ETA))),
    "ProbitRegression": ([[1.0, 0.3, -1], [0, 0, 2]], lambda x: stats.bernoulli.logpmf([1, 0], special.ndtr(ETA))),
    "PoissonRegression": ([[4.0, 0.3, -1], [0, 0, 2]], lambda x: stats.poisson.logpmf(x[:, 0], np.exp(ETA))),
    "GammaRegression": ([[4.0, 0.3, -1], [1, 0, 2]], lambda x: stats.gamma.logpdf(x[:, 0], 2, scale=np.exp(ETA) / 2)),
}


@pytest.mark.sample(4)
@pytest.mark.parametrize("name", sorted(CASES))
def test_log_densities_are_those_of_scipy(name: str) -> None:
    model, theta = CASES[name]
    rows = np.array(REFERENCES[name][0])
    np.testing.assert_allclose(model.logpdf(rows, theta), REFERENCES[name][1](rows), rtol=1e-12, atol=1e-13)


@pytest.mark.parametrize(
    ("name", "rows"),
    [
        ("Gamma", [0.0, -1.0, np.nan, np.inf]),
        ("Beta", [0.0, 1.0, 2.0]),
        ("Poisson", [-1.0, 0.5]),
        ("Binomial", [6.0]),
        ("Pareto", [2.9]),
        ("Categorical", [3.0]),
        ("Multinomial", [[3.0, 0, 0]]),
        ("LogisticRegression", [[0.5, 0, 0], [1, np.nan, 0]]),
    ],
)
def test_outside_the_support_the_density_is_zero(name: str, rows: Any) -> None:
    model, theta = CASES[name]
    assert (model.logpdf(rows, theta) == -np.inf).all()


# Draws ----------------------------------------------------------------------------------------------------------------


@pytest.mark.sample(12)
@pytest.mark.parametrize("name", sorted(CASES))
def test_draws_follow_the_density(name: str) -> None:
    """The mean score of draws is zero: within 6 standard errors for each of 50 numbers, false alarms 1e-7 in all."""
    model, theta = CASES[name]
    n = 20_000
    z = np.random.default_rng(1).standard_normal((n, 2)) if model.is_regression else None
    x = model.sample(theta, n, 2, z)
    assert x.shape == ((n,) if model.columns == 1 else (n, model.columns))
    at, step = np.array(theta), 1e-4
    for i in range(len(at)):
        shift = step * np.eye(len(at))[i]
        score = (model.logpdf(x, at + shift) - model.logpdf(x, at - shift)) / (2 * step)
        assert abs(score.mean()) < 6 * score.std() / math.sqrt(n) + 1e-6
        information = model.fisher(theta, z)[i, i]
        if name != "Laplace":  # its score is a sign: no variance to compare
            spread = (score**2).std() / math.sqrt(n)
            assert abs((score**2).mean() - information) < 6 * spread + 1e-3 * information


# Fisher information ---------------------------------------------------------------------------------------------------


CLOSED = (
    "Bernoulli",
    "Poisson",
    "Geometric",
    "Exponential",
    "Gamma",
    "Weibull",
    "Normal",
    "StudentT",
    "Beta",
    "Pareto",
)


@pytest.mark.sample(3)
@pytest.mark.parametrize("name", CLOSED)
def test_fisher_information_is_that_of_differentiation(name: str) -> None:
    model, theta = CASES[name]
    other = asked.fisher(model, np.array(theta), design(model), closed=False)
    np.testing.assert_allclose(model.fisher(theta, design(model)), other, rtol=1e-9, atol=1e-10)


def test_information_of_a_known_parameter_is_a_part_of_the_whole() -> None:
    whole = fam.Gamma().fisher([2, 1.5])
    assert fam.Gamma(rate=1.5).fisher([2]) == pytest.approx(whole[:1, :1], rel=1e-12)


def test_information_of_logistic_regression_is_the_textbook_s() -> None:
    model, theta = CASES["LogisticRegression"]
    X = np.column_stack([np.ones(40), Z])
    p = special.expit(X @ theta)
    np.testing.assert_allclose(model.fisher(theta, Z), X.T @ (X * (p * (1 - p))[:, None]) / 40, rtol=1e-12)


# Cox and Snell --------------------------------------------------------------------------------------------------------


def by_differentiation(model: Likelihood, theta: list[float], regressors: Any = None) -> np.ndarray:
    return asked.bias(model, np.array(theta), regressors, closed=False)


@pytest.mark.parametrize("theta", [0.5, 2.0])
def test_bias_of_an_exponential_rate(theta: float) -> None:
    assert by_differentiation(fam.Exponential(), [theta]) == pytest.approx([theta], rel=1e-6)


@pytest.mark.sample(3)
@pytest.mark.parametrize("shape", [0.7, 2.0, 10.0])
def test_bias_of_gamma(shape: float) -> None:
    """Theory §2, written again with SciPy's functions."""
    a, b = shape, 1.5
    first, second = special.polygamma(1, a), special.polygamma(2, a)
    d = a * first - 1
    form = [
        (a * first - a**2 * second - 2) / (2 * d**2),
        b * (2 * a * first**2 - 3 * first - a * second) / (2 * d**2),
    ]
    assert by_differentiation(fam.Gamma(), [a, b]) == pytest.approx(form, rel=1e-6)
    assert fam.Gamma().bias([a, b]) == pytest.approx(form, rel=1e-9)


def test_bias_of_gamma_is_the_printed_one() -> None:
    assert by_differentiation(fam.Gamma(), [2, 1.5]) == pytest.approx([5.3932708, 4.7949531], abs=1e-7)


@pytest.mark.parametrize("theta", [(2.0, 5.0), (0.8, 1.3)])
def test_bias_of_beta(theta: tuple[float, float]) -> None:
    a, b = theta
    p = special.polygamma
    inverse = np.linalg.inv(np.diag([p(1, a), p(1, b)]) - p(1, a + b))
    third = np.full((2, 2, 2), p(2, a + b))
    third[0, 0, 0] -= p(2, a)
    third[1, 1, 1] -= p(2, b)
    form = 0.5 * np.einsum("rs,tu,stu->r", inverse, inverse, third)
    assert by_differentiation(fam.Beta(), [a, b]) == pytest.approx(form, rel=1e-6)
    if theta == (2.0, 5.0):
        assert form == pytest.approx([5.421274, 15.004543], abs=1e-6)


@pytest.mark.parametrize("theta", [(2.0, 1.5), (0.6, 3.0)])
def test_bias_of_weibull(theta: tuple[float, float]) -> None:
    """The constants of theory §2; 0.36981 is there to five digits."""
    c, s = theta
    found = by_differentiation(fam.Weibull(), [c, s])
    assert found[0] == pytest.approx(1.379530691 * c, rel=1e-6)
    assert found[1] == pytest.approx(s * (0.55433 / c**2 - 0.36981 / c), rel=1e-3)
    assert found == pytest.approx(fam.Weibull().bias(theta), rel=1e-6)


@pytest.mark.parametrize("mean", [0.3, 4.0])
def test_bias_of_a_poisson_log_mean(mean: float) -> None:
    model = fam.PoissonRegression(regressors=0)
    assert by_differentiation(model, [math.log(mean)]) == pytest.approx([-1 / (2 * mean)], rel=1e-6)


@pytest.mark.parametrize("p", [0.2, 0.7])
def test_bias_of_a_logit(p: float) -> None:
    model = fam.LogisticRegression(regressors=0)
    assert by_differentiation(model, [special.logit(p)]) == pytest.approx([(p - 0.5) / (p * (1 - p))], rel=1e-6)


@pytest.mark.long
def test_bias_of_a_normal_variance() -> None:
    """A model of one's own has what the families have."""
    jnp = pytest.importorskip("jax.numpy")

    def density(x: Any, theta: Any) -> Any:
        return -0.5 * jnp.log(2 * jnp.pi * theta.v) - (x - theta.m) ** 2 / (2 * theta.v)

    model = tc.Model(density, m=(-5, 5), v=(0.1, 10), support="real")
    assert model.bias({"m": 0.5, "v": 2.0}) == pytest.approx([0.0, -2.0], rel=1e-6, abs=1e-9)
    assert model.fisher([0.5, 2.0]) == pytest.approx(np.diag([0.5, 0.125]), rel=1e-6, abs=1e-9)


@pytest.mark.parametrize("name", ["Normal", "Geometric", "Pareto"])
def test_closed_forms_of_bias_are_those_of_differentiation(name: str) -> None:
    model, theta = CASES[name]
    assert model.bias(theta) == pytest.approx(by_differentiation(model, theta), rel=1e-6, abs=1e-12)


def textbook(X: np.ndarray, weights: np.ndarray, xi: Any) -> np.ndarray:
    """(X'WX)^-1 X'W xi of theory §2, times the number of rows; xi is a function of the diagonal of Q."""
    inverse = np.linalg.inv(X.T @ (X * weights[:, None]))
    q = np.einsum("ni,ij,nj->n", X, inverse, X)
    return inverse @ X.T @ (weights * xi(q)) * len(X)


@pytest.mark.long
def test_bias_of_regressions() -> None:
    X = np.column_stack([np.ones(40), Z])
    eta = X @ LINE
    p, phi, Phi = special.expit(eta), stats.norm.pdf(eta), stats.norm.cdf(eta)
    forms = {
        "LogisticRegression": textbook(X, p * (1 - p), lambda q: q * (p - 0.5)),
        "ProbitRegression": textbook(X, phi**2 / (Phi * (1 - Phi)), lambda q: 0.5 * q * eta),
        "PoissonRegression": textbook(X, np.exp(eta), lambda q: -0.5 * q),
    }
    for name, form in forms.items():
        assert by_differentiation(CASES[name][0], LINE, Z) == pytest.approx(form, rel=1e-6), name


@pytest.mark.long
def test_bias_of_linear_regression() -> None:
    model, theta = CASES["LinearRegression"]
    found = by_differentiation(model, theta, Z)
    assert found == pytest.approx([0, 0, 0, -theta[-1] * (2 * 3 + 1) / 4], rel=1e-6, abs=1e-9)
    assert found == pytest.approx(model.bias(theta, Z), rel=1e-6, abs=1e-9)
