"""Malformed releases: seeded mutations of stored releases, read as the commands and the library read them.

    python benchmarks/malformed_releases.py                  # 12,000 mutations, some minutes on one core
    python benchmarks/malformed_releases.py --quick          # 400

Each mutation is one file.  It is loaded and estimated in this process, shown (`tacit show`), fitted where it holds a
histogram (`tacit fit`), and, where it is a party's answer to a study, combined with those of the others (`tacit
combine`); each of these within a limit of seconds.  Counted: exits 70, raw errors of Python (of the library), runs
past the limit, and silent differences: documents whose digest was left as it was and that load as something else.

The releases are those of `tests/documents`, written by the version before digests, so that a seed means the same
mutations on every machine and of every version of the library that is on the path.
"""

from __future__ import annotations

import argparse
import contextlib
import copy
import functools
import hashlib
import io
import json
import random
import signal
import sys
import tempfile
import traceback
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from fuzzing import counted

STORED: Final = Path(__file__).parents[1] / "tests" / "documents"
LIMIT: Final = 10
"""Seconds of work that one reading of one file may take."""


class TimeOut(BaseException):
    """A reading that takes too long; no Exception, so that nothing but this script catches it."""


@dataclass
class Found:
    """What happened, counted, with the first few cases of each."""

    counts: Counter[str] = field(default_factory=Counter[str])
    cases: dict[str, list[str]] = field(default_factory=dict[str, list[str]])

    def add(self, what: str, case: str) -> None:
        """Count one case, and keep its description."""
        self.counts[what] += 1
        self.cases.setdefault(what, []).append(case)

    def bad(self) -> dict[str, int]:
        """Return the counts of outcomes that must not happen: those with names in capitals."""
        return {name: count for name, count in self.counts.items() if name.partition(": ")[2][:3].isupper()}


# Documents ----------------------------------------------------------------------------------------------------------


def canonical(words: object) -> str:
    """As `tacit.base.json_text.canonical`; here so that a mutation does not depend on the version that is tested."""
    return json.dumps(words, sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def with_digest(words: dict[str, Any]) -> dict[str, Any]:
    """The document with the digest of what it says now."""
    body = {key: value for key, value in words.items() if key != "digest"}
    return {**body, "digest": hashlib.sha256(canonical(body).encode("utf-8", "surrogatepass")).hexdigest()}


def singles() -> list[dict[str, Any]]:
    """One stored release for each question, form, relation and price."""
    lines = (STORED / "releases_0.1.jsonl").read_text(encoding="utf-8").splitlines()
    found: dict[str, dict[str, Any]] = {}
    for words in map(json.loads, lines):
        key = [words["query"]["query"], words["parts"][0]["form"], words["neighbors"], sorted(words["cost"])]
        found.setdefault(f"{key} {words['unit']} {words['mechanism']}", words)
    return list(found.values())


def documents(stored: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Single releases, and files of two and three of them."""
    pairs = zip(stored, stored[7:] + stored[:7], strict=True)
    several = [{"tacit": 1, "releases": [["one", a], ["two", b]]} for a, b in list(pairs)[::3]]
    return [with_digest(one) for one in [*stored, *several]]


def study() -> tuple[str, dict[str, Any]]:
    """A study, and the answers of three parties."""
    words = json.loads((STORED / "study_0.1.json").read_text(encoding="utf-8"))
    # what 0.1 read: answers here are given the digest of a study of some of its questions
    return words["study"].replace("blocks = 12", 'blocks = 12\nbias = "cox-snell"'), words["answers"]


# Mutations ----------------------------------------------------------------------------------------------------------

Path_ = tuple[Any, ...]
ODD: Final[list[Any]] = [
    None, True, False, 0, -1, 1, 2, 3, -7, 1.5, 1e300, -1e300, 1e-300, 2**31, 2**53, 2**63, 2**64, 10**18, -(2**63),
    10**40, 10**400, 10**3999, "9" * 4000, "9" * 5000, str(2**60), str(-(2**60)), str(10**30), "1e999999999", "1/3",
    "0/1", "1/0", "-1", "1e5", "0x10", "", " ", "a", "x" * 100_000, "\ud800", "é\u202e", "\x00", "nan", "inf", "١٢",
    [], {}, [[]], [None], [1, 2, 3], {"a": 1}, "add-remove", "replace-one", "levels", "real", "integer", "boolean",
    "date", "number", "rows", "exclude", "Infinity", "NaN", ["f", "m"], "discrete Laplace", "rounded Gaussian",
    "exponential mechanism", "tacit", "0001-01-01", "1/1000", "1000000000000",
]  # fmt: skip
WILD: Final = {"nan": float("nan"), "inf": float("inf"), "-inf": float("-inf"), "1e999": float("1e999")}


def places(words: Any, path: Path_ = ()) -> Iterator[Path_]:
    """Paths of everything in a document, but for the whole and for bytes of integers beyond the first few."""
    items = words.items() if isinstance(words, dict) else enumerate(words[:6]) if isinstance(words, list) else ()
    for key, value in items:
        yield (*path, key)
        yield from places(value, (*path, key))


def at(words: Any, path: Path_) -> Any:
    """Return the value at a path."""
    for step in path:
        words = words[step]
    return words


def put(words: Any, path: Path_, value: Any) -> None:
    """Replace what is there."""
    at(words, path[:-1])[path[-1]] = value


def chosen(rng: random.Random, words: Any) -> Path_:
    """A place: first how deep, then which, so that few are in long lists."""
    every = [path for path in places(words) if path != ("digest",)]
    deepest = rng.randint(1, max(map(len, every)))
    return rng.choice([path for path in every if len(path) <= deepest])


def odd_value(rng: random.Random, words: Any, _: list[Any]) -> None:
    """Another type, a huge, negative or long value."""
    put(words, chosen(rng, words), copy.deepcopy(rng.choice(ODD)))


def wild_number(rng: random.Random, words: Any, _: list[Any]) -> None:
    """NaN or an infinity, as Python writes them."""
    put(words, chosen(rng, words), rng.choice(list(WILD.values())))


def nudged(rng: random.Random, words: Any, _: list[Any]) -> None:
    """A number a little or much off."""
    numbers = [p for p in places(words) if isinstance(at(words, p), int | float) and not isinstance(at(words, p), bool)]
    path = rng.choice(numbers)
    value = at(words, path)
    put(words, path, rng.choice([value + 1, value - 1, -value, value * 2, value * 10**6, value * 10**15, value / 2]))


def deleted(rng: random.Random, words: Any, _: list[Any]) -> None:
    """Remove a key or an element."""
    path = chosen(rng, words)
    del at(words, path[:-1])[path[-1]]


def renamed(rng: random.Random, words: Any, _: list[Any]) -> None:
    """Rename a key, or repeat an element."""
    path = chosen(rng, words)
    place = at(words, path[:-1])
    if isinstance(place, dict):
        place[rng.choice([f"{path[-1]}s", "more", path[-1].upper(), ""])] = place.pop(path[-1])
    else:
        place.insert(path[-1], copy.deepcopy(place[path[-1]]))


def longer(rng: random.Random, words: Any, _: list[Any]) -> None:
    """A list many times as long."""
    lists = [path for path in places(words) if isinstance(at(words, path), list)]
    if lists:
        path = rng.choice(lists)
        put(words, path, copy.deepcopy(at(words, path)) * rng.choice([2, 3, 50]))


def crossed(rng: random.Random, words: Any, _: list[Any]) -> None:
    """Groups or axes of very many cells, in a few bytes."""
    labels = [str(i) for i in range(rng.choice([2, 9, 40]))]
    levels = [[f"c{i}", labels] for i in range(rng.choice([3, 12, 40]))]
    for one in releases_in(words):
        one["levels"] = copy.deepcopy(levels)
        if "axes" in one:
            one["axes"] = [{"kind": "levels", "missing": "exclude"} for _ in levels]


def nested(rng: random.Random, words: Any, _: list[Any]) -> None:
    """Lists in lists."""
    deep: Any = 1
    for _step in range(rng.choice([20, 900])):
        deep = [deep]
    put(words, chosen(rng, words), deep)


def swapped(rng: random.Random, words: Any, others: list[Any]) -> None:
    """A part, form, grid, noise, cost, question or list of another release."""
    one, other = rng.choice(releases_in(words)), rng.choice(releases_in(rng.choice(others)))
    key = rng.choice(["parts", "query", "levels", "kind", "cost", "neighbors", "rows", "unit", "part", "part", "part"])
    if key == "part":
        mine, theirs = rng.choice(one["parts"]), rng.choice(other["parts"])
        name = rng.choice([*theirs])
        mine[name] = copy.deepcopy(theirs[name])
    else:
        one[key] = copy.deepcopy(other[key])


def reordered(rng: random.Random, words: Any, _: list[Any]) -> None:
    """A list with its elements in another order, or without its last."""
    lists = [p for p in places(words) if isinstance(at(words, p), list) and len(at(words, p)) > 1]
    if lists:
        place = at(words, rng.choice(lists))
        if rng.random() < 0.5:
            place.pop()
        else:
            rng.shuffle(place)


def huge_public_number(rng: random.Random, words: Any, _: list[Any]) -> None:
    """Make a public constant very large."""
    one = rng.choice(releases_in(words))
    value = rng.choice([0, -1, 1, 3, 10**6, 10**9, 2**53, str(2**62), str(10**100), str(10**3000), 0.5])
    part = rng.choice(one["parts"])
    spots: list[tuple[Any, Any]] = [(part["parameters"], key) for key in part["parameters"]]
    spots += [(part["sensitivity"], key) for key in part["sensitivity"]]
    spots += [(part["noise"], "scale"), (one, "rows"), (one, "unit"), (one, "charge")]
    spots += [(part["grid"], key) for key in ("G", "lower", "upper")] if "grid" in part else []
    spots += [(one["query"], key) for key in ("blocks", "rows", "threshold", "level", "parties") if key in one["query"]]
    spots += [(v, key) for v in one.get("variables", ()) for key in ("half", "lower", "upper")]
    place, key = rng.choice(spots)
    place[key] = value


def releases_in(words: Any) -> list[Any]:
    """The releases of a document."""
    return [one for _, one in words["releases"]] if "releases" in words else [words]


MUTATIONS: Final[list[Callable[[random.Random, Any, list[Any]], None]]] = [
    odd_value, odd_value, odd_value, wild_number, nudged, nudged, deleted, deleted, renamed, longer, crossed, nested,
    swapped, swapped, reordered, huge_public_number, huge_public_number,
]  # fmt: skip


def in_text(rng: random.Random, text: str) -> bytes:
    """The text cut off, with a key twice, with a letter or a byte of another kind, or with a byte-order mark."""
    how = rng.randrange(7)
    place = rng.randrange(1, len(text))
    if how == 0:
        return text[:place].encode()
    if how == 1:
        return text[:place].encode() + rng.choice([b"\xff", b"\xc3", b"\x00", b"\xed\xa0\x80"]) + text[place:].encode()
    if how == 2:
        return b"\xef\xbb\xbf" + text.encode()
    if how == 3:
        return (text[: place - 1] + rng.choice('0123456789-.eE"[]{},:ax\n') + text[place:]).encode()
    if how == 4:
        return (text + rng.choice([text, "{}", " x", "\x00"])).encode()
    starts = [i for i, c in enumerate(text) if c == "{" and text[i + 1 : i + 2] == '"']
    start = rng.choice(starts)
    key = text[start + 1 : text.index('"', start + 2) + 1]
    value = rng.choice(["1", "0", '"x"', "null", "[]", "true", '"1/2"', '"\\ud800"', "[" * 2_000 + "]" * 2_000])
    return f"{text[: start + 1]}{key}:{value},{text[start + 1 :]}".encode()


@dataclass(frozen=True)
class Mutation:
    """One file: its bytes, the document that it was, and whether its digest was left as it was."""

    name: str
    raw: bytes
    original: dict[str, Any]
    kept: bool


def mutation(seed: int, number: int, given: list[dict[str, Any]]) -> Mutation:
    """Return the mutation of a seed and number, always the same."""
    rng = random.Random(f"{seed}/{number}")
    original = rng.choice(given)
    if rng.random() < 0.15:
        raw = in_text(rng, json.dumps(original, ensure_ascii=rng.random() < 0.5))
        return Mutation(f"{number} text", raw, original, True)
    words, done = copy.deepcopy(original), list[str]()
    for _ in range(rng.choice([1, 1, 1, 2])):
        make = rng.choice(MUTATIONS)
        with contextlib.suppress(LookupError, TypeError, AttributeError, ValueError, OverflowError, RecursionError):
            make(rng, words, given)
            done.append(make.__name__)
    how = rng.choice(["kept", "kept", "renewed", "renewed", "renewed", "lost"])
    with contextlib.suppress(RecursionError):
        if how == "lost":
            words.pop("digest", None)
        elif how == "renewed":
            words = with_digest(words)
        text = json.dumps(words)
        return Mutation(f"{number} {'+'.join(done)} {how}", text.encode(), original, how == "kept")
    return Mutation(f"{number} empty", b"", original, True)


# Readings -----------------------------------------------------------------------------------------------------------


@contextlib.contextmanager
def limited(seconds: int) -> Iterator[None]:
    """TimeOut after so many seconds of this process's work, or twelve times as many of the clock."""

    def ring(*_: object) -> None:
        raise TimeOut

    before = [signal.signal(one, ring) for one in (signal.SIGPROF, signal.SIGALRM)]
    signal.setitimer(signal.ITIMER_PROF, seconds)
    signal.setitimer(signal.ITIMER_REAL, 12 * seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.setitimer(signal.ITIMER_REAL, 0)
        for one, old in zip((signal.SIGPROF, signal.SIGALRM), before, strict=True):
            signal.signal(one, old)


def command(*words: str) -> tuple[int, str]:
    """A command in this process: exit code, and what it prints on both streams."""
    import typer.main

    from tacit.cli import main

    if not hasattr(typer.main.get_command, "cache_info"):  # the commands are made once, not at each call
        typer.main.get_command = functools.cache(typer.main.get_command)
    out, argv = io.StringIO(), sys.argv
    sys.argv = ["tacit", *words]
    try:
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(out):
            main()
    except SystemExit as left:
        return int(str(left.code)), out.getvalue()
    finally:
        sys.argv = argv


def tried(found: Found, what: str, case: str, run: Callable[[], Any]) -> Any:
    """Run within the limit; a raw error or a run past it is counted.  What it gave, or None."""
    from tacit.errors import TacitError

    try:
        with limited(LIMIT):
            return run()
    except TacitError:
        found.counts[f"{what}: refused"] += 1
    except TimeOut:
        found.add(f"{what}: TIME OUT", case)
    except Exception as problem:
        last = traceback.extract_tb(problem.__traceback__)[-1]
        found.add(f"{what}: RAW", f"{case}: {problem!r:.150} {Path(last.filename).name}:{last.lineno}")
    return None


def shown(found: Found, what: str, case: str, *words: str) -> None:
    """Run a command within the limit; an exit that is none of the declared ones is counted."""
    answer = tried(found, what, case, lambda: command(*words))
    if answer is None:
        return
    code, text = answer
    found.counts[f"{what}: exit {code}"] += 1
    if code not in (0, 2, 4):
        found.add(f"{what}: EXIT {code}", case)
    if "Traceback" in text or "Warning" in text:
        found.add(f"{what}: TRACE", f"{case}: {text[-200:]!r}")


def loaded(found: Found, one: Mutation, path: Path) -> None:
    """Load and estimate; a document with its digest as it was is the same, or refused."""
    from tacit.release.document import Release, Releases

    def read() -> Any:
        return Releases.load(path) if "releases" in one.original else Release.load(path)

    made = tried(found, "load", one.name, read)
    if made is None:
        return
    found.counts["load: loaded"] += 1
    if one.kept:
        before = {k: v for k, v in one.original.items() if k not in ("digest", "signature")}
        if canonical(made.to_dict()) != canonical(before):
            found.add("load: SILENT DIFFERENCE", one.name)
    for release in made.values() if "releases" in one.original else (made,):
        answer = tried(found, "estimate", one.name, release.estimate if hasattr(release, "estimate") else str)
        if answer is not None:
            tried(found, "summary", one.name, lambda release=release: str(release.summary()))


def formula(original: dict[str, Any]) -> tuple[str, str] | None:
    """Name and formula for `tacit fit`, of a document with a histogram; None of another."""
    names = [(one.get("name") or "release", one) for one in [original]] if "releases" not in original else []
    for name, one in names or [(name, one) for name, one in original["releases"]]:
        if one["kind"] == "histogram":
            columns = [column for column, _ in one["levels"]]
            return name, f"{columns[0]} ~ {' + '.join(columns[1:]) or '1'}"
    return None


def alone(found: Found, one: Mutation, folder: Path) -> None:
    """Read one file in all ways but `combine`."""
    path = folder / "one.json"
    path.write_bytes(one.raw)
    loaded(found, one, path)
    shown(found, "show", one.name, "show", str(path))
    fitted = formula(one.original)
    if fitted is not None:
        shown(found, "fit", one.name, "fit", str(path), *fitted)


def asked_alone(text: str, answers: dict[str, Any], number: int) -> tuple[str, dict[str, Any]]:
    """The study with one of its questions, and the answers to that one: eight studies in turn."""
    import tacit as tc

    names = [name for name, _ in answers["st-mary"]["releases"]]
    name = names[number % len(names)]
    head, *sections = text.split("[ask.")
    own = next(one for one in sections if one.startswith(f"{name}]")).partition("[combine]")[0]
    short = f"{head}[ask.{own}[combine]{text.partition('[combine]')[2]}"
    digest = tc.Study.from_toml(short).digest()
    made: dict[str, Any] = {}
    for party, words in answers.items():
        kept = [[key, {**one, "study": digest}] for key, one in words["releases"] if key == name]
        made[party] = with_digest({"tacit": 1, "releases": kept})
    return short, made


def together(found: Found, seed: int, number: int, text: str, answers: dict[str, Any], folder: Path) -> None:
    """One party's file is a mutation, the others' are not: two at least are combined whatever it is."""
    place = folder / "returned"
    place.mkdir(exist_ok=True)
    text, answers = asked_alone(text, answers, number)
    one = mutation(seed, number, [answers["st-mary"]])
    (folder / "study.toml").write_text(text, encoding="utf-8")
    for name, words in answers.items():
        (place / f"{name}.release.json").write_text(json.dumps(words), encoding="utf-8")
    (place / "st-mary.release.json").write_bytes(one.raw)
    more = ["--json"] if number % 2 else []
    typed = ("combine", str(folder / "study.toml"), str(place), *more)
    answer = tried(found, "combine", one.name, lambda: command(*typed))
    if answer is None:
        return
    code, said = answer
    found.counts[f"combine: exit {code}"] += 1
    alone = "are selected, not summed" in said  # of a study of quantiles nothing is pooled
    if code not in (0, 4) and not alone:
        found.add(f"combine: EXIT {code}", f"{one.name}: {said[-200:]!r}")
    elif code == 0 and one.kept and not same(one.raw, answers["st-mary"]):
        found.add("combine: SILENT DIFFERENCE", one.name)


def same(raw: bytes, words: dict[str, Any]) -> bool:
    """Whether a file still says the same."""
    try:
        return bool(json.loads(raw) == words)
    except ValueError:
        return False


def swept(alones: int, togethers: int, seed: int, progress: bool = False) -> Found:
    """Try all mutations."""
    found, given = Found(), documents(singles())
    text, answers = study()
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("error")
        for number in range(alones):
            alone(found, mutation(seed, number, given), Path(folder))
            if progress and number % 500 == 499:
                print(f"… {number + 1:,}: {found.bad()}", flush=True)
        for number in range(togethers):
            together(found, seed, number, text, answers, Path(folder))
    return found


def main() -> None:
    """The command."""
    words = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    words.add_argument("--alone", type=int, default=10_000)
    words.add_argument("--together", type=int, default=2_000)
    words.add_argument("--seed", type=int, default=13)
    words.add_argument("--quick", action="store_true")
    words.add_argument("--cases", type=int, default=3, help="how many cases of each to print")
    given = words.parse_args()
    made = swept(300, 100, given.seed) if given.quick else swept(given.alone, given.together, given.seed, True)
    counted(made.counts, made.cases, given.cases, made.bad())


if __name__ == "__main__":
    main()
