"""Sets of synthetic rows, and what any analysis of rows says of the people behind a release.  Post-processing.

Sets are of two kinds: `frames`, each drawn from a table that the truth may have been (noise and sampling drawn once
more), and `plain`, drawn from the released table as it is.  How an analysis of all of them is combined:
`synthetic_rules`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Protocol, cast

import numpy as np

from tacit.base.arguments import described
from tacit.base.arrays import Array
from tacit.base.lazy_imports import pandas, special
from tacit.base.table import Table, format_interval, format_number, shown_by_summary
from tacit.errors import InferenceError, TacitError
from tacit.estimates.labelled import Labels
from tacit.estimates.synthetic.synthetic_rules import combined
from tacit.estimates.terms import Target, check_level
from tacit.privacy import Cost
from tacit.release.document import Released

if TYPE_CHECKING:
    import pandas as pd  # pyright: ignore[reportMissingTypeStubs]

EXAMPLE: Final = "sets.analyse(lambda rows: rows.groupby('sex', observed=True).pay.mean())"


class Frames(Protocol):
    """Data frames that are drawn anew, the same each time, whenever they are asked for: they may be many and long."""

    def __len__(self) -> int: ...

    def __iter__(self) -> Iterator[pd.DataFrame]: ...

    def __getitem__(self, place: int) -> pd.DataFrame: ...

    @property
    def rows(self) -> int:
        """Number of rows in each."""
        ...


@shown_by_summary
@dataclass(frozen=True, repr=False)
class SyntheticSets:
    """Sets of synthetic rows from one release, all free.

    Attributes
    ----------
    release: the release that they are drawn from.
    frames: a sequence of data frames, each drawn from a table that the truth may have been.
    plain: a sequence of data frames drawn from the released table as it is.
    target: "population", or "table": what the analyses' errors are about.
    reason: why no analysis of them is to be believed, or None.
    notes: what the sets keep of the release, in words.

    >>> import numpy as np, tacit as tc
    >>> rng = np.random.default_rng(0)
    >>> pay = rng.normal(5, 1, 4_000).clip(0, 10)
    >>> table = {"pay": pay, "late": rng.random(4_000) < 0.1 + 0.05 * pay}
    >>> schema = tc.Schema({"pay": tc.Real(0, 10), "late": tc.Boolean()})
    >>> curator = tc.Curator(table, schema, budget=tc.Budget(rho=1))
    >>> cells = curator.release(tc.Histogram(["pay", "late"], bins=10), rho=1)
    >>> sets = cells.synthetic_sets(20, rng=0)
    >>> found = sets.analyse(lambda rows: rows.groupby("late").pay.mean().diff().iloc[-1])
    >>> low, high = found.conf_int(0.9999)
    >>> len(sets), low < 0.22 < high, found.std_error < 0.1
    (20, True, True)
    """

    release: Released
    frames: Frames
    plain: Frames
    target: Target
    reason: str | None
    notes: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.frames)

    def analyse(self, analysis: Callable[[pd.DataFrame], Any]) -> SyntheticEstimate:
        """Return what an analysis of rows says of the people, with noise, sampling and the drawing in its errors.

        analysis: gets a frame, and gives a number, several by name (a dict or pandas Series) or a fitted model with
        `params` (statsmodels).  It is called once for every set.  It sees what the sets keep of the release (`notes`).
        InferenceError I86 for an analysis that fails or gives no numbers, or not the same terms each time.
        """
        if not callable(analysis):
            text = f"{described(analysis)} is no function of a frame."
            raise InferenceError(text, code="I86", hint=EXAMPLE, state=None)
        names, plain = _analysed(analysis, self.plain, None)
        names, drawn = _analysed(analysis, self.frames, names)
        found = combined(plain, drawn)
        reasons = tuple(self.reason or why for why in found.reasons)
        return SyntheticEstimate(
            self.release, names, found.values, found.std_errors, found.sides, found.df, found.bias, reasons, self.notes
        )

    def summary(self, level: float = 0.95) -> Table:
        """Return how many sets there are and what they keep, as a table; nothing in it depends on the level."""
        from tacit.estimates.display import facts, people_words

        check_level(level)
        rows = (
            ("from tables that the truth may have been", f"{len(self.frames)}", f"{self.frames.rows:,}"),
            ("from the released table as it is", f"{len(self.plain)}", f"{self.plain.rows:,}"),
        )
        why = (self.reason,) if self.reason else ()
        title = f"Synthetic sets · {people_words(self.release)}"
        notes = (*why, *self.notes, facts(self.release))
        return Table(title, ("", "sets", "rows in each"), rows, notes, ("left", "right", "right"))


def _analysed(
    analysis: Callable[[pd.DataFrame], Any], frames: Frames, names: tuple[str, ...] | None
) -> tuple[tuple[str, ...], Array]:
    """Return names of the terms and their values, shape (sets, m); InferenceError I86."""
    found = list[Array]()
    for frame in frames:
        try:
            own, values = _numbers(analysis(frame))
        except TacitError:
            raise
        except Exception as problem:
            text = f"the analysis fails for a set of rows ({type(problem).__name__}: {problem})."
            raise InferenceError(text, code="I86", hint=EXAMPLE, state=None) from problem
        names = own if names is None else names
        if own != names:
            text = f"the analysis gives {', '.join(own)} for one set, and {', '.join(names)} for another."
            raise InferenceError(text, code="I86", hint="the same terms for every set", state=None)
        found.append(values)
    assert names is not None
    return names, np.array(found)


def _numbers(given: Any) -> tuple[tuple[str, ...], Array]:
    """Return names and values of what an analysis gives; TypeError for what are no numbers."""
    given = getattr(given, "params", given)
    if hasattr(given, "items"):
        pairs = list(cast("Mapping[Any, Any]", given).items())
        names, values = tuple(str(name) for name, _ in pairs), [value for _, value in pairs]
    elif np.ndim(given):
        values = list(cast("Iterable[Any]", given))
        names = tuple(f"{i + 1}" for i in range(len(values)))
    else:
        names, values = ("analysis",), [given]
    if not names or any(isinstance(value, str | bytes | complex) or np.ndim(value) for value in values):
        raise TypeError("no numbers")
    return names, np.array([float(value) for value in values])


@shown_by_summary
@dataclass(frozen=True, repr=False)
class SyntheticEstimate:
    """What an analysis of synthetic sets says of the people behind the release.

    Attributes
    ----------
    terms, values, std_errors, df: of m terms; limits are those of Student's t with `df` degrees of freedom.
    sides: standard errors of the lower and of the upper limit, shape (m, 2): what the truth may be lies unevenly around
    an estimate where the analysis is curved, as a share is by a spread.
    bias: by how much noise and sampling once more move the analysis, in its units; its square is in the errors.
    reasons: why a term has no interval, in words, or None.
    notes: what the sets keep of the release.
    """

    release: Released
    terms: tuple[str, ...]
    values: Array
    std_errors: Array
    sides: Array
    df: Array
    bias: Array
    reasons: tuple[str | None, ...]
    notes: tuple[str, ...]

    def intervals(self, level: float = 0.95) -> Array:
        """Return lower and upper limits, shape (m, 2), the whole line where there is a reason; InferenceError I01."""
        away = special().stdtrit(self.df, 0.5 + check_level(level) / 2)[:, None] * self.sides
        away = np.where([[why is not None] for why in self.reasons], np.inf, away)
        center = np.where(np.isfinite(self.values), self.values, 0.0)
        return center[:, None] + away * np.array([-1.0, 1.0])

    @property
    def value(self) -> Any:  # float, or Series
        """The estimates: a float for one term, else a Series."""
        return self._labels.numbers(self.values, "estimate")

    @property
    def std_error(self) -> Any:  # float, or Series
        """Standard errors: noise, sampling, bias and the drawing of rows together."""
        return self._labels.numbers(self.std_errors, "std_error")

    @property
    def reason(self) -> Any:  # str | None, or Series
        """Why there is no interval, in words, or None."""
        return self._labels.reasons(self.reasons)

    def conf_int(self, level: float = 0.95) -> Any:  # (float, float), or DataFrame
        """Confidence interval: a (lower, upper) pair for one term, else a DataFrame; InferenceError I01 (level)."""
        return self._labels.pairs(self.intervals(level))

    @property
    def cost(self) -> Cost:
        """What the release cost; synthetic rows cost nothing more."""
        return self.release.cost

    def __len__(self) -> int:
        return len(self.terms)

    def summary(self, level: float = 0.95) -> Table:
        """Estimates, standard errors and intervals, as a table; InferenceError I01 (level)."""
        from tacit.estimates.display import decimals, facts, people_words, percent

        limits = self.intervals(level)
        rows: list[tuple[object, ...]] = []
        for i, term in enumerate(self.terms):
            if self.reasons[i]:
                rows.append((term, "–", "–", "–"))
                continue
            digits = decimals(self.std_errors[i : i + 1])
            value, error = (format_number(float(one[i]), decimals=digits) for one in (self.values, self.std_errors))
            rows.append((term, value, error, format_interval(*map(float, limits[i]), decimals=digits)))
        columns = ("", "estimate", "std. error", f"{percent(level)} interval")
        why = dict.fromkeys(reason for reason in self.reasons if reason)
        title = f"Analysis of synthetic sets · {people_words(self.release)}"
        notes = (*why, *self.notes, facts(self.release))
        return Table(title, columns, tuple(rows), notes, ("left", "right", "right", "right"))

    def to_frame(self, level: float = 0.95) -> pd.DataFrame:
        """estimate, std_error, lower, upper, df, bias, reason: a frame by term; InferenceError I01 (level)."""
        found = self.intervals(level)
        columns = {
            "estimate": self.values,
            "std_error": self.std_errors,
            "lower": found[:, 0],
            "upper": found[:, 1],
            "df": self.df,
            "bias": self.bias,
            "reason": [reason or "" for reason in self.reasons],
        }
        return pandas().DataFrame(columns, index=self._labels.index)

    @property
    def _labels(self) -> Labels:
        return Labels(self.terms)
