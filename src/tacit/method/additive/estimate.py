"""The release of a user's additive statistic: its noisy sums, and what the user's function makes of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, cast

from tacit.base.table import Table, shown_by_summary
from tacit.errors import QueryError
from tacit.estimates.estimate import Estimate
from tacit.estimates.terms import Target, check_target
from tacit.method.additive.estimate_sums import AdditiveSums, Function, estimated, sums_of
from tacit.method.additive.query import Additive
from tacit.method.additive.statistic import AdditiveStatistic, defined
from tacit.release.document import Release, Released


@shown_by_summary
@dataclass(frozen=True, repr=False)
class AdditiveRelease(Release):
    """A release of a statistic of `tacit.extend.additive`.  It opens without the user's functions, and shows its sums.

    >>> import tacit as tc
    >>> capped = tc.extend.additive(
    ...     "capped-sum", rows=lambda column, cap: [tc.col(column).clip(0, cap)],
    ...     estimate=lambda release: release.integers[0],
    ... )
    >>> schema, query = tc.Schema({"educ": tc.Integer(0, 20)}), capped(column="educ", cap=12)
    >>> tc.testing.contract(query, schema, tables=36, draws=20_000).passed
    True
    >>> table = {"educ": [8, 12, 16] * 100}
    >>> curator = tc.Curator(table, schema, budget=tc.Budget(epsilon=1), trust=[capped])
    >>> found = curator.release(query, epsilon=1).estimate()
    >>> found.terms, abs(found.value - 3_200) < 40 * 12, 0 < found.privacy_share < 1
    (('capped-sum',), True, True)
    """

    kind: ClassVar[str] = "additive"

    @property
    def sums(self) -> tuple[AdditiveSums, ...]:
        """The noisy sums, one entry for each of `cells`: what the user's function gets, one after the other."""
        return sums_of(self)

    def estimate(self, target: Target | None = None, *, statistic: AdditiveStatistic | None = None) -> Estimate:
        """Return what the statistic's own function makes of the sums, with its errors.

        target: "population", "table", or None: the population where second moments were released, else the table.
        statistic: the statistic, where this program has not defined it.  Errors are by the delta method, exact where
        the function is linear in the sums.
        InferenceError I09 (target), QueryError Q286: the statistic is not defined here, its function fails or gives no
        finite numbers, or the release has no second moments for the population.
        """
        return estimate(self, target, statistic)

    def totals(self, target: Target | None = None) -> Estimate:
        """Return the sums themselves, one term an expression (and cell), with their errors; no function is needed.

        InferenceError I09, QueryError Q286 as for `estimate`.
        """
        return estimated(self, _target(self, target), None)

    def summary(self, level: float = 0.95) -> Table:
        """Return the estimates as a table; the sums where this program has not defined the statistic."""
        known = defined(cast(Additive, self.query))
        return (self.totals() if known is None else self.estimate()).summary(level)

    def plot(self, ax: Any = None) -> Any:
        """Plot the estimates, as `summary` shows them; InferenceError I20 without matplotlib."""
        known = defined(cast(Additive, self.query))
        return (self.totals() if known is None else self.estimate()).plot(ax=ax)


def estimate(
    release: Released, target: Target | None = "population", statistic: AdditiveStatistic | None = None
) -> Estimate:
    """Return the estimate of a release, real or simulated; of the sums where the statistic has no function."""
    # simulations and plans ask for the population; a statistic without second moments has the table alone
    real = isinstance(release, Release)
    query = cast(Additive, release.query)
    own = _target(release, target if real or query.moments else "table")
    if not real and statistic is None and defined(query) is None:
        return estimated(release, own, None)
    return estimated(release, own, _function(query, statistic))


def _target(release: Released, target: Target | None) -> Target:
    """Return what is estimated; InferenceError I09, QueryError Q286 for the population without second moments."""
    query = cast(Additive, release.query)
    if target is None:
        return "population" if query.moments else "table"
    check_target(target)
    if target == "population" and not query.moments:
        text = f"{query.statistic!r} was released without second moments: the error of sampling is not known."
        raise QueryError(text, code="Q286", hint='estimate("table"), or moments=True in a new release', state=None)
    return target


def _function(query: Additive, statistic: AdditiveStatistic | None) -> Function | None:
    """Return the user's function, None where the statistic has none; QueryError Q286 where it is not to be found."""
    found = defined(query) if statistic is None else statistic
    if found is None or found.name != query.statistic or not found.makes(query):
        what = "has not been defined in this program" if found is None else "makes another question of these arguments"
        text = f"the statistic {query.statistic!r} {what}; its sums are known without it."
        hint = f'release.totals(), or tc.extend.additive("{query.statistic}", …) as when it was bought'
        raise QueryError(text, code="Q286", hint=hint, state=None)
    return None if found.estimate is None else Function(found.name, found.estimate)
