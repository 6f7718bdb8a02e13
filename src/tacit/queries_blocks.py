"""Questions answered in blocks of rows: any likelihood, without bounds on the data.  No data here."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from math import sqrt
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias, cast

from tacit.errors import QueryError
from tacit.privacy import Cost
from tacit.query_words import Names, condition, names
from tacit.question import Query
from tacit.texts import is_text

if TYPE_CHECKING:
    from tacit.inference.sample_and_aggregate import SampleAndAggregateRelease  # noqa: F401
    from tacit.models.likelihood import Likelihood
    from tacit.models.statistic import Statistic

Bias: TypeAlias = Literal["cox-snell", "observed", "split-half", "jackknife", "none"]
BIASES: Final = ("cox-snell", "observed", "split-half", "jackknife", "none")
SEEN: Final[dict[str, Any]] = {}
"""Log-densities of one's own that were asked of in this process, by their words: a digest says which they are."""
MOST_SEEN: Final = 64
METHODS: Final = ("tuned", "smith", "chen-sung")
SHORTEST: Final = 10
"""Rows of a block, and of a block for each parameter, where the blocks of many parties are averaged."""
LEAST: Final = 20
"""Rows of a block, at least, where the number of blocks is ours to choose; ten a parameter where that is more."""
SKEW: Final = 1 / 3
"""Bias of a mean of blocks, in standard errors of all rows without privacy, at most: 95% intervals cover 93.7% with it
where nothing else made them wider.
"""
TRUST: Final = 0.3
"""The least b of one party: a law of which corrected estimates have no bias is not quite that of anybody's rows."""


@dataclass(frozen=True)
class AskedModel:
    """A model as a question has it: its words, and the model itself, which a question read from a file may lack.

    >>> from tacit.families import Exponential
    >>> AskedModel.of(Exponential(rate=(0.1, 10))).words
    {'family': 'Exponential', 'rate': [0.1, 10.0]}
    """

    text: str
    law: Likelihood | Statistic | None = field(compare=False, repr=False, default=None)

    @property
    def words(self) -> dict[str, Any]:
        """Plain JSON values: the family with its boxes; of a log-density of one's own, what identifies it."""
        return json.loads(self.text)

    @classmethod
    def of(cls, given: Any, whose: str = "model of SampleAndAggregate") -> AskedModel:
        """From a family, a `tacit.Model`, a `tacit.Statistic`, or their words; QueryError Q95, ModelError."""
        if isinstance(given, AskedModel):
            return given
        made = cls._of(given, whose)
        if not is_text(made.text):
            raise QueryError(f"{whose}: a name in it holds half a character.", code="Q95", hint="names of letters")
        return made

    @classmethod
    def _of(cls, given: Any, whose: str) -> AskedModel:
        from tacit.models.custom import Model
        from tacit.models.family import Family
        from tacit.models.registry import family
        from tacit.models.statistic import Statistic, from_words

        if isinstance(given, Mapping):
            words = dict(cast("Mapping[str, Any]", given))
            if words.get("family") == "Model":  # its function is not in the file
                return cls(_canonical(words), SEEN.get(_canonical(words)))
            given = from_words(words) if words.get("family") == "Statistic" else family(words)
            if given is None:  # nor is a statistic's
                return cls(_canonical(words))
        if isinstance(given, Family | Statistic):
            return cls(_canonical(given.words()), given)
        if isinstance(given, Model):
            from tacit.models.identity import words_of

            made = cls(_canonical(words_of(given)), given)
            if len(SEEN) >= MOST_SEEN:
                del SEEN[next(iter(SEEN))]
            SEEN[made.text] = given
            return made
        text = f"{whose}: {given!r} is no model."
        raise QueryError(text, code="Q95", hint="tc.families.Gamma(shape=(0.5, 5), rate=(0.01, 1)), or tc.Model(…)")


def _canonical(words: Mapping[str, Any]) -> str:
    return json.dumps(words, sort_keys=True, ensure_ascii=False, allow_nan=False)


@dataclass(frozen=True)
class SampleAndAggregate(Query["SampleAndAggregateRelease"]):
    """Parameters of a likelihood, as the noisy mean of their estimates in blocks of rows [Smith 2008].

    what: a column, or several where a row of the model has several numbers (of a regression the response first).
    model: a family, `tc.families.Gamma(shape=(0.5, 5), rate=(0.01, 1))`, or its words; or a `tc.Model`.  Its box is the
    only bound that is needed; a box much wider than the answer costs accuracy.  Or any `tc.Statistic` of a block.
    blocks: how many; by default as suits price, box and model (`blocks_for`): a multiple of (n / epsilon)**(2/3), of at
    least 20 rows, epsilon being that of one parameter.
    bias: how the estimate in a block is corrected: "cox-snell", for rows of the law; "observed", for rows of any law,
    in longer blocks; "split-half", "jackknife" or "none"; that of a statistic by halves ("split-half"), unless "none"
    is asked for.
    rows: about how many rows there are, where their number is private; public.
    parties: how many parties' answers will be combined; then blocks are as many as suit their mean, of at least 10 rows
    (and ten a parameter): noise averages out over parties, bias does not.  method: how many blocks, where `blocks` does
    not say: "tuned"; "smith" and "chen-sung" as the sources print it, for comparison (theory §2, §6).
    parameters: those to be released, all by default; the price is shared by these alone.
    where: of the rows for which a condition holds.  Rows with a missing cell are left out; all rows of a person are in
    one block.
    one_step: spend 3/10 of the price on this, and the rest on one step from it: the mean of clipped scores of all rows.
    Nearly as good as all rows without privacy, from some 5,000 rows on; for rows of regressions there is none.
    winsorize: select the blocks' quartiles first, and clamp estimates to a window about these: for a box of any width.
    Raises QueryError Q01 to Q03, Q60, Q95 (the model, its parameters), Q97 (blocks, rows, parties), Q102, Q103
    (one_step, winsorize), Q110 (a correction of a statistic), Q116 (method), ModelError (its words).
    Source: theory §2, §6; winsorised [Smith 2011], theory §12.

    >>> from tacit.families import Exponential
    >>> SampleAndAggregate("wait", Exponential(rate=(0.1, 10)), blocks=500).to_dict()["model"]
    {'family': 'Exponential', 'rate': [0.1, 10.0]}
    """

    what: Names
    model: Any
    blocks: int | None = None
    bias: str = "cox-snell"
    rows: int | None = None
    parameters: Names = ()
    where: str | None = None
    one_step: bool = False
    winsorize: bool = False
    parties: int | None = None
    method: str = "tuned"

    def __post_init__(self) -> None:
        object.__setattr__(self, "what", names("SampleAndAggregate", "what", self.what))
        if not self.what:
            text = "what of SampleAndAggregate: no column is named."
            raise QueryError(text, code="Q03", hint='SampleAndAggregate("wait", …)')
        object.__setattr__(self, "model", AskedModel.of(self.model))
        for name in ("blocks", "rows"):
            value = getattr(self, name)
            if value is not None and (isinstance(value, bool) or not isinstance(value, int) or value < 2):
                text = f"{name} of SampleAndAggregate: {value!r} is no number from 2 on."
                raise QueryError(text, code="Q97", hint=f"{name}=1_000")
        _combined(self.parties, self.method, self.blocks)
        if self.bias not in BIASES:
            text = f"bias of SampleAndAggregate: {self.bias!r} is none of {', '.join(BIASES)}."
            raise QueryError(text, code="Q95", hint='bias="cox-snell"')
        if self.model.words["family"] == "Statistic":
            self._uncorrected()
        elif self.bias == "observed" and self.model.law is not None and not self.model.law.smooth:
            text = f"bias of SampleAndAggregate: {self.model.words['family']} has no second derivatives to observe."
            raise QueryError(text, code="Q95", hint='bias="split-half", or leave bias out')
        object.__setattr__(self, "parameters", names("SampleAndAggregate", "parameters", self.parameters))
        self._known()
        self._steps()
        condition(self)

    def _uncorrected(self) -> None:
        """Statistics are corrected by halves, the default, or not: QueryError Q110 for another way."""
        if self.bias not in (BIASES[0], "none", "split-half"):
            text = f"bias of SampleAndAggregate: {self.bias!r} is of likelihoods, and the model is a statistic."
            raise QueryError(text, code="Q110", hint='bias="split-half"')
        object.__setattr__(self, "bias", "split-half" if self.bias == BIASES[0] else self.bias)

    def _known(self) -> None:
        """QueryError Q95 for parameters that the model does not have."""
        law = self.model.law
        unknown = [] if law is None else [name for name in self.parameters if name not in law.names]
        if law is not None and unknown:
            text = f"parameters of SampleAndAggregate: {unknown[0]!r} is none of {', '.join(law.names)}."
            raise QueryError(text, code="Q95", hint=f'parameters="{law.names[0]}"')

    def _steps(self) -> None:
        """QueryError Q103 for what is no yes or no, Q102 for a step of a statistic, or of some parameters alone."""
        for name in ("one_step", "winsorize"):
            if not isinstance(getattr(self, name), bool):
                text = f"{name} of SampleAndAggregate: {getattr(self, name)!r} is neither True nor False."
                raise QueryError(text, code="Q103", hint=f"{name}=True")
        if self.one_step and self.model.words["family"] == "Statistic":
            text = "one_step of SampleAndAggregate: a statistic has no scores to take a step by."
            raise QueryError(text, code="Q102", hint="a likelihood, or leave one_step out")
        if self.one_step and self.parameters:
            text = "one_step of SampleAndAggregate: a step needs all parameters, and releases all."
            raise QueryError(text, code="Q102", hint="leave parameters out, or one_step")

    def to_dict(self) -> dict[str, Any]:
        """Plain values only, defaults left out."""
        words: dict[str, Any] = {"query": "SampleAndAggregate", "what": list(self.what), "model": self.model.words}
        others = ("blocks", "rows", "where", "parties")
        words |= {name: getattr(self, name) for name in others if getattr(self, name) is not None}
        words |= {"method": self.method} if self.method != "tuned" else {}
        words |= {"parameters": list(self.parameters)} if self.parameters else {}
        words |= {name: True for name in ("one_step", "winsorize") if getattr(self, name)}
        return words if self.bias == "cox-snell" else {**words, "bias": self.bias}


def _combined(parties: Any, method: Any, blocks: int | None) -> None:
    """QueryError Q97 for parties that are none, Q116 for a method that is none or has no say."""
    if parties is not None and (isinstance(parties, bool) or not isinstance(parties, int) or parties < 1):
        text = f"parties of SampleAndAggregate: {parties!r} is no number from 1 on."
        raise QueryError(text, code="Q97", hint="parties=40")
    if method not in METHODS or (method != "tuned" and blocks is not None):
        said = f"is none of {', '.join(METHODS)}" if method not in METHODS else "and blocks= both say how many"
        text = f"method of SampleAndAggregate: {method!r} {said}."
        raise QueryError(text, code="Q116", hint='method="tuned"')


def price_of_one(cost: Cost, parameters: int) -> float:
    """The epsilon at which Laplace noise is as wide as the noise of one parameter's share of the price.

    Laplace of scale 1 / epsilon has the variance 2 / epsilon**2, a Gaussian of rho 1 / (2 rho).
    """
    if cost.noise == "laplace" and cost.epsilon is not None:
        return float(cost.epsilon) / parameters
    return 2 * sqrt(float(cost.zcdp) / parameters)


def blocks_for(
    rows: int,
    epsilon: float,
    parameters: int,
    width: float = 1.0,
    second: tuple[float, float] = (4.0, 1.0),
    parties: int | None = None,
) -> int:
    """The k that minimises 2 n w**2 / (k epsilon)**2 + v k / n + M b**2 k**4 / n**3 (theory §2, §6), w, v, b public.

    That is MSE M n I - 1 of the mean over M parties of n rows: noise and second-order variance average out over them,
    bias does not.  At w = 1, v = 4, b = 0 of one party it is (n / epsilon)**(2/3).

    Of one party blocks have at least 20 rows, and ten a parameter; and so many more that the bias, b k**2 / n**(3/2)
    standard errors of all rows without privacy, is at most SKEW of these, with b at least TRUST.  Of several parties
    they have at least ten rows, and ten a parameter.

    width: of the box, in standard deviations w = box sqrt(I) of one row.  second: v and b.

    >>> blocks_for(100_000, 0.5, 2), blocks_for(100_000, 0.5, 2, 3.0), blocks_for(100_000, 0.001, 2, 3.0, (4.0, 0.0))
    (2499, 3246, 5000)
    >>> blocks_for(10_000, 1.0, 1, 4.8, (2.5, 0.0), 50), blocks_for(10_000, 1.0, 1, 4.8, (2.5, 1.0), 50)
    (1000, 406)
    """
    v, b = second
    most = rows / (SHORTEST * parameters)
    if parties is None:
        b = max(b, TRUST)
        most = min(rows / max(LEAST, 10 * parameters), sqrt(SKEW / b) * rows**0.75)

    def excess(k: float) -> float:
        return 2 * rows * (width / (k * epsilon)) ** 2 + v * k / rows + (parties or 1) * b**2 * k**4 / rows**3

    low, high = 2.0, max(2.0, most)
    for _ in range(80):  # one minimum: the sum is convex in k
        a, c = low + (high - low) / 3, high - (high - low) / 3
        low, high = (low, c) if excess(a) < excess(c) else (a, high)
    return max(2, int(high + 1e-6))


def published_blocks(rows: int, epsilon: float) -> int:
    """The number of blocks that is printed for one party, n**(3/5) epsilon**(-2/5) [Smith 2008, Lemma 3.3; theory E3].

    >>> published_blocks(10_000, 1.0)
    251
    """
    return max(1, min(rows, round(rows**0.6 * epsilon**-0.4)))


def published_for_parties(rows: int, epsilon: float, parties: int, box: float) -> int:
    """What minimises N L**2 / (k epsilon)**2 + k**2 M / N**2 as printed [Chen & Sung, Theorem 3.2; theory E18].

    >>> published_for_parties(10_000, 1.0, 50, 4.8)
    824
    """
    return max(1, min(rows, round((rows**3 * box**2 / (parties * epsilon**2)) ** 0.25)))
