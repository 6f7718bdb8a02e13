"""Histograms and densities as steps on a numeric axis, with a box in each bin for its interval."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, cast

import numpy as np

from tacit.base.arrays import Array
from tacit.errors import InferenceError
from tacit.plots.canvas import BLACK, DARK, LIGHT, SIGNAL, Caption, Drawn, Intervals, axes, finish_axes

STYLES = ((DARK, LIGHT, "-"), (SIGNAL, "#e5b898", "--"), ("#3d3d3d", "#bdbdbd", ":"), ("#5b7f3a", "#bcd2a5", "-."))
"""Line colour, band colour and dashes of each group; dashes distinguish groups without colour."""


@dataclass(frozen=True)
class Bins:
    """Adjacent bins of a column, all of positive width.

    kind: "date" where ends are days since 1970-01-01.  lower, upper: ends, shape (bins,).
    uneven: whether bins differ in width, so that heights are counts divided by width.

    >>> ages = Bins("age", "real", "years", np.array([0.0, 10.0]), np.array([10.0, 40.0]), True)
    >>> ages.words, ages.per(), ages.per(" of age")
    ('age (years)', 'per unit (years)', 'per unit of age (years)')
    """

    column: str
    kind: str
    units: str | None
    lower: Array
    upper: Array
    uneven: bool = False

    @property
    def words(self) -> str:
        """Axis label: the column with its units."""
        return words(self.column, self.kind, self.units)

    def per(self, of: str = "") -> str:
        """Return the unit of a height in words: "per unit (years)", "per day"."""
        if self.kind == "date":
            return "per day"
        return f"per unit{of} ({self.units})" if self.units else f"per unit{of}"

    def edges(self, ax: Any, along: str = "x") -> Array:
        """Return positions of the edges on an axis, shape (bins + 1,)."""
        return numeric(ax, self.kind, np.append(self.lower, self.upper[-1]), along)


@dataclass(frozen=True)
class Densities:
    """Densities of groups on the same bins.

    groups: names.  values: shape (groups, bins).  limits: shape (groups, bins, 2).  half: half-widths of intervals for
    sampling error alone, shape (groups, bins).  known: whether a group has an estimate.  terms: a label for each group
    and bin.
    """

    groups: tuple[str, ...]
    values: Array
    limits: Array
    half: Array
    known: Sequence[bool]
    terms: tuple[str, ...]
    level: float


def histogram(bins: Bins, shown: Intervals, caption: Caption, ax: Any = None) -> Drawn:
    """Draw numbers of rows in bins, or rows per unit where bins differ in width.

    Light boxes: intervals for both errors, dark ones for sampling alone.  InferenceError I20 without matplotlib.
    """
    values, limits = shown.values, shown.limits
    # cut in counts, before all is divided by the widths
    inner = _inner(values, limits, np.zeros_like(values) if shown.half is None else shown.half)
    scale = (bins.upper - bins.lower if bins.uneven else np.ones(len(values)))[:, None]
    values, limits, inner = values / scale[:, 0], limits / scale, inner / scale
    ax = axes(ax, 0, 4.2)
    _steps(ax, bins.edges(ax), values, limits, inner)
    finish_axes(ax, caption)
    return Intervals(shown.terms, values, limits, shown.level).drawn(ax, caption.note, inner)


def density(bins: Bins, shown: Densities, caption: Caption, ax: Any = None) -> Drawn:
    """Draw a density, or up to four groups as lines with bands.  Groups without an estimate are left out.

    Raises InferenceError I05 for more groups, I20 without matplotlib.
    """
    said = [i for i, known in enumerate(shown.known) if known]
    if len(said) > len(STYLES):
        text = f"{len(said)} groups are too many for one picture of densities (at most {len(STYLES)})."
        raise InferenceError(text, code="I05", hint=f'density(…)["{shown.groups[0]}"].plot()', state=None)
    values, limits = shown.values, shown.limits
    inner = _inner(values, limits, shown.half)
    ax = axes(ax, 0, 4.2)
    edges = bins.edges(ax)
    if len(shown.groups) == 1 and said:
        _steps(ax, edges, values[0], limits[0], inner[0])
    for style, i in zip(STYLES, said if len(shown.groups) > 1 else [], strict=False):
        _band(ax, edges, values[i], limits[i], style, shown.groups[i], shown.level)
    ax.set_ylim(bottom=0.0)
    finish_axes(ax, caption)
    flat = Intervals(shown.terms, values.reshape(-1), limits.reshape(-1, 2), shown.level)
    return flat.drawn(ax, caption.note, inner.reshape(-1, 2))


def words(column: str, kind: str, units: str | None) -> str:
    """Return an axis label: the column with its units."""
    return f"{column} ({units})" if units and kind != "date" else column


def numeric(ax: Any, kind: str, edges: Array, along: str = "x") -> Array:
    """Return positions on an axis; days become matplotlib's dates, and the axis a date axis."""
    if kind != "date":
        return edges
    from matplotlib import dates

    (ax.xaxis_date if along == "x" else ax.yaxis_date)()
    # through datetime64, as the origin of matplotlib's dates is a user's setting
    days = edges.astype(np.int64).astype("datetime64[D]")
    return np.asarray(cast(Any, dates).date2num(days), dtype=np.float64)


def _inner(values: Array, limits: Array, half: Array) -> Array:
    """Return intervals for sampling alone, cut to those for both errors, shape (..., 2)."""
    return np.clip(np.stack([values - half, values + half], axis=-1), limits[..., :1], limits[..., 1:])


def _steps(ax: Any, edges: Array, values: Array, limits: Array, inner: Array) -> None:
    """Draw boxes for both errors, narrower ones for sampling alone, and the steps."""
    widths = np.diff(edges)
    style = {"width": widths, "align": "edge", "linewidth": 0}
    ax.bar(edges[:-1], limits[:, 1] - limits[:, 0], bottom=limits[:, 0], color=LIGHT, label="with privacy", **style)
    if np.any(inner[:, 1] > inner[:, 0]):
        style["width"] = widths / 2
        left = edges[:-1] + widths / 4
        ax.bar(left, inner[:, 1] - inner[:, 0], bottom=inner[:, 0], color=DARK, label="sampling alone", **style)
    ax.stairs(values, edges, color=BLACK, linewidth=1.2)
    ax.set_ylim(bottom=0.0)


def _band(
    ax: Any, edges: Array, values: Array, limits: Array, style: tuple[str, str, str], group: str, level: float
) -> None:
    """Draw one group: its steps, and a band between the limits."""
    dark, light, dashes = style
    name = f"{100 * level:g}% interval, {group}"
    ax.stairs(limits[:, 1], edges, baseline=limits[:, 0], fill=True, color=light, alpha=0.5, linewidth=0, label=name)
    ax.stairs(values, edges, color=dark, linestyle=dashes, linewidth=1.4, label=group)
