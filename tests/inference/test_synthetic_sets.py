"""Sets of synthetic rows: the model that they are drawn from, how analyses are combined, and that intervals hold."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.special import stdtrit
from scipy.stats import binom, chi2, norm

import tacit as tc
from tacit.errors import InferenceError
from tacit.estimates.synthetic.synthetic_rules import CombinedAnalyses, combined, raghunathan
from tacit.fits.cells.cell_arrays import CellAxis
from tacit.fits.cells.cell_functions import AxisFunctions, functions, number_of_functions
from tacit.fits.cells.log_linear import fit
from tacit.fits.cells.within_cells import places_within, slopes_within

SCHEMA = tc.Schema(
    {
        "x": tc.Real(-4, 4),
        "y": tc.Real(-4, 4),
        "kids": tc.Integer(0, 9),
        "late": tc.Boolean(),
        "place": tc.Category(["north", "south", "west"], missing="unknown"),
    }
)


def table(n: int, seed: int = 0) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    x = rng.normal(size=n)
    y = 0.5 * x + rng.normal(size=n)
    kids = rng.binomial(9, 0.3, n)
    late = rng.random(n) < 1 / (1 + np.exp(1 - x))
    made = pd.DataFrame(
        {"x": x, "y": y, "kids": kids, "late": late, "place": rng.choice(["north", "south", "west"], n)}
    )
    made[["x", "y"]] = made[["x", "y"]].clip(-4, 4)
    return made


def release(columns: list[str], n: int = 4_000, rho: float = 5, seed: int = 0, **bins: Any) -> Any:
    curator = tc.Curator(table(n, seed), SCHEMA, name="people", budget=tc.Budget(rho=rho))
    return curator.release(tc.Histogram(columns, bins=bins), rho=rho)


def axes_and_counts() -> tuple[tuple[AxisFunctions, ...], np.ndarray]:
    rng = np.random.default_rng(1)
    counts = rng.integers(1, 60, (6, 4, 3)).astype(np.float64)
    columns = (
        CellAxis("x", "continuous", np.linspace(0, 1, 7)),
        CellAxis("k", "continuous", np.array([0.0, 1, 2, 4]), extra=("missing",)),
        CellAxis("g", "levels", labels=("a", "b", "c")),
    )
    made = tuple(
        AxisFunctions(axis, np.arange(axis.size), counts.sum(axis=tuple(j for j in range(3) if j != i)), 1.0)
        for i, axis in enumerate(columns)
    )
    return made, counts


@pytest.mark.parametrize("order", [1, 2, 3])
def test_a_fitted_model_has_the_means_of_the_counts(order: int) -> None:
    axes, counts = axes_and_counts()
    X = functions(axes, order)
    assert X.shape == (counts.size, number_of_functions(axes, order))
    means = X.T @ counts.reshape(-1) / counts.sum()
    found = fit(X, means)
    assert found.off < 1e-4
    np.testing.assert_allclose(X.T @ found.probabilities, means, atol=1e-4)
    # from there to means of other counts, with the curvature of the first
    other = np.random.default_rng(2).permuted(counts, axis=0)
    again = found.again(X.T @ other.reshape(-1) / other.sum())
    assert again.off < 1e-4
    np.testing.assert_allclose(
        again.probabilities, fit(X, X.T @ other.reshape(-1) / other.sum()).probabilities, atol=1e-4
    )


def test_what_a_model_keeps_of_two_columns_is_their_covariance_and_the_means_by_level() -> None:
    axes, counts = axes_and_counts()
    X = functions(axes, 2)
    p = fit(X, X.T @ counts.reshape(-1) / counts.sum()).probabilities.reshape(counts.shape)
    share = counts / counts.sum()
    x = (np.arange(6) + 0.5) / 6
    by_level = [np.tensordot(x, one.sum(axis=1), axes=1) / one.sum(axis=(0, 1)) for one in (p, share)]
    np.testing.assert_allclose(by_level[0], by_level[1], atol=1e-3)
    k = np.array([0.5, 1.5, 3, 0])
    inside = [np.einsum("ikg,i,k->", one[:, :3], x, k[:3]) for one in (p, share)]
    np.testing.assert_allclose(inside[0], inside[1], atol=1e-3)


def test_counts_that_contradict_every_table_are_seen() -> None:
    X = np.array([[0.0], [1.0]])
    assert fit(X, np.array([1.4])).off > 0.3
    assert np.isfinite(fit(X, np.array([1.4])).probabilities).all()


@pytest.mark.parametrize("bins", [8, 12])
def test_values_within_cells_give_slopes_and_spreads_of_normal_values(bins: int) -> None:
    """Even values would make the slope of .5 too small by 13% (8 bins) and 6%; the density's rise leaves under 1.5%."""
    edges = np.linspace(-4, 4, bins + 1)
    fine = np.linspace(-4, 4, bins * 40 + 1)
    middle = (fine[1:] + fine[:-1]) / 2
    density = norm.pdf(middle)[:, None] * norm.pdf(middle[None, :] - 0.5 * middle[:, None])
    cells = density.reshape(bins, 40, bins, 40).sum(axis=(1, 3))
    cells /= cells.sum()
    h = np.diff(edges)
    rises = slopes_within(cells, (h, h))
    share = (np.arange(200) + 0.5) / 200
    means, squares = [], []
    for axis in (0, 1):
        assert rises[axis] is not None
        place = places_within(np.repeat(rises[axis].reshape(-1), 200), np.tile(share, cells.size)).reshape(-1, 200)
        at = np.indices(cells.shape)[axis].reshape(-1)
        value = edges[at][:, None] + h[0] * place
        means.append(value.mean(axis=1))
        squares.append((value**2).mean(axis=1))
    weight = cells.reshape(-1)
    variance = weight @ squares[0] - (weight @ means[0]) ** 2
    slope = (weight @ (means[0] * means[1])) / variance
    assert abs(slope - 0.5) < 0.0075
    assert abs(variance - 1) < 0.01
    flat = (np.tile(edges[:-1][:, None] + h[0] / 2, bins)).reshape(-1)
    assert (weight @ (flat * flat.reshape(bins, bins).T.reshape(-1))) / (weight @ flat**2 + h[0] ** 2 / 12) < 0.48


def held(found: CombinedAnalyses, truth: float) -> np.ndarray:
    """Whether 95% limits hold the truth, shape (m,)."""
    away = stdtrit(found.df, 0.975)[:, None] * found.sides
    return (found.values - away[:, 0] <= truth) & (truth <= found.values + away[:, 1])


def test_the_rule_holds_for_normal_analyses() -> None:
    """Coverage of 20,000 combined analyses; a rule that forgets the drawing's share of the variance would fail."""
    rng = np.random.default_rng(3)
    repeats, sets, drawing = 20_000, 20, 0.5
    truth = rng.normal(size=repeats)
    plain = rng.normal(truth, drawing, (sets // 2, repeats))
    drawn = rng.normal(truth, np.hypot(1, drawing), (sets, repeats))
    found = combined(plain, drawn)
    inside = held(found, 0.0)
    given = np.array([why is None for why in found.reasons])
    assert given.mean() > 0.99
    # 1e-6 on either side of the binomial law, about 94 to 96%
    low = binom.ppf(5e-7, repeats, 0.94) / repeats
    high = binom.ppf(1 - 5e-7, repeats, 0.965) / repeats
    assert low < inside[given].mean() < high


@pytest.mark.parametrize("curved", [0.5, -0.8])
def test_the_rule_holds_for_curved_analyses(curved: float) -> None:
    """Of exp(curved * z) one error for both sides misses the truth in about 6.5 to 7%, all of them on one side."""
    rng = np.random.default_rng(8)
    repeats, sets = 20_000, 20
    z = rng.normal(size=repeats)
    plain = np.exp(curved * z) + 0.05 * rng.normal(size=(sets // 2, repeats))
    drawn = np.exp(curved * (z + rng.normal(size=(sets, repeats)))) + 0.05 * rng.normal(size=(sets, repeats))
    found = combined(plain, drawn)
    inside = held(found, 1.0)
    # 1e-6 on either side of the binomial law: 95.5 to 96.5%
    assert binom.ppf(5e-7, repeats, 0.95) < inside.sum() < binom.ppf(1 - 5e-7, repeats, 0.97)
    even = np.abs(found.values - 1.0) <= stdtrit(sets - 1, 0.975) * found.std_errors
    assert even.sum() < binom.ppf(1 - 5e-7, repeats, 0.94)


def test_raghunathans_rule_holds_for_normal_analyses() -> None:
    rng = np.random.default_rng(4)
    repeats, sets, drawing = 20_000, 40, 0.5
    truth = rng.normal(size=repeats)
    values = rng.normal(truth, np.hypot(1, drawing), (sets, repeats))
    mean, variance, df = raghunathan(values, np.full((sets, repeats), drawing**2))
    inside = np.abs(mean) <= stdtrit(df, 0.975) * np.sqrt(variance)
    assert abs(inside.mean() - 0.95) < 5 * np.sqrt(0.95 * 0.05 / repeats) + 0.005


def test_a_bias_of_noise_gives_a_reason() -> None:
    rng = np.random.default_rng(5)
    plain, drawn = rng.normal(0, 0.1, (20, 2)), rng.normal([0, 4], 1, (40, 2))
    assert [why is None for why in combined(plain, drawn).reasons] == [True, False]
    drawn[3, 0] = np.nan
    assert combined(plain, drawn).reasons[0] is not None


def test_sets_have_the_tables_columns_and_types_and_are_the_same_again() -> None:
    cells = release(["x", "kids", "late", "place"], x=6, kids=5)
    sets = cells.synthetic_sets(6, n=500, rng=1)
    assert len(sets) == len(sets.frames) == 6
    assert len(sets.plain) == 5
    one = sets.frames[2]
    assert one.shape == (500, 4)
    assert [str(kind) for kind in one.dtypes] == ["float64", "int64", "bool", "category"]
    assert one.x.between(-4, 4).all()
    assert one.kids.between(0, 9).all()
    assert list(one.place.cat.categories) == ["north", "south", "west", "unknown"]
    pd.testing.assert_frame_equal(one, sets.frames[2])
    pd.testing.assert_frame_equal(one, cells.synthetic_sets(6, n=500, rng=1).frames[2])
    assert not one.equals(sets.frames[1])
    assert "nobody's" in one.attrs["note"]
    # four times the rows, whose number is not public where some may be missing
    assert abs(len(cells.synthetic_sets(5, rng=1).plain[0]) - 16_000) < 500


def test_cells_of_missing_values_and_beyond_bounds_come_back() -> None:
    rows = {"x": [1.0, None, 2.0, 9.0] * 500}
    curator = tc.Curator(rows, tc.Schema({"x": tc.Real(0, 4)}), budget=tc.Budget(rho=9))
    cells = curator.release(tc.Histogram("x", bins=4, missing=True, outside=True), rho=9)
    made = cells.synthetic_sets(5, n=4_000, rng=0).plain[0]
    assert abs(made.x.isna().mean() - 0.25) < 0.05
    assert abs((made.x == 4).mean() - 0.25) < 0.05


def test_errors_about_the_table_are_those_of_noise_alone() -> None:
    cells = release(["x"], n=4_000, rho=5, x=16)
    errors = [
        cells.synthetic_sets(40, n=100_000, target=target, rng=0).analyse(lambda rows: rows.x.mean()).std_error
        for target in ("population", "table")
    ]
    # sampling alone: 1 / sqrt(4000) = .0158
    assert errors[1] < 0.5 * errors[0]


@pytest.mark.parametrize("tables", [8, pytest.param(30, marks=pytest.mark.long)])
def test_intervals_hold_the_truth(tables: int) -> None:
    """95% limits of a mean, a slope and a difference of means."""
    hits = np.zeros((tables, 3), dtype=bool)
    truth = [0.0, 0.5, None]
    big = table(400_000, seed=99)
    truth[2] = big.x[big.late].mean() - big.x[~big.late].mean()

    def analysis(rows: pd.DataFrame) -> dict[str, float]:
        return {
            "mean": rows.x.mean(),
            "slope": np.cov(rows.x, rows.y)[0, 1] / rows.x.var(),
            "difference": rows.x[rows.late].mean() - rows.x[~rows.late].mean(),
        }

    for seed in range(tables):
        cells = release(["x", "y", "late"], n=3_000, rho=1, seed=seed, x=10, y=8)
        found = cells.synthetic_sets(12, n=6_000, rng=seed).analyse(analysis)
        limits = found.intervals()
        hits[seed] = (limits[:, 0] <= truth) & (truth <= limits[:, 1])
    # 95%: at least so many but for one in a million
    assert (hits.sum(axis=0) >= binom.ppf(1e-6, tables, 0.95)).all(), hits.mean(axis=0)
    # intervals that hold everything would pass that: they are narrow enough to miss sometimes, or to be informative
    assert found.std_errors[0] < 0.1


def test_an_analysis_may_be_a_number_numbers_by_name_or_a_fitted_model() -> None:
    sets = release(["x", "late"], x=6).synthetic_sets(5, n=500, rng=0)
    assert isinstance(sets.analyse(lambda rows: rows.x.mean()).value, float)
    assert sets.analyse(lambda rows: rows.groupby("late").x.mean()).terms == ("False", "True")

    class Fit:
        params = pd.Series({"a": 1.0, "b": 2.0})

    found = sets.analyse(lambda rows: Fit())
    assert found.value.to_dict() == {"a": 1.0, "b": 2.0}
    assert list(found.to_frame().columns) == ["estimate", "std_error", "lower", "upper", "df", "bias", "reason"]
    assert "synthetic sets" in str(found.summary())
    assert "rows in each" in str(sets.summary())


@pytest.mark.parametrize(
    ("call", "code"),
    [
        (lambda cells: cells.synthetic_sets(4), "I85"),
        (lambda cells: cells.synthetic_sets(True), "I85"),
        (lambda cells: cells.synthetic_sets(5, order=4), "I85"),
        (lambda cells: cells.synthetic_sets(5, n=0), "I61"),
        (lambda cells: cells.synthetic_sets(5, rng="x"), "I62"),
        (lambda cells: cells.synthetic_sets(5, target="all"), "I09"),
        (lambda cells: cells.synthetic_sets(5, n=50).analyse("mean"), "I86"),
        (lambda cells: cells.synthetic_sets(5, n=50).analyse(lambda rows: rows.nothing), "I86"),
        (lambda cells: cells.synthetic_sets(5, n=50).analyse(lambda rows: "a word"), "I86"),
        (lambda cells: cells.synthetic_sets(5, n=50).analyse(lambda rows: {}), "I86"),
        (lambda cells: cells.utility([1, 2]), "I87"),
        (lambda cells: cells.utility(pd.DataFrame({"x": [1.0]})), "I87"),
        (lambda cells: cells.utility(pd.DataFrame({"x": [99.0], "late": [True]})), "I87"),
    ],
)
def test_bad_arguments_are_errors(call: Any, code: str) -> None:
    with pytest.raises(InferenceError) as caught:
        call(release(["x", "late"], x=6))
    assert caught.value.code == code


def test_a_release_that_is_all_noise_has_a_reason_or_an_error() -> None:
    told = 0
    for seed in range(6):
        curator = tc.Curator(table(20, seed), SCHEMA, budget=tc.Budget(rho=1, neighbors="add-remove"))
        cells = curator.release(tc.Histogram(["x", "y", "kids"], bins={"x": 20, "y": 20, "kids": 5}), rho=0.001)
        try:
            told += cells.synthetic_sets(5, n=500, rng=0).analyse(lambda rows: rows.x.mean()).reason is not None
        except InferenceError as found:
            told += found.code == "I63"
    assert told >= 5


def test_too_many_cells_are_refused() -> None:
    cells = release(["x", "y", "kids", "place", "late"], x=50, y=50)
    with pytest.raises(InferenceError) as caught:
        cells.synthetic_sets(5)
    assert caught.value.code == "I47"


def test_utility_tells_rows_of_the_release_from_others() -> None:
    cells = release(["x", "kids", "late", "place"], rho=20, x=6, kids=5)
    near = cells.utility(cells.sample(20_000, rng=0)).to_frame()
    assert list(near.columns) == ["cells", "distance", "drawing", "noise"]
    assert len(near) == 4 + 6
    # half the sum of absolute errors of a multinomial: about its expectation, and its standard deviation is far below
    assert (near.distance < 3 * near.drawing + 3 * near.noise).all()
    other = cells.sample(20_000, rng=0)
    other["late"] = ~other["late"]
    far = cells.utility(other).to_frame()
    assert far.distance["late"] > 0.2
    assert far.distance["x"] == near.distance["x"]
    assert "by drawing alone" in str(cells.utility(other))


def test_utility_finds_the_cell_of_every_kind_of_value() -> None:
    """Rows made from one cell each, at the ends of its bin, are found there: dates, whole numbers, missing, beyond."""
    schema = tc.Schema({"day": tc.Date("2024-01-01", "2024-12-31"), "n": tc.Integer(0, 5), "x": tc.Real(0, 1)})
    rows = {
        "day": np.datetime64("2024-01-01") + np.arange(366).repeat(3),
        "n": np.arange(1_098) % 6,
        "x": np.linspace(0, 1, 1_098),
    }
    curator = tc.Curator(rows, schema, budget=tc.Budget(rho=900))
    cells = curator.release(tc.Histogram(["day", "n", "x"], bins={"day": 4, "n": 3, "x": 2}), rho=800)
    frame = pd.DataFrame(rows)
    found = cells.utility(frame).to_frame()
    assert (found.distance < 0.01).all()
    ends = pd.DataFrame({"day": pd.to_datetime(["2024-12-31"]), "n": [5], "x": [1.0]})
    assert cells.utility(ends).to_frame().distance["x"] == pytest.approx(0.5, abs=0.01)


def test_places_follow_an_exponential_density() -> None:
    rng = np.random.default_rng(6)
    for slope, _ in product((-30.0, -2.0, 1e-12, 0.7, 900.0), (0,)):
        drawn = places_within(np.full(20_000, slope), rng.random(20_000))
        edges = np.linspace(0, 1, 11)
        a = max(abs(slope), 1e-9)
        below = -np.expm1(-a * edges) / -np.expm1(-a)
        below = below if slope < 0 else (1 - below)[::-1]
        expected = 20_000 * np.diff(below)
        counts = np.histogram(drawn, edges)[0]
        used = expected > 5
        stat = ((counts - expected)[used] ** 2 / expected[used]).sum()
        # one in a million
        assert stat < chi2.ppf(1 - 1e-6, max(used.sum() - 1, 1)), slope
