"""The published schema accepts every release that this version writes, and nothing that is damaged."""

from __future__ import annotations

import contextlib
import copy
import itertools
import json
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from json_schema import faults, fits

import tacit as tc
from tacit import families
from tacit.base.json_text import canonical
from tacit.catalogue import json_schema as documents
from tacit.estimates.noisy_terms.noisy_moments import BINARY
from tacit.method.additive.statistic import passed
from tacit.method.bernstein.encoding import lattice
from tacit.method.blocks import design as blocks_design
from tacit.method.quality import encoding as quality_encoding
from tacit.method.regression.row_sums import norm_person_encoding, split_score_encoding
from tacit.method.shared import encoding as moment_forms
from tacit.method.shared import weighted_encoding as weighted_forms
from tacit.noise.stored_laws import VECTORS
from tacit.privacy import Cost
from tacit.release.document import release_from_dict, releases_from_dict
from tacit.release.encoding_rules import ADDS, FORMS, SELECTS, forms_of
from tacit.release.registry import QUERIES

SCHEMA = tc.release_schema()
COLUMNS: dict[str, Any] = {
    "age": tc.Real(0, 100, units="years"),
    "filled": tc.Real(0, 10, missing=0),
    "visits": tc.Integer(0, 9, missing=0),
    "born": tc.Date("1950-01-01", "2020-12-31"),
    "ok": tc.Boolean(),
    "sure": tc.Boolean(missing=False),
    "region": tc.Category(["north", "south"], missing="unknown"),
    "free": tc.Real(),
    "weight": tc.Real(0, 5),
    "said": tc.Text(max_length=12, trim=True),
}


def _slope(rows: np.ndarray) -> float:
    return float(np.polyfit(rows[:, 1], rows[:, 0], 1)[0])


OWN = tc.extend.additive(
    "capped-and-share",
    rows=lambda column, cap: [tc.col(column).clip(0, cap), tc.col(column) > 1],
    sensitivity=lambda column, cap: tc.Sensitivity(l1=cap + 2, l2=cap + 2),
)
QUESTIONS = [
    tc.Count(by="region"),
    tc.Count(by=["ok", "region"], where="age > 30"),
    tc.Sum("age"),
    tc.Sum(["visits", "filled"], by="region"),
    tc.Sum("ok"),
    tc.Mean("age"),
    tc.Mean("filled"),
    tc.Mean("sure"),
    tc.Mean("born"),
    tc.Mean(["age", "ok"], by=["region", "visits"], bins={"visits": [0, 3, 9]}, where="region == 'north' or ok"),
    tc.Mean("age", by="filled", bins={"filled": 4}),
    tc.Histogram(["age", "region", "born"], bins={"age": 3, "born": 2}, where="age > 3"),
    tc.Histogram(["age", "ok"], bins={"age": 3}, missing=True, outside=True),
    tc.Histogram(["age", "ok", "visits"], bins="auto"),
    tc.SufficientStatistics("age", families.Normal(mean=(0, 100), sd=(1, 50)), where="age > 3"),
    tc.SufficientStatistics("free", families.Gamma(), bounds={"free": (0, 20), "log(free)": (-5, 3)}),
    tc.SufficientStatistics("ok", families.Bernoulli()),
    tc.SampleAndAggregate("free", families.Exponential(rate=(0.05, 5))),
    tc.SampleAndAggregate("free", families.Gamma(), parameters="shape"),
    tc.SampleAndAggregate("free", families.Pareto(minimum=1.5)),
    tc.SampleAndAggregate("free", tc.Statistic("median", median=(0, 9))),
    tc.SampleAndAggregate(["free", "filled"], tc.Statistic(_slope, columns=2, slope=(-9, 9), default=(1,))),
    tc.SampleAndAggregate(
        ["free", "filled"],
        families.LinearRegression(regressors=1),
        blocks=8,
        rows=200,
        bias="none",
        where="age > 3",
    ),
    tc.Histogram(["age", "ok"], bins={"age": 20}, sparse=True),
    tc.Histogram(["age", "region"], bins={"age": 2}, sparse=True, threshold=1_000_000),
    tc.Variance("age"),
    tc.Variance("filled", by="region"),
    tc.Variance("filled", interval=False),
    tc.Mean(["age", "visits"]),
    tc.Sum(["visits", "ok"]),
    tc.Variance(["age", "filled"]),
    tc.Bernstein("age", degree=5),
    tc.Bernstein("visits", order=1),
    tc.Bernstein("born", degree=12, order=3, where="age > 3"),
    tc.RiskFunction("ok", "age", degree=2),
    tc.RiskFunction("ok", "born", "hinge", degree=2),
    tc.RiskFunction("filled", ["visits", "ok"], "huber", box=1.5, degree=2, where="age > 3"),
    tc.OrthogonalSeries(["age", "filled"], terms=3),
    tc.OrthogonalSeries("born", "legendre", terms=4, where="age > 3"),
    tc.KSDataset("age", size=20, cells=12),
    tc.KSDataset("filled", size=30),
    tc.KSDataset("born", size=15, cells=50, where="age > 3"),
    tc.ExponentialMechanism(["region", "ok"]),
    tc.ExponentialMechanism("visits", {"a": [1, 0, -2], "b": [0, 3, 1]}, bins={"visits": 3}, sensitivity=9),
    tc.ExponentialMechanism("age", {"a": [1, 2, 1], "b": [1, 0, 1]}, "ks", bins={"age": 3}, where="age > 3"),
    tc.KernelDensity(["age", "filled"], bandwidth={"age": 2}),
    tc.KernelDensity("born", where="age > 3"),
    tc.KernelDensity(["visits", "age", "born"], bandwidth={"visits": 2, "age": 30, "born": 900}),
    OWN(column="age", cap=65),
    OWN(column="filled", cap=3, where="ok", moments=False),
]
ROWS = [
    tc.Quantiles("age", [0.5, 0.9], by=["region", "ok"], where="age > 3"),
    OWN(column="age", cap=65, by="region"),
    tc.Mean("age", weights="weight"),
    tc.Mean("ok", by="region", weights="weight"),
    tc.Sum("age", weights="weight"),
    tc.Count(weights="weight"),
    tc.Count(by="region", weights="weight"),
    tc.DataQuality(),
    tc.DataQuality(["age", "region"]),
    tc.Quantiles("age", [0.5]),
    tc.Quantiles("filled", [0.1, 0.5, 0.9], level=0.9),
    tc.Quantiles("age", [0.1, 0.5], by="region", interval=False),
    tc.Quantiles("born", [0.25]),
    tc.Range("free", outside=0.05),
    tc.Regression("age ~ ok + region", where="visits > 0"),
    tc.Regression("age ~ filled"),
    tc.Regression("age ~ filled + ok"),
    tc.SampleAndAggregate("free", tc.families.Exponential(rate=(0.1, 10)), one_step=True, winsorize=True),
    tc.SampleAndAggregate("filled", tc.families.Exponential(rate=(0.1, 10)), one_step=True),
    tc.Regression("ok ~ age + region", model="logistic"),
    tc.Regression("ok ~ age", model="probit"),
    *(tc.Regression(f"visits ~ {regressors}", model="poisson") for regressors in ("age", "ok", "age + ok")),
    *(tc.Regression(f"ok ~ {regressors}", model="logistic") for regressors in ("age", "region", "visits")),
    tc.Regression("age ~ ok + visits", model="huber"),
    tc.Regression("age ~ ok", model="gamma"),
    tc.Regression("age ~ ok", weights="weight"),
    tc.SampleAndAggregate("free", families.Exponential(rate=(0.05, 5)), variance="subsampling", resamples=4),
]
PERSONS = [
    tc.Mean("age", per="row"),
    tc.Mean("age", by="region", per="row"),
    tc.Mean("age", by="region", weights="weight"),
    tc.Count(by="region", weights="weight"),
    tc.DataQuality("age"),
    tc.Regression("age ~ ok + region", where="visits > 0"),
    tc.Regression("ok ~ age + region", model="logistic"),
    tc.Regression("visits ~ age", model="poisson"),
    tc.Regression("visits ~ ok", model="poisson"),
    tc.Regression("age ~ ok", model="huber"),
    tc.Regression("age ~ filled"),
]
PAIR: dict[str, Any] = {"epsilon": 5, "delta": 1e-6}
"""What a bootstrap is bought with."""
PRICES: list[dict[str, Any]] = [{"epsilon": 1}, {"rho": "1/10"}, {"epsilon": 1, "delta": 1e-6}]


def table(n: int = 240) -> pd.DataFrame:
    rng = np.random.default_rng(0)
    days = np.datetime64("1960-01-01") + rng.integers(0, 9_000, n).astype("timedelta64[D]")
    numbers = {name: rng.uniform(0, 5, n) for name in ("filled", "free", "weight")}
    flags = {name: rng.random(n) < 0.5 for name in ("ok", "sure")}
    region = rng.choice(["north", "south"], n)
    words = {"age": rng.uniform(0, 100, n), "visits": rng.integers(0, 10, n), "born": days, "region": region}
    words["said"] = rng.choice(["yes", "no", "perhaps"], n)
    return pd.DataFrame({**words, **numbers, **flags, "who": rng.integers(0, n // 3, n)})


def curator(relation: str, persons: bool, price: dict[str, Any]) -> tc.Curator:
    columns = COLUMNS | ({"who": tc.PrivacyUnit(5)} if persons else {})
    kind: dict[str, Any] = {"epsilon": 900} if set(price) == {"epsilon"} else price if price == PAIR else {"rho": 900}
    schema = tc.Schema(columns)
    for query in (*QUESTIONS, *ROWS):
        passed(query, schema)  # contracts of statistics of one's own are run elsewhere
    return tc.Curator(
        table(), schema, name="people", budget=tc.Budget(**kind, neighbors=relation), size_hint=200, trust=[OWN]
    )  # pyright: ignore


UNITS = tuple(itertools.product(("replace-one", "add-remove"), (False, True)))
"""Relations, of rows and of persons."""
SOME = (UNITS[0], UNITS[3])
REPLICATES = tc.Bootstrap(tc.Mean("age"), 2)
LEVELS = tc.UnlistedLevels("said", where="age > 3")
in_two_tiers = pytest.mark.parametrize(
    "units", [SOME, pytest.param(UNITS, marks=pytest.mark.long)], ids=["some", "all"]
)
few_cases_or_all = pytest.mark.parametrize(
    "chosen", [(SOME, 5), pytest.param((UNITS, 1), marks=pytest.mark.long)], ids=["few", "all"]
)


@cache
def written(units: tuple[tuple[str, bool], ...]) -> tuple[str, ...]:
    """Releases of every kind, as JSON: relations, prices, persons, weights, conditions, bins."""
    made: list[str] = []
    for relation, persons in units:
        turn = UNITS.index((relation, persons))
        askers = [curator(relation, persons, price) for price in PRICES]
        private = [] if relation == "replace-one" else [tc.Count()]
        for i, query in enumerate([*QUESTIONS, *(PERSONS if persons else ROWS), *private]):
            which = (i + turn) % len(PRICES)  # in turn: every question at two prices at least
            made.append(canonical(askers[which].release(query, **PRICES[which]).to_dict()))
        made.append(canonical(curator(relation, persons, PAIR).release(REPLICATES, **PAIR).to_dict()))
        made.append(canonical(curator(relation, persons, PAIR).release(LEVELS, **PAIR).to_dict()))
        # the three steps of a quantile are selected together at pure prices alone
        made.append(canonical(askers[0].release(tc.Quantiles("age", [0.5], level=0.8), **PRICES[0]).to_dict()))
        # and many points by halving
        eighths = tc.Quantiles("age", [f"{i}/8" for i in range(1, 8)], interval=False)
        made.append(canonical(askers[0].release(eighths, **PRICES[0]).to_dict()))
        # many intervals are read from cuts
        tenths = tc.Quantiles("age", [f"{i}/10" for i in range(1, 10)])
        made.append(canonical(askers[0].release(tenths, **PRICES[0]).to_dict()))
    return tuple(made)


@cache
def cases(units: tuple[tuple[str, bool], ...], step: int = 1) -> dict[str, Any]:
    """One document for each combination of question, form and relation, by name; one in `step`."""
    found: dict[str, Any] = {}
    for words in map(json.loads, written(units)):
        found.setdefault(f"{words['query']['query']}-{words['parts'][0]['form']}-{words['neighbors']}", words)
    return dict(list(found.items())[::step])


def test_the_file_is_what_the_code_writes() -> None:
    """`python scripts/release_schema.py` writes it anew."""
    assert documents.PLACE.read_text(encoding="utf-8") == documents.text()
    assert documents.made() == SCHEMA


@in_two_tiers
def test_every_release_fits(units: Any) -> None:
    for words in map(json.loads, written(units)):
        assert list(faults(words, SCHEMA, SCHEMA)) == [], words["query"]
        assert release_from_dict(words).to_dict() == words


def test_all_that_there_is_was_tried() -> None:
    made = [json.loads(one) for one in written(SOME)]
    assert {words["query"]["query"] for words in made} == set(QUERIES)
    parts = [part for words in made for part in words["parts"]]
    old = {"exclusion", "blocks", "ranks", "norm-products", "products", "scores", "scored", "weighed"}
    old |= {"person-scores", "person-scored", "norm-scores-2", "residual-matrices", "joint", "joint-2", "joint-3"}
    old |= {"norm-scores-3", "norm-scores-4", "residual-matrices-2", "residual-matrices-3"}
    # of quantiles whose three steps would take long to draw together: `test_joint_quantiles`
    old |= {"ranks-2"}
    assert {part["form"] for part in parts} == set(FORMS) - old  # of earlier releases alone
    assert {part["noise"]["law"] for part in parts} == {*ADDS, *VECTORS, *SELECTS}
    assert any("share" in part["parameters"] for part in parts)
    assert any(isinstance(part["sensitivity"]["l2_squared"], str) for part in parts)
    assert {part["weight"]["kind"] for part in parts if "weight" in part} == {"real", "rows"}


@pytest.mark.parametrize("noise", ["laplace", "gaussian"])
@pytest.mark.parametrize("relation", ["replace-one", "add-remove"])
def test_the_forms_are_those_of_the_mechanisms(noise: Any, relation: str) -> None:
    G = 2**10
    price = Cost.of(**{"epsilon" if noise == "laplace" else "rho": 1})
    made = [
        moment_forms.plain(G, noise),
        moment_forms.exclusion(G, noise),
        moment_forms.total(G, 5, noise, cells=1, neighbors=relation),
        moment_forms.group(G, noise, relation),
        moment_forms.bernstein(G, relation),
        moment_forms.deviations(G, 12),
        moment_forms.binary_plain(),
        moment_forms.binary_exclusion(noise),
        moment_forms.binary_group(relation),
        moment_forms.count(2, relation, True),
        weighted_forms.counted(2**10, noise, relation, cells=1, several=False),
        weighted_forms.weighted(1, 2**10, noise, relation, several=False),
        weighted_forms.weighted(G, 2**10, noise, relation, several=True),
        lattice((0.0, 0.5, 1.0), 4, 1, relation, leaves=False, persons=False),
        quality_encoding.classes(3, relation),
        quality_encoding.classes(4, relation),
        *(blocks_design.column_of("rate", 0.1, 10, 50, price, resampled=own).form for own in (False, True)),
    ]
    for form in made:
        shape = FORMS[form.name]
        assert set(form.parameters) == set(shape.parameters), form.name
        assert shape.integers[0] <= len(form.matrix) <= shape.integers[1], form.name
    others = {"exclusion", "ranks", "size", "range", "present", "histogram", "sparse-histogram", "blocks", "quartiles"}
    others |= {"ranks-2", "joint", "joint-2", "joint-3", "joint-4", "point", "halved", "cuts", "between"}
    others |= {"products", "scores", "scored", "weighed", "person-scores", "person-scored"}
    others |= {
        "column-moments",
        "norm-products",
        "norm-products-2",
        "norm-products-3",
        "norm-scores",
        "norm-scores-2",
        "norm-scores-3",
        "norm-scores-4",
        "norm-scores-5",
        "norm-scored",
        "norm-weighed",
        "weighted-moments",
        "series",
        "risk",
        "additive",
        "additive-product",
        "unlisted",
        "data-set",
        "candidate",
    }
    others |= {*split_score_encoding.FORMS, *(f"person-{name}" for name in norm_person_encoding.OF_SCORES)}
    assert {form.name for form in made} | others == set(FORMS)
    assert set(BINARY) <= set(FORMS)


def test_several_in_one_file_fit(tmp_path: Path) -> None:
    asked = curator("replace-one", False, {"rho": 1})
    found = asked.release({"age": tc.Mean("age"), "n": tc.Count(by="region"), "q": tc.Quantiles("age", [0.5])}, rho=1)
    found.save(tmp_path / "several.json")
    words = json.loads((tmp_path / "several.json").read_text(encoding="utf-8"))
    assert list(faults(words, SCHEMA, SCHEMA)) == []
    assert releases_from_dict(words).to_dict() == {key: value for key, value in words.items() if key != "digest"}
    for damaged in (
        {**words, "more": 1},
        {**words, "tacit": 2},
        {"releases": words["releases"]},
        {**words, "releases": [words["releases"][0][1]]},
        {**words, "releases": [[*words["releases"][0], 1]]},
        {**words, "releases": [["age", {**words["releases"][0][1], "neighbors": "none"}]]},
    ):
        assert not fits(damaged, SCHEMA, SCHEMA)


def test_releases_of_earlier_versions_fit() -> None:
    """Fields that came later may be missing; the reader reads such documents too."""
    words = json.loads(written(SOME)[0])
    for name in ("ledger", "recorded", "name"):
        del words[name]
        assert fits(words, SCHEMA, SCHEMA)
        assert release_from_dict(words).ledger is None


def objects(words: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Places of all objects in a document."""
    if isinstance(words, dict):
        yield path
    for key, value in words.items() if isinstance(words, dict) else enumerate(words) if isinstance(words, list) else ():
        yield from objects(value, (*path, key))


def changed(words: Any, path: tuple[Any, ...], key: Any, *value: Any) -> Any:
    """A copy with one entry of the object at `path` set to `value`, or taken away."""
    copied = copy.deepcopy(words)
    place = copied
    for step in path:
        place = place[step]
    if value:
        place[key] = value[0]
    else:
        del place[key]
    return copied


OPTIONAL = {
    "bias",  # of releases of 0.1.0
    "interval",
    "one_step",
    "winsorize",
    "outside",
    "name",
    "recorded",
    "ledger",
    "ordered",
    "units",
    "missing",
    "by",
    "bins",
    "bandwidth",  # found from public facts
    "where",
    "weights",
    "per",
    "level",
    "extra",
    "threshold",
    "variance",
    "resamples",
}


@few_cases_or_all
def test_unknown_fields_are_refused_everywhere(chosen: Any) -> None:
    for name, words in cases(*chosen).items():
        for path in objects(words):
            # whose fields are names of columns, or of a function's arguments
            if path[-1:] not in (("bins",), ("bandwidth",), ("arguments",)):
                assert not fits(changed(words, path, "more", 1), SCHEMA, SCHEMA), (name, path)


@few_cases_or_all
def test_missing_fields_are_refused_everywhere(chosen: Any) -> None:
    for name, words in cases(*chosen).items():
        for path in objects(words):
            place = words
            for step in path:
                place = place[step]
            for key in place:
                quality_grid = key == "grid" and words["kind"] == "quality"
                several = key == "columns" and words["kind"] == "quality"
                delta = key == "delta"  # what is left is a pure price
                delta = delta or key.startswith("weight")  # as many as a regression has columns
                delta = delta or key in ("dimension", "size")  # of noise that is one vector; the reader asks for them
                delta = delta or (key == "model" and place.get("query") == "Regression")  # linear where none is named
                # as many as the number of rows affords, where none are named
                delta = delta or (key in ("terms", "degree", "cells") and path[-1:] == ("query",))
                # what a user's own statistic may be asked without
                delta = delta or (place.get("query") == "Additive" and key in ("arguments", "l1", "l2_squared"))
                # whose fields are names of columns, or of a function's arguments
                delta = delta or path[-1:] in (("bins",), ("bandwidth",), ("arguments",))
                if key in OPTIONAL or key == "share" or quality_grid or several or delta:
                    continue
                assert not fits(changed(words, path, key), SCHEMA, SCHEMA), (name, path, key)


@few_cases_or_all
def test_integers_are_numbers_up_to_2_to_the_53_and_text_beyond(chosen: Any) -> None:
    most = 2**53
    for name, words in cases(*chosen).items():
        for value, good in (
            *((most, True), (-most, True), (most + 1, False), (-most - 1, False), (str(most + 1), True)),
            *((str(-most - 1), True), ("5", False), ("1.5", False), (1.5, False), ("0x9007199254740993", False)),
            *((None, False), (True, False), (f"{most + 1}.0", False)),
        ):
            damaged = copy.deepcopy(words)
            damaged["parts"][0]["integers"][0][0] = value
            assert fits(damaged, SCHEMA, SCHEMA) == good, (name, value)


@pytest.mark.parametrize("relation", ["replace one", "Replace-one", "", None, 1, "substitution"])
def test_a_wrong_relation_is_refused(relation: Any) -> None:
    for words in cases(SOME).values():
        assert not fits({**words, "neighbors": relation}, SCHEMA, SCHEMA)


def test_the_number_of_rows_is_there_where_it_is_public() -> None:
    for words in cases(SOME).values():
        other = {"replace-one": "add-remove", "add-remove": "replace-one"}[words["neighbors"]]
        assert not fits({**words, "neighbors": other}, SCHEMA, SCHEMA)
        assert not fits({**words, "rows": 1}, SCHEMA, SCHEMA)


DAMAGE: list[tuple[tuple[Any, ...], Any]] = [
    (("tacit",), 2),
    (("tacit",), "1"),
    (("kind",), "histogram"),
    (("query",), {"query": "Median", "columns": ["age"]}),
    (("query", "columns"), "age"),
    (("query", "columns"), []),
    (("query", "columns"), ["age", "age"]),
    (("mechanism",), "quality/1"),
    (("mechanism",), "moments"),
    (("schema",), "abc"),
    (("head",), "A" * 64),
    (("unit",), 0),
    (("rows",), -1),
    (("rows",), 240.5),
    (("levels",), [["region", []]]),
    (("levels",), [["region", ["a", "a"]]]),
    (("levels",), [["region", ["a"], 1]]),
    (("ordered",), [["region", []]]),
    (("ordered",), ["region"]),
    (("parts",), []),
    (("parts",), 3),
    (("parts", 0, "form"), "other"),
    (("parts", 0, "form"), "group"),
    (("parts", 0, "label"), None),
    (("parts", 0, "integers"), []),
    (("parts", 0, "integers"), [[1]]),
    (("parts", 0, "integers"), [1, 2]),
    (("parts", 0, "parameters", "divisor"), "x"),
    (("parts", 0, "noise", "law"), "exponential mechanism"),
    (("parts", 0, "noise", "law"), "uniform"),
    (("parts", 0, "noise", "scale"), 2.5),
    (("parts", 0, "noise", "scale"), "2.5"),
    (("parts", 0, "noise", "scale"), "-1"),
    (("parts", 0, "noise", "scale"), "1/0"),
    (("parts", 0, "sensitivity", "l1"), 0),
    (("parts", 0, "grid", "kind"), "complex"),
    (("parts", 0, "grid", "kind"), "rows"),
    (("parts", 0, "grid", "G"), 0),
    (("parts", 0, "grid", "lower"), "0"),
    (("parts", 0, "grid", "units"), None),
    (("parts", 0, "weight"), {"kind": "real", "lower": 0, "upper": 5, "G": 32768}),
    (("cost",), {}),
    (("cost",), {"rho": "1/10", "epsilon": "1"}),
    (("cost",), {"delta": "1/10"}),
    (("cost", "rho"), 0.1),
    (("cost", "rho"), "0"),
    (("charge",), 0),
    (("date",), "today"),
    (("recorded",), "yes"),
    (("name",), 3),
    (("ledger",), "mine"),
]


@pytest.mark.parametrize(("path", "value"), DAMAGE, ids=[f"{i}-{p[-1]}" for i, (p, _) in enumerate(DAMAGE)])
def test_damage_is_refused(path: tuple[Any, ...], value: Any) -> None:
    asked = tc.Curator(table(), tc.Schema({"age": tc.Real(0, 100, missing=50)}), budget=tc.Budget(rho=1))
    words = asked.release(tc.Mean("age"), rho=0.1).to_dict()
    assert words["parts"][0]["form"] == "plain"
    assert fits(words, SCHEMA, SCHEMA)
    assert not fits(changed(words, path[:-1], path[-1], value), SCHEMA, SCHEMA)


@pytest.mark.long
def test_a_question_belongs_to_its_kind() -> None:
    by_kind = {words["kind"]: words for words in cases(SOME).values()}
    for kind, words in by_kind.items():
        for other in by_kind.values():
            if other["kind"] != kind:
                assert not fits({**words, "query": other["query"]}, SCHEMA, SCHEMA)
                assert not fits({**words, "kind": other["kind"]}, SCHEMA, SCHEMA)
                alike = {part["form"] for part in other["parts"]} <= {
                    *forms_of(kind)
                }  # means and scores: several kinds
                assert alike or not fits({**words, "parts": other["parts"]}, SCHEMA, SCHEMA)


def test_the_validator_here_knows_all_words_of_the_schema() -> None:
    with pytest.raises(KeyError):
        list(faults(1, {"multipleOf": 2}, {}))
    for value, schema, good in (
        (True, {"type": "integer"}, False),
        (1.0, {"type": "integer"}, True),
        (True, {"const": 1}, False),
        ({"a": 1}, {"properties": {"a": {}}, "additionalProperties": False}, True),
        ({"b": 1}, {"properties": {"a": {}}, "additionalProperties": False}, False),
        ([1, "a"], {"prefixItems": [{"type": "integer"}], "items": {"type": "string"}}, True),
        (["a", "a"], {"uniqueItems": True}, False),
        (3, {"oneOf": [{"minimum": 1}, {"minimum": 2}]}, False),
        (3, {"anyOf": [{"minimum": 1}, {"minimum": 9}]}, True),
        ("ab", {"pattern": "^b"}, False),
        (1, False, False),
        ({}, {"required": ["a"]}, False),
        ([1, 2], {"maxItems": 1}, False),
        ([], {"minItems": 1}, False),
        ({}, {"minProperties": 1}, False),
        (2, {"maximum": 1}, False),
    ):
        assert fits(value, schema, {}) == good, (value, schema)


@pytest.mark.parametrize("value", [None, True, 0, -1, 2**60, 1.5, float("nan"), float("inf"), "x", "1/0", [], [[]], {}])
def test_the_reader_ends_in_an_error_of_ours(value: Any) -> None:
    """Whatever one entry of a document is: it is read, or refused with a code."""
    refused: set[str] = set()
    for words in cases(SOME).values():
        for path in objects(words):
            place = words
            for step in path:
                place = place[step]
            for key in place:
                with contextlib.suppress(tc.TacitError):
                    release_from_dict(changed(words, path, key, value))
                    continue
                refused.add(str(key))
    assert {"kind", "law"} <= refused
