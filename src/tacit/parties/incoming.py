"""Read the answers returned to a study, check their signatures, and keep one answer a party.

What came besides a party's good answer cannot evict it: a forged file, one of an earlier edition of the study, one that
cannot be read.  Such files are refused under their own names.  Two good answers that differ are both refused: nobody
can tell which is the party's, and a party must not draw until it likes the noise.
"""

from __future__ import annotations

import gc
import glob
import os
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeAlias, cast

from tacit.base.json_text import read_json
from tacit.errors import StudyError, TacitError
from tacit.parties.validation import copies, forgery_reason
from tacit.release.digests import LOST, body_of
from tacit.release.document import Release, Releases, releases_from_dict
from tacit.release.document_fields import SEAL
from tacit.release.simulated import SimulatedRelease

if TYPE_CHECKING:
    from tacit.study import Study

SUFFIX: Final = ".release.json"

Returned: TypeAlias = "str | os.PathLike[str] | Sequence[str | os.PathLike[str]] | Mapping[str, Releases]"
"""Files, a pattern or a folder, or answers in memory by party."""
Check: TypeAlias = Callable[[str, Releases], str | None]
"""(party, its answer) -> why it is no answer to the study, in words, or None."""


@dataclass(frozen=True)
class Arrival:
    """An answer, the party that it names, and its file; `false`: why it is not by that party, in words, or None."""

    file: str
    party: str
    answer: Releases
    false: str | None


def read_answers(
    study: Study,
    returned: Returned,
    refused: dict[str, str],
    check: Check = lambda party, answer: None,
) -> dict[str, Releases]:
    """Return one answer a party; all others are added to `refused`, with the reason.

    Refused are files that cannot be read, forged answers, answers that do not pass `check`, copies (of another
    party's answer, too), and parties with two different answers.  StudyError C20 where there is no file, C27 where a
    key is listed and `cryptography` is not installed.
    """
    unread: list[tuple[Path, str]] = []
    if isinstance(returned, Mapping):
        found = _given(study, returned, refused)
    else:
        found = _read(study, files_of(returned), unread)
    good = _sifted(_genuine(found, refused), lambda one: check(one.party, one.answer), refused)
    answers = _one_each(good, refused)
    twice = copies(study, answers)
    refused.update(twice)
    answers = {party: one for party, one in answers.items() if party not in twice}
    for path, why in unread:
        name = _stem(path)
        # what cannot be read is listed by the party that its name says, unless that party answered
        refused[str(path) if name in refused else path.name if name in answers else name] = why
    return answers


def files_of(returned: str | os.PathLike[str] | Sequence[str | os.PathLike[str]]) -> list[Path]:
    """Expand files, patterns and folders to distinct files; StudyError C20 where there is none."""
    given = [returned] if isinstance(returned, str | os.PathLike) else list(returned)
    found: list[Path] = []
    for one in given:
        place = Path(one)
        if os.path.isdir(place):
            found += sorted(place.glob("*.json"))
        # first as it stands: a file's name may contain brackets
        elif os.path.exists(place) or not glob.has_magic(str(one)):
            found.append(place)
        else:
            found += [Path(name) for name in sorted(glob.glob(str(one)))]
    if not found:
        said = ", ".join(str(one) for one in given) or "nothing"
        raise StudyError(f"{said}: no file there.", code="C20", hint='study.combine("returned/*.json")', state=None)
    return list(dict.fromkeys(found))


def _given(study: Study, returned: Mapping[str, Any], refused: dict[str, str]) -> list[Arrival]:
    """Check answers given in memory; what is not a curator's answer is added to `refused`."""
    out: list[Arrival] = []
    for name, one in returned.items():
        if isinstance(one, Releases) and all(isinstance(release, Release) for release in one.values()):
            # one=one binds this turn's answer, not the last one's
            false = forgery_reason(study, name, one.signature, lambda one=one: body_of(one.to_dict()))
            out.append(Arrival(f"answer of {name}", name, one, false))
        else:
            what = "simulated, and protects nobody" if _simulated(one) else "no answer that a curator made (Releases)"
            refused[name] = f"it is {what}"
    return out


def _simulated(one: Any) -> bool:
    """Whether an answer is simulated, or holds a simulated release."""
    inside = tuple(cast("Mapping[str, Any]", one).values()) if isinstance(one, Mapping) else (one,)
    # a `Simulation` is known by name: `tacit.testing` stands above this room
    return any(isinstance(one, SimulatedRelease) or type(one).__name__ == "Simulation" for one in inside)


@contextmanager
def without_garbage_collection() -> Generator[None]:
    """Pause the cyclic garbage collector: reading many documents makes many small objects, none of them in a cycle."""
    was = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was:
            gc.enable()


def _read(study: Study, files: Iterable[Path], unread: list[tuple[Path, str]]) -> list[Arrival]:
    """Read the files; those that cannot be read are added to `unread`, with the reason."""
    out: list[Arrival] = []
    for path in files:
        opened = _read_file(path)
        if isinstance(opened, str):
            unread.append((path, opened))
            continue
        words, found = opened
        # the table's name is the party's
        tables = {one.table for one in found.values()}
        if len(tables) != 1:
            unread.append((path, "it has answers of several tables" if tables else "it holds no answer"))
            continue
        party = tables.pop()
        out.append(
            # the document as it came is what was signed, with fields that this version does not know
            Arrival(path.name, party, found, forgery_reason(study, party, found.signature, partial(body_of, words)))
        )
    return out


def _read_file(path: Path) -> tuple[dict[str, Any], Releases] | str:
    """Return a file's document and its releases, or why it cannot be read."""
    try:
        words = read_json(path)
        found = releases_from_dict(words)
    except TacitError as problem:
        return problem.message.removeprefix(f"{path} ").rstrip(".")
    except Exception as problem:  # an unforeseen file must refuse one party, not stop the whole combination
        return f"it cannot be read ({type(problem).__name__})"
    return (words, found) if SEAL in words else f"it {LOST}"


def _stem(path: Path) -> str:
    return path.name.removesuffix(SUFFIX) if path.name.endswith(SUFFIX) else path.stem


def _genuine(found: Sequence[Arrival], refused: dict[str, str]) -> list[Arrival]:
    """Keep answers that are not forged; see `_sifted`."""
    return _sifted(found, lambda one: one.false, refused)


def _sifted(
    found: Sequence[Arrival], reason: Callable[[Arrival], str | None], refused: dict[str, str]
) -> list[Arrival]:
    """Keep answers for which there is no reason against them; the others are added to `refused`.

    One of these is refused under its file's name where a good answer of the party came too, so that it cannot displace
    that one, or where the party is listed already.
    """
    reasons = [reason(one) for one in found]
    kept = [one for one, why in zip(found, reasons, strict=True) if why is None]
    good = {one.party for one in kept}
    for one, why in zip(found, reasons, strict=True):
        if why is not None:
            refused[one.file if one.party in good or one.party in refused else one.party] = why
    return kept


def _one_each(found: Sequence[Arrival], refused: dict[str, str]) -> dict[str, Releases]:
    """Keep one answer a party: identical copies count once; a party with two different answers is refused."""
    kept: dict[str, Arrival] = {}
    twice: dict[str, list[str]] = {}
    for one in found:
        first = kept.setdefault(one.party, one)
        if first is one:
            continue
        # without the signature: a copy that lost it says the same
        if first.answer.items_ == one.answer.items_:
            refused[one.file] = f"it is the answer of {one.party} again, as in {first.file}"
        else:
            twice.setdefault(one.party, [first.file]).append(one.file)
    for party, files in twice.items():
        refused[party] = f"it answers twice, in {' and '.join(files)}"
        del kept[party]
    return {party: one.answer for party, one in kept.items()}
