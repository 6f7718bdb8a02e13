"""Variances that estimates state, against simulated noise on one small table.

Noise is wide, so that what is second order in it is a part of everything; the floors below which a variance is not
taken, which would hide that, are lifted.  All is seeded.
"""

from __future__ import annotations

from typing import Any

import former_encodings
import numpy as np
import pytest
from averages import agrees, varies

import tacit as tc
from tacit.curator.mechanisms import design
from tacit.estimates.noisy_terms import column_terms, covariance
from tacit.estimates.noisy_terms import interval_inversion as invert
from tacit.estimates.noisy_terms.column_terms import terms_of
from tacit.estimates.noisy_terms.noisy_moments import moments, powers
from tacit.estimates.terms import ColumnTerms
from tacit.method.shared import encoding as forms
from tacit.method.shared import encoding as forms_encoding
from tacit.method.shared import weighted_encoding as weighted_forms
from tacit.method.shared.measurement import Public
from tacit.method.shared.simulated_parts import empty_parts
from tacit.privacy import Cost
from tacit.release.parts import Part
from tacit.testing.simulate import exact_integers
from tacit.testing.simulated_parties import sums

R = 100_000
SCHEMA = tc.Schema(
    {
        "x": tc.Real(-2, 6, missing=0),
        "present": tc.Real(-2, 6, missing="exclude"),
        "yes": tc.Boolean(missing=False),
        "w": tc.Real(0, 3, missing=0),
    }
)
X = np.random.default_rng(3).uniform(1.5, 4.5, 12)
LOW, HIGH = -2.0, 6.0


@pytest.fixture
def unfloored(monkeypatch: pytest.MonkeyPatch) -> None:
    """A variance as it is estimated, below 0 too: what is unbiased is that, not the larger of it and a floor."""
    monkeypatch.setattr(column_terms, "FLOOR", -1e9)
    monkeypatch.setattr(invert, "FLOOR", -1e9)


def released(
    query: Any, table: dict[str, Any], rows: int | None, repeats: int = R, **price: Any
) -> tuple[Part, np.ndarray, ColumnTerms]:
    """A question's one part, its exact integers and the terms of so many releases of the table."""
    neighbors = "add-remove" if rows is None else "replace-one"
    shape = design(query, Public(SCHEMA, neighbors, rows), Cost.of(**price))
    (column,), (part,), (exact,) = shape.columns, empty_parts(shape), exact_integers(shape, table)
    noise = column.law.sample(exact.size * repeats, np.random.default_rng(1)).reshape(repeats, exact.shape[1])
    made = terms_of(type(query).__name__, part, rows=rows, grouped=False, target="population", cells=exact[0] + noise)
    return part, exact, made


@pytest.mark.parametrize("price", [{"rho": 0.5}, {"epsilon": 4}], ids=str)
def test_the_variance_of_a_mean_is_that_of_the_textbook(unfloored: None, price: Any) -> None:
    """s**2 / n with the divisor n - 1, the noise in the square of the mean taken off; and the noise's own variance."""
    _, _, made = released(tc.Mean("x"), {"x": X}, len(X), **price)
    agrees(made.variance, X.var(ddof=1) / len(X), 1e-6)
    agrees(made.value, X.mean(), 1e-6)
    varies(made.value, made.privacy_variance[0])


@pytest.mark.parametrize("price", [{"rho": 1}, {"epsilon": 6}], ids=str)
def test_the_variance_of_a_total_of_known_size(unfloored: None, price: Any) -> None:
    """n s**2, from squares whose middle is not 0 (center 2 of -2 to 6)."""
    _, _, made = released(tc.Sum("x"), {"x": X}, len(X), **price)
    stated = made.variance - made.rank_one**2
    agrees(stated, len(X) * X.var(ddof=1), 1e-5)
    agrees(made.value, X.sum(), 1e-5)
    varies(made.value, made.privacy_variance[0])


@pytest.mark.parametrize(
    ("name", "price", "own"),
    [("x", {"rho": 1}, 2), ("x", {"epsilon": 6}, 5), ("present", {"rho": 1}, 2)],
    ids=["gaussian", "laplace", "present-gaussian"],
)
@pytest.mark.parametrize("mean", [-0.4, 2.0, 3.0])
def test_the_floor_under_the_variance_of_a_total_is_the_deviation_of_its_noise(
    unfloored: None, monkeypatch: pytest.MonkeyPatch, name: str, price: Any, own: int, mean: float
) -> None:
    """Of n s**2 (center 2 of -2 to 6): the noise in sum x**2 - (sum x)**2 / n, times n / (n - 1).

    Its variance is the linear part, which the code states, and that of (noise in the sum)**2 / n, `own` squared
    variances of the noise of the sum: 2 of normal noise, 5 of Laplace noise.  100,000 draws; false alarms: `agrees`.
    """
    n = len(X)
    x = X - X.mean() + mean
    part, exact, made = released(tc.Sum(name), {name: x}, n, **price)
    second = own * (made.privacy_variance[0] / (n - 1)) ** 2
    monkeypatch.setattr(column_terms, "FLOOR", 1.0)
    calm = terms_of("Sum", part, rows=n, grouped=False, target="population", cells=exact[0].astype(float)[None])
    floor = calm.sampling_variance[0]
    assert floor > n * x.var(ddof=1) * 1.01  # so it is the floor that is stated
    varies(made.variance - made.rank_one**2, floor**2 + second, 1e-4)


def test_the_variances_of_a_total_and_of_a_mean_are_the_same() -> None:
    """A total is n means, and so are its errors, floors and all; small noise, so that no bound of a variance is met."""
    x = np.linspace(2.9, 3.1, 50)
    _, _, total = released(tc.Sum("x"), {"x": x}, 50, 1000, rho=2)
    _, _, mean = released(tc.Mean("x"), {"x": x}, 50, 1000, rho=2)
    assert np.unique(np.round(mean.variance, 9)).size > 500
    assert mean.variance.min() > 10 * x.var() / 50  # they are floors
    assert total.sampling_variance / 50**2 == pytest.approx(mean.variance)


def test_the_variance_of_a_total_of_private_size(unfloored: None) -> None:
    """Rows drawn anew, their number Poisson: sum x**2."""
    _, _, made = released(tc.Sum("x"), {"x": X}, None, rho=2)
    assert not made.rank_one.any()
    agrees(made.variance, (X**2).sum(), 1e-3)
    varies(made.value, made.privacy_variance[0])


def test_a_variance_is_free_of_the_noise_in_its_mean() -> None:
    """The square of the noise in the mean is put back, the divisor is n - 1: unbiased to all orders in the noise."""
    x = np.repeat([-1.7, 5.6, 1.0, 3.1], [8, 7, 2, 3])
    part, exact, made = released(tc.Variance("x"), {"x": x}, len(x), 150_000, rho=6)
    low, high = made.value.min(), made.value.max()
    assert low > 0
    assert high < 16  # no draw is cut at an end
    calm = terms_of("Variance", part, rows=len(x), grouped=False, target="population", cells=exact.astype(float))
    assert calm.value[0] > 8  # the squared noise of the mean, of some 3% of it, is clearly seen
    clamped = (np.round((x + 2) / 8 * 4096) / 4096 * 8 - 2).var(ddof=1)
    agrees(made.value, clamped, 1e-4)


def test_the_error_of_a_variance_is_that_of_its_fourth_moment() -> None:
    """Tables drawn anew, hardly any noise: (m4 - s**4) / n; and of noise on one table: its own part."""
    n, repeats = 200, 12_000
    shape = design(tc.Variance("x"), Public(SCHEMA, "replace-one", n), Cost.of(rho=500))
    (column,), (part,) = shape.columns, empty_parts(shape)
    x = -2 + 8 * np.random.default_rng(5).beta(2, 3, (repeats, n))
    cells = sums(column, x)
    noisy = cells + column.law.sample(cells.size, np.random.default_rng(6)).reshape(cells.shape)
    made = terms_of("Variance", part, rows=n, grouped=False, target="population", cells=noisy.astype(float))
    varies(made.value, (made.variance + made.privacy_variance).mean(), 0.015)
    fixed = cells[:1] + 30 * (noisy - cells)
    wide = Part(**{**part.__dict__, "law": type(part.law)(part.law.scale * 30)})
    told = terms_of("Variance", wide, rows=n, grouped=False, target="table", cells=fixed.astype(float))
    varies(told.value, told.privacy_variance.mean(), 0.01)


@pytest.mark.parametrize("price", [{"rho": 0.5}, {"epsilon": 2}], ids=str)
def test_the_error_of_a_mean_of_private_size(price: Any) -> None:
    """The noise in the size moves a mean against its distance from the middle: both parts of the error, linearised.

    Relative noise of the size is below 3%: its square is what a linear error leaves out.
    """
    n, repeats = 300, 10_000
    shape = design(tc.Mean("x"), Public(SCHEMA, "add-remove", None), Cost.of(**price))
    (column,), (part,) = shape.columns, empty_parts(shape)
    x = np.random.default_rng(7).uniform(3, 6, (repeats, n))
    cells = sums(column, x)
    noise = column.law.sample(cells.size, np.random.default_rng(8)).reshape(cells.shape)
    made = terms_of("Mean", part, rows=None, grouped=False, target="population", cells=(cells + noise).astype(float))
    agrees(made.sampling_variance, 0.75 / n, 0.01 * 0.75 / n)
    varies(made.value, (made.sampling_variance + made.privacy_variance).mean(), 0.01)
    fixed = terms_of("Mean", part, rows=None, grouped=False, target="table", cells=(cells[:1] + noise).astype(float))
    varies(fixed.value, fixed.privacy_variance.mean(), 0.01)
    assert not fixed.variance.any()


def test_shares_of_known_size() -> None:
    """p (1 - p) / (n - 1), which no noise in the square can exceed; and the variance of a noisy count over n."""
    yes = np.arange(50) < 15
    part, _, made = released(tc.Mean("yes"), {"yes": yes}, 50, rho=0.5)
    varies(made.value, made.privacy_variance[0])
    exact = terms_of("Mean", part, rows=50, grouped=False, target="population", cells=np.array([[15.0]]))
    assert exact.variance[0] == pytest.approx(0.3 * 0.7 / 49)


def test_counts_of_groups_have_the_covariance_of_multinomial_draws() -> None:
    """Terms off the diagonal too: -n p q; a diagonal is off by the noise in its square over n, stated here."""
    n, shares = 60, np.array([0.5, 0.3, 0.2])
    schema = tc.Schema({"g": tc.Category(["a", "b", "c"])})
    shape = design(tc.Count(by="g"), Public(schema, "replace-one", n), Cost.of(rho=1))
    (column,), (part,) = shape.columns, empty_parts(shape)
    rng = np.random.default_rng(9)
    drawn = rng.multinomial(n, shares, 20_000)
    noisy = (drawn + column.law.sample(drawn.size, rng).reshape(drawn.shape)).astype(float)
    own = column.law.variance()
    each = [
        covariance.of_blocks((terms_of("Count", part, rows=n, grouped=True, target="population", cells=k[:, None]),))
        for k in noisy[:4_000]
    ]
    truth = n * (np.diag(shares) - np.outer(shares, shares))
    agrees(each, truth + np.outer(shares, shares) - np.diag(shares**2 + shares * (1 - shares) + own / n), 1e-6)
    varies(noisy.sum(axis=1), 3 * own)
    assert covariance.noise_of_blocks(
        (terms_of("Count", part, rows=n, grouped=True, target="table", cells=noisy[0][:, None]),)
    ) == pytest.approx(own * np.eye(3))


# Decoding -----------------------------------------------------------------------------------------------------------


STEPS = 2**18
FORMS = [
    forms.plain(STEPS, "laplace"),
    forms.plain(STEPS, "gaussian"),
    forms.exclusion(STEPS, "laplace"),
    forms.exclusion(STEPS, "gaussian"),
    former_encodings.exclusion(STEPS, "laplace"),
    former_encodings.exclusion(STEPS, "gaussian"),
    forms.group(STEPS, "laplace", "add-remove"),
    forms.group(STEPS, "gaussian", "add-remove"),
]


def integers(form: forms_encoding.Encoding, v: np.ndarray) -> np.ndarray:
    return np.array([[float(k) for k in form.assemble(tuple(int(p.numpy(v).sum()) for p in form.polynomials))]])


@pytest.mark.parametrize("form", FORMS, ids=lambda form: f"{form.name}-{len(form.matrix)}-{form.l1}")
def test_floors_of_squares_are_corrected_by_their_mean(form: forms_encoding.Encoding) -> None:
    """Values spread evenly, 40,000: without the half unit a row they are 170 standard deviations off.

    What is left of a row is at most uniform on a unit, of variance 1 / 12: 5 of the standard deviations of the sum,
    and a thousandth of a unit a row, as squares do not leave all remainders alike.
    """
    n, H = 40_000, STEPS // 2
    v = np.random.default_rng(2).integers(0, STEPS + 1, n)
    found = moments(form.name, form.parameters, integers(form, v), n)
    unit = 4 / STEPS if form.name == "group" else form.parameters["divisor"] / H**2
    off = found.square[0] - (((v - H) / H) ** 2).sum()
    assert abs(off) < unit * (5 * np.sqrt(n / 12) + 0.001 * n)


@pytest.mark.parametrize("noise", ["laplace", "gaussian"])
def test_floors_of_weighted_squares_are_corrected_by_their_mean(noise: Any) -> None:
    """Weights of 0 or 1, whose squares are not rounded: the same of values spread evenly, in squares of u = 2 x - 1."""
    n, G, A = 40_000, 2**14, weighted_forms.WEIGHT
    rng = np.random.default_rng(4)
    v, a = rng.integers(0, G + 1, n), A * rng.integers(0, 2, n)
    form = weighted_forms.weighted(G, A, noise, "replace-one", several=False)
    added = (int((p.numpy(v) * q.numpy(a)).sum()) for p, q in zip(form.polynomials, form.weights, strict=True))
    cells = np.array([[float(k) for k in form.assemble(tuple(added))]])
    off = moments(form.name, form.parameters, cells, None).squares[2, 0] - (a / A * (2 * v / G - 1) ** 2).sum()
    assert abs(off) < 4 / G * (5 * np.sqrt(n / 24) + 0.01 * n)  # without: 4 / G of n / 4


@pytest.mark.parametrize("rows", [None, 200_000])
def test_floors_of_fourth_powers_are_corrected_by_their_mean(rows: int | None) -> None:
    """The same of power sums: each is a weighted sum of four floors, the weights of at most 1."""
    form, n = forms.bernstein(4096, "replace-one"), 200_000
    v = np.random.default_rng(3).integers(0, 4097, n)
    found = powers(form.parameters, integers(form, v), rows)
    unit = form.parameters["divisor"] / 4096**4
    for k in range(1, 5):
        off = found.sums[0, k] - ((v / 4096) ** k).sum()
        assert abs(off) < unit * (5 * 4 * np.sqrt(n / 12) + 0.001 * n)
