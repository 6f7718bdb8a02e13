"""Rows of regressors for which responses are drawn: a public frame, or synthetic rows of a release."""

from __future__ import annotations

from typing import Any

import numpy as np

from tacit.base.arguments import described
from tacit.base.arrays import Array
from tacit.errors import InferenceError


def needed(regressors: Any, columns: tuple[str, ...]) -> Any:
    """Return regressors; InferenceError I90 where there are none, though columns are needed."""
    if regressors is None:
        text = f"rows of this model have a response given regressors ({', '.join(columns)}), which are not known."
        raise InferenceError(text, code="I90", hint="regressors=frame, or a histogram of them", state=None)
    return regressors


def frame_of(regressors: Any, columns: tuple[str, ...]) -> Any:  # pandas.DataFrame
    """Return a frame of regressors; InferenceError I90 for anything else, no rows, or a column that it lacks."""
    if not hasattr(regressors, "columns") or not hasattr(regressors, "iloc"):
        text = f"{described(regressors)}: no frame of regressors."
        raise InferenceError(text, code="I90", hint="regressors=frame, or a histogram of them", state=None)
    lacking = [name for name in columns if name not in regressors.columns]
    if lacking or not len(regressors):
        text = f"the regressors have no column {', '.join(lacking)}." if lacking else "the regressors have no rows."
        raise InferenceError(text, code="I90", hint="a frame with the columns of the model", state=None)
    return regressors


def repeated(frame: Any, n: int) -> Any:  # pandas.DataFrame
    """Return n rows of a frame, each as often as the others, or once more."""
    return frame.iloc[np.arange(n) % len(frame)].reset_index(drop=True)


def numbers_of(frame: Any) -> Array:
    """Return the numbers of a frame, shape (n, columns); InferenceError I90 for what are none."""
    try:
        return frame.to_numpy(dtype=np.float64)
    except (TypeError, ValueError):
        text = "a column of the regressors holds no numbers."
        raise InferenceError(text, code="I90", hint="regressors=frame of numbers", state=None) from None
