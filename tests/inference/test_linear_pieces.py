"""Densities straight between kinks, averaged over all kinks and heights, beside sums written out."""

from __future__ import annotations

import warnings
from itertools import combinations

import numpy as np
import pytest
from scipy import stats

from tacit.estimates.densities.density_models import middles
from tacit.estimates.densities.even_pieces import AveragedPieces
from tacit.estimates.densities.linear_pieces import CHANCES, HEIGHTS, MOST, POINTS, heights, kinked
from tacit.estimates.densities.log_density import BinnedLikelihood, density_of, log_density, of_models
from tacit.estimates.densities.model_weights import Fitted


def _written_out(
    values: np.ndarray, variance: np.ndarray, edges: np.ndarray, near: np.ndarray
) -> tuple[float, np.ndarray]:
    """The same by all sets of kinks one by one, and all heights at these."""
    own, bins, middle = heights(edges, variance, near), len(values), (edges[1:] + edges[:-1]) / 2
    widths = np.diff(edges)
    alone = stats.norm.logpdf(values, widths, np.sqrt(variance)).sum()
    apart = np.diff(own.grid[:, :2], axis=1)[:, 0]
    whole, mean = 0.0, np.zeros(len(middles()))
    for chance in CHANCES:
        for kinks in (one for many in range(bins) for one in combinations(range(1, bins), many)):
            at = np.array([0, *kinks, bins])
            every = np.stack([one.ravel() for one in np.meshgrid(*own.grid[at], indexing="ij")], axis=1)
            over, places = (
                np.array([np.interp(x, edges[at], row) for row in np.eye(len(at))]) for x in (middle, middles())
            )
            log = stats.norm.logpdf(values, (every @ over) * widths, np.sqrt(variance)).sum(axis=1) - alone
            log += stats.norm.logpdf(every, 1, HEIGHTS).sum(axis=1) + np.log(apart[at]).sum()
            log += len(kinks) * np.log(chance) + (bins - 1 - len(kinks)) * np.log1p(-chance)
            part = np.exp(log)
            whole += part.sum()
            mean += (part @ every) @ places
    return float(np.log(whole / len(CHANCES))), mean / whole


@pytest.mark.parametrize("seed", [0, 1])
def test_recursions_add_up_all_kinks_and_heights(seed: int) -> None:
    rng = np.random.default_rng(seed)
    edges = np.array([0.0, 0.3, 0.55, 1.0])
    variance = rng.uniform(1e-3, 4e-3, 3)
    values = np.diff(edges) * np.array([0.6, 1.6, 0.9]) + rng.normal(0, np.sqrt(variance))
    near = np.interp(middles(), [0, 0.5, 1], [0.5, 1.6, 0.7])
    gain, density = kinked(values, variance, edges, near)
    other, mean = _written_out(values, variance, edges, near)
    assert gain == pytest.approx(other, abs=1e-8)
    assert np.allclose(density, mean, rtol=1e-8, atol=1e-8)


def test_nodes_are_some_of_the_edges_and_heights_are_above_none() -> None:
    edges = np.linspace(0, 1, 131)
    own = heights(edges, np.full(130, 1e-5), np.full(256, 0.01))
    assert own.nodes[0] == 0.0
    assert own.nodes[-1] == 1.0
    assert MOST / 2 < len(own.nodes) - 1 <= MOST
    assert np.abs(own.nodes[:, None] - edges).min(axis=1).max() < 1e-12
    assert own.grid.shape == (len(own.nodes), POINTS)
    assert own.grid.min() > 0


def _binned(law: object, n: int, bins: int, seed: int) -> BinnedLikelihood:
    """Noisy shares of a law, with noise of 6 rows a bin; rows and noise are seeded."""
    edges, rng = np.linspace(0, 1, bins + 1), np.random.default_rng(seed)
    counts = rng.multinomial(n, np.diff(law.cdf(edges))) + rng.laplace(0, 4.0, bins)  # type: ignore[attr-defined]
    return BinnedLikelihood(edges, counts / n, float(n), np.full(bins, 32 / n**2))


def _without_kinks(models: list[Fitted]) -> list[Fitted]:
    return [one for one in models if not (isinstance(one.model, AveragedPieces) and one.model.kinked)]


def test_a_roof_is_nearer_with_kinks() -> None:
    """Of 10,000 rows, over four seeds."""
    law, errors = stats.triang(0.4), []
    for seed in range(4):
        data = _binned(law, 10_000, 100, seed)
        models = of_models(data)
        assert len(_without_kinks(models)) == len(models) - 1
        both = (density_of(each, data) for each in (_without_kinks(models), models))
        errors.append([((one - law.pdf(middles())) ** 2).mean() for one in both])
    old, new = np.mean(errors, axis=0)
    assert new < 0.85 * old


def test_a_hill_hardly_changes_by_kinks() -> None:
    data = _binned(stats.beta(4, 3), 10_000, 100, 5)
    models = of_models(data)
    assert np.abs(density_of(models, data) - density_of(_without_kinks(models), data)).max() < 0.01


@pytest.mark.sample(3)
@pytest.mark.parametrize("bins", [2, 3, 5])
def test_few_bins_have_kinks_too(bins: int) -> None:
    found = density_of(of_models(data := _binned(stats.uniform(), 10_000, bins, 7)), data)
    assert np.abs(found - 1).max() < 0.1


def test_sums_of_very_many_rows_neither_overflow_nor_vanish() -> None:
    """A box of a billion rows, whose ends no straight line follows."""
    edges, n = np.linspace(0, 1, 101), 1e9
    values = np.where((edges[:-1] > 0.3) & (edges[:-1] < 0.5), 0.03, 0.005)
    values = values / values.sum()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = log_density(edges, values, n, np.full(100, 32 / n**2))
        own = kinked(values, values / n, edges, found)
    assert np.isfinite(found).all()
    assert np.isfinite(own[0])
    assert own[1].min() >= 0
    assert found.mean() == pytest.approx(1)
