"""Implementation of `tacit fit`: fitting a model to a histogram of a release file."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, cast

from tacit.base.progress import phase
from tacit.cli.output import emit, on_screen, progress_on_terminal, writable
from tacit.cli.saving import save_numbers
from tacit.cli.show_commands import records
from tacit.errors import CommandError
from tacit.release.document import Releases


@dataclass(frozen=True)
class ModelRequest:
    """The model that the command line specifies."""

    formula: str
    model: str
    family: str | None
    method: str
    tau: float


def fit(
    path: str,
    name: str,
    wanted: ModelRequest,
    level: float,
    save: str | None,
    plot: str | None,
    everything: bool,
    as_json: bool,
) -> None:
    """Run `tacit fit`: fit a model to a released histogram, save and print it."""
    found = Releases.load(path)
    release = found[name]
    if release.kind != "histogram":
        hint = ", ".join(one for one in found if found[one].kind == "histogram") or 'query = "Histogram" in the file'
        text = f"{name!r} is no histogram, and models are fitted to histograms."
        raise CommandError(text, code="C03", hint=hint, state=None)
    for target in (save, plot):
        if target is not None:
            writable(target, path)
    method = cast(Any, wanted.method)  # checked by `fit`, which names the known ones
    with progress_on_terminal(), phase("fitting the model"):
        model = release.fit(wanted.formula, model=wanted.model, family=wanted.family, method=method, tau=wanted.tau)
        table = model.summary(level)
    if save is not None:
        save_numbers({name: table}, lambda _: model.to_frame(level), save, path)
    if plot is not None:
        model.plot().save(plot)
    words: dict[str, Any] = {"formula": model.formula, "model": model.model, "method": model.method}
    words |= {"terms": records(model.to_frame(level)), "criteria": dict(model.criteria), "notes": list(model.notes)}
    emit(on_screen(table, everything), words, as_json)
