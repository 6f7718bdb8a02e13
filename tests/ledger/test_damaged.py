"""Damaged ledgers: L10 and exit code 2, never another error, another answer or less spent; a few hundred of
`benchmarks/damaged_ledgers.py`, with a seed."""

from __future__ import annotations

import json
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest

import tacit as tc
from tacit.errors import LedgerError
from tacit.ledger import Request, open_ledger
from tacit.ledger.chain import START, entry_hash
from tacit.privacy import Budget, Cost

SCRIPT = Path(__file__).parents[2] / "benchmarks" / "damaged_ledgers.py"


def test_hundreds_of_damaged_ledgers(tmp_path: Path) -> None:
    command = [sys.executable, str(SCRIPT), "--quick", "--seed", "13", "--folder", str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    (line,) = [one for one in done.stdout.splitlines() if one.startswith("all ")]
    made, opened, *counted = map(int, line.split()[1:])
    assert made == 200
    assert 0 < opened < made  # some damage hits what holds nothing
    assert counted == [0] * 6, "raw, 70, other answer, forgotten, passed, slow"


def rechained(place: Path, seq: int, body: str) -> None:
    """Another body, and every later hash made anew by somebody who knows how."""
    with closing(sqlite3.connect(place)) as raw:
        triggers = raw.execute("SELECT name, sql FROM sqlite_master WHERE type = 'trigger'").fetchall()
        for name, _ in triggers:
            raw.execute(f"DROP TRIGGER {name}")
        raw.execute("UPDATE tacit_entries SET body = ? WHERE seq = ?", (body, seq))
        prev = START
        for at, kind, key, text in raw.execute(
            "SELECT seq, kind, key, body FROM tacit_entries ORDER BY seq"
        ).fetchall():
            own = entry_hash(at, kind, key, text, prev)
            raw.execute("UPDATE tacit_entries SET prev = ?, hash = ? WHERE seq = ?", (prev, own, at))
            prev = own
        for _, sql in triggers:
            raw.execute(sql)
        raw.commit()


CHARGE = {
    "number": 1,
    "table": "people",
    "names": [],
    "question": "{}",
    "cost": {"rho": "1/100"},
    "note": "",
    "date": "2026-11-21",
    "spent": {"rho": "1/100"},
}


@pytest.mark.parametrize(
    "body",
    [
        "",
        "[]",
        "null",
        "{",
        "7",
        "NaN",
        "[" * 50_000,
        '{"number":' + "9" * 5_000 + "}",
        *(json.dumps({key: value for key, value in CHARGE.items() if key != gone}) for gone in CHARGE),
        *(json.dumps({**CHARGE, key: [1]}) for key in CHARGE),
        *(json.dumps({**CHARGE, key: None}) for key in CHARGE),
        json.dumps({**CHARGE, "number": True}),
        json.dumps({**CHARGE, "number": 1.0}),
        json.dumps({**CHARGE, "names": "ab"}),
        json.dumps({**CHARGE, "cost": {"rho": "1/0"}}),
        json.dumps({**CHARGE, "cost": {"rho": "1e999999"}}),
        json.dumps({**CHARGE, "analyst": "alice"}),
        json.dumps({**CHARGE, "analyst": {"name": "alice"}}),
        json.dumps({**CHARGE, "question": "[]"}),  # not the question of its key
    ],
)
def test_a_charge_that_says_something_else_is_damage(tmp_path: Path, body: str) -> None:
    """Its hash, and every later one, made anew: what it says is still no charge."""
    place = tmp_path / "people.ledger"
    ledger = open_ledger(place, budget=Budget(rho=1), unit=None)
    request = Request("people", (), "{}", Cost.of(rho="0.01"))
    ledger.store(ledger.charge(request).number, "answer")
    ledger.close()
    rechained(place, 2, body)
    with pytest.raises(LedgerError) as found:
        open_ledger(place, budget=None, unit=None)
    assert found.value.code == "L10"


def test_a_stored_answer_that_is_none_or_another_charges(tmp_path: Path) -> None:
    """Forged with every hash: the chain cannot tell, but it is not what its charge bought."""
    place = tmp_path / "people.ledger"
    schema = tc.Schema({"age": tc.Real(0, 100)})

    def curator() -> tc.Curator:
        data = {"age": np.linspace(0, 100, 50)}
        return tc.Curator(data, schema, budget=Budget(rho=1), ledger=place, name="people")

    for k in (1, 2):
        curator().release(tc.Mean("age"), rho=f"0.0{k}", name=f"mean {k}")
    with closing(sqlite3.connect(place)) as raw:
        rows = raw.execute("SELECT seq, body FROM tacit_entries WHERE kind = 'release' ORDER BY seq").fetchall()
    for body in (rows[1][1], "{", "[]", '"text"'):
        rechained(place, rows[0][0], body)
        for ask in (lambda: curator().release(tc.Mean("age"), rho="0.01"), lambda: curator().releases["mean 1"]):
            with pytest.raises(tc.TacitError) as found:
                ask()
            assert found.value.code in ("L10", "R01", "R02", "R03", "R05"), found.value
    rechained(place, rows[0][0], rows[0][1])
    assert curator().release(tc.Mean("age"), rho="0.01").charge == 1


@pytest.mark.parametrize(
    "change",
    [
        "DROP TRIGGER no_delete",
        "CREATE TABLE more (x)",
        "ALTER TABLE tacit_entries ADD COLUMN more TEXT",
        "PRAGMA application_id = 0",
    ],
)
def test_a_schema_that_was_altered_is_damage(tmp_path: Path, change: str) -> None:
    place = tmp_path / "people.ledger"
    open_ledger(place, budget=Budget(rho=1), unit=None).close()
    with closing(sqlite3.connect(place)) as raw:
        raw.execute(change)
        raw.commit()
    with pytest.raises(LedgerError) as found:
        open_ledger(place, budget=None, unit=None)
    assert found.value.code == "L10"


def test_statistics_of_sqlite_are_no_damage(tmp_path: Path) -> None:
    place = tmp_path / "people.ledger"
    open_ledger(place, budget=Budget(rho=1), unit=None).close()
    with closing(sqlite3.connect(place)) as raw:
        raw.execute("ANALYZE")
    open_ledger(place, budget=None, unit=None).verify()
