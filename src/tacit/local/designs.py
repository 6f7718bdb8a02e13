"""The designs of `tc.local`: each chooses the probabilities of a channel from ε and the levels, rounded for privacy."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any, Final, cast

from tacit.base.arguments import described, named_arguments, plain
from tacit.errors import QueryError
from tacit.local.priced_channel import LEAST, MOST, priced
from tacit.local.response_design import ResponseDesign
from tacit.local.thresholds import DIGITS
from tacit.privacy.cost import asked
from tacit.privacy.exact_numbers import Number, rational, significant
from tacit.privacy.gaussian_bounds import precision, to_decimal, widened

LEVELS: Final = 10_000
"""Most levels of a question."""
BINARY: Final = ("yes", "no")
PROOF: Final = (
    'with forced "yes" alone nobody whose true answer is yes ever says "no", so that a "no" is a proof of innocence: '
    "P(no | yes) = 0, and no ε holds"
)


@named_arguments(QueryError, "Q160", "Warner")
def Warner(epsilon: Number, *, question: str | None = None) -> ResponseDesign:
    """A yes or no, told truly with probability e^ε / (1 + e^ε) and turned round else [Warner 1965].

    question: as it is asked, so that its files are not read as answers to another; every design takes it.

    Raises BudgetError B01 for a number that is no price, QueryError Q160 for one outside 0.001 to 20, Q163 (question).

    >>> coin = Warner(epsilon=1)
    >>> coin.respond(True) in (True, False)
    True
    >>> coin.estimate([True] * 60 + [False] * 40).value
    0.7163953413738683
    """
    return _binary("Warner", _price(epsilon), question)


@named_arguments(QueryError, "Q160", "ForcedResponse")
def ForcedResponse(
    epsilon: Number | None = None,
    *,
    truth: Number | None = None,
    forced: str = "either",
    question: str | None = None,
) -> ResponseDesign:
    """A yes or no, told truly with probability θ, else forced to yes or no by a fair coin.

    epsilon: or `truth` θ, which makes ε = ln((1 + θ) / (1 - θ)).  It is Warner's design with (1 + θ)/2.  forced="yes"
    alone, as textbooks draw it, is refused: a "no" would be a proof (theory §3.1).  Raises QueryError Q160,
    Q163, BudgetError B01.

    >>> float(ForcedResponse(truth="0.5").epsilon)  # ln 3, rounded up
    1.09861228867
    """
    if forced != "either":
        said = f"forced is {described(forced)}: {PROOF}." if forced in BINARY else f"forced is {described(forced)}."
        raise QueryError(said, code="Q160", hint='forced="either", by a fair coin')
    if (epsilon is None) == (truth is None):
        text = "a forced response needs one of epsilon and truth."
        raise QueryError(text, code="Q160", hint="ForcedResponse(epsilon=1), or truth=0.5")
    exact = _price(epsilon) if truth is None else _price_of(truth)
    # θ = (e^ε - 1) / (e^ε + 1), told or not the answer is true with (1 + θ)/2
    return _binary("ForcedResponse", exact, question)


@named_arguments(QueryError, "Q160", "KaryResponse")
def KaryResponse(levels: Sequence[Any], epsilon: Number, *, question: str | None = None) -> ResponseDesign:
    """One of k levels: the own one with probability e^ε / (e^ε + k - 1), else another, each alike.

    Narrowest of all designs where k is below about 3 e^ε + 2.  Raises QueryError Q160, Q163, BudgetError B01.

    >>> survey = KaryResponse(["never", "once", "often"], epsilon=2)
    >>> survey.respond("once") in survey.levels
    True
    """
    exact, named = _price(epsilon), _levels(levels)
    return _asked(ResponseDesign("KaryResponse", named, exact, priced("choice", len(named), exact)), question)


@named_arguments(QueryError, "Q160", "UnaryEncoding")
def UnaryEncoding(levels: Sequence[Any], epsilon: Number, *, question: str | None = None) -> ResponseDesign:
    """A set of levels, each drawn by itself: the own one with 1/2, any other with 1 / (1 + e^ε).

    Optimised unary encoding [Wang, Blocki, Li & Jha 2017].  Raises QueryError Q160, Q163, BudgetError B01.

    >>> survey = UnaryEncoding(["a", "b", "c"], epsilon=2)
    >>> set(survey.respond("a")) <= {"a", "b", "c"}
    True
    """
    exact, named = _price(epsilon), _levels(levels)
    return _asked(ResponseDesign("UnaryEncoding", named, exact, priced("bits", len(named), exact)), question)


@named_arguments(QueryError, "Q160", "SubsetSelection")
def SubsetSelection(
    levels: Sequence[Any], epsilon: Number, *, size: int | None = None, question: str | None = None
) -> ResponseDesign:
    """A set of d levels: with the own one with probability d e^ε / (d e^ε + k - d), the others any, each alike.

    size: d; where not given, the d with the least error of a rare level, near k / (1 + e^ε), which no other design is
    narrower than [Ye & Barg 2018].  Raises QueryError Q160, Q163, BudgetError B01.

    >>> SubsetSelection(range(12), epsilon=1).channel.size
    3
    """
    exact, named = _price(epsilon), _levels(levels)
    k = len(named)
    if size is not None and (isinstance(size, bool) or not isinstance(size, int) or not 1 <= size < k):  # pyright: ignore[reportUnnecessaryIsInstance]
        text = f"size is {described(size)}: not a whole number from 1 to {k - 1:,}, one less than levels."
        raise QueryError(text, code="Q160", hint="leave size= out")
    return _asked(ResponseDesign("SubsetSelection", named, exact, priced("subset", k, exact, size)), question)


def _asked(design: ResponseDesign, question: str | None) -> ResponseDesign:
    """Return the design with its question, where one is given; QueryError Q163 for one that is none."""
    return design if question is None else design.asking(question)


def _binary(name: str, epsilon: Fraction, question: str | None) -> ResponseDesign:
    """Return a design of a yes or no, which is true with probability e^ε / (1 + e^ε)."""
    return _asked(ResponseDesign(name, BINARY, epsilon, priced("choice", 2, epsilon)), question)


def _price(epsilon: object) -> Fraction:
    """Return ε as a rational; BudgetError B01 for no number, QueryError Q160 outside the limits."""
    exact = asked(epsilon, "epsilon")
    if not LEAST <= exact <= MOST:
        limits = f"outside {float(LEAST):g} to {MOST}, where an answer is neither a coin nor the truth"
        raise QueryError(f"epsilon is {described(epsilon)}: {limits}.", code="Q160", hint="epsilon=1")
    return exact


def _price_of(truth: object) -> Fraction:
    """Return ε = ln((1 + θ) / (1 - θ)), rounded up to 12 digits; QueryError Q160 unless 0 < θ < 1."""
    theta = rational(truth, "truth")
    if not 0 < theta < 1:
        text = f"truth is {described(truth)}: not a probability above 0 and below 1."
        raise QueryError(text, code="Q160", hint="truth=0.5")
    ratio = (1 + theta) / (1 - theta)
    with precision(DIGITS):
        found = Fraction(widened(to_decimal(ratio).ln(), DIGITS - 10)[1])
    return _price(significant(found, 12, up=True))


def _levels(levels: object) -> tuple[Any, ...]:
    """Return at least two levels, each once; QueryError Q160."""
    listed = isinstance(levels, Sequence) and not isinstance(levels, str)
    named: list[Any] = [plain(one) for one in cast("Sequence[Any]", levels)] if listed else []
    good = all(isinstance(one, str | int | bool) for one in named) and len({str(one) for one in named}) == len(named)
    if not good or not 2 <= len(named) <= LEVELS:
        text = f"levels is {described(cast(object, levels))}: not 2 to {LEVELS:,} different names."
        raise QueryError(text, code="Q160", hint='levels=["never", "once", "often"]')
    return tuple(named)
