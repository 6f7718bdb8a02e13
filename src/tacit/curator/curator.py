"""`Curator`: one table with its ledger, and the public methods that release from it.  INSIDE the wall.

How an answer is bought, and in which order, is in `purchase`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar, cast, overload

from tacit.base.arguments import named_arguments
from tacit.base.muted import silent
from tacit.base.other_words import knows_other_words
from tacit.curator import purchase, study_rules
from tacit.curator.first_release import public_rows
from tacit.curator.known_answers import known_words
from tacit.curator.locations import (
    checked_arguments,
    column_of_persons,
    found_persons,
    ledger_place,
    needs_budget,
    table_name,
)
from tacit.curator.mechanisms import design
from tacit.curator.purchase import TableContext
from tacit.curator.request import Questions, Shares, checked_questions, split
from tacit.curator.reusable_holdout import Holdout
from tacit.curator.settled import settled
from tacit.curator.stored_releases import Answers
from tacit.errors import BudgetError, QueryError
from tacit.holdout.holdout_design import holdout_design
from tacit.ledger import Ledger, Limit, Raise, Standing
from tacit.ledger.acts import checked_analyst
from tacit.method.additive.statistic import AdditiveStatistic, trusted
from tacit.method.shared.measurement import Measurement, Public
from tacit.privacy import Budget, Cost, Number, Spend
from tacit.privacy.prices_in_mu import stated_without_mu
from tacit.release.document import Release, Releases
from tacit.release.query import Query
from tacit.release.query_checks import of_numbers
from tacit.release.registry import plan_module
from tacit.release.signing import signer
from tacit.schema import Schema
from tacit.schema.expectations import Expect
from tacit.source import Source, check_source, computing, open_source
from tacit.source.site_table import apply
from tacit.study import Site, Study

R = TypeVar("R", bound=Release)


@knows_other_words
class Curator:
    """Holds one table and its ledger; the only way from rows to a release.

    Parameters
    ----------
    data: a path (Parquet, CSV, Arrow), a pandas, Polars or Spark frame, a PyArrow table, a DuckDB relation, or a dict
        of arrays.  It must be the whole table, one row not computed from others.
    schema: what is public about its columns; or a `Study`, which says it, the budget and the questions.
    name: which people, which edition; a path's stem by default; required with `ledger=` otherwise.
    budget: the total privacy loss promised; required for a new ledger, compared with the ledger's own afterwards.
    ledger: a path or a "postgresql://" URL.  A file without it uses `<file>.ledger` beside it; only frames in memory go
        without, and then nothing is recorded.
    site: with a study, how its column names and units map to this table; it gives name and ledger where they are not
        given.
    analyst: who asks, by the name under which limits and charges are recorded; None for nobody in particular, who is
        bound by the total budget alone.  A name is declared, not proven, and is no part of a question: an answer that
        anybody bought is free to all.
    trust: statistics of `tacit.extend.additive` that may be asked; their functions never see a row.
    size_hint: about how many rows (persons) there are, for questions that need it where the number is private; by
        default what a study says of the party.  Public.

    Raises SourceError (D01 to D04, D10, D11, D20, D21, D30, D31), SchemaError (S01 to S03, S14, S18), StudyError (P03,
    P04), LedgerError (L01 to L07, L10, L15, L20, L91), BudgetError (B10, B11) or QueryError (Q41: size_hint, Q289:
    trust), all before a value is read.  Under replace-one the number of rows (of persons, where the schema has a
    PrivacyUnit) is public and is counted here, as `rows`; under add-remove it is never looked at.

    >>> import tacit as tc
    >>> curator = tc.Curator({"age": [30, 40, 50]}, tc.Schema({"age": tc.Real(0, 100)}), budget=tc.Budget(rho=0.5))
    >>> curator.rows
    3
    """

    @named_arguments(BudgetError, "B18", "Curator")
    def __init__(
        self,
        data: object,
        schema: Schema | Mapping[str, Any] | Study,
        *,
        name: str | None = None,
        budget: Budget | None = None,
        ledger: str | Path | None = None,
        site: Site | None = None,
        analyst: str | None = None,
        size_hint: int | None = None,
        trust: Sequence[AdditiveStatistic] = (),
    ) -> None:
        checked_arguments(name, budget, ledger, site)
        self.trust: tuple[AdditiveStatistic, ...] = trusted(trust)
        self.schema, self.study = study_rules.public_of(schema)
        study_rules.with_study(site, self.study)
        self._key: Path | None = None if site is None else site.key
        opened = open_source(data)
        named = opened if site is None else apply(opened, site.columns)
        self._source: Source = computing(named, self.schema)
        check_source(self._source, self.schema)
        path = Path(data) if isinstance(data, str | Path) else None
        where = ledger_place(path, ledger if site is None or ledger is not None else site.ledger)
        self.name: str = table_name(name if site is None or name is not None else site.name, path, where)
        if self.study is not None:
            self.study.party(self.name)
        self.size_hint: int | None = study_rules.size_hint(size_hint, self.study, self.name)
        unit = self.schema.unit
        self._unit: int | None = None if unit is None else cast(Any, self.schema[unit]).max_rows
        self.analyst: str | None = None if analyst is None else checked_analyst(analyst)
        needs_budget(budget or (self.study and self.study.budget), where)
        self._ledger: Ledger = study_rules.ledger_of(where, budget, self.study, self._unit)
        log = purchase.log_of(self._ledger)
        self.rows: int | None = public_rows(self._source, self.schema, self._ledger.first, self.name, log)
        # the size is public and on record: another table under this name would be charged as if it were the same people
        persons, found = column_of_persons(self.schema), found_persons(self.schema, site)
        self._ledger.table(self.name, self.rows, persons, found)

    # What is public --------------------------------------------------------------------------------------------------

    @property
    def budget(self) -> Budget:
        """The total budget in force: a recorded raise counts at once."""
        return self._ledger.budget

    @property
    def spent(self) -> Spend:
        """Exact sums of all charges of the ledger, those of other tables of the same people included."""
        return self._ledger.spent()

    @property
    def remaining(self) -> str:
        """What is left, in words: "left 0.49 of 0.50", and the same of the limit of an analyst who has one."""
        return self.standing.describe()

    @property
    def standing(self) -> Standing:
        """The total budget and the sum of charges, and those of this curator's analyst, read at one moment."""
        return self._ledger.standing(self.analyst)

    @property
    def recorded(self) -> bool:
        """Whether charges survive this process."""
        return self._ledger.where is not None

    @property
    def releases(self) -> Answers:
        """Stored answers of this table by name: `curator.releases["age"]`."""
        return Answers(self.name, self._ledger, lambda: self.remaining)

    def __repr__(self) -> str:
        what = "rows" if self._unit is None else "persons"
        people = f"number of {what} private" if self.rows is None else f"{self.rows:,} {what}"
        kept = "" if self.recorded else " · memory only, not recorded"
        return (
            f"Curator({self.name} · {people} · {self._ledger.first.neighbors} · {self.budget} · {self.remaining}{kept})"
        )

    def design(self, query: Query[Any], cost: Cost) -> Measurement:
        """Return a query's integer encodings, noise and cells at a price, from public facts alone.

        Raises QueryError where it cannot be asked: Q10 to Q13 (columns), Q31 to Q33, Q60 to Q65 (where=, bins=), Q71,
        Q72 (weights, persons), Q80 to Q84 (histograms); NoiseError N01 where the price buys no law of noise.
        """
        with silent():
            return design(query, self._public, cost)

    @stated_without_mu(QueryError, "Q05", "plan")
    @named_arguments(QueryError, "Q05", "plan")
    def plan(
        self,
        query: Query[Any] | Mapping[str, Query[Any]] | Study,
        *,
        epsilon: Number | None = None,
        delta: Number | None = None,
        rho: Number | None = None,
        width: float | None = None,
        shares: Shares | None = None,
        level: float = 0.95,
        expect: Expect | None = None,
    ) -> Any:  # a tacit.planning.Plan: inference stays outside this file
        """Return what a release would cost and its expected precision, from public facts.  See `tc.plan`.

        Reads and spends nothing.  Cautions say where the ledger has the answer already, or a name is taken.

        Raises what `release` refuses before its charge: BudgetError B01, B03, StudyError P02, QueryError Q21, Q40, Q41,
        and Q42 for what is expected.
        """
        words: dict[str, Any] = {"epsilon": epsilon, "delta": delta, "rho": rho}
        study = query if isinstance(query, Study) else None
        if isinstance(query, Study):
            study_rules.own_words(shares, None)
            words = words if width is not None else study_rules.price(query, words)
            expect = {**query.expect, **(expect or {})}
            query, shares = query.asks, query.shares
        made = plan_module().plan_for(self, query, **words, width=width, shares=shares, level=level, expect=expect)
        return made.with_known(*known_words(query, shares, made.asked, self._context, self._public, study))

    # What costs ------------------------------------------------------------------------------------------------------

    @overload
    def release(
        self,
        query: Query[R],
        *,
        epsilon: Number | None = None,
        delta: Number | None = None,
        rho: Number | None = None,
        name: str | None = None,
        note: str = "",
        fresh: bool = False,
    ) -> R: ...

    @overload
    def release(
        self,
        query: Mapping[str, Query[Any]],
        *,
        epsilon: Number | None = None,
        delta: Number | None = None,
        rho: Number | None = None,
        shares: Shares | None = None,
        note: str = "",
        fresh: bool = False,
    ) -> Releases: ...

    @overload
    def release(
        self,
        query: Study,
        *,
        epsilon: Number | None = None,
        delta: Number | None = None,
        rho: Number | None = None,
        note: str = "",
    ) -> Releases: ...

    @stated_without_mu(QueryError, "Q05", "release")
    @named_arguments(QueryError, "Q05", "release")
    def release(
        self,
        query: Query[Any] | Mapping[str, Query[Any]] | Study,
        *,
        epsilon: Number | None = None,
        delta: Number | None = None,
        rho: Number | None = None,
        shares: Shares | None = None,
        name: str | None = None,
        note: str = "",
        fresh: bool = False,
    ) -> Any:
        """Buy the answer to one question, or the answers to several questions by name (all of them or none).

        `epsilon=` buys discrete Laplace noise; `rho=`, or `epsilon=` with `delta=`, normal noise rounded to integers.
        Of several questions each gets its share of the price (`shares`, 1 where not given).  The same question of the
        same table at the same price is answered from the ledger, free; with `fresh` it is bought once more, with fresh
        noise.  `note` is recorded in the ledger and is no part of the release.

        A study is asked at its own price and shares; a lower price may be given.  Its answers carry its digest, and the
        signature of the site's key where there is one.

        Raises, and spends nothing: BudgetError B01, B03, B04 (a price that is none, or of another kind), B02 (the
        budget refuses), QueryError as `design`, Q21 to Q23 (several questions), LedgerError L07 to L10,
        StudyError P01 (closed), P02 (above the study's price), P04 (another study), FileError C29 (a key that cannot be
        read).  MachineError M01 may come after the charge: it stands, and the same question resumes it.
        """
        if isinstance(query, Study):
            study_rules.own_words(shares, name, fresh)
            study_rules.same(query, self.study)
            given = study_rules.price(query, {"epsilon": epsilon, "delta": delta, "rho": rho})
            cost = Cost.of(**given)
            key = None if self._key is None else signer(self._key)  # what cannot be read is refused before the charge
            found = self._named(Questions(split(query.asks, cost, query.shares, self.schema), cost, note, query))
            return found if key is None else found.signed_by(key)
        checked_questions(query, fresh)
        cost = Cost.of(epsilon=epsilon, delta=delta, rho=rho)
        if isinstance(query, Query):
            if shares is not None:
                raise QueryError("shares= belongs to several questions.", code="Q21", hint="leave shares out")
            questions = Questions(((name, query, cost),), cost, note, fresh=fresh)
            return self._answer(questions)[0]
        if name is not None:
            raise QueryError("name= belongs to one question.", code="Q21", hint="the mapping's keys are the names")
        return self._named(Questions(split(query, cost, shares, self.schema), cost, note, fresh=fresh))

    @named_arguments(QueryError, "Q05", "holdout")
    def holdout(
        self,
        *,
        threshold: Number,
        epsilon: Number | None = None,
        delta: Number | None = None,
        rho: Number | None = None,
        answers: int = 10,
        name: str = "hold-out",
        note: str = "",
    ) -> Holdout:
        """Open this table as a reusable hold-out, whose rows no model was trained on; nothing is read or spent yet.

        threshold: the difference between training and hold-out that is looked for, as a share of a score's range (of
        proportions: itself).  The price, `epsilon=` or `rho=`, is that of all `answers` which the hold-out itself can
        give; checks that find no difference cost no more.  Each answer's part of the price is charged, as a pure ε,
        before the first check that may lead to it.  name: of the hold-out; the same name, threshold, price and number
        of answers are the same hold-out in every process that opens this ledger.  note: recorded with the charges.

        Raises QueryError Q192 (threshold, answers, name), BudgetError B01, B03, B04, B22 (price),
        LedgerError L24 (note), NoiseError N01.  Source: lecture notes §6; [Dwork et al. 2015]; theory §19.

        >>> import tacit as tc
        >>> curator = tc.Curator(
        ...     {"predicted": [True] * 300, "married": [True, False, True] * 100},
        ...     tc.Schema({"predicted": tc.Boolean(), "married": tc.Boolean()}), budget=tc.Budget(rho=1),
        ... )
        >>> with curator.holdout(threshold=0.02, rho=0.05) as holdout:
        ...     answer = holdout.check(train=0.91, score="predicted == married")
        >>> answer.score, holdout.design.run_cost.epsilon
        ('predicted == married', Fraction(1, 10))
        """
        made = holdout_design(threshold, epsilon=epsilon, delta=delta, rho=rho, answers=answers, name=name)
        self._ledger.first.spend(made.price)  # a price that this budget cannot add
        Questions((), made.price, note)  # a note that is no text
        return Holdout(made, self._public, self._context, note)

    def _named(self, questions: Questions) -> Releases:
        # a question alone is found whatever it was called when it was bought
        asked = [cast(str, name) for name, _, _ in questions.parts]
        found = zip(asked, self._answer(questions), strict=True)
        return Releases(tuple((name, replace(one, name=name)) for name, one in found))

    # What changes the promise, on record ------------------------------------------------------------------------------

    @named_arguments(BudgetError, "B18", "raise_budget")
    def raise_budget(
        self, *, epsilon: Number | None = None, delta: Number | None = None, rho: Number | None = None, note: str
    ) -> Raise | None:
        """Record a higher total budget, given in the same terms as the ledger's, with a note of who decided it.

        None, and nothing recorded, where that is the total already.  Raises BudgetError B13 for what is no raise,
        LedgerError L21 without a note.  `tacit budget LEDGER --raise-to-rho` does the same without a table.

        >>> import tacit as tc
        >>> curator = tc.Curator({"age": [30, 40]}, tc.Schema({"age": tc.Real(0, 100)}), budget=tc.Budget(rho=0.5))
        >>> curator.raise_budget(rho=0.8, note="board 31").words, curator.remaining
        ('ρ = 0.5 to ρ = 0.8', 'left 0.80 of 0.80')
        """
        return self._ledger.raise_budget(self._like(epsilon, delta, rho), note=note)

    @named_arguments(BudgetError, "B18", "limit")
    def limit(
        self,
        analyst: str,
        *,
        epsilon: Number | None = None,
        delta: Number | None = None,
        rho: Number | None = None,
        note: str,
    ) -> Limit | None:
        """Record the most that one analyst may spend, earlier charges by that name included; it may go up or down.

        None, and nothing recorded, where that is the limit already.  Raises BudgetError B13 for a limit that does not
        add as the ledger does, B14 below what is spent, LedgerError L21 without a note, L22 for a name that is none.
        """
        return self._ledger.limit(analyst, self._like(epsilon, delta, rho), note=note)

    def _like(self, epsilon: Number | None, delta: Number | None, rho: Number | None) -> Budget:
        """A budget under the ledger's relation and accounting."""
        return self._ledger.first.like(epsilon=epsilon, delta=delta, rho=rho)

    def _answer(self, questions: Questions) -> tuple[Release, ...]:
        parts = tuple((name, of_numbers(query, self.schema), cost) for name, query, cost in questions.parts)
        questions = replace(questions, parts=parts)
        designs = [self.design(query, cost) for _, query, cost in parts]
        return purchase.answer(settled(questions, designs, self._ledger.first.kind), designs, self._context)

    @property
    def _public(self) -> Public:
        first = self._ledger.first
        return Public(self.schema, first.neighbors, self.rows, self.size_hint, first.kind)

    @property
    def _context(self) -> TableContext:
        facts = (self.name, self.schema, self.rows, self._unit, self.analyst)
        return TableContext(*facts, self._ledger, self._source, self.trust)
