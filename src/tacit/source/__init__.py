"""Exact integer sums over the rows of frames and files, the same on every engine.  INSIDE the wall."""

from __future__ import annotations

from tacit.source.engine_table import Source
from tacit.source.in_memory.held_rows import HeldRows
from tacit.source.open_table import computing, open_source
from tacit.source.schema_check import check_source

__all__ = ["HeldRows", "Source", "check_source", "computing", "open_source"]
