"""Design quantiles: choose grid, cells, prices and laws of selection from the question and public facts."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from fractions import Fraction
from functools import partial
from math import ceil
from typing import Any, Final, SupportsFloat, cast

from tacit.errors import QueryError
from tacit.method.quantiles import cube_errors, cut_tree, joint_errors, many_steps
from tacit.method.quantiles.query import Quantiles
from tacit.method.quantiles.rank_errors import offset, scale_of, spread
from tacit.method.shared import encoding as moment_forms
from tacit.method.shared import rank_utilities
from tacit.method.shared import weighted_encoding as weighted_forms
from tacit.method.shared.encoding import Encoding
from tacit.method.shared.encoding_choice import resized
from tacit.method.shared.group_keys import keys_of
from tacit.method.shared.measurement import Measurement, PartSpec, Public
from tacit.method.shared.rank_utilities import SIZE
from tacit.method.shared.weighted_encoding import SHARE as PARTS
from tacit.noise.permute_and_flip import PermuteAndFlip
from tacit.noise.selection_law import Selection, utility_gap
from tacit.privacy import Cost, noise_for
from tacit.privacy.budget import Neighbors
from tacit.release.parts import Grid
from tacit.rows.row_map import ONE, PersonWeight, RowMap
from tacit.schema.predicates.typed_conditions import typed
from tacit.schema.row_maps_of_columns import rowmap, unit_of

VERSION: Final = "quantiles/2"


KIND: Final = "quantiles"


MOST_STEPS: Final = 2**20
"""Most steps of the grid, where there is one selection: those of `rows.row_map.GRID`."""


LEAST_STEPS: Final = 2**12
"""Steps of the grid where there are many selections."""


STEPS_IN_SCALE: Final = 16
"""Steps of the grid in a scale of ranks, where rows are spread evenly over the bounds."""


UNKNOWN_STEPS: Final = 2**16
"""Most steps of the grid on which three are selected together, where nothing is known of the number of rows."""


MOST_CELLS: Final = 256
"""Most cells of `by`.  Each cell has its own selections in exact arithmetic: about 0.1 s for three quantiles."""


FEWEST: Final = 5
"""Quantiles from which on cuts of the column are considered where nothing is known of the number of rows."""


NARROWER: Final = 0.9
"""Part of the expected width of selected ends below which that of cuts must be: their values err by more."""


CUTS_OF_ALL: Final = 2_000
"""Most cuts of all cells together: each is a selection in exact arithmetic."""


MOST_ROWS: Final = 10**6
"""Most rows of which cuts are made: a cut looks at each row of its range, about three seconds for 100,000."""


ASSUMED: Final = 10_000
"""Rows supposed where nothing is known of their number."""


RUNGS: Final = {"point": (0,), "ranks-2": (-1, 0, 1), "joint-4": (-1, 0, 1)}
"""The steps of one probability by form, as multiples of the offset c: below the quantile, at it, and above it."""


MOST_SCALE: Final = 64
"""Largest scale of a joint selection, in ranks: the time that it takes grows with the square of the scale."""


MOST_WORK: Final = 4 * MOST_SCALE**2
"""Most squared scales of the joint selections of all cells together: about four seconds for one probability."""


PERSONS_WORK: Final = 64
"""As many cells of rows take about as long as one of persons in several cells, whose weights make many utilities."""


def design(query: Quantiles, public: Public, cost: Cost) -> Measurement:
    """Return the measurement: selections for each probability, and a noisy number of rows where it is not public.

    QueryError where the question is not allowed.
    """
    unit, keys = unit_of(public.schema), keys_of(query, public.schema)
    where = None if query.where is None else typed(query.where, public.schema)
    shape = Measurement.of(query, public, cost, kind=KIND, mechanism=VERSION, keys=keys, where=where)
    if shape.cells > MOST_CELLS:
        message = f"Quantiles: by= makes {shape.cells:,} cells; at most {MOST_CELLS} are released."
        raise QueryError(message, code="Q31", hint="fewer columns in by=, or fewer bins")
    own = rowmap(public.schema, query.column)
    public_size = _is_sized(shape, own)
    # a selection at p N itself needs no released N: only offsets depend on it
    sized = public_size or not query.interval
    paid = cost if sized else cost.share(1 - SIZE)
    each = paid.share(Fraction(1, len(query.probs)))
    most = steps(query, shape.cells)
    if query.interval and all(is_joint(shape, p, each) for p in probs_of(query)):
        # of the largest scale of all, so that one grid serves all probabilities
        size = None if public.size is None else public.size / shape.cells
        most = min(fewer_steps(most, size, joint_scale(shape, p, each)) for p in probs_of(query))
    at = resized(own, most, fine=unit is not None)
    missing = "exclude" if at.missing is None else str(getattr(public.schema[query.column], "missing", ""))
    units = "days since 1970-01-01" if at.kind == "date" else getattr(public.schema[query.column], "units", None)
    grid = Grid(at.kind, at.lower, at.upper, at.G, units, missing)
    if is_halved(shape):
        return replace(shape, columns=(halved(shape, at, grid, cost),))
    columns = [_selection(shape, p, at, grid, each) for p in probs_of(query)]
    plan = cuts_plan(shape, public.size, columns, sized=public_size)
    if plan is not None:
        at = resized(own, steps(query, shape.cells), fine=unit is not None)
        return replace(shape, columns=cut(shape, at, replace(grid, G=at.G), plan))
    if not sized:
        columns.append(_size(shape, at, grid, cost.share(SIZE)))
    return replace(shape, columns=tuple(columns))


def _is_sized(shape: Measurement, own: RowMap) -> bool:
    """Return whether the number of present rows is public: no row can be absent, all are in one cell, none missing."""
    return shape.rows is not None and own.missing is not None and not shape.keys and shape.where is None


def is_sized(shape: Measurement) -> bool:
    """Return whether the number of present rows is public."""
    return _is_sized(shape, cast(RowMap, shape.columns[0].rowmap))


def form_of(query: Quantiles) -> str:
    """Return the name of the form of the selections."""
    return "ranks-2" if query.interval else "point"


def steps(query: Quantiles, cells: int) -> int:
    """Return the most steps of the grid, a power of 2: the fewer, the more selections there are, as each takes time.

    Finer is nearer to the rows, and no less private.  The law of a selected rank hardly changes: steps between rows are
    divided, near the quantile as far from it.

    >>> steps(Quantiles("x", [0.5], interval=False), 1) == 2**20, steps(Quantiles("x", [0.5]), 1) == 2**18
    (True, True)
    """
    selections = cells * len(query.probs) * len(RUNGS[form_of(query)])
    return max(LEAST_STEPS, MOST_STEPS >> (selections - 1).bit_length())


def _size(shape: Measurement, at: RowMap, grid: Grid, cost: Cost) -> PartSpec:
    """Return the part that releases the noisy number of rows, or weight of persons, in each cell."""
    share, column = _share(shape), cast(Quantiles, shape.query).column
    # leaves: with one cell under replace-one this part is asked for only where rows can be absent from it
    own = replace(moment_forms.count(shape.cells, shape.neighbors, leaves=True), name="size")
    own = own if share is None else weighted_forms.shared(own, share.G)
    return PartSpec(column, own, at, grid, noise_for(own.l1, own.l2_squared, cost), cost, share)


def _share(shape: Measurement) -> PersonWeight | None:
    """Return how a person's weight is divided over cells; None where a person is in one cell only."""
    return PersonWeight(PARTS) if shape.several else None


def _selection(shape: Measurement, p: Fraction, at: RowMap, grid: Grid, cost: Cost) -> PartSpec:
    """Return the part of one probability: its selections, which share the part's price equally."""
    relation, share, grouped = _relation(shape), _share(shape), bool(shape.keys)
    A = 1 if share is None else share.G
    name = form_of(cast(Quantiles, shape.query))
    if name != "point" and all(is_joint(shape, one, cost) for one in probs_of(cast(Quantiles, shape.query))):
        return _joint(shape, p, at, grid, cost)
    # `law_for` is of rows; a person changes utilities by A times as much, so that the rate is divided by A below
    rungs = RUNGS[name]
    law = rank_utilities.law_for(cost.share(Fraction(1, len(rungs))), p, relation, grouped=grouped)
    most, squared = rank_utilities.reached(p, relation, grouped=grouped)
    facts = {"G": at.G, "numerator": p.numerator, "denominator": p.denominator}
    facts |= {} if share is None else {"share": A}
    form = Encoding(name, facts, (ONE,), ((1,),) * len(rungs), A * most, A * A * squared)
    # permute-and-flip is the nearer to the quantile, but its range is larger than what a price in rho or mu**2 buys
    selecting = PermuteAndFlip if cost.noise == "laplace" else Selection
    return PartSpec(
        cast(Quantiles, shape.query).column, form, at, grid, cast(Any, selecting(law.rate / A)), cost, share
    )


def probs_of(query: Quantiles) -> tuple[Fraction, ...]:
    """Return the probabilities of a question, as fractions."""
    return cast("tuple[Fraction, ...]", query.probs)


def fewer_steps(most: int, rows: float | None, scale: float) -> int:
    """Return the steps of a grid on which three are selected together, a power of 2; scale: in ranks.

    Many equal rows are on one step, against all those of a gap beside them, so that more steps than tell ranks apart
    only make it likelier that an end is drawn from the gap.

    >>> fewer_steps(2**18, 10_000, 2.0), fewer_steps(2**18, 10**6, 2.0), fewer_steps(2**18, None, 2.0)
    (131072, 262144, 65536)
    """
    if rows is None:
        return min(most, UNKNOWN_STEPS)
    wanted = STEPS_IN_SCALE * rows / scale
    return min(most, max(LEAST_STEPS, 1 << (ceil(wanted) - 1).bit_length()))


def is_joint(shape: Measurement, p: Fraction, cost: Cost) -> bool:
    """Return whether the three steps of a probability are selected together, at a cost of `cost`: where it is quick."""
    scale, work = joint_scale(shape, p, cost), PERSONS_WORK if shape.several else 1
    return scale <= MOST_SCALE and work * shape.cells * scale**2 <= MOST_WORK


def joint_scale(shape: Measurement, p: Fraction, cost: Cost) -> float:
    """Return how many ranks change the probability of a triple by a factor e."""
    law = rank_utilities.law_for(cost, p, _relation(shape), grouped=bool(shape.keys))
    return float(law.scale) / p.denominator


def _relation(shape: Measurement) -> Neighbors:
    return "replace-one" if shape.neighbors == "replace-one" else "add-remove"


def between(p: Fraction, neighbors: Neighbors, *, grouped: bool) -> int:
    """Return the weight of a row that is missing between the ends of a triple, w of `mechanism_joint_selection`.

    >>> between(Fraction(1, 4), "replace-one", grouped=False), between(Fraction(1, 4), "replace-one", grouped=True)
    (4, 0)
    """
    return p.denominator if neighbors == "replace-one" and not grouped else 0


def _joint(shape: Measurement, p: Fraction, at: RowMap, grid: Grid, cost: Cost) -> PartSpec:
    """Return the part of one probability whose three steps are selected together, at the whole price."""
    relation, grouped, share = _relation(shape), bool(shape.keys), _share(shape)
    A = 1 if share is None else share.G
    # as of one step: `mechanism_joint_selection`, Sensitivity
    law = rank_utilities.law_for(cost, p, relation, grouped=grouped)
    most, squared = rank_utilities.reached(p, relation, grouped=grouped)
    facts = {"G": at.G, "numerator": p.numerator, "denominator": p.denominator}
    facts |= {"between": between(p, relation, grouped=grouped)}
    facts |= {} if share is None else {"share": A}
    # one selection, of a triple
    form = Encoding("joint-4", facts, (ONE,), ((1,),), A * most, A * A * squared)
    return PartSpec(
        cast(Quantiles, shape.query).column, form, at, grid, cast(Any, Selection(law.rate / A)), cost, share
    )


def is_halved(shape: Measurement) -> bool:
    """Return whether the quantiles are selected by halving ranges (`mechanism_many`): points at a pure price, in one
    cell, where that is expected to err by fewer ranks than an equal part of the price for each.
    """
    query = cast(Quantiles, shape.query)
    if query.interval or shape.keys or shape.cost.epsilon is None or shape.cost.noise != "laplace":
        return False
    return many_steps.is_nearer(query.probs, shape.cost, replaces=shape.neighbors == "replace-one")


def halved(shape: Measurement, at: RowMap, grid: Grid, cost: Cost) -> PartSpec:
    """Return the part of all quantiles, selected by halving ranges."""
    query = cast(Quantiles, shape.query)
    levels = many_steps.levels(len(query.probs))
    # at each level utilities, each divided by its M, change by 1 in all
    form = Encoding("halved", {"G": at.G, "levels": levels}, (ONE,), ((1,),), levels, levels)
    law = PermuteAndFlip(many_steps.rate_for(cost, len(query.probs)))
    return PartSpec(query.column, form, at, grid, cast(Any, law), cost)


def cuts_plan(shape: Measurement, size: int | None, columns: list[PartSpec], *, sized: bool) -> cut_tree.CutPlan | None:
    """Return the plan of cuts and counts (`mechanism_cuts`), where its intervals are expected to be narrower than
    those of `columns`, a part of the price each, or those would be too uncertain to be told; else None.

    Selected ends follow the released number of rows, and so suit a group of any size; a plan of cuts is made for
    `size`, what is public or said of the number, and an equal part of it in each cell.  Of a part of the rows, which
    may be far fewer, few quantiles are read from cuts only where ends would be too uncertain even of all rows.
    """
    query = cast(Quantiles, shape.query)
    few = bool(shape.keys) or len(query.probs) < FEWEST
    rows = float(ASSUMED if size is None else size)
    if not query.interval or shape.several or not 1 <= rows <= MOST_ROWS or (size is None and few):
        return None
    rows = max(1.0, rows / shape.cells)
    replaces, probs = shape.neighbors == "replace-one", probs_of(query)
    found = cut_tree.plan_of(probs, rows, shape.cost, float(query.level), replaces=replaces, sized=sized)
    if found is None or shape.cells * len(cut_tree.tree(probs, found.levels, found.reach)) > CUTS_OF_ALL:
        return None
    alone = [split_half(column, rows, float(query.level)) for column in columns]
    if None in alone:
        return found
    if query.where is not None and few:
        return None
    made = [spread(float(p), width / 2, rows) for p, width in zip(probs, found.widths, strict=True)]
    other = [spread(float(p), cast(float, half), rows) for p, half in zip(probs, alone, strict=True)]
    return found if sum(made) < NARROWER * sum(other) else None


def split_half(column: PartSpec, rows: float, level: float) -> float | None:
    """Return the expected half-width, in ranks, of an interval whose ends are selected; None if it has a reason."""
    scale = scale_of(column.form.parameters, column.law.scale)
    few = few_rows(column.form.name, column.form.parameters, column.law.scale, rows, level)
    return reach(column, rows, level) + scale if few is None else None


def few_rows(form: str, facts: Mapping[str, int], scale: SupportsFloat, rows: float, level: float) -> float | None:
    """Return how many rows would make a selected quantile reliable, where `rows` do not; else None.

    A step r ranks off has weight exp(-r / scale); beyond the first and last ranks all steps together must have little
    weight, compared with the steps near the quantile.  Those are at least as many as one in LEAST_STEPS where rows lie
    within a reasonable part of the bounds, however fine the grid.
    """
    p = facts["numerator"] / facts["denominator"]
    points = min(facts["G"], LEAST_STEPS) + 1
    # of three steps selected together two may be any there, once one is
    points = points**2 if form in ("joint", "joint-2", "joint-3", "joint-4") else points
    # the quantile is size min(p, 1 - p) ranks from the nearer end of the rows, beyond which the steps are empty
    needed = utility_gap(scale_of(facts, scale), points, 1 - level)
    return None if rows * min(p, 1 - p) >= needed else needed / min(p, 1 - p)


def cut(shape: Measurement, at: RowMap, grid: Grid, plan: cut_tree.CutPlan) -> tuple[PartSpec, PartSpec]:
    """Return the part of the cuts, and that of the noisy numbers of rows between them."""
    label, cost = cast(Quantiles, shape.query).column, shape.cost
    w = plan.weights
    paid = cost.share(plan.share), cost.share(1 - plan.share)
    # at each level utilities, each divided by M and times its weight, change by the weight in all
    facts = {"G": at.G, "levels": plan.levels, "even": plan.even, "reach": plan.reach}
    cutting = Encoding("cuts", facts, (ONE,), ((1,),), sum(w), sum(one * one for one in w))
    moves = 2 if shape.neighbors == "replace-one" else 1
    between = Encoding("between", {"G": at.G}, (ONE,), ((1,),), moves, moves)
    law = Selection(cut_tree.rate_for(paid[0], w))
    return (
        PartSpec(label, cutting, at, grid, cast(Any, law), paid[0]),
        PartSpec(label, between, at, grid, noise_for(moves, moves, paid[1]), paid[1]),
    )


def reach(column: PartSpec, size: float, level: float) -> int:
    """Return the offset c in ranks: how far sampling and selection errors reach at the level.

    size: N, or a released N.  The noise of a released N has no part in it: selections aim at p times the exact N, and
    only c depends on the released one.
    """
    facts = column.form.parameters
    p = facts["numerator"] / facts["denominator"]
    return offset_for(column.form.name, facts)(p, size, scale_of(facts, column.law.scale), level)


def offset_for(form: str, parameters: Mapping[str, int]) -> Callable[[float, float, float, float], int]:
    """Return the function of p, size, scale and level that gives the offset c of a form; parameters: of the part."""
    if form in ("joint-3", "joint-4"):
        steps = parameters["G"] + 1 if form == "joint-4" else cube_errors.GAP_STEPS
        return partial(cube_errors.far_offset, between=parameters["between"] > 0, steps=steps)
    return {"joint": joint_errors.offset, "joint-2": cube_errors.offset}.get(form, offset)


def split(shape: Measurement) -> tuple[tuple[PartSpec, ...], PartSpec | None]:
    """Return the parts of selections, one for each probability, and the part of noisy numbers of rows, or None."""
    last = shape.columns[-1]
    return (shape.columns[:-1], last) if last.form.name == "size" else (shape.columns, None)
