"""Parts of many cells are arrays: they read as tuples do, are one text, and come back; damaged texts are refused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from json_schema import faults

import tacit as tc
from tacit.errors import ReleaseError
from tacit.release.document import release_from_dict
from tacit.release.packing import MANY, RARE, Packed, floats, packed

ENDS = [0, 1, -1, 127, 128, -128, -129, 2**15 - 1, -(2**15) - 1, 2**31, -(2**31) - 1, 2**53 + 1, 2**63 - 1, -(2**63)]


@given(st.lists(st.one_of(st.integers(-200, 200), st.sampled_from(ENDS)), max_size=200))
def test_every_array_comes_back(cells: list[int]) -> None:
    made = Packed(np.array(cells, dtype=np.int64))
    words = json.loads(json.dumps(made.to_dict()))
    again = Packed.from_dict(words)
    assert again == made
    assert again.to_dict() == words
    assert made == tuple((k,) for k in cells)
    assert tuple((k,) for k in cells) == made
    assert hash(made) == hash(tuple((k,) for k in cells))


def test_it_reads_as_a_tuple_does() -> None:
    cells = Packed(np.array([5, -7, 2**40]))
    plain = ((5,), (-7,), (2**40,))
    assert list(cells) == list(plain)
    assert cells[-1] == plain[-1]
    assert isinstance(cells[0][0], int)
    assert cells[1:] == plain[1:]
    assert (cells != plain[:2], cells != [(5,)], (-7,) in cells) == (True, True, True)
    assert (np.array(cells, dtype=np.float64) == np.array(plain, dtype=np.float64)).all()
    assert floats(cells).tolist() == floats(plain).tolist()
    with pytest.raises(IndexError):
        _ = cells[3]
    with pytest.raises(ValueError, match="read-only"):
        cells.array[0] = 1


def test_the_narrowest_integers_that_nearly_all_fit() -> None:
    """At most one in RARE is written by its place."""
    cells = np.zeros(10 * RARE, dtype=np.int64)
    cells[:10] = 2**62
    words = Packed(cells).to_dict()
    assert (words["bits"], len(words["others"])) == (8, 10)
    cells[10] = 300
    assert (Packed(cells).to_dict()["bits"], len(Packed(cells).to_dict()["others"])) == (16, 10)
    cells[11] = 2**62
    assert Packed(cells).to_dict()["bits"] == 64


def test_few_cells_and_wide_ones_stay_tuples() -> None:
    few = packed(Packed(np.arange(MANY)))
    assert type(few) is tuple
    assert type(packed([(k,) for k in range(MANY + 1)])) is Packed
    for others in ([(0, 1)] * (MANY + 1), [*[(0,)] * MANY, (2**63,)]):
        assert packed(others) is others


@pytest.fixture(scope="module")
def release() -> tc.HistogramRelease:
    rng = np.random.default_rng(0)
    people = {"x": rng.beta(2, 5, 20_000), "y": rng.random(20_000)}
    people["x"][:3_000] = people["y"][:3_000] = 0.001  # one cell that takes more than 8 bits
    schema = tc.Schema({"x": tc.Real(0, 1), "y": tc.Real(0, 1)})
    curator = tc.Curator(people, schema, budget=tc.Budget(epsilon=10))
    return curator.release(tc.Histogram(["x", "y"], bins={"x": 100, "y": 50}), epsilon=1)


def test_a_release_of_many_cells_comes_back(release: tc.HistogramRelease, tmp_path: Path) -> None:
    assert type(release.parts[0].integers) is Packed
    release.save(tmp_path / "r.json")
    again = tc.Release.load(tmp_path / "r.json")
    assert again == release
    assert again.to_json() == release.to_json()
    assert (again.counts == release.counts).all()
    words = release.to_dict()
    assert list(faults(words, tc.release_schema(), tc.release_schema())) == []
    assert words["parts"][0]["packed"]["bits"] == 8
    assert [0, release.parts[0].integers[0][0]] in words["parts"][0]["packed"]["others"]


def test_lists_of_earlier_documents_load_as_the_same_release(release: tc.HistogramRelease) -> None:
    words = release.to_dict()
    part = words["parts"][0]
    del part["packed"]
    part["integers"] = [list(cell) for cell in release.parts[0].integers]
    assert list(faults(words, tc.release_schema(), tc.release_schema())) == []
    assert release_from_dict(words) == release


DAMAGES: dict[str, Any] = {
    "no bits": {"bits": 7},
    "true bits": {"bits": True},
    "text of bits": {"bits": "8"},
    "wider than it is": {"bits": 16},
    "no base64": {"text": "?" * 8},
    "blanks": {"text": " AAAA"},
    "no text": {"text": 3},
    "another length": {"text": "AAAA"},
    "a place beyond": {"others": [[5_000, 1_000]]},
    "a place before": {"others": [[-1, 1_000]]},
    "a place that is none": {"others": [[True, 1_000]]},
    "one that fits": {"others": [[0, 5]]},
    "beyond 64 bits": {"others": [[0, str(2**63)]]},
    "half a pair": {"others": [[0]]},
    "no list": {"others": 4},
    "not in order": {"others": [[1, 1_000], [0, 1_000]]},
}


@pytest.mark.parametrize("damage", DAMAGES.values(), ids=DAMAGES.keys())
def test_what_would_not_be_written_is_refused(release: tc.HistogramRelease, damage: dict[str, Any]) -> None:
    words = release.to_dict()
    words["parts"][0]["packed"] |= damage
    with pytest.raises(ReleaseError) as found:
        release_from_dict(words)
    assert found.value.code == "R05"


def test_another_number_of_cells_is_refused(release: tc.HistogramRelease) -> None:
    words = release.to_dict()
    words["levels"][0][1].append("one more")
    with pytest.raises(ReleaseError) as found:
        release_from_dict(words)
    assert found.value.code == "R05"
    short = release.to_dict()
    short["parts"][0]["packed"] = None
    with pytest.raises(ReleaseError) as found:
        release_from_dict(short)
    assert found.value.code == "R05"
