"""`Explanation`: what a promise means for one person, as a table, a page and a picture.  Public arithmetic."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any, Final, Literal

import numpy as np

from tacit.base import page_documents
from tacit.base.arguments import described
from tacit.base.table import Align, Table, shown_by_summary
from tacit.errors import BudgetError, InferenceError, nearest
from tacit.meaning import attacker, explanation_page
from tacit.meaning.checked import percent, probability, whole
from tacit.meaning.differencing import DifferencingAttack, attack
from tacit.meaning.many_releases import CompositionTable, many_releases
from tacit.meaning.minimax import MinimaxPrice
from tacit.meaning.population import PopulationOfSecrets
from tacit.meaning.promise import Promise
from tacit.meaning.split_price import SplitPrice, split_price
from tacit.plots.canvas import Drawn
from tacit.privacy.cost import Cost

SUSPICIONS: Final = (0.5, 0.1, 0.01)
FALSE_ALARMS: Final = (0.01, 0.05)
PIN: Final = 10_000
"""Values of a secret that people know: the four digits of a bank card."""
GROUPS: Final = (2, 5)
REPEATS: Final = (10,)
EXCEPT: Final = 1e-6
"""The probability with which a suspicion may move further, where a promise has no δ of its own."""


@dataclass(frozen=True)
class PromiseCase:
    """A promise and what it is of: "what one row says", "whether one row is in the table" (then `values` is False)."""

    name: str
    promise: Promise
    values: bool = True


@shown_by_summary
@dataclass(frozen=True, repr=False)
class Explanation:
    """What a price, a budget, a release, a ledger or a study means for one person.  Made by `tacit.explain`.

    Figures bound what *anybody* can do: who knows every other row, has all answers, any computer, and all time.  They
    are rounded against the promise: a bound from above upward.  cases: what is promised of what, the first of which the
    methods take.  except_with: with which probability a suspicion may move beyond what is told; 0 for a pure ε.  cost:
    a price, for repeated releases; None of a budget or a ledger.

    >>> import tacit as tc
    >>> made = tc.explain(epsilon=1)
    >>> print(made)
    What ε = 1 promises (replace-one)
                                                          what one row says
    a suspicion of 50% becomes                             26.8 % to 73.2 %
    a suspicion of 10% becomes                              3.9 % to 23.2 %
    a suspicion of 1% becomes                               0.37 % to 2.7 %
    a yes or no guessed right, a coin has 50%                        73.2 %
    a secret of 10,000 values guessed, chance has 0.01 %            0.028 %
    a test with 1% false alarms finds                                 2.8 %
    a test with 5% false alarms finds                                13.6 %
    a yes or no that 2 rows share guessed right                      88.1 %
    a yes or no that 5 rows share guessed right                     99.34 %
    a yes or no guessed right after 10 such releases                 97.5 %
    bounds on the best attacker: one who knows every other row and has all the time in the world
    """

    title: str
    cases: tuple[PromiseCase, ...]
    unit: str
    except_with: float
    cost: Cost | None = None
    notes: tuple[str, ...] = ()

    @property
    def promise(self) -> Promise:
        """The promise of the first case."""
        return self.cases[0].promise

    @property
    def _of_values(self) -> Promise:
        """The promise of the first case that is of what a row says: under add-remove the second one."""
        return next((one.promise for one in self.cases if one.values), self.promise)

    def case(self, name: str) -> Promise:
        """Return the promise of a case by its name; BudgetError B20 for one that there is not."""
        found = {one.name: one.promise for one in self.cases}
        if name not in found:
            text = f"{name!r} is no case of this explanation."
            raise BudgetError(text, code="B20", hint=nearest(str(name), list(found)) or self.cases[0].name)
        return found[name]

    def posterior(self, prior: float) -> tuple[float, float]:
        """Return the least and largest probability that a suspicion of probability `prior` can have afterwards.

        Except with probability `except_with`, where that is not 0.  Raises BudgetError B20 for no probability.
        """
        return attacker.posterior(self.promise, probability(prior, "prior"), self.except_with)

    def guessed_right(self, prior: float = 0.5) -> float:
        """Return the largest probability of guessing a yes or no right that is yes with probability `prior`.

        Raises BudgetError B20 for no probability.

        Of N people with such a secret each, whose attacker knows all the others, at most N times this are guessed right
        on average.
        """
        return attacker.right(self.promise, probability(prior, "prior"))

    def found_among(self, secrets: int) -> float:
        """Return the largest probability of guessing which of equally likely values a row has.

        secrets: how many values, 2 to 10^12; BudgetError B20 for another number.
        """
        return attacker.found_among(self._of_values, whole(secrets, "secrets", 2, 10**12, PIN))

    def population(self, people: int = 10_000, secrets: int = 2) -> PopulationOfSecrets:
        """Return how many of so many people's secrets can be guessed right, each one of equally likely values.

        people: up to 10^9.  secrets: values of each, 2 to 10^12.  Raises BudgetError B20 for other numbers.

        >>> import tacit as tc
        >>> round(tc.explain(epsilon=0.1).population(10_000, secrets=366).on_average, 1)  # birthdays, 27.3 by chance
        30.2
        """
        n = whole(people, "people", 1, 10**9, 10_000)
        return PopulationOfSecrets(self.title, self._of_values, n, whole(secrets, "secrets", 2, 10**12, PIN))

    def power(self, false_alarms: float) -> float:
        """Return the largest share of true alarms of a test with this share of false alarms; BudgetError B20."""
        alpha = np.array([probability(false_alarms, "false_alarms")])
        return float(attacker.largest_power(self.promise, alpha)[0])

    def misses(self, false_alarms: float) -> float:
        """Return the least share of misses of a test with this share of false alarms, the trade-off function.

        Raises BudgetError B20 for no probability.

        >>> import tacit as tc
        >>> round(tc.explain(epsilon=1).misses(0.05), 4)  # 1 - 0.05 e
        0.8641
        """
        alpha = np.array([probability(false_alarms, "false_alarms")])
        return float(attacker.least_misses(self.promise, alpha)[0])

    @property
    def advantage(self) -> float:
        """The largest difference between true and false alarms: 0 for no information, 1 for none kept."""
        return attacker.advantage(self.promise)

    def of_people(self, people: int) -> Explanation:
        """Return the explanation for a group of people whose rows change together: a household.  BudgetError B20."""
        k = whole(people, "people", 1, 10**6, 4)
        cases = tuple(
            PromiseCase(f"{one.name}, {k:,} together", one.promise.of_people(k), one.values) for one in self.cases
        )
        return Explanation(f"{self.title}, {k:,} together", cases, self.unit, self.except_with, None, self.notes)

    def point_mass(self, rows: int, places: int) -> float:
        """Return the largest probability that any answer tells where all rows lie, if all lie at one of `places`.

        The notes' example: `rows` equal values, so that tables of two places differ in every row.  As soon as places
        are many more than e^(rows ε), no private answer tells them apart, however many rows there are.  Raises
        BudgetError B20 for other numbers.
        """
        n = whole(rows, "rows", 1, 10**9, 100)
        return attacker.found_among(self._of_values.of_people(n), whole(places, "places", 2, 10**300, PIN))

    def differencing(self, people: int = 25, rng: int = 0) -> DifferencingAttack:
        """Play the differencing attack on the mean score of a class, published before and after one person joins.

        people: in the class.  rng: a seed; BudgetError B20 for none.  Both means together keep the promise.

        >>> import tacit as tc
        >>> tc.explain(epsilon=1).differencing().summary().rows[0][1:]
        ('0.0', '100.0 %')
        """
        k, seed = whole(people, "people", 1, 10**6, 25), whole(rng, "rng", 0, 2**63, 0)
        return attack(self.promise, f"Alice's score from two class means · {self.title}", k, seed)

    def composition(self, releases: Sequence[int] = (1, 2, 5, 10, 100), delta: float = EXCEPT) -> CompositionTable:
        """Return what so many releases of this price cost together, under each rule of composition.

        delta: at which ε is told of what has no pure ε.  Raises BudgetError B20 for a number outside 1 to 10,000, and
        for an explanation of what is no price.
        """
        if self.cost is None:
            text = f"{self.title}: releases of one price are counted, and this is none."
            raise BudgetError(text, code="B20", hint="tc.explain(epsilon=1).composition((1, 10, 100))")
        numbers = tuple(whole(k, "releases", 1, 10_000, 10) for k in releases)
        return many_releases(self.cost, numbers, probability(delta, "delta", ends=False))

    def partition(self, releases: Sequence[int] = (1, 2, 5, 10, 20, 50, 100), delta: float = EXCEPT) -> SplitPrice:
        """Return the noise of the average of k releases that together cost this price, beside one release of it.

        delta: beside a pure ε, for the rules that need one.  Raises BudgetError B20 for a number outside 1 to 10,000,
        and for an explanation of what is no price with an ε.

        >>> import tacit as tc
        >>> round(tc.explain(epsilon=1).partition((1, 50)).variance("Laplace releases, optimal")[1], 1)
        33.4
        """
        if self.cost is None or self.cost.epsilon is None:
            text = f"{self.title}: a price with an ε is divided, and this is none."
            raise BudgetError(text, code="B20", hint="tc.explain(epsilon=1, delta=1e-6).partition((1, 10, 100))")
        numbers = tuple(whole(k, "releases", 1, 10_000, 10) for k in releases)
        own = Fraction(str(probability(delta, "delta", ends=False)))
        return split_price(self.cost.epsilon, self.cost.delta or own, numbers)

    def minimax(self, rows: Sequence[int] = (100, 1_000, 10_000, 100_000), columns: int = 1) -> MinimaxPrice:
        """Return what privacy costs in the error of `columns` means, for numbers of rows; BudgetError B20."""
        numbers = tuple(whole(n, "rows", 1, 10**12, 1_000) for n in rows)
        return MinimaxPrice(self.title, self.promise, numbers, whole(columns, "columns", 1, 10**6, 5))

    def summary(self) -> Table:
        """Return the table."""
        names = tuple(one.name for one in self.cases)
        told = [tuple(self._lines(one)) for one in self.cases]
        lines = dict.fromkeys(line for of in told for line, _ in of)
        rows = tuple((line, *(dict(of).get(line, "") for of in told)) for line in lines)
        align: tuple[Align, ...] = ("left", *("right" for _ in names))
        return Table(self.title, ("", *names), rows, (*self._except(), *self.notes), align)

    def _except(self) -> Iterator[str]:
        yield "bounds on the best attacker: one who knows every other row and has all the time in the world"
        if self.except_with > 0:
            yield f"a suspicion may move further with a probability of at most {self.except_with:.3g}"

    def _lines(self, case: PromiseCase) -> Iterator[tuple[str, str]]:
        """Yield what is told, and its figure for one case."""
        promise = case.promise
        for prior in SUSPICIONS:
            low, high = attacker.posterior(promise, prior, self.except_with)
            yield f"a suspicion of {100 * prior:g}% becomes", f"{percent(low, up=False)} to {percent(high)}"
        yield "a yes or no guessed right, a coin has 50%", percent(attacker.right(promise))
        # presence is a yes or no: only a row has a value among many
        if case.values:
            found = percent(attacker.found_among(promise, PIN))
            yield f"a secret of {PIN:,} values guessed, chance has {100 / PIN:g} %", found
        for alpha, power in zip(FALSE_ALARMS, attacker.largest_power(promise, np.array(FALSE_ALARMS)), strict=True):
            yield f"a test with {100 * alpha:g}% false alarms finds", percent(float(power))
        for k in GROUPS:
            shared = attacker.right(promise.of_people(k))
            yield f"a yes or no that {k} {self.unit}s share guessed right", percent(shared)
        if self.cost is not None:
            for k in REPEATS:
                after = attacker.right(promise.repeated(k))
                yield f"a yes or no guessed right after {k} such releases", percent(after)

    def to_dict(self) -> Mapping[str, Any]:
        """Return the figures as plain values, unrounded."""
        return {"title": self.title, "except_with": self.except_with, "cases": [self._words(one) for one in self.cases]}

    def _words(self, case: PromiseCase) -> Mapping[str, Any]:
        one = case.promise
        factor = attacker.odds_factor(one, self.except_with)
        return {
            "name": case.name,
            "log_odds_factor": factor if math.isfinite(factor) else None,
            "posterior": {f"{p:g}": list(attacker.posterior(one, p, self.except_with)) for p in SUSPICIONS},
            "guessed_right": attacker.right(one),
            "advantage": attacker.advantage(one),
            "found_among": {str(PIN): attacker.found_among(one, PIN)},
            "power": {f"{a:g}": float(attacker.largest_power(one, np.array([a]))[0]) for a in FALSE_ALARMS},
            "guessed_right_of_people": {str(k): attacker.right(one.of_people(k)) for k in GROUPS},
        }

    def plot(self, ax: Any = None, *, curve: Literal["roc", "trade-off"] = "roc") -> Drawn:
        """Draw what the best attacker reaches at each share of false alarms, a line for each case.

        curve: "roc", the most true alarms; "trade-off", the least misses.  InferenceError I20 without matplotlib, I08
        for another curve.
        """
        from tacit.plots.canvas import Caption
        from tacit.plots.line_plot import lines

        if curve not in ("roc", "trade-off"):
            text = f"curve is {described(curve)}: neither 'roc' nor 'trade-off'."
            raise InferenceError(text, code="I08", hint='curve="roc"', state=None)
        x, roc = np.linspace(0, 1, 201), curve == "roc"
        found = attacker.largest_power if roc else attacker.least_misses
        curves = {one.name: found(one.promise, x) for one in self.cases}
        curves["a coin"] = x if roc else 1 - x
        note = f"no test of who is in the data, or of what a row says, lies {'above' if roc else 'below'} its line"
        return lines(x, curves, Caption(self.title, "false alarms", note, "true alarms" if roc else "misses"), ax)

    def to_text(self) -> str:
        """Return the table as text."""
        return self.summary().to_text()

    def to_html(self) -> str:
        """Return the page for a board: the table in plain words, and the picture where matplotlib is installed."""
        return explanation_page.to_html(self)

    def save(self, path: str | Path) -> None:
        """Write the page: .html, .txt, .docx or .pdf by suffix; FileError F10, F13 and ReleaseError R07 as plans do."""
        page_documents.save(self, path, page_documents.suffix_of(path, "an explanation", "meaning.html"))
