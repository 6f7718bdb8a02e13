"""Quantiles that were selected by halving ranges, told as if each had been selected for itself.  Public arithmetic."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import cast

from tacit.method.quantiles.many_laws import equal_laws
from tacit.method.quantiles.query import Quantiles
from tacit.release.document import Released
from tacit.release.parts import Part


def as_points(release: Released, parts: list[Part]) -> list[Part]:
    """Return parts of one quantile each, whose law has the scale of the error in ranks; others as they are.

    What is returned is not what was drawn: it serves to say how far off the steps may be.
    """
    if parts[0].form != "halved":
        return parts
    probs, one = cast("tuple[Fraction, ...]", cast(Quantiles, release.query).probs), parts[0]
    laws = equal_laws(probs, 1 / Fraction(one.law.scale), replaces=release.neighbors == "replace-one")
    return [
        replace(
            one,
            form="point",
            parameters={"G": one.parameters["G"], "numerator": p.numerator, "denominator": p.denominator},
            integers=tuple((cell[i],) for cell in one.integers),
            law=law,
        )
        for i, (p, law) in enumerate(zip(probs, laws, strict=True))
    ]
