"""Which releases can be combined: those that answer one question, and which of them are about the same people."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Final

from tacit.base.arguments import described
from tacit.errors import InferenceError
from tacit.pooling.possible_integers import impossible
from tacit.release.document import Release, Released
from tacit.release.parts import Axis, Grid, Variable
from tacit.release.simulated import SimulatedRelease

BLOCKS: Final = "sample-and-aggregate"
STATISTICS: Final = "sufficient-statistics"
REGRESSION: Final = "regression"
BOOTSTRAP: Final = "bootstrap"
KINDS: Final = {one: one for one in ("moments", "quality", "histogram", BLOCKS, STATISTICS, REGRESSION, BOOTSTRAP)} | {
    "regression-cells": REGRESSION
}
"""Kinds of releases that are combined, sums and estimates with errors of their own, and as what they are combined."""
ALONE: Final = {
    "quantiles": ("are selected, not summed", "Histogram, whose releases do, and its quantiles"),
    "range": ("are selected, not summed", "the widest of the ranges, or a Histogram"),
    "unlisted-levels": (
        "have the levels that enough of each party's own rows have",
        "Count by a Category of the levels that were shown anywhere, at each party",
    ),
    "sparse-histogram": ("have the cells that each party's own rows fill", "Histogram of all cells alike"),
}
"""Kinds that cannot be combined: why, and what to ask instead."""
OTHER_SCHEMA: Final = "another schema in"
NO_EFFECTS: Final = "how far parties differ is not estimated from bootstraps"
"""Why bootstraps are not combined under random effects."""


def named_releases(
    releases: Sequence[Release] | Mapping[str, Release],
) -> tuple[tuple[str, ...], tuple[Release, ...], bool]:
    """Return names of the parties, their releases, and whether the caller gave the names.

    InferenceError C10 for anything but a release (a simulated one, an estimate), or for an empty argument; C13 for two
    of one name.
    """
    given = isinstance(releases, Mapping)
    if not given and not isinstance(releases, Iterable):  # pyright: ignore[reportUnnecessaryIsInstance]
        text = f"{described(releases)} is no release."
        raise InferenceError(text, code="C10", hint='combine({"st-mary": release, …})', state=None)
    listed = tuple(releases.values()) if given else tuple(releases)
    names = tuple(str(name) for name in releases) if given else ()
    if twice := next((name for name in names if names.count(name) > 1), None):
        text = f"two releases have the name {twice!r}."
        raise InferenceError(text, code="C13", hint="a name for each party", state=None)
    if not listed:
        text = "no release is given."
        raise InferenceError(text, code="C10", hint='combine({"st-mary": release, …})', state=None)
    for place, one in enumerate(listed):
        if not isinstance(one, Release):  # pyright: ignore[reportUnnecessaryIsInstance]
            simulated = isinstance(one, SimulatedRelease)  # pyright: ignore[reportUnnecessaryIsInstance]
            what = "is simulated and protects nobody" if simulated else "is no release"
        # a place in a chain without a charge: made from other releases, which could then count twice
        elif one.head and not one.charge:
            what = "is a combination already"
        else:
            continue
        which = names[place] if given else f"number {place + 1}"
        raise InferenceError(f"{which} {what}.", code="C10", hint="releases that a curator made", state=None)
    return (names if given else _tables(listed)), listed, given


def _tables(releases: Sequence[Release]) -> tuple[str, ...]:
    """Return names of tables, numbered where a name occurs more than once."""
    tables = [one.table for one in releases]
    if len(set(tables)) == len(tables):
        return tuple(tables)
    return tuple(
        f"{name} ({tables[: i + 1].count(name)})" if tables.count(name) > 1 else name for i, name in enumerate(tables)
    )


def check_compatible(names: Sequence[str], releases: Sequence[Release]) -> None:
    """InferenceError C10 for integers that no table gives, C11 for a kind that does not add up, C12, C13.

    C12 is another question, C13 a release given twice.
    """
    first = releases[0]
    why = why_not_combinable(first)
    if why is not None:
        raise InferenceError(f"{why[0]}.", code="C11", hint=why[1], state=None)
    seen: dict[object, str] = {}
    for name, one in zip(names, releases, strict=True):
        reason = mismatch(first, one, f"with {names[0]}")
        if reason is not None:
            text = f"{name} does not go with {names[0]}: {reason}."
            raise InferenceError(text, code="C12", hint="releases of one question, by one schema", state=None)
        if wrong := impossible(one):
            text = f"{name} is no release that a curator made: {wrong}."
            raise InferenceError(text, code="C10", hint="the file as it was saved", state=None)
        source = source_in_ledger(one)
        if source in seen:
            text = f"{name} is the same release as {seen[source]}."
            raise InferenceError(text, code="C13", hint="each release once", state=None)
        seen[source] = name


def source_in_ledger(release: Release) -> tuple[object, ...]:
    """Return what two copies of one release have in common, and two releases do not: its place in a ledger.

    The head of a chain is of one charge of one ledger, whatever table or number a copy says that it is of.
    """
    return (release.head, release.name) if release.head else (release.table, release.charge, release.name)


def notes_on_schemas(names: Sequence[str], releases: Sequence[Release]) -> tuple[str, ...]:
    """Return a note where parties' schemas differ: releases do not say what a condition's columns are in them."""
    first = releases[0].schema
    other = [name for name, one in zip(names, releases, strict=True) if one.schema != first]
    if not other:
        return ()
    more = f" and {len(other) - 1:,} more" if len(other) > 1 else ""
    return (f"{OTHER_SCHEMA} {other[0]}{more}: that columns, levels and conditions mean the same is the caller's word",)


def why_not_combinable(release: Released) -> tuple[str, str] | None:
    """Return why answers of this kind cannot be combined, and what to ask instead; None where they can."""
    kind = str(getattr(release, "kind", ""))
    # before the kinds: such a release is of a kind that otherwise combines
    if in_two_steps(release):
        words = "answers in two steps are aimed by their own first step, and do not combine"
        return words, 'SampleAndAggregate(…, method="tuned"), or parties= how many there will be'
    if getattr(release.query, "variance", "blocks") != "blocks":
        return "answers with a variance by resampling do not combine", "SampleAndAggregate(…) without variance="
    # without the fourth moment its sampling error, by which answers are weighted, is only bounded
    if kind == "moments" and not getattr(release.query, "interval", True):
        return "answers to Variance with interval=False do not combine", "Variance without interval=False"
    if kind in KINDS:
        return None
    reason, instead = ALONE.get(kind, ("are no sums", "Mean, Sum, Count, Histogram"))
    return f"answers to {type(release.query).__name__} {reason}, and do not combine", instead


def in_two_steps(release: Released) -> bool:
    """Whether a release of blocks has a second step, whose grid depends on that release's own first step."""
    return any(getattr(release.query, name, False) for name in ("one_step", "winsorize"))


def mismatch(own: Released, other: Released, where: str) -> str | None:
    """Return why two releases cannot be combined, in words, or None.

    Numbers of rows, prices, laws of noise and neighbouring relations may differ.  where: how to refer to `own`.
    """
    if other.query != own.query:
        return f"it answers {other.query!r}, {own.query!r} {where}"
    if len(other.parts) != len(own.parts) or [p.label for p in other.parts] != [p.label for p in own.parts]:
        return f"it has other columns than {where}"
    for mine, theirs in zip(own.parts, other.parts, strict=True):
        reason = _grids(mine.grid, theirs.grid, mine.label, where) or _grids(
            mine.weight, theirs.weight, "the weight", where
        )
        if reason is not None:
            return reason
    if any(len(a.integers) != len(b.integers) for a, b in zip(own.parts, other.parts, strict=True)):
        return f"it has another number of cells than {where}"
    if other.levels != own.levels or _edges(other) != _edges(own):
        return f"its groups are not those {where}"
    if _variables(other) != _variables(own):
        return f"the columns of its regression are not those {where}"
    if other.unit != own.unit:
        return f"{_people(other)} there, {_people(own)} {where}"
    return None


def _grids(own: Grid | None, other: Grid | None, label: str, where: str) -> str | None:
    """Return why two columns' bounds, units or rules for missing values differ, in words, or None."""
    if own is other:
        return None
    if own is None or other is None:
        return f"{label!r} is of another kind than {where}"
    if (own.lower, own.upper) != (other.lower, other.upper):
        return f"{label!r} is {span(other)} there, {span(own)} {where}"
    if own.units != other.units:
        return f"{label!r} is in {other.units or 'no units'} there, {own.units or 'no units'} {where}"
    if own.missing != other.missing:
        return f"missing {label!r} are {_missing(other)} there, {_missing(own)} {where}"
    return None if own.kind == other.kind else f"{label!r} is {other.kind} there, {own.kind} {where}"


def span(grid: Grid) -> str:
    """Return the bounds in words: 0 to 365."""
    return f"{grid.lower:,g} to {grid.upper:,g}"


def _missing(grid: Grid) -> str:
    return "left out" if grid.missing == "exclude" else f"counted as {grid.missing}"


def _people(release: Released) -> str:
    return "a row is a person" if release.unit is None else f"a person counts with {release.unit} rows at most"


def _edges(release: Released) -> tuple[Axis, ...]:
    return getattr(release, "axes", ())


def sources(releases: Sequence[Release]) -> str:
    """Return text that identifies a set of releases: table, charge, chain head and name of each."""
    return " ".join([f"{one.table}/{one.charge}/{one.head}/{one.name}" for one in releases])


def _variables(release: Released) -> tuple[Variable, ...]:
    """Return the columns of a regression without their grid steps, which depend on the price and may differ."""
    return tuple(replace(one, half=1) for one in getattr(release, "variables", ()))


def population_index(names: Sequence[str], releases: Sequence[Release], given: bool) -> tuple[int, ...]:
    """Return the index of each release's population, from 0, in order of appearance.

    One ledger protects one population.  Releases without a durable ledger are about the same people where their tables
    have one name, unless the caller named the parties.
    """
    found: dict[str, int] = {}
    out: list[int] = []
    for name, one in zip(names, releases, strict=True):
        if one.recorded and one.ledger:
            # whatever the names: two releases charged to one ledger may hold the same people
            key = f"ledger {one.ledger}"
        else:
            key = f"party {name}" if given else f"table {one.table}"
        out.append(found.setdefault(key, len(found)))
    return tuple(out)
