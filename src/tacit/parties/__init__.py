"""Releases of several parties: combined into one answer, checked against their study, reconciled over levels.

This room is outside the wall: it reads releases only.
"""

from __future__ import annotations

from tacit.method.histogram.combine import CombinedHistogram
from tacit.parties.averaged import average
from tacit.parties.combine_releases import combine
from tacit.parties.combined import Combined
from tacit.parties.combined_estimate import Combination
from tacit.parties.level_laws import LawHierarchy
from tacit.parties.level_means import MeanHierarchy
from tacit.parties.level_totals import Hierarchy, hierarchy
from tacit.parties.study_result import StudyResult

__all__ = [
    "Combination",
    "Combined",
    "CombinedHistogram",
    "Hierarchy",
    "LawHierarchy",
    "MeanHierarchy",
    "StudyResult",
    "average",
    "combine",
    "hierarchy",
]
