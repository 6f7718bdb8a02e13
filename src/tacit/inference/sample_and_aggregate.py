"""What a release of `sample_and_aggregate` says: parameters with both errors, by the blocks' spread (theory §2, §9)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar, Final, Literal, TypeAlias, cast

import numpy as np

from tacit.errors import InferenceError
from tacit.inference.block_ends import MOST, TOLD, by_law, ends_of, opened, told
from tacit.inference.estimate import Estimate
from tacit.inference.invert import Linear
from tacit.inference.moments import people_of, source_of
from tacit.inference.terms import Block, Target, block, check_target
from tacit.release import Part, Release, Released, register

if TYPE_CHECKING:
    from tacit.inference.fitted_law import FittedLaw
    from tacit.queries_blocks import SampleAndAggregate
    from tacit.tables import Table

Errors: TypeAlias = Literal["blocks", "fisher", "simulated"]
KINDS: Final = ("blocks", "fisher", "simulated")
FEW: Final = 30
"""Blocks below which their spread says little of its own error."""


@register
@dataclass(frozen=True, repr=False)
class SampleAndAggregateRelease(Release):
    """A release of SampleAndAggregate: parameters of a model.

    >>> import numpy as np, tacit as tc
    >>> wait = tc.SampleAndAggregate("wait", tc.families.Exponential(rate=(0.1, 10)))
    >>> table = {"wait": np.random.default_rng(0).exponential(0.5, 20_000)}
    >>> curator = tc.Curator(table, tc.Schema({"wait": tc.Real()}), budget=tc.Budget(epsilon=1))
    >>> found = curator.release(wait, epsilon=1).estimate()
    >>> found.terms, abs(found.value - 2) < 6 * found.std_error
    (('rate',), True)
    """

    kind: ClassVar[str] = "sample-and-aggregate"

    def estimate(
        self, target: Target = "population", *, errors: Errors | None = None, model: Any = None, rng: Any = 0
    ) -> Any:  # Estimate; of one step, NormalEstimate
        """Parameters with standard errors for both errors.

        errors: "blocks", from the variance between blocks, which is released with them (theory §9); "fisher", that of
        all rows by the information at the released parameters, which blocks of few rows exceed; "simulated", of 2,000
        blocks drawn at the released parameters (theory §2 (b)), whose bias is told in the notes.  The last two need a
        public number of rows and no `where`.  Of one step: from the released variances of clipped scores.
        target="table": the mean of the blocks as they fell, of which only the noise is uncertain.
        model: of a release of one step that was read from a file, the `tacit.Model` that it asked of.
        InferenceError I09 (target), I75 (model), I76 (errors that there are not).
        """
        return estimate(self, target, errors=errors, model=model, rng=rng)

    def law(self, *, errors: Errors | None = None, model: Any = None, rng: Any = 0) -> FittedLaw:
        """The law at the released parameters: quantiles, means, hazards with both errors, and its picture.

        errors, model, rng: as of `estimate`.  InferenceError I75, I76, I79 (parameters that were not released).
        """
        from tacit.inference.fitted_law import law

        return law(self, errors, model, rng)

    def summary(self, level: float = 0.95) -> Table:
        """The estimates as a table; InferenceError I01 for a level below 0.5, or 1 and above."""
        return self.estimate().summary(level)

    def plot(self, ax: Any = None) -> Any:
        """The estimates as a picture; InferenceError I20 without matplotlib."""
        return self.estimate().plot(ax=ax)

    def __str__(self) -> str:
        return str(self.summary())

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return self.summary().to_html()


def estimate(
    release: Released,
    target: Target = "population",
    *,
    errors: Errors | None = None,
    model: Any = None,
    rng: Any = 0,
) -> Any:
    """A release of sample and aggregate, or a simulated one -> Estimate, one term a parameter; of one step Normal."""
    query = cast("SampleAndAggregate", release.query)
    check_target(target, "the mean of the blocks as they fell")
    check_errors(release, errors)
    if query.one_step:
        from tacit.inference.one_step import estimate as stepped
        from tacit.inference.one_step import model_of

        if target == "table":
            text = "target 'table': a step speaks of the law that rows were drawn from."
            raise InferenceError(text, code="I09", hint='target="population"', state=None)
        return stepped(release, model_of(release, model))
    found = by_blocks(release, target)
    if errors in (None, "blocks") or target == "table":
        return found
    from tacit.inference.block_errors import with_errors

    return with_errors(found, cast(Any, errors), model, rng)


def means(release: Released) -> tuple[Part, ...]:
    """The parts that hold means of blocks, one a parameter."""
    return tuple(part for part in release.parts if part.form == "blocks")


def by_blocks(release: Released, target: Target) -> Estimate:
    """Standard errors by the blocks' own spread."""
    query = cast("SampleAndAggregate", release.query)
    parts = means(release)
    plain = [block("SampleAndAggregate", part, rows=release.rows, grouped=False, target=target) for part in parts]
    made = [_open(release, parts, plain, place, target) for place in range(len(parts))]
    blocks = tuple(_held(release, one) for one, _ in made)
    k = parts[0].parameters["blocks"]
    what = ", ".join(query.what)
    notes = [f"mean of estimates in {k:,} blocks of rows, with their own standard error"]
    if k < FEW:
        notes.append(f"{k} blocks: their spread is known poorly, and intervals are too short")
    notes += [note for _, note in made if note]
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


def _open(
    release: Released, parts: tuple[Part, ...], plain: list[Block], place: int, target: Target
) -> tuple[Block, str]:
    """A parameter with what an end of its box took off, and what must be said of that."""
    query, part, made = cast("SampleAndAggregate", release.query), parts[place], plain[place]
    ends = ends_of(query.model.law, query.model.words, part)
    if target == "table" or ends is None or query.winsorize:
        return made, ""
    whole = release.rows is not None and query.where is None and release.unit is None
    rows = (release.rows or 0) / part.parameters["blocks"] if whole else 0.0
    values = np.array([one.value[0] for one in plain])
    lawful = by_law(query.model.law, [one.label for one in parts], values, place, rows)
    found, share = opened(made, part, ends, lawful)
    if not TOLD <= share[0] <= MOST:
        return found, ""
    error = (found.variance + found.privacy_variance)[0] ** 0.5
    return found, told(part.label, share[0], (found.value - made.value)[0] / error)


def _held(release: Released, made: Block) -> Block:
    """Whose it is, and intervals within the box, not the window."""
    box = next((one.grid for one in release.parts if one.form == "quartiles" and one.label == made.label), None)
    if box is not None and isinstance(made.inversion, Linear):
        made = replace(made, inversion=replace(made.inversion, low=box.lower, high=box.upper))
    return replace(made, people=people_of(release), source=source_of(release))


def check_errors(release: Released, errors: str | None) -> None:
    """InferenceError I76 for errors that a release does not have."""
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
