"""What a release of `regression` says: coefficients of a linear model, with both errors."""

from __future__ import annotations

from dataclasses import dataclass
from statistics import NormalDist
from typing import TYPE_CHECKING, ClassVar, Final, cast

import numpy as np

from tacit.errors import InferenceError
from tacit.inference.fits.result import Fit
from tacit.inference.regression_fit import fit
from tacit.inference.terms import Target, check_level
from tacit.linear.formula import parse
from tacit.linear.layout import layout
from tacit.linear.noisy import crossed, scores
from tacit.linear.query import Regression
from tacit.parts import Variable
from tacit.release import Release, Released, register
from tacit.tables import Align

if TYPE_CHECKING:
    import pandas as pd  # pyright: ignore[reportMissingTypeStubs]

    from tacit.tables import Table

SIDES: Final[tuple[Align, ...]] = ("left", "right", "right", "right", "right")


@register
@dataclass(frozen=True, repr=False)
class RegressionRelease(Release):
    """A release of Regression.

    >>> import tacit as tc
    >>> rng = np.random.default_rng(0)
    >>> age = rng.uniform(20, 70, 4_000)
    >>> table = {"age": age, "income": 20_000 + 300 * age + rng.normal(0, 5_000, 4_000)}
    >>> schema = tc.Schema({"age": tc.Real(20, 70), "income": tc.Real(0, 80_000)})
    >>> curator = tc.Curator(table, schema, budget=tc.Budget(rho=1))
    >>> found = curator.release(tc.Regression("income ~ age"), rho=0.5).fit()
    >>> found.names, bool(abs(found.values[1] - 300) < 6 * found.std_errors[1])
    (('Intercept', 'age'), True)
    """

    kind: ClassVar[str] = "regression"

    def fit(self) -> Fit:
        """Coefficients with both parts of their covariance; a reason in each term where the noise is too large."""
        return fit_release(self)

    def estimate(self, target: Target = "population") -> Fit:
        """The same; InferenceError I09 for another target: what residuals beyond the cut would add is not known."""
        if target != "population":
            text = f"target {target!r}: a Regression speaks of the population that the rows were drawn from."
            raise InferenceError(text, code="I09", hint='target="population"', state=None)
        return self.fit()

    def to_frame(self, level: float = 0.95) -> pd.DataFrame:
        """estimate, std_error, lower, upper, privacy_share, reason: a frame indexed by term; InferenceError I01."""
        return frame(self.fit(), level)

    def summary(self, level: float = 0.95) -> Table:
        """Coefficients as a table; InferenceError I01 (level)."""
        return table(self, self.fit(), level)

    def __str__(self) -> str:
        return str(self.summary())

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return self.summary().to_html()


def fit_release(release: Released) -> Fit:
    """A release of a regression, or a simulated one -> Fit.  Source: Bickel 1975 (one step); `regression_fit`."""
    query = cast(Regression, release.query)
    made = layout(parse(query.formula), cast("tuple[Variable, ...]", getattr(release, "variables", ())))
    first, second = release.parts
    return fit(query.formula, made, crossed(first, made, release.rows), scores(second, made))


def frame(found: Fit, level: float) -> pd.DataFrame:
    """A fit as pandas has it, indexed by term."""
    import pandas as pd  # pyright: ignore[reportMissingTypeStubs]

    z = NormalDist().inv_cdf(0.5 + check_level(level) / 2)
    privacy = np.diag(found.cov_privacy)
    columns = {
        "estimate": found.values,
        "std_error": found.std_errors,
        "lower": found.values - z * found.std_errors,
        "upper": found.values + z * found.std_errors,
        "privacy_share": privacy / (privacy + np.diag(found.cov_sampling)),
        "reason": [reason or "" for reason in found.reasons],
    }
    return pd.DataFrame(columns, index=pd.Index(list(found.names), name="term"))


def table(release: Released, found: Fit, level: float) -> Table:
    """One row a coefficient."""
    from tacit.inference.display import facts, people_words
    from tacit.tables import Table, format_interval, format_number

    z = NormalDist().inv_cdf(0.5 + check_level(level) / 2)
    rows: list[tuple[str, ...]] = []
    for i, name in enumerate(found.names):
        value, error = float(found.values[i]), float(found.std_errors[i])
        if found.reasons[i] is not None:
            rows.append((name, "–", "–", "–", "–"))
            continue
        digits = max(0, 1 - int(np.floor(np.log10(error)))) if error > 0 else 2
        share = found.cov_privacy[i, i] / (found.cov_privacy[i, i] + found.cov_sampling[i, i])
        limits = format_interval(value - z * error, value + z * error, decimals=digits)
        numbers = [format_number(x, decimals=digits) for x in (value, error)]
        rows.append((name, *numbers, limits, f"{100 * share:.0f} %"))
    columns = ("", "coefficient", "std. error", f"{100 * level:g}% interval", "of which privacy")
    reasons = tuple(dict.fromkeys(reason for reason in found.reasons if reason is not None))
    title = f"Linear regression · {found.formula} · {people_words(release)}"
    return Table(title, columns, tuple(rows), (*reasons, *found.notes, facts(release)), SIDES)
