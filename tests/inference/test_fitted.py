"""Models fitted to released histograms: the words of estimates, the way from a release to cells, refusals in words."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tacit as tc
from tacit.errors import InferenceError, QueryError, TacitError
from tacit.estimates.normal_estimate import NormalEstimate
from tacit.fits.cells.cell_arrays import CellCounts
from tacit.fits.cells.released_cells import cells_of
from tacit.fits.fitted_model import FittedModel
from tacit.fits.regression_fits import fit_cells

SCHEMA = tc.Schema(
    {
        "x": tc.Real(0, 1),
        "y": tc.Real(-1, 3),
        "level": tc.Integer(1, 5),
        "sex": tc.Category({0: "male", 1: "female"}, missing="unknown"),
        "yes": tc.Boolean(),
    }
)
ROWS = 20_000


def people(rng: np.random.Generator, rows: int = ROWS) -> dict[str, Any]:
    """E y = .5 + x - .3 female + .1 level; P(yes) = logistic(-1 + 2x); one sex in fifty missing."""
    x, sex, level = rng.beta(2, 2, rows), rng.integers(0, 2, rows), rng.integers(1, 6, rows)
    y = 0.5 + x - 0.3 * sex + 0.1 * level + rng.normal(0, 0.3, rows)
    yes = rng.random(rows) < 1 / (1 + np.exp(1 - 2 * x))
    codes = [None if gone else int(code) for code, gone in zip(sex, rng.random(rows) < 0.02, strict=True)]
    return {"x": x, "y": y, "level": level, "sex": codes, "yes": yes}


@pytest.fixture(scope="module")
def cells() -> Any:
    query = tc.Histogram(["x", "y", "level", "sex", "yes"], bins={"x": 8, "y": 16})
    table = people(np.random.default_rng(1))
    return tc.Curator(table, SCHEMA, name="made-up", budget=tc.Budget(rho=10)).release(query, rho=2)


def near(found: NormalEstimate, truth: dict[str, float]) -> bool:
    """Within 6 standard errors each: beyond with probability 2e-9, and bias of binning is far below one."""
    return all(abs(found[term].value - value) < 6 * found[term].std_error for term, value in truth.items())


def test_a_linear_model_of_bins_levels_and_factors(cells: Any) -> None:
    fit = cells.fit("y ~ x + level + sex", missing="level")
    assert isinstance(fit, FittedModel)
    assert fit.terms == ("Intercept", "x", "level", "sex[T.female]", "sex[T.unknown]")
    truth = {"Intercept": 0.5, "x": 1.0, "level": 0.1, "sex[T.female]": -0.3}
    assert near(fit.coefficients, truth)
    assert near(fit.contrast("2 * x - level"), {"2 * x - level": 1.9})
    assert fit.test("x = 1, level = 0.1").p_value > 1e-6
    assert fit.test("x = 0").p_value < 1e-6
    assert fit.test(column="sex").df == 2
    assert list(fit.to_frame().columns[:3]) == ["estimate", "std_error", "z"]
    lower, upper = fit["x"].conf_int(0.99)
    assert lower < fit["x"].value < upper
    assert np.allclose(fit.cov, fit.coefficients.sampling_cov + fit.coefficients.privacy_cov)


def test_a_level_for_missing_cells_is_left_out_where_nothing_else_is_said(cells: Any) -> None:
    complete = cells.fit("y ~ sex")
    assert complete.terms == ("Intercept", "sex[T.female]")
    assert "rows are left out where sex is unknown" in complete.notes
    assert abs(complete.criteria["rows"] - 0.98 * ROWS) < 7 * np.sqrt(0.02 * ROWS) + 7 * np.sqrt(1280 * 0.33)
    fit = cells.fit("sex ~ x", model="logistic")
    assert fit.reasons == (None, None)
    assert "rows are left out where sex is unknown" in fit.notes
    assert "The response is 1 where sex is female, 0 where it is male." in fit.notes
    assert near(fit.coefficients, {"Intercept": 0.0, "x": 0.0})


def test_predictions_stay_within_the_response(cells: Any) -> None:
    fit = cells.fit("yes ~ x", model="logistic")
    assert near(fit.coefficients, {"Intercept": -1.0, "x": 2.0})
    found = fit.predict({"x": [0.0, 0.5, 50.0]})
    limits = found.intervals(0.999)
    assert (limits >= 0).all() and (limits <= 1).all()  # noqa: PT018
    assert (limits[:, 0] <= found.values).all() and (found.values <= limits[:, 1]).all()  # noqa: PT018
    link = fit.predict({"x": [0.5]}, scale="link")
    assert near(link, {"0": 0.0})
    assert found["1"].conf_int() == tuple(limits_at(found, 1))
    effect = fit.marginal_effects()
    p = 1 / (1 + np.exp(1 - 2 * np.linspace(0.0005, 0.9995, 1000)))
    weight = np.linspace(0.0005, 0.9995, 1000) * (1 - np.linspace(0.0005, 0.9995, 1000))
    assert near(effect, {"x": float(np.average(2 * p * (1 - p), weights=weight))})
    assert "p-value" not in found.summary().columns
    assert "p-value" in effect.summary().columns


def limits_at(found: NormalEstimate, i: int) -> list[float]:
    return [float(x) for x in found.intervals()[i]]


def test_families_and_losses(cells: Any) -> None:
    normal = cells.fit("y", family="normal")
    assert normal.terms == ("mean", "sd")
    assert normal.coefficients.estimand == "parameters"
    assert "p-value" not in normal.summary().columns
    squared = tc.Loss(lambda x, theta: (x["y"] - theta[0]) ** 2, names=["mean"])
    mean = cells.fit(squared)
    assert abs(mean.value - normal["mean"].value) < 1e-6
    assert abs(mean.std_error - normal["mean"].std_error) < 0.01 * mean.std_error
    assert near(mean.coefficients, {"mean": 0.5 + 0.5 - 0.15 + 0.3})


def test_the_published_method_has_its_own_label_and_no_standard_errors_where_it_has_none(cells: Any) -> None:
    cut = cells.fit("y ~ x", method="lei-2011-threshold")
    assert "Lei 2011, §4.2" in str(cut.summary())
    assert all(reason and "biased" in reason for reason in cut.reasons)
    assert np.isinf(cut.conf_int().to_numpy()).all()
    with pytest.raises(InferenceError, match="I45"):
        cut.test("x = 0")
    assert "–" in str(cut.summary())
    assert np.isfinite(cut.values).all()


def test_what_is_wrong_is_said(cells: Any) -> None:
    cases: list[tuple[str, dict[str, Any], str]] = [
        ("y ~ z", {}, "I41"),
        ("y ~ x +* y", {}, "I42"),
        ("y ~ x", {"model": "logistics"}, "I44"),
        ("y ~ x", {"method": "lei"}, "I44"),
        ("y ~ x", {"model": "logistic"}, "I43"),
        ("y ~ x", {"missing": "drop"}, "I44"),
        ("y", {"family": "norml"}, "I44"),
        ("y", {"family": "gamma"}, "I43"),
        (3, {}, "I42"),  # type: ignore[list-item]
    ]
    for what, words, code in cases:
        with pytest.raises(TacitError) as caught:
            cells.fit(what, **words)
        assert caught.value.code == code, (what, words, caught.value)
    fit = cells.fit("y ~ x")
    for text, code in (("z = 0", "I02"), ("x =", "I03")):
        with pytest.raises(InferenceError) as caught_test:
            fit.test(text)
        assert caught_test.value.code == code
    with pytest.raises(InferenceError, match="I03"):
        fit.test()
    with pytest.raises(InferenceError, match="I41"):
        fit.test(column="sex")


def test_a_release_of_nothing_but_noise_is_not_fitted() -> None:
    rows = people(np.random.default_rng(2), 60)
    curator = tc.Curator(rows, SCHEMA, name="few", budget=tc.Budget(epsilon=1))
    poor = curator.release(tc.Histogram(["x", "y"], bins={"x": 20, "y": 20}), epsilon=0.01)
    fit = poor.fit("y ~ x")
    assert all(fit.reasons)
    assert str(fit.reasons[0]) in str(fit.summary())
    with pytest.raises(InferenceError, match="I45"):
        fit.test("x = 0")


def test_tables_and_words_for_a_paper(cells: Any, tmp_path: Path) -> None:
    one, two = cells.fit("y ~ x"), cells.fit("y ~ sex + x")
    made = tc.table(one, two, names=["short", "long"])
    assert [row[0] for row in made.rows][:2] == ["Intercept", "x"]
    assert [row[0] for row in made.rows][-3:] == ["R²", "N", "cost"]  # of linear models
    assert made.rows[2][1] == ""  # not in the short one
    made.save(tmp_path / "table.tex")
    words = tc.methods(one)
    assert "Models were fitted to the released cells of a histogram (Lei, 2011)" in words
    assert "ρ = 2" in words
    assert tc.table(one, cells.margin("sex").estimate()).rows[0][0] == "Intercept"


def test_curves_run_along_a_column_over_the_means_that_were_counted(cells: Any) -> None:
    drawn = cells.fit("y ~ x").curve("x")
    assert len(drawn.values) == 101
    assert abs(drawn.values[50] - 1.15) < 0.03  # noise and sampling: far below
    assert all(low < value < high for low, value, high in zip(drawn.lower, drawn.values, drawn.upper, strict=True))
    circles = drawn.axes.collections[1].get_offsets()
    assert len(circles) == 8
    held = cells.fit("yes ~ x + sex + level", model="logistic").curve("x", at={"sex": "female"})
    assert "sex = female" in held.axes.get_title(loc="left")
    assert len(held.axes.collections) == 1  # no means: they are of all
    steps = cells.fit("y ~ level").curve("level")
    assert steps.terms == ("1", "2", "3", "4", "5")
    for column, code in (("sex", "I41"), ("yes", "I41")):
        with pytest.raises(InferenceError) as caught:
            cells.fit("y ~ x + sex").curve(column)
        assert caught.value.code == code
    with pytest.raises(InferenceError, match="I45"):
        cells.fit("y", family="normal").curve("y")


def test_it_is_found_again_in_a_file(cells: Any, tmp_path: Path) -> None:
    cells.save(tmp_path / "cells.json")
    again = tc.Release.load(tmp_path / "cells.json")
    assert np.array_equal(again.fit("y ~ x").values, cells.fit("y ~ x").values)  # type: ignore[attr-defined]


def test_rows_of_persons_have_standard_errors_that_are_at_most_too_large() -> None:
    """Three equal rows a person: rows of as many people would say three times too much; one a person says it right."""
    rng = np.random.default_rng(3)
    rows = people(rng, 3_000)
    owner = {key: np.repeat(np.asarray(rows[key], dtype=object), 3).tolist() for key in ("x", "y")}
    schema = tc.Schema({"id": tc.PrivacyUnit(max_rows=3), "x": tc.Real(0, 1), "y": tc.Real(-1, 3)})
    curator = tc.Curator(
        {**owner, "id": np.repeat(np.arange(3_000), 3)}, schema, name="persons", budget=tc.Budget(rho=100)
    )
    found = curator.release(tc.Histogram(["x", "y"], bins={"x": 8, "y": 16}), rho=50).fit("y ~ x")
    assert any("persons are counted" in note for note in found.notes)
    single = tc.Curator({"x": rows["x"], "y": rows["y"]}, SCHEMA_XY, name="single", budget=tc.Budget(rho=100))
    alone = single.release(tc.Histogram(["x", "y"], bins={"x": 8, "y": 16}), rho=50).fit("y ~ x")
    ratio = np.sqrt(found.coefficients.sampling_variances / alone.coefficients.sampling_variances)
    assert (ratio > 0.95).all() and (ratio < 1.05).all()  # noqa: PT018  # noise of 50: far below 1 % of either


SCHEMA_XY = tc.Schema({"x": tc.Real(0, 1), "y": tc.Real(-1, 3)})


def test_cells_of_a_release_know_their_total_where_no_row_is_left_out() -> None:
    rng = np.random.default_rng(4)
    schema = tc.Schema({"sex": tc.Category(["f", "m"], missing="unknown"), "yes": tc.Boolean(missing=False)})
    table = {"sex": rng.choice(["f", "m"], 500).tolist(), "yes": (rng.random(500) < 0.5).tolist()}
    curator = tc.Curator(table, schema, name="all", budget=tc.Budget(rho=1))
    made = cells_of(curator.release(tc.Histogram(["sex", "yes"]), rho=0.5))
    assert isinstance(made, CellCounts)
    assert made.total == 500
    projected = fit_cells(made.complete(), "yes ~ sex", "logistic")
    assert abs(projected.criteria["rows"] - 500) < 7 * np.sqrt(made.variance * 6)
    assert abs(made.project().counts.sum() - 500) < 1e-9
    left = cells_of(curator.release(tc.Histogram(["sex"], where="yes"), rho=0.1))
    assert left.total is None


def test_the_error_of_a_formula_is_one_plain_line() -> None:
    """It had the formula once more, with the colours of a terminal; names with signs need backticks."""
    table = {"pay (€)": np.arange(400.0) % 50, "sex": ["f", "m"] * 200}
    schema = tc.Schema({"pay (€)": tc.Real(0, 50), "sex": tc.Category(["f", "m"])})
    cells = tc.Curator(table, schema, budget=tc.Budget(rho=9)).release(tc.Histogram(["pay (€)", "sex"], bins=5), rho=1)
    for formula, hint in (("pay (€) ~ sex", "'`pay (€)` ~ sex'"), ("sex ~ +* sex", "backticks")):
        with pytest.raises(InferenceError) as refused:
            cells.fit(formula)
        assert refused.value.code == "I42"
        assert hint in str(refused.value.hint)
        assert str(refused.value).isprintable()
    with pytest.raises(QueryError, match="backticks"):
        tc.Regression("pay (€) ~ sex")
