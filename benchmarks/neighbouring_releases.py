"""Neighbouring tables, released end to end: what their integers cost, and whether anything else of them differs.

    python benchmarks/neighbouring_releases.py [--pairs 4000] [--seed 1] [--careless]

Random questions (means, sums, counts, variances, histograms, densities, quality, sufficient statistics, bootstraps, own
statistics, selections, levels that nobody listed) of two small tables that differ in one row or one person, with odd
cells (NaN, infinities, beyond bounds, unlisted, null, twice the same), in several kinds of tables and files.  Samplers
are replaced by zeros, so that a release holds its exact integers.  Of each pair:

- the loss that the released laws give to the difference of the integers, all parts together, is at most the price: the
  l1 distance over the scale of Laplace noise, the squared l2 distance over the variance of normal noise, the norm of a
  vector's law; and the distances are at most the sensitivities that the parts declare.  Nothing of `tacit.testing` or
  of the encodings is used;
- of a selection, the log-ratio of the probabilities of every outcome, by the utilities and the rate;
- all else is the same: fields of the release, texts of errors, warnings, both streams, the ledger's entries.

`--careless` makes rows count more than their encoding says, which must be found.  A thinned run is
`tests/wall/test_neighbours_differ_in_integers_alone.py`.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import tempfile
import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import date
from fractions import Fraction
from itertools import combinations_with_replacement
from pathlib import Path
from typing import Any, Final

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.csv as pa_csv
import pyarrow.parquet as pa_parquet
from fuzzing import finished

import tacit as tc
from tacit.curator import purchase as door
from tacit.curator.mechanisms import design, integers
from tacit.errors import QueryError, TacitError
from tacit.method.bootstrap import mechanism as bootstrap
from tacit.method.shared.measurement import Public
from tacit.noise import exact, exact_products, exact_vectors
from tacit.noise.averaged_laplace import AveragedLaplace
from tacit.noise.laws import DiscreteLaplace, RoundedNormal
from tacit.noise.product import ProductLaplace
from tacit.noise.spherical import SphericalLaplace
from tacit.privacy import Cost
from tacit.release.document import Release
from tacit.source import open_source

COLUMNS: Final = {
    "x": tc.Real(0, 10),
    "y": tc.Real(-5, 3, missing=2),
    "k": tc.Integer(0, 9),
    "b": tc.Boolean(),
    "g": tc.Category(["a", "b", "c"]),
    "h": tc.Category(["p", "q"], missing="other"),
    "s": tc.Category(["p", "q"]),
    "w": tc.Real(0, 4),
    "d": tc.Date(date(2000, 1, 1), date(2000, 12, 31)),
    "t": tc.Text(max_length=3),
}
MOST: Final = 2
"""Most rows of a person."""
NUMBERS: Final = (0.0, -0.0, 10.0, 5.0, 3.0, -5.0, 9.999999999, 1e-300, 5e-324, 1e308, -1e308, 11.0, -1.0, 2.5, 0.1)
CELLS: Final[dict[str, tuple[Any, ...]]] = {
    "x": (*NUMBERS, float("nan"), float("inf"), float("-inf"), None),
    "y": (*NUMBERS, float("nan"), float("inf"), float("-inf"), None),
    "w": (*NUMBERS, 4.0, 4.0, float("nan"), None),
    "k": (0, 9, 9, 4, 5, -1, 2**53 + 1, -(2**62), 10, None),
    "b": (True, False, None),
    "g": ("a", "b", "c", "z", "", None),
    "h": ("p", "q", "z", None),
    "s": ("p", "q", "z", None),
    "d": (date(2000, 1, 1), date(2000, 12, 31), date(2000, 7, 1), date(1970, 1, 1), date(2100, 1, 1), None),
    "t": ("u", "v", "uu", "long text", "", " ", "é", None),
}
TYPES: Final = {
    "x": pa.float64(), "y": pa.float64(), "w": pa.float64(), "k": pa.int64(), "b": pa.bool_(), "g": pa.string(),
    "h": pa.string(), "s": pa.string(), "d": pa.date32(), "t": pa.string(), "who": pa.int64(),
}  # fmt: skip
CAPPED: Final = tc.extend.additive("capped, of neighbours", rows=lambda cap: [tc.col("k").clip(0, cap)])
SEVERAL: Final = tc.extend.additive(
    "several, of neighbours",
    rows=lambda: [tc.col("x") * tc.col("y"), tc.col("k").clip(0, 3) - tc.col("y"), "b and x > 3"],
)
TRUSTED: Final = (CAPPED, SEVERAL)
TOLERANCE: Final = 1e-9
"""Of a loss, for the floats that it is added up in here."""
Row = dict[str, Any]


# Tables -------------------------------------------------------------------------------------------------------------


def a_row(rng: np.random.Generator) -> Row:
    """One row of odd cells; half of them extreme in every column at once."""
    if rng.random() < 0.3:
        end = int(rng.integers(2))
        return {
            "x": (0.0, 10.0)[end],
            "y": (-5.0, 3.0)[int(rng.integers(2))],
            "w": 4.0,
            "k": (0, 9)[end],
            "b": bool(end),
            "g": "abc"[int(rng.integers(3))],
            "h": "pq"[end],
            "s": "pq"[end],
            "d": CELLS["d"][end],
            "t": "uv"[end],
        }
    return {name: cells[int(rng.integers(len(cells)))] for name, cells in CELLS.items()}


def neighbours(rng: np.random.Generator, relation: str, persons: bool) -> tuple[list[Row], list[Row]]:
    """Two tables that differ in one row, or in one person with all rows."""
    size = int(rng.integers(1, 9))
    common = [a_row(rng) for _ in range(size)]
    if common and rng.random() < 0.3:
        common = [common[0]] * size
    if persons:
        common = [{**row, "who": int(rng.integers(3)) + 10 * (i // 2)} for i, row in enumerate(common)]
        counts: Counter[int] = Counter()
        kept: list[Row] = []
        for row in common:  # nobody but the person who differs has rows to choose among: the choice is random
            counts[row["who"]] += 1
            kept += [row] if counts[row["who"]] <= MOST else []
        common = kept
    many = (lambda: int(rng.integers(1, 5))) if persons else (lambda: 1)
    first = [{**a_row(rng), **({"who": 999} if persons else {})} for _ in range(many())]
    second = [{**a_row(rng), **({"who": 999} if persons else {})} for _ in range(many())]
    if rng.random() < 0.2:
        second = [dict(row) for row in first]
        second[0]["x"] = CELLS["x"][int(rng.integers(len(CELLS["x"])))]
    at = int(rng.integers(len(common) + 1))
    one = [*common[:at], *first, *common[at:]]
    other = [*common[:at], *second, *common[at:]] if relation == "replace-one" else list(common)
    return (one, other) if rng.random() < 0.5 else (other, one)


def table(rows: list[Row], names: list[str], kind: str, folder: Path, stem: str) -> Any:
    """The rows as a table of a library, or as a file."""
    made = pa.table({name: pa.array([row[name] for row in rows], type=TYPES[name]) for name in names})
    if kind == "lists":
        return {name: [row[name] for row in rows] for name in names}
    if kind == "pandas":
        return made.to_pandas(types_mapper=pd.ArrowDtype)
    if kind == "polars":
        return pl.from_arrow(made)
    if kind == "arrow":
        return made
    folder.joinpath(stem).mkdir(exist_ok=True)
    path = folder / stem / f"table.{kind}"
    if kind == "csv":
        pa_csv.write_csv(made, path)
    else:
        pa_parquet.write_table(made, path)
    return path


# Questions ----------------------------------------------------------------------------------------------------------


def one_of(rng: np.random.Generator, *given: Any) -> Any:
    """One of these."""
    return given[int(rng.integers(len(given)))]


def where(rng: np.random.Generator) -> dict[str, Any]:
    """A condition, or none."""
    text = one_of(rng, None, None, "x > 3", "b or k >= 5", "g in ['a', 'c']", "not b", "y < 0 and x >= 0", "h == 'p'")
    return {} if text is None else {"where": text}


def by(rng: np.random.Generator) -> dict[str, Any]:
    """Groups, or none."""
    found = one_of(rng, (), (), "g", ["g", "h"], "b", ["h"])
    return {"by": found} if found else {}


def candidates(rng: np.random.Generator) -> dict[str, list[int]]:
    """Three candidates with numbers for the three levels of g."""
    return {name: rng.integers(-4, 5, 3).tolist() for name in ("one", "two", "three")}


KINDS: Final[dict[str, Callable[[np.random.Generator], Any]]] = {
    "mean": lambda r: tc.Mean(one_of(r, "x", "y", ["x", "k"], "b", "d", ["x", "y", "b"]), **by(r), **where(r)),
    "weighted mean": lambda r: tc.Mean(one_of(r, "x", "k", ["x", "b"]), weights="w", **by(r), **where(r)),
    "sum": lambda r: tc.Sum(one_of(r, "x", "y", "b", ["x", "k"]), **by(r), **where(r)),
    "weighted sum": lambda r: tc.Sum(one_of(r, "x", "k"), weights="w", **by(r), **where(r)),
    "count": lambda r: tc.Count(by=one_of(r, "g", ["g", "h"], "b"), **where(r)),
    "weighted count": lambda r: tc.Count(by="g", weights="w", **where(r)),
    "averaged Laplace": lambda r: tc.Mean("x", laplace_draws=3, **where(r)),
    "variance": lambda r: tc.Variance(one_of(r, "x", "y", "k"), **where(r)),
    "quality": lambda r: tc.DataQuality(one_of(r, "x", ["x", "g"], ["d", "b", "k"])),
    "histogram": lambda r: tc.Histogram(
        one_of(r, ["x", "g"], ["x", "h", "b"]), bins={"x": one_of(r, 3, [0, 1, 5, 10])}, **where(r)
    ),
    "series": lambda r: tc.OrthogonalSeries(
        one_of(r, ["x"], ["x", "y"]), one_of(r, "cosine", "legendre", "fourier", "haar"), terms=3, **where(r)
    ),
    "kernel": lambda r: tc.KernelDensity("x", bandwidth=one_of(r, 0.5, 2), **where(r)),
    "bernstein": lambda r: tc.Bernstein("x", degree=int(r.integers(2, 9)), order=int(r.integers(1, 3)), **where(r)),
    "risk": lambda r: tc.RiskFunction(one_of(r, "b", "s"), "x", one_of(r, "logistic", "hinge"), box=2, **where(r)),
    "risk of numbers": lambda r: tc.RiskFunction(
        "k", one_of(r, "x", "y"), one_of(r, "squared", "huber"), box=2, **where(r)
    ),
    "statistics": lambda r: tc.SufficientStatistics(
        "x",
        one_of(r, tc.families.Normal(mean=(0, 10), sd=(0.1, 9)), tc.families.Exponential(rate=(0.01, 9))),
        bounds=one_of(r, (), {"x": (1, 8)}),
        **where(r),
    ),
    "bootstrap": lambda r: tc.Bootstrap(
        one_of(r, tc.Mean("x"), tc.Mean(["x", "y"], by="g"), tc.Sum("k"), tc.Count(by="g"), tc.Variance("x")),
        replicates=2,
    ),
    "own": lambda r: one_of(r, CAPPED(cap=5), SEVERAL(), SEVERAL(by="g"), CAPPED(cap=3, moments=False, **where(r))),
    "candidates": lambda r: tc.ExponentialMechanism("g", candidates(r), **where(r)),
    "candidates by distance": lambda r: tc.ExponentialMechanism(
        "g", {n: [abs(w) + 1 for w in c] for n, c in candidates(r).items()}, "ks"
    ),
    "data set": lambda r: tc.KSDataset("x", size=int(r.integers(2, 5)), cells=int(r.integers(2, 5)), **where(r)),
    "levels": lambda r: tc.UnlistedLevels("t", **where(r)),
    "quantiles": lambda r: tc.Quantiles(
        one_of(r, "k", "x"), one_of(r, [0.5], [0.1, 0.9]), interval=bool(r.integers(2)), **where(r)
    ),
    "range": lambda r: tc.Range("x"),
    "several": lambda r: {"m": tc.Mean("x", **by(r)), "n": tc.Count(by="g", **where(r)), "c": CAPPED(cap=4)},
}
ADAPTIVE: Final[dict[str, Callable[[np.random.Generator], Any]]] = {
    "linear regression": lambda r: tc.Regression(one_of(r, "x ~ y + g", "y ~ x + b", "k ~ x"), **where(r)),
    "weighted regression": lambda r: tc.Regression("x ~ y", weights="w"),
    "logistic regression": lambda r: tc.Regression(one_of(r, "b ~ x + k", "s ~ y"), model="logistic", **where(r)),
    "Poisson regression": lambda r: tc.Regression("k ~ x + b", model="poisson"),
    "blocks of a law": lambda r: tc.SampleAndAggregate("x", tc.families.Normal(mean=(0, 10), sd=(0.1, 9)), blocks=2),
    "step of a law": lambda r: tc.SampleAndAggregate(
        "x", tc.families.Exponential(rate=(0.01, 9)), blocks=2, one_step=True
    ),
    "winsorised blocks": lambda r: tc.SampleAndAggregate(
        "x", tc.families.Exponential(rate=(0.01, 9)), blocks=2, winsorize=True
    ),
    "blocks of a statistic": lambda r: tc.SampleAndAggregate("x", tc.Statistic("median", median=(0, 10)), blocks=2),
    "quantiles of groups": lambda r: tc.Quantiles(one_of(r, "k", "x"), [0.5], by=one_of(r, "g", "h")),
    "many quantiles": lambda r: tc.Quantiles("x", [i / 20 for i in range(1, 20)]),
    "cells that are filled": lambda r: tc.Histogram(["x", "g"], bins={"x": 50}, sparse=True),
    "bins by density": lambda r: tc.Histogram("x", bins="density"),
    "deviations": lambda r: tc.Variance("x", interval=False),
    "mean of rows": lambda r: tc.Mean("x", per="row"),
    "dates": lambda r: tc.Mean("d", by=one_of(r, "g", "b")),
}
"""Questions whose later parts follow from earlier noisy ones, or that draw: what is compared is all but their parts."""
SELECTED: Final = ("candidates", "candidates by distance", "data set", "levels", "quantiles", "range")
PRICES: Final = ({"epsilon": 1}, {"rho": Fraction(1, 10)}, {"epsilon": 1, "delta": Fraction(1, 10**6)})


# Losses -------------------------------------------------------------------------------------------------------------


def flat(part: Any) -> np.ndarray:
    """All integers of a part, as Python integers."""
    return np.array([n for cell in part.integers for n in cell], dtype=object)


def loss(one: Release, other: Release) -> tuple[float, float, str | None]:
    """What Laplace noises lose in ε, what normal noises lose in μ², and a declared sensitivity that is exceeded."""
    epsilon, squared, wrong, vector = 0.0, 0.0, None, 0.0
    for a, b in zip(one.parts, other.parts, strict=True):
        apart = flat(a) - flat(b)
        l1, l2 = int(abs(apart).sum()), int((apart**2).sum())
        if l1 > a.l1 or l2 > a.l2_squared:
            wrong = f"{a.label} ({a.form}): l1 {l1} of {a.l1}, squared l2 {l2} of {a.l2_squared}"
        law = a.law
        if isinstance(law, DiscreteLaplace | AveragedLaplace):
            epsilon += l1 / float(law.scale if isinstance(law, DiscreteLaplace) else law.one.scale)
        elif isinstance(law, SphericalLaplace):
            epsilon += l2**0.5 / float(law.scale)
        elif isinstance(law, ProductLaplace):
            vector = max(vector, l1 / float(law.scale))
        elif isinstance(law, RoundedNormal):
            squared += l2 / float(law.scale) ** 2
    return epsilon + vector, squared, wrong


def too_dear(one: Release, other: Release) -> str | None:
    """Why the pair loses more than the price, or None."""
    epsilon, squared, wrong = loss(one, other)
    cost = one.cost
    if wrong is not None:
        return wrong
    if one.kind == "bootstrap":
        reached = of_a_replicate(one, other)
        return None if reached <= 1 + TOLERANCE else f"a replicate's μ² is {reached} times what is composed"
    if cost.epsilon is not None and cost.delta is None:
        return (
            None
            if squared == 0 and epsilon <= float(cost.epsilon) * (1 + TOLERANCE)
            else f"ε {epsilon} of {cost}, μ² {squared}"
        )
    if epsilon and cost.delta is not None and squared == 0:  # a pair may have bought ε alone
        return None if epsilon <= float(cost.epsilon or 0) * (1 + TOLERANCE) else f"ε {epsilon} of {cost}"
    return (
        None
        if epsilon == 0 and squared <= float(cost.gdp) * (1 + TOLERANCE)
        else f"μ² {squared} of {cost}, ε {epsilon}"
    )


def of_a_replicate(one: Release, other: Release) -> float:
    """The μ² of one replicate with every row once, as a part of the μ² that its columns' noises say together."""
    columns = len({part.label for part in one.parts})
    reached, said = np.zeros(len(one.parts) // columns), set[float]()
    for place, (a, b) in enumerate(zip(one.parts, other.parts, strict=True)):
        apart = flat(a) - flat(b)
        reached[place // columns] += int((apart**2).sum()) / (columns * a.l2_squared)
        said.add(round(columns * a.l2_squared / float(a.law.scale) ** 2, 6))
    return float(reached.max()) if len(said) == 1 else float("inf")


def selected(question: Any, rows: list[Any], schema: tc.Schema, relation: str, price: Cost) -> str | None:
    """Of a selection, why the log-ratio of an outcome's probabilities exceeds the price; None where it does not."""
    sources = [open_source(one) for one in rows]
    persons = schema.unit is not None
    size = None if relation == "add-remove" else 1
    if size is not None:
        frame = rows[0]
        size = len(set(frame["who"].to_pylist())) if persons else frame.num_rows
    shape = design(question, Public(schema, relation, size), price)
    first, second = (integers(shape, one) for one in sources)
    law: Any = shape.columns[0].law
    if isinstance(question, tc.UnlistedLevels):
        names = first[0].keys() | second[0].keys()
        apart = [first[0].get(name, 0) - second[0].get(name, 0) for name in names]
        part = shape.columns[0].form
        return None if sum(a * a for a in apart) <= part.l2_squared else f"levels: {apart} of {part.l2_squared}"
    if isinstance(question, tc.KSDataset):
        weight = 1 if shape.columns[0].weight is None else shape.columns[0].weight.G
        of_one, of_other = (levels(counts.tolist(), question.size, weight) for counts in (first[0], second[0]))
        share = float(shape.columns[0].cost.epsilon or 0)
    else:
        of_one, of_other = (np.array(one[0], dtype=float) for one in (first, second))
        share = float(price.epsilon or 0)
    ratio = log_pmf(of_one, float(law.rate)) - log_pmf(of_other, float(law.rate))
    reached = float(np.abs(ratio).max())
    return None if reached <= share * (1 + TOLERANCE) else f"log-ratio {reached} of {share}"


def levels(counts: list[int], k: int, weight: int) -> np.ndarray:
    """Utilities of all data sets of k points by the definition, from whole counts of the cells."""
    m, total = len(counts), sum(counts)
    below = np.cumsum(counts)
    found: list[float] = []
    for one in combinations_with_replacement(range(m), k):
        points = np.cumsum(np.bincount(one, minlength=m))
        far = max(abs(k * int(n) - total * int(s)) for n, s in zip(below, points, strict=True))
        found.append(-float(-(-far // (k * weight))))
    return np.array(found)


def log_pmf(utility: np.ndarray, rate: float) -> np.ndarray:
    """Logarithms of the probabilities exp(rate u) / sum."""
    scaled = rate * (utility - utility.max())
    return scaled - np.log(np.exp(scaled).sum())


# Runs ---------------------------------------------------------------------------------------------------------------


@dataclass
class Found:
    """What was tried, and what was wrong."""

    pairs: Counter[str] = field(default_factory=Counter[str])
    refused: Counter[str] = field(default_factory=Counter[str])
    wrong: list[str] = field(default_factory=list[str])
    nearest: dict[str, float] = field(default_factory=dict[str, float])
    """Of each kind of question, the largest part of the price that a pair lost."""


@contextlib.contextmanager
def without_noise(careless: bool = False) -> Iterator[None]:
    """Zeros for the noise of every additive mechanism, and every row once in a bootstrap."""
    places = (exact, exact_products, exact_vectors, bootstrap, door)
    before = (exact._draw, exact_products.drawn, exact_vectors.drawn, bootstrap.resampled, door.admit)
    exact._draw = lambda law, size, words: np.zeros(size, dtype=np.int64)  # type: ignore[assignment]
    exact_products.drawn = lambda laws, words: [[0] * law.size for law in laws]  # type: ignore[assignment]
    exact_vectors.drawn = lambda law, words, floats=True: [0] * law.dimension  # type: ignore[assignment]
    times = 2 if careless else 1
    bootstrap.resampled = lambda counts, some, weights: np.tile(times * counts, (some, 1))  # type: ignore[assignment]
    door.admit = lambda *given: None  # the contract of own statistics is not what is tried here
    try:
        yield
    finally:
        for place, name, old in zip(places, ("_draw", "drawn", "drawn", "resampled", "admit"), before, strict=True):
            setattr(place, name, old)


@dataclass(frozen=True)
class Seen:
    """All that is seen of one release: its parts with integers, all else as text, or the error's text."""

    release: Any
    words: str


HIDDEN: Final = ("integers", "texts", "head", "ledger", "digest")


def masked(words: Any, more: tuple[str, ...] = ()) -> Any:
    """A document without integers, texts of levels and what every ledger has of its own."""
    if isinstance(words, dict):
        return {key: "…" if key in (*HIDDEN, *more) else masked(value, more) for key, value in words.items()}
    return [masked(one, more) for one in words] if isinstance(words, list) else words


def seen(
    data: Any,
    schema: tc.Schema,
    budget: tc.Budget,
    question: Any,
    price: dict[str, Any],
    hidden: tuple[str, ...] = (),
) -> Seen:
    """Release once, and note all that can be seen of it but for the hidden fields."""
    streams = io.StringIO()
    with (
        contextlib.redirect_stdout(streams),
        contextlib.redirect_stderr(streams),
        warnings.catch_warnings(record=True) as warned,
    ):
        warnings.simplefilter("always")
        more = {"ledger": data.with_suffix(".ledger")} if isinstance(data, Path) else {}
        try:
            curator = tc.Curator(data, schema, name="t", budget=budget, trust=TRUSTED, **more)
            made = curator.release(question, **price)
            several = made if isinstance(question, dict) else {"": made}
            words = [json.dumps(masked(one.to_dict(), hidden)) for one in several.values()] + [
                repr(curator.spent),
                str(curator.remaining),
            ]
            if more:
                entries = curator._ledger.charges()  # type: ignore[attr-defined]
                words += [repr([(one.number, masked(json.loads(one.release or "{}"), hidden)) for one in entries])]
                words += [str(sorted(p.name for p in data.parent.iterdir()))]
        except TacitError as problem:
            made, words = None, [f"{type(problem).__name__} {problem} {problem.__cause__!r} {problem.__context__!r}"]
    words += [streams.getvalue(), str([str(one.message) for one in warned])]
    return Seen(made, "\n".join(words))


def asked(kind: str, rng: np.random.Generator) -> Any:
    """A random question of a kind; one that cannot be asked is drawn again."""
    for _ in range(100):
        with contextlib.suppress(QueryError):
            return (KINDS | ADAPTIVE)[kind](rng)
    raise RuntimeError(kind)


def tried(number: int, seed: int, found: Found, folder: Path, careless: bool = False, only: Sequence[str] = ()) -> None:
    """One question of one pair of neighbours."""
    rng = np.random.default_rng([seed, number])
    kinds = [one for one in (*KINDS, *ADAPTIVE) if not only or any(word in one for word in only)]
    kind = kinds[number % len(kinds)]
    relation, persons = one_of(rng, "replace-one", "add-remove"), bool(rng.integers(2))
    question, price = asked(kind, rng), one_of(rng, *PRICES)
    rows = neighbours(rng, relation, persons)
    columns: dict[str, Any] = {"who": tc.PrivacyUnit(max_rows=MOST), **COLUMNS} if persons else dict(COLUMNS)
    schema, names = tc.Schema(columns), list(columns)
    container = one_of(rng, "lists", "pandas", "polars", "arrow", "csv", "parquet")
    case = f"{number} {kind} {relation} {'persons' if persons else 'rows'} {container} {price} {question!r}"
    place = folder / str(number)
    place.mkdir()
    if (
        kind in SELECTED
        and "epsilon" in price
        and "delta" not in price
        and kind not in ("levels", "quantiles", "range")
    ):
        arrow = [table(one, names, "arrow", place, "") for one in rows]
        try:
            said = selected(question, arrow, schema, relation, Cost.of(**price))
        except TacitError:
            said = None
        found.wrong += [f"{case}: {said}"] if said else []
    if kind in ("levels", "bootstrap"):
        price = PRICES[2]
    if kind == "averaged Laplace":
        price = PRICES[0]
    if kind == "levels":
        arrow = [table(one, names, "arrow", place, "") for one in rows]
        said = selected(question, arrow, schema, relation, Cost.of(**price))
        found.wrong += [f"{case}: {said}"] if said else []
    budget = tc.Budget(**{k: v * (1 if k == "delta" else 9) for k, v in price.items()}, neighbors=relation)
    hidden = ("parts", "variables") if kind in ADAPTIVE else ()
    # with zeros for noise a pilot would be the table itself, so that what it leads to differs
    with contextlib.nullcontext() if kind in ADAPTIVE else without_noise(careless):
        both = [
            seen(table(one, names, container, place, stem), schema, budget, question, price, hidden)
            for one, stem in zip(rows, ("one", "other"), strict=True)
        ]
    found.pairs[kind] += 1
    one, other = both
    if one.words.replace("/one/", "/").replace("/other/", "/") != other.words.replace("/one/", "/").replace(
        "/other/", "/"
    ):
        found.wrong.append(f"{case}: seen beside the integers:\n  {one.words[:2000]}\n  {other.words[:2000]}")
    if one.release is None or other.release is None:
        found.refused[f"{kind}: {one.words[:60]}"] += 1
        return
    if kind in SELECTED or kind in ADAPTIVE:
        return
    if kind == "several":
        pairs = [(one.release[name], other.release[name]) for name in question]
    else:
        pairs = [(one.release, other.release)]
    for a, b in pairs:
        said = too_dear(a, b)
        found.wrong += [f"{case}: {said}"] if said else []
        epsilon, squared, _ = loss(a, b)
        cost = a.cost
        if kind == "bootstrap":
            found.nearest[kind] = max(found.nearest.get(kind, 0.0), of_a_replicate(a, b))
            continue
        share = epsilon / float(cost.epsilon) if cost.epsilon is not None and epsilon else squared / float(cost.gdp)
        found.nearest[kind] = max(found.nearest.get(kind, 0.0), share)


def swept(pairs: int, seed: int, careless: bool = False, progress: bool = False, only: Sequence[str] = ()) -> Found:
    """Try so many pairs."""
    found = Found()
    with tempfile.TemporaryDirectory() as folder:
        for number in range(pairs):
            tried(number, seed, found, Path(folder), careless, only)
            if progress and number % 500 == 499:
                print(f"… {number + 1:,}: {len(found.wrong)} wrong", flush=True)
    return found


def main() -> None:
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--pairs", type=int, default=4_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--careless", action="store_true")
    parser.add_argument("--only", nargs="+", default=[], help="kinds of questions whose name has one of these words")
    options = parser.parse_args()
    found = swept(options.pairs, options.seed, options.careless, progress=True, only=options.only)
    for kind, many in found.pairs.items():
        print(f"{kind:<24} {many:>6,} pairs, largest loss {found.nearest.get(kind, float('nan')):.4f} of the price")
    for words, many in sorted(found.refused.items()):
        print(f"refused alike: {words} {many:,}")
    finished(found.wrong)


if __name__ == "__main__":
    main()
