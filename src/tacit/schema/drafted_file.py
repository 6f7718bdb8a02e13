"""Draft a whole curator's file around the lines of a `[schema]`: what a person decides is "?" or a comment."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from tacit.schema.column_words import OPEN
from tacit.schema.drafting import FOUND_MARK
from tacit.schema.toml import key_text, quoted

NO_AMOUNTS: Final = frozenset(
    (
        *("id", "ids", "uid", "uuid", "guid", "key", "pk", "index", "idx", "code", "no", "nr", "serial", "serialno"),
        *("ssn", "mrn", "ref", "zip", "zipcode", "postcode", "postal", "plz", "fips", "puma", "phone", "caseid"),
        *("sex", "gender", "race", "ethnicity", "state", "county", "region", "district", "year", "month", "weekday"),
        *("type", "status", "group", "class", "category", "flag"),
    )
)
"""Words of names of whole numbers that are no amounts, but mostly names and codes."""
_TOP: Final = """\
# Drafted by `tacit schema`.  Fill in every "?" with public facts: what the values can be, not what they are here.
# Lines that begin with "#" are not read: take the "# " away where one is right, leave out what nobody asks for.
"""
_FROM_ROWS: Final = f"""\
# A text file has no types.  What stands after "{FOUND_MARK}" was computed from its rows, without noise: it is for
# whoever holds the table.  Decide, and take these comments out before this file leaves the house.
"""
_BUDGET: Final = f"""
[budget]                        # the promise, for good: written into the ledger when it is made
epsilon = "{OPEN}"                   # or rho, or epsilon and delta: the most that all releases together may cost
neighbors = "replace-one"       # or "add-remove": then not even the number of rows is public

[schema]
"""
_SPEND: Final = f"""
[spend]                         # the price of this file, split over its questions by `share`; no more than [budget]
epsilon = "{OPEN}"

# One section a question, in the words of Python; `tacit plan` says how precise the answers will be.
"""


def draft_file(lines: Mapping[str, str], *, name: str, path: str, note: str = "") -> str:
    """Return the text of a curator's file with `[schema]` lines as drafted, and skeletons of the other sections.

    lines: by column, of `typed_lines` or `suggested_lines`.  name: of the table.  path: of the table, as `[data]` gives
    it; `note` is a remark beside it.  Names are public; there is no value of a row in the draft.  It is read as TOML,
    and what is still "?" is refused: SchemaError S16, FileError F06.
    """
    found = any(FOUND_MARK in line for line in lines.values())
    numbers = [column for column, line in lines.items() if 'type = "Real"' in line or 'type = "Integer"' in line]
    return "".join(
        (
            _TOP,
            _FROM_ROWS if found else "",
            "tacit = 1\n",
            '# title = "what is asked of whom, for those who read the plan"\n\n',
            "[table]\n",
            _beside(f"name = {quoted(name)}", "which people, which edition: answers are remembered under this name"),
            _beside("# rows = ", "how many, where that is public (replace-one); plans need it"),
            "\n[data]                          # stays at home, and is no part of what is public\n",
            _beside(f"path = {quoted(path)}", note) if note else f"path = {quoted(path)}\n",
            f"ledger = {quoted(f'{name}.ledger')}\n",
            _BUDGET,
            "".join(f"{line}\n" for line in lines.values()),
            _SPEND,
            _questions(next((column for column in numbers if not _names_or_codes(column)), "age")),
        )
    )


def _names_or_codes(column: str) -> bool:
    """Whether a column's name is that of an identifier or a code, of which a mean says nothing.

    >>> [_names_or_codes(one) for one in ("person_id", "PatientID", "zip_code", "sex", "idle_time", "paid", "age")]
    [True, True, True, True, False, False, False]
    """
    words = re.split(r"[\W_]+", re.sub(r"([a-z])([A-Z])", r"\1 \2", column))
    return any(word.lower() in NO_AMOUNTS for word in words)


def _questions(column: str) -> str:
    """Return examples of questions about one numeric column, as comments."""
    examples = (
        (f"mean-{column}", (("query", '"Mean"'), ("columns", quoted(column)))),
        (f"quartiles-{column}", (("query", '"Quantiles"'), ("column", quoted(column)), ("probs", "[0.25, 0.5, 0.75]"))),
        ("quality", (("query", '"DataQuality"'), ("share", "0.5"))),
    )
    sections = (
        "\n".join((f"# [ask.{key_text(name)}]", *(f"# {key} = {value}" for key, value in words)))
        for name, words in examples
    )
    return "\n\n".join(sections) + "\n"


def _beside(line: str, comment: str) -> str:
    """Return a line of TOML with a comment beside it."""
    return f"{line:<31} # {comment}\n"
