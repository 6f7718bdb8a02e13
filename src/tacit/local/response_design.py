"""`ResponseDesign`: one question asked at one ε of everybody: answers, estimates, plans, the page to hand out."""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import Any, cast

from tacit.base.arguments import plain
from tacit.base.json_text import canonical, write_text
from tacit.base.table import Table
from tacit.errors import FileError, QueryError
from tacit.estimates.normal_estimate import NormalEstimate
from tacit.local import logistic_responses, survey_page
from tacit.local.channel import Channel
from tacit.local.mechanism_respond import respond
from tacit.local.plan import LocalPlan, local_plan
from tacit.local.response_estimate import ResponseEstimate, estimated
from tacit.local.responses import response_document
from tacit.local.thresholds import GRID, growth
from tacit.privacy.exact_numbers import plain as exact_text


@dataclass(frozen=True)
class ResponseDesign:
    """A public design: its name, its levels, ε of one answer, and the channel by which answers are drawn.

    Made by `Warner`, `ForcedResponse`, `KaryResponse`, `UnaryEncoding` or `SubsetSelection`.  Everything about it is
    public, and everybody can audit it.

    >>> from tacit.local import Warner
    >>> coin = Warner(epsilon=1)
    >>> print(coin)
    Warner · yes, no · ε = 1 each answer
    >>> coin.largest_ratio < 2.718281828459046
    True
    """

    name: str
    levels: tuple[Any, ...]
    epsilon: Fraction
    channel: Channel
    question: str | None = None
    """The question as it is asked, part of the digest; None where it is not said, as in designs of earlier versions."""

    def asking(self, question: str) -> ResponseDesign:
        """Return the design of one question: files of responses to another question are not read as answers to it.

        Raises QueryError Q163 for a question that is none.

        >>> from tacit.local import Warner
        >>> coin = Warner(epsilon=1)
        >>> coin.asking("Have you ever cheated?").digest == coin.asking("Have you ever been cheated?").digest
        False
        """
        return replace(self, question=survey_page.checked_question(question))

    @property
    def binary(self) -> bool:
        """Whether answers are True and False."""
        return self.name in ("Warner", "ForcedResponse")

    @property
    def terms(self) -> tuple[str, ...]:
        """The levels of which shares are estimated: "yes" alone of a yes or no."""
        return ("yes",) if self.binary else tuple(str(one) for one in self.levels)

    @property
    def largest_ratio(self) -> float:
        """The largest likelihood ratio of any answer under any two levels, computed exactly: at most e^ε."""
        return float(self.channel.largest_ratio())

    @property
    def digest(self) -> str:
        """SHA-256 of the design and its question, by which files of responses say what they answer."""
        return hashlib.sha256(canonical(self.to_dict()).encode()).hexdigest()

    def respond(self, truth: Any) -> Any:
        """Return one person's randomised answer; it costs that person ε, each time.

        truth: a level, or True and False of a yes or no.  Drawn from the operating system's generator, and not kept.
        The answer is a level (`KaryResponse`), True or False, or a tuple of levels.  Raises QueryError Q161 for no
        level.
        """
        return self._answer(respond(self.channel, self._number(truth)))

    def response(self, truth: Any) -> Mapping[str, Any]:
        """Return one person's answer as a document for a file of responses, with a random token: see `Responses`.

        The token tells two answers apart and nothing about anybody.  Raises QueryError Q161 as `respond`.
        """
        answer = self.respond(truth)
        shown = list(cast("tuple[Any, ...]", answer)) if isinstance(answer, tuple) else answer
        return response_document(self.digest, shown, secrets.token_hex(16))

    def supports(self, answer: Any) -> tuple[int, ...]:
        """Return the levels, by number, that an answer supports; QueryError Q161 for what is none."""
        if self.channel.kind == "choice":
            return (self._number(answer),)
        if isinstance(answer, str) or not isinstance(answer, Sequence):
            text = f"an answer of {self.name} is a set of levels."
            raise QueryError(text, code="Q161", hint=f"({self.levels[0]!r},)")
        found = tuple(sorted({self._number(one) for one in cast("Sequence[Any]", answer)}))
        wrong = len(found) != len(cast("Sequence[Any]", answer))
        if wrong or (self.channel.kind == "subset" and len(found) != self.channel.size):
            many = f"{self.channel.size:,} different levels" if self.channel.kind == "subset" else "levels, each once"
            raise QueryError(f"an answer of {self.name} is a set of {many}.", code="Q161", hint="design.respond(level)")
        return found

    def estimate(
        self, answers: Any, *, by: Sequence[Any] | None = None, weights: Sequence[float] | None = None
    ) -> ResponseEstimate:
        """Return shares of the levels among those of whom the answers are a sample, with both errors.

        answers: a list of answers, or `Responses`.  by: a group for each answer, known in the clear.  weights: of a
        survey, one for each answer, known in the clear.  Raises QueryError Q161 for what is no answer, Q163 for groups
        or weights that do not fit.

        >>> from tacit.local import KaryResponse
        >>> survey = KaryResponse(["a", "b", "c"], epsilon=2)
        >>> survey.estimate(["a"] * 500 + ["b"] * 300 + ["c"] * 200).value.round(3).to_dict()
        {'a': 0.578, 'b': 0.284, 'c': 0.137}
        """
        return estimated(self, answers, by, weights)

    def logistic(self, formula: str, frame: Any) -> NormalEstimate:
        """Return a logistic regression of a randomised yes or no on columns that are known in the clear.

        formula: "answer ~ age + sex", its left side the column of answers.  frame: a pandas DataFrame.  By maximum
        likelihood of P(answer yes) = q + (p - q) logistic(x'b).  Raises QueryError Q163.
        """
        return logistic_responses.fit(self, formula, frame)

    def plan(self, rows: int, *, share: float = 0.5, level: float = 0.95) -> LocalPlan:
        """Return the expected precision of the share of one level among `rows` answers, beside a curator's noise.

        share: what the level's share may be.  Raises QueryError Q163, InferenceError I01.

        >>> from tacit.local import Warner
        >>> plan = Warner(epsilon=1).plan(10_000, share=0.1)
        >>> round(plan.std_error, 4), round(plan.central, 4)
        (0.0101, 0.003)
        """
        return local_plan(self, rows, share, level)

    def page(self, path: str | Path, *, question: str | None = None) -> None:
        """Write the page that a survey hands out: one HTML file without network that makes one answer in a browser.

        question: as it is asked, where the design does not say it; the page's answers are then read by the design
        `asking(question)`.  The answer is drawn there and shown; the true one is kept nowhere.  Raises QueryError Q163
        for no question, or another than the design's, FileError F10 for another suffix than .html, ReleaseError R07
        where the file cannot be written.
        """
        own = self if question is None and self.question is not None else self.asking(cast(str, question))
        if self.question is not None and own.question != self.question:
            text = "the page would ask another question than its design."
            raise QueryError(text, code="Q163", hint="design.asking(question).page(path)")
        if Path(path).suffix.lower() != ".html":
            raise FileError(f"{path} is no page.", code="F10", hint="survey.html")
        write_text(path, survey_page.html(own))

    def audit(self) -> Table:
        """Return the table of probabilities, exact multiples of 2^-48, and the largest likelihood ratio."""
        one = self.channel
        rows = (
            ("an answer supports the own level, p", exact_text(one.own, 6)),
            ("an answer supports another level, q", exact_text(one.wrong, 6)),
            ("largest likelihood ratio", exact_text(one.largest_ratio(), 6)),
            ("e^ε", exact_text(growth(self.epsilon), 6)),
        )
        return Table(
            str(self),
            ("", "value"),
            rows,
            (f"probabilities are multiples of 1/{GRID}, rounded for privacy; shown rounded up",),
        )

    def to_dict(self) -> Mapping[str, Any]:
        """Return plain values."""
        one = self.channel
        words = {"kind": one.kind, "truth": str(one.truth), "other": str(one.other), "size": one.size}
        made = {"design": self.name, "levels": list(self.levels), "epsilon": str(self.epsilon), "channel": words}
        # left out where it is not said, so that digests of earlier versions stay
        return made if self.question is None else {**made, "question": self.question}

    def _number(self, level: Any) -> int:
        """Return the number of a level; QueryError Q161, which never repeats what may be somebody's true answer."""
        value = plain(level)
        if self.binary:
            if value is True or value is False:
                return 0 if value else 1
            raise QueryError(f"an answer of {self.name} is True or False.", code="Q161", hint="True, for yes")
        for i, one in enumerate(self.levels):
            if type(one) is type(value) and one == value:
                return i
        # no nearest level either: it would repeat most of the answer
        shown = ", ".join(repr(one) for one in self.levels[:8]) + (", …" if len(self.levels) > 8 else "")
        raise QueryError(f"a level was given that {self.name} does not have.", code="Q161", hint=f"one of {shown}")

    def _answer(self, supported: tuple[int, ...]) -> Any:
        if self.binary:
            return supported[0] == 0
        found = tuple(self.levels[i] for i in supported)
        return found[0] if self.channel.kind == "choice" else found

    def __str__(self) -> str:
        named = ", ".join(str(one) for one in self.levels[:6]) + (", …" if len(self.levels) > 6 else "")
        return f"{self.name} · {named} · ε = {float(self.epsilon):.6g} each answer"
