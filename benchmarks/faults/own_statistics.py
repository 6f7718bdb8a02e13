"""Faults of a user's own statistics: sensitivities from bounds, admission, units of products, both errors."""

from faults.fault import Fault

MADE = "tests/mechanisms/test_own_sums.py::test_"
TOLD = "tests/inference/test_additive.py::test_"
CORNERS = f"{MADE}sensitivities_of_free_integers_by_all_corners"
BY_HAND = f"{MADE}persons_by_hand"
ENCODING, DESIGN = "tacit.method.additive.encoding", "tacit.method.additive.design"
STATISTIC, SUMS = "tacit.method.additive.statistic", "tacit.method.additive.estimate_sums"

FAULTS = (
    Fault(
        ENCODING,
        "spans = [max(high, 0) - min(low, 0) if reach.leaves else high - low for low, high in boxes]",
        "spans = [high - low for low, high in boxes]",
        "a row that is left out is taken to stay within the bounds",
        (CORNERS,),
    ),
    Fault(
        ENCODING,
        "return Bounded(max(2 * alone.l1, staying.l1), max(2 * alone.l2_squared, staying.l2_squared))",
        "return Bounded(max(2 * alone.l1, staying.l1), 2 * alone.l2_squared)",
        "a row that changes sign within its cell changes more than two rows in two cells",
        (CORNERS,),
    ),
    Fault(
        ENCODING,
        "return (0 if a <= 0 <= b else min(a * a, b * b)), max(a * a, b * b)",
        "return min(a * a, b * b), max(a * a, b * b)",
        "a square is taken to be no smaller than at the ends",
        (f"{MADE}boxes_of_products_hold_and_are_reached",),
    ),
    Fault(
        ENCODING,
        "return floor(box[0] / step), ceil(box[1] / step)",
        "return floor(box[0] / step), floor(box[1] / step)",
        "an integer lies beyond the bounds of its products",
        (f"{MADE}units_of_products_cover_the_bounds_and_fit_into_floats",),
    ),
    Fault(
        DESIGN,
        "if (l1 is not None and l1 < least.l1) or (l2_squared is not None and l2_squared < least.l2_squared):",
        "if l1 is not None and l1 < least.l1:",
        "a declared l2 below the computed one is taken",
        (f"{MADE}whatever_is_declared_below_the_computed_sensitivity_fails",),
    ),
    Fault(
        DESIGN,
        "return SumTerm(at, polynomial, weight, Polynomial((0,) * power + (1,)))",
        "return SumTerm(at, polynomial, weight, Polynomial((0, 1)))",
        "squares of persons are multiplied by their number of rows once",
        (BY_HAND,),
    ),
    Fault(
        STATISTIC,
        "return self(**thawed(query.arguments), **options) == query",
        "return self(**thawed(query.arguments), **options).statistic == query.statistic",
        "any question under a trusted name touches rows",
        (f"{MADE}a_question_under_a_trusted_name_is_not_enough",),
    ),
    Fault(
        STATISTIC,
        "return canonical(query.to_dict()), schema.digest()",
        "return query.statistic, schema.digest()",
        "a contract of some arguments lets others pass",
        (f"{MADE}only_a_trusted_statistic_whose_contract_passed_reaches_the_rows",),
    ),
    Fault(
        SUMS,
        "variance = (np.abs(slopes) @ np.sqrt(np.diag(covariance))) ** 2",
        "variance = (slopes**2) @ np.diag(covariance)",
        "sums of one person are taken to be independent",
        (f"{TOLD}functions_of_sums_of_persons_have_added_errors",),
    ),
    Fault(
        SUMS,
        "loadings, law = slopes / fine, release.parts[0].law",
        "loadings, law = slopes, release.parts[0].law",
        "noise of persons' sums counts in steps of theirs",
        (f"{TOLD}functions_of_sums_of_persons_have_added_errors",),
    ),
    Fault(
        "tacit.method.additive.stored",
        "if dict(part.parameters) != own or not _same(part, sensitivity([box], reach)):",
        "if dict(part.parameters) != own:",
        "a document states another sensitivity of its products",
        (f"{MADE}changed_documents_are_refused",),
    ),
)
