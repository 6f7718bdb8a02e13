"""The plan of a study: its parties, and the expected widths of pooled intervals where they are known."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Final

from tacit.base.arguments import described
from tacit.errors import QueryError, nearest
from tacit.method.blocks.query import SampleAndAggregate
from tacit.method.moments.query import Mean, Variance
from tacit.method.shared.plan_expected import Expected
from tacit.planning.pooled import Pool, Reach, free_line, pools, reach
from tacit.privacy import Cost
from tacit.study import Study

POOLED: Final = (Mean, Variance)
"""Questions whose answers estimate one quantity where effects are common; totals and shares of cells do not."""
MOST: Final = 1e300
RULE: Final = (
    "that part falls as 1/(N ε²) (as 1/(N ρ) of normal noise), N the rows of a party, and not with the number of "
    "parties: privacy is free where ε is well above 1/√N, and takes more below, however many answer (theory §6)"
)
DIFFERING: Final = (
    "that is where parties do not differ; where they do, by a standard deviation τ, no interval of M parties is "
    "narrower than 2 t(M-1) τ/√M, and only more parties help"
)


@dataclass(frozen=True)
class Parties:
    """Public facts of a study's parties.

    number: how many are listed, 0 where anybody may answer.  expected: how many the study says, 0 where it does not.
    pools: of each term of the questions that have one quantity to estimate.  reaches: what would make intervals as
    narrow as wanted.  blocks: questions with as many blocks as suit the mean over `expected` parties.  alone: with as
    many as suit one party's own answer.
    """

    number: int
    optional: int
    effects: str
    minimum: int
    closes: date | None
    pools: tuple[Pool, ...] = ()
    reaches: tuple[Reach, ...] = ()
    expected: int = 0
    blocks: tuple[str, ...] = ()
    alone: tuple[str, ...] = ()

    @property
    def together(self) -> bool:
        """Whether a width of all parties together is known: how many is said, several, and their effects common.

        With random effects it depends on how much parties differ, which nobody knows beforehand.
        """
        return self.effects == "common" and (self.number or self.expected) > 1

    def pooled(self, name: str, term: str) -> float | None:
        """Width of an interval from all parties together; None where it is not known."""
        found = (one.width for one in self.pools if (one.name, one.term) == (name, term))
        return next(found, None) if self.together else None

    def lines(self) -> tuple[str, ...]:
        """What a page says of them."""
        listed = f"{self.number:,} parties" if self.number else "any party"
        listed += f", {self.expected:,} expected" if self.expected and not self.number else ""
        first = f"{listed}{f', {self.optional:,} of them optional' if self.optional else ''}; {self.effects} effects"
        found = [f"{first}; a pooled result takes {self.minimum:,} or more answers"]
        if self.closes is not None:
            found.append(f"answers count until {self.closes.isoformat()}")
        if 0 < self.number < self.minimum:
            found.append(f"{self.number:,} parties are listed, and {self.minimum:,} are needed: nothing will be pooled")
        if self.blocks:
            found.append(f"blocks of rows are as many as suit the mean over {self.expected:,} parties")
        for name in self.alone:
            words = f"{name!r} has as many blocks as suit one party; [combine] parties = {max(self.number, 2)}"
            found.append(f"{words} would suit the mean of all")
        if self.effects == "random" and (self.number or self.expected) > 1:
            found.append("no pooled width is foretold: parties may differ, by how much nobody knows yet")
        return tuple(found)

    def free(self) -> tuple[str, ...]:
        """Where privacy is free and where it is not, one line a question; none without a question that pools."""
        worst: dict[str, Pool] = {}
        for one in self.pools:
            if one.name not in worst or one.added > worst[one.name].added:
                worst[one.name] = one
        return (*map(free_line, worst.values()), RULE) if worst else ()

    def reached(self, fits: Callable[[Cost], bool]) -> tuple[str, ...]:
        """What would reach the widths wanted; fits: whether the budget admits a price."""
        said = tuple(one.line(fits) for one in self.reaches)
        return said if not said or self.effects == "common" else (*said, DIFFERING)


def parties_of(
    study: Study, typical: int, found: Mapping[str, Sequence[Expected]], cost: Cost, level: float
) -> Parties:
    """Study, rows of a typical party, what it would show of each question -> what a plan needs of the parties."""
    listed, expected = study.parties.values(), study.combining.parties or 0
    sizes = [one.rows or typical for one in listed] or [typical] * expected
    blocks = {name: one for name, one in study.asks.items() if isinstance(one, SampleAndAggregate)}
    alone = [name for name, one in blocks.items() if not (one.parties or one.blocks or one.one_step or one.winsorize)]
    kept = {name: terms for name, terms in found.items() if isinstance(study.asks[name], POOLED)}
    return Parties(
        number=len(listed),
        optional=sum(one.optional for one in listed),
        effects=study.combining.effects,
        minimum=study.combining.minimum,
        closes=study.closes,
        pools=pools(kept, cost, typical, sizes, level),
        expected=expected,
        blocks=tuple(name for name, one in blocks.items() if expected and one.parties == expected),
        alone=tuple(alone) if len(listed) > 1 else (),
    )


def reaches(made: Parties, width: float | Mapping[str, float]) -> tuple[Reach, ...]:
    """Widths wanted -> the ways there, of each question by its widest term.

    QueryError Q40 for a width that is no number above 0, a question that does not pool, or one number for several.
    """
    names = list(dict.fromkeys(one.name for one in made.pools))
    if not isinstance(width, Mapping):
        if len(names) != 1:
            asked = ", ".join(names) or "none"
            text = f"one width for {len(names)} questions that estimate one quantity: {asked}."
            raise QueryError(text, code="Q40", hint=f'width={{"{names[0] if names else "stay"}": 0.5}}')
        width = {names[0]: width}
    out: list[Reach] = []
    for name, wanted in width.items():
        if name not in names:
            guess = nearest(name, names) or ", ".join(names) or "a Mean or a Variance"
            raise QueryError(f"{name!r} is no question that parties estimate together.", code="Q40", hint=guess)
        if isinstance(wanted, bool) or not isinstance(wanted, int | float) or not 0 < wanted < MOST:  # pyright: ignore
            raise QueryError(
                f"width of {name!r} is {described(wanted)}: not above 0.", code="Q40", hint="in the column's units"
            )
        own = [one for one in made.pools if one.name == name]
        # the widest term of the question decides
        out.append(reach(max(own, key=lambda one: one.variance((one.typical,))), float(wanted)))
    return tuple(out)
