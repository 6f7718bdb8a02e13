"""The cost of weights in precision, from a release alone: effective sizes, design effects, effect of the cap."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from tacit.base.arrays import Array
from tacit.errors import InferenceError
from tacit.estimates.noisy_terms.interval_inversion import FLOOR
from tacit.estimates.noisy_terms.noisy_moments import integers, moments
from tacit.release.document import Released
from tacit.release.parts import Part

if TYPE_CHECKING:
    from tacit.estimates.estimate import Estimate


def effective_sizes(estimate: Estimate) -> Array:
    """(sum w)**2 / sum w**2 of each term, shape (terms,) [Kish 1965]; InferenceError I19 without weights.

    Both sums are noisy: the first is corrected for the variance of its noise, the second is at least FLOOR standard
    deviations of its own.  As 0 <= w <= cap it lies between sum w / cap and the number of rows, and is kept there.
    """
    release, picked = estimate.release, estimate.combination.picked()
    places = [i for i in picked if i is not None]
    if estimate.others or len(places) < len(picked) or any(part.weight is None for part in release.parts):
        text = "an effective size is of weighted terms, as they were released."
        raise InferenceError(text, code="I19", hint='Mean("income", weights="weight")', state=None)
    return np.concatenate([_effective(part, release.rows) for part in release.parts])[places]


def _effective(part: Part, rows: int | None) -> Array:
    """Return the effective sizes of one part's cells, shape (m,)."""
    noisy = moments(part.form, part.parameters, integers(part), rows)
    variance = part.law.variance()
    # E (noisy sum)**2 = (sum w)**2 + noise variance
    own = float((noisy.loadings[0] ** 2).sum()) * variance
    squares = np.maximum(noisy.squares[0], FLOOR * math.sqrt(float((noisy.square_loadings[0] ** 2).sum()) * variance))
    most = math.inf if rows is None else float(rows)
    # sum w**2 <= cap sum w gives the lower bound (sizes are in units of the cap), Cauchy-Schwarz the upper one
    least = np.clip(noisy.size, 1.0, most)
    return np.clip(np.maximum(noisy.size**2 - own, 0.0) / squares, least, most)


def design_effect(estimate: Estimate) -> float:
    """Kish's n sum w**2 / (sum w)**2, rows left out counting as weight 0; InferenceError I19 where n is not public."""
    found = effective_sizes(estimate)
    if not _whole(estimate.release) or len(found) > 1:
        text = "the number of rows behind these terms is not public, and a design effect needs it."
        raise InferenceError(text, code="I19", hint="effective_size needs none", state=None)
    return float(estimate.release.rows or 0) / float(found[0])


def _whole(release: Released) -> bool:
    """Return whether every number is of all rows of a table of public size."""
    return release.rows is not None and not release.levels and getattr(release.query, "where", None) is None


def notes(estimate: Estimate) -> tuple[str, ...]:
    """Return one sentence on effective sizes and on the effect of half the cap, or nothing without clear weights."""
    from tacit.estimates.wording import who

    release = estimate.release
    weighted = [part.weight is not None and part.weight.kind == "real" for part in release.parts]
    clear = np.array([reason is None for reason in estimate.reasons])
    if not all(weighted) or not clear.any():
        return ()
    weight = release.parts[0].weight
    assert weight is not None
    sizes = effective_sizes(estimate)[clear]
    words = f"weights: worth {_range(sizes, ',.0f')} unweighted {who(release)}"
    if _whole(release) and release.rows is not None and len(sizes) == 1:
        words += f" of {release.rows:,} (design effect {release.rows / float(sizes[0]):.2f})"
        mean = float(moments(*_form(release.parts[0]), release.rows).size[0]) / release.rows
        words += f"; the cap is {1 / mean:.1f} times the mean weight" if mean * release.rows >= 1 else ""
    sampling, privacy = estimate.sampling_variances[clear], estimate.privacy_variances[clear]
    # the noise is proportional to the cap: half of it leaves a quarter of the variance
    less = 100 * (1 - np.sqrt((sampling + privacy / 4) / np.maximum(sampling + privacy, 1e-300)))
    return (f"{words}; half the cap, where it trims nothing, would narrow the intervals by {_range(less, '.0f')} %",)


def _form(part: Part) -> tuple[str, dict[str, int], Array]:
    """Return the first arguments of `moments` for a part."""
    return part.form, dict(part.parameters), integers(part)


def _range(numbers: Array, form: str) -> str:
    low, high = format(float(numbers.min()), form), format(float(numbers.max()), form)
    return low if low == high else f"{low} to {high}"
