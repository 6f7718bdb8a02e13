"""Parse a formula "response ~ terms" by a small grammar: no part of the text is ever run.  No data here.

    formula  = factor "~" sum
    sum      = ["-"] product (("+" | "-") product)*      terms joined, or taken out; 0 and 1 are the intercept
    product  = crossed ("*" crossed)*                    a * b is a + b + a:b
    crossed  = atom (":" atom)*                          interactions
    atom     = factor | "C(" name ")" | "(" sum ")" | "0" | "1"
    factor   = name | "I(" expression ")" | function "(" ... ")"

Names that are not identifiers stand in backticks.  The notation is that of R, patsy and formulaic; expressions are
those of computed columns (`formula_factors`).
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Final, TypeAlias

from tacit.base.arguments import described
from tacit.base.json_text import is_text
from tacit.errors import QueryError
from tacit.method.regression.formulas.formula_factors import CALLED, Factor, closing, factor_of
from tacit.schema.row_expressions import names_in

MAX_LENGTH: Final = 2_000
MAX_DEPTH: Final = 20
MAX_TERMS: Final = 64
MAX_DEGREE: Final = 3
"""Most factors of a term, powers counted."""
TOKEN: Final = re.compile(r"\s*(?:(?P<name>[^\W\d]\w*)|`(?P<quoted>[^`\n]+)`|(?P<number>\d+)|(?P<sign>\*\*|[-+*:()~]))")


ELSEWHERE: Final = {
    r"\bln\(": "log(",
    r"\b(?:i|b\d+)\.([^\W\d]\w*)": r"C(\1)",
    r"\bc\.([^\W\d]\w*)": r"\1",
    r"\bpoly\(([^\W\d]\w*),\s*(?:degree\s*=\s*)?2(?:,[^()]*)?\)": r"\1 + I(\1 ** 2)",
    r"\bpoly\(([^\W\d]\w*),\s*(?:degree\s*=\s*)?3(?:,[^()]*)?\)": r"\1 + I(\1 ** 2) + I(\1 ** 3)",
    r"\bC\(([^\W\d]\w*),\s*(?:Treatment|contr)[^()]*(?:\([^()]*\))?\)": r"C(\1)",
    r"\brelevel\(([^\W\d]\w*),[^()]*\)": r"C(\1)",
    r"##": "*",
    r"#": ":",
}
"""Words of R, Stata and patsy, and what is written in their place."""
REFERENCE: Final = re.compile(r"Treatment|contr\.|relevel|\bb\d+\.")
"""Words that choose a reference level."""
MODULE: Final = re.compile(r"\b(?:np|numpy|math|pd)\.(?=\w+\()")
"""Names of libraries, as they stand before functions in Python."""
Term: TypeAlias = tuple[Factor, ...]
"""The factors of a product, each once; () is the intercept."""


@dataclass(frozen=True)
class Formula:
    """A parsed formula: the intercept first, then main effects, then interactions, else in the order of the text."""

    left: Factor
    terms: tuple[Term, ...]

    @property
    def response(self) -> str:
        """The response: a column's name, or an expression."""
        return self.left.column

    @property
    def intercept(self) -> bool:
        """Whether the formula has an intercept."""
        return () in self.terms

    @property
    def factors(self) -> tuple[Factor, ...]:
        """The response and all factors of terms."""
        return (self.left, *(one for term in self.terms for one in term))

    @property
    def columns(self) -> tuple[str, ...]:
        """The response and the columns and expressions of the right side, each once."""
        return tuple(dict.fromkeys(one.column for one in self.factors))

    @property
    def expressions(self) -> dict[str, str]:
        """Those of `columns` that are computed from a row, with their canonical text."""
        return {one.column: one.computed for one in self.factors if one.computed}

    @property
    def read_only(self) -> tuple[str, ...]:
        """Columns that expressions read and that are none of `columns`, each once."""
        found = dict.fromkeys(name for text in self.expressions.values() for name in names_in(text))
        return tuple(name for name in found if name not in self.columns)


@lru_cache(maxsize=64)
def _read(text: str) -> Formula | None:
    """Return the formula that a text is, None for none; one that was asked for lately is kept."""
    try:
        return _Reader(text).formula()
    except (ValueError, StopIteration):
        return None


def parse(text: object) -> Formula:
    """Return the formula that a text is; QueryError Q85 where it is none.

    >>> canonical(parse("income ~ age*sex - 1 + I(age**2)"))
    'income ~ 0 + age + sex + I(age ** 2) + age:sex'
    """
    made: Formula | None = None
    if isinstance(text, str) and len(text) <= MAX_LENGTH and is_text(text):
        made = _read(text)
    if made is None:
        hint = (
            f"'income ~ age + sex', with + - * : ( ), C(sex), I(age ** 2), {', '.join(CALLED)}; "
            "names with blanks or signs in backticks"
        )
        plain = _written_here(text) if isinstance(text, str) and len(text) <= MAX_LENGTH and is_text(text) else text
        if plain != text:
            hint = f"{plain!r}: functions stand without the name of a library"
            hint = hint if plain == MODULE.sub("", str(text)) else repr(plain)
            if REFERENCE.search(str(text)):
                hint = f"{hint}: the reference is the first level in the schema"
        raise QueryError(
            f"formula {described(text)} is none that can be read.",
            code="Q85",
            hint=hint,
        )
    if not made.terms or made.response in [one.column for term in made.terms for one in term]:
        what = "has no term" if not made.terms else f"has its response {made.response!r} among its regressors"
        raise QueryError(f"formula {text!r} {what}.", code="Q85", hint="'income ~ age + sex'")
    if len(made.terms) > MAX_TERMS or any(sum(one.power for one in term) > MAX_DEGREE for term in made.terms):
        limits = f"at most {MAX_TERMS} terms, of at most {MAX_DEGREE} factors"
        raise QueryError(f"formula {text!r} is too large: {limits}.", code="Q85", hint="fewer terms")
    return made


def _written_here(text: str) -> str:
    """Return a formula as it is written here, of words of R and of other libraries; the same text where none is known.

    >>> _written_here("y = I(x^2) + as.factor(g)"), _written_here("y ~ np.log(x)"), _written_here("y ~ ???")
    ('y ~ I(x ** 2) + C(g)', 'y ~ log(x)', 'y ~ ???')
    >>> _written_here("y ~ i.g + c.x"), _written_here("ln(y) ~ poly(x, 2)"), _written_here("y ~ C(g, Treatment('a'))")
    ('y ~ C(g) + x', 'log(y) ~ x + I(x ** 2)', 'y ~ C(g)')
    """
    plain = MODULE.sub("", text)
    if "~" not in plain:
        plain = re.sub(r"(?<![<>!])={1,2}(?!=)", "~", plain, count=1)
    said = re.sub(r"\s*\^\s*", " ** ", re.sub(r"\b(?:as\.)?factor\(", "C(", plain))
    for pattern, here in ELSEWHERE.items():
        said = re.sub(pattern, here, said)
    try:
        _Reader(said).formula()
    except (ValueError, StopIteration):
        return MODULE.sub("", text)
    return said


def canonical(formula: Formula) -> str:
    """Return the canonical text of a formula, the same for formulas that mean the same."""
    terms = [":".join(one.written for one in term) for term in formula.terms if term]
    head = [] if formula.intercept else ["0"]
    return f"{formula.left.written} ~ {' + '.join([*head, *terms]) or '1'}"


class _Reader:
    """A parser by recursive descent; ValueError where the text is not a formula."""

    def __init__(self, text: str) -> None:
        self._text = text.rstrip()
        self._at = 0
        self._depth = 0

    def formula(self) -> Formula:
        left = (self._called() or Factor(self._name())).alone
        if left.category:
            raise ValueError("C( ) as a response")
        self._take("~")
        terms = self._sum([()])
        if self._at < len(self._text):
            raise ValueError("more than a formula")
        # a stable sort: terms of equally many factors keep the order of the text
        return Formula(left, tuple(sorted(terms, key=lambda term: (bool(term), len(term)))))

    def _peek(self) -> tuple[str, str]:
        match = TOKEN.match(self._text, self._at)
        return ("", "") if match is None else (str(match.lastgroup), match.group(str(match.lastgroup)))

    def _next(self, kind: str) -> str:
        found, text = self._peek()
        match = TOKEN.match(self._text, self._at)
        if found != kind or match is None:
            raise ValueError(f"{text!r} where a {kind} was expected")
        self._at = match.end()
        return text

    def _take(self, sign: str) -> None:
        if self._next("sign") != sign:
            raise ValueError(f"no {sign}")

    def _is(self, *signs: str) -> bool:
        kind, text = self._peek()
        return kind == "sign" and text in signs

    def _name(self) -> str:
        return self._next("quoted") if self._peek()[0] == "quoted" else self._next("name")

    def _called(self) -> Factor | None:
        """Return the factor that a function's call is; None where no call comes next."""
        kind, text = self._peek()
        # only before "(" are they functions: a column may be called C, I or log
        if kind != "name" or text not in ("C", "I", *CALLED):
            return None
        before = self._at
        self._next("name")
        if not self._is("("):
            self._at = before
            return None
        opened = self._text.index("(", self._at)
        closed = closing(self._text, opened)
        self._at = closed + 1
        return factor_of(text, self._text[opened + 1 : closed])

    def _sum(self, found: list[Term]) -> list[Term]:
        sign = "+"
        if self._is("-"):
            sign = self._next("sign")
        while True:
            found = _add_or_remove(found, self._product(), sign)
            if not self._is("+", "-"):
                return found
            sign = self._next("sign")

    def _product(self) -> list[Term | None]:
        found = self._crossed()
        while self._is("*"):
            self._take("*")
            other = self._crossed()
            found = [*found, *other, *_interactions(found, other)]
            # each "*" more than doubles the terms: checked before they grow beyond memory
            if len(found) > MAX_TERMS:
                raise ValueError("too many terms")
        return found

    def _crossed(self) -> list[Term | None]:
        found = self._atom()
        while self._is(":"):
            self._take(":")
            found = _interactions(found, self._atom())
        return found

    def _atom(self) -> list[Term | None]:
        kind, text = self._peek()
        if kind == "number":
            self._next("number")
            if text not in ("0", "1"):
                raise ValueError("a number")
            return [() if text == "1" else None]
        if self._is("("):
            return self._bracket()
        return [(self._called() or Factor(self._name()),)]

    def _bracket(self) -> list[Term | None]:
        self._take("(")
        # bounds the recursion, whatever text is sent
        self._depth += 1
        if self._depth > MAX_DEPTH:
            raise ValueError("too deep")
        found = self._sum([])
        self._depth -= 1
        self._take(")")
        return [*found]


def _add_or_remove(found: list[Term], more: list[Term | None], sign: str) -> list[Term]:
    """Return the terms with `more` added, each once, or removed; + 0 removes the intercept, and - 0 adds it."""
    for term in more:
        adds = sign == "+"
        if term is None:
            term, adds = (), not adds
        # a:b and b:a are one term
        same = [one for one in found if set(one) == set(term)]
        if adds and not same:
            found = [*found, term]
        if not adds:
            found = [one for one in found if one not in same]
    return found


def _interactions(left: list[Term | None], right: list[Term | None]) -> list[Term | None]:
    """Return the interaction of each term on the left with each on the right; a factor appears once in a term."""
    if None in left or None in right:
        raise ValueError("0 crossed with a term")
    return [tuple(dict.fromkeys([*a, *b])) for a in left for b in right if a is not None and b is not None]
