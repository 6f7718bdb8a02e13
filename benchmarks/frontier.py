"""Regressions with many regressors and small prices: error, coverage, refusals, joint tests; writes a page.

    python benchmarks/frontier.py [PART ...] [--set N] [--repeats 60] [--workers 2] [--keep FOLDER] [--plain]

Parts: given, drawn (linear, `frontier_designs.py`), joint, fresh-joint, drawn-joint (`frontier_joint_designs.py`),
joint-models, fresh-joint-models, joint-persons (`frontier_joint_model_designs.py`), models, drawn-models
(`frontier_model_designs.py`), pure, drawn-pure (`frontier_pure_designs.py`), heavy, drawn-heavy
(`frontier_heavy_designs.py`), drawn-far (`frontier_far_designs.py`), further, drawn-further (gamma and Huber,
`frontier_further_designs.py`), weighted (`frontier_weighted_designs.py`); all without PART.  The page is
docs/reference/regression-frontier.md.  Tables are drawn anew in every repetition and released by the mechanism's own
steps, with seeded noise.
Deterministic: seeds are constants.
"""

from __future__ import annotations

import argparse
import functools
import math
import pickle
import time
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from frontier_designs import Cell, drawn, given
from frontier_far_designs import drawn_far
from frontier_further_designs import drawn_further, given_further
from frontier_heavy_designs import drawn_heavy, given_heavy
from frontier_joint_designs import drawn_joint, fresh_joint, given_joint
from frontier_joint_model_designs import fresh_joint_models, given_joint_models, joint_persons
from frontier_model_designs import drawn_models, given_models
from frontier_pure_designs import drawn_pure, given_pure
from frontier_weighted_designs import given_weighted
from pages import put
from scipy import stats

from tacit.fits.fit import Fit
from tacit.method.regression.estimate import fit_release
from tacit.testing.simulated_regressions import rows_of

PAGE = Path(__file__).parents[1] / "docs" / "reference" / "regression-frontier.md"
TITLES = {
    "given": "Linear: given designs",
    "drawn": "Linear: designs drawn at random",
    "joint": "Linear: joint tests of many slopes of few rows, ten regressors in pairs",
    "fresh-joint": "Linear: joint tests of many slopes of few rows, designs drawn up before",
    "drawn-joint": "Linear: joint tests of many slopes of few rows, designs drawn at random",
    "joint-models": "Other models: joint tests of many slopes of few rows, given designs",
    "fresh-joint-models": "Other models: joint tests of many slopes of few rows, designs drawn up before",
    "joint-persons": "Persons: joint tests of many slopes, designs drawn up before",
    "models": "Logistic, probit, Poisson: given designs",
    "drawn-models": "Logistic, probit, Poisson: designs drawn at random",
    "pure": "At pure prices: given designs",
    "drawn-pure": "At pure prices: designs drawn at random",
    "weighted": "Survey weights: given designs",
    "heavy": "Responses with heavy tails: a log-normal one",
    "drawn-heavy": "Responses with heavy tails: designs drawn at random",
    "drawn-far": "Regressors with tails, means linear or level far out: designs drawn at random",
    "further": "Gamma and Huber: given designs",
    "drawn-further": "Gamma and Huber: designs drawn at random",
}
JUDGED = 4
"""The set of drawn designs that the page shows; the method was set on sets 0 to 2."""


@dataclass(frozen=True)
class Found:
    """One design: repetitions in all; of the answered, errors, standard errors, and those of the fit without privacy.

    errors, sizes, ordinary: shape (answered, slopes).  joint, usual: p-values of the joint test of the true slopes, and
    those by chi-squared with the covariance that intervals have.
    """

    repeats: int
    errors: np.ndarray
    sizes: np.ndarray
    ordinary: np.ndarray
    joint: np.ndarray
    usual: np.ndarray

    @property
    def answered(self) -> int:
        return len(self.errors)

    @property
    def ratio(self) -> float:
        """Root of the summed mean squared errors of the slopes, over that of the fit without privacy."""
        return float(np.sqrt((self.errors**2).mean(axis=0).sum() / (self.ordinary**2).mean(axis=0).sum()))

    @property
    def coverage(self) -> np.ndarray:
        return 100 * (np.abs(self.errors) < stats.norm.ppf(0.975) * self.sizes).mean(axis=0)

    @property
    def cut(self) -> float:
        """By how many of its errors the fit without privacy is itself off, in the worst slope; below 2 by chance."""
        size = self.ordinary.std(axis=0)
        sure = np.abs(self.ordinary.mean(axis=0)) / size - 3 / math.sqrt(self.answered)
        return float(sure.max())

    @property
    def balance(self) -> np.ndarray:
        """The mean standard error of each slope over the deviation of its estimates."""
        return self.sizes.mean(axis=0) / self.errors.std(axis=0)


@functools.cache
def cells_of(part: str, number: int) -> tuple[Cell, ...]:
    """Return the cells of a part of the page; number: the set of drawn ones."""
    made = {
        "given": given,
        "drawn": lambda: drawn(number),
        "joint": given_joint,
        "fresh-joint": fresh_joint,
        "drawn-joint": drawn_joint,
        "joint-models": given_joint_models,
        "fresh-joint-models": fresh_joint_models,
        "joint-persons": joint_persons,
        "models": given_models,
        "drawn-models": lambda: drawn_models(number),
        "pure": given_pure,
        "drawn-pure": lambda: drawn_pure(number),
        "weighted": given_weighted,
        "heavy": given_heavy,
        "drawn-heavy": lambda: drawn_heavy(number),
        "drawn-far": lambda: drawn_far(number),
        "further": given_further,
        "drawn-further": lambda: drawn_further(number),
    }
    return made[part]()


def joint_p(fit: Fit, error: np.ndarray) -> tuple[float, float]:
    """Return the p-value of the joint test of the true slopes, as `NormalEstimate.wald` has it; error: theirs.

    And that by chi-squared.
    """
    covariance = (fit.cov_sampling + fit.cov_privacy)[1:, 1:]
    usual = float(stats.chi2.sf(float(error @ np.linalg.solve(covariance, error)), len(error)))
    found = None if fit.noisy is None else fit.noisy.of(list(range(1, len(error) + 1)))
    return usual if found is None else found.wald(error)[1], usual


def releases(part: str, number: int, place: int, repeats: int, keep: Path | None) -> list[tuple[Any, np.ndarray]]:
    """Return releases of a cell, found by its place in a part, each with the fit without privacy to the same rows.

    keep: a folder in which they are kept, so that what follows from releases alone can be computed anew.
    """
    cell, rng = cells_of(part, number)[place], np.random.default_rng([16, place])
    study, found = cell.study, list[tuple[Any, np.ndarray]]()
    kept = None if keep is None else keep / f"{part}-{number}-{place}.pickle"
    if kept is not None and kept.exists():
        found, rng.bit_generator.state = pickle.loads(kept.read_bytes())
    while len(found) < repeats:
        rows = rows_of(study.query, study.draw(rng, cell.rows), study.schema, cell.cost, cell.neighbors)
        found.append((rows.release(rng), rows.ordinary()[0]))
    if kept is not None:
        kept.write_bytes(pickle.dumps((found, rng.bit_generator.state)))
    return found[:repeats]


def simulated(part: str, number: int, place: int, repeats: int, keep: Path | None) -> Found:
    """Simulate one cell, found by its place in a part; keep: as in `releases`."""
    found = list[tuple[np.ndarray, np.ndarray, np.ndarray, tuple[float, float]]]()
    truth = np.array(list(cells_of(part, number)[place].study.truth.values()))[1:]
    for release, ordinary in releases(part, number, place, repeats, keep):
        fit = fit_release(release)
        if any(fit.reasons):
            continue
        error = fit.values[1:] - truth
        found.append((error, fit.std_errors[1:], ordinary[1:] - truth, joint_p(fit, error)))
    if not found:
        nothing = np.zeros((0, len(truth)))
        return Found(repeats, nothing, nothing, nothing, np.zeros(0), np.zeros(0))
    errors, sizes, ordinary, joint = (np.array(part) for part in zip(*found, strict=True))
    return Found(repeats, errors, sizes, ordinary, *joint.T)


HEAD = (
    "| design | rows | price | relation | RMSE ÷ without privacy | coverage of slopes, mean (least), % | SE/SD "
    "| joint test at 5%, % | with a reason, % |\n|---|---:|---|---|---:|---:|---:|---:|---:|"
)


def row(cell: Cell, found: Found) -> str:
    """Return a line of the table."""
    start = f"| {cell.words} | {cell.rows:,} | {cell.cost} | {cell.neighbors} |"
    reasons = f"{100 * (1 - found.answered / found.repeats):.0f} |"
    if found.answered < 20:
        return f"{start} – | – | – | – | {reasons}"
    cover = found.coverage
    if found.cut > 1:
        start = start.replace(" |", f"; the fit without privacy itself off by {found.cut:.0f} of its errors |", 1)
    return (
        f"{start} {found.ratio:.2f} | {cover.mean():.1f} ({cover.min():.1f}) | {found.balance.mean():.2f} "
        f"| {100 * (found.joint < 0.05).mean():.1f} | {reasons}"
    )


def summary(lines: list[str]) -> str:
    """Return what lines of a table say together, of the designs in which the fit without privacy is right."""
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[1:]]
    right = [cell for cell in cells if "itself off" not in cell[0]]
    told = [cell for cell in right if cell[4] != "–"]
    if not told:
        return f"Of {len(right)} designs in which the fit without privacy is right, none has answers enough."
    covers, joint = [float(cell[5].split()[0]) for cell in told], [float(cell[7]) for cell in told]
    many = sum(float(cell[8]) >= 5 for cell in right)
    error = np.median([float(cell[4]) for cell in told])
    said = (
        f"Of {len(right)} designs in which the fit without privacy is right, {len(told)} have answers enough",
        f"slopes are covered in {np.mean(covers):.1f}%, in the lowest design in {min(covers):.1f}%",
        f"joint tests reject {np.mean(joint):.1f}%",
        f"the median error is {error:.2f} times that of the fit without privacy",
        f"designs in which 5% of releases or more have a reason: {many}.",
    )
    return f"{said[0]}: {'; '.join(said[1:])}"


def studied(part: str, many: int, options: argparse.Namespace) -> Iterator[Found]:
    """Simulate the first cells of a part in some processes, in order."""
    given = options.repeats, options.keep
    with ProcessPoolExecutor(options.workers) as pool:
        yield from pool.map(
            simulated, *([one] * many for one in (part, options.set)), range(many), *([one] * many for one in given)
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("parts", nargs="*", default=list(TITLES))
    parser.add_argument("--set", type=int, default=JUDGED)
    parser.add_argument("--repeats", type=int, default=200)
    parser.add_argument("--only", type=int, default=None, help="the first so many designs")
    parser.add_argument("--plain", action="store_true", help="to the terminal only")
    parser.add_argument(
        "--keep", type=Path, default=None, help="a folder for releases, which are read from there again"
    )
    parser.add_argument("--workers", type=int, default=2, help="processes")
    options = parser.parse_args()
    start = time.monotonic()
    for part in options.parts:
        cells = cells_of(part, options.set)[: options.only]
        lines, usual = [HEAD], list[float]()
        made = studied(part, len(cells), options)
        for cell, found in zip(cells, made, strict=True):
            lines.append(row(cell, found))
            if found.answered >= 20 and found.cut <= 1:
                usual.append(100 * float((found.usual < 0.05).mean()))
            print(lines[-1], f"{usual[-1:]}", flush=True)
        said = summary(lines)
        if "joint" in part and usual:
            said = f"{said} By chi-squared joint tests would reject {np.mean(usual):.1f}%."
        print(said)
        if not options.plain:
            words = f"## {TITLES[part]}\n\n{options.repeats} repetitions a line. {said}\n\n"
            put(PAGE, f"frontier.py {part}", words + "\n".join(lines))
    print(f"{time.monotonic() - start:.0f} s")


if __name__ == "__main__":
    main()
