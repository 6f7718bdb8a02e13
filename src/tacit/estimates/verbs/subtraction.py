"""The difference of two estimates, with what is known of their dependence."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Protocol

import numpy as np

from tacit.base.arrays import Array
from tacit.errors import InferenceError
from tacit.estimates.estimate import Estimate
from tacit.estimates.terms import ColumnTerms
from tacit.estimates.verbs.contrasts import joint_words


class Termed(Protocol):
    """Anything with labelled terms that comes from a release."""

    @property
    def terms(self) -> tuple[str, ...]:
        """One label each."""
        ...

    @property
    def target(self) -> Any:
        """Population or table."""
        ...

    @property
    def release(self) -> Any:
        """The release."""
        ...


def subtracted(a: Estimate, b: Estimate) -> Estimate:
    """Return the difference of two linear estimates; terms of the same release are subtracted with their joint law."""
    terms = shared_terms(a, b)
    b = _aligned(a, b)
    # a block that both contain is kept once: shared noise and sampling error then cancel as they should
    blocks, place = merged(a.blocks, b.blocks)
    size = sum(len(block.value) for block in blocks)
    left, right = np.zeros((len(a.terms), size)), np.zeros((len(a.terms), size))
    spread_over(a, left, [*range(len(a.blocks))], blocks)
    spread_over(b, right, place, blocks)
    words = f"difference: {a.estimand}, minus {b.estimand}"
    others = tuple({id(r): r for r in (*a.others, b.release, *b.others) if r is not a.release}.values())
    made = replace(
        a,
        terms=terms,
        blocks=blocks,
        matrix=left - right,
        estimand=words,
        notes=(),
        others=others,
        term_title="",
        joined="minus",
    )
    return replace(made, notes=(_dependence(made, a, b),))


def shared_terms(a: Termed, b: Termed) -> tuple[str, ...]:
    """Names of the differences; InferenceError I07 where terms or targets do not match."""
    check_targets(a, b)
    check_terms(a, b)
    return (_named(a, b),) if len(a.terms) == 1 else a.terms


def check_targets(a: Termed, b: Termed, whom: str = "both") -> None:
    """Raise InferenceError I07 for estimates of different targets; whom: for whom the hint wants them alike."""
    if a.target != b.target:
        text = f"one estimate is for the {a.target}, the other for the {b.target}."
        raise InferenceError(text, code="I07", hint=f"estimate(target=…) alike for {whom}", state=None)


def check_terms(a: Termed, b: Termed) -> None:
    """Raise InferenceError I07 for estimates of different terms, unless each has a single one."""
    if a.terms != b.terms and not len(a.terms) == len(b.terms) == 1:
        text = f"the terms {', '.join(a.terms[:4])} and {', '.join(b.terms[:4])} do not match."
        raise InferenceError(text, code="I07", hint="estimate[[…]] picks terms", state=None)


def _named(a: Termed, b: Termed) -> str:
    """Return the name of the only difference: its tables where the terms are alike, else both terms."""
    if a.terms == b.terms:
        return (
            f"{a.terms[0]}: {a.release.table} - {b.release.table}" if a.release.table != b.release.table else a.terms[0]
        )
    return f"{a.terms[0]} - {b.terms[0]}"


def _aligned(a: Estimate, b: Estimate) -> Estimate:
    """Return b, taken as the same people as a if the tables have one name and one of them has no recorded ledger."""
    kinds = {block.people.partition(" ")[0] for one in (a, b) for block in one.blocks}
    if a.release.table != b.release.table or kinds != {"ledger", "table"}:
        return b
    # otherwise the two would count as different people, and their errors as independent: an interval too short where
    # it is one table after all
    known = a.blocks[0].people
    return replace(b, blocks=tuple(replace(block, people=known) for block in b.blocks))


def _same(x: ColumnTerms, y: ColumnTerms) -> bool:
    """Whether two blocks are one: the same noise and the same people."""
    return (
        x.source == y.source
        and x.label == y.label
        and np.array_equal(x.loadings, y.loadings)
        and np.array_equal(x.value, y.value)
    )


def merged(a: tuple[ColumnTerms, ...], b: tuple[ColumnTerms, ...]) -> tuple[tuple[ColumnTerms, ...], list[int]]:
    """Blocks of both without repetition, and where each of b's is found."""
    blocks, place = list(a), list[int]()
    for block in b:
        same = [i for i, old in enumerate(blocks) if _same(old, block)]
        place.append(same[0] if same else len(blocks))
        if not same:
            blocks.append(block)
    return tuple(blocks), place


def spread_over(one: Estimate, out: Array, place: list[int], blocks: tuple[ColumnTerms, ...]) -> None:
    """Add the matrix of `one` to `out`, in the columns of the merged blocks."""
    starts = np.cumsum([0, *[len(block.value) for block in blocks]])
    matrix = np.eye(len(one.terms)) if one.matrix is None else one.matrix
    at = 0
    for block, where in zip(one.blocks, place, strict=True):
        width = len(block.value)
        out[:, starts[where] : starts[where] + width] += matrix[:, at : at + width]
        at += width


def _dependence(made: Estimate, a: Estimate, b: Estimate) -> str:
    """Return a note on how the errors of the two estimates that a difference was made of depend on each other."""
    said = joint_words(made)
    people = [{block.people for block in one.blocks} for one in (a, b)]
    if made.sampling_variances.any() and not people[0] & people[1]:
        return "different ledgers or tables: taken as independent (different people)"
    if "in different releases" in said and a.release.table != b.release.table:
        return f"two tables of one ledger, so the same people as far as is known: {said.partition(': ')[2]}"
    return said
