"""Frames of synthetic rows that are drawn when they are asked for, and the sets made of them.  Post-processing.

A method says how a plain frame is drawn from its release as it is, and how one is drawn from what the truth may have
been; everything else is the same for histograms, laws and regressions.
"""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, TypeAlias, overload

import numpy as np

from tacit.base.arguments import described
from tacit.errors import InferenceError
from tacit.estimates.synthetic.random_numbers import check_number, generator
from tacit.estimates.synthetic.synthetic_sets import SyntheticSets
from tacit.estimates.terms import Target, check_target
from tacit.release.document import Released

if TYPE_CHECKING:
    import pandas as pd  # pyright: ignore[reportMissingTypeStubs]

FEWEST: Final = 5
"""Sets of each kind, at least: their scatter is what errors are made of."""
AT_LEAST: Final = 5_000
AT_MOST: Final = 400_000
"""Rows of a set, where none are asked for: four times the table's, within these."""

Draw: TypeAlias = "Callable[[int, int, np.random.Generator], pd.DataFrame]"
"""From the place of a set, a number of rows and a generator to a frame."""


class DrawnFrames(Sequence["pd.DataFrame"]):
    """Sets of rows, drawn when they are asked for, the same each time."""

    def __init__(self, draw: Draw, sets: int, rows: int, note: str, rng: np.random.Generator) -> None:
        """rng: what the seeds of the frames are drawn with, here.  note: what each frame says of itself."""
        self.rows = rows
        self._draw, self._note = draw, note
        self._seeds = [int(one) for one in rng.integers(2**63, size=sets)]

    def __len__(self) -> int:
        return len(self._seeds)

    @overload
    def __getitem__(self, place: int) -> pd.DataFrame: ...

    @overload
    def __getitem__(self, place: slice) -> list[pd.DataFrame]: ...

    def __getitem__(self, place: int | slice) -> pd.DataFrame | list[pd.DataFrame]:
        if isinstance(place, slice):
            return [self[i] for i in range(*place.indices(len(self)))]
        # a place from the end is the same set as one from the start
        at = range(len(self))[place]
        made = self._draw(at, self.rows, np.random.default_rng(self._seeds[at]))
        made.attrs["note"] = self._note
        return made


@dataclass(frozen=True)
class SetsAsked:
    """What sets are asked for with, checked: how many, rows in each, about what, and the generator."""

    sets: int
    rows: int
    target: Target
    rng: np.random.Generator

    @property
    def plain(self) -> int:
        """How many plain sets: half as many."""
        return max(self.sets // 2, FEWEST)


def check_sets(sets: Any, target: Target) -> None:
    """Raise InferenceError I85 for too few sets, I09 for the target."""
    check_target(target)
    if isinstance(sets, bool) or not isinstance(sets, int) or sets < FEWEST:
        text = f"{described(sets)} is no number of sets from {FEWEST} on."
        raise InferenceError(text, code="I85", hint="synthetic_sets(40)", state=None)


def asked(sets: Any, n: Any, target: Target, rng: Any, total: float) -> SetsAsked:
    """Return what was asked for; total: rows of the table, as far as they are known.

    InferenceError I85 for too few sets, I61 for the number of rows, I62 for the generator, I09 for the target.
    """
    check_sets(sets, target)
    long = min(max(4 * round(total), AT_LEAST), AT_MOST) if n is None else n
    check_number(long)
    return SetsAsked(sets, int(long), target, generator(rng))


def made_sets(
    release: Released, ask: SetsAsked, plain: Draw, moved: Draw, *, reason: str | None, notes: tuple[str, ...]
) -> SyntheticSets:
    """Return sets of both kinds: plain, and moved to what the truth may have been."""
    seeds, note = ask.rng.spawn(2), note_of_sets(release, notes)
    return SyntheticSets(
        release,
        DrawnFrames(moved, ask.sets, ask.rows, note, seeds[1]),
        DrawnFrames(plain, ask.plain, ask.rows, note, seeds[0]),
        ask.target,
        reason,
        notes,
    )


def note_of_sets(release: Released, notes: tuple[str, ...]) -> str:
    """Return what a frame of several says of itself."""
    return _filled(
        f"Synthetic rows, one of several sets drawn from the noisy {_what(release)} of {release.table}. They are "
        "nobody's, and cost nothing more. Standard errors, intervals and p-values from one set are wrong: "
        f"sets.analyse(…) has those that hold. {'; '.join(notes)}."
    )


def note_of_rows(release: Released, *notes: str) -> str:
    """Return what a frame from one density, law or regression says of itself."""
    return _filled(
        f"Synthetic rows, drawn from the noisy {_what(release)} of {release.table} (cost {release.cost}). They are "
        "nobody's, as many as were asked for, and cost nothing more. Standard errors, intervals and p-values from them "
        f"are wrong: they hold neither the noise nor the table's own sampling error. {' '.join(notes)}".rstrip()
    )


def _what(release: Released) -> str:
    from tacit.estimates.wording import title

    what = title(release)
    return what[0].lower() + what[1:]


def _filled(words: str) -> str:
    return textwrap.fill(words, 120, break_on_hyphens=False)
