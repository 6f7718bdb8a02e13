"""The hold-out's claim: exact over adaptive sequences; its sensitivity on neighbouring tables; the law of the code."""

from __future__ import annotations

import itertools
from collections import Counter
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from scipy import stats

import tacit as tc
from tacit.holdout.holdout_design import HoldoutDesign, holdout_design
from tacit.holdout.holdout_score import holdout_score
from tacit.holdout.mechanism_holdout import HeldOut, Run, answered, exact
from tacit.method.shared.measurement import Public
from tacit.noise.laws import DiscreteLaplace
from tacit.privacy import Cost
from tacit.schema.row_maps_of_columns import unit_of
from tacit.source import computing, open_source
from tacit.testing.audit import epsilon_lower_bound
from tacit.testing.neighbouring_tables import columns, pairs, persons

EPSILON = Fraction(2)
SMALL = HoldoutDesign("small", Fraction(1, 4), Cost(epsilon=EPSILON), 1, EPSILON, steps=4)
"""Four steps, so that all noisy thresholds can be added up."""
REACH = 1_500
"""The threshold's noise has scale 10: beyond this lies e^-150 of it."""


def first_difference(design: HoldoutDesign, excesses, *, threshold=None, comparison=None) -> np.ndarray:
    """P(first difference at check 1, ..., k), and of none, shape (k + 1,), by adding up all noisy thresholds."""
    threshold, comparison = threshold or design.threshold_law, comparison or design.comparison_law
    z = np.arange(-REACH, REACH + 1)
    alone, found = threshold.pmf(z), []
    for f in excesses:
        found.append(float((alone * comparison.sf(z - f - 1)).sum()))  # f + B >= z
        alone = alone * comparison.cdf(z - f - 1)
    return np.array([*found, float(alone.sum())])


def loss(one, other) -> float:
    return float(np.abs(np.log(one) - np.log(other)).max())


def worst(design: HoldoutDesign, checks: int, **laws) -> float:
    """The largest loss of comparisons: all excesses rise by the sensitivity, but the last, which falls by it."""
    s, most = design.sensitivity, 0.0
    for low, high in itertools.product((-400, -60, -20, 0, 20, 60), repeat=2):
        here = [low] * (checks - 1) + [high]
        there = [low + s] * (checks - 1) + [high - s]
        one, other = (first_difference(design, some, **laws)[-2] for some in (here, there))
        if min(one, other) > 1e-200:
            most = max(most, abs(np.log(one) - np.log(other)))
    return most


def test_the_probabilities_add_up():
    assert first_difference(SMALL, [3, -10, 40, 0]).sum() == pytest.approx(1, abs=1e-12)


@pytest.mark.parametrize("checks", [1, 2, 5, 60])
def test_comparisons_of_a_run_cost_half_of_it_however_many_they_are(checks):
    found = worst(SMALL, checks)
    # every excess may move against us: the sum over all noisy thresholds is exact to floats
    assert found <= float(EPSILON) / 2 + 1e-9
    # one check alone moves by s / b; many in a row use the noise of the threshold up as well
    assert found >= {1: 0.12, 2: 0.2}.get(checks, 0.3) * float(EPSILON)


def test_less_noise_than_the_proof_asks_for_is_seen():
    half = {name: DiscreteLaplace(getattr(SMALL, f"{name}_law").scale / 2) for name in ("threshold", "comparison")}
    claim = float(EPSILON) / 2
    assert worst(SMALL, 60, **half) > 1.5 * claim
    # the sensitivity of a comparison is twice that of the excess: as much noise as for one s is too little
    assert worst(SMALL, 60, comparison=half["comparison"]) > 1.2 * claim
    assert worst(SMALL, 60, threshold=half["threshold"]) > 1.2 * claim
    # without fresh noise the order of two scores shows
    none = DiscreteLaplace(Fraction(1, 100))
    here, there = (first_difference(SMALL, some, comparison=none) for some in ([0, 5], [5, 0]))
    assert here[1] > 0.1
    assert there[1] < 1e-30


def test_sequences_on_random_neighbouring_tables_stay_below_the_claim():
    """Transcripts of adaptive runs over tables of a few rows: no transcript has more than the claim."""
    rng = np.random.default_rng(3)
    largest = 0.0
    for trial in range(60):
        rows = rng.integers(0, 5, (3, 8))  # scores of three rows in four steps, for eight questions
        other = rows.copy()
        other[0] = rng.choice([0, 4], 8)
        pair = (rows, other) if trial % 2 else (rows, rows[1:])
        questions = rng.integers(0, 8, 30)  # an analyst who asks again and again; along one transcript all is fixed
        places = rng.integers(0, 5, 30)
        laws = [
            first_difference(
                SMALL,
                [SMALL.excess(int(t[:, q].sum()), len(t), int(p)) for q, p in zip(questions, places, strict=True)],
            )
            for t in pair
        ]
        largest = max(largest, loss(*laws))
        # hockey-stick: no event exceeds e^ε times its probability on the other table
        for p, q in (laws, laws[::-1]):
            assert np.maximum(p - np.exp(float(EPSILON) / 2) * q, 0).sum() <= 1e-12
    assert 0.1 * float(EPSILON) < largest <= float(EPSILON) / 2 + 1e-9


SCHEMAS = {
    "rows": tc.Schema({"a": tc.Boolean(), "b": tc.Boolean(), "x": tc.Real(-2, 6), "k": tc.Integer(0, 9, missing=3)}),
    "persons": tc.Schema({"p": tc.PrivacyUnit(max_rows=2), "a": tc.Boolean(), "b": tc.Boolean(), "x": tc.Real(-2, 6)}),
}
SCORES = ("a == b", "x", "k", "not (x > 1)")


@pytest.mark.sample(4)
@pytest.mark.parametrize("relation", ["replace-one", "add-remove"])
@pytest.mark.parametrize("which", SCHEMAS)
def test_the_excess_moves_by_no_more_than_the_sensitivity(which, relation):
    schema, rng = SCHEMAS[which], np.random.default_rng(11)
    made, moved = holdout_design("0.02", epsilon=1), 0
    for pair in pairs(schema, relation, 16, rng):
        tables = [computing(open_source(columns(schema, rows)), schema) for rows in (pair.one, pair.other)]
        if min(persons(schema, pair.one), persons(schema, pair.other)) < 2:
            continue
        size = persons(schema, pair.one) if relation == "replace-one" else None
        if size is not None and size != persons(schema, pair.other):
            continue
        for text in SCORES:
            if text in ("k",) and "k" not in schema:
                continue
            score = holdout_score(text, Public(schema, relation, size), made)
            one, other = (exact(score, source) for source in tables)
            for place in (0, 1, made.steps // 3, made.steps - 1, made.steps):
                change = made.excess(one.total, one.present, place) - made.excess(other.total, other.present, place)
                moved = max(moved, abs(change))
            # the answer's own integers move by no more than its encoding says
            change = sum(abs(p - q) for p, q in zip(one.cells[0], other.cells[0], strict=True))
            assert change <= score.column.form.l1
    assert 0.9 * made.steps < moved <= made.sensitivity


def test_the_sensitivity_is_reached_where_a_row_comes_or_goes():
    made = holdout_design("0.02", epsilon=1)
    U, t = made.steps, made.threshold_steps
    # many rows at the upper end, a training value just below it, and one row at the lower end: |S - p N| falls by p,
    # and the threshold rises by t
    place = round(0.995 * U)
    before = made.excess(300 * U, 300, place)
    assert before - made.excess(300 * U, 301, place) == place + t
    assert U < place + t <= made.sensitivity


def test_missing_cells_of_a_condition_do_not_hold_and_persons_are_means():
    schema = tc.Schema({"p": tc.PrivacyUnit(max_rows=2), "x": tc.Real(0, 4), "a": tc.Boolean()})
    table = {"p": [1, 1, 2, 3], "x": [1.0, 3.0, None, 4.0], "a": [True, False, None, True]}
    made = holdout_design("0.1", epsilon=1)
    source = computing(open_source({k: np.array(v, dtype=float) for k, v in table.items()}), schema)
    assert unit_of(schema) is not None
    found = exact(holdout_score("x > 2", Public(schema, "replace-one", 3), made), source)
    # persons: one half (rows 1 and 3), none (missing), one
    assert (found.total, found.present) == (made.steps * 3 // 2, 3)
    found = exact(holdout_score("x", Public(schema, "replace-one", 3), made), source)
    assert (found.total, found.present) == (made.steps // 2 + made.steps, 2)


def test_the_code_draws_from_the_law_that_was_audited():
    excesses = [0, -40, 15, 5]
    law = first_difference(SMALL, excesses)
    # total and present that give these excesses: place 0, t = 1, so that f = total - present
    asked = [HeldOut(f + 100, 100, ((0,),)) for f in excesses]
    draws, seen = 6_000, Counter()
    for _ in range(draws):
        run = Run(SMALL)
        at = next((i for i, one in enumerate(asked) if run.differs(one, 0)), len(asked))
        seen[at] += 1
        assert run.going_on == (at == len(asked))
    counts = np.array([seen[i] for i in range(len(law))])
    # chi-square with 4 degrees of freedom; false alarm 1e-6
    assert stats.chisquare(counts, law * draws).pvalue > 1e-6
    # with power: half the noise, or a fresh threshold for each check, would have been seen
    half = first_difference(
        SMALL,
        excesses,
        comparison=DiscreteLaplace(SMALL.comparison_law.scale / 2),
        threshold=DiscreteLaplace(SMALL.threshold_law.scale / 2),
    )
    assert stats.chisquare(half * draws, law * draws).statistic > 60


@pytest.mark.sample(2)
@pytest.mark.parametrize("broken", [False, True])
def test_an_audit_of_the_code_over_adaptive_sequences(broken, monkeypatch):
    """A lower bound of ε from whole runs of the code on two tables; without noise in comparisons above the claim."""
    if broken:
        monkeypatch.setattr(HoldoutDesign, "comparison_law", DiscreteLaplace(Fraction(1, 100)))
    # two scores that move apart on the neighbouring table; the analyst alternates, and stops at the first difference
    here, there = ([HeldOut(100 + f, 100, ((0,),)) for f in some] for some in ([0, 5], [5, 0]))
    design = replace(SMALL, epsilon=Fraction(1, 2))

    def told(asked):
        run = Run(design)
        return next((i for i in range(6) if run.differs(asked[i % 2], 0)), 6)

    samples = [np.array([told(asked) for _ in range(4_000)]) for asked in (here, there)]
    # the analyst's event: whether the first difference is at the even or the odd score
    even = [np.where(one == 6, 2, one % 2) for one in samples]
    bound = epsilon_lower_bound(*even, delta=0.0)
    claim = 0.25
    assert (bound > 2 * claim) if broken else (bound <= claim)


def test_a_run_is_over_with_its_first_difference():
    far = HeldOut(10**9, 1, ((0,),))
    run = Run(SMALL)
    assert run.differs(far, 0)
    with pytest.raises(RuntimeError, match="over"):
        run.differs(far, 0)
    noises = [Run(SMALL)._noise for _ in range(400)]
    # a new run draws a new threshold: equal neighbours as often as the law has them
    same = sum(a == b for a, b in itertools.pairwise(noises))
    assert same < 60
    assert np.std(noises) == pytest.approx(np.sqrt(SMALL.threshold_law.variance()), rel=0.5)


def test_prices_of_runs_add_up_to_no_more_than_the_price():
    for answers in (1, 3, 7, 10, 64):
        made = holdout_design("0.1", rho="0.05", answers=answers)
        assert answers * made.run_cost.zcdp <= Fraction(1, 20)
        assert answers * made.run_cost.zcdp > Fraction(1, 20) * (1 - Fraction(1, 10**9))
        pure = holdout_design("0.1", epsilon=1, answers=answers)
        assert answers * pure.epsilon == 1
    one = holdout_design("0.1", epsilon=1, answers=1)
    s = one.sensitivity
    # s/a + 2s/b, and the answer's half
    assert s / one.threshold_law.scale + 2 * s / one.comparison_law.scale + one.answer_cost.epsilon == 1


def test_an_answer_costs_half_of_its_run():
    schema = tc.Schema({"a": tc.Boolean(), "x": tc.Real(0, 1)})
    made = holdout_design("0.1", epsilon=1, answers=4)
    for relation, rows in (("replace-one", 50), ("add-remove", None)):
        for text in ("a", "x", "x > 0.5"):
            score = holdout_score(text, Public(schema, relation, rows), made)
            assert score.column.law.scale == score.column.form.l1 / Fraction(1, 8)
            part = answered(score, HeldOut(0, 0, (tuple(0 for _ in score.column.form.matrix),)))[0]
            assert part.cost.epsilon == Fraction(1, 8)


def test_chances_are_those_of_the_noise():
    made, rng = holdout_design("0.05", epsilon=2, answers=4), np.random.default_rng(2)
    n, draws = 3_000, 40_000
    a, b = made.threshold_law.sample(draws, rng), made.comparison_law.sample(draws, rng)
    for apart in (0.0, 0.04, 0.05, 0.07):
        f = round((apart - float(made.threshold)) * n * made.steps)
        share = np.mean(f + b >= a)
        # 5.5 standard deviations of a share: false alarm 4e-8
        assert made.chance(apart, n) == pytest.approx(share, abs=5.5 * 0.5 / np.sqrt(draws))
