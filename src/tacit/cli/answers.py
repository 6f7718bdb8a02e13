"""What `tacit release` does with answers, by a curator or at a party: checks before they are bought, saves, prints."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tacit.cli.output import emit
from tacit.privacy import Cost
from tacit.release.document import Releases


def check_levels(asks: Any, level: float | None) -> None:
    """What the answers would refuse to show, before they are bought: InferenceError I01, I14."""
    from tacit.estimates.terms import check_level
    from tacit.method.quantiles.estimate import within
    from tacit.method.quantiles.query import Quantiles

    if level is not None:
        check_level(level)
        for query in asks.values():
            if isinstance(query, Quantiles):
                within(level, query.level)


def finish(found: Releases, target: Path, cost: Cost, left: str, level: float | None, as_json: bool) -> None:
    """Save what was bought, then print it."""
    from tacit.cli.show_commands import estimates

    found.save(target)
    text = "\n\n".join(str(one) for one in estimates(found, "population", level).values())
    words = {"saved": str(target), "cost": cost.to_dict(), "left": left}
    emit(f"{text}\n\nsaved to {target} · {left}", words, as_json)
