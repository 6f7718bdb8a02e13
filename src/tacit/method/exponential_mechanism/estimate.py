"""The release of a selected candidate: its name, and how far below the best its utility may be."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, cast

from tacit.base.lazy_imports import pandas
from tacit.base.table import Table, shown_by_summary
from tacit.estimates.terms import Target, check_level, check_target
from tacit.estimates.wording import title
from tacit.method.exponential_mechanism.design import bound
from tacit.release.document import Release, Released
from tacit.release.parts import Variable, cell_labels

if TYPE_CHECKING:
    import pandas as pd  # pyright: ignore[reportMissingTypeStubs]


@shown_by_summary
@dataclass(frozen=True, repr=False)
class SelectedCandidateRelease(Release):
    """A release of ExponentialMechanism.

    >>> import tacit as tc
    >>> schema = tc.Schema({"pet": tc.Category(["cat", "dog", "none"])})
    >>> table = {"pet": ["cat"] * 900 + ["dog"] * 400 + ["none"] * 700}
    >>> curator = tc.Curator(table, schema, budget=tc.Budget(epsilon=1))
    >>> curator.release(tc.ExponentialMechanism("pet"), epsilon=1).estimate().value
    'cat'
    """

    kind: ClassVar[str] = "selected-candidate"

    def estimate(self, target: Target = "population") -> SelectedCandidate:
        """Return the candidate; the target changes nothing (InferenceError I09)."""
        return estimate(self, target)

    def summary(self, level: float = 0.95) -> Table:
        """Return the candidate as a table; InferenceError I01."""
        return self.estimate().summary(level)


@shown_by_summary
@dataclass(frozen=True, repr=False)
class SelectedCandidate:
    """The selected candidate: `value`, its name; `place`, its number among `candidates`, in order of names (cells).

    There is no standard error and no interval, since a name has none, nor is the utility released; what is known from
    public facts is `bound`.
    """

    release: Released
    value: str
    place: int
    candidates: tuple[str, ...]

    def bound(self, level: float = 0.95) -> float:
        """Return how far below the best its utility is at most, with a probability of `level`, in units of the utility.

        Known before the release, and for every table: it counts on one candidate alone to be the best (a ball of one).
        Sampling has no part in it.  InferenceError I01.  Source: McSherry & Talwar 2007, lemma 7.
        """
        part = self.release.parts[0]
        return bound(part.law, len(self.candidates), check_level(level)) / part.parameters.get("share", 1)

    def to_frame(self, level: float = 0.95) -> pd.DataFrame:
        """Return a pandas DataFrame of one row: candidate, below_best_at_most; InferenceError I01."""
        return pandas().DataFrame({"candidate": [self.value], "below_best_at_most": [self.bound(level)]})

    def summary(self, level: float = 0.95) -> Table:
        """Return a table of the candidate and the bound; InferenceError I01."""
        from tacit.estimates.display import facts, people_words, percent

        query: Any = self.release.query
        unit = "rows" if query.utility == "ks" or not query.candidates else "of utility"
        rows = ((self.value, f"{self.bound(level):,.4g} {unit}"),)
        many = (
            f"one of {len(self.candidates):,} candidates; the bound holds for every table, and utilities are not told"
        )
        heading = f"{title(self.release)} · {people_words(self.release)}"
        columns = ("selected", f"below the best, at most ({percent(level)})")
        return Table(heading, columns, rows, (many, facts(self.release)), ("left", "right"))


def estimate(release: Released, target: Target = "population") -> SelectedCandidate:
    """Return the candidate of a release, real or simulated."""
    check_target(target)
    query: Any = release.query
    variables: tuple[Variable, ...] = cast(Any, release).variables
    cells = cell_labels(tuple((one.name, one.labels) for one in variables))
    names = tuple(name for name, _ in query.candidates) or cells
    place = release.parts[0].integers[0][0]
    return SelectedCandidate(release, names[place], place, names)
