"""Sample and aggregate: error, coverage and width of every model, the page docs/reference/sample-and-aggregate.md.

    python benchmarks/sample_and_aggregate.py --keep KEPT --models Gamma Weibull   # rows that are not kept
    python benchmarks/sample_and_aggregate.py --keep KEPT --page          # the page of what was kept
    python benchmarks/sample_and_aggregate.py --keep KEPT --again default   # that way of the rows that are kept
    python benchmarks/sample_and_aggregate.py --quick

Rows are kept in `sample_and_aggregate.jsonl`, beside this file: a row is simulated anew after its line is deleted.

What is simulated, and how, is told on the page (`blocks_study`).  All of it takes about an hour on two cores.
Deterministic: seeds are constants.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Iterator
from pathlib import Path

from blocks_page import PAGE, PICTURE, page, picture
from blocks_study import BY_BLOCKS, CASES, FULL, QUICK, WIDE, Case, Scale, again, row, wide

SIZES = (10_000, 100_000, 1_000_000)
PRICES = (0.5, 1.0)


def rows(
    cases: list[Case], sizes: list[int], scale: Scale, kept: set[tuple[object, ...]]
) -> Iterator[dict[str, object]]:
    """Yield every table row that is not stored yet, by model: rows of one model share simulated blocks."""
    for case in cases:
        for n in sizes:
            for epsilon in PRICES:
                for table, make in (("ways", row), ("wide", wide)):
                    asked = table == "ways" or (case.name in WIDE and n == 100_000)
                    if asked and (table, case.name, n, epsilon) not in kept:
                        yield make(case, n, epsilon, scale)


def renewed(kept: list[dict[str, object]], ways: list[str], models: list[str]) -> Iterator[dict[str, object]]:
    """Yield stored rows, with some of their methods simulated anew."""
    for one in kept:
        case = next(case for case in CASES if case.name == one["model"])
        yield again(case, one, ways) if case.name in models else one


def main() -> None:
    reading = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    reading.add_argument("--quick", action="store_true", help="few releases, and no page")
    reading.add_argument("--models", nargs="*", default=[case.name for case in CASES])
    reading.add_argument("--sizes", nargs="*", type=int, default=SIZES)
    reading.add_argument("--keep", nargs="*", type=Path, default=[], help="files of rows: the first is added to")
    reading.add_argument("--again", nargs="*", default=[], choices=BY_BLOCKS, help="ways of kept rows to simulate anew")
    reading.add_argument("--page", action="store_true", help="write the page of the rows that were kept")
    words = reading.parse_args()
    kept = [json.loads(line) for place in words.keep if place.exists() for line in place.read_text().splitlines()]
    if words.again:
        found = [json.dumps(one) for one in renewed(kept, words.again, words.models)]
        words.keep[0].write_text("\n".join(found) + "\n")
    elif not words.page:
        known = {(one["table"], one["model"], one["n"], one["epsilon"]) for one in kept}
        chosen = [case for name in words.models for case in CASES if case.name == name]
        start = time.monotonic()
        for found in rows(chosen, list(words.sizes), QUICK if words.quick else FULL, known):
            print(f"{time.monotonic() - start:6.0f} s", json.dumps(found), flush=True)
            for place in words.keep[:1]:
                with place.open("a", encoding="utf-8") as file:
                    file.write(json.dumps(found) + "\n")
        return
    PAGE.write_text(page(kept), encoding="utf-8")
    PICTURE.write_text(picture(kept), encoding="utf-8")


if __name__ == "__main__":
    main()
