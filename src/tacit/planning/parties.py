"""What a study's plan says of many parties: how many, and how wide pooled intervals would be where that is known."""

from __future__ import annotations

import math
from dataclasses import dataclass
from datetime import date
from typing import Any, Final

from tacit.queries import Mean, Query, Variance
from tacit.study import Study

POOLED: Final = (Mean, Variance)
"""Questions whose answers estimate one quantity where effects are common; totals and shares of cells do not."""


@dataclass(frozen=True)
class Parties:
    """Public facts of a study's parties.

    number: how many are listed, 0 where anybody may answer.  alike: none is of another size.
    """

    number: int
    optional: int
    effects: str
    minimum: int
    alike: bool
    closes: date | None

    @property
    def root(self) -> float | None:
        """Square root of the number of equal, independent answers to one quantity; None where there is no such thing.

        Estimates of variances s² that are independent have a mean of variance s²/k; with random effects it depends on
        how much parties differ, which nobody knows beforehand.
        """
        return math.sqrt(self.number) if self.effects == "common" and self.alike and self.number > 1 else None

    def pooled(self, query: Query[Any], width: float) -> float | None:
        """Width of an interval from all parties, of which each has `width`; None where it is not known."""
        return None if self.root is None or not isinstance(query, POOLED) else width / self.root

    def lines(self) -> tuple[str, ...]:
        """What a page says of them."""
        listed = f"{self.number:,} parties" if self.number else "any party"
        first = f"{listed}{f', {self.optional:,} of them optional' if self.optional else ''}; {self.effects} effects"
        found = [f"{first}; a pooled result takes {self.minimum:,} or more answers"]
        if self.closes is not None:
            found.append(f"answers count until {self.closes.isoformat()}")
        if 0 < self.number < self.minimum:
            found.append(f"{self.number:,} parties are listed, and {self.minimum:,} are needed: nothing will be pooled")
        if self.root is None and self.number > 1:
            why = "parties may differ, by how much nobody knows yet" if self.effects == "random" else "of several sizes"
            found.append(f"no pooled width is foretold: {why}")
        return tuple(found)


def parties_of(study: Study) -> Parties:
    """Study -> what its plan needs of its parties."""
    listed = study.parties.values()
    return Parties(
        number=len(listed),
        optional=sum(one.optional for one in listed),
        effects=study.combining.effects,
        minimum=study.combining.minimum,
        alike=all(one.rows in (None, study.rows) for one in listed),
        closes=study.closes,
    )
