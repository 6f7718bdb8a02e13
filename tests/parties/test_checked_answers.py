"""Answers that claim less than they cost, or protect others than the study says, are refused one by one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import date
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import tacit as tc
from tacit.parties.validation import refusal_reason
from tacit.privacy import Cost
from tacit.privacy.calibration import noise_for
from tacit.release.document import Release, Releases

TEXT = """
tacit = 1
title = "Stay"
closes = 2999-12-31
[table]
name = "hips"
rows = 300
[budget]
{budget}
[schema]
stay = {{ type = "Integer", lower = 0, upper = 60, units = "days", missing = 0 }}
sex = {{ type = "Category", levels = ["female", "male"] }}
{unit}
[spend]
{budget}
[ask.stay]
query = "Mean"
columns = "stay"
by = "sex"
[ask.cells]
query = "Histogram"
columns = "sex"
[ask.quality]
query = "DataQuality"
columns = ["stay", "sex"]
[parties.st-mary]
"""
PERSONS = 'who = { type = "PrivacyUnit", max_rows = 3 }'
PRICES = {"epsilon": "epsilon = 2", "rho": "rho = 0.5", "pair": "epsilon = 2\ndelta = 1e-6"}


def study_of(price: str = "epsilon", unit: str = "") -> tc.Study:
    return tc.Study.from_toml(TEXT.format(budget=PRICES[price], unit=unit))


def answer(study: tc.Study) -> Releases:
    rng = np.random.default_rng(1)
    table = {"stay": rng.poisson(9, 300), "sex": rng.choice(["female", "male"], 300), "who": np.arange(300) // 2}
    kept = {name: column for name, column in table.items() if name in study.schema}
    return tc.Curator(kept, study, name="st-mary").release(study)


def said(study: tc.Study, found: Releases) -> str | None:
    return refusal_reason(study, study.digest(), study.schema.digest(), "st-mary", found)


def changed(found: Releases, name: str, change: Callable[[Release], Release]) -> Releases:
    return Releases(tuple((key, change(one) if key == name else one) for key, one in found.items()))


def dear(cost: Cost) -> Cost:
    """A tenth more, in the price's own measure."""
    (name,) = (name for name in ("epsilon", "rho", "mu_squared") if getattr(cost, name) is not None)
    return replace(cost, **{name: getattr(cost, name) * Fraction(11, 10)})


@pytest.fixture(name="given", params=list(PRICES), scope="module")
def a_study_and_its_answer(request: Any) -> tuple[tc.Study, Releases]:
    study = study_of(request.param)
    return study, answer(study)


def test_a_good_answer_has_no_reason(given: tuple[tc.Study, Releases]) -> None:
    assert said(*given) is None


@pytest.mark.parametrize("name", ["stay", "cells", "quality"])
def test_parts_that_cost_more_than_their_release_says(given: tuple[tc.Study, Releases], name: str) -> None:
    """By a tenth, the last of them, its noise as narrow as that price buys: the release's own price is as it was."""
    study, found = given

    def dearer(one: Release) -> Release:
        part = one.parts[-1]
        cost = dear(part.cost)
        law = noise_for(part.l1, part.l2_squared, cost)
        return replace(one, parts=(*one.parts[:-1], replace(part, cost=cost, law=law)))

    assert said(study, changed(found, name, dearer)) == f"the parts of {name!r} cost more than {found[name].cost}"


def test_noise_that_is_narrower_than_its_price_buys(given: tuple[tc.Study, Releases]) -> None:
    """By a millionth, or of the other kind; a release of sums and one of classes."""
    study, found = given

    def narrower(one: Release) -> Release:
        part = one.parts[0]
        law: Any = part.law
        return replace(one, parts=(replace(part, law=type(law)(law.scale * Fraction(999_999, 10**6))), *one.parts[1:]))

    def other(one: Release) -> Release:
        part = one.parts[-1]
        pure = part.cost.kind == "pure"
        law = noise_for(part.l1, part.l2_squared, Cost.of(rho="0.0001") if pure else Cost.of(epsilon="0.001"))
        return replace(one, parts=(*one.parts[:-1], replace(part, law=law)))

    for name in ("stay", "cells", "quality"):
        for change in (narrower, other):
            assert said(study, changed(found, name, change)) == f"the noise of {name!r} is not what its price buys"


def test_releases_that_cost_more_than_the_study_asks_for(given: tuple[tc.Study, Releases]) -> None:
    """One of the three by a tenth, parts and noise to match: together they are above the floor."""
    study, found = given

    def dearer(one: Release) -> Release:
        parts = []
        for part in one.parts:
            cost = dear(part.cost)
            parts.append(replace(part, cost=cost, law=noise_for(part.l1, part.l2_squared, cost)))
        return replace(one, cost=dear(one.cost), parts=tuple(parts))

    for name in ("stay", "cells", "quality"):
        assert "weaker privacy than its floor" in (said(study, changed(found, name, dearer)) or "")


def test_rows_are_not_persons() -> None:
    """A study of persons and an answer that protects rows, and the other way round, whatever the rest says."""
    persons, rows = study_of(unit=PERSONS), study_of()
    for study, unit in ((persons, None), (rows, 3)):
        found = answer(study)
        assert said(study, found) is None
        for name in found:
            assert (said(study, changed(found, name, lambda one, unit=unit: replace(one, unit=unit)))
                    == f"{name!r} protects other people than the study")  # fmt: skip


def test_facts_that_are_not_the_study_s() -> None:
    study = study_of()
    found, other = answer(study), "replace-one" if study.budget.neighbors == "add-remove" else "add-remove"

    def grid(one: Release, **words: Any) -> Release:
        part = one.parts[0]
        assert part.grid is not None
        return replace(one, parts=(replace(part, grid=replace(part.grid, **words)), *one.parts[1:]))

    def fewer(one: Release) -> Release:
        return replace(one, parts=tuple(replace(part, integers=part.integers[:1]) for part in one.parts))

    for name, change, words in (
        ("stay", lambda one: replace(one, neighbors=other), f"'stay' is {other}; the study is"),
        ("stay", lambda one: replace(one, schema="0" * 64), "'stay' is of another schema"),
        ("cells", lambda one: replace(one, study="0" * 64), "'cells' answers another study"),
        ("cells", lambda one: replace(one, study=None), "'cells' answers no study"),
        ("cells", lambda one: replace(one, query=tc.Histogram("stay", bins=2)), "'cells' answers another question"),
        ("stay", lambda one: grid(one, lower=1.0), "'stay' is 1 to 60 there, 0 to 60 in the study"),
        ("stay", lambda one: grid(one, upper=61.0), "'stay' is 0 to 61 there, 0 to 60 in the study"),
        ("stay", lambda one: grid(one, units="hours"), "'stay' is in hours there, days in the study"),
        ("stay", fewer, "'stay' has not one answer a group"),
    ):
        assert (said(study, changed(found, name, change)) or "").startswith(words)
    assert (
        refusal_reason(study, study.digest(), study.schema.digest(), "st-anne", found)
        == "it is none of the study's parties"
    )
    lacking = Releases(tuple((key, one) for key, one in found.items() if key != "quality"))
    assert said(study, lacking) == "it has no answer to 'quality'"


def test_the_closing_day_still_counts() -> None:
    study = study_of()
    found = answer(study)
    today = date.fromisoformat(found["stay"].date[:10])
    for days, late in ((0, False), (1, True)):
        when = date.fromordinal(today.toordinal() - days)
        closing = replace(study, closes=when)
        moved = Releases(tuple((key, replace(one, study=closing.digest())) for key, one in found.items()))
        words = said(closing, moved)
        assert (words or "").startswith("it came on") if late else words is None
