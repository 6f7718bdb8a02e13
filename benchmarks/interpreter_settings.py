"""Every mechanism on extreme rows and boxes, under all settings of the interpreter: same integers, no output.

    python benchmarks/interpreter_settings.py [--quick]

The operating system's random bits are replaced by constants (in processes of their own, which protect nobody), so that
two runs that read the same rows release the same integers. Run as it is, and with every setting that turns a warning
into an error: `-W error`, `PYTHONWARNINGS=error`, `numpy.seterr(all="raise")`, JAX's checks for NaN, ranks and
transfers. Prints how many questions failed, how many differ and what was said; exit 1 where any did. `--quick`: in
one process, without models."""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import secrets
import subprocess
import sys
import warnings
from typing import Any

import numpy as np

CHECKS = [("jax_debug_nans", True), ("jax_debug_infs", True), ("jax_numpy_rank_promotion", "raise")]
CHECKS += [("jax_transfer_guard", "disallow"), ("jax_log_compiles", True)]
ODD = [np.inf, -np.inf, np.nan, 1e308, -1e308, -0.0, 0.0, 5e-324, 2.2e-308, 1.7e308, -1.7e308, 1e-300, 1e300]
ROWS = 600


def loud(rows: Any) -> Any:
    """A statistic that prints, warns and overflows."""
    print(rows)
    print(rows, file=sys.stderr)
    warnings.warn(str(rows), stacklevel=1)
    return (np.array(rows) * 1e308).sum(), np.log(np.abs(rows) - np.abs(rows[0])).sum()


def questions(quick: bool) -> dict[str, Any]:
    """Return one question of each kind; with `quick`, few of those that need JAX's compiler."""
    import tacit as tc

    blocks = tc.SampleAndAggregate
    found: dict[str, Any] = {
        "moments": tc.Mean(("w", "b"), by="g"),
        "variance": tc.Variance("w"),
        "count": tc.Count(by="g", where="w > 1e-300"),
        "quantiles": tc.Quantiles("w", [0.5]),
        "range": tc.Range("x"),
        "histogram": tc.Histogram(("w", "g"), bins={"w": 5}),
        "sparse": tc.Histogram(("w", "b"), bins={"w": 200, "b": 200}, sparse=True),
        "quality": tc.DataQuality(),
        "regression": tc.Regression("y ~ b + g"),
        "sufficient": tc.SufficientStatistics("b", tc.families.Exponential(rate=(0.1, 10))),
        "midmean": blocks("x", tc.Statistic("midmean", m=(-5e149, 5e149)), blocks=10),
        "correlation": blocks(("x", "y"), tc.Statistic("correlation", c=(-1, 1)), blocks=10),
        "function": blocks("x", tc.Statistic(loud, a=(-1e149, 1e149), b=(-5e149, 5e149)), blocks=10),
        "winsorized": blocks("x", tc.Statistic("median", m=(-5e149, 5e149)), blocks=10, winsorize=True),
    }
    if quick:
        return found
    normal = tc.families.Normal(mean=(-1e149, 1e149), sd=(1e-149, 1e149))
    rate = tc.families.Exponential(rate=(1e-149, 1e149))

    def own(x: Any, theta: Any) -> Any:
        import jax.numpy as jnp

        return jnp.log(theta.r) - theta.r * x

    return found | {
        "blocks": blocks("x", normal, blocks=10),
        "one step": blocks("x", normal, blocks=10, one_step=True),
        "winsorized step": blocks("w", rate, blocks=10, winsorize=True, one_step=True),
        "own": blocks("x", tc.Model(own, r=(1e-149, 1e149)), blocks=10),
        "logistic": tc.Regression("g ~ w + b", model="logistic"),
    }


def answers(quick: bool) -> dict[str, Any]:
    """Return what is released for each question, or the error."""
    import tacit as tc

    odd, rng = ODD * 5, np.random.default_rng(0)
    x = np.concatenate([odd, rng.exponential(1.0, ROWS - len(odd))])
    table = {"x": x, "w": x, "b": x, "y": x[::-1].copy(), "g": np.arange(ROWS) % 2}
    schema = tc.Schema(
        {
            "x": tc.Real(),
            "w": tc.Real(-1e74, 1e74),
            "b": tc.Real(0, 10),
            "y": tc.Real(-1e74, 1e74),
            "g": tc.Category({0: "a", 1: "b"}),
        }
    )
    found: dict[str, Any] = {}
    for name, ask in questions(quick).items():
        try:
            curator = tc.Curator(table, schema, budget=tc.Budget(rho=1000), name="t")
            parts = curator.release(ask, rho=5).parts
            found[name] = [[repr(part.grid), str(list(part.integers))] for part in parts]
        except Exception as error:
            found[name] = f"{type(error).__name__}: {str(error)[:200]}"
    return found


def run(quick: bool, strict: bool) -> tuple[Any, Any, str]:
    """Return the answers of a process under these settings (with `quick`, also those before them) and what it
    printed.
    """
    flags, more = (["-W", "error"], {"PYTHONWARNINGS": "error"}) if strict and not quick else ([], {})
    words = ["--child", *(["--quick"] if quick else []), *(["--strict"] if strict else [])]
    command = [sys.executable, *flags, __file__, *words]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=os.environ | more)
    if done.returncode:
        raise SystemExit(done.stderr)
    return *json.loads(done.stdout), done.stderr


def child(quick: bool, strict: bool) -> None:
    """Replace random bits by constants, apply the settings, and print the answers as JSON."""
    import importlib

    for name in ("pandas", "pyarrow", "scipy.stats", "tacit", "duckdb", *([] if quick else ["jax"])):
        importlib.import_module(name)  # what libraries say of themselves when they are read says nothing of rows

    def words(count: int) -> bytes:
        return hashlib.shake_128(b"words").digest(count)

    def bits(count: int) -> int:
        return int.from_bytes(words(count // 8), "big")

    os.urandom, secrets.randbits = words, bits
    before = answers(quick) if quick else None
    if strict:
        os.environ["PYTHONWARNINGS"] = "error"
        np.seterr(all="raise")
        warnings.simplefilter("error")
        for setting, value in [] if quick else CHECKS:
            sys.modules["jax"].config.update(setting, value)
    print(json.dumps([before, answers(quick)]))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    for word in ("--quick", "--child", "--strict"):
        parser.add_argument(word, action="store_true")
    given = parser.parse_args()
    if given.child:
        child(given.quick, given.strict)
        return 0
    plain, strict, loudly = run(given.quick, strict=True)
    said = ""
    if plain is None:
        _, plain, said = run(quick=False, strict=False)
    failed = [(name, one) for found in (plain, strict) for name, one in found.items() if isinstance(one, str)]
    differ = [name for name in plain if plain[name] != strict[name]]
    for name in differ:
        print(f"{name}: {str(plain[name])[:300]}\n  {str(strict[name])[:300]}")
    for name, why in failed:
        print(f"{name}: {why}")
    words = len(said + loudly)
    print(f"{len(plain)} questions: {len(failed)} failures, {len(differ)} differ, {words} characters of standard error")
    print((said + loudly)[:2000], end="")
    return 1 if failed or differ or words else 0


if __name__ == "__main__":
    sys.exit(main())
