"""`ResponseEstimate`: shares of levels from randomised answers, with both errors and intervals of the exact law."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias, cast

import numpy as np

from tacit.base.arguments import described
from tacit.base.arrays import Array
from tacit.base.lazy_imports import pandas, special
from tacit.base.table import Table, format_interval, format_number, shown_by_summary
from tacit.errors import InferenceError, QueryError
from tacit.estimates.labelled import Labels
from tacit.estimates.normal_estimate import NormalEstimate
from tacit.estimates.terms import Target, check_level, place_of
from tacit.estimates.verbs.constraints import matrix_of
from tacit.estimates.verbs.contrasts import Test
from tacit.local.answer_counts import AnswerCounts, counted
from tacit.local.binomial_limits import limits, mid_p_value
from tacit.local.plan import curators_noise
from tacit.local.response_facts import ResponseFacts

if TYPE_CHECKING:
    import pandas as pd  # pyright: ignore[reportMissingTypeStubs]

    from tacit.local.response_design import ResponseDesign

Method: TypeAlias = Literal["mid-p", "exact", "randomised", "normal"]
METHODS: Final = ("mid-p", "exact", "randomised", "normal")
MOST: Final = 2_000
"""Most terms of which all covariances are made."""


@shown_by_summary
@dataclass(frozen=True, repr=False)
class ResponseEstimate:
    """Shares of the levels among those of whom the answers are a sample; made by `ResponseDesign.estimate`.

    terms: the levels; groups where there are any: "f", or "f:once" of several levels.  values: unbiased, so that a rare
    level's may be below 0; intervals are within 0 and 1.  sampling_variances, privacy_variances, shape (m,): of drawing
    the people, and of their answers given them.  target: "population", or "table", the people who answered, for whom
    the answers' own randomness is all the error.

    >>> from tacit.local import Warner
    >>> found = Warner(epsilon=1).estimate([True] * 600 + [False] * 400, by=["f", "m"] * 500)
    >>> found.terms, bool((found.privacy_variances > found.sampling_variances).all())
    (('f', 'm'), True)
    """

    design: ResponseDesign
    terms: tuple[str, ...]
    groups: tuple[AnswerCounts, ...]
    values: Array
    sampling_variances: Array
    privacy_variances: Array
    target: Target = "population"

    @property
    def weighted(self) -> bool:
        """Whether answers had weights: intervals are then those of the normal law."""
        return self.groups[0].weighted

    @property
    def answers(self) -> int:
        """How many answers were counted."""
        return sum(one.answers for one in self.groups)

    @property
    def std_errors(self) -> Array:
        """Standard errors, of both errors together, shape (m,)."""
        return np.sqrt(self.sampling_variances + self.privacy_variances)

    @property
    def value(self) -> Any:  # float, or Series
        """Point estimates: a float for one term, else a Series."""
        return self._labels.numbers(self.values, "estimate")

    @property
    def std_error(self) -> Any:  # float, or Series
        """Standard errors: a float for one term, else a Series."""
        return self._labels.numbers(self.std_errors, "std_error")

    @property
    def privacy_share(self) -> Any:  # float, or Series
        """Part of the variance that is the answers' own randomness."""
        return self._labels.numbers(self._shares, "privacy_share")

    def conf_int(self, level: float = 0.95, *, method: Method = "mid-p", rng: int | np.random.Generator = 0) -> Any:
        """Return a (lower, upper) pair for one term, else a DataFrame; limits lie within 0 and 1.

        method: "mid-p", near the level on average over shares, but below it at some and above it at others: 92.4% to
        99.1% for 95% of 50 answers, 94.5% to 95.8% from 1,000 on; "exact", at least the level always, often more
        [Clopper & Pearson 1934]; "randomised", exactly the level at every share, by one more random number [Stevens
        1950], from the seed `rng`; "normal", as weighted answers and target="table" have it whatever is asked.

        Answers are counted in whole numbers: limits that follow from the count alone cover a share with a probability
        that jumps as the share moves, and none of them are at the level for all shares.  Only "randomised" ones are;
        another seed gives other limits, so choose it before the answers are looked at.

        Raises InferenceError I01 for a level, I08 for a method.
        """
        return self._labels.pairs(self.intervals(level, method=method, rng=rng))

    def intervals(self, level: float = 0.95, *, method: Method = "mid-p", rng: int | np.random.Generator = 0) -> Array:
        """Return limits, shape (m, 2): see `conf_int`, and its errors I01, I08."""
        check_level(level)
        if method not in METHODS:
            text = f"method is {described(method)}: not one of {', '.join(METHODS)}."
            raise InferenceError(text, code="I08", hint='method="exact"', state=None)
        if self.weighted or self.target == "table" or method == "normal":
            half = float(special().ndtri(0.5 + level / 2)) * self.std_errors
            return np.clip(np.stack([self.values - half, self.values + half], axis=-1), 0.0, 1.0)
        part: float | Array = {"mid-p": 0.5, "exact": 1.0}.get(method, 0.0)
        if method == "randomised":
            part = np.random.default_rng(rng).random(len(self.terms))
        counts, sizes = self._counts
        shown = limits(counts, sizes, level, part)
        p, q = self._channel
        # λ = q + (p - q) π increases with π
        return np.clip((shown - q) / (p - q), 0.0, 1.0)

    def test(self, constraints: str) -> Test:
        """Test that a share is a number, "yes = 0.1", by its binomial law (mid-p); else as `NormalEstimate.test`.

        InferenceError I02, I03 for unknown terms and malformed text.
        """
        matrix, null = matrix_of(self.terms, constraints)
        places = np.flatnonzero(matrix[0])
        if len(matrix) > 1 or len(places) > 1 or self.weighted or self.target == "table":
            return self.normal.wald(matrix, null, constraints)
        at = int(places[0])
        counts, sizes = self._counts
        p, q = self._channel
        shown = q + (p - q) * float(null[0] / matrix[0, at])
        value = mid_p_value(int(counts[at]), int(sizes[at]), shown)
        z = float((self.values[at] - null[0] / matrix[0, at]) / self.std_errors[at])
        return Test(constraints, z, 1, value, "binomial law of the answers, two-sided, mid-p")

    def contrast(self, expression: str) -> NormalEstimate:
        """Return a linear combination, "`f` - `m`", with both errors, by the normal law; InferenceError I02, I03."""
        return self.normal.contrast(expression)

    @property
    def normal(self) -> NormalEstimate:
        """The same estimates with all covariances; InferenceError I05 for more than 2,000 terms."""
        if len(self.terms) > MOST:
            text = f"{len(self.terms):,} terms have too many covariances (at most {MOST:,} terms)."
            raise InferenceError(text, code="I05", hint="conf_int()", state=None)
        sampling, privacy = (np.zeros((len(self.terms),) * 2) for _ in range(2))
        width = len(self.terms) // len(self.groups)
        for i, group in enumerate(self.groups):
            here = slice(i * width, (i + 1) * width)
            sampling[here, here], privacy[here, here] = (one[:width, :width] for one in group.covariances())
        if self.target == "table":
            sampling[:] = 0.0
        known = (None,) * len(self.terms)
        facts = ResponseFacts(self.design, self.answers)
        words = (str(self.design), self._estimand, self.terms)
        return NormalEstimate(facts, *words, self.values, sampling, privacy, known, tested=False, target=self.target)

    def of_table(self) -> ResponseEstimate:
        """Return the shares among the people who answered: only their answers' randomness is error."""
        return replace(self, sampling_variances=np.zeros_like(self.values), target="table")

    def __getitem__(self, term: str) -> float:
        """Return the estimate of one term; InferenceError I02 for an unknown one."""
        return float(self.values[place_of(self.terms, term)])

    def __len__(self) -> int:
        return len(self.terms)

    def summary(self, level: float = 0.95, *, method: Method = "mid-p") -> Table:
        """Return the table; InferenceError I01, I08."""
        found, errors, shares = self.intervals(level, method=method), self.std_errors, self._shares
        rows = [
            (
                term,
                format_number(float(self.values[i]), decimals=4),
                format_number(float(errors[i]), decimals=4),
                format_interval(float(found[i, 0]), float(found[i, 1]), decimals=4),
                f"{100 * shares[i]:.0f} %",
            )
            for i, term in enumerate(self.terms)
        ]
        sizes = self._counts[1].tolist()
        noise = np.array([curators_noise(self.design, n, groups=len(self.groups)) for n in sizes])
        central = np.sqrt(self.sampling_variances + noise**2)
        times = float(np.median(errors / np.maximum(central, 1e-300)))
        notes = (
            f"shares {self._estimand}; privacy: the part of the variance that is the answers' own randomness",
            f"a trusted curator's noise at the same ε: standard errors {times:.3g} times smaller",
        )
        columns = ("", "estimate", "std. error", f"{100 * level:g}% interval", "of which privacy")
        return Table(f"{self.design} · {self.answers:,} answers", columns, tuple(rows), notes)

    def to_frame(self, level: float = 0.95, *, method: Method = "mid-p") -> pd.DataFrame:
        """Return estimate, std_error, lower, upper, privacy_share by term: a frame; InferenceError I01, I08."""
        found = self.intervals(level, method=method)
        columns = {"estimate": self.values, "std_error": self.std_errors, "lower": found[:, 0], "upper": found[:, 1]}
        return pandas().DataFrame({**columns, "privacy_share": self._shares}, index=self._labels.index)

    def plot(self, ax: Any = None) -> Any:
        """Plot normal intervals, total and sampling alone; InferenceError I20 without matplotlib, I05."""
        return self.normal.plot(ax)

    @property
    def _estimand(self) -> str:
        who = "the people who answered" if self.target == "table" else "those of whom the answers are a sample"
        return f"of the levels among {who}"

    @property
    def _channel(self) -> tuple[float, float]:
        return float(self.design.channel.own), float(self.design.channel.wrong)

    @property
    def _counts(self) -> tuple[Array, Array]:
        """Answers that support each term, and answers of its group, shape (m,)."""
        width = len(self.terms) // len(self.groups)
        counts = np.concatenate([one.supports[:width] for one in self.groups])
        return counts, np.repeat([float(one.answers) for one in self.groups], width)

    @property
    def _shares(self) -> Array:
        total = self.sampling_variances + self.privacy_variances
        return np.divide(self.privacy_variances, total, out=np.zeros_like(total), where=total > 0)

    @property
    def _labels(self) -> Labels:
        return Labels(self.terms)


def estimated(
    design: ResponseDesign, answers: Any, by: Sequence[Any] | None, weights: Sequence[float] | None
) -> ResponseEstimate:
    """Return the estimate; QueryError Q161 for what is no answer, Q163 for groups or weights that do not fit."""
    listed = getattr(answers, "answers", answers)
    if isinstance(listed, str) or not hasattr(listed, "__len__") or not hasattr(listed, "__iter__"):
        text = f"{described(answers)} is no list of answers."
        raise QueryError(text, code="Q163", hint="a list of design.respond(…), or Responses")
    if getattr(answers, "design", design) != design:
        raise QueryError("the responses answer another design.", code="Q163", hint="responses.design.estimate(…)")
    named = counted(design, list(cast("Sequence[Any]", listed)), by, weights)
    width = 1 if design.binary else len(design.levels)
    names = [group for group, _ in named]
    terms = tuple(_term(group, level, width) for group in names for level in design.terms)
    groups = tuple(one for _, one in named)
    variances = [one.variances() for one in groups]
    sampling, privacy = (np.concatenate([one[i][:width] for one in variances]) for i in (0, 1))
    values = np.concatenate([one.shares[:width] for one in groups])
    return ResponseEstimate(design, terms, groups, values, sampling, privacy)


def _term(group: str | None, level: str, width: int) -> str:
    """Return the label of a group's level: of a yes or no, that of the group."""
    return level if group is None else group if width == 1 else f"{group}:{level}"
