"""What counts of rows far along an axis would tell of regressors' tails: a prototype; no release has such counts.

    python benchmarks/tail_counts.py [given | drawn | drawn-far ...] [--set 2] [--repeats 40] [--only PLACE ...]

Errors of linear models allow for other slopes of rows further out than vectors reach: BENT times what is lost of a
regressor's variance, L, times its slope (`pilots/far_rows.py`).  L is guessed from the column's released variance and
what products find of it (`row_sums/long_tails.py`), which in wide bounds says next to nothing.  Here each release is
read four times:
    now      as it is;
    linear   `estimate(linear=True)`, without the allowance;
    counted  with L from counts beside the scores: for each axis j the number of rows with v_j**2 > C**2 / 2, v the
             vector shortened to C.  A row counts for one axis at most, so that two rows change all counts by 2 at most
             in squares; of the weight R / 4, as clipped residuals are counted, they would raise the noise of the
             scores by sqrt(4.25 / 4.125) - 1, 1.5%, which is not in these figures.  Their own noise is;
    whole    with L and the second moments of the very table, which no release can tell: the most that knowing tails can
             bring.
Laws of regressors are those of `long_tails`; the scale of each is the one at which products find what they found, the
counts and the column's variance weigh the laws.
A line has the mean of L over repetitions, of the first regressors; then coverage of slopes, mean (least), SE/SD, joint
tests at 5%, and the median length of intervals over those of now.  Designs of `frontier.py`: a set that it has not
simulated is fresh.  Prints to the terminal.  Deterministic: seeds are constants.
"""

from __future__ import annotations

import argparse
import math
from dataclasses import dataclass
from unittest import mock

import numpy as np
from frontier import cells_of, joint_p
from scipy.special import gammaincinv, ndtr

from tacit.fits.fit import Fit
from tacit.method.regression.estimate import fit_release
from tacit.method.regression.estimate_coefficients import errors_of_far_rows as allowance
from tacit.method.regression.pilots.far_rows import UNSEEN, FarRows
from tacit.method.regression.row_sums.long_tails import PLACES, TAILS, WITHOUT, LongTail, _squares
from tacit.method.regression.row_sums.noisy_crossproducts import raised
from tacit.method.regression.row_sums.noisy_norms import reach_of_products, turned
from tacit.method.regression.row_sums.norm_scaling import sizes
from tacit.method.regression.row_sums.row_reach import MOSTLY_NOISE
from tacit.rows.coordinates import H
from tacit.testing.simulated_regressions import rows_of

Array = np.ndarray
Z = 1.959964
RULES = "now", "linear", "counted", "whole"
PRIOR = 0.5
"""Mean of s before anything is known, where there are counts."""
MISFIT = 0.25
"""How far a count may be off for laws of other shapes that have the same scale, relative to it."""
WIDER, STEPS = 60.0, 12
"""Largest ratio of a regressor's variance to what products find of it, and steps of bisection for it."""


@dataclass(frozen=True)
class ScaledTail(LongTail):
    """A tail whose law has its own scale: wide is the regressor's deviation over that which products found, (17,)."""

    wide: Array

    def lost(self, norm: float, reach: float) -> float:
        """Return the root mean square of the part of the variance that scores lose."""
        square, weight = points(self.wide**2)
        w = np.minimum(1, reach / np.sqrt(1 + square + others(norm - 2)))
        kept = (weight * w * square).sum(axis=(1, 2)) / self.wide**2
        return math.sqrt(float(self.weights @ (1 - kept) ** 2))


@dataclass(frozen=True)
class KnownTail(LongTail):
    """A tail of which it is known what is lost."""

    part: float

    def lost(self, norm: float, reach: float) -> float:
        return self.part


def others(rest: float) -> Array:
    """Return squares of the norm of a vector's other entries, of this mean, at points of their law."""
    if rest <= 0:
        return np.zeros(PLACES)
    degrees = max(rest, 0.3)
    return 2 * gammaincinv(degrees / 2, (np.arange(PLACES) + 0.5) / PLACES) * (rest / degrees)


def points(scale: Array) -> tuple[Array, Array]:
    """Return squares of a regressor of each law at points of it, times scale, and the weights of these points."""
    squares, density = _squares()
    return squares[:, :, None] * scale[:, None, None], density[None, :, None] / PLACES


def shares(scale: Array, rest: float, reach: float) -> tuple[Array, Array]:
    """Return what products find of each law's variance, and the share of rows beyond C**2 / 2 along it."""
    square, weight = points(scale)
    w = np.minimum(1, reach**2 / (1 + square + others(rest)))
    found = (weight * w * square).sum(axis=(1, 2)) / (weight * w).sum(axis=(1, 2))
    return found, (weight * (w * square > reach**2 / 2)).sum(axis=(1, 2))


@dataclass(frozen=True)
class Seen:
    """Of a regressor: what products found of its variance and the noise in it; that of the column's variance, and
    whether that was set by its noise; its bounds, in released deviations; what the other entries of products are.
    """

    found: float
    noise: float
    doubt: float
    hidden: bool
    most: float
    rest: float


@dataclass(frozen=True)
class Counts:
    """Counts of each axis over the rows, their noise, and the number of rows."""

    values: Array
    noise: float
    rows: float


def tail_of(seen: Seen, reaches: tuple[float, float], norm: float, count: float, counts: Counts) -> ScaledTail:
    """Return what a count tells of a tail; reaches: of products and of scores; norm: of the scores' vectors."""
    low = np.full(len(TAILS), math.log(seen.found) - 0.5)
    high = low + math.log(WIDER)
    for _ in range(STEPS):
        middle = (low + high) / 2
        below = shares(np.exp(middle), seen.rest, reaches[0])[0] < seen.found
        low, high = np.where(below, middle, low), np.where(below, high, middle)
    scale = np.exp((low + high) / 2)
    relative = seen.noise / seen.found
    log = -np.maximum(TAILS, 0.0) / PRIOR
    missed = np.log(shares(scale, seen.rest, reaches[0])[0] / seen.found) / max(relative, 0.03)
    log -= missed**2 / 2
    if seen.hidden:  # the released variance is at most what stands for it
        log += np.log(np.maximum(ndtr((1 - scale) / seen.doubt), 1e-300))
    else:
        log -= (scale - 1) ** 2 / 2 / (seen.doubt**2 + 0.02**2 + (relative * scale) ** 2)
    share = shares(scale / seen.found, norm - 2, reaches[1])[1]
    loose = counts.noise**2 + share / counts.rows + (MISFIT * share) ** 2 + 2e-4**2
    log -= (count - share) ** 2 / 2 / loose
    square, density = _squares()
    beyond = (density * square * (square > seen.most**2 / scale[:, None])).sum(axis=1)
    log = np.where((beyond <= WITHOUT) | (TAILS < 0), log, -np.inf)
    weight = np.exp(log - log.max())
    return ScaledTail(weight / weight.sum(), np.sqrt(scale / seen.found))


def counted_rows(columns, layout, products, reach_found, reach_scores: float, counts: Counts) -> FarRows:
    """Return what `pilots.far_rows.far_rows` does, with counts."""
    m, sized = layout.size, sizes(columns, layout)
    summed = products.of_rows(columns.rows)
    factor = float(summed.values[0, 0]) / max(float(products.values[0, 0]), 1.0)
    diagonal, scales = np.diag(summed.values) / columns.rows, np.ones(m)
    tails: list[LongTail | None] = [None]
    for j in range(1, m):
        numbers, marks = layout.coordinates[j]
        if not numbers:
            tails.append(None)
            continue
        noise = factor * math.sqrt(products.quadratic_variance(np.eye(m + 1)[j])) / columns.rows
        doubt, most, alone = float(columns.doubts[j - 1]), math.inf, len(numbers) + len(marks) == 1
        if alone:
            most = (layout.bounds[j] + abs(float(columns.mean[j - 1]))) / float(columns.sd[j - 1])
        seen = Seen(
            max(float(diagonal[j]), noise / 2, 0.01),
            noise,
            doubt if alone else math.hypot(doubt, UNSEEN),
            alone and doubt > 0.995 * MOSTLY_NOISE,
            most,
            float(np.clip(np.delete(diagonal, [0, j]), 0, None).sum()),
        )
        tail = tail_of(seen, (reach_found, reach_scores), sized[0], float(counts.values[j]), counts)
        tails.append(tail)
        scales[j] = math.sqrt(float(tail.weights @ tail.wide**2))
    second = scales[:, None] * raised(summed.leading(m), columns.rows) * scales
    return FarRows(tuple(tails), second, sized)


def vectors(release, z: Array, m: int) -> Array:
    """Return vectors of scores before they are shortened, in units of C, shape (rows, m)."""
    return z[:, :m] / H @ turned(release.parts[-1].parameters, m).T / H


def counts_of(release, z: Array, m: int, rng: np.random.Generator) -> Counts:
    """Return counts with their noise."""
    v, part = vectors(release, z, m), release.parts[-1]
    w = np.minimum(1, 1 / np.linalg.norm(v, axis=1))
    noise = math.sqrt(part.law.variance()) / part.parameters["far"]
    found = ((v * w[:, None]) ** 2 > 0.5).sum(axis=0) + rng.normal(0, noise, m)
    return Counts(found / len(z), noise / len(z), len(z))


def whole_rows(columns, layout, release, z: Array, turn: Array) -> FarRows:
    """Return the same of the very table, in released deviations."""
    m = layout.size
    w = np.minimum(1, 1 / np.linalg.norm(vectors(release, z, m), axis=1))
    rows = z[:, :m] / H @ turn[:m, :m].T
    kept = (w[:, None] * rows**2).mean(axis=0) / (rows**2).mean(axis=0)
    tails = [KnownTail(np.ones(1), float(1 - kept[j])) if j and layout.coordinates[j][0] else None for j in range(m)]
    return FarRows(tuple(tails), rows.T @ rows / len(rows), sizes(columns, layout))


def read(release, rows, rng: np.random.Generator) -> tuple[dict[str, Fit], Array]:
    """Return the fits by each rule, and L by each rule that has it, shape (3, m - 1)."""
    made, fits = rows.layout, {"now": fit_release(release), "linear": fit_release(release, linear=True)}
    at, found = allowance.reached(release, made), reach_of_products(release.parts[1], made)
    known = {
        "now": allowance.far_rows(at.columns, made, at.products, found),
        "counted": counted_rows(
            at.columns, made, at.products, found, at.reach, counts_of(release, rows.z, made.size, rng)
        ),
        "whole": whole_rows(at.columns, made, release, rows.z, at.turn),
    }
    for name in ("counted", "whole"):
        with mock.patch.object(allowance, "far_rows", return_value=known[name]):
            fits[name] = fit_release(release)
    return fits, np.array([one.lost(at.reach)[1:] for one in known.values()])


def lines(part: str, number: int, place: int, repeats: int) -> list[str]:
    """Return the lines of a design."""
    cell, rng = cells_of(part, number)[place], np.random.default_rng([617, number, place])
    truth = np.array(list(cell.study.truth.values()))[1:]
    told, lost = {name: list[tuple[Array, Array, float]]() for name in RULES}, list[Array]()
    for _ in range(repeats):
        rows = rows_of(cell.study.query, cell.study.draw(rng, cell.rows), cell.study.schema, cell.cost, cell.neighbors)
        release = rows.release(rng)
        if any(fit_release(release).reasons):
            continue
        fits, parts = read(release, rows, rng)
        lost.append(parts)
        for name, fit in fits.items():
            error = fit.values[1:] - truth
            told[name].append((error, fit.std_errors[1:], joint_p(fit, error)[0]))
    out = [f"{place} | {cell.words} | {cell.rows:,} | {cell.cost} | {cell.neighbors} | {len(lost)} of {repeats}"]
    if len(lost) < 12:
        return out
    for name, one in zip(("now", "counted", "whole"), np.mean(lost, axis=0)[:, :7], strict=True):
        out.append(f"    L {name}: {' '.join(f'{each:.3f}' for each in one)}")
    first = np.array([size for _, size, _ in told["now"]])
    for name in RULES:
        errors, lengths = (np.array([one[i] for one in told[name]]) for i in (0, 1))
        cover = 100 * (np.abs(errors) < Z * lengths).mean(axis=0)
        joint = 100 * np.mean([one[2] < 0.05 for one in told[name]])
        ratio, length = (lengths.mean(axis=0) / errors.std(axis=0)).mean(), np.median(lengths / first, axis=0).mean()
        out.append(
            f"    {name}: {cover.mean():.1f} ({cover.min():.1f}) | {ratio:.2f} | {joint:.1f} | length {length:.2f}"
        )
    return out


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("parts", nargs="*", default=["given", "drawn-far"])
    parser.add_argument("--set", type=int, default=2)
    parser.add_argument("--repeats", type=int, default=40)
    parser.add_argument("--only", type=int, nargs="*", default=None, help="places of designs")
    options = parser.parse_args()
    for part in options.parts:
        for place in range(len(cells_of(part, options.set))):
            if options.only is None or place in options.only:
                print("\n".join(lines(part, options.set, place, options.repeats)), flush=True)


if __name__ == "__main__":
    main()
