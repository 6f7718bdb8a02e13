"""Checks that anyone can run: a mechanism's contract, the distribution of its noise, simulation, coverage.  OUTSIDE."""

from __future__ import annotations

from tacit.release.simulated import SimulatedRelease
from tacit.testing.contract import contract
from tacit.testing.coverage import Coverage, coverage
from tacit.testing.findings import Contract
from tacit.testing.noise_law_test import NoiseLaw, noise_law
from tacit.testing.simulate import Simulation, simulate

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
