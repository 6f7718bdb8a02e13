"""Rows of regressors for which responses are drawn: a public frame, or synthetic rows of a release."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tacit.base.arguments import described
from tacit.base.arrays import Array
from tacit.errors import InferenceError

if TYPE_CHECKING:
    import pandas as pd  # pyright: ignore[reportMissingTypeStubs]


def needed(regressors: Any, columns: tuple[str, ...]) -> Any:
    """Return regressors; InferenceError I90 where there are none, though columns are needed."""
    if regressors is None:
        text = f"rows of this model have a response given regressors ({', '.join(columns)}), which are not known."
        raise InferenceError(text, code="I90", hint="regressors=frame, or a histogram of them", state=None)
    return regressors


def frame_of(regressors: Any, columns: tuple[str, ...]) -> pd.DataFrame:
    """Return a frame of regressors; InferenceError I90 for anything else, no rows, or a column that it lacks."""
    if not hasattr(regressors, "columns") or not hasattr(regressors, "iloc"):
        text = f"{described(regressors)}: no frame of regressors."
        raise InferenceError(text, code="I90", hint="regressors=frame, or a histogram of them", state=None)
    lacking = [name for name in columns if name not in regressors.columns]
    if lacking or not len(regressors):
        text = f"the regressors have no column {', '.join(lacking)}." if lacking else "the regressors have no rows."
        raise InferenceError(text, code="I90", hint="a frame with the columns of the model", state=None)
    return regressors


def repeated(frame: pd.DataFrame, n: int) -> pd.DataFrame:
    """Return n rows of a frame, each as often as the others, or once more."""
    at = np.arange(n) % len(frame)
    made: Any = frame.iloc[at]
    return made.reset_index(drop=True)


def numbers_of(frame: pd.DataFrame) -> Array:
    """Return the numbers of a frame, shape (n, columns); InferenceError I90 for what are none."""
    try:
        return frame.to_numpy(dtype=np.float64)
    except (TypeError, ValueError):
        text = "a column of the regressors holds no numbers."
        raise InferenceError(text, code="I90", hint="regressors=frame of numbers", state=None) from None
