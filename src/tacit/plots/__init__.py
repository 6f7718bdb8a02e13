"""Pictures of releases and estimates.  OUTSIDE the wall: they take results, never rows, and return what they drew."""

from __future__ import annotations

from tacit.plots.intervals import Drawn, estimate

__all__ = ["Drawn", "estimate"]
