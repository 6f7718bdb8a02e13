"""Combine the answers to a study: check each against the study, leave out wrong ones with the reason."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, get_args

from tacit.base.json_text import write_text
from tacit.base.lazy_imports import pandas
from tacit.base.table import Table, shown_by_summary, with_numbers
from tacit.errors import InferenceError, StudyError, nearest
from tacit.estimates.display import percent
from tacit.estimates.terms import check_level
from tacit.method.histogram.estimate_margins import SHOWN
from tacit.parties.agreement import differing_parties, try_combining
from tacit.parties.combine_releases import combined
from tacit.parties.combined_estimate import forest_plot
from tacit.parties.combined_tables import listed, spreads, who_is_out
from tacit.parties.incoming import Check, Returned, read_answers, without_garbage_collection
from tacit.parties.validation import refusal_reason
from tacit.pooling.compatibility import BOOTSTRAP, NO_EFFECTS, why_not_combinable
from tacit.pooling.heterogeneity import METHODS, Method
from tacit.release.document import Release, Releases
from tacit.study.study_parties import Effects

if TYPE_CHECKING:
    from tacit.study import Study

REASONS: Final = 12
"""Reasons of terms listed below a summary."""


@shown_by_summary
@dataclass(frozen=True, repr=False)
class StudyResult(Mapping[str, Any]):
    """The combined answers to a study: a mapping of question to `Combined` or `CombinedHistogram`.

    Attributes
    ----------
    study: the study.
    answers: the answers that are combined, by party.
    refused: parties left out, with the reason: {"st-luke": "'stay' is 0 to 60 there, 0 to 365 in the study"}.
    missing: listed parties without an answer, except optional ones.
    alone: questions whose answers cannot be combined, with the reason; each party's own are in `answers`.

    Its keys are the questions whose answers can be combined.  A pooled result needs the study's minimum number of
    answers: StudyError C21 with fewer, C22 for an unknown question or one whose answers cannot be combined.
    """

    study: Study
    answers: Mapping[str, Releases]
    refused: Mapping[str, str]
    effects: Effects
    method: Method
    made: dict[str, Any] = field(default_factory=dict[str, Any], repr=False, compare=False)

    @property
    def missing(self) -> tuple[str, ...]:
        """Listed parties without an answer, except optional ones."""
        came = {*self.answers, *self.refused}
        return tuple(name for name, one in self.study.parties.items() if name not in came and not one.optional)

    @property
    def incomplete(self) -> bool:
        """Whether parties are left out: missing or refused; in a study that lists none, whether a file was refused.

        A file that was refused beside the party's good answer leaves nobody out.
        """
        listed = self.study.parties
        if not listed:
            return bool(self.refused)
        out = [name for name in listed if name not in self.answers]
        return any(name in self.refused or not listed[name].optional for name in out)

    @property
    def signed(self) -> tuple[str, ...]:
        """Parties whose answers are signed with the key that the study lists, and so are unchanged."""
        return tuple(name for name in self.answers if name in self.study.parties and self.study.parties[name].key)

    @property
    def parties(self) -> tuple[str, ...]:
        """Names of the parties whose answers are combined."""
        return tuple(self.answers)

    @property
    def alone(self) -> dict[str, str]:
        """Questions whose answers cannot be combined, with the reason."""
        if not self.answers:
            return {}
        first = next(iter(self.answers.values()))
        return {name: why for name in self.study.asks if (why := self._why_alone(first[name])) is not None}

    def _why_alone(self, one: Release) -> str | None:
        """Return why answers such as this one are not combined here; None where they are."""
        if one.kind == BOOTSTRAP and self.effects != "common":
            return f"{NO_EFFECTS}, which combine by common effects alone"
        why = why_not_combinable(one)
        return None if why is None else why[0]

    def __getitem__(self, name: str) -> Any:
        if name not in self.study.asks:
            guess = nearest(name, list(self.study.asks)) or ", ".join(self.study.asks)
            raise StudyError(f"the study has no question {name!r}.", code="C22", hint=guess, state=None)
        if name in self.alone:
            hint = f'.answers["{self.parties[0]}"]["{name}"].estimate()'
            raise StudyError(f"{name!r}: {self.alone[name]}.", code="C22", hint=hint, state=None)
        # before anything is combined: fewer answers than the minimum must show no pooled number
        self.enough()
        if name not in self.made:
            with without_garbage_collection():
                self.made[name] = self.together(name, {party: one[name] for party, one in self.answers.items()})
        return self.made[name]

    def together(self, name: str, answers: Mapping[str, Release]) -> Any:
        """Combine answers to a question and compute the estimate, so that a failure is seen here, not when printed."""
        how = self.study.combining
        asked = self.effects, self.method, how.overlap, self._notes()
        made = combined(tuple(answers), tuple(answers.values()), True, *asked, linear=how.linear)
        if made.kind != "histogram":
            made.estimate()
        return made

    def __iter__(self) -> Iterator[str]:
        return iter([name for name in self.study.asks if name not in self.alone])

    def __len__(self) -> int:
        return sum(1 for _ in self)

    @property
    def many_enough(self) -> bool:
        """Whether there are enough answers for the study's minimum and for its effects."""
        return len(self.answers) >= self._least

    @property
    def _least(self) -> int:
        return max(self.study.combining.minimum, 2 if self.effects == "random" else 1)

    def enough(self) -> None:
        """Raise StudyError C21 with fewer answers than the study's minimum, or than its effects need."""
        least = self._least
        if not self.many_enough:
            count = f"{len(self.answers):,} answer{'' if len(self.answers) == 1 else 's'}"
            whose = f"{count} of {listed(self.parties)}" if self.answers else "no answer that can be used"
            text = f"{whose}: a pooled result takes {least:,}."
            out = "; ".join(f"{name}: {why}" for name, why in list(self.refused.items())[:3])
            raise StudyError(text, code="C21", hint=out or "more answers", state=None)

    def _notes(self) -> tuple[str, ...]:
        said: list[str] = []
        if self.refused:
            said.append(f"left out: {listed(tuple(self.refused))}")
        if self.missing:
            said.append(f"no answer yet from {listed(self.missing)}")
        return tuple(said)

    # Tables and files -----------------------------------------------------------------------------------------------

    def summary(self, level: float | None = None) -> Table:
        """Return one row for each term of every combined question, with notes on who is left out.  StudyError C21.

        A term of which nothing can be said has the reason among the notes.
        """
        level = self.study.combining.level if level is None else level
        self.enough()
        rows: list[tuple[object, ...]] = []
        reasons: list[str] = []
        how: dict[str, None] = {}
        for name in self:
            found = self[name]
            if found.kind == "histogram" and found.counts.size > SHOWN:
                rows.append((f"{name}: {found.counts.size:,} cells", "–", "–", "–", "–"))
                continue
            made = found.estimate().summary(level)
            for (term, *cells), why in zip(made.rows, found.estimate().reasons, strict=True):
                told = f"{name}: {term}" if term and term != "rows" else name
                rows.append((told, *cells))
                reasons += [f"{told}: {why}"] if why else []
            own = [note for note in made.notes if note not in self._notes()]
            how |= dict.fromkeys(note for note in own if note.startswith("random effects"))
            how |= dict.fromkeys(who_is_out(name, found.estimate().terms, own))
        apart = [one for name in self for one in spreads(self[name], name)]
        differ = (f"differences between parties beyond sampling and noise (I²): {listed(tuple(apart))}",)
        columns = ("", "estimate", "std. error", f"{percent(level)} interval", "of which privacy")
        title = f"{self.study.title or self.study.name} · {len(self.answers):,} parties · {self.effects} effects"
        more = len(reasons) - REASONS
        said = (*reasons[:REASONS], *([f"and {more:,} more reasons"] if more > 0 else []))
        return Table(title, columns, tuple(rows), (*said, *how, *(differ if apart else ()), *self.notes()))

    def notes(self) -> tuple[str, ...]:
        """Return notes: refused and missing parties, questions that cannot be combined, answers without signature."""
        said = [f"refused {name}: {why}" for name, why in self.refused.items()]
        if self.missing:
            said.append(f"no answer from {', '.join(self.missing)}")
        said += [f"{name}: {why}" for name, why in self.alone.items()]
        said += [f"the same people, by their ledger: {', '.join(some)}" for some in self._one_ledger()]
        signed = set(self.signed)
        bare = tuple(name for name in self.answers if name not in signed)
        if bare:
            said.append(f"not signed: {listed(bare)}; a digest finds accidents, only a signature finds tampering")
        return tuple(said)

    def _one_ledger(self) -> list[list[str]]:
        """Return the parties whose answers were charged to one ledger: they count as one."""
        found: dict[str, list[str]] = {}
        for party, one in self.answers.items():
            for ledger in {release.ledger for release in one.values() if release.recorded and release.ledger}:
                found.setdefault(ledger, []).append(party)
        return [some for some in found.values() if len(some) > 1]

    def save(self, folder: str | Path, level: float | None = None) -> tuple[Path, ...]:
        """Write the summary (text), its numbers and those of the parties (CSV), and refused parties (JSON).

        The folder is created if needed.  StudyError C21 (too few answers), ReleaseError R07 (cannot be written).
        """
        level = self.study.combining.level if level is None else level
        place = Path(folder)
        table = self.summary(level)
        place.mkdir(parents=True, exist_ok=True)
        made = [place / "summary.txt", place / "summary.csv", place / "refused.json"]
        table.save(made[0])
        write_text(made[1], self._numbers(level))
        words = {"refused": dict(self.refused), "missing": list(self.missing), "parties": list(self.parties)}
        write_text(made[2], json.dumps(words, ensure_ascii=False, indent=1) + "\n")
        for name in self:
            found = self[name]
            if found.kind != "histogram":
                made.append(place / f"{_plain(name)}.parties.csv")
                write_text(made[-1], str(found.to_frame(level).to_csv(index=False)))
        return tuple(made)

    def _numbers(self, level: float) -> str:
        """Return the numbers of the summary as CSV, in full precision, without histograms of many cells."""
        frames = list[Any]()
        for name in self:
            found = self[name]
            if found.kind != "histogram" or found.counts.size <= SHOWN:
                made = found.estimate()
                frame = with_numbers(made.to_frame(level).rename_axis(index="term"), made.summary(level))
                frame.insert(0, "question", name)
                frames.append(frame)
        return str(pandas().concat(frames).to_csv(index=False)) if frames else "question,term\n"

    def plot(self, path: str | Path, level: float | None = None) -> tuple[Path, ...]:
        """Draw a forest plot of each combined question but histograms, and return the files.

        path: of the picture (.png, .svg, .pdf); of several questions each has its name in the file's: forest-stay.png.
        StudyError C21 (too few answers), C22 (no question has a forest plot), InferenceError I01 (level), I20 (no
        matplotlib), I05 (too many rows), FileError F10 (another suffix), ReleaseError R07 (it cannot be written).
        """
        level = check_level(self.study.combining.level if level is None else level)
        self.enough()
        names = [name for name in self if self[name].kind != "histogram"]
        if not names:
            text = "no question of the study has a forest plot: histograms are added, and have pictures of their own."
            raise StudyError(text, code="C22", hint='result["cells"].plot()', state=None)
        made: list[Path] = []
        for name in names:
            place = Path(path)
            place = place if len(names) == 1 else place.with_name(f"{place.stem}-{_plain(name)}{place.suffix}")
            forest_plot(self[name].estimate(), self[name], None, level).save(place)
            made.append(place)
        return tuple(made)


def _plain(name: str) -> str:
    """Return a question's name with the characters that a file name cannot have replaced."""
    return "".join(one if one.isalnum() or one in "-_." else "_" for one in name)


def combine_study(
    study: Study,
    returned: Returned,
    effects: Effects | None = None,
    *,
    method: Method = "REML",
) -> StudyResult:
    """See `Study.combine`."""
    chosen = study.combining.effects if effects is None else effects
    for name, value, known in (("effects", chosen, get_args(Effects)), ("method", method, METHODS)):
        if value not in known:
            guess = nearest(str(value), known) or known[0]
            text = f"{name} {value!r} is none of {', '.join(known)}."
            raise InferenceError(text, code="C17", hint=f'{name}="{guess}"', state=None)
    with without_garbage_collection():
        found = _given(study, returned, chosen, method)
        if found.refused:  # the first of the editions is this one
            found = max((found, *(_given(one, returned, chosen, method) for one in study.editions[1:])), key=_number)
        return _agreed(found)


def _given(study: Study, returned: Returned, effects: Effects, method: Method) -> StudyResult:
    """Return the answers to one edition of a study, none of them combined yet."""
    refused: dict[str, str] = {}
    answers = read_answers(study, returned, refused, _check_of(study))
    order = {name: i for i, name in enumerate(study.parties)}
    # in the study's order, so that the result does not depend on the names of files
    listing = sorted(answers, key=lambda name: (order.get(name, len(order)), name))
    return StudyResult(study, {name: answers[name] for name in listing}, refused, effects, method)


def _number(result: StudyResult) -> int:
    """Return how many answers there are; of two editions with as many, the first counts."""
    return len(result.answers)


def _agreed(result: StudyResult) -> StudyResult:
    """Refuse parties whose answers differ from the others' or make a combination fail, until the rest combines."""
    # every round but the last removes a party
    for _ in range(len(result.answers)):
        wrong: dict[str, str] = {}
        for name in result:
            wrong |= differing_parties(result.answers, name)
        # combining is tried only once public facts agree: a mismatch would fail for everybody
        if not wrong and result.many_enough:
            for name in result:
                answers = {party: one[name] for party, one in result.answers.items()}
                made, found = try_combining(answers, partial(result.together, name))
                wrong |= found
                if made is not None:
                    result.made[name] = made
        if not wrong:
            break
        kept = {party: one for party, one in result.answers.items() if party not in wrong}
        # made={}: what was combined with the refused parties
        result = replace(result, answers=kept, refused={**result.refused, **wrong}, made={})
    return result


def _check_of(study: Study) -> Check:
    """Return the check of an answer against this study, which names the first reason against it."""
    digest, schema = study.digest(), study.schema.digest()

    def check(party: str, answer: Releases) -> str | None:
        try:
            return refusal_reason(study, digest, schema, party, answer)
        except Exception as problem:  # an unforeseen file must refuse one party, not stop the whole combination
            return f"it cannot be checked ({type(problem).__name__})"

    return check
