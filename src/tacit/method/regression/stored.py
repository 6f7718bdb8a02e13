"""Check a stored release of a regression: its parts must be those that its question asks for, each once, in order."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import pairwise
from typing import TYPE_CHECKING, Final, cast

from tacit.errors import TacitError
from tacit.method.regression.designs import cells_design, further_design
from tacit.method.regression.formulas.expression_values import rules
from tacit.method.regression.formulas.formula import parse
from tacit.method.regression.formulas.layout import Layout, is_binary, layout
from tacit.method.regression.query import Regression
from tacit.method.regression.row_sums import norm_score_encoding, split_score_encoding
from tacit.method.regression.row_sums.noisy_norms import AXES, BOTH_SIDES
from tacit.method.regression.row_sums.norm_encoding import (
    FAR_PRODUCTS,
    FAR_SCORES,
    FORMER_PRODUCTS,
    FORMER_SCORES,
    OF_COLUMNS,
    ROUNDED_SCORES,
    SIDES_SCORES,
    WEIGHTED,
    square_weight,
    squared,
)
from tacit.method.regression.row_sums.norm_encoding import FORMS as LINEAR_NORMS
from tacit.method.regression.row_sums.norm_person_encoding import OF_SCORES, PERSON, of_rows
from tacit.release.parts import Part

if TYPE_CHECKING:
    from tacit.release.document import Release


FORMS: Final = {
    "linear": ("products", "scores"),
    "logistic": ("scored",) * 3,
    "probit": ("scored",) * 3,
    "poisson": ("products", *("weighed",) * 3),
}
"""Forms of the parts of each model in releases of before; of persons "scores" and "scored" begin with "person-"."""
SCORED, WEIGHED = norm_score_encoding.FORMS
PURE_SCORES: Final = (
    split_score_encoding.RESIDUALS,
    split_score_encoding.SCORES,
    split_score_encoding.SCORES,
    split_score_encoding.COUNT_SCORES,
    split_score_encoding.COUNT_SCORES,
    split_score_encoding.COUNT_SCORES,
)
OF_NORMS: Final = {
    "linear": LINEAR_NORMS,
    "logistic": (*LINEAR_NORMS[:2], SCORED, SCORED),
    "probit": (*LINEAR_NORMS[:2], SCORED, SCORED),
    "poisson": (*LINEAR_NORMS[:2], *(WEIGHED,) * 3),
    "gamma": (*LINEAR_NORMS[:2], *(WEIGHED,) * 3),
    "huber": (*LINEAR_NORMS[:2], *(WEIGHED,) * 3),
}
"""The same of norm-clipped rows with normal noise; of persons those of `OF_SCORES` begin with "person-"."""
AT_PURE_PRICES: Final = {
    model: (*forms[:-1], scores, split_score_encoding.MATRICES)
    for (model, forms), scores in zip(OF_NORMS.items(), PURE_SCORES, strict=True)
}
"""The same at pure prices: scores, and then the matrices beside them."""
OF_NORM_CLIPPED: Final = (
    *LINEAR_NORMS,
    WEIGHTED,
    FAR_PRODUCTS,
    FAR_SCORES,
    SIDES_SCORES,
    ROUNDED_SCORES,
    FORMER_PRODUCTS,
    FORMER_SCORES,
    *norm_score_encoding.FORMS,
    *split_score_encoding.FORMS,
)
"""Names of forms of norm-clipped rows."""
FAR: Final = {
    FAR_PRODUCTS: LINEAR_NORMS[1],
    FAR_SCORES: LINEAR_NORMS[2],
    SIDES_SCORES: LINEAR_NORMS[2],
    ROUNDED_SCORES: LINEAR_NORMS[2],
    FORMER_SCORES: LINEAR_NORMS[2],
    split_score_encoding.FAR_MATRICES: split_score_encoding.MATRICES,
    split_score_encoding.SIDES_MATRICES: split_score_encoding.MATRICES,
    split_score_encoding.ROUNDED_MATRICES: split_score_encoding.MATRICES,
    split_score_encoding.FORMER_MATRICES: split_score_encoding.MATRICES,
}
"""Forms of linear models of rows that count those far out or whose residual is clipped, and the forms without."""


def wrong(made: Release) -> Iterator[str]:
    """Yield each reason why the parts are not those of the question; yield nothing where they are."""
    query = cast(Regression, made.query)
    if query.method == "auto":
        yield "its method is 'auto', which is none that a release is by"
        return
    if (made.kind == cells_design.KIND) != (query.method == "cells"):
        yield f"it is of kind {made.kind}, and its method is {query.method!r}"
        return
    if made.kind == cells_design.KIND:
        yield from _of_cells(made)
        return
    former, known = (
        FORMS.get(query.model, ()),
        (AT_PURE_PRICES if made.cost.noise == "laplace" else OF_NORMS)[query.model],
    )
    if made.unit is not None:
        of_persons = {*OF_SCORES, "scores", "scored"}
        former, known = (
            tuple(f"{PERSON}{one}" if one in of_persons else one for one in some) for some in (former, known)
        )
    if query.weights is not None:
        former, known = (), (WEIGHTED, *known[1:])
    found = tuple(part.form for part in made.parts)
    # persons and rows with weights have one form alone
    former_too = made.unit is None and query.weights is None
    alike = {FORMER_PRODUCTS: LINEAR_NORMS[1]} | (FAR if query.model == "linear" else {}) if former_too else {}
    of_now = tuple(alike.get(one, one) for one in found)
    if found != former and of_now != known:
        yield f"its parts are not those of a {query.model} regression"
        return
    formula = parse(query.formula)
    if [one.name for one in made.variables] != [*formula.columns, *formula.read_only]:
        yield "its variables are not the columns of its formula"
        return
    response = made.variables[0]
    if query.model in ("logistic", "probit") and not is_binary(response):
        yield f"the response {response.name!r} has more than two values"
    if query.model == "poisson" and (response.kind != "integer" or not 0 <= response.lower <= response.upper <= 2**53):
        yield f"the response {response.name!r} is no count"
    if query.model in ("gamma", "huber") and further_design.unsuitable(query.model, response) is not None:
        yield f"the response {response.name!r} is none of a {query.model} regression"
    try:
        # the layout is rebuilt from public facts alone, so that the parts must agree with it, not it with them
        made_of = layout(formula, made.variables)
        rules(formula.expressions, {one.name: one for one in made.variables})
    except TacitError as problem:
        yield f"its formula is none of its variables: {problem.message.rstrip('.')}"
        return
    for place, part in enumerate(made.parts):
        yield from (f"parts[{place}] {reason}" for reason in _sums(made, part, made_of))


def _of_cells(made: Release) -> Iterator[str]:
    """Yield each reason why a release is not one part with the counts of all cells of levels and values."""
    if len(made.parts) != 1 or made.parts[0].label != "" or made.parts[0].form != "histogram":
        yield "it is not one part of all cells"
    for (name, _), axis in zip(made.levels, made.axes, strict=True):
        if axis.extra:
            yield f"{name!r} has cells that are none of its levels"
        if axis.kind != "levels" and any(b - a != 1 for a, b in pairwise(axis.edges)):
            yield f"the cells of {name!r} are not its values"


def _sums(made: Release, part: Part, known: Layout) -> Iterator[str]:
    """Yield each reason why a part does not fit the layout: its number of integers, its weights, its other facts."""
    facts, m = part.parameters, known.size
    if part.form == "products":
        counted, weighted = facts["count"] > 0, 0
        wanted = len(known.entries) - (not counted)
        if not counted and made.rows is None:
            yield "does not count rows, whose number is not public"
        weights = ("off", "diag")
    elif of_rows(part.form) in OF_NORM_CLIPPED:
        yield from _of_norms(made, part, known)
        return
    elif part.form in ("scores", "person-scores"):
        weighted, weights = m + 1, ("score", "square", "off", "diag")
        wanted = m + 1 + len(known.all_pairs if part.form == "person-scores" else known.products(response=False))
    else:
        weighted, weights = m + 1, ("score", "off", "diag")
        more = len(known.all_pairs if part.form == "person-scored" else known.regressor_products)
        wanted = m + len(known.regressor_products) + (more if facts["squares"] else 0)
        yield from _of_scores(facts)
        if not facts["counted"] and made.rows is None:
            yield "does not count rows, whose number is not public"
    if len(part.integers[0]) != wanted:
        yield f"has {len(part.integers[0]):,} integers; its formula makes {wanted:,}"
    if any(not 0 < facts[name] < 2**60 for name in weights):
        yield "has a weight that is not above 0"
    if {name for name in facts if name.startswith("weight")} != {f"weight{j}" for j in range(weighted)}:
        yield f"has not {weighted} weights of an aim"
    if not 0 <= facts.get("shift", 0) <= 64 or not 0 < facts["G"] <= 1024:
        yield "has steps that are none"


def _of_scores(facts: Mapping[str, int]) -> Iterator[str]:
    """Yield each reason why the facts of a bounded score are none."""
    if not 0 <= facts["cut"] < 2**40 or facts["squares"] not in (0, 1) or facts.get("counted", 0) not in (0, 1):
        yield "has a cut or a switch that is none"
    if any(abs(facts.get(name, 0)) >= 2**40 for name in ("center", "reach", "full", "spread")):
        yield "has an aim beyond all predictors"


def _counts(form: str, m: int) -> int:
    """Return how many integers of a form of scores, of vectors of m entries, are numbers of rows."""
    if form in AXES:
        return 2 + m
    return 2 if form in BOTH_SIDES else int(form in (FORMER_SCORES, split_score_encoding.FORMER_MATRICES))


def _of_norms(made: Release, part: Part, known: Layout) -> Iterator[str]:
    """Yield each reason why a part of norm-clipped rows does not fit the layout."""
    facts, m, form = part.parameters, known.size, of_rows(part.form)
    if form in OF_COLUMNS:
        weighted, weights = 0, ("G", "score", "square", *(("squares",) if form == WEIGHTED else ()))
        wanted = m + len(squared(known)) + (2 if form == WEIGHTED else facts["count"] > 0)
        if form == WEIGHTED and facts["count"] < 1:
            yield "has weights of rows, and not their sum"
        if not facts["count"] and made.rows is None:
            yield "does not count rows, whose number is not public"
        if any(square_weight(known.bounds[j], facts["square"]) < 1 for j in squared(known)):
            yield "has squares of no weight"
    elif form in (LINEAR_NORMS[1], FAR_PRODUCTS, FORMER_PRODUCTS):
        pairs, weights = (m + 1) * (m + 2) // 2, ("off", "diag")
        former, wanted = form == FORMER_PRODUCTS, pairs + (form == FAR_PRODUCTS)
        weighted = 2 * (m + 1) if former else pairs
        # places of what makes an entry of its own coordinate
        if not all(facts.get(f"weight{2 * i if former else i * (i + 3) // 2}", 0) for i in range(m + 1)):
            yield "has a coordinate without a scale"
        if form == FAR_PRODUCTS:
            weights = (*weights, "far")
            if not 0 <= facts["tail"] <= 64:
                yield "has a tail that is none"
    elif form in split_score_encoding.OF_MATRICES:
        counts = _counts(form, m)
        weighted, weights = 0, ("square", "off", "diag", *(("far",) if counts else ()))
        wanted = (1 + m * (m + 1) // 2) * (2 if facts["size"] else 1) + counts
        if (facts["size"] > 0) != (cast(Regression, made.query).model != "linear"):
            yield "has sizes of scores, or none, of another model"
    else:
        pairs = m * (m + 1) // 2
        weighted, weights, wanted = m + 1 + pairs, ("score", "square", "off", "diag"), m + 1 + pairs
        if form in split_score_encoding.VECTORS:
            weights, wanted = ("score",), m
            yield from _of_scores({"cut": 0, "squares": 0, **facts})
        elif _counts(form, m):
            weights, wanted = (*weights, "far"), wanted + _counts(form, m)
        elif form != LINEAR_NORMS[2]:
            weights, wanted = (*weights, "size"), m + 1 + pairs + (1 + pairs if facts["squares"] else 0)
            yield from _of_scores(facts)
        if not all(facts.get(f"weight{m + 1 + i * (i + 3) // 2}", 0) for i in range(m)):
            yield "has an axis that is none"
    if len(part.integers[0]) != wanted:
        yield f"has {len(part.integers[0]):,} integers; its formula makes {wanted:,}"
    if any(not 0 < facts[name] < 2**60 for name in weights) or not 0 <= facts.get("count", 0) < 2**60:
        yield "has a weight that is not above 0"
    if {name for name in facts if name.startswith("weight")} != {f"weight{j}" for j in range(weighted)}:
        yield f"has not {weighted} weights of an aim"
    if any(abs(facts[f"weight{j}"]) >= 2**53 for j in range(weighted) if f"weight{j}" in facts):
        yield "has weights beyond exact integers"
    if any(not 0 <= facts.get(name, 0) <= 64 for name in ("shift", "turn")) or not 0 < facts["G"] <= 1024:
        yield "has steps that are none"
