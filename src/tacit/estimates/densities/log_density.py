"""A density from noisy shares of bins, averaged over models by their marginal likelihoods.  Plain arrays.

The models
    are those of `density_models`: a logarithm with a penalty, for each of LAMBDAS from smooth to rough, families of few
    parameters, and a product with the square of a process, for each of LENGTHS; and `two_hills`, from the better of its
    starts.
The shares
    y_b of a bin is taken to be normal about the integral q_b of f with variance q_b / n + w_b, w_b that of the noise
    (and half a row, which keeps the variance of empty bins above 0).  Noise that bins share is left out.  Variances are
    those of a first estimate, so that all models are of the same errors.
The average
    The mode of each model is found, and modes are averaged with weights by their marginal likelihoods by Laplace's
    method [Tierney & Kadane 1986] and their residuals (`model_weights`): nobody chooses a smoothness, and noisy shares
    give a smooth density.  Families, hills, and penalties of PLAIN and more, which leave little beside the free
    functions, have half of the prior weight.  Beside them are pieces that are even, or even beside the best family
    (`even_pieces`), or straight between kinks (`linear_pieces`), of which all are averaged over.
Noise of Laplace's law
    is taken as normal until all models are found; modes are then those of its own law (`share_errors`), and weights are
    halfway by either: by its own law alone what is in a single bin is too often noise.
The ends
    In the first or the last bin a density that is more than STEEP times its average there, at the bound, is taken as
    even: values beyond the bounds of a column are in these bins, and look like a pole.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Final

import numpy as np
from numpy.typing import NDArray

from tacit.base.arrays import Array
from tacit.estimates.densities.density_jumps import MOST_JUMPS, StraightModel, gains, steps, with_steps
from tacit.estimates.densities.density_models import (
    CELLS,
    FAMILIES,
    FREE,
    MOST,
    NORMAL,
    PLAIN,
    DensityModel,
    LogLinearModel,
    SquaredProcess,
    families_of,
    functions_of,
    middles,
    process_of,
    spline,
)
from tacit.estimates.densities.even_pieces import AveragedPieces, pieces
from tacit.estimates.densities.linear_pieces import kinked
from tacit.estimates.densities.model_weights import Fitted, Mode, mixed, weights
from tacit.estimates.densities.share_errors import ShareErrors
from tacit.estimates.densities.two_hills import TwoHills

LAMBDAS: Final = tuple((10.0 ** -np.arange(0, 10)).tolist())
LENGTHS: Final = (0.25, 0.15, 0.09, 0.055)
"""Lengths of the processes."""
MODELS: Final = len(FAMILIES) + 3 + len(LAMBDAS) + len(LENGTHS)
SMOOTHER: Final = (1e-4, 1e-1)
"""Penalties that are tried beside that of the model without steps: what a step explains need not be rough."""
RARE: Final = 2.0
"""What a step costs in evidence beside the choice of its edge: noise of few rows looks like jumps now and then."""
STEPS: Final = 40
"""Most steps to a mode."""
LARGEST: Final = 1e8
"""Damping at which no step is looked for any more."""
NEAR: Final = 1e-3
"""A step that gains less is the last."""
POSSIBLE: Final = 1.0
"""What a step gains, in the logarithm of the posterior, above which there may be one: the price of a parameter
[Akaike 1974]."""
LITTLE: Final = 1e-5
"""Weight of a model by normal noise below which it is nothing by another law."""
STEEP: Final = 2.0
"""Of a density at the bound, over its average in the end bin: a pole of the power -0.4 has about as much."""
WORSE: Final = 12.0
"""Below LEAST a log marginal likelihood so far below the largest ends the search."""
LEAST: Final = 1e-6


@dataclass(frozen=True)
class BinnedLikelihood:
    """Noisy shares of bins.

    edges: from 0 to 1, shape (bins + 1,).  values: shape (bins,).  rows: their number.  noise: variance of each share's
    noise, shape (bins,).  laplace: whether noise has Laplace's law, and is not normal.
    """

    edges: Array
    values: Array
    rows: float
    noise: Array
    laplace: bool = False

    @cached_property
    def over_bins(self) -> Array:
        """The parts of the cells that lie in each bin, shape (bins, CELLS)."""
        at, ends = self.edges * CELLS, np.arange(CELLS)
        return np.diff(np.clip(at[:, None] - ends, 0.0, 1.0), axis=0)

    def binned(self, cells: Array) -> Array:
        """Return the shares of the bins from those of the cells."""
        return self.over_bins @ cells

    def variance(self, shares: Array) -> Array:
        """Return the variance of the values about shares."""
        return self._sampling(shares) + self.noise

    def normal(self, shares: Array) -> ShareErrors:
        """Return the law of the values about shares, noise as normal."""
        return ShareErrors(self.variance(shares))

    def own(self, shares: Array) -> ShareErrors:
        """Return the law of the values about shares, noise of Laplace's law."""
        return ShareErrors(self._sampling(shares), np.sqrt(self.noise / 2))

    def _sampling(self, shares: Array) -> Array:
        return (shares + 0.5 / self.rows) / self.rows

    def mode(self, model: DensityModel, theta: Array, errors: ShareErrors) -> Mode:
        """Return the mode of a model, by damped Gauss-Newton steps."""
        here, damping = self._at(model, theta, errors), 1e-4
        for _ in range(STEPS):
            made, damping = self._step(model, here, errors, damping)
            gain, here = here.loss - made.loss, made
            if gain < NEAR:
                break
        return here

    def fitted(self, model: DensityModel, mode: Mode, errors: ShareErrors) -> Fitted:
        """Return the marginal likelihood of a model at its mode."""
        slopes, precision, left = self._slopes(model, mode), model.precision, self.values - mode.shares
        curvature = slopes.T @ (slopes * errors.derivatives(left)[1][:, None]) + np.diag(precision)
        spread = float(np.linalg.slogdet(curvature)[1] - np.log(precision).sum())
        held = precision @ np.diag(np.linalg.inv(curvature)) if len(precision) else 0.0
        near = -errors.loss(left) - (len(precision) - float(held))
        return Fitted(model, mode, -mode.loss - spread / 2, near=near)

    def _step(self, model: DensityModel, here: Mode, errors: ShareErrors, damping: float) -> tuple[Mode, float]:
        """Return where a step leads that lowers the loss, here if none does, and the damping of the next."""
        slopes, precision = self._slopes(model, here), model.precision
        pull, weight = errors.derivatives(self.values - here.shares)
        curvature = slopes.T @ (slopes * weight[:, None])
        gradient = precision * here.theta - slopes.T @ pull
        while damping < LARGEST:
            more = precision + damping * (np.diag(curvature) + 1e-3)
            moved = here.theta - np.linalg.solve(curvature + np.diag(more), gradient)
            made = self._at(model, moved, errors)
            if made.loss < here.loss:
                return made, max(damping / 5, 1e-9)
            damping *= 5
        return here, damping

    def _at(self, model: DensityModel, theta: Array, errors: ShareErrors) -> Mode:
        """Return coordinates with the shares they make and the negative log posterior, up to a constant."""
        cells = model.cells(theta)
        shares = self.binned(cells)
        loss = errors.loss(self.values - shares) + float((model.precision * theta**2).sum()) / 2
        return Mode(theta, cells, shares, loss)

    def _slopes(self, model: DensityModel, mode: Mode) -> Array:
        """Return the derivatives of the shares of bins by the coordinates."""
        return self.over_bins @ model.slopes(mode.theta, mode.cells)


def log_density(edges: Array, values: Array, rows: float, noise: Array) -> Array:
    """Return a density on CELLS even cells of [0, 1], of mean 1, from noisy shares of bins.

    edges: of the bins, from 0 to 1.  values: shares, signed, that add up to about 1.  rows: their number, above 0.
    noise: variance of each value's noise.

    >>> edges = np.linspace(0, 1, 33)
    >>> found = log_density(edges, np.full(32, 1 / 32), 10_000, np.full(32, 1e-8))
    >>> len(found), bool(np.abs(found - 1).max() < 0.01)
    (256, True)
    """
    data = BinnedLikelihood(edges, values, rows, noise)
    return density_of(of_models(data), data)


def density_of(models: list[Fitted], data: BinnedLikelihood) -> Array:
    """Return the density that models make."""
    return even_at_poles(averaged(of_own_noise(models, data)), data.edges)


def of_own_noise(models: list[Fitted], data: BinnedLikelihood) -> list[Fitted]:
    """Return models with modes by the law that noise has, from those by normal noise, and evidence halfway.

    Those that have next to no weight are left out.
    """
    if not data.laplace:
        return models
    shares = _weights(models)
    errors = data.own(data.binned(mixed(models, shares) / CELLS))
    return [_halfway(one, data, errors) for one, share in zip(models, shares, strict=True) if share > LITTLE]


def _halfway(one: Fitted, data: BinnedLikelihood, errors: ShareErrors) -> Fitted:
    if isinstance(one.model, AveragedPieces):
        below = errors.below_normal(data.values - one.mode.shares)
        return replace(one, evidence=one.evidence + below / 2)
    made = data.fitted(one.model, data.mode(one.model, one.mode.theta, errors), errors)
    evidence = made.evidence - one.steps * _price(data)
    return replace(one, mode=made.mode, evidence=(one.evidence + evidence) / 2, near=(one.near + made.near) / 2)


def averaged(models: list[Fitted]) -> Array:
    """Return the average of the modes' densities, by prior and marginal likelihood."""
    return mixed(models, _weights(models))


def _weights(models: list[Fitted]) -> Array:
    plain = len(FAMILIES) + 2 + sum(one >= PLAIN for one in LAMBDAS)
    return weights(models, plain, MODELS - plain)


def possible_jumps(models: list[Fitted], data: BinnedLikelihood) -> NDArray[np.int64]:
    """Return at which ends of bins, of which 0 is the first, there may be a jump.

    Gains are those of one step more in the best model of the logarithm without steps, and in that with some.
    """
    rough = [one for one in models if isinstance(one.model, LogLinearModel) and len(one.model.precision) > len(FREE)]
    smooth = max((one for one in rough if not one.steps), key=lambda one: one.evidence)
    variance, every = data.variance(data.binned(averaged(models) / CELLS)), steps(data.edges)
    tried = (smooth, *(one for one in rough if one.steps))
    most = np.max([_gains(data, one, every, variance) for one in tried], axis=0)
    return np.flatnonzero(most > POSSIBLE) + 1


def of_models(data: BinnedLikelihood) -> list[Fitted]:
    """Return the models that were tried: penalties from smooth to rough, families, processes from smooth to rough."""
    ends = float(data.edges[1]), float(1 - data.edges[-2])
    over, _ = functions_of(min(len(data.values), MOST), *ends)
    first = list(_first_modes(data, over))
    # the variances follow the first estimate, the same for all models
    errors = data.normal(data.binned(averaged(first) / CELLS))
    starts = [(one.model, one.mode.theta) for one in first]
    starts += [(one, np.log(first[0].mode.cells) @ one.over / CELLS) for one in families_of(*ends)]
    free, plain = over[:, : len(FREE)], first[0].mode.theta[: len(FREE)]
    for length in LENGTHS:
        process = process_of(min(len(data.values), MOST), length)
        starts.append((SquaredProcess(free, process), np.append(plain, np.zeros(process.shape[1]))))
    found = [data.fitted(model, data.mode(model, theta, errors), errors) for model, theta in starts]
    hills = TwoHills(families_of(*ends)[NORMAL].over, float(np.diff(data.edges).min()) / 4)
    tries = hills.starts(averaged(found) / CELLS, found[len(first) + NORMAL].mode.cells)
    each = [data.fitted(hills, data.mode(hills, theta, errors), errors) for theta in tries]
    straight = StraightModel()
    line = data.fitted(straight, data.mode(straight, np.zeros(1), errors), errors)
    jumps = _with_jumps(data, over, found[: len(first)], errors)
    plain = max((one for one in (*found, line) if one.model.plain), key=lambda one: one.evidence)
    smooth = [*found, max(each, key=lambda one: one.evidence), line, *jumps]
    if len(data.values) > CELLS:
        # bins finer than the cells are left to these models
        return smooth
    cut = [*smooth, *(_cut(data, one, errors.variance) for one in (found[len(first)], plain))]
    return [*cut, _kinked(data, found[len(first)], averaged(cut), errors.variance)]


def _cut(data: BinnedLikelihood, base: Fitted, variance: Array) -> Fitted:
    """Return the average over all pieces that are even beside a density of few parameters."""
    gain, heights = pieces(data.values, variance, base.mode.shares)
    over = data.over_bins.T @ np.maximum(heights, 0.0) / data.over_bins.sum(axis=0)
    return _averaged_over(data, base, base.mode.cells * over, gain)


def _kinked(data: BinnedLikelihood, even: Fitted, near: Array, variance: Array) -> Fitted:
    """Return the average over all densities that are straight between kinks.  near: another estimate."""
    gain, density = kinked(data.values, variance, data.edges, near)
    return _averaged_over(data, even, density, gain, kinks=True)


def _averaged_over(data: BinnedLikelihood, base: Fitted, density: Array, gain: float, *, kinks: bool = False) -> Fitted:
    """Return a density of which heights have been averaged over.  gain: in evidence, beside a base."""
    cells = density / density.sum()
    made = Mode(np.zeros(0), cells, data.binned(cells), base.mode.loss)
    return Fitted(AveragedPieces(cells, kinks), made, base.evidence + gain)


def _with_jumps(data: BinnedLikelihood, over: Array, splines: list[Fitted], errors: ShareErrors) -> list[Fitted]:
    """Return the best model of the logarithm with steps, its evidence less what the choice of their edges costs."""
    penalty, best = max(zip(LAMBDAS, splines, strict=False), key=lambda one: one[1].evidence)
    price = _price(data)
    every, chosen, made = steps(data.edges), list[int](), list[Fitted]()
    while len(chosen) < MOST_JUMPS:
        mode, each = best.mode, _gains(data, best, every, errors.variance)
        each[chosen] = 0.0
        if each.max() < price:
            break
        chosen.append(int(each.argmax()))
        tried = list[Fitted]()
        for smoother in (penalty, *(one for one in SMOOTHER if one > penalty)):
            model = with_steps(over, smoother, every[:, chosen])
            start = np.append(mode.theta, 0.0)
            one = data.fitted(model, data.mode(model, start, errors), errors)
            tried.append(replace(one, evidence=one.evidence - price * len(chosen), steps=len(chosen)))
        better = max(tried, key=lambda one: one.evidence)
        if better.evidence <= best.evidence:
            break
        best, made = better, [better]
        penalty = float(better.model.precision[len(FREE)])
    return made


def _price(data: BinnedLikelihood) -> float:
    """Return what a step costs in evidence."""
    return RARE + math.log(len(data.values) - 1)


def _gains(data: BinnedLikelihood, one: Fitted, every: Array, variance: Array) -> Array:
    """Return what one step more gains at most, shape (edges,).  every: the steps at all edges."""
    mode = one.mode
    moved = data.over_bins @ (mode.cells[:, None] * (every - mode.cells @ every))
    slopes = data.over_bins @ one.model.slopes(mode.theta, mode.cells)
    return gains(slopes, one.model.precision, moved, data.values - mode.shares, variance)


def _first_modes(data: BinnedLikelihood, over: Array) -> Iterator[Fitted]:
    """Yield the model of the logarithm for each penalty, its variances by the shares of the one before."""
    theta, shares = _start(data, over)
    largest = -np.inf
    for penalty in LAMBDAS:
        model, errors = spline(over, penalty), data.normal(shares)
        found = data.fitted(model, data.mode(model, theta, errors), errors)
        theta, shares = found.mode.theta, found.mode.shares
        yield found
        largest = max(largest, found.evidence)
        if penalty < LEAST and found.evidence < largest - WORSE:
            break


def even_at_poles(density: Array, edges: Array) -> Array:
    """Return the density, even in an end bin where it has a steep pole."""
    made = density.copy()
    for own, width in ((made, edges[1]), (made[::-1], 1 - edges[-2])):
        bin_ = own[: round(CELLS * float(width))]
        if len(bin_) and bin_[0] > STEEP * bin_.mean():
            bin_[:] = bin_.mean()
    return made


def _start(data: BinnedLikelihood, over: Array) -> tuple[Array, Array]:
    """Return coordinates to start from, of the free functions alone, and even shares beside smoothed ones."""
    widths = np.diff(data.edges)
    centers, t = data.edges[:-1] + widths / 2, middles()
    near = np.exp(-(((t[:, None] - centers) / 0.08) ** 2) / 2)
    smoothed = np.maximum(near @ data.values, 0.0) / (near @ widths)
    smoothed = (smoothed + 0.05) / (smoothed + 0.05).mean()
    theta = np.zeros(over.shape[1])
    theta[: len(FREE)] = over[:, : len(FREE)].T @ np.log(smoothed) / CELLS
    return theta, data.binned(smoothed / CELLS)
