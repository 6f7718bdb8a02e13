"""Expected precision of data quality: every column is assumed to be in order."""

from __future__ import annotations

from typing import Final

from tacit.method.shared.plan_expected import uniform

SAYS_ALL: Final = True
"""That privacy makes most of the variance says nothing where no cell is assumed to be wrong."""

expected = uniform
