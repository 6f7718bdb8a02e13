"""`HoldoutDesign`: threshold, price, and how each run's price is divided; the decision of one check.  No data here.

All of a hold-out is counted in steps: a score in its range is a whole number u from 0 to `steps`, a training value is
the place p of its nearest step, and the threshold is the number of steps t.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import exp, isqrt
from typing import Any, Final

from tacit.base.arguments import described
from tacit.base.json_text import is_text
from tacit.errors import BudgetError, QueryError
from tacit.noise.laws import DiscreteLaplace
from tacit.privacy import Cost, Number
from tacit.privacy.exact_numbers import rational, significant

VERSION: Final = "holdout/1"
STEPS: Final = 2**20
"""Steps of a score's range: the sum of scores over 2**42 rows stays below 2**63."""
MOST_ANSWERS: Final = 1_000
DIGITS: Final = 12
"""Digits to which the ε of a run is rounded down where the price is a ρ."""
QUARTER: Final = Fraction(1, 4)
"""Share of a run's ε for the noise of the threshold, and for that of the comparisons; the answer has the other half."""


@dataclass(frozen=True)
class HoldoutDesign:
    """What is public of a hold-out.  Made by `holdout_design`.

    threshold: the difference that is looked for, as a share of a score's range.  price: of all runs together.  answers:
    the most runs, each of which ends with one answer from the hold-out.  epsilon: the ε of one run.
    """

    name: str
    threshold: Fraction
    price: Cost
    answers: int
    epsilon: Fraction
    steps: int = STEPS

    @property
    def run_cost(self) -> Cost:
        """The cost of one run: pure, whatever the price was stated in."""
        return Cost(epsilon=self.epsilon)

    @property
    def answer_cost(self) -> Cost:
        """The part of a run's cost that its answer is released at."""
        return Cost(epsilon=self.epsilon / 2)

    @property
    def threshold_steps(self) -> int:
        """t, the threshold in steps: at least 1."""
        return round(self.threshold * self.steps)

    @property
    def sensitivity(self) -> int:
        """The most that a neighbour changes what is compared: steps + t (`mechanism_holdout`, Sensitivity)."""
        return self.steps + self.threshold_steps

    @property
    def threshold_law(self) -> DiscreteLaplace:
        """Law of the noise of a run's threshold: scale sensitivity / (ε/4)."""
        return DiscreteLaplace(self.sensitivity / (QUARTER * self.epsilon))

    @property
    def comparison_law(self) -> DiscreteLaplace:
        """Law of the noise of each comparison: scale 2 sensitivity / (ε/4)."""
        return DiscreteLaplace(2 * self.sensitivity / (QUARTER * self.epsilon))

    def excess(self, total: int, present: int, place: int) -> int:
        """Return |total - place * present| - t * present, above 0 where the difference exceeds the threshold.

        total: the sum of scores in steps; present: how many rows have one; place: the training value in steps.
        """
        return abs(total - place * present) - self.threshold_steps * present

    def chance(self, difference: float, rows: int) -> float:
        """Return the probability that one check is answered from a hold-out of `rows`, the means differing so much.

        difference: as a share of the range; not rounded to steps, which are small beside the noise.
        """
        a, b = float(self.threshold_law.scale), float(self.comparison_law.scale)
        x = (float(self.threshold) - abs(difference)) * rows * self.steps
        # P(B - A > |x|), A and B Laplace of scales a and b: by partial fractions of their densities' transforms
        tail = (b * b * exp(-abs(x) / b) - a * a * exp(-abs(x) / a)) / (2 * (b * b - a * a))
        return tail if x >= 0 else 1 - tail

    def to_dict(self) -> dict[str, Any]:
        """Return what identifies the hold-out, as plain JSON values."""
        return {
            "name": self.name,
            "threshold": str(self.threshold),
            "price": self.price.to_dict(),
            "answers": self.answers,
            "steps": self.steps,
        }


def holdout_design(
    threshold: Number,
    *,
    epsilon: Number | None = None,
    delta: Number | None = None,
    rho: Number | None = None,
    answers: int = 10,
    name: str = "hold-out",
) -> HoldoutDesign:
    """Return the design of a hold-out.

    A price in ε is divided into `answers` equal runs.  A price in ρ is divided likewise, and a run of ε is ε²/2-zCDP
    [Bun & Steinke 2016, Proposition 1.4], so that ε is the root of 2 ρ / answers, rounded down.

    Raises QueryError Q192 (threshold, answers, name), BudgetError B01, B03, B22 (price), NoiseError N01
    where so low a price needs wider noise than can be drawn.

    >>> holdout_design("0.02", rho="0.05").run_cost
    Cost(epsilon=Fraction(1, 10), delta=None, rho=None, mu_squared=None)
    """
    share = _threshold(threshold)
    if isinstance(answers, bool) or not isinstance(answers, int) or not 1 <= answers <= MOST_ANSWERS:  # pyright: ignore[reportUnnecessaryIsInstance]
        text = f"answers is {described(answers)}: not a whole number from 1 to {MOST_ANSWERS:,}."
        raise QueryError(text, code="Q192", hint="answers=10")
    if not isinstance(name, str) or not name.strip() or not is_text(name):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise QueryError(f"name is {described(name)}: not a text.", code="Q192", hint='name="hold-out"')
    price = Cost.of(epsilon=epsilon, delta=delta, rho=rho)
    made = HoldoutDesign(name, share, price, answers, _of_one_run(price, answers))
    made.comparison_law  # noqa: B018  (for its error: a scale that is too wide is refused before anything is asked)
    return made


def _threshold(given: object) -> Fraction:
    """Return the threshold as a rational; QueryError Q192 unless it is above 0 and below 1, and a step at least."""
    try:
        share = rational(given, "threshold")
    except BudgetError:
        share = Fraction(0)
    if not Fraction(1, STEPS) <= share < 1:
        text = f"threshold is {described(given)}: not a share of a score's range from 0.000001 to below 1."
        raise QueryError(text, code="Q192", hint="threshold=0.02")
    return share


def _of_one_run(price: Cost, answers: int) -> Fraction:
    """Return the ε of one run; BudgetError B22 for a price with a δ, of which a hold-out has no use."""
    if price.kind == "pure" and price.epsilon is not None:
        return price.epsilon / answers
    if price.rho is None:
        raise BudgetError(f"a hold-out has no use for the δ of {price}.", code="B22", hint="epsilon=1, or rho=0.05")
    twice = 2 * price.rho / answers
    root = Fraction(isqrt((twice.numerator << 256) // twice.denominator), 1 << 128)
    # exact where twice is a square of few digits; else rounded down, so that answers * ε²/2 is at most the price
    near = significant(root, DIGITS, up=True)
    return near if near**2 <= twice else significant(root, DIGITS, up=False)
