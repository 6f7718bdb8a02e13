"""The number of terms of a series: sensitivity, noise, risks and coefficients of the rule beside those of releases."""

from __future__ import annotations

from math import isqrt

import numpy as np
import pytest

import tacit as tc
from tacit.estimates.densities.series_coefficients import shrinkage
from tacit.method.orthogonal_series.encoding import SCALE, own_terms, series
from tacit.method.orthogonal_series.estimate import smooth_density
from tacit.method.orthogonal_series.number_of_terms import block_risk, candidates, noise_variance, number_of_terms
from tacit.method.orthogonal_series.query import MOST_TERMS
from tacit.method.orthogonal_series.reference_laws import LAWS, coefficients
from tacit.method.shared.simulated_parts import simulated
from tacit.privacy import Cost, noise_for
from tacit.rows.series_bases import BASES
from tacit.testing.simulate import add_noise, exact_integers, shaped

PRICES = ({"epsilon": 1.0}, {"rho": 0.1}, {"epsilon": 1.0, "delta": 1e-6})


def even(bins: int) -> tuple[float, ...]:
    return tuple(np.linspace(0, 1, bins + 1).tolist())


UNEVEN = (0.0, 0.02, 0.1, 0.35, 0.4, 0.7, 1.0)
COLUMNS = [(even(200),), (UNEVEN,), (even(30), UNEVEN), (even(12), even(6), UNEVEN)]


@pytest.mark.parametrize("basis", BASES)
@pytest.mark.parametrize("ends", COLUMNS, ids=["200", "6", "30 x 6", "12 x 6 x 6"])
def test_few_bins_have_nearly_the_sensitivity_of_all_pairs(basis: str, ends: tuple[tuple[float, ...], ...]) -> None:
    """The rule's distances are those of some pairs: never above the release's own, and not far below."""
    found, whole = candidates(basis, ends), SCALE[len(ends)] ** (2 * len(ends))
    most = MOST_TERMS[len(ends)]
    assert len(found.pairs) == max(own_terms(basis, len(one) - 1, most) for one in ends)
    for m in {1, 2, 3, len(found.pairs)}:
        for neighbors, ours in (("replace-one", found.pairs[m - 1]), ("add-remove", found.singles[m - 1] + 1)):
            form = series(basis, ends, m, neighbors, leaves=False, persons=False)
            assert (0.97 if len(ends) == 1 else 0.8) < ours * whole / form.l2_squared < 1 + 1e-9
            assert found.numbers[m - 1] == len(form.matrix) - (neighbors == "add-remove")


@pytest.mark.parametrize("price", PRICES, ids=str)
def test_noise_is_that_of_a_release(price: dict[str, float]) -> None:
    cost = Cost.of(**price)
    for number, square in ((1, 2**26), (9, 7 * 2**24), (288, 11 * 2**40)):
        law = noise_for(isqrt(square * number) + (number > 1), square, cost, dimension=number)
        assert square * noise_variance(number, cost) == pytest.approx(law.variance(), rel=1e-3)


@pytest.mark.parametrize(("size", "apart"), [(2, 0.35), (5, 0.15), (20, 0.1)])
def test_risk_is_that_of_shrunk_coefficients(size: int, apart: float) -> None:
    """Beside 4,000 simulations, in variances: normal quadrature is rough, and less so of large blocks."""
    rng, square = np.random.default_rng(0), np.array([0.0, 0.5, 2.0, 10.0, 100.0])
    risk = block_risk(square, np.ones(5), np.full(5, size))
    for b, expected in zip(square, risk, strict=True):
        true = np.full(size, np.sqrt(b / size))
        drawn = true + rng.normal(size=(4_000, size)) / np.sqrt(size)
        factors = np.array([shrinkage(one, np.full(size, 1 / size), (size,)) for one in drawn])
        assert ((factors * drawn - true) ** 2).sum(axis=1).mean() == pytest.approx(expected, abs=apart)


def test_coefficients_of_a_normal_law_are_known() -> None:
    """A normal law far from the bounds: its characteristic function, and the integral of its squared density."""
    at, j = list(LAWS).index("narrow"), np.arange(1, 65)
    found = coefficients("cosine", 64)
    values, seconds = found.joint((64,))
    wave = np.exp(-((np.pi * np.arange(1, 129) * 0.03) ** 2) / 2) * np.cos(np.pi * np.arange(1, 129) * 0.3)
    assert np.allclose(values[at, 1:], np.sqrt(2) * wave[:64], atol=1e-9)
    assert np.allclose(seconds[at, 1:], 1 + wave[2 * j - 1], atol=1e-9)
    assert found.norms(1)[at] == pytest.approx(1 / (2 * 0.03 * np.sqrt(np.pi)))
    # of two independent columns products of both
    pair, _ = found.joint((3, 3))
    assert np.allclose(pair[at].reshape(4, 4), np.outer(values[at, :4], values[at, :4]))
    assert np.allclose(found.norms(2)[at], found.norms(1)[at] ** 2)


@pytest.mark.parametrize("basis", BASES)
def test_squared_coefficients_and_the_tail_add_up(basis: str) -> None:
    """Parseval: what is left out falls with m, and is small of smooth laws."""
    found = candidates(basis, (even(200),))
    starts = np.flatnonzero(np.diff(found.place, prepend=-1))
    kept = np.add.reduceat(found.squares, starts, axis=1)
    norms = coefficients(basis, 64).norms(1)
    assert np.allclose(found.tails + kept, norms[:, None] - 1)
    assert np.all(np.diff(found.tails, axis=1) < 1e-9)
    share = found.tails[:, 27] / (norms - 1)
    smooth = [name for name in LAWS if name in ("normal", "chain", "unequal modes", "distant modes")]
    assert max(share[list(LAWS).index(name)] for name in smooth) < 0.02


def test_expected_errors_are_those_of_releases() -> None:
    """Of a peak on a hill, 1,000 rows, ten polynomials: to a tenth, for projection, and five standard errors."""
    rng, n = np.random.default_rng(1), 1_000
    name, t = "peak on a hill", (np.arange(1_000) + 0.5) / 1_000
    density = sum(weight * part(t) / part(t).mean() for weight, part in LAWS[name])
    schema = tc.Schema({"x": tc.Real(0, 1, missing=0.0)})
    shape = shaped(tc.OrthogonalSeries("x", "legendre", terms=10), schema, "replace-one", n, Cost.of(epsilon=1))
    errors = list[float]()
    for _ in range(20):
        rows = rng.choice(t, n, p=density / density.sum()) + (rng.random(n) - 0.5) / 1_000
        found = smooth_density(simulated(shape, add_noise(shape, exact_integers(shape, {"x": rows}), rng)))
        errors.append(float(((found(t) - density) ** 2).mean()))
    made = candidates("legendre", (even(1_024),))
    law = shape.columns[0].law
    noise = np.full(len(made.numbers), law.variance() / (SCALE[1] * n) ** 2)
    expected = made.errors(n, noise)[list(LAWS).index(name), 9]
    assert np.mean(errors) == pytest.approx(expected, abs=0.1 * expected + 5 * np.std(errors) / np.sqrt(20))


def test_the_basis_the_bins_and_the_price_decide() -> None:
    """Legendre's polynomials have more noise than cosines; ten bins tell seven cosines apart."""

    def terms(basis: str, n: int = 1_000, bins: int = 1_024, neighbors: str = "replace-one", **price: float) -> int:
        return number_of_terms(basis, (even(bins),), n, Cost.of(**(price or {"epsilon": 1})), neighbors, leaves=False)

    assert terms("legendre") < terms("cosine") < terms("haar")
    for basis in BASES:
        found = [terms(basis, n) for n in (30, 300, 3_000, 30_000)]
        assert found == sorted(found)
        assert found[0] <= 6 < found[-1]
        assert terms(basis, epsilon=0.05) < terms(basis, epsilon=5)
        # a row that appears moves sums by less than one that is replaced
        assert terms(basis, 10_000) <= terms(basis, 10_000, neighbors="add-remove")
    assert terms("cosine", 10**7, bins=10) == 7
    assert terms("legendre", 10**7, bins=10) == 6


def test_products_of_columns_have_fewer_terms_each() -> None:
    cost = Cost.of(epsilon=1)
    for basis in BASES:
        each = [
            number_of_terms(basis, (even(bins),) * d, 20_000, cost, "replace-one", leaves=False)
            for d, bins in ((1, 1_024), (2, 128), (3, 24))
        ]
        assert each[0] > each[1] > each[2] > 1
