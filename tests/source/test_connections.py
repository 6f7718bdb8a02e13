"""One database for all queries of a process: it stays empty, a child has its own, a broken one is replaced."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from tacit.source import open_source
from tacit.source.reading import duckdb_connection


def test_connections_share_settings_and_no_tables() -> None:
    one, other = duckdb_connection.connection(), duckdb_connection.connection()
    one.execute("CREATE TEMP TABLE t AS SELECT 1")
    assert other.execute("SELECT count(*) FROM duckdb_tables()").fetchone() == (0,)
    for name, value in (("temp_directory", ""), ("autoload_known_extensions", False), ("enable_progress_bar", False)):
        assert other.execute(f"SELECT current_setting('{name}')").fetchone() == (value,)


def test_a_database_that_a_failure_closed_is_replaced(tmp_path: Path) -> None:
    pq.write_table(pa.table({"x": [1.0, 2.0]}), tmp_path / "t.parquet")
    source = open_source(tmp_path / "t.parquet")
    assert source.rows() == 2
    duckdb_connection._DATABASE[os.getpid()].close()
    assert source.rows() == 2


def test_a_forked_child_makes_its_own(tmp_path: Path) -> None:
    pq.write_table(pa.table({"x": [1.0, 2.0]}), tmp_path / "t.parquet")
    script = f"""
import os
from tacit.source.reading import duckdb_connection
from tacit.source import open_source
source = open_source({str(tmp_path / "t.parquet")!r})
before = source.rows()
child = os.fork()
if child == 0:
    found = source.rows()
    os._exit(0 if found == before == 2 and len(duckdb_connection._DATABASE) == 2 else 1)
_, status = os.waitpid(child, 0)
assert os.waitstatus_to_exitcode(status) == 0
assert source.rows() == 2
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
