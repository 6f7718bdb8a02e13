"""Answers from people who trust nobody: each is randomised before it leaves its person (`tc.local`).

A design says how: `Warner` and `ForcedResponse` for a yes or no, `KaryResponse`, `UnaryEncoding` and `SubsetSelection`
for one of several levels.  `respond` makes one person's answer where the person is; `estimate` reads the answers of
all.
"""

from __future__ import annotations

from tacit.local.designs import ForcedResponse, KaryResponse, SubsetSelection, UnaryEncoding, Warner
from tacit.local.plan import LocalPlan
from tacit.local.response_design import ResponseDesign
from tacit.local.response_estimate import ResponseEstimate
from tacit.local.responses import Responses

__all__ = [
    "ForcedResponse",
    "KaryResponse",
    "LocalPlan",
    "ResponseDesign",
    "ResponseEstimate",
    "Responses",
    "SubsetSelection",
    "UnaryEncoding",
    "Warner",
]
