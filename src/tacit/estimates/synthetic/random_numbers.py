"""Checks of what synthetic rows are asked with: how many, and the seed."""

from __future__ import annotations

from typing import Any

import numpy as np

from tacit.errors import InferenceError


def check_number(n: Any) -> None:
    """Raise InferenceError I61 for a number of rows that is no whole number from 1 on."""
    if isinstance(n, bool) or not isinstance(n, int | np.integer) or n < 1:
        raise InferenceError(f"{n!r} rows cannot be drawn.", code="I61", hint="sample(10_000)", state=None)


def generator(rng: Any) -> np.random.Generator:
    """Return the generator for a seed, a Generator or None; InferenceError I62 for anything else."""
    # NumPy would take True as the seed 1
    if isinstance(rng, bool):
        raise _no_rng(rng)
    try:
        return np.random.default_rng(rng)
    except (TypeError, ValueError):
        raise _no_rng(rng) from None


def _no_rng(rng: object) -> InferenceError:
    text = f"rng {rng!r} is neither a whole number, 0 or more, nor a NumPy Generator."
    return InferenceError(text, code="I62", hint="rng=0", state=None)
