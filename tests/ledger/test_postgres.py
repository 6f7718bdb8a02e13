"""The same laws on a real PostgreSQL server, started here; skipped where no server program can be had."""

from __future__ import annotations

import os
import pwd
import shutil
import socket
import subprocess
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from alone import alone

from tacit.errors import BudgetError, LedgerError
from tacit.ledger import Ledger, Request, open_ledger
from tacit.privacy import Budget, Cost

psycopg = pytest.importorskip("psycopg")


def binaries() -> Path | None:
    places = sorted(Path("/usr/lib/postgresql").glob("*/bin")) + [Path(p).parent for p in [shutil.which("initdb")] if p]
    return next((p for p in reversed(places) if (p / "initdb").exists() and (p / "postgres").exists()), None)


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    folder = binaries()
    if folder is None:
        pytest.skip("no PostgreSQL server program here (Debian's package postgresql has one)")
    root = os.geteuid() == 0
    if root:
        try:
            user = pwd.getpwnam("postgres")
        except KeyError:
            pytest.skip("PostgreSQL does not run as root, and there is no user postgres")
    place = Path(tempfile.mkdtemp(prefix="tacit-pg-"))  # the server's user must reach it
    os.chmod(place, 0o755)
    data = place / "data"
    data.mkdir()

    def demote() -> None:
        if root:
            os.setgid(user.pw_gid)
            os.setuid(user.pw_uid)

    if root:
        os.chown(data, user.pw_uid, user.pw_gid)
        os.chown(place, user.pw_uid, user.pw_gid)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    run = {"preexec_fn": demote, "cwd": place, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    subprocess.run([folder / "initdb", "-D", data, "-U", "tacit", "-A", "trust"], check=True, **run)
    options = f"-p {port} -k {place} -h 127.0.0.1"
    start = [folder / "pg_ctl", "-D", data, "-w", "-t", "60", "-l", place / "log", "-o", options, "start"]
    subprocess.run(start, check=True, **run)
    try:
        yield f"postgresql://tacit@127.0.0.1:{port}/postgres"
    finally:
        subprocess.run([folder / "pg_ctl", "-D", data, "-m", "immediate", "stop"], check=False, **run)
        shutil.rmtree(place, ignore_errors=True)


def ask(i: int | str, names: tuple[str, ...] = ()) -> Request:
    return Request("people", names, f'{{"question":"{i}"}}', Cost.of(rho="0.01"), "")


def test_laws_hold_on_a_server(server: str) -> None:
    where = f"{server}?ledger=one"
    ledger = open_ledger(where, budget=Budget(rho="0.03"), unit=None)
    charge = ledger.charge(ask(1, names=("age",)))
    assert ledger.store(charge.number, "first") == ledger.store(charge.number, "second") == "first"
    assert ledger.charge(ask(1, names=("age",))).release == "first"
    ledger.charge(ask(2))
    ledger.charge(ask(3))
    with pytest.raises(BudgetError):
        ledger.charge(ask(4))
    ledger.table("people", 10)
    with pytest.raises(LedgerError):
        ledger.table("people", 11)
    ledger.verify()
    with pytest.raises(LedgerError) as refused:
        open_ledger(where, budget=Budget(rho=1), unit=None)
    assert refused.value.code == "L01"
    other = open_ledger(f"{server}?ledger=two", budget=Budget(epsilon=1), unit=None)
    assert other.charges() == []


def test_a_server_keeps_what_was_written(server: str) -> None:
    open_ledger(f"{server}?ledger=kept", budget=Budget(rho=1), unit=None).charge(ask(1))
    with psycopg.connect(server) as raw:
        for statement in ("DELETE FROM tacit_entries", "UPDATE tacit_entries SET body = ''", "TRUNCATE tacit_entries"):
            with pytest.raises(psycopg.Error), raw.transaction():
                raw.execute(statement)
    open_ledger(f"{server}?ledger=kept", budget=None, unit=None).verify()


@alone
def test_many_processes_on_a_server(server: str) -> None:
    where = f"{server}?ledger=crowd"
    open_ledger(where, budget=Budget(rho="0.5"), unit=None).close()  # 50 charges fit; 8 x 12 are asked
    children: list[int] = []
    for seed in range(8):
        child = os.fork()
        if child == 0:
            try:
                mine = open_ledger(where, budget=None, unit=None)
                for i in range(12):
                    try:
                        one = mine.charge(ask(f"{seed}-{i}"))
                    except BudgetError:
                        break
                    mine.store(one.number, f"{seed}-{i}")
            finally:
                os._exit(0)
        children.append(child)
    for child in children:
        os.waitpid(child, 0)
    ledger = open_ledger(where, budget=None, unit=None)
    ledger.verify()
    charges = ledger.charges()
    assert ledger.spent().rho == Budget(rho="0.5").limit.rho
    assert [one.number for one in charges] == list(range(1, 51))
    assert all(one.release is not None for one in charges)


@alone
def test_first_openings_at_once_on_a_server(server: str) -> None:
    """Each round without the table, too, as on a new server: one makes it, all have the ledger."""
    from test_first_openings import PROCESSES, at_once, first

    codes: Counter[int] = Counter()
    for k in range(6):
        if k % 2 == 0:
            with psycopg.connect(server, autocommit=True) as raw:
                raw.execute("DROP TABLE IF EXISTS tacit_entries")
        where = f"{server}?ledger=first{k}"
        codes += at_once(first, where, time.time() + 0.05)
        ledger = open_ledger(where, budget=None, unit=None)
        ledger.verify()
        assert len(ledger.charges()) == PROCESSES
    assert codes == {0: 6 * PROCESSES}


@pytest.mark.parametrize(
    "change",
    [
        "UPDATE tacit_entries SET body = 'another' WHERE kind = 'release' AND ledger = %s",
        "UPDATE tacit_entries SET body = '[]' WHERE kind = 'charge' AND ledger = %s",
        "UPDATE tacit_entries SET seq = seq + 1000000000000 WHERE kind = 'release' AND ledger = %s",
        "DELETE FROM tacit_entries WHERE kind = 'charge' AND ledger = %s",
        "DELETE FROM tacit_entries WHERE kind = 'header' AND ledger = %s",
    ],
)
def test_rows_that_were_changed_on_a_server_are_found(server: str, change: str) -> None:
    name = f"changed{abs(hash(change))}"
    ledger = open_ledger(f"{server}?ledger={name}", budget=Budget(rho=1), unit=None)
    ledger.store(ledger.charge(ask(1)).number, "answer")
    with psycopg.connect(server, autocommit=True) as raw:
        raw.execute("ALTER TABLE tacit_entries DISABLE TRIGGER tacit_no_change")
        raw.execute(change, (name,))
        with pytest.raises(LedgerError) as found:
            ledger.verify()
        assert found.value.code == "L10"
        raw.execute("ALTER TABLE tacit_entries ENABLE TRIGGER tacit_no_change")
    for use in (
        lambda: open_ledger(f"{server}?ledger={name}", budget=Budget(rho=1), unit=None),
        lambda: ledger.charge(ask(1)),
    ):
        with pytest.raises(LedgerError) as found:
            use()
        assert found.value.code == "L10"


def test_a_table_without_its_trigger_or_columns_on_a_server(server: str) -> None:
    ledger = open_ledger(f"{server}?ledger=bare", budget=Budget(rho=1), unit=None)
    with psycopg.connect(server, autocommit=True) as raw:
        for change, back in (
            ("ALTER TABLE tacit_entries DISABLE TRIGGER tacit_no_change",) * 2,
            ("ALTER TABLE tacit_entries RENAME COLUMN body TO words", "RENAME COLUMN words TO body"),
            ("ALTER TABLE tacit_entries RENAME TO entries", ""),
        ):
            raw.execute(change)
            with pytest.raises(LedgerError) as found:
                ledger.verify()
            assert found.value.code == "L10"
            undo = back.replace("DISABLE", "ENABLE") if "TRIGGER" in back else f"ALTER TABLE tacit_entries {back}"
            raw.execute(undo if back else "ALTER TABLE entries RENAME TO tacit_entries")
    ledger.verify()


def test_a_server_makes_its_own_backups(server: str, tmp_path: Path) -> None:
    ledger = open_ledger(f"{server}?ledger=copied", budget=Budget(rho=1), unit=None)
    with pytest.raises(LedgerError) as refused:
        ledger.backup(tmp_path / "copy.ledger")
    assert refused.value.code == "L16"
    assert list(tmp_path.iterdir()) == []


def test_a_server_out_of_reach() -> None:
    with pytest.raises(LedgerError) as refused:
        open_ledger("postgresql://nobody:secret@127.0.0.1:1/nothing", budget=Budget(rho=1), unit=None)
    assert refused.value.code == "L06"
    assert "secret" not in str(refused.value)


@pytest.mark.long
def test_the_command_line_on_a_server(server: str, tmp_path: Path) -> None:
    """`ledger = "postgresql://…"` in a file; `tacit budget URL`."""
    import json
    import sys

    import tacit as tc

    url = f"{server}?ledger=commands"
    tc.examples.people(200).to_parquet(tmp_path / "people.parquet")
    (tmp_path / "job.toml").write_text(
        f'tacit = 1\n[table]\nname = "people"\n[data]\npath = "people.parquet"\nledger = "{url}"\n[budget]\nrho = 0.5\n'
        '[schema]\nage = { type = "Real", lower = 18, upper = 93 }\n[spend]\nrho = 0.2\n'
        '[ask.age]\nquery = "Mean"\ncolumns = "age"\n'
    )

    def run(*words: str) -> str:
        command = [sys.executable, "-m", "tacit", *words]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    run("release", "job.toml")
    run("release", "job.toml")  # the same question again is free
    words = json.loads(run("budget", url, "--json"))
    assert "1/5" in json.dumps(words) or "0.2" in json.dumps(words)
    assert "left 0.30 of 0.50" in run("budget", url)


def test_raises_and_limits_on_a_server(server: str) -> None:
    where = f"{server}?ledger=raised"
    ledger = open_ledger(where, budget=Budget(rho="0.03"), unit=None)
    ledger.limit("al%ce", Budget(rho="0.02"), note="board 30")
    for i in range(2):
        ledger.charge(replace(ask(i), analyst="al%ce"))
    with pytest.raises(BudgetError) as refused:
        ledger.charge(replace(ask(2), analyst="al%ce"))
    assert refused.value.code == "B12"
    ledger.charge(replace(ask(2), analyst="alice"))
    with pytest.raises(BudgetError) as refused:
        ledger.charge(ask(3))
    assert refused.value.code == "B02"
    other = open_ledger(where, budget=None, unit=None)
    assert other.raise_budget(Budget(rho="0.04"), note="board 31") is not None
    assert ledger.raise_budget(Budget(rho="0.04"), note="board 31") is None
    ledger.charge(ask(3))
    with pytest.raises(BudgetError) as refused:
        other.limit("al%ce", Budget(rho="0.01"), note="board 32")
    assert refused.value.code == "B14"
    with pytest.raises(LedgerError) as opened:
        open_ledger(where, budget=Budget(rho="0.03"), unit=None)
    assert opened.value.code == "L01"
    assert str(ledger.standing("al%ce").own) == "ρ = 0.02"
    assert [one.note for one in ledger.acts()] == ["board 30", "board 31"]
    ledger.verify()


@alone
def test_many_processes_charge_on_a_server_while_others_raise(server: str) -> None:
    where = f"{server}?ledger=rising"
    open_ledger(where, budget=Budget(rho="0.1"), unit=None).close()
    children: list[int] = []
    for seed in range(6):
        child = os.fork()
        if child == 0:
            code = 1
            try:
                mine = open_ledger(where, budget=None, unit=None)
                _raise_in_steps(mine) if seed < 2 else _spend(mine, seed)
                code = 0
            finally:
                os._exit(code)
        children.append(child)
    assert [os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children] == [0] * 6
    ledger = open_ledger(where, budget=None, unit=None)
    ledger.verify()
    assert [one.note for one in ledger.acts()] == [f"board {tenths}" for tenths in range(2, 5)]
    assert str(ledger.spent()) == "ρ = 0.4"
    assert [one.number for one in ledger.charges()] == list(range(1, 41))


def _raise_in_steps(ledger: Ledger) -> None:
    for tenths in range(2, 5):
        try:
            ledger.raise_budget(Budget(rho=f"0.{tenths}"), note=f"board {tenths}")
        except BudgetError as refused:  # another was faster, and further
            if refused.code != "B13":
                raise
        time.sleep(0.02)


def _spend(ledger: Ledger, seed: int) -> None:
    i = 0
    while True:
        try:
            ledger.charge(ask(f"{seed}-{i}"))
            i += 1
        except BudgetError:
            if ledger.budget == Budget(rho="0.4"):
                return
            time.sleep(0.002)


@pytest.mark.long
def test_killed_at_every_step_on_a_server(server: str) -> None:
    """SIGKILL in the middle of a release, thinned: the server ends what the curator had open, and the charge stands."""
    import re
    import sys

    script = Path(__file__).parents[2] / "benchmarks" / "steps.py"
    command = [sys.executable, str(script), "--thin", "--every", "23", "--jobs", "2", "--prepared", "--server", server]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    said = re.search(r"(\d+) deaths at [\d,]+ steps, (\d+) after the charge, (\d+) after the store", done.stdout)
    assert said is not None, done.stdout
    deaths, charged, stored = map(int, said.groups())
    assert 0 < stored < charged < deaths
    assert done.stdout.count("problems: none") == 1
