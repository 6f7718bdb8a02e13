"""What counts of rows far along an axis tell of regressors' tails, and what it does to intervals.

    python benchmarks/tail_counts.py [given | drawn | drawn-far ...] [--set 4] [--repeats 20] [--only PLACE ...]

Errors of linear models allow for other slopes of rows further out than vectors reach: BENT times what is lost of a
regressor's variance, L, times its slope (`pilots/far_rows.py`).  Each release is read four times:
    without  with L as it was guessed before releases had counts, and is where they have none: from the column's
             released variance and what products find of it (`row_sums/long_tails.py`);
    linear   `estimate(linear=True)`, without the allowance;
    counted  as it is: with L from the numbers of rows far along each axis (`row_sums/counted_tails.py`);
    whole    with L and the second moments of the very table, which no release can tell: the most that knowing tails can
             bring.
A line has the mean of L over repetitions, of the first regressors; then coverage of slopes, mean (least), SE/SD, joint
tests at 5%, and the median length of intervals over those without counts.  Designs of `frontier.py`: set 4 was
simulated once, after the method was made; sets 2 and 3 were looked at before.  Noise of the scores is 1.5% larger for
the counts; lengths are of the same releases, so that this is in neither.  Prints to the terminal.  Deterministic: seeds
are constants.
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from unittest import mock

import numpy as np
from frontier import cells_of, joint_p

from tacit.fits.fit import Fit
from tacit.method.regression.estimate import fit_release
from tacit.method.regression.estimate_coefficients import errors_of_far_rows as allowance
from tacit.method.regression.pilots.far_rows import FarRows
from tacit.method.regression.row_sums.long_tails import LongTail
from tacit.method.regression.row_sums.noisy_norms import turned
from tacit.method.regression.row_sums.released_columns import sizes
from tacit.rows.coordinates import H
from tacit.testing.simulated_regressions import rows_of

Array = np.ndarray
Z = 1.959964
RULES = "without", "linear", "counted", "whole"
LOST = "without", "counted", "whole"


@dataclass(frozen=True)
class KnownTail(LongTail):
    """A tail of which it is known what is lost."""

    part: float

    def lost(self, norm: float, reach: float) -> float:
        return self.part


def vectors(release, z: Array, m: int) -> Array:
    """Return vectors of scores before they are shortened, in units of C, shape (rows, m)."""
    return z[:, :m] / H @ turned(release.parts[-1].parameters, m).T / H


def whole_rows(columns, layout, release, z: Array, turn: Array) -> FarRows:
    """Return the same of the very table, in released deviations."""
    m = layout.size
    w = np.minimum(1, 1 / np.linalg.norm(vectors(release, z, m), axis=1))
    rows = z[:, :m] / H @ turn[:m, :m].T
    kept = (w[:, None] * rows**2).mean(axis=0) / (rows**2).mean(axis=0)
    tails = [KnownTail(np.ones(1), float(1 - kept[j])) if j and layout.coordinates[j][0] else None for j in range(m)]
    return FarRows(tuple(tails), rows.T @ rows / len(rows), sizes(columns, layout))


def read(release, rows) -> tuple[dict[str, Fit], Array]:
    """Return the fits by each rule, and L by each rule that has it, shape (3, m - 1)."""
    made, fits = rows.layout, {"counted": fit_release(release), "linear": fit_release(release, linear=True)}
    at = allowance.reached(release, made)
    known = {"counted": allowance.known_far_rows(release, made, at)}
    with mock.patch.object(allowance, "read_far_along", return_value=None):
        fits["without"], known["without"] = fit_release(release), allowance.known_far_rows(release, made, at)
    known["whole"] = whole_rows(at.columns, made, release, rows.z, at.turn)
    with mock.patch.object(allowance, "known_far_rows", return_value=known["whole"]):
        fits["whole"] = fit_release(release)
    return fits, np.array([known[name].lost(at.reach)[1:] for name in LOST])


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
        fits, parts = read(release, rows)
        lost.append(parts)
        for name, fit in fits.items():
            error = fit.values[1:] - truth
            told[name].append((error, fit.std_errors[1:], joint_p(fit, error)[0]))
    out = [f"{place} | {cell.words} | {cell.rows:,} | {cell.cost} | {cell.neighbors} | {len(lost)} of {repeats}"]
    if len(lost) < 12:
        return out
    for name, one in zip(LOST, np.mean(lost, axis=0)[:, :7], strict=True):
        out.append(f"    L {name}: {' '.join(f'{each:.3f}' for each in one)}")
    first = np.array([size for _, size, _ in told["without"]])
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
    parser.add_argument("--set", type=int, default=4)
    parser.add_argument("--repeats", type=int, default=20)
    parser.add_argument("--only", type=int, nargs="*", default=None, help="places of designs")
    options = parser.parse_args()
    for part in options.parts:
        for place in range(len(cells_of(part, options.set))):
            if options.only is None or place in options.only:
                print("\n".join(lines(part, options.set, place, options.repeats)), flush=True)


if __name__ == "__main__":
    main()
