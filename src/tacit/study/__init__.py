"""Studies: one file of public words for many parties, and each party's own page beside it.  No data here."""

from __future__ import annotations

from tacit.study.columns import ColumnMap
from tacit.study.parties import Combine, Party
from tacit.study.site import Site
from tacit.study.study import Study, read

__all__ = ["ColumnMap", "Combine", "Party", "Site", "Study", "read"]
