"""A user's function of estimated terms: what it gives at the estimate and at draws, and its slopes.

A function may do anything with the numbers that it gets.  Where it raises, or gives no finite real number, it has no
value there; at the estimate itself any exception but those of arithmetic is an error of the call (I81).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, cast

import numpy as np

from tacit.base.arguments import kind_of
from tacit.base.arrays import Array
from tacit.errors import InferenceError, TacitError
from tacit.estimates.terms import place_of

EXAMPLE = 'bootstrap(lambda mean: mean["f"] / mean["m"]): one number, or several by name'


class Terms(Mapping[str, float]):
    """Numbers by term, as a function gets them: notes which it reads, and suggests names for those it does not have."""

    def __init__(self, terms: tuple[str, ...], values: list[float], read: set[str]) -> None:
        self._terms, self._read = terms, read
        self._numbers = dict(zip(terms, values, strict=True))

    def __getitem__(self, term: str) -> float:
        if term not in self._numbers:
            place_of(self._terms, term)
        self._read.add(term)
        return self._numbers[term]

    def __contains__(self, term: object) -> bool:
        return term in self._numbers

    def __iter__(self) -> Iterator[str]:
        return iter(self._terms)

    def __len__(self) -> int:
        return len(self._terms)


@dataclass
class FunctionOfTerms:
    """A function of m terms that gives c numbers: one, or several by name.

    names: of the numbers, known once it was called at the estimate.  read: the terms that it has read so far.
    """

    function: Callable[..., Any]
    terms: tuple[str, ...]
    names: tuple[str, ...] = ()
    read: set[str] = field(default_factory=set[str])

    def at_estimate(self, values: Array) -> Array:
        """Return its numbers at the estimate, shape (c,), not finite where there is none; InferenceError I81, I02."""
        try:
            return self._called(values)
        except TacitError:
            raise
        except (ArithmeticError, ValueError):
            # a logarithm of 0, a division by 0: of the numbers, not of the call
            self.names = self.names or ("function",)
            return np.full(len(self.names), np.nan)
        except Exception as problem:
            text = f"the function fails at the estimate ({type(problem).__name__})."
            raise InferenceError(text, code="I81", hint=EXAMPLE, state=None) from None

    def at(self, values: Array) -> Array:
        """Return its numbers at other terms, shape (c,), NaN where it fails; InferenceError I02, I81 (names)."""
        try:
            return self._called(values)
        except TacitError:
            raise
        # whatever a user's function does with numbers that were drawn, it has no value there
        except Exception:
            return np.full(len(self.names), np.nan)

    def slopes(self, values: Array, errors: Array) -> Array:
        """Return the slopes over one standard error, half of it to either side, shape (c, m); 0 where there is none."""
        out = np.zeros((len(self.names), len(values)))
        for j in range(len(values)):
            if self.terms[j] not in self.read or not 0 < errors[j] < np.inf:
                continue
            step = np.zeros(len(values))
            step[j] = errors[j] / 2
            slope = (self.at(values + step) - self.at(values - step)) / errors[j]
            out[:, j] = np.where(np.isfinite(slope), slope, 0.0)
        return out

    def _called(self, values: Array) -> Array:
        """Return its numbers, shape (c,)."""
        terms = Terms(self.terms, values.tolist(), self.read)
        found = self.function(terms[self.terms[0]] if len(terms) == 1 else terms)
        if not isinstance(found, Mapping):
            return self._named({"function": found})
        return self._named(cast("Mapping[Any, Any]", found))

    def _named(self, found: Mapping[Any, Any]) -> Array:
        """Return numbers in the order of `names`; InferenceError I81 where there are other names than before."""
        names = self.names or tuple(found)
        if not names or set(names) != set(found) or not all(isinstance(name, str) and name for name in names):
            text = "the function gives no numbers by name, or not the same names for all numbers."
            raise InferenceError(text, code="I81", hint=EXAMPLE, state=None)
        self.names = names
        return np.array([_real(found[name]) for name in names])


def _real(found: Any) -> float:
    """Return a real number; TypeError for anything else."""
    if isinstance(found, bool | str | complex) or np.ndim(found) or np.iscomplexobj(found):
        raise TypeError(kind_of(found))
    return float(found)
