"""Checks of a release document across its fields, made when it is read.

Single fields are checked before (`release.document_fields`).  Checked here: there are as many integers as cells, the
parts are those of the question, constants, sensitivities and noise are those of the encoding at its price, bounds are
in order, and a small document cannot stand for absurdly large arrays.  Time is linear in the document.  A document that
fails was changed or made up; a consistent one may still be forged, which only a signature or the ledger shows.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import date
from fractions import Fraction
from functools import lru_cache
from itertools import pairwise
from math import isfinite, prod
from typing import TYPE_CHECKING, Any, Final, cast

from tacit.noise.averaged_laplace import AveragedLaplace
from tacit.noise.laws import Law
from tacit.noise.product import ProductLaplace
from tacit.noise.spherical import SphericalLaplace
from tacit.privacy import Cost
from tacit.privacy.bought import price_of_noise
from tacit.release.encoding_rules import FORMS, SELECTS, forms_of
from tacit.release.field_rules import all_different
from tacit.release.noise_checks import is_noise_of_price, selected
from tacit.release.packing import Packed
from tacit.release.parts import Part, Variable
from tacit.release.registry import KINDS, ROOMS, room_module
from tacit.release.sensitivity_checks import EncodingFacts, implied_constants
from tacit.rows.multiples import between, halfway

if TYPE_CHECKING:
    from tacit.release.document import Release

WIDEST: Final = 1e150
"""Largest magnitude of bounds and of their difference, so that squares are finite floats."""


def first_inconsistency(made: Release) -> str | None:
    """Return the first inconsistency of a release in words; None where there is none."""
    # only the first is drawn, so that no check meets what an earlier one refuses
    return next(_inconsistencies(made), None)


def _inconsistencies(made: Release) -> Iterator[str]:
    """Yield inconsistencies, in an order in which later checks rely on earlier ones."""
    yield from _facts(made)
    yield from _levels(made)
    cells = prod(len(labels) for _, labels in made.levels)
    for place, part in enumerate(made.parts):
        for reason in _part(made, part, cells):
            yield f"parts[{place}] {reason}"
    yield from _vector(made)
    yield from _axes(made)
    yield from _variables(made)
    stored = room_module(ROOMS[made.kind], "stored", optional=True)
    yield from () if stored is None else stored.wrong(made)
    yield from _price(made)


def _facts(made: Release) -> Iterator[str]:
    # the number of rows is public under replace-one, and protected under add-remove
    if (made.neighbors == "replace-one") != (made.rows is not None):
        yield f"neighbors is {made.neighbors}, and rows is {made.rows}"
    if not made.mechanism.startswith(f"{made.kind}/"):
        yield f"mechanism {made.mechanism!r} is none of kind {made.kind}"
    try:
        date.fromisoformat(made.date)
    except ValueError:
        yield f"date {made.date!r} is no day"
    listed = {name for name in ("axes", "variables") if getattr(made, name)}
    if listed != {KINDS[made.kind].lists} - {None}:
        yield f"a release of kind {made.kind} has axes or variables that it should not have, or lacks them"


# Groups -------------------------------------------------------------------------------------------------------------


def _levels(made: Release) -> Iterator[str]:
    """Check that groups are those of the question, and that there are not too many."""
    names = tuple(name for name, _ in made.levels)
    query: Any = made.query
    asked = tuple(getattr(query, query.groups, ()))
    if names != asked:
        yield f"its groups are of {', '.join(names) or 'nothing'}; the question is by {', '.join(asked) or 'nothing'}"
    cells = 1
    for name, labels in made.levels:
        if not all_different(labels):
            yield f"levels of {name!r} has a label twice"
        cells *= len(labels)  # stops before a product of thousands of columns
        if cells > KINDS[made.kind].cells:
            yield f"it has more cells than are released ({KINDS[made.kind].cells:,})"
    known = dict(made.levels)
    for name, labels in made.ordered:
        if not set(labels) <= set(known.get(name, ())):
            yield f"ordered has labels of {name!r} that levels has not"
    if not all_different([name for name, _ in made.ordered]):
        yield "ordered names a column twice"


def _axes(made: Release) -> Iterator[str]:
    if not made.axes:
        return
    if len(made.axes) != len(made.levels):
        yield f"{len(made.axes)} axes for {len(made.levels)} columns"
    for (name, labels), axis in zip(made.levels, made.axes, strict=False):
        regular = len(labels) - len(axis.extra)
        # extra cells come after the bins
        if regular < 1 or labels[regular:] != axis.extra:
            yield f"the last levels of {name!r} are not the extra cells of its axis"
        if axis.kind == "levels":
            continue
        if len(axis.edges) != regular + 1:
            yield f"{len(axis.edges)} edges for {regular} bins of {name!r}"
        if not _rising(axis.edges):
            yield f"the edges of {name!r} do not rise"
        elif axis.multiple_of is not None and (axis.kind != "real" or not halfway(axis.edges, axis.multiple_of)):
            yield f"the edges of {name!r} do not lie halfway between multiples of {axis.multiple_of:g}"
        if axis.heaped_at is not None and axis.kind != "real":
            yield f"{name!r} is heaped at multiples of {axis.heaped_at:g}, and no column of real numbers"


def _rising(edges: Sequence[float]) -> bool:
    apart = [b - a for a, b in pairwise(edges)]
    # NaN is above nothing, and a width may overflow though both ends are finite
    return all(width > 0 for width in apart) and isfinite(edges[-1] - edges[0])


def _variables(made: Release) -> Iterator[str]:
    if not all_different([one.name for one in made.variables]):
        yield "variables has a column twice"
    for one in made.variables:
        if one.kind == "levels":
            if not all_different(one.labels):
                yield f"variable {one.name!r} has a label twice"
        elif one.kind != "boolean" and not _rising((one.lower, one.upper)):
            yield f"the bounds of variable {one.name!r} are not in order"
        elif one.multiple_of is not None and (one.kind != "real" or not _several(one)):
            yield f"variable {one.name!r} has no multiples of {one.multiple_of:g}"
        if one.heaped_at is not None and one.kind != "real":
            yield f"{one.name!r} is heaped at multiples of {one.heaped_at:g}, and no column of real numbers"


def _several(one: Variable) -> bool:
    """Return whether there are two multiples between the bounds, and no more than floats tell apart."""
    unit = one.multiple_of or 1.0
    # before exact fractions, which may be long
    return max(abs(one.lower), abs(one.upper)) <= 2.0**45 * unit and between(one.lower, one.upper, unit).count > 1


# Parts --------------------------------------------------------------------------------------------------------------


def _part(made: Release, part: Part, cells: int) -> Iterator[str]:
    """Check one part: its encoding, grids, constants, integers, sensitivities and noise."""
    shape = FORMS[part.form]
    if part.form not in forms_of(made.kind):
        yield f"has form {part.form!r}, which kind {made.kind} has not"
    if part.law.name not in shape.laws:
        yield f"has noise of {part.law.name}, which form {part.form!r} has not"
    needed = {*shape.parameters}
    # an upper bound on the names; the room's `stored` knows how many there must be
    weights = {f"weight{j}" for j in range(len(part.parameters))} if shape.weights else set[str]()
    if not needed <= set(part.parameters) <= needed | weights | ({"share"} if shape.shares else set[str]()):
        yield f"has constants {', '.join(sorted(part.parameters))[:80]}, which are not those of form {part.form!r}"
    if "share" in part.parameters and "share" not in needed and made.unit is None:
        yield "shares persons out, and a row is a person"
    yield from _grids(part)
    if shape.texts != (part.texts is not None):
        yield f"has no texts; form {part.form!r} has" if shape.texts else f"has texts; form {part.form!r} has not"
    if part.form not in ("sparse-histogram", "unlisted"):
        yield from _integers(made, part, cells)
    yield from _noise(
        made, part, EncodingFacts(part.cost.noise == "laplace", made.neighbors == "replace-one", cells > 1)
    )


def _grids(part: Part) -> Iterator[str]:
    shape, G = FORMS[part.form], part.parameters.get("G")
    if (shape.grid is True and part.grid is None) or (shape.grid is False and part.grid is not None):
        yield f"has {'no' if part.grid is None else 'a'} grid"
    if shape.weight != (part.weight is not None):
        yield f"has {'no' if part.weight is None else 'a'} weight"
    if part.grid is not None:
        width = part.grid.upper - part.grid.lower
        if not 0 < width <= WIDEST or max(abs(part.grid.lower), abs(part.grid.upper)) > WIDEST:
            yield "has a grid whose bounds are not in order, or too wide"
        # the steps per unit, by which cells are multiplied
        elif not isfinite(part.grid.G / width):
            yield "has a grid whose bounds are too narrow"
        if shape.parameters[0] == "G" and part.form not in ("size", "quartiles", "classes") and part.grid.G != G:
            yield f"has G = {G}, and a grid of {part.grid.G} steps"
    if part.weight is not None and (part.parameters["A"] != part.weight.G or not part.weight.upper > 0):
        yield "has weights of another grid than its form"


def _integers(made: Release, part: Part, cells: int) -> Iterator[str]:
    least, most = FORMS[part.form].integers
    if made.mechanism == "quantiles/1":  # had no groups, and a cell for each step of a probability
        cells, least, most = most, 1, 1
    if len(part.integers) != cells:
        yield f"has {len(part.integers):,} cells of integers; there are {cells:,}"
    # packed cells have one integer each by their type
    wide = 1 if isinstance(part.integers, Packed) else len(part.integers[0])
    if part.form == "weighted":
        least = most = 4 if part.parameters["G"] == 1 else 5
    if part.form == "classes":
        least = most = part.parameters["classes"]
    if not least <= wide <= most:
        yield f"has {wide:,} integers a cell, which form {part.form!r} has not"
    if isinstance(part.law, SphericalLaplace) and (cells, wide) != (1, part.law.dimension):
        yield f"has noise of a vector of {part.law.dimension:,} integers, and {cells * wide:,} of them"
    if isinstance(part.law, ProductLaplace) and (cells, wide) != (1, part.law.size):
        yield f"has {part.law.size:,} integers of a vector of noise, and {cells * wide:,} in all"
    top = part.parameters["bins"] - 1 if part.form == "range" else part.parameters.get("G", 0)
    # a selected point is one of the public grid; a sum with noise may be any integer
    if part.law.name in SELECTS and not all(0 <= k <= top for cell in part.integers for k in cell):
        yield f"has selected places that are not from 0 to {top}"


def _vector(made: Release) -> Iterator[str]:
    """Check that noise which is one vector is of all its columns."""
    laws = [part.law for part in made.parts if isinstance(part.law, ProductLaplace)]
    whole = sum(law.size for law in laws)
    for law in laws:
        if law.dimension != whole:
            yield f"its parts have {whole:,} integers of a vector of noise in {law.dimension:,} dimensions"


def _noise(made: Release, part: Part, facts: EncodingFacts) -> Iterator[str]:
    """Check that constants, sensitivities and noise follow from encoding, neighbouring relation and price."""
    constants = tuple(sorted(part.parameters.items()))
    wider = made.query.widens_noise
    asked: int = getattr(made.query, "laplace_draws", 1)
    if (part.law.draws if isinstance(part.law, AveragedLaplace) else 1) != asked:
        yield f"has {part.law.name} noise, where the question asks for {asked} Laplace draw{'s' if asked > 1 else ''}"
    price = price_of_noise(part, made.parts)
    yield from _made_so(part.form, constants, part.law, part.l1, part.l2_squared, price, facts, wider)


@lru_cache(maxsize=4096)
def _made_so(
    form: str,
    constants: tuple[tuple[str, int], ...],
    law: Law,
    l1: int,
    l2_squared: int,
    cost: Cost,
    facts: EncodingFacts,
    wider: bool,
) -> tuple[str, ...]:
    """Return what is wrong with a part apart from its integers; cached, as many documents have equal parts."""
    given, wrong = dict(constants), list[str]()
    found = implied_constants(form, given, facts)
    if found is None:
        return (f"has constants with which form {form!r} is not proven",)
    for name, value in found.constants.items():
        if given[name] != value:
            wrong.append(f"has {name} = {given[name]}; form {form!r} makes it {value}")
    for name, value, own in (("l1", found.l1, l1), ("l2_squared", found.l2_squared, l2_squared)):
        if value is not None and own != value:
            wrong.append(f"has sensitivity {name} = {own}; form {form!r} makes it {value}")
    # an l2 norm is at most the l1 norm
    if l2_squared > l1**2:
        wrong.append("has an l2 sensitivity above that in l1")
    if FORMS[form].laws[0] in SELECTS:
        good = selected(form, law, given, cost, facts)
    else:
        good = is_noise_of_price(law, l1, l2_squared, cost, wider=wider)
    return (*wrong, *(() if good else ("has noise that is not what its price buys",)))


# Price --------------------------------------------------------------------------------------------------------------


def _price(made: Release) -> Iterator[str]:
    """Check that the costs of the parts add up exactly to the cost of the release."""
    kinds = {part.cost.kind for part in made.parts}
    if len(kinds) > 1 or (made.cost.kind == "pure") != (kinds == {"pure"}):
        yield "its parts are priced in another way than the whole"
    # pairs (ε, δ) do not add up as numbers; shares of a pair do, in μ²
    elif kinds == {made.cost.kind} != {"approximate"} or (made.cost.kind, kinds) == ("approximate", {"gdp"}):
        total = sum((_amount(part.cost) for part in made.parts), Fraction(0))
        if total != _amount(made.cost):
            yield f"its parts do not cost {made.cost} together"
    elif len(made.parts) == 1 and kinds == {"approximate"} and made.parts[0].cost != made.cost:
        yield f"its part does not cost {made.cost}"


def _amount(cost: Cost) -> Fraction:
    return cast(Fraction, cost.epsilon if cost.kind == "pure" else cost.zcdp)
