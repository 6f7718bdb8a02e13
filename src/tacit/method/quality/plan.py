"""Expected precision of data quality: every column is assumed to be in order."""

from __future__ import annotations

from typing import Final

from tacit.method.shared.plan_expected import uniform

SAYS_ALL: Final = True
"""Plans do not warn that privacy causes most of the variance: where no cell is wrong there is no other variance."""

expected = uniform
