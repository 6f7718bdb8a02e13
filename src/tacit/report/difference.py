"""`tc.difference`: the difference of two estimates, of quantiles or of anything else."""

from __future__ import annotations

from typing import overload

from tacit.errors import InferenceError
from tacit.estimates.estimate import Estimate
from tacit.estimates.normal_estimate import NormalEstimate
from tacit.estimates.verbs.normal_difference import normal_difference
from tacit.estimates.verbs.subtraction import shared_terms, subtracted
from tacit.method.quantiles.estimate import QuantileEstimate
from tacit.method.quantiles.estimate_difference import QuantileDifference
from tacit.method.quantiles.estimate_difference import difference as of_quantiles


@overload
def difference(a: Estimate, b: Estimate) -> Estimate: ...


@overload
def difference(a: QuantileEstimate, b: QuantileEstimate) -> QuantileDifference: ...


@overload
def difference(a: NormalEstimate, b: Estimate | NormalEstimate) -> NormalEstimate: ...


@overload
def difference(a: Estimate, b: NormalEstimate) -> NormalEstimate: ...


def difference(
    a: Estimate | NormalEstimate | QuantileEstimate, b: Estimate | NormalEstimate | QuantileEstimate
) -> Estimate | NormalEstimate | QuantileDifference:
    """A - b, term by term, with what is known of their dependence; `notes` says which.

    The same release: its joint law.  Releases of one ledger (the same people, whatever the table): the noises are
    independent, the sampling standard errors are added, an upper bound whatever the correlation.  Different ledgers:
    independent, as for different people.  Releases in memory, and of early versions, name no ledger that lasts: tables
    of one name are the same people.  For target="table" only the noise counts.
    Quantiles, also those of two groups of one release: intervals of levels 1 - α and 1 - β make one of 1 - α - β, a
    bound whatever the dependence; ask for `Quantiles(…, level=0.975)` where 0.95 is wanted.
    Coefficients, fits and steps, of two releases: with the joint normal law of each; of one release, `contrast` has it.
    InferenceError I07 where terms, targets or kinds of estimates do not match, I14 where less than 0.5 is left.
    Source: theory §1.4, §1.5; SD(a - b) is at most SD(a) + SD(b), by Cauchy and Schwarz.

    >>> import tacit as tc
    >>> schema = tc.Schema({"age": tc.Real(0, 100), "sex": tc.Category(["f", "m"])})
    >>> table = {"age": [30.0, 40.0, 50.0] * 20, "sex": ["f", "m", "m"] * 20}
    >>> curator = tc.Curator(table, schema, name="people", budget=tc.Budget(rho=1))
    >>> groups, everybody = (curator.release(tc.Mean("age", by=by), rho=0.1).estimate() for by in ("sex", ()))
    >>> found = difference(groups["f"], everybody)
    >>> found.terms, found.notes
    (('f - age',), ('the same people in different releases: sampling standard errors are added, an upper bound',))
    """
    if isinstance(a, QuantileEstimate) and isinstance(b, QuantileEstimate):
        return of_quantiles(a, b, shared_terms(a, b))
    if isinstance(a, Estimate) and isinstance(b, Estimate):
        return subtracted(a, b)
    if not isinstance(a, Estimate | NormalEstimate) or not isinstance(b, Estimate | NormalEstimate):
        text = f"{type(a).__name__} and {type(b).__name__} have no difference."
        fits = any(hasattr(one, "coefficients") for one in (a, b))
        hint = "difference(a.coefficients, b.coefficients)" if fits else "estimates of the same question"
        raise InferenceError(text, code="I07", hint=hint, state=None)
    return normal_difference(a, b)
