"""Maximum likelihood in many blocks at once, corrected for bias: numbers only, no rows are kept and no noise is drawn.

Of laws whose mean statistics suffice, a block's sums replace its rows (`block_sums`).  Otherwise:

A block's estimate depends on its own rows alone, as a set: they are sorted, padded to a public capacity, and computed
in batches of one public shape by the same compiled code, in a fixed number of steps, with 64-bit floats, on whatever
device JAX has.  Rows outside the support are left out of their block.  A block without an estimate (too few rows are
left, all rows equal, separable, no convergence) has the public default, and `fitted` says so.
"""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final, Literal, TypeAlias, get_args

import numpy as np
from numpy.typing import NDArray

from tacit.base.lazy_imports import jax
from tacit.errors import ModelError, nearest
from tacit.models.block_estimate import TOGETHER, answer
from tacit.models.block_sums import statistic_sums
from tacit.models.boxes import Array
from tacit.models.compiled_programs import CompiledFunction
from tacit.models.jax_config import quiet
from tacit.models.likelihood import Likelihood

Mask: TypeAlias = NDArray[np.bool_]
Bias: TypeAlias = Literal["cox-snell", "observed", "split-half", "jackknife", "none"]
BATCH: Final = 2**19
"""About how many numbers a batch holds."""
QUICK: Final = 2**17
"""Numbers of a batch below which optimising its program takes longer than it saves: it is then the only batch."""
THREADS: Final = max(1, min(8, os.cpu_count() or 1))
"""Batches computed at a time: sorting and compiled code release Python's lock, and batches are independent."""


@dataclass(frozen=True)
class BlockEstimates:
    """One estimate for each block, inside the box, and whether it is the block's own or the public default.

    values: shape (k, p); fitted: shape (k,).  Both are inside the wall: they are functions of the rows.
    """

    names: tuple[str, ...]
    values: Array
    fitted: Mask


def block_mle(
    model: Likelihood,
    blocks: Any,
    counts: Any,
    *,
    bias: Bias = "cox-snell",
    batch: int | None = None,
    ordered: bool = False,
) -> BlockEstimates:
    """Bias-corrected maximum likelihood in each of k blocks (theory §2), clamped into the model's box.

    blocks: shape (k, capacity) or (k, capacity, columns); counts: shape (k,), the rows of each block, which come first;
    what follows them is ignored.  bias: "cox-snell" (closed form, expectations or averages over the block, the first
    that the model has), "observed" (averages), "split-half", "jackknife" (a fit for each row), or "none".
    batch: blocks computed at a time, a function of the shape by default.  ordered: the rows of each block are sorted.

    ModelError M14, M15, M16 for a log-density that cannot be used, M17 for blocks of the wrong shape.

    >>> rows = np.random.default_rng(0).exponential(0.5, (3, 1000))
    >>> from tacit.families import Exponential
    >>> block_mle(Exponential(rate=(0.1, 10)), rows, [1000, 1000, 0]).values.round(1).ravel().tolist()
    [2.0, 2.0, 1.0]
    """
    data, sizes = _checked(model, blocks, counts, bias)
    model.check_function()
    summed = statistic_sums(model, data.shape[1], bias)
    if summed is not None:
        values, fitted = summed.estimates(*summed.of_packed(data, sizes), bias)
        return BlockEstimates(model.names, values, fitted)
    # numbers that a block needs at a time; the jackknife makes several fits of it at once
    room = data.shape[1] * model.columns * (min(TOGETHER, data.shape[1]) if bias == "jackknife" else 1)
    # a function of the shape alone: compiled code may round differently in batches of another size
    size = batch or min(-(-len(data) // 8) * 8, max(8, BATCH // room // 8 * 8))
    values = np.empty((len(data), len(model.parameters)))
    fitted = np.empty(len(data), dtype=np.bool_)

    def solved(at: int) -> None:
        with quiet():  # JAX's settings belong to the thread
            # the last batch is filled up with empty blocks to the same shape
            rows, good, counts = prepared(model, data[at : at + size], sizes[at : at + size], size, ordered)
            here = min(size, len(data) - at)
            found, sound = compiled(model, bias)(rows, counts, good, np.arange(at, at + size))
            values[at : at + here], fitted[at : at + here] = np.asarray(found)[:here], np.asarray(sound)[:here]

    solved(0)  # compiled once, before there are threads
    with ThreadPoolExecutor(THREADS) as pool:
        for _ in pool.map(solved, range(size, len(data), size)):
            pass
    return BlockEstimates(model.names, values, fitted)


def _checked(model: Likelihood, blocks: Any, counts: Any, bias: str) -> tuple[Array, NDArray[np.int64]]:
    """Return blocks and counts as arrays; ModelError M17 for wrong shapes."""
    if bias not in get_args(Bias):
        hint = nearest(bias, list(get_args(Bias)))
        message = f"bias={bias!r} is none of {', '.join(get_args(Bias))}."
        raise ModelError(message, code="M17", hint=f"{hint!r}?" if hint else None)
    data, sizes = np.asarray(blocks, dtype=np.float64), np.asarray(counts, dtype=np.int64)
    shape = "(k, capacity)" if model.columns == 1 else f"(k, capacity, {model.columns})"
    right = data.ndim == (2 if model.columns == 1 else 3) and (model.columns == 1 or data.shape[2] == model.columns)
    if not right or not data.size:
        raise ModelError(f"blocks of shape {data.shape} are not {shape}.", code="M17")
    if sizes.shape != (len(data),) or (sizes < 0).any() or (sizes > data.shape[1]).any():
        message = f"counts are not one number from 0 to {data.shape[1]} for each of {len(data)} blocks."
        raise ModelError(message, code="M17")
    return data, sizes


def prepared(
    model: Likelihood, data: Array, sizes: NDArray[np.int64], room: int, ordered: bool
) -> tuple[Array, Mask, NDArray[np.int64]]:
    """Return rows of a batch, sorted and padded by a number of the support, which blocks have enough, and how many.

    Rows outside the support, as missing ones, are left out: they are sorted behind the others and not counted.
    """
    rows: Array = np.empty((room, *data.shape[1:]))
    np.add(data, 0.0, out=rows[: len(data)])  # -0.0 and 0.0 are one number
    sizes = np.append(sizes, np.zeros(room - len(data), dtype=np.int64))
    full = int(sizes[: len(data)].min())  # rows that all of these blocks have
    rows[len(data) :] = np.nan
    with np.errstate(all="ignore"):
        kept = np.asarray(model.inside(rows), dtype=np.bool_)  # finite, too
    kept[:, full:] &= ~_beyond(sizes, full, rows.shape[1])
    many = kept.sum(axis=1)
    good = many > len(model.parameters)
    # blocks without an estimate are computed all the same, on rows that do no harm: time and shape stay the same
    rows[~good], many[~good] = 1.0, sizes[~good]
    kept[~good] = ~_beyond(sizes[~good], 0, rows.shape[1])
    # infinite rows sort behind the others; afterwards a number of the support replaces them
    rows[~kept] = np.inf
    # rows that came in order no longer are where some were left out
    ordered = ordered and bool((many == sizes).all())
    if not ordered and rows.ndim == 2:
        rows.sort(axis=1)
    elif not ordered:
        rows = _lexicographic(rows)
    first = np.where(np.isfinite(rows[:, :1]), rows[:, :1], 1.0)
    full = int(many.min())
    unused, rest = _beyond(many, full, rows.shape[1]), rows[:, full:]
    rest[unused] = np.broadcast_to(first, rest.shape)[unused] if model.anchor is None else model.anchor
    return rows, good, many


def _beyond(sizes: NDArray[np.int64], first: int, capacity: int) -> Mask:
    """Return which places from `first` on lie beyond the rows of each block, shape (blocks, capacity - first)."""
    return np.greater_equal(np.arange(first, capacity, dtype=np.int64), sizes[:, None], dtype=np.bool_)


def _lexicographic(rows: Array) -> Array:
    """Sort the rows of each block by the first column, then the second, ..."""
    k, capacity, columns = (int(size) for size in rows.shape)
    block: NDArray[np.int64] = np.repeat(np.arange(k, dtype=np.int64), capacity)
    flat = rows.reshape(-1, columns)
    order = np.lexsort((*(flat[:, j] for j in reversed(range(columns))), block))
    return flat[order].reshape(rows.shape)


@lru_cache(maxsize=64)
def compiled(model: Likelihood, bias: Bias) -> Any:
    """Return the compiled function of a batch: (rows, counts, usable, numbers of blocks) to (values, fitted)."""

    def one(x: Any, count: Any, good: Any, number: Any) -> Any:
        return answer(model, x, count, good, number, bias)

    # shapes are functions of the number of blocks and of their capacity, which are public
    quick = 0 if bias == "jackknife" else QUICK
    return CompiledFunction(
        jax().vmap(one), keep=not model.encloses_arrays, name=model.program_name("blocks", bias), quick=quick
    )
