"""Shared parts of plots: arrays to draw, axes (made without opening a window), captions, colours, saving."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import Any, Final, cast

import numpy as np

from tacit.base.arrays import Array
from tacit.errors import FileError, InferenceError, ReleaseError

SUFFIXES: Final = (".png", ".svg", ".pdf")
LIGHT, DARK, BLACK, SIGNAL = "#9db8d9", "#2f5d99", "black", "#b3541e"
"""Colours also differ in lightness, for print and colour-blind readers; marked points also differ in shape."""
CAPTION: Final = "tacit caption"
"""Identifier of the note's text on a figure, by which a second plot finds and extends it."""
MOST: Final = 1_000
"""Most rows of a plot: with more, the image exceeds what file formats can hold."""


@dataclass(frozen=True)
class Drawn:
    """A plot: the values shown and the matplotlib axes they are drawn on.

    terms, values: one point for each term.  lower, upper: limits of the interval for sampling and privacy error
    together.  inner_lower, inner_upper: limits of the interval for sampling error alone, at the same level (normal);
    empty for quantiles, whose limits are selected privately.

    >>> import tacit as tc
    >>> curator = tc.Curator({"age": [30.0, 40.0] * 50}, tc.Schema({"age": tc.Real(0, 100)}), budget=tc.Budget(rho=1))
    >>> drawn = curator.release(tc.Mean("age"), rho=0.5).plot()
    >>> drawn.save("age.svg")
    >>> drawn.terms, drawn.lower < drawn.inner_lower < drawn.values
    (('age',), True)
    >>> drawn
    Plot of age; .save("picture.png") writes it, .axes are its matplotlib axes
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

    def __repr__(self) -> str:
        return said(self.terms)

    def _repr_png_(self) -> bytes | None:
        return as_png(self.axes.figure)

    def save(self, path: str | Path) -> None:
        """Write the plot to a file: .png, .svg or .pdf by suffix.

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


@dataclass(frozen=True)
class Caption:
    """The texts of a plot.

    title: above the axes.  axis, height: labels of the horizontal and vertical axis.  note: small print below.
    """

    title: str
    axis: str
    note: str
    height: str = ""


@dataclass(frozen=True)
class Intervals:
    """Values with their intervals, one for each term.

    values: shape (terms,).  limits: intervals for sampling and privacy error together at the level, shape (terms, 2).
    half: half-widths of intervals for sampling error alone, shape (terms,), or None if these are not shown.

    >>> shown = Intervals(("a",), np.array([1.0]), np.array([[0.0, 1.5]]), 0.95, np.array([0.75]))
    >>> shown.inner.tolist()
    [[0.25, 1.5]]
    """

    terms: tuple[str, ...]
    values: Array
    limits: Array
    level: float
    half: Array | None = None

    def some(self, rows: Sequence[int]) -> Intervals:
        """Return some of the terms, by their indices."""
        at = list(rows)
        half = None if self.half is None else self.half[at]
        return Intervals(tuple(self.terms[i] for i in at), self.values[at], self.limits[at], self.level, half)

    @property
    def inner(self) -> Array:
        """Ends of the intervals for sampling alone, within the limits, shape (terms, 2)."""
        half = np.zeros_like(self.values) if self.half is None else self.half
        # limits may be cut to the parameter's bounds, beyond which the normal inner interval would reach
        low, high = np.maximum(self.values - half, self.limits[:, 0]), np.minimum(self.values + half, self.limits[:, 1])
        return np.stack([low, high], axis=-1)

    def drawn(self, ax: Any, note: str, inner: Array | None = None) -> Drawn:
        """Return what was drawn on `ax`; inner: intervals for sampling alone, shape (terms, 2), if shown."""
        return Drawn(
            terms=tuple(self.terms),
            values=floats(self.values),
            lower=floats(self.limits[:, 0]),
            upper=floats(self.limits[:, 1]),
            inner_lower=() if inner is None else floats(inner[:, 0]),
            inner_upper=() if inner is None else floats(inner[:, 1]),
            level=self.level,
            caption=note,
            axes=ax,
        )


def said(terms: Sequence[str]) -> str:
    """Return what a plot says of itself where only text is shown."""
    named = ", ".join(terms[:4]) + (f" and {len(terms) - 4} more" if len(terms) > 4 else "")
    return f'Plot{f" of {named}" if terms else ""}; .save("picture.png") writes it, .axes are its matplotlib axes'


def as_png(figure: Any) -> bytes | None:
    """Return a figure as a notebook shows it; None where pyplot made the figure, which then shows it itself."""
    if getattr(figure.canvas, "manager", None) is not None:
        return None
    made = BytesIO()
    figure.savefig(made, format="png", dpi=100, bbox_inches="tight")
    return made.getvalue()


def axes(ax: Any, rows: int, height: float | None = None) -> Any:
    """Return `ax`, or new axes 7 inches wide; InferenceError I20 without matplotlib, I05 for more rows than fit."""
    check_rows(rows)
    if ax is not None:
        return ax
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise no_matplotlib() from None
    # Figure, not pyplot: no window, no global state, and nothing to close
    figure = Figure(figsize=(7, 1.6 + 0.35 * rows if height is None else height), layout="constrained")
    # the lowest 5% are kept for the note, which the layout does not know of
    figure.get_layout_engine().set(rect=(0, 0.05, 1, 0.95))  # pyright: ignore
    return figure.add_subplot()


def check_rows(rows: int) -> None:
    """Raise InferenceError I05 for more rows than a picture holds; called before their intervals are computed."""
    if rows > MOST:
        text = f"{rows:,} terms are too many for one picture (at most {MOST:,})."
        raise InferenceError(text, code="I05", hint="estimate[[…]].plot()", state=None)


def no_matplotlib() -> InferenceError:
    """Return the error for a missing matplotlib."""
    return InferenceError("pictures need matplotlib.", code="I20", hint="pip install 'tacit[plots]'", state=None)


def finish_axes(ax: Any, caption: Caption, **legend: Any) -> None:
    """Add title, axis labels, note (below an existing one) and legend; remove the frame."""
    # long sentences are broken at the edge of the figure, which would otherwise be drawn as wide as they are
    ax.set_xlabel(caption.axis, wrap=True)
    if caption.height:
        ax.set_ylabel(caption.height, wrap=True)
    ax.set_title(caption.title, fontsize=9, loc="left", wrap=True)
    before = next((text for text in ax.figure.texts if text.get_gid() == CAPTION), None)
    if before is None:
        ax.figure.text(0.01, 0.01, caption.note, fontsize=6, color="0.35", gid=CAPTION, wrap=True)
    # a second plot on the same axes from the same release says the same: its note is not repeated
    elif caption.note not in before.get_text().splitlines():
        before.set_text(f"{before.get_text()}\n{caption.note}")
    if ax.get_legend_handles_labels()[0]:
        ax.legend(**({"fontsize": 7, "frameon": False, "loc": "best"} | legend))
    for side in ("top", "right", "left"):
        ax.spines[side].set_visible(False)


def points(ax: Any, x: Any, y: Any, full: Iterable[bool], hollow: str, **style: Any) -> None:
    """Draw points: filled where `full`, else hollow with the legend entry `hollow`."""
    chosen = list(full)
    style = {"linestyle": "none", "marker": "o", "color": BLACK, "markersize": 4, "clip_on": False} | style
    # one call for each kind, so that each has one entry in the legend
    for yes, more in ((True, {}), (False, {"markerfacecolor": "white", "label": hollow})):
        at = [i for i, one in enumerate(chosen) if one == yes]
        if at:
            ax.plot([float(x[i]) for i in at], [float(y[i]) for i in at], **style, **more)


def floats(values: Any) -> tuple[float, ...]:
    """Return an array as floats."""
    return tuple(float(x) for x in cast("list[float]", list(values)))
