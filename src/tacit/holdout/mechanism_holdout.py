"""The reusable hold-out: AboveThreshold on integers, restarted after each answer.  INSIDE the wall.

Definition
    A *run* answers checks (score, training value), which may be chosen after seeing all earlier answers.  Of a check,
    with u the score of a row (or person) in steps from 0 to U, p the training value and t the threshold in steps, and S
    and N the sum of u and the number of rows that have a score, the excess is the integer

        f = |S - p N| - t N,

    above 0 exactly where the mean of the hold-out differs from the training value by more than the threshold.  The run
    begins with one integer A of noise for the threshold.  Each check draws a fresh integer B.  Where f + B < A the
    answer is "no difference", and the run goes on.  Else the answer is the release of the score's mean, and the run is
    over: A is forgotten, and no later check sees it.  Public: schema, neighbouring relation, threshold, price, scores,
    training values, and under replace-one the number of rows.  [Dwork, Feldman, Hardt, Pitassi, Reingold & Roth 2015,
    Thresholdout], with a threshold that is the same for both signs.
Sensitivity
    f is the larger of g = sum(u - p - t) and h = sum(p - u - t) over the rows that are present.  A present row adds to
    g a number in [-p - t, U - p - t], to h one in [p - U - t, p - t]; an absent row adds 0; p is in [0, U].  A row that
    comes or goes changes each by at most max(p, U - p) + t <= U + t; a row that is replaced by another one that is
    present, by at most U.  The larger of two sums that change by at most s changes by at most s: s = U + t, under both
    relations.  With a PrivacyUnit a row is a person's, whose rows were reduced to one u before.
    The answer's sensitivity is that of the mean's encoding (`method.shared.encoding`).
Noise
    A: discrete Laplace of scale a = s / (ε/4).  B: discrete Laplace of scale b = 2 s / (ε/4).  The answer: discrete
    Laplace at ε/2, as any release of that mean (`method.moments.mechanism`).
Cost
    A run is ε-DP, however many checks it has.  Let the tables x and x' be neighbours, and fix a transcript: checks
    1, ..., k - 1 without a difference, and check k with one (or none with one).  The analyst's choices are the same
    along it, so that they cancel.  Given A = z, its probability is the product of P(f_i + B_i < z) over i < k, and of
    P(f_k + B_k >= z).  Let the tables change and z become z + s:
    - P(A = z) <= exp(s / a) P(A = z + s) = exp(ε/4) P(A = z + s);
    - P(f_i(x) + B_i < z) <= P(f_i(x') + B_i < z + s), since f_i(x') <= f_i(x) + s: free, for every i < k;
    - P(f_k(x) + B_k >= z) <= exp(2 s / b) P(f_k(x') + B_k >= z + s), since z + s - f_k(x') exceeds z - f_k(x) by at
      most 2 s: exp(ε/4).
    Sum over all z.  [Dwork & Roth 2014, Theorem 3.23; Lyu, Su & Li 2017, Theorem 2, for one answer]  The answer adds
    ε/2, by basic composition.  The charge is made before A is drawn, one charge a run, and runs add up.
    A run may be open while other questions are answered, at prices chosen meanwhile: an interactive ε-DP mechanism is
    randomised response on one bit, drawn when it is charged, and post-processing of it [Vadhan & Wang 2021; Lyu 2022;
    Haney, Shoemate, Tian, Vadhan, Vyrros, Xu & Zhang 2023].  For a pair of tables with laws P, P'
    of transcripts: Q = (e^ε P - P') / (e^ε - 1) and Q' = (e^ε P' - P) / (e^ε - 1) are laws of transcripts too, since P
    and P' of every prefix differ by a factor of e^ε at most, and P = (e^ε Q + Q') / (e^ε + 1).  So what holds for
    randomised response at ε, and for what is asked after it, holds here: ρ = ε²/2, and μ as of any pure price.
Failures
    Whatever goes wrong in a check ends its run: the charge stands, A is forgotten, and the next check pays for a new
    run.  A is in memory alone: it is in no document, ledger, log or message, cannot be pickled or copied, and a forked
    process does not have it.  That a check takes longer when it is answered from the hold-out tells no more than the
    answer does.  Times and memory are else not covered.
"""

from __future__ import annotations

import os
from typing import Any, NamedTuple, NoReturn

from tacit.holdout.holdout_design import HoldoutDesign
from tacit.holdout.holdout_score import HoldoutScore
from tacit.method.shared.mechanism_additive import protect
from tacit.method.shared.mechanism_sums import check_rows
from tacit.noise.exact import draw
from tacit.release.parts import Cells, Part
from tacit.source import Source


class HeldOut(NamedTuple):
    """Exact integers of one score.  Never to be shown.

    total: the sum of scores in steps.  present: how many rows have one.  cells: the integers of the mean's encoding.
    """

    total: int
    present: int
    cells: Cells


def exact(score: HoldoutScore, source: Source) -> HeldOut:
    """READS ROWS.  Return the exact integers of a score, from one pass: never to be shown."""
    columns = {one.source: one for one in score.shape.computed}
    table = source.computing(columns) if columns else source
    terms = [*score.column.terms, score.in_steps]
    found = table.aggregate((), terms, score.shape.unit, None)
    check_rows(score.shape, found)
    (cell,) = found.cells
    return HeldOut(cell[-1], cell[0], (score.column.form.assemble(cell[:-1]),))


class Run:
    """One run: a noisy threshold, which is over with its first difference.

    Made after its charge.  It is in the memory of one process alone.
    """

    __slots__ = ("_design", "_noise", "_process")

    def __init__(self, design: HoldoutDesign) -> None:
        self._design = design
        self._process = os.getpid()
        # Noise, A: drawn once a run
        self._noise: int | None = int(draw(design.threshold_law, 1)[0])

    @property
    def going_on(self) -> bool:
        """Whether the run has not ended, and is this process's own."""
        return self._noise is not None and self._process == os.getpid()

    def differs(self, found: HeldOut, place: int) -> bool:
        """Return whether a score's mean is found to differ from a training value; RuntimeError of a run that is over.

        A difference ends the run.
        """
        noise, self._noise = self._noise, None
        if noise is None or self._process != os.getpid():
            raise RuntimeError("this run is over")
        # Noise, B: fresh for each comparison
        fresh = int(draw(self._design.comparison_law, 1)[0])
        if self._design.excess(found.total, found.present, place) + fresh >= noise:
            return True
        # without a difference the same threshold stands, at no further cost (Cost)
        self._noise = noise
        return False

    def __reduce_ex__(self, protocol: Any) -> NoReturn:
        """Refuse to be copied or pickled: a noisy threshold is never stored, and serves one run."""
        raise TypeError("a run of a hold-out is neither stored nor copied")


def answered(score: HoldoutScore, found: HeldOut) -> tuple[Part, ...]:
    """Return the mean of a score with fresh noise, at the cost of an answer."""
    return (score.column.released(protect(found.cells, score.column.law)),)
