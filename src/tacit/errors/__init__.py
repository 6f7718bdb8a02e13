"""Errors of the library: each says what failed, the value, a fix, and has a stable code.

A message contains public facts only (schema, price, ledger, file names), never anything about rows.  Codes are never
reused; the reference page of error codes is generated from `CODES`.
"""

from __future__ import annotations

from typing import Final

from tacit.errors.error_codes import CODES as CODES

NOTHING_SPENT: Final = "Nothing was read or spent."
CHARGE_STANDS: Final = "The charge was recorded and stands; the same question goes on with it."


class TacitError(Exception):
    """Base of all errors of this library.

    `code` is a key of `CODES`, `hint` what to type instead, and `state` what was spent before the failure (by default:
    nothing).  All three are keyword-only.

    >>> raise SchemaError("column 'age': lower bound 9 is not below upper bound 1.", code="S07", hint="Real(1, 9)")
    Traceback (most recent call last):
    tacit.errors.SchemaError: [S07] column 'age': lower bound 9 is not below upper bound 1.  Hint: Real(1, 9).  \
Nothing was read or spent.
    """

    def __init__(self, message: str, *, code: str, hint: str | None = None, state: str | None = NOTHING_SPENT) -> None:
        self.message = message
        self.code = code
        self.hint = hint
        self.state = state
        super().__init__(message)

    def __str__(self) -> str:
        parts = [f"[{self.code}] {self.message}"]
        if self.hint:
            parts.append(f"Hint: {self.hint.rstrip('.')}{'' if self.hint.endswith('?') else '.'}")
        if self.state:
            parts.append(self.state)
        return "  ".join(parts)

    def __reduce__(self) -> tuple[object, ...]:
        return (_rebuild, (type(self), self.message, self.code, self.hint, self.state))


def _rebuild(cls: type[TacitError], message: str, code: str, hint: str | None, state: str | None) -> TacitError:
    return cls(message, code=code, hint=hint, state=state)


class SchemaError(TacitError):
    """A schema, a column type or a level is wrong."""


class QueryError(TacitError):
    """A query does not fit the schema or the neighbouring relation."""


class BudgetError(TacitError):
    """A price or a budget is malformed, or the budget does not admit the price."""


class LedgerError(TacitError):
    """A ledger is damaged, belongs to another table, has another version, or cannot be reached."""


class StudyError(TacitError):
    """A study is closed, is for other parties, or does not allow what was asked."""


class SourceError(TacitError):
    """A table cannot be opened, or its columns and types are not those of the schema.  No row was read."""


class ReleaseError(TacitError):
    """A release document is malformed or unknown, or does not contain what was asked."""


class InferenceError(TacitError):
    """An estimate was asked for something it cannot answer (a level below 0.5, an unknown term)."""


class ModelError(TacitError):
    """A family, the bounds of its parameters, or a user-defined log-density is wrong."""


class FileError(TacitError):
    """A TOML file, a site file or an output path is wrong."""


class CommandError(TacitError):
    """A command or its options are wrong."""


class MachineError(TacitError):
    """The machine failed while data were read.  The message is constant: details are in the curator's own log only."""

    def __init__(self) -> None:
        super().__init__(
            "the data could not be read or the machine failed; no detail leaves the curator's own log.",
            code="M01",
            hint="ask the same question again: a recorded charge is not charged twice",
            state="If the charge was recorded, it stands.",
        )

    def __reduce__(self) -> tuple[object, ...]:
        return (MachineError, ())


def nearest(word: str, known: list[str] | tuple[str, ...]) -> str | None:
    """Return the known word closest to `word`, or None where none is close.

    >>> nearest("incme", ["age", "income"])
    'income'
    """
    import difflib

    if not isinstance(word, str):  # pyright: ignore[reportUnnecessaryIsInstance]
        return None
    found = difflib.get_close_matches(word, list(known), n=1, cutoff=0.5)
    return found[0] if found else None
