"""`Plan`: one page in words for those who must approve a release (api §3), from public facts only."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from fractions import Fraction
from itertools import groupby
from pathlib import Path
from typing import Any, Final

from tacit.base import page_documents
from tacit.base.table import Align, Table
from tacit.ledger import Standing
from tacit.method.bootstrap.query import Bootstrap
from tacit.method.regression.query import Regression
from tacit.method.shared.plan_expected import Expected
from tacit.method.shared.plan_shares import NOTHING
from tacit.method.shared.price_parts import charged_price, price_parts
from tacit.planning import page_text
from tacit.planning.guarantee import factor, guarantee
from tacit.planning.guessed_spreads import WidthRange
from tacit.planning.other_price import OtherPrice
from tacit.planning.page_notes import notes
from tacit.planning.page_text import BoardRequest
from tacit.planning.printed_widths import percent_of, printed, printed_range
from tacit.planning.question import PlannedQuestion
from tacit.planning.study_plan import Parties
from tacit.privacy import Budget, Cost, Spend
from tacit.privacy.bought import Bought
from tacit.schema.expectations import Expectations

SIDES: Final[tuple[Align, ...]] = ("left", "left", "right", "right", "right")
SHOWN: Final = 40
"""Lines of terms listed on a page; the rest are counted."""
ALIKE: Final = 5
"""Terms of a question, one after another, from which on those of the same widths have one line."""


@dataclass(frozen=True, repr=False)
class Plan:
    """The plan of a release: its cost, the number of noisy integers, expected precision and cautions.

    All of it is public; nothing is read or spent.  `width`, `privacy_share` and `width_without_privacy` are those of
    the widest interval, in the column's units.

    >>> import tacit as tc
    >>> made = tc.plan(tc.Mean("age"), tc.Schema({"age": tc.Real(0, 100, missing=0)}), rows=1_000, rho=0.1)
    >>> made.fits, made.numbers, made.width_without_privacy < made.width, made.cautions()
    (True, 2, True, ())
    """

    table: str
    rows: int
    public: bool
    guessed: bool
    neighbors: str
    cost: Cost
    level: float
    parts: tuple[PlannedQuestion, ...]
    budget: Budget | None
    spent: Spend
    left: str | None
    parties: Parties | None = None
    """Of a study: then precision is that of one party."""
    analyst: str | None = None
    limit: Budget | None = None
    """What this analyst may spend of the whole budget; `own` is what the analyst has spent."""
    own: Spend = field(default_factory=Spend)
    expect: Expectations = NOTHING
    """What is expected of columns; of others, that values and levels are spread evenly."""
    digest: str = ""
    """SHA-256 of the request: table, schema, budget, questions, price and shares."""
    asked: Cost | None = None
    """The price that was asked for, where it may buy another (`cost`)."""
    other: OtherPrice | None = None
    """A price that the ledger is charged no more for, with clearly narrower intervals."""
    request: BoardRequest | None = None
    """Who asks, when, and what is to be run once the page is signed."""
    known: str = ""
    """What the ledger knows of the questions, in words: that they are answered, or a name taken."""
    free: bool = False
    """Whether they are paid for, so that the release costs nothing."""
    in_files: bool = False
    """Whether the page speaks of lines of files and options, in place of arguments of Python."""

    @property
    def widest(self) -> Expected:
        """The term with the widest interval."""
        return max((one for part in self.parts for one in part.terms), key=lambda one: one.width)

    @property
    def width(self) -> float:
        """Expected width of the widest interval."""
        return self.widest.width

    @property
    def width_without_privacy(self) -> float:
        """Width of the same interval if there were no noise."""
        return self.widest.without

    @property
    def privacy_share(self) -> float:
        """Share of the widest interval's variance that is noise for privacy."""
        return self.widest.privacy

    @property
    def ranges(self) -> Mapping[str, tuple[WidthRange, ...]]:
        """The least and largest width of each term, by question, over what is left open of its columns.

        Where nothing is said of a column: values that fill the bounds or a tenth of them, or lie at both; Booleans that
        are true in half of the rows or in one of twenty, in a group in none; levels as frequent as others or as rare as
        that.  Of regressions that are told their columns: long tails, columns that go together; of quantiles: shapes
        that agree with what is told; of densities: values that gather; of means of blocks: estimates that vary more or
        less than the law says.  Where a guess, or one of several simulated releases, leaves no answer, the range is
        that of the others, and `always` is False.

        >>> import tacit as tc
        >>> schema = tc.Schema({"age": tc.Real(0, 100), "pay": tc.Real(0, 9_000)})
        >>> made = tc.plan(tc.Regression("pay ~ age"), schema, rows=10_000, rho=1)
        >>> made.ranges[""][1].least < made.parts[0].terms[1].width < made.ranges[""][1].largest
        True
        """
        return {part.name: part.ranges for part in self.parts if part.ranges}

    @property
    def numbers(self) -> int:
        """How many noisy integers would be released."""
        return sum(part.numbers for part in self.parts)

    @property
    def fits(self) -> bool:
        """Whether the budget, where one is known, admits the price, and the analyst's limit where there is one."""
        limits = ((self.budget, self.spent), (self.limit, self.own))
        return all(limit is None or limit.admits(spent, self.charged, self.bought) for limit, spent in limits)

    @property
    def charged(self) -> Cost:
        """What the ledger would be charged: the price, or the approximate part that it buys.

        Raises BudgetError B04 for a price that buys none.
        """
        accounting = None if self.budget is None else self.budget.kind
        return charged_price(self.cost, [part.shape for part in self.parts], accounting)

    @property
    def bought(self) -> tuple[Bought, ...]:
        """What the price would be spent on."""
        return price_parts(part.shape for part in self.parts)

    def by(self, standing: Standing) -> Plan:
        """Return the same plan for an analyst of a ledger, with the analyst's limit."""
        return replace(self, analyst=standing.analyst, limit=standing.limit, own=standing.own)

    def with_known(self, known: str, free: bool) -> Plan:
        """Return the same plan with what the ledger knows of its questions."""
        return replace(self, known=known, free=free)

    def for_board(
        self, *, title: str = "", asked_by: str = "", command: str = "", on: date | None = None, digest: str = ""
    ) -> Plan:
        """Return the same plan as a page to be signed.

        title: of the request.  asked_by: who asks.  command: what is to be run once it is signed.  on: the date of the
        page, today where not given.  digest: of the request, where it is not that of the plan.

        >>> import tacit as tc
        >>> made = tc.plan(tc.Mean("age"), tc.Schema({"age": tc.Real(0, 100)}), rows=1_000, rho=0.1)
        >>> print(made.for_board(title="Ages", asked_by="A. Analyst").to_text().splitlines()[0])
        Ages
        """
        asked = BoardRequest(title or f"A release of {self.table}", asked_by, on or date.today(), command)
        return replace(self, request=asked, digest=digest or self.digest)

    @property
    def counted(self) -> str:
        """What `rows` counts: rows, or persons where the schema has a PrivacyUnit."""
        return "rows" if self.parts[0].shape.unit is None else "persons"

    @property
    def guarantee(self) -> str:
        """The privacy guarantee in one sentence, which names the unit of privacy."""
        most = self.parts[0].shape.max_rows
        return guarantee(self.cost, public=self.public, persons=self.counted == "persons", most=most)

    @property
    def rate(self) -> str:
        """The minimax rate of d means under pure privacy in words: the best of any method, up to constants."""
        d = sum(_means(part) for part in self.parts)
        rho = float(self.cost.zcdp)
        # ε²/2 = ρ: the pure price that implies this ρ
        epsilon = float(self.cost.epsilon) if self.cost.epsilon is not None else math.sqrt(2 * rho)
        sampling, privacy = d / self.rows, d**3 / (self.rows * epsilon) ** 2
        return (
            f"minimax rate of {d} mean{'s' if d > 1 else ''} under pure privacy: d/n + d³/(n²ε²) = "
            f"{sampling:.2g} + {privacy:.2g} (on [0, 1], up to constants)"
        )

    def cautions(self) -> tuple[str, ...]:
        """Return cautions, from public facts."""
        found: list[str] = [self.known] if self.known else []
        if not self.fits and not self.free:
            whole = self.budget is not None and not self.budget.admits(self.spent, self.charged, self.bought)
            what = "budget" if whole else f"limit of analyst {self.analyst!r}"
            found.append(f"the {what} does not admit this price: the release would be refused")
        for part in self.parts:
            found += part.cautions(self.rows)
        # of a pair whose ε alone is narrower each question says so
        if self.other is not None and self.other.charged.delta >= self.other.now.delta:
            found.append(self.other.line(self.asked or self.cost))
        # a mechanism that publishes each row with probability δ is (0, δ)-private
        if self.cost.delta is not None and float(self.cost.delta) * self.rows > 0.1:
            found.append(
                f"δ = {float(self.cost.delta):.0e} is not far below 1/n: one person in so many may be revealed"
            )
        if self.cost.kind == "pure" and (self.cost.epsilon or 0) > 5:
            found.append(f"{self.cost} is a weak promise: a factor of {factor(self.cost.epsilon)}")
        return tuple(dict.fromkeys(found))

    def table_of_terms(self) -> Table:
        """Return the table of expected interval widths, one row a term."""
        rows: list[tuple[object, ...]] = []
        listed = [(part, one, at) for part in self.parts for one, at in zip(part.terms, _ranges(part), strict=True)]
        several = any(part.ranges for part in self.parts)
        for part, one, at in listed:
            # two significant digits of the standard error
            digits = max(0, 1 - math.floor(math.log10(one.std_error))) if 0 < one.std_error < math.inf else 2
            width, without = (printed(x, digits) for x in (one.width, one.without))
            guessed = () if not several else ("" if at is None else _from_to(at),)
            row = (part.called, one.term, width, *guessed, percent_of(one.privacy), without)
            rows.append((*row, *self._pooled(part, one, digits)))
        rows, left = _shown(rows)
        more = (f"and {left:,} more terms, of {_questions(listed[-left:])}",) if left else ()
        guessed = ("from and to",) if several else ()
        columns = ("question", "term", f"{100 * self.level:g}% width", *guessed, "of which privacy", "without privacy")
        if self._together is not None:
            columns = (*columns, f"pooled over {self._together.number:,}")
        return Table(
            "",
            columns,
            tuple(rows),
            (*more, *notes(self.parts, self.expect, in_files=self.in_files)),
            (*SIDES, *SIDES[-1:] * 2)[: len(columns)],
        )

    @property
    def _together(self) -> Parties | None:
        return self.parties if self.parties is not None and self.parties.together else None

    def _pooled(self, part: PlannedQuestion, one: Expected, digits: int) -> tuple[str, ...]:
        if self._together is None:
            return ()
        width = self._together.pooled(part.name, one.term)
        return ("–" if width is None else printed(width, digits + 1),)

    def _at(self, cost: Cost) -> tuple[Bought, ...]:
        """Return what another price of the same kind would be spent on: the same parts in the same proportions."""
        return tuple(replace(one, cost=cost.share(_part_of(one.cost, self.cost))) for one in self.bought)

    def admits(self, cost: Cost) -> bool:
        """Return whether the budget admits another price for the same questions."""
        return self.budget is None or self.budget.admits(self.spent, cost, self._at(cost))

    def sections(self) -> tuple[tuple[str, tuple[str, ...]], ...]:
        """Headings and their lines."""
        return page_text.sections(self)

    def to_text(self) -> str:
        """The page as text."""
        return page_text.to_text(self)

    def to_html(self) -> str:
        """The page for a board."""
        return page_text.to_html(self)

    def summary(self) -> Table:
        """The table of expected precision."""
        return self.table_of_terms()

    def to_dict(self) -> Mapping[str, Any]:
        """Return the page's facts as plain values."""
        terms = [
            [part.name, one.term, one.width, one.privacy, one.without] for part in self.parts for one in part.terms
        ]
        others = {
            part.name: {
                "share": part.other.share,
                "width": part.other.width,
                "columns": list(part.other.columns),
                "term": part.other.term,
            }
            for part in self.parts
            if part.other is not None
        }
        return {
            "cost": self.cost.to_dict(),
            "numbers": self.numbers,
            "guarantee": self.guarantee,
            "terms": terms,
            "other shares": others,
            "ranges": {
                name: [[one.least, one.largest, one.always] for one in found] for name, found in self.ranges.items()
            },
            "densities": {
                part.name: [part.curve.term, part.curve.width, *(part.curve.between or ()), not part.curve.open]
                for part in self.parts
                if part.curve is not None
            },
            "other price": None if self.other is None else self.other.to_dict(),
            "cautions": list(self.cautions()),
            "fits": self.fits,
            "digest": self.digest,
        }

    def save(self, path: str | Path) -> None:
        """Write the page that a board signs: .html, .txt, .docx or .pdf by suffix.

        FileError F10 for another suffix, F13 where .docx or .pdf needs a program that this machine lacks, ReleaseError
        R07 for a place that cannot be written.
        """
        suffix = page_documents.suffix_of(path, "a plan", "plan.html")
        page_documents.save(self if self.request is not None else self.for_board(), path, suffix)

    def __repr__(self) -> str:
        return self.to_text()

    def _repr_html_(self) -> str:
        return self.to_html()


def _shown(rows: list[tuple[object, ...]]) -> tuple[list[tuple[object, ...]], int]:
    """Return the lines of a page, one for terms that are alike, and how many terms are left out."""
    runs = [list(run) for _, run in groupby(rows, key=lambda row: (row[0], *row[2:]))]
    lines = list[tuple[tuple[object, ...], int]]()
    for run in runs:
        first, last = run[0], run[-1]
        if len(run) < ALIKE:
            lines += [(row, 1) for row in run]
        else:
            lines.append(((first[0], f"{first[1]} … {last[1]} ({len(run):,} alike)", *first[2:]), len(run)))
    return [line for line, _ in lines[:SHOWN]], sum(number for _, number in lines[SHOWN:])


def _questions(listed: Sequence[tuple[PlannedQuestion, Expected, WidthRange | None]]) -> str:
    """Return the names of questions whose terms are left out."""
    return ", ".join(dict.fromkeys(part.called for part, _, _ in listed))


def _ranges(part: PlannedQuestion) -> Sequence[WidthRange | None]:
    """Return the range of each term's width, or None for each."""
    return part.ranges or [None] * len(part.terms)


def _from_to(at: WidthRange) -> str:
    """Return a range of widths in words."""
    words = " to ".join(printed_range(at.least, at.largest)) if math.isfinite(at.least) else ""
    return words if at.always else " or ".join((*([words] if words else []), "no answer"))


def _means(part: PlannedQuestion) -> int:
    """Return the number of means to estimate; for a regression the number of coefficients."""
    if isinstance(part.shape.query, Regression | Bootstrap):
        return len(part.terms)
    return len(part.shape.columns) * part.shape.cells


def _part_of(cost: Cost, whole: Cost) -> Fraction:
    """Return the share that one price is of another of its kind: of ε, or of ρ (and of μ², which ρ is proportional to).

    >>> _part_of(Cost.of(epsilon=0.5), Cost.of(epsilon=1)), _part_of(Cost.of(rho=0.5), Cost.of(rho=1))
    (Fraction(1, 2), Fraction(1, 2))
    """
    if whole.kind == "pure" and cost.epsilon is not None and whole.epsilon is not None:
        return cost.epsilon / whole.epsilon
    return cost.zcdp / whole.zcdp
