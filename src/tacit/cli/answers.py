"""Steps of `tacit release` shared by curators' files and studies: checks before the charge, saving and printing."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tacit.cli.output import emit, on_screen
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


def finish(found: Releases, target: Path, cost: Cost, left: str, level: float | None, as_json: bool) -> None:
    """Save the releases, then print their estimates."""
    from tacit.cli.show_commands import Told, estimates

    found.save(target)
    rest = f"tacit show {target} --all"
    text = "\n\n".join(on_screen(one, False, rest) for one in estimates(found, Told(), level).values())
    words = {"saved": str(target), "cost": cost.to_dict(), "left": left}
    emit(f"{text}\n\nsaved to {target} · {left}", words, as_json)
