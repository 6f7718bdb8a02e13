"""The door: charge first, nothing refunded, stored answers, all or none, and nothing data-dependent escapes."""

from __future__ import annotations

import json
import traceback
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

import tacit as tc
from tacit.errors import BudgetError, LedgerError, MachineError, QueryError, ReleaseError, SourceError
from tacit.method.moments import mechanism as moments
from tacit.release.document import Release, Releases, release_from_dict

SCHEMA = tc.Schema({"age": tc.Real(0, 100), "sex": tc.Category(["f", "m"]), "ok": tc.Boolean()})


def people(n: int = 200) -> dict[str, object]:
    rng = np.random.default_rng(0)
    return {"age": rng.uniform(0, 100, n), "sex": rng.choice(["f", "m"], n), "ok": rng.random(n) < 0.3}


@pytest.fixture
def curator(tmp_path: Path) -> tc.Curator:
    return tc.Curator(people(), SCHEMA, name="p", budget=tc.Budget(rho=1), ledger=tmp_path / "p.ledger")


def again(tmp_path: Path, **kw: object) -> tc.Curator:
    return tc.Curator(people(), SCHEMA, name="p", ledger=tmp_path / "p.ledger", **kw)  # pyright: ignore


def test_the_same_question_is_free_and_has_one_answer(curator: tc.Curator, tmp_path: Path) -> None:
    first = curator.release(tc.Mean("age"), rho=0.1, name="age")
    second = again(tmp_path).release(tc.Mean("age"), rho="0.1", name="age")
    assert first == second
    assert curator.spent.rho == Fraction(1, 10)
    assert again(tmp_path).releases["age"] == first
    other = curator.release(tc.Mean("age"), rho=0.2)
    assert other != first
    assert curator.spent.rho == Fraction(3, 10)


def test_bad_input_costs_nothing(curator: tc.Curator) -> None:
    bad = [
        lambda: curator.release(tc.Mean("agee"), rho=0.1),
        lambda: curator.release(tc.Mean("sex"), rho=0.1),
        lambda: curator.release(tc.Mean("age", by="age"), rho=0.1),
        lambda: curator.release(tc.Mean("age", by="ok2"), rho=0.1),
        lambda: curator.release(tc.Count(), rho=0.1),
        lambda: curator.release(tc.Mean("age"), rho=-1),
        lambda: curator.release(tc.Mean("age"), rho=float("nan")),
        lambda: curator.release(tc.Mean("age"), epsilon=1e9),
        lambda: curator.release(tc.Mean("age"), epsilon=1, delta=1),
        lambda: curator.release(tc.Mean("age")),
        lambda: curator.release(tc.Mean("age"), rho=2),
        lambda: curator.release({}, rho=0.1),
        lambda: curator.release({"a": tc.Mean("age")}, rho=0.1, shares={"b": 1}),
        lambda: curator.release({"a": tc.Mean("age")}, rho=0.1, shares={"a": 0}),
    ]
    for wrong in bad:
        with pytest.raises(tc.TacitError):
            wrong()
    assert curator.spent.rho == 0
    assert list(curator.releases) == []


def test_several_questions_are_admitted_all_or_none(curator: tc.Curator, tmp_path: Path) -> None:
    asks = {"mean": tc.Mean("age"), "count": tc.Count(by="sex"), "ok": tc.Mean("ok", by="sex")}
    with pytest.raises(BudgetError) as refused:
        curator.release(asks, rho=1.5)
    assert refused.value.code == "B02"
    assert curator.spent.rho == 0
    found = curator.release(asks, rho=0.6, shares={"mean": 4}, note="board 17")
    assert curator.spent.rho == Fraction(6, 10)
    assert [one.cost.zcdp for one in found.values()] == [Fraction(4, 10), Fraction(1, 10), Fraction(1, 10)]
    assert {one.charge for one in found.values()} == {1}
    found.save(tmp_path / "answers.json")
    assert dict(Releases.load(tmp_path / "answers.json")) == dict(found)
    assert curator.releases["count"] == found["count"]
    assert curator._ledger.charges()[0].note == "board 17"


def test_a_pure_budget_admits_pure_prices_only() -> None:
    curator = tc.Curator(people(), SCHEMA, budget=tc.Budget(epsilon=1))
    with pytest.raises(BudgetError) as refused:
        curator.release(tc.Mean("age"), rho=0.1)
    assert refused.value.code == "B04"
    release = curator.release(tc.Mean("age"), epsilon=1)
    assert {part.law.name for part in release.parts} == {"discrete Laplace"}


def test_a_failure_leaves_the_charge_and_says_nothing(
    curator: tc.Curator, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Law 3 and law 7: the charge stands, one constant error, no cause or frame; asking again resumes, free."""

    def broken(*_: object) -> object:
        secret = 123456789
        raise RuntimeError(f"cell {secret}")

    with monkeypatch.context() as patched:
        patched.setattr(moments, "exact", broken)
        with pytest.raises(MachineError) as failed:
            curator.release(tc.Mean("age"), rho=0.1)
    error = failed.value
    assert error.__cause__ is None
    assert error.__context__ is None
    shown = "".join(traceback.format_exception(error)) + repr(error.__dict__)
    assert "123456789" not in shown
    frames = [frame.f_code.co_name for frame, _ in traceback.walk_tb(error.__traceback__)]
    assert "broken" not in frames
    assert "123456789" in (tmp_path / "p.ledger.log").read_text()  # the curator's own log
    assert (tmp_path / "p.ledger.log").stat().st_mode & 0o777 == 0o600
    assert curator.spent.rho == Fraction(1, 10)
    assert curator._ledger.charges()[0].release is None
    release = curator.release(tc.Mean("age"), rho=0.1)
    assert release.charge == 1
    assert curator.spent.rho == Fraction(1, 10)


def test_an_interrupt_leaves_the_charge(curator: tc.Curator, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: object) -> object:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(moments, "exact", interrupted)
        with pytest.raises(KeyboardInterrupt):
            curator.release(tc.Mean("age"), rho=0.1)
    assert curator.spent.rho == Fraction(1, 10)
    assert curator.release(tc.Mean("age"), rho=0.1).charge == 1


def test_the_charge_is_durable_before_a_row_is_read(
    curator: tc.Curator, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[Fraction] = []
    right = moments.exact

    def watched(shape: object, source: object) -> object:
        seen.append(again(tmp_path).spent.rho)
        return right(shape, source)  # pyright: ignore

    monkeypatch.setattr(moments, "exact", watched)
    curator.release(tc.Mean("age"), rho=0.1)
    assert seen == [Fraction(1, 10)]


def test_the_first_stored_answer_wins(curator: tc.Curator, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two processes resume one charge: both compute, one answer exists."""
    right = moments.exact
    inner: list[Release] = []

    def raced(shape: object, source: object) -> object:
        if not inner:
            inner.append(None)  # pyright: ignore
            inner[0] = again(tmp_path).release(tc.Mean("age"), rho=0.1)
        return right(shape, source)  # pyright: ignore

    monkeypatch.setattr(moments, "exact", raced)
    outer = curator.release(tc.Mean("age"), rho=0.1)
    assert outer == inner[0]
    assert curator.spent.rho == Fraction(1, 10)


@pytest.mark.parametrize(
    "rows",
    [
        {"age": [], "sex": [], "ok": []},
        {"age": [50.0], "sex": ["f"], "ok": [True]},
        {"age": [float("nan"), float("inf")], "sex": ["?", None], "ok": [None, None]},
    ],
    ids=["empty", "one row", "unreadable cells"],
)
def test_odd_tables_are_answered_under_add_remove(rows: dict[str, object]) -> None:
    import pyarrow as pa

    types = {"age": pa.float64(), "sex": pa.string(), "ok": pa.bool_()}
    table = pa.table({name: pa.array(values, type=types[name]) for name, values in rows.items()})
    curator = tc.Curator(table, SCHEMA, budget=tc.Budget(epsilon=10, neighbors="add-remove"))
    assert curator.rows is None
    for query in (tc.Count(), tc.Mean("age"), tc.Mean(["age", "ok"], by="sex"), tc.Variance("age"), tc.Sum("ok")):
        release = curator.release(query, epsilon=1)
        assert release.rows is None
        frame = release.estimate().to_frame()
        assert np.isfinite(frame["lower"]).all()
        assert np.isfinite(frame["upper"]).all()
    assert "rows" not in repr(curator).replace("number of rows private", "")


def test_under_replace_one_a_table_has_two_rows() -> None:
    with pytest.raises(SourceError) as refused:
        tc.Curator({"age": [1.0], "sex": ["f"], "ok": [True]}, SCHEMA, budget=tc.Budget(rho=1))
    assert refused.value.code == "D20"


def test_a_filtered_table_is_noticed(curator: tc.Curator, tmp_path: Path) -> None:
    with pytest.raises(LedgerError) as refused:
        tc.Curator(people(100), SCHEMA, name="p", ledger=tmp_path / "p.ledger")
    assert refused.value.code == "L05"


def test_tables_of_the_same_people_share_a_ledger(curator: tc.Curator, tmp_path: Path) -> None:
    other = tc.Curator(people(100), SCHEMA, name="p-2025", ledger=tmp_path / "p.ledger")
    curator.release(tc.Mean("age"), rho=0.6)
    with pytest.raises(BudgetError):
        other.release(tc.Mean("age"), rho=0.6)
    assert other.release(tc.Mean("age"), rho=0.4).charge == 2


def test_a_file_has_its_ledger_beside_it_and_a_frame_says_it_has_none(tmp_path: Path) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    pq.write_table(pa.table({name: pa.array(values) for name, values in people().items()}), tmp_path / "p.parquet")
    curator = tc.Curator(tmp_path / "p.parquet", SCHEMA, budget=tc.Budget(rho=1))
    release = curator.release(tc.Mean("age"), rho=0.1)
    assert (tmp_path / "p.parquet.ledger").exists()
    assert release.table == "p"
    assert release.recorded
    memory = tc.Curator(people(), SCHEMA, budget=tc.Budget(rho=1))
    assert "memory only" in repr(memory)
    assert "memory only" in str(memory.release(tc.Mean("age"), rho=0.1))
    with pytest.raises(LedgerError):
        tc.Curator(people(), SCHEMA, budget=tc.Budget(rho=1), ledger=tmp_path / "x.ledger")


def test_rows_of_persons_are_reduced_to_persons() -> None:
    schema = tc.Schema({"id": tc.PrivacyUnit(3), "age": tc.Real(0, 100), "sex": tc.Category(["f", "m"])})
    table = {"id": [1, 1, 2, None], "age": [10.0, 20.0, 90.0, None], "sex": ["f", "f", "m", "m"]}
    curator = tc.Curator(table, schema, budget=tc.Budget(epsilon=10))
    assert curator.rows == 3
    release = curator.release(tc.Mean("age"), epsilon=1)
    assert (release.rows, release.unit) == (3, 3)
    words = str(curator.release(tc.Count(by="sex"), epsilon=1).estimate(target="table").summary())
    assert "Number of persons by sex" in words
    assert "3 persons" in words
    assert "a person with all rows, which weigh one in all" in words
    total = str(curator.release(tc.Sum("age"), epsilon=1).estimate().summary())
    assert "a person with all rows, 3 at most counting" in total
    assert "a person with all rows\n" in str(release.estimate().summary())
    assert "mean of person means of age" in release.estimate().estimand


def test_weights_that_are_none_are_refused_and_free() -> None:
    schema = tc.Schema({"id": tc.PrivacyUnit(3), "age": tc.Real(0, 100), "w": tc.Real(0, 5), "t": tc.Real(-1, 5)})
    curator = tc.Curator(
        {"id": [1, 1, 2], "age": [1.0] * 3, "w": [1.0] * 3, "t": [1.0] * 3}, schema, budget=tc.Budget(rho=1)
    )
    rows = tc.Curator(
        {"age": [1.0] * 3, "w": [1.0] * 3, "t": [1.0] * 3}, dict(list(schema.items())[1:]), budget=tc.Budget(rho=1)
    )
    for where, query, code in (
        (curator, tc.Mean("age", weights="id"), "Q72"),
        (curator, tc.Count(weights="t"), "Q72"),
        (curator, tc.Count(weights="weight"), "Q10"),
        (rows, tc.Mean("age", per="row"), "Q71"),
        (rows, tc.Mean("age", weights="t"), "Q72"),
        (rows, tc.Mean("age", weights="weight"), "Q10"),
    ):
        with pytest.raises(QueryError) as refused:
            where.release(query, rho=0.1)
        assert refused.value.code == code
        assert where.spent.rho == 0
    for wrong in ({"per": "household"}, {"weights": 3}, {"weights": "age"}):
        with pytest.raises(QueryError):
            tc.Mean("age", **wrong)  # pyright: ignore
    for wrong in (3, "age"):
        with pytest.raises(QueryError):
            tc.Count(by="age", weights=wrong)  # pyright: ignore


def test_a_release_holds_a_closed_list_of_facts(curator: tc.Curator) -> None:
    words = curator.release(tc.Mean("age", by="sex"), rho=0.1).to_dict()
    assert set(words) == {
        *("tacit", "kind", "query", "mechanism", "table", "schema", "neighbors", "unit", "rows", "levels", "parts"),
        *("cost", "charge", "head", "date", "version", "name", "recorded", "ledger"),
    }
    assert set(words["parts"][0]) == {
        *("label", "form", "parameters", "grid", "integers", "noise", "sensitivity", "cost"),
    }
    assert str(Path.cwd()) not in json.dumps(words)


def test_damaged_releases_are_refused(curator: tc.Curator, tmp_path: Path) -> None:
    words = curator.release(tc.Mean("age"), rho=0.1).to_dict()
    assert release_from_dict(json.loads(json.dumps(words))).to_dict() == words
    for change in ({"tacit": 99}, {"kind": "histograms"}, {"parts": 3}, {"query": {"query": "Median"}}, {"cost": {}}):
        with pytest.raises(tc.TacitError):
            release_from_dict({**words, **change})
    (tmp_path / "x.json").write_text("[1]")
    with pytest.raises(ReleaseError):
        Release.load(tmp_path / "x.json")
    with pytest.raises(ReleaseError):
        Release.load(tmp_path / "none.json")


def test_releases_know_whose_people_they_share(tmp_path: Path) -> None:
    """One ledger, one population, whatever the table; others, other people; without a record, the table's name."""
    budget = tc.Budget(rho=1)

    def estimate(name: str, ledger: str | None, query: tc.Query = tc.Mean("age")) -> object:  # noqa: B008
        where = None if ledger is None else tmp_path / ledger
        return tc.Curator(people(), SCHEMA, budget=budget, name=name, ledger=where).release(query, rho=0.05).estimate()

    first, edition, other = estimate("2023", "a.ledger"), estimate("2024", "a.ledger"), estimate("2023", "b.ledger")
    memory, again = estimate("2023", None), estimate("2024", None)
    assert first.release.ledger == edition.release.ledger != other.release.ledger  # type: ignore
    added = first.std_error + edition.std_error  # type: ignore
    both = tc.difference(first, edition)  # type: ignore
    assert "two tables of one ledger" in both.notes[0]
    assert np.hypot(first.std_error, edition.std_error) < both.std_error <= added  # type: ignore
    apart = tc.difference(first, other)  # type: ignore
    assert "independent" in apart.notes[0]
    assert apart.std_error == pytest.approx(np.hypot(first.std_error, other.std_error))  # type: ignore
    assert "the same people" in tc.difference(first, memory).notes[0]  # type: ignore
    assert "independent" in tc.difference(memory, again).notes[0]  # type: ignore
    words = first.release.to_dict()  # type: ignore
    del words["ledger"]  # as earlier versions wrote it
    old = release_from_dict(words)
    assert old.ledger is None
    assert old.estimate().values == first.values  # type: ignore
