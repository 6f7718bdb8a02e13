"""DP-SGD of a library: linear and logistic regressions trained by opacus, with its own accountant.

opacus 1.6 and torch 2 are needed; without them there is no DP-SGD.  What a careful user would do is done: regressors
and response are scaled by their public bounds, the loss is convex and starts at 0, rows are drawn by Poisson sampling
in large batches, and the coefficients are the mean of the second half of the steps.

`STANDARD` is one setting for all designs, of those that were tried on five designs of the page before.  `TRIED` are the
settings of which the page also shows the best in hindsight, chosen by the error against the truth on tables of the same
design: no user could choose so, and a private choice would cost.
"""

from __future__ import annotations

import importlib
import warnings
from dataclasses import dataclass
from functools import cache
from itertools import product
from typing import Any

import numpy as np
from frontier_designs import DELTA
from peer_problem import Array, Problem, gaussian_epsilon
from peers_of_regressions import module


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
    noise = multiplier(gaussian_epsilon(mu), DELTA, setting.rate, setting.steps)
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


def trained() -> bool:
    """Whether both libraries are installed."""
    return module("torch") is not None and module("opacus") is not None
