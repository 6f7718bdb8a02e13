"""Real rows by blocks beside a fit without privacy: RAND's health insurance experiment, of statsmodels."""

from __future__ import annotations

import numpy as np
import pytest

import tacit as tc

sm = pytest.importorskip("statsmodels.api", reason="the data come with statsmodels")


@pytest.mark.long
def test_visits_to_doctors_are_those_of_statsmodels() -> None:
    """Poisson regression on the number of chronic diseases, 60 blocks of some 340 people-years.

    The mean of blocks is another estimate than the fit of all rows: half a standard error apart here, with these
    labels, and never two.  A release's own error covers five of its own.
    """
    data = sm.datasets.randhie.load_pandas().data.astype(float)
    fit = sm.GLM(data["mdvis"], sm.add_constant(data[["disea"]]), family=sm.families.Poisson()).fit(cov_type="HC0")
    model = tc.families.PoissonRegression(1, intercept=(-1, 2), slopes=(-0.1, 0.2))
    query = tc.SampleAndAggregate(["mdvis", "disea"], model, blocks=60)
    schema = tc.Schema({"mdvis": tc.Real(), "disea": tc.Real()})
    made = tc.testing.simulate(query, data[["mdvis", "disea"]], schema, rho=2, repeats=5, rng=0)
    off = (made.exact - fit.params.to_numpy()) / fit.bse.to_numpy()
    assert (np.abs(off) < 2).all()
    found = made.release(0).estimate()
    assert (np.abs(np.asarray(found.values) - fit.params.to_numpy()) < 5 * np.asarray(found.std_errors)).all()
