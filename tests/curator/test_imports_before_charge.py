"""What fails to import costs nothing: every file of ours that a release needs is imported before its charge."""

from __future__ import annotations

import subprocess
import sys

import pytest

from tacit.release.registry import KINDS

SCRIPT = """
import os, sys
import tacit as tc
from tacit.ledger import Ledger

own = tc.extend.additive("capped-total", rows=lambda column: [tc.col(column).clip(0, 5)])
QUESTIONS = [
    tc.Mean("x", by="g"),
    tc.DataQuality("x"),
    tc.Quantiles("x", [0.5]),
    tc.Range("x"),
    tc.Histogram("g"),
    tc.Histogram(["n", "g"], sparse=True),
    tc.Regression("x ~ n"),
    tc.SufficientStatistics("x", tc.families.Normal(mean=(0, 10), sd=(1, 5))),
    tc.SampleAndAggregate("x", tc.families.Gamma(shape=(0.5, 5), rate=(0.01, 1))),
    own(column="x"),
    tc.Bernstein("x", degree=8),
    tc.Bootstrap(tc.Mean("x"), replicates=4),
    tc.KernelDensity("x"),
    tc.KSDataset("x", size=8, cells=20),
    tc.OrthogonalSeries("x", terms=8),
    tc.Regression("b ~ g", model="logistic", method="cells"),
    tc.ExponentialMechanism("g"),
    tc.UnlistedLevels("t"),
    tc.RiskFunction("b", "n", degree=2),
]
schema = tc.Schema({"x": tc.Real(0, 10), "n": tc.Integer(0, 5), "g": tc.Category(["a", "b"]),
                    "t": tc.Text(max_length=8), "b": tc.Boolean()})
rows = {"x": [i % 11 / 1 for i in range(400)], "n": [i % 6 for i in range(400)],
        "g": ["a" if i % 3 else "b" for i in range(400)], "t": ["cold"] * 400,
        "b": [i % 5 < 2 for i in range(400)]}
charge = Ledger.charge

def ask(question):
    if type(question).__name__ == "Additive":  # what a curator of such a statistic has done before
        tc.testing.contract(question, schema, tables=10, draws=10_000)
    curator, imported = tc.Curator(rows, schema, budget=tc.Budget(epsilon=4, delta=1e-5), trust=[own]), []

    def noted(self, request):
        imported.extend(sys.modules)
        return charge(self, request)

    Ledger.charge = noted
    release = curator.release(question, epsilon=1, delta=1e-6)
    late = sorted(name for name in set(sys.modules) - set(imported) if name.partition(".")[0] in ("tacit", "jax"))
    print(release.kind, *late, flush=True)

import numpy, scipy.optimize, scipy.special, scipy.stats  # not ours: once for all processes

for question in QUESTIONS[:: int(sys.argv[1])]:  # each in a process that has imported nothing of ours but the library
    if os.fork() == 0:
        ask(question)
        os._exit(0)
    os.wait()
"""


@pytest.mark.parametrize("step", [4, pytest.param(1, marks=pytest.mark.long)], ids=["some", "all"])
def test_nothing_of_ours_is_imported_after_the_charge(step: int) -> None:
    """Means, histograms, blocks and two more, of which some import most; all kinds in the second tier."""
    found = subprocess.run([sys.executable, "-c", SCRIPT, str(step)], capture_output=True, text=True, check=False)
    kinds = (
        sorted(KINDS)
        if step == 1
        else ["histogram", "kernel-density", "moments", "sample-and-aggregate", "selected-candidate"]
    )
    assert sorted(found.stdout.splitlines()) == kinds, found.stdout + found.stderr
