"""Release of sample and aggregate: parameters with standard errors from the spread of blocks (theory §2, §9)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, cast

from tacit.base.table import Table, shown_by_summary
from tacit.errors import InferenceError
from tacit.estimates.terms import Target, check_target
from tacit.method.blocks.estimate_by_blocks import Errors, by_blocks, check_errors
from tacit.release.document import Release, Released

if TYPE_CHECKING:
    import pandas as pd  # pyright: ignore[reportMissingTypeStubs]

    from tacit.estimates.synthetic.reproduced_numbers import ReproducedNumbers
    from tacit.estimates.synthetic.synthetic_sets import SyntheticSets
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
        """Return the parameters with standard errors that count sampling error and noise.

        errors: how the sampling error is found.  "blocks": from the variance between blocks, which is released with
        them (theory §9).  "fisher": from the Fisher information of all rows at the released parameters; blocks of few
        rows vary more than this.  "simulated": from 2,000 blocks drawn at the released parameters (theory §2 (b)); the
        notes then give their bias.  The last two need a public number of rows and no `where`.  A release with one_step
        always uses the released variances of clipped scores.
        target: "population", or "table": the mean of the estimates in the blocks drawn, where only noise is uncertain.
        model: the `tacit.Model` of the query, for a release with one_step that was read from a file.
        InferenceError I09 (target), I75 (model), I76 (errors that this release does not have).
        """
        return estimate(self, target, errors=errors, model=model, rng=rng)

    def law(self, *, errors: Errors | None = None, model: Any = None, rng: Any = 0) -> FittedLaw:
        """Return the model's law at the released parameters: quantiles, means and hazards with errors, and a plot.

        errors, model, rng: see `estimate`.  InferenceError I75, I76, I79 (parameters that were not released).
        """
        from tacit.method.blocks.estimate_distribution import law

        return law(self, errors, model, rng)

    def sample(
        self, n: int | None = None, *, regressors: Any = None, rng: Any = None, model: Any = None
    ) -> pd.DataFrame:
        """Return n synthetic rows drawn from the law at the estimates, a frame of the question's columns.

        rng: a whole number or a NumPy Generator for the same rows again, or None.  regressors: for regressions, a
        frame of the columns after the response; n is then its rows, unless given.  model: as for `estimate`.
        The rows are nobody's, and free; values may lie beyond the bounds of the schema.  The frame's note says what
        they ignore.
        InferenceError I61 (n), I62 (rng), I63 (a reason), I75 (model), I79, I90 (regressors).
        """
        return self.law(model=model).sample(n, regressors=regressors, rng=rng)

    def synthetic_sets(
        self,
        sets: int = 40,
        *,
        n: int | None = None,
        regressors: Any = None,
        target: Target = "population",
        rng: Any = None,
        model: Any = None,
    ) -> SyntheticSets:
        """Return sets of rows from laws that the truth may have: `sets.analyse(function)` has both errors.

        sets, n, target, rng: as for histograms.  Parameters are drawn from the release's own law of both errors, in
        coordinates in which they stay what they may be.  InferenceError I09, I61, I62, I63 (a reason), I85,
        I75 (model), I79, I90 (regressors).
        """
        return self.law(model=model).synthetic_sets(sets, n=n, regressors=regressors, target=target, rng=rng)

    def utility(self, rows: Any, *, model: Any = None) -> ReproducedNumbers:
        """Return mean, standard deviation and quantiles of the law beside those of synthetic rows.

        InferenceError I63 (a reason), I87 (rows), I90 (several columns), I75 (model), I79.
        """
        return self.law(model=model).utility(rows)

    def summary(self, level: float = 0.95) -> Table:
        """Return the estimates as a table; InferenceError I01 for a level below 0.5, or of 1 or more."""
        return self.estimate().summary(level)

    def plot(self, ax: Any = None) -> Any:
        """Plot the estimates; InferenceError I20 without matplotlib."""
        return self.estimate().plot(ax=ax)


def estimate(
    release: Released,
    target: Target = "population",
    *,
    errors: Errors | None = None,
    model: Any = None,
    rng: Any = 0,
) -> Any:
    """Return the Estimate of a release, real or simulated, one term a parameter; a NormalEstimate after one step."""
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
