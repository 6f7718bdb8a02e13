"""The proof and the code cite each other: every label on either side exists on the other."""

from __future__ import annotations

import re
from pathlib import Path

import tacit.noise

FOLDER = Path(tacit.noise.__file__).parent
LABEL = re.compile(r"\[([A-Z]\d?)\]")


def labels_of_the_proof() -> set[str]:
    return set(re.findall(r"^### \[([A-Z]\d?)\]", (FOLDER / "PROOF.md").read_text(encoding="utf-8"), re.MULTILINE))


def labels_of_the_code() -> set[str]:
    return {
        label
        for name in ("exact", "exact_vectors", "exact_products", "select", "threshold", "curves", "tail_bounds")
        for label in cited(FOLDER / f"{name}.py")
    }


def cited(path: Path) -> set[str]:
    text = path.read_text(encoding="utf-8")
    ranges = {f"E{i}" for low, high in re.findall(r"\[E(\d)\]-\[E(\d)\]", text) for i in range(int(low), int(high) + 1)}
    return set(LABEL.findall(text)) | ranges


def test_every_label_in_the_code_is_proven() -> None:
    assert labels_of_the_code() <= labels_of_the_proof()
    assert len(labels_of_the_proof()) >= 12


def test_every_proof_is_cited_in_the_code() -> None:
    assert labels_of_the_proof() <= labels_of_the_code()


def test_labels_within_the_proof_exist() -> None:
    assert cited(FOLDER / "PROOF.md") <= labels_of_the_proof()
