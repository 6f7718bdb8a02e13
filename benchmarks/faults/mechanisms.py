"""Faults in sensitivities, clamps, capacities and prices of the mechanisms."""

from __future__ import annotations

from faults.fault import Fault

MOMENTS = "tests/mechanisms/test_moment_forms.py"
WEIGHTED = "tests/mechanisms/test_weighted_forms.py"
CROSSES = "tests/mechanisms/test_regression_forms.py"
SCORES = "tests/mechanisms/test_score_forms.py"
PERSONS = "tests/mechanisms/test_person_forms.py"
ROUNDING = "tests/mechanisms/test_rounding_of_forms.py"
RANKS = "tests/mechanisms/test_ranks.py"
BLOCKS = "tests/mechanisms/test_blocks.py"
SAMPLE = "tests/mechanisms/test_sample_and_aggregate.py"
ONE_STEP = "tests/mechanisms/test_one_step.py"
WINSORIZED = "tests/mechanisms/test_winsorized.py"
SPARSE = "tests/mechanisms/test_sparse_histogram.py"
STATISTICS = "tests/mechanisms/test_sufficient_statistics.py"
CHANGED = "tests/mechanisms/test_table_changed.py"
PRICES = "tests/privacy/test_pairs_kept.py"

FAULTS = (
    # Moments
    Fault(
        "tacit.method.shared.encoding",
        '    l1 = G if noise == "laplace" else -(-441 * H // 160) + 1\n',
        '    l1 = H if noise == "laplace" else -(-441 * H // 160) + 1\n',
        "means have half the noise that they need",
        (f"{MOMENTS}::test_plain_pure_is_exactly_the_range",),
    ),
    Fault(
        "tacit.method.shared.encoding",
        'return G if noise == "laplace" else 5 * G // 16',
        'return G if noise == "laplace" else 4 * G // 16',
        "second moments are not free beside normal noise",
        (f"{MOMENTS}::test_plain_gaussian_is_exactly_the_range",),
    ),
    Fault(
        "tacit.method.shared.encoding",
        'kappa = H // 2 if noise == "laplace" else 21 * H // 32',
        'kappa = H if noise == "laplace" else 21 * H // 32',
        "a row that is missing is told from one that is there",
        (f"{MOMENTS}::test_exclusion_pure_costs_nothing_more",),
    ),
    Fault(
        "tacit.method.shared.encoding",
        '    twice = 2 if neighbors == "replace-one" else 1\n    parameters = {"G": G, "middle": m}\n',
        '    twice = 1\n    parameters = {"G": G, "middle": m}\n',
        "a row that moves from one group to another costs twice what is charged",
        (f"{MOMENTS}::test_group_replace_one",),
    ),
    Fault(
        "tacit.method.shared.encoding",
        "(G**4, 0, -6 * G**2, 8 * G, -3)",
        "(G**4, 0, -6 * G**2, 8 * G, -2)",
        "variances are of other powers than they say",
        (f"{MOMENTS}::test_bernstein_gives_the_four_moments", f"{MOMENTS}::test_bernstein_rows_have_one_mass"),
    ),
    Fault(
        "tacit.method.shared.encoding",
        'twice = 2 if neighbors == "replace-one" and cells > 1 else 1',
        "twice = 1",
        "counts of groups have half the noise that they need",
        (f"{MOMENTS}::test_counts",),
    ),
    Fault(
        "tacit.method.shared.encoding",
        'a, b = (1, 1) if noise == "laplace" else (2, 3)',
        'a, b = (1, 1) if noise == "laplace" else (2, 4)',
        "a missing answer to yes or no weighs more than is charged",
        (f"{MOMENTS}::test_binary_forms",),
    ),
    Fault(
        "tacit.method.shared.encoding_choice",
        '    if grouped or neighbors == "add-remove":\n',
        "    if grouped:\n",
        "rows that come and go are protected as rows that are replaced",
        ("tests/mechanisms/test_contract.py::test_contract",),
    ),
    Fault(
        "tacit.method.moments.design",
        "    leaves = at.missing is None or shape.where is not None\n",
        "    leaves = at.missing is None\n",
        "a row that a condition lets in or out is protected as one that is always there",
        ("tests/mechanisms/test_forms_of_conditions.py::test_rows_that_can_leave_have_the_forms_of_such_rows",),
    ),
    Fault(
        "tacit.method.shared.mechanism_sums",
        "found != public",
        "found < public",
        "a table that grew is averaged over its old number of rows",
        (f"{CHANGED}::test_another_number_of_rows_is_noticed_by_every_mechanism[1-mean]",),
    ),
    Fault(
        "tacit.method.shared.encoding_choice",
        "missing=(2 * at.missing * made.G + at.G) // (2 * at.G))",
        "missing=min(at.missing, made.G))",
        "what stands for a missing cell moves where a column has another grid",
        ("tests/mechanisms/test_forms_of_conditions.py",),
    ),
    Fault(
        "tacit.method.moments.design",
        "return weighted_forms.shared(form, SHARE), PersonWeight(SHARE)",
        "return form, PersonWeight(SHARE)",
        "persons in groups have a thousandth of the noise that they need",
        (f"{WEIGHTED}::test_the_contract_with_persons[Mean-['age']-['sex']]",),
    ),
    Fault(
        "tacit.method.moments.design",
        "share = cost if len(query.columns) == 1 else cost.share(Fraction(1, len(query.columns)))",
        "share = cost",
        "each column of a question is answered at the whole price",
        (f"{PRICES}::test_every_kind_of_request_keeps_the_pair_that_is_written[groups]",),
    ),
    # Weights
    Fault(
        "tacit.method.shared.weighted_encoding",
        'twice = 2 if neighbors == "replace-one" and not one else 1',
        "twice = 1",
        "weighted counts of groups have half the noise that they need",
        (f"{WEIGHTED}::test_weighted_counts_change_by_exactly_what_is_declared",),
    ),
    Fault(
        "tacit.method.shared.weighted_encoding",
        "l1=A * form.l1, l2_squared=A * A * form.l2_squared)",
        "l1=A * form.l1, l2_squared=A * form.l2_squared)",
        "normal noise of persons in groups is too narrow",
        (f"{WEIGHTED}::test_a_shared_form_is_its_form_times_the_share",),
    ),
    Fault(
        "tacit.method.shared.weighted_encoding",
        "else (3, 1 if several else 3)",
        "else (3, 3)",
        "a person with weights in several groups has too little noise",
        (f"{WEIGHTED}::test_weights_of_one_person_in_several_cells",),
    ),
    Fault(
        "tacit.method.shared.weighted_encoding",
        'j, k = (int(several), 1) if noise == "laplace"',
        'j, k = (0, 1) if noise == "laplace"',
        "weighted counts of persons in several groups have too little noise",
        (f"{WEIGHTED}::test_weighted_counts_of_persons_in_several_cells",),
    ),
    Fault(
        "tacit.method.shared.weighted_encoding",
        "(9 * A // 7 + 2) * (G + 1)",
        "(9 * A // 7) * (G + 1)",
        "a release states an l1 norm that a row can exceed",
        (f"{ROUNDING}::test_l1_of_weighted_rows_with_normal_noise",),
    ),
    Fault(
        "tacit.rows.row_map",
        "return weights * min(total, cap) // (cap * total) if total else 0",
        "return -(-weights * min(total, cap) // (cap * total)) if total else 0",
        "weights of a person in several groups add up to more than one person",
        (f"{WEIGHTED}::test_shares_are_floors_that_never_exceed_the_whole",),
    ),
    Fault(
        "tacit.rows.row_map",
        "        v = np.clip(step, 0, self.steps) * self.factor\n",
        "        v = step * self.factor + (step == self.steps)\n",
        "a row at the upper bound is beyond the grid that the noise is made for",
        (
            "tests/source/test_engines.py::test_row_by_row_as_the_reference[real0-pyarrow]",
            "tests/source/test_engines.py::test_row_by_row_as_the_reference",
        ),
    ),
    # Regressions
    Fault(
        "tacit.method.regression.encoding",
        "        l1 = -(-RESIDUAL_WEIGHT * mass // 8) + off * len(entries)\n",
        "        l1 = -(-RESIDUAL_WEIGHT * mass // 8)\n",
        "floors of products of scores are not in the noise of a linear regression (Laplace)",
        (f"{ROUNDING}::test_floors_of_products_are_in_the_norms_of_linear_scores",),
    ),
    Fault(
        "tacit.method.regression.encoding",
        "        l2 = RESIDUAL_WEIGHT * (isqrt(whole) + 1) + off * (isqrt(len(entries)) + 1)\n",
        "        l2 = RESIDUAL_WEIGHT * (isqrt(whole) + 1)\n",
        "floors of products of scores are not in the noise of a linear regression (normal)",
        (f"{ROUNDING}::test_floors_of_products_are_in_the_norms_of_linear_scores",),
    ),
    Fault(
        "tacit.method.regression.encoding",
        "off = (RESIDUAL_WEIGHT << SHIFT) // (V if free else 4 * V)",
        "off = (RESIDUAL_WEIGHT << SHIFT) // V",
        "products of scores of levels weigh more than is charged",
        (f"{CROSSES}::test_scores_of_all_pairs_of_rows_under_any_aim",),
    ),
    Fault(
        "tacit.method.regression.encoding",
        "2 * T * T) if one else T * T - unasked",
        "T * T) if one else T * T - unasked",
        "cross-products with levels have too little noise",
        (f"{CROSSES}::test_cross_products_of_all_pairs_of_rows",),
    ),
    Fault(
        "tacit.method.regression.encoding",
        "off, diag, count = 1, 1, 1\n",
        "off, diag, count = 1, 2, 1\n",
        "squares of regressors weigh more than is charged",
        (f"{CROSSES}::test_cross_products_of_all_pairs_of_rows",),
    ),
    Fault(
        "tacit.method.regression.score_encoding",
        "        l2 = isqrt(size) + 1 + off * (isqrt(count) + 1)\n",
        "        l2 = isqrt(size) + 1\n",
        "floors of sizes and squares of scores are not in the noise (normal)",
        (f"{ROUNDING}::test_floors_of_sizes_and_squares_are_in_the_norms_of_bounded_scores",),
    ),
    Fault(
        "tacit.method.regression.score_encoding",
        " * mass) + off * count\n",
        " * mass)\n",
        "floors of sizes and squares of scores are not in the noise (Laplace)",
        (f"{ROUNDING}::test_floors_of_sizes_and_squares_are_in_the_norms_of_bounded_scores",),
    ),
    Fault(
        "tacit.method.regression.score_encoding",
        "(off * T * T // 2 + 1 if weighed else 0)",
        "0",
        "weights of counts are taken for sizes of their scores: too little noise",
        (f"{SCORES}::test_with_weights_of_their_own_the_bound_is_nearly_attained",),
    ),
    Fault(
        "tacit.method.regression.score_encoding",
        "parts = (2 if weighed else matrices) if one else 2 * matrices",
        "parts = 1 if one else 2 * matrices",
        "sizes and squares of scores weigh together more than is charged",
        (f"{SCORES}::test_random_pairs_on_the_grid_of_releases",),
    ),
    Fault(
        "tacit.method.regression.person_encoding",
        "return replace(form, l1=form.l1 + l1, l2_squared=(_root(form.l2_squared) + l2) ** 2)",
        "return form",
        "rounding of persons' means is not in the noise of their cross-products",
        (f"{ROUNDING}::test_rounding_of_persons_is_in_the_norms_of_cross_products",),
    ),
    Fault(
        "tacit.method.regression.person_encoding",
        "moved = moved + [(2 * most_one >> shift) + 1] * len(every)",
        "moved = moved + [1] * len(every)",
        "rounding of mean scores is not in the noise of their products",
        (f"{ROUNDING}::test_rounding_of_persons_is_in_the_norms_of_scores",),
    ),
    Fault(
        "tacit.method.regression.person_encoding",
        "[1] * layout.size + [2] * count",
        "[1] * layout.size + [1] * count",
        "floors of rows are not in the noise of persons' sizes of scores",
        (f"{ROUNDING}::test_rounding_of_persons_is_in_the_norms_of_scores",),
    ),
    Fault(
        "tacit.method.regression.person_encoding",
        "l1, l2_squared = norm + l1, (norm + l1) ** 2",
        "l1, l2_squared = norm, norm**2",
        "rounding of persons' means is not in the noise of their scores (Laplace)",
        (f"{ROUNDING}::test_rounding_of_persons_is_in_the_norms_of_scores",),
    ),
    Fault(
        "tacit.method.regression.person_encoding",
        "l2_squared = (norm + l2) ** 2",
        "l2_squared = norm**2",
        "rounding of persons' means is not in the noise of their scores (normal)",
        (f"{ROUNDING}::test_rounding_of_persons_is_in_the_norms_of_scores",),
    ),
    Fault(
        "tacit.method.regression.person_encoding",
        "off = (RESIDUAL_WEIGHT << SHIFT) // ((2 if own else 4) * V)",
        "off = (RESIDUAL_WEIGHT << SHIFT) // ((1 if own else 4) * V)",
        "products of mean scores weigh more than is charged",
        (f"{PERSONS}::test_persons_of_a_linear_regression",),
    ),
    Fault(
        "tacit.method.regression.product_parts",
        "leaves = where is not None or any(at.missing is None for at in maps.values())",
        "leaves = any(at.missing is None for at in maps.values())",
        "rows that a condition leaves out of a regression are protected as if they were all there",
        ("tests/mechanisms/test_forms_of_conditions.py",),
    ),
    Fault(
        "tacit.method.regression.design",
        "facts.layout, cost.share(FIRST_SHARE), cost.share(1 - FIRST_SHARE)",
        "facts.layout, cost.share(FIRST_SHARE), cost",
        "the scores of a regression are bought at the whole price, after the cross-products",
        (f"{PRICES}::test_every_kind_of_request_keeps_the_pair_that_is_written[regression]",),
    ),
    # Selections
    Fault(
        "tacit.method.shared.rank_utilities",
        'return b if neighbors == "replace-one" else max(a, b - a)',
        "return max(a, b - a)",
        "selections under replace-one cost more than is charged",
        (f"{RANKS}::test_sensitivity_holds",),
    ),
    Fault(
        "tacit.method.shared.rank_utilities",
        "return Selection((cost.epsilon or Fraction(0)) / (2 * most))",
        "return Selection((cost.epsilon or Fraction(0)) / most)",
        "selections cost twice the epsilon that is charged",
        (f"{RANKS}::test_privacy_loss_is_pure_and_of_bounded_range",),
    ),
    Fault(
        "tacit.method.shared.rank_utilities",
        "range_for(cost.share(Fraction(1, 2))) / (2 * leaving)) if moving else rate)",
        "range_for(cost) / (2 * leaving)) if moving else rate)",
        "a row that moves to another group changes two selections, and pays for one",
        (f"{RANKS}::test_one_selection_in_each_cell_costs_the_price",),
    ),
    Fault(
        "tacit.method.shared.rank_utilities",
        "target - b * (below + rows)))",
        "target - b * below))",
        "a step that holds the quantile among equal rows is taken for one below it",
        (f"{RANKS}::test_utilities_follow_the_definition",),
    ),
    Fault(
        "tacit.method.quantiles.design",
        "paid = cost if sized else cost.share(1 - SIZE)",
        "paid = cost",
        "quantiles cost a twentieth more than is charged",
        ("tests/mechanisms/test_quantiles.py::test_the_parts_cost_at_most_the_price",),
    ),
    Fault(
        "tacit.method.quantiles.design",
        "cast(Any, Selection(law.rate / A))",
        "cast(Any, Selection(law.rate))",
        "persons in several groups are selected by a thousand times too sharply",
        ("tests/mechanisms/test_quantiles_by.py::test_groups_cost_the_price_once",),
    ),
    Fault(
        "tacit.method.ranges.design",
        "rank_utilities.law_for(cost.share((1 - SIZE) / 2), p",
        "rank_utilities.law_for(cost.share(1 - SIZE), p",
        "both ends of a range are bought at the price of one",
        ("tests/mechanisms/test_ranges.py::test_the_parts_cost_at_most_the_price",),
    ),
    # Histograms
    Fault(
        "tacit.method.histogram.design",
        "return (weighted_forms.shared(form, SHARE), PersonWeight(SHARE)) if persons else (form, None)",
        "return (form, PersonWeight(SHARE)) if persons else (form, None)",
        "histograms of persons have a thousandth of the noise that they need",
        ("tests/mechanisms/test_histogram.py::test_the_contract_of_persons",),
    ),
    Fault(
        "tacit.method.histogram.mechanism_sparse",
        "stays = noisy >= threshold",
        "stays = noisy > threshold",
        "a cell with rows never shows the threshold itself, which empty cells do",
        (f"{SPARSE}::test_the_law_is_that_of_dense_noise_and_a_threshold[counts1-normal]",),
    ),
    Fault(
        "tacit.method.histogram.mechanism_sparse",
        "empty = ~np.isin(places, found.cells)",
        "empty = np.ones(len(places), dtype=np.bool_)",
        "a cell that stands twice in a release has rows",
        (f"{SPARSE}::test_the_law_is_that_of_dense_noise_and_a_threshold[counts1-normal]",),
    ),
    Fault(
        "tacit.method.histogram.sparse_design",
        "own = None if query.threshold is None else query.threshold * share",
        "own = query.threshold",
        "a threshold of persons is a thousandth of what was asked for",
        (f"{SPARSE}::test_thresholds_are_public_and_follow_the_rules",),
    ),
    Fault(
        "tacit.method.quality.encoding",
        '    twice = 2 if neighbors == "replace-one" else 1\n',
        "    twice = 1\n",
        "counts of missing cells have half the noise that they need",
        ("tests/mechanisms/test_quality.py::test_the_sensitivity_of_classes_over_all_pairs",),
    ),
    # Statistics
    Fault(
        "tacit.method.sufficient_statistics.design",
        "leaves = at.missing is None or shape.where is not None",
        "leaves = at.missing is None",
        "with a place for missing cells, rows that a condition leaves out have too little noise",
        (f"{STATISTICS}::test_rows_that_a_condition_leaves_out_are_absent_whatever_stands_for_missing",),
    ),
    Fault(
        "tacit.method.sufficient_statistics.design",
        "share = cost if len(found) == 1 else cost.share(Fraction(1, len(found)))",
        "share = cost",
        "each sufficient statistic is answered at the whole price",
        (f"{STATISTICS}::test_a_statistic_is_clamped_where_it_is_said_to_be",),
    ),
    # Blocks
    Fault(
        "tacit.method.blocks.design",
        "capacity = block_sizes.capacity(size, k) * most",
        "capacity = block_sizes.capacity(size, k)",
        "rows of persons with several are left out of full blocks",
        (f"{SAMPLE}::test_a_block_has_room_for_all_rows_of_its_persons",),
    ),
    Fault(
        "tacit.method.blocks.design",
        "share = cost if p == 1 else cost.share(Fraction(1, p))",
        "share = cost",
        "each parameter is answered at the whole price",
        (f"{SAMPLE}::test_the_price_is_shared_by_the_parameters",),
    ),
    Fault(
        "tacit.method.blocks.mechanism_means",
        "w = np.clip(np.clip(step, 0, grid.G).astype(np.int64), 0, grid.G) - grid.G // 2",
        "w = step.astype(np.int64) - grid.G // 2",
        "an estimate outside its window weighs more than the noise is made for",
        (
            f"{SAMPLE}::test_estimates_are_clamped_to_their_grid",
            f"{WINSORIZED}::test_nothing_of_a_table_stops_a_release",
        ),
    ),
    Fault(
        "tacit.method.blocks.mechanism_means",
        "at = np.where(np.isfinite(values), values, grid.lower)",
        "at = values",
        "a block whose estimate is no number is any integer",
        (f"{SAMPLE}::test_estimates_are_clamped_to_their_grid",),
    ),
    Fault(
        "tacit.method.blocks.block_sizes",
        "SPARE: Final = 6.0",
        "SPARE: Final = 1.0",
        "many blocks are full, and rows are left out of them",
        (f"{BLOCKS}::test_capacity_is_for_all_but_rare_blocks",),
    ),
    Fault(
        "tacit.method.blocks.mechanism_labels",
        "return system_random_words(int(owners.max(initial=0)) + 1)[owners]",
        "return system_random_words(len(owners))",
        "rows of one person fall into several blocks",
        (f"{BLOCKS}::test_words_are_fresh_and_one_for_each_person",),
    ),
    Fault(
        "tacit.method.blocks.mechanism_labels",
        "kept = np.lexsort((*values.T[::-1], own))[: self._capacity]",
        "kept = np.lexsort((own, *values.T[::-1]))[: self._capacity]",
        "which rows a full block leaves out depends on what they say",
        (f"{BLOCKS}::test_rows_stand_sorted_and_padded",),
    ),
    Fault(
        "tacit.method.blocks.mechanism_labels",
        "        values = values + 0.0\n",
        "        values = values.copy()\n",
        "what a block holds depends on the order of its rows (0.0 and -0.0)",
        (
            "tests/mechanisms/test_order_of_rows.py::test_every_order_of_a_small_block",
            "tests/mechanisms/test_order_of_rows.py",
        ),
    ),
    Fault(
        "tacit.method.blocks.mechanism_labels",
        "        if len(rows.values) > public:\n",
        "        if len(rows.values) > 2 * public:\n",
        "a table that grew is asked in blocks that have no seats for it",
        (f"{CHANGED}::test_another_number_of_rows_is_noticed_by_every_mechanism[1-blocks]",),
    ),
    Fault(
        "tacit.method.blocks.mechanism_equal_blocks",
        'label = np.searchsorted(at, own, side="right").astype(np.uint64)',
        'label = np.searchsorted(at, own, side="left").astype(np.uint64)',
        "blocks of equal size are not of equal size",
        (f"{BLOCKS}::test_seats_are_shared_out_by_ranks_and_as_equal_as_can_be",),
    ),
    Fault(
        "tacit.method.blocks.winsorized_design",
        "mean = column.cost.share(1 - chosen.cost_part)",
        "mean = column.cost",
        "windows of winsorised means are not paid for",
        (f"{WINSORIZED}::test_the_price_is_two_selections_and_a_mean",),
    ),
    Fault(
        "tacit.method.blocks.winsorized_design",
        "law = rank_utilities.law_for(cost.share(Fraction(1, 2)), PROBS[0]",
        "law = rank_utilities.law_for(cost, PROBS[0]",
        "both quartiles are selected at the price of one",
        (
            f"{WINSORIZED}::test_the_price_is_two_selections_and_a_mean",
            f"{WINSORIZED}::test_a_selection_never_proves_more_than_it_costs",
        ),
    ),
    Fault(
        "tacit.method.blocks.one_step_design",
        "share = cost.share((1 - PILOT) / len(plan.model.names))",
        "share = cost.share(Fraction(1, len(plan.model.names)))",
        "the pilot of a step is not paid for",
        (f"{ONE_STEP}::test_the_price_is_that_of_pilot_and_step_together",),
    ),
    Fault(
        "tacit.method.blocks.mechanism_one_step",
        "return v if rows.owners is None else reduced(v, rows.owners)",
        "return v",
        "a person with many rows weighs as many persons",
        (f"{ONE_STEP}::test_a_person_weighs_as_much_with_one_row_as_with_many",),
    ),
    Fault(
        "tacit.method.blocks.mechanism_one_step",
        "at = np.where(np.isfinite(psi), np.clip(psi, -CLIP, CLIP), 0.0)",
        "at = np.clip(psi, -CLIP, CLIP)",
        "a row whose score cannot be had is an extreme one",
        (f"{ONE_STEP}::test_every_score_has_a_place",),
    ),
)
