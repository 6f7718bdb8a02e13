"""Faults in prices, budgets, conversions and calibration."""

from __future__ import annotations

from faults.fault import Fault

BUDGET = "tests/privacy/test_budget.py"
COST = "tests/privacy/test_cost.py"
CALIBRATION = "tests/privacy/test_calibration.py"
CONVERSIONS = "tests/privacy/test_conversions.py"
GAUSSIAN = "tests/privacy/test_gaussian.py"
COMPOSITION = "tests/privacy/test_composition.py"

FAULTS = (
    Fault(
        "tacit.privacy.budget",
        "return small and self.delta <= limit.delta and self.mu_squared <= limit.mu_squared",
        "return small and self.mu_squared <= limit.mu_squared",
        "a ledger of epsilon and delta never runs out of delta",
        (f"{BUDGET}::test_delta_alone_refuses",),
    ),
    Fault(
        "tacit.privacy.budget",
        "return self.holds(spent + self.spend(cost, bought))",
        "return self.holds(self.spend(cost, bought))",
        "a price is held against the whole budget, whatever was spent",
        (f"{BUDGET}::test_no_adaptive_sequence_overspends",),
    ),
    Fault(
        "tacit.privacy.budget",
        "return Spend(epsilon=cost.epsilon or ZERO, delta=cost.delta or ZERO)",
        "return Spend(epsilon=cost.epsilon or ZERO)",
        "delta of a price is not charged",
        (f"{BUDGET}::test_each_way_of_adding",),
    ),
    Fault(
        "tacit.privacy.budget",
        "return Spend(epsilon, rho, self.delta + other.delta, self.mu_squared + other.mu_squared)",
        "return Spend(epsilon, rho, max(self.delta, other.delta), self.mu_squared + other.mu_squared)",
        "deltas do not add up",
        (f"{BUDGET}::test_no_adaptive_sequence_overspends", f"{BUDGET}::test_approximate_parts_take_of_delta"),
    ),
    Fault(
        "tacit.privacy.budget",
        "epsilon_delta_to_mu_squared(self.epsilon, self.delta - parts)",
        "epsilon_delta_to_mu_squared(self.epsilon, self.delta)",
        "approximate parts take nothing of what noise may cost",
        (f"{BUDGET}::test_approximate_parts_take_of_delta",),
    ),
    Fault(
        "tacit.privacy.budget",
        'if self.kind == "pure" and cost.kind != "pure":',
        'if self.kind == "pure" and cost.kind == "zcdp":',
        "a pure promise admits prices with a delta",
        (f"{BUDGET}::test_prices_that_a_budget_cannot_add",),
    ),
    Fault(
        "tacit.privacy.budget",
        "rest, whole = plain(self.epsilon_left(spent), up=False), plain(self.epsilon or ZERO)",
        "rest, whole = plain(self.epsilon_left(spent)), plain(self.epsilon or ZERO)",
        "what is left reads as more than there is",
        (f"{BUDGET}::test_what_is_left_in_words",),
    ),
    Fault(
        "tacit.privacy.cost",
        "return self.epsilon**2 / 2\n",
        "return self.epsilon**2 / 8\n",
        "pure noise is charged at the rho of a selection",
        (f"{COST}::test_zcdp_of_each_kind",),
    ),
    Fault(
        "tacit.privacy.cost",
        "        return self.gdp / 2\n",
        "        return self.gdp / 4\n",
        "noise of a pair is wider than it must be, or charged at half",
        (f"{COST}::test_zcdp_of_each_kind", f"{COST}::test_noise_of_the_held_rho_keeps_the_approximate_promise"),
    ),
    Fault(
        "tacit.privacy.cost",
        "return Cost(epsilon=self.epsilon * part)",
        "return Cost(epsilon=self.epsilon)",
        "each of several questions is answered at the whole price, which is charged once",
        (f"{COST}::test_shares_add_up_exactly",),
    ),
    Fault(
        "tacit.privacy.cost",
        "return Cost(mu_squared=self.gdp * part)",
        "return Cost(mu_squared=self.gdp * part / part)",
        "each part of a pair is answered at the whole pair",
        (f"{COST}::test_shares_add_up_exactly",),
    ),
    Fault(
        "tacit.privacy.cost",
        'if name == "delta" and exact >= 1:',
        'if name == "delta" and exact > 1:',
        "a delta of 1, which promises nothing, is a promise",
        (f"{COST}::test_delta_of_one_promises_nothing",),
    ),
    Fault(
        "tacit.privacy.exact_numbers",
        "return _of_text(float.__repr__(value))",
        "return Fraction(value) if value == value and abs(value) < 1e308 else None",
        "ten times 0.1 is more than a budget of 1",
        (f"{COST}::test_a_number_means_what_it_prints", f"{BUDGET}::test_ten_tenths_are_one"),
    ),
    Fault(
        "tacit.privacy.exact_numbers",
        "(-(-ratio.numerator // ratio.denominator) if up else",
        "(ratio.numerator // ratio.denominator + 1 if up else",
        "exact prices are shown above what they are",
        (f"{COST}::test_numbers_for_people",),
    ),
    Fault(
        "tacit.privacy.bought",
        "isqrt((8 * cost.rho.numerator << 2 * BITS) // cost.rho.denominator), 1 << BITS)",
        "isqrt((8 * cost.rho.numerator << 2 * BITS) // cost.rho.denominator) + 1, 1 << BITS)",
        "a selection costs more rho than its price",
        ("tests/mechanisms/test_ranks.py::test_rho_buys_no_more_than_it_pays",),
    ),
    Fault(
        "tacit.privacy.bought",
        "return range(1, one.cells + 1)",
        "return range(1, 2)",
        "a replaced row that moves to another cell is charged for one of the two",
        ("tests/ledger/test_pairs.py::test_selections_of_groups_are_charged_for_two_of_them",),
    ),
    Fault(
        "tacit.privacy.bought",
        "        return 2 * one.cost.rho\n",
        "        return one.cost.rho\n",
        "normal noise bought by rho is charged at half in a ledger of a pair",
        (f"{GAUSSIAN}::test_parts_in_both_ways", f"{BUDGET}::test_prices_of_another_kind_cost_what_they_bought"),
    ),
    Fault(
        "tacit.privacy.calibration",
        "return root_up(l2_squared / (2 * cost.zcdp))",
        "return root_up(l2_squared / (4 * cost.zcdp))",
        "normal noise is too narrow by the root of two",
        (f"{CALIBRATION}::test_gaussian_is_rounded_up_and_hardly", f"{CALIBRATION}::test_known_scales"),
    ),
    Fault(
        "tacit.privacy.calibration",
        "return simplest(root, root * (1 + Fraction(1, 1 << FINENESS)))",
        "return simplest(root * (1 - Fraction(1, 1 << FINENESS)), root)",
        "a scale is rounded down, below what its price buys",
        (f"{CALIBRATION}::test_gaussian_is_rounded_up_and_hardly",),
    ),
    Fault(
        "tacit.privacy.calibration",
        "return l1 / cost.epsilon\n",
        "return l1 / (2 * cost.epsilon)\n",
        "Laplace noise costs twice what is charged",
        (f"{CALIBRATION}::test_laplace_is_exact",),
    ),
    Fault(
        "tacit.privacy.conversions",
        "return significant(1 / (2 * s * s), ROUNDED, up=False)",
        "return significant(1 / (2 * s * s), ROUNDED, up=True)",
        "a pair is kept as a little more than it is",
        (f"{GAUSSIAN}::test_a_pair_is_one_number_rounded_down",),
    ),
    Fault(
        "tacit.privacy.conversions",
        "return significant(Fraction(bound), ROUNDED, up=True) if bound > 0 else Fraction(0)",
        "return significant(Fraction(bound), ROUNDED, up=False) if bound > 0 else Fraction(0)",
        "an epsilon that is reported is a little below the truth",
        (f"{CONVERSIONS}::test_epsilon_of_zcdp_is_never_below_the_truth",),
    ),
    Fault(
        "tacit.privacy.conversions",
        "by_order = significant(Fraction(bound), ROUNDED, up=False)",
        "by_order = significant(Fraction(bound), ROUNDED, up=True)",
        "a ledger of zCDP holds a little more rho than its pair implies",
        (f"{CONVERSIONS}::test_the_held_rho_implies_the_pair_and_hardly_less",),
    ),
    Fault(
        "tacit.privacy.conversions",
        "terms = [u * (1 + u) * r, -u * e, -u * _log1p(1 / u), -_log1p(u)]",
        "terms = [u * (1 + u) * r, -u * e, -2 * u * _log1p(1 / u), -_log1p(u)]",
        "a delta that is reported is below the truth",
        (f"{CONVERSIONS}::test_delta_of_zcdp_is_never_below_the_truth",),
    ),
    Fault(
        "tacit.privacy.gaussian_bounds",
        "if abs(first - second) <= first.scaleb(-digits):",
        "if abs(first - second) <= first.scaleb(-digits // 2):",
        "the far tail of the normal law is known to half its digits, and noise is wider than it must be",
        (f"{CONVERSIONS}::test_normal_cdf_is_enclosed",),
    ),
    Fault(
        "tacit.privacy.gaussian",
        "PI_UP: Final = Fraction(355, 113)",
        "PI_UP: Final = Fraction(314, 100)",
        "a selection bought by rho is charged below its cost",
        (f"{GAUSSIAN}::test_two_cells_cost_most_at_a_corner",),
    ),
    Fault(
        "tacit.privacy.gaussian",
        'return _pure(_checked(epsilon, "epsilon") / 2)',
        'return _pure(_checked(epsilon, "epsilon") / 4)',
        "selections are charged a quarter of what they cost",
        (f"{GAUSSIAN}::test_pure_and_range_are_the_points_of_their_curves",),
    ),
    Fault(
        "tacit.privacy.gaussian",
        "return Fraction(found.numerator * 2**BITS // found.denominator, 2**BITS)",
        "return Fraction(found.numerator * 2**BITS // found.denominator + 1, 2**BITS)",
        "a range is rounded up, beyond what its price buys",
        (f"{GAUSSIAN}::test_a_range_is_rounded_down",),
    ),
    Fault(
        "tacit.privacy.composition",
        "total = total.compose(response.self_compose(pure.count(epsilon)))",
        "total = total.compose(response)",
        "several releases at one epsilon are reported as one",
        (f"{COMPOSITION}::test_pld_of_pure_prices_is_between_one_and_all_of_them",),
    ),
    Fault(
        "tacit.privacy.composition",
        "min(2, len(part.integers)))",
        "1)",
        "selections in two cells that one row changes are reported as one",
        (f"{COMPOSITION}::test_pld_of_selections_in_cells_is_that_of_a_normal",),
    ),
    Fault(
        "tacit.privacy.refusal",
        "return short if short == x else significant(x, 4, up=False)",
        "return short if short == x else significant(x, 4, up=True)",
        "the price that a refusal offers is refused as well",
        (f"{BUDGET}::test_the_price_in_the_hint_is_admitted",),
    ),
    Fault(
        "tacit.method.shared.price_parts",
        'cells = 2 if design.keys and design.neighbors == "replace-one" else 1',
        "cells = 1",
        "quantiles by groups are charged for one of the two groups that a row can change",
        ("tests/ledger/test_pairs.py::test_selections_of_groups_are_charged_for_two_of_them",),
    ),
)
