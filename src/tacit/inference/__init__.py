"""OUTSIDE the wall: what releases say.  Post-processing only; nothing here reads a row or draws protecting noise."""

from __future__ import annotations

from tacit.inference.moments import MomentsRelease

__all__ = ["MomentsRelease"]
