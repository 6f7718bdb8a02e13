"""Trends over an ordered factor, independence of two factors, simultaneous intervals."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Final, TypeAlias

import numpy as np

from tacit.base.arguments import described
from tacit.base.arrays import Array
from tacit.errors import InferenceError, nearest
from tacit.estimates.noisy_terms import covariance
from tacit.estimates.terms import ColumnTerms
from tacit.estimates.verbs.contrasts import Test, combine
from tacit.noise.product import ProductLaplace, sampled_together
from tacit.release.parts import cell_labels

if TYPE_CHECKING:
    from tacit.estimates.estimate import Estimate

DRAWS: Final = 200_000
"""Draws for a studentised maximum: its 95% point is then within about 0.5% (twice the Monte-Carlo error)."""
CHUNK: Final = 20_000_000
"""Random numbers held in memory at a time."""


# Trend --------------------------------------------------------------------------------------------------------------


Scores: TypeAlias = Sequence[float] | Mapping[str, float] | None


def trend(estimate: Estimate, scores: Scores = None, *, by: str | None = None) -> Estimate:
    """Least-squares slopes over the levels of a factor, linear contrasts: change for one more of the score.

    One for each combination of the other factors (and columns).  scores: public, of the levels in the schema's order,
    or by level (those that are not named are left out); 0, 1, 2, ... where not given.  Without factors: of the terms.
    InferenceError I06 for scores that do not fit, I16 for a factor that is none, or whose levels have no order.
    """
    levels = dict(estimate.release.levels)
    if by is None and _prefixes(estimate) and levels:
        if len(levels) > 1 and scores is None:
            text = f"there are {len(levels)} factors, and a trend is by one of them."
            first = next(iter((*dict(estimate.release.ordered), *levels)))
            raise InferenceError(text, code="I16", hint=f'trend(by="{first}")', state=None)
        by = next(iter(levels)) if len(levels) == 1 else None
    if by is None:
        slope = _slope(scores, estimate.terms, estimate.terms)
        words = f"slope over {len(estimate.terms)} terms, {estimate.estimand}"
        return combine(estimate, slope[None, :], ("trend",), words, "terms weigh alike, scores are public")
    if by not in levels or not _prefixes(estimate):
        text = f"the terms are no cells of a factor {described(by)}."
        guess = nearest(by, list(levels)) or next(iter(levels), None)
        hint = f'trend(by="{guess}") of the whole estimate' if guess else f'by="{by}" in the question'
        raise InferenceError(text, code="I16", hint=hint, state=None)
    order = dict(estimate.release.ordered).get(by)
    if order is None and scores is None:
        text = f"the levels of {described(by)} have no order, as far as the release says."
        hint = f'trend(by="{by}", scores=[0, 1, …]), or "{by}": Category([…], ordered=True)'
        raise InferenceError(text, code="I16", hint=hint, state=None)
    scored = levels[by] if order is None else order
    # the level in the middle has weight 0, and is scored all the same
    over = len(scores) if isinstance(scores, Mapping) else len(scored)
    return _by(estimate, by, _slope(scores, scored, levels[by]), over)


def _prefixes(estimate: Estimate) -> tuple[str, ...]:
    """Return the prefixes of the terms' labels: "" for one column, else the columns; empty if terms are not cells."""
    release = estimate.release
    cells, columns = cell_labels(release.levels), tuple(part.label for part in release.parts)
    if estimate.terms == cells:
        return ("",)
    several = tuple(f"{column}:{cell}" for column in columns for cell in cells)
    return columns if estimate.terms == several else ()


def _slope(scores: Scores, scored: tuple[str, ...], levels: tuple[str, ...]) -> Array:
    """Return the weights of a least-squares slope, shape (levels,), 0 for levels without a score."""
    in_order = range(len(scored)) if scores is None or isinstance(scores, Mapping) else scores
    given = scores if isinstance(scores, Mapping) else dict(zip(scored, in_order, strict=False))
    numbers = all(isinstance(x, int | float | np.number) for x in given.values())  # pyright: ignore[reportUnnecessaryIsInstance]
    fits = len(in_order) == len(scored) and numbers
    s = np.array([float(x) for x in given.values()] if fits else [])
    if not fits or not set(given) <= set(levels) or len(s) < 2 or not np.isfinite(s).all() or np.ptp(s) == 0:
        text = f"a trend over {', '.join(scored[:6])} needs a finite score for each, not all alike, and at least 2."
        hint = f"scores={list(range(max(len(scored), 2)))}"
        raise InferenceError(text, code="I06", hint=hint, state=None)
    off = s - s.mean()
    slope = np.zeros(len(levels))
    # least squares: sum (s - mean s) y / sum (s - mean s)**2; the mean of y drops out, as the weights add up to 0
    slope[[levels.index(label) for label in given]] = off / (off @ off)
    return slope


def _by(estimate: Estimate, by: str, slope: Array, over: int) -> Estimate:
    """The slope by one factor at each combination of the others; over: how many of its levels have a score."""
    levels, columns = estimate.release.levels, _prefixes(estimate)
    at = [name for name, _ in levels].index(by)
    shape = (len(columns), *(len(labels) for _, labels in levels))
    # place: indices of the terms, a row for each combination of the other factors, shape (combinations, levels)
    place = np.moveaxis(np.arange(len(estimate.terms)).reshape(shape), at + 1, -1).reshape(-1, len(slope))
    weights = np.zeros((len(place), len(estimate.terms)))
    np.put_along_axis(weights, place, slope[None, :], axis=1)
    others = tuple((name, labels) for name, labels in levels if name != by)
    rest = cell_labels(others)
    terms = tuple(":".join(word for word in (column, cell) if word) for column in columns for cell in rest)
    words = f"slope by {by} over {over} of its levels, {estimate.estimand}"
    made = combine(estimate, weights, ("trend",) if terms == ("",) else terms, words, "levels weigh alike")
    return replace(made, term_title=":".join(name for name, _ in others))


# Independence -------------------------------------------------------------------------------------------------------


def independence(estimate: Estimate, *, draws: int = 9_999, rng: int | np.random.Generator = 0) -> Test:
    """Chi-square test of independence of two factors, from noisy counts of their cells.

    The statistic sum (n - e)**2 / (e + v), e from the noisy margins, v the variance of the noise, has no chi-square law
    once noise is added; its law under independence is simulated, noise and all, at the estimated margins (parametric
    bootstrap, seeded by `rng`).  InferenceError I12 for anything but a Count by two factors.
    """
    release = estimate.release
    plain = type(release.query).__name__ == "Count" and release.parts[0].form == "count"
    if not plain or len(release.levels) != 2 or estimate.matrix is not None:
        text = "independence is tested on a Count by two factors."
        raise InferenceError(text, code="I12", hint='Count(by=["sex", "region"])', state=None)
    block = estimate.blocks[0]
    shape = tuple(len(labels) for _, labels in release.levels)
    part, law = release.parts[0], block.law
    share = part.parameters.get("share", 1)
    noise = law.variance() / share**2
    found = np.array([float(cell[0]) / share for cell in part.integers]).reshape(shape)
    # the noisy total stands for a private number of rows, and must be positive to draw from
    size = round(release.rows if release.rows is not None else max(found.sum(), 1.0))

    def noises(cells: tuple[int, ...], generator: np.random.Generator) -> Array:
        return law.sample(int(np.prod(cells)), generator).reshape(cells) / share

    statistic, p = simulated(found, size, release.rows is not None, noise, noises, draws, rng)
    df = (shape[0] - 1) * (shape[1] - 1)
    words = f"law under independence simulated with its noise, {draws:,} draws"
    return Test(" and ".join(name for name, _ in release.levels) + " independent", statistic, df, p, words)


def simulated(
    found: Array,
    size: int,
    public: bool,
    noise: float,
    noises: Callable[[tuple[int, ...], np.random.Generator], Array],
    draws: int,
    rng: int | np.random.Generator,
) -> tuple[float, float]:
    """Return the statistic of noisy counts, shape (r, c), and its p-value from `draws` tables under independence.

    size: rows, multinomial where `public`, else their mean (Poisson).  noise: variance; `noises` draws it.
    """
    generator = np.random.default_rng(rng)
    expected = _expected(found[None])[0]
    null = expected / expected.sum()
    statistic = float(_chi2(found[None], noise)[0])
    above, done = 0, 0
    while done < draws:
        now = min(draws - done, max(1, CHUNK // found.size))
        if public:
            cells = generator.multinomial(size, null.reshape(-1), now).reshape(now, *found.shape).astype(np.float64)
        else:
            cells = generator.poisson(size * null, (now, *found.shape)).astype(np.float64)
        # each draw gets noise and has its margins estimated anew, exactly as the released counts did
        cells += noises(cells.shape, generator)
        above += int((_chi2(cells, noise) >= statistic).sum())
        done += now
    # the released table counts as one of the draws: the p-value is never 0, and valid for any number of draws
    return statistic, (1 + above) / (1 + draws)


def _expected(cells: Array) -> Array:
    """Return non-negative expected counts under independence, from the margins; shape (..., r, c)."""
    # noise may leave a margin at 0 or below
    rows = np.maximum(cells.sum(axis=-1, keepdims=True), 1e-9)
    columns = np.maximum(cells.sum(axis=-2, keepdims=True), 1e-9)
    return rows * columns / np.maximum(rows.sum(axis=-2, keepdims=True), 1e-9)


def _chi2(cells: Array, noise: float) -> Array:
    """Return sum (n - e)**2 / (e + v) of each table, cells of shape (..., r, c), v the variance of the noise."""
    expected = _expected(cells)
    return ((cells - expected) ** 2 / (expected + noise)).sum(axis=(-1, -2))


# Simultaneous intervals ---------------------------------------------------------------------------------------------


def studentised_maximum(base: Estimate, made: Estimate, rng: int = 0) -> Array:
    """Sorted draws of max |error| / SE over linear combinations `made` of `base`: sampling normal, noise its own law.

    InferenceError I04 where the covariance of the terms was not released.
    """
    assert made.matrix is not None
    generator = np.random.default_rng(rng)
    blocks = base.blocks
    size = sum(len(block.value) for block in blocks)
    people = [block.people for block in base.combination.used() if block.variance.any()]
    if len(set(people)) < len(people) or covariance.divided(base.combination):
        divided = covariance.divided(base.combination)
        what = "groups with persons or parties in common" if divided else "columns of the same people"
        text = f"the joint law of different {what} was not released."
        raise InferenceError(text, code="I04", hint='adjust="holm"', state=None)
    # root of the covariance by eigenvectors: a multinomial one is singular, which Cholesky would reject
    spread, axes = np.linalg.eigh(covariance.of_blocks(blocks))
    root = axes * np.sqrt(np.maximum(spread, 0.0))
    # a difference without any error is 0 in every draw, and stays 0
    errors = np.where(made.std_errors > 0, made.std_errors, 1.0)
    width = max(block.loadings.shape[1] for block in blocks) + 1
    # width: the noises of a term, and its normal part
    step = max(1, CHUNK // (size * width))
    found: list[Array] = []
    for start in range(0, DRAWS, step):
        now = min(step, DRAWS - start)
        total = generator.standard_normal((now, size)) @ root.T
        at = 0
        for block, z in zip(blocks, _noises(blocks, now, generator), strict=True):
            m = len(block.value)
            total[:, at : at + m] += (z * block.loadings).sum(axis=2)
            at += m
        found.append(np.abs((total @ made.matrix.T) / errors).max(axis=1))
    return np.sort(np.concatenate(found))


def _noises(blocks: Sequence[ColumnTerms], draws: int, rng: np.random.Generator) -> list[Array]:
    """Return simulated noises of each column, shape (draws, terms or 1, k); those of one vector are drawn together."""
    vectors: dict[str, list[int]] = {}
    for i, block in enumerate(blocks):
        if isinstance(block.law, ProductLaplace):
            vectors.setdefault(block.source, []).append(i)
    found: dict[int, Array] = {}
    for places in vectors.values():
        joint = [law for i in places if isinstance(law := blocks[i].law, ProductLaplace)]
        made = sampled_together(joint, draws, rng)
        found |= {i: z[:, None, :].astype(np.float64) for i, z in zip(places, made, strict=True)}
    for i, block in enumerate(blocks):
        if i not in found:
            m, k = block.loadings.shape
            own = m if block.joint is None else 1  # parameters of one fit share their noises
            found[i] = block.law.sample(draws * own * k, rng).reshape(draws, own, k).astype(np.float64)
    return [found[i] for i in range(len(blocks))]
