"""Tables of estimates, as one `Table` for text, HTML and files (api.md §3), and the words they share."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from tacit.base.arrays import Array
from tacit.base.table import Table, format_interval, format_number
from tacit.errors import InferenceError
from tacit.estimates.bound_notes import at_bounds
from tacit.estimates.dates import error_of, interval_of, number_or_date
from tacit.estimates.wording import bounds_of, counting, in_blocks, missing_words, ratio_words, title, who
from tacit.release.document import Released
from tacit.release.noise_checks import SELECTIONS
from tacit.release.simulated import SimulatedRelease

if TYPE_CHECKING:
    from tacit.estimates.estimate import Estimate
    from tacit.estimates.normal_estimate import NormalEstimate
    from tacit.estimates.verbs.contrasts import Test
    from tacit.estimates.verbs.pairwise_differences import Pairwise


def summary(estimate: Estimate, level: float) -> Table:
    """Return a table of estimates, standard errors, intervals and privacy's part of each variance, with notes."""
    limits = estimate.intervals(level)
    errors = estimate.std_errors
    share = estimate.privacy_shares
    places, dated = term_decimals(estimate), estimate.dated
    rows: list[tuple[object, ...]] = []
    for i, term in enumerate(estimate.terms):
        form: Any = {"decimals": places[i], "dated": dated[i]}
        low, high = map(float, limits[i])
        interval = interval_of(low, high, **form)
        if estimate.reasons[i]:
            # a whole line of numbers says nothing: no interval is shown
            rows.append((term, "–", "–", interval if math.isfinite(low) or math.isfinite(high) else "–", "–"))
            continue
        value = number_or_date(float(estimate.values[i]), **form)
        error = error_of(float(errors[i]), **form)
        rows.append((term, value, error, interval, f"{100 * share[i]:.0f} %"))
    columns = (estimate.term_title, "estimate", "std. error", f"{percent(level)} interval", "of which privacy")
    reasons = [f"{term}: {reason}" for term, reason in zip(estimate.terms, estimate.reasons, strict=True) if reason]
    return Table(
        title=heading(estimate),
        columns=columns,
        rows=tuple(rows),
        # many cells may have as many reasons; the first 12 are shown
        notes=(*reasons[:12], *notes(estimate)),
        align=("left", "right", "right", "right", "right"),
    )


def normal_table(found: NormalEstimate, level: float, simultaneous: bool = False) -> Table:
    """Return such a table for normally distributed numbers; with z and p-values if they are tested against 0."""
    limits = found.intervals(level, simultaneous=simultaneous)
    errors, shares = found.std_errors, found.privacy_shares
    z, p = found.statistics, found.p_values
    rows: list[tuple[object, ...]] = []
    for i, term in enumerate(found.terms):
        value, digits = float(found.values[i]), decimals(errors[i : i + 1])
        tests = (f"{z[i]:.2f}", p_words(float(p[i]))) if found.tested else ()
        if found.reasons[i]:
            said = (
                "–" if math.isnan(value) else format_number(value, decimals=decimals(np.abs(found.values[i : i + 1])))
            )
            rows.append((term, said, *("–" for _ in range(3 + len(tests)))))
            continue
        low, high = map(float, limits[i])
        cells = (format_number(value, decimals=digits), format_number(float(errors[i]), decimals=digits))
        interval = format_interval(low, high, decimals=digits)
        rows.append((term, *cells, *tests, interval, f"{100 * shares[i]:.0f} %"))
    tested = ("z", "p-value") if found.tested else ()
    kind = "simultaneous interval" if simultaneous else "interval"
    names = ("estimate", "std. error", *tested, f"{percent(level)} {kind}", "of which privacy")
    reasons = dict.fromkeys(reason for reason in found.reasons if reason)
    notes = (*reasons, *found.notes, facts(found.release))
    return Table(f"{found.title} · {people_words(found.release)}", (found.term_title, *names), tuple(rows), notes)


RATIOS: Final = {"logistic": "odds ratio", "poisson": "rate ratio", "gamma": "ratio of means"}
"""What the exponential of a coefficient is, by model."""


def check_ratios(model: str) -> None:
    """InferenceError I44 for a model whose coefficients are no logarithms of ratios."""
    if model not in RATIOS:
        text = f"coefficients of a {model} model are no logarithms of ratios."
        raise InferenceError(text, code="I44", hint="exponentiate=False", state=None)


def ratios_table(found: NormalEstimate, model: str, level: float, simultaneous: bool = False) -> Table:
    """Return exponentials of coefficients, with those of the ends of their intervals; InferenceError I44.

    An interval of a coefficient holds the truth as often as that of its exponential: no delta method is needed.  The
    intercept is no ratio, and is left out.
    """
    check_ratios(model)
    limits, p = np.exp(found.intervals(level, simultaneous=simultaneous)), found.p_values
    rows: list[tuple[object, ...]] = []
    for i, term in enumerate(found.terms):
        if term == "Intercept":
            continue
        low, high = map(float, limits[i])
        words = (*ratio_words(math.exp(found.values[i]), low, high), p_words(float(p[i])))
        rows.append((term, *(("–", "–", "–") if found.reasons[i] else words)))
    kind = "simultaneous interval" if simultaneous else "interval"
    heads = (found.term_title, RATIOS[model], f"{percent(level)} {kind}", "p-value of 1")
    reasons = dict.fromkeys(reason for reason in found.reasons if reason)
    notes = (*reasons, *found.notes, facts(found.release))
    return Table(f"{found.title} · {people_words(found.release)}", heads, tuple(rows), notes)


def criteria_words(criteria: Mapping[str, float], model: str, people: str, size: int | None) -> str:
    """Return one line on a model's fit: rows (persons) counted, R squared, residual error; or an empty one.

    size: of the table, where it is public: a noisy count beyond it says that nearly all of it was counted.
    """
    # of weighted rows as many as would tell as much without weights
    counted = f"effective {people}" if "effective_size" in criteria else f"{people} counted"
    words: list[str] = []
    if "rows" in criteria:
        rows = criteria["rows"] if size is None else min(criteria["rows"], size)
        words.append(f"{'' if criteria['rows'] == size else 'about '}{rows:,.0f} {counted}")
    if math.isfinite(criteria.get("explained", math.nan)):
        words.append(f"{'R²' if model == 'linear' else 'deviance explained'} {criteria['explained']:.3f}")
    if "scale" in criteria:
        ends = [criteria[name] for name in ("scale_lower", "scale_upper") if name in criteria]
        told = f" (95% interval {ends[0]:,.3g} to {ends[1]:,.3g}, for the table itself)" if ends else ""
        words.append(f"residual standard deviation {criteria['scale']:,.{3 if ends else 4}g}{told}")
    return " · ".join(words)


def heading(estimate: Estimate) -> str:
    """Return title and population: "Mean of age by sex · people-2024 · 10,000 rows · replace-one, one row each"."""
    what = title(estimate.release)
    if None in estimate.combination.picked():
        what = f"{what}, combined" if not estimate.others else f"{what}, {estimate.joined} {title(estimate.others[0])}"
    return f"{what} · {people_words(estimate.release)}"


def people_words(release: Released) -> str:
    """Return the table's name, its size if public, the neighbour relation and the privacy unit."""
    unit = release.unit
    size = f" · {release.rows:,} {who(release)}" if release.rows is not None else " · size private"
    each = "one row each" if unit is None else f"a person with all rows{counting(release)}"
    return f"{release.table}{size} · {release.neighbors}, {each}"


def notes(estimate: Estimate) -> tuple[str, ...]:
    """Return the estimand, the estimate's notes, and one line of rules, noise, cost and record (`facts`)."""
    release = estimate.release
    lines = [f"estimates: {estimate.estimand}; privacy: its share of the variance"]
    lines += [*at_bounds(estimate), *(note for note in estimate.notes if not note.startswith("missing"))]
    return (*lines, facts(release))


def facts(release: Released) -> str:
    """Return rule for missing values, bounds, noise, cost, remaining budget and record of a release, joined by dots."""
    words: list[str] = []
    if type(release.query).__name__ != "DataQuality" and release.parts and release.parts[0].grid is not None:
        words.append(missing_words(release))
        bounds = bounds_of(release)
        if in_blocks(release):
            bounds = {name: f"{name} {said.replace('bounds', 'from')}" for name, said in bounds.items()}
        several = len(bounds) > 1 and not in_blocks(release)
        words += [f"{label}: {text}" if several else text for label, text in bounds.items()]
    words += sorted({part.law.name if part.form in SELECTIONS else f"{part.law.name} noise" for part in release.parts})
    words.append(f"cost {release.cost}")
    remaining = getattr(release, "remaining", None)
    if remaining:
        words.append(str(remaining))
    if isinstance(release, SimulatedRelease):
        words.append("simulated, protects nobody")
    elif not getattr(release, "recorded", True):
        words.append("memory only, not recorded")
    return " · ".join(words)


def test_table(test: Test) -> Table:
    """Return the table of one test, a single row."""
    name = "z" if test.df == 1 else "chi-square"
    row = (test.constraints, f"{test.statistic:.3f}", str(test.df), p_words(test.p_value))
    columns = ("hypothesis", name, "df", "p-value")
    return Table(
        title="Test", columns=columns, rows=(row,), notes=(test.method,), align=("left", "right", "right", "right")
    )


def pairwise_table(found: Pairwise, level: float) -> Table:
    """Return the table of pairwise differences with intervals and adjusted p-values."""
    made = found.estimate
    digits = decimals(made.std_errors)
    limits, p_values = found.intervals(level), found.adjusted()
    rows = tuple(
        (
            term,
            format_number(float(made.values[i]), decimals=digits),
            format_number(float(made.std_errors[i]), decimals=digits),
            format_interval(float(limits[i, 0]), float(limits[i, 1]), decimals=digits),
            p_words(float(p_values[i])),
        )
        for i, term in enumerate(made.terms)
    )
    columns = ("", "difference", "std. error", f"{percent(level)} interval", "p-value")
    return Table(
        title=f"Differences · {heading(made)}",
        columns=columns,
        rows=rows,
        notes=(found.words(), facts(made.release)),
        align=("left", "right", "right", "right", "right"),
    )


def interval_rows(
    terms: tuple[str, ...], values: Array, limits: Array, digits: int, *, dated: bool = False
) -> tuple[tuple[object, ...], ...]:
    """Return rows of term, value and interval; an interval that is not known (NaN) is a dash.

    digits: decimals.  dated: whether values are dates.
    """
    return tuple(
        (
            term,
            number_or_date(float(value), decimals=digits, dated=dated),
            "–" if math.isnan(low) else interval_of(float(low), float(high), decimals=digits, dated=dated),
        )
        for term, value, (low, high) in zip(terms, values, limits, strict=True)
    )


def interval_decimals(limits: Array, reasons: Sequence[str | None]) -> int:
    """Return the decimals that show two digits of the intervals' median width, at most 8; limits: shape (terms, 2).

    Intervals that are not known (NaN) do not count, nor those with a reason where there are others.

    >>> interval_decimals(np.array([[44.4, 45.7], [0.0, 1e6]]), (None, "few rows"))
    1
    """
    widths = limits[:, 1] - limits[:, 0]
    known = np.isfinite(widths)
    sure = known & np.array([reason is None for reason in reasons])
    counted = widths[sure if sure.any() else known]
    return decimals(np.array([float(np.median(counted)) or 1.0 if counted.size else 1.0]))


def p_words(p: float) -> str:
    """Return a p-value in words, with three or four decimals.

    >>> p_words(0.00004), p_words(0.0312)
    ('< 0.0001', '0.031')
    """
    return "< 0.0001" if p < 1e-4 else f"{p:.4f}" if p < 0.01 else f"{p:.3f}"


def percent(level: float) -> str:
    """Return a level as a percentage.

    >>> percent(0.95), percent(0.999)
    ('95%', '99.9%')
    """
    return f"{100 * level:.10g}%"


def term_decimals(estimate: Estimate) -> list[int]:
    """Return the decimals of each term; terms of the same column get the same number."""
    errors, columns = estimate.std_errors, estimate.combination.columns()
    digits = {one: decimals(errors[[i for i, own in enumerate(columns) if own == one]]) for one in set(columns)}
    return [digits[one] for one in columns]


def decimals(errors: Array) -> int:
    """Return the decimals that show two digits of the smallest standard error, at most 8.

    >>> decimals(np.array([0.29, 0.31])), decimals(np.array([120.0]))
    (2, 0)
    """
    positive = errors[(errors > 0) & np.isfinite(errors)]
    return min(max(1 - math.floor(math.log10(float(positive.min()))), 0), 8) if positive.size else 2
