"""What a release of `sample_and_aggregate` says: parameters with both errors, by the blocks' spread (theory §2, §9)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, cast

from tacit.base.table import Table, shown_by_summary
from tacit.errors import InferenceError
from tacit.estimates.terms import Target, check_target
from tacit.method.blocks.estimate_by_blocks import Errors, by_blocks, check_errors
from tacit.release.document import Release, Released

if TYPE_CHECKING:
    from tacit.method.blocks.estimate_distribution import FittedLaw
    from tacit.method.blocks.query import SampleAndAggregate


@shown_by_summary
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
        from tacit.method.blocks.estimate_distribution import law

        return law(self, errors, model, rng)

    def summary(self, level: float = 0.95) -> Table:
        """The estimates as a table; InferenceError I01 for a level below 0.5, or 1 and above."""
        return self.estimate().summary(level)

    def plot(self, ax: Any = None) -> Any:
        """The estimates as a picture; InferenceError I20 without matplotlib."""
        return self.estimate().plot(ax=ax)


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
        from tacit.method.blocks.estimate_one_step import estimate as stepped
        from tacit.method.blocks.estimate_one_step import model_of

        if target == "table":
            text = "target 'table': a step speaks of the law that rows were drawn from."
            raise InferenceError(text, code="I09", hint='target="population"', state=None)
        return stepped(release, model_of(release, model))
    found = by_blocks(release, target)
    if errors in (None, "blocks") or target == "table":
        return found
    from tacit.method.blocks.estimate_errors import with_errors

    return with_errors(found, cast(Any, errors), model, rng)
