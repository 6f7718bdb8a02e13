"""Which parts a question has: how many, of which columns, in which order.  A law of documents: see `release_laws`.

One short function for each kind of release.  A question that a reader cannot follow (a function of one's own, of which
a file has the name alone) is taken as the document has it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from itertools import pairwise
from math import prod
from typing import TYPE_CHECKING, Any, Final, cast

from tacit.errors import TacitError
from tacit.fields import once
from tacit.linear.formula import parse
from tacit.linear.layout import Layout, layout
from tacit.linear.query import Regression
from tacit.parts import Part
from tacit.queries import Count, DataQuality, Histogram, Quantiles, Range, Variance
from tacit.queries_blocks import SampleAndAggregate
from tacit.queries_statistics import SufficientStatistics
from tacit.schema.rowmaps import WIDE

if TYPE_CHECKING:
    from tacit.release import Release


def parts_wrong(made: Release) -> Iterator[str]:
    """Why a release's parts are not those of its question; nothing where they are."""
    yield from PARTS[made.kind](made)


def _forms(made: Release, *forms: str) -> bool:
    return tuple(part.form for part in made.parts) == forms


def _moments(made: Release) -> Iterator[str]:
    query: Any = made.query
    columns = ("",) if isinstance(query, Count) else tuple(query.columns)
    if tuple(part.label for part in made.parts) != columns:
        yield f"its parts are not of {', '.join(map(repr, columns))}, which the question asks for"
    weights = getattr(query, "weights", None) is not None
    for part in made.parts:
        if isinstance(query, Count):
            good = part.form == ("counted" if weights else "count")
        elif isinstance(query, Variance):
            good = part.form == "bernstein"
        else:
            weighed = weights or getattr(query, "per", None) == "row"
            good = part.form not in ("count", "counted", "bernstein") and (part.form == "weighted" or not weighed)
        grouped = bool(made.levels) or made.neighbors == "add-remove"
        if not good or (grouped and part.form in ("plain", "exclusion", "binary-plain", "binary-exclusion")):
            yield f"form {part.form!r} is no answer to this {type(query).__name__}"


def _quality(made: Release) -> Iterator[str]:
    labels = tuple(part.label for part in made.parts)
    columns = tuple(cast(DataQuality, made.query).columns)
    if not once(labels) or (columns and labels != columns):
        yield "its parts are not of the columns that the question asks for, each once"


def _first(made: Release) -> bool:
    """Whether quantiles are of the version that had no groups, and a cell for each step of a probability."""
    return made.mechanism == "quantiles/1"


def _quantiles(made: Release) -> Iterator[str]:
    query = cast(Quantiles, made.query)
    chosen, grid = made.parts[: len(query.probs)], made.parts[0].grid
    public = made.rows is not None and grid is not None and grid.missing != "exclude"
    public = public and not made.levels and query.where is None
    if not _forms(made, *("ranks" for _ in query.probs), *(() if public else ("size",))):
        yield "its parts are not one for each probability, and the number of rows where it is not public"
        return
    asked = [(p.numerator, p.denominator) for p in query.probs]
    if asked != [(part.parameters["numerator"], part.parameters["denominator"]) for part in chosen]:
        yield "its probabilities are not those of the question"
    if any(part.label != query.column or part.grid != grid for part in made.parts):
        yield f"its parts are not all of {query.column!r} on one grid"
    if not _first(made) and any(len(cell) != 3 for part in chosen for cell in part.integers):
        yield "it has not three selections for each quantile"


def _range(made: Release) -> Iterator[str]:
    query = cast(Range, made.query)
    if not _forms(made, "range", "present") or any(part.label != query.column for part in made.parts):
        yield f"its parts are not the range of {query.column!r}, and the number of rows"
        return
    facts, p = made.parts[0].parameters, query.outside / 2
    if facts["bins"] != len(WIDE) + 1:
        yield f"it has {facts['bins']} bins; there are {len(WIDE) + 1}"
    if (facts["numerator"], facts["denominator"]) != (p.numerator, p.denominator):
        yield "its probability is not that of the question"


def _histogram(made: Release) -> Iterator[str]:
    if len(made.parts) != 1 or made.parts[0].label != "" or cast(Histogram, made.query).sparse:
        yield "it is not one part of all cells"


def _sparse(made: Release) -> Iterator[str]:
    query = cast(Histogram, made.query)
    if len(made.parts) != 1 or made.parts[0].label != "" or not query.sparse:
        yield "it is not one part of the cells that passed"
        return
    (part,) = made.parts
    cells, least = prod(len(labels) for _, labels in made.levels), part.parameters["threshold"]
    if query.threshold is not None and query.threshold * part.parameters.get("share", 1) != least:
        yield "its threshold is not that of the question"
    if any(len(cell) != 2 or not 0 <= cell[0] < cells or cell[1] < least for cell in part.integers):
        yield "it has a cell that there is not, or one below the threshold"
    if any(one[0] >= other[0] for one, other in pairwise(part.integers)):
        yield "its cells are not in order"


def _statistics(made: Release) -> Iterator[str]:
    from tacit.models.statistics import statistics

    query = cast(SufficientStatistics, made.query)
    found = statistics(query.family.law) or ()
    if len(made.parts) != len(found) or not once([part.label for part in made.parts]):
        yield f"it has {len(made.parts)} parts for {len(found)} sufficient statistics"


def _blocks(made: Release) -> Iterator[str]:
    """Means of blocks, each after its quartiles where there are windows, then scores where there is a step."""
    query = cast(SampleAndAggregate, made.query)
    each = ("quartiles", "blocks") if query.winsorize else ("blocks",)
    means = [part for part in made.parts if part.form == "blocks"]
    first, scores = made.parts[: len(each) * len(means)], made.parts[len(each) * len(means) :]
    if not means or tuple(part.form for part in first) != each * len(means):
        yield "its parts are not means of blocks, one for each parameter"
        return
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
    if [part.label for part in scores] != ([f"score of {name}" for name in labels] if query.one_step else []):
        yield "its parts after the means are not one score for each parameter"
    if any(part.form in ("blocks", "quartiles") for part in scores):
        yield "its parts are not in order"


def _parameters(query: SampleAndAggregate) -> tuple[str, ...]:
    """Names of the parameters that a file says of a function of one's own."""
    given = query.model.words.get("parameters", {})
    return tuple(cast("Mapping[str, Any]", given)) if isinstance(given, Mapping) else ()


FIRST: Final = {"linear": ("products",), "poisson": ("products",), "logistic": ("scored",), "probit": ("scored",)}
LAST: Final = {"linear": ("scores",), "poisson": ("weighed",) * 3, "logistic": ("scored",) * 2}
"""Forms of a regression's parts, by its model; of persons with "person-" before "scores" and "scored"."""


def _regression(made: Release) -> Iterator[str]:
    query = cast(Regression, made.query)
    forms = (*FIRST[query.model], *LAST.get(query.model, LAST["logistic"]))
    if made.unit is not None:
        forms = tuple(f"person-{form}" if form in ("scores", "scored") else form for form in forms)
    if not _forms(made, *forms):
        yield f"its parts are not those of a {query.model} regression"
        return
    formula = parse(query.formula)
    if [one.name for one in made.variables] != list(formula.columns):
        yield "its variables are not the columns of its formula"
        return
    response = made.variables[0]
    if query.model in ("logistic", "probit") and response.kind != "boolean":
        yield f"the response {response.name!r} is not true or false"
    if query.model == "poisson" and (response.kind != "integer" or not 0 <= response.lower <= response.upper <= 2**53):
        yield f"the response {response.name!r} is no count"
    try:
        made_of = layout(formula, made.variables)
    except TacitError as problem:
        yield f"its formula is none of its variables: {problem.message.rstrip('.')}"
        return
    for place, part in enumerate(made.parts):
        yield from (f"parts[{place}] {reason}" for reason in _sums(made, part, made_of))


def _sums(made: Release, part: Part, known: Layout) -> Iterator[str]:
    """The integers of a part are as many as its layout has sums; its constants are weights, not 0."""
    facts, m = part.parameters, known.size
    if part.form == "products":
        counted, aimed = facts["count"] > 0, 0
        wanted = len(known.entries) - (not counted)
        if not counted and made.rows is None:
            yield "does not count rows, whose number is not public"
        weights = ("off", "diag")
    elif part.form in ("scores", "person-scores"):
        aimed, weights = m + 1, ("score", "square", "off", "diag")
        wanted = m + 1 + len(known.every if part.form == "person-scores" else known.among(response=False))
    else:
        aimed, weights = m + 1, ("score", "off", "diag")
        more = len(known.every if part.form == "person-scored" else known.inner)
        wanted = m + len(known.inner) + (more if facts["squares"] else 0)
        if not 0 <= facts["cut"] < 2**40 or facts["squares"] not in (0, 1) or facts["counted"] not in (0, 1):
            yield "has a cut or a switch that is none"
        if not facts["counted"] and made.rows is None:
            yield "does not count rows, whose number is not public"
    if len(part.integers[0]) != wanted:
        yield f"has {len(part.integers[0]):,} integers; its formula makes {wanted:,}"
    if any(not 0 < facts[name] < 2**60 for name in weights):
        yield "has a weight that is not above 0"
    if {name for name in facts if name.startswith("weight")} != {f"weight{j}" for j in range(aimed)}:
        yield f"has not {aimed} weights of an aim"
    if not 0 <= facts.get("shift", 0) <= 64 or not 0 < facts["G"] <= 1024:
        yield "has steps that are none"
    if any(abs(facts.get(name, 0)) >= 2**40 for name in ("center", "reach", "full", "spread")):
        yield "has an aim beyond all predictors"


PARTS: Final[Mapping[str, Callable[[Release], Iterator[str]]]] = {
    "moments": _moments,
    "quality": _quality,
    "quantiles": _quantiles,
    "range": _range,
    "histogram": _histogram,
    "sparse-histogram": _sparse,
    "sufficient-statistics": _statistics,
    "sample-and-aggregate": _blocks,
    "regression": _regression,
}
"""By kind of release."""
