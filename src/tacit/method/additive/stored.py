"""What the parts of a stored release of a user's statistic must be: as its question and its bounds imply."""

from __future__ import annotations

from collections.abc import Iterator
from math import prod
from typing import TYPE_CHECKING, cast

from tacit.method.additive.encoding import (
    LARGEST,
    Bounded,
    Box,
    RowReach,
    fineness,
    product_boxes,
    required,
    sensitivity,
    used,
)
from tacit.method.additive.query import Additive

if TYPE_CHECKING:
    from tacit.release.document import Release, Released
    from tacit.release.parts import Part


def boxes_of(release: Released) -> tuple[Box, ...]:
    """Return the bounds of each integer of a row."""
    return tuple((int(one.lower), int(one.upper)) for one in getattr(release, "variables", ()))


def reach_of(release: Released) -> RowReach:
    """Return the public facts that sensitivities depend on."""
    facts = release.parts[0].parameters
    cells = prod(len(labels) for _, labels in release.levels)
    return RowReach(release.neighbors == "replace-one", cells > 1, bool(facts["leaves"]), release.unit or 1, facts["G"])


def wrong(made: Release) -> Iterator[str]:
    """Yield each reason why a document is no answer to its question; nothing where it is one."""
    query = cast(Additive, made.query)
    if tuple(one.name for one in made.variables) != query.expressions:
        yield "its integers are not those of the question"
        return
    boxes, persons = boxes_of(made), made.unit is not None
    bad = any(
        one.kind != "integer" or box != (one.lower, one.upper) for one, box in zip(made.variables, boxes, strict=True)
    )
    if bad or any(not low < high or max(-low, high) > LARGEST for low, high in boxes):
        yield "the bounds of its integers are no integers in order, or too large"
        return
    products = product_boxes(boxes, reach_of(made), persons=persons) if query.moments else {}
    if [part.form for part in made.parts] != ["additive", *["additive-product"] * len(products)]:
        yield "its parts are not those of the question"
        return
    yield from _sensitivities(made, query, boxes, products)


def _sensitivities(
    made: Release, query: Additive, boxes: tuple[Box, ...], products: dict[tuple[int, int], Box]
) -> Iterator[str]:
    reach, facts = reach_of(made), made.parts[0].parameters
    persons = made.unit is not None
    if facts["leaves"] not in (0, 1) or (persons and not facts["leaves"]):
        yield "it does not say whether rows can be left out"
    if facts["G"] != (fineness(boxes, reach.cap) if persons else 1):
        yield "its integers have other steps than the question's"
    if len(made.parts[0].integers[0]) != len(boxes):
        yield f"it has {len(made.parts[0].integers[0])} sums for {len(boxes)} integers"
    least = required(boxes, reach)
    if not (query.l1 or least.l1) >= least.l1 or not (query.l2_squared or least.l2_squared) >= least.l2_squared:
        yield "its question declares a smaller sensitivity than its bounds have"
    if not _same(made.parts[0], used(query, boxes, reach)):
        yield "the sensitivity of its sums is another"
    for ((i, j), box), part in zip(products.items(), made.parts[1:], strict=True):
        own = {"leaves": facts["leaves"], "first": i, "second": j}
        if dict(part.parameters) != own or not _same(part, sensitivity([box], reach)):
            yield f"the part of the product {i + 1}:{j + 1} is another"


def _same(part: Part, bound: Bounded) -> bool:
    return (part.l1, part.l2_squared) == (bound.l1, bound.l2_squared)
