"""`Holdout`: checks against a curator's table, bought by the run; what `Curator.holdout` opens.  INSIDE the wall.

The order of a check: public errors, a durable charge for a run where none is going on, the rows, the comparison, and
where it finds a difference the noisy mean, stored with the charge and only then returned.  A run that is interrupted is
over, and its charge stands: no charge serves two runs, in one process or in several.
"""

from __future__ import annotations

import os
import threading
import weakref
from dataclasses import replace
from functools import partial
from types import TracebackType
from typing import Any, Final, NoReturn

from tacit.base.arguments import named_arguments
from tacit.base.json_text import canonical
from tacit.base.muted import silent
from tacit.base.table import Table
from tacit.curator.guard import guarded
from tacit.curator.purchase import TableContext, document, log_of, source_ready
from tacit.curator.stored_releases import stored
from tacit.errors import BudgetError, LedgerError, QueryError
from tacit.holdout.holdout_design import VERSION, HoldoutDesign
from tacit.holdout.holdout_score import HoldoutScore, holdout_score
from tacit.holdout.mechanism_holdout import Run, answered, exact
from tacit.holdout.transcript import HoldoutAnswer, Transcript
from tacit.ledger import Charge, Request
from tacit.method.shared.measurement import Public
from tacit.privacy.exact_numbers import plain
from tacit.release.document import Releases
from tacit.release.registry import ready

TAKEN: Final = "L30"
"""Code of the error that says that another process began a run."""
DIFFERENCES: Final = (0.0, 0.5, 1.0, 1.5, 2.0)
"""Differences, as multiples of the threshold, of which `summary` says how likely a check finds them."""

RARE: Final = 1e-12
"""Chances below this are not told apart."""


class Holdout:
    """A reusable hold-out of a curator's table: made by `Curator.holdout`, and closed by `with` or `close`.

    >>> import tacit as tc
    >>> table = {"right": [True, False] * 2_000}
    >>> curator = tc.Curator(table, tc.Schema({"right": tc.Boolean()}), budget=tc.Budget(epsilon=2))
    >>> with curator.holdout(threshold=0.05, epsilon=2, answers=2) as holdout:
    ...     same, other = holdout.check(train=0.5, score="right"), holdout.check(train=0.95, score="right")
    >>> same.differs, same.value, other.differs, holdout.remaining
    (False, 0.5, True, 1)
    """

    def __init__(self, design: HoldoutDesign, public: Public, context: TableContext, note: str = "") -> None:
        self._design = design
        self._public = public
        self._context = context
        self._note = note
        self._closed = False
        self._charge: Charge | None = None
        self._run: Run | None = None
        self._lock = threading.Lock()
        self._transcript = Transcript(_facts(design, context))
        _OPEN.add(self)

    # What is public --------------------------------------------------------------------------------------------------

    @property
    def design(self) -> HoldoutDesign:
        """The threshold, the price and the laws of the noise."""
        return self._design

    @property
    def transcript(self) -> Transcript:
        """The answers that this process has had, in order."""
        return self._transcript

    @property
    def remaining(self) -> int:
        """How many more answers the hold-out itself can give: runs that nobody has begun, and this process's own.

        Fewer than the design's number where the ledger's budget, or the analyst's limit, has no room for them all.
        """
        own = 1 if self._going_on else 0
        begun = sum(self._context.ledger.find(self._request(k).digest) is not None for k in self._numbers)
        return own + self._affordable(self._design.answers - begun)

    def summary(self) -> Table:
        """Return a table of what the hold-out tells, before it is asked: no row is read.

        The chances need a number of rows: the public one, or `size_hint`.
        """
        one, size = self._design, self._public.size
        cost = one.run_cost
        rows = [
            ("threshold", f"{float(one.threshold):g} of a score's range"),
            ("price of all answers", str(one.price)),
            ("cost of each answer", str(cost)),
            ("answers left", str(self.remaining)),
        ]
        if size is not None:
            for times in DIFFERENCES:
                apart = times * float(one.threshold)
                rows.append((f"found where the means differ by {apart:.3g}", f"{one.chance(apart, size):.3g}"))
            chance = one.chance(0, size)
            many = f"about {1 / chance:.3g}" if chance > RARE else "more than 1e+12"
            rows.append(("checks without a difference until one is found, on average", many))
        notes = (
            "a run is charged before its first check; an answer from the hold-out, or the end of the process, ends it",
        )
        title = f"Hold-out {one.name!r} of {self._context.name}"
        return Table(title, ("", "what is said beforehand"), tuple(rows), notes, ("left", "right"))

    def __repr__(self) -> str:
        state = "closed" if self._closed else f"{self.remaining} answers left"
        return (
            f"Holdout({self._context.name} · threshold {plain(self._design.threshold)} · "
            f"{self._design.run_cost} an answer · {state})"
        )

    # What costs ------------------------------------------------------------------------------------------------------

    @named_arguments(QueryError, "Q05", "check")
    def check(self, *, train: float, score: str) -> HoldoutAnswer:
        """Compare a score's training value with its mean over the hold-out.

        train: the mean of the score over the training rows.  score: a condition on a row ("predicted == married", whose
        mean is a proportion), or a column of numbers with bounds, or a Boolean one.

        The answer is `train` where no difference beyond the threshold is found, at no further cost; else a noisy mean
        of the hold-out, which ends the run.  The first check of a run is charged for all of it.

        Raises, and spends nothing: QueryError Q190, Q191 (score, training value), Q10 to Q12, Q60 to Q62 (the columns
        it reads), LedgerError L31 (closed), BudgetError B21 (no answer is left), B02, B12 (the budget refuses a run).
        MachineError M01 may come after the charge: that run is over.
        """
        with self._lock:
            self._still_open()
            with silent():
                asked = holdout_score(score, self._public, self._design)
            place = asked.place(train)
            ready(asked.shape.kind)
            source_ready(self._context)
            charge, run = self._current()
            # whatever stops this check, an interrupt too, has ended the run: it is put back by an answer alone
            self._run = None
            text = guarded(
                partial(self._compared, run, charge, asked, place), log_of(self._context.ledger), LedgerError
            )
            release = None if text is None else _read(charge, text, self._context)
            self._run = run  # which says itself whether it has ended
            answer = HoldoutAnswer(asked.name, float(train), charge.number, release)
            self._transcript = self._transcript.with_check(answer)
            return answer

    def save(self, path: str) -> None:
        """Write the transcript to a file: `Transcript.save`."""
        self._transcript.save(path)

    def close(self) -> None:
        """End the run, and refuse further checks; the answers stay."""
        self._closed, self._run = True, None

    def __enter__(self) -> Holdout:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, problem: BaseException | None, at: TracebackType | None
    ) -> None:
        self.close()

    def __reduce_ex__(self, protocol: Any) -> NoReturn:
        """Refuse to be copied or pickled: a noisy threshold is never stored."""
        raise TypeError("a hold-out is neither stored nor copied; its transcript is")

    # Runs ------------------------------------------------------------------------------------------------------------

    @property
    def _going_on(self) -> bool:
        return self._run is not None and self._run.going_on

    @property
    def _numbers(self) -> range:
        return range(1, self._design.answers + 1)

    def _current(self) -> tuple[Charge, Run]:
        """Return the run that is going on with its charge, or charge a new one."""
        if self._run is not None and self._charge is not None and self._going_on:
            return self._charge, self._run
        self._run, self._charge = None, None
        charge = self._charged()
        # after the charge is durable: a process that stops here has paid, and its threshold was never used
        self._charge = charge
        return charge, Run(self._design)

    def _charged(self) -> Charge:
        """Charge the first run that nobody has begun; BudgetError B21 where there is none."""
        for number in self._numbers:
            request = self._request(number)
            if self._context.ledger.find(request.digest) is None:
                try:
                    return self._context.ledger.charge(request, new=True)
                except LedgerError as problem:
                    if problem.code != TAKEN:
                        raise
        many = self._design.answers
        message = f"the hold-out {self._design.name!r} has had its {many:,} {'run' if many == 1 else 'runs'}."
        raise BudgetError(message, code="B21", hint='another hold-out, at a price of its own: name="second"')

    def _request(self, number: int) -> Request:
        """Return the request for a run: the same number of the same hold-out is charged once, whoever asks."""
        context, cost = self._context, self._design.run_cost
        words = {**_facts(self._design, context), "mechanism": VERSION, "cost": cost.to_dict(), "run": number}
        return Request(context.name, (), canonical(words), cost, self._note, context.analyst)

    def _affordable(self, most: int) -> int:
        """Return how many runs, up to `most`, the budget and the analyst's limit admit."""
        standing = self._context.ledger.standing(self._context.analyst)
        price = standing.budget.spend(self._design.run_cost)
        spent, own = standing.spent + price, standing.own + price
        for count in range(most):
            if not standing.budget.holds(spent) or (standing.limit is not None and not standing.limit.holds(own)):
                return count
            spent, own = spent + price, own + price
        return most

    def _still_open(self) -> None:
        if self._closed:
            message = f"the hold-out {self._design.name!r} is closed."
            raise LedgerError(message, code="L31", hint="curator.holdout(…) again, which begins a new run")

    def _compared(self, run: Run, charge: Charge, asked: HoldoutScore, place: int) -> str | None:
        """READS ROWS.  Return None where no difference is found, else the stored text of the noisy mean."""
        found = exact(asked, self._context.source)
        if not run.differs(found, place):
            return None
        parts = answered(asked, found)
        made = document(asked.shape, parts, (None, asked.shape.query, asked.shape.cost), charge, None, self._context)
        return self._context.ledger.store(charge.number, Releases((("0", made),)).to_json())


def _read(charge: Charge, text: str, context: TableContext) -> Any:
    """Return the stored answer as a release."""
    found = stored(replace(charge, release=text), context.ledger.where).with_remaining(context.remaining)
    return next(iter(found.values()))


def _facts(design: HoldoutDesign, context: TableContext) -> dict[str, Any]:
    """Return what all runs and answers of a hold-out share, as plain JSON values."""
    return {
        "table": context.name,
        "schema": context.schema.digest(),
        "neighbors": context.ledger.first.neighbors,
        "unit": context.unit,
        "rows": context.rows,
        "ledger": context.ledger.identity,
        "holdout": design.to_dict(),
        "run_cost": design.run_cost.to_dict(),
    }


_OPEN: Final[weakref.WeakSet[Holdout]] = weakref.WeakSet()


def _forget() -> None:
    """In a forked process: no run is its own, and no lock is held by a thread that did not follow."""
    for one in list(_OPEN):
        one._run = None  # pyright: ignore[reportPrivateUsage]
        one._lock = threading.Lock()  # pyright: ignore[reportPrivateUsage]


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget)
