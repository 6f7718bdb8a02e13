"""Real rows, those that come with statsmodels: what bins do to least squares, corrected and as published."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import chi2

from tacit.fits.cells.cell_arrays import CellAxis, CellCounts
from tacit.fits.heaps import hidden_heaps
from tacit.fits.heaps.irregular_heaps import Irregular
from tacit.fits.regression_fits import fit_cells

sm = pytest.importorskip("statsmodels.api")
TERMS = ("Intercept", "lpi", "limits[T.yes]", "good[T.yes]")


@pytest.fixture(scope="module")
def rand() -> tuple[CellCounts, np.ndarray, np.ndarray]:
    """The RAND Health Insurance Experiment, 20,190 people: cells, OLS on the rows and its standard errors."""
    data = sm.datasets.randhie.load_pandas().data
    y, lpi = np.clip(data["disea"], 0, 59.999), np.clip(data["lpi"], 0, 7.999)
    limits, good = (data["physlm"] > 0).astype(float), data["hlthg"].astype(float)
    axes = (
        CellAxis("disea", "continuous", np.linspace(0, 60, 21)),
        CellAxis("lpi", "continuous", np.linspace(0, 8, 11)),
        CellAxis("limits", "levels", labels=("no", "yes")),
        CellAxis("good", "levels", labels=("no", "yes")),
    )
    edges = [one.bounds if one.kind == "continuous" else np.arange(3) - 0.5 for one in axes]
    counts = np.histogramdd(np.stack([y, lpi, limits, good], axis=1), edges)[0]
    ols = sm.OLS(np.asarray(y), np.column_stack([np.ones(len(y)), lpi, limits, good])).fit()
    return CellCounts(axes, counts, 0.0, float(len(y))), np.asarray(ols.params), np.asarray(ols.bse)


def values(cells: CellCounts, method: str) -> tuple[np.ndarray, np.ndarray]:
    fit = fit_cells(cells, "disea ~ lpi + limits + good", "linear", method)  # type: ignore[arg-type]
    at = [fit.names.index(term) for term in TERMS]
    return fit.values[at], fit.std_errors[at]


def test_bins_alone_harm_the_corrected_fit_less(rand: tuple[CellCounts, np.ndarray, np.ndarray]) -> None:
    cells, ols, _ = rand
    old, new = (np.abs(values(cells, method)[0] - ols) for method in ("lei-2011", "corrected"))
    assert (new < old).all()


def test_with_noise_errors_are_those_that_are_told(
    rand: tuple[CellCounts, np.ndarray, np.ndarray], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whether counts show heaps at irregular places, noise decides here; this is of the errors where they do not.

    40 perturbations at epsilon = 1: mean squares about the fit without noise, beside what standard errors say of it.

    Chi-square of 40 degrees, beyond either end with probability 1e-8, four terms: a false alarm in 1.2e7.
    """
    none = Irregular(np.zeros(20, dtype=np.bool_), 0.0)
    monkeypatch.setattr(
        hidden_heaps, "irregular_heaps", lambda counts, *_: replace(none, alone=none.alone[: len(counts)])
    )
    cells, ols, _ = rand
    rng = np.random.default_rng(3)
    exact, plain = values(cells, "corrected")
    squares, told = np.zeros(4), np.zeros(4)
    for _ in range(40):
        noise = rng.laplace(0, 2, cells.counts.shape)
        found, errors = values(CellCounts(cells.axes, cells.counts + noise, 8.0, cells.total), "corrected")
        squares += (found - exact) ** 2 / 40
        told += errors**2 / 40
    low, high = chi2.ppf([1e-8, 1 - 1e-8], 40) / 40
    assert ((squares > low * (told - plain**2)) & (squares < high * (told - plain**2))).all()
    assert (np.abs(exact - ols) < 2 * plain).all()
