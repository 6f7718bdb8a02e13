"""Estimates with their intervals: the part that sampling makes dark, what privacy adds light."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from tacit.errors import FileError, InferenceError, ReleaseError

if TYPE_CHECKING:
    from tacit.inference.estimate import Estimate

SUFFIXES: Final = (".png", ".svg", ".pdf")


@dataclass(frozen=True)
class Drawn:
    """What a picture shows, as values, and the matplotlib axes it is on.

    terms, values: one point a term.  lower, upper: interval for both errors.  inner_lower, inner_upper: the interval
    that sampling error alone would give, at the same level (normal).
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


def estimate(found: Estimate, ax: Any = None, *, level: float = 0.95) -> Drawn:
    """Draw an estimate's terms with intervals; the cost stands in the caption.

    Raises InferenceError I20 where matplotlib is not installed.
    """
    from statistics import NormalDist

    from tacit.inference.display import facts, heading

    ax = _axes(ax, len(found.terms))
    limits = found.intervals(level)
    half = NormalDist().inv_cdf(0.5 + level / 2) * np.sqrt(found.sampling_variances)
    place = np.arange(len(found.terms))[::-1]
    ax.hlines(place, limits[:, 0], limits[:, 1], color="#9db8d9", linewidth=7, label="with privacy")
    inner = np.maximum(found.values - half, limits[:, 0]), np.minimum(found.values + half, limits[:, 1])
    if np.any(found.sampling_variances > 0):  # not where the table is the population
        ax.hlines(place, inner[0], inner[1], color="#2f5d99", linewidth=3, label="sampling alone")
    ax.plot(found.values, place, "o", color="black", markersize=4)
    ax.set_yticks(place, [term or "all" for term in found.terms])
    ax.set_ylim(-0.6, len(found.terms) - 0.4)
    ax.set_xlabel(_label(found))
    ax.set_title(heading(found), fontsize=9, loc="left")
    caption = facts(found.release)
    ax.figure.text(0.01, 0.01, caption, fontsize=6, color="0.35")
    ax.legend(fontsize=7, frameon=False, loc="best")
    for side in ("top", "right", "left"):
        ax.spines[side].set_visible(False)
    return Drawn(
        terms=tuple(found.terms),
        values=_floats(found.values),
        lower=_floats(limits[:, 0]),
        upper=_floats(limits[:, 1]),
        inner_lower=_floats(inner[0]),
        inner_upper=_floats(inner[1]),
        level=level,
        caption=caption,
        axes=ax,
    )


def _label(found: Estimate) -> str:
    units = {part.grid.units for part in found.release.parts if part.grid is not None and part.grid.units}
    unit = units.pop() if len(units) == 1 else ""
    said = re.search(rf"(?<!\w){re.escape(unit)}(?!\w)", found.estimand)  # with its bounds, as a rule
    return found.estimand if not unit or said else f"{found.estimand} ({unit})"


def _floats(values: Any) -> tuple[float, ...]:
    return tuple(float(x) for x in values)


def _axes(ax: Any, terms: int) -> Any:
    if ax is not None:
        return ax
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise InferenceError(
            "pictures need matplotlib.", code="I20", hint="pip install 'tacit[plots]'", state=None
        ) from None
    figure = Figure(figsize=(7, 1.6 + 0.35 * terms), layout="constrained")
    figure.get_layout_engine().set(rect=(0, 0.05, 1, 0.95))  # pyright: ignore
    return figure.add_subplot()
