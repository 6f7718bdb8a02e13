"""Regressions of other libraries and papers, at the price and within the bounds that Tacit gets.

AdaSSP [Wang 2018, Algorithm 2] is written here, with noise by the exact calibration of Gaussian differential privacy in
place of the paper's bound, which makes it better than published.  Needed for the others, each left out where it is not
installed: diffprivlib 0.6, and opacus 1.6 with torch 2.
"""

from __future__ import annotations

import importlib
import math
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from itertools import product
from typing import Any

import numpy as np
from peer_problem import Array, Problem, gaussian_epsilon

Slopes = Callable[[np.random.Generator, Problem], Array | None]


def module(name: str) -> Any:
    """Return a library, or None where it is not installed."""
    try:
        return importlib.import_module(name)
    except ImportError:
        return None


def adassp(rng: np.random.Generator, given: Problem) -> Array | None:
    """Return the slopes of AdaSSP; it has no pure price."""
    if given.model != "linear" or given.mu is None:
        return None
    x, d = given.rows, given.rows.shape[1]
    # one third of the price each; products change by B**2 where a row is added, by sqrt(2) B**2 where it is replaced
    scale, square = given.mu / math.sqrt(3), given.norm**2 + given.intercept
    twice = 2 if given.replaced else 1
    products, least = x.T @ x, float(np.linalg.eigvalsh(x.T @ x)[0])
    upper = np.triu(rng.normal(0, 1, (d, d)))
    noise = (upper + np.triu(upper, 1).T) * math.sqrt(twice) * square / scale
    # the paper's own delta of the bound of the eigenvalue
    margin = float(-np.log(1e-6) * 2) ** 0.5
    least = max(least + (float(rng.normal(0, 1)) - margin) * square / scale, 0.0)
    ridge = max(0.0, math.sqrt(d * math.log(2 * d * d / 0.05)) * square / scale - least)
    crossed = x.T @ given.v + rng.normal(0, 1, d) * twice * math.sqrt(square) / scale
    return given.own(np.linalg.solve(products + noise + ridge * np.eye(d), crossed))


def by_diffprivlib(rng: np.random.Generator, given: Problem) -> Array | None:
    """Return the slopes of diffprivlib, in the columns' own units, as it asks for their bounds."""
    models = module("diffprivlib.models")
    if models is None:
        return None
    seed = int(rng.integers(2**31))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if given.model != "linear":
            made = models.LogisticRegression(epsilon=given.epsilon, random_state=seed).fit(given.u, given.v > 0.5)
            return np.asarray(made.coef_)[0] * given.units
        bounds = (-np.ones(given.u.shape[1]), np.ones(given.u.shape[1]))
        made = models.LinearRegression(
            epsilon=given.epsilon,
            bounds_X=bounds,
            bounds_y=(-1.0, 1.0),
            fit_intercept=given.intercept,
            random_state=seed,
        )
        return np.asarray(made.fit(given.u, given.v).coef_) * given.units


@dataclass(frozen=True)
class Descent:
    """Settings of DP-SGD: the rate of Poisson sampling, steps, learning rate, and norm to which gradients are clipped."""

    rate: float
    steps: int
    learning: float
    clip: float
    adaptive: bool


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
                epsilon_tolerance=epsilon / 500,
            )
        )


def descent(rng: np.random.Generator, given: Problem, setting: Descent) -> Array:
    """Return the slopes of one run of DP-SGD: the mean of the second half of its steps.

    Neighbouring tables of opacus differ in a row that is added or removed.  Replaced rows get half of mu, which is
    exact for whole tables (sums change by 2 C in place of C) and close for samples.
    """
    torch, opacus = module("torch"), importlib.import_module("opacus")
    optimizers = importlib.import_module("opacus.optimizers")
    torch.set_num_threads(1)
    torch.manual_seed(int(rng.integers(2**31)))
    mu = float(given.mu or 0.0) / (2 if given.replaced else 1)
    noise = multiplier(gaussian_epsilon(mu), 1e-6, setting.rate, setting.steps)
    x, y = (torch.tensor(part, dtype=torch.float32) for part in (given.u, given.v))
    line = torch.nn.Linear(x.shape[1], 1, bias=given.intercept)
    for part in line.parameters():
        torch.nn.init.zeros_(part)
    model = opacus.GradSampleModule(line)
    rule = torch.optim.Adam if setting.adaptive else torch.optim.SGD
    steps = optimizers.DPOptimizer(
        rule(model.parameters(), lr=setting.learning),
        noise_multiplier=noise,
        max_grad_norm=setting.clip,
        expected_batch_size=max(1, round(setting.rate * len(x))),
    )
    loss = torch.nn.functional.mse_loss if given.model == "linear" else _cross_entropy(torch)
    total = np.zeros(x.shape[1])
    for step in range(setting.steps):
        drawn = torch.rand(len(x)) < setting.rate
        steps.zero_grad()
        loss(model(x[drawn])[:, 0], y[drawn]).backward()
        steps.step()
        if step >= setting.steps // 2:
            total += line.weight.detach().numpy()[0]
    return total / (setting.steps - setting.steps // 2) * given.units


def _cross_entropy(torch: Any) -> Any:
    return torch.nn.functional.binary_cross_entropy_with_logits
