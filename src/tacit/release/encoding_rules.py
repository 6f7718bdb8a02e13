"""The integer encodings ("forms") of a release's parts: their constants, integers a cell, laws of noise and grids.

`tacit.estimates` decodes the integers; their sensitivities are proven in `tacit.method` and theory §12.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from tacit.noise.averaged_laplace import AveragedLaplace
from tacit.noise.laws import LAWS, RoundedNormal
from tacit.noise.permute_and_flip import SELECTS as SELECTION_LAWS
from tacit.noise.permute_and_flip import PermuteAndFlip
from tacit.noise.product import ProductLaplace
from tacit.noise.selection_law import Selection
from tacit.noise.spherical import SphericalLaplace
from tacit.release.registry import KINDS
from tacit.rows.coordinates import MOST

MOST_SUMS: Final = MOST * (MOST + 1) // 2 + 1
"""Largest number of integers in one matrix of sums of products of a regression; some forms hold several."""
MOST_COEFFICIENTS: Final = 8**3
"""Largest number of integers of a series: coefficients of three columns of eight functions each, and presence."""
MOST_LATTICE: Final = 256
"""Largest number of integers of a distribution function: one for each value of its lattice but the first."""
MOST_RISKS: Final = 7**3 + 1
"""Largest number of integers of a risk on a lattice: of three coefficients of seven values each, and presence."""
MOST_OF_A_ROW: Final = 8
"""Largest number of integers of a user's own statistic."""
MOST_CUTS: Final = 400
"""Largest number of cuts of a column, two of which make three cells at most."""
MOST_CELLS: Final = 2_000
"""Largest number of cells of a data set."""
SELECTS: Final = tuple(law.name for law in SELECTION_LAWS)
"""Names of laws that select a point."""
EXPONENTIAL: Final = (Selection.name,)
"""Name of the only one of them that most forms may have."""
ADDS: Final = tuple(LAWS)
"""Names of laws of additive noise."""
OF_COLUMNS: Final = (*ADDS, ProductLaplace.name)
"""Names of those of columns in one cell, whose noise may be one vector."""
OF_SUMS: Final = (*OF_COLUMNS, AveragedLaplace.name)
"""Names of those of counts, sums and means, which may be asked with several draws of Laplace noise."""
OF_NORM: Final = (RoundedNormal.name, SphericalLaplace.name)
"""Names of those that follow a norm in l2."""
PURE_NORM: Final = (SphericalLaplace.name,)
"""Name of the one of them that pure prices buy."""


@dataclass(frozen=True)
class Shape:
    """Rules for the parts of one form.

    kind: the kind of release it belongs to.  parameters: names of its constants.  integers: smallest and largest number
    of integers a cell.  grid, weight: whether the part has these grids.  laws: names of the laws it may have.
    """

    kind: str
    parameters: tuple[str, ...]
    integers: tuple[int, int]
    grid: bool | None = True
    """True: it has a grid; False: it has none; None: it may have one."""
    weight: bool = False
    laws: tuple[str, ...] = ADDS
    shares: bool = False
    """Whether persons may divide their weight over several cells (the constant `share`)."""
    empty: bool = False
    """Whether the part may have no cell."""
    texts: bool = False
    """Whether its cells are texts that are released with it, levels that nobody listed."""
    weights: bool = False
    """Whether it has a constant `weight0`, `weight1`, ... for each coordinate of a regression."""


NORM_SCORES: Final = ("G", "score", "size", "square", "off", "diag", "squares", "cut", "turn")

FORMS: Final = {
    "plain": Shape("moments", ("G", "divisor"), (2, 2), laws=OF_SUMS),
    "exclusion": Shape("moments", ("G", "divisor", "presence"), (3, 3)),
    "exclusion-2": Shape("moments", ("G", "divisor", "presence"), (3, 3), laws=OF_SUMS),
    "total": Shape("moments", ("G", "offset", "divisor"), (2, 2), laws=OF_SUMS),
    "group": Shape("moments", ("G", "middle"), (3, 3), laws=OF_SUMS, shares=True),
    "bernstein": Shape("moments", ("G", "divisor", "mass"), (5, 5), laws=OF_COLUMNS, shares=True),
    "deviations": Shape("moments", ("G", "rows"), (1, 1), laws=OF_COLUMNS),
    "binary-plain": Shape("moments", ("G",), (1, 1), laws=OF_SUMS),
    "binary-exclusion": Shape("moments", ("G", "sign", "presence"), (2, 2), laws=OF_SUMS),
    "binary-group": Shape("moments", ("G",), (2, 2), laws=OF_SUMS, shares=True),
    "count": Shape("moments", ("G",), (1, 1), grid=False, shares=True, laws=(*ADDS, AveragedLaplace.name)),
    "counted": Shape(
        "moments", ("G", "A", "less", "edge"), (2, 2), grid=False, weight=True, laws=(*ADDS, AveragedLaplace.name)
    ),
    "weighted": Shape("moments", ("G", "middle", "A", "first"), (4, 5), weight=True, laws=OF_SUMS),
    "classes": Shape("quality", ("G", "classes"), (3, 4), grid=None, shares=True),
    "ranks": Shape("quantiles", ("G", "numerator", "denominator"), (3, 3), laws=EXPONENTIAL, shares=True),
    "ranks-2": Shape("quantiles", ("G", "numerator", "denominator"), (3, 3), laws=SELECTS, shares=True),
    "point": Shape("quantiles", ("G", "numerator", "denominator"), (1, 1), laws=SELECTS, shares=True),
    "joint": Shape("quantiles", ("G", "numerator", "denominator"), (3, 3), laws=EXPONENTIAL),
    **dict.fromkeys(
        ("joint-2", "joint-3", "joint-4"),
        Shape("quantiles", ("G", "numerator", "denominator", "between"), (3, 3), laws=EXPONENTIAL, shares=True),
    ),
    "halved": Shape("quantiles", ("G", "levels"), (3, 20), laws=(PermuteAndFlip.name,)),
    "cuts": Shape("quantiles", ("G", "levels", "even", "reach"), (3, MOST_CUTS), laws=EXPONENTIAL),
    "between": Shape("quantiles", ("G",), (1, 2 * MOST_CUTS + 1)),
    "size": Shape("quantiles", ("G",), (1, 1), shares=True),
    "present": Shape("range", ("G",), (1, 1), grid=False, shares=True),
    "blocks": Shape("sample-and-aggregate", ("G", "divisor", "blocks"), (2, 2)),
    "blocks-2": Shape("sample-and-aggregate", ("G", "divisor", "presence", "blocks"), (3, 3)),
    "blocks-resampled": Shape("sample-and-aggregate", ("G", "divisor", "presence", "blocks"), (3, 3)),
    "quartiles": Shape("sample-and-aggregate", ("G", "numerator", "denominator"), (2, 2), laws=EXPONENTIAL),
    "histogram": Shape("histogram", ("G",), (1, 1), grid=False, shares=True),
    "sparse-histogram": Shape("sparse-histogram", ("G", "threshold"), (2, 2), grid=False, shares=True, empty=True),
    "unlisted": Shape(
        "unlisted-levels",
        ("G", "threshold"),
        (1, 1),
        grid=False,
        laws=(RoundedNormal.name,),
        shares=True,
        empty=True,
        texts=True,
    ),
    "products": Shape("regression", ("G", "off", "diag", "count"), (2, MOST_SUMS), grid=False),
    "scores": Shape(
        "regression", ("G", "score", "square", "off", "diag", "shift"), (2, MOST_SUMS), grid=False, weights=True
    ),
    "column-moments": Shape("regression", ("G", "score", "square", "count"), (1, 2 * MOST), grid=False),
    "weighted-moments": Shape(
        "regression", ("G", "score", "square", "count", "A", "squares"), (3, 2 * MOST + 1), grid=False, weight=True
    ),
    "norm-products": Shape("regression", ("G", "off", "diag", "shift"), (3, MOST_SUMS), grid=False, weights=True),
    "norm-products-2": Shape(
        "regression", ("G", "off", "diag", "shift"), (3, MOST_SUMS), grid=False, laws=OF_NORM, weights=True
    ),
    "norm-products-3": Shape(
        "regression",
        ("G", "off", "diag", "far", "tail", "shift"),
        (4, MOST_SUMS),
        grid=False,
        laws=OF_NORM,
        weights=True,
    ),
    "norm-scores": Shape(
        "regression", ("G", "score", "square", "off", "diag", "shift", "turn"), (3, MOST_SUMS), grid=False, weights=True
    ),
    "norm-scores-2": Shape(
        "regression",
        ("G", "score", "square", "far", "off", "diag", "shift", "turn"),
        (4, MOST_SUMS),
        grid=False,
        weights=True,
    ),
    **dict.fromkeys(
        ("norm-scores-3", "norm-scores-4", "norm-scores-5"),
        Shape(
            "regression",
            ("G", "score", "square", "far", "off", "diag", "shift", "turn"),
            (5, MOST_SUMS),
            grid=False,
            weights=True,
        ),
    ),
    "norm-scored": Shape(
        "regression", (*NORM_SCORES, "shift"), (3, 2 * MOST_SUMS), grid=False, laws=OF_NORM, weights=True
    ),
    "norm-weighed": Shape(
        "regression",
        (*NORM_SCORES, "center", "reach", "full", "spread", "shift"),
        (4, 2 * MOST_SUMS),
        grid=False,
        laws=OF_NORM,
        weights=True,
    ),
    "residual-vectors": Shape(
        "regression", ("G", "score", "shift", "turn"), (1, MOST), grid=False, laws=PURE_NORM, weights=True
    ),
    "score-vectors": Shape(
        "regression", ("G", "score", "cut", "shift", "turn"), (1, MOST), grid=False, laws=PURE_NORM, weights=True
    ),
    "count-score-vectors": Shape(
        "regression",
        ("G", "score", "cut", "center", "reach", "full", "spread", "shift", "turn"),
        (1, MOST),
        grid=False,
        laws=PURE_NORM,
        weights=True,
    ),
    "score-matrices": Shape(
        "regression", ("G", "size", "square", "off", "diag"), (2, 2 * MOST_SUMS), grid=False, laws=PURE_NORM
    ),
    "residual-matrices": Shape(
        "regression", ("G", "size", "square", "far", "off", "diag"), (3, MOST_SUMS), grid=False, laws=PURE_NORM
    ),
    **dict.fromkeys(
        ("residual-matrices-2", "residual-matrices-3", "residual-matrices-4"),
        Shape("regression", ("G", "size", "square", "far", "off", "diag"), (4, MOST_SUMS), grid=False, laws=PURE_NORM),
    ),
    "scored": Shape(
        "regression",
        ("G", "score", "off", "diag", "squares", "counted", "cut", "shift"),
        (2, 2 * MOST_SUMS),
        grid=False,
        weights=True,
    ),
    "person-scores": Shape(
        "regression", ("G", "score", "square", "off", "diag", "shift"), (2, 2 * MOST_SUMS), grid=False, weights=True
    ),
    "person-scored": Shape(
        "regression",
        ("G", "score", "off", "diag", "squares", "counted", "cut", "shift"),
        (2, 3 * MOST_SUMS),
        grid=False,
        weights=True,
    ),
    "weighed": Shape(
        "regression",
        ("G", "score", "off", "diag", "squares", "counted", "cut", "center", "reach", "full", "spread", "shift"),
        (2, 2 * MOST_SUMS),
        grid=False,
        weights=True,
    ),
    "series": Shape(
        "orthogonal-series",
        ("G", "terms", "presence"),
        (1, MOST_COEFFICIENTS),
        grid=False,
        laws=(*ADDS, SphericalLaplace.name),
        shares=True,
    ),
    "lattice": Shape("bernstein", ("G", "degree", "presence"), (1, MOST_LATTICE), grid=False, shares=True),
    "risk": Shape("risk-function", ("G", "degree", "presence"), (9, MOST_RISKS), grid=False, shares=True),
    "additive": Shape("additive", ("G", "leaves"), (1, MOST_OF_A_ROW), grid=False),
    "additive-product": Shape("additive", ("leaves", "first", "second"), (1, 1), grid=False),
    "data-set": Shape("ks-data-set", ("G", "cells"), (2, MOST_CELLS), grid=False, laws=EXPONENTIAL),
    "candidate": Shape("selected-candidate", ("G", "spread"), (1, 1), grid=False, laws=EXPONENTIAL, shares=True),
    "range": Shape("range", ("bins", "numerator", "denominator", "share"), (2, 2), grid=False, laws=EXPONENTIAL),
}
"""Rules of all forms, by name."""
FORMS.update(
    {f"person-{name}": FORMS[name] for name in ("norm-scores", "norm-scored", "norm-weighed", "score-matrices")}
)


def forms_of(kind: str) -> tuple[str, ...]:
    """Return the names of the forms that parts of a release of one kind may have.

    >>> forms_of("range"), forms_of("quantiles")[-3:]
    (('present', 'range'), ('cuts', 'between', 'size'))
    """
    return tuple(name for name, shape in FORMS.items() if shape.kind == kind or name in KINDS[kind].forms)
