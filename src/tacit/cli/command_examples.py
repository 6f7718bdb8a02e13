"""Examples of each command, printed at the end of its help; tests run them."""

from __future__ import annotations

from typing import Final

EXAMPLES: Final[dict[str, tuple[str, ...]]] = {
    "": ("tacit demo", "tacit schema people.csv --save draft.toml", "tacit release --help"),
    "demo": ("tacit demo",),
    "schema": ("tacit schema people.csv --save draft.toml", "tacit schema people.csv --no-rows"),
    "import": (
        "tacit import people.csv --schema people.toml --out people.parquet",
        "tacit import de.csv --schema people.toml --out de.parquet --delimiter ';' --decimal ,",
    ),
    "check": ("tacit check people.toml", "tacit check study.toml --site st-mary.toml"),
    "explain": ("tacit explain --epsilon 1", "tacit explain people.toml --releases 10"),
    "plan": ("tacit plan people.toml", "tacit plan people.toml --rho 0.05 --save plan.html"),
    "release": ('tacit release people.toml --note "board 17"', "tacit release study.toml --site st-mary.toml"),
    "show": (
        "tacit show people.release.json",
        "tacit show people.release.json --name cells --all",
        "tacit show people.release.json --name mean-age --save mean-age.csv",
    ),
    "fit": ("tacit fit people.release.json cells 'married ~ age + sex' --model logistic",),
    "combine": ("tacit combine study.toml st-mary.release.json st-luke.release.json --save results",),
    "budget": (
        "tacit budget people.ledger",
        "tacit budget people.ledger --check people.release.json",
        'tacit budget people.ledger --raise-to-rho 0.8 --note "board 31"',
    ),
    "keys": ("tacit keys new st-mary",),
    "keys new": ("tacit keys new st-luke",),
    "keys show": ("tacit keys show st-mary.private",),
}


def examples(name: str) -> str:
    """Return the examples of a command as the last lines of its help.

    >>> print(examples("keys show").removeprefix(chr(8)))
    <BLANKLINE>
    Example:
      tacit keys show st-mary.private
    """
    lines = EXAMPLES[name]
    # the mark \b keeps click from filling the lines up
    return "\n".join(["\b", "Examples:" if len(lines) > 1 else "Example:", *(f"  {line}" for line in lines)])
