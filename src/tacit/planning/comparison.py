"""`MethodComparison`: the expected precision of every way to answer one question at one price, side by side."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from tacit.base.table import Align, Table, shown_by_summary
from tacit.errors import QueryError, nearest
from tacit.method.shared.plan_expected import Expected
from tacit.planning.claims import Claim
from tacit.planning.printed_widths import to_three
from tacit.privacy import Cost
from tacit.release.query import Query

if TYPE_CHECKING:
    import pandas as pd  # pyright: ignore[reportMissingTypeStubs]

    from tacit.plots.canvas import Drawn

COLUMNS: Final = (
    "way",
    "width",
    "narrowest = 1",
    "no privacy = 1",
    "SE of sampling",
    "SE of noise",
    "interval",
    "cost",
)
SIDES: Final[tuple[Align, ...]] = ("left", "right", "right", "right", "right", "right", "left", "left")
KINDS: Final = {"pure": "pure", "zcdp": "ρ", "approximate": "(ε, δ)", "gdp": "part of (ε, δ)"}
"""What a cost counts in, by its kind."""


@dataclass(frozen=True)
class ComparedWay:
    """One way to answer the question: what is asked, what is expected of its answer, what its interval claims.

    query: ask it with `curator.release`; None where the way cannot answer, for the `reason`.  terms: the expected
    precision of each term of the question, those with an infinite width too noisy for an answer.  ratio: the root mean
    square over the terms of the width over that of the question's answer without privacy; infinite without an answer.
    """

    name: str
    claim: Claim
    query: Query[Any] | None
    cost: Cost | None
    terms: tuple[Expected, ...]
    ratio: float
    reason: str | None = None

    @property
    def answers(self) -> bool:
        """Whether an answer is expected of every term."""
        return math.isfinite(self.ratio)

    @property
    def kind(self) -> str:
        """What its cost counts in: pure, ρ or (ε, δ)."""
        return "" if self.cost is None else KINDS[self.cost.kind]

    def to_dict(self) -> Mapping[str, Any]:
        """Return plain values."""
        words: dict[str, Any] = {"way": self.name, "query": None if self.query is None else self.query.to_dict()}
        words |= {"cost": None if self.cost is None else self.cost.to_dict(), "kind": self.kind}
        words |= {"ratio": self.ratio, "reason": self.reason, **vars(self.claim)}
        terms = [[one.term, one.width, one.std_error, one.privacy, one.without] for one in self.terms]
        return {**words, "terms": terms}


@shown_by_summary
@dataclass(frozen=True, repr=False)
class MethodComparison:
    """Every way to answer one question at one price, the narrowest first; those that cannot answer, with the reason.

    All of it follows from public facts; nothing is read or spent.

    >>> import tacit as tc
    >>> schema = tc.Schema({"fare": tc.Real(0, 100, missing=0)})
    >>> made = tc.compare(tc.Mean("fare"), schema, rows=10_000, rho=0.01)
    >>> made.narrowest.name, made["Histogram, its mean"].answers
    ('Mean', True)
    >>> made["Bootstrap, 50 replicates"].reason.partition(":")[0]
    'the price of a Bootstrap is ρ = 0.01'
    """

    question: str
    query: Query[Any]
    rows: int
    guessed: bool
    cost: Cost
    level: float
    ways: tuple[ComparedWay, ...]
    notes: tuple[str, ...] = ()

    @property
    def narrowest(self) -> ComparedWay:
        """The way with the narrowest interval; QueryError Q130 where none has an answer."""
        # a point alone has no interval that could be narrow
        found = [one for one in self.ways if one.answers and one.claim.coverage != "none"]
        if not found:
            text = f"{self.question}: no way has an answer at {self.cost}."
            raise QueryError(text, code="Q130", hint="a higher price, or more rows")
        return found[0]

    def __getitem__(self, name: str) -> ComparedWay:
        found = next((one for one in self.ways if one.name == name), None)
        if found is None:
            names = [one.name for one in self.ways]
            text = f"{name!r} is no way to answer {self.question}."
            raise QueryError(text, code="Q130", hint=nearest(str(name), names) or names[0])
        return found

    def __len__(self) -> int:
        return len(self.ways)

    @property
    def _shown(self) -> int:
        """The place of the term that the table shows: that with the widest interval without privacy."""
        terms = next((one.terms for one in self.ways if one.terms), ())
        return int(np.argmax([one.without for one in terms])) if terms else 0

    def summary(self) -> Table:
        """Return the table, with what each way claims, gives and needs below it."""
        told = [one for one in self.ways if one.answers]
        best = min((one.ratio for one in told if one.claim.coverage != "none"), default=math.nan)
        rows = [self._row(one, best) for one in told]
        rows += [(one.name, "no answer", *("",) * 6) for one in self.ways if not one.answers]
        return Table(self._title, COLUMNS, tuple(rows), self._notes(), SIDES)

    @property
    def _title(self) -> str:
        rows = f"{self.rows:,} rows" + (", a guess" if self.guessed else "")
        return f"{self.question} · {rows} · {self.cost} · {100 * self.level:g}% intervals"

    def _row(self, one: ComparedWay, best: float) -> tuple[object, ...]:
        term = one.terms[self._shown]
        errors = [term.std_error * math.sqrt(part) for part in (1 - term.privacy, term.privacy)]
        known = math.isfinite(term.privacy)
        return (
            one.name,
            _number(term.width),
            f"{one.ratio / best:.2f}",
            f"{one.ratio:.2f}",
            *(_number(x) if known else "–" for x in errors),
            one.claim.coverage,
            f"{one.cost}",
        )

    def _notes(self) -> tuple[str, ...]:
        """Return what is shown, and of each way its claim, what it gives and where it may fail."""
        several = max((len(one.terms) for one in self.ways), default=0)
        shown = next((one.terms[self._shown].term for one in self.ways if one.terms), "")
        said = f"widths and errors are those of {shown}; ratios are over all {several:,} terms" if several > 1 else None
        told = [
            f"{one.name}: {one.claim.how} ({one.claim.page}); also gives {one.claim.gives}; may fail: {one.claim.fails}"
            for one in self.ways
            if one.answers
        ]
        refused = [f"{one.name}: no answer, {one.reason}" for one in self.ways if not one.answers]
        return (*([said] if said else []), *told, *refused, *self.notes)

    def to_frame(self) -> pd.DataFrame:
        """Return a row for each way and term: width, standard error, share of privacy, and the ratio over all terms."""
        import pandas as pd  # pyright: ignore[reportMissingTypeStubs]

        facts = [(one, term) for one in self.ways for term in one.terms]
        columns: dict[str, list[Any]] = {
            "way": [one.name for one, _ in facts],
            "term": [term.term for _, term in facts],
            "width": [term.width for _, term in facts],
            "std_error": [term.std_error for _, term in facts],
            "privacy_share": [term.privacy for _, term in facts],
            "ratio": [one.ratio for one, _ in facts],
            "coverage": [one.claim.coverage for one, _ in facts],
        }
        return pd.DataFrame(columns)

    def to_text(self) -> str:
        """Return the table as text."""
        return self.summary().to_text()

    def to_html(self) -> str:
        """Return the table as HTML."""
        return self.summary().to_html()

    def to_dict(self) -> Mapping[str, Any]:
        """Return plain values."""
        return {
            "question": self.question,
            "query": self.query.to_dict(),
            "rows": self.rows,
            "cost": self.cost.to_dict(),
            "level": self.level,
            "ways": [one.to_dict() for one in self.ways],
            "notes": list(self.notes),
        }

    def plot(self, ax: Any = None) -> Drawn:
        """Draw the expected widths, a row for each way: a light bar from that for sampling alone to that with privacy.

        InferenceError I20 without matplotlib.
        """
        from tacit.plots.canvas import Caption
        from tacit.plots.width_plot import widths as draw

        terms = [one.terms[self._shown] if one.answers else None for one in self.ways]
        whole = np.array([math.nan if one is None else one.width for one in terms])
        alone = np.array([math.nan if one is None else one.without for one in terms])
        names = [one.name for one in self.ways]
        note = next((one for one in self.notes if one.startswith("assumed")), "")
        caption = Caption(self._title, f"expected width of the {100 * self.level:g}% interval", note)
        return draw(names, whole, alone, self.level, caption, ax)


def _number(x: float) -> str:
    """Return a number to three significant digits."""
    return to_three(x) if math.isfinite(x) else "–"
