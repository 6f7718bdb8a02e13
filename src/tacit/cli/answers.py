"""Steps of `tacit release` shared by curators' files and studies: checks before the charge, saving and printing."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from tacit.cli.output import emit, on_screen
from tacit.errors import LedgerError, TacitError
from tacit.privacy import Cost
from tacit.release.document import Releases


def check_levels(asks: Any, level: float | None) -> None:
    """Raise InferenceError I01, I14, before the charge, for a level at which the answers have no intervals."""
    from tacit.estimates.terms import check_level
    from tacit.method.quantiles.estimate import within
    from tacit.method.quantiles.query import Quantiles

    if level is not None:
        check_level(level)
        for query in asks.values():
            if isinstance(query, Quantiles) and query.interval:
                within(level, query.level)


def is_new(ledger: str | None, target: Path) -> bool:
    """Return whether the release will make a ledger, which then has the whole budget.

    LedgerError L94 where the file of answers that is to be written has recorded ones: their ledger was moved.
    """
    if ledger is None or "://" in ledger or os.path.exists(ledger):
        return False
    try:
        recorded = [one for one in Releases.load(target).values() if one.recorded]
    except TacitError:  # no such file, or one of something else
        recorded = []
    if recorded:
        message = (
            f"{target} has answers on {recorded[0].table!r} that a ledger recorded, and there is no ledger {ledger}: "
            "a new one would have the whole budget once more."
        )
        hint = "[data], then ledger = where it was moved to; --save another file where a new ledger is meant"
        raise LedgerError(message, code="L94", hint=hint)
    return True


def finish(
    found: Releases, target: Path, cost: Cost, left: str, level: float | None, as_json: bool, made: str | None
) -> None:
    """Save the releases, then print their estimates; made: the ledger that was made for them, if any."""
    from tacit.cli.show_commands import Told, estimates

    found.save(target)
    rest = f"tacit show {target} --all"
    text = "\n\n".join(on_screen(one, False, rest) for one in estimates(found, Told(), level).values())
    words = {"saved": str(target), "cost": cost.to_dict(), "left": left, "new_ledger": made}
    new = "" if made is None else f" · new ledger {made}"
    emit(f"{text}\n\nsaved to {target}{new} · {left}", words, as_json)
