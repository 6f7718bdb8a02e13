"""Faults in the laws of noise, their exact draws, and selections."""

from __future__ import annotations

from faults.fault import Fault

EXACT = "tests/noise/test_exact.py"
FLIP = "tests/noise/test_permute_and_flip.py"
CHOOSE = "tests/noise/test_choose.py"
PASSING = "tests/noise/test_passing.py"
LAWS = "tests/noise/test_laws.py"

FAULTS = (
    Fault(
        "tacit.noise.exact",
        "return signed[~(negative & (cell == 0))] if curve is EXPONENTIAL else signed",
        "return signed",
        "zero is drawn twice as often as the discrete Laplace law has it",
        (f"{EXACT}::test_negative_zero_is_rejected_for_laplace_only",),
    ),
    Fault(
        "tacit.noise.exact",
        "    y += float(curve.shift)\n",
        "",
        "normal noise is rounded towards 0, and has too small a variance",
        (f"{EXACT}::test_floats_and_integers_answer_alike",),
    ),
    Fault(
        "tacit.noise.exact",
        "low, high = np.floor(y - margin), np.floor(y + margin)",
        "low, high = np.floor(y), np.floor(y)",
        "draws next to an edge are decided by the rounding of floats",
        ("tests/noise/test_curves.py::test_decided_words_are_decided_rightly",),
    ),
    Fault(
        "tacit.noise.exact",
        "return -1 if (m + 1) << 16 <= low else 0",
        "return -1 if m << 16 <= low else 0",
        "a draw next to an edge is taken for certain before it is",
        (f"{EXACT}::test_a_word_on_an_edge_is_refined",),
    ),
    Fault(
        "tacit.noise.exact",
        "m, bits = m << 64 | int(words(1)[0]), bits + 64",
        "m, bits = m << 64 | int(m & (2**64 - 1)), bits + 64",
        "bits that decide an edge are not fresh",
        (f"{EXACT}::test_a_word_on_an_edge_is_refined", f"{EXACT}::test_the_far_tail_is_exact"),
    ),
    Fault(
        "tacit.noise.exact",
        " | (x < 2.0 ** (BITS - OCTAVES)) | (x >= 2.0**BITS)",
        "",
        "the tail beyond the polynomials is what the last of them happens to say",
        ("tests/noise/test_curves.py::test_words_outside_the_pieces_are_left_to_the_integers",),
    ),
    Fault(
        "tacit.noise.exact",
        "            cell = cell.astype(object)  # [S]\n",
        "            one = MOST\n",
        "draws beyond 64 bits are moved before they are added, which is no function of the sum",
        ("tests/noise/test_saturation.py::test_a_draw_beyond_64_bits_is_whole",),
    ),
    Fault(
        "tacit.noise.exact",
        "return np.clip(exact.astype(object) + noise.astype(object), -MOST, MOST).astype(np.int64)",
        "return (exact + noise).astype(np.int64)",
        "a sum beyond 64 bits wraps around to a small one",
        ("tests/noise/test_saturation.py::test_sums_near_the_end_do_not_wrap",),
    ),
    Fault(
        "tacit.noise.exact",
        "return np.frombuffer(os.urandom(8 * count), dtype=np.uint64)",
        "return np.random.default_rng().integers(0, 2**64, count, dtype=np.uint64)",
        "protecting noise comes from a generator whose next words follow from earlier ones",
        ("tests/wall/test_wall.py::test_the_wall_stands",),
    ),
    Fault(
        "tacit.noise.exact",
        "os.urandom(8 * count), dtype=np.uint64)",
        "os.urandom(8) * count, dtype=np.uint64)",
        "all draws of a call are made of one word",
        (f"{EXACT}::test_a_million_draws_have_the_law", f"{EXACT}::test_forked_children_differ"),
    ),
    Fault(
        "tacit.noise.select",
        "certain = run == len(points) - 1 or (m + 1) * high[-1] <= low[run + 1] << bits",
        "certain = True",
        "a selection next to an edge is decided by the bounds of its weights",
        (f"{CHOOSE}::test_an_edge_within_the_word_takes_another",),
    ),
    Fault(
        "tacit.noise.select",
        "m << (WORD + GUARD) >= points[run] * accepted.get(gap, 1) * soon:",
        "m << (WORD + GUARD) >= accepted.get(gap, 1) * soon:",
        "of permute-and-flip, runs of many points are passed over as if they had one",
        (f"{FLIP}::test_the_run_is_that_of_high_precision_arithmetic",),
    ),
    Fault(
        "tacit.noise.select",
        "        if most is not None and most <= low:\n",
        "        if most is not None and most <= high:\n",
        "of permute-and-flip, times that their digits do not part are decided all the same",
        (f"{FLIP}::test_times_within_one_word_take_another",),
    ),
    Fault(
        "tacit.noise.select",
        "return least, min(one, most + (one // (points * (left - 1))) + 1)",
        "return least, most",
        "of permute-and-flip, the upper bound on a time is that of the lower end of its interval",
        (f"{FLIP}::test_bounds_hold_the_time_of_high_precision_arithmetic",),
    ),
    Fault(
        "tacit.noise.permute_and_flip",
        "integral[near] = (none / (1 - np.outer(p[near], t))).sum(axis=1)",
        "integral[near] = none.sum()",
        "the law of permute-and-flip is that of the exponential mechanism",
        (f"{FLIP}::test_the_law_is_that_of_all_orders",),
    ),
    Fault(
        "tacit.noise.select",
        "        if value < span - span % n:\n",
        "        if value < span:\n",
        "the first points of a run are likelier than the last",
        (f"{CHOOSE}::test_rejected_words_are_replaced",),
    ),
    Fault(
        "tacit.noise.select",
        "exp_minus(law.rate * (best - u), bits + GUARD)",
        "exp_minus(law.rate * (best - u) * 2, bits + GUARD)",
        "selections cost twice the epsilon that is charged",
        (f"{CHOOSE}::test_the_run_is_that_of_high_precision_arithmetic",),
    ),
    Fault(
        "tacit.noise.select",
        "return secrets.randbits(WORD)",
        "return secrets.randbits(WORD - 1)",
        "one half of the unit interval is never drawn from",
        (f"{CHOOSE}::test_runs_have_the_law",),
    ),
    Fault(
        "tacit.noise.threshold",
        "/ law.scale, bits - 1)  # both sides, so twice",
        "/ law.scale, bits)",
        "twice as many empty cells pass as noise would lift, which tells cells with rows apart",
        (f"{PASSING}::test_enclosures_hold_what_high_precision_says",),
    ),
    Fault(
        "tacit.noise.threshold",
        "place = at + np.cumsum(gap + 1)",
        "place = at + np.cumsum(np.maximum(gap, 1))",
        "two neighbouring empty cells never pass together",
        (f"{PASSING}::test_places_are_independent_trials",),
    ),
    Fault(
        "tacit.noise.threshold",
        "np.minimum(above, MOST - threshold) + threshold",
        "np.minimum(above, MOST - threshold - 1) + threshold + 1",
        "an empty cell never shows the threshold itself, which cells with rows do",
        (f"{PASSING}::test_values_have_the_law_above_the_threshold",),
    ),
    Fault(
        "tacit.noise.laws",
        "            return s * s + 1 / 12\n",
        "            return s * s\n",
        "intervals leave out what rounding adds to the variance of normal noise",
        (f"{LAWS}::test_variance_at_wide_scales", f"{LAWS}::test_variance_is_that_of_the_masses"),
    ),
    Fault(
        "tacit.noise.laws",
        "tail = np.exp(-a * np.where(x >= 0, x + 1, -x)) / (1 + math.exp(-a))",
        "tail = np.exp(-a * np.where(x >= 0, x, -x)) / (1 + math.exp(-a))",
        "tails of the discrete Laplace law include the place itself",
        (f"{LAWS}::test_pmf_cdf_sf_against_mpmath",),
    ),
    Fault(
        "tacit.noise.laws",
        "    if not LEAST <= scale <= MOST:\n",
        "    if scale < LEAST:\n",
        "noise so wide that floats no longer hold its steps is drawn",
        (f"{LAWS}::test_scales_out_of_range",),
    ),
    Fault(
        "tacit.noise.laws",
        "standard_normal(size) * float(self.scale) + 0.5)",
        "standard_normal(size) * float(self.scale))",
        "simulated normal noise is half a step too low",
        (f"{LAWS}::test_simulation_has_the_law_and_is_reproducible",),
    ),
    Fault(
        "tacit.noise.tail_bounds",
        "return lo >> guard, min((hi >> guard) + 1, 1 << bits)",
        "return lo >> guard, min(hi >> guard, 1 << bits)",
        "an upper bound is rounded down, and edges are certain where they are not",
        ("tests/noise/test_enclosures.py::test_exp_minus_encloses_and_is_narrow",),
    ),
    Fault(
        "tacit.noise.tail_bounds",
        "    if square > 2 * bits:  # [E5]",
        "    if square > bits:  # [E5]",
        "the far tail of normal noise is never drawn",
        ("tests/noise/test_enclosures.py::test_normal_tail_encloses_and_is_narrow",),
    ),
    Fault(
        "tacit.noise.selection_law",
        "weight = np.asarray(points, dtype=np.float64) * np.exp(",
        "weight = np.exp(",
        "simulated selections take a run of many points for one point",
        (f"{CHOOSE}::test_runs_have_the_law",),
    ),
    Fault(
        "tacit.method.shared.mechanism_additive",
        "draw(law, sum(len(cell) for cell in exact)).tolist()",
        "draw(law, 1).tolist() * sum(len(cell) for cell in exact)",
        "all integers of a release carry the same noise: their differences are exact",
        ("tests/mechanisms/test_contract.py::test_integers_of_a_release_have_noise_of_their_own",),
    ),
    Fault(
        "tacit.method.shared.mechanism_additive",
        "return tuple(tuple(max(-MOST, min(MOST, one)) for one in cell) for cell in sums)",
        "return tuple(tuple(one for one in cell) for cell in sums)",
        "an integer beyond 64 bits goes out, which documents and readers do not take",
        ("tests/noise/test_saturation.py::test_parts_of_python_integers_are_the_same",),
    ),
)
