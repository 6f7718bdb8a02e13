"""Parts of the privacy variance of logistic models against what releases of one table differ by.

    python benchmarks/logistic_error_parts.py [--releases 60]

Designs are drawn from seeds, and were committed before any was simulated.  One table of each is released again and
again.  A line has the mean squared deviation of a release from the fit without privacy over its stated variance, as a
root, over coefficients (least, mean, largest), the same without what is allowed for the curvature's guess, and with
that of earlier versions (15% of the step in each direction), and the share of stated variances that stands for it.
"""

from __future__ import annotations

import argparse
from unittest import mock

import numpy as np
from frontier_designs import Cell
from frontier_model_designs import drawn_models
from guess_rules import in_each_direction, none_left

from tacit.method.regression.estimate import fit_release
from tacit.method.regression.estimate_coefficients import score_step
from tacit.testing.simulated_regressions import rows_of

SET, MOST_ROWS = 385, 20_000


def line(cell: Cell, number: int, releases: int) -> str:
    """Return the line of a cell."""
    rng = np.random.default_rng([SET, number])
    rows = min(cell.rows, MOST_ROWS)
    table = rows_of(cell.study.query, cell.study.draw(rng, rows), cell.study.schema, cell.cost, cell.neighbors)
    ordinary, _ = table.ordinary()
    found, stated, least, even = [], [], [], []
    for _ in range(releases):
        release = table.release(rng)
        fit = fit_release(release)
        if any(fit.reasons):
            continue
        with mock.patch.object(score_step, "left_in_step", none_left):
            bare = fit_release(release)
        with in_each_direction():
            even.append(np.diag(fit_release(release).cov_privacy))
        found.append(fit.values - ordinary)
        stated.append(np.diag(fit.cov_privacy))
        least.append(np.diag(bare.cov_privacy))
    start = f"{cell.words} | {rows} | {cell.cost} | {len(found)}"
    if len(found) < 20:
        return start
    off, stated, least, even = (np.array(one) for one in (found, stated, least, even))
    spread = off.std(axis=0)[None] ** 2
    ratio, bare, alike = (np.sqrt(np.mean(spread / one, axis=0)) for one in (stated, least, even))
    share = 1 - np.median(least / stated)
    said, without, evenly = (f"{one.min():.2f} {one.mean():.2f} {one.max():.2f}" for one in (ratio, bare, alike))
    shift = np.abs(off.mean(axis=0) / np.sqrt(np.median(stated, axis=0))).max()
    return f"{start} | {said} | without {without} | before {evenly} | share {share:.2f} | shift {shift:.2f}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--releases", type=int, default=60)
    releases = parser.parse_args().releases
    cells = [one for one in drawn_models(SET) if one.study.query.model == "logistic"]
    for number, cell in enumerate(cells):
        print(line(cell, number, releases), flush=True)


if __name__ == "__main__":
    main()
