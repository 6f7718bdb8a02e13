"""The variance alone (`interval=False`): one integer, whose noise is that of a variance's global sensitivity."""

from __future__ import annotations

import json
from itertools import combinations_with_replacement, product
from typing import Any

import numpy as np
import pytest

import tacit as tc
from tacit.curator.mechanisms import design
from tacit.errors import InferenceError, QueryError, TacitError
from tacit.estimates.noisy_terms.noisy_deviations import deviation_terms, largest_variance
from tacit.estimates.noisy_terms.noisy_moments import powers
from tacit.method.moments.mechanism import exact
from tacit.method.shared import encoding as forms
from tacit.method.shared.measurement import Public
from tacit.method.shared.simulated_parts import empty_parts
from tacit.privacy import Cost
from tacit.release.document import release_from_dict
from tacit.source import open_source
from tacit.testing.contract import contract
from tacit.testing.simulate import exact_integers, simulate

COMPLETE = tc.Schema({"x": tc.Real(0, 10, missing="none"), "left": tc.Real(0, 10), "g": tc.Category(["a", "b"])})
ONLY = tc.Schema({"x": COMPLETE["x"]})
ALONE = tc.Variance("x", interval=False)


def integer(form: forms.Encoding, rows: tuple[int, ...]) -> int:
    """What a table of grid values gives."""
    (k,) = form.assemble(tuple(sum(p(v) for v in rows) for p in form.polynomials))
    return k


@pytest.mark.parametrize("n", [2, 3, 4])
@pytest.mark.parametrize("G", [1, 2, 5])
def test_no_replaced_row_moves_the_integer_by_more_than_declared(n: int, G: int) -> None:
    """All tables of n rows on G steps, each row replaced by each value; the bound is attained."""
    form = forms.deviations(G, n)
    most = 0
    for rows, new in product(combinations_with_replacement(range(G + 1), n), range(G + 1)):
        for i in range(n):
            other = (*rows[:i], new, *rows[i + 1 :])
            most = max(most, abs(integer(form, rows) - integer(form, other)))
    assert most == form.l1 == G * G
    assert form.l2_squared == form.l1**2


@pytest.mark.long
def test_the_contract() -> None:
    schema = tc.Schema({"x": tc.Real(0, 100, missing=3), "who": tc.PrivacyUnit(2)})
    assert contract(ALONE, schema, tables=8, draws=20_000).passed


@pytest.mark.parametrize("n", [2, 3, 500])
def test_the_integer_is_the_variance_of_the_table(n: int) -> None:
    x = np.random.default_rng(n).uniform(-1, 11, n)
    x[0] = np.nan  # the middle of the bounds, as none was declared missing
    shape = design(ALONE, Public(COMPLETE, "replace-one", n), Cost.of(epsilon=1))
    ((cell,),) = exact(shape, open_source({"x": x}))
    assert tuple(exact_integers(shape, {"x": x})[0][0]) == cell
    values = np.clip(np.where(np.isnan(x), 5.0, x), 0, 10)
    made = simulate(ALONE, {"x": x}, COMPLETE, epsilon=1, repeats=2)
    # a step of 10 / 2**16: rounding moves a variance by less than sd * step, and the floor by step**2
    assert made.exact[0] == pytest.approx(values.var(ddof=1), abs=10 * 10 / 2**16)


def test_elsewhere_the_answer_is_the_usual_one() -> None:
    """Groups, conditions, private sizes, missing values left out, Gaussian noise: nothing to save, and no refusal."""
    pure, gaussian = Cost.of(epsilon=1), Cost.of(rho=0.1)
    same, other = Public(COMPLETE, "replace-one", 100), Public(COMPLETE, "add-remove", None)
    for words, public, cost in (
        ({"columns": "x", "by": "g"}, same, pure),
        ({"columns": "x", "where": "left > 2"}, same, pure),
        ({"columns": "left"}, same, pure),
        ({"columns": "x"}, other, pure),
        ({"columns": "x"}, same, gaussian),
        ({"columns": "x"}, Public(COMPLETE, "replace-one", 1), pure),
    ):
        made: list[Any] = [design(tc.Variance(**words, interval=yes), public, cost).columns for yes in (True, False)]
        assert made[0] == made[1]
        assert made[0][0].form.name == "bernstein"


def test_the_noise_is_the_same_wherever_the_mean_is() -> None:
    """Against the form with an interval, of tables with the same variance: less near a bound, more in the middle."""
    ratios: list[float] = []
    for x in (np.repeat([0.0, 10.0], [950, 50]), np.repeat([5 - 4.75**0.5, 5 + 4.75**0.5], 500)):
        default, alone = (
            simulate(tc.Variance("x", interval=yes), {"x": x}, COMPLETE, epsilon=5, repeats=8_000).estimates.std()
            for yes in (True, False)
        )
        # of 8,000 draws of a Laplace law a standard deviation has a relative error of 1.3%: 5 of them
        assert alone == pytest.approx(np.sqrt(2) / 5 * 10**2 / 1_000, rel=0.065)
        ratios.append(default / alone)
    assert ratios[0] > 1.4
    assert ratios[1] < 0.7


PLACES = [(0.0, 1.7, 1.2), (0.25, 1.0, 0.71), (0.5, 0.62, 0.44)]
"""Of the mean, as a part of the way from bound to bound; ratios with Laplace and with normal noise."""


@pytest.mark.parametrize(("mean", "laplace", "gaussian"), PLACES)
def test_what_the_interval_costs_is_what_the_documentation_says(mean: float, laplace: float, gaussian: float) -> None:
    """The standard deviation of the noise by Bernstein sums over that of one integer, by both encodings' constants."""
    n, sums = 10_000, forms.bernstein(4_096, "replace-one")
    loads = np.array([0, -2 * mean, 1, 0, 0]) @ powers(sums.parameters, np.zeros((1, 5)), n).loadings
    one = float(np.sqrt((loads**2).sum()))
    assert one * sums.l1 == pytest.approx(laplace, abs=0.01)
    assert one * np.sqrt(sums.l2_squared) == pytest.approx(gaussian, abs=0.01)


@pytest.mark.parametrize("law", ["skewed", "rare", "normal"])
def test_intervals_of_the_table_are_exact_and_those_of_a_population_cover(law: str) -> None:
    """4,000 tables of 300 rows.  5 standard errors of a coverage of 95%: false alarm < 1e-6."""
    rng, n, tables = np.random.default_rng(3), 300, 4_000
    slack = 5 * np.sqrt(0.05 * 0.95 / tables)
    laws = {
        "skewed": rng.beta(1, 6, 100_000) * 10,
        "rare": np.where(rng.random(100_000) < 0.02, 10.0, 0.5),
        "normal": np.clip(rng.normal(5, 1, 100_000), 0, 10),
    }
    people = np.rint(laws[law] * 2**16 / 10).astype(np.int64)
    shape = design(ALONE, Public(ONLY, "replace-one", n), Cost.of(epsilon=1))
    (part,) = empty_parts(shape)
    v = rng.choice(people, (tables, n))
    k = (n * (v**2).sum(axis=1) - v.sum(axis=1) ** 2) // (n - 1)
    cells = (k + part.law.sample(tables, rng)).astype(float)[:, None]
    for sampling, truths in ((False, v.var(axis=1, ddof=1)), (True, people.var())):
        low, high = deviation_terms(part, cells, sampling).inversion.interval(0.95)
        truth = truths * (10 / 2**16) ** 2
        inside = ((low <= truth) & (truth <= high)).mean()
        assert inside > 0.95 - slack
        assert sampling or inside < 0.95 + slack


def test_the_largest_variance_of_a_variance_bounds_that_of_every_law() -> None:
    """Of random laws on five points of [0, 1], against the exact formula."""
    rng = np.random.default_rng(0)
    for n in (2, 3, 10, 1_000):
        points, weights = rng.random((500, 5)), rng.dirichlet(np.full(5, 0.3), 500)
        points[::2] = np.round(points[::2])
        off = points - (weights * points).sum(axis=1, keepdims=True)
        t, fourth = ((weights * off**k).sum(axis=1) for k in (2, 4))
        own = fourth / n - t**2 * (n - 3) / (n * (n - 1))
        assert (own <= largest_variance(t, n) + 1e-15).all()


def test_it_is_stored_read_and_does_not_combine() -> None:
    curator = tc.Curator({"x": np.arange(10.0)}, ONLY, budget=tc.Budget(epsilon=10))
    made = curator.release(ALONE, epsilon=1)
    words = json.loads(made.to_json())
    assert words["query"] == {"query": "Variance", "columns": ["x"], "interval": False}
    assert "interval" not in tc.Variance("x").to_dict()
    assert release_from_dict(words).estimate().value == made.estimate().value
    assert "largest" in str(made)
    with pytest.raises(QueryError) as found:
        tc.Variance("x", interval=0)  # type: ignore[arg-type]
    assert found.value.code == "Q81"
    other = tc.Curator({"x": np.arange(12.0)}, ONLY, budget=tc.Budget(epsilon=10), name="other")
    with pytest.raises(InferenceError) as refused:
        tc.combine([made, other.release(ALONE, epsilon=1)]).estimate()
    assert refused.value.code == "C11"
    for rows in (11, 1):
        words["parts"][0]["parameters"]["rows"] = rows
        with pytest.raises(TacitError):
            release_from_dict(words)
