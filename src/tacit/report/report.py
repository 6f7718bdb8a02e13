"""Tables of several estimates side by side, and a methods paragraph for a paper."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from typing import Any, Final, TypeAlias, cast

import numpy as np

from tacit.base.arguments import described
from tacit.base.table import Table, format_number
from tacit.errors import InferenceError
from tacit.estimates.display import decimals, interval_decimals, percent
from tacit.estimates.estimate import Estimate
from tacit.estimates.normal_estimate import NormalEstimate
from tacit.estimates.wording import bounds_of, condition, in_blocks, title, who
from tacit.fits.fit_release import METHODS
from tacit.fits.fitted_model import FittedModel
from tacit.method.quantiles.estimate import POINT_ONLY, QuantileEstimate, asks_intervals
from tacit.method.quantiles.estimate_cuts import is_cut
from tacit.method.quantiles.estimate_difference import BOUND, QuantileDifference
from tacit.method.regression.estimate import shortened
from tacit.method.regression.estimate_coefficients.weights_of_rows import weight_words
from tacit.privacy.cost import mu_of
from tacit.privacy.exact_numbers import plain
from tacit.release.document import Release, Released

CITATION: Final = "Tacit, version {version}"
RANGE: Final = ", whose bounded range sets the price (Dong, Durfee & Rogers, 2020)"
SELECTED_BY: Final = {
    "exponential mechanism": "the exponential mechanism (McSherry & Talwar, 2007)",
    "permute-and-flip": "permute-and-flip (McKenna & Sheldon, 2020)",
}
"""How quantiles were selected, by the name of the law."""
Errors: TypeAlias = Estimate | NormalEstimate | FittedModel
Shown: TypeAlias = Errors | QuantileEstimate | QuantileDifference


def table(*estimates: Shown, names: Sequence[str] | None = None) -> Table:
    """Estimates and models side by side, "45.02 (0.29)" a cell: a column each, a row a term, sizes and costs below.

    Quantiles have no standard error: a cell is "45.0 [44.4, 45.7]", with the interval that was asked for.
    names: headings of the columns; what was asked where not given.  InferenceError I13 for no estimate, or names that
    are not one each.

    >>> import tacit as tc
    >>> schema = tc.Schema({"age": tc.Real(0, 100)})
    >>> curator = tc.Curator({"age": [30.0, 40.0, 50.0]}, schema, budget=tc.Budget(rho=1))
    >>> made = table(*[curator.release(tc.Mean("age"), rho=rho).estimate() for rho in (0.1, 0.2)], names=["one", "two"])
    >>> made.columns, len(made.rows)
    (('', 'one', 'two'), 3)
    """
    _checked(estimates)
    if names is not None and (isinstance(names, str) or len(names) != len(estimates)):
        text = f"{len(estimates)} estimates and {1 if isinstance(names, str) else len(names)} names."
        raise InferenceError(text, code="I13", hint='table(one, two, names=["one", "two"])', state=None)
    terms = _terms(estimates)
    shown = [dict(zip(one.terms, _cells(one), strict=True)) for one in estimates]
    rows: list[tuple[object, ...]] = [(term, *(cells.get(term, "") for cells in shown)) for term in terms]
    fits = [one.criteria.get("explained", np.nan) if isinstance(one, FittedModel) else np.nan for one in estimates]
    if np.isfinite(fits).any():
        models = {getattr(one, "model", "") for one, x in zip(estimates, fits, strict=True) if np.isfinite(x)}
        rows.append(
            ("R²" if models == {"linear"} else "deviance explained", *("" if np.isnan(x) else f"{x:.3f}" for x in fits))
        )
    rows.append(("N", *(_size(one) for one in estimates)))
    rows.append(("cost", *(str(one.release.cost) for one in estimates)))
    heads = tuple(names) if names is not None else tuple(_heading(one) for one in estimates)
    return Table("", ("", *heads), tuple(rows), _brackets(estimates, heads), ("left", *("right" for _ in estimates)))


def _terms(estimates: Sequence[Shown]) -> list[str]:
    """Return every term once, in order of appearance, the intercept first."""
    terms = list(dict.fromkeys(term for one in estimates for term in one.terms))
    return sorted(terms, key=lambda term: term != "Intercept")


def _checked(estimates: Sequence[object]) -> None:
    """Raise InferenceError I13 where nothing, or something other than an estimate, is given."""
    if not estimates:
        raise InferenceError("no estimate is given.", code="I13", hint="release.estimate()", state=None)
    for one in estimates:
        if isinstance(one, Mapping):
            given = cast("Mapping[object, object]", one)
            text = f"{described(given)} is no estimate: estimates stand one after the other, their names in names=."
            raise InferenceError(text, code="I13", hint=_by_place(given), state=None)
        if not isinstance(one, Shown):
            hint = "release.estimate()" if isinstance(one, Release) else "summary() of it"
            raise InferenceError(f"a {type(one).__name__} is no estimate.", code="I13", hint=hint, state=None)


def _by_place(given: Mapping[object, object]) -> str:
    """Return the call that has what is given by name.

    >>> _by_place({"women": 1, "men": 2})
    'table(women, men, names=["women", "men"])'
    """
    names = [key for key in given if isinstance(key, str)]
    if not names or len(names) < len(given):
        return 'table(one, two, names=["one", "two"])'
    calls = names if all(name.isidentifier() for name in names) else ["one", "two", "…"][: len(names)]
    named = ", ".join(f'"{name}"' for name in names)
    return f"table({', '.join(calls)}, names=[{named}])"


def _cells(one: Shown) -> list[str]:
    """One cell a term: value and standard error, or value and interval."""
    if isinstance(one, NormalEstimate | FittedModel):
        return _own_decimals(one)
    digits = decimals(one.std_errors) if isinstance(one, Estimate) else interval_decimals(one.limits, one.reasons)

    def number(x: float) -> str:
        return format_number(float(x), decimals=digits)

    if isinstance(one, Estimate):
        said = [f"{number(x)} ({number(error)})" for x, error in zip(one.values, one.std_errors, strict=True)]
        return ["not known" if reason else cell for cell, reason in zip(said, one.reasons, strict=True)]
    return [
        f"{number(x)}{_bracket(low, high, number)}{'' if reason in (None, POINT_ONLY) else ' ?'}"
        for x, (low, high), reason in zip(one.values, one.limits, one.reasons, strict=True)
    ]


def _bracket(low: float, high: float, number: Callable[[float], str]) -> str:
    """Return an interval in square brackets; nothing where none was asked for."""
    return "" if np.isnan(low) else f" [{number(low)}, {number(high)}]"


def _own_decimals(one: NormalEstimate | FittedModel) -> list[str]:
    """Return the cells with decimals chosen for each term, whose units differ."""
    cells: list[str] = []
    for x, error, reason in zip(one.values, one.std_errors, one.reasons, strict=True):
        digits = decimals(np.array([error]))
        said = f"{format_number(float(x), decimals=digits)} ({format_number(float(error), decimals=digits)})"
        cells.append("not known" if reason else said)
    return cells


def _heading(one: Shown) -> str:
    """Return the heading of an estimate's column: its question in words."""
    if isinstance(one, FittedModel):
        return one.coefficients.title
    if isinstance(one, NormalEstimate):
        return one.title
    if isinstance(one, QuantileDifference):
        return f"Differences · {title(one.release)}"
    return title(one.release)


def _brackets(estimates: Sequence[Shown], heads: Sequence[str]) -> tuple[str, ...]:
    """Return notes that explain the brackets in the cells."""
    made: list[str] = []
    if any(isinstance(one, Errors) for one in estimates):
        made.append("standard errors in brackets: sampling and privacy noise together")
    quantiles = [(one, head) for one, head in zip(estimates, heads, strict=True) if not isinstance(one, Errors)]
    selected = [(one, head) for one, head in quantiles if POINT_ONLY not in one.reasons]
    levels = {percent(one.level) for one, _ in selected}
    if len(levels) == 1:
        made.append(f"{levels.pop()} intervals in square brackets: sampling and selection error together")
    elif levels:
        each = ", ".join(f"{head} {percent(one.level)}" for one, head in selected)
        made.append(f"intervals in square brackets ({each}): sampling and selection error together")
    if any(one.notes for one, _ in selected if isinstance(one, QuantileDifference)):
        made.append(f"differences of quantiles: {BOUND}")
    if len(selected) < len(quantiles):
        made.append("quantiles without square brackets: only the point was asked for")
    if any(reason not in (None, POINT_ONLY) for one, _ in quantiles for reason in one.reasons):
        made.append("?: few rows for the price; the interval is that of the column's bounds")
    return tuple(made)


def _size(one: Shown) -> str:
    """Return how many rows were asked about; of a subgroup the table's own number would be too many."""
    release = one.release
    whole = "private" if release.rows is None else f"{release.rows:,} {who(release)}"
    if not condition(release.query):
        return whole
    if isinstance(one, FittedModel) and "rows" in one.criteria:
        rows = min(one.criteria["rows"], np.inf if release.rows is None else release.rows)
        return f"about {rows:,.0f} {who(release)}"
    return whole if release.rows is None else f"some of {whole}"


def methods(*estimates: Shown) -> str:
    """A paragraph for the methods section: relation, unit, prices, bounds, noise, both errors, and what to cite.

    Of quantiles: the mechanism of the release, permute-and-flip [McKenna & Sheldon 2020] or the exponential mechanism
    [McSherry & Talwar 2007] and its bounded range [Dong, Durfee & Rogers 2020].
    InferenceError I13 for no estimate.

    >>> import tacit as tc
    >>> schema = tc.Schema({"age": tc.Real(0, 100, units="years")})
    >>> curator = tc.Curator({"age": [30.0, 40.0, 50.0]}, schema, name="people", budget=tc.Budget(rho=1))
    >>> print(methods(curator.release(tc.Mean("age"), rho=0.1).estimate())[:72])
    Estimates were released under zero-concentrated differential privacy (ρ
    """
    _checked(estimates)
    releases = _releases(estimates)
    first = releases[0]
    bounds = _bounds([one for one in releases if not in_blocks(one)])
    clamped = f" Values were clamped to public bounds ({bounds})." if bounds else ""
    version = getattr(first, "version", "")
    cite = f" Computed with {CITATION.format(version=version)}." if version else ""
    said = f"{clamped}{_blocks(releases)}{_added(releases, estimates)}{_models(estimates)}"
    return (
        f"Estimates were released under {_promise(releases)}; neighbouring tables differ in {_neighbour(first)}."
        f"{said}{_selected(releases, estimates)}{cite}"
    )


def _added(releases: Sequence[Released], estimates: Sequence[Shown]) -> str:
    """The sentence on noise that was added to sums."""
    linear = [one for one in estimates if isinstance(one, Errors)]
    if not linear:
        return ""
    sums = [one for one in releases if not _selects(one)]
    noise = " and ".join(sorted({part.law.name for one in sums for part in one.parts if part.form != "quartiles"}))
    closing = "standard errors and intervals account for both sampling and this noise."
    own = getattr(linear[0], "coefficients", linear[0])
    if isinstance(own, Estimate | NormalEstimate) and own.target == "table":
        closing = (
            "intervals account for the noise; the table is taken as the population, so only the noise is uncertain."
        )
    return f" {noise[0].upper()}{noise[1:]} noise was added to exact integer sums; {closing}"


def _bounds(releases: Sequence[Released]) -> str:
    return "; ".join(dict.fromkeys(f"{label}: {words}" for one in releases for label, words in bounds_of(one).items()))


def _blocks(releases: Sequence[Released]) -> str:
    """The sentence on parameters estimated in blocks."""
    chosen = [one for one in releases if in_blocks(one)]
    if not chosen:
        return ""
    steps = {
        "winsorize": "winsorised at quartiles selected by the exponential mechanism (Smith, 2011)",
        "one_step": "followed by one step of clipped scores of all rows",
    }
    how = [said for name, said in steps.items() if any(getattr(one.query, name) for one in chosen)]
    words = ", ".join(["by sample and aggregate (Smith, 2008)", *how])
    return f" Parameters were estimated {words}; estimates of blocks were clamped to public boxes ({_bounds(chosen)})."


def _models(estimates: Sequence[Shown]) -> str:
    """The sentence on models fitted to cells."""
    models = [one for one in estimates if isinstance(one, FittedModel)]
    sums = [one for one in models if type(one.release.query).__name__ == "Regression" and not of_cells(one.release)]
    made = dict.fromkeys(one.method for one in models if one not in sums)
    how = "; ".join(METHODS[method] for method in made)
    auto = any(of_cells(one.release) for one in models)
    what = "released counts of the crossed levels of their columns" if auto else "released cells of a histogram"
    cells = f" Models were fitted to the {what} (Lei, 2011), {how}." if made else ""
    kinds = list(dict.fromkeys(one.model for one in sums))
    norms = {shortened(one.release) for one in sums if one.model == "linear"}
    products = {True: "noisy products of norm-clipped rows", False: "noisy cross-products"}
    said = " or ".join(products[one] for one in sorted(norms, reverse=True))
    linear = f" Linear models: {said} and one step of clipped residuals (Bickel, 1975)."
    others = [
        kind.capitalize() if i == 0 or kind == "huber" else kind
        for i, kind in enumerate(k for k in kinds if k != "linear")
    ]
    clipped = " of norm-clipped rows" if any(shortened(one.release) for one in sums if one.model != "linear") else ""
    scores = (
        f" {' and '.join(others)} models: a pilot fit and steps of bounded scores{clipped} (Cantoni & Ronchetti, 2001)."
    )
    return cells + (linear if "linear" in kinds else "") + (scores if others else "") + _row_weights(sums)


def _row_weights(models: Sequence[FittedModel]) -> str:
    """The sentence on weights of rows in regressions."""
    words = list(dict.fromkeys(found for one in models if (found := weight_words(one.release))))
    if not words:
        return ""
    said = " and ".join(one.removeprefix(", weights ") for one in words)
    return f" Rows had weights ({said}); standard errors have their squares (sandwich)."


def of_cells(release: Released) -> bool:
    """Whether it is a regression that was answered from cells."""
    return bool(getattr(release.query, "cells", ()))


def _selected(releases: Sequence[Released], estimates: Sequence[Shown]) -> str:
    """The sentences on quantiles that were selected."""
    whole = _read_from_cuts([one for one in releases if _selects(one) and is_cut(one)])
    chosen = [one for one in releases if _selects(one) and not is_cut(one)]
    if not chosen:
        return whole
    parts = [part for one in chosen for part in one.parts]
    priced = "" if all(one.cost.kind == "pure" for one in chosen) else RANGE
    sizes = sorted({part.law.name for part in parts if part.form == "size"})
    laws = [said for name, said in SELECTED_BY.items() if any(part.law.name == name for part in parts)]
    added = f", around numbers of rows released with {' and '.join(sizes)} noise" if sizes else ""
    levels = sorted({percent(cast(Any, one.query).level) for one in chosen if asks_intervals(one)})
    ends = f" and the ends of their {' and '.join(levels)} intervals" if levels else ""
    both = "; the intervals account for both sampling and the error of selection" if levels else ""
    bound = f"; those of differences are combined from both, {BOUND}"
    differ = levels and any(isinstance(one, QuantileDifference) for one in estimates)
    points = not all(asks_intervals(one) for one in chosen)
    alone = f"; {'some' if levels else 'they'} were selected without an interval" if points else ""
    return (
        f" Quantiles{ends} were selected from public grids by {' and '.join(laws)}"
        f"{priced}{added}{both}{bound if differ else ''}{alone}.{whole}"
    )


def _read_from_cuts(releases: Sequence[Released]) -> str:
    """The sentence on quantiles that were read from cuts of a column and the numbers of rows between them."""
    if not releases:
        return ""
    levels = sorted({percent(cast(Any, one.query).level) for one in releases})
    noise = sorted({one.parts[1].law.name for one in releases})
    priced = "" if all(one.cost.kind == "pure" for one in releases) else RANGE
    return (
        f" Quantiles and their {' and '.join(levels)} intervals were read from cuts of the column, selected from a"
        " public grid by halving ranges (Kaplan, Schnapp & Stemmer, 2022) with the exponential mechanism"
        f"{priced}, and from the numbers of rows between them, released with {' and '.join(noise)} noise; the"
        " intervals account for both sampling and noise."
    )


def _selects(release: Released) -> bool:
    """Whether it is a release of quantiles."""
    return type(release.query).__name__ == "Quantiles"


def _releases(estimates: Sequence[Shown]) -> list[Released]:
    found = [one for estimate in estimates for one in (estimate.release, *getattr(estimate, "others", ()))]
    kept: dict[tuple[object, ...], Released] = {}
    for one in found:  # several estimates may come from one release
        # simulated releases have no charge, and are told apart by identity
        kept.setdefault((one.table, getattr(one, "charge", id(one)), getattr(one, "name", None), one.query), one)
    return list(kept.values())


def _promise(releases: Sequence[Released]) -> str:
    """Return the kind of privacy and the sum of all prices, rounded up."""
    costs = [one.cost for one in releases]
    many = f" in {len(costs)} releases" if len(costs) > 1 else ""
    if all(cost.kind == "pure" for cost in costs):
        total = sum((cost.epsilon or Fraction(0) for cost in costs), Fraction(0))
        return f"differential privacy (ε = {plain(total, 6)}{many}, added up)"
    if len(costs) == 1 and costs[0].kind == "approximate":
        return f"differential privacy ({costs[0]})"
    if all(cost.kind in ("approximate", "gdp") for cost in costs):
        mu = mu_of(sum((cost.gdp for cost in costs), Fraction(0)))
        return f"Gaussian differential privacy (μ = {plain(mu, 6)}{many}, μ² added up)"
    total = sum((cost.zcdp for cost in costs), Fraction(0))
    return f"zero-concentrated differential privacy (ρ = {plain(total, 6)}{many}, added up)"


def _neighbour(release: Released) -> str:
    if release.unit is not None:
        return f"one person with all rows, of which at most {release.unit:,} count"
    return "the values in one row" if release.neighbors == "replace-one" else "the presence of one row"
