"""What a release of `sample_and_aggregate` says: parameters with both errors, by the blocks' spread (theory §2, §9)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar, Final, cast

from tacit.errors import InferenceError
from tacit.inference.estimate import Estimate
from tacit.inference.moments import people_of, source_of
from tacit.inference.terms import Block, Target, block
from tacit.release import Part, Release, Released, register

if TYPE_CHECKING:
    from tacit.queries_blocks import SampleAndAggregate
    from tacit.tables import Table

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

    def estimate(self, target: Target = "population", *, model: Any = None) -> Any:  # Estimate, or NormalEstimate
        """Parameters with standard errors from the variance between blocks, which is released with them (theory §9).

        target="table": the mean of the blocks as they fell, of which only the noise is uncertain.  InferenceError I09.
        """
        return estimate(self, target)

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


def estimate(release: Released, target: Target = "population") -> Estimate:
    """A release of sample and aggregate, or a simulated one -> Estimate, one term a parameter."""
    if target not in ("population", "table"):
        text = f"target {target!r} is neither 'population' nor 'table'."
        raise InferenceError(text, code="I09", hint='target="population"', state=None)
    query = cast("SampleAndAggregate", release.query)
    blocks = tuple(_block(release, part, target) for part in release.parts)
    k = release.parts[0].parameters["blocks"]
    what = ", ".join(query.what)
    notes = [f"mean of estimates in {k:,} blocks of rows, with their own standard error"]
    if k < FEW:
        notes.append(f"{k} blocks: their spread is known poorly, and intervals are too short")
    model = query.model.words
    words = f"parameters of {model.get('name', model['family'])}, the law of {what}"
    words += f", where {query.where}" if query.where else ""
    words += ", of the blocks of this table" if target == "table" else ""
    return Estimate(release, target, words, tuple(p.label for p in release.parts), blocks, notes=tuple(notes))


def _block(release: Released, part: Part, target: Target) -> Block:
    made = block("SampleAndAggregate", part, rows=release.rows, grouped=False, target=target)
    return replace(made, people=people_of(release), source=source_of(release))
