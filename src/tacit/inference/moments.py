"""What releases of `moments` say: counts, sums, means and variances with both errors (theory §9, §12)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar, cast

from tacit.inference import weighting
from tacit.inference.estimate import Estimate
from tacit.inference.terms import Target, block, check_target
from tacit.release import Part, Release, Released, cell_labels, register

if TYPE_CHECKING:
    from tacit.tables import Table


@register
@dataclass(frozen=True, repr=False)
class MomentsRelease(Release):
    """A release of Count, Sum, Mean or Variance: noisy integers, and what they say.

    >>> import tacit as tc
    >>> schema = tc.Schema({"age": tc.Real(0, 100), "sex": tc.Category(["f", "m"])})
    >>> table = {"age": [30.0, 40.0, 50.0] * 20, "sex": ["f", "m", "m"] * 20}
    >>> release = tc.Curator(table, schema, budget=tc.Budget(rho=1)).release(tc.Mean("age", by="sex"), rho=0.1)
    >>> release.cells, release.estimate().terms, release.estimate("table").sampling_variances
    (('f', 'm'), ('f', 'm'), array([0., 0.]))
    """

    kind: ClassVar[str] = "moments"

    def estimate(self, target: Target = "population") -> Estimate:
        """Estimates with both errors.

        target="population": the table is a sample, sampling and privacy are uncertain.  target="table": the table is
        all there is, and only privacy is uncertain.  InferenceError I09 for another word.
        Source: theory §9 (standard errors), §12 (forms of the integers).
        """
        return estimate(self, target)

    def summary(self, level: float = 0.95) -> Table:
        """The estimates as a table; InferenceError I01 for a level below 0.5, or 1 and above."""
        return self.estimate().summary(level)

    def plot(self, ax: Any = None) -> Any:
        """The estimates as a picture; InferenceError I20 without matplotlib, I05 for too many terms."""
        return self.estimate().plot(ax=ax)

    def __str__(self) -> str:
        return str(self.summary())

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return self.summary().to_html()


def estimate(release: Released, target: Target = "population") -> Estimate:
    """A release of moments, or a simulated one -> Estimate."""
    check_target(target)
    kind = type(release.query).__name__
    grouped = bool(release.levels) or getattr(release.query, "where", None) is not None
    source = source_of(release)
    blocks = tuple(
        replace(
            block(kind, part, rows=release.rows, grouped=grouped, target=target, what=who(release)),
            people=people_of(release),
            source=source,
            shared=_shared(release, part),
        )
        for part in release.parts
    )
    made = Estimate(
        release,
        target,
        estimand(release, target),
        _terms(release),
        blocks,
        notes=(missing_words(release),) if kind != "Count" else (),
        units=_units(release),
        term_title=":".join(column for column, _ in release.levels),
    )
    return replace(made, notes=(*made.notes, *weighting.notes(made)))


def _shared(release: Released, part: Part) -> bool:
    """Whether persons of unequal weight may be in several cells.  Those who weigh alike need no care: their variances
    are those of whole persons in each cell, and (sum a y)**2 <= sum a y**2 where the parts a add up to at most 1.
    The forms say which persons are in one cell (`constant` levels): `mechanisms.weighted_forms`.
    """
    facts = part.parameters
    parted = facts.get("first") == 1 or facts.get("less") == 1 or facts.get("edge") == 2
    return release.unit is not None and bool(release.levels) and part.weight is not None and parted


def source_of(release: Released) -> str:
    """What makes two releases one: table, charge and chain head; a simulated one is itself only."""
    head = getattr(release, "head", None)
    if not head:
        return f"simulated {id(release)}"
    words = [release.table, *(getattr(release, name, "") for name in ("charge", "head", "name", "mechanism"))]
    return "/".join(str(word) for word in (*words, release.query))


def people_of(release: Released) -> str:
    """Whose data: a ledger's population where one is recorded, else the table's name says it."""
    ledger = getattr(release, "ledger", None)
    return f"ledger {ledger}" if ledger and getattr(release, "recorded", False) else f"table {release.table}"


def _terms(release: Released) -> tuple[str, ...]:
    """Cells; columns where there is no `by`; "column:cell" for several columns with `by`."""
    cells = cell_labels(release.levels)
    if not release.levels:
        return tuple(part.label or "rows" for part in release.parts)
    if len(release.parts) == 1:
        return cells
    return tuple(f"{part.label}:{cell}" for part in release.parts for cell in cells)


def title(release: Released) -> str:
    """What was asked, in words: Mean of age by sex."""
    query = cast(Any, release.query)
    kind, by = type(query).__name__, tuple(getattr(query, "by", ()))
    if kind == "DataQuality":
        return f"Quality of {_and(tuple(part.label for part in release.parts))}"
    columns = (query.column,) if kind in ("Quantiles", "Range") else tuple(getattr(query, "columns", ()))
    if kind == "SampleAndAggregate":
        model = query.model.words
        law = "" if model["family"] == "Statistic" else " law"
        words = f"{model.get('name', model['family'])}{law} of {_and(tuple(query.what))}"
        return words + (f" where {query.where}" if query.where else "")
    if kind == "SufficientStatistics":
        words = f"{query.family.words['family']} law of {query.what}"
        return words + (f" where {query.where}" if query.where else "")
    if kind == "Histogram":
        return f"Histogram of {_and(tuple(query.columns))}" + (f" where {query.where}" if query.where else "")
    what = f"Number of {who(release)}" if kind == "Count" else f"{kind} of {_and(columns)}"
    what = f"{what} by {_and(by)}" if by else what
    what = f"{what} where {query.where}" if getattr(query, "where", None) else what
    return f"{what}, weighted by {query.weights}" if getattr(query, "weights", None) else what


def who(release: Released) -> str:
    """What is counted: rows, or persons where the schema has a PrivacyUnit."""
    return "rows" if release.unit is None else "persons"


def estimand(release: Released, target: Target, label: str | None = None) -> str:
    """What is estimated, in words: "mean of age, values clamped to 0–100 years"."""
    kind = type(release.query).__name__
    fixed = release.rows is not None
    if kind == "Count":
        words = f"number of {who(release)}"
        if release.parts[0].weight is not None:
            words = f"sum of weights (size of the population){_weights(release, release.parts[0])}"
    else:
        parts = [part for part in release.parts if label in (None, part.label)]
        words = f"{_kind(release, parts[0])} of {_and(tuple(_column(part) for part in parts))}"
        words += _weights(release, parts[0])
    condition = getattr(release.query, "where", None)
    words += f", where {condition}" if condition else ""
    if kind == "Variance":
        words += ", divisor n - 1"
    if target == "table":
        return f"{words}, of the {who(release)} of this table"
    if kind in ("Count", "Sum"):
        drawn = (
            f"{release.rows:,} {who(release)}" if fixed else f"{who(release)} whose number is itself random (Poisson)"
        )
        return f"expected {words}, in a table of {drawn} drawn like this one"
    return words


def _kind(release: Released, part: Part) -> str:
    """Mean, weighted mean, mean of person means, ..."""
    kind = type(release.query).__name__.lower()
    if release.unit is not None and part.weight is None:
        return f"{kind} of person means" if kind == "mean" else f"{kind} between persons, of person means,"
    return f"weighted {kind}" if getattr(release.query, "weights", None) else kind


def _weights(release: Released, part: Part) -> str:
    if part.weight is None:
        return ""
    by_rows = f", persons counting by their rows, at most {release.unit} of them"
    if part.weight.kind == "rows":
        return by_rows
    column, cap = getattr(release.query, "weights", ""), part.weight.upper
    if release.unit is None:
        return f", weights {column} clamped to 0–{_number(cap)}"
    if type(release.query).__name__ == "Sum" or getattr(release.query, "per", None) == "row":
        return f", weights {column} clamped to 0–{_number(cap / release.unit)}{by_rows}"
    return f", persons weighing the mean of their rows' {column}, clamped to 0–{_number(cap)}"


def _column(part: Part) -> str:
    grid = part.grid
    if grid is None or grid.kind == "boolean":
        return part.label
    units = f" {grid.units}" if grid.units else ""
    return f"{part.label}, values clamped to {_number(grid.lower)}–{_number(grid.upper)}{units}"


def bounds_words(part: Part) -> str:
    """Clamping bounds in words (bounds 0 to 100 years); empty for a Boolean column."""
    grid = part.grid
    if grid is None or grid.kind in ("boolean", "score"):  # scores are clipped alike, whatever they are of
        return ""
    units = f" {grid.units}" if grid.units else ""
    return f"bounds {_number(grid.lower)} to {_number(grid.upper)}{units}"


def bounds_of(release: Released) -> dict[str, str]:
    """Those of each part that has some, by its label: of a winsorised parameter its box, which comes first."""
    found: dict[str, str] = {}
    for part in release.parts:
        words = bounds_words(part)
        if words and not (part.form == "blocks" and part.label in found):
            found[part.label] = words
    return found


def in_blocks(release: Released) -> bool:
    """Whether bounds are the boxes of parameters, to which the estimates of blocks are clamped."""
    return type(release.query).__name__ == "SampleAndAggregate"


def missing_words(release: Released) -> str:
    """How missing values were treated, in words."""
    rules = {part.label: part.grid.missing for part in release.parts if part.grid is not None}
    said = {rule: "left out" if rule == "exclude" else f"counted as {rule}" for rule in rules.values()}
    if len(said) == 1:
        return f"missing: {next(iter(said.values()))}"
    return "missing: " + ", ".join(f"{column} {said[rule]}" for column, rule in rules.items())


def _units(release: Released) -> str | None:
    found = {part.grid.units for part in release.parts if part.grid is not None}
    return found.pop() if len(found) == 1 else None


def _and(names: tuple[str, ...]) -> str:
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)


def _number(x: float) -> str:
    return f"{x:,.0f}" if float(x).is_integer() else f"{x:,}"
