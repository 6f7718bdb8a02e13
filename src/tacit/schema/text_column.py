"""The column type of text without a public list of levels."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

from tacit.base.arguments import described, named_fields
from tacit.errors import SchemaError
from tacit.schema.column_checks import common, whole, words

MOST_CHARACTERS: Final = 1_000
"""Most characters of a text that is a level."""


@named_fields(SchemaError, "S05")
@dataclass(frozen=True)
class Text:
    """Text whose values nobody has listed: levels that `UnlistedLevels` finds, if enough rows have them.

    max_length: at most so many characters (Unicode code points) of a text count, from 1 to 1,000; longer ones are cut.
    trim: white space at both ends is left out, and each run of it inside becomes one space.
    casefold: texts that differ only in upper and lower case are one level, in lower case (Unicode case folding).
    missing: "exclude", or the text that a missing cell stands for, a level if enough rows have it.
    A cell is missing where it is null, empty, or no valid Unicode text.  Control characters, line ends and marks that
    change the direction of writing become U+FFFD.  Nothing else is changed: texts that only look alike, such as
    composed and decomposed letters, are different levels.  The rules are the same for every engine.
    Raises SchemaError S11 (missing), S15 (trim, casefold, column), S19 (max_length).

    >>> Text(max_length=40).trim
    False
    """

    max_length: int
    trim: bool = field(default=False, kw_only=True)
    casefold: bool = field(default=False, kw_only=True)
    missing: str = field(default="exclude", kw_only=True)
    column: str | None = field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        common("Text", None, self.column)
        hint = "Text(max_length=40)"
        most = whole(self.max_length, "max_length", hint, "S19")
        if not 1 <= most <= MOST_CHARACTERS:
            text = f"max_length {most} of Text is not from 1 to {MOST_CHARACTERS:,}."
            raise SchemaError(text, code="S19", hint=hint)
        for name in ("trim", "casefold"):
            if not isinstance(getattr(self, name), bool):
                text = f"{name} of Text is {described(getattr(self, name))}."
                raise SchemaError(text, code="S15", hint=f"{name}=True")
        words(self.missing, "missing label", "S11", 'missing="exclude", or missing="unknown"')
        object.__setattr__(self, "max_length", most)
