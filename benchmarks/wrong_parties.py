"""Blocks of parties of which some follow another law, have blocks without an estimate, or lie at an end of their box.

    python benchmarks/wrong_parties.py [--repeats 400] [--quick] [--parts blocks boxes further]

The page is docs/reference/combining.md.  Rows are drawn anew in every repetition, with noise of the laws that releases
have.  The designs are stated below; they were written down before any of them was simulated.  Every party asks for the
rate of an exponential law, whose limit is one over the mean of the rows, whatever law they follow: 1 in all parties; in
a few of the further designs for the mean of a normal law.
By default, where blocks trust no law and are as long as that takes; and of 20 rows, corrected as the law says.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from few_parties import told
from pages import asked, put

import tacit as tc
from tacit import families
from tacit.curator.mechanisms import design
from tacit.method.blocks.combine import BlocksOfParties
from tacit.method.shared.measurement import Public
from tacit.method.shared.simulated_parts import empty_parts
from tacit.models.blocks import Bias, block_mle
from tacit.parties.combined_columns import block_column
from tacit.testing.simulated_parties import Answer, repetition

PAGE, SELF = Path(__file__).resolve().parents[1] / "docs" / "reference" / "combining.md", "wrong_parties.py"
SEED = 20_261_124
SCHEMA = tc.Schema({"x": tc.Real()})
WIDE = (0.2, 5.0)


@dataclass(frozen=True)
class Group:
    """Some parties alike: how many, their rows, blocks and price, the law of their rows, blocks that fail.

    law: "exponential", "lognormal" (standard deviation of the logarithm 1.1), "gamma" (shape 3), one of FURTHER_LAWS.
    failing: the share of blocks without an estimate.  apart: whether those that fail are the largest, or any.
    mean: whether the mean of a normal law is asked for in place of the rate of an exponential one.
    """

    parties: int
    rows: int
    blocks: int
    epsilon: float = 1.0
    law: str = "exponential"
    failing: float = 0.0
    apart: bool = False
    mean: bool = False


DESIGNS: tuple[tuple[str, tuple[Group, ...], tuple[float, float]], ...] = (
    ("8 of 4,000, all exponential", (Group(8, 4_000, 200),), WIDE),
    ("7 of 4,000, one lognormal", (Group(7, 4_000, 200), Group(1, 4_000, 200, law="lognormal")), WIDE),
    ("7 of 2,000, one lognormal of 40,000", (Group(7, 2_000, 100), Group(1, 40_000, 2_000, law="lognormal")), WIDE),
    ("8 of 4,000, all lognormal", (Group(8, 4_000, 200, law="lognormal"),), WIDE),
    ("12 of 1,500, all lognormal, ε = 0.5", (Group(12, 1_500, 75, 0.5, "lognormal"),), WIDE),
    ("8 of 4,000, all Gamma of shape 3", (Group(8, 4_000, 200, law="gamma"),), WIDE),
    ("7 of 4,000, one of no rows", (Group(7, 4_000, 200), Group(1, 4_000, 200, failing=1.0)), WIDE),
    ("7 of 4,000, 70% of the largest fail in one",
     (Group(7, 4_000, 200), Group(1, 4_000, 200, failing=0.7, apart=True)), WIDE),
    ("12 of 4,000, 8% of the largest fail in all", (Group(12, 4_000, 200, failing=0.08, apart=True),), WIDE),
    ("12 of 4,000, any 8% fail in all", (Group(12, 4_000, 200, failing=0.08),), WIDE),
    ("8 of 4,000, a box to 1.3", (Group(8, 4_000, 200),), (0.2, 1.3)),
    ("8 of 4,000, a box to 1.1", (Group(8, 4_000, 200),), (0.2, 1.1)),
    # of a price at which the variance of blocks is seen; added after it was found that noise hides it at those above
    ("8 of 4,000, all exponential, ε = 8", (Group(8, 4_000, 200, 8.0),), WIDE),
    ("7 of 2,000, one lognormal of 40,000, ε = 8",
     (Group(7, 2_000, 100, 8.0), Group(1, 40_000, 2_000, 8.0, "lognormal")), WIDE),
    ("8 of 4,000, all lognormal, ε = 8", (Group(8, 4_000, 200, 8.0, "lognormal"),), WIDE),
    ("12 of 1,500, all lognormal, ε = 8", (Group(12, 1_500, 75, 8.0, "lognormal"),), WIDE),
    ("8 of 4,000, all Gamma of shape 3, ε = 8", (Group(8, 4_000, 200, 8.0, "gamma"),), WIDE),
    ("20 of 4,000, a box to 1.4", (Group(20, 4_000, 200),), (0.2, 1.4)),
    # close boxes; added, before one of them was simulated, when that to 1.1 above was known not to hold
    ("8 of 4,000, a box to 1.2", (Group(8, 4_000, 200),), (0.2, 1.2)),
    ("20 of 4,000, a box to 1.2", (Group(20, 4_000, 200),), (0.2, 1.2)),
    ("8 of 4,000, a box from 0.9", (Group(8, 4_000, 200),), (0.9, 3.0)),
    ("8 of 4,000, all lognormal, a box to 1.2", (Group(8, 4_000, 200, law="lognormal"),), (0.2, 1.2)),
    ("8 of 4,000, all Gamma of shape 3, a box to 1.1", (Group(8, 4_000, 200, law="gamma"),), (0.2, 1.1)),
    ("12 of 1,500, all Gamma of shape 3, a box to 1.2", (Group(12, 1_500, 75, 1.0, "gamma"),), (0.2, 1.2)),
    ("5 of 20,000, all lognormal, a box to 1.1", (Group(5, 20_000, 1_000, law="lognormal"),), (0.2, 1.1)),
    ("8 of 4,000, a box to 1.1, ε = 8", (Group(8, 4_000, 200, 8.0),), (0.2, 1.1)),
)  # fmt: skip


# Boxes that end near, rows of further laws, one party alone; committed before any of them was simulated.
FURTHER: tuple[tuple[str, tuple[Group, ...], tuple[float, float]], ...] = (
    ("1 of 20,000, a box to 1.1", (Group(1, 20_000, 1_000),), (0.2, 1.1)),
    ("1 of 20,000, lognormal, a box to 1.1", (Group(1, 20_000, 1_000, law="lognormal"),), (0.2, 1.1)),
    ("1 of 50,000, half-gamma, a box to 1.1", (Group(1, 50_000, 2_500, law="half-gamma"),), (0.2, 1.1)),
    ("5 of 20,000, a box to 1.1", (Group(5, 20_000, 1_000),), (0.2, 1.1)),
    ("5 of 20,000, all half-gamma, a box to 1.2", (Group(5, 20_000, 1_000, law="half-gamma"),), (0.2, 1.2)),
    ("5 of 20,000, all Weibull, a box to 1.05", (Group(5, 20_000, 1_000, law="weibull"),), (0.2, 1.05)),
    ("5 of 20,000, all mixture, a box to 1.1", (Group(5, 20_000, 1_000, law="mixture"),), (0.2, 1.1)),
    ("5 of 20,000, all mixture, a box to 2", (Group(5, 20_000, 1_000, law="mixture"),), (0.2, 2.0)),
    ("10 of 10,000, all Weibull, a box to 1.2", (Group(10, 10_000, 500, law="weibull"),), (0.2, 1.2)),
    ("10 of 10,000, all inverse Gaussian, a box from 0.85", (Group(10, 10_000, 500, law="inverse"),), (0.85, 3.0)),
    ("10 of 10,000, all inverse Gaussian, a box of 0.8 to 1.2", (Group(10, 10_000, 500, law="inverse"),), (0.8, 1.2)),
    ("10 of 10,000, all exponential, a box of 0.85 to 1.15", (Group(10, 10_000, 500),), (0.85, 1.15)),
    ("4 of 20,000, one half-gamma of 40,000, a box to 1.15",
     (Group(4, 20_000, 1_000), Group(1, 40_000, 2_000, law="half-gamma")), (0.2, 1.15)),
    ("5 of 50,000, all Gamma of shape 3, a box to 1.05, ε = 0.5",
     (Group(5, 50_000, 2_500, 0.5, "gamma"),), (0.2, 1.05)),
    ("5 of 20,000, all lognormal, a box to 1.1, ε = 4", (Group(5, 20_000, 1_000, 4.0, "lognormal"),), (0.2, 1.1)),
    ("5 of 20,000, mean of exponential rows, a box to 1.1", (Group(5, 20_000, 1_000, mean=True),), (-1.0, 1.1)),
    ("5 of 20,000, mean of mixture rows, a box to 1.2",
     (Group(5, 20_000, 1_000, law="mixture", mean=True),), (-1.0, 1.2)),
    ("8 of 4,000, mean of inverse Gaussian rows, a box of 0.9 to 1.3",
     (Group(8, 4_000, 200, law="inverse", mean=True),), (0.9, 1.3)),
)  # fmt: skip
FURTHER_LAWS = ("half-gamma", "weibull", "inverse", "mixture")
"""Gamma of shape 1/2; Weibull of shape 0.7; inverse Gaussian of shape 1; exponential rows, of which a fifth have mean 3
and the others 1/2.  All have mean 1."""


def rows_of(rng: np.random.Generator, law: str, shape: tuple[int, ...]) -> Any:
    """Draw rows of mean 1."""
    if law == "half-gamma":
        return 2 * rng.standard_gamma(0.5, shape)
    if law == "weibull":
        return rng.weibull(0.7, shape) / math.gamma(1 + 1 / 0.7)
    if law == "inverse":
        return rng.wald(1.0, 1.0, shape)
    if law == "mixture":
        return rng.standard_exponential(shape) * np.where(rng.random(shape) < 0.2, 3.0, 0.5)
    if law == "lognormal":
        return np.exp(1.1 * rng.standard_normal(shape) - 1.1**2 / 2)
    return rng.standard_gamma(3, shape) / 3 if law == "gamma" else rng.standard_exponential(shape)


WAYS: dict[str, Bias] = {"by default": "observed", "by the law": "cox-snell"}


def mles(x: Any, bias: Bias) -> Any:
    """Return maximum-likelihood rates of blocks, shape (..., rows) -> (...), corrected for their bias."""
    rate = 1 / x.mean(axis=-1)
    return rate * (1 - (1.0 if bias == "cox-snell" else x.var(axis=-1) * rate**2) / x.shape[-1])


def check() -> None:
    """Check the closed forms against the estimates that blocks have."""
    x = np.random.default_rng(0).standard_exponential((8, 20))
    for bias in WAYS.values():
        made = block_mle(families.Exponential(rate=WIDE), x, np.full(8, 20), bias=bias).values[:, 0]
        assert np.allclose(made, mles(x, bias), rtol=1e-6), (made, mles(x, bias))


def question(group: Group, box: tuple[float, float], bias: Bias, parties: int) -> tc.SampleAndAggregate:
    """Return what a party asks: blocks of 20 rows by the law, else as many as a study of so many parties has."""
    model: Any = families.Normal(mean=box, sd=(0.2, 5)) if group.mean else families.Exponential(rate=box)
    only = ("mean",) if group.mean else ()
    if bias == "observed":
        return tc.SampleAndAggregate("x", model, parties=parties, parameters=only)
    return tc.SampleAndAggregate("x", model, blocks=group.blocks, bias=bias, parameters=only)


def releases(groups: Sequence[Group], box: tuple[float, float], repeats: int, seed: int, bias: Bias) -> list[Answer]:
    """Simulate one answer a party, repetitions in place of cells."""
    rng, found = np.random.default_rng(seed), []
    for group in groups:
        query = question(group, box, bias, sum(one.parties for one in groups))
        cost = tc.Cost.of(epsilon=f"{group.epsilon:g}")
        shape = design(query, Public(SCHEMA, "replace-one", group.rows), cost)
        (column,), (part,) = shape.columns, empty_parts(shape)
        grid, k = column.grid, column.form.parameters["blocks"]
        assert grid is not None
        for _ in range(group.parties):
            rows = rows_of(rng, group.law, (repeats, k, group.rows // k))
            values = rows.mean(axis=-1) if group.mean else mles(rows, bias)
            rank = np.argsort(np.argsort(-values, axis=1), axis=1)
            own = (rank if group.apart else rng.permuted(rank, axis=1)) >= round(group.failing * k)
            v = np.floor((values - grid.lower) * (grid.G / (grid.upper - grid.lower)) + 0.5)
            v = np.clip(v, 0, grid.G).astype(np.int64)
            added = [np.where(own, np.asarray(one.numpy(v)), 0).sum(axis=1) for one in column.form.polynomials]
            exact = np.stack(added, axis=1).astype(np.int64) @ np.array(column.form.matrix, dtype=np.int64).T
            noisy = exact + column.law.sample(exact.size, rng).reshape(exact.shape)
            made = replace(part, integers=tuple(map(tuple, noisy.tolist())))
            found.append(Answer(query, f"party {len(found)}", "replace-one", group.rows, (made,), cost))
    # one query for all: their numbers of blocks differ, as those that are chosen by size would
    return [replace(one, query=found[0].query) for one in found]


EFFECTS = ("common", "random")
Row: TypeAlias = tuple[float, float, bool, bool, float]
"""Of a repetition: value, standard error, whether the interval holds 1, whether there is one, parties left out."""


def rows_of_design(
    groups: Sequence[Group], box: tuple[float, float], repeats: int, seed: int, bias: Bias
) -> dict[str, list[Row]]:
    """Combine simulated releases by both kinds of effects."""
    given = releases(groups, box, repeats, seed, bias)
    found: dict[str, list[Row]] = {effects: [] for effects in EFFECTS}
    for at in range(repeats):
        # tested once: the tests are the same for both kinds of effects
        tested = BlocksOfParties.of(repetition(given, at), range(len(given)))
        for effects in EFFECTS:
            made = block_column("rate", tested, 0, effects, "REML")
            low, high = made.inversion.interval(0.95)
            error = math.sqrt(float((made.variance + made.privacy)[0]))
            out = float((made.shares[:, 0] == 0).sum())
            hit = bool(low[0] <= 1 <= high[0])
            found[effects].append((float(made.value[0]), error, hit, made.reasons[0] is None, out))
    return found


def lines(repeats: int, only: str = "", designs: Any = DESIGNS) -> Iterator[str]:
    yield (
        "| parties | blocks | effects | answered, % | left out a study | standard error | bias / sd | SE / sd "
        "| coverage given an answer, % |"
    )
    yield "| :--- | :--- | :--- | ---: | ---: | ---: | ---: | ---: | ---: |"
    for i, (words, groups, box) in enumerate(designs):
        if only not in words:
            continue
        for way, bias in WAYS.items():
            for effects, rows in rows_of_design(groups, box, repeats, SEED + i, bias).items():
                value, error, hit, said, out = np.array(rows).T
                yes = said > 0
                start = f"| {words} | {way} | {effects} | {100 * yes.mean():.0f} | {out.mean():.1f} |"
                if yes.sum() < 10:
                    yield f"{start} – | – | – | – |"
                    continue
                sd, middle = value[yes].std(), np.median(error[yes])
                off = (value[yes].mean() - 1) / sd
                yield f"{start} {middle:.3f} | {off:.2f} | {middle / sd:.2f} | {told(hit[yes])} |"


TEXT = """## Parties whose blocks tell no rate

{repeats:,} repetitions a line. *By default*: `parties=` says how many there are; blocks are corrected for the bias
that their own rows show, and are as long as that takes. *By the law*: 20 rows in a block, `bias="cox-snell"`. A party
whose own estimate has a reason in place of an interval (blocks that failed, another law, an end of the box) weighs
nothing and is named; what the others' blocks show together of failures and of another law is held against the standard
error of the combination. Where noise hides the law, answers by the law rest on it, as a note says.

{lines}"""


BOXES = """## Boxes that end near

{repeats:,} repetitions a line. Which parties an end of the box leaves out is said by the noise of their own
means, so that the others' mean is off by what is cut off: that counts as an error, and a reason replaces the interval
where it is more than 1.5 standard errors. Designs to 1.2 and from 0.9, of other laws, and of a box to 1.1 at ε = 8
were added before any was simulated.

{lines}"""


FURTHER_TEXT = """## Boxes that end near, rows of further laws

{repeats:,} repetitions a line. Gamma rows of shape 1/2 ("half-gamma"), Weibull rows of shape 0.7, inverse Gaussian rows
of shape 1, and a mixture of exponential rows, of which a fifth have mean 3 and the others 1/2; one party alone has no
random effects. These designs were committed before any of them was simulated.

{lines}"""
PARTS = {"blocks": (SELF, TEXT, DESIGNS, ""), "boxes": (f"{SELF} boxes", BOXES, DESIGNS, "a box"),
         "further": (f"{SELF} further", FURTHER_TEXT, FURTHER, "")}  # fmt: skip


def main() -> None:
    # parts: all designs, those of close boxes alone, or close boxes of further laws; each has a table of its own
    given = asked(__doc__, PARTS, 400)
    check()
    repeats = given.repeats // (20 if given.quick else 1)
    for part in given.parts:
        place, text, designs, only = PARTS[part]
        made: list[str] = []
        for line in lines(repeats, only, designs):
            made.append(line)
            print(line, flush=True)
        if not given.quick:
            put(PAGE, place, text.format(repeats=repeats, lines="\n".join(made)))


if __name__ == "__main__":
    main()
