"""`LocalPlan`: how precise a share is from randomised answers, and from a curator's noise at the same ε."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Final

from tacit.base.arguments import described
from tacit.base.lazy_imports import special
from tacit.base.table import Table, format_number, shown_by_summary
from tacit.errors import QueryError
from tacit.estimates.terms import check_level
from tacit.local import priced_channel
from tacit.local.channel import Channel

if TYPE_CHECKING:
    from tacit.local.response_design import ResponseDesign

MOST: Final = 10**12
STEP: Final = 1_000
"""A price that is planned is a whole number of 1 / STEP."""


def curators_noise(design: ResponseDesign, rows: float, *, groups: int = 1) -> float:
    """Return the standard deviation of a curator's Laplace noise on the share of a level among `rows` rows.

    A replaced row moves a single count by 1 (scale 1/ε), and counts of several levels or groups by 2 in all.
    """
    scale = (1 if design.binary and groups == 1 else 2) / float(design.epsilon)
    return math.sqrt(2) * scale / rows


@shown_by_summary
@dataclass(frozen=True, repr=False)
class LocalPlan:
    """Expected standard errors of the share of one level, and how many answers, or which ε, a width needs.

    std_error: of randomised answers.  sampling: of `rows` true answers.  central: of true answers with a curator's
    Laplace noise of the same ε (replace-one).

    >>> from tacit.local import Warner
    >>> plan = Warner(epsilon=1).plan(1_000, share=0.1)
    >>> plan.central < plan.std_error, plan.rows_for(plan.width) == plan.rows
    (True, True)
    >>> plan.epsilon_for(0.06)
    2.177
    """

    design: ResponseDesign
    rows: int
    share: float
    level: float

    @property
    def std_error(self) -> float:
        """√(λ (1 - λ) / n) / (p - q), λ = q + (p - q) π [theory §3.1, for any p and q]."""
        return self._error_of(self.design.channel) / math.sqrt(self.rows)

    @property
    def sampling(self) -> float:
        """√(π (1 - π) / n)."""
        return math.sqrt(self.share * (1 - self.share) / self.rows)

    @property
    def central(self) -> float:
        """Sampling and a curator's noise: a count has scale 1/ε, counts of several levels 2/ε."""
        return math.hypot(self.sampling, curators_noise(self.design, self.rows))

    @property
    def width(self) -> float:
        """Width of the interval."""
        return 2 * float(special().ndtri(0.5 + self.level / 2)) * self.std_error

    def rows_for(self, width: float) -> int:
        """Return how many answers make the interval so narrow; QueryError Q163 for a width not above 0."""
        return math.ceil(self.rows * (self.width / _checked_width(width)) ** 2)

    def epsilon_for(self, width: float) -> float:
        """Return the least ε, in thousandths, at which as many answers make the interval so narrow.

        Of the same kind of design for the same levels; `SubsetSelection` with the best size of its sets at each ε.
        Raises QueryError Q163 for a width not above 0, and for one that so many answers do not reach at ε = 20.
        """
        wanted = _checked_width(width)
        low, high = int(STEP * priced_channel.LEAST), STEP * priced_channel.MOST
        if (least := self._width_at(high)) > wanted:
            text = f"{self.rows:,} answers make no interval so narrow: at ε = {high // STEP} it is {least:.3g} wide."
            raise QueryError(text, code="Q163", hint=f"plan.rows_for({width!r})")
        # what is drawn at a smaller ε is an answer at a larger one, randomised again: widths fall with ε
        while low < high:
            middle = (low + high) // 2
            low, high = (low, middle) if self._width_at(middle) <= wanted else (middle + 1, high)
        return high / STEP

    def summary(self) -> Table:
        """Return the table."""
        z = 2 * float(special().ndtri(0.5 + self.level / 2))
        ways = (
            ("randomised by each person", self.std_error),
            ("a trusted curator at the same ε", self.central),
            ("true answers", self.sampling),
        )
        rows = [(name, format_number(e, decimals=4), format_number(z * e, decimals=4)) for name, e in ways]
        as_many = math.ceil(self.rows * (self.std_error / self.central) ** 2)
        notes = (f"randomised answers need {as_many:,} people for what a curator's {self.rows:,} tell",)
        title = f"{self.design} · {self.rows:,} answers · a share of {100 * self.share:g} %"
        return Table(title, ("answers", "std. error", f"{100 * self.level:g}% width"), tuple(rows), notes)

    def _width_at(self, thousandths: int) -> float:
        """Return the width of the interval at ε = thousandths / 1,000."""
        one = self.design.channel
        found = priced_channel.priced(one.kind, one.levels, Fraction(thousandths, STEP))
        return 2 * float(special().ndtri(0.5 + self.level / 2)) * self._error_of(found) / math.sqrt(self.rows)

    def _error_of(self, channel: Channel) -> float:
        """Return the standard error of a single answer."""
        p, q = float(channel.own), float(channel.wrong)
        shown = q + (p - q) * self.share
        return math.sqrt(shown * (1 - shown)) / (p - q)


def _checked_width(width: float) -> float:
    """Return a width; QueryError Q163 for one that is not above 0 and below 1."""
    number = not isinstance(width, bool) and isinstance(width, int | float)  # pyright: ignore[reportUnnecessaryIsInstance]
    if not number or not 0 < width < 1:
        raise QueryError(f"width is {described(width)}: not above 0 and below 1.", code="Q163", hint="width=0.05")
    return width


def local_plan(design: ResponseDesign, rows: object, share: object, level: float) -> LocalPlan:
    """Return the plan; QueryError Q163 for a number of answers or a share that is none."""
    if isinstance(rows, bool) or not isinstance(rows, int) or not 1 <= rows <= MOST:
        raise QueryError(f"rows is {described(rows)}: not a number of answers.", code="Q163", hint="rows=1_000")
    if isinstance(share, bool) or not isinstance(share, int | float) or not 0 <= share <= 1:
        raise QueryError(f"share is {described(share)}: not from 0 to 1.", code="Q163", hint="share=0.1")
    check_level(level)
    return LocalPlan(design, rows, float(share), level)
