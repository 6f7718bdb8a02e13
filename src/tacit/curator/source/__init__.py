"""Frames and files -> exact integer sums, the same on every engine.  INSIDE the wall."""

from __future__ import annotations

from tacit.curator.source.check import check_source
from tacit.curator.source.frames import Source
from tacit.curator.source.opening import computing, open_source

__all__ = ["Source", "check_source", "computing", "open_source"]
