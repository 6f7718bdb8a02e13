"""Tables and pictures of several releases at once: one file for all where the format holds several, else one each."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tacit.base.json_text import write_text
from tacit.base.table import Table, documents, label_of, suffix_of, with_numbers
from tacit.cli.output import as_text, writable
from tacit.errors import InferenceError

if TYPE_CHECKING:
    from tacit.cli.show_commands import Told


def save_tables(tables: Mapping[str, Table], target: str, *inputs: str) -> list[Path]:
    """Write tables to a file, CSV to one file for each; return the paths.

    FileError F10 for another suffix, ReleaseError R07 where a file cannot be written: before any is.
    """
    suffix = suffix_of(target)
    if suffix != ".csv" or len(tables) == 1:
        writable(target, *inputs)
        labels = [label_of(name) or None for name in tables]
        write_text(target, documents(list(tables.values()), suffix, labels=labels))
        return [Path(target)]
    paths = one_each(target, tables, inputs)
    for name, path in paths.items():
        tables[name].save(path)
    return list(paths.values())


def save_numbers(tables: Mapping[str, Table], frames: Callable[[str], Any], target: str, *inputs: str) -> list[Path]:
    """Write tables as `save_tables` does, but .csv and .json in full precision; return the paths.

    A file for programs has one number a cell, whatever digits a reader would be shown: the columns of `to_frame`.
    frames: the frame of a table, by its name; only asked for where it is written.
    """
    suffix = suffix_of(target)
    if suffix not in (".csv", ".json"):
        return save_tables(tables, target, *inputs)
    if suffix == ".csv":
        paths = one_each(target, tables, inputs)
        for name, path in paths.items():
            write_text(path, str(with_numbers(frames(name), tables[name]).to_csv(index=False)))
        return list(paths.values())
    writable(target, *inputs)
    words = [_words(one, with_numbers(frames(name), one)) for name, one in tables.items()]
    write_text(target, as_text(words[0] if len(words) == 1 else words) + "\n")
    return [Path(target)]


def _words(table: Table, frame: Any) -> dict[str, Any]:
    """Return the object of `Table.to_json` with a frame's columns and numbers as its rows."""
    rows = frame.to_dict(orient="split", index=False)["data"]
    return {"title": table.title, "columns": list(frame.columns), "rows": rows, "notes": list(table.notes)}


def save_pictures(releases: Mapping[str, Any], told: Told, place: str, *inputs: str) -> tuple[list[Path], list[str]]:
    """Draw releases, one file for each; return the paths, and why one of several could not be drawn."""
    paths, refused = one_each(place, releases, inputs), list[str]()
    for name, path in paths.items():
        try:
            _drawn(releases[name], told).save(path)
        except InferenceError as problem:
            # one alone is an error; of several the others are still drawn
            if len(releases) == 1 or problem.code == "I20":
                raise
            refused.append(name)
    return [path for name, path in paths.items() if name not in refused], refused


def _drawn(release: Any, told: Told) -> Any:
    target = told.target
    if release.kind == "additive":
        return release.totals(target if release.query.moments else "table").plot()
    if release.kind == "ks-data-set":
        return release.band(target).plot()
    one = release.kind == "bernstein" or len(getattr(release.query, "columns", ())) == 1
    if one and release.kind in ("bernstein", "kernel-density", "orthogonal-series"):
        return release.smooth_density(target=target).plot()
    return (
        release.plot(target=target)
        if release.kind == "histogram"
        else release.estimate(target, **told.of(release)).plot()
    )


def one_each(target: str, names: Iterable[str], inputs: Sequence[str]) -> dict[str, Path]:
    """Return a path for each name, "table-mean-age.csv" beside "table.csv"; the target itself for a single name.

    Characters that a file name cannot have are replaced.  ReleaseError R07 where one cannot be written.

    >>> one_each("t.png", ["a b", "a_b"], ())
    {'a b': PosixPath('t-a_b.png'), 'a_b': PosixPath('t-a_b-2.png')}
    """
    wanted, place = list(names), Path(target)
    made: dict[str, Path] = {}
    for name in wanted:
        plain = "".join(one if one.isalnum() or one in "-_." else "_" for one in name)
        stem, number = f"{place.stem}-{plain}", 2
        path = place if len(wanted) == 1 else place.with_name(stem + place.suffix)
        while path in made.values():
            path, number = place.with_name(f"{stem}-{number}{place.suffix}"), number + 1
        writable(path, *inputs)
        made[name] = path
    return made
