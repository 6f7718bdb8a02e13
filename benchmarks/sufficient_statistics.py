"""Sufficient statistics of one party and of many: coverage, error, what is printed in the source; writes its page.

    python benchmarks/sufficient_statistics.py [--quick] [--repeats 2000] [--parts one common]

The page is docs/reference/sufficient-statistics.md, its picture docs/reference/sufficient-statistics-rate.svg.  Tables
are drawn anew in every repetition, with noise of the laws that releases have.  Deterministic: seeds are constants.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from pages import asked, put

import tacit as tc
from tacit import families
from tacit.method.shared.measurement import Public
from tacit.method.sufficient_statistics.combine import common
from tacit.models.likelihood import Likelihood
from tacit.pooling.common_value import pooled
from tacit.pooling.released_evidence import evidence
from tacit.testing.simulated_parties import Answer, answers, repetition

DOCS = Path(__file__).parents[1] / "docs" / "reference"
PAGE, PICTURE = DOCS / "sufficient-statistics.md", DOCS / "sufficient-statistics-rate.svg"
SELF = "sufficient_statistics.py"


@dataclass(frozen=True)
class Case:
    """A family, the parameters that rows are drawn with, the bounds that clamp them."""

    family: Likelihood
    truth: tuple[float, ...]
    column: Any
    bounds: dict[str, Any]

    @property
    def name(self) -> str:
        return type(self.family).__name__

    @property
    def query(self) -> tc.SufficientStatistics:
        return tc.SufficientStatistics("x", self.family, bounds=self.bounds)

    @property
    def schema(self) -> tc.Schema:
        return tc.Schema({"x": self.column})

    def draw(self, rng: np.random.Generator, rows: int) -> Any:
        return self.family.sample(self.truth, rows, rng)

    @property
    def clamped(self) -> str:
        """Return the share of the rows beyond the bounds of each statistic, from a million draws."""
        from tacit.models.mean_map import mean_map
        from tacit.testing.simulate import shaped

        shape = shaped(self.query, self.schema, "replace-one", 100, tc.Cost.of(epsilon=1))
        boxes = tuple((c.grid.lower, c.grid.upper) for c in shape.columns if c.grid is not None)
        x, beyond = self.draw(np.random.default_rng(0), 1_000_000), []
        for one, own in zip(mean_map(self.family, boxes).statistics, boxes, strict=True):
            low, high = one.row_bounds(one.inner_bounds(own))
            beyond.append(100 * float(np.mean((x < low) | (x > high))))
        return ", ".join(f"{part:.1f}" for part in beyond)


CASES = (
    Case(families.Bernoulli(p=(0.01, 0.99)), (0.3,), tc.Boolean(), {}),
    Case(families.Poisson(mean=(0.2, 20)), (4.0,), tc.Integer(0, 6), {}),
    Case(families.Exponential(rate=(0.1, 10)), (1.0,), tc.Real(0, 2), {}),
    Case(families.Normal(mean=(-5, 5), sd=(0.2, 5)), (0.5, 1.0), tc.Real(-1.5, 2), {}),
    Case(families.Gamma(shape=(0.5, 8), rate=(0.2, 8)), (2.0, 1.5), tc.Real(0, 3), {"log(x)": (-2, 1.2)}),
    Case(
        families.Beta(a=(0.3, 20), b=(0.3, 20)), (2.0, 5.0), tc.Real(0, 1), {"log(x)": (-3, 0), "log(1 - x)": (-0.8, 0)}
    ),
    Case(families.Lognormal(mean=(-2, 2), sd=(0.2, 3)), (0.3, 0.8), tc.Real(), {"log(x)": (-1, 2)}),
)
PRICES = (
    (1_000, {"epsilon": 1}, "replace-one"),
    (10_000, {"epsilon": "0.5"}, "replace-one"),
    (10_000, {"rho": "0.02"}, "add-remove"),
)


def price_words(price: dict[str, Any]) -> str:
    return ", ".join(f"{'ε' if name == 'epsilon' else 'ρ'} = {value}" for name, value in price.items())


def one_party(repeats: int) -> str:
    """Coverage of one party's estimates, with bounds that clamp many rows."""
    lines = [
        "| family | clamped, % | n | price | relation | parameter | bias ÷ SD | SE ÷ SD | coverage, % | width |",
        "| :--- | ---: | ---: | :--- | :--- | :--- | ---: | ---: | ---: | ---: |",
    ]
    for i, case in enumerate(CASES):
        for j, (rows, price, relation) in enumerate(PRICES):
            made = tc.testing.coverage(
                case.query,
                lambda rng, case=case, rows=rows: {"x": case.draw(rng, rows)},
                case.truth,
                schema=case.schema,
                repeats=repeats,
                rng=100 * i + j,
                neighbors=relation,
                **price,
            )
            for t, term in enumerate(made.terms):
                lines.append(
                    f"| {case.name} | {case.clamped} | {rows:,} | {price_words(price)} | {relation} | {term} | "
                    f"{made.bias[t] / made.std_deviation[t]:.2f} | {made.ratio[t]:.2f} | "
                    f"{100 * made.coverage[t]:.1f} ± {200 * made.coverage_error[t]:.1f} | "
                    f"{made.relative_width[t]:.2f} |"
                )
            print(lines[-1], flush=True)
    return f"""## One party

{repeats:,} repetitions a line; ± is twice the Monte-Carlo error. *Clamped*: rows beyond the bounds of each statistic.
*Width*: mean width of the intervals, those of the same estimator without noise being 1.

{chr(10).join(lines)}"""


# Many parties -------------------------------------------------------------------------------------------------------


def prices(epsilons: Sequence[float]) -> list[dict[str, Any]]:
    return [{"epsilon": f"{e:.6g}"} for e in epsilons]


@dataclass(frozen=True)
class Found:
    """Estimates of R studies, shape (R, p), their standard errors, and whether intervals hold the truth."""

    value: Any
    error: Any
    hit: Any


def studies(
    case: Case, query: Any, sizes: Sequence[int], paid: list[dict[str, Any]], relation: str, repeats: int, seed: int
) -> Found:
    """Studies by the code that combines releases."""

    def values(rng: np.random.Generator, party: int, r: int, rows: int) -> Any:
        return case.draw(rng, r * rows).reshape(r, rows)

    value, error, hit = [], [], []
    step = max(1, 20_000_000 // max(sizes))
    for start in range(0, repeats, step):
        now = min(step, repeats - start)
        given = answers(query, case.schema, values, sizes, paid, neighbors=relation, repeats=now, rng=seed + start)
        if len(case.truth) == 1:
            for whole, one in zip((value, error, hit), at_once(case, given), strict=True):
                whole += list(one[:, None])
            continue
        for i in range(now):
            block, _, _ = common(repetition(given, i), range(len(sizes)), True)
            low, high = block.inversion.interval(0.95)
            value.append(block.value)
            error.append(np.sqrt(block.sampling_variance + block.privacy_variance))
            hit.append((low <= case.truth) & (np.array(case.truth) <= high))
    return Found(np.array(value), np.array(error), np.array(hit))


def at_once(case: Case, given: Any) -> tuple[Any, Any, Any]:
    """The same for one parameter: the interval contains the true value where that of the pooled mean contains
    m(truth).
    """
    from tacit.method.sufficient_statistics.estimate import box_of
    from tacit.models.mean_map import mean_map

    made = pooled(evidence(given, 0))
    map_ = mean_map(case.family, (box_of(given[0].parts[0]),))
    true = map_.at(np.array(case.truth))
    low, high = made.interval(0.95)
    sd = np.sqrt(made.variance + made.noise) * made.evidence.scale
    found = [map_.solve(np.array([m]), np.array([e]), true.theta) for m, e in zip(made.value, sd, strict=True)]
    slope = np.abs(np.array([one.slope[0, 0] for one in found]))
    return np.array([one.theta[0] for one in found]), sd / slope, (low <= true.mean[0]) & (true.mean[0] <= high)


SPREAD = tuple(int(n) for n in np.geomspace(100, 30_000, 10))
STUDIES = (
    ("20 of 300, ε = 0.5", (300,) * 20, (0.5,) * 20),
    ("40 of 100, ε = 0.5", (100,) * 40, (0.5,) * 40),
    ("10, 100 to 30,000, ε = 0.2", SPREAD, (0.2,) * 10),
    ("6 of 1,000, ε 0.2 to 2", (1_000,) * 6, (0.2, 0.5, 1, 1, 2, 2)),
)


COMBINED = ("Bernoulli", "Exponential", "Normal", "Gamma")


def common_law(repeats: int) -> str:
    """Coverage of combined parameters, parties having one law: families of one parameter."""
    return f"""## Many parties, one law

Noisy statistics are pooled, with weights inverse to their variances, and inverted once. {repeats:,} repetitions a line.

{combined_lines(repeats, 1)}"""


def common_two(repeats: int) -> str:
    """The same for families of two parameters."""
    return f"""## Many parties, one law of two parameters

As above, {repeats:,} repetitions a line: both statistics are pooled, each with weights of its own.

{combined_lines(repeats, 2)}"""


def combined_lines(repeats: int, parameters: int) -> str:
    lines = [
        "| family | parties | relation | parameter | bias ÷ SD | SE ÷ SD | coverage, % |",
        "| :--- | :--- | :--- | :--- | ---: | ---: | ---: |",
    ]
    for i, case in enumerate(case for case in CASES if case.name in COMBINED):
        if len(case.truth) != parameters:
            continue
        for j, (words, sizes, epsilons) in enumerate(STUDIES):
            relation = ("replace-one", "add-remove")[(i + j) % 2]
            seed = 7_000 + 100_000 * i + 10_000 * j
            made = studies(case, case.query, sizes, prices(epsilons), relation, repeats, seed)
            sd = made.value.std(axis=0, ddof=1)
            for t, term in enumerate(case.family.names):
                share = float(made.hit[:, t].mean())
                lines.append(
                    f"| {case.name} | {words} | {relation} | {term} | "
                    f"{(made.value[:, t].mean() - case.truth[t]) / sd[t]:.2f} | "
                    f"{made.error[:, t].mean() / sd[t]:.2f} | "
                    f"{100 * share:.1f} ± {200 * math.sqrt(share * (1 - share) / repeats):.1f} |"
                )
            print(lines[-1], flush=True)
    return "\n".join(lines)


def shares(sizes: Sequence[int], epsilon: float, share: float, method: str, repeats: int, seed: int) -> Any:
    """Combined shares of Bernoulli rows, shape (repeats,), by the weights of a study.

    The integer that is released of such a column is its number of ones, so that is what is drawn; and m(p) = p.
    """
    from tacit.curator.mechanisms import design
    from tacit.method.shared.simulated_parts import empty_parts

    rng, given = np.random.default_rng(seed), []
    query = tc.SufficientStatistics("x", families.Bernoulli(p=(1e-4, 1 - 1e-4)), method=method)
    for party, rows in enumerate(sizes):
        cost = tc.Cost.of(epsilon=f"{epsilon:.6g}")
        schema = tc.Schema({"x": tc.Boolean(missing=False)})
        shape = design(query, Public(schema, "replace-one", rows), cost)
        (part,) = empty_parts(shape)
        assert part.form == "binary-plain"
        noisy = rng.binomial(rows, share, repeats) + part.law.sample(repeats, rng)
        part = replace(part, integers=tuple((k,) for k in noisy.tolist()))
        given.append(Answer(query, f"party {party}", "replace-one", rows, (part,), cost))
    return pooled(evidence(given, 0)).value


def unequal(repeats: int) -> str:
    """Mean squared error beside the bound of all rows pooled, sizes being very different."""
    lines = [
        "| share | ε | equal weights | weights ∝ rows | weights inverse to the variances |",
        "| ---: | ---: | ---: | ---: | ---: |",
    ]
    for share in (0.3, 0.0918):  # the second has the variance of values spread evenly over [0, 1], as in theory §6
        own = share * (1 - share)
        for epsilon in (0.05, 0.2, 1.0):
            n = np.array(SPREAD, dtype=float)
            seed = 90_000 + round(1_000_000 * share) + round(100 * epsilon)
            mse = float(((shares(SPREAD, epsilon, share, "direct", repeats, seed) - share) ** 2).mean())
            v, bound = own / n + 2 / (n * epsilon) ** 2, own / n.sum()
            others = [float((w**2 * v).sum() / w.sum() ** 2) / bound for w in (np.ones(10), n)]
            error = 2 * mse / bound * math.sqrt(2 / repeats)
            lines.append(
                f"| {share:g} | {epsilon:g} | {others[0]:.4g} | {others[1]:.3f} | **{mse / bound:.3f}** ± {error:.3f} |"
            )
            print(lines[-1], flush=True)
    return f"""## Parties of unequal sizes

Ten parties of 100 to 30,000 rows, a Bernoulli share, replace-one. Mean squared error ÷ the Cramér–Rao bound of all rows
pooled without noise: simulated ({repeats:,} repetitions) for the weights that are used, by formula for the others.

{chr(10).join(lines)}"""


# The rate, corrected and as printed ---------------------------------------------------------------------------------

P, M, N = 0.3, 20, 10_000
POWERS = (-0.75, -0.625, -0.5, -0.375, -0.25)


def corrected(epsilon: float) -> float:
    """MSE M N I of the corrected Theorem 3.3, I = p (1 - p) that of the natural parameter (errata E16)."""
    return 1 + 2 / (P * (1 - P) * N * epsilon**2)


def printed(epsilon: float) -> float:
    """Return the same by Theorem 3.3 as it is printed."""
    information = P * (1 - P)
    return 1 + 32**0.25 * math.sqrt(information / (N * epsilon)) + math.sqrt(2) * information / (N * epsilon)


def over_noised(epsilon: float) -> float:
    """MSE M N I with the noise of Algorithm 3 as printed, of blocks by the published rule (errata E15)."""
    from tacit.method.shared.block_numbers import published_blocks

    wider = N / published_blocks(N, epsilon)
    return 1 + 2 * wider**2 / (P * (1 - P) * N * epsilon**2)


def rate(repeats: int) -> str:
    """Bernoulli 0.3, M = 20, N = 10,000: the mean squared error over epsilon, beside both rates."""
    lines = [
        "| ε | simulated | corrected rate | rate as printed | noise as printed, simulated |",
        "| ---: | ---: | ---: | ---: | ---: |",
    ]
    shown: list[tuple[float, float]] = []
    for i, epsilon in enumerate((*(N**power for power in POWERS), 0.5)):
        seeds = enumerate(("direct", "chen-sung"), 300 + 10 * i)
        found = [shares((N,) * M, epsilon, P, method, repeats, seed) for seed, method in seeds]
        ratio, wide = (float(((one - P) ** 2).mean()) * M * N / (P * (1 - P)) for one in found)
        words = f"N^{POWERS[i]:g} = {epsilon:.3g}" if i < len(POWERS) else f"{epsilon:g}"
        lines.append(
            f"| {words} | **{ratio:.4g}** ± {2 * ratio * math.sqrt(2 / repeats):.2g} | {corrected(epsilon):.4g} | "
            f"{printed(epsilon):.3g} | {wide:.4g} |"
        )
        shown.append((epsilon, ratio))
        print(lines[-1], flush=True)
    PICTURE.write_text(svg(shown), encoding="utf-8")
    return f"""## The rate, corrected and as printed

Bernoulli, p = {P}, {M} parties of {N:,} rows; mean squared error × M N I, 1 being the best there is without
privacy; {repeats:,} repetitions. The corrected rate is 1 + 2Λ²/(I N ε²); what is printed takes the standard deviation
of the noise for its variance (errata E16). Noise as printed (`method="chen-sung"`, errata E15) is that of the mean of k
blocks.

![Mean squared error over epsilon](sufficient-statistics-rate.svg)

{chr(10).join(lines)}"""


def svg(shown: Sequence[tuple[float, float]]) -> str:
    """Both rates and the simulated errors, on logarithmic axes."""
    low, high, top, wide, tall, edge = N**-0.8, 0.6, 3_000.0, 560, 340, 52

    def at(epsilon: float, ratio: float) -> tuple[float, float]:
        x = edge + (wide - edge - 12) * math.log(epsilon / low) / math.log(high / low)
        return x, tall - 40 - (tall - 56) * math.log(max(ratio, 0.9) / 0.9) / math.log(top / 0.9)

    def line(rate: Callable[[float], float], color: str, dash: str) -> str:
        grid = np.geomspace(low, high, 80)
        points = " ".join("{:.1f},{:.1f}".format(*at(float(e), rate(float(e)))) for e in grid)
        return f'<polyline points="{points}" fill="none" stroke="{color}" stroke-width="2" stroke-dasharray="{dash}"/>'

    def text(x: float, y: float, words: str, anchor: str = "middle") -> str:
        return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{words}</text>'

    marks = [f'<circle cx="{at(*one)[0]:.1f}" cy="{at(*one)[1]:.1f}" r="4" fill="#222"/>' for one in shown]
    ticks = [
        f'<line x1="{edge}" x2="{wide - 12}" y1="{at(low, y)[1]:.1f}" y2="{at(low, y)[1]:.1f}" stroke="#ddd"/>'
        + text(edge - 6, at(low, y)[1] + 4, f"{y:,.0f}", "end")
        for y in (1.0, 10.0, 100.0, 1000.0)
    ]
    ticks += [
        text(at(e, 1)[0], tall - 22, words)
        for e, words in zip((N**-0.75, N**-0.5, N**-0.25, 0.5), ("N^-3/4", "N^-1/2", "N^-1/4", "0.5"), strict=True)
    ]
    keys = [
        ("simulated", '<circle cx="{x}" cy="{y}" r="4" fill="#222"/>'),
        ("corrected: 1 + 2Λ²/(INε²)", '<line x1="{a}" x2="{b}" y1="{y}" y2="{y}" stroke="#0b6e99" stroke-width="2"/>'),
        (
            "as printed",
            '<line x1="{a}" x2="{b}" y1="{y}" y2="{y}" stroke="#c0392b" stroke-width="2" stroke-dasharray="6 4"/>',
        ),
    ]
    legend = [
        mark.format(x=wide - 222, a=wide - 234, b=wide - 210, y=30 + 20 * i)
        + text(wide - 202, 34 + 20 * i, words, "start")
        for i, (words, mark) in enumerate(keys)
    ]
    body = "".join([*ticks, line(corrected, "#0b6e99", ""), line(printed, "#c0392b", "6 4"), *marks, *legend])
    title = text(wide / 2, tall - 4, "ε of each of 20 parties of 10,000 rows")
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {wide} {tall}" width="{wide}" height="{tall}" '
        f'font-family="sans-serif" font-size="12" fill="#222" role="img" '
        f'aria-label="MSE times MNI over epsilon: simulated, corrected rate, printed rate">'
        f'<rect width="{wide}" height="{tall}" fill="#fff"/>{body}{title}</svg>\n'
    )


# Sample and aggregate over parties ----------------------------------------------------------------------------------


def blocks(repeats: int) -> str:
    """Exponential, N = 10,000, M = 50, epsilon = 1: the error of averaged blocks, by how many there are."""
    from tacit.curator.mechanisms import design
    from tacit.method.blocks.design import BlockPlan
    from tacit.models.blocks import block_mle

    family, rate_, parties, rows = families.Exponential(rate=(0.2, 5)), 1.0, 50, 10_000
    lines = [
        "| number of blocks | k | rows of a block | MSE × M N I |",
        "| :--- | ---: | ---: | ---: |",
    ]
    for i, (words, more) in enumerate(
        (
            ("right for 50 parties (`parties=50`)", {"parties": parties}),
            ("right for one party", {"method": "tuned"}),
            ('as printed for one party (`method="smith"`, E3)', {"method": "smith"}),
            ('as printed for 50 (`method="chen-sung"`, E18)', {"method": "chen-sung", "parties": parties}),
            ("the first, with independent labels", {"parties": parties}),
        )
    ):
        query, equal = tc.SampleAndAggregate("x", family, bias="cox-snell", **more), not words.endswith("labels")
        cost = tc.Cost.of(epsilon=1)
        shape = design(query, Public(tc.Schema({"x": tc.Real()}), "replace-one", rows), cost)
        k = shape.blocks.blocks if isinstance(shape.blocks, BlockPlan) else 0
        (column,), rng = shape.columns, np.random.default_rng(500 + i)
        estimates, scores = list[np.ndarray](), list[np.ndarray]()
        for _ in range(repeats // CHUNK):
            sizes = rows // k + (np.arange(CHUNK) < CHUNK * (rows / k % 1)) if equal else rng.poisson(rows / k, CHUNK)
            room = int(sizes.max())
            x = np.where(np.arange(room) < sizes[:, None], rng.standard_exponential((CHUNK, room)), 0.0)
            estimates.append(block_mle(family, x, sizes, bias=query.bias).values[:, 0] - rate_)
            scores.append(sizes - x.sum(axis=1))
        found, score = np.concatenate(estimates), np.concatenate(scores)
        left = found - score * (np.cov(found, score)[0, 1] / score.var(ddof=1))  # the mean of scores is 0
        bias, error = float(left.mean()), float(left.std() / math.sqrt(len(left)))
        load = (family.upper[0] - family.lower[0]) / column.form.parameters["G"] / k
        mse = max(bias**2 - error**2, 0) + found.var() / (parties * k) + load**2 * column.law.variance() / parties
        off = (4 * abs(bias) * error + 4 * error**2) * parties * rows
        lines.append(f"| {words} | {k:,} | {rows / k:.0f} | **{mse * parties * rows:.2f}** ± {off:.2f} |")
        print(lines[-1], flush=True)
    return f"""## Blocks for many parties

Exponential law, rate 1 in a box of 0.2 to 5, 50 parties of 10,000 rows, ε = 1: mean squared error × M N I of averages
of releases of `SampleAndAggregate`: bias and variance of a block's estimate from {repeats:,} blocks, noise by its law;
± is what the bias, corrected by the score as control variate, may be off by. The number of rows is public, and blocks
are of equal size, as in theory §6 (1.70); the last line shows what independent labels cost, which blocks have where it
is private. Statistics (above) need no blocks, and do far better where the family has them.

{chr(10).join(lines)}"""


PARTS: dict[str, Callable[[int], str]] = {
    "one": one_party,
    "common": common_law,
    "two": common_two,
    "unequal": unequal,
    "rate": rate,
    "blocks": blocks,
}
CHUNK = 50_000
FAST = 100_000
"""Repetitions of the parts that are one array computation."""


def main() -> None:
    given = asked(__doc__, PARTS, 1_000)  # repeats of the parts `one`, `common` and `two`
    for part in given.parts:
        repeats = given.repeats if part in ("one", "common", "two") else FAST * (10 if part == "blocks" else 1)
        text = PARTS[part](repeats // (20 if given.quick else 1))
        if given.quick:
            print(text)
        else:
            put(PAGE, f"{SELF} {part}", text)


if __name__ == "__main__":
    main()
