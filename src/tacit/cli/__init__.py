"""The command line: `tacit demo, schema, check, import, plan, release, keys, show, fit, combine, budget`."""

from __future__ import annotations

from tacit.cli.app import main

__all__ = ["main"]
