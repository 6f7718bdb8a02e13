"""The registry of built-in families: one line a family, in the order in which messages and schemas list them.

Every public name of this module is a family; `tacit.families` exports them all.
"""
# ruff: noqa: I001  # the order is that of messages

from tacit.models.families.counts import Bernoulli as Bernoulli
from tacit.models.families.counts import Binomial as Binomial
from tacit.models.families.counts import Poisson as Poisson
from tacit.models.families.counts import NegativeBinomial as NegativeBinomial
from tacit.models.families.counts import Geometric as Geometric
from tacit.models.families.positive import Exponential as Exponential
from tacit.models.families.positive import Gamma as Gamma
from tacit.models.families.positive import Weibull as Weibull
from tacit.models.families.continuous import Lognormal as Lognormal
from tacit.models.families.continuous import Normal as Normal
from tacit.models.families.student_t import StudentT as StudentT
from tacit.models.families.continuous import Laplace as Laplace
from tacit.models.families.continuous import Beta as Beta
from tacit.models.families.positive import Pareto as Pareto
from tacit.models.families.categories import Categorical as Categorical
from tacit.models.families.categories import Multinomial as Multinomial
from tacit.models.families.multivariate import MultivariateNormal as MultivariateNormal
from tacit.models.families.mixture import NormalMixture as NormalMixture
from tacit.models.families.regressions import LinearRegression as LinearRegression
from tacit.models.families.regressions import LogisticRegression as LogisticRegression
from tacit.models.families.regressions import ProbitRegression as ProbitRegression
from tacit.models.families.regressions import PoissonRegression as PoissonRegression
from tacit.models.families.regressions import GammaRegression as GammaRegression
