"""Several questions at one price, of neighbouring tables: what all their integers lose together, and what is charged.

    python benchmarks/joint_purchases.py [--trials 1000] [--seed 1] [--only regression ...] [--careless]

Two to five random questions (those of `neighbouring_releases.py`, adaptive ones too, some of them twice) are bought at
one price, with shares, of two small tables that differ in one row or one person, from ledgers of every accounting.  The
release of the first table draws as always, and its transcript is kept: exact sums and noisy ones, utilities and what
was selected.  That of the second is made to give the same transcript, so that later questions, which follow from
earlier answers, are the same; blocks and parts of steps are drawn alike.  Then

- what the noise must make up for, over all parts of all questions, is within the price and within the ledger's charge:
  l1 over the scale of Laplace noise, squared l2 over the variance of normal noise, of selections the spread of the
  log-ratios of what might have been selected; in ε, ρ, μ² and δ, each by its own rule of composition;
- no part moves by more than the sensitivities that it declares;
- both releases are the same, word for word, as all of them follows from the transcript;
- the plan of the same purchase says what the ledger was charged, and whether it fits.

`--careless` buys noise and rates at 1.2 times the price, which must be found.
"""

from __future__ import annotations

import argparse
import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, Final

import numpy as np
import pyarrow as pa
from fuzzing import finished
from neighbouring_releases import (
    ADAPTIVE,
    COLUMNS,
    KINDS,
    MOST,
    TRUSTED,
    TYPES,
    Row,
    a_row,
    asked,
    masked,
    one_of,
)
from replayed_transcripts import Transcript, flat, replayed

import tacit as tc
from tacit.errors import TacitError
from tacit.privacy import Cost
from tacit.privacy.approximate_part import approximate_part
from tacit.release.query_checks import of_numbers

TOLERANCE: Final = 1e-9
"""Relative, for the floats that losses are added up in here."""
OWN_DELTA: Final = ("bootstrap", "levels")
RARE: Final = ("of a law", "winsorised", "of a statistic", "risk", "Poisson", "logistic", "data set", "quantiles")
"""Kinds that take long: drawn a tenth as often."""


# Purchases -----------------------------------------------------------------------------------------------------------


@dataclass
class Found:
    """What was tried, and what was wrong."""

    trials: Counter[str] = field(default_factory=Counter[str])
    refused: Counter[str] = field(default_factory=Counter[str])
    wrong: list[str] = field(default_factory=list[str])
    nearest: dict[str, float] = field(default_factory=dict[str, float])
    """Of each way to pay and to add up, the largest part of it that a pair lost."""

    def reached(self, what: str, part: float, whole: float, case: str) -> None:
        """Hold a loss against what was paid."""
        self.nearest[what] = max(self.nearest.get(what, 0.0), part / whole if whole else float(part > 0))
        if part > whole * (1 + TOLERANCE):
            self.wrong.append(f"{case}: {what} {part} of {whole}")


PRICES: Final = (
    {"epsilon": "1.5"},
    {"rho": "1/10"},
    {"rho": "1/3"},
    {"epsilon": 1, "delta": "1e-6"},
    {"epsilon": 3, "delta": "1e-5"},
)
BUDGETS: Final[dict[str, dict[str, Any]]] = {
    "pure": {"epsilon": 9},
    "rho": {"rho": 9},
    "pair": {"epsilon": 20, "delta": "1e-3"},
    "reserved": {"epsilon": 20, "delta": "1e-3", "reserved_delta": "1e-4"},
    "pair in ρ": {"epsilon": 20, "delta": "1e-3", "accounting": "zcdp"},
    "basic": {"epsilon": 20, "delta": "1e-3", "accounting": "basic"},
}
TAKES: Final = {
    "pure": ("epsilon",),
    "rho": ("epsilon", "rho", "pair"),
    "pair": ("epsilon", "rho", "pair"),
    "reserved": ("epsilon", "rho", "pair"),
    "pair in ρ": ("epsilon", "rho", "pair"),
    "basic": ("epsilon", "pair"),
}
SHARES: Final = (1, 1, 2, "1/3", 0.1, 7, "0.001")


def way(price: dict[str, Any]) -> str:
    """How a price is stated."""
    return "pair" if "delta" in price else next(iter(price))


def neighbours(rng: np.random.Generator, relation: str, persons: bool) -> tuple[list[Row], list[Row]]:
    """Two tables that differ in their last row, or in their last person with all rows."""
    size = int(rng.integers(2, 12))
    # of many rows other mechanisms answer (cuts, scores)
    common = [a_row(rng) for _ in range(size)] * one_of(rng, 1, 1, 1, 80)
    if persons:
        common = [{**row, "who": i // MOST} for i, row in enumerate(common)]
    many = int(rng.integers(1, MOST + 1)) if persons else 1
    first = [{**a_row(rng), **({"who": 999} if persons else {})} for _ in range(many)]
    second = [{**a_row(rng), **({"who": 999} if persons else {})} for _ in range(many)]
    both = [*common, *first], [*common, *second] if relation == "replace-one" else list(common)
    return both if rng.random() < 0.5 else (both[1], both[0])


def questions(
    rng: np.random.Generator, price: dict[str, Any], takes_delta: bool, only: Sequence[str]
) -> dict[str, Any]:
    """Two to five questions by name; sometimes one of them twice."""
    kinds = [
        kind for kind in (*KINDS, *ADAPTIVE) if kind != "several" and (not only or any(word in kind for word in only))
    ]
    kinds = [kind for kind in kinds if kind not in OWN_DELTA or (takes_delta and way(price) == "pair")]
    kinds = [kind for kind in kinds if kind != "averaged Laplace" or way(price) == "epsilon"]
    weights = np.array([0.1 if any(word in kind for word in RARE) and not only else 1.0 for kind in kinds])
    found: dict[str, Any] = {}
    for i in range(int(rng.integers(2, 6))):
        found[f"q{i}"] = asked(kinds[int(rng.choice(len(kinds), p=weights / weights.sum()))], rng)
    if rng.random() < 0.3:
        found["again"] = found["q0"]
    order = rng.permutation(list(found))
    return {str(name): found[str(name)] for name in order}


@dataclass(frozen=True)
class Bought:
    """A purchase of one table: the answers, or the text of the refusal."""

    release: Any
    words: str
    curator: Any = None


def bought(
    rows: list[Row],
    names: list[str],
    container: str,
    schema: tc.Schema,
    budget: tc.Budget,
    ask: Any,
    price: Any,
    shares: Any,
    hint: int | None,
) -> Bought:
    """Buy the answers to the questions."""
    made = pa.table({name: pa.array([row[name] for row in rows], type=TYPES[name]) for name in names})
    data = made if container == "arrow" else {name: [row[name] for row in rows] for name in names}
    try:
        curator = tc.Curator(data, schema, name="t", budget=budget, trust=TRUSTED, size_hint=hint)
        release = curator.release(ask, **price, **({"shares": shares} if shares else {}))
    except TacitError as problem:
        return Bought(None, f"{type(problem).__name__} {problem}")
    return Bought(release, json.dumps([masked_of(one) for one in release.values()]), curator)


def masked_of(one: Any) -> Any:
    """A release without what every ledger has of its own; its integers remain."""
    words = one.to_dict()
    return {**masked({**words, "parts": None}), "parts": words["parts"]}


def replicate(release: Any, script: Transcript) -> float:
    """The largest part of what is composed that one replicate of bootstraps reaches, of all that were bought."""
    most = 0.0
    for one in release.values():
        if one.kind != "bootstrap":
            continue
        columns = list(dict.fromkeys(part.label for part in one.parts))
        times = len(one.parts) // len(columns)
        reached = np.zeros(times)
        for place, label in enumerate(columns):
            (part, *_) = parts = [part for part in one.parts if part.label == label]
            cells = np.array([[n for cell in part.integers for n in cell] for part in parts])
            for noisy, _, l2 in script.moved:
                if flat(noisy) == np.ravel(cells).tolist():
                    reached += l2 / times / (len(columns) * part.l2_squared)
                    break
            else:
                return float("inf") if place >= 0 else most
        most = max(most, float(reached.max()))
    return most


def held(
    found: Found, case: str, purchase: Bought, script: Transcript, kind: str, price: dict[str, Any], own: bool
) -> None:
    """Hold what a pair of tables lost against the price and the charge."""
    loss, spent, stated = script.loss, purchase.curator.spent, Cost.of(**price)
    found.wrong += [f"{case}: {one}" for one in loss.wrong]
    for one in purchase.release.values():
        for part in one.parts if one.kind != "bootstrap" else ():
            for noisy, l1, l2 in script.moved:
                if _same(part, noisy) and (l1 > part.l1 or l2 > part.l2_squared):
                    found.wrong.append(
                        f"{case}: {part.label} ({part.form}) l1 {l1} of {part.l1}, l2² {l2} of {part.l2_squared}"
                    )
    parts = [one.cost for one in purchase.release.values() if one.kind == "bootstrap"]
    if parts:
        reached = replicate(purchase.release, script)
        found.reached("a replicate", reached, 1.0, case)
        # what all replicates have with every row once is not what they cost
        loss.squared -= sum(_squared(one, script) for one in purchase.release.values() if one.kind == "bootstrap")
        loss.squared += sum(float(one.mu_squared or 0) for one in parts)
    if stated.kind == "pure":
        found.reached(f"ε, {kind}", loss.epsilon, float(stated.epsilon or 0), case)
        return
    if loss.pure_only and kind != "basic":
        found.wrong.append(f"{case}: noise of a pure price was bought by {stated}")
    if stated.kind == "zcdp":
        found.reached(f"ρ, {kind}", loss.rho, float(stated.rho or 0), case)
        if kind in ("pair", "reserved"):
            found.reached(f"ρ as μ², {kind}", loss.mu_squared, float(spent.mu_squared), case)
        return
    if loss.pure_only:
        found.reached(f"pair as ε, {kind}", loss.epsilon, float(stated.epsilon or 0), case)
        return
    whole = approximate_part(stated) if own else stated
    found.reached(f"pair, {kind}", loss.mu_squared, float(whole.gdp), case)
    delta = sum((one.cost.delta or Fraction(0) for one in purchase.release.values()), Fraction(0))
    if own and delta != whole.delta:
        found.wrong.append(f"{case}: δ {delta} of {whole.delta}")
    if kind in ("pair", "reserved"):
        found.reached(f"charged μ², {kind}", loss.mu_squared, float(spent.mu_squared), case)
        if own and spent.delta != delta:
            found.wrong.append(f"{case}: charged δ {spent.delta} of {delta}")
    if kind in ("pair in ρ", "rho"):
        found.reached(f"charged ρ, {kind}", loss.rho, float(spent.rho), case)


def _same(part: Any, noisy: Any) -> bool:
    return flat(noisy) == [n for cell in part.integers for n in cell]


def _squared(one: Any, script: Transcript) -> float:
    """The μ² that the transcript added for a bootstrap's columns."""
    total = 0.0
    for label in dict.fromkeys(part.label for part in one.parts):
        parts = [part for part in one.parts if part.label == label]
        cells = [n for part in parts for cell in part.integers for n in cell]
        for noisy, _, l2 in script.moved:
            if flat(noisy) == cells:
                total += l2 / float(parts[0].law.scale) ** 2
                break
    return total


def planned(found: Found, case: str, purchase: Bought, plan: Any, budget: tc.Budget) -> None:
    """Hold the plan of a purchase against its charge."""
    said, spent = budget.spend(plan.charged, plan.bought), purchase.curator.spent
    if said != spent:
        found.wrong.append(f"{case}: the plan says {said}, charged were {spent}")
    if not plan.fits:
        found.wrong.append(f"{case}: the plan says that it does not fit")


def tried(number: int, seed: int, found: Found, careless: bool, only: Sequence[str]) -> None:
    """One purchase of a pair of neighbours."""
    rng = np.random.default_rng([seed, number])
    kind = one_of(rng, *BUDGETS)
    price = one_of(rng, *(one for one in PRICES if way(one) in TAKES[kind]))
    relation, persons = one_of(rng, "replace-one", "add-remove"), bool(rng.integers(2))
    container = one_of(rng, "arrow", "lists")
    ask = questions(rng, price, kind in ("pair", "reserved", "basic"), only)
    shares = {name: one_of(rng, *SHARES) for name in ask if rng.random() < 0.5}
    columns: dict[str, Any] = {"who": tc.PrivacyUnit(max_rows=MOST), **COLUMNS} if persons else dict(COLUMNS)
    schema, names = tc.Schema(columns), list(columns)
    rows = neighbours(rng, relation, persons)
    budget = tc.Budget(**BUDGETS[kind], neighbors=relation)
    hint = one_of(rng, None, 50, 10_000) if relation == "add-remove" else None
    case = f"{number} {kind} {relation} {'persons' if persons else 'rows'} {price} {shares} {ask!r}"
    dearer = Fraction(6, 5) if careless else Fraction(1)
    script = Transcript()
    with replayed(script, dearer):
        first = bought(rows[0], names, container, schema, budget, ask, price, shares, hint)
        script.again = True
        try:
            second = bought(rows[1], names, container, schema, budget, ask, price, shares, hint)
        except RuntimeError as problem:
            found.wrong.append(f"{case}: {problem}")
            return
    if first.release is None or second.release is None:
        found.refused[first.words[:70]] += 1
        if first.words != second.words:
            found.wrong.append(f"{case}: {first.words[:600]} or {second.words[:600]}")
        return
    found.trials[f"{kind}, {way(price)}"] += 1
    if script.at != len(script.held):
        found.wrong.append(f"{case}: {len(script.held)} answers of samplers, {script.at} on the other table")
    if first.words != second.words:
        found.wrong.append(
            f"{case}: another release of the same transcript\n{first.words[:1500]}\n{second.words[:1500]}"
        )
    own = any(of_numbers(one, schema).own_delta for one in ask.values())
    held(found, case, first, script, kind, price, own)
    data = {name: [row[name] for row in rows[0]] for name in names}
    before = tc.Curator(data, schema, name="t", budget=budget, trust=TRUSTED, size_hint=hint)
    planned(found, case, first, before.plan(ask, **price, **({"shares": shares} if shares else {})), budget)


def swept(trials: int, seed: int, careless: bool = False, only: Sequence[str] = (), progress: bool = False) -> Found:
    """Try so many purchases."""
    found = Found()
    for number in range(trials):
        tried(number, seed, found, careless, only)
        if progress and number % 20 == 19:
            print(f"… {number + 1:,}: {len(found.wrong)} wrong", flush=True)
    return found


def main() -> None:
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--trials", type=int, default=1_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", nargs="+", default=[])
    parser.add_argument("--careless", action="store_true")
    options = parser.parse_args()
    found = swept(options.trials, options.seed, options.careless, options.only, progress=True)
    for name, many in sorted(found.trials.items()):
        print(f"{name:<24} {many:>6,} purchases")
    for name, part in sorted(found.nearest.items()):
        print(f"largest loss, {name:<24} {part:.4f}")
    for words, many in found.refused.most_common(12):
        print(f"refused alike: {words} {many:,}")
    finished(found.wrong)


if __name__ == "__main__":
    main()
