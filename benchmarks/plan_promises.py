"""Plans of questions drawn at random beside their releases; writes a part of docs/reference/plans.md.

    python benchmarks/plan_promises.py --set judged [--releases 7] [--first 0] [--only KIND] [--keep FILE] [--every 1]
    python benchmarks/plan_promises.py --again FILE ... [--keep FILE] [--show]   (kept widths, planned by this code)
    python benchmarks/plan_promises.py --write FILE ...                          (the page, from kept lines)

Cases are those of `promise_designs`.  Each is planned told nothing, and told means, deviations and shares of the
columns that it reads, to two digits; then released, from tables drawn anew, and the median width of each term is held
against the plan's.  Terms of a case are equal parts of it.  Deterministic but for noise.
"""

from __future__ import annotations

import argparse
import json
import math
import time
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np
from pages import put
from promise_designs import ASKS, FRESH, NUMBERS, SETS, Ask, Case

import tacit as tc

PAGE: Final = Path(__file__).parents[1] / "docs" / "reference" / "plans.md"
FACTOR: Final = 1.5
PLACES: Final = 101
SIDE: Final = 21
TOLD: Final = ("nothing", "means, deviations, shares")
Line = dict[str, Any]


def planned(case: Case) -> list[dict[str, list[Any]]]:
    """Return of both plans, by term: middle, least, largest (equal where no range is said), whether all guesses answer.

    Of a density the last term is that of what is read.
    """
    found = list[dict[str, list[Any]]]()
    for expect in (None, case.told()):
        made = tc.plan(
            case.query, case.schema, rows=case.rows, neighbors=case.relation, expect=expect or None, **case.price
        )
        part, ranges = made.parts[0], made.ranges.get("", ())
        terms = dict[str, list[Any]]()
        for i, one in enumerate(part.terms):
            least, largest, always = one.width, one.width, math.isfinite(one.width)
            if ranges:
                least, largest, always = ranges[i].least, ranges[i].largest, ranges[i].always
            if part.other is not None and not part.other.term:
                largest = max(largest, part.other.width)
                least = min(least, part.other.width)
                always = always and math.isfinite(part.other.width)
            terms[one.term] = [one.width, least, largest, always]
        if part.curve is not None:
            least, largest = part.curve.between or (part.curve.width, part.curve.width)
            terms[part.curve.term] = [part.curve.width, least, largest, not part.curve.open]
        found.append(terms)
    return found


def released(case: Case, rng: np.random.Generator) -> dict[str, float]:
    """Return the width of each term of a release; infinite where there is a reason."""
    budget = tc.Budget(**case.price, neighbors=case.relation)
    hint = {} if case.relation == "replace-one" else {"size_hint": case.rows}
    curator = tc.Curator(case.draw_table(rng), case.schema, budget=budget, **hint)
    release = curator.release(case.query, **case.price)
    return widths(case.ask, release)


def widths(ask: Ask, release: Any) -> dict[str, float]:
    """Return the widths that a release tells."""
    if ask.read == "terms":
        found = release.estimate()
        limits = np.asarray(found.conf_int(0.95), dtype=float).reshape(-1, 2)
        return {
            term or "all": math.inf if reason is not None else float(high - low)
            for term, reason, (low, high) in zip(found.terms, found.reasons, limits, strict=True)
        }
    if ask.read == "binned density":
        made = release.smooth_density(release.query.columns[0])
    else:
        made = release.smooth_density() if ask.read == "density" else release.joint_density()
    if ask.read != "joint density":
        reason = made.reasons[0]
        limits = made.intervals(np.linspace(made.lower, made.upper, PLACES))
    else:
        reason = made.reason
        axes = [np.linspace(one.lower, one.upper, SIDE) for one in made.variables]
        limits = made.intervals(np.stack([one.reshape(-1) for one in np.meshgrid(*axes, indexing="ij")], axis=1))
    each = (limits[..., 1] - limits[..., 0]).reshape(-1)
    told = np.isfinite(each)
    wide = math.sqrt(float((each[told] ** 2).mean())) if reason is None and told.mean() > 0.5 else math.inf
    return {"": wide}


def term_of(plan: dict[str, list[Any]], term: str) -> list[Any] | None:
    """Return what a plan says of a term: of a density the last that is named a density; one for all cells."""
    if term in plan:
        return plan[term]
    if term == "":
        return [said for name, said in plan.items() if "density" in name][-1]
    return next(iter(plan.values())) if len(plan) == 1 else None


def line_of(case: Case, releases: int) -> Line:
    """Return what is kept of a case: plans, median widths and how often each term had a reason."""
    where = {"set": case.set, "number": case.number, "kind": case.ask.kind, "words": case.words}
    rng = np.random.default_rng([2026, 20, SETS.index(case.set), case.number])
    try:
        each = [released(case, rng) for _ in range(releases)]
    except tc.TacitError as problem:
        return {**where, "refused": str(problem.code)}
    names = list(each[0])
    return {
        **where,
        "widths": {name: float(np.median([one.get(name, math.inf) for one in each])) for name in names},
        "reasons": {name: sum(math.isinf(one.get(name, math.inf)) for one in each) / releases for name in names},
    }


def judged(width: float, said: Sequence[Any]) -> dict[str, float]:
    """Return how a width agrees with what a plan says of a term.

    middle: within the factor of the first width.  inside: in the range.  near: within the factor of the range.
    more, less: answered though no answer was expected, and the other way round; such terms are not near.
    """
    middle, least, largest, always = said
    if math.isinf(width) or math.isinf(middle):
        both = math.isinf(width) and math.isinf(middle)
        open_ = not always or math.isinf(largest)
        hedged = open_ and (math.isinf(width) or math.isfinite(least))
        more, less = math.isinf(middle) and not math.isinf(width), math.isinf(width) and not math.isinf(middle)
        return {"middle": both, "inside": both or hedged, "near": both or hedged, "more": more, "less": less}
    ratio = width / middle if middle > 0 else 1.0
    inside = least * (1 - 1e-9) <= width <= largest * (1 + 1e-9)
    near = least / FACTOR <= width <= largest * FACTOR
    return {"middle": 1 / FACTOR <= ratio <= FACTOR, "inside": inside, "near": near, "more": 0.0, "less": 0.0}


def of_line(line: Line, told: int) -> dict[str, float]:
    """Return the shares of a case's terms; `ratio` the geometric mean of widths over planned ones, `wide` of ranges."""
    plan, found = line["plans"][told], list[dict[str, float]]()
    logs, wides = list[float](), list[float]()
    for term, width in line["widths"].items():
        said = term_of(plan, term)
        if said is None:
            continue
        found.append(judged(width, said))
        if math.isfinite(width) and 0 < said[0] < math.inf and width > 0:
            logs.append(math.log(width / said[0]))
            wides.append(math.log(max(said[2], 1e-300) / max(said[1], 1e-300)) if said[1] > 0 else math.inf)
    made = {key: float(np.mean([one[key] for one in found])) for key in found[0]} if found else {}
    made["ratio"] = math.exp(float(np.mean(logs))) if logs else math.nan
    made["wide"] = math.exp(min(700.0, float(np.mean(wides)))) if wides else math.nan
    return made


def table(lines: list[Line]) -> str:
    """Return the table by kind of question, and of all together."""
    sides = "|---|---:|---|---:|---:|---:|---:|---:|---:|"
    head = (
        "| question | cases | told | within 1.5 of the middle | in the range | within 1.5 of the range "
        f"| largest ÷ least, median | answered, not planned | planned, not answered |\n{sides}"
    )
    rows = list[str]()
    kinds = list(dict.fromkeys(ask.kind for ask in (*ASKS, *FRESH)))
    for kind in (*kinds, None):
        own = [line for line in lines if "plans" in line and kind in (None, line["kind"])]
        for told, words in enumerate(TOLD) if own else ():
            each = [made for line in own if "near" in (made := of_line(line, told))]
            share = {
                key: f"{100 * float(np.mean([one[key] for one in each])):.0f}%"
                for key in ("middle", "inside", "near", "more", "less")
            }
            wide = float(np.nanmedian([one["wide"] for one in each]))
            many = f"{wide:.1f}" if wide < 100 else "over 100"
            name = f"**{kind or 'all'}**" if kind is None else kind
            cells = [name, str(len(each)), words, share["middle"], share["inside"], share["near"], many]
            rows.append("| " + " | ".join([*cells, share["more"], share["less"]]) + " |")
    return "\n".join([head, *rows])


def again(lines: list[Line], keep: str | None = None) -> None:
    """Plan kept cases once more, by the code at hand; keep: a file that gets each line with its plans."""
    for line in lines:
        if "widths" in line:
            line["plans"] = planned(Case(line["set"], line["number"]))
        if keep:
            with Path(keep).open("a", encoding="utf-8") as file:
                file.write(json.dumps(line) + "\n")


def section(lines: list[Line], releases: int) -> str:
    """Return the part of the page."""
    drawn = [line for line in lines if line["set"] == "judged"]
    real = [line for line in lines if line["set"] == "judged real"]
    fresh = {name: [line for line in lines if line["set"] == name] for name in SETS[4:]}
    used = max(line["number"] for line in (*drawn, *real)) + 1
    refused = sum("refused" in line for line in (*drawn, *real))
    return f"""## Questions drawn at random

{len(drawn)} questions of tables drawn at random (`benchmarks/random_tables.py`: laws, heaps, missing cells, bounds that
cut or are four times too wide, persons, prices), and {len(real)} of two real files (Californians of a census sample,
flights; columns, bounds, rows and prices drawn). Each is planned told nothing, and told means, deviations, shares of
levels and of missing cells, to two digits; then released {releases} times, from tables drawn anew, and the median width
of each term is held against the plan. Terms of a question are equal parts of it; a density's width is the root mean
square of its limits' widths over the range. A plan that states no range states its one width. Where a group's size is
not told, the range is that of small and large groups; one that says "or no answer" holds a release without one.
{refused} of the questions are refused when they are asked. Cases were committed before one of them was simulated
(`benchmarks/promise_designs.py`); plans were developed on other cases of the same make, and these looked at once: the
first {used} of either set, as many of each kind of question. Only plans of series were made a second time, after a
correction that a test had asked for.

### Drawn tables

{table(drawn)}

### Real files

{table(real)}
{_of_fresh(fresh["fresh"], fresh["fresh real"], releases)}{_of_later(fresh["later"], fresh["later real"])}"""


def _of_fresh(drawn: list[Line], real: list[Line], releases: int) -> str:
    """Return the part of the page on fresh cases; nothing without any."""
    if not drawn and not real:
        return ""
    refused = sum("refused" in line for line in (*drawn, *real))
    return f"""
## The promises kept least, on fresh cases

The tables above showed which plans kept their promise least: shares of groups, laws fitted in blocks, Bernstein
polynomials, Poisson regressions. Plans of these were made anew, a histogram's smooth density got a planned width, and
released errors of regressions now allow for slopes far out. Here are {len(drawn)} further drawn cases and {len(real)}
of four real tables (the two files, RAND's health insurance experiment, Fair's answers on affairs; groups are thirds of
another number, or another Boolean), with {releases} releases each; {refused} of them refused when asked. They were
committed before they were simulated, and looked at once, after the plans were made; the tables above are not of these
plans. Weighted regressions have weights that go with the first regressor.

### Fresh drawn tables

{table(drawn)}

### Fresh cases of four real tables

{table(real)}
"""


def _of_later(drawn: list[Line], real: list[Line]) -> str:
    """Return the part of the page on the cases that were drawn last; nothing without any."""
    if not drawn and not real:
        return ""
    refused = sum("refused" in line for line in (*drawn, *real))
    return f"""
## Joint series, polynomials and logistic regressions

Ranges of joint series that were told their columns were left out where one column alone had no limits, and those of
densities and regressions ended at the narrowest of a few simulated releases. Ranges now have a margin for shapes and
chance that none of these had. Here are {len(drawn)} drawn cases and {len(real)} of the four real tables, {refused} of
them refused, with 5 releases each, committed before one was simulated and looked at once. Where a regression's widths
lie outside, they are wider than the largest.

{table([*drawn, *real])}
"""


def main() -> None:
    """Simulate cases and keep their lines; or write the page from kept ones."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--set", choices=SETS, default="trial")
    parser.add_argument("--releases", type=int, default=7)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--below", type=int, default=1_000, help="cases with smaller numbers alone")
    parser.add_argument("--every", type=int, default=1)
    parser.add_argument("--only")
    parser.add_argument("--keep")
    parser.add_argument("--write", nargs="*")
    parser.add_argument("--again", nargs="*")
    parser.add_argument("--widths", action="store_true", help="released widths alone; plans are made by --again")
    parser.add_argument("--show", action="store_true")
    given = parser.parse_args()
    if given.write or given.again:
        names = given.write or given.again
        lines = [json.loads(one) for name in names for one in Path(name).read_text(encoding="utf-8").splitlines()]
        if given.only:
            lines = [line for line in lines if line["kind"] == given.only]
        if given.again:
            # by number, so that a part of them has cases of every kind and set
            lines = sorted((one for one in lines if one["number"] < given.below), key=lambda one: one["number"])
            again(lines, given.keep)
            print(shown(lines) if given.show else table(lines))
            return
        put(PAGE, Path(__file__).name, section(lines, given.releases))
        print(section(lines, given.releases))
        return
    lines = list[Line]()
    for number in range(given.first, min(NUMBERS[given.set], given.below), given.every):
        case = Case(given.set, number)
        if given.only not in (None, case.ask.kind):
            continue
        start = time.monotonic()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            line = line_of(case, given.releases)
            if not given.widths:
                again([line])
        lines.append(line)
        print("" if given.widths else shown([line]), f"{time.monotonic() - start:.0f} s", flush=True)
        if given.keep:
            with Path(given.keep).open("a", encoding="utf-8") as file:
                file.write(json.dumps(line) + "\n")
    if not given.widths:
        print(table(lines))


def shown(lines: list[Line]) -> str:
    """Return each case in a line or two."""
    out = list[str]()
    for line in lines:
        start = f"{line['set']} {line['number']}, {line['kind']}: {line['words']}"
        if "refused" in line:
            out.append(f"{start}: refused, {line['refused']}")
            continue
        for told, words in enumerate(TOLD):
            made = of_line(line, told)
            if "near" in made:
                said = f"ratio {made['ratio']:.2f}, middle {made['middle']:.2f}, near {made['near']:.2f}"
                start += (
                    f"\n    {words}: {said}, wide {made['wide']:.3g}, more {made['more']:.2f}, less {made['less']:.2f}"
                )
        out.append(start)
    return "\n".join(out)


if __name__ == "__main__":
    main()
