"""Plans: cost and expected precision of a release from public facts alone.  No data is needed, nothing is spent."""

from __future__ import annotations

from tacit.planning.compare import compare
from tacit.planning.comparison import MethodComparison
from tacit.planning.page import Plan
from tacit.planning.plan import plan, plan_for, plan_study

__all__ = ["MethodComparison", "Plan", "compare", "plan", "plan_for", "plan_study"]
