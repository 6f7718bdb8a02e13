"""Faults of functions of estimates: errors that are drawn too small, or forgotten."""

from __future__ import annotations

from faults.fault import Fault

BOOTSTRAP = "tests/inference/test_parametric_bootstrap.py"

AVERAGE = "tests/parties/test_average.py"

FAULTS = (
    Fault(
        "tacit.estimates.bootstraps.bootstrap_draws",
        "errors = error_draws.sampling_errors(own, gradients, some, rng) + noise",
        "errors = error_draws.sampling_errors(own, gradients, some, rng) + 0 * noise",
        "the bootstrap of a function forgets the noise",
        (f"{BOOTSTRAP}::test_a_term_itself_has_its_own_interval",),
    ),
    Fault(
        "tacit.estimates.bootstraps.error_draws",
        "return own + np.outer(common / np.sqrt(variance) - own @ weights / variance, direction)",
        "return own",
        "columns of the same people are drawn as if they were of different ones",
        (f"{BOOTSTRAP}::test_unknown_correlations_add_up_in_the_direction_of_the_function",),
    ),
    Fault(
        "tacit.estimates.bootstraps.error_draws",
        "np.where(errors > 0, down, up)",
        "np.where(errors > 0, up, down)",
        "a function reaches as far up as its terms reach down",
        (f"{BOOTSTRAP}::test_a_term_itself_has_its_own_interval",),
    ),
    Fault(
        "tacit.estimates.bootstraps.error_draws",
        "found = sampled_together([law for law in laws if isinstance(law, ProductLaplace)], many * m, rng)",
        "found = [sampled_together([law], many * m, rng)[0] for law in laws if isinstance(law, ProductLaplace)]",
        "noises of one vector are drawn as if they were independent",
        (f"{BOOTSTRAP}::test_noise_is_drawn_with_its_own_law",),
    ),
    Fault(
        "tacit.estimates.bootstraps.parametric_bootstrap",
        "k = int(np.floor((draws + 1) * tail)) - (draws - len(found))",
        "k = int(np.floor((len(found) + 1) * tail))",
        "draws at which a function has no value are left out",
        (f"{BOOTSTRAP}::test_draws_without_a_value_count_on_both_sides",),
    ),
    Fault(
        "tacit.parties.averaged",
        "worth = 1 / np.maximum(np.median(relative, axis=1), 1e-9)",
        "worth = 1 / np.sqrt(np.maximum(np.median(relative, axis=1), 1e-9))",
        "weights of an average are not inverse to the variances of the noises",
        (f"{AVERAGE}::test_weights_are_inverse_to_the_noises_and_sampling_counts_once",),
    ),
    Fault(
        "tacit.parties.averaged",
        "block, people=first.blocks[0].people)",
        "block, people=str(id(one)))",
        "the sampling error of the same people is averaged as if they were different ones",
        (f"{AVERAGE}::test_weights_are_inverse_to_the_noises_and_sampling_counts_once",),
    ),
    Fault(
        "tacit.parties.averaged",
        'np.sum([w * _covariance(one, "sampling") for w, one in several], axis=0)',
        'np.sum([w**2 * _covariance(one, "sampling") for w, one in several], axis=0)',
        "sampling errors of coefficients of the same people are averaged as if they were independent",
        (f"{AVERAGE}::test_groups_histograms_and_other_methods",),
    ),
    Fault(
        "tacit.parties.averaged",
        'facts["ledger"] = (first.ledger, one.ledger)',
        'facts["ledger"] = (first.ledger, first.ledger)',
        "releases of two ledgers are averaged as those of the same people",
        (f"{AVERAGE}::test_a_ledger_is_what_is_known",),
    ),
)
