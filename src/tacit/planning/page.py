"""`Plan`: one page in words for those who must approve a release (api §3), from public facts only."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from decimal import ROUND_CEILING, Context, Decimal
from fractions import Fraction
from html import escape
from pathlib import Path
from typing import Any, Final, cast

from tacit.base.json_text import write_text
from tacit.base.table import Align, Table, format_number
from tacit.errors import FileError
from tacit.ledger import Standing
from tacit.method.histogram import sparse_design
from tacit.method.shared.measurement import Measurement
from tacit.method.shared.plan_expected import ASSUMED, Expected
from tacit.method.shared.price_parts import price_parts
from tacit.planning.expected import cautions, says_all
from tacit.planning.study_plan import Parties
from tacit.privacy import Budget, Cost, Spend, zcdp_to_epsilon
from tacit.privacy.bought import Bought
from tacit.schema.autobins import AUTO

DELTA: Final = "1e-6"
SIDES: Final[tuple[Align, ...]] = ("left", "left", "right", "right", "right")
SHOWN: Final = 40
"""Terms listed on a page; the rest are counted."""


@dataclass(frozen=True)
class PlannedQuestion:
    """One question of a plan: its name, its mechanism and noise (`shape`), and the expected precision of its terms."""

    name: str
    shape: Measurement
    terms: tuple[Expected, ...]

    @property
    def numbers(self) -> int:
        """How many noisy integers would be released; for a sparse histogram the expected number of empty cells."""
        if self.shape.kind == "sparse-histogram":
            return math.ceil(self.passing)
        return sum(len(column.form.matrix) for column in self.shape.columns) * self.shape.cells

    @property
    def passing(self) -> float:
        """Expected number of empty cells of a sparse histogram whose noisy count reaches the threshold."""
        (column,) = self.shape.columns
        return sparse_design.false_cells(column.law, column.form.parameters["threshold"], self.shape.cells)


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
    def numbers(self) -> int:
        """How many noisy integers would be released."""
        return sum(part.numbers for part in self.parts)

    @property
    def fits(self) -> bool:
        """Whether the budget, where one is known, admits the price, and the analyst's limit where there is one."""
        limits = ((self.budget, self.spent), (self.limit, self.own))
        return all(limit is None or limit.admits(spent, self.cost, self.bought) for limit, spent in limits)

    @property
    def bought(self) -> tuple[Bought, ...]:
        """What the price would be spent on."""
        return price_parts(part.shape for part in self.parts)

    def by(self, standing: Standing) -> Plan:
        """Return the same plan for an analyst of a ledger, with the analyst's limit."""
        return replace(self, analyst=standing.analyst, limit=standing.limit, own=standing.own)

    @property
    def counted(self) -> str:
        """What `rows` counts: rows, or persons where the schema has a PrivacyUnit."""
        return "rows" if self.parts[0].shape.unit is None else "persons"

    @property
    def guarantee(self) -> str:
        """The privacy guarantee in one sentence, which names the unit of privacy."""
        most = self.parts[0].shape.max_rows
        one = "row" if self.counted == "rows" else f"person with all rows, of which at most {most:,} count,"
        if self.public:
            values = "values in any one row" if self.counted == "rows" else "rows of any one person"
            change = f"whatever the {values} are, the probability of any outcome changes"
        else:
            change = f"whether any one {one} is in the table changes the probability of any outcome"
        if self.cost.kind == "pure":
            return f"{change[0].upper()}{change[1:]} by at most a factor {_factor(self.cost.epsilon)}."
        if self.cost.kind == "approximate":
            factor = _factor(self.cost.epsilon)
            part = f", up to a probability of {float(self.cost.delta or 0):.0e}"
            return f"{change[0].upper()}{change[1:]} by at most a factor {factor}{part}."
        # ρ has no single ε: the sentence fixes δ and states what follows
        exact = zcdp_to_epsilon(self.cost.zcdp, DELTA)
        epsilon = float(exact)
        implied = f"zero-concentrated privacy with {self.cost} implies ε = {epsilon:.3g} at that δ"
        part = f", up to a probability of {DELTA} ({implied})"
        return f"{change[0].upper()}{change[1:]} by at most a factor {_factor(exact)}{part}."

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
        found: list[str] = []
        if not self.fits:
            whole = self.budget is not None and not self.budget.admits(self.spent, self.cost, self.bought)
            what = "budget" if whole else f"limit of analyst {self.analyst!r}"
            found.append(f"the {what} does not admit this price: the release would be refused")
        for part in self.parts:
            found += _cautions(part, self.rows)
        # a mechanism that publishes each row with probability δ is (0, δ)-private
        if self.cost.delta is not None and float(self.cost.delta) * self.rows > 0.1:
            found.append(
                f"δ = {float(self.cost.delta):.0e} is not far below 1/n: one person in so many may be revealed"
            )
        if self.cost.kind == "pure" and (self.cost.epsilon or 0) > 5:
            found.append(f"{self.cost} is a weak promise: a factor of {_factor(self.cost.epsilon)}")
        return tuple(dict.fromkeys(found))

    def table_of_terms(self) -> Table:
        """Return the table of expected interval widths, one row a term."""
        rows: list[tuple[object, ...]] = []
        listed = [(part, one) for part in self.parts for one in part.terms]
        for part, one in listed[:SHOWN]:
            # two significant digits of the standard error
            digits = max(0, 1 - math.floor(math.log10(one.std_error))) if one.std_error > 0 else 2
            width, without = (format_number(x, decimals=min(digits, 8)) for x in (one.width, one.without))
            width = width if math.isfinite(one.width) else "too noisy"
            row = (part.name or _question(part), one.term, width, f"{100 * one.privacy:.0f} %", without)
            rows.append((*row, *self._pooled(part, one, digits)))
        more = (f"and {len(listed) - SHOWN} more",) if len(listed) > SHOWN else ()
        columns = ("question", "term", f"{100 * self.level:g}% width", "of which privacy", "without privacy")
        if self._together is not None:
            columns = (*columns, f"pooled over {self._together.number:,}")
        return Table("", columns, tuple(rows), (*more, f"assumed: {ASSUMED}"), (*SIDES, *SIDES[-1:])[: len(columns)])

    @property
    def _together(self) -> Parties | None:
        return self.parties if self.parties is not None and self.parties.together else None

    def _pooled(self, part: PlannedQuestion, one: Expected, digits: int) -> tuple[str, ...]:
        if self._together is None:
            return ()
        width = self._together.pooled(part.name, one.term)
        return ("–" if width is None else format_number(width, decimals=min(digits + 1, 8)),)

    def sections(self) -> tuple[tuple[str, tuple[str, ...]], ...]:
        """Headings and their lines."""
        what = self.counted
        people = f"{self.rows:,} {what}" if self.public else f"number of {what} private, {self.rows:,} assumed"
        leaves = [f"{part.name or _question(part)}: {_numbers(part)}" for part in self.parts]
        cautions = self.cautions()
        return (
            ("Promise", (self.guarantee,)),
            ("Released numbers", (f"{self.numbers:,} noisy integers of {self.table!r} ({people})", *leaves)),
            ("Cost", (f"{self.cost}", *self._balance())),
            ("Expected precision", (*self.table_of_terms().to_text().splitlines(), self.rate)),
            *self._of_parties(),
            ("Cautions", tuple(f"- {one}" for one in cautions) if cautions else ("none",)),
            (
                "Stored",
                ("the question, the noisy integers, cost, date and note, in the ledger; never a row or its digest",),
            ),
        )

    def _at(self, cost: Cost) -> tuple[Bought, ...]:
        """Return what another price of the same kind would be spent on: the same parts in the same proportions."""
        return tuple(replace(one, cost=cost.share(_part_of(one.cost, self.cost))) for one in self.bought)

    def _of_parties(self) -> Iterator[tuple[str, tuple[str, ...]]]:
        """Yield the sections of a study: its parties, ways to the widths wanted, where privacy costs little."""
        if self.parties is None:
            return
        yield "Parties", self.parties.lines()
        wanted = self.parties.reached(
            lambda cost: self.budget is None or self.budget.admits(self.spent, cost, self._at(cost))
        )
        if wanted:
            yield "To be narrow enough", wanted
        free = self.parties.free()
        if free:
            yield "Where privacy is free", free

    def _balance(self) -> tuple[str, ...]:
        whole = () if self.budget is None else self._before_and_after(self.budget, self.spent)
        if self.limit is None:
            return whole
        return (*whole, *(f"{self.analyst}, {one}" for one in self._before_and_after(self.limit, self.own)))

    def _before_and_after(self, budget: Budget, spent: Spend) -> tuple[str, str]:
        after = spent + budget.spend(self.cost, self.bought)
        return f"before: {budget.describe_left(spent)}", f"after: {budget.describe_left(after)}"

    def to_text(self) -> str:
        """The page as text."""
        lines: list[str] = [f"Plan of a release of {self.table} · nothing was read or spent"]
        for heading, body in self.sections():
            lines += ["", heading, *[f"  {line}" for line in body]]
        return "\n".join(lines)

    def to_html(self) -> str:
        """The page for a board."""
        body = [f"<h1>Plan of a release of {escape(self.table)}</h1><p>Nothing was read or spent.</p>"]
        for heading, lines in self.sections():
            body.append(f"<h2>{escape(heading)}</h2>")
            if heading == "Expected precision":
                body.append(self.table_of_terms().to_html() + f"<p>{escape(lines[-1])}</p>")
            else:
                body.append("".join(f"<p>{escape(line)}</p>" for line in lines))
        style = "body{font-family:sans-serif;max-width:46em;margin:2em auto}td,th{padding:.2em .8em}h2{font-size:1.1em}"
        return (
            f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Plan: {escape(self.table)}</title>'
            f"<style>{style}</style></head><body>{''.join(body)}</body></html>\n"
        )

    def summary(self) -> Table:
        """The table of expected precision."""
        return self.table_of_terms()

    def save(self, path: str | Path) -> None:
        """Write the page: .html or .txt by suffix; FileError F10 for another, ReleaseError R07 for a wrong place."""
        suffix = Path(path).suffix.lower()
        if suffix not in (".html", ".txt"):
            message = f"{path} has suffix {suffix!r}; a plan is saved as .html or .txt."
            raise FileError(message, code="F10", hint="plan.html")
        write_text(path, self.to_html() if suffix == ".html" else self.to_text() + "\n")

    def __repr__(self) -> str:
        return self.to_text()

    def _repr_html_(self) -> str:
        return self.to_html()


def _means(part: PlannedQuestion) -> int:
    """Return the number of means to estimate; for a regression the number of coefficients."""
    return len(part.terms) if part.shape.kind == "regression" else len(part.shape.columns) * part.shape.cells


def _part_of(cost: Cost, whole: Cost) -> Fraction:
    """Return the share that one price is of another of its kind: of ε, or of ρ (and of μ², which ρ is proportional to).

    >>> _part_of(Cost.of(epsilon=0.5), Cost.of(epsilon=1)), _part_of(Cost.of(rho=0.5), Cost.of(rho=1))
    (Fraction(1, 2), Fraction(1, 2))
    """
    if whole.kind == "pure" and cost.epsilon is not None and whole.epsilon is not None:
        return cost.epsilon / whole.epsilon
    return cost.zcdp / whole.zcdp


def _factor(epsilon: Fraction | None) -> str:
    """Return e**epsilon in three digits, rounded up, so that the printed guarantee is never too strong.

    >>> _factor(Fraction(1)), _factor(Fraction(1, 5)), _factor(Fraction(800))
    ('2.72', '1.23', '2.73e+347')
    """
    exact = Fraction(0) if epsilon is None else epsilon
    context = Context(prec=30, rounding=ROUND_CEILING)
    # Context.exp rounds to the nearest whatever its rounding: the next number up is an upper bound
    value = context.exp(context.divide(Decimal(exact.numerator), Decimal(exact.denominator))).next_plus()
    short = Context(prec=3, rounding=ROUND_CEILING).plus(value)
    return f"{short:f}" if short.adjusted() < 3 else f"{short:e}"


def _question(part: PlannedQuestion) -> str:
    words = vars(part.shape.query)
    if "formula" in words:
        where = f" where {words['where']}" if words.get("where") else ""
        return f"{type(part.shape.query).__name__} of {words['formula']}{where}"
    named = words.get("columns") or words.get("what") or ((words["column"],) if "column" in words else ())
    named = (named,) if isinstance(named, str) else named
    columns, by = ", ".join(named), ", ".join(words.get("by", ()))
    where = f" where {words['where']}" if words.get("where") else ""
    of, weighted = (
        f" of {columns}" if columns else "",
        f", weighted by {words['weights']}" if words.get("weights") else "",
    )
    return f"{type(part.shape.query).__name__}{of}{f' by {by}' if by else ''}{where}{weighted}"


def _numbers(part: PlannedQuestion) -> str:
    if part.shape.kind == "sparse-histogram":
        (column,) = part.shape.columns
        facts = column.form.parameters
        at = f"noisy count of {facts['threshold'] / facts.get('share', 1):,.4g} or more"
        some = f"about {part.passing:,.3g} empty ones and those that hold so many"
        return f"cells of {part.shape.cells:,} with a {at}, {some}; {column.law.name} noise{_chosen(part)}"
    each = [f"{len(column.form.matrix)} of {column.label or 'the rows'}" for column in part.shape.columns]
    cells = f" in each of {part.shape.cells:,} cells" if part.shape.cells > 1 else ""
    noise = ", ".join(sorted({column.law.name for column in part.shape.columns}))
    forms = ", ".join(sorted({column.form.name for column in part.shape.columns}))
    return f"{', '.join(each)}{cells}; {noise} noise, integer form {forms}{_chosen(part)}"


def _chosen(part: PlannedQuestion) -> str:
    """Return in words the numbers of bins that bins="auto" chose."""
    asked = dict(cast("tuple[tuple[str, Any], ...]", getattr(part.shape.query, "bins", ())))
    found = [
        f"{key.regular:,} of {key.column}" for key in part.shape.keys if asked.get(key.column) == AUTO and key.edges
    ]
    return f"; bins chosen: {', '.join(found)}" if found else ""


def _cautions(part: PlannedQuestion, rows: int) -> list[str]:
    found: list[str] = []
    name = part.name or _question(part)
    if part.shape.where is not None:
        found.append(
            f"{name}: planned as if every row met where=; if a share p does, intervals are wider by 1/√p, "
            "what privacy adds by 1/p"
        )
    cells = part.shape.cells
    noisy = [column for column in part.shape.columns if column.form.name in ("count", "group", "binary-group")]
    for column in noisy:
        # noise in rows: a row adds G to the integers
        spread = math.sqrt(column.law.variance()) / column.form.parameters["G"]
        if spread > rows / cells:
            found.append(
                f"{name}: {cells:,} cells for {rows:,} rows: noise larger than most counts; fewer levels would do"
            )
    found += [f"{name}: {words}" for words in cautions(part.shape, rows)]
    if says_all(part.shape):
        return found
    if any(math.isinf(one.width) for one in part.terms):
        return [*found, f"{name}: noise too large for any coefficient; fewer regressors, or a higher price, would do"]
    worst = max(part.terms, key=lambda one: one.privacy)
    if worst.privacy > 0.5:
        less = "fewer cells" if part.shape.blocks is None else "a narrower box"
        found.append(f"{name}: privacy makes {100 * worst.privacy:.0f} % of the variance; more budget or {less}")
    if cells > 1 and rows / cells < 30:
        found.append(f"{name}: about {rows / cells:.0f} rows a cell: intervals rest on a normal approximation")
    return found
