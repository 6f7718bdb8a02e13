"""The page of a plan as text and as HTML: what a board reads and signs, and a technical appendix after it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date
from html import escape
from typing import TYPE_CHECKING, Final

from tacit.base.table import Table
from tacit.meaning.attacker import right
from tacit.meaning.checked import percent
from tacit.meaning.promise import of_cost
from tacit.privacy import Budget, Spend
from tacit.privacy.exact_numbers import plain

if TYPE_CHECKING:
    from tacit.planning.page import Plan

PRECISION: Final = "Expected precision"
APPENDIX: Final = "Technical appendix"
BLANK: Final = "." * 40
SIGNED: Final = ("Name", "Office", "Date", "Number of the decision", "Signature")
STYLE: Final = (
    "body{font-family:sans-serif;max-width:46em;margin:2em auto;line-height:1.4}"
    "td,th{padding:.2em .8em;vertical-align:top}h2{font-size:1.1em;margin-top:1.4em}"
    ".facts th{text-align:left;font-weight:normal;color:#555;white-space:nowrap}"
    "code{overflow-wrap:anywhere}.sign td{border-bottom:1px solid #555;width:24em;height:2em}.appendix{color:#444}"
)


@dataclass(frozen=True)
class BoardRequest:
    """The request that a page is signed for: its title, who asks, the date of the page, the command to be run."""

    title: str
    asked_by: str
    on: date
    command: str


def sections(plan: Plan) -> tuple[tuple[str, tuple[str, ...]], ...]:
    """Return the page's headings and their lines."""
    people = f"{plan.rows:,} {plan.counted}"
    people = people if plan.public else f"number of {plan.counted} private, {plan.rows:,} assumed"
    number = f"{plan.numbers:,} number{'s' if plan.numbers != 1 else ''}"
    first = f"{number} on {plan.table!r} ({people}), each with random noise added; no row, and no exact number"
    cautions = plan.cautions()
    return (
        ("Promise", (_promise(plan), _for_one(plan))),
        ("Released numbers", (first, *(part.leaves for part in plan.parts))),
        ("Cost", (f"{plan.cost}", *_balance(plan))),
        (PRECISION, (*_explained(plan), *plan.table_of_terms().to_text().splitlines())),
        *_of_parties(plan),
        ("Cautions", tuple(f"- {one}" for one in cautions) if cautions else ("none",)),
        (
            "Stored",
            ("the question, the numbers with noise, cost, date and note, in the ledger; never a row or its digest",),
        ),
        *_command(plan),
        (APPENDIX, tuple(_appendix(plan))),
    )


def _promise(plan: Plan) -> str:
    """Return the guarantee without its technical half, which is in the appendix."""
    words, bracket, _ = plan.guarantee.partition(" (")
    return f"{words}." if bracket else words


def _for_one(plan: Plan) -> str:
    """Return what the price means for one person, and where to read more."""
    asked = "whether one person is in the table" if plan.neighbors == "add-remove" else "one person's yes or no"
    most = percent(right(of_cost(plan.cost)))
    more = " ".join(
        f"--{name} {plain(value)}" for name in ("epsilon", "delta", "rho") if (value := getattr(plan.cost, name))
    )
    command = f" (more: tacit explain {more} --neighbors {plan.neighbors})" if more else ""
    return (
        f"Whoever guesses from this release {asked}, and knows everybody else's data, is right at "
        f"most {most} of the time; a coin is right half of the time{command}."
    )


def _explained(plan: Plan) -> tuple[str, ...]:
    """Return what a width is, for those who have not met one."""
    if plan.request is None:
        return (f"How wide each {100 * plan.level:g}% interval is expected to be; privacy's part is of the variance.",)
    times = f"{100 * plan.level:g} times in 100"
    return (f"Each answer comes with an interval that holds the true value {times}; this is how wide it will be.",)


def _command(plan: Plan) -> tuple[tuple[str, tuple[str, ...]], ...]:
    if plan.request is None or not plan.request.command:
        return ()
    return (("To be run once this is signed", (plan.request.command,)),)


def _appendix(plan: Plan) -> Iterator[str]:
    """Yield what a privacy engineer or a statistician looks up."""
    if _promise(plan) != plan.guarantee:
        yield plan.guarantee
    yield f"{plan.numbers:,} noisy integers; neighbouring tables: {plan.neighbors}"
    for part in plan.parts:
        yield part.technical
    yield plan.rate
    if plan.digest:
        yield f"digest of the request (SHA-256): {plan.digest}"


def _of_parties(plan: Plan) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield the sections of a study: its parties, ways to the widths wanted, where privacy costs little."""
    if plan.parties is None:
        return
    yield "Parties", plan.parties.lines()
    wanted = plan.parties.reached(plan.admits)
    if wanted:
        yield "To be narrow enough", wanted
    free = plan.parties.free()
    if free:
        yield "Where privacy is free", free


def _balance(plan: Plan) -> tuple[str, ...]:
    whole = () if plan.budget is None else _before_and_after(plan, plan.budget, plan.spent)
    if plan.limit is None:
        return whole
    return (*whole, *(f"{plan.analyst}, {one}" for one in _before_and_after(plan, plan.limit, plan.own)))


def _before_and_after(plan: Plan, budget: Budget, spent: Spend) -> tuple[str, str]:
    after = spent + budget.spend(plan.charged, plan.bought)
    return f"before: {budget.describe_left(spent)}", f"after: {budget.describe_left(after)}"


def _facts(plan: Plan, request: BoardRequest) -> tuple[tuple[str, str], ...]:
    """Return what heads a page that is to be signed."""
    # enough to tell requests apart on paper; the whole digest is in the appendix
    return (
        ("Table", plan.table),
        ("Asked by", request.asked_by or BLANK),
        ("Date of this page", request.on.isoformat()),
        ("Request", plan.digest[:16] or BLANK),
    )


def to_text(plan: Plan) -> str:
    """Return the page as text; with a place to sign where it is for a board."""
    lines = [f"Plan of a release of {plan.table} · nothing was read or spent"]
    if plan.request is not None:
        facts = (f"{name + ':':<19}{value}" for name, value in _facts(plan, plan.request))
        lines = [plan.request.title, *facts, "", *lines]
    *body, last = sections(plan)
    for heading, text in body:
        lines += ["", heading, *[f"  {line}" for line in text]]
    if plan.request is not None:
        lines += ["", "Approval", *[f"  {name + ':':<25}{BLANK}" for name in SIGNED]]
    lines += ["", last[0], *[f"  {line}" for line in last[1]]]
    return "\n".join(lines)


def to_html(plan: Plan) -> str:
    """Return the page as an HTML document; with a place to sign where it is for a board."""
    heading = f"Plan of a release of {plan.table}" if plan.request is None else plan.request.title
    body = [f"<h1>{escape(heading)}</h1>"]
    if plan.request is not None:
        body.append(_two_columns(_facts(plan, plan.request), "facts"))
    body.append("<p>Plan of a release. Nothing was read or spent.</p>")
    *shown, last = sections(plan)
    body += [_section(plan, title, lines) for title, lines in shown]
    if plan.request is not None:
        body.append("<h2>Approval</h2>" + _two_columns(tuple((name, "") for name in SIGNED), "sign"))
    body.append(f'<div class="appendix">{_section(plan, *last)}</div>')
    return (
        f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Plan: {escape(plan.table)}</title>'
        f"<style>{STYLE}</style></head><body>{''.join(body)}</body></html>\n"
    )


def _section(plan: Plan, heading: str, lines: tuple[str, ...]) -> str:
    title = f"<h2>{escape(heading)}</h2>"
    if heading == PRECISION:
        table = plan.table_of_terms()
        notes = "".join(f"<p>{escape(note)}</p>" for note in table.notes)
        title += "".join(f"<p>{escape(line)}</p>" for line in _explained(plan))
        return title + Table("", table.columns, table.rows, (), table.align).to_html() + notes
    if lines and all(line.startswith("- ") for line in lines):
        return title + "<ul>" + "".join(f"<li>{escape(line[2:])}</li>" for line in lines) + "</ul>"
    if plan.request is not None and lines == (plan.request.command,):
        return f"{title}<p><code>{escape(lines[0])}</code></p>"
    return title + "".join(f"<p>{escape(line)}</p>" for line in lines)


def _two_columns(rows: tuple[tuple[str, str], ...], name: str) -> str:
    inside = "".join(f"<tr><th>{escape(left)}</th><td>{escape(right)}</td></tr>" for left, right in rows)
    return f'<table class="{name}"><tbody>{inside}</tbody></table>'
