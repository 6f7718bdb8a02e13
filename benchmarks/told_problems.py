"""How the fuzzing scripts end: what was wrong is told, and the exit code says whether anything was."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import NoReturn


def ended(wrong: Sequence[str], shown: int = 8) -> NoReturn:
    """Print how many problems there are, and the first of them; exit with 1 where there are any."""
    print(f"problems: {len(wrong)}")
    for one in wrong[:shown]:
        print(f"  {one}")
    sys.exit(1 if wrong else 0)
