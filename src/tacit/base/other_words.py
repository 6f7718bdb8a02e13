"""What other libraries call an attribute of a result, and what it is called here, for errors that name it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final, TypeVar, cast

C = TypeVar("C")

_NUMBERS: Final = ("coef", "coefs", "coef_", "params", "estimates", "point_estimate", "point", "est", "beta")
_ERRORS: Final = ("bse", "se", "stderr", "std_err", "standard_error", "standard_errors", "sd", "std")
_LIMITS: Final = ("confint", "conf_interval", "confidence_interval", "confidence_intervals", "ci", "interval")
_FRAMES: Final = ("to_pandas", "to_df", "to_dataframe", "as_frame", "as_dataframe", "df", "frame", "tidy", "dataframe")
_FITS: Final = ("rsquared", "r2", "r_squared", "deviance", "llf", "aic", "bic", "nobs")
_AT: Final = 'none: one["12"] is the share after 12, one of .terms, and .table() has all'
_CURVES: Final = 'none: curves of groups are compared by the release, .logrank("months", "died", by="sex")'
_TIMES: Final = ("at", "predict", "survival", "survival_at", "survival_function", "survival_function_", "curve")
_GROUPS: Final = ("contrast", "test", "logrank", "logrank_test", "pairwise", "survdiff", "difference", "diff", "ratio")
_HAZARDS: Final = ("hazard_ratio", "hazards", "cox", "coxph", "cumulative_hazard_")
_MEDIANS: Final = ("median_", "median_survival_time", "median_survival_time_", "median_time")
_RATIOS: Final = "summary(exponentiate=True), or to_frame(exponentiate=True)"
WORDS: Final[Mapping[str, tuple[tuple[str, str], ...]]] = {
    **dict.fromkeys(_NUMBERS, (("value", "value"), ("values", "values"))),
    **dict.fromkeys(
        _ERRORS, (("std_error", "std_error, of sampling and noise together"), ("conf_int", "conf_int(0.95)"))
    ),
    "std_error": (("conf_int", "conf_int(0.95): it has intervals, and no standard error"),),
    **dict.fromkeys(_LIMITS, (("conf_int", "conf_int(0.95)"),)),
    **dict.fromkeys(("vcov", "cov_params", "covariance", "cov_"), (("cov", "cov"),)),
    **dict.fromkeys(
        ("pvalues", "pvalue", "p_value", "p"), (("p_values", "p_values"), ("test", 'test("a = b").p_value'))
    ),
    **dict.fromkeys(_FRAMES, (("to_frame", "to_frame()"),)),
    **dict.fromkeys(
        ("proportions", "shares", "percentages", "proportion", "prop_table", "value_counts", "normalize"),
        (
            ("proportions", "proportions()"),
            ("margin", 'margin("sex").proportions()'),
            ("bootstrap", 'bootstrap(lambda m: m["a"] / (m["a"] + m["b"])), or Mean of a Boolean column'),
        ),
    ),
    **dict.fromkeys(
        ("gini", "lorenz", "quantile_share", "atkinson", "theil"),
        (
            ("gini", 'gini("income") of a tc.Histogram, and lorenz("income", [0.5, 0.9])'),
            ("quantiles", "none: a tc.Histogram's release has gini and lorenz"),
            ("values", "none: a tc.Histogram's release has gini and lorenz"),
            ("estimate", "none: a tc.Histogram's release has gini and lorenz"),
        ),
    ),
    "to_csv": (("to_frame", 'to_frame().to_csv("table.csv")'), ("summary", 'summary().save("table.csv")')),
    "to_excel": (("to_frame", 'to_frame().to_excel("table.xlsx")'), ("summary", 'summary().save("table.csv")')),
    "to_latex": (("summary", 'summary().save("table.tex")'),),
    "to_markdown": (("summary", 'summary().save("table.md")'),),
    **dict.fromkeys(
        ("difference", "diff", "risk_difference", "lincom", "t_test"),
        (("contrast", 'contrast("`a` - `b`")'), ("conf_int", 'tc.difference(one["a"], one["b"])')),
    ),
    "contrast": (("conf_int", 'tc.difference(one["a"], one["b"])'),),
    **dict.fromkeys(("risk_ratio", "relative_risk", "rr", "prevalence_ratio"), (("ratio", 'ratio("a", "b")'),)),
    "odds_ratios": (("odds_ratio", 'odds_ratio("a", "b")'), ("marginal_effects", _RATIOS)),
    **dict.fromkeys(("rate_ratios", "exp_coef", "incidence_rate_ratios"), (("marginal_effects", _RATIOS),)),
    **dict.fromkeys(("wald_test", "f_test", "anova", "linearhypothesis"), (("test", 'test("a = b")'),)),
    **dict.fromkeys(("ttest", "emmeans", "pairs", "tukey", "pairwise_tukeyhsd"), (("pairwise", "pairwise()"),)),
    **dict.fromkeys(_FITS, (("criteria", "criteria, which has what is known of the fit"),)),
    **dict.fromkeys(
        ("resid", "residuals", "fittedvalues", "fitted"),
        (("criteria", "none: residuals would be rows; criteria has their standard deviation"),),
    ),
    **dict.fromkeys(("predict_proba", "get_prediction", "fitted_values"), (("predict", "predict({…})"),)),
    **dict.fromkeys(("margins", "get_margeff", "ame"), (("marginal_effects", "marginal_effects()"),)),
    **dict.fromkeys(("to_file", "write", "dump", "export", "to_pickle"), (("save", 'save("age.json")'),)),
    **dict.fromkeys(("result", "results", "answer", "estimator"), (("estimate", "estimate()"),)),
    **dict.fromkeys(("median", "quantile", "percentile"), (("quantiles", 'quantiles("age", [0.5])'),)),
    **dict.fromkeys(("corr", "correlations"), (("correlation", 'correlation(["age", "income"])'),)),
    **dict.fromkeys(("marginal", "marginals", "groupby"), (("margin", 'margin("age")'),)),
    **dict.fromkeys(
        ("mean", "count", "sum", "ask", "query", "execute", "run", "sql", "answer_query", "histogram", "measure"),
        (("remaining", 'release(tc.Mean("age"), rho=0.1)'),),
    ),
    **dict.fromkeys(("left", "budget_left", "remaining_budget", "budget_remaining"), (("remaining", "remaining"),)),
    **dict.fromkeys(
        ("data", "head", "table", "table_", "columns"), (("remaining", "schema; rows stay where they are"),)
    ),
}
"""Word -> attributes that a class may have, and what to write where it has that one; the first counts."""
SURVIVAL: Final[Mapping[str, tuple[tuple[str, str], ...]]] = {
    **dict.fromkeys(_TIMES, (("times", _AT),)),
    **dict.fromkeys((*_GROUPS, *_HAZARDS), (("times", _CURVES),)),
    **dict.fromkeys(_MEDIANS, (("times", "median()"),)),
}
"""The same of a curve of survival, which has `times` and comes first."""


def asked_of(cls: type[Any], name: str) -> str:
    """Return what a word of another library is on a class, as the end of a sentence; nothing where it is none.

    >>> class Found:
    ...     def conf_int(self): ...
    >>> asked_of(Found, "confint"), asked_of(Found, "spam")
    (': here it is .conf_int(0.95)', '')
    """
    of_curves = SURVIVAL.get(name.lower(), ()) if hasattr(cls, "times") else ()
    said = (*of_curves, *WORDS.get(name.lower(), ()))
    for attribute, words in said:
        if hasattr(cls, attribute):
            sentence = words.startswith(("tc.", "none"))
            return f": here it is {'' if sentence else '.'}{words}"
    # of a release, what its estimate has
    if hasattr(cls, "estimate") and not hasattr(cls, "value") and (said or name in ("value", "conf_int", "to_frame")):
        words = next((words for _, words in said if not words.startswith(("tc.", "none"))), None)
        if said and words is None:
            return f": here it is {said[0][1]}"
        words = name if words is None else words
        return f": here it is .estimate().{words}"
    return ""


def knows_other_words(cls: type[C]) -> type[C]:
    """Class decorator: an AttributeError says what a word of another library is here.

    >>> @knows_other_words
    ... class Found:
    ...     def conf_int(self): ...
    >>> try:
    ...     Found().confint
    ... except AttributeError as problem:
    ...     print(problem)
    'Found' object has no attribute 'confint': here it is .conf_int(0.95)
    """

    def absent(self: Any, name: str) -> Any:
        own = cast("type[Any]", type(self))
        if hasattr(own, name):
            # a property of this name raised AttributeError itself: its own words are the right ones
            return object.__getattribute__(self, name)
        text = f"{own.__name__!r} object has no attribute {name!r}{asked_of(own, name)}"
        raise AttributeError(text, name=name, obj=self)

    if not hasattr(cls, "__getattr__"):
        method: Callable[[Any, str], Any] = absent
        type.__setattr__(cls, "__getattr__", method)
    return cls
