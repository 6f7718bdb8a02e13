"""Faults of functions of estimates: errors that are drawn too small, or forgotten."""

from __future__ import annotations

from faults.fault import Fault

BOOTSTRAP = "tests/inference/test_parametric_bootstrap.py"

FAULTS = (
    Fault(
        "tacit.estimates.bootstrap_draws",
        "errors = error_draws.sampling_errors(own, gradients, some, rng) + noise",
        "errors = error_draws.sampling_errors(own, gradients, some, rng) + 0 * noise",
        "the bootstrap of a function forgets the noise",
        (f"{BOOTSTRAP}::test_a_term_itself_has_its_own_interval",),
    ),
    Fault(
        "tacit.estimates.error_draws",
        "return own + np.outer(common / np.sqrt(variance) - own @ weights / variance, direction)",
        "return own",
        "columns of the same people are drawn as if they were of different ones",
        (f"{BOOTSTRAP}::test_unknown_correlations_add_up_in_the_direction_of_the_function",),
    ),
    Fault(
        "tacit.estimates.error_draws",
        "np.where(errors > 0, down, up)",
        "np.where(errors > 0, up, down)",
        "a function reaches as far up as its terms reach down",
        (f"{BOOTSTRAP}::test_a_term_itself_has_its_own_interval",),
    ),
    Fault(
        "tacit.estimates.error_draws",
        "found = sampled_together([law for law in laws if isinstance(law, ProductLaplace)], many * m, rng)",
        "found = [sampled_together([law], many * m, rng)[0] for law in laws if isinstance(law, ProductLaplace)]",
        "noises of one vector are drawn as if they were independent",
        (f"{BOOTSTRAP}::test_noise_is_drawn_with_its_own_law",),
    ),
    Fault(
        "tacit.estimates.parametric_bootstrap",
        "k = int(np.floor((draws + 1) * tail)) - (draws - len(found))",
        "k = int(np.floor((len(found) + 1) * tail))",
        "draws at which a function has no value are left out",
        (f"{BOOTSTRAP}::test_draws_without_a_value_count_on_both_sides",),
    ),
)
