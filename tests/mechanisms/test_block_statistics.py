"""Statistics of blocks: of each block's rows alone, in a process of its own; failures are silent."""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import stats
from sklearn.linear_model import LogisticRegression

import tacit as tc
from tacit.base.muted import silent
from tacit.errors import ModelError, TacitError
from tacit.method.blocks import mechanism_user_statistics as fresh
from tacit.method.blocks.mechanism_fork_server import patience
from tacit.models.block_statistics import STATISTICS, split
from tacit.models.blocks import block_mle
from tacit.models.function_pickle import identity, packed, unpacked

SCHEMA = tc.Schema({"x": tc.Real(), "y": tc.Real()})
CALLS: list[int] = []
FACTOR = 3.0


def blocks_of(k: int, room: int, columns: int = 1, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Sorted rows in blocks of several sizes, one of them empty, with other numbers after them."""
    rng = np.random.default_rng(seed)
    sizes = rng.integers(5, room + 1, k)
    sizes[1] = 0
    values = rng.normal(size=(k, room, columns))
    for i, size in enumerate(sizes):
        values[i, :size] = values[i, :size][np.lexsort(values[i, :size].T[::-1])]
        values[i, size:] = rng.choice([np.nan, np.inf, 1e9])
    return values, sizes


# With a name ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "live"),
    [
        ("median", np.median),
        ("midmean", lambda x: stats.trim_mean(x, 0.25)),
        ("iqr", stats.iqr),
        ("correlation", lambda x: stats.pearsonr(x[:, 0], x[:, 1])[0]),
    ],
)
def test_statistics_with_a_name_are_those_of_numpy_and_scipy(name: str, live: Callable[[Any], float]) -> None:
    columns = STATISTICS[name][0]
    values, sizes = blocks_of(40, 30, columns)
    model = tc.Statistic(name, value=(-50, 50))
    found = fresh.statistics(model, values, sizes)[:, 0]
    rows = values[:, :, 0] if columns == 1 else values
    expected = [float(live(rows[i, :size])) if size else np.nan for i, size in enumerate(sizes)]
    np.testing.assert_allclose(found, expected, rtol=1e-12)


def test_halves_take_the_bias_of_a_maximum_away() -> None:
    """Uniform rows: the bias of a maximum of t rows is -1 / (t + 1); twice it less that of halves is -2 / t**2.

    5.5 standard errors: wrong once in 26 million runs.
    """
    rng = np.random.default_rng(0)
    values = np.sort(rng.random((20_000, 24)), axis=1)
    (first, n), (second, m) = split(values, np.full(20_000, 24))
    assert n.tolist() == m.tolist() == [12] * 20_000
    assert (np.sort(np.concatenate([first[:, :12], second[:, :12]], axis=1), axis=1) == values).all()
    assert (np.diff(first[:, :12], axis=1) >= 0).all()
    found = 2 * values[:, -1] - (first[:, 11] + second[:, 11]) / 2
    expected = 2 * 24 / 25 - 12 / 13
    assert abs(found.mean() - expected) < 5.5 * found.std() / np.sqrt(20_000)
    model = tc.Statistic("iqr", m=(0, 1))
    halves = fresh.statistics(model, values[:40, :, None], np.full(40, 24), "split-half")[:, 0]
    iqr = [stats.iqr(one, axis=1) for one in (values[:40], first[:40, :12], second[:40, :12])]
    np.testing.assert_allclose(halves, np.clip(2 * iqr[0] - (iqr[1] + iqr[2]) / 2, 0, 1), rtol=1e-12)


@pytest.mark.parametrize("how", ["statistic", "law"])
def test_halves_are_drawn_anew_in_each_table(how: str) -> None:
    """Means of corrected medians of 53 blocks are about the middle of symmetric rows: 6 standard errors, 2e-9.

    With halves of the same ranks in every table they are off by up to half of their own standard deviation.
    """
    rng, tables, k, t = np.random.default_rng(0), 400, 53, 36
    rows = np.sort(rng.laplace(0, 1, (tables, k, t)), axis=2)
    sizes = np.full(k, t)
    if how == "statistic":
        model = tc.Statistic("median", m=(-50, 50))
        found = [fresh.statistics(model, one[:, :, None], sizes, "split-half").mean() for one in rows]
    else:
        law = tc.families.Laplace(location=(-50, 50), scale=(0.1, 50))
        found = [block_mle(law, one, sizes, bias="split-half").values[:, 0].mean() for one in rows]
    assert abs(np.mean(found)) < 6 * np.std(found) / np.sqrt(tables)


def test_halves_depend_on_the_rows_of_the_block_alone() -> None:
    """Whatever lies behind the rows, and however zero is written."""
    values = np.sort(np.random.default_rng(0).normal(size=(5, 12)), axis=1)
    values[:, 5] = 0.0
    other, sizes = values.copy(), np.full(5, 9)
    other[:, 5], other[:, 9:] = -0.0, np.nan
    for one, again in zip(split(values, sizes), split(other, sizes), strict=True):
        np.testing.assert_array_equal(one[0][:, :4], again[0][:, :4])


def test_where_a_half_has_no_number_the_block_has_its_own() -> None:
    """Seven rows are enough for a number, three or four are not."""

    def many(rows: np.ndarray) -> float:
        return float(rows.max()) if len(rows) > 5 else float("nan")

    values = np.arange(14.0).reshape(2, 7, 1)
    found = fresh.statistics(tc.Statistic(many, m=(0, 100)), values, np.array([7, 4]), "split-half")
    np.testing.assert_array_equal(found.ravel(), [6.0, np.nan])


@pytest.mark.long
def test_a_coefficient_of_scikit_learn_is_a_statistic() -> None:
    """A logistic fit, which is biased in small blocks: halves mend it; 5.5 standard errors, wrong once in 26 million.

    Of 60 blocks of 80 rows the bias of a slope of 1 is some 0.05, more than its standard error.
    """
    rng = np.random.default_rng(4)
    x = rng.normal(size=4_800)
    y = (rng.random(4_800) < 1 / (1 + np.exp(-x))).astype(float)

    def slope(rows: np.ndarray) -> float:
        return LogisticRegression(C=np.inf).fit(rows[:, 1:], rows[:, 0]).coef_[0, 0]

    query = tc.SampleAndAggregate(["y", "x"], tc.Statistic(slope, slope=(-1, 3), columns=2), blocks=60)
    curator = tc.Curator({"y": y, "x": x}, SCHEMA, budget=tc.Budget(epsilon=40))
    found = curator.release(query, epsilon=20).estimate()
    assert 0.02 < found.std_error < 0.09
    assert abs(found.value - 1) < 5.5 * found.std_error
    assert "corrected by halves" in " ".join(found.notes)


@pytest.mark.parametrize("columns", [1, 2, 5, 12])
def test_made_up_rows_have_no_constant_column_and_no_sum_of_others(columns: int) -> None:
    """On them a function is tried before anything is charged: normal equations must have a solution."""
    for made in fresh._made_up_rows(columns):
        table = np.column_stack([np.ones(len(made)), made])
        assert np.linalg.cond(table.T @ table) < 1e6


def test_a_correlation_with_a_constant_is_none() -> None:
    values = np.stack([np.arange(6.0), np.ones(6)], axis=1)[None]
    assert np.isnan(fresh.statistics(tc.Statistic("correlation", r=(0.5, 1)), values, np.array([6]))).all()


# In processes of their own --------------------------------------------------------------------------------------------


def remembers(rows: np.ndarray) -> float:
    CALLS.append(len(rows))
    os.environ["SEEN"] = os.environ.get("SEEN", "") + "x"
    print("rows", rows)
    print("rows", rows, file=sys.stderr)
    warnings.warn(str(rows), stacklevel=1)
    return FACTOR * len(CALLS) + len(os.environ["SEEN"])


def test_nothing_is_kept_from_block_to_block_and_nothing_is_printed(capfd: pytest.CaptureFixture[str]) -> None:
    values, sizes = blocks_of(12, 20)
    found = fresh.statistics(tc.Statistic(remembers, calls=(0, 100)), values, sizes)
    assert found[sizes > 0].ravel().tolist() == [4.0] * 11
    assert CALLS == []
    assert "SEEN" not in os.environ
    assert capfd.readouterr() == ("", "")


def failing(rows: np.ndarray) -> Any:
    """What a block does is told by its first number."""
    kind = int(rows[0])
    if kind == 1:
        raise ValueError(rows)
    if kind == 2:
        return np.nan, 1.0
    if kind == 3:
        return 1.0
    if kind == 4:
        os._exit(0)
    if kind == 5:
        os.kill(os.getpid(), signal.SIGKILL)
    if kind == 6:
        time.sleep(60)
    if kind == 7:
        raise KeyboardInterrupt
    if kind == 8:
        return "text"
    return rows.sum(), 1e9


def test_failures_have_no_number_and_are_silent(capfd: pytest.CaptureFixture[str]) -> None:
    values = np.array([[float(kind), 2.0] for kind in range(9)])[:, :, None]
    model = tc.Statistic(failing, a=(-5, 5), b=(0, 10), default=(1.5, 2.5), seconds=0.5)
    found = fresh.statistics(model, values, np.full(9, 2))
    assert found[0].tolist() == [2.0, 10.0]  # clamped
    assert np.isnan(found[1:]).all()
    assert capfd.readouterr() == ("", "")


def timed(rows: np.ndarray) -> float:
    """By its first number: works, waits, or starts something that works, longer than it may."""
    kind, start = int(rows[0]), time.monotonic()
    if kind == 1:
        while True:
            pass
    if kind == 2:
        time.sleep(600)
    if kind == 3:
        time.sleep(0.8)
    if kind == 4:
        signal.setitimer(signal.ITIMER_PROF, 0)
        while True:
            pass
    return float(time.monotonic() - start < 600)


@pytest.mark.long
def test_seconds_are_the_processor_s_and_who_waits_is_ended_by_the_clock_on_the_wall() -> None:
    """A wait of more than `seconds` is no answer lost; an endless one, or endless work, is."""
    values = np.array([[float(kind), 9.0] for kind in range(5)])[:, :, None]
    model = tc.Statistic(timed, done=(0, 1), default=[0.25], seconds=0.4)
    start = time.monotonic()
    np.testing.assert_array_equal(fresh.statistics(model, values, np.full(5, 2))[:, 0], [1, np.nan, np.nan, 1, np.nan])
    assert time.monotonic() - start < patience(0.4) + fresh.SPARE  # waiting for no reason at all would be 600 seconds


def test_load_does_not_decide_an_answer() -> None:
    """As many blocks at work as the machine has places for, each of a share of `seconds`: none is lost."""

    def works(rows: np.ndarray) -> float:
        while time.process_time() < 0.15:
            pass
        return 1.0

    many = 6 * (os.cpu_count() or 1)
    model = tc.Statistic(works, done=(0, 1), default=[0.25], seconds=0.3)
    assert fresh.statistics(model, np.zeros((many, 1, 1)), np.full(many, 1), "none")[:, 0].tolist() == [1.0] * many


@pytest.mark.parametrize("bias", ["none", "split-half"])
def test_how_the_interpreter_is_set_is_not_handed_on(bias: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def warned(rows: np.ndarray) -> float:
        warnings.warn(f"rows {rows}", stacklevel=1)
        np.log(rows - rows)
        np.array([1e308]) * rows * 10
        return float(rows.sum())

    values = np.array([[0.5, 2.0, 3.0, 4.0], [-0.0, 5e-324, 1e308, 1.5e308]])[:, :, None]
    model = tc.Statistic(warned, total=(0, 100))
    found = fresh.statistics(model, values, np.full(2, 4), bias)
    monkeypatch.setenv("PYTHONWARNINGS", "error")
    with warnings.catch_warnings(), np.errstate(all="raise"), silent():
        warnings.simplefilter("error")
        np.testing.assert_array_equal(fresh.statistics(model, values, np.full(2, 4), bias), found)
    assert found[0, 0] == (9.5 if bias == "none" else 14.25)


def test_rows_of_several_columns_and_one_block_alone() -> None:
    """The answer of a block is the function's own; another block's rows do not enter it."""

    def slope(rows: np.ndarray) -> float:
        return float(np.polyfit(rows[:, 1], rows[:, 0], 1)[0])

    model = tc.Statistic(slope, slope=(-9, 9), columns=2)
    values, sizes = blocks_of(6, 20, 2)
    found = fresh.statistics(model, values, sizes)[:, 0]
    expected = [slope(values[i, :size]) if size else np.nan for i, size in enumerate(sizes)]
    np.testing.assert_allclose(found, expected, rtol=1e-12)
    values[2] = np.sort(values[2], axis=0) * 7
    changed = fresh.statistics(model, values, sizes)[:, 0]
    assert np.flatnonzero(~np.isclose(found, changed, rtol=0, atol=0, equal_nan=True)).tolist() == [2]


# Sensitivity ----------------------------------------------------------------------------------------------------------


# Words and identity ---------------------------------------------------------------------------------------------------


def test_a_release_of_a_function_comes_back_and_is_not_asked_again(tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    curator = tc.Curator(
        {"x": rng.exponential(1, 3_000)}, tc.Schema({"x": tc.Real()}), name="t", budget=tc.Budget(epsilon=20)
    )

    def trimmed(rows: np.ndarray) -> float:
        return float(np.sort(rows)[5:-5].mean())

    query = tc.SampleAndAggregate("x", tc.Statistic(trimmed, trimmed=(0, 3)), blocks=30)
    release = curator.release(query, epsilon=10)
    release.save(tmp_path / "t.json")
    again = tc.Release.load(tmp_path / "t.json")
    assert again == release
    assert curator.release(query, epsilon=10) == release
    found = again.estimate()  # type: ignore[attr-defined]
    assert abs(found.value - 0.93) < 0.2  # 5 of 100 cut at both ends: about 0.93; error of some 0.04
    assert "trimmed of x" in str(found)
    with pytest.raises(TacitError, match="Q95"):
        curator.release(again.query, epsilon=1)  # a file has no function


def test_words_of_a_file_are_those_of_python() -> None:
    query = tc.SampleAndAggregate(["x", "y"], tc.Statistic("correlation", r=(-1, 1), default={"r": 0.5}), blocks=20)
    words = query.to_dict()
    assert words["model"] == {
        "family": "Statistic",
        "name": "correlation",
        "parameters": {"r": [-1.0, 1.0]},
        "default": [0.5],
    }
    assert words["bias"] == "split-half"
    again = tc.SampleAndAggregate(**{key: value for key, value in words.items() if key != "query"})
    assert again == query
    assert again.model.law == query.model.law


def made(factor: float) -> Callable[[Any], float]:
    return lambda rows: factor * rows.sum()


def test_a_function_is_known_by_what_it_computes() -> None:
    one: dict[str, Any] = {"np": np}
    other: dict[str, Any] = {"np": np}
    exec("def f(rows):\n    return np.mean(rows) + 1", one)
    exec("\n\n# elsewhere\ndef f(rows):\n\n    return np.mean(rows) + 1", other)
    assert identity(one["f"]) == identity(other["f"])
    exec("def f(rows):\n    return np.mean(rows) + 2", other)
    assert identity(one["f"]) != identity(other["f"])
    assert identity(made(2.0)) == identity(made(2.0)) != identity(made(3.0))
    assert identity(np.median) != identity(np.mean)


def factorial(n: int) -> int:
    return 1 if n == 0 else n * factorial(n - 1)


def test_a_function_travels_with_what_it_names() -> None:
    assert unpacked(packed(made(2.5)))(np.ones(4)) == 10.0
    assert unpacked(packed(factorial))(5) == 120
    assert unpacked(packed(stats.trim_mean))([1, 2, 3], 0) == 2.0


# Bad input ------------------------------------------------------------------------------------------------------------

LOCK = threading.Lock()


@pytest.mark.parametrize(
    ("make", "code"),
    [
        (lambda: tc.Statistic(3, m=(0, 1)), "M21"),
        (lambda: tc.Statistic("mediam", m=(0, 1)), "M21"),
        (lambda: tc.Statistic("median"), "M12"),
        (lambda: tc.Statistic("median", m=(0, 1), n=(0, 1)), "M12"),
        (lambda: tc.Statistic("median", m=(0, 1), columns=2), "M12"),
        (lambda: tc.Statistic(np.mean, m=(0, 1), columns=0), "M12"),
        (lambda: tc.Statistic(np.mean, m=(0, 1), seconds=0), "M12"),
        (lambda: tc.Statistic("median", m=(1, 0)), "M10"),
        (lambda: tc.Statistic("median", m=3), "M10"),
        (lambda: tc.Statistic("median", m=(0, 1), default=(2,)), "M13"),
        (lambda: tc.SampleAndAggregate("x", tc.Statistic("median", m=(0, 1)), bias="jackknife"), "Q110"),
        (lambda: tc.SampleAndAggregate("x", tc.Statistic(lambda x: LOCK.locked(), m=(0, 1))), "M23"),
        (lambda: tc.SampleAndAggregate("x", {"family": "Statistic", "name": "median"}), "M12"),
        (lambda: tc.SampleAndAggregate("x", {"family": "Statistic", "name": "iqr", "parameters": {}, "n": 1}), "M12"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_said_when_it_is_typed(make: Callable[[], Any], code: str) -> None:
    with pytest.raises(TacitError) as caught:
        make()
    assert caught.value.code == code


def test_a_function_that_cannot_work_is_refused_before_data_is_read() -> None:
    curator = tc.Curator({"x": np.ones(60), "y": np.ones(60)}, SCHEMA, name="ones", budget=tc.Budget(epsilon=1))
    for wrong in (lambda x: 1 / 0, lambda x: x, lambda x: "text"):
        with pytest.raises(ModelError) as caught:
            curator.release(tc.SampleAndAggregate("x", tc.Statistic(wrong, m=(0, 1)), blocks=3), epsilon=1)
        assert caught.value.code == "M22"
    assert "1.00 of 1.00" in curator.remaining
    with pytest.raises(TacitError, match="Q95"):
        curator.release(tc.SampleAndAggregate(["x", "y"], tc.Statistic("median", m=(0, 1)), blocks=3), epsilon=1)
