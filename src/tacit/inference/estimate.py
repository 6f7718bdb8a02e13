"""Estimates: values with both errors, their intervals, and what can be made of them.  Post-processing: costs nothing.

The error of an estimate is sampling error plus L z, the z independent integer noises whose laws are known; every
interval and p-value uses that sum.  `blocks` hold the terms of a release; `matrix`, where there is one, makes linear
combinations of them (contrasts, standardised values, differences), so their noise is exact too.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from tacit.errors import InferenceError, nearest
from tacit.inference import laws
from tacit.inference.laws import Array
from tacit.inference.terms import Block, Target, check_level
from tacit.privacy import Cost
from tacit.release import Released
from tacit.untyped import pandas

if TYPE_CHECKING:
    import pandas as pd  # pyright: ignore[reportMissingTypeStubs]

    from tacit.inference.comparisons import Ratio
    from tacit.inference.contrasts import Pairwise, Test
    from tacit.tables import Table


@dataclass(frozen=True)
class Estimate:
    """One or several labelled numbers with their errors.

    Attributes
    ----------
    release: the release they come from (of two releases, the first; `others` has the rest).
    target: "population" (sampling and privacy are uncertain) or "table" (privacy only).
    estimand: what the numbers estimate, in words.
    terms: one label each.
    notes: what a reader of the numbers must know, one sentence each.

    One term gives floats and a pair; several give pandas Series and DataFrames indexed by term.
    Source: theory §9 (standard errors), §1.5 (the law of both errors together), §1.4 (why it is free).

    >>> import tacit as tc
    >>> curator = tc.Curator({"age": [30.0, 40.0] * 50}, tc.Schema({"age": tc.Real(0, 100)}), budget=tc.Budget(rho=1))
    >>> found = curator.release(tc.Mean("age"), rho=0.5).estimate()
    >>> low, high = found.conf_int()
    >>> low < found.value < high, 0 < found.privacy_share < 1, found.contrast("2 * age").value == 2 * found.value
    (True, True, True)
    """

    release: Released
    target: Target
    estimand: str
    terms: tuple[str, ...]
    blocks: tuple[Block, ...]
    matrix: Array | None = None
    notes: tuple[str, ...] = ()
    others: tuple[Released, ...] = ()
    units: str | None = None
    term_title: str = ""

    # Numbers: arrays, for code that works on many terms -----------------------------------------------------------

    @property
    def values(self) -> Array:
        """Point estimates, shape (terms,)."""
        base = np.concatenate([block.value for block in self.blocks])
        return base if self.matrix is None else self.matrix @ base

    @property
    def sampling_variances(self) -> Array:
        """Variance due to sampling, shape (terms,); zero for target="table".

        Between blocks of the same people nothing is known of the correlation, so their standard errors add (theory §9);
        nor between cells that one weighted person may be in (`Block.shared`).
        """
        if self.matrix is None:
            return np.concatenate([block.sampling_variance for block in self.blocks])
        from tacit.inference.covariance import combined_variances

        return combined_variances(self)

    @property
    def privacy_variances(self) -> Array:
        """Variance due to the noise, shape (terms,)."""
        if self.matrix is None:
            return np.concatenate([block.privacy_variance for block in self.blocks])
        return np.add.reduce([(weights**2) @ block.privacy_variance for block, weights in self.slices()])

    @property
    def std_errors(self) -> Array:
        """Standard errors for both errors together, shape (terms,)."""
        return np.sqrt(self.sampling_variances + self.privacy_variances)

    @property
    def reasons(self) -> tuple[str | None, ...]:
        """Why a term says nothing, in words, or None; one entry a term."""
        base = [reason for block in self.blocks for reason in block.reasons]
        if self.matrix is None:
            return tuple(base)
        return tuple(
            next((base[j] for j in np.flatnonzero(row) if base[j]), None)
            for row in cast("list[Array]", list(self.matrix))
        )

    def intervals(self, level: float = 0.95) -> Array:
        """Lower and upper limits, shape (terms, 2).  InferenceError I01 for a level below 0.5, or 1 and above.

        By the exact law of normal plus noise (theory §1.5), or the inversion of a count's or a proportion's law.
        """
        level = check_level(level)
        if self.matrix is None:
            pairs = [block.inversion.interval(level) for block in self.blocks]
            return np.concatenate([np.stack(pair, axis=-1) for pair in pairs])
        values = self.values
        out = np.empty((len(values), 2))
        plain = self.picked()
        base = replace(self, matrix=None).intervals(level) if any(at is not None for at in plain) else out
        for i, at in enumerate(plain):
            if at is not None:
                out[i] = base[at]
            else:
                q = float(laws.halfwidth(level, *self.law(i)))
                out[i] = values[i] - q, values[i] + q
        return out

    def picked(self) -> list[int | None]:
        """Which term of the release each row of `matrix` merely repeats (its exact interval is kept), or None."""
        if self.matrix is None:
            return list(range(len(self.terms)))
        one = (np.count_nonzero(self.matrix, axis=1) == 1) & (self.matrix.sum(axis=1) == 1)
        return [int(np.argmax(row)) if yes else None for row, yes in zip(self.matrix, one, strict=True)]

    def used(self) -> list[Block]:
        """Blocks that enter the terms."""
        if self.matrix is None:
            return list(self.blocks)
        return [block for block, weights in self.slices() if weights.any()]

    def law(self, i: int) -> tuple[Array, Array]:
        """Total error of term i: normal standard deviation, shape (), and Laplace scales, shape (k,)."""
        joint = self.matrix is not None
        rows = [(block, weights[i]) for block, weights in self.slices()] if joint else [self._one(i)]
        variance, scales = float(self.sampling_variances[i]), [np.zeros(1)]
        for block, weights in rows:
            used = np.flatnonzero(weights)
            s, b = laws.split(block.law, (weights[used, None] * block.loadings[used]).reshape(-1))
            variance += float(s) ** 2
            scales.append(b)
        return np.asarray(math.sqrt(variance)), np.concatenate(scales)

    def slices(self) -> Iterator[tuple[Block, Array]]:
        """Blocks, each with its columns of `matrix`."""
        at = 0
        matrix = cast(Array, self.matrix)
        for block in self.blocks:
            yield block, matrix[:, at : at + len(block.value)]
            at += len(block.value)

    def _one(self, i: int) -> tuple[Block, Array]:
        """The block of base term i, and the unit vector that picks it."""
        for block in self.blocks:
            if i < len(block.value):
                return block, np.eye(1, len(block.value), i)[0]
            i -= len(block.value)
        raise IndexError(i)

    # Labelled ------------------------------------------------------------------------------------------------------

    @property
    def value(self) -> Any:  # float, or Series
        """Point estimates: a float for one term, else a Series."""
        return self._label(self.values, "estimate")

    @property
    def std_error(self) -> Any:  # float, or Series
        """Standard errors, sampling and privacy together: a float for one term, else a Series."""
        return self._label(self.std_errors, "std_error")

    @property
    def privacy_share(self) -> Any:  # float, or Series
        """Part of the total variance that is due to privacy, between 0 and 1."""
        total = self.sampling_variances + self.privacy_variances
        share = np.divide(self.privacy_variances, total, out=np.zeros_like(total), where=total > 0)
        return self._label(share, "privacy_share")

    @property
    def effective_size(self) -> Any:  # float, or Series
        """How many unweighted rows (persons) the weighted ones are worth: (sum w)**2 / sum w**2 [Kish 1965].

        From the noisy sums, kept to what is possible; InferenceError I16 where there are no weights.
        """
        from tacit.inference.weighting import effective_sizes

        return self._label(effective_sizes(self), "effective_size")

    @property
    def design_effect(self) -> float:
        """Kish's n sum w**2 / (sum w)**2, rows left out weighing 0; InferenceError I16 unless all n are behind it."""
        from tacit.inference.weighting import design_effect

        return design_effect(self)

    @property
    def reason(self) -> Any:  # str | None, or Series
        """Why inference is impossible, in words, or None."""
        if len(self.terms) == 1:
            return self.reasons[0]
        return pandas().Series(list(self.reasons), index=self._index(), name="reason", dtype=object)

    def conf_int(self, level: float = 0.95) -> Any:  # (float, float), or DataFrame
        """Confidence interval: a (lower, upper) pair for one term, else a DataFrame with these two columns.

        InferenceError I01 for a level below 0.5 or not below 1.
        """
        found = self.intervals(level)
        if len(self.terms) == 1:
            return float(found[0, 0]), float(found[0, 1])
        return pandas().DataFrame(found, index=self._index(), columns=["lower", "upper"])

    @property
    def cov(self) -> pd.DataFrame:
        """Covariance matrix of the terms, sampling and privacy."""
        return self.sampling_cov + self.privacy_cov

    @property
    def sampling_cov(self) -> pd.DataFrame:
        """Covariance due to sampling; InferenceError I04 where it was not released (several columns), I05."""
        return self._frame(self.sampling_matrix())

    @property
    def privacy_cov(self) -> pd.DataFrame:
        """Covariance due to the noise; InferenceError I05 for more than 4,000 terms."""
        return self._frame(self.privacy_matrix())

    def sampling_matrix(self) -> Array:
        """Sampling covariance as an array; InferenceError I04 where it was not released, I05 where it is too large."""
        from tacit.inference.covariance import sampling

        return sampling(self)

    def privacy_matrix(self) -> Array:
        """Noise covariance, shape (terms, terms); InferenceError I05 for more than 4,000 terms."""
        from tacit.inference.covariance import privacy

        return privacy(self)

    @property
    def cost(self) -> Cost:
        """What the release cost; estimates cost nothing more."""
        return self.release.cost

    def __getitem__(self, term: str | list[str]) -> Estimate:
        """Some of the terms, or all terms of one column, as an Estimate; InferenceError I02 for an unknown one."""
        from tacit.inference.contrasts import select

        return select(self, term)

    def __len__(self) -> int:
        return len(self.terms)

    # What can be made of them -------------------------------------------------------------------------------------

    def test(self, constraints: str) -> Test:
        """Test linear constraints, "age = 0" or "`north:female` = `north:male`, south = 0" (backticks around labels).

        One constraint: p-value of the exact law of its total error.  Several: Wald, chi-square, total covariance.
        InferenceError I02, I03 for unknown terms and malformed text.  Source: theory §1.5.
        """
        from tacit.inference.contrasts import test

        return test(self, constraints)

    def contrast(self, expression: str) -> Estimate:
        """A linear combination, "`a` - `b`", as an Estimate (theory §1.5); InferenceError I02, I03."""
        from tacit.inference.contrasts import contrast

        return contrast(self, expression)

    def pairwise(self, adjust: str | None = "holm") -> Pairwise:
        """All differences; adjusted by "holm" [Holm 1979], "bonferroni", "simultaneous" (largest |t|) or None.

        InferenceError I08 for another word, I05 for one term or more than 150, I04 where the joint law is not known.
        """
        from tacit.inference.contrasts import pairwise

        return pairwise(self, adjust)

    def standardize(self, weights: Mapping[str, float]) -> Estimate:
        """Direct standardisation (theory §1.4): public weights of terms that add up to 1.  InferenceError I02, I06."""
        from tacit.inference.contrasts import standardize

        return standardize(self, weights)

    def poststratify(self, totals: Mapping[str, float], of: str = "mean") -> Estimate:
        """One mean (of="total": one total) from means by cells and the known population total of every cell.

        totals: counts (or shares) of the population, above 0, one for each cell of `by`; those of another source, for
        they are taken as known.  Of several columns: one term each.  InferenceError I02 (an unknown cell), I15.
        Source: theory §1.4, [Holt & Smith 1979].
        """
        from tacit.inference.poststrata import poststratify

        return poststratify(self, totals, of)

    def ratio(self, numerator: str, denominator: str) -> Ratio:
        """Ratio of two terms (of shares: the risk ratio), interval of [Fieller 1954]; InferenceError I02."""
        from tacit.inference.comparisons import ratio

        return ratio(self, numerator, denominator)

    def odds_ratio(self, one: str, other: str) -> Ratio:
        """Odds ratio of two shares, on the log scale [Woolf 1955]; InferenceError I02, I11."""
        from tacit.inference.comparisons import odds_ratio

        return odds_ratio(self, one, other)

    def trend(self, scores: Sequence[float] | None = None) -> Estimate:
        """Least-squares slope over the terms in their order, a linear contrast (theory §1.5); InferenceError I06."""
        from tacit.inference.comparisons import trend

        return trend(self, scores)

    def independence(self, *, draws: int = 9_999, rng: int = 0) -> Test:
        """Independence of a Count's two factors, noise in its law [Gaboardi et al. 2016]; InferenceError I12."""
        from tacit.inference.comparisons import independence

        return independence(self, draws=draws, rng=rng)

    # Shown ---------------------------------------------------------------------------------------------------------

    def summary(self, level: float = 0.95) -> Table:
        """Estimates, standard errors, intervals and what part is privacy, as a table; InferenceError I01."""
        from tacit.inference.display import summary

        return summary(self, level)

    def to_frame(self, level: float = 0.95) -> pd.DataFrame:
        """estimate, std_error, lower, upper, privacy_share, reason: a frame indexed by term; InferenceError I01."""
        found = self.intervals(level)
        total = self.sampling_variances + self.privacy_variances
        columns = {
            "estimate": self.values,
            "std_error": self.std_errors,
            "lower": found[:, 0],
            "upper": found[:, 1],
            "privacy_share": np.divide(self.privacy_variances, total, out=np.zeros_like(total), where=total > 0),
            "reason": [reason or "" for reason in self.reasons],
        }
        return pandas().DataFrame(columns, index=self._index())

    def plot(self, ax: Any = None) -> Any:
        """Intervals, sampling and privacy apart; `.save("a.png")`.  InferenceError I20 (no matplotlib), I05."""
        from tacit.plots import picture

        return picture(self, ax)

    def __str__(self) -> str:
        return str(self.summary())

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return self.summary().to_html()

    def _index(self) -> pd.Index:
        return pandas().Index(self.terms, name=self.term_title or None)

    def _label(self, array: Array, name: str) -> Any:
        if len(self.terms) == 1:
            return float(array[0])
        return pandas().Series(array, index=self._index(), name=name)

    def _frame(self, array: Array) -> pd.DataFrame:
        return pandas().DataFrame(array, index=self._index(), columns=self._index())


def position(estimate: Estimate, term: str) -> int:
    """Index of a term; InferenceError I02 with the nearest one."""
    if term in estimate.terms:
        return estimate.terms.index(term)
    guess = nearest(str(term), list(estimate.terms))
    known = ", ".join(estimate.terms[:8]) + (", …" if len(estimate.terms) > 8 else "")
    raise InferenceError(f"no term is called {term!r}.", code="I02", hint=guess or f"one of {known}", state=None)


def combine(estimate: Estimate, weights: Array, terms: tuple[str, ...], estimand: str, note: str = "") -> Estimate:
    """Linear combinations of the terms, `weights` of shape (new, old)."""
    size = sum(len(block.value) for block in estimate.blocks)
    matrix = weights @ (np.eye(size) if estimate.matrix is None else estimate.matrix)
    kept = tuple(one for one in estimate.notes if not one.startswith("weights: "))  # said of terms as released
    notes = (*kept, note) if note else kept
    return replace(estimate, terms=terms, matrix=matrix, estimand=estimand, notes=notes, term_title="")
