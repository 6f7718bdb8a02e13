"""The variance of an estimate by resampling rows within its block: the three ways, their sizes, and what they serve.

All three estimate, in every block, the variance V / t that an estimate from its t rows has; the blocks' answers are
averaged, as their estimates are.  Resamples of R rows vary by about V / R, which is scaled to t rows:

- "little-bootstraps" draw R = n rows, as many as the table has, from the t rows of the block, with replacement [Kleiner
  et al. 2014, the bag of little bootstraps, its subsets being the blocks].
- "m-out-of-n" draw R = m rows with replacement, m below t [Bickel, Gotze & van Zwet 1997].
- "subsampling" draws R = m of the t rows, each at most once [Politis & Romano 1994], whose variance is V (1/m - 1/t).

The scaling supposes a statistic whose variance is in proportion to one over its rows.  Two things speak for it against
the variance between blocks, where blocks are few: it rests on all rows, not on a few estimates; and its integers are in
small units, so that it has a fraction of the noise (`encoding`).
"""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil
from typing import TYPE_CHECKING, Any, Final

from tacit.base.arguments import described
from tacit.errors import QueryError

if TYPE_CHECKING:
    from tacit.method.blocks.query import SampleAndAggregate

BETWEEN: Final = "blocks"
"""The variance between the blocks' own estimates: the default."""
LITTLE, WITH, WITHOUT = "little-bootstraps", "m-out-of-n", "subsampling"
VARIANCES: Final = (BETWEEN, LITTLE, WITH, WITHOUT)
RESAMPLES: Final = 50
"""Resamples of a block by default: the error of so few averages out over blocks."""
MOST_RESAMPLES: Final = 10_000
EXPONENT: Final = 0.8
"""Rows of an m-out-of-n resample by default: those of the block to this power, so that m grows and m / t falls."""
WORK: Final = 2**33
"""Most rows drawn in all resamples of all blocks: more would take hours."""


@dataclass(frozen=True)
class BlockResamples:
    """One of the three ways.  resamples: how many of each block; rows: of one resample, a public number."""

    way: str
    resamples: int
    rows: int

    @property
    def words(self) -> str:
        """The way in words."""
        names = {LITTLE: "little bootstraps", WITH: "bootstraps", WITHOUT: "subsamples"}
        return f"{self.resamples} {names[self.way]} of {self.rows:,} rows within each block"


def resampled(query: SampleAndAggregate) -> bool:
    """Return whether the sampling error comes from resamples within blocks."""
    return query.variance != BETWEEN


def check_variance(query: SampleAndAggregate) -> None:
    """Raise QueryError Q140 for words and numbers that make no way to a variance, or where none is possible."""
    if query.variance not in VARIANCES:
        text = f"variance of SampleAndAggregate: {described(query.variance)} is none of {', '.join(VARIANCES)}."
        raise QueryError(text, code="Q140", hint='variance="little-bootstraps"')
    for name, least, most in (("resamples", 2, MOST_RESAMPLES), ("resample_rows", 2, 2**31)):
        value: Any = getattr(query, name)
        if value is None:
            continue
        if query.variance == BETWEEN or (name == "resample_rows" and query.variance == LITTLE):
            text = f"{name} of SampleAndAggregate: variance={query.variance!r} has no such number."
            raise QueryError(text, code="Q140", hint='variance="m-out-of-n"')
        if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
            text = f"{name} of SampleAndAggregate: {described(value)} is not from {least} to {most:,}."
            raise QueryError(text, code="Q140", hint=f"{name}=50")
    if resampled(query) and (query.one_step or query.winsorize or query.method == "auto"):
        text = "variance of SampleAndAggregate: only plain means of blocks have one by resampling."
        raise QueryError(text, code="Q140", hint="leave out one_step, winsorize and method, or variance")


def resampling_of(query: SampleAndAggregate, rows: int, blocks: int, parameters: int) -> BlockResamples | None:
    """Return the resamples of a design, None for the variance between blocks; QueryError Q140 where none will do.

    rows: about how many the table has; parameters: of the model, which a resample has more rows than.
    """
    if not resampled(query):
        return None
    own, resamples = rows // blocks, query.resamples or RESAMPLES
    default = {LITTLE: rows, WITH: ceil(own**EXPONENT), WITHOUT: own // 2}[query.variance]
    size = query.resample_rows or default
    most = {LITTLE: size, WITH: own, WITHOUT: own - 1}[query.variance]
    if not parameters + 1 < size <= most:
        text = f"variance of SampleAndAggregate: resamples of {size:,} rows from blocks of about {own:,} rows."
        raise QueryError(text, code="Q140", hint="fewer blocks, or a resample_rows between the parameters and a block")
    if resamples * blocks * size > WORK:
        text = f"variance of SampleAndAggregate: {resamples * blocks * size:.1e} rows would be drawn in all."
        raise QueryError(text, code="Q140", hint='fewer blocks or resamples, or variance="m-out-of-n"')
    return BlockResamples(query.variance, resamples, size)
