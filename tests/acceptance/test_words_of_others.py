"""The page for people who know R, statsmodels or Stata names words that exist."""

from __future__ import annotations

import re
from pathlib import Path

import tacit as tc
from tacit.estimates.estimate import Estimate
from tacit.method.histogram.estimate import HistogramRelease

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "if-you-know.md"
OPTIONS = {"where", "bins", "weights", "missing", "rng", "width", "computed", "max_rows", "rho", "target", "model"}
FOLLOWS = {
    *("value", "std_error", "cov", "conf_int", "test", "contrast", "pairwise", "ratio", "odds_ratio", "trend"),
    *("independence", "standardize", "poststratify", "summary", "to_frame", "plot", "bootstrap", "proportions"),
}


def ours() -> list[str]:
    """The last column of the page's tables."""
    rows = [
        line.strip("|").split("|") for line in PAGE.read_text(encoding="utf-8").splitlines() if line.startswith("|")
    ]
    return [row[-1] for row in rows if not set(row[-1]) <= set("-| ")]


def test_every_word_of_ours_exists() -> None:
    words = "\n".join(ours())
    of_tc = set(re.findall(r"(?<![\w.])([A-Z]\w+)\(", words)) | set(re.findall(r"\btc\.(\w+)", words))
    assert len(of_tc) > 8
    assert [name for name in of_tc if not hasattr(tc, name)] == []
    methods = set(re.findall(r"(?<![\w)])\.(\w+)", words)) - {"estimate"}  # of a release
    of_cells = {name for name in methods if hasattr(HistogramRelease, name)}
    assert [name for name in methods - of_cells if name not in FOLLOWS | {"sampling_cov", "privacy_cov"}] == []
    assert [name for name in methods - of_cells if not hasattr(Estimate, name)] == []
    assert set(re.findall(r"(\w+)=", words)) <= OPTIONS | {"adjust", "of", "by", "exponentiate"}


def test_every_word_of_an_estimate_is_on_the_page() -> None:
    words = "\n".join(ours())
    assert [name for name in FOLLOWS if f".{name}" not in words] == []
    public = {name for name in vars(Estimate) if not name.startswith("_") and callable(getattr(Estimate, name))}
    assert public - FOLLOWS - {"intervals"} == set()
