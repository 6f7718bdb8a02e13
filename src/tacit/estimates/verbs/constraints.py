"""Linear constraints in words: "age = 0, `north:female` - 2 * south = -1e-05" as a matrix and right-hand sides.

    constraints = sides ("," sides)*
    sides       = sum ("=" sum)*                     a = b = c is a = b and b = c; a sum alone is equal to 0
    sum         = product (("+" | "-") product)*
    product     = signed (("*" | "/") signed)*       one factor of a product is a number, and so is a divisor
    signed      = ("+" | "-")* atom
    atom        = number | name | "(" sum ")"

A name is a label of a term, in backticks unless it is an identifier or stands there as the label is.
"""

from __future__ import annotations

import re
from itertools import pairwise
from typing import Final

import numpy as np

from tacit.base.arguments import described
from tacit.base.arrays import Array
from tacit.errors import InferenceError, nearest

LONGEST: Final = 10_000
DEEPEST: Final = 40
NUMBER: Final = re.compile(r"(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?(?![\w.])")
WORD: Final = re.compile(r"[^\W\d]\w*(?:\[[^\]\n]*\])?")
SIGNS: Final = re.compile(r"==|[-+*/=,()]")


class _MalformedError(ValueError):
    """A text that states no linear constraints."""


def matrix_of(terms: tuple[str, ...], text: object) -> tuple[Array, Array]:
    """Return (matrix, right-hand sides) of constraints on terms, shapes (c, terms) and (c,).

    InferenceError I02 for an unknown term, I03 for a text that states no linear combination of terms.

    >>> matrix_of(("x1", "x2"), "x2 = -0.36, x1 - 2 * x2 = 1e-05")
    (array([[ 0.,  1.],
           [ 1., -2.]]), array([-3.6e-01,  1.0e-05]))
    """
    if not isinstance(text, str) or len(text) > LONGEST:
        raise _refused(terms, text)
    try:
        rows = _ConstraintReader(terms, text).constraints()
    except _MalformedError:
        raise _refused(terms, text) from None
    whole = np.array(rows)
    matrix, values = whole[:, :-1], -whole[:, -1] + 0.0  # no zero with a sign
    if not np.isfinite(whole).all() or not matrix.any(axis=1).all():
        raise _refused(terms, text)
    return matrix, values


def _refused(terms: tuple[str, ...], text: object) -> InferenceError:
    example = " - ".join(f"`{term}`" for term in terms[:2])
    message = f"{described(text)} is no linear combination of terms."
    return InferenceError(message, code="I03", hint=f'"{example} = 0", labels in backticks', state=None)


class _ConstraintReader:
    """Reads a text once, from left to right.  A sum is its weights of the terms and, last, its constant."""

    def __init__(self, terms: tuple[str, ...], text: str) -> None:
        self.terms, self.text, self.at, self.depth = terms, text, 0, 0
        # the longest first: a label may begin with another one
        self.labels = sorted((term for term in terms if term), key=len, reverse=True)

    def constraints(self) -> list[Array]:
        found: list[Array] = []
        while True:
            sides = [self.sum()]
            while self.take("=") or self.take("=="):
                sides.append(self.sum())
            sides = sides if len(sides) > 1 else [*sides, np.zeros(len(self.terms) + 1)]
            found += [left - right for left, right in pairwise(sides)]
            if not self.take(","):
                break
        if self.sign() or self.text[self.at :].strip():
            raise _MalformedError
        return found

    def sum(self) -> Array:
        self.depth += 1
        if self.depth > DEEPEST:
            raise _MalformedError
        total = self.product()
        while sign := self.take("+") or self.take("-"):
            total = total + self.product() if sign == "+" else total - self.product()
        self.depth -= 1
        return total

    def product(self) -> Array:
        made = self.signed()
        while sign := self.take("*") or self.take("/"):
            other = self.signed()
            if sign == "/":
                divisor = _number(other)
                if divisor == 0:
                    raise _MalformedError
                made = made / divisor
            else:
                made = made * _number(other) if not other[:-1].any() else other * _number(made)
        return made

    def signed(self) -> Array:
        negative = False
        while sign := self.take("+") or self.take("-"):
            negative ^= sign == "-"
        made = self.atom()
        return -made if negative else made

    def atom(self) -> Array:
        if self.take("("):
            made = self.sum()
            if not self.take(")"):
                raise _MalformedError
            return made
        made = np.zeros(len(self.terms) + 1)
        number = NUMBER.match(self.text, self.at)
        if number is not None:
            self.at = number.end()
            made[-1] = float(number[0])
        else:
            made[self.place()] = 1.0
        return made

    def place(self) -> int:
        """Return the index of the term whose name comes next."""
        if self.text.startswith("`", self.at):
            end = self.text.find("`", self.at + 1)
            if end < 0:
                raise _MalformedError
            name, self.at = self.text[self.at + 1 : end], end + 1
        else:
            word = WORD.match(self.text, self.at)
            name = next((one for one in self.labels if self.stands(one)), word[0] if word else "")
            if not name:
                raise _MalformedError
            self.at += len(name)
        if name in self.terms:
            return self.terms.index(name)
        guess = nearest(name, list(self.terms))
        hint = f"`{guess}`, in backticks" if guess else "one of " + ", ".join(f"`{t}`" for t in self.terms[:6])
        raise InferenceError(f"no term is called {described(name)}.", code="I02", hint=hint, state=None)

    def stands(self, label: str) -> bool:
        """Return whether a label comes next as it is, and not as the beginning of a longer word."""
        end = self.at + len(label)
        joined = bool(re.fullmatch(r"\w\w", label[-1] + self.text[end : end + 1]))
        return self.text.startswith(label, self.at) and not joined and not label[0].isdigit()

    def sign(self) -> str:
        """Return the sign that comes next, after blanks, or an empty text."""
        while self.text[self.at : self.at + 1].isspace():
            self.at += 1
        found = SIGNS.match(self.text, self.at)
        return "" if found is None else found[0]

    def take(self, sign: str) -> str:
        """Return the sign, and go behind it, if it comes next; else an empty text."""
        if self.sign() != sign:
            return ""
        self.at += len(sign)
        return sign


def _number(made: Array) -> float:
    """Return a sum without terms as a number."""
    if made[:-1].any():
        raise _MalformedError
    return float(made[-1])
