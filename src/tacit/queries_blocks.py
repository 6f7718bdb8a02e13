"""Questions answered in blocks of rows: any likelihood, without bounds on the data.  No data here."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil, sqrt
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias

from tacit.errors import QueryError
from tacit.privacy import Cost
from tacit.queries import KINDS, Names, Query, condition_of, names_of

if TYPE_CHECKING:
    from tacit.inference.sample_and_aggregate import SampleAndAggregateRelease  # noqa: F401
    from tacit.models.likelihood import Likelihood

Bias: TypeAlias = Literal["cox-snell", "split-half", "jackknife", "none"]
BIASES: Final = ("cox-snell", "split-half", "jackknife", "none")
LEAST: Final = 20
"""Rows of a block, at least, where the number of blocks is ours to choose; ten a parameter where that is more."""


@dataclass(frozen=True)
class SampleAndAggregate(Query["SampleAndAggregateRelease"]):
    """Parameters of a likelihood, as the noisy mean of their estimates in blocks of rows [Smith 2008].

    what: a column, or several where a row of the model has several numbers (of a regression the response first).
    model: a family, `tc.families.Gamma(shape=(0.5, 5), rate=(0.01, 1))`, or its words; or `tc.Model`.  Its box is the
    only bound that is needed; boxes much wider than the answer cost accuracy.
    blocks: how many; by default about (n / epsilon)**(2/3) of at least 20 rows, epsilon that of one parameter.
    bias: of the estimate in a block: "cox-snell" (analytic), "split-half", "jackknife" or "none".
    rows: about how many rows there are, where their number is private; public.
    where: of the rows for which a condition holds.  All rows of a person are in one block.
    Raises QueryError Q01 to Q03, Q60, Q95 (the model), Q97 (blocks).  Source: theory §2.
    """

    what: Names
    model: Any
    blocks: int | None = None
    bias: str = "cox-snell"
    rows: int | None = None
    where: str | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "what", names_of("SampleAndAggregate", "what", self.what))
        if not self.what:
            text = "what of SampleAndAggregate: no column is named."
            raise QueryError(text, code="Q03", hint='SampleAndAggregate("wait", …)')
        object.__setattr__(self, "model", _model(self.model))
        for name, least in (("blocks", 2), ("rows", 2)):
            value = getattr(self, name)
            if value is not None and (isinstance(value, bool) or not isinstance(value, int) or value < least):
                text = f"{name} of SampleAndAggregate: {value!r} is no number from {least} on."
                raise QueryError(text, code="Q97", hint=f"{name}=1_000")
        if self.bias not in BIASES:
            text = f"bias of SampleAndAggregate: {self.bias!r} is none of {', '.join(BIASES)}."
            raise QueryError(text, code="Q95", hint='bias="cox-snell"')
        condition_of(self)

    @property
    def law(self) -> Likelihood:
        """The model."""
        return self.model

    def to_dict(self) -> dict[str, Any]:
        """Plain values only."""
        words: dict[str, Any] = {"query": "SampleAndAggregate", "what": list(self.what), "model": self.law.words()}
        words |= {name: getattr(self, name) for name in ("blocks", "rows", "where")}
        words |= {} if self.bias == "cox-snell" else {"bias": self.bias}
        return {key: value for key, value in words.items() if value is not None}


def _model(given: Any) -> Any:
    from tacit.models.likelihood import Likelihood
    from tacit.models.words import model_from_words

    if isinstance(given, Likelihood):
        return given
    return model_from_words(given)


def price_of_one(cost: Cost, parameters: int) -> float:
    """The epsilon at which Laplace noise is as wide as the noise of one parameter's share of the price.

    Laplace of scale 1 / epsilon has variance 2 / epsilon**2, a Gaussian of rho 1 / (2 rho).
    """
    if cost.noise == "laplace" and cost.epsilon is not None:
        return float(cost.epsilon) / parameters
    return 2 * sqrt(float(cost.zcdp) / parameters)


def blocks_for(rows: int, epsilon: float, parameters: int) -> int:
    """About (n / epsilon)**(2/3) blocks of at least 20 rows, and ten a parameter, and at least two (theory §2).

    >>> blocks_for(100_000, 0.5, 2), blocks_for(100_000, 0.001, 2)
    (3420, 5000)
    """
    wanted = ceil((rows / epsilon) ** (2 / 3))
    return max(2, min(wanted, rows // max(LEAST, 10 * parameters)))


KINDS["SampleAndAggregate"] = SampleAndAggregate
