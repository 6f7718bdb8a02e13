"""Sample and aggregate: means of block estimates, plain or winsorised, and one step from them.  INSIDE the wall.

Three mechanisms, each with its own argument: noisy means of the blocks' estimates (`mechanism_means`); means within
windows that are set by privately selected quartiles of the estimates (`mechanism_winsorized`); and one step over all
rows from a pilot that is either of these (`mechanism_one_step`).  Where two compose, the later query is a function of
what the earlier one released, at a part of the price that is fixed beforehand: adaptive composition, pure [lecture
notes §2], Gaussian [Bun & Steinke 2016, Lemma 2.3].
"""

from __future__ import annotations

from typing import Any, Final

from tacit.method.blocks import design as means_design
from tacit.method.blocks import mechanism_means as means
from tacit.method.blocks import mechanism_one_step as one_step
from tacit.method.blocks import mechanism_user_statistics as user_statistics
from tacit.method.blocks import mechanism_winsorized as winsorized
from tacit.method.blocks import one_step_design, winsorized_design
from tacit.method.blocks.automatic_choice import settled
from tacit.method.blocks.query import SampleAndAggregate
from tacit.method.shared.measurement import Measurement, Public
from tacit.method.shared.mechanism import Mechanism
from tacit.models.block_function import Statistic
from tacit.privacy import Cost
from tacit.release.parts import Part
from tacit.source import Source


def design(query: SampleAndAggregate, public: Public, cost: Cost) -> Measurement:
    """Return blocks, grids and noise; try a user's function on made-up rows first: ModelError M22 to M24."""
    law = query.model.law
    if isinstance(law, Statistic):
        user_statistics.check(law)
    if query.method == "auto" and not query.one_step:
        query = settled(query, public, cost)
    make: Any = winsorized_design if query.winsorize else means_design
    return (one_step_design if query.one_step else make).design(query, public, cost)


def measure(shape: Measurement, source: Source) -> tuple[Part, ...]:
    """READS ROWS.  Return the released parts; nothing without noise is kept."""
    return _of(shape).measure(shape, source)


def _of(shape: Measurement) -> Any:
    """Return the module of the mechanism that a question asks for."""
    query: Any = shape.query
    if query.one_step:
        return one_step
    return winsorized if query.winsorize else means


MECHANISM: Final = Mechanism(design, measure)
