"""Check of a stored release of blocks: its parts are those that its query asks for, each once, in order."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import combinations
from typing import TYPE_CHECKING, Any, cast

from tacit.method.blocks.one_step_design import product_of
from tacit.method.blocks.query import SampleAndAggregate
from tacit.method.blocks.resampling import resampled
from tacit.release.parts import OF_BLOCKS, RESAMPLED_BLOCKS

if TYPE_CHECKING:
    from tacit.release.document import Release


def wrong(made: Release) -> Iterator[str]:
    """Yield what is wrong with the parts.

    Expected are means of blocks, each after its quartiles if winsorised, then one score a parameter after one step.
    """
    query = cast(SampleAndAggregate, made.query)
    means = [part for part in made.parts if part.form in OF_BLOCKS]
    of = means[0].form if means else OF_BLOCKS[0]
    each = ("quartiles", of) if query.winsorize else (of,)
    first, scores = made.parts[: len(each) * len(means)], made.parts[len(each) * len(means) :]
    if not means or tuple(part.form for part in first) != each * len(means):
        yield "its parts are not means of blocks, one for each parameter"
        return
    if (of == RESAMPLED_BLOCKS) != resampled(query):
        yield "its variances are not those that its question asks for"
    labels = [part.label for part in means]
    law: Any = query.model.law
    known = list(_parameters(query) if law is None else law.names)
    wanted = [name for name in known if not query.parameters or name in query.parameters]
    if labels != wanted or [part.label for part in first] != [name for name in labels for _ in each]:
        yield f"its parts are not of the parameters {', '.join(wanted)[:80]}"
    if len({part.parameters["blocks"] for part in means}) != 1:
        yield "its means are of different numbers of blocks"
    if query.blocks is not None and means[0].parameters["blocks"] != query.blocks:
        yield "its number of blocks is not that of the question"
    wanted = [f"score of {name}" for name in labels] if query.one_step else []
    # releases of before 0.2.0, and of persons, have no products
    products = [product_of(a, b) for a, b in combinations(labels, 2)] if query.one_step else []
    if [part.label for part in scores] not in (wanted, wanted + products):
        yield "its parts after the means are not one score for each parameter"
    if any(part.form in (*OF_BLOCKS, "quartiles") for part in scores):
        yield "its parts are not in order"


def _parameters(query: SampleAndAggregate) -> tuple[str, ...]:
    """Return the names of the parameters of a user's model, of which a file holds only names and boxes."""
    given = query.model.words.get("parameters", {})
    return tuple(cast("Mapping[str, Any]", given)) if isinstance(given, Mapping) else ()
