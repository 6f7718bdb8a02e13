"""Profiles of one replicate of a bootstrap: bounds for neighbours, with their proofs.  No data here.

A replicate draws secret multiplicities M_i of the rows, and releases Σ M_i x_i plus N(0, σ²) noise in each coordinate,
rounded to integers, which is post-processing.  x_i is the vector of row i; Δ bounds what `Resampling` says, in the ℓ2
norm, and μ = Δ/σ.  M is the multiplicity of the row that differs, x its vector, x' that of its neighbour, s the sum of
the other rows with their multiplicities.  δ_μ is the profile of N(0, 1) and N(μ, 1) (`privacy.gaussian`), H_α(P, Q) the
hockey-stick divergence sup_S P(S) - α Q(S): the profile of (P, Q) at ε is H_α with α = e^ε.

Replace-one, multinomial
    The `draws` draws are uniform on n rows, n public, so the row that differs has multiplicity M of law
    Binomial(draws, 1/n): p_m.  Δ bounds |x - y| for any two rows.  Let P_m and Q_m be the laws of the release given
    M = m.  (1) P_0 = Q_0.  (2) Given M = m the other draws have one law for both neighbours, and given those the
    release is N(s + m x, σ²) or N(s + m x', σ²): so the profile of (P_m, Q_m) is at most δ_mμ, as profiles are jointly
    convex.  (3) So is that of (P_m, P_0), either way round: m of the draws that P_0 makes of the other rows, y_1 … y_m,
    are replaced by x, which moves the sum by Σ (x - y_l), at most m Δ.  Now let p = 1 - p_0, α >= 1 and
    α' = 1 + p (α - 1).  Advanced joint convexity [Balle, Barthe & Gaboardi 2018, Theorem 2] with (1) gives, for some
    β in [0, 1], h(ln α') <= p ((1 - β) H_α(P_+, P_0) + β H_α(P_+, Q_+)), where P_+ mixes the P_m, m >= 1, with weights
    p_m / p; by joint convexity, (2) and (3), both are at most Σ (p_m / p) δ_mμ(ln α).  Hence

        h(ε) <= Σ_{m>=1} p_m δ_mμ(ln(1 + (e^ε - 1) / p))        for ε >= 0, in both orders.

    As k grows at constant k μ², k of these cost μ² = (2 - 2/e) k μ² [Wang, Cheng & Awan 2022].
Replace-one, Poisson
    Multiplicities are independent and Poisson(1), and Δ bounds |x| as well as |x - y|.  Then (1) and (2) hold, and (3)
    because m x moves the sum by at most m Δ.
Replace-one, any law of the multiplicities that knows no data
    h(ε) <= Σ_m p_m δ_mμ(ε), by (2) alone: used for multinomial multiplicities cut at `most`, where (3) fails.
Add-remove, Poisson
    Δ bounds |x|.  Without the row the release is N(s, σ²), with it Σ_m p_m N(s + m x, σ²), s of one law.  So both are
    made from P = Σ_m p_m N(m a, 1) and Q = N(0, 1), a = |x| / σ <= μ, and these from the pair with a = μ: multiply by
    a / μ and add N(0, 1 - a²/μ²).  That pair is attained: its profile is exact, in each of its two orders.
Replace-one, Poisson, centred
    Δ bounds 2 |x|: rows are vectors about a public centre, as boxes of integers about 0 are.  A table, the table
    without the row, and the table with another row in its place: two steps of the kind above, with |x| / σ <= μ/2;
    their profiles, of all replicates, are chained (`privacy.loss_distribution`).  As k grows they cost k μ²: no more
    than as many normals, where multinomial multiplicities are bounded by 2 - 2/e times as much.
Add-remove, multinomial
    Δ bounds |x|; n is private, and with the row there are n draws, without it n - 1.  Given M = m >= 1, let one of the
    m draws be the extra one, and let the others replace draws y_2 … y_m of the table without the row: the sum moves
    by x + Σ (x - y_l), at most (2 m - 1) Δ.  Given M = 0 it moves by one draw of the others, at most Δ.  By joint
    convexity h(ε) <= Σ_m p_m δ_{s(m) μ}(ε), s(m) = max(2 m - 1, 1), in both orders.  It increases in m, and is equal
    at 0 and 1; P(M >= m) for m >= 2 is at most that of Poisson(1), whatever n is [Anderson & Samuels 1967,
    Theorem 2.1]: so the p_m of Poisson(1) bound it for every n.  (Much dearer than Poisson multiplicities.)
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal, TypeAlias, get_args

import numpy as np

from tacit.base.lazy_imports import special
from tacit.errors import BudgetError
from tacit.privacy.budget import Neighbors

if TYPE_CHECKING:
    from numpy.typing import NDArray

Floats: TypeAlias = "NDArray[np.float64]"
Profile: TypeAlias = "Callable[[Floats], Floats]"
Weights: TypeAlias = Literal["multinomial", "poisson"]

MOST_COPIES: Final = 60
"""Multiplicities above this are counted as infinite losses; of mean 1, their probability is below 1e-80."""


@dataclass(frozen=True)
class Resampling:
    """The law of the multiplicities, and the neighbours for which the cost holds.

    weights: "multinomial" (the bootstrap: `draws` draws with replacement) or "poisson" (independent, of mean 1).
    neighbors: the relation; it says what the sensitivity Δ must bound.
        "replace-one", multinomial: the ℓ2 distance of any two rows' vectors.
        "replace-one", poisson: that, and the ℓ2 norm of any row's vector; `centred`, twice that norm: far cheaper.
        "add-remove": the ℓ2 norm of any row's vector.
    rows: the public number of rows; needed for multinomial weights under replace-one, ignored otherwise.
    draws: how many rows are drawn; `rows` unless given ("m out of n"); multinomial under replace-one only.
    most: multiplicities above this count as this many; None for no such cut.
    centred: whether Δ bounds twice the norm of any row's vector; Poisson multiplicities under replace-one only.

    Raises BudgetError B05 for an unknown word or a combination without a proof, B08 for a number that is not positive.
    """

    weights: Weights = "multinomial"
    neighbors: Neighbors = "replace-one"
    rows: int | None = None
    draws: int | None = None
    most: int | None = None
    centred: bool = False

    def __post_init__(self) -> None:
        if self.weights not in get_args(Weights) or self.neighbors not in get_args(Neighbors):
            message = f"multiplicities are {self.weights!r} under {self.neighbors!r}: no such law or relation."
            raise BudgetError(message, code="B05", hint='Resampling("multinomial", "replace-one", rows=500)')
        if self._counted and self.rows is None:
            message = "multinomial multiplicities under replace-one need the public number of rows."
            raise BudgetError(message, code="B05", hint="rows=500")
        if self.draws is not None and not self._counted:
            message = "a number of draws is proven for multinomial multiplicities under replace-one only."
            raise BudgetError(message, code="B05", hint="leave draws out")
        if self.centred and not (self.weights == "poisson" and self.neighbors == "replace-one"):
            message = "centred rows are cheaper for Poisson multiplicities under replace-one only."
            raise BudgetError(message, code="B05", hint="leave centred out")
        if self.most is not None and self.weights == "multinomial" and self.neighbors == "add-remove":
            message = "multinomial multiplicities that are cut have no proven cost under add-remove."
            raise BudgetError(message, code="B05", hint='weights="poisson"')
        for name, least in (("rows", 2), ("draws", 1), ("most", 1)):
            value = getattr(self, name)
            if value is not None and value < least:
                raise BudgetError(f"{name} is {value}: below {least}.", code="B08", hint=f"{name}=5")
        if self.draws is not None and self.rows is not None and self.draws > self.rows:
            raise BudgetError(f"draws is {self.draws}: above the {self.rows} rows.", code="B08", hint="fewer draws")

    @property
    def _counted(self) -> bool:
        return self.weights == "multinomial" and self.neighbors == "replace-one"

    def probabilities(self) -> Floats:
        """Return P(M = m) of a row, before a cut, for m = 0 … MOST_COPIES, and at least P(M > MOST_COPIES)."""
        drawn = self.draws or self.rows if self._counted else None
        if drawn is None or self.rows is None:
            found, growth = [math.exp(-1)], [1 / (m + 1) for m in range(MOST_COPIES + 1)]
        else:
            found = [math.exp(drawn * math.log1p(-1 / self.rows))]
            growth = [max(drawn - m, 0) / (m + 1) / (self.rows - 1) for m in range(MOST_COPIES + 1)]
        for ratio in growth:
            found.append(found[-1] * ratio)
        # the last is P(M = MOST_COPIES + 1); ratios fall from here on, and are below 1/2
        return np.array([*found[:-1], 2 * found[-1]])


def profiles(law: Resampling, mu: float) -> tuple[Profile, Profile]:
    """Return bounds on the profile of one replicate for ε >= 0, in each order of the neighbours; mu: Δ/σ.

    First with the row (or either of two rows), then without.  Of centred rows: one of the two steps that are chained.
    See the proofs above; each is correct to 4e-15.
    """
    p = law.probabilities()
    p, beyond = p[:-1], float(p[-1])
    # a multiplicity that is cut counts as the largest one
    copies = np.minimum(np.arange(len(p)), law.most or len(p))
    if law.centred:
        return mixture_profiles(p, copies * mu / 2, beyond)
    if law.neighbors == "add-remove":
        if law.weights == "poisson":
            return mixture_profiles(p, copies * mu, beyond)
        both = _revealed(p, np.maximum(2 * copies - 1, 1) * mu, beyond)
        return both, both
    revealed = law.weights == "multinomial" and law.most is not None
    both = _revealed(p, copies * mu, beyond) if revealed else _shared(p, copies * mu, beyond)
    return both, both


def _shared(p: Floats, shifts: Floats, beyond: float) -> Profile:
    """Return Σ_{m>=1} p_m δ_mμ(ln(1 + (e^ε - 1) / p)), p = 1 - p_0: replace-one, (1) to (3)."""
    some = float(np.sum(p[1:])) + beyond

    def profile(epsilon: Floats) -> Floats:
        return _sum_of_normals(p[1:], shifts[1:], _amplified(epsilon, some)) + beyond

    return profile


def _revealed(p: Floats, shifts: Floats, beyond: float) -> Profile:
    """Return Σ p_m δ_{s(m)}(ε), s(m) the `shifts`: the multiplicity is revealed."""
    return lambda epsilon: _sum_of_normals(p, shifts, epsilon) + beyond


def mixture_profiles(p: Floats, shifts: Floats, beyond: float) -> tuple[Profile, Profile]:
    """Return the profile of P = Σ p_m N(mμ, 1) against Q = N(0, 1), and that of Q against P: add-remove, Poisson.

    The loss ln dP/dQ increases in the outcome t, so that the best event is a half-line: t > t(ε), and t < t(-ε).
    """
    lib = special()
    log_ndtr, ndtr = lib.log_ndtr, lib.ndtr

    def forward(epsilon: Floats) -> Floats:
        at = _outcome_of_loss(p, shifts, epsilon)
        found = sum(one * ndtr(shift - at) for one, shift in zip(p, shifts, strict=True))
        return np.maximum(found - np.exp(epsilon + log_ndtr(-at)), 0) + beyond

    def backward(epsilon: Floats) -> Floats:
        # no loss is below ln p_0, the one at t = -infinity
        possible = -epsilon > np.log(p[0])
        at = _outcome_of_loss(p, shifts, np.where(possible, -epsilon, 0.0))
        theirs = sum(np.exp(epsilon + log_ndtr(at - shift)) * one for one, shift in zip(p, shifts, strict=True))
        return np.where(possible, np.maximum(ndtr(at) - theirs, 0), 0.0)

    return forward, backward


def _outcome_of_loss(p: Floats, shifts: Floats, loss: Floats) -> Floats:
    """Return t with ln Σ p_m exp(t s_m - s_m²/2) = loss > ln p_0, by Newton's method, from above.

    The left side is convex and increasing, and at least each of its terms: that where one term alone reaches the loss
    is a first t, not below the solution, from which Newton's steps descend.
    """
    kept = p > 0
    logs, shifts = np.log(p[kept]), shifts[kept]
    moved = shifts > 0
    starts = (loss[:, None] - logs[moved] + shifts[moved] ** 2 / 2) / shifts[moved]
    t = np.min(starts, axis=1)
    for _ in range(100):
        terms = logs + t[:, None] * shifts - shifts**2 / 2
        most = np.max(terms, axis=1)
        weights = np.exp(terms - most[:, None])
        total = np.sum(weights, axis=1)
        step = (most + np.log(total) - loss) / (weights @ shifts / total)
        t = t - step
        if float(np.max(np.abs(step))) < 1e-9:
            break
    return t


def _sum_of_normals(p: Floats, shifts: Floats, epsilon: Floats) -> Floats:
    """Return Σ p_m δ_{s(m)}(ε) for ε >= 0."""
    found = np.zeros_like(epsilon)
    for one, shift in zip(p, shifts, strict=True):
        if one > 0 and shift > 0:
            found += one * normal_profile(shift, epsilon)
    return found


def normal_profile(mu: float, epsilon: Floats) -> Floats:
    """Return δ_μ(ε) for ε >= 0, to within 1e-15 of the larger of its terms."""
    lib = special()
    far = epsilon / mu
    return np.maximum(lib.ndtr(mu / 2 - far) - np.exp(epsilon + lib.log_ndtr(-mu / 2 - far)), 0)


def _amplified(epsilon: Floats, p: float) -> Floats:
    """Return ln(1 + (e^ε - 1) / p), also where e^ε overflows."""
    return np.where(
        epsilon < 1,
        np.log1p(np.expm1(np.minimum(epsilon, 1)) / p),
        epsilon + np.log((1 - (1 - p) * np.exp(-epsilon)) / p),
    )
