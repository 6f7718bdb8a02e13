"""The later questions of a linear regression of norm-clipped rows: functions of released parts alone.  INSIDE the wall.

Definition, sensitivity and noise: `mechanism` for what a row is, `norm_encoding` for the integers and proofs.
Cost
    SHARES of the price, fixed beforehand; each question is a function of the parts released before: adaptive
    composition [Bun & Steinke 2016, Lemma 2.3; Dong, Roth & Su 2022, Theorem 3.2].
Failures
    None depends on a row: a part is measured whatever the parts before say.  Where arithmetic on released integers
    gives no finite scales or axes, the part's vector is that of the coordinates as they are, and the residual the
    response.
"""

from __future__ import annotations

import numpy as np

from tacit.method.regression.encoding import CLIP
from tacit.method.regression.noisy_norms import read_standardised
from tacit.method.regression.norm_scaling import next_residual, reach, read_columns, standardised, whitened
from tacit.method.regression.norms_design import score_noise, with_products, with_scores
from tacit.method.regression.product_parts import ProductPart
from tacit.method.shared.measurement import Measurement
from tacit.release.parts import Part


def next_question(part: ProductPart, parts: tuple[Part, ...], shape: Measurement) -> ProductPart:
    """Return the next part with its vector and residual; `mechanism.measure` adds the noise."""
    layout, columns = part.layout, read_columns(parts[0], part.layout, shape.rows)
    if len(parts) == 1:
        return with_products(part, standardised(columns, layout))
    products, turn = read_standardised(parts[1], layout)
    noise = score_noise(part) * reach(columns, layout, response=False)
    try:
        residual = next_residual(columns, layout, products, turn, CLIP, noise)
        return with_scores(part, whitened(columns, layout, products, turn), residual)
    except np.linalg.LinAlgError:
        return part
