"""Studies: a study is a curator's file without `[data]` and with parties.  Every answer holds its digest (api, §2)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from tacit.errors import FileError, QueryError, StudyError, nearest
from tacit.method.blocks.query import SampleAndAggregate
from tacit.method.regression.query import Regression
from tacit.privacy import Budget, Cost, Number, Spend
from tacit.release.query import Query
from tacit.release.registry import combine_module, plan_module
from tacit.schema import Schema
from tacit.schema.autobins import is_chosen
from tacit.schema.expectations import Expect
from tacit.schema.toml import read_text, read_toml
from tacit.schema.toml_words import known, located
from tacit.study import curator_file as files
from tacit.study.curator_file import STUDY, TOP, Job, job_from_table
from tacit.study.study_parties import Combine, Effects, Party, closes_of, combine_of, parties_of

if TYPE_CHECKING:
    from os import PathLike

    from tacit.parties.study_result import StudyResult
    from tacit.planning import Plan
    from tacit.release.document import Releases

KNOWN: Final = (*(word for word in TOP if word != "data"), *STUDY)


@dataclass(frozen=True)
class Study:
    """The queries, schema and budget that all parties of a study share; made by `Study.load`.

    Everything in it is public.

    Attributes
    ----------
    title, contact: texts for people, not part of the digest.
    name: the `[table]` name, which identifies the study and its edition.
    rows: number of rows of a typical party, for planning only; None where not given.
    budget: each party's total budget; `spend` is the price of these queries, divided in proportion to `shares`.
    schema, asks: the columns and the queries by name, the same for all parties.
    closes: the last day on which answers are accepted, or None.
    combining: the section `[combine]`: how the answers are combined.
    parties: the parties by name; empty where anybody may answer.
    expect: what plans take as known of a typical party's columns; no part of the digest.
    former: the queries as version 0.1 read the same file, where it read some of them otherwise; no part of the digest.

    >>> study = Study.from_toml('''
    ... tacit = 1
    ... [budget]
    ... epsilon = 1
    ... [schema]
    ... stay = { type = "Integer", lower = 0, upper = 365, units = "days" }
    ... [spend]
    ... epsilon = 0.5
    ... [ask.stay]
    ... query = "Mean"
    ... columns = "stay"
    ... ''')
    >>> list(study.asks), str(study.spend), study.combining.effects
    (['stay'], 'ε = 0.5', 'random')
    """

    title: str
    contact: str
    name: str
    rows: int | None
    budget: Budget
    schema: Schema
    spend: Cost
    asks: Mapping[str, Query[Any]]
    shares: Mapping[str, Fraction]
    closes: date | None
    combining: Combine
    parties: Mapping[str, Party]
    expect: Expect = field(default_factory=dict[str, "Mapping[Any, Any]"])
    former: Mapping[str, Query[Any]] = field(default_factory=dict[str, "Query[Any]"], repr=False, compare=False)

    @property
    def editions(self) -> tuple[Study, ...]:
        """The study itself, and what version 0.1 read from the same file, where that was another one."""
        return (self, replace(self, asks=self.former, former={})) if self.former else (self,)

    @classmethod
    def load(cls, path: str | PathLike[str]) -> Study:
        """Read a study's TOML file.

        Raises FileError F01..F06 as for a curator's file, F07 for a file with `[data]`, F09 without a budget, a price
        or a query, or the error of the section that is wrong, with its name.
        """
        place = Path(path)
        return study_from_table(read_toml(read_text(place), str(place)), place)

    @classmethod
    def from_toml(cls, text: str) -> Study:
        """Read a study's TOML text; FileError F02 and the errors of `load`."""
        return study_from_table(read_toml(text), Path("study.toml"))

    def digest(self) -> str:
        """Return the SHA-256 (hex) of everything but title, contacts, comments and order; every answer holds it."""
        job = Job(
            # empty fields here are those that `Job.public` leaves out
            path=Path(),
            title="",
            contact="",
            name=self.name,
            rows=self.rows,
            data=None,
            ledger=None,
            analyst=None,
            budget=self.budget,
            schema=self.schema,
            spend=self.spend,
            asks=self.asks,
            shares=self.shares,
        )
        # contacts may change while a study runs
        parties = {name: [one.key, one.rows, one.optional] for name, one in self.parties.items()}
        closes = None if self.closes is None else self.closes.isoformat()
        return files.digest({**job.public(), "closes": closes, "combine": self.combining.public(), "parties": parties})

    def party(self, name: str) -> Party:
        """Return the party of this name; StudyError P03 if the study lists parties and this is none of them."""
        if not self.parties:
            return Party()
        if name not in self.parties:
            guess = nearest(name, list(self.parties))
            hint = f'name="{guess}"' if guess else f"write to {self.contact or 'whoever runs the study'}"
            raise StudyError(
                f"{name!r} is none of the {len(self.parties)} parties of the study.", code="P03", hint=hint
            )
        return self.parties[name]

    def plan(
        self,
        *,
        rows: int | None = None,
        epsilon: Number | None = None,
        delta: Number | None = None,
        rho: Number | None = None,
        level: float | None = None,
        width: float | Mapping[str, float] | None = None,
        expect: Expect | None = None,
    ) -> Plan:
        """Return the cost and expected precision of each party's release, without data; see `tc.plan`.

        rows: number of rows of a typical party (default: the study's).  epsilon, delta, rho: a price to try instead of
        `spend`.  level: of the intervals (default: that of `[combine]`).  Where effects are common, the plan also gives
        the widths of means and variances of all listed parties together, from their sizes.  width: the desired width of
        the widest such interval, by query ({"stay": 0.5}) where there are several; the plan then gives the number of
        parties, the multiple of their rows, or the price that reaches it (`.parties.reaches`).  expect: as in
        `tc.plan`, beside the study's own.  Source: theory §6, corrected.  QueryError Q40 (width), Q41 (rows), Q42.

        >>> study = Study.from_toml('''
        ... tacit = 1
        ... budget = { epsilon = 1 }
        ... table = { rows = 900 }
        ... schema = { stay = { type = "Integer", lower = 0, upper = 60, units = "days" } }
        ... spend = { epsilon = 0.2 }
        ... ask = { stay = { query = "Mean", columns = "stay" } }
        ... combine = { effects = "common" }
        ... parties = { a = {}, b = { rows = 4_000 } }
        ... ''')
        >>> (way,) = study.plan(width=1).parties.reaches
        >>> way.parties, str(way.price), round(way.rows, 1)
        (9, 'ε = 0.4', 1.1)
        """
        return plan_module().plan_study(
            self, rows=rows, epsilon=epsilon, delta=delta, rho=rho, level=level, width=width, expect=expect
        )

    def combine(
        self,
        returned: str | PathLike[str] | Sequence[str | PathLike[str]] | Mapping[str, Releases],
        effects: Effects | None = None,
        *,
        method: str = "REML",
    ) -> StudyResult:
        """Combine the parties' answers: return a mapping from query to the result of `tc.combine`; costs nothing.

        returned: files, a pattern ("returned/*.json"), a folder, or answers in memory by party.  effects: replaces the
        study's.  Each file is checked against the study; a wrong or late file is left out and listed in `refused` with
        its name and the reason, and the others are combined.  StudyError C20 for no file.
        """
        return combine_module().combine_study(self, returned, effects, method=method)


def study_from_table(words: Mapping[str, Any], path: Path) -> Study:
    """Return the study of a parsed file; errors as `Study.load`."""
    if "data" in words:
        message = f"{path} has [data]: a study has none, its rows are with its parties."
        raise FileError(message, code="F07", hint="[data] in each party's own site file")
    known("the study", words, KNOWN)
    job = job_from_table({key: value for key, value in words.items() if key not in STUDY}, path)
    lacking = (
        ("[budget]", job.budget is None, "[budget], then epsilon = 1"),
        ("[spend]", job.spend is None, "[spend], then epsilon = 1"),
        ("question", not job.asks, '[ask.age], then query = "Mean", columns = "age"'),
    )
    for what, missing, hint in lacking:
        if missing:
            raise FileError(f"{path} has no {what}, and a study needs one.", code="F09", hint=hint)
    assert job.budget is not None
    assert job.spend is not None
    combining = combine_of(words)
    for name, query in job.asks.items():
        located(f"[ask.{name}]")(partial(_own_bins, query))
    located("[spend]")(partial(_within, job.budget, job.spend))
    asks = {name: _for_parties(query, combining.parties) for name, query in job.asks.items()}
    former = {name: _before(query, words["ask"][name]) for name, query in asks.items()}
    return Study(
        title=job.title,
        contact=job.contact,
        name=job.name,
        rows=job.rows,
        budget=job.budget,
        schema=job.schema,
        spend=job.spend,
        asks=asks,
        shares=job.shares,
        closes=closes_of(words),
        combining=combining,
        parties=parties_of(words),
        expect=job.expect,
        former={} if former == asks else former,
    )


def _before(query: Query[Any], words: Mapping[str, Any]) -> Query[Any]:
    """Return a query as version 0.1 read its words: families had the bias correction of their law by default."""
    if not isinstance(query, SampleAndAggregate) or "bias" in words:
        return query
    return query if query.model.words["family"] in ("Model", "Statistic") else replace(query, bias="cox-snell")


def _for_parties(query: Query[Any], parties: int | None) -> Query[Any]:
    """Return the query with the expected number of parties, from which its number of blocks is chosen.

    Only block means without a number of blocks or parties change: more parties average out more of each one's noise.
    What was left to the expected error becomes means of blocks, or a regression's sums over rows, which combine.
    """
    if isinstance(query, Regression):
        # the expected error depends on a party's rows, and parties whose methods differ do not combine
        return replace(query, method="scores") if query.method == "auto" else query
    if not isinstance(query, SampleAndAggregate) or query.one_step or query.winsorize:
        return query
    query = replace(query, method="tuned") if query.method == "auto" else query
    if parties is None:
        return query
    return query if query.blocks or query.parties else replace(query, parties=parties)


def _own_bins(query: Query[Any]) -> None:
    """Raise QueryError Q82 for automatic bins, which would differ from party to party."""
    bins: Any = getattr(query, "bins", ())
    words = [edges for _, edges in bins if is_chosen(edges)]
    if words:
        message = f'bins = "{words[0]}" goes by price and number of rows, which differ from party to party.'
        raise QueryError(
            message, code="Q82", hint="bins = { age = 10 }; `tacit plan` of a curator's file says how many"
        )


def _within(budget: Budget, spend: Cost) -> None:
    """Raise FileError F06 where the price is above the budget."""
    if not budget.admits(Spend(), spend):
        raise FileError(f"asks for {spend}; the budget is {budget}.", code="F06", hint="at most the [budget]")


def read(path: str | PathLike[str]) -> Job | Study:
    """Read a curator's file or a study, which has a section of studies and no `[data]`.  Errors as `load` of either."""
    place = Path(path)
    words = read_toml(read_text(place), str(place))
    study = "data" not in words and any(word in words for word in STUDY)
    return study_from_table(words, place) if study else job_from_table(words, place)
