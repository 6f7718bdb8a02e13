"""The parts that a question's price is spent on: public facts of its design.  INSIDE the wall.

A ledger whose accounting differs from the form of the price charges these parts one by one (`privacy.bought`).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from tacit.method.shared.measurement import Measurement
from tacit.noise.product import ProductLaplace
from tacit.noise.selection_law import Selection
from tacit.privacy import Cost
from tacit.privacy.approximate_part import approximate_part
from tacit.privacy.bought import Bought, of_levels, price_of_noise


def price_parts(designs: Iterable[Measurement]) -> tuple[Bought, ...]:
    """Return the parts of all questions of a request: the cost of each, and how many selections share it."""
    return tuple(one for design in designs for one in _parts(design))


def charged_price(cost: Cost, designs: Sequence[Measurement], accounting: str | None) -> Cost:
    """Return what a ledger is charged for questions at a price: the price, or what it buys instead.

    A pair usually buys what is mu-GDP, and a ledger of mu^2 charges the mu^2 of the pair.  Where a question has a δ of
    its own, the pair buys an approximate part (mu, δ'), and that is charged (`privacy.gaussian`, Approximate parts); a
    ledger of rho refuses it.  One that adds epsilon and adds delta ("basic") is charged the pair; and epsilon, where
    that is what the pair of one question buys (`pair_or_epsilon`).
    """
    if len(designs) == 1 and cost.kind == "approximate" and designs[0].cost.kind == "pure":
        return designs[0].cost
    parts = [one.cost for one in designs if one.cost.is_part]
    if not parts or accounting == "basic":
        return cost
    return parts[0] if len(designs) == 1 else approximate_part(cost)


def _parts(design: Measurement) -> Iterable[Bought]:
    # with `by`, a replaced row may leave one cell and enter another: `mechanism_rank_selection`, Sensitivity
    cells = 2 if design.keys and design.neighbors == "replace-one" else 1
    for column in design.columns:
        # permute-and-flip is bought with epsilon alone, and charged as any pure mechanism
        if column.form.name == "cuts":
            yield of_levels(column.cost, column.form.parameters["levels"])
        elif isinstance(column.law, Selection):
            yield Bought(column.cost, len(column.form.matrix), cells)
        elif not isinstance(column.law, ProductLaplace):
            yield Bought(column.cost)
    # noise that is one vector is one mechanism
    together = [column for column in design.columns if isinstance(column.law, ProductLaplace)]
    if together:
        yield Bought(price_of_noise(together[0], together))
