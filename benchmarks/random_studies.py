"""Studies drawn at random, each from a seed: trials, surveys, models of a response, laws of a column, several parties.

A study is a number, from which everything else follows; nothing is chosen by hand but the ranges below.  They were
committed before any study was simulated.  Columns x, y, h, g and w are those of a design of `random_tables` without
persons, and without heaps, zeros or counts that nobody declared, which have pages of their own.  Further columns:

u          a regressor; its values are within its bounds, so that models of it hold in every row
arm, v     a treatment of two levels, and a regressor that goes with u and has no part in any response
n1, n2     regressors that have nothing to do with any response
first, second, other   levels; the first two are independent, the third goes with the first
one, two   answers of yes and no: logistic and probit in u and arm
cost       a gamma response with a log link, of bounds that fit, are four times too wide, or cut 1% off
visits     negative binomial counts, log-linear in u and arm
score      linear in u and arm, with errors that are heavy in both tails
months, died           times, right-censored, and whether the event was seen; hazards are proportional in arm
law        a column of a parametric law, for likelihoods
party, stay            the party of a row, and x, which of some studies differs from party to party, at random
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

import numpy as np
from random_tables import Array, Design, Table
from scipy.special import expit, ndtr

import tacit as tc

LARGE: Final = 600_000
LAWS: Final = ("Normal", "Gamma", "Lognormal", "Weibull", "Beta", "Exponential", "Poisson", "NegativeBinomial")
POISSON_MEAN: Final = 0.8


def _figures(x: float, digits: int = 3) -> float:
    return float(f"{x:.{digits}g}")


def _dirichlet(rng: np.random.Generator, most: int) -> tuple[float, ...]:
    shares = rng.dirichlet(np.full(int(rng.integers(2, most + 1)), 2.0))
    return tuple(float(one) for one in shares / shares.sum())


@dataclass(frozen=True)
class Study:
    """One study; number: its seed."""

    number: int

    @cached_property
    def base(self) -> Design:
        """The design of x, y, h, g and w: the first of its numbers that suits."""
        place = 2_000_000 + 100 * self.number
        while (one := Design(place)).persons or one.digits or one.zeros or "oisson" in one.law or "binom" in one.law:
            place += 1
        return one

    @cached_property
    def facts(self) -> dict[str, Any]:
        """Everything else that is drawn, in the order of the seed."""
        rng = np.random.default_rng([2026, 11, 27, 20, self.number])
        kinds = ["fair", "fair", "wide", "tight"]
        return {
            "u_law": str(rng.choice(["uniform", "normal", "triangular"])),
            "u_bounds": float(rng.choice([1.0, 1.0, 4.0])),
            "treated": _figures(rng.uniform(0.15, 0.6)),
            "level": _figures(rng.uniform(-1.5, 1.0)),
            "slope": float(rng.choice([0.0, 0.3, 0.8])),
            "effect": float(rng.choice([0.0, 0.2, 0.6])),
            "tied": float(rng.choice([0.0, 0.5, 0.85])),
            "first": _dirichlet(rng, 5),
            "second": _dirichlet(rng, 6),
            "cost_shape": _figures(10 ** rng.uniform(-0.3, 1.0)),
            "cost_bounds": str(rng.choice(kinds)),
            "dispersion": _figures(10 ** rng.uniform(-0.5, 1.0)),
            "errors": str(rng.choice(["t, 3 df", "10% ten times as wide", "Laplace"])),
            "score_bounds": str(rng.choice(kinds[:3])),
            "hazard_shape": _figures(rng.uniform(0.6, 2.5)),
            "hazard_ratio": float(rng.choice([1.0, 1.0, 1.4, 2.0])),
            "censored": _figures(rng.uniform(0.1, 0.7)),
            "follow_up": _figures(rng.uniform(0.75, 1.6)),
            "time_bins": int(rng.integers(10, 31)),
            "whole_times": bool(rng.random() < 0.3),
            "law": str(rng.choice(LAWS)),
            "one": _figures(10 ** rng.uniform(-0.3, 0.9)),
            "scale": _figures(10 ** rng.uniform(-1, 2)),
            "box": float(rng.choice([3.0, 3.0, 30.0])),
            "parties": int(rng.integers(2, 9)),
            "party_spread": float(rng.choice([0.0, 0.0, 0.2])),
        }

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_") or name in {"facts", "base"}:
            raise AttributeError(name)
        return self.facts[name] if name in self.facts else getattr(self.base, name)

    @cached_property
    def ends(self) -> dict[str, tuple[float, float]]:
        """Bounds of the columns whose ends follow from a large draw."""
        rng = np.random.default_rng([11, self.number])
        made = self._own(rng, 200_000)
        found = {"u": (-2.0 * self.u_bounds, 2.0 * self.u_bounds)}
        for name, kind in (("cost", self.cost_bounds), ("score", self.score_bounds), ("law", "fair")):
            low, high = np.quantile(made[name], [0.01, 0.99] if kind == "tight" else [0.0002, 0.9998])
            middle, half = (low + high) / 2, (high - low) / 2 * (4 if kind == "wide" else 1)
            found[name] = (
                (0.0, _figures(2 * half)) if name == "cost" else (_figures(middle - half), _figures(middle + half))
            )
        found["visits"] = (0.0, float(np.ceil(np.quantile(made["visits"], 0.9998)) + 1))
        return found

    @cached_property
    def times(self) -> tuple[float, float]:
        """The largest time of the schema, and the scale of censoring times: drawn shares of rows are censored."""
        rng = np.random.default_rng([12, self.number])
        event, unit = self._events(rng, rng.random(200_000) < self.treated), rng.uniform(0, 1, 200_000)
        low, high = 1e-3, 1e4
        for _ in range(60):
            middle = float(np.sqrt(low * high))
            low, high = (middle, high) if np.mean(event > middle * unit) > self.censored else (low, middle)
        seen = np.minimum(event, low * unit)
        last = float(np.quantile(seen, 0.98)) * self.follow_up
        return (float(np.ceil(last)) if self.whole_times else _figures(last)), low

    @property
    def words(self) -> str:
        """The study in a line."""
        base = self.base.words
        return f"{base}; u {self.u_law}, arm {self.treated:g}, slope {self.slope:g}, effect {self.effect:g}"

    def levels(self, name: str) -> list[str]:
        """The levels of `first`, `second` or `other`."""
        return [f"{name[0]}{i}" for i in range(len(self.facts["first" if name == "other" else name]))]

    def names(self) -> list[str]:
        """The parties."""
        return [f"p{i}" for i in range(self.parties)]

    def schema(self) -> tc.Schema:
        """What is declared."""
        last, _ = self.times
        months = tc.Integer(0, int(last)) if self.whole_times else tc.Real(0, last)
        return tc.Schema(
            {
                **{name: column for name, column in self.base.schema().items() if name in "xyhgw"},
                "stay": self.base.schema()["x"],
                "u": tc.Real(*self.ends["u"]),
                "v": tc.Real(-4, 4),
                "n1": tc.Real(-4, 4),
                "n2": tc.Real(-4, 4),
                "arm": tc.Category(["control", "treated"]),
                "first": tc.Category(self.levels("first")),
                "second": tc.Category(self.levels("second")),
                "other": tc.Category(self.levels("other")),
                "one": tc.Boolean(),
                "two": tc.Boolean(),
                "cost": tc.Real(*self.ends["cost"]),
                "visits": tc.Integer(0, int(self.ends["visits"][1])),
                "score": tc.Real(*self.ends["score"]),
                "months": months,
                "died": tc.Boolean(),
                "law": tc.Integer(0, max(int(self.ends["law"][1]), 1)) if self._counts else tc.Real(*self.ends["law"]),
            }
        )

    @property
    def _counts(self) -> bool:
        return self.facts["law"] in {"Poisson", "NegativeBinomial"}

    @property
    def parameters(self) -> dict[str, float]:
        """The parameters of the law of `law`."""
        one, scale = self.facts["one"], self.facts["scale"]
        return {
            "Normal": {"mean": scale, "sd": one},
            "Gamma": {"shape": one, "rate": 1 / scale},
            "Lognormal": {"mean": float(np.log(scale)), "sd": one / 4},
            "Weibull": {"shape": max(one, 0.7), "scale": scale},
            "Beta": {"a": one, "b": _figures(0.5 + scale / 20)},
            "Exponential": {"rate": 1 / scale},
            "Poisson": {"mean": one},
            "NegativeBinomial": {"mean": one, "dispersion": 0.5 + scale / 20},
        }[self.facts["law"]]

    def draw_table(self, rng: np.random.Generator, n: int | None = None) -> Table:
        """Return a table of n rows."""
        n = self.base.rows if n is None else n
        made = {name: one for name, one in self.base.draw_table(rng, n).items() if name in "xyhgw"}
        made |= self._own(rng, n)
        shares = np.random.default_rng([13, self.number]).dirichlet(np.full(self.parties, 2.0))
        party = rng.choice(self.parties, n, p=shares)
        # a table draws its parties; the large one, of which truths are, has a party for each row
        moved = rng.normal(0, 1, n) if n == LARGE else rng.normal(0, 1, self.parties)[party]
        made["stay"] = made["x"] + self.party_spread * self.base.sd * moved
        made["party"] = np.array(self.names())[party]
        return made

    def large(self) -> Table:
        """Return a very large table of the same law, clamped to the bounds."""
        made = self.draw_table(np.random.default_rng([14, self.number]), LARGE)
        bounds = (self.base.lower, self.base.upper)
        ends = {"x": bounds, "stay": bounds, "y": (-8, 8), "w": (0, 4), **self.ends}
        return {name: np.clip(one, *ends[name]) if name in ends else one for name, one in made.items()}

    def _own(self, rng: np.random.Generator, n: int) -> Table:
        u = {
            "uniform": lambda: rng.uniform(-2, 2, n),
            "normal": lambda: np.clip(rng.normal(0, 0.8, n), -2, 2),
            "triangular": lambda: rng.triangular(-2, -1.5, 2, n),
        }[self.u_law]()
        treated = rng.random(n) < self.treated
        eta = self.level + self.slope * u + self.effect * treated
        mean = np.exp(0.5 + eta / 2)
        first = rng.choice(len(self.first), n, p=np.array(self.first))
        second = rng.choice(len(self.second), n, p=np.array(self.second))
        other = np.where(rng.random(n) < 0.1, first, rng.choice(len(self.first), n))
        event = self._events(rng, treated)
        stopped = self.times[1] * rng.uniform(0, 1, n)
        seen = np.minimum(event, stopped)
        return {
            "u": u,
            "v": self.tied * u / 1.2 + np.sqrt(1 - self.tied**2) * rng.normal(0, 1, n),
            "n1": rng.normal(0, 1, n),
            "n2": rng.normal(0, 1, n),
            "arm": np.where(treated, "treated", "control"),
            "first": np.array([f"f{i}" for i in range(len(self.first))])[first],
            "second": np.array([f"s{i}" for i in range(len(self.second))])[second],
            "other": np.array([f"o{i}" for i in range(len(self.first))])[other],
            "one": rng.random(n) < expit(eta),
            "two": rng.random(n) < ndtr(eta),
            "cost": mean * rng.gamma(self.cost_shape, 1 / self.cost_shape, n),
            "visits": rng.poisson(POISSON_MEAN * mean * rng.gamma(self.dispersion, 1 / self.dispersion, n)),
            "score": eta + self._errors(rng, n),
            "months": np.ceil(seen) if self.whole_times else seen,
            "died": event <= stopped,
            "law": self._law(rng, n),
        }

    def _events(self, rng: np.random.Generator, treated: Array) -> Array:
        rate = np.where(treated, self.hazard_ratio, 1.0)
        return (20.0 if self.whole_times else 10.0) * (rng.exponential(1, len(treated)) / rate) ** (
            1 / self.hazard_shape
        )

    def _errors(self, rng: np.random.Generator, n: int) -> Array:
        if self.facts["errors"] == "t, 3 df":
            return rng.standard_t(3, n)
        if self.facts["errors"] == "Laplace":
            return rng.laplace(0, 1, n)
        return rng.normal(0, 1, n) * np.where(rng.random(n) < 0.1, 10.0, 1.0)

    def _law(self, rng: np.random.Generator, n: int) -> Array:
        p = self.parameters
        return {
            "Normal": lambda: rng.normal(p["mean"], p["sd"], n),
            "Gamma": lambda: rng.gamma(p["shape"], 1 / p["rate"], n),
            "Lognormal": lambda: rng.lognormal(p["mean"], p["sd"], n),
            "Weibull": lambda: p["scale"] * rng.weibull(p["shape"], n),
            "Beta": lambda: rng.beta(p["a"], p["b"], n),
            "Exponential": lambda: rng.exponential(1 / p["rate"], n),
            "Poisson": lambda: rng.poisson(p["mean"], n),
            "NegativeBinomial": lambda: rng.poisson(p["mean"] * rng.gamma(p["dispersion"], 1 / p["dispersion"], n)),
        }[self.facts["law"]]()
