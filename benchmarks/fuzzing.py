"""What fuzzing scripts share: a made-up table in a file, and how they end.  The exit code says whether all was well."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import NoReturn


def written_table(path: Path, header: str, rows: Iterable[str]) -> None:
    """Write a CSV file."""
    path.write_text("\n".join([header, *rows]) + "\n", encoding="utf-8")


def finished(wrong: Sequence[str], shown: int = 8) -> NoReturn:
    """Print how many problems there are, and the first of them; exit with 1 where there are any."""
    print(f"problems: {len(wrong)}")
    for one in wrong[:shown]:
        print(f"  {one}")
    sys.exit(1 if wrong else 0)


def counted(counts: Mapping[str, int], cases: Mapping[str, Sequence[str]], shown: int, bad: object) -> NoReturn:
    """Print how often everything happened, and the first cases of each; exit with 1 where something `bad` did."""
    for name, count in sorted(counts.items()):
        print(f"{name:<32} {count:>7,}")
    for name, some in cases.items():
        print(f"\n{name}")
        for one in some[:shown]:
            print(f"  {one}")
    sys.exit(1 if bad else 0)
