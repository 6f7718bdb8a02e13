"""What goes into a paper: estimates side by side, and the paragraph that says how they were made."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from tacit.errors import InferenceError
from tacit.inference.display import decimals
from tacit.inference.estimate import Estimate
from tacit.inference.moments import bounds_words, title, who
from tacit.release import Released

if TYPE_CHECKING:
    from tacit.tables import Table

CITATION = "Tacit, version {version}"


def table(*estimates: Estimate, names: Sequence[str] | None = None) -> Table:
    """Estimates side by side, "45.02 (0.29)" a cell: a column each, a row for each term, sizes and costs at the foot.

    names: headings of the columns; what was asked where not given.  InferenceError I13 for no estimate, or names that
    are not one each.

    >>> import tacit as tc
    >>> schema = tc.Schema({"age": tc.Real(0, 100)})
    >>> curator = tc.Curator({"age": [30.0, 40.0, 50.0]}, schema, budget=tc.Budget(rho=1))
    >>> made = table(*[curator.release(tc.Mean("age"), rho=rho).estimate() for rho in (0.1, 0.2)], names=["one", "two"])
    >>> made.columns, len(made.rows)
    (('', 'one', 'two'), 3)
    """
    from tacit.tables import Table, format_number

    if not estimates or (names is not None and len(names) != len(estimates)):
        text = f"{len(estimates)} estimates and {0 if names is None else len(names)} names."
        raise InferenceError(text, code="I13", hint='table(one, two, names=["one", "two"])', state=None)
    terms = list(dict.fromkeys(term for one in estimates for term in one.terms))
    cells: dict[tuple[str, int], str] = {}
    for i, one in enumerate(estimates):
        digits = decimals(one.std_errors)
        for term, value, error, reason in zip(one.terms, one.values, one.std_errors, one.reasons, strict=True):
            shown = [format_number(float(x), decimals=digits) for x in (value, error)]
            cells[term, i] = "not known" if reason else f"{shown[0]} ({shown[1]})"
    rows: list[tuple[object, ...]] = [
        (term, *(cells.get((term, i), "") for i in range(len(estimates)))) for term in terms
    ]
    rows.append(("N", *(_size(one.release) for one in estimates)))
    rows.append(("cost", *(str(one.release.cost) for one in estimates)))
    heads = tuple(names) if names is not None else tuple(title(one.release) for one in estimates)
    notes = ("standard errors in brackets: sampling and privacy noise together",)
    return Table("", ("", *heads), tuple(rows), notes, ("left", *("right" for _ in estimates)))


def _size(release: Released) -> str:
    return "private" if release.rows is None else f"{release.rows:,} {who(release)}"


def methods(*estimates: Estimate) -> str:
    """A paragraph for the methods section: relation, unit, prices, bounds, noise, both errors, and what to cite.

    InferenceError I13 for no estimate.

    >>> import tacit as tc
    >>> schema = tc.Schema({"age": tc.Real(0, 100, units="years")})
    >>> curator = tc.Curator({"age": [30.0, 40.0, 50.0]}, schema, name="people", budget=tc.Budget(rho=1))
    >>> print(methods(curator.release(tc.Mean("age"), rho=0.1).estimate())[:72])
    Estimates were released under zero-concentrated differential privacy (ρ
    """
    if not estimates:
        raise InferenceError("no estimate is given.", code="I13", hint="methods(release.estimate())", state=None)
    releases = _releases(estimates)
    first = releases[0]
    bounds = dict.fromkeys(
        f"{part.label}: {bounds_words(part)}" for one in releases for part in one.parts if bounds_words(part)
    )
    noise = " and ".join(sorted({part.law.name for one in releases for part in one.parts}))
    clamped = f" Values were clamped to public bounds ({'; '.join(bounds)})." if bounds else ""
    rest = "only the noise is uncertain" if estimates[0].target == "table" else "both sampling and this noise"
    closing = (
        f"intervals account for the noise; the table is taken as the population, so {rest}."
        if estimates[0].target == "table"
        else f"standard errors and intervals account for {rest}."
    )
    version = getattr(first, "version", "")
    cite = f" Computed with {CITATION.format(version=version)}." if version else ""
    return (
        f"Estimates were released under {_promise(releases)}; neighbouring tables differ in {_neighbour(first)}."
        f"{clamped} {noise[0].upper()}{noise[1:]} noise was added to exact integer sums; {closing}{cite}"
    )


def _releases(estimates: Sequence[Estimate]) -> list[Released]:
    found = [one for estimate in estimates for one in (estimate.release, *estimate.others)]
    kept: dict[tuple[object, ...], Released] = {}
    for one in found:  # one release may be behind several estimates
        kept.setdefault((one.table, getattr(one, "charge", id(one)), getattr(one, "name", None), one.query), one)
    return list(kept.values())


def _promise(releases: Sequence[Released]) -> str:
    """The kind of privacy, and the sum of all prices."""
    costs = [one.cost for one in releases]
    many = f" in {len(costs)} releases" if len(costs) > 1 else ""
    if all(cost.kind == "pure" for cost in costs):
        total = sum((cost.epsilon or Fraction(0) for cost in costs), Fraction(0))
        return f"differential privacy (ε = {float(total):.6g}{many}, added up)"
    if len(costs) == 1 and costs[0].kind == "approximate":
        return f"differential privacy ({costs[0]})"
    total = sum((cost.zcdp for cost in costs), Fraction(0))
    return f"zero-concentrated differential privacy (ρ = {float(np.nextafter(float(total), 2)):.6g}{many}, added up)"


def _neighbour(release: Released) -> str:
    if release.unit is not None:
        return f"one person with all rows, of which at most {release.unit:,} count"
    return "the values in one row" if release.neighbors == "replace-one" else "the presence of one row"
