"""The difference of two estimates, with what is known of their dependence."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, overload

import numpy as np

from tacit.errors import InferenceError
from tacit.inference.estimate import Estimate
from tacit.inference.laws import Array
from tacit.inference.quantiles import QuantileEstimate
from tacit.inference.terms import Block

if TYPE_CHECKING:
    from tacit.inference.quantile_difference import QuantileDifference


@overload
def difference(a: Estimate, b: Estimate) -> Estimate: ...


@overload
def difference(a: QuantileEstimate, b: QuantileEstimate) -> QuantileDifference: ...


def difference(a: Estimate | QuantileEstimate, b: Estimate | QuantileEstimate) -> Estimate | QuantileDifference:
    """A - b, term by term, with what is known of their dependence; `notes` says which.

    The same release: its joint law.  Releases of one ledger (the same people, whatever the table): the noises are
    independent, the sampling standard errors are added, an upper bound whatever the correlation.  Different ledgers:
    independent, as for different people.  Releases in memory, and of early versions, name no ledger that lasts: tables
    of one name are the same people.  For target="table" only the noise counts.
    Quantiles, also those of two groups of one release: intervals of levels 1 - α and 1 - β make one of 1 - α - β, a
    bound whatever the dependence; ask for `Quantiles(…, level=0.975)` where 0.95 is wanted.
    InferenceError I07 where terms, targets or kinds of estimates do not match, I14 where less than 0.5 is left.
    Source: theory §1.4, §1.5; SD(a - b) is at most SD(a) + SD(b), by Cauchy and Schwarz.

    >>> import tacit as tc
    >>> schema = tc.Schema({"age": tc.Real(0, 100), "sex": tc.Category(["f", "m"])})
    >>> table = {"age": [30.0, 40.0, 50.0] * 20, "sex": ["f", "m", "m"] * 20}
    >>> curator = tc.Curator(table, schema, name="people", budget=tc.Budget(rho=1))
    >>> groups, everybody = (curator.release(tc.Mean("age", by=by), rho=0.1).estimate() for by in ("sex", ()))
    >>> found = difference(groups["f"], everybody)
    >>> found.terms, found.notes
    (('f - age',), ('the same people in different releases: sampling standard errors are added, an upper bound',))
    """
    if isinstance(a, QuantileEstimate) and isinstance(b, QuantileEstimate):
        from tacit.inference.quantile_difference import difference as of_quantiles

        return of_quantiles(a, b, _terms(a, b))
    if not isinstance(a, Estimate) or not isinstance(b, Estimate):
        text = f"{type(a).__name__} and {type(b).__name__} have no difference."
        raise InferenceError(text, code="I07", hint="estimates of the same question", state=None)
    return _difference(a, b)


def _difference(a: Estimate, b: Estimate) -> Estimate:
    """Of two linear estimates: blocks of both, and the combination that subtracts them."""
    terms = _terms(a, b)
    b = _aligned(a, b)
    blocks, place = _merge(a.blocks, b.blocks)
    size = sum(len(block.value) for block in blocks)
    left, right = np.zeros((len(a.terms), size)), np.zeros((len(a.terms), size))
    _spread(a, left, [*range(len(a.blocks))], blocks)
    _spread(b, right, place, blocks)
    words = f"difference: {a.estimand}, minus {b.estimand}"
    note = _dependence(a, b)
    others = tuple({id(r): r for r in (*a.others, b.release, *b.others) if r is not a.release}.values())
    return replace(
        a, terms=terms, blocks=blocks, matrix=left - right, estimand=words, notes=(note,), others=others, term_title=""
    )


def _terms(a: Estimate | QuantileEstimate, b: Estimate | QuantileEstimate) -> tuple[str, ...]:
    """Names of the differences; InferenceError I07 where terms or targets do not match."""
    if a.target != b.target:
        text = f"one estimate is for the {a.target}, the other for the {b.target}."
        raise InferenceError(text, code="I07", hint="estimate(target=…) alike for both", state=None)
    if a.terms != b.terms and not len(a.terms) == len(b.terms) == 1:
        text = f"the terms {', '.join(a.terms[:4])} and {', '.join(b.terms[:4])} do not match."
        raise InferenceError(text, code="I07", hint="estimate[[…]] picks terms", state=None)
    return (_named(a, b),) if len(a.terms) == 1 else a.terms


def _named(a: Estimate | QuantileEstimate, b: Estimate | QuantileEstimate) -> str:
    if a.terms == b.terms:
        return (
            f"{a.terms[0]}: {a.release.table} - {b.release.table}" if a.release.table != b.release.table else a.terms[0]
        )
    return f"{a.terms[0]} - {b.terms[0]}"


def _aligned(a: Estimate, b: Estimate) -> Estimate:
    """Where one of two tables of one name has no recorded ledger, they are taken as the same people."""
    kinds = {block.people.partition(" ")[0] for one in (a, b) for block in one.blocks}
    if a.release.table != b.release.table or kinds != {"ledger", "table"}:
        return b
    known = a.blocks[0].people
    return replace(b, blocks=tuple(replace(block, people=known) for block in b.blocks))


def _same(x: Block, y: Block) -> bool:
    """Whether two blocks are one: the same noise and the same people."""
    return (
        x.source == y.source
        and x.label == y.label
        and np.array_equal(x.loadings, y.loadings)
        and np.array_equal(x.value, y.value)
    )


def _merge(a: tuple[Block, ...], b: tuple[Block, ...]) -> tuple[tuple[Block, ...], list[int]]:
    """Blocks of both without repetition, and where each of b's is found."""
    blocks, place = list(a), list[int]()
    for block in b:
        same = [i for i, old in enumerate(blocks) if _same(old, block)]
        place.append(same[0] if same else len(blocks))
        if not same:
            blocks.append(block)
    return tuple(blocks), place


def _spread(one: Estimate, out: Array, place: list[int], blocks: tuple[Block, ...]) -> None:
    """Write the combination that `one` is into columns of the merged blocks."""
    starts = np.cumsum([0, *[len(block.value) for block in blocks]])
    matrix = np.eye(len(one.terms)) if one.matrix is None else one.matrix
    at = 0
    for block, where in zip(one.blocks, place, strict=True):
        width = len(block.value)
        out[:, starts[where] : starts[where] + width] += matrix[:, at : at + width]
        at += width


def _dependence(a: Estimate, b: Estimate) -> str:
    if {block.source for block in a.blocks} == {block.source for block in b.blocks}:
        return "one joint release: its covariance is used"
    if {block.people for block in a.blocks} & {block.people for block in b.blocks}:
        bound = "sampling standard errors are added, an upper bound"
        if a.release.table != b.release.table:
            return f"two tables of one ledger, so the same people as far as is known: {bound}"
        return f"the same people in different releases: {bound}"
    return "different ledgers or tables: taken as independent (different people)"
