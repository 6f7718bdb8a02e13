"""The default of `method`: the way of least expected error, from public facts; and its answer under another law."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import jax.numpy as jnp
import numpy as np
import pytest

import tacit as tc
from tacit import families
from tacit.curator.mechanisms import design
from tacit.errors import TacitError
from tacit.estimates.normal_estimate import NormalEstimate
from tacit.method.blocks.estimate_pilot import doubt_of_law, judged, pilot_alone
from tacit.method.blocks.estimate_step_fit import StepFit
from tacit.method.shared.measurement import Public
from tacit.privacy import Cost
from tacit.release.document import release_from_dict
from tacit.release.query import query_from_dict
from tacit.study import study as studies
from tacit.testing.simulated_block_steps import AskedBlocks, release

GAMMA = families.Gamma(shape=(0.5, 5), rate=(0.2, 5))
REAL = tc.Schema({"x": tc.Real()})


def inverse_gaussian(x: Any, theta: Any) -> Any:
    return 0.5 * jnp.log(theta.lam / (2 * jnp.pi * x**3)) - theta.lam * (x - theta.mu) ** 2 / (2 * theta.mu**2 * x)


OWN = tc.Model(inverse_gaussian, mu=(0.2, 5), lam=(0.5, 10))


def chosen(model: Any, rows: int, epsilon: float, schema: tc.Schema = REAL, **given: Any) -> tc.SampleAndAggregate:
    query = tc.SampleAndAggregate("x", model, **given)
    made: Any = design(query, Public(schema, "replace-one", rows), Cost.of(epsilon=epsilon)).query
    return made


def test_a_step_is_chosen_where_a_pilot_guides_it_and_not_where_it_does_not() -> None:
    assert chosen(OWN, 100_000, 0.5).one_step
    assert chosen(GAMMA, 20_000, 1).one_step
    # so few rows that the pilot would be noise: blocks alone
    few = chosen(GAMMA, 400, 0.2)
    assert (few.one_step, few.method) == (False, "tuned")


def test_a_plan_says_which_way_is_taken() -> None:
    said = [
        str(tc.plan(tc.SampleAndAggregate("x", GAMMA), schema=REAL, rows=rows, epsilon=epsilon))
        for rows, epsilon in ((20_000, 1), (400, 0.2))
    ]
    assert ["least error" in one for one in said] == [True, False]


def test_a_box_far_too_wide_is_winsorised() -> None:
    wide = families.Gamma(shape=(0.001, 5_000), rate=(0.001, 5_000))
    assert chosen(wide, 100_000, 1).winsorize
    assert not chosen(GAMMA, 100_000, 1).winsorize


def test_a_step_in_a_wide_box_starts_from_many_short_blocks() -> None:
    made = chosen(tc.Model(inverse_gaussian, mu=(0.01, 500), lam=(0.01, 1_000)), 100_000, 1)
    assert (made.one_step, made.winsorize, made.blocks) == (True, True, 5_000)
    assert query_from_dict(made.to_dict()) == made


def test_the_pilot_holds_for_rows_of_any_law() -> None:
    assert chosen(GAMMA, 20_000, 1).bias == "observed"
    assert chosen(GAMMA, 400, 0.2).bias == "observed"


@pytest.mark.parametrize(
    "given", [{"blocks": 50}, {"parties": 8}, {"winsorize": True}, {"method": "tuned"}, {"method": "smith"}], ids=str
)
def test_what_is_asked_for_is_not_chosen(given: dict[str, Any]) -> None:
    found = chosen(GAMMA, 20_000, 1, **given)
    assert not found.one_step
    assert found == tc.SampleAndAggregate("x", GAMMA, **given)


def test_some_parameters_persons_and_regressions_have_no_step() -> None:
    assert not chosen(GAMMA, 20_000, 1, parameters="shape").one_step
    persons = tc.Schema({"x": tc.Real(), "who": tc.PrivacyUnit(max_rows=5)})
    assert not chosen(GAMMA, 20_000, 1, schema=persons).one_step


def test_documents_keep_the_choice_and_files_of_before_stay_means_of_blocks() -> None:
    words = tc.SampleAndAggregate("x", GAMMA).to_dict()
    assert words["method"] == "auto"
    before = {key: value for key, value in words.items() if key != "method"}
    assert query_from_dict(before).method == "tuned"  # type: ignore[attr-defined]
    assert query_from_dict(before, asked=True) == tc.SampleAndAggregate("x", GAMMA)
    step = chosen(GAMMA, 20_000, 1)
    assert query_from_dict(step.to_dict()) == step


def test_studies_and_combinations_keep_means_of_blocks() -> None:
    query = tc.SampleAndAggregate("x", GAMMA)
    assert studies._for_parties(query, None).method == "tuned"  # type: ignore[attr-defined]
    assert studies._for_parties(query, 12).parties == 12  # type: ignore[attr-defined]
    rows = np.random.default_rng(0).gamma(2, 1, 20_000)
    made = [
        tc.Curator({"x": rows}, REAL, name=name, budget=tc.Budget(epsilon=1)).release(query, epsilon=1)
        for name in ("a", "b")
    ]
    with pytest.raises(TacitError, match=r'C11.*method="tuned"'):
        tc.combine(made)


def test_an_own_law_is_nearly_as_precise_as_all_rows_without_privacy() -> None:
    """Issue: 137 and 11.5 times the Cramér–Rao bound by default, at 100,000 rows and ε = 0.5; at most 1.5 wanted."""
    draw = np.random.default_rng(0)
    rows = draw.wald(1, 3, 100_000)
    asked = AskedBlocks(chosen(OWN, 100_000, 0.5), REAL, "replace-one", Cost.of(epsilon=0.5))
    found = release(asked, {"x": rows}, draw).estimate()
    bound = np.diag(np.linalg.inv(OWN.fisher([1, 3]))) / 100_000
    assert ((found.std_errors**2 / bound) < 1.5).all()
    assert (np.abs(found.values - [1, 3]) < 6 * found.std_errors).all()


def test_a_release_by_default_is_read_from_its_file() -> None:
    curator = tc.Curator({"x": np.random.default_rng(0).wald(1, 3, 20_000)}, REAL, budget=tc.Budget(epsilon=2))
    made = curator.release(tc.SampleAndAggregate("x", OWN), epsilon=1)
    assert curator.release(tc.SampleAndAggregate("x", OWN), epsilon=1).charge == made.charge  # asked again, for nothing
    again: Any = release_from_dict(made.to_dict())
    assert again.query.one_step
    assert again.estimate(model=OWN).values.tolist() == made.estimate().values.tolist()


def test_where_rows_follow_another_law_the_blocks_answer() -> None:
    """Gamma rows asked for a lognormal law: the limit of the maximum-likelihood estimate is known in closed form."""
    model = families.Lognormal(mean=(-2, 3), sd=(0.2, 3))
    draw = np.random.default_rng(4)
    rows = draw.gamma(0.6, 1.5, 20_000)
    asked = AskedBlocks(chosen(model, 20_000, 4), REAL, "replace-one", Cost.of(epsilon=4))
    assert asked.query.one_step
    found = release(asked, {"x": rows}, draw).estimate()
    assert not isinstance(found, NormalEstimate)
    assert any("rows follow another law" in note and "by the blocks alone" in note for note in found.notes)
    logs = np.log(rows)
    assert (np.abs(found.values - [logs.mean(), logs.std()]) < 6 * found.std_errors).all()
    assert (found.std_errors < 0.2).all()


def test_a_doubt_widens_the_interval_and_a_law_that_holds_does_not() -> None:
    """The step's own verdicts on made-up distances: none, in doubt, rejected."""
    draw = np.random.default_rng(1)
    asked = AskedBlocks(chosen(GAMMA, 20_000, 1), REAL, "replace-one", Cost.of(epsilon=1))
    made = release(asked, {"x": draw.gamma(2, 1, 20_000)}, draw)
    pilot = pilot_alone(made)
    fit = StepFit(pilot.terms, np.zeros(2), np.ones(2))
    own = np.full(2, 1e-6)
    middle = pilot.intervals(0.95).mean(axis=1)
    half, far = (np.diff(pilot.intervals(1 - chance), axis=1)[:, 0] / 2 for chance in (0.01, 1e-6))
    assert judged(fit, pilot, middle, own).why == ""
    assert judged(fit, pilot, middle + np.array([1.02 * half[0], 0]), own).doubtful
    assert judged(fit, pilot, middle + np.array([1.02 * far[0], 0]), own).rejected
    assert judged(replace(fit, chance=np.array([1, 0.0101])), pilot, middle, own).why == ""
    assert judged(replace(fit, chance=np.array([1, 0.0099])), pilot, middle, own).doubtful
    assert judged(replace(fit, chance=np.array([1, 0.000099])), pilot, middle, own).rejected
    added = np.diag(doubt_of_law(pilot, middle + half))
    assert (added >= pilot.std_errors**2 + 0.9 * half**2).all()
