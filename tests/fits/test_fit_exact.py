"""Exact counts at the centres of bins give the weighted fits of statsmodels; kernels are what they integrate."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from cell_draws import levels
from scipy.integrate import quad
from scipy.stats import t as t_law

from tacit.fits.cells.cell_arrays import CellAxis, CellCounts
from tacit.fits.custom_losses import Loss, fit_loss
from tacit.fits.effects import marginal_effects, predict, terms_of, wald
from tacit.fits.regression_fits import fit_cells
from tacit.fits.solvers.losses import regression_loss

sm = pytest.importorskip("statsmodels.api")
smf = pytest.importorskip("statsmodels.formula.api")

AXES = (
    CellAxis("x", "continuous", np.linspace(0.0, 1.0, 11)),
    levels("s", "a", "b", "c"),
    CellAxis("y", "continuous", np.linspace(0.0, 6.0, 7)),
    levels("z", "no", "yes"),
)


def table() -> tuple[CellCounts, pd.DataFrame]:
    """Random counts on a grid, and the same as rows with weights."""
    rng = np.random.default_rng(5)
    x, s, y, z = np.meshgrid(*(axis.centers for axis in AXES), indexing="ij")
    mean = np.exp(-((y - 1 - 3 * x - 0.5 * (s == 1)) ** 2) / 3) * (1 + z * x)
    counts = rng.poisson(20 * mean).astype(float)
    rows = pd.DataFrame({"x": x.ravel(), "s": np.array(list("abc"))[s.ravel().astype(int)], "y": y.ravel()})
    rows = rows.assign(z=z.ravel(), w=counts.ravel())
    return CellCounts(AXES, counts, 0.0, counts.sum()), rows[rows.w > 0].reset_index(drop=True)


FAMILIES = {
    "linear": lambda: sm.families.Gaussian(),
    "logistic": lambda: sm.families.Binomial(),
    "probit": lambda: sm.families.Binomial(sm.families.links.Probit()),
    "poisson": lambda: sm.families.Poisson(),
    "gamma": lambda: sm.families.Gamma(sm.families.links.Log()),
}


@pytest.mark.sample(16)
@pytest.mark.parametrize("model", FAMILIES)
@pytest.mark.parametrize("right", ["x + s", "C(s) * x + np.log(x)", "1"])
def test_weighted_fits_of_statsmodels(model: str, right: str) -> None:
    cells, rows = table()
    left = "z" if model in ("logistic", "probit") else "y"
    found = fit_cells(cells, f"{left} ~ {right}", model, "midpoint")
    glm = smf.glm(f"{left} ~ {right}", rows, family=FAMILIES[model](), freq_weights=rows.w)
    expected = glm.fit(tol=1e-13, tol_criterion="params", cov_type="HC0")
    assert set(found.names) == set(expected.params.index)
    order = list(found.names)
    np.testing.assert_allclose(found.values, expected.params[order], rtol=1e-7, atol=1e-8)
    np.testing.assert_allclose(np.diag(found.cov_privacy), 0.0, atol=0)
    # statsmodels' HC0 with frequency weights squares them: repeat the rows instead
    again = smf.glm(f"{left} ~ {right}", rows.loc[rows.index.repeat(rows.w.astype(int))], family=FAMILIES[model]())
    robust = again.fit(tol=1e-13, method="newton", optim_hessian="oim", start_params=expected.params, cov_type="HC0")
    np.testing.assert_allclose(found.cov_sampling, robust.cov_params().loc[order, order], rtol=1e-6, atol=1e-10)
    assert found.criteria["deviance"] == pytest.approx(expected.deviance)
    assert found.criteria["null_deviance"] == pytest.approx(expected.null_deviance)
    assert found.reasons == (None,) * len(order)


def test_predictions_effects_and_wald_tests_are_those_of_statsmodels() -> None:
    cells, rows = table()
    rows = rows.loc[rows.index.repeat(rows.w.astype(int))]
    found = fit_cells(cells, "z ~ s * x", "logistic", "midpoint")
    expected = smf.logit("z ~ s * x", rows).fit(disp=0, cov_type="HC0", tol=1e-12)
    new = pd.DataFrame({"x": [0.2, 0.73], "s": ["c", "a"]})
    made, frame = predict(found, new), expected.get_prediction(new).summary_frame()
    np.testing.assert_allclose(made.values, frame["predicted"], rtol=1e-7)
    np.testing.assert_allclose(made.std_errors, frame["se"], rtol=1e-6)
    test = expected.wald_test(
        terms_of(found, "s")[:, [found.names.index(n) for n in expected.params.index]], scalar=True
    )
    assert wald(found, terms_of(found, "s")).statistic == pytest.approx(float(test.statistic), rel=1e-6)
    assert wald(found, terms_of(found, "s")).p_value == pytest.approx(float(test.pvalue), rel=1e-5)
    one = fit_cells(cells, "z ~ x", "logistic", "midpoint")
    margin = smf.logit("z ~ x", rows).fit(disp=0, cov_type="HC0", tol=1e-12).get_margeff()
    effect = marginal_effects(one)
    assert effect.names == ("x",)
    assert effect.values[0] == pytest.approx(margin.margeff[0], rel=1e-6)


def test_extra_cells_of_used_columns_are_left_out_and_of_others_are_counted() -> None:
    cells, _ = table()
    axes = (replace(AXES[0], extra=("below", "missing")), *AXES[1:3], replace(AXES[3], extra=("missing",)))
    counts = np.random.default_rng(6).poisson(15, [axis.size for axis in axes]).astype(float)
    counts[:10, :, :, :2] = cells.counts
    padded = CellCounts(axes, counts, 0.0, counts.sum())
    used = fit_cells(padded, "y ~ x * s")
    whole = CellCounts((*AXES[:3],), counts[:10].sum(axis=3), 0.0)
    np.testing.assert_allclose(used.values, fit_cells(whole, "y ~ x * s").values, rtol=1e-9)
    both = fit_cells(padded, "z ~ x + s", "logistic")
    whole = CellCounts((*AXES[:2], AXES[3]), counts[:10, :, :, :2].sum(axis=2), 0.0)
    np.testing.assert_allclose(both.values, fit_cells(whole, "z ~ x + s", "logistic").values, rtol=1e-9)


def test_the_marginal_effect_of_a_factor_is_a_mean_difference() -> None:
    cells, rows = table()
    found = fit_cells(cells, "z ~ s + x", "logistic", "midpoint")
    effects = marginal_effects(found)
    by_hand = [
        np.average(np.diff([predict(found, rows.assign(s=s)).values for s in ("a", level)], axis=0)[0], weights=rows.w)
        for level in ("b", "c")
    ]
    np.testing.assert_allclose(effects.values[:2], by_hand, rtol=1e-9)
    assert effects.names == ("s[b]", "s[c]", "x")


@pytest.mark.sample(4)
@pytest.mark.parametrize(("model", "rho"), [("quantile", lambda u: u * (0.3 - (u < 0))), ("huber", None)])
@pytest.mark.parametrize(("tilt", "bend"), [(0.0, 0.0), (1.5, 0.0), (-3.0, 0.0), (1.5, 40.0)])
def test_losses_with_kinks_are_integrated_over_the_bin(model: str, rho, tilt: float, bend: float) -> None:  # type: ignore[no-untyped-def]
    loss = regression_loss(model, tau=0.3, k=0.7)

    def huber(u: float) -> float:
        return u * u / 2 if abs(u) <= 0.7 else 0.7 * abs(u) - 0.7**2 / 2

    rho = rho or huber
    eta = np.array([-2.0, 0.9, 1.0, 1.1, 1.2, 1.9, 4.0])
    v = 0.5**2 / 12
    y = np.tile([1.1, 0.5, tilt, bend, v], (len(eta), 1))
    value, first, second = loss.evaluate(y, eta)

    def exact(at: float) -> float:
        kinks = [t for t in (at - 1.1, at - 1.1 - 0.7, at - 1.1 + 0.7) if -0.25 < t < 0.25]

        def weighed(t: float) -> float:
            return (1 + tilt * t + bend * (t**2 - v)) * rho(1.1 + t - at) / 0.5

        return quad(weighed, -0.25, 0.25, points=kinks or None)[0]

    np.testing.assert_allclose(value, [exact(at) for at in eta], rtol=1e-9)
    step = 1e-5
    np.testing.assert_allclose(first, [(exact(at + step) - exact(at - step)) / 2 / step for at in eta], atol=1e-6)
    assert second.shape == eta.shape


@pytest.mark.long
def test_quantile_and_huber_regressions_near_those_of_rows() -> None:
    """Fine bins: the smoothed loss tends to the one of statsmodels on the rows themselves."""
    rng = np.random.default_rng(8)
    n = 40_000
    x = rng.random(n)
    spread = 0.03 + 0.04 * x
    y = 0.3 + 0.3 * x + spread * rng.standard_t(4, n).clip(-4, 4)
    edges = np.linspace(0.0, 1.0, 41)
    axes = (CellAxis("x", "continuous", edges), CellAxis("y", "continuous", edges))
    cells = CellCounts(axes, np.histogram2d(x, y, [edges, edges])[0], 0.0, n)
    X = sm.add_constant(x)
    for tau in (0.25, 0.5, 0.9):
        found = fit_cells(cells, "y ~ x", "quantile", tau=tau)
        expected = smf.quantreg("y ~ x", pd.DataFrame({"x": x, "y": y})).fit(q=tau)
        # the law of the errors is known here, so its density at the quantile is, too
        density = t_law.pdf(t_law.ppf(tau, 4), 4) / spread
        bread = np.linalg.inv((X.T * density) @ X)
        errors = np.sqrt(np.diag(tau * (1 - tau) * bread @ X.T @ X @ bread))
        assert np.abs((found.values - expected.params.to_numpy()) / errors).max() < 1.0
        assert np.abs(found.std_errors / errors - 1).max() < 0.1
    found = fit_cells(cells, "y ~ x", "huber", k=0.05)
    theta = np.linalg.lstsq(X, y, rcond=None)[0]
    for _ in range(200):
        weight = np.minimum(1, 0.05 / np.maximum(np.abs(y - X @ theta), 1e-12))
        theta = np.linalg.solve((X.T * weight) @ X, X.T @ (weight * y))
    assert np.abs((found.values - theta) / found.std_errors).max() < 0.2


@pytest.mark.long
def test_a_loss_of_ones_own_is_the_model_it_writes_down() -> None:
    import jax
    import jax.numpy as jnp

    cells, _ = table()

    def logistic(x, theta):  # type: ignore[no-untyped-def]
        eta = theta[0] + theta[1] * x["x"]
        return jax.nn.softplus(eta) - x["z"] * eta

    for method in ("midpoint", "corrected"):
        mine = fit_loss(cells, Loss(logistic, ("a", "b")), method)
        theirs = fit_cells(cells, "z ~ x", "logistic", method)
        np.testing.assert_allclose(mine.values, theirs.values, rtol=1e-7)
        np.testing.assert_allclose(mine.cov_sampling, theirs.cov_sampling, rtol=1e-6)

    def normal(x, theta):  # type: ignore[no-untyped-def]
        return jnp.log(theta[1]) + (x["y"] - theta[0]) ** 2 / (2 * theta[1] ** 2)

    found = fit_loss(cells, Loss(normal, ("mean", "sd"), start=(1.0, 1.0)), "midpoint")
    y, w = AXES[2].centers, cells.margin(["y"]).counts
    mean = np.average(y, weights=w)
    np.testing.assert_allclose(found.values, [mean, np.sqrt(np.average((y - mean) ** 2, weights=w))], rtol=1e-8)
    assert jax.numpy.zeros(1).dtype == jnp.float32  # 64 bits were for the fit only
