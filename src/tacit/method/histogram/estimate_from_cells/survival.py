"""Survival curves from a released histogram of (time, event), with sampling and privacy errors."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from tacit.base.arrays import Array
from tacit.base.lazy_imports import pandas
from tacit.errors import InferenceError
from tacit.estimates.noisy_terms.sided_errors import USUAL
from tacit.estimates.terms import Target, check_level, check_target
from tacit.fits.cells.cell_arrays import CellAxis
from tacit.method.histogram.estimate_from_cells.cell_error_laws import Error
from tacit.method.histogram.estimate_from_cells.cell_groups import By, GroupCounts, counts_of_events, words
from tacit.method.histogram.estimate_from_cells.cell_moments import sampling_of
from tacit.method.histogram.estimate_from_cells.derived_numbers import Derived, Steps
from tacit.method.histogram.estimate_from_cells.distribution_curve import pooled
from tacit.method.histogram.estimate_from_cells.life_table import LifeTable
from tacit.method.histogram.estimate_from_cells.survival_intervals import LogLog
from tacit.method.histogram.estimate_from_cells.survival_selection import Decision
from tacit.method.histogram.estimate_from_cells.survival_times import (
    WholeTimes,
    absent_parts,
    crossing,
    last,
    start_of,
    times_of,
    whole_times,
)
from tacit.release.document import Released

if TYPE_CHECKING:
    import pandas as pd  # pyright: ignore[reportMissingTypeStubs]

UNREACHED: Final = "not reached in these times"
OPEN: Final = "perhaps not reached in these times, so that there is no upper limit"


@dataclass(frozen=True, repr=False)
class Survival(Derived):
    """Survival S at each time, with sampling and privacy errors: actuarial life table or product-limit estimate.

    times: T times, the same in each group; terms are "12" or "treated:12".  groups: labels.  start: the time at which
    S is 1.  whole: the values in the bins, where times are whole numbers.  Standard errors are those of S.

    >>> import tacit as tc
    >>> table = {"months": [i % 24 for i in range(4800)], "died": [i % 3 > 0 for i in range(4800)]}
    >>> schema = tc.Schema({"months": tc.Real(0, 24), "died": tc.Boolean()})
    >>> curator = tc.Curator(table, schema, budget=tc.Budget(rho=1))
    >>> cells = curator.release(tc.Histogram(["months", "died"], bins={"months": 12}), rho=0.5)
    >>> found = cells.survival("months", "died")
    >>> low, high = found["12"].conf_int()
    >>> low < found["12"].value < high, found.median().terms
    (True, ('median',))
    """

    times: tuple[float, ...] = ()
    groups: tuple[str, ...] = ("",)
    start: float = 0.0
    whole: WholeTimes | None = None

    def median(self) -> Derived:
        """Return the time by which half have had the event, for each group."""
        return self._reached((0.5,))

    def quantiles(self, probs: tuple[float, ...] | list[float] = (0.25, 0.5, 0.75)) -> Derived:
        """Return times by which given proportions p have had the event.

        Intervals: times at which the pointwise intervals of S hold 1 - p.  S is linear between edges; of whole numbers
        (an Integer, a Date, levels) a time is the first value at which S is at most 1 - p, its limits are values too,
        and they assume nothing about S within a bin.  A proportion that is not reached has the time inf, and a reason;
        one that the upper limit of S does not reach has no upper limit, and at 95% a note says so.  InferenceError I51
        for invalid probabilities.
        """
        asked = tuple(float(p) for p in probs)
        if not asked or not all(0 < p < 1 for p in asked):
            text = f"probabilities {probs!r} are not numbers above 0 and below 1."
            raise InferenceError(text, code="I51", hint="[0.5]", state=None)
        return self._reached(asked)

    def _reached(self, asked: tuple[float, ...]) -> Derived:
        curves = self.values.reshape(len(self.groups), -1)
        values = np.array([self._crossing(curve, 1 - p) for curve in curves for p in asked])
        own = ("median",) if asked == (0.5,) else tuple(f"{p:g}" for p in asked)
        inversion = CrossingTimes(self, asked)
        _, high = inversion.interval(USUAL)
        said = tuple(UNREACHED if np.isinf(v) else None for v in values)
        terms = tuple(f"{group}:{one}" if group else one for group in self.groups for one in own)
        open_ends = [term for term, v, h in zip(terms, values, high, strict=True) if np.isinf(h) and not np.isinf(v)]
        title, words = (
            f"Times of {self.title[:1].lower()}{self.title[1:]}",
            f"times by which shares {', '.join(f'{p:g}' for p in asked)} had the event",
        )
        more = () if self.whole is None else ("a time is a value of the column, its interval as well",)
        more += (f"{OPEN}: {', '.join(open_ends)}",) if open_ends else ()
        return Derived(
            self.release, self.target, title, words, terms, values, inversion, reasons=said, notes=(*self.notes, *more)
        )

    def _crossing(self, curve: Array, height: float) -> float:
        """Return the time at which a curve of this life table falls to `height`."""
        if self.whole is not None:
            return self.whole.crossing(curve, height)
        return crossing((self.start, *self.times), curve, height)

    def table(self, level: float = 0.95) -> pd.DataFrame:
        """Return group, time, survival, lower, upper in long form, for plots; InferenceError I01 (level)."""
        limits = self.intervals(level)
        columns: dict[str, Any] = {"group": [group for group in self.groups for _ in self.times]}
        columns |= {"time": list(self.times) * len(self.groups), "survival": self.values}
        return pandas().DataFrame({**columns, "lower": limits[:, 0], "upper": limits[:, 1]})


@dataclass(frozen=True)
class CrossingTimes:
    """Intervals of survival times: where the limits of the curve cross 1 - p [Brookmeyer & Crowley 1982]."""

    curve: Survival
    probs: tuple[float, ...]

    def interval(self, level: float) -> tuple[Array, Array]:
        """Limits, shape (groups * probs,) each."""
        limits = self.curve.intervals(check_level(level)).reshape(len(self.curve.groups), -1, 2)
        whole = self.curve.whole
        if whole is not None:
            # after the clear times limits are 0 and the last upper limit (`LogLog`), which these rules need
            found = [whole.limits(one[:, 0], one[:, 1], 1 - p) for one in limits for p in self.probs]
            return np.array([low for low, _ in found]), np.array([high for _, high in found])
        times = (self.curve.start, *self.curve.times)
        sure = [reason is None for reason in self.curve.reasons]
        known = np.array(sure).reshape(len(limits), -1).sum(axis=1)
        groups = list(zip(limits, known, strict=True))
        low = [crossing(times, one[:, 0], 1 - p, int(k)) for one, k in groups for p in self.probs]
        high = [last(times, one[:, 1], 1 - p) for one, _ in groups for p in self.probs]
        return np.array(low), np.array(high)


def survival(
    release: Released,
    time: str,
    event: str = "event",
    by: By = None,
    happened: str | None = None,
    target: Target = "population",
) -> Survival:
    """Return survival curves by group; see `Statistics.survival`."""
    check_target(target)
    made = counts_of_events(release, time, event, by)
    tables = life_tables(made, happened)
    axis = made.axes[0]
    edges = times_of(axis)
    T = len(edges)
    found = [_group_survival(table, edges, "above" not in axis.extra, target) for table in tables]
    # groups have different rows: block diagonal
    sampling = np.zeros((T * len(found),) * 2)
    for g, one in enumerate(found):
        sampling[g * T : (g + 1) * T, g * T : (g + 1) * T] = one.sampling
    return Survival(
        release,
        target,
        f"Survival in {time}" + (f" by {' and '.join(made.by)}" if made.by else ""),
        words(made, f"share without {event} after each {time}", target),
        made.terms([f"{t:.10g}" for t in edges]),
        np.concatenate([one.values for one in found]),
        LogLog(
            tuple(one.logs for one in found),
            tuple(one.error for one in found),
            tuple(one.noise for one in found),
            tuple(one.at_risk for one in found),
            tuple(one.chance for one in found),
            T,
            tuple(one.decision for one in found),
        ),
        sampling,
        _privacy(tables[0], np.stack([one.influence for one in found])),
        tuple(reason for one in found for reason in one.reasons),
        (_note(axis), "intervals on the scale log(-log S), with Greenwood's variance and the noise"),
        term_title=":".join((*made.by, time)),
        steps=Steps(time, tuple(edges), made.labels, f"share without {event}", (start_of(axis), 1.0)),
        times=tuple(edges),
        groups=made.labels,
        start=start_of(axis),
        whole=whole_times(axis, edges),
    )


@dataclass(frozen=True)
class GroupSurvival:
    """One group: survival, shape (T,), its influence, (T, cells), and sampling covariance, (T, T).

    logs, error: log S and its error law at the clear times; noise: the noise's part in its variance; at_risk: rows at
    risk, infinite without sampling error; chance, decision: `LifeTable.chance` there, and what it follows from.
    reasons: one for each time after these, else None.
    """

    values: Array
    influence: Array
    sampling: Array
    logs: Array
    error: Error | None
    noise: Array
    at_risk: Array
    chance: Array
    decision: Decision
    reasons: tuple[str | None, ...]


def _group_survival(table: LifeTable, edges: list[float], pinned: bool, target: Target) -> GroupSurvival:
    """Return the survival of one group; pinned: the last bin holds all later times, so its end has no estimate."""
    T = len(edges)
    k = min(table.clear, T - pinned)
    # noise can make the curve rise or exceed 1: take the nearest non-increasing log survival, at most 0
    inner = np.exp(-np.maximum(pooled(-table.logs[:k]), 0.0))
    values = np.append(inner, np.full(T - k, inner[-1] if k else 1.0))
    influence = np.zeros((T, table.entered.shape[1]))
    # delta method: dS = S d(log S)
    influence[:k] = table.influence[:k] * inner[:, None]
    own = table.influence[:k]
    # the sum over cells of count times squared influence: Greenwood's variance of log S, of exact times
    part = sampling_of(table.counts, own, table.noise) if target == "population" else np.zeros((k, k))
    sampling = np.diag((values / 2) ** 2)  # after the clear times: half of the range from 0 to the last known value
    sampling[:k, :k] = part * np.outer(inner, inner)
    rows, repeated = table.weights(own)
    error = table.noise.error(rows, np.diag(part), repeated) if k else None
    end = f"the last bin holds all times from {edges[-2] if T > 1 else 0:,g} on: nothing is known of its end"
    whole = pinned and table.clear >= T - 1
    few = "too few at risk for this price"
    reasons = (None,) * k + tuple(end if whole and i == T - 1 else few for i in range(k, T))
    noise = np.zeros(0) if error is None else np.maximum(error.sd**2 - np.diag(part), 0.0)
    at_risk = table.at_risk[:k] if target == "population" else np.full(k, np.inf)
    decided = table.decision.first(k)
    return GroupSurvival(
        values, influence, sampling, table.logs[:k], error, noise, at_risk, decided.chance(), decided, reasons
    )


def _privacy(one: LifeTable, influences: Array) -> Array:
    """Return the noise covariance of all groups' curves, shape (groups * T, groups * T)."""
    own = one.spread(influences)
    G, T, cells = own.shape
    weights = np.zeros((G, T, G, cells))
    for g in range(G):
        # a group's curve depends on the group's own cells, shape (G, T, G, cells)
        weights[g, :, g] = own[g]
    return one.noise.covariance(weights.reshape(G * T, G * cells))


def life_tables(made: GroupCounts, happened: str | None) -> tuple[LifeTable, ...]:
    """Return the life table of each group; InferenceError I52 for columns that cannot be times or events."""
    time, event = made.axes
    if time.kind == "levels" and time.numbers is None:
        text = f"the levels of {time.name!r} are no times."
        raise InferenceError(text, code="I52", hint="a Real, Integer or Date column", state=None)
    at = _event(event, happened)
    inner = made.counts[:, :, : event.bins]
    # rows below the lower bound left before the first bin: a bin of its own at its start
    order = ([time.bins + time.extra.index("below")] if "below" in time.extra else []) + list(range(time.bins))
    events = inner[:, order, at]
    censored = inner[:, order, :].sum(axis=2) - events
    beyond = np.zeros(len(events))
    has = "above" in time.extra
    if has:
        beyond = inner[:, time.bins + time.extra.index("above"), :].sum(axis=1)
    if event.bins != 2:
        text = f"{event.name!r} has {event.bins} levels: life tables are of two, an event and none."
        raise InferenceError(text, code="I52", hint="a Boolean column, or a computed one", state=None)
    absent = absent_parts(time)
    return tuple(
        LifeTable(d, c, float(b), absent, made.noise, has) for d, c, b in zip(events, censored, beyond, strict=True)
    )


def _event(axis: CellAxis, happened: str | None) -> int:
    labels = axis.labels or ()
    if happened is None and labels == ("false", "true"):
        return 1
    if happened is None and axis.numbers is not None and axis.bins == 2:
        # of levels 0 and 1 the event is 1
        return int(np.argmax(axis.numbers))
    if happened in labels:
        return labels.index(happened)
    known = ", ".join(repr(label) for label in labels[:6]) or "bins"
    text = f"which level of {axis.name!r} is the event? it has {known}."
    raise InferenceError(text, code="I52", hint=f"happened={labels[-1]!r}" if labels else None, state=None)


def _note(axis: CellAxis) -> str:
    if axis.kind == "levels":
        return "times are exact (a bin a value): product-limit estimates; rows censored at a time are at risk at it"
    half = "half of it" if not axis.step else "half of it and half of a step"
    return f"actuarial estimates (life table): rows censored in a bin are at risk for {half}, wherever in it they left"
