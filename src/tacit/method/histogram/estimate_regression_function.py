"""A regression function, and a classifier, from the counts of a released histogram.  Post-processing.

With k_bl the number of rows in bin b of a column x and cell l of an outcome, and v_l the outcome's value there, the
derivatives at t of the iterated Bernstein polynomials of order h of the running sums over bins of v_l k_bl and of k_bl
are sum_b w_b(t) sum_l v_l k_bl and sum_b w_b(t) sum_l k_bl, with public weights w_b.  Their ratio estimates
E[outcome | x = t].  Counts of bins have the least noise: those on the lattice itself, running sums, have as many times
more as a row changes several of them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from tacit.base.arguments import described
from tacit.base.arrays import Array
from tacit.errors import InferenceError
from tacit.estimates.bins import BINNED, spans, uneven
from tacit.estimates.normal_estimate import NormalEstimate
from tacit.estimates.terms import Target, check_target, given_places
from tacit.estimates.wording import title, who
from tacit.method.histogram.estimate_margins import margin
from tacit.method.shared.iterated_operator import slopes
from tacit.release.document import Released

MOST_ORDER: Final = 4
"""Largest order of the iterated operator."""
CLEAR: Final = 3.0
"""A number of rows near a place is used where it is so many standard errors of its noise above 0."""
DRAWS: Final = 400
"""Counts drawn anew, from which the optimism of an error estimate is taken."""
SEED: Final = 18_39


@dataclass(frozen=True)
class BinnedOutcome:
    """Counts of bins and cells of an outcome.

    counts: shape (bins, cells).  values: of the outcome's cells.  edges: of the bins, as public.  variance: of the
    noise of a count.  what: the outcome in words.
    """

    counts: Array
    values: Array
    edges: Array
    variance: float
    what: str


def regression_function(
    release: Released, outcome: str, on: str, at: Any, level: str | None, order: int, target: Target
) -> NormalEstimate:
    """Return the mean of an outcome at places of a column, of a release, real or simulated."""
    check_target(target)
    found, given = _counted(release, outcome, on, level), given_places(at, "at=[30, 50]")
    over = _weights(found, given, _order(order))
    sizes, sums = over @ found.counts.sum(axis=1), over @ found.counts @ found.values
    noise = np.sqrt(found.variance * len(found.values) * (over**2).sum(axis=1))
    unclear = sizes <= CLEAR * noise
    values = np.where(unclear, float(found.values.mean()), sums / np.where(unclear, 1.0, sizes))
    # of a ratio, shape (places, bins, cells)
    change = over[:, :, None] * (found.values[None, None, :] - values[:, None, None])
    change = (change / np.where(unclear, 1.0, sizes)[:, None, None]).reshape(len(given), -1)
    privacy = found.variance * change @ change.T
    present = np.maximum(found.counts, 0.0).reshape(-1)
    sampling = np.zeros_like(privacy) if target == "table" else (change * present) @ change.T
    reason = f"too few rows near this value of {on}, or too much noise"
    words = f"mean of {found.what} at values of {on}" + _of(release, target)
    notes = (f"limits are of a ratio of Bernstein polynomials of order {order}, from {len(found.edges) - 1} bins",)
    terms = tuple(f"{on}={x:.6g}" for x in given)
    return NormalEstimate(
        release, title(release), words, terms, values, sampling, privacy,
        tuple(reason if one else None for one in unclear), notes, tested=False, target=target,
    )  # fmt: skip


@dataclass(frozen=True)
class Classifier:
    """A rule that says of a value of a column whether the outcome is to be expected, and how often it is wrong.

    edges: of the column's bins.  predicted: shape (bins,).  error: the share of rows that the rule is wrong of.

    >>> import tacit as tc
    >>> age = list(range(18, 94)) * 40
    >>> rows = {"age": age, "retired": [one > 65 for one in age]}
    >>> curator = tc.Curator(
    ...     rows, tc.Schema({"age": tc.Real(18, 93), "retired": tc.Boolean()}), budget=tc.Budget(rho=1)
    ... )
    >>> cells = curator.release(tc.Histogram(["age", "retired"], bins={"age": 15}), rho=0.5)
    >>> rule = cells.classifier("retired", on="age")
    >>> rule.predict([30, 80]).tolist(), bool(rule.error.values[0] < 0.1)
    ([False, True], True)
    """

    edges: Array
    predicted: NDArray[np.bool_]
    error: NormalEstimate

    def predict(self, at: Any) -> NDArray[np.bool_]:
        """Return whether the outcome is to be expected at each value; beyond the bounds as in the end bins."""
        place = np.searchsorted(self.edges[1:-1], given_places(at, "at=[30, 50]"), side="right")
        return np.asarray(self.predicted[place])


def classifier(
    release: Released, outcome: str, on: str, level: str | None, cut: float, order: int, target: Target
) -> Classifier:
    """Return the rule of a release, real or simulated, with an estimate of its error."""
    check_target(target)
    found = _counted(release, outcome, on, level)
    if len(found.values) != 2 or not np.array_equal(np.unique(found.values), [0.0, 1.0]):
        text = f"{outcome!r} has not two levels, and a classifier needs them."
        raise InferenceError(text, code="I44", hint=f'regression_function("{outcome}", on="{on}", at=[…])', state=None)
    if isinstance(cut, bool) or not isinstance(cut, int | float) or not 0 < cut < 1:  # pyright: ignore[reportUnnecessaryIsInstance]
        raise InferenceError(f"cut is {described(cut)}: not between 0 and 1.", code="I44", hint="cut=0.5", state=None)
    over = _weights(found, (found.edges[:-1] + found.edges[1:]) / 2, _order(order))
    yes = found.values == 1.0

    def rule(counts: Array) -> NDArray[np.bool_]:
        return np.asarray(over @ counts @ (found.values - cut) >= 0)

    def wrong(predicted: NDArray[np.bool_], counts: Array) -> float:
        # where it is expected the other level is wrong
        missed = (counts * (predicted[:, None] != yes[None, :])).sum()
        return float(missed / max(counts.sum(), 1.0))

    predicted, rng = rule(found.counts), np.random.default_rng(SEED)
    spread = np.sqrt(np.maximum(found.counts, 0.0) * (target == "population") + found.variance)
    excess = list[float]()
    for _ in range(DRAWS):
        drawn = found.counts + spread * rng.standard_normal(found.counts.shape)
        chosen = rule(drawn)
        excess.append(wrong(chosen, drawn) - wrong(chosen, found.counts))
    # a rule fits the counts that it was made from better than it fits others
    error, size = wrong(predicted, found.counts) - float(np.mean(excess)), max(float(found.counts.sum()), 1.0)
    error = min(1.0, max(0.0, error))
    change = ((predicted[:, None] != yes[None, :]) - error) / size
    privacy = np.array([[found.variance * float((change**2).sum())]])
    sampling = np.array([[float((np.maximum(found.counts, 0.0) * change**2).sum())]]) * (target == "population")
    clear = size > CLEAR * np.sqrt(found.variance * found.counts.size)
    reason = None if clear else f"size {size:,.0f}: not clearly above 0"
    words = f"share of {who(release)} of which a rule from {on} says the wrong level of {outcome}" + _of(
        release, target
    )
    estimate = NormalEstimate(
        release, title(release), words, ("error",), np.array([error]), sampling, privacy, (reason,),
        ("less what a rule gains from the counts that it was made from",), tested=False, target=target,
    )  # fmt: skip
    return Classifier(found.edges, predicted, estimate)


# Parts --------------------------------------------------------------------------------------------------------------


def _counted(release: Released, outcome: str, on: str, level: str | None) -> BinnedOutcome:
    made = margin(release, (on, outcome))
    axis, other = made.axes
    if axis.kind not in BINNED:
        text = f"{on!r} has levels: a function of it is a mean by its levels."
        raise InferenceError(text, code="I60", hint="another on=", state=None)
    lower, upper = spans(axis)
    if len(lower) < 2 or uneven(lower, upper):
        text = f"bins of {on!r} are not of one width, or fewer than two, which a Bernstein polynomial needs."
        raise InferenceError(text, code="I44", hint=f'bins={{"{on}": 20}} in the question', state=None)
    counts, labels = made.counts[: len(lower)], made.levels[1][1]
    part = release.parts[0]
    variance = float(part.law.variance()) * made.added / part.parameters.get("share", 1) ** 2
    if other.kind in BINNED:
        ends = np.stack(spans(other))
        values = ends.mean(axis=0) - (0.5 if other.kind == "date" else 0.0)
        what = outcome
    else:
        labels = labels[: len(labels) - len(other.extra)]
        chosen = labels[-1] if level is None else level
        if chosen not in labels:
            text = f"{described(level)} is no level of {outcome!r}."
            raise InferenceError(text, code="I44", hint=f'level="{labels[-1]}"', state=None)
        values, what = np.array([float(one == chosen) for one in labels]), f"{outcome} = {chosen}"
    return BinnedOutcome(counts[:, : len(values)], values, np.append(lower, upper[-1]), variance, what)


def _weights(found: BinnedOutcome, at: Array, order: int) -> Array:
    """Return the weights of counts of bins at places, shape (places, bins)."""
    low, high = found.edges[0], found.edges[-1]
    over = slopes(len(found.edges) - 1, order, np.clip((at - low) / (high - low), 0.0, 1.0))
    # a bin's rows are in the running sums at all its later edges
    return np.asarray(over[:, ::-1].cumsum(axis=1)[:, ::-1][:, 1:])


def _order(order: int) -> int:
    if isinstance(order, bool) or not isinstance(order, int) or not 1 <= order <= MOST_ORDER:  # pyright: ignore[reportUnnecessaryIsInstance]
        text = f"order is {described(order)}: not from 1 to {MOST_ORDER}."
        raise InferenceError(text, code="I44", hint="order=2", state=None)
    return order


def _of(release: Released, target: Target) -> str:
    condition: Any = getattr(release.query, "where", None)
    words = f", where {condition}" if condition else ""
    return words + (f", of the {who(release)} of this table" if target == "table" else "")
