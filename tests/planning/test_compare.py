"""Comparisons: every way that could answer a question, its planned widths as releases have them, and refusals."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from seeded_noise import seed_noise

import tacit as tc
from tacit.errors import BudgetError, QueryError
from tacit.planning import claims
from tacit.planning.claims import Claim
from tacit.planning.comparison import MethodComparison
from tacit.plots import width_plot

PAGES = Path(__file__).parents[2] / "docs" / "reference"
SCHEMA = tc.Schema(
    {
        "fare": tc.Real(0, 100, missing=0),
        "tip": tc.Real(0, 20),
        "sex": tc.Category(["f", "m"]),
        "paid": tc.Boolean(),
        "again": tc.Boolean(),
        "when": tc.Date("2020-01-01", "2020-12-31"),
        "weight": tc.Real(0, 5),
        "wait": tc.Real(0.01, 60),
    }
)
GAMMA = tc.families.Gamma(shape=(0.5, 5), rate=(0.05, 2))
NORMAL = tc.families.Normal(mean=(0, 100), sd=(1, 50))
LINE = tc.families.LinearRegression(regressors=1, intercept=(-10, 30), slopes=(-3, 3), sd=(0.1, 20))
QUESTIONS = [
    tc.Mean("fare"),
    tc.Mean(["fare", "tip"]),
    tc.Mean("fare", by="sex", where="paid"),
    tc.Mean("paid"),
    tc.Mean("when"),
    tc.Mean("fare", weights="weight"),
    tc.Sum("fare"),
    tc.Sum("tip", by="sex"),
    tc.Count(by="sex"),
    tc.Count(weights="weight"),
    tc.Variance("fare"),
    tc.Variance("fare", interval=False),
    tc.Quantiles("fare", [0.5]),
    tc.Quantiles("fare", [0.25, 0.5], by="sex", level=0.9),
    tc.Regression("tip ~ fare + sex"),
    tc.Regression("log(fare + 1) ~ sex"),
    tc.Regression("paid ~ again + sex", model="logistic"),
    tc.Regression("tip ~ fare", weights="weight"),
    tc.SufficientStatistics("wait", GAMMA),
    tc.SampleAndAggregate("wait", GAMMA),
    tc.SampleAndAggregate("wait", GAMMA, parameters="shape"),
    tc.SampleAndAggregate("fare", NORMAL, one_step=True),
    tc.SampleAndAggregate(["tip", "fare"], LINE),
    tc.Bootstrap(tc.Mean("fare")),
    tc.Histogram("sex"),
    tc.DataQuality("tip"),
]
PRICES: list[dict[str, Any]] = [{"rho": 0.1}, {"epsilon": 0.5}, {"epsilon": 1, "delta": 1e-6}]


def compared(question: Any, price: dict[str, Any] | None = None, **facts: Any) -> MethodComparison:
    return tc.compare(question, SCHEMA, rows=5_000, **(price or {"epsilon": 1}), **facts)


@pytest.mark.sample(13)
@pytest.mark.parametrize("price", PRICES, ids=str)
@pytest.mark.parametrize("question", QUESTIONS, ids=str)
def test_each_way_answers_or_says_why_not(question: Any, price: dict[str, Any]) -> None:
    found = compared(question, price)
    names = [one.name for one in found.ways]
    assert len(set(names)) == len(names) == len(found)
    assert found.ways[0].answers
    terms = [one.term for one in found.ways[0].terms]
    for one in found.ways:
        assert (PAGES / one.claim.page).exists()
        assert found[one.name] is one
        if not one.answers:
            assert one.reason
            assert not one.reason.endswith(".")
            continue
        assert [term.term for term in one.terms] == terms
        assert one.query is not None
        assert one.cost is not None
        for term in one.terms:
            assert 0 <= term.privacy <= 1
            assert term.width > 0
    ratios = [one.ratio for one in found.ways]
    assert ratios == sorted(ratios)


def test_ways_are_those_of_the_plan() -> None:
    """A way has the precision that a plan of its own question has, at the same price."""
    found = compared(tc.Mean("fare"), PRICES[2])
    for name in ("Mean", "Bootstrap, 50 replicates"):
        way = found[name]
        assert way.query is not None
        page = tc.plan(way.query, SCHEMA, rows=5_000, **PRICES[2])
        assert [one.width for one in way.terms] == [one.width for one in page.parts[0].terms]
    mean = found["Mean"].terms[0]
    assert found["Mean"].ratio == pytest.approx(mean.width / mean.without)
    # a pure price at the pair's ε is a way of its own, and here the narrower one
    alone = found["Mean, ε alone"]
    assert alone.cost == tc.Cost.of(epsilon=1)
    assert alone.kind == "pure"
    assert found["Mean"].kind == "(ε, δ)"
    assert found.narrowest is alone


def test_cells_and_variances_have_replicates() -> None:
    """What a histogram counts is a Count, of which a bootstrap has replicates; and so has a variance."""
    found = compared(tc.Histogram(["fare", "sex"], bins={"fare": 5}), PRICES[2])
    counts = found["Count, by its columns"]
    assert counts.query == tc.Count(by=["fare", "sex"], bins={"fare": 5})
    # the same cells with the same noise
    assert [one.width for one in counts.terms] == pytest.approx([one.width for one in found["Histogram"].terms])
    for question in (tc.Histogram(["fare", "sex"], bins={"fare": 5}), tc.Variance(["fare", "tip"])):
        made = compared(question, PRICES[2])
        way = made["Bootstrap, 50 replicates"]
        assert way.answers
        assert way.ratio > made.narrowest.ratio
    for other in ({"missing": True}, {"sparse": True}):
        assert not compared(tc.Histogram("fare", bins=5, **other), PRICES[2])["Bootstrap, 50 replicates"].answers


def test_blocks_with_resamples_are_compared() -> None:
    """Ways that have no resamples are asked without them."""
    law = tc.families.Normal(mean=(0, 100), sd=(1, 50))
    found = compared(tc.SampleAndAggregate("fare", law, blocks=25, variance="m-out-of-n"))
    assert found["SampleAndAggregate, blocks"].query.variance == "m-out-of-n"
    assert found["SampleAndAggregate, one step"].answers
    assert found["SampleAndAggregate, winsorised"].answers


def test_a_formula_stands_for_a_regression() -> None:
    found = compared("tip ~ fare + sex", {"rho": 0.1})
    assert found.query == tc.Regression("tip ~ fare + sex")
    assert found["Regression, sums over rows"].answers
    assert found["Histogram, a fit to its cells"].answers
    assert "column 'tip' is of type Real" in str(found["Regression, cells"].reason)
    assert "a box for each coefficient" in str(found["SampleAndAggregate"].reason)


def test_blocks_of_a_regression_are_compared_with_sums_over_rows() -> None:
    found = compared(tc.SampleAndAggregate(["tip", "fare"], LINE))
    rows, blocks = found["Regression, sums over rows"], found["SampleAndAggregate, blocks"]
    assert rows.ratio < blocks.ratio < math.inf
    # of blocks the plan knows no sampling error: it is that of the regression
    assert [one.without for one in blocks.terms] == [one.without for one in rows.terms]


def test_several_draws_are_never_narrower_than_one() -> None:
    found = compared(tc.Mean("fare"))
    assert found["Mean"].ratio < found["Mean, 10 Laplace draws"].ratio
    other = compared(tc.Count(by="sex", laplace_draws=4))
    assert other["Count"].ratio < other["Count, 4 Laplace draws"].ratio


def test_a_law_that_is_named_has_ways_of_its_own() -> None:
    told = {"wait": {"mean": 4, "sd": 2.8, "shape": 2, "rate": 0.5}}
    for question in (tc.Mean("wait"), tc.Quantiles("wait", [0.5, 0.9])):
        found = compared(question, law=GAMMA, expect=told)
        step, blocks = (found[f"SampleAndAggregate, Gamma law, {how}"] for how in ("one step", "blocks"))
        assert step.ratio < blocks.ratio < math.inf
    # without a law none is assumed of quantiles
    untold = compared(tc.Quantiles("wait", [0.5]))
    assert "no law of the column is named" in str(untold["SampleAndAggregate"].reason)


def test_the_variance_alone_is_planned_at_its_own_integer() -> None:
    """Its one integer is no linear function of sums over rows: a plan took it for three times the variance."""
    page = tc.plan(tc.Variance("fare", interval=False), SCHEMA, rows=5_000, epsilon=1)
    assert page.parts[0].terms[0].value == pytest.approx(100**2 / 12, rel=0.01)
    whole = tc.plan(tc.Variance("fare"), SCHEMA, rows=5_000, epsilon=1)
    assert page.width > whole.width_without_privacy


READ: dict[str, Any] = {
    "Mean": lambda made: made.estimate(),
    "Mean, 10 Laplace draws": lambda made: made.estimate(),
    "Histogram, its mean": lambda made: made.moments("fare")["mean"],
    "SufficientStatistics, normal law": lambda made: made.estimate()["mean"],
}


def test_releases_are_as_wide_as_foretold(monkeypatch: pytest.MonkeyPatch) -> None:
    """Within a factor 1.5; `benchmarks/compared_ways.py` has the ways and questions that take longer."""
    seed_noise(monkeypatch)
    rng = np.random.default_rng(0)
    table = {"fare": rng.uniform(0, 100, 5_000), "sex": rng.choice(["f", "m"], 5_000)}
    schema = tc.Schema({name: dict(SCHEMA.items())[name] for name in ("fare", "sex")})
    found = compared(tc.Mean("fare"), {"epsilon": 0.5})
    held = tc.Curator(table, schema, name="drawn", budget=tc.Budget(epsilon=50))
    for name, read in READ.items():
        way = found[name]
        assert way.query is not None
        low, high = read(held.release(way.query, epsilon=0.5)).conf_int()
        assert 1 / 1.5 < (high - low) / way.terms[0].width < 1.5


def test_it_is_shown_in_every_form(tmp_path: Path) -> None:
    found = compared(tc.Mean("fare", by="sex"), PRICES[2])
    text = found.to_text()
    assert str(found) == repr(found) == text
    assert text.startswith("Mean of fare by sex · 5,000 rows · ε = 1, δ = 1e-06 · 95% intervals\n")
    assert "widths and errors are those of f; ratios are over all 2 terms" in text
    assert "SufficientStatistics: no answer, a law has no groups and no weights" in text
    assert found._repr_html_() == found.to_html()  # pyright: ignore
    assert "<table" in found.to_html()
    words = json.loads(json.dumps(found.to_dict()))
    assert [one["way"] for one in words["ways"]] == [one.name for one in found.ways]
    frame = found.to_frame()
    assert list(frame["way"].unique()) == [one.name for one in found.ways if one.answers]
    assert np.isfinite(frame[["width", "std_error", "ratio"]].to_numpy()).all()
    drawn = found.plot()
    assert drawn.terms == tuple(one.name for one in found.ways)
    assert drawn.values[0] == found.ways[0].terms[0].width
    assert math.isnan(drawn.values[-1])
    drawn.save(tmp_path / "widths.svg")
    assert "no answer" in (tmp_path / "widths.svg").read_text()
    found.summary().save(tmp_path / "ways.tex")


def test_a_picture_without_any_answer() -> None:
    from tacit.plots.canvas import Caption

    nothing = np.array([math.nan, math.nan])
    drawn = width_plot.widths(["a", "b"], nothing, nothing, 0.95, Caption("t", "x", "note"))
    assert [text.get_text() for text in drawn.axes.texts] == ["no answer", "no answer"]


def test_a_price_that_buys_no_answer() -> None:
    found = tc.compare(tc.Regression("tip ~ fare + sex"), SCHEMA, rows=50, rho=1e-6)
    assert not any(one.answers for one in found.ways)
    with pytest.raises(QueryError) as told:
        found.narrowest  # noqa: B018
    assert told.value.code == "Q130"
    assert "no answer, the noise is too large" in found.to_text()


def test_private_numbers_of_rows_are_guessed() -> None:
    found = tc.compare(tc.Mean("fare"), SCHEMA, epsilon=1, neighbors="add-remove")
    assert found.guessed
    assert "10,000 rows, a guess" in found.to_text()
    # bins that are chosen by the number of rows need one
    assert found["Histogram, its mean"].reason is not None
    assert tc.compare(tc.Mean("fare"), SCHEMA, rows=5_000, epsilon=1, neighbors="add-remove")[
        "Histogram, its mean"
    ].answers


@pytest.mark.parametrize(
    ("question", "facts", "code"),
    [
        ("fare", {}, "Q04"),
        (7, {}, "Q04"),
        ("tip ~", {}, "Q85"),
        (tc.Mean("fares"), {}, "Q10"),
        (tc.Mean("fare"), {"rows": None}, "Q41"),
        (tc.Mean("fare"), {"rows": 1}, "Q41"),
        (tc.Mean("fare"), {"rows": 10.5}, "Q41"),
        (tc.Mean("fare"), {"expect": {"fare": {"mean": 200, "sd": 1}}}, "Q42"),
        (tc.Mean("fare"), {"law": "gamma"}, "Q95"),
        (tc.Sum("fare"), {"law": GAMMA}, "Q130"),
        (tc.Mean(["fare", "tip"]), {"law": GAMMA}, "Q130"),
        (tc.Mean("fare"), {"price": 1}, "Q05"),
        (tc.Count(), {}, "Q32"),
    ],
)
def test_bad_questions_are_refused_in_words(question: Any, facts: dict[str, Any], code: str) -> None:
    with pytest.raises(QueryError) as told:
        tc.compare(question, SCHEMA, **{"rows": 5_000, "epsilon": 1, **facts})
    assert told.value.code == code


def test_bad_prices_are_refused_in_words() -> None:
    for price in ({}, {"epsilon": 1, "rho": 1}, {"rho": -1}, {"epsilon": 1, "delta": 1}):
        with pytest.raises(BudgetError):
            tc.compare(tc.Mean("fare"), SCHEMA, rows=5_000, **price)
    with pytest.raises(BudgetError):
        compared(tc.Mean("fare"), neighbors="remove")
    with pytest.raises(tc.TacitError):
        compared(tc.Mean("fare"), level=0.2)
    with pytest.raises(QueryError) as told:
        compared(tc.Mean("fare"))["Median"]
    assert told.value.code == "Q130"


def test_every_claim_names_a_page_of_the_reference() -> None:
    found = [one for one in vars(claims).values() if isinstance(one, Claim)]
    assert len(found) > 10
    for one in found:
        assert (PAGES / one.page).exists()
        assert all((one.how, one.gives, one.fails))
