"""Averaged Laplace noise: docs/reference/averaged-laplace.md, with Figure 3 of Brawner & Honaker 2018 drawn again.

    python benchmarks/averaged_laplace.py [--samples 2000]

Normality is tested as the paper does: samples of 100 averages of k Laplace draws, at 5%; and pairs of samples, one
normal and one of averages, of which the Shapiro-Wilk and the Anderson-Darling statistic take one for the normal one.
Seeds are constant.
"""

from __future__ import annotations

import argparse
import warnings
from fractions import Fraction
from pathlib import Path

import numpy as np
from scipy import stats

from tacit.noise.averaged_laplace import AveragedLaplace, least_variance_draws
from tacit.privacy.gaussian import epsilon_delta_to_mu_squared

PAGE = Path(__file__).parents[1] / "docs" / "reference" / "averaged-laplace.md"
PICTURE = PAGE.with_suffix(".svg")
SIZE = 100
DRAWS = (1, 2, 3, 4, 5, 6, 8, 10, 12, 15, 20)
EPSILONS = ("1/10", "1/2", "1", "2")
DELTAS = ("1e-5", "1e-6", "1e-9", "1e-12")
WIDE = Fraction(10**6)
CRITICAL = 2
"""Place of the 5% point among the critical values of scipy's Anderson-Darling test."""
INTRO = """# Averaged Laplace noise

Brawner & Honaker (2018, section 4) average k Laplace releases of ε / k each, for noise that is nearly normal at a pure
price. In integers it is the sum of k discrete Laplace draws of scale Δ/ε: the first is a release at ε, and the others
do not depend on the rows, so that they are post-processing. `tacit.noise.averaged_laplace` has the exact law of the
sum. `Count`, `Sum` and `Mean` have this noise where it is asked for (`laplace_draws=10`, at a price in epsilon), and
only for its shape: at the same ε a single draw has a k-th of the variance, and the first table shows how few draws
have less than normal noise. Intervals of one integer's noise are by the exact law; where several noises or a sampling
error come together, by a normal and a Laplace variable of the same variance and kurtosis, widened so that they are not
narrower. Written by `python benchmarks/averaged_laplace.py`.
"""
VARIANCE = """## What it costs

The most draws whose sum has less variance than normal noise of the same (ε, δ); in brackets what the paper says,
k < ln(1.25/δ). One draw always has less than several. About ten draws are needed for a normal shape (below), so that
hardly any number of draws has both, against normal noise that is calibrated exactly, at δ = 10⁻⁵ or 10⁻⁶.
"""
NORMALITY = """## Its shape

Share of samples of 100 in which a test at 5% keeps normality, and of pairs in which its statistic tells the normal
sample from the other; at 95% and 50% nothing is told. The paper's figures for ten draws are 90.8 and 92.7%, and below
55%. *Tail*: P(|Z| > 1.96 standard deviations), by the exact law.

![Normality of averages of Laplace draws](averaged-laplace.svg)
"""


def statistics(sample: np.ndarray) -> tuple[float, bool, float, bool]:
    """Return W and whether Shapiro and Wilk keep normality, then A² and whether Anderson and Darling do."""
    w = stats.shapiro(sample)
    with warnings.catch_warnings():
        # of a change of scipy's result object; the fields that are used stay
        warnings.simplefilter("ignore")
        a = stats.anderson(sample)
    return (
        float(w.statistic),
        bool(w.pvalue > 0.05),
        float(a.statistic),
        bool(a.statistic < a.critical_values[CRITICAL]),
    )


def normality(k: int, samples: int) -> tuple[float, float, float, float]:
    """Return shares kept by Anderson-Darling and Shapiro-Wilk, and shares of pairs told apart, in the same order."""
    rng = np.random.default_rng(k)
    found = []
    for _ in range(samples):
        sums = rng.laplace(size=(SIZE, k)).sum(axis=1)
        w, w_kept, a, a_kept = statistics(sums)
        normal_w, _, normal_a, _ = statistics(rng.standard_normal(SIZE))
        found.append((a_kept, w_kept, normal_a < a, normal_w > w))
    return tuple(np.mean(found, axis=0).tolist())  # pyright: ignore


def picture(shares: np.ndarray) -> None:
    """Draw the two panels of the paper's figure."""
    import matplotlib as mpl

    mpl.use("svg")
    # no date and no random names, so that the file is the same on every run
    mpl.rcParams["svg.hashsalt"] = "averaged-laplace"
    from matplotlib import pyplot as plt

    figure, panels = plt.subplots(2, 1, figsize=(6, 6), sharex=True)
    titles = ("Samples in which normality is kept", "Pairs in which the normal sample is told")
    for panel, title, first, level in zip(panels, titles, (0, 2), (0.95, 0.5), strict=True):
        panel.plot(DRAWS, shares[:, first], "o-", label="Anderson–Darling")
        panel.plot(DRAWS, shares[:, first + 1], "s--", label="Shapiro–Wilk")
        panel.axhline(level, color="grey", linewidth=0.8)
        panel.set_ylim(0, 1)
        panel.set_title(title, loc="left", fontsize=10)
    panels[0].legend(frameon=False)
    panels[1].set_xlabel("Laplace draws in an average")
    figure.tight_layout()
    figure.savefig(PICTURE, metadata={"Date": None})


def main() -> None:
    asked = argparse.ArgumentParser(description=__doc__)
    asked.add_argument("--samples", type=int, default=2_000)
    samples = asked.parse_args().samples
    lines = [INTRO, VARIANCE]
    lines += ["| δ | " + " | ".join(f"ε = {float(Fraction(e)):g}" for e in EPSILONS) + " | as printed |"]
    lines += ["|---|" + "---:|" * (len(EPSILONS) + 1)]
    for delta in DELTAS:
        most = [
            least_variance_draws(float(Fraction(e)), float(epsilon_delta_to_mu_squared(Fraction(e), delta)))
            for e in EPSILONS
        ]
        lines.append(f"| {delta} | {' | '.join(map(str, most))} | ({int(np.log(1.25 / float(delta)))}) |")
    lines += [
        "",
        NORMALITY,
        "| k | Anderson–Darling keeps, % | Shapiro–Wilk keeps, % | told apart, % | told apart, % | tail, % |",
    ]
    lines += ["|---:|---:|---:|---:|---:|---:|"]
    shares = np.array([normality(k, samples) for k in DRAWS])
    for k, row in zip(DRAWS, shares, strict=True):
        law = AveragedLaplace(WIDE, k)
        tail = 2 * float(law.sf(1.959963984540054 * law.variance() ** 0.5))
        lines.append(f"| {k} | " + " | ".join(f"{100 * one:.1f}" for one in row) + f" | {100 * tail:.2f} |")
    error = 100 * (0.25 / samples) ** 0.5
    lines += ["", f"{samples:,} samples, and as many pairs, for each k; standard errors are at most {error:.1f}%."]
    PAGE.write_text("\n".join(lines) + "\n", encoding="utf-8")
    picture(shares)


if __name__ == "__main__":
    main()
