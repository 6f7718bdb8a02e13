"""The estimate of one block: maximum, bias correction, clamp, default.  JAX functions, to be vmapped over blocks."""

from __future__ import annotations

from typing import Any, Final

from tacit.base.lazy_imports import jax
from tacit.models.block_moments import mean_of
from tacit.models.boxes import Link, from_coordinates, to_coordinates
from tacit.models.correction import bias as expected_bias
from tacit.models.correction import observed_from_moments
from tacit.models.hashed_words import ODD, mixed
from tacit.models.likelihood import Likelihood
from tacit.models.newton import maximum

LATER: Final = 6
"""Newton steps of a jackknife fit, which starts from the maximum of the whole block."""
TOGETHER: Final = 32
"""Jackknife fits that are made at a time: all fits of a long block would not fit in memory."""
ENOUGH: Final = 1e-9
"""Gain of log-likelihood that a converged fit may leave; one standard error off the maximum it is one half."""


def answer(model: Likelihood, x: Any, count: Any, good: Any, number: Any, how: str) -> tuple[Any, Any]:
    """Return the block's values in the box, shape (p,), and whether they are its own, not the default.

    x: sorted rows, padded; count: the number of rows; good: whether all lie in the support; number: the block's public
    number; how: the bias correction.
    """
    lib = jax().numpy
    weights = (lib.arange(x.shape[0]) < count) * 1.0
    found, fine = fitted(model, x, weights)
    if how in ("cox-snell", "observed"):
        off = _bounded(model, found, _bias(model, x, weights, found, how, count))
        # at an end of its box the likelihood need not be curved enough for a correction
        found = found - (lib.where(lib.isfinite(off), off, 0.0) if model.edge == "clamp" else off)
    elif how == "split-half":
        found, fine = _split(model, x, weights, number, found, fine)
    elif how == "jackknife":
        found, fine = _jackknife(model, x, weights, found, fine)
    return _clamped(model, found, good & fine)


def answer_from(model: Likelihood, u: Any, pairs: Any, count: Any, good: Any, how: str) -> tuple[Any, Any]:
    """Return what `answer` does from the mean `row_statistics`, shape (q,); how: "cox-snell", "observed" or "none".

    pairs: means of products of two statistics, shape (q, q), for "observed".
    """
    lib = jax().numpy
    found, fine = fitted_from(model, u, count)
    if how != "none":
        if how == "observed":
            off = observed_from_moments(model, u, pairs, found) / count
        else:
            # of a law of no regressors the correction's expectations need no row: one of the support stands for them
            off = _bias(model, lib.array([model.anchor]), lib.ones(1), found, how, count)
        off = _bounded(model, found, off)
        found = found - (lib.where(lib.isfinite(off), off, 0.0) if model.edge == "clamp" else off)
    return _clamped(model, found, good & fine)


def _clamped(model: Likelihood, found: Any, fine: Any) -> tuple[Any, Any]:
    """Return a corrected estimate in the box, the default in place of none, and whether it is the block's own."""
    lib = jax().numpy
    own = fine & lib.isfinite(found).all()
    # after the correction: clamping first would bias what the correction expects to be unclamped (theory §2)
    return lib.where(own, lib.clip(found, model.lower, model.upper), model.fallback), own


def _bias(model: Likelihood, x: Any, w: Any, found: Any, how: str, count: Any) -> Any:
    """Return the bias of a maximum from `count` rows: all of it where the family knows it, else its leading term."""
    known = model.unbiased(model.bind(found), count) if how == "cox-snell" and model.all_free else None
    return expected_bias(model, x, w, found, how) / count if known is None else found - known


def _bounded(model: Likelihood, found: Any, off: Any) -> Any:
    """Return the correction `off`, limited to half the box, or to half the estimate where the search is in logs.

    Where the expansion fails (few rows, little information on a parameter) it must not move an estimate to the other
    end of the box; in a block of reasonable size the correction is far below the limit.
    """
    lib = jax().numpy
    logs = lib.array([one.link == "log" for one in model.parameters])
    most = lib.where(logs, lib.abs(found), model.upper - model.lower) / 2
    return lib.clip(off, -most, most)


def fitted(model: Likelihood, x: Any, w: Any, start: Any = None) -> tuple[Any, Any]:
    """Return the maximum of the weighted likelihood, shape (p,), and whether one was found; `start`: a warm start."""
    lib, tools = jax().numpy, jax()
    if model.start_is_maximum and model.all_free:
        found = model.starts(x, w)[0]
        return found, lib.isfinite(found).all()
    links, low, high = _search(model)
    total = w.sum()
    # a likelihood of mean statistics needs no pass over the rows at each step of the search
    middle = mean_of(model.row_statistics, x, w) if model.mean_statistics_suffice else None

    def objective(place: Any) -> Any:
        theta = model.bind(from_coordinates(links, place))
        if model.mean_statistics_suffice:
            return model.log_density_from(middle, theta)

        def one(row: Any) -> Any:
            return model.log_density(row, theta)

        each = tools.vmap(one)(x)
        # where, not a product alone: 0 times a NaN of padding would be NaN
        return lib.where(w > 0, w * each, 0.0).sum() / total

    if start is None:
        first = _best(objective, model.starts(x, w), links, low, high)
        place, free, left = maximum(objective, first, low, high, model.steps)
    else:
        place, free, left = maximum(objective, to_coordinates(links, start), low, high, LATER)
    return _checked(model, links, low, high, total, place, free, left)


def fitted_from(model: Likelihood, u: Any, total: Any) -> tuple[Any, Any]:
    """Return what `fitted` does, from the mean `row_statistics` of `total` rows, shape (q,), where these suffice."""
    lib = jax().numpy
    if model.start_is_maximum and model.all_free:
        found = model.starts_from(u)[0]
        return found, lib.isfinite(found).all()
    links, low, high = _search(model)

    def objective(place: Any) -> Any:
        return model.log_density_from(u, model.bind(from_coordinates(links, place)))

    first = _best(objective, model.starts_from(u), links, low, high)
    place, free, left = maximum(objective, first, low, high, model.steps)
    return _checked(model, links, low, high, total, place, free, left)


def _search(model: Likelihood) -> tuple[list[Link], Any, Any]:
    """Return links and ends of the search in their coordinates, shape (p,) each."""
    lib = jax().numpy
    ends = [one.region(model.widen) for one in model.parameters]
    low, high = lib.array([a for a, _ in ends]), lib.array([b for _, b in ends])
    return [one.link for one in model.parameters], low, high


def _checked(
    model: Likelihood, links: list[Link], low: Any, high: Any, total: Any, place: Any, free: Any, left: Any
) -> tuple[Any, Any]:
    """Return where a search of the mean likelihood of `total` rows ended, and whether it is a maximum."""
    lib = jax().numpy
    found = model.canonical(from_coordinates(links, place))
    # the objective is a mean over rows: times their number, the gain of the log-likelihood
    fine = lib.isfinite(found).all() & (left * total <= ENOUGH)
    at_end = ((place <= low) | (place >= high)).any()
    # at an end of the search the maximum may lie beyond: only models with "clamp" take the end for it
    return found, fine & (model.edge == "clamp") | fine & free.all() & ~at_end


def _best(objective: Any, starts: Any, links: list[Link], low: Any, high: Any) -> Any:
    """Return the start of highest likelihood, in coordinates; NaN where an only start is not a number."""
    lib, tools = jax().numpy, jax()
    # starts lie strictly inside: a coordinate at an end would be held there if the gradient points outwards
    middle, inner = (low + high) / 2, 1e-3 * (high - low)
    places = lib.stack([to_coordinates(links, starts[i]) for i in range(len(starts))])
    known = lib.isfinite(starts).all()  # false where rows are all equal: no start from moments
    outside = lib.where(starts > 0, high, low)  # for starts outside the domain of the link
    places = lib.clip(lib.where(lib.isfinite(places), places, outside), low + inner, high - inner)
    if len(starts) == 1:
        return lib.where(known, places[0], lib.nan * middle)
    values = tools.vmap(objective)(places)
    # of equal values argmax takes the first: the order of the starts is public
    return places[lib.argmax(lib.where(lib.isfinite(values), values, -lib.inf))]


def _split(model: Likelihood, x: Any, w: Any, number: Any, whole: Any, fine: Any) -> tuple[Any, Any]:
    """Return twice the estimate less the mean estimate of two halves, drawn anew for each block."""
    lib, tools = jax().numpy, jax()
    first = w * _half(x, w, number)

    def of(part: Any) -> Any:
        return fitted(model, x, part)

    # halves have bias 2 b / t, the whole b / t: the combination cancels the term of order 1 / t
    halves, sound = tools.vmap(of)(lib.stack([first, w - first]))
    return 2 * whole - halves.mean(0), fine & sound.all()


def _half(x: Any, w: Any, number: Any) -> Any:
    """Return a mask of half of the rows, drawn by a public hash of the block's number and its rows.

    The rows make the draw a new one in each table, see `block_statistics.split`.
    """
    lib, tools = jax().numpy, jax()
    # -0.0 + 0.0 = 0.0; products and sums wrap modulo 2**64
    bits = tools.lax.bitcast_convert_type(x.astype(lib.float64) + 0.0, lib.uint64).reshape(x.shape[0], -1)
    place = lib.arange(bits.size, dtype=lib.uint64).reshape(bits.shape) + lib.uint64(1)
    digest = lib.where(w[:, None] > 0, mixed(bits + place * ODD), lib.uint64(0)).sum(dtype=lib.uint64)
    own = mixed(digest + number.astype(lib.uint64))
    state = mixed(own + lib.arange(x.shape[0], dtype=lib.uint64) * ODD)
    # state >> 1 is below 2**63, so that padding sorts last
    keys = lib.where(w > 0, state >> 1, lib.uint64(2**64 - 1))
    # argsort of argsort: the rank of each key
    ranks = lib.argsort(lib.argsort(keys))
    return (ranks < w.sum() // 2) * 1.0


def _jackknife(model: Likelihood, x: Any, w: Any, whole: Any, fine: Any) -> tuple[Any, Any]:
    """Return t times the estimate less t - 1 times the mean of the t estimates without one row [Quenouille 1956]."""
    lib, tools = jax().numpy, jax()

    def without(place: Any) -> Any:
        return fitted(model, x, w.at[place].set(0.0), whole)

    # for padding, "without" changes nothing; its fits are ignored below
    each, sound = tools.lax.map(without, lib.arange(x.shape[0]), batch_size=min(TOGETHER, x.shape[0]))
    total = w.sum()
    used = w > 0
    mean = lib.where(used[:, None], each, 0.0).sum(0) / total
    return total * whole - (total - 1) * mean, fine & (sound | ~used).all()
