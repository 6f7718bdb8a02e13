"""A method is added by its own folder and one line of the registry: everything else is open to it at once."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

from tacit.release import registry

SOURCE = Path(registry.__file__).parents[1]
ROOM = Path(__file__).parent / "halves"
LINE = (
    '    Method("halves", ("Halves",), {"halves": ReleaseKind("estimate.HalvesRelease", cells=2, forms=("count",))}),\n'
)
FIRST = "METHODS: Final = (\n"
SCRIPT = """
import numpy as np, tacit as tc
from tacit.catalogue.json_schema import made
from tacit.release.query import query_from_dict
from tacit.method.halves.query import Halves

query = Halves("x")
assert query_from_dict(query.to_dict()) == query
schema, table = tc.Schema({"x": tc.Real(0, 10)}), {"x": [1.0] * 300 + [9.0] * 700}
curator = tc.Curator(table, schema, name="t", budget=tc.Budget(epsilon=4))
plan = curator.plan(query, epsilon=2)
assert plan.numbers == 2 and plan.width > 0 and "Halves" in str(plan)
release = curator.release(query, epsilon=2)
found = release.estimate()
assert found.terms == ("[0, 5)", "[5, 10]"), found.terms
assert abs(found.values - [300, 700]).max() < 40
release.save("one.json")
again = tc.Release.load("one.json")
assert type(again) is type(release) and again.to_dict() == release.to_dict()
assert again.estimate().values.tolist() == found.values.tolist()
many = tc.testing.simulate(query, {"x": np.array(table["x"])}, schema, epsilon=2, repeats=200)
assert many.release(0).estimate().terms == found.terms
assert made()["$defs"]["release:halves"]["properties"]["kind"] == {"const": "halves"}
print("released, estimated, planned, simulated, written and read")
"""


def test_a_new_method_is_its_folder_and_one_line(tmp_path: Path) -> None:
    package = tmp_path / "tacit"
    shutil.copytree(SOURCE, package, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copytree(ROOM, package / "method" / "halves", ignore=shutil.ignore_patterns("__pycache__"))
    (package / "method" / "halves" / "__init__.py").write_text('"""Halves."""\n', encoding="utf-8")
    place = package / "release" / "registry.py"
    text = place.read_text(encoding="utf-8")
    assert text.count(FIRST) == 1
    place.write_text(text.replace(FIRST, FIRST + LINE), encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(tmp_path)},
        capture_output=True,
        text=True,
        timeout=200,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == "released, estimated, planned, simulated, written and read"
    assert len(list(ROOM.glob("*.py"))) <= 4
