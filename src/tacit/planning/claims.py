"""What the interval of each method claims, on which page that was measured, what else it gives, where it may fail."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

Coverage: TypeAlias = Literal["asymptotic", "at least the level", "none"]
"""asymptotic: near the level with many rows.  at least the level: as a rule it holds more often.  none: no interval."""


@dataclass(frozen=True)
class Claim:
    """What is claimed of a method's answers.

    coverage: the class of its intervals.  how: where they come from.  page: of the reference, which measures them.
    gives: what else the release tells.  fails: where the answer is poor, or wrong.
    """

    coverage: Coverage
    how: str
    page: str
    gives: str
    fails: str


LAW: Final = "rows of another law than the one named; notes say so where it shows"
BINS: Final = "values that lie unevenly within wide bins; a table of many cells, which all have noise"
SUMS: Final = Claim(
    "asymptotic",
    "exact law of the noise, normal sampling error",
    "coverage.md",
    "a second moment, and so standard errors, tests and differences of groups",
    "few rows in a group; values far apart within wide bounds",
)
TOTALS: Final = Claim(
    "asymptotic",
    "exact law of the noise, normal sampling error",
    "coverage.md",
    "standard errors of both kinds",
    "bounds much wider than most values",
)
COUNTS: Final = Claim(
    "asymptotic",
    "exact law of the noise, inverted together with that of counts",
    "coverage.md",
    "shares and differences of groups",
    "groups smaller than the noise",
)
AVERAGED: Final = Claim(
    "asymptotic",
    "law of the sum of Laplace draws, normal sampling error",
    "averaged-laplace.md",
    "noise that is nearly normal, at a pure price",
    "never narrower than one Laplace draw at the same ε",
)
PURE_PART: Final = Claim(
    "asymptotic",
    "exact law of the noise, normal sampling error",
    "coverage.md",
    "a pure guarantee, which the pair implies",
    "a ledger that holds pairs counts a pure price for more than this pair",
)
CELLS: Final = Claim(
    "asymptotic",
    "delta method, or inversion of the noisy distribution function",
    "histogram-stats.md",
    "quantiles, moments, densities, tests, models and synthetic rows of the same cells",
    BINS,
)
CELL_COUNTS: Final = Claim(
    "asymptotic",
    "exact law of the noise, inverted together with that of counts",
    "histogram-stats.md",
    "margins, tests of independence and synthetic rows of the same cells",
    "many cells that are added up, which all have noise",
)
FITTED_CELLS: Final = Claim(
    "asymptotic",
    "sandwich standard errors with the noise",
    "histogram-fits.md",
    "any number of other models, moments and quantiles of the same cells",
    BINS,
)
STATISTICS: Final = Claim(
    "asymptotic",
    "delta method from the noisy mean of the sufficient statistics",
    "sufficient-statistics.md",
    "all parameters of the law, for one price",
    f"{LAW}; statistics clamped to bounds that are too narrow",
)
BLOCKS: Final = Claim(
    "asymptotic",
    "spread of the noisy mean over blocks",
    "sample-and-aggregate.md",
    "functions of the parameters: quantiles, tails, densities by the law",
    f"{LAW}; a box much wider than the parameters, fewer than 30 blocks",
)
WINDOWS: Final = Claim(
    "asymptotic",
    "spread of the noisy mean over winsorised blocks",
    "sample-and-aggregate.md",
    "functions of the parameters, in boxes of any width",
    f"{LAW}; blocks too few for their quartiles to be found",
)
STEP: Final = Claim(
    "asymptotic",
    "one step of clipped scores of all rows",
    "default-method.md",
    "functions of the parameters, nearly as from all rows without privacy",
    f"{LAW}: then blocks answer, with a far larger error",
)
REPLICATES: Final = Claim(
    "at least the level",
    "conservative standard error from the spread of replicates",
    "bootstrap.md",
    "replicates: their spread, and a law of the estimate by deconvolution",
    "prices that are no pair of their own; noise grows with the number of replicates",
)
SELECTED: Final = Claim(
    "at least the level",
    "selected ends, at ranks that allow for sampling and selection",
    "quantiles.md",
    "nothing else",
    "a gap in the rows at the quantile; few rows for the price",
)
POINT: Final = Claim(
    "none",
    "a point alone; the width is that of the interval that would hold its error",
    "quantile-points.md",
    "nothing else",
    "it does not say how far off it may be",
)
SCORES: Final = Claim(
    "asymptotic",
    "sandwich standard errors with the noise",
    "regression-frontier.md",
    "predictions, tests, marginal effects; residual variance of a linear model",
    "response or regressors far narrower than their bounds, many regressors at a low price",
)
COUNTED: Final = Claim(
    "asymptotic",
    "maximum likelihood in noisy cells, noise in its standard errors",
    "regression-frontier.md",
    "predictions, tests, marginal effects",
    "many cells for few rows",
)
OTHER: Final = Claim(
    "asymptotic",
    "exact law of the noise, or selection with its own intervals",
    "coverage.md",
    "what no other method tells",
    "see the cautions of its plan",
)
