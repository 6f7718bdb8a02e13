"""The page of `compared_densities.py`, from its lines."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from math import sqrt
from pathlib import Path
from typing import Any, Final, TypeAlias

import numpy as np
from compared_designs import ASKED, BASES, HELD, METHODS, PRICES, SIZES
from compared_pairs import WORDS, heads, pairs
from compared_simulations import PLACES
from pages import put

from tacit.privacy import Cost

PAGE: Final = Path(__file__).parents[1] / "docs" / "reference" / "compared-densities.md"
Line: TypeAlias = Mapping[str, Any]
NAMES: Final = {
    "smooth": "smooth, 64 bins",
    "kernel": "kernel",
    **{m.name: m.name for m in METHODS if m.name != "smooth"},
}
CELLS: Final = tuple((law, n, price) for law in ASKED for n in SIZES for price in PRICES)
HEAD: Final = """# Density estimators, side by side

Five estimators of the density of one column, and whole data sets (`KSDataset`), on the same laws, numbers of rows and
prices, replace-one, the number of rows public. Written by `python benchmarks/compared_densities.py`; designs were
committed before they were simulated, except that the machinery was tried on Beta(2,5) and the spike at ε = 1 with a
few releases. *Histogram*: `density` of a histogram with `bins="auto"`, projected. *Smooth*: of one of 64 bins the
nearer of two series, as `smooth_density(basis="legendre")` and `"cosine"` are; what `smooth_density` is without a basis
was made afterwards, with these figures known, and has [a table of its own](#the-density-without-a-number). *Cosine*,
*legendre*, *fourier*, *haar*: `OrthogonalSeries`. *Kernel*: `KernelDensity`. *Bernstein*: the derivative of a
polynomial of order 2. Parameters that are not named are those of the design.

Laws on [0, 1]: Beta(2,5); two modes, normals at 0.3 and 0.7; a spike, 40% of the rows in a normal of standard deviation
0.015; heavy tails, a t law with 2 degrees of freedom and scale 0.04. Methods were made with an eye on these laws on
other pages; *held out* laws, Beta(6,2), three hills, a needle and a Cauchy law, were not looked at before.

**In short.** Take a histogram with `bins="density"` and its `smooth_density`: it needs no number, and is mostly nearer
than the others at their best ([table](#the-density-without-a-number)). `bins="auto"` is a rule for fits of models to
cells, not for densities. A series reaches only as many terms as were bought. A data set is for those who need one."""


def _key(line: Line) -> tuple[str, str, int, str]:
    return line["method"], line["law"], line["n"], str(line["price"])


def _pick(lines: Iterable[Line], part: str) -> dict[tuple[str, str, int, str], Line]:
    return {_key(one): one for one in lines if one["part"] == part}


def _table(head: Sequence[str], rows: Iterable[Sequence[str]], words: int = 1) -> str:
    marks = "|".join(["---"] * words + ["---:"] * (len(head) - words))
    return "\n".join([f"| {' | '.join(head)} |", f"|{marks}|", *(f"| {' | '.join(row)} |" for row in rows)])


def _cell(law: str, n: int, price: Mapping[str, float]) -> tuple[str, str, str]:
    return law, f"{n:,}", str(Cost.of(**price))


def _errors(lines: Sequence[Line]) -> str:
    found = _pick(lines, "best")
    rows = list[list[str]]()
    for cell in CELLS:
        own = [found[m.name, cell[0], cell[1], str(cell[2])]["own"] for m in METHODS]
        least = min(one[0] for one in own)
        marked = [f"**{one[0]:.2g}**" if one[0] <= 1.1 * least else f"{one[0]:.2g}" for one in own]
        rows.append([*_cell(*cell), *marked])
    return _table(["law", "n", "price", *(NAMES[m.name] for m in METHODS)], rows, 3)


def _distances(lines: Sequence[Line]) -> str:
    found = _pick(lines, "best")
    sets = {(one["law"], one["n"], str(one["price"])): one for one in lines if one["part"] == "sets"}
    rows = list[list[str]]()
    for cell in CELLS:
        own = [f"{found[m.name, cell[0], cell[1], str(cell[2])]['distance']:.4f}" for m in METHODS]
        drawn = sets.get((cell[0], cell[1], str(cell[2])))
        said = "–" if drawn is None else f"{drawn['distance']:.4f} ± {2 * drawn['se']:.4f}"
        rows.append([*_cell(*cell), *own, said])
    return _table(["law", "n", "price", *(NAMES[m.name] for m in METHODS), "data set"], rows, 3)


def _ratio(one: Line) -> str:
    """Return the error over that of the best value, with twice its Monte-Carlo error."""
    (a, s), (b, t) = one["own"], one["other"]
    return f"{a / b:.2f} ± {2 * a / b * sqrt((s / a) ** 2 + (t / b) ** 2):.2f} ({one['chosen']:.3g}; {one['best']:.3g})"


def _oracles(lines: Sequence[Line]) -> str:
    found = _pick(lines, "best")
    rows = (
        [*_cell(*cell), *(_ratio(found[m.name, cell[0], cell[1], str(cell[2])]) for m in METHODS)] for cell in CELLS
    )
    return _table(["law", "n", "price", *(NAMES[m.name] for m in METHODS)], rows, 3)


def _public(lines: Sequence[Line]) -> Iterator[list[str]]:
    """Yield for each method and size and price the value of least worst ratio, and the ratios of all laws at it."""
    found = _pick(lines, "grid")
    for method in METHODS:
        for n in SIZES:
            for price in PRICES:
                tables = {
                    law: np.array([error for _, error in found[method.name, law, n, str(price)]["values"]])
                    for law in (*ASKED, *HELD)
                    if (method.name, law, n, str(price)) in found
                }
                ratios = {law: one / one.min() for law, one in tables.items()}
                worst = np.max([ratios[law] for law in ASKED], axis=0)
                at = int(worst.argmin())
                value = found[method.name, "Beta(2,5)", n, str(price)]["values"][at][0]
                of = [f"{ratios[law][at]:.2f}" if law in ratios else "–" for law in (*ASKED, *HELD)]
                yield [NAMES[method.name], f"{n:,}", str(Cost.of(**price)), f"{value:.3g}", *of]


def _rules(lines: Sequence[Line]) -> Iterator[list[str]]:
    """Yield of each basis and group of laws what both rules' numbers of terms are worth."""
    parts = [_pick(lines, part).values() for part in ("earlier", "best")]
    for basis in BASES:
        for name, laws in (("these four", ASKED), ("held out", HELD)):
            words = list[str]()
            for part in parts:
                own = [one for one in part if one["method"] == basis and one["law"] in laws]
                ratios = np.array([one["own"][0] / one["other"][0] for one in own])
                mean, near = float(np.exp(np.log(ratios).mean())), int((ratios <= 1.05).sum())
                words += [f"{mean:.2f}", f"{ratios.max():.1f}", f"{near}"]
            yield [basis, name, *words]


def _coverage(lines: Sequence[Line]) -> Iterator[list[str]]:
    every = [one for one in lines if one["part"] == "coverage"]
    for method in METHODS:
        own = [one for one in every if one["method"] == method.name]
        sums, many = (np.sum([one[name] for one in own], axis=0) for name in ("sums", "many"))
        shares = 100 * np.divide(sums, many, out=np.full(len(many), np.nan), where=many > 0)
        words = ["–" if np.isnan(x) else f"{x:.1f}" for x in shares[[0, 1, 2, 3, 5]]]
        told = "–" if np.isnan(shares[7]) else f"{shares[7]:.0f}"
        places = " or ".join(map(str, sorted({one["places"] for one in own})))
        yield [NAMES[method.name], f"{many[4]:,}", places, *words, f"{shares[4]:.0f}", told]


def _times(lines: Sequence[Line]) -> Iterator[list[str]]:
    found = _pick(lines, "agreement")
    for method in METHODS:
        own = [found[key] for n in SIZES if (key := (method.name, "Beta(2,5)", n, str(PRICES[1]))) in found]
        squared, far = (max(one["values"][i] for one in own) for i in (0, 1))
        times = [f"{1_000 * one['values'][2]:.3g}" for one in own]
        yield [NAMES[method.name], *times, f"{squared:.0e}", f"{far:.0e}"]
    drawn = [one for one in lines if one["part"] == "sets"]
    each = [[one["seconds"] for one in drawn if one["n"] == n] for n in SIZES]
    yield ["data set, to draw", *(f"{1_000 * np.mean(one):,.0f}" if one else "–" for one in each), "–", "–"]


def _full(lines: Sequence[Line]) -> str:
    """Return the errors of full releases beside simulated ones, in words."""
    order = [m.name for m in METHODS]
    found = sorted((one for one in lines if one["part"] == "full"), key=lambda one: order.index(one["method"]))
    each = list[str]()
    for one in found:
        own, other = (f"{mean:.2g} ± {2 * spread:.1g}" for mean, spread in (one["own"], one["simulated"]))
        each.append(f"{NAMES[one['method']]} {own} and {other}")
    return ", ".join(each)


def _sets(lines: Sequence[Line]) -> Iterator[list[str]]:
    for one in lines:
        if one["part"] == "sets":
            words = [f"{one['size']}", f"{one['distance']:.4f} ± {2 * one['se']:.4f}", f"{one['many']}"]
            yield [*_cell(one["law"], one["n"], one["price"]), *words, f"{one['held']} of {one['of']}"]


def _worst(lines: Sequence[Line]) -> str:
    """Return how many choices are within 5% of the best, allowing for Monte-Carlo errors."""
    found = [one for one in _pick(lines, "best").values() if one["law"] in ASKED]
    said = list[str]()
    for method in METHODS:
        own = [one for one in found if one["method"] == method.name]
        near = 0
        for one in own:
            (a, s), (b, t) = one["own"], one["other"]
            near += a / b - 2 * a / b * sqrt((s / a) ** 2 + (t / b) ** 2) <= 1.05
        said.append(f"{NAMES[method.name]} {near}")
    return ", ".join(said) + f" of {len(CELLS)}"


def _beside(lines: Sequence[Line]) -> str:
    """Return in how many cells smooth and kernel densities beat the best histogram, and the largest ratios."""
    found = _pick(lines, "best")
    said = list[str]()
    for name in ("smooth", "kernel"):
        ratios = [
            found[name, law, n, str(price)]["own"][0] / found["histogram", law, n, str(price)]["other"][0]
            for law, n, price in CELLS
        ]
        said.append(
            f"{NAMES[name]}: below it in {sum(one < 1 for one in ratios)} of {len(ratios)} cells, from "
            f"{min(ratios):.2f} to {max(ratios):.2f} of its error"
        )
    return "; ".join(said)


def page(lines: Sequence[Line]) -> None:
    """Write the page."""
    from compared_densities import FRESH, FULL, SCANNED

    laws = (*ASKED, *(f"{law} (held out)" for law in HELD))
    of_rules = [f"{rule}: {word}" for rule in ("earlier", "today's") for word in ("mean", "largest", "within 5%")]
    text = f"""{HEAD}

## Error of the density

Mean integrated squared error; {FRESH} simulations ({FRESH // 3} of smooth densities). In bold: within 10% of the least.

{_errors(lines)}

Beside the best histogram of any number of bins, known only afterwards: {_beside(lines)}.

## Error of the distribution function

Mean of the largest distance from the law's distribution function, at 1,000 places; of data sets at the edges of
their 100 cells. Data sets have pure prices; – elsewhere.

{_distances(lines)}

## Beside the best parameter

Error over that of the same estimator at the number of bins or terms, bandwidth or degree that is best for this law,
which nobody knows beforehand, ± twice the Monte-Carlo error, and in parentheses what was chosen and what is best. The
best is sought among values of a grid ({SCANNED[False]} simulations of each, 40 of smooth densities), and both are
simulated again. Within 5%, allowing for the Monte-Carlo error: {_worst(lines)}.

{_oracles(lines)}

Choices are public: they follow from the number of rows and the price, and are made before anything is known of the law.
Why they are where they are:

- `bins="auto"` is a rule for fits of models to cells, whose scores are corrected for binning. A density is not: it
  wants several times as many bins.
- Terms of a series have the least expected error, in the geometric mean, over ten public laws, none of which is one of
  this page: a compromise between smooth laws, which need fewer, and a spike, which needs more than any of the ten.
  Polynomials pay most for it: their noise grows with the square of the number of terms, or faster.
- The bandwidth of a kernel is for a law of standard deviation 0.1, as part of the range; an estimate can only widen it.
- The degree of a Bernstein polynomial is for its distribution function, which needs a lower one than its derivative.
- Smooth densities had no rule when this was simulated; 64 bins were the advice. Of 1,000 rows of a smooth law 16 have
  less noise, and of a spike they would be far too few. Today's rule is `bins="density"`.

{WORDS}

{_table(heads(), pairs(_pick(lines, "best"), NAMES), 3)}

The next table has, for each size and price, the one value whose worst ratio over the four laws is least, and the ratios
at it, of the laws held out too ({SCANNED[True]} simulations of a value; a best value is best partly by luck, so that
ratios are a little too large; – is not simulated). It is the best that a rule by the number of rows and the price can
do for these four laws, knowing them: in hardly a line is it within 5% of the best for all of them, since what is best
for a smooth law and for a spike differ by factors. No rule was fitted to this table. Today's are better for smooth
laws, and worse for a spike.

{_table(["estimator", "n", "price", "value", *laws], _public(lines), 3)}

### Terms of a series, by two rules

The ratio over the sizes, prices and laws of a group: geometric mean, largest, and how many of 24 are at most 1.05. The
*earlier* rule took squared coefficients to be 1.5 / j³ in any basis, with the noise of cosines; it is the one that a
first version of this page measured, and found far from the best. *Today's* was then made, and the laws that it goes by
were chosen, before either group was simulated with it; it has not been changed since. Who chose them had seen how both
groups are defined: the needle is much like one of the ten, a peak on a hill. Series of laws held out were simulated,
with both rules, only afterwards (of cosines a few numbers of terms of one of them before).

{_table(["basis", "laws", *of_rules], _rules(lines), 2)}

## Coverage

At 95%, over all laws, sizes and prices, in %. *Resolved*: limits at {PLACES} single places, and bands for
as many places at once as are said, hold what they are said to: the density as far as the release resolves it, of a
histogram the average over each bin (for all bins at once, by Bonferroni). *Density*: they hold the density itself, over
releases without a doubt; *in doubt*: limits of those whose counts say more than is resolved hold it, and the share of
these, whose bands have no limits in doubt, which counts as held. *Told*: places with limits. A histogram has no doubts,
and its limits are of averages alone. Lines of 50 places are older: they are of limits that allowed for nothing in
doubt, of which that was not counted (–), and a band that holds at 50 places may miss the curve between them.

{
        _table(
            [
                "estimator",
                "releases",
                "places",
                "resolved: limits",
                "band",
                "density: limits",
                "band",
                "in doubt: limits",
                "in doubt",
                "told",
            ],
            _coverage(lines),
        )
    }

Bands of data sets, for the distribution function at all edges at once:

{_table(["law", "n", "price", "size", "distance", "data sets", "band holds"], _sets(lines), 3)}

## Time, and agreement

Milliseconds for an estimate with its values at 1,000 places, of Beta(2,5) at ε = 1, on a busy machine of two cores.
Errors above are of whole arrays of releases; the last columns have the largest difference of a squared error
(relative) and of a distance from those of the library's own functions, 5 releases each. Of {FULL} full releases by a
curator (of the same rows for all estimators), Beta(2,5), 1,000 rows, ε = 1, mean integrated squared error and the
simulated one, ± twice the Monte-Carlo error: {_full(lines)}.

{_table(["estimator", *(f"n = {n:,}" for n in SIZES), "squared errors", "distances"], _times(lines))}
"""
    put(PAGE, "compared_densities.py", text)
