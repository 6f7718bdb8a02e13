"""Questions for the sufficient statistics of an exponential family.  No data here."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar, Final, cast

from tacit.base.arguments import described
from tacit.errors import QueryError
from tacit.method.shared.asked_model import AskedModel
from tacit.method.shared.block_numbers import price_of_one, published_blocks
from tacit.privacy import Cost
from tacit.release.query import Needed, Query
from tacit.release.query_checks import column, condition

if TYPE_CHECKING:
    from tacit.method.sufficient_statistics.estimate import SufficientStatisticsRelease  # noqa: F401
    from tacit.models.sufficient_statistics import SufficientStatistic

METHODS: Final = ("direct", "chen-sung")


@dataclass(frozen=True)
class SufficientStatistics(Query["SufficientStatisticsRelease"]):
    """Maximum likelihood in an exponential family, from the noisy mean of its sufficient statistics over all rows.

    what: a column.  family: `tc.families.Gamma(shape=(0.5, 5), rate=(0.01, 1))`, or its words: Bernoulli, Binomial,
    Poisson, Geometric, Exponential, Gamma, Pareto, Normal, Lognormal, Beta; with the other parameter held fixed
    NegativeBinomial (dispersion), Laplace (location), Weibull (shape 1 to 4).
    bounds: where a statistic is clamped, {"log(wait)": (-5, 3)}, or the column for all of them, {"wait": (0.01, 20)};
    by default what the schema's bounds of the column make.  The estimate allows for clamping.
    where: of the rows for which a condition holds.  Rows with a missing cell are left out, unless the schema says what
    they count as.
    method: "direct"; or "chen-sung", with noise as Algorithm 3 of the source prints it, of the mean of `blocks` blocks
    and so n / blocks times too wide: private, and for comparison only (theory §6).
    Raises QueryError Q01, Q60, Q95 (no family), Q114 (no such statistics, regressions among others), Q115 (bounds),
    Q116 (method, blocks), ModelError (its words).  Source: [Chen & Sung, Algorithm 3], corrected by theory §6.

    >>> from tacit.families import Gamma
    >>> wait = SufficientStatistics("wait", Gamma(shape=(0.5, 5), rate=(0.01, 1)), bounds={"log(wait)": (-5, 5)})
    >>> wait.to_dict()["bounds"]
    {'log(wait)': [-5.0, 5.0]}
    """

    needed: ClassVar = Needed(
        ("what", "family"),
        "what and family of SufficientStatistics: both are needed.",
        'what = "wait", family = { family = "Gamma", … }',
    )

    what: str
    family: Any
    bounds: Any = ()
    where: str | None = None
    method: str = "direct"
    blocks: int | None = None

    @property
    def widens_noise(self) -> bool:
        """Whether noise is n / k times wider, as [Chen & Sung, Algorithm 3] prints it: method "chen-sung"."""
        return self.method != "direct"

    def __post_init__(self) -> None:
        column("SufficientStatistics", "what", self.what)
        object.__setattr__(self, "family", AskedModel.of(self.family, "family of SufficientStatistics"))
        object.__setattr__(self, "bounds", _bounds(self.bounds, self.statistics_bounded()))
        _method(self.method, self.blocks)
        condition(self)

    def statistics_bounded(self) -> tuple[str, ...]:
        """Return the names that bounds may be given for; QueryError Q114 where the family has no statistics."""
        from tacit.models.family import Family

        if self.statistics is None:
            words, law = self.family.words, self.family.law
            text = "family of SufficientStatistics: {} has no finite sufficient statistics of one column here."
            hint = (law if isinstance(law, Family) else Family).statistics_hint
            raise QueryError(text.format(words.get("name", words["family"])), code="Q114", hint=hint)
        return tuple(dict.fromkeys((self.what, *(one.inner_spelled(self.what) for one in self.statistics))))

    @property
    def statistics(self) -> tuple[SufficientStatistic, ...] | None:
        """The sufficient statistics of a row, one for each free parameter; None where the family has none such."""
        from tacit.models.family import Family

        law = self.family.law
        return law.sufficient_statistics() if isinstance(law, Family) else None

    def to_dict(self) -> dict[str, Any]:
        """Plain values only, defaults left out."""
        words: dict[str, Any] = {"query": "SufficientStatistics", "what": self.what, "family": self.family.words}
        pairs = cast("tuple[tuple[str, tuple[float, float]], ...]", self.bounds)
        words |= {"bounds": {name: list(ends) for name, ends in pairs}} if pairs else {}
        words |= {name: getattr(self, name) for name in ("where", "blocks") if getattr(self, name) is not None}
        return words if self.method == "direct" else {**words, "method": self.method}


def _bounds(given: Any, known: tuple[str, ...]) -> tuple[tuple[str, tuple[float, float]], ...]:
    """Return pairs of a name and its bounds, in order of names; QueryError Q115."""
    hint = f'bounds={{"{known[-1]}": (-5, 5)}}'
    try:
        pairs = dict(cast("Mapping[str, Any]", given))
    except (TypeError, ValueError):
        raise QueryError(f"bounds of SufficientStatistics is {described(given)}.", code="Q115", hint=hint) from None
    made: dict[str, tuple[float, float]] = {}
    for name, ends in pairs.items():
        if name not in known:
            text = f"bounds of SufficientStatistics names {described(name)}, which is none of {', '.join(known)}."
            raise QueryError(text, code="Q115", hint=hint)
        pair = _pair(ends)
        if pair is None or not pair[0] < pair[1]:
            text = f"bounds of {name!r}: {described(ends)} are no two rising numbers."
            raise QueryError(text, code="Q115", hint=hint)
        made[name] = pair
    return tuple(sorted(made.items()))


def _pair(ends: Any) -> tuple[float, float] | None:
    """Return two finite numbers, or None where they are not."""
    given = list(cast("list[Any]", ends)) if isinstance(ends, list | tuple) else []
    plain = [float(x) for x in given if isinstance(x, int | float) and not isinstance(x, bool) and math.isfinite(x)]
    return (plain[0], plain[1]) if len(plain) == len(given) == 2 else None


def _method(method: str, blocks: int | None) -> None:
    if method not in METHODS:
        text = f"method of SufficientStatistics: {described(method)} is none of {', '.join(METHODS)}."
        raise QueryError(text, code="Q116", hint='method="direct"')
    if blocks is None:
        return
    # True is an int too
    whole = isinstance(blocks, int) and not isinstance(blocks, bool)  # pyright: ignore[reportUnnecessaryIsInstance]
    if method == "direct" or not whole or blocks < 1:
        text = f"blocks of SufficientStatistics: {described(blocks)}" + (
            "; a mean over all rows has none." if method == "direct" else " is no number from 1 on."
        )
        raise QueryError(text, code="Q116", hint='leave it out, or method="chen-sung", blocks=100')


def widened(query: SufficientStatistics, rows: int | None, share: Cost) -> Fraction:
    """Return the factor of the noise's scale: n / k for "chen-sung", 1 otherwise; QueryError Q116."""
    if query.method == "direct":
        return Fraction(1)
    if rows is None:
        text = 'method "chen-sung" of SufficientStatistics divides by the number of rows, which is private.'
        raise QueryError(text, code="Q116", hint='neighbors="replace-one", or method="direct"')
    # the printed rule is for one parameter at the statistic's share of the price
    blocks = query.blocks or published_blocks(rows, price_of_one(share, 1))
    # n / k below 1 would be less noise than the price asks for
    if blocks > rows:
        text = f"blocks of SufficientStatistics: {blocks:,} for {rows:,} rows."
        raise QueryError(text, code="Q116", hint=f"blocks={max(1, rows // 20)}")
    return Fraction(rows, blocks)
