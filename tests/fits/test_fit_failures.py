"""What cannot be fitted has a reason or an error that says which, never a wrong number."""

from __future__ import annotations

import numpy as np
import pytest
from cell_draws import continuous, levels, line, logistic

from tacit.errors import InferenceError
from tacit.fits.cells.cell_arrays import CellAxis, CellCounts
from tacit.fits.custom_losses import Loss, fit_loss
from tacit.fits.effects import marginal_effects, predict, terms_of, wald
from tacit.fits.fit import prepared
from tacit.fits.regression_fits import fit_cells


def exact(counts, variance: float = 0.0, total: float | None = None) -> CellCounts:  # type: ignore[no-untyped-def]
    counts = np.asarray(counts, dtype=float)
    return CellCounts((continuous("x", len(counts)), levels("y", "no", "yes")), counts, variance, total)


def test_separation() -> None:
    counts = [[50, 0], [50, 0], [0, 50], [0, 50], [0, 50]]
    for method in ("corrected", "midpoint"):
        for model in ("logistic", "probit"):
            found = fit_cells(exact(counts), "y ~ x", model, method)
            assert all("separation" in str(reason) or "no fit" in str(reason) for reason in found.reasons)
            assert np.isnan(found.values).all()


def test_quasi_separation_by_a_level() -> None:
    axes = (levels("s", "a", "b", "c"), levels("y", "no", "yes"))
    cells = CellCounts(axes, np.array([[50.0, 20.0], [20.0, 40.0], [30.0, 0.0]]), 0.0)
    found = fit_cells(cells, "y ~ s", "logistic")
    assert "separation" in str(found.reasons[0])
    assert found.work is None


def test_an_empty_level_of_a_factor_is_not_identified() -> None:
    axes = (levels("s", "a", "b", "c"), levels("y", "no", "yes"))
    cells = CellCounts(axes, np.array([[50.0, 20.0], [20.0, 40.0], [0.0, 0.0]]), 0.0)
    for model in ("logistic", "linear"):
        found = fit_cells(cells, "y ~ s", model)
        assert "no fit" in str(found.reasons[2])
        assert np.isnan(found.values).all()


def test_singular_designs_name_their_terms() -> None:
    found = fit_cells(exact(np.full((6, 2), 9.0)), "y ~ x + I(2 * x - 1)", "logistic")
    assert "singular" in str(found.reasons[0])
    assert "I(2 * x - 1)" in str(found.reasons[0])


def test_nothing_but_noise() -> None:
    rng = np.random.default_rng(2)
    hopeless = line("beta22", 0.3, 0.4, 0.1).draw(200, 0.02, rng)
    found = fit_cells(hopeless, "y ~ x")
    assert all(found.reasons)
    negative = exact(-np.ones((5, 2)), variance=8.0)
    assert "add up to -10" in str(fit_cells(negative, "y ~ x", "logistic").reasons[0])
    assert "add up to 0" in str(fit_cells(exact(np.zeros((5, 2))), "y ~ x", "logistic").reasons[0])
    few = exact(np.ones((5, 2)), variance=800.0)
    assert "with noise of 89" in str(fit_cells(few, "y ~ x", "logistic").reasons[0])


@pytest.mark.long
def test_no_simulated_fit_at_hopeless_prices_claims_to_hold() -> None:
    """100 draws where the noise moves the Hessian by far more than 15%: each has a reason."""
    rng = np.random.default_rng(3)
    for population in (logistic("uniform", -1.0, 2.0), line("uniform", 0.3, 0.4, 0.1)):
        for _ in range(50):
            found = fit_cells(population.draw(300, 0.03, rng), population.formula, population.model)
            assert all(found.reasons)


def test_where_the_signed_equation_has_no_solution_the_clipped_one_is_given_and_said_to_be() -> None:
    rng = np.random.default_rng(5)
    population = logistic("uniform", -2.0, 4.0)
    seen = 0
    for _ in range(60):  # about one in five at this price
        found = fit_cells(population.draw(1_000, 0.05, rng), "y ~ x", "logistic")
        assert all(found.reasons)
        if "clipped at 0" in str(found.reasons[0]):
            seen += 1
            assert np.isfinite(found.values).all()
    assert seen > 0


def test_biased_counts_have_no_standard_errors() -> None:
    cells = logistic("beta22", -1.0, 2.0).draw(5_000, 1.0, np.random.default_rng(4))
    for method in ("lei-2011-nonnegative", "lei-2011-threshold"):
        found = fit_cells(cells, "y ~ x", "logistic", method)
        assert np.isfinite(found.values).all()
        assert "biased" in str(found.reasons[0])
    assert "simplex" in str(fit_cells(cells.simplex(), "y ~ x", "logistic").reasons[0])
    assert fit_cells(cells, "y ~ x", "logistic", "lei-2011").reasons[0] is None


def test_published_methods_need_no_noise_and_say_what_they_did() -> None:
    cells = exact(np.array([[90, 20], [70, 30], [40, 60], [20, 80]]), total=410.0)
    midpoint = fit_cells(cells, "y ~ x", "logistic", "midpoint").values
    for method in ("lei-2011", "lei-2011-nonnegative", "lei-2011-threshold"):
        found = fit_cells(cells, "y ~ x", "logistic", method)
        np.testing.assert_allclose(found.values, midpoint)  # of exact counts nothing is cut
        assert any("midpoints" in note for note in found.notes)


def test_lei_s_threshold_is_half_a_log_n_over_alpha() -> None:
    """Scale 2 / alpha under replace-one, 1 / alpha under add-remove; the same alpha, so the same cut."""
    alpha, n = 0.5, 1_000.0
    cut = 0.5 * np.log(n) / alpha
    counts = np.array([cut - 1e-9, cut + 1e-9, n - 2 * cut])
    for total, scale in ((n, 2 / alpha), (None, 1 / alpha)):
        kept = prepared(
            CellCounts((levels("s", "a", "b", "c"),), counts, 2 * scale**2, total), "lei-2011-threshold"
        ).counts
        assert (kept > 0).tolist() == [False, True, True]


@pytest.mark.parametrize(
    ("formula", "model", "code", "words"),
    [
        ("y ~ age", "logistic", "I41", "which has x, y, c, s"),
        ("y ~ 0", "logistic", "I42", "nothing to fit"),
        ("y ~ x | c", "logistic", "I42", "no formula"),
        ("y ~~ x", "logistic", "I42", "no formula"),
        ("~ x", "logistic", "I42", "no single response"),
        ("y ~ np.log(x - 1)", "logistic", "I42", "no finite value"),
        ("y ~ nothing(x)", "logistic", "I41", "'nothing' is not in this release"),
        ("y ~ np.nothing(x)", "logistic", "I42", "cannot be evaluated"),
        ("s ~ x", "logistic", "I43", "3 levels"),
        ("c ~ x", "linear", "I43", "too coarse as a response"),
        ("I(x - 0.5) ~ y", "poisson", "I43", "0 or more"),
        ("I(x - 0.5) ~ y", "gamma", "I43", "above 0"),
        ("I(4 * x) ~ y", "logistic", "I43", "between 0 and 1"),
        ("y ~ x", "quantile", "I43", "released in bins"),
        ("np.log(x) ~ y", "huber", "I43", "released in bins"),
        ("y ~ x", "logit", "I44", "no model is called"),
    ],
)
def test_errors_say_which(formula: str, model: str, code: str, words: str) -> None:
    axes = (continuous("x", 6), levels("y", "no", "yes"), continuous("c", 3), levels("s", "p", "q", "r"))
    cells = CellCounts(axes, np.ones((6, 2, 3, 3)), 0.0)
    with pytest.raises(InferenceError, match=words) as caught:
        fit_cells(cells, formula, model)
    assert caught.value.code == code


def test_parameters_and_methods_out_of_range() -> None:
    cells = exact(np.ones((5, 2)))
    for words in ({"method": "lei"}, {"model": "quantile", "tau": 1.0}, {"model": "huber", "k": 0.0}):
        with pytest.raises(InferenceError, match="I44"):
            fit_cells(cells, "y ~ x", **words)  # type: ignore[arg-type]


def test_one_bin_says_nothing_of_a_slope() -> None:
    axes = (continuous("x", 1), levels("y", "no", "yes"))
    with pytest.raises(InferenceError, match="one bin"):
        fit_cells(CellCounts(axes, np.ones((1, 2)), 0.0), "y ~ x", "logistic")


def test_nothing_follows_from_no_fit() -> None:
    none = fit_cells(exact([[9, 0], [9, 0], [0, 9], [0, 9]]), "y ~ x", "logistic")
    for act in (lambda: predict(none, {"x": [0.5]}), lambda: marginal_effects(none), lambda: wald(none, np.eye(2))):
        with pytest.raises(InferenceError, match="I45"):
            act()
    some = fit_cells(exact([[9, 2], [9, 3], [4, 9], [2, 9]]), "y ~ x", "logistic")
    with pytest.raises(InferenceError, match="I03"):
        wald(some, np.ones((2, 2)))
    with pytest.raises(InferenceError, match="I41"):
        terms_of(some, "z")


def test_losses_that_are_none_or_have_no_minimum() -> None:
    cells = CellCounts((continuous("x", 8),), np.arange(8.0), 0.0)
    with pytest.raises(InferenceError, match="I46"):
        fit_loss(cells, Loss(lambda x, theta: theta, ("a", "b")))
    with pytest.raises(InferenceError, match="I46"):
        fit_loss(cells, Loss(lambda x, theta: theta[0], ("a",)))  # reads no column
    with pytest.raises(InferenceError, match="I46"):
        fit_loss(cells, Loss(lambda x, theta: x["x"] * theta[0], ("a",), start=(1.0, 2.0)))
    with pytest.raises(InferenceError, match="I41"):
        fit_loss(cells, Loss(lambda x, theta: (x["z"] - theta[0]) ** 2, ("a",)))
    for loss in (
        Loss(lambda x, theta: -((x["x"] - theta[0]) ** 2), ("a",)),  # a maximum
        Loss(lambda x, theta: (x["x"] - theta[0] - theta[1]) ** 2, ("a", "b")),  # a valley
        Loss(lambda x, theta: x["x"] * theta[0], ("a",)),  # falls forever
    ):
        found = fit_loss(cells, loss)
        assert all("no fit" in str(reason) for reason in found.reasons)


def test_bins_too_wide_for_the_residuals_are_noted() -> None:
    rng = np.random.default_rng(7)
    for sd, noted in ((0.06, True), (0.13, False)):
        found = fit_cells(line("beta22", 0.4, 0.2, sd).draw(100_000, 1.0, rng), "y ~ x")
        assert any("little for bins of y" in note for note in found.notes) is noted
    found = fit_cells(line("beta22", 0.4, 0.2, 0.13).draw(100_000, 1.0, rng), "y ~ x", "quantile")
    assert any("little for bins of y" in note for note in found.notes)


def test_several_minima_are_noted() -> None:
    cells = CellCounts((continuous("x", 8),), np.arange(8.0), 0.0)
    found = fit_loss(cells, Loss(lambda x, theta: (x["x"] ** 2 + 1 - theta[0] ** 2) ** 2, ("a",), start=(0.5,)))
    assert any("several minima" in note for note in found.notes)


def test_numbers_of_levels_are_numbers_in_formulas() -> None:
    years = CellAxis("year", "levels", labels=("2003", "2004", "2005"), numbers=np.array([2003.0, 2004.0, 2005.0]))
    cells = CellCounts((years, levels("y", "no", "yes")), np.array([[5.0, 5.0], [4.0, 6.0], [3.0, 7.0]]), 0.0)
    assert fit_cells(cells, "y ~ I(year - 2003)", "logistic").names == ("Intercept", "I(year - 2003)")
    assert fit_cells(cells, "y ~ C(year)", "logistic").names == ("Intercept", "C(year)[T.2004.0]", "C(year)[T.2005.0]")
    assert fit_cells(cells, "year ~ y").values == pytest.approx(
        [2003 + 10 / 12, 13 / 18 + 7 / 18 - 5 / 18 - 10 / 12 + 5 / 18]
    )
