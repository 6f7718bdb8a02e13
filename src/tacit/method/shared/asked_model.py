"""The model of a question: the model itself, and the plain values that a file stores of it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, cast

from tacit.base.arguments import described
from tacit.base.json_text import is_text
from tacit.errors import QueryError

if TYPE_CHECKING:
    from tacit.models.block_function import Statistic
    from tacit.models.likelihood import Likelihood


SEEN: Final[dict[str, Any]] = {}
"""Custom models that questions of this process used, by their stored text, which has a digest of the log-density."""


MOST_SEEN: Final = 64
"""Most custom models that are remembered; the oldest is dropped first."""


@dataclass(frozen=True)
class AskedModel:
    """A question's model: its stored text, and the model itself, which a question read from a file may lack.

    >>> from tacit.families import Exponential
    >>> AskedModel.of(Exponential(rate=(0.1, 10))).words
    {'family': 'Exponential', 'rate': [0.1, 10.0]}
    """

    text: str
    law: Likelihood | Statistic | None = field(compare=False, repr=False, default=None)

    @property
    def words(self) -> dict[str, Any]:
        """The stored JSON values: the family with its boxes; of a custom log-density, what identifies it."""
        return json.loads(self.text)

    @classmethod
    def of(cls, given: Any, whose: str = "model of SampleAndAggregate") -> AskedModel:
        """Return it from a family, a `tacit.Model`, a `tacit.Statistic`, or their JSON; QueryError Q95, ModelError."""
        if isinstance(given, AskedModel):
            return given
        made = cls._of(given, whose)
        # a lone surrogate cannot be written as UTF-8, so that the question could not be stored
        if not is_text(made.text):
            raise QueryError(f"{whose}: a name in it holds half a character.", code="Q95", hint="names of letters")
        return made

    @classmethod
    def _of(cls, given: Any, whose: str) -> AskedModel:
        from tacit.models.block_function import Statistic, from_words
        from tacit.models.custom import Model
        from tacit.models.family import Family
        from tacit.models.family_registry import family

        if isinstance(given, Mapping):
            words = dict(cast("Mapping[str, Any]", given))
            if words.get("family") == "Model":  # its function is not in the file
                return cls(_canonical(words), SEEN.get(_canonical(words)))
            given = from_words(words) if words.get("family") == "Statistic" else family(words)
            if given is None:  # nor is the function of a statistic
                return cls(_canonical(words))
        if isinstance(given, Family | Statistic):
            return cls(_canonical(given.words()), given)
        if isinstance(given, Model):
            from tacit.models.density_digest import words_of

            made = cls(_canonical(words_of(given)), given)
            if len(SEEN) >= MOST_SEEN:
                del SEEN[next(iter(SEEN))]  # dicts keep their order: the oldest model
            SEEN[made.text] = given
            return made
        text = f"{whose}: {described(given)} is no model."
        raise QueryError(text, code="Q95", hint="tc.families.Gamma(shape=(0.5, 5), rate=(0.01, 1)), or tc.Model(…)")


def _canonical(words: Mapping[str, Any]) -> str:
    # sorted keys: one text for equal models, which are compared and looked up in SEEN by it; NaN is no JSON
    return json.dumps(words, sort_keys=True, ensure_ascii=False, allow_nan=False)
