"""bins="auto": as many as public facts advise, the same for the same facts, named by the plan and by the axes."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tacit as tc
from tacit.curator.mechanisms import design
from tacit.errors import QueryError
from tacit.fits.cells.released_cells import cells_of
from tacit.method.shared.measurement import Public
from tacit.privacy import Cost
from tacit.release.query import query_from_dict
from tacit.schema.autobins import LEAST, advised, for_density, round_bins, uneven_edges

SCHEMA = tc.Schema(
    {
        "age": tc.Real(18, 93),
        "income": tc.Real(0, 300_000),
        "educ": tc.Integer(1, 4),
        "year": tc.Integer(1901, 2000),
        "day": tc.Date("2024-01-01", "2024-01-06"),
        "sex": tc.Category({0: "male", 1: "female"}),
        "free": tc.Real(),
        # bounds between which no round width has a place
        "depth": tc.Real(0, 3.1416),
        "height": tc.Real(-1.4142, 1.7321),
    }
)


def sizes(query: Any, n: int | None = 250_000, neighbors: str = "replace-one", **price: Any) -> tuple[int, ...]:
    shape = design(query, Public(SCHEMA, neighbors, n), Cost.of(**(price or {"epsilon": 1})))
    return tuple(key.size for key in shape.keys)


def test_the_rule_of_theory_7_with_a_bias_of_one_order_less() -> None:
    """The housing data of Lei: n = 250,070 and two continuous columns; 12 and 8 by the rule for smooth densities."""
    assert (advised(250_070, 1, 2), advised(250_070, 0.1, 2)) == (22, 13)
    assert sizes(tc.Histogram(["depth", "height"], bins="auto")) == (22, 22)
    assert sizes(tc.Histogram(["depth", "height"], bins="auto"), epsilon=0.1) == (13, 13)
    assert sizes(tc.Histogram(["depth", "height"], bins="auto"), epsilon=0.05, neighbors="replace-one") == (11, 11)
    # add-remove noise has half the scale: alpha is twice epsilon; and a normal of the same variance has the same alpha
    assert sizes(tc.Histogram(["depth", "sex"], bins="auto")) == (advised(250_000, 1, 1), 2)
    normal = advised(250_000, 2**0.5 / 2 * 2**0.5, 1)
    assert sizes(tc.Histogram(["depth", "sex"], bins="auto"), rho="1/8") == (normal, 2)


def test_widths_are_round_numbers_where_bounds_allow_it() -> None:
    made = design(
        tc.Histogram(["age", "income"], bins="auto"), Public(SCHEMA, "replace-one", 250_000), Cost.of(epsilon=1)
    )
    for one, width in zip(made.axes, (3, 15_000), strict=True):
        # as many as of the round width, of two widths about it
        edges = np.asarray(one.edges)
        assert len(edges) - 1 == round((edges[-1] - edges[0]) / width)
        assert tuple(edges[1:-1].tolist()) == uneven_edges(float(edges[0]), float(edges[-1]), len(edges) - 1)
        parts = np.diff(edges)[1:-1] / width
        assert (np.minimum(abs(parts - 0.94), abs(parts - 1.09)) < 0.025).all()
    for lower, upper in ((18, 93), (0, 300_000), (-1, 1), (0, 0.7), (1e6, 1.3e6), (0.1, 0.4)):
        for K in range(LEAST, 200):
            for k in round_bins(lower, upper, K):
                width = Fraction(str(upper)) - Fraction(str(lower))
                first = f"{float(width / k):.15e}".partition("e")[0].rstrip("0").rstrip(".")
                assert first in ("1", "1.5", "2", "2.5", "3", "5", "7.5")
                assert max(k / K, K / k) <= 1.5
    assert round_bins(0, 3.1416, 18) == []


def test_heaps_have_one_place_in_bins_of_round_widths() -> None:
    """In 18 bins of 0 to 100 multiples of 5 drift from one end of the bin to the other, nearly always one a bin."""
    heaps = np.arange(0, 100, 5) + 1e-9
    for bins, spread in ((18, 0.2), (20, 1e-6)):
        place = heaps * bins / 100 % 1
        assert (float(place.std()) > spread) == (bins == 18)
        counts = np.bincount((heaps * bins / 100).astype(int), minlength=bins)
        assert np.bincount(counts)[1] >= bins - 2


def test_cells_keep_two_over_alpha_rows_where_they_can() -> None:
    for n in (200, 2_000, 20_000, 10**6, 10**9):
        for alpha in ("1/10", 1, 4):
            for names in (["age"], ["age", "income"], ["age", "income", "sex", "educ"], ["age", "income", "year"]):
                found = sizes(tc.Histogram(names, bins="auto"), n, epsilon=alpha)
                cells = float(np.prod(found))
                assert min(found[: len(names) if "sex" not in names else 2]) >= LEAST
                assert cells <= 2**20
                if found[0] > LEAST:
                    assert n / cells >= 2 / float(Cost.of(epsilon=alpha).epsilon or 0)  # pyright: ignore


def test_integers_days_and_levels() -> None:
    found = design(
        tc.Histogram(["age", "educ", "year", "sex"], bins="auto", outside=True),
        Public(SCHEMA, "replace-one", 250_000),
        Cost.of(epsilon=4),
    )
    age, educ, year, sex = found.keys
    assert educ.labels == ("1", "2", "3", "4", "below", "above")  # so few are left to themselves
    assert sex.labels == ("male", "female")
    width = -(-100 // age.regular)
    assert year.regular == -(-100 // width)
    assert year.labels[0] == f"1,901 to {1900 + width:,}"
    assert {b - a for a, b in zip(found.axes[2].edges[:-2], found.axes[2].edges[1:-1], strict=True)} == {width}
    assert found.axes[2].edges[0] == 1900.5
    assert found.axes[2].edges[-1] == 2000.5
    assert sizes(tc.Histogram("day", bins="auto"))[0] == 5  # no day is in two bins, and none is empty


def test_mixed_with_bins_of_ones_own() -> None:
    query = tc.Histogram(["age", "income", "sex"], bins={"age": "auto", "income": [0, 10_000, 300_000]})
    assert sizes(query) == (round_bins(18, 93, advised(250_000, 1, 2))[0], 2, 2)
    assert query_from_dict(query.to_dict()) == query
    assert tc.Histogram(["age", "sex"], bins="auto") == tc.Histogram(
        ["age", "sex"], bins={"age": "auto", "sex": "auto"}
    )


def test_bins_of_densities() -> None:
    assert [for_density(n, 1, 1) for n in (1_000, 10_000, 100_000)] == [48, 85, 152]
    # of integer noise alpha is a little above epsilon; a normal law of the same variance has the same
    for n, price in ((10_000, {"epsilon": 1}), (20_000, {"epsilon": "1/2"}), (14_142, {"rho": "1/16"})):
        assert sizes(tc.Histogram("depth", bins="density"), n, **price)[0] in (85, 86)
    # of groups the rows of one, on average; of two columns fewer bins of each
    assert sizes(tc.Histogram(["depth", "sex"], bins="density"), 20_000) in ((85, 2), (86, 2))
    assert sizes(tc.Histogram(["depth", "height"], bins="density"), 10_000) == (21, 21)
    # whole numbers have one bin each where they are few, and widths are round
    assert sizes(tc.Histogram("educ", bins="density"), 10_000) == (4,)
    assert sizes(tc.Histogram("age", bins="density"), 10_000) == (75,)
    # each column has its own word, and no more bins than leave 2 / alpha rows
    mixed = sizes(tc.Histogram(["depth", "height"], bins={"depth": "density", "height": "auto"}), 10_000)
    assert mixed in ((21, advised(10_000, 1, 2)), (21, advised(10_000, 1.04, 2)))
    assert sizes(tc.Histogram("depth", bins="density"), 40)[0] in (20, 21)
    assert query_from_dict(tc.Histogram("age", bins="density").to_dict()) == tc.Histogram("age", bins="density")
    planned = tc.plan(tc.Histogram("age", bins="density"), SCHEMA, rows=10_000, epsilon=1)
    assert "bins chosen: 75 of age" in str(planned)


@pytest.mark.parametrize(
    ("make", "code"),
    [
        (lambda: sizes(tc.Histogram("age", bins="auto"), None, "add-remove"), "Q82"),
        (lambda: sizes(tc.Histogram("age", bins="density"), None, "add-remove"), "Q82"),
        (lambda: sizes(tc.Histogram("free", bins="density")), "Q12"),
        (lambda: tc.Histogram("age", bins="densities"), "Q64"),  # pyright: ignore
        (lambda: tc.Count(by="age", bins="density"), "Q64"),  # pyright: ignore
        (lambda: sizes(tc.Histogram("free", bins="auto")), "Q12"),
        (lambda: sizes(tc.Histogram(["age", "ages"], bins="auto")), "Q10"),
        (lambda: tc.Histogram("age", bins="automatic"), "Q64"),  # pyright: ignore
        (lambda: tc.Histogram("age", bins={"age": float("nan")}), "Q64"),  # pyright: ignore
        (lambda: tc.Histogram("age", bins=[18.0, float("inf")]), "Q64"),
        (lambda: sizes(tc.Histogram("age", bins={"age": "some"})), "Q64"),  # pyright: ignore
        (lambda: tc.Count(by="age", bins="auto"), "Q64"),  # pyright: ignore
        (lambda: sizes(tc.Count(by="age", bins={"age": "auto"})), "Q64"),  # pyright: ignore
        (lambda: tc.plan(tc.Histogram("age", bins="auto"), SCHEMA, rho=0.1, neighbors="add-remove"), "Q82"),
        (lambda: tc.Curator({"age": [1.0]}, {"age": SCHEMA["age"]}, budget=tc.Budget(rho=1), size_hint=1), "Q41"),
    ],
)
def test_what_is_refused(make: Any, code: str) -> None:
    with pytest.raises(QueryError) as refused:
        make()
    assert refused.value.code == code


def test_stored_answers_are_found_again_and_plans_name_the_bins(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    data = {"age": rng.uniform(18, 93, 20_000), "sex": rng.integers(0, 2, 20_000)}
    schema = tc.Schema({name: SCHEMA[name] for name in data})
    query = tc.Histogram(["age", "sex"], bins="auto", outside=True)
    where = tmp_path / "people.ledger"
    words: dict[str, Any] = {"name": "people", "budget": tc.Budget(rho=1), "ledger": where}
    release = tc.Curator(data, schema, **words).release(query, rho=0.1)
    bins = round_bins(18, 93, advised(20_000, 2 * 0.1**0.5 * 2**0.5, 1))[0]
    assert release.query.to_dict()["bins"] == {"age": "auto", "sex": "auto"}
    assert len(release.axes[0].edges) == bins + 1
    again = tc.Curator(data, schema, **words)
    assert again.release(query, rho=0.1) == release
    assert str(again.spent.rho) == "1/10"
    assert f"bins chosen: {bins} of age" in str(again.plan(query, rho=0.1))
    assert cells_of(release).axes[0].bins == bins
    page = tc.plan(query, schema, rows=20_000, rho=0.1)
    assert page.parts[0].shape.axes == release.axes


def test_a_hint_where_the_number_is_private(tmp_path: Path) -> None:
    data = {"age": np.linspace(18, 93, 500)}
    schema = tc.Schema({"age": SCHEMA["age"]})
    budget = tc.Budget(epsilon=4, neighbors="add-remove")
    curator = tc.Curator(data, schema, budget=budget, size_hint=20_000)
    query = tc.Histogram("age", bins="auto")
    release = curator.release(query, epsilon=1)
    assert release.counts.shape == (round_bins(18, 93, advised(20_000, 2, 1))[0],)
    assert release.rows is None
    assert curator.plan(query, epsilon=1).parts[0].shape.axes == release.axes


def test_a_study_has_bins_of_its_own() -> None:
    text = """
tacit = 1
[budget]
epsilon = 1
[schema]
age = { type = "Real", lower = 18, upper = 93 }
[spend]
epsilon = 0.5
[ask.cells]
query = "Histogram"
columns = "age"
bins = "auto"
"""
    with pytest.raises(QueryError, match=r"\[ask.cells\]") as refused:
        tc.Study.from_toml(text)
    assert refused.value.code == "Q82"
    assert tc.Study.from_toml(text.replace('bins = "auto"', "bins = { age = 9 }")).asks["cells"].to_dict()["bins"]


def test_the_rows_of_a_file_decide_where_their_number_is_private(tmp_path: Path) -> None:
    """`tacit plan` and `tacit release` of the same file choose the same bins."""
    from tacit.cli import actions
    from tacit.release.document import Releases

    tc.examples.people(500).to_parquet(tmp_path / "people.parquet")
    (tmp_path / "job.toml").write_text("""
tacit = 1
[table]
name = "people"
rows = 5_000
[data]
path = "people.parquet"
[budget]
epsilon = 1
neighbors = "add-remove"
[schema]
age = { type = "Real", lower = 18, upper = 93 }
[spend]
epsilon = 1
[ask.cells]
query = "Histogram"
columns = "age"
bins = "auto"
""")
    job = str(tmp_path / "job.toml")
    bins = round_bins(18, 93, advised(5_000, 2, 1))[0]
    actions.plan(job, {}, None, None, [], str(tmp_path / "plan.txt"), False)
    assert f"bins chosen: {bins} of age" in (tmp_path / "plan.txt").read_text()
    actions.release(job, {}, None, "", str(tmp_path / "out.json"), None, fresh=False, as_json=False)
    assert Releases.load(tmp_path / "out.json")["cells"].counts.shape == (bins,)
