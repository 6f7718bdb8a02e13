"""Pieces of a density, averaged over all cuts, beside sums written out; weights of models."""

from __future__ import annotations

from itertools import combinations, pairwise

import numpy as np
import pytest
from scipy import stats

from tacit.estimates.densities.density_models import CELLS
from tacit.estimates.densities.even_pieces import CHANCES, HEIGHTS, AveragedPieces, pieces
from tacit.estimates.densities.log_density import BinnedLikelihood, averaged, density_of, log_density, of_models
from tacit.estimates.densities.model_weights import Fitted, Mode, weights


def _written_out(values: np.ndarray, variance: np.ndarray, base: np.ndarray) -> tuple[float, np.ndarray]:
    """The same by all cuts one by one, each bin of a piece jointly normal, at each chance."""
    bins, logs, heights = len(values), [], []
    alone = stats.norm.logpdf(values, base, np.sqrt(variance)).sum()
    for chance in CHANCES:
        for cut in (one for many in range(bins) for one in combinations(range(1, bins), many)):
            ends, log, height = [0, *cut, bins], -alone, np.zeros(bins)
            for a, b in pairwise(ends):
                own, g = slice(a, b), base[a:b]
                spread = np.diag(variance[own]) + HEIGHTS**2 * np.outer(g, g)
                log += stats.multivariate_normal(g, spread).logpdf(values[own])
                height[own] = 1 + HEIGHTS**2 * g @ np.linalg.solve(spread, values[own] - g)
            logs.append(log + len(cut) * np.log(chance) + (bins - 1 - len(cut)) * np.log1p(-chance))
            heights.append(height)
    parts = np.exp(np.array(logs) - max(logs))
    return max(logs) + float(np.log(parts.sum() / len(CHANCES))), parts @ np.array(heights) / parts.sum()


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_recursions_add_up_all_cuts(seed: int) -> None:
    rng = np.random.default_rng(seed)
    base, variance = rng.dirichlet(np.full(7, 5.0)), rng.uniform(1e-4, 4e-3, 7)
    values = base * np.array([1, 1, 3, 3, 3, 0.4, 0.4]) + rng.normal(0, np.sqrt(variance))
    gain, heights = pieces(values, variance, base)
    other, means = _written_out(values, variance, base)
    assert gain == pytest.approx(other, abs=1e-8)
    assert np.allclose(heights, means, rtol=1e-8, atol=1e-8)


def test_a_box_both_of_whose_ends_are_needed_is_found_by_pieces() -> None:
    """Four in ten of 1,000 rows in a fourth of the range, with noise of 4 rows a bin; rows and noise are seeded."""
    edges, n, rng = np.linspace(0, 1, 41), 1_000.0, np.random.default_rng(8)
    true = np.where((edges[:-1] > 0.39) & (edges[1:] < 0.66), 0.04 + 0.6 / 40, 0.6 / 40)
    counts = rng.multinomial(int(n), true) + rng.laplace(0, 4.0, 40)
    data = BinnedLikelihood(edges, counts / n, n, np.full(40, 32 / n**2))
    models, box = of_models(data), data.over_bins.T @ (40 * true) / data.over_bins.sum(axis=0)
    smooth = [one for one in models if not (one.steps or isinstance(one.model, AveragedPieces))]
    old, new = (((density_of(each, data) - box) ** 2).mean() for each in (smooth, models))
    assert new < old / 2


def test_a_smooth_density_has_hardly_any_pieces() -> None:
    """Rows are seeded."""
    edges, n, rng = np.linspace(0, 1, 61), 20_000.0, np.random.default_rng(9)
    counts = rng.multinomial(int(n), np.diff(stats.beta(3, 4).cdf(edges)))
    data = BinnedLikelihood(edges, counts / n, n, np.full(60, 8 / n**2))
    models = of_models(data)
    without = [one for one in models if not isinstance(one.model, AveragedPieces)]
    assert len(without) == len(models) - 3
    assert np.abs(averaged(models) - averaged(without)).max() < 0.03


def test_bins_finer_than_cells_have_no_pieces() -> None:
    edges, n = np.linspace(0, 1, 401), 1e5
    values, noise = np.full(400, 1 / 400), np.full(400, 8 / n**2)
    models = of_models(BinnedLikelihood(edges, values, n, noise))
    assert not any(isinstance(one.model, AveragedPieces) for one in models)
    assert np.abs(log_density(edges, values, n, noise) - 1).max() < 0.01


def test_weights_of_rough_models_go_by_residuals_and_their_sum_does_not() -> None:
    mode = Mode(np.zeros(0), np.full(CELLS, 1 / CELLS), np.ones(1), 0.0)
    cut = AveragedPieces(mode.cells)

    class Rough:
        plain = False

    models = [Fitted(Rough(), mode, 0.0, near=near) for near in (0.0, 3.0)]  # type: ignore[arg-type]
    stepped = Fitted(Rough(), mode, 0.0, steps=1)  # type: ignore[arg-type]
    found = weights([*models, stepped, Fitted(cut, mode, 0.0)], 10, 10)
    assert found.sum() == pytest.approx(1)
    assert found[1] > 5 * found[0]
    assert found[:2].sum() == pytest.approx(2 * found[2])
