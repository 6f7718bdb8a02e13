"""Identification of a user-defined model in files: its boxes, and a digest of JAX's trace of its log-density.

Two functions with the same arithmetic make the same query; a changed function makes another, whatever its name.  The
trace may change with the version of JAX: then the same function counts as another query, and is paid for again.
"""

from __future__ import annotations

from typing import Any, cast

from tacit.models.custom import Model
from tacit.models.density_checks import digest


def words_of(model: Model) -> dict[str, Any]:
    """Return a model's plain values for a file: {"family": "Model", "name": ..., "digest": ..., "parameters": {...}}.

    ModelError M14, M15, M16 for a log-density that cannot be used.
    """
    model.check_function()
    words: dict[str, Any] = {"family": "Model", "name": getattr(model.density, "__name__", "log_density")}
    words |= {"digest": digest(model), "parameters": {name: _plain(box) for name, box in model.boxes}}
    if model.columns > 1:
        words["columns"] = model.columns
    # as given, and not as found: what is found follows from the digest
    if model.row_support is not None:
        words["support"] = _plain(model.row_support)
    if model.default is not None:
        words["default"] = list(model.default)
    return words


def _plain(value: Any) -> Any:
    return [_plain(part) for part in cast("tuple[object, ...]", value)] if isinstance(value, tuple) else value
