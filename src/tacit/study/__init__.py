"""Studies: one public file that many parties share, and a private site file for each party.  No data here."""

from __future__ import annotations

from tacit.schema.site_columns import ColumnMap
from tacit.study.site import Site
from tacit.study.study import Study, read
from tacit.study.study_parties import Combine, Party

__all__ = ["ColumnMap", "Combine", "Party", "Site", "Study", "read"]
