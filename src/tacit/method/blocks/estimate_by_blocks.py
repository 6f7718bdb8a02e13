"""Parameters as means over blocks, with standard errors from the variance between blocks (theory §2, §9)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final, Literal, TypeAlias, cast

import numpy as np

from tacit.errors import InferenceError
from tacit.estimates.column_terms import terms_of
from tacit.estimates.estimate import Estimate
from tacit.estimates.interval_inversion import LinearInversion
from tacit.estimates.terms import ColumnTerms, Target
from tacit.estimates.wording import people_of, source_of
from tacit.method.blocks.estimate_block_fit import BlockFit, fit_of_blocks
from tacit.method.blocks.estimate_ends import (
    MOST,
    TOLD,
    ByLaw,
    Ends,
    FreedTerms,
    SpreadMeans,
    by_law,
    clamp_note,
    ends_of,
    kept_between,
    seen_spread,
    terms_without_clamp,
)
from tacit.method.blocks.estimate_failed import FailedBlocks, failed_blocks, given_up, without_interval
from tacit.method.blocks.estimate_spread import SeenSpread, Spreads, own_spreads
from tacit.method.blocks.resampling import resampled
from tacit.method.blocks.support_rules import rule
from tacit.release.document import Released
from tacit.release.parts import OF_BLOCKS, Part

if TYPE_CHECKING:
    from tacit.method.blocks.query import SampleAndAggregate

Errors: TypeAlias = Literal["blocks", "fisher", "simulated"]
KINDS: Final = ("blocks", "fisher", "simulated")
CUT: Final = "estimates of blocks lie beyond an end of the box, where resamples vary too little: a wider one is needed"
FEW: Final = 30
"""Number of blocks below which the variance between them is itself poorly known."""


def means(release: Released) -> tuple[Part, ...]:
    """Return the parts that hold means of blocks, one a parameter."""
    return tuple(part for part in release.parts if part.form in OF_BLOCKS)


@dataclass(frozen=True)
class TestedBlocks:
    """What blocks say of each parameter, and of whether they are to be believed.

    parts: one a parameter, with the noisy sums.  plain: terms of their means.  freed: without the clamp to the box.
    terms: freed, with reasons in place of intervals.  notes: on the clamp.  failed, fit: None where they are not known.
    seen: what is said of the variance of a block; spreads: what it may be; spread: what means without the clamp are by
    that, of each parameter, None where no end is near.
    """

    parts: tuple[Part, ...]
    plain: tuple[ColumnTerms, ...]
    freed: tuple[ColumnTerms, ...]
    terms: tuple[ColumnTerms, ...]
    notes: tuple[str, ...]
    failed: FailedBlocks | None
    fit: BlockFit | None
    seen: tuple[SeenSpread | None, ...] = ()
    spreads: tuple[Spreads | None, ...] = ()
    spread: tuple[SpreadMeans | None, ...] = ()


def tested_blocks(release: Released, target: Target, spreads: Sequence[Spreads | None] | None) -> TestedBlocks:
    """Return the means of blocks, corrected for the box and tested: for failures, and for the fit of the law.

    spreads: variances that a block may have, of each parameter; None to find them from this release alone.
    """
    parts = means(release)
    plain = [terms_of("SampleAndAggregate", part, rows=release.rows, grouped=False, target=target) for part in parts]
    seen = seen_spreads(release, parts, plain)
    if spreads is None:
        spreads = [None if one is None else own_spreads(one) for one in seen]
    corrected = [
        _corrected_for_box(release, parts, plain, place, target, spreads[place]) for place in range(len(parts))
    ]
    made = [(one.terms, note) for one, note in corrected]
    failed, terms = failed_blocks(parts), [one for one, _ in made]
    # blocks beyond an end of the box vary less than the law says
    hidden = [one if note else None for one, (_, note) in zip(seen, made, strict=True)]
    fit = None if target == "table" else fit_of_blocks(release, parts, plain, hidden)
    if target == "population":
        terms = [_given_up(one, j, parts[j], failed, fit) for j, one in enumerate(terms)]
    freed, notes = tuple(one for one, _ in made), tuple(note for _, note in made if note)
    spread = tuple(one.spread for one, _ in corrected)
    return TestedBlocks(
        parts, tuple(plain), freed, tuple(terms), notes, failed, fit, tuple(seen), tuple(spreads), spread
    )


def seen_spreads(release: Released, parts: tuple[Part, ...], plain: Sequence[ColumnTerms]) -> list[SeenSpread | None]:
    """Return what a release says of the variances of blocks, of each parameter; None where no end is near."""
    found: list[SeenSpread | None] = []
    for place, (part, made) in enumerate(zip(parts, plain, strict=True)):
        asked = _ends_and_law(release, parts, plain, place)
        found.append(None if asked is None else seen_spread(made, part, *asked, _rows_of_block(release, part)))
    return found


def by_blocks(release: Released, target: Target) -> Estimate:
    """Return the parameters with standard errors from the variance between blocks."""
    query = cast("SampleAndAggregate", release.query)
    found = tested_blocks(release, target, None)
    parts, failed, fit = found.parts, found.failed, found.fit
    blocks = tuple(_within_box(release, one) for one in found.terms)
    k = parts[0].parameters["blocks"]
    what = ", ".join(query.what)
    notes = [f"mean of estimates in {k:,} blocks of rows, with their own standard error"]
    if resampled(query):
        notes = [f"mean of estimates in {k:,} blocks of rows, with errors from {query.resamples} resamples in each"]
        notes.append(f"{query.variance}: the variance of an estimate is taken to be in proportion to one over its rows")
    elif k < FEW:
        notes.append(f"{k} blocks: their spread is known poorly, and intervals are too short")
    if release.unit is not None:
        notes.append("all rows of a person are in one block, and each of them counts as one")
    left_out = None if failed is None else rule(query.model.law)
    notes += [note for note in (failed and failed.note, left_out, fit and fit.note) if note]
    notes += found.notes
    if query.winsorize:
        notes.append("estimates of blocks are clamped to a window about their quartiles, selected privately")
    model = query.model.words
    words = f"parameters of {model.get('name', model['family'])}, the law of {what}"
    if model["family"] == "Statistic":
        words = f"{model['name']} of {what} in a block of rows, on average"
        done = "corrected by halves only" if query.bias == "split-half" else "not corrected"
        notes.append(f"its bias in blocks is {done}, and not in the interval")
    words += f", where {query.where}" if query.where else ""
    words += ", of the blocks of this table" if target == "table" else ""
    return Estimate(release, target, words, tuple(p.label for p in parts), blocks, notes=tuple(notes))


def _corrected_for_box(
    release: Released,
    parts: tuple[Part, ...],
    plain: list[ColumnTerms],
    place: int,
    target: Target,
    spreads: Spreads | None,
) -> tuple[FreedTerms, str]:
    """Return a parameter's terms with the bias of clamping to its box removed, and a note on that (empty if none)."""
    part, made, asked = parts[place], plain[place], _ends_and_law(release, parts, plain, place)
    # "table" is the mean of clamped estimates itself
    if target == "table" or asked is None:
        return FreedTerms(made, np.zeros_like(made.value)), ""
    found = terms_without_clamp(made, part, asked[0], spreads)
    if resampled(cast("SampleAndAggregate", release.query)):
        kept = made if found.share[0] < TOLD else without_interval(made, part, CUT)
        return FreedTerms(kept, found.share), ""
    if not TOLD <= found.share[0] <= MOST:
        return found, ""
    error = (found.terms.variance + found.terms.privacy_variance)[0] ** 0.5
    return found, clamp_note(part.label, found.share[0], (found.terms.value - made.value)[0] / error)


def kept_means(release: Released, test: TestedBlocks, place: int) -> tuple[float, float]:
    """Return between which released means a parameter's own interval is kept, infinite where no end takes it away."""
    asked = _ends_and_law(release, test.parts, test.plain, place)
    if asked is None:
        return (-math.inf, math.inf)
    return kept_between(test.plain[place], test.parts[place], asked[0], test.spreads[place])


def _rows_of_block(release: Released, part: Part) -> float:
    """Return the rows of a block, 0 where they are not public: with `where`, or persons."""
    query = cast("SampleAndAggregate", release.query)
    whole = release.rows is not None and query.where is None and release.unit is None
    return (release.rows or 0) / part.parameters["blocks"] if whole else 0.0


def _ends_and_law(
    release: Released, parts: tuple[Part, ...], plain: Sequence[ColumnTerms], place: int
) -> tuple[Ends, ByLaw] | None:
    """Return the ends at which a parameter is clamped, and its law's variance of a block; None of a window."""
    query = cast("SampleAndAggregate", release.query)
    ends = ends_of(query.model.law, query.model.words, parts[place])
    # of a window, clamping is meant
    if ends is None or query.winsorize:
        return None
    # what the model says of the variance of a block needs the rows of a block
    rows = _rows_of_block(release, parts[place])
    values = np.array([one.value[0] for one in plain])
    return ends, by_law(query.model.law, [one.label for one in parts], values, place, rows)


def _given_up(
    made: ColumnTerms, place: int, part: Part, failed: FailedBlocks | None, fit: BlockFit | None
) -> ColumnTerms:
    """Return a parameter's terms, with a reason where blocks that failed, or another law, may have moved its mean."""
    if failed is not None:
        made = given_up(made, part, failed)
    if fit is None or not fit.rejected or fit.left[place] ** 2 <= (made.variance + made.privacy_variance)[0]:
        return made
    text = (
        'rows follow another law, whose bias in short blocks may exceed the standard error: leave out bias="cox-snell"'
    )
    return without_interval(made, part, text)


def _within_box(release: Released, made: ColumnTerms) -> ColumnTerms:
    """Return the terms with their people and source, and intervals cut to the parameter's box, not to the window."""
    box = next((one.grid for one in release.parts if one.form == "quartiles" and one.label == made.label), None)
    # the window is where estimates were clamped; the parameter may lie anywhere in its box
    if box is not None and isinstance(made.inversion, LinearInversion):
        made = replace(made, inversion=replace(made.inversion, low=box.lower, high=box.upper))
    return replace(made, people=people_of(release), source=source_of(release))


def check_errors(release: Released, errors: str | None) -> None:
    """Raise InferenceError I76 for a kind of errors that a release does not have."""
    query = cast("SampleAndAggregate", release.query)
    if errors is not None and errors not in KINDS:
        text = f"errors {errors!r} is none of {', '.join(KINDS)}."
        raise InferenceError(text, code="I76", hint='errors="blocks"', state=None)
    if errors is not None and query.one_step:
        text = f"errors {errors!r}: a step has those of its clipped scores."
        raise InferenceError(text, code="I76", hint="leave errors out", state=None)
    if errors in ("fisher", "simulated") and (release.rows is None or query.where or release.unit is not None):
        text = f"errors {errors!r} need the number of rows behind the blocks, which is not public here."
        raise InferenceError(text, code="I76", hint='errors="blocks"', state=None)
