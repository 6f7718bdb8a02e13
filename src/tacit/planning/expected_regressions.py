"""Expected precision of a regression: its steps on made-up rows, independent, with values as expected or even."""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import NormalDist
from typing import Any, Final, cast

import numpy as np
from numpy.typing import NDArray

from tacit.fits.fit import Fit
from tacit.method.regression.estimate import fit_release
from tacit.method.regression.product_parts import ProductPart
from tacit.method.regression.query import Regression
from tacit.method.shared.measurement import Measurement
from tacit.method.shared.plan_expected import Expected
from tacit.method.shared.plan_shares import NOTHING, level_shares, points_told, presence
from tacit.planning.expected_expressions import MadeRows
from tacit.release.parts import Variable
from tacit.rows.coordinates import H
from tacit.rows.row_map import KeyMap, RowMap
from tacit.schema.expectations import Expectations
from tacit.testing.simulated_regressions import RegressionRows

MADE: Final = 2**12
"""Number of made-up rows; each has the weight (rows of the table) / MADE.  Where a level is rare there are more."""
MOST: Final = 2**16
TRIALS: Final = 7
"""Number of simulated releases, where noise moves standard errors."""
SLOW: Final = {"poisson": 3}
"""The same of models whose releases take long to fit."""
ANSWERED: Final = 20
"""Number of simulated releases that tell how often there is an answer, where most have none."""
NEAR: Final = 1.1
"""Ratio of standard errors with noise to those without up to which they are the same."""
LEAST: Final = 16
"""Made-up rows of the rarest level, unless that would take more than MOST in all."""


@dataclass(frozen=True)
class Guess:
    """What is guessed of made-up rows besides what is expected of their columns.

    long: whether told numbers follow the law of the longest tails that has what is told, and not a Beta law.  tied: the
    correlation of the normal scores of any two columns, 0 for independent ones.
    """

    long: bool = False
    tied: float = 0.0


PLAIN: Final = Guess()
"""Short tails, independent columns."""


def expected(
    shape: Measurement,
    rows: int,
    level: float,
    expect: Expectations = NOTHING,
    *,
    trials: int | None = None,
    guess: Guess = PLAIN,
) -> list[Expected]:
    """Return the expected precision of each coefficient, with a response independent of all regressors, or as guessed.

    trials: number of simulated releases, where noise moves standard errors; TRIALS where not given, or SLOW.
    Widths are infinite where noise is too large for any coefficient, or a level has next to no rows.
    """
    complete, made = _complete(shape, rows, expect), made_up(shape, expect, guess)
    found, open_ = tried(made, complete, trials or SLOW.get(cast(Regression, shape.query).model, TRIALS))
    z = 2 * NormalDist().inv_cdf(0.5 + level / 2)
    try:
        # standard errors fall with the root of the number of rows
        ordinary = made.ordinary()[1] * math.sqrt(made.size / complete * _varied(made))
    except np.linalg.LinAlgError:  # a level that nobody has
        ordinary = np.full(len(found.names), math.inf)
    out: list[Expected] = []
    for i, name in enumerate(found.names):
        without = float(z * ordinary[i])
        if found.reasons[i] is not None or not math.isfinite(without):
            out.append(Expected(name, 0.0, math.inf, 1.0, without, 0.0, complete, open=open_))
            continue
        error, privacy = float(found.std_errors[i]), float(found.cov_privacy[i, i])
        value, share = float(found.values[i]), privacy / error**2
        out.append(Expected(name, value, z * error, share, without, error, complete, open=open_))
    return out


def answered(shape: Measurement, rows: int, expect: Expectations = NOTHING) -> float:
    """Return the part of simulated releases that have an answer."""
    made, rng = made_up(shape, expect), np.random.default_rng(0)
    complete = _complete(shape, rows, expect)
    fits = (fit_release(made.enlarged(complete, rng)) for _ in range(ANSWERED))
    return sum(one.reasons[0] is None for one in fits) / ANSWERED


def _complete(shape: Measurement, rows: int, expect: Expectations) -> int:
    """Return the number of rows without a missing cell in any column: the others are left out."""
    question = cast(ProductPart, shape.columns[0]).question
    whole = math.prod(presence(at, expect) for at in question.maps if at.missing is None)
    whole *= math.prod(min(1.0, float(level_shares(key, expect).sum())) for key in question.keys)
    read = {at.source for at in (*question.maps, *question.keys)}
    unread = {cell.source: cell for one in shape.computed for cell in one.cells if cell.source not in read}
    whole *= math.prod(_present(cell.column, expect) for cell in unread.values() if cell.missing is None)
    return max(2, round(rows * whole))


def _varied(made: RegressionRows) -> float:
    """Return by how much the variance of made-up counts exceeds Poisson's, which maximum likelihood assumes; else 1.

    With weights standard errors are robust, and have it in them.
    """
    if cast(Regression, made.shape.query).model != "poisson" or made.weights is not None:
        return 1.0
    counts = (made.z / H) @ made.layout.terms[-1]
    return max(1.0, float(counts.var()) / max(float(counts.mean()), 1e-9))


def typical(made: RegressionRows, rows: int, trials: int = TRIALS) -> Fit:
    """Return the fit of a typical release of a table of `rows` rows like these: see `tried`."""
    return tried(made, rows, trials)[0]


def tried(made: RegressionRows, rows: int, trials: int = TRIALS) -> tuple[Fit, bool]:
    """Return the fit of a typical release of a table of `rows` rows like these, and whether one of several has none.

    Without noise it would look better than releases are where noise is large: what it does to a curvature, and to where
    steps end, widens their intervals.  Where one simulated release says so, the middle one of several is returned; one
    with a reason, where more than half have one.
    """
    still, rng = fit_release(made.expected(rows)), np.random.default_rng(0)
    found = [fit_release(made.enlarged(rows, rng))]
    if found[0].reasons[0] is None and still.reasons[0] is None:
        ratio = np.log(found[0].std_errors / still.std_errors)
        if np.abs(ratio).max() < math.log(NEAR):
            return still, False
    elif found[0].reasons[0] is not None and still.reasons[0] is not None:
        return still, True
    found += [fit_release(made.enlarged(rows, rng)) for _ in range(trials - 1)]
    told = [one for one in found if one.reasons[0] is None]
    open_ = len(told) < len(found)
    if 2 * len(told) < len(found):
        return next(one for one in found if one.reasons[0] is not None), open_
    sizes = [float(np.log(one.std_errors).mean()) for one in told]
    return told[int(np.argsort(sizes)[len(told) // 2])], open_


def _present(column: str, expect: Expectations) -> float:
    """Return the share of rows in which a column that only expressions read has a value."""
    return presence(RowMap(column, column, "real", 0.0, 1.0, 1), expect)


def made_up(shape: Measurement, expect: Expectations = NOTHING, guess: Guess = PLAIN) -> RegressionRows:
    """Return made-up rows, one a person; counts and positive responses are drawn as such.

    Values are independent, unless they are guessed to be tied.
    """
    first = cast(ProductPart, shape.columns[0])
    question, made = first.question, first.layout
    size = _size(question.keys, expect)
    # a fixed seed: equal questions get equal plans
    rng = np.random.default_rng(0)
    computed = {one.source: one for one in shape.computed}
    common = rng.normal(size=size) * math.sqrt(guess.tied)

    def placed(values: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return values in the order of scores that have a part in common with those of other columns."""
        own = rng.normal(size=size) * math.sqrt(1 - guess.tied)
        return np.sort(values)[np.argsort(np.argsort(common + own))]

    def draw(at: RowMap | KeyMap) -> NDArray[np.int64]:
        return placed(_values(at, expect, size, rng, guess) if isinstance(at, RowMap) else _levels(at, expect, size))

    columns: tuple[RowMap | KeyMap, ...] = (*question.maps, *question.keys)
    values: dict[Any, Any] = {at: draw(at) for at in question.maps if at.source not in computed}
    places: dict[Any, Any] = {key: draw(key) for key in question.keys if key.source not in computed}
    rows, kept = MadeRows(values, places), np.ones(size, dtype=np.bool_)
    for at in columns:
        if at.source in computed:
            kept &= rows.add(at, computed[at.source], draw)
    z = question.numpy(values, places, size)
    query = cast(Regression, shape.query)
    if query.model == "gamma":
        z[:, -1] = placed(_positives(shape.variables[0], made.bounds[-1], expect, size, rng))
    if query.model == "poisson":
        z[:, -1] = placed(_counts(shape.variables[0], made.bounds[-1], expect, size, rng))
    # rows in which an expression has no value count among all rows, and add nothing
    who = None if shape.unit is None else np.flatnonzero(kept)
    weights = None if question.weight is None else values[question.weight][kept]
    return RegressionRows(shape, made, z[kept], size, who, weights)


def _size(keys: tuple[KeyMap, ...], expect: Expectations) -> int:
    """Return how many rows are made up: enough for the rarest level of which something is expected."""
    known = [level_shares(key, expect) for key in keys if key.column in expect.shares]
    rarest = min((float(shares[shares > 0].min()) for shares in known), default=1.0)
    return min(MOST, max(MADE, math.ceil(LEAST / rarest)))


def _values(at: RowMap, expect: Expectations, size: int, rng: np.random.Generator, guess: Guess) -> NDArray[np.int64]:
    """Return grid values of `size` rows."""
    if at.column not in expect.numbers:
        return rng.integers(0, at.G + 1, size)
    return np.rint(points_told(at, expect, size, long=guess.long) * at.G).astype(np.int64)


def _levels(key: KeyMap, expect: Expectations, size: int) -> NDArray[np.int64]:
    """Return indices of levels of `size` rows, in rising order."""
    shares = level_shares(key, expect)
    ends = np.rint(size * np.cumsum(shares) / shares.sum())
    return np.searchsorted(ends, np.arange(size), side="right").astype(np.int64)


def _counts(
    response: Variable, half: int, expect: Expectations, size: int, rng: np.random.Generator
) -> NDArray[np.int64]:
    """Draw counts, as integers -half..half of the grid: Poisson, or negative binomial where more spread is expected.

    Where nothing is expected, they are as `plan_expected.UNTOLD_COUNTS` says.
    """
    room = response.upper - response.lower
    known = expect.numbers.get(response.name)
    # bounds of counts are set far above most of them, and real counts vary more than Poisson's
    mean, spread = max(room / 10, 0.5), 1.0
    if known is not None:
        mean = max(known.mean - response.lower, 0.0)
        # variance = mean + spread mean**2
        spread = max(known.sd**2 - mean, 0.0) / max(mean, 1e-9) ** 2
    rates = mean * (rng.gamma(1 / spread, spread, size) if spread else np.ones(size))
    counts = np.minimum(rng.poisson(rates), room)
    return np.rint(counts * (2 * half / max(room, 1))).astype(np.int64) - half


def _positives(
    response: Variable, half: int, expect: Expectations, size: int, rng: np.random.Generator
) -> NDArray[np.int64]:
    """Draw positive values of a gamma law, as integers -half..half of the grid.

    Where nothing is expected, they are as `plan_expected.UNTOLD_POSITIVES` says.
    """
    room, known = response.upper - response.lower, expect.numbers.get(response.name)
    mean, spread = response.lower + room / 10, 1.0
    if known is not None:
        mean, spread = max(known.mean, 1e-9 * response.upper), max((known.sd / max(known.mean, 1e-300)) ** 2, 1e-4)
    drawn = np.clip(rng.gamma(1 / spread, spread * mean, size), response.lower, response.upper)
    return np.rint((drawn - response.lower) / room * (2 * half)).astype(np.int64) - half
