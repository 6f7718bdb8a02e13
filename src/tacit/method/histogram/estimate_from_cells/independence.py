"""Chi-square test of independence of two columns of a released histogram, its null law simulated with the noise."""

from __future__ import annotations

import numpy as np

from tacit.errors import InferenceError
from tacit.estimates.verbs import comparisons
from tacit.estimates.verbs.contrasts import Test
from tacit.method.histogram.estimate_from_cells.cell_groups import group_counts, unclear
from tacit.release.document import Released


def independence(release: Released, one: str, other: str, *, draws: int = 9_999, rng: int = 0) -> Test:
    """Return the test of independence; see `Statistics.independence`."""
    if isinstance(draws, bool) or not isinstance(draws, int) or draws < 99:  # pyright: ignore[reportUnnecessaryIsInstance]
        text = f"draws={draws!r} is not 99 or more."
        raise InferenceError(text, code="I51", hint="draws=9_999", state=None)
    made = group_counts(release, (one, other))
    counts = made.regular[0]
    if min(counts.shape) < 2:
        text = f"{one!r} and {other!r} have {counts.shape[0]} and {counts.shape[1]} levels: two or more are compared."
        raise InferenceError(text, code="I50", hint="columns of two levels or more", state=None)
    few = unclear(float(counts.sum()), counts.size, made.noise)
    if few:
        raise InferenceError(f"{few}.", code="I54", hint="a larger budget, or fewer cells", state=None)

    # Projected counts make the null law's margins more accurate; the simulated noises must be projected as well.
    def noises(cells: tuple[int, ...], generator: np.random.Generator):
        z = made.noise.sample(cells, generator)
        if not made.noise.projected:
            return z
        rest = made.noise.size - counts.size
        # the margin's other cells enter the projection only by the sum of their noises, taken as normal
        others = generator.standard_normal(cells[0]) * np.sqrt(rest * made.noise.cell)
        return z - ((z.sum(axis=(1, 2)) + others) / made.noise.size)[:, None, None]

    size = round(made.whole if made.whole is not None else max(float(counts.sum()), 1.0))
    statistic, p = comparisons.simulated(counts, size, made.whole is not None, made.noise.cell, noises, draws, rng)
    df = (counts.shape[0] - 1) * (counts.shape[1] - 1)
    words = f"law under independence simulated with its noise, {draws:,} draws"
    return Test(f"{one} and {other} independent", statistic, df, p, words)
