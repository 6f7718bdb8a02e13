"""`Curator.holdout`: what is charged and when, what is answered, what refuses, what a file of answers holds."""

from __future__ import annotations

import copy
import json
import os
import pickle
import sys
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from in_process import inside

import tacit as tc
from tacit.curator import reusable_holdout
from tacit.errors import BudgetError, LedgerError, MachineError, QueryError, ReleaseError, TacitError
from tacit.holdout.transcript import Transcript
from tacit.ledger import open_ledger

sys.path.insert(0, str(Path(__file__).parents[1] / "ledger"))
from alone import alone

SCHEMA = tc.Schema(
    {"predicted": tc.Boolean(), "married": tc.Boolean(), "x": tc.Real(-2, 6), "s": tc.Category(["f", "m"])}
)
RIGHT = "predicted == married"


def table(n: int = 4_000) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(1)
    return {
        "predicted": rng.random(n) < 0.5,
        "married": rng.random(n) < 0.5,
        "x": rng.uniform(-2, 6, n),
        "s": np.array(["f", "m"])[rng.integers(0, 2, n)],
    }


def curator(where: str | Path | None = None, **words) -> tc.Curator:
    given = {"budget": tc.Budget(epsilon=100), **words}
    return tc.Curator(table(), SCHEMA, ledger=where, name="held-out", **given)


def charges(one: tc.Curator) -> list:
    return one._ledger.charges()


def test_a_check_without_a_difference_costs_no_more_than_its_run():
    one = curator()
    with one.holdout(threshold=0.2, epsilon=40, answers=4) as holdout:
        assert (holdout.remaining, charges(one)) == (4, [])
        for _ in range(20):
            answer = holdout.check(train=0.5, score=RIGHT)
            assert (answer.differs, answer.value, float(answer), answer.run) == (False, 0.5, 0.5, 1)
        assert len(charges(one)) == 1
        assert charges(one)[0].cost.epsilon == 10
        assert holdout.remaining == 4
        found = holdout.check(train=0.9, score=RIGHT)
        assert found.differs
        assert found.value == pytest.approx(0.5, abs=0.06)
        assert (holdout.remaining, found.run) == (3, 1)
        assert holdout.check(train=0.5, score=RIGHT).run == 2
        low, high = found.release.estimate().conf_int()
        assert low < 0.5 < high
    assert [c.release is not None for c in charges(one)] == [True, False]
    one._ledger.verify()


@pytest.mark.parametrize("neighbors", ["replace-one", "add-remove"])
@pytest.mark.parametrize(
    "budget", [{"epsilon": 50}, {"rho": 50}, {"epsilon": 90, "delta": "1e-6"}], ids=lambda one: "-".join(one)
)
def test_columns_and_conditions_under_every_budget(neighbors, budget):
    one = curator(budget=tc.Budget(**budget, neighbors=neighbors), size_hint=4_000)
    with one.holdout(threshold=0.2, epsilon=4, answers=2) as holdout:
        assert holdout.check(train=2.0, score="x").value == 2.0
        found = holdout.check(train=-2, score="x")
        assert found.value == pytest.approx(2, abs=0.4)
        assert holdout.check(train=0.0, score="x > 2 and predicted").value == pytest.approx(0.25, abs=0.1)
    assert holdout.transcript.runs == 2
    assert "found where the means differ by 0.2" in str(holdout.summary())


def test_a_price_in_rho_is_charged_as_the_pure_price_of_its_runs():
    one = curator(budget=tc.Budget(rho=1))
    with one.holdout(threshold=0.02, rho=0.05) as holdout:
        assert holdout.design.run_cost.epsilon == Fraction(1, 10)
        holdout.check(train=0.5, score=RIGHT)
    assert one.spent.rho == Fraction(1, 200)


def test_missing_cells_of_a_column_count_as_its_schema_says():
    schema = tc.Schema({"x": tc.Real(0, 10, missing=10), "y": tc.Real(0, 10)})
    rows = {"x": np.array([0.0, np.nan] * 2_000), "y": np.array([0.0, np.nan] * 2_000)}
    one = tc.Curator(rows, schema, budget=tc.Budget(epsilon=100))
    with one.holdout(threshold=0.1, epsilon=40, answers=2) as holdout:
        assert holdout.check(train=5.0, score="x").value == 5.0
        assert holdout.check(train=0.0, score="y").value == 0.0
        assert holdout.check(train=10, score="y").value == pytest.approx(0, abs=0.5)


WRONG = {
    "no text": ({"train": 0.5, "score": 3}, "Q190"),
    "empty": ({"train": 0.5, "score": " "}, "Q190"),
    "unknown column": ({"train": 0.5, "score": "predictd"}, "Q10"),
    "unknown in a condition": ({"train": 0.5, "score": "predictd == married"}, "Q10"),
    "no condition": ({"train": 0.5, "score": "predicted +"}, "Q60"),
    "wrong type": ({"train": 0.5, "score": "s > 'f'"}, "Q61"),
    "a category": ({"train": 0.5, "score": "s"}, "Q11"),
    "above": ({"train": 1.1, "score": RIGHT}, "Q191"),
    "below": ({"train": -2.5, "score": "x"}, "Q191"),
    "nan": ({"train": float("nan"), "score": "x"}, "Q191"),
    "text": ({"train": "0.5", "score": "x"}, "Q191"),
    "true": ({"train": True, "score": "x"}, "Q191"),
    "column of rows": ({"train": np.ones(3), "score": "x"}, "Q191"),
    "no score": ({"train": 0.5}, "Q05"),
    "by place": ({"train": 0.5, "score": RIGHT, "level": 3}, "Q05"),
}


@pytest.mark.parametrize("case", WRONG)
def test_a_check_that_cannot_be_asked_costs_nothing(case):
    words, code = WRONG[case]
    one = curator()
    with one.holdout(threshold=0.2, epsilon=40, answers=4) as holdout:
        with pytest.raises(TacitError) as found:
            holdout.check(**words)
        assert found.value.code == code
        assert "Nothing was read or spent." in str(found.value)
        assert charges(one) == []


@pytest.mark.parametrize(
    ("words", "code"),
    [
        ({"threshold": 0, "rho": 1}, "Q192"),
        ({"threshold": -0.1, "rho": 1}, "Q192"),
        ({"threshold": 1, "rho": 1}, "Q192"),
        ({"threshold": "much", "rho": 1}, "Q192"),
        ({"threshold": 1e-9, "rho": 1}, "Q192"),
        ({"threshold": float("nan"), "rho": 1}, "Q192"),
        ({"threshold": 0.1}, "B03"),
        ({"threshold": 0.1, "rho": 0}, "B01"),
        ({"threshold": 0.1, "epsilon": 0}, "B01"),
        ({"threshold": 0.1, "epsilon": 1, "delta": 1e-6}, "B22"),
        ({"threshold": 0.1, "epsilon": 1e-9}, "N01"),
        ({"threshold": 0.1, "rho": 1, "answers": 0}, "Q192"),
        ({"threshold": 0.1, "rho": 1, "answers": 2.0}, "Q192"),
        ({"threshold": 0.1, "rho": 1, "answers": 1_001}, "Q192"),
        ({"threshold": 0.1, "rho": 1, "name": " "}, "Q192"),
        ({"threshold": 0.1, "rho": 1, "note": "\ud800"}, "L24"),
        ({"threshold": 0.1, "rho": 1, "runs": 3}, "Q05"),
        ({"rho": 1}, "Q05"),
    ],
)
def test_a_hold_out_that_cannot_be_opened(words, code):
    one = curator(budget=tc.Budget(rho=5))
    with pytest.raises(TacitError) as found:
        one.holdout(**words)
    assert found.value.code == code
    assert charges(one) == []


def test_a_pure_budget_refuses_a_price_in_rho():
    with pytest.raises(BudgetError, match="B04"):
        curator().holdout(threshold=0.1, rho=1)


def test_answers_end_with_a_clear_error_and_nothing_spent():
    one = curator()
    with one.holdout(threshold=0.1, epsilon=40, answers=2) as holdout:
        assert [holdout.check(train=1.0, score=RIGHT).differs for _ in range(2)] == [True, True]
        assert holdout.remaining == 0
        before = one.spent
        with pytest.raises(BudgetError, match=r"\[B21\].*had its 2 runs.*Nothing was read or spent"):
            holdout.check(train=1.0, score=RIGHT)
        assert one.spent == before
    # the same hold-out, opened again, has had them too; another name is another one
    assert one.holdout(threshold=0.1, epsilon=40, answers=2).remaining == 0
    assert one.holdout(threshold=0.1, epsilon=40, answers=2, name="second").remaining == 2


def test_a_budget_that_has_no_room_for_all_runs_says_so_beforehand():
    one = curator(budget=tc.Budget(epsilon=25))
    with one.holdout(threshold=0.1, epsilon=40, answers=4) as holdout:
        assert holdout.remaining == 2
        for left in (1, 0):
            holdout.check(train=1.0, score=RIGHT)
            assert holdout.remaining == left
        with pytest.raises(BudgetError, match="B02"):
            holdout.check(train=1.0, score=RIGHT)
        assert one.spent.epsilon == 20
    limited = curator(analyst="alice")
    limited.limit("alice", epsilon=12, note="board")
    assert limited.holdout(threshold=0.1, epsilon=40, answers=4).remaining == 1


def test_a_closed_hold_out_answers_nothing():
    one = curator()
    with one.holdout(threshold=0.1, epsilon=40, answers=2) as holdout:
        holdout.check(train=0.5, score=RIGHT)
    with pytest.raises(LedgerError, match="L31"):
        holdout.check(train=0.5, score=RIGHT)
    assert len(charges(one)) == 1
    assert "closed" in repr(holdout)


def test_a_check_that_fails_ends_its_run_and_the_charge_stands(monkeypatch):
    one = curator()
    with one.holdout(threshold=0.2, epsilon=40, answers=4) as holdout:
        assert holdout.check(train=0.5, score=RIGHT).run == 1
        with monkeypatch.context() as here:
            here.setattr(reusable_holdout, "exact", lambda *_: 1 / 0)
            with pytest.raises(MachineError) as found:
                holdout.check(train=0.5, score=RIGHT)
            assert found.value.__cause__ is found.value.__context__ is None
        assert holdout.remaining == 3
        assert holdout.check(train=0.5, score=RIGHT).run == 2
        with monkeypatch.context() as here:

            def stopped(*_):
                raise KeyboardInterrupt

            here.setattr(reusable_holdout, "answered", stopped)
            with pytest.raises(KeyboardInterrupt):
                holdout.check(train=1.0, score=RIGHT)
        assert holdout.check(train=0.5, score=RIGHT).run == 3


def test_a_restarted_process_pays_again(tmp_path):
    where = tmp_path / "held.ledger"
    first = curator(where)
    holdout = first.holdout(threshold=0.2, epsilon=40, answers=3)
    assert holdout.check(train=0.5, score=RIGHT).run == 1
    again = curator(where).holdout(threshold=0.2, epsilon=40, answers=3)
    assert again.remaining == 2
    assert again.check(train=0.5, score=RIGHT).run == 2
    # the first goes on with its own run, and is charged for the third when that is over
    assert holdout.check(train=1.0, score=RIGHT).run == 1
    assert holdout.check(train=1.0, score=RIGHT).run == 3
    assert (holdout.remaining, again.remaining) == (0, 1)
    ledger = open_ledger(str(where), budget=None, unit=None)
    ledger.verify()
    assert len({c.digest for c in ledger.charges()}) == len(ledger.charges()) == 3


def test_the_answer_in_the_ledger_is_the_one_that_was_given(tmp_path):
    one = curator(tmp_path / "held.ledger")
    with one.holdout(threshold=0.2, epsilon=40, answers=3) as holdout:
        found = holdout.check(train=1.0, score=RIGHT)
    found.release.save(tmp_path / "answer.json")
    one._ledger.hold([("answer.json", tc.Release.load(tmp_path / "answer.json"))])
    assert json.loads(charges(one)[0].release)["releases"][0][1]["parts"] == found.release.to_dict()["parts"]


def test_a_noisy_threshold_is_neither_stored_nor_copied():
    one = curator()
    holdout = one.holdout(threshold=0.2, epsilon=40, answers=3)
    holdout.check(train=0.5, score=RIGHT)
    for what in (holdout, holdout._run):
        for way in (pickle.dumps, copy.copy, copy.deepcopy):
            with pytest.raises(TypeError, match="neither stored nor copied"):
                way(what)
    shown = f"{holdout!r} {holdout.summary()} {holdout.transcript} {holdout._run!r} {charges(one)}"
    assert str(abs(holdout._run._noise)) not in shown


@alone
def test_a_forked_process_has_no_run(tmp_path: Path) -> None:
    one = curator(tmp_path / "held.ledger")
    holdout = one.holdout(threshold=0.2, epsilon=40, answers=3)
    assert holdout.check(train=0.5, score=RIGHT).run == 1
    holdout._lock.acquire()  # as if another thread were in a check
    child = os.fork()
    if child == 0:
        ok = holdout._run is None and holdout.check(train=0.5, score=RIGHT).run == 2
        os._exit(0 if ok else 1)
    holdout._lock.release()
    assert os.waitpid(child, 0)[1] == 0
    assert holdout.check(train=0.5, score=RIGHT).run == 1
    assert len(charges(one)) == 2


@alone
def test_processes_that_race_never_share_a_run(tmp_path: Path) -> None:
    where = tmp_path / "held.ledger"
    curator(where)
    children = []
    for i in range(4):
        child = os.fork()
        if child == 0:
            with curator(where).holdout(threshold=0.2, epsilon=40, answers=8) as holdout:
                found = [holdout.check(train=1.0, score=RIGHT).run for _ in range(2)]
            (tmp_path / f"{i}.json").write_text(json.dumps(found))
            os._exit(0)
        children.append(child)
    assert all(os.waitpid(child, 0)[1] == 0 for child in children)
    runs = [run for i in range(4) for run in json.loads((tmp_path / f"{i}.json").read_text())]
    assert sorted(runs) == list(range(1, 9))


def test_a_charge_that_must_be_new_is_refused_where_it_is_known(monkeypatch):
    one = curator()
    holdout = one.holdout(threshold=0.2, epsilon=40, answers=3)
    request = holdout._request(1)
    assert one._ledger.charge(request, new=True).number == 1
    with pytest.raises(LedgerError, match="L30"):
        one._ledger.charge(request, new=True)
    # as where two processes found the same number free: the second takes the next
    monkeypatch.setattr(type(one._ledger), "find", lambda *_: None)
    assert holdout.check(train=0.5, score=RIGHT).run == 2


def test_transcripts_survive_a_file_and_damage_is_found(tmp_path):
    one = curator(budget=tc.Budget(epsilon=100, neighbors="add-remove"))
    with one.holdout(threshold=0.2, epsilon=40, answers=3) as holdout:
        holdout.check(train=0.5, score=RIGHT)
        holdout.check(train=1.0, score=RIGHT)
    place = tmp_path / "checks.json"
    holdout.save(place)
    found = Transcript.load(place)
    assert found == holdout.transcript
    assert str(found) == str(holdout.transcript)
    assert [c.differs for c in found.checks] == [False, True]
    assert "hold-out" in str(found)
    words = json.loads(place.read_text())
    for broken, code in (
        ({**words, "kind": "release"}, "R01"),
        ({**words, "tacit": 2}, "R02"),
        ({**words, "neighbors": "replace-one"}, "R05"),
        ({k: v for k, v in words.items() if k not in ("digest", "checks")}, "R05"),
        ({**{k: v for k, v in words.items() if k != "digest"}, "checks": [{"score": 1}]}, "R05"),
    ):
        place.write_text(json.dumps(broken))
        with pytest.raises(ReleaseError) as problem:
            Transcript.load(place)
        assert problem.value.code == code


def test_a_computed_column_is_no_part_of_a_condition_but_is_a_score():
    schema = tc.Schema({"x": tc.Real(0, 1), "half": tc.Boolean(computed="x > 0.5")})
    one = tc.Curator({"x": np.linspace(0, 1, 3_000)}, schema, budget=tc.Budget(epsilon=100))
    with one.holdout(threshold=0.1, epsilon=40, answers=2) as holdout:
        assert holdout.check(train=0.5, score="half").value == 0.5
        with pytest.raises(QueryError, match="Q190"):
            holdout.check(train=0.5, score="half == True")


def test_the_command_line_lists_runs_and_answers(tmp_path):
    one = curator(tmp_path / "held.ledger")
    with one.holdout(threshold=0.2, epsilon=40, answers=3, note="board 31") as holdout:
        holdout.check(train=1.0, score=RIGHT)
        holdout.check(train=0.5, score=RIGHT)
    code, out, err = inside(tmp_path, "show", "held.ledger")
    assert (code, err) == (0, "")
    assert RIGHT in out
    assert "none is stored" in out
    code, out, _ = inside(tmp_path, "budget", "held.ledger")
    assert code == 0
    assert "board 31" in out
