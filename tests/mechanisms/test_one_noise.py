"""Every mechanism draws its noise by one function: the contract suite tests a law once, whoever has it."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tacit as tc
from tacit.curator import mechanisms
from tacit.method.shared import mechanism_additive, mechanism_cell_counts
from tacit.noise.laws import Law
from tacit.noise.product import ProductLaplace
from tacit.noise.spherical import SphericalLaplace
from tacit.privacy import Cost
from tacit.source import open_source

SRC = Path(tc.__file__).parent
DRAWN_BY = {
    ("noise.exact", "draw"): {
        "shared/mechanism_additive.py",
        "shared/mechanism_cell_counts.py",
        "histogram/mechanism_sparse.py",
        "bootstrap/mechanism.py",
        "unlisted_levels/mechanism.py",
    },
    # secret multiplicities of rows, no noise: `tests/mechanisms/test_bootstrap_draws.py` tests their law
    ("noise.exact", "system_words"): {"bootstrap/mechanism_resampling.py"},
    ("noise.exact_vectors", "draw_vector"): {"shared/mechanism_additive.py"},
    ("noise.exact_products", "draw_columns"): {"shared/mechanism_additive.py"},
    ("noise.select", "choose"): {"shared/mechanism_rank_selection.py", "exponential_mechanism/mechanism.py"},
    ("noise.select", "choose_bounded"): {"ks_dataset/mechanism.py"},
    ("noise.select", "uniform"): {"ks_dataset/mechanism.py"},
    ("noise.threshold", "passing"): {"histogram/mechanism_sparse.py"},
}
DRAWING = {module for module, _ in DRAWN_BY}
SCHEMA = tc.Schema({"x": tc.Real(0, 10), "n": tc.Integer(0, 5), "g": tc.Category(["a", "b"]), "yes": tc.Boolean()})
ROWS = {
    "x": [i % 11 / 1 for i in range(60)],
    "n": [i % 6 for i in range(60)],
    "g": ["ab"[i % 2] for i in range(60)],
    "yes": [i % 3 == 0 for i in range(60)],
}


def test_noise_is_drawn_at_these_places_alone() -> None:
    """And whatever else is random needs the system's words, which the wall keeps to `noise`, blocks and names."""
    found: dict[tuple[str, str], set[str]] = {}
    for path in (SRC / "method").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("tacit.noise"):
                for name in node.names:
                    place = (node.module or "").removeprefix("tacit."), name.name
                    if place[0] in DRAWING and name.name != "MOST":
                        found.setdefault(place, set()).add(path.relative_to(SRC / "method").as_posix())
    added = found.pop(("noise.exact", "added"))  # no draw
    assert added == {
        "shared/mechanism_cell_counts.py",
        "histogram/mechanism_sparse.py",
        "bootstrap/mechanism.py",
        "unlisted_levels/mechanism.py",
    }
    assert found == DRAWN_BY


@pytest.mark.parametrize("noise", ["laplace", "normal"])
@pytest.mark.parametrize(
    "query",
    [
        tc.Mean("x", by="g"),
        tc.Mean(["x", "n"]),
        tc.Variance("x"),
        tc.Count(where="yes"),
        tc.DataQuality("x"),
        tc.Histogram(["g", "n"]),
        tc.Regression("x ~ n + g"),
        tc.Regression("yes ~ n + g", method="cells"),
        tc.SufficientStatistics("x", tc.families.Normal(mean=(0, 10), sd=(1, 5))),
    ],
    ids=str,
)
def test_without_these_draws_a_release_is_exact(query: Any, noise: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """One draw for each integer or vector, of its part's law, and no other change of a sum."""
    laws: list[tuple[Law, int]] = []

    def none(law: Law, size: int) -> np.ndarray:
        laws.append((law, size))
        return np.zeros(size, dtype=np.int64)

    def no_vector(law: SphericalLaplace) -> list[int]:
        return none(law, law.dimension).tolist()

    def no_columns(columns: list[ProductLaplace]) -> list[list[int]]:
        return [none(law, law.size).tolist() for law in columns]

    monkeypatch.setattr(mechanism_additive, "draw", none)
    monkeypatch.setattr(mechanism_additive, "draw_columns", no_columns)
    monkeypatch.setattr(mechanism_additive, "draw_vector", no_vector)
    monkeypatch.setattr(mechanism_cell_counts, "draw", none)
    price = {"epsilon": 1} if noise == "laplace" else {"rho": 1}
    curator = tc.Curator(ROWS, SCHEMA, budget=tc.Budget(**price))
    release = curator.release(query, **price)
    exact = mechanisms.integers(curator.design(query, Cost.of(**price)), open_source(ROWS, SCHEMA))
    same = (
        1 if isinstance(query, tc.Regression) else len(release.parts)
    )  # its later parts follow from the first's noise
    found = [[tuple(cell) for cell in part.integers] for part in release.parts]
    assert found[:same] == [list(cells) for cells in exact[:same]]
    assert laws == [(part.law, sum(len(cell) for cell in part.integers)) for part in release.parts]
