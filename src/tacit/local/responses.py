"""`Responses`: files of answers that came in, each counted once.  No true answer is in them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, cast

from tacit.base.json_text import canonical, read_json, short, write_text
from tacit.errors import QueryError

if TYPE_CHECKING:
    from tacit.local.response_design import ResponseDesign

KIND: Final = "local-response"
TOKEN: Final = 32
"""Hexadecimal digits of a token."""


def response_document(design: str, answer: Any, token: str) -> dict[str, Any]:
    """Return one answer as a document; design: the digest of its design."""
    return {"tacit": 1, "kind": KIND, "design": design, "answer": answer, "token": token}


@dataclass(frozen=True)
class Responses:
    """Answers to one design, with the random token of each.

    >>> from tacit.local import Warner
    >>> coin = Warner(epsilon=1)
    >>> found = Responses.of(coin, [coin.response(True) for _ in range(3)])
    >>> len(found.answers)
    3
    """

    design: ResponseDesign
    answers: tuple[Any, ...]
    tokens: tuple[str, ...]

    @classmethod
    def of(cls, design: ResponseDesign, documents: Iterable[Mapping[str, Any]]) -> Responses:
        """Return the answers of documents, as `design.response` makes them; QueryError Q161, Q162 as `load`."""
        return cls._made(design, [("a document", one) for one in documents])

    @classmethod
    def load(cls, design: ResponseDesign, paths: Iterable[str | Path]) -> Responses:
        """Read files: each one response, or several under "responses".

        Raises QueryError Q162 for a response of another design, a damaged one, or one that was counted already, by its
        token (a file read twice); Q161 for what is no answer; ReleaseError R03, R01 for a file that is no JSON.
        """
        found: list[tuple[str, Mapping[str, Any]]] = []
        for path in paths:
            words = read_json(path)
            listed = words.get("responses", [words])
            if not isinstance(listed, list) or not all(isinstance(one, Mapping) for one in cast("list[Any]", listed)):
                raise QueryError(f"{short(path)} has no responses.", code="Q162", hint="files of responses")
            found += [(short(path), one) for one in cast("list[Mapping[str, Any]]", listed)]
        return cls._made(design, found)

    @classmethod
    def _made(cls, design: ResponseDesign, found: list[tuple[str, Mapping[str, Any]]]) -> Responses:
        seen: dict[str, str] = {}
        answers: list[Any] = []
        for place, words in found:
            token = words.get("token")
            if words.get("kind") != KIND or "answer" not in words or not _is_token(token):
                raise QueryError(f"{place} is no response.", code="Q162", hint="what the survey's page saved")
            if words.get("design") != design.digest:
                text = f"{place} answers another design, other levels or another question than {design.name}."
                raise QueryError(text, code="Q162", hint="the design with which the page was made, with its question")
            assert isinstance(token, str)
            if token in seen:
                text = f"a response of {place} was counted already, from {seen[token]}."
                raise QueryError(text, code="Q162", hint="each file once")
            seen[token] = place
            design.supports(words["answer"])  # Q161 for what is no answer
            answers.append(words["answer"])
        return cls(design, tuple(answers), tuple(seen))

    def save(self, path: str | Path) -> None:
        """Write all of them as one file, in the order of their tokens, so that it does not tell who came when.

        Raises ReleaseError R07 where it cannot be written.
        """
        each = sorted(zip(self.tokens, self.answers, strict=True), key=lambda one: one[0])
        words = {
            "tacit": 1,
            "kind": "local-responses",
            "responses": [response_document(self.design.digest, answer, token) for token, answer in each],
        }
        write_text(path, canonical(words) + "\n")


def _is_token(token: object) -> bool:
    return isinstance(token, str) and len(token) == TOKEN and all(one in "0123456789abcdef" for one in token)
