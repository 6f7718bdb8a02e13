"""The question of a regression, as plain values.  No data here."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Final

from tacit.base.arguments import described
from tacit.errors import QueryError, nearest
from tacit.method.regression.formulas.formula import canonical, parse
from tacit.release.query import Needed, Query
from tacit.release.query_checks import column, condition

MODELS: Final = ("linear", "logistic", "poisson", "probit", "gamma", "huber")
METHODS: Final = ("scores", "auto", "cells")

if TYPE_CHECKING:
    from tacit.method.regression.estimate import RegressionRelease  # noqa: F401


@dataclass(frozen=True)
class Regression(Query["RegressionRelease"]):
    """A linear, logistic, probit, Poisson, gamma or Huber model of many regressors, from noisy sums over all rows.

    formula: as in R and formulaic: "log(income) ~ age + sex", with + - * : ( ), C(sex), I(age ** 2), - 1, and the
    functions of computed columns; within I( ) their arithmetic and conditions.  Nothing in it is run.  Numbers are
    clamped to their bounds, from which those of expressions follow; of a category all levels but the first have a
    term.  Rows with a missing cell in any column, or where an expression is undefined, are left out.
    model: "linear", from products of rows and one step of clipped residuals; and from a pilot fit and steps of bounded
    scores "logistic" or "probit", for a Boolean response, "poisson", for an Integer from 0, "gamma", for numbers from 0
    on (a log link; 0 itself counts as 0), and "huber", for numbers with gross errors.  Rows are standardised by
    released moments and shortened to a norm, so that wide bounds and correlated regressors cost little.
    where: a condition that rows must meet.  With a PrivacyUnit each person has weight one, divided equally over the
    person's complete rows, and standard errors are between persons.
    weights: a column of survey weights, from 0 to its upper bound: the coefficients are those of the population that
    the weights stand for, with standard errors from squared weights (sandwich).  A row without a weight is left out.
    With a PrivacyUnit a row has its weight over the number of the person's complete rows.
    method: "scores", from sums over rows, which any formula has; "cells", from the noisy counts of a histogram of the
    formula's columns, which are Booleans, categories and Integers of few values (no gamma or Huber model, no weights);
    "auto", from public facts the one of the two that is expected to be more precise: cells where they are few.  The
    release says which (`method` of its query); its estimate is of the same kind.
    Raises QueryError Q85 (a formula), Q60 (where=), Q88 (model=), Q01 (weights=), Q116 (method=); when it is planned or
    released with cells, Q86 (a column without cells), Q31 (too many cells).
    Source: Bickel 1975 (one step); Cantoni & Ronchetti 2001 (bounded scores); theory §9, §12.

    >>> Regression("income ~ age*sex").to_dict()
    {'query': 'Regression', 'formula': 'income ~ age + sex + age:sex'}
    """

    groups: ClassVar[str] = "cells"
    needed: ClassVar = Needed(("formula",), "formula of Regression: there is none.", 'formula = "income ~ age"')

    formula: str
    model: str = "linear"
    where: str | None = None
    weights: str | None = None
    method: str = "scores"

    @property
    def cells(self) -> tuple[str, ...]:
        """The columns whose cells are counted; none where sums are taken over rows."""
        return self.columns if self.method == "cells" else ()

    @property
    def columns(self) -> tuple[str, ...]:
        """Columns and expressions of the formula, the response first; QueryError Q85 where it cannot be read."""
        return parse(self.formula).columns

    @property
    def expressions(self) -> dict[str, str]:
        """Those of `columns` that are computed from a row, with their canonical text; QueryError Q85."""
        return parse(self.formula).expressions

    def __post_init__(self) -> None:
        if self.model not in MODELS:
            text = f"model {described(self.model)} of Regression is not in this version."
            guess = nearest(str(self.model), MODELS) or "linear"
            raise QueryError(text, code="Q88", hint=f'model="{guess}", of {", ".join(MODELS)}')
        if self.method not in METHODS:
            text = f"method {described(self.method)} of Regression is none of {', '.join(METHODS)}."
            guess = nearest(str(self.method), METHODS) or "scores"
            raise QueryError(text, code="Q116", hint=f'method="{guess}"')
        object.__setattr__(self, "formula", canonical(parse(self.formula)))
        condition(self)
        if self.weights is not None:
            column("Regression", "weights", self.weights)
