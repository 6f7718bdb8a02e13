"""Expected precision of estimates on blocks: simulated releases of estimates as the model spreads them.

What a release knows of how much blocks vary is noisy, and windows about selected quartiles are wider or narrower than
those of the model; intervals are wider for both.  So blocks' estimates are drawn from the normal law of the model's
information, clamped to their boxes, and released a few times.  Of rows of another law than the model's, or persons of
several rows, blocks' estimates vary more, or less: a range says so, and what blocks have that answer in place of a step
where the model does not hold.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Final, cast

import numpy as np

from tacit.base.arrays import Array
from tacit.errors import TacitError
from tacit.method.blocks import plan as of_method
from tacit.method.blocks.design import BlockPlan
from tacit.method.blocks.expected_errors import sampling_variances
from tacit.method.blocks.one_step_design import split
from tacit.method.blocks.plan import as_expected, cautions
from tacit.method.blocks.query import SampleAndAggregate
from tacit.method.shared.measurement import Measurement
from tacit.method.shared.plan_expected import Expected
from tacit.method.shared.plan_shares import NOTHING
from tacit.models.block_function import Statistic
from tacit.schema.expectations import Expectations
from tacit.testing.simulated_block_steps import release_of_estimates

__all__ = ["as_expected", "cautions", "expected", "otherwise_spread"]

TRIALS: Final = 5
"""Number of simulated releases."""
GUESSED: Final = 3
"""The same of guesses."""
MULTIPLES: Final = 0.4, 2.5
"""Variances of blocks' estimates, relative to the model's, of rows of another law: one deviation of their logarithm, as
releases suppose as well (`estimate_spread.FACTOR`)."""


def expected(shape: Measurement, rows: int, level: float, expect: Expectations = NOTHING) -> list[Expected]:
    """Return the expected precision of each parameter; of one step that of its method's plan."""
    found = of_method.expected(shape, rows, level, expect)
    shape = as_expected(shape, expect)
    spread = None if cast(SampleAndAggregate, shape.query).one_step else _spread(shape, rows)
    if spread is None:
        return found
    widths = _typical(shape, spread, level, TRIALS)
    return [_as_wide(one, widths.get(one.term, math.inf)) for one in found]


def otherwise_spread(
    shape: Measurement, planned: Sequence[Expected], rows: int, level: float, expect: Expectations = NOTHING
) -> list[list[Expected]]:
    """Return what means of blocks would have that vary otherwise than the model says, or answer in place of a step."""
    shape = as_expected(shape, expect)
    query, spread = cast(SampleAndAggregate, shape.query), _spread(shape, rows)
    if spread is None:
        return []
    if query.one_step:
        shape = replace(shape, query=replace(query, one_step=False), columns=split(shape)[0].columns)
    multiples = (1.0, *MULTIPLES) if query.one_step else MULTIPLES
    made = list[list[Expected]]()
    for times in multiples:
        widths = _typical(shape, times * spread, level, GUESSED)
        made.append([replace(one, width=widths.get(one.term, math.inf), between=None) for one in planned])
    return made


def _as_wide(one: Expected, width: float) -> Expected:
    """Return an entry with the width that simulated releases have.

    What they have more than the errors say is noise in what is known of sampling: privacy's part.
    """
    if not math.isfinite(width) or not one.width > 0:
        return replace(one, width=width)
    times = max(width / one.width, 1.0)
    privacy = 1 - (1 - one.privacy) / times**2
    return replace(one, width=width, without=min(one.without, width), privacy=privacy, std_error=one.std_error * times)


def _spread(shape: Measurement, rows: int) -> Array | None:
    """Return the covariance of one block's estimate by the model, shape (p, p); None where it is not known."""
    plan = cast(BlockPlan, shape.blocks)
    if isinstance(plan.model, Statistic) or plan.resampling is not None or sampling_variances(plan.model, rows) is None:
        return None
    found = np.linalg.inv(plan.model.fisher(plan.model.fallback)) * plan.blocks / rows
    return np.asarray(found, dtype=np.float64) if np.isfinite(found).all() else None


def _typical(shape: Measurement, spread: Array, level: float, trials: int) -> dict[str, float]:
    """Return the median width of each parameter over simulated releases; infinite where most have a reason."""
    plan, rng = cast(BlockPlan, shape.blocks), np.random.default_rng(0)
    model = plan.likelihood
    found = list[dict[str, float]]()
    for _ in range(trials):
        drawn = rng.multivariate_normal(np.asarray(model.fallback), spread, plan.blocks, method="eigh")
        values = np.clip(drawn, np.asarray(model.lower), np.asarray(model.upper))
        try:
            made = release_of_estimates(shape, values, rng).estimate()
        except TacitError:  # blocks that say nothing at all
            continue
        ends = np.asarray(made.intervals(level))
        each = zip(made.terms, made.reasons, ends, strict=True)
        found.append({str(term): math.inf if why is not None else float(high - low) for term, why, (low, high) in each})
    if not found:
        return {}
    return {term: float(np.median([one.get(term, math.inf) for one in found])) for term in found[0]}
