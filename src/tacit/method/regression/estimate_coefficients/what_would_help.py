"""What would let a regression be told whose noise is too large: how many rows, what price, which regressors fewer.

From the release alone.  Sums grow with the number of rows n; their noise does not, and falls as epsilon grows at a pure
price, as the root of rho otherwise.  Noise that is k times too large beside the sums would not be with k n rows, or at
k epsilon, or k**2 rho.  Fewer regressors have less noise besides, of which nothing is said: what is left out is then
rather too much than too little.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Final

import numpy as np

from tacit.base.arrays import Array
from tacit.base.listed_words import listed
from tacit.errors import TacitError
from tacit.method.regression.formulas.layout import Layout
from tacit.method.regression.row_sums.noisy_crossproducts import NoisyMatrix, relative_noise
from tacit.method.regression.row_sums.norm_encoding import FORMS
from tacit.method.regression.row_sums.released_columns import read_columns
from tacit.privacy import Cost, mu_squared_to_epsilon
from tacit.privacy.exact_numbers import significant
from tacit.release.parts import Part
from tacit.rows.coordinates import H

UNKNOWN: Final = "more rows or a larger budget are needed"
MOST: Final = 1_000.0
"""Factor beyond which no numbers are said: the release knows next to nothing."""
PART: Final = 0.5
"""Largest part of the columns that are named as those to leave out."""
CLEAR: Final = 3.0
"""Standard deviations of its noise below which a number of rows may be none."""
MARGIN: Final = 1.25
"""By which numbers are larger than they have to be: the noise of the next release is not that of this one."""


@dataclass(frozen=True)
class Shortfall:
    """By how much noise is too large: k times, beside the sums over `rows` complete rows.

    least: whether it may be more.  without: columns without which this release would have told the rest.
    unseen: levels that may have no rows, in words, by column: then no number of rows and no price would do.
    public: number of all rows, where it is public: so many are not enough, whatever the noisy number of them says.
    """

    times: float
    rows: float
    least: bool = False
    without: tuple[str, ...] = ()
    unseen: Mapping[str, tuple[str, ...]] = field(default_factory=dict[str, tuple[str, ...]])
    public: int | None = None

    def words(self, cost: Cost | None) -> str:
        """Return what would help; cost: of the whole release.

        >>> Shortfall(1.8, 9_000, without=("age",)).words(Cost.of(rho="0.1"))
        'about 21,000 rows or about ρ = 0.51 would be enough; or the formula without age'
        >>> print(Shortfall(2.0, 100, unseen={"sex": ("sex[T.x]",)}).words(None))
        more rows or a larger budget are needed; noise hides whether any row has sex[T.x]: where none has, only a formula without sex is told
        """  # noqa: E501
        words = self._words(cost)
        if not self.unseen:
            return words
        levels = [level for every in self.unseen.values() for level in every]
        # a formula without them is named already where the rest would have been told
        columns = "" if set(self.unseen) <= set(self.without) else f" without {listed(list(self.unseen))}"
        told = f"only a formula{columns} is told" if columns else "only that formula is told"
        return f"{words}; noise hides whether any row has {listed(levels, 'or')}: where none has, {told}"

    def _words(self, cost: Cost | None) -> str:
        """Return what would help if every level has rows."""
        times = self.times * MARGIN
        if cost is None or not 1 < times <= MOST or self.rows < 1:
            return UNKNOWN if not self.without else f"{UNKNOWN}, or the formula without {listed(self.without)}"
        about, enough = ("at least", "needed") if self.least else ("about", "enough")
        price = dearer(cost, times)
        rows = _up(times * within(self.rows, self.public))
        ways = [f"{about} {rows:,} rows"] if rows > (self.public or 0) else []
        ways += [] if price is None else [f"{about} {price}"]
        if not ways:
            return UNKNOWN if not self.without else f"{UNKNOWN}, or the formula without {listed(self.without)}"
        words = f"{' or '.join(ways)} would be {enough}"
        return words if not self.without else f"{words}; or the formula without {listed(self.without)}"


def within(rows: float, public: int | None) -> float:
    """Return a noisy number of rows, at least 0 and at most the public number of all rows, where there is one."""
    return max(rows if public is None else min(rows, float(public)), 0.0)


def too_few(rows: float, noise: float, needed: int, cost: Cost | None, public: int | None = None) -> str:
    """Return the reason where there are too few rows; noise: standard deviation of the noise in their number.

    public: number of all rows, where it is public.

    >>> too_few(50.0, 13.0, 5, None, 30)
    'about 30 complete rows, with noise of 13; more rows or a larger budget are needed'
    """
    rows = within(rows, public)
    # it must be 4 standard deviations from none
    enough = (
        Shortfall(4 * noise / rows, rows, public=public).words(cost)
        if rows > noise and 4 * noise >= needed
        else UNKNOWN
    )
    return f"about {rows:,.0f} complete rows, with noise of {noise:,.0f}; {enough}"


def too_noisy(what: str, loose: float, most: float, words: str, *, boxes: bool) -> str:
    """Return the reason where noise moves sums too far; boxes: whether it grows with the bounds of the columns."""
    how = "more than there is" if loose >= 1 else f"{100 * loose:.0f}%"
    more = "; narrower bounds help, too" if boxes else ""
    return f"noise moves the {what} by {how} (at most {100 * most:.0f}% is safe): {words}{more}"


def left_nothing(parts: Sequence[Part], layout: Layout, rows: int | None, most: float, cost: Cost) -> str:
    """Return the reason where released integers allow no arithmetic.

    By the noise in the products of standardised rows alone, whose regressors are at best independent: at least so much.
    """
    said = "noise leaves no numbers to work with"
    if len(parts) < 2 or parts[0].form != FORMS[0]:
        return f"{said}: {UNKNOWN}"
    u, n, facts = len(layout.names), read_columns(parts[0], layout, rows).rows, parts[1].parameters
    # the vector reaches at least as far as the root of its mean square, the response included
    noise = math.sqrt(parts[1].law.variance()) / (facts["off"] * H * H) * (u + 1)
    return f"{said}: {Shortfall(noise * math.sqrt(u) / n / most, n, least=True, public=rows).words(cost)}"


def shortfall(
    noisy: NoisyMatrix,
    names: Sequence[str],
    most: float,
    rows: float,
    loose: float,
    size: Array | None = None,
    public: int | None = None,
) -> Shortfall:
    """Return by how much the noise in a matrix of sums is too large.

    noisy: the matrix of the coefficients called `names`, each divided by its `size`, shape (p,), where it is given.
    most: relative noise that is safe.  loose: what it is; inf where noise hides a direction altogether: then that of
    independent regressors is the least it may be.  public: see `Shortfall`.
    """
    least = not math.isfinite(loose)
    if least:
        diagonal = np.diag(_sizes(noisy) ** 2)
        loose = max(relative_noise(NoisyMatrix(diagonal, noisy.patterns, noisy.variances)), most)
    size = np.ones(len(names)) if size is None else size
    return Shortfall(loose / most, rows, least, without(noisy, names, most), unseen(noisy, names, size), public)


def unseen(noisy: NoisyMatrix, names: Sequence[str], size: Array) -> dict[str, tuple[str, ...]]:
    """Return the levels whose number of rows is not clearly above its noise, in words, by column.

    A sum of squares of a level's term is the number of its rows, weighted or not.  Of a column with a level left out
    the intercept less all the others is the term of that one.
    """
    levels: dict[str, list[int]] = {}
    for at, name in enumerate(names):
        if ":" not in name and name.endswith("]"):
            levels.setdefault(columns_of(name)[0], []).append(at)
    out: dict[str, tuple[str, ...]] = {}
    for column, places in levels.items():
        terms = {names[at]: np.eye(len(names))[at] for at in places}
        if "Intercept" in names:
            terms[f"the first level of {column}"] = np.eye(len(names))[names.index("Intercept")] - sum(terms.values())
        few = [name for name, term in terms.items() if _hidden(noisy, term * size)]
        if few:
            out[column] = tuple(few)
    return out


def _hidden(noisy: NoisyMatrix, term: Array) -> bool:
    """Return whether noise hides that a term differs from 0 in any row."""
    return float(term @ noisy.values @ term) < CLEAR * math.sqrt(noisy.quadratic_variance(term))


def without(noisy: NoisyMatrix, names: Sequence[str], most: float) -> tuple[str, ...]:
    """Return the columns without whose terms the others' noise is safe, the noisiest first; none where too many are.

    A column's terms are its own, its levels' and its interactions'.  The intercept stays.
    """
    columns = [columns_of(name) for name in names]
    every = list(dict.fromkeys(column for one in columns for column in one))
    gone: list[str] = []
    while len(gone) < PART * len(every):
        kept = [i for i, one in enumerate(columns) if not set(one) & set(gone)]
        if relative_noise(_at(noisy, kept)) <= most:
            return tuple(gone)
        load = _noisiest(_at(noisy, kept)) ** 2
        sizes = {
            column: float(sum(load[k] for k, i in enumerate(kept) if column in columns[i]))
            for column in every
            if column not in gone
        }
        gone.append(max(sizes, key=lambda column: sizes[column]))
    kept = [i for i, one in enumerate(columns) if not set(one) & set(gone)]
    return tuple(gone) if len(gone) < len(every) and relative_noise(_at(noisy, kept)) <= most else ()


def columns_of(name: str) -> tuple[str, ...]:
    """Return the columns that a term is made of.

    >>> columns_of("sex[T.m]:age"), columns_of("Intercept"), columns_of("I(age ** 2)")
    (('sex', 'age'), (), ('I(age ** 2)',))
    """
    return () if name == "Intercept" else tuple(re.sub(r"\[[^\]]*\]$", "", one) for one in name.split(":"))


def _at(noisy: NoisyMatrix, kept: Sequence[int]) -> NoisyMatrix:
    at = np.ix_(kept, kept)
    return NoisyMatrix(noisy.values[at], noisy.patterns[:, at[0], at[1]], noisy.variances)


def _noisiest(noisy: NoisyMatrix) -> Array:
    """Return the direction in which the noise is largest beside the matrix, in units of each term's own size."""
    size = _sizes(noisy)
    values, vectors = np.linalg.eigh(noisy.values / np.outer(size, size))
    if values[0] <= 0:
        return np.asarray(vectors[:, 0])
    root = vectors / np.sqrt(values)
    scaled = noisy.patterns / np.outer(size, size)
    noise = NoisyMatrix(noisy.values, root.T @ scaled @ root, noisy.variances).noise_quadratic(np.eye(len(values)))
    return np.asarray(root @ np.linalg.eigh(noise)[1][:, -1])


def _sizes(noisy: NoisyMatrix) -> Array:
    """Return the roots of the diagonal, which is raised to its own noise where that hides it, shape (p,)."""
    diagonal = np.diag(noisy.values)
    own = np.sqrt(noisy.variances @ np.diagonal(noisy.patterns, axis1=1, axis2=2) ** 2)
    return np.asarray(np.sqrt(np.maximum(np.maximum(diagonal, own), 1.0e-12)))


def dearer(cost: Cost, times: float) -> Cost | None:
    """Return the price of the same kind, at the same delta, at which noise is so many times smaller, rounded up.

    None where no price is as high as that.

    >>> str(dearer(Cost.of(epsilon=1), 2.5)), str(dearer(Cost.of(rho="0.1"), 2))
    ('ε = 2.5', 'ρ = 0.4')
    """
    try:
        return _dearer(cost, Fraction(times))
    except TacitError:  # a price that would protect nobody
        return None


def _dearer(cost: Cost, k: Fraction) -> Cost:
    if cost.kind == "pure" and cost.epsilon is not None:
        return Cost(epsilon=significant(cost.epsilon * k, 2, up=True))
    if cost.kind == "approximate" and cost.delta is not None:
        epsilon = mu_squared_to_epsilon(cost.gdp * k**2, cost.delta)
        return Cost(epsilon=significant(epsilon, 2, up=True), delta=cost.delta)
    return Cost(rho=significant(cost.zcdp * k**2, 2, up=True))


def _up(rows: float) -> int:
    """Return a number of rows to two digits, rounded up."""
    return int(significant(Fraction(math.ceil(rows)), 2, up=True))
