"""The public facts that estimates show of a survey of randomised answers: a `Released` without integers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tacit.privacy import Cost
from tacit.release.parts import Levels, Part

if TYPE_CHECKING:
    from tacit.local.response_design import ResponseDesign


@dataclass(frozen=True)
class ResponseFacts:
    """A survey of `rows` answers to one design."""

    design: ResponseDesign
    rows: int
    table: str = "survey"
    neighbors: str = "randomised by each person"
    unit: int | None = None
    levels: Levels = ()
    ordered: Levels = ()
    parts: tuple[Part, ...] = ()

    @property
    def query(self) -> Any:  # no query of a curator
        """The design, which is what was asked."""
        return self.design

    @property
    def cost(self) -> Cost:
        """ε of each person's answer."""
        return Cost(epsilon=self.design.epsilon)
