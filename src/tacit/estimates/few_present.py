"""A note where hardly any of a public number of rows has a value that counts: cells that nobody can read, most likely.

Post-processing: from the noisy number of those present.
"""

from __future__ import annotations

from typing import Final

FEW: Final = 0.1
"""Largest part of the rows that is few."""
SURE: Final = 4.0
"""Standard deviations of noise by which the number of those present is below it."""


def few_present(columns: str, present: float, noise: float, rows: int | None) -> tuple[str, ...]:
    """Return the note, if there is reason for it; noise: standard deviation.

    >>> few_present("yes", 3.0, 6.0, 400)
    ('hardly any of the 400 rows has a value of yes that counts: are its cells written as the schema reads them? \
DataQuality counts those that are not, and tacit import shows them',)
    >>> few_present("yes", 60.0, 6.0, 400), few_present("yes", 3.0, 6.0, None)
    ((), ())
    """
    if rows is None or present + SURE * noise > FEW * rows:
        return ()
    return (
        f"hardly any of the {rows:,} rows has a value of {columns} that counts: are its cells written as the schema "
        "reads them? DataQuality counts those that are not, and tacit import shows them",
    )
