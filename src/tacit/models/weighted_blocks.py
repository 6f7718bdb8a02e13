"""Maximum likelihood of resamples of many blocks, as weights of the blocks' rows.  Numbers only: no noise is drawn.

A resample of n rows from t rows is t rows with weights, so that a fit costs what one of t rows costs [Kleiner et al.
2014].  It is not corrected for bias, which is of the order of 1 / n in all resamples alike.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tacit.base.lazy_imports import jax
from tacit.models.block_estimate import fitted
from tacit.models.blocks import BATCH, prepared
from tacit.models.boxes import Array
from tacit.models.compiled_programs import CompiledFunction
from tacit.models.jax_config import quiet
from tacit.models.likelihood import Likelihood

Draws = Callable[[NDArray[np.int64], int, int, NDArray[np.int64], int], Array]
"""Numbers of blocks, resamples, rows of a resample, rows of the blocks, and capacity, to weights, shape (blocks,
resamples, capacity)."""


def weighted_maxima(
    model: Likelihood, values: Array, sizes: NDArray[np.int64], resamples: int, rows: int, draws: Draws
) -> tuple[Array, NDArray[np.int64]]:
    """Return the maxima of resamples, shape (blocks, resamples, p), NaN for none, and the rows of each block in use.

    values: shape (blocks, capacity, columns), rows in order; rows outside the model's support are left out of a block.
    """
    model.check_function()
    data = values[:, :, 0] if model.columns == 1 else values
    capacity = data.shape[1]
    # a function of public shapes alone, as in `block_mle`
    size = min(len(data), max(1, BATCH // (capacity * model.columns * resamples)))
    found = np.empty((len(data), resamples, len(model.parameters)))
    used = np.zeros(len(data), dtype=np.int64)
    for at in range(0, len(data), size):
        here = min(size, len(data) - at)
        with quiet():
            own, good, many = prepared(model, data[at : at + size], sizes[at : at + size], size, True)
            weights = draws(np.arange(at, at + size), resamples, rows, many, capacity)
            # a mean of the weights of 1: the search then ends at the precision of a block's own fit
            made, sound = _compiled(model)(own, weights * (many / rows)[:, None, None])
        fine = (np.asarray(sound) & good[:, None])[:here]
        found[at : at + here] = np.where(fine[:, :, None], np.asarray(made)[:here], np.nan)
        used[at : at + here] = np.where(good, many, 0)[:here]
    return found, used


@lru_cache(maxsize=64)
def _compiled(model: Likelihood) -> Any:
    """Return the compiled function of a batch: (rows, weights) to (values, whether they are found)."""
    lib, tools = jax().numpy, jax()

    def one(x: Any, w: Any) -> tuple[Any, Any]:
        made, fine = fitted(model, x, w)
        return lib.clip(made, model.lower, model.upper), fine & lib.isfinite(made).all()

    return CompiledFunction(
        tools.vmap(tools.vmap(one, in_axes=(None, 0))),
        keep=not model.encloses_arrays,
        name=model.program_name("resamples"),
    )
