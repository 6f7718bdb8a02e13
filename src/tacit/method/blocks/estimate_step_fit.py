"""Test of a law's fit by the released variances of its clipped scores, and what a law that does not fit does to a step.

Under the law the variance of a clipped score at the released parameters is known; where rows follow another, it is
another one.  The test costs nothing: the variances are released with the means.

Under another law the solution of a step depends on its pilot.  With T(theta0) the solution for rows without number or
noise, the pilot's error e enters as T' e, where T' = 0 under the law.  T' cannot be known from the release.  On designs
of misfit its norm, in coordinates in which the information is 1, was 0.07 to 0.32 (`benchmarks/wrong_laws.py --part
pull`): where the test rejects, the errors allow for PULL in every direction.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, cast

import numpy as np

from tacit.base.arrays import Array
from tacit.estimates.noisy_moments import integers, moments
from tacit.models.scores import DRAWS
from tacit.release.document import Released
from tacit.release.parts import Grid

if TYPE_CHECKING:
    from tacit.models.scores import ScoreLaw

REJECTED: Final = 3.3
"""Standard errors from which on a variance is not that of the law: by chance in one release of 500 with two scores."""
PULL: Final = 1 / 3
"""Part of the pilot's error that a step is taken to keep where the law does not hold."""
STEP: Final = 0.05
"""Step of the derivative of a variance, in standard deviations of one row's estimate."""


@dataclass(frozen=True)
class StepFit:
    """Ratios of the released variances of scores to those of the law, and their differences in standard errors."""

    names: tuple[str, ...]
    ratio: Array
    z: Array

    @property
    def rejected(self) -> bool:
        """Whether rows follow another law."""
        return bool(np.abs(self.z).max() > REJECTED)

    @property
    def _least_alike(self) -> str:
        worst = int(np.abs(self.z).argmax())
        return f"{self.ratio[worst]:.2f} times the law's, {self.z[worst]:+.1f} standard errors ({self.names[worst]})"

    @property
    def found(self) -> str:
        """What is not as the law has it, in words."""
        return f"the variance of a score is {self._least_alike}"

    @property
    def note(self) -> str:
        """The result in words."""
        if not self.rejected:
            return f"test of fit: the variances of scores are those of the law (the least alike: {self._least_alike})"
        return (
            f"test of fit: {self.found}: rows follow another law.  What is estimated is where its "
            "clipped scores are those of the rows, near the limit of the maximum-likelihood estimate but not it, and "
            'standard errors are widened for the pilot; blocks (method="tuned") estimate that limit itself'
        )


def fit_of_step(release: Released, law: ScoreLaw, theta: Array, noise: Array) -> StepFit | None:
    """Return the test at the released parameters; noise: their covariance due to noise, shape (p, p).

    None for persons, whose means of scores have a variance that the law does not tell, and for too few rows.
    """
    names = law.scaling.model.names
    found = [_variance(release, i - len(names)) for i in range(len(names))]
    if release.unit is not None or any(one is None for one in found):
        return None
    variance, own, size = np.array(found, dtype=np.float64).T
    theta = np.clip(theta, law.scaling.model.lower, law.scaling.model.upper)
    expected, fourth = law.moments(theta)
    # parameters that the noise moved expect another variance; that of sampling moves both alike
    slope = _slope(law, theta)
    # a law without a known support is known by draws
    drawn = 1 / DRAWS if law.scaling.model.support is None else 0.0
    sampling = np.maximum(fourth - expected**2, 0.0) * (1 / size + drawn)
    error = np.sqrt(sampling + own + np.einsum("ij,jk,ik->i", slope, noise, slope))
    return StepFit(names, variance / np.maximum(expected, 1e-300), (variance - expected) / np.maximum(error, 1e-300))


def _variance(release: Released, place: int) -> tuple[float, float, float] | None:
    """Return the released variance of one clipped score, the variance of its noise, and the number of rows."""
    part = release.parts[place]
    noisy = moments(part.form, part.parameters, integers(part), release.rows)
    size, half = float(noisy.size[0]), cast(Grid, part.grid).upper
    if size < 2:
        return None
    m, q = float(noisy.total[0]) / size, float(noisy.square[0]) / size
    loads = (noisy.loadings[2] - 2 * m * noisy.loadings[1] - (q - 2 * m**2) * noisy.loadings[0]) / size
    return (q - m**2) * half**2, float((loads**2).sum()) * part.law.variance() * half**4, size


def _slope(law: ScoreLaw, theta: Array) -> Array:
    """Return the derivative of the law's variances in the parameters, rows of variances, columns of parameters."""
    sizes: Array = STEP * np.sqrt((law.scaling.root**2).sum(axis=0))
    model = law.scaling.model
    # within the box, beyond which there may be no law
    ups, downs = (np.clip(theta + sign * np.diag(sizes), model.lower, model.upper) for sign in (1, -1))
    found = [
        (law.moments(up)[0] - law.moments(down)[0]) / max(float((up - down).sum()), 1e-300)
        for up, down in zip(ups, downs, strict=True)
    ]
    return np.nan_to_num(np.array(found).T)


def kept_of_pilot(law: ScoreLaw, pilot: Array) -> Array:
    """Return the covariance that PULL of the pilot's error adds, shape (p, p); pilot: its variances, shape (p,)."""
    root = law.scaling.root
    # in coordinates of information 1, an error d of the parameters is R'^-1 d
    turn = np.linalg.inv(root.T)
    worst = float(np.linalg.eigvalsh((turn * pilot) @ turn.T)[-1])
    return PULL**2 * worst * root.T @ root
