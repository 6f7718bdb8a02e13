"""What a plan page says of its table: what the widths rest on, and over what the ranges are."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final, cast

from tacit.method.quantiles.query import Quantiles
from tacit.method.shared.asked_parameters import asked_parameters, told_parameters
from tacit.method.shared.asked_parameters import columns_of as columns_of_law
from tacit.method.shared.measurement import Measurement
from tacit.method.shared.plan_expected import ASSUMED
from tacit.method.shared.plan_shares import PART
from tacit.planning.guessed_spreads import TIED
from tacit.planning.guessed_values import RARE, TIMES
from tacit.planning.printed_widths import printed, printed_range
from tacit.release.parts import Variable
from tacit.release.registry import room_of
from tacit.schema.expectations import Expectations

if TYPE_CHECKING:
    from tacit.planning.question import PlannedQuestion

APART: Final = (
    "where values lie farther apart, half of them at each bound, a mean's interval is up to 1.7 times as wide"
)
"""The largest standard deviation between two bounds is sqrt(3) times that of values spread evenly."""
SHAPES: Final = (
    "from and to, of a regression whose columns are told: values with long tails, and columns that go together "
    f"(correlations of {TIED:g}); the width itself is that of independent columns without long tails"
)
DENSITIES: Final = (
    "from and to, of quantiles: values of any shape that agrees with what is told (the rarest, one in seven, are left "
    "out); where many values are alike (round numbers, say) an interval is as narrow as they are, or as wide as the "
    "distance to the next. Quantiles of a past release, told, make the range narrower"
)
CURVES: Final = (
    "width of a density: root mean square over the column's range, where values lie smoothly; from and to: where they "
    "gather at round numbers or in clusters as well, so that limits are wider, or not told"
)
PARAMETERS: Final = (
    "from and to, of a law: parameters in the middle of their boxes, one or all in the lowest tenth, one in the highest"
)
STEPS: Final = (
    "from and to, of a law: where the rows follow it, and where they do not, so that blocks of rows answer in place of "
    "one step"
)
SPREADS: Final = (
    "from and to, of means of blocks: their estimates vary 2.5 times less, or more, than the law says, as where rows "
    "do not follow it"
)
GROUPED: Final = (
    f"from and to, of shares in groups: a group's share may be {TIMES} times less than is told, or more, or none at all"
)
CELLS: Final = "from and to, of a histogram: a cell that is next to empty, and one with half of the rows"
PAIR: Final = re.compile(r'"([^"]*)": ([^,]+)')
CURVED: Final = ("kernel_density", "orthogonal_series", "bernstein")
LAWS: Final = ("blocks", "sufficient_statistics")


def notes(parts: Sequence[PlannedQuestion], expect: Expectations, *, in_files: bool = False) -> tuple[str, ...]:
    """Return the notes under the table of expected widths.

    in_files: whether what may be told is written as a line of a file, and not as an argument of Python.
    """
    read, laws = dict.fromkeys(name for part in parts for name in _names(part)), [*filter(_of_law, parts)]
    told = [part for part in laws if told_parameters(part.shape.query, expect.of_question(part.name))]
    known = [name for name in expect.columns if name in read or name not in (*expect.numbers, *expect.shares)]
    said = [f"as expected: {', '.join(known)}"] if known else []
    if len(laws) < len(parts) and not (known and set(read) <= set(known)):
        said.append(f"of other columns: {ASSUMED}" if known else ASSUMED)
    if len(told) < len(laws):
        said.append("parameters of a law in the middle of their boxes")
    untold = dict.fromkeys(words for part in parts if (words := part.untold(expect)))
    # values at both bounds are in a range
    uneven = any(part.evenly and not part.known(expect) and not part.ranges for part in parts)
    of_parts = [of_ranges(part, expect) for part in parts if part.ranges]
    ranged = dict.fromkeys(note for every in of_parts for note in every if isinstance(note, str))
    # one line of all columns: questions that read the same ones would each have it
    guesses = {one.name: one for every in of_parts for note in every if not isinstance(note, str) for one in note}
    if guesses:
        ranged = {_guessed([*guesses.values()], in_files): None, **ranged}
    others = [_curve(part) for part in parts if part.curve is not None]
    others += [part.other.line(part.called) for part in parts if part.other is not None]
    return (f"assumed: {'; '.join(said)}", *untold, *([APART] if uneven else []), *ranged, *others)


def _curve(part: PlannedQuestion) -> str:
    """Return what the smooth density of a histogram would have, in words."""
    one = part.curve
    assert one is not None
    least, largest = one.between or (one.width, one.width)
    low, high = printed_range(least, largest)
    more = ", or no limits" if one.open else ""
    return (
        f"{part.called}: limits of its smooth {one.term} are {printed(one.width)} wide, from {low} to {high}{more} "
        "(root mean square over the range; where values gather at round numbers or in clusters as well)"
    )


def of_ranges(part: PlannedQuestion, expect: Expectations) -> list[str] | list[list[Variable]]:
    """Return what the ranges of a question's widths are over: in words, or the columns of which nothing is told."""
    shape, room = part.shape, str(room_of(part.shape.query))
    untold = [one for one in part.reads if one.name not in expect.columns]
    if room in CURVED:
        return [CURVES]
    if room == "histogram":
        return [CELLS]
    if room in LAWS:
        return _of_laws(part, expect)
    if untold:
        return [untold]
    if room == "regression":
        return [SHAPES]
    return [DENSITIES] if isinstance(shape.query, Quantiles) else [GROUPED]


def _of_laws(part: PlannedQuestion, expect: Expectations) -> list[str]:
    """Return what the range of a law's parameters is over: what they may be, and what rows of another law do."""
    query = part.shape.query
    found = [] if told_parameters(query, expect.of_question(part.name)) else [PARAMETERS]
    if room_of(query) == "blocks":
        found.append(STEPS if getattr(query, "one_step", False) else SPREADS)
    return found


def _guessed(untold: Sequence[Variable], in_files: bool) -> str:
    """Return over which guesses of untold columns a range is, and how one of them is told."""
    numbers = [one for one in untold if one.kind not in ("levels", "boolean")]
    said = [f"columns fill their bounds or {PART:.0%} of them"] if numbers else []
    said += [f"Booleans are true in half of the rows or in {RARE:.0%}"] if _any(untold, "boolean") else []
    said += ["a level is as frequent as others or rare"] if _any(untold, "levels") else []
    first = untold[0]
    how = {"levels": f'"{(first.labels or ("a",))[0]}": 0.6', "boolean": '"true": 0.3'}.get(
        first.kind, '"mean": …, "sd": …'
    )
    told = f'expect={{"{first.name}": {{{how}}}, …}}'
    if in_files:
        how = PAIR.sub(lambda pair: f"{_key(pair[1])} = {pair[2]}", how)
        told = f"{_key(first.name)} = {{ {how} }} in [expect], or --expect"
    return f"from and to: {', '.join(said)}; told more, the range is narrower: {told}"


def _key(name: str) -> str:
    """Return a name as a key of TOML."""
    return name if re.fullmatch(r"[A-Za-z0-9_-]+", name) else f'"{name}"'


def _any(untold: Sequence[Variable], kind: str) -> bool:
    return any(one.kind == kind for one in untold)


def _of_law(part: PlannedQuestion) -> bool:
    """Return whether a question asks of the parameters of a law."""
    return bool(asked_parameters({"asked": part.shape.query}))


def _family(shape: Measurement) -> Any:
    query: Any = shape.query
    return getattr(getattr(query, "model", None) or getattr(query, "family", None), "law", None)


def _names(part: PlannedQuestion) -> list[str]:
    """Return the columns that a question reads."""
    shape = part.shape
    if room_of(shape.query) in LAWS:
        # what is told of the column says something of a normal law alone
        return list(columns_of_law(shape.query)) if type(_family(shape)).__name__ == "Normal" else []
    own = [one.name for one in (*part.reads, *shape.variables)]
    weights = [column.weight for column in shape.columns]
    named = [cast(Any, one).column for one in weights if hasattr(one, "column")]
    return [*own, *(key.column for key in shape.keys), *named]
