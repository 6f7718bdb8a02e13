"""Faults of densities: sensitivities of orthogonal series, their sums, and coefficients found from bins."""

from faults.fault import Fault

SERIES = "tests/mechanisms/test_orthogonal_series.py::test_"
TERMS = "tests/mechanisms/test_number_of_terms.py::test_"
SMOOTH = "tests/inference/test_smooth_density.py::test_"
LOG = "tests/inference/test_log_density.py::test_"
OF_SERIES = "tests/inference/test_series_densities.py::test_"
PAIRS = f"{SERIES}sensitivity_is_the_largest_over_all_pairs_of_cells"
KERNEL = "tests/mechanisms/test_kernel_density.py::test_"
OF_KERNEL = "tests/inference/test_kernel_densities.py::test_"
LIMITS = "tests/inference/test_density_limits.py::test_"
JOINT = "tests/inference/test_joint_bins.py::test_"
RISKS = "tests/mechanisms/test_risk_function.py::test_"
LATTICE = "tests/mechanisms/test_bernstein_lattice.py::test_"
OF_LATTICE = "tests/inference/test_bernstein_functions.py::test_"
LATTICE_PAIRS = f"{LATTICE}sensitivity_is_the_largest_over_all_pairs_of_rows"
DATA_SETS = "tests/mechanisms/test_ks_dataset.py::test_"
RECORDED = "tests/inference/test_recorded_densities.py::test_"
CANDIDATES = "tests/mechanisms/test_exponential_mechanism.py::test_"
RELEASED = "tacit.method.orthogonal_series.encoding"

FAULTS = (
    Fault(
        RELEASED,
        "square = square - 2 * np.outer(first[2][some], rest[2])",
        "square = square - np.outer(first[2][some], rest[2])",
        "the distance of two rows has half of their product",
        (PAIRS,),
    ),
    Fault(
        RELEASED,
        "upper = np.flatnonzero(np.arange(size * size) // size <= np.arange(size * size) % size)",
        "upper = np.flatnonzero(np.arange(size * size) // size == np.arange(size * size) % size)",
        "only rows in one bin of the first column are compared",
        (PAIRS,),
    ),
    Fault(
        RELEASED,
        "l2_squared = max(two, single + kappa**2) if one else single + kappa**2",
        "l2_squared = max(two, single + kappa**2) if one else single",
        "presence is released, and is in no sensitivity",
        (PAIRS,),
    ),
    Fault(
        RELEASED,
        '"series", parameters, (), matrix, share * l1, share**2 * l2_squared, corner=corner, furthest=far',
        '"series", parameters, (), matrix, share * l1, share * l2_squared, corner=corner, furthest=far',
        "a person's parts of weight are in the squared sensitivity as they are",
        (PAIRS,),
    ),
    Fault(
        "tacit.method.orthogonal_series.number_of_terms",
        "return float((left + right - 2 * both).max())",
        "return float((left + right).max() / 2)",
        "the number of terms goes by the norm of one row",
        (f"{TERMS}few_bins_have_nearly_the_sensitivity_of_all_pairs",),
    ),
    Fault(
        "tacit.method.orthogonal_series.number_of_terms",
        "return self.tails + np.add.reduceat(risks, starts, axis=1)",
        "return np.add.reduceat(risks, starts, axis=1)",
        "what is left out of a density is no error",
        (f"{TERMS}expected_errors_are_those_of_releases",),
    ),
    Fault(
        "tacit.method.orthogonal_series.mechanism",
        "made = [(int(a) << LOW) + int(b) for a, b in zip(high, low, strict=True)]",
        "made = [int(a * (1 << LOW) + b) for a, b in zip(high, low, strict=True)]",
        "sums of many rows exceed 64 bits",
        (f"{SERIES}many_rows_do_not_overflow",),
    ),
    Fault(
        "tacit.method.orthogonal_series.stored",
        "if (part.parameters, part.l1, part.l2_squared) != (form.parameters, form.l1, form.l2_squared):",
        "if part.parameters != form.parameters:",
        "a document states another sensitivity than its functions have",
        (f"{SERIES}changed_documents_are_refused",),
    ),
    Fault(
        "tacit.method.orthogonal_series.estimate_coefficients",
        "load = np.column_stack([load, -(inverse[:, 1:] @ sums[1:]) / (n * kappa)])",
        "load = np.column_stack([load, np.zeros(number + 1)])",
        "the noise of the size is in no error",
        (f"{OF_SERIES}the_noise_of_the_size_is_in_the_errors",),
    ),
    Fault(
        "tacit.estimates.series_coefficients",
        "factors[first:end] = max(0.0, 1 - (1 + PENALTY * relative) * total / square)",
        "factors[first:end] = 1.0",
        "coefficients that are noise are not shrunk",
        (f"{SMOOTH}blocks_grow_and_noise_alone_is_shrunk_away",),
    ),
    Fault(
        "tacit.method.histogram.estimate_smooth",
        "noises = noises - np.outer(values, np.ones(bins))",
        "noises = noises + 0",
        "shares of a noisy size have no error of the size",
        (f"{SMOOTH}a_noisy_size_moves_all_shares",),
    ),
    Fault(
        "tacit.estimates.log_density",
        "precision[:free] = FREE",
        "precision[:free] = 1e6",
        "normal, exponential and beta laws are smoothed away",
        (f"{LOG}normal_exponential_and_beta_laws_are_not_smoothed",),
    ),
    Fault(
        "tacit.estimates.log_density",
        "weights = np.exp(np.array(evidence) - max(evidence))",
        "weights = np.ones(len(evidence))",
        "every smoothness counts as much as the one that the shares tell",
        (f"{LOG}noise_is_smoothed_and_a_narrow_peak_is_not",),
    ),
    Fault(
        "tacit.estimates.log_density",
        "if len(bin_) and bin_[0] > STEEP * bin_.mean():",
        "if len(bin_) and bin_[0] > 50 * bin_.mean():",
        "rows beyond the bounds of a column make a pole",
        (f"{LOG}rows_at_a_bound_make_no_pole",),
    ),
    Fault(
        "tacit.estimates.log_density_curve",
        "noise = self.shares.variance * (self.shares.noises**2).sum(axis=1)",
        "noise = 0 * (self.shares.noises**2).sum(axis=1)",
        "densities follow the noise of the counts",
        (f"{LOG}noise_is_smoothed_and_a_narrow_peak_is_not",),
    ),
    Fault(
        "tacit.method.kernel_density.stored",
        "if axis.edges[1:-1] != values.edges(cells):",
        "if len(axis.edges[1:-1]) != len(values.edges(cells)):",
        "a document's cells are others than those of the design",
        (f"{KERNEL}changed_documents_are_refused",),
    ),
    Fault(
        "tacit.estimates.kernel_weights",
        "return (over * solved).sum(axis=1)",
        "return over[:, 0] / over[:, 0].sum(axis=1, keepdims=True)",
        "weights have no correction at the ends, nor for what cells average out",
        (f"{OF_KERNEL}polynomials_have_no_bias",),
    ),
    Fault(
        "tacit.method.kernel_density.estimate_kernel",
        "noise = noise - 2 * value * total + value**2 * self.shares.size",
        "noise = noise + 0 * value * total",
        "the noise of the size is in no error",
        (f"{OF_KERNEL}the_noise_of_the_size_is_in_the_errors",),
    ),
    Fault(
        "tacit.estimates.local_doubts",
        "largest = np.maximum(largest, np.abs(errors[:, known] / deviation[known]).max(axis=1))",
        "largest = np.maximum(largest, np.abs(errors[:, known] / deviation[known]).mean(axis=1))",
        "doubts are compared with an average of sums, not with the largest",
        (f"{LIMITS}doubts_are_as_rare_as_said",),
    ),
    Fault(
        "tacit.estimates.local_doubts",
        "known = deviation > LEAST * np.sqrt(ahead[last] - ahead[first])",
        "known = deviation > 0",
        "residuals without an error of their own are taken for doubts",
        (f"{LIMITS}residuals_next_to_no_error_say_nothing",),
    ),
    Fault(
        "tacit.method.histogram.estimate_joint_bins",
        "self.inversion.interval(1 - (1 - level) / cells if simultaneous else level)",
        "self.inversion.interval(level)",
        "a band of all cells is made of limits of single ones",
        (f"{JOINT}limits_hold_each_cell_and_all_cells",),
    ),
    Fault(
        "tacit.method.histogram.estimate_densities",
        'if projection == "clip" and (counts > 0).any():',
        'if projection == "simplex" and (counts > 0).any():',
        "clipping and projection are exchanged",
        (f"{JOINT}clipping_spreads_noise_and_the_projection_does_not",),
    ),
    Fault(
        "tacit.estimates.series_coefficients",
        "left = np.eye(len(widths)) - over[:kept].T @ react[:kept]",
        "left = np.eye(len(widths)) - over.T @ react",
        "terms that limits leave out are taken for resolved",
        (f"{LIMITS}what_terms_leave_of_shares_is_what_is_not_in_them",),
    ),
    Fault(
        "tacit.method.ks_dataset.layers",
        "found[last] = self._through(found[last], bits)",
        "pass",
        "the last layer stands for itself alone",
        (f"{DATA_SETS}every_probability_is_that_of_enumeration",),
    ),
    Fault(
        "tacit.method.ks_dataset.estimate_by_simulation",
        "between: Array = rng.uniform(-0.5, 0.5, (DRAWS, len(at) - 1)) / k",
        "between: Array = rng.uniform(0, 0, (DRAWS, len(at) - 1)) / k",
        "shares in steps of 1 / k have no error of their own",
        (f"{DATA_SETS}few_points_for_many_rows_have_the_error_of_their_shares",),
    ),
    Fault(
        "tacit.method.ks_dataset.bands",
        "low = [max(0, -((reach - k * n) // N)) for n in inner]",
        "low = [max(0, (k * n - reach) // N) for n in inner]",
        "the least number of points is rounded down",
        (f"{DATA_SETS}paths_number_each_data_set_of_a_level_once",),
    ),
    Fault(
        "tacit.method.ks_dataset.bands",
        "return -(-most // (self.size * self.share))",
        "return most // self.size",
        "a person's weight counts as so many rows",
        (f"{DATA_SETS}sensitivity_is_1_over_all_pairs_of_persons",),
    ),
    Fault(
        "tacit.method.ks_dataset.design",
        "law = Selection(range_for(paid) / 2)",
        "law = Selection(range_for(paid))",
        "the rate that was published without the factor 2",
        (f"{DATA_SETS}documents_survive_and_changed_ones_are_refused",),
    ),
    Fault(
        "tacit.method.ks_dataset.path_counts",
        "return 0 if self.above[at] else least, most",
        "return least, most",
        "numbers that were rounded up are taken for lower bounds",
        (f"{DATA_SETS}numbers_too_small_for_floats_are_rounded_up",),
    ),
    Fault(
        "tacit.method.exponential_mechanism.utilities",
        "yield weights - weights[:, i : i + 1]",
        "yield weights",
        "a replaced row only arrives, and leaves no cell",
        (f"{CANDIDATES}spreads_are_the_largest_over_all_pairs",),
    ),
    Fault(
        "tacit.privacy.composition",
        'many = 1 if getattr(part, "form", None) in TOGETHER else len(part.integers[0])',
        "many = len(part.integers[0])",
        "each point of a data set is composed as a selection of its own",
        (f"{DATA_SETS}one_selection_is_composed_as_one",),
    ),
    Fault(
        "tacit.method.risk_function.encoding",
        "far = np.abs(rows[b:] - rows[b])",
        "far = np.abs(rows[b : b + 2] - rows[b])",
        "only rows in neighbouring cells are compared",
        (f"{RISKS}sensitivity_is_the_largest_over_all_pairs_of_rows",),
    ),
    Fault(
        "tacit.method.risk_function.encoding",
        "l1, l2_squared = max(l1, alone[0]), max(l2_squared, alone[1])",
        "l1, l2_squared = l1, l2_squared",
        "a row beside none is in no sensitivity",
        (f"{RISKS}sensitivity_is_the_largest_over_all_pairs_of_rows",),
    ),
    Fault(
        "tacit.method.risk_function.stored",
        "if (part.parameters, part.l1, part.l2_squared) != (form.parameters, form.l1, form.l2_squared):",
        "if (part.l1, part.l2_squared) != (form.l1, form.l2_squared):",
        "a document states other constants than its lattice has",
        (f"{RISKS}documents_survive_and_others_are_refused",),
    ),
    Fault(
        "tacit.method.bernstein.encoding",
        "l1, l2_squared = alone[0] + S, alone[1] + S**2",
        "l1, l2_squared = alone",
        "presence is released, and is in no sensitivity",
        (LATTICE_PAIRS,),
    ),
    Fault(
        "tacit.method.bernstein.encoding",
        "far = np.abs(values[:, b:] - values[:, [b]])",
        "far = np.abs(values[:, b : b + 2] - values[:, [b]])",
        "only rows in neighbouring bins are compared",
        (LATTICE_PAIRS,),
    ),
    Fault(
        "tacit.method.bernstein.encoding",
        "l1, l2_squared = (SHARE * l1, SHARE**2 * l2_squared) if presence",
        "l1, l2_squared = (SHARE * l1, SHARE * l2_squared) if presence",
        "a person's parts of weight are in the squared sensitivity as they are",
        (LATTICE_PAIRS, f"{LATTICE}persons_parts_of_weight_move_sums_no_further_than_one_whole_row"),
    ),
    Fault(
        "tacit.method.bernstein.encoding",
        "far = SHARE * (first - last) + (values.shape[1] - 1) * last",
        "far = SHARE * (first - last)",
        "what persons' weights lose by rounding is in no sensitivity",
        (f"{LATTICE}no_two_persons_are_further_apart_than_declared_where_weights_are_rounded_down",),
    ),
    Fault(
        "tacit.method.bernstein.stored",
        "if (part.parameters, part.l1, part.l2_squared) != (form.parameters, form.l1, form.l2_squared):",
        "if part.parameters != form.parameters:",
        "a document states another sensitivity than its lattice has",
        (f"{LATTICE}changed_documents_are_refused",),
    ),
    Fault(
        "tacit.method.bernstein.mechanism",
        "made = tuple(int(x) for x in values.astype(object) @ each)",
        "made = tuple(int(x) for x in values @ found)",
        "sums of many rows exceed 64 bits",
        (f"{LATTICE}many_rows_do_not_overflow",),
    ),
    Fault(
        "tacit.method.bernstein.estimate_lattice",
        "load[1:k, -1] = -values[1:k] / (n * unit)",
        "load[1:k, -1] = 0.0",
        "the noise of the size is in no error",
        (f"{OF_LATTICE}the_noise_of_the_size_is_in_the_errors",),
    ),
    Fault(
        "tacit.method.shared.iterated_operator",
        "power = power @ left",
        "power = left",
        "orders above 2 are no iteration",
        (f"{OF_LATTICE}the_operator_is_i_minus_the_power_of_i_minus_b", f"{OF_LATTICE}orders_converge_at_their_rates"),
    ),
    Fault(
        "tacit.method.bernstein.estimate_lattice",
        "return np.asarray(lower * (1 - upper) / n)",
        "return np.asarray(lower * (1 - lower) / n)",
        "lattice values of one sample have the wrong covariance",
        (f"{OF_LATTICE}covariances_of_rows_are_those_of_an_empirical_distribution_function",),
    ),
    Fault(
        "tacit.method.shared.numeric_columns",
        "return values.ends",
        "return one.lower, one.upper",
        "the support of multiples ends at the first and the last",
        (f"{RECORDED}what_is_told_of_multiples_is_that_of_whole_numbers",),
    ),
    Fault(
        "tacit.estimates.column_values",
        "else (steps + 0.5) * self.unit)",
        "else steps * self.unit)",
        "half of the rows at a value are not at or below it",
        (f"{RECORDED}shares_moments_and_quantiles_of_exact_counts_are_those_of_the_rows",),
    ),
    Fault(
        "tacit.fits.heaped_cells",
        "return (low + high) / 2, (high - low) / 2",
        "return smooth, (high - low) / 2",
        "no row is taken to be at declared heaps",
        (f"{RECORDED}a_heap_at_the_edge_of_a_cell_is_at_or_below_it",),
    ),
    Fault(
        "tacit.fits.heaped_cells",
        "return np.outer(off.sum(axis=0), off.sum(axis=0)) + off.T @ off",
        "return off.T @ off",
        "heaps move each cell on its own alone",
        (f"{RECORDED}heaps_may_move_all_cells_one_way",),
    ),
    Fault(
        "tacit.method.kernel_density.estimate_cumulative",
        "return weights, unknown * each",
        "return weights, 0 * unknown * each",
        "what is not known of declared heaps is in no error",
        (f"{RECORDED}any_share_at_declared_heaps_is_within_the_errors",),
    ),
    Fault(
        "tacit.method.bernstein.estimate",
        "unknown = each * (most - least) / 2",
        "unknown = each * (most - least) / 20",
        "a tenth of what is not known of declared heaps is in the errors",
        (f"{RECORDED}polynomials_allow_for_any_share_at_declared_heaps",),
    ),
    Fault(
        "tacit.release.document_checks",
        'elif one.multiple_of is not None and (one.kind != "real" or not _several(one)):',
        'elif one.multiple_of is not None and one.kind != "real":',
        "a document may state multiples that are not within the bounds",
        (f"{RECORDED}documents_keep_declarations_and_impossible_ones_are_refused",),
    ),
    Fault(
        "tacit.method.ks_dataset.estimate_heaps",
        "return np.outer(one_way, one_way) + tilt @ tilt.T + np.diag([0.0, bend**2])",
        "return tilt @ tilt.T + np.diag([0.0, bend**2])",
        "heaps that points show move each cell on its own alone",
        (f"{DATA_SETS}heaps_that_points_show_are_in_the_error_of_the_mean",),
    ),
)
