"""What a release of halves says: two counts with both errors."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

from tacit.estimates.estimate import Estimate
from tacit.estimates.noisy_terms.column_terms import terms_of
from tacit.estimates.terms import Target, check_target
from tacit.estimates.wording import people_of, source_of
from tacit.release.document import Release, Released
from tacit.release.parts import cell_labels


@dataclass(frozen=True, repr=False)
class HalvesRelease(Release):
    """A release of halves."""

    kind: ClassVar[str] = "halves"

    def estimate(self, target: Target = "population") -> Estimate:
        """Both counts, with both errors."""
        return estimate(self, target)


def estimate(release: Released, target: Target = "population") -> Estimate:
    """A release of halves, or a simulated one -> Estimate."""
    check_target(target)
    (part,) = release.parts
    made = terms_of("Count", part, rows=release.rows, grouped=True, target=target)
    made = replace(made, people=people_of(release), source=source_of(release))
    return Estimate(release, target, "rows in each half", cell_labels(release.levels), (made,))
