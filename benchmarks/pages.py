"""Parts of a page that benchmarks write: each between its own two marks, the rest left as it is."""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from multiprocessing import get_context
from pathlib import Path
from typing import Any, TypeAlias


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


def by_repeats(place: Path, script: str, words: str | None, made: Callable[[int], str]) -> None:
    """Write one part of a page, from so many simulations as the command line says; with --quick print it alone.

    words: what the script is.  made: the part, from a number of simulations.
    """
    parser = argparse.ArgumentParser(description=words)
    parser.add_argument("--repeats", type=int, default=200)
    parser.add_argument("--quick", action="store_true", help="twenty simulations, printed only")
    given = parser.parse_args()
    text = made(20 if given.quick else given.repeats)
    if given.quick:
        print(text)
    else:
        put(place, script, text)


Line: TypeAlias = dict[str, Any]
"""Of a table: "cell" and "price" say which, the rest what was simulated."""


def kept(place: Path) -> dict[tuple[str, str], Line]:
    """Return the stored lines, the last of each cell and price."""
    lines = map(json.loads, place.read_text(encoding="utf-8").splitlines())
    return {(one["cell"], one["price"]): one for one in lines}


def keep(place: Path, lines: Iterable[Line]) -> None:
    """Add lines to the stored ones."""
    with place.open("a", encoding="utf-8") as file:
        file.writelines(json.dumps(one) + "\n" for one in lines)


def written(page: Path, parts: Iterable[str]) -> None:
    """Write a whole page, one empty line between its parts at most."""
    page.write_text("\n".join(parts).replace("\n\n\n", "\n\n") + "\n", encoding="utf-8")


def asked(about: str | None, parts: Iterable[str], repeats: int) -> argparse.Namespace:
    """Parse the options of a script that simulates parts of a page: --repeats, --quick, --parts."""
    known, made = list(parts), argparse.ArgumentParser(description=about)
    made.add_argument("--repeats", type=int, default=repeats)
    made.add_argument("--quick", action="store_true", help="a twentieth of the repetitions; the page is not written")
    made.add_argument("--parts", nargs="*", default=known, choices=known)
    made.add_argument("--every", type=int, default=1, help="one cell of a table in so many")
    return made.parse_args()


def picked(about: str | None, repeats: int) -> argparse.Namespace:
    """Parse the options of a script that simulates a table of designs: --repeats, --only, --plain.

    `plain` is also true of a part of the designs: the page shows all or none.
    """
    made = argparse.ArgumentParser(description=about)
    made.add_argument("--repeats", type=int, default=repeats)
    made.add_argument("--only", default="", metavar="WORD", help="designs with this in their name; the page stays")
    made.add_argument("--plain", action="store_true", help="to the terminal only")
    found = made.parse_args()
    found.plain = found.plain or bool(found.only)
    return found


def of_parts(about: str | None, parts: Iterable[str], repeats: int) -> argparse.Namespace:
    """Parse the options of a script whose parts have rows of designs: the parts, --repeats, --plain, --design."""
    known, made = list(parts), argparse.ArgumentParser(description=about)
    made.add_argument("parts", nargs="*", choices=[*known, []], help="by default all")
    made.add_argument("--repeats", type=int, default=repeats)
    made.add_argument("--plain", action="store_true", help="rows to the terminal")
    made.add_argument("--design", default="", help="designs whose names have this in them, with --plain")
    found = made.parse_args()
    found.parts = found.parts or known
    return found


Part: TypeAlias = str | Callable[[], str]
_parts: list[Part] = []


def thinned(parts: Sequence[Part], repeats: int, every: int) -> list[Part]:
    """Return all texts, the first followed by the size of the simulation, and one in so many cells to be worked out."""
    cells = [part for part in parts if not isinstance(part, str)][::every]
    head, *kept = [part for part in parts if isinstance(part, str) or part in cells]
    few = f"; one cell in {every} of the design" if every > 1 else ""
    return [head, f"About {repeats:,} repetitions a cell{few}.\n", *kept]


def worked(parts: Sequence[Part], processes: int = 2) -> str:
    """Join the parts; those that are functions run side by side in forked processes, with progress printed."""
    _parts[:] = parts
    start, found = time.monotonic(), []
    with get_context("fork").Pool(processes) as pool:
        for text in pool.imap(_worked, range(len(parts))):
            found.append(text)
            print(f"{time.monotonic() - start:5.0f} s  {text.strip().splitlines()[-1][:120]}", flush=True)
    return "\n".join(found)


def part_by_part(
    options: argparse.Namespace,
    page: Path,
    script: str,
    parts: Mapping[str, Callable[[int], Sequence[Part]]],
    intro: str,
) -> None:
    """Simulate the parts that were `asked` for; write each into the page, which begins with `intro`, or print it."""
    start, repeats = time.perf_counter(), options.repeats // (20 if options.quick else 1)
    if not options.quick and not page.exists():
        page.write_text(intro, encoding="utf-8")
    for part in options.parts:
        text = worked(thinned(parts[part](repeats), repeats, options.every), 1)
        if options.quick:
            print(text)
        else:
            put(page, f"{script} {part}", text)
    print(f"{time.perf_counter() - start:.0f} s")


def _worked(at: int) -> str:
    part = _parts[at]
    return part if isinstance(part, str) else part()
