"""Parts of a page that benchmarks write: each between its own two marks, the rest left as it is."""

from __future__ import annotations

from pathlib import Path


def put(page: Path, part: str, text: str) -> None:
    """Write one part of a page; at its end where it has no such part yet."""
    first, last = (f"<!-- {word} of benchmarks/{part} -->" for word in ("begin", "end"))
    made = f"{first}\n\n{text.strip()}\n\n{last}"
    old = page.read_text(encoding="utf-8") if page.exists() else ""
    if first in old:
        before, rest = old.split(first)
        new = before + made + rest.split(last)[1]
    else:
        new = f"{old.rstrip()}\n\n{made}\n".lstrip()
    page.write_text(new, encoding="utf-8")
