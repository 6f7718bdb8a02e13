"""Query answered in blocks of rows: parameters of any likelihood, without bounds on the data."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Final, Literal, TypeAlias

from tacit.base.arguments import described
from tacit.errors import QueryError
from tacit.method.blocks.resampling import BETWEEN, RESAMPLES, check_variance, resampled
from tacit.method.shared.asked_model import AskedModel
from tacit.release.query import Needed, Query
from tacit.release.query_checks import Names, condition, names

if TYPE_CHECKING:
    from tacit.method.blocks.estimate import SampleAndAggregateRelease  # noqa: F401

Bias: TypeAlias = Literal["cox-snell", "observed", "split-half", "jackknife", "none"]
BIASES: Final = ("cox-snell", "observed", "split-half", "jackknife", "none")


METHODS: Final = ("tuned", "auto", "smith", "chen-sung")
CHOSEN: Final = ("tuned", "auto")
"""The methods that take a number of blocks as it is given."""


@dataclass(frozen=True)
class SampleAndAggregate(Query["SampleAndAggregateRelease"]):
    """Parameters of a likelihood, as the noisy mean of their estimates in blocks of rows [Smith 2008].

    what: a column, or several where a row of the model has several numbers (for a regression the response first).
    model: a family such as `tc.families.Gamma(shape=(0.5, 5), rate=(0.01, 1))`, or its dictionary; a `tc.Model`; or any
    `tc.Statistic` of a block.  The box of its parameters is the only bound that is needed; a box much wider than the
    answer costs accuracy.
    blocks: the number of blocks.  The default suits price, box and model (`blocks_for`): a multiple of
    (n / epsilon)**(2/3), with at least 20 rows a block, where epsilon is the price of one parameter.
    bias: correction of the estimate in a block.  "observed", the default, holds for rows of any law, and so does
    "split-half", the default where a log-density has no second derivatives (Laplace); "cox-snell" holds for rows of the
    law alone, in shorter blocks; others are "jackknife" and "none".  A statistic has "split-half" and "none".
    rows: a public guess at the number of rows, where that number is private.
    parties: the number of parties whose releases will be combined.  Blocks then suit the mean over parties, with at
    least 10 rows (and ten a parameter), because noise averages out over parties and bias does not.
    method: "auto", the default where none of blocks, parties, one_step and winsorize is given: from public facts, what
    is expected to have the least error at the price of means of blocks, winsorised blocks and one step; where rows are
    seen to follow another law than the model's, its answer is that of blocks.  "tuned": means of blocks, whose number
    suits price, box and model; releases to be combined need it.  "smith", "chen-sung": the numbers of blocks that are
    printed in the sources, for comparison (theory §2, §6).
    parameters: the parameters to release, by default all; they alone share the price.
    where: a condition; only rows for which it holds are used.  Rows with a missing cell are left out.  All rows of a
    person are in one block.
    one_step: spend 3/10 of the price on the blocks, and the rest on one step from their estimate, by the mean of
    clipped scores of all rows (3/100 of it on their products, which tell another law).  From some 5,000 rows on, this
    is nearly as good as all rows without privacy.  Not available for regressions.
    winsorize: select the quartiles of the blocks' estimates first, and clamp estimates to a window about them; this
    allows a box of any width.
    variance: where the sampling error comes from.  "blocks", the default: the variance between the blocks, which is
    released with their mean.  Or within each block by resampling its rows: "little-bootstraps" of as many rows as the
    table has, "m-out-of-n" bootstraps of fewer rows than the block, or "subsampling" without replacement.  No way costs
    more than another.  The variance by resampling has less noise, so that intervals of a few dozen blocks are narrower;
    it is taken to be in proportion to one over the rows.  Not for one_step and winsorize, nor for persons of several
    rows.
    resamples: how many a block has, by default 50; a statistic of one's own runs as many times more.  resample_rows:
    rows of one, of "m-out-of-n" (by default those of a block to the power 0.8) or "subsampling" (half of them).
    Raises QueryError Q01 to Q03, Q60, Q95 (the model, its parameters), Q97 (blocks, rows, parties), Q102, Q103
    (one_step, winsorize), Q110 (a correction of a statistic), Q116 (method), Q140 (variance), ModelError (its words).
    Source: theory §2, §6; winsorised [Smith 2011], theory §12.

    >>> from tacit.families import Exponential
    >>> SampleAndAggregate("wait", Exponential(rate=(0.1, 10)), blocks=500).to_dict()["model"]
    {'family': 'Exponential', 'rate': [0.1, 10.0]}
    """

    # documents say what is not "cox-snell", nor "tuned": releases of earlier versions were so
    absent: ClassVar = {"bias": "cox-snell", "method": "tuned"}
    needed: ClassVar = Needed(
        ("what", "model"),
        "what and model of SampleAndAggregate: both are needed.",
        'what = "wait", model = { family = "Gamma", … }',
    )

    what: Names
    model: Any
    blocks: int | None = None
    bias: str = ""
    rows: int | None = None
    parameters: Names = ()
    where: str | None = None
    one_step: bool = False
    winsorize: bool = False
    parties: int | None = None
    method: str = ""
    variance: str = BETWEEN
    resamples: int | None = None
    resample_rows: int | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "what", names("SampleAndAggregate", "what", self.what))
        if not self.what:
            text = "what of SampleAndAggregate: no column is named."
            raise QueryError(text, code="Q03", hint='SampleAndAggregate("wait", …)')
        object.__setattr__(self, "model", AskedModel.of(self.model))
        for name in ("blocks", "rows"):
            value = getattr(self, name)
            if value is not None and (isinstance(value, bool) or not isinstance(value, int) or value < 2):
                text = f"{name} of SampleAndAggregate: {described(value)} is no number from 2 on."
                raise QueryError(text, code="Q97", hint=f"{name}=1_000")
        if not self.method:
            plain = self.blocks or self.parties or self.one_step or self.winsorize or resampled(self)
            statistic = self.model.words["family"] == "Statistic"
            object.__setattr__(self, "method", "tuned" if plain or statistic else "auto")
        _check_parties(self.parties, self.method, self.blocks)
        if not self.bias:
            # a density read from a file by its function's name is smooth as far as is known
            density = self.model.words["family"] != "Statistic"
            smooth = density and (self.model.law is None or self.model.law.smooth)
            object.__setattr__(self, "bias", "observed" if smooth else "split-half")
        if self.bias not in BIASES:
            text = f"bias of SampleAndAggregate: {described(self.bias)} is none of {', '.join(BIASES)}."
            raise QueryError(text, code="Q95", hint='bias="cox-snell"')
        if self.model.words["family"] == "Statistic":
            self._set_statistic_bias()
        # a law of None is a function read from a file by its name: nothing to check it against
        elif self.bias == "observed" and self.model.law is not None and not self.model.law.smooth:
            text = f"bias of SampleAndAggregate: {self.model.words['family']} has no second derivatives to observe."
            raise QueryError(text, code="Q95", hint='bias="split-half", or leave bias out')
        object.__setattr__(self, "parameters", names("SampleAndAggregate", "parameters", self.parameters))
        self._check_parameters()
        self._check_one_step()
        check_variance(self)
        if resampled(self) and self.resamples is None:
            object.__setattr__(self, "resamples", RESAMPLES)
        condition(self)

    def _set_statistic_bias(self) -> None:
        """Set the correction of a statistic, by halves by default or none; QueryError Q110 for another."""
        # documents say nothing of "cox-snell" (`absent`), which for a statistic stands for its own: halves
        if self.bias not in (BIASES[0], "none", "split-half"):
            text = f"bias of SampleAndAggregate: {self.bias!r} is of likelihoods, and the model is a statistic."
            raise QueryError(text, code="Q110", hint='bias="split-half"')
        object.__setattr__(self, "bias", "split-half" if self.bias == BIASES[0] else self.bias)

    def _check_parameters(self) -> None:
        """Raise QueryError Q95 for parameters that the model does not have."""
        law = self.model.law
        unknown = [] if law is None else [name for name in self.parameters if name not in law.names]
        if law is not None and unknown:
            text = f"parameters of SampleAndAggregate: {unknown[0]!r} is none of {', '.join(law.names)}."
            raise QueryError(text, code="Q95", hint=f'parameters="{law.names[0]}"')

    def _check_one_step(self) -> None:
        """Raise QueryError Q103 for options that are no booleans, Q102 for one_step that is not possible."""
        for name in ("one_step", "winsorize"):
            if not isinstance(getattr(self, name), bool):
                text = f"{name} of SampleAndAggregate: {described(getattr(self, name))} is neither True nor False."
                raise QueryError(text, code="Q103", hint=f"{name}=True")
        if self.one_step and self.model.words["family"] == "Statistic":
            text = "one_step of SampleAndAggregate: a statistic has no scores to take a step by."
            raise QueryError(text, code="Q102", hint="a likelihood, or leave one_step out")
        if self.one_step and self.parameters:
            text = "one_step of SampleAndAggregate: a step needs all parameters, and releases all."
            raise QueryError(text, code="Q102", hint="leave parameters out, or one_step")

    def to_dict(self) -> dict[str, Any]:
        """Return the query as plain values, without defaults."""
        words: dict[str, Any] = {"query": "SampleAndAggregate", "what": list(self.what), "model": self.model.words}
        others = ("blocks", "rows", "where", "parties", "resamples", "resample_rows")
        words |= {name: getattr(self, name) for name in others if getattr(self, name) is not None}
        words |= {"method": self.method} if self.method != "tuned" else {}
        words |= {"parameters": list(self.parameters)} if self.parameters else {}
        words |= {name: True for name in ("one_step", "winsorize") if getattr(self, name)}
        words |= {"variance": self.variance} if resampled(self) else {}
        return words if self.bias == "cox-snell" else {**words, "bias": self.bias}


def _check_parties(parties: Any, method: Any, blocks: int | None) -> None:
    """Raise QueryError Q97 for an invalid number of parties, Q116 for an unknown method or one beside `blocks`."""
    if parties is not None and (isinstance(parties, bool) or not isinstance(parties, int) or parties < 1):
        text = f"parties of SampleAndAggregate: {described(parties)} is no number from 1 on."
        raise QueryError(text, code="Q97", hint="parties=40")
    if method not in METHODS or (method not in CHOSEN and blocks is not None):
        why = f"is none of {', '.join(METHODS)}" if method not in METHODS else "and blocks= both say how many"
        text = f"method of SampleAndAggregate: {described(method)} {why}."
        raise QueryError(text, code="Q116", hint='method="tuned"')
