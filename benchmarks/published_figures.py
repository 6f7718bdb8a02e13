"""Pictures of `bootstrap_as_published.py`: each figure of the paper, "as published", beside what is right."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np
from published_numbers import KINDS, NUMBERS, REPLICATES, ROWS, Floats, Replicates, one_shot, renyi
from scipy import stats

COLOURS: Final = ("tab:red", "tab:blue", "tab:green")
PUBLISHED: Final = "as published: "
RIGHT: Final = "what is right: "


def panels(rows: int, columns: int, height: float = 3.2) -> tuple[Any, Any, Any]:
    """Return the module, a figure and its panels; no date and no random names are in the files."""
    import matplotlib as mpl

    mpl.use("svg")
    mpl.rcParams["svg.hashsalt"] = "bootstrap-as-published"
    from matplotlib import pyplot as plt

    figure, made = plt.subplots(rows, columns, figsize=(4.6 * columns, height * rows), squeeze=False)
    return plt, figure, made


def saved(plt: Any, figure: Any, path: Path) -> None:
    """Write a figure."""
    figure.tight_layout()
    figure.savefig(path, metadata={"Date": None})
    plt.close(figure)


def titled(panel: Any, title: str, x: str, y: str = "") -> None:
    """Give a panel its words."""
    panel.set_title(title, loc="left", fontsize=9)
    panel.set_xlabel(x, fontsize=8)
    panel.set_ylabel(y, fontsize=8)
    panel.tick_params(labelsize=8)


def attack(path: Path, largest: float, epsilons: Sequence[float]) -> None:
    """§2.1: what the difference of two published means tells of Alice's score, without and with noise."""
    plt, figure, ((left, right),) = panels(1, 2)
    left.axvline(0, color="tab:red", linewidth=2)
    titled(left, f"{PUBLISHED}means without noise", "error of the score found, points")
    x = np.linspace(-largest, largest, 801)
    for epsilon in epsilons:
        scale = largest / epsilon
        # the density of the difference of two Laplace draws
        y = (1 + np.abs(x) / scale) * np.exp(-np.abs(x) / scale) / (4 * scale)
        right.plot(x, y, label=f"ε = {epsilon:g} each")
    titled(right, f"{RIGHT}sums with Laplace noise", "error of the score found, points", "density")
    left.set_xlim(-largest, largest)
    left.set_yticks([])
    right.legend(frameon=False, fontsize=8)
    saved(plt, figure, path)


def laplace_pair(path: Path) -> None:
    """Figure 1: two Laplace laws, and the log of their ratio, which is within ε."""
    plt, figure, ((left, right),) = panels(1, 2)
    x = np.linspace(-2, 4, 1201)
    first, second = stats.laplace.pdf(x, 0.5, 0.5), stats.laplace.pdf(x, 1.5, 0.5)
    left.plot(x, first, label="M(X)")
    left.plot(x, second, label="M(X′)")
    left.legend(frameon=False, fontsize=8)
    titled(left, f"Figure 1, {PUBLISHED}two tables, Δ = 1, ε = 2", "estimate", "density")
    right.plot(x, np.log(first / second))
    for end in (-2, 2):
        right.axhline(end, color="grey", linewidth=0.8)
    titled(right, f"{RIGHT}it holds, the loss stays within ±ε", "estimate", "privacy loss")
    saved(plt, figure, path)


def draws_below_normal(path: Path, deltas: Floats, exact: Mapping[str, Floats]) -> None:
    """Figure 2: ln(1.25 / delta), and below how many draws an average of Laplace noise beats exact normal noise."""
    plt, figure, ((left, right),) = panels(1, 2)
    for panel in (left, right):
        panel.plot(deltas, np.log(1.25 / deltas), color="black", label="ln(1.25/δ)")
        panel.set_xscale("log")
        panel.invert_xaxis()
        panel.set_ylim(0, 25)
    for name, values in exact.items():
        right.plot(deltas, values, label=name)
    right.axhline(10, color="grey", linewidth=0.8, linestyle=":")
    titled(left, f"Figure 2, {PUBLISHED}averages win below", "δ", "draws")
    titled(right, f"{RIGHT}against exact normal noise", "δ")
    right.legend(frameon=False, fontsize=8)
    saved(plt, figure, path)


def capped(path: Path, caps: Sequence[int], claim: float, epsilons: Sequence[float]) -> None:
    """Figure 4 and §6.1-6.2: multiplicities, the cost of the capped bootstrap, and amplification by sampling."""
    plt, figure, ((left, middle, right),) = panels(1, 3)
    m = np.arange(8)
    left.bar(m, stats.binom.pmf(m, 1000, 1e-3))
    titled(left, f"Figure 4, {PUBLISHED}1,000 rows", "copies of a row", "probability")
    middle.axhline(claim, color="tab:red", label="claimed")
    middle.plot(caps, epsilons, "o-", color="tab:blue", label="certified")
    middle.set_ylim(0)
    middle.legend(frameon=False, fontsize=8)
    titled(middle, "Equation 18, 50 replicates: as published, and right", "most copies j", "ε at δ = 1e-6")
    share, rho = 0.1, 0.5
    order = np.geomspace(1.05, 128, 60)
    right.plot(order, renyi(order, share, rho), color="tab:blue", label="Dα/α")
    right.axhline(share**2 * rho, color="tab:red", label="ρ p², claimed")
    right.axhline(rho, color="grey", linewidth=0.8, linestyle=":", label="ρ")
    right.set_xscale("log")
    right.legend(frameon=False, fontsize=8)
    titled(right, "Equation 16, p = 0.1, ρ = 0.5: as published, and right", "order α")
    saved(plt, figure, path)


def example(path: Path, found: Replicates) -> None:
    """Figure 6: one simulation's replicates, with the interval of the unbiased estimate."""
    plt, figure, ((left, right),) = panels(1, 2)
    for panel, printed, title in ((left, False, "noise term left out"), (right, True, "equation 35")):
        half = 1.96 * math.sqrt(float(found.variance("unbiased", printed=printed)[0]))
        middle = float(found.means[0])
        panel.hist(found.values[0], bins=15, color="lightgrey")
        panel.axvline(found.truth, color="tab:red", linestyle="--", label="population")
        panel.axvspan(middle - half, middle + half, color="tab:blue", alpha=0.2, label="95% interval")
        panel.axvline(middle, color="tab:blue", label="average")
        panel.legend(frameon=False, fontsize=8)
        titled(panel, f"Figure 6, {PUBLISHED}{title}", "replicates", "frequency")
    saved(plt, figure, path)


def by_replicates(path: Path, found: Sequence[Replicates], epsilons: Sequence[float], sensitivity: float) -> None:
    """Figure 7: standard errors and coverage by the number of replicates; and what these cost."""
    plt, figure, ((left, middle, right),) = panels(1, 3)
    for kind, colour in zip(KINDS, COLOURS, strict=True):
        errors = [np.sqrt(one.variance(kind, printed=False)) for one in found]
        left.plot(NUMBERS, [one.mean() for one in errors], color=colour, label=kind)
        for q in (5, 95):
            left.plot(NUMBERS, [np.percentile(one, q) for one in errors], color=colour, linestyle=":", linewidth=0.8)
        middle.plot(NUMBERS, [one.coverage(kind, printed=False)[0] for one in found], color=colour, label=kind)
        middle.plot(
            NUMBERS, [one.coverage(kind, printed=True)[0] for one in found], color=colour, linestyle="--", linewidth=0.8
        )
    shot = [math.sqrt(found[0].sampling + sensitivity**2 * one_shot(one)) for one in epsilons]
    left.plot(NUMBERS, shot, color="black", label="one shot, certified cost")
    left.axhline(math.sqrt(found[0].sampling), color="grey", linewidth=0.8)
    left.legend(frameon=False, fontsize=7)
    middle.axhline(95, color="grey", linewidth=0.8)
    titled(left, f"Figure 7a, {PUBLISHED}standard errors", "replicates")
    titled(middle, "Figure 7b, as published; dashed: equation 35", "replicates", "coverage, %")
    right.plot(NUMBERS, epsilons, "o-", color="tab:blue", label="certified")
    right.axhline(5.22, color="tab:red", label="claimed")
    right.set_ylim(0)
    right.legend(frameon=False, fontsize=8)
    titled(right, f"{RIGHT}what it costs", "replicates", "ε at δ = 1e-6")
    saved(plt, figure, path)


def released(path: Path, found: Replicates, epsilon: float) -> None:
    """Figure 8: one release and averages of the bootstrap, at the claimed and at the certified cost."""
    plt, figure, made = panels(2, 2, 2.6)
    rng, size, k = np.random.default_rng(8), len(found.values), found.values.shape[1]
    sensitivity = 100 / ROWS
    shots = (found.noise / k, sensitivity**2 * one_shot(epsilon))
    truth = found.truth + rng.normal(0, math.sqrt(found.sampling), (2, size))
    bins = np.linspace(found.truth - 4, found.truth + 4, 41)
    for column, (noise, words) in enumerate(zip(shots, (f"{PUBLISHED}ρ = 0.5 each", RIGHT + "one cost"), strict=True)):
        one = truth[column] + rng.normal(0, math.sqrt(noise), size)
        for row, (values, name) in enumerate(((one, "one shot"), (found.means, "bootstrap"))):
            made[row, column].hist(values, bins=bins, density=True, color="lightgrey")
            made[row, column].set_ylim(0, 0.7)
            titled(made[row, column], f"{words}, {name}: sd {values.std():.2f}", "release", "density")
    saved(plt, figure, path)


def errors_and_scores(path: Path, found: Replicates) -> None:
    """Figure 9: standard errors, and z-scores without and with the noise term of equation 35."""
    plt, figure, made = panels(3, 3, 2.4)
    x = np.linspace(-4, 4, 201)
    for row, (kind, colour) in enumerate(zip(KINDS, COLOURS, strict=True)):
        error = np.sqrt(found.variance(kind, printed=False))
        made[row, 0].hist(error, bins=np.linspace(0, 2.2, 45), density=True, color=colour, alpha=0.5)
        made[row, 0].axvline(math.sqrt(found.sampling + found.noise / REPLICATES), color="black", linestyle="--")
        titled(made[row, 0], f"Figure 9a, {PUBLISHED}{kind}", "standard error", "density")
        for column, printed in ((1, False), (2, True)):
            with np.errstate(divide="ignore"):
                z = (found.means - found.truth) / np.sqrt(found.variance(kind, printed=printed))
            hit = found.coverage(kind, printed=printed)[0]
            made[row, column].hist(
                np.clip(z, -4, 4), bins=np.linspace(-4, 4, 41), density=True, color=colour, alpha=0.5
            )
            made[row, column].plot(x, stats.norm.pdf(x), color="black", linewidth=0.8)
            words = "equation 35" if printed else f"9b, {PUBLISHED.removesuffix(': ')}"
            titled(made[row, column], f"{words}: {hit:.1f}% covered", "z-score, cut at ±4")
    saved(plt, figure, path)
