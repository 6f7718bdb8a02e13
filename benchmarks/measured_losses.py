"""What samples prove of ε: pairs of small neighbouring tables, mechanism by mechanism, against the claim.

    python benchmarks/measured_losses.py [--draws 20000] [--only WORD ...] [--careless]

Of each mechanism two neighbouring tables are taken that are meant to lose all of the price, and outputs are drawn by
the mechanism itself, whole: randomised answers of a person, runs of a hold-out, data sets, candidates, quantiles by
permute-and-flip and by the exponential mechanism, levels that nobody listed, bootstraps, sums with each law of noise at
scales about 1.  An event is chosen on half of the draws by their frequencies; on the other half its probabilities are
bounded (Clopper and Pearson, each at 10^-7 / 4), and ε is at least log((P - δ) / Q), both ways.  The bound must be
below the claim, and where the pair loses all of it, above `least` of it: a test that proves nothing would pass always.

`--careless` draws with noise or rates for 1.5 times the price, which must be found where a pair loses all.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, Final

import numpy as np
from scipy import stats

import tacit as tc
from tacit.curator.mechanisms import design, integers, measure
from tacit.holdout.holdout_design import holdout_design
from tacit.holdout.holdout_score import holdout_score
from tacit.holdout.mechanism_holdout import HeldOut, Run, answered, exact
from tacit.method.bootstrap.mechanism import _noisy, _samples
from tacit.method.ks_dataset.layers import Layers
from tacit.method.ks_dataset.mechanism import bands
from tacit.method.ks_dataset.mechanism import drawn as data_set
from tacit.method.shared.measurement import Public
from tacit.method.shared.mechanism_additive import protect_parts
from tacit.method.unlisted_levels.mechanism import drawn as levels_drawn
from tacit.noise.averaged_laplace import AveragedLaplace
from tacit.noise.laws import DiscreteLaplace, RoundedNormal
from tacit.noise.product import ProductLaplace
from tacit.noise.select import choose
from tacit.noise.spherical import SphericalLaplace
from tacit.privacy import Cost
from tacit.privacy.gaussian import epsilon_delta_to_mu_squared
from tacit.source import open_source

ERROR: Final = 1e-7
SCHEMA: Final = tc.Schema(
    {"k": tc.Integer(0, 3), "x": tc.Real(0, 1), "g": tc.Category(["a", "b", "c"]), "right": tc.Boolean(),
     "t": tc.Text(max_length=4)}
)  # fmt: skip
Sampler = Callable[[int, float], tuple[list[Hashable], list[Hashable]]]
"""(draws, factor of the price) -> outputs on the two tables."""


@dataclass(frozen=True)
class Case:
    """A mechanism with its claim; least: the part of ε that must be proven with 20,000 draws, 0 where little can be."""

    name: str
    epsilon: float
    delta: float
    least: float
    sample: Sampler


def bound(p: Sequence[Hashable], q: Sequence[Hashable], delta: float) -> float:
    """Return a lower bound on ε, wrong with probability at most 2 ERROR."""
    return max(_one_way(p, q, delta), _one_way(q, p, delta))


def _one_way(p: Sequence[Hashable], q: Sequence[Hashable], delta: float) -> float:
    half_p, half_q = len(p) // 2, len(q) // 2
    first, second = Counter(p[:half_p]), Counter(q[:half_q])
    every = first.keys() | second.keys()
    # the outputs by what the first half says of their ratio; one that q's half lacks counts half
    order = sorted(every, key=lambda one: -(first[one] + 0.1) / (second[one] + 0.5))
    best, event, above, below = -np.inf, set[Hashable](), 0, 0
    chosen: set[Hashable] = set()
    for one in order:
        event.add(one)
        above, below = above + first[one], below + second[one]
        low = above - 4 * np.sqrt(above + 1) - delta * half_p
        worth = np.log(low / (below + 4 * np.sqrt(below + 4))) if low > 0 else -np.inf
        if worth > best:
            best, chosen = worth, set(event)
    hits = sum(one in chosen for one in p[half_p:])
    others = sum(one in chosen for one in q[half_q:])
    n, m = len(p) - half_p, len(q) - half_q
    low = float(stats.beta.ppf(ERROR / 4, hits, n - hits + 1)) if hits else 0.0
    high = float(stats.beta.ppf(1 - ERROR / 4, others + 1, m - others)) if others < m else 1.0
    return max(0.0, float(np.log((low - delta) / high))) if low > delta else 0.0


# Mechanisms ---------------------------------------------------------------------------------------------------------


def local(make: Callable[[Any], Any], levels: tuple[Any, Any]) -> Sampler:
    """Answers of persons of two levels."""

    def sample(draws: int, factor: float) -> tuple[list[Hashable], list[Hashable]]:
        one = make(factor)
        answers = [[one.respond(level) for _ in range(draws)] for level in levels]
        return tuple([tuple(a) if isinstance(a, list | set | tuple) else a for a in some] for some in answers)  # type: ignore[return-value]

    return sample


def holdout(rows: tuple[list[Any], list[Any]], trains: tuple[float, ...], relation: str) -> Sampler:
    """Whole runs of a hold-out: after how many checks a difference is found, and roughly what was answered."""

    def sample(draws: int, factor: float) -> tuple[list[Hashable], list[Hashable]]:
        made = holdout_design("0.2", epsilon=Fraction(4) * Fraction(factor), answers=1)
        found: list[list[Hashable]] = []
        for right in rows:
            size = len(right) if relation == "replace-one" else None
            score = holdout_score("right", Public(SCHEMA, relation, size), made)
            held: HeldOut = exact(score, open_source(full({"right": right})))
            outputs: list[Hashable] = []
            for _ in range(draws):
                run, told = Run(made), (len(trains), 0)
                for at, train in enumerate(trains):
                    if run.differs(held, score.place(train)):
                        (part,) = answered(score, held)
                        # the sign of each integer beside its middle
                        told = (at, tuple(k > 0 for k in part.integers[0]))
                        break
                outputs.append(told)
            found.append(outputs)
        return found[0], found[1]

    return sample


def full(columns: dict[str, list[Any]]) -> dict[str, list[Any]]:
    """A table of these columns, all others missing."""
    many = len(next(iter(columns.values())))
    return {name: columns.get(name, [None] * many) for name in SCHEMA}


def measured(query: Any, tables: tuple[dict[str, list[Any]], ...], relation: str, price: Cost) -> Sampler:
    """Releases of a question, by the mechanism as it is."""

    def sample(draws: int, factor: float) -> tuple[list[Hashable], list[Hashable]]:
        found: list[list[Hashable]] = []
        for table in tables:
            size = len(next(iter(table.values()))) if relation == "replace-one" else None
            shape = design(query, Public(SCHEMA, relation, size), dearer(price, factor))
            source = open_source(full(table))
            found.append(
                [tuple(cell for part in measure(shape, source) for cell in part.integers) for _ in range(draws)]
            )
        return found[0], found[1]

    return sample


def dearer(price: Cost, factor: float) -> Cost:
    """A price with a larger ε, of which the claim knows nothing."""
    words = {"epsilon": price.epsilon * Fraction(factor)} if price.epsilon is not None else {}
    return Cost.of(**words, **({"delta": price.delta} if price.delta is not None else {}))


def of_counts(query: Any, tables: tuple[dict[str, list[Any]], ...], relation: str, price: Cost) -> Sampler:
    """Selections by the counts of cells, which are read once."""

    def sample(draws: int, factor: float) -> tuple[list[Hashable], list[Hashable]]:
        found: list[list[Hashable]] = []
        for table in tables:
            size = len(next(iter(table.values()))) if relation == "replace-one" else None
            shape = design(query, Public(SCHEMA, relation, size), dearer(price, factor))
            held = integers(shape, open_source(full(table)))[0]
            law: Any = shape.columns[0].law
            if isinstance(query, tc.KSDataset):
                layers = Layers(bands(shape.columns[0], held), law.rate)
                found.append([data_set(layers) for _ in range(draws)])
            elif isinstance(query, tc.UnlistedLevels):
                outputs: list[Hashable] = []
                for _ in range(draws):
                    parts = levels_drawn(shape, held)
                    outputs.append((parts[0].texts, parts[0].integers[:1], parts[1].integers[0][0] > 1))
                found.append(outputs)
            else:
                found.append([choose(law, held, [1] * len(held))[0] for _ in range(draws)])
        return found[0], found[1]

    return sample


def bootstrap(tables: tuple[dict[str, list[Any]], ...], relation: str, price: Cost, replicates: int) -> Sampler:
    """Bootstraps of a sum: the mean of the replicates in tenths of its noise, which says most of the row."""

    def sample(draws: int, factor: float) -> tuple[list[Hashable], list[Hashable]]:
        found: list[list[Hashable]] = []
        for table in tables:
            size = len(next(iter(table.values()))) if relation == "replace-one" else None
            query = tc.Bootstrap(tc.Sum("k"), replicates)
            shape = design(query, Public(SCHEMA, relation, size), dearer(price, factor))
            many = replace(shape, columns=shape.columns * draws)  # so many releases, drawn at once
            noisy = [cells[0][0] for sums in _samples(many, open_source(full(table))) for cells in _noisy(shape, sums)]
            each = np.array(noisy, dtype=np.float64).reshape(draws, replicates).mean(axis=1)
            step = float(shape.columns[0].law.scale) / np.sqrt(replicates) / 3
            found.append(np.floor(each / step).astype(int).tolist())
        return found[0], found[1]

    return sample


def additive(make: Callable[[Fraction], Sequence[Any]], apart: Sequence[Sequence[int]], most: int = 30) -> Sampler:
    """Sums of parts with their laws: the same integers, and integers that differ by `apart`.

    Outputs are cut at +-`most`, so that vectors have few enough values to be told apart by their frequencies.
    """

    def drawn(exact_: Sequence[Any], laws: Sequence[Any]) -> Hashable:
        return tuple(max(-most, min(most, k)) for part in protect_parts(exact_, laws) for cell in part for k in cell)

    def sample(draws: int, factor: float) -> tuple[list[Hashable], list[Hashable]]:
        laws = make(Fraction(factor))
        first, second = [(tuple(0 for _ in one),) for one in apart], [(tuple(one),) for one in apart]
        return [drawn(first, laws) for _ in range(draws)], [drawn(second, laws) for _ in range(draws)]

    return sample


def vector(factor: Fraction) -> list[Any]:
    """Two columns of one vector with ε = 1, of l1 sensitivities 2 and 1."""
    return [ProductLaplace(2 / factor, 1, 3), ProductLaplace(1 / factor, 2, 3)]


MU_SQUARED: Final = float(epsilon_delta_to_mu_squared(Fraction(1), Fraction(1, 1000)))
SIGMA: Final = Fraction(1 / MU_SQUARED**0.5).limit_denominator(10**6)
"""Standard deviation of the normal noise of a pair."""
PAIR: Final = Cost.of(epsilon=1, delta="1/1000")
A: Final = "add-remove"
R: Final = "replace-one"
CASES: Final = (
    Case("Warner", 1, 0, 0.8, local(lambda f: tc.local.Warner(epsilon=f), (True, False))),
    Case("forced response", 1, 0, 0.8, local(lambda f: tc.local.ForcedResponse(epsilon=f), (True, False))),
    Case("one of five levels", 1, 0, 0.7, local(lambda f: tc.local.KaryResponse([1, 2, 3, 4, 5], f), (1, 2))),
    Case("unary encoding", 1, 0, 0.7, local(lambda f: tc.local.UnaryEncoding([1, 2, 3], f), (1, 2))),
    Case("subset selection", 1, 0, 0.7, local(lambda f: tc.local.SubsetSelection([1, 2, 3, 4, 5, 6], f), (1, 2))),
    Case("hold-out, replaced", 4, 0, 0.1, holdout(([True], [False]), (0.5, 0.5, 0.0, 1.0), R)),
    Case("hold-out, added", 4, 0, 0.1, holdout(([True, True], [True]), (0.0, 0.5, 1.0), A)),
    Case("hold-out, gone missing", 4, 0, 0.1, holdout(([True, None], [True, True]), (0.0, 0.0, 1.0), R)),
    Case(
        "data set",
        2,
        0,
        0.2,
        of_counts(
            tc.KSDataset("x", size=2, cells=2), ({"x": [0.1] * 3}, {"x": [0.1, 0.1, 0.9]}), R, Cost.of(epsilon=2)
        ),
    ),
    Case(
        "candidates",
        1,
        0,
        0.3,
        of_counts(
            tc.ExponentialMechanism("g", {"u": [1, 0, 0], "v": [0, 1, 0]}),
            ({"g": ["a"]}, {"g": ["b"]}),
            R,
            Cost.of(epsilon=1),
        ),
    ),
    Case(
        "median, permute and flip",
        2,
        0,
        0.1,
        measured(tc.Quantiles("k", [0.5], interval=False), ({"k": [0, 0, 3]}, {"k": [0, 3, 3]}), R, Cost.of(epsilon=2)),
    ),
    Case(
        "median with its steps",
        2,
        0,
        0.1,
        measured(
            tc.Quantiles("k", [0.5]), ({"k": [0] * 40 + [3] * 39}, {"k": [0] * 39 + [3] * 40}), R, Cost.of(epsilon=2)
        ),
    ),
    Case(
        "levels that nobody listed",
        1,
        0.001,
        0.2,
        of_counts(tc.UnlistedLevels("t"), ({"t": ["u"] * 9}, {"t": ["u"] * 8}), A, PAIR),
    ),
    Case("a level of one row", 1, 0.001, 0.0, of_counts(tc.UnlistedLevels("t"), ({"t": ["u"]}, {"t": ["v"]}), R, PAIR)),
    Case(
        "bootstrap, replaced",
        2,
        0.01,
        0.1,
        bootstrap(({"k": [0, 1, 2, 3]}, {"k": [3, 1, 2, 3]}), R, Cost.of(epsilon=2, delta="1/100"), 5),
    ),
    Case(
        "bootstrap, added",
        2,
        0.01,
        0.1,
        bootstrap(({"k": [1, 2, 3]}, {"k": [1, 2]}), A, Cost.of(epsilon=2, delta="1/100"), 5),
    ),
    Case("discrete Laplace", 1, 0, 0.85, additive(lambda f: [DiscreteLaplace(1 / f)], [[1]])),
    Case("discrete Laplace, scale 1/3", 3, 0, 0.85, additive(lambda f: [DiscreteLaplace(1 / (3 * f))], [[1]])),
    Case("averaged Laplace", 1, 0, 0.3, additive(lambda f: [AveragedLaplace(1 / f, 2)], [[1]])),
    Case("spherical Laplace", 1, 0, 0.2, additive(lambda f: [SphericalLaplace(1 / f, 2)], [[1, 0]], 2)),
    Case("a vector of two columns", 1, 0, 0.2, additive(vector, [[2], [1, 0]], 2)),
    Case("rounded normal", 1, 0.001, 0.2, additive(lambda f: [RoundedNormal(SIGMA / f)], [[1]])),
)


def tried(case: Case, draws: int, factor: float) -> tuple[float, bool]:
    """Return the proven ε of a case, and whether it is within the claim and above what it must prove."""
    one, other = case.sample(draws, factor)
    proven = bound(one, other, case.delta)
    return proven, case.least * case.epsilon <= proven <= case.epsilon


def main() -> None:
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--draws", type=int, default=20_000)
    parser.add_argument("--only", nargs="+", default=[])
    parser.add_argument("--careless", action="store_true")
    options = parser.parse_args()
    wrong = 0
    for case in CASES:
        if options.only and not any(word in case.name for word in options.only):
            continue
        proven, good = tried(case, options.draws, 1.5 if options.careless else 1)
        wrong += not good
        words = f"{case.name:<28} claim ε = {case.epsilon:g}, δ = {case.delta:g}: proven {proven:.3f}"
        print(words + ("" if good else "  WRONG"), flush=True)
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
