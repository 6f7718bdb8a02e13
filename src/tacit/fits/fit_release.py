"""Fit a model to a released histogram, with the notes that a reader needs."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final, Literal, TypeAlias, get_args

from tacit.base.arguments import described
from tacit.errors import InferenceError
from tacit.estimates.densities.rounded_values import rounding_notes
from tacit.estimates.normal_estimate import NormalEstimate
from tacit.estimates.wording import condition
from tacit.fits.fit import Fit, Method
from tacit.fits.fitted_model import FittedModel
from tacit.fits.heaps.heap_notes import heap_notes
from tacit.fits.heaps.lattice_notes import release_notes
from tacit.release.document import Released

if TYPE_CHECKING:
    from tacit.fits.cells.cell_arrays import CellCounts
    from tacit.fits.custom_losses import Loss

TITLES: Final = {
    "linear": "Linear regression",
    "logistic": "Logistic regression",
    "probit": "Probit regression",
    "poisson": "Poisson regression",
    "gamma": "Gamma regression, log link",
    "quantile": "Quantile regression",
    "huber": "Huber regression",
    "loss": "M-estimate",
}
Missing: TypeAlias = Literal["exclude", "level"]
PERSONS: Final = "persons are counted, their rows weighing one in all: standard errors are at most too large"


def fitted(release: Released, fit: Fit, source: str, title: str | None = None) -> FittedModel:
    """Return a fitted model with title and notes; `source`: a note on what it was made from."""
    what = title or TITLES.get(fit.model, fit.model)
    plain = NormalEstimate(
        release=release,
        title=(f"{what} · {fit.formula}" if fit.formula else what) + condition(release.query),
        estimand="coefficients" if "~" in fit.formula else "parameters",
        terms=fit.names,
        values=fit.values,
        sampling=fit.cov_sampling,
        privacy=fit.cov_privacy,
        reasons=fit.reasons,
        notes=(*fit.notes, source),
        tested="~" in fit.formula or fit.model == "loss",
        noisy=fit.noisy,
    )
    return FittedModel(plain, fit)


METHODS: Final = {
    "corrected": "from noisy counts with their signs, corrected for binning; sandwich standard errors with the noise",
    "midpoint": "from noisy counts with their signs, bins as their midpoints; sandwich standard errors with the noise",
    "lei-2011": "published method [Lei 2011, Algorithm 1]: noisy counts, bins as their midpoints",
    "lei-2011-nonnegative": "published method [Lei 2011, Algorithm 1']: noisy counts cut at 0, bins as their midpoints",
    "lei-2011-threshold": "published method [Lei 2011, §4.2]: small counts set to 0, bins as their midpoints",
}


def fit_release(
    release: Released,
    what: str | Loss,
    *,
    model: str = "linear",
    family: str | None = None,
    method: Method = "corrected",
    missing: Missing = "exclude",
    tau: float = 0.5,
    k: float | None = None,
) -> FittedModel:
    """See `HistogramRelease.fit`."""
    from tacit.fits.cells.released_cells import cells_of
    from tacit.fits.custom_losses import Loss, fit_loss
    from tacit.fits.family_fits import fit_family
    from tacit.fits.regression_fits import fit_cells

    if not isinstance(missing, str) or missing not in get_args(Missing):  # pyright: ignore[reportUnnecessaryIsInstance]
        text = f"missing {described(missing)} is neither 'exclude' nor 'level'."
        raise InferenceError(text, code="I44", hint='missing="exclude"', state=None)
    cells, title = cells_of(release), None
    if missing == "exclude":
        cells = cells.complete()
    if isinstance(what, Loss):
        found = fit_loss(cells, what, method)
    elif not isinstance(what, str):  # pyright: ignore[reportUnnecessaryIsInstance]
        text = f"{described(what)} is no formula, column or loss."
        raise InferenceError(text, code="I42", hint="fit('income ~ age'), fit(tc.Loss(...))", state=None)
    elif family is not None:
        found, title = fit_family(cells, what, family, method), f"{family.capitalize()} law"
    else:
        found = fit_cells(cells, what, model, method, tau=tau, k=k)
        title = f"{TITLES['quantile']}, level {tau:g}" if model == "quantile" else None
    if release.unit is not None:
        found = replace(found, notes=(*found.notes, PERSONS))
    used = (what,) if family is not None and isinstance(what, str) else _used(found)
    told = release_notes(release, used, included=method == "corrected")
    lying = (*rounding_notes(release, used), *told, *heap_notes(release, used))
    found = replace(found, notes=(*found.notes, *lying))
    made = fitted(release, found, METHODS[method], title)
    left = _left_out(cells, found)
    return made if not left else replace(made, coefficients=replace(made.coefficients, notes=(left, *made.notes)))


def _used(found: Fit) -> tuple[str, ...]:
    """Return the columns whose cells were fitted."""
    return () if found.work is None else tuple(found.work.points.cells.names)


def _left_out(cells: CellCounts, found: Fit) -> str:
    """Return a note on the levels that the fit leaves out, empty where there are none."""
    used = _used(found)
    levels = [f"{axis.name} is {'/'.join(axis.extra)}" for axis in cells.axes if axis.name in used and axis.extra]
    return f"rows are left out where {' or '.join(levels)}" if levels else ""
