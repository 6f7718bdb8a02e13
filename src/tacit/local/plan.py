"""`LocalPlan`: how precise a share is from randomised answers, and from a curator's noise at the same ε."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from tacit.base.arguments import described
from tacit.base.lazy_imports import special
from tacit.base.table import Table, format_number, shown_by_summary
from tacit.errors import QueryError
from tacit.estimates.terms import check_level

if TYPE_CHECKING:
    from tacit.local.response_design import ResponseDesign

MOST: Final = 10**12


def curators_noise(design: ResponseDesign, rows: float, *, groups: int = 1) -> float:
    """Return the standard deviation of a curator's Laplace noise on the share of a level among `rows` rows.

    A replaced row moves a single count by 1 (scale 1/ε), and counts of several levels or groups by 2 in all.
    """
    scale = (1 if design.binary and groups == 1 else 2) / float(design.epsilon)
    return math.sqrt(2) * scale / rows


@shown_by_summary
@dataclass(frozen=True, repr=False)
class LocalPlan:
    """Expected standard errors of the share of one level, and how many answers a width needs.

    std_error: of randomised answers.  sampling: of `rows` true answers.  central: of true answers with a curator's
    Laplace noise of the same ε (replace-one).

    >>> from tacit.local import Warner
    >>> plan = Warner(epsilon=1).plan(1_000, share=0.1)
    >>> plan.central < plan.std_error, plan.rows_for(plan.width) == plan.rows
    (True, True)
    """

    design: ResponseDesign
    rows: int
    share: float
    level: float

    @property
    def std_error(self) -> float:
        """√(λ (1 - λ) / n) / (p - q), λ = q + (p - q) π [theory §3.1, for any p and q]."""
        return self._error(1) / math.sqrt(self.rows)

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
        if not 0 < width < 1:
            raise QueryError(f"width is {described(width)}: not above 0 and below 1.", code="Q163", hint="width=0.05")
        return math.ceil(self.rows * (self.width / width) ** 2)

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

    def _error(self, rows: int) -> float:
        p, q = float(self.design.channel.own), float(self.design.channel.wrong)
        shown = q + (p - q) * self.share
        return math.sqrt(shown * (1 - shown) / rows) / (p - q)


def local_plan(design: ResponseDesign, rows: object, share: object, level: float) -> LocalPlan:
    """Return the plan; QueryError Q163 for a number of answers or a share that is none."""
    if isinstance(rows, bool) or not isinstance(rows, int) or not 1 <= rows <= MOST:
        raise QueryError(f"rows is {described(rows)}: not a number of answers.", code="Q163", hint="rows=1_000")
    if isinstance(share, bool) or not isinstance(share, int | float) or not 0 <= share <= 1:
        raise QueryError(f"share is {described(share)}: not from 0 to 1.", code="Q163", hint="share=0.1")
    check_level(level)
    return LocalPlan(design, rows, float(share), level)
