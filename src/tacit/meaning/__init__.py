"""What a price means for one person: suspicions, attackers, groups, repeated releases.  Figures to be read."""

from __future__ import annotations

from tacit.meaning.differencing import DifferencingAttack
from tacit.meaning.explain import explain
from tacit.meaning.explanation import Explanation
from tacit.meaning.population import PopulationOfSecrets
from tacit.meaning.split_price import SplitPrice

__all__ = ["DifferencingAttack", "Explanation", "PopulationOfSecrets", "SplitPrice", "explain"]
