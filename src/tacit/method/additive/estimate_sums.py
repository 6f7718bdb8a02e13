"""Noisy sums of integers, and functions of them with both errors.  Post-processing: costs nothing.

S: the sums, shape (k,) in each cell.  Their noise is known.  Their sampling covariance follows from the released sums
of products Q: sum r r' where the number of rows is itself random (Poisson; compound sums), and n / (n - 1) (sum r r' -
S S' / n) where n is public, as for `Sum` (theory §9).  A function g of S has errors J dS, J = dg/dS (delta method).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, Final, cast

import numpy as np

from tacit.base.arguments import described
from tacit.base.arrays import Array
from tacit.errors import QueryError, TacitError
from tacit.estimates.estimate import Estimate
from tacit.estimates.noisy_terms.interval_inversion import FLOOR, LinearInversion
from tacit.estimates.terms import ColumnTerms, Target
from tacit.estimates.wording import people_of, source_of, who
from tacit.method.additive.encoding import RowReach, in_units, middle, over, unit
from tacit.method.additive.query import Additive, thawed
from tacit.method.additive.stored import boxes_of, reach_of
from tacit.release.document import Released
from tacit.release.parts import cell_labels

STEP: Final = 0.01
"""Derivatives are found over this part of a standard error of a sum, on both sides."""
LINEAR: Final = 1e-6
"""A function is linear where, two standard errors away, it is off its tangent by at most this part of its change."""


@dataclass(frozen=True)
class AdditiveSums:
    """Noisy sums of one cell: what a statistic's own function gets.  Everything in it is public.

    integers: the sums, one for each expression: integers, of persons multiples of a power of 1/2.
    noise_std_errors: the standard deviation of the noise in each.
    n: the number of rows (persons) of the table where it is public and the question has no by=, else None.  Rows with
    missing cells, which add nothing, are among them: `tc.col(column).notna()` counts those that are not.
    arguments: what the statistic was called with.  cell: the label of the cell, "" without by=.
    """

    integers: tuple[float, ...]
    noise_std_errors: tuple[float, ...]
    n: int | None
    arguments: Mapping[str, Any]
    cell: str = ""


@dataclass(frozen=True)
class Function:
    """A user's function, with the name of its statistic."""

    name: str
    function: Callable[[AdditiveSums], Any]

    def __call__(self, sums: AdditiveSums) -> dict[str, float]:
        """Return named finite numbers; QueryError Q286 where it gives anything else or fails."""
        try:
            given = self.function(sums)
        except TacitError:
            raise
        except Exception as problem:  # a user's function may raise anything
            raise self._wrong(f"raised {type(problem).__name__}: {problem}", sums.n is None) from problem
        made = self._named(given)
        for name, value in made.items():
            if not math.isfinite(value):
                raise self._wrong(f"gave {value} for {name!r}")
        return made

    def _named(self, given: Any) -> dict[str, float]:
        try:
            if isinstance(given, Mapping):
                pairs = {str(name): float(value) for name, value in cast("Mapping[Any, Any]", given).items()}
            elif isinstance(given, list | tuple | np.ndarray):
                found = [float(value) for value in cast("list[Any]", given)]
                pairs = {f"{self.name} {i}": value for i, value in enumerate(found, start=1)}
            else:
                pairs = {self.name: float(given)}
        except (TypeError, ValueError):
            raise self._wrong(f"gave {described(cast(object, given))}") from None
        if not pairs:
            raise self._wrong("gave nothing")
        return pairs

    def _wrong(self, what: str, unknown: bool = False) -> QueryError:
        """Return the error; unknown: whether `n` is None."""
        text = f"estimate of {self.name!r} {what}: a number, several, or a dict of them is needed."
        hint = "estimate=lambda release: release.integers[0]"
        counted = 'n is None where sizes are private, as those of groups are: count by a sum, tc.col("x").notna()'
        return QueryError(text, code="Q286", hint=counted if unknown else hint, state=None)


def sums_of(release: Released) -> tuple[AdditiveSums, ...]:
    """Return the noisy sums of each cell."""
    cells = np.asarray(release.parts[0].integers, dtype=object)
    return tuple(
        _sums(release, tuple(int(one) for one in row), label)
        for row, label in zip(cells, cell_labels(release.levels), strict=True)
    )


def _sums(release: Released, integers: tuple[float, ...], label: str) -> AdditiveSums:
    fine = release.parts[0].parameters["G"]
    found = integers if fine == 1 else tuple(one / fine for one in integers)
    noise = math.sqrt(release.parts[0].law.variance()) / fine
    query = cast(Additive, release.query)
    n = None if release.levels else release.rows
    return AdditiveSums(found, (noise,) * len(found), n, thawed(query.arguments), label)


def estimated(release: Released, target: Target, function: Function | None) -> Estimate:
    """Return the estimate of a function of the sums; of the sums themselves where it is None."""
    query, fine = cast(Additive, release.query), release.parts[0].parameters["G"]
    cells = sums_of(release)
    values = np.array([one.integers for one in cells], dtype=np.float64)
    k, m = values.shape[1], len(cells)
    noise = math.sqrt(release.parts[0].law.variance()) / fine
    covariance = _sampling(release, values) if target == "population" else np.zeros((m * k, m * k))
    spread = np.sqrt(np.diag(covariance) + noise**2).reshape(m, k)
    names, found, slopes, linear = _linearised(query, function, cells, spread)
    joint = slopes @ covariance @ slopes.T
    variance = np.maximum(np.diag(joint), 0.0)
    unknown = target == "population" and release.unit is not None and k > 1
    if unknown:
        # of persons no products of different integers are released: standard errors add (Cauchy-Schwarz)
        variance = (np.abs(slopes) @ np.sqrt(np.diag(covariance))) ** 2
        joint = np.diag(variance)
    loadings, law = slopes / fine, release.parts[0].law
    inversion = LinearInversion(found, variance, loadings, law, -np.inf, np.inf)
    block = ColumnTerms(
        "", found, variance, np.zeros(len(found)), loadings, law, inversion, (None,) * len(found),
        people=people_of(release), source=source_of(release), shared=unknown, joint=joint,
    )  # fmt: skip
    return Estimate(
        release, target, _words(release, target, function), names, (block,),
        notes=_notes(release, target, linear, unknown), term_title=":".join(column for column, _ in release.levels),
    )  # fmt: skip


# Sampling -----------------------------------------------------------------------------------------------------------


def _sampling(release: Released, values: Array) -> Array:
    """Return the sampling covariance of the sums of all cells, shape (cells k, cells k), from released products.

    values: the noisy sums, shape (cells, k).
    """
    (m, k), reach, n = values.shape, reach_of(release), release.rows
    units = _units(release)
    small = [in_units(box, step) for box, step in zip(boxes_of(release), units, strict=True)]
    middles = np.array([float(middle(box, reach) * step) for box, step in zip(small, units, strict=True)])
    moved = values - (0 if n is None else n) * middles
    products, noises = _products(release, m, k)
    own = release.parts[0].law.variance() / reach.fine**2
    made = np.zeros((m * k, m * k))
    for c in range(m):
        here = slice(c * k, (c + 1) * k)
        inner = products[c]
        noise = np.sqrt(noises)
        if n is not None:
            more = n / max(n - 1, 1)
            # the noise in S makes S S' larger by its variance on average: it is put back
            inner = more * (inner - np.outer(moved[c], moved[c]) / n + np.eye(k) * own / n)
            both = [_about_mean(noises[j, j], own, moved[c, j], n) for j in range(k)]
            noise = np.maximum(noise * more, np.diag(np.sqrt(both)))
        made[here, here] = _possible(inner, np.diag(noise), reach, n, boxes_of(release))
    if n is not None and m > 1:
        # a row is in one cell: totals of different cells have covariance -S S' / n
        whole = np.outer(moved.reshape(-1), moved.reshape(-1)) / n
        cell = np.asarray(np.arange(m * k) // k, dtype=np.float64)
        made = np.where(np.equal.outer(cell, cell), made, -whole)
    return made


def _products(release: Released, m: int, k: int) -> tuple[Array, Array]:
    """Return the noisy sums of products, shape (cells, k, k), 0 where not released, and their noise, shape (k, k)."""
    made, noises, units = np.zeros((m, k, k)), np.zeros((k, k)), _units(release)
    for part in release.parts[1:]:
        i, j = part.parameters["first"], part.parameters["second"]
        scale = float(units[i] * units[j])
        made[:, i, j] = made[:, j, i] = scale * np.array([float(cell[0]) for cell in part.integers])
        noises[i, j] = noises[j, i] = scale**2 * part.law.variance()
    return made, noises


def _units(release: Released) -> list[Fraction]:
    """Return the steps to which integers are rounded before products."""
    persons = release.unit is not None
    return [unit(box, release.unit or 1, persons) for box in boxes_of(release)]


def _about_mean(square: float, own: float, total: float, n: int) -> float:
    """Return the variance of the noise in a sum of squares about the mean; both sums have noises of their own."""
    return (square + (2 * total / n) ** 2 * own) * (n / max(n - 1, 1)) ** 2


def _possible(inner: Array, noise: Array, reach: RowReach, n: int | None, boxes: Any) -> Array:
    """Return the nearest covariance that can be: variances above their noise's floor and within the bounds.

    Correlations are those of a positive semidefinite matrix; eigenvalues below 0, which noise makes, become 0.
    """
    least = FLOOR * noise
    variance = np.maximum(np.diag(inner), least)
    if n is not None:
        most = np.array([max(map(abs, reach.scaled(box))) / reach.fine for box in boxes], dtype=np.float64)
        variance = np.minimum(variance, np.maximum(n * most**2, least))
    sd = np.sqrt(np.maximum(variance, 1e-300))
    unit = np.clip(inner / np.outer(sd, sd), -1.0, 1.0)
    np.fill_diagonal(unit, 1.0)
    values, vectors = np.linalg.eigh(unit)
    unit = (vectors * np.maximum(values, 0.0)) @ vectors.T
    # the clipped matrix has a larger diagonal: correlations again
    root = np.sqrt(np.maximum(np.diag(unit), 1e-12))
    return unit / np.outer(root, root) * np.outer(sd, sd)


# The user's function ------------------------------------------------------------------------------------------------


def _linearised(
    query: Additive, function: Function | None, cells: tuple[AdditiveSums, ...], spread: Array
) -> tuple[tuple[str, ...], Array, Array, bool]:
    """Return names and values of the terms, their derivatives by all sums, shape (terms, cells k), and linearity."""
    k, m = len(query.expressions), len(cells)
    if function is None:
        names = tuple(_label(text, one.cell, alone=False) for text in query.expressions for one in cells)
        order = [c * k + j for j in range(k) for c in range(m)]
        values = np.array([one.integers for one in cells], dtype=np.float64).reshape(-1)[order]
        return names, values, np.eye(m * k)[order], True
    found = [function(one) for one in cells]
    keys = list(found[0])
    if any(list(one) != keys for one in found):
        text = f"estimate of {query.statistic!r} gave other names in another cell: the same in each are needed."
        raise QueryError(text, code="Q286", hint='estimate=lambda release: {"mean": …, "variance": …}', state=None)
    slopes, linear = np.zeros((len(keys) * m, m * k)), True
    for c, one in enumerate(cells):
        own = np.stack([_slope(function, one, j, float(spread[c, j]), keys) for j in range(k)], axis=1)
        slopes[c::m, c * k : (c + 1) * k] = own
        linear = linear and _straight(function, one, spread[c], found[c], own)
    names = tuple(_label(key, one.cell, alone=len(keys) == 1) for key in keys for one in cells)
    return names, np.array([one[key] for key in keys for one in found]), slopes, linear


def _moved(function: Function, sums: AdditiveSums, by: Array, keys: list[str]) -> Array:
    """Return the numbers where the sums are moved, shape (numbers,)."""
    moved = tuple(x + float(step) for x, step in zip(sums.integers, by, strict=True))
    given = function(replace(sums, integers=moved))
    return np.array([given[name] for name in keys])


def _slope(function: Function, sums: AdditiveSums, j: int, spread: float, keys: list[str]) -> Array:
    """Return derivatives of all numbers by one sum, shape (numbers,)."""
    step = np.zeros(len(sums.integers))
    step[j] = STEP * spread
    return (_moved(function, sums, step, keys) - _moved(function, sums, -step, keys)) / (2 * STEP * spread)


def _straight(function: Function, sums: AdditiveSums, spread: Array, here: dict[str, float], slopes: Array) -> bool:
    """Return whether the numbers are linear in the sums, as far as two standard errors away, moved alone and together.

    slopes: shape (numbers, sums).
    """
    k = len(spread)
    signs = [*np.eye(k), np.ones(k), np.where(np.arange(k) % 2, -1.0, 1.0), np.where(np.arange(k) % 3, -1.0, 1.0)]
    for by in (side * 2 * spread * sign for sign in signs for side in (-1.0, 1.0)):
        try:
            change = _moved(function, sums, by, [*here]) - np.array([*here.values()])
        except (QueryError, KeyError):
            return False  # such as a root of a sum that is below 0 there
        scale = np.abs(slopes) @ np.abs(by) + 1e-12 * np.abs([*here.values()])
        if (np.abs(change - slopes @ by) > LINEAR * np.maximum(scale, 1e-300)).any():
            return False
    return True


def _label(name: str, cell: str, *, alone: bool) -> str:
    if not cell:
        return name
    return cell if alone else f"{name}:{cell}"


# Words --------------------------------------------------------------------------------------------------------------


def _words(release: Released, target: Target, function: Function | None) -> str:
    query = cast(Additive, release.query)
    texts = ", ".join(query.expressions)
    sums = f"sums over {who(release)} of {texts}, each rounded to an integer within its bounds"
    words = sums if function is None else f"{query.called}, a function of the {sums}"
    words += f", where {query.where}" if query.where else ""
    if target == "table":
        return f"{words}, of the {who(release)} of this table"
    drawn = f"{release.rows:,} {who(release)}" if release.rows is not None else f"a random number of {who(release)}"
    return f"{words}, as expected in a table of {drawn} drawn like this one"


def _notes(release: Released, target: Target, linear: bool, unknown: bool) -> tuple[str, ...]:
    query = cast(Additive, release.query)
    said = [f"a statistic of the user's own, {query.called}, not of the library"]
    if release.unit is not None:
        said.append(f"a person adds the mean of the person's rows times their number, at most {release.unit}")
    if not linear:
        said.append("errors by the delta method: the estimate is no linear function of the sums")
    if unknown:
        said.append("standard errors of sampling add: correlations of the sums between persons are not released")
    if not query.moments:
        said.append("the error of privacy alone: no second moments were released, and sampling is left out")
    times = over(query, boxes_of(release), reach_of(release))
    if times is not None:
        said.append(f"declared sensitivity {float(times):.3g} times what the bounds need: so much more noise")
    return tuple(said)
