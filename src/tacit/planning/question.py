"""One question of a plan: what leaves in plain words, what is released exactly, and what to beware of."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, cast

import numpy as np

from tacit.estimates.densities.rounded_values import planned_notes
from tacit.estimates.wording import title
from tacit.method.histogram import sparse_design
from tacit.method.histogram.query import Histogram
from tacit.method.ks_dataset.design import KIND as DATA_SET
from tacit.method.quantiles.query import Quantiles
from tacit.method.regression.query import Regression
from tacit.method.shared.measurement import Measurement, PartSpec
from tacit.method.shared.plan_expected import UNTOLD_COUNTS, UNTOLD_DENSITY, UNTOLD_POSITIVES, Expected
from tacit.method.shared.simulated_parts import simulated
from tacit.planning.expected import cautions as own_cautions
from tacit.planning.expected import has_groups, says_all
from tacit.planning.expected_cells import by_cells
from tacit.planning.guessed_spreads import WidthRange
from tacit.planning.printed_widths import percent_of
from tacit.planning.small_groups import OtherShares
from tacit.release.encoding_rules import FORMS
from tacit.release.parts import Variable
from tacit.schema.autobins import is_chosen
from tacit.schema.expectations import Expectations


def integers_of(column: PartSpec) -> int:
    """Return how many integers a part releases in a cell: one selection may be of three steps."""
    shape = FORMS.get(column.form.name)
    return max(len(column.form.matrix), 0 if shape is None else shape.integers[0])


@dataclass(frozen=True)
class PlannedQuestion:
    """One question of a plan: its name, its mechanism and noise (`shape`), and the expected precision of its terms.

    other: the widest interval of a group of another size, where the shares of groups are not known.  narrower: another
    question that would tell the same more precisely, in words.  ranges: of a regression the least and the largest width
    of each term, over guesses of the spreads of columns of which nothing is said; of quantiles over laws that agree
    with what is told.
    way: which method "auto" takes, and why.  enough: what would let a regression be answered that has no answer.
    """

    name: str
    shape: Measurement
    terms: tuple[Expected, ...]
    other: OtherShares | None = None
    narrower: str | None = None
    ranges: tuple[WidthRange, ...] = ()
    way: str | None = None
    enough: str | None = None
    none: float | None = None
    """Of a regression that is expected to have no answer: in which part of simulated releases it has none."""
    reads: tuple[Variable, ...] = ()
    """The columns whose values its widths rest on."""
    curve: Expected | None = None
    """Of a histogram of one column of bins: what its smooth density would have."""

    @property
    def numbers(self) -> int:
        """How many noisy integers would be released; for a sparse histogram the expected number of empty cells."""
        if self.shape.kind == sparse_design.KIND:
            return math.ceil(self.passing)
        return sum(integers_of(column) for column in self.shape.columns) * self.shape.cells

    @property
    def passing(self) -> float:
        """Expected number of empty cells of a sparse histogram whose noisy count reaches the threshold."""
        (column,) = self.shape.columns
        return sparse_design.false_cells(column.law, column.form.parameters["threshold"], self.shape.cells)

    @property
    def called(self) -> str:
        """The question's name, or what it asks."""
        return self.name or self.asked

    @property
    def asked(self) -> str:
        """What is asked, in words: Mean of age by region."""
        words = vars(self.shape.query)
        if "formula" not in words:
            nothing = tuple(np.zeros((0, 1), dtype=np.int64) for _ in self.shape.columns)
            return title(simulated(self.shape, nothing))
        where = f" where {words['where']}" if words.get("where") else ""
        return f"{type(self.shape.query).__name__} ({words['model']}) of {words['formula']}{where}"

    @property
    def leaves(self) -> str:
        """What leaves, in plain words."""
        asked = self.asked if not self.name else f"{self.name}: {self.asked}"
        if self.shape.kind == sparse_design.KIND:
            return f"{asked}; {self._kept()}{self._chosen()}"
        number, cells = self.numbers, self.shape.cells
        if self.shape.kind == DATA_SET:
            # of the first part, one integer a cell; the others are of the number of rows
            first, *others = self.shape.columns
            points = first.form.parameters["G"]
            rest = f"; {sum(map(integers_of, others))} numbers of rows with random noise added" if others else ""
            return f"{asked}; a data set of {points:,} points drawn at random{rest}"
        numbers = "1 number" if number == 1 else f"{number:,} numbers"
        each = f", {number // cells:,} for each of {cells:,} groups or cells" if cells > 1 else ""
        return f"{asked}; {numbers} with random noise added{each}{self._chosen()}"

    @property
    def technical(self) -> str:
        """What is released exactly: integers, encodings, noise."""
        if self.shape.kind == sparse_design.KIND:
            return f"{self.called}: {self._kept()}; {self.shape.columns[0].law.name} noise"
        words = [f"{integers_of(column)} of {column.label or 'the rows'}" for column in self.shape.columns]
        # replicates are alike
        each = [f"{words.count(one)} times {one}" if words.count(one) > 1 else one for one in dict.fromkeys(words)]
        cells = f" in each of {self.shape.cells:,} cells" if self.shape.cells > 1 else ""
        noise = ", ".join(sorted({column.law.name for column in self.shape.columns}))
        forms = ", ".join(sorted({column.form.name for column in self.shape.columns}))
        kind = type(self.shape.query).__name__
        return f"{self.called} ({kind}): {', '.join(each)}{cells}; {noise} noise, integer form {forms}"

    def _kept(self) -> str:
        """Return which cells of a sparse histogram leave."""
        (column,) = self.shape.columns
        facts = column.form.parameters
        at = f"noisy count of {facts['threshold'] / facts.get('share', 1):,.4g} or more"
        some = f"about {self.passing:,.3g} empty ones and those that hold so many"
        return f"cells of {self.shape.cells:,} with a {at}, {some}"

    def _chosen(self) -> str:
        """Return in words the numbers of bins that bins="auto" or "density" chose."""
        asked = dict(cast("tuple[tuple[str, Any], ...]", getattr(self.shape.query, "bins", ())))
        found = [
            f"{key.regular:,} of {key.column}"
            for key in self.shape.keys
            if is_chosen(asked.get(key.column)) and key.edges
        ]
        return f"; bins chosen: {', '.join(found)}" if found else ""

    @property
    def evenly(self) -> bool:
        """Whether a width rests on the values of a column of numbers, not of two values."""
        return any(column.rowmap is not None and column.rowmap.G > 1 for column in self.shape.columns)

    def known(self, expect: Expectations) -> bool:
        """Return whether something is expected of every column of numbers."""
        maps = (column.rowmap for column in self.shape.columns)
        return all(at is None or at.G == 1 or at.column in expect.numbers for at in maps)

    def untold(self, expect: Expectations) -> str | None:
        """Return what is assumed of a response of counts or positive values of which nothing is expected, in words.

        Of a histogram it is how values lie within bins, where its columns may be rounded.
        """
        query = self.shape.query
        if isinstance(query, Histogram):
            return next(iter(planned_notes(zip(query.columns, self.shape.axes, strict=True))), None)
        if isinstance(query, Quantiles):
            return None if query.column in expect.numbers else UNTOLD_DENSITY
        if not isinstance(query, Regression) or query.columns[0] in expect.numbers:
            return None
        return {"poisson": UNTOLD_COUNTS, "gamma": UNTOLD_POSITIVES}.get(query.model)

    def cautions(self, rows: int) -> list[str]:
        """Return what to beware of, from public facts; rows: their number."""
        found: list[str] = []
        if getattr(self.shape.query, "where", None) is not None:
            found.append(
                f"{self.called}: planned as if every row met where=; if a share p does, intervals are wider by 1/√p, "
                "what privacy adds by 1/p"
            )
        if self.way is not None:
            found.append(f"{self.called}: {self.way}")
        if self.narrower is not None:
            found.append(f"{self.called}: {self.narrower}")
        found += self._noise(rows)
        found += [f"{self.called}: {words}" for words in own_cautions(self.shape, rows)]
        if says_all(self.shape):
            return found
        if self.other is not None and not math.isfinite(self.other.width) and math.isfinite(self.other.planned):
            share = f"{100 * self.other.share:.3g} %"
            found.append(f"{self.called}: a group of {share} would have no answer; say how large groups are (expect)")
        return found + self._precision(rows)

    def _less(self) -> str:
        """Return what would make privacy's part smaller."""
        query = self.shape.query
        if self.shape.blocks is not None:
            return "more budget or a narrower box"
        if isinstance(query, Regression):
            return "more budget or fewer regressors"
        if isinstance(query, Quantiles):
            several = len(cast("tuple[object, ...]", query.probs)) > 1
            ways = [*(["fewer quantiles"] if several else []), *(["fewer groups"] if self.shape.keys else [])]
            return " or ".join(["more budget", *ways])
        return "more budget or fewer cells" if self.shape.cells > 1 and has_groups(self.shape) else "more budget"

    def _noise(self, rows: int) -> list[str]:
        """Return a caution for each part whose noise exceeds most counts."""
        cells, found = self.shape.cells, list[str]()
        for column in self.shape.columns:
            if column.form.name not in ("count", "group", "binary-group"):
                continue
            facts = column.form.parameters
            # noise in rows: a row adds G to the integers, a person as many times more as the weight is divided
            if math.sqrt(column.law.variance()) / (facts["G"] * facts.get("share", 1)) > rows / cells:
                words = "noise larger than most counts; fewer levels would do"
                found.append(f"{self.called}: {cells:,} cells for {rows:,} rows: {words}")
        # replicates are alike
        return list(dict.fromkeys(found))

    def _precision(self, rows: int) -> list[str]:
        """Return cautions on wide intervals and small cells."""
        if any(math.isinf(one.width) for one in self.terms):
            if self.shape.keys and not by_cells(self.shape):
                several = sum(math.isinf(one.width) for one in self.terms)
                what = (
                    f"noise too large for {several:,} of {len(self.terms):,} groups; larger groups, or a higher price"
                )
            else:
                some = f" in {100 * self.none:.0f} % of simulated releases" if self.none not in (None, 1.0) else ""
                what = f"noise too large for any coefficient{some}; fewer regressors, or a higher price"
                if self.enough is not None:
                    words = f"noise too large for any coefficient{some}; {self.enough}, or fewer regressors"
                    return [f"{self.called}: {words}"]
            return [f"{self.called}: {what}, would do"]
        found: list[str] = []
        worst = max(self.terms, key=lambda one: one.privacy)
        if worst.privacy > 0.5:
            share = f"{percent_of(worst.privacy)} of the variance"
            found.append(f"{self.called}: privacy makes {share}; {self._less()}")
        grouped = bool(self.shape.keys) and not by_cells(self.shape)
        smallest = min(one.rows for one in self.terms) if grouped else rows
        if self.shape.cells > 1 and smallest < 30:
            found.append(f"{self.called}: about {smallest:.0f} rows a cell: intervals rest on a normal approximation")
        return found
