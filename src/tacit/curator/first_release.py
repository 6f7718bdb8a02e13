"""What refuses a first release, found before its ledger is made.  INSIDE the wall.

A curator writes a new ledger before the first question is put to it.  Where that question is then refused (by its
design, its price, a study that has closed) the file would stay behind, empty.  So the command line asks here first:
everything up to the charge, with a ledger in memory, from public facts alone.
"""

from __future__ import annotations

from pathlib import Path

from tacit.base.muted import silent
from tacit.curator.guard import guarded
from tacit.curator.mechanisms import design
from tacit.curator.purchase import TableContext, charged
from tacit.curator.request import Questions
from tacit.curator.settled import settled
from tacit.errors import SourceError
from tacit.ledger import open_ledger
from tacit.method.shared.measurement import Public
from tacit.privacy import Budget
from tacit.release.query_checks import of_numbers
from tacit.rows.row_map import MAX_ROWS
from tacit.schema import Schema
from tacit.schema.row_maps_of_columns import most_rows, unit_of
from tacit.source import Source, check_source, computing
from tacit.source.engine_table import EngineTable
from tacit.source.pass_progress import reading


def check_first_release(
    opened: EngineTable,
    schema: Schema,
    questions: Questions,
    budget: Budget,
    *,
    name: str,
    analyst: str | None = None,
    size_hint: int | None = None,
    log: Path | None = None,
) -> int | None:
    """Raise what would refuse the questions before their charge to a new ledger; nothing is created.

    Return the number of rows (persons) where it is public.  Errors as `Curator` and `Curator.release`.
    """
    source = computing(opened, schema)
    check_source(source, schema)
    unit = None if unit_of(schema) is None else most_rows(schema)
    rows = public_rows(source, schema, budget, name, log)
    with silent():
        public = Public(schema, budget.neighbors, rows, size_hint, budget.kind)
        designs = [design(of_numbers(query, schema), public, cost) for _, query, cost in questions.parts]
    ledger = open_ledger(None, budget=budget, unit=unit)
    context = TableContext(name, schema, rows, unit, analyst, ledger, source)
    charged(settled(questions, designs, budget.kind), designs, context)
    return rows


def public_rows(source: Source, schema: Schema, budget: Budget, name: str, log: Path | None) -> int | None:
    """Count the rows (persons) under replace-one, where their number is public; return None under add-remove."""
    # under add-remove the number of rows is what one person changes, so even a check of it would be an output
    if budget.neighbors != "replace-one":
        return None
    unit = unit_of(schema)
    what = "rows" if unit is None else "persons"
    with reading(f"counting {what}, whose number is public", bar=unit is None):
        # an engine that fails here may quote a row, as in any other pass
        rows = guarded(lambda: source.rows(unit), log)
    if rows < 2:
        counted = what.removesuffix("s") if rows == 1 else what
        message = f"table {name!r} has {rows} {counted}; under replace-one their number is public and at least 2."
        raise SourceError(message, code="D20", hint='Budget(..., neighbors="add-remove") for a private number')
    if rows > MAX_ROWS:
        raise SourceError(f"table {name!r} has {rows:,} {what}; at most 2**42.", code="D21", hint="split it")
    return rows
