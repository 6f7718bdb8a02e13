"""One of a public list of candidates by the exponential mechanism, drawn exactly.  INSIDE the wall.

Definition
    Rows for which `where` holds and that have a value in every column are counted in the crossed public cells of the
    columns; n_j of them in cell j.  With a PrivacyUnit the rows of a person have weights that add up to at most A in
    all (`rows.row_map.PersonWeight`), and n_j adds up weights.  Candidate c has public integers w_cj.  Its utility is
    "sum": u_c = sum_j w_cj n_j; "ks": u_c = -ceil(max_i |k N_i - N S_i| / k), N_i and S_i the sums of n_j and w_cj over
    the first i cells, N and k over all.  One candidate is drawn, with probability proportional to exp(epsilon u_c / R).
    Public: schema, query with all candidates, relation, price and, under replace-one, the number of rows (persons).
    Neighbours: one row (person) replaced, or one added or removed; a value may be missing.
Sensitivity
    R, the spread: the most by which a neighbour changes the difference u_c - u_c' of two candidates.  Proof.  "sum":
    the change of u_c is sum_j w_cj (x'_j - x_j), x and x' the weights of the person before and after, at least 0 and at
    most A in all.  The difference of two of them is linear in x and x', so largest at corners: no weight, or A in one
    cell.  R / A is the maximum over all of these corners that the relation allows, computed exactly (`utilities`):
    max_j (max_c w_cj - min_c w_cj) for a row added, removed, or going missing, max_jj' (max_c (w_cj' - w_cj) - min_c
    (w_cj' - w_cj)) for one replaced.  It is at most twice the most that a utility changes, and less where all change
    alike.  "ks": u_c changes by at most A, as the level of a data set does (theory §3.9: numbers that are at most A
    apart have whole numbers above them at most A apart), so that R = 2 A.
    A sensitivity that the question declares is compared with the exact one and has no other part.
Noise
    Drawn exactly by `noise.select`, with utilities 2 u_c at the rate epsilon / (2 R), epsilon the range that the price
    buys: but for a constant, which no probability has, a neighbour changes each of 2 u_c by at most R.
Cost
    epsilon, pure, and bounded range epsilon, hence epsilon**2 / 8 in rho [McSherry & Talwar 2007; Dong, Durfee & Rogers
    2020; Cesar & Rogers 2021]: the log-ratio of two neighbours' probabilities is epsilon (u_c - u'_c) / R plus a
    constant, and differs between candidates by at most epsilon.
Failures
    None depends on a row: without a row utilities are 0, and a candidate is drawn all the same.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Final, cast

import numpy as np

from tacit.method.exponential_mechanism.design import CandidatePart, design
from tacit.method.exponential_mechanism.query import ExponentialMechanism
from tacit.method.exponential_mechanism.utilities import utilities
from tacit.method.shared.measurement import Measurement
from tacit.method.shared.mechanism import Mechanism
from tacit.method.shared.mechanism_cell_counts import counts
from tacit.method.shared.pair_or_epsilon import of_selection
from tacit.noise.select import choose
from tacit.release.parts import Part
from tacit.source import Source


def measure(shape: Measurement, source: Source) -> tuple[Part, ...]:
    """READS ROWS.  Return the number of the candidate that was drawn."""
    return released(shape, exact(shape, source)[0], drawn)


def exact(shape: Measurement, source: Source) -> tuple[list[int], ...]:
    """READS ROWS.  Return twice the utility of every candidate: never to be shown."""
    part = cast(CandidatePart, shape.columns[0])
    found = counts(replace(shape, keys=part.keys), source)
    query = cast(ExponentialMechanism, shape.query)
    return ([2 * u for u in utilities(query, np.array(part.weights, dtype=np.int64), found.tolist())],)


def released(shape: Measurement, found: list[int], draw: Any) -> tuple[Part, ...]:
    """Return the part; draw: draws a candidate by its utilities, either exactly, which protects, or seeded."""
    (part,) = shape.columns
    return (part.released(((draw(found, part.law),),)),)


def drawn(found: list[int], law: Any) -> int:
    """Return the number of a candidate that is drawn exactly."""
    return choose(law, found, [1] * len(found))[0]


MECHANISM: Final = Mechanism(design, measure, exact, of_selection)
