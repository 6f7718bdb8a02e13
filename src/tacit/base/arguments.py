"""Arguments as users give them: what an error may say of a value, and calls whose arguments do not fit.

Code outside the library may pass rows where a plain value belongs: a mask to `where=`, a column to `Mean`.  An error
never repeats what is in them.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Mapping, Sequence
from datetime import date
from decimal import Decimal
from fractions import Fraction
from functools import wraps
from typing import Any, Final, TypeVar, cast

import numpy as np

from tacit.base.json_text import shown
from tacit.errors import InferenceError, TacitError, nearest

C = TypeVar("C")
F = TypeVar("F", bound=Callable[..., Any])
LONGEST: Final = 60


def described(value: object) -> str:
    """Return a value as an error message shows it: text and single numbers as typed, anything else by its kind alone.

    >>> described("age"), described(0.5), described([1, 2]), described({"a": 1}), described(np.ones(3))
    ("'age'", '0.5', 'a list of 2', 'a dict of 1', 'an ndarray')
    """
    if isinstance(value, str):
        return shown(value)
    if value is None or isinstance(value, bool | int | float | Fraction | Decimal | date):
        return _number(plain(value))
    if isinstance(value, type):
        return f"the class {value.__name__}"
    kind = kind_of(value)
    return f"{kind} of {len(cast(Any, value)):,}" if isinstance(value, list | tuple | Mapping | set) else kind


def kind_of(value: object) -> str:
    """Return the kind of a value with its article, and nothing of the value itself.

    >>> kind_of(3), kind_of("age")
    ('an int', 'a str')
    """
    kind = type(value).__name__
    return f"{'an' if kind[0].lower() in 'aeio' or kind == 'ndarray' else 'a'} {kind}"


def plain(value: Any) -> Any:
    """Return a NumPy scalar as Python's own number or text, anything else as it is.

    >>> plain(np.int64(3)), plain(np.bool_(True)), plain("age")
    (3, True, 'age')
    """
    return cast(Any, value).item() if isinstance(value, np.bool_ | np.integer | np.floating | np.str_) else value


def holds_rows(value: object) -> bool:
    """Return whether a value is a table, a column or an array, by what libraries of frames and arrays offer.

    >>> holds_rows(np.ones(3)), holds_rows([1.0, 2.0]), holds_rows("age"), holds_rows(np.float64(1))
    (True, False, False, False)
    """
    if isinstance(value, type | np.generic):
        return False
    return any(hasattr(value, name) for name in ("__array__", "__dataframe__", "__arrow_c_stream__", "toPandas"))


def texts(value: object) -> tuple[str, ...] | None:
    """Return one text, or a list of texts, as a tuple; None for anything else.

    >>> texts("age"), texts(["age", "sex"]), texts(None), texts([1]), texts(np.ones(2))
    (('age',), ('age', 'sex'), (), None, None)
    """
    if value is None or isinstance(value, str):
        return () if value is None else (value,)
    if not isinstance(value, list | tuple):
        return None
    given = tuple(cast("list[object]", value))
    return cast("tuple[str, ...]", given) if all(isinstance(one, str) for one in given) else None


def _number(value: object) -> str:
    try:
        text = str(value) if isinstance(value, Fraction | Decimal | date) else repr(value)
    except ValueError:  # Python refuses to print an integer of thousands of digits
        return "a number of thousands of digits"
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}…"


def misfit(
    name: str, signature: inspect.Signature, given: tuple[Any, ...], named: Mapping[str, Any]
) -> tuple[str, str] | None:
    """Return what is wrong with the arguments of a call, and a hint; None where they fit.

    >>> def mean(columns, by=()): ...
    >>> misfit("Mean", inspect.signature(mean), ("age",), {"groupby": "sex"})
    ("Mean has no argument 'groupby'.", 'by=…')
    """
    try:
        signature.bind(*given, **named)
    except TypeError:
        pass
    else:
        return None
    kinds = inspect.Parameter
    takes = [one for one in signature.parameters.values() if one.kind is not kinds.VAR_KEYWORD]
    by_name = [one.name for one in takes if one.kind in (kinds.POSITIONAL_OR_KEYWORD, kinds.KEYWORD_ONLY)]
    by_place = [one.name for one in takes if one.kind in (kinds.POSITIONAL_OR_KEYWORD, kinds.POSITIONAL_ONLY)]
    unknown = [word for word in named if word not in by_name]
    if unknown and len(by_name) == len(takes) - len([one for one in takes if one.kind is kinds.POSITIONAL_ONLY]):
        return f"{name} has no argument {unknown[0]!r}.", _hint(unknown[0], by_name)
    if len(given) > len(by_place):
        rest = [word for word in by_name if word not in by_place]
        more = f"{rest[0]}=… by name" if rest else f"at most {', '.join(by_place)}"
        return f"{name} takes {len(by_place)} arguments by place, not {len(given)}.", more
    twice = [word for word in by_place[: len(given)] if word in named]
    if twice:
        return f"{name} is given {twice[0]!r} twice.", "once, by place or by name"
    needed = [one.name for one in takes if one.default is kinds.empty and one.name not in named]
    absent = [word for word in needed if word not in by_place[: len(given)]]
    return f"{name} needs {absent[0] if absent else 'other arguments'}.", ", ".join(f"{one}=…" for one in absent)


def _hint(word: str, known: list[str]) -> str:
    guess = meant(word, known)
    return guess if guess is not None and " " in guess else f"{guess}=…" if guess else "one of " + ", ".join(known)


OTHER_WORDS: Final[Mapping[str, tuple[str, ...]]] = {
    **dict.fromkeys(("groupby", "group_by", "groups", "group"), ("by",)),
    **dict.fromkeys(("column", "columns", "col", "cols", "data", "x", "name", "what"), ("columns", "column", "what")),
    **dict.fromkeys(("q", "quantile", "quantiles", "percentiles", "p", "prob", "probabilities"), ("probs",)),
    **dict.fromkeys(("eps", "epsilon", "delta", "rho"), ("epsilon", "budget")),
    **dict.fromkeys(("weight", "sample_weight", "w"), ("weights",)),
    **dict.fromkeys(("breaks", "cuts", "edges", "nbins"), ("bins",)),
    **dict.fromkeys(("family", "link"), ("model",)),
    **dict.fromkeys(("filter", "query", "condition", "mask", "subset"), ("where",)),
    **dict.fromkeys(("conf_level", "confidence", "confidence_level", "conf"), ("level",)),
    **dict.fromkeys(("b", "B", "reps", "n_boot", "n_resamples", "iterations"), ("draws", "replicates")),
    **dict.fromkeys(("min", "minimum", "low", "lo", "floor"), ("lower",)),
    **dict.fromkeys(("max", "maximum", "high", "hi", "ceiling"), ("upper",)),
    **dict.fromkeys(("values", "categories", "codes", "labels", "enum"), ("levels",)),
    **dict.fromkeys(("unit",), ("units",)),
    **dict.fromkeys(("max_contributions", "max_groups", "limit", "contribution_bound"), ("max_rows",)),
    **dict.fromkeys(("seed", "random_state"), ("rng",)),
    **dict.fromkeys(("n", "nrows", "size", "n_rows"), ("rows", "draws", "replicates")),
    **dict.fromkeys(("na", "na_rm", "fillna", "missing_values", "default"), ("missing",)),
}
"""What other libraries call an argument, and what it is called here: the first of these that a call has."""
IN_WORDS: Final[Mapping[str, tuple[str, str]]] = {
    "alpha": ("level", "level=0.95: the level itself, not its complement"),
    "bounds": ("lower", "lower=0, upper=100"),
    "range": ("lower", "lower=0, upper=100"),
    "exponentiate": ("level", "np.exp(…) of both ends; of all coefficients model.summary(exponentiate=True)"),
    "family": ("model", 'model="logistic" for binomial, "poisson", "gamma", "linear" for gaussian'),
    "cov_type": ("target", "nothing: standard errors are robust"),
    "robust": ("formula", "nothing: standard errors are robust"),
    "where": ("by", 'groups have by="sex"; where= stands in the question: Histogram(…, where="age >= 65")'),
}
"""Words whose meaning is another one here: the argument that a call has, and what is said in its place."""
ELSEWHERE: Final[Mapping[str, str]] = {
    **dict.fromkeys(
        ("bounds", "lower", "upper", "min", "max", "range", "clip"),
        'bounds stand in the schema: "fare": Real(0, 100)',
    ),
    **dict.fromkeys(
        ("epsilon", "eps", "delta", "rho", "budget"),
        "the price stands beside it: release(question, epsilon=1)",
    ),
}
"""What is said elsewhere than in a question."""
QUESTIONS: Final[Mapping[str, str]] = {
    **dict.fromkeys(("mean", "average", "means"), 'tc.Mean("age", by="sex")'),
    **dict.fromkeys(
        ("proportion", "prevalence", "share", "rate", "fraction", "risk"),
        'tc.Mean("married", by="sex") of a Boolean, Boolean(computed="age >= 65") of a condition',
    ),
    **dict.fromkeys(("countdistinct", "distinct", "nunique"), "tc.Count(), which counts persons with a PrivacyUnit"),
    **dict.fromkeys(("corr", "correlation", "cov"), 'tc.Histogram(["age", "income"], bins=20), then .correlation(…)'),
    **dict.fromkeys(("load", "read_json", "loads"), 'tc.Release.load("age.json"), or tc.Releases.load of several'),
    **dict.fromkeys(
        ("read_csv", "read_parquet", "open", "dataset", "dataframe"), 'tc.Curator("people.csv", schema, budget=…)'
    ),
    **dict.fromkeys(("median", "quantile", "percentile", "iqr"), 'tc.Quantiles("age", [0.5])'),
    **dict.fromkeys(("std", "sd", "var"), 'tc.Variance("age"), then estimate().bootstrap(…) for its root'),
    **dict.fromkeys(("crosstab", "xtabs", "table_one", "value_counts", "counts"), 'tc.Count(by=["sex", "region"])'),
    **dict.fromkeys(("total", "totals"), 'tc.Sum("income")'),
    **dict.fromkeys(("ols", "lm", "linearregression", "linear"), 'tc.Regression("income ~ age + sex")'),
    **dict.fromkeys(("logit", "glm", "logistic", "logisticregression"), 'tc.Regression("y ~ age", model="logistic")'),
    **dict.fromkeys(("mle", "fit", "likelihood"), 'tc.SampleAndAggregate("x", tc.families.Gamma(…))'),
    **dict.fromkeys(("float", "number", "continuous", "numeric"), "tc.Real(0, 100)"),
    **dict.fromkeys(("int", "count_column"), "tc.Integer(0, 100)"),
    **dict.fromkeys(("factor", "categorical", "enum"), 'tc.Category(["north", "south"])'),
    **dict.fromkeys(("bool", "binary"), "tc.Boolean()"),
    **dict.fromkeys(("release", "query", "ask", "session"), "tc.Curator(…).release(question, epsilon=1)"),
}
"""What other libraries call a question or a type of column, in lower case, and what it is here."""
QUESTIONS_NAME: Final = frozenset({"columns", "column", "what", "formula"})
"""Arguments that questions have, at least one of them, and other calls have not."""


def asked_here(name: str) -> str:
    """Return what a word of another library is here, as the end of a sentence; nothing where it is none.

    >>> asked_here("Median"), asked_here("spam")
    (': here it is tc.Quantiles("age", [0.5])', '')
    """
    here = QUESTIONS.get(name.lower())
    return "" if here is None else f": here it is {here}"


def question_of(name: str) -> str | None:
    """Return the class of question that another library calls so; None where it is none.

    >>> question_of("median"), question_of("total"), question_of("float"), question_of("spam")
    ('Quantiles', 'Sum', None, None)
    """
    found = re.match(r"tc\.([A-Z]\w+)\(", QUESTIONS.get(name.lower(), ""))
    return found[1] if found and found[1] not in ("Real", "Integer", "Category", "Boolean", "Curator") else None


def meant(word: str, known: Sequence[str]) -> str | None:
    """Return the argument that somebody means by a word of another library, or misspelt; a sentence where it stands
    elsewhere, which has a blank; None where nothing is near.

    >>> meant("groupby", ["columns", "by"]), meant("q", ["column", "probs"]), meant("wieghts", ["by", "weights"])
    ('by', 'probs', 'weights')
    >>> meant("bounds", ["columns", "by"])
    'bounds stand in the schema: "fare": Real(0, 100)'
    """
    needed, sentence = IN_WORDS.get(word, ("", ""))
    if needed in known:
        return sentence
    for other in OTHER_WORDS.get(word, ()):
        if other in known:
            return other
    said = ELSEWHERE.get(word) if QUESTIONS_NAME & set(known) else None
    return said or nearest(word, list(known))


def named_arguments(error: type[TacitError], code: str, name: str) -> Callable[[F], F]:
    """Return a decorator: arguments that do not fit raise `error` with this code in place of Python's TypeError.

    name: the call, as a user writes it.

    >>> from tacit.errors import QueryError
    >>> named_arguments(QueryError, "Q05", "ask")(lambda question: question)(3)
    3
    """

    def decorate(function: F) -> F:
        @wraps(function)
        def call(*given: Any, **named: Any) -> Any:
            try:
                return function(*given, **named)
            except TypeError:
                whole = inspect.signature(function)
                # a method's first argument is no argument to whoever calls it
                own = 1 if next(iter(whole.parameters), "") in ("self", "cls") else 0
                signature = whole.replace(parameters=list(whole.parameters.values())[own:])
                wrong = misfit(name, signature, given[own:], named)
                # a TypeError of another kind is a defect, and no fault of the arguments
                if wrong is None:
                    raise
            # of a result, which was paid for, nothing is said of what was spent
            more: dict[str, Any] = {"state": None} if error is InferenceError else {}
            raise error(wrong[0], code=code, hint=wrong[1], **more)

        return cast(F, call)

    return decorate


def named_fields(error: type[TacitError], code: str) -> Callable[[type[C]], type[C]]:
    """Return a decorator of classes: as `named_arguments`, of the calls that make an object."""

    def decorate(cls: type[C]) -> type[C]:
        made: Any = cls
        made.__init__ = named_arguments(error, code, cls.__name__)(made.__init__)
        return cls

    return decorate


def named_methods(error: type[TacitError], code: str) -> Callable[[type[C]], type[C]]:
    """Return a decorator of classes: as `named_arguments`, of all public methods that the class itself has."""

    def decorate(cls: type[C]) -> type[C]:
        for name, method in list(vars(cls).items()):
            if inspect.isfunction(method) and not name.startswith("_"):
                setattr(cls, name, named_arguments(error, code, name)(method))
        return cls

    return decorate
