"""Families from binned counts: estimates and standard errors near those of the rows, and intervals that cover."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats
from scipy.stats import binom

from tacit.errors import InferenceError
from tacit.fits.cells.cell_arrays import CellAxis, CellCounts
from tacit.fits.family_fits import fit_family, histogram_families

TRUE = {
    "normal": (stats.norm(1.0, 0.5), (1.0, 0.5), (-1.5, 3.5)),
    "lognormal": (stats.lognorm(0.4, scale=np.exp(0.2)), (0.2, 0.4), (0.0, 8.0)),
    "exponential": (stats.expon(scale=0.5), (2.0,), (0.0, 6.0)),
    "gamma": (stats.gamma(3.0, scale=0.5), (3.0, 2.0), (0.0, 8.0)),
    "weibull": (stats.weibull_min(2.0, scale=1.5), (2.0, 1.5), (0.0, 6.0)),
    "beta": (stats.beta(3.0, 2.0), (3.0, 2.0), (0.0, 1.0)),
}


def probabilities(family: str, bins: int) -> tuple[CellAxis, np.ndarray]:
    law, _, (low, high) = TRUE[family]
    axis = CellAxis("x", "continuous", np.linspace(low, high, bins + 1))
    p = np.diff(law.cdf(axis.bounds))
    return axis, p / p.sum()


def test_every_family_is_tested() -> None:
    assert set(TRUE) == set(histogram_families())


@pytest.mark.sample(6)
@pytest.mark.parametrize("family", TRUE)
def test_exact_probabilities_give_the_parameters_and_fisher_s_information(family: str) -> None:
    law, truth, _ = TRUE[family]
    axis, p = probabilities(family, 80)
    found = fit_family(CellCounts((axis,), 1e4 * p, 0.0), "x", family)
    errors = found.std_errors
    assert np.abs((found.values - truth) / errors).max() < 0.25  # of a standard error at 1e4 rows
    # the information from the spread of the score, by central differences of the log-density over the law itself
    x = law.ppf((np.arange(4_000) + 0.5) / 4_000)
    model = histogram_families()[family]
    import jax

    from tacit.base.lazy_imports import double

    with double():
        scores = np.asarray(
            jax.vmap(jax.grad(lambda t, one: model.log_density(one, model.bind(t))), (None, 0))(np.array(truth), x)
        )
    expected = np.sqrt(np.diag(np.linalg.inv(scores.T @ scores / len(x))) / 1e4)
    np.testing.assert_allclose(errors, expected, rtol=0.05)


@pytest.mark.long
def test_intervals_of_a_gamma_shape_cover() -> None:
    """80 releases of 20,000 rows at epsilon 1, 30 bins; coverage of at least 0.93, false alarm 5e-7 a bound."""
    axis, p = probabilities("gamma", 30)
    rng = np.random.default_rng(1)
    hits = np.zeros(2, dtype=int)
    for _ in range(80):
        cells = CellCounts((axis,), rng.multinomial(20_000, p) + rng.laplace(0, 2.0, 30), 8.0, 20_000.0)
        found = fit_family(cells, "x", "gamma")
        assert found.reasons == (None, None)
        hits += np.abs(found.values - TRUE["gamma"][1]) <= 1.959964 * found.std_errors
    assert (hits >= binom.ppf(5e-7, 80, 0.93)).all(), hits


def test_what_has_no_family() -> None:
    axis = CellAxis("x", "continuous", np.linspace(-1.0, 1.0, 9))
    cells = CellCounts((axis,), np.ones(8), 0.0)
    for words, code in (
        (("x", "gama"), "I44"),
        (("y", "gamma"), "I41"),
        (("x", "gamma"), "I43"),
        (("x", "beta"), "I43"),
    ):
        with pytest.raises(InferenceError) as caught:
            fit_family(cells, *words)
        assert caught.value.code == code
    found = fit_family(CellCounts((axis,), -np.ones(8), 1.0), "x", "normal")
    assert "add up to -8" in str(found.reasons[0])
