"""Standard errors of means of blocks from their model at the released parameters.  Post-processing: costs nothing.

Fisher information gives the errors of the estimate from all rows at once, without the efficiency that blocks of few
rows lose (theory §2).  Simulation draws blocks at the released parameters and estimates them as the mechanism does, so
that this loss is included and the bias is seen.  Both trust the model; the released variance between blocks does not.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final, cast

import numpy as np

from tacit.base.arrays import Array
from tacit.errors import InferenceError, ModelError
from tacit.estimates.estimate import Estimate
from tacit.method.blocks.estimate_by_blocks import Errors, means
from tacit.method.blocks.estimate_ends import ends_of, means_without_clamp
from tacit.method.blocks.estimate_one_step import model_of
from tacit.models import scores
from tacit.models.blocks import block_mle
from tacit.models.likelihood import Likelihood
from tacit.release.document import Released
from tacit.release.parts import Grid, Part

if TYPE_CHECKING:
    from tacit.method.blocks.query import SampleAndAggregate

BLOCKS: Final = 2_000
"""Number of simulated blocks: enough to know their variance to about 3% (the square root of 2 / 2,000)."""
STRANGE: Final = 2.0
"""Ratio of the released variance of blocks to the model's from which on a note reports it."""


@dataclass(frozen=True)
class BlockSampling:
    """Covariance of the means of blocks, shape (p, p), and their bias, shape (p,), for the p released parameters."""

    covariance: Array
    bias: Array | None = None


def with_errors(found: Estimate, errors: Errors, model: Any, rng: Any) -> Estimate:
    """Return the same estimate with standard errors from the model; InferenceError I75, I76."""
    release = found.release
    made = sampling(release, model_of(release, model), found.values, errors, rng)
    variances = np.diag(made.covariance)
    blocks = tuple(
        replace(one, variance=np.array([v]), inversion=replace(cast(Any, one.inversion), variance=np.array([v])))
        for one, v in zip(found.blocks, variances, strict=True)
    )
    words = "by the information of all rows at the released parameters, as if none was left out"
    if made.bias is not None:
        k = means(release)[0].parameters["blocks"]
        # Monte-Carlo error of the bias: the variance of one block, k times that of the mean, over BLOCKS draws
        one, unclear = found.std_errors, np.sqrt(variances * k / BLOCKS)
        bias = [f"{b:+.2f} ± {e:.2f}" for b, e in zip(made.bias / one, unclear / one, strict=True)]
        words = f"from {BLOCKS:,} blocks simulated at the released parameters; their bias, in these: {', '.join(bias)}"
    notes = [*found.notes[1:], f"standard errors {words}"]
    ratios = found.sampling_variances / np.maximum(variances, 1e-300)
    notes += [_misfit_note(name, r) for name, r in zip(found.terms, ratios, strict=True) if r > STRANGE]
    return replace(found, blocks=blocks, notes=tuple(notes))


def _misfit_note(name: str, ratio: float) -> str:
    """Return the note on blocks that vary more than the model expects."""
    return (
        f"{name}: the variance of blocks is {ratio:.1f} times what the law says of many rows: they are too short, "
        'or rows follow another; ask for fewer blocks, or leave out bias="cox-snell", which trusts the law'
    )


def sampling(release: Released, model: Likelihood, values: Array, errors: Errors, rng: Any) -> BlockSampling:
    """Return the sampling covariance of the released parameters by the model at their values; InferenceError I76."""
    parts = means(release)
    place = [model.names.index(part.label) for part in parts]
    at = model.fallback.copy()
    at[place] = values
    if len(place) < len(model.names):
        text = "errors of a model need all of its parameters, and only some were released."
        raise InferenceError(text, code="I76", hint='errors="blocks"', state=None)
    at = scores.inner(model, at)
    try:
        if errors == "fisher":
            inverse = np.linalg.inv(np.asarray(model.fisher(at), dtype=np.float64))
            # the Cramer-Rao bound for all rows: I^-1 / n
            return BlockSampling(inverse[np.ix_(place, place)] / cast(int, release.rows))
        drawn = _blocks(release, model, at, parts[0].parameters["blocks"], np.random.default_rng(rng))
    except (ModelError, np.linalg.LinAlgError) as problem:
        text = f"errors {errors!r}: the model has none at the released parameters ({problem})."
        raise InferenceError(text, code="I76", hint='errors="blocks"', state=None) from None
    own = np.stack([_clamped(part, drawn[:, i]) for part, i in zip(parts, place, strict=True)], axis=1)
    k = parts[0].parameters["blocks"]
    middle = np.array([_corrected_mean(release, part, own[:, i]) for i, part in enumerate(parts)])
    # the mean of k independent blocks
    return BlockSampling(np.atleast_2d(np.cov(own.T)) / k, middle - at[place])


def _blocks(release: Released, model: Likelihood, at: Array, k: int, rng: np.random.Generator) -> Array:
    """Return estimates of simulated blocks, shape (BLOCKS, p).

    Sizes differ by one row at most, as in the mechanism: the number of rows is public, and no row is left out.
    """
    query, each, room = cast("SampleAndAggregate", release.query), *divmod(cast(int, release.rows), k)
    # the remainder of n / k: so many of k blocks have one row more
    room, more = (each + 1, room / k) if room else (each, 0.0)
    sizes = each + (np.arange(BLOCKS) < round(BLOCKS * more))
    rows = model.sample(at, BLOCKS * room, rng)
    shaped = rows.reshape(BLOCKS, room, *rows.shape[1:])
    return block_mle(model, shaped, sizes, bias=cast(Any, query.bias)).values


def _corrected_mean(release: Released, part: Part, values: Array) -> float:
    """Return the mean of simulated blocks, corrected for clamping to the box as the estimate is."""
    query, mean = cast("SampleAndAggregate", release.query), np.array([values.mean()])
    ends = ends_of(query.model.law, query.model.words, part)
    if ends is None or query.winsorize:
        return float(mean[0])
    return float(means_without_clamp(mean, np.array([values.var(ddof=1)]), ends).value[0])


def _clamped(part: Part, values: Array) -> Array:
    grid = cast(Grid, part.grid)
    return np.clip(values, grid.lower, grid.upper)
