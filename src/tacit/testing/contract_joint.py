"""The contract of a selection of three steps together: parts (a) and (d) of `contract_selection`, over triples."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from typing import Final

import numpy as np
from numpy.typing import NDArray

from tacit.method.quantiles.joint_steps import JointSteps
from tacit.method.shared.mechanism_rank_selection import select
from tacit.noise.selection_law import Selection
from tacit.testing.audit import epsilon_lower_bound
from tacit.testing.audit_tables import Cell
from tacit.testing.neighbouring_tables import Relation

ENDS: Final = (0, 1, 3)
"""Numbers of rows at the first and the last step that are tried, beside one and two times the offset."""
MIDDLE: Final = (0, 2)
"""Numbers of rows in between that are tried."""
PLACES: Final = (Fraction(1, 50), Fraction(49, 50))
"""Steps of the rows in between that are tried, as fractions of the last step."""
SIGMAS: Final = 5
"""Standard errors by which a lower bound at confidence 1 - 1e-6 is below the estimate, approximately."""


@dataclass(frozen=True)
class Classes:
    """Steps in classes with the same rows below and at or below them, in each of two tables.

    first: the first step of each class.  points: the number of steps of each.  Triples of classes are in row-major
    order.
    """

    first: NDArray[np.int64]
    points: NDArray[np.int64]

    @classmethod
    def of(cls, one: JointSteps, other: JointSteps) -> Classes:
        """Return the classes of the candidates of two tables on one grid."""
        first = np.union1d(one.runs.first, other.runs.first).astype(np.int64)
        return cls(first, np.diff(np.append(first, one.runs.steps)))

    def utilities(self, steps: JointSteps) -> NDArray[np.int64]:
        """Return the utility of the triples of each triple of classes."""
        first, second, third = (x.ravel() for x in np.meshgrid(*[self.first] * 3, indexing="ij"))
        return steps.at(first, second, third)

    def pmf(self, steps: JointSteps, law: Selection) -> NDArray[np.float64]:
        """Return the probability of each triple of classes."""
        p = self.points.astype(np.float64)
        return law.pmf(self.utilities(steps), (p[:, None, None] * p[:, None] * p).ravel())

    def place(self, triple: tuple[int, int, int]) -> int:
        """Return the triple of classes of a triple of steps."""
        i, j, k = (int(np.searchsorted(self.first, step, "right")) - 1 for step in triple)
        return (i * len(self.first) + j) * len(self.first) + k


def change(one: JointSteps, other: JointSteps) -> int:
    """Return the largest difference of any triple's utility."""
    classes = Classes.of(one, other)
    return int(np.abs(classes.utilities(one) - classes.utilities(other)).max())


def tables(last: int, offset: int, relation: Relation) -> Iterator[tuple[Cell, Cell]]:
    """Yield pairs of small tables on steps 0 ... last, of which one row is replaced, from one end to the other, or of
    which one has a row more, at either end.
    """
    ends = sorted({*ENDS, offset, 2 * offset})
    for left, middle, right, place in product(ends, MIDDLE, ends, PLACES):
        base: Cell = {0: left, round(place * last): middle, last: right}
        one, other = ({**base, end: base[end] + 1} for end in (0, last))
        if relation == "replace-one":
            yield _held(one), _held(other)
        else:
            yield _held(base), _held(one)
            yield _held(base), _held(other)


def _held(cell: Cell) -> Cell:
    return {step: rows for step, rows in cell.items() if rows}


def proven(
    law: Selection,
    draws: int,
    last: int,
    look: Callable[[Cell], JointSteps],
    factor: Fraction,
    relation: Relation = "replace-one",
    share: int = 1,
) -> float:
    """Return the epsilon that samples of the two tables prove that differ most at `factor` times the rate of `law`.

    look: returns the candidates of a table of rows, or of persons, who have `share` parts each.
    The event is chosen by the exact probabilities, before any sample is drawn.
    """
    sharper, best = Selection(law.rate * factor), -np.inf
    chosen: tuple[JointSteps, JointSteps, Classes, NDArray[np.bool_]] | None = None
    offset = look({}).between // (2 * share)
    for pair in tables(last, offset, relation):
        for one, other in (map(look, pair), map(look, reversed(pair))):
            classes = Classes.of(one, other)
            p, q = classes.pmf(one, sharper), classes.pmf(other, sharper)
            order = np.argsort(q / p)
            of_p, of_q = np.cumsum(p[order]), np.cumsum(q[order])
            low = of_p - SIGMAS * np.sqrt(of_p / draws)
            high = of_q + SIGMAS * np.sqrt(of_q / draws) + SIGMAS**2 / (2 * draws)
            worth = np.where(low > 0, np.log(np.maximum(low, 1e-300) / high), -np.inf)
            i = int(np.argmax(worth))
            if worth[i] > best:
                event = np.zeros(len(p), dtype=np.bool_)
                event[order[: i + 1]] = True
                best, chosen = float(worth[i]), (one, other, classes, event)
    assert chosen is not None
    one, other, classes, event = chosen
    scores = [
        np.array([event[classes.place(select(steps, law))] for _ in range(draws)], dtype=np.int64)
        for steps in (one, other)
    ]
    return epsilon_lower_bound(scores[0], scores[1], 0.0, 1 - 1e-6)
