"""Pictures of survival curves and distribution functions show the numbers they stand for, as steps."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tacit as tc
from tacit.errors import InferenceError

pytest.importorskip("matplotlib")


@pytest.fixture(scope="module")
def trial() -> Any:
    rng, n = np.random.default_rng(0), 8_000
    arm = rng.integers(0, 2, n)
    event, left = rng.exponential(10 / (1 + arm)), rng.uniform(0, 30, n)
    table = {
        "months": np.minimum(event, left),
        "died": event <= left,
        "arm": np.array(["old", "new"])[arm],
        "day": np.datetime64("2024-01-01") + rng.integers(0, 90, n),
        "z": rng.normal(0, 3, n),
        "site": rng.integers(0, 5, n),
    }
    schema = {
        "months": tc.Real(0, 24, units="months"),
        "died": tc.Boolean(),
        "arm": tc.Category(["old", "new"]),
        "day": tc.Date("2024-01-01", "2024-03-30"),
        "z": tc.Real(),
        "site": tc.Category(range(5)),
    }
    return tc.Curator(table, tc.Schema(schema), budget=tc.Budget(rho=9))


def steps(axes: Any) -> list[Any]:
    return [line for line in axes.lines if line.get_drawstyle() == "steps-post"]


def test_survival_by_arm(trial: Any) -> None:
    found = trial.release(tc.Histogram(["months", "died", "arm"], bins={"months": 12}), rho=1).survival(
        "months", "died", by="arm"
    )
    shown = found.plot()
    assert (shown.terms, shown.values) == (found.terms, tuple(found.values))
    assert (shown.lower, shown.upper) == (tuple(found.intervals()[:, 0]), tuple(found.intervals()[:, 1]))
    lines = steps(shown.axes)
    assert [line.get_label() for line in lines] == ["old", "new"]
    for line, values in zip(lines, found.values.reshape(2, -1), strict=True):
        assert line.get_xdata().tolist() == [0, *found.times]
        assert line.get_ydata().tolist() == [1, *values]
    assert shown.axes.get_xlabel() == "months (months)"
    assert shown.axes.get_ylabel() == "share without died"
    assert shown.axes.get_legend().get_texts()[0].get_text() == "95% interval, old"
    assert steps(found["old:12"].plot().axes) == []  # one time of one arm is an interval


def test_distribution_function_with_its_ends(trial: Any) -> None:
    release = trial.release(tc.Histogram("months", bins=6), rho=1)
    for simultaneous, band in ((False, "95% interval"), (True, "95% simultaneous band")):
        found = release.cdf("months", simultaneous=simultaneous)
        shown = found.plot()
        (line,) = steps(shown.axes)
        assert line.get_xdata().tolist() == [0, 4, 8, 12, 16, 20, 24]
        assert line.get_ydata().tolist() == [0, *found.values, 1]
        assert [text.get_text() for text in shown.axes.get_legend().get_texts()] == [band]
        low, high = np.array(shown.lower), np.array(shown.upper)
        assert ((low < found.values) & (found.values < high)).all()


def test_open_ends_have_no_zero_and_no_one(trial: Any) -> None:
    found = trial.release(tc.Histogram("z", bins=tc.LogisticBins(8, center=0, scale=2)), rho=1).cdf("z")
    (line,) = steps(found.plot().axes)
    assert line.get_xdata().tolist() == list(tc.LogisticBins(8, center=0, scale=2).edges)
    assert line.get_ydata().tolist() == list(found.values)


def test_days_are_days(trial: Any) -> None:
    pytest.importorskip("matplotlib.dates")
    shown = trial.release(tc.Histogram("day", bins=3), rho=1).cdf("day").plot()
    (line,) = steps(shown.axes)
    assert "Date" in type(shown.axes.xaxis.get_major_locator()).__name__
    assert line.get_xdata()[0] == 19_722  # 2023-12-31, up to which there is no day: 0
    assert shown.axes.get_xlabel() == "day"


def test_more_groups_than_lines(trial: Any) -> None:
    found = trial.release(tc.Histogram(["months", "site"], bins={"months": 3}), rho=1).cdf("months", by="site")
    with pytest.raises(InferenceError) as refused:
        found.plot()
    assert refused.value.code == "I05"
    assert len(found[list(found.terms[:2])].plot().values) == 2
