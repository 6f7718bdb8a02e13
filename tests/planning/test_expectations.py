"""Plans that take what is known beforehand: widths are those of releases of such tables; what cannot be is refused."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from in_process import inside

import tacit as tc
from tacit import families
from tacit.errors import TacitError
from tacit.method.shared.plan_shares import EVEN, Spread, cell_shares
from tacit.planning.small_groups import LARGE, SMALL

SCHEMA = tc.Schema(
    {
        "fare": tc.Real(0, 100, units="USD"),
        "tip": tc.Real(0, 50),
        "borough": tc.Category(["Manhattan", "Queens", "Bronx", "Brooklyn"]),
        "card": tc.Boolean(),
        "day": tc.Date("2024-01-01", "2024-12-31"),
        "who": tc.PrivacyUnit(max_rows=3),
    }
)
PLAIN = tc.Schema({name: SCHEMA[name] for name in ("fare", "tip", "borough", "card", "day")})
SHARES = {"Manhattan": 0.7, "Queens": 0.2, "Bronx": 0.06}  # Brooklyn has the rest
EXPECT: dict[str, Any] = {"borough": SHARES, "fare": {"mean": 12, "sd": 9}, "card": {True: 0.2}}
ROWS = 20_000


def table(seed: int = 3) -> dict[str, np.ndarray]:
    """Rows as expected, drawn from other laws than the one that plans assume where moments decide: a gamma of fares."""
    rng = np.random.default_rng(seed)
    return {
        "fare": rng.gamma((12 / 9) ** 2, 81 / 12, ROWS),
        "tip": rng.uniform(0, 50, ROWS),
        "borough": rng.choice(["Manhattan", "Queens", "Bronx", "Brooklyn"], ROWS, p=[0.7, 0.2, 0.06, 0.04]),
        "card": rng.random(ROWS) < 0.2,
        "day": np.full(ROWS, np.datetime64("2024-05-05")),
    }


@pytest.fixture(scope="module")
def curator() -> tc.Curator:
    return tc.Curator(table(), PLAIN, budget=tc.Budget(rho=100), name="rides", ledger=None)


@pytest.mark.parametrize(
    ("query", "within"),
    [
        # a width of a group of 800 rows follows a standard deviation estimated with noise: 5 of its standard errors
        (tc.Mean("fare", by="borough"), 0.3),
        (tc.Mean("fare"), 0.15),
        (tc.Count(by="borough"), 0.1),
        (tc.Mean("card", by="borough"), 0.2),
        # its error has the fourth moment, which is another of the gamma law than of the Beta law that is assumed
        (tc.Variance("fare"), 0.4),
        # an interval of ranks has the width of the density where it happens to end
        (tc.Quantiles("fare", [0.25, 0.5, 0.75]), 0.5),
        (tc.Histogram("borough"), 0.1),
        (tc.Regression("fare ~ card"), 0.35),
        (tc.Regression("tip ~ borough"), 0.35),
        (tc.Regression("card ~ tip", model="logistic"), 0.35),
    ],
    ids=str,
)
def test_widths_are_those_of_a_table_as_expected(curator: tc.Curator, query: tc.Query[Any], within: float) -> None:
    page = curator.plan(query, rho=0.5, expect=EXPECT)
    limits = np.atleast_2d(np.asarray(curator.release(query, rho=0.5).estimate().conf_int(0.95), dtype=float))
    wide = limits[:, 1] - limits[:, 0]
    planned = [one.width for one in page.parts[0].terms]
    assert np.isfinite(planned).all()
    assert wide == pytest.approx(planned, rel=within)


def test_without_expectations_a_plan_of_these_rows_says_another_width(curator: tc.Curator) -> None:
    """Even values and groups: the interval of the largest group is planned more than twice as wide as it is."""
    blind = curator.plan(tc.Mean("fare", by="borough"), rho=0.5)
    told = curator.plan(tc.Mean("fare", by="borough"), rho=0.5, expect=EXPECT)
    first = [page.parts[0].terms[0].width for page in (blind, told)]
    assert first[0] > 2 * first[1]


def test_the_price_for_a_width_goes_by_the_smallest_group() -> None:
    def width(rho: Any) -> float:
        return tc.plan(tc.Mean("fare", by="borough"), PLAIN, rows=ROWS, rho=rho, expect=known).width

    known = {"borough": {"Bronx": 0.1}}
    price = tc.plan(tc.Mean("fare", by="borough"), PLAIN, rows=ROWS, width=4, expect=known).cost.zcdp
    assert width(price) <= 4 < width(price * 9 / 10)


def test_a_group_of_another_size_is_said_where_nothing_is_known() -> None:
    page = tc.plan({"m": tc.Mean("fare", by="borough"), "n": tc.Count(by="borough")}, PLAIN, rows=ROWS, rho=0.5)
    mean, count = page.parts
    assert mean.other is not None
    assert count.other is not None
    assert (mean.other.share, count.other.share) == (SMALL, LARGE)
    small = tc.plan(
        tc.Mean("fare", by="borough"), PLAIN, rows=ROWS, rho=0.5, expect={"borough": {"Bronx": SMALL}}
    ).parts[0]
    assert mean.other.width == pytest.approx(small.terms[2].width, rel=0.05)
    half = tc.plan(tc.Count(by="borough"), PLAIN, rows=ROWS, rho=0.5, expect={"borough": {"Bronx": LARGE}}).parts[0]
    assert count.other.width == pytest.approx(half.terms[2].width, rel=0.05)
    text = page.to_text()
    assert "for a group of 1 %" in text
    assert "'borough'" in text
    known = tc.plan(tc.Mean("fare", by="borough"), PLAIN, rows=ROWS, rho=0.5, expect=EXPECT)
    assert known.parts[0].other is None
    assert "for a group of" not in known.to_text()


def test_a_group_too_small_to_answer_is_a_caution() -> None:
    page = tc.plan(tc.Mean("fare", by="borough"), PLAIN, rows=400, rho=0.05)
    assert math.isfinite(page.width)
    assert any("a group of 1 % would have no answer" in one for one in page.cautions())
    told = tc.plan(tc.Mean("fare", by="borough"), PLAIN, rows=400, rho=0.05, expect={"borough": {"Bronx": 0.005}})
    assert not math.isfinite(told.width)
    assert any("noise too large" in one for one in told.cautions())


def test_levels_that_are_not_named_share_the_rest_and_what_none_has_is_missing() -> None:
    design = tc.plan(tc.Count(by=["borough", "card"]), PLAIN, rows=100, rho=1, expect=EXPECT)
    shares = cell_shares(design.parts[0].shape, design.expect).reshape(4, 2)
    assert shares.sum(axis=1) == pytest.approx([0.7, 0.2, 0.06, 0.04])
    assert shares.sum(axis=0) == pytest.approx([0.8, 0.2])
    some = tc.plan(tc.Count(by="card"), PLAIN, rows=100, rho=1, expect={"card": {"true": 0.3, "false": 0.5}})
    assert cell_shares(some.parts[0].shape, some.expect) == pytest.approx([0.5, 0.3])


def test_missing_cells_widen_a_mean() -> None:
    def width(missing: float) -> float:
        known = {"fare": {"mean": 12, "sd": 9, "missing": missing}}
        return tc.plan(tc.Mean("fare"), PLAIN, rows=ROWS, rho=10, expect=known).width

    assert width(0.75) == pytest.approx(2 * width(0), rel=0.02)


@pytest.mark.parametrize("mean", [0.02, 0.5, 0.93])
@pytest.mark.parametrize("part", [0.001, 0.3, 0.9, 1.0])
def test_points_have_the_mean_and_sd_that_are_expected(mean: float, part: float) -> None:
    """`part`: of the largest standard deviation between the bounds with that mean."""
    law = Spread(mean, part * math.sqrt(mean * (1 - mean)))
    x = law.points(1_001)
    assert x.mean() == pytest.approx(mean, abs=0.002)
    assert x.std() == pytest.approx(law.sd, rel=0.02)
    assert law.below(np.array([1.0])) == pytest.approx([1.0])
    q = law.at(np.array([0.2, 0.6]))
    if 0.01 < part < 0.8:
        assert law.below(q) == pytest.approx([0.2, 0.6], abs=1e-6)


def test_even_values_are_the_uniform_law() -> None:
    x = EVEN.points(1_001)
    assert (x.mean(), x.std()) == pytest.approx((EVEN.mean, EVEN.sd), rel=0.01)


@pytest.mark.parametrize(
    ("expect", "code", "words"),
    [
        ({"boro": {}}, "Q10", "not in the schema"),
        ({"borough": {"Manhatan": 0.7}}, "Q42", "'Manhattan'"),
        ({"borough": {"Manhattan": 0.7, "Queens": 0.4}}, "Q42", "add up to 1.1, more than 1"),
        ({"borough": {"Manhattan": -0.1}}, "Q42", "not from 0 to 1"),
        ({"borough": {"Manhattan": True}}, "Q42", "not a number"),
        ({"borough": dict.fromkeys(SHARES | {"Brooklyn": 0}, 0)}, "Q42", "no level has any rows"),
        ({"borough": 0.7}, "Q42", "0.7"),
        ({"fare": {"mean": 120, "sd": 9}}, "Q42", "outside the bounds 0 to 100"),
        ({"fare": {"mean": 12}}, "Q42", "no sd"),
        ({"fare": {"mean": 12, "sd": 60}}, "Q42", "not from 0 to 32.5"),
        ({"fare": {"mean": 50, "sd": -1}}, "Q42", "not from 0 to 50"),
        ({"fare": {"mean": float("nan"), "sd": 1}}, "Q42", "not a number"),
        ({"fare": {"mean": 10**400, "sd": 1}}, "Q42", "not a number"),
        ({"fare": {"mean": 12, "std": 9}}, "Q42", "not mean, sd, quantiles or missing"),
        ({"fare": {"mean": 12, "sd": 9, "missing": 1}}, "Q42", "every cell is missing"),
        ({"day": {"mean": "May", "sd": 9}}, "S06", "not a date"),
        ({"who": {"mean": 1, "sd": 1}}, "Q42", "PrivacyUnit"),
        ("fare", "Q42", "not a table"),
    ],
    ids=str,
)
def test_what_cannot_be_true_is_refused_in_words(expect: Any, code: str, words: str) -> None:
    with pytest.raises(TacitError) as refused:
        tc.plan(tc.Mean("fare"), SCHEMA, rows=100, rho=1, expect=expect)
    assert refused.value.code == code
    assert words in str(refused.value)


def test_dates_are_expected_as_dates() -> None:
    known = {"day": {"mean": "2024-07-01", "sd": 10}}
    narrow = tc.plan(tc.Mean("day"), PLAIN, rows=ROWS, rho=10, expect=known).width
    assert narrow == pytest.approx(2 * 1.96 * 10 / math.sqrt(ROWS), rel=0.05)


def test_a_study_says_what_is_known_of_a_typical_party() -> None:
    """In every plan of it, pooled widths too, and in no digest."""
    text = """
tacit = 1
[table]
rows = 900
[budget]
epsilon = 1
neighbors = "add-remove"
[schema]
stay = { type = "Integer", lower = 0, upper = 60, units = "days" }
[spend]
epsilon = 0.5
[ask.stay]
query = "Mean"
columns = "stay"
[combine]
effects = "common"
[parties.a]
[parties.b]
"""
    plain = tc.Study.from_toml(text)
    told = tc.Study.from_toml(text.replace("[spend]", "[expect]\nstay = { mean = 30, sd = 3 }\n[spend]"))
    assert plain.digest() == told.digest()
    known = {"stay": {"mean": 30, "sd": 3}}
    widths = [page.width for page in (told.plan(), plain.plan(expect=known), plain.plan())]
    assert widths[0] == widths[1] < 0.6 * widths[2]
    pooled = [page.parties.pooled("stay", "stay") for page in (told.plan(), plain.plan())]  # type: ignore[union-attr]
    assert pooled[0] < 0.6 * pooled[1]
    assert told.plan(expect={"stay": {"mean": 30, "sd": 15}}).width > widths[0]
    curator = tc.Curator({"stay": [1, 2, 3]}, told, name="a", size_hint=900)
    assert curator.plan(told).width == pytest.approx(widths[0])
    with pytest.raises(TacitError, match=r"Q42.*\[expect\].*outside the bounds"):
        tc.Study.from_toml(text.replace("[spend]", "[expect]\nstay = { mean = 90, sd = 3 }\n[spend]"))


# Parameters of laws -------------------------------------------------------------------------------------------------

WAIT = tc.Schema({"wait": tc.Real(0, 60), "free": tc.Real()})
RATE = families.Exponential(rate=(0.05, 0.4))
LAW = tc.SufficientStatistics("wait", RATE)
BLOCKS = tc.SampleAndAggregate("free", RATE, blocks=200)


@pytest.mark.parametrize(("query", "column"), [(LAW, "wait"), (BLOCKS, "free")])
def test_a_law_is_planned_at_the_parameters_that_are_expected(query: Any, column: str) -> None:
    """Widths are those of releases; of 200 blocks one width varies by about 9%, the median of nine by 4%."""
    rows = np.random.default_rng(0).exponential(10, ROWS)
    data = {"wait": rows, "free": rows}
    curators = (tc.Curator(data, WAIT, budget=tc.Budget(rho=900)) for _ in range(9))
    made = [curator.release(query, rho=900).estimate().conf_int() for curator in curators]
    known = tc.plan(query, WAIT, rows=ROWS, rho=900, expect={column: {"rate": 0.1}})
    (term,) = known.parts[0].terms
    assert term.width == pytest.approx(np.median([high - low for low, high in made]), rel=0.25)
    assert "rate 0.1, as expected" in str(known)
    (middle,) = tc.plan(query, WAIT, rows=ROWS, rho=900).parts[0].terms
    assert middle.width > 1.3 * term.width  # the middle of the box, 0.14, has the larger error
    # a question's name stands for its column, and a price is found for a width at the same parameters
    named = tc.plan({"law": query}, WAIT, rows=ROWS, rho=900, expect={"law": {"rate": 0.1}})
    assert named.parts[0].terms[0].width == pytest.approx(term.width)
    assert named.digest == tc.plan({"law": query}, WAIT, rows=ROWS, rho=900).digest
    wanted = {"expect": {"law": {"rate": 0.1}}, "width": 1.2 * term.width}
    assert tc.plan({"law": query}, WAIT, rows=ROWS, **wanted).parts[0].terms[0].width <= 1.2 * term.width


def test_the_mean_of_a_column_is_that_of_its_normal_law_and_of_no_other() -> None:
    schema = tc.Schema({"x": tc.Real(-10, 10)})
    normal = tc.SufficientStatistics("x", families.Normal(mean=(-8, 8), sd=(0.5, 5)))
    said = str(tc.plan(normal, schema, rows=ROWS, rho=1, expect={"x": {"mean": 2, "sd": 1}}))
    assert "at mean 2, sd 1, as expected" in said
    both = {"x": {"mean": 2, "sd": 1}, "q": {"sd": 3}}
    assert "at mean 2, sd 3, as expected" in str(tc.plan({"q": normal}, schema, rows=ROWS, rho=1, expect=both))
    positive = tc.Schema({"x": tc.Real(0.1, 40)})
    lognormal = tc.SufficientStatistics("x", families.Lognormal(mean=(-2, 2), sd=(0.2, 3)))
    said = str(tc.plan(lognormal, positive, rows=ROWS, rho=1, expect={"x": {"mean": 2, "sd": 1}}))
    assert "in the middle of its box" in said


@pytest.mark.parametrize(
    ("expect", "words"),
    [
        ({"wait": {"rate": 3}}, "rate 3 is outside its box, 0.05 to 0.4"),
        ({"wait": {"rate": "x"}}, "rate is 'x', not a number"),
        ({"law": {"mean": 1}}, "has 'mean': none of rate"),
        ({"law": 3}, "expect of 'law' is 3"),
        ({"wait": {"shape": 1}}, "has 'shape': not mean, sd, quantiles or missing"),
        ({"laws": {"rate": 1}}, "laws"),
    ],
)
def test_parameters_that_cannot_be_are_refused(expect: Any, words: str) -> None:
    with pytest.raises(TacitError, match=words):
        tc.plan({"law": LAW}, WAIT, rows=ROWS, rho=1, expect=expect)


def test_a_file_says_parameters_as_python_does(tmp_path: Path) -> None:
    text = """
tacit = 1
[table]
rows = 20_000
[budget]
rho = 1
[schema]
wait = { type = "Real", lower = 0, upper = 60 }
[expect]
wait = { rate = 0.1, mean = 10, sd = 9 }
[spend]
rho = 1
[ask.law]
query = "SufficientStatistics"
what = "wait"
family = { family = "Exponential", rate = [0.01, 2] }
"""
    (tmp_path / "job.toml").write_text(text)
    code, out, err = inside(tmp_path, "plan", "job.toml")
    assert (code, err) == (0, "")
    assert "rate 0.1, as expected" in out
    code, out, _ = inside(tmp_path, "plan", "job.toml", "--expect", "law = { rate = 0.5 }")
    assert (code, "rate 0.5, as expected" in out) == (0, True)
    (tmp_path / "job.toml").write_text(text.replace("rate = 0.1,", "rat = 0.1,"))
    code, _, err = inside(tmp_path, "plan", "job.toml")
    assert (code, "[Q42] [expect] expect of 'wait' has 'rat'" in err) == (2, True)
