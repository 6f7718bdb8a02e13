"""Bins for a column without bounds, by a public logistic map (theory §7, quantiles).  Plain values; no data.

The map x = 1 / (1 + exp(-(z - center) / scale)) takes the real line to (0, 1), where the bins have equal width.  Edges
between bins are finite numbers on the column's own scale; the first and the last bin are unbounded.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from decimal import Context, Decimal
from functools import cached_property
from itertools import pairwise
from typing import Any, Final, cast

import numpy as np
from numpy.typing import NDArray

from tacit.base.arguments import described, named_fields
from tacit.errors import QueryError, nearest

MOST_BINS: Final = 200
FEWEST: Final = 4
LARGEST: Final = 1e300
"""Largest absolute center or scale: edges stay finite floats."""
DIGITS: Final = Context(prec=40)
"""Decimal arithmetic of the edges: rounded to float64 once, so that they are the same on every machine."""


@named_fields(QueryError, "Q100")
@dataclass(frozen=True)
class LogisticBins:
    """Bins on the whole line, of equal width in x = 1 / (1 + exp(-(z - center) / scale)).

    bins: their number, from 4 to 200.  center, scale: public numbers in the column's units.  Half of the bins are
    within 1.1 scales of the center, 90% within 2.9.  The first and the last bin are unbounded: of a quantile there only
    the side is known.  Raises QueryError Q100 for numbers that make no bins.  Source: Lei 2011, §2 (bounded support);
    theory §7.

    >>> [round(edge, 2) for edge in LogisticBins(4, center=10, scale=2).edges]
    [7.8, 10.0, 12.2]
    """

    bins: int
    center: float
    scale: float

    def __post_init__(self) -> None:
        given: Any = self.bins
        if isinstance(given, bool) or not isinstance(given, int) or not FEWEST <= given <= MOST_BINS:
            raise _wrong(f"bins is {described(given)}: not from {FEWEST} to {MOST_BINS}.")
        for name in ("center", "scale"):
            value: Any = getattr(self, name)
            number = not isinstance(value, bool) and isinstance(value, int | float) and abs(value) < np.inf
            if not number or (name == "scale" and value <= 0):
                raise _wrong(
                    f"{name} is {described(value)}: not a finite number{' above 0' if name == 'scale' else ''}."
                )
            if abs(value) > LARGEST:
                raise _wrong(f"{name} is {described(value)}: it leaves no edges apart in 64-bit floats.")
            object.__setattr__(self, name, float(value))
        if not (np.isfinite(self.edges).all() and all(a < b for a, b in pairwise(self.edges))):
            raise _wrong(f"scale {self.scale!r} at center {self.center!r} leaves no edges apart in 64-bit floats.")

    @cached_property
    def edges(self) -> tuple[float, ...]:
        """The bins - 1 finite edges between bins: center + scale log(i / (bins - i)), rounded once."""
        a, s, K = Decimal(self.center), Decimal(self.scale), self.bins
        # the logit of i / K, so that edge i is the i / K quantile of the logistic law
        logs = (DIGITS.ln(DIGITS.divide(Decimal(i), Decimal(K - i))) for i in range(1, K))
        return tuple(float(DIGITS.add(a, DIGITS.multiply(s, log))) for log in logs)

    def mapped(self, z: Any) -> NDArray[np.float64]:
        """Return x in [0, 1] for values z of the column; 0 and 1 for infinite ones."""
        t = (np.asarray(z, dtype=np.float64) - self.center) / self.scale
        # equals 1 / (1 + exp(-t)) and never overflows
        return np.asarray(0.5 * (1 + np.tanh(t / 2)))

    def back(self, x: Any) -> NDArray[np.float64]:
        """Return the values z of the column for x in [0, 1]; infinite at 0 and 1."""
        at = np.asarray(x, dtype=np.float64)
        with np.errstate(divide="ignore"):
            return np.asarray(self.center + self.scale * (np.log(at) - np.log1p(-at)))

    def to_dict(self) -> dict[str, Any]:
        """Return plain values: {"type": "LogisticBins", "bins": 20, "center": 0.0, "scale": 1.0}."""
        return {"type": "LogisticBins", **{f.name: getattr(self, f.name) for f in fields(self)}}


def from_words(words: Mapping[str, Any]) -> LogisticBins:
    """Return the bins that `to_dict` wrote; QueryError Q100 for other keys or values.

    >>> from_words({"type": "LogisticBins", "bins": 20, "center": 0, "scale": 1}).bins
    20
    """
    known = ("type", *(f.name for f in fields(LogisticBins)))
    for word in words:
        if word not in known:
            raise _wrong(f"has no {word!r}.", nearest(str(word), known))
    if words.get("type") != "LogisticBins" or len(words) < len(known):
        raise _wrong(f"{described(words)} do not describe it.")
    return LogisticBins(**{word: words[word] for word in known[1:]})


def worded(bins: object) -> bool:
    """Return whether `bins` are the plain values of LogisticBins, not a mapping of column names."""
    return isinstance(bins, Mapping) and cast("Mapping[str, object]", bins).get("type") == "LogisticBins"


def _wrong(text: str, hint: str | None = None) -> QueryError:
    said = f"{hint!r}?" if hint else "LogisticBins(20, center=30_000, scale=15_000)"
    return QueryError(f"LogisticBins: {text}", code="Q100", hint=said)
