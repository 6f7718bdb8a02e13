"""DP-SGD as in a library: linear and logistic regressions trained as by opacus, with its accountant.

    python benchmarks/peers_descent.py

opacus 1.6 and torch 2 are needed; without them there is no DP-SGD.  What a careful user would do is done: regressors
and response are scaled by their public bounds, the loss is convex and starts at 0, rows are drawn by Poisson sampling
in large batches, and the coefficients are the mean of the second half of the steps.

`STANDARD` is one setting for all designs, of those that were tried on five designs of the page before.  `TRIED` are the
settings of which the page also shows the best in hindsight, chosen by the error against the truth on tables of the same
design: no user could choose so, and a private choice would cost.
"""

from __future__ import annotations

import importlib
import math
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from itertools import product

import numpy as np
from frontier_designs import DELTA, Cell, skewed_and_unequal
from frontier_model_designs import three
from peer_problem import Array, Problem, gaussian_epsilon, problem
from peers_of_regressions import module
from scipy import special

from tacit.privacy import Cost


@dataclass(frozen=True)
class Descent:
    """Settings of DP-SGD.

    rate: of Poisson sampling.  learning: the learning rate.  clip: the norm to which gradients are clipped.  adaptive:
    by Adam, in place of plain steps.
    """

    rate: float
    steps: int
    learning: float
    clip: float
    adaptive: bool = True


CLIPS = {"linear": (0.02, 0.05, 0.2), "logistic": (0.3, 1.0, 3.0)}
STANDARD = {model: Descent(0.05, 600, 0.1, clips[1]) for model, clips in CLIPS.items()}
TRIED = {
    model: (
        *(Descent(0.1, 200, learning, clip) for learning, clip in product((0.1, 0.3), clips)),
        Descent(0.1, 200, 1.0, clips[0], adaptive=False),
        Descent(0.1, 200, 1.0, clips[2], adaptive=False),
        STANDARD[model],
    )
    for model, clips in CLIPS.items()
}


@cache
def multiplier(epsilon: float, delta: float, rate: float, steps: int) -> float:
    """Return the noise multiplier of opacus's own accountant."""
    accounting = importlib.import_module("opacus.accountants.utils")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return float(
            accounting.get_noise_multiplier(
                target_epsilon=epsilon,
                target_delta=delta,
                sample_rate=rate,
                steps=steps,
                accountant="prv",
                epsilon_tolerance=epsilon / 100,
            )
        )


def noise_of(given: Problem, setting: Descent) -> float:
    """Return the noise multiplier for a price.

    Neighbouring tables of opacus differ in a row that is added or removed.  Replaced rows get half of mu, which is
    exact for whole tables (sums change by 2 C in place of C) and close for samples.
    """
    mu = float(given.mu or 0.0) / (2 if given.replaced else 1)
    return multiplier(round(gaussian_epsilon(mu), 6), DELTA, setting.rate, setting.steps)


def descents(rng: np.random.Generator, many: Sequence[Problem], setting: Descent) -> Array:
    """Return the slopes of DP-SGD on each of several tables of a design, shape (tables, slopes).

    The steps are those of opacus's DPOptimizer with torch's Adam or SGD, for all tables at once; `by_opacus` has them
    from the library itself, one table at a time, and `main` compares both.
    """
    one, size = many[0], len(many[0].u)
    x = np.stack([given.rows for given in many]).astype(np.float32)
    y = np.stack([given.v for given in many]).astype(np.float32)
    norms = np.linalg.norm(x, axis=2)
    noise, expected = noise_of(one, setting) * setting.clip, setting.rate * size
    b = np.zeros((len(many), x.shape[2]))
    first, second, total = np.zeros_like(b), np.zeros_like(b), np.zeros_like(b)
    tables = np.arange(len(many))[:, None]
    for step in range(1, setting.steps + 1):
        at, drawn = sampled(rng, len(many), size, setting.rate)
        rows = x[tables, at]
        found = (rows @ b[:, :, None].astype(np.float32))[:, :, 0]
        error = 2 * (found - y[tables, at]) if one.model == "linear" else special.expit(found) - y[tables, at]
        length = np.abs(error) * norms[tables, at]
        error *= drawn * np.minimum(1.0, setting.clip / np.maximum(length, 1e-12))
        gradient = (error[:, None, :] @ rows)[:, 0] + rng.normal(0, noise, b.shape)
        gradient = gradient / max(1, round(expected))
        first, second = 0.9 * first + 0.1 * gradient, 0.999 * second + 0.001 * gradient**2
        adapted = first / (1 - 0.9**step) / (np.sqrt(second / (1 - 0.999**step)) + 1e-8)
        b = b - setting.learning * (adapted if setting.adaptive else gradient)
        total += b * (step > setting.steps // 2)
    return np.array([one.own(each) for each in total / (setting.steps - setting.steps // 2)])


def sampled(rng: np.random.Generator, tables: int, size: int, rate: float) -> tuple[Array, Array]:
    """Return a Poisson sample of the rows of each table: places, and which of them count; shape (tables, many)."""
    most = math.ceil(rate * size + 8 * math.sqrt(rate * size)) + 8
    # gaps between rows that are drawn independently are geometric
    at = np.cumsum(rng.geometric(rate, (tables, most)), axis=1) - 1
    return np.minimum(at, size - 1), at < size


def by_opacus(rng: np.random.Generator, given: Problem, setting: Descent) -> Array:
    """Return the slopes of one run by opacus itself."""
    torch, opacus = module("torch"), importlib.import_module("opacus")
    optimizers = importlib.import_module("opacus.optimizers")
    torch.set_num_threads(1)
    torch.manual_seed(int(rng.integers(2**31)))
    x, y = (torch.tensor(part, dtype=torch.float32) for part in (given.u, given.v))
    line = torch.nn.Linear(x.shape[1], 1, bias=given.intercept)
    for part in line.parameters():
        torch.nn.init.zeros_(part)
    model = opacus.GradSampleModule(line)
    rule = torch.optim.Adam if setting.adaptive else torch.optim.SGD
    steps = optimizers.DPOptimizer(
        rule(model.parameters(), lr=setting.learning),
        noise_multiplier=noise_of(given, setting),
        max_grad_norm=setting.clip,
        expected_batch_size=max(1, round(setting.rate * len(x))),
    )
    functions = torch.nn.functional
    loss = functions.mse_loss if given.model == "linear" else functions.binary_cross_entropy_with_logits
    total = np.zeros(x.shape[1])
    for step in range(setting.steps):
        drawn = torch.rand(len(x)) < setting.rate
        steps.zero_grad()
        loss(model(x[drawn])[:, 0], y[drawn]).backward()
        steps.step()
        if step >= setting.steps // 2:
            total += line.weight.detach().numpy()[0]
    return total / (setting.steps - setting.steps // 2) * given.units


def trained() -> bool:
    """Whether both libraries are installed."""
    return module("torch") is not None and module("opacus") is not None


def main() -> None:
    """Compare the errors of both ways on the same tables: they differ by chance alone."""
    one = Cost.of(epsilon=1, delta=DELTA)
    cells = Cell("", three(""), 2_000, one), Cell("", skewed_and_unequal(), 2_000, one)
    for cell in cells:
        rng, truth = np.random.default_rng([16, 5]), np.array(list(cell.study.truth.values()))[1:]
        many = [problem(cell, cell.study.draw(rng, cell.rows)) for _ in range(40)]
        setting = STANDARD[many[0].model]
        ways = descents(rng, many, setting), np.array([by_opacus(rng, given, setting) for given in many])
        for name, found in zip(("at once", "opacus"), ways, strict=True):
            error = found - truth
            print(f"{cell.study.title}, {name}: mean {error.mean(axis=0).round(3)}, SD {error.std(axis=0).round(3)}")


if __name__ == "__main__":
    main()
