"""Checks that anyone can run: the contract of a mechanism, the law of a noise, simulations and coverage.  OUTSIDE."""

from __future__ import annotations

from tacit.testing.contract import Contract, contract
from tacit.testing.coverage import Coverage, coverage
from tacit.testing.noise_law import NoiseLaw, noise_law
from tacit.testing.simulate import SimulatedRelease, Simulation, simulate

__all__ = [
    "Contract",
    "Coverage",
    "NoiseLaw",
    "SimulatedRelease",
    "Simulation",
    "contract",
    "coverage",
    "noise_law",
    "simulate",
]
