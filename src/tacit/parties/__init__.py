"""Many parties, one answer: releases combined, checked against their study, reconciled over levels.

OUTSIDE the wall: it sees releases only.
"""

from __future__ import annotations

from tacit.parties.combination import Combination
from tacit.parties.combine import combine
from tacit.parties.combined import Combined
from tacit.parties.histograms import CombinedHistogram
from tacit.parties.levels import Hierarchy, hierarchy
from tacit.parties.returned import StudyResult

__all__ = ["Combination", "Combined", "CombinedHistogram", "Hierarchy", "StudyResult", "combine", "hierarchy"]
