"""Parametric families of distributions that `SampleAndAggregate` and other methods fit, with bounded parameters.

A family is a frozen dataclass of plain values: a parameter is given bounds as `[lower, upper]`, or fixed by a number.
"""

from __future__ import annotations

from tacit.models.continuous_families import Beta, Laplace, Lognormal, Normal
from tacit.models.discrete_families import (
    Bernoulli,
    Binomial,
    Categorical,
    Geometric,
    Multinomial,
    NegativeBinomial,
    Poisson,
)
from tacit.models.family_registry import family
from tacit.models.heavy_tailed import MultivariateNormal, NormalMixture, StudentT
from tacit.models.positive_families import Exponential, Gamma, Pareto, Weibull
from tacit.models.regression_families import (
    GammaRegression,
    LinearRegression,
    LogisticRegression,
    PoissonRegression,
    ProbitRegression,
)

__all__ = [
    "Bernoulli",
    "Beta",
    "Binomial",
    "Categorical",
    "Exponential",
    "Gamma",
    "GammaRegression",
    "Geometric",
    "Laplace",
    "LinearRegression",
    "LogisticRegression",
    "Lognormal",
    "Multinomial",
    "MultivariateNormal",
    "NegativeBinomial",
    "Normal",
    "NormalMixture",
    "Pareto",
    "Poisson",
    "PoissonRegression",
    "ProbitRegression",
    "StudentT",
    "Weibull",
    "family",
]
