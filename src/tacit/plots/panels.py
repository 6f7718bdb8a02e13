"""Panels: several columns of a histogram, one small plot each."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from tacit.plots.canvas import Drawn, as_png, check_rows, no_matplotlib, said

ACROSS: Final = 2
"""Panels in a row of the figure."""


@dataclass(frozen=True)
class Panels:
    """Plots of several columns on one figure, in the order of the columns.

    >>> import tacit as tc
    >>> people = {name: [True, False] * 500 for name in ("a", "b", "c")}
    >>> curator = tc.Curator(people, tc.Schema({name: tc.Boolean() for name in people}), budget=tc.Budget(rho=1))
    >>> drawn = curator.release(tc.Histogram(["a", "b", "c"]), rho=0.1).plot()
    >>> drawn.save("three.svg")
    >>> [one.terms for one in drawn.panels]
    [('false', 'true'), ('false', 'true'), ('false', 'true')]
    """

    panels: tuple[Drawn, ...]

    def __repr__(self) -> str:
        return said(self.terms)

    def _repr_png_(self) -> bytes | None:
        return as_png(self.panels[0].axes.figure)

    @property
    def axes(self) -> tuple[Any, ...]:
        """The matplotlib axes of the panels."""
        return tuple(one.axes for one in self.panels)

    @property
    def terms(self) -> tuple[str, ...]:
        """The terms of all panels."""
        return tuple(term for one in self.panels for term in one.terms)

    @property
    def values(self) -> tuple[float, ...]:
        """The values of all panels, in the order of `terms`."""
        return tuple(value for one in self.panels for value in one.values)

    @property
    def caption(self) -> str:
        """The note shared by all panels."""
        return self.panels[0].caption

    def save(self, path: str | Path) -> None:
        """Write the whole figure: .png, .svg or .pdf by suffix; FileError F10, ReleaseError R07."""
        self.panels[0].save(path)


@dataclass(frozen=True)
class Panel:
    """One panel: its short title, the function that draws it on given axes, and an axis label that replaces its own."""

    title: str
    draw: Callable[[Any], Drawn]
    axis: str | None = None


def stacked(pictures: Sequence[Panel], rows: Sequence[int], heading: str) -> Panels:
    """Draw panels below each other, each with an axis of its own; rows: the number of terms of each.

    InferenceError I05 for more rows than a picture holds, I20 without matplotlib.
    """
    check_rows(sum(rows))
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise no_matplotlib() from None
    heights = [0.9 + 0.35 * number for number in rows]
    figure: Any = Figure(figsize=(7, 0.7 + sum(heights)), layout="constrained")
    figure.get_layout_engine().set(rect=(0, 0.05, 1, 0.95))
    places = figure.subplots(len(pictures), 1, squeeze=False, gridspec_kw={"height_ratios": heights})[:, 0]
    drawn = [one.draw(place) for one, place in zip(pictures, places, strict=True)]
    for i, (one, of) in enumerate(zip(drawn, pictures, strict=True)):
        one.axes.set_title(of.title, fontsize=9, loc="left")
        legend = one.axes.get_legend()
        # one legend says it for all
        if i > 0 and legend is not None:
            legend.remove()
        if of.axis is not None:
            one.axes.set_xlabel(of.axis, fontsize=8)
    figure.suptitle(heading, fontsize=9, x=0.01, ha="left", wrap=True)
    return Panels(tuple(drawn))


def side_by_side(pictures: Sequence[Panel], heading: str) -> Panels:
    """Draw panels on one figure, two in a row; InferenceError I20 without matplotlib."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise no_matplotlib() from None
    # rounded up: the last row may be half empty
    down = -(-len(pictures) // ACROSS)
    figure: Any = Figure(figsize=(5.5 * ACROSS, 3.4 * down), layout="constrained")
    figure.get_layout_engine().set(rect=(0, 0.04, 1, 0.96))
    places = [figure.add_subplot(down, ACROSS, i + 1) for i in range(len(pictures))]
    drawn = [one.draw(place) for one, place in zip(pictures, places, strict=True)]
    for one, of in zip(drawn, pictures, strict=True):
        one.axes.set_title(of.title, fontsize=9, loc="left")
        if of.axis is not None:
            one.axes.set_xlabel(of.axis)
    figure.suptitle(heading, fontsize=9, wrap=True)
    return Panels(tuple(drawn))
