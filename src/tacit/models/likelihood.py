"""The base of all models: log-density, box, support, Fisher information, bias, draws.

A model is written in JAX (`log_density(x, theta)`: one row, one float); its public methods work on NumPy arrays.
The hooks at the end are for fits: a model may know its sufficient statistics, its maximum in closed form, a start.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any, ClassVar, Literal, TypeAlias

import numpy as np

from tacit.models import evaluate
from tacit.models.boxes import Array, Parameter, values_of

Values: TypeAlias = Sequence[float] | Mapping[str, float] | Array


@dataclass(frozen=True)
class Order:
    """Second-order constants of a bias-corrected estimate from t rows, I being the information of one row.

    v, b: its variance is about (1 / tI) (1 + v / t), and its bias about b / (t**2 sqrt(I)).  power: the power of the
    estimate that is nearly normal; 0 stands for the logarithm.  These are public constants, simulated for each family
    (`benchmarks/block_orders.py`); the defaults are those of a hard case.
    """

    v: float = 8.0
    b: float = 8.0
    power: float = 1.0


class Likelihood(ABC):
    """A law of rows with a public box of parameters.

    names: names of the parameters that are estimated.  lower, upper: ends of their box, shape (p,).
    columns: the number of columns of a row, which has shape () where it is 1, (columns,) otherwise.
    """

    edge: ClassVar[Literal["default", "clamp"]] = "default"
    """How a maximum at an end of the search is used: "default", as no estimate; "clamp", as the end of the box."""
    widen: ClassVar[float] = 1.0
    """Extension of the search beyond the box, in its widths: the bias is corrected before estimates are clamped."""
    steps: ClassVar[int] = 30
    """Number of Newton steps in each block; from a good start six to ten are enough."""
    start_is_maximum: ClassVar[bool] = False
    """Whether `starts` gives the maximum itself."""
    mean_statistics_suffice: ClassVar[bool] = False
    """Whether the likelihood of rows is a function of their mean `row_statistics`."""
    smooth: ClassVar[bool] = True
    """Whether the log-density has second derivatives in the parameters, which `bias="observed"` needs."""
    linear_in_statistics: ClassVar[bool] = False
    """Whether the log-density is linear in statistics of the row whose expectations are known."""
    is_regression: ClassVar[bool] = False
    """Whether the law is that of the first number of a row, given the others (regressors)."""

    @property
    @abstractmethod
    def parameters(self) -> tuple[Parameter, ...]:
        """The parameters to be estimated, in the order of all vectors and matrices."""

    @abstractmethod
    def log_density(self, x: Any, theta: Any) -> Any:
        """Return the log-density of one row, shape (), at theta, whose attributes are the parameters (JAX)."""

    @abstractmethod
    def bind(self, vector: Any) -> SimpleNamespace:
        """Return an object whose attributes are the parameters of a vector, shape (p,), and those held fixed."""

    @property
    @abstractmethod
    def fallback(self) -> Array:
        """The public default of a block without an estimate, shape (p,), within the box."""

    @property
    def encloses_arrays(self) -> bool:
        """Whether the log-density's compiled program would hold arrays of a user's, and so is never kept on disk."""
        return False

    def program_name(self, *function: str) -> str | None:
        """Return a text that only models of the same compiled functions have in common; None where no text says it all.

        What Tacit's own code says need not be in it.
        """
        return None

    def order(self, name: str) -> Order:
        """Return the second-order constants of a parameter's estimate."""
        return Order()

    # -- Public methods, in NumPy -------------------------------------------------------------------------------------

    @property
    def columns(self) -> int:
        """The number of columns of a row."""
        return 1

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the parameters to be estimated."""
        return tuple(one.name for one in self.parameters)

    @property
    def lower(self) -> Array:
        """Lower ends of the box, shape (p,)."""
        return np.array([one.lower for one in self.parameters])

    @property
    def upper(self) -> Array:
        """Upper ends of the box, shape (p,)."""
        return np.array([one.upper for one in self.parameters])

    def logpdf(self, x: Any, theta: Values) -> Array:
        """Return log-densities of rows, shape (n,) or (n, columns), -inf outside the support.  ModelError M13."""
        return evaluate.log_densities(self, x, values_of(self.names, theta))

    def fisher(self, theta: Values, regressors: Any = None) -> Array:
        """Return the Fisher information of one row at theta, shape (p, p).

        regressors: shape (n, d), for regressions: the information is the mean over them.  Closed forms are used where
        known, otherwise automatic differentiation and quadrature.  ModelError M13, M18.
        """
        return evaluate.fisher(self, values_of(self.names, theta), regressors)

    def bias(self, theta: Values, regressors: Any = None) -> Array:
        """Return n times the leading bias of the maximum-likelihood estimate from n rows, (p,) [Cox & Snell 1968].

        regressors: shape (n, d), for regressions: the design.  ModelError M13, M18.  Source: theory §2.
        """
        return evaluate.bias(self, values_of(self.names, theta), regressors)

    def sample(self, theta: Values, rows: int, rng: Any, regressors: Any = None) -> Array:
        """Return rows drawn at theta, shape (rows,) or (rows, columns).

        regressors: shape (rows, d), for regressions.  rng: a seed or a NumPy Generator.  ModelError M13, M18.
        """
        return evaluate.sample(self, values_of(self.names, theta), rows, np.random.default_rng(rng), regressors)

    def check_function(self) -> None:  # noqa: B027
        """Check that fits can run the log-density; built-in families always pass."""

    def check(self) -> None:
        """Check that fits can use the log-density; built-in families always pass."""
        self.check_function()

    # -- Hooks of fits, in JAX ----------------------------------------------------------------------------------------

    @property
    def all_free(self) -> bool:
        """Whether all parameters are estimated, so that forms for all of them apply."""
        return True

    @property
    def anchor(self) -> float | None:
        """A number of the support that pads blocks, in every column; None: the block's first row does."""
        return None

    def inside(self, x: Any) -> Any:
        """Return whether rows, shape (..., columns) or (...), are finite and in the support: a mask of shape (...)."""
        finite = (x > -np.inf) & (x < np.inf)
        return finite if self.columns == 1 else finite.all(-1)

    def starts(self, x: Any, w: Any) -> Any:
        """Return starts of the search, shape (starts, p), from the sorted rows of a block and their weights 0 or 1."""
        raise NotImplementedError

    def canonical(self, theta: Any) -> Any:
        """Return the one vector that stands for a law which several vectors describe (labels of a mixture)."""
        return theta

    def row_statistics(self, x: Any) -> Any:
        """Return the statistics of one row, shape (q,), followed by its regressors."""
        raise NotImplementedError

    def starts_from(self, u: Any) -> Any:
        """Return `starts` from the mean `row_statistics` of a block, where that is all they need."""
        raise NotImplementedError

    def numpy_statistics(self, x: Array) -> tuple[Array, ...] | None:
        """Return `row_statistics` in NumPy, where a block's sums of them replace its rows; None where they do not."""
        return None

    def log_density_from(self, u: Any, theta: Any) -> Any:
        """Return the log-density from `row_statistics`, up to terms that do not depend on theta."""
        raise NotImplementedError

    def expected(self, u: Any, theta: Any) -> Any:
        """Return `row_statistics` with statistics replaced by their expectations under theta, regressors kept."""
        raise NotImplementedError

    def nodes(self, theta: Any) -> tuple[Any, Any] | None:
        """Return quadrature points of the law, a fixed number of rows, and their weights; None where none are known."""
        return None

    def bias_form(self, theta: Any) -> Any:
        """Return the Cox-Snell bias in closed form, shape (p,); None where there is none."""
        return None

    def unbiased(self, theta: Any, count: Any) -> Any:
        """Return the exactly unbiased estimate, shape (p,), from the maximum theta of `count` rows; None if unknown."""
        return None

    def fisher_form(self, theta: Any) -> Any:
        """Return the Fisher information of all parameters, fixed ones too, in closed form; None where there is none."""
        return None

    def location_and_width(self, theta: Any) -> tuple[float, float] | None:
        """Return about the centre and the width of the law, for quadrature (NumPy); None where they are unknown.

        For positive rows they are those of the logs, for rows in (0, 1) those of the logits.
        """
        return None

    @property
    def support(self) -> str | tuple[float, float] | None:
        """One of "real", "positive", "unit", "count", an interval; None: not known, or rows of several columns."""
        return None

    def draw(self, theta: Any, rows: int, rng: np.random.Generator, regressors: Array | None) -> Array | None:
        """Return rows drawn by a sampler of the law; None where there is none."""
        return None
