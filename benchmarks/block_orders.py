"""Every parameter of blocks: coverage by default, also near an end of its box; a part of docs/reference/blocks.md.

    python benchmarks/block_orders.py [--quick] [--models Laplace …]

Pools of blocks and releases are those of `blocks_study.py`, 30,000 blocks a pool.  v and b stand beside the constants
of the families (`Order`), which say how many blocks there are.  Half an hour on one core; seeds are constants.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

import numpy as np
from blocks_study import Case, Scale, asked, by_blocks, pool
from pages import put

from tacit import families

PAGE = Path(__file__).parents[1] / "docs" / "reference" / "blocks.md"
ROWS, EPSILON = 100_000, 1.0
FULL, QUICK = Scale(30_000, 4_000_000, 2_000, 0), Scale(2_000, 200_000, 200, 0)
GAMMA = families.Gamma(shape=(0.5, 5), rate=(0.2, 5))
LAPLACE = families.Laplace(location=(-3, 3), scale=(0.2, 5))
STUDENT = families.StudentT(location=(-3, 3), scale=(0.2, 5), df=(1, 10))
COUNTS = families.NegativeBinomial(mean=(0.5, 10), dispersion=(0.05, 3))
MIXTURE = families.NormalMixture(share=(0.05, 0.95), mean1=(-5, 5), mean2=(-5, 5), sd1=(0.2, 3), sd2=(0.2, 3))
LOGISTIC = families.LogisticRegression(1, intercept=(-4, 4), slopes=[(-3, 3)])
THREE = families.LogisticRegression(3, intercept=(-4, 4), slopes=[(-3, 3)] * 3)
POISSON = families.PoissonRegression(1, intercept=(-3, 3), slopes=[(-2, 2)])
LINEAR = families.LinearRegression(2, intercept=(-3, 3), slopes=[(-3, 3)] * 2, sd=(0.2, 5))
PLANE = families.MultivariateNormal(2, means=(-3, 3), sds=(0.2, 5), correlations=(-0.95, 0.95))
CASES = (
    *((GAMMA, truth) for truth in ((2.0, 1.5), (4.0, 2.0), (0.7, 1.0), (2.0, 4.0))),
    *((families.Weibull(shape=(0.5, 4), scale=(0.2, 5)), truth) for truth in ((1.5, 1.0), (3.6, 4.5), (0.55, 0.3))),
    *((families.Beta(a=(0.5, 10), b=(0.5, 10)), truth) for truth in ((2.0, 3.0), (8.0, 3.0), (0.7, 0.7))),
    *((families.Exponential(rate=(0.2, 5)), (rate,)) for rate in (1.0, 4.0, 0.25)),
    *((families.Pareto(shape=(0.5, 5)), (shape,)) for shape in (2.0, 4.2)),
    *((families.Normal(mean=(-3, 3), sd=(0.2, 5)), truth) for truth in ((0.5, 1.0), (2.8, 1.0), (0.0, 4.5))),
    *((LAPLACE, truth) for truth in ((0.5, 1.0), (2.8, 1.0), (0.0, 4.3))),
    *((STUDENT, (0.5, 1.0, df)) for df in (1.7, 3.0, 5.0)),
    (families.StudentT(location=(-3, 3), scale=(0.2, 5), df=5), (0.5, 1.0)),
    *((COUNTS, truth) for truth in ((3.0, 0.5), (1.0, 0.3), (8.5, 2.3), (3.0, 0.1))),
    *((families.Poisson(mean=(0.2, 20)), (mean,)) for mean in (3.0, 0.3, 18.5)),
    *((families.Bernoulli(p=(0.05, 0.95)), (p,)) for p in (0.3, 0.08)),
    (PLANE, (0.0, 1.0, 1.0, 2.0, 0.6)),
    (MIXTURE, (0.4, -1.0, 1.5, 0.7, 0.7)),
    *((LOGISTIC, truth) for truth in ((0.5, 1.0), (-2.0, 1.0))),
    (THREE, (0.5, 1.0, -0.5, 0.0)),
    *((POISSON, truth) for truth in ((0.5, 0.3), (-1.0, 0.5))),
    (LINEAR, (1.0, 0.5, -0.5, 1.0)),
)
HEAD = (
    "| model | parameter | true | blocks | rows | v (taken) | b (taken) | bias ÷ SD | SE ÷ SD | coverage, % | width "
    "| no answer, % |\n|---|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|"
)
WORDS = f"""## Every parameter

All parameters of a model at once by default, {ROWS:,} rows, ε = {EPSILON:g} in all; also where a parameter is near an
end of its box, and many blocks beyond it. 2,000 releases a row (coverage ± 1.0 %); *width*: of the 95% interval over
that of the bound of all rows without privacy. v and b: the variance of an estimate from t rows is
(1 / tI)(1 + v / t), its bias b / (t² √I); in brackets what the family takes them for, which decides how many blocks
there are. *b* holds what the clamp to the box does to one block; *bias ÷ SD* is that of blocks, the clamp undone as in
a release, and known to ± √(k / 30,000) or better. *No answer*: more than a fifth of the blocks seem to be beyond an
end, and a reason stands in place of the interval; these releases count nowhere else.
"""


def line(case: Case, k: int, scale: Scale) -> str:
    """Return the table line of one parameter."""
    t, order = ROWS / k, case.model.order(case.shown)
    values, unit = pool(case, ROWS, k, "cox-snell", scale)[:, case.place], np.sqrt(case.bound(1))
    truth = case.truth[case.place]
    v, b = (values.var() / unit**2 * t - 1) * t, (values.mean() - truth) / unit * t**2
    # two standard errors of both, the second from what the control variate leaves: about v / t of the variance
    error = 2 * t * np.sqrt(max(abs(v), 1.0) / len(values))
    cells = [case.name, case.shown, f"{truth:g}", f"{k:,}", f"{t:.0f}", f"{v:.1f} ({order.v:g})"]
    cells += [f"{b:.1f} ± {error:.1f} ({order.b:g})"]
    made = by_blocks(case, ROWS, EPSILON, k, "cox-snell", scale)
    if "bias" in made:
        cells += [
            f"{made['bias']:+.2f}",
            f"{made['errors']:.2f}",
            f"{100 * made['coverage']:.1f}",
            f"{made['width']:.2f}",
        ]
    else:
        cells += ["–"] * 4
    cells.append(f"{100 * made['silent']:.0f}")
    return f"| {' | '.join(cells)} |"


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--quick", action="store_true", help="small pools, and no page")
    parser.add_argument("--models", nargs="*", default=[], help="these alone; lines are those of a whole run; no page")
    given = parser.parse_args()
    quick = given.quick
    start, lines = time.monotonic(), [f"{WORDS}\n{HEAD}"]
    for model, truth in CASES:
        if given.models and type(model).__name__ not in given.models:
            continue
        k = asked(Case(model, truth, model.names[0]), ROWS, EPSILON).blocks.blocks
        for name in model.names:
            lines.append(line(Case(model, truth, name), k, QUICK if quick else FULL))
            print(f"{time.monotonic() - start:5.0f} s  {lines[-1]}", file=sys.stderr, flush=True)
    print("\n".join(lines))
    if not quick and not given.models:
        put(PAGE, "block_orders.py", "\n".join(lines))


if __name__ == "__main__":
    main()
