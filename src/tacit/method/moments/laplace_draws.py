"""The noise of a count, a sum or a mean: what its price buys, or the sum of several draws of it.  No data here."""

from __future__ import annotations

from tacit.errors import QueryError
from tacit.method.shared.encoding import Encoding
from tacit.method.shared.measurement import Measurement
from tacit.noise.averaged_laplace import AveragedLaplace
from tacit.noise.laws import DiscreteLaplace, Law
from tacit.privacy import Cost, noise_for


def noise_of(shape: Measurement, form: Encoding, share: Cost) -> Law:
    """Return the law of the noise of a part at its share of the price.

    Of several draws (`laplace_draws`) each has the scale of the one that the price buys: the first is paid for, and the
    others are post-processing (`method.shared.mechanism_additive`, Averaged Laplace).  QueryError Q131 where the price
    buys no Laplace noise.
    """
    law = noise_for(form.l1, form.l2_squared, share)
    draws: int = getattr(shape.query, "laplace_draws", 1)
    if draws == 1:
        return law
    if not isinstance(law, DiscreteLaplace):
        kind = type(shape.query).__name__
        text = f"laplace_draws of {kind}: a price of {shape.cost} buys normal noise, and no Laplace draws."
        raise QueryError(text, code="Q131", hint="a price in epsilon alone, or leave laplace_draws out")
    return AveragedLaplace(law.scale, draws)
