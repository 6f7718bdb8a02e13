"""Several questions at one price, again and again, on one ledger: repeated, in another order, failing, by many at once.

    python benchmarks/joint_ledgers.py [--ledgers 100] [--seed 1] [--careless]

Each ledger has a budget of one accounting and gets random purchases of one to four questions: new ones; earlier ones
word by word; the same questions in another order, under other names, with other shares or another note; a question
twice; with `fresh`; by an analyst; with bootstraps, whose δ is reserved or not.  In some a question fails when its rows
are read, or the release when it is stored, or somebody interrupts it.  On every fourth ledger four processes do so at
once.  Held is, by sums that are added up here:

- a purchase that is refused changes nothing; one that is admitted costs what its parts say, once, and all its answers
  come together; the total never exceeds the budget;
- an answer that was given once is given again, the same whoever asks, for nothing, and by any process;
- what failed after its charge has no answer stored, is charged once, and is answered when it is asked again;
- names belong to one purchase; the ledger verifies at the end, and what it stored is what was given.

`--careless` charges the first question of a purchase alone, which must be found.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import tempfile
import traceback
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from fractions import Fraction
from pathlib import Path
from typing import Any, Final

import numpy as np
from fuzzing import finished

import tacit as tc
from tacit.curator import purchase as door
from tacit.errors import MachineError, TacitError
from tacit.ledger import open_ledger
from tacit.privacy import Spend

SCHEMA: Final = tc.Schema({"x": tc.Real(0, 10), "k": tc.Integer(0, 9), "g": tc.Category(["a", "b"])})
TABLE: Final = {"x": [float(i % 11) for i in range(40)], "k": [i % 10 for i in range(40)], "g": ["a", "b"] * 20}
QUERIES: Final[tuple[Any, ...]] = (
    tc.Mean("x"), tc.Mean("k", by="g"), tc.Count(by="g"), tc.Histogram("x", bins=4), tc.Sum("k"),
    tc.Quantiles("k", [0.5]), tc.Variance("x"), tc.DataQuality("g"), tc.Mean("x", where="k > 3"),
)  # fmt: skip
BOOTSTRAP: Final = tc.Bootstrap(tc.Mean("x"), replicates=2)
BUDGETS: Final[tuple[dict[str, Any], ...]] = (
    {"epsilon": 4},
    {"rho": "1/2"},
    {"epsilon": 4, "delta": "1e-5"},
    {"epsilon": 4, "delta": "1e-5", "reserved_delta": "1e-6"},
    {"epsilon": 4, "delta": "1e-5", "accounting": "zcdp"},
    {"epsilon": 4, "delta": "1e-5", "accounting": "basic"},
)


@dataclass(frozen=True)
class Asked:
    """A purchase: names and queries in order, price and shares."""

    queries: tuple[tuple[str, Any], ...]
    price: tuple[tuple[str, Any], ...]
    shares: tuple[tuple[str, Any], ...] = ()

    @property
    def question(self) -> Any:
        """What is the same question: names, queries in order and their parts of the price; of one question no name."""
        if len(self.queries) == 1:
            return self.queries[0][1], self.price
        own = dict(self.shares)
        parts = [Fraction(own.get(name, 1)) for name, _ in self.queries]
        return self.queries, self.price, tuple(one / sum(parts) for one in parts)

    def words(self) -> dict[str, Any]:
        """Arguments of `Curator.release`."""
        return {
            "query": dict(self.queries),
            **dict(self.price),
            **({"shares": dict(self.shares)} if self.shares else {}),
        }


@dataclass
class Known:
    """What one process knows of a ledger: answers by purchase."""

    answers: dict[Asked, str] = field(default_factory=dict[Asked, str])


@dataclass
class Found:
    """What was tried, how it ended, and what was wrong."""

    ends: Counter[str] = field(default_factory=Counter[str])
    wrong: list[str] = field(default_factory=list[str])


def drawn(rng: np.random.Generator, kind: dict[str, Any]) -> Asked:
    """A new purchase."""
    pair = "delta" in kind
    ways: list[dict[str, Any]] = [{"epsilon": str(Fraction(int(rng.integers(1, 9)), 10))}]
    if "epsilon" not in kind or (pair and kind.get("accounting") != "basic"):
        ways.append({"rho": str(Fraction(int(rng.integers(1, 9)), 97))})
    if pair or "rho" in kind:
        ways.append({"epsilon": str(Fraction(int(rng.integers(1, 9)), 10)), "delta": "1e-7"})
    price = ways[int(rng.integers(len(ways)))]
    names = [f"{one}{rng.integers(12)}" for one in rng.permutation(list("abcdef"))[: int(rng.integers(1, 5))]]
    queries = [QUERIES[int(rng.integers(len(QUERIES)))] for _ in names]
    if "delta" in price and rng.random() < 0.4:
        queries[0] = BOOTSTRAP
    shares = tuple((name, str(Fraction(int(rng.integers(1, 9)), 3))) for name in names if rng.random() < 0.4)
    return Asked(tuple(zip(names, queries, strict=True)), tuple(price.items()), shares)


def varied(rng: np.random.Generator, one: Asked) -> Asked:
    """An earlier purchase in another form: order, names, shares, price; or as it was."""
    match int(rng.integers(6)):
        case 0:
            order = rng.permutation(len(one.queries))
            return replace(one, queries=tuple(one.queries[int(i)] for i in order))
        case 1:
            new = [f"{name}-{int(rng.integers(3))}" for name, _ in one.queries]
            return Asked(tuple((n, q) for n, (_, q) in zip(new, one.queries, strict=True)), one.price)
        case 2:
            return replace(one, shares=tuple((name, "2") for name, _ in one.queries[:1]))
        case 3:
            return replace(one, queries=(*one.queries, (f"z{int(rng.integers(9))}", one.queries[0][1])))
    return one


@contextlib.contextmanager
def failing(at: int | None, how: str) -> Iterator[None]:
    """The question number `at` of a purchase fails when it is measured, or, for -1, the release when it is stored."""
    before, store, count = door.measure, door.Releases.to_json, iter(range(99))

    def stop() -> None:
        raise KeyboardInterrupt if how == "interrupt" else OSError("a row: 17")

    def measure(shape: Any, source: Any) -> Any:
        found = before(shape, source)  # after it, so that noise was drawn that nobody may see
        if next(count) == at:
            stop()
        return found

    def to_json(self: Any) -> str:
        stop()
        return store(self)

    try:
        if at is not None:
            door.measure = measure
            if at < 0:
                door.Releases.to_json = to_json  # type: ignore[method-assign]
        yield
    finally:
        door.measure, door.Releases.to_json = before, store  # type: ignore[method-assign]


def said(release: Any) -> str:
    """All integers of an answer, in order, by name."""
    return json.dumps(
        [[one.name, [[list(cell) for cell in part.integers] for part in one.parts]] for one in release.values()]
    )


def ask(curator: Any, one: Asked, fresh: bool, note: str, at: int | None, how: str) -> tuple[str, str]:
    """How a purchase ended, and what it said."""
    try:
        with failing(at, how):
            return "answered", said(curator.release(**one.words(), fresh=fresh, note=note))
    except KeyboardInterrupt:
        return "failed", ""
    except MachineError as problem:
        return "failed", "17" if "17" in f"{problem}" or problem.__cause__ or problem.__context__ else ""
    except TacitError as problem:
        return f"refused {problem.code}", ""


def cost_of(curator: Any, one: Asked) -> Spend:
    """What a purchase costs on this ledger, by the parts of its designs alone."""
    words = {**one.words()}
    plan = curator.plan(words.pop("query"), **words)
    return curator.budget.spend(plan.charged, plan.bought)


def run(
    rng: np.random.Generator, where: Path, kind: dict[str, Any], steps: int, found: Found, alone: bool, case: str
) -> Known:
    """Purchases by one process; sums are held where no other process buys."""
    known, budget = Known(), tc.Budget(**kind)
    curators = [tc.Curator(TABLE, SCHEMA, name="t", budget=budget, ledger=where, analyst=who) for who in (None, "u")]
    earlier, charged = list[Asked](), set[Any]()
    for step in range(steps):
        one = (
            varied(rng, earlier[int(rng.integers(len(earlier)))])
            if earlier and rng.random() < 0.6
            else drawn(rng, kind)
        )
        curator, fresh = curators[int(rng.integers(2))], rng.random() < 0.1
        at = int(rng.integers(-1, len(one.queries))) if rng.random() < 0.25 else None
        how = "interrupt" if rng.random() < 0.3 else "error"
        before, charges = curator.spent, len(curator._ledger.charges())
        note = f"note {step}"
        end, words = ask(curator, one, fresh, note, at, how)
        after, more = curator.spent, len(curator._ledger.charges()) - charges
        found.ends[end + (", at once" if not alone else "")] += 1
        here = f"{case} step {step} {one} fresh={fresh} at={at}: {end}"
        if words == "17":
            found.wrong.append(f"{here}: the error tells what failed")
        if end == "answered" and not fresh:
            if known.answers.setdefault(one, words) != words:
                found.wrong.append(f"{here}: another answer than before")
            if alone and more != (one.question not in charged):
                found.wrong.append(f"{here}: {more} charges, charged before: {one.question in charged}")
        if not alone:
            earlier += [one] if end != "refused" else []
            continue
        if end.startswith("refused") and (after != before or more):
            found.wrong.append(f"{here}: spent {after} after {before}")
        if more not in (0, 1):
            found.wrong.append(f"{here}: {more} charges")
        if more and after != before + (price := cost_of(curator, one)):
            found.wrong.append(f"{here}: {before} became {after}, the price is {price}")
        if not budget.holds(after):
            found.wrong.append(f"{here}: {after} is beyond {budget}")
        if end == "failed":
            last = curator._ledger.charges()[-1]
            if more and last.release is not None:
                found.wrong.append(f"{here}: an answer is stored")
        if (more or end == "answered") and not fresh:
            earlier.append(one)
            charged.add(one.question)
    return known


def checked(where: Path, kind: dict[str, Any], given: list[Known], found: Found, case: str) -> None:
    """The ledger in the end: it verifies, sums are those of its charges, and each answer given is stored."""
    budget = tc.Budget(**kind)
    ledger = open_ledger(str(where), budget=budget, unit=None)
    ledger.verify()
    charges = ledger.charges()
    if not budget.holds(ledger.spent()):
        found.wrong.append(f"{case}: {ledger.spent()} is beyond {budget}")
    if len({one.question for one in charges}) != len(charges):
        found.wrong.append(f"{case}: a question was charged twice")
    names = [name for one in charges for name in one.names]
    if len(set(names)) != len(names):
        found.wrong.append(f"{case}: a name of two purchases")
    answers: dict[Asked, set[str]] = {}
    for known in given:
        for one, words in known.answers.items():
            answers.setdefault(one, set()).add(words)
    found.wrong += [f"{case} {one}: {len(words)} answers" for one, words in answers.items() if len(words) > 1]
    ledger.close()
    curator, spent = tc.Curator(TABLE, SCHEMA, name="t", budget=budget, ledger=where), None
    for one, words in answers.items():
        spent = curator.spent
        end, again = ask(curator, one, False, "", None, "")
        if (end, again) != ("answered", *words) or curator.spent != spent:
            found.wrong.append(f"{case} {one}: {end} {again[:80]} where {next(iter(words))[:80]} was given")


def at_once(seed: list[int], where: Path, kind: dict[str, Any], steps: int, found: Found, case: str) -> list[Known]:
    """Four processes with the same purchases in another order each, on one ledger."""
    children: list[tuple[int, Path]] = []
    for i in range(4):
        out = where.with_suffix(f".{i}")
        process = os.fork()
        if not process:
            code = 1
            try:
                own = Found()
                # two and two have one stream of purchases, so that they meet at the same ones
                known = run(
                    np.random.default_rng([*seed, i // 2]), where, kind, steps, own, False, f"{case} process {i}"
                )
                words = [[repr(one), answer] for one, answer in known.answers.items()]
                out.write_text(json.dumps([words, own.wrong, own.ends]), encoding="utf-8")
                code = 0
            except BaseException:
                out.write_text(json.dumps([[], [f"{case}: {traceback.format_exc()[-900:]}"], {}]), encoding="utf-8")
            finally:
                os._exit(code)
        children.append((process, out))
    given: list[Known] = []
    for process, out in children:
        os.waitpid(process, 0)
        words, wrong, ends = json.loads(out.read_text(encoding="utf-8"))
        found.wrong += wrong
        found.ends.update(ends)
        given.append(
            Known({eval(one, {**vars(tc), **globals(), "Fraction": Fraction}): answer for one, answer in words})
        )
    return given


def careless() -> None:
    """Plant a fault that must be found: the first question of a purchase is charged alone."""
    price_parts, request = door.price_parts, door.Request

    def first(*words: Any) -> Any:
        made = request(*words)
        cost = made.cost if len(made.names) < 2 else made.cost.share(Fraction(1, len(made.names)))
        return replace(made, cost=cost, bought=None)

    door.price_parts = lambda designs: price_parts(designs[:1])
    door.Request = first  # type: ignore[misc, assignment]


def swept(ledgers: int, seed: int, progress: bool = False) -> Found:
    """Try so many ledgers."""
    found = Found()
    for number in range(ledgers):
        kind = BUDGETS[number % len(BUDGETS)]
        case = f"{number} {kind}"
        with tempfile.TemporaryDirectory() as folder:
            where = Path(folder, "t.ledger")
            tc.Curator(TABLE, SCHEMA, name="t", budget=tc.Budget(**kind), ledger=where)
            if number % 4 == 3:
                given = at_once([seed, number], where, kind, 8, found, case)
            else:
                given = [run(np.random.default_rng([seed, number]), where, kind, 20, found, True, case)]
            checked(where, kind, given, found, case)
        if progress and number % 10 == 9:
            print(f"… {number + 1}: {len(found.wrong)} wrong", flush=True)
    return found


def main() -> None:
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--ledgers", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--careless", action="store_true")
    options = parser.parse_args()
    if options.careless:
        careless()
    found = swept(options.ledgers, options.seed, progress=True)
    for name, count in sorted(found.ends.items()):
        print(f"{name:<36} {count:>6,}")
    finished(found.wrong)


if __name__ == "__main__":
    main()
