"""What pictures share: their values, their axes without a window, their colours, how they are saved."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, cast

from tacit.errors import FileError, InferenceError, ReleaseError

if TYPE_CHECKING:
    from tacit.inference.estimate import Estimate

SUFFIXES: Final = (".png", ".svg", ".pdf")
LIGHT, DARK, BLACK, SIGNAL = "#9db8d9", "#2f5d99", "black", "#b3541e"
"""Told apart by lightness as well, in print and by the colour-blind; what is marked has a shape of its own too."""
CAPTION: Final = "tacit caption"
MOST: Final = 1_000
"""More rows make a picture that no file format holds."""


@dataclass(frozen=True)
class Drawn:
    """What a picture shows, as values, and the matplotlib axes it is on.

    terms, values: one point a term.  lower, upper: interval for both errors.  inner_lower, inner_upper: the interval
    that sampling error alone would give, at the same level (normal); empty for quantiles, whose ends are selected.

    >>> import tacit as tc
    >>> curator = tc.Curator({"age": [30.0, 40.0] * 50}, tc.Schema({"age": tc.Real(0, 100)}), budget=tc.Budget(rho=1))
    >>> drawn = curator.release(tc.Mean("age"), rho=0.5).plot()
    >>> drawn.save("age.svg")
    >>> drawn.terms, drawn.lower < drawn.inner_lower < drawn.values
    (('age',), True)
    """

    terms: tuple[str, ...]
    values: tuple[float, ...]
    lower: tuple[float, ...]
    upper: tuple[float, ...]
    inner_lower: tuple[float, ...]
    inner_upper: tuple[float, ...]
    level: float
    caption: str
    axes: Any

    def save(self, path: str | Path) -> None:
        """Write the picture: .png, .svg or .pdf by suffix.

        FileError F10 for another suffix, ReleaseError R07 where the file cannot be written.
        """
        suffix = Path(path).suffix.lower()
        if suffix not in SUFFIXES:
            message = f"{path} has suffix {suffix!r}; a picture is saved as {', '.join(SUFFIXES)}."
            raise FileError(message, code="F10", hint="plot().save('picture.png')", state=None)
        try:
            self.axes.figure.savefig(path, dpi=150, bbox_inches="tight")
        except OSError as problem:
            message = f"{path} cannot be written: {problem.strerror}."
            raise ReleaseError(message, code="R07", hint="another path", state=None) from None


def axes(ax: Any, rows: int, height: float | None = None) -> Any:
    """`ax`, or new axes 7 inches wide; InferenceError I20 without matplotlib, I05 for more rows than fit."""
    if rows > MOST:
        text = f"{rows:,} terms are too many for one picture (at most {MOST:,})."
        raise InferenceError(text, code="I05", hint="estimate[[…]].plot()", state=None)
    if ax is not None:
        return ax
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise no_matplotlib() from None
    figure = Figure(figsize=(7, 1.6 + 0.35 * rows if height is None else height), layout="constrained")
    figure.get_layout_engine().set(rect=(0, 0.05, 1, 0.95))  # pyright: ignore
    return figure.add_subplot()


def no_matplotlib() -> InferenceError:
    """What is said without it."""
    return InferenceError("pictures need matplotlib.", code="I20", hint="pip install 'tacit[plots]'", state=None)


def dress(ax: Any, title: str, label: str, caption: str, **legend: Any) -> None:
    """Title, words below the axis, caption (below one that is there), legend; no frame."""
    ax.set_xlabel(label)
    ax.set_title(title, fontsize=9, loc="left")
    before = next((text for text in ax.figure.texts if text.get_gid() == CAPTION), None)
    if before is None:
        ax.figure.text(0.01, 0.01, caption, fontsize=6, color="0.35", gid=CAPTION)
    elif caption not in before.get_text().splitlines():
        before.set_text(f"{before.get_text()}\n{caption}")
    if ax.get_legend_handles_labels()[0]:
        ax.legend(**({"fontsize": 7, "frameon": False, "loc": "best"} | legend))
    for side in ("top", "right", "left"):
        ax.spines[side].set_visible(False)


def points(ax: Any, x: Any, y: Any, full: Iterable[bool], hollow: str, **style: Any) -> None:
    """Points: filled ones, and hollow ones with a word of their own in the legend."""
    chosen = list(full)
    style = {"linestyle": "none", "marker": "o", "color": BLACK, "markersize": 4, "clip_on": False} | style
    for yes, more in ((True, {}), (False, {"markerfacecolor": "white", "label": hollow})):
        at = [i for i, one in enumerate(chosen) if one == yes]
        if at:
            ax.plot([float(x[i]) for i in at], [float(y[i]) for i in at], **style, **more)


def axis_words(found: Estimate) -> str:
    """The estimand, with its units where the words do not say them."""
    units = {part.grid.units for part in found.release.parts if part.grid is not None and part.grid.units}
    unit = units.pop() if len(units) == 1 else ""
    said = re.search(rf"(?<!\w){re.escape(unit)}(?!\w)", found.estimand)  # with its bounds, as a rule
    return found.estimand if not unit or said else f"{found.estimand} ({unit})"


def floats(values: Any) -> tuple[float, ...]:
    """An array as plain floats."""
    return tuple(float(x) for x in cast("list[float]", list(values)))
