"""What identifies a log-density of one's own: its boxes, and a digest of what JAX traces of it.

Two functions with the same arithmetic are the same question; one that is changed is another, whatever its name is.  The
trace is JAX's own and may change with its version: then the same question is another one, and is paid for anew.
"""

from __future__ import annotations

import hashlib
from typing import Any, cast

import numpy as np

from tacit.models.custom import Model
from tacit.models.density_checks import density


def words_of(model: Model) -> dict[str, Any]:
    """Words of a model of one's own: {"family": "Model", "name": ..., "digest": ..., "parameters": {...}}.

    ModelError M14, M15, M16 for a log-density that cannot be used.
    """
    model.check()
    words: dict[str, Any] = {"family": "Model", "name": getattr(model.density, "__name__", "log_density")}
    words |= {"digest": digest(model), "parameters": {name: _plain(box) for name, box in model.boxes}}
    if model.columns > 1:
        words["columns"] = model.columns
    if model.support is not None:
        words["support"] = _plain(model.support)
    if model.default is not None:
        words["default"] = list(model.default)
    return words


def digest(model: Model) -> str:
    """SHA-256 of the trace of the log-density that is run and of the arrays it closes over, in hexadecimal digits."""
    closed = density(model).trace
    found = hashlib.sha256(str(closed.jaxpr).encode())
    for constant in closed.consts:
        array = np.asarray(constant)
        found.update(f"{array.dtype}{array.shape}".encode() + array.tobytes())
    return found.hexdigest()


def _plain(value: Any) -> Any:
    return [_plain(part) for part in cast("tuple[object, ...]", value)] if isinstance(value, tuple) else value
