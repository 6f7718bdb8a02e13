"""An engine is added by its own file and one line of the registry: every question is open to its tables at once."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tacit.source import engine_registry

SOURCE = Path(engine_registry.__file__).parents[1]
TOY = Path(__file__).parent / "toy"
LINE = '    FrameKind("Rows", "table", "rows_engine", ("rows_library",), ("RowTable",)),\n'
FIRST = "FRAMES: Final = (\n"
SCRIPT = """
import random
from datetime import date, timedelta

import numpy as np
import tacit as tc
from rows_library import RowTable
from tacit.curator.mechanisms import design, integers
from tacit.method.regression import design as regression
from tacit.method.regression.designs import scores_design
from tacit.method.regression.formulas.formula import parse
from tacit.method.regression.pilots.glm_pilot import ScorePoint, integer_score, link_of
from tacit.method.regression.formulas.layout import layout
from tacit.method.regression.mechanism_rows import exact_part
from tacit.method.regression.row_sums.noisy_scores import scaled_terms
from tacit.method.shared.measurement import Public
from tacit.privacy import Cost
from tacit.rows.row_products import ClippedResidual
from tacit.source import check_source, open_source

schema = tc.Schema({
    "age": tc.Real(0, 100), "visits": tc.Integer(0, 9, missing=0), "ok": tc.Boolean(),
    "twice": tc.Real(0, 150, computed="2 * age"),
    "sex": tc.Category(["f", "m"], missing="unknown"), "day": tc.Date("2024-01-01", "2024-12-31"),
})
draw = random.Random(5)
cells = {
    "age": lambda: draw.choice([None, float("nan"), float("inf"), -1e308, 49.99999999999999, draw.uniform(-5, 105)]),
    "visits": lambda: draw.choice([None, draw.randrange(-2, 12)]),
    "ok": lambda: draw.choice([None, True, False]),
    "sex": lambda: draw.choice([None, "f", "m", "x"]),
    "day": lambda: draw.choice([None, date(2023, 12, 30) + timedelta(draw.randrange(400))]),
}
rows = [{name: cell() for name, cell in cells.items()} for _ in range(400)]
types = {"age": "number", "visits": "number", "ok": "boolean", "sex": "text", "day": "date"}
memory = open_source({name: [row[name] for row in rows] for name in cells}, schema)
toy = open_source(RowTable(types, rows), schema)
assert toy.kind == "Rows table" and toy.columns() == types
check_source(toy, schema)
toy.ready()
assert toy.rows() == memory.rows() == 400

questions = [
    tc.Count(by=["sex", "ok"]), tc.Sum("visits"), tc.Mean("age", by="sex", where="ok and visits > 2"),
    tc.Variance("twice"), tc.Mean("day"), tc.Quantiles("age", [0.5], by="sex"), tc.DataQuality(),
    tc.Histogram(["age", "sex", "day"], bins={"age": 7, "day": 4}, where="twice < 150"),
]
for question in questions:
    shape = design(question, Public(schema, "add-remove", None), Cost.of(epsilon=1))
    assert integers(shape, toy) == integers(shape, memory), question
public, price = Public(schema, "add-remove", None), Cost.of(epsilon=1)
linear = design(tc.Regression("age ~ visits + sex*ok", where="age < 90"), public, price)
size = len(linear.columns[1].question.coordinates)
score = ClippedResidual((*((-1) ** j * (12_345_678 + 987_654 * j) for j in range(size - 1)), 400_000_001), 29, 512)
logistic = design(tc.Regression("ok ~ age + sex", model="logistic"), public, price)
made = layout(parse(logistic.query.formula), logistic.variables)
terms = scaled_terms(made)
link = link_of("logistic", made).with_grid(-1.0, 4.0, 2.5, 0.3)
slopes = np.array([0.7 - 0.31 * j for j in range(len(terms.matrix))])
logit = integer_score(ScorePoint(slopes, link.cuts()[len(link.cuts()) // 2], link), terms, 512)
for shape, part in (
    (linear, linear.columns[0]), (linear, regression.with_residual(linear.columns[1], score)),
    (logistic, logistic.columns[0]), (logistic, scores_design.with_score(logistic.columns[-1], *logit)),
):
    found = exact_part(part, shape, toy)
    assert found == exact_part(part, shape, memory) and any(map(any, found)), part
try:
    open_source(RowTable, schema)
except tc.errors.SourceError as refused:
    assert refused.code == "D01" and "a Rows or PyArrow table" in str(refused), refused
print("counted, summed, ranked, binned and scored")
"""


@pytest.mark.long
def test_a_new_engine_is_its_file_and_one_line(tmp_path: Path) -> None:
    package = tmp_path / "tacit"
    shutil.copytree(SOURCE, package, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(TOY / "rows_engine.py", package / "source" / "engines")
    shutil.copy(TOY / "rows_library.py", tmp_path)
    place = package / "source" / "engine_registry.py"
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
    assert done.stdout.strip() == "counted, summed, ranked, binned and scored"


def test_opening_a_table_imports_no_other_engine() -> None:
    script = """
import sys, tacit
tacit.Curator
def loaded():
    return sorted(name.rpartition(".")[2] for name in sys.modules if name.startswith("tacit.source.engines."))
assert "tacit.source.engine_registry" not in sys.modules or loaded() == ["dict_of_arrays"], loaded()
from tacit.source import open_source
open_source({"age": [30, 40]})
assert loaded() == ["dict_of_arrays"], loaded()
assert {"polars", "pyspark"} & set(sys.modules) == set()
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=100)
    assert done.returncode == 0, done.stderr
