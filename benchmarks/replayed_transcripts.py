"""One transcript on two tables: what the noise and the selections of a release must make up for.

The samplers of a release keep what they were asked and what they answered; on another table they answer the same, and
what that table's exact integers lose there is added up.  Used by `joint_purchases.py`.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, Final

import numpy as np
from neighbouring_releases import (
    levels,
)

from tacit.curator import purchase as door
from tacit.method.bootstrap import mechanism as bootstrap
from tacit.method.exponential_mechanism import mechanism as candidates
from tacit.method.histogram import mechanism_sparse as sparse
from tacit.method.ks_dataset import mechanism as data_sets
from tacit.method.quantiles import mechanism_cuts, mechanism_many
from tacit.method.quantiles.joint_steps import JointSteps
from tacit.method.shared import mechanism_additive, mechanism_cell_counts, mechanism_rank_selection, mechanism_sums
from tacit.method.unlisted_levels import mechanism as unlisted
from tacit.noise.averaged_laplace import AveragedLaplace
from tacit.noise.laws import DiscreteLaplace, RoundedNormal
from tacit.noise.permute_and_flip import PermuteAndFlip
from tacit.noise.product import ProductLaplace
from tacit.noise.spherical import SphericalLaplace
from tacit.privacy.gaussian import range_to_mu_squared
from tacit.source.engine_sums import row_arrays

TRIPLES: Final = 300
"""Triples of steps, drawn evenly, whose log-ratios are looked at beside that which was selected."""


# What is lost --------------------------------------------------------------------------------------------------------


@dataclass
class Loss:
    """What transcripts lost: ε of pure mechanisms, μ² of normals, ranges of selections, and a δ."""

    epsilon: float = 0.0
    squared: float = 0.0
    ranges: list[float] = field(default_factory=list[float])
    pure_only: bool = False
    """Whether a mechanism has no cost in ρ of its own: Laplace noise, permute-and-flip."""
    wrong: list[str] = field(default_factory=list[str])

    @property
    def rho(self) -> float:
        """ρ of normals and of selections of bounded range."""
        return self.squared / 2 + sum(one**2 for one in self.ranges) / 8

    @property
    def mu_squared(self) -> float:
        """μ² of the same."""
        return self.squared + sum(float(range_to_mu_squared(Fraction(one))) for one in self.ranges if one > 1e-12)


def of_noise(loss: Loss, laws: Sequence[Any], one: Sequence[Any], other: Sequence[Any]) -> None:
    """Add what the noises of some parts lose: exact integers of both tables."""
    vector = 0.0
    for law, a, b in zip(laws, one, other, strict=True):
        apart = np.array([x - y for x, y in zip(flat(a), flat(b), strict=True)], dtype=object)
        l1, l2 = int(abs(apart).sum()), int((apart**2).sum())
        loss.pure_only |= not isinstance(law, RoundedNormal)
        match law:
            case DiscreteLaplace():
                loss.epsilon += l1 / float(law.scale)
            case AveragedLaplace():
                loss.epsilon += l1 / float(law.one.scale)
            case SphericalLaplace():
                loss.epsilon += l2**0.5 / float(law.scale)
            case ProductLaplace():
                vector = max(vector, l1 / float(law.scale))
            case RoundedNormal():
                loss.squared += l2 / float(law.scale) ** 2
            case _:
                loss.wrong.append(f"a law that is not known: {law!r}")
    loss.epsilon += vector


def flat(cells: Any) -> list[int]:
    """All integers of a part."""
    return [int(n) for cell in cells for n in np.ravel(np.array(cell, dtype=object))]


def of_ratios(loss: Loss, law: Any, ratios: np.ndarray) -> None:
    """Add what a selection loses: log-ratios of what might have been selected."""
    loss.epsilon += float(np.abs(ratios).max())
    if isinstance(law, PermuteAndFlip):
        loss.pure_only = True
    else:
        loss.ranges.append(float(ratios.max() - ratios.min()))


def log_pmf(law: Any, utility: Any, points: Any) -> np.ndarray:
    """Logarithms of the probabilities of one point of each run."""
    u, many = np.asarray(utility, dtype=float), np.array([float(n) for n in points])
    if isinstance(law, PermuteAndFlip):
        return np.log(law.pmf(utility, points) / many)
    scaled = float(law.rate) * (u - u.max())
    return scaled - np.log(np.sum(many * np.exp(scaled)))


def of_runs(law: Any, one: Any, other: Any, chosen: Any) -> np.ndarray:
    """Log-ratios of the candidates of one selection on both tables."""
    if isinstance(one, JointSteps):
        return of_triples(law, one, other, chosen)
    at = np.array(sorted({*one.first, *other.first}))
    both = [
        log_pmf(law, runs.utility, runs.points)[np.searchsorted(runs.first, at, "right") - 1] for runs in (one, other)
    ]
    return both[0] - both[1]


def of_triples(law: Any, one: JointSteps, other: JointSteps, chosen: Any) -> np.ndarray:
    """Log-ratios of triples of steps, by the definition of their utility."""
    rng = np.random.default_rng(len(one.utility))
    edges = np.unique(np.concatenate([one.runs.first, other.runs.first]))
    at = rng.choice(edges, (TRIPLES, 3))
    at = np.concatenate([at, np.sort(at, axis=1), [chosen]])
    found: list[np.ndarray] = []
    for made in (one, other):
        runs = made.runs
        low, up = runs.below[runs.run_of(at)], runs.upto[runs.run_of(at)]
        targets = np.array(made.targets)
        far = np.maximum(low - targets, targets - up).max(axis=1)
        if made.weight:
            far = np.maximum(far, made.weight * (made.between - (up[:, 2] - low[:, 0]) // made.denominator))
        u = -np.clip(far, -made.limit, made.limit)
        best = max(made.utility)
        whole = sum(
            n * np.exp(float(law.rate) * (v - best)) for v, n in zip(made.utility, map(float, made.points), strict=True)
        )
        found.append(float(law.rate) * (u - best) - np.log(whole))
    return found[0] - found[1]


# Transcripts ---------------------------------------------------------------------------------------------------------


@dataclass
class Transcript:
    """What was asked of the samplers, and what they answered; on the second table the same answers."""

    held: list[tuple[Any, ...]] = field(default_factory=list[tuple[Any, ...]])
    again: bool = False
    at: int = 0
    loss: Loss = field(default_factory=Loss)
    moved: list[tuple[Any, int, int]] = field(default_factory=list[tuple[Any, int, int]])
    """Of each part of sums: its noisy integers, and by how much the exact ones moved in l1 and squared l2."""

    def next(self, what: str, law: Any) -> tuple[Any, ...] | None:
        """The first table's entry; None on the first table."""
        if not self.again:
            return None
        entry = self.held[self.at]
        self.at += 1
        if entry[:2] != (what, law):
            raise RuntimeError(f"another transcript: {entry[:2]} and {(what, law)}")
        return entry

    def sums(self, what: str, laws: Any, exact: Any, draw: Callable[[], Any]) -> Any:
        """Noisy integers of parts."""
        entry = self.next(what, laws)
        if entry is None:
            self.held.append((what, laws, exact, draw()))
            return self.held[-1][3]
        _, _, before, noisy = entry
        of_noise(self.loss, laws, before, exact)
        for a, b, found in zip(before, exact, noisy, strict=True):
            apart = [x - y for x, y in zip(flat(a), flat(b), strict=True)]
            self.moved.append((found, sum(map(abs, apart)), sum(k * k for k in apart)))
        return noisy

    def select(self, law: Any, runs: Any, draw: Callable[[], Any]) -> Any:
        """A selection among runs."""
        entry = self.next("select", law)
        if entry is None:
            self.held.append(("select", law, runs, draw()))
            return self.held[-1][3]
        of_ratios(self.loss, law, of_runs(law, entry[2], runs, entry[3]))
        return entry[3]


@dataclass(frozen=True)
class Drawn:
    """Noise that was asked for, before it is added."""

    law: Any
    noise: Any


@contextlib.contextmanager
def replayed(script: Transcript, dearer: Fraction) -> Iterator[None]:
    """Samplers that keep, or repeat, a transcript; blocks and parts of steps drawn alike."""
    protect, choose = mechanism_additive.protect_parts, mechanism_rank_selection.select
    draw, added = mechanism_cell_counts.draw, mechanism_cell_counts.added

    def parts(exact: Any, laws: Any) -> Any:
        return script.sums("parts", [cheaper(law, dearer) for law in laws], exact, lambda: protect(exact, laws))

    def select(runs: Any, law: Any) -> Any:
        return script.select(cheaper(law, dearer), runs, lambda: choose(runs, law))

    def adding(exact: Any, drawn: Drawn) -> Any:
        law = cheaper(drawn.law, dearer)
        noisy = script.sums("counts", [law], [exact.tolist()], lambda: [added(exact, drawn.noise)])
        return noisy[0]

    def among(found: list[int], law: Any) -> int:
        entry, one = script.next("candidates", cheaper(law, dearer)), [1] * len(found)
        if entry is None:
            script.held.append(("candidates", cheaper(law, dearer), found, kept["drawn"](found, law)))
            return script.held[-1][3]
        ratios = log_pmf(entry[1], entry[2], one) - log_pmf(entry[1], found, one)
        of_ratios(script.loss, entry[1], ratios)
        return entry[3]

    def data_set(shape: Any, counts: Any, choice: Any, noise: Any) -> Any:
        part = shape.columns[0]
        law = cheaper(part.law, dearer)
        entry = script.next("data set", law)
        if entry is None:
            layers = data_sets.Layers(data_sets.bands(part, counts), part.law.rate)
            entry = ("data set", law, counts.tolist(), choice(layers))
            script.held.append(entry)
        else:
            weight = 1 if part.weight is None else part.weight.G
            size = part.form.parameters["G"]
            u = [levels(one, size, weight) for one in (entry[2], counts.tolist())]
            of_ratios(script.loss, law, log_pmf(law, u[0], np.ones(len(u[0]))) - log_pmf(law, u[1], np.ones(len(u[1]))))
        number = ((int(counts.sum()),),)
        return (part.released((entry[3],)), *(one.released(noise(number, one.law)) for one in shape.columns[1:]))

    def passing(column: Any, found: Any, cells: int) -> Any:
        dense = np.zeros(cells, dtype=np.int64)
        dense[found.cells] = found.counts
        return script.sums(
            "sparse", [cheaper(column.law, dearer)], [dense.tolist()], lambda: [kept["released"](column, found, cells)]
        )[0]

    def listed(shape: Any, counts: dict[str, int]) -> Any:
        laws = [cheaper(one.law, dearer) for one in shape.columns]
        entry = script.next("levels", laws)
        if entry is None:
            entry = ("levels", laws, counts, kept["listed"](shape, counts))
            script.held.append(entry)
            return entry[3]
        shown, both = set(entry[3][0].texts), sorted(entry[2].keys() & counts.keys())
        pairs = [
            ([one[name] for name in both], [sum(one.values())], [sum(n for t, n in one.items() if t not in shown)])
            for one in (entry[2], counts)
        ]
        of_noise(script.loss, laws, *pairs)
        return entry[3]

    def resampled(counts: Any, some: int, weights: Any) -> Any:
        return np.tile(counts, (some, 1))

    def placed(size: int) -> Callable[..., Any]:
        def of(counts: Any, given: Any) -> Any:
            word = np.random.default_rng(3).integers(size, size=64)
            places = [
                step * size + int(word[(step + 7 * i) % 64]) for step, many in counts.items() for i in range(many)
            ]
            return np.sort(np.array(places, dtype=np.int64))

        return of

    def words(count: int) -> Any:
        return np.random.default_rng(5).integers(2**64, size=4096, dtype=np.uint64)[:count]

    kept = {"drawn": candidates.drawn, "released": sparse.released, "listed": unlisted.drawn}
    places: list[tuple[Any, str, Any]] = [
        (mechanism_additive, "protect_parts", parts),
        (mechanism_sums, "protect_parts", parts),
        (mechanism_rank_selection, "select", select),
        (mechanism_cell_counts, "draw", lambda law, size: Drawn(law, draw(law, size))),
        (mechanism_cell_counts, "added", adding),
        (candidates, "drawn", among),
        (data_sets, "released", data_set),
        (sparse, "released", passing),
        (unlisted, "drawn", listed),
        (bootstrap, "resampled", resampled),
        (bootstrap, "draw", lambda law, size: Drawn(law, draw(law, size))),
        (bootstrap, "added", adding),
        (mechanism_cuts, "placed", placed(mechanism_cuts.PARTS)),
        (mechanism_many, "placed", placed(mechanism_many.PARTS)),
        (door, "admit", lambda *given: None),
        *((place, "system_random_words", words) for place in _of_words()),
    ]
    before = [getattr(place, name) for place, name, _ in places]
    try:
        for place, name, new in places:
            setattr(place, name, new)
        yield
    finally:
        for (place, name, _), old in zip(places, before, strict=True):
            setattr(place, name, old)


def _of_words() -> list[Any]:
    from tacit.method.blocks import mechanism_equal_blocks, mechanism_labels

    return [row_arrays, mechanism_labels, mechanism_equal_blocks]


def cheaper(law: Any, dearer: Fraction) -> Any:
    """A law as it would be at a higher price than was paid; the law itself where the factor is 1."""
    if dearer == 1:
        return law
    if isinstance(law, AveragedLaplace):
        return type(law)(law.one.scale / dearer, law.draws)
    if isinstance(law, SphericalLaplace):
        return type(law)(law.scale / dearer, law.dimension)
    if isinstance(law, ProductLaplace):
        return type(law)(law.scale / dearer, law.size, law.dimension)
    return type(law)(law.rate * dearer) if hasattr(law, "rate") else type(law)(law.scale / dearer)
