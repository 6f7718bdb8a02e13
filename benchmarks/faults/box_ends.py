"""Faults of what an end of the box takes off means of blocks, of one party and of several."""

from faults.fault import Fault

BELIEVED = "tests/parties/test_blocks_of_parties.py::test_"
ENDED = "tests/parties/test_ends_of_parties.py::test_"
SPREAD = "tests/inference/test_spread.py::test_"
CUT = f"{BELIEVED}a_mean_of_those_that_are_kept_is_moved_by_what_is_cut_off"
TERMS = f"{ENDED}terms_have_the_variance_that_is_known_and_an_error_where_it_is_not"
ONCE = f"{ENDED}what_noise_hides_of_the_variance_is_an_error_once"

KEPT = (
    Fault(
        "tacit.pooling.kept_parties",
        "return float(self.weight @ (self.error * (below - above)))",
        "return float(self.weight @ (self.error * (above - below)))",
        "what leaving out parties moves is looked for on the wrong side of an end",
        (CUT,),
    ),
    Fault(
        "tacit.pooling.kept_parties",
        "return float(self.weight @ (self.error * (below - above)))",
        "return float(self.weight @ (below - above))",
        "what leaving out parties moves is in standard errors, and taken as in the parameter's units",
        (f"{ENDED}what_leaving_out_parties_moves_has_the_parameter_s_units",),
    ),
    Fault(
        "tacit.pooling.kept_parties",
        "least, most = (middle, most) if middle + self.cut(middle) < found else (least, middle)",
        "least, most = (middle, most) if middle < found else (least, middle)",
        "parties that noise takes over an end are left out, and nothing says by how much the others are off",
        (CUT,),
    ),
    Fault(
        "tacit.pooling.kept_parties",
        "np.log(2 * np.pi) / 2 - log_ndtr(z))",
        "np.log(2 * np.pi) / 2 - log_ndtr(-z))",
        "the mean of a normal law that is cut off is that of the part which is left out",
        (CUT,),
    ),
)

CLAMPED = (
    Fault(
        "tacit.method.blocks.estimate_ends",
        "hidden, known = ~one.clear, (middle.share <= MOST) & (middle.share > 0)",
        "hidden, known = one.clear & False, (middle.share <= MOST) & (middle.share > 0)",
        "where noise hides the variance of blocks, what an end of the box takes off is not put back",
        (TERMS,),
    ),
    Fault(
        "tacit.method.blocks.estimate_ends",
        "noise, noise <= variance / CLEAR,",
        "noise, noise <= variance * CLEAR,",
        "a variance of blocks that is mostly noise counts as known",
        (TERMS,),
    ),
    Fault(
        "tacit.method.blocks.estimate_ends",
        "guess = (GUESS * (value - made.value)) ** 2 + (0.0 if spread is None else spread.variance)",
        "guess = (GUESS * (value - made.value)) ** 2",
        "what is put back for an end of the box is in no error, however little is known of the variance of blocks",
        (TERMS,),
    ),
    Fault(
        "tacit.method.blocks.estimate_ends",
        "sampling = np.where(lost, (10 * box) ** 2, found.sampling / one.free + guess)",
        "sampling = found.sampling / one.free + guess",
        "a party whose blocks lie beyond an end of the box weighs as much as the others",
        (TERMS,),
    ),
    Fault(
        "tacit.method.blocks.estimate_ends",
        "reasons = tuple(BEYOND if gone else reason for gone, reason in zip(lost, made.reasons, strict=True))",
        "reasons = made.reasons",
        "more than a fifth of the blocks lie beyond an end of the box, and there is an interval",
        (TERMS,),
    ),
    Fault(
        "tacit.method.blocks.estimate_ends",
        "loadings = (found.slopes[:, :, None] * loads).sum(axis=0)",
        "loadings = loads[0]",
        "noise in the variance of blocks moves what is put back, and is in no error",
        (f"{ENDED}loadings_are_the_derivatives_of_the_corrected_mean_in_the_noises",),
    ),
    Fault(
        "tacit.method.blocks.estimate_ends",
        "squares = square_load - 2 * m * total_load + m**2 * size_load",
        "squares = square_load + m**2 * size_load",
        "noise in the mean of blocks is not noise in their variance",
        (f"{ENDED}loadings_are_the_derivatives_of_the_corrected_mean_in_the_noises",),
    ),
    Fault(
        "tacit.method.blocks.estimate_ends",
        "low = -math.inf if grid.lower == first else grid.lower",
        "low = grid.lower",
        "an end of a parameter's domain, beyond which no estimate lies, takes something off",
        (f"{ENDED}an_end_of_the_domain_takes_nothing_off",),
    ),
    Fault(
        "tacit.method.blocks.estimate_ends",
        "ends, free=free).share > MOST",
        "ends, free=free).share > 2 * MOST",
        "parties that are left out are taken for kept, and the mean of the others for unmoved",
        (f"{ENDED}limits_of_means_that_are_kept_are_where_a_fifth_lies_beyond",),
    ),
)

SPREADS = (
    Fault(
        "tacit.method.blocks.estimate_spread",
        "clamped = np.exp(_between(np.log(_clamped_variances(self))))",
        "clamped = np.exp(_between(np.log(_tried(self))))",
        "the variance of clamped blocks is taken for that without the clamp: too little is put back",
        (f"{SPREAD}the_multiple_of_the_model_s_variance_is_found_from_clamped_estimates",),
    ),
    Fault(
        "tacit.method.blocks.estimate_spread",
        "error = self.noise**2 + self.chance * clamped**2",
        "error = self.chance * clamped**2",
        "a noisy variance of blocks is believed as if it had no noise",
        (f"{SPREAD}what_noise_hides_wholly_is_near_the_model_s_by_a_wide_factor",),
    ),
    Fault(
        "tacit.method.blocks.estimate_spread",
        "return -((logs / math.log(FACTOR)) ** 2) / 2 if known else np.zeros_like(logs)",
        "return -((logs / math.log(1.01)) ** 2) / 2 if known else np.zeros_like(logs)",
        "the variance of blocks is the law's, whatever is released: five lognormal parties are covered in a tenth",
        (f"{ENDED}rows_of_another_law_near_an_end_are_covered_or_have_a_reason",),
    ),
    Fault(
        "tacit.method.blocks.estimate_spread",
        "whole = sum((one.evidence for one in scaled), _before(scaled[0].known)[:, None])",
        "whole = scaled[0].evidence + _before(scaled[0].known)[:, None]",
        "of several parties the first alone says how much blocks vary",
        (f"{SPREAD}releases_of_several_parties_say_it_together",),
    ),
    Fault(
        "tacit.method.blocks.combine",
        "total = float(np.sqrt(moved**2 + left**2 + (GUESS * clamp) ** 2 + spread**2 + missing**2))",
        "total = float(np.sqrt(moved**2 + left**2 + (GUESS * clamp) ** 2 + missing**2))",
        "what noise hides of the variance of blocks is in no interval of all parties",
        (ONCE,),
    ),
    Fault(
        "tacit.method.blocks.combine",
        "** 2 + (0.0 if spread is None else spread.variance[0])",
        "** 2",
        "what noise hides of the variance of blocks counts in each party and for all of them",
        (ONCE,),
    ),
    Fault(
        "tacit.method.blocks.combine",
        "if why in (None, BEYOND) and made[j][at] is not None]",
        "if made[j][at] is not None]",
        "a party that is left out says how much the blocks of the others vary",
        (f"{BELIEVED}a_party_of_another_law_weighs_nothing",),
    ),
    Fault(
        "tacit.method.blocks.estimate_by_blocks",
        "hidden = [one if note else None for one, (_, note) in zip(seen, made, strict=True)]",
        "hidden = [None for _ in made]",
        "blocks beyond an end of the box vary less, and the test of the law does not know",
        (f"{ENDED}the_law_is_tested_where_an_end_is_near",),
    ),
)

FAULTS: tuple[Fault, ...] = (*KEPT, *CLAMPED, *SPREADS)
