"""Many parties, one answer: releases combined, checked against their study, reconciled over levels.

OUTSIDE the wall: it sees releases only.
"""

from __future__ import annotations

from tacit.parties.combine import combine
from tacit.parties.combined import Combination, Combined
from tacit.parties.histograms import CombinedHistogram

__all__ = ["Combination", "Combined", "CombinedHistogram", "combine"]
