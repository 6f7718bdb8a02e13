"""Named steps on counts: what they make, what they say, and that margins agree."""

from __future__ import annotations

import numpy as np
import pytest
from drawn_releases import one

import tacit as tc
from tacit.errors import InferenceError
from tacit.method.histogram.estimate_from_cells.adjusted_counts import adjusted

COLUMNS = {"a": tc.Integer(0, 1, missing=0), "k": tc.Integer(0, 4, missing=0)}
COUNTS = np.array([[40, 0, 0, 5, 3], [30, 0, 20, 0, 2]])


def test_steps_are_carried_and_said() -> None:
    release = one(COLUMNS, {}, COUNTS, 0.3)
    made = adjusted(release, "project", "threshold", "simplex")
    assert made.steps == ("project", "threshold", "simplex")
    assert [note.split(":")[0] for note in made.notes] == list(made.steps)
    assert "project and threshold and simplex" in made.summary().title
    assert made.counts.sum() == pytest.approx(100)
    assert made.counts.min() >= 0
    assert made.std_error is None


def test_projection_keeps_its_standard_error() -> None:
    made = adjusted(one(COLUMNS, {}, COUNTS, 0.3), "project")
    own = made.release.parts[0].law.variance()
    assert made.counts.sum() == pytest.approx(100)
    assert made.reason is None
    assert made.std_error == pytest.approx(np.sqrt(own * (1 - 1 / 10)))
    margin = made.margin("a")
    assert margin.std_error == pytest.approx(np.sqrt(own * 5 * (1 - 1 / 2)))


def test_the_simplex_is_the_nearest() -> None:
    """Against random counts of the same kind: none is nearer."""
    release = one(COLUMNS, {}, COUNTS, 0.3)
    found, raw = adjusted(release, "simplex").counts, adjusted(release, "clip").cells
    counts = np.array(release.parts[0].integers, float).reshape(2, 5)
    rng = np.random.default_rng(0)
    others = rng.dirichlet(np.maximum(found.reshape(-1), 0.05), 2_000).reshape(-1, 2, 5) * 100
    assert (((others - counts) ** 2).sum(axis=(1, 2)) >= ((found - counts) ** 2).sum()).all()
    assert raw.steps == ("clip",)
    assert (raw.counts == np.maximum(counts, 0)).all()


def test_margins_of_the_same_counts_agree() -> None:
    made = adjusted(one(COLUMNS, {}, COUNTS, 0.1), "simplex")
    assert made.margin("a").counts.sum() == pytest.approx(made.margin("k").counts.sum())
    assert made.margin("a").counts == pytest.approx(made.to_frame().sum(axis=1).to_numpy())


def test_the_cut_is_one_that_empty_cells_rarely_pass() -> None:
    release = one(COLUMNS, {}, COUNTS, 0.3)
    made = adjusted(release, "threshold", chance=0.01)
    law = release.parts[0].law
    assert 10 * float(law.sf(made.cuts[0] - 1)) <= 0.01 < 10 * float(law.sf(made.cuts[0] - 2))
    lei = adjusted(release, "threshold", A=0.5)
    assert lei.cuts[0] == pytest.approx(0.5 * np.sqrt(law.variance() / 2) / 2 * np.log(100))


@pytest.mark.parametrize(
    ("steps", "words"),
    [(("smooth",), {}), (("clip", "project"), {}), (("threshold",), {"A": -1}), (("threshold",), {"chance": 2})],
)
def test_what_steps_refuse(steps: tuple[str, ...], words: dict[str, float]) -> None:
    with pytest.raises(InferenceError) as refused:
        adjusted(one(COLUMNS, {}, COUNTS), *steps, **words)  # type: ignore[arg-type]
    assert refused.value.code == "I53"
    with pytest.raises(InferenceError, match="not public"):
        adjusted(one(COLUMNS, {}, COUNTS, neighbors="add-remove"), "project")
