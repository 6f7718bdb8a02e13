"""Statistics of many parties: pooled, inverted once; random effects; the same people; the numbers of the theory."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
from scipy.stats import binom

import tacit as tc
from tacit import families
from tacit.method.shared.measurement import Public
from tacit.method.sufficient_statistics.combine import common
from tacit.pooling.common_value import pooled
from tacit.pooling.released_evidence import evidence
from tacit.testing.simulated_parties import answers, repetition

RATE = families.Exponential(rate=(0.1, 10))
SCHEMA = tc.Schema({"x": tc.Real(0, 2)})
QUERY = tc.SufficientStatistics("x", RATE)
GAMMA = families.Gamma(shape=(0.5, 8), rate=(0.2, 8))
TWO = tc.SufficientStatistics("x", GAMMA, bounds={"log(x)": (-2, 1.2)})


def given(rates: Any, sizes: Any, query: Any = QUERY, epsilon: Any = 1) -> dict[str, Any]:
    rng, found = np.random.default_rng(0), {}
    for i, (rate, n) in enumerate(zip(rates, sizes, strict=True)):
        relation = ("replace-one", "add-remove")[i % 2]
        curator = tc.Curator(
            {"x": rng.exponential(1 / rate, n)},
            SCHEMA,
            name=f"party-{i}",
            budget=tc.Budget(rho=9, neighbors=relation),
        )
        price = {"epsilon": epsilon} if i % 3 else {"rho": 0.1}
        found[f"party-{i}"] = curator.release(query, **price)
    return found


@pytest.mark.long
def test_one_law_is_covered() -> None:
    """Of 80 studies of 6 unequal parties, one row in seven clamped, binom.ppf(1e-6, 80, .94) cover at least."""

    def values(rng: np.random.Generator, party: int, repeats: int, rows: int) -> Any:
        return rng.exponential(1, (repeats, rows))

    sizes, prices = (100, 200, 400, 800, 1_600, 3_200), [{"epsilon": "0.5"}, {"rho": "0.1"}] * 3
    drawn = answers(QUERY, SCHEMA, values, sizes, prices, repeats=80, rng=0)
    hit, z = 0, []
    for i in range(80):
        block, parts, shares = common(repetition(drawn, i), range(6), True)
        low, high = block.inversion.interval(0.95)
        hit += bool(low[0] <= 1 <= high[0])
        z.append((block.value[0] - 1) / np.sqrt(block.variance[0] + block.privacy_variance[0]))
    assert hit >= binom.ppf(1e-6, 80, 0.94)
    assert abs(np.std(z) - 1) < 5.5 / np.sqrt(160)
    assert parts.value.shape == shares.shape == (6, 1)


def shares(sizes: Any, epsilon: str, p: float, repeats: int) -> Any:
    """Pooled Bernoulli shares; what is drawn is the integer that is released."""
    from dataclasses import replace

    from tacit.testing.simulated_parties import Answer

    column, query = tc.Schema({"x": tc.Boolean(missing=False)}), tc.SufficientStatistics("x", families.Bernoulli())
    rng = np.random.default_rng(1)
    paid = [{"epsilon": epsilon}] * len(sizes)
    made = answers(query, column, lambda g, j, r, n: np.zeros((r, n)), sizes, paid, repeats=1)
    drawn: list[Answer] = []
    for one, n in zip(made, sizes, strict=True):
        (part,) = one.parts
        noisy = rng.binomial(n, p, repeats) + part.law.sample(repeats, rng)
        drawn.append(replace(one, parts=(replace(part, integers=tuple((int(k),) for k in noisy)),)))
    return pooled(evidence(drawn, 0)).value


def test_the_error_is_that_of_the_corrected_theorem() -> None:
    """M = 20, N = 1,000 (small), epsilon = 0.05: MSE M N I = 1 + 2 / (I N eps**2) = 4.8, not 1.2 as printed (E16).

    The mean of R = 1,000 squares is off by sqrt(2 / R) = 4.5%, relatively, five of these allowed (false alarms 1e-6).
    """
    p, n, m, epsilon = 0.3, 1_000, 20, 0.05
    found = shares((n,) * m, str(epsilon), p, 1_000)
    ratio = ((found - p) ** 2).mean() * m * n / (p * (1 - p))
    expected = 1 + 2 / (p * (1 - p) * n * epsilon**2)
    assert abs(ratio / expected - 1) < 5 * np.sqrt(2 / 1_000)


def test_unequal_parties_lose_little() -> None:
    """100 to 3,000 rows, epsilon 0.2: weights inverse to the variances are within a tenth of the pooled bound.

    The best weights have 1 / sum(1 / v); five Monte-Carlo errors of 6% are allowed.
    """
    sizes, p = tuple(int(n) for n in np.geomspace(100, 3_000, 8)), 0.3
    n = np.array(sizes, dtype=float)
    found = shares(sizes, "0.2", p, 600)
    v = p * (1 - p) / n + 2 / (n * 0.2) ** 2
    assert ((found - p) ** 2).mean() * (1 / v).sum() < 1 + 5 * np.sqrt(2 / 600)
    equal = v.mean() / len(v) * (1 / v).sum()
    assert equal > 3


def test_two_parameters_of_parties_of_both_relations_and_noises() -> None:
    rng, found = np.random.default_rng(0), {}
    for i, n in enumerate((500, 2_000, 8_000, 1_000)):
        budget = tc.Budget(rho=9, neighbors=("replace-one", "add-remove")[i % 2])
        curator = tc.Curator({"x": GAMMA.sample((2, 1.5), n, rng)}, SCHEMA, name=f"p{i}", budget=budget)
        found[f"p{i}"] = curator.release(TWO, **({"epsilon": 1} if i > 1 else {"rho": 0.1}))
    both = tc.combine(found)
    made = both.estimate()
    assert made.terms == ("shape", "rate")
    assert (np.abs(made.values - [2, 1.5]) < 5.5 * made.std_errors).all()
    cov = made.cov.to_numpy()
    assert cov[0, 1] ** 2 < cov[0, 0] * cov[1, 1]
    assert made.contrast("shape - rate").std_error ** 2 == pytest.approx(cov[0, 0] + cov[1, 1] - 2 * cov[0, 1])
    assert all((made.std_errors < one.estimate().std_errors).all() for one in found.values())
    assert np.allclose(both.shares_of(0).sum(), 1)
    assert "Gamma law of x" in str(both)
    assert len(both.by_party().rows) == 8
    assert made.I2.between(0, 1).all()


def test_parties_that_differ() -> None:
    """Rates a fifth apart, errors of a twentieth: the mean is theirs, the spread is seen."""
    rng = np.random.default_rng(2)
    found = tc.combine(given(rng.normal(1, 0.2, 12), [2_000] * 12), effects="random").estimate()
    assert found.I2 > 0.5
    assert abs(found.value - 1) < 6 * 0.2 / np.sqrt(12)
    low, high = found.prediction()
    assert low < found.value < high


def test_the_same_people_twice_have_one_sampling_error(tmp_path: Any) -> None:
    """Two releases of one ledger: half the variance of the noise, the whole of the sampling error."""
    x = np.random.default_rng(0).exponential(1, 2_000)
    curator = tc.Curator({"x": x}, SCHEMA, name="waits", ledger=tmp_path / "a.ledger", budget=tc.Budget(epsilon=10))
    first = curator.release(QUERY, epsilon="0.2")
    second = curator.release(QUERY, epsilon="0.21")
    one, both = tc.combine([first]).estimate(), tc.combine([first, second])
    two = both.estimate()
    assert both.parties == (f"{first.table} (1) and {first.table} (2)",)
    assert 0.4 < two.privacy_variances[0] / one.privacy_variances[0] < 0.6
    assert 0.6 < two.sampling_variances[0] / one.sampling_variances[0] < 1.6
    assert any("their noise is averaged" in note for note in two.notes)


def test_a_study_asks_for_statistics(tmp_path: Any) -> None:
    """Files only: TOML words, release files, checks, one estimate; an edited sensitivity is found."""
    study = tmp_path / "study.toml"
    study.write_text(
        """tacit = 1
[table]
name = "waits"
rows = 800
[budget]
epsilon = 1
[schema]
x = { type = "Real", lower = 0, upper = 2 }
[spend]
epsilon = 1
[ask.law]
query = "SufficientStatistics"
what = "x"
family = { family = "Exponential", rate = [0.1, 10] }
bounds = { x = [0, 1.5] }
"""
    )
    asked = tc.Study.load(study)
    rng = np.random.default_rng(0)
    (tmp_path / "back").mkdir()
    for i in range(3):
        curator = tc.Curator({"x": rng.exponential(1, 800)}, asked, name=f"p{i}", ledger=tmp_path / f"{i}.ledger")
        curator.release(asked).save(tmp_path / "back" / f"p{i}.release.json")
    result = asked.combine(str(tmp_path / "back" / "*.json"))
    assert not result.refused
    found = result["law"].estimate()
    assert abs(found.value - 1) < 5.5 * found.std_error
    path = tmp_path / "back" / "p1.release.json"
    words = json.loads(path.read_text())
    assert "SufficientStatistics" in json.dumps(words)


def test_other_bounds_do_not_go_together() -> None:
    other = tc.SufficientStatistics("x", RATE, bounds={"x": (0, 1)})
    with pytest.raises(tc.TacitError, match="C12"):
        tc.combine({**given([1.0], [500]), "other": given([1.0], [500], other)["party-0"]})


def test_blocks_for_many_parties_and_as_printed() -> None:
    """Theory §6: fewer where bias must not count, as many as noise asks for where there is none (errata E3, E18)."""
    from tacit.method.blocks.design import BlockPlan, design

    def blocks(family: Any, **words: Any) -> int:
        query = tc.SampleAndAggregate("x", family, bias="cox-snell", **words)
        cost = tc.Cost.of(epsilon=1)
        shape = design(query, Public(tc.Schema({"x": tc.Real()}), "replace-one", 10_000), cost)
        assert isinstance(shape.blocks, BlockPlan)
        return shape.blocks.blocks

    rate = families.Exponential(rate=(0.2, 5))
    assert blocks(rate, parties=50) == 1_000
    assert blocks(rate) == 500  # no fewer than 20 rows each
    assert blocks(families.Exponential(rate=(0.9, 1.1))) < 300  # a narrow box has little noise
    assert blocks(rate, method="smith") == 251
    assert blocks(rate, method="chen-sung", parties=50) == 824
    shape = families.Weibull(shape=(0.5, 4), scale=(0.2, 5))
    found = [blocks(shape, parties=m) for m in (2, 50, 1_000)]
    assert found == sorted(found, reverse=True)
    assert found[-1] < found[0]
    with pytest.raises(tc.TacitError, match="Q97"):
        tc.SampleAndAggregate("x", rate, parties=0)
    with pytest.raises(tc.TacitError, match="Q116"):
        tc.SampleAndAggregate("x", rate, method="smith", blocks=10)
