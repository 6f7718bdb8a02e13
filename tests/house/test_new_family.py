"""A family of likelihoods is added by its own file and one line of the registry: every method then serves it."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tacit.models import registered_families

MODELS = Path(registered_families.__file__).parent
FILE = Path(__file__).parent / "halfnormal.py"
LINE = "from tacit.models.families.halfnormal import HalfNormal as HalfNormal\n"
SCRIPT = """
import numpy as np, tacit as tc
from tacit.catalogue.json_schema import made

law = tc.families.HalfNormal(sd=(0.5, 5))
assert "HalfNormal" in tc.families.__all__
assert tc.families.family(law.words()) == law
rows = law.sample([2.0], 20_000, 1)
table, schema = {"x": rows}, tc.Schema({"x": tc.Real(0, 12)})
curator = tc.Curator(table, schema, name="t", budget=tc.Budget(epsilon=30))

blocks = tc.SampleAndAggregate("x", law, blocks=200)
sums = tc.SufficientStatistics("x", law)
for query in (blocks, sums):
    assert curator.plan(query, epsilon=4).width > 0
    release = curator.release(query, epsilon=4)
    found = release.estimate()
    assert found.terms == ("sd",), found.terms
    assert abs(found.value - 2) < 6 * found.std_error < 0.5, (found.value, found.std_error)
    release.save("one.json")
    again = tc.Release.load("one.json")
    assert type(again) is type(release) and again.to_dict() == release.to_dict()
    assert again.query == query and again.estimate().value == found.value
    many = tc.testing.simulate(query, table, schema, epsilon=4, repeats=20)
    assert many.release(0).estimate().terms == ("sd",)

cells = curator.release(tc.Histogram("x", bins={"x": 24}), epsilon=4)
cells.save("two.json")
fit = tc.Release.load("two.json").fit("x", family="halfnormal").coefficients
assert fit.terms == ("sd",), fit.terms
assert abs(fit.value - 2) < 6 * fit.std_error < 0.5, (fit.value, fit.std_error)
assert "HalfNormal" in str(made())
print("fitted by blocks, statistics and cells, simulated, written and read")
"""


@pytest.mark.long
def test_a_new_family_is_its_file_and_one_line(tmp_path: Path) -> None:
    package = tmp_path / "tacit"
    shutil.copytree(MODELS.parent, package, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(FILE, package / "models" / "families")
    with (package / "models" / Path(registered_families.__file__).name).open("a", encoding="utf-8") as registry:
        registry.write(LINE)
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(tmp_path)},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == "fitted by blocks, statistics and cells, simulated, written and read"
