"""What a pair (epsilon, delta) buys: noise of replicates, and the part that a ledger is charged.  No data here."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from tacit.privacy import Cost

if TYPE_CHECKING:
    from tacit.privacy.bootstrap_cost import Calibration, Resampling


def weights_of(neighbors: str) -> Literal["multinomial", "poisson"]:
    """Return the law of the multiplicities: that whose cost is proven for the relation.

    With a private number of rows, independent Poisson multiplicities: draws of as many rows as there are would cost
    more, as a row that is added changes the number of draws.
    """
    return "multinomial" if neighbors == "replace-one" else "poisson"


def resampling(neighbors: str, rows: int | None) -> Resampling:
    """Return the multiplicities of a row under a relation, for which costs are certified."""
    from tacit.privacy.bootstrap_cost import Resampling

    relation = "replace-one" if neighbors == "replace-one" else "add-remove"
    return Resampling(weights_of(neighbors), relation, rows=rows if relation == "replace-one" else None)


def bought(neighbors: str, rows: int | None, replicates: int, cost: Cost, *, whole: bool) -> Calibration:
    """Return what the pair buys: `mu_squared` of one replicate, and the approximate `part` that is charged.

    whole: to a ledger that adds epsilon and adds delta the pair itself is charged, and buys narrower noise.
    """
    from tacit.privacy.bootstrap_cost import calibrate

    return calibrate(resampling(neighbors, rows), replicates=replicates, price=cost, whole=whole)
