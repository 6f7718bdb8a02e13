"""Exact noise: speed beside OpenDP's vector samplers, and chi-square against the exact law on ten million draws.

`python benchmarks/noise.py` prints two Markdown tables: about two minutes on one core; `--quick` for a look.
Speeds are per second of one core, the best of three, after a first draw (which makes the polynomials, once a process).
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from fractions import Fraction
from typing import Any

from tacit.noise import exact
from tacit.noise.exact import draw
from tacit.noise.laws import DiscreteLaplace, RoundedNormal
from tacit.testing.noise_law_test import noise_law

LAWS = (DiscreteLaplace, RoundedNormal)
SPEEDS = ("1/1000", "1", "1000", "1000000", "1000000000", "1000000000000")
CHECKS = ("1/3", "1", "17/4", "1000000", "1000000000", "1000000000000")
WIDEST_OF_OPENDP = 1e9


def best(run: Callable[[], object], times: int = 3) -> float:
    """Seconds of a core in the fastest run, whatever else the machine does."""
    seconds: list[float] = []
    for _ in range(times):
        start = time.process_time()
        run()
        seconds.append(time.process_time() - start)
    return min(seconds)


def opendp(law: Any) -> Callable[[int], object] | None:
    """OpenDP's sampler of vectors of integers: discrete Laplace, or discrete Gaussian beside our rounded normal."""
    import opendp.prelude as dp

    dp.enable_features("contrib")
    domain, scale = dp.vector_domain(dp.atom_domain(T=int)), float(law.scale)
    if not 0.1 <= scale <= WIDEST_OF_OPENDP:
        return None
    if isinstance(law, DiscreteLaplace):
        sampler = dp.m.make_laplace(domain, dp.l1_distance(T=int), scale)
    else:
        sampler = dp.m.make_gaussian(domain, dp.l2_distance(T=float), scale)
    return lambda size: sampler([0] * size)


def refined(law: Any, size: int) -> float:
    """Return the share of random words for which floats cannot decide the value."""
    curve = exact.EXPONENTIAL if isinstance(law, DiscreteLaplace) else exact.HALF_NORMAL
    m = (exact.system_words(size) >> 1).view("int64")
    return float(exact.decide(curve, exact.pieces(curve), law.scale, m)[1].mean())


def speeds(size: int, small: int) -> None:
    """Samples a second, side by side."""
    print("| law | scale | Tacit, million/s | OpenDP, million/s | ratio | left to integers |")
    print("|---|---:|---:|---:|---:|---:|")
    for family in LAWS:
        for scale in SPEEDS:
            law = family(Fraction(scale))
            draw(law, 1000)
            ours = size / best(lambda law=law: draw(law, size)) / 1e6
            other = opendp(law)
            row = f"| {law.name} | {float(law.scale):g} | {ours:.1f} "
            if other is None:
                row += "| – | – "
            else:
                theirs = small / best(lambda other=other: other(small)) / 1e6
                row += f"| {theirs:.3f} | {ours / theirs:.0f} "
            print(row + f"| {refined(law, 1_000_000):.1e} |")


def checks(draws: int) -> None:
    """Test the right law, and one with a scale 10% off, on many draws."""
    print(f"\n| law | scale | p-value, {draws:,} draws | cells | p-value of a scale 10% off |")
    print("|---|---:|---:|---:|---:|")
    for family in LAWS:
        for scale in CHECKS:
            law = family(Fraction(scale))
            wrong = family(Fraction(scale) * Fraction(9, 10))
            right = noise_law(lambda size, law=law: draw(law, size), law, draws=draws, calls=10)
            off = noise_law(lambda size, wrong=wrong: draw(wrong, size), law, draws=draws // 100)
            assert right.passed
            assert not off.passed
            p = min(right.p_cells, right.p_extreme, right.p_repeats)
            print(f"| {law.name} | {float(law.scale):.3g} | {p:.2f} | {right.cells} | {off.p_value:.0e} |")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a tenth of the draws")
    cut = 10 if parser.parse_args().quick else 1
    speeds(3_000_000 // cut, 100_000 // cut)
    checks(10_000_000 // cut)


if __name__ == "__main__":
    main()
