"""Parameters that questions ask for, and those at which a plan takes a law to be: as expected, or by default."""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from tacit.method.shared.asked_model import AskedModel
from tacit.schema.expectations import Asked, Expectations

if TYPE_CHECKING:
    from tacit.models.likelihood import Likelihood

M = TypeVar("M", bound="Likelihood")


def asked_parameters(asks: Mapping[str, Any]) -> Asked:
    """Return the boxes of the parameters that questions ask for, by column (of laws of one column) and by name."""
    found: dict[str, dict[str, tuple[float, float]]] = {}
    for name, query in asks.items():
        law = law_of(query)
        if law is None:
            continue
        columns = columns_of(query)
        for key in (name, *(columns if len(columns) == 1 else ())):
            boxes = found.setdefault(key, {})
            for one in law.parameters:
                # of several questions about a column, the box that has theirs in it
                low, high = boxes.get(one.name, (one.lower, one.upper))
                boxes[one.name] = min(low, one.lower), max(high, one.upper)
    return {key: boxes for key, boxes in found.items() if key}


def columns_of(query: Any) -> tuple[str, ...]:
    """Return the columns of a question about a law."""
    return (query.what,) if isinstance(query.what, str) else tuple(query.what)


def law_of(query: Any) -> Likelihood | None:
    """Return the law that a question asks the parameters of; None where it asks of none, or of one not known here."""
    from tacit.models.likelihood import Likelihood

    found = (getattr(query, key, None) for key in ("model", "family"))
    asked = next((one for one in found if isinstance(one, AskedModel)), None)
    return asked.law if asked is not None and isinstance(asked.law, Likelihood) else None


def expected_parameters(law: Likelihood, query: Any, expect: Expectations) -> Mapping[str, float]:
    """Return the expected parameters of a question's law, within its box, by name.

    Of a normal law the expected mean and standard deviation of the column are those of the law.
    """
    columns, found = columns_of(query), dict[str, float]()
    column = columns[0] if len(columns) == 1 else ""
    numbers = expect.numbers.get(column)
    if type(law).__name__ == "Normal" and numbers is not None:
        found |= {"mean": numbers.mean, "sd": numbers.sd}
    found |= {**expect.parameters.get(column, {}), **expect.parameters.get("", {})}
    boxes = {one.name: one for one in law.parameters}
    return {
        name: min(max(value, boxes[name].lower), boxes[name].upper) for name, value in found.items() if name in boxes
    }


def told_parameters(query: Any, expect: Expectations) -> Mapping[str, float]:
    """Return the expected parameters of the law that a question asks of, by name; none of a question about no law."""
    law = law_of(query)
    return {} if law is None else expected_parameters(law, query, expect)


def law_as_expected(law: M, query: Any, expect: Expectations) -> M:
    """Return the law with the expected parameters as its default, at which plans are made; itself where none are."""
    found = expected_parameters(law, query, expect)
    if not found:
        return law
    return planned_at(law, [found.get(name, float(value)) for name, value in zip(law.names, law.fallback, strict=True)])


def planned_at(law: M, parameters: Sequence[float]) -> M:
    """Return a copy of a law with these parameters as its default, for a plan alone: no release is made with it."""
    made = copy.copy(law)
    object.__setattr__(made, "default", tuple(np.asarray(parameters, dtype=np.float64).tolist()))
    return made


def words_of_law(law: Likelihood) -> str:
    """Return where a plan takes the parameters to be."""
    return "at " + ", ".join(f"{name} {x:.3g}" for name, x in zip(law.names, law.fallback, strict=True))
