"""Study: a curator's file without `[data]`, and with parties.  Its digest binds every answer (api, §2)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from tacit.errors import FileError, QueryError, StudyError, nearest
from tacit.method.blocks.query import SampleAndAggregate
from tacit.privacy import Budget, Cost, Number, Spend
from tacit.release.query import Query
from tacit.release.registry import combinations, plans
from tacit.schema import Schema
from tacit.schema.autobins import AUTO
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
    """The questions, schema and budget that all parties of a study share; made by `Study.load`.

    Everything in it is public.

    Attributes
    ----------
    title, contact: words for people; no part of the digest.
    name: `[table]` name: which study, which edition.
    rows: rows of a typical party, for planning only; None where not said.
    budget: what each party sets aside; `spend` of it is for these questions, split by `shares`.
    schema, asks: the columns and the questions by name, the same for all.
    closes: the last day on which answers count, or None.
    combining: how answers become one, the words of `[combine]`.
    parties: by name; none where anybody may answer.

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

    @classmethod
    def load(cls, path: str | PathLike[str]) -> Study:
        """Read a study's TOML file.

        Raises FileError F01..F06 as a curator's file does, F07 for one with `[data]`, F09 where a study lacks what its
        parties need, or the error of the part that is wrong, with its place.
        """
        place = Path(path)
        return study_from_table(read_toml(read_text(place), str(place)), place)

    @classmethod
    def from_toml(cls, text: str) -> Study:
        """Read a study's TOML text; FileError F02 and the errors of `load`."""
        return study_from_table(read_toml(text), Path("study.toml"))

    def digest(self) -> str:
        """SHA-256 (hex) of everything but title, contacts, comments and order: what an answer is bound to."""
        job = Job(
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
        parties = {name: [one.key, one.rows, one.optional] for name, one in self.parties.items()}
        closes = None if self.closes is None else self.closes.isoformat()
        return files.digest({**job.public(), "closes": closes, "combine": self.combining.public(), "parties": parties})

    def party(self, name: str) -> Party:
        """The party of that name; any name will do where the study lists none.  StudyError P03 otherwise."""
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
    ) -> Plan:
        """What each party's release would cost and show, without data; see `tc.plan`.

        rows: those of a typical party (default: the study's).  A price other than `spend` may be tried.  level: of the
        intervals (default: that of `[combine]`).  Where effects are common, the width of means and variances of all
        listed parties together is given, too, from their sizes.  width: wanted of the widest such interval, by question
        ({"stay": 0.5}) where there are several: the page says how many parties, how many times their rows, or which
        price would do (`.parties.reaches`).  Source: theory §6, corrected.  QueryError Q40 (width), Q41 (rows).

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
        return plans().plan_study(self, rows=rows, epsilon=epsilon, delta=delta, rho=rho, level=level, width=width)

    def combine(
        self,
        returned: str | PathLike[str] | Sequence[str | PathLike[str]] | Mapping[str, Releases],
        effects: Effects | None = None,
        *,
        method: str = "REML",
    ) -> StudyResult:
        """The parties' answers as one: a mapping of question to what `tc.combine` makes of it; costs nothing.

        returned: files, a pattern ("returned/*.json"), a folder, or answers in memory by party.  effects: instead of
        the study's own.  Each file is checked against the study; a wrong or late one is left out, by name and reason,
        in `refused`, and the rest is combined.  StudyError C20 for no file.
        """
        return combinations().combine_study(self, returned, effects, method=method)


def study_from_table(words: Mapping[str, Any], path: Path) -> Study:
    """A parsed study -> Study."""
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
    return Study(
        title=job.title,
        contact=job.contact,
        name=job.name,
        rows=job.rows,
        budget=job.budget,
        schema=job.schema,
        spend=job.spend,
        asks={name: _for_parties(query, combining.parties) for name, query in job.asks.items()},
        shares=job.shares,
        closes=closes_of(words),
        combining=combining,
        parties=parties_of(words),
    )


def _for_parties(query: Query[Any], parties: int | None) -> Query[Any]:
    """Blocks as many as suit the mean over the parties, where the question does not say how many, and combines."""
    if parties is None or not isinstance(query, SampleAndAggregate) or query.one_step or query.winsorize:
        return query
    return query if query.blocks or query.parties else replace(query, parties=parties)


def _own_bins(query: Query[Any]) -> None:
    bins: Any = getattr(query, "bins", ())
    if any(edges == AUTO for _, edges in bins):
        message = 'bins = "auto" goes by price and number of rows, which differ from party to party.'
        raise QueryError(
            message, code="Q82", hint="bins = { age = 10 }; `tacit plan` of a curator's file says how many"
        )


def _within(budget: Budget, spend: Cost) -> None:
    if not budget.admits(Spend(), spend):
        raise FileError(f"asks for {spend}; the budget is {budget}.", code="F06", hint="at most the [budget]")


def read(path: str | PathLike[str]) -> Job | Study:
    """A curator's file or a study: one without `[data]` and with a word of studies.  Errors as `load` of either."""
    place = Path(path)
    words = read_toml(read_text(place), str(place))
    study = "data" not in words and any(word in words for word in STUDY)
    return study_from_table(words, place) if study else job_from_table(words, place)
