"""Survival that few releases answer: designs drawn at random, for a part of docs/reference/selected-answers.md.

    python benchmarks/rare_survival.py [--first NUMBER] [--designs 60] [--repeats 2000] [--plain]

A design is a number, from which all follows: rows of an arm, hazards of the event and of leaving, bins of time and the
price.  A histogram has 40 arms, each a repetition.  Held: of 95% intervals of S without a reason, those that hold the
truth, by how often there is an answer.  Designs below FIRST were looked at while the intervals were made; those from
FIRST on judge them, and were committed before any of them was simulated.
"""

from __future__ import annotations

import argparse
import math
import zlib
from collections import defaultdict
from collections.abc import Iterator
from typing import Any, Final

import numpy as np
from pages import put
from selected_answers import ARMS, PAGE, PRICES, cells, chances

from tacit.method.histogram.estimate_from_cells import survival

FIRST: Final = 500
FEW: Final = 50
"""Answers below which a coverage is not given."""
BELOW: Final = 93.0
BANDS: Final = ((0.01, "1 to 25"), (0.25, "25 to 75"), (0.75, "75 to 99"), (0.99, "99 to 100"))
"""Shares of releases with an answer, in %, by the smallest."""


def drawn(number: int) -> dict[str, Any]:
    """Return all that a design is."""
    rng = np.random.default_rng([2026, 11, 28, 17, number])
    return {
        "n": round(10 ** rng.uniform(1.3, 2.8)),
        "hazard": round(float(10 ** rng.uniform(-0.3, 0.8)), 2),
        "leaving": round(float(rng.uniform(0, 1.5)), 2),
        "bins": int(rng.choice([5, 10, 20])),
        "price": PRICES[int(rng.integers(len(PRICES)))],
    }


def times(number: int, repeats: int) -> Iterator[tuple[float, np.ndarray, np.ndarray]]:
    """Yield S, limits, shape (repeats, 2), and whether there is an answer, at the ends of five bins."""
    one = drawn(number)
    p, bins = [chances(one["bins"], one["hazard"], one["leaving"])] * ARMS, one["bins"]
    seed = f"rare {number} {zlib.crc32(str(one).encode())}"
    made = [
        survival.survival(release, "t", "event", "arm")
        for release in cells((one["n"],) * ARMS, p, one["price"], math.ceil(repeats / ARMS), seed)
    ]
    limits = np.concatenate([each.intervals().reshape(ARMS, bins, 2) for each in made])
    said = np.concatenate([np.array([r is None for r in each.reasons]).reshape(ARMS, bins) for each in made])
    for at in sorted({*range(bins // 5 - 1, bins - 1, bins // 5), bins - 2}):
        yield math.exp(-one["hazard"] * (at + 1) / bins), limits[:, at], said[:, at]


def words(number: int) -> str:
    one = drawn(number)
    price = one["price"].replace("=", " = ")
    return f"{one['n']} rows, hazard {one['hazard']:g}, leaving {one['leaving']:g}, {one['bins']} bins, {price}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--first", type=int, default=FIRST)
    parser.add_argument("--designs", type=int, default=60)
    parser.add_argument("--repeats", type=int, default=2_000)
    parser.add_argument("--plain", action="store_true", help="to the terminal only")
    given = parser.parse_args()
    found, lines = defaultdict[str, list[tuple[int, int, float]]](list), list[str]()
    for number in range(given.first, given.first + given.designs):
        for truth, limits, said in times(number, given.repeats):
            answers, held = int(said.sum()), ((limits[:, 0] <= truth) & (truth <= limits[:, 1]))[said]
            if answers < FEW:
                continue
            share = float(said.mean())
            name = [word for least, word in BANDS if share >= least or least == BANDS[0][0]][-1]
            found[name].append((int(held.sum()), answers, float(np.median(np.diff(limits[said])))))
            # one-sided, 2.33 standard errors of a coverage of BELOW
            if BELOW / 100 - held.mean() > 2.33 * math.sqrt(BELOW / 100 * (1 - BELOW / 100) / answers):
                cell = f"| {number} | {words(number)} | {truth:.3f} | {100 * held.mean():.1f} | {answers:,} |"
                lines.append(f"{cell} {100 * share:.0f} |")
                print(lines[-1], flush=True)
    rows = []
    for _, name in BANDS:
        some = found[name]
        if some:
            held, answers = sum(one[0] for one in some), sum(one[1] for one in some)
            least, width = min(one[0] / one[1] for one in some), np.median([one[2] for one in some])
            cell = f"| {name} | {len(some)} | {answers:,} | {100 * held / answers:.1f} | {100 * least:.1f} |"
            rows.append(f"{cell} {width:.3g} |")
    text = "\n".join(
        [
            "## Survival that few releases answer",
            "",
            f"{given.designs} designs drawn at random, about {given.repeats:,} repetitions of each, up to five times a",
            f"design; times with fewer than {FEW} answers are left out.",
            "",
            "| releases with an answer, % | times | answers | held, % | of the worst time, % | median width |",
            "|---|---:|---:|---:|---:|---:|",
            *rows,
            "",
            "Times at which fewer than 93% of the answers hold by more than 2.33 Monte-Carlo standard errors:",
            "",
            "| number | design | S | held, % | answers | with an answer, % |",
            "|---|---|---:|---:|---:|---:|",
            *(lines or ["| none | | | | | |"]),
        ]
    )
    if given.plain:
        print(text)
    else:
        put(PAGE, "rare_survival.py", text)


if __name__ == "__main__":
    main()
