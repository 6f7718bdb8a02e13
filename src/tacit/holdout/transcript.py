"""`HoldoutAnswer` and `Transcript`: what a hold-out has answered, all of it public, as values, table and file.

No import of estimates: an answer from the hold-out is a release, which makes its own.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, cast

from tacit.base.json_text import read_json, write_text
from tacit.base.table import Align, Table, shown_by_summary
from tacit.errors import ReleaseError, TacitError
from tacit.release.digests import as_sealed, changed, naming, sealed
from tacit.release.document import Release, release_from_dict
from tacit.release.document_fields import SEAL

FORMAT: Final = 1
KIND: Final = "holdout-transcript"
SIDES: Final[tuple[Align, ...]] = ("right", "left", "right", "right", "right", "left", "right")
SHARED: Final = ("table", "schema", "neighbors", "unit", "rows", "ledger", "holdout", "run_cost")
"""What all answers of a transcript share."""


@dataclass(frozen=True)
class HoldoutAnswer:
    """One check's answer.

    score: the condition or column.  train: the training value that was given.  run: number of the charge that paid.
    release: the noisy mean of the score over the hold-out, where it was found to differ; None where no difference was
    found.
    """

    score: str
    train: float
    run: int
    release: Any = None

    @property
    def differs(self) -> bool:
        """Whether the hold-out was found to differ from the training value by more than the threshold."""
        return self.release is not None

    @property
    def value(self) -> float | None:
        """The training value where no difference was found, else the hold-out's noisy mean; None where noise hides it.

        An interval for the mean of the population, for a score chosen without the hold-out: `release.estimate()`.
        """
        if self.release is None:
            return self.train
        found = self.release.estimate()
        return None if found.reasons[0] is not None else float(found.values[0])

    def __float__(self) -> float:
        """The value; NaN where noise hides it."""
        found = self.value
        return float("nan") if found is None else found

    def to_dict(self) -> dict[str, Any]:
        """Return plain JSON values."""
        release = None if self.release is None else self.release.to_dict()
        return {"score": self.score, "train": self.train, "run": self.run, "release": release}


@shown_by_summary
@dataclass(frozen=True, repr=False)
class Transcript:
    """All answers of a hold-out in one process, in order, with what they share.  Public: it may be published.

    facts: table, schema (its digest), neighbors, unit, rows, ledger, the hold-out's settings ("holdout") and the cost
    of one run ("run_cost"), as plain JSON values.
    """

    facts: Mapping[str, Any]
    checks: tuple[HoldoutAnswer, ...] = ()

    def with_check(self, one: HoldoutAnswer) -> Transcript:
        """Return the transcript with one more answer."""
        return Transcript(self.facts, (*self.checks, one))

    @property
    def runs(self) -> int:
        """How many runs were paid for by these answers."""
        return len({one.run for one in self.checks})

    def summary(self, level: float = 0.95) -> Table:
        """Return a table of the answers; intervals are of those from the hold-out.

        Raises InferenceError I01 for a level that is none.
        """
        rows = [(str(i), *_row(one, level)) for i, one in enumerate(self.checks, start=1)]
        found = sum(one.differs for one in self.checks)
        threshold = float(_fraction(self.facts["holdout"]["threshold"]))
        notes = (
            f"threshold {threshold:g} of a score's range · {self.runs} runs · {found} answers from hold-out rows",
            "an interval is of a score that was chosen without the hold-out's answers",
        )
        columns = ("", "score", "training", "answer", f"{100 * level:g}% interval", "from", "charge")
        title = f"Hold-out {self.facts['holdout']['name']!r} of {self.facts['table']}"
        return Table(title, columns, tuple(rows), notes, SIDES)

    def to_dict(self) -> dict[str, Any]:
        """Return plain JSON values, the same for the same transcript."""
        checks = [one.to_dict() for one in self.checks]
        return {"tacit": FORMAT, "kind": KIND, **{name: self.facts[name] for name in SHARED}, "checks": checks}

    def save(self, path: str | Path) -> None:
        """Write the transcript to a file, whole or not at all, with a digest; ReleaseError R07 where it cannot."""
        write_text(path, json.dumps(sealed(self.to_dict()), indent=1, ensure_ascii=False, sort_keys=True) + "\n")

    @classmethod
    def load(cls, path: str | Path) -> Transcript:
        """Read a file that `save` wrote; ReleaseError R01, R02, R03, R05 for any other."""
        words = read_json(path)
        with naming(path):
            return cls.from_dict(words)

    @classmethod
    def from_dict(cls, words: Mapping[str, Any]) -> Transcript:
        """Read a transcript, the inverse of `to_dict`; ReleaseError R01, R02, R05 for any other document."""
        if words.get("kind") != KIND:
            raise ReleaseError("this document is no transcript of a hold-out.", code="R01", state=None)
        if words.get("tacit") != FORMAT:
            text = "this transcript is of another version of tacit."
            raise ReleaseError(text, code="R02", hint="upgrade tacit", state=None)
        if SEAL in words and not as_sealed(words):
            raise changed("this transcript")
        try:
            facts = {name: words[name] for name in SHARED}
            _fraction(facts["holdout"]["threshold"])
            return cls(facts, tuple(map(_answer, cast("list[Any]", words["checks"]))))
        except TacitError:
            raise
        except (KeyError, TypeError, ValueError, AttributeError, ArithmeticError):
            pass
        raise ReleaseError("this transcript is damaged.", code="R05", state=None)


def _row(one: HoldoutAnswer, level: float) -> tuple[str, ...]:
    """Return score, training value, answer, interval, where it is from, and charge of one answer, as text."""
    value, interval = one.value, "–"
    if one.differs and value is not None:
        low, high = one.release.estimate().intervals(level)[0]
        interval = f"{low:.4g} to {high:.4g}"
    shown = "–" if value is None else f"{value:.4g}"
    return one.score, f"{one.train:.4g}", shown, interval, "hold-out" if one.differs else "training", str(one.run)


def _answer(words: Mapping[str, Any]) -> HoldoutAnswer:
    """Read one answer; its release passes the checks of any release."""
    release: Release | None = None if words["release"] is None else release_from_dict(words["release"])
    if not isinstance(words["score"], str) or isinstance(words["run"], bool) or not isinstance(words["run"], int):
        raise ValueError("a score is text, a run a number")
    return HoldoutAnswer(words["score"], float(words["train"]), words["run"], release)


def _fraction(text: object) -> Any:
    """Return a fraction stored as text; ValueError for none."""
    from fractions import Fraction

    return Fraction(str(text))
