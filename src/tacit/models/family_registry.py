"""All families by name, and the reading of a family from a file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from typing import Any, Final, cast

from tacit.errors import ModelError, nearest
from tacit.models import registered_families
from tacit.models.family import Family

FAMILIES: Final[dict[str, type[Family]]] = {
    name: one for name, one in vars(registered_families).items() if not name.startswith("_")
}
"""Every registered family by its name."""


def family(words: Mapping[str, Any]) -> Family:
    """Return a family from the plain values of a file, which have the names used in Python.

    ModelError M10, M13 for boxes and defaults, M11 for an unknown family, M12 for a field that it does not have.

    >>> family({"family": "Gamma", "shape": [0.5, 5], "rate": [0.01, 1]})
    Gamma(shape=(0.5, 5.0), rate=(0.01, 1.0))
    """
    name = words.get("family")
    if not isinstance(name, str) or name not in FAMILIES:
        hint = nearest(str(name), tuple(FAMILIES))
        message = f"no family is called {name!r}; there are {', '.join(FAMILIES)}."
        raise ModelError(message, code="M11", hint=f"{hint!r}?" if hint else None)
    known = tuple(one.name for one in fields(FAMILIES[name]))
    for word in words:
        if word not in (*known, "family"):
            hint = nearest(str(word), known)
            message = f"{name} has no {word!r}; it has {', '.join(known)}."
            raise ModelError(message, code="M12", hint=f"{hint!r}?" if hint else None)
    return cast(Any, FAMILIES[name])(**{word: value for word, value in words.items() if word != "family"})
