"""Survival, log-rank and independence from cells: the textbook formulas without noise, levels and coverage with it."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from drawn_releases import EXACT, LEAST, M, many, one
from scipy.stats import CensoredData, binom, chi2_contingency, ecdf, norm
from scipy.stats import logrank as scipy_logrank

import tacit as tc
from tacit.errors import InferenceError
from tacit.method.histogram.estimate_from_cells.cell_error_laws import Error, Noise
from tacit.method.histogram.estimate_from_cells.independence import independence
from tacit.method.histogram.estimate_from_cells.life_table import LifeTable
from tacit.method.histogram.estimate_from_cells.logrank import compared, logrank
from tacit.method.histogram.estimate_from_cells.survival import survival
from tacit.method.histogram.estimate_from_cells.survival_intervals import LogLog
from tacit.method.histogram.estimate_from_cells.survival_selection import Decision
from tacit.method.histogram.estimate_from_cells.survival_times import WholeTimes
from tacit.noise.laws import RoundedNormal

DAYS = {"t": tc.Integer(1, 12), "event": tc.Boolean()}
YEARS = {"t": tc.Real(0, 1), "event": tc.Boolean()}
MOST = int(binom.isf(1e-8, M, 0.055))
"""Of M tests at a level of 0.05 (0.055 allowed for asymptotics), more reject with a probability below 1e-8."""


def study(n: int, hazard: float, seed: int = 3) -> tuple[np.ndarray, np.ndarray]:
    """Whole days 1 to 12, everyone censored on the last."""
    rng = np.random.default_rng(seed)
    event, gone = np.ceil(rng.exponential(1 / hazard, n)), np.ceil(rng.exponential(20, n))
    time = np.minimum(np.minimum(event, gone), 12)
    return time.astype(int), (event <= gone) & (event < 12)


def by_day(time: np.ndarray, event: np.ndarray) -> np.ndarray:
    return np.histogram2d(time, event, bins=[np.arange(1, 14), [0, 0.5, 2]])[0].astype(int)


def test_exact_times_are_kaplan_and_meier() -> None:
    time, event = study(3_000, 0.12)
    found = survival(one(DAYS, {}, by_day(time, event)), "t")
    reference = ecdf(CensoredData(time[event], right=time[~event])).sf
    days = found.values[:11]
    assert days == pytest.approx(reference.evaluate(np.arange(1, 12)), abs=1e-12)
    at_risk = np.array([(time >= t).sum() for t in range(1, 12)])
    d = np.array([((time == t) & event).sum() for t in range(1, 12)])
    greenwood = days * np.sqrt(np.cumsum(d / (at_risk * (at_risk - d))))
    assert found.std_errors[:11] == pytest.approx(greenwood, rel=1e-6)
    step = 1.959964 * greenwood / (days * -np.log(days))
    loglog = np.stack([days ** np.exp(step), days ** np.exp(-step)], axis=1)
    assert found.intervals()[:11] == pytest.approx(loglog, abs=1e-5)
    assert "last bin" in str(found.reasons[11])
    assert found.intervals()[11].tolist() == [0.0, found.intervals()[10, 1]]


def test_binned_times_are_actuarial() -> None:
    """The life table of 100 at risk by hand: (100 - 5 - 10/2), and so on."""
    release = one(YEARS, {"t": 4}, [[10, 5], [20, 15], [8, 20], [12, 10]])
    found = survival(release, "t")
    by_hand = np.cumprod([1 - 5 / 95, 1 - 15 / 75, 1 - 20 / 46])
    assert found.values[:3] == pytest.approx(by_hand)
    assert found.terms == ("0.25", "0.5", "0.75", "1")
    assert found.median().reasons == (None,)
    between = 0.5 + 0.25 * (by_hand[1] - 0.5) / (by_hand[1] - by_hand[2])
    assert found.median().value == pytest.approx(between)


def test_shares_that_are_not_reached_say_so() -> None:
    found = survival(one(YEARS, {"t": 4}, [[900, 50]] * 4), "t").quantiles([0.01, 0.9])
    assert found.reasons[0] is None
    assert found.reasons[1] == "not reached in these times"
    assert np.isinf(found.values[1])


def test_a_median_without_an_upper_limit_says_so() -> None:
    """Of 100 rows 51 have the event in the last time but one: the curve is just below a half, its limits are not."""
    found = survival(one(YEARS, {"t": 4}, [[0, 30], [0, 15], [0, 6], [49, 0]]), "t").median()
    low, high = found.conf_int()
    assert np.isfinite(found.value)
    assert np.isfinite(low)
    assert np.isinf(high)
    assert "perhaps not reached in these times, so that there is no upper limit: median" in found.notes
    # no reason: answers would be those of releases in which the curve fell far by chance
    assert found.reasons == (None,)
    clear = survival(one(YEARS, {"t": 4}, [[0, 3_000], [0, 3_000], [0, 2_000], [2_000, 0]]), "t").median()
    assert not any("no upper limit" in note for note in clear.notes)
    assert np.isfinite(clear.conf_int()).all()


@pytest.mark.filterwarnings("error")
def test_no_event_among_rows_that_noise_hides_is_no_warning() -> None:
    error = Error(np.array([1e18]), np.zeros((1, 1)), np.ones(1))
    made = LogLog((np.zeros(1),), (error,), (np.array([1e18]),), (np.array([3.0]),), (np.ones(1),), 1)
    assert np.concatenate(made.interval(0.95)).tolist() == [0.0, 1.0]


def monthly(hazard: float = 0.052, leaving: float = 0.015) -> np.ndarray:
    """P(month, died) of months 0 to 60: those who die do so before others leave, and all leave after 60."""
    p, here = np.zeros((61, 2)), 1.0
    for t in range(61):
        p[t, 1] = here * hazard
        p[t, 0] = (here - p[t, 1]) * (leaving if t < 60 else 1.0)
        here -= p[t].sum()
    return p


@pytest.mark.sample(2)
@pytest.mark.parametrize("width", [1, 5])
def test_medians_of_whole_months_are_months_and_cover(width: int) -> None:
    """Half have died by month 12: (1 - 0.052)**13 < 1/2 < (1 - 0.052)**12.  Deaths of 5 months are one bin of 5."""
    months = {"month": tc.Integer(0, 60), "died": tc.Boolean(missing=False)}
    edges = [*range(0, 56, width), 60]
    p = monthly()
    if width > 1:
        at = np.minimum(np.arange(61) // width, 11)
        p = np.stack([np.bincount(at, side) for side in p.T], axis=1)
    held = 0
    for release in many(months, {"month": edges} if width > 1 else {}, p, 20_000, 0.5):
        found = survival(release, "month", "died").median()
        low, high = found.conf_int()
        assert {found.value % 1, low % 1, high % 1} == {0}
        assert low <= found.value <= high
        assert high - low < 2 * width + 2
        held += low <= 12 <= high
    assert held >= LEAST


def test_whole_times_at_their_edges() -> None:
    """First and last values of bins; a fall to exactly the height counts, one that is never known does not."""
    days = WholeTimes((1.0, 4.0, 7.0), (3.0, 6.0, 9.0), 1.0)
    assert days.crossing(np.array([0.5, 0.4, 0.3]), 0.5) == 3
    assert days.crossing(np.array([0.8, 0.2, 0.1]), 0.6) == 4  # a third of the way
    assert days.crossing(np.array([0.8, 0.7, 0.6]), 0.5) == np.inf
    assert days.limits(np.array([0.7, 0.3, 0.0]), np.array([0.9, 0.6, 0.5]), 0.5) == (4, 9)
    assert days.limits(np.array([0.7, 0.6, 0.6]), np.array([0.9, 0.8, 0.7]), 0.5) == (np.inf, np.inf)
    assert days.limits(np.array([0.4, 0.3, 0.0]), np.array([0.5, 0.4, 0.2]), 0.5) == (1, 3)


def test_rows_censored_in_a_bin_of_whole_numbers_are_at_risk_at_their_own() -> None:
    """Of two months (3 + 4) censored rows at either are at risk at 1 and 2 of 2: three quarters on average."""
    release = one({"t": tc.Integer(1, 4), "event": tc.Boolean()}, {"t": [1, 3, 4]}, [[40, 10], [30, 20]])
    assert survival(release, "t").values[0] == pytest.approx(1 - 10 / (100 - 40 / 4))


def chances(bins: int, hazard: float, leaving: float) -> np.ndarray:
    """Constant hazards; everyone leaves at the end."""
    both = hazard + leaving
    gone = np.diff(1 - np.exp(-both * np.linspace(0, 1, bins + 1)))
    p = np.stack([gone * leaving / both, gone * hazard / both], axis=1)
    p[-1, 0] += np.exp(-both)
    return p


@pytest.mark.parametrize(("n", "epsilon"), [(5_000, 1), (20_000, 0.1)])
def test_intervals_of_survival_cover(n: int, epsilon: float) -> None:
    truth, median = np.exp(-1.5 * np.array([0.25, 0.5, 0.75])), np.log(2) / 1.5
    held, halves = np.zeros(3), 0
    for release in many(YEARS, {"t": 20}, chances(20, 1.5, 0.7), n, epsilon):
        found = survival(release, "t")
        ends = found[["0.25", "0.5", "0.75"]].intervals()
        held += (ends[:, 0] <= truth) & (truth <= ends[:, 1])
        low, high = found.median().conf_int()
        halves += low <= median <= high
    assert (held >= LEAST).all()
    assert halves >= LEAST


def test_too_few_at_risk_are_told() -> None:
    found = survival(one(YEARS, {"t": 10}, [[3, 2]] * 10, 0.05), "t")
    assert "too few" in str(found.reasons[0])
    assert found.intervals()[0].tolist() == [0.0, 1.0]


@pytest.mark.sample(2)
@pytest.mark.parametrize(("n", "hazard", "epsilon", "at"), [(30, 0.3, EXACT, "0.2"), (100, 4.0, 2, "0.4")])
def test_survival_with_few_events_or_few_at_risk_holds_given_an_answer(
    n: int, hazard: float, epsilon: float, at: str
) -> None:
    """Of 20 arms a release: without a score of few events 76% of the first hold."""
    arms = [f"a{i}" for i in range(20)]
    columns = YEARS | {"arm": tc.Category(arms)}
    p = chances(10, hazard, 0.7)[..., None] * np.ones(20)
    held = answers = 0
    for release in many(columns, {"t": 10}, p, 20 * n, epsilon, 15):
        found = survival(release, "t", by="arm")[[f"{arm}:{at}" for arm in arms]]
        ends, said = found.intervals(), np.array([reason is None for reason in found.reasons])
        answers += said.sum()
        held += ((ends[:, 0] <= np.exp(-hazard * float(at))) & (np.exp(-hazard * float(at)) <= ends[:, 1]))[said].sum()
    assert answers > 100
    assert held >= binom.ppf(1e-6, answers, 0.95)


def test_levels_of_survival_are_multiplied_by_the_chance_of_an_answer() -> None:
    """An answer of a chance of 5% has the interval of 99.75%; the chance is that of the least clear bin so far."""
    error = Error(np.full(2, 0.01), np.zeros((2, 1)), np.ones(1))
    logs, none, many_rows = (np.array([-0.5, -0.6]),), (np.zeros(2),), (np.full(2, 1e6),)
    unsure = LogLog(logs, (error,), none, many_rows, (np.array([0.05, 1.0]),), 2).interval(0.95)
    sure = [LogLog(logs, (error,), none, many_rows, (np.ones(2),), 2).interval(level) for level in (0.9975, 0.95)]
    for end in (0, 1):
        assert unsure[end] == pytest.approx([sure[0][end][0], sure[1][end][1]], rel=1e-9)
    noise = Noise(RoundedNormal(Fraction(10)), 1, 1, 7, False)
    table = LifeTable(np.array([5.0, 5, 1]), np.array([5.0, 5, 1]), 140.0, False, noise)
    sds = 10 * np.sqrt([6.0, 4, 2])  # cells that are at risk in each bin; those beyond have no noise here
    margins = table.at_risk / sds - 5  # 5 standard deviations are asked for; more remain after the events
    assert table.margin == pytest.approx(margins, rel=5e-3)
    assert table.chance == pytest.approx(norm.cdf(np.minimum.accumulate(margins) - 1.645), rel=1e-2)


def decided(k: int, noise: float, at_risk: list[float]) -> Decision:
    """So many rows at risk at each time, a tenth of which have the event; 5 deviations of the noise are asked for."""
    rows, sd = np.array(at_risk), np.full(k, noise)
    return Decision(rows, 0.9 * rows, 5 * sd, 2.5 * sd, Error(sd**2, np.zeros((k, 1)), np.ones(1)))


def test_lower_limits_given_an_answer_are_those_of_a_truncated_normal() -> None:
    """Without sampling error: the smallest r with 2 P(Z > (1 - r) / s) >= alpha P(answer | r R), by hand."""
    s, alpha, R, noise = 0.3, 0.05, 60.0, 10.0
    one = decided(1, noise, [R])
    found = one.lowest(
        alpha, np.array([0.2]), Error(np.array([s**2]), np.zeros((1, 1)), np.ones(1)), np.array([s**2]), False
    )
    r = np.linspace(0, 1, 201)
    wide = s / (1 - 1.645 * noise / (0.9 * R))
    chance = np.minimum(norm.sf((5 * noise - r * R) / noise), norm.sf((2.5 * noise - r * 0.9 * R) / noise))
    chance = np.minimum(chance, norm.cdf(1 - 1.645))
    accepted = 2 * norm.sf((1 - r) / wide) >= alpha * chance
    assert found == pytest.approx([0.2 * max(r[np.argmax(accepted)] - 0.005, 0.0)], abs=1e-9)
    assert found[0] < 0.2


def test_lower_limits_are_lower_only_where_there_seldom_is_an_answer() -> None:
    """Of ten deviations and more nothing changes; at the threshold no small survival is rejected."""
    error = Error(np.full(2, 0.01), np.zeros((2, 1)), np.ones(1))
    args = (0.05, np.array([0.5, 0.3]), error, np.full(2, 0.008), True)
    assert decided(2, 10.0, [200.0, 100.0]).lowest(*args) == pytest.approx([1, 1], abs=1e-12)
    found = decided(2, 10.0, [200.0, 50.1]).lowest(*args)
    assert found[0] == pytest.approx(1.0, abs=1e-12)
    assert found[1] < 0.2
    # of a higher level they are lower
    assert (
        decided(2, 10.0, [200.0, 60.0]).lowest(0.01, *args[1:])[1] <= decided(2, 10.0, [200.0, 60.0]).lowest(*args)[1]
    )


def test_the_table_itself_has_no_sampling_error_in_lower_limits() -> None:
    error, noise = Error(np.full(1, 0.01), np.zeros((1, 1)), np.ones(1)), np.full(1, 0.01)
    one = decided(1, 10.0, [62.0])
    table, everyone = (one.lowest(0.05, np.array([0.4]), error, noise, sampled)[0] for sampled in (False, True))
    assert everyone < table < 0.4


def test_limits_of_a_hazard_without_events_are_those_of_a_score() -> None:
    release = one(YEARS, {"t": 4}, [[100, 0]] * 4)
    high = 1.959964**2 / np.array([350, 250, 150])  # the largest H with H = z sqrt(H / R); at risk: half of the bin's
    assert survival(release, "t").intervals()[:3, 0] == pytest.approx(np.exp(-high), rel=1e-3)


def test_log_rank_is_scipys_without_noise() -> None:
    one_arm, other = study(400, 0.12), study(300, 0.18, seed=4)
    counts = np.stack([by_day(*one_arm), by_day(*other)], axis=-1)
    columns = DAYS | {"arm": tc.Category(["a", "b"])}
    found = logrank(one(columns, {}, counts), "t", "event", "arm")
    reference = scipy_logrank(*(CensoredData(time[event], right=time[~event]) for time, event in (one_arm, other)))
    assert found.statistic == pytest.approx(reference.statistic, rel=1e-3)
    assert found.p_value == pytest.approx(reference.pvalue, rel=0.02)
    assert found.df == 1


@pytest.mark.parametrize(
    ("shares", "n", "epsilon"), [((0.5, 0.5), 20_000, 0.1), ((0.8, 0.2), 20_000, 0.2), ((0.4, 0.3, 0.3), 5_000, 1)]
)
def test_log_rank_keeps_its_level(shares: tuple[float, ...], n: int, epsilon: float) -> None:
    p = chances(10, 1.5, 0.7)[..., None] * np.array(shares)
    columns = YEARS | {"arm": tc.Category(list("abc"[: len(shares)]))}
    found = [logrank(r, "t", "event", "arm").p_value for r in many(columns, {"t": 10}, p, n, epsilon)]
    assert sum(one_p <= 0.05 for one_p in found) <= MOST
    assert min(found) < 0.3  # not always accepting: 0.7**150


def test_variances_of_a_log_rank_test_cancel_over_bins() -> None:
    """Noise of events above and below 0 that adds up to none leaves a variance of next to none: that of the noise."""
    noise = Noise(RoundedNormal(Fraction(1, 1000)), 1, 1, 16, False)
    tables = tuple(LifeTable(np.array([3.0, -3, 3, -3]), np.zeros(4), 1_000.0, False, noise) for _ in range(2))
    _, covariance, chance = compared(tables)
    assert covariance is not None
    # a cut at 0 in each bin leaves twice 6 events, half of them expected in each arm: 12 / 4
    assert float(covariance[0, 0]) == pytest.approx(0, abs=0.1)
    assert chance == 1


def test_independence_is_chi_square_without_noise() -> None:
    """Simulated p-values of 9,999 draws are within 6 standard errors of the asymptotic one (1e-8)."""
    counts = np.array([[120, 90, 70], [130, 140, 90]])
    columns = {"a": tc.Category(["p", "q"]), "b": tc.Category(["x", "y", "z"])}
    found = independence(one(columns, {}, counts), "a", "b")
    reference = chi2_contingency(counts, correction=False)
    assert found.statistic == pytest.approx(reference.statistic, rel=1e-3)
    assert found.df == 2
    assert found.p_value == pytest.approx(reference.pvalue, abs=6 * np.sqrt(reference.pvalue / 9_999) + 0.005)


@pytest.mark.parametrize(("n", "epsilon"), [(1_000, 0.1), (1_000, 1), (20_000, 0.3)])
def test_independence_keeps_its_level_in_sparse_cells(n: int, epsilon: float) -> None:
    p = np.outer([0.6, 0.3, 0.08, 0.02], [0.7, 0.25, 0.05])
    columns = {"a": tc.Category(list("pqrs")), "b": tc.Category(list("xyz"))}
    found = [independence(r, "a", "b", draws=299).p_value for r in many(columns, {}, p, n, epsilon)]
    assert sum(one_p <= 0.05 for one_p in found) <= MOST


def test_independence_of_margins_sees_dependence() -> None:
    columns = {"a": tc.Boolean(), "b": tc.Boolean(), "c": tc.Integer(0, 9)}
    counts = np.stack([[[60, 40], [40, 60]]] * 10, axis=-1)
    release = one(columns, {}, counts, 0.3)
    assert independence(release, "a", "b").p_value < 0.001 < independence(release, "a", "c").p_value


def test_what_survival_and_tests_refuse() -> None:
    levels = {"t": tc.Real(0, 1), "event": tc.Category(["dead", "alive"]), "arm": tc.Category(["a", "b"])}
    release = one(levels, {"t": 3}, np.full((3, 2, 2), 50))
    small = one(levels, {"t": 3}, np.full((3, 2, 2), 1), 0.01)
    for code, ask in (
        ("I52", lambda: survival(release, "t")),
        ("I52", lambda: survival(release, "arm", "event", happened="dead")),
        ("I50", lambda: logrank(release, "t", "event", None, happened="dead")),
        ("I54", lambda: logrank(small, "t", "event", "arm", happened="dead")),
        ("I41", lambda: survival(release, "t", "evnt")),
        ("I51", lambda: survival(release, "t", happened="dead").quantiles([0])),
        ("I51", lambda: independence(release, "event", "arm", draws=5)),
    ):
        with pytest.raises(InferenceError) as refused:
            ask()
        assert refused.value.code == code
    assert survival(release, "t", happened="dead", by="arm").groups == ("a", "b")
