"""Families of laws, each with a box for its parameters: what `SampleAndAggregate` and other methods fit.

A family is a frozen dataclass of plain values; `[lower, upper]` is the box of a parameter, a number holds it fixed.
"""

from __future__ import annotations

from tacit.models.continuous import Beta, Laplace, Lognormal, Normal
from tacit.models.discrete import Bernoulli, Binomial, Categorical, Geometric, Multinomial, NegativeBinomial, Poisson
from tacit.models.positive import Exponential, Gamma, Pareto, Weibull
from tacit.models.registry import family
from tacit.models.regressions import (
    GammaRegression,
    LinearRegression,
    LogisticRegression,
    PoissonRegression,
    ProbitRegression,
)
from tacit.models.wide import MultivariateNormal, NormalMixture, StudentT

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
