"""Faults of estimates, their variances and intervals, of models, plans and pictures."""

from faults.fault import Fault

MOMENTS = "tests/inference/test_variances_of_moments.py::test_"
SHARES = "tests/inference/test_variances_of_shares.py::test_"
SECOND = "tests/inference/test_second_order_noise.py::test_"
REACH = "tests/inference/test_reach_of_quantiles.py::test_"

# Counts, sums, means and variances ----------------------------------------------------------------------------------

MEAN = f"{MOMENTS}the_variance_of_a_mean_is_that_of_the_textbook"
TOTAL = f"{MOMENTS}the_variance_of_a_total_of_known_size"
RATIO = f"{MOMENTS}the_error_of_a_mean_of_private_size"
VARIANCE = f"{MOMENTS}a_variance_is_free_of_the_noise_in_its_mean"
FLOORS = f"{MOMENTS}floors_of_squares_are_corrected_by_their_mean"
FLOOR = f"{MOMENTS}the_floor_under_the_variance_of_a_total_is_the_deviation_of_its_noise"
POWERS = f"{MOMENTS}floors_of_fourth_powers_are_corrected_by_their_mean"

TERMS = (
    Fault(
        "tacit.estimates.column_terms",
        "raw = noisy.square / n - m**2 + own",
        "raw = noisy.square / n - m**2",
        "a mean's sampling variance is too small by the square of the noise in the mean",
        (MEAN,),
    ),
    Fault(
        "tacit.estimates.column_terms",
        "raw = noisy.square / n - m**2 + own",
        "raw = noisy.square / n - m**2 - own",
        "the same, twice",
        (MEAN,),
    ),
    Fault(
        "tacit.estimates.column_terms",
        "np.minimum(most, 1.0)) * half**2 / max(n - 1, 1)",
        "np.minimum(most, 1.0)) * half**2 / n",
        "divisor n in a mean's variance: intervals of few rows are too narrow",
        (MEAN, f"{MOMENTS}shares_of_known_size"),
    ),
    Fault(
        "tacit.estimates.column_terms",
        "own_loadings = np.tile(half * loadings, (len(m), 1))",
        "own_loadings = np.tile(loadings, (len(m), 1))",
        "noise of a mean in units of its half range: privacy's part is off by its square",
        (MEAN,),
    ),
    Fault(
        "tacit.estimates.column_terms",
        "inner = (squares - rank_one**2 + float((load**2).sum()) * law.variance() / rows) * rows / max(rows - 1, 1)",
        "inner = (squares - rank_one**2) * rows / max(rows - 1, 1)",
        "a total's sampling variance is too small by the square of its noise over n",
        (TOTAL,),
    ),
    Fault(
        "tacit.estimates.column_terms",
        "inner = (squares - rank_one**2 + float((load**2).sum()) * law.variance() / rows) * rows / max(rows - 1, 1)",
        "inner = squares - rank_one**2 + float((load**2).sum()) * law.variance() / rows",
        "divisor n instead of n - 1 in the variance of a total",
        (TOTAL,),
    ),
    Fault(
        "tacit.estimates.column_terms",
        "both = square_load - 2 * mean[:, None] * load",
        "both = np.hypot(square_load, 2 * mean[:, None] * load)",
        "a total's noise and that of its squares are taken as independent: the floor of its variance is too high",
        (FLOOR,),
    ),
    Fault(
        "tacit.estimates.noisy_totals",
        "weights = np.array([center**2, 2 * center * half, half**2])",
        "weights = np.array([center**2, center * half, half**2])",
        "the cross term of squares about the middle of the bounds is halved: variances of totals are wrong",
        (TOTAL, f"{MOMENTS}the_variance_of_a_total_of_private_size"),
    ),
    Fault(
        "tacit.estimates.noisy_totals",
        "min(0, offset) + max(0, offset + G), -parameters",
        "max(0, offset + G), -parameters",
        "squares of sums that are counted from 0 are wrong where values lie below 0: so are their sampling errors",
        ("tests/mechanisms/test_sums_from_zero.py::test_sums_count_from_zero",),
    ),
    Fault(
        "tacit.estimates.terms",
        "return np.maximum(self.variance - self.rank_one**2, 0.0)",
        "return np.maximum(self.variance, 0.0)",
        "cells of a table of known size have Poisson variances: shares of it look less certain than they are",
        (f"{SHARES}noise_of_shares_of_classes",),
    ),
    Fault(
        "tacit.estimates.terms",
        "return (self.loadings**2).sum(axis=-1) * self.law.variance()",
        "return self.loadings.sum(axis=-1) ** 2 * self.law.variance()",
        "noises that enter a term with weights are added as if they were one noise",
        (RATIO,),
    ),
    Fault(
        "tacit.estimates.column_terms",
        "loadings = (noisy.loadings[1] - m[:, None] * noisy.loadings[0]) / size[:, None]",
        "loadings = noisy.loadings[1] / size[:, None]",
        "the noise in the size of a group does not count in the error of its mean",
        (RATIO,),
    ),
    Fault(
        "tacit.estimates.column_terms",
        "variance = inversion.variance(m) / size**2",
        "variance = inversion.variance(m) / size",
        "sampling variance of a row in place of that of the mean of a group",
        (RATIO,),
    ),
    Fault(
        "tacit.estimates.column_terms",
        "squares = (second * noisy.sums).sum(axis=-1) + (shift**2).sum(axis=-1) * part.law.variance() / size",
        "squares = (second * noisy.sums).sum(axis=-1)",
        "the square of the noise in the mean is left in a variance, which comes out too small",
        (VARIANCE,),
    ),
    Fault(
        "tacit.estimates.column_terms",
        "t = np.where(unclear, 0.125, np.clip(squares / (size - 1), 0.0, 0.25))",
        "t = np.where(unclear, 0.125, np.clip(squares / size, 0.0, 0.25))",
        "divisor n in a variance that says n - 1",
        (VARIANCE,),
    ),
    Fault(
        "tacit.estimates.column_terms",
        "scale * t, scale**2 * variance, zero, scale * loadings",
        "scale * t, scale * variance, zero, scale * loadings",
        "the sampling variance of a variance is carried to the column's units once instead of twice",
        (f"{MOMENTS}the_error_of_a_variance_is_that_of_its_fourth_moment",),
    ),
    Fault(
        "tacit.estimates.column_terms",
        "rank_one = np.zeros_like(value) if rows is None else value / np.sqrt(rows)",
        "rank_one = np.zeros_like(value) if rows is None else value / rows",
        "covariances of counts of a table of known size are too near 0: their sum looks uncertain",
        (f"{MOMENTS}counts_of_groups_have_the_covariance_of_multinomial_draws",),
    ),
)

INVERT = (
    Fault(
        "tacit.estimates.interval_inversion",
        "found = floored(Q - 2 * m * S + m**2 * N, noisy, self.law, most)",
        "found = floored(Q - m * S + m**2 * N, noisy, self.law, most)",
        "the variance of rows about their mean has half of its cross term",
        (RATIO,),
    ),
    Fault(
        "tacit.estimates.interval_inversion",
        "return second, np.stack([mean**4, -4 * mean**3, 6 * mean**2, -4 * mean, one], axis=-1)",
        "return second, np.stack([mean**4, 4 * mean**3, 6 * mean**2, -4 * mean, one], axis=-1)",
        "a wrong sign in the fourth moment: errors of variances are wrong",
        (f"{MOMENTS}the_error_of_a_variance_is_that_of_its_fourth_moment",),
    ),
    Fault(
        "tacit.estimates.interval_inversion",
        "weights = fourth - 2 * t[..., None] * second\n",
        "weights = fourth - t[..., None] * second\n",
        "the variance of squared deviations has half of its cross term",
        (f"{MOMENTS}the_error_of_a_variance_is_that_of_its_fourth_moment",),
    ),
    Fault(
        "tacit.estimates.interval_inversion",
        "weights[..., 0] -= t\n",
        "weights[..., 0] -= 0 * t\n",
        "the noise in the size does not count in the error of a variance of a group",
        ("tests/inference/test_estimate.py::test_noise_covariance_is_that_of_simulated_estimates",),
    ),
)

DECODE = (
    Fault(
        "tacit.estimates.noisy_moments",
        "constant = np.array([fixed, 0.0, fixed * c / (2 * H**2)])",
        "constant = np.array([fixed, 0.0, 0.0])",
        "squares are rounded down and not corrected for it: variances on coarse grids are too small",
        (FLOORS,),
    ),
    Fault(
        "tacit.estimates.noisy_moments",
        "load = np.array([[0, 0, 1 / kappa], [1 / H, 0, 0], [0, c / H**2, c / (2 * kappa * H**2)]])",
        "load = np.array([[0, 0, 1 / kappa], [1 / H, 0, 0], [0, c / H**2, 0]])",
        "the same of columns with missing values",
        (FLOORS,),
    ),
    Fault(
        "tacit.estimates.noisy_moments",
        "np.array([1, -2 / m, 1]) / G + 2 * size / G])",
        "np.array([1, -2 / m, 1]) / G + size / G])",
        "the same of groups, by half",
        (FLOORS,),
    ),
    Fault(
        "tacit.estimates.noisy_moments",
        "floor = np.array([0.5, 0, 0, 0, G**4 / d - M - 0.5]) if d > 1 else np.zeros(5)",
        "floor = np.zeros(5)",
        "power sums are rounded down and not corrected for it",
        (POWERS,),
    ),
    Fault(
        "tacit.estimates.noisy_moments",
        "return Powers(sums, loads @ project / share, rows is not None)",
        "return Powers(sums, loads / share, rows is not None)",
        "noise that the public size has removed is still counted in the error of a variance",
        ("tests/inference/test_decode.py::test_loadings_of_power_sums",),
    ),
    Fault(
        "tacit.estimates.noisy_moments",
        "second = T2 + (weight / (2 * G) if G > 1 else 0)",
        "second = T2",
        "weighted squares are rounded down and not corrected for it",
        (f"{MOMENTS}floors_of_weighted_squares_are_corrected_by_their_mean",),
    ),
)

# Covariances and combinations ---------------------------------------------------------------------------------------

MULTINOMIAL = f"{MOMENTS}counts_of_groups_have_the_covariance_of_multinomial_draws"
COMBINED = f"{SHARES}combinations_have_the_variances_of_what_they_combine"
REACHING = f"{SHARES}intervals_of_a_difference_reach_as_far_as_those_of_its_terms"
NEWCOMBE = f"{SHARES}differences_of_shares_without_noise_are_those_of_newcombe"
COUNTS = "tests/inference/test_counts.py::test_"
AT_A_BOUND = f"{SHARES}a_term_at_a_bound_lies_within_it_for_certain"
ADDED = f"{SHARES}where_a_correlation_is_not_known_standard_errors_add"

COVARIANCES = (
    Fault(
        "tacit.estimates.covariance",
        "own = np.diag(block.variance) - np.outer(block.rank_one, block.rank_one)",
        "own = np.diag(block.variance - block.rank_one**2)",
        "cells of a table of known size are taken as uncorrelated in `cov` and in tests",
        (MULTINOMIAL,),
    ),
    Fault(
        "tacit.estimates.covariance",
        "own = np.diag(block.variance) - np.outer(block.rank_one, block.rank_one)",
        "own = np.diag(block.variance) + np.outer(block.rank_one, block.rank_one)",
        "the sign of the covariance of cells",
        (MULTINOMIAL,),
    ),
    Fault(
        "tacit.estimates.covariance",
        "full[here, here] = block.loadings @ block.loadings.T * block.law.variance()",
        "full[here, here] = np.diag(block.privacy_variance)",
        "parameters of one fit are taken to have noises of their own",
        (COMBINED,),
    ),
    Fault(
        "tacit.estimates.covariance",
        "inner = (weights**2) @ block.variance - (weights @ block.rank_one) ** 2",
        "inner = (weights**2) @ (block.variance - block.rank_one**2)",
        "a contrast of cells leaves their covariance out",
        (COMBINED,),
    ),
    Fault(
        "tacit.estimates.covariance",
        "inner = (np.abs(weights) @ np.sqrt(block.sampling_variance)) ** 2",
        "inner = (weights @ np.sqrt(block.sampling_variance)) ** 2",
        "where a covariance is not known, differences get the smallest bound instead of the largest",
        (ADDED,),
    ),
    Fault(
        "tacit.estimates.covariance",
        "return np.add.reduce([one**2 for one in sd.values()])",
        "return np.add.reduce(list(sd.values())) ** 2",
        "standard errors of different people are added as if they were the same people",
        (COMBINED,),
    ),
    Fault(
        "tacit.estimates.combination",
        "else ((weights @ block.loadings) ** 2).sum(axis=-1) * block.law.variance()",
        "else (weights**2) @ block.privacy_variance",
        "contrasts of parameters of one fit leave the covariance of their noises out",
        (COMBINED,),
    ),
    Fault(
        "tacit.estimates.combination",
        "variance += float(s) ** 2",
        "variance += float(s)",
        "an interval takes the standard deviation of normal noise for its variance",
        (COMBINED,),
    ),
    Fault(
        "tacit.estimates.combination",
        "return min(taken + float(laws.halfwidth(level, *self._errors(row)))",
        "return min(taken + float(laws.halfwidth(2 * level - 1, *self._errors(row)))",
        "one-sided intervals of combinations: a 95% interval covers 90%",
        (f"{SHARES}an_interval_of_a_combination_is_two_sided",),
    ),
    Fault(
        "tacit.estimates.combination",
        "either = [lower if one > 0 else upper for one in off]",
        "either = [upper if one > 0 else lower for one in off]",
        "a test of a combination uses the errors of the other side",
        (REACHING,),
    ),
    Fault(
        "tacit.estimates.combination",
        "return min(float(2 * laws.tail(",
        "return min(float(laws.tail(",
        "p-values of combinations are one-sided",
        (REACHING,),
    ),
    Fault(
        "tacit.estimates.interval_inversion",
        "return replace(inversion, continuity=0.0)",
        "return replace(inversion, continuity=1.0)",
        "differences of shares of groups allow for whole rows, twice over",
        (NEWCOMBE,),
    ),
    Fault(
        "tacit.estimates.interval_inversion",
        "return replace(inversion, mid=True)",
        "return inversion",
        "differences of shares of whole tables reach as far as exact intervals do",
        (NEWCOMBE,),
    ),
    Fault(
        "tacit.estimates.noisy_counts",
        "below = (law.cdf(left) + law.cdf(left - 1)) / 2 if mid else law.cdf(left)",
        "below = law.cdf(left - 1) if mid else law.cdf(left)",
        "the probability of a count itself is left out of a tail, in place of half of it",
        (f"{COUNTS}half_of_the_count_itself_is_in_both_tails",),
    ),
    Fault(
        "tacit.estimates.sided_errors",
        "return _side(matrix, below, above), _side(matrix, above, below)",
        "return _side(matrix, below, below), _side(matrix, above, above)",
        "a term that is taken off reaches to the side of those that are added",
        (REACHING,),
    ),
    Fault(
        "tacit.estimates.sided_errors",
        "made = np.divide(distance, half, out=np.ones_like(half), where=(half > 0) & ~bound)",
        "made = np.divide(distance, half, out=np.ones_like(half), where=half > 0)",
        "a mean at a bound, moved there by noise, counts as known on that side",
        (AT_A_BOUND,),
    ),
    Fault(
        "tacit.estimates.sided_errors",
        "ends = np.multiply(np.abs(matrix), bound,",
        "ends = np.multiply(0 * matrix, bound,",
        "terms at a bound count as known to be there",
        (AT_A_BOUND,),
    ),
    Fault(
        "tacit.estimates.error_laws",
        "target = math.log(alpha / 2)",
        "target = math.log(alpha)",
        "intervals with Laplace noise are one-sided",
        ("tests/inference/test_error_laws.py::test_tail_falls_and_quantile_inverts_it",),
    ),
    Fault(
        "tacit.estimates.error_laws",
        "variance = 2 * b**2\n",
        "variance = b**2\n",
        "Laplace noises that join the normal part bring half their variance",
        ("tests/inference/test_error_laws.py::test_many_negligible_scales_bring_all_of_their_variance",),
    ),
    Fault(
        "tacit.estimates.comparisons",
        "total = generator.standard_normal((now, size)) @ root.T",
        "total = generator.standard_normal((now, size)) @ root",
        "simultaneous intervals with the wrong transpose: correlations of the terms are others",
        (f"{SHARES}simultaneous_quantiles_have_the_joint_law",),
    ),
    Fault(
        "tacit.estimates.comparisons",
        "own = m if block.joint is None else 1  # parameters of one fit share their noises",
        "own = m",
        "simultaneous intervals of one fit take its noises as independent from term to term",
        (f"{SHARES}simultaneous_quantiles_have_the_joint_law",),
    ),
    Fault(
        "tacit.estimates.pairwise_differences",
        "return NormalDist().inv_cdf(1 - (1 - level) / count / 2)",
        "return NormalDist().inv_cdf(1 - (1 - level) / count)",
        "the plan of pairwise intervals is one-sided",
        (f"{SHARES}intervals_of_all_pairs_are_bonferroni_s_and_two_sided",),
    ),
)

# Shares, ratios, quantiles ------------------------------------------------------------------------------------------

CLASSES = f"{SHARES}noise_of_shares_of_classes"
ODDS = f"{SHARES}odds_ratios_have_the_variance_of_woolf_and_of_the_noise"

RATIOS = (
    Fault(
        "tacit.method.quality.estimate",
        "loadings = np.full((len(k), 1), 1.0 / (rows * parts_of))",
        "loadings = np.full((len(k), 1), 1.0 / rows)",
        "shares of persons in data quality: privacy's variance is a million times too large",
        (f"{CLASSES}",),
    ),
    Fault(
        "tacit.method.quality.estimate",
        "loadings = np.full((len(k), 1), 1.0 / (rows * parts_of))",
        "loadings = np.full((len(k), 1), 1.0 / np.sqrt(rows) / parts_of)",
        "privacy's variance of a share falls with n instead of n**2",
        (f"{CLASSES}",),
    ),
    Fault(
        "tacit.method.quality.estimate",
        "(value / rows, value / np.sqrt(rows)) if sampling",
        "(value / rows, 0 * value) if sampling",
        "p / n in place of p (1 - p) / n",
        (f"{CLASSES}",),
    ),
    Fault(
        "tacit.method.quality.estimate",
        "load = np.array([np.ones_like(signs), signs, np.ones_like(signs)]) / parts_of",
        "load = np.array([np.zeros_like(signs), signs, np.ones_like(signs)]) / parts_of",
        "the noisy number of rows is taken as known in the error of a share",
        (f"{CLASSES}",),
    ),
    Fault(
        "tacit.estimates.noisy_ratio",
        "normal = normal + (weight * s / self.share) ** 2",
        "normal = normal + weight * (s / self.share) ** 2",
        "noise of a share of a noisy total: a weight is not squared",
        (f"{SHARES}the_noise_of_a_share_of_a_noisy_total",),
    ),
    Fault(
        "tacit.estimates.noisy_ratio",
        "for weight, number in ((1 - p, self.added), (p, self.added * (len(p) - 1))):",
        "for weight, number in ((1 - p, self.added), (p, self.added * len(p))):",
        "a cell's own noise is counted among those of the rest, too",
        (f"{SHARES}the_noise_of_a_share_of_a_noisy_total",),
    ),
    Fault(
        "tacit.estimates.ratios",
        "weights[0, i], weights[0, j] = 1 / (p * (1 - p)), -1 / (q * (1 - q))",
        "weights[0, i], weights[0, j] = 1 / p, -1 / q",
        "the slope of the log of a share in place of that of its log odds: intervals are too narrow",
        (ODDS,),
    ),
    Fault(
        "tacit.estimates.ratios",
        "half = float(laws.halfwidth(level, s, scales))",
        "half = float(laws.halfwidth(2 * level - 1, s, scales))",
        "intervals of odds ratios are one-sided",
        (ODDS,),
    ),
    Fault(
        "tacit.estimates.ratios",
        "p_value = float(2 * laws.tail(np.array([abs(log)]), s, scales)[0])",
        "p_value = float(laws.tail(np.array([abs(log)]), s, scales)[0])",
        "p-values of odds ratios are one-sided",
        (ODDS,),
    ),
    Fault(
        "tacit.estimates.ratios",
        "_combined(estimate, {i: 1.0, j: -t})",
        "_combined(estimate, {i: 1.0, j: -1.0})",
        "Fieller's test of A = t B has the errors of A - B",
        (f"{SHARES}a_ratio_s_interval_ends_where_its_test_rejects",),
    ),
    Fault(
        "tacit.estimates.pairwise_ratios",
        "each = 1 - (1 - check_level(level)) / (len(self.ratios) if self.adjust else 1)",
        "each = check_level(level)",
        "intervals of all ratios do not hold at once",
        ("tests/inference/test_factors.py::test_ratios_of_pairs_are_the_single_ones_adjusted",),
    ),
    Fault(
        "tacit.method.quantiles.rank_errors",
        "deviation, miss = math.sqrt(rows * p * (1 - p)), (1 - level) / 2",
        "deviation, miss = math.sqrt(rows * p), (1 - level) / 2",
        "the rank of a quantile is taken as Poisson: intervals of high quantiles are too wide",
        (f"{REACH}a_reach_covers_at_its_level",),
    ),
    Fault(
        "tacit.method.quantiles.rank_errors",
        "deviation, miss = math.sqrt(rows * p * (1 - p)), (1 - level) / 2",
        "deviation, miss = math.sqrt(rows * p * (1 - p)), 1 - level",
        "one-sided points: 95% intervals of quantiles cover 90%",
        (f"{REACH}a_reach_covers_at_its_level",),
    ),
    Fault(
        "tacit.method.quantiles.rank_errors",
        "return math.ceil(high + scale * min(2.0, edge * edge))",
        "return math.ceil(high)",
        "ends of intervals near the last rows are no further out",
        (f"{REACH}ends_near_the_last_rows_are_selected_further_out",),
    ),
    Fault(
        "tacit.method.quantiles.mechanism",
        "far = [reach(column, n, level) for n in size]",
        "far = [reach(column, sum(counts.values()), level) for counts in cells]",
        "offsets follow the exact number of rows, which is private",
        (f"{REACH}selections_aim_at_the_exact_size",),
    ),
    Fault(
        "tacit.method.quantiles.estimate_steps",
        "return held, np.where(unsure[..., None], np.array([grid.lower, grid.upper]), kept)",
        "return held, kept",
        "quantiles of too few rows keep a finite interval that is wrong",
        ("tests/inference/test_unsure_quantiles.py::test_a_reason_leaves_the_bounds_of_the_column",),
    ),
    Fault(
        "tacit.method.quantiles.estimate_steps",
        "np.clip((above - below) / 2, -nearer, nearer)",
        "(above - below) / 2",
        "where rows are not evenly spaced a quantile is moved to the middle of a gap",
        ("tests/inference/test_unsure_quantiles.py::test_a_value_stays_with_an_end_that_it_meets",),
    ),
    Fault(
        "tacit.method.quantiles.estimate",
        "if size * min(p, 1 - p) >= needed:",
        "if size * p >= needed:",
        "no warning where a high quantile has too few rows beyond it",
        (f"{REACH}few_rows_on_the_shorter_side_are_told",),
    ),
    Fault(
        "tacit.method.quantiles.estimate_steps",
        "limits = limits + np.array([-0.5, 0.5])  # a step stands for half a step on either side",
        "limits = limits + 0",
        "intervals of quantiles end in the middle of the steps that were selected",
        (f"{REACH}an_interval_ends_half_a_step_beyond_its_steps",),
    ),
    Fault(
        "tacit.method.quantiles.estimate_steps",
        "return known & (np.maximum(below - at, at - above) > allowed)",
        "return known & (below - at > allowed)",
        "steps out of order are noticed on one side only",
        ("tests/inference/test_quantile_gaps.py::test_an_interval_of_steps_out_of_order_reaches_further",),
    ),
    Fault(
        "tacit.method.quantiles.rank_errors",
        "return max(0.0, ORDER * scale - reach) / (2 * (reach - scale)) if reach > scale else math.inf",
        "return 0.0",
        "quantiles of few rows, whose ends are near, are often taken to be at a gap",
        ("tests/inference/test_quantile_gaps.py::test_evenly_spaced_rows_are_rarely_out_of_order",),
    ),
)

# Regressions --------------------------------------------------------------------------------------------------------

SQUARE = f"{SECOND}the_square_of_the_noise_in_a_has_the_mean_and_covariance_that_are_stated"
FREE = f"{SECOND}coefficients_are_free_of_the_square_of_the_noise_and_vary_as_told"
FREEDOM = f"{SECOND}the_variance_of_errors_has_the_residual_degrees_of_freedom"
OWN = "tests/inference/test_own_fit_of_a_table.py::test_"
AT_ONCE = "tests/inference/test_simultaneous.py::test_"

TARGETS = (
    Fault(
        "tacit.method.regression.estimate_table",
        "return np.asarray(rounding + random + np.outer(level, level)",
        "return np.asarray(rounding + np.outer(level, level)",
        "a table's own coefficients have no allowance for clipped residuals: errors of heavy tails are too small",
        (f"{OWN}what_clipping_takes_is_bounded_by_the_two_sums_of_squares",),
    ),
    Fault(
        "tacit.method.regression.estimate_variance",
        "return positive_part(whole - cut, sum(noises))[0]",
        "return positive_part(cut - whole, sum(noises))[0]",
        "the squares that clipping takes have the wrong sign, and are 0 but for noise",
        (f"{OWN}what_clipping_takes_is_bounded_by_the_two_sums_of_squares",),
    ),
    Fault(
        "tacit.method.regression.estimate",
        "    elif release.unit is not None:",
        "    elif release.unit == 0:",
        "a table's own coefficients of persons, whose clipping nothing tells",
        (f"{OWN}what_a_release_does_not_tell_of_its_table_is_refused",),
    ),
    Fault(
        "tacit.estimates.simultaneous",
        "np.abs(drawn).max(axis=1)",
        "drawn.max(axis=1)",
        "simultaneous intervals hold on one side only: 90% in place of 95%",
        (f"{AT_ONCE}the_factor_is_the_quantile_of_the_largest_error",),
    ),
    Fault(
        "tacit.estimates.normal_estimate",
        "(self.sampling + self.privacy)[np.ix_(known, known)]",
        "self.sampling[np.ix_(known, known)]",
        "simultaneous intervals from the correlations of sampling alone",
        (f"{AT_ONCE}the_factor_widens_every_interval_alike",),
    ),
)

EXPRESSIONS = "tests/linear/test_expressions.py::test_"

FORMULAS = (
    Fault(
        "tacit.schema.predicates.number_bounds",
        "return a[0] - b[1], a[1] - b[0]",
        "return a[0] - b[0], a[1] - b[1]",
        "bounds of a difference that values leave: they are clamped, and coefficients biased",
        (f"{EXPRESSIONS}bounds_hold_whatever_the_columns_are",),
    ),
    Fault(
        "tacit.schema.predicates.number_bounds",
        "if b[0] <= 0 <= b[1]:",
        "if b[0] < 0 < b[1]:",
        "a ratio whose divisor may be 0 at an end of its bounds has a raw ZeroDivisionError",
        (f"{EXPRESSIONS}what_has_no_bounds_or_does_not_fit_is_refused",),
    ),
    Fault(
        "tacit.method.regression.estimate_effects",
        "or any(formula.involved(name) != found for name in formula.reads(column))",
        "or False",
        "an average effect of log(age) where another term is computed from age: its part is missing",
        (f"{EXPRESSIONS}an_expression_has_no_average_effect_where_another_term_moves_with_its_columns",),
    ),
    Fault(
        "tacit.planning.expected_expressions",
        "* (self.values[at] / at.G)",
        "* (draw(own) / own.G)",
        "a plan takes log(age) as independent of age: widths are far too small",
        (f"{EXPRESSIONS}expressions_in_plans_move_with_the_columns_that_they_read",),
    ),
)

COUNT_LAWS = "tests/inference/test_laws_of_counts.py::test_"
DOUBT = "tests/inference/test_regression_variance.py::test_the_noise_in_the_variance_is_as_told"

REGRESSIONS = (
    Fault(
        "tacit.method.regression.estimate_linear",
        "b1 = b1 - inverse @ second",
        "b1 = b1",
        "the square of the noise stays in the coefficients: a bias where noise is wide",
        (FREE,),
    ),
    Fault(
        "tacit.method.regression.estimate_linear",
        "b1 = b1 - inverse @ second",
        "b1 = b1 + inverse @ second",
        "the same, twice",
        (FREE,),
    ),
    Fault(
        "tacit.method.regression.estimate_linear",
        "second = found.leading(u).noise_quadratic(error) + _repeated_noise(found, inverse, a)",
        "second = 0 * found.leading(u).noise_quadratic(error)",
        "the noise in A is left out of the privacy variance of coefficients",
        (FREE,),
    ),
    Fault(
        "tacit.method.regression.estimate_linear",
        "return np.asarray(total + total.T, dtype=np.float64) / 2",
        "return -np.asarray(total + total.T, dtype=np.float64) / 2",
        "the sign of what both factors' being the same noises adds to the variance",
        (SQUARE,),
    ),
    Fault(
        "tacit.method.regression.estimate_linear",
        '"bia,ajb->ij"',
        '"bia,bja->ij"',
        "the wrong index in the same term",
        (SQUARE,),
    ),
    Fault(
        "tacit.method.regression.estimate_linear",
        "return inverse @ (step.noise + second) @ inverse",
        "return inverse @ second @ inverse",
        "the noise in the scores is left out of the privacy variance of coefficients",
        (
            "tests/inference/test_regression_fit.py::test_unequal_errors_are_covered_where_the_noise_hides_how_unequal_they_are",
        ),
    ),
    Fault(
        "tacit.method.regression.estimate_variance",
        "    rows = step.rows - step.u\n",
        "    rows = step.rows\n",
        "n in place of the residual degrees of freedom: standard errors of few rows are too small",
        (FREEDOM,),
    ),
    Fault(
        "tacit.method.regression.estimate_variance",
        "weight = noises[1] / (noises[0] + noises[1])",
        "weight = noises[0] / (noises[0] + noises[1])",
        "the noisier of two estimates of the error variance gets the larger weight",
        (FREEDOM,),
    ),
    Fault(
        "tacit.method.regression.estimate_variance",
        "doubt = np.diag(own * kept) + errors.noise * np.diag(inverse) ** 2",
        "doubt = np.diag(own * kept) + errors.noise * np.diag(inverse)",
        "noise in the error variance enters the doubt about a standard error in wrong units",
        (DOUBT,),
    ),
    Fault(
        "tacit.method.regression.estimate_variance",
        "return np.sqrt(1 + (LEVEL**2 + 1) / 4 * noise / np.diag(total) ** 2)",
        "return 1 + (LEVEL**2 + 1) / 4 * noise / np.diag(total) ** 2",
        "a square root forgotten: standard errors are widened twice",
        (DOUBT,),
    ),
    Fault(
        "tacit.method.regression.estimate_variance",
        "return value + sd * hazard, noise * (1 - hazard * (at + hazard))",
        "return value + sd * hazard, noise * (1 - hazard * hazard)",
        "the variance of a number that is known to be positive",
        ("tests/inference/test_regression_variance.py::test_a_variance_is_above_zero",),
    ),
    Fault(
        "tacit.method.regression.noisy_crossproducts",
        "return float(self.variances @ ((self.patterns @ a) @ a) ** 2)",
        "return float(self.variances @ np.abs((self.patterns @ a) @ a))",
        "the variance of a noisy sum of squares is in wrong units",
        (SQUARE,),
    ),
    Fault(
        "tacit.method.regression.estimate_scores",
        "sampling = inverse @ self.meat @ inverse * (rows / max(rows - u, 1.0))",
        "sampling = inverse @ self.meat * (rows / max(rows - u, 1.0))",
        "half of the sandwich: standard errors of logistic regressions are in wrong units",
        ("tests/inference/test_regression_scores.py::test_with_little_noise_it_is_maximum_likelihood",),
    ),
    Fault(
        "tacit.method.regression.estimate_scores",
        "return sampling, inverse @ (last.noise + error) @ inverse",
        "return sampling, inverse @ error @ inverse",
        "the noise in the scores is left out of logistic regressions' standard errors",
        ("tests/inference/test_norm_scores.py::test_noise_in_the_scores_is_in_privacy",),
    ),
    Fault(
        "tacit.method.regression.estimate_scores",
        "sampling = sampling + self.law_doubts.T @ self.law_doubts",
        "sampling = sampling + np.outer(self.law_doubts[0], self.law_doubts[0])",
        "standard errors of counts forget that other laws have the same squared scores",
        (f"{COUNT_LAWS}what_laws_disagree_about_is_in_the_standard_errors",),
    ),
    Fault(
        "tacit.planning.narrower",
        "if not ratio < CLEARLY:",
        "if not ratio > CLEARLY:",
        "plans name a question that is less precise",
        (
            "tests/planning/test_narrower.py::test_nothing_is_named_otherwise",
            "tests/planning/test_narrower.py::test_a_histogram_of_few_cells_is_named_at_a_pure_price",
        ),
    ),
    Fault(
        "tacit.method.regression.estimate_help",
        "significant(cost.zcdp * k**2, 2, up=True)",
        "significant(cost.zcdp * k, 2, up=True)",
        "a reason names a price in rho that is not enough",
        ("tests/inference/test_reasons_of_regressions.py::test_prices_are_of_the_same_kind",),
    ),
    Fault(
        "tacit.planning.expected_regressions",
        "spread = max(known.sd**2 - mean, 0.0) / max(mean, 1e-9) ** 2",
        "spread = 0.0",
        "plans of counts forget the spread that is expected",
        ("tests/planning/test_plans_of_counts.py::test_counts_that_are_expected_to_vary_more_have_wider_intervals",),
    ),
    Fault(
        "tacit.method.regression.row_reach",
        "known = min(max(MOSTLY_NOISE - doubt, 0.0), 1.0)",
        "known = 1.0",
        "variances that noise made too large are taken for heavy tails: standard errors are too small",
        ("tests/inference/test_norm_scores.py::test_bounds_far_wider_than_the_values_are_not_taken_for_heavy_tails",),
    ),
    Fault(
        "tacit.method.regression.score_cut",
        "(found.weighted_products(b, square) + noise + np.outer(aside, aside))",
        "(found.weighted_products(b, square) + noise)",
        "scores of counts are cut as if their law was known",
        (f"{COUNT_LAWS}a_cut_is_wider_where_counts_vary_more",),
    ),
    Fault(
        "tacit.method.regression.estimate_persons",
        "return np.asarray((held * np.maximum(low, MIN_SHARE)) @ held.T), weight",
        "return np.asarray((held.T * np.maximum(low, MIN_SHARE)) @ held), weight",
        "the wrong transpose in the variance between persons",
        ("tests/inference/test_regression_persons.py::test_with_little_noise_errors_are_cluster_robust",),
    ),
    Fault(
        "tacit.estimates.normal_estimate",
        "covariance = matrix @ (self.sampling + self.privacy) @ matrix.T",
        "covariance = matrix @ self.sampling @ matrix.T",
        "tests of coefficients leave the noise out",
        ("tests/inference/test_wald_of_normal_estimates.py",),
    ),
)

# Fits to cells ------------------------------------------------------------------------------------------------------

CELLS = (
    Fault(
        "tacit.fits.sandwich",
        "privacy = cells.variance * influence.T @ influence - cells.shared * np.outer(total, total)",
        "privacy = cells.variance * influence.T @ influence + cells.shared * np.outer(total, total)",
        "projected counts gain noise in place of losing it",
        ("tests/fits/test_noise_of_influences.py",),
    ),
    Fault(
        "tacit.fits.fit",
        "influence = -problem.scores(found.theta) @ inverted(found.local.hessian)",
        "influence = -problem.scores(found.theta) @ inverted(found.local.hessian) / 2",
        "standard errors of fits to cells are halved",
        ("tests/fits/test_bin_errors.py",),
    ),
    Fault(
        "tacit.fits.fit",
        "sampling, privacy = parts(points.cells, points.gather(influence) + within.influence)",
        "sampling, privacy = parts(points.cells, points.gather(influence))",
        "the noise of the counts from which rules within bins are made is left out",
        ("tests/fits/test_bin_errors.py",),
    ),
    Fault(
        "tacit.fits.fit",
        "cov_sampling=sampling + unknown,",
        "cov_sampling=sampling,",
        "what bins hide is in no standard error",
        ("tests/fits/test_bin_errors.py",),
    ),
    Fault(
        "tacit.method.histogram.estimate_from_cells.cell_moments",
        "sampling[rows, rows] += part.unknown",
        "sampling[rows, rows] += 0 * part.unknown",
        "what bins hide is in no error of a mean",
        ("tests/fromcells/test_moments_within_bins.py",),
    ),
    Fault(
        "tacit.method.histogram.estimate_from_cells.distribution_curve",
        "q = np.hypot(q, laws.normal_quantile(level) * self.unknown(at, u))",
        "q = np.hypot(q, 0 * self.unknown(at, u))",
        "what bins hide is in no interval of a quantile",
        ("tests/fromcells/test_quantiles_within_bins.py",),
    ),
    Fault(
        "tacit.fits.bin_rules",
        "trust = np.where(seen, safe * full / (full + m[..., None] / 5 + np.sqrt(variance) + 1), 0.0)",
        "trust = np.where(seen, full / (full + m[..., None] / 5 + np.sqrt(variance) + 1), 0.0)",
        "a bin whose noisy margin is 0 decides the standard errors of a fit",
        ("tests/fits/test_bin_errors.py::test_standard_errors_pass_smoothly_as_a_bin_is_empty",),
    ),
    Fault(
        "tacit.fits.bin_shapes",
        "off = np.minimum(np.maximum(np.maximum(np.abs(moved), straight / 4), -line), UNKNOWN)",
        "off = np.minimum(np.maximum(np.abs(moved), straight / 4), UNKNOWN)",
        "of a density that rises to an end nothing counts as hidden",
        ("tests/fromcells/test_moments_within_bins.py",),
    ),
    Fault(
        "tacit.fits.separation",
        "return found > CLEAR * np.sqrt(max(noise, 0.0)) or not wrong.any()",
        "return True",
        "separated responses have intervals where noise stops the estimate",
        ("tests/fits/test_separation.py",),
    ),
    Fault(
        "tacit.fits.cell_arrays",
        "variance=self.variance * m, shared=self.shared * m * m)",
        "variance=self.variance * m, shared=self.shared * m)",
        "what projection takes off the noise of a margin is too small",
        ("tests/fits/test_fit_cells.py::test_the_noise_of_projected_margins_has_the_covariance_they_carry",),
    ),
    Fault(
        "tacit.fits.cell_arrays",
        "excess = (self.counts.sum() - self.total) / cells",
        "excess = (self.total - self.counts.sum()) / cells",
        "projection moves counts away from the public total",
        ("tests/fits/test_fit_cells.py::test_project_meets_the_total_and_changes_no_difference",),
    ),
    Fault(
        "tacit.fits.effects",
        "return each, (up - down) / distance",
        "return each, (up + down) / distance",
        "the slope of an average effect in the coefficients: its error is wrong",
        ("tests/fits/test_errors_of_average_effects.py",),
    ),
    Fault(
        "tacit.fits.cell_points",
        "out[0::2] = half - tilt",
        "out[0::2] = half + tilt",
        "the correction for binning turns the wrong way",
        ("tests/fits/test_fit_cells.py::test_two_points_integrate_cubics_against_a_linear_density_exactly",),
    ),
    Fault(
        "tacit.method.histogram.estimate_from_cells.cell_error_laws",
        "return self.cell * (weights @ weights.T - self.projected * np.outer(total, total) / self.size)",
        "return self.cell * (weights @ weights.T + self.projected * np.outer(total, total) / self.size)",
        "the sign of what a public total takes off the noise of statistics",
        ("tests/fromcells/test_cell_noise.py::test_variances_are_those_of_draws",),
    ),
    Fault(
        "tacit.method.histogram.estimate_from_cells.cell_error_laws",
        "return self.added * self.law.variance() / self.share**2",
        "return self.added * self.law.variance() / self.share",
        "noise of persons' cells is a thousand times too large",
        ("tests/fromcells/test_noise_of_cell_statistics.py::test_noise_of_persons_cells",),
    ),
    Fault(
        "tacit.method.histogram.estimate_from_cells.cell_moments",
        "variance = float(centred[1] @ counts) / size + own  # the square",
        "variance = float(centred[1] @ counts) / size - own  # the square",
        "the square of the noise in the mean is taken off a variance twice",
        (
            "tests/fromcells/test_noise_of_cell_statistics.py::test_a_variance_is_free_of_the_square_of_its_mean_s_noise",
        ),
    ),
    Fault(
        "tacit.method.histogram.estimate_from_cells.cell_moments",
        "influence = np.stack([off, curve, curve / (2 * np.sqrt(spread))])",
        "influence = np.stack([off, curve, curve / np.sqrt(spread)])",
        "the error of a standard deviation is twice as large",
        ("tests/fromcells/test_cell_influences.py::test_of_moments",),
    ),
    Fault(
        "tacit.method.histogram.estimate_from_cells.correlation",
        "product = float(gathered(x * y) @ flat) / size + float(own[0, 1])",
        "product = float(gathered(x * y) @ flat) / size - float(own[0, 1])",
        "the noise of two means stays in their covariance, twice",
        ("tests/fromcells/test_noise_of_cell_statistics.py",),
    ),
    Fault(
        "tacit.method.histogram.estimate_from_cells.correlation",
        "end = within_moved(points, (a * b - r * (a * a + b * b) / 2)[:, None] / size)",
        "end = within_moved(points, (a * b - r * (a * a + b * b))[:, None] / size)",
        "the error of a correlation",
        ("tests/fromcells/test_cell_influences.py::test_of_correlation",),
    ),
    Fault(
        "tacit.method.histogram.estimate_from_cells.life_table",
        "steps[np.arange(k), np.arange(k)] -= left",
        "steps[np.arange(k), np.arange(k)] += left",
        "an event raises survival in the error of a life table",
        ("tests/fromcells/test_cell_influences.py::test_of_survival",),
    ),
    Fault(
        "tacit.method.histogram.estimate_from_cells.logrank",
        "spread = np.where(good, d * (total",
        "spread = np.where(good & (d > 0), d * (total",
        "the log-rank test cuts negative variances of bins one by one: it rejects too rarely",
        ("tests/fromcells/test_cell_survival.py::test_variances_of_a_log_rank_test_cancel_over_bins",),
    ),
    Fault(
        "tacit.method.histogram.estimate_from_cells.survival_intervals",
        "few = hazard * self.at_risk[g] < FEW",
        "few = hazard * self.at_risk[g] < 0",
        "survival with few events has the error of these few: none where there are none",
        ("tests/fromcells/test_cell_survival.py::test_limits_of_a_hazard_without_events_are_those_of_a_score",),
    ),
    Fault(
        "tacit.method.histogram.estimate_from_cells.cell_error_laws",
        "np.unique(1 - alpha * CHANCES[at], return_inverse=True)",
        "np.unique(1 - alpha + 0 * CHANCES[at], return_inverse=True)",
        "survival is answered where few seem at risk by chance, and its intervals do not know",
        ("tests/fromcells/test_cell_survival.py::test_levels_of_survival_are_multiplied_by_the_chance_of_an_answer",),
    ),
    Fault(
        "tacit.method.histogram.estimate_from_cells.cell_moments",
        "scales * groups, low, high, bad, thresholds)",
        "scales * groups, low, high, bad)",
        "means of cells are given where few rows seem many by chance, and their intervals do not know",
        ("tests/fromcells/test_answers_of_cells.py::test_means_of_few_rows_are_covered_given_an_answer",),
    ),
    Fault(
        "tacit.estimates.noisy_ratio",
        "alpha = (1 - level) * self._chance(1 - level)",
        "alpha = 1 - level",
        "densities of groups are given where few rows seem many by chance, and their intervals do not know",
        ("tests/inference/test_densities.py::test_shares_of_few_rows_are_covered_given_an_answer",),
    ),
    Fault(
        "tacit.method.histogram.estimate_from_cells.distribution",
        "q = error.given(alpha, chance) if factor is None",
        "q = error.halfwidth(level) if factor is None",
        "shares of groups are given where few rows seem many by chance, and their intervals do not know",
        ("tests/fromcells/test_answers_of_cells.py::test_shares_of_few_rows_are_covered_given_an_answer",),
    ),
    Fault(
        "tacit.estimates.selection",
        "out[some] = np.maximum(p[some], both.mean(axis=1))",
        "out[some] = p[some]",
        "answers of small groups are taken as if all groups had one: the noise of those that have is not what it was",
        ("tests/inference/test_selection.py::test_few_rows_are_covered_given_an_answer",),
    ),
    Fault(
        "tacit.estimates.interval_inversion",
        "variance = self.variance(m, UNSEEN)",
        "variance = self.variance(m)",
        "few rows of a skewed law are taken to say how far others reach",
        ("tests/inference/test_selection.py::test_few_rows_of_a_skewed_law",),
    ),
    Fault(
        "tacit.method.histogram.estimate_from_cells.survival_times",
        "i = int(high[-1]) + 1 if high.size else 0",
        "i = int(high[-1]) if high.size else 0",
        "the interval of a median of whole months ends a bin too early",
        ("tests/fromcells/test_cell_survival.py::test_whole_times_at_their_edges",),
    ),
    Fault(
        "tacit.method.histogram.estimate_from_cells.survival_times",
        "(1 - time.step / time.widths) / 2",
        "np.full(time.bins, 0.5)",
        "rows censored in a bin of whole numbers are at risk for half of it",
        (
            "tests/fromcells/test_cell_survival.py::test_rows_censored_in_a_bin_of_whole_numbers_are_at_risk_at_their_own",
        ),
    ),
    Fault(
        "tacit.method.histogram.estimate_from_cells.logrank",
        "d * (total - d) / np.maximum(total - 1, 1.0), 0.0)",
        "d * (total - d) / np.maximum(total, 1.0), 0.0)",
        "the hypergeometric variance with n for n - 1",
        ("tests/fromcells/test_cell_survival.py::test_log_rank_is_scipys_without_noise",),
    ),
    Fault(
        "tacit.method.histogram.estimate_from_cells.logrank",
        "return off[kept], (sampling + noise)[kept, kept], chance",
        "return off[kept], sampling[kept, kept], chance",
        "the log-rank test leaves the noise out: it rejects too often",
        ("tests/fromcells/test_cell_survival.py::test_log_rank_keeps_its_level",),
    ),
    Fault(
        "tacit.method.histogram.estimate_from_cells.distribution_curve",
        "weights = np.stack([1 - tau, within - tau, -tau], axis=-1)",
        "weights = np.stack([1 - tau, within - tau, tau * 0], axis=-1)",
        "noise of the cells above a quantile does not count in its interval",
        ("tests/fromcells/test_noise_of_cell_statistics.py",),
    ),
)

# Models, plans, pictures --------------------------------------------------------------------------------------------

MODELS = (
    Fault(
        "tacit.models.families.continuous",
        "return [[theta.sd**-2, 0.0], [0.0, 2 * theta.sd**-2]]",
        "return [[theta.sd**-2, 0.0], [0.0, theta.sd**-2]]",
        "the information of a standard deviation: its error from the model is too large by a root of 2",
        ("tests/models/test_families_forms.py::test_fisher_information_is_that_of_differentiation",),
    ),
    Fault(
        "tacit.models.families.continuous",
        "return jnp().stack([0 * theta.mean, -0.75 * theta.sd])",
        "return jnp().stack([0 * theta.mean, 0.75 * theta.sd])",
        "the bias of blocks is doubled in place of removed",
        ("tests/models/test_families_forms.py::test_closed_forms_of_bias_are_those_of_differentiation",),
    ),
    Fault(
        "tacit.models.families.continuous",
        "return [[p(1, theta.a) - both, -both], [-both, p(1, theta.b) - both]]",
        "return [[p(1, theta.a) - both, both], [both, p(1, theta.b) - both]]",
        "the sign of the covariance of a beta law's parameters",
        ("tests/models/test_families_forms.py::test_fisher_information_is_that_of_differentiation",),
    ),
    Fault(
        "tacit.models.correction",
        "return v @ (v.T @ (0.5 * third + both))",
        "return v @ (v.T @ (third + both))",
        "the Cox-Snell correction with its third derivatives twice",
        (
            "tests/models/test_families_forms.py::test_bias_of_weibull",
            "tests/models/test_models_blocks.py::test_the_observed_correction_has_the_sandwich_in_the_place_of_the_information",
        ),
    ),
    Fault(
        "tacit.models.correction",
        "moved = lib.where(used, tools.vmap(score, in_axes=(0, None))(x, vector), 0.0) @ v @ v.T",
        "moved = lib.where(used, tools.vmap(score, in_axes=(0, None))(x, vector), 0.0) @ v",
        "the correction of blocks with half an inverse",
        (
            "tests/models/test_models_blocks.py::test_the_observed_correction_has_the_sandwich_in_the_place_of_the_information",
        ),
    ),
    Fault(
        "tacit.models.mean_map",
        "return self.cov / np.outer(sd, sd)",
        "return self.cov / (sd * sd)",
        "correlations of statistics are divided by the wrong variances",
        ("tests/inference/test_mean_map.py::test_parameters_of_one_fit_share_their_errors",),
    ),
    Fault(
        "tacit.method.sufficient_statistics.estimate",
        "joint, loadings = inverse @ own @ inverse.T, inverse @ means.loadings",
        "joint, loadings = inverse.T @ own @ inverse, inverse @ means.loadings",
        "the wrong transpose in the sampling covariance of a law's parameters",
        ("tests/inference/test_errors_of_a_law.py",),
    ),
    Fault(
        "tacit.method.sufficient_statistics.estimate",
        "joint, loadings = inverse @ own @ inverse.T, inverse @ means.loadings",
        "joint, loadings = inverse @ own @ inverse.T, inverse.T @ means.loadings",
        "the wrong transpose in the noise of a law's parameters",
        ("tests/inference/test_errors_of_a_law.py",),
    ),
    Fault(
        "tacit.method.blocks.estimate_one_step",
        "found = Matched(theta, turn @ sampling @ turn.T, turn @ np.diag(noise) @ turn.T, law)",
        "found = Matched(theta, turn @ sampling @ turn.T, turn.T @ np.diag(noise) @ turn, law)",
        "the wrong transpose in the noise of one step",
        ("tests/inference/test_errors_of_a_step.py",),
    ),
    Fault(
        "tacit.method.blocks.estimate_step_fit",
        "(told - expected) / np.maximum(error, 1e-300)",
        "(told - expected) / np.maximum(3 * error, 1e-300)",
        "a law that does not fit a step is found at three times the error",
        ("tests/inference/test_errors_of_a_step.py",),
    ),
    Fault(
        "tacit.method.blocks.estimate_step_fit",
        "    if len(made) > p:\n",
        "    if False:\n",
        "products of scores are paid for and not tested",
        ("tests/inference/test_errors_of_a_step.py",),
    ),
    Fault(
        "tacit.method.blocks.estimate_failed",
        "return FailedBlocks(1 - float(own.mean()) / k,",
        "return FailedBlocks(0.5 - float(own.mean()) / k,",
        "blocks without an estimate are not seen",
        ("tests/mechanisms/test_sample_and_aggregate.py::test_many_blocks_without_an_estimate_are_a_reason",),
    ),
    Fault(
        "tacit.method.blocks.estimate_block_fit",
        "ratio = variance / expected",
        "ratio = expected / expected",
        "blocks that vary as no row of the law does pass for the law's",
        (
            "tests/mechanisms/test_sample_and_aggregate.py"
            "::test_blocks_that_vary_as_the_law_does_not_are_a_reason_where_it_matters",
        ),
    ),
    Fault(
        "tacit.method.blocks.estimate_errors",
        "return BlockSampling(inverse[np.ix_(place, place)] / cast(int, release.rows))",
        "return BlockSampling(inverse[np.ix_(place, place)] / means(release)[0].parameters['blocks'])",
        "standard errors by Fisher information of as many rows as there are blocks",
        ("tests/inference/test_fitted_law.py::test_errors_by_the_model_are_those_of_blocks_where_it_holds",),
    ),
    Fault(
        "tacit.method.blocks.estimate_errors",
        "return BlockSampling(np.atleast_2d(np.cov(own.T)) / k, middle - at[place])",
        "return BlockSampling(np.atleast_2d(np.cov(own.T)) / BLOCKS, middle - at[place])",
        "simulated errors of blocks are those of a simulation's mean",
        ("tests/inference/test_fitted_law.py::test_errors_by_the_model_are_those_of_blocks_where_it_holds",),
    ),
    Fault(
        "tacit.planning.pooled",
        "noise * self.noise / (rows * n) ** 2) for n in sizes)",
        "noise * self.noise / (rows * n)) for n in sizes)",
        "a plan takes noise to fall with the rows of a party as sampling does",
        ("tests/planning/test_planned_errors.py::test_a_pool_adds_up_what_parties_know",),
    ),
    Fault(
        "tacit.planning.pooled",
        'value = float(own) * (math.sqrt(times) if cost.kind == "pure" else times)',
        "value = float(own) * times",
        "a plan's price in epsilon for a width is the square of what it takes",
        ("tests/planning/test_plan_parties.py::test_each_way_reaches_the_width_and_a_little_less_does_not",),
    ),
    Fault(
        "tacit.method.quantiles.plan",
        "privacy = max(0.0, 1 - (without / width) ** 2) if width else 0.0",
        "privacy = max(0.0, 1 - without / width) if width else 0.0",
        "a plan's part of privacy in quantiles is of widths, not of variances",
        ("tests/planning/test_planned_errors.py",),
    ),
    Fault(
        "tacit.method.quantiles.plan",
        "level = query.level if query.interval else level",
        "level = level",
        "a plan of quantiles has intervals of another level than the question's",
        ("tests/planning/test_planned_errors.py",),
    ),
    Fault(
        "tacit.method.blocks.expected_errors",
        "return np.diag(np.linalg.inv(model.fisher(model.fallback))) / rows",
        "return 1 / np.diag(model.fisher(model.fallback)) / rows",
        "a plan takes the other parameters of a law as known",
        ("tests/planning/test_planned_errors.py",),
    ),
    Fault(
        "tacit.method.blocks.plan",
        "width = 2 * NormalDist().inv_cdf(0.5 + level / 2) * float(np.sqrt(sampling[i] + privacy))",
        "width = 2 * NormalDist().inv_cdf(level) * float(np.sqrt(sampling[i] + privacy))",
        "planned widths of blocks are one-sided",
        (
            "tests/planning/test_planned_errors.py::test_a_plan_of_blocks_has_the_information_of_all_parameters_together",
        ),
    ),
    Fault(
        "tacit.method.shared.plan_shares",
        "found[: len(given)] = given",
        "found[: len(given)] = 1 / len(given)",
        "a plan takes groups to be equally large, whatever is known of them",
        ("tests/planning/test_expectations.py",),
    ),
    Fault(
        "tacit.method.shared.plan_shares",
        "return 1 - expect.numbers[at.column].missing",
        "return 1.0",
        "a plan counts cells that are known to be missing",
        ("tests/planning/test_expectations.py::test_missing_cells_widen_a_mean",),
    ),
    Fault(
        "tacit.planning.small_groups",
        "size = max(2, round(rows * share / _least(shape, expect)))",
        "size = max(2, round(rows * share))",
        "a small group is planned as if every group were a part of it",
        ("tests/planning/test_expectations.py::test_a_group_of_another_size_is_said_where_nothing_is_known",),
    ),
    Fault(
        "tacit.schema.expectations",
        "most = math.sqrt((mean - low) * (high - mean))",
        "most = high - low",
        "a standard deviation that no law between the bounds has is planned with",
        ("tests/planning/test_expectations.py::test_what_cannot_be_true_is_refused_in_words",),
    ),
    Fault(
        "tacit.models.program_files",
        "return found.st_uid == os.getuid() and not stat.S_IMODE(found.st_mode) & OTHERS_WRITE",
        "return found.st_uid == os.getuid()",
        "a compiled program that others may replace is run",
        ("tests/models/test_compiled_programs.py",),
    ),
    Fault(
        "tacit.models.custom",
        "return any(np.size(one) > 1 for one in density(self).trace.consts)",
        "return False",
        "arrays that a density closes over are written to disk",
        ("tests/models/test_compiled_programs.py::test_a_density_that_closes_over_an_array_is_not_kept",),
    ),
    Fault(
        "tacit.models.compiled_programs",
        'where / _digest("program", *_machine(), str(quick), lowered.as_text())',
        'where / _digest("program", str(quick), lowered.as_text())',
        "a program compiled for another processor or version is run",
        ("tests/models/test_compiled_programs.py::test_another_program_is_another_file",),
    ),
    Fault(
        "tacit.models.compiled_programs",
        'where / _digest("entry", *_machine(), code, settings, name, *shapes)',
        'where / _digest("entry", *_machine(), settings, name, *shapes)',
        "a changed version of Tacit runs the programs of the one before",
        ("tests/models/test_program_names.py::test_a_name_leads_to_its_program_without_its_text",),
    ),
    Fault(
        "tacit.models.custom",
        'if "custom_" in str(density(self).trace.jaxpr):',
        "if False:",
        "two densities that differ in their author's rules of derivatives share a compiled program",
        ("tests/models/test_program_names.py::test_what_a_text_does_not_say_has_no_name",),
    ),
    Fault(
        "tacit.method.regression.noisy_crossproducts",
        "moved = terms if self.mixing is None else terms @ self.mixing",
        "moved = terms",
        "the noise of scores on turned axes is that of plain ones",
        ("tests/inference/test_norm_regression.py::test_noise_of_scores_on_turned_axes",),
    ),
    Fault(
        "tacit.method.regression.noisy_norms",
        "noisy_matrix(pairs, integers, weights, part.law.variance(), size)",
        "noisy_matrix(pairs, integers, weights, 2 * part.law.variance(), size)",
        "the noise in products of norm-clipped rows is misread",
        ("tests/inference/test_norm_regression.py::test_what_is_read_has_the_noise_that_is_told",),
    ),
    Fault(
        "tacit.method.regression.norm_scaling",
        "rows[u, :m] = np.linalg.solve(turn[:m, :m].T, whole - turn[m, :m])",
        "pass",
        "regressions without an intercept have no answer",
        ("tests/inference/test_norm_regression.py::test_a_model_without_an_intercept_is_estimated",),
    ),
    Fault(
        "tacit.method.regression.norm_scaling",
        "light = counted and (",
        "light = (",
        "residuals of persons are clipped as if the release told how many",
        ("tests/inference/test_clipped_tail.py::test_residuals_are_clipped_closer_where_tails_are_light_and_counted",),
    ),
    Fault(
        "tacit.method.regression.clipped_shares",
        "lost**2 * (SLOPE**2 + 1 / size)",
        "0 * lost",
        "residuals are clipped as close as noise asks, whatever clipping takes",
        ("tests/inference/test_clipped_tail.py::test_residuals_are_clipped_closer_where_tails_are_light_and_counted",),
    ),
    Fault(
        "tacit.method.regression.norm_scaling",
        " or top < TIGHT * least",
        "",
        "few rows in tight bounds are clipped as far out as if their tails could be heavy",
        (
            "tests/inference/test_clipped_tail.py::test_residuals_are_clipped_closer_where_bounds_leave_no_room_for_tails",
        ),
    ),
    Fault(
        "tacit.method.regression.estimate_linear",
        "(unit * kept), scores",
        "unit, scores",
        "a step with many clipped residuals is too short",
        ("tests/inference/test_clipped_tail.py::test_a_step_is_longer_where_many_residuals_are_clipped",),
    ),
    Fault(
        "tacit.method.regression.estimate_clipping",
        "of_means + own",
        "own",
        "the noise of column moments is not in the mean residual that they tell",
        ("tests/inference/test_clipped_tail.py::test_the_noise_of_the_mean_residual_is_as_told",),
    ),
    Fault(
        "tacit.method.regression.estimate_clipping",
        "size = math.hypot(value * (left / noise) ** 2, left)",
        "size = left",
        "a mean residual that is seen to be far from 0 is taken for none",
        ("tests/inference/test_clipped_tail.py::test_the_mean_residual_tells_what_clipping_takes_from_the_level",),
    ),
    Fault(
        "tacit.method.regression.estimate_clipping",
        "(SLOPE * unknown) ** 2",
        "0",
        "slopes of skewed responses have no allowance for what clipping takes",
        ("tests/inference/test_clipped_tail.py::test_allowance_for_clipping_by_hand",),
    ),
    Fault(
        "tacit.method.regression.estimate_clipping",
        "share * excess, 2 *",
        "share, 2 *",
        "what clipping takes is counted in rows",
        ("tests/inference/test_clipped_tail.py::test_what_clipping_takes_is_about_what_rows_lose",),
    ),
    Fault(
        "tacit.method.regression.noisy_norm_scores",
        "back @ back.T * (part.law.variance() / unit**2),",
        "terms.matrix @ terms.matrix.T * (part.law.variance() / unit**2),",
        "the noise of bounded scores on turned axes is that of plain ones",
        ("tests/inference/test_norm_scores.py::test_what_is_read_has_the_noise_that_is_told",),
    ),
    Fault(
        "tacit.method.regression.noisy_norm_scores",
        "float(beside[place] / size),",
        "float(beside[place] / square),",
        "the mean slope of a logistic model is that of shortened rows, on another axis",
        ("tests/inference/test_norm_scores.py::test_without_noise_scores_are_those_of_the_rows",),
    ),
    Fault(
        "tacit.method.regression.estimate_scores",
        "error = error + rest * (back @ self.moments.noise_quadratic(np.outer(way, way)) @ back.T)",
        "pass",
        "noise in the moments that a curvature is guessed from is in no standard error",
        (
            "tests/inference/test_norm_scores.py::test_noise_in_the_moments_that_a_curvature_is_guessed_from_is_in_privacy",
        ),
    ),
    Fault(
        "tacit.method.regression.estimate_scores",
        "moved = self.curve.weight * self.curve.transform @ noisy.patterns @ self.curve.transform.T",
        "moved = 0.4 * self.curve.weight * self.curve.transform @ noisy.patterns @ self.curve.transform.T",
        "intervals of scores are hardly wider for the noise in their curvature",
        (
            "tests/inference/test_norm_scores.py::test_noise_in_the_curvature_widens_intervals_as_far_as_it_moves_variances",
        ),
    ),
    Fault(
        "tacit.method.regression.estimate",
        "whole = with_whole_response(products.of_rows(columns.rows), columns)",
        "whole = products.of_rows(columns.rows)",
        "intervals for a table's own coefficients leave out residuals of rows that were shortened",
        ("tests/inference/test_norm_regression.py::test_squares_of_residuals_that_shortened_rows_hide_are_counted",),
    ),
    Fault(
        "tacit.estimates.pictures",
        "wide * np.sqrt(found.sampling_variances)",
        "wide * found.sampling_variances",
        "the dark part of an interval in a picture is of variances",
        ("tests/plots/test_interval_pictures.py",),
    ),
)

CONSTRAINTS = "tests/inference/test_constraints.py"

WORDS = (
    Fault(
        "tacit.estimates.constraints",
        'negative ^= sign == "-"',
        'negative = sign == "-"',
        "two signs are read as one: a constraint is tested against the wrong number",
        (f"{CONSTRAINTS}::test_constraints_are_read_as_they_are_meant",),
    ),
    Fault(
        "tacit.estimates.contrasts",
        "    if same:\n",
        "    if False:\n",
        "a contrast of two columns says that their covariance is known",
        (f"{CONSTRAINTS}::test_a_contrast_says_that_errors_are_added_only_where_they_are",),
    ),
    Fault(
        "tacit.fits.regressors",
        "far = (values < low) | (values > high)",
        "far = values > high",
        "a prediction below the bounds has no note",
        ("tests/inference/test_words_of_models.py::test_a_prediction_beyond_the_bounds_says_so",),
    ),
)

CHOICE = "tests/mechanisms/test_automatic_choice.py::test_"
DIFFERENCE = "tests/inference/test_normal_differences.py::test_"
DEFAULT = (
    Fault(
        "tacit.method.blocks.automatic_choice",
        "if error is not None and error < least:",
        "if error is not None and error > least:",
        "the way of the largest expected error is taken",
        (f"{CHOICE}a_step_is_chosen_where_a_pilot_guides_it_and_not_where_it_does_not",),
    ),
    Fault(
        "tacit.method.blocks.automatic_choice",
        "    if query.parameters or most_rows(public.schema) > 1 or",
        "    if query.parameters or",
        "persons with several rows have a step, whose fit nothing tests",
        (f"{CHOICE}some_parameters_persons_and_regressions_have_no_step",),
    ),
    Fault(
        "tacit.method.blocks.estimate_one_step",
        "if verdict.rejected or words is not None:",
        "if words is not None:",
        "a step answers although rows follow another law",
        (f"{CHOICE}where_rows_follow_another_law_the_blocks_answer",),
    ),
    Fault(
        "tacit.method.blocks.estimate_pilot",
        "((REJECTED, APART, True), (DOUBTED, DOUBTED, False))",
        "((REJECTED, APART, True),)",
        "where the tests leave doubt the interval is that of the law",
        (f"{CHOICE}a_doubt_widens_the_interval_and_a_law_that_holds_does_not",),
    ),
    Fault(
        "tacit.release.query",
        "return made(**{**absent, **given})",
        "return made(**given)",
        "releases of before are read as answers of today's default",
        (f"{CHOICE}documents_keep_the_choice_and_files_of_before_stay_means_of_blocks",),
    ),
    Fault(
        "tacit.models.found_support",
        "(not lines or _of_counts(densities))",
        "not lines",
        "a law of counts far from 0 is taken for one of positive numbers",
        ("tests/models/test_found_support.py::test_the_support_is_found_from_the_density",),
    ),
    Fault(
        "tacit.models.density_digest",
        "    if model.row_support is not None:\n",
        "    if model.support is not None:\n",
        "releases of a model without a declared support no longer know its function",
        ("tests/models/test_found_support.py::test_a_given_support_stands_and_a_found_one_is_in_no_file",),
    ),
    Fault(
        "tacit.estimates.normal_difference",
        "sampling = _bound(*own) if same else own[0] + own[1]",
        "sampling = own[0] + own[1]",
        "two answers of the same people are subtracted as if they were of others",
        (f"{DIFFERENCE}of_the_same_people_standard_errors_of_sampling_add_up_at_least",),
    ),
    Fault(
        "tacit.estimates.normal_difference",
        "return (1 + c) * a + (1 + 1 / c) * b",
        "return a + b",
        "the same, where it is known that they are the same",
        (f"{DIFFERENCE}the_bound_holds_for_every_correlation_and_contrast",),
    ),
)

FAULTS: tuple[Fault, ...] = (
    *TERMS,
    *DEFAULT,
    *INVERT,
    *DECODE,
    *COVARIANCES,
    *RATIOS,
    *FORMULAS,
    *TARGETS,
    *REGRESSIONS,
    *CELLS,
    *MODELS,
    *WORDS,
    Fault(
        "tacit.method.regression.noisy_norms",
        "persons=others.form.startswith(PERSON),",
        "persons=False,",
        "products of persons' mean scores are taken for squares of rows",
        ("tests/inference/test_norm_persons.py::test_without_noise_sums_of_residuals_are_those_of_persons",),
    ),
    Fault(
        "tacit.method.regression.noisy_norm_scores",
        "matrices.form.startswith(PERSON),",
        "False,",
        "the same, of models with a link",
        ("tests/inference/test_norm_persons.py::test_without_noise_sums_of_scores_are_those_of_persons",),
    ),
    Fault(
        "tacit.method.regression.glm_pilot",
        "back=terms.back * link.unit)",
        "back=terms.back)",
        "coefficients of a Huber model are in parts of the response's bound",
        (
            "tests/inference/test_gamma_and_huber.py::test_at_a_large_price_fits_are_those_of_statsmodels[replace-one-huber]",
        ),
    ),
    Fault(
        "tacit.method.regression.robust_links",
        "inner = (square - (1 - share)) / share",
        "inner = square / share",
        "residuals beyond a cut are taken for residuals within it, and the next cut is too wide",
        ("tests/inference/test_gamma_and_huber.py::test_a_cut_is_found_from_what_lies_within_another[0.2-0.05]",),
    ),
    Fault(
        "tacit.method.regression.positive_links",
        "return found, found - fall, found - fall * (1 + x / (shape + 1))",
        "return found, found - fall, found - fall",
        "squared scores of positive responses are of another law",
        (
            "tests/inference/test_gamma_and_huber.py::test_scores_of_positive_responses_have_mean_zero_and_their_moments",
        ),
    ),
    Fault(
        "tacit.method.regression.positive_links",
        "        return v * c\n",
        "        return v * mean\n",
        "what a cut takes from the right tail is not given back",
        (
            "tests/inference/test_gamma_and_huber.py::test_scores_of_positive_responses_have_mean_zero_and_their_moments",
        ),
    ),
    Fault(
        "tacit.method.regression.positive_laws",
        "half = math.expm1(math.log1p(max(s, LEAST)) / 2)",
        "half = max(s, LEAST)",
        "laws that a correction is compared with vary more than the response does",
        ("tests/inference/test_gamma_and_huber.py::test_kinds_of_law_have_mean_one_and_their_variance[some_zeros]",),
    ),
    Fault(
        "tacit.method.regression.noisy_norms",
        'others.parameters["square"] * one**2',
        'others.parameters["square"] * one',
        "squared scores of weighted rows are read as if they had a weight once",
        ("tests/inference/test_weighted_regression.py::test_at_a_large_price_fits_are_those_of_statsmodels",),
    ),
    Fault(
        "tacit.method.regression.noisy_norm_scores",
        "start + len(layout.all_pairs), row**2)",
        "start + len(layout.all_pairs), row)",
        "squared scores of a model's weighted rows are read as if they had a weight once",
        ("tests/inference/test_weighted_regression.py::test_at_a_large_price_fits_are_those_of_statsmodels",),
    ),
)
