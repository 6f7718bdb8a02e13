"""Several columns of a histogram: one small picture each."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from tacit.errors import InferenceError
from tacit.inference.bins import BINNED
from tacit.inference.terms import Target
from tacit.plots.canvas import Drawn, no_matplotlib
from tacit.plots.heatmaps import heatmap
from tacit.plots.intervals import estimate
from tacit.plots.steps import histogram

if TYPE_CHECKING:
    from tacit.inference.histogram import Margin

ACROSS: Final = 2
TALLEST: Final = 40
"""Levels of a column that is still drawn, one row each."""


@dataclass(frozen=True)
class Panels:
    """Pictures of several columns on one figure, in the order of the columns.

    >>> import tacit as tc
    >>> people = {name: [True, False] * 500 for name in ("a", "b", "c")}
    >>> curator = tc.Curator(people, tc.Schema({name: tc.Boolean() for name in people}), budget=tc.Budget(rho=1))
    >>> drawn = curator.release(tc.Histogram(["a", "b", "c"]), rho=0.1).plot()
    >>> drawn.save("three.svg")
    >>> [one.terms for one in drawn.panels]
    [('false', 'true'), ('false', 'true'), ('false', 'true')]
    """

    panels: tuple[Drawn, ...]

    @property
    def axes(self) -> tuple[Any, ...]:
        """Their matplotlib axes."""
        return tuple(one.axes for one in self.panels)

    @property
    def caption(self) -> str:
        """What all of them say."""
        return self.panels[0].caption

    def save(self, path: str | Path) -> None:
        """Write the whole figure: .png, .svg or .pdf by suffix; FileError F10, ReleaseError R07."""
        self.panels[0].save(path)


def margin(found: Margin, ax: Any = None, *, level: float = 0.95, target: Target = "population") -> Drawn:
    """One column: a histogram, or of levels an interval each; two columns: a heat map, the same for each target.

    InferenceError I64 for more, I09 (target), I01 for a level below 0.5, I05 for more than 1,000 levels, I20 without
    matplotlib.
    """
    if len(found.levels) > 2:
        names = [name for name, _ in found.levels]
        text = f"{', '.join(names)}: {len(names)} columns are too many for one picture."
        raise InferenceError(text, code="I64", hint=f'margin(["{names[0]}", "{names[1]}"]).plot()', state=None)
    if len(found.levels) == 2:
        return heatmap(found, ax, level=level)
    if found.axes[0].kind in BINNED:
        return histogram(found, ax, level=level, target=target)
    return estimate(found.estimate(target), ax, level=level)


def margins(found: tuple[Margin, ...], ax: Any = None, *, level: float = 0.95, target: Target = "population") -> Panels:
    """Draw several margins of one column each, side by side; of a column with more than 40 levels nothing.

    InferenceError I64 for axes that are given (there must be one for each), or nothing to draw; I01, I09, I20 as
    `margin`.
    """
    from tacit.inference.display import people_words
    from tacit.inference.moments import title, who

    shown = [one for one in found if one.axes[0].kind in BINNED or len(one.levels[0][1]) <= TALLEST]
    if ax is not None or not shown:
        what = "a picture of several columns has axes of its own" if shown else "no column is drawn: too many levels"
        name = found[0].levels[0][0]
        raise InferenceError(f"{what}.", code="I64", hint=f'margin("{name}").plot(ax=…)', state=None)
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise no_matplotlib() from None
    down = -(-len(shown) // ACROSS)
    figure: Any = Figure(figsize=(5.5 * ACROSS, 3.4 * down), layout="constrained")
    figure.get_layout_engine().set(rect=(0, 0.04, 1, 0.96))
    places = [figure.add_subplot(down, ACROSS, i + 1) for i in range(len(shown))]
    drawn = [margin(one, place, level=level, target=target) for one, place in zip(shown, places, strict=True)]
    for one, of in zip(drawn, shown, strict=True):
        one.axes.set_title(of.levels[0][0], fontsize=9, loc="left")
        if of.axes[0].kind not in BINNED:
            one.axes.set_xlabel(f"number of {who(of.release)}")
    left = [one.levels[0][0] for one in found if all(one is not other for other in shown)]
    heading = f"{title(found[0].release)} · {people_words(found[0].release)}"
    figure.suptitle(heading + (f" · not drawn: {', '.join(left)}" if left else ""), fontsize=9)
    return Panels(tuple(drawn))
