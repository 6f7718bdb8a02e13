"""Implementation of the commands on a curator's file."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tacit.cli import study_commands as studies
from tacit.cli.answers import check_levels, finish, is_new
from tacit.cli.draft_commands import found_in_rows
from tacit.cli.file_checks import answers_of_text, asked_before, check_price, check_questions
from tacit.cli.output import emit, progress, progress_on_terminal, writable
from tacit.errors import CommandError, FileError, LedgerError
from tacit.privacy import Cost
from tacit.schema.toml import read_toml
from tacit.study import Study, read
from tacit.study.curator_file import Job, schema_of

if TYPE_CHECKING:
    from tacit.ledger import Charge
    from tacit.planning import Plan


def check(path: str, site: str | None, as_json: bool) -> None:
    """Run `tacit check`: hold a file against its table and its budget, and design its questions."""
    from tacit.ledger.taken_names import known_already
    from tacit.source import check_source, open_source

    job = read(path)
    if site is not None or isinstance(job, Study):
        studies.check(path, site, as_json)
        return
    source = open_source(_data(job))
    check_source(source, job.schema)
    where = _ledger(job)
    ledger = None if where is None or "://" in where or not os.path.exists(where) else _open(job, where)
    budget = check_price(job, ledger, lambda: _page(job, {}, None, 0.95, job.expect))
    check_questions(job, budget)
    charge = None if job.spend is None else asked_before(job, job.name, job.spend, job.analyst, ledger)
    marks = found_in_rows(path)
    words = {"table": job.name, "columns": len(job.schema), "questions": len(job.asks), "source": source.kind}
    words |= {"digest": job.digest()}
    text = f"{job.name}: {len(job.schema)} columns agree with this {source.kind}; no row was read."
    text = f"{text}  Request {job.digest()[:16]}."
    said = [text, *([] if charge is None else [known_already(charge)]), *answers_of_text(job.schema, source.kind)]
    words |= {"found_in_rows": marks is not None, "charge": None if charge is None else charge.number}
    emit("\n".join([*said, *([marks] if marks else [])]), words, as_json)


def import_raw(raw: str, path: str, out: str, reading: dict[str, Any], drop: bool, as_json: bool) -> None:
    """Run `tacit import`: turn raw text into a typed table."""
    import typer

    from tacit.source.raw_text.text_import import import_table

    schema = schema_of(path)  # the questions are not read: they may be unfinished, or wrong
    if Path(out).suffix == ".parquet":  # any other is refused by name
        writable(out, raw, path)
    with progress_on_terminal():
        report = import_table(raw, schema, out, broken="drop" if drop else "refuse", **reading)
    emit(report.summary().to_text(), report.to_dict(), as_json)
    if not report.written:
        raise typer.Exit(2)


def plan(
    path: str,
    price: dict[str, str | None],
    analyst: str | None,
    level: float | None,
    widths: list[str],
    save: str | None,
    as_json: bool,
    expect: Sequence[str] = (),
) -> None:
    """`tacit plan`."""
    found, taken, charge = read(path), None, None
    known = {**found.expect, **expected_words(expect)}
    if isinstance(found, Study):
        page, after, inputs = studies.plan(found, price, level, widths, known), " --site SITE.toml", (path,)
        who = found.contact
    elif widths:
        raise CommandError("--width is for studies.", code="C06", hint="--rho or --epsilon, and look at the widths")
    else:
        page, after = _page(found, price, analyst, 0.95 if level is None else level, known), ""
        inputs, who = (path, found.data, _ledger(found)), analyst or found.analyst or found.contact
        taken, charge = _known_questions(found, Cost.of(**price_of(found, price)), _analyst(found, analyst))
    page = replace(page, in_files=True)
    asked = "".join(f" --{name} {value}" for name, value in price.items() if value is not None)
    command = f"tacit release {path}{after}{asked}"
    if save is not None:
        writable(save, *inputs)
        note = ' --note "number of the decision"'
        page.for_board(title=found.title, asked_by=who, command=f"{command}{note}").save(save)
    words = dict(page.to_dict())
    if isinstance(found, Study):
        words |= {"parties": list(found.parties), **studies.pooled(page)}
    else:
        words |= {"charge": None if charge is None else charge.number, "taken": None if taken is None else str(taken)}
    emit(f"{page.to_text()}\n\n{_next(page, command, taken, charge)}", words, as_json)


def _known_questions(job: Job, cost: Cost, analyst: str | None) -> tuple[LedgerError | None, Charge | None]:
    """Return why a name of the file's questions is taken, and the charge that all of them have already."""
    where = _ledger(job)
    if where is None or "://" in where or not os.path.exists(where):
        return None, None
    try:
        return None, asked_before(job, job.name, cost, analyst, _open(job, where))
    except LedgerError as problem:
        return problem, None


def _next(page: Plan, command: str, taken: LedgerError | None, charge: Charge | None) -> str:
    """Return the command to run or, where the budget, the analyst's limit or a name refuses it, what would do.

    taken: why a name is refused.  charge: that these questions have already.
    """
    from tacit.cli.dialect import in_shell
    from tacit.ledger.taken_names import known_already
    from tacit.privacy.refusal import refusal

    if charge is not None:
        return f"Run, at no cost: {known_already(charge)}\n  {command}"
    # in the order in which the release would refuse
    if page.fits and taken is not None:
        return f"Not now: the release would be refused\n  {taken.message}\n  {in_shell(taken.hint or '', {})}"
    if page.fits:
        return f"Run\n  {command}"

    whole = page.budget is not None and not page.budget.admits(page.spent, page.cost, page.bought)
    limit, spent = (page.budget, page.spent) if whole else (page.limit, page.own)
    # one of the two refuses, or the page would fit
    hint = "" if limit is None else refusal(limit, spent, page.cost, None, 0, len(page.parts), None, page.bought).hint
    options = {name: f"--{name}" for name in ("epsilon", "delta", "rho")}
    return f"Not now: the release would be refused\n  {in_shell(hint or '', options)}"


def expected_words(given: Sequence[str]) -> dict[str, Any]:
    """Return the values of --expect, each a line of `[expect]`; CommandError C03 where one is no such line."""
    made: dict[str, Any] = {}
    for line in given:
        hint = "--expect 'fare = { mean = 12, sd = 9 }', a line of TOML as in [expect]"
        try:
            made |= read_toml(line)
        except FileError:
            raise CommandError(
                f"--expect {line!r} is not a column and what is known of it.", code="C03", hint=hint
            ) from None
    return made


def _page(job: Job, price: dict[str, str | None], analyst: str | None, level: float, expect: Mapping[str, Any]) -> Any:
    """Return the plan of a curator's file, with the standing of its ledger if there is one."""
    from tacit.planning import plan as make

    budget, spent, standing = job.budget, None, None
    where = _ledger(job)
    # a plan makes no ledger and connects to no server
    if where is not None and "://" not in where and os.path.exists(where):
        standing = _open(job, where).standing(_analyst(job, analyst))
        budget, spent = standing.budget, standing.spent
    cost = price_of(job, price)
    page = make(
        questions_of(job),
        job.schema,
        rows=job.rows,
        shares=job.shares,
        level=level,
        neighbors="replace-one" if budget is None else budget.neighbors,
        budget=budget,
        spent=spent,
        name=job.name,
        expect=expect,
        **cost,
    )
    # of the file itself, whose budget a ledger may have raised since
    page = replace(page, digest=replace(job, spend=Cost.of(**cost)).digest())
    return page if standing is None else page.by(standing)


def release(
    path: str,
    price: dict[str, str | None],
    analyst: str | None,
    note: str,
    save: str | None,
    level: float | None,
    fresh: bool,
    as_json: bool,
) -> None:
    """Run `tacit release` on a curator's file: buy all answers, save and print them."""
    from tacit.curator.curator import Curator

    job = _job(path)
    asks, cost = questions_of(job), price_of(job, price)
    check_levels(asks, level)
    target = Path(save) if save is not None else job.path.with_suffix("").with_suffix(".release.json")
    if not os.path.isdir(target.parent):
        raise FileError(f"there is no folder {target.parent}.", code="F08", hint="--save elsewhere.json")
    # before the table is opened and anything is charged
    where = _ledger(job)
    writable(target, path, job.data, where)
    made = where if is_new(where, target) else None
    progress("opening the table")
    who = _analyst(job, analyst)
    _nothing_refuses(job, Cost.of(**cost), who, note)
    facts: dict[str, Any] = {"name": job.name, "budget": job.budget, "ledger": job.ledger, "size_hint": job.rows}
    with progress_on_terminal():
        # where their number is public rows are counted, which takes a pass over a text file
        curator = Curator(_data(job), job.schema, **facts, analyst=who)
    _same_rows(job, curator.rows)
    with progress_on_terminal():
        found = curator.release(asks, shares=job.shares, note=note, fresh=fresh, **cost)
    finish(found, target, Cost.of(**cost), curator.remaining, level, as_json, made)


def _nothing_refuses(job: Job, cost: Cost, analyst: str | None, note: str) -> None:
    """Raise what refuses a file's first release while no ledger is there yet: an empty one must not stay behind."""
    from tacit.curator.first_release import check_first_release
    from tacit.curator.purchase import log_of_path
    from tacit.curator.request import Questions, split
    from tacit.source import open_source

    where = _ledger(job)
    if job.budget is None or where is None or "://" in where or os.path.exists(where):
        return
    questions = Questions(split(job.asks, cost, job.shares, job.schema), cost, note)
    about: dict[str, Any] = {"name": job.name, "analyst": analyst, "size_hint": job.rows, "log": log_of_path(where)}
    with progress_on_terminal():
        rows = check_first_release(open_source(_data(job)), job.schema, questions, job.budget, **about)
    _same_rows(job, rows)


def _job(path: str) -> Job:
    """Read a curator's file; FileError F09 for a study, which needs a site file."""
    found = read(path)
    if isinstance(found, Study):
        message = f"{path} is a study: its rows are with its parties."
        raise FileError(message, code="F09", hint="--site st-mary.toml")
    return found


def _same_rows(job: Job, rows: int | None) -> None:
    """Raise FileError F09 where the file gives another number of rows than the curator's public one."""
    if job.rows is not None and rows is not None and job.rows != rows:
        message = f"[table] rows is {job.rows:,}; this source has {rows:,}."
        raise FileError(message, code="F09", hint=f"rows = {rows}, or the right file")


def questions_of(job: Any) -> Any:
    """Return the queries of a file; FileError F09 where there are none."""
    if not job.asks:
        raise FileError(f"{job.path} asks nothing.", code="F09", hint='[ask.age], then query = "Mean", columns = "age"')
    return job.asks


def _data(job: Job) -> Path:
    """Return the path of a file's table; FileError F09 where it gives none."""
    if job.data is None:
        hint = '[data], then path = "people.parquet"; or, for a study, --site st-mary.toml'
        raise FileError(f"{job.path} says no [data] path.", code="F09", hint=hint)
    return job.data


def price_of(job: Any, given: dict[str, str | None]) -> dict[str, Any]:
    """Return the command's price, or the file's `[spend]`; CommandError C02 where neither is given."""
    typed = {name: value for name, value in given.items() if value is not None}
    if typed:
        Cost.of(**typed)
        return dict(typed)
    if job.spend is None:
        raise CommandError(f"{job.path} has no [spend], and no price is given.", code="C02", hint="--rho 0.1")
    return {name: getattr(job.spend, name) for name in ("epsilon", "delta", "rho") if getattr(job.spend, name)}


def _analyst(job: Job, given: str | None) -> str | None:
    """Return the command's analyst, or the file's."""
    from tacit.ledger.acts import checked_analyst

    name = job.analyst if given is None else given
    return None if name is None else checked_analyst(name)


def _ledger(job: Job) -> str | None:
    """Return the path of the file's ledger, by default the one that a curator keeps beside the table."""
    from tacit.curator.locations import ledger_beside

    return job.ledger if job.ledger is not None or job.data is None else ledger_beside(job.data)


def _open(job: Job, where: str) -> Any:
    """Open the ledger of a file."""
    from tacit.ledger import open_ledger

    unit = None if job.schema.unit is None else getattr(job.schema[job.schema.unit], "max_rows", None)
    return open_ledger(where, budget=job.budget, unit=unit)
