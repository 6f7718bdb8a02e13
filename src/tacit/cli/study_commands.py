"""Implementation of the commands on a study: `tacit plan`, `check` and `release` with `--site`, `combine`."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tacit.cli.answers import check_levels, finish, is_new
from tacit.cli.output import emit, on_screen, progress, progress_on_terminal, writable
from tacit.errors import CommandError, FileError
from tacit.privacy import Cost
from tacit.study import Site, Study


def plan(
    study: Study, price: dict[str, str | None], level: float | None, widths: list[str], expect: Mapping[str, Any]
) -> Any:
    """Return the plan of a study, which `tacit plan` prints."""
    typed: dict[str, Any] = dict(price)
    return study.plan(level=level, width=_widths(widths), expect=expect, **typed)


def pooled(page: Any) -> dict[str, Any]:
    """Return from a study's plan the pooled widths, the share added by privacy, and the ways to desired widths."""
    made = page.parties
    terms = [[one.name, one.term, made.pooled(one.name, one.term), one.added] for one in made.pools]
    ways = [
        [one.pool.name, one.pool.term, one.width, one.parties, one.rows, one.price and one.price.to_dict()]
        for one in made.reaches
    ]
    return {"pooled": terms, "ways": ways}


def _widths(given: list[str]) -> dict[str, float] | float | None:
    """Return the values of --width, "stay=0.5" or "0.5"; CommandError C03 where one has no number."""
    made: dict[str, float] = {}
    for one in given:
        # a number alone has the name "": a width for the only question
        name, _, number = one.rpartition("=")
        try:
            made[name] = float(number)
        except ValueError:
            raise CommandError(f"--width {one!r} has no number.", code="C03", hint="--width stay=0.5") from None
    return made[""] if list(made) == [""] else made or None


def check(path: str, site: str | None, as_json: bool) -> None:
    """Run `tacit check` on a study, alone or with a site's table; no row is read."""
    from tacit.cli.file_checks import check_questions
    from tacit.ledger.taken_names import known_already

    study = Study.load(path)
    check_questions(study, study.budget)
    words: dict[str, Any] = {"study": study.name, "digest": study.digest(), "columns": len(study.schema)}
    words |= {"questions": len(study.asks), "parties": len(study.parties)}
    if site is None:
        listed = f"{len(study.parties):,} parties" if study.parties else "any party"
        text = f"{study.name}: {len(study.schema)} columns, {len(study.asks)} questions, {listed}; "
        least, most = study.combining.minimum, len(study.parties)
        never = (
            f"  [combine] minimum is {least:,}, and {most:,} are listed: no pooled result." if 0 < most < least else ""
        )
        emit(f"{text}digest {study.digest()}.{never}", words, as_json)
        return
    from tacit.source import check_source, open_source
    from tacit.source.site_table import apply

    own = Site.load(site, study)
    source = apply(open_source(own.data), own.columns)
    check_source(source, study.schema)
    text = f"{own.name}: {len(study.schema)} columns of {study.name} agree with this {source.kind}; no row was read."
    charge = _known_charge(study, own)
    text += "" if charge is None else f"\n{known_already(charge)}"
    number = None if charge is None else charge.number
    emit(text, {**words, "site": own.name, "source": source.kind, "charge": number}, as_json)


def _known_charge(study: Study, own: Site) -> Any:  # Charge | None
    """Return the charge that a party's ledger has of the study's questions already; LedgerError L09 as the release."""
    from tacit.cli.file_checks import asked_before
    from tacit.curator.locations import ledger_beside
    from tacit.ledger import open_recorded

    where = own.ledger or ledger_beside(own.data)
    if "://" in where or not os.path.exists(where):
        return None
    return asked_before(study, own.name, study.spend, None, open_recorded(where))


def release(
    path: str,
    site: str,
    price: dict[str, str | None],
    analyst: str | None,
    note: str,
    save: str | None,
    level: float | None,
    as_json: bool,
) -> None:
    """Run `tacit release` on a study, with the site file of one party."""
    from tacit.curator.curator import Curator
    from tacit.curator.locations import ledger_beside

    study = Study.load(path)
    own = Site.load(site, study)
    check_levels(study.asks, level)
    target = Path(save) if save is not None else own.path.with_suffix(".release.json")
    if not os.path.isdir(target.parent):
        raise FileError(f"there is no folder {target.parent}.", code="F08", hint="--save elsewhere.json")
    where = own.ledger or ledger_beside(own.data)
    writable(target, path, site, own.data, where, own.key)
    made = where if is_new(where, target) else None
    progress("opening the table")
    typed: dict[str, Any] = {name: value for name, value in price.items() if value is not None}
    _nothing_refuses(study, own, typed, analyst, note)
    with progress_on_terminal():
        curator = Curator(own.data, study, site=own, analyst=analyst)
    with progress_on_terminal():
        found = curator.release(study, note=note, **typed)
    finish(found, target, Cost.of(**typed) if typed else study.spend, curator.remaining, level, as_json, made)


def _nothing_refuses(study: Study, own: Site, price: dict[str, Any], analyst: str | None, note: str) -> None:
    """Raise what refuses a party's first release while no ledger is there yet: an empty one must not stay behind."""
    from tacit.curator import study_rules
    from tacit.curator.first_release import check_first_release
    from tacit.curator.locations import ledger_beside
    from tacit.curator.purchase import log_of_path
    from tacit.curator.request import Questions, split
    from tacit.source import open_source
    from tacit.source.site_table import apply

    where = own.ledger or ledger_beside(own.data)
    if "://" in where or os.path.exists(where):
        return
    study.party(own.name)
    cost = Cost.of(**study_rules.price(study, dict.fromkeys(study_rules.Prices) | price))
    questions = Questions(split(study.asks, cost, study.shares, study.schema), cost, note, study)
    about: dict[str, Any] = {"name": own.name, "analyst": analyst, "log": log_of_path(where)}
    about["size_hint"] = study_rules.size_hint(None, study, own.name)
    with progress_on_terminal():
        check_first_release(apply(open_source(own.data), own.columns), study.schema, questions, study.budget, **about)


def combine(
    path: str,
    returned: list[str],
    effects: str | None,
    level: float | None,
    save: str | None,
    plot: str | None,
    as_json: bool,
) -> bool:
    """Run `tacit combine`; return whether parties are left out: missing, or refused."""
    from tacit.cli.show_commands import records
    from tacit.estimates.terms import check_level

    study = Study.load(path)
    if level is not None:
        check_level(level)
    if save is not None and os.path.isfile(save):
        raise FileError(f"{save} is a file.", code="F08", hint="--save results/, a folder")
    if plot is not None:
        writable(plot, path, *returned)
    progress("reading answers")
    given: Any = effects
    found = study.combine(returned, effects=given)
    table = found.summary(level)  # few answers end here
    words: dict[str, Any] = {"study": study.name, "parties": list(found.parties), "refused": dict(found.refused)}
    words |= {"missing": list(found.missing), "signed": list(found.signed), "alone": found.alone, "combined": {}}
    if as_json:
        own = study.combining.level if level is None else level
        few = [name for name in found if len(found[name].levels) == 0 or found[name].kind != "histogram"]
        words["combined"] = {name: records(found[name].estimate().to_frame(own)) for name in few}
    lines = [on_screen(table, False, "--json, or --save results/")]
    if save is not None:
        words["saved"] = [str(one) for one in found.save(save, level)]
        lines.append(f"saved to {save}")
    if plot is not None:
        words["plots"] = [str(one) for one in found.plot(plot, level)]
        lines.append(f"forest plot{'s' if len(words['plots']) > 1 else ''} in {', '.join(words['plots'])}")
    emit("\n".join(lines), words, as_json)
    return found.incomplete
