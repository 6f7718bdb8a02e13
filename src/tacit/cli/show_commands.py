"""Implementation of `tacit show` and `tacit demo`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tacit.base.progress import phase
from tacit.base.table import Table
from tacit.cli.ledger_answers import is_ledger, listed, stored_answers
from tacit.cli.output import emit, on_screen, progress_on_terminal
from tacit.cli.saving import save_numbers, save_pictures
from tacit.errors import CommandError, InferenceError, ReleaseError, nearest
from tacit.release.document import Releases

if TYPE_CHECKING:
    from tacit.ledger import Charge


@dataclass(frozen=True)
class Told:
    """What is told of the estimates that are asked for.

    target: "population", or "table".  linear: of regressions, whether the mean is linear however far out rows lie.
    """

    target: Any = "population"
    linear: bool = False

    def of(self, release: Any) -> dict[str, bool]:
        """Return the words of a release's own `estimate` besides the target."""
        return {"linear": True} if self.linear and _is_regression(release) else {}


def estimates(found: Mapping[str, Any], told: Told, level: float | None) -> dict[str, Any]:
    """Return the summary table of each release, by name; for data quality with remarks on unusual values.

    level: of the intervals; by default 0.95, and for quantiles the level of their query.
    """
    from tacit.method.quality import estimate as quality

    own = () if level is None else (level,)
    made = {name: (one, _estimate(one, told)) for name, one in found.items()}
    return {
        name: quality.summary(shown, *own) if one.kind == "quality" else shown.summary(*own)
        for name, (one, shown) in made.items()
    }


def _is_regression(release: Any) -> bool:
    return str(release.kind).startswith("regression")


def _estimate(release: Any, told: Told) -> Any:
    """Return the estimate of a release; for a histogram of many cells its columns, for a sparse one the release."""
    from tacit.method.histogram.estimate import HistogramColumns
    from tacit.method.histogram.estimate_margins import SHOWN

    if release.kind == "sparse-histogram":
        return release
    if release.kind == "histogram" and release.counts.size > SHOWN:
        return HistogramColumns(release)
    if release.kind == "additive":
        # the user's function is in no program that the command line runs: the sums themselves
        return release.totals(told.target if release.query.moments else "table")
    return release.estimate("population" if _is_regression(release) else told.target, **told.of(release))


def records(frame: Any) -> list[dict[str, Any]]:
    """Return a pandas frame as a list of rows, with its index as the first field."""
    return frame.reset_index(names="term").to_dict(orient="records")


def show(
    path: str,
    name: str | None,
    told: Told,
    level: float | None,
    save: str | None,
    plot: str | None,
    everything: bool,
    as_json: bool,
) -> None:
    """Run `tacit show`: print the estimates of a release file, or list a ledger's; save tables and plots of them.

    everything: all rows of long tables, and not their head and tail.
    """
    if told.target not in ("population", "table"):
        raise CommandError(f"--target is {told.target!r}.", code="C03", hint="--target population, or --target table")
    charges: Sequence[Charge] | None = None
    if is_ledger(path):
        charges, found = stored_answers(path)
    else:
        found = Releases.load(path)
    if name is not None:
        charges, found = None, {name: _named(found, name)}
    if told.linear and not any(map(_is_regression, found.values())):
        raise CommandError(f"--linear: {path} holds no regression.", code="C03", hint="leave --linear out", state=None)
    with progress_on_terminal(), phase("estimates"):
        tables = estimates(found, told, level)
    shown = [f"{key}\n{on_screen(table, everything)}" for key, table in tables.items()]
    questions = None if charges is None else listed(path, charges, found, tables)
    if questions is not None:
        shown = [questions.to_text()]

    def frame(name: str) -> Any:
        return _estimate(found[name], told).to_frame(*(() if level is None else (level,)))

    shown += _saved(path, found, tables, frame, told, save, plot)
    words: dict[str, Any] = {key: records(frame(key)) for key in found} if as_json else {}
    if questions is not None:
        lines = [dict(zip(questions.columns, row, strict=True)) for row in questions.rows]
        words = {"questions": lines, "answers": words}
    emit("\n\n".join(shown), words, as_json)


def _named(found: Mapping[str, Any], name: str) -> Any:
    """Return one of the releases; ReleaseError R06, with the nearest name, where there is none."""
    if name not in found:
        hint = nearest(name, list(found)) or ", ".join(list(found)[:5])
        raise ReleaseError(f"no release is named {name!r}.", code="R06", hint=hint or None, state=None)
    return found[name]


def _saved(
    path: str,
    found: Mapping[str, Any],
    tables: Mapping[str, Table],
    frame: Callable[[str], Any],
    told: Told,
    save: str | None,
    plot: str | None,
) -> list[str]:
    """Save tables and plots where asked; return lines on where they are."""
    if (save is not None or plot is not None) and not found:
        raise CommandError(f"{path} holds no answer.", code="C03", hint="leave --save and --plot out", state=None)
    said: list[str] = []
    if save is not None:
        said.append(f"saved to {', '.join(map(str, save_numbers(tables, frame, save, path)))}")
    if plot is not None:
        drawn, refused = save_pictures(found, told, plot, path)
        said.append(f"drawn in {', '.join(map(str, drawn))}" if drawn else "nothing could be drawn")
        said += [f"no picture: {', '.join(refused)}"] if refused else []
    return said


def schema() -> None:
    """Run `tacit show --schema`: print the JSON Schema of releases."""
    from tacit.catalogue.json_schema import release_schema

    emit("", release_schema(), as_json=True)


def demo(as_json: bool) -> None:
    """Run `tacit demo`: release and estimate a mean of made-up people, with an explanation and a plot."""
    import tacit as tc

    people = tc.examples.people()
    schema = tc.Schema({"age": tc.Real(18, 93, units="years"), "sex": tc.Category({0: "male", 1: "female"})})
    curator = tc.Curator(people, schema, name="made-up-people", budget=tc.Budget(rho=0.5))
    release = curator.release(tc.Mean("age", by="sex"), rho=0.01, name="age")
    found = release.estimate()
    lines = [
        f"Here are {curator.rows:,} made-up people; nobody outside may see their rows.",
        f"Their curator promises never to spend more than {curator.budget} of privacy.",
        "We ask for the mean age by sex, at a price of ρ = 0.01.",
        "Rows are turned into integers, added up, and exact random noise is added before anything leaves:",
        "",
        str(found),
        "",
        "The interval covers both errors: who happens to be in the table, and the noise.",
        f"What is left of the promise: {curator.remaining.removeprefix('left ')}.",
        "Asking the same again costs nothing: the stored answer is returned.",
    ]
    again = curator.release(tc.Mean("age", by="sex"), rho=0.01, name="age")
    picture = _picture(found)
    lines.append(f"The same answer twice: {again == release}.  {picture}")
    emit("\n".join(lines), {"estimate": records(found.to_frame())}, as_json)


def _picture(found: Any) -> str:
    """Save a plot of the estimates; return a sentence on where it is, or why there is none."""
    try:
        found.plot().save("tacit-demo.png")
    except InferenceError:
        return "(a picture needs matplotlib)"
    except ReleaseError:
        return "(no picture: this folder cannot be written)"
    return "A picture of it is in tacit-demo.png."
