"""Check a stored release of levels that nobody listed: its three parts, its threshold and its texts."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import TYPE_CHECKING, cast

from tacit.method.unlisted_levels.design import FORM, SUMS, bought
from tacit.method.unlisted_levels.level_thresholds import least_threshold
from tacit.method.unlisted_levels.query import UnlistedLevels
from tacit.noise.laws import RoundedNormal
from tacit.schema.text_column import MOST_CHARACTERS

if TYPE_CHECKING:
    from tacit.release.document import Release


def wrong(made: Release) -> Iterator[str]:
    """Yield each reason why the parts are not those of the question; yield nothing where they are."""
    column = cast(UnlistedLevels, made.query).column
    if [(part.form, part.label) for part in made.parts] != [(FORM, column), *(("present", name) for name in SUMS)]:
        yield f"its parts are not the levels of {column!r} and the two sums"
        return
    levels = made.parts[0]
    least, texts = levels.parameters["threshold"], levels.texts
    shares = {part.parameters.get("share", 1) for part in made.parts}
    if len(shares) > 1 or (shares == {1}) != (made.unit is None):
        yield "its parts do not count the same units"
        return
    if made.cost.delta is None:
        yield f"its price {made.cost} has no delta"
        return
    delta = bought(made.cost).delta
    # a threshold that is too low shows levels of one person; one that is too high only hides levels
    if delta is None or least < least_threshold(cast(RoundedNormal, levels.law), delta, shares.pop()):
        yield f"its threshold {least} is too low for its delta"
    if texts is None or len(texts) != len(levels.integers):
        yield "it has another number of texts than of counts"
        return
    if any(len(cell) != 1 or cell[0] < least for cell in levels.integers):
        yield "it has a count below the threshold"
    if any(not 1 <= len(one) <= MOST_CHARACTERS for one in texts):
        yield "it has an empty text, or one that is too long"
    if any(one >= other for one, other in pairwise(texts)):
        yield "its texts are not in order"
