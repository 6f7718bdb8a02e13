"""Faults of what many parties say together: errors, weights, costs, and which answers are taken."""

from faults.fault import Fault

EFFECTS = "tests/parties/test_errors_of_effects.py::test_"
CHECKED = "tests/parties/test_checked_answers.py::test_"
RETURNED = "tests/parties/test_returned.py::test_"

# Parties that differ ------------------------------------------------------------------------------------------------

KNAPP = f"{EFFECTS}the_error_of_a_mean_over_parties_is_that_of_hartung_and_knapp_and_wider"
APART = f"{EFFECTS}intervals_of_parties_that_differ_have_that_error"
WEIGHTS = "tests/parties/test_combine_weights.py::test_"

DIFFERING = (
    Fault(
        "tacit.pooling.heterogeneity",
        "return self.variance * self.wider",
        "return self.variance",
        "the inflation for an estimated tau2 is worked out and not used: intervals are too short",
        (KNAPP,),
    ),
    Fault(
        "tacit.pooling.heterogeneity",
        "return quantile(level, self.freedom) * math.sqrt(self.error)",
        "return quantile(level, self.df) * math.sqrt(self.error)",
        "M - 1 degrees of freedom where only a few parties are precise",
        (KNAPP,),
    ),
    Fault(
        "tacit.pooling.heterogeneity",
        "return quantile(level, self.freedom) * math.sqrt(self.error)",
        "return quantile(level, 1e9) * math.sqrt(self.error)",
        "z in place of t",
        (KNAPP,),
    ),
    Fault(
        "tacit.pooling.heterogeneity",
        "variance = (w * (y - mu) ** 2).sum(axis=0) / (df * total)",
        "variance = (w * (y - mu) ** 2).sum(axis=0) / ((df + 1) * total)",
        "M in place of M - 1 in Hartung and Knapp's variance",
        (KNAPP,),
    ),
    Fault(
        "tacit.pooling.heterogeneity",
        "return float(cast(Any, special).stdtrit(df, 0.5 + level / 2))",
        "return float(cast(Any, special).stdtrit(df, level))",
        "one-sided points of t",
        (KNAPP,),
    ),
    Fault(
        "tacit.pooling.heterogeneity",
        "return 1 + 2 * (three / one - two**2 / one**2) / np.maximum(information(w), 1e-300)",
        "return 1 + (three / one - two**2 / one**2) / np.maximum(information(w), 1e-300)",
        "half of what an estimated tau2 adds",
        (f"{WEIGHTS}what_an_estimated_tau2_adds_is_that_of_the_weights",),
    ),
    Fault(
        "tacit.pooling.restricted_likelihood",
        "return 0.5 * (two - 2 * three / one + two**2 / one**2)",
        "return 0.5 * (two - 2 * three / one)",
        "a term of tau2's information is left out",
        (f"{WEIGHTS}what_an_estimated_tau2_adds_is_that_of_the_weights",),
    ),
    Fault(
        "tacit.pooling.heterogeneity",
        "(Q - (use.sum(axis=0) - 1)) / (total - (w**2).sum(axis=0) / total))",
        "(Q - use.sum(axis=0)) / (total - (w**2).sum(axis=0) / total))",
        "M in place of M - 1 in DerSimonian and Laird's tau2",
        ("tests/parties/test_combine.py::test_random_effects_against_statsmodels_and_brute_force",),
    ),
    Fault(
        "tacit.pooling.random_effects",
        "return (self.shares**2 * self.centred.privacy).sum(axis=0)",
        "return (self.shares * self.centred.privacy).sum(axis=0)",
        "privacy's part of a mean over parties does not fall with their number",
        (APART,),
    ),
    Fault(
        "tacit.pooling.random_effects",
        "found = np.array([whole[t] if one is None else one.error for t, one in enumerate(self.effects)])",
        "found = np.array([whole[t] if one is None else one.variance for t, one in enumerate(self.effects)])",
        "the standard error that is shown is not that of the interval",
        (APART,),
    ),
    Fault(
        "tacit.pooling.random_effects",
        "x = np.clip(x + found.with_size(x) / size**2, low, high)",
        "x = np.clip(x - found.with_size(x) / size**2, low, high)",
        "the bias of a party's ratio is doubled in place of undone",
        (f"{EFFECTS}the_bias_of_a_party_s_ratio_is_undone",),
    ),
    Fault(
        "tacit.pooling.random_effects",
        "noise = found.privacy(x) / size**2\n",
        "noise = found.privacy(x) / size\n",
        "a party's own privacy variance falls with its rows, not their square",
        (f"{EFFECTS}each_party_s_own_error_has_its_noise",),
    ),
    Fault(
        "tacit.pooling.prediction",
        "return PredictiveMixture(part / part.sum(axis=0), mean, np.sqrt(tau**2 + variance))",
        "return PredictiveMixture(part / part.sum(axis=0), mean, tau)",
        "one more party's interval leaves the error of the mean out",
        ("tests/parties/test_errors_of_effects.py::test_one_more_party_differs_by_tau_and_the_error_of_the_mean",),
    ),
    Fault(
        "tacit.pooling.restricted_likelihood",
        "use * np.log(v + tau2)).sum(axis=0) + np.log(total))",
        "use * np.log(v + tau2)).sum(axis=0))",
        "the likelihood of tau is not the restricted one: tau comes out too small",
        (
            "tests/parties/test_combine.py::test_random_effects_against_statsmodels_and_brute_force",
            "tests/parties/test_errors_of_effects.py::test_one_more_party_differs_by_tau_and_the_error_of_the_mean",
        ),
    ),
)

# Parameters of families that differ ---------------------------------------------------------------------------------

PARAMETERS = "tests/parties/test_effects_of_parameters.py::test_"
BENT = f"{PARAMETERS}the_mean_is_that_of_the_parameters"

VARIED = (
    Fault(
        "tacit.method.sufficient_statistics.combine_effects",
        'y = y - np.einsum("mrka,ra->mrk", bent, tau2)',
        'y = y + 0 * np.einsum("mrka,ra->mrk", bent, tau2)',
        "the mean of rates that differ is one over the mean of the means",
        (BENT,),
    ),
    Fault(
        "tacit.method.sufficient_statistics.combine_effects",
        "theta = np.clip(center + S[..., None] * (theta - center), *inner)",
        "theta = np.clip(theta, *inner)",
        "each party's own statistics are inverted, however little it says",
        (f"{PARAMETERS}parties_that_say_almost_nothing_neither_bias_nor_spoil_the_mean",),
    ),
    Fault(
        "tacit.method.sufficient_statistics.combine_effects",
        "return np.maximum(1 - (ratio.max(axis=-1) / MILD**2) ** 2, 0.0) ** 2",
        "return np.maximum(1 - (ratio.max(axis=-1) / MILD) ** 2, 0.0) ** 2",
        "a party's own place counts where its error is half of the map's curvature",
        (f"{PARAMETERS}curvature_and_own_places_are_those_of_the_map",),
    ),
    Fault(
        "tacit.pooling.prediction",
        "prior = np.array([information(one[0]) for one in found]) ** 0.25",
        "prior = np.array([information(one[0]) for one in found]) ** 0.0",
        "a flat prior of tau: of three parties the interval of one more is four times as wide",
        ("tests/parties/test_errors_of_effects.py::test_one_more_party_differs_by_tau_and_the_error_of_the_mean",),
    ),
)

# One quantity -------------------------------------------------------------------------------------------------------

POOLED = f"{EFFECTS}the_noise_of_a_pooled_mean"
SAME = f"{EFFECTS}releases_of_the_same_people_have_their_noise_averaged"
TOTALS = f"{EFFECTS}totals_have_the_variances_of_their_rows_and_noises"
AVERAGED = f"{EFFECTS}totals_of_the_same_people_are_averaged"
COEFFICIENTS = f"{EFFECTS}coefficients_weigh_by_their_variances_and_add_up"

ONE = (
    Fault(
        "tacit.pooling.evidence",
        "return self.loads[1] - np.asarray(x)[..., None] * self.loads[0]",
        "return self.loads[1] + np.asarray(x)[..., None] * self.loads[0]",
        "a party's noisy size enters its error with the wrong sign",
        (f"{EFFECTS}the_bias_of_a_party_s_ratio_is_undone",),
    ),
    Fault(
        "tacit.pooling.evidence",
        "noise=side(found.noise, one),",
        "noise=side(found.noise, share),",
        "releases of the same people: the noise is averaged once too often",
        (SAME,),
    ),
    Fault(
        "tacit.pooling.evidence",
        "share = worth / np.bincount(index, worth)[index]",
        "share = (1 / worth) / np.bincount(index, 1 / worth)[index]",
        "the noisier of two releases of the same people weighs more",
        (SAME,),
    ),
    Fault(
        "tacit.pooling.common_value",
        "each = a[..., None] ** 2 * load**2 * found.noise[:, None, :]",
        "each = a[..., None] * load**2 * found.noise[:, None, :]",
        "weights are not squared in the variance of a pooled mean",
        (POOLED,),
    ),
    Fault(
        "tacit.pooling.common_value",
        "return np.minimum(np.maximum(raw, FLOOR * own) * rows / (rows - 1), size), noise, excess",
        "return np.minimum(np.maximum(raw, FLOOR * own), size), noise, excess",
        "divisor n in a pooled variance",
        (f"{EFFECTS}the_sampling_error_of_a_pooled_mean_is_that_of_its_rows",),
    ),
    Fault(
        "tacit.pooling.common_value",
        "return np.sqrt(variance + noise - inner), np.sqrt(inner / 2)[..., None]",
        "return np.sqrt(variance + noise), np.sqrt(inner / 2)[..., None]",
        "Laplace noise counts twice in intervals of pooled estimates",
        (f"{EFFECTS}laws_of_sums_keep_variance_and_fourth_cumulant",),
    ),
    Fault(
        "tacit.pooling.released_evidence",
        "load = np.array([np.zeros_like(signs), (signs + 1), np.zeros_like(signs)])",
        "load = np.array([np.zeros_like(signs), signs, np.zeros_like(signs)])",
        "shares of public size are given the noise of all classes",
        (f"{EFFECTS}shares_of_classes_have_the_noise_of_one_count_where_rows_are_public",),
    ),
    Fault(
        "tacit.parties.totals",
        "squares = (squares - (value**2 - noise) / rows) * rows / max(rows - 1, 1)",
        "squares = (squares - value**2 / rows) * rows / max(rows - 1, 1)",
        "a party's noisy total is squared and the square of its noise left in",
        (TOTALS,),
    ),
    Fault(
        "tacit.parties.totals",
        "squares = (squares - (value**2 - noise) / rows) * rows / max(rows - 1, 1)",
        "squares = squares - (value**2 - noise) / rows",
        "divisor n in the variance of a party's total",
        (TOTALS,),
    ),
    Fault(
        "tacit.parties.totals",
        "noise=mean([one.noise for one in found], 2),",
        "noise=mean([one.noise for one in found]),",
        "averaging releases of the same people does not lower the noise",
        (AVERAGED,),
    ),
    Fault(
        "tacit.parties.totals",
        "fourth=mean([one.fourth for one in found], 4),",
        "fourth=mean([one.fourth for one in found], 2),",
        "the kurtosis of averaged noise: tails of intervals",
        (AVERAGED,),
    ),
    Fault(
        "tacit.method.regression.combine",
        "for weight, numbers in ((share, parts.value), (share**2, parts.sampling), (share**2, parts.privacy))",
        "for weight, numbers in ((share, parts.value), (share**2, parts.sampling), (share, parts.privacy))",
        "privacy's part of combined coefficients does not fall with the number of parties",
        (COEFFICIENTS,),
    ),
    Fault(
        "tacit.method.regression.combine",
        "return s / rows + g * noise / rows**2",
        "return s / rows + g * noise / rows",
        "weights of parties take noise to fall with their rows as sampling does",
        (COEFFICIENTS,),
    ),
    Fault(
        "tacit.method.regression.combine",
        "half = normal_quantile(level) * np.sqrt(self.sampling + self.privacy)",
        "half = normal_quantile(level) * np.sqrt(self.sampling)",
        "intervals of combined coefficients leave the noise out",
        (COEFFICIENTS,),
    ),
    Fault(
        "tacit.pooling.tree_totals",
        "return 1.0 if noise == 0 else children / (children + noise)",
        "return 1.0 if noise == 0 else noise / (children + noise)",
        "the noisier of a state's own total and its schools' sum weighs more",
        ("tests/parties/test_hierarchy.py::test_two_passes_are_least_squares_whatever_is_released",),
    ),
    Fault(
        "tacit.pooling.tree_totals",
        "out[below] = first + made.ratio[below] ** 2 * out[node]",
        "out[below] = first + made.ratio[below] * out[node]",
        "the variance of a reconciled total",
        ("tests/parties/test_hierarchy.py::test_two_passes_are_least_squares_whatever_is_released",),
    ),
    Fault(
        "tacit.pooling.noise_sum",
        "each = [(weight**2 * law.variance(), count, is_gaussian(law)) for law, weight, count in pieces]",
        "each = [(weight * law.variance(), count, is_gaussian(law)) for law, weight, count in pieces]",
        "the noise of added histograms, whose parts have multipliers",
        (f"{EFFECTS}laws_of_sums_keep_variance_and_fourth_cumulant",),
    ),
)

# Which answers are taken --------------------------------------------------------------------------------------------

PARTS = f"{CHECKED}parts_that_cost_more_than_their_release_says"
NOISE = f"{CHECKED}noise_that_is_narrower_than_its_price_buys"
FACTS = f"{CHECKED}facts_that_are_not_the_study_s"

TAKEN = (
    Fault(
        "tacit.parties.validation",
        "if parts and _above(budget, cost, parts) is not None:",
        "if parts and _above(budget, spend, parts) is not None:",
        "parts that cost more than their release says pass, up to the whole study's price",
        (PARTS,),
    ),
    Fault(
        "tacit.parties.validation",
        "return tuple([part.cost for part in one.parts]) if one.kind in SUMMED else ()",
        "return tuple([part.cost for part in one.parts[:1]]) if one.kind in SUMMED else ()",
        "only the first part's price is held against the release's",
        (PARTS,),
    ),
    Fault(
        "tacit.parties.validation",
        "if (one.unit is None) != (study.schema.unit is None):",
        "if one.unit is not None and study.schema.unit is None:",
        "an answer that protects rows passes where the study says persons",
        (f"{CHECKED}rows_are_not_persons",),
    ),
    Fault(
        "tacit.parties.validation",
        "part.law.name == wanted.name and part.law.scale >= wanted.scale:",
        "part.law.name == wanted.name:",
        "noise narrower than its price buys passes",
        (NOISE,),
    ),
    Fault(
        "tacit.parties.validation",
        "if wanted is not None and part.law.name == wanted.name and",
        "if wanted is not None and",
        "noise of another law, with another guarantee, passes",
        (NOISE,),
    ),
    Fault(
        "tacit.parties.validation",
        "return next((said for part in one.parts if (said := _noise(name, one, part))), None)",
        "return _noise(name, one, one.parts[0])",
        "only the first column's noise is looked at",
        (NOISE,),
    ),
    Fault(
        "tacit.parties.validation",
        "total = sum((own.spend(one) for one in costs), Spend())",
        "total = max((own.spend(one) for one in costs), key=lambda one: (one.epsilon, one.rho), default=Spend())",
        "the prices of several questions are not added up",
        (f"{CHECKED}releases_that_cost_more_than_the_study_asks_for",),
    ),
    Fault(
        "tacit.parties.validation",
        "if day > study.closes:",
        "if day >= study.closes:",
        "answers of the closing day are refused",
        (f"{CHECKED}the_closing_day_still_counts",),
    ),
    Fault(
        "tacit.parties.validation",
        "if one.neighbors != study.budget.neighbors:",
        "if one.neighbors == 'unknown':",
        "an answer under the other relation passes",
        (FACTS,),
    ),
    Fault(
        "tacit.parties.validation",
        "if (part.grid.lower, part.grid.upper) != (own.lower, own.upper):",
        "if part.grid.lower != own.lower:",
        "an answer with another upper bound passes",
        (FACTS,),
    ),
    Fault(
        "tacit.parties.incoming",
        "return (words, found) if SEAL in words else",
        "return (words, found) if words else",
        "a file without its digest, which anybody may have changed, is taken",
        ("tests/parties/test_files_that_are_taken.py",),
    ),
    Fault(
        "tacit.parties.incoming",
        "if len(tables) != 1:",
        "if not tables:",
        "a file with answers of two parties is taken as one party's",
        (f"{RETURNED}wrong_documents_are_refused_by_name_and_reason",),
    ),
    Fault(
        "tacit.parties.incoming",
        "refused[one.file if one.party in good or one.party in refused else one.party] = why",
        "refused[one.party] = why",
        "a party whose good answer is combined is listed as refused for an older file",
        (f"{RETURNED}a_stale_file_does_not_evict_a_good_answer",),
    ),
    Fault(
        "tacit.parties.incoming",
        "good = _sifted(_genuine(found, refused), lambda one: check(one.party, one.answer), refused)",
        "good = _genuine(found, refused)",
        "an answer to an earlier edition makes a party answer twice, or is taken for this one's",
        (f"{RETURNED}a_stale_file_does_not_evict_a_good_answer",),
    ),
    Fault(
        "tacit.parties.incoming",
        "del kept[party]",
        "pass",
        "of two answers that differ the first is taken: a party may draw again until it likes the noise",
        (f"{RETURNED}a_party_that_answers_twice",),
    ),
    Fault(
        "tacit.parties.incoming",
        "return _sifted(found, lambda one: one.false, refused)",
        "return list(found)",
        "answers that are not signed by the party that they name are taken",
        ("tests/parties/test_files_that_are_taken.py",),
    ),
    Fault(
        "tacit.parties.combined_cost",
        "return largest_cost([sum_of_costs(costs) for costs in own.values()])",
        "return largest_cost([largest_cost(costs) for costs in own.values()])",
        "a person whose table answered twice is told to have paid once",
        ("tests/parties/test_what_a_person_pays.py",),
    ),
    Fault(
        "tacit.parties.combined_tables",
        "if found.overlap:",
        "if not found.overlap:",
        "people who may be in several parties are told the largest price, not the sum",
        ("tests/parties/test_combine.py::test_costs_add_where_people_may_be_in_several_parties",),
    ),
    Fault(
        "tacit.pooling.compatibility",
        'key = f"ledger {one.ledger}"',
        'key = f"table {one.table}"',
        "tables of one ledger, which are the same people, count as two parties",
        (f"{RETURNED}one_ledger_under_two_names_is_one_population",),
    ),
    Fault(
        "tacit.pooling.compatibility",
        "if other.unit != own.unit:",
        "if (other.unit is None) != (own.unit is None):",
        "persons with other numbers of rows are combined",
        ("tests/parties/test_what_a_person_pays.py",),
    ),
)

# Blocks that are not to be believed ----------------------------------------------------------------------------------

BELIEVED = "tests/parties/test_blocks_of_parties.py::test_"

BLOCKS = (
    Fault(
        "tacit.pooling.common_value",
        "spread = spread + UNSEEN * cap.max(axis=0)",
        "spread = spread + 0 * UNSEEN * cap.max(axis=0)",
        "pooled means of few rows are narrower than those of one party with the same rows",
        ("tests/parties/test_errors_of_effects.py::test_the_sampling_error_of_a_pooled_mean_is_that_of_its_rows",),
    ),
    Fault(
        "tacit.pooling.common_value",
        "spread = spread * np.clip(x / np.maximum(self.x, 1e-300), 1.0, SKEW)",
        "spread = spread * 1.0",
        "upper limits of pooled variances allow for no skewness",
        ("tests/parties/test_combine.py::test_one_party_says_what_it_said",),
    ),
    Fault(
        "tacit.study.study",
        'return query if query.model.words["family"] in ("Model", "Statistic") else replace(query, bias="cox-snell")',
        "return query",
        "answers of version 0.1 to a study with blocks are refused by the version after",
        ("tests/parties/test_one_bad_party.py::test_answers_of_version_0_1_are_to_the_study_that_it_read",),
    ),
    Fault(
        "tacit.method.blocks.combine",
        "return ENDED if 2 * sum(why == BEYOND for why in own) > len(own) else None",
        "return None",
        "the few parties whose noise hides that their box is too narrow answer for all",
        (f"{BELIEVED}where_most_parties_end_with_the_box_the_others_are_no_answer",),
    ),
    Fault(
        "tacit.method.blocks.combine",
        "own[party] = own[party] or test.terms[at].reasons[0]",
        "own[party] = None",
        "a party whose own estimate has a reason weighs as the others do",
        (
            f"{BELIEVED}a_party_of_failed_blocks_weighs_nothing_and_is_named",
            f"{BELIEVED}releases_about_the_same_people_weigh_nothing_together",
        ),
    ),
    Fault(
        "tacit.method.blocks.combine",
        "return float(moved), FAILED if moved > error else None, [found.note]",
        "return 0.0, None, [found.note]",
        "failures that matter in all parties together are let pass",
        (f"{BELIEVED}failures_too_few_for_a_party_s_own_reason_are_enough_for_that_of_all",),
    ),
    Fault(
        "tacit.method.blocks.combine",
        "return left, LAW if left > error else None, [found.note]",
        "return 0.0, None, [found.note]",
        "another law that all parties together show is let pass",
        (f"{BELIEVED}a_law_that_no_party_alone_rejects_is_rejected_by_all",),
    ),
    Fault(
        "tacit.method.blocks.combine",
        "if test.freed[at].value[0] != test.plain[at].value[0]:",
        "if False:",
        "estimates clamped to the box are combined as they are",
        (
            f"{BELIEVED}what_a_box_takes_off_is_put_back_in_the_equations",
            f"{BELIEVED}a_box_that_ends_near_moves_no_combination",
        ),
    ),
    Fault(
        "tacit.method.blocks.combine",
        "factor = np.sqrt(1 + (self.moved / max(self.error, 1e-300)) ** 2)",
        "factor = 1.0",
        "what may be left of a bias is in the standard error and not in the interval",
        (f"{BELIEVED}failures_too_few_for_a_party_s_own_reason_are_enough_for_that_of_all",),
    ),
    Fault(
        "tacit.method.blocks.combine",
        "worth = 1 / np.maximum(own[:, 1], 1e-300) ** 2",
        "worth = np.ones(len(own))",
        "a ratio that noise hides counts as much as one that is known",
        (f"{BELIEVED}pooled_ratios_weigh_by_their_errors",),
    ),
)

NOBODY = "tests/parties/test_groups_without_rows.py::test_"
ANSWERS = (
    Fault(
        "tacit.estimates.verbs.proportions",
        "load = (np.eye(len(k)) - p[:, None]) / size",
        "load = np.eye(len(k)) / size",
        "the noise of the total that shares are of is left out of their errors",
        ("tests/inference/test_proportions.py::test_errors_are_multinomial_and_those_of_a_ratio",),
    ),
    Fault(
        "tacit.method.histogram.estimate_from_cells.inequality",
        "np.array([apart / (2 * group.mean)])",
        "np.array([apart / group.mean])",
        "a Gini coefficient twice as large",
        ("tests/fromcells/test_inequality.py::test_of_values_spread_evenly",),
    ),
    Fault(
        "tacit.method.histogram.estimate_from_cells.inequality",
        "return axis.bounds[:-1] + axis.step / 2, axis.last[1:]",
        "return axis.bounds[:-1], axis.last[1:]",
        "multiples from 0 on are taken to begin below 0",
        ("tests/fromcells/test_inequality.py::test_multiples_from_zero_are_their_values",),
    ),
    Fault(
        "tacit.method.histogram.estimate_from_cells.inequality",
        "values, unknown = values + half, unknown + np.outer(half, half)",
        "values, unknown = values - half, unknown + np.outer(half, half)",
        "a heap of zeros is moved away from 0",
        ("tests/fromcells/test_inequality.py::test_a_heap_of_zeros_is_taken_halfway",),
    ),
    Fault(
        "tacit.method.histogram.estimate_from_cells.inequality",
        "    if len(values) > 1:\n",
        "    if len(values) > 1_000:\n",
        "a curve within a bin is that of values which do not reach beyond its middle",
        ("tests/fromcells/test_inequality.py::test_the_density_within_the_bin_of_a_quantile_counts",),
    ),
    Fault(
        "tacit.estimates.noisy_terms.column_terms",
        "ANSWER: Final = 0.98",
        "ANSWER: Final = 0.84",
        "one in six groups of nobody has a mean",
        (f"{NOBODY}a_group_of_nobody_has_a_reason_and_one_of_four_rows_an_answer",),
    ),
    Fault(
        "tacit.pooling.presence",
        "points_of(found, 1 - 2 * ALONE / len(found.size))",
        "points_of(found, 1 - 2 * ALONE)",
        "one of many parties makes a mean of nobody by its noise",
        (f"{NOBODY}nobody_in_any_party_is_a_reason",),
    ),
    Fault(
        "tacit.pooling.presence",
        "return (usable >= 2 + made)",
        "return (usable >= 2)",
        "the rows of one party, and the noise of another, make the mean of many parties",
        (f"{NOBODY}one_party_with_all_rows_is_no_mean_of_several",),
    ),
    Fault(
        "tacit.pooling.presence",
        "size = found.size - slope * found.distance(x)",
        "size = found.size - 0 * slope * found.distance(x)",
        "parties are chosen by noise that is in their numbers, too",
        (f"{NOBODY}parties_are_seen_by_what_their_sizes_do_not_share_with_their_totals",),
    ),
    Fault(
        "tacit.pooling.random_effects",
        "x = pooled(found, sampled=sampled).x",
        "x = pooled(found, equal=True).x",
        "many parties of nobody move the centre about which the one party with rows is linear",
        (f"{NOBODY}one_party_with_all_rows_is_not_outvoted",),
    ),
    Fault(
        "tacit.pooling.common_value",
        "alpha = (1 - level) * self.there.chance(1 - level)",
        "alpha = 1 - level",
        "pooled numbers of few rows are given where noise makes them seem many, and their intervals do not know",
        ("tests/parties/test_combine_coverage.py::test_few_rows_are_covered_given_an_answer",),
    ),
    Fault(
        "tacit.plots.forest",
        "if not own.known or not np.isfinite([value, *limits]).all():",
        "if not np.isfinite([value, *limits]).all():",
        "a forest plot draws a diamond where nothing is said of the parties together",
        ("tests/parties/test_combine.py::test_a_combined_term_with_a_reason_has_no_diamond",),
    ),
)

EDITED_ANSWERS = "tests/parties/test_edited_answers.py::test_"
EDITED = (
    Fault(
        "tacit.pooling.compatibility",
        "return (release.head, release.name) if release.head else (release.table, release.charge, release.name)",
        "return release.table, release.charge, release.head, release.name",
        "a copy of a release under another table's name is pooled with it as a second answer of the same people",
        (f"{EDITED_ANSWERS}a_copy_under_another_table_is_the_same_release",),
    ),
    Fault(
        "tacit.parties.incoming",
        "twice = copies(study, answers)",
        "twice: dict[str, str] = {}",
        "one party's answer under another party's name stops the whole study",
        (f"{EDITED_ANSWERS}an_answer_under_another_partys_name_leaves_out_both_and_not_the_rest",),
    ),
    Fault(
        "tacit.pooling.possible_integers",
        "if part.form in NOT_NEGATIVE and least < -noise:",
        "if False:",
        "counts far below 0 are clipped and pooled as if there were no rows",
        (f"{EDITED_ANSWERS}integers_that_no_table_gives",),
    ),
    Fault(
        "tacit.parties.level_facts",
        "if far > FAR:",
        "if False:",
        "a hierarchy whose nodes hold other rows than those below is reconciled in silence",
        (f"{EDITED_ANSWERS}nodes_that_hold_other_rows_than_those_below",),
    ),
    Fault(
        "tacit.parties.level_facts",
        "if first != name and not _one_line(tree, place[first], place[name]):",
        "if False:",
        "a hierarchy counts one table at two nodes twice",
        (f"{EDITED_ANSWERS}one_table_at_two_nodes",),
    ),
    Fault(
        "tacit.parties.combine_releases",
        "notes = (*notes, *notes_on_schemas(names, releases))",
        "notes = (*notes,)",
        "ages in years and in months in a condition are pooled without a word",
        (f"{EDITED_ANSWERS}other_schemas_are_said",),
    ),
)

FAULTS: tuple[Fault, ...] = (*DIFFERING, *VARIED, *ONE, *TAKEN, *BLOCKS, *ANSWERS, *EDITED)
