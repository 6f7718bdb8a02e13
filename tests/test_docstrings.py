"""Every public name says what it is, shows itself at work, names its errors and its source.

What can raise is found in the code: `raise` statements with a code, in a function or in those of this library that it
calls by name (calls on values of unknown type are not followed, so that this is a lower bound).
"""

from __future__ import annotations

import ast
import inspect
import re
import textwrap
import types
from collections.abc import Iterator
from functools import cache, cached_property
from typing import Any

import tacit
from tacit.errors import CODES
from tacit.estimates.estimate import Estimate
from tacit.estimates.verbs.contrasts import Test
from tacit.estimates.verbs.pairwise_differences import Pairwise
from tacit.estimates.verbs.pairwise_ratios import PairwiseRatios
from tacit.estimates.verbs.ratios import Ratio
from tacit.method.histogram.estimate import HistogramRelease
from tacit.method.histogram.estimate_densities import DensityEstimate
from tacit.method.histogram.estimate_from_cells.adjusted_counts import Adjusted
from tacit.method.histogram.estimate_from_cells.correlation import Correlations
from tacit.method.histogram.estimate_from_cells.derived_numbers import Derived
from tacit.method.histogram.estimate_from_cells.survival import Survival
from tacit.method.histogram.estimate_margins import Margin
from tacit.method.moments.estimate import MomentsRelease
from tacit.method.quality.estimate import QualityRelease
from tacit.method.quantiles.estimate import QuantileEstimate, QuantilesRelease
from tacit.method.quantiles.estimate_difference import QuantileDifference
from tacit.plots import Drawn, Panels
from tacit.release.registry import QUERIES

RELEASES = (MomentsRelease, QualityRelease, QuantilesRelease)
HISTOGRAMS = (HistogramRelease, Margin, DensityEstimate, Panels)
OTHERS = (QuantileEstimate, QuantileDifference, Pairwise, PairwiseRatios, Ratio, Test, Drawn)
ANSWERS = (*RELEASES, *HISTOGRAMS, Estimate, *OTHERS)
ANSWERS += (Derived, Correlations, Survival, Adjusted)
"""Classes that people meet without importing them."""
ESTIMATORS = [
    *(f"{leaf.__name__}.estimate" for leaf in (MomentsRelease, QualityRelease, QuantilesRelease)),
    *(f"Estimate.{name}" for name in ("test", "contrast", "pairwise", "standardize", "poststratify", "ratio", "trend")),
    *("Estimate.odds_ratio", "Estimate.effective_size"),
    *("Estimate.independence", "Estimate.sampling_variances", "Estimate.intervals", "difference", "Estimate"),
    *("QuantileEstimate", "QuantileDifference", "Pairwise", "Ratio", "PairwiseRatios"),
    *("DensityEstimate", "HistogramRelease.density"),
]

CHECKED_BEFORE = {
    *("Cost.kind", "Cost.zcdp", "Cost.gdp", "Plan.guarantee", "Budget.holds", "Budget.left", "Budget.under"),
    "Budget.in_rho",
    *("Budget.describe_left", "Budget.describe_spent", "Budget.epsilon_left", "Budget.epsilon_of"),
}
"""What they could raise was raised when their price, or their budget, was made."""


@cache
def names() -> dict[str, Any]:
    """Public functions and classes: those of `tacit`, of its public modules, and the answers' own."""
    found: dict[str, Any] = {}
    for name in tacit.__all__:
        value = getattr(tacit, name)
        if isinstance(value, types.ModuleType):
            own = getattr(value, "__all__", [key for key, v in vars(value).items() if _own(v, value.__name__)])
            found |= {f"{name}.{key}": getattr(value, key) for key in own}
        else:
            found[name] = value
    return found | {cls.__name__: cls for cls in ANSWERS}


def _own(value: Any, module: str) -> bool:
    public = not getattr(value, "__name__", "_").startswith("_")
    return callable(value) and public and getattr(value, "__module__", "") == module


@cache
def methods() -> dict[str, Any]:
    """Public methods and properties of the classes, inherited ones of this library included, as functions."""
    found: dict[str, Any] = {}
    for name, cls in names().items():
        if not inspect.isclass(cls):
            continue
        for base in reversed(cls.__mro__):
            if base.__module__.startswith("tacit"):
                for key, value in vars(base).items():
                    function = _function(value)
                    if not key.startswith("_") and function is not None:
                        found[f"{name}.{key}"] = function
    return found


def _function(value: Any) -> Any:
    if isinstance(value, property | cached_property):
        value = value.fget if isinstance(value, property) else value.func
    value = getattr(value, "__func__", value)
    return value if inspect.isfunction(value) else None


def said(value: Any) -> str:
    """Its own docstring: one inherited from `object` or made by `dataclass` says nothing."""
    own = value.__doc__ or ""
    made = inspect.isclass(value) and own.startswith(f"{value.__name__}(")
    return "" if made else inspect.cleandoc(own)


# What can raise -----------------------------------------------------------------------------------------------------


@cache
def raised(function: Any) -> frozenset[str]:
    """Codes of the errors that a function raises, itself or through functions of this library that it names."""
    return frozenset(_raised(function, set()))


def _raised(function: Any, seen: set[Any]) -> Iterator[str]:
    function = inspect.unwrap(function)  # `named_arguments` stands before some
    if function in seen:
        return
    seen.add(function)
    codes, called = _seen_in(function)
    yield from codes
    for one in called:
        yield from _raised(one, seen)


@cache
def _seen_in(function: Any) -> tuple[list[str], list[Any]]:
    """Codes of errors that a function makes, and the functions of this library that it calls."""
    tree = ast.parse(textwrap.dedent(inspect.getsource(function)))
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call)]
    words = [word.value for node in calls for word in node.keywords if word.arg == "code"]
    names = {**function.__globals__, **_imported(tree)}
    found = [_called(function, node.func, names) for node in calls]
    return [x.value for x in words if isinstance(x, ast.Constant)], [x for x in found if x is not None]


def _called(function: Any, target: ast.expr, names: dict[str, Any]) -> Any:
    """The function of this library that is called by name, by `module.name` or on `self`; None for others."""
    value: Any = None
    if isinstance(target, ast.Name):
        value = names.get(target.id)
    elif isinstance(target, ast.Attribute) and isinstance(target.value, ast.Name):
        owner = function.__globals__.get(target.value.id)
        if target.value.id in ("self", "cls"):
            owner = function.__globals__.get(function.__qualname__.partition(".")[0])
        value = inspect.getattr_static(owner, target.attr, None) if owner is not None else None
    if inspect.isclass(value) and not issubclass(value, BaseException):
        value = vars(value).get("__post_init__") or vars(value).get("__init__")
    value = _function(value) if value is not None else None
    here = value is not None and (value.__module__ or "").startswith("tacit") and "<" not in value.__qualname__
    return value if here and "__create_fn__" not in value.__qualname__ and _has_source(value) else None


@cache
def _has_source(value: Any) -> bool:
    try:
        return bool(inspect.getsource(value))
    except (OSError, TypeError):
        return False


def _imported(tree: ast.Module) -> dict[str, Any]:
    """Names that a function imports itself."""
    found: dict[str, Any] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("tacit"):
            module = __import__(node.module, fromlist=["x"])  # type: ignore[arg-type]
            found |= {one.asname or one.name: getattr(module, one.name, None) for one in node.names}
    return found


def errors_of(value: Any) -> frozenset[str]:
    """Codes that a call of a function, or the making of a class, can raise."""
    if not inspect.isclass(value):
        return raised(value)
    makers = [vars(value).get(name) for name in ("__init__", "__post_init__")]
    return frozenset().union(*(raised(one) for one in makers if inspect.isfunction(one) and _has_source(one)))


def names_an_error(text: str, codes: frozenset[str]) -> bool:
    """Whether one of the codes, or an error's class, is there."""
    return any(re.search(rf"\b{code}\b", text) for code in codes) or re.search(r"\b[A-Z]\w+Error\b", text) is not None


# Tests --------------------------------------------------------------------------------------------------------------


def test_public_names_say_what_they_are_and_show_it() -> None:
    texts = {name: said(value) for name, value in names().items()}
    assert len(texts) > 60
    assert [name for name, text in texts.items() if not re.match(r"\S.*[.:]", text)] == []  # a summary
    assert [name for name, text in texts.items() if ">>> " not in text] == []  # an example


def test_public_methods_say_what_they_do() -> None:
    firsts = {name: said(value).partition("\n\n")[0] for name, value in methods().items()}
    assert len(firsts) > 500
    assert [name for name, first in firsts.items() if len(first) <= 5] == []  # a summary
    assert [name for name, first in firsts.items() if not first.rstrip().endswith((".", ":"))] == []  # a sentence


def test_what_can_raise_names_its_errors() -> None:
    silent: dict[str, list[str]] = {}
    for name, value in {**methods(), **names()}.items():
        codes = frozenset() if name in CHECKED_BEFORE else errors_of(value)
        if codes and not names_an_error(said(value), codes):
            silent[name] = sorted(codes)
    assert silent == {}


def test_queries_and_estimators_name_their_source() -> None:
    # a statistic of one's own is asked by calling it: its class has no public name
    asked = [name for name in QUERIES if name != "Additive"]
    texts = {name: said(names().get(name, methods().get(name))) for name in [*asked, *ESTIMATORS]}
    assert len(texts) > 15
    assert [name for name, text in texts.items() if not re.search(r"theory §|\[\w.* \d{4}|Source:", text)] == []


def test_codes_in_docstrings_exist() -> None:
    shown = {
        (name, code)
        for name, v in {**names(), **methods()}.items()
        for code in re.findall(r"\b[A-Z]\d{2,3}\b", said(v))
    }
    assert shown
    assert {one for one in shown if one[1] not in CODES} == set()


def test_raises_are_found_where_they_are() -> None:
    """The search itself: direct raises, those of helpers, of methods, of constructors, and none where there is none."""
    assert "S07" in errors_of(tacit.Real)
    assert "B01" in errors_of(methods()["Cost.of"])
    assert "I01" in errors_of(Estimate.conf_int)
    assert "R07" in errors_of(methods()["Release.save"])
    assert "I13" in errors_of(tacit.methods)
    assert errors_of(Estimate.__len__) == frozenset()
    assert not names_an_error("Nothing is said.", frozenset({"I01"}))
