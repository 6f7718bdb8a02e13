"""Tables of statistics derived from cells."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tacit.base.table import Table
from tacit.estimates.dates import error_of, interval_of, number_or_date
from tacit.estimates.display import decimals, facts, people_words, percent

if TYPE_CHECKING:
    from tacit.method.histogram.estimate_from_cells.derived_numbers import Derived

MOST_REASONS = 12
"""Largest number of reasons listed below a table."""


def summary(found: Derived, level: float) -> Table:
    """Return the table of `Derived.summary`; decimals of a term show about two digits of its interval's width."""
    limits = found.intervals(level)
    with_errors = found.privacy is not None
    rows: list[tuple[object, ...]] = []
    for i, term in enumerate(found.terms):
        low, high = map(float, limits[i])
        width = high - low
        digits = decimals(np.array([width / 4])) if np.isfinite(width) and width > 0 else 2
        form: Any = {"decimals": digits, "dated": term in found.dates}
        row: list[object] = [term, number_or_date(float(found.values[i]), **form)]
        said = with_errors and found.reasons[i] is None
        if with_errors:
            row.append(error_of(float(found.std_errors[i]), **form) if said else "–")
        row.append(interval_of(low, high, **form))
        if with_errors:
            row.append(f"{100 * found.privacy_shares[i]:.0f} %" if said else "–")
        rows.append(tuple(row))
    interval = f"{percent(level)} interval"
    columns = (
        (found.term_title, "estimate", "std. error", interval, "of which privacy")
        if with_errors
        else (found.term_title, "estimate", interval)
    )
    said = [f"{term}: {reason}" for term, reason in zip(found.terms, found.reasons, strict=True) if reason]
    notes = (*said[:MOST_REASONS], f"estimates: {found.estimand}", *found.notes, facts(found.release))
    title = f"{found.title} · {people_words(found.release)}"
    return Table(title, columns, tuple(rows), notes)
